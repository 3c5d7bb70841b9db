"""Clusters as sets with <=: a point that is as near to several centres is in all of them."""

from __future__ import annotations

import itertools

import numpy as np

from murmure.core.domain import Integers
from murmure.core.errors import Phrase
from murmure.core.schema import Schema
from murmure.core.types import Array
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.plan.plan import Plan
from murmure.run.run import run
from murmure.show.document import Number, Paragraph, Table
from murmure.show.figures import Bars
from murmure.statistics.learning.clusters import Clusters

SIDE = 4  # coordinates go from 0 to 4; Clusters counts them from -4 to 4
GRID = Schema({"x": Integers(0, SIDE), "y": Integers(0, SIDE)})
SQUARE = ((-SIDE, -SIDE), (-SIDE, SIDE), (SIDE, -SIDE), (SIDE, SIDE))


def as_printed(centres: tuple[tuple[int, int], ...], x: tuple[int, int]) -> int:
    """In how many sets O^j = {x : |x - o^j| <= |x - o^j'| for all j'} a point is."""
    far = [(2 * x[0] - SIDE - a) ** 2 + (2 * x[1] - SIDE - b) ** 2 for a, b in centres]
    return sum(distance == min(far) for distance in far)


def as_partition(centres: tuple[tuple[int, int], ...], x: tuple[int, int]) -> int:
    """By how much the counts of Murmure's k-means change, all together, when the point joins a table."""
    question = Plan(Clusters(GRID, centres))
    others = {"x": [1, 3], "y": [2, 2]}
    joined = {"x": [*others["x"], x[0]], "y": [*others["y"], x[1]]}
    counts: list[Array] = [run(question, table).estimate.counts for table in (others, joined)]
    return int(np.abs(counts[1] - counts[0]).sum())


def measure(work: Work) -> Measured:
    ks = tuple(range(1, work.choose(3, 7, 9)))
    points = list(itertools.product(range(SIDE + 1), range(SIDE + 1)))[:: work.choose(6, 1, 1)]
    together = {k: ((0, 0),) * k for k in ks}  # k centres in one place: drawn at random, that may happen
    printed = [max(as_printed(together[k], x) for x in points) for k in ks]
    partition = [max(as_partition(together[k], x) for x in points) for k in ks]
    corner = max(as_printed(SQUARE, x) for x in points), max(as_partition(SQUARE, x) for x in points)
    bars = Bars(
        Phrase("How far one point moves the counts of k centres in one place"),
        tuple(map(str, ks)),
        (
            (Phrase("sets with <=, as printed"), tuple(map(float, printed))),
            (Phrase("a partition"), tuple(map(float, partition))),
        ),
        Phrase("centres k"),
        Phrase("sensitivity of the counts"),
    )
    return Measured(
        Phrase(
            "with sets defined by <= one point moves the counts by up to {printed} of {k} centres that coincide, and "
            "by {square} where four centres are the corners of a square; with a partition, as in Murmure, by "
            "{partition}",
            printed=max(printed),
            k=ks[-1],
            square=corner[0],
            partition=max(*partition, corner[1]),
        ),
        {"k": list(ks), "as printed": printed, "partition": partition},
        (bars,),
        why=Phrase(
            "<= puts a point that is equally near to several centres into all of their clusters, so the sensitivity of "
            "the counts is k and not 1, and that of the sums k d r. Break ties by a public rule, such as the lowest "
            "number, and the printed sensitivities are right"
        )
        if max(printed) > 1
        else None,
        broken=(
            Table(
                Phrase("What the printed noise spends, announced as epsilon 1"),
                (Phrase("centres in one place"), Phrase("epsilon spent")),
                tuple((str(k), Number(float(s), "fixed", 0)) for k, s in zip(ks, printed, strict=True)),
            ),
            Paragraph(
                Phrase(
                    "Ties are not rare: on a grid of whole numbers they are common, and two centres that are drawn at "
                    "the same place tie every point."
                )
            ),
        ),
    )


ITEM = Item(
    Phrase("k-means: points between two centres"),
    Phrase("the simplified algorithm, step 2.1"),
    measure,
    claimed=Phrase("one more point increases one of the sizes by 1: the sensitivity of the counts is 1"),
    printed=Phrase("O^j is the set of all x with |x - o^j| <= |x - o^j'| for every j'"),
    verdicts=(23,),
)
