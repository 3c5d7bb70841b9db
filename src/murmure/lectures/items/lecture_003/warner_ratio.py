"""Warner's tree with numbers in it, what f is, and the ratio whose two sides are printed alike."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Number, Table
from murmure.show.figures import Branch, Tree

PEOPLE, CHEATS = 1000, 300


def measure(work: Work) -> Measured:
    warner = mu.Warner(mu.Categories(["no", "yes"]))
    law = warner.channel
    f, half = Fraction(CHEATS, PEOPLE), Fraction(1, 2)
    heads = law.prob(0, 1)  # a yes of somebody who means no: the second coin alone
    leaves = [f * half, (1 - f) * half, heads, half - heads]
    yes = float(leaves[0] + leaves[2])

    def leaf(formula: str, chance: Fraction) -> str:
        return Phrase("{formula} = {chance:g}", formula=formula, chance=float(chance))

    tree = Tree(
        Phrase("Two coins, {cheats} cheats among {people:,} students", cheats=CHEATS, people=PEOPLE),
        Phrase("first coin"),
        (
            Branch(
                "1/2",
                Phrase("truth"),
                (
                    Branch("f", Phrase("yes"), leaf=leaf("f/2", leaves[0])),
                    Branch("1 - f", Phrase("no"), leaf=leaf("(1 - f)/2", leaves[1])),
                ),
            ),
            Branch(
                "1/2",
                Phrase("second coin"),
                (
                    Branch("1/2", Phrase("yes"), leaf=leaf("1/4", leaves[2])),
                    Branch("1/2", Phrase("no"), leaf=leaf("1/4", leaves[3])),
                ),
            ),
        ),
    )
    printed, right = law.prob(1, 1) / law.prob(1, 1), law.prob(1, 1) / law.prob(0, 1)
    answers = np.repeat(["no", "yes"], [PEOPLE - CHEATS, CHEATS])
    reported = int(warner.tally(warner.report(answers, work.rng("students")))[1])
    r = reported / PEOPLE
    ratios = Table(
        Phrase("The ratio of the slide"),
        ("", Phrase("value"), Phrase("its logarithm")),
        (
            (Phrase("as printed: P[yes | yes] / P[yes | yes]"), Number(float(printed), "plain"), Number(0.0, "plain")),
            (
                Phrase("as meant: P[yes | yes] / P[yes | no]"),
                Number(float(right), "plain"),
                Number(math.log(right), "fixed", 6),
            ),
            (Phrase("certified"), None, Number(mu.certify(warner).epsilon, "fixed", 6)),
        ),
    )
    return Measured(
        Phrase(
            "The leaves sum to {total:g}, and a yes has probability {yes:g}. The ratio of the two rows of the table is "
            "{right:g}, and its logarithm {log:.6f} is what the certifier finds. In one simulation {reported} of "
            "{people:,} said yes: 2r - 1/2 = {share:.3f} is a share; the number of cheats is {people:,} times that, "
            "{number:.0f}.",
            total=float(sum(leaves)),
            yes=yes,
            right=float(right),
            log=math.log(right),
            reported=reported,
            people=PEOPLE,
            share=2 * r - 0.5,
            number=PEOPLE * (2 * r - 0.5),
        ),
        {
            "path": ["truth, yes", "truth, no", "coin, yes", "coin, no"],
            "probability": [float(chance) for chance in leaves],
        },
        (tree,),
        Phrase(
            "Two slips of the pen. The ratio has the same probability above and below, which gives {printed:g}; the "
            "denominator must be P[yes | no]. And f is announced as a number of cheats (f < N), while r = 1/4 + f/2 "
            "needs their share.",
            printed=float(printed),
        ),
        (ratios,),
    )


ITEM = Item(
    Phrase("Warner's tree and its ratio"),
    Phrase("Warner: estimating the share of cheats"),
    measure,
    claimed=Phrase("the mechanism is ln(3)-private; 2r - 1/2 estimates the number of yes"),
    printed=Phrase("leaves f/2, (1 - f)/2, 1/4, 1/4; Pr[M(yes) = yes] / Pr[M(yes) = yes] <= 3"),
    lab="tree?truth=0.5&yes=0.5",
    verdicts=(1, 2),
)
