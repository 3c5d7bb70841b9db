"""What an audit from samples found: one of three words, the bound, and what it could not have found."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from murmure.attacks.audits.bounds import POWER, Hits
from murmure.attacks.audits.problems import CallProblem
from murmure.core.errors import Phrase, Plural, shorten
from murmure.core.types import Certificate
from murmure.show.document import (
    Block,
    Curve,
    Curves,
    Document,
    Facts,
    Items,
    Number,
    Paragraph,
    Section,
    Shown,
    Table,
    paragraphs,
    sentences,
)

Verdict = Literal["violates", "consistent", "no statement"]
EXIT_STATUS = {"consistent": 0, "violates": 1, "no statement": 3}  # 2 is for commands that were typed wrongly


@dataclass(frozen=True)
class AuditRow:
    """What one event proved about one pair of values, in one direction."""

    pair: tuple[Any, Any]  # (x, x'): the event is likelier about x
    event: str  # in words
    level: float  # the part of alpha that was spent on it
    hits: Hits
    bound: float  # epsilon is at least this
    ratio_bound: float  # the same by ln((p_low - delta) / q_high)
    delta_bound: float  # where epsilon is as claimed, delta is at least this
    would_have_seen: float | None  # the smallest epsilon that this event would have shown; None: it shows none

    def to_dict(self) -> dict[str, Any]:
        return {
            "pair": [_plain(value) for value in self.pair],
            "event": str(self.event),
            "level": self.level,
            "hits": [self.hits.a, self.hits.b],
            "reports": [self.hits.m, self.hits.n],
            "bound": _finite(self.bound),
            "ratio_bound": _finite(self.ratio_bound),
            "delta_bound": self.delta_bound,
            "would_have_seen": _finite(self.would_have_seen),
        }


@dataclass(frozen=True)
class AuditLook:
    """All rows of one look, on fresh samples; `number` counts from the last look, which is 1."""

    number: int
    level: float
    held_out: int  # reports of each input, on average
    rows: tuple[AuditRow, ...]

    @property
    def best(self) -> AuditRow:
        """The largest bound, of events that could have contradicted the claim where there are such."""
        able = [row for row in self.rows if row.would_have_seen is not None]
        return max(able or self.rows, key=lambda row: row.bound)

    def to_dict(self) -> dict[str, Any]:
        rows = [row.to_dict() for row in self.rows]
        return {"look": self.number, "level": self.level, "held_out": self.held_out, "rows": rows}


@dataclass(frozen=True)
class AuditResult(Shown):
    """The verdict of an audit from samples alone. str(result) says it in full."""

    name: str  # what was audited
    verdict: Verdict
    claim: float  # the epsilon that was claimed
    delta: float
    bound: float | None  # epsilon is at least this, at level 1 - alpha; None: no statement
    pair: tuple[Any, Any] | None  # the two values that the event tells apart best
    direction: str | None  # which of them makes the event likelier, in words
    event: str | None  # in words
    would_have_seen: float | None  # the smallest epsilon above the claim that this event would have shown
    floor: float | None  # events rarer than this are not covered
    samples: int  # reports of each input that were drawn, on average
    held_out: int  # those of them that the bound rests on
    alpha: float
    looks: tuple[AuditLook, ...] = field(repr=False)
    problems: tuple[CallProblem, ...] = ()
    partial: bool = False  # something went wrong on the way: see problems
    reasons: tuple[str, ...] = ()  # why there is no statement
    notes: tuple[str, ...] = ()
    certificate: Certificate | None = field(default=None, repr=False)  # of the law, where there is one
    curve: tuple[tuple[float, float], ...] = field(default=(), repr=False)  # (q, p) along the ranking of the event

    @property
    def exit_status(self) -> int:
        """For CI: 0 consistent, 1 violates, 3 no statement."""
        return EXIT_STATUS[self.verdict]

    @property
    def row(self) -> AuditRow | None:
        """The row that the verdict rests on."""
        return self.looks[-1].best if self.looks and self.verdict != "no statement" else None

    @property
    def delta_bound(self) -> float | None:
        """Where epsilon is as claimed, delta is at least this; None: no statement."""
        return None if self.row is None else self.row.delta_bound

    def sentence(self) -> str:
        """The verdict in its words."""
        if self.verdict == "violates":
            return Phrase("violates")
        if self.verdict == "consistent":
            return Phrase("consistent; would have seen eps >= {seen:.4g}", seen=self.would_have_seen)
        return Phrase("no statement")

    # -- for people

    def document(self) -> Document:
        facts: list[tuple[str, Any]] = [
            (Phrase("verdict"), self.sentence()),
            (Phrase("claimed epsilon"), _number(self.claim)),
        ]
        if self.delta:
            facts.append((Phrase("claimed delta"), Number(self.delta, "small")))
        row = self.row
        if row is not None:
            facts += [
                (Phrase("epsilon is at least"), _number(self.bound)),
                (Phrase("pair of values"), self.direction),
                (Phrase("event"), self.event),
                (Phrase("how often"), _how_often(row.hits)),
            ]
        if self.floor is not None:
            facts.append((Phrase("events rarer than this are not covered"), _number(self.floor)))
        facts += [
            (Phrase("reports of each value"), Number(self.samples)),
            (Phrase("of them held out"), Number(self.held_out)),
            (Phrase("chance of a false alarm, at most"), Number(self.alpha, "share")),
        ]
        blocks: list[Block] = [Facts(tuple(facts))]
        blocks += paragraphs(self.reasons, "warning")
        if self.partial:
            blocks += paragraphs([Phrase("The result is partial: something went wrong on the way.")], "warning")
        if self.problems:
            blocks.append(
                Section(Phrase("What went wrong"), (Items(tuple(problem.text for problem in self.problems)),))
            )
        if self.certificate is not None and row is not None:
            blocks.append(self._beside_certificate())
        if row is not None:
            blocks += self._pictures() if len(self.looks) > 1 else [self._look_table(), *self._pictures()]
            if len(self.looks[-1].rows) > 2:
                blocks.append(self._row_table())
        blocks += paragraphs([*self._remarks(), *self.notes], "note")
        return Document(
            Phrase("Audit of {name}: {verdict}", name=self.name, verdict=self.sentence()), tuple(blocks), "Audit"
        )

    def _beside_certificate(self) -> Table:
        assert self.certificate is not None
        head = ("", Phrase("shown by samples"), Phrase("certificate of the law"), Phrase("claimed"))
        row = (Phrase("epsilon"), _number(self.bound), _number(self.certificate.epsilon), _number(self.claim))
        return Table(Phrase("Audit, certificate, claim"), head, (row,))

    def _pictures(self) -> list[Curves]:
        """The bound at each look, if there were several; and how well the reports tell the two values apart."""
        x = tuple(float(look.held_out) for look in self.looks)
        bound = Curves(
            Phrase("The bound at each look"),
            (
                Curve(Phrase("epsilon is at least"), x, tuple(_or_zero(look.best.bound) for look in self.looks)),
                Curve(Phrase("claimed"), x, (self.claim,) * len(x)),
            ),
            Phrase("held-out reports of each value"),
            "epsilon",
            table=self._look_table(),
            log_x=len(x) > 1,  # each look has twice as many
        )
        return [*([bound] if len(x) > 1 else []), *([self._trade_off()] if len(self.curve) > 2 else [])]

    def _look_table(self) -> Table:
        rows = tuple(
            (Number(look.held_out), _number(look.best.bound), _number(look.best.would_have_seen), _number(look.level))
            for look in self.looks
        )
        head = (
            Phrase("held-out reports of each value"),
            Phrase("epsilon is at least"),
            Phrase("would have seen"),
            Phrase("level"),
        )
        return Table("", head, rows)

    def _trade_off(self) -> Curves:
        """How often the event's ranking hits about x and about x'; what the claim allows at most."""
        q, p = (tuple(column) for column in zip(*self.curve, strict=True))
        grid = tuple(i / 50 for i in range(51))
        grown = math.exp(min(self.claim, 700.0))
        allowed = tuple(max(0.0, min(1.0, grown * at + self.delta, 1 - (1 - self.delta - at) / grown)) for at in grid)
        return Curves(
            Phrase("How well the reports tell the two values apart"),
            (Curve(Phrase("measured"), q, p), Curve(Phrase("the claim allows"), grid, allowed)),
            Phrase("hits about the other value"),
            Phrase("hits about the value"),
            diagonal=True,
        )

    def _row_table(self) -> Table:
        head = (
            Phrase("pair"),
            Phrase("epsilon is at least"),
            Phrase("would have seen"),
            Phrase("level"),
            Phrase("event"),
        )
        rows = tuple(
            (_against(row.pair), _number(row.bound), _number(row.would_have_seen), _number(row.level), row.event)
            for row in self.looks[-1].rows
        )
        return Table(Phrase("All pairs, in both directions"), head, rows, folded=True)

    def _remarks(self) -> list[str]:
        out: list[str] = []
        if self.verdict != "no statement":
            out.append(
                Phrase(
                    "Would have seen: the smallest epsilon above the claim that this event, which was chosen on other "
                    "samples, would have shown with probability {power:.0%}. It says nothing about other events.",
                    power=POWER,
                )
            )
        if self.verdict != "no statement":
            out.append(
                Plural(
                    "There was {n} look. It got {share:.1%} of alpha: half of that went to the pair and direction that "
                    "looked worst on earlier samples, the rest evenly to the others.",
                    "There were {n} looks. Look i from the end gets alpha / (i (i + 1)): half of that goes to the pair "
                    "and direction that looked worst on earlier samples, the rest evenly to the others.",
                    n=len(self.looks),
                    share=self.looks[0].level / self.alpha,
                )
            )
        return out

    def plot(self, target: Any = None) -> Any:
        """Its picture on an axis, in a file, or in a new figure."""
        from murmure.core.plotting import pyplot
        from murmure.show.plot import draw

        pictures: list[Any] = self._pictures() if self.row is not None else []
        if not pictures:  # in words, rather than empty axes
            words = Phrase("{verdict}: there is nothing to draw.", verdict=self.sentence())
            pictures = [Paragraph(sentences(words, *self.reasons))]
        return draw(pyplot(), pictures[-1], target, title=Phrase("Audit of {name}", name=self.name))

    # -- for machines

    def to_dict(self) -> dict[str, Any]:
        """For machines, in English."""
        return {
            "type": "Audit",
            "name": str(self.name),
            "verdict": self.verdict,
            "sentence": str(self.sentence()),
            "exit_status": self.exit_status,
            "claim": self.claim,
            "delta": self.delta,
            "bound": _finite(self.bound),
            "delta_bound": self.delta_bound,
            "pair": None if self.pair is None else [_plain(value) for value in self.pair],
            "direction": None if self.direction is None else str(self.direction),
            "event": None if self.event is None else str(self.event),
            "would_have_seen": _finite(self.would_have_seen),
            "floor": self.floor,
            "samples": self.samples,
            "held_out": self.held_out,
            "alpha": self.alpha,
            "partial": self.partial,
            "reasons": [str(reason) for reason in self.reasons],
            "problems": [problem.to_dict() for problem in self.problems],
            "certificate": None if self.certificate is None else _finite(self.certificate.epsilon),
            "looks": [look.to_dict() for look in self.looks],
            "notes": [str(note) for note in self.notes],
        }

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    def __repr__(self) -> str:
        return f"AuditResult({str(self.name)!r}, {str(self.sentence())!r}, bound={self.bound!r}, claim={self.claim!r})"


def direction_words(pair: tuple[Any, Any]) -> str:
    return Phrase("likelier about {x} than about {other}", x=value_words(pair[0]), other=value_words(pair[1]))


def _against(pair: tuple[Any, Any]) -> str:
    return Phrase("{x} against {other}", x=value_words(pair[0]), other=value_words(pair[1]))


def value_words(value: Any) -> str:
    """A value of a pair: a row as its cells, a table as its length."""
    if isinstance(value, Mapping):
        lengths = {len(cells) for cells in value.values() if isinstance(cells, list | tuple)}
        if len(lengths) == 1 and len(value) and all(isinstance(cells, list | tuple) for cells in value.values()):
            return Plural("a table of {n} row", "a table of {n} rows", n=lengths.pop())
        return shorten(", ".join(f"{name}={cell}" for name, cell in value.items()), 80)
    if isinstance(value, list) and len(value) > 8:
        return Plural("a table of {n} row", "a table of {n} rows", n=len(value))
    return shorten(value)


def _how_often(hits: Hits) -> str:
    return Phrase(
        "{a:,} of {m:,} reports ({p:.4%}) against {b:,} of {n:,} ({q:.4%})",
        a=hits.a,
        m=hits.m,
        p=hits.a / max(1, hits.m),
        b=hits.b,
        n=hits.n,
        q=hits.b / max(1, hits.n),
    )


def _number(value: float | None) -> Any:
    if value is None:
        return None
    return Phrase("infinite") if math.isinf(value) else Number(value, "plain")


def _or_zero(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def _finite(value: float | None) -> Any:
    return "inf" if value is not None and math.isinf(value) else value


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value_words(value))
