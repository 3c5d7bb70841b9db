"""The variance of a weighted sum of what a report supports, as a formula of the weights, is that of the covariances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.listing import listed

from murmure.local.base.hidden_attribute import HiddenOracle
from murmure.local.base.randomisers import FrequencyOracle
from murmure.local.base.record_mechanism import RecordMechanism

MAX_VALUES = 32  # the covariances of all values are k**3 numbers


def oracles() -> Iterator[Any]:
    """Every example, and every column of the examples of records."""
    for name, example in listed("murmure.local"):
        parts = example.parts if isinstance(example, RecordMechanism) else (example,)
        for i, part in enumerate(parts):
            if isinstance(part, FrequencyOracle | HiddenOracle) and part.domain.size <= MAX_VALUES:
                yield pytest.param(part, id=f"{name}.{i}")


@pytest.mark.parametrize("oracle", list(oracles()))
def test_the_spread_is_what_the_covariances_give(oracle: Any) -> None:
    """w' C w for the covariances C of the cells of a report on each value, which enumeration checks elsewhere."""
    k, slope = oracle.domain.size, float(oracle.affine().slope[0])
    w = np.random.default_rng(k).normal(size=k)
    expected = []
    for f in np.eye(k):
        cov = oracle.cross(f).copy()
        np.fill_diagonal(cov, oracle.variance(f, 1) * slope**2)
        expected.append(w @ cov @ w)

    assert oracle.spread(w) == pytest.approx(expected, rel=1e-9, abs=1e-12)
