"""Linear algebra in fractions: what comes out is right to the last digit, and dependent columns are named."""

from __future__ import annotations

import math
import random
import time
from fractions import Fraction as F

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from murmure.econometrics.algebra.matrices import (
    Singular,
    condition_number,
    dependencies,
    dot,
    identity,
    inverse,
    matmul,
    quadratic,
    solve,
    submatrix,
    times,
    transpose,
)
from murmure.econometrics.algebra.rounding import log_float, root, rounded, to_floats

numbers = st.fractions(min_value=-1000, max_value=1000, max_denominator=1000)


def squares(p: int) -> st.SearchStrategy[list[list[F]]]:
    return st.lists(st.lists(numbers, min_size=p, max_size=p), min_size=p, max_size=p)


@st.composite
def systems(draw: st.DrawFn) -> tuple[list[list[F]], list[list[F]]]:
    p = draw(st.integers(1, 6))
    return draw(squares(p)), [[v] for v in draw(st.lists(numbers, min_size=p, max_size=p))]


def gram(rows: list[list[F]]) -> list[list[F]]:
    return [list(row) for row in matmul(transpose(rows), rows)]


def random_gram(p: int, bits: int) -> list[list[F]]:
    draw = random.Random(1)
    Z = [[F(draw.getrandbits(bits // 2) - (1 << (bits // 2 - 1))) for _ in range(p)] for _ in range(p + 5)]
    return gram(Z)


@given(systems())
@settings(deadline=None)
def test_what_was_multiplied_is_solved_for(system: tuple[list[list[F]], list[list[F]]]) -> None:
    A, x = system
    try:
        found = solve(A, matmul(A, x))
    except Singular as no:
        k, *others = no.columns

        assert dependencies(A)[k].keys() == set(others)
        return

    assert found == tuple(map(tuple, x))


@given(systems())
@settings(deadline=None)
def test_an_inverse_is_an_inverse_and_a_gram_matrix_has_a_symmetric_one(
    system: tuple[list[list[F]], list[list[F]]],
) -> None:
    Z = system[0]
    for A in (Z, gram(Z)):
        try:
            found = inverse(A)
        except Singular:
            assert dependencies(A)
            continue

        assert matmul(A, found) == identity(len(A))


def test_a_matrix_that_needs_an_exchange_of_rows_is_inverted_too() -> None:
    A = [[F(0), F(2)], [F(2), F(0)]]

    assert inverse(A) == ((F(0), F(1, 2)), (F(1, 2), F(0)))


def test_long_numbers_are_divided_exactly_too() -> None:
    """Beyond 4096 bits another division is used; even pivots are the hard case for it."""
    A = [[v * 2**31 for v in row] for row in random_gram(24, 600)]

    assert matmul(A, inverse(A)) == identity(24)
    assert times(A, [row[0] for row in solve(A, [[v] for v in range(24)])]) == tuple(range(24))


def test_dependent_columns_are_named_with_their_factors() -> None:
    rows = [[F(1), F(i), F(i * i), 3 * F(i) - F(1, 2), F(i**3), F(i * i) + F(i**3)] for i in range(7)]
    A = gram(rows)

    assert dependencies(A) == {3: {0: F(-1, 2), 1: F(3)}, 5: {2: F(1), 4: F(1)}}
    with pytest.raises(Singular) as no:
        solve(A, identity(6))
    assert no.value.columns == (3, 0, 1)
    assert dependencies(submatrix(A, [0, 1, 2, 4])) == {}


def test_a_column_of_zeros_depends_on_nothing() -> None:
    assert dependencies([[F(0), F(0)], [F(0), F(1)]]) == {0: {}}


def test_forty_columns_of_three_hundred_bits_take_a_moment() -> None:
    """About 1 s here; the limit leaves room for a busy machine, and a method with remainders would take hours."""
    A = random_gram(40, 300)
    start = time.perf_counter()
    found = solve(A, [[F(i)] for i in range(40)])
    inverted = inverse(A)

    assert time.perf_counter() - start < 20
    assert times(inverted, list(range(40))) == tuple(row[0] for row in found)


def test_the_condition_number_of_longley_is_that_of_its_rows() -> None:
    """The smallest eigenvalue of Z'Z is 2e-20 of the largest: no float of Z'Z knows it."""
    data = sm.datasets.longley.load_pandas()
    Z = sm.add_constant(data.exog).to_numpy()
    A = gram([[F(str(v)) for v in row] for row in Z.tolist()])
    expected = sm.OLS(data.endog, sm.add_constant(data.exog)).fit().condition_number

    assert condition_number(A) == pytest.approx(expected, rel=1e-6)
    assert condition_number(A) == pytest.approx(np.linalg.cond(Z), rel=1e-6)
    assert condition_number(A, scaled=True) == pytest.approx(np.linalg.cond(Z / np.linalg.norm(Z, axis=0)), rel=1e-8)


def test_a_condition_number_survives_numbers_beyond_floats() -> None:
    big = F(10) ** 700

    assert condition_number([[big, F(0)], [F(0), 4 * big]]) == 2.0


@given(st.fractions(min_value=0))
def test_a_root_is_rounded_once(v: F) -> None:
    r = root(v)

    assert r == 0 if v == 0 else True
    below, above = (F(math.nextafter(r, 0)) + F(r)) / 2, (F(r) + F(math.nextafter(r, math.inf))) / 2
    assert v == 0 or below**2 <= v <= above**2


def test_roots_and_logarithms_of_numbers_beyond_floats() -> None:
    assert root(F(10) ** 600) == 1e300
    assert log_float(F(10) ** 600) == pytest.approx(600 * math.log(10), rel=1e-15)
    assert log_float(F(1, 10**600)) == pytest.approx(-600 * math.log(10), rel=1e-15)
    assert log_float(1 + F(1, 10**20)) == pytest.approx(1e-20, rel=1e-15)
    assert log_float(F(7, 5)) == pytest.approx(math.log(1.4), rel=1e-15)


@given(st.fractions().filter(bool), st.integers(1, 80))
def test_rounding_keeps_so_many_bits_and_no_more(v: F, bits: int) -> None:
    r = rounded(v, bits)

    assert abs(r - v) * 2**bits <= abs(v)
    odd = abs(r.numerator) >> ((r.numerator & -r.numerator).bit_length() - 1)
    assert odd.bit_length() <= bits


def test_half_way_is_rounded_to_even() -> None:
    assert [rounded(v, 2) for v in (9, 11, 5, 7, F(-9, 8))] == [8, 12, 4, 8, -1]


def test_products_are_products() -> None:
    A = [[F(1, 2), F(3)], [F(-2), F(5, 7)]]

    assert quadratic([F(2), F(1)], A) == F(1, 2) * 4 + 3 * 2 - 2 * 2 + F(5, 7)
    assert dot([F(1, 3), 2], [3, F(1, 2)]) == 2
    assert to_floats(A).tolist() == [[0.5, 3.0], [-2.0, 5 / 7]]
    assert to_floats([F(1, 3)]).tolist() == [1 / 3]
