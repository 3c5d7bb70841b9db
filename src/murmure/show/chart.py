"""The geometry of pictures: what an axis shows, where its ticks are, and where marks go, in per cent of the width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from murmure.show.document import Curve, Curves, Intervals
from murmure.show.language import Language

FAR_WIDER = 8.0  # times the width of a narrow interval: one that says nothing must not crush those that do
LETTER_WIDTH, GAP = 7.5, 4.0  # pixels of a label
UPRIGHT = 10.0  # per cent of the height of curves that a label takes on a telephone
MAX_NUMBERED = 12  # places of curves that are whole numbers, each with its tick
TABLE_WIDTH, PHONE_WIDTH = 600, 280  # pixels: the narrowest table with its picture in a column, the narrowest screen


def window(ends: Iterable[tuple[float, float]]) -> tuple[float, float] | None:
    """What a picture of these intervals should show; None: all of it. Bars that are far wider than others are cut."""
    bars = np.array(list(ends), float).reshape(-1, 2)
    widths = bars[:, 1] - bars[:, 0]
    narrow = bars[widths <= FAR_WIDER * np.quantile(widths, 0.25, method="lower")] if len(bars) else bars
    if not 0 < len(narrow) < len(bars):
        return None
    low, high = float(narrow[:, 0].min()), float(narrow[:, 1].max())
    return (low, high) if high > low and 3 * (high - low) < bars[:, 1].max() - bars[:, 0].min() else None


def padded(shown: tuple[float, float] | None) -> tuple[float, float] | None:
    """Half of the width added on both sides."""
    return None if shown is None else (1.5 * shown[0] - 0.5 * shown[1], 1.5 * shown[1] - 0.5 * shown[0])


def round_steps(high: float, most: int = 5) -> list[float]:
    """0, step, 2 steps ... up to `high` or just above it, in at most `most` steps of a round size."""
    high = max(high, 1e-300)
    power = 10.0 ** math.floor(math.log10(high))
    step = next(s * power for s in (0.2, 0.5, 1.0, 2.0, 5.0, 10.0) if high / (s * power) <= most)
    return [i * step for i in range(math.ceil(high / step - 1e-9) + 1)]


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between the two."""
    steps = round_steps(high - low, most)
    step = steps[1] - steps[0] if len(steps) > 1 else 1.0
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Tick:
    at: float  # per cent of the picture
    text: str
    anchor: str


@dataclass(frozen=True)
class Scale:
    """The width of a picture: from low to high, with ticks in between."""

    low: float
    high: float
    ticks: tuple[float, ...]
    percent: bool = False
    log: bool = False  # low, high and ticks are powers of ten, given by their exponents
    names: Sequence[str] | None = None  # what whole numbers stand for

    def at(self, value: float) -> float:
        """In per cent of the picture; a value outside is put at the edge."""
        return round(100 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0), 2)

    def labels(self, language: Language, width: float = PHONE_WIDTH, upright: bool = False) -> list[Tick]:
        """Labels; those at an end stay inside the picture, the last one has the unit, and none touches another.

        upright: one above the other. Where there is no room for all, every second one stays, or every third.
        """
        step = min((b - a for a, b in pairwise(self.ticks)), default=1.0)
        digits = max(0, -math.floor(math.log10(step * (100 if self.percent else 1)) + 1e-9))
        letter, gap, out = 100 * LETTER_WIDTH / width, 100 * GAP / width, []
        for tick in self.ticks:
            at, last = self.at(tick), tick == self.ticks[-1]
            text = language.number(100 * tick if self.percent else tick, min(digits, 6))
            if self.names is not None:
                text = self.names[round(tick)]
            if self.log:
                text = language.small(10.0**tick) if abs(tick) > 3 else language.plain(10.0**tick)
            elif not self.percent and abs(tick) >= 1e6:
                text = language.plain(tick)
            text += language.marks("%") if last and self.percent else ""
            anchor = "end" if at > 90 else "start" if at < 4 and not self.percent else "middle"
            size = UPRIGHT if upright else letter * len(text)
            left = at - size * {"end": 1.0, "middle": 0.5, "start": 0.0}[anchor]
            out.append((left, left + size, Tick(at, text, anchor)))
        strides = (out[::-1][::every][::-1] for every in range(1, len(out) + 1))  # from the last one, for its unit
        kept = next(some for some in strides if all(a[1] + gap <= b[0] for a, b in pairwise(some))) if out else []
        return [label for _, _, label in kept]


def scale_of(figures: Intervals) -> Scale:
    """What the picture of these figures shows."""
    rows = figures.rows
    known = [v for r in rows for v in (r.estimate, r.low, r.high, r.truth) if v is not None and math.isfinite(v)] or [
        0.0
    ]
    low, high = min(known), max(known)
    if figures.unit == "share":
        ticks = round_steps(max(high, 0.001))
        if 0.8 < high <= 1:
            ticks = [0.0, 0.25, 0.5, 0.75, 1.0]  # "100 %" needs room
        return Scale(min(low, 0.0), max(ticks[-1], high), tuple(ticks), percent=True)
    if figures.unit == "count" and len(rows) > 1:
        ticks = [t for t in round_steps(max(high, 1.0)) if t == round(t)] or [0.0, max(high, 1.0)]
        return Scale(min(low, 0.0), max(high, ticks[-1]), tuple(ticks))
    if figures.bounds is not None:
        low, high = min(low, figures.bounds[0]), max(high, figures.bounds[1])
        return Scale(low, high, (low, 0.0, high) if figures.zero else (low, high), names=figures.names)
    ends = [(r.estimate if r.low is None else r.low, r.estimate if r.high is None else r.high) for r in rows]
    low, high = window([e for e in ends if all(map(math.isfinite, e))]) or (low, high)
    if figures.zero:
        low, high = min(low, 0.0), max(high, 0.0)
    pad = (0.06 if figures.zero else 0.5) * (high - low) or abs(high) or 1.0
    low, high = low - pad, high + pad
    if figures.names is not None:
        low, high = max(low, 0.0), min(high, len(figures.names) - 1.0)
        ticks = [t for t in nice_ticks(low, high) if t == round(t)] or [float(math.floor(low)), float(math.ceil(high))]
        return Scale(low, high, tuple(ticks), names=figures.names)
    return Scale(low, high, tuple(nice_ticks(low, high)) or (low, high))


@dataclass(frozen=True)
class Mark:
    """A row of a picture: the bar from low to high, the estimate, the truth, and whether the bar goes on beyond."""

    low: float
    high: float
    estimate: float | None
    truth: float | None
    beyond: tuple[bool, bool]


def marks_of(figures: Intervals, scale: Scale) -> list[Mark]:
    out = []
    for row in figures.rows:
        low = row.estimate if row.low is None else row.low
        high = row.estimate if row.high is None else row.high
        known = math.isfinite(row.estimate)
        left, right = (scale.at(low), scale.at(high)) if math.isfinite(low) and math.isfinite(high) else (0.0, 0.0)
        out.append(
            Mark(
                left,
                right,
                scale.at(row.estimate) if known else None,
                None if row.truth is None else scale.at(row.truth),
                (low < scale.low, high > scale.high),
            )
        )
    return out


# -- curves -----------------------------------------------------------------------------------------------------------

WIDTH, HEIGHT = 640, 330  # of a picture of curves, in its own units
LEFT, TOP, RIGHT, BOTTOM = 84, 44, 20, 60  # room for the letters of a telephone, which are large in these units
LETTERS_WIDTH = 340  # pixels of a telephone, on which labels must not touch


@dataclass(frozen=True)
class Plane:
    """Where the points of curves go."""

    x: Scale
    y: Scale

    def point(self, x: float, y: float) -> tuple[float, float]:
        x = math.log10(max(x, 1e-300)) if self.x.log else x
        y = math.log10(max(y, 1e-300)) if self.y.log else y
        across = LEFT + self.x.at(x) / 100 * (WIDTH - LEFT - RIGHT)
        return round(across, 1), round(HEIGHT - BOTTOM - self.y.at(y) / 100 * (HEIGHT - TOP - BOTTOM), 1)

    def path(self, curve: Curve) -> str:
        return "M" + "L".join(f"{x},{y}" for x, y in (self.point(*p) for p in corners(curve.x, curve.y, curve.step)))

    def band(self, curve: Curve) -> str:
        if curve.low is None or curve.high is None:
            return ""
        there = corners(curve.x, curve.high, curve.step)
        back = corners(curve.x, curve.low, curve.step)[::-1]
        return "M" + "L".join(f"{x},{y}" for x, y in (self.point(*p) for p in [*there, *back])) + "Z"


def corners(x: Sequence[float], y: Sequence[float], step: bool) -> list[tuple[float, float]]:
    """The points of a line; a step holds its value until the next one."""
    points = list(zip(x, y, strict=True))
    if not step:
        return points
    out = points[:1]
    for (_, before), (at, now) in pairwise(points):
        out += [(at, before), (at, now)]
    return out


def plane_of(curves: Curves) -> Plane:
    xs = [v for c in curves.curves for v in c.x]
    ys = [v for c in curves.curves for side in (c.y, c.low or (), c.high or ()) for v in side]
    x, y = ((min(v, default=0.0), max(v, default=1.0)) for v in (xs, ys))
    places = numbered(curves)
    across = Scale(places[0], places[-1], places) if len(places) > 1 else _scale(*x)
    if curves.log_x:
        across = _between_powers(*x)
    if curves.log:
        return Plane(across, _log_scale(min((v for v in ys if v > 0), default=y[1]), y[1]))
    return Plane(across, _scale(0.0, y[1]) if y[0] >= 0 and curves.from_zero else _wider(_scale(*y)))


def numbered(curves: Curves) -> tuple[float, ...]:
    """The places of curves if they are a few whole numbers, of numbered things: no ticks between them. Else none."""
    places = () if curves.log_x else tuple(sorted({x for curve in curves.curves for x in curve.x}))
    return places if len(places) <= MAX_NUMBERED and all(x == round(x) for x in places) else ()


def _scale(low: float, high: float) -> Scale:
    high = high if high > low else low + 1.0
    return Scale(low, high, tuple(nice_ticks(low, high)) or (low, high))


def _wider(scale: Scale) -> Scale:
    """From a tick to a tick, so that a line below zero does not run along the edge."""
    if len(scale.ticks) < 2:
        return scale
    step = scale.ticks[1] - scale.ticks[0]
    first, last = math.floor(scale.low / step + 1e-9), math.ceil(scale.high / step - 1e-9)
    return Scale(first * step, last * step, tuple(i * step for i in range(first, last + 1)))


def _log_scale(low: float, high: float) -> Scale:
    """Whole powers of ten around the two."""
    bottom, top = math.floor(math.log10(low)), math.ceil(math.log10(high))
    top = max(top, bottom + 1)
    return Scale(bottom, top, tuple(map(float, range(bottom, top + 1))), log=True)


def _between_powers(low: float, high: float) -> Scale:
    """From one to the other, with a tick at each power of ten in between."""
    first, last = math.log10(low), math.log10(high)
    ticks = range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)
    return Scale(first, last, tuple(map(float, ticks)), log=True)
