"""Naive Bayes on the Pima table against epsilon: in the clear, from randomised rows, with noise at the curator."""

from __future__ import annotations

import math
from typing import Any

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.accuracy_claims import apart, claim_row, means, span, verdict
from murmure.lectures.experiments.pima_accuracy import PimaAccuracy, judged, library_blocks, pima_accuracy, split_note
from murmure.show.document import Table, sentences

NAMES = {
    "clear": Phrase("GNB, in the clear"),
    "staircase": Phrase("staircase + GNB"),
    "central": Phrase("DP-GNB, add/remove"),
    "replace": Phrase("DP-GNB, replace"),
    "library": Phrase("diffprivlib, nominal epsilon"),
}


def measure(work: Work) -> Measured:
    epsilons = work.choose(
        (1.0, 20.0),
        (0.1, 0.3, 1.0, 3.0, 10.0, 20.0, 30.0, 100.0),
        (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0),
    )
    found = pima_accuracy(work, "bayes", epsilons, work.choose(2, 20, 100))
    claims = claims_table(found)
    private = found.in_range(10, 30)
    told = Phrase(
        "over {runs} splits GNB has an accuracy of {clear:.3f} in the clear; always the larger class has {base:.3f}. "
        "Staircase + GNB, for epsilon from 0.1 to 10: {stair}; from 10 to 30: {later}. DP-GNB from 10 to 30: {dp}",
        runs=found.runs,
        clear=found.mean(found.epsilons[0], "clear"),
        base=found.larger_class,
        stair=span(means(found.in_range(0.1, 10), "staircase")),
        later=span(means(private, "staircase")),
        dp=span(means(private, "central")),
    )
    return Measured(
        told,
        found.data(),
        (found.figure(Phrase("Naive Bayes on Pima"), NAMES),),
        why=why(found),
        blocks=(claims, *split_note(), found.table(NAMES), *library_blocks(found, "bayes")),
    )


def claims_table(found: PimaAccuracy) -> Table:
    low, high = found.epsilons[0], found.epsilons[-1]
    everywhere, small, large = found.in_range(low, high), found.in_range(0.1, 10), found.in_range(10, 30)
    rows: tuple[tuple[Any, ...], ...] = (
        claim_row(
            Phrase("GNB in the clear is always more accurate than DP-GNB"),
            low,
            high,
            judged(found, low, high, lambda a: apart(a["clear"], a["central"]).above),
            Phrase("DP-GNB: {span}", span=span(means(everywhere, "central"))),
        ),
        claim_row(
            Phrase("GNB in the clear is always more accurate than staircase + GNB"),
            low,
            high,
            judged(found, low, high, lambda a: apart(a["clear"], a["staircase"]).above),
            Phrase("staircase + GNB: {span}", span=span(means(everywhere, "staircase"))),
        ),
        claim_row(
            Phrase("DP-GNB is always more accurate than staircase + GNB"),
            low,
            high,
            judged(found, low, high, lambda a: apart(a["replace"], a["staircase"]).above),
            Phrase("DP-GNB: {span}", span=span(means(everywhere, "replace"))),
        ),
        claim_row(
            Phrase("staircase + GNB is close to random"),
            0.1,
            10,
            judged(found, 0.1, 10, lambda a: apart(a["staircase"], a["larger class"]).near),
            Phrase("staircase + GNB: {span}", span=span(means(small, "staircase"))),
        ),
        claim_row(
            Phrase("DP-GNB loses at most two points against GNB in the clear (is it worth using?)"),
            10,
            30,
            judged(found, 10, 30, lambda a: apart(a["clear"], a["central"]).near),
            Phrase("DP-GNB: {span}", span=span(means(large, "central"))),
        ),
    )
    if found.library:  # the model that the lecture draws
        rows += (
            claim_row(
                Phrase("diffprivlib's DP-GNB is always more accurate than staircase + GNB"),
                low,
                high,
                judged(found, low, high, lambda a: apart(a["library"], a["staircase"]).above),
                Phrase("diffprivlib: {span}", span=span(means(everywhere, "library"))),
            ),
        )
    head = (Phrase("claim"), Phrase("epsilon"), Phrase("verdict"), Phrase("accuracy"))
    return Table(Phrase("The claims, one by one"), head, rows, words=True)


def why(found: PimaAccuracy) -> str:
    """What the comparison of randomised rows with noise at the curator comes to, said from what was measured."""
    ahead = judged(found, 0.1, 100, lambda a: apart(a["replace"], a["staircase"]).above)
    top = found.epsilons[-1]
    ways = ("clear", "staircase", "replace")
    return sentences(
        Phrase(
            "That DP-GNB beats staircase + GNB {verdict}. At epsilon {top:g} they have {dp:.3f} and {stair:.3f}, and "
            "the clear model {clear:.3f}.",
            verdict=verdict(ahead),
            top=top,
            **dict(zip(("clear", "stair", "dp"), (found.mean(top, way) for way in ways), strict=True)),
        ),
        Phrase(
            "An epsilon of 10 protects little: one person may change the odds of what is published {odds:,.0f}-fold. "
            "At epsilon 1 DP-GNB has {one:.3f}.",
            odds=math.exp(10),
            one=found.mean(1.0, "central"),
        ),
    )


ITEM = Item(
    Phrase("GNB, staircase + GNB and DP-GNB on Pima"),
    Phrase("GNB vs M_Stair + GNB vs DP-GNB"),
    measure,
    claimed=Phrase(
        "GNB is always the most accurate; DP-GNB is always more accurate than staircase + GNB; for epsilon from 0.1 to "
        "10 staircase + GNB is close to random; from 10 to 30: is DP-GNB of interest beside GNB?"
    ),
    needs=("pima",),
)
