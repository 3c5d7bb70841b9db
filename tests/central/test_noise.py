"""Noise that is bound to blocks: what it costs, what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from murmure.central.base.gate import Gate
from murmure.central.discrete_gaussian import DiscreteGaussian
from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.central.exponential import Exponential
from murmure.central.geometric import Geometric
from murmure.central.permute_and_flip import PermuteAndFlip
from murmure.central.staircase import Staircase
from murmure.core.blocks import Block
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random

COUNT = Block("count", 1, 1, 1)
WIDE = Block("sums", 8, 1000, 400_000)


@pytest.mark.parametrize("sampler", ["table", "exact"])
def test_the_budget_is_split_by_weight_and_never_exceeded(sampler: Any) -> None:
    """Three blocks with weights 1 : 2 : 0.1; the laws' own losses add up to epsilon at most."""
    blocks = (COUNT, Block("b", 3, 9, 40, weight=2.0), Block("c", 1, 5, 25, weight=0.1))
    bound = DiscreteLaplace(0.7, sampler).bind(blocks, "replace", 2)
    losses = [law.rate * d for law, d in zip(bound.laws, bound.sensitivities(), strict=True)]

    assert bound.sensitivities() == (4, 36, 20)
    assert sum(losses) <= Fraction(bound.epsilon) <= Fraction(0.7)
    for loss, weight in zip(losses, (1, 2, 0.1), strict=True):
        assert math.isclose(loss, 0.7 * weight / 3.1, rel_tol=1e-9)


def test_the_variance_is_the_lectures() -> None:
    """2a / (1-a)^2 = 1.841347 at epsilon 1, both samplers."""
    for sampler in ("table", "exact"):
        law = DiscreteLaplace(1.0, sampler).bind([COUNT]).laws[0]  # type: ignore[arg-type]
        assert math.isclose(law.variance, 1.841347, rel_tol=1e-6)


def test_rho_of_a_vector_uses_its_squares() -> None:
    """A row that moves 8 entries a little costs rate**2 D2 / 2, less than epsilon**2 / 2."""
    bound = DiscreteLaplace(1.0).bind([WIDE])

    assert math.isclose(bound.cost.rho, 400_000 / 1000**2 / 2, rel_tol=1e-6)


def test_a_huge_epsilon_saturates() -> None:
    """The certificate stops at what the integers say: less than was asked for, and noise all the same."""
    bound = DiscreteLaplace(1000.0).bind([COUNT])

    assert 31 < bound.epsilon < 33
    assert DiscreteGaussian(rho=1e5).bind([COUNT]).cost.rho <= 33


def test_the_gaussian_meets_its_epsilon_and_delta() -> None:
    bound = DiscreteGaussian(epsilon=1.0, delta=1e-6).bind([COUNT, WIDE], "replace", 2)

    assert 1 - 1e-6 < bound.epsilon <= 1.0 and bound.delta == 1e-6 and bound.norm == "l2"
    assert bound.sensitivities() == (16, 16 * 400_000)
    assert DiscreteGaussian(rho=0.3).bind([COUNT]).epsilon == math.inf


def test_many_entries_need_less_gaussian_noise() -> None:
    """1000 cells that all move by one: Laplace noise of scale 1000 / eps against sigma near sqrt(1000) / eps."""
    block = Block("all", 1000, 1000, 1000)
    laplace = DiscreteLaplace(1.0).bind([block]).laws[0]
    gaussian = DiscreteGaussian(epsilon=1.0, delta=1e-6).bind([block]).laws[0]

    assert gaussian.variance < laplace.variance / 50


def test_a_staircase_on_vectors_is_charged_for_every_entry() -> None:
    """One entry: stairs as wide as it moves. Several: the steps that cost least."""
    one = Staircase(4.0).bind([Block("x", 1, 50, 2500)]).laws[0]
    several = Staircase(4.0).bind([Block("x", 4, 50, 2500)]).laws[0]
    laplace = DiscreteLaplace(4.0).bind([Block("x", 4, 50, 2500)]).laws[0]

    assert one.step == 50  # type: ignore[attr-defined]
    assert one.variance < 0.6 * laplace.variance
    assert several.variance <= laplace.variance * (1 + 1e-6)


def test_geometric_is_cut_to_its_range() -> None:
    noise = Geometric(0.1, 0, 20)
    noisy = Gate(Random.seeded(1)).add("q", np.zeros(1000, np.int64), noise.bind([Block("c", 1000, 1, 1)])).sum
    cut = noise.post_process(noisy)

    assert cut.min() == 0 and cut.max() == 20 and cut.dtype == np.int64
    assert noise.bind([COUNT]).noise is noise


def test_the_gate_takes_every_noise() -> None:
    """One vector through each of them, and a choice."""
    gate = Gate(Random.seeded(2))
    total = np.array([10**6, 5, 6], np.int64)
    blocks = [COUNT, Block("pair", 2, 3, 9)]
    noises = [DiscreteLaplace(1.0), DiscreteLaplace(1.0, "exact"), DiscreteGaussian(rho=1.0), Staircase(1.0)]
    for noise in noises:
        noisy = gate.add("q", total, noise.bind(blocks))  # type: ignore[attr-defined]
        assert np.abs(noisy.sum - total).max() < 200
    for choice in (Exponential(50.0), PermuteAndFlip(50.0)):
        assert gate.choose("q", np.array([1, 90, 3], np.int64), choice.bind_scores(3, 1)) == 1
    assert len(gate.answers) == 6


@pytest.mark.parametrize("choice", [Exponential, PermuteAndFlip])
def test_choices_are_bound_by_how_far_scores_move(choice: Any) -> None:
    """Rate epsilon / (2 D rows), or epsilon / (D rows) for monotone scores, which exchanges are not."""
    bound = choice(1.0).bind_scores(5, 3, "replace", 2)

    assert bound.law.rate == Fraction(1, 12) and bound.sensitivity == 6 and bound.epsilon == 1.0
    assert choice(1.0, monotone=True).bind_scores(5, 3, rows=2).law.rate == Fraction(1, 6)
    with pytest.raises(InvalidParameter, match="monotone"):
        choice(1.0, monotone=True).bind_scores(5, 3, "replace")
    with pytest.raises(InvalidParameter, match="candidates"):
        choice(1.0).bind_scores(0, 1)


def test_permute_and_flip_is_never_worse() -> None:
    """Expected score, over random scores: not below the exponential mechanism's (McKenna, Sheldon, Theorem 2)."""
    words = Random.seeded(3).words(60)
    for row in (words % np.uint64(9)).astype(np.int64).reshape(10, 6):
        best = [float(np.exp(c(1.0).bind_scores(6, 1).law.log_prob(row)) @ row) for c in (PermuteAndFlip, Exponential)]
        assert best[0] >= best[1] - 1e-12


@pytest.mark.parametrize(
    "make",
    [
        lambda: DiscreteLaplace(0),
        lambda: DiscreteLaplace(math.nan),
        lambda: DiscreteLaplace(1.0, "fast"),  # type: ignore[arg-type]
        lambda: DiscreteGaussian(epsilon=1.0),
        lambda: DiscreteGaussian(),
        lambda: DiscreteGaussian(epsilon=1.0, delta=1e-6, rho=0.1),
        lambda: DiscreteGaussian(epsilon=1.0, delta=2.0),
        lambda: Staircase("x"),  # type: ignore[arg-type]
        lambda: Geometric(1.0, 3, 3),
        lambda: Geometric(1.0, 0.0, 3),  # type: ignore[arg-type]
        lambda: DiscreteLaplace(1.0).bind([]),
        lambda: DiscreteLaplace(1.0).bind([COUNT], "other"),  # type: ignore[arg-type]
        lambda: DiscreteLaplace(1.0).bind([COUNT], rows=0),
        lambda: DiscreteLaplace(1e-9).bind([Block("x", 1, 10**9, 10**18)]),
        lambda: DiscreteLaplace(1e-9, "exact").bind([Block("x", 1, 10**9, 10**18)]),
        lambda: DiscreteGaussian(rho=1e-9).bind([Block("x", 1, 10**12, 10**24)]),
        lambda: Staircase(1e-6).bind([Block("x", 1, 10**12, 10**24)]),
    ],
)
def test_bad_arguments_are_refused(make: Any) -> None:
    with pytest.raises(InvalidParameter):
        make()
