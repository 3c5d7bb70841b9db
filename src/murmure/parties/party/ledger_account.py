"""A party's noisy studies in the ledger: the same account that its own questions and sanitised tables are charged to.

A charge is in the ledger before the vector leaves. If a crash follows, it is found again: a round is paid once. The
party's own file keeps which columns a study read; what is left of a budget is the ledger's to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from murmure.core.errors import AlreadyPaid, BudgetExhausted, InvalidParameter, LedgerFailed
from murmure.parties.party.refusals import OverBudget, StoreFailed
from murmure.parties.study.costs import StudyCharge, charges_of, total_cost

if TYPE_CHECKING:
    from murmure.ledger.account import Account
    from murmure.parties.study.document import Study


@dataclass(frozen=True)
class StudyAccount:
    """The account that pays for the noisy studies of a party."""

    account: Account

    def check(self, study: Study, earlier: Iterable[StudyCharge]) -> None:
        """Refuse a study that the budget does not cover. earlier: what this party paid before it had a ledger."""
        charges = charges_of(study)
        if not charges:
            return
        paid = [charge for charge in earlier if not self._is_paid(charge)]
        with _as_refusals():
            self.account.check(
                total_cost([*paid, *(charge for charge in charges if not self._is_paid(charge))]),
                relation=charges[0].protects.relation,  # type: ignore[arg-type]
                unit=charges[0].protects.unit,
                needs_budget=False,
            )

    def pay(self, charge: StudyCharge, earlier: Iterable[StudyCharge] = ()) -> None:
        """Charge one round, once; and first what this party paid before it had a ledger."""
        for past in earlier:
            if past != charge and not self._is_paid(past):
                self._pay(past)
        self._pay(charge)

    def _pay(self, charge: StudyCharge) -> None:
        with _as_refusals(), suppress(AlreadyPaid):
            self._named(charge).pay(
                plan=_name(charge),
                about=f"round {charge.round} of the study {charge.name}: {', '.join(charge.columns)}",
                cost=charge.cost,
                relation=charge.protects.relation,  # type: ignore[arg-type]
                unit=charge.protects.unit,
                once=True,
                needs_budget=False,
            )

    def _is_paid(self, charge: StudyCharge) -> bool:
        with _as_refusals():
            return self._named(charge).find(_name(charge)) is not None

    def _named(self, charge: StudyCharge) -> Account:
        """A round is recognised by its study, wherever the rows come from."""
        return replace(self.account, fingerprint=f"study {charge.study}", fresh=False)


def _name(charge: StudyCharge) -> str:
    return f"{charge.study} round {charge.round}"


@contextmanager
def _as_refusals() -> Iterator[None]:
    try:
        yield
    except (BudgetExhausted, InvalidParameter) as error:
        message, _, hint = str(error).partition("\n  Hint: ")
        raise OverBudget(message, hint=hint or None) from None
    except LedgerFailed as error:
        message, _, hint = str(error).partition("\n  Hint: ")
        raise StoreFailed(message, hint=hint or None) from None
