"""Conditions of exact sums, judged from public facts. An oracle of its own lists the public domain and counts."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.statistics.conditions.conditions import Conditions, conditions_of
from murmure.statistics.conditions.minimum_cell import MAX_WEIGHT, MINIMUM_CELL, Problem, first_problem

SIZES = (20, 60, 200, 1000)
ROWS = (10, 30, 100, 1000)


def schema_of(size: int = 200) -> mu.Schema:
    return mu.Schema(
        {
            "id": mu.Integers(1, size),
            "x": mu.Integers(0, 1000),
            "age": mu.Integers(18, 99),
            "ward": mu.Categories(["A", "B", "C"]),
            "smoker": mu.Integers(0, 1),
            "glucose": mu.Decimals(0, 30, places=1),
        }
    )


def judged(*texts: str, rows: int, minimum: int = MINIMUM_CELL, schema: Any = None, before: Any = ()) -> Problem | None:
    asked = [(k, conditions_of(mu.Sums(schema or schema_of(), (text,)))) for k, text in enumerate(texts, 1)]
    return first_problem(asked, rows, minimum, before)


# -- one row, however it is written ------------------------------------------------------------------------------------

ONE_ROW = (
    "(id == {k})",
    "x * (id == {k})",
    "x * (id != {k})",
    "x * (1 - (id == {k}))",
    "x * (not id != {k})",
    "x + 10**6 * x * (id == {k})",
    "x + x * (id == {k})",
    "x * ({k} <= id <= {k})",
    "x * (id < {k} or id > {k})",
    "x * (2 * id == 2 * {k})",
    "x * (id - {k} == 0)",
    "x * max(0, 1 - abs(id - {k}))",
    "x * min(1, abs(id - {k}))",
    "x * min(7, 7 * abs(id - {k}))",
    "x * (3 + 5 * max(0, 1 - abs(id - {k})))",
    "abs(x * (id == {k}) - 3)",
    "max(x, 2000 * (id == {k}))",
    "log(1 + x * (id == {k}))",
    "sqrt(x * (id == {k}))",
    "(x * (id == {k})) ** 2",
    "x * (ward == 'A') * (id == {k})",
    "x * ((id == {k}) and age >= 40)",
    "x * (0 * age + id == {k})",
    "x * ((id - {k}) ** 2 <= 0)",
    "x * (abs(id - {k} + 1) + abs(id - {k} - 1) - 2 * abs(id - {k}))",
    "x * (sqrt((id - {k} + 1) ** 2) + sqrt((id - {k} - 1) ** 2) - 2 * sqrt((id - {k}) ** 2))",
)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", ONE_ROW)
def test_one_value_of_an_id_is_refused_however_it_is_written(form: str, size: int, rows: int) -> None:
    """Refused exactly where one value of the column stands for fewer than five rows, or the column is like an id."""
    for k in (1, size // 2, size):
        found = judged(form.format(k=k), rows=rows, schema=schema_of(size))
        if size >= rows or Fraction(rows, size) < MINIMUM_CELL:
            assert found is not None, (form, k)
            assert rows < 15 or "id" in found.text or found.other == "id"  # with fewer, a ward is too few as well


def test_hats_of_columns_too_large_to_list_are_refused() -> None:
    """Folds that add up to a hat over one value, where nobody can look at every combination; one fold is no hat."""
    wide = mu.Schema({"id": mu.Integers(0, 19_999), "w": mu.Integers(0, 999), "x": mu.Integers(0, 99)})
    inner = "1000 * id + w"
    hat = f"abs({inner} - 4999) - abs({inner} - 5000) - abs({inner} - 5999) + abs({inner} - 6000)"

    assert judged(f"x * ({hat})", rows=100_000, schema=wide) is not None
    assert judged("x * abs(id - 5000)", rows=200_000, schema=wide) is None


@pytest.mark.parametrize(
    "form", ["{up} * {down}", "{up} * {down} * {large}", "{up} * {large} * {down}", "{large} * {up} * {down}"]
)
@pytest.mark.parametrize(("size", "power"), [(1030, 7), (10_000, 5), (1000, 7)])
def test_a_factor_too_large_to_list_hides_no_zeros_of_the_others(form: str, size: int, power: int) -> None:
    """Two values of the column are left, whatever else is multiplied: where neither half-line is 0.

    Each of the two is 0 on half of the domain, and the third nowhere; in 64 bits it does not fit.
    """
    half, schema = size // 2, mu.Schema({"k": mu.Integers(0, size - 1)})
    up, down = f"(max(k, {half - 1}) - {half - 1})", f"(min(k, {half + 2}) - {half + 2})"
    text = form.format(up=up, down=down, large=f"(k**{power} + 1)")

    assert judged(text, rows=2 * size, schema=schema) is not None
    assert judged(text, rows=20 * size, schema=schema) is None  # 40 rows are enough
    for alone in (up, down, f"{up} * (k**{power} + 1)"):
        assert judged(alone, rows=2 * size, schema=schema) is None


def test_e_to_several_columns_is_a_weight() -> None:
    """The largest row would be read off the first digits of the sum."""
    two = mu.Schema({"age": mu.Integers(18, 99), "x": mu.Integers(0, 99)})

    found = judged("exp(2 * age + x / 100)", rows=100_000, schema=two)
    assert found is not None and found.kind == "weight"
    assert judged("exp(age / 50)", rows=100_000, schema=two) is None


@pytest.mark.parametrize("minimum", [2, 3, 5, 10])
@pytest.mark.parametrize("rows", [100, 205, 409, 410, 1000])
def test_the_share_of_the_domain_times_the_rows_decides(rows: int, minimum: int) -> None:
    """To the last row, on both sides: of 82 ages one, and all but one."""
    for text in ("x * (age == 97)", "x * (age != 97)", "age >= 19", "x * (age < 99)"):
        found = judged(text, rows=rows, minimum=minimum)

        assert (found is None) == (Fraction(rows, 82) >= minimum), text


@pytest.mark.parametrize(
    "texts",
    [
        ("x * (age <= {a})", "x * (age <= {b})"),
        ("x * (age <= {a})", "x * (age - 1 < {b})"),
        ("x * (age <= {a})", "(age <= {b}) * x ** 2"),
        ("age <= {a}", "age > {b}"),
        ("x * (age > {a})", "x * (age <= {b})"),
        ("x * (age <= {a}) * (ward == 'A')", "x * (age <= {b}) * (ward == 'A')"),
    ],
)
def test_two_conditions_that_differ_in_few_values_are_refused(texts: tuple[str, str]) -> None:
    """Each alone is broad; their difference, or what neither holds, is about few rows."""
    for a, b in ((40, 41), (50, 52), (60, 61)):
        pair = [text.format(a=a, b=b) for text in texts]
        assert all(judged(text, rows=100) is None for text in pair)
        found = judged(*pair, rows=100)

        assert found is not None and found.kind == "difference" and found.question == 1
    assert judged(*(text.format(a=40, b=70) for text in texts), rows=100) is None
    assert judged(*(text.format(a=40, b=40) for text in texts[:1] * 2), rows=100) is None  # no difference at all


def test_the_difference_from_an_earlier_question_counts_by_value_and_by_label() -> None:
    """Public bounds may have changed since: ages are compared as ages. Other columns are another matter."""
    earlier = mu.Schema({"age": mu.Integers(0, 120), "ward": mu.Categories(["C", "B", "A", "D"])})
    for old, new, differs in (
        ("age <= 40", "x * (age <= 41)", True),
        ("age <= 40", "x * (age <= 40)", False),
        ("age <= 40", "x * (age <= 70)", False),
        ("ward == 'A'", "(ward == 'A') * x", False),
        ("(ward == 'A') * (age <= 60)", "(ward == 'A') * (age <= 61) * x", True),
    ):
        before = [conditions_of(mu.Sums(earlier, (old,)))]
        found = judged(new, rows=100, before=before)

        assert (found is not None) == differs, (old, new)
        assert found is None or found.earlier


# -- an oracle ---------------------------------------------------------------------------------------------------------

SMALL = mu.Schema({"a": mu.Integers(0, 9), "b": mu.Integers(-3, 4), "c": mu.Categories(["u", "v", "w"])})
POINTS = [dict(zip("abc", point, strict=True)) for point in itertools.product(range(10), range(-3, 5), "uvw")]


def some_condition(r: random.Random, depth: int) -> str:
    if depth == 0 or r.random() < 0.3:
        return r.choice(
            [
                f"(a {r.choice(['<', '<=', '>', '>=', '==', '!='])} {r.randint(0, 9)})",
                f"(b {r.choice(['<', '<=', '>', '>=', '==', '!='])} {r.randint(-3, 4)})",
                f"(c {r.choice(['==', '!='])} '{r.choice('uvw')}')",
                f"(a {r.choice(['==', '<', '>'])} b)",
                f"(a + b > {r.randint(-3, 13)})",
                f"(a * b <= {r.randint(-20, 30)})",
                f"(abs(a - {r.randint(0, 9)}) <= {r.randint(0, 4)})",
            ]
        )
    one, two = some_condition(r, depth - 1), some_condition(r, depth - 1)
    return r.choice(
        [f"({one} and {two})", f"({one} or {two})", f"(not {one})", f"({one} * {two})", f"max({one}, {two})"]
    )


def fulfilled(text: str) -> int:
    return sum(bool(eval(text, {"abs": abs, "max": max}, point)) for point in POINTS)


@pytest.mark.parametrize("seed", range(150))
def test_every_condition_is_weighed_as_listing_the_domain_weighs_it(seed: int) -> None:
    """Of the whole condition: never allowed where too few rows fulfil it, or too few do not. Seeded; nothing random."""
    r = random.Random(seed)
    text = some_condition(r, r.randint(0, 3))
    share = Fraction(fulfilled(text), len(POINTS))
    if share in (0, 1):
        return
    for form in ("{}", "a * {}", "b + 7 * b * {}", "a ** 2 * (1 - {})"):
        try:
            asked = conditions_of(mu.Sums(SMALL, (form.format(text),)))
        except mu.MurmureError:  # always 0, or one number
            continue
        for rows in (11, 40, 200, 5000):
            found = first_problem([(1, asked)], rows)

            assert found is not None or min(share, 1 - share) * rows >= MINIMUM_CELL, (form, text)
        enough = 5000 * len(POINTS)
        found = first_problem([(1, asked)], enough)
        assert found is None, (text, found)  # every value of the domain is common enough by then


TWO_VALUED = mu.Schema(
    {
        "x": mu.Integers(0, 1000),
        "yes": mu.Integers(0, 1),
        "debt": mu.Integers(-1, 0),
        "tenth": mu.Decimals(0, "0.1", places=1),
        "loss": mu.Decimals("-0.1", 0, places=1),
        "grade": mu.Integers(3, 4),  # never 0: it picks out nobody
    }
)


@pytest.mark.parametrize(
    "names",
    [n for k in (1, 2, 3) for n in itertools.combinations(("yes", "debt", "tenth", "loss", "grade"), k)],
    ids=str,
)
def test_a_product_with_columns_of_two_values_picks_out_where_none_is_0(names: tuple[str, ...]) -> None:
    """Whichever of the two values is the 0, and to the last row."""
    asked = conditions_of(mu.Sums(TWO_VALUED, ("x * " + " * ".join(names),)))
    codes = dict(zip(names, np.indices((2,) * len(names)).reshape(len(names), -1), strict=True))
    numbers = {name: [float(v) for v in TWO_VALUED[name].numbers()] for name in names}
    expected = np.all([np.array(numbers[name])[codes[name]] != 0 for name in names], axis=0)
    share = Fraction(int(expected.sum()), expected.size)
    if share == 1:
        assert not asked.conditions
        return
    region = asked.conditions[-1].region

    assert region is not None and region.share == share
    assert region.holds(codes).tolist() == expected.tolist()
    least = MINIMUM_CELL / share
    assert first_problem([(1, asked)], int(least) - 1) is not None
    assert first_problem([(1, asked)], int(least)) is None


def test_a_product_with_a_column_is_the_condition_that_names_its_other_value() -> None:
    """Nothing is learned from the difference of the two; from a product and its rest, no more than from either."""
    for name, other in (("yes", "1"), ("debt", "-1"), ("tenth", "0.1"), ("loss", "-0.1")):
        product, named = f"x * {name}", f"x * ({name} == {other})"
        one, two = (conditions_of(mu.Sums(TWO_VALUED, (text,))).conditions[-1].region for text in (product, named))

        assert one is not None and two is not None and one.key == two.key
        assert judged(product, named, rows=10, schema=TWO_VALUED) is None


# -- what people ask for -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("x", 1),
        ("x ** 2", 1),
        ("x ** 3", 1),
        ("(x - 500) ** 4", 1),
        ("x * age * glucose", 1),
        ("0.001 * x + 50 * smoker", 1),
        ("10**6 * x + glucose / 3", 1),
        ("log(age)", 1),
        ("exp(glucose)", 1),
        ("sqrt(x)", 1),
        ("abs(x - 500)", 1),
        ("glucose ** 10", 1),
        ("smoker", 10),
        ("smoker * x", 10),
        ("(ward == 'A')", 15),
        ("(ward == 'A') * x", 15),
        ("(ward == 'A') * smoker * x", 30),
        ("age >= 40", 100),
        ("(18 <= age < 65) * x", 100),
        ("max(age - 65, 0) * x", 100),
        ("x * (glucose >= 7)", 30),
        ("x * (3 * (ward == 'A') + 500 * (ward == 'B') + 1000 * (ward == 'C'))", 30),
        ("x * exp(glucose / 10)", 30),
    ],
)
def test_ordinary_questions_are_allowed(text: str, rows: int) -> None:
    assert judged(text, rows=rows) is None


def test_a_column_with_as_many_values_as_rows_is_no_condition() -> None:
    """Whole numbers and labels outright; what is measured, beyond a threshold."""
    wide = mu.Schema({"id": mu.Integers(1, 500), "code": mu.Categories(400), "dose": mu.Interval(0, 1, cells=500),
                      "x": mu.Integers(0, 9)})  # fmt: skip
    for text in ("x * (id < 250)", "x * (id * id < 90000)", "x * (code != 7)", "x * max(id - 300, 0)"):
        found = judged(text, rows=400, schema=wide)
        assert found is not None and found.kind == "id", text
    assert judged("x * (id < 250)", rows=501, schema=wide) is None
    assert judged("x * (dose < 0.5)", rows=400, schema=wide) is None
    assert judged("x * ((dose - 0.25) ** 2 * (dose - 0.5) >= 0)", rows=400, schema=wide) is not None


def test_the_ratio_of_weights_is_bounded_at_its_bound() -> None:
    for weight, allowed in ((MAX_WEIGHT, True), (MAX_WEIGHT + 1, False), (10**6, False), (10**30, False)):
        for text in ("x + {} * x * (ward == 'A')", "x + {} * x * smoker",
                     "x / {} + x * (ward == 'A')", "(ward == 'A') + {} * (ward == 'B')",
                     "x ** 2 * (1 + {} * smoker * (ward == 'A')) - x ** 2 * smoker"):  # fmt: skip
            found = judged(text.format(weight), rows=10**6)
            assert (found is None) == allowed, (text, weight)
            assert found is None or found.kind == "weight"
    assert judged("(1 + 40 * (ward == 'A')) * (1 + 40 * (age > 50)) * x", rows=10**6).kind == "weight"  # type: ignore[union-attr]
    for k in (1, 5, 200):
        assert judged(f"x * exp(-abs(id - {k}))", rows=10**6).kind == "weight"  # type: ignore[union-attr]
    with pytest.raises(mu.MurmureError, match="power must be a whole number"):
        mu.Sums(schema_of(), ("x * 1000 ** id",))


def test_what_cannot_be_listed_is_refused() -> None:
    """Too many combinations to say what a condition picks out: the safe answer."""
    wide = mu.Schema({name: mu.Integers(0, 2000) for name in "abc"})
    found = judged("a * (a + b + c == 3000)", rows=10**6, schema=wide)

    assert found is not None and found.kind == "unknown"


# -- cells -------------------------------------------------------------------------------------------------------------

S = schema_of()
# Columns of more values than are listed one by one: a cell is known by its share alone.
WIDE = mu.Schema({"code": mu.Integers(0, 4999), "day": mu.Integers(0, 5999), "ward": mu.Categories(["A", "B", "C"])})


@pytest.mark.parametrize(
    ("statistic", "cells"),
    [
        (mu.Histogram(S["ward"]), 3),
        (mu.Mode(S["ward"]), 3),
        (mu.Histogram(S["age"]), 82),
        (mu.Quantile(S["age"], 0.5), 82),
        (mu.Marginals(mu.Schema({"ward": S["ward"], "id": S["id"]})), 200),
        (mu.Pair(mu.Schema({"ward": S["ward"], "age": S["age"]}), "ward", "age"), 246),
        (mu.GroupBy(mu.Mean(S["x"]), by=S["id"]), 200),
        (mu.GroupBy(mu.Count(S["x"]), by=mu.Schema({"ward": S["ward"], "age": S["age"]})), 246),
        (mu.GroupBy(mu.Histogram(S["ward"]), by=S["age"]), 246),
        (mu.Histogram(WIDE["code"]), 5000),
        (mu.Marginals(WIDE), 6000),
        (mu.Pair(WIDE, "ward", "code"), 15_000),
        (mu.GroupBy(mu.Count(WIDE["ward"]), by=WIDE["code"]), 5000),
        (mu.GroupBy(mu.Histogram(WIDE["ward"]), by=WIDE["code"]), 15_000),
        (mu.GroupBy(mu.Histogram(WIDE["code"]), by=WIDE["ward"]), 15_000),
        (mu.GroupBy(mu.Histogram(WIDE["day"]), by=WIDE["ward"]), 18_000),
    ],
    ids=lambda held: type(held).__name__ if not isinstance(held, int) else str(held),
)
def test_cells_of_tables_and_groups_are_conditions(statistic: Any, cells: int) -> None:
    """Each cell must hold five rows, by its share: to the last row."""
    for rows in (5 * cells - 1, 5 * cells):
        found = first_problem([(1, conditions_of(statistic))], rows)
        assert (found is None) == (rows == 5 * cells)


def test_cells_of_a_wide_column_within_parts_of_the_same_column_are_refused() -> None:
    """What is left of each cell is not known, so the safe answer: whatever the number of rows."""
    asked = conditions_of(mu.Where(mu.Histogram(WIDE["code"]), WIDE["code"], between=(0, 2499)))
    found = first_problem([(1, asked)], 10**9)

    assert found is not None and found.kind == "unknown"


def test_where_is_a_condition() -> None:
    for value, rows, allowed in (((5,), 100, False), ((5,), 1000, True), (tuple(range(1, 101)), 201, True)):
        asked = conditions_of(mu.Where(mu.Mean(S["x"]), S["id"], is_in=value))
        assert (first_problem([(1, asked)], rows) is None) == allowed
    asked = conditions_of(mu.Where(mu.Mean(S["x"]), S["age"], between=(97, 99)))
    assert first_problem([(1, asked)], 100) is not None and first_problem([(1, asked)], 137) is None


def test_at_one_nothing_is_judged() -> None:
    assert judged("x * (id == 5)", rows=1, minimum=1) is None
    assert judged("x * (id == 5)", rows=1, minimum=2) is not None
    assert first_problem([(1, Conditions())], 1) is None


# -- statistics --------------------------------------------------------------------------------------------------------


def test_a_count_of_rows_is_about_everybody() -> None:
    """A study may ask for Rows."""
    assert conditions_of(mu.Rows(schema_of()["age"])).conditions == ()


def test_a_statistic_that_says_nothing_may_single_out_each_value() -> None:
    """What nobody judged is judged strictly: as a histogram of its column."""
    age = schema_of()["age"]
    expected = [condition.text for condition in conditions_of(mu.Histogram(age)).conditions]

    assert [condition.text for condition in conditions_of(SimpleNamespace(domain=age)).conditions] == expected


def test_a_statistic_has_the_conditions_of_the_class_that_it_inherits() -> None:
    """Rows is a Count: it is about everybody, whatever the column that it reads."""
    age = mu.Integers(18, 99, "age")

    assert conditions_of(mu.Rows(age)).conditions == conditions_of(mu.Count(age)).conditions == ()
