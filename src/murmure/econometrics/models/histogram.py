"""A histogram: how many rows lie between public edges, e_j < x <= e_{j+1}."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.errors import InvalidParameter, Phrase
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.algebra.tails import check_alpha, normal_point
from murmure.econometrics.design.columns import grid_cuts, widen_to_grid
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.example_tables import PEOPLE, PEOPLE_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example
from murmure.econometrics.models.ecdf import ECDF, int_or_float
from murmure.econometrics.results.cumulative_counts import CumulativeCounts, count_cells
from murmure.econometrics.results.regression import ENDS
from murmure.econometrics.results.result import Drawable, ModelResult, number_name
from murmure.show.document import Curve, Curves, Intervals, Table
from murmure.statistics.estimates.cell_counts import CellCounts
from murmure.statistics.exact.cells import Cells

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How


@dataclass(frozen=True)
class Bins(ECDF):
    """How many rows lie between public edges. cuts: the edges; () for the values of the column."""

    owner: ClassVar[str] = "Bins"

    entry = ModelEntry(
        order=160,
        functions=(
            ModelFunction(
                "histogram",
                CommandForm(
                    "Counts between public edges.",
                    ("COLUMN",),
                    (
                        OptionForm(
                            "edges", "Public edges of the bins.  [default: the column's own values]", kind="numbers"
                        ),
                    ),
                    "stay visits.csv --edges 0,2,5,10",
                ),
                study=('column = "age"\nedges = [18, 40, 65, 99]',),
            ),
        ),
    )

    def in_words(self) -> str:
        return Phrase("a histogram of {column} in {n} cells", column=self.column, n=self._question.width)

    @property
    def _question(self) -> Cells:
        return count_cells(self.domain, self.column, self.cuts, first=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.cuts) == 1:
            raise InvalidParameter("Bins.cuts must be two edges or more, got one.", hint="edges=[0, 10, 20]")

    def steps(self) -> Generator[Any, Any, ModelResult]:
        counted: CellCounts = yield self._question
        whole = CumulativeCounts.of(self.domain, self.column, self.cuts, counted, first=False)
        cells, counts = list(whole.cells), list(whole.counts)
        below = above = Fraction(0)
        if self.cuts and cells[0].high == Fraction(self.cuts[0]):
            cells, counts, below = cells[1:], counts[1:], counts[0]
        if self.cuts and cells[-1].low == Fraction(self.cuts[-1]):
            cells, counts, above = cells[:-1], counts[:-1], counts[-1]
        inside = CumulativeCounts(self.column, tuple(cells), tuple(counts), whole.noise)
        return HistogramResult(distribution=inside, below=below, above=above)


@dataclass(frozen=True, eq=False, kw_only=True)
class HistogramResult(ModelResult, Drawable):
    """`edges`, `counts`, `density` (per row and unit), rows `below` and `above` the edges."""

    distribution: CumulativeCounts
    below: Fraction = Fraction(0)
    above: Fraction = Fraction(0)
    how: How | None = None

    @property
    def column(self) -> str:
        return self.distribution.column

    @property
    def n(self) -> int:
        return round(self.distribution.n + self.below + self.above)

    @property
    def by_value(self) -> bool:
        """Whether bars are single values of the column, and not bins."""
        return all(cell.low == cell.high for cell in self.distribution.cells)

    @property
    def edges(self) -> Floats:
        """Of the bins; of single values, these values."""
        cells = self.distribution.cells
        if self.by_value:
            return np.array([float(cell.high) for cell in cells])
        return np.array([float(cells[0].low), *(float(cell.high) for cell in cells)])

    @property
    def counts(self) -> Any:
        kind: Any = int if self.distribution.noise is None else float
        return np.array([kind(v) for v in self.distribution.counts])

    @property
    def density(self) -> Floats:
        """The share of rows over the width of the bin; of single values, the share."""
        n = self.distribution.n + self.below + self.above
        wide = [cell.high - cell.low or Fraction(1) for cell in self.distribution.cells]
        return np.array([float(v / n / w) for v, w in zip(self.distribution.counts, wide, strict=True)])

    def conf_int(self, alpha: float = 0.05) -> Floats | None:
        """Intervals of the true counts; None if counts are exact."""
        alpha = check_alpha("conf_int", alpha)
        if self.distribution.noise is None:
            return None
        far = normal_point(1 - alpha) * math.sqrt(self.distribution.noise)
        return np.array([[v - far, v + far] for v in self.counts])

    @property
    def title(self) -> str:
        return Phrase("Histogram of {column}", column=self.column)

    def facts(self) -> list[tuple[str, Any]]:
        out: list[tuple[str, Any]] = [(Phrase("rows"), self.n)]
        beyond = ((Phrase("below"), self.below), (Phrase("above"), self.above))
        return out + [(name, int_or_float(v)) for name, v in beyond if v]

    def tables(self) -> list[Table]:
        ends = self.conf_int()
        rows = []
        for j, cell in enumerate(self.distribution.cells):
            low, high = number_name(cell.low), number_name(cell.high)
            name = high if self.by_value else Phrase("{low} to {high}", low=low, high=high)
            row = (name, int_or_float(self.distribution.counts[j]), float(self.density[j]))
            rows.append(row if ends is None else (*row, *map(float, ends[j])))
        head = (self.column, Phrase("rows"), Phrase("share") if self.by_value else Phrase("density"))
        return [Table("", head if ends is None else (*head, *ENDS), tuple(rows), folded=True)]

    def pictures(self) -> list[Intervals | Curves]:
        """The outline of the bars; with noise, also the band of their intervals."""
        cells, ends = self.distribution.cells, self.conf_int()
        even = len({cell.high - cell.low for cell in cells}) == 1
        heights = [float(v) for v in (self.counts if even else self.density)]
        points: list[tuple[float, float, float, float]] = []  # x, height, and the ends of the band
        for j, (left, right) in enumerate(self._bars()):
            band = (0.0, heights[j]) if ends is None or not even else (float(ends[j][0]), float(ends[j][1]))
            if not points or left > points[-1][0]:  # down to 0 between single values
                points += [(points[-1][0], 0.0, 0.0, 0.0)] if points else []
                points.append((left, 0.0, 0.0, 0.0))
            points += [(left, heights[j], *band), (right, heights[j], *band)]
        points.append((points[-1][0], 0.0, 0.0, 0.0))
        x, y, low, high = zip(*points, strict=True)
        curve = Curve("", x, y, False, low, high)
        title = Phrase("Rows in each bin") if even else Phrase("Share of rows per unit in each bin")
        return [Curves(title, (curve,), self.column, Phrase("rows") if even else Phrase("share of rows per unit"))]

    def _bars(self) -> list[tuple[float, float]]:
        """Where each bar begins and ends; those of single values are a little narrower than the least step."""
        cells = self.distribution.cells
        if not self.by_value:
            return [(float(cell.low), float(cell.high)) for cell in cells]
        values = [float(cell.high) for cell in cells]
        half = 0.4 * min((b - a for a, b in pairwise(values)), default=1.0)
        return [(v - half, v + half) for v in values]

    @property
    def notes(self) -> list[str]:
        out: list[str] = []
        if not self.by_value:
            out.append(Phrase("Bins hold their upper end, and the first one its lower end if it is the bound."))
        if self.distribution.noise is not None:
            out.append(Phrase("Intervals are those of the noise in each count (normal law)."))
        return out


def histogram(
    column: str,
    data: Any,
    *,
    edges: Any = None,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> HistogramResult:
    """`histogram("age", table, edges=[18, 30, 45, 65, 99])`; edges=20 takes even bins between the public bounds."""
    domain = schema_for("histogram", data, schema, [column], privacy)
    domain = widen_to_grid(domain, column, edges) if schema is None else domain
    model = Bins(domain, column, grid_cuts("histogram", domain, column, edges, what="edges"))
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (
    Example(Bins(PEOPLE, "age", ("18", "30", "50", "70")), PEOPLE_ROWS),
    Example(Bins(PEOPLE, "age"), PEOPLE_ROWS),
)
