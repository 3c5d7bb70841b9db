"""zCDP to (epsilon, delta) and back: the paper's formula, rounded outward."""

from __future__ import annotations

import math

import numpy as np
import pytest

from murmure.core.errors import InvalidParameter
from murmure.core.zcdp import epsilon_from_rho, rho_from_epsilon
from murmure.laws.noise.gaussian import DiscreteGaussianLaw


def brute_delta(rho: float, epsilon: float) -> float:
    """The formula on a fine grid of alpha."""
    a = 1 + np.exp(np.linspace(-12, 12, 200_001))
    log = (a - 1) * (a * rho - epsilon) - np.log(a - 1) + a * np.log1p(-1 / a)
    return float(np.exp(log.min()))


@pytest.mark.parametrize("rho", [1e-6, 0.01, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0, 60.0])
def test_epsilon_is_the_least_over_alpha(rho: float, epsilon: float) -> None:
    """At the delta that a search by brute force finds for an epsilon, it is that epsilon, to six digits."""
    delta = brute_delta(rho, epsilon)
    if not 1e-290 < delta < 1:
        pytest.skip("no such delta")

    assert math.isclose(epsilon_from_rho(rho, delta), epsilon, rel_tol=1e-6)


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
@pytest.mark.parametrize("rho", [1e-6, 0.01, 1.0, 50.0])
def test_the_conversions_agree(rho: float, delta: float) -> None:
    """There and back gives the same; rho_from_epsilon never returns more than is allowed."""
    epsilon = epsilon_from_rho(rho, delta)
    if epsilon == 0:
        return

    assert math.isclose(brute_delta(rho, epsilon), delta, rel_tol=1e-6)
    assert math.isclose(rho_from_epsilon(epsilon, delta), rho, rel_tol=1e-9)
    assert epsilon_from_rho(rho_from_epsilon(epsilon, delta), delta) <= epsilon * (1 + 1e-15)


def test_known_figures() -> None:
    """rho = 0.1 at delta = 1e-6: 2.1419 (Canonne, Kamath, Steinke's conversion; the simple one gives 2.4507)."""
    assert math.isclose(epsilon_from_rho(0.1, 1e-6), 2.141938928, rel_tol=1e-9)
    assert epsilon_from_rho(0.1, 1e-6) < 0.1 + 2 * math.sqrt(0.1 * math.log(1e6))
    assert epsilon_from_rho(0.0, 1e-6) == 0.0
    assert math.isinf(epsilon_from_rho(math.inf, 1e-6))


@pytest.mark.parametrize("sigma2", [1, 7, 60])
def test_the_conversion_covers_the_exact_delta(sigma2: int) -> None:
    """At the delta of a discrete Gaussian, the sum of max(0, P[z] - e^eps P[z-1]), epsilon holds and is not far off."""
    law = DiscreteGaussianLaw.at_least(sigma2)  # type: ignore[arg-type]
    z = np.arange(-400, 401)
    p, q = np.exp(law.log_prob(z)), np.exp(law.log_prob(z - 1))
    for epsilon in (0.2, 1.0, 2.0):
        exact = float(np.maximum(0, p - math.exp(epsilon) * q).sum())
        assert epsilon_from_rho(1 / (2 * sigma2), exact) >= epsilon
        assert 60 * exact >= 1 or exact < 1e-12 or epsilon_from_rho(1 / (2 * sigma2), 60 * exact) <= epsilon


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, math.nan, "x", True, None])
def test_a_delta_that_is_none(delta: object) -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        epsilon_from_rho(1.0, delta)  # type: ignore[arg-type]
