"""The three points again, with noise on the coefficients at epsilon 10: one draw is printed, here are many."""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.core.domain import Integers
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.learn.linear import lecture_cost
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.lecture_002 import POINTS, PRINTED_NOISY, fits, squared_loss
from murmure.plan.plan import Plan
from murmure.run.run import run
from murmure.show.document import Number, Paragraph, Table
from murmure.show.figures import PointCloud, ScatterPlot
from murmure.statistics.learning.gram import Gram

EPSILON = 10.0
SPENT = lecture_cost(EPSILON, 1)  # what noise of the printed scale costs on all six coefficients
SCHEMA = Schema({"x": Integers(-10, 10), "y": Integers(-10, 10)})  # in tenths
ROWS = {"x": [10, 9, -5], "y": [4, 3, -10]}
DRAWN = (-2.5, 1.0), (-1.0, 3.0)  # the picture reaches so far
MAX_POINTS = 600  # in the picture


def draw(work: Work, rng: Random, number: int) -> list[Any]:
    """Noisy sums of products of (1, x, y), and the weights that follow; none where there is no minimum."""
    plan = Plan(Gram(SCHEMA, "y", shape="unit"), curator=DiscreteLaplace(SPENT))
    sums = run(plan, ROWS, rng=rng).estimate.sums
    products, right = sums[:2, :2], sums[:2, 2]
    if np.linalg.eigvalsh(products)[0] <= 0:
        return [None, None]
    return [float(v) for v in np.linalg.solve(products, right)]


def measure(work: Work) -> Measured:
    draws = work.cells(draw, [{"number": i} for i in range(work.choose(40, 1000, 10_000))])
    found = np.array([w for w in draws if w[0] is not None])
    lost = 1 - len(found) / len(draws)
    loss = squared_loss(POINTS)
    w, v = loss.argmin(), PRINTED_NOISY.argmin()
    inside = found[[all(a <= v <= b for v, (a, b) in zip(row, DRAWN, strict=True)) for row in found]]
    beyond, inside = 1 - len(inside) / len(found), inside[:MAX_POINTS]
    quartiles = np.percentile(found, [25, 50, 75], axis=0)
    figure = ScatterPlot(
        Phrase("Weights from noisy coefficients, announced epsilon {epsilon:g}", epsilon=EPSILON),
        (
            PointCloud(Phrase("a draw"), tuple(map(float, inside[:, 0])), tuple(map(float, inside[:, 1]))),
            PointCloud(Phrase("the printed draw"), (float(v[0]),), (float(v[1]),)),
            PointCloud(Phrase("without noise"), (float(w[0]),), (float(w[1]),)),
        ),
        Phrase("w0"),
        Phrase("w1"),
        x_limits=DRAWN[0],
        y_limits=DRAWN[1],
    )
    printed = (("w0", -0.17, v[0]), ("w1", 0.64, v[1]))
    fitted = tuple((f"y{i + 1}", p, y) for i, (p, y) in enumerate(zip((0.47, 0.41, -0.49), fits(*v), strict=True)))
    return Measured(
        Phrase(
            "the printed noisy quadratic has its minimum at ({w0:.4f}, {w1:.4f}), and its loss on the three points is "
            "{noisy:.4f} instead of {least:.1e}. Of {n:,} draws with noise of that scale on all coefficients, "
            "{lost:.0%} have no minimum at all; half of the others have w1 between {low:.2f} and {high:.2f}",
            w0=float(v[0]),
            w1=float(v[1]),
            noisy=float(loss(*v)),
            least=float(loss(*w)),
            n=len(draws),
            lost=lost,
            low=float(quartiles[0, 1]),
            high=float(quartiles[2, 1]),
        ),
        {"w0": [row[0] for row in draws], "w1": [row[1] for row in draws]},
        (figure,),
        why=Phrase(
            "the printed figures follow from the printed coefficients. They are one draw of many, and its constant, "
            "{constant:g}, has no noise: noise of that scale costs {spent:.2f} on all six coefficients, and publishing "
            "the constant as it is leaves no epsilon at all",
            constant=float(PRINTED_NOISY.constant),
            spent=SPENT,
        ),
        blocks=(
            Paragraph(
                Phrase("Of the draws that have a minimum, {beyond:.0%} lie outside the picture.", beyond=beyond), "note"
            ),
            Table(
                Phrase("The printed draw"),
                ("", Phrase("printed"), Phrase("computed from the printed coefficients")),
                tuple(
                    (name, Number(p, "fixed", 2), Number(float(c), "fixed", 4)) for name, p, c in (*printed, *fitted)
                ),
            ),
            Paragraph(
                Phrase(
                    "Without a minimum something must be done that costs nothing: Murmure's regression adds a ridge, "
                    "or leaves out directions that are lost in the noise, and says which."
                ),
                "note",
            ),
        ),
    )


ITEM = Item(
    Phrase("Three points and a line, with noise"),
    Phrase("the example, continued, with epsilon 10"),
    measure,
    printed=Phrase(
        "1.39, 1.18, -0.29, 2.14, -2.54 and 1.25 as coefficients; w = (-0.17, 0.64); fits 0.47, 0.41 and -0.49"
    ),
    verdicts=(21,),
)
