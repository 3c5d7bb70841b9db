"""The ledger: who, which data, which plan, how much, when. Charge first, then release.

    Ledger(...).account("patients").pay(...)  ->  the number of the charge

A charge and the noisy answers it pays for are written in one transaction, which checks the budget first. So an answer
is paid and can be fetched again, or neither. No seed, noise, true sum or value of a person is written.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from murmure.certify.accounting import covers, epsilon_at
from murmure.core.blocks import Cost
from murmure.core.errors import AlreadyPaid, BudgetExhausted, InvalidParameter, LedgerFailed, Phrase, shorten
from murmure.core.fixed import positive_epsilon
from murmure.core.types import Relation
from murmure.ledger.entries import Entry, LedgerAnswers, Part, answer_rows, answers_checksum, row_checksum
from murmure.ledger.figures import remaining_in_words, rounded_up
from murmure.ledger.fingerprint import files_of, fingerprint, is_keyed, open_key
from murmure.ledger.store import Run, ledger_failed, open_store
from murmure.ledger.sums import Budget, Remaining, Spent, budget_of, charges_of, remaining_of, spent_of, total_of
from murmure.ledger.tables import ANSWERS, COLUMNS, ENTRIES, META, VERSION, insert, quoted_columns
from murmure.ledger.words import (
    checked_asker,
    checked_delta,
    checked_name,
    checked_part,
    json_safe,
    plain_text,
    system_reason,
)

DEFAULT_FILE, VARIABLE = "murmure-ledger.db", "MURMURE_LEDGER"
RELATIONS = ("add/remove", "replace")
CHANGED = Phrase("restore it from a copy; murmure ledger show checks all of it")


def default_place() -> str:
    """MURMURE_LEDGER of the environment, else ./murmure-ledger.db."""
    return os.environ.get(VARIABLE) or DEFAULT_FILE


class Ledger:
    """A file of SQLite (its path), or a database (postgresql://user@host/database). Made by the first budget.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import murmure as mu
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = mu.Ledger(Path(folder) / "ledger.db")
    ...     _ = ledger.set_budget("patients", epsilon=1.0)
    ...     plan = mu.Plan(mu.Count(mu.Integers(0, 120)), curator=mu.DiscreteLaplace(epsilon=0.75))
    ...     release = mu.run(plan, [30, 40, 56] * 300, ledger=ledger.account("patients"))
    ...     print(f"spent {ledger.spent('patients').epsilon:.4f}, {ledger.verify()} entries")
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
            with self._reading():
                pass  # checks its version

    @property
    def name(self) -> str:
        return self._store.name

    def __repr__(self) -> str:
        return f"Ledger({self.name!r})"

    def exists(self) -> bool:
        """Whether there is one; the first budget makes it."""
        return self._store.exists()

    def lost_key(self) -> str | None:
        """Where the key of the fingerprints should be, if it is missing: then no data are recognised."""
        if os.path.exists(self._store.key_path):
            return None
        known = any(is_keyed(entry.fingerprint) for entry in self.history())
        return str(self._store.key_path) if known else None

    # -- budgets

    def set_budget(
        self,
        dataset: str,
        epsilon: float,
        delta: float = 0.0,
        who: str | None = None,
        relation: Relation = "add/remove",
        first: bool = False,
    ) -> Budget:
        """Set what these people may pay in all; again later, but never below what they have paid.

        first: refuse if there is another budget by now, instead of changing it.
        """
        checked_name("dataset", dataset)
        new = Budget(positive_epsilon("budget", epsilon), checked_delta(delta), relation)
        if relation not in RELATIONS:
            raise InvalidParameter("budget.relation must be add/remove or replace, got {got}.", got=shorten(relation))

        def decide(entries: list[Entry]) -> None:
            old, charges = budget_of(entries), charges_of(entries)
            if first and old not in (None, new):
                raise InvalidParameter(
                    "{dataset!r} has a budget already: epsilon {epsilon:g}, delta {delta:g}, {relation}.",
                    hint="it is changed by {command}",
                    dataset=dataset,
                    epsilon=old.epsilon,
                    delta=old.delta,
                    relation=old.relation,
                    command=_command(dataset, f"{new.epsilon:g}"),
                )
            if old is not None and charges and old.relation != relation:
                raise InvalidParameter(
                    "{dataset!r} has paid under {relation!r}; a budget of {relation_2!r} cannot cover that.",
                    hint="keep relation={relation!r}",
                    dataset=dataset,
                    relation=old.relation,
                    relation_2=relation,
                )
            total = total_of(charges, relation)
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

        # Only a budget makes a ledger: a mistyped path must not become an empty one.
        if not self._store.exists():
            self._store.create()
        self._write(
            Entry(0, "", "budget", checked_asker(who), dataset, relation, new.epsilon, delta=new.delta), (), decide
        )
        return new

    def budget(self, dataset: str) -> Budget | None:
        """The budget in force, or None."""
        return budget_of(self.history(dataset))

    def spent(self, dataset: str) -> Spent:
        """What these people have paid so far, at the delta of their budget."""
        return spent_of(self.history(dataset))

    def left(self, dataset: str) -> Remaining:
        """What may still be charged to all of these people; nothing without a budget."""
        entries = self.history(dataset)
        return remaining_of(budget_of(entries), entries)

    # -- history

    def datasets(self) -> list[str]:
        return sorted({entry.dataset for entry in self.history()})

    def history(self, dataset: str | None = None) -> list[Entry]:
        """Every charge and every budget, in the order of writing."""
        with self._reading() as run:
            entries = self._read_entries(run)[0] if run else []
        return [entry for entry in entries if dataset in (None, entry.dataset)]

    def answer(self, number: int) -> LedgerAnswers:
        """The noisy answers that charge `number` paid for."""
        with self._reading() as run:
            for entry in self._read_entries(run)[0] if run else ():
                if (entry.number, entry.kind) == (number, "charge"):
                    assert run is not None
                    return self._answers(run, entry)
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
        with self._reading() as run:
            entries = self._read_entries(run)[0] if run else []
            for entry in entries:
                if entry.kind == "charge":
                    assert run is not None
                    self._answers(run, entry)
            return len(entries)

    # -- charges

    def account(
        self, dataset: str, who: str | None = None, fingerprint: str | None = None, part: Part | None = None
    ) -> Account:
        """The people of one data set, and who charges them.

        fingerprint: what tells exactly these data from others; with it the same plan is answered again for free.
        part: (partition, label), if only one part of a public partition of the people is asked.
        """
        checked_name("dataset", dataset)
        if fingerprint is not None:
            checked_name("fingerprint", fingerprint)
        return Account(self, dataset, checked_asker(who), fingerprint, checked_part(part))

    # -- rows

    @contextmanager
    def _reading(self) -> Iterator[Run | None]:
        """None: there is no ledger yet."""
        if not self._store.exists():
            yield None
            return
        with self._store.reading() as run:
            self._check_version(run)
            yield run

    def _check_version(self, run: Run) -> None:
        version = run(f'SELECT "value" FROM "{META}" WHERE "key" = ?', "version")
        if version != [(VERSION,)]:
            raise ledger_failed(
                self.name,
                Phrase(
                    "it is of version {version}, and this software reads {version_2}",
                    version=shorten(version[0][0] if version else None),
                    version_2=VERSION,
                ),
                Phrase("install the release of murmure that wrote it"),
            )

    def _read_entries(self, run: Run) -> tuple[list[Entry], str]:
        """Every entry, and the checksum of the last. All are read before anything is decided: a row that was changed,
        lost or moved to other people would free a part of a budget.
        """
        out: list[Entry] = []
        last = ""
        for row in run(f'SELECT {quoted_columns(COLUMNS)} FROM "{ENTRIES}" ORDER BY "number"'):
            entry = Entry.from_row(row)
            if entry is None or entry.number != len(out) + 1 or entry.previous != last:
                raise self._changed(len(out) + 1, Phrase("is missing, or was changed"))
            out.append(entry)
            last = row[-1]
        return out, last

    def _answers(self, run: Run, entry: Entry) -> LedgerAnswers:
        rows = run(
            f'SELECT "place", "question", "answer" FROM "{ANSWERS}" WHERE "entry" = ? ORDER BY "place"', entry.number
        )
        if answers_checksum(rows) != entry.answers:
            raise self._changed(entry.number, Phrase("has other answers than it paid for"))
        items = tuple({"question": question, "answer": json.loads(answer)} for _, question, answer in rows)
        return LedgerAnswers(entry.number, entry.at, bool(entry.seeded), items)

    def _changed(self, number: object, what: str) -> LedgerFailed:
        return ledger_failed(
            self.name, Phrase("it is damaged, entry {number} {what}", number=number, what=what), CHANGED
        )

    def _write(
        self, entry: Entry, answers: Sequence[tuple[int, str, str]], decide: Callable[[list[Entry]], None]
    ) -> int:
        """Decide and write in one transaction; on the disk when this returns."""
        with self._store.writing() as run:
            self._check_version(run)
            entries, check = self._read_entries(run)
            decide([earlier for earlier in entries if earlier.dataset == entry.dataset])
            last = len(entries)
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            row = replace(entry, number=last + 1, at=now, previous=check).to_row()
            run(insert(ENTRIES), *row, row_checksum(row))
            for answer in answers:
                run(insert(ANSWERS), last + 1, *answer)
            # Read back in the same transaction: a trigger, or a database that rounds, would change a charge.
            stored = run(f'SELECT {quoted_columns(COLUMNS)} FROM "{ENTRIES}" WHERE "number" = ?', last + 1)
            if [tuple(columns) for columns in stored] != [(*row, row_checksum(row))]:
                raise ledger_failed(self.name, Phrase("the charge did not stay as it was written"), CHANGED)
            return last + 1


@dataclass(frozen=True)
class Account:
    """The people of one data set, and who charges them; made by Ledger.account."""

    ledger: Ledger
    dataset: str
    who: str
    fingerprint: str | None = None
    part: Part | None = None

    def of_file(self, source: str | os.PathLike[str]) -> Account:
        """The same account, for exactly the data in this file (folder, pattern): fingerprinted by all their bytes."""
        if not self.ledger._store.exists():
            return self  # nothing was ever paid
        path = self.ledger._store.key_path
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
        return replace(self, fingerprint=fingerprint(files_of(source), key))

    def other_datasets(self) -> list[str]:
        """Other names in this ledger that exactly these data were charged to: then the same people have two budgets."""
        if self.fingerprint is None:
            return []
        datasets = {entry.dataset for entry in self.ledger.history() if entry.fingerprint == self.fingerprint}
        return sorted(datasets - {self.dataset})

    def check(self, cost: Cost, relation: Relation | None = None, part: Part | None = None) -> None:
        """Refuse early what could not be paid now. Nothing is written or reserved: `pay` decides."""
        self._budget_check(cost, relation, part or self.part)(self.ledger.history(self.dataset))

    def find(self, plan: str, part: Part | None = None, seeded: bool = False) -> LedgerAnswers | None:
        """The answers to this plan about exactly these data, or None. They are paid for: to show them again is free.

        Without a fingerprint nobody can say that the data are the same, so there is no answer. Answers with noise from
        a seed are kept separate.
        """
        with self.ledger._reading() as run:
            entry = self._paid_entry(self.ledger._read_entries(run)[0] if run else [], plan, part or self.part, seeded)
            return None if run is None or entry is None else self.ledger._answers(run, entry)

    def _paid_entry(self, entries: Sequence[Entry], plan: str, part: Part | None, seeded: bool) -> Entry | None:
        """The charge that paid for this plan on exactly these data."""
        if self.fingerprint is None:
            return None
        wanted = (self.dataset, plan, self.fingerprint, seeded, part or (None, None))
        for entry in entries:
            if wanted == (entry.dataset, entry.plan, entry.fingerprint, entry.seeded, (entry.partition, entry.part)):
                return entry
        return None

    def pay(
        self,
        *,
        plan: str,
        about: str,
        cost: Cost,
        answers: Sequence[Mapping[str, Any]],
        seeded: bool = False,
        certificate: Mapping[str, Any] | None = None,
        relation: Relation | None = None,
        part: Part | None = None,
        once: bool = False,
    ) -> int:
        """Charge, and keep the noisy answers with the charge: {"question": digest, "answer": [integers]} each.

        When this returns, both are on the disk, and the answers may be released; when it raises, they may not.
        relation: under which the cost was certified; what the certificate says, unless said here. once: refuse with
        `AlreadyPaid` if these very data have an answer to this plan by now, which `find` then gives.
        """
        relation = relation or (certificate or {}).get("relation")
        if relation not in RELATIONS:
            raise InvalidParameter(
                "a charge to {dataset!r} must say which relation its cost was certified under, got {got}.",
                hint='relation="add/remove" or "replace"',
                dataset=self.dataset,
                got=shorten(relation),
            )
        part = checked_part(part) or self.part
        rows = answer_rows(answers)
        entry = Entry(
            0,
            "",
            "charge",
            self.who,
            self.dataset,
            relation,
            cost.epsilon,
            rho=cost.rho,
            partition=part and part[0],
            part=part and part[1],
            fingerprint=self.fingerprint,
            plan=str(plan),
            about=plain_text(about),
            seeded=bool(seeded),
            certificate=None if certificate is None else json_safe(certificate),
            answers=answers_checksum(rows),
        )
        if not self.ledger._store.exists():
            raise self._no_budget()
        check_budget = self._budget_check(cost, relation, part)

        def decide(entries: list[Entry]) -> None:
            if once and self._paid_entry(entries, str(plan), part, bool(seeded)) is not None:
                raise AlreadyPaid("plan {plan} was answered about these data in the meantime.", plan=str(plan)[:12])
            check_budget(entries)

        return self.ledger._write(entry, rows, decide)

    def _budget_check(self, cost: Cost, relation: Relation | None, part: Part | None) -> Callable[[list[Entry]], None]:
        def decide(entries: list[Entry]) -> None:
            budget = budget_of(entries)
            if budget is None:
                raise self._no_budget()
            if relation is not None and relation != budget.relation:
                raise InvalidParameter(
                    "the budget of {dataset!r} counts {relation!r}, and this plan is certified under "
                    "{relation_2!r}: the two do not add up.",
                    hint="give the plan relation={relation!r}",
                    dataset=self.dataset,
                    relation=budget.relation,
                    relation_2=relation,
                )
            total = total_of([*charges_of(entries), (cost, part)], budget.relation)
            if not covers(budget.epsilon, budget.delta, total):
                pure = f"epsilon {rounded_up(cost.epsilon)}" if cost.epsilon < math.inf else "Gaussian noise"
                pays = f" (rho {rounded_up(cost.rho)})" if budget.delta else ", which only a budget with a delta pays"
                request = pure + (pays if budget.delta or cost.epsilon == math.inf else "")
                whole = Phrase(
                    "epsilon {rounded_up}{detail}",
                    rounded_up=rounded_up(budget.epsilon),
                    detail=Phrase(", delta {delta:g}", delta=budget.delta) if budget.delta else "",
                )
                raise BudgetExhausted(
                    "the budget of {dataset!r} does not cover this: asked for {request}, left "
                    "{remaining_in_words}, of {whole}. Nothing was charged.",
                    hint="ask for less, show answers that are paid for (murmure ledger history), or raise the budget: "
                    "{command}",
                    dataset=self.dataset,
                    request=request,
                    remaining_in_words=remaining_in_words(budget, remaining_of(budget, entries)),
                    whole=whole,
                    command=_command(self.dataset, "MORE"),
                )

        return decide

    def _no_budget(self) -> BudgetExhausted:
        return BudgetExhausted(
            "no budget is set for {dataset!r} in the ledger {name!r}: nothing is released.",
            hint="set one: {command}",
            dataset=self.dataset,
            name=self.ledger.name,
            command=_command(self.dataset, "1"),
        )


def _command(dataset: str, epsilon: str) -> str:
    return f"murmure ledger budget {shlex.quote(dataset)} --epsilon {epsilon}"
