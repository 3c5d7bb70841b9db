"""Randomisers with known faults, and correct ones, written anew: the audit must tell them apart blind."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def subset_with_truth_first(k: int, epsilon: float, seed: int) -> Callable[[int], Any]:
    """Subset selection that writes the true value, when it is kept, before all others."""
    rng, e = np.random.default_rng(seed), math.exp(epsilon)
    w = max(1, round(k / (e + 1)))
    keep = w * e / (w * e + k - w)

    def report(value: int) -> Any:
        others = np.delete(np.arange(k), value)
        if rng.random() < keep:
            return np.concatenate([[value], rng.choice(others, w - 1, replace=False)])
        return rng.choice(others, w, replace=False)

    return report


def unary(k: int, epsilon: float, seed: int, last_bit_is_true: bool = False) -> Callable[[int, int], Any]:
    """Optimal unary encoding, n reports at a time; the mutant never randomises its last bit."""
    rng, q = np.random.default_rng(seed), 1 / (math.exp(epsilon) + 1)

    def report(value: int, n: int) -> Any:
        bits = (rng.random((n, k)) < q).astype(np.uint8)
        bits[:, value] = rng.random(n) < 0.5
        if last_bit_is_true:
            bits[:, -1] = value == k - 1
        return bits

    return report


def staircase_by_rejection(epsilon: float, seed: int) -> Callable[[float, int], Any]:
    """The lecture's mutant: staircase noise, drawn again until the sum lies in [0, 1]. It costs 1.33 at epsilon = 1.

    The result is put on a grid, so that what is found is the law and not the floats.
    """
    rng, b = np.random.default_rng(seed), math.exp(-epsilon)
    gamma = 1 / (1 + math.exp(epsilon / 2))

    def report(value: float, n: int) -> Any:
        kept: list[Any] = []
        while sum(map(len, kept)) < n:
            sign, step = rng.choice([-1, 1], 4 * n), rng.geometric(1 - b, 4 * n) - 1
            near = rng.random(4 * n) < gamma / (gamma + (1 - gamma) * b)
            u = rng.random(4 * n)
            noise = sign * (step + np.where(near, gamma * u, gamma + (1 - gamma) * u))
            kept.append((value + noise)[(value + noise >= 0) & (value + noise <= 1)])
        return np.floor(np.concatenate(kept)[:n] * 1000).astype(np.int64)

    return report


def generalised(k: int, odds: float, seed: int) -> Callable[[int, int], Any]:
    """Randomised response with these odds for the truth."""
    rng = np.random.default_rng(seed)

    def report(value: int, n: int) -> Any:
        truth = rng.random(n) < odds / (odds + k - 1)
        lie = (value + rng.integers(1, k, n)) % k
        return np.where(truth, value, lie).astype(np.uint8)

    return report
