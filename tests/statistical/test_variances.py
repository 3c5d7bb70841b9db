"""Exact variances and moments against the printed ones of reference/math.md, sections 1 to 3. Nothing is simulated."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.local.hybrid import EPSILON_STAR
from murmure.local.square_wave import half_width
from murmure.run.postprocessing import channel_matrix

ORACLES = ("GRR", "SUE", "OUE", "BLH", "OLH", "SubsetSelection", "HadamardResponse")


def oracle(name: str, k: int, epsilon: float) -> Any:
    return getattr(mu, name)(mu.Categories(k), epsilon)


# ---- section 1


def test_warners_variance_is_the_same_for_every_share() -> None:
    """Two fair coins: N Var = 3/4 whatever the share."""
    fair = mu.Warner(mu.Categories(2))

    for f in (0.0, 0.3, 1.0):
        assert fair.variance(np.array([1 - f, f]), 1) == pytest.approx([0.75, 0.75], rel=1e-12)


@pytest.mark.parametrize(("f", "expected"), [(0.0, 0.4375), (0.5, 0.6875), (1.0, 0.9375)])
def test_a_crooked_coin_wastes_budget(f: float, expected: float) -> None:
    """(1/2, 1/4) costs ln 5 and has N Var .4375, .6875, .9375; symmetric response at ln 5 has .3125."""
    crooked = mu.Warner(mu.Categories(2), truth=0.5, yes_coin=0.25)
    best = mu.Warner(mu.Categories(2), epsilon=math.log(5))

    assert crooked.variance(np.array([1 - f, f]), 1) == pytest.approx([expected] * 2, rel=1e-12)
    assert best.variance(np.array([1 - f, f]), 1) == pytest.approx([0.3125] * 2, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, math.log(3), 4.0])
def test_the_best_two_answers(epsilon: float) -> None:
    """N Var = E/(E-1)^2 for every share: Warner at a budget, and GRR on two values."""
    E = math.exp(epsilon)
    f = np.array([0.2, 0.8])

    for mechanism in (mu.Warner(mu.Categories(2), epsilon=epsilon), mu.GRR(mu.Categories(2), epsilon)):
        assert mechanism.variance(f, 1) == pytest.approx([E / (E - 1) ** 2] * 2, rel=1e-9)


# ---- section 2: Var* at N = 1e5, k = 128

VAR_STAR = {  # eps: GRR, SUE, OUE, BLH = HR, OLH, SS; then g and w
    0.5: (3.033194e-03, 1.591693e-04, 1.567079e-04, 1.667079e-04, 1.581740e-04, 1.541144e-04, 3, 48),
    1.0: (4.359648e-04, 3.917698e-05, 3.682694e-05, 4.682694e-05, 3.691655e-05, 3.609788e-05, 4, 34),
    math.log(3): (3.225000e-04, 3.232051e-05, 3.000000e-05, 4.000000e-05, 3.000000e-05, 2.937744e-05, 4, 32),
    2.0: (3.267735e-05, 9.206736e-06, 7.240617e-06, 1.724062e-05, 7.245914e-06, 6.970968e-06, 8, 15),
    3.0: (4.010499e-06, 3.697105e-06, 2.205640e-06, 1.220564e-05, 2.205650e-06, 2.014698e-06, 21, 6),
    4.0: (6.286569e-07, 1.810154e-06, 7.602183e-07, 1.076022e-05, 7.602285e-07, 5.842426e-07, 56, 2),
    5.0: (1.262794e-07, 9.742241e-07, 2.731869e-07, 1.027319e-05, 2.731874e-07, 1.262794e-07, 149, 1),
}


def close_to_printed(name: str, printed: float) -> Any:
    # seven digits are printed; OLH's bins differ in size by one part in 2**9 where g is no power of two
    return pytest.approx(printed, rel=2e-5 if name == "OLH" else 5.1e-7)


@pytest.mark.parametrize("epsilon", VAR_STAR, ids="{:.4g}".format)
def test_var_star(epsilon: float) -> None:
    """The lecture's figure: N = 1e5, k = 128, f = 0, all seven oracles, with the best g and the best w."""
    *printed, g, w = VAR_STAR[epsilon]
    by_name = dict(zip(("GRR", "SUE", "OUE", "BLH", "OLH", "SubsetSelection"), printed, strict=True))
    by_name["HadamardResponse"] = by_name["BLH"]

    for name, expected in by_name.items():
        assert oracle(name, 128, epsilon).variance(0.0, 100_000) == close_to_printed(name, expected), name
    assert (oracle("OLH", 128, epsilon).g, oracle("SubsetSelection", 128, epsilon).size) == (g, w)


@pytest.mark.parametrize(
    ("epsilon", "name", "expected"),
    [
        (1.0, "GRR", 5.092939e-04),
        (1.0, "SUE", 3.917698e-05),
        (1.0, "OUE", 3.782694e-05),
        (1.0, "BLH", 4.582694e-05),
        (1.0, "HadamardResponse", 4.582694e-05),
        (1.0, "OLH", 3.813515e-05),
        (1.0, "SubsetSelection", 3.713438e-05),
        (4.0, "GRR", 2.979484e-06),
        (4.0, "OUE", 1.760218e-06),
        (4.0, "OLH", 1.767862e-06),
        (4.0, "SubsetSelection", 1.742243e-06),
    ],
)
def test_variance_at_a_tenth(epsilon: float, name: str, expected: float) -> None:
    """The same at f = 0.1: the f term is there."""
    assert oracle(name, 128, epsilon).variance(0.1, 100_000) == close_to_printed(name, expected)


@pytest.mark.parametrize(
    ("mechanism", "variances", "covariance"),
    [
        (mu.GRR(mu.Categories(4), 1.0), [2.180044, 1.947253, 1.830858, 1.598067], -0.804278),
        (mu.SubsetSelection(mu.Categories(4), 1.0, w=2), [2.321516, 2.421516, 2.471516, 2.571516], -0.740505),
    ],
    ids=["GRR", "SubsetSelection"],
)
def test_four_values(mechanism: Any, variances: list[float], covariance: float) -> None:
    """k = 4, eps = 1, f = (.5, .3, .2, 0): N Var of every cell, and N Cov of the first two."""
    f = np.array([0.5, 0.3, 0.2, 0.0])
    slope = float(mechanism.supports.p - mechanism.supports.q)

    assert mechanism.variance(f, 1) == pytest.approx(variances, abs=6e-7)
    assert mechanism.cross(f)[0, 1] / slope**2 == pytest.approx(covariance, abs=6e-7)


# ---- section 2: the common formula, and covariances, by enumeration


def enumerable() -> list[Any]:
    return [
        *(
            oracle(name, k, e)
            for name in ("GRR", "SUE", "OUE", "HadamardResponse")
            for k in (2, 4, 5)
            for e in (0.5, 2.0)
        ),
        *(mu.SubsetSelection(mu.Categories(k), 1.0, w=w) for k, w in ((2, 1), (4, 2), (5, 3), (6, 1))),
        mu.BLH(mu.Categories(2), 1.0),
        mu.BLH(mu.Categories(4), 1.0),
        mu.BLH(mu.Categories(7), 0.5),
        mu.OLH(mu.Categories(4), 1.0),  # g = 4
        mu.RAPPOR(mu.Categories(4), 4.0, 1.0),
        mu.Warner(mu.Categories(2)),
        mu.Warner(mu.Categories(2), truth=0.5, yes_coin=0.25),
        mu.UnrelatedQuestion(mu.Categories(2), truth=0.7, innocuous=0.25),
    ]


@pytest.mark.parametrize("mechanism", enumerable(), ids=repr)
def test_covariances_by_enumeration(mechanism: Any) -> None:
    """Var and Cov of one person's tally, summed over every report of the law, are those that error bars use."""
    k, channel = mechanism.domain.size, mechanism.channel
    outcomes = list(channel.outcomes())
    tallies = np.array([mechanism.tally(np.array([y])) for y in outcomes], float)
    f = np.arange(1, k + 1) / (k * (k + 1) / 2)
    person = np.zeros((k, k))
    for x in range(k):
        p = np.array([float(channel.prob(x, y)) for y in outcomes])
        mean = p @ tallies
        person += f[x] * ((tallies * p[:, None]).T @ tallies - np.outer(mean, mean))
    affine = mechanism.affine()
    slope = np.array([float(affine.slope[v % len(affine.slope)]) for v in range(k)])
    expected = person / np.outer(slope, slope)
    # a tally that shows exactly these shares, so that the estimate's own bars are taken at f
    offset = np.array([float(affine.offset[v % len(affine.offset)]) for v in range(k)])
    n = 10**9
    total = np.rint(n * (offset + slope * f)).astype(np.int64)

    assert mechanism.variance(f, 1) == pytest.approx(np.diag(expected), rel=1e-9)
    assert mechanism.estimate(total, n).cov * n == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ["GRR", "SubsetSelection"])
def test_shares_that_sum_to_one(name: str) -> None:
    """GRR and subset selection: the estimates sum to one in every sample, so their covariances cancel."""
    mechanism = oracle(name, 5, 1.0)
    reports = mechanism.law(np.arange(1000) % 5).sample(mu.Random.seeded(1))
    estimate = mechanism.estimate(mechanism.tally(reports), 1000)

    assert estimate.mean.sum() == pytest.approx(1.0, abs=1e-12)
    assert estimate.cov.sum() == pytest.approx(0.0, abs=1e-12)


def test_unary_cells_do_not_move_together() -> None:
    """Unary encodings, and hashing with three-wise independence and equal bins, have no covariance at all."""
    f = np.array([0.4, 0.3, 0.2, 0.1])
    for mechanism in (oracle("SUE", 4, 1.0), oracle("OUE", 4, 1.0), oracle("BLH", 4, 1.0), oracle("OLH", 4, 1.0)):
        off = mechanism.cross(f)[~np.eye(4, dtype=bool)]
        assert off.tolist() == [0.0] * 12


@pytest.mark.parametrize("epsilon", [0.5, 1.6])  # 3 and 6 bins: no powers of two
def test_collisions_are_counted(epsilon: float) -> None:
    """Every pair of seeds of two values, hashed: q is the share that collides, to the last fraction."""
    mechanism = oracle("OLH", 2, epsilon)
    channel, m = mechanism.channel, mechanism.channel.seed_bits
    b = np.arange(1 << m, dtype=np.int64)
    same = sum(int((channel.bin_of(b) == channel.bin_of(b ^ a)).sum()) for a in range(1 << m))
    collide = Fraction(same, 1 << (2 * m))
    p, lie = channel.bins.prob(0, 0), channel.bins.prob(0, 1)

    assert mechanism.g & (mechanism.g - 1) != 0
    assert mechanism.supports.q == p * collide + lie * (1 - collide)


def test_hadamard_cells_move_together() -> None:
    """HR: N (p-q)^2 Cov = f_l (p - 1/2)/2 where row l is row i XOR row j, and 0 where no value has that row."""
    mechanism = oracle("HadamardResponse", 5, 1.0)
    f = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    p = math.e / (math.e + 1)
    for i, j in itertools.combinations(range(5), 2):
        row = (i + 1) ^ (j + 1)
        expected = f[row - 1] * (p - 0.5) / 2 if 1 <= row <= 5 else 0.0
        assert mechanism.cross(f)[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_the_best_number_of_bins() -> None:
    """g - 1 minimises E^2/u + u over the integers, also where rounding e^eps + 1 would not."""
    for epsilon in np.arange(0.05, 8.0, 0.05):
        E = math.exp(epsilon)
        assert oracle("OLH", 4, float(epsilon)).g - 1 == min(range(1, 9000), key=lambda u, E=E: E * E / u + u)


@pytest.mark.parametrize("k", [2, 3, 10, 39, 128, 166, 512])
def test_the_best_size_of_subsets(k: int) -> None:
    """w minimises the closed form over all integers (k = 166, eps = 4.7 is where the usual rule loses 16.5 %)."""
    for epsilon in (0.05, 0.5, 1.0, 2.0, 4.7, 6.0):
        E = math.exp(epsilon)

        def variance(w: int, E: float = E) -> float:
            return ((w - 1) * E + k - w) * (w * E + k - w - 1) / (w * (k - w) * (E - 1) ** 2)

        mechanism = oracle("SubsetSelection", k, epsilon)
        assert variance(mechanism.size) == min(map(variance, range(1, k)))
        assert mechanism.variance(0.0, 1) == pytest.approx(variance(mechanism.size), rel=1e-6)
        for other in ("GRR", "SUE", "OUE", "OLH"):
            assert mechanism.variance(0.0, 1) <= oracle(other, k, epsilon).variance(0.0, 1) * (1 + 1e-6)


# ---- section 3: numbers


def grid(low: float, high: float, steps: int = 1024) -> mu.Interval:
    """A grid whose first and last midpoints are low and high: 1,025 cells."""
    half = (high - low) / steps / 2
    return mu.Interval(low - half, high + half, cells=steps + 1)


def person_variance(mechanism: Any, x: float) -> float:
    """Variance of the mean of one person who holds x."""
    f = np.zeros(mechanism.domain.size)
    f[mechanism.domain.encode([x])[0]] = 1.0
    return float(mechanism.variance(f, 1)[0])


NUMERIC = {  # eps: Duchi at 0 and 1, PM at 0 and 1, HM anywhere
    0.5: (16.670792, 15.670792, 17.701757, 21.222569, None),
    1.0: (4.682694, 3.682694, 3.682103, 5.223597, 4.288992),
    2.0: (1.724062, 0.724062, 0.645588, 1.227565, 1.042336),
    4.0: (1.076022, 0.076022, 0.084836, 0.241354, 0.218979),
}


@pytest.mark.parametrize("epsilon", NUMERIC)
def test_variances_of_means(epsilon: float) -> None:
    """On [-1, 1]: Duchi, piecewise and hybrid at x = 0 and 1, within 1e-3 of the printed, continuous ones.

    At eps = 4 the window is 138.6 cells long, which becomes 139: 3e-3 there.
    """
    duchi_0, duchi_1, piecewise_0, piecewise_1, hybrid = NUMERIC[epsilon]
    domain = grid(-1.0, 1.0)
    duchi, piecewise, mixed = mu.Duchi(domain, epsilon), mu.Piecewise(domain, epsilon), mu.Hybrid(domain, epsilon)

    assert person_variance(duchi, 0.0) == pytest.approx(duchi_0, rel=1e-6)
    for end in (-1.0, 1.0):
        assert person_variance(duchi, end) == pytest.approx(duchi_1, rel=1e-5)
    near = 1e-3 if epsilon < 4 else 3e-3
    assert person_variance(piecewise, 0.0) == pytest.approx(piecewise_0, rel=near)
    assert person_variance(piecewise, 1.0) == pytest.approx(piecewise_1, rel=near)
    for x in (-1.0, -0.3, 0.0, 0.7, 1.0):
        wanted = hybrid if hybrid is not None else person_variance(duchi, x)  # below eps*: Duchi
        assert person_variance(mixed, x) == pytest.approx(wanted, rel=near)


@pytest.mark.parametrize("kind", ["Duchi", "Piecewise", "Hybrid", "SquareWave"])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("K", [2, 3, 11])
def test_variance_of_a_readout_by_enumeration(kind: str, epsilon: float, K: int) -> None:
    """sum of P[y | c] (readout(y) - c)^2 over every report, in fractions, is the variance that error bars use."""
    mechanism = getattr(mu, kind)(mu.Integers(0, K - 1), epsilon)
    for c in range(K):
        probs = [mechanism.channel.prob(c, y) for y in mechanism.channel.outcomes()]
        exact = sum((p * (r - c) ** 2 for p, r in zip(probs, mechanism.affine().readout, strict=True)), Fraction(0))
        f = np.zeros(K)
        f[c] = 1.0

        assert mechanism.variance(f, 1)[0] == pytest.approx(float(exact), rel=1e-9)


def test_where_hybrid_begins() -> None:
    """eps* = 0.60935249: Duchi's table below, a coin above."""
    assert pytest.approx(0.60935249, abs=5e-9) == EPSILON_STAR
    domain = mu.Integers(0, 10)
    assert mu.Hybrid(domain, 0.6093).channel.integers()["law"] == "table"
    assert mu.Hybrid(domain, 0.6094).channel.integers()["law"] == "tagged"


@pytest.mark.parametrize(("epsilon", "b"), [(0.5, 0.358155), (1.0, 0.256083), (2.0, 0.129337), (4.0, 0.030428)])
def test_the_width_of_the_square_wave(epsilon: float, b: float) -> None:
    """b' as printed, and the series below 0.001 joins the closed form."""
    assert half_width(epsilon) == pytest.approx(b, abs=5e-7)
    assert half_width(0.001 - 1e-12) == pytest.approx(half_width(0.001 + 1e-12), abs=1e-8)


def test_the_mean_through_the_square_wave() -> None:
    """On [0, 1] at eps = 1: .94945 at 1/2 and 1.37902 at 0; piecewise has .92053 and 1.30590."""
    domain = grid(0.0, 1.0)

    for kind, middle, end in ((mu.SquareWave, 0.94945, 1.37902), (mu.Piecewise, 0.92053, 1.30590)):
        assert person_variance(kind(domain, 1.0), 0.5) == pytest.approx(middle, rel=1e-3)
        assert person_variance(kind(domain, 1.0), 0.0) == pytest.approx(end, rel=1e-3)


# ---- section 3: bounded reports


@pytest.mark.parametrize(
    ("epsilon", "at_0", "at_fifth"),
    [
        (0.5, 0.458506, 0.467737),
        (1.0, 0.418023, 0.437294),
        (2.0, 0.343482, 0.383332),
        (4.0, 0.231343, 0.305568),
        (8.0, 0.124664, 0.235670),
    ],
)
def test_bounded_laplace_leans_to_the_middle(epsilon: float, at_0: float, at_fifth: float) -> None:
    """E[Y | 0] and E[Y | .2] on 1,024 cells, within 2e-3 of the continuous law's: why it carries no error bar."""
    mechanism = mu.BoundedLaplace(mu.Interval(0.0, 1.0), epsilon)
    expected = channel_matrix(mechanism.channel) @ mechanism.domain.numbers()
    zero, fifth = mechanism.domain.encode([0.0, 0.2])

    assert expected[zero] == pytest.approx(at_0, abs=2e-3)
    assert expected[fifth] == pytest.approx(at_fifth, abs=2e-3)


@pytest.mark.parametrize(
    ("epsilon", "absolute", "variance"),
    [
        (0.5, 0.350817, 0.348155),
        (1.0, 0.732514, 0.723648),
        (2.0, 1.566255, 1.543854),
        (4.0, 3.402513, 3.374775),
        (8.0, 7.319804, 7.311676),
    ],
)
def test_the_staircase_is_calibrated_after_the_cut(epsilon: float, absolute: float, variance: float) -> None:
    """The inner epsilon for a true epsilon, gamma least in E|noise| and in variance, within 1e-3 on 1,024 cells.

    At eps = 8 the top is 26 cells wide and the half cell at a bound counts: 3e-3 there.
    """
    domain, near = mu.Interval(0.0, 1.0), 1e-3 if epsilon < 8 else 3e-3

    assert mu.BoundedStaircase(domain, epsilon).inner_epsilon == pytest.approx(absolute, rel=near)
    assert mu.BoundedStaircase(domain, epsilon, gamma="variance").inner_epsilon == pytest.approx(variance, rel=near)


@pytest.mark.parametrize(
    ("epsilon", "kind", "mean", "worst"),
    [
        (1.0, "Window", 0.244, 0.378),
        (1.0, "BoundedLaplace", 0.285, 0.418),
        (1.0, "BoundedStaircase", 0.277, 0.409),
        (2.0, "Window", 0.169, 0.269),
        (2.0, "BoundedLaplace", 0.242, 0.343),
        (2.0, "BoundedStaircase", 0.214, 0.314),
        (4.0, "Window", 0.072, 0.119),
        (4.0, "BoundedLaplace", 0.177, 0.231),
        (4.0, "BoundedStaircase", 0.105, 0.154),
    ],
)
def test_how_far_bounded_reports_stray(epsilon: float, kind: str, mean: float, worst: float) -> None:
    """E|Y - x|, mean over x and worst: the sliding window beats both others at the same epsilon."""
    mechanism = getattr(mu, kind)(mu.Interval(0.0, 1.0, cells=512), epsilon)
    values = mechanism.domain.numbers()
    strays = (channel_matrix(mechanism.channel) * np.abs(values[:, None] - values)).sum(axis=1)

    assert strays.mean() == pytest.approx(mean, abs=2e-3)
    assert strays.max() == pytest.approx(worst, abs=2e-3)
