"""All sums of products of two of some expressions: what regressions are solved from, exactly.

    g(row) = (w v_a v_b for a <= b),   value of factor a = unit_a v_a   with unit_a public and v_a whole   (terms.py)

Products that are the same whatever a row holds are summed once: an indicator squared is itself, x (c x) and (c x)^2 are
one sum; two labels of one column never meet, and their product is not summed at all.

For noise (`coarse`), factors are taken less a public middle (centred_factors.py) and rounded to 2**bits steps of their
bound, except conditions and small whole numbers: one row then adds at most 2**(2 bits) to a figure. Each figure is a
block: one row adds at most B = max(|low|, |high|), from interval arithmetic on public bounds; replacing a row moves it
by max(B, high - low). Figures of labels that never meet share a block: one row adds to one of them at most, and an
exchange moves two by B each, or one. Squares appear in one equation of a regression and products in two, so squares get
less of the budget.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, cached_property
from typing import Any

from murmure.core.blocks import Block
from murmure.core.catalogue_entries import SumEntry
from murmure.core.domain import Categories, Decimals, Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.show.phrase import commas
from murmure.statistics.base.exact_sums import ExactSums
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate
from murmure.statistics.estimates.sums_estimate import SumsEstimate
from murmure.statistics.expressions.centred_factors import centred_layout
from murmure.statistics.expressions.factors import (
    ProductLayout,
    check_factors,
    named_middle,
    named_product,
    read_factor,
    rounded_columns,
)
from murmure.statistics.expressions.terms import Terms

MAX_FACTOR_BITS = 30  # bits of a factor under noise
SQUARES_SHARE = 0.5  # of what a product gets of the budget


@dataclass(frozen=True)
class CrossProducts(ExactSums):
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

    entry = SumEntry(order=110)

    def __post_init__(self) -> None:
        factors = check_factors(type(self).__name__, self.domain, self.factors)
        object.__setattr__(self, "factors", factors)
        bits = self.bits
        if bits is not None and (
            isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= MAX_FACTOR_BITS
        ):
            raise InvalidParameter(
                "CrossProducts.bits must be a whole number from 1 to {max_factor_bits}, or None, got {got}.",
                hint="14 leaves room for 2**32 rows under noise",
                max_factor_bits=MAX_FACTOR_BITS,
                got=shorten(bits),
            )
        if not isinstance(self.centred, bool) or (self.centred and bits is None):
            raise InvalidParameter(
                "CrossProducts.centred must be True or False, and needs bits, got {got}.",
                hint="CrossProducts(...).coarse(14)",
                got=shorten(self.centred),
            )
        self._set_terms(self._layout.terms, self._layout.wanted)

    @cached_property
    def _layout(self) -> ProductLayout:
        """Which sums there are. It also drops the columns that no factor reads."""
        terms = Terms(self.domain)
        numbers = [read_factor(text, terms) for text in self.factors]
        weight = self._weight(terms)
        self._keep_columns_read(terms, [*numbers, *weight])
        if self.bits is None:
            return ProductLayout.out(terms, numbers, weight)
        # Two factors and a weight together stay below 2**(2 bits).
        factor_bits = max(1, self.bits if not weight else 2 * self.bits // 3)
        weight_bits = max(1, 2 * self.bits - 2 * factor_bits)
        if self.centred:
            return centred_layout(terms, numbers, weight, factor_bits, weight_bits)
        numbers = [terms.rounded(number, factor_bits) for number in numbers]
        return ProductLayout.out(terms, numbers, [terms.rounded(number, weight_bits) for number in weight])

    def _weight(self, terms: Terms) -> list[int]:
        if self.weight is None:
            return []
        number = read_factor(self.weight, terms)
        if terms[number].low < 0:
            least = float(terms[number].unit * terms[number].low)
            raise InvalidParameter(
                "CrossProducts.weight must not be negative; by its public bounds, {weight} can be {least:g}.",
                hint="give the column a lower bound of 0, or use max(weight, 0)",
                weight=shorten(self.weight, 100),
                least=least,
            )
        return [number]

    def coarse(self, bits: int) -> CrossProducts:
        """The same question for noise: every factor less its middle, rounded to this many bits."""
        return replace(self, bits=bits, centred=True)

    # -- figures ------------------------------------------------------------------------------------------------------

    @property
    def figure(self) -> tuple[tuple[int, ...], ...]:
        """For every two factors the number of their sum; -1: it is always 0. Where centred, see ProductLayout.parts."""
        return self._layout.figure

    @property
    def _factor_pairs(self) -> Any:
        return self._layout.pairs

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
    def blocks(self) -> tuple[Block, ...]:
        out, at = [], 0
        for width in self._layout.widths or (1,) * self.width:
            term, (a, b) = self.figures[at], self._layout.first[at]
            most = term.max_abs
            # an exchanged row may be one that adds nothing, so a whole row at least
            apart = max(most, term.high - term.low)
            l1, l2 = (apart, apart**2) if width == 1 else (2 * most, max(2 * most**2, apart**2))
            square = self.centred and a == b and not term.is_constant and not term.is_condition
            share = SQUARES_SHARE if square else 1.0
            out.append(Block(self.labels[at], width, most, most**2, share, l1, l2))
            at += width
        return tuple(out)

    @property
    def formulas(self) -> tuple[str, ...]:
        return self.factors if self.weight is None else (*self.factors, self.weight)

    def in_words(self) -> Phrase:
        """The question in the words of a ledger and a release."""
        of = commas(self.factors)
        if len(self.factors) > 5:
            columns = _columns(self.domain)
            of = Phrase("{count} expressions of {columns}", count=len(self.factors), columns=columns)
        words = Phrase("{n} sums of products of two of {factors}", n=self.width, factors=of)
        if self.centred:
            words = Phrase("{sums}, each less a public middle", sums=words)
        return words if self.weight is None else Phrase("{sums}, weighted by {weight}", sums=words, weight=self.weight)

    def _estimate(self, integers: list[int], laws: tuple[Any, ...], n: int | None) -> CrossProductsEstimate:
        summed = SumsEstimate.of(self.labels, tuple(integers), self.units, laws, n, rounded_columns(self.domain))
        return CrossProductsEstimate.of(self.factors, self.figure, summed, laws, self._layout.parts)


def _columns(schema: Schema) -> str:
    names = schema.private
    return ", ".join(names) if len(names) < 4 else Phrase("{n} columns", n=len(names))


_HOSPITAL = Schema({"age": Integers(0, 99), "stay": Integers(-2, 30), "ward": Categories(["A", "B", "C"])})
_DOSES = Schema({"dose": Interval(0.5, 2.5, cells=8), "change": Interval(-0.3, 0.1, cells=5), "weight": Integers(0, 7)})
_INCOME = Decimals(Decimal("-1e9"), Decimal("1e9"), 6)
_WIDE = Schema({"income": _INCOME, "year": Integers(1900, 2030), "ward": Categories(2)})


@cache
def __getattr__(name: str) -> Any:
    """EXAMPLES, made when they are asked for: their products take a tenth of the time of a first import."""
    if name != "EXAMPLES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return (
        CrossProducts(_HOSPITAL, ("1", "age", "(ward == 'B')", "(ward == 'C')", "(ward == 'B') * age", "stay")),
        CrossProducts(_HOSPITAL, ("1", "age", "age ** 2", "(ward == 'B') * age * stay", "stay"), bits=6),
        CrossProducts(_DOSES, ("1", "dose", "change", "dose > 1"), "weight"),
        CrossProducts(_DOSES, ("1", "dose", "change", "dose * change"), "weight / 3", bits=3),
        CrossProducts(_WIDE, ("1", "income", "year", "income ** 3", "(ward == 1) * income")),
        CrossProducts(_WIDE, ("1", "year", "log(year)", "sqrt(year - 1900)", "exp((year - 1950) / 20)", "ward == 1")),
        CrossProducts(_WIDE, ("1", "income", "year", "income ** 3", "(ward == 1) * income"), bits=14),
        CrossProducts(_HOSPITAL, ("1", "age", "(ward == 'B')", "(ward == 'C')", "(ward == 'B') * age", "stay")).coarse(
            14
        ),
        CrossProducts(_HOSPITAL, ("1", "age", "age ** 2", "(ward == 'B')", "age * stay", "age > 50", "stay")).coarse(6),
        CrossProducts(_HOSPITAL, ("ward == 'A'", "ward == 'B'", "(ward == 'A') * stay", "(ward == 'B') * stay")).coarse(
            9
        ),
        CrossProducts(_DOSES, ("1", "dose", "change", "dose * change", "dose > 1"), "weight / 3").coarse(5),
        CrossProducts(_WIDE, ("1", "income", "year", "income ** 3", "(ward == 1) * income", "ward == 1")).coarse(14),
    )
