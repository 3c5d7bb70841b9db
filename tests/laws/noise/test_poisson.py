"""Poisson numbers: exact at every mean, by inversion with as many digits as it takes, or by rejection with bounds."""

from __future__ import annotations

import decimal
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import special

from murmure.certify.checks.assertions import FAILURE, chi_squared
from murmure.certify.checks.noise import without_kernels
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.laws.noise import poisson_wide
from murmure.laws.noise.coins import Stream
from murmure.laws.noise.log_factorial import log_factorial
from murmure.laws.noise.poisson import TABULATED, PoissonLaw, PoissonTable, poisson_ends
from murmure.laws.noise.poisson_wide import WidePoisson

D = decimal.Decimal
WORD = 1 << 64
MEANS = [
    Fraction(1, 1 << 70),
    Fraction(1, 3),
    Fraction(7, 2),
    Fraction(1000),
    Fraction(123457, 17),
    Fraction(TABULATED),
]
HUGE = (1 << 60) - 5


class Given(Stream):
    """A stream of stated words."""

    def __init__(self, words: list[int]) -> None:
        self._left, self.kernels = np.array(words, np.uint64), None

    def take(self, n: int) -> Any:
        out, self._left = self._left[:n], self._left[n:]
        assert len(out) == n, "out of words"
        return out


def distribution(mean: Fraction, k: int, digits: int) -> Fraction:
    """F(k), by the exponential series in decimals: another way than the sampler's."""
    with decimal.localcontext() as context:
        context.prec = digits + 30
        term = (-D(mean.numerator) / mean.denominator).exp()
        total = term
        for i in range(1, k + 1):
            term = term * mean.numerator / (mean.denominator * i)
            total += term
        return Fraction(total)


def middle_places(mean: Fraction) -> list[int]:
    spread = math.isqrt(math.floor(mean)) + 1
    return sorted({max(0, math.floor(mean) + d * spread) for d in (-6, -1, 0, 1, 6)})


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("bits", [64, 192])
def test_the_ends_hold_the_distribution_between_them(mean: Fraction, bits: int) -> None:
    """lows <= floor(F 2**bits) <= highs, a unit apart at most, against the series by decimals."""
    ends = poisson_ends(mean, bits)
    for k in (k for k in middle_places(mean) if k < ends.first + len(ends.lows)):
        exact = math.floor(distribution(mean, k, 120) * 2**bits)
        assert ends.lows[k - ends.first] <= exact <= ends.highs[k - ends.first] <= ends.lows[k - ends.first] + 1


@pytest.mark.parametrize("mean", MEANS[1:4])
def test_a_word_at_an_end_is_continued_until_it_tells(mean: Fraction) -> None:
    """U = F(k) up to 128 bits, and then just below or above it: k or k + 1."""
    k = math.floor(mean)
    exact = math.floor(distribution(mean, k, 150) * 2**192)
    first, second, third = exact >> 128, (exact >> 64) % WORD, exact % WORD
    table = PoissonTable(mean)

    assert table.batch(1, Given([first, second, third - 1, 0])).tolist() == [k]
    assert table.batch(1, Given([first, second, third + 1, 0])).tolist() == [k + 1]
    assert table.batch(2, Given([first - 1, first + 1])).tolist() == [k, k + 1]


def test_the_first_and_the_last_word_do_not_tell() -> None:
    """Word 0 may be a number far below a wide table, the last word one far above any."""
    low = PoissonTable(Fraction(10_000)).settle(0, Given([0, 0, 1 << 63]))
    high = PoissonTable(Fraction(1, 2)).settle(WORD - 1, Given([WORD - 1, 5]))

    assert 7000 < low < 9000  # F(low) is about 2**-129
    assert float(distribution(Fraction(1, 2), high, 60)) == 1.0 and 20 < high < 40


def bins(mean: Fraction) -> tuple[Any, Any]:
    """Edges, and the probability up to each: exact to 1e-9 at least."""
    m, sd = math.floor(mean), math.sqrt(mean)
    if sd < 8:
        edges = np.arange(m + 40)
    else:
        edges = np.unique(m + (sd * np.linspace(-3, 3, 61)).astype(np.int64))
    if mean < 1e9:
        return edges, special.pdtr(edges, float(mean))
    x = ((edges - m) + 0.5 - float(mean - m)) / sd  # the normal law, with the third moment
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return edges, special.ndtr(x) - density * (x * x - 1) / (6 * sd)


def fit(mean: Fraction, drawn: Any) -> float:
    edges, below = bins(mean)
    expected = np.diff(np.concatenate([[0.0], below, [1.0]])) * len(drawn)
    observed = np.bincount(np.searchsorted(edges, drawn, side="left"), minlength=len(expected))
    return chi_squared(observed, np.maximum(expected, 1e-9))


WIDE = [Fraction(TABULATED + 1), Fraction(10**6 * 3 + 1, 3), Fraction(10**13), Fraction(HUGE)]


@pytest.mark.parametrize("mean", MEANS + WIDE)
def test_draws_follow_the_law(mean: Fraction) -> None:
    """40,000 draws of each mean (1e-6 a test), last bits included where the law is wide."""
    drawn = PoissonLaw(mean).draw(40_000, Random.seeded(11))

    assert drawn.dtype == np.int64 and drawn.min() >= 0
    assert fit(mean, drawn) > FAILURE
    if mean > 10**4:
        assert chi_squared(np.bincount(drawn & 7, minlength=8), np.full(8, 5000.0)) > FAILURE


@pytest.mark.parametrize("mean", [Fraction(7, 2), Fraction(1000), Fraction(TABULATED + 1), Fraction(HUGE)])
def test_draws_of_another_law_are_detected(mean: Fraction) -> None:
    """The test of fit refuses means a twentieth of a deviation too large, and variances a tenth too large."""
    aside = PoissonLaw(mean + Fraction(math.isqrt(math.floor(mean * 10**6)), 20_000)) if mean < HUGE else None
    if aside is not None:
        assert fit(mean, aside.draw(40_000, Random.seeded(12))) < FAILURE
    else:
        assert fit(mean, PoissonLaw(mean).draw(40_000, Random.seeded(12)) + math.isqrt(HUGE) // 20) < FAILURE
    spread = PoissonLaw(mean * 11 / 10 if mean < HUGE else mean).draw(40_000, Random.seeded(13))
    if mean < HUGE:
        assert fit(mean, spread - math.floor(mean / 10)) < FAILURE


def test_kernels_change_nothing() -> None:
    """With and without Numba the same numbers from the same seed."""
    for mean in (Fraction(5, 2), Fraction(10**6 + 1, 2)):
        fast = PoissonLaw(mean).draw(40_000, Random.seeded(3))
        with without_kernels():
            assert (PoissonLaw(mean).draw(40_000, Random.seeded(3)) == fast).all()


# -- rejection ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 5, 300, 20_000, 10**6, HUGE])
def test_log_factorials_are_bounded(n: int) -> None:
    """Narrow bounds that hold each other at 20, 60 and 130 digits; and the sum of logarithms where it is short."""
    bounds = [log_factorial(n, digits) for digits in (20, 60, 130)]
    for (low, high), (finer_low, finer_high) in itertools.pairwise(bounds):
        assert low <= finer_low <= finer_high <= high
    assert all(high - low <= D(10) ** -digits for (low, high), digits in zip(bounds, (20, 60, 130), strict=True))
    if n <= 20_000:
        with decimal.localcontext() as context:
            context.prec = 170
            assert bounds[-1][0] <= D(math.factorial(n)).ln() <= bounds[-1][1]


@pytest.mark.parametrize("M", [TABULATED, TABULATED + 1, 10**6 + 7, 1 << 40, HUGE])
def test_floats_are_as_near_as_they_say(M: int) -> None:
    """g by floats against g by 60 digits, at 300 places and at the rims; g is positive, so c is large enough."""
    wide = WidePoisson(M)
    words = Random.seeded(5).words(600).astype(np.float64) / 2.0**64
    z = (np.log(words[:300]) * np.where(words[300:] < 0.5, -3.0, 3.0) * wide.t).astype(np.int64)
    z = np.concatenate([z[np.abs(z) <= M // 8], [0, 1, -1, M // 8, -(M // 8), wide.t, -wide.t]])
    value, error = wide.g(z)
    used = []
    for where, g, e in zip(z.tolist(), value.tolist(), error.tolist(), strict=True):
        low, high = wide._exact(where, 60)
        assert 0 < low <= high and Fraction(g) - Fraction(e) <= low and high <= Fraction(g) + Fraction(e)
        used.append(float(abs(low - Fraction(g)) / Fraction(e)))
    assert max(used) > 1e-3  # and the bound is no idle one


@pytest.mark.parametrize("M", [TABULATED + 1, HUGE])
def test_the_summit_is_where_it_is_sought(M: int) -> None:
    """No place around has |z| / t - L(z) above c, and some have it within 2**-28."""
    wide = WidePoisson(M)
    places = [round(wide.t * x / 10) for x in range(-40, 41)]
    rest = [wide._exact(z, 60)[0] for z in places]
    near = [math.floor(M * math.expm1(sign / wide.t)) + d for sign in (-1, 1) for d in (-1, 0, 1, 2)]

    assert min(rest) > 0
    assert 0 < min(wide._exact(z, 60)[0] for z in near) < Fraction(1, 1 << 28)


def test_bounds_decide_what_floats_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an error bound so large that every coin is settled by decimals, the same words keep the same numbers."""
    wide = WidePoisson(TABULATED + 1)
    z = np.arange(-300, 300, 7)
    fast = wide.kept(z, Stream(Random.seeded(6), 10))
    monkeypatch.setattr(poisson_wide, "ERROR", 1.0)

    assert (wide.kept(z, Stream(Random.seeded(6), 10)) == fast).all()


@pytest.mark.parametrize("z", [0, 100, -250, 500])
def test_a_place_is_kept_as_often_as_it_should(z: int) -> None:
    """e**-g at one place, 20,000 times (1e-6)."""
    wide, n = WidePoisson(TABULATED + 1), 20_000
    chance = math.exp(-float(wide._exact(z, 60)[0]))
    yes = int(wide.kept(np.full(n, z), Stream(Random.seeded(7), 10)).sum())

    assert chi_squared(np.array([yes, n - yes]), np.array([chance, 1 - chance]) * n) > FAILURE


def test_far_places_are_kept_by_the_same_coins() -> None:
    """Beyond M/8 decimals decide one by one: at a place of moderate chance (1e-6), and where it is next to none."""
    wide, stream = WidePoisson(TABULATED + 1), Stream(Random.seeded(8), 10)
    assert not wide.kept(np.array([3000, -3000]), stream).any()
    chance, n = math.exp(-float(wide._exact(-250, 60)[0])), 1500
    yes = sum(wide._kept_far(-250, stream) for _ in range(n))

    assert chi_squared(np.array([yes, n - yes]), np.array([chance, 1 - chance]) * n) > FAILURE


def test_a_sampler_that_forgets_its_coins_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything kept is Laplace noise around the mean, and the test of fit sees it."""
    mean = Fraction(TABULATED + 7)
    monkeypatch.setattr(WidePoisson, "kept", lambda self, z, stream: np.ones(len(z), np.bool_))
    assert fit(mean, PoissonLaw(mean).draw(40_000, Random.seeded(11))) < FAILURE


def test_means_that_cannot_be_drawn_are_refused() -> None:
    for mean in (Fraction(0), Fraction(-1), Fraction((1 << 60) + 1)):
        with pytest.raises(InvalidParameter, match="Poisson"):
            PoissonLaw(mean)
