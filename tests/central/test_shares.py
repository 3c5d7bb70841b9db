"""Noise in shares: what the honest parties' shares add up to, what it costs, and what is refused."""

from __future__ import annotations

import dataclasses
import decimal
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from murmure.central.base.gate import Gate
from murmure.central.base.noise_shares import BoundShares, bind_shares, gaussian_rho
from murmure.central.discrete_gaussian import DiscreteGaussian
from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.central.skellam import Skellam
from murmure.central.staircase import Staircase
from murmure.certify.checks.assertions import CheckFailed
from murmure.certify.checks.noise import check_certified, check_noise, check_noise_law, check_noise_samples
from murmure.core.blocks import Block
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.core.zcdp import epsilon_from_rho
from murmure.laws.noise.gaussian import DiscreteGaussianLaw
from murmure.laws.noise.polya import PolyaLaw
from murmure.laws.noise.shares import GaussianSum, gap, sum_of
from murmure.laws.noise.skellam import SkellamLaw, skellam_rho

COUNT = Block("count", 1, 1, 1)
BLOCKS = (COUNT, Block("sums", 8, 1000, 400_000, weight=3.0))
NOISES = [
    DiscreteLaplace(1.0),
    DiscreteGaussian(epsilon=1.0, delta=1e-6),
    DiscreteGaussian(rho=3.0, delta=1e-6),
    Skellam(epsilon=1.0, delta=1e-6),
    Skellam(rho=0.3, delta=1e-6),
]
ROSTERS = [(1, 1), (2, 3), (7, 10), (900, 1000)]


@pytest.mark.parametrize("roster", ROSTERS)
@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_no_more_is_spent_than_was_asked_for(noise: Any, roster: tuple[int, int], relation: Any) -> None:
    """Certified epsilon at most the asked one, or rho at most the asked one; and hardly less."""
    bound = bind_shares(noise, BLOCKS, relation, 2, *roster)

    asked, spent = (noise.epsilon, bound.epsilon) if noise.epsilon is not None else (noise.rho, bound.cost.rho)
    least_noise = asked == 3.0 and roster[0] >= 7  # Gaussian shares of sigma**2 = 1/4
    assert asked * (0.8 if least_noise else 1 - 1e-5) <= spent <= asked
    assert (bound.honest, bound.parties) == roster
    assert isinstance(bound, BoundShares) and bound.blocks == BLOCKS
    if bound.delta:
        assert bound.epsilon >= min(asked, epsilon_from_rho(bound.cost.rho, bound.delta))
    assert math.isinf(bound.cost.epsilon) == (bound.delta > 0)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_honest_shares_are_the_noise_of_a_lone_curator(noise: Any) -> None:
    """The sum of `honest` shares has the curator's variance, and what extra parties add is in the bars."""
    alone = noise.bind(BLOCKS, "replace", 2)
    bound = bind_shares(noise, BLOCKS, "replace", 2, 7, 10)
    for law, share, bars in zip(alone.laws, bound.shares, bound.laws, strict=True):
        assert math.isclose(sum_of(share, 7).variance, law.variance, rel_tol=1e-4)
        assert math.isclose(bars.variance, law.variance * 10 / 7, rel_tol=1e-4)
        assert bars.quantile(0.05) >= law.quantile(0.05)
    assert [law.variance for law in bound.for_survivors(7).laws] == [sum_of(s, 7).variance for s in bound.shares]
    with pytest.raises(InvalidParameter, match="cannot come from 6"):
        bound.for_survivors(6)


def test_laplace_shares_cost_what_the_exact_law_costs() -> None:
    """The same rational rate, the same closed form: pure epsilon, and rho."""
    alone = DiscreteLaplace(0.7, sampler="exact").bind(BLOCKS, "replace", 3)
    bound = bind_shares(DiscreteLaplace(0.7), BLOCKS, "replace", 3, 5, 9)

    assert bound.epsilon == alone.epsilon and bound.cost == alone.cost and bound.delta == 0
    assert tuple(sum_of(share, 5) for share in bound.shares) == alone.laws
    assert all(isinstance(s, PolyaLaw) and s.r == Fraction(1, 5) for s in bound.shares)
    assert bound.norm == "l1"


def test_skellam_shares_cost_what_their_sum_costs() -> None:
    """rho = (kappa D2 + (kappa - lambda) D1) / 2 over the blocks, for the variance of the honest shares' sum."""
    bound = bind_shares(Skellam(epsilon=1.0, delta=1e-6), BLOCKS, "add/remove", 1, 6, 9)
    whole = [sum_of(share, 6) for share in bound.shares]
    rho = sum(
        skellam_rho(2 * law.mean, b.l1, b.l2)  # type: ignore[union-attr]
        for law, b in zip(whole, BLOCKS, strict=True)
    )

    assert rho <= Fraction(bound.cost.rho) <= rho * (1 + Fraction(1, 1 << 50)) and bound.cost.rho <= bound.noise.budget
    check_certified(bound.noise, dataclasses.replace(bound, laws=tuple(whole)))


class Sum:
    """The stated law of a sum, drawn as so many shares through the gate."""

    def __init__(self, bound: BoundShares, parties: int, law: Any) -> None:
        self._bound, self._parties, self._law = bound, parties, law

    def __getattr__(self, name: str) -> Any:
        return getattr(self._law, name)

    def draw_noise(self, n: int, rng: Random) -> Any:
        wide = dataclasses.replace(self._bound, blocks=(dataclasses.replace(self._bound.blocks[0], width=n),))
        return sum(Gate(rng).share(wide) for _ in range(self._parties))


@pytest.mark.parametrize(
    ("noise", "block"),
    [
        (DiscreteLaplace(1.0), COUNT),
        (DiscreteLaplace(0.01), Block("wide", 1, 10**9, 10**18)),
        (DiscreteGaussian(rho=0.4), COUNT),
        (DiscreteGaussian(rho=0.01), Block("wide", 1, 10**6, 10**12)),
        (Skellam(rho=0.2), COUNT),
        (Skellam(rho=0.01), Block("wide", 1, 10**7, 10**14)),
    ],
    ids=repr,
)
def test_what_the_gate_draws_adds_up(noise: Any, block: Block) -> None:
    """Shares of `honest` and of all parties follow the stated laws of their sums (1e-6 each), and no other's."""
    bound = bind_shares(noise, [block], "add/remove", 1, 3, 4)
    honest = bound.for_survivors(3).laws[0]
    check_noise_law(noise, honest)
    check_noise_samples(noise, Sum(bound, 3, honest), 3)
    check_noise_samples(noise, Sum(bound, 4, bound.laws[0]), 3)
    with pytest.raises(CheckFailed):
        check_noise_samples(noise, Sum(bound, 4, honest), 3)
    wrong = bind_shares(noise, [block], "add/remove", 1, 4, 4)  # scaled to all parties, not to the honest ones
    with pytest.raises(CheckFailed):
        check_noise_samples(noise, Sum(wrong, 3, honest), 3)


# -- the gap of Gaussian shares ----------------------------------------------------------------------------------------


def summed(sigma2: Fraction, count: int, reach: int) -> Any:
    """P of the sum on -reach .. reach, by convolution."""
    z = np.arange(-reach, reach + 1)
    one = np.exp(-(z.astype(float) ** 2) / (2 * float(sigma2)))
    one /= one.sum()
    out = one
    for _ in range(count - 1):
        out = np.convolve(out, one)[reach : 3 * reach + 1]
    return out


@pytest.mark.parametrize("sigma2", [Fraction(1, 4), Fraction(3, 10), Fraction(2, 5), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_the_gap_bounds_how_far_a_sum_is_from_a_discrete_gaussian(sigma2: Fraction, count: int) -> None:
    """|ln P[S] - ln P[W]| by convolution: within the gap, and where shares are narrow not far below it."""
    reach = 24
    S = summed(sigma2, count, 3 * reach)[2 * reach : 4 * reach + 1]
    z = np.arange(-3 * reach, 3 * reach + 1).astype(float)
    W = np.exp(-(z**2) / (2 * count * float(sigma2)))
    W = (W / W.sum())[2 * reach : 4 * reach + 1]
    seen = W > 1e-60
    apart = float(np.abs(np.log(S[seen]) - np.log(W[seen])).max())

    assert apart <= float(gap(sigma2, count)) * (1 + 1e-9) + 1e-12
    if sigma2 <= Fraction(2, 5) and count == 2:
        assert apart >= float(gap(sigma2, count)) / 4


@pytest.mark.parametrize("sigma2", [Fraction(1, 4), Fraction(3, 10), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("count", [2, 3, 10])
def test_the_cost_of_gaussian_shares_bounds_their_divergence(sigma2: Fraction, count: int) -> None:
    """Exact Renyi divergences of the sum, for moves by 1 .. 5 and orders from 1.001 to 12: at most alpha rho."""
    reach = 120
    log = np.log(np.maximum(summed(sigma2, count, reach), 1e-300))
    for d in (1, 2, 3, 5):
        rho = float(gaussian_rho(sigma2, count, d * d, 1))
        for alpha in (1.001, 1.2, 1.5, 2.0, 3.0, 5.0, 12.0):
            # where P is below 1e-250 it is unknown, and weighs nothing at these orders
            p, q = log[d:], log[:-d]
            known = (p > -560) & (q > -560)
            terms = (alpha * p + (1 - alpha) * q)[known]
            found = float((terms.max() + math.log(np.exp(terms - terms.max()).sum())) / (alpha - 1))
            assert found <= alpha * rho * (1 + 1e-6) + 1e-9
        assert rho >= d * d / (2 * count * float(sigma2))


def test_the_gap_matters_where_shares_are_narrow() -> None:
    """Without it the divergence of two shares of sigma = 1/2 is above what a Gaussian's formula says."""
    sigma2, log = Fraction(1, 4), np.log(np.maximum(summed(Fraction(1, 4), 2, 60), 1e-300))
    p, q = log[1:], log[:-1]
    known = (p > -500) & (q > -500)
    terms = (1.001 * p - 0.001 * q)[known]
    found = float(terms.max() + math.log(np.exp(terms - terms.max()).sum())) / 0.001

    assert found > 1.001 / (2 * 2 * float(sigma2)) * 1.0005


def test_the_gap_is_the_papers() -> None:
    """tau = 10 sum of e**(-2 pi**2 sigma**2 k/(k+1)) is twice the gap; many shares are bounded from above."""
    for sigma2, count in ((Fraction(1, 2), 5), (Fraction(1), 60), (Fraction(2), 2000)):
        tau = 10 * sum(math.exp(-2 * math.pi**2 * float(sigma2) * k / (k + 1)) for k in range(1, count))
        assert tau * (1 - 1e-9) <= 2 * float(gap(sigma2, count)) <= tau * 5
    assert gap(Fraction(1), 1) == 0
    with pytest.raises(InvalidParameter, match="1/4"):
        gap(Fraction(1, 5), 3)


def test_narrow_gaussian_shares_are_widened() -> None:
    """A large budget for many parties: shares stay at sigma**2 >= 1/4, and the gap is paid for."""
    bound = bind_shares(DiscreteGaussian(rho=3.0), [COUNT], "add/remove", 1, 50, 60)
    (share,) = bound.shares

    assert isinstance(share, DiscreteGaussianLaw) and share.sigma2 >= Fraction(1, 4)
    assert Fraction(1) / (2 * 50 * share.sigma2) < Fraction(bound.cost.rho) <= 3


def test_sums_of_gaussians() -> None:
    """By convolution where they are narrow; the normal law continues them."""
    share = DiscreteGaussianLaw.at_least(Fraction(1, 4))
    law = GaussianSum(share, 3)
    assert np.allclose(np.exp(law.log_prob(np.arange(6))), summed(share.sigma2, 3, 60)[60:66], rtol=1e-9)
    check_noise_law(law, law)
    check_noise_samples(law, law, 4)
    wide = GaussianSum(DiscreteGaussianLaw.at_least(Fraction(1000)), 5)
    assert math.isclose(wide.variance, 5000, rel_tol=1e-6) and 138 <= wide.quantile(0.05) <= 139


# -- Skellam at a lone curator -----------------------------------------------------------------------------------------


class Mutant:
    """A noise whose laws or claims are replaced after it was bound."""

    def __init__(self, noise: Any, law: Any = None, claim: Any = None) -> None:
        self._noise, self._law, self._claim = noise, law, claim

    def __getattr__(self, name: str) -> Any:
        return getattr(self._noise, name)

    def bind(self, *args: Any) -> Any:
        bound = self._noise.bind(*args)
        bound = bound if self._law is None else dataclasses.replace(bound, laws=tuple(map(self._law, bound.laws)))
        return bound if self._claim is None else dataclasses.replace(bound, **self._claim(bound))


class Bent(SkellamLaw):
    """States the curvature of a Gaussian."""

    @property
    def kappa(self) -> Any:
        return 1 / decimal.Decimal(self.variance)


SKELLAM = Skellam(rho=0.05, delta=1e-6)
MUTANTS = {
    "too narrow": Mutant(SKELLAM, lambda law: SkellamLaw(law.mean * 9 / 10)),
    "too wide": Mutant(SKELLAM, lambda law: SkellamLaw(law.mean * 11 / 10)),
    "a curvature that is too small": Mutant(SKELLAM, lambda law: Bent(law.mean)),
    "the rho of Gaussian noise": Mutant(
        SKELLAM, claim=lambda b: {"cost": dataclasses.replace(b.cost, rho=1 / (2 * b.laws[0].variance))}
    ),
    "a pure epsilon": Mutant(SKELLAM, claim=lambda b: {"cost": dataclasses.replace(b.cost, epsilon=1.0)}),
    "an epsilon that is too small": Mutant(SKELLAM, claim=lambda b: {"epsilon": b.epsilon * 0.99}),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_of_skellam_noise_is_refused(name: str) -> None:
    with pytest.raises(CheckFailed):
        check_noise((MUTANTS[name], (COUNT,)))


def test_skellam_noise_is_little_wider_than_gaussian_noise() -> None:
    """For epsilon and delta: 8 % more variance on a count, next to nothing where a person moves the sum far."""
    asked = {"epsilon": 1.0, "delta": 1e-6}
    for block, most in ((COUNT, 1.08), (Block("x", 1, 1000, 10**6), 1.0001)):
        skellam, gaussian = (kind(**asked).bind([block]).laws[0].variance for kind in (Skellam, DiscreteGaussian))
        assert gaussian <= skellam < gaussian * most


@pytest.mark.parametrize(("epsilon", "delta"), [(0.05, 1e-9), (1.0, 1e-6), (3.0, 1e-3)])
def test_skellam_noise_keeps_its_promise(epsilon: float, delta: float) -> None:
    """delta(epsilon) of the law itself, added up: below the asked delta, for a move by 1 and by 4."""
    for d in (1, 4):
        (law,) = Skellam(epsilon=epsilon, delta=delta).bind([Block("x", 1, d, d * d)]).laws
        reach = int(12 * math.sqrt(law.variance)) + 10 * d
        z = np.arange(-reach, reach + 1)
        p, q = np.exp(law.log_prob(z - d)), np.exp(law.log_prob(z))
        found = float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
        assert (delta / 50 if epsilon < 1 else 0) <= found <= delta


# -- the gate, and refusals --------------------------------------------------------------------------------------------


def test_the_gate_draws_shares_and_remembers_what_passed() -> None:
    """A share is fresh noise for every entry; an answer from a masked sum is remembered, a share is not."""
    bound = bind_shares(DiscreteLaplace(1.0), BLOCKS, "add/remove", 1, 3, 5)
    gate = Gate(Random.seeded(1))
    first, second, own = gate.share(bound), gate.share(bound), gate.share(bound, Random.seeded(1))

    assert first.dtype == np.int64 and first.shape == (9,) and (first != second).any() and (own == first).all()
    assert gate.answers == []
    gate.note_answer("q", bound, [2**70, *range(8)])
    assert gate.answers[0].answer == (2**70, *range(8)) and gate.answers[0].bound is bound
    with pytest.raises(TypeError, match="9 whole numbers"):
        gate.note_answer("q", bound, [1, 2])


def test_the_plan_carries_the_laws_of_a_share() -> None:
    listed = bind_shares(Skellam(rho=0.1), BLOCKS, "replace", 2, 3, 5).integers()

    assert [entry["block"] for entry in listed] == ["count", "sums"]
    assert all(entry["law"] == "skellam" and entry["honest"] == 3 and entry["parties"] == 5 for entry in listed)
    assert listed[0]["moves"] == "16"


@pytest.mark.parametrize(
    "make",
    [
        lambda: bind_shares(Staircase(1.0), [COUNT], "add/remove", 1, 2, 3),
        lambda: bind_shares(DiscreteLaplace(1.0), [COUNT], "add/remove", 1, 4, 3),
        lambda: bind_shares(DiscreteLaplace(1.0), [COUNT], "add/remove", 1, 0, 3),
        lambda: bind_shares(DiscreteLaplace(1.0), [], "add/remove", 1, 2, 3),
        lambda: bind_shares(DiscreteLaplace(1.0), [COUNT], "add/remove", 1, 2.0, 3),  # type: ignore[arg-type]
        lambda: Skellam(epsilon=1.0),
        lambda: Skellam(),
        lambda: Skellam(epsilon=1.0, delta=1e-6, rho=1.0),
        lambda: Skellam(epsilon=1.0, delta=1.0),
        lambda: Skellam(rho=-1.0),
        lambda: Skellam(rho=1e-9).bind([Block("x", 1, 10**12, 10**24)]),
    ],
)
def test_bad_arguments_are_refused(make: Any) -> None:
    with pytest.raises(InvalidParameter):
        make()
