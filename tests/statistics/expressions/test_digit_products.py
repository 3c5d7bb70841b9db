"""Products of digits are exact in NumPy and in compiled kernels, and floats reach the grid as their domain says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.core.cells.test_parsed_decimals import near_middles

import murmure as mu
from murmure.core.cells import meaning
from murmure.core.cells.gridded_floats import GriddedFloats, gridded_floats
from murmure.core.cells.parsed_decimals import codes_within
from murmure.core.errors import OutsideDomain
from murmure.engines.sources.table_reader import gathered
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.exact.function_sums import FunctionSums
from murmure.statistics.expressions import digit_products, gridded_steps
from murmure.statistics.expressions.digit_products import BITS, CompiledDigitProducts, DigitProducts
from murmure.statistics.expressions.gridded_steps import steps_of

pa = pytest.importorskip("pyarrow", reason="floats come in Arrow's batches")
pq = pytest.importorskip("pyarrow.parquet")

BOUNDS = [1, (1 << BITS) - 1, 1 << BITS, 1 << 44, 5 * 10**13, (1 << 61) + 5]
LONG = mu.Decimals(-1000, 1000, 15, rounding="nearest")
SHORT = mu.Decimals(-8, 8, 12, rounding="nearest")


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    pytest.importorskip("numba", reason="compiled kernels need it")
    from murmure.statistics.expressions import digit_kernels

    return digit_kernels


def products(kernels: ModuleType | None, bounds: list[int], block: int) -> DigitProducts:
    return DigitProducts(bounds, block) if kernels is None else CompiledDigitProducts(bounds, block, kernels)


def sums_of(asked: DigitProducts, values: list[Any], block: int) -> dict[tuple[int, int], int]:
    for a in range(0, len(values[0]), block):
        for i, v in enumerate(values):
            asked.put(i, v[a : a + block])
        asked.add(len(values[0][a : a + block]))
    pairs = [(i, j) for i in range(len(values)) for j in range(len(values))]
    return asked.joined(pairs)


def exact(values: list[Any]) -> dict[tuple[int, int], int]:
    columns = [v.tolist() for v in values]
    return {
        (i, j): sum(a * b for a, b in zip(x, y, strict=True))
        for i, x in enumerate(columns)
        for j, y in enumerate(columns)
    }


@pytest.mark.parametrize("rows", [1, 255, 511, 512, 513, 2048, 2049])
@pytest.mark.parametrize("compiled", [False, True])
def test_they_are_those_of_whole_numbers(rows: int, compiled: bool, request: pytest.FixtureRequest) -> None:
    """The largest digits of both signs, where sums come close to 2**53, and numbers drawn between the bounds."""
    which = request.getfixturevalue("kernels") if compiled else None
    rng = np.random.default_rng(rows)
    drawn = [rng.integers(-bound, bound, rows, endpoint=True) for bound in BOUNDS]
    for sign in (0, 1, -1):
        values = drawn if not sign else [np.full(rows, sign * bound) for bound in BOUNDS]

        assert sums_of(products(which, BOUNDS, 2048), values, 2048) == exact(values)


def test_kernels_add_what_numpy_adds(kernels: ModuleType) -> None:
    """Over several blocks and a last one that is shorter, with one line and with many."""
    rng = np.random.default_rng(3)
    for bounds in ([7], [1 << 40] * 2, [1 << 55] * 9):
        values = [rng.integers(-bound, bound, 1900, endpoint=True) for bound in bounds]

        assert sums_of(products(kernels, bounds, 700), values, 700) == sums_of(products(None, bounds, 700), values, 700)


def test_room_is_made_in_time(kernels: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products that int64 could not hold go to Python's integers before: many rows at the bound, flushed or not."""
    v = [np.full(3000, (1 << BITS) - 1)]
    monkeypatch.setattr(digit_products, "FLUSH", 1000)
    for which in (kernels, None):
        asked = products(which, [(1 << BITS) - 1], 1000)

        assert sums_of(asked, v, 1000) == {(0, 0): 3000 * ((1 << BITS) - 1) ** 2}
        assert digit_products.FLUSH * (1 << 2 * BITS) < 1 << 63 and asked.rows == 0
    assert (1 << 18) * (1 << 2 * BITS) == 1 << 62  # what FLUSH is when nobody changes it


def grid(kernels: ModuleType, domain: mu.Decimals, x: Any, add: int) -> Any:
    found = steps_of(GriddedFloats(domain, x), add, kernels)
    assert found.tolist() == steps_of(GriddedFloats(domain, x), add, None).tolist()
    return found


@pytest.mark.parametrize("places", [0, 1, 3, 6, 9, 12])
def test_steps_next_to_a_middle_are_read_to_fifteen_digits(kernels: ModuleType, places: int) -> None:
    """As the domain reads them, also where only text decides."""
    seen = 0
    for size in (3e-9, 1e-3, 0.9, 7.99, 99.0):
        domain = mu.Decimals(-100, 100, places, rounding="nearest")
        x = near_middles(places, size)
        x = x[np.abs(x) <= 100]
        seen += len(x)

        assert (
            grid(kernels, domain, x, domain.first - 5).tolist()
            == (codes_within(domain, x) + 2 * domain.first - 5).tolist()
        )
    assert seen > 500


def test_steps_of_long_domains_stay_within_their_bounds(kernels: ModuleType) -> None:
    """A float at the bound may be rounded past it: 10**18 steps are more than floats count."""
    rng = np.random.default_rng(5)
    for domain in (LONG, mu.Decimals("-4.502222241099144", "4.8302916137785721", 16, rounding="nearest")):
        low, high = float(domain.low), float(domain.high)
        x = np.concatenate([rng.uniform(low, high, 5000), [low, high, 0.0, -0.0, np.nextafter(low, 0), 1e-300]])
        found = grid(kernels, domain, x, 0)

        assert (found - domain.first).tolist() == codes_within(domain, x).tolist() == domain.encode(x).tolist()


SCHEMA = mu.Schema({"x": SHORT, "y": LONG, "k": mu.Integers(0, 9), "ward": mu.Categories(["A", "B"])})
FACTORS = ("1", "x", "y", "k", "(ward == 'B')", "x * k", "(ward == 'B') * y")


def batch(n: int = 9000) -> Any:
    rng = np.random.default_rng(11)
    x = np.where(
        rng.random(n) < 0.3, (2 * rng.integers(-(10**6), 10**6, n) + 1) * 0.5e-12, rng.normal(size=n).clip(-8, 8)
    )
    columns = {"x": x, "y": rng.normal(0, 200, n).clip(-1000, 1000), "k": rng.integers(0, 10, n)}
    return pa.RecordBatch.from_pydict(columns | {"ward": ["A", "B", "B"] * (n // 3)})


@pytest.mark.parametrize("compiled", [False, True])
def test_columns_that_stay_floats_give_the_same_sums(compiled: bool, request: pytest.FixtureRequest) -> None:
    """Factors that are columns, and those that are made of them; lifted, sliced, and as codes."""
    if compiled:
        request.getfixturevalue("kernels")
    else:
        request.getfixturevalue("monkeypatch").setattr(gridded_steps, "available", lambda: False)
    asked = CrossProducts(SCHEMA, FACTORS)
    x, codes = asked.encode(batch()), SCHEMA.encode(batch())

    assert [isinstance(column, GriddedFloats) for column in x] == [True, True, False, False]
    for ours, theirs in zip(x, codes, strict=True):
        np.testing.assert_array_equal(np.asarray(ours), theirs)
        np.testing.assert_array_equal(np.asarray(ours[7:99:3]), theirs[7:99:3])
    assert asked.tally(x).tolist() == asked.tally(codes).tolist() == asked.lift(x).sum(axis=0).tolist()


@pytest.mark.parametrize("compiled", [False, True])
def test_functions_of_rows_get_the_same_floats(compiled: bool, request: pytest.FixtureRequest) -> None:
    """Of columns that stayed floats and of their codes, to the last bit, in blocks and in what is left of one."""
    if compiled:
        request.getfixturevalue("kernels")
    else:
        request.getfixturevalue("monkeypatch").setattr(gridded_steps, "available", lambda: False)
    asked = FunctionSums(
        SCHEMA, "residuals", ("y", "1", "x", "x * k", "(ward == 'B') * y"), ("2", "1", "1/3", "0"), ("scores",)
    )
    x, codes = asked.encode(batch()), SCHEMA.encode(batch())

    assert any(isinstance(column, GriddedFloats) for column in x)
    assert asked.columns_of(x).tobytes() == asked.columns_of(codes).tobytes()
    assert asked.tally(x).tolist() == asked.tally(codes).tolist()


def test_rows_that_may_be_refused_are_encoded_at_once() -> None:
    """A number outside, one that is missing, and any other type: codes or errors are those of the schema."""
    schema = mu.Schema({"x": SHORT})
    doubles = pa.array([1.5, -2.25, 8.0])

    assert gridded_floats(schema["x"], doubles) is not None
    for other in (
        pa.array([1.5, 8.001]),
        pa.array([1.5, float("nan")]),
        pa.array([1.5, None]),
        pa.array([1.5, float("-inf")]),
        pa.array([], pa.float64()),
        pa.array([1.5], pa.float32()),
        pa.array([1]),
        pa.array(["1.5"]),
        pa.chunked_array([doubles, doubles]),
        np.array([1.5]),
        [1.5],
    ):
        assert gridded_floats(schema["x"], other) is None
        found = []
        for encode in (schema.encode, schema.encode_in_blocks, CrossProducts(schema, ("1", "x")).encode):
            try:
                found.append(np.asarray(encode({"x": other})[0]).tolist())
            except OutsideDomain as error:
                found.append(str(error))
        assert found[0] == found[1] == found[2]
    for domain in (
        mu.Decimals(-8, 8, 12),  # which refuses numbers with more decimals
        mu.Interval(-8, 8, cells=16),
        mu.Decimals(-8, 8, 12, rounding="nearest", outside="drop"),
    ):
        assert isinstance(mu.Schema({"x": domain}).encode_in_blocks({"x": doubles})[0], np.ndarray)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(mu.MurmureError, match="different lengths"):
        SCHEMA.with_columns({"x": SHORT, "y": LONG}).encode_in_blocks({"x": pa.array([1.0]), "y": pa.array([1.0, 2.0])})


def test_stored_pieces_hold_the_same_rows_in_order() -> None:
    """Large batches are cut, small ones put together, and none that is large enough is copied."""
    rows = np.arange(5000)
    ends = [0, 3, 10, 400, 1800, 1801, 2900, 2930, 5000]
    stored = [pa.RecordBatch.from_pydict({"x": rows[a:b]}) for a, b in pairwise(ends)]
    found = list(gathered(iter(stored), 1000))

    assert [len(piece) for piece in found] == [10, 390, 1000, 400, 1, 1000, 129, 1000, 1000, 70]
    assert np.concatenate([np.asarray(piece["x"]) for piece in found]).tolist() == rows.tolist()
    assert found[1]["x"].buffers()[1].address == stored[2]["x"].buffers()[1].address
    assert list(gathered(iter([]), 1000)) == []
    with_gaps = [stored[0].slice(0, 0), stored[0], stored[0].slice(0, 0)]
    assert [len(piece) for piece in gathered(iter(with_gaps), 1000)] == [3]


def test_sums_of_a_folder_do_not_depend_on_where_its_files_end(tmp_path: Path) -> None:
    """Three files of one size, or of three: one answer, and a refusal that names the same row."""
    rows, found = batch(), []
    first = int(np.argmax(np.abs(np.asarray(rows["x"])) > 2))
    for name, ends in {"even": (0, 3000, 6000, 9000), "uneven": (0, 5, 8990, 9000)}.items():
        (tmp_path / name).mkdir()
        for i, (a, b) in enumerate(pairwise(ends)):
            pq.write_table(pa.table(rows.slice(a, b - a)), tmp_path / name / f"{i}.parquet")
        found.append(mu.run(mu.Plan(CrossProducts(SCHEMA, FACTORS)), tmp_path / name).estimate.matrix)
        narrow = SCHEMA.with_columns({"x": mu.Decimals(-2, 2, 12, rounding="nearest")})
        with pytest.raises(OutsideDomain, match=f"row {first} ") as refused:
            mu.run(mu.Plan(CrossProducts(narrow, ("1", "x"))), tmp_path / name)
        assert "wanted a number from -2 to 2" in str(refused.value)

    assert found[0] == found[1]


def test_few_numbers_are_rounded_as_many_are() -> None:
    """One by one, or all at once: to 15 digits, to the last bit."""
    rng = np.random.default_rng(1)
    odd = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.7e308]
    x = np.concatenate([rng.normal(size=900) * 10.0 ** rng.integers(-20, 20, 900), rng.integers(-5, 5, 90) / 10, odd])
    few = [meaning.rounded_all(x[a : a + 7]) for a in range(0, len(x), 7)]

    assert np.concatenate(few).tobytes() == meaning.rounded_all(x).tobytes()
