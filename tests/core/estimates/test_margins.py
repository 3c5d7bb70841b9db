"""Margins before anybody is asked, against the variances of every share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.listing import listed

from murmure.core.estimates.margins import margin_of, people_for, worst_variance
from murmure.local.base.randomisers import FrequencyOracle

ORACLES = [
    pytest.param(example, id=name) for name, example in listed("murmure.local") if isinstance(example, FrequencyOracle)
]


@pytest.mark.parametrize("oracle", ORACLES)
def test_no_share_varies_more_than_the_worst(oracle: Any) -> None:
    """All shares tried one by one: for these people, and for others from whom they are drawn."""
    k, grid = oracle.domain.size, np.linspace(0, 1, 1001)
    each = np.array([oracle.variance(np.full(k, f), 1) for f in grid])

    assert each.max() == pytest.approx(worst_variance(oracle.variance, k), rel=1e-12)
    drawn = each + (grid * (1 - grid))[:, None]
    assert drawn.max() == pytest.approx(worst_variance(oracle.variance, k, "superpopulation"), rel=1e-6)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_fewest_people_whose_margin_is_small_enough(level: float) -> None:
    for variance, wanted in ((0.25, 0.03), (7.1, 0.01), (1e-9, 0.4)):
        n = people_for(wanted, variance, level)

        assert margin_of(variance / n, level) <= wanted
        assert n == 1 or margin_of(variance / (n - 1), level) > wanted
