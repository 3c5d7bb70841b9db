"""The schema of one's own table: it holds every row, and every decimal exactly."""

from __future__ import annotations

import decimal
import tracemalloc
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from murmure.core.decimals import Decimals
from murmure.core.domain import Categories, Integers
from murmure.core.errors import EmptySource, InvalidParameter, MissingColumn, OutsideDomain
from murmure.econometrics.design import column_profile
from murmure.econometrics.design.inferred_schema import infer_schema
from murmure.engines.sources.tables import open_table

AT = np.arange(600)


@given(st.integers(0, 9), st.lists(st.integers(-(10**6), 10**6), min_size=1))
def test_decimals_are_exact(places: int, cents: list[int]) -> None:
    exact = [Fraction(c, 10**places) for c in cents]
    table = {"x": [c / 10**places for c in cents]}
    domain: Any = infer_schema(table)["x"]
    codes = domain.encode(table["x"])
    if isinstance(domain, Integers):
        assert [Fraction(domain.low + int(c)) for c in codes] == exact
    else:
        assert domain.rounding == "refuse" and domain.places <= places
        assert [domain.exact(c) for c in codes] == exact
        assert any((value * 10 ** (domain.places - 1)).denominator > 1 for value in exact) or domain.places == 0


@given(st.lists(st.floats(-1e9, 1e9, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-9), min_size=1))
def test_any_float_is_held(values: list[float]) -> None:
    try:
        domain: Any = infer_schema({"x": values})["x"]
    except InvalidParameter as error:
        assert "too small" in str(error) and max(map(abs, values)) < 2e-8
        return
    codes = domain.encode(values)
    if isinstance(domain, Integers):
        assert [domain.low + int(c) for c in codes] == values
        return
    most = Fraction(max(map(abs, values)))
    if domain.rounding == "refuse":
        assert [domain.exact(c) for c in codes] == [Fraction(repr(v)) for v in values]
        return
    moved = max(abs(domain.exact(c) - Fraction(v)) for c, v in zip(codes, values, strict=True))
    assert moved <= domain.step / 2 + most / 2**53
    assert domain.step <= most / (10**16 if most > Fraction(1, 10) else 10**9) and domain.size < 2**60


@given(st.lists(st.integers(2 - 10**18, 10**18 - 2), min_size=1))
def test_whole_numbers_of_any_size(values: list[int]) -> None:
    domain: Any = infer_schema({"x": values})["x"]
    first = domain.low if isinstance(domain, Integers) else domain.first
    if isinstance(domain, Integers) or domain.rounding == "refuse":
        assert [first + int(c) for c in domain.encode(values)] == values


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": AT % 70 + 18,
            "half": AT / 8,
            "cents": np.round(AT * 0.01, 2),
            "whole": AT.astype(float),
            "ward": np.array(["B", "A", "C"])[AT % 3],
            "smoker": AT % 2 == 0,
            "graded": pd.Categorical(
                np.array(["low", "mid", "high"])[AT % 3], categories=["mid", "low", "high", "top"]
            ),
            "sine": np.sin(AT),
            "same": 5,
            "same too": 5.5,
            "one": "only",
            "far": AT * 10**10,
            "narrow": np.round(AT * 0.25, 2).astype("float32"),
        }
    )


WANTED = {
    "age": Integers(18, 87),
    "half": Decimals(0, "74.875", 3),
    "cents": Decimals(0, "5.99", 2),
    "whole": Integers(0, 599),
    "ward": Categories(["A", "B", "C"]),
    "smoker": Categories([False, True]),
    "graded": Categories(["mid", "low", "high"]),
    "same": Integers(5, 6),
    "same too": Decimals("5.5", "6.5", 1),
    "one": Categories(["only", "other than only"]),
    "far": Decimals(0, 599 * 10**10, 0),
    "narrow": Decimals(0, "149.75", 2),
}


def test_what_columns_hold() -> None:
    schema = infer_schema(frame())
    assert {name: schema.column_specs[name].domain for name in WANTED} == WANTED
    sine: Any = schema["sine"]
    assert (sine.places, sine.rounding) == (17, "nearest") and float(sine.low) <= np.sin(AT).min()
    assert schema.drafted == () and len(schema.encode(frame())[0]) == len(AT)


@pytest.mark.parametrize("form", ["polars", "arrow", "mapping", "parquet", "csv"])
def test_whatever_holds_the_table(form: str, tmp_path: Path) -> None:
    held: Any = frame().drop(columns="graded")
    wanted = infer_schema(held)
    if form == "polars":
        held = pl.from_pandas(held)
    elif form == "arrow":
        held = pa.Table.from_pandas(held)
    elif form == "mapping":
        held = {name: held[name].tolist() if name != "narrow" else held[name].to_numpy() for name in held}
    elif form == "parquet":
        held.to_parquet(tmp_path / "t.parquet", row_group_size=100)
        held = tmp_path / "t.parquet"
    else:
        held.to_csv(tmp_path / "t.csv", index=False)
        held = tmp_path / "t.csv"
    schema = infer_schema(held)
    if form == "csv":  # 1.0 is written with a point
        assert schema.column_specs["whole"].domain == Decimals(0, 599, 0)
        wanted = infer_schema(frame(), [name for name in schema if name != "whole"])
        wanted = type(wanted)({name: wanted.column_specs.get(name, schema.column_specs[name]) for name in schema})
    assert schema == wanted
    for batch in open_table(held, columns=list(schema), kinds=schema.kinds).batches():
        assert len(schema.encode(batch)[0]) == len(AT)


def test_numbers_that_are_labels(tmp_path: Path) -> None:
    held = frame().assign(tenth=AT % 3 / 10, code=AT % 3 * 2)
    held.to_csv(tmp_path / "t.csv", index=False)
    for table in (held, tmp_path / "t.csv", pl.from_pandas(held)):
        schema = infer_schema(table, ["tenth", "code", "ward"], labels=["tenth", "code", "ward"])
        assert schema.column_specs["code"].domain == Categories([0, 2, 4])
        assert schema.column_specs["tenth"].domain == Categories([0.0, 0.1, 0.2])
        for batch in open_table(table, columns=list(schema), kinds=schema.kinds).batches():
            schema.encode(batch)
    assert infer_schema({"x": [3, 3]}, labels=["x"]).column_specs["x"].domain == Categories([3, 4])


def test_decimals_of_arrow() -> None:
    values = [Decimal("1.50"), Decimal("-0.25")]
    assert infer_schema({"x": values}).column_specs["x"].domain == Decimals("-0.25", "1.5", 2)


def test_text_of_a_csv(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("code,flag,mixed,number\n007,true,1,1e-3\n012,False,b,2\n")
    schema = infer_schema(file)
    assert [schema.column_specs[name].domain for name in schema] == [
        Categories(["007", "012"]),
        Categories([False, True]),
        Categories(["1", "b"]),
        Decimals("0.001", 2, 3),
    ]


def test_several_tables_have_one_schema(tmp_path: Path) -> None:
    a, b = {"x": [1, 2], "k": ["u", "v"]}, {"k": ["t"], "x": [0.5], "other": [1]}
    pd.DataFrame(b).to_parquet(tmp_path / "b.parquet")
    for second in (b, tmp_path / "b.parquet"):
        schema = infer_schema([a, None, second])
        assert {name: schema.column_specs[name].domain for name in schema} == {
            "x": Decimals("0.5", 2, 1),
            "k": Categories(["t", "u", "v"]),
        }


@pytest.mark.parametrize(
    ("data", "columns", "error", "what"),
    [
        ({"x": [1.0, None, 3.0, None]}, None, OutsideDomain, "column 'x': row 1 is missing (2 of 4 rows"),
        ({"x": np.array([1.0, 2.0, np.nan])}, None, OutsideDomain, "row 2 is missing (1 of 3 rows"),
        ({"x": ["a", None]}, None, OutsideDomain, "row 1 is missing"),
        ({"x": [None, None]}, None, OutsideDomain, "row 0 is missing (2 of 2 rows"),
        ({"x": [1.0, float("inf")]}, None, OutsideDomain, "row 1 is infinite"),
        ({"x": pd.to_datetime(["2020-01-01"])}, None, InvalidParameter, "neither numbers nor labels"),
        ({"x": [[1], [2]]}, None, InvalidParameter, "neither numbers nor labels"),
        ({"x": [1e30, 1.0]}, None, InvalidParameter, "the limit is"),
        ({"x": [1.1e-30, 1.0e-31]}, None, InvalidParameter, "too small"),
        ({"x": []}, None, (EmptySource, OutsideDomain), "no rows"),
        ([], None, EmptySource, "no table"),
        ({"age": [1, 2]}, ["Age"], MissingColumn, "no column 'Age'"),
        ([{"age": [1]}, {"age": ["x"]}], None, InvalidParameter, "party 2: column 'age' holds text"),
        ([{"age": [1]}, {"age": [True]}], None, InvalidParameter, "party 2: column 'age' holds booleans"),
        ([{"age": [1]}, {"aeg": [1]}], None, MissingColumn, "party 2:"),
        ([{"age": [1]}, {"age": [None]}], None, OutsideDomain, "party 2: column 'age': row 0 is missing"),
    ],
)
def test_refused(data: Any, columns: list[str] | None, error: Any, what: str) -> None:
    with pytest.raises(error) as caught:
        infer_schema(data, columns)
    assert what in str(caught.value) and caught.value.hint


def test_too_many_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_profile, "MAX_INFERRED_LABELS", 9)
    with pytest.raises(InvalidParameter, match="more than 9 different labels"):
        infer_schema({"x": [f"p{i}" for i in range(10)]})


def test_a_file_is_never_held_whole(tmp_path: Path) -> None:
    rows, file = 1 << 18, tmp_path / "t.parquet"
    values = np.sin(np.arange(rows))
    with pq.ParquetWriter(file, pa.schema([("x", pa.float64()), ("y", pa.float64())])) as writer:
        for _ in range(8):
            writer.write_table(pa.table({"x": values, "y": np.round(values, 3)}))
    pool = pa.default_memory_pool()
    pool.release_unused()
    before, most = pool.bytes_allocated(), 0
    tracemalloc.start()
    real = column_profile.ColumnProfile.update

    def see(self: Any, column: Any) -> None:
        nonlocal most
        most = max(most, pool.bytes_allocated() - before)
        real(self, column)

    column_profile.ColumnProfile.update = see  # type: ignore[method-assign]
    try:
        schema = infer_schema(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        column_profile.ColumnProfile.update = real  # type: ignore[method-assign]
        tracemalloc.stop()
    whole = 8 * rows * 2 * 8
    assert 0 < most < whole / 2 and peak < whole / 2
    assert schema.column_specs["y"].domain == Decimals(-1, 1, 3)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_number_leaves_room_for_its_neighbour_below_the_limit(sign: int) -> None:
    """Ten to the 18th is the limit of decimals: a constant may be 2 away from it, since it gets a value above it."""
    most = Decimal(10**18 - 2)
    domain = column_profile.number_domain("x", *sorted((sign * most, sign * most)), places=0)

    assert isinstance(domain, Decimals) and domain.encode([int(sign * most)]).tolist() == [0]
    for beyond in (most + 1, most + 2, most + 3):
        with pytest.raises(InvalidParameter, match=r"column 'x' holds numbers up to .* the limit is 1e\+18"):
            column_profile.number_domain("x", sign * beyond, sign * beyond, places=0)


def test_the_callers_context_of_decimals_does_not_matter() -> None:
    with decimal.localcontext(prec=3):
        assert infer_schema({"x": [1234.5678, 2.0]}).column_specs["x"].domain == Decimals(2, "1234.5678", 4)
