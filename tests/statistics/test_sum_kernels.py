"""The compiled kernels of learners' sums give the integers that NumPy gives, of every statistic that they take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from murmure.core.domain import Categories, Integers, Interval
from murmure.core.schema import Schema
from murmure.laws import kernel_loader
from murmure.statistics.base import code_lines
from murmure.statistics.learning.class_moments import ClassMoments
from murmure.statistics.learning.cluster_moves import ClusterMoves
from murmure.statistics.learning.clusters import Clusters
from murmure.statistics.learning.gram import Gram

kernels = pytest.importorskip("murmure.laws.sum_kernels", reason="needs numba")

ROWS = 2 * kernel_loader.SMALL + 3  # not a whole number of tiles
EVEN = {f"x{j}": Interval(-5.0, 5.0) for j in range(8)}
UNEVEN = {"a": Integers(0, 9), "b": Interval(0.0, 1.0, cells=300), "c": Integers(0, code_lines.MAX_LINE_VALUES - 2)}
EIGHT, THREE = Schema(EVEN), Schema(UNEVEN)
MANY = Schema({f"x{j}": Integers(0, 40 + j) for j in range(19)})  # two groups of eight columns, and some
LABELS = {"kind": Categories(["u", "v", "w"]), "group": Categories(4)}


def _somewhere(schema: Schema, k: int, scales: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    corner = np.array([s * (schema[name].size - 1) for s, name in zip(scales, schema.private, strict=True)])
    drawn = np.random.default_rng(5).integers(-corner, corner + 1, (k, len(corner)))
    return tuple(tuple(row) for row in drawn.tolist())


FINE, COARSE = (512,) * 8, (100, 7, 1)
EIGHT_AT, THREE_AT = _somewhere(EIGHT, 8, FINE), _somewhere(THREE, 3, COARSE)
ASKED = [
    ClassMoments(Schema({**EVEN, "y": Categories(2)}), "y"),
    ClassMoments(Schema({**EVEN, "y": Categories(2)}), "y", split="equal"),
    ClassMoments(Schema({**UNEVEN, **LABELS}), "kind"),
    ClassMoments(Schema({**UNEVEN, "y": Categories(11)}), "y"),
    *(Gram(Schema({**EVEN, "y": Interval(-5.0, 5.0)}), "y", shape=shape) for shape in ("box", "unit", "ball")),
    Gram(Schema({**EVEN, "y": Interval(-5.0, 5.0)}), "y", radius=1.0),
    Gram(THREE, "c", radius=0.2),
    Gram(THREE, "b", bits=6, intercept=False),
    Clusters(EIGHT, EIGHT_AT, FINE),
    Clusters(THREE, THREE_AT, COARSE),
    *(ClusterMoves(EIGHT, EIGHT_AT, reach, FINE, norm) for reach in (3, 1 << 20, 1 << 22) for norm in ("l1", "l2")),
    *(ClusterMoves(THREE, THREE_AT, reach, COARSE, norm) for reach in (500, 20_000) for norm in ("l1", "l2")),
    ClusterMoves(EIGHT, ((0,) * 8,), 1_571_328, FINE),
    Clusters(MANY, _somewhere(MANY, 5, (1,) * 19)),
    ClusterMoves(MANY, _somewhere(MANY, 6, (1,) * 19), 400),
]
# Too fine a column, indicators, a label that may be nobody: NumPy adds.
NEVER = [
    ClassMoments(Schema({"x": Integers(0, code_lines.MAX_LINE_VALUES - 1), "y": Categories(2)}), "y"),
    Gram(Schema({"x": Integers(0, code_lines.MAX_LINE_VALUES - 1), "y": Integers(0, 3)}), "y"),
    Gram(Schema({**UNEVEN, **LABELS}), "a"),
    Clusters(Schema({"x": Integers(0, code_lines.MAX_LINE_VALUES - 1)}), ((-5,), (7,))),
    ClusterMoves(THREE, ((0, 0, 0),), 5, (3_200_000, 7, 1)),  # squared distances from 2**53
]


def _codes(schema: Schema, extremes: bool) -> tuple[Any, ...]:
    """Any codes, those of labels that are nobody too; or the first and the last only."""
    rng = np.random.default_rng(7)
    sizes = [schema[name].size for name in schema.private]
    if extremes:
        return tuple((rng.integers(0, 2, ROWS) * (size - 1)).astype(np.int32) for size in sizes)
    nobody = [not schema[name].ordered for name in schema.private]
    return tuple(rng.integers(0, size + more, ROWS).astype(np.int16) for size, more in zip(sizes, nobody, strict=True))


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows kernels were asked for, each time that they were there."""
    asked: list[int] = []

    def loaded(n: int) -> Any:
        asked.append(n)
        return kernels

    monkeypatch.setattr(code_lines, "sum_kernels_for", loaded)
    return asked


@pytest.mark.parametrize("extremes", [False, True], ids=["any", "ends"])
@pytest.mark.parametrize("statistic", ASKED, ids=lambda s: type(s).__name__)
def test_kernels_and_numpy_give_the_same_integers(
    statistic: Any, extremes: bool, used: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = _codes(statistic.domain, extremes)
    fast = statistic.tally(x)
    monkeypatch.setattr(code_lines, "sum_kernels_for", lambda n: None)
    slow = statistic.tally(x)

    assert used == [ROWS]
    assert fast.dtype == slow.dtype == np.int64
    assert fast.tolist() == slow.tolist()


@pytest.mark.parametrize("statistic", NEVER, ids=lambda s: type(s).__name__)
def test_columns_that_kernels_do_not_take_are_left_to_numpy(
    statistic: Any, used: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels that fail if they are called: none is."""
    monkeypatch.setattr(code_lines, "sum_kernels_for", lambda n: object())
    x = _codes(statistic.domain, extremes=False)

    assert statistic.tally(x).tolist() == sum(statistic.lift(x)).tolist()


def test_codes_that_are_kept_give_the_same_sums() -> None:
    """The codes of k-means are read once for all steps (run/kept_rows.py), also where they are fine."""
    for statistic in (ASKED[-1], NEVER[-1], NEVER[-2]):
        x = _codes(statistic.domain, extremes=False)
        kept = statistic.columns_of(x)

        assert statistic.tally_columns(kept).tolist() == statistic.tally(x).tolist()
        assert kept.nbytes == len(x) * ROWS * 2


def test_a_tie_stays_with_the_lower_number() -> None:
    """Equal centres, in a kernel: all rows are the first one's."""
    same = ClusterMoves(EIGHT, ((7,) * 8,) * 3, 1 << 20, FINE)

    assert same.tally(_codes(EIGHT, extremes=False))[:3].tolist() == [ROWS, 0, 0]
