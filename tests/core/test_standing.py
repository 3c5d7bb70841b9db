"""Every row gets a code, whatever it holds; it depends on that row alone; and it is encode's where that has one."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

from murmure.core.cells.lenient_encoding import (
    can_be_nobody,
    encode_column_lenient,
    encode_domain_lenient,
    encode_schema_lenient,
)
from murmure.core.cells.meaning import numbers_in_cells, numbers_in_text, rounded_all
from murmure.core.column import Column
from murmure.core.domain import Categories, Decimals, Domain, Integers, Interval
from murmure.core.errors import InvalidParameter, MissingColumn, MurmureError, OutsideDomain
from murmure.core.schema import Schema

DOMAINS: tuple[Domain, ...] = (
    Interval(-1.5, 3.0, cells=7),
    Interval(0.0, 1e-3, cells=65536),
    Integers(-4, 9),
    Integers(0, 70_000),
    Integers(10**15 - 6, 10**15 - 1),
    Decimals(-3, 3, 1),
    Decimals(0, 100, 2, rounding="nearest"),
    Categories(["0", "1", "2A"]),
    Categories(4),
    Categories(["no", "yes", "perhaps"]),
    Categories([1, 2.5, 7]),
    Categories([False, True]),
    Categories(["a", 1, 2.5]),
)


class Awkward:
    """A cell that refuses everything that one may do with it."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __ne__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __float__(self) -> float:
        raise RuntimeError("no")

    def __str__(self) -> str:
        raise RuntimeError("no")


CELLS = (
    None,
    np.nan,
    np.inf,
    -np.inf,
    0,
    1,
    -3,
    2.5,
    3.0,
    1e308,
    -1e308,
    2**53 + 1,
    2**60 + 3,
    10**400,
    -(10**400),
    True,
    False,
    "yes",
    "no",
    "",
    " 2 ",
    "2.50",
    "1e999",
    "nan",
    "0x10",
    "1_0",
    "true",
    "\ud800",
    "\0",
    "٣",  # a digit, but not ours
    b"yes",
    b"\xff\xfe",
    Decimal("2.5"),
    Decimal("sNaN"),
    Decimal("1e999"),
    Fraction(5, 2),
    Fraction(10) ** 400,
    1j,
    [1, 2],
    {"a": 1},
    (1,),
    np.array([3.0]),
    np.array([]),
    np.float32(2.5),
    np.int8(-3),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.str_("yes"),
    np.datetime64("NaT", "s"),
    np.datetime64("2020-01-01"),
    np.timedelta64(3, "s"),
    pd.NA,
    pd.NaT,
    datetime.date(2020, 1, 1),
    float("nan"),
    object(),
    Awkward(),
    int,
)


def objects(cells: Any) -> np.ndarray:
    out = np.empty(len(cells), object)
    out[:] = cells
    return out


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_every_cell_has_a_code(domain: Domain) -> None:
    """No cell raises, in whatever company, and the code of each is the one that it has alone."""
    alone = [int(encode_domain_lenient(domain, [cell])[0]) for cell in CELLS]
    together: dict[str, Any] = {
        "list": list(CELLS),
        "array": objects(CELLS),
        "series": pd.Series(objects(CELLS), dtype=object),
        "tuple": tuple(CELLS),
    }

    assert all(0 <= code <= domain.size for code in alone)
    for values in together.values():
        assert encode_domain_lenient(domain, values).tolist() == alone


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@given(picked=st.lists(st.sampled_from(range(len(CELLS))), max_size=6))
@settings(max_examples=60, deadline=None)
def test_a_row_never_changes_another(domain: Domain, picked: list[int]) -> None:
    """Whatever stands beside a cell, its code is what it is alone: so one row moves a sum by one row's part."""
    cells = [CELLS[i] for i in picked]

    assert encode_domain_lenient(domain, cells).tolist() == [
        int(encode_domain_lenient(domain, [cell])[0]) for cell in cells
    ]


HOLDERS: dict[str, Callable[[list[float]], Any]] = {
    "list": list,
    "float64": lambda v: np.array(v, np.float64),
    "float32": lambda v: np.array(v, np.float32),
    "swapped": lambda v: np.array(v, ">f8"),
    "strided": lambda v: np.repeat(np.array(v, np.float64), 3)[::3],
    "arrow": lambda v: pa.array(v, pa.float64()),
    "chunks": lambda v: pa.chunked_array([pa.array(v[:1], pa.float64()), pa.array(v[1:], pa.float64())]),
    "codes": lambda v: pa.array(v, pa.float64()).dictionary_encode(),
    "pandas": lambda v: pd.Series(v, dtype="float64"),
    "Float64": lambda v: pd.Series(v, dtype="Float64"),
    "category": lambda v: pd.Series(v, dtype="float64").astype("category"),
    "polars": lambda v: pl.Series(v, dtype=pl.Float64),
    "object": objects,
}


@pytest.mark.parametrize("holder", HOLDERS)
@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_it_is_encode_wherever_encode_has_a_code(holder: str, data: st.DataObject) -> None:
    """On every valid column, in whatever holds it, both readings agree; this one takes any other column too."""
    domain = data.draw(st.sampled_from(DOMAINS))
    width = 32 if holder == "float32" else 64
    near = st.floats(-5, 10, width=width) | st.integers(-5, 10).map(float)
    numbers = data.draw(st.lists(near | st.floats(width=width), max_size=5))
    values = HOLDERS[holder](numbers)
    codes = encode_domain_lenient(domain, values)

    assert len(codes) == len(values) and codes.dtype.kind == "i"
    assert codes.tolist() == encode_domain_lenient(domain, [float(v) for v in numbers]).tolist()
    try:
        strict = domain.encode(values)
    except MurmureError:
        return
    assert codes.tolist() == strict.tolist()


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_whole_numbers_of_every_width(domain: Domain, kind: str) -> None:
    """The extremes of every type of NumPy get the code that the same number has as a Python int."""
    info = np.iinfo(kind)
    values = [info.min, info.max, 0, 1, 2, 7, info.max // 2]

    expected = [int(encode_domain_lenient(domain, [v])[0]) for v in values]
    assert encode_domain_lenient(domain, np.array(values, kind)).tolist() == expected
    assert encode_domain_lenient(domain, pa.array(values, kind)).tolist() == expected
    assert (
        encode_domain_lenient(domain, pd.Series(values, dtype=kind.replace("u", "U").replace("i", "I"))).tolist()
        == expected
    )


def test_the_rules() -> None:
    """Numbers: missing is nobody, beyond is the bound, a fraction is the nearest; labels: unknown is nobody."""
    whole, real, label = Integers(10, 20), Interval(0.0, 8.0, cells=8), Categories(["no", "yes"])

    assert encode_domain_lenient(whole, [None, np.nan, -np.inf, np.inf, 9, 21, 12.4, 12.6, True]).tolist() == [
        11,
        11,
        0,
        10,
        0,
        10,
        2,
        3,
        0,
    ]
    assert encode_domain_lenient(real, [None, np.nan, -np.inf, np.inf, -1, 9, 2.999, 8.0]).tolist() == [
        8,
        8,
        0,
        7,
        0,
        7,
        2,
        7,
    ]
    assert encode_domain_lenient(label, ["yes", "no", "No", None, 1, b"yes"]).tolist() == [1, 0, 2, 2, 2, 1]
    assert encode_domain_lenient(Categories(3), [0, 2, 3, -1, 1.5, 2.0, "2", None]).tolist() == [0, 2, 3, 3, 3, 2, 2, 3]
    assert encode_domain_lenient(Categories([False, True]), [True, 0, 1, 2, "true", "0"]).tolist() == [1, 0, 1, 2, 1, 0]
    assert encode_domain_lenient(Categories([0, 1]), np.array([True, False])).tolist() == [1, 0]
    assert encode_domain_lenient(whole, [None, "x", 11], missing=18).tolist() == [8, 8, 1]
    assert encode_domain_lenient(label, [None, "x"], missing="yes").tolist() == [1, 2]


def test_a_schema_says_what_missing_means() -> None:
    """A label of its own, a constant, or nobody; unknown labels are nobody in every case, and never "missing"."""
    schema = Schema(
        {
            "smoker": Column(Categories(["no", "yes"]), missing="value"),
            "region": Column(Categories(3), missing="value"),
            "open": Column(Categories(2), public=True),
            "sex": Column(Categories(["f", "m"]), missing="constant", missing_value="m"),
            "age": Column(Integers(0, 99), missing="constant", missing_value=40),
            "size": Interval(0.0, 1.0, cells=10),
        }
    )
    batch = {
        "smoker": ["yes", None, "maybe", "missing"],
        "region": [2, None, 3, 0],
        "open": [0, 0, 0, 0],
        "sex": ["f", None, "x", "m"],
        "age": [7, None, 1000, "x"],
        "size": [0.55, None, np.inf, 0.0],
    }
    codes = [column.tolist() for column in encode_schema_lenient(schema, batch)]

    assert codes == [[1, 2, 3, 2], [2, 3, 4, 0], [0, 1, 2, 1], [7, 40, 99, 40], [5, 10, 9, 0]]
    assert encode_column_lenient(schema, "age", batch["age"]).tolist() == codes[3]
    for held in (pa.table({k: pa.array(map(str, v)) for k, v in batch.items()}), pd.DataFrame(batch)):
        assert [len(column) for column in encode_schema_lenient(schema, held)] == [4] * 5


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_schema_agrees_with_its_strict_reading(data: st.DataObject) -> None:
    """stand_schema is Schema.encode on every batch that Schema.encode takes, missing cells too."""
    schema = Schema(
        {
            "a": Column(Categories(["x", "y"]), missing="value"),
            "b": Column(Categories(3), missing="value"),
            "c": Column(Interval(0.0, 1.0, cells=5), missing="constant", missing_value=0.7),
            "d": Integers(0, 3),
        }
    )
    rows = data.draw(
        st.lists(
            st.tuples(
                st.sampled_from(["x", "y", None, "missing"]),
                st.sampled_from([0, 1, 2, None]),
                st.none() | st.floats(0, 1),
                st.integers(0, 3),
            ),
            max_size=5,
        )
    )
    batch = {name: [row[i] for row in rows] for i, name in enumerate("abcd")}

    strict = [column.tolist() for column in schema.encode(batch)]
    assert [column.tolist() for column in encode_schema_lenient(schema, batch)] == strict


@given(
    st.lists(st.text("0123456789+-.eEinfaTtrue \t", max_size=7) | st.sampled_from(["Infinity", "TRUE", "1e400", "NaN"]))
)
@settings(max_examples=300, deadline=None)
def test_text_is_read_alike_by_arrow_and_by_python(texts: list[str]) -> None:
    """One grammar of numbers, written twice: in C over Arrow, and cell by cell."""
    found, missing = numbers_in_text(pa.array(texts, pa.string()))
    by_python, nothing = numbers_in_cells(texts)

    np.testing.assert_array_equal(rounded_all(found.to_numpy(zero_copy_only=False)), by_python)
    assert missing.to_pylist() == nothing.tolist()
    raw = pa.array([text.encode() + b"\xff" for text in texts], pa.binary())
    broken = pa.StringArray.from_buffers(len(raw), raw.buffers()[1], raw.buffers()[2])
    assert numbers_in_text(broken)[0].null_count == len(texts)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "binary", "dictionary"])
def test_text_in_arrow(domain: Domain, kind: str) -> None:
    """Text, bytes and dictionaries of Arrow get the codes of the same text in a list; bad UTF-8 is an unknown label."""
    texts = ["yes", "a", "2", " 2.5", "", "inf", "-1e9", None, "\x1a"]
    expected = encode_domain_lenient(domain, texts).tolist()
    wanted = pa.string() if kind == "dictionary" else getattr(pa, kind)()
    column = pa.array([t.encode() if t is not None and kind == "binary" else t for t in texts], wanted)
    column = column.dictionary_encode() if kind == "dictionary" else column

    assert encode_domain_lenient(domain, column).tolist() == expected
    raw = pa.array([b"yes", b"\xff\xfe", b"\xc3"])
    broken = pa.StringArray.from_buffers(3, raw.buffers()[1], raw.buffers()[2])
    alone = int(encode_domain_lenient(domain, [b"\xff\xfe"])[0])
    assert encode_domain_lenient(domain, broken).tolist() == [expected[0], alone, alone]
    assert encode_domain_lenient(domain, broken.dictionary_encode()).tolist() == [expected[0], alone, alone]


@pytest.mark.parametrize(
    "values",
    [
        np.array(["2020-01-01"], "datetime64[D]"),
        pa.array([datetime.date(2020, 1, 1)]),
        pa.array([[1, 2]]),
        pd.Series(pd.to_datetime(["2020-01-01"], utc=True)),
        np.array([1j]),
        np.zeros((2, 2)),
    ],
    ids=["datetime64", "date", "list", "pandas", "complex", "matrix"],
)
def test_the_type_of_a_column_may_be_refused(values: Any) -> None:
    """A typed column of dates or lists is wrong before it has rows: with rows or without, the answer is the same."""
    for rows in (values, values[:0]):
        with pytest.raises(OutsideDomain):
            encode_domain_lenient(Interval(0.0, 1.0), rows)


def test_a_schema_still_needs_its_columns() -> None:
    """What is wrong with the table, not with a row, is told: a missing column, bounds read off the data."""
    with pytest.raises(MissingColumn, match="have no column"):
        encode_schema_lenient(Schema({"age": Integers(0, 9)}), {"Age": [1]})
    with pytest.raises(InvalidParameter, match="read off the data"):
        encode_schema_lenient(Schema({"age": Column(Integers(0, 9), from_data=True)}), {"age": [1]})
    with pytest.raises(InvalidParameter, match="different lengths"):
        encode_schema_lenient(Schema({"a": Categories(2), "b": Categories(2)}), {"a": [1], "b": []})


def test_other_holders() -> None:
    """Masked arrays, decimals, empty columns, columns of nothing, categories of anything."""
    domain = Integers(0, 10)

    assert encode_domain_lenient(domain, np.ma.array([1, 2, 3], mask=[0, 1, 0])).tolist() == [1, 11, 3]
    assert encode_domain_lenient(domain, pa.array([Decimal("2.50"), None, Decimal("99.00")])).tolist() == [2, 11, 10]
    assert encode_domain_lenient(domain, pa.nulls(2)).tolist() == [11, 11]
    assert encode_domain_lenient(domain, pd.Series([1, "x", None], dtype="category")).tolist() == [1, 11, 11]
    assert encode_domain_lenient(domain, pd.Series([1, pd.NA, 99], dtype="Int64")).tolist() == [1, 11, 10]
    assert encode_domain_lenient(domain, pl.Series([1, None, 99])).tolist() == [1, 11, 10]
    assert encode_domain_lenient(domain, pd.Series(["1", None, "x"], dtype="string")).tolist() == [1, 11, 11]
    assert encode_domain_lenient(domain, np.array(["1", "", "x"])).tolist() == [1, 11, 11]
    for nothing in ([], np.array([]), pa.array([], pa.int64()), pd.Series([], dtype=object)):
        assert encode_domain_lenient(domain, nothing).tolist() == []
    assert encode_domain_lenient(Integers(10**15 - 9, 10**15 - 1), [1e15 - 4, 1e300, -1e300, 2**63]).tolist() == [
        5,
        8,
        0,
        8,
    ]
    assert (
        can_be_nobody(Integers(0, 10)) and can_be_nobody(Categories(2)) and not can_be_nobody(Integers(0, 10, absent=5))
    )
    assert can_be_nobody(Integers(0, 10, absent=5, outside="drop"))
