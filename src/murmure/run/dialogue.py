"""A dialogue advances a generator of questions, answer by answer: of a learner, a model, a study or a single plan.

    released = yield question       asks, and receives what the question's statistic makes of the sum
    return result                   the end

Who answers is the business of the caller: rows and a ledger (driver.py), sums that a study released (parties/study).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

Q = TypeVar("Q")
T = TypeVar("T")


class Dialogue(Generic[Q, T]):
    """What a generator asked, what it was told, and what it returned. `question` waits for `reply`; None: it is over.

    plan_of: makes the plan of what the generator yields, from it and the number of the question (from 0).
    """

    result: T

    def __init__(self, steps: Generator[Any, Any, T], plan_of: Callable[[Any, int], Q] | None = None) -> None:
        self._steps, self._plan_of = steps, plan_of
        self.question: Q | None = None
        self.questions: list[Q] = []
        self.answers: list[Any] = []
        self.reply(None)

    def reply(self, answer: Any) -> None:
        """Answer the question, which leads to the next one or to the end."""
        if self.question is not None:
            self.answers.append(answer)
        self.question = None  # a generator that raised asks nothing more
        try:
            asked = self._steps.send(answer)
        except StopIteration as end:
            self.result = end.value
        else:
            self.question = asked if self._plan_of is None else self._plan_of(asked, len(self.questions))
            self.questions.append(self.question)  # type: ignore[arg-type]
