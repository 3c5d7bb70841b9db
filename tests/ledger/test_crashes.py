"""kill -9 at any point, many processes, a server that dies: nothing unpaid is released, nothing is paid twice.

Children are forks: a killed one runs no clean-up of Python's.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from murmure.core.blocks import Cost
from murmure.core.errors import BudgetExhausted, LedgerFailed
from murmure.ledger.account import Account
from murmure.ledger.ledger import Ledger

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
SMALL = Cost(0.125, 0.0078125)


def pay(account: Account, plan: str = "plan", answer: int = 0) -> int:
    return account.pay(
        plan=plan,
        about="a count",
        cost=SMALL,
        answers=[{"question": "q", "answer": [answer]}],
        seeded=False,
        certificate={"relation": "add/remove"},
    ).number


def child(work: Callable[[int], None]) -> tuple[int, int]:
    """A process that does the work and writes what it releases to a pipe: its id and the pipe's end."""
    here, there = os.pipe()
    pid = os.fork()
    if pid:
        os.close(there)
        return pid, here
    try:
        os.close(here)
        work(there)
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
        os._exit(1)
    os._exit(0)


def ended(pid: int, pipe: int, first: bytes = b"") -> tuple[int, list[str]]:
    """How it ended (the signal's negative), and the whole lines that it released (`first`: what was read of them)."""
    with os.fdopen(pipe, "rb") as file:
        said = first + file.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code, said.decode().split("\n")[:-1]


class Stopping:
    """A store that calls `stop` at its k-th step: every statement of a charge, before its commit, and after it."""

    def __init__(self, store: Any, k: int, stop: Callable[[], None]) -> None:
        self.store, self.left, self.stop = store, k, stop

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def step(self) -> None:
        if self.left == 0:
            self.stop()
        self.left -= 1

    @contextmanager
    def writing(self) -> Iterator[Any]:
        with self.store.writing() as run:

            def stepping(sql: str, *values: Any) -> Any:
                self.step()
                return run(sql, *values)

            yield stepping
            self.step()
        self.step()


def dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stopping(place: str, k: int, stop: Callable[[], None] = dies) -> Ledger:
    ledger = Ledger(place)
    ledger._store = Stopping(ledger._store, k, stop)  # type: ignore[assignment]
    return ledger


def test_killed_at_every_step(place: str) -> None:
    """Before the commit there is nothing, after it charge and answer; the next run fetches or pays, never twice."""
    ledger = Ledger(place)
    ledger.set_budget("patients", 100.0)
    account = ledger.account("patients", fingerprint="f")
    outcomes = []
    for k in range(60):
        plan = f"plan {k}"

        def work(pipe: int, k: int = k, plan: str = plan) -> None:
            number = pay(stopping(place, k).account("patients", fingerprint="f"), plan, answer=k)
            os.write(pipe, f"{number}\n".encode())

        code, released = ended(*child(work))
        found = account.find(plan)
        if code == 0:
            assert released and found is not None
            break
        assert code == -signal.SIGKILL and not released
        outcomes.append(found is not None)
        # Whoever starts again looks first.
        again = found.number if found is not None else pay(account, plan, answer=k)
        assert list(ledger.answer(again)) == [{"question": "q", "answer": [k]}]
        assert sum(e.plan == plan for e in ledger.history()) == 1
    else:
        raise AssertionError("the child never survived: the steps were not counted")

    assert len(outcomes) >= 5 and outcomes == [False] * (len(outcomes) - 1) + [True]
    assert ledger.verify() == len(outcomes) + 2


def test_killed_while_the_budget_is_set(place: str) -> None:
    """The first budget makes the ledger: it is there whole, or not at all, and the next try works."""
    for k in range(60):

        def work(pipe: int, k: int = k) -> None:
            ledger = Ledger(place)
            ledger._store = Stopping(ledger._store, k, dies)  # type: ignore[assignment]
            ledger.set_budget("patients", 1.0)

        code, _ = ended(*child(work))
        assert Ledger(place).verify() in (0, 1)
        if Ledger(place).budget("patients") is not None:
            break
    Ledger(place).set_budget("patients", 1.0)
    assert code in (0, -signal.SIGKILL)
    pay(Ledger(place).account("patients"))


def test_killed_at_random_times(place: str) -> None:
    """20 children pay as fast as they can and are killed; what they released is paid, once, as it was said.

    The budget is never passed. (A write that the system has and the disk has not is beyond a kill: see fsync.)
    """
    rng = np.random.default_rng(11)
    ledger = Ledger(place)
    ledger.set_budget("patients", 100.0)
    released: list[str] = []
    for turn in range(20):

        def work(pipe: int, turn: int = turn) -> None:
            account = Ledger(place).account("patients")
            for i in range(10_000):
                number = pay(account, f"{turn}.{i}", answer=1000 * turn + i)
                os.write(pipe, f"{number} {turn}.{i} {1000 * turn + i}\n".encode())

        pid, pipe = child(work)
        first = os.read(pipe, 1) if turn % 4 else b""  # most of them after their first release, some at the start
        time.sleep(0.06 * rng.random())
        os.kill(pid, signal.SIGKILL)
        released += ended(pid, pipe, first)[1]
    held = [e for e in Ledger(place).history() if e.kind == "charge"]
    plans = {e.number: e.plan for e in held}

    assert len(released) > 10, "the children were killed before they did anything"
    for line in released:
        number, plan, answer = line.split()
        assert plans[int(number)] == plan
        assert ledger.answer(int(number))[0]["answer"] == [int(answer)]
    assert len({e.plan for e in held}) == len(held)  # none twice
    assert len(released) <= len(held) <= len(released) + 20  # at most one a child was paid and not yet shown
    assert ledger.verify() == len(held) + 1
    assert ledger.spent("patients").epsilon == 0.125 * len(held)


def test_eight_processes_cannot_overspend(place: str) -> None:
    """A budget of 24 charges, 8 processes that each want 24: 24 are paid, each by one of them."""
    Ledger(place).set_budget("patients", 3.0)
    go = time.time() + 0.2

    def work(pipe: int) -> None:
        account = Ledger(place).account("patients")
        time.sleep(max(0.0, go - time.time()))
        for _ in range(24):
            try:
                os.write(pipe, f"{pay(account)}\n".encode())
            except BudgetExhausted:
                break

    ends = [ended(*one) for one in [child(work) for _ in range(8)]]
    numbers = sorted(int(line) for _, lines in ends for line in lines)

    assert [code for code, _ in ends] == [0] * 8
    assert numbers == list(range(2, 26))
    assert Ledger(place).spent("patients").epsilon == 3.0
    assert Ledger(place).verify() == 25


def test_many_processes_make_one_ledger(place: str) -> None:
    """Six set the first budget at once: one ledger, six entries."""
    go = time.time() + 0.2

    def work(pipe: int) -> None:
        time.sleep(max(0.0, go - time.time()))
        Ledger(place).set_budget("patients", 1.0)

    assert [ended(*one)[0] for one in [child(work) for _ in range(6)]] == [0] * 6
    assert Ledger(place).verify() == 6
    if not place.startswith("postgresql"):
        assert [p.name for p in Path(place).parent.iterdir()] == ["ledger.db"]


# ---- a server that dies


def test_a_server_killed_in_the_middle_of_a_charge(server: Any) -> None:
    """At every step before the commit: refused, nothing released, nothing there when the server is back."""
    place = server.database()
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0)
    for k in (0, 3):  # the first statement, and between charge and answers

        def stop() -> None:
            server.kill()

        account = stopping(place, k, stop).account("patients")
        with pytest.raises(LedgerFailed, match="nothing may be released"):
            pay(account)
        with pytest.raises(LedgerFailed):
            ledger.spent("patients")
        with pytest.raises(LedgerFailed):
            Ledger(place)
        server.start()

        assert ledger.verify() == 1
    assert pay(ledger.account("patients")) == 2


def test_a_server_killed_under_load(server: Any) -> None:
    """Four processes pay while the server dies: what they released is there afterwards."""
    place = server.database()
    Ledger(place).set_budget("patients", 1000.0)

    def work(pipe: int) -> None:
        account = Ledger(place).account("patients")
        try:
            while True:
                os.write(pipe, f"{pay(account)}\n".encode())
        except LedgerFailed:
            os.write(pipe, b"refused\n")

    children = [child(work) for _ in range(4)]
    begun = [os.read(pipe, 1) for _, pipe in children]
    time.sleep(0.1)
    server.kill()
    ends = [ended(*one, first) for one, first in zip(children, begun, strict=True)]
    server.start()
    ledger = Ledger(place)
    paid = {e.number for e in ledger.history() if e.kind == "charge"}
    numbers = [int(line) for _, lines in ends for line in lines[:-1]]

    assert all(code == 0 and lines[-1] == "refused" for code, lines in ends)
    assert len(numbers) >= 4 and len(set(numbers)) == len(numbers) and set(numbers) <= paid
    assert len(paid) <= len(numbers) + 4  # a commit whose answer was lost: paid, not shown
    assert ledger.verify() == len(paid) + 1


def test_a_database_dropped_in_the_middle(server: Any) -> None:
    import psycopg

    place = server.database()
    Ledger(place).set_budget("patients", 1.0)
    name = place.split("@/")[1].split("?")[0]

    def drop() -> None:
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())

    with pytest.raises(LedgerFailed, match="nothing may be released"):
        pay(stopping(place, 2, drop).account("patients"))
    with pytest.raises(LedgerFailed):
        Ledger(place)


def test_a_server_that_may_forget_is_refused(server: Any) -> None:
    """fsync off: a charge could be lost with the power."""
    import psycopg

    place = server.database()
    Ledger(place).set_budget("patients", 1.0)
    try:
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        time.sleep(0.3)
        with pytest.raises(LedgerFailed, match="fsync off"):
            Ledger(place)
    finally:
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM RESET fsync")
            connection.execute("SELECT pg_reload_conf()")
        time.sleep(0.3)
    Ledger(place)


def test_a_session_that_need_not_wait_for_the_disk_waits_all_the_same(server: Any) -> None:
    """synchronous_commit off, set for the whole database, is turned on for charges."""
    import psycopg

    place = server.database()
    name = place.split("@/")[1].split("?")[0]
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off'.encode())
    ledger = Ledger(place)
    ledger.set_budget("patients", 1.0)
    with ledger._store.writing() as run:
        assert run("SELECT current_setting('synchronous_commit')") == [("on",)]
