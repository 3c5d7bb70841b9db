"""A real `murmure serve` under load over HTTP, killed with kill -9 at any moment, started again, and asked what it has.

Respondents send single reports and batches, some give up before they are answered, and some send again what was
acknowledged, or another report with the same token. Whatever was not acknowledged is sent again after the next start,
byte for byte.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.collector.documents import CHEATED, document, opened

from murmure.collector.service.collector import Collector
from murmure.collector.service.keys import read_key
from murmure.collector.service.links import SurveyTokens

ROOT = Path(__file__).parents[3]
SERVE = (sys.executable, "-m", "murmure")
SINGLE_LINES, BATCH_LINES = 6, 2
SIZES = (1, 7, 60, 300)  # of batches: below and above what the index looks up one by one
MEAN_SECONDS = 0.25  # of load before a kill, on average
PATIENCE = 60.0  # seconds for a start, or for an answer

Item = tuple[str, int]  # token and report


def mutant(kind: str) -> tuple[str, ...]:
    """A service with a defect."""
    return (sys.executable, "-m", "tests.collector.http.mutant_service", kind)


@dataclass
class Ledger:
    """What respondents know. sent: the first report of each token; acknowledged: tokens with an answer; waiting:
    requests without one. wrong: answers that none may get."""

    sent: dict[str, int] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    waiting: list[list[Item]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    kills: int = 0
    resent: int = 0


class KilledService:
    """One folder with one survey, and its respondents."""

    def __init__(self, folder: Path, seed: int, command: Sequence[str] = SERVE) -> None:
        self.folder, self._command = folder, command
        self.random, self.ledger = random.Random(seed), Ledger()
        with Collector(folder) as collector:
            record = opened(collector, document(CHEATED, link="invitations"))
        self._survey, self._plan = record.id, record.plan.digest
        self._tokens = SurveyTokens(read_key(folder), record.id)

    # -- the process

    def start(self) -> tuple[subprocess.Popen[str], int]:
        process = self._spawn()
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"the service did not start again: exit code {process.wait()}"
        return process, urlsplit(json.loads(line)["url"]).port or 0

    def _spawn(self) -> subprocess.Popen[str]:
        options = ["serve", "--folder", str(self.folder), "--port", "0", "--json"]
        return subprocess.Popen([*self._command, *options], stdout=subprocess.PIPE, text=True, cwd=ROOT)

    def kill_while_starting(self) -> None:
        """It reads the log and makes its index again; it may be killed then as well."""
        process = self._spawn()
        time.sleep(self.random.uniform(0.2, 1.2))
        _kill(process)
        self.ledger.kills += 1

    def kill_under_load(self) -> None:
        """Start, send again what waits, go on sending, and kill it at a random moment."""
        process, port = self.start()
        moment = self.random.expovariate(1 / MEAN_SECONDS)
        asyncio.run(self._disturbed(process, port, moment))
        self.ledger.kills += 1

    def settle(self) -> None:
        """Start, send again what waits, and stop in order."""
        process, port = self.start()
        try:
            asyncio.run(self._send_again(port))
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert process.stdout is not None
        process.stdout.close()

    def check(self) -> dict[str, Any]:
        """`murmure serve check`, which adds all stored reports up again."""
        command = [*SERVE, "serve", "check", "--folder", str(self.folder), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    # -- what is stored

    def stored(self) -> Counter[tuple[bytes, int]]:
        """Keyed tokens with their reports, after `check` has folded all."""
        with closing(sqlite3.connect(self.folder / "reports.db")) as connection:
            rows = connection.execute("SELECT token, report FROM reports").fetchall()
        return Counter((token, int(report)) for token, report in rows)

    def problems(self, settled: bool) -> list[str]:
        """What is not as it must be. settled: nothing waits any more, so what was sent is what is stored."""
        report = self.check()
        stored = self.stored()
        known = {token: (self._tokens.digest(token, 1), report) for token, report in self.ledger.sent.items()}
        wanted = set(known.values())
        told = list(self.ledger.wrong)
        told += [f"{count} times the same" for count in Counter(t for t, _ in stored.elements()).values() if count > 1]
        told += ["an acknowledged report is lost" for t in self.ledger.acknowledged if known[t] not in stored]
        told += ["a report that nobody sent first" for one in stored if one not in wanted]
        if report["surveys"][0]["answers"] != [stored.total()]:
            told.append(f"the tally has {report['surveys'][0]['answers']} of {stored.total()} stored reports")
        if settled and stored != Counter(wanted):
            told.append(f"{stored.total()} reports are stored, {len(wanted)} were sent")
        return told

    # -- respondents

    async def _disturbed(self, process: subprocess.Popen[str], port: int, moment: float) -> None:
        asyncio.get_running_loop().call_later(moment, _kill, process)
        with suppress(OSError, EOFError):
            await self._send_again(port)
        kinds = [(1,)] * SINGLE_LINES + [SIZES] * BATCH_LINES
        await asyncio.gather(*(self._respond(port, sizes) for sizes in kinds))
        while process.poll() is None:  # all connections broke before it was killed
            await asyncio.sleep(0.01)

    async def _send_again(self, port: int) -> None:
        line = Line(port)
        try:
            while self.ledger.waiting:
                await self._send(line, self.ledger.waiting[0])
                self.ledger.waiting.pop(0)
                self.ledger.resent += 1
        finally:
            line.close()

    async def _respond(self, port: int, sizes: Sequence[int]) -> None:
        """New reports, until the service is gone."""
        line = Line(port)
        try:
            while True:
                items = self._new_items(self.random.choice(sizes))
                self.ledger.waiting.append(items)
                if self.random.random() < 0.05:
                    await line.abandon(*self._request(items))
                    continue
                await self._send(line, items)
                self.ledger.waiting.remove(items)
                if self.random.random() < 0.1:
                    await self._send(line, items)
                if self.random.random() < 0.05:
                    await self._send_another(line, items[0])
        except (OSError, EOFError):
            return
        finally:
            line.close()

    def _new_items(self, size: int) -> list[Item]:
        items = [(self._tokens.new(), self.random.randrange(2)) for _ in range(size)]
        self.ledger.sent.update(items)
        return items

    def _request(self, items: list[Item]) -> tuple[str, dict[str, Any]]:
        common = {"plan": self._plan, "wave": 1}
        reports = [{"token": token, "report": report} for token, report in items]
        if len(reports) == 1:
            return f"/api/surveys/{self._survey}/reports", {**common, **reports[0]}
        return f"/api/surveys/{self._survey}/batches", {**common, "reports": reports}

    async def _send(self, line: Line, items: list[Item]) -> None:
        again = items[0][0] in self.ledger.acknowledged
        status, answer = await line.ask(*self._request(items))
        if len(items) == 1:
            good = (status, answer) in ((201, {"ok": True, "stored": "now"}), (200, {"ok": True, "stored": "before"}))
            stored = answer.get("stored") == "now"
        else:
            good = status == 200 and answer.get("refused") == [] and answer["stored"] + answer["before"] == len(items)
            stored = answer.get("stored") != 0
        if not good or (again and stored):
            self.ledger.wrong.append(f"{len(items)} reports, again: {again}: {status} {answer}")
        self.ledger.acknowledged.update(token for token, _ in items)

    async def _send_another(self, line: Line, item: Item) -> None:
        """The other report with a token that was used."""
        status, answer = await line.ask(*self._request([(item[0], 1 - item[1])]))
        if (status, answer.get("error")) != (409, "spent"):
            self.ledger.wrong.append(f"a second report: {status} {answer}")


class Line:
    """One connection, made when it is needed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        reader, _ = await self._post(path, body)
        async with asyncio.timeout(PATIENCE):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            at = head.index(b"content-length:") + 15
            answer = await reader.readexactly(int(head[at : head.index(b"\r", at)]))
        return int(head[9:12]), json.loads(answer)

    async def abandon(self, path: str, body: dict[str, Any]) -> None:
        """Send it, and hang up without waiting for the answer."""
        await self._post(path, body)
        self.close()

    async def _post(self, path: str, body: dict[str, Any]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._open is None:
            self._open = await asyncio.open_connection("127.0.0.1", self._port)
        raw = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
        )
        self._open[1].write(head.encode() + raw)
        await self._open[1].drain()
        return self._open

    def close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def kill_often(folder: Path, times: int, seed: int, command: Sequence[str] = SERVE) -> tuple[KilledService, list[str]]:
    """Kill one service so many times, look at its files after every fourth, and settle it in the end."""
    service = KilledService(folder, seed, command)
    told: list[str] = []
    for number in range(1, times + 1):
        if number % 5 == 0:
            service.kill_while_starting()
        else:
            service.kill_under_load()
        if number % 4 == 0:
            told += service.problems(settled=False)
    service.settle()
    return service, told + service.problems(settled=True)
