"""Schemas: what they say of a column, how they travel (TOML, JSON), and what becomes of a batch of rows."""

from __future__ import annotations

import datetime
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import murmure as mu
from murmure.core.cells.meaning import meaning, rounded
from murmure.core.column import Column
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, MissingColumn, MurmureError, OutsideDomain
from murmure.core.schema import Schema

SMOKER = Categories(["no", "yes"])
SCHEMA = Schema(
    {
        "age": Column(Integers(18, 99), missing="constant", missing_value=40, note="in years"),
        "smoker": Column(SMOKER, missing="value"),
        "weight": Interval(0, 200, cells=100),
        "region": Column(Categories(["north", "south"]), public=True),
    }
)
ROWS = {
    "age": [18, None, 99],
    "smoker": ["yes", "no", None],
    "weight": [0.0, 2.0, 200.0],
    "region": ["north", "south", "north"],
    "extra": [1, 2, 3],
}
CODES = [[0, 22, 81], [1, 0, 2], [0, 1, 99]]


# ---- what is said of a column


def test_a_schema_knows_its_parts() -> None:
    """Domains know their column; a label of its own for missing answers is one more; public ones stand apart."""
    assert SCHEMA["smoker"] == Categories(["no", "yes", "missing"], column="smoker", absent="missing")
    assert SCHEMA["age"] == Integers(18, 99, column="age", absent=40)
    assert SCHEMA.column_specs["smoker"].domain == SMOKER and SCHEMA.column_specs["smoker"].missing_value == "missing"
    assert SCHEMA.private == ("age", "smoker", "weight") and SCHEMA.open == ("region",)
    assert list(SCHEMA) == list(SCHEMA.columns) == [*SCHEMA.private, *SCHEMA.open]
    assert SCHEMA.kinds == {"age": "integer", "smoker": "text", "weight": "real", "region": "text"}
    assert SCHEMA.drafted == () and "age" in SCHEMA and "Age" not in SCHEMA
    assert mu.Schema is Schema and mu.Column is Column
    with pytest.raises(MissingColumn, match=r"no column 'Smoker'.*\n.*did you mean 'smoker'"):
        SCHEMA["Smoker"]


def test_numbered_categories_get_a_label_for_missing_answers() -> None:
    """Categories(3) and a label: its numbers, then the label."""
    schema = Schema({"q": Column(Categories(3), missing="value", missing_value="no answer")})

    assert schema["q"].labels() == ["0", "1", "2", "no answer"]
    assert schema.encode({"q": [2, None, 0]})[0].tolist() == [2, 3, 0]
    assert schema.encode({"q": pa.array([2, None, 0], pa.int8())})[0].tolist() == [2, 3, 0]


def test_a_schema_in_words() -> None:
    """Short for people, whatever the number of columns."""
    wide = Schema({f"column {i}": Integers(0, 9) for i in range(300)})

    assert repr(Schema({"age": Integers(18, 99)})) == "Schema({'age': Integers(18, 99)})"
    assert len(repr(wide)) < 250 and "300 columns" in repr(wide) and len(wide.describe()) < 250
    assert "'no', 'yes', 'missing' of column 'smoker'" in SCHEMA.public()
    assert "'region', public and not randomised" in SCHEMA.public()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Column("no"), r"Column\.domain must be Categories, Integers, Interval, Decimals or Dates, got 'no'"),
        (lambda: Column(SMOKER, missing="drop"), r"Column\.missing must be one of 'refuse', .* got 'drop'"),
        (lambda: Column(SMOKER, missing=None), r"Column\.missing must be one of .* got None"),
        (lambda: Column(SMOKER, missing_value="x"), r"missing values are refused(.|\n)*set missing = "),
        (lambda: Column(SMOKER, missing="value", missing_value="yes"), r"'yes' is already a label"),
        (lambda: Column(Categories([1, 2]), missing="value", missing_value="2"), r"'2' is already a label"),
        (lambda: Column(Categories(3), missing="value", missing_value="2"), r"'2' is already a label"),
        (lambda: Column(Categories(["missing", "x"]), missing="value"), r"'missing' is already a label"),
        (lambda: Column(SMOKER, missing="value", missing_value=3), r"must be a label, as text, got 3"),
        (lambda: Column(SMOKER, missing="value", missing_value=""), r"must be a label, as text, got ''"),
        (lambda: Column(Categories(2**31), missing="value"), r"at most 1048576 categories"),
        (lambda: Column(Integers(0, 9), missing="value"), r"is for categories(.|\n)*constant(.|\n)*group the values"),
        (lambda: Column(Interval(0, 9), missing="value"), r"is for categories(.|\n)*group the values into categories"),
        (lambda: Column(Integers(0, 9), missing="constant"), r"needs a missing_value"),
        (lambda: Column(Integers(0, 9), missing="constant", missing_value=10), r"a whole number from 0 to 9, got 10"),
        (lambda: Column(Integers(0, 9), missing="constant", missing_value=True), r"got True"),
        (lambda: Column(Integers(0, 9), missing="constant", missing_value="3"), r"got '3'"),
        (lambda: Column(Integers(0, 9), missing="constant", missing_value=[3]), r"got \[3\]"),
        (lambda: Column(Interval(0, 9), missing="constant", missing_value=math.nan), r"got nan"),
        (lambda: Column(SMOKER, missing="constant", missing_value="maybe"), r"one of \['no', 'yes'\], got 'maybe'"),
        (lambda: Column(Integers(0, 1), missing="constant", missing_value=False), r"got False"),
        (lambda: Column(Integers(0, 9), missing="constant", missing_value="1"), r"got '1'"),
        (lambda: Column(Categories(["1", "x"]), missing="value", missing_value="1.0"), r"'1.0' is already a label"),
        (lambda: Column(Categories(3), missing="value", missing_value="02"), r"'02' is already a label"),
        (lambda: Column(Categories(["a", "b"]), missing="value", missing_value="nan"), r"'nan' is not a label"),
        (lambda: Column(SMOKER, missing="constant", missing_value="no", public=True), r"passed through unchanged"),
        (lambda: Column(SMOKER, public="yes"), r"Column\.public must be true or false, got 'yes'"),
        (lambda: Column(SMOKER, public=1), r"Column\.public must be true or false, got 1"),
        (lambda: Column(SMOKER, note=5), r"Column\.note must be text, got 5"),
        (lambda: Column(SMOKER, from_data="x"), r"Column\.from_data must be true or false"),
        (lambda: Schema({"": SMOKER}), r"text and not empty, got ''"),
        (lambda: Schema({3: SMOKER}), r"text and not empty, got 3"),
        (lambda: Schema({"a": Column}), r"Schema column 'a' must be Categories"),
    ],
)
def test_a_bad_column_is_refused(make: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        make()


def test_schemas_are_compared_by_content() -> None:
    """Bounds, order, missing policy, note, and True is not 1."""
    copy = Schema(dict(SCHEMA.column_specs))
    again = Schema({"age": Integers(0, 9, column="elsewhere")})

    assert copy == SCHEMA and hash(copy) == hash(SCHEMA) and len({copy, SCHEMA}) == 1
    assert again == Schema({"age": Integers(0, 9)}) and hash(again) == hash(Schema({"age": Integers(0, 9)}))
    assert again != {"age": Integers(0, 9, column="age")}
    a, b = Integers(0, 9), Integers(0, 8)
    assert Schema({"a": a, "b": b}) != Schema({"b": b, "a": a})
    assert Schema({"a": Categories([0, 1])}) != Schema({"a": Categories([False, True])})
    for other in (
        Column(a, note="x"),
        Column(a, public=True),
        Column(a, from_data=True),
        Column(a, missing="constant", missing_value=1),
    ):
        assert Schema({"a": other}) != Schema({"a": a})
    assert Column(Integers(0, 9), missing="constant", missing_value=np.int64(3)) == Column(
        Integers(0, 9), missing="constant", missing_value=3
    )


def test_a_schema_travels_and_does_not_change() -> None:
    """To another process, as it is."""
    assert pickle.loads(pickle.dumps(SCHEMA)) == SCHEMA
    with pytest.raises(AttributeError, match="does not change"):
        SCHEMA.column_specs = {}


def test_a_draft_is_refused() -> None:
    """What was read off the data makes no domain and no code; it can be looked at."""
    draft = Schema({"age": Column(Integers(18, 99), from_data=True), "smoker": SMOKER})
    batch = {"age": [17], "smoker": ["no"]}

    assert draft.drafted == ("age",) and draft["smoker"].size == 2
    for use in (
        lambda: draft["age"],
        lambda: draft.encode(batch),
        lambda: draft.encode_valid(batch),
        lambda: draft.carry(batch),
        draft.refuse_drafted,
        lambda: list(draft.items()),
    ):
        with pytest.raises(InvalidParameter, match=r"'age' were read off the data(.|\n)*remove from_data = true"):
            use()
    assert draft.inspect(batch)["age"].refused.tolist() == [True]
    assert "age" in draft and Schema.from_toml(draft.to_toml()).drafted == ("age",)


# ---- codes

BATCHES = {
    "mapping of lists": lambda rows: rows,
    "mapping of Arrow arrays": lambda rows: {name: pa.array(values) for name, values in rows.items()},
    "Arrow batch": pa.RecordBatch.from_pydict,
    "Arrow table": pa.table,
    "Arrow table in chunks": lambda rows: pa.concat_tables([pa.table(rows).slice(0, 1), pa.table(rows).slice(1)]),
    "Arrow table, sliced": lambda rows: pa.concat_tables([pa.table(rows)] * 3).slice(
        len(rows["age"]), len(rows["age"])
    ),
    "Arrow dictionaries": lambda rows: pa.table(
        {name: pa.array(values).dictionary_encode() for name, values in rows.items()}
    ),
    "pandas": pd.DataFrame,
    "pandas, Arrow-backed": lambda rows: pa.table(rows).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, nullable": lambda rows: pd.DataFrame(rows).convert_dtypes(),
    "pandas, categorical": lambda rows: pd.DataFrame(rows).astype({"smoker": "category", "region": "category"}),
    "pandas objects": lambda rows: pd.DataFrame(rows, dtype=object),
    "polars": pl.DataFrame,
    "masked": lambda rows: {
        name: np.ma.MaskedArray([values[0] if v is None else v for v in values], mask=[v is None for v in values])
        for name, values in rows.items()
    },
}


@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch_becomes_codes(kind: str) -> None:
    """One array a private column, in order; never floats; missing answers become what the column says."""
    batch = BATCHES[kind](ROWS)
    codes = SCHEMA.encode(batch)
    valid, kept = SCHEMA.encode_valid(batch)

    assert [c.tolist() for c in codes] == CODES and all(c.dtype.kind in "iu" for c in codes)
    assert [c.tolist() for c in valid] == CODES and kept.dtype == bool and kept.all() and len(kept) == 3


@pytest.mark.parametrize("kind", BATCHES)
def test_only_valid_rows_are_kept(kind: str) -> None:
    """A row with one bad private column goes; a bad public one, or one that nobody asked for, does not count."""
    rows = {
        "age": [18, 17, 99, 50, None],
        "smoker": ["yes", "no", "maybe", "no", None],
        "weight": [0.0, 2.0, 4.0, None, 6.0],
        "region": ["north", "east", "west", "south", "north"],
        "extra": [None] * 5,
    }
    codes, kept = SCHEMA.encode_valid(BATCHES[kind](rows))

    assert kept.tolist() == [True, False, False, False, True]
    assert [c.tolist() for c in codes] == [[0, 22], [1, 2], [0, 3]]


MISSING = {
    "list": [1, None, 2],
    "NaN in a list": [1, math.nan, 2],
    "objects": np.array([1, None, 2], object),
    "floats": np.array([1, math.nan, 2]),
    "float32": np.array([1, math.nan, 2], np.float32),
    "masked": np.ma.MaskedArray([1, 7, 2], mask=[0, 1, 0]),
    "pandas": pd.Series([1, None, 2]),
    "pandas Int64": pd.Series([1, None, 2], dtype="Int64"),
    "pandas Float64": pd.Series([1, None, 2], dtype="Float64"),
    "pandas NA": pd.Series([1, pd.NA, 2], dtype=object),
    "pandas NaT": pd.Series([1, pd.NaT, 2], dtype=object),
    "pandas category": pd.Series([1, None, 2], dtype="category"),
    "pandas Arrow": pd.Series([1, None, 2], dtype="int64[pyarrow]"),
    "polars": pl.Series([1, None, 2]),
    "Arrow int8": pa.array([1, None, 2], pa.int8()),
    "Arrow uint64": pa.array([1, None, 2], pa.uint64()),
    "Arrow float": pa.array([1.0, None, 2.0]),
    "Arrow half float": pa.array([np.float16(1), None, np.float16(2)], pa.float16()),
    "Arrow NaN": pa.array([1.0, math.nan, 2.0]),
    "Arrow dictionary": pa.array([1, None, 2]).dictionary_encode(),
    "null in the dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), pa.array([1, None, 2])),
    "Arrow chunks": pa.chunked_array([[1], [None, 2]]),
}


@pytest.mark.parametrize("what", MISSING)
@pytest.mark.parametrize(
    ("column", "codes"),
    [
        (Column(Integers(-1, 9), missing="constant", missing_value=0), [2, 1, 3]),
        (Column(Interval(0, 10, cells=10), missing="constant", missing_value=9.5), [1, 9, 2]),
        (Column(Categories([2, 1]), missing="value"), [1, 2, 0]),
        (Column(Categories([2, 1]), missing="constant", missing_value=2), [1, 0, 0]),
        (Column(Categories(3), missing="value"), [1, 3, 2]),
        (Column(Categories(3), missing="constant", missing_value=0), [1, 0, 2]),
    ],
    ids=["Integers", "Interval", "labels", "labels, constant", "k", "k, constant"],
)
def test_missing_values_are_replaced(what: str, column: Column, codes: list[int]) -> None:
    """null, None, NaN, NaT, NA, masked: one thing, in every container."""
    assert Schema({"x": column}).encode({"x": MISSING[what]})[0].tolist() == codes
    with pytest.raises(OutsideDomain, match="column 'x': row 1 has no value"):
        Schema({"x": column.domain}).encode({"x": MISSING[what]})
    kept = Schema({"x": column.domain}).encode_valid({"x": MISSING[what]})[1]
    assert kept.tolist() == [True, False, True]


def test_a_label_for_missing_answers_may_occur_in_the_data() -> None:
    """Text that was written out and read again means the same."""
    schema = Schema({"smoker": Column(SMOKER, missing="value", missing_value="NA")})

    assert schema.encode({"smoker": ["NA", None, "no"]})[0].tolist() == [2, 2, 0]


def test_a_missing_value_fits_its_type() -> None:
    """The 256th answer's successor does not wrap around in a type of 8 bits."""
    many = Schema({"x": Column(Categories(256), missing="value")})
    labels = Schema({"x": Column(Categories([f"{i}" for i in range(256)]), missing="value")})

    assert many.encode({"x": pa.array([255, None], pa.uint8())})[0].tolist() == [255, 256]
    assert many.encode({"x": pa.array([100, None], pa.int8())})[0].tolist() == [100, 256]
    assert labels.encode({"x": pa.array(["255", None])})[0].tolist() == [255, 256]
    constant = Schema({"x": Column(Integers(-1000, 1000), missing="constant", missing_value=1000)})
    assert constant.encode({"x": pa.array([-128, None], pa.int8())})[0].tolist() == [872, 2000]


def test_all_missing_and_nobody() -> None:
    """A column of nulls has no type; an empty one has no rows."""
    everything = {"age": pa.nulls(2), "smoker": pa.nulls(2), "weight": [1, 2]}
    empty: dict[str, list[Any]] = {"age": [], "smoker": [], "weight": []}

    assert [c.tolist() for c in SCHEMA.encode(everything)] == [[22, 22], [2, 2], [0, 1]]
    assert [len(c) for c in SCHEMA.encode(empty)] == [0, 0, 0]
    codes, kept = SCHEMA.encode_valid(pa.table(empty, schema=pa.schema([(n, pa.null()) for n in empty])))
    assert [len(c) for c in codes] == [0, 0, 0] and len(kept) == 0


@pytest.mark.parametrize("kind", BATCHES)
def test_the_first_row_outside_is_named(kind: str) -> None:
    rows = ROWS | {"smoker": ["yes", "no", "Yes"]}
    with pytest.raises(OutsideDomain, match=r"column 'smoker': row 2 holds 'Yes' \(1 outside in all here\)"):
        SCHEMA.encode(BATCHES[kind](rows))


@pytest.mark.parametrize(
    ("batch", "error", "words"),
    [
        ({"age": [20], "smoker": ["no"]}, MissingColumn, r"no column 'weight'; they have \['age', 'smoker'\]"),
        ({"age": [20], "smoker": ["no"], "Weight ": [3]}, MissingColumn, r"did you mean 'Weight '"),
        ({"age": [20, 21], "smoker": ["no"], "weight": [3, 4]}, InvalidParameter, r"different lengths.*'smoker': 1"),
        ([20, 30], InvalidParameter, r"a mapping from column names to values, got list"),
        (np.zeros((3, 3)), InvalidParameter, r"got ndarray"),
        (
            pa.table([pa.array([1]), pa.array([2])], names=["age", "age"]),
            InvalidParameter,
            r"the data have 2 columns 'age'",
        ),
        (ROWS | {"smoker": pa.array([datetime.date(2020, 1, 1)] * 3)}, OutsideDomain, r"'smoker': got .* date32"),
    ],
)
def test_a_bad_batch_is_refused(batch: Any, error: Any, words: str) -> None:
    """By both ways of reading: a column of another type is no matter of rows."""
    for read in (SCHEMA.encode, SCHEMA.encode_valid):
        with pytest.raises(error, match=words):
            read(batch)


@pytest.mark.parametrize(
    ("column", "words", "kept"),
    [
        ({"age": [True, False, True]}, r"column 'age': row 0 holds True \(3 outside", [False, False, False]),
        ({"age": ["18", "19", "20a"]}, r"column 'age': row 2 holds '20a'", [True, True, False]),
        ({"age": pa.array(["18", "19.5", "20"])}, r"column 'age': row 1 holds '19.5'", [True, False, True]),
        ({"smoker": pd.Series(["no", ["yes"], "no"])}, r"'smoker': row 1 holds \['yes'\]", [True, False, True]),
    ],
)
def test_a_bad_row_is_refused_or_left_out(column: Any, words: str, kept: list[bool]) -> None:
    """Each row by itself, whatever type its column has."""
    with pytest.raises(OutsideDomain, match=words):
        SCHEMA.encode(ROWS | column)
    assert SCHEMA.encode_valid(ROWS | column)[1].tolist() == kept


def test_a_frame_may_have_columns_of_any_name() -> None:
    """Names that are also attributes of frames."""
    schema = Schema({name: Categories(3) for name in ("column", "schema", "columns", "shape", "num_columns")})
    rows = {name: [i % 3] for i, name in enumerate(schema)}

    for batch in (rows, pd.DataFrame(rows), pl.DataFrame(rows), pa.table(rows)):
        assert [c.tolist() for c in schema.encode(batch)] == [[0], [1], [2], [0], [1]]


def test_public_columns_are_looked_at_and_carried() -> None:
    """As they are; nothing outside their domain, nothing missing unless the column says so."""
    schema = Schema(
        {"w": Column(Interval(0, 5), public=True), "r": Column(SMOKER, missing="value", public=True), "x": SMOKER}
    )
    batch = pa.table({"w": [0.123456789, 5.0], "r": ["no", None], "x": ["no", "yes"]})

    assert schema.carry(batch)["w"].to_pylist() == [0.123456789, 5.0]
    assert schema.carry(batch)["r"].to_pylist() == ["no", None]
    assert list(schema.carry(batch)) == ["w", "r"] and len(schema.encode(batch)) == 1
    for w in ([1.0, 5.1], [1.0, None]):
        with pytest.raises(OutsideDomain, match="column 'w': row 1"):
            schema.carry({"w": w, "r": ["no", "no"]})
    with pytest.raises(MissingColumn, match="no column 'r'"):
        schema.carry({"w": [1.0]})


def test_inspect_finds_every_bad_row() -> None:
    """Of all columns, public ones too; a column of another type has no valid row."""
    rows = ROWS | {"age": [17, 20, 100], "region": ["east", "north", None], "weight": ["a", "b", "c"]}
    found = SCHEMA.inspect(pa.table(rows))

    assert {name: one.refused.tolist() for name, one in found.items()} == {
        "age": [True, False, True],
        "smoker": [False] * 3,
        "weight": [True] * 3,
        "region": [True, False, True],
    }
    assert "row 0 holds 17 (2 outside" in str(found["age"].first) and found["smoker"].first is None
    assert "row 0 holds 'a' (3 outside" in str(found["weight"].first)


VALUES = st.one_of(
    st.none(), st.just(math.nan), st.integers(-3, 12), st.floats(-3, 12), st.sampled_from(["no", "yes", ""])
)


@given(rows=st.lists(VALUES, max_size=12), pick=st.integers(0, 4))
@settings(max_examples=300, deadline=None)
def test_row_by_row_is_the_same(rows: list[Any], pick: int) -> None:
    """encode_valid keeps exactly the rows that encode takes alone, with the same codes."""
    domain = [SMOKER, Integers(2, 9), Interval(0, 9, cells=7), Categories([1, 5, "no"]), Categories(6)][pick]
    for column in (
        Column(domain),
        Column(domain, missing="constant", missing_value=domain.values[0] if pick in (0, 3) else 5),
    ):
        schema = Schema({"x": column})
        expected = []
        for row in rows:
            array = np.empty(1, object)
            array[0] = row
            try:
                expected.append(int(schema.encode({"x": array})[0][0]))
            except OutsideDomain:
                expected.append(None)
        array = np.empty(len(rows), object)
        array[:] = rows
        codes, kept = schema.encode_valid({"x": array})

        assert kept.tolist() == [code is not None for code in expected]
        assert codes[0].tolist() == [code for code in expected if code is not None]


# ---- TOML and JSON

NASTY = [
    "plain",
    "with space",
    "dot.ted",
    'quo"te',
    "back\\slash",
    "new\nline",
    "tab\t\r\b\f\x00\x1f\x7f",
    "é\u2028\U0001f600",
    "#no comment",
    "''' [x] = {}",
    "true",
    "\u00a0",
]


def test_every_name_and_label_comes_back() -> None:
    """Quotes, newlines, control characters, dots: in names, labels, notes and stand-ins."""
    schema = Schema(
        {
            name: Column(Categories(NASTY), missing="value", missing_value=name + "?", note=name, public=i % 2 == 0)
            for i, name in enumerate(NASTY)
        }
    )

    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict(), sort_keys=True))) == schema


@given(
    st.dictionaries(
        st.text(min_size=1),
        st.one_of(
            st.lists(
                st.one_of(st.text(), st.integers(-(10**15) + 1, 10**15 - 1), st.floats(allow_nan=False).map(rounded)),
                min_size=2,
                unique_by=meaning,
            )
            .filter(lambda labels: None not in map(meaning, labels))
            .map(Categories),
            st.integers(2, 2**31).map(Categories),
            st.just(Categories([False, True])),
            st.just(Categories([True, False])),
            st.integers(-(10**15) + 1, 10**15 - 6).map(lambda low: Integers(low, low + 5)),
            st.floats(-1e300, 1e300).map(lambda low: Interval(low, low + max(1.0, abs(low)))),
        ).flatmap(
            lambda d: st.builds(Column, st.just(d), note=st.text(), public=st.booleans(), from_data=st.booleans())
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=200, deadline=None)
def test_any_schema_comes_back(columns: dict[str, Column]) -> None:
    """Equal, in the same order, through TOML and through JSON with sorted keys."""
    schema = Schema(columns)

    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict(), sort_keys=True))) == schema
    assert list(Schema.from_dict(json.loads(json.dumps(schema.to_dict(), sort_keys=True)))) == list(columns)


def test_a_schema_file(tmp_path: Path) -> None:
    """As a person would write it; with the mark that some editors put first."""
    text = """
        [columns.age]
        type = "integers"
        low = 18
        high = 99
        missing = "constant"
        missing_value = 40
        note = "in years"
        [columns.smoker]
        type = "categories"
        values = ["no", "yes"]
        missing = "value"
        [columns."weight"]
        type = "real"
        low = 0
        high = 200
        cells = 100
        [columns.region]
        type = "categories"
        values = ["north", "south"]
        public = true
    """
    path = tmp_path / "schema.toml"
    path.write_text("\ufeff" + text, encoding="utf-8")

    assert Schema.load(path) == SCHEMA == Schema.from_toml(SCHEMA.to_toml())
    boolean = Schema.from_toml('[columns.ok]\ntype = "boolean"')
    assert boolean["ok"] == Categories([False, True], column="ok") and boolean.kinds == {"ok": "boolean"}
    assert 'type = "boolean"' in boolean.to_toml() and "READ OFF" not in boolean.to_toml()
    assert Schema.from_toml('[columns.q]\ntype = "categories"\nvalues = 4')["q"] == Categories(4, column="q")


def one(**keys: Any) -> str:
    return "[columns.age]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items())


WHOLE = {"type": '"integers"', "low": 0, "high": 9}
LABELS = {"type": '"categories"', "values": '["no", "yes"]'}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", r"s\.toml has no columns"),
        ("[columns]", r"s\.toml has no columns"),
        ("columns = 3", r"s\.toml has no columns"),
        ("[column.age]", r"s\.toml: there is no key 'column'"),
        ("title = 'x'\n" + one(**WHOLE), r"s\.toml: there is no key 'title'"),
        ("[columns.age", r"s\.toml is not TOML: "),
        (one(**WHOLE) + "\n" + one(**WHOLE), r"s\.toml is not TOML: .*age.*twice"),
        (one(**WHOLE) + "\nlow = 3", r"s\.toml is not TOML: Cannot overwrite"),
        ('[columns.""]\ntype = "boolean"', r"a column has an empty name"),
        ("[columns]\nage = 3", r"s\.toml, column 'age': wanted a table, got 3"),
        ("[[columns.age]]\ntype = 'boolean'", r"s\.toml, column 'age': wanted a table"),
        (one(low=0, high=9), r"s\.toml, column 'age': type must be one of .*; it is left out"),
        (one(type='"integer"', low=0, high=9), r"got 'integer'(.|\n)*did you mean 'integers'"),
        (one(type=3), r"column 'age': type must be one of .* got 3"),
        (one(type='["integers"]'), r"column 'age': type must be one of"),
        (one(**WHOLE, hihg=3), r"column 'age': there is no key 'hihg'(.|\n)*did you mean 'high'"),
        (one(**WHOLE, cells=3), r"column 'age': a column of type integers takes no 'cells'"),
        (one(**WHOLE, values=3), r"a column of type integers takes no 'values'"),
        (one(type='"boolean"', values="[true]"), r"a column of type boolean takes no 'values'"),
        (one(type='"integers"', low=0), r"column 'age': high is missing(.|\n)*public"),
        (one(type='"real"', high=0), r"column 'age': low is missing"),
        (one(type='"categories"'), r"column 'age': values is missing"),
        (one(**WHOLE | {"high": 0}), r"column 'age': low must be below high, got 0 and 0"),
        (one(**WHOLE | {"high": -1}), r"column 'age': low must be below high, got 0 and -1"),
        (one(type='"real"', low=1.0, high=0.0), r"column 'age': low must be below high, got 1\.0 and 0\.0"),
        (one(**WHOLE | {"low": "true"}), r"column 'age': low must be a whole number, got True"),
        (one(**WHOLE | {"low": 0.0}), r"column 'age': low must be a whole number, got 0\.0"),
        (one(**WHOLE | {"low": '"0"'}), r"column 'age': low must be a whole number, got '0'"),
        (one(**WHOLE | {"high": 2**31}), r"column 'age': a column holds at most 2\*\*31 values"),
        (one(type='"real"', low="true", high=1), r"column 'age': low must be a finite number, got True"),
        (one(type='"real"', low=0, high="inf"), r"column 'age': high must be a finite number, got inf"),
        (one(type='"real"', low=0, high="nan"), r"column 'age': high must be a finite number, got nan"),
        (one(type='"real"', low=0, high="2020-01-01"), r"column 'age': high must be a finite number, got datetime"),
        (one(type='"real"', low=0, high=1, cells="true"), r"column 'age': cells must be a whole number"),
        (one(type='"real"', low=0, high=1, cells=1), r"column 'age': cells must be a whole number, at least 2"),
        (one(**LABELS | {"values": '["no"]'}), r"column 'age': values: needs at least two labels, got 1"),
        (one(**LABELS | {"values": '["no", "no"]'}), r"column 'age': values: labels must differ"),
        (one(**LABELS | {"values": '"no"'}), r"column 'age': values: takes a list of labels"),
        (one(**LABELS | {"values": "true"}), r"column 'age': values: takes a list of labels"),
        (one(**LABELS | {"values": 1}), r"column 'age': values must be a whole number, at least 2"),
        (one(**LABELS | {"values": "[2020-01-01, 2020-01-02]"}), r"column 'age': values: labels must be text, numbers"),
        (one(**LABELS | {"values": '[["a"], ["b"]]'}), r"column 'age': values: labels must be text, numbers"),
        (one(**LABELS, missing='"drop"'), r"column 'age': missing must be one of"),
        (one(**LABELS, missing="true"), r"column 'age': missing must be one of"),
        (
            one(**LABELS, missing='"value"', missing_value='"no"'),
            r"column 'age': missing_value 'no' is already a label",
        ),
        (one(**LABELS, missing_value='"no"'), r"column 'age': missing_value is 'no', but missing values are refused"),
        (one(**WHOLE, missing='"value"'), r"column 'age': missing = \"value\" is for categories"),
        (one(**WHOLE, missing='"constant"'), r"column 'age': missing = \"constant\" needs a missing_value"),
        (
            one(**WHOLE, missing='"constant"', missing_value=10),
            r"column 'age': missing_value must be a whole number fr",
        ),
        (one(**WHOLE, public='"yes"'), r"column 'age': public must be true or false, got 'yes'"),
        (one(**WHOLE, public=1), r"column 'age': public must be true or false, got 1"),
        (one(**WHOLE, note=3), r"column 'age': note must be text, got 3"),
        (one(**WHOLE, from_data=0), r"column 'age': from_data must be true or false, got 0"),
        ("[columns.a]\nx = " + "[" * 5000 + "]" * 5000, r"s\.toml is not|no key"),
    ],
)
def test_a_bad_file_is_refused(text: str, words: str, tmp_path: Path) -> None:
    """The file, the column, the key, what was wanted and what was got."""
    path = tmp_path / "s.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidParameter, match=words):
        Schema.load(path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"# \xe9t\xe9")
    for path, words in ((tmp_path / "absent.toml", "no such file"), (tmp_path, "is a directory")):
        with pytest.raises(InvalidParameter, match=words):
            Schema.load(path)
    with pytest.raises(InvalidParameter, match="not UTF-8"):
        Schema.load(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (None, "not the JSON of a schema"),
        ([], "not the JSON of a schema"),
        ({"type": "Plan"}, "not the JSON of a schema"),
        ({"type": "Schema", "columns": {}, "more": 1}, "not the JSON of a schema"),
        ({"type": "Schema"}, "columns must be a JSON object, got None"),
        ({"type": "Schema", "columns": {}}, "Schema takes a mapping"),
        ({"type": "Schema", "columns": {"a": 3}}, "column 'a'"),
        ({"type": "Schema", "columns": {"a": {"type": "Words"}}}, "column 'a': a domain must be one of"),
        ({"type": "Schema", "columns": {"a": {"type": "Integers", "low": 0}}}, "column 'a'"),
        ({"type": "Schema", "columns": {"a": {"type": "Integers", "low": 0, "high": 9, "x": 1}}}, "column 'a'"),
        ({"type": "Schema", "columns": {"a": {"type": "Integers", "low": 9, "high": 0}}}, "column 'a': low must be b"),
        ({"type": "Schema", "columns": {"a": {"type": "Categories", "values": 4}}, "order": []}, "order"),
        ({"type": "Schema", "columns": {"a": {"type": "Categories", "values": 4}}, "order": ["b"]}, "order"),
        ({"type": "Schema", "columns": {"a": {"type": "Categories", "values": 4}}, "order": [["a"]]}, "order"),
        ({"type": "Schema", "columns": {"a": {"type": "Categories", "values": 4}}, "order": "a"}, "order"),
    ],
)
def test_bad_json_is_refused(fields: Any, words: str) -> None:
    with pytest.raises(MurmureError, match=words):
        Schema.from_dict(fields)
