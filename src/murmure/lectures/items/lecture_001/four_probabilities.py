"""The four probabilities, their largest ratio and epsilon (exercise 2.4, questions 1 to 3)."""

from __future__ import annotations

import math
from fractions import Fraction

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.exercise_sheet.coin_law import ANSWERS, certified_epsilon, largest_ratio, probability
from murmure.show.document import Number, Paragraph, Table
from murmure.show.figures import Bars

CLAIMED = 3
OTHER_COINS = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 6), Fraction(1, 100))


def measure(work: Work) -> Measured:
    epsilon, ratio = certified_epsilon(), largest_ratio()
    pairs = [(x, r) for x in ANSWERS for r in ANSWERS]
    bars = Bars(
        Phrase("What people answer, by what they mean"),
        tuple(Phrase("means {answer}", answer=_word(x)) for x in ANSWERS),
        tuple(
            (Phrase("answers {answer}", answer=_word(r)), tuple(float(probability(x, r)) for x in ANSWERS))
            for r in ANSWERS
        ),
        "",
        Phrase("probability"),
    )
    agrees = ratio == CLAIMED and math.isclose(epsilon, math.log(CLAIMED), rel_tol=1e-12)
    return Measured(
        Phrase(
            "{same} to answer what one means, {other} to answer the contrary. The largest ratio is {ratio}. Certified "
            "epsilon: {epsilon:.6f} (ln 3 is {ln3:.6f}).",
            same=str(probability(True, True)),
            other=str(probability(True, False)),
            ratio=str(ratio),
            epsilon=epsilon,
            ln3=math.log(CLAIMED),
        ),
        {
            "means": [x for x, _ in pairs],
            "answers": [r for _, r in pairs],
            "probability": [str(probability(x, r)) for x, r in pairs],
        },
        (bars,),
        why=None if agrees else Phrase("The coins of this law are not the two fair ones of the sheet."),
        broken=_other_coins(),
    )


def _word(answer: bool) -> Phrase:
    return Phrase("yes") if answer else Phrase("no")


def _other_coins() -> tuple[Paragraph | Table, ...]:
    """The second coin is not fair: what it costs."""
    domain = mu.Categories([False, True])
    rows = []
    for coin in OTHER_COINS:
        epsilon = mu.certify(mu.Warner(domain, truth=Fraction(1, 2), yes_coin=coin)).epsilon
        rows.append((str(coin), Number(epsilon, "fixed", 4), Number(math.exp(epsilon), "fixed", 1)))
    return (
        Paragraph(
            Phrase(
                "The second coin need not be fair. The more seldom it says YES, the more a YES betrays: the largest "
                "ratio and epsilon grow without bound."
            )
        ),
        Table(
            "",
            (Phrase("probability that the second coin says YES"), Phrase("certified epsilon"), Phrase("largest ratio")),
            tuple(rows),
        ),
    )


ITEM = Item(
    Phrase("The four probabilities, the ratio and epsilon"),
    Phrase("exercise 2.4, questions 1 to 3"),
    measure,
    claimed=Phrase("the ratio is at most 3, so epsilon is ln 3"),
    lab="tree?truth=0.5&yes=0.5",
)
