"""Lecture 000's listings on the diabetes table, done again: its preparation, its noise, its split and its learner.

Everything here is the lecture's, with its faults; nothing here is for real people. "Draw again until inside" is the law
of the first draw given that it is inside, so one uniform number and the inverse of that law's distribution function
replace the loop. Values and bounds are columns of equal length; the width of the bounds is the sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import murmure as mu
from murmure.core.errors import MissingExtra, Phrase
from murmure.lectures.data_sets.tables import DataTable
from murmure.local.staircase import gamma_of

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Noise = Callable[[Floats, float, float, float, Floats], Floats]  # (values, low, high, epsilon, uniform numbers)

ZERO_IS_MISSING = ("Glucose", "BloodPressure", "SkinThickness", "BMI", "Insulin")
WHOLE_NUMBERS = ("Pregnancies", "Glucose", "BloodPressure", "SkinThickness", "Insulin", "Age")
REAL_NUMBERS = ("BMI", "DiabetesPedigreeFunction")
NUMBERS = WHOLE_NUMBERS + REAL_NUMBERS  # in the order of the lecture's sanitised table
OUTCOME = "Outcome"


# -- the noise


def laplace_once(x: Floats, low: float, high: float, epsilon: float, u: Floats) -> Floats:
    """As the listing prints it: `return` is inside the loop, so the first draw is reported, inside or not."""
    scale = (high - low) / epsilon
    tail = np.minimum(u, 1 - u)
    return x + np.sign(u - 0.5) * -scale * np.log(2 * np.maximum(tail, 1e-300))


def laplace_redrawn(x: Floats, low: float, high: float, epsilon: float, u: Floats) -> Floats:
    """As the slide says it: drawn again until inside."""
    width = high - low
    # -expm1(-t) is the mass of a Laplace law over a distance of t scales, times two
    below, above = -np.expm1(-epsilon * (x - low) / width), -np.expm1(-epsilon * (high - x) / width)
    mass = u * (below + above)
    left = mass < below
    side = np.where(left, below - mass, mass - below)
    distance = -np.log1p(-np.minimum(side, np.where(left, below, above))) * width / epsilon
    return np.clip(np.where(left, x - distance, x + distance), low, high)


def staircase_redrawn(x: Floats, low: float, high: float, epsilon: float, u: Floats) -> Floats:
    """The second listing: diffprivlib's staircase, drawn again until inside.

    No point of the interval is further away than one width, so two steps of the staircase matter: weight 1 up to
    gamma times the width, b = e^(-epsilon) beyond.
    """
    b = math.exp(-epsilon)
    reach = gamma_of(b, "absolute") * (high - low)
    start, end = np.maximum(x - reach, low), np.minimum(x + reach, high)
    mass = u * (b * (start - low) + (end - start) + b * (high - end))
    before, top = b * (start - low), end - start
    return np.where(
        mass < before,
        low + mass / b,
        np.where(mass < before + top, start + mass - before, np.minimum(end + (mass - before - top) / b, high)),
    )


def staircase_cost(epsilon: float) -> float:
    """What that costs for each number: epsilon + ln[(2g + b(1 - 2g)) / (g + b(1 - g))] (mistakes.redrawn_staircase)."""
    b = math.exp(-epsilon)
    g = gamma_of(b, "absolute")
    return epsilon + math.log((2 * g + b * (1 - 2 * g)) / (g + b * (1 - g)))


def uniforms(rng: mu.Random, n: int) -> Floats:
    """n numbers in (0, 1), from 53 bits each."""
    return ((rng.words(n) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


# -- the table


def prepared(table: DataTable) -> tuple[dict[str, Floats], Whole]:
    """Listing 1: zeros that mean "missing" become the median of the others. The numbers, and the outcome as 0 or 1."""
    columns = {name: np.asarray(table.columns[name], np.float64) for name in NUMBERS}
    for name in ZERO_IS_MISSING:
        values = columns[name]
        columns[name] = np.where(values == 0, np.median(values[values != 0]), values)
    return columns, np.unique(table.columns[OUTCOME], return_inverse=True)[1].astype(np.int64)


def noisy_numbers(columns: dict[str, Floats], epsilon: float, noise: Noise, rng: mu.Random) -> Floats:
    """Listing 2: each column with epsilon, between the smallest and the largest value of the data."""
    out = []
    for name, values in columns.items():
        drawn = noise(values, float(values.min()), float(values.max()), epsilon, uniforms(rng, len(values)))
        out.append(np.rint(drawn) if name in WHOLE_NUMBERS else drawn)
    return np.stack(out, axis=1)


def noisy_labels(labels: Whole, epsilon: float, rng: mu.Random) -> Whole:
    """Listing 2: generalised randomised response."""
    return np.asarray(mu.GRR(mu.Categories(2), epsilon).report(labels, rng), np.int64)


# -- learning


def lecture_split(n: int) -> tuple[Whole, Whole]:
    """The rows to learn from and to test on: train_test_split(random_state=0, test_size=0.20) of scikit-learn."""
    order = np.random.RandomState(0).permutation(n)
    tested = math.ceil(0.2 * n)
    return order[tested:], order[:tested]


def predictions(features: Floats, labels: Whole, tested: Floats) -> Whole:
    """scikit-learn's Gaussian naive Bayes, as in the lecture."""
    try:
        from sklearn.naive_bayes import GaussianNB
    except ImportError:
        raise MissingExtra(Phrase("the learner of lecture 000"), "scikit-learn", "attacks") from None
    return np.asarray(GaussianNB().fit(features, labels).predict(tested), np.int64)


def accuracy(truth: Whole, predicted: Whole) -> float:
    return float(np.mean(truth == predicted))


def f1_score(truth: Whole, predicted: Whole) -> float:
    """2 TP / (2 TP + FP + FN); 0 where nobody is, or is said to be, ill."""
    found, wrong = int(np.sum(truth & predicted)), int(np.sum(truth != predicted))
    return 2 * found / (2 * found + wrong) if found else 0.0


def judged_by_noise(score: float, keep: float) -> float:
    """What a model that is right with probability `score` gets on labels that are kept with probability `keep`."""
    return score * keep + (1 - score) * (1 - keep)


def keep_probability(epsilon: float) -> float:
    """That randomised response with two answers says the truth."""
    return float(mu.GRR(mu.Categories(2), epsilon).channel.prob(0, 0))


def mean_and_deviation(values: Sequence[Any]) -> tuple[float, float]:
    """Over repetitions; the deviation with n - 1."""
    array = np.asarray(values, np.float64)
    return float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else 0.0
