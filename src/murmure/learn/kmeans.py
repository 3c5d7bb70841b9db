"""k-means with noisy sums: every step counts the rows of each cluster and adds up how far off they are.

    centre_i <- centre_i + (sum of the clipped offsets of its rows + noise) / (their number + noise)

split="clipped" (the default): offsets from the centre, clipped to a public length (cluster_moves.py). A
first question, with 15 % of the budget, asks for the number of rows and their mean; the centres start spread about that
mean. How many steps follow is decided by the noisy number of rows for every cluster and deviation of the noise
(`STEPS_FOR`), so by public numbers and a released one. Centres that differ from the mean by no more than the noise are
pulled to it, as far as the noise says (empirical Bayes: Efron and Morris, J. Am. Stat. Assoc. 68, 1973).

split="best" sums coordinates, with the start and the steps of Su, Cao, Li, Bertino, Jin, CODASPY 2016 (there: DPLloyd,
improved): points that are spread over the public box, a split of the budget between counts and sums
(statistics/learning/clusters.py), and few steps: at rho = 0.225

    t = epsilon / e_m, at least 2 and at most 7,      e_m = sqrt(500 k**3 / n**2 (d + cbrt(4 d rho**2))**3).

That rule needs n. Under add/remove the number of rows is private, so it is taken from `n_public` and never from the
data; without it there are 5 steps, as many as DPLloyd takes by default. split="halves" is the lecture's: epsilon
/ (2 t) for the counts and as much for all sums together. It keeps its epsilon; it only wastes some of it.

The start looks at no row, or at a noisy mean. The number of steps is fixed before the first. An empty cluster gets its
noise like any other, and whether a centre moves is judged by its noisy count; until the last step one that is near
nobody goes towards the largest cluster. Published: the centres and the noisy counts of the last step. Labels of rows
are functions of rows: only `Clear` has them.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from functools import lru_cache
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from murmure.central.base.gate import Gate
from murmure.core.domain import Decimals, Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.learn.base import Learner, SumPrivacy
from murmure.learn.prediction_columns import numbers_to_predict
from murmure.learn.training_table import TrainingTable
from murmure.learn.transform_output import TransformOutput
from murmure.plan.plan import Plan
from murmure.plan.privacy import Central, Clear, Local, Privacy, noise_in
from murmure.run.engine_choice import is_elsewhere
from murmure.show.document import Number, Table
from murmure.statistics.learning.cluster_moves import ClusterMoves, ClusterMovesEstimate
from murmure.statistics.learning.clusters import EXACT, NEARER, RHO, Clusters, ClustersEstimate

Floats = NDArray[np.float64]

SPLITS = ("clipped", "best", "halves")
DEFAULT_STEPS, MIN_STEPS, MAX_STEPS = 5, 2, 7
STEPS_FOR = (25.0, 75.0, 250.0, 250.0, 1000.0, 1000.0)  # people for every cluster and deviation: 2, 3, 5, 7 steps
MEAN_SHARE = 0.15  # the share of the first question: how many rows, and where
START_WIDTH = 0.5  # of the box: how far centres start from the mean
TYPICAL = 1 / 9  # variance of a mean about the middle, in half ranges: what is expected before anything is asked
MAX_CLIPPED_COORDINATE = 1 << 19  # how far the box reaches in whole numbers, where lengths are cut
MAX_CLEAR_STEPS = 300  # steps in the clear, where nothing is spent
MAX_COORDINATE = 1 << 22  # how far the box reaches in whole numbers
AS_THEY_ARE = Phrase(
    "none: learned from randomised rows as they are, not debiased; centres lean to the middle, and sizes to one another"
)
START_SEED = 2016  # the public seed of the start


def spread_start(k: int, d: int, seed: int = START_SEED) -> Floats:
    """k points of the box from -1 to 1, away from its walls and from one another: no data, the same for everybody.

    Spheres of one radius that do not overlap; the radius shrinks until k of 100 k random points have room (Su et al.).
    """
    return _spread(k, d, seed).copy()


@lru_cache(maxsize=16)
def _spread(k: int, d: int, seed: int) -> Floats:
    rng, radius = Random.seeded(seed), 1.0
    while True:
        radius *= 0.9
        candidates = (rng.words(100 * k * d).astype(np.float64) / 2.0**63 - 1).reshape(-1, d) * (1 - radius)
        points: list[Floats] = []
        while len(candidates):  # the first point that has room, and those that still have some beside it
            points.append(candidates[0])
            if len(points) == k:
                return np.array(points)
            candidates = candidates[((candidates - candidates[0]) ** 2).sum(axis=1) >= 4 * radius * radius]


def steps_for(epsilon: float, k: int, d: int, n: int) -> int:
    """The rule of Su et al.: as many steps as the noise leaves room for."""
    least = math.sqrt(500 * k**3 / n**2 * (d + (4 * d * RHO**2) ** (1 / 3)) ** 3)
    return max(MIN_STEPS, min(MAX_STEPS, int(epsilon / least)))


class KMeans(TransformOutput, Learner):
    """Centres of k clusters of numbers within public bounds.

    iterations: the number of steps; None: by `n_public`, a number of rows that is public, or by a noisy one. split:
    "clipped", "best" or "halves", see the top of this file. metric: "box" measures every column by its public
    range; "units" as the numbers are. init: centres to start with, in the units of the data, that came from no data.

    >>> import murmure as mu
    >>> from murmure.learn import KMeans
    >>> schema = mu.Schema({"age": mu.Integers(18, 99), "pay": mu.Interval(0, 10_000, cells=100)})
    >>> rows = {"age": [25, 35, 70, 80] * 500, "pay": [7000, 8000, 2000, 3000] * 500}
    >>> model = KMeans(2, schema, mu.Central(epsilon=1.0), iterations=3, rng=mu.Random.seeded(7)).fit(rows)
    >>> print(model.cluster_centers_.round(1).tolist(), model.cluster_sizes_.round().tolist())
    [[30.0, 7543.8], [75.7, 2558.6]] [982.0, 1010.0]
    >>> print(f"{model.n_iter_} steps, spent {model.spent_.epsilon:.6f}")
    3 steps, spent 1.000000
    """

    kind = "clusterer"
    _counts_people = True
    cluster_centers_: Floats  # in the units of the columns
    cluster_sizes_: Floats  # how many rows each has: noisy numbers, of the last step
    n_iter_: int  # steps taken
    post_: str  # under Local: that nothing undoes the randomisation of rows

    def __init__(
        self,
        n_clusters: int = 8,
        schema: Schema | None = None,
        privacy: Privacy | None = None,
        iterations: int | None = None,
        split: Literal["clipped", "best", "halves"] = "clipped",
        n_public: int | None = None,
        metric: Literal["box", "units"] = "box",
        init: Any = None,
        engine: Any = None,
        ledger: Any = None,
        rng: Random | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.schema = schema
        self.privacy = privacy
        self.iterations = iterations
        self.split = split
        self.n_public = n_public
        self.metric = metric
        self.init = init
        self.engine = engine
        self.ledger = ledger
        self.rng = rng

    # -- learning

    def fit(self, X: Any, y: Any = None, *, gate: Gate | None = None) -> Self:
        """Learn centres; y is not looked at. In the clear labels_ and inertia_ are there too."""
        super().fit(X, gate=gate)
        if isinstance(self.privacy, Clear) and not is_elsewhere(X):
            far = self._distances(X)
            self.labels_ = far.argmin(axis=1)
            self.inertia_ = float(far.min(axis=1).sum())
        return self

    def _check(self, rows: TrainingTable) -> None:
        for name in ("n_clusters", "iterations", "n_public"):
            value = getattr(self, name)
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not (whole and value >= 1) and not (value is None and name != "n_clusters"):
                raise InvalidParameter(
                    "KMeans.{name} must be a whole number, at least 1, got {got}.", name=name, got=shorten(value)
                )
        if self.metric not in ("box", "units"):
            raise InvalidParameter('KMeans.metric must be "box" or "units", got {got}.', got=shorten(self.metric))
        if self.split not in SPLITS:
            raise InvalidParameter(
                "KMeans.split must be one of {splits}, got {got}.", splits=", ".join(SPLITS), got=shorten(self.split)
            )
        self._clusters(rows.schema, self._start(rows.schema))  # refuses categories and grids too fine
        noise = noise_in(self.privacy)
        if noise is not None and self.split == "clipped":
            self._moves(rows.schema, noise.pure, np.zeros((1, len(rows.schema.private))))
            if self.iterations is not None and isinstance(self.privacy, Central):
                _, left = self.privacy.noises(
                    [MEAN_SHARE, 1 - MEAN_SHARE]
                )  # refuses now what would be too little for each step
                self.privacy.noises([1.0] * int(self.iterations), left)

    @staticmethod
    def _box(schema: Schema) -> tuple[Floats, Floats]:
        """The middle of every column's range and half its width, first code to last."""
        domains: list[Any] = [schema[name] for name in schema.private]
        half = np.array([domain.scale()[1] * (domain.size - 1) / 2 for domain in domains])
        return np.array([domain.scale()[0] for domain in domains]) + half, half

    def _scales(self, schema: Schema, finest: int = MAX_COORDINATE) -> tuple[int, ...]:
        """Whole numbers that make distances of one unit out of codes: as large as exact sums allow."""
        tops = np.array([schema[name].size - 1 for name in schema.private], float)
        room = min(finest, math.isqrt(EXACT // (4 * len(tops))))
        half = self._box(schema)[1] if self.metric == "units" else np.ones(len(tops))
        return tuple(max(1, int(s)) for s in np.floor(room * half / half.max() / tops + 0.25))

    def _start(self, schema: Schema) -> Floats:
        d = len(schema.private)
        numbers = all(isinstance(schema[name], Integers | Interval | Decimals) for name in schema.private)
        if self.init is None or not numbers:
            return spread_start(int(self.n_clusters), d)
        middle, half = self._box(schema)
        given = np.asarray(self.init, float)
        if given.shape != (self.n_clusters, d) or not np.isfinite(given).all():
            raise InvalidParameter(
                "KMeans.init must be {n_clusters} rows of {d} numbers, got shape {shape}.",
                hint="it is public: choose the points without looking at the data",
                n_clusters=self.n_clusters,
                d=d,
                shape=given.shape,
            )
        return np.asarray(np.clip((given - middle) / half, -1.0, 1.0))

    def _clusters(self, schema: Schema, centres: Floats) -> Clusters:
        """The question about these centres, which are put on whole numbers."""
        for name in schema.private:
            if not isinstance(schema[name], Integers | Interval | Decimals):
                raise InvalidParameter(
                    "KMeans takes numbers only; column {name!r} is {schema!r}.",
                    hint="leave the column out of the schema, or code it as numbers",
                    name=name,
                    schema=schema[name],
                )
        scales = self._scales(schema)
        corner = np.array([s * (schema[n].size - 1) for s, n in zip(scales, schema.private, strict=True)], float)
        whole = tuple(tuple(int(v) for v in row) for row in np.rint(centres * corner))
        return Clusters(schema, whole, scales, "halves" if self.split == "halves" else "best")

    def _moves(self, schema: Schema, pure: bool, centres: Floats) -> ClusterMoves:
        """The question about offsets from these centres, in scaled coordinates: whole numbers."""
        scales = self._scales(schema, MAX_CLIPPED_COORDINATE)
        corner = np.array([s * (schema[n].size - 1) for s, n in zip(scales, schema.private, strict=True)], float)
        reach = 3 / 8 * corner.sum() if pure else math.sqrt((corner**2).sum()) / 2
        share = min(0.25, max(0.05, 0.3 * float(corner.max()) / reach))
        whole = tuple(tuple(int(v) for v in row) for row in np.rint(centres))
        return ClusterMoves(schema, whole, max(1, int(reach)), scales, "l1" if pure else "l2", share)

    def _number_of_steps(self, schema: Schema, privacy: SumPrivacy) -> int:
        if self.iterations is not None:
            return int(self.iterations)
        noise = noise_in(privacy)
        if noise is None:
            return MAX_CLEAR_STEPS
        if self.n_public is None:
            return DEFAULT_STEPS
        return steps_for(noise.epsilon, int(self.n_clusters), len(schema.private), int(self.n_public))

    def _steps(self, schema: Schema, privacy: SumPrivacy) -> Generator[Plan, Any, dict[str, Any]]:
        if noise_in(privacy) is not None and self.split == "clipped":
            return (yield from self._clipped(schema, privacy))
        centres, steps = self._start(schema), self._number_of_steps(schema, privacy)
        taken = 0
        for noise in privacy.noises([1.0] * steps):
            found: ClustersEstimate = yield privacy.plan(self._clusters(schema, centres), noise)
            taken += 1
            previous, centres = centres, found.centres(centres, last=taken == steps)
            if noise_in(privacy) is None and (centres == previous).all():  # with noise this would depend on the data
                break
        middle, half = self._box(schema)
        return {
            "cluster_centers_": middle + half * centres,
            "cluster_sizes_": np.maximum(found.counts, 0.0),
            "n_iter_": taken,
        }

    def _clipped(self, schema: Schema, privacy: SumPrivacy) -> Generator[Plan, Any, dict[str, Any]]:
        """The mean of all rows, then steps about the centres; coordinates are those that distances are measured in."""
        k, d, at_curator = int(self.n_clusters), len(schema.private), noise_in(privacy)
        assert at_curator is not None
        first, left = privacy.noises([MEAN_SHARE, 1 - MEAN_SHARE])
        ask = self._moves(schema, at_curator.pure, np.zeros((1, d)))
        corner = np.array(ask.clusters.corner, float)
        found: ClusterMovesEstimate = yield privacy.plan(ask, first)
        people = max(float(found.counts[0]), found.floor)
        doubt = found.move_noise / people**2 / corner**2
        mean = np.clip(found.offset_sums[0] / people / corner, -1.0, 1.0) * TYPICAL / (TYPICAL + doubt) * corner
        # The number of steps may depend on the first noisy answer, which is public from now on, and on no row.
        steps = self.iterations
        if steps is None:
            known = people if self.n_public is None else float(self.n_public)
            question = self._moves(schema, at_curator.pure, np.zeros((k, d)))
            laws = cast(Any, left).bind(question.blocks, at_curator.relation, at_curator.rows_per_person).laws
            alone = math.sqrt(float(laws[1].variance)) / float(corner.max())
            steps = 1 + sum(known >= few * k * alone for few in STEPS_FOR)
        start = spread_start(k, d) * START_WIDTH * corner + mean if self.init is None else self._start(schema) * corner
        centres = np.clip(start, -corner, corner)
        for taken, noise in enumerate(privacy.noises([1.0] * int(steps), left), 1):
            centres = np.rint(centres)
            found = yield privacy.plan(self._moves(schema, at_curator.pure, centres), noise)
            centres = _next_centres(found, centres, mean, corner, last=taken == steps)
        middle, half = self._box(schema)
        return {
            "cluster_centers_": middle + half * centres / corner,
            "cluster_sizes_": np.maximum(found.counts, 0.0),
            "n_iter_": int(steps),
        }

    def _learn_locally(self, rows: TrainingTable, privacy: Local, gate: Gate) -> dict[str, Any]:
        """Centres of the randomised rows as they are.

        Which centre a person is nearest to has no unbiased estimate from one randomised row: `debias` changes nothing.
        """
        fitted, guarantees = self._fit_randomised(rows, privacy, gate)
        learned = {name: getattr(fitted, name) for name in ("cluster_centers_", "cluster_sizes_", "n_iter_")}
        return {"guarantees_": guarantees, **learned, "post_": AS_THEY_ARE}

    def _summary_tables(self) -> list[Table]:
        clusters = enumerate(zip(self.cluster_centers_, self.cluster_sizes_, strict=True))
        rows = tuple(
            (Phrase("cluster {i}", i=i), Number(float(size)), *map(float, centre)) for i, (centre, size) in clusters
        )
        return [Table("", ("", Phrase("people"), *self.schema_.private), rows)]

    def _post_processing(self) -> str:
        clipped = "" if noise_in(self.privacy) is None else Phrase("sizes below zero are shown as 0")
        return super()._post_processing() or clipped

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags

    # -- predicting

    def _distances(self, X: Any) -> Floats:
        """Squared, in the metric: units of the data, or of half a public range."""
        columns = self._columns(X)
        names, clip = self.schema_.private, self.schema is not None
        x = numbers_to_predict(type(self).__name__, self.schema_, columns, names, clip)
        unit = self._box(self.schema_)[1] if self.metric == "box" else 1.0
        return np.stack([(((x - c) / unit) ** 2).sum(axis=1) for c in self.cluster_centers_], axis=1)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The number of the nearest centre of every row."""
        return np.asarray(self._distances(X).argmin(axis=1))

    def transform(self, X: Any) -> Any:
        """The distance of every row to every centre: an array, or a frame where `set_output` asks for one."""
        return self._in_output(np.sqrt(self._distances(X)), X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns of `transform`: kmeans0, kmeans1 ..., as in scikit-learn."""
        self._require_fitted()
        return np.array([f"kmeans{i}" for i in range(len(self.cluster_centers_))], object)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.intp]:
        """Fit, then the nearest centre of every row."""
        return self.fit(X).predict(X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, then the distance of every row to every centre."""
        return self.fit(X).transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of squared distances to the nearest centre."""
        return -float(self._distances(X).min(axis=1).sum())


def _next_centres(answer: ClusterMovesEstimate, previous: Floats, mean: Floats, corner: Floats, last: bool) -> Floats:
    """The next centres: a function of noisy answers, and free.

    Their differences from the mean have variance tau**2 + that of the noise, which is known; what is left of the first
    says how far to believe them. A centre near which there is hardly anybody, by its noisy count, goes most of the way
    to the largest cluster, or in the end to the mean.
    """
    enough = answer.counts >= answer.floor
    people = np.maximum(answer.counts, answer.floor)[:, None]
    centres = np.clip(previous + answer.offset_sums / people, -corner, corner)
    noise = answer.move_noise / people**2
    apart, d = centres - mean, len(mean)
    size = float((apart**2 - noise)[enough].sum())
    tau2 = max(0.0, size) / (max(int(enough.sum()), 1) * d)
    centres = mean + tau2 / (tau2 + noise) * apart
    if last or not enough.any():
        return np.where(enough[:, None], centres, mean if last else previous)
    largest = centres[np.argmax(answer.counts)]
    return np.where(enough[:, None], centres, previous + NEARER * (largest - previous))


_PLANE = Schema({"x": Integers(0, 20), "y": Interval(-1.0, 1.0, cells=32)})

EXAMPLES = (
    KMeans(3, _PLANE, Central(2.0)),
    KMeans(3, _PLANE, Central(40.0, relation="replace")),
    KMeans(2, _PLANE, Central(30.0, delta=1e-6), metric="units"),
    KMeans(3, _PLANE, Central(2.0), iterations=3, split="best"),
    KMeans(2, _PLANE, Central(1.0, relation="replace"), iterations=2, split="halves"),
    KMeans(2, _PLANE, Central(1.0, delta=1e-6), n_public=100, metric="units", split="best"),
)
