"""Covariances and correlations of columns of numbers, from their sums and the sums of their products.

    C_ab = (S[x_a x_b] - S[x_a] S[x_b] / N) / (N - 1),    r = C_ab / sqrt(C_aa C_bb),    t = r sqrt((N - 2) / (1 - r^2))

p(p+1)/2 + p + 1 sums for p columns, exact until the last rounding: r is the root of an exact fraction, so that columns
that are multiples of one another have r = 1 exactly. With noise, the error of r includes it (delta method).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.schema import Schema
from murmure.econometrics.algebra.delta_method import Traced, sqrt
from murmure.econometrics.algebra.matrices import Matrix
from murmure.econometrics.algebra.moments import cross, signed_root
from murmure.econometrics.algebra.rounding import Floats, to_floats
from murmure.econometrics.algebra.tails import normal_two_sided, t_two_sided
from murmure.econometrics.design.columns import centred, name_list, number_columns, select_columns
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.errors import NoVariation, TooFewObservations
from murmure.econometrics.example_tables import CLINIC, CLINIC_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneRound
from murmure.econometrics.results.result import Drawable, ModelResult
from murmure.show.document import Curves, IntervalRow, Intervals, Table
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate
from murmure.statistics.exact.cross_products import CrossProducts

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How

MAX_DRAWN = 30  # correlations in a picture


@dataclass(frozen=True)
class ColumnMoments:
    """Means and covariances of columns, exact; from noisy sums, with the standard deviation of the noise in each."""

    columns: tuple[str, ...]
    n: Fraction
    means: tuple[Fraction, ...]
    covariance: Matrix
    covariance_noise: Floats | None = None
    correlation_noise: Floats | None = None  # NaN if there is no correlation


def products_of(domain: Schema, columns: tuple[str, ...]) -> CrossProducts:
    return CrossProducts(domain, ("1", *(centred(domain, name)[0] for name in columns)))


def column_moments(domain: Schema, columns: tuple[str, ...], crossed: CrossProductsEstimate) -> ColumnMoments:
    """Means and covariances from the sums."""
    S, n = crossed.matrix, crossed.matrix[0][0]
    if n <= 1:
        what = (
            Phrase("a covariance needs at least two rows, got {n}", n=n)
            if crossed.noise is None
            else Phrase("with the noise, {n:.4g} rows were counted", n=float(n))
        )
        raise TooFewObservations(
            "{what}.", hint="more rows" if crossed.noise is None else "more rows, or a larger epsilon", what=what
        )
    over = range(1, len(columns) + 1)
    means = tuple(centred(domain, name)[1] + S[0][a] / n for a, name in zip(over, columns, strict=True))
    C = tuple(tuple(cross(n, S[0][a], S[0][b], S[a][b]) / (n - 1) for b in over) for a in over)
    if crossed.noise is None:
        return ColumnMoments(columns, n, means, C)
    # The same formulas again with traced numbers, whose derivatives give the noise in each covariance.
    spread = [float(v) for v in crossed.variance()]

    def entry(a: int, b: int) -> Traced:
        return Traced(float(S[a][b]), crossed.slopes(a, b))

    N = entry(0, 0)
    T = [[cross(N, entry(0, a), entry(0, b), entry(a, b)) / (N - 1) for b in over] for a in over]
    of_cov = np.array([[math.sqrt(v.variance(spread)) for v in row] for row in T])
    of_r = np.full(of_cov.shape, math.nan)
    for i, row in enumerate(T):
        for j, v in enumerate(row):
            if i != j and T[i][i].value > 0 and T[j][j].value > 0:
                of_r[i, j] = math.sqrt((v / sqrt(T[i][i] * T[j][j])).variance(spread))
    return ColumnMoments(columns, n, means, C, of_cov, of_r)


@dataclass(frozen=True)
class Covariance(OneRound):
    """Means and covariances of columns."""

    domain: Schema
    columns: tuple[str, ...]

    entry = ModelEntry(
        order=20,
        functions=(
            ModelFunction(
                "covariance",
                CommandForm("Covariances.", (), ("columns",), "visits.csv --columns age,stay"),
                study=('columns = ["age", "stay"]',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        owner = type(self).__name__
        object.__setattr__(self, "columns", number_columns(owner, self.domain, self.columns))
        object.__setattr__(self, "domain", select_columns(owner, self.domain, self.columns))
        if len(self.columns) < 2:
            raise InvalidParameter(
                "{owner}.columns must name two columns or more, got {got}.", owner=owner, got=list(self.columns)
            )
        _ = products_of(self.domain, self.columns)

    def in_words(self) -> str:
        return Phrase("means and covariances of {columns}", columns=name_list(self.columns))

    def steps(self) -> Generator[Any, Any, ModelResult]:
        crossed: CrossProductsEstimate = yield products_of(self.domain, self.columns)
        return CovarianceResult(scatter=column_moments(self.domain, self.columns, crossed))


@dataclass(frozen=True)
class Correlation(Covariance):
    """Pearson's correlations of columns, with their tests."""

    def in_words(self) -> str:
        return Phrase("means, variances and correlations of {columns}", columns=name_list(self.columns))

    entry = ModelEntry(
        order=30,
        functions=(
            ModelFunction(
                "correlation",
                CommandForm("Correlations and their tests.", (), ("columns",), "visits.csv --columns age,stay"),
                study=('columns = ["age", "stay"]',),
            ),
        ),
    )

    def steps(self) -> Generator[Any, Any, ModelResult]:
        crossed: CrossProductsEstimate = yield products_of(self.domain, self.columns)
        scatter = column_moments(self.domain, self.columns, crossed)
        if crossed.noise is None:
            flat = [name for k, name in enumerate(self.columns) if scatter.covariance[k][k] == 0]
            if flat:
                raise NoVariation(
                    "column {flat!r} is the same for everybody: it correlates with nothing.",
                    hint="leave it out",
                    columns=flat,
                    flat=flat[0],
                )
        return CorrelationResult(scatter=scatter)


class ColumnMomentsResult(ModelResult):
    """Shared by results that consist of means and covariances."""

    scatter: ColumnMoments

    @property
    def columns(self) -> tuple[str, ...]:
        return self.scatter.columns

    @property
    def n(self) -> int:
        return round(self.scatter.n)


@dataclass(frozen=True, eq=False, kw_only=True)
class CovarianceResult(ColumnMomentsResult):
    """`covariance` (an array, divisor n - 1), `mean`, `n`; `scatter` holds the exact fractions."""

    scatter: ColumnMoments
    how: How | None = None

    @property
    def mean(self) -> Floats:
        return to_floats(self.scatter.means)

    @property
    def covariance(self) -> Floats:
        return to_floats(self.scatter.covariance)

    @property
    def title(self) -> str:
        return Phrase("Covariance of {columns}", columns=name_list(self.columns))

    def facts(self) -> list[tuple[str, Any]]:
        means = zip(self.columns, self.scatter.means, strict=True)
        return [(Phrase("rows"), self.n), *((Phrase("mean of {column}", column=name), m) for name, m in means)]

    @property
    def noise(self) -> Floats | None:
        """The standard deviation of the noise in each covariance; None: exact."""
        return self.scatter.covariance_noise

    def tables(self) -> list[Table]:
        rows = tuple((name, *map(float, row)) for name, row in zip(self.columns, self.covariance, strict=True))
        out = [Table("", ("", *self.columns), rows)]
        if self.noise is not None:
            rows = tuple((name, *map(float, row)) for name, row in zip(self.columns, self.noise, strict=True))
            out.append(Table(Phrase("Standard deviation of the noise"), ("", *self.columns), rows))
        return out

    @property
    def notes(self) -> list[str]:
        out: list[str] = [Phrase("The divisor is n - 1.")]
        if self.noise is not None:
            out.append(Phrase("The deviation of the noise is by the delta method; n is a noisy count."))
        return out


@dataclass(frozen=True, eq=False, kw_only=True)
class CorrelationResult(ColumnMomentsResult, Drawable):
    """`correlation`, `statistic` (Student's t with `df` degrees of freedom), `pvalue`: arrays, NaN on the diagonal."""

    scatter: ColumnMoments
    how: How | None = None

    @property
    def title(self) -> str:
        return Phrase("Correlation of {columns}", columns=name_list(self.columns))

    def facts(self) -> list[tuple[str, Any]]:
        return [(Phrase("rows"), self.n)]

    @property
    def df(self) -> int | None:
        """Degrees of freedom of Student's t; None with noise, where tests are normal."""
        return None if self.noisy else self.n - 2

    @property
    def noisy(self) -> bool:
        return self.scatter.correlation_noise is not None

    def _r(self, a: int, b: int) -> float:
        C = self.scatter.covariance
        if a == b:
            return 1.0
        if C[a][a] <= 0 or C[b][b] <= 0:
            return math.nan
        return signed_root(C[a][b] ** 2 / (C[a][a] * C[b][b]), C[a][b])

    def _square(self, f: Any) -> Floats:
        over = range(len(self.columns))
        return np.array([[f(a, b) for b in over] for a in over])

    @property
    def correlation(self) -> Floats:
        return self._square(self._r)

    @property
    def statistic(self) -> Floats:
        """t = r sqrt((n - 2) / (1 - r^2)), infinite if r is 1 or -1; with noise, r over its standard error."""
        return self._square(self._t)

    def _t(self, a: int, b: int) -> float:
        C, n = self.scatter.covariance, self.scatter.n
        if a == b or n <= 2 or C[a][a] <= 0 or C[b][b] <= 0:
            return math.nan
        square = C[a][b] ** 2 / (C[a][a] * C[b][b])
        if self.scatter.correlation_noise is not None:
            if square >= 1:
                return math.nan
            variance = float((1 - square) / (n - 2)) + float(self.scatter.correlation_noise[a, b]) ** 2
            return self._r(a, b) / math.sqrt(variance)
        if square == 1:
            return math.copysign(math.inf, C[a][b])
        return signed_root(square * (n - 2) / (1 - square), C[a][b])

    @property
    def pvalue(self) -> Floats:
        """Two-sided p-values of no correlation."""
        df = self.df

        def tail(a: int, b: int) -> float:
            t = self._t(a, b)
            return math.nan if math.isnan(t) else normal_two_sided(t) if df is None else t_two_sided(t, df)

        return self._square(tail)

    def tables(self) -> list[Table]:
        r, t, p = self.correlation, self.statistic, self.pvalue
        square = tuple((name, *map(_or_none, row)) for name, row in zip(self.columns, r, strict=True))
        pairs = tuple(
            (self.columns[a], self.columns[b], _or_none(r[a, b]), _or_none(t[a, b]), self.df, _or_none(p[a, b]))
            for a, b in self._pairs()
        )
        head = ("", Phrase("and"), "r", "z" if self.noisy else "t", Phrase("df"), Phrase("p-value"))
        return [
            Table("", ("", *self.columns), square),
            Table(Phrase("Tests of no correlation, two-sided"), head, pairs),
        ]

    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.columns)), 2))

    def pictures(self) -> list[Intervals | Curves]:
        r = self.correlation
        rows = [
            IntervalRow(Phrase("{a} and {b}", a=self.columns[a], b=self.columns[b]), float(r[a, b]))
            for a, b in self._pairs()
            if math.isfinite(r[a, b])
        ]
        title = Phrase("Correlations")
        if len(rows) > MAX_DRAWN:
            rows = sorted(rows, key=lambda row: -abs(row.estimate))[:MAX_DRAWN]
            title = Phrase("The {n} strongest correlations", n=MAX_DRAWN)
        axis = Phrase("correlation")
        return [Intervals(title, tuple(rows), "value", bounds=(-1, 1), zero=True, picture=True, axis=axis)]

    @property
    def notes(self) -> list[str]:
        if not self.noisy:
            return [] if self.n > 2 else [Phrase("Two rows leave no degree of freedom for a test.")]
        out: list[str] = [Phrase("z counts the noise in r (delta method, normal); n is a noisy count.")]
        if not np.isfinite(self.statistic[~np.eye(len(self.columns), dtype=bool)]).all():
            out.append(Phrase("Where r or p is missing, the noise left no correlation between -1 and 1."))
        return out


def _or_none(v: float) -> float | None:
    """None for NaN, which results show as a missing figure."""
    return None if math.isnan(v) else float(v)


def covariance(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> CovarianceResult:
    """Means and covariances of these columns, or of all that hold numbers; data and privacy as in `ask`."""
    domain = schema_for("covariance", data, schema, columns, privacy, numbers=True)
    model = Covariance(domain, number_columns("covariance", domain, columns))
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


def correlation(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> CorrelationResult:
    """Pearson's correlations, with t and p, of these columns, or of all that hold numbers; data as in `ask`."""
    domain = schema_for("correlation", data, schema, columns, privacy, numbers=True)
    model = Correlation(domain, number_columns("correlation", domain, columns))
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (
    Example(Covariance(CLINIC, ("age", "stay", "dose")), CLINIC_ROWS),
    Example(Correlation(CLINIC, ("age", "stay")), CLINIC_ROWS),
)
