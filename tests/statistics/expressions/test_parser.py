"""Expressions mean what Python's exact fractions say, their bounds are public and hold, and nothing else is read."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.statistics.expressions.parser import MAX_DEPTH, read_expression
from murmure.statistics.expressions.terms import Terms, common_unit
from murmure.statistics.expressions.text import MAX_LETTERS

SCHEMA = mu.Schema(
    {
        "x": mu.Integers(-3, 4),
        "y": mu.Integers(0, 2),
        "dose": mu.Interval(0.1, 0.7, cells=3),
        "ward": mu.Categories(["A", "B's", "C"]),
        "flag": mu.Categories([False, True]),
        "level": mu.Categories([1, 2.5, -3]),
        "number": mu.Categories(3),
        "length of stay": mu.Integers(1, 3),
    }
)


def rows() -> dict[str, np.ndarray[Any, Any]]:
    sizes = {name: SCHEMA[name].size for name in SCHEMA}
    small = list(itertools.product(*(range(sizes[name]) for name in ("x", "y", "dose", "ward"))))
    words = Random.seeded(1).words(len(small) * 8).reshape(8, len(small))
    out = {name: (words[i] % np.uint64(sizes[name])).astype(np.int64) for i, name in enumerate(SCHEMA)}
    out |= {name: np.array([row[i] for row in small]) for i, name in enumerate(("x", "y", "dose", "ward"))}
    return out


ROWS = rows()


def held(name: str, code: int) -> Any:
    """What a row holds, as an exact fraction or as a label."""
    domain: Any = SCHEMA[name]
    if isinstance(domain, mu.Integers):
        return Fraction(domain.low + code)
    if isinstance(domain, mu.Interval):
        return Fraction("0.1") + (2 * code + 1) * Fraction("0.1")
    return code if isinstance(domain.values, int) else domain.values[code]


def term_of(text: str) -> tuple[Any, list[Fraction]]:
    """The term, and the value of every row."""
    terms = Terms(SCHEMA)
    number = read_expression(text, terms)
    v = terms.values(terms.dependencies([number]), ROWS)[number]
    whole = [v] * len(ROWS["x"]) if isinstance(v, int) else v.tolist()
    return terms[number], [int(one) * terms[number].unit for one in whole]


EXPRESSIONS = {  # as written, and as Python calculates it from fractions
    "x": "x",
    "x + y": "x + y",
    "x - y - 1": "x - y - 1",
    "-x": "-x",
    "+x * -y": "x * -y",
    "x * y": "x * y",
    "x * x": "x * x",
    "x * x * x": "x ** 3",
    "x ** 2 * y ** 3": "x ** 2 * y ** 3",
    "0.5 * x": "F(1, 2) * x",
    "x / 3 - y / 0.25": "x / F(3) - y / F(1, 4)",
    "1e-3 * x + 1.50": "F(1, 1000) * x + F(3, 2)",
    "-0.1 * (x - 2) * (x - 2)": "F(-1, 10) * (x - 2) ** 2",
    "dose": "dose",
    "dose * x": "dose * x",
    "dose ** 2 + 0.01": "dose ** 2 + F(1, 100)",
    "x < y": "int(x < y)",
    "x <= 0": "int(x <= 0)",
    "x > y + 1": "int(x > y + 1)",
    "2 >= x": "int(2 >= x)",
    "x == y": "int(x == y)",
    "x != y": "int(x != y)",
    "dose == 0.4": "int(dose == F(2, 5))",
    "-1 < x <= 3": "int(-1 < x <= 3)",
    "x < 0 or y > 1": "int(x < 0 or y > 1)",
    "x < 0 and y > 0 and not dose > 0.3": "int(x < 0 and y > 0 and not dose > F(3, 10))",
    "not (x < 0)": "int(not x < 0)",
    "min(x, y)": "min(x, y)",
    "max(x, 0.5 * y, 1)": "max(x, F(1, 2) * y, F(1))",
    "abs(x)": "abs(x)",
    "abs(x - dose) * y": "abs(x - dose) * y",
    "ward == 'A'": "int(ward == 'A')",
    'ward != "A"': "int(ward != 'A')",
    'ward == "B\'s"': 'int(ward == "B\'s")',
    "'C' == ward": "int(ward == 'C')",
    "(ward == 'A') * x + (ward != 'A') * y": "x if ward == 'A' else y",
    "flag == True": "int(flag is True)",
    "flag != False": "int(flag is not False)",
    "level == 2.5": "int(level == 2.5)",
    "level == -3": "int(level == -3)",
    "number == 2": "int(number == 2)",
    "`length of stay` * x": "stay * x",
    "`x`*`y`": "x * y",
    "x * (y > 0) + y * (x > 0)": "x * int(y > 0) + y * int(x > 0)",
    "3": "F(3)",
    "x - x + 2": "F(2)",
    "x < 100": "1",
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_values_are_those_of_exact_fractions(text: str) -> None:
    """Every row has the value that Python's fractions give, and it lies between the public bounds."""
    term, values = term_of(text)
    names = {name: "stay" if " " in name else name for name in SCHEMA}
    # the expected values come from this file: Python may calculate them
    wanted = [
        Fraction(eval(EXPRESSIONS[text], {"F": Fraction}, {names[n]: held(n, int(ROWS[n][i])) for n in SCHEMA}))
        for i in range(len(ROWS["x"]))
    ]

    assert values == wanted
    assert term.unit * term.low <= min(wanted) and max(wanted) <= term.unit * term.high


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("x", "-3", "4"),
        ("x * x", "0", "16"),
        ("x * x * x", "-27", "64"),
        ("x * y", "-6", "8"),
        ("abs(x)", "0", "4"),
        ("min(x, y)", "-3", "2"),
        ("dose", "1/5", "3/5"),
        ("-0.5 * dose", "-3/10", "-1/10"),
        ("x == 2", "0", "1"),
        ("3 - (ward == 'A')", "2", "3"),
        ("x < -3", "0", "0"),
    ],
)
def test_bounds_come_from_the_schema(text: str, low: str, high: str) -> None:
    """Interval arithmetic on public bounds, exact; a square is never negative."""
    terms = Terms(SCHEMA)
    term = terms[read_expression(text, terms)]

    assert (term.unit * term.low, term.unit * term.high) == (Fraction(low), Fraction(high))


WIDE = mu.Schema({"g": mu.Integers(10**12, 10**12 + 10**6), "h": mu.Integers(-(2**40), -(2**40) + 9)})


@pytest.mark.parametrize("text", ["g * h", "g ** 5", "h * h * h + g", "abs(h * g)", "max(g * h * h, 1)", "g ** 4 > 10"])
def test_numbers_beyond_a_machine_word_stay_exact(text: str) -> None:
    """Where bounds pass 2**62, Python's integers are used, and comparisons of them are plain again."""
    terms = Terms(WIDE)
    number = read_expression(text, terms)
    codes = {"g": np.array([0, 17, 10**6]), "h": np.array([0, 5, 9])}
    v = terms.values(terms.dependencies([number]), codes)[number]

    rows = [{"g": 10**12 + int(a), "h": -(2**40) + int(b)} for a, b in zip(codes["g"], codes["h"], strict=True)]
    wanted = [int(eval(text, {"abs": abs, "max": max}, row)) for row in rows]

    assert ([v] * 3 if isinstance(v, int) else [int(one) for one in v]) == wanted


def test_equal_parts_are_calculated_once() -> None:
    """x * y and y * x are one term, and so are x and x again."""
    terms = Terms(SCHEMA)

    assert read_expression("x * y", terms) == read_expression("y * x", terms)
    assert len(terms.steps) == 3


def test_units_are_as_large_as_they_can_be() -> None:
    """The unit of a sum divides both units, and nothing larger does: whole numbers stay small."""
    assert common_unit([Fraction(1, 2), Fraction(1, 3)]) == Fraction(1, 6)
    assert common_unit([Fraction(5, 4), Fraction(15, 8)]) == Fraction(5, 8)


REFUSED = {
    "": "wanted text",
    "   ": "wanted text",
    "x +": "cannot be read",
    "x y": "cannot be read",
    "(x": "cannot be read",
    "x; y": "cannot be read",
    "x = 2": "cannot be read",
    "x\n+ y": "line break",
    "x # all": "comment",
    "z": "there is no column 'z'",
    "X": "did you mean x?",
    "`length of sta`": "did you mean `length of stay`?",
    "`x": "not closed",
    "x / y": "it divides by 'y'",
    "x / 0": "other than 0",
    "1 / x": "divides by",
    "x ** y": "a power must be",
    "x ** 0.5": "a power must be",
    "x ** 0": "a power must be",
    "x ** 17": "a power must be",
    "x // 2": "not an operation",
    "x % 2": "not an operation",
    "x @ y": "not an operation",
    "x & y": "not an operation",
    "~x": "not an operation",
    "x if y else 1": "is not allowed in it",
    "lambda: 1": "is not allowed in it",
    "[x]": "is not allowed in it",
    "x[0]": "is not allowed in it",
    "x.real": "is not allowed in it",
    "(x := 2)": "is not allowed in it",
    "f'{x}'": "is not allowed in it",
    "x in (1, 2)": "not comparisons",
    "x is y": "not comparisons",
    "sum(x)": "not a function",
    "mean(x)": "not a function",
    "abs(x, y)": "abs takes one number",
    "min(x)": "min takes two",
    "max(x, key=y)": "not a function",
    "max(*x)": "not a function",
    "x.bit_length()": "not a function",
    "__import__('os').system('true')": "not a function",
    "ward": "holds labels",
    "ward + 1": "holds labels",
    "ward == 'Z'": "has no label",
    "ward == 1": "has no label",
    "ward == x": "has no label",
    "ward < 'B'": "have no order",
    "flag == 1": "has no label",
    "level == True": "has no label",
    "x == 'A'": "is a label",
    "'A'": "is a label",
    "True": "is a label",
    "None": "not a number",
    "...": "not a number",
    "1j": "not a number",
    "0x10": "not a number",
    "1_000": "not a number",
    "b'1'": "not a number",
    "1e999": "not a number",
    "1e-9999": "not a number",
    "9" * 50: "not a number",
    "x and y": "neither true nor false",
    "not x": "neither true nor false",
    "((x ** 16) ** 16) ** 16": "more than 2**8192",
    "x + " * 300 + "x": "characters",
    "-" * 60 + "x": "nested",
    "(" * 300 + "x" + ")" * 300: "cannot be read",
    "-" * 990 + "x": "",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_what_is_no_expression_is_refused(text: str) -> None:
    """The message quotes the expression and says what is wrong with it; nothing is ever run."""
    with pytest.raises(InvalidParameter) as refusal:
        read_expression(text, Terms(SCHEMA))

    assert str(refusal.value).startswith("expression ")
    assert REFUSED[text] in str(refusal.value)


def test_public_and_drafted_columns_are_refused() -> None:
    """A public column is carried and not added up; bounds that were read off the data are not public."""
    schema = mu.Schema(
        {
            "weight": mu.Column(mu.Integers(0, 9), public=True),
            "age": mu.Column(mu.Integers(0, 9), from_data=True),
            "x": mu.Integers(0, 1),
        }
    )

    with pytest.raises(InvalidParameter, match="is public"):
        read_expression("weight * x", Terms(schema))
    with pytest.raises(InvalidParameter, match="read off the data"):
        read_expression("age", Terms(schema))


def test_limits_are_reached_and_not_passed() -> None:
    """What stays within length and depth is read."""
    terms = Terms(SCHEMA)
    long = "x" + " + x" * ((MAX_DEPTH - 1) // 1)

    assert len(long) < MAX_LETTERS
    assert terms[read_expression(long, terms)].unit * terms[read_expression(long, terms)].high == 4 * MAX_DEPTH
