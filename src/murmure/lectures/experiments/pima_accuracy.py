"""Accuracy on the Pima table against epsilon: in the clear, from randomised rows, with noise at a curator.

    clear      naive Bayes or least squares without any protection
    staircase  every row is randomised before it leaves the person, each column at epsilon / 9 (bounded staircase, and
               randomised response for the outcome); then the same model in the clear
    central    noise at the curator, neighbours by adding or removing a row
    replace    the same epsilon, neighbours by exchanging a row: as at the person
    library    diffprivlib at the same nominal epsilon, where it is installed

All learn from the same rows and are tested on the same rows, which nobody randomised.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from murmure.core.domain import Integers
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.core.types import Array
from murmure.learn.linear import LinearRegression
from murmure.learn.naive_bayes import NaiveBayes
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.library_models import LibraryCost, library_accuracy, library_version
from murmure.lectures.experiments.library_replay import library_cost
from murmure.lectures.experiments.pima_rows import TARGET, PimaRows, pima_rows, pima_schema, split_rows
from murmure.plan.privacy import Central, Clear, Local, Privacy
from murmure.show.document import Block, Curve, Curves, Number, Paragraph, Table

Model = Literal["bayes", "regression"]
WAYS = ("clear", "staircase", "central", "replace")
THRESHOLD = 0.5  # from here on a regression says yes


def answers(model: Model, privacy: Privacy, rng: Random, learn: PimaRows, test: PimaRows) -> Array:
    """What a model that was learned from some rows says about others."""
    if model == "bayes":
        return NaiveBayes(pima_schema(), TARGET, privacy, rng=rng).fit(learn.table).predict(test.table)
    regression = LinearRegression(pima_schema(Integers(0, 1)), TARGET, privacy, rng=rng).fit(learn.table)
    return (regression.predict(test.table) >= THRESHOLD).astype(np.int64)


def learned(work: Work, rng: Random, model: Model, epsilon: float, run: int) -> dict[str, float]:
    """One split: the accuracy of each way, and of always saying the class that is larger among the rows to learn from.

    The split depends on seed and run alone: the same rows at each epsilon, and for both models.
    """
    rows = pima_rows(work.table("pima"))
    learn, test = split_rows(rows, work.seed, run)
    ways: dict[str, Privacy] = {
        "clear": Clear(),
        "staircase": Local(epsilon, debias=False),
        "central": Central(epsilon),
        "replace": Central(epsilon, relation="replace"),
    }
    out = {way: float((answers(model, ways[way], rng, learn, test) == test.y).mean()) for way in WAYS}
    return {**out, "larger class": float((test.y == round(learn.y.mean())).mean())}


def learned_by_library(
    work: Work, rng: Random, model: Model, epsilon: float, run: int, library: str
) -> tuple[float, bool]:
    """diffprivlib on the same split: its accuracy, and whether a figure came out without noise."""
    rows = pima_rows(work.table("pima"))
    learn, test = split_rows(rows, work.seed, run)
    return library_accuracy(model, epsilon, int(rng.words(1)[0] % 2**31), learn, test)


def cost_of_library(work: Work, rng: Random, model: Model, epsilon: float, library: str) -> float:
    rows = pima_rows(work.table("pima"))
    learn, _ = split_rows(rows, work.seed, 0)
    return library_cost(model, epsilon, learn)


@dataclass(frozen=True)
class PimaAccuracy:
    """Accuracies by epsilon and way, a list over splits each; of the library, what it spends too."""

    results: Mapping[float, Mapping[str, Sequence[float]]]
    runs: int
    library: str | None = None
    costs: Mapping[float, LibraryCost] = field(default_factory=dict)

    @property
    def epsilons(self) -> tuple[float, ...]:
        return tuple(sorted(self.results))

    @property
    def ways(self) -> tuple[str, ...]:
        return (*WAYS, "library") if self.library else WAYS

    @property
    def larger_class(self) -> float:
        return float(np.mean(self.results[self.epsilons[0]]["larger class"]))

    def in_range(self, low: float, high: float) -> list[Mapping[str, Sequence[float]]]:
        return [self.results[epsilon] for epsilon in self.epsilons if low <= epsilon <= high]

    def mean(self, epsilon: float, way: str) -> float:
        return float(np.mean(self.results[epsilon][way]))

    def deviation(self, epsilon: float, way: str) -> float:
        """Of the accuracy from split to split."""
        return statistics.stdev(self.results[epsilon][way])

    def data(self) -> dict[str, list[Any]]:
        rows = [(e, way, self.mean(e, way), self.deviation(e, way)) for way in self.ways for e in self.epsilons]
        return {name: [row[i] for row in rows] for i, name in enumerate(("epsilon", "way", "mean", "deviation"))}

    def figure(self, title: str, names: Mapping[str, str]) -> Curves:
        curves = []
        for way in self.ways:
            mean = [self.mean(e, way) for e in self.epsilons]
            deviation = [self.deviation(e, way) for e in self.epsilons]
            low, high = (tuple(m + s * d for m, d in zip(mean, deviation, strict=True)) for s in (-1, 1))
            curves.append(Curve(names[way], self.epsilons, tuple(mean), low=low, high=high))
        flat = (self.larger_class,) * len(self.epsilons)
        curves.append(Curve(Phrase("always the larger class"), self.epsilons, flat))
        return Curves(title, tuple(curves), Phrase("epsilon"), Phrase("accuracy"), log_x=True, from_zero=False)

    def table(self, names: Mapping[str, str]) -> Table:
        """Mean and deviation at every epsilon."""
        head = (Phrase("epsilon"), *(names[way] for way in self.ways))
        rows = tuple(
            (
                Number(epsilon, "plain"),
                *(
                    Phrase(
                        "{mean:.3f} ± {deviation:.3f}", mean=self.mean(epsilon, w), deviation=self.deviation(epsilon, w)
                    )
                    for w in self.ways
                ),
            )
            for epsilon in self.epsilons
        )
        title = Phrase("Accuracy: mean ± standard deviation over {runs} splits", runs=self.runs)
        return Table(title, head, rows, folded=True)


def pima_accuracy(work: Work, model: Model, epsilons: Sequence[float], runs: int) -> PimaAccuracy:
    grid: list[dict[str, Any]] = [
        {"model": model, "epsilon": epsilon, "run": run} for epsilon in epsilons for run in range(runs)
    ]
    by_epsilon: dict[float, dict[str, list[float]]] = {epsilon: {} for epsilon in epsilons}
    for key, found in zip(grid, work.cells(learned, grid), strict=True):
        for way, accuracy in found.items():
            by_epsilon[key["epsilon"]].setdefault(way, []).append(accuracy)
    version = library_version()
    if version is None:
        return PimaAccuracy(by_epsilon, runs)
    named = [{**key, "library": version} for key in grid]
    exact: dict[float, list[bool]] = {epsilon: [] for epsilon in epsilons}
    for key, (accuracy, noiseless) in zip(grid, work.cells(learned_by_library, named), strict=True):
        by_epsilon[key["epsilon"]].setdefault("library", []).append(accuracy)
        exact[key["epsilon"]].append(noiseless)
    audited = [epsilon for epsilon in epsilons if epsilon in work.choose((1.0,), (1.0, 10.0), (0.1, 1.0, 10.0, 100.0))]
    asked = [{"model": model, "epsilon": epsilon, "library": version} for epsilon in audited]
    spent = dict(zip(audited, work.cells(cost_of_library, asked), strict=True))
    costs = {epsilon: LibraryCost(spent.get(epsilon), float(np.mean(exact[epsilon]))) for epsilon in epsilons}
    return PimaAccuracy(by_epsilon, runs, version, costs)


Judge = Callable[[Mapping[str, Sequence[float]]], bool]


def judged(found: PimaAccuracy, low: float, high: float, judge: Judge) -> list[bool]:
    """What a judge says at each epsilon of a range."""
    return [judge(accuracies) for accuracies in found.in_range(low, high)]


def split_note() -> tuple[Paragraph, ...]:
    """How it was measured, and what near and above mean in the table of claims."""
    how = Phrase(
        "Each split learns from four fifths of the rows and tests on the others, which nobody randomised. Bounds are "
        "public, and epsilon is all that a row spends: the staircase has a ninth of it for each column. Beside the "
        "staircase, DP is taken where a row is exchanged (replace), as at the person; beside the clear model, where a "
        "row joins or leaves. More accurate: by more than two standard errors of the difference over the splits. About "
        "random: better than always the larger class by two points at most, or within two standard errors. Bands show "
        "one standard deviation."
    )
    return (Paragraph(how, "note"),)


def library_blocks(found: PimaAccuracy, model: Model) -> tuple[Block, ...]:
    """What diffprivlib spends; a sentence where it is not installed."""
    if found.library is None:
        return (Paragraph(Phrase("diffprivlib is not installed here, so its curve is left out."), "note"),)
    told = {
        "bayes": Phrase(
            "diffprivlib {version}: its class counts sum to the exact number of rows in {exact:.0%} of fits. Where "
            "people join or leave, that number alone tells one table from the other: no epsilon holds. Where a row is "
            "exchanged, its own code was replayed on two tables that differ in one row, and spends at least what the "
            "table shows.",
            version=found.library,
            exact=float(np.mean([cost.exact for cost in found.costs.values()])),
        ),
        "regression": Phrase(
            "diffprivlib {version}: in {exact:.0%} of fits a sum of squares came out without any noise, because its "
            "scale is taken from the lower bound alone: no epsilon holds. In the other fits, its own code was replayed "
            "on two tables that differ in one row, and spends at least what the table shows.",
            version=found.library,
            exact=float(np.mean([cost.exact for cost in found.costs.values()])),
        ),
    }
    rows = tuple(
        (Number(e, "plain"), Number(cost.at_least, "fixed", 2), Number(cost.exact, "share", 0))
        for e, cost in sorted(found.costs.items())
        if cost.at_least is not None
    )
    head = (Phrase("nominal epsilon"), Phrase("epsilon spent, at least"), Phrase("fits with an exact figure"))
    return (Paragraph(told[model]), Table(Phrase("What diffprivlib really spends"), head, rows))
