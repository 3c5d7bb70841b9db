"""The sums of a round as labelled figures; exact where no noise was added."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.core.domain import Decimals, Interval
from murmure.core.errors import MurmureError
from murmure.core.schema import Schema
from murmure.core.types import Release
from murmure.parties.study.earlier_protocol import as_it_ran
from murmure.parties.study.visible_text import visible

if TYPE_CHECKING:
    from murmure.plan.plan import Plan

MAX_DECIMALS = 12  # a longer decimal is shown as a fraction; status.json keeps the integers


@dataclass(frozen=True)
class Figure:
    """One figure as it is shown; low and high where there is noise."""

    label: str
    said: str
    low: str | None = None
    high: str | None = None


@dataclass(frozen=True)
class RoundFigures:
    """The figures of one round, with what they promise."""

    about: str
    rows: tuple[Figure, ...]
    exact: bool
    people: int | None  # rows; an estimate where there is noise, None where it is not known
    guarantees: Mapping[str, Any]
    grids: Mapping[str, Fraction] = field(default_factory=dict)  # for columns of real numbers, the step of rounding

    def notes(self) -> list[str]:
        """What a reader needs to know about the figures."""
        out = [
            f"{name} was rounded to steps of {exact_text(step)} before it was added up: the sum is that of "
            f"rounded numbers"
            for name, step in self.grids.items()
        ]
        if any(row.low for row in self.rows):
            out.append("the range of each figure, by itself, holds the sum without noise in 95 % of all cases")
        if not self.exact and self.people is None:
            out.append("how many rows there are is not told, since the noise hides it")
        return out

    def promise(self) -> str:
        """What is promised to the reader of the figures, in one line."""
        certificate = self.guarantees["reader"]
        if math.isinf(certificate.epsilon):
            return "exact totals: no differential privacy hides what one row adds"
        delta = f", delta = {certificate.delta:g}" if certificate.delta else ""
        protects = f"the {certificate.unit} of one person ({certificate.relation})"
        return f"differential privacy: epsilon = {certificate.epsilon:.10g}{delta} for {protects}"

    def promises(self) -> list[str]:
        """One certificate for all observers who share it; what is public to all of them appears once."""
        release = Release(None, self.guarantees, "", seeded=False)
        public = release.shared_public()
        out = [f"{names}: {certificate.to_text(public is None)}" for names, certificate in release.observers()]
        return out if public is None else [*out, f"public to all: {'; '.join(public)}"]

    def to_dict(self) -> dict[str, Any]:
        return {
            "about": self.about,
            "exact": self.exact,
            "people": self.people,
            "grids": {name: exact_text(step) for name, step in self.grids.items()},
            "figures": [{key: value for key, value in vars(row).items() if value is not None} for row in self.rows],
            "guarantees": {observer: c.to_dict() for observer, c in self.guarantees.items()},
        }


def figures_of(plan: Plan, sums: Sequence[int], earlier: bool = False) -> RoundFigures:
    """The sums of all parties, as the plan interprets them. earlier: they were added up under an earlier protocol."""
    figures = _figures_of(plan, sums)
    return replace(figures, guarantees=as_it_ran(figures.guarantees)) if earlier else figures


def _figures_of(plan: Plan, sums: Sequence[int]) -> RoundFigures:
    exact, grids = plan.curator is None and plan.person is None, _grids(plan)
    try:
        release = plan.settle(plan.decode_total(sums)) if plan.curator is None else plan.release_answer(sums)
    except MurmureError as error:  # such as a mean of no rows: the sums are shown as they are
        rows = [Figure(f"sum {i}", str(v)) for i, v in enumerate(sums, 1)]
        return RoundFigures(visible(str(error).splitlines()[0]), tuple(rows), exact, None, plan.guarantees(), grids)
    estimate = release.estimate
    rows = []
    parts = estimate.items() if isinstance(estimate, Mapping) else [("", estimate)]
    for name, part in parts:
        rows += [_figure(row, str(name), exact) for row in part.to_rows()]
    return RoundFigures(visible(release.about), tuple(rows), exact, estimate.n, release.guarantees, grids)


def _grids(plan: Plan) -> dict[str, Fraction]:
    domain = plan.statistic.domain
    columns = {name: domain[name] for name in domain.private} if isinstance(domain, Schema) else {domain.column: domain}
    return {
        str(name): column.step
        if isinstance(column, Decimals)
        else (Fraction(repr(column.high)) - Fraction(repr(column.low))) / column.cells
        for name, column in columns.items()
        if isinstance(column, Interval) or (isinstance(column, Decimals) and column.rounding == "nearest")
    }


def _figure(row: Mapping[str, Any], part: str, exact: bool) -> Figure:
    unit = next(key for key in row if key not in ("label", "low", "high", "sd", "exact"))
    value = exact_text(Fraction(row["exact"])) if exact and "exact" in row else _plain(row[unit])
    label = visible(f"{part}: {row['label']}" if part else str(row["label"]))
    if exact:
        return Figure(label, value)
    return Figure(label, value, _plain(row.get("low")), _plain(row.get("high")))


def exact_text(value: Fraction) -> str:
    """Whole numbers and finite decimals to the last digit; other fractions as a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    for digits in range(1, MAX_DECIMALS + 1):
        if 10**digits % value.denominator == 0:
            scaled = abs(value.numerator) * (10**digits // value.denominator)
            whole, rest = divmod(scaled, 10**digits)
            return f"{'-' if value < 0 else ''}{whole}.{rest:0{digits}d}"
    return f"{value.numerator}/{value.denominator}"


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value != value:
        return "too noisy"
    return f"{value:.10g}" if isinstance(value, float) else str(value)
