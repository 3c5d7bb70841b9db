"""The empirical distribution of a column on a public grid, with a band that covers all points simultaneously."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.schema import Schema
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.algebra.tails import check_alpha
from murmure.econometrics.design.columns import exact_number, grid_cuts, require_number, select_columns, widen_to_grid
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.example_tables import PEOPLE, PEOPLE_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneRound
from murmure.econometrics.results.cumulative_counts import CumulativeCounts, CumulativeResult, count_cells
from murmure.econometrics.results.result import Drawable, ModelResult, draw_picture, number_name
from murmure.show.cells import level_percent
from murmure.show.document import Curve, Curves, Intervals, Table
from murmure.statistics.estimates.cell_counts import CellCounts
from murmure.statistics.exact.cells import Cells

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How

NOISE_TOO = Phrase("Errors count the noise (normal law) beside the sampling; n is a noisy count.")


@dataclass(frozen=True)
class ECDF(OneRound):
    """Shares of rows up to each point of a public grid. cuts: the grid, as decimals; () for the column's own values."""

    domain: Schema
    column: str
    cuts: tuple[str, ...] = ()

    owner: ClassVar[str] = "ECDF"

    entry = ModelEntry(
        order=140,
        functions=(
            ModelFunction(
                "ecdf",
                CommandForm(
                    "The distribution of a column, with a band.",
                    ("COLUMN",),
                    ("grid",),
                    "stay visits.csv --grid 1,2,5,10",
                ),
                study=('column = "age"\ngrid = [30, 50, 70]',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain", select_columns(self.owner, self.domain, [self.column]))
        require_number(self.owner, self.domain, self.column)
        object.__setattr__(
            self, "cuts", grid_cuts(self.owner, self.domain, self.column, self.cuts or None, what="cuts")
        )
        _ = self._question  # what cannot be counted is refused now

    def in_words(self) -> str:
        return Phrase("the distribution of {column} in {n} cells", column=self.column, n=self._question.width)

    @property
    def _question(self) -> Cells:
        return count_cells(self.domain, self.column, self.cuts)

    def _distribution(self, counted: CellCounts) -> CumulativeCounts:
        return CumulativeCounts.of(self.domain, self.column, self.cuts, counted)

    def steps(self) -> Generator[Any, Any, ModelResult]:
        counted: CellCounts = yield self._question
        return ECDFResult(distribution=self._distribution(counted))


@dataclass(frozen=True, eq=False, kw_only=True)
class ECDFResult(CumulativeResult, Drawable):
    """`points` and `shares` (F at each), `band(alpha)`; calling it returns F at a point of the grid."""

    distribution: CumulativeCounts
    how: How | None = None

    @property
    def points(self) -> Floats:
        return np.array([float(v) for v in self.distribution.points])

    @property
    def shares(self) -> Floats:
        return np.array([float(v) for v in self.distribution.shares])

    def band(self, alpha: float = 0.05) -> tuple[Floats, Floats]:
        """A band that contains the true distribution, at all points at once, with probability at least 1 - alpha."""
        return self.distribution.band(check_alpha("band", alpha))

    def __call__(self, x: Any) -> float:
        """F(x), at a point of the grid."""
        at = exact_number("ecdf", "x", x)
        if at not in self.distribution.points:
            raise InvalidParameter(
                "F is known only at points of the grid, and {at:g} is not one of them.",
                hint="see .points",
                at=float(at),
            )
        return float(self.distribution.shares[self.distribution.points.index(at)])

    @property
    def title(self) -> str:
        return Phrase("Distribution of {column}", column=self.column)

    def facts(self) -> list[tuple[str, Any]]:
        return [
            (Phrase("rows"), self.n),
            (Phrase("points"), len(self.distribution.cells)),
            (Phrase("band, at most +-"), float(self.distribution.reach(0.05).max())),
        ]

    def tables(self) -> list[Table]:
        low, high = self.band()
        counts = self.distribution.counts if self.distribution.noise is not None else map(int, self.distribution.counts)
        rows = zip(
            map(float, self.points),
            map(int_or_float, counts),
            map(float, self.shares),
            map(float, low),
            map(float, high),
            strict=True,
        )
        head = (
            Phrase("{column} up to", column=self.column),
            Phrase("rows in cell"),
            Phrase("share"),
            Phrase("low"),
            Phrase("high"),
        )
        return [Table("", head, tuple(map(with_row_name, rows)), folded=True)]

    def pictures(self) -> list[Intervals | Curves]:
        return [self._curve(0.05)]

    def _curve(self, alpha: float) -> Curves:
        if all(cell.low == cell.high for cell in self.distribution.cells):
            # single values: F is constant between them
            curve = _line(self.points, self.shares, *self.band(alpha), step=True)
        else:  # between two points of the grid, F lies between its values there
            low, high = (np.array([0.0, *v]) for v in self.band(alpha))
            x = np.array([float(self.distribution.cells[0].low), *self.points])
            F = np.array([0.0, *self.shares])
            x, F = (np.repeat(v, 2)[1:-1] for v in (x, F))
            curve = _line(x, F, np.repeat(low[:-1], 2), np.repeat(high[1:], 2), step=False)
        title = Phrase("Share of rows up to each value, with its {level}% band", level=level_percent(1 - alpha))
        return Curves(title, (curve,), self.column, Phrase("share up to here"))

    @property
    def notes(self) -> list[str]:
        band = Phrase("The band holds at all points at once with probability 95% (Dvoretzky-Kiefer-Wolfowitz-Massart).")
        return [band] if self.distribution.noise is None else [band, NOISE_TOO]

    def plot(self, ax: Any = None, alpha: float = 0.05) -> Any:
        """The steps and their band; to an axis or a file."""
        return draw_picture(self._curve(alpha), ax, self.title)


def _line(x: Floats, y: Floats, low: Floats, high: Floats, step: bool) -> Curve:
    return Curve("", tuple(x.tolist()), tuple(y.tolist()), step, tuple(low.tolist()), tuple(high.tolist()))


def int_or_float(v: Any) -> Any:
    v = Fraction(v)
    return int(v) if v.denominator == 1 else float(v)


def with_row_name(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The first cell of a row is its name."""
    return (number_name(row[0]), *row[1:])


def ecdf(
    column: str,
    data: Any,
    *,
    grid: Any = None,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> ECDFResult:
    """`ecdf("age", table, grid=[20, 40, 60])`; grid=50 takes even cells, None the column's own values."""
    domain = schema_for("ecdf", data, schema, [column], privacy)
    domain = widen_to_grid(domain, column, grid) if schema is None else domain
    model = ECDF(domain, column, grid_cuts("ecdf", domain, column, grid))
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (
    Example(ECDF(PEOPLE, "age", ("18", "30", "45.5", "77")), PEOPLE_ROWS),
    Example(ECDF(PEOPLE, "dose"), PEOPLE_ROWS),
)
