"""Where reports come from: a function, a command that reads and writes lines, or a URL. Each call is on its own.

A call that raises, or that takes too long, has an outcome too: no report, and why. Leaving it out would hide that some
values crash more often than others.
"""

from __future__ import annotations

import http.client
import io
import json
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from murmure.attacks.audits.independence import check_batches, repeats
from murmure.attacks.audits.problems import Problems, crashed, ended, message_of, timed_out
from murmure.attacks.audits.sent_reports import (
    HttpAnswer,
    NoReport,
    SentReports,
    digest,
    joined,
    sent_array,
    sent_lines,
    sent_objects,
)
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.random import Random
from murmure.core.types import Array, Ints

MAX_SILENT = 3  # calls without an answer in time; then the randomiser is not called again
MAX_CRASHES = 10  # processes that end early, for one that is silent
CHUNK = 5_000  # lines that one process reads
AT_ONCE = 4  # requests
NO_CONNECTION = {  # why a request got no answer, in words
    "refused": Phrase("the connection was refused"),
    "unknown host": Phrase("there is no such host"),
    "no connection": Phrase("no connection"),
}
OF_THE_SERVER = ("date", "server", "connection", "content-length")  # headers that say nothing of the report
MIN_BATCHES, MAX_BATCHES = 16, 256  # calls for one look with batched=True
BATCH = 1_000  # reports of a call, where there can be more calls


class Exhausted(Exception):
    """The randomiser does not answer any more."""


class ReportSource(Protocol):
    """Anything that gives reports about values, from fresh state each time."""

    default_samples: int

    def draw(self, values: Sequence[Any], counts: Sequence[int], rng: Random, problems: Problems) -> list[SentReports]:
        """counts[i] reports about values[i]."""
        ...


def shuffled(counts: Sequence[int], rng: Random) -> Ints:
    """Which value each call is about, in random order: what changes over time concerns all values alike."""
    order = np.repeat(np.arange(len(counts)), counts)
    return order[np.argsort(rng.words(len(order)), kind="stable")]


def _apart(
    order: Ints, reports: Sequence[Any], kinds: int, sent: Callable[[list[Any]], SentReports]
) -> list[SentReports]:
    by_value: list[list[Any]] = [[] for _ in range(kinds)]
    for which, report in zip(order.tolist(), reports, strict=False):
        by_value[which].append(report)
    return [sent(part) for part in by_value]


# -- Python ---------------------------------------------------------------------------


@dataclass
class FunctionSource:
    """f(value) -> report, or with batched f(value, n) -> n reports."""

    function: Callable[..., Any]
    batched: bool = False
    time_limit: float = 10.0
    default_samples: int = 100_000
    calls: int = 0
    silent: int = 0

    def __post_init__(self) -> None:
        if self.batched:
            self.default_samples = 1_000_000

    def draw(self, values: Sequence[Any], counts: Sequence[int], rng: Random, problems: Problems) -> list[SentReports]:
        if self.batched:
            return self._batches(values, counts, problems)
        order = shuffled(counts, rng)
        jobs: list[tuple[Any, ...]] = [(values[i],) for i in order.tolist()]
        return _apart(order, self._call_all(jobs, problems), len(values), sent_objects)

    def _batches(self, values: Sequence[Any], counts: Sequence[int], problems: Problems) -> list[SentReports]:
        """Several calls for each value, in turns: what is drawn once for each call differs between them."""
        sizes = [-(-n // min(MAX_BATCHES, max(MIN_BATCHES, n // BATCH))) for n in counts]
        parts: list[list[SentReports]] = [[] for _ in values]
        for turn in range(MAX_BATCHES):
            for i, (value, n, size) in enumerate(zip(values, counts, sizes, strict=True)):
                if turn == 0 or turn * size < n:
                    parts[i].append(self._batch(value, min(size, n - turn * size), problems))
        out = [replace(joined(part), batch=size) for part, size in zip(parts, sizes, strict=True)]
        for value, sent in zip(values, out, strict=True):
            check_batches(sent, value, problems)
        return out

    def _batch(self, value: Any, n: int, problems: Problems) -> SentReports:
        if n == 0:
            return sent_objects([])
        (reports,) = self._call_all([(value, n)], problems)
        if isinstance(reports, NoReport):  # one call stands for all of them: nothing can be counted
            raise Exhausted
        if not isinstance(reports, np.ndarray):
            reports = list(reports)
        if len(reports) != n:
            raise InvalidParameter(
                "the randomiser gave {got:,} reports about {value}, asked for {n:,}.",
                hint="with batched=True, f(value, n) returns n reports; without it, f(value) returns one",
                got=len(reports),
                value=shorten(value),
                n=n,
            )
        return sent_array(reports) if isinstance(reports, np.ndarray) else sent_objects(reports)

    def _call_all(self, jobs: Sequence[tuple[Any, ...]], problems: Problems) -> list[Any]:
        """All calls in one thread, which is left behind when a call takes too long; another takes over."""
        out: list[Any] = []
        printed = io.StringIO()
        with redirect_stdout(printed):
            while len(out) < len(jobs):
                if self.silent >= MAX_SILENT:
                    raise Exhausted
                caller = _Caller(self.function, jobs[len(out) :])
                caller.run_until_silent(self.time_limit)
                out.extend(caller.reports)
                if len(out) < len(jobs):
                    item, value = self.calls + len(out), jobs[len(out)][0]
                    problems.add("timed out", timed_out(item, value, self.time_limit), item, value)
                    out.append(NoReport("timed out"))
                    self.silent += 1
        for place, error in ((i, one.error) for i, one in enumerate(out) if isinstance(one, _Raised)):
            item, value = self.calls + place, jobs[place][0]
            problems.add("crashed", crashed(item, value, error), item, value)
            out[place] = NoReport(type(error).__name__, message_of(error))
        problems.reports += sum(not isinstance(report, NoReport) for report in out)
        if printed.getvalue():
            text = shorten(printed.getvalue(), 80)
            problems.add("printed", Phrase("it printed to the terminal: {text}", text=text), self.calls)
        self.calls += len(jobs)
        return out


@dataclass(frozen=True)
class _Raised:
    error: BaseException


class _Caller:
    """A thread that makes calls one after the other, and can be left behind."""

    def __init__(self, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> None:
        self.reports: list[Any] = []
        self._function, self._jobs = function, jobs
        self._left = False
        self._thread = threading.Thread(target=self._work, daemon=True)

    def _work(self) -> None:
        reports, function = self.reports, self._function
        for job in self._jobs:
            report: Any
            try:
                report = function(*job)
            except BaseException as error:  # sys.exit() in a randomiser is a crash of it, not of the audit
                report = _Raised(error)
            if self._left:
                return
            reports.append(report)

    def run_until_silent(self, seconds: float) -> None:
        self._thread.start()
        done, since = 0, time.monotonic()
        while True:
            self._thread.join(min(0.05, seconds / 4))
            if not self._thread.is_alive():
                return
            if len(self.reports) > done:
                done, since = len(self.reports), time.monotonic()
            elif time.monotonic() - since > seconds:
                self._left = True
                self.reports = self.reports[:]  # what comes late is not counted
                _interrupt(self._thread)
                return


def _interrupt(thread: threading.Thread) -> None:
    """End a loop in Python that never returns; a call that waits elsewhere stays where it is."""
    import ctypes

    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))


# -- commands ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """A program that reads one JSON value a line and writes one report a line: Command(["node", "randomiser.js"])."""

    words: tuple[str, ...]

    def __init__(self, words: Sequence[str]) -> None:
        if isinstance(words, str) or not words or not all(isinstance(word, str) for word in words):
            raise InvalidParameter(
                "Command takes a list of words, got {got}.",
                hint='Command(["node", "randomiser.js"])',
                got=shorten(words),
            )
        object.__setattr__(self, "words", tuple(words))


@dataclass
class CommandSource:
    """Each process gets some thousand lines, then the end of its input: it may write when it likes until then."""

    command: Command
    time_limit: float = 10.0
    default_samples: int = 20_000
    chunk: int = CHUNK  # lines for each process
    lines: int = 0
    silent: float = 0  # processes that ended early: a crash counts less than silence
    first: tuple[Ints, Array] | None = None  # what the first process was asked and answered

    def draw(self, values: Sequence[Any], counts: Sequence[int], rng: Random, problems: Problems) -> list[SentReports]:
        order = shuffled(counts, rng)
        inputs = [json.dumps(value, ensure_ascii=False) for value in values]
        out: list[str | NoReport] = []
        while len(out) < len(order):
            part = order[len(out) : len(out) + self.chunk]
            came = self._run([inputs[i] for i in part.tolist()], [values[i] for i in part.tolist()], problems)
            self._check_seed(part[: len(came)], came, problems)
            out.extend(came)
        return _apart(order, out, len(values), sent_lines)

    def _run(self, lines: list[str], values: list[Any], problems: Problems) -> list[str | NoReport]:
        """The reports about the first lines: all of them, or up to one that got none."""
        if self.silent >= MAX_SILENT:
            raise Exhausted
        try:
            process = subprocess.Popen(
                self.command.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise InvalidParameter(
                "cannot start {command}: {error}.", command=self.command.words[0], error=error.strerror or str(error)
            ) from None
        late = False
        sent = "".join(f"{line}\n" for line in lines).encode()
        try:
            written, complained = process.communicate(sent, timeout=self.time_limit + 0.01 * len(lines))
        except subprocess.TimeoutExpired:
            late = True
            process.kill()
            written, complained = process.communicate()
        reports: list[str | NoReport] = [
            line.decode("utf-8", "backslashreplace") for line in written.removesuffix(b"\n").split(b"\n") if written
        ]  # at b"\n" alone: "\r" and the like are sent
        if len(reports) > len(lines):
            raise InvalidParameter(
                "{command} wrote {got:,} lines for {n:,} values: which report is about which value is unknown.",
                hint="write one line for each line that is read; write messages to the error output",
                command=self.command.words[0],
                got=len(reports),
                n=len(lines),
            )
        if len(reports) < len(lines):
            item, value = self.lines + len(reports), values[len(reports)]
            self.silent += 1 if late else 1 / MAX_CRASHES
            if late:
                problems.add("timed out", timed_out(item, value, self.time_limit), item, value)
                reports.append(NoReport("timed out"))
            else:
                problems.add("crashed", ended(item, value, process.returncode, complained), item, value)
                reports.append(NoReport("the process ended", str(process.returncode)))
        self.lines += len(reports)
        problems.reports += sum(isinstance(report, str) for report in reports)
        return reports

    def _check_seed(self, about: Ints, reports: Sequence[str | NoReport], problems: Problems) -> None:
        """Lines at the same place about the same value, in two processes: a fixed seed makes them alike."""
        came = [place for place, report in enumerate(reports) if isinstance(report, str)]  # up to one that got none
        about, answers = about[came], np.array([digest(str(reports[place])) for place in came], np.int64)
        if self.first is None:
            self.first = about, answers
            return
        n = min(len(answers), len(self.first[1]))
        for value in np.unique(about[:n]):
            same = (about[:n] == value) & (self.first[0][:n] == value)
            if not repeats(answers[:n][same], self.first[1][:n][same]):
                continue
            problems.add("repeats", Phrase("each process gives the same reports: it starts from the same seed"))


# -- URLs --------------------------------------------------------------------------------------------------------------


@dataclass
class UrlSource:
    """POST {"value": ...} as JSON; the body of the answer is the report."""

    url: str
    time_limit: float = 10.0
    default_samples: int = 2_000
    asked: int = 0
    silent: int = field(default=0)

    def draw(self, values: Sequence[Any], counts: Sequence[int], rng: Random, problems: Problems) -> list[SentReports]:
        order = shuffled(counts, rng)
        bodies = [json.dumps({"value": value}).encode() for value in values]
        out: list[HttpAnswer | NoReport] = []
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for start in range(0, len(order), 64):
                if self.silent >= MAX_SILENT:
                    raise Exhausted
                part = order[start : start + 64].tolist()
                for place, came in enumerate(pool.map(lambda i: self._post(bodies[i]), part)):
                    item, value = self.asked + place, values[part[place]]
                    out.append(came)
                    if isinstance(came, HttpAnswer):
                        self.silent = 0
                        if came.status < 400:
                            problems.reports += 1
                            continue
                        why = Phrase("status {status}", status=came.status)  # told as a problem; what came is kept
                    else:
                        self.silent += 1
                        why = NO_CONNECTION.get(came.why, NO_CONNECTION["no connection"])
                    if isinstance(came, NoReport) and came.why == "timed out":
                        problems.add("timed out", timed_out(item, value, self.time_limit), item, value)
                    else:
                        text = Phrase(
                            "request {item:,}, about {value}: {why}", item=item, value=shorten(value), why=why
                        )
                        problems.add("crashed", text, item, value)
                self.asked += len(part)
        return _apart(order, out, len(values), sent_lines)

    def _post(self, body: bytes) -> HttpAnswer | NoReport:
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=self.time_limit) as answer:
                return _answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return _answer(error.code, error.headers, error.read())
        except (OSError, http.client.HTTPException) as error:  # URLError is an OSError, and may hold another
            return NoReport(_why_not(getattr(error, "reason", error)))


def _why_not(error: Any) -> str:
    kinds = ((TimeoutError, "timed out"), (ConnectionRefusedError, "refused"), (socket.gaierror, "unknown host"))
    return next((why for kind, why in kinds if isinstance(error, kind)), "no connection")


def _answer(status: int, headers: Any, body: bytes) -> HttpAnswer:
    sent = tuple((name, value) for name, value in headers.items() if name.lower() not in OF_THE_SERVER)
    return HttpAnswer(status, sent, body.decode("utf-8", "backslashreplace"))


def is_url(text: Any) -> bool:
    return isinstance(text, str) and text.lower().startswith(("http://", "https://"))
