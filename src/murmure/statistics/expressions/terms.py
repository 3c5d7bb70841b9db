"""Exact arithmetic on columns: every term is a public unit times a whole number between two public bounds.

    value of a row = unit * v,    unit a positive Fraction,    v a whole number,    low <= v <= high

Bounds come from the schema by interval arithmetic, so they are public; equal terms are kept once. Whole numbers are
int64 where the bounds prove that nothing on the way passes 2**62, and Python's own where they do not ("wide").
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from murmure.core.cells.gridded_floats import GriddedFloats
from murmure.core.domain import Categories, Decimals, Integers, Interval
from murmure.core.errors import InvalidParameter
from murmure.core.schema import Schema
from murmure.core.types import Array
from murmure.statistics.expressions.gridded_steps import kernels_of_digits, steps_of
from murmure.statistics.expressions.real_functions import FUNCTIONS, grid_of_function, on_grid

ROOM = 1 << 62  # int64 holds what stays below, and the difference of two such numbers
MAX_TERM_BITS = (
    8192  # of a bound or of a unit: products of tenth powers fit. Beyond that an expression is a mistake or an attack
)
ORDERS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
EQUALS = {"==": np.equal, "!=": np.not_equal}
COMPARISONS: dict[str, Any] = {**ORDERS, **EQUALS}


@dataclass(frozen=True)
class Term:
    """One step of a calculation, made of earlier ones: operand i enters as times[i] * v."""

    kind: str  # constant, column, label, plus, times, power, abs, min, max, rounded, log, exp, sqrt, or a comparison
    of: tuple[int, ...]
    times: tuple[int, ...]
    unit: Fraction
    low: int
    high: int
    detail: Any = None  # the column and its grid or codes; the exponent; what a function or a rounding needs
    columns: frozenset[str] = frozenset()
    wide: bool = False  # some number on the way may pass 2**62

    @property
    def max_abs(self) -> int:
        return max(abs(self.low), abs(self.high))

    @property
    def is_constant(self) -> bool:
        return self.kind == "constant"

    @property
    def is_condition(self) -> bool:
        """Whether it holds nothing but 0 and 1."""
        return self.unit * self.low in (0, 1) and self.unit * self.high in (0, 1) and self.unit == 1


def common_unit(units: Sequence[Fraction]) -> Fraction:
    """The largest unit that divides all of these."""
    over = math.lcm(*(unit.denominator for unit in units))
    return Fraction(math.gcd(*(int(unit * over) for unit in units)), over)


def grid_of(domain: Integers | Interval | Decimals) -> tuple[Fraction, Fraction]:
    """value = first + step * code, exactly: the middles of an Interval's cells.

    Bounds are read as the decimals that people write: 0.1 is a tenth, and not the nearest float.
    """
    if isinstance(domain, Integers):
        return Fraction(domain.low), Fraction(1)
    if isinstance(domain, Decimals):
        return domain.low_exact, domain.step
    low, high = Fraction(repr(domain.low)), Fraction(repr(domain.high))
    step = (high - low) / domain.cells
    return low + step / 2, step


class Terms:
    """All terms of some expressions, in an order in which they can be calculated."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.steps: list[Term] = []
        self._number: dict[Term, int] = {}

    def __getitem__(self, number: int) -> Term:
        return self.steps[number]

    def _keep(self, term: Term) -> int:
        if term.low == term.high and not term.is_constant:
            return self.constant(term.unit * term.low)  # the same for every row
        bits = (term.max_abs, term.unit.numerator, term.unit.denominator)
        if max(size.bit_length() for size in bits) > MAX_TERM_BITS:
            raise InvalidParameter(
                "one row could add more than 2**{max_term_bits}, or would need that many digits.",
                hint="use smaller powers",
                max_term_bits=MAX_TERM_BITS,
            )
        # Equal terms have one number: products that are the same are then summed once.
        if term not in self._number:
            self._number[term] = len(self.steps)
            self.steps.append(term)
        return self._number[term]

    # -- leaves -------------------------------------------------------------------------------------------------------

    def constant(self, value: Fraction) -> int:
        unit = abs(value) or Fraction(1)
        v = int(value / unit)
        return self._keep(Term("constant", (), (), unit, v, v))

    def column(self, name: str) -> int:
        """The numbers of a column."""
        domain: Any = self.schema[name]
        first, step = grid_of(domain)
        unit = common_unit([first, step]) if first else step
        a, b = int(first / unit), int(step / unit)
        last = a + b * (domain.size - 1)
        term = Term("column", (), (), unit, a, last, (name, a, b), frozenset([name]))
        return self._keep(replace(term, wide=term.max_abs >= ROOM))

    def label(self, name: str, code: int) -> int:
        """1 where the column holds this label."""
        return self._keep(Term("label", (), (), Fraction(1), 0, 1, (name, code), frozenset([name])))

    # -- what is made of others ---------------------------------------------------------------------------------------

    def plus(self, a: int, b: int, sign: int = 1) -> int:
        if a == b:
            return self._scale(a, Fraction(1 + sign))
        unit, (j, k) = self._align([a, b])
        k *= sign
        ends = sorted((k * self[b].low, k * self[b].high))
        return self._derive("plus", (a, b), (j, k), unit, j * self[a].low + ends[0], j * self[a].high + ends[1])

    def minus(self, a: int) -> int:
        return self._derive("plus", (a,), (-1,), self[a].unit, -self[a].high, -self[a].low)

    def multiply(self, a: int, b: int) -> int:
        if self._never_meet(a, b):
            return self.constant(Fraction(0))
        (x, i), (y, j) = self._base(a), self._base(b)
        if x == y:
            return self.power(x, i + j)  # x * x is never negative, which corners do not see
        for constant, other in ((a, b), (b, a)):
            if self[constant].is_constant:
                return self._scale(other, self[constant].unit * self[constant].low)
        a, b = sorted((a, b))  # a product is the same both ways
        corners = [u * v for u, v in product((self[a].low, self[a].high), (self[b].low, self[b].high))]
        return self._derive("times", (a, b), (1, 1), self[a].unit * self[b].unit, min(corners), max(corners))

    def _base(self, a: int) -> tuple[int, int]:
        """Of a power, what is raised and how high."""
        term = self[a]
        plain = term.kind == "power" and term.unit == self[term.of[0]].unit ** term.detail
        return (term.of[0], term.detail) if plain else (a, 1)

    def _never_meet(self, a: int, b: int) -> bool:
        """Two labels of one column: a row holds one of them at most."""
        labels = self[a].kind == self[b].kind == "label" and self[a].is_condition and self[b].is_condition
        return labels and a != b and self[a].detail[0] == self[b].detail[0]

    def product(self, of: Sequence[int]) -> int:
        """The product of all of these, however it is written: (c x) (c x) and x (c x) are one term, c x^2.

        Powers are gathered, conditions appear once, and labels of one column that never meet give 0.
        """
        exponents: dict[int, int] = {}
        for a in of:
            for base, exponent in self.parts(a):
                exponents[base] = exponents.get(base, 0) + exponent
        bases = sorted(exponents)
        if any(self._never_meet(a, b) for a, b in combinations(bases, 2)):
            return self.constant(Fraction(0))
        out = self.constant(Fraction(1))
        for base in bases:
            out = self.multiply(out, self.power(base, exponents[base]))
        return out

    def parts(self, a: int) -> list[tuple[int, int]]:
        """What a product multiplies, and how often each."""
        base, exponent = self._base(a)
        term = self[base]
        if term.kind == "times" and term.unit == self[term.of[0]].unit * self[term.of[1]].unit:
            return [(b, exponent * e) for part in term.of for b, e in self.parts(part)]
        return [(base, exponent)]

    def rounded(self, a: int, bits: int) -> int:
        """The nearest multiple of its bound / 2**bits (halves up), conditions apart: they and small numbers stay."""
        parts = self.parts(a)
        conditions = [base for base, _ in parts if self[base].is_condition]
        rest = self.product([base for base, e in parts for _ in range(e) if not self[base].is_condition])
        most, steps = self[rest].max_abs, 1 << bits
        if most > steps:
            low, high = (nearest(end, steps, most) for end in (self[rest].low, self[rest].high))
            rest = self._derive("rounded", (rest,), (1,), self[rest].unit * most / steps, low, high, (steps, most))
        return self.product([*conditions, rest])

    def middle(self, a: int) -> Fraction:
        """Of the bounds."""
        return self[a].unit * (self[a].low + self[a].high) / 2

    def without_columns(self, a: int) -> int:
        """The same numbers for everybody: a row whose label is not listed is not set to 0."""
        return self._keep(replace(self[a], columns=frozenset()))

    def function(self, name: str, a: int) -> int:
        """log, exp or sqrt of a term, on a grid that its public bounds fix."""
        term = self[a]
        unit, low, high = grid_of_function(name, term.unit * term.low, term.unit * term.high)
        return self._derive(name, (a,), (1,), unit, low, high, term.unit)

    def _scale(self, a: int, factor: Fraction) -> int:
        if factor == 0 or self[a].is_constant:
            return self.constant(factor * self[a].unit * self[a].low)
        if self[a].kind in FUNCTIONS:  # the grid of a function is tied to its unit: a further term has the new unit
            a = self._derive("plus", (a,), (1,), self[a].unit, self[a].low, self[a].high)
        signed = self[a] if factor > 0 else self[self.minus(a)]
        return self._keep(replace(signed, unit=signed.unit * abs(factor)))

    def power(self, a: int, exponent: int) -> int:
        if exponent == 1 or self[a].is_condition:
            return a
        ends = self[a].low ** exponent, self[a].high ** exponent
        least = 0 if exponent % 2 == 0 and self[a].low < 0 < self[a].high else min(ends)
        return self._derive("power", (a,), (1,), self[a].unit ** exponent, least, max(ends), exponent)

    def absolute(self, a: int) -> int:
        least = 0 if self[a].low < 0 < self[a].high else min(abs(self[a].low), abs(self[a].high))
        return self._derive("abs", (a,), (1,), self[a].unit, least, self[a].max_abs)

    def extreme(self, kind: str, of: Sequence[int]) -> int:
        """The least or the largest ("min", "max") of several."""
        unit, times = self._align(of)
        pick = min if kind == "min" else max
        lows = [k * self[a].low for a, k in zip(of, times, strict=True)]
        highs = [k * self[a].high for a, k in zip(of, times, strict=True)]
        return self._derive(kind, tuple(of), times, unit, pick(lows), pick(highs))

    def compare(self, sign: str, a: int, b: int) -> int:
        """1 where a < b (and so on), 0 elsewhere; known beforehand where the bounds decide."""
        _, (j, k) = self._align([a, b])
        (p, q), (r, s) = ((j * self[a].low, j * self[a].high), (k * self[b].low, k * self[b].high))
        never, always = {
            "<": (p >= s, q < r),
            "<=": (p > s, q <= r),
            ">": (q <= r, p > s),
            ">=": (q < r, p >= s),
            "==": (q < r or s < p, p == q == r == s or a == b),
            "!=": (p == q == r == s or a == b, q < r or s < p),
        }[sign]
        return self._derive(sign, (a, b), (j, k), Fraction(1), int(always), int(not never))

    def _align(self, of: Sequence[int]) -> tuple[Fraction, tuple[int, ...]]:
        """A unit that they share, and how many of it each one's unit is."""
        moving = [self[a].unit for a in of if self[a].low or self[a].high] or [Fraction(1)]
        unit = common_unit(moving)
        return unit, tuple(int(self[a].unit / unit) if self[a].max_abs else 1 for a in of)

    def _derive(
        self,
        kind: str,
        of: tuple[int, ...],
        times: tuple[int, ...],
        unit: Fraction,
        low: int,
        high: int,
        detail: Any = None,
    ) -> int:
        columns = frozenset[str]().union(*(self[a].columns for a in of))
        most = max(abs(low), abs(high), *(abs(k) * self[a].max_abs for a, k in zip(of, times, strict=True)))
        return self._keep(Term(kind, of, times, unit, low, high, detail, columns, most >= ROOM))

    # -- rows ---------------------------------------------------------------------------------------------------------

    def dependencies(self, wanted: Sequence[int]) -> list[int]:
        """The terms that these are made of, and these, in order."""
        out, waiting = set(), list(wanted)
        while waiting:
            number = waiting.pop()
            if number not in out:
                out.add(number)
                waiting += self[number].of
        return sorted(out)

    def values(self, order: Sequence[int], codes: Mapping[str, Array]) -> dict[int, Any]:
        """The whole numbers v of these terms (as `needed` lists them), for some rows: int64, or Python's own.

        A constant is one number for all rows.
        """
        computed: dict[int, Any] = {}
        for number in order:
            computed[number] = self._value(self[number], computed, codes)
        return computed

    def _value(self, term: Term, computed: Mapping[int, Any], codes: Mapping[str, Array]) -> Any:
        if term.is_constant:
            return term.low
        if term.kind == "label":
            name, code = term.detail
            return (codes[name] == code).astype(np.int64)
        if term.kind == "column":
            name, first, times = term.detail
            column = codes[name]
            if times == 1 and not term.wide and isinstance(column, GriddedFloats):
                return steps_of(column, first - column.domain.first, kernels_of_digits(len(column)))
            v = np.asarray(column).astype(object if term.wide else np.int64)
            v = v if times == 1 else times * v
            return v if first == 0 else first + v
        parts = [_widened(computed[a], term.wide) for a in term.of]
        parts = [part if k == 1 else k * part for part, k in zip(parts, term.times, strict=True)]
        out = _combine(term, parts)
        return out.astype(object if term.wide and term.kind not in COMPARISONS else np.int64)


def nearest(v: Any, steps: int, most: int) -> Any:
    """v steps / most, to the nearest whole number; halves go up. |v| <= most.

    In words of 64 bits: a float is off by one at most, and what is left, below 4 most, says by how much.
    """
    if isinstance(v, int):
        return (2 * v * steps + most) // (2 * most)
    if v.dtype == object or most >= ROOM >> 2:
        return (2 * v.astype(object) * steps + most) // (2 * most)
    near = np.rint(v * (steps / most)).astype(np.int64)
    left = v * np.int64(2 * steps) + np.int64(most) - near * np.int64(2 * most)  # in [0, 2 most) where near is right
    return near + (left >= 2 * most) - (left < 0)


def _widened(v: Any, wide: bool) -> Any:
    if isinstance(v, int):
        return v
    return v.astype(object) if wide else v


def _combine(term: Term, parts: list[Any]) -> Any:
    if term.kind == "plus":
        return sum(parts[1:], parts[0])
    if term.kind == "times":
        return parts[0] * parts[1]
    if term.kind == "power":
        return parts[0] ** term.detail
    if term.kind == "abs":
        return np.abs(parts[0])
    if term.kind == "rounded":
        return nearest(parts[0], *term.detail)
    if term.kind in FUNCTIONS:
        return on_grid(term.kind, parts[0], term.detail, term.unit, term.low, term.high)
    if term.kind in COMPARISONS:
        return COMPARISONS[term.kind](*parts)
    pick = np.minimum if term.kind == "min" else np.maximum
    out = parts[0]
    for part in parts[1:]:
        out = pick(out, part)
    return np.asarray(out)


def is_number(schema: Schema, name: str) -> bool:
    return not isinstance(schema[name], Categories)
