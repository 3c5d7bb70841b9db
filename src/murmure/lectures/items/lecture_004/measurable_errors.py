"""Errors of randomised response and of differential privacy: predicted, measured, and covered by intervals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.core.estimates.intervals import exact_fixed
from murmure.core.random import Random
from murmure.core.types import Floats
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Table

QUESTION = mu.Categories(["no", "yes"])
SHARE, TRUTH, LIE = 0.3, 0.75, 0.25  # two fair coins
PLANS = {
    "Warner": (Phrase("Warner, two fair coins"), mu.Plan(mu.Histogram(QUESTION), person=mu.Warner(QUESTION))),
    "Greenberg": (
        Phrase("Greenberg, unrelated question (0.7, 0.25)"),
        mu.Plan(mu.Histogram(QUESTION), person=mu.UnrelatedQuestion(QUESTION, truth=0.7, innocuous=0.25)),
    ),
    "curator": (
        Phrase("noise at a curator, epsilon 1"),
        mu.Plan(mu.Histogram(QUESTION), curator=mu.DiscreteLaplace(epsilon=1.0)),
    ),
}


def cell(work: Work, rng: Random, plan: str, n: int, runs: int, batch: int) -> dict[str, list[float]]:
    people = np.repeat(["yes", "no"], [round(SHARE * n), n - round(SHARE * n)])
    out: dict[str, list[float]] = {"estimate": [], "low": [], "high": [], "predicted": []}
    for _ in range(runs):
        estimate = mu.run(PLANS[plan][1], people, rng=rng).estimate
        low, high = estimate.interval(target="fixed")[1]
        deviation = math.sqrt(np.asarray(estimate.variance("fixed")).ravel()[-1])
        values = {"estimate": estimate.mean[1], "low": low, "high": high, "predicted": deviation}
        for name, value in values.items():
            out[name].append(float(value))
    return out


def binomial(n: int, chance: float) -> Floats:
    from scipy.special import gammaln

    j = np.arange(n + 1)
    logs = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1) + j * math.log(chance) + (n - j) * math.log1p(-chance)
    return np.asarray(np.exp(logs))


def coverage(n: int) -> list[float]:
    """How often the interval covers the share f / n, for every f: enumerated over all counts of yes."""
    ends = exact_fixed(np.arange(n + 1), n, TRUTH, LIE, 0.95)
    laws = [np.convolve(binomial(f, TRUTH), binomial(n - f, LIE)) for f in range(n + 1)]
    inside = [(ends[:, 0] <= f / n + 1e-12) & (f / n - 1e-12 <= ends[:, 1]) for f in range(n + 1)]
    return [float(law[covered].sum()) for law, covered in zip(laws, inside, strict=True)]


def measure(work: Work) -> Measured:
    n, runs = work.choose(100, 1_000, 1_000), work.choose(3, 200, 2_000)
    batches = work.choose(1, 4, 20)
    keys = [{"plan": plan, "n": n, "runs": runs // batches, "batch": b} for plan in PLANS for b in range(batches)]
    found = work.cells(cell, keys)
    rows: list[tuple[Any, ...]] = []
    data: dict[str, list[Any]] = {"approach": [], "predicted": [], "measured": [], "covers": []}
    for number, plan in enumerate(PLANS):
        some = found[number * batches : (number + 1) * batches]
        values = {name: np.concatenate([one[name] for one in some]) for name in some[0]}
        measured = float(np.sqrt(((values["estimate"] - SHARE) ** 2).mean()))
        covers = float(((values["low"] <= SHARE + 1e-12) & (values["high"] >= SHARE - 1e-12)).mean())
        predicted = float(values["predicted"].mean())
        for name, value in zip(data, (plan, predicted, measured, covers), strict=True):
            data[name].append(value)
        numbers = (Number(predicted, "fixed", 5), Number(measured, "fixed", 5), Number(covers, "share", 1))
        rows.append((PLANS[plan][0], *numbers))
    sizes = (10, 50, 200)[: work.choose(1, 3, 3)]
    curves = tuple(
        Curve(Phrase("N = {n}", n=n), tuple(f / n for f in range(n + 1)), tuple(1 - c for c in coverage(n)))
        for n in sizes
    )
    lowest = 1 - max(max(curve.y) for curve in curves)
    warner, greenberg = (float(mu.certify(PLANS[name][1].person).epsilon) for name in ("Warner", "Greenberg"))
    return Measured(
        Phrase(
            "Over {runs} runs with {n:,} people, Warner's error is {warner:.4f}, where {law:.4f} is predicted; the "
            "intervals of the three approaches cover in {low:.1%} to {high:.1%}. Enumerated for up to {most} people, "
            "Warner's 95% intervals cover every share in {lowest:.2%} of surveys or more.",
            runs=runs,
            n=n,
            warner=data["measured"][0],
            law=data["predicted"][0],
            low=min(data["covers"]),
            high=max(data["covers"]),
            lowest=lowest,
            most=sizes[-1],
        ),
        data,
        (
            Curves(
                Phrase("How often the 95% interval of Warner's survey misses, enumerated"),
                (*curves, Curve(Phrase("5% at most"), (0.0, 1.0), (0.05, 0.05))),
                Phrase("true share"),
                Phrase("share of surveys"),
            ),
        ),
        Phrase(
            "The law of the answers is public: variances are exact, and an interval is every share under which such a "
            "count is not rare. What is hard is to be small: noise of each person is larger than noise at one place."
        ),
        (
            Table(
                Phrase("Standard errors, predicted and measured; share of runs in which the interval covers"),
                (Phrase("approach"), Phrase("predicted error"), Phrase("measured error"), Phrase("covers")),
                tuple(rows),
            ),
            Table(
                Phrase("What the two surveys cost"),
                (Phrase("survey"), Phrase("epsilon")),
                (
                    (PLANS["Warner"][0], Number(warner, "fixed", 4)),
                    (PLANS["Greenberg"][0], Number(greenberg, "fixed", 4)),
                ),
            ),
        ),
    )


ITEM = Item(
    Phrase("Errors that can be measured"),
    Phrase("1, randomised response and differential privacy"),
    measure,
    claimed=Phrase("the error of randomised response is hard to quantify, and so is that of differential privacy"),
    lab="tree?truth=0.5&yes=0.5",
    verdicts=(29,),
)
