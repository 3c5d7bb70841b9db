"""Error bars made from Var* cover much less often than they say."""

from __future__ import annotations

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.core.estimates.intervals import score_fixed
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.interval_coverage import coverage
from murmure.lectures.mistakes import var_star_bar
from murmure.show.document import Curve, Curves

PEOPLE, K, EPSILON, LEVEL = 1000, 128, 4.0, 0.95
SHARES = (0.02, 0.1, 0.5)


def measure(work: Work) -> Measured:
    shares = sorted({*SHARES, *np.linspace(0, 0.6, work.choose(4, 31, 61)).round(3).tolist()})
    lines = {}
    for name in ("GRR", "OUE"):
        mechanism = getattr(mu, name)(mu.Categories(K), EPSILON)
        p, q = float(mechanism.supports.p), float(mechanism.supports.q)
        for bar in (var_star_bar, score_fixed):
            lines[name, bar] = [coverage(bar, PEOPLE, p, q, share, LEVEL) for share in shares]
    names = {
        ("GRR", var_star_bar): Phrase("GRR, bars from Var*"),
        ("OUE", var_star_bar): Phrase("OUE, bars from Var*"),
        ("GRR", score_fixed): Phrase("GRR, score interval"),
        ("OUE", score_fixed): Phrase("OUE, score interval"),
    }
    at = [lines["GRR", var_star_bar][shares.index(share)] for share in SHARES]
    lowest = min(lines["GRR", score_fixed] + lines["OUE", score_fixed])
    curves = Curves(
        Phrase("How often a 95% bar covers the true share"),
        tuple(Curve(name, tuple(shares), tuple(lines[key])) for key, name in names.items()),
        Phrase("true share"),
        Phrase("probability of covering it"),
    )
    return Measured(
        Phrase(
            "With {people:,} people, {k} values and epsilon {epsilon:g}, bars of GRR made from Var* cover a share of "
            "0.02 in {a:.1%} of cases, 0.1 in {b:.1%} and 0.5 in {c:.1%} (all counts enumerated). Score intervals, "
            "which take the variance at the share that they test, cover in {lowest:.1%} or more.",
            people=PEOPLE,
            k=K,
            epsilon=EPSILON,
            a=at[0],
            b=at[1],
            c=at[2],
            lowest=lowest,
        ),
        {"share": shares, **{str(name): lines[key] for key, name in names.items()}},
        (curves,),
        Phrase(
            "Var* compares mechanisms; it is not the error of a figure. The variance of a share f has a second term, f "
            "(1 - p - q)/(N (p - q)), which grows with the share."
        ),
    )


ITEM = Item(
    Phrase("Var* is not an error bar"),
    Phrase("variance: the hypothesis f = 0"),
    measure,
    claimed=Phrase("the state of the art takes f = 0 (the lecture calls it debatable)"),
    verdicts=(12, 13),
)
