"""What the sums of a round say: figures with their labels; exact where nothing was added to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.core.errors import MurmureError

if TYPE_CHECKING:
    from murmure.plan import Plan

DECIMALS = 12  # a fraction with more decimals is rounded where it is shown; status.json keeps the integers


@dataclass(frozen=True)
class Figure:
    """One figure as it is shown; low and high where there is noise."""

    label: str
    said: str
    low: str | None = None
    high: str | None = None


@dataclass(frozen=True)
class Figures:
    """Of one round."""

    about: str
    rows: tuple[Figure, ...]
    exact: bool
    people: int | None  # rows; with noise, about so many, where that is known
    guarantees: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {
            "about": self.about,
            "exact": self.exact,
            "people": self.people,
            "figures": [{key: value for key, value in vars(row).items() if value is not None} for row in self.rows],
            "guarantees": {observer: c.to_dict() for observer, c in self.guarantees.items()},
        }


def figures_of(plan: Plan, sums: Sequence[int]) -> Figures:
    """The sums of all parties, as the plan reads them; with noise in them they are read as they stand."""
    exact = plan.curator is None and plan.person is None
    try:
        release = plan.settle(plan.total_of(sums)) if plan.curator is None else plan.released(sums)
    except MurmureError as error:  # such as a mean of no rows: what came out is shown as it is
        rows = [Figure(f"sum {i}", str(v)) for i, v in enumerate(sums, 1)]
        return Figures(str(error).splitlines()[0], tuple(rows), exact, None, plan.guarantees())
    held = release.estimate
    rows = []
    parts = held.items() if isinstance(held, Mapping) else [("", held)]
    for name, one in parts:
        rows += [_figure(row, str(name), exact) for row in one.to_rows()]
    return Figures(release.about, tuple(rows), exact, held.n, release.guarantees)


def _figure(row: Mapping[str, Any], part: str, exact: bool) -> Figure:
    unit = next(key for key in row if key not in ("label", "low", "high", "sd", "exact"))
    value = said(Fraction(row["exact"])) if exact and "exact" in row else _plain(row[unit])
    label = f"{part}: {row['label']}" if part else str(row["label"])
    if exact:
        return Figure(label, value)
    return Figure(label, value, _plain(row.get("low")), _plain(row.get("high")))


def said(value: Fraction) -> str:
    """Whole numbers and finite decimals to the last digit; other fractions as a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    for digits in range(1, DECIMALS + 1):
        if 10**digits % value.denominator == 0:
            scaled = abs(value.numerator) * (10**digits // value.denominator)
            whole, rest = divmod(scaled, 10**digits)
            return f"{'-' if value < 0 else ''}{whole}.{rest:0{digits}d}"
    return f"{value.numerator}/{value.denominator}"


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else str(value)
