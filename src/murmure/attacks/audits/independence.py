"""Whether samples look like independent draws: what repeats a seed, or follows the report before, proves nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from murmure.attacks.audits.problems import Problems
from murmure.attacks.audits.sent_reports import SentReports
from murmure.core.errors import Phrase, shorten
from murmure.core.types import Array, Ints

COMPARED = 4_096  # reports at the start of a batch that are compared with those of earlier batches
TOO_FAR = 6.0  # standard deviations: a correct randomiser is that far out once in a billion times
FEW = 200  # reports, fewer than which say nothing here


def repeats(one: Array, other: Array) -> bool:
    """Whether two batches agree place by place more often than independent draws would."""
    n = min(len(one), len(other), COMPARED)
    if n < FEW:
        return False
    one, other = one[:n], other[:n]
    values, counts = np.unique(one, return_counts=True)
    others, other_counts = np.unique(other, return_counts=True)
    common, i, j = np.intersect1d(values, others, return_indices=True)
    chance = float((counts[i] / n) @ (other_counts[j] / n)) if len(common) else 0.0
    agreed = int((one == other).sum())
    return agreed > n * chance + TOO_FAR * (1 + math.sqrt(n * chance * (1 - chance)))


MIN_BATCH = 4  # reports: fewer are alike by chance too often
RARE = 1e-9  # the chance of a difference between batches that is not put down to chance
MIN_SPREAD = 5.0  # hits and misses of a batch, for a chi squared


def check_batches(sent: SentReports, value: Any, problems: Problems) -> None:
    """Whether a call draws something once for all of its reports, or starts from the same seed as the call before."""
    size = sent.batch
    if size < MIN_BATCH or sent.n < 2 * size:
        return
    if len(np.unique(sent.whole)) > 1 and repeats(sent.whole[size:], sent.whole[:-size]):
        text = Phrase("the reports about {value} repeat: the same seed again", value=shorten(value))
        problems.add("repeats", text, value=value)
    batch = np.arange(sent.n) // size
    if any(_once_for_each(column, batch * size) for column in sent.columns.values()):
        problems.add("depends", drawn_once(value), value=value)


def _once_for_each(column: Array, start: Ints) -> bool:
    """Whether a column is the same within each batch and differs between batches."""
    return bool((column != column[0]).any()) and bool((column == column[start]).all())


def drawn_once(value: Any) -> Phrase:
    return Phrase(
        "the reports about {value} that came from one call have something in common: it is drawn once for all of them",
        value=shorten(value),
    )


def batches_differ(hit: Array, size: int) -> bool:
    """Whether hits are spread over batches less evenly than independent draws would be."""
    whole = len(hit) // size if size else 0
    if whole < 2:
        return False
    counts = np.asarray(hit[: whole * size], np.int64).reshape(whole, size).sum(axis=1)
    p = float(counts.mean()) / size
    spread = size * p * (1 - p)
    if spread < MIN_SPREAD:
        return False
    from scipy.special import gammaincc  # type: ignore[import-untyped, unused-ignore]

    chi_squared = float(((counts - size * p) ** 2).sum()) / spread
    return float(gammaincc((whole - 1) / 2, chi_squared / 2)) < RARE


def follows(hit: Array) -> bool:
    """Whether what occurs depends on what occurred in the report before."""
    values = np.asarray(hit, np.float64)
    if len(values) < FEW:
        return False
    centred = values - values.mean()
    spread = float((centred * centred).sum())
    if spread < 30:  # too few hits or misses for a normal approximation
        return False
    return abs(float((centred[1:] * centred[:-1]).sum())) / spread * math.sqrt(len(values)) > TOO_FAR
