"""RS+FD with generalised randomised response: the probability tree of one attribute, and its estimator."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.figures import Branch, Tree

D, K, EPSILON, PEOPLE = 3, 4, 1.0, 6000

FAKE = "(d-1)/(dk)"  # a value is invented, and is this one


def measure(work: Work) -> Measured:
    schema = mu.Schema({f"A{i + 1}": mu.Categories(K) for i in range(D)})
    fakes = mu.RSFD(schema, EPSILON, "GRR")
    real = fakes.parts[0].real.supports
    p, q, d, k = Fraction(real.p), Fraction(real.q), D, K
    leaves = [p / d, q / d, Fraction(d - 1, d * k), Fraction(d - 1, d * k)]
    # Summed over what the other attributes report, the law of the whole record must give the same.
    others = list(itertools.product(range(K), repeat=D - 1))
    holds = sum(fakes.channel.prob((0,) * D, (0, *rest)) for rest in others)
    lacks = sum(fakes.channel.prob((1,) * D, (0, *rest)) for rest in others)
    gap = max(abs(float(holds - leaves[0] - leaves[2])), abs(float(lacks - leaves[1] - leaves[3])))

    codes = [(work.rng("codes", i).words(PEOPLE) % np.uint64(K)).astype(np.int64) for i in range(D)]
    total = fakes.tally(fakes.randomise(codes, work.rng("reports")))
    estimate = fakes.estimate(total, PEOPLE)["A1"].mean
    r = total[:K] / PEOPLE
    printed = (r * d * k - (float(q) * k + d - 1)) / (float(p - q) * k)
    differ = float(np.abs(printed - estimate).max())

    def leaf(formula: str, chance: Fraction) -> str:
        return Phrase("{formula} = {chance:.4f}", formula=formula, chance=float(chance))

    tree = Tree(
        Phrase("{d} attributes of {k} values: which value is reported of one of them", d=D, k=K),
        Phrase("attribute"),
        (
            Branch(
                "1/d",
                Phrase("it is real"),
                (
                    Branch("p", Phrase("its value"), leaf=leaf("p/d", leaves[0])),
                    Branch("q", Phrase("a given other value"), leaf=leaf("q/d", leaves[1])),
                ),
            ),
            Branch(
                "(d - 1)/d",
                Phrase("it is invented"),
                (
                    Branch("1/k", Phrase("its value"), leaf=leaf(FAKE, leaves[2])),
                    Branch("1/k", Phrase("a given other value"), leaf=leaf(FAKE, leaves[3])),
                ),
            ),
        ),
    )
    return Measured(
        Phrase(
            "A value is reported with probability {delta1:.6f} by those who hold it and {delta0:.6f} by the others; "
            "the law of the whole record, summed up, agrees to {gap:.0e}. On {people:,} simulated people the "
            "estimator of the lecture and Murmure's differ by {differ:.0e} at most.",
            delta1=float(holds),
            delta0=float(lacks),
            gap=gap,
            people=PEOPLE,
            differ=differ,
        ),
        {
            "path": ["real, its value", "real, another value", "fake, its value", "fake, another value"],
            "probability": [float(chance) for chance in leaves],
        },
        (tree,),
    )


ITEM = Item(
    Phrase("RS+FD[GRR]: the tree and the estimator"),
    Phrase("RS+FD with GRR: probability tree and estimator"),
    measure,
    claimed=Phrase("(r d k - (q k + d - 1)) / ((p - q) k) is an unbiased estimator"),
)
