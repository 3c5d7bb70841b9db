"""The rounds of a study: its plans, then the questions of its models, each of which follows from the sums before it.

Coordinator and parties each run the same models on the same released sums, so nobody has to trust a question that
somebody else sent. A model that has no result for its sums ends with the reason, which is the same for everybody; the
models after it are asked anyway.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from murmure.catalogue import persisted_name
from murmure.core.errors import MurmureError, shorten
from murmure.core.schema import Schema
from murmure.parties.study.plan_checks import MAX_NUMBERS_PER_ROUND
from murmure.plan.plan import Plan
from murmure.run.dialogue import Dialogue
from murmure.statistics.conditions.disclosure import disclosure_counts

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.parties.study.questions import StudyQuestion
    from murmure.plan.privacy import Secure

Sums = tuple[int, ...]
# Errors of this software, or caused by a false total: they end the model, for everybody in the same way.
SOFTWARE_ERRORS = (ArithmeticError, ValueError, LookupError, TypeError, NameError, AttributeError, AssertionError)


@dataclass(frozen=True)
class Turn:
    """One round: what is asked in it, and by which question of the study (plans, then models; from 1)."""

    round: int
    plan: Plan
    question: int


@dataclass(frozen=True, eq=False)
class ModelOutcome:
    """What became of a model: its result, or why there is none; neither while it runs."""

    model: Any
    result: Any = None
    error: MurmureError | None = None
    rounds: tuple[int, ...] = ()

    @property
    def over(self) -> bool:
        return self.result is not None or self.error is not None

    def with_provenance(self, **fields: Any) -> ModelOutcome:
        """The same outcome, whose result says more about how it was found."""
        if self.result is None:
            return self
        return replace(self, result=replace(self.result, how=replace(self.result.how, **fields)))


class ModelReplay:
    """The models of a study, run as far as sums were released. What was computed is kept."""

    def __init__(self, study: Study) -> None:
        self._study, self._lock = study, threading.Lock()
        self._restart()

    def _restart(self) -> None:
        self._interrupted = True
        self._outcomes: list[ModelOutcome] = []
        self._dialogue: Dialogue[Turn, None] = Dialogue(self._rounds())
        # For each turn, the models that had ended before it.
        self._outcomes_before: list[tuple[ModelOutcome, ...]] = [()]
        self._interrupted = False

    def turn(self, round: int, released: Sequence[Sequence[int]]) -> Turn | None:
        """What is asked in this round, given the sums of all rounds before; None: the study is over."""
        with self._lock:
            self._follow(released[: round - 1])
            turns = self._dialogue.questions
            return turns[round - 1] if round <= len(turns) else None

    def outcomes(self, released: Sequence[Sequence[int]]) -> tuple[ModelOutcome, ...]:
        """The models that have ended, given these sums."""
        with self._lock:
            self._follow(released)
            return self._outcomes_before[min(len(released), len(self._outcomes_before) - 1)]

    def _follow(self, released: Sequence[Sequence[int]]) -> None:
        sums = [tuple(map(int, answer)) for answer in released]
        common = min(len(sums), len(self._dialogue.answers))
        # These are not the sums that the models were run on: start again.
        if self._interrupted or sums[:common] != self._dialogue.answers[:common]:
            self._restart()
        for answer in sums[len(self._dialogue.answers) :]:
            if self._dialogue.question is None:
                break
            try:
                self._dialogue.reply(answer)
            except BaseException:
                # Such as KeyboardInterrupt: the generator cannot go on, so the next call starts again.
                self._interrupted = True
                raise
            self._outcomes_before.append(tuple(self._outcomes))

    def _rounds(self) -> Generator[Turn, Sums, None]:
        round = 0
        for round, plan in enumerate(self._study.plans, 1):
            yield Turn(round, plan, round)
        for question in self._study.questions[round:]:
            privacy = self._study.privacy_of(question.number)
            sharing = self._study.sharing
            rows = self._study.surely_rows, sharing.parties * sharing.rows
            self._outcomes.append((yield from _run_model(question, privacy, round + 1, rows)))
            round += len(self._outcomes[-1].rounds)


def _run_model(
    question: StudyQuestion, privacy: Secure, first: int, rows: tuple[int, int]
) -> Generator[Turn, Sums, ModelOutcome]:
    """One model, from its first round on. rows: the fewest and the most that all parties have together."""
    from murmure.econometrics.results.provenance import how_of

    plans: list[Plan] = []  # outlasts an error
    result, error = None, None
    try:
        dialogue: Dialogue[Plan, Any] = Dialogue(question.model.steps(), _agreed_plans(question, privacy, plans))
        while dialogue.question is not None:
            sums = yield Turn(first + len(plans) - 1, dialogue.question, question.number)
            dialogue.reply(_interpret(dialogue.question, sums, rows))
        result = replace(dialogue.result, how=how_of(privacy, plans, dialogue.answers))
        # Totals that no rows can have may only fail here; better now than on the page of one party.
        _ = result.summary(), result.to_html(), result.to_dict()
    except MurmureError as raised:
        error = raised
    except SOFTWARE_ERRORS as raised:
        error = _software_error(question, raised)
    rounds = tuple(range(first, first + len(plans)))
    return ModelOutcome(question.model, None if error else result, error, rounds)


def _agreed_plans(question: StudyQuestion, privacy: Secure, plans: list[Plan]) -> Callable[[Any, int], Plan]:
    """Makes the plan of each statistic that the model asks for, within what the parties agreed on."""
    from murmure.econometrics.errors import FitFailed

    noises, sums_so_far = privacy.noises([1.0] * question.model.rounds), 0

    def plan_of(statistic: Any, number: int) -> Plan:
        nonlocal sums_so_far
        if number == len(noises):
            raise FitFailed(
                "{kind} asks for more than the {noise_count} rounds that were agreed.",
                kind=question.kind,
                noise_count=len(noises),
            )
        plan = question.plan_of(statistic, privacy, noises[number])
        sums_so_far += sum(disclosure_counts(plan.statistic))
        _check_agreed(question, plan, sums_so_far)
        plans.append(plan)
        return plan

    return plan_of


def _interpret(plan: Plan, sums: Sums, rows: tuple[int, int]) -> Any:
    """What the statistic makes of the sums that were released, if rows can have such sums."""
    from murmure.parties.study.total_checks import check_matrix, check_totals

    if plan.curator is not None:
        return plan.interpret(sums)
    check_totals(plan.statistic, sums, rows)
    answer = plan.interpret_total(plan.decode_total(sums))
    check_matrix(plan.statistic, answer)
    return answer


def _software_error(question: StudyQuestion, raised: Exception) -> MurmureError:
    from murmure.econometrics.errors import FitFailed

    return FitFailed(
        "{kind} could not continue ({raised}: {raised_2}).",
        hint="no rows can have these totals, so someone reported false ones; or it is a bug: please report it",
        kind=question.kind,
        raised=persisted_name(raised),
        raised_2=shorten(str(raised), 120),
    )


def _check_agreed(question: StudyQuestion, plan: Plan, sums_so_far: int) -> None:
    """Refuse a later question that reads another column, or releases more in all, than the parties approved."""
    from murmure.econometrics.errors import FitFailed

    domain, allowed = plan.statistic.domain, question.domain
    read = {name: domain[name] for name in domain.private} if isinstance(domain, Schema) else {domain.column: domain}
    unexpected = [
        str(name)
        for name, column_domain in read.items()
        if name not in allowed.private or allowed[name] != column_domain
    ]
    if unexpected:
        raise FitFailed(
            "{kind} asks about {unexpected!r}, which was not agreed.",
            columns=unexpected,
            kind=question.kind,
            unexpected=unexpected[0],
        )
    if sums_so_far > question.sums:
        raise FitFailed(
            "{kind} asks for {sums_so_far:_} sums in all, but {sums:_} were agreed.",
            kind=question.kind,
            sums_so_far=sums_so_far,
            sums=question.sums,
        )
    if plan.encoder.entries > MAX_NUMBERS_PER_ROUND:
        raise FitFailed(
            "{kind} asks for {entries:_} numbers in one round.", kind=question.kind, entries=plan.encoder.entries
        )
