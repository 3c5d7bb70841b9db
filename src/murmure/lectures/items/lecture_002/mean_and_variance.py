"""Noise on the mean and the variance of a class: the printed sensitivities, and what they cost."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.lecture_002 import (
    loss_of_a_mean,
    mean_sensitivity,
    printed_variance_sensitivity,
    variance_sensitivity,
)
from murmure.show.document import Block, Curve, Curves, Number, Paragraph, Table

N, EPSILON = 10, 1.0
WIDTHS = (1, 10, 100, 269, 846)  # ranges of a column; the last is that of insulin in the Pima table
CLASS = 268  # women with diabetes in the Pima table
GRID = (0, 1, 3, 4)


def measure(work: Work) -> Measured:
    below = tuple(float(v) for v in np.linspace(0, 5, work.choose(6, 26, 51)))
    losses = tuple(loss_of_a_mean(N, EPSILON, v) for v in below)
    clamped = max(EPSILON * (N + 2) / (N + 1), EPSILON + float(np.log((N + 2) / (N + 1))))
    figure = Curves(
        Phrase("Noise on a mean, scaled by the true size of the class: what an output costs"),
        (
            Curve(Phrase("loss, {n} people against {more}", n=N, more=N + 1), below, losses),
            Curve(Phrase("epsilon that was asked for"), below, (EPSILON,) * len(below)),
        ),
        Phrase("how far below the range the output lies, in widths"),
        Phrase("privacy loss"),
    )
    tried = {n: brute_force(n) for n in range(1, work.choose(3, 5, 6))}
    agree = all(found == (mean_sensitivity(n, 4), variance_sensitivity(n, 4)) for n, found in tried.items())
    needed, given = variance_sensitivity(CLASS, WIDTHS[-1]), printed_variance_sensitivity(CLASS, WIDTHS[-1])
    told = Phrase(
        "the mean: the arithmetic is right, but the scale holds the true size of the class. At epsilon {epsilon:g} an "
        "output {far:g} widths below the range costs {loss:.1f}, and further out more: no epsilon holds. The variance: "
        "for insulin (width {width}, {people} people) {needed:.1f} is needed and {given:.1f} printed, {ratio:.2f} "
        "times too little",
        epsilon=EPSILON,
        far=below[-1],
        loss=losses[-1],
        width=WIDTHS[-1],
        people=CLASS,
        needed=float(needed),
        given=float(given),
        ratio=float(needed / given),
    )
    return Measured(
        told,
        {"widths below": below, "loss": losses, "asked": [EPSILON] * len(below)},
        (figure,),
        why=Phrase(
            "a variance is in squared units, so its sensitivity must be too: n (U-L)^2 / (n+1)^2. And one more person "
            "changes n, so the two tables have noise of two scales, which far outputs tell apart. Add noise to the sum "
            "and to the count instead, and divide afterwards"
        ),
        blocks=(
            variance_table(),
            Paragraph(
                Phrase(
                    "Checked by trying all tables of up to {n} values from a small grid, and all values that may join: "
                    "the largest changes are exactly (U-L)/(n+1) and n (U-L)^2/(n+1)^2.",
                    n=max(tried),
                )
                if agree
                else Phrase("The formulas differ from what was found by trying all small tables."),
                "note" if agree else "warning",
            ),
        ),
        broken=broken(clamped),
    )


def variance_table() -> Table:
    rows = []
    for width in WIDTHS:
        right, printed = variance_sensitivity(CLASS, width), printed_variance_sensitivity(CLASS, width)
        told = Phrase("too little noise") if printed < right else Phrase("too much noise")
        rows.append(
            (
                str(width),
                Number(float(printed), "fixed", 3),
                Number(float(right), "fixed", 3),
                Number(float(right / printed), "fixed", 3),
                told if printed != right else Phrase("equal"),
            )
        )
    head = (Phrase("width U - L"), Phrase("printed"), Phrase("right"), Phrase("epsilon spent for 1"), "")
    return Table(Phrase("Sensitivity of the variance of {n} people", n=CLASS), head, tuple(rows))


def broken(clamped: float) -> tuple[Block, ...]:
    outputs = (0, 1, 3, 10, 100)
    head = (Phrase("widths below the range"), Phrase("privacy loss, asked {epsilon:g}", epsilon=EPSILON))
    rows = tuple((str(far), Number(loss_of_a_mean(N, EPSILON, far), "fixed", 2)) for far in outputs)
    return (
        Table(Phrase("An output far from the data tells how many people there are"), head, rows),
        Paragraph(
            Phrase(
                "Cutting the output to the range helps, but not enough: the loss is then {clamped:.4f}, still above "
                "{epsilon:g}, and a class may be empty.",
                clamped=clamped,
                epsilon=EPSILON,
            )
        ),
    )


def brute_force(n: int) -> tuple[Fraction, Fraction]:
    """How far one value moves the mean and the variance of n values, at most, by trying all."""
    means, variances = [Fraction(0)], [Fraction(0)]
    for values in itertools.combinations_with_replacement(GRID, n):
        for new in GRID:
            means.append(abs(_mean(values) - _mean((*values, new))))
            variances.append(abs(_variance(values) - _variance((*values, new))))
    return max(means), max(variances)


def _mean(values: tuple[int, ...]) -> Fraction:
    return Fraction(sum(values), len(values))


def _variance(values: tuple[int, ...]) -> Fraction:
    mean = _mean(values)
    return sum(((v - mean) ** 2 for v in values), Fraction(0)) / len(values)


ITEM = Item(
    Phrase("How far one person moves a mean and a variance"),
    Phrase("evaluating Pr[X_i | Y_j] for a continuous attribute"),
    measure,
    claimed=Phrase("Laplace noise of these sensitivities makes the mean and the variance epsilon-private"),
    printed=Phrase("(U-L)/(n+1) for the mean, n(U-L)/(n+1) for the variance"),
    verdicts=(18, 19),
)
