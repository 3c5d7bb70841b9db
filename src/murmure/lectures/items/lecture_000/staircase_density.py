"""The staircase density, right and as the slide prints it: the printed one weighs two."""

from __future__ import annotations

import math

import numpy as np

from murmure.core.errors import Phrase
from murmure.core.fixed import WORD
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.mistakes import StaircaseSteps
from murmure.local.staircase import gamma_of
from murmure.show.document import Curve, Curves, Number, Table

EPSILON = 1.0
EPSILONS = (0.5, 1.0, 2.0, 4.0)
STEPS = 4  # that are drawn on each side


def mass(steps: StaircaseSteps) -> float:
    return sum(steps.weights) / WORD


def heights(steps: StaircaseSteps, gamma: float, some: int) -> list[float]:
    """The density on the top and on the first steps, from their weights: a step is 1 wide on each side."""
    weights = [weight / WORD for weight in steps.weights]
    return [weights[0] / (2 * gamma), *(weight / 2 for weight in weights[1 : some + 1])]


def stairs(levels: list[float], gamma: float) -> tuple[list[float], list[float]]:
    """Corners of the density from left to right, to be drawn as steps."""
    edges = [gamma + j for j in range(len(levels))]
    x = [-edge for edge in reversed(edges)] + edges
    y = [*reversed(levels[1:]), levels[0], *levels[1:], levels[-1]]
    return x, y


def measure(work: Work) -> Measured:
    gamma = gamma_of(math.exp(-EPSILON), "variance")
    printed, right = StaircaseSteps(EPSILON), StaircaseSteps(EPSILON, printed=False)
    drawn = {name: stairs(heights(steps, gamma, STEPS), gamma) for name, steps in (("p", printed), ("r", right))}
    figure = Curves(
        Phrase("Staircase noise at epsilon {epsilon:g}, bounds one apart", epsilon=EPSILON),
        (
            Curve(Phrase("right: b^(j+1) on step j"), tuple(drawn["r"][0]), tuple(drawn["r"][1]), True),
            Curve(Phrase("as printed: b^j on step j"), tuple(drawn["p"][0]), tuple(drawn["p"][1]), True),
        ),
        Phrase("value of the noise"),
        Phrase("density"),
    )
    masses = [(e, mass(StaircaseSteps(e)), mass(StaircaseSteps(e, printed=False))) for e in EPSILONS]
    wrong = abs(mass(printed) - 1) > 1e-6
    return Measured(
        Phrase(
            "The right density has mass {right:.4f}; the printed one has mass {printed:.4f}.",
            right=mass(right),
            printed=mass(printed),
        ),
        {"noise": drawn["r"][0], "right": drawn["r"][1], "printed": drawn["p"][1]},
        (figure,),
        why=Phrase(
            "The exponent starts one step too low: with b^j the first step is as high as the top. With b^(j+1) the "
            "slide's alpha is the right constant."
        )
        if wrong
        else None,
        blocks=(
            Table(
                Phrase("Mass of the density"),
                (Phrase("epsilon"), Phrase("printed density"), Phrase("right density")),
                tuple((Number(e, "plain"), Number(p, "fixed", 3), Number(r, "fixed", 3)) for e, p, r in masses),
            ),
        ),
        broken=(repaired_by_division(),),
    )


def variance(steps: StaircaseSteps, gamma: float) -> float:
    """Of the density divided by its mass: each part is uniform, on both sides."""
    starts = gamma + np.arange(steps.steps)
    squares = np.concatenate([[gamma**2 / 3], ((starts + 1) ** 3 - starts**3) / 3])
    weights = np.array([weight / WORD for weight in steps.weights[:-1]])
    return float(weights @ squares / weights.sum())


def repaired_by_division() -> Table:
    """Divided by its mass, the printed density is a law: as private, with a top that is one width too wide."""
    rows = []
    for epsilon in EPSILONS:
        gamma = gamma_of(math.exp(-epsilon), "variance")
        both = (StaircaseSteps(epsilon, printed=False), StaircaseSteps(epsilon))
        rows.append((Number(epsilon, "plain"), *(Number(variance(steps, gamma), "fixed", 3) for steps in both)))
    head = (Phrase("epsilon"), Phrase("variance, right"), Phrase("variance, as printed"))
    return Table(Phrase("The printed density divided by its mass: more noise for the same epsilon"), head, tuple(rows))


ITEM = Item(
    Phrase("The staircase density"),
    Phrase("Continuous data, in steps: the formula"),
    measure,
    printed=Phrase(
        "alpha on |z| < gamma Delta, alpha b^j on [(j + gamma) Delta, (j + 1 + gamma) Delta], j = 0, 1, ..."
    ),
    lab="laws?law=staircase&epsilon=1&x=0.3&form=printed",
    verdicts=(5,),
)
