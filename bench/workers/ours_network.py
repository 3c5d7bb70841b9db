"""A whole study over HTTP: one coordinator and thirty parties, each a process; and again, with three killed half-way.

The clock runs from the moment when all have joined to the moment when the last survivor holds the result; the seconds
that the coordinator waits for the three (--patience) are in it. Every sum at every survivor is compared with the true
one.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
from clock import emit

from murmure.parties.party.folder import PartyFolder
from murmure.secure.messages import parse_message

PARTIES, KILLED, COLUMNS, ROWS, PATIENCE = 30, 3, 21, 100, 5
MOST = 120.0  # seconds for everything
COMMAND = [sys.executable, "-m", "murmure"]
NAMES = [f"x{i}" for i in range(COLUMNS)]
STUDY = f"""\
name = "Products"
purpose = "All products of {COLUMNS} columns."
dropouts = {KILLED}
rows = 1000
least_rows = 30

[[queries]]
products = {json.dumps(NAMES)}

""" + "".join(f"[columns.{name}]\ntype = 'integers'\nlow = 0\nhigh = 100\n" for name in NAMES)


def murmure(*arguments):
    done = subprocess.run([*COMMAND, *arguments, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def start(*arguments):
    return subprocess.Popen([*COMMAND, *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Party:
    """One process of `murmure party join`; killed, where it shall vanish, as soon as its shares are sent."""

    def __init__(self, home, url, digest, vanishes):
        mine = ("--home", str(home), "--rows", str(home / "rows.csv"))
        self.process = start("party", "join", url, *mine, "--approve", digest, "--verbose")
        self.vanishes, self.out, self.at = vanishes, "", None
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self._watch, self._read)]
        for thread in self.threads:
            thread.start()

    def _watch(self):
        for line in self.process.stderr:
            if self.vanishes and "shares sent" in line:
                os.kill(self.process.pid, signal.SIGKILL)

    def _read(self):
        self.out = self.process.stdout.read()
        self.at = time.perf_counter()

    def ended(self, until):
        """Its exit code; None when it is late."""
        try:
            code = self.process.wait(max(1.0, until - time.perf_counter()))
        except subprocess.TimeoutExpired:
            return None
        for thread in self.threads:
            thread.join()
        return code


def whole_study(folder, killed):
    rng = np.random.default_rng(7)
    murmure("study", "init", str(folder / "office"), "--name", "Office")
    homes, tables = [folder / f"party-{i}" for i in range(PARTIES)], []
    for i, home in enumerate(homes):
        PartyFolder.create(home, f"Party {i}")
        tables.append(rng.integers(0, 100, (ROWS, COLUMNS), endpoint=True))
        np.savetxt(home / "rows.csv", tables[-1], "%d", ",", header=",".join(NAMES), comments="")
    (folder / "study.toml").write_text(STUDY)
    cards = [str(home / "card.json") for home in homes]
    made = murmure("study", "new", str(folder / "office"), str(folder / "study.toml"), *cards)

    coordinator = start("study", "run", made["folder"], "--port", "0", "--patience", str(PATIENCE))
    parties, joined = [], []
    try:
        url = json.loads(coordinator.stdout.readline())["url"]

        def watch():
            for line in coordinator.stderr:
                if "round 1, keys: closed" in line:
                    joined.append(time.perf_counter())

        threading.Thread(target=watch, daemon=True).start()
        vanish = set(range(0, PARTIES, PARTIES // killed)) if killed else set()
        parties = [Party(home, url, made["digest"], i in vanish) for i, home in enumerate(homes)]
        until = time.perf_counter() + MOST
        codes = [party.ended(until) for party in parties]
        wrong = [" ".join(party.out.split()) for party, code in zip(parties, codes, strict=True) if code in (1, 2)]
        assert None not in codes and not wrong, f"{codes.count(None)} parties do not end, {wrong[:1]}"
        ended = json.loads(coordinator.stdout.readline())
        coordinator.wait(30)
    finally:
        for process in (coordinator, *(party.process for party in parties)):
            if process.poll() is None:
                process.kill()
                process.wait()
    stays = [i for i in range(PARTIES) if i not in vanish]
    assert all(code == (-signal.SIGKILL if i in vanish else 0) for i, code in enumerate(codes)), codes
    assert ended["event"] == "ended"

    rows = np.concatenate([tables[i] for i in stays]).astype(object)
    true = [len(rows), *(int((rows[:, j] * rows[:, k]).sum()) for j in range(COLUMNS) for k in range(j, COLUMNS))]
    for i in stays:
        (result,) = json.loads(parties[i].out)["results"]
        assert result["cohort"] == [f"Party {j}" for j in stays]
        assert [int(text) for text in result["sums"]] == true, "a sum is wrong"
    seconds = max(parties[i].at for i in stays) - joined[0]
    return seconds, posted(Path(made["folder"]) / "log.db")


def posted(log):
    """Bytes of all messages of the party that sent most."""
    sizes = Counter()
    with closing(sqlite3.connect(log)) as connection:
        for (raw,) in connection.execute("SELECT message FROM murmure_events WHERE kind = 'message'"):
            sizes[parse_message(raw).sender] += len(raw)
    return max(sizes.values())


words = 1 + COLUMNS * (COLUMNS + 1) // 2
needed = 8 * words + 200 * (PARTIES - 1)
for task, killed in (("wire.all", 0), ("wire.products", KILLED)):
    with tempfile.TemporaryDirectory(prefix="murmure-bench-") as place:
        seconds, size = whole_study(Path(place), killed)
    emit(task, "murmure", n=words, seconds=seconds, bytes=size, needed=needed)
