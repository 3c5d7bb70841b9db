"""How many people answer YES, and how many must have meant it (exercise 2.2, questions 2 and 3)."""

from __future__ import annotations

import math

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.exercise_sheet.class_draws import same_class
from murmure.lectures.exercise_sheet.coin_law import exact_estimate, expected_yes
from murmure.show.document import Curve, Curves, Paragraph

PEOPLE = 100


def count_yes(work: Work, rng: mu.Random, f: int, classes: int) -> list[float]:
    """Mean and standard deviation of the number of YES, over many classes."""
    coins = mu.Warner(mu.Categories([False, True]))
    reports = coins.report(same_class(classes, PEOPLE, f).ravel(), rng).reshape(classes, PEOPLE)
    yes = reports.sum(axis=1)
    return [float(yes.mean()), float(yes.std(ddof=1))]


def measure(work: Work) -> Measured:
    classes = work.choose(20, 1_000, 10_000)
    meant = list(range(0, PEOPLE + 1, work.choose(50, 10, 10)))
    found = work.cells(count_yes, [{"f": f, "classes": classes} for f in meant])
    exact = [expected_yes(PEOPLE, f) for f in meant]
    means, deviations = (tuple(values) for values in zip(*found, strict=True))
    low, high = (tuple(m + sign * s for m, s in zip(means, deviations, strict=True)) for sign in (-1, 1))
    far = max(abs(m - float(e)) / s for m, e, s in zip(means, exact, deviations, strict=True)) * math.sqrt(classes)
    figure = Curves(
        Phrase("{people} people: how many answer YES", people=PEOPLE),
        (
            Curve(Phrase("expected"), tuple(map(float, meant)), tuple(map(float, exact))),
            Curve(
                Phrase("mean of {n:,} classes, and one standard deviation", n=classes),
                tuple(map(float, meant)),
                means,
                low=low,
                high=high,
            ),
        ),
        Phrase("people who mean yes (f)"),
        Phrase("number of YES (o)"),
    )
    right = all(exact_estimate(o, PEOPLE) == 2 * o - PEOPLE / 2 for o in range(PEOPLE + 1))
    right = right and all(e * 4 == PEOPLE + 2 * f for e, f in zip(exact, meant, strict=True))
    return Measured(
        Phrase(
            "The expected number of YES among {people} people goes from {first} to {last}. The means of {n:,} "
            "simulated classes differ from it by at most {far:.1f} standard errors.",
            people=PEOPLE,
            first=str(exact[0]),
            last=str(exact[-1]),
            n=classes,
            far=far,
        ),
        {"f": meant, "expected": [str(e) for e in exact], "mean": list(means), "standard deviation": list(deviations)},
        (figure,),
        why=None if right else Phrase("The law is not that of two fair coins, so the two formulas do not hold."),
        broken=_mixed_units(),
    )


def _mixed_units() -> tuple[Paragraph, ...]:
    """The formula of the share, fed with a number of people, as slides of lectures 000 and 003 invite to do."""
    o = 40
    share = float(exact_estimate(o, PEOPLE)) / PEOPLE
    return (
        Paragraph(
            Phrase(
                "Numbers of people and shares must not be mixed. With {o} YES among {people}, 2o - N/2 gives "
                "{count:.0f} people and 2r - 1/2 with r = o/N gives a share of {share:.0%}. The formula of the share "
                "fed with the number gives {mixed:.1f} people.",
                o=o,
                people=PEOPLE,
                count=float(exact_estimate(o, PEOPLE)),
                share=share,
                mixed=2 * o - 0.5,
            )
        ),
    )


ITEM = Item(
    Phrase("The expected number of YES, and the estimator"),
    Phrase("exercise 2.2, questions 2 and 3"),
    measure,
    claimed=Phrase("o = N/4 + f/2, so that 2o - N/2 estimates f"),
    verdicts=(1,),
)
