"""Floats on the grid 2**-62: cut into parts that add up to the nearest whole number; sums of many, by either way."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from murmure.statistics.expressions.fixed_point import MIDDLE, POINT, ROWS, join_parts, split_parts, sums_of, whole_of

GRID = 2.0**-POINT


def whole(v: np.ndarray) -> list[int]:
    return [int(w) for w in join_parts([np.array([int(x) for x in part], object) for part in split_parts(v)])]


def on_grid(x: float) -> int:
    return round(Fraction(x) * 2**POINT)


@given(st.lists(st.floats(-(2.0**61), 2.0**61) | st.floats(-1, 1), min_size=1))
def test_any_number_is_cut(values: list[float]) -> None:
    assert whole(np.array(values)) == [on_grid(x) for x in values]


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-(2.0**61), 2.0**61)), min_size=1))
@example([(1.5 * GRID, 2.5 * GRID, -0.5 * GRID), (0.5 * GRID, -1.5 * GRID, 7.0)])  # ties go to the even one
@example([(1.0, -1.0, 0.0), (-0.0, 2.0**-40 * 0.75, 2.0**-41), (-(2.0**-41), 1 - 2.0**-53, 2.0**-1074)])
def test_sums_are_those_of_the_numbers_on_the_grid(rows: list[tuple[float, float, float]]) -> None:
    v = np.array(rows)
    wanted = [sum(map(on_grid, column)) for column in v.T.tolist()]
    for laid_out in (v, np.asfortranarray(v)):
        assert whole_of(sums_of(laid_out)).tolist() == wanted
    assert whole_of(sums_of(v[:, :2])).tolist() == wanted[:2]
    assert whole_of(sums_of(v[:, ::-1])).tolist() == wanted[::-1]
    assert whole_of(sums_of(v[:0])).tolist() == [0, 0, 0]


@pytest.mark.parametrize("largest", [1.0, 2.0**20, 2.0**61])
def test_a_whole_block_adds_up_within_floats(largest: float) -> None:
    x = np.nextafter(largest, 0)
    v = np.full((ROWS, 1), x)
    assert all(np.abs(part).max() <= 2.0**MIDDLE and float(part.sum()) <= 2.0**53 for part in split_parts(v))
    assert whole_of(sums_of(v)).tolist() == [ROWS * on_grid(float(x))]
