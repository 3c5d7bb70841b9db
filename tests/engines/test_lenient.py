"""Lenient reading: no row decides whether a table can be read, and good rows are read as ever."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from murmure.core.cells.lenient_encoding import encode_schema_lenient
from murmure.core.column import Column
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import EmptySource, InvalidParameter, MissingColumn, OutsideDomain
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.engines.memory import Memory
from murmure.engines.sources.csv_files import BLOCK, _in_growing_blocks
from murmure.engines.sources.rows_per_person import RowsPerPerson
from murmure.engines.sources.tables import open_table

SCHEMA = Schema(
    {
        "age": Integers(0, 99),
        "size": Interval(0.0, 2.0, cells=20),
        "smoker": Categories(["no", "yes"]),
        "old": Categories([False, True]),
    }
)
HEAD = b"age,size,smoker,old\n"


def read(source: Any, **how: Any) -> list[list[int]]:
    table = open_table(source, list(SCHEMA), SCHEMA.kinds, lenient=True, **how)
    parts = [encode_schema_lenient(SCHEMA, batch) for batch in table.batches()]
    return [np.concatenate([part[i] for part in parts]).tolist() if parts else [] for i in range(4)]


def csv(tmp_path: Path, body: bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(gzip.compress(HEAD + body) if name.endswith(".gz") else HEAD + body)
    return path


BAD = {
    b"x,1.0,no,true": (100, 10, 0, 1),
    b",,,": (100, 20, 2, 2),
    b"24.0,+1e0,yes,1": (24, 10, 1, 1),
    b"24.6, 0.31 ,yes,FALSE": (25, 3, 1, 0),
    b"1e999,-inf,maybe,2": (99, 0, 2, 2),
    b"99999999999999999999999,nan,\xff\xfe,x": (99, 20, 2, 2),
    b"7,1,n\x00o,true": (7, 10, 2, 1),
    b'"8","1","no","true"': (8, 10, 0, 1),
    b"9,1,yes\xc3,true": (9, 10, 2, 1),
}
RAGGED = [b"1,2", b"1,2,no,true,5", b"lonely"]


@pytest.mark.parametrize("ending", ["t.csv", "t.csv.gz"])
def test_cells_that_are_not_of_their_kind(tmp_path: Path, ending: str) -> None:
    """A cell that cannot be read is missing, bytes that are no text are an unknown label, a ragged row is left out."""
    rows = [*BAD, RAGGED[0], b"5,0.5,yes,false", *RAGGED[1:]]
    expected = [*BAD.values(), (5, 5, 1, 0)]

    assert list(zip(*read(csv(tmp_path, b"\n".join(rows) + b"\n", ending)), strict=True)) == expected
    assert list(zip(*read(csv(tmp_path, b"\n".join(rows), ending), rows=2), strict=True)) == expected


@pytest.mark.parametrize("bad", [*BAD, *RAGGED], ids=repr)
def test_one_row_leaves_the_others_as_they_are(tmp_path: Path, bad: bytes) -> None:
    """The good rows of a file are read as strict reading has them, wherever a bad row stands among them."""
    good = [b"1,0.25,no,true", b"2,1.999,yes,false", b"90,0,no,0"]
    strict = open_table(csv(tmp_path, b"\n".join(good)), list(SCHEMA), SCHEMA.kinds)
    expected = list(zip(*(c.tolist() for c in SCHEMA.encode(next(strict.batches()))), strict=True))

    for at in range(4):
        rows = list(zip(*read(csv(tmp_path, b"\n".join([*good[:at], bad, *good[at:]]))), strict=True))
        assert rows == [*expected[:at], *([BAD[bad]] if bad in BAD else []), *expected[at:]]


def test_a_letter_cut_in_two_by_a_block(tmp_path: Path) -> None:
    """Bytes are looked at in blocks; a letter of several bytes on the border of two stays whole."""
    schema = Schema({"a": Categories(["é", "x"])})
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n" + ("é\n" * 1_200_000).encode() + b"\xff\n" + b"\xe9")
    table = open_table(path, ["a"], schema.kinds, lenient=True)
    counts = sum(np.bincount(encode_schema_lenient(schema, batch)[0], minlength=3) for batch in table.batches())

    assert counts.tolist() == [1_200_000, 0, 2]


def test_a_row_longer_than_a_block(tmp_path: Path) -> None:
    """A cell of three million letters is an unknown label, wherever it stands; nobody else is lost or read twice."""
    for before, after in ((0, 3), (300_000, 5), (2, 400_000)):
        body = b"7,1,no,true\n" * before + b"8,1," + b"y" * 3_000_000 + b",true\n" + b"9,1,yes,true\n" * after
        ages, _, smokers, _ = read(csv(tmp_path, body))

        assert np.bincount(ages)[7:].tolist() == [before, 1, after]
        assert np.bincount(smokers, minlength=3).tolist() == [before, after, 1]


def test_larger_and_larger_blocks() -> None:
    """Each time a row is longer than a block, the rows that were read are passed over, and only these."""

    class Reader(list):  # type: ignore[type-arg]
        def __exit__(self, *error: object) -> None: ...
        def __enter__(self) -> Any:
            return self._batches()

        def _batches(self) -> Any:
            for size in self:
                if size is None:
                    raise pa.ArrowInvalid("straddling object straddles two block boundaries")
                yield pa.record_batch({"x": pa.array(range(size[0], size[1]))})

    tries = iter([Reader([(0, 3), None]), Reader([(0, 4), (4, 7), None]), Reader([(0, 5), (5, 9)])])
    asked: list[int] = []
    found = _in_growing_blocks(lambda block: (asked.append(block), next(tries))[1])

    assert [x for batch in found for x in batch.column(0).to_pylist()] == list(range(9))
    assert asked == [BLOCK, 8 * BLOCK, 64 * BLOCK]


def test_what_still_fails(tmp_path: Path) -> None:
    """No file, no table, no such column, a quote that is never closed: not matters of one row's value."""
    for body, error in ((b"1,1,no,true\n", MissingColumn),):
        with pytest.raises(error):
            open_table(csv(tmp_path, body), ["agee"], lenient=True)
    with pytest.raises(InvalidParameter, match="no file"):
        open_table(tmp_path / "none.csv", ["age"], lenient=True)
    (tmp_path / "zip.csv").write_bytes(b"PK\x03\x04")
    with pytest.raises(InvalidParameter, match="spreadsheet"):
        open_table(tmp_path / "zip.csv", ["age"], lenient=True)
    with pytest.raises(InvalidParameter, match="never closed"):
        read(csv(tmp_path, b'1,1,"no,true\n'))


@pytest.mark.parametrize("body", [b"", b"1\n", b"1,2\n,,,,,\n"])
def test_nobody_is_nobody(tmp_path: Path, body: bytes) -> None:
    """A header alone, or rows of which none can be read, are an empty source of the kind that engines know."""
    table = open_table(csv(tmp_path, body), list(SCHEMA), SCHEMA.kinds, lenient=True)

    with pytest.raises(EmptySource):
        Memory().total(lambda batch: batch, table.batches())


CELLS = ["7", 7, 7.0, None, np.nan, "x", [1], {"a": 1}, b"\xff", 10**400, True, pd.NA, "\ud800", object()]


@pytest.mark.parametrize("odd", range(len(CELLS)), ids=[repr(c)[:12] for c in CELLS])
@pytest.mark.parametrize("holder", ["mapping", "pandas", "array", "category"])
def test_frames_of_objects(holder: str, odd: int) -> None:
    """One odd cell among Python's own values: every other row is read as it is without it."""
    columns: dict[str, list[Any]] = {
        "age": [1, 2, 3],
        "size": [0.5, 1.0, 1.5],
        "smoker": ["no", "yes", "no"],
        "old": [True, False, True],
    }
    hashable = not isinstance(CELLS[odd], list | dict) and repr(CELLS[odd]) != repr("\ud800")  # pandas refuses it

    def held(name: str, extra: list[Any]) -> Any:
        cells = np.empty(3 + len(extra), object)
        cells[:] = columns[name] + extra
        if holder == "category" and hashable:
            return pd.Series(cells, dtype="category")
        return list(cells) if holder == "mapping" else pd.Series(cells, dtype=object) if holder == "pandas" else cells

    for name in columns:
        plain = {n: held(n, columns[n][:1]) for n in columns}
        mixed = {n: held(n, [CELLS[odd]] if n == name else columns[n][:1]) for n in columns}
        before = read(pd.DataFrame(plain) if holder == "pandas" else plain)
        after = read(pd.DataFrame(mixed) if holder == "pandas" else mixed)

        assert [c[:3] for c in before] == [c[:3] for c in after]
        assert before == [[1, 2, 3, 1], [5, 10, 15, 5], [0, 1, 0, 0], [1, 0, 1, 1]]


def test_typed_frames() -> None:
    """Columns of fixed type are Arrow's, whatever holds them."""
    held = {
        "age": np.array([1, 200, -5]),
        "size": pd.Series([0.5, None, 9.0]),
        "smoker": pa.array(["no", None, "x"]),
        "old": pd.Series([True, None, False], dtype="boolean"),
    }
    expected = [[1, 99, 0], [5, 20, 19], [0, 2, 2], [1, 2, 0]]

    assert read(held) == expected
    assert read(pd.DataFrame({n: pd.Series(v) for n, v in held.items()})) == expected
    assert read(pl.DataFrame({n: pa.array(v, from_pandas=True).to_pylist() for n, v in held.items()})) == expected
    with pytest.raises(InvalidParameter):
        read({**held, "age": np.zeros((3, 2))})


def test_a_frame_that_changes_its_type_for_one_row() -> None:
    """pandas makes floats, or objects, of whole numbers for the sake of one row: the others stay what they were."""
    schema = Schema(
        {
            "t": Categories(["1", "2"]),
            "m": Categories(["a", 1]),
            "b": Column(Categories([False, True]), missing="value"),
        }
    )

    def codes(last: list[Any]) -> list[list[int]]:
        frame = pd.DataFrame({name: pd.Series([1, 2, 0, *last]) for name in schema})
        table = open_table(frame, list(schema), schema.kinds, lenient=True)
        return [column.tolist()[:3] for column in encode_schema_lenient(schema, next(table.batches()))]

    assert codes([]) == codes([None]) == codes(["a"]) == codes([2.5]) == codes([[1]]) == codes([True])
    assert codes([])[2] == [1, 3, 0]


def test_files_that_share_no_type(tmp_path: Path) -> None:
    """Whole numbers that do not fit the floats of another file: strict reading refuses the row, this one rounds it."""
    pq.write_table(pa.table({"age": [1.5]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"age": [2**53 + 1]}), tmp_path / "b.parquet")
    schema = Schema({"age": Integers(0, 99)})
    table = open_table(tmp_path, ["age"], schema.kinds, lenient=True)

    assert [encode_schema_lenient(schema, batch)[0].tolist() for batch in table.batches()] == [[2, 99]]
    with pytest.raises(InvalidParameter):
        list(open_table(tmp_path, ["age"], schema.kinds).batches())


@pytest.mark.parametrize(
    "named", [["u", None, "u", "v", "u"], [1.0, np.nan, 1.0, 2.0, 1.0], [b"\xff", None, b"\xff", b"v", b"\xff"]]
)
def test_rows_without_a_name(named: list[Any]) -> None:
    """nobody="drop" leaves out rows that do not say whose they are, and a person's rows beyond the bound."""
    ids = pa.array(named)
    if pa.types.is_binary(ids.type):  # text that is no text
        ids = pa.StringArray.from_buffers(len(ids), ids.buffers()[1], ids.buffers()[2], ids.buffers()[0])
    batch = pa.RecordBatch.from_arrays([ids, pa.array(range(5))], ["id", "x"])
    people = RowsPerPerson("id", 2, "drop", unnamed="drop")

    assert people.admit(batch, 0).column("x").to_pylist() == [0, 2, 3]
    assert people.admit(batch, 5).column("x").to_pylist() == [3]
    assert people.admit(batch.slice(1, 1), 10).num_rows == 0
    with pytest.raises(OutsideDomain, match="row 1 does not say which person"):
        RowsPerPerson("id", 2, "drop").admit(batch, 0)
    with pytest.raises(InvalidParameter, match="tell people apart"):
        nested = pa.RecordBatch.from_arrays([pa.array([[1]])], ["id"])
        RowsPerPerson("id", 2, "drop", unnamed="drop").admit(nested, 0)


def test_spark_workers_read_leniently(spark: Any, tmp_path: Path) -> None:
    """The integers before noise are those of this machine: files of several types, odd rows, frames, and nobody."""
    from murmure.catalogue import load
    from murmure.engines.spark import Spark
    from murmure.plan.plan import Plan
    from murmure.run.totals import total

    schema = Schema({"age": Integers(0, 99), "smoker": Categories(["no", "yes"])})
    plan = Plan(load("Marginals")(schema), curator=load("DiscreteLaplace")(epsilon=1.0))
    folder = tmp_path / "data"
    folder.mkdir()
    ages: list[list[Any]] = [[1.5, np.nan, np.inf, None], [2**53 + 1, -7, 50, None]]
    for name, age in zip("ab", ages, strict=True):
        words = pa.array(["no", "x", None, "yes"])
        pq.write_table(pa.table({"age": pa.array(age), "smoker": words}), folder / f"{name}.parquet")
    rng = Random.seeded(1)
    here = total(plan, str(folder), Memory(), rng)
    frame = spark.createDataFrame(
        [(float(a) if a is not None else None, s) for age in ages for a, s in zip(age, words.to_pylist(), strict=True)],
        "age double, smoker string",
    )

    assert here.n == 8
    for source in (str(folder), frame):
        there = total(plan, source, Spark(spark), rng)
        assert there.n == 8 and there.sum.tolist() == here.sum.tolist()
    with pytest.raises(EmptySource):
        Spark(spark).total(plan.step, frame.limit(0))
    assert total(plan, frame.limit(0), Spark(spark), rng).n == 0


@pytest.mark.parametrize("odd", ["x", "", "0.5", "true", "9007199254740993"])
def test_spark_guesses_types_and_one_row_changes_no_other(spark: Any, tmp_path: Path, odd: str) -> None:
    """spark.read.csv looks at all rows for the type of a column; the sums move by one row."""
    from murmure.catalogue import load
    from murmure.engines.spark import Spark
    from murmure.plan.plan import Plan
    from murmure.run.totals import total

    schema = Schema({"flag": Categories(["0", "1"]), "ok": Categories(["true", "false"]), "age": Integers(0, 9)})
    plan = Plan(load("Marginals")(schema), curator=load("DiscreteLaplace")(epsilon=1.0))
    sums = {}
    for name in (None, *schema):
        rows = [{"flag": "1", "ok": "true", "age": "3"}, {"flag": "0", "ok": "false", "age": "4"}] * 5
        rows += [] if name is None else [{**rows[0], name: odd}]
        path = tmp_path / f"{name}.csv"
        path.write_text("flag,ok,age\n" + "".join(f"{r['flag']},{r['ok']},{r['age']}\n" for r in rows))
        frame = spark.read.csv(str(path), header=True, inferSchema=True)
        sums[name] = total(plan, frame, Spark(spark), Random.seeded(1)).sum

    assert sums[None].tolist()[:4] == [5, 5, 5, 5]
    for name in schema:
        assert np.abs(sums[name] - sums[None]).sum() <= len(schema)


def test_spark_and_memory_read_files_of_signed_and_unsigned_numbers(spark: Any, tmp_path: Path) -> None:
    """A type that holds both: a row beyond 2**63 stays beyond, also where Spark's workers read the files themselves."""
    from murmure.catalogue import load
    from murmure.engines.spark import Spark
    from murmure.plan.plan import Plan
    from murmure.run.totals import total

    plan = Plan(load("Sum")(Integers(0, 100, column="x")), curator=load("DiscreteLaplace")(epsilon=1.0))
    for first, later in (([2**63 + 5] * 9, [3]), ([3], [2**63 + 5] * 9), ([1, 2], [2.9] * 9), ([2.9] * 9, [1, 2])):
        folder = tmp_path / f"{first[0]}-{len(first)}"
        folder.mkdir()
        for name, values in (("a", first), ("b", later)):
            kind = pa.uint64() if max(values) > 2**62 else pa.float64() if 2.9 in values else pa.int64()
            pq.write_table(pa.table({"x": pa.array(values, kind)}), folder / f"{name}.parquet")
        wanted = sum(min(100, round(v)) for v in first + later)
        for engine in (Memory(), Spark(spark)):
            got = total(plan, str(folder), engine, Random.seeded(1))
            assert (got.n, got.sum.tolist()[-1]) == (len(first + later), wanted)


def test_a_nul_in_another_column(tmp_path: Path) -> None:
    from murmure.catalogue import load
    from murmure.plan.plan import Plan
    from murmure.run.totals import total

    path = csv(tmp_path, b"1,1,no,true\n2,1,n\x00o,true\n")
    plan = Plan(load("Sum")(SCHEMA["age"]), curator=load("DiscreteLaplace")(epsilon=1.0))
    assert total(plan, path, None, Random.seeded(1)).sum.tolist() == [2, 0, 3]  # none is left out
