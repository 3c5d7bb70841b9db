"""A party's noisy studies in the ledger: the same account that its own questions and sanitised tables are charged to.

A charge is in the ledger before the vector leaves. If a crash follows, it is found again: a round is paid once. The
party's own file keeps which columns a study read; what is left of a budget is the ledger's to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
        with _as_refusals():
            self.account.check(
                total_cost(self._unpaid([*self._of_these_people(earlier, charges[0]), *charges])),
                relation=charges[0].protects.relation,  # type: ignore[arg-type]
                unit=charges[0].protects.unit,
                needs_budget=False,
            )

    def pay(self, charge: StudyCharge, earlier: Iterable[StudyCharge] = ()) -> None:
        """Charge one round, once; and first what this party paid before it had a ledger."""
        for past in self._unpaid(self._of_these_people(earlier, charge)):
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

    def _of_these_people(self, earlier: Iterable[StudyCharge], charge: StudyCharge) -> list[StudyCharge]:
        """What this party paid before it had a ledger, where it protected the same as this charge does."""
        return [past for past in earlier if past.protects == charge.protects and past != charge]

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
