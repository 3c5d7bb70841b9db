"""Studies under kill -9: the commands as they are installed, over HTTP, through a proxy that delays and cuts.

One process for the coordinator and one for each party. They are killed at random moments and started again with the
same command; some parties are killed for good. The end is looked up in the files that they leave. What a run does is
drawn from its seed; when things happen depends on the machine.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from murmure.core.domain import Integers
from murmure.core.schema import Schema
from murmure.parties.coordinator import folders
from murmure.parties.coordinator.store import read_progress
from murmure.parties.party.folder import PartyFolder
from murmure.parties.party.local_sums import compute_local_sums
from murmure.parties.study.document import Study
from murmure.plan.plan import Plan
from murmure.secure.sharing import PairwiseMasks
from murmure.statistics.sums import Sums

SCHEMA = Schema({"age": Integers(0, 120), "stay": Integers(0, 60)})
ASKED = (("age", "stay"), ("age * stay",))
MURMURE = [sys.executable, "-m", "murmure"]
PATIENCE = 6  # seconds that the coordinator waits for an answer
MOST = 120.0  # seconds for a whole run


class Proxy:
    """Between parties and coordinator: holds bytes back, and cuts lines in the middle of anything."""

    def __init__(self, rng: random.Random, fault: float) -> None:
        self.rng, self.fault, self.target, self.cuts = rng, fault, 0, 0
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                line, _ = self.listening.accept()
                threading.Thread(target=self._join, args=(line,), daemon=True).start()

    def _join(self, line: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self.target), 5)
        except OSError:
            line.close()
            return
        cut_after = self.rng.randrange(6_000) if self.rng.random() < self.fault else None
        for ends in ((line, far), (far, line)):
            threading.Thread(target=self._pump, args=(*ends, cut_after), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, cut_after: int | None) -> None:
        passed = 0
        with suppress(OSError):
            while part := source.recv(1 << 16):
                if self.rng.random() < self.fault / 2:
                    time.sleep(self.rng.expovariate(10.0))
                if cut_after is not None and passed + len(part) > cut_after:
                    target.sendall(part[: cut_after - passed])
                    self.cuts += 1
                    break
                target.sendall(part)
                passed += len(part)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self.listening.close()


class Process:
    """One command, killed and started again."""

    def __init__(self, folder: Path, name: str, *words: str) -> None:
        self.words, self.out, self.errors = words, folder / f"{name}.out", folder / f"{name}.err"
        self.kills = 0
        self.for_good = False
        self.start()

    def start(self) -> None:
        with self.out.open("w") as out, self.errors.open("a") as errors:
            self.running = subprocess.Popen([*MURMURE, *self.words], stdout=out, stderr=errors)

    def kill(self) -> bool:
        """kill -9, if it still runs."""
        if self.running.poll() is not None:
            return False
        os.kill(self.running.pid, signal.SIGKILL)
        self.running.wait()
        self.kills += 1
        return True

    def said(self, words: str) -> bool:
        return words in self.errors.read_text()

    @property
    def ended(self) -> bool:
        return self.running.poll() is not None


class Studied:
    """One study with real processes."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = rng = random.Random(seed)
        self.folder = folder
        parties = rng.randint(4, 5)
        sharing = PairwiseMasks(parties, dropouts=1, coordinator=rng.choice(["curious", "lying"]))  # type: ignore[arg-type]
        self.office = folders.CoordinatorFolder.create(folder / "office", "Office")
        self.homes = [PartyFolder.create(folder / f"party-{i}", f"Party {i}") for i in range(parties)]
        plans = tuple(Plan(Sums(SCHEMA, e), parties=sharing) for e in ASKED[: rng.randint(1, 2)])
        self.study = Study("Stay", "To be killed.", self.office.card, tuple(one.card for one in self.homes), plans)
        self.place = folders.StudyFolder.create(self.office, self.study)
        self.values = []
        for home in self.homes:
            rows = {"age": [rng.randint(0, 120) for _ in range(10)], "stay": [rng.randint(0, 60) for _ in range(10)]}
            pairs = zip(rows["age"], rows["stay"], strict=True)
            (home.folder / "rows.csv").write_text("age,stay\n" + "".join(f"{a},{s}\n" for a, s in pairs))
            self.values.append([one.values for one in compute_local_sums(self.study, rows)])
        self.fault = rng.choice([0.0, 0.2, 0.4])
        self.murders = rng.randint(1, 6)
        self.one_for_good = rng.random() < 0.4
        self.kills = self.cuts = 0
        self.refusals: list[str] = []  # of parties that ended without a result

    def go(self) -> str:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        proxy = Proxy(self.rng, self.fault)
        proxy.target = port
        serve = ("study", "run", str(self.place.path), "--port", str(port), "--patience", str(PATIENCE))
        everybody = [Process(self.folder, "coordinator", *serve, "--wait", "20", "--json")]
        try:
            url = f"http://127.0.0.1:{proxy.port}"
            for home in self.homes:
                mine = ("--home", str(home.folder), "--rows", str(home.folder / "rows.csv"), "--patience", "15")
                approved = ("--approve", self.study.digest.hex(), "--minimum-parties", "3", "--verbose", "--json")
                everybody.append(Process(self.folder, home.folder.name, "party", "join", url, *mine, *approved))
            self._murder(everybody)
            self._wait(everybody)
        finally:
            self.kills, self.cuts = sum(one.kills for one in everybody), proxy.cuts
            for one in everybody:
                if one.running.poll() is None:
                    one.running.kill()
                    one.running.wait()
            proxy.close()
        return self._verdict(everybody)

    def _murder(self, everybody: list[Process]) -> None:
        """Some are killed, one after the other; one party perhaps for good, once it has joined."""
        until = time.monotonic() + MOST
        while not all(one.said("keys sent") or one.ended for one in everybody[1:]) and time.monotonic() < until:
            time.sleep(0.02)
            if self.murders and self.rng.random() < 0.01:  # also before all have joined
                self._one(self.rng.choice(everybody))
        if self.one_for_good:
            victim = self.rng.choice(everybody[1:])
            time.sleep(self.rng.expovariate(4.0))
            victim.for_good = victim.kill()
        while self.murders:
            time.sleep(self.rng.expovariate(2.0))
            self._one(self.rng.choice(everybody))

    def _one(self, victim: Process) -> None:
        self.murders -= 1
        if not victim.for_good and victim.kill():
            time.sleep(self.rng.expovariate(5.0))
            victim.start()

    def _wait(self, everybody: list[Process]) -> None:
        until = time.monotonic() + MOST
        for one in reversed(everybody):
            if not one.for_good:
                try:
                    one.running.wait(max(0.1, until - time.monotonic()))
                except subprocess.TimeoutExpired:
                    raise AssertionError(f"no end: {one.words[:3]}, {one.errors.read_text()[-300:]}") from None

    def _verdict(self, everybody: list[Process]) -> str:
        standing, results = read_progress(self.place.log, self.study.digest)
        assert standing is not None and standing["ended"] is not None, f"the coordinator has no end: {standing}"
        kind = standing["ended"][0]
        assert kind in ("", "TooFewParties"), f"{kind} among honest parties"
        for one in results:
            columns = zip(*(self.values[i][one.round - 1] for i in one.cohort), strict=True)
            assert list(one.sums) == [sum(column) for column in columns], f"round {one.round}: a wrong sum"
            assert one.cohort == results[0].cohort and len(one.cohort) >= self.study.sharing.minimum
        assert kind or len(results) == len(self.study.plans)
        for i, home in enumerate(self.homes):
            self._check_party(i, home, results, everybody[1 + i])
        return kind or "sum"

    def _check_party(self, i: int, home: PartyFolder, results: Any, process: Process) -> None:
        held = home.store.results(self.study.digest)
        assert len(held) <= len(results)
        for one, (sums, cohort) in zip(results, held, strict=False):
            assert (tuple(sums), tuple(cohort)) == (one.sums, one.cohort), f"party {i} holds another sum"
        if process.for_good:
            return
        if process.running.returncode == 0:
            said = json.loads(process.out.read_text())
            assert [[int(v) for v in r["sums"]] for r in said["results"]] == [list(one.sums) for one in results]
            return
        assert process.running.returncode in (1, 2), f"party {i} ends with {process.running.returncode}"
        named = json.loads(process.out.read_text())["error"]["type"]
        self.refusals.append(named)
        # Killed at the very end, it finds the coordinator gone; or by its own rules it revealed nothing.
        there = len(results) == len(self.study.plans) and i in results[0].cohort
        assert not there or named in ("Unreachable", "TooFewParties"), (
            f"party {i} is in the sum without result: {named}"
        )


def killed(seed: int, folder: Path) -> tuple[str, Studied]:
    """How the run of this seed ended."""
    run = Studied(seed, folder)
    return run.go(), run
