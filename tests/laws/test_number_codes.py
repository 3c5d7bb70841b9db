"""Codes from the compiled kernel are those of the domain, for any column; what is special is left to the domain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from murmure.core.cells.lenient_encoding import encode_schema_lenient
from murmure.core.column import Column
from murmure.core.domain import Categories, Interval
from murmure.core.errors import OutsideDomain
from murmure.core.schema import Schema
from murmure.laws import kernel_loader, number_codes
from murmure.laws.number_codes import codes_of, lenient_codes_of

kernels = pytest.importorskip("murmure.laws.kernels", reason="needs numba")

DOMAINS = [
    Interval(0.0, 1.0),
    Interval(-5.0, 5.0, cells=1024),
    Interval(18.0, 99.0, cells=81),
    Interval(-1e-3, 7.0, cells=2),
    Interval(1e9, 1e9 + 1, cells=65536),
]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every column goes to the kernel first; the list says who had the last word."""
    last: list[str] = []

    class Watched:
        @staticmethod
        def interval_codes(*columns: Any) -> int:
            odd = int(kernels.interval_codes(*columns))
            last.append("domain" if odd else "kernel")
            return odd

    monkeypatch.setattr(number_codes, "kernels_for_pieces", lambda n: Watched)
    return last


def numbers_within(domain: Interval, n: int) -> Any:
    return np.random.default_rng(3).uniform(domain.low, domain.high, n)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_the_codes_are_those_of_the_domain(domain: Interval, counted: list[str]) -> None:
    """Contiguous, strided and backwards; of all these numbers none is next to an edge."""
    table = numbers_within(domain, 6000).reshape(1000, 6)
    for column in (table[:, 2], np.ascontiguousarray(table[:, 3]), table[::-1, 4], table[:0, 0]):
        codes, expected = codes_of(domain, column), domain.encode(column)

        assert np.array_equal(codes, expected) and codes.dtype == expected.dtype
    if domain.low < 1e9:  # where floats are as coarse as that, many are next to an edge
        assert counted == ["kernel"] * 4


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_numbers_at_the_edges_are_left_to_the_domain(domain: Interval, counted: list[str]) -> None:
    """Edges of all cells, the floats around them, and both bounds: the same codes."""
    edges = domain.low + domain.step * np.arange(domain.cells + 1)
    around = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
    around = around[(around >= domain.low) & (around <= domain.high)]

    assert np.array_equal(codes_of(domain, around), domain.encode(around))
    for bound in (domain.low, domain.high):
        assert codes_of(domain, np.array([bound])).tolist() == domain.encode([bound]).tolist()


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1.0 + 1e-9, -1e-9])
def test_what_the_domain_refuses_is_refused(odd: float, counted: list[str]) -> None:
    """With the words of the domain, and moved or dropped where the domain says so."""
    column = np.append(numbers_within(Interval(0.0, 1.0), 50), odd)
    with pytest.raises(OutsideDomain) as expected:
        Interval(0.0, 1.0).encode(column)
    with pytest.raises(OutsideDomain) as refused:
        codes_of(Interval(0.0, 1.0), column)
    dropping = Interval(0.0, 1.0, outside="drop", absent=0.5)

    assert str(refused.value) == str(expected.value)
    assert np.array_equal(codes_of(dropping, column), dropping.encode(column))
    assert counted == ["domain"] * 2


@pytest.mark.parametrize("column", [[0.5, 0.25], np.array([0.5], np.float32), np.ma.array([0.5, 0.1]), np.array([0])])
def test_other_columns_never_reach_the_kernel(column: Any, counted: list[str]) -> None:
    """Lists, other types and masks: the domain reads them."""
    domain = Interval(0.0, 1.0)

    assert np.array_equal(codes_of(domain, column), domain.encode(column))
    assert counted == []


def test_small_pieces_load_a_kernel_once_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below SMALL rows in all there is none; the piece that passes it gets one, and so does every one after it."""
    monkeypatch.setattr(kernel_loader, "_small_pieces", 0)
    monkeypatch.setattr(kernel_loader, "available", lambda: True)
    piece = kernel_loader.SMALL // 4
    loaded = [kernel_loader.kernels_for_pieces(piece) is not None for _ in range(6)]

    assert loaded == [False, False, False, True, True, True]


SPECIAL = [np.nan, np.inf, -np.inf, -5.0, 5.0, np.nextafter(5.0, 6.0), -7.5, 0.0, 10 / 1024 * 3 - 5, 1e300]


@pytest.mark.parametrize("special", [[], *([value] for value in SPECIAL), SPECIAL], ids=repr)
@pytest.mark.parametrize("order", ["rows", "columns", "apart", "backwards", "Arrow"])
def test_lenient_codes_are_those_of_the_domains(order: str, special: list[float]) -> None:
    """However a table lies in memory, and whatever a few of its cells hold; nobody, where a number is missing."""
    schema = Schema(
        {
            "a": Interval(-5.0, 5.0),
            "b": Interval(-5.0, 5.0, cells=40_000),
            "c": Column(Interval(-5.0, 5.0, cells=100), missing="constant", missing_value=0.0),
            "d": Interval(-5.0, 5.0, outside="drop"),
            "y": Categories(3),
        }
    )
    n = kernel_loader.SMALL + 300
    table = np.random.default_rng(3).normal(size=(n, 4)) * 2
    for j in range(4):
        table[100 * j : 100 * j + len(special), j] = special
    table = {"columns": np.asfortranarray(table), "backwards": table[::-1, ::-1]}.get(order, table)
    columns: dict[str, Any] = dict(zip("abcd", table.T, strict=True)) | {"y": np.arange(n) % 4}
    if order == "apart":
        columns = {name: np.ascontiguousarray(values) for name, values in columns.items()}
    if order == "Arrow":
        pa = pytest.importorskip("pyarrow")
        columns = pa.record_batch({name: np.ascontiguousarray(values) for name, values in columns.items()})
    found, expected = lenient_codes_of(schema, columns), encode_schema_lenient(schema, columns)

    for codes, wanted in zip(found, expected, strict=True):
        assert np.array_equal(codes, wanted)


def test_a_table_that_lies_in_rows_is_read_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its columns are views of one array; what lies elsewhere, or with a gap, is read column by column."""
    names: list[str] = []

    class Watched:
        def __getattr__(self, name: str) -> Any:
            names.append(name)
            return getattr(kernels, name)

    monkeypatch.setattr(number_codes, "kernels_for_pieces", lambda n: Watched())
    table, y = np.split(np.random.default_rng(3).uniform(-5.0, 5.0, (1000, 5)), [4], axis=1)
    table, y = table.copy(), y[:, 0].copy()
    for taken, read in (
        (table.T, ["matrix_codes"]),
        (table[::2].T, ["matrix_codes"]),
        (table[:, 1:].T, ["matrix_codes"]),
        (table[:, ::2].T, ["interval_codes"] * 2),
        (np.asfortranarray(table).T, ["interval_codes"] * 4),
        (table[:, :1].T, ["interval_codes"]),
        ([*table.T, y], ["matrix_codes", "interval_codes"]),  # rows and answers
        ([y, *table.T], ["interval_codes", "matrix_codes"]),
        ([*table[:, :2].T, y, *table[:, 2:].T], ["matrix_codes", "interval_codes", "matrix_codes"]),
        (table.T[::-1], ["interval_codes"] * 4),
    ):
        schema = Schema({f"x{j}": Interval(-5.0, 5.0) for j in range(len(taken))})
        names.clear()
        columns = dict(zip(schema, taken, strict=True))

        assert all(map(np.array_equal, lenient_codes_of(schema, columns), encode_schema_lenient(schema, columns)))
        assert names == read
