"""The four classical approaches on one question: a share, and a regression slope, of the same people.

Epsilon is for both figures together: answers with noise serve twice, and a curator spends half on each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import murmure as mu
from murmure import econometrics
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.core.types import Floats
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.float_draws import laplace, open_uniforms
from murmure.show.document import IntervalRow, Intervals, Number, Table

EPSILON, HOLDERS = 1.0, 5
SHARE, SLOPE = 0.3, 15.0  # of smokers in the population; what smoking adds to the cost
SCHEMA = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "cost": mu.Integers(0, 100)})
COST_BY_SMOKER = "cost ~ smoker"
NORMAL = 1.96
NAMES = {
    "response": Phrase("randomised response"),
    "noise": Phrase("noise, taken as clean"),
    "corrected": Phrase("noise, corrected"),
    "curator": Phrase("noise at a curator"),
    "masks": Phrase("masked sums"),
}


def people(rng: Random, n: int) -> dict[str, Any]:
    smokers = open_uniforms(rng, n) < SHARE
    cost = 20 + int(SLOPE) * smokers + np.floor(41 * open_uniforms(rng, n)).astype(int)
    return {"smoker": np.where(smokers, "yes", "no"), "cost": cost}


def interval(centre: float, error: float) -> list[float]:
    return [centre, centre - NORMAL * error, centre + NORMAL * error]


def noisy_slope(w: Floats, y: Floats, variance: float) -> list[float]:
    """The slope of y on w less noise of this variance, and its interval (sandwich); 0: w is taken as it is."""
    w, y = w - w.mean(), y - y.mean()
    squares = (w * w).sum() - len(w) * variance
    slope = float((w * y).sum() / squares)
    scores = w * y - slope * (w * w - variance)
    return interval(slope, math.sqrt((scores * scores).sum()) / abs(squares))


def answer(approach: str, table: dict[str, Any], rng: Random) -> tuple[list[float], list[float], int]:
    """(share, low, high) and (slope, low, high) by one approach, and the random numbers that the regression takes."""
    domain, n = SCHEMA["smoker"], len(table["cost"])
    drawn = n
    share: Any
    if approach in ("noise", "corrected"):
        scale = 1 / EPSILON
        w = (table["smoker"] == "yes") + laplace(rng, n, scale)
        mean = interval(float(w.mean()), float(w.std()) / math.sqrt(n))
        return mean, noisy_slope(w, table["cost"], 2 * scale**2 if approach == "corrected" else 0.0), n
    if approach == "masks":
        parts = [{name: column[i::HOLDERS] for name, column in table.items()} for i in range(HOLDERS)]
        plan = mu.Plan(mu.Histogram(domain), parties=mu.PairwiseMasks(HOLDERS))
        share = mu.run(plan, [part["smoker"] for part in parts]).estimate
        fit = econometrics.ols(COST_BY_SMOKER, parts, schema=SCHEMA, privacy=mu.Secure())
        assert fit.how is not None
        drawn = HOLDERS * (HOLDERS + 1) // 2 * fit.how.sums  # a mask for each pair and each party
    elif approach == "curator":
        plan = mu.Plan(mu.Histogram(domain), curator=mu.DiscreteLaplace(epsilon=EPSILON / 2))
        share = mu.run(plan, table["smoker"], rng=rng).estimate
        privacy = mu.Central(epsilon=EPSILON / 2)
        fit = econometrics.ols(COST_BY_SMOKER, table, schema=SCHEMA, privacy=privacy, rng=rng)
        assert fit.how is not None
        drawn = fit.how.sums  # noise once for each sum
    else:
        mechanism = mu.GRR(domain, EPSILON)
        reports = mechanism.report(table["smoker"], rng)
        share = mechanism.estimate(mechanism.tally(reports), n)
        sent = {**table, "smoker": np.array(["no", "yes"])[reports]}
        fit = econometrics.randomised_ols(COST_BY_SMOKER, sent, schema=SCHEMA, randomised={"smoker": mechanism})
    low, high = np.asarray(share.interval(target="superpopulation"))[1]
    ends = fit.conf_int()
    slope = float(fit.params[1])
    # Where noise leaves no standard error there is no interval: it counts as one that does not cover.
    around = [slope, slope] if ends is None else [float(end) for end in ends[1]]
    return [float(share.mean[1]), low, high], [slope, *around], drawn


def cell(work: Work, rng: Random, approach: str, run: int, n: int) -> dict[str, Any]:
    table = people(work.rng("people", run, n), n)
    share, slope, drawn = answer(approach, table, rng)
    smokers = table["smoker"] == "yes"
    clear = table["cost"][smokers].mean() - table["cost"][~smokers].mean()
    return {"share": share, "slope": slope, "clear": [float(smokers.mean()), float(clear)], "drawn": drawn}


def covers(values: Floats, truth: float) -> float:
    return float(((values[:, 1] <= truth) & (truth <= values[:, 2])).mean())


def measure(work: Work) -> Measured:
    n, runs = work.choose(200, 2_000, 2_000), work.choose(2, 40, 400)
    keys = [{"approach": approach, "run": run, "n": n} for approach in NAMES for run in range(runs)]
    found = work.cells(cell, keys)
    data: dict[str, list[Any]] = {"approach": list(NAMES)}
    data["random_numbers"] = [found[number * runs]["drawn"] for number in range(len(NAMES))]
    columns = ("share_error", "share_coverage", "slope_median", "slope_low", "slope_high", "slope_error")
    data |= {name: [] for name in (*columns, "slope_coverage")}
    for number in range(len(NAMES)):
        some = found[number * runs : (number + 1) * runs]
        share, slope, clear = (np.array([one[name] for one in some]) for name in ("share", "slope", "clear"))
        data["share_error"].append(float(np.sqrt(((share[:, 0] - clear[:, 0]) ** 2).mean())))
        data["share_coverage"].append(covers(share, SHARE))
        data["slope_median"].append(float(np.median(slope[:, 0])))
        for name, level in (("slope_low", 0.025), ("slope_high", 0.975)):
            data[name].append(float(np.quantile(slope[:, 0], level)))
        data["slope_error"].append(float(np.median(np.abs(slope[:, 0] - clear[:, 1]))))  # a ratio: no finite mean
        data["slope_coverage"].append(covers(slope, SLOPE))
    by_name = {name: dict(zip(NAMES, column, strict=True)) for name, column in data.items()}
    honest = [by_name[kind][name] for kind in ("share_coverage", "slope_coverage") for name in NAMES if name != "noise"]
    return Measured(
        Phrase(
            "{n:,} people, epsilon 1 for both figures, {runs} runs. What each approach adds to the error of the share "
            "(root mean square): {response:.4f} for randomised response, {noise:.4f} for noise on each value, "
            "{curator:.5f} for noise at a curator, {masks:.5f} for masked sums. Intervals at 95% cover the truth in "
            "{low:.0%} to {high:.0%} of the runs; where noise on each value is ignored, the slope is {biased:.1f} "
            "instead of {slope:.0f}, and its interval covers in {missed:.0%}.",
            n=n,
            runs=runs,
            response=by_name["share_error"]["response"],
            noise=by_name["share_error"]["noise"],
            curator=by_name["share_error"]["curator"],
            masks=by_name["share_error"]["masks"],
            low=min(honest),
            high=max(honest),
            biased=by_name["slope_median"]["noise"],
            slope=SLOPE,
            missed=by_name["slope_coverage"]["noise"],
        ),
        data,
        (slope_picture(data),),
        Phrase(
            "The law of each randomisation is public, so its error is known before anybody answers, and regressions "
            "can be corrected for it. Masked sums add no error, and they hide the rows from the coordinator only: what "
            "comes out is exact, with no epsilon. The protection differs too: where each answer is randomised, here "
            "only whether somebody smokes is, and the cost is sent as it is; a curator's noise covers both columns."
        ),
        (error_table(data), verdicts(data)),
    )


def slope_picture(data: dict[str, list[Any]]) -> Intervals:
    rows = zip(NAMES.values(), data["slope_median"], data["slope_low"], data["slope_high"], strict=True)
    return Intervals(
        Phrase("What smoking adds to the cost: median and 95% of the runs"),
        tuple(IntervalRow(name, centre, low, high, SLOPE) for name, centre, low, high in rows),
        unit="value",
        picture=True,
        axis=Phrase("slope"),
        words=(Phrase("95% of the runs"), Phrase("median")),
    )


def error_table(data: dict[str, list[Any]]) -> Table:
    rows = zip(*(data[name] for name in list(data)[1:]), NAMES.values(), strict=True)
    return Table(
        Phrase("What each approach adds to the error, and how often its 95% intervals cover"),
        (
            Phrase("approach"),
            Phrase("share: error added (root mean square)"),
            Phrase("covers"),
            Phrase("slope: error added (median)"),
            Phrase("covers"),
            Phrase("random numbers"),
        ),
        tuple(
            (
                name,
                Number(share, "fixed", 5),
                Number(share_covers, "share", 0),
                Number(slope, "fixed", 3),
                Number(slope_covers, "share", 0),
                Number(draws),
            )
            for draws, share, share_covers, _, _, _, slope, slope_covers, name in rows
        ),
    )


def verdicts(data: dict[str, list[Any]]) -> Table:
    """The three criteria, as far as this question tells: an error is measurable if intervals cover about as often."""
    yes, no = Phrase("yes"), Phrase("no")
    measurable = [
        yes if min(pair) >= 0.85 else no for pair in zip(data["share_coverage"], data["slope_coverage"], strict=True)
    ]
    lecture = (no, no, no, no, yes)
    scope = (
        Phrase("shares, means, regressions"),
        Phrase("the mean alone"),
        Phrase("moments, regressions; densities slowly"),
        Phrase("all that is a sum of bounded terms"),
        Phrase("all that is a sum of whole numbers"),
    )
    people_alone = Phrase("as the number of people")
    times = (*[people_alone] * 4, Phrase("as the number of people, and m^2 L masks"))
    rows = zip(NAMES.values(), scope, lecture, measurable, times, strict=True)
    return Table(
        Phrase("The three criteria"),
        (
            Phrase("approach"),
            Phrase("1. scope"),
            Phrase("2. measurable error, says the lecture"),
            Phrase("2. measured: intervals cover"),
            Phrase("3. time"),
        ),
        tuple(rows),
        words=True,
    )


ITEM = Item(
    Phrase("Four approaches, three criteria"),
    Phrase("1, definition of anonymisation"),
    measure,
    claimed=Phrase(
        "randomised response, differential privacy and additive noise have errors that are hard to measure; additive "
        "noise gives the mean alone; masked sums meet all three criteria: scope, small measurable errors, moderate time"
    ),
    verdicts=(29,),
)
