"""The ledger's rules, the same in SQLite and in PostgreSQL."""

from __future__ import annotations

import copy
import json
import math
import pickle
import threading
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from murmure.core.blocks import Cost
from murmure.core.errors import BudgetExhausted, InvalidParameter, LedgerFailed
from murmure.core.zcdp import epsilon_from_rho, rho_from_epsilon
from murmure.ledger.account import Account
from murmure.ledger.currency import Currency
from murmure.ledger.entries import Entry
from murmure.ledger.figures import largest_gaussian, largest_pure, rounded_down, rounded_up
from murmure.ledger.ledger import Ledger, default_place
from murmure.ledger.sums import AccountState, Budget, Remaining
from murmure.ledger.tables import TABLES

CERTIFICATE = {"relation": "add/remove", "epsilon": 1.0, "delta": 0.0}


def pay(account: Account, epsilon: float = 0.25, rho: float | None = None, plan: str = "plan", **more: Any) -> int:
    cost = Cost(epsilon, epsilon**2 / 2 if rho is None else rho)
    held: dict[str, Any] = {"about": "a count", "seeded": False, "certificate": CERTIFICATE}
    return account.pay(plan=plan, cost=cost, answers=[{"question": "q", "answer": [3, -4]}], **{**held, **more}).number


# ---- budgets


def test_no_budget_no_release(place: str) -> None:
    """Fail closed, and say the command that sets one."""
    account = Ledger(place).account("patients of 2024", who="ann")
    for act in (lambda: account.check(Cost(0.1, 0.005)), lambda: pay(account)):
        with pytest.raises(BudgetExhausted, match=r"murmure ledger budget 'patients of 2024' --epsilon 1"):
            act()

    assert Ledger(place).history() == [] and Ledger(place).verify() == 0


def test_a_budget_is_spent_to_the_end_and_not_further(place: str) -> None:
    """Four quarters fit in 1; the fifth is refused, and nothing of it is written."""
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0, who="ann")
    account = ledger.account("patients", who="bob")
    numbers = [pay(account) for _ in range(4)]
    with pytest.raises(BudgetExhausted, match=r"'patients'.*asked for epsilon 0\.25.*left epsilon 0, of epsilon 1\."):
        pay(account)
    with pytest.raises(BudgetExhausted):
        account.check(Cost(1e-9, 0.0))

    assert numbers == [2, 3, 4, 5]
    assert (ledger.spent("patients").epsilon, ledger.spent("patients").charges) == (1.0, 4)
    assert ledger.left("patients").epsilon == 0.0
    assert ledger.verify() == 5
    assert [(e.kind, e.who) for e in ledger.history("patients")] == [("budget", "ann")] + [("charge", "bob")] * 4
    assert ledger.history("others") == [] and ledger.datasets() == ["patients"]


def test_sums_are_exact(tmp_path: Path) -> None:
    """Ten floats 0.1 are more than 1: the tenth is refused; what is left is accepted."""
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_budget("patients", 1.0)
    account = ledger.account("patients")
    for _ in range(9):
        pay(account, 0.1)
    with pytest.raises(BudgetExhausted):
        pay(account, 0.1)
    left = ledger.left("patients").epsilon
    pay(account, left)

    assert Fraction(left) + 9 * Fraction(0.1) <= 1
    assert ledger.left("patients").epsilon < 1e-15


def test_what_is_left_is_written_with_all_its_digits(place: str) -> None:
    """Read back it is the same numbers: nobody asks for more than there is. Without a delta there is one currency."""
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0)
    ledger.set_budget("nurses", 2.0, delta=1e-6)
    for dataset in ("patients", "nurses"):
        pay(ledger.account(dataset), 0.1)
    pure, both = ledger.left("patients"), ledger.left("nurses")

    assert (
        str(pure).startswith("epsilon ") and float(str(pure).removeprefix("epsilon ")) == pure.epsilon and not pure.rho
    )
    epsilon, rho = str(both).removeprefix("epsilon ").split(", or rho ")
    assert Remaining(float(epsilon), float(rho)) == both


def test_without_delta_only_pure_epsilon_counts(place: str) -> None:
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0)
    with pytest.raises(BudgetExhausted, match="asked for Gaussian noise, which only a budget with a delta pays"):
        pay(ledger.account("patients"), math.inf, rho=1e-9)

    assert ledger.spent("patients").charges == 0


def test_with_delta_the_better_of_two_counts(place: str) -> None:
    """Many small charges go on after their epsilons have passed the budget, until rho has too; never further."""
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0, 1e-6)
    account = ledger.account("patients")
    most = rho_from_epsilon(1.0, 1e-6)
    pay(account, 0.9, rho=10.0)  # pure covers it
    with pytest.raises(BudgetExhausted):
        pay(account, 0.2, rho=0.0001)  # neither does
    pay(account, 0.05, rho=0.0)
    other = ledger.account("others")
    ledger.set_budget("others", 1.0, 1e-6)
    for _ in range(4):
        pay(other, math.inf, rho=most / 4)
    with pytest.raises(BudgetExhausted):
        pay(other, 0.0, rho=most / 1000)

    assert ledger.spent("patients").epsilon == pytest.approx(0.95) == ledger.spent("patients").pure
    assert ledger.spent("others").pure == math.inf
    assert 0.99 < ledger.spent("others").epsilon <= 1.0
    assert ledger.left("others").epsilon == 0.0 and ledger.left("others").rho < most * 1e-9


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0.01, 0.1, 0.3, math.inf]), st.sampled_from([0.0, 0.001, 0.004, 0.05]))),
    st.sampled_from([0.0, 1e-6]),
)
def test_what_the_filter_accepts_is_covered(costs: list[tuple[float, float]], delta: float) -> None:
    """After any history, the accepted charges satisfy one of the two bounds, by an independent sum."""
    from murmure.certify.accounting import covers, sequential

    held: list[Cost] = []
    for epsilon, rho in costs:
        if covers(0.5, delta, sequential([*held, Cost(epsilon, rho)])):
            held.append(Cost(epsilon, rho))
    pure = sum((Fraction(c.epsilon) for c in held if c.epsilon < math.inf), Fraction(0))
    finite = all(c.epsilon < math.inf for c in held)
    rho = float(sum((Fraction(c.rho) for c in held), Fraction(0)))

    assert (finite and pure <= Fraction(0.5)) or (delta > 0 and epsilon_from_rho(rho, delta) <= 0.5 * (1 + 1e-9))


def test_budgets_move_and_are_remembered(place: str) -> None:
    """Raised at will, lowered to what is spent, each in the history; before anybody pays it may count anything."""
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0, who="ann")
    ledger.set_budget("patients", 1.0, relation="replace")
    ledger.set_budget("patients", 1.0, relation="add/remove")
    pay(ledger.account("patients"), 0.5)
    ledger.set_budget("patients", 0.5, who="bob")
    with pytest.raises(BudgetExhausted, match="has paid more than the new budget"):
        ledger.set_budget("patients", 0.4999)
    with pytest.raises(InvalidParameter, match=r"has paid in rows \(add/remove\)"):
        ledger.set_budget("patients", 3.0, unit="person")
    ledger.set_budget("patients", 3.0, 1e-7)
    budget = ledger.budget("patients")

    assert budget is not None and (budget.epsilon, budget.delta, budget.relation) == (3.0, 1e-7, "add/remove")
    assert [e.epsilon for e in ledger.history() if e.kind == "budget"] == [1.0, 1.0, 1.0, 0.5, 3.0]
    assert ledger.budget("others") is None and ledger.left("others").epsilon == 0.0


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan, "1", None])
def test_budgets_that_are_none(epsilon: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter):
        Ledger(tmp_path / "l.db").set_budget("patients", epsilon)
    for bad in (-0.1, 1.0, math.nan, "0", True):
        with pytest.raises(InvalidParameter):
            Ledger(tmp_path / "l.db").set_budget("patients", 1.0, bad)  # type: ignore[arg-type]
    for name in ("", " a", "a\n", "x" * 201, 3):
        with pytest.raises(InvalidParameter):
            Ledger(tmp_path / "l.db").set_budget(name, 1.0)  # type: ignore[arg-type]

    assert not (tmp_path / "l.db").exists()


def test_relations_do_not_mix(place: str) -> None:
    """A cost under replace says nothing about a budget of add/remove; a charge must say what it is."""
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0)
    account = ledger.account("patients")
    with pytest.raises(InvalidParameter, match=r"counts rows \(add/remove\)"):
        pay(account, certificate={"relation": "replace"})
    with pytest.raises(InvalidParameter, match=r"counts rows \(add/remove\)"):
        account.check(Cost(0.1, 0.1), relation="replace")
    with pytest.raises(InvalidParameter, match="must name the relation"):
        pay(account, certificate={})
    pay(account, certificate={}, relation="add/remove")

    assert ledger.spent("patients").charges == 1


# ---- answers


def test_answers_are_kept_and_found_again(place: str) -> None:
    """The same plan about the same data and part, and no other."""
    ledger = Ledger(place)
    ledger.set_budget("patients", 10.0)
    account = ledger.account("patients", fingerprint="f1")
    big = np.array([2**62, -(2**62), 0])
    number = pay(account, plan="p1")
    two = [{"question": "a", "answer": big}, {"question": "b", "answer": (7,)}]
    second = account.pay(
        plan="p2", about="two\0questions", cost=Cost(1, 1), answers=two, seeded=False, certificate=CERTIFICATE
    ).number
    third = pay(account, plan="p3", seeded=True)
    pay(ledger.account("patients", fingerprint="f1", part=("site", "A")), plan="p4")
    found = account.find("p1")

    assert found is not None and found.number == number
    assert list(found) == [{"question": "q", "answer": [3, -4]}] == list(ledger.answer(number))
    assert list(ledger.answer(second)) == [
        {"question": "a", "answer": big.tolist()},
        {"question": "b", "answer": [7]},
    ]
    assert account.find("p3") is None and account.find("p3", seeded=True).number == third
    assert account.find("p4") is None and account.find("p4", part=("site", "A")) is not None
    assert ledger.account("patients", fingerprint="f2").find("p1") is None
    assert ledger.account("patients").find("p1") is None
    assert ledger.account("others", fingerprint="f1").find("p1") is None
    for missing in (1, 99):
        with pytest.raises(InvalidParameter, match=f"no charge {missing}"):
            ledger.answer(missing)
    assert ledger.verify() == 5


def test_the_very_same_file_is_recognised(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By all of its bytes, under any name, with a key that the ledger does not hold; a folder by all its files."""
    monkeypatch.setenv("MURMURE_LEDGER_KEY", str(tmp_path / "keys" / "key"))
    ledger = Ledger(place)
    file = tmp_path / "people.csv"
    file.write_bytes(b"age\n" + b"40\n" * 2_000_000)
    assert ledger.account("patients").of_file(file).fingerprint is None  # and no key is made for nothing
    ledger.set_budget("patients", 10.0)
    account = ledger.account("patients").of_file(file)
    pay(account, plan="p")
    (tmp_path / "copy.csv").write_bytes(file.read_bytes())
    again = Ledger(place).account("patients").of_file(str(tmp_path / "copy.csv"))
    assert again.find("p") is not None
    changed = bytearray(file.read_bytes())
    changed[3_000_004] = ord("1")  # one person, somewhere
    file.write_bytes(changed)
    assert ledger.account("patients").of_file(file).find("p") is None
    (tmp_path / "folder").mkdir()
    for name in "ab":
        (tmp_path / "folder" / f"{name}.csv").write_text("age\n1\n")
    folder = ledger.account("patients").of_file(tmp_path / "folder").fingerprint
    (tmp_path / "folder" / "b.csv").write_text("age\n2\n")
    assert folder != ledger.account("patients").of_file(tmp_path / "folder").fingerprint
    with pytest.raises(InvalidParameter):
        ledger.account("patients").of_file(tmp_path / "none.csv")
    key = ledger._store.key_path
    assert len(key.read_bytes()) == 32 and key.stat().st_mode & 0o777 == 0o600
    key.write_bytes(b"x" * 40)
    with pytest.raises(InvalidParameter, match="not the key"):
        ledger.account("patients").of_file(file)
    key.unlink()
    file.write_bytes((tmp_path / "copy.csv").read_bytes())
    assert ledger.account("patients").of_file(file).find("p") is None  # another key recognises nothing


def test_the_same_bytes_under_another_name_are_seen(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two names are two budgets: the ledger cannot know people, but it knows the bytes of a file."""
    monkeypatch.setenv("MURMURE_LEDGER_KEY", str(tmp_path / "key"))
    file, copied = tmp_path / "patients.csv", tmp_path / "others.csv"
    for one in (file, copied):
        one.write_text("age\n30\n40\n")
    ledger = Ledger(place)
    for name in ("patients", "others"):
        ledger.set_budget(name, 1.0)
    pay(ledger.account("patients").of_file(file))
    new = ledger.account("others").of_file(copied)

    assert new.other_datasets() == ["patients"]
    assert ledger.account("patients").of_file(copied).other_datasets() == []
    assert ledger.account("others").other_datasets() == []  # nothing is known of these data
    copied.write_text("age\n30\n41\n")
    assert ledger.account("others").of_file(copied).other_datasets() == []


@pytest.mark.parametrize(
    ("value", "cost", "left"),
    [
        (49.99999999999909, "50", "49.9999"),
        (6.750155989e-14, "6.75016e-14", "0"),
        (0.1, "0.1", "0.1"),
        (2.0000000001, "2.00001", "2"),
        (0.0, "0", "0"),
        (math.inf, "inf", "inf"),
        (1234567.8, "1.23457e+06", "1.23456e+06"),
    ],
)
def test_figures_in_words(value: float, cost: str, left: str) -> None:
    """Six digits: costs rounded up, what is left rounded down."""
    assert (str(rounded_up(value)), str(rounded_down(value))) == (cost, left)
    assert float(rounded_up(value)) >= value >= float(rounded_down(value))


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 0.01])
@pytest.mark.parametrize("rho", [1e-6, 0.0123456789, 0.7, 30.0])
def test_what_may_be_asked_may_be_paid(rho: float, delta: float) -> None:
    budget, left = Budget(100.0, delta, "add/remove"), Remaining(0.0, rho)
    pure, gaussian = float(rounded_down(largest_pure(left))), largest_gaussian(budget, left)

    assert pure**2 / 2 <= rho < (1.0001 * pure) ** 2 / 2
    if gaussian == 0:  # so little that no epsilon is needed for it at this delta
        assert rho < rho_from_epsilon(1e-9, delta)
    else:
        assert rho_from_epsilon(gaussian, delta) <= rho < rho_from_epsilon(1.001 * gaussian, delta)


def test_nothing_but_the_release_is_written(tmp_path: Path) -> None:
    """The columns are what the page says, and every one has its comment in the file."""
    import sqlite3

    ledger = Ledger(tmp_path / "ledger.db")
    ledger.set_budget("patients", 1.0)
    pay(ledger.account("patients"))
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        made = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
    connection.close()

    assert set(made) == set(TABLES)
    for table, columns in TABLES.items():
        for name, (_, comment) in columns.items():
            assert f'"{name}"' in made[table] and f"-- {comment}" in made[table]
    assert (tmp_path / "ledger.db").stat().st_mode & 0o777 == 0o600
    assert not {"seed", "noise", "total", "sum", "rows", "n"} & {c for t in TABLES.values() for c in t}


def test_every_column_of_postgres_has_its_comment(server: Any) -> None:
    import psycopg

    url = server.database()
    Ledger(url).set_budget("patients", 1.0)
    with psycopg.connect(url) as connection:
        for table, columns in TABLES.items():
            for i, (_, comment) in enumerate(columns.values(), 1):
                said = connection.execute("SELECT col_description(%s::regclass, %s)", (table, i)).fetchone()
                assert said == (comment,)


# ---- parts


def test_disjoint_parts_pay_the_largest(place: str) -> None:
    """Three sites pay 0.5 each, once all together 0.5: the worst-off person has paid 1."""
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0)
    for site in "ABC":
        pay(ledger.account("patients", part=("site", site)), 0.5)
    pay(ledger.account("patients"), 0.5)
    with pytest.raises(BudgetExhausted):
        pay(ledger.account("patients", part=("site", "A")), 0.25)
    with pytest.raises(BudgetExhausted):
        pay(ledger.account("patients", part=("sex", "f")), 0.25)  # another partition cuts across: it adds up

    assert ledger.spent("patients").epsilon == 1.0


def test_parts_against_every_person() -> None:
    """The total is what the worst-off person pays: every pair of neighbours is tried (100 seeded histories)."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        labels = {"site": "ABC", "sex": "fm"}
        charges: list[Any] = []
        for _ in range(rng.integers(0, 12)):
            which = rng.choice(["", "site", "sex"])
            part = (str(which), str(rng.choice(list(labels[which])))) if which else None
            charges.append((Cost(int(rng.integers(1, 9)) / 8, int(rng.integers(1, 9)) / 8), part))
        people = [{"site": a, "sex": b} for a in labels["site"] for b in labels["sex"]]

        def paid(*touched: dict[str, str], charges: list[Any] = charges) -> tuple[float, float]:
            mine = [c for c, p in charges if p is None or any(one[p[0]] == p[1] for one in touched)]
            return sum(c.epsilon for c in mine), sum(c.rho for c in mine)

        for relation, worst in (
            ("add/remove", [paid(a) for a in people]),
            ("replace", [paid(a, b) for a in people for b in people]),
        ):
            state = AccountState("patients", Currency(relation))  # type: ignore[arg-type]
            for cost, part in charges:
                held = dict(zip(("partition", "part"), part, strict=True)) if part else {}
                state = state.after(Entry(0, "", "charge", "x", "patients", relation, cost.epsilon, cost.rho, **held))  # type: ignore[arg-type]
            assert state.total() == Cost(max(w[0] for w in worst), max(w[1] for w in worst))


# ---- evidence


def change(place: str, sql: str) -> None:
    """As somebody with the password of the database would."""
    if place.startswith("postgresql"):
        import psycopg

        with psycopg.connect(place) as connection:
            connection.execute(sql.encode())
    else:
        import sqlite3

        with sqlite3.connect(place) as held:
            held.execute(sql)
        held.close()


@pytest.mark.parametrize(
    "sql",
    [
        """UPDATE murmure_entries SET epsilon = '0.01' WHERE number = 3""",
        """UPDATE murmure_entries SET dataset = 'others' WHERE number = 3""",
        """UPDATE murmure_entries SET "check" = 'x' WHERE number = 4""",
        """DELETE FROM murmure_entries WHERE number = 2""",
        """UPDATE murmure_entries SET number = 9 WHERE number = 4""",
        """UPDATE murmure_answers SET answer = '[1,1]' WHERE entry = 3""",
        """DELETE FROM murmure_answers WHERE entry = 2""",
    ],
)
def test_changes_show(place: str, sql: str) -> None:
    """verify refuses each of them; and so does the next charge, where the charge reads what was changed."""
    ledger = Ledger(place)
    ledger.set_budget("patients", 10.0)
    account = ledger.account("patients", fingerprint="f")
    for i in range(3):
        pay(account, plan=f"p{i}")
    assert ledger.verify() == 4
    change(place, sql)
    with pytest.raises(LedgerFailed, match="damaged"):
        ledger.verify()
    if "answers" not in sql:
        with pytest.raises(LedgerFailed, match="damaged"):
            pay(account)
    else:
        with pytest.raises(LedgerFailed, match="damaged"):
            account.find("p0")
            account.find("p1")


def test_a_forged_entry_shows_in_the_next(place: str) -> None:
    """Somebody lowers a charge and computes its check anew: the entry after it holds the old one."""
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0)
    for _ in range(2):
        pay(ledger.account("patients"))
    checksum = replace(ledger.history()[1], epsilon=0.01).to_row()[-1]
    change(
        place,
        f"""UPDATE murmure_entries SET epsilon = '0.01', "check" = '{checksum}' WHERE number = 2""",
    )
    with pytest.raises(LedgerFailed, match="entry 3"):
        ledger.verify()
    with pytest.raises(LedgerFailed, match="entry 3"):
        pay(ledger.account("patients"))


def test_one_writer_at_a_time(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who writes is alone from before the first read; others wait, and give up in the end. Reads go on meanwhile."""
    for module in ("ledger.sqlite", "ledger.postgres", "core.sqlite_files"):
        monkeypatch.setattr(f"murmure.{module}.PATIENCE", 1)
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0)
    with ledger._store.writing():
        assert ledger.budget("patients") is not None
        with pytest.raises(LedgerFailed, match="other processes have held it"):
            pay(ledger.account("patients"))
    pay(ledger.account("patients"))


def test_a_server_that_falls_silent_is_given_up_after_the_minute_that_a_charge_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """PostgreSQL counts the time until it answers at first in seconds, and until lost packets end it in thousandths."""
    psycopg = pytest.importorskip("psycopg", reason="PostgreSQL needs the extra postgres")
    asked: dict[str, Any] = {}

    def connect(url: str, **options: Any) -> Any:
        asked.update(options)
        raise psycopg.OperationalError("no answer")

    monkeypatch.setattr(psycopg, "connect", connect)
    with pytest.raises(LedgerFailed, match="no answer"):
        Ledger("postgresql://me@here/people")

    assert (asked["connect_timeout"], asked["tcp_user_timeout"]) == (10, 60_000)


@pytest.mark.parametrize("name", ["", "x" * 201, " people", "people ", "a\nb", "a\u202eb", 3, None, "\ufb01le"])
def test_names_that_two_people_could_read_in_two_ways_are_refused(name: Any, tmp_path: Path) -> None:
    """1 to 200 characters, nothing around them, and one spelling of what looks the same."""
    ledger = Ledger(tmp_path / "ledger.db")
    with pytest.raises(InvalidParameter, match=r"1 to 200 characters|written in several ways"):
        ledger.set_budget(name, 1.0)
    for good in ("x", "x" * 200, "patients of 2024, ward é"):
        ledger.set_budget(good, 1.0)

        assert ledger.budget(good) is not None


def test_a_version_that_is_not_known(place: str) -> None:
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0)
    change(place, "UPDATE murmure_meta SET value = '3'")
    with pytest.raises(LedgerFailed, match="version '3'"):
        Ledger(place)
    with pytest.raises(LedgerFailed, match="version '3'"):
        pay(ledger.account("patients"))


# ---- threads, places


def test_threads_cannot_overspend(place: str) -> None:
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0)
    paid = []

    def spend() -> None:
        for _ in range(4):
            with suppress(BudgetExhausted):
                paid.append(pay(ledger.account("patients"), 0.125))

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()

    assert sorted(paid) == list(range(2, 10)) and ledger.spent("patients").epsilon == 1.0


def test_the_default_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MURMURE_LEDGER", raising=False)
    assert Ledger(default_place()).name == "murmure-ledger.db"
    monkeypatch.setenv("MURMURE_LEDGER", str(tmp_path / "other.db"))
    Ledger(default_place()).set_budget("patients", 1.0)

    assert (tmp_path / "other.db").exists() and not (tmp_path / "murmure-ledger.db").exists()


def test_entries_are_json(place: str) -> None:
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0, 1e-6)
    pay(ledger.account("patients", who="ann"), math.inf, rho=0.001, certificate={**CERTIFICATE, "epsilon": math.inf})
    last = json.loads(json.dumps(ledger.history()[-1].to_dict(), allow_nan=False))

    assert (last["epsilon"], last["rho"], last["who"], last["certificate"]["epsilon"]) == ("inf", 0.001, "ann", "inf")


def test_no_password_in_words(server: Any) -> None:
    ledger = Ledger(server.database().replace("postgres@", "postgres:secret@"))
    gone = "postgresql://postgres:secret@127.0.0.1:1/none"
    with pytest.raises(LedgerFailed) as error:
        Ledger(gone)
    with pytest.raises(InvalidParameter) as unreadable:
        Ledger("postgresql://postgres:secret@[x/y?z")
    with pytest.raises(InvalidParameter) as other:
        Ledger("mysql://root:secret@host/db")

    for text in (repr(ledger), repr(ledger._store), str(error.value), str(unreadable.value), str(other.value)):
        assert "secret" not in text
    ledger.set_budget("patients", 1.0)
    account = ledger.account("patients")
    kept = pickle.dumps(account)
    assert b"secret" not in kept
    assert pay(pickle.loads(kept)) == 2  # this server asks for none
    assert "secret" in copy.deepcopy(account).ledger._store._url  # type: ignore[attr-defined]
