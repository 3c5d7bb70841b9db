"""What is certified grows with the epsilon that was asked for, and the noise shrinks: nobody pays more for less."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.listing import listed
from tests.properties.drawn_rows import few

import murmure as mu
from murmure.core.types import Affine

CERTIFIED_TO = 1e-6  # below what was asked for; tests/certify/test_certify.py
APART = 1.2  # epsilons by more than this factor: hashes and subsets have whole sizes, so variances have small steps


def has(part: Any, name: str) -> bool:
    return getattr(part, name, None) is not None


MECHANISMS = [pytest.param(m, id=name) for name, m in listed("murmure.local") if has(m, "epsilon")]
NOISES = [pytest.param(*pair, id=name) for name, pair in listed("murmure.central")]


def test_nearly_every_mechanism_has_an_epsilon() -> None:
    """Those of printed coins have none, and there are few of them."""
    assert len(listed("murmure.local")) - len(MECHANISMS) == 5


@pytest.mark.parametrize("mechanism", MECHANISMS)
@few(3)
@given(times=st.floats(1.0, 1.5), factor=st.floats(1.0, 1.5))
def test_a_certificate_grows_with_epsilon(mechanism: Any, times: float, factor: float) -> None:
    """By as much as epsilon does, where it is the epsilon of a whole record that was asked for."""
    less, more = mechanism.epsilon * times, mechanism.epsilon * times * factor
    first, second = (mu.certify(replace(mechanism, epsilon=epsilon)) for epsilon in (less, more))

    assert first.epsilon <= second.epsilon
    for certificate in (first, second):
        if certificate.asked is not None and certificate.asked <= 10:
            assert certificate.asked - CERTIFIED_TO <= certificate.epsilon <= certificate.asked


@pytest.mark.parametrize("mechanism", MECHANISMS)
@few(3)
@given(times=st.floats(1.0, 2.0), factor=st.floats(APART, 2.0))
def test_variances_shrink_as_epsilon_grows(mechanism: Any, times: float, factor: float) -> None:
    """Of one report about a share, or about a number in the middle of its range."""
    if (more := spread(replace(mechanism, epsilon=mechanism.epsilon * times))) is None:
        return
    less = spread(replace(mechanism, epsilon=mechanism.epsilon * times * factor))

    # RAPPOR's epsilon is that of all reports together; one report has its own.
    assert less == pytest.approx(more, rel=1e-9) if has(mechanism, "epsilon_once") else less < more


def spread(mechanism: Any) -> float | None:
    """One report's variance; None of whole records, and where there is no unbiased estimate."""
    affine = None if isinstance(mechanism.domain, mu.Schema) else mechanism.affine()
    if not isinstance(affine, Affine):
        return None
    k = mechanism.channel.inputs
    if affine.of == "cells":
        return float(np.max(mechanism.variance(np.full(k, 1 / k), 1)))
    v0, v1, v2 = mechanism.variance_polynomial
    middle = (k - 1) / 2
    return float(v0 + v1 * middle + v2 * middle**2)


@pytest.mark.parametrize(("noise", "about"), NOISES)
@few(3)
@given(times=st.floats(0.1, 2.0), factor=st.floats(1.001, 4.0))
def test_noise_costs_more_and_is_less_as_its_budget_grows(noise: Any, about: Any, times: float, factor: float) -> None:
    """Epsilon and rho of what is bound to its blocks or scores, and the variance of each block."""
    budget = "epsilon" if has(noise, "epsilon") else "rho"
    asked = getattr(noise, budget) * times
    weak, strong = (bound(replace(noise, **{budget: value}), about) for value in (asked, asked * factor))

    assert weak.cost.epsilon <= strong.cost.epsilon and weak.cost.rho <= strong.cost.rho
    assert getattr(weak.cost, budget) <= asked or has(noise, "delta")
    for wide, narrow in zip(getattr(weak, "laws", ()), getattr(strong, "laws", ()), strict=True):
        assert narrow.variance <= wide.variance


def bound(noise: Any, about: Any) -> Any:
    """To the blocks of a sum, or to the scores of a choice."""
    if hasattr(noise, "bind_scores"):
        return noise.bind_scores(*about, "add/remove")
    return noise.bind(about, "add/remove")
