"""The variance of RS+FD[GRR]: as printed, with a 1/N too many inside, as it is, and as simulated."""

from __future__ import annotations

import math

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Table

D, K, EPSILON, PEOPLE = 3, 3, 1.0, 10_000
SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
FAKES = mu.RSFD(mu.Schema({f"A{i + 1}": mu.Categories(K) for i in range(D)}), EPSILON, "GRR", calibrate="paper")


def printed_variance(f: float, people: int) -> float:
    """d^2/(N (p - q)^2) (f delta1 (1 - delta1) + (1 - f)/N delta0 (1 - delta0)), letter by letter."""
    real = FAKES.parts[0].real.supports
    p, q = float(real.p), float(real.q)
    delta1, delta0 = (p * K + D - 1) / (D * K), (q * K + D - 1) / (D * K)
    return D**2 / (people * (p - q) ** 2) * (f * delta1 * (1 - delta1) + (1 - f) / people * delta0 * (1 - delta0))


def cell(work: Work, rng: Random, share: float, runs: int) -> list[float]:
    """The estimated share of the first value, run after run."""
    count = round(share * PEOPLE)
    first = np.repeat([0, 1], [count, PEOPLE - count])
    codes = [first, *(np.zeros(PEOPLE, np.int64) for _ in range(D - 1))]
    totals = (FAKES.tally(FAKES.randomise(codes, rng)) for _ in range(runs))
    return [float(FAKES.estimate(total, PEOPLE)["A1"].mean[0]) for total in totals]


def measure(work: Work) -> Measured:
    runs = work.choose(20, 400, 4000)
    shares = work.choose(SHARES[:3], SHARES, SHARES)
    drawn = work.cells(cell, [{"share": share, "runs": runs} for share in shares])
    simulated = [float(np.mean((np.array(row) - f) ** 2)) for row, f in zip(drawn, shares, strict=True)]
    spread = [2 * value * math.sqrt(2 / runs) for value in simulated]  # two standard errors of a variance
    right = [float(FAKES.parts[0].variance(f, PEOPLE)) for f in shares]
    printed = [printed_variance(f, PEOPLE) for f in shares]
    within = sum(abs(s - v) <= w for s, v, w in zip(simulated, right, spread, strict=True))
    curves = Curves(
        Phrase("{d} attributes of {k} values, {people:,} people, epsilon 1", d=D, k=K, people=PEOPLE),
        (
            Curve(Phrase("right formula"), shares, tuple(right)),
            Curve(
                Phrase("simulated, {runs:,} runs", runs=runs),
                shares,
                tuple(simulated),
                low=tuple(s - w for s, w in zip(simulated, spread, strict=True)),
                high=tuple(s + w for s, w in zip(simulated, spread, strict=True)),
            ),
            Curve(Phrase("as printed"), shares, tuple(printed)),
        ),
        Phrase("true share f"),
        Phrase("variance of its estimate"),
        log=True,
    )
    return Measured(
        Phrase(
            "At f = 0 the simulated variance is {simulated:.3e}, the right formula gives {right:.3e}, the printed one "
            "{printed:.1e}: {ratio:,.0f} times less. The right one is within two standard errors of {runs:,} runs at "
            "{within} of {all} shares.",
            simulated=simulated[0],
            right=right[0],
            printed=printed[0],
            ratio=right[0] / printed[0],
            runs=runs,
            within=within,
            all=len(shares),
        ),
        {"share": shares, "right": right, "printed": printed, "simulated": simulated, "two standard errors": spread},
        (curves,),
        Phrase(
            "The 1/N in front is for all people; the printed second term has it again, as (1 - f)/N. The right second "
            "term is (1 - f) delta0 (1 - delta0)."
        ),
        (
            Table(
                Phrase("Variances, in millionths"),
                (Phrase("share"), Phrase("right formula"), Phrase("as printed"), Phrase("simulated")),
                tuple(
                    (Number(f, "plain"), *(Number(v * 1e6, "fixed", 2) for v in row))
                    for f, *row in zip(shares, right, printed, simulated, strict=True)
                ),
            ),
        ),
    )


ITEM = Item(
    Phrase("RS+FD[GRR]: the variance"),
    Phrase("RS+FD with GRR: estimator and variance"),
    measure,
    printed=Phrase("d^2/(N(p - q)^2) (f delta1 (1 - delta1) + (1 - f)/N delta0 (1 - delta0))"),
    verdicts=(15,),
)
