"""log, exp and sqrt in expressions: close to the truth, within public bounds, refused where they may not exist."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.domain import Decimals
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.real_functions import floats_of
from murmure.statistics.expressions.terms import Terms

SCHEMA = mu.Schema(
    {
        "x": Decimals("0.001", "50000", 3),
        "t": Decimals("-30", "30.5", 2),
        "u": mu.Integers(-1, 5),
        "k": mu.Integers(1, 9),
    }
)


def evaluated(text: str, codes: dict[str, Any]) -> tuple[Any, list[Fraction]]:
    terms = Terms(SCHEMA)
    number = read_expression(text, terms)
    v = terms.values(terms.dependencies([number]), codes)[number]
    return terms[number], [int(w) * terms[number].unit for w in v]


def truth(name: str, x: Fraction) -> Fraction:
    with localcontext(Context(prec=50)):
        held = Decimal(x.numerator) / Decimal(x.denominator)
        return Fraction({"log": held.ln, "exp": held.exp, "sqrt": held.sqrt}[name]())


@pytest.mark.parametrize(("text", "column"), [("log(x)", "x"), ("sqrt(x)", "x"), ("exp(t / 10)", "t"), ("exp(t)", "t")])
def test_values_are_close_and_within_bounds(text: str, column: str) -> None:
    """To 1e-15 of the largest value (exp: 1e-13 of each), at both ends too; all are whole numbers of the unit."""
    size = SCHEMA[column].size
    codes = (Random.seeded(1).words(400) % np.uint64(size)).astype(np.int64)
    codes[:2] = 0, size - 1
    term, found = evaluated(text, {column: codes})
    low, step = {"x": (Fraction(1, 1000), Fraction(1, 1000)), "t": (Fraction(-30), Fraction(1, 100))}[column]
    name, scale = text[: text.index("(")], 10 if "/" in text else 1

    for code, value in zip(codes.tolist(), found, strict=True):
        wanted = truth(name, (low + step * code) / scale)
        far = wanted * Fraction(1, 10**13) if name == "exp" else term.unit * term.max_abs / 10**15
        assert abs(value - wanted) <= far
        assert term.unit * term.low <= value <= term.unit * term.high
    assert term.unit.numerator == 1 or term.unit.denominator == 1
    ends = [truth(name, end / scale) for end in (low, low + step * (size - 1))]
    assert 0 <= ends[0] - term.unit * term.low <= term.unit and 0 <= term.unit * term.high - ends[1] <= term.unit


def test_constants_are_folded() -> None:
    """log(1) is 0 and sqrt(4) is 2, exactly; log(2) is a number of 58 bits."""
    terms = Terms(SCHEMA)
    for text, value in (("log(1)", 0), ("sqrt(4)", 2), ("exp(0)", 1)):
        assert terms[read_expression(text, terms)] == terms[terms.constant(Fraction(value))]
    two = terms[read_expression("log(2)", terms)]
    assert two.is_constant and abs(float(two.unit * two.low) - math.log(2)) < 1e-16


def test_a_logarithm_of_one_and_more_is_never_negative() -> None:
    """So it can be a weight."""
    terms = Terms(SCHEMA)

    assert terms[read_expression("log(k)", terms)].low == 0 == terms[read_expression("sqrt(k - 1)", terms)].low


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("log(u)", "can be -1"),
        ("log(u + 1)", "can be 0"),
        ("sqrt(u)", "can be -1"),
        ("exp(x)", "at most 700"),
        ("exp(-x)", "can be -50000"),
        ("log(x, 2)", "takes one number"),
        ("sin(x)", "not a function that it knows"),
    ],
)
def test_what_may_not_exist_is_refused_with_a_way_out(text: str, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said) as refusal:
        read_expression(text, Terms(SCHEMA))
    assert refusal.value.hint or "takes" in said


def test_floats_of_exact_numbers_are_correctly_rounded() -> None:
    """As Python's division of integers is: below and beyond 2**53, for units that floats hold and for others."""
    words = Random.seeded(2).words(300).astype(np.int64)
    ties = [(2**53 + k) * 5**p * s for k in (1, 2, 3) for p in (0, 1, 3) for s in (-1, 1)] + [-(2**63), 2**63 - 1]
    words = np.append(words, ties).astype(np.int64)
    for shift in (0, 2, 3, 5, 11, 40):
        for unit in (
            Fraction(1),
            Fraction(1, 10),
            Fraction(1, 10**3),
            Fraction(1, 10**9),
            Fraction(1, 10**17),
            Fraction(1, 10**22),
            Fraction(1, 2**70),
            Fraction(3, 7),
            Fraction(1, 10**30),
            Fraction(2**60, 3),
            Fraction(7, 2),
        ):
            v = words >> shift
            wanted = [int(w) * unit.numerator / unit.denominator for w in v]
            assert floats_of(v, unit).tolist() == wanted
            assert floats_of(v.astype(object), unit).tolist() == wanted


def test_sums_of_functions_run() -> None:
    """In a plan: the sum of logarithms is that of the rows, to 15 digits."""
    found: Any = mu.run(
        mu.Plan(mu.Sums(SCHEMA, ("log(x)", "sqrt(x) * k"))), {"x": [1.0, 2.0, 8.0], "k": [1, 2, 3]}
    ).estimate

    assert float(found["log(x)"]) == pytest.approx(math.log(16), rel=1e-15)
    assert float(found["sqrt(x) * k"]) == pytest.approx(1 + 2 * math.sqrt(2) + 3 * math.sqrt(8), rel=1e-15)
