"""Ledgers of version 1, as murmure 0.5 wrote them: what they mean now, and the tables that the first write adds.

Their entries stay as they are. They do not say which unit they count: where the certificate of a charge names a column
that tells people apart, that is the unit; where it names none, the row. A charge for several plans has no certificate.
If all charges of a data set are known to count the same, the account counts that; otherwise it counts rows, and what
may have counted people costs as many steps as that takes (currency.py); under replace no number of steps is enough, and
the account is spent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from murmure.core.blocks import Cost
from murmure.ledger.currency import ROW, Currency, times
from murmure.ledger.entries import Entry
from murmure.ledger.store import Run
from murmure.ledger.sums import AccountState
from murmure.ledger.tables import (
    ACCOUNTS,
    ENTRIES,
    FIRST_VERSION,
    META,
    NEW_COLUMNS,
    NEW_INDEXES,
    TABLES,
    VERSION,
    create_sql,
)

UNIT_IN_WORDS = re.compile(r"column (.+?) tells people apart[;,]")


def states_of_first_version(entries: Sequence[Entry]) -> dict[str, AccountState]:
    """What entries of version 1 add up to, by data set."""
    out: dict[str, AccountState] = {}
    for dataset in dict.fromkeys(entry.dataset for entry in entries):
        mine = [entry for entry in entries if entry.dataset == dataset]
        units = {_unit_of(entry) for entry in mine if entry.kind == "charge"}
        known = units.pop() if len(units) == 1 else ROW
        unit = known or ROW
        state = AccountState(dataset)
        for entry in mine:
            counted = replace(entry, unit=unit)
            if entry.kind == "charge" and _unit_of(entry) != unit:
                steps = Currency(entry.relation, "people").steps_to(Currency(entry.relation, ROW))
                cost = Cost(math.inf, math.inf) if steps is None else times(entry.cost, steps)
                counted = replace(counted, epsilon=cost.epsilon, rho=cost.rho)
            state = state.after(counted)
        out[dataset] = state
    return out


def _unit_of(entry: Entry) -> str | None:
    """None if the charge does not say."""
    if not entry.certificate:
        return None
    found = UNIT_IN_WORDS.search(str(entry.certificate.get("assumption") or ""))
    return found[1] if found else ROW


def upgrade_tables(run: Run) -> None:
    """Add what version 2 has; nothing that is there changes but the version."""
    for name in NEW_COLUMNS:
        run(f'ALTER TABLE "{ENTRIES}" ADD COLUMN "{name}" {TABLES[ENTRIES][name][0]}')
    run(create_sql(ACCOUNTS))
    for index in NEW_INDEXES:
        run(index)
    run(f'UPDATE "{META}" SET "value" = ? WHERE "key" = ? AND "value" = ?', VERSION, "version", FIRST_VERSION)
