"""What a lecture claims about accuracy in a range of epsilon, decided by the accuracies that were measured.

Ways of learning are compared on the same splits, so that differences are taken split by split.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.errors import Phrase, Plural

Accuracies = Mapping[str, Sequence[float]]  # of each way of learning: the accuracy on every split
LITTLE = 0.02  # two points of accuracy: closer than this counts as near
SPREAD = 0.05  # a standard deviation above five points counts as high: those of the clear model are about three


@dataclass(frozen=True)
class Apart:
    """The mean of first - second over splits, and two standard errors of that mean."""

    mean: float
    doubt: float

    @property
    def above(self) -> bool:
        """By more than chance explains."""
        return self.mean > self.doubt

    @property
    def near(self) -> bool:
        """Not above by more than two points, or by more than chance explains."""
        return self.mean <= max(LITTLE, self.doubt)


def apart(first: Sequence[float], second: Sequence[float]) -> Apart:
    differences = np.subtract(first, second)
    spread = statistics.stdev(differences) if len(differences) > 1 else 0.0
    return Apart(float(differences.mean()), 2 * spread / float(np.sqrt(len(differences))))


def verdict(answers: Sequence[bool]) -> Phrase:
    """Whether a claim holds at all epsilons of its range, at some or at none."""
    if not answers:
        return Phrase("not measured")
    n = len(answers)
    if all(answers):
        return Plural("holds at the one epsilon measured", "holds at each of {n} epsilons", n=n)
    if any(answers):
        return Phrase("holds at {yes} of {n} epsilons", yes=sum(answers), n=n)
    return Plural("does not hold at the one epsilon measured", "holds at none of {n} epsilons", n=n)


def span(values: Sequence[float]) -> Phrase:
    """From the least to the largest of some accuracies."""
    return Phrase("{low:.3f} to {high:.3f}", low=min(values), high=max(values))


def means(results: Sequence[Accuracies], way: str) -> list[float]:
    return [float(np.mean(accuracies[way])) for accuracies in results]


def claim_row(claim: str, low: float, high: float, answers: Sequence[bool], figures: str) -> tuple[Any, ...]:
    """A row of a table: claim, range, verdict, figures."""
    return claim, Phrase("{low:g} to {high:g}", low=low, high=high), verdict(answers), figures
