"""Rows as vectors of whole numbers: (1, x) for a regression, every column centred and scaled by public constants.

    code c of K, t = 2c - (K-1);   u = m t, m = floor(g / (K-1)), or t g / (K-1), rounded, if m t wastes 2% of g
    label c of k > 2: the indicator of c, times g, the first label being the public baseline; of two labels: -g or g

The grid vector of a row is v = (g, u). Shapes bound it, and a row outside is weighed down *as a whole*, its target too:
    box       nothing to do                                    L = sum of the columns' largest values
    unit      nothing to do: x was divided by sqrt(d)          L = about g (1 + sqrt(d)), as Zhang et al. normalise
    ball      v <- v min(1, R / |v|_2), cut toward zero        R^2 = g^2 (1 + radius^2)
    diamond   v <- v min(1, L / |v|_1), cut toward zero        L   = g (1 + radius)
A public centre may be taken off every number first (u <- u - c): rows near it are then short, and few are weighed down.
Least squares then weighs this row less, by a factor that depends on x alone: the model that it obeys stays the same, so
coefficients stay consistent; moving x alone would bias them. A row with a label that is not listed adds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from murmure.core.domain import Categories, Domain, check_few_values
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Array, NumberDomain

Floats = NDArray[np.float64]

SHAPES = ("box", "unit", "ball", "diamond")
BLOCK = 1 << 13  # rows at a time: they stay in the cache while they are scaled and multiplied
MAX_GRID_BITS = 16
MAX_DESIGN_COLUMNS = 1 << 11  # of a design; products grow with the square


@dataclass(frozen=True)
class Axis:
    """One column on the grid: the largest value there, and what one grid step is in the units of the column."""

    domain: Domain
    g: int
    baseline: bool = True  # whether the first of more than two labels has no indicator

    @property
    def indicators(self) -> bool:
        """Whether the column is several indicators. At most one of them is not zero."""
        return isinstance(self.domain, Categories) and self.domain.size > 2

    @property
    def width(self) -> int:
        return self.domain.size - self.baseline if self.indicators else 1

    @property
    def steps(self) -> int:
        return self.domain.size - 1

    @property
    def fine(self) -> bool:
        """Whether whole steps do not fill the grid well (98%), so that values are rounded to it instead."""
        return 50 * (self.g // self.steps * self.steps) < 49 * self.g

    @property
    def times(self) -> int:
        """What a step of the column is on the grid; 0 where values are rounded to it."""
        return 0 if self.fine else self.g // self.steps

    @property
    def largest(self) -> int:
        """The largest grid value of a row. The ends of the range attain it."""
        return self.g if self.indicators or self.fine else self.g // self.steps * self.steps

    @property
    def middle(self) -> float:
        """The value, in the units of the column, that zero on the grid means."""
        if not isinstance(self.domain, NumberDomain):
            return 0.0 if self.indicators else 0.5
        low, step, _ = self.domain.scale()
        return float(low + step * self.steps / 2)

    @property
    def unit(self) -> float:
        """How far one grid step is, in the units of the column."""
        if self.indicators:
            return 1 / self.g
        step = self.domain.scale()[1] if isinstance(self.domain, NumberDomain) else 1.0
        return float(step * self.steps / (2 * self.largest))

    @property
    def names(self) -> list[str]:
        column = self.domain.column or "x"
        if not isinstance(self.domain, Categories):
            return [column]
        return [f"{column}={self.domain.label(c)}" for c in range(1, self.domain.size)]

    def fill(self, codes: Array, out: Floats) -> NDArray[np.bool_] | None:
        """Grid values of a few rows, written into out (width, rows); and who is nobody, where there may be some."""
        nobody = codes == self.domain.size if isinstance(self.domain, Categories) else None
        if self.indicators:
            for i in range(self.width):
                np.multiply(codes == i + self.baseline, float(self.g), out=out[i])
            return nobody
        t = out[0]
        t[:] = codes
        t *= 2
        t -= self.steps
        if not self.fine:
            t *= self.times
        else:
            t *= self.g  # below 2**48: exact
            t /= self.steps
            np.rint(t, out=t)
        return nobody


def check_target(owner: str, domain: object, target: object) -> None:
    if not isinstance(domain, Schema):
        raise InvalidParameter("{owner}.domain must be a Schema, got {got}.", owner=owner, got=shorten(domain))
    if target not in domain.private:
        raise InvalidParameter(
            "{owner}.target must be a private column of the schema, got {got}; it has {private}.",
            owner=owner,
            got=shorten(target),
            private=shorten(list(domain.private), 120),
        )
    if len(domain.private) < 2:
        raise InvalidParameter(
            "{owner} needs a column to predict {target!r} from; the schema has no other column.",
            owner=owner,
            target=target,
        )


@dataclass(frozen=True)
class GridDesign:
    """The grid vectors (1, x) of rows, and the exact bounds of what one of them can be."""

    domain: Schema
    target: str
    intercept: bool
    shape: str
    radius: float | None
    bits: int
    centre: tuple[int, ...] = ()  # of every column of x, on the grid; public. Empty: none. Of indicators it is 0

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise InvalidParameter(
                "shape must be one of {shapes}, got {got}.", shapes=", ".join(SHAPES), got=shorten(self.shape)
            )
        whole = isinstance(self.bits, int) and not isinstance(self.bits, bool)
        if not whole or not 1 <= self.bits <= MAX_GRID_BITS:
            raise InvalidParameter(
                "bits must be a whole number from 1 to {max_grid_bits}, got {got}.",
                max_grid_bits=MAX_GRID_BITS,
                got=shorten(self.bits),
            )
        radius = self.radius
        if radius is not None and (
            isinstance(radius, bool) or not isinstance(radius, int | float) or not 0 < radius < math.inf
        ):
            raise InvalidParameter(
                "radius must be a positive number, or None, got {got}.",
                hint="it is public, in units of half the range of a column: a row with all d columns at a bound has "
                "radius d in the diamond and sqrt(d) in the ball",
                got=shorten(radius),
            )
        for name in self.domain.private:
            check_few_values(Phrase("a regression"), self.domain[name])
        if self.width > MAX_DESIGN_COLUMNS:
            raise InvalidParameter(
                "a regression on {width} columns, more than {max_design_columns}, is refused.",
                width=self.width,
                max_design_columns=MAX_DESIGN_COLUMNS,
            )
        self._check_centre()
        if not (self.max_l1 and self.max_squares and all(self.caps)):
            raise InvalidParameter(
                "radius {radius!r} leaves nothing of a row on a grid of {bits} bits.", radius=radius, bits=self.bits
            )

    def _check_centre(self) -> None:
        limits = [0 if axis.indicators else axis.largest for axis in self.axes for _ in range(axis.width)]
        whole = all(isinstance(c, int) and not isinstance(c, bool) for c in self.centre)
        fits = len(self.centre) in (0, len(limits)) and whole
        if not fits or any(abs(c) > limit for c, limit in zip(self.centre, limits, strict=False)):
            raise InvalidParameter(
                "centre must be {limit_count} whole numbers within the grid, 0 for indicators, got {centre}.",
                limit_count=len(limits),
                centre=shorten(self.centre),
            )

    @property
    def g(self) -> int:
        return 1 << self.bits

    @cached_property
    def features(self) -> tuple[str, ...]:
        return tuple(name for name in self.domain.private if name != self.target)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        side = math.isqrt(self.g**2 // len(self.features)) if self.shape == "unit" else self.g
        return tuple(Axis(self.domain[name], side) for name in self.features)

    @cached_property
    def names(self) -> list[str]:
        return ["1"] * self.intercept + [name for axis in self.axes for name in axis.names]

    @cached_property
    def width(self) -> int:
        return self.intercept + sum(axis.width for axis in self.axes)

    @cached_property
    def middles(self) -> Floats:
        return np.concatenate([np.full(axis.width, axis.middle) for axis in self.axes])

    @cached_property
    def units(self) -> Floats:
        """The width of one half range (g grid steps), in the units of every column."""
        return np.concatenate([np.full(axis.width, axis.unit * self.g) for axis in self.axes])

    # -- rows ---------------------------------------------------------------------------------------------------------

    def blocks(self, x: Sequence[Array], target: Axis, weighed: bool = True) -> Iterator[Floats]:
        """Grid vectors (1, x, y) of all rows, a few at a time: (width + target.width, rows), whole numbers as floats.

        The array is used again for the next few.
        """
        at = {name: i for i, name in enumerate(self.domain.private)}
        columns = [(axis, x[at[name]]) for axis, name in zip(self.axes, self.features, strict=True)]
        columns.append((target, x[at[self.target]]))
        n = len(columns[0][1])
        buffer = np.empty((self.width + target.width, min(n, BLOCK)))
        for a in range(0, n, BLOCK):
            v = buffer[:, : n - a] if n - a < BLOCK else buffer
            row, nobody = int(self.intercept), None
            v[:row] = self.g
            for axis, codes in columns:
                missing = axis.fill(codes[a : a + BLOCK], v[row : row + axis.width])
                if missing is not None:
                    nobody = missing if nobody is None else nobody | missing
                row += axis.width
            # The centre comes off before the shape is applied: lengths are measured from it.
            if any(self.centre):
                v[int(self.intercept) : self.width] -= np.array(self.centre, np.float64)[:, None]
            if weighed:
                self.weigh(v)
            if nobody is not None:
                # a row without a listed label is zero everywhere, the constant included
                v *= ~nobody
            yield v

    def weigh(self, v: Floats) -> None:
        """Bring rows into the shape, and scale what lies below their (1, x) by the same factor.

        Sums of whole numbers below 2**53 are exact in any order, so the factor depends on the row alone. It and the
        products are too large by less than 2**-50 of themselves, and R^2 < 2**44, so after cutting |v|_1 < L + 1 and
        |v|_2^2 < R^2 + 1: whole numbers, hence at most L and R^2.
        """
        x, (limit, squared) = v[: self.width], self.limit
        if limit == 0:
            return
        size = np.sqrt((x * x).sum(axis=0)) if squared else np.abs(x).sum(axis=0)
        v *= limit / np.maximum(size, limit)
        np.trunc(v, out=v)

    @cached_property
    def limit(self) -> tuple[float, bool]:
        """How long a row may be, and whether in |v|_2 or |v|_1; 0 where no row is longer."""
        if self.shape == "diamond" and self.max_l1 < self.box_l1:
            return float(self.max_l1), False
        if self.shape == "ball" and self.max_squares < self.box_squares:
            return math.sqrt(self.max_squares), True
        return 0.0, False

    # -- bounds: whole numbers, rounded up ----------------------------------------------------------------------------

    @cached_property
    def caps(self) -> list[int]:
        """The largest value of the constant and of every column; of several indicators one is not zero."""
        offsets = iter(self.centre or (0,) * sum(axis.width for axis in self.axes))
        reach = [max(abs(next(offsets)) for _ in range(axis.width)) for axis in self.axes]
        return [self.g] * self.intercept + [axis.largest + c for axis, c in zip(self.axes, reach, strict=True)]

    @property
    def corners(self) -> bool:
        """Whether every corner of the box counts in full."""
        return self.max_l1 == self.box_l1 and self.max_squares == self.box_squares

    @property
    def box_l1(self) -> int:
        return sum(self.caps)

    @property
    def box_squares(self) -> int:
        return sum(c * c for c in self.caps)

    @cached_property
    def reach(self) -> Fraction:
        """The radius: as it was given, or 3/8 of the box's in the diamond, 1/2 in the ball (squared: 1/4)."""
        d = len(self.axes)
        if self.radius is not None:
            return Fraction(self.radius) ** (2 if self.shape == "ball" else 1)
        return Fraction(d, 4) if self.shape == "ball" else Fraction(3 * d, 8)

    @cached_property
    def max_l1(self) -> int:
        """The largest |v|_1."""
        if self.shape == "diamond":
            return min(self.box_l1, math.floor(self.g * (self.intercept + self.reach)))
        if self.shape == "ball":
            return min(self.box_l1, max_sum_of(self.max_squares, len(self.caps)))
        return self.box_l1

    @cached_property
    def max_squares(self) -> int:
        """The largest |v|_2^2."""
        if self.shape == "ball":
            return min(self.box_squares, math.floor(self.g**2 * (self.intercept + self.reach)))
        if self.shape == "diamond":
            return min(self.box_squares, sum(c * c for c in fill_caps(self.max_l1, sorted(self.caps, reverse=True))))
        return self.box_squares

    @cached_property
    def max_fourths(self) -> int:
        """The largest sum of v_j^4."""
        caps = sorted(self.caps, reverse=True)
        if self.shape == "ball":
            return sum(s * s for s in fill_caps(self.max_squares, [c * c for c in caps]))
        if self.shape == "diamond":
            return sum(c**4 for c in fill_caps(self.max_l1, caps))
        return sum(c**4 for c in caps)

    @cached_property
    def max_of_two(self) -> int:
        """The largest sum of max(|v_j|, |w_j|) over two rows: indicators of two rows may be different ones."""
        spread = len(self.caps) + sum(axis.indicators for axis in self.axes)
        box = self.box_l1 + sum(axis.largest for axis in self.axes if axis.indicators)
        out = min(box, 2 * self.max_l1)
        return min(out, max_sum_of(2 * self.max_squares, spread)) if self.shape == "ball" else out


def max_sum_of(squares: int, count: int) -> int:
    """The largest sum of `count` whole numbers whose squares add up to at most `squares`.

    The next unit of a number q costs 2q + 1 squares, the more the larger it is: so all are equal, then some one more.
    """
    q = math.isqrt(squares // count)
    return count * q + (squares - count * q * q) // (2 * q + 1)


def fill_caps(budget: int, caps: Sequence[int]) -> Iterator[int]:
    """The budget in as few places as it takes: a convex sum is largest there."""
    for cap in caps:
        yield min(cap, budget)
        budget -= min(cap, budget)
