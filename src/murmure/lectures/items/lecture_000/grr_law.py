"""Generalised randomised response at epsilon 1 with nine values: the law of the report of a person whose value is 6."""

from __future__ import annotations

import math

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Paragraph
from murmure.show.figures import Bars

EPSILON, K, X = 1.0, 9, 6


def measure(work: Work) -> Measured:
    values = mu.Categories([str(value) for value in range(1, K + 1)])
    mechanism = mu.GRR(values, EPSILON)
    law = mechanism.channel
    chances = [float(law.prob(X - 1, y)) for y in range(K)]
    p, q = chances[X - 1], chances[0]
    bars = Bars(
        Phrase("What a person whose value is {x} reports", x=X),
        tuple(values.labels()),
        (("", tuple(chances)),),
        Phrase("report"),
        Phrase("probability"),
        marked=X - 1,
    )
    why_obvious = Phrase(
        "Why it is obvious: a report has two possible probabilities, {p:.4f} and {q:.4f}. So the largest ratio between "
        "two people is {ratio:.4f}, which is e to the power of {epsilon:.4f}, the certified epsilon.",
        p=p,
        q=q,
        ratio=p / q,
        epsilon=mu.certify(mechanism).epsilon,
    )
    agrees = math.isclose(p, math.e**EPSILON / (K - 1 + math.e**EPSILON), rel_tol=1e-9)
    return Measured(
        Phrase("{p:.4f} for the true value, {q:.4f} for each other one", p=p, q=q),
        {"report": values.labels(), "probability": chances},
        (bars,),
        why=None if agrees else Phrase("the law that runs is not that of the formula"),
        blocks=(Paragraph(why_obvious),),
    )


ITEM = Item(
    Phrase("Generalised randomised response"),
    Phrase("GRR, the example with epsilon 1, k 9, x 6"),
    measure,
    claimed=Phrase("the mechanism is epsilon-private"),
    printed=Phrase("c e^epsilon for the true value, c for each other one, with c = 1/(k - 1 + e^epsilon)"),
    lab="grr?epsilon=1&k=9",
)
