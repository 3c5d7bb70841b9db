"""Var*, the variance at share 0, against epsilon; and the exact variance of a share that is not 0."""

from __future__ import annotations

import math

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Table
from murmure.show.figures import Panels

PEOPLE, K, SHARE = 100_000, 128, 0.1
NAMES = tuple(kind.__name__ for kind in (mu.GRR, mu.SUE, mu.OUE, mu.BLH, mu.OLH, mu.SubsetSelection))
IN_LECTURE = NAMES[:4]


def measure(work: Work) -> Measured:
    epsilons = np.linspace(0.5, 5, work.choose(4, 19, 46)).tolist()
    domain = mu.Categories(K)
    star = _variances(mu.advise(domain, epsilon=epsilons, people=PEOPLE, rank_by="var-star").rows, "var_star")
    exact = _variances(mu.advise(domain, epsilon=epsilons, people=PEOPLE, shares=SHARE).rows, "mean_variance")
    panels = [
        Curves(
            title,
            tuple(Curve(name, tuple(epsilons), tuple(variances[name])) for name in NAMES),
            Phrase("epsilon"),
            Phrase("variance of a share"),
            log=True,
        )
        for title, variances in (
            (Phrase("Var*: the share is 0"), star),
            (Phrase("exact variance: the share is {share:g}", share=SHARE), exact),
        )
    ]
    best = [min(IN_LECTURE, key=lambda name, i=i: star[name][i]) for i in range(len(epsilons))]  # type: ignore[misc]
    first = next((e for e, name in zip(epsilons, best, strict=True) if name == "GRR"), math.inf)
    best_exact = [min(IN_LECTURE, key=lambda name, i=i: exact[name][i]) for i in range(len(epsilons))]  # type: ignore[misc]
    differ = [e for e, one, other in zip(epsilons, best, best_exact, strict=True) if one != other]
    rows = tuple(
        (Number(epsilons[i], "plain"), *(Number(star[name][i] * 1e6, "fixed", 3) for name in NAMES))
        for i in range(0, len(epsilons), max(1, len(epsilons) // 6))
    )
    why = None
    if differ:
        why = Phrase(
            "Nobody asks about a share that is known to be 0. At a share of {share:g} the choice among the four is "
            "another one at {many} of {all} epsilons, from {low:.2f} to {high:.2f}.",
            share=SHARE,
            many=len(differ),
            all=len(epsilons),
            low=differ[0],
            high=differ[-1],
        )
    return Measured(
        Phrase(
            "Of the lecture's four, {best} has the least Var* at epsilon {low:g}, and GRR from {first:.2f} on (OUE and "
            "GRR cross at ln((k - 2)/3) = {cross:.3f}). No other one is below subset selection at {many} of {all} "
            "epsilons.",
            best=best[0],
            low=epsilons[0],
            first=first,
            cross=math.log((K - 2) / 3),
            many=sum(
                min(star[name][i] for name in NAMES) >= star["SubsetSelection"][i] * (1 - 1e-9)
                for i in range(len(epsilons))
            ),
            all=len(epsilons),
        ),
        {
            "epsilon": epsilons,
            **{f"Var* {name}": star[name] for name in NAMES},
            **{f"variance {name} at share {SHARE:g}": exact[name] for name in NAMES},
        },
        (Panels(Phrase("{people:,} people, {k} values", people=PEOPLE, k=K), tuple(panels)),),
        why,
        (
            Table(
                Phrase("Var*, in millionths"),
                (Phrase("epsilon"), *NAMES),
                rows,
            ),
        ),
    )


def _variances(rows: list[dict[str, object]], column: str) -> dict[str, list[float]]:
    """By mechanism, in the order of epsilon."""
    ordered = sorted(rows, key=lambda row: float(row["epsilon"]))  # type: ignore[arg-type]
    return {name: [float(row[column]) for row in ordered if row["mechanism"] == name] for name in NAMES}  # type: ignore[arg-type]


ITEM = Item(
    Phrase("Var* against epsilon"),
    Phrase("choose a mechanism for an attribute; N = 100,000, k = 128"),
    measure,
    claimed=Phrase("given epsilon and k, choose the mechanism with the least Var* (the lecture calls it debatable)"),
    lab="varstar?epsilon=1&k=128&n=100000",
)
