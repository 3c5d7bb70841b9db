"""The driver: answers every plan of a dialogue, and pays for all answers before any of them is returned."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from murmure.central.base.gate import Gate
from murmure.core.errors import PlanRefused
from murmure.plan.disclosure_rules import DisclosureRules
from murmure.plan.plan import Plan
from murmure.run.billing import LedgerRequest, Payment
from murmure.run.dialogue import Dialogue
from murmure.run.kept_rows import KeptRows
from murmure.run.masked_sum import sum_between_parties
from murmure.run.totals import total

if TYPE_CHECKING:
    from murmure.ledger.account import Charge
    from murmure.run.billing import PaidAnswers

T = TypeVar("T")


@dataclass(frozen=True)
class DriveResult(Generic[T]):
    """What a generator of questions returned, and all that it asked and was told on the way."""

    result: T
    plans: tuple[Plan, ...]
    estimates: tuple[Any, ...] = field(repr=False)
    answers: tuple[tuple[int, ...], ...] = field(repr=False)  # what passed the gate; of exact sums nothing does
    charge: Charge | None = None  # what was paid for them, now or earlier


def drive(
    ask: Callable[[], Generator[Any, Any, T]],
    frame: Any,
    engine: Any,
    request: LedgerRequest,
    ledger: Any = None,
    gate: Gate | None = None,
    rules: DisclosureRules | None = None,
    plan_of: Callable[[Any, int], Plan] | None = None,
) -> DriveResult[T]:
    """Run every plan that the generator yields, and send back what its statistic makes of the answer.

    Nothing is returned before all answers are paid for, together, in one transaction of the ledger. A paid answer is
    replayed from the ledger without reading the data. rules: what exact sums between parties must keep. plan_of: for
    generators that yield statistics: the plan of one, by the number of the question.
    """
    gate = gate or Gate()
    payment = None if ledger is None else Payment.open(ledger, frame, gate.rng, request)
    paid, first_new = None if payment is None else payment.lookup(), len(gate.answers)
    try:
        while True:
            driver, failure = Driver(frame, engine, gate, request, rules or DisclosureRules(), paid), None
            try:
                dialogue: Dialogue[Plan, T] = Dialogue(ask(), plan_of)
                while dialogue.question is not None:
                    dialogue.reply(driver.answer(dialogue.question))
            # An error raised after an answer leaks that answer, so what was asked so far is charged as well.
            except (Exception, SystemExit) as error:
                failure = error
            if payment is not None and paid is None and driver.charged:
                paid = payment.pay(driver.charged, driver.answers)
                # Somebody else asked the same at the same time and paid first: their answers count, ours are dropped.
                if paid is not None:
                    del gate.answers[first_new:]
                    continue
            if failure is not None:
                raise failure
            plans, estimates = tuple(dialogue.questions), tuple(dialogue.answers)
            charge = None if payment is None else payment.charge
            return DriveResult(dialogue.result, plans, estimates, tuple(driver.answers), charge)
    except BaseException:
        # Drop what passed the gate in this run: either it was never charged, or the ledger has it.
        del gate.answers[first_new:]
        raise


@dataclass
class Driver:
    """Answers the plans of one dialogue; what it answered so far outlives an error, because it must be paid for."""

    frame: Any
    engine: Any
    gate: Gate
    request: LedgerRequest
    rules: DisclosureRules
    paid: PaidAnswers | None
    charged: list[Plan] = field(default_factory=list)
    answers: list[tuple[int, ...]] = field(default_factory=list)
    kept: KeptRows = field(default_factory=KeptRows)

    def answer(self, plan: Plan) -> Any:
        """What the statistic of the plan makes of its sum: exact, or through the gate, or as it was paid for."""
        if plan.curator is None and (self.request.cost.epsilon or self.request.cost.rho):
            raise PlanRefused(
                "Plan refused: {plan}, in a run that should cost epsilon {epsilon:g}.",
                hint="every question of a protected run needs noise at the curator",
                plan=plan.describe(),
                epsilon=self.request.cost.epsilon,
            )
        survivors = None
        if plan.curator is not None and self.paid is not None:
            answer = self.paid.answer(len(self.answers), plan)
        elif plan.parties is None:
            summed = total(plan, self.frame, self.engine, self.gate.rng, self.kept)
            if plan.curator is None:
                return plan.interpret_total(summed)
            answer = plan.protect(summed, self.gate)
        else:
            masked = sum_between_parties(plan, self.frame, self.engine, self.gate.rng, self.rules, self.kept)
            if plan.curator is None:
                return plan.interpret_total(plan.decode_total(masked.values))
            # The parties' shares of the noise are in the sum already.
            answer, survivors = plan.record_masked_answer(masked.values, self.gate), len(masked.cohort)
        self.charged.append(plan)
        self.answers.append(answer)
        return plan.interpret(answer, survivors)
