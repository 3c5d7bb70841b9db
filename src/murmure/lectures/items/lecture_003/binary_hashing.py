"""Local hashing: g is a number of values, not of bits, and q is a chance of collision."""

from __future__ import annotations

import math

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Paragraph
from murmure.show.figures import Bars

EPSILON, K, PEOPLE = 1.0, 8, 100_000
SHARES = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04, 0.0, 0.0])


def people_variance(g: int, epsilon: float) -> float:
    """N Var* of hashing into g values: q(1 - q)/(p - q)^2 with p = E/(E + g - 1) and q = 1/g."""
    E = math.exp(epsilon)
    p, q = E / (E + g - 1), 1 / g
    return q * (1 - q) / (p - q) ** 2


def measure(work: Work) -> Measured:
    people = work.choose(2000, PEOPLE, PEOPLE)
    domain = mu.Categories(K)
    blh, olh = mu.BLH(domain, EPSILON), mu.OLH(domain, EPSILON)
    counts = np.rint(SHARES * people).astype(int)
    r = blh.tally(blh.report(np.repeat(np.arange(K), counts), work.rng("people"))) / people
    p, q = float(blh.supports.p), float(blh.supports.q)
    wrong_q = 1 - p  # 1/(E + g - 1) of generalised randomised response among g = 2 values
    right, wrong = (r - q) / (p - q), (r - wrong_q) / (p - wrong_q)
    bars = Bars(
        Phrase("Shares from binary hashing at epsilon 1"),
        tuple(str(value) for value in range(1, K + 1)),
        (
            (Phrase("truth"), tuple((counts / people).tolist())),
            (Phrase("q = 1/g"), tuple(right.tolist())),
            (Phrase("q = 1/(e^epsilon + g - 1)"), tuple(wrong.tolist())),
        ),
        Phrase("value"),
        Phrase("estimated share"),
    )
    sizes = list(range(2, 33))
    variances = [people_variance(g, EPSILON) for g in sizes]
    by_size = Curves(
        Phrase("The variance against the number of values of the hash"),
        (Curve("", tuple(sizes), tuple(variances)),),
        Phrase("values g of the hash"),
        Phrase("N times Var*"),
    )
    gap = float(np.abs(right - counts / people).max())
    wrong_gap = float(np.abs(wrong - counts / people).max())
    return Measured(
        Phrase(
            "BLH hashes into g = {g} values, one bit; OLH takes g = {best} at epsilon {epsilon:g}. Of {people:,} "
            "people, q = 1/g gives shares within {gap:.3f} of the truth; with the q of generalised randomised response "
            "they are off by up to {wrong_gap:.2f}: a value that nobody holds is given {nobody:.2f}.",
            g=blh.g,
            best=olh.g,
            epsilon=EPSILON,
            people=people,
            gap=gap,
            wrong_gap=wrong_gap,
            nobody=float(wrong[-1]),
        ),
        {
            "value": list(range(1, K + 1)),
            "truth": (counts / people).tolist(),
            "right q": right.tolist(),
            "wrong q": wrong.tolist(),
        },
        (bars, by_size),
        Phrase(
            "A hash on g bits has 2^g values; BLH has two values, so one bit. And the estimator is the same only with "
            "the right q: a report supports a value that the person does not hold when the hash sends both to the "
            "same place, which has probability 1/g."
        ),
        broken=(
            Paragraph(
                Phrase(
                    "Read as g = 8 bits, the hash would have 256 values. N Var* would be {bits:.1f} at epsilon "
                    "{epsilon:g}, against {two:.2f} for two values and {best:.2f} for {g}.",
                    bits=people_variance(256, EPSILON),
                    epsilon=EPSILON,
                    two=float(blh.variance(0.0, 1)),
                    best=float(olh.variance(0.0, 1)),
                    g=olh.g,
                )
            ),
        ),
    )


ITEM = Item(
    Phrase("Binary local hashing"),
    Phrase("other mechanisms with the same estimator and variance"),
    measure,
    claimed=Phrase("BLH: a hash on g bits, then generalised randomised response, with the same estimator"),
    verdicts=(10, 11),
)
