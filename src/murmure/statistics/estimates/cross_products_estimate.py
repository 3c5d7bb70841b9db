"""A matrix of sums of products: exact fractions, and the noise in every entry where there is some."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from murmure.core.blocks import NoiseLaw
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates.noisy_estimators import variance_of
from murmure.core.types import Floats
from murmure.statistics.estimates.sums_estimate import SumsEstimate, SumsInterface
from murmure.statistics.expressions.factors import Combination


@dataclass(frozen=True, eq=False)
class CrossProductsEstimate(SumsInterface):
    """sum_i w_i f_a(x_i) f_b(x_i) for all a, b. `summed` are the figures themselves, each once, with their error bars.

    Two entries that are one sum share one noise: figure[a][b] is the number of the sum, -1 where the entry is 0
    whatever rows hold. Where factors were asked less a middle (centred_factors.py), sum k is the combination
    parts[k] of noisy figures; entries then share noise, and `slopes` says which.
    """

    factors: tuple[str, ...]
    n: int | None  # rows; None: not known here
    matrix: tuple[tuple[Fraction, ...], ...]
    noise: tuple[tuple[float, ...], ...] | None  # variance of the noise in every entry; None: exact
    figure: tuple[tuple[int, ...], ...]
    bits: int  # of the longest whole number among the sums
    grid: tuple[str, ...]  # columns whose numbers were rounded to a grid
    summed: SumsEstimate = field(repr=False)
    parties: int | None = None  # that have rows, where each party transformed its sums (party_products.py)
    parts: tuple[Combination, ...] | None = None  # None: every sum is a figure

    unit = "value"
    target = "fixed"

    @classmethod
    def of(
        cls,
        factors: tuple[str, ...],
        figure: tuple[tuple[int, ...], ...],
        summed: SumsEstimate,
        laws: tuple[NoiseLaw | None, ...],
        parts: tuple[Combination, ...] | None = None,
    ) -> CrossProductsEstimate:
        sums: tuple[Fraction, ...] = summed.sums
        units = [float(unit) for unit in summed.units]
        each = [variance_of(law) * unit**2 for law, unit in zip(laws, units, strict=True)] if summed.noisy else []
        if parts is not None:
            figures, variances = sums, each
            sums = tuple(sum((c * figures[k] for k, c in part.items()), Fraction(0)) for part in parts)
            each = [sum(float(c) ** 2 * variances[k] for k, c in part.items()) for part in parts if summed.noisy]
        sums, each = (*sums, Fraction(0)), [*each, 0.0]  # the last one serves the entries numbered -1
        noise = tuple(tuple(each[k] for k in line) for line in figure) if summed.noisy else None
        bits = max(abs(v).bit_length() for v in summed.whole)
        matrix = tuple(tuple(sums[k] for k in line) for line in figure)
        return cls(factors, summed.n, matrix, noise, figure, bits, summed.grid, summed, parts=parts)

    def slopes(self, a: int, b: int) -> dict[int, float]:
        """The coefficient of each noisy figure in this entry."""
        k = self.figure[a][b]
        if self.parts is None or k < 0:
            return {k: 1.0} if k >= 0 else {}
        return {number: float(c) for number, c in self.parts[k].items()}

    def at(self, a: str, b: str) -> Fraction:
        """The sum of the product of these two factors."""
        for name in (a, b):
            if name not in self.factors:
                raise InvalidParameter(
                    "{name} is not a factor; there are {factors}.",
                    name=shorten(name),
                    factors=shorten(list(self.factors), 200),
                )
        return self.matrix[self.factors.index(a)][self.factors.index(b)]

    # -- as any estimate ----------------------------------------------------------------------------------------------

    @property
    def labels(self) -> tuple[str, ...]:
        return self.summed.labels

    @property
    def mean(self) -> Floats:
        """The figures as floats, each once."""
        return self.summed.mean

    @property
    def noisy(self) -> bool:
        return self.summed.noisy

    def __repr__(self) -> str:
        return str(self)
