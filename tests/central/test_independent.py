"""The curator, checked by somebody who derived everything again: exact enumerations that trust no docstring.

Laws are rebuilt from the words that a sampler reads, losses from the law by decimals of 70 digits, bounds of blocks
from every row that there is, sums from Python's own integers.
"""

from __future__ import annotations

import decimal
import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.central.base.budget_split import split_by_weight
from murmure.central.base.gate import Gate
from murmure.core.blocks import Block, Cost
from murmure.core.cells.lenient_encoding import encode_domain_lenient
from murmure.core.random import GivenWords, Random
from murmure.core.zcdp import epsilon_from_rho, rho_from_epsilon
from murmure.laws import kernel_loader
from murmure.laws.noise.choice import ExponentialLaw, PermuteAndFlipLaw
from murmure.laws.noise.coins import Stream, _survivors
from murmure.laws.noise.digits import Digits, calibrated, digits
from murmure.laws.noise.gaussian import DiscreteGaussianLaw
from murmure.laws.noise.staircase import StaircaseLaw, loss_units
from murmure.statistics.count import Count
from murmure.statistics.group_by import GroupBy
from murmure.statistics.histogram import Histogram
from murmure.statistics.learning.class_moments import ClassMoments
from murmure.statistics.learning.clusters import Clusters
from murmure.statistics.learning.gradient import Gradient
from murmure.statistics.learning.gram import Gram
from murmure.statistics.learning.taylor import Taylor
from murmure.statistics.marginals import Marginals
from murmure.statistics.mean import Mean
from murmure.statistics.pair import Pair
from murmure.statistics.quantile import Quantile
from murmure.statistics.sum import Sum
from murmure.statistics.variance import Variance
from murmure.statistics.where import Where

HALF = 1 << 63
D = decimal.Decimal


@pytest.fixture(autouse=True)
def _many_digits() -> Iterator[None]:
    with decimal.localcontext() as context:
        context.prec = 70
        yield


def ln(x: Fraction) -> D:
    return D(x.numerator).ln() - D(x.denominator).ln()


def dec(x: Fraction) -> D:
    return D(x.numerator) / D(x.denominator)


# -- noise from tables -------------------------------------------------------------------------------------------------


class Script:
    """A generator that hands out the words it was given, and no others."""

    is_seeded = True

    def __init__(self, words: list[int]) -> None:
        self.words, self.at = np.array(words, np.uint64), 0

    def reserve(self, n: int, width: int, depth: int = 0) -> GivenWords:
        part = self.words[self.at : self.at + n * width]
        assert len(part) == n * width
        self.at += n * width
        return GivenWords(part.reshape(n, width))


def spelled(law: Digits, words: list[int], n: int) -> list[int]:
    """What n people draw from these words, spelled out: a table is read by counting, one word after the other."""
    read = iter(words)
    out: list[int | None] = [None] * n
    head = dict.fromkeys(range(n), 0)
    first = True
    while head:
        following = {}
        for who, offset in head.items():
            mine = [next(read) for _ in law.tables]
            tables = (law.first,) if first and law.first is not None else law.tables
            found = [sum(end <= w >> 1 for end in t.ends) for t, w in zip(tables, mine, strict=True)]
            if found[0] == law.size:  # escaped
                following[who] = offset + law.size * 256 ** (len(law.tables) - 1)
                continue
            m = offset
            for place, digit in enumerate(reversed(found)):
                m += digit * 256**place
            if mine[0] & 1 and m == 0 and law.first is None:
                following[who] = offset
            else:
                out[who] = -m if mine[0] & 1 else m
        head, first = following, False
    return out  # type: ignore[return-value]


def edges(law: Digits, rng: random.Random, count: int) -> list[int]:
    """Words at the ends of runs, of every table, escapes and minus zeros too."""
    tables = [*law.tables] + ([law.first] if law.first is not None else [])
    near = [end + d for t in tables for end in (0, *t.ends) for d in (-1, 0) if 0 <= end + d < HALF]
    rare = [law.tables[0].ends[-2], HALF - 1, 0]
    return [2 * (rng.choice(rare if rng.random() < 0.2 else near)) + rng.randrange(2) for _ in range(count)]


RATES = (Fraction(32), Fraction(3), Fraction(1, 7), Fraction(1, 128), Fraction(1, 129), Fraction(3, 10**6))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("n", [40, 9000])  # above 8192 the kernels, where they are installed
def test_who_reads_the_words_draws_the_same(rate: Fraction, n: int) -> None:
    law, rng = digits(rate), random.Random(1)
    few = edges(law, rng, 512)
    words = (few * (1 + 12 * n * len(law.tables) // len(few)))[: 12 * n * len(law.tables)]
    words[: 3 * len(law.tables)] = [1] * (3 * len(law.tables))  # minus zero, three times
    if n > 1000 and not kernel_loader.available():
        pytest.skip("no kernels")
    calm = 2 * (law.tables[0].ends[0] - 1)  # so that rounds come to an end
    words += [calm] * (n * len(law.tables) * 60)
    assert law.draw_noise(n, Script(words)).tolist() == spelled(law, words, n)


@pytest.mark.parametrize("rate", RATES)
def test_the_law_follows_from_the_words(rate: Fraction) -> None:
    """One person's chain: start, restart after minus zero, head start after an escape."""
    law = digits(rate)
    share = [[Fraction(b - a, HALF) for a, b in itertools.pairwise((0, *t.ends))] for t in law.tables]
    assert all(sum(s) == 1 and min(s) > 0 for s in share)
    top, lower, escape = share[0][:-1], share[1:], share[0][-1]
    period = len(top) * 256 ** len(lower)

    def number(m: int) -> Fraction:
        out = escape ** (m // period)
        m %= period
        for s in reversed(lower):
            m, digit = divmod(m, 256)
            out *= s[digit]
        return out * top[m]

    points = {0, 1, 2, 255, 256, 257, period - 1, period, period + 1, 2 * period, 2 * period + 255}
    for m in points:
        if law.first is None:
            # P = G/2 + P G(0)/2, for m and for -m; zero comes with one sign only
            expected = number(m) / 2 / (1 - number(0) / 2)
        else:
            begin = [Fraction(b - a, HALF) for a, b in itertools.pairwise((0, *law.first.ends))]
            inside = m < len(begin) - 1
            expected = begin[m] / (2 if m else 1) if inside else begin[-1] * number(m - len(begin) + 1) / 2
        assert law.prob(m) == law.prob(-m) == expected
        assert float(law.log_prob(m)) == pytest.approx(float(ln(expected)), abs=1e-9)
    first = law.prob(0) + 2 * sum((law.prob(m) for m in range(1, 30)), Fraction(0))
    assert first + law.beyond(29) == 1


@pytest.mark.parametrize("rate", [*RATES, Fraction(1, 1 << 30), Fraction(1, 1 << 52)])
def test_no_move_costs_more_than_rate_and_slack(rate: Fraction) -> None:
    law, rng = digits(rate), random.Random(2)
    near = (0, 256, 65536, law.size, law.period, 2 * law.period, 5 * law.period)
    points = {b + d for b in near if b <= 5 * law.period for d in range(-3, 4) if b + d >= 0}
    points |= {rng.randrange(3 * law.period) for _ in range(25)}
    logs = {m: ln(law.prob(m)) for m in points}
    slack = dec(law.slack)
    used = max((abs(logs[a] - logs[b]) - dec(rate) * abs(a - b)) for a in points for b in points)
    assert used <= slack  # moves through zero are longer, and cost no more
    assert slack < dec(rate) or rate < Fraction(1, 1 << 40)


@pytest.mark.parametrize(("epsilon", "moves", "entries"), [(1.0, 1, 1), (0.3, 7, 3), (2.0, 3, 3), (1.0, 40_000, 2)])
@pytest.mark.parametrize("noise", [mu.DiscreteLaplace, mu.Staircase])
def test_vectors_lose_no_more_than_is_certified(noise: Any, epsilon: float, moves: int, entries: int) -> None:
    """Integer moves of every shape, at every place that matters: the worst entry by entry, for entries are drawn
    independently."""
    block = Block("b", entries, moves, min(moves**2, moves**2), 1.0)
    bound = noise(epsilon).bind((block,))
    (law,) = bound.laws
    assert bound.epsilon <= epsilon
    step = getattr(law, "step", 1)
    sizes = sorted({d for d in (1, 2, 3, step - 1, step, step + 1, moves - 1, moves, moves // 2) if 1 <= d <= moves})
    edge = {0, 1, step - 1, step, step + 1, getattr(law, "r", 1), getattr(law, "r", 1) - 1, 256, 255, 2 * step}
    places = sorted({z + s for z in edge for s in (-1, 0, 1)} | {-z for z in edge} | {-d for d in sizes})
    logs = {z: ln(law.prob(z)) for z in {*places, *(p + d for p in places for d in sizes)}}
    worst = {d: max(abs(logs[p] - logs[p + d]) for p in places) for d in sizes}
    worst[0] = D(0)
    most = max(
        (
            sum(worst[d] for d in shape)
            for shape in itertools.product([0, *sizes], repeat=entries)
            if sum(shape) <= moves
        ),
        default=D(0),
    )
    assert most <= D(bound.epsilon)
    assert float(most) > 0.3 * bound.epsilon  # and it is no idle bound


@pytest.mark.parametrize(("epsilon", "step"), [(Fraction(1), 20), (Fraction(4), 9), (Fraction(1, 10), 7)])
def test_stairs(epsilon: Fraction, step: int) -> None:
    law = StaircaseLaw.best(epsilon, step)
    far = law.stairs.size * step  # where the stairs' table escapes
    points = [*range(3 * step + 2), *range(far - 2, far + 3)]
    logs = {m: ln(law.prob(m)) for m in points}
    for a, b in itertools.combinations(points, 2):
        assert abs(logs[a] - logs[b]) <= -(-abs(a - b) // step) * dec(law.unit)
    mass = law.prob(0) + 2 * sum((law.prob(m) for m in range(1, 40)), Fraction(0))
    assert mass + law.beyond(39) == 1
    draws = law.draw_noise(20_000, Random.seeded(3))
    seen = np.bincount(np.abs(draws), minlength=2 * step)[: 2 * step] / 20_000
    asked = np.array([float(law.prob(m)) * (2 if m else 1) for m in range(2 * step)])
    assert (np.abs(seen - asked) < 5.5 * np.sqrt(asked / 20_000) + 1e-4).all()


def test_units_of_stairs_by_brute_force() -> None:
    for moves, entries, step in itertools.product(range(1, 8), range(1, 4), range(1, 8)):
        shapes = (s for s in itertools.product(range(moves + 1), repeat=entries) if sum(s) <= moves)
        most = max(sum(-(-d // step) for d in s) for s in shapes)
        assert loss_units(moves, entries, step) >= most


def test_calibration_never_exceeds_and_hardly_misses() -> None:
    for epsilon in (Fraction(1, 1000), Fraction(1), Fraction(7), Fraction(500)):
        for moves, entries in ((1, 1), (5, 5), (10**6, 3)):
            law = calibrated(epsilon, moves, entries)
            loss = moves * law.rate + min(moves, entries) * law.slack
            assert loss <= epsilon
            assert law.rate == 32 or loss > epsilon * Fraction(999, 1000)


# -- coins, Gaussian noise, choices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [5, 100, 9000])
def test_a_coin_is_a_comparison_of_integers(many: int) -> None:
    """yes below a/b, no above it, and a word that holds the border inside is looked at further."""
    rng = random.Random(4)
    for b in (1, 2, 3, 7, 1 << 20, (1 << 52) - 1, (1 << 63) + 1):
        a = rng.randrange(b + 1)
        border = a * 2**64 // b
        near = [w for w in range(border - 3, border + 4) if 0 <= w < 2**64]
        words = [rng.choice([*near, 0, 2**64 - 1, rng.randrange(2**64)]) for _ in range(many)]
        further = [rng.randrange(2**64) for _ in range(many)]
        stream = Stream(Random.seeded(1), many)
        stream._left = np.array(words + further, np.uint64)
        num = np.full(many, a, np.uint64)
        out = np.ones(many, np.bool_)
        going = set(_survivors(np.arange(many), num, b, False, out, stream).tolist())
        rest = iter(further)
        for i, w in enumerate(words):
            low, high = Fraction(w, 2**64), Fraction(w + 1, 2**64)
            while low < Fraction(a, b) < high:
                more = next(rest)
                low, high = low + (high - low) * Fraction(more, 2**64), low + (high - low) * Fraction(more + 1, 2**64)
            assert (i in going) == (high <= Fraction(a, b)), (a, b, w)


@pytest.mark.parametrize(
    "sigma2", [Fraction(1, 64), Fraction(1, 3), Fraction(27, 10), Fraction(10**12), Fraction(1 << 88)]
)
def test_gaussian_exponent_is_taken_apart_exactly(sigma2: Fraction) -> None:
    law = DiscreteGaussianLaw.at_least(sigma2)
    assert sigma2 <= law.sigma2 <= sigma2 * (1 + Fraction(1, 1 << 29))
    A, p, q, t = 2 * law.t * law.q, law.p, law.q, law.t
    assert A < 1 << 52 and p < 1 << 52  # times 4095 below 2**64
    for y in (0, 1, 2, t - 1, t, 7 * t + 3, 40 * t):
        x = abs(q * y - p)
        a, b, c, d = *divmod(x, p), *divmod(x, A)
        assert x * a < 1 << 63 and c * b < 1 << 63 and q * y < 1 << 63
        g = Fraction(x * a, A) + Fraction(c * b, p) + Fraction(d * b, A * p)
        assert g == (y - law.sigma2 / t) ** 2 / (2 * law.sigma2)


@pytest.mark.parametrize("sigma2", [Fraction(1, 3), Fraction(27, 10)])
def test_gaussian_draws(sigma2: Fraction) -> None:
    law = DiscreteGaussianLaw.at_least(sigma2)
    z = np.arange(-8, 9)
    w = np.exp(-(z**2) / (2 * float(law.sigma2)))
    asked = w / np.exp(-(np.arange(-60, 61.0) ** 2) / (2 * float(law.sigma2))).sum()
    for n, seed in ((3000, 5), (40_000, 6)):  # without and with kernels
        draws = law.draw_noise(n, Random.seeded(seed))
        seen = np.array([(draws == v).mean() for v in z])
        assert (np.abs(seen - asked) < 5 * np.sqrt(asked / n) + 2 / n).all()


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-6), (8.0, 1e-3), (40.0, 0.1)])
def test_conversions_are_rounded_outward(epsilon: float, delta: float) -> None:
    """The bound of Canonne, Kamath and Steinke at 2000 alphas, by decimals: never below, and rho never above."""

    def least(rho: D, d: D) -> D:
        grid = [1 + (D(i) / 100 - 10).exp() for i in range(0, 2000, 4)]
        return min(a * rho + (-d.ln() - a.ln()) / (a - 1) + (1 - 1 / a).ln() for a in grid)

    rho = rho_from_epsilon(epsilon, delta)
    assert least(D(rho), D(delta)) <= D(epsilon) * D("1.001")
    assert epsilon_from_rho(rho, delta) >= epsilon * (1 - 1e-12)
    # what the analytic Gaussian loses at this rho (sensitivity 1, sigma**2 = 1 / (2 rho)) is a lower bound
    sigma = math.sqrt(1 / (2 * rho))
    up, down = (0.5 * math.erfc(-(s / (2 * sigma) - epsilon * sigma) / math.sqrt(2)) for s in (1, -1))
    assert up - math.exp(epsilon) * down <= delta


def by_orders(scores: tuple[int, ...], rate: D) -> list[D]:
    """Permute-and-flip as it was published: an order, then coins along it."""
    p = [(-rate * (max(scores) - s)).exp() for s in scores]
    out = [D(0)] * len(scores)
    for order in itertools.permutations(range(len(scores))):
        left = D(1) / math.factorial(len(scores))
        for i in order:
            out[i] += left * p[i]
            left *= 1 - p[i]
    return out


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("kind", [mu.Exponential, mu.PermuteAndFlip])
def test_choices_by_enumeration(kind: Any, monotone: bool) -> None:
    bound = kind(0.7, monotone=monotone).bind_scores(3, 2)
    rate = dec(bound.law.rate)
    directions = [s for s in itertools.product((0, 1, 2) if monotone else (-2, -1, 0, 1, 2), repeat=3)]
    worst = D(0)
    for scores in [(0, 0, 0), (5, 4, 0), (1, 3, 3), (0, 9, 2)]:
        before = law_of(kind, scores, rate)
        assert np.allclose(bound.law.log_prob(np.array(scores)), [float(v.ln()) for v in before], atol=1e-9)
        for move in directions:
            after = law_of(kind, tuple(s + m for s, m in zip(scores, move, strict=True)), rate)
            worst = max(worst, *(abs((a / b).ln()) for a, b in zip(after, before, strict=True)))
    assert worst <= D(bound.epsilon) <= D(0.7)
    assert float(worst) > 0.6 * bound.epsilon


def law_of(kind: Any, scores: tuple[int, ...], rate: D) -> list[D]:
    if kind is mu.PermuteAndFlip:
        return by_orders(scores, rate)
    weights = [(rate * s).exp() for s in scores]
    return [w / sum(weights) for w in weights]


@pytest.mark.parametrize("law", [ExponentialLaw(1, 2), PermuteAndFlipLaw(1, 2)])
def test_choices_are_drawn_by_their_law(law: Any) -> None:
    scores, rng = np.array([3, 0, 3, 2]), Random.seeded(8)
    seen = np.bincount([law.draw_choice(scores, rng) for _ in range(3000)], minlength=4) / 3000
    asked = np.exp(law.log_prob(scores))
    assert (np.abs(seen - asked) < 5 * np.sqrt(asked / 3000)).all()


def test_shares_of_a_budget_are_the_budget() -> None:
    rng = random.Random(9)
    for _ in range(50):
        blocks = [Block(f"b{i}", 1, 1, 1, rng.random() + 1e-9) for i in range(rng.randrange(1, 9))]
        assert sum(split_by_weight(0.1, blocks)) == Fraction(0.1)
        for noise in (mu.DiscreteLaplace(0.1), mu.Staircase(0.1), mu.DiscreteLaplace(0.1, sampler="exact")):
            bound = noise.bind(blocks)
            assert sum((law.loss(1, 1) for law in bound.laws), Fraction(0)) <= Fraction(bound.epsilon) <= Fraction(0.1)


# -- blocks ------------------------------------------------------------------------------------------------------------


def a_domain(rng: random.Random, kind: str) -> Any:
    low = rng.choice([-3, 0, 1, 1000])
    if kind == "C":
        return mu.Categories([f"l{i}" for i in range(rng.choice([2, 3, 4]))])
    if kind == "I":
        return mu.Integers(low, low + rng.choice([1, 2, 5]))
    return mu.Interval(low + 0.1, low + rng.choice([0.7, 3.0]), rng.choice([2, 3, 5]))


def questions(rng: random.Random, s: Any) -> Iterator[Any]:
    labels = [n for n in s.private if isinstance(s[n], mu.Categories)]
    numbers = [n for n in s.private if n not in labels]
    inner = [q(s[n]) for n in numbers for q in (Sum, Mean, Variance, Quantile)]
    inner += [q(s[n]) for n in s.private for q in (Count, Histogram)]
    yield from (*inner, Marginals(s), Pair(s, *s.private[:2]))
    for one in inner:
        yield Where(one, s[labels[0]], is_in=(s[labels[0]].values[0],))
    for one in rng.sample(inner, 3):
        yield GroupBy(one, s[labels[0]])
    yield GroupBy(Marginals(s), s[labels[0]])
    how = {"shape": rng.choice(["box", "unit", "ball", "diamond"]), "radius": rng.choice([None, 0.7, 1.5])}
    for bits, norm in itertools.product((3, 14), ("l1", "l2")):
        yield Gram(s, numbers[0], rng.random() < 0.5, bits=bits, norm=norm, **how)
        yield Taylor(s, labels[0], bits=bits, norm=norm, **how)
    at = tuple(rng.choice([0, 1 << 16, -(1 << 24), 99]) for _ in range(Taylor(s, labels[0], **how).design.width))
    yield Gradient(s, labels[0], at, 0, bits=5, curvature=rng.random() < 0.5, **how)
    yield ClassMoments(s, labels[0], rng.choice(["best", "equal"]))
    plane = mu.Schema({n: s[n] for n in numbers})
    yield Clusters(plane, tuple(tuple(rng.randrange(-9, 9) for _ in numbers) for _ in range(3)), (2,) * len(numbers))


def every_row(domain: Any) -> Any:
    """All codes that stand() can give, nobody's too."""
    of = [domain[n] for n in domain.private] if isinstance(domain, mu.Schema) else [domain]
    sizes = [d.size + isinstance(d, mu.Categories) for d in of]
    columns = np.array(list(itertools.product(*map(range, sizes)))[:600], np.int16).T
    return tuple(columns) if isinstance(domain, mu.Schema) else columns[0]


def some(x: Any, which: Any) -> Any:
    return tuple(c[which] for c in x) if isinstance(x, tuple) else x[which]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bounds_hold_for_every_row_and_every_exchange(seed: int) -> None:
    rng = random.Random(seed)
    whole = mu.Integers(1000, 1002) if seed == 3 else a_domain(rng, "I")  # seed 3: far from zero, in a narrow range
    s = mu.Schema({"a": a_domain(rng, "C"), "b": whole, "c": a_domain(rng, rng.choice("CV"))})
    for ask in questions(rng, s):
        x = every_row(ask.domain)
        rows = np.asarray(ask.lift(x))
        for i in rng.sample(range(len(rows)), min(8, len(rows))):  # what a row adds depends on that row alone
            assert ask.tally(some(x, np.array([i]))).tolist() == rows[i].tolist(), ask
        for n in (37, 9000):
            which = np.array([rng.randrange(len(rows)) for _ in range(n)])
            assert ask.tally(some(x, which)).tolist() == [sum(column) for column in rows[which].T.tolist()], ask
        at = 0
        for block in ask.blocks:
            held = rows[:, at : at + block.width]
            at += block.width
            assert max(sum(map(abs, row)) for row in held.tolist()) <= block.l1, (ask, block)
            assert max(sum(v * v for v in row) for row in held.tolist()) <= block.l2, (ask, block)
            few = held if len(held) <= 150 else held[rng.sample(range(len(held)), 150)]
            apart = np.abs(few[:, None] - few[None])
            assert int(apart.sum(axis=2).max()) <= block.sensitivity("l1", "replace"), (ask, block)
            assert (apart.astype(float) ** 2).sum(axis=2).max() <= block.sensitivity("l2", "replace") * (1 + 1e-12)
            # k different rows of one person
            three = rows[np.array([[rng.randrange(len(rows)) for _ in range(3)] for _ in range(50)])]
            moved = np.abs(three[:, :, at - block.width : at].sum(axis=1)).sum(axis=1).max()
            assert int(moved) <= block.sensitivity("l1", "add/remove", 3)
        assert at == ask.width


def test_sums_are_exact_where_they_are_largest() -> None:
    """All rows at a corner, n of them: floats on the way may round nothing."""
    n = 300_001
    s = mu.Schema({"a": mu.Integers(0, 65536), "b": mu.Interval(0.0, 1.0, 1000), "y": mu.Integers(0, 1)})
    k = mu.Schema({"a": mu.Integers(0, (1 << 20) - 1), "c": mu.Categories(["u", "v"])})
    wide = mu.Schema({"a": mu.Integers(0, 65536), "y": mu.Categories(["n", "p"])})
    plane = mu.Schema({"a": mu.Integers(0, 1 << 20), "b": mu.Integers(0, 1 << 20)})
    asks: list[Any] = [
        Gram(s, "y", shape="box", bits=16),
        Gram(s, "y", shape="ball", radius=0.9, bits=16, norm="l2"),
        Gradient(wide, "y", (1 << 24, -(1 << 24)), shape="box", bits=16, curvature=True),
        ClassMoments(k, "c", "best"),
        ClassMoments(k, "c", "equal"),
        Clusters(plane, ((1 << 20, 1 << 20), (-(1 << 20), 3)), (1, 1)),
    ]
    for ask in asks:
        sizes = [ask.domain[name].size for name in ask.domain.private]
        for end in ([size - 1 for size in sizes], [0] * len(sizes), [size // 3 for size in sizes]):
            row = tuple(np.array([v], np.int32) for v in end)
            many = tuple(np.repeat(c, n) for c in row)
            assert ask.tally(many).tolist() == [n * v for v in ask.lift(row)[0].tolist()], ask


# -- rows, learners, the filter ----------------------------------------------------------------------------------------

CELLS: list[Any] = [
    *(0, 1, 2, -1, 2**70, -(2**70), 2**53 + 1, 1.0, 1.5, math.nan, math.inf, True, None, "0", "1", "a", "", " 2 "),
    *("true", "nan", b"1", b"\xff", "\ud800", "a\x00", D("1"), D("sNaN"), Fraction(1, 2), 1j, [1], {}, (1,), "1e999"),
    *(np.int64(1), np.uint64(2**64 - 1), np.float32(1.5), np.str_("a"), np.datetime64("2020-01-01")),
]


@pytest.mark.parametrize(
    "domain",
    [
        mu.Integers(0, 3),
        mu.Integers(10**15 - 8, 10**15 - 1),
        mu.Interval(0.0, 2.0, 4),
        mu.Categories(["a", "1", "0"]),
        mu.Categories([0, 1, 2]),
        mu.Categories([False, True]),
        mu.Categories(3),
    ],
)
def test_a_row_is_read_alone(domain: Any) -> None:
    rng = random.Random(12)
    alone = [int(encode_domain_lenient(domain, [cell])[0]) for cell in CELLS]
    schema = mu.Schema({"v": domain})
    plan = mu.Plan(mu.Marginals(schema), curator=mu.DiscreteLaplace(1.0))
    each = [plan.step(task_of({"v": [cell]}, plan)).sum for cell in CELLS]
    for _ in range(12):
        which = [rng.randrange(len(CELLS)) for _ in range(rng.choice([2, 9, 60]))]
        cells = np.empty(len(which), object)
        cells[:] = [CELLS[i] for i in which]
        for values in (list(cells), cells):
            assert encode_domain_lenient(domain, values).tolist() == [alone[i] for i in which]
            assert plan.step(task_of({"v": values}, plan)).sum.tolist() == sum(each[i] for i in which).tolist()


def task_of(frame: Any, plan: Any) -> Any:
    from murmure.run.totals import tasks

    return next(iter(tasks(plan, frame, Random.seeded(1))))


def test_learners_spend_no_more_than_asked() -> None:
    from murmure.learn import kmeans, linear, logistic, naive_bayes

    rng = np.random.default_rng(3)
    for learner in itertools.chain(*(m.EXAMPLES for m in (kmeans, linear, logistic, naive_bayes))):
        s, asked = learner.schema, learner.privacy
        frame = {n: [s[n].label(i) for i in rng.integers(0, s[n].size, 30)] for n in s.private}
        costs = []
        for data in (frame, {n: v[1:] for n, v in frame.items()}, {n: [] for n in frame}):
            learner.rng = Random.seeded(4)
            gate = _Watch(Random.seeded(4))
            learner.fit(data, gate=gate)
            for one in ("epsilon", "rho"):
                spent = sum(Fraction(getattr(b.cost, one)) for b in gate.bounds if math.isfinite(getattr(b.cost, one)))
                assert spent <= Fraction(asked.epsilon if one == "epsilon" else max(asked.cost.rho, 0.0))
            assert {b.relation for b in gate.bounds} == {asked.relation}
            assert learner.guarantees_["reader"].epsilon <= asked.epsilon
            pure = all(math.isfinite(b.cost.epsilon) for b in gate.bounds)
            costs.append(sum(b.cost.epsilon if pure else b.cost.rho for b in gate.bounds))
        # What is asked follows from the first noisy answer; whatever it is, as much is spent (but for rounding, and a
        # count's law that cannot be sharper): nobody's row decides how much.
        assert max(costs) <= 1.0001 * min(costs) or asked.epsilon > 50


class _Watch(Gate):
    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.bounds: list[Any] = []

    def add(self, question: str, total: Any, bound: Any) -> Any:
        self.bounds.append(bound)
        return super().add(question, total, bound)


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_nobody_pays_more_than_the_budget(relation: Any, tmp_path: Any) -> None:
    """Random charges, whole and in parts: what each part's people really paid, added up in fractions."""
    rng = random.Random(7)
    ledger = mu.Ledger(tmp_path / "l.db")
    ledger.set_budget("p", 1.0, relation=relation)
    paid: dict[tuple[str, str] | None, Fraction] = {}
    refused = 0
    for i in range(25):
        part = rng.choice([None, ("sex", "f"), ("sex", "m"), ("age", "old"), ("age", "young")])
        epsilon = rng.choice([0.01, 0.1, 0.3])
        try:
            ledger.account("p").pay(
                plan=str(i), about="", cost=Cost(epsilon, epsilon**2), answers=[], relation=relation, part=part
            )
        except mu.MurmureError:
            refused += 1
            continue
        paid[part] = paid.get(part, Fraction(0)) + Fraction(epsilon)
        worst = paid.get(None, Fraction(0))
        for partition in ("sex", "age"):
            most = sorted((v for k, v in paid.items() if k and k[0] == partition), reverse=True)
            worst += sum(most[: 1 if relation == "add/remove" else 2], Fraction(0))
        assert worst <= 1
    assert refused
