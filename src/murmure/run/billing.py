"""A run and its ledger: what was paid for is looked up, what is new is paid for before it is returned."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from murmure.central.base.gate import Gate
from murmure.certify.accounting import sequential
from murmure.core.errors import AlreadyPaid, InvalidParameter, Phrase, PlanMismatch, PlanRefused
from murmure.plan.plan import Plan


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


@dataclass(frozen=True)
class Payment:
    """What one run asks of its account, and what it charges. Without an account nothing is recorded."""

    account: Any
    request: Any

    @classmethod
    def open(cls, ledger: Any, frame: Any, gate: Gate, request: Any) -> Payment:
        """ledger: an account, or a ledger where the data are a file, whose name is then the name of the data."""
        if ledger is None:
            return cls(None, request)
        gate.rng.require_secure(Phrase("a ledger"))
        path = isinstance(frame, str | os.PathLike)
        if not hasattr(ledger, "pay"):
            if not hasattr(ledger, "account"):
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
            ledger = ledger.account(os.path.basename(os.fspath(frame)))
        return cls(ledger.of_file(frame) if path else ledger, request)

    def lookup(self) -> PaidAnswers | None:
        """The answers to this question about these data, if they were paid for; else the budget must cover it."""
        if self.account is None:
            return None
        entries = self.account.find(self.request.name)
        if entries is not None:
            return PaidAnswers(entries)
        self.account.check(self.request.cost, relation=self.request.relation)
        return None

    def pay(self, plans: Sequence[Plan], answers: Sequence[tuple[int, ...]]) -> PaidAnswers | None:
        """Record charge and answers in one transaction. If somebody else paid for the same meanwhile: their answers."""
        if self.account is None:
            return None
        relations = {plan.relation for plan in plans}
        if len(relations) > 1:
            raise PlanRefused("Plan refused: one fit mixes two neighbouring relations, whose costs do not add up.")
        charge = dict(
            plan=self.request.name,
            about=self.request.about,
            cost=sequential([plan.bound.cost for plan in plans]),
            answers=[{"question": p.digest, "answer": list(a)} for p, a in zip(plans, answers, strict=True)],
            seeded=False,
            certificate=plans[0].guarantees()["reader"].to_dict() if len(plans) == 1 else {},
            relation=relations.pop(),
        )
        try:
            self.account.pay(**charge, once=True)
        except AlreadyPaid:
            return self.lookup()
        return None
