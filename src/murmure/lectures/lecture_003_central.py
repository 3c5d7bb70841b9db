"""Lecture 003, first half: differences of answers, and the average of many answers, undo an answer without a ledger.

>>> difference((100, 55_000), (101, 56_000))
156000
"""

from __future__ import annotations

import math

JANUARY, FEBRUARY = (100, 55_000), (101, 56_000)  # people, and their mean salary
NOISY_JANUARY, NOISY_FEBRUARY = (102, 55_551), (97, 55_975)  # the lecture's, with noise


def difference(earlier: tuple[int, int], later: tuple[int, int]) -> int:
    """The salary of the one person who joined, if nobody left: the later total minus the earlier one."""
    return later[0] * later[1] - earlier[0] * earlier[1]


def answers_needed(variance: float, half_width: float = 0.5, error: float = 0.05) -> int:
    """How many independent noisy answers to one count, averaged, give it away: the mean is within half_width of the
    truth, so that rounding finds it, except with probability `error` (normal approximation).
    """
    from scipy.special import ndtri

    z = float(ndtri(1 - error / 2))
    return math.ceil(variance * (z / half_width) ** 2)
