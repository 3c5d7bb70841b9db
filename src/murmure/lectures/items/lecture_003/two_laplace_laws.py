"""A count of 100 or 101 with Laplace noise: two laws whose ratio never passes e to the epsilon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves
from murmure.show.figures import Bars, Panels

EPSILON = 1.0
JANUARY, FEBRUARY = 100, 101
REACH = 6


def measure(work: Work) -> Measured:
    count = mu.Count(mu.Categories(["employee", "manager"]))
    law: Any = mu.DiscreteLaplace(EPSILON).bind(count.blocks).laws[0]
    certified = mu.Plan(count, curator=mu.DiscreteLaplace(EPSILON)).guarantees()["reader"].epsilon
    outputs = list(range(JANUARY - REACH, FEBRUARY + REACH + 1))
    january, february = ([float(law.prob(y - truth)) for y in outputs] for truth in (JANUARY, FEBRUARY))
    ratios = [math.log(a / b) for a, b in zip(january, february, strict=True)]
    largest = max(map(abs, ratios))

    fine = np.linspace(outputs[0], outputs[-1], 40 * (len(outputs) - 1) + 1)
    densities = [EPSILON / 2 * np.exp(-EPSILON * np.abs(fine - truth)) for truth in (JANUARY, FEBRUARY)]
    lecture = Curves(
        Phrase("As drawn in the lecture: continuous noise"),
        tuple(
            Curve(name, tuple(fine.tolist()), tuple(density.tolist()))
            for name, density in zip((Phrase("100 employees"), Phrase("101 employees")), densities, strict=True)
        ),
        Phrase("published number"),
        Phrase("density"),
    )
    drawn = Bars(
        Phrase("As drawn by Murmure: whole numbers"),
        tuple(str(y) for y in outputs),
        ((Phrase("100 employees"), tuple(january)), (Phrase("101 employees"), tuple(february))),
        Phrase("published number"),
        Phrase("probability"),
    )
    return Measured(
        Phrase(
            "Over all numbers drawn here the two probabilities differ by a factor of at most e^{largest:.6f}; the "
            "certificate says {certified:.6f} for all numbers. The whole-number law has variance {variance:.4f}, the "
            "continuous one {continuous:g}.",
            largest=largest,
            certified=certified,
            variance=law.variance,
            continuous=2 / EPSILON**2,
        ),
        {"number": outputs, "100 employees": january, "101 employees": february, "ln ratio": ratios},
        (Panels(Phrase("The same question in January and in February"), (lecture, drawn)),),
        Phrase(
            "Murmure draws the law on whole numbers. A count stays a count, and the sampler works in integers: a "
            "floating-point Laplace sample has gaps that depend on the secret."
        ),
    )


ITEM = Item(
    Phrase("Two Laplace laws"),
    Phrase("query Q1: how many employees"),
    measure,
    claimed=Phrase("adding a number from Lap(0, 1/epsilon) to the count is epsilon-private"),
    printed=Phrase("Q1 is 100 in January and 101 in February"),
    lab="laws?law=laplace&epsilon=1&x=0.5",
)
