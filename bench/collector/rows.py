"""The rows of the tables: what is measured, what is wanted of it, and whether it was met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sections import number
from table import table

NOISE = ["load before", "others"]
HEAD = ["what", "measured", "wanted", "met", *NOISE]
LOAD_HEAD = [
    "load",
    "reports a second (wanted)",
    "half of the answers within, ms",
    "99 of 100 within, ms (wanted)",
    "slowest, ms",
    "not acknowledged (wanted)",
    "processor, us a report",
    "in the tallies after, s (wanted)",
    "met",
    *NOISE,
]
ABOUT = """\
Load: the load average before the measurement. Others: how many processors were kept busy meanwhile by what has nothing
to do with it; where that is not near 0, a figure says more about them. At a fixed rate, requests are due whether or not
earlier ones were answered, and an answer is late by the time since its request was due. The last reports are in the
tallies so many seconds after the last acknowledgement."""
MEMORY_ABOUT = """\
The most that the whole process took (VmHWM). For each report its token is kept in memory, so that it counts once."""
PAGE_ABOUT = """\
Chromium with an empty cache; its own throttling of network and processor. Bodies are counted as they are sent."""
COMPARED = """\
The same app and the same loads. granian runs without what the collector adds to its server: limits of time and of
connections, and an orderly stop. The first table has the figures of uvicorn, which is what serves."""


@dataclass(frozen=True)
class Loaded:
    """One load: at least so many reports a second, of which 99 in 100 are answered within p99 milliseconds."""

    task: str
    label: str
    per_second: float | None = None
    p99: float | None = None
    lag: float = 5.0  # seconds until the tallies have caught up, at most


@dataclass(frozen=True)
class Row:
    """One figure of a task: at most so much is wanted; None: it is only told."""

    task: str
    label: str
    field: str
    unit: str = ""
    at_most: float | None = None


LOADS = [
    Loaded("single.rate.one-time links", "2,000 single reports a second, one-time links", 1990, 100),
    Loaded("single.rate.open link", "2,000 single reports a second, open link", 1990, 100),
    Loaded("single.most.one-time links", "as many single reports as are taken, one-time links"),
    Loaded("single.most.open link", "as many single reports as are taken, open link"),
    Loaded("batch.rate", "50,000 reports a second, in batches of 1,000", 49_500),
    Loaded("batch.most", "as many batches of 1,000 as are taken"),
    Loaded("ten.batch", "a million reports to ten questions, in batches of 1,000"),
    Loaded("ten.dashboard, reports", "1,000 single reports a second while somebody looks at the dashboard", 995),
    Loaded("soak.rate", "1,000 single reports a second, for minutes", 995, 100),
]
GRANIAN = [Loaded(f"{row.task}, granian", row.label) for row in LOADS]


def _looks(task: str, label: str) -> list[Row]:
    kinds = ("changed", "figures anew"), ("unchanged", "nothing new (304)"), ("whole", "the whole page")
    return [
        Row(f"{task}, {kind}", f"{label}, {what}: {which}", field, "ms", most)
        for kind, what in kinds
        for field, which, most in (
            ("p50", "half within", 100),
            ("p95", "19 of 20 within", 100),
            ("slowest", "slowest", None),
        )
    ]


MEMORY = 400
STORED = [
    *_looks("ten.dashboard", "dashboard beside 1,000 reports a second"),
    *_looks("ten.dashboard after a restart", "the same after a restart"),
    Row("ten.start", "start, until it can be reached", "seconds", "s"),
    Row("ten.start", "start, processor time", "processor", "s"),
]
PEAKS = [
    Row("memory.single", "single reports", "megabytes", "MB", MEMORY),
    Row("memory.batch", "batches", "megabytes", "MB", MEMORY),
    Row("memory.stored", "a million reports to ten questions and the dashboard", "megabytes", "MB", MEMORY),
    Row("ten.start", "start with a million reports", "megabytes", "MB", MEMORY),
    Row("memory.restart", "the dashboard and reports after it", "megabytes", "MB", MEMORY),
    Row("memory.soak", "soak", "megabytes", "MB", MEMORY),
    Row("soak.memory", "soak, after a tenth of the time", "start", "MB"),
    Row("soak.memory", "soak, at the end", "end", "MB"),
    Row("soak.memory", "soak, growth", "slope", "MB a minute"),
    Row("soak.memory", "soak, growth without 52 bytes a report for its token", "unexplained", "MB a minute", 1),
]
PAGE = [
    Row("page.weight", "all that the browser loads", "bytes", "bytes", 60_000),
    Row("page.weight", "in so many requests", "files"),
    Row("page.slow", "ready: 1.6 Mbit/s, 150 ms a request, processor 4 times slower; median of 5", "p50", "ms", 2000),
    Row("page.slowest", "ready: 400 kbit/s, 400 ms a request, processor 6 times slower; median of 5", "p50", "ms"),
    Row("page.draw, not slowed down", "1,000 options randomised: the first time, median of 5 visits", "first", "ms", 5),
    Row("page.draw, not slowed down", "the slowest of 250", "slowest", "ms"),
    Row("page.draw", "processor 6 times slower: the first time, median of 5 visits", "first", "ms", 5),
    Row("page.draw", "processor 6 times slower: half of 250 within", "p50", "ms", 5),
    Row("page.draw", "processor 6 times slower: the slowest of 250", "slowest", "ms"),
]


def render(records: list[dict[str, Any]]) -> tuple[str, list[str]]:
    """The tables, and the labels of rows that were not met."""
    missed: list[str] = []
    parts = []
    for title, about, head, rows in (
        ("Reports", ABOUT, LOAD_HEAD, LOADS),
        ("Results of a million reports", "Ten questions, five of yes or no and five with five options.", HEAD, STORED),
        ("Memory", MEMORY_ABOUT, HEAD, PEAKS),
        ("The answering page", PAGE_ABOUT, HEAD, PAGE),
        ("Reports, on granian", COMPARED, LOAD_HEAD, GRANIAN),
    ):
        lines = []
        for row in rows:
            found = [record for record in records if record["task"] == row.task]
            if found:
                line = loaded_line if isinstance(row, Loaded) else line_of
                lines.append(line(row, found[-1], missed))
        if lines:
            parts.append(f"## {title}\n\n{about}\n\n{table(head, lines)}")
    return "\n".join(parts), missed


def verdict(answers: list[bool | None]) -> str:
    """`yes` or `no` for each, `-` where nothing is wanted."""
    return " / ".join({None: "-", True: "yes", False: "**no**"}[answer] for answer in answers)


def _noise(record: dict[str, Any]) -> list[str]:
    return [f"{record['load']:.1f}", f"{record['others']:.2f}"]


def loaded_line(row: Loaded, record: dict[str, Any], missed: list[str]) -> list[str]:
    answers = [
        None if row.per_second is None else record["per_second"] >= row.per_second,
        None if row.p99 is None else record["p99"] <= row.p99,
        record["refused"] == 0,
        record["lag"] <= row.lag,
    ]
    if False in answers:
        missed.append(row.label)
    return [
        row.label,
        number(record["per_second"]) + ("" if row.per_second is None else f" ({number(row.per_second)})"),
        number(record["p50"]),
        number(record["p99"]) + ("" if row.p99 is None else f" ({number(row.p99)})"),
        number(record["slowest"]),
        f"{record['refused']:,} (0)",
        number(record["cpu"]),
        f"{number(record['lag'])} ({number(row.lag)})",
        verdict(answers),
        *_noise(record),
    ]


def line_of(row: Row, record: dict[str, Any], missed: list[str]) -> list[str]:
    value = record[row.field]
    met = None if row.at_most is None else value <= row.at_most
    if met is False:
        missed.append(row.label)
    wanted = "-" if row.at_most is None else f"at most {number(row.at_most)}"
    return [row.label, f"{number(value)} {row.unit}".strip(), wanted, verdict([met]), *_noise(record)]
