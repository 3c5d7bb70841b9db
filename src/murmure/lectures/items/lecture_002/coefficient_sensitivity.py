"""Delta = 2 (1 + d)^2 for the coefficients of f_D: too little for one attribute, and too much for several."""

from __future__ import annotations

import itertools
from fractions import Fraction

from murmure.core.domain import Integers
from murmure.core.errors import Phrase
from murmure.core.schema import Schema
from murmure.learn.linear import lecture_cost
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.lecture_002 import POINTS, printed_sensitivity, regression_costs, squared_loss
from murmure.show.document import Block, Curve, Curves, Number, Paragraph, Table
from murmure.statistics.learning.gram import Gram

RANGE = Integers(-1000, 1000)  # in half ranges: from -1 to 1, with both ends
EPSILON = 10


def exact(d: int, shape: str) -> float:
    """How far a row that joins moves all coefficients together, by Murmure's question."""
    schema = Schema({**{f"x{j}": RANGE for j in range(d)}, "y": RANGE})
    return Gram(schema, "y", shape=shape).sensitivity("add/remove")


def measure(work: Work) -> Measured:
    sizes = tuple(range(1, work.choose(3, 9, 13)))
    printed = tuple(float(printed_sensitivity(d)) for d in sizes)
    ball, box = (tuple(exact(d, shape) for d in sizes) for shape in ("unit", "box"))
    x = tuple(map(float, sizes))
    figure = Curves(
        Phrase("How far one row moves the coefficients of f_D"),
        (
            Curve(Phrase("printed"), x, printed),
            Curve(Phrase("right, |x| at most 1"), x, ball),
            Curve(Phrase("right, box from -1 to 1"), x, box),
        ),
        Phrase("attributes d"),
        Phrase("sensitivity"),
        log=True,
    )
    reached = brute_force()
    too_small = [d for d, given, needed in zip(sizes, printed, ball, strict=True) if given < needed - 1e-3]
    told = Phrase(
        "with an intercept and rows of length at most 1 the sensitivity is (2 + sqrt d)^2: {one:.2f} for d = 1, where "
        "{given:.0f} is printed, and {many:.2f} for d = {d}, where {much:.0f} is printed. Trying all pairs of rows on "
        "a grid, for d = 1: {reached}",
        one=ball[0],
        given=printed[0],
        many=ball[-1],
        d=sizes[-1],
        much=printed[-1],
        reached=str(reached),
    )
    return Measured(
        told,
        {"d": list(sizes), "printed": printed, "rows of length 1": ball, "box": box},
        (figure,),
        why=Phrase(
            "2 (1 + d)^2 leaves out the intercept: a row adds (|y| + 1 + |x_1| + ... + |x_d|)^2. For d = {few} that is "
            "more than the printed bound; from d = 2 on the bound holds, but grows like d^2 where d is enough",
            few=", ".join(map(str, too_small)),
        )
        if too_small
        else None,
        blocks=(
            Table(
                Phrase("Sensitivity of all coefficients together (add/remove)"),
                ("d", Phrase("printed"), Phrase("rows of length at most 1"), Phrase("each number from -1 to 1")),
                tuple(
                    (str(d), Number(p, "fixed", 0), Number(b, "fixed", 2), Number(c, "fixed", 2))
                    for d, p, b, c in zip(sizes, printed, ball, box, strict=True)
                ),
                folded=True,
            ),
        ),
        broken=broken(),
    )


def broken() -> tuple[Block, ...]:
    """The worked example at epsilon 10: what its noise costs, and the constant without any."""
    rows = (
        (Phrase("all six coefficients, a row joins"), Number(float(regression_costs(EPSILON)), "fixed", 2)),
        (
            Phrase("the five that get noise, a row joins"),
            Number(float(regression_costs(EPSILON, 1, False)), "fixed", 2),
        ),
        (
            Phrase("the five that get noise, a row is exchanged"),
            Number(float(regression_costs(EPSILON, 1, False, "replace")), "fixed", 2),
        ),
        (Phrase("the constant, printed without noise"), Phrase("no epsilon holds")),
    )
    constant = float(squared_loss(POINTS).constant)
    joined = float(squared_loss([*POINTS, (Fraction(0), Fraction(1))]).constant)
    return (
        Table(Phrase("What noise of scale 8/10 costs, announced as 10"), ("", Phrase("epsilon spent")), rows),
        Paragraph(
            Phrase(
                "The constant of f_D is the sum of y^2. It is not needed for the minimum, and is printed as it is: "
                "{constant:g}. If one person with y = 1 joins, it is {joined:g}. Murmure's `lecture_cost` "
                "says {cost:.2f}, for noise on all six.",
                constant=constant,
                joined=joined,
                cost=lecture_cost(float(EPSILON), 1),
            )
        ),
    )


def brute_force() -> Fraction:
    """The largest change of the six coefficients for d = 1, over rows that join and rows that are exchanged."""
    corners = [Fraction(v, 2) for v in range(-2, 3)]
    rows = list(itertools.product(corners, corners))
    nobody = squared_loss([])
    alone = {row: squared_loss([row]) for row in rows}
    joining = max(loss.distance(nobody) for loss in alone.values())
    exchanged = max(alone[a].distance(alone[b]) for a, b in itertools.combinations(rows, 2))
    return max(joining, exchanged)


ITEM = Item(
    Phrase("The sensitivity of the coefficients"),
    Phrase("what is noised? Noise on each coefficient of f_D"),
    measure,
    claimed=Phrase("Laplace noise of scale Delta / epsilon on the coefficients is epsilon-private (admitted)"),
    printed=Phrase("Delta = 2 (1 + d)^2"),
    verdicts=(21,),
)
