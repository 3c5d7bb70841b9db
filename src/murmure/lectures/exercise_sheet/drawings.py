"""The figures that the sheet and the items of lecture 001 share: the tree, and the estimates of many classes."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import Phrase
from murmure.lectures.exercise_sheet.coin_law import exact_estimate, law_of_yes, moments, probability
from murmure.show.document import Curve, Curves
from murmure.show.figures import Branch, Tree


def coin_tree() -> Tree:
    """As the sheet tosses: heads, and the second coin answers; tails, and the truth is told."""
    forced_yes, forced_no = probability(False, True), probability(True, False)
    answered = forced_yes + forced_no  # by the second coin
    truth = 1 - answered
    second = (
        Branch(str(forced_no / answered), Phrase("t2 = heads: NO"), leaf=str(forced_no)),
        Branch(str(forced_yes / answered), Phrase("t2 = tails: YES"), leaf=str(forced_yes)),
    )
    told = (
        Branch("f/N", Phrase("means yes: YES"), leaf=f"f/({1 / truth}N)"),
        Branch("(N - f)/N", Phrase("means no: NO"), leaf=f"(N - f)/({1 / truth}N)"),
    )
    return Tree(
        Phrase("Two coins: the probability of each path"),
        Phrase("first coin"),
        (
            Branch(str(answered), Phrase("t1 = heads"), second),
            Branch(str(truth), Phrase("t1 = tails: the truth"), told),
        ),
    )


def estimates_figure(estimates: NDArray[np.float64], N: int, f: int) -> Curves:
    """How often each estimate was found, its exact law, and one exact standard deviation on either side."""
    law = law_of_yes(N, f)
    values = [float(exact_estimate(o, N)) for o in range(N + 1)]
    found = Counter(estimates.tolist())
    deviation = math.sqrt(moments(law)[1])
    top = float(max(law)) * 1.1
    return Curves(
        Phrase("Estimates of {n:,} classes of {people} people ({yes} mean yes)", n=len(estimates), people=N, yes=f),
        (
            Curve(Phrase("simulated"), tuple(values), tuple(found[value] / len(estimates) for value in values)),
            Curve(Phrase("exact law"), tuple(values), tuple(map(float, law))),
            Curve(
                Phrase("one exact standard deviation: {sd:.2f}", sd=deviation),
                (f - deviation, f + deviation),
                (0.0, 0.0),
                low=(0.0, 0.0),
                high=(top, top),
            ),
            Curve(Phrase("f"), (f, f), (0.0, top)),
        ),
        Phrase("estimated number of people who mean yes"),
        Phrase("share of classes"),
    )
