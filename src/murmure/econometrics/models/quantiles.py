"""Quantiles of a number, from counts on a public grid: one round.

What lies within a cell stays unknown, so every quantile says between which two points it is for certain; its interval
for the population is read off ranks (binomial, no law is assumed):

    P[X_(l) <= quantile <= X_(u)] >= 1 - alpha   with   P[Bin(N, q) < l] <= alpha/2,   P[Bin(N, q) >= u] <= alpha/2.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.algebra.tails import check_alpha
from murmure.econometrics.design.columns import decimal_text, exact_number, grid_cuts, widen_to_grid
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.example_tables import PEOPLE, PEOPLE_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example
from murmure.econometrics.models.ecdf import ECDF, NOISE_TOO
from murmure.econometrics.results.cumulative_counts import CumulativeCounts, CumulativeResult
from murmure.econometrics.results.regression import ENDS
from murmure.econometrics.results.result import Drawable, ModelResult, number_name
from murmure.show.document import Curves, IntervalRow, Intervals, Table, sentences
from murmure.statistics.estimates.cell_counts import CellCounts

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How


@dataclass(frozen=True)
class Quantiles(ECDF):
    """Quantiles of a column, each between two points of a public grid. shares: decimals between 0 and 1."""

    shares: tuple[str, ...] = ("0.25", "0.5", "0.75")

    owner: ClassVar[str] = "Quantiles"

    entry = ModelEntry(
        order=150,
        functions=(
            ModelFunction(
                "quantiles",
                CommandForm(
                    "Quantiles on a public grid.",
                    ("COLUMN",),
                    (OptionForm("shares", "Which quantiles.  [default: 0.25,0.5,0.75]", kind="numbers"), "grid"),
                    "stay visits.csv --shares 0.5,0.9",
                ),
                study=('column = "age"\nshares = [0.25, 0.5, 0.9]\ngrid = 8',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.shares, str) or not isinstance(self.shares, Sequence) or not self.shares:
            raise InvalidParameter(
                "Quantiles.shares must be a list of shares, got {got}.", hint="(0.5,)", got=shorten(self.shares)
            )
        if not all(0 < exact_number("Quantiles", "shares", q) < 1 for q in self.shares):
            raise InvalidParameter(
                "Quantiles.shares must lie between 0 and 1, got {got}.", got=shorten(list(self.shares))
            )

    def in_words(self) -> str:
        return Phrase(
            "quantiles ({shares}) of {column}, from its distribution on a public grid",
            shares=", ".join(self.shares),
            column=self.column,
        )

    def steps(self) -> Generator[Any, Any, ModelResult]:
        counted: CellCounts = yield self._question
        return QuantilesResult(distribution=self._distribution(counted), shares=tuple(Fraction(q) for q in self.shares))


@dataclass(frozen=True, eq=False, kw_only=True)
class QuantilesResult(CumulativeResult, Drawable):
    """`values`, each certainly within `bounds`, at most `error` away; `conf_int(alpha)` for the population."""

    distribution: CumulativeCounts
    shares: tuple[Fraction, ...]
    how: How | None = None

    @property
    def bounds(self) -> Floats:
        """The two points between which the quantile of these rows lies: certainly, or by the noisy counts."""
        cells = [self.distribution.cells[self.distribution.cell_at(q)] for q in self.shares]
        return np.array([[float(cell.low), float(cell.high)] for cell in cells])

    @property
    def values(self) -> Floats:
        """Interpolated within the cell, as if rows were even there; without a grid, the smallest x with F(x) >= q."""
        return np.array([float(self._value(q)) for q in self.shares])

    def _value(self, q: Fraction) -> Fraction:
        j, F = self.distribution.cell_at(q), self.distribution.shares
        cell, share_below = self.distribution.cells[j], F[j - 1] if j else Fraction(0)
        if cell.low == cell.high or F[j] <= share_below:
            return (cell.low + cell.high) / 2
        part = min(max((q - share_below) / (F[j] - share_below), Fraction(0)), Fraction(1))
        return cell.low + part * (cell.high - cell.low)

    @property
    def error(self) -> Floats:
        """The largest distance of a value from the quantile of these rows."""
        return np.maximum(self.values - self.bounds[:, 0], self.bounds[:, 1] - self.values)

    def conf_int(self, alpha: float = 0.05) -> Floats:
        """Intervals for the population: by ranks; with noise, from the band of the distribution (simultaneous)."""
        alpha = check_alpha("conf_int", alpha)
        return np.array(
            [
                self._noisy(q, alpha) if self.distribution.noise is not None else self._ranks(q, alpha)
                for q in self.shares
            ]
        )

    def _ranks(self, q: Fraction, alpha: float) -> tuple[float, float]:
        from scipy.special import bdtr

        n, cells = int(self.distribution.n), self.distribution.cells
        k = np.arange(n + 1) if n <= 4096 else _near(n, float(q))
        below = bdtr(k, n, float(q))  # P[Bin(n, q) <= k]
        lower = k[below <= alpha / 2]  # l - 1: P[Bin < l] <= alpha/2
        upper = k[below >= 1 - alpha / 2]  # u - 1
        # With few rows no rank is low (or high) enough, and the public bound of the column takes its place.
        low = cells[self.distribution.cell_of_rank(int(lower[-1]) + 1)].low if len(lower) else cells[0].low
        rank = int(upper[0]) + 1 if len(upper) else n + 1
        high = cells[self.distribution.cell_of_rank(rank)].high if rank <= n else cells[-1].high
        return float(low), float(high)

    def _noisy(self, q: Fraction, alpha: float) -> tuple[float, float]:
        low, high = self.distribution.band(alpha)
        first = next((j for j, v in enumerate(high) if v >= float(q)), len(high) - 1)
        last = next((j for j, v in enumerate(low) if v >= float(q)), len(low) - 1)
        return float(self.distribution.cells[first].low), float(self.distribution.cells[max(first, last)].high)

    @property
    def title(self) -> str:
        return Phrase("Quantiles of {column}", column=self.column)

    def facts(self) -> list[tuple[str, Any]]:
        return [(Phrase("rows"), self.n), (Phrase("cells of the grid"), len(self.distribution.cells))]

    def tables(self) -> list[Table]:
        ends = self.conf_int()
        rows = [
            (number_name(q), float(v), *map(float, at), *map(float, end))
            for q, v, at, end in zip(self.shares, self.values, self.bounds, ends, strict=True)
        ]
        head = (Phrase("share"), self.column, Phrase("at least"), Phrase("at most"), *ENDS)
        return [Table("", head, tuple(rows))]

    @property
    def notes(self) -> list[str]:
        if self.distribution.noise is not None:
            return [sentences(Phrase("Intervals come from the band of the whole distribution."), NOISE_TOO)]
        return [
            Phrase(
                "The quantile of these rows lies between 'at least' and 'at most' for certain; intervals for the "
                "population are read off ranks (binomial)."
            )
        ]

    def pictures(self) -> list[Intervals | Curves]:
        rows = tuple(
            IntervalRow(number_name(q), float(v), float(low), float(high))
            for q, v, (low, high) in zip(self.shares, self.values, self.conf_int(), strict=True)
        )
        title = Phrase("Quantiles of {column}, with 95% intervals", column=self.column)
        return [Intervals(title, rows, "value", label=Phrase("share"), picture=True, axis=self.column)]


def _near(n: int, q: float) -> Any:
    """Ranks that an interval of any usual level can end at: far tails of a large n are never looked at."""
    wide = 12 * math.sqrt(n * q * (1 - q)) + 50
    return np.arange(max(0, math.floor(n * q - wide)), min(n, math.ceil(n * q + wide)) + 1)


def quantiles(
    column: str,
    data: Any,
    shares: Sequence[Any] = (0.25, 0.5, 0.75),
    *,
    grid: Any = None,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> QuantilesResult:
    """`quantiles("pay", table, (0.1, 0.5, 0.9), grid=200)`: one round; `quantile` searches in several, with no grid."""
    domain = schema_for("quantiles", data, schema, [column], privacy)
    domain = widen_to_grid(domain, column, grid) if schema is None else domain
    if isinstance(shares, int | float | str):
        shares = (shares,)
    wanted = tuple(decimal_text(exact_number("quantiles", "shares", q)) or str(q) for q in shares)
    model = Quantiles(domain, column, grid_cuts("quantiles", domain, column, grid), wanted)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (
    Example(Quantiles(PEOPLE, "age"), PEOPLE_ROWS),
    Example(Quantiles(PEOPLE, "age", ("30", "40", "50", "60"), ("0.1", "0.5")), PEOPLE_ROWS),
)
