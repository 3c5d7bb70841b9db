"""All sums of products of two of some expressions: what regressions are solved from, exactly.

    g(row) = (w v_a v_b for a <= b),   value of factor a = unit_a v_a   with unit_a public and v_a whole   (terms.py)

Products that are the same whatever a row holds are summed once: an indicator squared is itself, x (c x) and (c x)^2 are
one sum; two labels of one column never meet, and their product is not summed at all.

For noise (`coarse`), factors are taken less a public middle (centred.py) and rounded to 2**bits steps of their bound,
conditions and small whole numbers apart: one row then adds at most 2**(2 bits) to a figure. Each figure is a block of
its own: one row adds at most B = max(|low|, |high|), from interval arithmetic on public bounds; exchanging a row moves
it by max(B, high - low). Figures of labels that never meet share a block: one row adds to one of them at most, and an
exchange moves two by B each, or one. Squares stand in one equation of a regression and products in two, so squares get
less of the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import Block, NoisySum
from murmure.core.domain import Categories, Decimals, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import LIMIT, Array
from murmure.statistics.base.statistic import CuratorStatistic
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate
from murmure.statistics.estimates.sums_estimate import SumsEstimate
from murmure.statistics.expressions.centred_factors import centred_layout
from murmure.statistics.expressions.exact_summation import ExactSummation
from murmure.statistics.expressions.factors import (
    ProductLayout,
    check_factors,
    named_middle,
    named_product,
    read_factor,
    rounded_columns,
)
from murmure.statistics.expressions.parser import columns_in
from murmure.statistics.expressions.terms import Term, Terms
from murmure.statistics.sums import MAX_INT64_ROWS

FINEST = 30  # bits of a factor under noise
SQUARES = 0.5  # of what a product gets of the budget


@dataclass(frozen=True)
class CrossProducts(CuratorStatistic):
    """`CrossProducts(schema, ("1", "age", "(ward == 'B')", "stay"))`: the sums of all products of two of these.

    weight: an expression that is never negative, by its public bounds; every product is multiplied by it.
    bits: to how many bits factors are rounded, for noise; None: exact sums. centred: sums are those of factors less
    public middles, as far as the other factors allow ("1" above all); the matrix that is read is that of the factors.
    """

    domain: Schema
    factors: tuple[str, ...]
    weight: str | None = None
    bits: int | None = None
    centred: bool = False

    def __post_init__(self) -> None:
        said = check_factors(type(self).__name__, self.domain, self.factors)
        object.__setattr__(self, "factors", said)
        bits = self.bits
        if bits is not None and (isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= FINEST):
            raise InvalidParameter(
                f"CrossProducts.bits must be a whole number from 1 to {FINEST}, or None, got {shorten(bits)}.",
                hint="14 leaves room for 2**32 rows under noise",
            )
        if not isinstance(self.centred, bool) or (self.centred and bits is None):
            raise InvalidParameter(
                f"CrossProducts.centred must be True or False, and goes with bits, got {shorten(self.centred)}.",
                hint="CrossProducts(...).coarse(14)",
            )
        terms = Terms(self.domain)
        numbers = [read_factor(text, terms) for text in said]
        weight = self._weight(terms)
        read = columns_in(terms, [*numbers, *weight]) or self.domain.private[:1]
        # the columns that are read: nobody has to hold, or to show, the others
        terms.schema = Schema({name: self.domain.about[name] for name in read})
        object.__setattr__(self, "domain", terms.schema)
        each, heavy = 0, 0
        if bits is not None:
            each = max(1, bits if not weight else 2 * bits // 3)  # so that two factors and a weight stay below
            heavy = max(1, 2 * bits - 2 * each)  # 2**(2 bits)
        if self.centred:
            vars(self)["_laid"] = centred_layout(terms, numbers, weight, each, heavy)
            return
        if bits is not None:
            numbers = [terms.rounded(number, each) for number in numbers]
            weight = [terms.rounded(number, heavy) for number in weight]
        vars(self)["_laid"] = ProductLayout.out(terms, numbers, weight)

    def _weight(self, terms: Terms) -> list[int]:
        if self.weight is None:
            return []
        number = read_factor(self.weight, terms)
        if terms[number].low < 0:
            least = float(terms[number].unit * terms[number].low)
            raise InvalidParameter(
                f"CrossProducts.weight must not be negative; {shorten(self.weight, 100)} may be {least:g}, by its "
                "public bounds.",
                hint="give the column a lower bound of 0, or take max(weight, 0)",
            )
        return [number]

    def coarse(self, bits: int) -> CrossProducts:
        """The same question for noise: every factor less its middle, on so many bits."""
        return replace(self, bits=bits, centred=True)

    # -- figures ------------------------------------------------------------------------------------------------------

    @property
    def figure(self) -> tuple[tuple[int, ...], ...]:
        """Of every two factors the number of their sum (centred: see Laid.parts); -1: it is 0, whatever rows hold."""
        return self._layout.figure

    @property
    def _layout(self) -> ProductLayout:
        held: ProductLayout = vars(self)["_laid"]
        return held

    @cached_property
    def figures(self) -> tuple[Term, ...]:
        """Of every sum its unit, and the bounds of what one row adds in that unit."""
        return tuple(self._layout.terms[number] for number in self._layout.wanted)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Of every sum, the first two factors whose product it is."""
        names, middles = self.factors, self._layout.middles
        if middles is not None:
            names = tuple(named_middle(names, a, middle) for a, middle in enumerate(middles))
        out = []
        for k, (a, b) in enumerate(self._layout.first):
            lacks = self._layout.less[k].values() if self._layout.less is not None else ()
            out.append(named_product(names[a], names[b]) + "".join(f" - {c}" for c in lacks))
        return tuple(out)

    @cached_property
    def _summing(self) -> ExactSummation:
        return ExactSummation(self._layout.terms, self._layout.wanted, self.wide, self._layout.pairs)

    @property
    def bounds(self) -> list[tuple[Fraction, Fraction]]:
        """What one row adds to every sum, at least and at most."""
        return [(term.unit * term.low, term.unit * term.high) for term in self.figures]

    @property
    def units(self) -> tuple[Fraction, ...]:
        """What one step of each integer sum is worth."""
        return tuple(term.unit for term in self.figures)

    @property
    def width(self) -> int:
        return len(self._layout.wanted)

    @cached_property
    def largest(self) -> int:
        return max(term.max_abs for term in self.figures)

    @property
    def wide(self) -> bool:
        """Whether sums may pass 2**63 - 1: tallies are then arrays of Python's integers."""
        return self.largest > LIMIT // MAX_INT64_ROWS

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        out, at = [], 0
        for width in self._layout.widths or (1,) * self.width:
            term, (a, b) = self.figures[at], self._layout.first[at]
            most = term.max_abs
            # an exchanged row may be one that adds nothing, so a whole row at least
            apart = max(most, term.high - term.low)
            l1, l2 = (apart, apart**2) if width == 1 else (2 * most, max(2 * most**2, apart**2))
            square = self.centred and a == b and not term.is_constant and not term.is_condition
            share = SQUARES if square else 1.0
            out.append(Block(self.labels[at], width, most, most**2, share, l1, l2))
            at += width
        return tuple(out)

    def in_words(self) -> str:
        """The question, as a ledger and a release say it."""
        few = len(self.factors) < 6
        of = ", ".join(self.factors) if few else f"{len(self.factors)} expressions of {_columns(self.domain)}"
        weighted = "" if self.weight is None else f", weighted by {self.weight}"
        middles = ", each less a public middle" if self.centred else ""
        return f"{self.width} sums of products of two of {of}{middles}{weighted}"

    # -- rows ---------------------------------------------------------------------------------------------------------

    def lift(self, x: Sequence[Array]) -> NDArray[Any]:
        return self._summing.rows(x)

    def tally(self, x: Sequence[Array]) -> NDArray[Any]:
        return self._summing.total(x)

    # -- what is read -------------------------------------------------------------------------------------------------

    def interpret(self, noisy: NoisySum) -> CrossProductsEstimate:
        laws = tuple(law for block, _, law in noisy for _ in range(block.width))
        return self._crossed([int(v) for v in noisy.sum], laws, None)

    def interpret_exact(self, total: Sequence[int] | NDArray[Any], n: int) -> CrossProductsEstimate:
        """The exact sums of n rows, from whole numbers however large."""
        return self._crossed([int(v) for v in total], (None,) * self.width, n)

    def _crossed(self, whole: list[int], laws: tuple[Any, ...], n: int | None) -> CrossProductsEstimate:
        summed = SumsEstimate.of(self.labels, tuple(whole), self.units, laws, n, rounded_columns(self.domain))
        return CrossProductsEstimate.of(self.factors, self.figure, summed, laws, self._layout.parts)

    def reference(self, x: Sequence[Array]) -> NDArray[np.float64]:
        sums = self.lift(x).astype(object).sum(axis=0)
        return np.array([float(v * unit) for v, unit in zip(sums, self.units, strict=True)])


def _columns(schema: Schema) -> str:
    names = schema.private
    return ", ".join(names) if len(names) < 4 else f"{len(names)} columns"


_HOSPITAL = Schema({"age": Integers(0, 99), "stay": Integers(-2, 30), "ward": Categories(["A", "B", "C"])})
_DOSES = Schema({"dose": Interval(0.5, 2.5, cells=8), "change": Interval(-0.3, 0.1, cells=5), "weight": Integers(0, 7)})
_INCOME = Decimals(Decimal("-1e9"), Decimal("1e9"), 6)
_WIDE = Schema({"income": _INCOME, "year": Integers(1900, 2030), "ward": Categories(2)})

EXAMPLES = (
    CrossProducts(_HOSPITAL, ("1", "age", "(ward == 'B')", "(ward == 'C')", "(ward == 'B') * age", "stay")),
    CrossProducts(_HOSPITAL, ("1", "age", "age ** 2", "(ward == 'B') * age * stay", "stay"), bits=6),
    CrossProducts(_DOSES, ("1", "dose", "change", "dose > 1"), "weight"),
    CrossProducts(_DOSES, ("1", "dose", "change", "dose * change"), "weight / 3", bits=3),
    CrossProducts(_WIDE, ("1", "income", "year", "income ** 3", "(ward == 1) * income")),
    CrossProducts(_WIDE, ("1", "year", "log(year)", "sqrt(year - 1900)", "exp((year - 1950) / 20)", "ward == 1")),
    CrossProducts(_WIDE, ("1", "income", "year", "income ** 3", "(ward == 1) * income"), bits=14),
    CrossProducts(_HOSPITAL, ("1", "age", "(ward == 'B')", "(ward == 'C')", "(ward == 'B') * age", "stay")).coarse(14),
    CrossProducts(_HOSPITAL, ("1", "age", "age ** 2", "(ward == 'B')", "age * stay", "age > 50", "stay")).coarse(6),
    CrossProducts(_HOSPITAL, ("ward == 'A'", "ward == 'B'", "(ward == 'A') * stay", "(ward == 'B') * stay")).coarse(9),
    CrossProducts(_DOSES, ("1", "dose", "change", "dose * change", "dose > 1"), "weight / 3").coarse(5),
    CrossProducts(_WIDE, ("1", "income", "year", "income ** 3", "(ward == 1) * income", "ward == 1")).coarse(14),
)
