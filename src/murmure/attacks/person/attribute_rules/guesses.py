"""From scores to guesses: the attribute with the largest score; among equal ones a fair draw, counted exactly."""

from __future__ import annotations

import numpy as np

from murmure.core.types import Array, Floats

# Scores are logarithms. Sums of the same shares in another order differ by rounding; such scores are equal.
SAME = 1e-9


def share_guessed(scores: Floats, tag: Array) -> float:
    """The expected share of people whose real attribute is guessed: of m equal best scores, each is guessed 1/m."""
    rows = np.arange(len(tag))
    best = scores.max(axis=1) - SAME
    right = scores[rows, tag.astype(np.int64)] >= best
    return float((right / (scores >= best[:, None]).sum(axis=1)).mean())
