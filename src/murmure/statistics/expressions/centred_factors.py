"""Factors less a public middle, for noise: products then have a fraction of the bounds, and raw ones are read off them.

    f_a = g_a + sum_k c_ak f_k      with f_k other factors ("1", or what f_a is made of) and c public, so that
    R_ab = G_ab + sum_k c_ak R_kb + sum_l c_bl R_al - sum_kl c_ak c_bl R_kl        R: sums of f_a f_b, G: of g_a g_b

and every raw sum is an exact combination of as many noisy ones. age in [18, 77] has products up to 77^2, less its
middle up to 29.5^2. x ** 2 beside x is (x - m)^2 less its own middle, and c x beside c is c (x - m). A square lies in
[0, h^2], and its sum is taken less h^2 / 2 for each row, which R_11 gives back. A condition becomes -1/2 or 1/2, but
for labels of one column beside one another: a row has one of them at most, so the sums of all that go with the same
numbers share one block, and together cost what one of them does.

A row whose label is not listed adds nothing to a raw sum that reads the label: its condition is 0, hence -1/2 here;
what else reads labels is left as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

from murmure.core.domain import Categories
from murmure.statistics.expressions.factors import CentredFactor, Combination, ProductLayout
from murmure.statistics.expressions.terms import Terms


@dataclass(frozen=True)
class Centring:
    """Factors as terms, and which of them is which: products of the same numbers are one, however they are written."""

    terms: Terms
    numbers: Sequence[int]
    bits: int

    def factor(self, a: int) -> CentredFactor:
        """g_a on so many bits, and the c_ak."""
        terms, number = self.terms, self.numbers[a]
        if terms[number].is_constant:
            return CentredFactor(number, {})
        parts = terms.parts(number)
        conditions = [base for base, _ in parts if terms[base].is_condition]
        others = [(base, e) for base, e in parts if not terms[base].is_condition]
        if not others:
            one = self.where([])
            if one is None or not self._alone(a):
                return CentredFactor(number, {})
            half = terms.plus(number, terms.constant(Fraction(1, 2)), -1)
            return CentredFactor(terms.without_columns(half), {one: Fraction(1, 2)})
        rest, lower = self._spread(conditions, others) or (terms.product(_repeated(others)), {})
        least = self.where(conditions)
        if least is not None and not any(self.labelled(base) for base, _ in others):
            middle = terms.middle(rest)
            rest = terms.plus(rest, terms.constant(middle), -1) if middle else rest
            lower = {**lower, least: lower.get(least, Fraction(0)) + middle}
        whole = terms.rounded(terms.product([*conditions, rest]), self.bits)
        return CentredFactor(whole, {k: c for k, c in lower.items() if c})

    def _spread(
        self, conditions: Sequence[int], others: Sequence[tuple[int, int]]
    ) -> tuple[int, dict[int, Fraction]] | None:
        """prod (b - m_b)^e, and what it lacks; None where some product that it lacks is no factor."""
        terms, lower = self.terms, dict[int, Fraction]()
        if sum(e for _, e in others) == 1:
            return None
        middles = {base: Fraction(0) if self.labelled(base) else terms.middle(base) for base, _ in others}
        for powers in product(*(range(e + 1) for _, e in others)):
            c, of = Fraction(1), list(conditions)
            for (base, e), j in zip(others, powers, strict=True):
                c *= math.comb(e, j) * (-middles[base]) ** (e - j)
                of += [base] * j
            if c == 0 or powers == tuple(e for _, e in others):
                continue
            at = self.where(of)
            if at is None:
                return None
            lower[at] = lower.get(at, Fraction(0)) - c
        shifted = {b: terms.plus(b, terms.constant(m), -1) if m else b for b, m in middles.items()}
        return terms.product(_repeated([(shifted[base], e) for base, e in others])), lower

    def where(self, of: Sequence[int]) -> int | None:
        """The factor that is the product of these."""
        return self._places.get(self.terms.product(of))

    @cached_property
    def _places(self) -> dict[int, int]:
        return {self.terms.product([number]): k for k, number in reversed(list(enumerate(self.numbers)))}

    def labelled(self, a: int) -> bool:
        return any(isinstance(self.terms.schema[name], Categories) for name in self.terms[a].columns)

    def _alone(self, a: int) -> bool:
        """Whether a condition has no label beside it that it never meets, and a row without label does not hold it."""
        mine = self._labels(self.numbers[a])
        read = {name for base, _ in self.terms.parts(self.numbers[a]) for name in self.terms[base].columns}
        if any(isinstance(self.terms.schema[name], Categories) and name not in mine for name in read):
            return False
        others = [self._labels(number) for k, number in enumerate(self.numbers) if k != a]
        return all(labels.get(name, code) == code for labels in others for name, code in mine.items())

    def _labels(self, number: int) -> dict[str, int]:
        """Of the columns whose labels multiply it, which label."""
        bases = [self.terms[base] for base, _ in self.terms.parts(number)]
        return {base.detail[0]: base.detail[1] for base in bases if base.kind == "label"}


def _repeated(of: Sequence[tuple[int, int]]) -> list[int]:
    return [base for base, e in of for _ in range(e)]


def centred_layout(
    terms: Terms, numbers: Sequence[int], weight: Sequence[int], bits: int, weight_bits: int
) -> ProductLayout:
    """Which sums there are: one for every distinct raw product, of factors less their middles."""
    raw = ProductLayout.out(terms, numbers, weight)
    centring = Centring(terms, numbers, bits)
    middles = [centring.factor(a) for a in range(len(numbers))]
    heavy = [terms.rounded(number, weight_bits) for number in weight]
    first = _simplest(raw, middles)
    one = centring.where([])
    wanted: list[int] = []
    pairs: list[tuple[int, int] | None] = []
    less: list[dict[int, Fraction]] = []
    for a, b in first:
        inner = terms.product([middles[a].number, middles[b].number])
        middle = terms.middle(inner)
        if one is not None and middle and not terms[inner].is_constant and not centring.labelled(inner):
            wanted.append(terms.product([*heavy, terms.plus(inner, terms.constant(middle), -1)]))
            pairs.append(None)
            less.append({raw.figure[one][one]: middle})
            continue
        left = terms.product([*heavy, middles[a].number]) if heavy else middles[a].number
        whole = terms.product([*heavy, middles[a].number, middles[b].number])
        assert terms[whole].unit == terms[left].unit * terms[middles[b].number].unit  # v of the product is v_a v_b
        wanted.append(whole)
        pairs.append((left, middles[b].number))
        less.append({})
    order, widths = _side_by_side(terms, wanted)
    place = {old: new for new, old in enumerate(order)}
    figure = tuple(tuple(place.get(k, -1) for k in line) for line in raw.figure)
    chosen = tuple(first[k] for k in order)
    moved = tuple({place[j]: c for j, c in less[k].items()} for k in order)
    return replace(
        raw,
        wanted=tuple(wanted[k] for k in order),
        pairs=tuple(pairs[k] for k in order),
        first=chosen,
        figure=figure,
        middles=tuple(middles),
        widths=widths,
        less=moved,
        parts=_read_off(figure, chosen, middles, moved),
    )


def _simplest(raw: ProductLayout, middles: Sequence[CentredFactor]) -> list[tuple[int, int]]:
    """Of every raw sum, two factors whose product it is: a constant and another first, then those that lack the least.

    So R_ab is read off sums of fewer factors: see `_read_off`.
    """
    constant = [raw.terms[number].is_constant for number in raw.numbers]
    simplest: dict[int, tuple[bool, int, int, int]] = {}
    for a, line in enumerate(raw.figure):
        for b in range(a, len(line)):
            if line[b] >= 0:
                candidate = (not (constant[a] or constant[b]), len(middles[a].less) + len(middles[b].less), a, b)
                simplest[line[b]] = min(simplest.get(line[b], candidate), candidate)
    return [simplest[k][2:] for k in range(len(simplest))]


def _side_by_side(terms: Terms, wanted: Sequence[int]) -> tuple[list[int], tuple[int, ...]]:
    """An order in which products of the same numbers with different labels of the same columns follow one another.

    Two of a group have different labels of some column, so that one row adds to one of them at most.
    """
    groups: dict[tuple[object, ...], dict[tuple[tuple[str, int], ...], int]] = {}
    for k, number in enumerate(wanted):
        parts = terms.parts(number)
        labels = tuple(sorted(terms[base].detail for base, _ in parts if terms[base].kind == "label"))
        rest = terms.product([base for base, e in parts for _ in range(e) if terms[base].kind != "label"])
        key: tuple[object, ...] = (rest, *(column for column, _ in labels))
        if not labels or labels in groups.get(key, {}):
            key = ("alone", k)
        groups.setdefault(key, {})[labels] = k
    return [k for group in groups.values() for k in group.values()], tuple(len(group) for group in groups.values())


def _read_off(
    figure: Sequence[Sequence[int]],
    first: Sequence[tuple[int, int]],
    middles: Sequence[CentredFactor],
    less: Sequence[Combination],
) -> tuple[Combination, ...]:
    """Every raw sum as a combination of the noisy ones.

    It ends: what a factor lacks has fewer numbers in it, or fewer conditions, and a product that stays the same without
    a condition of one factor is the product of "1" with the other.
    """
    done: dict[int, dict[int, Fraction]] = {-1: {}}

    def add(out: dict[int, Fraction], c: Fraction, number: int) -> None:
        for k, v in of(number).items():
            out[k] = out.get(k, Fraction(0)) + c * v

    def of(number: int) -> dict[int, Fraction]:
        if number not in done:
            a, b = first[number]
            out = {number: Fraction(1), **less[number]}
            for k, c in middles[a].less.items():
                add(out, c, figure[k][b])
            for l, d in middles[b].less.items():
                add(out, d, figure[a][l])
                for k, c in middles[a].less.items():
                    add(out, -c * d, figure[k][l])
            done[number] = {k: v for k, v in out.items() if v}
        return done[number]

    return tuple(of(number) for number in range(len(first)))
