"""Figures of attacks: an interval where repetitions differ, none where they tell nothing about how much they vary."""

from __future__ import annotations

import pytest

from murmure.attacks.base.success import repeated, repeated_share


@pytest.mark.parametrize("make", [repeated, repeated_share])
def test_equal_repetitions_give_no_interval(make: object) -> None:
    row = make("a", [1.0, 1.0, 1.0], 0.5)  # type: ignore[operator]

    assert (row.value, row.low, row.high, row.repetitions, row.all_equal) == (1.0, None, None, 3, True)
    assert row.to_dict()["all_equal"] is True


def test_differing_repetitions_give_students_interval() -> None:
    """Of 0.2, 0.4, 0.6: t = 4.3027 with two degrees of freedom, standard error 0.2 / sqrt(3)."""
    row = repeated("a", [0.2, 0.4, 0.6], 0.1)

    assert row.low == pytest.approx(0.4 - 4.3027 * 0.2 / 3**0.5, abs=1e-4)
    assert not row.all_equal and "all_equal" not in row.to_dict()
    assert repeated_share("a", [0.2, 0.4, 0.6], 0.1).low == 0.0
