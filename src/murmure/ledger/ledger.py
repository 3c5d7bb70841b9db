"""The ledger: who, which data, which plan, how much, when. Charge first, then release.

    Ledger(...).account("patients").pay(...)  ->  the charge: its number, its cost, what is left

A charge and the noisy answers it pays for are written in one transaction, which checks the budget first. So an answer
is paid and can be fetched again, or neither. No seed, noise, true sum or value of a person is written.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from murmure.certify.accounting import covers, epsilon_at
from murmure.core.errors import BudgetExhausted, InvalidParameter, Phrase, shorten
from murmure.core.fixed import positive_epsilon
from murmure.core.types import Relation
from murmure.ledger.account import Account, budget_command
from murmure.ledger.currency import ROW, Currency
from murmure.ledger.entries import Entry, LedgerAnswers, Part
from murmure.ledger.figures import rounded_up
from murmure.ledger.journal import Journal
from murmure.ledger.store import open_store
from murmure.ledger.sums import AccountState, Budget, Remaining, Spent
from murmure.ledger.words import checked_asker, checked_delta, checked_name, checked_part
from murmure.show.document import Document, Shown

DEFAULT_FILE, VARIABLE = "murmure-ledger.db", "MURMURE_LEDGER"


def default_place() -> str:
    """MURMURE_LEDGER of the environment, else ./murmure-ledger.db."""
    return os.environ.get(VARIABLE) or DEFAULT_FILE


class Ledger(Shown):
    """A file of SQLite (its path), or a database (postgresql://user@host/database). Made by the first budget.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import murmure as mu
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = mu.Ledger(Path(folder) / "ledger.db")
    ...     _ = ledger.set_budget("patients", epsilon=1.0)
    ...     plan = mu.Plan(mu.Count(mu.Integers(0, 120)), curator=mu.DiscreteLaplace(epsilon=0.75))
    ...     release = mu.run(plan, [30, 40, 56] * 300, ledger=ledger.account("patients"))
    ...     print(f"spent {release.charge.spent.epsilon:.4f}, {ledger.verify()} entries")
    ...     try:
    ...         release = mu.run(plan, [30, 40, 56] * 300, ledger=ledger.account("patients"))
    ...     except mu.MurmureError as error:
    ...         print(type(error).__name__)
    spent 0.7500, 2 entries
    BudgetExhausted
    """

    def __init__(self, where: str | os.PathLike[str]) -> None:
        self._store = open_store(where)
        if self._store.exists():
            self._store.check_intact()
            with self._journal.reading():
                pass  # checks its version

    @property
    def _journal(self) -> Journal:
        return Journal(self._store)

    @property
    def name(self) -> str:
        return self._store.name

    def __repr__(self) -> str:
        return f"Ledger({self.name!r})"

    def __str__(self) -> str:
        return repr(self)  # what it holds is asked for, by `summary`

    def document(self) -> Document:
        """Every data set: its budget, what was paid, what is left."""
        from murmure.ledger.document import ledger_document

        return ledger_document(self)

    def exists(self) -> bool:
        """Whether there is one; the first budget makes it."""
        return self._store.exists()

    def lost_key(self) -> str | None:
        """Where the key of the fingerprints should be, if it is missing: then no data are recognised."""
        if os.path.exists(self._store.key_path):
            return None
        with self._journal.reading() as journal:
            known = journal is not None and journal.has_fingerprints()
        return str(self._store.key_path) if known else None

    def refuse_unimported(self, *folders: Path) -> None:
        """Refuse to go on beside charges of murmure 0.5 that are not in this ledger."""
        from murmure.ledger.old_charges import refuse_unimported

        refuse_unimported(self, (self._store.key_path.parent, *folders))

    # -- budgets

    def set_budget(
        self,
        dataset: str,
        epsilon: float,
        delta: float = 0.0,
        who: str | None = None,
        relation: Relation | None = None,
        first: bool = False,
        unit: str | None = None,
    ) -> Budget:
        """Set what these people may pay in all; again later, but never below what they have paid.

        relation, unit: what the account counts: by default what it counts already, else rows that are added or removed.
        unit is "row", or the column that tells people apart. What was paid before is converted, or the budget refused.
        first: refuse if there is another budget by now, instead of changing it.
        """
        checked_name(Phrase("dataset"), dataset)
        limit, delta = positive_epsilon("budget", epsilon), checked_delta(delta)
        if unit is not None:
            checked_name(Phrase("unit"), unit)
        if relation is not None:
            Currency(relation)  # refuses what is none
        # Only a budget or a sanitised table makes a ledger: a mistyped path must not become an empty one.
        if not self._store.exists():
            self._store.create()
        with self._journal.writing() as journal:
            state = journal.state(dataset)
            counted = state.currency or Currency("add/remove", ROW)
            wanted = Currency(relation or counted.relation, unit or counted.unit)
            new = Budget(limit, delta, wanted.relation, wanted.unit)
            _check_new_budget(state, new, first)
            entry = Entry(0, "", "budget", checked_asker(who), dataset, new.relation, new.epsilon, delta=new.delta)
            journal.append(state, replace(entry, unit=new.unit))
        return new

    def budget(self, dataset: str) -> Budget | None:
        """The budget in force, or None."""
        return self.state(dataset).budget

    def spent(self, dataset: str) -> Spent:
        """What these people have paid so far, at the delta of their budget."""
        return self.state(dataset).spent()

    def left(self, dataset: str) -> Remaining:
        """What may still be charged to all of these people; nothing without a budget."""
        return self.state(dataset).left()

    def state(self, dataset: str) -> AccountState:
        """Budget, currency and sums of one data set."""
        with self._journal.reading() as journal:
            return AccountState(dataset) if journal is None else journal.state(dataset)

    # -- history

    def datasets(self) -> list[str]:
        with self._journal.reading() as journal:
            return [] if journal is None else journal.datasets()

    def history(self, dataset: str | None = None) -> list[Entry]:
        """Every charge and every budget, in the order of writing."""
        with self._journal.reading() as journal:
            return [] if journal is None else journal.entries(dataset)

    def answer(self, number: int) -> LedgerAnswers:
        """The noisy answers that charge `number` paid for."""
        with self._journal.reading() as journal:
            whole = isinstance(number, int) and abs(number) < 2**63
            entry = journal.entry(number) if journal is not None and whole else None
            if journal is not None and entry is not None and entry.kind == "charge":
                return journal.answers(entry)
        raise InvalidParameter(
            "the ledger {name!r} holds no charge {number}.",
            hint="murmure ledger history lists them",
            name=self.name,
            number=shorten(number),
        )

    def verify(self) -> int:
        """Every entry and every answer is as it was written, and none is missing: how many entries there are.

        What no check can show: that the last entries were cut off, or the whole replaced by an older copy.
        """
        if self._store.exists():
            self._store.check_pages()
        with self._journal.reading() as journal:
            return 0 if journal is None else journal.verify()

    # -- charges

    def account(
        self,
        dataset: str,
        who: str | None = None,
        fingerprint: str | None = None,
        part: Part | None = None,
        fresh: bool = False,
    ) -> Account:
        """The people of one data set, and who charges them.

        fingerprint: what tells exactly these data from others; with it the same plan is answered again for free.
        part: (partition, label), if only one part of a public partition of the people is asked.
        fresh: draw and pay again, even for what is paid for.
        """
        checked_name(Phrase("dataset"), dataset)
        if fingerprint is not None:
            checked_name(Phrase("fingerprint"), fingerprint)
        return Account(self, dataset, checked_asker(who), fingerprint, checked_part(part), fresh)

    def account_of(
        self,
        source: str | os.PathLike[str],
        dataset: str | None = None,
        who: str | None = None,
        fresh: bool = False,
    ) -> Account:
        """The account of the people in this file (folder, pattern).

        Without a name it is the account that exactly these bytes were charged to before; else the name of the file.
        """
        if dataset is not None:
            return self.account(dataset, who, fresh=fresh).of_file(source)
        account = self.account(Path(source).name or "data", who, fresh=fresh).of_file(source)
        with self._journal.reading() as journal:
            if journal is None or account.fingerprint is None:
                return account
            known = journal.datasets_of(account.fingerprint)
            if not known or account.dataset in known:
                return account
            # Of several accounts with these bytes, one that a budget limits.
            limited = [name for name in known if journal.state(name).budget is not None]
            return replace(account, dataset=(limited or known)[0])


def _check_new_budget(state: AccountState, new: Budget, first: bool) -> None:
    dataset, old = state.dataset, state.budget
    if first and old is not None and old != new:
        raise InvalidParameter(
            "{dataset!r} already has a budget: epsilon {epsilon:g}, delta {delta:g}, {currency}.",
            hint="change it with {budget_command}",
            dataset=dataset,
            epsilon=old.epsilon,
            delta=old.delta,
            currency=old.currency.words,
            budget_command=budget_command(dataset, f"{new.epsilon:g}"),
        )
    if state.charges and state.currency is not None:
        if state.currency.steps_to(new.currency) is None:
            raise InvalidParameter(
                "{dataset!r} has paid in {currency}; a budget in {new_currency} cannot cover that.",
                hint="keep relation={relation!r} and unit={unit!r}",
                dataset=dataset,
                currency=state.currency and state.currency.words,
                new_currency=new.currency.words,
                relation=state.currency.relation,
                unit=state.currency.unit,
            )
        total = state.converted(new.currency).total()
        if not covers(new.epsilon, new.delta, total):
            spent = Phrase(
                "epsilon {rounded_up} at delta {delta:g}",
                rounded_up=rounded_up(epsilon_at(total, new.delta)),
                delta=new.delta,
            )
            raise BudgetExhausted(
                "{dataset!r} has paid more than the new budget: {spent}, and epsilon {epsilon:g} was wanted.",
                hint="a budget can be lowered to what is spent, not below",
                dataset=dataset,
                spent=spent,
                epsilon=new.epsilon,
            )
