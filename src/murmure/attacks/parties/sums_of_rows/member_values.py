"""One of several people behind a sum: who look alike to the attacker, so that the sum is over all of them.

    P[this person has v | the n people sum to S]  ~  f(v) P[n - 1 people drawn from f sum to S - v]

f are the public shares of values. Weighing f by exp(t v) changes nothing on the left, so t is chosen such that the sum
is an ordinary one; then its law is computed without loss of digits, or is as good as normal. Rows are weighed by their
shares as a whole; what the others' sums say of each column is multiplied as if columns were independent among them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from murmure.core.types import Floats, Ints

MAX_POINTS = 1 << 18  # of the law of a sum; a longer one is read as normal
STEEPEST = 60.0  # weights exp(t v) beyond this leave one value only


def likeliest_member(total: Ints, people: int, values: Ints, parts: Sequence[slice]) -> Ints:
    """The likeliest row of one of `people` rows with these sums."""
    rows, counts = np.unique(values, axis=0, return_counts=True)
    score = np.log(counts / counts.sum())
    for part in parts:
        of_others = _of_a_label if part.stop - part.start > 1 else _of_a_number
        score += of_others(total[part], people, values[:, part], rows[:, part])
    if not np.isfinite(score).any():  # sums that no such rows have: the sums say nothing
        score = np.log(counts)
    return np.asarray(rows[np.argmax(score)])


def _of_a_label(total: Ints, people: int, values: Ints, rows: Ints) -> Floats:
    """Sums over labels count them: S_v of the n people have label v, which is f(v) times this."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(np.maximum(total, 0)) - np.log(values.sum(axis=0))
    return np.asarray(ratio[rows.argmax(axis=1)])


def _of_a_number(total: Ints, people: int, values: Ints, rows: Ints) -> Floats:
    """ln P[the others sum to S - v], up to a constant."""
    found, counts = np.unique(values[:, 0], return_counts=True)
    lowest = int(found[0])
    v, s = found - lowest, int(total[0]) - people * lowest
    shares = _tilted(v, counts / counts.sum(), s / people)
    width, others = int(v[-1]), people - 1
    rest = s - (rows[:, 0] - lowest)
    if others * width < MAX_POINTS:
        law = np.zeros(1 << max(1, math.ceil(math.log2(others * width + 1))))
        law[v] = shares
        law = np.maximum(np.fft.irfft(np.fft.rfft(law) ** others, len(law)), 0.0)
        law[law < 1e-13 * law.max()] = 0.0  # nothing but rounding
        inside = (rest >= 0) & (rest <= others * width)
        chance = np.where(inside, law[np.clip(rest, 0, len(law) - 1)], 0.0)
    else:
        mean = float(shares @ v)
        spread = max(math.sqrt(float(shares @ (v - mean) ** 2) * others), 0.5)
        chance = np.exp(-(((rest - others * mean) / spread) ** 2) / 2)
    tilt = _untilt(v, counts / counts.sum(), shares)[np.searchsorted(found, rows[:, 0])]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chance) + tilt)


def _tilted(v: Ints, shares: Floats, mean: float) -> Floats:
    """The shares weighed by exp(t v) such that their mean is this one, as nearly as can be."""
    low, high = -STEEPEST, STEEPEST
    weighed = shares
    for _ in range(60):
        t = (low + high) / 2
        logs = np.log(shares) + t * v
        weighed = np.exp(logs - logs.max())
        weighed /= weighed.sum()
        low, high = (t, high) if weighed @ v < mean else (low, t)
    return np.asarray(weighed)


def _untilt(v: Ints, shares: Floats, weighed: Floats) -> Floats:
    """What turns the score with plain shares of this person into that with weighed ones."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weighed) - np.log(shares))


def others_in_noise(people: int, values: Ints) -> tuple[Floats, Floats]:
    """Of every figure the mean and the variance of the sum of all but one of these people."""
    return (people - 1) * values.mean(axis=0), (people - 1) * values.var(axis=0)
