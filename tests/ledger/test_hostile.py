"""What a hostile review tried on a ledger, each refused."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import murmure as mu
from murmure.core.blocks import Cost
from murmure.core.errors import InvalidParameter, LedgerFailed
from murmure.ledger.entries import row_checksum
from murmure.ledger.ledger import Ledger
from murmure.ledger.tables import COLUMNS

PLAN = mu.Plan(mu.Count(mu.Integers(0, 9, column="age")), curator=mu.DiscreteLaplace(0.1))


def charged(path: Path) -> Ledger:
    ledger = Ledger(path)
    ledger.set_budget("people", 1.0)
    ledger.account("people").pay(plan="p", about="", cost=Cost(0.5, 0.125), answers=[], relation="add/remove")
    return ledger


def change(path: Path, sql: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:  # the second commits
        connection.execute(sql, values)


@pytest.mark.parametrize(
    "trigger",
    [
        'CREATE TRIGGER undo AFTER INSERT ON "{0}" BEGIN DELETE FROM "{0}" WHERE "number" = NEW."number"; END',
        'CREATE VIEW more AS SELECT * FROM "{0}"',
    ],
)
def test_a_trigger_cannot_undo_a_charge(tmp_path: Path, trigger: str) -> None:
    from murmure.ledger.tables import ENTRIES

    ledger = charged(tmp_path / "ledger.db")
    change(tmp_path / "ledger.db", trigger.format(ENTRIES))
    with pytest.raises(LedgerFailed, match="triggers or views"):
        Ledger(tmp_path / "ledger.db")
    if "TRIGGER" in trigger:  # and one that was opened before
        with pytest.raises(LedgerFailed, match="was not stored as written"):
            ledger.account("people").pay(plan="q", about="", cost=Cost(0.1, 0.01), answers=[], relation="add/remove")


@pytest.mark.parametrize(("column", "value"), [("epsilon", "abc"), ("rho", None), ("certificate", "[" * 100_000)])
def test_a_row_that_was_sealed_again_is_damage(tmp_path: Path, column: str, value: Any) -> None:
    from murmure.ledger.tables import ENTRIES

    ledger = charged(tmp_path / "ledger.db")
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection, connection:
        names = ", ".join(f'"{name}"' for name in COLUMNS)
        row = list(connection.execute(f'SELECT {names} FROM "{ENTRIES}" ORDER BY "number" DESC').fetchone())
        row[COLUMNS.index(column)] = value
        row[-1] = row_checksum(dict(zip(COLUMNS, row, strict=True)))
        for name in (column, COLUMNS[-1]):
            connection.execute(f'UPDATE "{ENTRIES}" SET "{name}" = ? WHERE "number" = 2', (row[COLUMNS.index(name)],))
    with pytest.raises(LedgerFailed, match="damaged"):
        ledger.spent("people")


def test_one_key_by_whichever_link_a_ledger_is_named(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("age\n1\n2\n")
    (tmp_path / "other").mkdir()
    Ledger(tmp_path / "ledger.db").set_budget("people", 1.0)
    (tmp_path / "other" / "link.db").symlink_to(tmp_path / "ledger.db")
    answers = [
        mu.run(PLAN, rows, ledger=Ledger(path).account("people")).estimate.mean[0]
        for path in (tmp_path / "ledger.db", tmp_path / "other" / "link.db")
    ]

    assert answers[0] == answers[1] and Ledger(tmp_path / "ledger.db").spent("people").charges == 1


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("age\n1\n")
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", 1.0)
    key = tmp_path / ".ledger.db.key"
    key.write_bytes(bytes(32))
    key.chmod(0o666)
    with pytest.raises(InvalidParameter, match="by others"):
        mu.run(PLAN, rows, ledger=ledger.account("people"))


def test_a_first_budget_changes_none(tmp_path: Path) -> None:
    """Two who both saw none cannot raise one another's."""
    ledger = Ledger(tmp_path / "ledger.db")
    for _ in range(2):
        assert ledger.set_budget("people", 1.0, first=True).epsilon == 1.0
    with pytest.raises(InvalidParameter, match="already has a budget"):
        ledger.set_budget("people", 100.0, first=True)


def test_history_holds_no_escapes(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_budget("people", 1.0)
    charge = {"plan": "p", "cost": Cost(0.5, 0.125), "answers": [], "relation": "add/remove"}
    ledger.account("people").pay(about="mean of \x1b[2Jage\n", **charge)

    assert ledger.history()[-1].about == "mean of  [2Jage "


@pytest.mark.parametrize("name", ["cafe\u0301", "people\uff0ecsv"])
def test_names_that_look_the_same_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidParameter, match="look the same"):
        Ledger(tmp_path / "ledger.db").set_budget(name, 1.0)


def test_no_hint_repeats_a_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line's hint names the ledger without what only its owner knows."""
    from click.testing import CliRunner

    from murmure.cli import main

    monkeypatch.chdir(tmp_path)
    Path("schema.toml").write_text(mu.Schema({"age": mu.Integers(0, 9)}).to_toml())
    Path("rows.csv").write_text("age\n1\n")

    pytest.importorskip("psycopg", reason="PostgreSQL needs the extra postgres")
    monkeypatch.setattr("murmure.ledger.postgres.Postgres.exists", lambda self: False)  # a server without a ledger
    asked = "query mean rows.csv --column age --schema schema.toml --epsilon 1 --json --ledger"
    said = CliRunner().invoke(main, [*asked.split(), "postgresql://me:s3cret@here/people"])

    assert said.exit_code == 2 and "postgresql://me@here/people" in said.output and "s3cret" not in said.output


def test_a_ledger_stays_where_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("ledger.db")
    ledger.set_budget("people", 1.0)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    assert ledger.left("people").epsilon == 1.0 and not os.listdir(".")


@pytest.mark.parametrize("where", ["postgresql:/me:s3cret@host/db", "host=here password=s3cret", "postgres:s3cret"])
def test_an_address_that_cannot_be_read_is_not_repeated(where: str) -> None:
    with pytest.raises(InvalidParameter) as said:
        Ledger(where)
    assert "s3cret" not in str(said.value)
