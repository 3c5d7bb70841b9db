"""An account: the people of one data set, what they are charged, and the answers that they paid for."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from murmure.certify.accounting import covers
from murmure.core.blocks import Cost
from murmure.core.errors import AlreadyPaid, BudgetExhausted, InvalidParameter, Phrase, Plural, shorten
from murmure.core.types import Relation
from murmure.ledger.currency import RELATIONS, ROW, Currency, times
from murmure.ledger.entries import Entry, LedgerAnswers, Part, answer_rows, answers_checksum
from murmure.ledger.figures import remaining_in_words, rounded_up
from murmure.ledger.fingerprint import file_stamps, files_of, fingerprint, open_key
from murmure.ledger.store import ledger_failed
from murmure.ledger.sums import AccountState, Budget, Remaining, Spent
from murmure.ledger.words import checked_name, checked_part, json_safe, plain_text, system_reason
from murmure.show.document import Document, Shown
from murmure.show.phrase import Code

if TYPE_CHECKING:
    from murmure.ledger.journal import OpenJournal
    from murmure.ledger.ledger import Ledger


@dataclass(frozen=True)
class Charge:
    """What was paid for a release, now or earlier, and what the account adds up to."""

    number: int
    at: str
    ledger: str  # its name
    dataset: str
    cost: Cost  # in what the account counts
    currency: Currency
    earlier: bool  # paid by an earlier run: nothing was charged now
    budget: Budget | None  # None: nothing limits what these people pay
    spent: Spent
    left: Remaining

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        from murmure.ledger.figures import largest_gaussian, largest_pure

        left = {"epsilon": self.left.epsilon, "rho": self.left.rho, "largest_pure": largest_pure(self.left)}
        if self.budget is not None:
            left["largest_gaussian"] = largest_gaussian(self.budget, self.left)
        spent = {"epsilon": self.spent.epsilon, "rho": self.spent.rho, "charges": self.spent.charges}
        return {
            "path": self.ledger,
            "dataset": self.dataset,
            "charge": self.number,
            "again": self.earlier,
            "unit": self.currency.unit,
            "relation": self.currency.relation,
            "budget": self.budget and self.budget.to_dict(),
            "spent": json_safe(spent),
            "left": self.budget and left,
        }

    def __str__(self) -> str:
        return str(self.words())

    def words(self, hint: str = "") -> Phrase:
        """What was paid and what is left. hint: how to pay again, where an earlier answer is shown."""
        paid = Phrase("paid by charge {number}", number=self.number)
        if self.earlier:
            paid = Phrase(
                "paid by charge {number} on {at}: the same answer again, at no cost{hint}",
                number=self.number,
                at=self.at,
                hint=hint,
            )
        return Phrase(
            "Ledger {ledger}, {dataset!r}: {paid}. {balance}",
            ledger=self.ledger,
            dataset=self.dataset,
            paid=paid,
            balance=self.balance(),
        )

    def balance(self) -> Phrase:
        """What is left, or what was paid where nothing limits it."""
        if self.budget is None:
            return Phrase(
                "These people have now paid epsilon = {epsilon} in {releases}, and no budget limits them: {command} "
                "sets one.",
                epsilon=rounded_up(self.spent.epsilon),
                releases=Plural("{n} release", "{n} releases", n=self.spent.charges),
                command=Code(budget_command(self.dataset, "E")),
            )
        left, whole = remaining_in_words(self.budget, self.left), rounded_up(self.budget.epsilon)
        if not self.budget.delta:
            return Phrase("Left: {left} of {whole}.", left=left, whole=whole)
        return Phrase(
            "Left: {left}, of epsilon {whole}, delta {delta:g}.", left=left, whole=whole, delta=self.budget.delta
        )


@dataclass(frozen=True)
class Account(Shown):
    """The people of one data set, and who charges them; made by Ledger.account."""

    ledger: Ledger
    dataset: str
    who: str
    fingerprint: str | None = None
    part: Part | None = None
    fresh: bool = False
    source: tuple[Any, ...] | None = field(default=None, repr=False)  # the file, as it was when it was fingerprinted

    def __str__(self) -> str:
        return repr(self)  # what it holds is asked for, by `summary`

    def document(self) -> Document:
        """The budget of these people, what was paid, what is left."""
        from murmure.ledger.document import account_document

        return account_document(self.ledger, self.dataset)

    def of_file(self, source: str | os.PathLike[str], new_ledger: bool = False) -> Account:
        """The same account, for exactly the data in this file (folder, pattern): fingerprinted by all their bytes.

        new_ledger: make the ledger, if there is none yet.
        """
        look = (os.path.abspath(source), file_stamps(files_of(source)))
        if self.source == look and self.fingerprint is not None:
            return self
        path = self.ledger._store.key_path
        if not self.ledger.exists():
            if not new_ledger:
                return replace(self, source=look)  # nothing was ever paid
            self.ledger._store.create()
        try:
            key = open_key(path)
        except OSError as error:
            raise ledger_failed(
                self.ledger.name,
                Phrase(
                    "the key {path!r} of its fingerprints cannot be used, {error}",
                    path=str(path),
                    error=system_reason(error),
                ),
            ) from None
        return replace(self, fingerprint=fingerprint(files_of(source), key), source=look)

    def check_unchanged(self) -> None:
        """Refuse what was computed while the file changed: its answer would be kept under the bytes of another."""
        if self.source is not None and self.source[1] != file_stamps(files_of(self.source[0])):
            raise InvalidParameter(
                "{source!r} changed while it was read: nothing was charged, and nothing is released.",
                hint="ask again once nobody writes to it",
                source=self.source[0],
            )

    def other_datasets(self) -> list[str]:
        """Other names in this ledger that exactly these data were charged to: then the same people have two budgets."""
        with self.ledger._journal.reading() as journal:
            if self.fingerprint is None or journal is None:
                return []
            return sorted({*journal.datasets_of(self.fingerprint)} - {self.dataset})

    def check(
        self,
        cost: Cost,
        relation: Relation | None = None,
        part: Part | None = None,
        unit: str = ROW,
        needs_budget: bool = True,
    ) -> None:
        """Refuse early what could not be paid now. Nothing is written or reserved: `pay` decides."""
        self.ledger.refuse_unimported()
        state = self.ledger.state(self.dataset)
        asked = Currency(relation, unit) if relation else state.currency or Currency("add/remove", unit)
        self._refuse_unpayable(state, cost, asked, part or self.part, needs_budget)

    def find(self, plan: str, part: Part | None = None, seeded: bool = False) -> LedgerAnswers | None:
        """The answers to this plan about exactly these data, or None. They are paid for: to show them again is free.

        Without a fingerprint nobody can say that the data are the same, so there is no answer. Answers with noise from
        a seed are kept separate.
        """
        with self.ledger._journal.reading() as journal:
            entry = None if journal is None else self._paid_entry(journal, plan, part or self.part, seeded)
            if journal is None or entry is None:
                return None
            charge = self._charge(entry, journal.state(self.dataset), earlier=True)
            return replace(journal.answers(entry), charge=charge)

    def _paid_entry(self, journal: OpenJournal, plan: str, part: Part | None, seeded: bool) -> Entry | None:
        """The charge that paid for this plan on exactly these data."""
        if self.fingerprint is None or self.fresh:
            return None
        return journal.paid_entry(self.fingerprint, self.dataset, plan, seeded, part)

    def pay(
        self,
        *,
        plan: str,
        about: str,
        cost: Cost,
        answers: Sequence[Mapping[str, Any]] = (),
        seeded: bool = False,
        certificate: Mapping[str, Any] | None = None,
        relation: Relation | None = None,
        part: Part | None = None,
        unit: str = ROW,
        once: bool = False,
        needs_budget: bool = True,
    ) -> Charge:
        """Charge, keep the noisy answers with the charge ({"question": digest, "answer": [integers]} each), and say
        what was paid and what is left.

        When this returns, both are on the disk, and the answers may be released; when it raises, they may not.
        relation, unit: what the cost was certified under; the certificate's relation, unless it is given here. A cost
        that the account counts otherwise is converted, or refused. once: refuse with `AlreadyPaid` if these very data
        have an answer to this plan by now, which `find` then gives. needs_budget=False: for what people randomise
        before it leaves them: a budget limits it if there is one, and without one it is only added up.
        """
        asked = self._currency(relation or (certificate or {}).get("relation"), unit)
        part = checked_part(part) or self.part
        rows = answer_rows(answers)
        self.ledger.refuse_unimported()
        if not self.ledger.exists():
            if needs_budget:
                raise self._no_budget()
            self.ledger._store.create()
        with self.ledger._journal.writing() as journal:
            if once and self._paid_entry(journal, str(plan), part, bool(seeded)) is not None:
                raise AlreadyPaid("plan {plan} was answered about these data in the meantime.", plan=str(plan)[:12])
            state = journal.state(self.dataset)
            self._refuse_unpayable(state, cost, asked, part, needs_budget)
            entry = Entry(
                0,
                "",
                "charge",
                self.who,
                self.dataset,
                asked.relation,
                cost.epsilon,
                rho=cost.rho,
                partition=part and part[0],
                part=part and part[1],
                fingerprint=self.fingerprint,
                plan=str(plan),
                about=plain_text(about),
                seeded=bool(seeded),
                certificate=None if certificate is None else json_safe(certificate),
                unit=asked.unit,
            )
            return self._record(journal, state, entry, rows)

    def record_past(
        self, journal: OpenJournal, *, plan: str, about: str, cost: Cost, relation: Relation, unit: str, **more: Any
    ) -> Charge:
        """Charge for what was released before this ledger knew of it: no budget can refuse it any more."""
        entry = Entry(0, "", "charge", self.who, self.dataset, relation, cost.epsilon, rho=cost.rho, plan=plan)
        entry = replace(entry, about=plain_text(about), unit=unit, fingerprint=self.fingerprint, **more)
        return self._record(journal, journal.state(self.dataset), entry)

    def _record(
        self, journal: OpenJournal, state: AccountState, entry: Entry, rows: Sequence[tuple[int, str, str]] = ()
    ) -> Charge:
        """Write the charge, in what the account counts."""
        asked = Currency(entry.relation, entry.unit or ROW)
        currency, paid = self._converted(state, entry.cost, asked)
        if asked != currency:
            entry = replace(entry, asked=json_safe({**vars(entry.cost), **vars(asked)}))
        if asked.unit != currency.unit:  # a part of the people is not a part of the rows
            entry = replace(entry, partition=None, part=None)
        entry = replace(
            entry,
            relation=currency.relation,
            unit=currency.unit,
            epsilon=paid.epsilon,
            rho=paid.rho,
            answers=answers_checksum(rows),
        )
        written, after = journal.append(state, entry, rows)
        return self._charge(written, after)

    def _currency(self, relation: Any, unit: str) -> Currency:
        if relation not in RELATIONS:
            raise InvalidParameter(
                "a charge to {dataset!r} must name the relation under which its cost was certified, got {got}.",
                hint='relation="add/remove" or "replace"',
                dataset=self.dataset,
                got=shorten(relation),
            )
        return Currency(relation, checked_name(Phrase("unit"), unit))

    def _charge(self, entry: Entry, state: AccountState, earlier: bool = False) -> Charge:
        currency = Currency(entry.relation, entry.unit or ROW)
        return Charge(
            entry.number,
            entry.at,
            self.ledger.name,
            self.dataset,
            entry.cost,
            currency,
            earlier,
            state.budget,
            state.spent(),
            state.left(),
        )

    def _converted(self, state: AccountState, cost: Cost, asked: Currency) -> tuple[Currency, Cost]:
        """What the account counts, and the cost in that."""
        currency = state.currency or asked
        steps = asked.steps_to(currency)
        if steps is None:
            raise self._other_currency(asked, currency)
        return currency, times(cost, steps)

    def _refuse_unpayable(
        self, state: AccountState, cost: Cost, asked: Currency, part: Part | None, needs_budget: bool
    ) -> None:
        """Refuse what the budget does not cover."""
        budget = state.budget
        if needs_budget and budget is None:
            raise self._no_budget()
        currency, paid = self._converted(state, cost, asked)
        part = part if asked.unit == currency.unit else None
        if budget is not None and not covers(budget.epsilon, budget.delta, state.total(paid, part)):
            whole = Phrase(
                "epsilon {rounded_up}{detail}",
                rounded_up=rounded_up(budget.epsilon),
                detail=Phrase(", delta {delta:g}", delta=budget.delta) if budget.delta else "",
            )
            raise BudgetExhausted(
                "the budget of {dataset!r} does not cover this: asked for {request}, left "
                "{remaining_in_words}, of {whole}. Nothing was charged.",
                hint="ask for less, show answers that were already paid for (murmure ledger history), or raise "
                "the budget: {budget_command}",
                dataset=self.dataset,
                request=_request_in_words(paid, budget),
                remaining_in_words=remaining_in_words(budget, state.left()),
                whole=whole,
                budget_command=budget_command(self.dataset, "MORE"),
            )

    def _other_currency(self, asked: Currency, currency: Currency) -> InvalidParameter:
        if asked.unit != currency.unit and currency.unit != ROW:
            way_out = Phrase("--unit {unit} and --rows-per-person, or unit={unit!r} in Python", unit=currency.unit)
            why = Phrase("one person may have several") if asked.unit == ROW else Phrase("they are different people")
        elif asked.unit != currency.unit:
            way_out, why = (
                Phrase("--unit row; or --relation add/remove, at four times the cost; or another account: --dataset"),
                Phrase("the number of people is not protected"),
            )
        else:
            command = budget_command(self.dataset, "E")
            way_out = Phrase(
                "ask with add/remove, or count everything by replace: {command} --relation replace", command=command
            )
            why = Phrase("the number of rows is not protected")
        return InvalidParameter(
            "the account of {dataset!r} counts {currency}, but this release protects {asked}: {why}, so the two "
            "costs do not add up.",
            hint=way_out,
            dataset=self.dataset,
            currency=currency.words,
            asked=asked.words,
            why=why,
        )

    def _no_budget(self) -> BudgetExhausted:
        return BudgetExhausted(
            "no budget is set for {dataset!r} in the ledger {name!r}: nothing is released.",
            hint="set one: {budget_command}",
            dataset=self.dataset,
            name=self.ledger.name,
            budget_command=budget_command(self.dataset, "1"),
        )


def _request_in_words(paid: Cost, budget: Budget) -> Phrase:
    """The cost that a budget does not cover."""
    if paid.epsilon == math.inf and not budget.delta:
        return Phrase("Gaussian noise, which only a budget with a delta pays")
    epsilon, rho = rounded_up(paid.epsilon), rounded_up(paid.rho)
    if paid.epsilon == math.inf:
        return Phrase("Gaussian noise (rho {rho})", rho=rho)
    if budget.delta:
        return Phrase("epsilon {epsilon} (rho {rho})", epsilon=epsilon, rho=rho)
    return Phrase("epsilon {epsilon}", epsilon=epsilon)


def budget_command(dataset: str, epsilon: str) -> str:
    return f"murmure ledger budget {shlex.quote(dataset)} --epsilon {epsilon}"
