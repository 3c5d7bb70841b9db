"""How much more some conditions make of the same columns: the ratio of public weights in one sum.

    x + 10**6 * x * (ward == "A")      x has the weights 1 and 10**6: the rows of ward A are read off the high digits
    (age - 41) ** 3                    every power of age has one weight: coefficients of a polynomial are no weights

An expression is multiplied out into products of columns, each with the conditions that it stands under. Coefficients of
the same product under different conditions are its weights. e to the power of a column is a weight too, where it
multiplies other columns, or stands beside another column in one power.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from murmure.statistics.expressions.terms import COMPARISONS, Terms

MAX_PARTS = 2000  # of an expression that is multiplied out; a longer part is taken as it is

Key = tuple[frozenset[int], tuple[tuple[Any, int], ...]]  # conditions, and columns with their powers
Polynomial = dict[Key, Fraction]
NOTHING: Key = (frozenset(), ())


def weights_in(terms: Terms, number: int) -> Iterator[Fraction | None]:
    """The ratios of weights in a sum, largest to smallest; None: beyond any bound."""
    order = terms.dependencies([number])
    if any(_is_condition(terms, n) for n in order):
        alike: dict[Any, list[Fraction]] = {}
        for (conditions, columns), weight in _multiply_out(terms, number).items():
            if weight and (conditions or columns):
                alike.setdefault(columns, []).append(abs(weight))
        yield max((max(weights) / min(weights) for weights in alike.values()), default=Fraction(1))
    for n in order:
        if terms[n].kind == "times":
            yield from _exponential_ratios(terms, n)
        elif terms[n].kind == "exp" and len(terms[n].columns) > 1:  # e to a sum of columns is a product of such weights
            yield Fraction(terms[n].high, terms[n].low) if terms[n].low > 0 else None


def _exponential_ratios(terms: Terms, n: int) -> Iterator[Fraction | None]:
    for base, _ in terms.parts(n):
        term = terms[base]
        if term.kind == "exp" and terms[n].columns - term.columns:
            yield Fraction(term.high, term.low) if term.low > 0 else None


def _is_condition(terms: Terms, n: int) -> bool:
    term = terms[n]
    if term.kind == "column":  # of two numbers, 0 and another: a yes or no
        return bool(terms.schema[term.detail[0]].size == 2) and 0 in (term.low, term.high)
    return term.kind == "label" or term.kind in COMPARISONS or (term.is_condition and term.kind in ("min", "max"))


def _multiply_out(terms: Terms, n: int) -> Polynomial:
    term = terms[n]
    if term.is_constant:
        return {NOTHING: term.unit * term.low}
    if term.kind == "column" and _is_condition(terms, n):
        plain = terms.column(term.detail[0])
        return {(frozenset([plain]), ()): term.unit / terms[plain].unit}
    if _is_condition(terms, n):
        return {(frozenset([n]), ()): term.unit}
    if term.kind == "column":
        base = terms[terms.column(term.detail[0])].unit
        return {(frozenset(), ((("column", term.detail[0]), 1),)): term.unit / base}
    out: Polynomial | None = None
    if term.kind == "plus":
        out = {}
        for a, times in zip(term.of, term.times, strict=True):
            for key, weight in _multiply_out(terms, a).items():
                out[key] = out.get(key, Fraction(0)) + weight * term.unit * times / terms[a].unit
    elif term.kind == "times":
        a, b = term.of
        out = _product(_multiply_out(terms, a), _multiply_out(terms, b), term.unit / (terms[a].unit * terms[b].unit))
    elif term.kind == "power":
        base_parts = out = _multiply_out(terms, term.of[0])
        for _ in range(term.detail - 1):
            out = None if out is None else _product(out, base_parts, Fraction(1))
        scale = term.unit / terms[term.of[0]].unit ** term.detail
        out = None if out is None else {key: weight * scale for key, weight in out.items()}
    if out is None or len(out) > MAX_PARTS:
        atom = (term.kind, term.of, term.times, term.detail)
        return {(frozenset(), ((atom, 1),)): term.unit}
    return out


def _product(a: Polynomial, b: Polynomial, scale: Fraction) -> Polynomial | None:
    if len(a) * len(b) > 4 * MAX_PARTS:
        return None
    out: Polynomial = {}
    for (c, x), v in a.items():
        for (d, y), w in b.items():
            powers = dict(x)
            for atom, exponent in y:
                powers[atom] = powers.get(atom, 0) + exponent
            key = (c | d, tuple(sorted(powers.items(), key=repr)))
            out[key] = out.get(key, Fraction(0)) + v * w * scale
    return out
