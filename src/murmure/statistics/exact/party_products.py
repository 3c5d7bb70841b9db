"""What a party makes of its own sums before they are masked: products less its own means, and squares of its scores.

    WithinPartyProducts   W_ab = sum_i (f_a - m_a)(f_b - m_b) = S_ab - s_a s_b / n   over the rows of one party, means m
    PartyOuterProducts    U_ab = u_a u_b,   u = the party's own sum of a function of rows

A party adds up its rows (`tally`: raw sums, raw_width of them), turns them into what is added up between parties
(`party_contribution`: width of them), and masks that.

What the sums tell about parties. All u of h honest parties, as rows of a matrix, are known by their sum (which is 0 at
an estimate) and by U, that is up to a rotation that leaves the sum in place, of h - 1 dimensions. Of two honest parties
nothing is left to choose (both u are known, but not whose is whose), of three one angle, of four three. W tells the
same about (n, s) as soon as the products S over all rows are known from another question: the difference is the sum of
s s'/n. Totals are whole numbers, which rules out most rotations of few small parties, and exact sums would rule out
nearly all: so both are asked of `min_honest` parties or more, are rounded to what errors need, and results and
studies say what they reveal.

No noise of a curator fits them: one row moves them by what the other rows are, so they state no blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import SumEntry
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, Described, Total
from murmure.statistics.base.statistic import CuratorStatistic
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate
from murmure.statistics.estimates.sums_estimate import SumsEstimate
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.exact.function_sums import FunctionSums, check_beyond
from murmure.statistics.expressions import fixed_point
from murmure.statistics.expressions.factors import check_factors, rounded_columns

POINT = 32  # bits behind the point of a product less the means: s_a s_b / n is not a whole number of units
MAX_POINT = 2 * fixed_point.POINT  # bits behind the point of the product of two scores
MAX_PARTY_ROWS = 1 << 40
PARTIES = "parties that have rows"  # the last figure: 1 of each


@dataclass(frozen=True)
class WithinPartyProducts(CuratorStatistic):
    """`Within(schema, ("age", "stay"))`: sums of products of two factors, each less its mean over the party's own rows.

    Rounded to 2**-32 of the unit of the product, at each party: the last digits would reveal n, since they are
    fractions of it. largest: a party of n rows adds at most n B_a B_b, since sum (f - m)^2 <= sum f^2 <= n B^2, and
    products by Cauchy's inequality.
    """

    domain: Schema
    factors: tuple[str, ...]
    weight: None = None

    wide = True
    trailing_counts = 1  # the last figure: parties
    min_honest = 4
    reveals = Phrase(
        "Sums of products less each party's own means, beside the sums over all rows that another question asks for, "
        "tell the sizes and means of the honest parties up to a rotation among them, and not whose is whose."
    )
    entry = SumEntry(order=150)

    def __post_init__(self) -> None:
        factors = check_factors("Within", self.domain, self.factors)
        object.__setattr__(self, "factors", factors)
        if self.weight is not None:
            raise InvalidParameter(
                "Within.weight must be None, got {got}: means of parties count every row once.",
                got=shorten(self.weight),
            )
        for text in factors:
            if not CrossProducts(self.domain, (text,)).figures[0].columns:
                raise InvalidParameter(
                    "Within.factors: {text} is the same in every row, so it is 0 once its mean is subtracted.",
                    hint="leave it out",
                    text=shorten(text),
                )
        object.__setattr__(self, "domain", self.raw.domain)

    @cached_property
    def raw(self) -> CrossProducts:
        """What a party adds up."""
        return CrossProducts(self.domain, ("1", *self.factors))

    @property
    def raw_width(self) -> int:
        return self.raw.width

    @property
    def width(self) -> int:
        return len(self.factors) * (len(self.factors) + 1) // 2 + 1

    @cached_property
    def _entries(self) -> tuple[tuple[int, int], ...]:
        side = len(self.factors)
        return tuple((a, b) for a in range(side) for b in range(a, side))

    @cached_property
    def factor_units(self) -> tuple[Fraction, ...]:
        sums = [self.raw.figures[self.raw.figure[0][1 + a]] for a in range(len(self.factors))]  # of 1 * f_a
        return tuple(term.unit for term in sums)

    @cached_property
    def units(self) -> tuple[Fraction, ...]:
        """What one step of each integer sum is worth."""
        unit = self.factor_units
        return (*(unit[a] * unit[b] / (1 << POINT) for a, b in self._entries), Fraction(1))

    @cached_property
    def largest(self) -> int:
        most = max(self.raw.figures[self.raw.figure[0][1 + a]].max_abs for a in range(len(self.factors)))
        return most**2 << POINT

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return (*(f"({self.factors[a]}) * ({self.factors[b]}), within" for a, b in self._entries), PARTIES)

    @property
    def formulas(self) -> tuple[str, ...]:
        return self.factors

    def in_words(self) -> str:
        few = len(self.factors) < 6
        return Phrase(
            "{width} sums of products of two of {factors}, each less its mean at the party",
            width=self.width,
            factors=", ".join(self.factors) if few else Phrase("{n} expressions", n=len(self.factors)),
        )

    def rounding(self, combination: Sequence[Fraction], parties: int) -> Fraction:
        """The most that rounding at this many parties moves b'Wb, of the combination b of the first factors."""
        size = sum((abs(b) * unit for b, unit in zip(combination, self.factor_units, strict=False)), Fraction(0))
        return Fraction(parties, 1 << POINT + 1) * size**2

    def lift(self, x: Sequence[Array]) -> NDArray[Any]:
        return self.raw.lift(x).astype(object)

    def tally(self, x: Sequence[Array]) -> NDArray[Any]:
        return self.raw.tally(x).astype(object)

    def party_contribution(self, total: Total) -> Total:
        """S - s s' / n of one party, from its raw sums."""
        # A party without rows has no means: it adds zeros, and does not count as a party.
        if total.n == 0:
            return Total(0, np.zeros(self.width, object))
        m = self.raw.interpret_exact(total.sum, total.n).matrix
        out = []
        for (a, b), unit in zip(self._entries, self.units[:-1], strict=True):
            within = m[1 + a][1 + b] - m[0][1 + a] * m[0][1 + b] / total.n
            out.append(_nearest(within / unit))
        return Total(total.n, np.array([*out, 1], object))

    def interpret_exact(self, total: Sequence[int] | NDArray[Any], n: int) -> CrossProductsEstimate:
        """The sums over all parties of what each made of its own."""
        return symmetric_estimate(self.factors, total, self.units, self.labels, n, self.domain)

    def reference(self, x: Sequence[Array]) -> NDArray[np.float64]:
        lifted, single = self.raw.lift(x).astype(object), self.raw.figure[0][1:]
        n, unit = len(lifted), self.factor_units
        deviations = [n * lifted[:, k] - lifted[:, k].sum() for k in single]  # n times each, less its mean
        found = [(deviations[a] * deviations[b]).sum() * unit[a] * unit[b] / n**2 for a, b in self._entries]
        return np.array([*(float(v) for v in found), 1.0])


@dataclass(frozen=True)
class PartyOuterProducts(CuratorStatistic, Described):
    """u u' of every party, u its own sum of a function of its rows: clusters that are parties.

    u is a whole number of 2**-62; u u' is rounded to 2**-point (halves up). rows: the most rows of a party; it adds at
    most (rows 2**62)^2. The last figure counts rows that were cut (function_sums.py).
    """

    of: FunctionSums
    rows: int
    point: int = fixed_point.POINT

    wide = True
    trailing_counts = 2  # the last figures: parties, and rows that were cut
    min_honest = 4
    reveals = Phrase(
        "Errors by clusters take the squares of each party's own scores, added up: whoever reads them knows the scores "
        "of the honest parties up to a rotation among them, and not whose is whose."
    )
    entry = SumEntry(order=160)

    def __post_init__(self) -> None:
        if not isinstance(self.of, FunctionSums):
            raise InvalidParameter("Scattered.of must be an Evaluated, got {got}.", got=shorten(self.of))
        rows = self.rows
        if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MAX_PARTY_ROWS:
            raise InvalidParameter(
                "Scattered.rows must be a whole number from 1 to 2**40, got {got}.", got=shorten(rows)
            )
        if isinstance(self.point, bool) or not isinstance(self.point, int) or not 0 <= self.point <= MAX_POINT:
            raise InvalidParameter(
                "Scattered.point must be a whole number from 0 to {max_point}, got {got}.",
                max_point=MAX_POINT,
                got=shorten(self.point),
            )

    @property
    def domain(self) -> Schema:
        return self.of.domain

    @property
    def raw_width(self) -> int:
        return self.of.width

    @property
    def width(self) -> int:
        side = len(self.of.labels)
        return side * (side + 1) // 2 + 2

    @property
    def largest(self) -> int:
        return self.rows << self.point + MAX_POINT

    @property
    def units(self) -> tuple[Fraction, ...]:
        return (*(Fraction(1, 1 << self.point),) * (self.width - 2), Fraction(1), Fraction(1))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        names = self.of.labels
        return (*(f"[{a}] [{b}]" for i, a in enumerate(names) for b in names[i:]), PARTIES)

    @property
    def formulas(self) -> tuple[str, ...]:
        return self.of.formulas

    def in_words(self) -> str:
        return Phrase("Products of each party's sums of {words}", words=self.of.words())

    def words(self) -> str:
        """What is added up."""
        return Phrase("products of two of each party's own sums of {words}", words=self.of.words())

    def lift(self, x: Sequence[Array]) -> NDArray[Any]:
        return self.of.lift(x)

    def tally(self, x: Sequence[Array]) -> NDArray[Any]:
        return self.of.tally(x)

    def party_contribution(self, total: Total) -> Total:
        """u u' of one party, from its sums u."""
        if total.n > self.rows:
            raise InvalidParameter(
                "this party has {n} rows, but Scattered was asked for parties of at most {rows}.",
                hint="agree on a larger bound: Scattered(..., rows=...)",
                n=total.n,
                rows=self.rows,
            )
        *u, beyond = (int(v) for v in total.sum)
        step = 1 << MAX_POINT - self.point
        products = (_nearest(Fraction(v * w, step)) for i, v in enumerate(u) for w in u[i:])
        return Total(total.n, np.array([*products, int(total.n > 0), beyond], object))

    def interpret_exact(self, total: Sequence[int] | NDArray[Any], n: int) -> CrossProductsEstimate:
        """The sums over all parties of u u'; refused where a row was cut."""
        check_beyond(self.of, int(total[-1]))
        return symmetric_estimate(self.of.labels, total[:-1], self.units[:-1], self.labels, n, self.domain)

    def reference(self, x: Sequence[Array]) -> NDArray[np.float64]:
        u = [int(v) * fixed_point.UNIT for v in self.of.lift(x).sum(axis=0)[:-1]]
        return np.array([*(float(v * w) for i, v in enumerate(u) for w in u[i:]), 1.0])


def symmetric_estimate(
    factors: tuple[str, ...],
    total: Sequence[int] | NDArray[Any],
    units: tuple[Fraction, ...],
    labels: tuple[str, ...],
    n: int,
    domain: Schema,
) -> CrossProductsEstimate:
    """A symmetric matrix from its upper half, whole numbers row after row."""
    side, k = len(factors), 0
    figure = [[0] * side for _ in range(side)]
    for a in range(side):
        for b in range(a, side):
            figure[a][b] = figure[b][a] = k
            k += 1
    laws = (None,) * (k + 1)  # the last figure counts parties
    summed = SumsEstimate.of(labels, tuple(int(v) for v in total), units, laws, n, rounded_columns(domain))
    return replace(CrossProductsEstimate.of(factors, tuple(map(tuple, figure)), summed, laws), parties=int(total[k]))


def _nearest(v: Fraction) -> int:
    """Halves go up, on every machine: round() would send them to even numbers."""
    return (2 * v.numerator + v.denominator) // (2 * v.denominator)


_PEOPLE = Schema({"stay": Integers(-2, 30), "age": Integers(0, 99), "ward": Categories(["A", "B", "C"])})
_DOSES = Schema({"dose": Interval(0.5, 2.5, cells=8), "income": Integers(-(10**9), 10**9)})

EXAMPLES = (
    WithinPartyProducts(_PEOPLE, ("stay", "age", "(ward == 'B')", "(ward == 'C') * age")),
    WithinPartyProducts(_DOSES, ("dose", "income", "dose ** 2 * income")),
    PartyOuterProducts(
        FunctionSums(_PEOPLE, "residuals", ("stay", "1", "age"), ("2.5", "-1/30"), ("scores",)), rows=1000
    ),
)
