"""GRR of a real device: exact fractions in, the same law, and older plans as they were."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter


def test_of_two_answers_it_is_warner() -> None:
    """With a fair second coin; the two round 2**-64 in different ways."""
    domain, truth = mu.Categories(2), Fraction(2, 3)
    grr, warner = mu.GRR(domain, truth=truth), mu.Warner(domain, truth=truth)

    for x in range(2):
        for y in range(2):
            assert abs(grr.channel.prob(x, y) - warner.channel.prob(x, y)) <= Fraction(1, 2**64)
    assert np.allclose(grr.variance([0.3, 0.7], 100), warner.variance(np.array([0.3, 0.7]), 100))


def test_it_certifies_no_less_than_the_fractions() -> None:
    """Lies are rounded down, so the ratio in integers is at least the exact one: 1 + k t / (1 - t)."""
    for k, truth in ((3, Fraction(1, 7)), (5, Fraction(9, 13)), (20, Fraction(1, 3))):
        channel = mu.GRR(mu.Categories(k), truth=truth).channel

        assert channel.prob(0, 0) / channel.prob(0, 1) >= 1 + k * truth / (1 - truth)


def test_plans() -> None:
    """A device's fraction is in the plan as it is; a plan with an epsilon says nothing of it."""
    domain = mu.Categories(3)
    device = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, truth=Fraction(1, 3)))
    usual = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 1.0))

    assert json.loads(device.to_json())["person"]["truth"] == "1/3"
    assert mu.Plan.from_json(device.to_json()) == device
    assert "truth" not in json.loads(usual.to_json())["person"]


@pytest.mark.parametrize("given", [{}, {"epsilon": 1.0, "truth": 0.5}])
def test_one_of_both(given: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter, match="either an epsilon or a probability of the truth"):
        mu.GRR(mu.Categories(3), **given)


@pytest.mark.parametrize("truth", [0, 1, -0.5, 2, float("nan"), "1/2", True])
def test_truths_that_are_refused(truth: float) -> None:
    with pytest.raises(InvalidParameter, match=r"GRR\.truth must lie strictly between 0 and 1"):
        mu.GRR(mu.Categories(3), truth=truth)


def test_a_truth_that_integers_cannot_hold() -> None:
    with pytest.raises(InvalidParameter, match="too small for 3 values"):
        mu.GRR(mu.Categories(3), truth=Fraction(1, 2**25))
