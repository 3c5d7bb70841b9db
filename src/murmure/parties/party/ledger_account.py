"""A party's noisy studies in the ledger: the same account that its own questions and sanitised tables are charged to.

A charge is in the ledger before the vector leaves. If a crash follows, it is found again: a round is paid once. The
party's own file keeps which columns a study read; what is left of a budget is the ledger's to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from murmure.certify.accounting import sequential
from murmure.core.errors import AlreadyPaid, BudgetExhausted, InvalidParameter, LedgerFailed
from murmure.ledger.currency import Currency, times
from murmure.parties.party.refusals import OverBudget, StoreFailed
from murmure.parties.study.costs import StudyCharge, charges_of

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
        with _as_refusals():
            unpaid = self._unpaid(charges)
            for charge in unpaid:  # each in what it protects: the account converts it, or refuses
                self.account.check(charge.cost, needs_budget=False, **_protects(charge))
            if not unpaid:
                return
            counted = self._counted(charges[0])
            costs = [
                times(charge.cost, _currency(charge).steps_to(counted) or 1)
                for charge in [*self._unpaid(self._convertible(earlier, charges[0])), *unpaid]
            ]
            self.account.check(sequential(costs), counted.relation, unit=counted.unit, needs_budget=False)

    def pay(self, charge: StudyCharge, earlier: Iterable[StudyCharge] = ()) -> None:
        """Charge one round, once; and first what this party paid before it had a ledger."""
        for past in self._unpaid([past for past in self._convertible(earlier, charge) if past != charge]):
            self._pay(past)
        self._pay(charge)

    def _pay(self, charge: StudyCharge) -> None:
        with _as_refusals(), suppress(AlreadyPaid):
            self._named(charge).pay(
                plan=_name(charge),
                about=f"round {charge.round} of the study {charge.name}: {', '.join(charge.columns)}",
                cost=charge.cost,
                once=True,
                needs_budget=False,
                **_protects(charge),
            )

    def _counted(self, charge: StudyCharge) -> Currency:
        """What the account counts, or will count from this charge on."""
        return self.account.ledger.state(self.account.dataset).currency or _currency(charge)

    def _convertible(self, earlier: Iterable[StudyCharge], charge: StudyCharge) -> list[StudyCharge]:
        """What this party paid before it had a ledger, as far as the account can count it."""
        counted = self._counted(charge)
        return [past for past in earlier if _currency(past).steps_to(counted) is not None]

    def _unpaid(self, charges: Sequence[StudyCharge]) -> list[StudyCharge]:
        """Those that no account of this ledger has paid."""
        with _as_refusals(), self.account.ledger._journal.reading() as journal:
            return [
                charge
                for charge in charges
                if journal is None or not journal.is_charged(f"study {charge.study}", _name(charge))
            ]

    def _named(self, charge: StudyCharge) -> Account:
        """A round is recognised by its study, wherever the rows come from."""
        return replace(self.account, fingerprint=f"study {charge.study}", fresh=False)


def _protects(charge: StudyCharge) -> dict[str, Any]:
    return {"relation": charge.protects.relation, "unit": charge.protects.unit}


def _currency(charge: StudyCharge) -> Currency:
    return Currency(**_protects(charge))


def _name(charge: StudyCharge) -> str:
    return f"{charge.study} round {charge.round}"


@contextmanager
def _as_refusals() -> Iterator[None]:
    try:
        yield
    except (BudgetExhausted, InvalidParameter) as error:
        raise OverBudget("{message}", hint=error.hint, message=error.message) from None
    except LedgerFailed as error:
        raise StoreFailed("{message}", hint=error.hint, message=error.message) from None
