"""The same experiments at the same certified epsilon of the whole record."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.record_errors import coded_people, published_way, squared_errors
from murmure.show.document import Curve, Curves, Number, Table
from murmure.show.figures import Panels

LOGARITHMS = tuple(range(2, 8))
TITLES = {"adult": "Adult", "nursery": "Nursery"}
SOLUTIONS = ("SPL[ADP]", "SMP[ADP]", "RS+FD[ADP]")
BLOCK = 10


def cell(work: Work, rng: Random, data: str, m: int, solution: str, first: int, runs: int, rows: int | None) -> Any:
    """At the epsilon that published fake data cost when ln m is claimed."""
    table = coded_people(data, work.invent, rows)
    d = len(table.codes)
    published = published_way("RS+FD[ADP]", table.schema, math.log(m))
    spent = math.log(d * (m - 1) + 1)
    way = published if solution == "RS+FD[ADP]" else published_way(solution, table.schema, spent)
    errors = [squared_errors(way, table, rng) for _ in range(runs)]
    raw, clipped = zip(*errors, strict=True)
    return {"raw": raw, "clipped": clipped, "record": mu.certify(way).epsilon}


def measure(work: Work) -> Measured:
    names = work.choose(("nursery",), ("adult", "nursery"), ("adult", "nursery"))
    ms = work.choose((2, 7), LOGARITHMS, LOGARITHMS)
    runs, block, rows = work.choose(2, 20, 100), work.choose(2, BLOCK, BLOCK), work.choose(300, None, None)
    points = [(data, m, solution) for data in names for m in ms for solution in SOLUTIONS]
    keys = [
        {"data": data, "m": m, "solution": solution, "first": first, "runs": block, "rows": rows}
        for data, m, solution in points
        for first in range(0, runs, block)
    ]
    cells = dict(
        zip([(k["data"], k["m"], k["solution"], k["first"]) for k in keys], work.cells(cell, keys), strict=True)
    )
    found = {
        point: {
            kind: np.concatenate([np.atleast_1d(cells[(*point, first)][kind]) for first in range(0, runs, block)])
            for kind in ("raw", "clipped", "record")
        }
        for point in points
    }

    def curves(data: str) -> Curves:
        lines = []
        for solution in SOLUTIONS:
            rows = [found[data, m, solution]["clipped"] for m in ms]
            low, high = (tuple(float(np.quantile(row, level)) for row in rows) for level in (0.05, 0.95))
            x = tuple(float(found[data, m, solution]["record"][0]) for m in ms)
            lines.append(Curve(solution, x, tuple(float(row.mean()) for row in rows), low=low, high=high))
        return Curves(
            TITLES[data],
            tuple(lines),
            Phrase("certified epsilon of the record"),
            Phrase("mean squared error"),
            log=True,
        )

    ratios = {
        (data, m): float(found[data, m, "RS+FD[ADP]"]["clipped"].mean() / found[data, m, "SMP[ADP]"]["clipped"].mean())
        for data in names
        for m in ms
    }
    won = sum(ratio > 1 for ratio in ratios.values())
    certified = [float(found[point]["record"][0]) for point in points]
    return Measured(
        Phrase(
            "What RS+FD[ADP] spends when it claims ln 2 to ln 7 is {low:.3f} to {high:.3f} for the record. At these "
            "epsilons its error is {least:.1f} to {largest:.1f} times that of SMP[ADP] ({runs} runs, clipped and "
            "renormalised); SMP[ADP] is better in {won} of {all} cases.",
            low=min(certified),
            high=max(certified),
            least=min(ratios.values()),
            largest=max(ratios.values()),
            runs=runs,
            won=won,
            all=len(ratios),
        ),
        {
            "table": [TITLES[point[0]] for point in points],
            "claimed": [math.log(point[1]) for point in points],
            "certified record epsilon": certified,
            "solution": [point[2] for point in points],
            **{
                f"{kind}, {name}": [float(reduce(found[point][kind])) for point in points]
                for kind in ("raw", "clipped")
                for name, reduce in (("mean", np.mean), ("standard deviation", lambda row: np.std(row, ddof=1)))
            },
        },
        (
            Panels(
                Phrase("At the epsilon that a record costs (band: 90% of the runs)"),
                tuple(curves(data) for data in names),
            ),
        ),
        Phrase(
            "RS+FD at epsilon' is SMP at epsilon' whose draw was dropped and to which fakes were added: it can only "
            "lose information. What it buys is that nobody sees which attribute is real."
        )
        if won == len(ratios)
        else None,
        (
            Table(
                Phrase("Error of RS+FD[ADP] divided by that of SMP[ADP]"),
                (Phrase("table"), *(Phrase("claimed ln {m}", m=m) for m in ms)),
                tuple((TITLES[data], *(Number(ratios[data, m], "fixed", 1) for m in ms)) for data in names),
            ),
        ),
    )


ITEM = Item(
    Phrase("The same at an equal epsilon of the record"),
    Phrase("some experiments, compared at what they cost"),
    measure,
    claimed=Phrase("RS+FD is compared with SPL and SMP at the same epsilon"),
    needs=("adult", "nursery"),
    verdicts=(16,),
)
