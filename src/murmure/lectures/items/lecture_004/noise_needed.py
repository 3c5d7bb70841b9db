"""Noise with mean zero on each value: its error against N, and the N that a wanted error needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.deconvolution import TwoHumps
from murmure.lectures.experiments.float_draws import laplace
from murmure.show.document import Curve, Curves, Number, Paragraph, Table

EPSILON, SHARE, NORMAL = 1.0, 0.3, 1.96
SCALE = 1 / EPSILON  # Laplace noise on a value between 0 and 1: epsilon for each person
NOISE = math.sqrt(2) * SCALE  # standard deviation, for one person
WANTED = (0.1, 0.05, 0.02, 0.01)


def mechanism() -> mu.GRR:
    return mu.GRR(mu.Categories(["no", "yes"]), EPSILON)


def people_needed(wanted: float, deviation: float) -> int:
    """The least N with 1.96 deviation / sqrt(N) <= wanted: known before anybody is asked."""
    return math.ceil((NORMAL * deviation / wanted) ** 2)


def errors(work: Work, rng: Random, n: int, runs: int) -> dict[str, list[float]]:
    """|error| of the mean of n values, by noise and by randomised response, in each run."""
    response, yes = mechanism(), round(SHARE * n)
    people = np.repeat(["yes", "no"], [yes, n - yes])
    noise, answers = [], []
    for _ in range(runs):
        noise.append(abs(float(laplace(rng, n, SCALE).mean())))
        estimate = response.estimate(response.tally(response.report(people, rng)), n)
        answers.append(abs(float(estimate.mean[1]) - yes / n))
    return {"noise": noise, "response": answers}


def beyond(work: Work, rng: Random, n: int) -> dict[str, list[float]]:
    """Mean, variance, median and last decile of n values: in the clear, with noise, and corrected where one can."""
    x = np.clip(TwoHumps().draw(rng, n), 0, 1)
    y = x + laplace(rng, n, SCALE)
    out = {name: [z.mean(), z.var(), np.median(z), np.quantile(z, 0.9)] for name, z in (("clear", x), ("noisy", y))}
    return {**out, "corrected": [y.mean(), y.var() - NOISE**2]}


def root_mean_square(values: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def measure(work: Work) -> Measured:
    sizes = work.choose((100, 1_000), (100, 300, 1_000, 3_000, 10_000, 30_000), (100, 1_000, 10_000, 100_000, 10**6))
    runs = work.choose(5, 60, 200)
    found = work.cells(errors, [{"n": n, "runs": runs} for n in sizes])
    noise, response = ([root_mean_square(one[name]) for one in found] for name in ("noise", "response"))
    per_answer = math.sqrt(float(np.asarray(mechanism().variance(np.array([1 - SHARE, SHARE]), 1)).ravel()[-1]))
    wanted = WANTED[: work.choose(1, 4, 4)]
    needed = [people_needed(h, NOISE) for h in wanted]
    checks = work.cells(errors, [{"n": n, "runs": work.choose(5, 100, 400)} for n in needed])
    within = [float(np.mean(np.array(one["noise"]) <= h)) for one, h in zip(checks, wanted, strict=True)]
    moments = work.cells(beyond, [{"n": work.choose(500, 50_000, 500_000)}])[0]
    error_picture = Curves(
        Phrase("Error of a mean of values in [0, 1], epsilon 1 for each person ({runs} runs)", runs=runs),
        (
            Curve(Phrase("noise, measured"), sizes, tuple(noise)),
            Curve(Phrase("noise, sqrt(2 / N)"), sizes, tuple(NOISE / math.sqrt(n) for n in sizes)),
            Curve(Phrase("randomised response, measured"), sizes, tuple(response)),
            Curve(Phrase("randomised response, its law"), sizes, tuple(per_answer / math.sqrt(n) for n in sizes)),
        ),
        Phrase("N"),
        Phrase("root mean square error"),
        log=True,
        log_x=True,
    )
    grid = tuple(float(h) for h in np.geomspace(0.002, 0.2, 25))
    at_curator = tuple(math.log(20) / (EPSILON * h) for h in grid)  # P[|noise| > t] = exp(-t)
    needed_picture = Curves(
        Phrase("N for which 95% of the errors are below the wanted one"),
        (
            Curve(Phrase("noise on each value"), grid, tuple(float(people_needed(h, NOISE)) for h in grid)),
            Curve(Phrase("randomised response"), grid, tuple(float(people_needed(h, per_answer)) for h in grid)),
            Curve(Phrase("noise at a curator"), grid, at_curator),
        ),
        Phrase("wanted error"),
        Phrase("N"),
        log=True,
        log_x=True,
    )
    # Var[s^2] of Laplace noise alone: (24 - 4) scale^4 / n.
    blur = math.sqrt(20 / work.choose(500, 50_000, 500_000)) * SCALE**2
    names = (Phrase("mean"), Phrase("variance"), Phrase("median"), Phrase("last decile"))
    corrected = [*moments["corrected"], None, None]
    return Measured(
        Phrase(
            "The N is known in advance: (1.96 s / h)^2, with s the deviation of the noise. For an error of {h:g} it is "
            "{n:,}; there {within:.0%} of {runs} runs are within {h:g}. At {last:,} people the error is {noise:.5f} "
            "(its law: {law:.5f}), and {response:.5f} with randomised response.",
            h=wanted[-1],
            n=needed[-1],
            within=within[-1],
            runs=work.choose(5, 100, 400),
            last=sizes[-1],
            noise=noise[-1],
            law=NOISE / math.sqrt(sizes[-1]),
            response=response[-1],
        ),
        {"n": sizes, "noise": noise, "law": [NOISE / math.sqrt(n) for n in sizes], "randomised_response": response},
        (error_picture, needed_picture),
        Phrase(
            "Errors of the noise are independent and their variance is public, so the size of the sample follows. It "
            "is large: noise on each of N values costs about sqrt(N) times more than noise once. And more than the "
            "mean can be had: the variance by subtraction, a regression by correction, a density by deconvolution."
        ),
        (
            Table(
                Phrase("How many people"),
                (Phrase("wanted error"), Phrase("N"), Phrase("runs within it")),
                tuple(
                    (Number(h, "plain"), Number(n), Number(w, "share", 0))
                    for h, n, w in zip(wanted, needed, within, strict=True)
                ),
            ),
            Table(
                Phrase("Beyond the mean: values in the clear, and with noise"),
                (Phrase("what is computed"), Phrase("in the clear"), Phrase("with noise"), Phrase("corrected")),
                tuple(
                    (name, Number(clear, "fixed", 4), Number(noisy, "fixed", 4), fixed(good))
                    for name, clear, noisy, good in zip(
                        names, moments["clear"], moments["noisy"], corrected, strict=True
                    )
                ),
            ),
            Paragraph(
                Phrase(
                    "The noise alone gives the corrected variance a standard error of {blur:.4f} with these {n:,} "
                    "people.",
                    blur=blur,
                    n=work.choose(500, 50_000, 500_000),
                ),
                "note",
            ),
        ),
    )


def fixed(value: Any) -> Number | None:
    return None if value is None else Number(value, "fixed", 4)


ITEM = Item(
    Phrase("Noise with mean zero, and the N that it needs"),
    Phrase("1, third approach"),
    measure,
    claimed=Phrase(
        "the size of the sample for which the error is negligible cannot be determined directly, and the method gives "
        "back the mean alone"
    ),
    verdicts=(29,),
)
