"""Coverage of the intervals that a release prints, by seeded simulation of whole surveys.

An interval of 95 % must cover at least 93 % of the time, and one that is not exact at most 98 %. With R surveys the
share that is covered has a standard error of sqrt(.93 .07 / R); four of them are allowed for chance, so a sound method
at exactly 93 % fails with probability 3e-5 a case. Two hundred cases, nearly all above 94 %: less than 1e-3 in all.
Quick: R = 1,000 (margin .032). Slow: R = 10,000 (margin .010). Means have a file of their own, test_mean_coverage.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import murmure as mu

FOUR = mu.Categories(4)
YES_NO = mu.Categories(2)
PEOPLE = [50, 200, 1000]
QUICK = 1000
SLOW = 10_000
SHARES = [0.0, 0.04, 0.3]  # of the cell that is looked at
ORACLES = {
    "Warner": mu.Warner(YES_NO),
    "Warner, crooked": mu.Warner(YES_NO, truth=0.5, yes_coin=0.25),
    "GRR": mu.GRR(FOUR, 1.0),
    "OUE": mu.OUE(FOUR, 1.0),
    "OLH": mu.OLH(FOUR, 1.0),
    "SubsetSelection": mu.SubsetSelection(FOUR, 1.0),
    "HadamardResponse": mu.HadamardResponse(FOUR, 1.0),
}


def margin(repeats: int, share: float) -> float:
    return 4 * math.sqrt(share * (1 - share) / repeats)


def uniforms(seed: int, n: int) -> Any:
    return (mu.Random.seeded(seed).words(n) >> np.uint64(11)).astype(float) * 2.0**-53


def surveys(mechanism: Any, x: Any, seed: int) -> Any:
    """(R, width): the tally of every row of x."""
    reports = mechanism.law(x.reshape(-1)).sample(mu.Random.seeded(seed))
    n = x.shape[1]
    return np.array([mechanism.tally(reports[a : a + n]) for a in range(0, x.size, n)])


def answers(k: int, share: float, n: int, repeats: int, target: str) -> tuple[Any, float]:
    """Rows of codes where the last cell has this share (or is drawn with it), and the share to be covered."""
    if target == "fixed":
        held = round(share * n)
        one = np.concatenate([np.full(held, k - 1), np.arange(n - held) % (k - 1)])
        return np.tile(one, (repeats, 1)), held / n
    u = uniforms(31, n * repeats).reshape(repeats, n)
    return np.where(u < share, k - 1, (u * 1e6).astype(np.int64) % (k - 1)), share


def interval_of_counts(mechanism: Any, counts: Any, n: int, target: str) -> dict[int, Any]:
    """The printed interval of the last cell for each of these counts; other cells do not matter (tested below)."""
    k = mechanism.domain.size
    out = {}
    for count in np.unique(counts):
        tally = np.full(k, count)
        if isinstance(mechanism, mu.GRR | mu.SubsetSelection | mu.Warner):  # a report supports so many cells, all told
            rest = n * getattr(mechanism, "size", 1) - count
            tally[:-1] = rest // (k - 1)
            tally[: rest % (k - 1)] += 1
        out[int(count)] = mechanism.estimate(tally, n).interval(0.95, target=target)[-1]
    return out


def share_covered(name: str, n: int, share: float, target: str, repeats: int) -> float:
    mechanism = ORACLES[name]
    x, truth = answers(mechanism.domain.size, share, n, repeats, target)
    counts = surveys(mechanism, x, seed=n)[:, -1]
    ends = interval_of_counts(mechanism, counts, n, target)
    return float(np.mean([ends[int(c)][0] - 1e-12 <= truth <= ends[int(c)][1] + 1e-12 for c in counts]))


def test_a_cell_has_an_interval_of_its_own() -> None:
    """The interval of a cell depends on its own count only: what the simulation of shares relies on."""
    mechanism = ORACLES["GRR"]
    for target in ("fixed", "superpopulation"):
        one = mechanism.estimate(np.array([10, 20, 30, 40]), 100).interval(0.95, target=target)
        other = mechanism.estimate(np.array([40, 10, 10, 40]), 100).interval(0.95, target=target)
        assert one[-1].tolist() == other[-1].tolist() == other[0].tolist()


@pytest.mark.parametrize("target", ["fixed", "superpopulation"])
@pytest.mark.parametrize("n", PEOPLE)
@pytest.mark.parametrize("name", ORACLES)
def test_shares_are_covered(name: str, n: int, target: str) -> None:
    """Exact inversion and Clopper-Pearson: at least 93 % of a thousand surveys, at the shares 0, 0.04 and 0.3."""
    for share in SHARES:
        assert share_covered(name, n, share, target, QUICK) >= 0.93 - margin(QUICK, 0.93), share


@pytest.mark.slow
@pytest.mark.parametrize("target", ["fixed", "superpopulation"])
@pytest.mark.parametrize("n", PEOPLE)
@pytest.mark.parametrize("name", ORACLES)
def test_shares_are_covered_closely(name: str, n: int, target: str) -> None:
    """The same with ten thousand surveys; these methods are guaranteed, so 95 % is asked of them."""
    for share in SHARES:
        assert share_covered(name, n, share, target, SLOW) >= 0.95 - margin(SLOW, 0.95), share


@pytest.mark.parametrize("name", ["GRR", "OUE", "SubsetSelection"])
def test_large_surveys_use_the_score(name: str) -> None:
    """Beyond 2,000 people the score interval, where counts vary enough: 93 % to 98 % of a thousand surveys of 2,500."""
    mechanism, n = ORACLES[name], 2500
    _, method = mechanism.estimate(np.full(4, 625), n).interval_and_method()
    covered = share_covered(name, n, 0.3, "fixed", QUICK)

    assert method == "score"
    assert 0.93 - margin(QUICK, 0.93) <= covered <= 0.98 + margin(QUICK, 0.98)


# ---- two samples with an unrelated question


@pytest.mark.parametrize("n", [200, 1000])
def test_two_samples_are_covered(n: int) -> None:
    """Greenberg's two samples (pi = .2, u = .4, t = .8 and .3): unbiased, and MOVER covers both shares."""
    pi, u, truth = 0.2, 0.4, (0.8, 0.3)
    draws = uniforms(33, 2 * n * QUICK).reshape(QUICK, 2, n)
    yes = np.stack([(draws[:, i] < t * pi + (1 - t) * u).sum(axis=1) for i, t in enumerate(truth)], axis=1)
    found = [mu.TwoSamples((int(a), int(b)), (n, n), truth).estimate() for a, b in yes]
    means = np.array([e.mean for e in found])
    ends = np.array([e.interval(0.95, target="superpopulation") for e in found])
    covered = ((ends[:, :, 0] <= (pi, u)) & ((pi, u) <= ends[:, :, 1])).mean(axis=0)
    variances = np.array([e.variance("superpopulation") for e in found]).mean(axis=0)

    assert np.abs(means.mean(axis=0) - (pi, u)).max() < 5 * math.sqrt(means.var(axis=0).max() / QUICK)
    assert variances == pytest.approx(means.var(axis=0, ddof=1), rel=5 * math.sqrt(2 / QUICK))
    assert (covered >= 0.93 - margin(QUICK, 0.93)).all() and (covered <= 0.98 + margin(QUICK, 0.98)).all()
