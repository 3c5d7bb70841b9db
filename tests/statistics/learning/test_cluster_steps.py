"""What follows from the noisy sums of a step of k-means: means of the clusters, and where an empty one goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter
from murmure.statistics.learning.cluster_moves import ClusterMoves
from murmure.statistics.learning.clusters import ClustersEstimate

BEFORE = np.array([[0.5, 0.5], [-0.5, 0.25], [1.0, -1.0]])
LARGEST = 1


def estimate(counts: list[float], floor: float) -> ClustersEstimate:
    """Everybody in cluster i lies at (i / 4, -i / 4)."""
    n = np.array(counts, float)
    at = np.arange(len(n))[:, None] * [0.25, -0.25]
    return ClustersEstimate(n, n[:, None] * at, floor, [])


@pytest.mark.parametrize("counts", [[-3, 400, 20], [0, 400, 6], [9.9, 11, -40], [4, 10, 10]])
def test_a_centre_near_nobody_stops_between_where_it_was_and_the_largest_cluster(counts: list[float]) -> None:
    """Four fifths of the way, in every coordinate; where somebody is, it is at their mean, exactly."""
    found = estimate(counts, floor=10.0)
    after = found.centres(BEFORE, last=False)

    mean = np.array([0.25, -0.25]) * LARGEST
    for i, count in enumerate(counts):
        if count >= 10:
            assert after[i] == pytest.approx([i / 4, -i / 4])
            continue
        assert after[i] - mean == pytest.approx((BEFORE[i] - mean) / 5)
    assert np.abs(after).max() <= 1


def test_after_the_last_step_a_centre_near_nobody_stays() -> None:
    """Nobody would look for rows near it any more."""
    after = estimate([9.9, 11, -40], floor=10.0).centres(BEFORE)

    assert after.tolist() == [BEFORE[0].tolist(), [0.25, -0.25], BEFORE[2].tolist()]


def test_where_all_are_empty_all_stay() -> None:
    """No cluster is large enough to go to."""
    for last in (False, True):
        assert (estimate([9.9, 3, -40], floor=10.0).centres(BEFORE, last) == BEFORE).all()


def test_centres_stay_in_the_box_whatever_noise_says() -> None:
    """Sums may be larger than the count allows, and counts below zero."""
    sums = np.array([[1e9, -1e9], [-50.0, 3.0], [7.0, 7.0]])
    for last in (False, True):
        after = ClustersEstimate(np.array([12.0, 10.0, -5.0]), sums, 10.0, []).centres(BEFORE, last)

        assert np.abs(after).max() <= 1
        assert after[0].tolist() == [1.0, -1.0] and after[1] == pytest.approx([-1.0, 0.3])


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("reach", [0, -1, 1.5, True, "3", None, 1 << 45])
def test_a_reach_is_a_whole_number_that_floats_tell_well(norm: Any, reach: Any) -> None:
    """From 1 to 2**44, or to 2**24 where lengths are squared."""
    schema, most = mu.Schema({"x": mu.Integers(0, 9), "y": mu.Integers(0, 9)}), 1 << (44 if norm == "l1" else 24)
    with pytest.raises(InvalidParameter, match=rf"ClusterMoves\.reach must be a whole number from 1 to {most}, got"):
        ClusterMoves(schema, ((0, 0), (9, 9)), reach, norm=norm)

    assert [ClusterMoves(schema, ((0, 0), (9, 9)), good, norm=norm).reach for good in (1, most)] == [1, most]
