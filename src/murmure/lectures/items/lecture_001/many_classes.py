"""The estimate in many classes, against its exact law (the simulation of the sheet)."""

from __future__ import annotations

import math

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.exercise_sheet.class_draws import estimates_of_classes, same_class
from murmure.lectures.exercise_sheet.coin_law import exact_estimate, law_of_yes, moments
from murmure.lectures.exercise_sheet.drawings import estimates_figure

CLASS, YES = 30, 12
BATCH = 10_000


def counts(work: Work, rng: mu.Random, batch: int, classes: int) -> list[int]:
    """How many classes have each estimate, from the one of no YES to the one of YES only."""
    estimates = estimates_of_classes(same_class(classes, CLASS, YES), rng)
    return [int((estimates == float(exact_estimate(o, CLASS))).sum()) for o in range(CLASS + 1)]


def measure(work: Work) -> Measured:
    batches, classes = work.choose((1, 200), (2, BATCH), (10, BATCH))
    parts = work.cells(counts, [{"batch": batch, "classes": classes} for batch in range(batches)])
    found = np.sum(parts, axis=0)
    law = law_of_yes(CLASS, YES)
    values = np.array([float(exact_estimate(o, CLASS)) for o in range(CLASS + 1)])
    estimates = np.repeat(values, found)
    n, (mean, variance) = len(estimates), moments(law)
    outside = float(np.mean((estimates < 0) | (estimates > CLASS)))
    return Measured(
        Phrase(
            "{n:,} classes of {people} people, {yes} of whom mean yes: mean {mean:.2f} (exact {exact:.0f}), standard "
            "deviation {sd:.3f} (exact {exact_sd:.3f}). Below 0 or above {people}: {outside:.2%} of the estimates.",
            n=n,
            people=CLASS,
            yes=YES,
            mean=float(estimates.mean()),
            exact=float(mean),
            sd=float(estimates.std(ddof=1)),
            exact_sd=math.sqrt(variance),
            outside=outside,
        ),
        {"estimate": values.tolist(), "found": found.tolist(), "exact": [n * float(chance) for chance in law]},
        (estimates_figure(estimates, CLASS, YES),),
    )


ITEM = Item(
    Phrase("The estimate in many classes"),
    Phrase("exercises 2.1 and 2.3, run"),
    measure,
    claimed=Phrase("the two functions randomise answers and estimate the number of YES"),
)
