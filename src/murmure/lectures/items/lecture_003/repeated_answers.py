"""The same count asked again and again: the average of the answers finds the truth, and the budget adds up."""

from __future__ import annotations

import numpy as np

import murmure as mu
from murmure.certify.accounting import sequential
from murmure.core.errors import Phrase
from murmure.core.types import Ints
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.lecture_003_central import answers_needed
from murmure.show.document import Curve, Curves

EPSILON, TRUTH = 1.0, 100
QUESTION = mu.Categories(["no", "yes"])
ANSWERS = (1, 2, 3, 5, 8, 12, 18, 29, 45, 70, 100)


def rounds_to_truth(gaps: Ints, m: int) -> float:
    """How often an average of m is nearest to the truth; halfway between two numbers, a fair coin rounds it."""
    return float(np.mean(2 * gaps < m) + np.mean(2 * gaps == m) / 2)


def measure(work: Work) -> Measured:
    runs = work.choose(50, 4000, 40_000)
    law = mu.DiscreteLaplace(EPSILON).bind(mu.Count(QUESTION).blocks).laws[0]
    answers = TRUTH + law.draw_noise(runs * max(ANSWERS), work.rng("answers")).reshape(runs, -1)
    found = [rounds_to_truth(np.abs(answers[:, :m].sum(axis=1) - m * TRUTH), m) for m in ANSWERS]
    needed = answers_needed(law.variance)
    once = mu.Plan(mu.Count(QUESTION), curator=mu.DiscreteLaplace(EPSILON)).bound.cost
    spent = [sequential([once] * m).epsilon for m in ANSWERS]
    curves = Curves(
        Phrase("How often the average, rounded, is the truth"),
        (Curve(Phrase("{runs:,} series of answers", runs=runs), ANSWERS, tuple(found)),),
        Phrase("answers, each at epsilon 1"),
        Phrase("share of series"),
        log_x=True,
    )
    at = ANSWERS.index(29)
    return Measured(
        Phrase(
            "One answer is the truth in {once:.0%} of {runs:,} series, and the average of {m} answers in {often:.1%}. "
            "The normal law asks for {needed} answers to be right 95 times in 100. They cost epsilon {spent:g} "
            "together.",
            once=found[0],
            runs=runs,
            m=ANSWERS[at],
            often=found[at],
            needed=needed,
            spent=spent[at],
        ),
        {"answers": ANSWERS, "share right": found, "epsilon together": spent},
        (curves,),
    )


ITEM = Item(
    Phrase("Averaging repeated answers"),
    Phrase("sequential composition"),
    measure,
    claimed=Phrase("averaging noisy answers gives a value close to the truth; epsilons add up"),
)
