"""What went wrong while a randomiser was sampled, item by item: it is told, and the run goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from murmure.core.errors import Phrase, shorten

MAX_TOLD = 20  # items that are listed; further ones are counted
KINDS = {  # in words; the keys are for machines
    "crashed": Phrase("crashed"),
    "timed out": Phrase("too slow"),
    "printed": Phrase("printed"),
    "type changed": Phrase("changed type"),
    "deterministic": Phrase("always the same"),
    "repeats": Phrase("repeated"),
    "depends": Phrase("not independent"),
    "stopped": Phrase("stopped"),
    "opaque": Phrase("cannot be looked into"),
    "not looked at": Phrase("not looked at"),
}
FAILURES = ("crashed", "timed out")  # of single calls: they gave no report


@dataclass(frozen=True)
class CallProblem:
    """One thing that went wrong."""

    kind: str  # one of KINDS
    text: str  # for people
    item: int | None = None  # the number of the call, from 0, where it was one
    value: Any = None  # what the call was about

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "item": self.item, "value": shorten(self.value), "text": str(self.text)}


@dataclass
class Problems:
    """Collected over a run; the same kind is listed up to MAX_TOLD times."""

    told: list[CallProblem] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    reports: int = 0  # that came, of sources whose calls may fail

    @property
    def nothing_came(self) -> CallProblem | None:
        """Where every call failed: the first one that did."""
        if self.reports:
            return None
        return next((problem for problem in self.told if problem.kind in FAILURES), None)

    def add(self, kind: str, text: str, item: int | None = None, value: Any = None) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= MAX_TOLD:
            self.told.append(CallProblem(kind, text, item, value))

    def listed(self) -> tuple[CallProblem, ...]:
        """All of them, and how many more there were."""
        more = [
            CallProblem(kind, Phrase("and {n:,} more ({kind})", n=count - MAX_TOLD, kind=KINDS[kind]))
            for kind, count in self.counts.items()
            if count > MAX_TOLD
        ]
        return (*self.told, *more)

    def has(self, *kinds: str) -> bool:
        return any(self.counts.get(kind) for kind in kinds)


def crashed(item: int, value: Any, error: BaseException) -> Phrase:
    return Phrase(
        "call {item:,}, about {value}: it raised {kind}: {error}",
        item=item,
        value=shorten(value),
        kind=type(error).__name__,
        error=shorten(message_of(error), 120),
    )


def ended(item: int, value: Any, status: int, complained: bytes) -> Phrase:
    """A process that wrote no line for a value; with the last line of what it complained about."""
    last = complained.decode("utf-8", "backslashreplace").strip().splitlines()[-1:]
    fields = {"item": item, "value": shorten(value), "status": status}
    if not last:
        return Phrase("line {item:,}, about {value}: the process ended with status {status}", **fields)
    return Phrase(
        "line {item:,}, about {value}: the process ended with status {status}: {message}",
        message=shorten(last[0], 120),
        **fields,
    )


def message_of(error: BaseException) -> str:
    """The text of an error; an error may fail to say it."""
    try:
        return str(error)
    except Exception:
        return ""


def timed_out(item: int, value: Any, seconds: float) -> Phrase:
    return Phrase(
        "call {item:,}, about {value}: no report within {seconds:g} s", item=item, value=shorten(value), seconds=seconds
    )
