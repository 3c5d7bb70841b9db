"""The papers' experiment: the mean square error of every solution on Nursery (UCI; 12,960 rows, 9 columns).

Over 2,000 runs the error of one figure is known to sqrt(2 / 2000) = 3.2 % of itself, and its mean over nine columns,
which are randomised apart, to about 1 %: the 5 % that are allowed around the exact variance are met but once in 1e5.
Per column the same holds to 3.2 % at most, and 16 % are allowed. (The small version: 500 runs, 2.5 times as much.)
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import murmure as mu

NURSERY = Path(__file__).parents[2].parent / "shared" / "data" / "nursery.data.gz"
SIZES = (3, 5, 4, 4, 3, 2, 3, 3, 5)


def schema(sizes: Sequence[int]) -> mu.Schema:
    return mu.Schema({f"c{i}": mu.Categories(k) for i, k in enumerate(sizes)})


def shares(x: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    return [np.bincount(column, minlength=k) / len(column) for column, k in zip(x, sizes, strict=True)]


def prior(f: Any) -> Any:
    """What an earlier survey may have said: near the truth, and no value without a share."""
    return 0.9 * f + 0.1 / len(f)


Make = Callable[[mu.Schema, Sequence[Any]], Any]
SOLUTIONS: dict[str, Make] = {
    "SPL GRR": lambda s, f: mu.SPL(s, 1.0, oracle="GRR"),
    "SPL OUE": lambda s, f: mu.SPL(s, 1.0, oracle="OUE"),
    "SMP GRR": lambda s, f: mu.SMP(s, 1.0, oracle="GRR"),
    "SMP OUE": lambda s, f: mu.SMP(s, 1.0, oracle="OUE"),
    "SMP GRR, in turn": lambda s, f: mu.SMP(s, 1.0, oracle="GRR", draw="round-robin"),
    "SMP GRR, by weight": lambda s, f: mu.SMP(s, 1.0, oracle="GRR", weights=[1 + i % 3 for i in range(len(f))]),
    "SMP GRR, 3 of d": lambda s, f: mu.SMP(s, 5.0, oracle="GRR", sample=3),
    "RSFD GRR": lambda s, f: mu.RSFD(s, 1.0),
    "RSFD GRR, as published": lambda s, f: mu.RSFD(s, 1.0, calibrate="paper"),
    "RSFD GRR, balanced": lambda s, f: mu.RSFD(s, 1.0, calibrate="attribute", weights="balanced"),
    "RSFD SUE-z": lambda s, f: mu.RSFD(s, 1.0, oracle="SUE-z"),
    "RSFD SUE-r": lambda s, f: mu.RSFD(s, 1.0, oracle="SUE-r"),
    "RSFD OUE-z": lambda s, f: mu.RSFD(s, 1.0, oracle="OUE-z"),
    "RSFD OUE-r": lambda s, f: mu.RSFD(s, 1.0, oracle="OUE-r"),
    "RSRFD GRR": lambda s, f: mu.RSRFD(s, 1.0, [prior(share) for share in f]),
    "RSRFD OUE-r": lambda s, f: mu.RSRFD(s, 1.0, [prior(share) for share in f], oracle="OUE-r"),
    "ADP spl": lambda s, f: mu.ADP(s, 1.0, "spl"),
    "ADP smp": lambda s, f: mu.ADP(s, 1.0, "smp"),
    "ADP rsfd": lambda s, f: mu.ADP(s, 1.0, "rsfd"),
}
CHOICES = {
    "spl": [mu.SPL, ("GRR", "OUE")],
    "smp": [mu.SMP, ("GRR", "OUE")],
    "rsfd": [mu.RSFD, ("GRR", "OUE-z")],
}


def errors(mechanism: Any, x: Sequence[Any], runs: int, seed: int) -> Any:
    """Of every column: the mean square error of its shares over the runs, averaged over values."""
    n, rng = len(x[0]), mu.Random.seeded(seed)
    truth = shares(x, mechanism.channel.inputs)
    maps = [part.affine() for part in mechanism.parts]
    offsets = [np.array([float(o) for o in m.offset]) for m in maps]
    square, used = np.zeros(len(x)), np.zeros(len(x))
    for _ in range(runs):
        if getattr(mechanism, "draw", "") == "round-robin":  # Nursery is sorted, and turns need another order each time
            order = np.argsort(rng.words(n))
            x = [column[order] for column in x]
        total = mechanism.tally(mechanism.randomise(x, rng))
        for i, (shown, tally) in enumerate(mechanism.pieces(total)):
            if shown != 0:
                f = (tally / (shown or n) - offsets[i]) / float(maps[i].slope[0])
                square[i] += ((f - truth[i]) ** 2).mean()
                used[i] += 1
    return square / used


def check(mechanism: Any, x: Sequence[Any], runs: int, mean: float, column: float) -> None:
    f = shares(x, mechanism.channel.inputs)
    exact = np.array([v.mean() for v in mechanism.variance(f, len(x[0]))])
    got = errors(mechanism, x, runs, seed=runs)
    assert got == pytest.approx(exact, rel=column)
    assert got.mean() == pytest.approx(exact.mean(), rel=mean)


@pytest.fixture(scope="module")
def nursery() -> list[Any]:
    if not NURSERY.exists():
        pytest.skip(f"needs the Nursery data, which is not distributed here: {NURSERY.name} in ../shared/data")
    with gzip.open(NURSERY, "rt") as file:
        columns = list(zip(*(line.split(",") for line in file.read().split()), strict=True))
    codes = [np.unique(np.array(c), return_inverse=True)[1].astype(np.uint8) for c in columns]
    assert tuple(int(c.max()) + 1 for c in codes) == SIZES
    assert len(codes[0]) == 12_960
    return codes


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLUTIONS)
def test_errors_on_nursery(name: str, nursery: list[Any]) -> None:
    """2,000 runs over all rows: within 5 % of the exact variance."""
    check(SOLUTIONS[name](schema(SIZES), shares(nursery, SIZES)), nursery, 2000, mean=0.05, column=0.16)


def test_turns_on_a_sorted_table_are_biased_and_say_so() -> None:
    """Every third row holds the same value, and every third row shows the column: its figure is far off. The condition
    stands in the certificate and beside the figures."""
    mechanism = mu.SMP(schema((3, 2, 2)), 4.0, oracle="GRR", draw="round-robin")
    x = [np.arange(3000) % 3, np.arange(3000) % 2, np.arange(3000) % 2]
    estimates = mechanism.estimate(mechanism.tally(mechanism.randomise(x, mu.Random.seeded(1))), 3000)

    assert estimates["c0"].mean[0] > 0.9  # a third, in truth
    assert "random order" in estimates.remark
    assert "order" not in str(mu.certify(mechanism))  # privacy does not rest on it
    assert "random order" in " ".join(repr(estimates).split())


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("solution", CHOICES)
def test_the_adaptive_choice_on_nursery(solution: str, epsilon: float, nursery: list[Any]) -> None:
    """Never worse than GRR everywhere nor OUE everywhere: exactly in variance, and within chance over 300 runs."""
    make, oracles = CHOICES[solution]
    f, held = shares(nursery, SIZES), schema(SIZES)
    adaptive = mu.ADP(held, epsilon, solution)  # type: ignore[arg-type]
    exact = np.array([v.mean() for v in adaptive.variance(f, 12_960)])
    seen = errors(adaptive, nursery, 300, seed=1).mean()
    for oracle in oracles:
        other = make(held, epsilon, oracle=oracle)
        theirs = np.array([v.mean() for v in other.variance(f, 12_960)])
        assert (exact <= theirs * (1 + 1e-12)).all()
        assert seen <= errors(other, nursery, 300, seed=2).mean() * 1.2


@pytest.mark.parametrize("name", SOLUTIONS)
def test_errors_on_a_small_table(name: str) -> None:
    """500 runs over 240 people with three columns, one of them skewed: within 12 %."""
    sizes = (2, 3, 9)
    x = [(np.arange(240) * step % 240) * k // 240 for k, step in zip(sizes, (1, 7, 11), strict=True)]
    x[0] = (np.arange(240) < 12).astype(np.int64)
    check(SOLUTIONS[name](schema(sizes), shares(x, sizes)), x, 500, mean=0.13, column=0.35)


@pytest.mark.parametrize("solution", CHOICES)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0, 8.0])
def test_the_adaptive_choice_is_never_worse(solution: str, epsilon: float) -> None:
    """Exactly, for the sizes of Nursery and for wide columns, whatever the shares."""
    make, oracles = CHOICES[solution]
    for sizes in (SIZES, (2, 12, 40)):
        f = [np.arange(1, k + 1) / (k * (k + 1) / 2) for k in sizes]
        exact = np.array([v.mean() for v in mu.ADP(schema(sizes), epsilon, solution).variance(f, 100)])  # type: ignore[arg-type]
        for oracle in oracles:
            theirs = np.array([v.mean() for v in make(schema(sizes), epsilon, oracle=oracle).variance(f, 100)])
            assert (exact <= theirs * (1 + 1e-12)).all()
