"""Lecture 002, learning: its worked examples in exact fractions, and what its private versions really cost.

The tables are the lecture's own, a few made-up rows each. Nothing here is a mechanism for real people.

>>> missed_payment({"age": "young", "income": "medium", "gender": "female"})
{'yes': Fraction(1, 40), 'no': Fraction(1, 180)}
>>> squared_loss(POINTS).argmin()
(Fraction(-564, 1055), Fraction(393, 422))
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from statistics import fmean
from typing import Any

from murmure.core.types import Relation

# -- Naive Bayes on categories: who misses a payment? ------------------------------------------------------------------

MISSED_PAYMENT = {
    "age": ["young", "young", "medium", "old", "old", "old", "medium", "medium", "young", "old"],
    "income": ["low", "high", "high", "medium", "high", "low", "low", "medium", "low", "high"],
    "gender": ["male", "female", "male", "male", "male", "female", "female", "male", "male", "female"],
    "missed": ["yes", "yes", "no", "no", "no", "yes", "no", "yes", "no", "no"],
}


def missed_payment(person: Mapping[str, str]) -> dict[str, Fraction]:
    """P[class] times the product of P[value | class]: by counting, without smoothing."""
    labels = MISSED_PAYMENT["missed"]
    scores = {}
    for label in ("yes", "no"):
        rows = [i for i, missed in enumerate(labels) if missed == label]
        score = Fraction(len(rows), len(labels))
        for column, value in person.items():
            score *= Fraction(sum(MISSED_PAYMENT[column][i] == value for i in rows), len(rows))
        scores[label] = score
    return scores


# -- Naive Bayes on numbers: height (cm), weight (kg), foot (cm) -------------------------------------------------------

SIZES: dict[str, list[Any]] = {
    "height": [182, 180, 170, 180, 152, 168, 165, 175],
    "weight": [81.6, 86.2, 77.1, 74.8, 45.4, 68.0, 59.0, 68.0],
    "foot": [30, 28, 30, 25, 15, 20, 18, 23],
    "sex": ["male"] * 4 + ["female"] * 4,
}
QUESTION = {"height": 183.0, "weight": 59.0, "foot": 20.0}
PRINTED = {  # the lecture's table of means and variances, rounded
    "male": {"height": (178.0, 29.3), "weight": (79.9, 25.5), "foot": (28.25, 5.58)},
    "female": {"height": (165.0, 92.7), "weight": (60.1, 114.0), "foot": (19.0, 11.3)},
}
Normals = Mapping[str, Mapping[str, tuple[float, float]]]


def normals(ddof: int = 1) -> Normals:
    """Mean and variance of every column in every class; ddof=1 divides by n - 1, as the lecture does."""
    out: dict[str, dict[str, tuple[float, float]]] = {}
    for label in ("male", "female"):
        out[label] = {}
        for column in QUESTION:
            values = [float(v) for v, sex in zip(SIZES[column], SIZES["sex"], strict=True) if sex == label]
            mean = fmean(values)
            out[label][column] = mean, math.fsum((v - mean) ** 2 for v in values) / (len(values) - ddof)
    return out


def density(x: float, mean: float, variance: float) -> float:
    return math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


def height_weight_foot(parameters: Normals, person: Mapping[str, float] = QUESTION) -> dict[str, float]:
    """1/2 times the product of the densities: densities, not probabilities, so only their ratio means something."""
    return {
        label: 0.5 * math.prod(density(person[column], *normal) for column, normal in by_column.items())
        for label, by_column in parameters.items()
    }


# -- What one person can change, and what Vaidya's algorithm costs -----------------------------------------------------


def mean_sensitivity(n: int, width: Fraction | int = 1) -> Fraction:
    """How far adding one value to n moves their mean, at most, where values lie in a range of this width."""
    return Fraction(width) / (n + 1)


def variance_sensitivity(n: int, width: Fraction | int = 1) -> Fraction:
    """The same for the variance: n (U-L)^2 / (n+1)^2."""
    return n * Fraction(width) ** 2 / (n + 1) ** 2


def printed_variance_sensitivity(n: int, width: Fraction | int = 1) -> Fraction:
    """The lecture's n (U-L) / (n+1). A variance is in squared units, so this cannot be right."""
    return n * Fraction(width) / (n + 1)


def loss_of_a_mean(n: int, epsilon: float, below: float) -> float:
    """ln of how much likelier an output is on n values than on n + 1, if the noise of the mean is scaled by the true n.

    The values are all L, the one who joins is at U, and the output lies `below` widths under L. It grows without end,
    because the two laws have different scales: no epsilon holds.
    """
    to_the_mean, to_the_other = below, below + 1 / (n + 1)
    return epsilon * (to_the_other * (n + 2) - to_the_mean * (n + 1)) + math.log((n + 1) / (n + 2))


def vaidya_costs(epsilon: Fraction | float, categorical: int, numeric: int) -> Fraction:
    """What Vaidya's algorithm costs (add/remove) when every attribute is given epsilon / (d + 1).

    A histogram costs its share once, a mean and a standard deviation cost it twice, and the prior's Laplace(0, 1)
    costs 1 whatever epsilon is. (That is, had the noise on means and deviations been private at all.)
    """
    share = Fraction(epsilon) / (categorical + numeric + 1)
    return (categorical + 2 * numeric) * share + 1


# -- Least squares, and the functional mechanism -----------------------------------------------------------------------

POINTS = (
    (Fraction(1), Fraction(4, 10)),
    (Fraction(9, 10), Fraction(3, 10)),
    (Fraction(-5, 10), Fraction(-1)),
)


@dataclass(frozen=True)
class Quadratic:
    """w0w0 w0^2 + w0w1 w0 w1 + w0 w0 + w1w1 w1^2 + w1 w1 + constant: six coefficients, named by what they multiply."""

    w0w0: Fraction
    w0w1: Fraction
    w0: Fraction
    w1w1: Fraction
    w1: Fraction
    constant: Fraction

    def __call__(self, w0: Fraction, w1: Fraction) -> Fraction:
        return self.w0w0 * w0**2 + self.w0w1 * w0 * w1 + self.w0 * w0 + self.w1w1 * w1**2 + self.w1 * w1 + self.constant

    def argmin(self) -> tuple[Fraction, Fraction]:
        """Where both derivatives are zero, by Cramer; a minimum only if the form is positive definite."""
        det = 4 * self.w0w0 * self.w1w1 - self.w0w1**2
        if self.w0w0 <= 0 or det <= 0:
            raise ArithmeticError("not positive definite: there is no minimum")
        return (self.w0w1 * self.w1 - 2 * self.w1w1 * self.w0) / det, (
            self.w0w1 * self.w0 - 2 * self.w0w0 * self.w1
        ) / det

    def distance(self, other: Quadratic, constant: bool = True) -> Fraction:
        """The L1 distance of the coefficients."""
        apart = [abs(a - b) for a, b in zip(astuple(self), astuple(other), strict=True)]
        return sum(apart if constant else apart[:-1], Fraction(0))


def squared_loss(points: Sequence[tuple[Fraction, Fraction]]) -> Quadratic:
    """sum (y - w0 - w1 x)^2, multiplied out: a sum over people of six numbers."""
    n = Fraction(len(points))
    sums = {
        (a, b): sum((x**a * y**b for x, y in points), Fraction(0)) for a, b in ((1, 0), (2, 0), (0, 1), (1, 1), (0, 2))
    }
    return Quadratic(n, 2 * sums[1, 0], -2 * sums[0, 1], sums[2, 0], -2 * sums[1, 1], sums[0, 2])


def fits(w0: Fraction, w1: Fraction) -> tuple[Fraction, ...]:
    return tuple(w0 + w1 * x for x, _ in POINTS)


# the lecture's noisy coefficients, for epsilon = 10: the constant is the true one
PRINTED_NOISY = Quadratic(*(Fraction(c) for c in ("1.39", "1.18", "-0.29", "2.14", "-2.54", "1.25")))


def printed_sensitivity(d: int) -> int:
    """The lecture's 2 (1 + d)^2, which forgets the intercept."""
    return 2 * (1 + d) ** 2


def true_sensitivity(d: int, constant: bool = True, relation: Relation = "add/remove") -> int:
    """How far one row moves the coefficients, in L1, where |x_j| <= 1 and |y| <= 1, with an intercept.

    One row adds (|y| + 1 + sum |x_j|)^2 <= (2 + d)^2; without the constant y^2 of the quadratic, one less at most.
    Exchanging v = (1, x, y) for v' moves them by |v - v'|_1 |v + v'|_1 at most: again (2 + d)^2, and for d = 1 rows
    (1, 1) and (0, -1) attain it, which have the same y^2.
    """
    return (2 + d) ** 2 - (relation == "add/remove" and not constant)


def regression_costs(
    epsilon: Fraction | int, d: int = 1, constant: bool = True, relation: Relation = "add/remove"
) -> Fraction:
    """What noise of the printed scale, 2 (1 + d)^2 / epsilon on every coefficient, costs.

    For d = 1, at epsilon = 10: 11.25 for all six coefficients, and for the five that the lecture noises 10 (add/remove)
    or 11.25 (replace). The sixth is published without noise, so that no epsilon holds at all.
    """
    return Fraction(epsilon) * true_sensitivity(d, constant, relation) / printed_sensitivity(d)
