"""Epsilon 0: the law of the answer does not depend on the person, and no number of people makes up for that."""

from __future__ import annotations

import math

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Table

QUESTION = mu.Categories(["no", "yes"])
PEOPLE, SHARE, WANTED = 10_000, 0.3, 0.01


def refusal(epsilon: float) -> str:
    try:
        mu.GRR(QUESTION, epsilon)
    except mu.MurmureError as error:
        return error.message
    return ""


def measure(work: Work) -> Measured:
    epsilons = [10.0**power for power in np.linspace(-4, 1, 26).tolist()]
    laws = [mu.GRR(QUESTION, epsilon) for epsilon in epsilons]
    errors = [math.sqrt(law.variance(SHARE, PEOPLE)) for law in laws]
    needed = [math.ceil(float(law.variance(SHARE, 1)) / WANTED**2) for law in laws]
    useless = next(epsilon for epsilon, error in zip(epsilons, errors, strict=True) if error < 1)
    curves = Curves(
        Phrase("The error of a share when epsilon goes to 0"),
        (
            Curve(Phrase("{people:,} people", people=PEOPLE), tuple(epsilons), tuple(errors)),
            Curve(Phrase("no better than a guess"), (epsilons[0], epsilons[-1]), (0.5, 0.5)),
        ),
        Phrase("epsilon"),
        Phrase("standard error of a share"),
        log=True,
        log_x=True,
    )
    rows = tuple(
        (Number(epsilons[i], "plain"), Number(float(laws[i].channel.prob(1, 1)), "fixed", 6), Number(needed[i]))
        for i in range(0, len(epsilons), 5)
    )
    return Measured(
        Phrase(
            "At epsilon 0 a yes would be reported with the same probability by everybody: p = q, and the estimate "
            "(r - q)/(p - q) divides by 0. Murmure refuses it: {refused} As epsilon goes to 0 the error grows like "
            "1/epsilon: below epsilon {useless:.2g} a share from {people:,} people has a standard error above 1.",
            refused=refusal(0.0),
            useless=useless,
            people=PEOPLE,
        ),
        {"epsilon": epsilons, "standard error": errors, "people for 1 point": needed},
        (curves,),
        Phrase(
            "The lecture says that all outputs are equal at epsilon 0. It is their laws that are equal: an answer may "
            "still be a coin toss, and two of them may differ."
        ),
        (
            Table(
                Phrase("People needed for a standard error of one point"),
                (Phrase("epsilon"), Phrase("a yes is kept with probability"), Phrase("people")),
                rows,
            ),
        ),
    )


ITEM = Item(
    Phrase("Epsilon 0"),
    Phrase("the definition of differential privacy, the budget epsilon"),
    measure,
    claimed=Phrase("epsilon = 0: all outputs are equal, the data are perfectly protected but useless"),
    lab="grr?epsilon=0.01&k=2",
    verdicts=(31,),
)
