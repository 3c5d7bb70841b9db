"""Generic checks of noise: list it in EXAMPLES of its file in central/, and these run on it. They reject mutants.

An example is a pair: (noise, blocks) where noise is added to sums, (choice, (candidates, sensitivity)) where one is
chosen.
Statistical parts are seeded and fail by chance with probability FAILURE each, at most.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.certify.checks.assertions import FAILURE, chi_squared, require
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.core.types import Chooser
from murmure.core.zcdp import epsilon_from_rho
from murmure.laws import kernel_loader
from murmure.laws.noise.digits import Digits
from murmure.laws.noise.skellam import SkellamLaw
from murmure.laws.noise.staircase import StaircaseLaw

DRAWS = 40_000
REACH = 400  # magnitudes that are checked one by one
RELATIONS = ("add/remove", "replace")


def check_noise(example: tuple[Any, Any], seed: int = 1) -> None:
    """Law, samples, variance, kernel and certificate of one example."""
    noise, what = example
    if isinstance(noise, Chooser):
        candidates, sensitivity = what
        return check_choice_noise(noise, candidates, sensitivity, seed)
    bound = noise.bind(what)
    for i, law in enumerate(bound.laws):
        check_noise_law(noise, law)
        check_noise_samples(noise, law, seed + i)
        check_same_bits(noise, law, seed + i)
    for relation, rows in itertools.product(RELATIONS, (1, 3)):
        check_certified(noise, noise.bind(what, relation, rows))


def _seams(law: Any) -> list[int]:
    """Magnitudes around the places where a law is composed of pieces: carries of tables, escapes, ends of stairs."""
    places = {0}
    digits = law.stairs if isinstance(law, StaircaseLaw) else law
    if isinstance(digits, Digits):
        unit = 1
        for _ in digits.tables[1:]:
            places |= {unit, 256 * unit, 5 * 256 * unit}
            unit *= 256
        places |= {digits.period * k for k in (1, 2, 3)}
    if isinstance(law, StaircaseLaw):
        places |= {law.step * k + j for k in places | {1, 2} for j in (0, law.r)}
    return sorted({p + d for p in places for d in range(-2, 3) if p + d >= 0})


def check_noise_law(noise: object, law: Any) -> None:
    """Symmetric, sums to one, log_prob agrees with prob, variance and quantile are those of the law."""
    far = max(law.quantile(1e-12), 1)
    inside = range(min(far, REACH) + 1)
    probs = [Fraction(law.prob(z)) for z in inside]
    require(all(law.prob(z) == law.prob(-z) for z in inside), noise, Phrase("the law is not symmetric"))
    total = probs[0] + 2 * sum(probs[1:], Fraction(0)) + Fraction(law.beyond(len(probs) - 1))
    require(
        abs(total - 1) < Fraction(1, 10**11), noise, Phrase("the law sums to {total}, not to 1", total=float(total))
    )
    if isinstance(law.prob(0), Fraction):
        require(total == 1, noise, Phrase("the law does not sum to 1 exactly"))
    points = sorted(set(inside) | set(_seams(law)))
    exact = np.array([_ln(law.prob(z)) for z in points])
    close = np.allclose(law.log_prob(np.array(points)), exact, rtol=1e-11, atol=1e-11)
    require(bool(close), noise, Phrase("log_prob differs from prob"))
    grid = np.unique(np.linspace(0, law.quantile(1e-15), 4001).astype(np.int64))  # trapezoids, where it is wide
    if len(grid) - 1 == grid[-1]:
        variance, tolerance = 2 * float((np.exp(law.log_prob(grid)) * grid.astype(float) ** 2).sum()), 1e-9
    elif not isinstance(law, StaircaseLaw):
        variance, tolerance = 2 * float(np.trapezoid(np.exp(law.log_prob(grid)) * grid.astype(float) ** 2, grid)), 1e-3
    else:
        variance, tolerance = law.variance, 0.0  # a wide staircase jumps between the points; samples judge it
    right = math.isclose(law.variance, variance, rel_tol=tolerance, abs_tol=1e-12)
    require(
        right, noise, Phrase("the variance is {variance}, not {variance_2}", variance=law.variance, variance_2=variance)
    )
    for tail in (0.5, 0.05, 1e-6):
        t = law.quantile(tail)
        is_least = law.beyond(t) <= tail and (t == 0 or law.beyond(t - 1) > tail)
        require(bool(is_least), noise, Phrase("quantile({tail}) = {t} is not the smallest possible", tail=tail, t=t))


def _ln(p: Any) -> float:
    """Of a Fraction, or of a Decimal."""
    return math.log(p.numerator) - math.log(p.denominator) if isinstance(p, Fraction) else float(p.ln())


def check_noise_samples(noise: object, law: Any, seed: int) -> None:
    """Draws follow the law: every integer where the law is narrow, runs of integers where it is wide."""
    z = law.draw_noise(DRAWS, Random.seeded(seed))
    require(z.dtype == np.int64 and z.shape == (DRAWS,), noise, Phrase("draws are not a vector of int64"))
    tails = [law.quantile(t) for t in (1e-4, *np.linspace(0.01, 0.99, 60), 0.999)]
    cuts = range(min(tails[0], 60)) if tails[0] <= 60 else sorted(set(tails))
    edges = np.array(sorted({-c - 1 for c in cuts} | set(cuts)))  # an interval includes its upper edge
    below = np.array([_distribution(law, int(e)) for e in edges])
    expected = np.diff(np.concatenate([[0.0], below, [1.0]])) * DRAWS
    observed = np.bincount(np.searchsorted(edges, z, side="left"), minlength=len(expected))
    chance = chi_squared(observed, np.maximum(expected, 1e-9))
    require(chance > FAILURE, noise, Phrase("draws do not follow the law (chance {chance:.1g})", chance=chance))
    # Wide intervals do not test the low digits. In a wide law the residue modulo 8 is nearly uniform.
    if law.variance > 1e4:
        chance = chi_squared(np.bincount(z & 7, minlength=8), np.full(8, DRAWS / 8))
        require(
            chance > FAILURE, noise, Phrase("the last bits of draws are uneven (chance {chance:.1g})", chance=chance)
        )


def _distribution(law: Any, e: int) -> float:
    """P[Z <= e]."""
    if e >= 0:
        return 1 - float(law.beyond(e)) / 2
    return float(law.beyond(-e - 1)) / 2


def check_same_bits(noise: object, law: Any, seed: int) -> None:
    """The compiled kernels and the NumPy reference return the same draws, of one thread or of two."""
    n = 3 * kernel_loader.SMALL
    fast = law.draw_noise(n, Random.seeded(seed))
    with without_kernels():
        slow = law.draw_noise(n, Random.seeded(seed))
    require(bool((fast == slow).all()), noise, Phrase("kernel and reference differ"))


@contextmanager
def without_kernels() -> Iterator[None]:
    """As if Numba were not installed."""
    available = kernel_loader.available
    kernel_loader.available = lambda: False  # type: ignore[assignment]
    try:
        yield
    finally:
        kernel_loader.available = available


def check_certified(noise: Any, bound: Any) -> None:
    """The stated cost holds for all shifts that one person can cause, and uses the budget up, but for a part in 1e6."""
    relation, rows = bound.relation, bound.rows
    asked = noise.epsilon if noise.epsilon is not None else math.inf
    require(
        bound.epsilon <= asked,
        noise,
        Phrase("certifies {epsilon}, above the {asked} asked for", epsilon=bound.epsilon, asked=asked),
    )
    if all(isinstance(law, SkellamLaw) for law in bound.laws):
        return _check_curved(noise, bound)
    if bound.norm == "l2":
        return _check_concentrated(noise, bound)
    loss = 0.0
    for block, law in zip(bound.blocks, bound.laws, strict=True):
        loss += worst_loss(
            law, block.sensitivity("l1", relation, rows), block.sensitivity("l2", relation, rows), block.width
        )
    holds = loss <= bound.epsilon * (1 + 1e-9) + 1e-9
    require(
        holds,
        noise,
        Phrase(
            "loses {loss}, certified {epsilon} ({relation}, {rows})",
            loss=loss,
            epsilon=bound.epsilon,
            relation=relation,
            rows=rows,
        ),
    )
    # Next to no noise: integers cannot express a larger epsilon, so the rest of the budget cannot be used.
    saturated = any(float(law.prob(0)) > 1 - 1e-12 for law in bound.laws)
    require(
        bound.epsilon >= asked * (1 - 1e-6) or saturated,
        noise,
        Phrase("wastes budget: {epsilon} of {asked}", epsilon=bound.epsilon, asked=asked),
    )
    require(bound.cost.epsilon == bound.epsilon, noise, Phrase("the cost is not the certificate"))
    require(bound.cost.rho <= bound.epsilon**2 / 2 * (1 + 1e-12), noise, Phrase("rho is more than epsilon**2 / 2"))


def worst_loss(law: Any, moves: int, squares: int, width: int) -> float:
    """The largest loss found when entries move by d_1, d_2, ...: the sum of their losses, |d| summing to `moves`.

    Loss of one entry: max over z of |ln P[z] - ln P[z + d]|, over magnitudes near 0 and near the seams of the law.
    Moves are divided over entries in the ways that matter: all to one, evenly, one far and the others by one.
    """
    entries = min(width, moves, squares)
    around = np.unique([z for p in {0, *_seams(law)} for z in range(p - 3, p + 4)] + list(range(-60, REACH)))

    def loss_of(d: int) -> float:
        here = law.log_prob(around)
        return float(max((here - law.log_prob(around + d)).max(), (law.log_prob(around + d) - here).max()))

    worst = 0.0
    for count in {1, entries, max(1, entries // 2)}:
        each, longer = divmod(moves, count)
        split = [each + 1] * longer + [each] * (count - longer)
        if sum(d * d for d in split) <= squares:
            worst = max(worst, (longer * loss_of(each + 1) if longer else 0.0) + (count - longer) * loss_of(each))
        # one far, the others by one
        far = moves - (count - 1)
        if far * far + count - 1 <= squares:
            worst = max(worst, loss_of(far) + (count - 1) * loss_of(1))
    return worst


def _check_concentrated(noise: Any, bound: Any) -> None:
    """rho bounds the Renyi divergence over alpha, summed over the law, for the largest shift; none of it is wasted."""
    rho = 0.0
    for block, law in zip(bound.blocks, bound.laws, strict=True):
        square = block.sensitivity("l2", bound.relation, bound.rows)
        sigma = math.sqrt(law.sigma2)
        d = max(1, math.isqrt(square))
        z = np.arange(-int(30 * sigma) - 3 * d, int(30 * sigma) + 3 * d + 1) if sigma < 2000 else None
        rho += square / (2 * float(law.sigma2))
        if z is None:
            continue
        for alpha in (1.5, 2.0, 8.0):
            divergence = _renyi(law.log_prob(z), law.log_prob(z - d), alpha)
            allowed = alpha * d * d / (2 * float(law.sigma2))
            holds = divergence <= allowed * (1 + 1e-6) + 1e-9
            require(
                holds,
                noise,
                Phrase(
                    "Renyi divergence {divergence} at {alpha}, above {allowed}",
                    divergence=divergence,
                    alpha=alpha,
                    allowed=allowed,
                ),
            )
    require(
        bound.cost.rho >= rho * (1 - 1e-12),
        noise,
        Phrase("states rho {rho}, but {rho_2} is spent", rho=bound.cost.rho, rho_2=rho),
    )
    asked = noise.budget
    require(
        asked * (1 - 1e-6) <= bound.cost.rho <= asked,
        noise,
        Phrase("spends rho {rho}, where {asked} was asked for", rho=bound.cost.rho, asked=asked),
    )
    require(math.isinf(bound.cost.epsilon), noise, Phrase("states a pure epsilon, but none holds"))
    if bound.delta:
        given = epsilon_from_rho(bound.cost.rho, bound.delta)
        require(
            bound.epsilon >= given * (1 - 1e-9),
            noise,
            Phrase("epsilon {epsilon} is below {given}, which follows from rho", epsilon=bound.epsilon, given=given),
        )


def _check_curved(noise: Any, bound: Any) -> None:
    """Laws whose cost follows from their curvature: the curvature, the divergences, and the stated cost."""
    rho = 0.0
    for block, law in zip(bound.blocks, bound.laws, strict=True):
        d1, d2 = (block.sensitivity(norm, bound.relation, bound.rows) for norm in ("l1", "l2"))
        kappa, spread = float(law.kappa), float(law.kappa - law.lam)
        rho += (kappa * d2 + spread * d1) / 2
        if law.variance > 1e6:
            require(
                kappa >= 1 / law.variance,
                noise,
                Phrase(
                    "the stated curvature is below that of the Gaussian with the same variance, which is impossible"
                ),
            )
            continue
        d = max(1, math.isqrt(d2))
        z = np.arange(-int(30 * math.sqrt(law.variance)) - 20 * d, int(30 * math.sqrt(law.variance)) + 20 * d + 1)
        here, there = law.log_prob(z), law.log_prob(z - d)
        bends = float((-np.diff(here, 2)).max())
        require(
            bends <= kappa + 1e-11,
            noise,
            Phrase("-ln P has curvature {bends}, but {kappa} is stated", bends=bends, kappa=kappa),
        )
        for alpha in (1.01, 1.5, 2.0, 3.0, 8.0):
            divergence = _renyi(here, there, alpha)
            allowed = (alpha * kappa * d * d + (0 if alpha.is_integer() else spread * d)) / 2
            require(
                divergence <= allowed * (1 + 1e-6) + 1e-9,
                noise,
                Phrase(
                    "Renyi divergence {divergence} at {alpha} is above what its curvature allows",
                    divergence=divergence,
                    alpha=alpha,
                ),
            )
    right = rho * (1 - 1e-9) <= bound.cost.rho <= rho * (1 + 1e-9)
    require(right, noise, Phrase("states rho {rho}, but {rho_2} is spent", rho=bound.cost.rho, rho_2=rho))
    require(math.isinf(bound.cost.epsilon), noise, Phrase("states a pure epsilon, but none holds"))
    if bound.delta:
        given = epsilon_from_rho(bound.cost.rho, bound.delta)
        require(
            bound.epsilon >= given * (1 - 1e-9),
            noise,
            Phrase(
                "epsilon {epsilon} is below {given}, the value that rho implies", epsilon=bound.epsilon, given=given
            ),
        )
    spent, asked = (bound.cost.rho, noise.rho) if noise.rho is not None else (bound.epsilon, noise.epsilon)
    narrowest = any(law.variance <= 4 for law in bound.laws)  # no law of this family is narrower
    require(spent <= asked, noise, Phrase("spends {spent}, where {asked} was asked for", spent=spent, asked=asked))
    require(
        spent >= asked * (1 - 1e-6) or narrowest,
        noise,
        Phrase("wastes budget: {spent} of {asked}", spent=spent, asked=asked),
    )


def _renyi(p: Any, q: Any, alpha: float) -> float:
    """The Renyi divergence of order alpha, from log-probabilities."""
    terms = alpha * p + (1 - alpha) * q
    return float((terms.max() + math.log(np.exp(terms - terms.max()).sum())) / (alpha - 1))


def check_choice_noise(noise: Any, candidates: int, sensitivity: int, seed: int = 1) -> None:
    """A choice's law sums to one, draws follow it, and scores that move change it by epsilon at most."""
    bound = noise.bind_scores(candidates, sensitivity)
    law, moved = bound.law, bound.sensitivity
    rng = Random.seeded(seed)
    scores = (rng.words(candidates) % np.uint64(3 * moved + 1)).astype(np.int64)
    probs = np.exp(law.log_prob(scores))
    require(
        math.isclose(float(probs.sum()), 1.0, rel_tol=1e-9),
        noise,
        Phrase("the law sums to {probs_sum}", probs_sum=probs.sum()),
    )
    drawn = np.array([law.draw_choice(scores, rng) for _ in range(2000)])
    chance = chi_squared(np.bincount(drawn, minlength=candidates), probs * 2000)
    require(chance > FAILURE, noise, Phrase("draws do not follow the law (chance {chance:.1g})", chance=chance))
    steps = (0, moved) if noise.monotone else (-moved, 0, moved)
    worst = 0.0
    flat, spread = np.zeros(candidates, np.int64), np.arange(candidates) * 40 * moved
    for start in (scores, flat, spread):
        unmoved = law.log_prob(start)
        for change in itertools.product(steps, repeat=candidates):
            worst = max(worst, float(np.abs(law.log_prob(start + np.array(change)) - unmoved).max()))
    require(
        worst <= bound.epsilon * (1 + 1e-9) + 1e-9,
        noise,
        Phrase("loses {worst}, certified {epsilon}", worst=worst, epsilon=bound.epsilon),
    )
    require(
        bound.epsilon <= noise.epsilon,
        noise,
        Phrase("certifies {epsilon}, above {noise_epsilon}", epsilon=bound.epsilon, noise_epsilon=noise.epsilon),
    )
    require(bound.epsilon >= noise.epsilon * (1 - 1e-6), noise, Phrase("wastes budget"))
    require(
        worst >= 0.5 * bound.epsilon,
        noise,
        Phrase("the largest loss found is {worst}: too much noise for {epsilon}", worst=worst, epsilon=bound.epsilon),
    )
