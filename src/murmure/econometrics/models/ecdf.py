"""The empirical distribution of a column on a public grid, with a band that covers all points simultaneously."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction
from murmure.core.errors import InvalidParameter
from murmure.core.schema import Schema
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.algebra.tails import check_alpha
from murmure.econometrics.design.columns import exact_number, grid_cuts, require_number, select_columns, widen_to_grid
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.example_tables import PEOPLE, PEOPLE_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneRound
from murmure.econometrics.results.canvas import canvas
from murmure.econometrics.results.cumulative_counts import CumulativeCounts, CumulativeResult, count_cells
from murmure.econometrics.results.result import Drawable, ModelResult, ResultTable
from murmure.statistics.estimates.cell_counts import CellCounts
from murmure.statistics.exact.cells import Cells

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How

BLUE = "#2a78d6"
NOISE_TOO = "Errors count the noise (normal law) beside the sampling; n is a noisy count."


@dataclass(frozen=True)
class ECDF(OneRound):
    """Shares of rows up to each point of a public grid. cuts: the grid, as decimals; () for the column's own values."""

    domain: Schema
    column: str
    cuts: tuple[str, ...] = ()

    owner: ClassVar[str] = "ECDF"
    words: ClassVar[tuple[str, str]] = ("the distribution of", "la distribution de")

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

    def in_words(self) -> tuple[str, str]:
        n = self._question.width
        return f"{self.words[0]} {self.column} in {n} cells", f"{self.words[1]} {self.column} en {n} cases"

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
        return f"Distribution of {self.column}"

    def facts(self) -> list[tuple[str, Any]]:
        return [
            ("rows", self.n),
            ("points", len(self.distribution.cells)),
            ("band, at most +-", float(self.distribution.reach(0.05).max())),
        ]

    def tables(self) -> list[ResultTable]:
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
        return [
            ResultTable(
                "", (f"{self.column} up to", "rows in cell", "share", "low", "high"), tuple(map(with_row_name, rows))
            )
        ]

    @property
    def notes(self) -> list[str]:
        out = ["The band holds at all points at once with probability 95 % (Dvoretzky-Kiefer-Wolfowitz-Massart)."]
        return out if self.distribution.noise is None else [*out, NOISE_TOO]

    def plot(self, ax: Any = None, alpha: float = 0.05) -> Any:
        """The steps and their band; to an axis or a file."""
        with canvas(ax, (6.4, 3.8)) as ax:
            low, high = self.band(alpha)
            x = np.concatenate([[float(self.distribution.cells[0].low)], self.points])
            F, low, high = (np.concatenate([[0.0], v]) for v in (self.shares, low, high))
            style = {"color": BLUE, "alpha": 0.18, "lw": 0, "label": f"{100 * (1 - alpha):g} % band"}
            if all(cell.low == cell.high for cell in self.distribution.cells):
                # single values: F is constant between them
                ax.fill_between(x, low, high, step="post", **style)
                ax.step(x, F, where="post", color=BLUE, lw=1.6, label="share of rows")
            else:  # between two points of the grid, F lies between its values there
                ends = np.repeat(x, 2)[1:-1]
                ax.fill_between(ends, np.repeat(low[:-1], 2), np.repeat(high[1:], 2), **style)
                ax.plot(x, F, "-" if len(x) > 40 else "o-", color=BLUE, lw=1.6, ms=4, label="share of rows")
            ax.set_ylim(-0.02, 1.02)
            ax.set_xlabel(self.column, parse_math=False)
            ax.set_ylabel("share up to here")
            ax.spines[["top", "right"]].set_visible(False)
            ax.legend(frameon=False, loc="lower right")
        return ax


def int_or_float(v: Any) -> Any:
    v = Fraction(v)
    return int(v) if v.denominator == 1 else float(v)


def with_row_name(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The first cell of a row is its name."""
    return (f"{row[0]:.10g}", *row[1:])


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
