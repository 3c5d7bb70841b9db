"""Products of columns that fill the grid by different amounts: no row moves more than stated, and some row as much."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.statistics.learning.gram import Gram
from murmure.statistics.learning.scatter import Scatter
from murmure.statistics.learning.taylor import Taylor

# Of a grid of 64: 64, 63 (seven steps of nine) and, of three labels, one indicator in two.
UNEVEN = mu.Schema({"a": mu.Integers(0, 4), "b": mu.Integers(0, 7), "c": mu.Categories(3), "y": mu.Categories(2)})
NUMBERS = mu.Schema({"a": mu.Integers(0, 7), "b": mu.Integers(0, 3), "y": mu.Integers(0, 4)})
CENTRES = ((), (40, 0, 0, 0), (-63, 9, 0, 0), (1, 63, 0, 0))


def asked(shape: str, norm: Any) -> list[Any]:
    some = [Scatter(UNEVEN, "y", centre, shape, bits=6, norm=norm) for centre in CENTRES]
    return [
        *some,
        *(Gram(NUMBERS, "y", intercept, shape, bits=6, norm=norm) for intercept in (True, False)),
        Taylor(UNEVEN, "y", shape, bits=6, norm=norm),
    ]


def every_row(domain: Any) -> tuple[Any, ...]:
    sizes = [domain[name].size + isinstance(domain[name], mu.Categories) for name in domain.private]
    return tuple(np.array(list(itertools.product(*map(range, sizes)))).T)


def moves(ask: Any) -> Any:
    """Each block, and what each row of the domain adds to it."""
    lifted, at = ask.lift(every_row(ask.domain)), 0
    for block in ask.blocks:
        yield block, lifted[:, at : at + block.width]
        at += block.width


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("i", range(len(asked("box", "l1"))))
def test_some_row_of_an_uneven_box_moves_the_products_by_all_that_is_stated(i: int, norm: str) -> None:
    """In both norms, to the last unit: less is a false claim, more is noise for nothing."""
    ask = asked("box", norm)[i]
    assert ask.design.corners

    for block, part in moves(ask):
        assert np.abs(part).sum(axis=1).max() == block.l1
        assert (part**2).sum(axis=1).max() == block.l2


@pytest.mark.parametrize("shape", ["box", "ball", "diamond"])
@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("i", range(len(asked("box", "l1"))))
def test_exchanging_two_rows_moves_the_products_by_no_more_than_stated(i: int, norm: str, shape: str) -> None:
    """In the box, in the ball and in the diamond."""
    for block, part in moves(asked(shape, norm)[i]):
        part = np.unique(part, axis=0)
        moved = part[:, None] - part[None]

        assert np.abs(part).sum(axis=1).max() <= block.l1
        assert (part**2).sum(axis=1).max() <= block.l2
        assert np.abs(moved).sum(axis=2).max() <= block.sensitivity("l1", "replace")
        assert (moved**2).sum(axis=2).max() <= block.sensitivity("l2", "replace")


@pytest.mark.parametrize(("shape", "radius"), [("ball", 0.9), ("ball", 0.5), ("diamond", 0.8), ("diamond", 0.3)])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_in_a_shape_some_row_of_a_fine_grid_moves_the_products_by_nearly_all_that_is_stated(
    shape: str, radius: float, norm: Any
) -> None:
    """Rounding to the grid and to the shape costs two per cent at most: no bound is proved too generously."""
    fine = mu.Schema({"a": mu.Integers(0, 128), "b": mu.Integers(0, 128), "y": mu.Categories(2)})
    ((block, part),) = moves(Scatter(fine, "y", shape=shape, radius=radius, bits=9, norm=norm))

    assert 0.98 * block.l1 < np.abs(part).sum(axis=1).max() <= block.l1
    assert 0.98 * block.l2 < (part**2).sum(axis=1).max() <= block.l2
