"""The rows of the table: what is measured, what is wanted of it, and whether it was met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from table import markdown, number, verdict

HEAD = ["what", "measured", "wanted", "met", "load before", "others"]
ABOUT = """\
Load: the load average before the measurement. Others: processors kept busy meanwhile by programs that have nothing to
do with it; where that is not near 0, a figure says more about them. At a fixed rate requests are due whether or not
earlier ones were answered, and an answer is late by the time since its request was due. Reports are in the tallies so
many seconds after the last of them was acknowledged."""
COMPARED = """\
The same app, the same reports. granian is measured without what the collector adds to its server: limits of time and of
connections, and an orderly stop."""


@dataclass(frozen=True)
class Row:
    """A figure of a task: at least, or at most, so much is wanted; None: it is only told."""

    task: str
    label: str
    field: str
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None


def _load(task: str, label: str, wanted: float | None = None, p99: float | None = None) -> list[Row]:
    return [
        Row(task, f"{label}: reports a second", "per_second", at_least=wanted),
        Row(task, f"{label}: half of the answers within", "p50", "ms"),
        Row(task, f"{label}: 99 of 100 answers within", "p99", "ms", at_most=p99),
        Row(task, f"{label}: reports refused, or not answered", "refused", at_most=0),
        Row(task, f"{label}: processor time of the service, a report", "cpu", "us"),
        Row(task, f"{label}: tallies caught up after", "lag", "s", at_most=5),
    ]


def _looks(task: str, label: str) -> list[Row]:
    return [
        Row(f"{task}, {kind}", f"{label}, {what}: {which}", field, "ms", at_most=100)
        for kind, what in (
            ("changed", "figures that changed"),
            ("unchanged", "figures that did not (304)"),
            ("whole", "the whole page"),
        )
        for field, which in (("p50", "half within"), ("slowest", "the slowest"))
    ]


MEMORY = 400
LOADS = [
    *_load("single.rate.one-time links", "2,000 single reports a second, one-time links", 1990, 100),
    *_load("single.rate.open link", "2,000 single reports a second, open link", 1990, 100),
    *_load("single.most.one-time links", "as many single reports as are taken, one-time links"),
    *_load("single.most.open link", "as many single reports as are taken, open link"),
    *_load("batch.rate", "50,000 reports a second in batches of 1,000", 49_500),
    *_load("batch.most", "as many batches of 1,000 as are taken"),
]
STORED = [
    *_load("ten.batch", "a million reports to ten questions, in batches of 1,000"),
    *_looks("ten.dashboard", "dashboard beside 1,000 reports a second"),
    Row("ten.start", "start with a million stored reports", "seconds", "s"),
    *_looks("ten.dashboard after a restart", "dashboard after a restart"),
    Row("memory.single", "peak of memory, single reports", "megabytes", "MB", at_most=MEMORY),
    Row("memory.batch", "peak of memory, batches", "megabytes", "MB", at_most=MEMORY),
    Row("memory.stored", "peak of memory, a million reports to ten questions", "megabytes", "MB", at_most=MEMORY),
    Row("ten.start", "peak of memory when it starts with them", "megabytes", "MB", at_most=MEMORY),
    Row("memory.restart", "peak of memory after the restart, under load", "megabytes", "MB", at_most=MEMORY),
]
PAGE = [
    Row("page.weight", "all that a browser loads, as it is sent", "bytes", "bytes", at_most=60_000),
    Row("page.weight", "in so many requests", "files"),
    Row(
        "page.slow",
        "ready on a slow telephone (1.6 Mbit/s, 150 ms, processor / 4), median of 5",
        "p50",
        "ms",
        at_most=2000,
    ),
    Row("page.slowest", "ready on a very slow one (400 kbit/s, 400 ms, processor / 6), median of 5", "p50", "ms"),
    Row("page.draw", "1,000 options randomised, processor / 6, the first time", "first", "ms", at_most=5),
    Row("page.draw", "1,000 options randomised, processor / 6, the slowest of 50", "slowest", "ms", at_most=5),
]
SOAK = [
    *_load("soak.rate", "1,000 single reports a second, for minutes", 995, 100),
    Row("soak.memory", "minutes", "minutes"),
    Row("soak.memory", "memory after a tenth of the time", "start", "MB"),
    Row("soak.memory", "memory at the end", "end", "MB", at_most=MEMORY),
    Row("soak.memory", "growth of memory", "slope", "MB a minute"),
]
GRANIAN = [
    Row(row.task + ", granian", row.label, row.field, row.unit)
    for row in LOADS
    if row.field in ("per_second", "p50", "p99", "cpu")
]


def render(records: list[dict[str, Any]]) -> tuple[str, list[str]]:
    """The tables, and the labels of rows that were not met."""
    missed: list[str] = []
    parts = []
    for title, about, rows in (
        ("Reports", ABOUT, LOADS),
        ("A million reports", "", STORED),
        ("The answering page", "", PAGE),
        ("Soak", "", SOAK),
        ("On granian", COMPARED, GRANIAN),
    ):
        lines = [line for row in rows if (line := _line(row, records, missed))]
        if lines:
            parts.append(markdown(title, about, HEAD, lines).replace("\n\n\n\n", "\n\n"))
    return "\n".join(parts), missed


def _line(row: Row, records: list[dict[str, Any]], missed: list[str]) -> list[str] | None:
    """Of several measurements of one task, the worst."""
    found = [record for record in records if record["task"] == row.task and row.field in record]
    if not found:
        return None
    lower_is_worse = row.at_least is not None or row.field == "per_second"
    worst = (min if lower_is_worse else max)(found, key=lambda record: record[row.field])
    value = worst[row.field]
    met = None
    wanted = "-"
    if row.at_least is not None:
        met, wanted = value >= row.at_least, f"at least {number(row.at_least)}"
    if row.at_most is not None:
        met, wanted = value <= row.at_most, f"at most {number(row.at_most)}"
    if met is False:
        missed.append(row.label)
    measured = f"{number(value)} {row.unit}".strip()
    return [row.label, measured, wanted, verdict([met]), f"{worst['load']:.1f}", f"{worst['others']:.2f}"]
