"""Codes from the compiled kernel are those of the domain, for any column; what is special is left to the domain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from murmure.core.domain import Interval
from murmure.core.errors import OutsideDomain
from murmure.laws import kernel_loader, number_codes
from murmure.laws.number_codes import codes_of

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
