"""Public scales of expressions, from the bounds of the schema: powers of two that bring columns within -1 and 1."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from murmure.core.schema import Schema
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms


def bounds_of(schema: Schema, expression: str) -> tuple[Fraction, Fraction, Fraction]:
    """The smallest and the largest value that a row can have, and the step between values."""
    terms = Terms(schema)
    term = terms[read_expression(expression, terms)]
    return term.unit * term.low, term.unit * term.high, term.unit


def exponent(schema: Schema, expression: str) -> int:
    """The smallest k with |value| <= 2^k for every row that the schema allows."""
    low, high, _ = bounds_of(schema, expression)
    largest = max(abs(low), abs(high))
    if not largest:
        return 0
    k = largest.numerator.bit_length() - largest.denominator.bit_length() - 1
    while Fraction(2) ** k < largest:
        k += 1
    return k


def is_label(design: Any, term: str) -> bool:
    """Whether a column of the design is the indicator of a label."""
    low, high, step = bounds_of(design.domain, term)
    return "==" in term and low == 0 and high == step == 1
