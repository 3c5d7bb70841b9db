"""What the noise leaves room for: how much a classifier asks, by numbers that are public once they are released.

The class counts come first and cost a small share of the budget. From then on their noisy sum stands for the number of
people, and the deviation that noise would have in a class sum, or in a sum of squares, follows from the schema and the
budget: people for every deviation is all that decides. Two tables that give the same noisy counts are asked the same.
The thresholds were found on made-up tables and on Pima (docs/explanation-accuracy.md).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from murmure.core.errors import InvalidParameter
from murmure.core.schema import Schema
from murmure.learn.base import SumPrivacy
from murmure.plan.plan import Plan
from murmure.plan.privacy import noise_in
from murmure.statistics.base.design_sums import FACTORS
from murmure.statistics.learning.class_sums import ClassCounts, ClassCountsEstimate, ClassSums
from murmure.statistics.learning.scatter import Scatter

# people for every deviation of the noise: in class sums, in sums of squares, and twice in class sums again
FOR_MEANS, FOR_SQUARES, FOR_STEPS = 6.0, 42.0, (500.0, 2000.0, 4000.0)
FOR_NEWTON = 16_000.0  # in sums of squares: there is then room for the curvature of the loss itself
FOR_MOMENTS = 175.0  # in each class
COUNTS_SHARE = 0.3  # over the largest |v|_1, at most a tenth: the share of the class counts


@dataclass(frozen=True)
class OpeningCounts:
    """Class counts, how many people they tell of with some certainty, and the noise that was not used yet."""

    question: ClassCounts
    counted: ClassCountsEstimate
    people: float
    remaining_noise: Any


def ask_class_counts(sums: ClassSums, privacy: SumPrivacy) -> Generator[Plan, Any, OpeningCounts]:
    """Ask how many people each class has."""
    share = min(0.1, COUNTS_SHARE * sums.design.g / sums.design.max_l1)
    first, left = privacy.noises([share, 1 - share])
    question = ClassCounts(Schema({sums.target: sums.domain.column_specs[sums.target]}))
    counted: ClassCountsEstimate = yield privacy.plan(question, first)
    doubt = math.sqrt(len(counted.mean) * counted.noise)  # one deviation, on the safe side
    return OpeningCounts(question, counted, float(counted.mean.sum()) - doubt, left)


def deviation(privacy: SumPrivacy, question: ClassSums | Scatter, noise: Any) -> float:
    """Of the noise in one sum, in half ranges, if this question alone were asked: a public number.

    Infinite where so much noise cannot be drawn: then the question is not asked.
    """
    bound = try_bind(privacy, question, noise)
    if bound is None:
        return math.inf
    unit = float(question.design.g)
    if isinstance(question, Scatter):
        unit *= unit * FACTORS[question.norm][0]
    (law,) = bound.laws
    return math.sqrt(float(law.variance)) / unit


def try_bind(privacy: SumPrivacy, question: Any, noise: Any) -> Any:
    """The noise of a question; None where so much cannot be drawn."""
    at_curator = noise_in(privacy)
    assert at_curator is not None
    try:
        return noise.bind(question.blocks, at_curator.relation, at_curator.rows_per_person)
    except InvalidParameter:
        return None


@dataclass(frozen=True)
class AffordableSums:
    """For a logistic regression, beyond the shares of the classes: their means, covariances, and noisy gradients."""

    means: bool
    squares: bool = False
    steps: int = 0
    curvature: bool = False  # of the loss at every step, instead of that at 0


def affordable_sums(people: float, sums: float, squares: float, classes: int) -> AffordableSums:
    """By a number of people and the deviations of the noise in class sums and in sums of squares."""
    if people < FOR_MEANS * sums:
        return AffordableSums(False)
    if people < FOR_SQUARES * squares:
        return AffordableSums(True)
    if classes > 2:
        return AffordableSums(True, True)
    if people >= FOR_NEWTON * squares:
        return AffordableSums(True, True, 2, True)
    return AffordableSums(True, True, sum(people >= few * sums for few in FOR_STEPS))
