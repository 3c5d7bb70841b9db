"""The rounds of a study: its plans, then the questions of its models, each of which follows from the sums before it.

Coordinator and parties run the same models on the same released sums, each by itself: nobody takes a question from
anybody. A model that cannot be read off its sums ends with the reason, which is the same for everybody; the models
after it are asked all the same.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from murmure.core.errors import MurmureError, shorten
from murmure.core.schema import Schema
from murmure.parties.study.plan_checks import MAX_NUMBERS_PER_ROUND
from murmure.plan.plan import Plan
from murmure.statistics.conditions.disclosure import disclosure_counts

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.parties.study.questions import StudyQuestion
    from murmure.plan.privacy import Secure

Sums = tuple[int, ...]
# mistakes of ours, or of whoever lied about a total: they end a model for everybody alike
SOFTWARE_ERRORS = (ArithmeticError, ValueError, LookupError, TypeError, NameError, AttributeError, AssertionError)


@dataclass(frozen=True)
class Turn:
    """One round: what is asked in it, and by which question of the study (plans, then models; from 1)."""

    round: int
    plan: Plan
    question: int


@dataclass(frozen=True, eq=False)
class ModelOutcome:
    """What became of a model: its result, or why there is none; neither, while it is being asked."""

    model: Any
    result: Any = None
    error: MurmureError | None = None
    rounds: tuple[int, ...] = ()

    @property
    def over(self) -> bool:
        return self.result is not None or self.error is not None


class ModelReplay:
    """The models of a study, run as far as sums were released. What was run once is not run again."""

    def __init__(self, study: Study) -> None:
        self._study, self._lock = study, threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._heard: list[Sums] = []
        self._fits: list[ModelOutcome] = []
        self._going = self._rounds()
        self._turns: list[Turn | None] = [next(self._going, None)]
        self._known: list[tuple[ModelOutcome, ...]] = [()]  # before each turn, the models that had ended
        self._stopped = False

    def turn(self, round: int, released: Sequence[Sequence[int]]) -> Turn | None:
        """What is asked in this round, given the sums of all rounds before; None: the study is over."""
        with self._lock:
            self._follow(released[: round - 1])
            return self._turns[round - 1] if round <= len(self._turns) else None

    def fits(self, released: Sequence[Sequence[int]]) -> tuple[ModelOutcome, ...]:
        """Those that have ended, given these sums."""
        with self._lock:
            self._follow(released)
            return self._known[min(len(released), len(self._known) - 1)]

    def _follow(self, released: Sequence[Sequence[int]]) -> None:
        sums = [tuple(map(int, one)) for one in released]
        both = min(len(sums), len(self._heard))
        if self._stopped or sums[:both] != self._heard[:both]:
            self._begin()
        for one in sums[len(self._heard) :]:
            if self._turns[-1] is None:
                break
            try:
                self._turns.append(self._going.send(one))
            except StopIteration:
                self._turns.append(None)
            except BaseException:  # stopped in the middle of it: to be begun anew
                self._stopped = True
                raise
            self._heard.append(one)
            self._known.append(tuple(self._fits))

    def _rounds(self) -> Generator[Turn, Sums, None]:
        round = 0
        for round, plan in enumerate(self._study.plans, 1):
            yield Turn(round, plan, round)
        for question in self._study.questions[round:]:
            privacy = self._study.privacy_of(question.number)
            sharing = self._study.sharing
            rows = self._study.surely_rows, sharing.parties * sharing.rows
            self._fits.append((yield from _fit(question, privacy, round + 1, rows)))
            round += len(self._fits[-1].rounds)


def _fit(
    question: StudyQuestion, privacy: Secure, first: int, rows: tuple[int, int]
) -> Generator[Turn, Sums, ModelOutcome]:
    """One model, from its first round on. rows: the fewest and the most that all parties have together."""
    from murmure.econometrics.errors import FitFailed
    from murmure.econometrics.results.provenance import how_of
    from murmure.parties.study.total_checks import check_matrix, check_totals

    model, counted = question.model, 0
    plans: list[Plan] = []
    answers: list[Any] = []
    error: MurmureError
    try:
        steps = model.steps()
        statistic = next(steps)
        noises = privacy.noises([1.0] * model.rounds)
        while True:
            if len(plans) == len(noises):
                raise FitFailed(f"{question.kind} asks for more than the {len(noises)} rounds that were agreed.")
            plan = question.plan_of(statistic, privacy, noises[len(plans)])
            counted += sum(disclosure_counts(plan.statistic))
            _check_agreed(question, plan, counted)
            plans.append(plan)
            sums = yield Turn(first + len(plans) - 1, plan, question.number)
            if plan.curator is None:
                check_totals(plan.statistic, sums, rows)
                answers.append(plan.settle(plan.decode_total(sums)).estimate)
                check_matrix(plan.statistic, answers[-1])
            else:
                answers.append(plan.interpret(sums))
            statistic = steps.send(answers[-1])
    except StopIteration as end:
        try:
            result = replace(end.value, how=how_of(privacy, plans, answers))
            _ = result.summary(), result.to_html(), result.to_dict()  # sums that no rows have may be found only now
            return ModelOutcome(model, result, None, _counted(first, plans))
        except MurmureError as raised:
            error = raised
        except SOFTWARE_ERRORS as raised:
            error = _ours(question, raised)
    except MurmureError as raised:
        error = raised
    except SOFTWARE_ERRORS as raised:
        error = _ours(question, raised)
    return ModelOutcome(model, None, error, _counted(first, plans))


def _ours(question: StudyQuestion, raised: Exception) -> MurmureError:
    from murmure.econometrics.errors import FitFailed

    return FitFailed(
        f"{question.kind} could not go on ({type(raised).__name__}: {shorten(str(raised), 120)}).",
        hint="no rows have such totals, and somebody told false ones; or it is a mistake of the software: report it",
    )


def _counted(first: int, plans: list[Plan]) -> tuple[int, ...]:
    return tuple(range(first, first + len(plans)))


def _check_agreed(question: StudyQuestion, plan: Plan, counted: int) -> None:
    """A later question reads no other column, and in all no more is released, than the parties have approved."""
    from murmure.econometrics.errors import FitFailed

    asked, agreed = plan.statistic.domain, question.domain
    read = {name: asked[name] for name in asked.private} if isinstance(asked, Schema) else {asked.column: asked}
    other = [str(name) for name, domain in read.items() if name not in agreed.private or agreed[name] != domain]
    if other:
        raise FitFailed(f"{question.kind} asks about {other[0]!r}, which was not agreed.", columns=other)
    if counted > question.sums:
        raise FitFailed(f"{question.kind} asks for {counted:_} sums in all, and {question.sums:_} were agreed.")
    if plan.encoder.entries > MAX_NUMBERS_PER_ROUND:
        raise FitFailed(f"{question.kind} asks for {plan.encoder.entries:_} numbers in one round.")
