"""`run(plan, data)`: the whole way from rows to a release; and the driver of learners, which ask plan after plan."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from murmure.core.blocks import Cost
from murmure.core.errors import EmptySource, InvalidParameter, PlanRefused, shorten
from murmure.core.random import Random, random_or_secure
from murmure.core.schema import Schema, kind_of
from murmure.core.types import Relation, Release, Total
from murmure.engines.frames import batches, pick
from murmure.engines.memory import Memory
from murmure.engines.progress import rows_of, watched
from murmure.engines.task import Task
from murmure.plan import Plan

if TYPE_CHECKING:
    from murmure.central.gate import Gate
    from murmure.paying import Known

T = TypeVar("T")


@dataclass(frozen=True)
class Fit:
    """What a ledger is told about a run of one or several plans before it starts."""

    name: str  # a digest of all that decides which questions are asked
    about: str
    cost: Cost  # of all of it, at most
    relation: Relation = "add/remove"


@dataclass(frozen=True)
class Heard(Generic[T]):
    """What a generator of plans returned, and all that passed the gate on the way."""

    result: T
    plans: tuple[Plan, ...]
    answers: tuple[tuple[int, ...], ...] = field(repr=False)
    again: bool  # paid for earlier


def run(
    plan: Plan, frame: Any, engine: Any = None, ledger: Any = None, rng: Random | None = None, gate: Gate | None = None
) -> Release:
    """Randomise, add up and estimate. Secure randomness unless a seeded generator is passed; then the release says so.

    frame: a list, an array, a pandas, Polars or Arrow table, a DuckDB relation, or the path of a CSV or Parquet file.
    ledger: the account that pays for noise at the curator: `Ledger(path).account("patients")`. Nothing is paid twice:
    the same plan on the same file gives the same answer again.
    """
    if not isinstance(plan, Plan):
        raise InvalidParameter(
            f"run takes a Plan, got {shorten(type(plan).__name__)}.",
            hint="run(plan, frame), with plan = Plan(Histogram(domain), person=GRR(...))",
        )
    rng = random_or_secure(rng, "run")
    began = time.perf_counter()
    if plan.curator is not None:
        release = _protected(plan, frame, engine, ledger, rng, gate)
    elif ledger is not None:
        raise PlanRefused(
            "Plan refused: a ledger keeps what a curator releases; at the person each report pays for itself.",
            hint="leave the ledger out, or fill the curator's place",
        )
    else:
        release = plan.settle(total(plan, frame, engine, rng), seeded=rng.is_seeded and plan.person is not None)
    if plan.curator is None:  # how long it took tells how many there are
        object.__setattr__(release, "seconds", time.perf_counter() - began)
    return release


def _protected(plan: Plan, frame: Any, engine: Any, ledger: Any, rng: Random, gate: Gate | None) -> Release:
    from murmure.central.gate import Gate

    def ask() -> Generator[Plan, Any, None]:
        yield plan

    gate = gate or Gate(rng)
    heard = drive(ask, frame, engine, Fit(plan.digest, plan.describe(), plan.bound.cost, plan.relation), ledger, gate)
    return plan.released(heard.answers[0], gate.rng.is_seeded)


def drive(
    ask: Callable[[], Generator[Plan, Any, T]],
    frame: Any,
    engine: Any,
    fit: Fit,
    ledger: Any = None,
    gate: Gate | None = None,
) -> Heard[T]:
    """Run every plan that the generator asks for, and send back what its statistic made of the answer.

    Nothing is returned before all answers are paid for, together, in one transaction of the ledger. An answer that was
    paid for is heard again without looking at the data.
    """
    from murmure.central.gate import Gate
    from murmure.paying import Payment

    gate = gate or Gate()
    payment = Payment.of(ledger, frame, gate, fit)
    known, before = payment.found(), len(gate.asked)
    hearing = Hearing(frame, engine, gate, fit)
    failed: BaseException | None = None
    try:
        try:
            heard = hearing.of(ask(), known)
        except (Exception, SystemExit) as error:  # one that followed an answer is an answer too
            failed = error
        if known is None and hearing.asked:
            known = payment.pay(hearing.asked, hearing.answers)
            if known is not None:  # somebody else asked the same at the same time, and paid: theirs is heard
                del gate.asked[before:]
                return hearing.of(ask(), known)
        if failed is not None:
            raise failed
        return heard
    except BaseException:
        del gate.asked[before:]  # unpaid, or in the ledger
        raise


class Hearing:
    """What a generator of plans has asked and heard so far: answers from the gate, or answers that are known."""

    def __init__(self, frame: Any, engine: Any, gate: Gate, fit: Fit) -> None:
        self.frame, self.engine, self.gate, self.fit = frame, engine, gate, fit
        self.asked: list[Plan] = []
        self.answers: list[tuple[int, ...]] = []

    def of(self, steps: Generator[Plan, Any, T], known: Known | None) -> Heard[T]:
        self.asked, self.answers = [], []
        try:
            plan = next(steps)
            while True:
                plan = steps.send(self._heard(plan, known))
        except StopIteration as end:
            return Heard(end.value, tuple(self.asked), tuple(self.answers), known is not None)

    def _heard(self, plan: Plan, known: Known | None) -> Any:
        if plan.curator is None:
            if self.fit.cost.epsilon or self.fit.cost.rho:
                raise PlanRefused(
                    f"Plan refused: {plan.describe()}, in a run that is to cost epsilon {self.fit.cost.epsilon:g}.",
                    hint="every question of a protected run needs noise at the curator",
                )
            return plan.settle(total(plan, self.frame, self.engine, self.gate.rng)).estimate
        if known is None:
            answer = plan.protect(total(plan, self.frame, self.engine, self.gate.rng), self.gate)
        else:
            answer = known.answer(len(self.answers), plan)
        self.asked.append(plan)
        self.answers.append(answer)
        return plan.read(answer)


def total(plan: Plan, frame: Any, engine: Any, rng: Random) -> Total:
    """The sum that the plan asks for. Under a curator nobody is a sum too: whether there are rows is not told."""
    engine = engine or engine_for(frame)
    try:
        if hasattr(engine, "reads") and engine.reads(frame):  # it cuts the rows where they lie
            if plan.unit != "row":
                frame = _few_rows_each(plan, frame, engine)
            return engine.total(plan.step, frame, rng.branch())  # type: ignore[no-any-return]
        return engine.total(plan.step, tasks(plan, frame, rng))  # type: ignore[no-any-return]
    except EmptySource:
        if plan.curator is None:
            raise
        return Total(0, np.zeros(plan.statistic.width, np.int64))


def _few_rows_each(plan: Plan, frame: Any, engine: Any) -> Any:
    """At the curator rows beyond the bound are left out, which Spark can do; at the person they are refused."""
    columns = plan.step.columns
    if plan.curator is None or columns is None:
        raise PlanRefused("Plan refused: on Spark the unit is the row; rows of one person lie on several workers.")
    return engine.bounded(frame, columns, plan.unit, int(plan.rows_per_person))


def _is_table(frame: Any) -> bool:
    """Whether it has columns; a list, an array or a series has not."""
    return any(hasattr(frame, name) for name in ("columns", "column_names", "schema"))


def engine_for(frame: Any) -> Any:
    """Spark for a Spark frame, this machine for anything else."""
    if type(frame).__module__.startswith("pyspark."):
        from murmure.engines.spark import Spark

        return Spark()
    return Memory()


def tasks(plan: Plan, frame: Any, rng: Random) -> Iterator[Task]:
    """The rows in batches, each with its own generator, so that threads cannot change a seeded run."""
    from murmure.engines.people import RowsPerPerson, with_unit
    from murmure.engines.tables import open_table

    domain, lenient = plan.statistic.domain, plan.curator is not None
    source: Iterable[Any]
    people = None
    if plan.unit != "row":
        over: Literal["drop", "refuse"] = "drop" if lenient else "refuse"
        people = RowsPerPerson(plan.unit, plan.rows_per_person, over, nobody=over)
    if isinstance(domain, Schema) or people is not None:
        columns = plan.step.columns
        if columns is None:
            raise PlanRefused(
                f"Plan refused: its unit is column {plan.unit!r}, and its domain names no column of that table.",
                hint="take the domain from a schema",
            )
        kinds = domain.kinds if isinstance(domain, Schema) else {columns[0]: kind_of(domain)}
        table = open_table(frame, with_unit(columns, plan.unit), kinds, lenient=lenient)
        source, rows = table.batches(), table.rows
    elif isinstance(frame, str | os.PathLike | Mapping) or (lenient and _is_table(frame)):
        what = str(frame) if isinstance(frame, str | os.PathLike) else "the table"
        names = list(frame) if isinstance(frame, Mapping) else list(open_table(frame, lenient=lenient).names)
        column = pick(names, domain.column, what)
        table = open_table(frame, [column], {column: kind_of(domain)}, lenient=lenient)
        source, rows = (batch.column(0) for batch in table.batches()), table.rows
    else:
        source, rows = batches(frame, domain.column), rows_of(frame)
    first, branch = 0, rng.branch()
    for i, batch in enumerate(watched(source, rows, plan.describe())):
        if people is not None:
            batch = people.admit(batch, first)
        task = Task(batch, branch.child(i) if i else rng, first)  # one batch alone is what plan.report would make of it
        yield task
        first += len(task)
