"""Generalised randomised response at epsilon 1 with nine values: the law of the report of a person whose value is 6."""

from __future__ import annotations

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.figures import Bars

EPSILON, K, X = 1.0, 9, 6


def measure(work: Work) -> Measured:
    values = mu.Categories([str(value) for value in range(1, K + 1)])
    law = mu.GRR(values, EPSILON).channel
    chances = [float(law.prob(X - 1, y)) for y in range(K)]
    bars = Bars(
        Phrase("What a person whose value is {x} reports", x=X),
        tuple(values.labels()),
        ((Phrase("probability"), tuple(chances)),),
        Phrase("report"),
        Phrase("probability"),
        marked=X - 1,
    )
    return Measured(
        Phrase("{p:.4f} for the true value, {q:.4f} for each other one", p=chances[X - 1], q=chances[0]),
        {"report": values.labels(), "probability": chances},
        (bars,),
    )


ITEM = Item(
    Phrase("Generalised randomised response"),
    Phrase("GRR, the example with epsilon 1, k 9, x 6"),
    measure,
    claimed=Phrase("the mechanism is epsilon-private"),
    lab="grr?epsilon=1&k=9",
)
