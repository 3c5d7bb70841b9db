"""Noise at a curator against noise at every person, at the same epsilon, as the number of people grows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves

EPSILON, SHARE = 1.0, 0.3
QUESTION = mu.Categories(2)  # 1 is yes
PEOPLE = (100, 1_000, 10_000, 100_000)
COMPARED = 10_000


def cell(work: Work, rng: Random, people: int, runs: int) -> dict[str, float]:
    """Root mean squared errors of the share of yes, over runs."""
    local = mu.GRR(QUESTION, EPSILON)
    yes = round(SHARE * people)
    answers = np.repeat([0, 1], [people - yes, yes])
    shares = [local.estimate(local.tally(local.report(answers, rng)), people).mean[1] for _ in range(runs)]
    central = mu.DiscreteLaplace(EPSILON).bind(mu.Count(QUESTION).blocks).laws[0].draw_noise(runs, rng) / people
    return {"local": _root(np.array(shares) - yes / people), "central": _root(central)}


def _root(errors: Any) -> float:
    return math.sqrt(float(np.mean(errors**2)))


def measure(work: Work) -> Measured:
    runs = work.choose(5, 1000, 5000)
    measured = work.cells(cell, [{"people": people, "runs": runs} for people in PEOPLE])
    noise = mu.DiscreteLaplace(EPSILON).bind(mu.Count(QUESTION).blocks).laws[0]
    local, wide = mu.GRR(QUESTION, EPSILON), [10.0**power for power in np.linspace(2, 6, 17).tolist()]
    exact = {
        "local": [math.sqrt(local.variance(SHARE, people)) for people in wide],
        "central": [math.sqrt(noise.variance) / people for people in wide],
    }
    names = {"local": "LDP", "central": "DP"}
    curves: list[Curve] = []
    for which, name in names.items():
        measured_name = Phrase("{name}, measured", name=name)
        curves.append(Curve(name, tuple(wide), tuple(exact[which])))
        curves.append(Curve(measured_name, PEOPLE, tuple(row[which] for row in measured)))
    at = PEOPLE.index(COMPARED)
    ratio = math.sqrt(local.variance(SHARE, COMPARED)) * COMPARED / math.sqrt(noise.variance)
    enough = round(float(local.variance(SHARE, 1)) * COMPARED**2 / noise.variance)
    return Measured(
        Phrase(
            "With {people:,} people at epsilon {epsilon:g} the error of a share is {local:.5f} with noise at every "
            "person and {central:.6f} with noise at a curator ({runs:,} runs); by their laws, the first is "
            "{ratio:.0f} times as large. The ratio grows like the square root of the number of people. To be as "
            "precise, the first way needs {enough:,} people.",
            people=COMPARED,
            epsilon=EPSILON,
            local=measured[at]["local"],
            central=measured[at]["central"],
            runs=runs,
            ratio=ratio,
            enough=enough,
        ),
        {
            "people": PEOPLE,
            "LDP, measured": [row["local"] for row in measured],
            "LDP, exact": [math.sqrt(local.variance(SHARE, people)) for people in PEOPLE],
            "DP, measured": [row["central"] for row in measured],
            "DP, exact": [math.sqrt(noise.variance) / people for people in PEOPLE],
        },
        (
            Curves(
                Phrase("The error of a share at epsilon 1"),
                tuple(curves),
                Phrase("people"),
                Phrase("standard error"),
                log=True,
                log_x=True,
            ),
        ),
    )


ITEM = Item(
    Phrase("A curator's noise against everybody's noise"),
    Phrase("DP against LDP, motivations"),
    measure,
    claimed=Phrase("DP: the best noise for each query, but the database is trusted; LDP: no trust is needed"),
)
