"""The sum of every question is the same integers whatever holds the rows and however many threads add them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from tests.frozen.figures import REFUSED, plans_of
from tests.listing import STATISTICS, listed
from tests.properties.drawn_rows import few, rows_for, seeds, sizes

import murmure as mu
from murmure.run.totals import total

TABLES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "Polars": pl.DataFrame,
    "Arrow": pa.table,
    "Arrow, in many pieces": lambda frame: pa.concat_tables(
        [pa.table(frame)[i : i + 1] for i in range(rows_of(frame))]
    ),
}
FILES: dict[str, Callable[[Any, str], Any]] = {"csv": pyarrow.csv.write_csv, "parquet": pyarrow.parquet.write_table}


def rows_of(frame: dict[str, Any]) -> int:
    return len(next(iter(frame.values())))


@pytest.mark.parametrize("question", [pytest.param(q, id=name) for name, q in listed(*STATISTICS)])
@few(2)
@given(n=sizes, seed=seeds)
def test_every_table_holds_the_same_sum(
    question: Any, n: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Tables and files, on one thread and on three, in the clear and as a curator reads them."""
    frame = rows_for(question, n, seed)
    frame = frame if isinstance(frame, dict) else {"answer": frame}
    table = pa.table(frame)
    folder = tmp_path_factory.mktemp("rows")
    for ending, write in FILES.items():
        write(table, str(folder / f"rows.{ending}"))
    sources = [make(frame) for make in TABLES.values()] + [folder / f"rows.{ending}" for ending in FILES]
    for name in ("clear", "curator"):
        if (plan := plans_of(question)[name]) is REFUSED:
            continue
        wanted = sum_of(plan, frame, 1)
        assert all(sum_of(plan, source, 3) == wanted for source in sources)


def sum_of(plan: Any, source: Any, threads: int) -> tuple[int, list[int]]:
    found = total(plan, source, mu.Memory(threads=threads), mu.Random.seeded(1))
    return found.n, list(map(int, found.sum))
