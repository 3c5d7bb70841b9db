"""Tables, arrays and lists become columns, and under a schema no cell changes what other cells are taken for."""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.attacks.audits.replay_audit import replay_audit
from murmure.learn import NaiveBayes

SCHEMA = mu.Schema({"c": mu.Categories(["1", "2"]), "x": mu.Integers(0, 9), "y": mu.Categories(["0", "1"])})
LEARNER = NaiveBayes(SCHEMA, "y", mu.Central(1.0))
X, Y = [["1", 2], ["2", 3], ["1", 4]], ["0", "1", "0"]


def ask(data: Any, gate: Any) -> Any:
    return copy.copy(LEARNER).fit(data[0], data[1], gate=gate)


@pytest.mark.parametrize(
    ("row", "label"),
    [
        (["x", 1], "1"),
        ([1, 1], 0),
        ([None, None], None),
        ([[1], 2], "1"),
        ([1j, 2], "1"),
        ([], "1"),
        (5, {}),
        ("ab", 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("labels", [Y, [0, 1, 0]], ids=["text", "numbers"])
def test_one_more_row_of_a_list_moves_what_one_row_may(row: Any, label: Any, labels: list[Any]) -> None:
    """NumPy would make one type of all cells, and one text among numbers would turn every 0 into the label "0"."""
    replay_audit(ask, (X, labels), ([*X, row], [*labels, label]), "add/remove", 1.0)
    replay_audit(ask, ([*X, row], [*labels, label]), (X, labels), "add/remove", 1.0)


def test_any_sequence_is_read_cell_by_cell() -> None:
    few, more = deque([0, 1] * 3), deque([*([0, 1] * 3), "?"])
    replay_audit(ask, (deque(X * 2), few), (deque([*(X * 2), ["1", 1]]), more), "add/remove", 1.0)


def test_an_empty_list_is_an_empty_table() -> None:
    replay_audit(ask, ([], []), ([["1", 2]], ["1"]), "add/remove", 1.0)


@pytest.mark.filterwarnings("ignore::murmure.core.errors.SchemaWarning")  # arrays, on purpose
@pytest.mark.parametrize("form", ["mapping", "pandas", "polars", "arrow", "array", "list", "pandas and y"])
def test_whatever_holds_the_rows_the_sums_are_the_same(form: str) -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    schema = mu.Schema({"a": mu.Integers(0, 9), "b": mu.Interval(0.0, 1.0), "y": mu.Categories([0, 1])})
    table = {"a": [1, 5, 9, 2], "b": [0.1, 0.5, 0.9, 0.3], "y": [0, 1, 1, 0]}
    features = np.array([table["a"], table["b"]]).T
    given: Any = {
        "mapping": (table,),
        "pandas": (pd.DataFrame(table),),
        "polars": (pl.DataFrame(table),),
        "arrow": (pa.table(table),),
        "array": (features, np.array(table["y"])),
        "list": (features.tolist(), table["y"]),
        "pandas and y": (pd.DataFrame(table)[["b", "a"]], pd.Series(table["y"])),
    }[form]

    def sums(*rows: Any) -> Any:
        return NaiveBayes(schema, "y", mu.Central(1.0), rng=mu.Random.seeded(1)).fit(*rows).answers_

    assert sums(*given) == sums(table)
