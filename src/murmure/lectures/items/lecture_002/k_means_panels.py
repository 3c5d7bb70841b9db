"""k-means step by step, 0a to 4a: in the clear, and with noise on counts and sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.core.types import Array
from murmure.learn.kmeans import KMeans
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.point_clouds import BOX, points
from murmure.plan.privacy import Central, Clear, Privacy
from murmure.show.document import Number, Paragraph, Table
from murmure.show.figures import Panels, PointCloud, ScatterPlot

K, STEPS, EPSILON = 3, 3, 3.0
START = np.array([[0.10, 0.50], [0.50, 0.45], [0.90, 0.50]])  # public: chosen without looking at the points


def path(x: Array, privacy: Privacy, rng: Random, steps: int = STEPS) -> tuple[list[Array], list[Array], float]:
    """Centres after 0, 1, ... steps, the sizes of each step, and what was spent: each step is a question of its own."""
    table = {"x": x[:, 0], "y": x[:, 1]}
    centres, sizes, spent = [START], [], 0.0
    for _ in range(steps):
        model: Any = KMeans(K, BOX, privacy, iterations=1, split="halves", init=centres[-1], rng=rng).fit(table)
        centres.append(np.asarray(model.cluster_centers_))
        sizes.append(np.asarray(model.cluster_sizes_))
        spent += 0.0 if isinstance(privacy, Clear) else model.spent_.epsilon
    return centres, sizes, spent


def nearest(x: Array, centres: Array) -> Array:
    return np.asarray(((x[:, None, :] - centres[None]) ** 2).sum(axis=2).argmin(axis=1))


def measure(work: Work) -> Measured:
    x = points(work.rng("points"), work.choose(60, 300, 300))
    clear, _, _ = path(x, Clear(), work.rng("clear"))
    noisy, sizes, spent = path(x, Central(EPSILON / STEPS), work.rng("noise"))
    last = [nearest(x, centres[-1]) for centres in (clear, noisy)]
    before = nearest(x, clear[-2])
    moved, stable = int((last[0] != before).sum()), bool((last[0] == before).all())
    apart = np.sqrt(((clear[-1] - noisy[-1]) ** 2).sum(axis=1))
    changed = int((last[0] != last[1]).sum())
    outcome = (
        Phrase("in the clear the clusters are stable at 4a")
        if stable
        else Phrase("in the clear {moved} of {n} points still change their cluster at 4a", moved=moved, n=len(x))
    )
    return Measured(
        Phrase(
            "{outcome}. With epsilon {epsilon:.3f} for all {steps} steps the centres end {near:.3f} to {far:.3f} from "
            "the clear ones (the box has width 1). Points in another cluster: {changed} of {n}",
            outcome=outcome,
            epsilon=spent,
            steps=STEPS,
            near=float(apart.min()),
            far=float(apart.max()),
            changed=changed,
            n=len(x),
        ),
        {
            "step": [t for t in range(STEPS + 1) for _ in range(K)],
            "cluster": [i for _ in range(STEPS + 1) for i in range(K)],
            "clear x": [float(c) for centres in clear for c in centres[:, 0]],
            "clear y": [float(c) for centres in clear for c in centres[:, 1]],
            "noisy x": [float(c) for centres in noisy for c in centres[:, 0]],
            "noisy y": [float(c) for centres in noisy for c in centres[:, 1]],
        },
        (
            panels(Phrase("k-means in the clear"), x, clear),
            panels(Phrase("k-means with noise, epsilon {epsilon:g} for all steps", epsilon=EPSILON), x, noisy),
        ),
        blocks=(
            Table(
                Phrase("Published with noise: the sizes of the clusters"),
                (Phrase("step"), *(Phrase("cluster {i}", i=i) for i in range(K))),
                tuple((str(t + 1), *(Number(float(s), "fixed", 1) for s in step)) for t, step in enumerate(sizes)),
            ),
            Paragraph(
                Phrase(
                    "The points and their colours are shown here because they are invented. In a real table nobody may "
                    "publish them: the curator publishes centres and noisy sizes, and which cluster a row is in stays "
                    "inside."
                ),
                "note",
            ),
        ),
    )


def panels(title: str, x: Array, centres: list[Array]) -> Panels:
    """0a the points, 0b the start, then an assignment and new means in turn, up to 4a."""
    out = [_panel(Phrase("0a. the points"), x), _panel(Phrase("0b. the start"), x, centres[0])]
    for t in range(STEPS):
        labels = nearest(x, centres[t])
        out.append(_panel(Phrase("{n}a. assignment", n=t + 1), x, centres[t], labels))
        out.append(_panel(Phrase("{n}b. new means", n=t + 1), x, centres[t + 1], labels))
    out.append(_panel(Phrase("{n}a. assignment", n=STEPS + 1), x, centres[-1], nearest(x, centres[-1])))
    return Panels(title, tuple(out), 3)


def _panel(title: str, x: Array, centres: Array | None = None, labels: Array | None = None) -> ScatterPlot:
    parts = [x] if labels is None else [x[labels == i] for i in range(K)]
    clouds = tuple(PointCloud("", tuple(map(float, part[:, 0])), tuple(map(float, part[:, 1]))) for part in parts)
    crosses = () if centres is None else tuple((float(a), float(b)) for a, b in centres)
    return ScatterPlot(title, clouds, "", "", crosses, (0.0, 1.0), (0.0, 1.0))


ITEM = Item(
    Phrase("k-means in nine panels"),
    Phrase("example, synthesis: panels 0a to 4a"),
    measure,
    claimed=Phrase(
        "the start leaks nothing, the assignment is internal and leaks nothing, the new means and the sizes leak; at "
        "4a the clusters are stable"
    ),
)
