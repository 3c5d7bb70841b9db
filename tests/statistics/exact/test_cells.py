"""Counts of cells: cuts are decided exactly, and a label that is not listed lies in none."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.blocks import NoisySum
from murmure.core.domain import Decimals
from murmure.core.errors import InvalidParameter
from murmure.plan.codec import part_from_dict, part_to_dict
from murmure.plan.plan import Plan
from murmure.statistics.exact.cells import Cells

SCHEMA = mu.Schema({"ward": mu.Categories(["A", "B"]), "age": mu.Integers(0, 9), "pay": Decimals("-0.5", "1.5", 1)})


def test_every_value_lies_in_the_cell_that_fractions_say() -> None:
    """c < x <= d, for cuts on values, between them, and beyond both ends."""
    cuts = ("-2", "-0.5", "0.1", "0.15", "1/3", "1.4", "1.5", "7e1")
    asked = Cells(mu.Schema({"pay": SCHEMA["pay"]}), (cuts,))

    for code in range(SCHEMA["pay"].size):
        value = Fraction(-1, 2) + Fraction(code, 10)
        wanted = sum(Fraction(cut) < value for cut in cuts)
        assert np.nonzero(asked.tally((np.array([code]),)))[0].tolist() == [wanted]
    assert asked.axes == (
        (
            "<= -2",
            "(-2, -0.5]",
            "(-0.5, 0.1]",
            "(0.1, 0.15]",
            "(0.15, 1/3]",
            "(1/3, 1.4]",
            "(1.4, 1.5]",
            "(1.5, 7e1]",
            "> 7e1",
        ),
    )


def test_a_table_of_three_columns() -> None:
    """The last column runs fastest, labels find their cells, and all rows are there."""
    asked = Cells(SCHEMA, (None, ("4",), ("0", "1")))
    rows = {"ward": ["A", "B", "B", "A"], "age": [4, 5, 0, 9], "pay": [0.0, 0.1, 1.1, -0.5]}
    found: Any = mu.run(Plan(asked), rows).estimate

    assert found.counts.shape == (2, 2, 3) and found.counts.dtype == np.int64 and found.n == 4
    assert found.at("A", "<= 4", "<= 0") == 1 and found.at("B", "> 4", "(0, 1]") == 1
    assert found.at("B", "<= 4", "> 1") == 1 and found.at("A", "> 4", "<= 0") == 1
    assert found.counts.sum() == 4 and found.noise is None and found.bits == 1
    assert found.labels[4] == "A, > 4, (0, 1]" and found.mean[10] == found.counts[1, 1, 1]
    assert part_from_dict(part_to_dict(asked), {"Cells": ""}) == asked


def test_an_unknown_label_lies_in_no_cell() -> None:
    asked = Cells(SCHEMA, (None, ("4",), ("0",)))
    x = asked.encode_lenient({"ward": ["Z", "A"], "age": [1, 1], "pay": [1.0, 1.0]})

    assert asked.tally(x).sum() == 1 and asked.lift(x).sum(axis=1).tolist() == [0, 1]


def test_noise_is_that_of_one_block() -> None:
    """A row is in one cell: L1 sensitivity 1, exchanging it 2; counts are floats then, and may be negative."""
    asked = Cells(SCHEMA, (None, None, ("0",)))
    (block,) = asked.blocks
    (law,) = mu.DiscreteLaplace(1.0).bind(asked.blocks, "add/remove", 1).laws
    found = asked.interpret(NoisySum(asked.blocks, np.full(40, -3), (law,)))

    assert (block.l1, block.l2, block.replace_l1, block.replace_l2) == (1, 1, 2, 2)
    assert found.noise == pytest.approx(law.variance) and found.counts.dtype == np.float64
    assert found.n is None and found.noisy and (found.counts == -3).all()
    assert repr(found).count("<= 0") == 20 and found.interval().shape == (40, 2)


@pytest.mark.parametrize(
    ("cuts", "said"),
    [
        ((None, None), "for each of"),
        ((("1",), None, None), "have no order"),
        ((None, ("5", "4"), None), "must increase"),
        ((None, ("5", "5.0"), None), "must increase"),
        ((None, ("five",), None), "not a decimal"),
        ((None, ("1/00",), None), "not a decimal"),
        ((None, (), None), "must be numbers or None"),
    ],
)
def test_bad_cuts_are_refused(cuts: Any, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        Cells(SCHEMA, cuts)


def test_too_many_cells_are_refused() -> None:
    schema = mu.Schema({"pay": Decimals(0, 10**6, 3)})

    with pytest.raises(InvalidParameter, match="more than"):
        Cells(schema, (None,))
    assert Cells(schema, (("10.5",),)).width == 2
