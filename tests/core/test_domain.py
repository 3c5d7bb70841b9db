"""What a domain takes, in whatever form it comes, and how it refuses what it does not hold.

Every refusal is a MurmureError that says what, whose, what was wanted and what was got.
"""

from __future__ import annotations

import math
import pickle
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from murmure.core.domain import Categories, Domain, Integers, Interval, domain_from_dict
from murmure.core.errors import InvalidParameter, MissingColumn, MurmureError, OutsideDomain
from murmure.core.schema import Schema

LABELS = Categories(["never", "once", "often"], column="drinks")
NUMBERED = Categories(4, column="answer")
AGES = Integers(18, 99, column="age")
WEIGHTS = Interval(0.0, 100.0, cells=10, column="weight")


# ---- what is taken


def forms(values: list[Any]) -> dict[str, Any]:
    """The same column in every container."""
    return {
        "list": list(values),
        "tuple": tuple(values),
        "numpy": np.array(values),
        "numpy objects": np.array(values, object),
        "numpy, a column": np.array(values).reshape(-1, 1),
        "pandas Series": pd.Series(values),
        "pandas objects": pd.Series(values, dtype=object),
        "pandas frame": pd.DataFrame({"x": values}),
        "pandas Series with another index": pd.Series(values, index=range(100, 100 + len(values))),
        "polars Series": pl.Series(values),
        "polars frame": pl.DataFrame({"x": values}),
        "pyarrow array": pa.array(values),
        "pyarrow chunks": pa.chunked_array([values[:2], values[2:]]),
        "pyarrow table": pa.table({"x": values}),
    }


FORMS = list(forms([1, 2, 3]))


@pytest.mark.parametrize("form", FORMS)
def test_labels_in_any_container(form: str) -> None:
    """Text is looked up among the labels, whoever holds it."""
    codes = LABELS.encode(forms(["often", "never", "once", "often"])[form])

    assert codes.tolist() == [2, 0, 1, 2]


@pytest.mark.parametrize("form", FORMS)
def test_whole_numbers_in_any_container(form: str) -> None:
    """Whole numbers are shifted to 0 .. size-1."""
    assert NUMBERED.encode(forms([3, 0, 2])[form]).tolist() == [3, 0, 2]
    assert AGES.encode(forms([18, 99, 40])[form]).tolist() == [0, 81, 22]


@pytest.mark.parametrize("form", FORMS)
def test_real_numbers_in_any_container(form: str) -> None:
    """A number falls into the cell that holds it; the upper bound belongs to the last one."""
    assert WEIGHTS.encode(forms([0.0, 9.99, 10.0, 100.0])[form]).tolist() == [0, 0, 1, 9]


@pytest.mark.parametrize("form", FORMS)
def test_booleans_in_any_container(form: str) -> None:
    """Booleans are labels like any other, where the labels are booleans."""
    assert Categories([False, True]).encode(forms([True, False, True])[form]).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i4", ">i8"]
)
def test_every_type_of_integer(dtype: str) -> None:
    """Narrow and wide, signed or not, either byte order: the same codes, and the ends are seen before they wrap."""
    ages = np.array([18, 99, 40], dtype)

    assert AGES.encode(ages).tolist() == [0, 81, 22]
    assert Integers(0, 99).encode(ages).tolist() == [18, 99, 40]
    for domain in (Integers(-5, 50), Integers(0, 50), Integers(20, 300)):
        with pytest.raises(OutsideDomain, match=r"row [01] holds (18|99)"):
            domain.encode(ages)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_whole_floats_are_whole_numbers(dtype: str) -> None:
    """A column that a missing row once made float is still one of whole numbers."""
    assert AGES.encode(np.array([18.0, 99.0], dtype)).tolist() == [0, 81]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([3, 0], dtype="Int64"),
        pd.Series([3, 0], dtype="UInt8"),
        pd.Series([3, 0], dtype="category"),
        pd.Series([3.0, 0.0], dtype="Float64"),
        pd.Series([3, 0], dtype="int64[pyarrow]"),
        pl.Series([3, 0], dtype=pl.UInt8),
        pa.array([3, 0], pa.int8()),
    ],
    ids=["Int64", "UInt8", "category", "Float64", "pyarrow in pandas", "polars UInt8", "pyarrow int8"],
)
def test_nullable_and_categorical_numbers(column: Any) -> None:
    """Nullable, categorical and Arrow-backed numbers are numbers."""
    assert NUMBERED.encode(column).tolist() == [3, 0]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["often", "never"], dtype="string"),
        pd.Series(["often", "never"], dtype="category"),
        pd.Series(["often", "never"], dtype=pd.CategoricalDtype(["x", "often", "never"])),
        pl.Series(["often", "never"], dtype=pl.Categorical),
        pl.Series(["often", "never"], dtype=pl.Enum(["never", "often"])),
        pa.array(["often", "never"]).dictionary_encode(),
        pa.array(["often", "never"], pa.large_string()),
    ],
    ids=["string", "category", "category in another order", "pl.Categorical", "pl.Enum", "dictionary", "large_string"],
)
def test_text_of_every_kind(column: Any) -> None:
    """Strings and categoricals are matched by what they say, never by their internal codes."""
    assert LABELS.encode(column).tolist() == [2, 0]


def test_an_empty_column_has_no_codes() -> None:
    """Nobody is nobody: an empty column encodes to nothing, and the engine, not the domain, refuses it."""
    for domain in (LABELS, NUMBERED, AGES, WEIGHTS):
        for empty in (
            [],
            np.array([]),
            np.array([], np.int64),
            pd.Series([], dtype=float),
            pl.Series([], dtype=pl.Int64),
        ):
            assert len(domain.encode(empty)) == 0


def test_a_single_value_is_one_row() -> None:
    """encode takes a scalar number as a column of one."""
    assert NUMBERED.encode(2).tolist() == [2]
    assert WEIGHTS.encode(55.0).tolist() == [5]


@given(
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-3, 1e6),
    cells=st.integers(2, 65536),
    at=st.floats(0, 1),
)
@settings(max_examples=300, deadline=None)
def test_an_interval_moves_a_value_by_half_a_cell(low: float, width: float, cells: int, at: float) -> None:
    """The midpoint that stands for a value is at most half a cell away (and a rounding of floats)."""
    domain = Interval(low, low + width, cells=cells)
    value = min(max(low + at * width, domain.low), domain.high)
    code = int(domain.encode([value])[0])
    slack = 1e-9 * (abs(low) + width)

    assert 0 <= code < cells
    assert abs(domain.numbers()[code] - value) <= domain.step / 2 + slack
    assert domain.encode([domain.low, domain.high]).tolist() == [0, cells - 1]


# ---- Arrow and categoricals: each label is looked up once, and nothing is looped over people


def dictionary(indices: list[Any], labels: Any, kind: Any = None) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices, kind or pa.int32()), pa.array(labels))


@pytest.mark.parametrize(
    "column",
    [
        dictionary([2, 0, 1], ["never", "often", "once"]),
        dictionary([2, 0, 1], ["never", "often", "once"], pa.uint8()),
        dictionary([2, 0, 1], ["never", "often", "once"], pa.uint64()),
        dictionary([2, 0, 1], pa.array(["never", "often", "once"], pa.large_string())),
        dictionary([2, 0, 1], pa.array(["never", "often", "once"], pa.string_view())),
        dictionary([3, 0, 4], ["never", "sometimes", None, "once", "often", "Never"]),  # 1, 2 and 5: nobody
        dictionary([0, 3, 0, 4, 1], ["never", "sometimes", None, "once", "often"]).slice(1, 3),
        dictionary([0, 1, 0, 1], ["once", "once"]).slice(4),
        pa.chunked_array([dictionary([0], ["once"]), dictionary([1, 0], ["often", "never"])]),
        pa.chunked_array([dictionary([], ["x"]), dictionary([1, 2, 0], ["often", "once", "never"])]),
        pa.chunked_array([pa.array(["no", "once"]).slice(1), pa.array(["never", "often", "?"]).slice(0, 2)]),
        pa.array(["?", "once", "never", "often"], pa.string_view()).slice(1),
        pd.Series(pd.Categorical(["once", "never", "often"], categories=["x", "often", "never", "once"])),
        pd.Categorical(["once", "never", "often"]),
        pd.CategoricalIndex(["once", "never", "often"]),
        pd.Series(["once", "never", "often"], dtype="string[pyarrow]"),
        pd.Series(["once", "never", "often"], dtype="string[python]"),
        pl.Series(["once", "never", "often"], dtype=pl.Enum(["often", "x", "never", "once"])),
        np.array(["once", "never", "often"], np.dtypes.StringDType()),
    ],
)
def test_labels_of_dictionaries(column: Any) -> None:
    """By what they say; twins, slices, chunks, labels that nobody holds and null among them do not matter."""
    expected = [1, 0, 2] if len(column) else []

    assert LABELS.encode(column).tolist() == expected


def test_codes_come_in_a_small_type() -> None:
    """Unsigned and as narrow as the labels allow, two values aside; never a float."""
    for k, dtype in ((3, np.uint8), (254, np.uint8), (255, np.uint16), (70_000, np.uint32)):
        labels = [f"{i}" for i in range(k)]
        codes = Categories(labels).encode(pa.array(labels))

        assert codes.dtype == dtype and codes.tolist() == list(range(k))
    assert Integers(100, 120).encode(pa.array([100, 120], pa.uint8())).tolist() == [0, 20]
    assert Integers(-100, 100).encode(pa.array([-100, 100], pa.int8())).tolist() == [0, 200]
    assert Integers(-100, 300).encode(pa.array([-100, 127], pa.int8())).tolist() == [0, 227]
    assert WEIGHTS.encode(pa.array([0.0, 100.0])).dtype == np.uint8
    assert Interval(0, 1, cells=65536).encode([0.0, 1.0]).tolist() == [0, 65535]


def test_arrow_numbers_are_not_copied() -> None:
    """A column without nulls is read where it lies."""
    column = pa.array(range(10))

    assert np.shares_memory(Integers(0, 9).encode(column), column.to_numpy())
    assert not np.shares_memory(AGES.encode(pa.array([20, 30])), column.to_numpy())
    assert column.to_pylist() == list(range(10))


@pytest.mark.parametrize(
    ("column", "row"),
    [
        (dictionary([0, None], ["once"]), 1),
        (dictionary([0, 1], ["once", None]), 1),
        (dictionary([None, None], []), 0),
        (dictionary([0, 0, None], ["once"]).slice(1), 1),
        (pa.chunked_array([dictionary([0, 0], ["once"]), dictionary([0, None], ["often"])]), 3),
        (pa.nulls(2), 0),
        (pa.chunked_array([pa.array(["once"]), pa.array([None], pa.string())]), 1),
        (pd.Series(["once", None], dtype="category"), 1),
        (pd.Series(["once", None], dtype="string[pyarrow]"), 1),
        (np.ma.MaskedArray(["once", "often"], mask=[False, True]), 1),
        (np.array([math.nan, math.nan]), 0),
    ],
)
def test_a_missing_label_in_a_dictionary(column: Any, row: int) -> None:
    """A null index and an index of null are the same: missing."""
    with pytest.raises(OutsideDomain, match=f"column 'drinks': row {row} has no value"):
        LABELS.encode(column)


@pytest.mark.parametrize(
    ("column", "row"),
    [
        (dictionary([0, 1], ["once", "Once"]), 1),
        (dictionary([0, 1, 0, 1], ["once", "Once"]).slice(2), 1),
        (pa.chunked_array([dictionary([0, 0], ["once"]), dictionary([0, 1], ["often", "Once"])]), 3),
        (pa.chunked_array([["once", "often"], ["never", "Once"]]), 3),
        (pd.Series(["once", "Once"], dtype="category"), 1),
        (pl.Series(["once", "Once"], dtype=pl.Categorical), 1),
    ],
)
def test_a_label_outside_in_a_dictionary(column: Any, row: int) -> None:
    """The row is counted over chunks, and the label is named."""
    with pytest.raises(OutsideDomain, match=rf"'drinks': row {row} holds 'Once' \(1 outside in all"):
        LABELS.encode(column)


NOT_LABELS = [
    pa.array([0, 1], pa.timestamp("us")),
    pa.array([0, 1], pa.date32()),
    pa.array([0, 1], pa.duration("s")),
    pa.array([0, 1], pa.timestamp("ns")).dictionary_encode(),
    pa.array([[0], [1]]),
    pa.array([{"x": 0}, {"x": 1}]),
    np.array([0, 1], "datetime64[ns]"),
    np.array([0, 1], "timedelta64[ns]"),
    np.array([0, 1], complex),
]


@pytest.mark.parametrize("column", NOT_LABELS, ids=lambda c: str(getattr(c, "type", getattr(c, "dtype", None))))
def test_dates_and_the_like_are_refused(column: Any) -> None:
    """They are no numbers, though NumPy and Python would make some of them equal to 0 and 1."""
    for domain in (Categories([0, 1]), Categories(["0", "1"]), Categories(2), Integers(0, 1), Interval(0, 1)):
        with pytest.raises(OutsideDomain, match="got values of type"):
            domain.encode(column)


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array], ids=lambda m: m.__module__)
def test_true_is_one_in_any_container(make: Any) -> None:
    """And False is 0, in every domain: a reader makes one type of both, for the sake of one row."""
    domains = (Categories([0, 1]), Categories([False, True]), Categories(["0", "1"]), Categories(["false", "true"]))
    for domain in (*domains, Categories(2), Integers(0, 1)):
        for values in ([True, False], [1, 0], [1.0, 0.0], ["true", "False"], ["1", "0"]):
            assert domain.encode(make(values)).tolist() == [1, 0]
            assert domain.encode(pa.array(values).dictionary_encode()).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("labels", "column", "codes"),
    [
        ([5, 1, -3], np.array([1, -3, 5], np.int8), [1, 2, 0]),
        ([5, 1, 300], np.array([1, 5], np.int8), [1, 0]),
        ([5, 1, -3], np.array([1, 5], np.uint64), [1, 0]),
        ([1, 2.5, "x"], np.array([2.5, 1.0]), [1, 0]),
        ([1.0, 2.0], np.array([2, 1], ">i4"), [1, 0]),
        ([10**18, 1], np.array([1, 10**18], np.uint64), [1, 0]),
        ([0.5, math.inf], pa.array([math.inf, 0.5]), [1, 0]),
        (["x", False, True], pa.array([True, False]), [2, 1]),
    ],
)
def test_numbers_among_labels(labels: list[Any], column: Any, codes: list[int]) -> None:
    """Numbers are looked for among labels by what they are, whatever the type that holds them."""
    domain = Categories(labels)

    assert domain.encode(column).tolist() == codes == [labels.index(v) for v in column.tolist()]
    assert domain.encode(column.tolist()).tolist() == codes


@pytest.mark.parametrize(
    ("labels", "column"),
    [
        ([1, 0.1], np.array([1, 0.1], np.float32)),
        ([1, 2], np.array([1, 2**64 - 2], np.uint64)),
        ([1, -1], np.array([1, 255], np.uint8)),
        ([1, 2.5], np.array([1, 2])),
    ],
)
def test_numbers_not_among_labels(labels: list[Any], column: Any) -> None:
    with pytest.raises(OutsideDomain, match=r"row \d holds"):
        Categories(labels).encode(column)


ANYTHING = st.one_of(
    st.none(), st.sampled_from(["never", "once", "often", "x", ""]), st.text(max_size=2), st.just(math.nan)
)


@given(st.lists(ANYTHING, max_size=10), st.integers(0, 10), st.integers(0, 10))
@settings(max_examples=300, deadline=None)
def test_every_container_says_the_same_of_text(items: list[Any], cut: int, start: int) -> None:
    """A list, objects, Arrow whole, sliced, chunked and as a dictionary: the same codes, missing and outside."""
    expected = LABELS.parse(items)
    text = pa.array([None if v != v else v for v in items], pa.string())
    longer = pa.concat_arrays([text.slice(0, start), text, text.slice(0, cut)])
    forms = [
        text,
        longer.slice(min(start, len(text)), len(text)),
        longer.dictionary_encode().slice(min(start, len(text)), len(text)),
        pa.chunked_array([text.slice(0, cut), text.slice(cut)], pa.string()),
        pa.chunked_array([text.slice(0, cut).dictionary_encode(), text.slice(cut).dictionary_encode()]),
        pd.Series(items, dtype="category"),
        np.array([*items, None], object)[:-1],
    ]
    none = np.zeros(len(items), bool)
    bad = [none if m is None else m for m in (expected.missing, expected.outside_mask)]
    for form in forms:
        read = LABELS.parse(form)
        masks = [none if m is None else m for m in (read.missing, read.outside_mask)]
        assert [mask.tolist() for mask in masks] == [mask.tolist() for mask in bad]
        good = ~(bad[0] | bad[1])
        assert read.codes[good].tolist() == expected.codes[good].tolist()


# ---- what is refused: values

MISSING = {
    "None in a list": [1, None],
    "NaN in a list": [1, math.nan],
    "NaN in NumPy": np.array([1.0, math.nan]),
    "None in objects": np.array([1, None], object),
    "None in pandas": pd.Series([1, None]),
    "pandas.NA in Int64": pd.Series([1, None], dtype="Int64"),
    "pandas.NA in objects": pd.Series([1, pd.NA], dtype=object),
    "pandas.NaT": pd.Series([1, pd.NaT], dtype=object),
    "null in a pandas categorical": pd.Series([1, None], dtype="category"),
    "null in Arrow-backed pandas": pd.Series([1, None], dtype="int64[pyarrow]"),
    "null in polars": pl.Series([1, None]),
    "NaN in polars": pl.Series([1.0, math.nan]),
    "null in pyarrow": pa.array([1, None]),
    "null in chunks": pa.chunked_array([[1], [None]]),
    "null in a one-column frame": pd.DataFrame({"x": [1, None]}),
}


@pytest.mark.parametrize("what", MISSING)
@pytest.mark.parametrize(
    ("domain", "wanted"),
    [
        (NUMBERED, "a whole number from 0 to 3"),
        (Integers(0, 9, column="answer"), "a whole number from 0 to 9"),
        (Interval(0.0, 9.0, column="answer"), "a number from 0 to 9"),
        (Categories([1, 2], column="answer"), "one of [1, 2]"),
    ],
    ids=["k", "Integers", "Interval", "labels"],
)
def test_a_missing_value_is_refused(domain: Any, wanted: str, what: str) -> None:
    """Missing is never a number and never dropped: the row, the column, what was wanted, and two ways out."""
    with pytest.raises(OutsideDomain) as refusal:
        domain.encode(MISSING[what])

    for part in ("column 'answer'", "row 1 has no value", f"wanted {wanted}", "Hint: drop those rows"):
        assert part in str(refusal.value)


@pytest.mark.parametrize(
    "column", [["once", None], pd.Series(["once", None]), pl.Series(["once", None]), pa.array(["once", None])]
)
def test_a_missing_label_is_refused(column: Any) -> None:
    """The same for text."""
    with pytest.raises(OutsideDomain, match=r"column 'drinks': row 1 has no value"):
        LABELS.encode(column)


OUTSIDE: list[tuple[str, Any, Any, str, str]] = [
    ("label unknown", LABELS, ["once", "twice"], "row 1 holds 'twice'", "one of ['never', 'once', 'often']"),
    ("label in another case", LABELS, ["once", "Often"], "row 1 holds 'Often'", "one of"),
    ("label with a space", LABELS, pd.Series(["once", "often "]), "row 1 holds 'often '", "one of"),
    ("number for a label", LABELS, ["once", 2], "row 1 holds 2", "one of"),
    ("above k", NUMBERED, [0, 4], "row 1 holds 4", "a whole number from 0 to 3"),
    ("negative code", NUMBERED, [0, -1], "row 1 holds -1", "from 0 to 3"),
    ("negative int8 code", NUMBERED, np.array([0, -1], np.int8), "row 1 holds -1", "from 0 to 3"),
    ("huge uint64 code", NUMBERED, np.array([0, 2**64 - 1], np.uint64), "row 1 holds 18446744073709551615", "0 to 3"),
    ("below low", AGES, [50, 17], "row 1 holds 17", "a whole number from 18 to 99"),
    ("above high", AGES, np.array([50, 100], np.uint8), "row 1 holds 100", "from 18 to 99"),
    ("3.7 for an integer", AGES, [50, 33.7], "row 1 holds 33.7", "a whole number"),
    ("3.7 for a code", NUMBERED, np.array([1.0, 3.7]), "row 1 holds 3.7", "a whole number"),
    ("3.7 among objects", NUMBERED, np.array([1, 3.7], object), "row 1 holds 3.7", "a whole number"),
    ("infinity for an integer", AGES, [50, math.inf], "row 1 holds inf", "a whole number"),
    ("infinity for a number", WEIGHTS, [50.0, math.inf], "row 1 holds inf", "a number from 0 to 100"),
    ("minus infinity", WEIGHTS, [50.0, -math.inf], "row 1 holds -inf", "a number from 0 to 100"),
    ("just below", WEIGHTS, [50.0, -5e-324], "row 1 holds -5e-324", "from 0 to 100"),
    ("too large to be a whole float", AGES, [50.0, 1e300], "row 1 holds 1e+300", "a whole number"),
    ("a little above", WEIGHTS, [50.0, 100.000000000001], "row 1 holds 100.000000000001", "from 0 to 100"),
    ("text among numbers", AGES, np.array([50, "51a"], object), "row 1 holds '51a'", "a whole number"),
    ("digits of other scripts", AGES, ["50", "\u0665\u0661"], "row 1 holds '\u0665\u0661'", "a whole number"),
    ("complex numbers", WEIGHTS, [1.0, 1 + 2j], "row 1 holds (1+2j)", "a number"),
    ("a list for a label", LABELS, ["often", ["once"]], "row 1 holds ['once']", "one of"),
    ("a boolean among objects", AGES, np.array([50, True], object), "row 1 holds True", "a whole number"),
]


@pytest.mark.parametrize(
    ("domain", "values", "got", "wanted"), [pytest.param(*case[1:], id=case[0]) for case in OUTSIDE]
)
def test_a_value_outside_is_refused(domain: Any, values: Any, got: str, wanted: str) -> None:
    """Nothing is clipped or guessed: the column, the row, what it holds, what was wanted, a hint."""
    with pytest.raises(OutsideDomain) as refusal:
        domain.encode(values)

    for part in (f"column {domain.column!r}", got, "(1 outside in all", wanted, "Hint:"):
        assert part in str(refusal.value)


WRONG_TYPE: list[tuple[str, Any, Any, str]] = [
    ("dates for integers", AGES, pd.Series(pd.to_datetime(["2020-01-01"])), "got values of type datetime64"),
    ("complex numbers", WEIGHTS, np.array([1 + 2j]), "got values of type complex128"),
    ("two columns", NUMBERED, np.zeros((3, 2), int), "one dimension, got shape (3, 2)"),
    ("a frame of two columns", NUMBERED, pd.DataFrame({"x": [1], "y": [2]}), "one dimension, got shape (1, 2)"),
]


@pytest.mark.parametrize(("domain", "values", "got"), [pytest.param(*case[1:], id=case[0]) for case in WRONG_TYPE])
def test_the_wrong_type_is_refused(domain: Any, values: Any, got: str) -> None:
    """Dates and the like are refused as a whole, with what was got."""
    with pytest.raises(OutsideDomain) as refusal:
        domain.encode(values)

    assert got in str(refusal.value)
    if "dimension" not in got:
        assert domain.column in str(refusal.value) and "wanted" in str(refusal.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda _: pl.LazyFrame({"x": ["once"]}),
        lambda connection: connection.sql("select 'once' as x"),
        lambda _: {"x": ["once"]},
        lambda _: object(),
    ],
    ids=["lazy frame", "relation", "mapping", "object"],
)
def test_what_is_no_column_is_refused(make: Any) -> None:
    """A lazy frame, a relation, a mapping or any object is no column: a MurmureError, not an accident."""
    with duckdb.connect() as connection:
        for domain in (LABELS, NUMBERED, AGES, WEIGHTS):
            with pytest.raises(MurmureError):
                domain.encode(make(connection))


def test_all_bad_rows_are_counted() -> None:
    """The message names the first bad row and how many there are."""
    with pytest.raises(OutsideDomain, match=r"row 2 holds 7 \(3 outside in all"):
        NUMBERED.encode([0, 1, 7, 2, 9, 8])


def test_a_bare_domain_names_its_kind() -> None:
    """Without a column the message names the domain instead."""
    with pytest.raises(OutsideDomain, match="Integers: row 0 holds 3"):
        Integers(5, 9).encode([3])


def test_a_long_value_is_cut() -> None:
    """A message never prints a page of somebody's answer, nor a page of labels."""
    with pytest.raises(OutsideDomain) as refusal:
        Categories([f"label {i}" for i in range(1000)]).encode(["x" * 10_000])

    assert len(str(refusal.value)) < 500


# ---- what is refused: domains


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Categories(1), r"Categories\.k must be a whole number, at least 2, got 1\."),
        (lambda: Categories(0), r"at least 2, got 0\."),
        (lambda: Categories(-3), r"at least 2, got -3\."),
        (lambda: Categories(2**31 + 1), r"Categories\.k must be at most 2\*\*31, got 2147483649"),
        (lambda: Categories(True), r"a list of labels or a number of them, got True"),
        (lambda: Categories(2.0), r"a list of labels or a number of them, got 2\.0"),
        (lambda: Categories(None), r"got None"),
        (lambda: Categories("no"), r"got 'no'"),
        (lambda: Categories({"no", "yes"}), r"a list of labels or a number of them"),
        (lambda: Categories([]), r"at least two labels, got 0"),
        (lambda: Categories(["yes"]), r"at least two labels, got 1"),
        (lambda: Categories(["yes", "no", "yes"]), r"labels must differ, got \('yes', 'no', 'yes'\)"),
        (lambda: Categories([1, True]), r"labels must differ"),
        (lambda: Categories(["yes", None]), r"must not be None or NaN"),
        (lambda: Categories(["yes", math.nan]), r"must not be None or NaN"),
        (lambda: Categories(["yes", "NaN"]), r"must not be None or NaN, got 'NaN'"),
        (lambda: Categories(["1", 1]), r"labels must differ, got \('1', 1\): '1' and 1 mean the same"),
        (lambda: Categories(["1", "1.0"]), r"'1' and '1\.0' mean the same"),
        (lambda: Categories(["01", "x", "1"]), r"'01' and '1' mean the same"),
        (lambda: Categories(["true", "True"]), r"'true' and 'True' mean the same"),
        (lambda: Categories(["true", "1"]), r"'true' and '1' mean the same"),
        (lambda: Categories([2**53 + 1, 5]), r"at most 15 digits, got 9007199254740993"),
        (lambda: Categories(["0.1234567890123456", "5"]), r"at most 15 digits, got '0\.1234567890123456'"),
        (lambda: Categories([0.1 + 0.2, 5]), r"at most 15 digits, got 0\.30000000000000004"),
        (lambda: Categories([["yes"], ["no"]]), r"label"),
        (lambda: Integers(2**53, 2**53 + 3), r"numbers of at most 15 digits, got 9007199254740992 to"),
        (lambda: Integers(-(10**15), 3), r"at most 2\*\*31 values"),
        (lambda: Integers(-(10**15), 5 - 10**15), r"numbers of at most 15 digits"),
        (lambda: Integers(5, 5), r"Integers needs low < high, got 5 and 5"),
        (lambda: Integers(9, 5), r"low < high, got 9 and 5"),
        (lambda: Integers(0.5, 9), r"Integers\.low must be a whole number, got 0\.5"),
        (lambda: Integers(0, "9"), r"Integers\.high must be a whole number, got '9'"),
        (lambda: Integers(False, 9), r"Integers\.low must be a whole number, got False"),
        (lambda: Integers(0, None), r"Integers\.high must be a whole number, got None"),
        (lambda: Integers(0, 2**31), r"at most 2\*\*31 values, got 2147483649"),
        (lambda: Interval(1.0, 1.0), r"Interval needs low < high, got 1\.0 and 1\.0"),
        (lambda: Interval(2.0, 1.0), r"low < high, got 2\.0 and 1\.0"),
        (lambda: Interval(0.0, math.inf), r"Interval\.high must be a finite number, got inf"),
        (lambda: Interval(-math.inf, 0.0), r"Interval\.low must be a finite number, got -inf"),
        (lambda: Interval(math.nan, 0.0), r"Interval\.low must be a finite number, got nan"),
        (lambda: Interval(0.0, 10**400), r"Interval\.high must be a finite number, got 1000"),
        (lambda: Interval(np.complex128(0), 1.0), r"Interval\.low must be a finite number, got np\.complex"),
        (lambda: Interval("0", 1.0), r"Interval\.low must be a finite number, got '0'"),
        (lambda: Interval(False, 1.0), r"Interval\.low must be a finite number, got False"),
        (lambda: Interval(-1e308, 1e308), r"low < high"),
        (lambda: Interval(0.0, 1.0, cells=1), r"Interval\.cells must be a whole number, at least 2, got 1"),
        (lambda: Interval(0.0, 1.0, cells=2.5), r"Interval\.cells .* got 2\.5"),
        (lambda: Interval(0.0, 1.0, cells=100_000), r"Interval\.cells must be at most 65536, got 100000"),
        (lambda: Schema({}), r"Schema takes a mapping"),
        (lambda: Schema(["age"]), r"Schema takes a mapping .* got \['age'\]"),
        (
            lambda: Schema({"age": 5}),
            r"Schema column 'age' must be Categories, Integers, Interval, Decimals or Dates, got 5",
        ),
        (lambda: domain_from_dict({"type": "Words"}), r"a domain must be one of .* got 'Words'"),
    ],
)
def test_a_bad_domain_is_refused(make: Any, words: str) -> None:
    """One value, none, twins, infinite or crossed bounds: refused when built, so nobody need check again."""
    with pytest.raises(InvalidParameter, match=words):
        make()


# ---- the schema, and back from JSON


def test_a_schema_names_its_columns() -> None:
    """schema["age"] is the domain and knows its column; the one that was given does not change."""
    bare = Integers(18, 99)
    schema = Schema({"age": bare, "smoker": Categories(["no", "yes"]), "weight": Interval(0, 9)})

    assert schema["age"] == Integers(18, 99, column="age") and bare.column is None
    assert [schema[name].column for name in schema] == ["age", "smoker", "weight"] and len(schema) == 3
    with pytest.raises(MissingColumn, match=r"the schema has no column 'size'; it has \['age', 'smoker', 'weight'\]"):
        schema["size"]
    for other in (3, None, ["age"], {"age"}):
        assert other not in schema
        with pytest.raises(MissingColumn, match="the schema has no column"):
            schema[other]  # type: ignore[index]


@pytest.mark.parametrize(
    "domain",
    [LABELS, NUMBERED, AGES, WEIGHTS, Categories([1, 2.5, "x", True, False][:3]), Categories([False, True])],
    ids=repr,
)
def test_a_domain_comes_back(domain: Any) -> None:
    """to_dict and back give an equal domain, through JSON too."""
    import json

    assert isinstance(domain, Domain)
    assert domain_from_dict(json.loads(json.dumps(domain.to_dict()))) == domain


def test_labels_and_numbers() -> None:
    """A code's label is the value it stands for; numbers exist where values are numbers."""
    assert LABELS.labels() == ["never", "once", "often"] and LABELS.numbers() is None
    assert NUMBERED.labels() == ["0", "1", "2", "3"]
    assert AGES.labels()[0] == "18" and AGES.numbers()[-1] == 99.0
    assert WEIGHTS.labels()[:2] == ["5", "15"] and WEIGHTS.numbers().tolist() == [5 + 10 * i for i in range(10)]
    assert Categories([1, 2.5]).numbers().tolist() == [1.0, 2.5]
    assert hash(LABELS) == hash(Categories(["never", "once", "often"], column="drinks"))


@pytest.mark.parametrize("domain", [Categories(10_000), LABELS])
def test_a_domain_travels_without_what_it_made_of_itself(domain: Categories) -> None:
    """Labels are written out once and kept; a plan that goes to Spark's workers does not carry them."""
    fresh = len(pickle.dumps(Categories(domain.values, column=domain.column)))
    assert domain.labels() == [str(v) for v in (range(10_000) if domain.values == 10_000 else domain.values)]
    domain.labels().clear()

    assert len(pickle.dumps(domain)) == fresh and len(domain.labels()) == domain.size
    assert pickle.loads(pickle.dumps(domain)) == domain
