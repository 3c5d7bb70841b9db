"""The driver: runs every plan that a generator yields, and pays for all answers before any of them is returned."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from murmure.central.base.gate import Gate
from murmure.core.blocks import Cost
from murmure.core.errors import PlanRefused
from murmure.core.types import Relation, Total
from murmure.plan.disclosure_rules import DisclosureRules
from murmure.plan.plan import Plan
from murmure.run.billing import Payment
from murmure.run.masked_sum import sum_between_parties
from murmure.run.totals import total

if TYPE_CHECKING:
    from murmure.core.random import Random
    from murmure.run.billing import PaidAnswers

T = TypeVar("T")


@dataclass(frozen=True)
class LedgerRequest:
    """What a ledger is told about a run of one or several plans before it starts."""

    name: str  # a digest of all that decides which questions are asked
    about: str
    cost: Cost  # of all answers together, at most
    relation: Relation = "add/remove"


@dataclass(frozen=True)
class DriveResult(Generic[T]):
    """What a generator of plans returned, and all that passed the gate on the way."""

    result: T
    plans: tuple[Plan, ...]
    answers: tuple[tuple[int, ...], ...] = field(repr=False)


def drive(
    ask: Callable[[], Generator[Plan, Any, T]],
    frame: Any,
    engine: Any,
    request: LedgerRequest,
    ledger: Any = None,
    gate: Gate | None = None,
    rules: DisclosureRules | None = None,
) -> DriveResult[T]:
    """Run every plan that the generator yields, and send back what its statistic makes of the answer.

    Nothing is returned before all answers are paid for, together, in one transaction of the ledger. A paid answer is
    replayed from the ledger without reading the data. rules: what exact sums between parties must keep.
    """
    gate = gate or Gate()
    payment = Payment.open(ledger, frame, gate, request)
    paid, first_new = payment.lookup(), len(gate.answers)
    driver = Driver(frame, engine, gate, request, rules)
    failure: BaseException | None = None
    try:
        try:
            done = driver.run(ask(), paid)
        # An error raised after an answer leaks that answer, so what was asked so far is charged as well.
        except (Exception, SystemExit) as error:
            failure = error
        if paid is None and driver.plans:
            paid = payment.pay(driver.plans, driver.answers)
            # Somebody else asked the same at the same time and paid first: their answers count, ours are dropped.
            if paid is not None:
                del gate.answers[first_new:]
                return driver.run(ask(), paid)
        if failure is not None:
            raise failure
        return done
    except BaseException:
        # Drop what passed the gate in this run: either it was never charged, or the ledger has it.
        del gate.answers[first_new:]
        raise


class Driver:
    """Runs one generator of plans; what it asked so far outlives an error, because it must be paid for."""

    def __init__(
        self, frame: Any, engine: Any, gate: Gate, request: LedgerRequest, rules: DisclosureRules | None = None
    ) -> None:
        self.frame, self.engine, self.gate, self.request = frame, engine, gate, request
        self.rules = rules or DisclosureRules()
        self.plans: list[Plan] = []
        self.answers: list[tuple[int, ...]] = []

    def run(self, steps: Generator[Plan, Any, T], paid: PaidAnswers | None) -> DriveResult[T]:
        self.plans, self.answers = [], []
        try:
            plan = next(steps)
            while True:
                plan = steps.send(self._estimate(plan, paid))
        except StopIteration as end:
            return DriveResult(end.value, tuple(self.plans), tuple(self.answers))

    def _estimate(self, plan: Plan, paid: PaidAnswers | None) -> Any:
        if plan.curator is None:
            if self.request.cost.epsilon or self.request.cost.rho:
                raise PlanRefused(
                    "Plan refused: {plan}, in a run that should cost epsilon {epsilon:g}.",
                    hint="every question of a protected run needs noise at the curator",
                    plan=plan.describe(),
                    epsilon=self.request.cost.epsilon,
                )
            return plan.settle(exact_total(plan, self.frame, self.engine, self.gate.rng, self.rules)).estimate
        survivors = None
        if paid is not None:
            answer = paid.answer(len(self.answers), plan)
        elif plan.parties is not None:  # the parties' shares of the noise are in the sum already
            masked = sum_between_parties(plan, self.frame, self.engine, self.gate.rng, self.rules)
            answer, survivors = plan.record_masked_answer(masked.values, self.gate), len(masked.cohort)
        else:
            answer = plan.protect(total(plan, self.frame, self.engine, self.gate.rng), self.gate)
        self.plans.append(plan)
        self.answers.append(answer)
        return plan.interpret(answer, survivors)


def exact_total(plan: Plan, frame: Any, engine: Any, rng: Random, rules: DisclosureRules) -> Total:
    """The exact sum: of one frame, or of the parties' frames by masked sums."""
    if plan.parties is None:
        return total(plan, frame, engine, rng)
    return plan.decode_total(sum_between_parties(plan, frame, engine, rng, rules).values)
