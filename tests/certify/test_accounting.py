"""Composition: exact sums, worst parts; and the laws that run, composed by dp-accounting."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from murmure.central.discrete_gaussian import DiscreteGaussian
from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.certify import accounting
from murmure.core.blocks import Block, Cost
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


def loss_distribution(law: Any, shift: int = 1, grid: float = 1e-4) -> Any:
    """dp-accounting's distribution of one entry that moves by `shift`, from the law's own probabilities."""
    theirs = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason="dp-accounting is not installed")
    reach = law.quantile(2.0**-64) + shift
    z = np.arange(-reach, reach + 1)
    here, there = (dict(zip(z.tolist(), law.log_prob(at).tolist(), strict=True)) for at in (z, z - shift))
    return theirs.from_two_probability_mass_functions(there, here, value_discretization_interval=grid)


def closed_form(name: str, *parameters: float) -> Any:
    theirs = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason="dp-accounting is not installed")
    return getattr(theirs, name)(*parameters, value_discretization_interval=1e-4)


@pytest.mark.parametrize("k", [1, 50])
def test_the_laws_that_run_lose_what_their_formulas_say(k: int) -> None:
    """Composed by dp-accounting, the integers of our samplers agree with its closed forms to 2e-3."""
    block = [Block("count", 1, 1, 1)]
    laplace = DiscreteLaplace(epsilon=0.1).bind(block).laws[0]
    gauss = DiscreteGaussian(epsilon=1.0, delta=1e-6).bind(block).laws[0]
    for law, formula, parameter in (
        (laplace, "from_discrete_laplace_mechanism", 0.1),
        (gauss, "from_discrete_gaussian_mechanism", math.sqrt(gauss.variance)),
    ):
        ours, theirs = loss_distribution(law).self_compose(k), closed_form(formula, parameter).self_compose(k)
        for delta in (1e-4, 1e-6):
            expected = theirs.get_epsilon_for_delta(delta)

            assert ours.get_epsilon_for_delta(delta) == pytest.approx(expected, rel=2e-3)


def test_a_wide_move() -> None:
    """A sum that one person moves by 7: the law at rate epsilon / 7 costs what the closed form says."""
    law = DiscreteLaplace(epsilon=0.35).bind([Block("sum", 1, 7, 49)]).laws[0]
    expected = closed_form("from_discrete_laplace_mechanism", 0.05, 7).get_epsilon_for_delta(1e-4)

    assert loss_distribution(law, 7).get_epsilon_for_delta(1e-4) == pytest.approx(expected, rel=1e-3)


def test_zcdp_is_the_looser_claim() -> None:
    """Fifty Gaussian releases: the ledger's conversion of rho never claims less than the exact composition."""
    bound = DiscreteGaussian(epsilon=1.0, delta=1e-6).bind([Block("count", 1, 1, 1)])
    exact = loss_distribution(bound.laws[0]).self_compose(50).get_epsilon_for_delta(1e-6)
    stated = accounting.epsilon_at(accounting.sequential([bound.cost] * 50), 1e-6)

    assert exact < stated < 1.1 * exact
