"""Skellam noise: its law, its draws, and the curvature that bounds what it costs, derived again by numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import special

from murmure.certify.checks.assertions import CheckFailed
from murmure.certify.checks.noise import check_noise_law, check_noise_samples, check_same_bits
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.laws.noise.shares import sum_of
from murmure.laws.noise.skellam import LISTED, SUMMED, SkellamLaw, kappa, lam, skellam_rho

VARIANCES = [Fraction(1, 50), Fraction(1), Fraction(9, 2), Fraction(200), Fraction(LISTED), Fraction(LISTED + 1)]


@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(10**5), Fraction(10**7)])
def test_the_law_is_a_bessel_function(variance: Fraction) -> None:
    """Against another library's e**-v I(z, v)."""
    law, v = SkellamLaw(variance / 2), float(variance)
    z = np.unique(np.concatenate([np.arange(8), (math.sqrt(v) * np.linspace(0, 20, 40)).astype(np.int64)]))
    other = special.ive(z, v)

    known = other > 1e-250
    assert np.allclose(law.log_prob(z)[known], np.log(other[known]), rtol=1e-12, atol=3e-12)
    assert np.allclose(law.log_prob(-z), law.log_prob(z), rtol=0, atol=0)


@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(SUMMED), Fraction(10**7 + 1, 3), Fraction(1 << 61)])
def test_draws_follow_the_law(variance: Fraction) -> None:
    """Law, samples (1e-6), and the same with and without kernels; up to the largest variance."""
    law = SkellamLaw(variance / 2)
    check_noise_law(law, law)
    check_noise_samples(law, law, 5)
    check_same_bits(law, law, 5)


class Drawn:
    """One law stated, another drawn."""

    def __init__(self, law: Any, draw: Any) -> None:
        self._law, self.draw_noise = law, draw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._law, name)


@pytest.mark.parametrize("variance", [Fraction(9, 2), Fraction(200), Fraction(1 << 61)])
def test_other_draws_are_refused(variance: Fraction) -> None:
    """A tenth more or less variance, a shift, one Poisson number too many."""
    law = SkellamLaw(variance / 2)
    less = SkellamLaw(variance * 9 / 20)
    poisson = law._poisson
    shift = max(1, math.isqrt(int(variance)) // 10)
    wrong = (
        less.draw_noise,
        lambda n, rng: law.draw_noise(n, rng) + shift,
        lambda n, rng: poisson.draw(n, rng) - math.floor(law.mean),
    )
    for draw in wrong:
        with pytest.raises(CheckFailed):
            check_noise_samples(law, Drawn(law, draw), 5)


@pytest.mark.parametrize("parties", [2, 7])
def test_shares_add_up(parties: int) -> None:
    """The sum of drawn shares is Skellam noise of the added means (1e-6), and of no other."""
    for mean in (Fraction(1, 3), Fraction(10**11)):
        share = SkellamLaw(mean)
        whole = sum_of(share, parties)

        def draw(n: int, rng: Random, share: SkellamLaw = share) -> Any:
            return sum(share.draw_noise(n, rng) for _ in range(parties))

        check_noise_samples(share, Drawn(whole, draw), 3)
        with pytest.raises(CheckFailed):
            check_noise_samples(share, Drawn(sum_of(share, parties + 1), draw), 3)


# -- what it costs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("v", [4.0, 4.25, 5.0, 7.0, 12.0, 50.0, 333.0, 2000.0])
def test_no_place_bends_more_than_kappa(v: float) -> None:
    """-ln of I(z-1) I(z+1) / I(z)**2 by ratios of Bessel functions, for every z up to 6 v; and kappa is near it."""
    reach = int(6 * v) + 50
    ratio, bends = 0.0, np.zeros(reach)
    for z in range(reach + 200, 0, -1):  # ratio = I(z) / I(z-1)
        above, ratio = ratio, 1 / (ratio + 2 * z / v)
        if z < reach:
            bends[z] = math.log(ratio / above)
    bends[0] = -2 * math.log(ratio)
    stated = float(kappa(Fraction(v)))

    assert bends.max() <= stated * (1 + 1e-13)
    assert stated <= bends.max() * (1 + 0.3 / v)
    assert (bends[1:] <= -np.log1p(-1 / np.sqrt(v * v + np.arange(1, reach) ** 2 - 0.25)) * (1 + 1e-9)).all()
    assert np.isclose(bends[0], 2 * math.log(special.ive(0, v) / special.ive(1, v)), rtol=1e-9)


def test_the_numbers_of_the_proof() -> None:
    """u = v**2 (1 - (I1/I0)**2) is below v + 1/4 at 4 and everywhere after; the polynomial is what it is said to be."""
    for v in np.linspace(4, 400, 2000):
        u = v * v * (1 - (special.ive(1, v) / special.ive(0, v)) ** 2)
        assert u < v + 0.25
    assert math.isclose(16 * (1 - (special.ive(1, 4.0) / special.ive(0, 4.0)) ** 2), 4.07, abs_tol=0.005)
    for v in np.linspace(2.1, 50, 200):
        sign = 4 * (v + 0.25) ** 2 * (v * v - v - 0.25) - (2 * v * v - v) ** 2
        assert math.isclose(sign, 2 * v**3 - 3.75 * v**2 - 0.75 * v - 1 / 16, rel_tol=1e-6, abs_tol=1e-6)
        assert sign > 0
    # z >= 1: the two sides of the inequality, at many places
    for v in np.geomspace(0.01, 1000, 60):
        for z in (1, 2, 3, 10, 100):
            A = v * v + z * z - 0.25
            U = v * v / math.sqrt(A)
            if v * v + z * z - U > 0:
                grows = 2 * v * v / math.sqrt(A) - v**4 / A**1.5
                assert grows > 2 * v * v - 2 * math.sqrt(v * v + z * z - U) * U


def divergence(law: SkellamLaw, d: int, alpha: float) -> float:
    reach = int(40 * math.sqrt(law.variance) + (alpha + 4) * d) + 60
    z = np.arange(-reach, reach + 1)
    terms = alpha * law.log_prob(z - d) + (1 - alpha) * law.log_prob(z)
    return float((terms.max() + math.log(np.exp(terms - terms.max()).sum())) / (alpha - 1))


@pytest.mark.parametrize("v", [4, 5, 8, 20, 100, 1500, 10_000])
def test_divergences_are_within_their_bounds(v: int) -> None:
    """Exact Renyi divergences for many moves and orders: below (alpha kappa d**2 + (kappa - lambda) d) / 2 at all of
    them, below alpha kappa d**2 / 2 at whole ones; and below the bound of Agarwal, Kairouz and Liu, which is the larger
    one while alpha d <= 2 v."""
    law, bend = SkellamLaw(Fraction(v, 2)), float(kappa(Fraction(v)))
    spread, used = bend - float(lam(Fraction(v))), []
    for d in (1, 2, 3, 7, 20):
        for alpha in (1.0001, 1.05, 1.25, 1.5, 1.9, 2.0, 2.5, 3.0, 4.0, 7.5, 16.0, 64.0):
            if alpha * d * d > 400 * v:
                continue
            found, ours = divergence(law, d, alpha), alpha * bend * d * d / 2
            used.append(found / (ours + spread * d / 2))
            if alpha.is_integer():
                theirs = alpha * d * d / (2 * v) + min(((2 * alpha - 1) * d * d + 6 * d) / (4 * v * v), 3 * d / (2 * v))
                assert found <= ours * (1 + 1e-9) and found <= theirs * (1 + 1e-9)
                assert v < 8 or alpha * d > 2 * v or ours <= theirs
    assert 1 - 2 / v < max(used) <= 1 + 1e-9  # no idle bound


@pytest.mark.parametrize("v", [4, 6, 30, 900])
def test_neighbours_overlap_no_more_than_lambda_says(v: int) -> None:
    """(1) of the proof by adding up; the integral's bound is that of two points; and lambda is near 1/v."""
    law, stated = SkellamLaw(Fraction(v, 2)), float(lam(Fraction(v)))
    z = np.arange(-int(40 * math.sqrt(v)) - 60, int(40 * math.sqrt(v)) + 60)
    here, there = law.log_prob(z), law.log_prob(z + 1)
    far = math.asinh(1 / (2 * math.sqrt(v)))
    for u in (0.001, 0.1, 0.3, 0.5, 0.8, 0.999):
        overlap = math.log(np.exp((1 - u) * here + u * there).sum())
        two_points = math.log(math.cosh((1 - 2 * u) * far) / math.cosh(far))
        assert overlap <= two_points + 1e-12 and two_points <= -stated * u * (1 - u) / 2 + 1e-15
        p = (1 + math.tanh(far)) / 2
        assert math.isclose(
            math.exp(two_points), p ** (1 - u) * (1 - p) ** u + (1 - p) ** (1 - u) * p**u, rel_tol=1e-12
        )
    gap = 1 / math.tanh(far)  # between the two points, so that the means are 1 apart
    assert math.isclose(p * (1 - p) * gap**2, v, rel_tol=1e-9)
    assert 1 - 1 / (6 * v) <= stated * v < 1


def test_a_bound_without_curvature_would_be_false() -> None:
    """The Gaussian's alpha d**2 / (2 v) is exceeded at orders near 1: Skellam noise is no Gaussian noise."""
    assert divergence(SkellamLaw(Fraction(2)), 1, 1.001) > 1.001 / 8 * 1.004


def values_of(v: int) -> Fraction:
    return Fraction(kappa(Fraction(v)))


def test_kappa_is_monotone_and_refuses_what_is_not_proven() -> None:
    values = [Fraction(kappa(Fraction(v))) for v in (4, 5, 10, 10**8, 10**9, 10**10, 1 << 60)]
    assert values == sorted(values, reverse=True)
    assert all(
        0 < k * v - 1 < Fraction(4, v) for k, v in zip(values[2:], (10, 10**8, 10**9, 10**10, 1 << 60), strict=True)
    )
    for v in (10**3, 10**9, 1 << 60):  # (kappa - lambda) v**2 is near 11/12: no digit is lost on the way
        small = (2 * skellam_rho(Fraction(v), 1, 0), 2 * skellam_rho(Fraction(v), 1, 1))
        assert math.isclose(small[0] * v * v, 11 / 12, rel_tol=2 / v + 1e-9)
        assert small[1] == pytest.approx(float(small[0] + values_of(v)), rel=1e-12)
    with pytest.raises(InvalidParameter, match="variance of at least 4"):
        kappa(Fraction(399, 100))
