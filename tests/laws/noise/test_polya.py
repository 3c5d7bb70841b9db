"""Polya noise: the points of its process, the law of a share, and shares that add up to discrete Laplace noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from murmure.certify.checks.assertions import FAILURE, CheckFailed, chi_squared
from murmure.certify.checks.noise import check_noise_law, check_noise_samples, check_same_bits
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.laws.noise import polya
from murmure.laws.noise.coins import Stream
from murmure.laws.noise.polya import PolyaLaw
from murmure.laws.noise.shares import sum_of
from murmure.laws.noise.thinning import fair_runs, ratio_flips, two_over_e

SHARES = [
    PolyaLaw(1, 1, Fraction(1, 2)),
    PolyaLaw(1, 7, Fraction(1, 5)),
    PolyaLaw(3, 2, Fraction(1, 3)),
    PolyaLaw(8, 1, Fraction(2, 3)),
    PolyaLaw(3, 200, Fraction(1, 10)),
    PolyaLaw(1, 300, Fraction(7, 4)),
]
HUGE = [PolyaLaw(7, 10**9, Fraction(1, 4)), PolyaLaw(1, 1 << 52, Fraction(1, 3))]


class Sum:
    """The stated law of a sum, drawn as so many shares."""

    def __init__(self, share: Any, count: int, law: Any) -> None:
        self._share, self._count, self._law = share, count, law

    def __getattr__(self, name: str) -> Any:
        return getattr(self._law, name)

    def draw_noise(self, n: int, rng: Random) -> Any:
        return sum(self._share.draw_noise(n, rng) for _ in range(self._count))


def intensity(law: PolyaLaw, k: int) -> float:
    """What the thinning leaves at k: the proposal's intensity, times the coins of its docstring."""
    J, rate = law.octaves, float(law.rate)
    j = k.bit_length() - 1
    if j < J:
        return float(law.r) / 2**j * (2**j / k) * math.exp(-rate * k)
    b = k >> J
    coins = (2 / math.e) ** b * (2**J / k) * math.exp(-(rate * k - b))
    assert rate * k >= b and coins <= 1
    return float(law.r) * 2.0**-b / 2**J * coins


@pytest.mark.parametrize("law", SHARES, ids=repr)
def test_thinning_leaves_the_process_of_the_law(law: PolyaLaw) -> None:
    """r a**k / k at every k; and J is the least number with rate 2**J >= 1."""
    for k in [*range(1, 70), 1000, 5000]:
        assert math.isclose(intensity(law, k), float(law.r) * math.exp(-float(law.rate) * k) / k, rel_tol=1e-12)
    assert law.rate * 2**law.octaves >= 1
    assert law.octaves == 0 or law.rate * 2 ** (law.octaves - 1) < 1


@pytest.mark.parametrize("law", SHARES[:5], ids=repr)
def test_points_come_as_often_as_they_should(law: PolyaLaw) -> None:
    """Of 200,000 proposals, the kept ones at each k: a**k / k over J + 1 (1e-6)."""
    n, stream = 200_000, Stream(Random.seeded(2), 10)
    octave = (stream.take(n) % np.uint64(law.octaves + 1)).astype(np.int64)
    k, kept = law._points(octave, stream)
    observed = np.bincount(np.minimum(k[kept], 60), minlength=61)
    at = np.arange(1, 60)
    each = np.exp(-float(law.rate) * at) / at / (law.octaves + 1)
    rest = -math.log(-math.expm1(-float(law.rate))) / (law.octaves + 1) - each.sum()
    expected = np.array([0.0, *each, max(rest, 0.0), 1 - each.sum() - max(rest, 0.0)]) * n

    assert chi_squared(np.append(observed, n - kept.sum()), np.maximum(expected, 1e-9)) > FAILURE


def test_coins() -> None:
    """2/e, fair runs, and coins with denominators of their own (1e-6 each)."""
    n, stream = 40_000, Stream(Random.seeded(1), 10)
    yes = int(two_over_e(n, stream).sum())
    assert chi_squared(np.array([yes, n - yes]), np.array([2 / math.e, 1 - 2 / math.e]) * n) > FAILURE
    runs = np.bincount(np.minimum(fair_runs(n, stream), 12), minlength=13)
    assert chi_squared(runs, n * np.array([*(0.5 ** np.arange(1, 13)), 0.5**12])) > FAILURE
    den = np.array([3, 7, (1 << 53) + 1, 5], np.uint64).repeat(n)
    num = np.array([1, 6, 1 << 52, 5], np.uint64).repeat(n)
    for part, chance in zip(ratio_flips(num, den, stream).reshape(4, n), (1 / 3, 6 / 7, 0.5, 1.0), strict=True):
        counts = np.array([part.sum(), n - part.sum()])
        assert chi_squared(counts, np.array([chance, 1 - chance + 1e-300]) * n) > FAILURE
    assert part.all()


def test_ties_of_coins_are_settled_with_the_words_that_follow() -> None:
    """1/3 = 0x5555...: a word that ties is continued."""

    class Given(Stream):
        def __init__(self, words: list[int]) -> None:
            self._left, self.kernels = np.array(words, np.uint64), None

        def take(self, n: int) -> Any:
            out, self._left = self._left[:n], self._left[n:]
            return out

    third = (1 << 64) // 3
    one, three = np.ones(4, np.uint64), np.full(4, 3, np.uint64)
    words = [third - 1, third, third, third + 1, third, third - 1, third + 1]  # two ties: tie again, yes; no

    assert ratio_flips(one, three, Given(words)).tolist() == [True, True, False, False]


@pytest.mark.parametrize("law", SHARES, ids=repr)
def test_draws_follow_the_law_of_a_share(law: PolyaLaw) -> None:
    """Law, samples (1e-6), and the same with and without kernels."""
    check_noise_law(law, law)
    check_noise_samples(law, law, 5)
    check_same_bits(law, law, 5)


@pytest.mark.parametrize("law", SHARES[:5], ids=repr)
def test_the_law_of_a_share_is_that_of_its_generating_function(law: PolyaLaw) -> None:
    """Probabilities by the recurrence against a Fourier sum, at small and at large r."""
    for count in (1, 3, 12):
        summed = PolyaLaw(law.s, law.t, law.r * count)
        if summed.variance > 1e4:
            continue
        n, a = 1 << 16, math.exp(-float(law.rate))
        angle = 2 * math.pi * np.arange(n) / n
        powers = ((1 - a) ** 2 / (1 - 2 * a * np.cos(angle) + a * a)) ** float(summed.r)
        direct = np.fft.ifft(powers).real
        assert np.allclose(np.exp(summed.log_prob(np.arange(50))), direct[:50], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("law", [*SHARES[:3], SHARES[4], *HUGE], ids=repr)
def test_shares_add_up_to_discrete_laplace_noise(law: PolyaLaw) -> None:
    """h shares drawn and added follow the law of a lone curator, at small and at huge scales (1e-6)."""
    h = law.r.denominator
    assert sum_of(law, h) == law.whole

    check_noise_samples(law, Sum(law, h, law.whole), 7)


@pytest.mark.parametrize("law", [SHARES[1], HUGE[0]], ids=repr)
def test_shares_for_another_number_of_parties_are_refused(law: PolyaLaw) -> None:
    """h + 1 shares of 1/h, h - 1 of them, and shares of another rate are other laws, and the test of fit sees it."""
    h = law.r.denominator
    for wrong in (Sum(law, h + 1, law.whole), Sum(law, h - 1, law.whole)):
        with pytest.raises(CheckFailed):
            check_noise_samples(law, wrong, 7)
    other = PolyaLaw(law.s * 12, law.t * 11, law.r)
    with pytest.raises(CheckFailed):
        check_noise_samples(law, Sum(other, h, law.whole), 7)


@pytest.mark.parametrize("law", [SHARES[1], HUGE[0]], ids=repr)
def test_more_shares_have_the_law_that_is_stated_for_bars(law: PolyaLaw) -> None:
    """h + 3 shares against the generalised law (1e-6), where it is added up and where an integral stands for it."""
    count = law.r.denominator + 3
    check_noise_samples(law, Sum(law, count, sum_of(law, count)), 8)


def test_wide_laws_continue_narrow_ones() -> None:
    """Across the border between sum and integral nothing jumps."""
    for r in (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(8, 3)):
        narrow, wide = PolyaLaw(1, 1000, r), PolyaLaw(1, 1001, r)
        assert narrow._small and not wide._small
        z = np.array([0, 1, 30, 1000, 9000])
        assert np.allclose(narrow.log_prob(z), wide.log_prob(z), atol=0.02)
        for tail in (0.5, 0.05, 1e-6, 2.0**-64):
            assert math.isclose(narrow.quantile(tail), wide.quantile(tail), rel_tol=5e-3, abs_tol=1)


@pytest.mark.parametrize("coin", ["all_two_over_e", "ratio_flips", "flips", "all_flips"])
def test_a_sampler_that_forgets_a_coin_is_refused(coin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each coin of the thinning in turn always says yes."""
    law = PolyaLaw(4, 13, Fraction(3, 4))
    check_noise_samples(law, law, 5)
    monkeypatch.setattr(polya, coin, lambda first, *rest: np.ones(np.shape(_per_coin(first, rest)), np.bool_))
    with pytest.raises(CheckFailed):
        check_noise_samples(law, law, 5)


def _per_coin(first: Any, rest: tuple[Any, ...]) -> Any:
    return first if np.ndim(first) else np.empty(rest[1])


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="scale"):
        PolyaLaw(1, 1 << 53, Fraction(1, 2))
    with pytest.raises(InvalidParameter, match="Polya"):
        PolyaLaw(1, 5, Fraction(0))
