"""A run and its ledger: what was paid for is looked up, what is new is paid for before it is returned."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from murmure.certify.accounting import sequential
from murmure.core.blocks import Cost, pure_cost
from murmure.core.errors import AlreadyPaid, InvalidParameter, LedgerFailed, Phrase, PlanMismatch, PlanRefused
from murmure.core.random import Random
from murmure.core.types import Relation
from murmure.engines.sources.data_file import DataFile
from murmure.plan.plan import Plan

if TYPE_CHECKING:
    from murmure.ledger.account import Account, Charge


@dataclass(frozen=True)
class LedgerRequest:
    """What a ledger is told about a run of one or several plans before it starts."""

    name: str  # a digest of all that decides which questions are asked
    about: str
    cost: Cost  # of all answers together, at most
    relation: Relation = "add/remove"
    unit: str = "row"


@dataclass(frozen=True)
class PaidAnswers:
    """Answers that were paid for, and the questions they answer."""

    entries: Sequence[Mapping[str, Any]]

    def answer(self, number: int, plan: Plan) -> tuple[int, ...]:
        if number >= len(self.entries) or self.entries[number]["question"] != plan.digest:
            raise PlanMismatch(
                "the ledger's answer number {number} does not answer plan {digest}.",
                hint="another release of murmure asked; pay for a fresh answer",
                number=number + 1,
                digest=plan.digest[:12],
            )
        return tuple(int(v) for v in self.entries[number]["answer"])


@dataclass
class Payment:
    """What one run asks of its account, and what it charges. Without an account nothing is recorded."""

    account: Account | None
    request: LedgerRequest
    charge: Charge | None = None  # what was paid, by this run or an earlier one

    @classmethod
    def open(cls, ledger: Any, frame: Any, rng: Random, request: LedgerRequest) -> Payment:
        """ledger: an account, or a ledger where the data are a file: then it is the account of that file."""
        if ledger is None:
            return cls(None, request)
        rng.require_secure(Phrase("a ledger"))
        if isinstance(frame, DataFile):  # read in another way, the same bytes are another question to the same account
            name = hashlib.sha256(f"{request.name} {frame.format.digest}".encode()).hexdigest()
            request = replace(request, name=name)
        return cls(account_for(ledger, frame), request)

    def lookup(self) -> PaidAnswers | None:
        """The answers to this question about these data, if they were paid for; else the budget must cover it."""
        if self.account is None:
            return None
        answers = self.account.find(self.request.name)
        if answers is not None:
            self.charge = answers.charge
            return PaidAnswers(answers)
        self.account.check(self.request.cost, relation=self.request.relation, unit=self.request.unit)
        return None

    def pay(self, plans: Sequence[Plan], answers: Sequence[tuple[int, ...]]) -> PaidAnswers | None:
        """Record charge and answers in one transaction. If somebody else paid for the same meanwhile: their answers."""
        if self.account is None:
            return None
        protected = {(plan.relation, plan.unit) for plan in plans}
        if len(protected) > 1:
            raise PlanRefused("Plan refused: one fit mixes two neighbour relations, whose costs cannot be added.")
        ((relation, unit),) = protected
        self.account.check_unchanged()
        try:
            self.charge = self.account.pay(
                plan=self.request.name,
                about=self.request.about,
                cost=sequential([plan.bound.cost for plan in plans]),
                answers=[{"question": p.digest, "answer": list(a)} for p, a in zip(plans, answers, strict=True)],
                certificate=plans[0].guarantees()["reader"].to_dict() if len(plans) == 1 else {},
                relation=relation,
                unit=unit,
                once=True,
            )
        except AlreadyPaid:
            paid = self.lookup()
            if paid is None:
                raise LedgerFailed(
                    "the ledger {name!r} lost an answer that was paid for.",
                    hint="restore it from a backup",
                    name=self.account.ledger.name,
                ) from None
            return paid
        return None


@dataclass(frozen=True)
class TablePayment:
    """What a sanitised table costs the people in it, and the accounts that pay: one for each source."""

    accounts: tuple[tuple[Account, Any], ...]  # each with its source
    plan: Plan
    seeded: bool
    about: str

    @classmethod
    def open(cls, ledger: Any, source: Any, plan: Plan, rng: Random, out: Any) -> TablePayment:
        """ledger: an account, a ledger, or one account for each source. Refuses early what could not be paid."""
        given = [] if ledger is None else ledger if isinstance(ledger, list | tuple) else [ledger]
        if ledger is not None and not given:
            raise InvalidParameter("sanitise.ledger is an empty list: nobody would be charged.", hint="leave it out")
        sources = source if isinstance(source, list | tuple) and len(given) > 1 else [source] * len(given)
        accounts = tuple((account_for(one, frame), frame) for one, frame in zip(given, sources, strict=True))
        name = "" if out is None else f" {os.path.basename(os.fspath(out))}"
        payment = cls(accounts, plan, rng.is_seeded, f"sanitised table{name}: {plan.describe()}")
        for account, _ in accounts:
            if account.part is not None:
                raise InvalidParameter(
                    "a sanitised table shows how many rows it has, so it cannot be charged to a part of the people.",
                    hint="charge all of them: leave out part",
                )
            account.check(payment.cost, needs_budget=False, **payment.protects)
        return payment

    @property
    def cost(self) -> Cost:
        return pure_cost(self.plan.guarantees()["reader"].epsilon)

    @property
    def protects(self) -> dict[str, Any]:
        return {"relation": self.plan.guarantees()["reader"].relation, "unit": self.plan.unit}

    def pay(self) -> Charge | None:
        """Charge every account, each once for this table; the last charge."""
        charge = None
        for account, _ in self.accounts:
            account.check_unchanged()
        for account, source in self.accounts:
            # The first charge makes the ledger, and the key by which it recognises these bytes.
            charge = account_for(account, source, new_ledger=True).pay(
                plan=self.plan.digest,
                about=self.about,
                cost=self.cost,
                seeded=self.seeded,
                certificate=self.plan.guarantees()["reader"].to_dict(),
                needs_budget=False,
                **self.protects,
            )
        return charge


def account_for(ledger: Any, frame: Any, new_ledger: bool = False) -> Account:
    """The account that pays for what is released about this frame, by the bytes of the file if it is one."""
    from murmure.ledger.account import Account
    from murmure.ledger.ledger import Ledger

    path = isinstance(frame, str | os.PathLike)
    if isinstance(ledger, Account):
        return ledger.of_file(frame, new_ledger) if path else ledger
    if not isinstance(ledger, Ledger):
        raise InvalidParameter(
            "ledger must be an account of a Ledger, got {got}.",
            hint='Ledger("ledger.db").account("patients")',
            got=type(ledger).__name__,
        )
    if not path:
        raise InvalidParameter(
            "a ledger must know whose data it charges, and this frame has no name.",
            hint='ledger=Ledger("ledger.db").account("patients")',
        )
    return ledger.account_of(frame)
