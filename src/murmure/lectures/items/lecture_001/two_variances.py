"""The variance of the estimate in its two readings: the same people, or people drawn at random (exercise 2.4.4)."""

from __future__ import annotations

import math
from fractions import Fraction

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.exercise_sheet.class_draws import drawn_classes, estimates_of_classes, same_class
from murmure.lectures.exercise_sheet.coin_law import law_of_yes, law_of_yes_in_a_sample, moments, share_deviation
from murmure.show.document import Curve, Curves, Number, Paragraph, Table

PEOPLE = 100
SIZES = (30, 100, 1000, 10_000)


def variance_found(work: Work, rng: mu.Random, f: int, classes: int, drawn: bool) -> float:
    """Over so many classes. drawn: other people each time, from very many of whom f in a hundred mean yes."""
    share = Fraction(f, PEOPLE)
    meant = drawn_classes(classes, PEOPLE, share, rng) if drawn else same_class(classes, PEOPLE, f)
    return float(estimates_of_classes(meant, rng).var(ddof=1))


def measure(work: Work) -> Measured:
    classes = work.choose(50, 10_000, 100_000)
    meant = list(range(0, PEOPLE + 1, work.choose(50, 10, 5)))
    shares = tuple(f / PEOPLE for f in meant)
    fixed = [moments(law_of_yes(PEOPLE, f))[1] for f in meant]
    sample = [moments(law_of_yes_in_a_sample(PEOPLE, Fraction(f, PEOPLE)))[1] for f in meant]
    found = {
        drawn: work.cells(variance_found, [{"f": f, "classes": classes, "drawn": drawn} for f in meant])
        for drawn in (False, True)
    }
    exact = {False: fixed, True: sample}
    # the standard error of a variance of about normal estimates, in units of the variance
    error = math.sqrt(2 / (classes - 1))
    far = max(abs(v / float(e) - 1) for drawn in exact for v, e in zip(found[drawn], exact[drawn], strict=True)) / error
    figure = Curves(
        Phrase("Variance of the estimate, {people} people", people=PEOPLE),
        (
            Curve(Phrase("same people"), shares, tuple(map(float, fixed))),
            _curve(Phrase("simulated"), shares, found[False], error),
            Curve(Phrase("sample"), shares, tuple(map(float, sample))),
            _curve(Phrase("simulated sample"), shares, found[True], error),
            Curve(
                Phrase("honest sample"),
                shares,
                tuple(PEOPLE * share * (1 - share) for share in shares),
            ),
        ),
        Phrase("share of people who mean yes"),
        Phrase("variance of the estimated number"),
    )
    right = all(4 * v == 3 * PEOPLE for v in fixed) and all(
        v == PEOPLE * (Fraction(3, 4) + Fraction(f, PEOPLE) * (1 - Fraction(f, PEOPLE)))
        for v, f in zip(sample, meant, strict=True)
    )
    return Measured(
        Phrase(
            "The same {people} people: {fixed:.0f} for every f. People drawn at random: {low:.0f} to {high:.0f}. The "
            "variances of {n:,} simulated classes differ from the exact ones by at most {far:.1f} standard errors.",
            people=PEOPLE,
            fixed=float(max(fixed)),
            low=float(min(sample)),
            high=float(max(sample)),
            n=classes,
            far=far,
        ),
        {
            "f": meant,
            "same people, exact": list(map(float, fixed)),
            "same people, found": found[False],
            "drawn people, exact": list(map(float, sample)),
            "drawn people, found": found[True],
        },
        (figure,),
        why=None if right else Phrase("The law is not that of two fair coins, so 3N/4 does not hold."),
        blocks=_discussion(),
    )


def _curve(name: str, x: tuple[float, ...], y: list[float], error: float) -> Curve:
    """With two standard errors on either side."""
    low, high = (tuple(v * (1 + sign * 2 * error) for v in y) for sign in (-1, 1))
    return Curve(name, x, tuple(y), low=low, high=high)


def _discussion() -> tuple[Paragraph | Table, ...]:
    rows = tuple(
        (Number(N), Number(N * share_deviation(N), "fixed", 1), Number(share_deviation(N), "share", 1)) for N in SIZES
    )
    return (
        Paragraph(
            Phrase(
                "About these people the variance is 3N/4. About the population that they were drawn from it is N(3/4 + "
                "p(1 - p)): the draw adds its own chance, as it does to honest answers. The coins always cost 3N/4, at "
                "least three times as much as the draw."
            )
        ),
        Table(
            Phrase("The same people"),
            (Phrase("people"), Phrase("standard deviation of the count"), Phrase("standard deviation of the share")),
            rows,
        ),
    )


ITEM = Item(
    Phrase("The variance: the same people, or a sample"),
    Phrase("exercise 2.4, question 4"),
    measure,
    claimed=Phrase("a formula for the variance of the estimate is asked for, with a discussion"),
)
