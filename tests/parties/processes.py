"""A study with every command in a process of its own, as people run them. (No test in here.)

Processes are forked, so that each starts at once; a party's process may be changed first, to hang, die or lie.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from murmure.cli import main
from murmure.parties.coordinator.folders import CoordinatorFolder, StudyFolder
from murmure.parties.coordinator.store import read_progress
from murmure.parties.party import runner as at_work
from murmure.parties.party.folder import PartyFolder as PartyHome
from murmure.parties.study.document import Study

TOML = """
name = "Stay"
purpose = "To see."
dropouts = {dropouts}
rows = 1000
least_rows = 40

[columns.age]
type = "integers"
low = 0
high = 120

[columns.ward]
type = "categories"
values = ["icu", "other"]

[[queries]]
sums = ["age", "(ward == 'icu') * age"]
"""
LONGEST = 60.0  # seconds after which a process is said to wait for ever


def rows_of(i: int) -> str:
    return "age,ward\n" + "".join(f"{(7 * k + i) % 100},{'icu' if k % 3 else 'other'}\n" for k in range(40))


@dataclass
class Child:
    """A command that runs: what it said when it ended."""

    pid: int
    pipe: int
    over: bool = False

    def ended(self) -> dict[str, Any] | None:
        """code, out (JSON where there is some), err; None: it was killed. Whoever waits for ever fails the test."""
        said, until = b"", time.monotonic() + LONGEST
        try:
            while select.select([self.pipe], [], [], max(0.0, until - time.monotonic()))[0]:
                part = os.read(self.pipe, 1 << 16)
                if not part:
                    break
                said += part
            else:
                raise AssertionError(f"a process still waits after {LONGEST:g} seconds")
        finally:
            self.end()
        return json.loads(said) if said else None

    def end(self) -> None:
        if self.over:
            return
        self.over = True
        with suppress(ProcessLookupError, ChildProcessError, OSError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.pipe)


def command(*words: Any, before: Callable[[], None] = lambda: None) -> Child:
    here, there = os.pipe()
    pid = os.fork()
    if pid:
        os.close(there)
        return Child(pid, here)
    try:
        os.close(here)
        before()
        ran = CliRunner().invoke(main, [*map(str, words), "--json"])
        lines = ran.stdout.strip().splitlines()
        with suppress(ValueError):
            lines = json.loads(ran.stdout)
        os.write(there, json.dumps({"code": ran.exit_code, "out": lines, "err": ran.stderr}).encode())
    finally:
        os._exit(0)


def invoke(*words: Any, typed: str | None = None) -> Result:
    """The same in this process: for what ends at once."""
    return CliRunner().invoke(main, list(map(str, words)), input=typed)


class Town:
    """An office, parties with rows, and a study of which `dropouts` may be missing."""

    def __init__(self, folder: Path, parties: int = 4, dropouts: int = 1, toml: str = TOML) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.parties = folder, parties
        self._children: list[Child] = []
        self.homes = [PartyHome.create(folder / f"p{i}", f"Hospital {i}") for i in range(parties)]
        for i in range(parties):
            (folder / f"r{i}.csv").write_text(rows_of(i))
        (folder / "study.toml").write_text(toml.format(dropouts=dropouts))
        self.office = CoordinatorFolder.create(folder / "office", "Office")
        cards = tuple(one.card for one in self.homes)
        self.study = Study.from_toml(folder / "study.toml", cards, self.office.card)
        self.served = StudyFolder.create(self.office, self.study)

    @contextmanager
    def serving(self, wait: float = 20, patience: float = 2, *more: Any) -> Iterator[tuple[str, Child]]:
        """The address, and the process of the office."""
        from murmure.parties.http import server

        here, there = os.pipe()
        tell = server.addresses

        def says() -> None:
            def and_says(*args: Any) -> Any:
                where = tell(*args)
                os.write(there, where.parties.encode())
                return where

            server.addresses = and_says

        limits = ("--port", 0, "--wait", wait, "--patience", patience)
        office = command("study", "run", self.served.path, *limits, *more, before=says)
        os.close(there)
        url = os.read(here, 100).decode()
        os.close(here)
        try:
            yield url, office
        finally:
            for child in (office, *self._children):
                child.end()

    def words(self, i: int, url: str, *more: Any) -> tuple[Any, ...]:
        rows = ("--home", self.folder / f"p{i}", "--rows", self.folder / f"r{i}.csv", "--ledger", self.folder / f"l{i}")
        terms = ("--approve", self.study.digest.hex(), "--minimum-parties", 3, "--wait", LONGEST / 2)
        return "party", "join", url, *rows, *terms, *more

    def join(self, i: int, url: str, *more: Any, before: Callable[[], None] = lambda: None) -> Child:
        self._children.append(command(*self.words(i, url, *more), before=before))
        return self._children[-1]

    def states(self) -> list[str]:
        from murmure.parties.coordinator.progress import StudyProgress

        held, _ = read_progress(self.served.log, self.study.digest)
        assert held is not None
        return [StudyProgress.from_dict(held).party_state(i) for i in range(self.parties)]

    def total(self, cohort: Any) -> list[str]:
        rows = [line.split(",") for i in cohort for line in rows_of(i).splitlines()[1:]]
        both = sum(int(a) for a, _ in rows), sum(int(a) for a, w in rows if w == "icu")
        return [str(len(rows)), *map(str, both)]


def stops(kind: str, how: signal.Signals) -> Callable[[], None]:
    """A party that is killed, or hangs, right before it sends this message."""

    def change() -> None:
        send = at_work.RoundRunner._send

        def sends(one: Any) -> None:
            if any(what == kind for what, _ in one.unsent):
                os.kill(os.getpid(), how)
            send(one)

        at_work.RoundRunner._send = sends  # type: ignore[method-assign]

    return change
