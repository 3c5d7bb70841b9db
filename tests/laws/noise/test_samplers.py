"""Noise on the integers: exact coins, tables whose rounding is counted, the same draws from the same words."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from murmure.certify.checks.assertions import FAILURE, chi_squared
from murmure.certify.checks.noise import without_kernels
from murmure.core.errors import InvalidParameter
from murmure.core.fixed import log_up
from murmure.core.random import Random
from murmure.laws.kernel_loader import SMALL
from murmure.laws.noise import coins
from murmure.laws.noise.choice import ExponentialLaw, PermuteAndFlipLaw
from murmure.laws.noise.coins import Stream, flips, in_batches, product_flips, settle, uniforms
from murmure.laws.noise.digits import HALF_WORD, Digits, DigitTable, calibrated, digits
from murmure.laws.noise.gaussian import DiscreteGaussianLaw
from murmure.laws.noise.laplace import DiscreteLaplaceLaw, at_rate
from murmure.laws.noise.staircase import StaircaseLaw, loss_units


class Given(Stream):
    """A stream of stated words."""

    def __init__(self, words: list[int], kernels: Any = None) -> None:
        self._left, self.kernels = np.array(words, np.uint64), kernels

    def take(self, n: int) -> Any:
        out, self._left = self._left[:n], self._left[n:]
        assert len(out) == n, "out of words"
        return out


def kernels() -> Any:
    from murmure.laws.kernel_loader import kernels_for

    return kernels_for(SMALL)


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_coin_is_a_comparison_of_real_numbers(few: int, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """w / 2**64 against a / b: yes below, no above, and the next words decide where the first cannot."""
    monkeypatch.setattr(coins, "FEW", few)
    third, last = (1 << 64) // 3, (1 << 64) - 1  # 1/3 = 0x5555...: word `third` ties
    words = [third - 1, third, third + 1, 0, last, third]
    rest = [third, third - 1, third + 1]  # settle the two ties: tie again, then yes; and no
    out = np.zeros(6, bool)
    going = coins._survivors(np.arange(6), 1, 3, True, out, Given(words + rest, kernels() if compiled else None))

    assert going.tolist() == [0, 3, 1]
    assert out[[2, 4, 5]].all()


def test_small_coins_settle_word_by_word() -> None:
    """A tie goes on for as long as it takes, in Python's integers."""
    third = (1 << 64) // 3

    assert settle(1, 3, Given([third, third, third, third - 1])) is True
    assert settle(1, 3, Given([third, third, third + 1])) is False
    assert settle(0, 5, Given([0])) is False and settle(5, 5, Given([(1 << 64) - 1])) is True


@pytest.mark.parametrize(("num", "den"), [(0, 7), (1, 7), (1 << 51, 1 << 52), (7, 7), (3 * 10**11, 10**12)])
def test_flips_have_probability_exp(num: int, den: int) -> None:
    """Bernoulli(exp(-num/den)), as one number and as many (two tests at 1e-6)."""
    n, p = 40_000, math.exp(-num / den)
    for argument in (num, np.full(n, num, np.uint64)):
        yes = int(flips(argument, den, n, Stream(Random.seeded(5), n)).sum())
        assert chi_squared(np.array([yes, n - yes]), np.array([p, 1 - p + 1e-300]) * n) > FAILURE
        assert num or yes == n


def test_product_flips() -> None:
    """Bernoulli(exp(-(a/b)(c/d))) (1e-6)."""
    n = 40_000
    two, three = np.full(n, 2, np.uint64), np.full(n, 3, np.uint64)
    yes = int(product_flips(two, 3, three, 4, Stream(Random.seeded(6), n)).sum())
    p = math.exp(-0.5)

    assert chi_squared(np.array([yes, n - yes]), np.array([p, 1 - p]) * n) > FAILURE


def test_uniforms_refuse_what_would_be_uneven() -> None:
    """2**63 = 2 mod 3: of 3 numbers two words (four, with the bit) are refused, and every number owns as many."""
    refused = [0, 1]  # 63-bit words 0: product 0 < 2 mod ... ; the first words of run 0
    stream = Given([*refused, 2 * 5 + 1, 2 * 7])
    out = uniforms(3, 2, stream)

    assert (out >> 1).tolist() == [0, 0] and (out & 1).tolist() == [1, 0]
    n = 30_000
    values = uniforms(10, n, Stream(Random.seeded(3), n))
    assert chi_squared(np.bincount(values, minlength=20), np.full(20, n / 20)) > FAILURE


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("bound", [1, 2, 10**6, 3 << 60, (1 << 61) + 1])
def test_uniforms_are_those_of_whole_numbers(bound: int, compiled: bool) -> None:
    """In Python's integers: 63 bits times the bound, refused in the first 2**63 mod bound of a run. Of the large bounds
    up to a third of all words is refused, and then the next words decide."""
    n, words = 50, [int(word) for word in Random.seeded(8).words(400)]
    found, left, at = {}, list(range(n)), 0
    while left:
        drawn = list(zip(left, words[at : at + len(left)], strict=True))
        at += len(left)
        accepted = {i: word for i, word in drawn if (word >> 1) * bound % (1 << 63) >= (1 << 63) % bound}
        found |= {i: 2 * ((word >> 1) * bound >> 63) + word % 2 for i, word in accepted.items()}
        left = [i for i in left if i not in accepted]

    assert (at > n) == (bound > 10**6)
    assert uniforms(bound, n, Given(words, kernels() if compiled else None)).tolist() == [found[i] for i in range(n)]


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 700), Fraction(12), Fraction(1, 3 << 20), Fraction(30)])
def test_the_loss_of_a_table_is_bounded_exactly(rate: Fraction) -> None:
    """|ln P[z] - ln P[z+d]| <= rate d + slack, in exact arithmetic, around 0, carries and escapes."""
    law = digits(rate)
    places = {0, law.period, 2 * law.period}
    if len(law.tables) > 1:
        places |= {256, 5 * 256, law.period + 256, 256**2}
    worst, free = Fraction(0), Fraction(0)
    for z in {p + k for p in places for k in range(-3, 4)}:
        for d in (1, 2, 17, law.period):
            ratio = law.prob(z) / law.prob(z + d)
            loss = Fraction(log_up(max(ratio, 1 / ratio)))
            tolerance = Fraction(loss) / (1 << 50)  # log_up is a float
            worst = max(worst, loss - tolerance - d * rate - law.slack)
            free = max(free, loss - tolerance - d * rate)

    assert worst <= 0
    if rate == Fraction(1, 3):
        assert free > 0  # without the slack the bound would be broken


@pytest.mark.parametrize("rate", [Fraction(1, d) for d in (2, 256, 257, 1 << 52)] + [Fraction(32)])
def test_tables_are_full(rate: Fraction) -> None:
    """Every table sums to 2**63, every entry is positive, P sums to one, and the law is near the one it stands for."""
    law = digits(rate)

    for table in law._all:
        assert sum(table.weights) == HALF_WORD and min(table.weights) >= 1
    near = law.prob(0) + 2 * sum(law.prob(z) for z in range(1, 20)) + law.beyond(19)
    assert near == 1
    assert math.isclose(law.prob(0), math.tanh(rate / 2), rel_tol=1e-6)
    assert law.slack < Fraction(1, 10**4)


def test_calibrated_never_exceeds_and_hardly_wastes() -> None:
    """rate D + slack m <= epsilon exactly, and hardly less: by a part in 10**9 and 2e-11 an entry."""
    for epsilon in (Fraction(1, 10**6), Fraction(1), Fraction(7, 3)):
        for moves in (1, 3, 100, 10**6, 10**9):
            for entries in (1, 50):
                law = calibrated(epsilon, moves, entries)
                spare = epsilon / 10**9 + min(moves, entries) * Fraction(2, 10**11)
                assert epsilon - spare <= law.loss(moves, entries) <= epsilon


def test_scales_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="scale"):
        calibrated(Fraction(1), 1 << 53, 1)
    with pytest.raises(InvalidParameter, match="scale"):
        at_rate(Fraction(1, 1 << 53))
    with pytest.raises(InvalidParameter, match="sigma"):
        DiscreteGaussianLaw.at_least(Fraction(1 << 90))
    with pytest.raises(InvalidParameter, match="scale"):
        StaircaseLaw.of(Fraction(1, 100), 1 << 50, 1 << 49)


RATES = {"good": [(1, 1), (1, 1 << 52), ((1 << 62) - 1, 1)], "bad": [(0, 1), (1, 0), (-1, 1), (1, -1), (-1, -1)]}
RATES["bad"] += [(1, (1 << 52) + 1), (1 << 62, 1)]
ALL = HALF_WORD
UNEVEN = [(4, 2, ALL), (4, 4, ALL - 1), (4, 2, ALL // 2 - 1), (1 << 52, 1, 1 << 62)]


@pytest.mark.parametrize(
    ("law", "good", "bad"),
    [
        *((law, RATES["good"], RATES["bad"]) for law in (DiscreteLaplaceLaw, ExponentialLaw, PermuteAndFlipLaw)),
        (
            DiscreteGaussianLaw,
            [(1, 1, 1), ((1 << 44) + 1, 1, 1), (1, 1, 1 << 37)],
            [
                (0, 1, 1),
                (1, 0, 1),
                (1, 1, 0),
                (-1, 1, 1),
                (1, -1, 1),
                (1, 1, -1),
                ((1 << 44) + 2, 1, 1),
                (1, 1, 65 << 31),
            ],
        ),
        (
            lambda *numbers: StaircaseLaw(*numbers, stairs=calibrated(Fraction(1), 1, 1)),
            [(1, 1, ALL), (4, 4, ALL), (4, 2, ALL // 2), (4, 2, ALL - 1), (1 << 51, 1, 1 << 12)],
            [(4, 0, 1), (4, -1, 1), (4, 5, ALL), (0, 0, 1), (4, 2, 0), (4, 2, ALL + 1), (4, 4, ALL + 1), *UNEVEN],
        ),
    ],
)
def test_a_law_holds_positive_numbers_up_to_its_limits(law: Any, good: Any, bad: Any) -> None:
    """The largest are taken, and the next are refused in words: beyond them 64 bits would not hold a product.

    And the upper side of a stair is not less likely than the lower one; where it is the whole stair, it is all.
    """
    for numbers in good:
        assert law(*numbers).integers()
    for numbers in bad:
        with pytest.raises(InvalidParameter):
            law(*numbers)


def test_a_rate_is_rounded_down_to_one_that_can_be_drawn() -> None:
    """The exact law's rate is at most the one asked for, within 2**-50; simple rates are kept."""
    assert at_rate(Fraction(1, 1000)) == DiscreteLaplaceLaw(1, 1000)
    for rate in (Fraction(0.1) / 1000, Fraction(0.3), Fraction(10**9 + 1, 10**20 + 39), Fraction(1e6)):
        law = at_rate(rate)
        assert law.rate <= rate
        assert law.rate >= rate * (1 - Fraction(1, 1 << 50)) or rate > 1000


@pytest.mark.parametrize("law", [digits(Fraction(1)), digits(Fraction(1, 5000)), DiscreteLaplaceLaw(2, 7)], ids=repr)
def test_two_threads_return_what_one_does(law: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeded draws do not depend on the threads."""
    n = 200_000
    two = law.draw_noise(n, Random.seeded(9))
    for module in ("digits", "coins"):
        monkeypatch.setattr(f"murmure.laws.noise.{module}.threads", lambda: 1)

    assert (law.draw_noise(n, Random.seeded(9)) == two).all()


def test_draws_after_one_another_differ() -> None:
    """Two draws of one generator share no words."""
    rng = Random.seeded(4)
    for law in (digits(Fraction(1, 50)), DiscreteLaplaceLaw(1, 50), DiscreteGaussianLaw.at_least(Fraction(2500))):
        first, second = law.draw_noise(1000, rng), law.draw_noise(1000, rng)
        assert abs(np.corrcoef(first, second)[0, 1]) < 0.16  # 5 standard errors: 6e-7
    assert len(in_batches(0, rng, DiscreteLaplaceLaw(1, 5).batch)) == 0
    assert len(digits(Fraction(1)).draw_noise(0, rng)) == 0


@pytest.mark.parametrize("folded", [False, True])
def test_escapes_go_on_where_the_table_ends(folded: bool) -> None:
    """Draws beyond the top table's range come as often as they should (Poisson, 1e-6), with and without kernels."""
    rate, n = Fraction(1, 2), 400_000
    table = DigitTable.geometric(rate, 2, escape=True)  # two entries only, so that escapes come often
    short = Digits(rate, (table,), DigitTable.folded(rate, 2) if folded else None)
    z = short.draw_noise(n, Random.seeded(8))
    with without_kernels():
        assert (short.draw_noise(n, Random.seeded(8)) == z).all()
    observed = np.bincount(np.abs(z), minlength=40)[:40]
    expected = np.array([float(short.prob(m)) * (1 if m == 0 else 2) for m in range(40)]) * n

    assert chi_squared(observed, expected) > FAILURE
    assert math.isclose(short.variance, 0.5 / math.sinh(0.25) ** 2, rel_tol=1e-9)


def test_units_of_a_staircase() -> None:
    """The most stairs that vectors can climb, against all vectors of small size."""
    for moves in range(1, 8):
        for entries in range(1, 4):
            for step in range(1, 8):
                most = max(sum(-(-d // step) for d in split) for split in _splits(moves, entries))
                assert most == loss_units(moves, entries, step)


def _splits(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(d,) for d in range(total + 1)]
    return [(d, *rest) for d in range(total + 1) for rest in _splits(total - d, parts - 1)]


def test_the_staircase_law_is_that_of_the_paper() -> None:
    """a(r) = (1 - b) / (2 r + 2 b (step - r) - (1 - b)) at 0 (Geng, Viswanath), one factor b a stair."""
    law = StaircaseLaw.of(Fraction(2), 10, 3)
    b = math.exp(-2)
    top = (1 - b) / (2 * 3 + 2 * b * 7 - (1 - b))

    for z, k in ((0, 0), (2, 0), (3, 1), (9, 1), (10, 1), (12, 1), (13, 2), (-13, 2)):
        assert math.isclose(law.prob(z), top * b**k, rel_tol=1e-9)


def test_the_best_staircase_beats_the_laplace_law() -> None:
    """At epsilon 4 a third of the variance; at epsilon 0.1 about the same; and r is the best of all."""
    for epsilon, least in ((4.0, 0.55), (0.1, 1.001)):
        stair = StaircaseLaw.best(Fraction(epsilon), 40)
        laplace = calibrated(Fraction(epsilon), 40, 1)
        assert stair.variance < least * laplace.variance
        all_of_them = [StaircaseLaw.of(Fraction(epsilon), 40, r).variance for r in range(1, 41)]
        assert stair.variance <= min(all_of_them) * (1 + 1e-9)


WIDTHS = [Fraction(1, 64), Fraction(1, 3), Fraction(5), Fraction(10**6 + 1, 7), Fraction(1 << 80)]


@pytest.mark.parametrize("sigma2", WIDTHS)
def test_gaussian_parameters_are_never_below(sigma2: Fraction) -> None:
    law = DiscreteGaussianLaw.at_least(sigma2)

    assert sigma2 <= law.sigma2 <= sigma2 * (1 + Fraction(1, 1 << 29))


def test_gaussian_acceptance_is_taken_apart_correctly() -> None:
    """x a/A + c b/p + (d/A)(b/p) = x**2 / (A p), for the numbers that the sampler divides."""
    law = DiscreteGaussianLaw.at_least(Fraction(12345, 17))
    A, p = 2 * law.t * law.q, law.p
    for y in (0, 1, 26, 27, 400, 20_000):
        x = abs(law.q * y - p)
        (a, b), (c, d) = divmod(x, p), divmod(x, A)
        taken = Fraction(x * a, A) + Fraction(c * b, p) + Fraction(d, A) * Fraction(b, p)
        wanted = (y - law.sigma2 / law.t) ** 2 / (2 * law.sigma2)

        assert taken == wanted and x * a < 1 << 63


def test_a_wide_gaussian_has_its_moments() -> None:
    """sigma = 2**40: variance and fourth moment (5 standard errors: 6e-7 each)."""
    n = 60_000
    z = DiscreteGaussianLaw.at_least(Fraction(1 << 80)).draw_noise(n, Random.seeded(2)) / 2.0**40

    assert abs((z**2).mean() - 1) < 5 * math.sqrt(2 / n)
    assert abs((z**4).mean() - 3) < 5 * math.sqrt(96 / n)


@pytest.mark.parametrize("law", [ExponentialLaw(1, 3), PermuteAndFlipLaw(1, 3)], ids=repr)
def test_choices_of_extreme_scores(law: Any) -> None:
    """Scores that fill 64 bits overflow nothing; one candidate is always chosen; many candidates are quick."""
    rng = Random.seeded(1)
    extreme = np.array([-(1 << 63), (1 << 63) - 1, 0], np.int64)

    assert {law.draw_choice(extreme, rng) for _ in range(50)} == {1}
    assert law.draw_choice(np.array([5], np.int64), rng) == 0
    assert 0 <= law.draw_choice(np.arange(50_000, dtype=np.int64), rng) < 50_000
    assert np.allclose(law.log_prob(np.zeros(7, np.int64)), -math.log(7))


def test_permute_and_flip_is_what_the_paper_says() -> None:
    """Against the sum over all orders, for four candidates."""
    import itertools

    scores = np.array([3, 0, 2, 3], np.int64)
    law = PermuteAndFlipLaw(2, 5)
    p = np.exp(0.4 * (scores - 3.0))
    exact = np.zeros(4)
    for order in itertools.permutations(range(4)):
        on = 1.0
        for i in order:
            exact[i] += on * p[i] / 24
            on *= 1 - p[i]

    assert np.allclose(np.exp(law.log_prob(scores)), exact, rtol=1e-12)
