"""The entries of a ledger: chained, added one after the other, and verified in steps.

A charge reads the state of its account, the entry that this state is bound to, and the next few entries in turn, so its
cost does not grow. A changed, lost or moved entry is found by the charge that reads it, and by `verify`, which reads
all of them; a changed state is found at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from murmure.core.errors import LedgerFailed, Phrase, shorten
from murmure.ledger.entries import Entry, LedgerAnswers, answers_checksum
from murmure.ledger.fingerprint import KEYED_LENGTH, is_keyed
from murmure.ledger.store import Run, Store, ledger_failed
from murmure.ledger.sums import AccountState, state_checksum
from murmure.ledger.tables import (
    ACCOUNTS,
    ANSWERS,
    COLUMNS,
    ENTRIES,
    FIRST_COLUMNS,
    FIRST_VERSION,
    META,
    NEW_COLUMNS,
    VERSION,
    insert,
    quoted_columns,
)
from murmure.ledger.upgrade import states_of_first_version, upgrade_tables

STEP = 64  # entries that every charge verifies, in turn
CHANGED = Phrase("restore it from a backup; murmure ledger show checks all of it")


@dataclass(frozen=True)
class Journal:
    """The entries in one store."""

    store: Store

    # -- transactions

    @contextmanager
    def reading(self) -> Iterator[OpenJournal | None]:
        """All reads see the same moment. None: there is no ledger yet."""
        if not self.store.exists():
            yield None
            return
        with self.store.reading() as run:
            yield OpenJournal(run, self.store.name, self._version(run) == FIRST_VERSION)

    @contextmanager
    def writing(self) -> Iterator[OpenJournal]:
        """Nobody else writes meanwhile; on the disk when it ends, undone by an error. Version 1 becomes version 2."""
        with self.store.writing() as run:
            if self._version(run) == FIRST_VERSION:
                old = OpenJournal(run, self.store.name, first_version=True)
                entries = old.entries()
                upgrade_tables(run)
                journal = OpenJournal(run, self.store.name)
                for state in states_of_first_version(entries).values():
                    journal.record_upgrade(state)
            else:
                journal = OpenJournal(run, self.store.name)
            journal.verify_step()
            yield journal

    def _version(self, run: Run) -> str:
        rows = run(f'SELECT "value" FROM "{META}" WHERE "key" = ?', "version")
        version = rows[0][0] if rows else None
        if version not in (VERSION, FIRST_VERSION):
            raise ledger_failed(
                self.store.name,
                Phrase(
                    "it is of version {version}, and this software reads {first_version} and {version_2}",
                    version=shorten(version),
                    first_version=FIRST_VERSION,
                    version_2=VERSION,
                ),
                Phrase("install the release of murmure that wrote it"),
            )
        return str(version)


@dataclass(frozen=True)
class OpenJournal:
    """The entries, inside one transaction."""

    run: Run
    name: str  # of the ledger, for messages
    first_version: bool = False

    # -- entries

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """Every entry, in the order of writing, each checked against the one before."""
        out: list[Entry] = []
        for entry in self._chain("", ()):
            if entry.number != len(out) + 1:
                raise self.changed(len(out) + 1)
            out.append(entry)
        return [entry for entry in out if dataset in (None, entry.dataset)]

    def entry(self, number: int) -> Entry | None:
        rows = self._select('WHERE "number" = ?', number)
        return self._checked(rows[0]) if rows else None

    def paid_entry(
        self, fingerprint: str, dataset: str, plan: str, seeded: bool, part: tuple[str, str] | None
    ) -> Entry | None:
        """The first charge that paid for this plan on exactly these data."""
        where = 'WHERE "fingerprint" = ? AND "dataset" = ? AND "plan" = ? AND "seeded" = ?'
        where += ' AND "partition" IS NULL' if part is None else ' AND "partition" = ? AND "part" = ?'
        values = (fingerprint, dataset, plan, int(seeded), *(part or ()))
        rows = self._select(f'{where} ORDER BY "number" LIMIT 1', *values)
        return self._checked(rows[0]) if rows else None

    def is_charged(self, fingerprint: str, plan: str) -> bool:
        """Whether any account paid for this."""
        return bool(self._select('WHERE "fingerprint" = ? AND "plan" = ? LIMIT 1', fingerprint, plan))

    def datasets_of(self, fingerprint: str) -> list[str]:
        """The accounts that exactly these data were charged to, first to last."""
        sql = f'SELECT min("number") FROM "{ENTRIES}" WHERE "fingerprint" = ? GROUP BY "dataset" ORDER BY 1'
        first = [self.entry(number) for (number,) in self.run(sql, fingerprint)]
        return [entry.dataset for entry in first if entry is not None]

    def has_fingerprints(self) -> bool:
        """Whether files were charged, and not only names that a person gave."""
        sql = f'SELECT "fingerprint" FROM "{ENTRIES}" WHERE length("fingerprint") = ? LIMIT 1'
        return any(is_keyed(text) for (text,) in self.run(sql, KEYED_LENGTH))

    def answers(self, entry: Entry) -> LedgerAnswers:
        rows = self.run(
            f'SELECT "place", "question", "answer" FROM "{ANSWERS}" WHERE "entry" = ? ORDER BY "place"', entry.number
        )
        if answers_checksum(rows) != entry.answers:
            raise self._damaged(
                Phrase("entry {number} does not hold the answers that it paid for", number=entry.number)
            )
        items = tuple({"question": question, "answer": json.loads(answer)} for _, question, answer in rows)
        return LedgerAnswers(entry.number, entry.at, bool(entry.seeded), items)

    # -- accounts

    def datasets(self) -> list[str]:
        if self.first_version:
            return sorted(states_of_first_version(self.entries()))
        return [name for (name,) in self.run(f'SELECT "dataset" FROM "{ACCOUNTS}" ORDER BY "dataset"')]

    def state(self, dataset: str) -> AccountState:
        """What the entries of this data set add up to."""
        if self.first_version:
            return states_of_first_version(self.entries()).get(dataset, AccountState(dataset))
        rows = self.run(f'SELECT "entry", "state" FROM "{ACCOUNTS}" WHERE "dataset" = ?', dataset)
        ((last,),) = self.run(f'SELECT max("number") FROM "{ENTRIES}" WHERE "dataset" = ?', dataset)
        if not rows and last is None:
            return AccountState(dataset)
        entry = self.entry(last) if last is not None else None
        if not rows or entry is None or rows[0][0] != last or state_checksum(dataset, rows[0][1]) != entry.state:
            raise self._damaged(
                Phrase("the total that {dataset!r} has paid does not match its entries", dataset=dataset)
            )
        try:
            return AccountState.from_json(dataset, rows[0][1])
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._damaged(Phrase("what {dataset!r} has paid cannot be read", dataset=dataset)) from None

    def append(
        self, state: AccountState, entry: Entry, answers: Sequence[tuple[int, str, str]] = ()
    ) -> tuple[Entry, AccountState]:
        """Write one more entry of this account, and what it adds up to. When: now, unless the entry says."""
        last = self._last()
        after = state.after(entry)
        text = after.to_json()
        written = replace(
            entry,
            number=1 if last is None else last.number + 1,
            at=entry.at or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            state=state_checksum(entry.dataset, text),
            previous="" if last is None else last.to_row()[-1],
        )
        row = written.to_row()
        self.run(insert(ENTRIES), *row)
        for answer in answers:
            self.run(insert(ANSWERS), written.number, *answer)
        self.run(f'DELETE FROM "{ACCOUNTS}" WHERE "dataset" = ?', entry.dataset)
        self.run(insert(ACCOUNTS), entry.dataset, written.number, text)
        # Read back in the same transaction: a trigger, or a database that rounds, would change a charge.
        if self._select('WHERE "number" = ?', written.number) != [row] or self.state(entry.dataset) != after:
            raise ledger_failed(self.name, Phrase("the charge was not stored as written"), CHANGED)
        return written, after

    def record_upgrade(self, state: AccountState) -> None:
        """The account of a version 1 ledger: its budget is written once more, with the unit, and bound to its sums."""
        budget = state.budget
        assert budget is not None, "version 1 charged nobody without a budget"
        about = "taken over from version 1 of the ledger"
        self.append(
            state,
            Entry(
                0,
                "",
                "budget",
                "murmure",
                state.dataset,
                budget.relation,
                budget.epsilon,
                delta=budget.delta,
                about=about,
                unit=budget.unit,
            ),
        )

    # -- notes about the ledger itself

    def note(self, key: str) -> str | None:
        rows = self.run(f'SELECT "value" FROM "{META}" WHERE "key" = ?', key)
        return rows[0][0] if rows else None

    def set_note(self, key: str, value: str) -> None:
        self.run(f'DELETE FROM "{META}" WHERE "key" = ?', key)
        self.run(insert(META), key, value)

    # -- verification

    def verify_step(self) -> None:
        """The next STEP entries, and the last one; the step after begins where this one ended."""
        last = self._last()
        if last is None:
            return
        text = self.note("verified") or "0"
        done = int(text) if text.isdecimal() else 0
        first = done + 1 if 0 <= done < last.number else 1
        before = self.entry(first - 1) if first > 1 else None
        if first > 1 and before is None:
            raise self.changed(first - 1)
        number = first - 1
        previous = "" if before is None else before.to_row()[-1]
        for entry in self._chain(previous, ('WHERE "number" >= ? AND "number" < ?', first, first + STEP)):
            number += 1
            if entry.number != number:
                raise self.changed(number)
        if number < min(first + STEP - 1, last.number):
            raise self.changed(number + 1)
        self.set_note("verified", str(number if number < last.number else 0))

    def verify(self) -> int:
        """Every entry, every state and every answer is as it was written: how many entries there are."""
        entries = self.entries()
        upgraded = next((i for i, entry in enumerate(entries) if entry.state is not None), len(entries))
        states = states_of_first_version(entries[:upgraded])
        for entry in entries:
            if entry.kind == "charge":
                self.answers(entry)
        for entry in entries[upgraded:]:
            state = states.get(entry.dataset, AccountState(entry.dataset)).after(entry)
            if entry.state != state_checksum(entry.dataset, state.to_json()):
                raise self._damaged(
                    Phrase("entry {number} does not match the sum of the entries before it", number=entry.number)
                )
            states[entry.dataset] = state
        if not self.first_version:
            if self.datasets() != sorted(states):
                raise self._damaged(Phrase("an account is missing, or has no entry"))
            for name, state in states.items():
                if self.state(name) != state:
                    raise self._damaged(
                        Phrase("the total that {name!r} has paid does not match its entries", name=name)
                    )
        return len(entries)

    def _last(self) -> Entry | None:
        rows = self._select('ORDER BY "number" DESC LIMIT 1')
        return self._checked(rows[0]) if rows else None

    def _chain(self, previous: str, where: tuple[object, ...]) -> Iterator[Entry]:
        clause, *values = where or ("",)
        for row in self._select(f'{clause} ORDER BY "number"', *values):
            entry = self._checked(row)
            if entry.previous != previous:
                raise self.changed(entry.number)
            previous = str(row[-1])
            yield entry

    def _select(self, clause: str, *values: object) -> list[tuple[object, ...]]:
        columns = FIRST_COLUMNS if self.first_version else COLUMNS
        rows = self.run(f'SELECT {quoted_columns(columns)} FROM "{ENTRIES}" {clause}', *values)
        if not self.first_version:
            return [tuple(row) for row in rows]
        place = COLUMNS.index(NEW_COLUMNS[0])  # what version 1 did not have is empty
        return [(*row[:place], *([None] * len(NEW_COLUMNS)), *row[place:]) for row in rows]

    def _checked(self, row: Sequence[object]) -> Entry:
        entry = Entry.from_row(row)
        if entry is None:
            raise self.changed(row[0])
        return entry

    def changed(self, number: object) -> LedgerFailed:
        return self._damaged(Phrase("entry {number} is missing, or was changed", number=number))

    def _damaged(self, what: str) -> LedgerFailed:
        return ledger_failed(self.name, Phrase("it is damaged, {what}", what=what), CHANGED)
