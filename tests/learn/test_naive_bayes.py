"""Naive Bayes: the sums, what one row can do to them, what is made of them, and what it costs."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from murmure.certify.checks.statistics import check_statistic
from murmure.core.blocks import NoisySum
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.learn.naive_bayes import NaiveBayes, vaidya_cost
from murmure.plan.privacy import Central, Clear
from murmure.statistics.learning import class_moments
from murmure.statistics.learning.class_moments import NOISE_RATIO, OFFSET, ClassMoments, MomentCoding

MIXED = Schema(
    {
        "sick": Categories(["no", "yes"]),
        "age": Integers(0, 4),
        "smoker": Categories(["never", "once", "daily"]),
        "bmi": Interval(15.0, 45.0, cells=7),
    }
)
EIGHT = Schema({**{f"x{j}": Interval(0.0, 1.0, cells=64) for j in range(8)}, "y": Categories([0, 1])})


def people(n: int = 2000, seed: int = 1) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    sick = draw.random(n) < 0.4
    return {
        "sick": np.where(sick, "yes", "no"),
        "age": np.clip(np.rint(draw.normal(1.5 + sick, 1.0)), 0, 4).astype(int),
        "smoker": np.where(draw.random(n) < 0.3 + 0.4 * sick, "daily", np.where(draw.random(n) < 0.5, "once", "never")),
        "bmi": np.clip(draw.normal(24 + 5 * sick, 4), 15, 45),
    }


def every_row(schema: Schema) -> tuple[np.ndarray, ...]:
    """All codes that rows can have, with the code of nobody for categories."""
    domains = [schema[name] for name in schema.private]
    codes = [range(domain.size + isinstance(domain, Categories)) for domain in domains]
    return tuple(np.array(column) for column in zip(*itertools.product(*codes), strict=True))


# -- the sums


@pytest.mark.parametrize("ask", class_moments.EXAMPLES, ids=repr)
def test_the_statistic_passes_its_checks(ask):
    check_statistic(ask)


@pytest.mark.parametrize(
    "ask",
    [
        ClassMoments(MIXED, "sick"),
        ClassMoments(MIXED, "smoker", "equal"),
        ClassMoments(Schema({"y": Categories(3), "a": Categories(2), "b": Categories(2)}), "y"),
        ClassMoments(Schema({"y": Categories(2), "x": Integers(0, 1), "z": Integers(5, 13)}), "y"),
    ],
    ids=repr,
)
def test_bounds_of_one_row_hold_for_every_row_and_are_attained(ask):
    lifted, at = ask.lift(every_row(ask.domain)), 0
    for block in ask.blocks:
        part = np.abs(lifted[:, at : at + block.width])
        at += block.width

        assert block.l1 == part.sum(axis=1).max()
        assert block.l2 == (part**2).sum(axis=1).max()
    assert at == ask.width
    assert np.abs(lifted).max() <= ask.largest


def test_both_moments_in_one_block_cost_a_quarter_less_than_apart():
    """The formula at the top of the module, on a fine grid; apart they cost x + 1/2 in units of 1 / b2."""
    moments = MomentCoding(20_000, True)
    A, B, _ = moments.factors
    l1, _ = moments.reach(0, 1)
    cost = l1 / (B * moments.top**2)  # at b2 = 1

    assert A / moments.top == pytest.approx(NOISE_RATIO, rel=1e-4)
    assert cost == pytest.approx(NOISE_RATIO / 2 + 1 / 2 + NOISE_RATIO**2 / 8, rel=1e-4)
    assert cost < 0.77 * (NOISE_RATIO + 1 / 2)


def test_the_offset_of_squares_is_the_best_one():
    def cost(m: float) -> float:
        u = np.linspace(0, 1, 20_001)
        return float((NOISE_RATIO * u + np.abs(u * u - m)).max())

    assert cost(OFFSET) <= min(cost(OFFSET - 0.01), cost(OFFSET + 0.01))


def test_shares_of_the_budget_are_least_in_the_error_of_the_log_odds():
    """sum K / e**2 with sum e = 1: any other split is worse. (K of the numbers and of the count, as derived.)"""
    ask = ClassMoments(EIGHT, "y")
    K = np.array([class_moments.count_error(8)] + [class_moments.NUMBER_ERROR] * 8)
    shares = np.array([block.weight for block in ask.blocks])
    shares /= shares.sum()

    def error(e):
        return float((K / (e / e.sum()) ** 2).sum())

    for j in range(len(K)):
        for factor in (0.9, 1.1):
            other = shares.copy()
            other[j] *= factor
            assert error(shares) < error(other)


@pytest.mark.parametrize("split", ["best", "equal"])
@pytest.mark.parametrize("size", [500, 10**6])
def test_large_tables_and_small_ones_give_the_same_integers(monkeypatch, size, split):
    draw = np.random.default_rng(3)
    ask = ClassMoments(Schema({"y": Categories(3), "x": Integers(1, size)}), "y", split)
    x = draw.integers(0, 4, 20_000), draw.integers(0, size, 20_000)
    monkeypatch.setattr(class_moments, "FEW_CELLS", 1 << 30)
    few = ask.tally(x)
    monkeypatch.setattr(class_moments, "FEW_CELLS", 0)

    assert (ask.tally(x) == few).all()
    assert (ask.lift(x).sum(axis=0) == few).all()


def test_a_class_that_is_not_listed_adds_nothing_and_a_category_only_where_it_is_known():
    ask = ClassMoments(MIXED, "sick")
    names = MIXED.private
    row = dict(zip(names, ([1], [4], [2], [6]), strict=True))

    def tally(**other):
        return NoisySum.exact(ask.blocks, ask.tally(tuple(np.array({**row, **other}[name]) for name in names)))

    assert not tally(sick=[2]).sum.any()
    unknown = tally(smoker=[3])
    assert not unknown["smoker: values"].any()
    assert unknown["count"].tolist() == [0, 1]
    assert (unknown["bmi: moments"] == tally()["bmi: moments"]).all()


def test_classes_are_counted_by_their_tables_where_that_is_as_good():
    few = ClassMoments(Schema({"y": Categories(2), "a": Categories(2), "b": Categories(2)}), "y")
    many = ClassMoments(Schema({"y": Categories(2), "a": Categories(9)}), "y")

    assert [block.name for block in few.blocks] == ["a: values", "b: values"]
    assert many.blocks[0].name == "count"
    total = few.tally((np.array([0, 1, 1]), np.array([0, 1, 0]), np.array([1, 1, 0])))
    assert few.interpret_exact(total, 3).counts.tolist() == [1, 2]


def test_squares_of_fine_grids_lose_bits_and_no_accuracy():
    """Whole numbers up to a million: one row adds less than 2**31, so sums of 2**32 rows stay below 2**63."""
    draw = np.random.default_rng(4)
    ask = ClassMoments(Schema({"y": Categories(2), "x": Integers(0, 10**6 - 1)}), "y")
    assert ask.largest < 2**31
    codes = draw.integers(0, 2, 5000), draw.integers(0, 10**6, 5000)

    assert np.allclose(ask.interpret_exact(ask.tally(codes), 5000).mean, ask.reference(codes), rtol=1e-7)
    moments = ask.moments["x"]
    assert moments.reach(0, 1)[0] == np.abs(moments.table()).sum(axis=0).max()


# -- in the clear


def gaussian_by_hand(x, y):
    theta = np.array([x[y == c].mean(axis=0) for c in np.unique(y)])
    var = np.array([x[y == c].var(axis=0) for c in np.unique(y)])
    return theta, var


def test_in_the_clear_it_is_gaussian_naive_bayes_up_to_the_grid():
    draw = np.random.default_rng(5)
    y = draw.integers(0, 3, 3000)
    x = draw.normal(y[:, None] * [1.0, -0.5], 1.0, (3000, 2))
    model = NaiveBayes(privacy=Clear()).fit(x, y)
    theta, var = gaussian_by_hand(x, y)
    step = (x.max(axis=0) - x.min(axis=0)) / 65536

    assert np.abs(model.theta_ - theta).max() <= step.max()
    assert np.allclose(model.var_, var, rtol=1e-4)
    assert model.class_count_.tolist() == np.bincount(y).tolist()


def test_in_the_clear_it_is_scikit_learns():
    bayes = pytest.importorskip("sklearn.naive_bayes", reason="scikit-learn is not installed")
    draw = np.random.default_rng(6)
    y = draw.integers(0, 3, 3000)
    x = draw.normal(y[:, None] * [1.0, -0.5, 0.2], 1.0, (3000, 3))
    ours, theirs = NaiveBayes(privacy=Clear()).fit(x, y), bayes.GaussianNB().fit(x, y)
    assert np.allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=2e-3)

    codes = draw.integers(0, 4, (3000, 2)) * (y[:, None] > 0)
    schema = Schema({"a": Categories(4), "b": Categories(4), "y": Categories(3)})
    ours = NaiveBayes(schema, "y", Clear(), alpha=0.5).fit({"a": codes[:, 0], "b": codes[:, 1], "y": y})
    theirs = bayes.CategoricalNB(alpha=0.5, min_categories=4).fit(codes, y)
    assert np.allclose(ours.predict_log_proba({"a": codes[:, 0], "b": codes[:, 1]}), theirs.predict_log_proba(codes))


def test_categories_are_smoothed_shares():
    rows = {"y": [0, 0, 0, 1], "a": [0, 0, 1, 2]}
    schema = Schema({"a": Categories(3), "y": Categories(2)})
    model = NaiveBayes(schema, "y", Clear(), alpha=1.0).fit(rows)

    assert np.allclose(model.category_prob_["a"], [[3 / 6, 2 / 6, 1 / 6], [1 / 4, 1 / 4, 2 / 4]])
    assert model.predict_proba({"a": [2]})[0] == pytest.approx(np.array([3 / 4 / 6, 1 / 4 * 2 / 4]) / (1 / 8 + 1 / 8))


def test_mixed_columns_multiply():
    rows = people()
    both = NaiveBayes(MIXED, "sick", Clear()).fit(rows)
    one = NaiveBayes(Schema({n: MIXED[n] for n in ("sick", "age", "bmi")}), "sick", Clear()).fit(rows)
    two = NaiveBayes(Schema({n: MIXED[n] for n in ("sick", "smoker")}), "sick", Clear()).fit(rows)
    joined = one.predict_joint_log_proba(rows) + two.predict_joint_log_proba(rows) - np.log(two.class_prior_)

    assert np.allclose(both.predict_joint_log_proba(rows), joined)
    assert both.score(rows) > 0.7
    assert set(both.predict(rows)) == {"no", "yes"}


def test_an_unknown_label_says_nothing_when_predicting_and_a_missing_number_is_refused():
    model = NaiveBayes(Schema({n: MIXED[n] for n in ("sick", "smoker")}), "sick", Clear()).fit(people())
    assert np.allclose(model.predict_proba({"smoker": ["a pipe"]})[0], model.class_prior_)

    model = NaiveBayes(MIXED, "sick", Clear()).fit(people())
    with pytest.raises(InvalidParameter, match="contains NaN"):
        model.predict({"age": [1], "smoker": ["once"], "bmi": [math.nan]})


def test_a_number_beyond_public_bounds_counts_as_the_nearest_one_and_without_them_as_itself():
    rows = people()
    model = NaiveBayes(MIXED, "sick", Clear()).fit(rows)
    far, near = ({"age": [2], "smoker": ["once"], "bmi": [bmi]} for bmi in (1e6, 45.0))
    assert (model.predict_proba(far) == model.predict_proba(near)).all()

    y = np.repeat([0, 1], 50)
    bare = NaiveBayes(privacy=Clear()).fit(np.linspace(0, 1, 100)[:, None], y)
    assert bare.predict_joint_log_proba([[50.0]])[0, 1] < bare.predict_joint_log_proba([[2.0]])[0, 1]


# -- protected


@pytest.mark.parametrize("split", ["best", "equal"])
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_it_spends_what_was_asked_for_and_no_more(split, relation):
    model = NaiveBayes(MIXED, "sick", Central(0.7, relation=relation), split=split, rng=Random.seeded(1)).fit(people())

    assert 0.7 * (1 - 1e-6) < model.guarantees_["reader"].epsilon <= 0.7
    assert model.spent_.epsilon <= 0.7
    assert model.guarantees_["reader"].relation == relation
    assert len(model.plans_) == 1


@pytest.mark.filterwarnings("ignore::murmure.core.errors.SchemaWarning")  # arrays, on purpose
def test_vaidyas_split_is_labelled_with_what_it_costs():
    """Eight numbers: 16/9 nominal + 1 (math: every number is asked twice, and the counts get scale 1)."""
    assert vaidya_cost(1.0, 0, 8) == pytest.approx(16 / 9 + 1)
    assert vaidya_cost(0.9, 3, 0) == pytest.approx(0.9 * 3 / 4 + 1)

    truth = vaidya_cost(0.5, 0, 8)
    draw = np.random.default_rng(1)
    rows = draw.random((400, 8)), draw.integers(0, 2, 400)
    model = NaiveBayes(EIGHT, "y", Central(truth), split="vaidya", rng=Random.seeded(1)).fit(*rows)
    assert model.nominal_epsilon_ == pytest.approx(0.5)
    assert truth * (1 - 1e-6) < model.guarantees_["reader"].epsilon <= truth

    asked, _ = NaiveBayes(EIGHT, "y", Central(truth), split="vaidya")._asked(EIGHT, Central(truth))
    weights = np.array([block.weight for block in asked.blocks])
    assert truth * weights[0] / weights.sum() == pytest.approx(1.0)
    assert truth * weights[1] / weights.sum() == pytest.approx(0.5 / 9)

    with pytest.raises(InvalidParameter, match="spends a pure epsilon of 1 on the class counts"):
        NaiveBayes(EIGHT, "y", Central(1.0), split="vaidya").fit(*rows)


def test_nothing_in_a_row_decides_whether_it_fails():
    rows = {name: list(values) for name, values in people(300).items()}
    rows["sick"][:4] = [None, "perhaps", "", "yes"]
    rows["smoker"][:3] = [None, "a pipe", "once"]
    rows["bmi"][:4] = [math.nan, math.inf, -1e300, 1e300]
    model = NaiveBayes(MIXED, "sick", Central(5.0), rng=Random.seeded(2)).fit(rows)

    assert np.isfinite(model.theta_).all()
    assert (model.var_ > 0).all()


@pytest.mark.parametrize("n", [0, 1])
def test_nobody_or_one_person_gives_a_model_too(n):
    rows = {name: values[:n] for name, values in people(5).items()}
    model = NaiveBayes(MIXED, "sick", Central(1.0), rng=Random.seeded(3)).fit(rows)

    assert np.isfinite(model.predict_log_proba(people(20))).all()


@pytest.mark.parametrize("shrink", [True, False])
@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_any_noisy_sum_gives_a_finite_model(sign, shrink):
    """Counts and squares far below nought, sums beyond their bounds: what noise does to small classes."""
    ask = ClassMoments(MIXED, "sick")
    bound = Central(0.1).plan(ask).bound
    for fill in (1, 10**4):
        summary = ask.interpret(NoisySum(ask.blocks, np.full(ask.width, sign * fill, np.int64), bound.laws))
        learned = NaiveBayes(MIXED, "sick", shrink=shrink)._learned(summary, ask)

        assert (learned["class_prior_"] > 0).all()
        assert (learned["var_"] > 0).all()
        assert all((p > 0).all() and np.allclose(p.sum(axis=1), 1) for p in learned["category_prob_"].values())
        low, high = (MIXED["bmi"].numbers()[i] for i in (0, -1))
        assert (learned["theta_"][:, 1] >= low).all() and (learned["theta_"][:, 1] <= high).all()


def test_shrinking_moves_nothing_where_there_is_no_noise_and_all_of_it_where_there_is_only_noise():
    ask = ClassMoments(MIXED, "sick")
    total = ask.tally(MIXED.encode(people()))
    exact = ask.interpret_exact(total, 2000)
    assert np.allclose(exact.shrunk().theta, exact.theta)
    assert np.allclose(exact.shrunk().var, exact.var)
    assert np.allclose(exact.shrunk().tables[0], exact.tables[0])

    drowned = replace(exact, mean_noise=exact.mean_noise + 1e6, square_noise=exact.square_noise + 1e6)
    assert np.ptp(drowned.shrunk().theta, axis=0).max() < 1e-3


def test_the_model_tends_to_the_exact_one():
    """At epsilon 1000 noise is far below one person; 2000 rows. Seeded: the same outcome at every run."""
    rows = people()
    exact = NaiveBayes(MIXED, "sick", Clear()).fit(rows)
    noisy = NaiveBayes(MIXED, "sick", Central(1000.0), rng=Random.seeded(4)).fit(rows)

    assert np.allclose(noisy.theta_, exact.theta_, atol=0.02)
    assert np.allclose(noisy.predict_proba(rows), exact.predict_proba(rows), atol=0.02)
    assert noisy.seeded_ and not exact.seeded_


def test_a_table_of_class_and_value_is_as_large_as_a_pair_may_be():
    """10,000 classes times 10,000 values took gigabytes before it failed."""
    schema = Schema({"a": Categories(10_000), "y": Categories(10_000)})
    with pytest.raises(InvalidParameter, match="10,000 times 10,000"):
        ClassMoments(schema, "y")

    assert ClassMoments(Schema({"a": Categories(1 << 10), "y": Categories(1 << 10)}), "y").width > 1 << 20


def test_wrong_settings_are_refused_before_any_row_is_read():
    rows = people(20)
    with pytest.raises(InvalidParameter, match="split"):
        NaiveBayes(MIXED, "sick", Clear(), split="halves").fit(rows)
    with pytest.raises(InvalidParameter, match="alpha"):
        NaiveBayes(MIXED, "sick", Clear(), alpha=0).fit(rows)
    with pytest.raises(InvalidParameter, match="must be Categories"):
        NaiveBayes(MIXED, "age", Central(1.0)).fit(rows)
    with pytest.raises(InvalidParameter, match="coarser grid"):
        NaiveBayes(Schema({"y": Categories(2), "x": Integers(0, 10**7)}), "y", Central(1.0)).fit({"y": [0], "x": [1]})
