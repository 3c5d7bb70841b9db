"""Lecture 000's experiment: naive Bayes on the sanitised diabetes table, staircase against bounded Laplace.

Three ways: as the lecture did it; with the same certified epsilon for both; and with public bounds and clean test
labels. In all three the model learns from sanitised rows with sanitised labels, and predicts from sanitised rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.listings_000 import (
    accuracy,
    judged_by_noise,
    keep_probability,
    laplace_once,
    laplace_redrawn,
    lecture_split,
    noisy_labels,
    noisy_numbers,
    predictions,
    prepared,
    staircase_cost,
    staircase_redrawn,
)
from murmure.lectures.experiments.public_pima import BOUNDS, public_columns, sanitised_columns
from murmure.show.document import Curve, Curves, Number, Paragraph, Table, sentences
from murmure.show.figures import Panels

LISTINGS = {"staircase": staircase_redrawn, "laplace": laplace_redrawn, "once": laplace_once}
CERTIFIED = {"staircase": "BoundedStaircase", "laplace": "BoundedLaplace", "window": "Window"}
WAYS = {
    "lecture": Phrase("as the lecture did it"),
    "honest": Phrase("equal certified budgets"),
    "public": Phrase("public bounds, clean test labels"),
}
ARMS = {
    "staircase": Phrase("staircase"),
    "laplace": Phrase("bounded Laplace"),
    "once": Phrase("Laplace as the listing prints it"),
    "window": "Window",
}
NEAR = 0.03  # "near random": at most so far above always answering no
SIMILAR = 0.02  # "similar": on average no further apart


def arms_of(way: str) -> tuple[str, ...]:
    return tuple(LISTINGS if way == "lecture" else CERTIFIED)


def cell(work: Work, rng: mu.Random, way: str, arm: str, epsilon: float, runs: int) -> list[list[float]]:
    """For each run: the accuracy, and what it would be if the women who are tested did not sanitise their numbers."""
    table = work.table("pima")
    columns, labels = prepared(table)
    train, test = lecture_split(len(labels))
    if way == "public":
        columns = public_columns(table, tuple(columns))
    bounds = {name: (float(x.min()), float(x.max())) for name, x in columns.items()} if way != "public" else BOUNDS
    clear = np.stack(list(columns.values()), axis=1)[test]
    out = []
    for _ in range(runs):
        if way == "lecture":
            features = noisy_numbers(columns, epsilon, LISTINGS[arm], rng)
        else:
            features = sanitised_columns(columns, bounds, CERTIFIED[arm], epsilon, rng)
        noisy = noisy_labels(labels, epsilon, rng)
        judge = labels[test] if way == "public" else noisy[test]
        predicted = predictions(features[train], noisy[train], np.concatenate([features[test], clear]))
        out.append([accuracy(judge, part) for part in np.split(predicted, 2)])
    return out


@dataclass(frozen=True)
class RangeVerdict:
    """What the runs of one way say about both claims."""

    excess: float  # in [0.01, 1]: the best mean accuracy, above always answering no
    difference: float  # in [0.01, 1]: staircase minus Laplace, on average over the grid
    lead: float  # in [1, 10]
    lead_error: float  # its standard error
    ahead_from: float | None  # the staircase leads by two standard errors at this epsilon and at all larger ones

    @property
    def near_random(self) -> bool:
        return self.excess <= NEAR and abs(self.difference) <= SIMILAR

    @property
    def staircase_better(self) -> bool:
        return self.lead > 2 * self.lead_error


def gaps(one: Any, other: Any) -> tuple[Any, Any]:
    """The difference of two mean accuracies at each epsilon, and its standard error."""
    squared = (one.var(axis=1, ddof=1) + other.var(axis=1, ddof=1)) / one.shape[1]
    return one.mean(axis=1) - other.mean(axis=1), np.sqrt(squared)


def judged(epsilons: Sequence[float], staircase: Any, laplace: Any, always_no: Sequence[float]) -> RangeVerdict:
    """staircase, laplace: accuracies, (epsilon, run)."""
    at, floor = np.array(epsilons), np.array(always_no)
    one, other = np.asarray(staircase, float), np.asarray(laplace, float)
    low, high = at <= 1 + 1e-9, at >= 1 - 1e-9
    gap, errors = gaps(one, other)
    best = np.maximum(one.mean(axis=1), other.mean(axis=1)) - floor
    error = float(np.sqrt(np.sum(errors[high] ** 2)) / high.sum())
    behind = np.flatnonzero(gap <= 2 * errors)
    first = int(behind[-1]) + 1 if len(behind) else 0
    ahead_from = float(at[first]) if first < len(at) else None
    return RangeVerdict(float(best[low].max()), float(gap[low].mean()), float(gap[high].mean()), error, ahead_from)


def measure(work: Work) -> Measured:
    points, runs = work.choose(1, 13, 25), work.choose(2, 30, 30)
    epsilons = [1.0] if points == 1 else [round(float(e), 6) for e in np.geomspace(0.01, 10, points)]
    keys: list[dict[str, Any]] = [
        {"way": way, "arm": arm, "epsilon": epsilon, "runs": runs}
        for way in WAYS
        for arm in arms_of(way)
        for epsilon in epsilons
    ]
    results = iter(work.cells(cell, keys))
    scores = {(way, arm): np.array([next(results) for _ in epsilons]) for way in WAYS for arm in arms_of(way)}
    clear, no = baselines(work)
    floors = {way: [on_labels(way, no, e) for e in epsilons] for way in WAYS}
    verdicts = {
        way: judged(epsilons, scores[way, "staircase"][:, :, 0], scores[way, "laplace"][:, :, 0], floors[way])
        for way in WAYS
    }
    panels = tuple(panel(way, epsilons, scores, clear, floors[way]) for way in WAYS)
    return Measured(
        range_claims(verdicts, runs),
        {
            "way": [key["way"] for key in keys],
            "mechanism": [key["arm"] for key in keys],
            "epsilon": [key["epsilon"] for key in keys],
            "mean_accuracy": [float(x[:, 0].mean()) for s in scores.values() for x in s],
            "standard_deviation": [float(x[:, 0].std(ddof=1)) for s in scores.values() for x in s],
            "mean_accuracy_on_clear_rows": [float(x[:, 1].mean()) for s in scores.values() for x in s],
            "always_no": [on_labels(key["way"], no, key["epsilon"]) for key in keys],
        },
        (Panels(Phrase("Naive Bayes on the sanitised diabetes table"), panels), leads(epsilons, scores)),
        why=sentences(fairness(verdicts), which_noise(epsilons, scores, labels_alone(work, runs))),
        blocks=(*claims(verdicts), accuracies(epsilons, scores), Paragraph(trained_on())),
        broken=(budgets(),),
    )


def baselines(work: Work) -> tuple[float, float]:
    """On the true labels of the test: the model that learned in the clear, and always answering no."""
    columns, labels = prepared(work.table("pima"))
    train, test = lecture_split(len(labels))
    features = np.stack(list(columns.values()), axis=1)
    predicted = predictions(features[train], labels[train], features[test])
    return accuracy(labels[test], predicted), float(np.mean(labels[test] == 0))


def labels_alone(work: Work, runs: int) -> float:
    """The mean accuracy at epsilon 1 if nothing but the labels of the rows to learn from is sanitised."""
    columns, labels = prepared(work.table("pima"))
    train, test = lecture_split(len(labels))
    features, rng = np.stack(list(columns.values()), axis=1), work.rng("labels alone")
    return float(
        np.mean(
            [
                accuracy(
                    labels[test], predictions(features[train], noisy_labels(labels[train], 1.0, rng), features[test])
                )
                for _ in range(runs)
            ]
        )
    )


def on_labels(way: str, score: float, epsilon: float) -> float:
    return score if way == "public" else judged_by_noise(score, keep_probability(epsilon))


def panel(way: str, epsilons: list[float], scores: dict[Any, Any], clear: float, floor: list[float]) -> Curves:
    x = tuple(epsilons)
    curves = []
    for arm in ("staircase", "laplace"):
        mean, deviation = scores[way, arm][:, :, 0].mean(axis=1), scores[way, arm][:, :, 0].std(axis=1, ddof=1)
        band = (tuple(map(float, mean - deviation)), tuple(map(float, mean + deviation)))
        curves.append(Curve(ARMS[arm], x, tuple(map(float, mean)), False, *band))
    curves += [
        Curve(Phrase("always no"), x, tuple(floor)),
        Curve(Phrase("learned in the clear"), x, tuple(on_labels(way, clear, e) for e in epsilons)),
    ]
    if way == "lecture":
        curves.append(Curve(ARMS["once"], x, tuple(map(float, scores[way, "once"][:, :, 0].mean(axis=1)))))
    names = Phrase("epsilon of each attribute"), Phrase("accuracy")
    return Curves(WAYS[way], tuple(curves), *names, log_x=True, from_zero=False)


def leads(epsilons: list[float], scores: dict[Any, Any]) -> Curves:
    """Staircase minus Laplace, with two standard errors on both sides."""
    curves = []
    for way, name in WAYS.items():
        one, other = (scores[way, arm][:, :, 0] for arm in ("staircase", "laplace"))
        gap, error = gaps(one, other)
        band = (tuple(map(float, gap - 2 * error)), tuple(map(float, gap + 2 * error)))
        curves.append(Curve(name, tuple(epsilons), tuple(map(float, gap)), False, *band))
    names = Phrase("epsilon of each attribute"), Phrase("staircase minus Laplace, accuracy")
    return Curves(Phrase("The lead of the staircase, with two standard errors"), tuple(curves), *names, log_x=True)


# -- words


def range_claims(verdicts: dict[str, RangeVerdict], runs: int) -> Phrase:
    """Both claims, way by way."""
    starts = [v.ahead_from for v in verdicts.values() if v.ahead_from is not None]
    ahead = Phrase(
        "Point by point it is ahead by two standard errors in all three from epsilon {e:.2g} on.",
        e=max(starts, default=0.0),
    )
    means = Phrase(
        "In [0.01, 1], both near random: {near}. In [1, 10], the staircase more useful: {better}. The staircase leads "
        "there by {a:.3f} as the lecture did it, by {b:.3f} with equal certified budgets, and by {c:.3f} with public "
        "bounds and clean test labels (standard errors up to {error:.3f}, {runs} runs each).",
        near=holds(sum(v.near_random for v in verdicts.values())),
        better=holds(sum(v.staircase_better for v in verdicts.values())),
        a=verdicts["lecture"].lead,
        b=verdicts["honest"].lead,
        c=verdicts["public"].lead,
        error=max(v.lead_error for v in verdicts.values()),
        runs=runs,
    )
    return sentences(means, ahead if len(starts) == len(WAYS) else None)


def holds(ways: int) -> Phrase:
    if ways == len(WAYS):
        return Phrase("holds in all three ways")
    return Phrase("holds in {ways} of the three ways", ways=ways) if ways else Phrase("holds in none of the three ways")


def fairness(verdicts: dict[str, RangeVerdict]) -> Phrase:
    lecture, honest = verdicts["lecture"], verdicts["honest"]
    if lecture.staircase_better and honest.staircase_better:
        rest = Phrase(
            "With equal certified budgets it still leads, by {lead:.3f} with a standard error of {error:.3f}: the "
            "claim does not rest on the extra budget.",
            lead=honest.lead,
            error=honest.lead_error,
        )
    else:
        rest = Phrase("With equal certified budgets these runs show no lead that is above their error.")
    return Phrase(
        "The lecture's comparison is not at equal budgets: asked for 1, its staircase costs {one:.2f} for each number, "
        "and asked for 10, {ten:.2f}. {rest}",
        one=staircase_cost(1.0),
        ten=staircase_cost(10.0),
        rest=rest,
    )


def which_noise(epsilons: list[float], scores: dict[Any, Any], alone: float) -> Phrase:
    """At epsilon 1: what the noise on the labels costs, and what the noise on the numbers."""
    both = scores["public", "staircase"][int(np.argmin(np.abs(np.array(epsilons) - 1)))][:, 1]
    return Phrase(
        "At epsilon 1 {wrong:.0%} of the labels are wrong. Learned from these labels and from numbers in the clear, "
        "the model has {alone:.3f} on clear test rows and true labels; learned from sanitised numbers too (staircase, "
        "public bounds) it has {both:.3f} there.",
        wrong=1 - keep_probability(1.0),
        alone=alone,
        both=float(both.mean()),
    )


def claims(verdicts: dict[str, RangeVerdict]) -> tuple[Table, Table]:
    """The numbers behind both verdicts, and the rule."""
    near, useful = [], []
    for way, verdict in verdicts.items():
        first = Number(verdict.excess, "fixed", 3), Number(verdict.difference, "fixed", 3)
        second = Number(verdict.lead, "fixed", 3), Number(verdict.lead_error, "fixed", 3)
        ahead = None if verdict.ahead_from is None else Number(verdict.ahead_from, "fixed", 2)
        near.append((WAYS[way], *first, yes_or_no(verdict.near_random)))
        useful.append((WAYS[way], *second, ahead, yes_or_no(verdict.staircase_better)))
    gap = Phrase("staircase minus Laplace")
    return (
        Table(
            Phrase("[0.01, 1]: at most {near:g} above always no, {similar:g} apart?", near=NEAR, similar=SIMILAR),
            (Phrase("way"), Phrase("best above always no"), gap, Phrase("holds")),
            tuple(near),
        ),
        Table(
            Phrase("[1, 10]: the staircase ahead by two standard errors?"),
            (Phrase("way"), gap, Phrase("standard error"), Phrase("ahead from epsilon"), Phrase("holds")),
            tuple(useful),
        ),
    )


def yes_or_no(answer: bool) -> Phrase:
    return Phrase("yes") if answer else Phrase("no")


def accuracies(epsilons: list[float], scores: dict[Any, Any]) -> Table:
    """The third way at a few epsilons, with Window, and for women who do not sanitise their own numbers."""
    some = [e for e in (0.1, 1.0, 10**0.5, 10.0) if any(abs(e - other) < 1e-3 for other in epsilons)]
    rows = []
    for e in some:
        i = int(np.argmin(np.abs(np.array(epsilons) - e)))
        for arm in CERTIFIED:
            runs = scores["public", arm][i]
            cells = [Number(float(x), "fixed", 3) for k in (0, 1) for x in (runs[:, k].mean(), runs[:, k].std(ddof=1))]
            rows.append((Phrase("{arm}, epsilon {e:.3g}", arm=ARMS[arm], e=e), *cells))
    head = (
        Phrase("mechanism"),
        Phrase("sanitised test rows"),
        Phrase("standard deviation"),
        Phrase("clear test rows"),
        Phrase("standard deviation"),
    )
    return Table(Phrase("Public bounds, clean test labels: accuracy"), head, tuple(rows))


def trained_on() -> Phrase:
    return Phrase(
        "Read from the listings: the model learns from sanitised rows and sanitised labels, and is tested on sanitised "
        "rows and sanitised labels. The second listing writes the sanitised values back into the table, so a second "
        "cleaning would add noise to noise; here every run starts from the data. The split is the lecture's, always "
        "the same: the deviations are those of the noise alone, and say nothing about other women."
    )


def budgets() -> Table:
    """What is asked for each number, and what the redrawn staircase costs."""
    rows = [
        (Number(e, "plain"), Number(staircase_cost(e), "fixed", 3), Number(staircase_cost(e) / e - 1, "share", 0))
        for e in (0.01, 0.1, 1.0, 3.0, 10.0)
    ]
    head = (Phrase("asked for each number"), Phrase("costs"), Phrase("more than asked"))
    return Table(Phrase("The staircase of the lecture's experiment"), head, tuple(rows))


ITEM = Item(
    Phrase("Which noise is more useful to naive Bayes"),
    Phrase("Utility of mechanisms for the GNB: the experiment"),
    measure,
    claimed=Phrase(
        "epsilon in [0.01, 1]: both answers close to random, and similar; epsilon in [1, 10]: the staircase is more "
        "useful than the bounded Laplace"
    ),
    needs=("pima",),
    verdicts=(6, 8, 9),
)
