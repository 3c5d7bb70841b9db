"""Composition: exact sums, worst parts, and privacy-loss distributions against closed forms and dp-accounting."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from murmure.certify import accounting, pld
from murmure.core.blocks import Cost
from murmure.core.errors import InvalidParameter
from murmure.core.zcdp import epsilon_from_rho


def test_sums_are_rounded_up_once() -> None:
    total = accounting.sequential([Cost(0.1, 0.1)] * 10)

    assert total.epsilon == total.rho == math.nextafter(1.0, 2)
    assert Fraction(total.epsilon) >= 10 * Fraction(0.1)
    assert accounting.sequential([]) == Cost(0.0, 0.0)
    assert accounting.sequential([Cost(math.inf, 0.5), Cost(1.0, 0.5)]) == Cost(math.inf, 1.0)
    assert accounting.sequential([Cost(1.7e308, 0.0)] * 2).epsilon == math.inf


def test_parts() -> None:
    """Under replace somebody can leave one part and enter another: the two largest count."""
    costs = [Cost(1.0, 0.25), Cost(0.5, 0.5), Cost(0.25, 0.125)]

    assert accounting.parallel(costs) == Cost(1.0, 0.5)
    assert accounting.parallel(costs, "replace") == Cost(1.5, 0.75)
    assert accounting.parallel(costs[:1], "replace") == Cost(1.0, 0.25)


def test_the_better_claim() -> None:
    """Pure epsilon for a few questions, zCDP for many."""
    few, many = (accounting.sequential([Cost(0.1, 0.005)] * k) for k in (3, 400))

    assert accounting.epsilon_at(few, 1e-6) == few.epsilon == accounting.epsilon_at(few, 0.0)
    assert accounting.epsilon_at(many, 1e-6) == epsilon_from_rho(many.rho, 1e-6) < 0.4 * many.epsilon
    assert accounting.covers(1.0, 0.0, Cost(1.0, 99.0)) and not accounting.covers(1.0, 0.0, Cost(1.1, 0.0))
    assert not accounting.covers(1.0, 0.0, Cost(math.inf, 0.0))


# ---- privacy-loss distributions


def kov(epsilon: float, k: int, at: float) -> float:
    """delta of k releases of pure epsilon, the least that holds for all (Kairouz, Oh, Viswanath 2015, th. 3.3)."""
    getcontext().prec = 60
    e, x = Decimal(epsilon).exp(), Decimal(at).exp()
    out = sum(
        (
            max(Decimal(0), e ** (k - i) - x * e**i) * math.comb(k, i)  # i lies: loss (k - 2 i) epsilon
            for i in range(k + 1)
        ),
        Decimal(0),
    )
    return float(out / (1 + e) ** k)


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 1), (0.1, 30), (0.5, 12), (1.0, 5), (0.0517, 100)])
def test_pure_epsilon_reaches_the_optimal_composition(epsilon: float, k: int) -> None:
    """Never below the closed form, and within 1e-9 of it where the grid holds epsilon (1e-3 where it does not)."""
    held = pld.of_epsilon(epsilon).times(k)
    fine = pld.of_epsilon(epsilon, grid=epsilon / 100).times(k)
    for at in (0.0, 0.3 * epsilon * math.sqrt(k), epsilon * math.sqrt(k), 0.6 * epsilon * k):
        true = kov(epsilon, k, at)

        assert true <= held.delta_at(at) <= true + 2e-3
        assert true <= fine.delta_at(at) <= true + 1e-9


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 1), (7.3, 5), (20.0, 7)])
def test_discrete_laplace_against_its_definition(scale: float, shift: int) -> None:
    """delta(epsilon) = sum of (P - e**epsilon Q)+, term by term."""
    z = np.arange(-1200, 1200)
    a = math.exp(-1 / scale)
    p = (1 - a) / (1 + a) * a ** np.abs(z)
    q = (1 - a) / (1 + a) * a ** np.abs(z - shift)
    held = pld.of_discrete_laplace(scale, shift, grid=1e-6)
    for at in (0.0, 0.1 * shift / scale, 0.5 * shift / scale, 0.99 * shift / scale):
        true = float(np.maximum(p - math.exp(at) * q, 0).sum())

        assert true - 1e-15 <= held.delta_at(at) <= true + 2e-6
    assert held.delta_at(shift / scale + 1e-6) < 1e-12


def normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def test_discrete_gaussian_against_the_analytic_one() -> None:
    """At sigma = 50 the discrete law is the normal one to 1e-3, and k releases are one of sigma / sqrt(k)."""
    sigma, k = 50.0, 64
    held = pld.of_discrete_gaussian(sigma, grid=1e-5).times(k)
    s = sigma / math.sqrt(k)
    for at in (0.05, 0.2, 0.5):
        true = normal(1 / (2 * s) - at * s) - math.exp(at) * normal(-1 / (2 * s) - at * s)

        assert held.delta_at(at) == pytest.approx(true, rel=0.01, abs=1e-9)
    assert held.epsilon_at(1e-6) <= epsilon_from_rho(k / (2 * sigma**2), 1e-6)  # zCDP is the looser one


def test_against_dp_accounting() -> None:
    """Ours is within 1 % of the pessimistic value of Google's library, which is written independently."""
    theirs = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason="dp-accounting is not installed")
    how = {"value_discretization_interval": 1e-4}
    pairs: list[tuple[pld.PLD, Any]] = [
        (pld.of_epsilon(0.1), theirs.from_randomized_response(2 / (1 + math.exp(0.1)), 2, **how)),
        (pld.of_discrete_laplace(20.0, 7), theirs.from_discrete_laplace_mechanism(1 / 20, 7, **how)),
        (pld.of_discrete_gaussian(20.0), theirs.from_discrete_gaussian_mechanism(20, 1, **how)),
        (pld.of_discrete_gaussian(5.0, 2), theirs.from_discrete_gaussian_mechanism(5, 2, **how)),
    ]
    for ours, other in pairs:
        for k in (1, 30):
            mine, expected = ours.times(k), other.self_compose(k)
            for delta in (1e-4, 1e-7):
                assert mine.epsilon_at(delta) == pytest.approx(expected.get_epsilon_for_delta(delta), rel=0.01)
    mixed = pld.compose([ours for ours, _ in pairs]).epsilon_at(1e-6)
    held = pairs[0][1]
    for _, other in pairs[1:]:
        held = held.compose(other)

    assert mixed == pytest.approx(held.get_epsilon_for_delta(1e-6), rel=0.01)


def test_a_law_by_its_own_probabilities() -> None:
    """Of any noise with log_prob and quantile; mass that only one side can answer is never forgiven."""

    class Laplace:
        def log_prob(self, z: Any) -> Any:
            return math.log(math.tanh(0.05)) - 0.1 * np.abs(z)

        def quantile(self, tail: float) -> int:
            return math.ceil(-10 * math.log(tail))

    class Die:  # -1, 0 or 1: moved by 1, a third is told apart with certainty
        def log_prob(self, z: Any) -> Any:
            return np.where(np.abs(z) <= 1, -math.log(3), -math.inf)

        def quantile(self, tail: float) -> int:
            return 1

    held, other = pld.of_law(Laplace(), 3), pld.of_discrete_laplace(10.0, 3)  # type: ignore[arg-type]
    for at in (0.0, 0.1, 0.25):
        assert held.delta_at(at) == pytest.approx(other.delta_at(at), abs=1e-9)
    die = pld.of_law(Die(), 1)  # type: ignore[arg-type]
    assert die.delta_at(5.0) == pytest.approx(1 / 3) and die.epsilon_at(0.3) == math.inf
    assert die.times(2).delta_at(5.0) == pytest.approx(5 / 9, abs=1 / 9 + 1e-9)  # added up: an upper bound
    assert die.times(2).delta_at(5.0) >= 5 / 9


def test_the_laws_that_run() -> None:
    """The integers of the samplers lose what their formulas say, to 1e-3, and are never below the formula's truth."""
    from murmure.central.discrete_gaussian import DiscreteGaussian
    from murmure.central.discrete_laplace import DiscreteLaplace
    from murmure.core.blocks import Block

    block = [Block("count", 1, 1, 1)]
    laplace = DiscreteLaplace(epsilon=0.1).bind(block).laws[0]
    gauss = DiscreteGaussian(epsilon=1.0, delta=1e-6).bind(block).laws[0]
    for law, formula in (
        (laplace, pld.of_discrete_laplace(10.0)),
        (gauss, pld.of_discrete_gaussian(math.sqrt(gauss.variance))),
    ):
        for k in (1, 50):
            expected = formula.times(k).epsilon_at(1e-6)

            assert pld.of_law(law).times(k).epsilon_at(1e-6) == pytest.approx(expected, rel=1e-3)
    assert pld.of_law(laplace).times(50).delta_at(2.0) >= kov(0.0999999999, 50, 2.0)


def test_the_transform_is_bounded() -> None:
    """Against exact convolution: what the transform got wrong is less than what was put aside for it."""
    a, b = pld.of_epsilon(0.3, 1e-3), pld.of_discrete_gaussian(3.0, 1, 1e-3)
    summed = a + b
    exact = np.convolve(a.mass, b.mass)
    full = np.zeros(len(exact))
    start = summed.low - (a.low + b.low)
    full[start : start + len(summed.mass)] = summed.mass

    assert np.abs(full - exact).sum() < summed.infinity < 1e-9


def test_tails_are_moved_up() -> None:
    """What is cut off below counts where the rest begins, what is cut off above counts as infinite."""
    held = pld._trimmed(1.0, -3, np.array([1e-12, 0.0, 0.25, 0.75 - 3e-12, 2e-12]), 0.0, 0.0, tail=1e-11)

    assert held.low == -1 and held.mass.tolist() == [0.25 + 1e-12, 0.75 - 3e-12]
    assert 2e-12 <= held.infinity < 2.1e-12


def test_what_cannot_be_composed() -> None:
    with pytest.raises(InvalidParameter, match="grids"):
        pld.of_epsilon(0.1, 1e-4) + pld.of_epsilon(0.1, 1e-3)
    with pytest.raises(InvalidParameter, match="coarser"):
        pld.of_epsilon(1.0, 1e-9)
    with pytest.raises(InvalidParameter, match="coarser"):
        pld.of_epsilon(4.0, 1e-6).times(2)
    for bad in (0, -1, 1.5, True):
        with pytest.raises(InvalidParameter):
            pld.of_discrete_laplace(1.0, bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter):
        pld.of_discrete_gaussian(0.0)
    with pytest.raises(InvalidParameter):
        pld.of_epsilon(0.1).times(0)
