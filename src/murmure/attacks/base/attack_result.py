"""What an attack found, for people and for machines: who attacks, how well, against which baseline."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from murmure.attacks.base.pictures import Line, in_pictures, label_of, with_setting
from murmure.attacks.base.success import LEVEL, Success
from murmure.attacks.base.threat_model import ThreatModel
from murmure.core.errors import Phrase
from murmure.show.document import (
    Block,
    Curve,
    Curves,
    Document,
    IntervalRow,
    Intervals,
    Number,
    Shown,
    Table,
    paragraphs,
)

SPAN = 50.0  # times the smallest figure: from here on an axis is in powers of ten


@dataclass(frozen=True)
class AttackResult(Shown):
    """Rows of figures, one for each attacker and setting, with the threat model that they are about."""

    name: str  # as the command calls it: "bayes"
    title: str
    threat: ThreatModel
    measure: str  # what a figure is: "share of people whose answer is guessed"
    rows: tuple[Success, ...]
    axis: str | None = None  # what `at` is: "epsilon"; None: rows have no order
    unit: Literal["share", "points", "value"] = "share"  # points: differences of shares, shown as percentage points
    notes: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()  # further tables and pictures
    details: Mapping[str, Any] = field(default_factory=dict)  # further figures, for JSON
    baseline: str = Phrase("without the reports")  # what a figure is compared with

    exit_status = 0  # of its command: an attack judges nobody, whatever it finds

    def document(self) -> Document:
        """What it shows, which text, pages, plots and LaTeX are rendered from."""
        return Document(
            self.title,
            (self.threat.facts(), *self._figures(), *self.blocks, *paragraphs(self.notes, "note")),
            "Attack",
        )

    def plot(self, target: Any = None) -> Any:
        """Its pictures in a file or in a new figure; on an axis, the first of them."""
        from murmure.core.plotting import pyplot
        from murmure.show.plot import draw, draw_all, is_path

        pictures = self._curves() if self._is_curve else [self._intervals()]
        if len(pictures) > 1 and (target is None or is_path(target)):
            return draw_all(pyplot(), pictures, target, title=self.title)
        return draw(pyplot(), pictures[0], target, title=self.title)

    def to_dict(self) -> dict[str, Any]:
        """For machines, in English."""
        return {
            "type": "Attack",
            "attack": self.name,
            "title": str(self.title),
            "threat": self.threat.to_dict(),
            "measure": str(self.measure),
            "axis": None if self.axis is None else str(self.axis),
            "level": LEVEL,
            "rows": [row.to_dict() for row in self.rows],
            "notes": [str(note) for note in self.notes],
            **self.details,
        }

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    # -- figures

    @property
    def _lines(self) -> list[list[Success]]:
        """Rows of the same attacker and setting, in order: the lines of a picture."""
        lines: dict[str, list[Success]] = {}
        for row in self.rows:
            lines.setdefault(str(label_of(row)), []).append(row)
        return list(lines.values())

    @property
    def _is_curve(self) -> bool:
        return self.axis is not None and any(len(line) > 1 for line in self._lines)

    @property
    def _times(self) -> float:
        return 100.0 if self.unit == "points" else 1.0

    def _figures(self) -> tuple[Block, ...]:
        if not self._is_curve:
            return (self._intervals(), self._table())
        *first, last = self._curves()
        return (*first, replace(last, table=self._table()))

    def _intervals(self) -> Intervals:
        def shown(value: float | None) -> float | None:
            return None if value is None else self._times * value

        rows = tuple(
            IntervalRow(label_of(row), self._times * row.value, shown(row.low), shown(row.high), shown(row.baseline))
            for row in self.rows
        )
        chance = Phrase("what the attacker reaches {baseline}", baseline=self.baseline)
        return Intervals(
            self.measure,
            rows,
            unit="share" if self.unit == "share" else "value",
            level=LEVEL,
            truth=chance,
            mark=self.baseline,
            picture=True,
            axis=self.measure,
        )

    def _curves(self) -> list[Curves]:
        """One picture, or several with few lines each."""
        shown = [row for row in self.rows if row.at is not None and math.isfinite(row.value)]
        log, log_x = _spans_powers([row.value for row in shown]), _spans_powers([row.at or 0.0 for row in shown])
        return [
            Curves(
                picture.title,
                tuple(self._curves_of(picture.lines, picture.shared)),
                self.axis or "",
                self.measure,
                log=log,
                log_x=log_x,
            )
            for picture in in_pictures(self._lines, self.measure, lambda lines: len(self._curves_of(lines)))
        ]

    def _curves_of(self, lines: Sequence[Line], shared: str | None = None) -> list[Curve]:
        """A curve for each line, and those of the baseline."""
        curves = []
        for line in lines:
            ordered = sorted(
                (r for r in line if r.at is not None and math.isfinite(r.value)), key=lambda r: r.at or 0.0
            )
            if not ordered:
                continue
            x = tuple(float(row.at or 0.0) for row in ordered)
            y, low, high = (tuple(self._times * _or(row, name) for row in ordered) for name in ("value", "low", "high"))
            band = any(row.low is not None for row in ordered)
            curves.append(
                Curve(label_of(ordered[0], shared), x, y, low=low if band else None, high=high if band else None)
            )
        return curves + self._chance(lines)

    def _chance(self, lines: Sequence[Line]) -> list[Curve]:
        """What is reached without the reports: one line, or one for each setting that it depends on."""
        shared: dict[tuple[tuple[float, float], ...], dict[str, Any]] = {}
        for line in lines:
            points = tuple(sorted((float(row.at), self._times * row.baseline) for row in line if row.at is not None))
            setting = dict(line[0].setting)
            if points in shared:  # what all lines with this baseline have in common
                setting = {name: value for name, value in shared[points].items() if setting.get(name) == value}
            shared[points] = setting
        out = []
        for points, setting in shared.items():
            label = self.baseline
            if len(shared) > 1 and setting:
                label = with_setting(label, setting)
            out.append(Curve(label, tuple(x for x, _ in points), tuple(y for _, y in points)))
        return out

    def _table(self) -> Table:
        style: Any = {"share": "share", "points": "fixed", "value": "plain"}[self.unit]

        def shown(value: float | None) -> Any:
            return None if value is None or math.isnan(value) else Number(self._times * value, style, 2)

        head = [Phrase("attacker"), *([self.axis] if self.axis else []), self.measure]
        head += [Phrase("low"), Phrase("high"), self.baseline]
        rows = tuple(
            (
                label_of(row),
                *([] if not self.axis else [None if row.at is None else Number(row.at, "plain")]),
                shown(row.value),
                shown(row.low),
                shown(row.high),
                shown(row.baseline),
            )
            for row in self.rows
        )
        return Table("", tuple(head), rows)


def _spans_powers(values: Sequence[float]) -> bool:
    """Whether a linear axis would crush what is small."""
    return bool(values) and min(values) > 0 and max(values) >= SPAN * min(values)


def _or(row: Success, name: str) -> float:
    value = getattr(row, name)
    return float(row.value if value is None else value)
