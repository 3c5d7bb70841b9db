"""`run(plan, data)`: the whole way from rows to a release; and the driver of learners, which ask plan after plan."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from murmure.core.blocks import Cost
from murmure.core.errors import InvalidParameter, PlanRefused, shorten
from murmure.core.notices import rehearsed
from murmure.core.random import Random, random_or_secure
from murmure.core.types import Relation, Release, Total
from murmure.plan.disclosure_rules import DisclosureRules, check_minimum_cell
from murmure.plan.plan import Plan
from murmure.plan.reports import Reports
from murmure.run.masked_sum import sum_between_parties
from murmure.run.outside_reports import release_reports
from murmure.run.tables.table_format import carries_plan
from murmure.run.totals import engine_for as engine_for
from murmure.run.totals import tasks as tasks
from murmure.run.totals import total as total
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL

if TYPE_CHECKING:
    from murmure.central.base.gate import Gate
    from murmure.run.billing import PaidAnswers

T = TypeVar("T")


@dataclass(frozen=True)
class LedgerRequest:
    """What a ledger is told about a run of one or several plans before it starts."""

    name: str  # a digest of all that decides which questions are asked
    about: str
    cost: Cost  # of all of it, at most
    relation: Relation = "add/remove"


@dataclass(frozen=True)
class DriveResult(Generic[T]):
    """What a generator of plans returned, and all that passed the gate on the way."""

    result: T
    plans: tuple[Plan, ...]
    answers: tuple[tuple[int, ...], ...] = field(repr=False)
    again: bool  # paid for earlier
    present: tuple[int | None, ...] = ()  # parties in the sum of each answer, where that is known


def run(
    plan: Plan,
    frame: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Random | None = None,
    gate: Gate | None = None,
    *,
    reports: Any = None,
    rows_are_public: bool = False,
    minimum_cell: int = MINIMUM_CELL,
) -> Release:
    """Randomise, add up and estimate. Secure randomness unless a seeded generator is passed; then the release says so.

    Pass one of frame and reports. frame holds what is true: `run` randomises it where the plan has a mechanism at the
    person. Answers that people randomised themselves, with coins, cards, a spinner or a program, are reports: they are
    not randomised again, and the release says that the randomness came from outside the software.

    frame: a list, an array, a pandas, Polars or Arrow table, a DuckDB relation, or the path of a CSV or Parquet file.
    Between parties: a list of such frames, one for each party, and None for one that vanishes.
    ledger: the account that pays for noise at the curator: `Ledger(path).account("patients")`. Nothing is paid twice:
    the same plan on the same file gives the same answer again.
    reports: the answers as people gave them (a sequence of labels, a column, a frame, a path), or how often each came
    ({"no": 300, "yes": 200}); or Reports, which say themselves how they were drawn.
    rows_are_public, minimum_cell: between parties, exact sums are held to the rules of a study: few for the rows, and
    no condition that fewer than minimum_cell rows may fulfil. rows_are_public=True sets the rules aside.
    """
    if not isinstance(plan, Plan):
        raise InvalidParameter(
            f"run takes a Plan, got {shorten(type(plan).__name__)}.",
            hint="run(plan, frame), with plan = Plan(Histogram(domain), person=GRR(...))",
        )
    check_minimum_cell("run", minimum_cell)
    if reports is not None:
        _refuse_beside_reports(frame=frame, ledger=ledger, rng=rng, gate=gate)
        began = time.perf_counter()
        release = release_reports(plan, reports, engine)
        object.__setattr__(release, "seconds", time.perf_counter() - began)
        return release
    _refuse_as_frame(plan, frame)
    rules = DisclosureRules(rows_are_public, minimum_cell)
    rng = random_or_secure(rng, "run")
    began = time.perf_counter()
    if plan.curator is not None:
        release = _protected(plan, frame, engine, ledger, rng, gate, rules)
    elif ledger is not None:
        raise PlanRefused(
            "Plan refused: a ledger keeps what a curator releases; at the person each report pays for itself.",
            hint="leave the ledger out, or fill the curator's place",
        )
    else:
        release = plan.settle(_added(plan, frame, engine, rng, rules), seeded=rng.is_seeded and plan.person is not None)
        object.__setattr__(release, "randomised_here", plan.person is not None)
    if plan.parties is not None:
        release = replace(release, guarantees=rehearsed(release.guarantees), rehearsal=True)
    if plan.curator is None:  # how long it took tells how many there are
        object.__setattr__(release, "seconds", time.perf_counter() - began)
    return release


BESIDE_REPORTS = {
    "frame": ("both true answers (frame) and randomised ones (reports)", "run(plan, frame) or run(plan, reports=...)"),
    "ledger": ("a ledger with reports: at the person each report pays for itself", "leave the ledger out"),
    "rng": ("a generator with reports: they are randomised already, and nothing is drawn", "leave the rng out"),
    "gate": ("a gate with reports: no noise is added to them", "leave the gate out"),
}


def _refuse_beside_reports(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            what, way_out = BESIDE_REPORTS[name]
            raise InvalidParameter(f"run got {what}.", hint=way_out)


def _refuse_as_frame(plan: Plan, frame: Any) -> None:
    """What can be told from true answers by its looks, and would be randomised a second time."""
    if frame is None:
        raise InvalidParameter(
            "run got neither a frame nor reports.", hint="run(plan, frame), or run(plan, reports=answers)"
        )
    if isinstance(frame, Reports):
        raise InvalidParameter(
            "run got Reports as its frame: they are randomised already.", hint="run(plan, reports=reports)"
        )
    if plan.person is None:
        return
    if carries_plan(frame):
        raise InvalidParameter(
            "run got a sanitised table as its frame: its rows are randomised already.",
            hint="estimate(table) reads it",
        )
    if isinstance(frame, Mapping) and frame and all(map(_is_count, frame.values())):
        raise InvalidParameter(
            "run got counts as its frame; a frame has a row for each person.",
            hint="if people randomised these answers themselves: run(plan, reports=counts)",
        )


def _is_count(value: Any) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)


def _protected(
    plan: Plan, frame: Any, engine: Any, ledger: Any, rng: Random, gate: Gate | None, rules: DisclosureRules
) -> Release:
    from murmure.central.base.gate import Gate

    def ask() -> Generator[Plan, Any, None]:
        yield plan

    gate = gate or Gate(rng)
    fit = LedgerRequest(plan.digest, plan.describe(), plan.bound.cost, plan.relation)
    heard = drive(ask, frame, engine, fit, ledger, gate, rules)
    return plan.release_answer(heard.answers[0], gate.rng.is_seeded, heard.present[0])


def drive(
    ask: Callable[[], Generator[Plan, Any, T]],
    frame: Any,
    engine: Any,
    fit: LedgerRequest,
    ledger: Any = None,
    gate: Gate | None = None,
    rules: DisclosureRules | None = None,
) -> DriveResult[T]:
    """Run every plan that the generator asks for, and send back what its statistic made of the answer.

    Nothing is returned before all answers are paid for, together, in one transaction of the ledger. An answer that was
    paid for is heard again without looking at the data. rules: what exact sums between parties are held to.
    """
    from murmure.central.base.gate import Gate
    from murmure.run.billing import Payment

    gate = gate or Gate()
    payment = Payment.of(ledger, frame, gate, fit)
    known, before = payment.found(), len(gate.answers)
    hearing = Driver(frame, engine, gate, fit, rules)
    failed: BaseException | None = None
    try:
        try:
            heard = hearing.of(ask(), known)
        except (Exception, SystemExit) as error:  # one that followed an answer is an answer too
            failed = error
        if known is None and hearing.asked:
            known = payment.pay(hearing.asked, hearing.answers)
            if known is not None:  # somebody else asked the same at the same time, and paid: theirs is heard
                del gate.answers[before:]
                return hearing.of(ask(), known)
        if failed is not None:
            raise failed
        return heard
    except BaseException:
        del gate.answers[before:]  # unpaid, or in the ledger
        raise


class Driver:
    """What a generator of plans has asked and heard so far: answers from the gate, or answers that are known."""

    def __init__(
        self, frame: Any, engine: Any, gate: Gate, fit: LedgerRequest, rules: DisclosureRules | None = None
    ) -> None:
        self.frame, self.engine, self.gate, self.fit = frame, engine, gate, fit
        self.rules = rules or DisclosureRules()
        self.asked: list[Plan] = []
        self.answers: list[tuple[int, ...]] = []
        self.present: list[int | None] = []  # parties in each sum, where that is known

    def of(self, steps: Generator[Plan, Any, T], known: PaidAnswers | None) -> DriveResult[T]:
        self.asked, self.answers, self.present = [], [], []
        try:
            plan = next(steps)
            while True:
                plan = steps.send(self._heard(plan, known))
        except StopIteration as end:
            return DriveResult(
                end.value, tuple(self.asked), tuple(self.answers), known is not None, tuple(self.present)
            )

    def _heard(self, plan: Plan, known: PaidAnswers | None) -> Any:
        if plan.curator is None:
            if self.fit.cost.epsilon or self.fit.cost.rho:
                raise PlanRefused(
                    f"Plan refused: {plan.describe()}, in a run that is to cost epsilon {self.fit.cost.epsilon:g}.",
                    hint="every question of a protected run needs noise at the curator",
                )
            return plan.settle(_added(plan, self.frame, self.engine, self.gate.rng, self.rules)).estimate
        present = None
        if known is None and plan.parties is not None:  # the noise is in the sum already
            summed = sum_between_parties(plan, self.frame, self.engine, self.gate, self.rules)
            answer, present = plan.record_masked_answer(summed.values, self.gate), len(summed.cohort)
        elif known is None:
            answer = plan.protect(total(plan, self.frame, self.engine, self.gate.rng), self.gate)
        else:
            answer = known.answer(len(self.answers), plan)
        self.asked.append(plan)
        self.answers.append(answer)
        self.present.append(present)
        return plan.interpret(answer, present)


def _added(plan: Plan, frame: Any, engine: Any, rng: Random, rules: DisclosureRules) -> Total:
    """The exact sum: of one frame, or of the parties' frames by masked sums."""
    from murmure.central.base.gate import Gate

    if plan.parties is None:
        return total(plan, frame, engine, rng)
    return plan.decode_total(sum_between_parties(plan, frame, engine, Gate(rng), rules).values)
