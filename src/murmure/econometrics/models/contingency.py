"""Tables of counts: are two columns independent?

    E_ij = R_i C_j / N,    X^2 = sum (O - E)^2 / E,    G = 2 sum O ln(O / E),    V = sqrt(X^2 / (N min(r - 1, c - 1)))

G is computed as 2 sum E ((1 + d) ln(1 + d) - d), d = O / E - 1, which keeps its digits near 0.
For two by two cells X^2 may be corrected as in Yates (1934): every |O - E| minus a half, but not below zero. Counts are
exact, and X^2 is until its last rounding. With noise there is no p-value, since noise in the counts adds to X^2.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.rounding import log_float, root
from murmure.econometrics.algebra.tails import chi2_above
from murmure.econometrics.design.columns import MAX_CELLS, name_list, select_columns
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.errors import NoVariation, TooFewObservations
from murmure.econometrics.example_tables import STUDY, STUDY_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneRound
from murmure.econometrics.results.result import Drawable, ModelResult
from murmure.show.document import Curves, IntervalRow, Intervals, Table, sentences
from murmure.statistics.estimates.cell_counts import CellCounts
from murmure.statistics.exact.cells import Cells

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How


# Below this number of expected rows in a cell the law of X^2 is not close to chi-squared (Cochran 1954).
SMALL = 5
MAX_DRAWN = 30  # counts in a picture
NOISY = Phrase("noise in the counts adds to it, so its distribution is no longer chi-squared")


@dataclass(frozen=True)
class Contingency(OneRound):
    """How often each value of one column meets each value of another, and whether they are independent.

    yates: correct two by two tables for continuity.
    """

    domain: Schema
    first: str
    second: str
    yates: bool = True

    entry = ModelEntry(
        order=120,
        functions=(
            ModelFunction(
                "contingency",
                CommandForm(
                    "A table of two columns: chi-squared, G, Cramer's V.",
                    ("FIRST", "SECOND"),
                    (),
                    "ward died visits.csv",
                ),
                study=('first = "smoker"\nsecond = "ill"\nyates = false',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain", select_columns("Contingency", self.domain, [self.first, self.second]))
        if not isinstance(self.yates, bool):
            raise InvalidParameter("Contingency.yates must be True or False, got {got}.", got=shorten(self.yates))
        for name in self.domain:
            if not isinstance(self.domain[name], Categories | Integers):
                raise InvalidParameter(
                    "Contingency: column {name!r} does not hold categories: {domain}.",
                    hint="use Categories([...]) or Integers; group a number into classes first",
                    name=name,
                    domain=self.domain[name].describe(),
                )
        cells = math.prod(self.domain[name].size for name in self.domain)
        if cells > MAX_CELLS:
            raise InvalidParameter(
                "Contingency counts at most {max_cells} cells, got {got}.",
                hint="join labels",
                max_cells=MAX_CELLS,
                got=cells,
            )

    def in_words(self) -> str:
        return Phrase(
            "how many rows hold each value of {first} with each of {second}, and a test of independence",
            first=self.first,
            second=self.second,
        )

    def steps(self) -> Generator[Any, Any, ContingencyResult]:
        counted: CellCounts = yield Cells(self.domain, (None, None))
        rows, columns = (tuple(self.domain[name].labels()) for name in (self.first, self.second))
        noise = None if counted.noise is None else math.sqrt(counted.noise)
        counts = [[Fraction(v) for v in line] for line in np.asarray(counted.counts).tolist()]
        dropped: list[str] = []
        # Exact counts show which labels no row has. Noisy ones do not, so with noise all labels stay.
        if noise is None:
            filled = [i for i, line in enumerate(counts) if any(line)]
            across = [j for j in range(len(columns)) if any(line[j] for line in counts)]
            dropped = [
                *(f"{self.first} = {rows[i]}" for i in range(len(rows)) if i not in filled),
                *(f"{self.second} = {columns[j]}" for j in range(len(columns)) if j not in across),
            ]
            if not filled:
                raise TooFewObservations(
                    "every row holds a label that is not listed.", hint="look at the labels of the schema"
                )
            for name, kept, labels in ((self.first, filled, rows), (self.second, across, columns)):
                if len(kept) < 2:
                    raise NoVariation(
                        "column {name!r} is {label!r} for everybody.",
                        hint="a table needs at least two values of each column",
                        columns=[name],
                        name=name,
                        label=labels[kept[0]],
                    )
            counts = [[counts[i][j] for j in across] for i in filled]
            rows, columns = tuple(rows[i] for i in filled), tuple(columns[j] for j in across)
        return ContingencyResult(
            first=self.first,
            second=self.second,
            rows=rows,
            columns=columns,
            counts=tuple(map(tuple, counts)),
            yates=self.yates,
            dropped=tuple(dropped),
            noise=noise,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ContingencyResult(ModelResult, Drawable):
    """`table` and `expected` counts, `statistic` (X^2), `pvalue`, `df`, `g`, `g_pvalue`, `cramers_v`.

    statistic is corrected where the table is two by two and yates=True; `uncorrected` never is.
    """

    first: str
    second: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[Fraction, ...], ...]
    yates: bool
    dropped: tuple[str, ...] = ()
    noise: float | None = None  # standard deviation of the noise in every count
    how: How | None = None

    @property
    def table(self) -> NDArray[Any]:
        """The counts: whole numbers; with noise, floats."""
        return np.array([[float(v) if self.noise is not None else int(v) for v in line] for line in self.counts])

    @property
    def n(self) -> int:
        return round(self._n)

    @property
    def _n(self) -> Fraction:
        return sum((v for line in self.counts for v in line), Fraction(0))

    @property
    def _expected(self) -> list[list[Fraction]] | None:
        """None if noise made a margin zero or negative."""
        down = [sum(line, Fraction(0)) for line in self.counts]
        across = [sum(line, Fraction(0)) for line in zip(*self.counts, strict=True)]
        if min(*down, *across) <= 0:
            return None
        return [[r * c / self._n for c in across] for r in down]

    @property
    def expected(self) -> NDArray[np.float64] | None:
        exact = self._expected
        return None if exact is None else np.array([[float(v) for v in line] for line in exact])

    @property
    def corrected(self) -> bool:
        return self.yates and len(self.rows) == len(self.columns) == 2

    def _chi2(self, corrected: bool) -> Fraction | None:
        expected = self._expected
        if expected is None:
            return None
        total = Fraction(0)
        for line, expected_line in zip(self.counts, expected, strict=True):
            for o, e in zip(line, expected_line, strict=True):
                away = abs(o - e)
                away -= min(Fraction(1, 2), away) if corrected else 0
                total += away**2 / e
        return total

    @property
    def statistic(self) -> float | None:
        chi2 = self._chi2(self.corrected)
        return None if chi2 is None else float(chi2)

    @property
    def uncorrected(self) -> float | None:
        chi2 = self._chi2(False)
        return None if chi2 is None else float(chi2)

    @property
    def df(self) -> int:
        return (len(self.rows) - 1) * (len(self.columns) - 1)

    @property
    def pvalue(self) -> float | None:
        return None if self.noise is not None else chi2_above(self.statistic or 0.0, self.df)

    @property
    def uncorrected_pvalue(self) -> float | None:
        return None if self.noise is not None else chi2_above(self.uncorrected or 0.0, self.df)

    @property
    def g(self) -> float | None:
        """The likelihood ratio; never corrected."""
        expected = self._expected
        if expected is None or any(v < 0 for line in self.counts for v in line):
            return None
        pairs = [
            (o, e)
            for line, expected_line in zip(self.counts, expected, strict=True)
            for o, e in zip(line, expected_line, strict=True)
        ]
        return 2 * math.fsum(float(e) * _excess(o / e - 1) for o, e in pairs)

    @property
    def g_pvalue(self) -> float | None:
        return None if self.noise is not None or self.g is None else chi2_above(self.g, self.df)

    @property
    def cramers_v(self) -> float | None:
        """From the uncorrected X^2: 0 for independence, 1 if one column determines the other."""
        chi2 = self._chi2(False)
        return None if chi2 is None else root(chi2 / (self._n * (min(len(self.rows), len(self.columns)) - 1)))

    @property
    def reason(self) -> str | None:
        return None if self.noise is None else NOISY

    @property
    def title(self) -> str:
        return Phrase("{first} by {second}", first=self.first, second=self.second)

    def facts(self) -> list[tuple[str, Any]]:
        out: list[tuple[str, Any]] = [(Phrase("rows"), self.n), (Phrase("df"), self.df)]
        if self.corrected:
            out.append((Phrase("chi-squared (Yates)"), self.statistic))
            out.append((Phrase("Prob(>chi-squared, Yates)"), self.pvalue))
        return [
            *out,
            (Phrase("chi-squared"), self.uncorrected),
            (Phrase("Prob(>chi-squared)"), self.uncorrected_pvalue),
            ("G", self.g),
            (Phrase("Prob(>G)"), self.g_pvalue),
            (Phrase("Cramér's V"), self.cramers_v),
        ]

    def tables(self) -> list[Table]:
        head = (self.first, *self.columns)
        kind: Any = float if self.noise is not None else int
        counts = tuple((r, *map(kind, line)) for r, line in zip(self.rows, self.counts, strict=True))
        out = [Table(Phrase("Counts"), head, counts)]
        if (expected := self._expected) is not None:
            lines = tuple((r, *map(float, line)) for r, line in zip(self.rows, expected, strict=True))
            out.append(Table(Phrase("Expected, if independent"), head, lines))
        return out

    def pictures(self) -> list[Intervals | Curves]:
        """How far each count is from independence (Pearson's residuals)."""
        counts, expected = self.table, self.expected
        away = np.zeros(counts.shape) if expected is None else (counts - expected) / np.sqrt(expected)
        rows = [
            IntervalRow(Phrase("{row}, {column}", row=self.rows[i], column=self.columns[j]), float(v))
            for (i, j), v in np.ndenumerate(away)
        ]
        title = Phrase("How far each count is from independence: (count - expected) / root of expected")
        if len(rows) > MAX_DRAWN:
            rows = sorted(rows, key=lambda row: -abs(row.estimate))[:MAX_DRAWN]
            title = Phrase(
                "The {n} counts farthest from independence: (count - expected) / root of expected", n=MAX_DRAWN
            )
        axis = Phrase("(count - expected) / root of expected")
        return [Intervals(title, tuple(rows), "value", zero=True, picture=True, axis=axis)]

    @property
    def notes(self) -> list[str]:
        out: list[str] = []
        if self.dropped:
            dropped = name_list(self.dropped)
            out.append(Phrase("Left out, since nobody holds them at any party: {labels}.", labels=dropped))
        if self.noise is not None:
            noise = Phrase("Every count has noise with standard deviation {deviation:.4g}.", deviation=self.noise)
            return [*out, sentences(Phrase("No p-values: {reason}.", reason=NOISY), noise)]
        small = sum(v < SMALL for line in self._expected or [] for v in line)
        if small:
            out.append(
                Phrase(
                    "{small} of {all} cells expect fewer than {least} rows: chi-squared and G follow their law "
                    "roughly at best.",
                    small=small,
                    all=len(self.rows) * len(self.columns),
                    least=SMALL,
                )
            )
        return out


def _excess(d: Fraction) -> float:
    """(1 + d) ln(1 + d) - d, which is never negative: summed over cells with weights E, it is sum O ln(O / E).

    Weighted by E, the terms d add up to 0. Without them each cell of a nearly independent table is small, as G is, and
    no digits cancel. Near 0 this is the series sum_k (-d)^k / (k (k - 1)), k = 2, 3, ...
    """
    if d <= -1:
        return 1.0
    if abs(d) >= Fraction(1, 8):
        return float(1 + d) * log_float(1 + d) - float(d)
    x, total = float(d), 0.0
    for k in range(20, 1, -1):
        total = 1 / (k * (k - 1)) - x * total
    return total * x * x


def contingency(
    first: str,
    second: str,
    data: Any,
    *,
    yates: bool = True,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> ContingencyResult:
    """`contingency("smoker", "ward", table)`: counts, expected counts, chi-squared, G, Cramer's V; data as in `ask`."""
    domain = schema_for("contingency", data, schema, [first, second], privacy)
    model = Contingency(domain, first, second, yates)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (
    Example(Contingency(STUDY, "smoker", "ill"), STUDY_ROWS),
    Example(Contingency(STUDY, "ward", "children", yates=False), STUDY_ROWS),
)
