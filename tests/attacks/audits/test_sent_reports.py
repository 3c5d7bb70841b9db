"""Reports as sent: type, order and length tell reports apart, and the batch that a report came in does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from murmure.attacks.audits.features import screened
from murmure.attacks.audits.sent_reports import (
    ABSENT,
    FORM,
    NoReport,
    SentReports,
    joined,
    sent_array,
    sent_lines,
    sent_objects,
)

DIFFERENT: tuple[tuple[Any, Any], ...] = (
    (1, True),
    (1, 1.0),
    (1, "1"),
    ("1", b"1"),
    ([1, 2], [2, 1]),
    ([1, 2], (1, 2)),
    ([1], [1, 1]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (np.array([1], np.int8), np.array([1], np.int64)),
    (np.zeros((1, 2)), np.zeros((2, 1))),
    (None, 0),
    (NoReport("ValueError"), NoReport("TypeError")),
    (0.1 + 0.2, 0.3),
    (2**60, 2**60 + 1),
)


def _identity(sent: SentReports) -> list[tuple[int, int]]:
    return list(zip(sent.whole.tolist(), sent.column(FORM).tolist(), strict=True))


@pytest.mark.parametrize("one, other", DIFFERENT)
def test_what_is_sent_differently_is_different(one: Any, other: Any) -> None:
    first, second = _identity(sent_objects([one, other]))
    assert first != second


@pytest.mark.parametrize("report", [1, True, 2.5, "yes", b"\x00", [3, 1], (1, 2.0), {"a": [1]}, np.arange(3), None])
def test_a_report_is_the_same_in_every_batch(report: Any) -> None:
    """Or x and x' would differ by what else was in their batch."""
    alone = _identity(sent_objects([report]))[0]
    for company in ([1, 2, 3, 4, 5], NoReport("timed out"), 7, "text"):
        assert _identity(sent_objects([report, company]))[0] == alone
    many = joined([sent_objects([report]), sent_objects([[9] * 6])])
    assert _identity(many)[0] == alone


@pytest.mark.parametrize("flipped", [0, 1])
def test_the_element_that_is_kept_is_the_one_whose_bit_tells_most(flipped: int) -> None:
    """0 in one of 20 reports about x alone, against 50 % and 60 %: squared differences over p (1 - p) of 0.1 and 0.04.

    The other bits are random, so no value comes twice. A bit that is rarely 1 tells as much as one that is rarely 0.
    """
    n, rng = 20_000, np.random.default_rng(5)
    source = np.arange(2 * n) < n
    rare = (rng.random(2 * n) >= np.where(source, 0.05, 0.0)).astype(np.int64) ^ flipped
    even = (rng.random(2 * n) < np.where(source, 0.5, 0.6)).astype(np.int64)
    noise = rng.integers(0, 2**61, (2 * n, 2)) << 1
    for place in (0, 1):
        elements = [even, rare] if place else [rare, even]
        kept = screened(sent_array(noise | np.stack(elements, axis=1)), source, 1)

        assert [key for key in kept.columns if key[0] == "position"] == [("position", place)]


def test_arrays_and_lines() -> None:
    array = sent_array(np.array([[1, 2], [1, 3]], np.uint16))
    assert array.column(("position", 1)).tolist() == [2, 3]
    assert array.column(("position", 2)).tolist() == [ABSENT, ABSENT]
    lines = sent_lines(['{"a": 1}', '{"a":1}', "[2]"])
    assert len(set(lines.column(("line",)).tolist())) == 3  # a blank is sent too
    assert lines.column(("position", 0)).tolist() == [1, 1, 2]
