"""The estimator is unbiased: shown by enumerating every series of answers."""

from __future__ import annotations

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.exercise_sheet.coin_law import enumerated_bias, exact_estimate, law_of_yes, moments
from murmure.show.document import Curve, Curves, Paragraph

CLASS = 30


def bias(work: Work, rng: mu.Random, N: int, f: int) -> str:
    return str(enumerated_bias(N, f))


def measure(work: Work) -> Measured:
    most = work.choose(3, 8, 11)
    keys = [{"N": N, "f": f} for N in range(1, most + 1) for f in range(N + 1)]
    biases = work.cells(bias, keys)
    wrong = [value for value in biases if value != "0"]
    meant = range(CLASS + 1)
    cut = [_mean_of_cut(f) for f in meant]
    figure = Curves(
        Phrase("Expectation of the estimate in a class of {people}", people=CLASS),
        (
            Curve(
                Phrase("2o - N/2"),
                tuple(map(float, meant)),
                tuple(float(moments(law_of_yes(CLASS, f))[0]) for f in meant),
            ),
            Curve(Phrase("cut to 0 .. N"), tuple(map(float, meant)), tuple(cut)),
        ),
        Phrase("people who mean yes (f)"),
        Phrase("expected estimate"),
    )
    return Measured(
        Phrase(
            "Up to {most} people, for every f, over all series of answers and in exact fractions: the expectation of "
            "the estimate is f in {right} cases out of {cases}.",
            most=most,
            right=len(biases) - len(wrong),
            cases=len(biases),
        ),
        {"N": [key["N"] for key in keys], "f": [key["f"] for key in keys], "bias": biases},
        (figure,),
        why=Phrase("The estimator is biased for this law.") if wrong else None,
        broken=(
            Paragraph(
                Phrase(
                    "Cutting estimates below 0 or above N looks harmless. In a class of {people} where nobody means "
                    "yes, the expectation of the cut estimate is {none:.2f} instead of 0.",
                    people=CLASS,
                    none=cut[0],
                )
            ),
        ),
    )


def _mean_of_cut(f: int) -> float:
    cut = [min(max(float(exact_estimate(o, CLASS)), 0.0), float(CLASS)) for o in range(CLASS + 1)]
    return sum(float(chance) * value for chance, value in zip(law_of_yes(CLASS, f), cut, strict=True))


ITEM = Item(
    Phrase("The estimator is unbiased"),
    Phrase("exercise 2.2, added question"),
    measure,
    claimed=Phrase("the estimate deduced from the expected number of YES"),
)
