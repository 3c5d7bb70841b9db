"""k-means: an exact partition, the same integers by every way, a start without data, and what is published."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from murmure.central.base.gate import Gate
from murmure.certify.checks.statistics import check_statistic
from murmure.core.blocks import NoisySum
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, MurmureError
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.laws import kernel_loader
from murmure.learn.kmeans import EXAMPLES, KMeans, spread_start, steps_for
from murmure.plan.privacy import Central, Clear, Local
from murmure.statistics.base import code_lines
from murmure.statistics.learning import cluster_moves, clusters
from murmure.statistics.learning.cluster_moves import ClusterMoves
from murmure.statistics.learning.clusters import RHO, Clusters

PLANE = Schema({"x": Interval(0.0, 10.0, cells=100), "y": Interval(-1.0, 1.0, cells=50)})


def blobs(n: int = 3000, seed: int = 1) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    at = draw.integers(0, 3, n)
    x = np.array([2.0, 5.0, 8.0])[at] + draw.normal(0, 0.7, n)
    y = np.array([-0.6, 0.6, -0.4])[at] + draw.normal(0, 0.15, n)
    return {"x": np.clip(x, 0, 10), "y": np.clip(y, -1, 1)}


# -- the sums


@pytest.mark.parametrize("ask", (*clusters.EXAMPLES, *cluster_moves.EXAMPLES), ids=repr)
def test_the_statistic_passes_its_checks(ask):
    check_statistic(ask)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("reach", [1, 7, 23, 40, 10_000])
@pytest.mark.parametrize("centres", [((0, 0, 0),), ((-30, 3, 1), (30, 0, 0), (30, 0, 0)), ((30, 9, 2), (29, 9, 2))])
def test_no_row_moves_offsets_farther_than_stated_wherever_the_centres_are(norm, reach, centres):
    """Every row of the domain, and every exchange of two; a box that is smaller than the reach is attained."""
    schema = Schema({"x": Integers(0, 6), "y": Integers(0, 9), "z": Integers(0, 1)})
    ask = ClusterMoves(schema, centres, reach, (5, 1, 2), norm)
    rows = tuple(np.array(c) for c in zip(*itertools.product(range(7), range(10), range(2)), strict=True))
    lifted, at = ask.lift(rows), 0

    assert (ask.tally(rows) == lifted.sum(axis=0)).all()
    for block in ask.blocks:
        part = lifted[:, at : at + block.width]
        moved = part[:, None] - part[None]
        at += block.width
        assert np.abs(part).sum(axis=1).max() <= block.l1
        assert (part**2).sum(axis=1).max() <= block.l2
        assert np.abs(moved).sum(axis=2).max() <= block.sensitivity("l1", "replace")
        assert (moved**2).sum(axis=2).max() <= block.sensitivity("l2", "replace")
    assert (lifted[:, : len(centres)].sum(axis=1) == 1).all()
    if len(centres) == 1 and reach == 10_000:
        assert np.abs(part).sum(axis=1).max() == block.l1


@pytest.mark.skipif(not kernel_loader.available(), reason="Numba is not installed")
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_kernel_and_numpy_give_the_same_offsets(monkeypatch, norm):
    draw = np.random.default_rng(4)
    schema = Schema({f"x{j}": Interval(0.0, 1.0, cells=1024) for j in range(5)})
    centres = tuple(tuple(int(v) for v in c) for c in draw.integers(-500_000, 500_000, (7, 5)))
    ask = ClusterMoves(schema, centres, 700_000, (512,) * 5, norm)
    x = tuple(draw.integers(0, 1024, 30_000) for _ in range(5))
    fast = ask.tally(x)
    monkeypatch.setattr(code_lines, "sum_kernels_for", lambda n: None)

    assert (ask.tally(x) == fast).all()


@pytest.mark.parametrize("split", ["best", "halves"])
def test_bounds_of_one_row_hold_for_every_row_and_are_attained(split):
    schema = Schema({"x": Integers(0, 6), "y": Integers(0, 9), "z": Integers(0, 1)})
    ask = Clusters(schema, ((-10, 3, 1), (10, 0, 0), (10, 0, 0)), (5, 1, 2), split)
    rows = itertools.product(range(7), range(10), range(2))
    lifted, at = ask.lift(tuple(np.array(c) for c in zip(*rows, strict=True))), 0
    for block in ask.blocks:
        part = np.abs(lifted[:, at : at + block.width])
        at += block.width

        assert block.l1 == part.sum(axis=1).max()
        assert block.l2 == (part**2).sum(axis=1).max()
    assert (lifted[:, :3].sum(axis=1) == 1).all()  # a partition


def test_a_tie_goes_to_the_lowest_number():
    """Duplicated centres, and rows half-way: the lecture's <= would count them twice."""
    schema = Schema({"x": Integers(0, 4)})
    same = Clusters(schema, ((0,), (0,), (0,)))
    half_way = Clusters(schema, ((2,), (-2,)))
    x = (np.arange(5),)

    assert same.tally(x)[:3].tolist() == [5, 0, 0]
    assert half_way.nearest(x).tolist() == [1, 1, 0, 0, 0]


@pytest.mark.skipif(not kernel_loader.available(), reason="Numba is not installed")
def test_kernel_and_numpy_give_the_same_integers(monkeypatch):
    """Coordinates near the limit of exactness, many ties."""
    draw = np.random.default_rng(2)
    schema = Schema({f"x{j}": Interval(0.0, 1.0, cells=1024) for j in range(5)})
    far = 15_000_000
    centres = draw.integers(-far, far, (7, 5))
    centres[3], centres[6] = centres[1], centres[0] + [1, 0, 0, 0, 0]
    ask = Clusters(schema, tuple(tuple(int(v) for v in c) for c in centres), (14_000,) * 5)
    x = tuple(draw.integers(0, 1024, 30_000) for _ in range(5))
    fast = ask.tally(x)
    monkeypatch.setattr(code_lines, "sum_kernels_for", lambda n: None)

    own = ask.nearest(x)

    assert (ask.tally(x) == fast).all()
    t = np.stack([14_000 * (2 * c.astype(object) - 1023) for c in x], axis=1)[:500]
    far = ((t[:, None, :] - centres.astype(object)[None]) ** 2).sum(axis=2)
    assert [row.tolist().index(min(row)) for row in far] == own[:500].tolist()


def test_distances_that_floats_could_not_hold_are_refused():
    with pytest.raises(InvalidParameter, match=r"2\*\*53"):
        Clusters(PLANE, ((0, 0),), (10**6, 10**6))


def test_shares_of_the_budget_are_those_of_su_et_al_and_of_the_lecture():
    best, halves = (Clusters(PLANE, ((0, 0),), split=split).blocks for split in ("best", "halves"))

    assert best[0].weight == pytest.approx((4 * 2 * RHO**2) ** (1 / 3))
    assert [b.weight for b in best[1:]] == [1.0, 1.0]
    assert halves[0].weight == sum(b.weight for b in halves[1:])
    d = np.arange(1, 9)
    e0 = np.cbrt(4 * d * RHO**2)

    def error(e0):
        return 2 * d + 8 * d * RHO**2 / e0**2, d + e0

    # at a fixed budget: error * budget**2 is least at the rule's ratio
    least, budget = error(e0)
    for factor in (0.9, 1.1):
        other, spent = error(e0 * factor)
        assert (least * budget**2 < other * spent**2).all()


# -- in the clear


def lloyd(points, centres, steps):
    for _ in range(steps):
        own = ((points[:, None, :] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.array([points[own == i].mean(axis=0) if (own == i).any() else c for i, c in enumerate(centres)])
    return centres, np.bincount(own, minlength=len(centres))


@pytest.mark.parametrize("metric", ["box", "units"])
def test_in_the_clear_it_takes_lloyds_steps(metric):
    rows = blobs()
    model = KMeans(4, PLANE, Clear(), iterations=6, metric=metric).fit(rows)
    middle, half = np.array([5.0, 0.0]), np.array([4.95, 0.98])  # from the first cell's middle to the last one's
    grid = [PLANE[name].numbers()[PLANE[name].encode(rows[name])] for name in ("x", "y")]
    unit = half if metric == "box" else np.ones(2)
    start = (middle + half * spread_start(4, 2)) / unit
    wanted, sizes = lloyd(np.stack(grid, axis=1) / unit, start, 6)

    assert np.allclose(model.cluster_centers_, wanted * unit, atol=1e-4)
    assert model.cluster_sizes_.tolist() == sizes.tolist()


def test_it_agrees_with_scikit_learn_from_the_same_start():
    cluster = pytest.importorskip("sklearn.cluster", reason="scikit-learn is not installed")
    rows = blobs()
    start = np.array([[1.0, 0.0], [6.0, 0.0], [9.0, 0.0]])
    points = np.stack([rows["x"], rows["y"]], axis=1)
    theirs = cluster.KMeans(3, init=start, n_init=1, max_iter=50, tol=0, algorithm="lloyd").fit(points)
    ours = KMeans(3, PLANE, Clear(), metric="units", init=start).fit(rows)

    assert np.allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=0.05)  # a cell is 0.1 wide
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-3)
    assert np.mean(ours.labels_ == theirs.labels_) > 0.995


def test_labels_of_rows_are_there_in_the_clear_only():
    rows = blobs(300)
    clear = KMeans(3, PLANE, Clear()).fit(rows)
    noisy = KMeans(3, PLANE, Central(1.0), rng=Random.seeded(1)).fit(rows)

    assert (clear.labels_ == clear.predict(rows)).all()
    assert clear.inertia_ == pytest.approx(-clear.score(rows))
    assert np.allclose(clear.transform(rows).min(axis=1) ** 2, clear._distances(rows).min(axis=1))
    for name in ("labels_", "inertia_"):
        assert not hasattr(noisy, name)


# -- protected


@pytest.mark.parametrize("how, asked", [({"split": "best"}, 5), ({"iterations": 4}, 5), ({"n_public": 40}, 2)])
def test_the_start_and_the_number_of_steps_look_at_no_data(how, asked):
    """Without any of these, the number of steps follows from a first noisy answer (test_affordable_sums.py)."""
    questions = []
    for rows in (blobs(3000, 1), blobs(40, 2), {"x": [], "y": []}):
        gate = Gate(Random.seeded(1))
        KMeans(3, PLANE, Central(1.0), **how).fit(rows, gate=gate)
        questions.append([asked.question for asked in gate.answers])

    assert [len(q) for q in questions] == [asked] * 3
    assert len({q[0] for q in questions}) == 1


def test_the_start_is_spread_over_the_box():
    for k, d in ((1, 1), (3, 2), (8, 8), (40, 3)):
        start = spread_start(k, d)
        assert start.shape == (k, d)
        assert np.abs(start).max() <= 1
        assert (start == spread_start(k, d)).all()
    far = spread_start(4, 2)
    gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(far, 2)]
    assert min(gaps) > 0.6


def test_the_rule_for_the_number_of_steps():
    """Iris (150 rows, 3 clusters, 4 columns): e_m = 8.5, so epsilon 1 has room for the least number only."""
    assert steps_for(1.0, 3, 4, 150) == 2
    assert steps_for(8.6 * 3, 3, 4, 150) == 3
    assert steps_for(1.0, 8, 8, 10**6) == 7
    rows = blobs(200)
    assert KMeans(2, PLANE, Central(1.0), n_public=100, rng=Random.seeded(1)).fit(rows).n_iter_ == 2
    assert KMeans(2, PLANE, Central(1.0), iterations=4, rng=Random.seeded(1)).fit(rows).n_iter_ == 4


@pytest.mark.parametrize("split", ["best", "halves"])
def test_all_steps_together_spend_what_was_asked_for(split):
    model = KMeans(3, PLANE, Central(0.9), split=split, iterations=7, rng=Random.seeded(1)).fit(blobs(500))

    assert len(model.plans_) == 7
    assert 0.9 * (1 - 1e-6) < model.spent_.epsilon <= 0.9
    assert model.guarantees_["reader"].epsilon == model.spent_.epsilon


def test_an_empty_cluster_gets_its_noise_like_any_other():
    """One centre stands where nobody is: its noisy count still differs from run to run."""
    start = [[1.0, -1.0], [9.9, 0.9]]
    rows = {"x": np.full(500, 1.0), "y": np.full(500, -0.9)}
    sizes = set()
    for seed in range(12):
        gate = Gate(Random.seeded(seed))
        KMeans(2, PLANE, Central(0.1), iterations=1, init=start).fit(rows, gate=gate)
        sizes.add(gate.answers[0].answer[1])

    assert len(sizes) > 6


def test_whether_a_centre_moves_is_judged_by_its_noisy_count():
    ask = Clusters(PLANE, ((0, 0), (10, 10)))
    bound = Central(1.0).plan(ask).bound
    before = np.array([[0.5, 0.5], [-0.5, 0.25]])
    found = ask.interpret(NoisySum(ask.blocks, np.array([-3, 400, 99, 990, -49, 10**6], np.int64), bound.laws))
    centres = found.centres(before)

    assert (centres[0] == before[0]).all()
    assert np.allclose(centres[1], [990 / 99 / 400, 1.0])


@pytest.mark.parametrize("privacy", [Clear(), Central(20.0)], ids=str)
def test_a_centre_near_nobody_finds_somebody(privacy):
    """At the start all rows are nearest to one centre; the other comes nearer until it has a group of its own."""
    plane = Schema({"age": Integers(18, 99), "pay": Interval(0, 10_000, cells=100)})
    rows = {"age": [25, 27, 60, 62] * 500, "pay": [1500, 2500, 6500, 7500] * 500}
    model = KMeans(2, plane, privacy, rng=Random.seeded(1)).fit(rows)

    assert np.abs(model.cluster_sizes_ - 1000).max() < 20
    assert np.allclose(np.sort(model.cluster_centers_[:, 0]), [26, 61], atol=2)


def test_at_a_large_epsilon_it_finds_the_blobs():
    """Noise far below one person. Seeded: the same outcome at every run."""
    rows = blobs()
    clear = KMeans(3, PLANE, Clear(), iterations=7).fit(rows)
    noisy = KMeans(3, PLANE, Central(500.0), iterations=7, rng=Random.seeded(3)).fit(rows)

    assert np.allclose(noisy.cluster_centers_, clear.cluster_centers_, atol=0.02)


def test_strange_rows_stand_somewhere_and_raise_nothing():
    rows = {"x": [np.nan, np.inf, -np.inf, 3.0], "y": [0.0, 1e300, np.nan, -5.0]}
    model = KMeans(2, PLANE, Central(1.0), rng=Random.seeded(1)).fit(rows)

    assert np.isfinite(model.cluster_centers_).all()


def test_wrong_settings_are_refused_before_any_row_is_read():
    for wrong in ({"n_clusters": 0}, {"iterations": 0}, {"n_public": 1.5}, {"metric": "l1"}, {"init": [[0.0]]}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            KMeans(**{"n_clusters": 2, "schema": PLANE, "privacy": Central(1.0), **wrong}).fit(blobs(5))
    with pytest.raises(InvalidParameter, match="split"):
        KMeans(2, PLANE, Central(1.0), split="thirds").fit(blobs(5))
    with pytest.raises(InvalidParameter, match="numbers only"):
        KMeans(2, Schema({"a": Categories(2)}), Central(1.0)).fit({"a": [0, 1]})


def test_k_means_of_randomised_rows() -> None:
    """Two far groups are still told apart at a large epsilon; the guarantee is that of the rows, for every observer."""
    schema = Schema({"x": Interval(0.0, 1.0), "y": Interval(0.0, 1.0)})
    rows = {"x": [0.1, 0.9] * 400, "y": [0.1, 0.9] * 400}
    model = KMeans(2, schema=schema, privacy=Local(20.0), init=[[0.3, 0.3], [0.7, 0.7]], rng=Random.seeded(1))
    centres = model.fit(rows).cluster_centers_

    assert np.abs(np.sort(centres[:, 0]) - [0.1, 0.9]).max() < 0.1
    assert model.guarantees_["collector"].epsilon <= 20.0 and model.spent_.epsilon <= 20.0
    assert "labels_" not in vars(model)


def test_local_says_that_nothing_was_debiased() -> None:
    """Centres of randomised rows are centres of randomised rows, with `debias` and without."""
    rows = {"x": [1, 2, 18, 19] * 50, "y": [0.0, 0.1, 0.8, 0.9] * 50}
    for debias in (True, False):
        made = KMeans(2, EXAMPLES[0].schema, Local(4.0, debias=debias), rng=Random.seeded(1)).fit(rows)

        assert made.post_.startswith("none: learned from randomised rows as they are, not debiased")
        assert "as they are, not debiased" in " ".join(made.summary().split()) and "costs nothing" not in made.summary()


# -- the table that transform returns


def test_distances_come_as_a_frame_with_names_where_it_is_asked_for():
    """As scikit-learn does it: for one learner, in its clones and pipelines, or for all; a pandas index is kept."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    rows = pd.DataFrame(blobs(90), index=np.arange(90)[::-1])
    model = KMeans(3, PLANE, Central(5.0)).fit(rows)
    plain, names = model.transform(rows), ["kmeans0", "kmeans1", "kmeans2"]

    assert isinstance(plain, np.ndarray) and model.get_feature_names_out().tolist() == names
    assert model.feature_names_in_.tolist() == ["x", "y"] and model.n_features_in_ == 2
    framed = model.set_output(transform="pandas").transform(rows)
    assert list(framed.columns) == names and framed.index.equals(rows.index) and (framed.to_numpy() == plain).all()
    assert list(model.transform(rows.to_numpy()).index) == list(range(90))
    assert isinstance(model.set_output(transform=None).transform(rows), pd.DataFrame)
    by_polars = model.set_output(transform="polars").transform(rows)
    assert isinstance(by_polars, pl.DataFrame) and by_polars.columns == names and (by_polars.to_numpy() == plain).all()
    assert isinstance(clone(model).fit_transform(rows), pl.DataFrame)
    assert isinstance(model.set_output(transform="default").transform(rows), np.ndarray)
    pipeline = make_pipeline(KMeans(3, PLANE, Central(5.0))).set_output(transform="pandas").fit(rows)
    assert list(pipeline.transform(rows).columns) == names == pipeline.get_feature_names_out().tolist()
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(KMeans(2, PLANE, Central(5.0)).fit_transform(rows), pd.DataFrame)


def test_an_unknown_container_and_a_learner_that_is_not_fitted_are_refused():
    with pytest.raises(InvalidParameter, match="set_output"):
        KMeans(3).set_output(transform="excel")
    with pytest.raises(MurmureError, match="not fitted"):
        KMeans(3).get_feature_names_out()
