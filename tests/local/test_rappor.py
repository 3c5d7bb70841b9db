"""Reports over time: what a client keeps, how many values it admits, and what that costs."""

from __future__ import annotations

import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter, PlanRefused

M = mu.RAPPOR(mu.Categories(["left", "right", "none"]), 2.0, 1.0)
KEY = bytes(range(32))


def test_the_second_certificate_grows_with_the_values_that_a_person_may_hold() -> None:
    """One report: epsilon_once. For ever: the permanent epsilon times the declared number of values."""
    once, one, three = mu.certify(M), mu.certify(M.for_ever), mu.certify(M.over_time(3))

    assert 1 - 1e-6 <= once.epsilon <= 1
    assert 2 - 1e-6 <= one.epsilon <= 2
    assert 6 - 3e-6 <= three.epsilon <= 6 == three.asked
    assert "never changes" in one.assumption  # type: ignore[operator]
    assert "3 distinct values" in three.assumption and "taken for public" in three.assumption  # type: ignore[operator]


def test_few_reports_cost_what_they_cost_one_by_one() -> None:
    """Two reports cannot cost more than two fresh ones, however many values are declared."""
    assert mu.certify(M.over_time(3), reports=2).epsilon == pytest.approx(2.0, abs=1e-5)


def test_a_client_refuses_the_value_that_was_not_declared() -> None:
    """Two values, as often as one likes; the third is refused before anything is drawn."""
    client = M.client(KEY, "vote", values=2)
    for value in ("left", "right", "left", "left", "right"):
        client.report(value)

    with pytest.raises(PlanRefused, match="2 distinct values, the declared maximum"):
        client.report("none")
    assert client.seen == [0, 1]


def test_the_next_session_goes_on_where_the_last_one_stopped() -> None:
    """`seen` travels with the key; the kept bits are the same and the count goes on."""
    first = M.client(KEY, "vote", values=2)
    first.report("right")
    second = M.client(KEY, "vote", values=2, seen=first.seen)

    assert (second.kept("right") == first.kept("right")).all()
    second.report("none")
    with pytest.raises(PlanRefused):
        second.report("left")


def test_what_a_client_has_seen_never_stands_in_its_repr() -> None:
    client = M.client(KEY, "vote", values=3)
    client.report("right")

    assert "1" not in repr(client).replace("epsilon_once=1.0", "") and "seen" not in repr(client)


@pytest.mark.parametrize("values", [0, -1, True, 1.5, "2", None])
def test_bad_numbers_of_values_are_refused(values: object) -> None:
    with pytest.raises(InvalidParameter, match="distinct values over time"):
        M.over_time(values)  # type: ignore[arg-type]


@pytest.mark.parametrize("seen", [[0, 1, 2], [3], [-1]])
def test_a_session_cannot_start_beyond_its_bound(seen: list[int]) -> None:
    with pytest.raises(InvalidParameter, match="seen"):
        M.client(KEY, "vote", values=2, seen=seen)
