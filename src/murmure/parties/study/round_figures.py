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
from murmure.parties.study.costs import ProtectedUnit
from murmure.parties.study.earlier_protocol import as_it_ran
from murmure.show.document import Unit
from murmure.show.phrase import Phrase, Quoted, visible

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
    protects: ProtectedUnit
    grids: Mapping[str, Fraction] = field(default_factory=dict)  # for columns of real numbers, the step of rounding
    unit: Unit = "value"
    problem: str | None = None  # why the sums are shown as they are

    def notes(self) -> list[Phrase]:
        """What a reader needs to know about the figures."""
        out = [
            Phrase(
                "{column} was rounded to steps of {step} before it was added up: the sum is that of rounded numbers.",
                column=Quoted(name),
                step=exact_text(step),
            )
            for name, step in self.grids.items()
        ]
        if any(row.low for row in self.rows):
            out.append(
                Phrase(
                    "Each interval by itself contains the figure without noise in {level:.0%} of all cases.", level=0.95
                )
            )
        if not self.exact and self.people is None:
            out.append(Phrase("The noise hides how many rows there are."))
        return out

    def promise(self) -> Phrase:
        """What is promised to the reader of the figures."""
        certificate = self.guarantees["reader"]
        if math.isinf(certificate.epsilon):
            return Phrase("The totals are exact: no differential privacy hides what one row adds.")
        fields = {"epsilon": certificate.epsilon, "protects": self.protects.in_words()}
        if certificate.delta:
            return Phrase(
                "Differential privacy: epsilon = {epsilon:.10g}, delta = {delta:g} (protects {protects}).",
                delta=certificate.delta,
                **fields,
            )
        return Phrase("Differential privacy: epsilon = {epsilon:.10g} (protects {protects}).", **fields)

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
    exact, grids, protects = plan.curator is None and plan.person is None, _grids(plan), ProtectedUnit.of(plan)
    try:
        release = plan.settle(plan.decode_total(sums)) if plan.curator is None else plan.release_answer(sums)
    except MurmureError as error:  # such as a mean of no rows: the sums are shown as they are
        rows = [Figure(f"sum {i}", str(v)) for i, v in enumerate(sums, 1)]
        about = visible(str(error).splitlines()[0])
        return RoundFigures(about, tuple(rows), exact, None, plan.guarantees(), protects, grids, problem=error.message)
    estimate = release.estimate
    rows = []
    parts = estimate.items() if isinstance(estimate, Mapping) else [("", estimate)]
    units = set()
    for name, part in parts:
        part_rows = part.to_rows()
        rows += [_figure(row, str(name), exact) for row in part_rows]
        units |= {_unit(row) for row in part_rows}
    unit: Any = units.pop() if len(units) == 1 and units <= {"share", "count"} else "value"
    return RoundFigures(
        visible(release.about), tuple(rows), exact, estimate.n, release.guarantees, protects, grids, unit
    )


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
    value = exact_text(Fraction(row["exact"])) if exact and "exact" in row else _plain(row[_unit(row)])
    label = visible(f"{part}: {row['label']}" if part else str(row["label"]))
    if exact:
        return Figure(label, value)
    return Figure(label, value, _plain(row.get("low")), _plain(row.get("high")))


def _unit(row: Mapping[str, Any]) -> str:
    """What the figure is: a share, a count, a value."""
    return next(key for key in row if key not in ("label", "low", "high", "sd", "exact"))


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
