"""Intervals contain their estimate, as far as it is possible at all; a higher level and a wider target widen them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.frozen.figures import questions_of
from tests.listing import listed
from tests.properties.drawn_rows import few, rows_for, seeds, sizes

import murmure as mu
from murmure.core.errors import NoUnbiasedEstimate
from murmure.core.types import Floats

LEVELS = (0.5, 0.9, 0.99)
TARGETS = ("fixed", "superpopulation")
MECHANISMS = [pytest.param(example, id=name) for name, example in listed("murmure.local")]


def estimates(mechanism: Any, n: int, seed: int) -> Iterator[tuple[mu.Estimate, tuple[float, float]]]:
    """What n people's reports say, figure by figure, and the range that the truth lies in."""
    for plan in questions_of(mechanism).values():
        frame = rows_for(mechanism, n, seed)
        column = next(iter(frame.values())) if isinstance(frame, dict) and not plan.of_records else frame
        found = plan.estimate(plan.report(column, mu.Random.seeded(seed))).estimate
        several = found if isinstance(found, mu.Estimates) else {"": found}
        for name, one in several.items():
            domain = plan.statistic.domain[name] if plan.of_records else plan.statistic.domain
            yield one, (0.0, 1.0) if one.unit == "share" else (float(domain.low), float(domain.high))


def inside(inner: Floats, outer: Floats) -> bool:
    """To a relative 1e-9: ends are found by bisection."""
    slack = 1e-9 * (1 + np.abs(outer).max())
    return bool((outer[:, 0] <= inner[:, 0] + slack).all() and (inner[:, 1] <= outer[:, 1] + slack).all())


@pytest.mark.parametrize("mechanism", MECHANISMS)
@few(3)
@given(n=sizes, seed=seeds)
def test_intervals_contain_the_estimate_and_grow_with_the_level(mechanism: Any, n: int, seed: int) -> None:
    """Noise may push an estimate out of the range of the truth: it counts as the nearest end."""
    for estimate, (low, high) in estimates(mechanism, n, seed):
        point = np.clip(np.stack([estimate.mean] * 2, axis=1), low, high)
        for target in TARGETS:
            try:
                found = [estimate.interval(level, target) for level in LEVELS]
            except NoUnbiasedEstimate:  # it says that it has no error bar, and why
                continue
            chain = [point, *found, estimate.interval(LEVELS[-1], target, simultaneous=True)]

            assert all(inside(inner, outer) for inner, outer in pairwise(chain)), chain


@pytest.mark.parametrize("mechanism", MECHANISMS)
@few(2)
@given(n=sizes, seed=seeds)
def test_a_sample_of_people_is_never_surer_than_the_people(mechanism: Any, n: int, seed: int) -> None:
    """Variances: drawing people from a larger population adds an error and takes none away. None is negative."""
    for estimate, _ in estimates(mechanism, n, seed):
        try:
            fixed, drawn = (estimate.variance(target) for target in TARGETS)
        except NoUnbiasedEstimate:
            continue

        assert (fixed >= 0).all() and (drawn >= fixed * (1 - 1e-12)).all()
        for target in TARGETS:
            cov = estimate.covariance(target)
            assert np.allclose(np.diag(cov), estimate.variance(target), rtol=1e-12)
            assert np.array_equal(cov, cov.T) and np.linalg.eigvalsh(cov).min() > -1e-9 * np.abs(cov).max()
