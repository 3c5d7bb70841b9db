"""Every table gives the same rows in the same batches, or an error in words."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
import pytest

from murmure.core.errors import EmptySource, InvalidParameter, MissingColumn, MissingExtra, MurmureError
from murmure.engines.sources.table_writer import write_table
from murmure.engines.sources.tables import open_table

KINDS = {"word": "text", "age": "integer", "size": "real", "yes": "boolean"}
TABLE = pa.table(
    {
        "word": ["a", None, "", "été", "d, e", 'say "f"', "NA"],
        "age": [1, 2, None, 4, 5, 6, -7],
        "size": [0.1, None, 1e300, 4.0, 5.0, 6.0, 7.0],
        "yes": [True, False, None, True, True, False, True],
        "id": [f"p{i}" for i in range(7)],
    }
)
ROWS = TABLE.to_pydict()


def write(path: Path, table: pa.Table = TABLE, **metadata: str) -> Path:
    with write_table(path, table.schema, metadata) as out:
        out.write(table)
    return path


def zipped(folder: Path) -> Path:
    path = folder / "t.csv.gz"
    path.write_bytes(gzip.compress(write(folder / "t.csv").read_bytes()))
    return path


def several(folder: Path, suffix: str) -> list[Path]:
    return [write(folder / f"{i}{suffix}", TABLE.slice(a, n)) for i, a, n in ((1, 0, 2), (2, 2, 1), (3, 3, 4))]


SOURCES: dict[str, Callable[[Path], Any]] = {
    "CSV": lambda folder: write(folder / "t.csv"),
    "CSV, as text": lambda folder: str(write(folder / "t.CSV")),
    "CSV, zipped": zipped,
    "Parquet": lambda folder: write(folder / "t.parquet"),
    "Arrow": lambda folder: write(folder / "t.arrow"),
    "Feather": lambda folder: write(folder / "t.feather"),
    "IPC": lambda folder: write(folder / "t.ipc"),
    "list of CSV": lambda folder: several(folder, ".csv"),
    "folder of Parquet": lambda folder: several(folder, ".parquet") and folder,
    "pattern of Arrow": lambda folder: several(folder, ".arrow") and str(folder / "[1-3].ar*"),
    "deep pattern": lambda folder: several(folder, ".parquet") and str(folder.parent / "**" / "*.parquet"),
    "pandas": lambda _: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, index": lambda _: TABLE.to_pandas(types_mapper=pd.ArrowDtype).set_index(pd.Index([9] * 7, name="age")),
    "polars": lambda _: pl.from_arrow(TABLE),
    "polars, lazy": lambda _: pl.from_arrow(TABLE).lazy().filter(pl.col("id") != "q"),
    "duckdb": lambda _: duckdb.from_arrow(TABLE),
    "table": lambda _: TABLE,
    "batch": lambda _: TABLE.to_batches()[0],
    "reader": lambda _: TABLE.to_reader(2),
    "dataset": lambda _: pa.dataset.dataset(TABLE),
    "Parquet dataset": lambda folder: pa.dataset.dataset(write(folder / "t.parquet")),
    "mapping": lambda _: ROWS,
    "mapping of arrays": lambda _: {name: TABLE[name] for name in TABLE.column_names},
}


# ---- every table


@pytest.mark.parametrize("rows", [1, 3, 100])
@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_batches(kind: str, rows: int, tmp_path: Path) -> None:
    """The same values in the same order, cut at the same rows, missing and empty text told apart."""
    folder = tmp_path / "in"
    folder.mkdir()
    table = open_table(SOURCES[kind](folder), kinds=KINDS, rows=rows)
    batches = list(table.batches())

    assert [b.num_rows for b in batches] == [rows] * (7 // rows) + [7 % rows] * (7 % rows > 0)
    assert pa.Table.from_batches(batches, table.schema).to_pydict() == ROWS
    assert table.names == tuple(ROWS)
    assert table.rows in (7, None)
    assert all(b.schema.equals(table.schema) for b in batches)


@pytest.mark.parametrize("kind", SOURCES)
def test_wanted_columns_alone_are_read_in_their_order(kind: str, tmp_path: Path) -> None:
    """Some columns in the order asked for; one that is not there is named with its neighbour."""
    folder = tmp_path / "in"
    folder.mkdir()
    source = SOURCES[kind](folder)
    with pytest.raises(MissingColumn, match=r"no column 'Aeg'; it has .*\n  Hint: did you mean 'age'"):
        open_table(source, ["Aeg"])
    table = open_table(source, ["yes", "age"], KINDS)

    assert pa.Table.from_batches(table.batches()).to_pydict() == {"yes": ROWS["yes"], "age": ROWS["age"]}


def test_rows_are_known_where_that_is_free(tmp_path: Path) -> None:
    """Parquet, Arrow files and frames say how many rows they hold; CSV and queries do not."""
    known = {}
    for kind, make in SOURCES.items():
        folder = tmp_path / kind / "in"
        folder.mkdir(parents=True)
        known[kind] = open_table(make(folder), kinds=KINDS).rows

    unknown = {"CSV", "CSV, as text", "CSV, zipped", "list of CSV", "polars, lazy", "duckdb", "reader", "dataset"}
    assert {kind for kind, rows in known.items() if rows is None} == unknown
    assert {rows for rows in known.values() if rows is not None} == {7}


def test_text_comes_as_a_dictionary(tmp_path: Path) -> None:
    """Columns of kind text, from CSV and Parquet; without a kind a CSV column is plain text, whatever it looks like."""
    for suffix in (".csv", ".parquet"):
        table = open_table(write(tmp_path / f"t{suffix}"), kinds={"word": "text"})
        assert pa.types.is_dictionary(table.schema.field("word").type)
        assert table.schema.field("id").type == pa.string()
    assert open_table(tmp_path / "t.csv").schema.types == [pa.string()] * 5
    assert pa.Table.from_batches(open_table(tmp_path / "t.csv", ["age"]).batches())["age"][6].as_py() == "-7"


def test_categories_stay_dictionaries(tmp_path: Path) -> None:
    """pandas category, Polars Categorical and Enum: codes and labels, not one text a person."""
    words = ["b", "a", None, "b"]
    frames = {
        "pandas": pd.DataFrame({"x": pd.Categorical(words)}, index=[3, 3, 1, 0]),
        "polars": pl.DataFrame({"x": pl.Series(words, dtype=pl.Categorical)}),
        "lazy": pl.DataFrame({"x": pl.Series(words, dtype=pl.Enum(["a", "b"]))}).lazy(),
    }
    for frame in frames.values():
        table = open_table(frame, rows=3)
        assert pa.types.is_dictionary(table.schema.field("x").type)
        assert [value for batch in table.batches() for value in batch.column(0).to_pylist()] == words


def test_files_agree_on_what_they_can(tmp_path: Path) -> None:
    """Numbers of other widths, text kept otherwise, nothing but missing values, another order: still one table."""
    pa.parquet.write_table(pa.table({"n": pa.array([1], pa.int8()), "t": ["a"]}), tmp_path / "1.parquet")
    pa.parquet.write_table(pa.table({"t": pa.array(["b"]).dictionary_encode(), "n": [0.5]}), tmp_path / "2.parquet")
    pa.parquet.write_table(pa.table({"t": pa.nulls(1), "n": pa.array([3], pa.int64())}), tmp_path / "3.parquet")
    table = open_table(tmp_path)

    assert pa.Table.from_batches(table.batches()).to_pydict() == {"n": [1.0, 0.5, 3.0], "t": ["a", "b", None]}


def test_every_batch_but_the_last_is_full(tmp_path: Path) -> None:
    """Row groups, blocks and files do not show: dictionaries that differ between them are joined."""
    n, rows = 300_000, 70_000
    word = pa.array([f"w{i % (1 + i // 1000)}" for i in range(n)])
    table = pa.table({"word": word})
    pa.parquet.write_table(table.slice(0, 100_001), tmp_path / "a.parquet", row_group_size=9_999)
    pa.parquet.write_table(table.slice(100_001), tmp_path / "b.parquet", row_group_size=33_333)
    pa.csv.write_csv(table, tmp_path / "t.csv")
    for source in (str(tmp_path / "*.parquet"), tmp_path / "t.csv"):
        batches = list(open_table(source, kinds={"word": "text"}, rows=rows).batches())
        assert [b.num_rows for b in batches] == [70_000] * 4 + [20_000]
        assert pa.Table.from_batches(batches)["word"].cast(pa.string()).combine_chunks().equals(word)


def test_an_answer_alone_on_its_line_may_be_missing(tmp_path: Path) -> None:
    """In a CSV of one column an empty line is a person without an answer, and nobody is lost."""
    path = tmp_path / "t.csv"
    path.write_text('word\na\n\n""\n\nb\n')
    (batch,) = open_table(path).batches()

    assert batch.column(0).to_pylist() == ["a", None, "", None, "b"]


def test_text_may_hold_lines_at_the_edge_of_a_block(tmp_path: Path) -> None:
    """Quoted line breaks, wherever the parser cuts its blocks."""
    path = tmp_path / "t.csv"
    path.write_text("word,n\n" + '"a\nb",1\n' * 700_000)
    counts = [
        (b.num_rows, set(b.column("word").dictionary.to_pylist())) for b in open_table(path, None, KINDS).batches()
    ]

    assert sum(n for n, _ in counts) == 700_000
    assert set.union(*(words for _, words in counts)) == {"a\nb"}


@pytest.mark.parametrize("text", ["age,yes\r\n1,true\r\n,\r\n", "\ufeffage,yes\n1,1\n,", '"age","yes"\n"1",TRUE\n,\n'])
def test_csv_of_other_programs(text: str, tmp_path: Path) -> None:
    """Windows line ends, a byte order mark, no line end at the end, everything in quotes."""
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    (batch,) = open_table(path, kinds=KINDS).batches()

    assert batch.to_pydict() == {"age": [1, None], "yes": [True, None]}


def test_a_mapping_counts_nan_as_missing() -> None:
    """As pandas does; columns that are not asked for are not even looked at."""
    source = {"x": np.array([1.0, np.nan]), "w": np.array(["a", np.nan], object), "bad": object()}
    (batch,) = open_table(source, ["x", "w"]).batches()

    assert batch.to_pydict() == {"x": [1.0, None], "w": ["a", None]}


def test_metadata_comes_back(tmp_path: Path) -> None:
    """What write_table embedded, from every format; what others wrote there is not ours."""
    for suffix in (".csv", ".parquet", ".arrow"):
        assert open_table(write(tmp_path / f"t{suffix}", plan="{}", word="é")).metadata == {"plan": "{}", "word": "é"}
        assert open_table(write(tmp_path / f"u{suffix}")).metadata == {}
    TABLE.to_pandas().to_parquet(tmp_path / "pandas.parquet")
    assert open_table(tmp_path / "pandas.parquet").metadata == {}
    assert open_table(pa.parquet.read_table(tmp_path / "t.parquet")).metadata == {"plan": "{}", "word": "é"}


# ---- what is refused


def test_nothing_is_read_twice_or_mixed(tmp_path: Path) -> None:
    """One file named twice, two formats in a folder, tables of two runs, other types, other columns."""
    one = write(tmp_path / "a.parquet", plan="1")
    (tmp_path / "link.parquet").symlink_to(one)
    with pytest.raises(InvalidParameter, match=r"'.*link.parquet' is listed twice"):
        open_table(tmp_path)
    (tmp_path / "link.parquet").unlink()
    other = write(tmp_path / "b.parquet", plan="2")
    with pytest.raises(InvalidParameter, match=r"'a.parquet' and 'b.parquet' were not written by the same run"):
        open_table(tmp_path)
    other.unlink()
    pa.parquet.write_table(pa.table({"word": [1]}), tmp_path / "b.parquet")
    one.unlink()
    pa.parquet.write_table(pa.table({"word": ["a"], "more": [1]}), tmp_path / "a.parquet")
    with pytest.raises(InvalidParameter, match=r"column 'word' holds string in 'a.parquet' and int64 in 'b.parquet'"):
        open_table(tmp_path, ["word"])
    with pytest.raises(MissingColumn, match=r"b.parquet has no column 'more'"):
        open_table(tmp_path)
    with pytest.raises(InvalidParameter, match=r"do not have the same columns: \['more'\]"):
        open_table([tmp_path / "b.parquet", tmp_path / "a.parquet"])
    pa.parquet.write_table(pa.table({"word": ["a"]}), tmp_path / "b.parquet")
    assert open_table([tmp_path / "b.parquet", tmp_path / "a.parquet"], ["word"]).rows == 2
    write(tmp_path / "c.csv")
    with pytest.raises(InvalidParameter, match="files of several formats"):
        open_table(tmp_path)


CSV = {
    "not a number": ("age,yes\n1,1\n\nx y,1\n", r"'t.csv': row 1, column 'age' holds 'x y', wanted a whole number"),
    "a decimal": ("age,yes\n1,1\n2.5,1\n", r"row 1, column 'age' holds '2.5', wanted a whole number"),
    "hexadecimal": ("age,yes\n1,1\n0x10,1\n", r"row 1, column 'age' holds '0x10', wanted a whole number"),
    "no truth": ("age,yes\n1,1\n2,oui\n", r"row 1, column 'yes' holds 'oui', wanted true or false"),
    "NA": (
        "size,x\n1,1\nNA,1\n",
        r"row 1, column 'size' holds 'NA', wanted a number.\n  Hint: a missing value is an em",
    ),
    "too many": ("age,yes\n1,1\n2,1,\n", r"row 1 has 3 fields, the header has 2"),
    "too few": ("age,yes\n1,1\n2\n", r"row 1 has 1 fields, the header has 2"),
    "far below": ("age,yes\n" + "1,1\n" * 900_000 + "x,1\n", r"row 900000, column 'age' holds 'x'"),
    "twice": ("age,age\n1,1\n", r"has two columns called 'age'"),
    "NUL": ("age,yes\n1,1\n2,\0\n", r"line 3 holds a NUL byte"),
    "semicolons": ("age;yes\n1;1\n", r"separated by semicolons, wanted commas"),
    "blank": ("\nage,yes\n", r"starts with an empty line"),
    "open quote": ('word,yes\n"a,1\n' + "a,1\n" * 900_000, r"has an opening quote that is never closed"),
    "open quote, last": ('yes,word\n1,"a\n' + "1,a\n" * 900_000, r"has an opening quote that is never closed"),
    "open quote, small": ('yes,word\n1,"a\n1,b\n', r"has an opening quote that is never closed\.\n"),
    "long": ('yes,word\n1,"' + "a" * 5_000_000 + '"\n', r"(?s)longer than 2097152 bytes"),
    "Latin-1": (
        "word\nok\nétage\n".encode("latin-1"),
        r"row 1, column 'word' holds other bytes.*\n.*murmure schema init",
    ),
    "Latin-1 header": ("âge\n1\n".encode("latin-1"), r"its header holds other bytes.*\n.*murmure schema init"),
    "UTF-16": ("age,yes\n1,1\n".encode("utf-16"), r"is UTF-16, wanted UTF-8.\n.*murmure schema init"),
    "UTF-16, no mark": ("age,yes\n1,1\n".encode("utf-16-le"), r"NUL byte.\n.*encoding = .utf-16."),
    "Parquet": (b"PAR1\0\0\0\0", r"NUL byte|is a Parquet file, not a CSV"),
    "spreadsheet": (b"PK\x03\x04abc", r"is a spreadsheet or a zip archive, not a CSV"),
    "gzip": (gzip.compress(b"age\n1\n"), r"NUL byte|is gzipped, not a CSV"),
}


@pytest.mark.parametrize("kind", CSV)
def test_a_bad_csv_is_refused_in_words(kind: str, tmp_path: Path) -> None:
    """The file, the row and the column, and what to do."""
    path = tmp_path / "t.csv"
    text, words = CSV[kind]
    path.write_bytes(text if isinstance(text, bytes) else text.encode())

    with pytest.raises(InvalidParameter, match=words) as error:
        list(open_table(path, kinds=KINDS).batches())
    assert error.value.hint


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_no_rows_and_no_bytes(suffix: str, tmp_path: Path) -> None:
    """A header without rows has columns and no batch; a file without a byte is an empty source."""
    path = write(tmp_path / f"t{suffix}", TABLE.slice(0, 0))
    assert open_table(path).names == tuple(ROWS)
    assert list(open_table(path).batches()) == []

    path.write_bytes(b"")
    with pytest.raises(EmptySource, match=f"'t{suffix}' is empty"):
        open_table(path)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather", ".csv.gz"])
def test_a_damaged_file_is_refused(suffix: str, tmp_path: Path) -> None:
    """Cut short anywhere, or of another format than its name says: an error in words, never half the people."""
    big = pa.table({"x": np.random.default_rng(1).integers(0, 1 << 60, 50_000)})
    path = tmp_path / f"t{suffix}"
    if suffix == ".csv.gz":
        pa.csv.write_csv(big, tmp_path / "t.csv")
        path.write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    else:
        write(path, big)
    whole = path.read_bytes()
    for bad in [whole[: int(len(whole) * part)] for part in (0.01, 0.5, 0.99)] + [whole[:-1], b"x,y\n1,2\n"]:
        path.write_bytes(bad)
        with pytest.raises(InvalidParameter, match=rf"cannot read 't{suffix}'.*(\n|.)*Hint: it is truncated"):
            list(open_table(path).batches())


def test_a_rotten_page_is_seen(tmp_path: Path) -> None:
    """write_table lays checksums into Parquet: a flipped bit in the data is an error, not another answer."""
    path = write(tmp_path / "t.parquet", pa.table({"x": np.random.default_rng(1).integers(0, 1 << 60, 50_000)}))
    data = bytearray(path.read_bytes())
    data[200_000] ^= 1
    path.write_bytes(data)

    with pytest.raises(InvalidParameter, match=r"cannot read 't\.parquet'"):
        list(open_table(path).batches())


def test_codes_without_words_are_refused(tmp_path: Path) -> None:
    """An Arrow file is used as it lies on the disk: a code beyond its dictionary must not reach the kernels."""
    column = pa.DictionaryArray.from_arrays(pa.array([0, 99], pa.int32()), pa.array(["a"]), safe=False)
    batch = pa.record_batch({"x": column})
    with pa.ipc.new_file(tmp_path / "t.arrow", batch.schema) as file:
        file.write(batch)

    with pytest.raises(InvalidParameter, match=r"cannot read 't\.arrow'"):
        list(open_table(tmp_path / "t.arrow").batches())


def test_paths_to_nothing(tmp_path: Path) -> None:
    """No file, no match, no table in the folder, a broken link, a pipe, another kind."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "link.csv").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.csv")
    for name, words in {
        "none.csv": "there is no file '.*none.csv'",
        "*.arrow": r"no file matches '.*\*.arrow'",
        "empty": "the folder '.*empty' holds no file ending in .parquet",
        "deep": r"(?s)holds no file.*by a pattern: '.*deep/\*\*/\*.parquet'",
        "link.csv": "link.csv' is a link to 'nowhere', which does not exist",
        "pipe.csv": "pipe.csv' is not a file",
        "t.docx": "cannot read 't.docx': wanted a file ending in",
        "n" * 300 + ".csv": "file name too long",
    }.items():
        with pytest.raises(InvalidParameter, match=words):
            open_table(tmp_path / name)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_what_may_not_be_read(tmp_path: Path) -> None:
    """Permission denied, of a file and of a folder; tried as nobody, when the tests run as root."""
    path = write(tmp_path / "t.parquet")
    path.chmod(0)
    for name in (path, tmp_path / "shut"):
        code = (
            "import os, sys; from murmure.engines.sources.tables import open_table; from murmure.core.errors import *\n"
            "import pyarrow.parquet\n"
            f"os.chdir({str(tmp_path)!r}); os.getuid() or os.setuid(65534)\n"
            f"try: list(open_table({name.name!r}).batches())\n"
            "except InvalidParameter as error: print(error)"
        )
        (tmp_path / "shut").mkdir(exist_ok=True)
        (tmp_path / "shut").chmod(0)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        (tmp_path / "shut").chmod(0o700)
        assert f"cannot read '{name.name}': permission denied." in done.stdout, done.stderr


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_a_file_that_goes_meanwhile(suffix: str, tmp_path: Path) -> None:
    """Gone between the look and the read, or cut while it is read: an error in words."""
    n = 6_000_000 if suffix == ".csv" else 2_000_000  # more than is read ahead
    path = write(tmp_path / f"t{suffix}", pa.table({"x": np.random.default_rng(1).integers(0, 1 << 60, n)}))
    table = open_table(path, rows=1000)
    batches = table.batches()
    next(batches)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(InvalidParameter, match=r"cannot read 't|'t\.csv' changed while it was being read"):
        list(batches)

    path.unlink()
    with pytest.raises(InvalidParameter, match=f"cannot read 't{suffix}'.*no such file"):
        list(table.batches())


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (None, "cannot read a table from 'NoneType'"),
        ([1, 2], "cannot read a table from 'list'"),
        ([], "cannot read a table from 'list'"),
        (np.zeros((2, 2)), "cannot read a table from 'ndarray'"),
        (TABLE["age"], "cannot read a table from 'ChunkedArray'"),
        (pl.Series([1]), "cannot read a table from 'Series'"),
        (pd.Series([1]), "cannot read a table from 'Series'"),
        ({}, "must have the same length"),
        ({"x": [1], "y": [1, 2]}, r"must have the same length, got {'x': 1, 'y': 2}"),
        ({"x": ["a", 1]}, "column 'x' of the mapping is not a column"),
        ({"x": 3}, "column 'x' of the mapping is not a column"),
        ({"x": np.zeros((2, 2))}, "column 'x' of the mapping is not a column"),
        (pd.DataFrame({"x": ["a", 1]}), "the frame does not fit Arrow"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "two columns"),
        (pd.DataFrame([[1, 2]]), "the frame has a column called 0, wanted text"),
        ({0: [1]}, "the mapping has a column called 0, wanted text"),
        (pa.table([[1], [2]], ["x", "x"]), "two columns called 'x'"),
    ],
)
def test_what_is_no_table_is_refused(source: Any, words: str) -> None:
    """An error in words."""
    with pytest.raises(InvalidParameter, match=words):
        open_table(source)


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    """Kinds, columns and sizes that cannot be meant; a reader that was read."""
    path = write(tmp_path / "t.csv")
    for arguments, words in (
        (
            {"kinds": {"age": "int"}},
            r"kinds\['age'\] must be one of text, integer, real, decimal, boolean, name, got 'int'",
        ),
        ({"columns": []}, "columns is empty"),
        ({"columns": ["age", "age"]}, "two columns called 'age'"),
        ({"rows": 0}, "rows must be at least 1"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            open_table(path, **arguments)  # type: ignore[arg-type]
    table = open_table(TABLE.to_reader())
    assert sum(b.num_rows for b in table.batches()) == 7
    for _ in range(2):
        with pytest.raises(InvalidParameter, match="was already read"):
            list(table.batches())


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Reading and writing say what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"needs pyarrow, .*\n.*murmure\[tables\]"):
        open_table({"x": [1]})
    with pytest.raises(MissingExtra, match=r"needs pyarrow, .*\n.*murmure\[tables\]"):
        write_table(tmp_path / "t.csv", None, {})


def test_an_error_of_the_caller_is_the_callers(tmp_path: Path) -> None:
    """What fails between two batches is not taken for the file's fault."""
    table = open_table(write(tmp_path / "t.parquet"), rows=2)
    with pytest.raises(OSError, match="mine") as error:
        for _ in table.batches():
            raise OSError("mine")
    assert not isinstance(error.value, MurmureError)


# ---- cost


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
def test_a_large_file_is_not_held(suffix: str, tmp_path: Path) -> None:
    """A file of more than 125 MB, as Parquet in one row group: reading it takes less memory than it has bytes."""
    n = 1_000_000 if suffix == ".csv" else 2_000_000
    rng = np.random.default_rng(1)
    table = pa.table({f"c{i}": rng.integers(0, 1 << 62, n) for i in range(8)})
    path = tmp_path / f"t{suffix}"
    if suffix == ".parquet":
        pa.parquet.write_table(table, path, row_group_size=n)
    else:
        write(path, table)
    del table
    code = (
        "import re, sys; from murmure.engines.sources.tables import open_table; import numpy, pyarrow\n"
        "import pyarrow.csv, pyarrow.dataset, pyarrow.parquet, narwhals\n"
        "peak = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        "kinds = {f'c{i}': 'integer' for i in range(8)}; before = peak(); n = 0\n"
        "for b in open_table(sys.argv[1], kinds=kinds, rows=1 << 16).batches(): n += b.num_rows\n"
        "print(n, peak() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows, kilobytes = map(int, done.stdout.split())

    assert rows == n
    assert path.stat().st_size > 125e6
    assert 1_000 < kilobytes < 0.9 * path.stat().st_size / 1024


@pytest.mark.parametrize("wanted", [("a", "b"), ("b",), ("b", "a")])
def test_a_bad_cell_is_found_in_its_own_column(wanted: tuple[str, ...], tmp_path: Path) -> None:
    """pyarrow counts the columns of the file, of which not all are wanted."""
    path = tmp_path / "t.csv"
    path.write_text("x,y,a,b\n1,2,3,true\n1,2,4,maybe\n")
    with pytest.raises(InvalidParameter, match="row 1, column 'b' holds 'maybe', wanted true or false"):
        list(open_table(path, wanted, {"a": "integer", "b": "boolean"}).batches())


@pytest.mark.parametrize("rows", [1, 100_000])
def test_numbers_mean_the_same_however_they_are_written(tmp_path: Path, rows: int) -> None:
    """Whole numbers as pandas writes them when one is missing, with a sign, with an exponent, anywhere in a file."""
    path = tmp_path / "t.csv"
    kinds = {"a": "integer", "b": "boolean", "c": "real", "d": "decimal"}
    plain = "1,true,0.5,0.5\n" * rows
    path.write_text(f"a,b,c,d\n{plain}24.0,TRUE,1e0,1e0\n+3, 1 ,nan,NaN\n1e1,0.0,+.5,+.5\n{plain}", encoding="utf-8")

    read = [row for batch in open_table(path, kinds=kinds).batches() for row in batch.to_pylist()]
    usual = {"a": 1, "b": True, "c": 0.5, "d": Decimal("0.5")}
    odd = [
        {"a": 24, "b": True, "c": 1.0, "d": Decimal(1)},
        {"a": 3, "b": True, "c": None, "d": None},
        {"a": 10, "b": False, "c": 0.5, "d": Decimal("0.5")},
    ]
    assert read == [usual] * rows + odd + [usual] * rows
