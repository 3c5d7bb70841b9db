"""`murmure ledger`: budgets set and shown, charges listed, answers fetched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from murmure.cli import main
from murmure.core.blocks import Cost
from murmure.ledger import Ledger


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MURMURE_LEDGER", str(tmp_path / "ledger.db"))
    return tmp_path / "ledger.db"


def call(*args: Any) -> Result:
    return CliRunner().invoke(main, ["ledger", *map(str, args)])


def data(*args: Any) -> Any:
    ran = call(*args, "--json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.output)


def pay(place: Path, epsilon: float = 0.5, **more: Any) -> int:
    account = Ledger(place).account("patients", who="bob", part=more.pop("part", None))
    return account.pay(
        plan="0123456789abcdef",
        about="a count of people",
        cost=Cost(epsilon, 0.125),
        answers=[{"question": "fedcba9876543210", "answer": list(range(30))}],
        relation="add/remove",
        **more,
    )


def test_nothing_yet(place: Path) -> None:
    """Looking makes no ledger."""
    assert "no budget is set, so nothing is released" in " ".join(call("show").output.split())
    assert "No budget is set for patients" in call("budget", "patients").output
    assert "Nothing was charged" in call("history").output
    assert data("show")["datasets"] == {} and data("history") == {"entries": []}
    assert data("budget", "patients")["budget"] is None
    assert not place.exists()


def test_a_budget_is_set_shown_and_changed(place: Path) -> None:
    """What is not said again stays: delta and relation."""
    first = data("budget", "patients", "--epsilon", 3, "--delta", 1e-6, "--who", "ann")
    assert first["budget"] == {"epsilon": 3.0, "delta": 1e-6, "relation": "add/remove"}
    assert first["left"]["epsilon"] == 3.0 and 0 < first["left"]["rho"] < 1
    pay(place)
    second = data("budget", "patients", "--epsilon", 2)
    assert second["budget"]["delta"] == 1e-6 and second["left"]["epsilon"] == 1.5
    assert second["spent"]["charges"] == 1
    ran = call("budget", "patients", "--epsilon", 0.25)
    assert ran.exit_code == 2 and "has paid more" in ran.stderr
    assert data("budget", "patients") == data("budget", "patients")
    assert [e["kind"] for e in data("history")["entries"]] == ["budget", "charge", "budget"]
    assert data("history")["entries"][0]["who"] == "ann"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("budget", "patients", "--epsilon", -1), "--epsilon must be a positive finite number"),
        (("budget", "patients", "--epsilon", 1, "--delta", 2), "--delta must be at least 0"),
        (("budget", "patients", "--delta", 1e-6), "--delta says nothing without --epsilon"),
        (("budget", "patients", "--epsilon", 1, "--relation", "swap"), "--relation"),
        (("budget", "a\nb", "--epsilon", 1), "the name of a dataset"),
        (("answer", 7), "holds no charge 7"),
        (("answer", "x"), "not a valid integer"),
        (("shwo",), "did you mean show"),
        (("show", "--ledger", "mysql://root:secret@host/db"), "a ledger is a file or a database"),
    ],
)
def test_mistakes(place: Path, args: tuple[Any, ...], said: str) -> None:
    for extra in ((), ("--json",)):
        ran = call(*args, *extra)
        assert ran.exit_code == 2 and said in ran.output and "secret" not in ran.output
    assert not place.exists()


def test_what_is_shown(place: Path) -> None:
    call("budget", "patients", "--epsilon", 1)
    pay(place, 0.1)
    pay(place, 0.1, part=("site", "A"), seeded=True)
    shown, history, answer = (call(*args).output for args in (("show",), ("history",), ("answer", 2)))

    assert "budget   epsilon 1, delta 0 (add/remove)" in shown
    assert "spent    epsilon 0.2 in 2 charges" in shown and "left     epsilon 0.7999999999" in shown
    assert "3 entries, as written" in " ".join(shown.split())
    assert "bob  patients (site = A)" in history and "SEEDED, protects nobody" in history
    assert "epsilon 0.1, rho 0.125: a count of people (plan 0123456789ab)" in history
    assert answer.startswith("fedcba987654  0, 1, 2") and "10 more" in answer.replace("\n", " ")
    assert data("answer", 2)["answers"][0]["answer"] == list(range(30))
    assert data("show", "--ledger", place)["sound"] is True
    assert data("history", "others") == {"entries": []}


def test_damage_is_said(place: Path) -> None:
    """Exit code 2, and no figures."""
    import sqlite3

    call("budget", "patients", "--epsilon", 1)
    pay(place)
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE murmure_entries SET epsilon = '0.1' WHERE number = 2")
    connection.close()
    for args in (("show",), ("budget", "patients"), ("history",), ("answer", 2)):
        ran = call(*args)
        assert ran.exit_code == 2 and "damaged, entry 2" in ran.output and "left" not in ran.output
