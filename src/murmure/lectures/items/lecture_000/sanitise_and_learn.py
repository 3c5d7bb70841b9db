"""The sanitise-and-learn listing on the diabetes table: its clear figures exactly, its private ones as one draw."""

from __future__ import annotations

from typing import Any

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.learn import NaiveBayes
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.listings_000 import (
    accuracy,
    f1_score,
    laplace_once,
    laplace_redrawn,
    lecture_split,
    mean_and_deviation,
    noisy_labels,
    noisy_numbers,
    predictions,
    prepared,
)
from murmure.show.document import Curve, Curves, Number, Table
from murmure.show.figures import Panels

EPSILON = 1.0
PRINTED = {"accuracy": 0.6038961038961039, "f1": 0.11594202898550726}
PRINTED_CLEAR = {"accuracy": 0.7857142857142857, "f1": 0.6373626373626374}
NOISES = {"redrawn": laplace_redrawn, "once": laplace_once}
NAMES = {
    "redrawn": Phrase("loop of the slide"),
    "once": Phrase("loop as printed"),
}
SCORES = {"accuracy": Phrase("accuracy"), "f1": Phrase("F1 score")}
BLOCK = 50  # runs of a cell


def cell(work: Work, rng: mu.Random, noise: str, block: int, runs: int) -> list[list[float]]:
    """Sanitise the table, split, learn, test: (accuracy, F1) of each run. Test rows and labels are sanitised too."""
    columns, labels = prepared(work.table("pima"))
    train, test = lecture_split(len(labels))
    out = []
    for _ in range(runs):
        features = noisy_numbers(columns, EPSILON, NOISES[noise], rng)
        noisy = noisy_labels(labels, EPSILON, rng)
        predicted = predictions(features[train], noisy[train], features[test])
        out.append([accuracy(noisy[test], predicted), f1_score(noisy[test], predicted)])
    return out


def clear_scores(work: Work) -> dict[str, dict[str, float]]:
    """In the clear, by scikit-learn's learner and by Murmure's."""
    columns, labels = prepared(work.table("pima"))
    train, test = lecture_split(len(labels))
    features = np.stack(list(columns.values()), axis=1)
    ours = NaiveBayes(privacy=mu.Clear()).fit(features[train], labels[train]).predict(features[test])
    both = {"scikit-learn": predictions(features[train], labels[train], features[test]), "murmure": np.asarray(ours)}
    return {
        name: {"accuracy": accuracy(labels[test], predicted), "f1": f1_score(labels[test], predicted)}
        for name, predicted in both.items()
    }


def at_most(draws: Any, printed: float) -> float:
    """The quantile of a printed value: the share of draws that are not above it."""
    return float(np.mean(np.asarray(draws) <= printed + 1e-12))


def measure(work: Work) -> Measured:
    clear = clear_scores(work)
    blocks = work.choose(1, 4, 40)
    runs = work.choose(3, BLOCK, BLOCK)
    keys = [{"noise": noise, "block": block, "runs": runs} for noise in NOISES for block in range(blocks)]
    flat = np.array(work.cells(cell, keys)).reshape(len(NOISES), blocks * runs, len(SCORES))
    draws = {noise: dict(zip(SCORES, flat[i].T, strict=True)) for i, noise in enumerate(NOISES)}
    quantiles = {noise: {score: at_most(draws[noise][score], PRINTED[score]) for score in SCORES} for noise in NOISES}
    mean, deviation = mean_and_deviation(draws["redrawn"]["accuracy"])
    f1_mean, f1_deviation = mean_and_deviation(draws["redrawn"]["f1"])
    exact = all(abs(one[score] - PRINTED_CLEAR[score]) < 1e-12 for one in clear.values() for score in SCORES)
    clear_text = Phrase(
        "scikit-learn: accuracy {a:.4f}, F1 {f:.4f}; Murmure's NaiveBayes: {b:.4f}, {g:.4f}.",
        a=clear["scikit-learn"]["accuracy"],
        f=clear["scikit-learn"]["f1"],
        b=clear["murmure"]["accuracy"],
        g=clear["murmure"]["f1"],
    )
    return Measured(
        Phrase(
            "In the clear: {clear} {exact} Sanitised, {runs:,} runs: accuracy {mean:.3f} with a standard deviation of "
            "{deviation:.3f}, F1 {f1_mean:.3f} with {f1_deviation:.3f}.",
            clear=clear_text,
            exact=Phrase("These are the lecture's figures, exactly.")
            if exact
            else Phrase("These are not the lecture's figures: the data differ."),
            runs=blocks * runs,
            mean=mean,
            deviation=deviation,
            f1_mean=f1_mean,
            f1_deviation=f1_deviation,
        ),
        {
            "noise": [noise for noise in NOISES for _ in range(blocks * runs)],
            **{score: [float(x) for noise in NOISES for x in draws[noise][score]] for score in SCORES},
        },
        (
            Panels(
                Phrase("The listing at epsilon {epsilon:g} per column, run again and again", epsilon=EPSILON),
                tuple(histogram(score, draws, clear["scikit-learn"][score]) for score in SCORES),
            ),
        ),
        why=Phrase(
            "The printed pair is one draw. With the loop of the slide, {a:.0%} of the runs are not above the printed "
            "accuracy, and {f:.0%} not above the printed F1; with the loop as printed, {b:.0%} and {g:.0%}. A single "
            "run cannot tell two mechanisms apart: their means differ by less than one deviation.",
            a=quantiles["redrawn"]["accuracy"],
            f=quantiles["redrawn"]["f1"],
            b=quantiles["once"]["accuracy"],
            g=quantiles["once"]["f1"],
        )
        if means_are_close(draws)
        else Phrase(
            "The printed pair is one draw. With the loop of the slide, {a:.0%} of the runs are not above the printed "
            "accuracy, and {f:.0%} not above the printed F1; with the loop as printed, {b:.0%} and {g:.0%}.",
            a=quantiles["redrawn"]["accuracy"],
            f=quantiles["redrawn"]["f1"],
            b=quantiles["once"]["accuracy"],
            g=quantiles["once"]["f1"],
        ),
        blocks=(summary(draws, quantiles),),
    )


def means_are_close(draws: dict[str, dict[str, Any]]) -> bool:
    """Whether both mean scores of the two loops differ by less than the deviation of one run."""
    for score in SCORES:
        (one, deviation), (other, _) = (mean_and_deviation(draws[noise][score]) for noise in NOISES)
        if abs(one - other) >= deviation:
            return False
    return True


def histogram(score: str, draws: dict[str, dict[str, Any]], clear: float) -> Curves:
    """Shares of runs by class of width .02, with the printed value and the clear one."""
    edges = np.arange(0.0, 1.0001, 0.02)
    shares = {noise: np.histogram(draws[noise][score], edges)[0] / len(draws[noise][score]) for noise in NOISES}
    top = float(max(share.max() for share in shares.values()))
    used = np.flatnonzero(sum(shares.values()))
    first, last = max(int(used.min()) - 1, 0), int(used.max()) + 3
    curves = [
        Curve(NAMES[noise], tuple(edges[first:last]), tuple(map(float, (*shares[noise], 0.0, 0.0)[first:last])), True)
        for noise in NOISES
    ]
    lines = ((Phrase("printed"), PRINTED[score]), (Phrase("in the clear"), clear))
    curves += [Curve(name, (x, x), (0.0, top)) for name, x in lines]
    return Curves(SCORES[score], tuple(curves), SCORES[score], Phrase("share of the runs"))


def summary(draws: dict[str, dict[str, Any]], quantiles: dict[str, dict[str, float]]) -> Table:
    rows = []
    for noise in NOISES:
        for score in SCORES:
            mean, deviation = mean_and_deviation(draws[noise][score])
            name = Phrase("{score}, {noise}", score=SCORES[score], noise=NAMES[noise])
            rows.append(
                (
                    name,
                    Number(mean, "fixed", 3),
                    Number(deviation, "fixed", 3),
                    Number(PRINTED[score], "fixed", 4),
                    Number(quantiles[noise][score], "share", 1),
                )
            )
    head = (
        Phrase("score"),
        Phrase("mean"),
        Phrase("standard deviation"),
        Phrase("printed"),
        Phrase("quantile"),
    )
    return Table(Phrase("Where the printed values lie"), head, tuple(rows))


ITEM = Item(
    Phrase("Sanitise and learn"),
    Phrase("Naive cleaning with bounded Laplace and GRR, parts 1 to 3"),
    measure,
    printed=Phrase("accuracy 0.6039 against 0.7857 in the clear; F1 0.1159 against 0.6374"),
    needs=("pima",),
)
