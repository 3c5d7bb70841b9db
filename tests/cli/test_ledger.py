"""`murmure ledger`: budgets set and shown, charges listed, answers fetched."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from murmure.cli import main
from murmure.core.blocks import Cost
from murmure.core.errors import BudgetExhausted
from murmure.core.zcdp import rho_from_epsilon
from murmure.ledger.ledger import Ledger


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


@pytest.mark.parametrize(
    "args", [("show",), ("history",), ("history", "patients"), ("budget", "patients"), ("answer", 1)]
)
def test_a_ledger_that_is_not_there(place: Path, args: tuple[Any, ...]) -> None:
    """A mistyped name is no empty ledger; looking makes none."""
    ran, held = call(*args), json.loads(call(*args, "--json").output)

    assert ran.exit_code == 2 and f"there is no ledger at {str(place)!r}; setting a budget creates one" in ran.stderr
    assert "there is no ledger at" in held["error"]["message"]
    assert "empty" not in ran.output and not place.exists()


def test_a_data_set_without_a_budget(place: Path) -> None:
    call("budget", "others", "--epsilon", 1)

    assert "No budget is set for patients" in call("budget", "patients").output
    assert data("budget", "patients")["budget"] is None
    assert "Nothing was charged" in call("history", "patients").output


def test_after_gaussian_noise_there_is_something_left(place: Path) -> None:
    """No pure epsilon is left of the budget, yet questions can be asked: what is said to fit fits, and no more does."""
    call("budget", "patients", "--epsilon", 1, "--delta", 1e-6)
    account = Ledger(place).account("patients")

    def gaussian(epsilon: float) -> Cost:
        return Cost(math.inf, rho_from_epsilon(epsilon, 1e-6))

    account.pay(plan="p", about="a count", cost=gaussian(0.3), answers=[], relation="add/remove")
    left = data("show")["datasets"]["patients"]["left"]
    pure, most = left["largest_pure"], left["largest_gaussian"]
    shown = call("show").output

    assert "left    a question of pure epsilon at most 0.208884, or Gaussian noise of rho at most 0.0218" in shown
    assert f"(epsilon {most:g} at delta 1e-06)" in shown and "left    epsilon 0" not in shown
    assert "no pure epsilon, after Gaussian noise" in shown and "inf" not in shown
    account.check(Cost(pure, pure**2 / 2))
    account.check(gaussian(most))
    for cost in (Cost(1.001 * pure, (1.001 * pure) ** 2 / 2), gaussian(1.001 * most)):
        with pytest.raises(BudgetExhausted, match=r"left a question of pure epsilon at most 0\.208884"):
            account.check(cost)


def test_a_spent_budget_has_nothing_left(place: Path) -> None:
    call("budget", "patients", "--epsilon", 1, "--delta", 1e-6)
    cost = Cost(1.0, rho_from_epsilon(1.0, 1e-6))
    Ledger(place).account("patients").pay(plan="p", about="a", cost=cost, answers=[], relation="add/remove")

    assert "left    nothing\n" in call("show").output


def test_a_lost_key_is_said(place: Path) -> None:
    """With it went the means to recognise a file; a ledger that never recognised one says nothing."""
    call("budget", "patients", "--epsilon", 2)
    pay(place)
    named = Ledger(place).account("patients", fingerprint="export of May")  # which needs no key
    named.pay(plan="p", about="a", cost=Cost(0.1, 0.005), answers=[], relation="add/remove")
    assert "WARNING" not in call("show").output
    file = place.with_name("patients.csv")
    file.write_text("age\n30\n")
    Ledger(place).account("patients").of_file(file).pay(
        plan="p", about="a", cost=Cost(0.1, 0.005), answers=[], relation="add/remove"
    )
    key = place.with_name(".ledger.db.key")
    assert key.exists() and "WARNING" not in call("show").output
    key.unlink()

    assert f"WARNING: the key {key} of the ledger" in call("show").stderr
    assert printed("show")["warnings"]
    assert not key.exists()


def printed(*args: Any) -> Any:
    return json.loads(call(*args, "--json").stdout)


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
        (("budget", "patients", "--delta", 1e-6), "--delta has no effect without --epsilon"),
        (("budget", "patients", "--epsilon", 1, "--relation", "swap"), "--relation"),
        (("budget", "a\nb", "--epsilon", 1), "the name of a dataset"),
        (("answer", 7), "there is no ledger"),
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

    assert "budget  epsilon 1, delta 0 (add/remove)" in shown
    assert "spent   epsilon 0.2 in 2 charges" in shown and "left    epsilon 0.799999\n" in shown
    assert "3 entries, as written" in " ".join(shown.split())
    assert "bob; patients (site = A)" in history and "SEEDED, protects nobody" in history
    assert "epsilon 0.1, rho 0.125: a count of people (plan 0123456789ab)" in " ".join(history.split())
    assert answer.startswith("  fedcba987654: 0, 1, 2") and "10 more" in answer.replace("\n", " ")
    assert not [line for line in (shown + history + answer).splitlines() if line != line.rstrip()]
    assert data("answer", 2)["answers"][0]["answer"] == list(range(30))
    assert data("show", "--ledger", place)["sound"] is True
    assert data("history", "others") == {"entries": []}
    assert "holds no charge 7" in call("answer", 7).stderr


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
