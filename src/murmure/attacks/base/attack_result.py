"""What an attack found, for people and for machines: who attacks, how well, against which baseline."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

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
from murmure.show.phrase import Several


@dataclass(frozen=True)
class AttackResult(Shown):
    """Rows of figures, one for each attacker and setting, with the threat model that they are about."""

    name: str  # as the command calls it: "bayes"
    title: str
    threat: ThreatModel
    measure: str  # what a figure is: "share of people whose answer is guessed"
    rows: tuple[Success, ...]
    axis: str | None = None  # what `at` is: "epsilon"; None: rows have no order
    unit: Literal["share", "value"] = "share"
    notes: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()  # further tables and pictures
    details: Mapping[str, Any] = field(default_factory=dict)  # further figures, for JSON
    baseline: str = Phrase("without the reports")  # what a figure is compared with

    def document(self) -> Document:
        """What it shows, which text, pages, plots and LaTeX are rendered from."""
        return Document(
            self.title,
            (self.threat.facts(), *self._figures(), *self.blocks, *paragraphs(self.notes, "note")),
            "Attack",
        )

    def plot(self, target: Any = None) -> Any:
        """Its picture on an axis, in a file, or in a new figure."""
        from murmure.core.plotting import pyplot
        from murmure.show.plot import draw

        return draw(pyplot(), self._picture(), target, title=self.title)

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
    def _lines(self) -> dict[str, list[Success]]:
        """Rows of the same attacker and setting, in order: the lines of a picture."""
        lines: dict[str, list[Success]] = {}
        for row in self.rows:
            lines.setdefault(str(self._label(row)), []).append(row)
        return lines

    def _label(self, row: Success) -> str:
        if not row.setting:
            return row.attacker
        return Phrase("{attacker} ({settings})", attacker=row.attacker, settings=_words(row.setting))

    @property
    def _is_curve(self) -> bool:
        return self.axis is not None and any(len(line) > 1 for line in self._lines.values())

    def _figures(self) -> tuple[Block, ...]:
        if self._is_curve:
            return (self._picture(),)
        return (self._picture(), self._table())

    def _picture(self) -> Intervals | Curves:
        if self._is_curve:
            return self._curves()
        rows = tuple(IntervalRow(self._label(row), row.value, row.low, row.high, row.baseline) for row in self.rows)
        chance = Phrase("what the attacker reaches {baseline}", baseline=self.baseline)
        return Intervals(
            self.measure,
            rows,
            unit=self.unit,
            level=LEVEL,
            truth=chance,
            mark=self.baseline,
            picture=True,
            axis=self.measure,
        )

    def _curves(self) -> Curves:
        curves = []
        for line in self._lines.values():
            ordered = sorted((row for row in line if row.at is not None), key=lambda row: row.at or 0.0)
            x = tuple(float(row.at or 0.0) for row in ordered)
            y, low, high = (tuple(_or(row, name) for row in ordered) for name in ("value", "low", "high"))
            band = any(row.low is not None for row in ordered)
            curves.append(Curve(self._label(ordered[0]), x, y, low=low if band else None, high=high if band else None))
        curves += self._chance()
        return Curves(self.measure, tuple(curves), self.axis or "", self.measure, table=self._table())

    def _chance(self) -> list[Curve]:
        """What is reached without the reports: one line, or one for each setting that it depends on."""
        shared: dict[tuple[tuple[float, float], ...], dict[str, Any]] = {}
        for line in self._lines.values():
            points = tuple(sorted((float(row.at), row.baseline) for row in line if row.at is not None))
            setting = dict(line[0].setting)
            if points in shared:  # what all lines with this baseline have in common
                setting = {name: value for name, value in shared[points].items() if setting.get(name) == value}
            shared[points] = setting
        out = []
        for points, setting in shared.items():
            label = self.baseline
            if len(shared) > 1 and setting:
                label = Phrase("{attacker} ({settings})", attacker=label, settings=_words(setting))
            out.append(Curve(label, tuple(x for x, _ in points), tuple(y for _, y in points)))
        return out

    def _table(self) -> Table:
        style: Any = "share" if self.unit == "share" else "plain"

        def shown(value: float | None) -> Any:
            return None if value is None or math.isnan(value) else Number(value, style, 2)

        head = [Phrase("attacker"), *([self.axis] if self.axis else []), self.measure]
        head += [Phrase("low"), Phrase("high"), self.baseline]
        rows = tuple(
            (
                self._label(row),
                *([] if not self.axis else [None if row.at is None else Number(row.at, "plain")]),
                shown(row.value),
                shown(row.low),
                shown(row.high),
                shown(row.baseline),
            )
            for row in self.rows
        )
        return Table("", tuple(head), rows)


def _words(setting: Mapping[str, Any]) -> Several:
    """Words as they are; numbers with what they are: epsilon 2, top 5."""
    named = (
        Phrase("{name} {value:g}", name=name, value=value) if type(value) in (int, float) else value
        for name, value in setting.items()
    )
    return Several(named, Phrase(", "))


def _or(row: Success, name: str) -> float:
    value = getattr(row, name)
    return float(row.value if value is None else value)
