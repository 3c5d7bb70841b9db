"""Split the budget or sample one attribute: sampling wins at a small epsilon, splitting at a large one."""

from __future__ import annotations

from typing import Any

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Table
from murmure.show.figures import Panels

PEOPLE = 10_000
DRAWN = ((2, 2), (5, 4), (10, 4))  # attributes, values of each
PRECISION = 1e-3


def table_of(d: int, k: int) -> mu.Schema:
    return mu.Schema({f"A{i + 1}": mu.Categories(k) for i in range(d)})


def variance(way: Any) -> float:
    """Of one share, averaged over the values of an attribute that are all equally frequent.

    What the draw of an attribute adds, f (1 - f) (d - 1) / N, is largest there: unequal shares favour sampling.
    """
    k = way.domains[0].size
    return float(np.mean(way.variance([np.full(k, 1 / k)] * len(way.columns), PEOPLE)[0]))


def meeting(d: int, k: int) -> float:
    """The epsilon from which splitting is better."""
    low, high, schema = 0.1, 40.0, table_of(d, k)
    while high - low > PRECISION:
        middle = (low + high) / 2
        split, sampled = (variance(way(schema, middle, oracle="GRR")) for way in (mu.SPL, mu.SMP))
        low, high = (low, middle) if split < sampled else (middle, high)
    return high


def best_sample(d: int, k: int, epsilon: float) -> int:
    """How many attributes each person should show, at epsilon / m each."""
    schema = table_of(d, k)
    return min(range(1, d + 1), key=lambda m: variance(mu.SMP(schema, epsilon, oracle="GRR", sample=m)))


def measure(work: Work) -> Measured:
    drawn = work.choose(DRAWN[:1], DRAWN, DRAWN)
    sizes = work.choose([2], [2, 4, 16], [2, 4, 8, 16])
    many = work.choose([2], [2, 5, 10], [2, 5, 10])
    points = np.linspace(0.5, 12, work.choose(4, 24, 47)).tolist()
    panels, data = [], {"attributes": [], "values": [], "epsilon": [], "split": [], "sampled": []}  # type: ignore[var-annotated]
    for d, k in drawn:
        schema = table_of(d, k)
        split, sampled = (
            [variance(way(schema, epsilon, oracle="GRR")) for epsilon in points] for way in (mu.SPL, mu.SMP)
        )
        for name, column in (("epsilon", points), ("split", split), ("sampled", sampled)):
            data[name] += column
        data["attributes"] += [d] * len(points)
        data["values"] += [k] * len(points)
        panels.append(
            Curves(
                Phrase("{d} attributes of {k} values", d=d, k=k),
                (
                    Curve(Phrase("split (SPL)"), tuple(points), tuple(split)),
                    Curve(Phrase("one sampled (SMP)"), tuple(points), tuple(sampled)),
                ),
                Phrase("epsilon of the record"),
                Phrase("variance of a share"),
                log=True,
            )
        )
    meet = {(d, k): meeting(d, k) for d in many for k in sizes}
    rows = tuple((Number(d), *(Number(meet[d, k], "fixed", 2) for k in sizes)) for d in many)
    first = min(meet.values())
    d, k = 10, 4
    choices = {
        e: best_sample(d, k, e)
        for e in work.choose([2.5], [1.0, 2.5, 5.0, 7.5, 10.0, 15.0], [1.0, 2.5, 5.0, 7.5, 10.0, 15.0])
    }
    return Measured(
        Phrase(
            "Sampling wins at small epsilons and splitting at large ones. With {d} attributes of {k} values that are "
            "equally frequent, GRR, splitting is better from epsilon {meet:.2f} on; the least such epsilon of the "
            "table is {first:.2f}.",
            d=many[0],
            k=sizes[0],
            meet=meet[many[0], sizes[0]],
            first=first,
        ),
        data,
        (Panels(Phrase("{people:,} people, GRR", people=PEOPLE), tuple(panels), columns=3),),
        Phrase(
            "Var*(epsilon/d) >= Var*(epsilon) is true, but it compares N reports with N reports. A sampled attribute "
            "is reported by N/d people only: its variance is d Var(epsilon), plus f(1 - f)(d - 1)/N for having drawn "
            "them. So sampling wins only while noise matters more than the number of people."
        ),
        (
            Table(
                Phrase("The epsilon from which splitting is better"),
                (Phrase("attributes"), *(Phrase("{k} values", k=k) for k in sizes)),
                rows,
            ),
            Table(
                Phrase("How many of {d} attributes of {k} values to show, at epsilon/m each", d=d, k=k),
                (Phrase("epsilon"), Phrase("best m")),
                tuple((Number(epsilon, "plain"), Number(m)) for epsilon, m in choices.items()),
            ),
        ),
    )


ITEM = Item(
    Phrase("Split or sample"),
    Phrase("divide the budget between attributes"),
    measure,
    claimed=Phrase("Var*(epsilon/d) >= Var*(epsilon), hence one attribute is sampled"),
    verdicts=(14,),
)
