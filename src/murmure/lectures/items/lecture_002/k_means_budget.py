"""The budget of private k-means: the lecture's halves are right, and other splits are better."""

from __future__ import annotations

import math
import statistics
from typing import Any, Literal

import numpy as np

from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.core.domain import Integers
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.learn.kmeans import KMeans
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.point_clouds import BOX, CLOUDS, points
from murmure.plan.plan import Plan
from murmure.plan.privacy import Central
from murmure.show.document import Curve, Curves, Number, Table
from murmure.statistics.learning.clusters import Clusters

Split = Literal["clipped", "best", "halves"]
SPLITS: tuple[Split, ...] = ("halves", "best", "clipped")
NAMES = {
    "halves": Phrase("halves"),
    "best": Phrase("split by error"),
    "clipped": Phrase("clipped offsets"),
}
STEPS, COLUMNS, RANGE = 5, 2, 10  # t, d and r of the example
N = 600


def scales() -> tuple[float, float, float]:
    """Scales of the noise on counts and sums at epsilon 1, by Murmure's own law; and what the step spends."""
    t, r = STEPS, RANGE
    box = Schema({"x": Integers(0, r), "y": Integers(0, r)})
    plan = Plan(Clusters(box, ((0, 0), (1, 1)), None, "halves"), curator=DiscreteLaplace(1 / t))
    counts, sums, _ = plan.bound.laws  # type: ignore[union-attr]
    spent = plan.guarantees()["reader"].epsilon
    # Clusters centres its box, 2 x - r: its noise is for sums that are twice as large, but reach only half as far.
    return _scale(counts), _scale(sums) / 2, spent


def _scale(law: Any) -> float:
    return math.sqrt(float(law.variance) / 2)


def learn(work: Work, rng: Random, epsilon: float, split: Split, run: int) -> float:
    """How far the centres end from those of the clouds: root of the mean squared distance to the nearest."""
    x = points(rng, N)
    table = {"x": x[:, 0], "y": x[:, 1]}
    model: Any = KMeans(len(CLOUDS), BOX, Central(epsilon), split=split, rng=rng).fit(table)
    true = np.array(CLOUDS)[:, :2]
    far = ((np.asarray(model.cluster_centers_)[:, None] - true[None]) ** 2).sum(axis=2)
    return float(np.sqrt(far.min(axis=0).mean()))


def measure(work: Work) -> Measured:
    epsilons = work.choose((1.0,), (0.3, 1.0, 3.0, 10.0), (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0))
    runs = work.choose(2, 20, 100)
    keys = [{"epsilon": e, "split": s, "run": i} for s in SPLITS for e in epsilons for i in range(runs)]
    results = work.cells(learn, keys)
    errors: dict[tuple[str, float], list[float]] = {}
    for key, error in zip(keys, results, strict=True):
        errors.setdefault((str(key["split"]), float(str(key["epsilon"]))), []).append(error)
    mean = {key: statistics.fmean(values) for key, values in errors.items()}
    band = {key: statistics.stdev(values) for key, values in errors.items()}
    curves = tuple(
        Curve(
            NAMES[split],
            epsilons,
            tuple(mean[split, e] for e in epsilons),
            low=tuple(max(mean[split, e] - band[split, e], 0.0) for e in epsilons),
            high=tuple(mean[split, e] + band[split, e] for e in epsilons),
        )
        for split in SPLITS
    )
    count, total, spent = scales()
    t, d, r = STEPS, COLUMNS, RANGE
    middle = 1.0 if 1.0 in epsilons else epsilons[0]
    best = min(SPLITS, key=lambda split: mean[split, middle])
    return Measured(
        Phrase(
            "for t = {t}, d = {d}, r = {r} and epsilon 1 the lecture's scales are {a} and {b}; Murmure's noise has "
            "{count:.2f} and {total:.1f}, because its box has its middle at 0, and a step spends {spent:.4f}. Of "
            "{people} people in three clouds, at epsilon {epsilon:g}, centres are {halves:.3f} off with halves. The "
            "least of the three splits is {least:.3f} ({best})",
            t=t,
            d=d,
            r=r,
            a=2 * t,
            b=2 * d * r * t,
            count=count,
            total=total,
            spent=spent,
            people=N,
            epsilon=middle,
            halves=mean["halves", middle],
            least=mean[best, middle],
            best=NAMES[best],
        ),
        {
            "split": [split for split in SPLITS for _ in epsilons],
            "epsilon": [e for _ in SPLITS for e in epsilons],
            "error": [mean[split, e] for split in SPLITS for e in epsilons],
            "deviation": [band[split, e] for split in SPLITS for e in epsilons],
        },
        (
            Curves(
                Phrase("How far centres are off, {runs} runs (the box has width 1)", runs=runs),
                curves,
                Phrase("epsilon"),
                Phrase("root mean squared distance"),
                log_x=True,
            ),
        ),
        blocks=(
            Table(
                Phrase("Where the budget of one step goes (epsilon for t steps)"),
                ("", Phrase("budget"), Phrase("sensitivity"), Phrase("scale of the noise")),
                (
                    (Phrase("counts"), "epsilon / 2t", "1", "2t / epsilon"),
                    (Phrase("sums"), "epsilon / 2t", "d r", "2 d r t / epsilon"),
                ),
            ),
            Table(
                Phrase("Distance of the centres: mean ± standard deviation over {runs} runs", runs=runs),
                (Phrase("epsilon"), *(NAMES[split] for split in SPLITS)),
                tuple(
                    (
                        Number(e, "plain"),
                        *(
                            Phrase("{mean:.3f} ± {deviation:.3f}", mean=mean[split, e], deviation=band[split, e])
                            for split in SPLITS
                        ),
                    )
                    for e in epsilons
                ),
                folded=True,
            ),
        ),
    )


ITEM = Item(
    Phrase("The budget of private k-means"),
    Phrase("sensitivity and budget for each iteration"),
    measure,
    claimed=Phrase("epsilon / 2t for the counts and epsilon / 2t for the sums, t times, are epsilon together"),
    printed=Phrase("noise of scale 2t / epsilon on sizes and 2 d r t / epsilon on sums"),
    verdicts=(24,),
)
