"""Who is audited: our known bads, their sound twins, and all our mechanisms. A seed makes a subject's randomness."""

import functools
import importlib
import math
import pkgutil
from dataclasses import dataclass
from typing import Any

import known_bads as kb
import numpy as np

import murmure as mu

MECHANISM, LEARNER = 500_000, 10_000  # held-out samples for each input
OURS = 2_000  # of our own examples, whose laws are enumerated elsewhere
INFINITE = math.inf
KEEP, AGAIN = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(-2))  # of the memoised answer, and of each wave
WAVE = math.log((KEEP * AGAIN + (1 - KEEP) * (1 - AGAIN)) / (KEEP * (1 - AGAIN) + (1 - KEEP) * AGAIN))


@dataclass(frozen=True)
class Subject:
    """One randomiser with its promise, and what is known of it, which is for the table and not for the audit."""

    name: str
    make: Any  # make(generator) -> the batched randomiser; for ours, the object itself
    epsilon: float  # the promise
    pairs: Any  # two values for each pair; None: the audit finds them
    sound: bool
    real: float | None = None  # what it costs, where that is known
    held_out: int = MECHANISM
    delta: float = 0.0
    ours: bool = False

    def randomiser(self, seed):
        return self.make if self.ours else self.make(np.random.default_rng(seed))


def _twins(name, function, pairs, real, held_out=MECHANISM, epsilon=1.0, **options):
    for wrong in (True, False):
        made = functools.partial(function, epsilon=epsilon, wrong=wrong, **options)
        cost = real if wrong else None
        yield Subject(f"{name}{'' if wrong else ', right'}", made, epsilon, pairs, not wrong, cost, held_out)


def _table(d):
    """Forty rows in two clouds, and the neighbour: one row more, in a corner."""
    rng = np.random.default_rng(4)
    side = np.repeat([-0.5, 0.5], 20)[:, None]
    rows = np.clip(side + rng.normal(0, 0.1, (40, d)), -1, 1)
    return rows.tolist(), [*rows.tolist(), [1.0] * d]


def known():
    """Each defect, followed by the same randomiser without it."""
    records = [((0, 0), (1, 1)), ((0, 0), (0, 1))]
    return [
        *_twins("Warner, e^eps 2 % too large", kb.randomised_response, [(0, 1)], 1 + math.log(1.02)),
        *_twins("GRR (k = 4), e^eps 2 % too large", kb.randomised_response, [(0, 1)], 1 + math.log(1.02), k=4),
        *_twins("unary, the last bit as it is", kb.unary, [(0, 1), (2, 3)], INFINITE),
        *_twins("subset, the truth first", kb.subset, [(0, 1), (7, 12)], INFINITE),
        *_twins("staircase, drawn again until inside", kb.staircase, [(0.0, 0.5), (0.0, 1.0)], 1.3318),
        *_twins("RS+FD, the paper's calibration", kb.fake_data, records, math.log(2 * math.e - 1)),
        *_twins("memoised, but drawn afresh", kb.memoised, [(0, 1)], 8 * WAVE),
        *_twins("text, a blank behind every yes", kb.blank, [(0, 1)], INFINITE, held_out=50_000),
        *_twins("count, floating-point Laplace", kb.laplace_count, [(0, 1)], INFINITE),
        *_twins("k-means (d = 10), halves swapped", kb.kmeans, [_table(10)], 5.05, LEARNER),
        *_twins("k-means (d = 20), Su's split swapped", kb.kmeans, [_table(20)], 1.52, LEARNER, split="best"),
    ]


def _examples(folder):
    for info in pkgutil.iter_modules(importlib.import_module(folder).__path__):
        if not info.ispkg:
            for i, example in enumerate(getattr(importlib.import_module(f"{folder}.{info.name}"), "EXAMPLES", ())):
                yield f"{info.name}[{i}]", example


def ours():
    """Every example of every local mechanism, at the epsilon of its certificate."""
    for name, example in _examples("murmure.local"):
        epsilon = float(mu.certify(example).epsilon)
        yield Subject(f"local/{name}", example, epsilon, None, True, held_out=OURS, ours=True)


def plans():
    """Every kind of noise at a curator, in a plan: the answers as they leave it."""
    ages, four = mu.Integers(0, 20), mu.Categories(4)
    small = 1e-6
    listed = (
        mu.Plan(mu.Count(ages), curator=mu.DiscreteLaplace(1.0)),
        mu.Plan(mu.Histogram(four), curator=mu.DiscreteLaplace(1.0)),
        mu.Plan(mu.Histogram(four), curator=mu.DiscreteLaplace(1.0, sampler="exact"), relation="replace"),
        mu.Plan(mu.Mean(ages), curator=mu.DiscreteLaplace(2.0)),
        mu.Plan(mu.Mean(ages), curator=mu.Staircase(4.0)),
        mu.Plan(mu.Count(ages), curator=mu.Geometric(1.0, 0, 100)),
        mu.Plan(mu.Histogram(four), curator=mu.DiscreteGaussian(epsilon=1.0, delta=small)),
        mu.Plan(mu.Histogram(four), curator=mu.Skellam(epsilon=1.0, delta=small)),
        mu.Plan(mu.Mode(four), curator=mu.Exponential(1.0)),
        mu.Plan(mu.Mode(four), curator=mu.PermuteAndFlip(1.0)),
    )
    for plan in listed:
        delta = getattr(plan.curator, "delta", None) or 0.0
        name = f"plan/{type(plan.statistic).__name__}, {type(plan.curator).__name__}"
        yield Subject(name, plan, plan.curator.epsilon, None, True, held_out=1_000, delta=delta, ours=True)
