"""check_noise refuses noise that is wrong in the ways noise goes wrong."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from murmure.central.base.bound_noise import BoundNoise
from murmure.central.discrete_gaussian import DiscreteGaussian
from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.central.exponential import Exponential
from murmure.central.permute_and_flip import PermuteAndFlip
from murmure.central.staircase import Staircase
from murmure.certify.checks.assertions import CheckFailed
from murmure.certify.checks.noise import _renyi, check_noise, worst_loss
from murmure.core.blocks import Block
from murmure.laws.noise.digits import Digits, DigitTable, digits
from murmure.laws.noise.laplace import DiscreteLaplaceLaw
from murmure.laws.noise.staircase import StaircaseLaw

COUNT = (Block("count", 1, 1, 1),)
SUMS = (Block("sums", 3, 40, 1600),)


class Mutant:
    """A noise whose laws, or whose claim, are replaced after it was bound."""

    def __init__(self, noise: Any, law: Any = None, **claim: Any) -> None:
        self._noise, self._law, self._claim = noise, law, claim

    def __getattr__(self, name: str) -> Any:
        return getattr(self._noise, name)

    def bind(self, *args: Any) -> BoundNoise:
        bound = self._noise.bind(*args)
        laws = bound.laws if self._law is None else tuple(self._law(law) for law in bound.laws)
        return dataclasses.replace(bound, laws=laws, **self._claim)


class Wrapped:
    """A law of which one method is another's."""

    def __init__(self, law: Any, **methods: Any) -> None:
        self._law, self._methods = law, methods

    def __getattr__(self, name: str) -> Any:
        return self._methods.get(name, getattr(self._law, name))


def draws(change: Any) -> Any:
    """The same stated law; what is drawn is changed."""
    return lambda law: Wrapped(law, draw_noise=lambda n, rng: change(law.draw_noise(n, rng)))


def twice_as_often_zero(z: Any) -> Any:
    """As if minus zero had not been drawn again: some other draws become 0."""
    out = z.copy()
    out[np.flatnonzero(z != 0)[:: max(2, int((z != 0).sum() / max(1, (z == 0).sum() / 2)))]] = 0
    return out


def one_word_short(law: Digits) -> Digits:
    assert law.first is not None
    ends = law.first.ends
    return dataclasses.replace(law, first=DigitTable((*ends[:-1], ends[-1] - 1), law.first.slack))


def sampler_off_by_one(law: Digits) -> Any:
    """The sampler reads its tables one entry further."""
    assert law.first is not None
    wrong = dataclasses.replace(law, first=DigitTable((*law.first.ends[1:], 1 << 63), law.first.slack))
    return Wrapped(law, draw_noise=wrong.draw_noise)


MUTANTS = {
    "half the scale": (Mutant(DiscreteLaplace(1.0), lambda law: digits(2 * law.rate)), COUNT),
    "calibrated to a smaller sensitivity": (Mutant(DiscreteLaplace(1.0), lambda law: digits(law.rate * 40 / 39)), SUMS),
    "twice the scale": (Mutant(DiscreteLaplace(1.0), epsilon=0.5), COUNT),
    "no sign": (Mutant(DiscreteLaplace(1.0), draws(np.abs)), COUNT),
    "zero too often": (Mutant(DiscreteLaplace(1.0), draws(twice_as_often_zero)), COUNT),
    "off by one": (Mutant(DiscreteLaplace(0.05), draws(lambda z: z + 1)), COUNT),
    "multiples of four": (Mutant(DiscreteLaplace(0.001), draws(lambda z: z & ~3)), COUNT),
    "a table one word short": (Mutant(DiscreteLaplace(1.0), one_word_short), COUNT),
    "a sampler that reads the next entry": (Mutant(DiscreteLaplace(0.2), sampler_off_by_one), COUNT),
    "a wrong variance": (Mutant(DiscreteLaplace(1.0), lambda law: Wrapped(law, variance=2.0)), COUNT),
    "a wrong quantile": (
        Mutant(DiscreteLaplace(1.0), lambda law: Wrapped(law, quantile=lambda tail: law.quantile(tail) + 1)),
        COUNT,
    ),
    "claims more than was asked for": (Mutant(DiscreteLaplace(1.0), epsilon=1.0000001), COUNT),
    "exact, half the scale": (
        Mutant(DiscreteLaplace(1.0, sampler="exact"), lambda law: DiscreteLaplaceLaw(2 * law.s, law.t)),
        COUNT,
    ),
    "exact, another law drawn": (
        Mutant(
            DiscreteLaplace(0.5, sampler="exact"),
            lambda law: Wrapped(law, draw_noise=DiscreteLaplaceLaw(law.s * 21, law.t * 20).draw_noise),
        ),
        COUNT,
    ),
    "a Gaussian too narrow": (
        Mutant(DiscreteGaussian(rho=0.5), lambda law: dataclasses.replace(law, p=law.p * 9 // 10)),
        COUNT,
    ),
    "a Gaussian that claims a pure epsilon": (
        Mutant(
            DiscreteGaussian(rho=0.5), cost=dataclasses.replace(DiscreteGaussian(rho=0.5).bind(COUNT).cost, epsilon=1.0)
        ),
        COUNT,
    ),
    "a Gaussian whose Laplace part is kept always": (
        Mutant(
            DiscreteGaussian(rho=0.02),
            lambda law: Wrapped(law, draw_noise=DiscreteLaplaceLaw(1, law.t).draw_noise),
        ),
        COUNT,
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_refused(name: str) -> None:
    """Each is noise with one fault (accepted by chance: never here, the seeds are fixed)."""
    with pytest.raises(CheckFailed):
        check_noise(MUTANTS[name])


def test_a_mutant_that_is_none_passes() -> None:
    """The harness itself refuses nothing."""
    check_noise((Mutant(DiscreteLaplace(1.0), lambda law: law), COUNT))


@pytest.mark.parametrize("alpha", [1.01, 1.5, 2.0, 8.0])
def test_divergences_of_renyi_are_those_of_the_definition(alpha: float) -> None:
    """ln(sum of p^alpha q^(1-alpha)) / (alpha-1); of two Gaussians that lie d apart, alpha d^2 / (2 sigma^2)."""
    p, q = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    two_points = math.log(0.5**alpha * (0.25 ** (1 - alpha) + 0.75 ** (1 - alpha))) / (alpha - 1)
    z, sigma = np.arange(-400.0, 401.0), 10.0
    here, there = (-((z - d) ** 2) / (2 * sigma**2) - math.log(sigma * math.sqrt(2 * math.pi)) for d in (0, 3))

    assert _renyi(np.log(p), np.log(q), alpha) == pytest.approx(two_points, rel=1e-9)
    assert _renyi(here, there, alpha) == pytest.approx(alpha * 9 / 200, rel=1e-9)
    assert _renyi(here, here, alpha) == pytest.approx(0, abs=1e-9)


def test_a_staircase_that_charges_a_vector_once_is_refused() -> None:
    """Two entries that move by 6 each lose two stairs, although 6 + 6 is no more than one stair is wide."""

    class Careless(Staircase):
        def bind(self, blocks: Any, relation: Any = "add/remove", rows: int = 1) -> BoundNoise:
            bound = super().bind(blocks, relation, rows)
            law = StaircaseLaw.best(Fraction(self.epsilon), blocks[0].sensitivity("l1", relation, rows))
            cost = dataclasses.replace(bound.cost, epsilon=self.epsilon)
            return dataclasses.replace(bound, laws=(law,), epsilon=self.epsilon, cost=cost)

    with pytest.raises(CheckFailed, match=r"loses 5\.99"):
        check_noise((Careless(3.0), (Block("pair", 2, 12, 100),)))
    check_noise((Careless(3.0), (Block("one", 1, 12, 144),)))


def moves_of(total: int, entries: int, longest: int) -> Iterator[tuple[int, ...]]:
    """Every way to divide a move over at most so many entries, the longest first."""
    if total == 0:
        yield ()
    elif entries:
        for first in range(min(total, longest), 0, -1):
            yield from ((first, *rest) for rest in moves_of(total - first, entries - 1, first))


@pytest.mark.parametrize(
    ("law", "is_linear"),
    [
        (digits(Fraction(1, 2)), True),
        (StaircaseLaw.of(Fraction(1), 4, 2), False),
        (StaircaseLaw.of(Fraction(1), 3, 1), False),
        (StaircaseLaw.of(Fraction(2), 6, 3), False),
    ],
)
def test_the_largest_loss_is_that_of_some_move_that_the_norms_allow(law: Any, is_linear: bool) -> None:
    """Never more than any division of the moves loses. And as much, if one entry may move far and the others by one.

    Where a move by two loses twice as much as one by one, as of Laplace noise, all divisions lose the same.
    """
    z = np.arange(-100, 100)
    loss = [float(np.abs(law.log_prob(z) - law.log_prob(z + d)).max()) for d in range(9)]
    for moves in range(1, 9):
        for width in range(1, 6):
            losses = [(sum(d * d for d in ds), sum(loss[d] for d in ds)) for ds in moves_of(moves, width, moves)]
            count = min(width, moves)
            far = moves - count + 1
            for squares in sorted({square for square, _ in losses}):
                largest = max(lost for square, lost in losses if square <= squares)
                found = worst_loss(law, moves, squares, width)

                assert found <= largest + 1e-9
                if is_linear or squares == far**2 + count - 1:
                    assert largest == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("choice", [Exponential, PermuteAndFlip])
def test_a_choice_that_is_too_sharp_is_refused(choice: Any) -> None:
    """Scores that move both ways need epsilon / (2 D); the monotone rate loses twice as much."""

    class Sharp(choice):  # type: ignore[misc]
        def bind_scores(self, candidates: int, sensitivity: int, *rest: Any) -> Any:
            return choice(self.epsilon, monotone=True).bind_scores(candidates, sensitivity, *rest)

    with pytest.raises(CheckFailed, match="loses"):
        check_noise((Sharp(1.0), (4, 1)))


def test_a_choice_that_always_takes_the_best_is_refused() -> None:
    class Greedy(PermuteAndFlip):
        def bind_scores(self, *args: Any) -> Any:
            bound = super().bind_scores(*args)
            greedy = Wrapped(bound.law, draw_choice=lambda scores, rng: int(np.argmax(scores)))
            return dataclasses.replace(bound, law=greedy)

    with pytest.raises(CheckFailed, match="do not follow"):
        check_noise((Greedy(1.0), (4, 1)))
