"""What a cell means does not change when a reader changes the type of its column, for the sake of one other row.

The flips are those of readers: a column of one type becomes another because one cell is missing, is a word, has a
fraction, or is huge. Every column is made by a real reader or frame library, never by hand; then the rows that did not
change must have the codes they had before, under every domain, strictly and leniently.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import duckdb
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import example, given, settings

from murmure.core.cells.lenient_encoding import encode_domain_lenient
from murmure.core.cells.meaning import UNKNOWN, fits, meaning, numbers_in_cells, numbers_in_text, rounded, rounded_all
from murmure.core.domain import Categories, Decimals, Domain, Integers, Interval
from murmure.core.errors import InvalidParameter, OutsideDomain

# -- one cell ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "meant"),
    [
        (
            [
                None,
                math.nan,
                np.float32("nan"),
                Decimal("NaN"),
                Decimal("sNaN"),
                pd.NA,
                pd.NaT,
                "nan",
                "NaN",
                " NAN ",
                "-nan",
                "nan(1)",
                "",
                " ",
            ],
            None,
        ),
        ([1, 1.0, True, np.bool_(True), np.int8(1), Decimal("1.00"), Fraction(1), "1", "+1", " 1", "1.", "01"], 1.0),
        (["1e0", "0.1e1", "10E-1", "true", "TRUE", "True ", "1.0000000000000000001", np.str_("1"), b"1"], 1.0),
        ([0, -0.0, "-0", "0e5", False, "false", ".0", "1e-400"], 0.0),
        ([0.3, 0.1 + 0.2, "0.3", "0.30000000000000004", Decimal("0.3"), "3e-1"], 0.3),
        ([math.inf, "inf", "+INF", "Infinity", "1e999", 10**400, Decimal("1e999")], math.inf),
        ([2**53, 2**53 + 1, float(2**53), "9007199254740993", np.uint64(2**53)], rounded(float(2**53))),
    ],
)
def test_spellings_of_one_meaning(cells: list[Any], meant: float | None) -> None:
    assert [meaning(cell) for cell in cells] == [meant] * len(cells)


@pytest.mark.parametrize("text", ["x", " x", "0x1", "1_0", "٣", "1,5", "1 000", "--1", "e5", ".", "1e", "yes", "nano"])
def test_any_other_text_is_itself(text: str) -> None:
    assert meaning(text) == meaning(text.encode()) == text


@pytest.mark.parametrize(
    "cell", [1j, [1], {"a": 1}, object(), np.datetime64("2020-01-01"), np.timedelta64(1, "s"), int]
)
def test_anything_else_is_unknown(cell: Any) -> None:
    assert meaning(cell) is UNKNOWN


@given(st.floats(allow_nan=False))
@example(0.1 + 0.2)
@example(5e-324)
@example(1.7976931348623157e308)
def test_fifteen_digits(x: float) -> None:
    """Rounding is that of %.15g, whole arrays at a time too; what has fifteen digits stays as it is."""
    assert rounded(x) == float(f"{x:.15g}")
    assert rounded_all(np.array([x, 1.5, x])).tolist() == [rounded(x), 1.5, rounded(x)]
    assert fits(rounded(x)) or math.isinf(rounded(x))
    assert math.copysign(1, rounded(-0.0)) == 1


@given(st.decimals(-(10**9), 10**9, places=5).filter(bool))
def test_a_parser_that_is_off_by_one_unit_changes_nothing(x: Decimal) -> None:
    """pandas' is; a number of fifteen digits means the same."""
    near = float(x)

    for off in (near, math.nextafter(near, math.inf), math.nextafter(near, -math.inf)):
        assert meaning(off) == meaning(str(x)) == near + 0.0


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.3), (-0.3, -0.1), (-1.1, 2.3), (1e-5, 999999.99999)])
@pytest.mark.parametrize(
    "make",
    [
        lambda *bounds: Interval(*bounds, cells=7),
        lambda *bounds: Decimals(*bounds, 5, rounding="nearest"),
        lambda *bounds: Interval(*bounds, cells=7, outside="clamp"),
    ],
    ids=["Interval", "Decimals", "Interval, clamp"],
)
def test_a_number_beside_a_bound_is_outside_if_its_meaning_is(make: Any, low: float, high: float) -> None:
    """Off by a unit in the last place it is the bound; one in the fifteenth digit is beyond it, or within."""
    domain = make(low, high)
    numbers = [(low + high) / 2, -math.inf, math.inf, low - 1e-3, high + 1e-3, -1e300, 1e300]
    for bound in (low, high):
        off = Decimal(1).scaleb(Decimal(repr(bound)).adjusted() - 14)
        numbers += [float(Decimal(repr(bound)) + i * off) for i in (-1, 0, 1)]
        numbers += [math.nextafter(bound, -math.inf), math.nextafter(bound, math.inf)]
    outside = [not low <= meaning(x) <= high for x in numbers]
    codes = [domain.encode([min(max(meaning(x), low), high)])[0] for x in numbers]

    parsed = domain.parse(np.array(numbers))
    found = parsed.outside_mask if domain.outside == "refuse" else parsed.clamped
    assert outside == found.tolist()
    assert [code for code, out in zip(codes, outside, strict=True) if not out] == parsed.codes[~found].tolist()
    if domain.outside == "clamp":
        assert codes == parsed.codes.tolist()


@given(
    st.lists(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.decimals(), max_size=6)
)
def test_many_cells_are_as_each_alone(cells: list[Any]) -> None:
    found, missing = numbers_in_cells(cells)
    alone = [meaning(cell) for cell in cells]

    assert missing.tolist() == [meant is None for meant in alone]
    assert [rounded(x) if x == x else None for x in found.tolist()] == [
        m if isinstance(m, float) else None for m in alone
    ]


# -- flips -------------------------------------------------------------------------------------------------------------

DOMAINS: tuple[Domain, ...] = (
    Categories(["0", "1"]),
    Categories([0, 1]),
    Categories(["1.0", "2.0"]),
    Categories([1.0, 2.5]),
    Categories(["true", "false"]),
    Categories([False, True]),
    Categories(["01", "02", "2A"]),
    Categories(["007", "x", "oui"]),
    Categories(["inf", "1e0", "-0"]),
    Categories(3),
    Integers(0, 9),
    Integers(-5, 2_000_000_000),
    Interval(0.0, 1.0, cells=10),
    Interval(-3.0, 300.0, cells=7),
    Decimals(0, 9, 1),
    Decimals(0, 9, 2, rounding="nearest"),
)

COLUMNS: dict[str, list[str]] = {  # what a file holds
    "whole": ["0", "1", "2", "1", "7"],
    "zeros before": ["007", "01", "02", "0"],
    "fractions": ["0.0", "1.0", "2.5", "0.3", "0.7"],
    "edges": ["0.1", "0.2", "0.3", "0.4", "0.6", "0.7", "0.8", "0.9", "2.675", "1.005", "0.35"],
    "booleans": ["true", "false", "true"],
    "True": ["True", "False", "True"],
    "spelled": ["+1", "1e0", " 1", "-0", "0.1e1"],
    "infinite": ["inf", "1", "0"],
    "words": ["2A", "x", "oui", "1"],
    "long": ["1000000000000.4", "12345678.25", "1"],
}
ODD = ["x", "", "0.5", "1e30", "9007199254740993", "true", "nan", "-1", "99999999999999999999", "NA", "é"]


def by_pandas(texts: list[str], **how: Any) -> Any:
    quoted = "x\n" + "".join(f'"{t}"\n' if t else '""\n' for t in texts)
    return pd.read_csv(io.StringIO(quoted), **how)["x"]


def by_pandas_and_arrow(texts: list[str]) -> Any:
    try:
        return by_pandas(texts, dtype_backend="pyarrow")
    except (OverflowError, pa.ArrowException):  # pandas gave up: nobody gets anything
        return None


def by_chunks(texts: list[str]) -> Any:
    """As pandas does with low_memory: each chunk by itself, in one column of objects."""
    half = len(texts) // 2
    return pd.concat(
        [by_pandas(texts[:half]).astype(object), by_pandas(texts[half:]).astype(object)], ignore_index=True
    )


def by_polars(texts: list[str], first: int | None = None) -> Any:
    data = ("x,y\n" + "".join(f"{t},1\n" for t in texts)).encode()
    try:
        return pl.read_csv(io.BytesIO(data), infer_schema_length=first)["x"]
    except pl.exceptions.ComputeError:  # it looked at the first rows only, and gave up: nobody gets anything
        return None


def by_arrow(texts: list[str]) -> Any:
    data = ("x,y\n" + "".join(f"{t},1\n" for t in texts)).encode()
    return pyarrow.csv.read_csv(io.BytesIO(data))["x"]


def by_duckdb(texts: list[str], folder: Any) -> Any:
    path = folder / "t.csv"
    path.write_text("x,y\n" + "".join(f"{t},1\n" for t in texts), encoding="utf-8")
    return database().sql(f"select x from read_csv('{path}', header=true)").to_arrow_table()["x"]


@cache
def database() -> Any:
    """One for all: to open and close another for each file would take longer than all that is tested."""
    return duckdb.connect(config={"threads": 1})


READERS: dict[str, Callable[[list[str], Any], Any]] = {
    "pandas": lambda t, _: by_pandas(t),
    "pandas, object": lambda t, _: by_pandas(t).astype(object),
    "pandas, categorical": lambda t, _: by_pandas(t).astype("category"),
    "pandas, nullable": lambda t, _: by_pandas(t).convert_dtypes(),
    "pandas, Arrow": lambda t, _: by_pandas_and_arrow(t),
    "pandas, python engine": lambda t, _: by_pandas(t, engine="python"),
    "pandas, chunks": lambda t, _: by_chunks(t),
    "pandas, text": lambda t, _: by_pandas(t, dtype=str),
    "polars": lambda t, _: by_polars(t),
    "polars, first rows": lambda t, _: by_polars(t, 2),
    "polars, text": lambda t, _: pl.Series(t),
    "arrow": lambda t, _: by_arrow(t),
    "duckdb": by_duckdb,
    "list": lambda t, _: list(t),
    "list of objects": lambda t, _: by_pandas(t).tolist(),
    "numpy": lambda t, _: by_pandas(t).to_numpy(),
    "dictionary": lambda t, _: pa.array(t).dictionary_encode(),
}


def is_refused(values: Any) -> bool:
    """Dates and times, which a reader may see in a text: refused by their type."""
    return values is None or any(kind in str(getattr(values, "type", "")) for kind in ("date", "time"))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", COLUMNS)
def test_one_row_changes_no_other(reader: str, name: str, tmp_path: Any) -> None:
    """With one more row, whatever it holds, the codes of all others are what they were."""
    read, texts = READERS[reader], COLUMNS[name]
    column = read(texts, tmp_path)
    expected = {domain: (encode_domain_lenient(domain, column).tolist(), domain.parse(column)) for domain in DOMAINS}
    if is_refused(column):
        pytest.fail(f"{reader} sees no numbers in {texts}")
    for odd in ODD:
        column = read([*texts, odd], tmp_path)
        if is_refused(column):
            continue
        for domain in DOMAINS:
            lenient, strict = expected[domain]
            assert encode_domain_lenient(domain, column).tolist()[: len(texts)] == lenient, (domain, odd)
            after = domain.parse(column)
            for was, now in ((strict.missing, after.missing), (strict.outside_mask, after.outside_mask)):
                assert masked(now, len(texts) + 1)[: len(texts)] == masked(was, len(texts)), (domain, odd)


def masked(mask: Any, rows: int) -> list[bool]:
    return [False] * rows if mask is None else mask.tolist()


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_every_reader_says_the_same(domain: Domain, name: str, tmp_path: Any) -> None:
    """Whichever reader and frame library brings a file, its rows have the same codes."""
    texts = COLUMNS[name]
    expected = encode_domain_lenient(domain, texts).tolist()

    for reader, read in READERS.items():
        assert encode_domain_lenient(domain, read(texts, tmp_path)).tolist() == expected, reader


def test_a_column_of_whole_numbers_and_text_labels() -> None:
    """The instance that was found: a thousand people, one more row, and n went from 0 to 1000."""
    people = ["0", "1"] * 500
    domain = Categories(["0", "1"])

    for extra in ([], ["x"], [""], ["0.5"]):
        codes = encode_domain_lenient(domain, by_pandas([*people, *extra]))
        assert np.bincount(codes, minlength=3)[:2].tolist() == [500, 500]


@pytest.mark.parametrize(
    "labels", [["1", "1.0"], ["01", "1"], ["true", "True"], [1, True], ["0", "-0"], ["1e3", "1000"], ["nan", "x"]]
)
def test_labels_that_mean_the_same_or_nothing_are_refused(labels: list[Any]) -> None:
    with pytest.raises(InvalidParameter):
        Categories(labels)


@given(
    st.integers(10**15, 10**30) | st.integers(10**15, 10**30).map(str) | st.floats(0, 1).filter(lambda x: not fits(x))
)
@settings(max_examples=50)
def test_labels_of_more_than_fifteen_digits_are_refused(label: Any) -> None:
    if Fraction(str(label)) == Fraction(f"{float(label):.15g}"):  # zeros at the end are no digits
        Categories([label, "x"])
    else:
        with pytest.raises(InvalidParameter, match="15 digits"):
            Categories([label, "x"])


@pytest.mark.parametrize(
    "text",
    [
        "\u0131nf",
        "\u0130nf",
        "+\u0131nf\u0131n\u0131ty",
        "fal\u017fe",
        "TrUe",
        "1" * 50_000 + "x",
        "1" * 50_000,
        "." * 9999,
    ],
)
def test_no_text_is_too_odd_or_too_long(text: str) -> None:
    """Letters that only some patterns take for ours, and digits without end: read at once, alike in C and in Python."""
    alone = numbers_in_cells([text])
    found, missing = numbers_in_text(pa.array([text]))

    np.testing.assert_array_equal(rounded_all(found.to_numpy(zero_copy_only=False)), alone[0])
    assert missing.to_pylist() == alone[1].tolist()


GUESSES = [
    (["yes", "no"], [True, False]),
    (["t", "f"], [True, False]),
    (["0x10", "0x11"], [16, 17]),
    (["0b1", "x"], [1, 0]),
    (["2D", "3D"], [2.0, 3.0]),
    (["1_000", "y"], [1000, 2]),
]


@pytest.mark.parametrize(("labels", "guess"), GUESSES)
@pytest.mark.parametrize("make", [np.array, pd.Series, pl.Series, pa.array], ids=lambda m: m.__module__)
def test_words_that_some_reader_takes_for_numbers_or_booleans(labels: list[str], guess: list[Any], make: Any) -> None:
    """DuckDB makes booleans of yes and no, Spark numbers of 2D, Arrow of 0x10, unless one row is another word. A column
    of such a type is refused by its type; Python's own values are what they are, and text is text."""
    domain = Categories(labels)
    for read in (encode_domain_lenient, lambda domain, column: domain.encode(column)):
        with pytest.raises(OutsideDomain, match="some readers turn into"):
            read(domain, make(guess))
    assert encode_domain_lenient(domain, guess).tolist() == [2, 2]
    assert encode_domain_lenient(domain, pa.nulls(2)).tolist() == [2, 2]  # nothing is neither
    assert encode_domain_lenient(domain, make(labels)).tolist() == [0, 1]


def test_duckdb_and_words_for_booleans(tmp_path: Any) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "yes\nno\n" * 50)
    with duckdb.connect() as connection, pytest.raises(OutsideDomain, match="load the column as text"):
        encode_domain_lenient(
            Categories(["yes", "no"]), connection.sql(f"select x from read_csv('{path}')").to_arrow_table()["x"]
        )


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=20), st.integers(2, 2000))
def test_narrow_floats_are_their_wide_ones(values: list[float], cells: int) -> None:
    domain = Interval(0.1, 0.9, cells=cells)
    narrow = np.array(values, np.float32)

    assert (
        encode_domain_lenient(domain, narrow).tolist()
        == encode_domain_lenient(domain, narrow.astype(np.float64)).tolist()
    )
