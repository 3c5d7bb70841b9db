"""Linear regression on the Pima table against epsilon, yes from 0.5 on."""

from __future__ import annotations

from typing import Any

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.accuracy_claims import SPREAD, apart, claim_row, means, span, verdict
from murmure.lectures.experiments.pima_accuracy import PimaAccuracy, judged, library_blocks, pima_accuracy, split_note
from murmure.show.document import Table

NAMES = {
    "clear": Phrase("LR, in the clear"),
    "staircase": Phrase("staircase + LR"),
    "central": Phrase("DP-LR, add/remove"),
    "replace": Phrase("DP-LR, replace"),
    "library": Phrase("diffprivlib, nominal epsilon"),
}


def measure(work: Work) -> Measured:
    epsilons = work.choose(
        (1.0, 20.0),
        (0.1, 0.3, 1.0, 3.0, 10.0, 20.0, 30.0, 100.0),
        (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0),
    )
    found = pima_accuracy(work, "regression", epsilons, work.choose(2, 20, 100))
    small, large = found.in_range(0.1, 10), found.in_range(10, 30)
    told = Phrase(
        "over {runs} splits LR has an accuracy of {clear:.3f} in the clear; always the larger class has {base:.3f}. "
        "For epsilon from 0.1 to 10: staircase + LR {stair}, DP-LR {dp}; from 10 to 30: {later_stair} and {later_dp}",
        runs=found.runs,
        clear=found.mean(found.epsilons[0], "clear"),
        base=found.larger_class,
        stair=span(means(small, "staircase")),
        dp=span(means(small, "central")),
        later_stair=span(means(large, "staircase")),
        later_dp=span(means(large, "central")),
    )
    return Measured(
        told,
        found.data(),
        (found.figure(Phrase("Linear regression on Pima, yes from 0.5 on"), NAMES),),
        why=why(found),
        blocks=(claims_table(found), *split_note(), found.table(NAMES), *library_blocks(found, "regression")),
    )


def claims_table(found: PimaAccuracy) -> Table:
    low, high = found.epsilons[0], found.epsilons[-1]
    everywhere, small, large = found.in_range(low, high), found.in_range(0.1, 10), found.in_range(10, 30)
    deviations = [found.deviation(epsilon, "central") for epsilon in found.epsilons]
    dp = Phrase("DP-LR: {span}", span=span(means(small, "central")))
    stair = Phrase("staircase + LR: {span}", span=span(means(small, "staircase")))
    rows: tuple[tuple[Any, ...], ...] = (
        claim_row(
            Phrase("LR in the clear is always more accurate than DP-LR"),
            low,
            high,
            judged(found, low, high, lambda a: apart(a["clear"], a["central"]).above),
            Phrase("DP-LR: {span}", span=span(means(everywhere, "central"))),
        ),
        claim_row(
            Phrase("LR in the clear is always more accurate than staircase + LR"),
            low,
            high,
            judged(found, low, high, lambda a: apart(a["clear"], a["staircase"]).above),
            Phrase("staircase + LR: {span}", span=span(means(everywhere, "staircase"))),
        ),
        claim_row(
            Phrase("DP-LR varies much: a standard deviation above {spread:.2f}", spread=SPREAD),
            low,
            high,
            [deviation > SPREAD for deviation in deviations],
            Phrase("standard deviations of DP-LR: {span}", span=span(deviations)),
        ),
        claim_row(
            Phrase("DP-LR is about random"),
            0.1,
            10,
            judged(found, 0.1, 10, lambda a: apart(a["central"], a["larger class"]).near),
            dp,
        ),
        claim_row(
            Phrase("staircase + LR is about random"),
            0.1,
            10,
            judged(found, 0.1, 10, lambda a: apart(a["staircase"], a["larger class"]).near),
            stair,
        ),
        claim_row(
            Phrase("staircase + LR is more accurate than DP-LR"),
            10,
            30,
            judged(found, 10, 30, lambda a: apart(a["staircase"], a["replace"]).above),
            Phrase(
                "staircase + LR: {stair}; DP-LR: {dp}",
                stair=span(means(large, "staircase")),
                dp=span(means(large, "replace")),
            ),
        ),
    )
    if found.library:
        rows += library_rows(found, low, high)
    head = (Phrase("claim"), Phrase("epsilon"), Phrase("verdict"), Phrase("accuracy"))
    return Table(Phrase("The claims, one by one"), head, rows, words=True)


def library_rows(found: PimaAccuracy, low: float, high: float) -> tuple[tuple[Any, ...], ...]:
    """The same claims about the regression that the lecture draws."""
    deviations = [found.deviation(epsilon, "library") for epsilon in found.epsilons]
    small, large = found.in_range(0.1, 10), found.in_range(10, 30)
    return (
        claim_row(
            Phrase("diffprivlib's DP-LR varies much: a standard deviation above {spread:.2f}", spread=SPREAD),
            low,
            high,
            [deviation > SPREAD for deviation in deviations],
            Phrase("its standard deviations: {span}", span=span(deviations)),
        ),
        claim_row(
            Phrase("diffprivlib's DP-LR is about random"),
            0.1,
            10,
            judged(found, 0.1, 10, lambda a: apart(a["library"], a["larger class"]).near),
            Phrase("diffprivlib: {span}", span=span(means(small, "library"))),
        ),
        claim_row(
            Phrase("staircase + LR is more accurate than diffprivlib's DP-LR"),
            10,
            30,
            judged(found, 10, 30, lambda a: apart(a["staircase"], a["library"]).above),
            Phrase("diffprivlib: {span}", span=span(means(large, "library"))),
        ),
    )


def why(found: PimaAccuracy) -> str | None:
    """Which regression is meant decides: the lecture's is diffprivlib's, whose noise is larger than it needs to be."""
    better = judged(found, 10, 30, lambda a: apart(a["staircase"], a["replace"]).above)
    random = judged(found, 0.1, 10, lambda a: apart(a["central"], a["larger class"]).near)
    if all(better) and all(random):
        return None
    return Phrase(
        "the lecture draws diffprivlib's DP-LR, with bounds read off the data. Here the noise is fitted to the exact "
        "sensitivity of the sums, on public bounds, and a ridge is added where the noise calls for it. With that, "
        "'DP-LR is about random' {random}, and 'staircase + LR is more accurate' {better}",
        random=verdict(random),
        better=verdict(better),
    )


ITEM = Item(
    Phrase("LR, staircase + LR and DP-LR on Pima"),
    Phrase("LR vs M_Stair + LR vs DP-LR"),
    measure,
    claimed=Phrase(
        "LR is always the most accurate; DP-LR has a high variance; for epsilon from 0.1 to 10 DP-LR and staircase + "
        "LR are about random; from 10 to 30 staircase + LR is more accurate"
    ),
    needs=("pima",),
)
