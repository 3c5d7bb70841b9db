"""Describe columns of numbers: count, mean, variance and shape, from the sums of powers up to the fourth.

    mean = S[x] / N,    s^2 = (S[x^2] - S[x]^2 / N) / (N - 1),    se of the mean = s / sqrt(N)

Skewness is mu_3 / mu_2^(3/2) and kurtosis mu_4 / mu_2^2 - 3, as in scipy.stats. Everything is exact until the
last rounding. With noise, the standard error of a mean includes it (delta method).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Model
from murmure.econometrics.algebra.delta_method import Traced, traced
from murmure.econometrics.algebra.moments import central, cross, kurtosis, skewness
from murmure.econometrics.algebra.rounding import root
from murmure.econometrics.algebra.tails import check_alpha, normal_point, t_point
from murmure.econometrics.design.columns import centred, name_list, number_columns, select_columns
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.errors import TooFewObservations
from murmure.econometrics.example_tables import CLINIC, CLINIC_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example
from murmure.econometrics.results.regression import ENDS
from murmure.econometrics.results.result import ModelResult
from murmure.plan.privacy import noise_in
from murmure.show.document import Table
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate
from murmure.statistics.estimates.sums_estimate import SumsEstimate
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.sums import Sums

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How


MOMENTS = (2, 4)


@dataclass(frozen=True)
class Describe(Model):
    """Sums of powers of columns. moments: 2 for means and variances, 4 for skewness and kurtosis too.

    apart: each column takes a separate round. With noise this is needed if powers of long numbers do not fit into a
    word: each column is then rounded to a grid (CrossProducts.coarse).
    """

    domain: Schema
    columns: tuple[str, ...]
    moments: int = 4
    apart: bool = False

    noise_refusal: ClassVar[str | None] = None

    entry = ModelEntry(
        order=10,
        functions=(
            ModelFunction(
                "describe",
                CommandForm("Mean, deviation, skewness, kurtosis.", (), ("columns",), "visits.csv --columns age,stay"),
                study=('columns = ["age", "stay"]\nmoments = 4',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", number_columns("Describe", self.domain, self.columns))
        object.__setattr__(self, "domain", select_columns("Describe", self.domain, self.columns))
        if isinstance(self.moments, bool) or self.moments not in MOMENTS:
            raise InvalidParameter("Describe.moments must be 2 or 4, got {got}.", got=shorten(self.moments))
        if not isinstance(self.apart, bool):
            raise InvalidParameter("Describe.apart must be True or False, got {got}.", got=shorten(self.apart))
        _ = self.together

    @property
    def rounds(self) -> int:
        return len(self.columns) if self.apart else 1

    @property
    def together(self) -> Sums:
        """One question for the sums of all columns."""
        powers = [
            text if k == 1 else f"{text} ** {k}"
            for text, _ in (centred(self.domain, name) for name in self.columns)
            for k in range(1, self.moments + 1)
        ]
        return Sums(self.domain, ("1", *powers))

    def in_words(self) -> str:
        columns = name_list(self.columns)
        if self.moments == 4:
            return Phrase("the number of rows, and mean, variance, skewness and kurtosis of {columns}", columns=columns)
        return Phrase("the number of rows, and mean, variance of {columns}", columns=columns)

    def steps(self) -> Generator[Any, Any, DescribeResult]:
        figures = []
        if self.apart:
            for name in self.columns:
                u, c = centred(self.domain, name)
                factors = ("1", u, f"{u} ** 2") if self.moments == 4 else ("1", u)
                crossed: CrossProductsEstimate = yield CrossProducts(self.domain, factors)
                pairs = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)][: self.moments + 1]
                sums = [crossed.matrix[a][b] for a, b in pairs]
                noise = None if crossed.noise is None else [float(v) for v in crossed.variance()]
                moved = [Traced(float(v), crossed.slopes(a, b)) for v, (a, b) in zip(sums, pairs, strict=True)]
                figures.append(_summarise(c, sums, noise, moved))
            return DescribeResult(columns=self.columns, figures=tuple(figures), noisy=noise is not None)
        answer: SumsEstimate = yield self.together
        spread = [float(v) for v in answer.variance()]
        for k, name in enumerate(self.columns):
            first = 1 + k * self.moments
            sums = [answer.sums[0], *answer.sums[first : first + self.moments]]
            noise = [spread[0], *spread[first : first + self.moments]] if answer.noisy else None
            figures.append(_summarise(centred(self.domain, name)[1], sums, noise))
        return DescribeResult(columns=self.columns, figures=tuple(figures), noisy=answer.noisy)


@dataclass(frozen=True)
class ColumnSummary:
    """The figures of one column. se: standard error of the mean for the population of the rows, including noise."""

    n: Fraction
    mean: Fraction
    variance: Fraction | None
    skewness: float | None
    kurtosis: float | None
    se: float | None
    mean_noise: float = 0.0  # standard deviation of the noise in the mean
    variance_noise: float = 0.0  # and in the variance


def _summarise(
    c: Fraction,
    power_sums: Sequence[Fraction],
    spread: Sequence[float] | None,
    traced_sums: Sequence[Traced] | None = None,
) -> ColumnSummary:
    """From power_sums N, S[x - c], S[(x - c)^2], ... spread: the variance of the noise in each, or in the parts of
    traced_sums.
    """
    n, *sums = power_sums
    if n <= 1 and spread is not None:
        raise TooFewObservations(
            "with the noise, {n:.4g} rows were counted: their sums carry no information.",
            hint="more rows, or a larger epsilon",
            n=float(n),
        )
    mu = central(n, sums)
    variance = mu[0] * n / (n - 1) if n > 1 and mu[0] >= 0 else None
    noise = (0.0, 0.0)
    if spread is not None:  # c is public, so the noise in the mean is that in S[x - c] / N
        N, s, ss = (traced_sums or traced(power_sums))[:3]
        noise = math.sqrt((s / N).variance(spread)), math.sqrt((cross(N, s, s, ss) / (N - 1)).variance(spread))
    shapes: tuple[float | None, float | None] = (None, None)
    if len(mu) > 1:
        shapes = skewness(mu[0], mu[1]), kurtosis(mu[0], mu[2])
    se = None if variance is None else root(variance / n + Fraction(noise[0]) ** 2)
    return ColumnSummary(n, c + sums[0] / n, variance, *shapes, se, *noise)


@dataclass(frozen=True, eq=False, kw_only=True)
class DescribeResult(ModelResult):
    """`mean`, `variance`, `sd`, `skewness`, `kurtosis` and `se`, each by the name of the column."""

    columns: tuple[str, ...]
    figures: tuple[ColumnSummary, ...]
    noisy: bool = False
    how: How | None = None

    def __getitem__(self, column: str) -> ColumnSummary:
        """The figures of one column; n, mean and variance are exact fractions."""
        return self.figures[self.columns.index(column)]

    def _each(self, figure: Any) -> Mapping[str, Any]:
        return {name: figure(summary) for name, summary in zip(self.columns, self.figures, strict=True)}

    @property
    def n(self) -> int:
        """The number of rows; with noise, an estimate."""
        return round(self.figures[0].n)

    @property
    def mean(self) -> Mapping[str, float]:
        return self._each(lambda f: float(f.mean))

    @property
    def variance(self) -> Mapping[str, float | None]:
        """With the divisor N - 1."""
        return self._each(lambda f: None if f.variance is None else float(f.variance))

    @property
    def sd(self) -> Mapping[str, float | None]:
        return self._each(lambda f: None if f.variance is None else root(f.variance))

    @property
    def skewness(self) -> Mapping[str, float | None]:
        return self._each(lambda f: f.skewness)

    @property
    def kurtosis(self) -> Mapping[str, float | None]:
        """In excess of the normal law's, 3."""
        return self._each(lambda f: f.kurtosis)

    @property
    def se(self) -> Mapping[str, float | None]:
        """Standard errors of the means."""
        return self._each(lambda f: f.se)

    def conf_int(self, alpha: float = 0.05) -> Mapping[str, tuple[float, float] | None]:
        """Intervals of the means: Student's, or with noise normal ones."""
        alpha = check_alpha("conf_int", alpha)

        def interval(f: ColumnSummary) -> tuple[float, float] | None:
            if f.se is None:
                return None
            wide = f.se * (normal_point(1 - alpha) if self.noisy else t_point(1 - alpha, float(f.n) - 1))
            return float(f.mean) - wide, float(f.mean) + wide

        return self._each(interval)

    @property
    def title(self) -> str:
        return Phrase("Description of {columns}", columns=name_list(self.columns))

    def tables(self) -> list[Table]:
        ends = self.conf_int()
        shapes = any(f.skewness is not None for f in self.figures)
        head = ("", "n", Phrase("mean"), Phrase("std err"), *ENDS, Phrase("sd"), Phrase("variance"))
        rows = []
        for name, f in zip(self.columns, self.figures, strict=True):
            low, high = ends[name] or (None, None)
            row = (name, round(f.n), float(f.mean), f.se, low, high, self.sd[name], self.variance[name])
            rows.append((*row, f.skewness, f.kurtosis) if shapes else row)
        out = [Table("", (*head, Phrase("skewness"), Phrase("kurtosis")) if shapes else head, tuple(rows))]
        if self.noisy:
            noise = tuple((n, f.mean_noise, f.variance_noise) for n, f in zip(self.columns, self.figures, strict=True))
            moments = ("", Phrase("in the mean"), Phrase("in the variance"))
            out.append(Table(Phrase("Standard deviation of the noise"), moments, noise))
        return out

    @property
    def notes(self) -> list[str]:
        shapes = any(f.skewness is not None for f in self.figures)
        out: list[str] = [
            Phrase("Variances have the divisor n - 1; kurtosis is in excess of the normal law's.")
            if shapes
            else Phrase("Variances have the divisor n - 1.")
        ]
        flat = [name for name, f in zip(self.columns, self.figures, strict=True) if f.variance == 0]
        none = [name for name, f in zip(self.columns, self.figures, strict=True) if f.variance is None]
        if flat and not self.noisy:
            out.append(Phrase("The same for everybody, and so without a shape: {columns}.", columns=name_list(flat)))
        if none and self.noisy:
            out.append(
                Phrase(
                    "No variance of {columns}: with the noise, the sum of squares is too small.",
                    columns=name_list(none),
                )
            )
        if none and not self.noisy:
            out.append(Phrase("One row has no variance."))
        if self.noisy:
            out.append(Phrase("Standard errors of means count the noise (delta method, normal); n is a noisy count."))
            out.append(Phrase("Skewness and kurtosis carry noise too, and no error is given for them."))
        return out


def describe(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    moments: int = 4,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> DescribeResult:
    """Number, mean, variance, skewness, kurtosis of these columns, or of all that hold numbers; data as in `ask`."""
    domain = schema_for("describe", data, schema, columns, privacy, numbers=True)
    names = number_columns("describe", domain, columns)
    model = Describe(select_columns("describe", domain, names), names, moments)
    # Noise is added to words of 64 bits; sums that need more are asked for column by column, on a coarser grid.
    if noise_in(privacy) is not None and model.together.wide:
        model = replace(model, apart=True)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (
    Example(Describe(CLINIC, ("age", "stay", "dose")), CLINIC_ROWS),
    Example(Describe(CLINIC, ("stay",), moments=2), CLINIC_ROWS),
    Example(Describe(CLINIC, ("age", "dose"), apart=True), CLINIC_ROWS),
    Example(Describe(CLINIC, ("age", "dose"), moments=2, apart=True), CLINIC_ROWS),
)
