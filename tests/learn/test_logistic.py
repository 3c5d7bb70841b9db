"""Logistic regression: the sums of both methods, Newton in the clear, and noise that adds up.

Nothing here is left to chance: seeds are fixed, and no check has a failure rate, unless its docstring says so.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import murmure as mu
from murmure.certify.checks.sensitivity import check_protected
from murmure.certify.checks.statistics import check_statistic
from murmure.core.errors import InvalidParameter
from murmure.learn.linear import LinearRegression
from murmure.learn.logistic import EXAMPLES, LogisticRegression
from murmure.plan.privacy import Central, Clear, Local
from murmure.statistics.learning import class_sums, gradient, scatter, taylor
from murmure.statistics.learning.class_sums import ClassSums
from murmure.statistics.learning.gradient import FAR, STEPS, Gradient, H, Q, _sigma
from murmure.statistics.learning.scatter import Scatter
from murmure.statistics.learning.taylor import Taylor

TWO = mu.Schema({"a": mu.Integers(0, 4), "b": mu.Integers(0, 4), "y": mu.Categories(["no", "yes"])})
THREE = mu.Schema({"a": mu.Integers(0, 4), "b": mu.Categories(3), "y": mu.Categories(3)})


def every_row(domain):
    sizes = [domain[name].size + isinstance(domain[name], mu.Categories) for name in domain.private]
    return tuple(np.array(list(itertools.product(*map(range, sizes)))).T)


def check_blocks(ask, attained):
    """No row and no exchange moves a block farther than it says; `attained`: and some row as far."""
    rows = every_row(ask.domain)
    lifted, at = ask.lift(rows), 0
    assert (ask.tally(rows) == lifted.sum(axis=0)).all()
    for block in ask.blocks:
        part = lifted[:, at : at + block.width]
        at += block.width
        moved = part[:, None] - part[None]
        assert np.abs(part).sum(axis=1).max() <= block.l1
        assert (part**2).sum(axis=1).max() <= block.l2
        assert np.abs(moved).sum(axis=2).max() <= block.sensitivity("l1", "replace")
        assert (moved**2).sum(axis=2).max() <= block.sensitivity("l2", "replace")
        if attained:
            assert np.abs(part).sum(axis=1).max() == block.l1
            assert (part**2).sum(axis=1).max() == block.l2


# -- the sums ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "example", (*taylor.EXAMPLES, *gradient.EXAMPLES, *class_sums.EXAMPLES, *scatter.EXAMPLES), ids=repr
)
def test_examples_are_statistics_that_a_curator_can_protect(example):
    check_statistic(example)
    check_protected(example, tight=example.bounds_attained)


@pytest.mark.parametrize("schema", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("shape, radius", [("box", None), ("ball", 0.8), ("diamond", None), ("diamond", 0.5)])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_no_row_moves_the_parabola_farther_than_stated(schema, shape, radius, norm):
    check_blocks(Taylor(schema, "y", shape, radius, bits=4, norm=norm), shape == "box")


@pytest.mark.parametrize("shape, radius", [("box", None), ("ball", 0.8), ("diamond", 0.5)])
@pytest.mark.parametrize("at", [(0, 0, 0), (1 << 16, -(1 << 17), 1 << 15), (1 << 24, 0, 0), (-(1 << 24), 1 << 24, 5)])
def test_no_row_moves_the_gradient_farther_than_stated_wherever_it_is_taken(shape, radius, at):
    check_blocks(Gradient(TWO, "y", at, 1, shape, radius, bits=4), shape == "box" and at == (1 << 24, 0, 0))
    check_blocks(Gradient(TWO, "y", at, 1, shape, radius, bits=4, curvature=True), False)


@pytest.mark.parametrize("schema", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("shape, radius", [("box", None), ("ball", 0.8), ("diamond", None), ("diamond", 0.5)])
def test_no_row_moves_class_sums_farther_than_stated(schema, shape, radius):
    check_blocks(ClassSums(schema, "y", shape, radius, bits=4), shape == "box")


@pytest.mark.parametrize("schema, centres", [(TWO, (-16, -5, 0, 3, 16)), (THREE, (-16, 0, 7))], ids=["two", "three"])
@pytest.mark.parametrize("shape, radius", [("box", None), ("ball", 0.8), ("diamond", None), ("diamond", 0.5)])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_no_row_moves_products_farther_than_stated_whatever_the_centre(schema, centres, shape, radius, norm):
    """Every row and every exchange of the whole domain, about points inside and at the ends of the bounds."""
    for first, second in itertools.product(centres, repeat=2):
        centre = (first, second) if schema is TWO else (first, 0, 0)
        check_blocks(Scatter(schema, "y", centre, shape, radius, bits=4, norm=norm), False)


@pytest.mark.parametrize("shape, radius", [("box", None), ("ball", 0.8), ("diamond", 0.5)])
@pytest.mark.parametrize("centre", [(16, -16), (-3, 9)])
@pytest.mark.parametrize("at", [(0, 0, 0), (1 << 13, -(1 << 15), 1 << 14), (-(1 << 24), 1 << 24, 5)])
def test_no_row_moves_the_gradient_about_a_centre_farther_than_stated(shape, radius, centre, at):
    check_blocks(Gradient(TWO, "y", at, 1, shape, radius, bits=4, centre=centre), False)
    check_blocks(Gradient(TWO, "y", at, 1, shape, radius, bits=4, curvature=True, centre=centre), False)


@pytest.mark.parametrize("at", [(0, 0, 0, 0), (1 << 14, -(1 << 15), 1 << 15, 1 << 13), (1 << 24, 0, 0, 0)])
def test_the_largest_residual_is_public_and_attained(at):
    """R = sigma(max |w.v|): half of Q at w = 0, where the first noisy gradient would otherwise cost twice."""
    ask = Gradient(THREE, "y", at, 1, "box", bits=4)
    slopes = np.abs(ask.lift(every_row(THREE))[:, 0]).max()

    assert slopes == ask.max_residual * ask.design.g
    assert ask.blocks[0].l1 == ask.max_residual * ask.design.max_l1
    assert any(at) or ask.max_residual == Q // 2


def test_a_centre_off_the_grid_is_refused():
    for centre in ((17, 0), (1,), (0.5, 0), (0, 0, 0)):
        with pytest.raises(InvalidParameter, match="centre"):
            Scatter(TWO, "y", centre, bits=4)
    with pytest.raises(InvalidParameter, match="0 for indicators"):
        Scatter(THREE, "y", (0, 3, 0), bits=4)


def test_one_row_of_many_classes_costs_no_more_than_one_of_two():
    """The indicators of a row's class: one of them is not zero."""
    two, ten = (
        Taylor(mu.Schema({"a": mu.Integers(0, 4), "y": mu.Categories(k)}), "y", bits=6).blocks[1] for k in (2, 10)
    )
    assert (two.l1, two.l2) == (ten.l1, ten.l2)


def test_sigma_is_a_table_of_whole_numbers():
    sigma, bend = _sigma()

    assert len(sigma) == len(bend) == 2 * (FAR << STEPS) + 1
    assert (np.diff(sigma) >= 0).all()
    assert sigma[0] == 0 and sigma[-1] == Q and sigma[FAR << STEPS] == Q / 2
    assert (sigma + sigma[::-1] == Q).all()
    assert bend.max() == H / 4 and bend.min() == 1


def test_the_gradient_is_that_of_the_loss():
    """Against floats, up to the steps of z (2**-11) and of sigma (2**-14)."""
    g = np.random.default_rng(0)
    schema = mu.Schema({"a": mu.Integers(0, 64), "b": mu.Interval(-2.0, 2.0, cells=64), "y": mu.Categories([0, 1])})
    rows = {"a": g.integers(0, 65, 500), "b": g.uniform(-2, 2, 500), "y": g.integers(0, 2, 500)}
    w = np.array([0.5, -2.0, 1.25])
    ask = Gradient(schema, "y", tuple(int(v) for v in w * 2**16), shape="box", curvature=True)
    x = ask.encode(rows)
    slope = ask.interpret_exact(ask.tally(x), 500)
    held = np.stack([rows["a"], schema["b"].numbers()[x[1]]], axis=1)
    v = np.c_[np.ones(500), (held - ask.design.middles) / ask.design.units]
    p = 1 / (1 + np.exp(-v @ w))

    assert np.allclose(slope.gradient, v.T @ (p - rows["y"]), atol=500 * 2**-12)
    assert np.allclose(slope.curvature, (v.T * (p * (1 - p))) @ v, atol=500 / 64 / 2)


# -- learning ---------------------------------------------------------------------------------------------------------


def some_people(n, seed=0, w=(0.7, 2.0, -1.0, 0.0, 0.5)):
    g = np.random.default_rng(seed)
    X = np.clip(g.normal(0, 1, (n, 4)), -3, 3)
    p = 1 / (1 + np.exp(-(w[0] + X @ w[1:])))
    return X, (g.random(n) < p).astype(int)


def irls(X, y):
    V, w = np.c_[np.ones(len(X)), X], np.zeros(X.shape[1] + 1)
    for _ in range(30):
        p = 1 / (1 + np.exp(-V @ w))
        w = w - np.linalg.solve((V.T * (p * (1 - p))) @ V, V.T @ (p - y))
    return w


SCHEMA = mu.Schema({**{f"x{j}": mu.Interval(-3, 3) for j in range(4)}, "y": mu.Categories([0, 1])})


def test_in_the_clear_it_is_maximum_likelihood():
    X, y = some_people(5000)
    m = LogisticRegression(privacy=Clear()).fit(X, y)

    assert np.allclose(np.append(m.intercept_, m.coef_), irls(X, y), atol=5e-4)
    assert m.coef_.shape == (1, 4) and m.intercept_.shape == (1,)
    assert (m.predict(X) == m.classes_[(m.predict_proba(X)[:, 1] > 0.5).astype(int)]).all()
    assert np.allclose(m.predict_proba(X).sum(axis=1), 1)
    assert m.score(X, y) == np.mean(m.predict(X) == y)


@pytest.mark.filterwarnings("ignore::murmure.core.errors.SchemaWarning")  # arrays, on purpose
def test_labels_and_several_classes():
    X, _ = some_people(2000)
    y = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    m = LogisticRegression(privacy=Clear()).fit(X, y)

    assert sorted(m.classes_) == ["high", "low", "mid"]
    assert m.coef_.shape == (3, 4)
    assert m.score(X, y) > 0.75
    schema = mu.Schema({**{f"x{j}": mu.Interval(-3, 3) for j in range(4)}, "y": mu.Categories(["low", "mid", "high"])})
    noisy = LogisticRegression(schema, "y", Central(20.0), rng=mu.Random.seeded(1)).fit(X, y)
    assert noisy.predict_proba(X).shape == (2000, 3)
    assert np.mean(noisy.predict(X[np.abs(X[:, 0]) > 1]) == y[np.abs(X[:, 0]) > 1]) > 0.95  # the two outer classes


def test_classes_that_can_be_told_apart_end_the_search_too():
    X = np.linspace(-1, 1, 200)[:, None]
    m = LogisticRegression(privacy=Clear(), max_iter=20).fit(X, (X[:, 0] > 0.3).astype(int))

    assert np.isfinite(m.coef_).all()
    assert m.score(X, (X[:, 0] > 0.3).astype(int)) > 0.98


def test_the_parabola_is_twice_the_least_squares_of_plus_and_minus_one():
    """log(1 + e^z) ~ z/2 + z^2/8 gives A w = 2 sum v y: a fact that ties both learners together."""
    X, y = some_people(3000)
    line = LinearRegression(privacy=Clear()).fit(X, 2 * y - 1)
    ask = Taylor(SCHEMA, "y", shape="box")
    x = ask.encode({**{f"x{j}": X[:, j] for j in range(4)}, "y": y})
    m = LogisticRegression(SCHEMA, "y", Clear())
    learned = m._learned(ask, *m._least(ask.interpret_exact(ask.tally(x), 3000)))

    assert np.allclose(learned["coef_"][0], 2 * line.coef_, atol=0.01)
    assert learned["intercept_"][0] == pytest.approx(2 * line.intercept_, abs=0.01)


def loss(m, X, y):
    p = np.clip(m.predict_proba(X)[:, 1], 1e-12, 1 - 1e-12)
    return -np.mean(np.where(y == 1, np.log(p), np.log(1 - p)))


@pytest.mark.filterwarnings("ignore::murmure.core.errors.SchemaWarning")  # arrays, on purpose
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_noisy_gradients_come_nearer_to_the_real_loss_than_the_parabola(delta):
    """n = 20 000, epsilon 1, one seed: about 0.42 against 0.455, the clear has 0.4202."""
    X, y = some_people(20_000)
    clear = loss(LogisticRegression(privacy=Clear()).fit(X, y), X, y)
    taylor_, steps = (
        LogisticRegression(SCHEMA, "y", Central(1.0, delta), method=method, rng=mu.Random.seeded(3)).fit(X, y)
        for method in ("taylor", "gradient")
    )

    assert clear < loss(steps, X, y) < clear + 0.01 < loss(taylor_, X, y) < clear + 0.05
    assert len(taylor_.answers_) == 1 and len(steps.answers_) == 4


@pytest.mark.parametrize("example", EXAMPLES, ids=repr)
def test_the_answers_of_a_fit_cost_what_was_given_and_no_more(example):
    rows = {name: [0] * 30 for name in example.schema}
    fitted = LogisticRegression(**{**example.get_params(deep=False), "rng": mu.Random.seeded(1)}).fit(rows)

    assert fitted.spent_.rho <= example.privacy.cost.rho
    assert fitted.spent_.epsilon <= example.privacy.cost.epsilon
    if example.privacy.pure and example.privacy.epsilon < 50:  # the law of a count spends no more than about 60
        assert fitted.spent_.epsilon > 0.999 * example.privacy.epsilon


@pytest.mark.parametrize("rows", [0, 5])
@pytest.mark.parametrize("method", ["auto", "taylor", "gradient"])
def test_whatever_the_rows_hold_the_fit_succeeds(rows, method):
    cells = {"x0": [None], "x1": ["x"], "x2": [math.inf], "x3": [1e300], "y": ["?"]}
    frame = {name: values * rows for name, values in cells.items()}
    m = LogisticRegression(SCHEMA, "y", Central(1.0), method=method, rng=mu.Random.seeded(rows)).fit(frame)

    assert np.isfinite(m.coef_).all()
    assert ("shares of the classes alone" if method == "auto" else "of the noise") in m.post_


def test_at_the_person_it_learns_both_ways():
    X, y = some_people(30_000)
    rows = {**{f"x{j}": X[:, j] for j in range(4)}, "y": y}
    coarse = mu.Schema({**{f"x{j}": mu.Interval(-3, 3, cells=32) for j in range(4)}, "y": mu.Categories([0, 1])})
    debiased, plain = (
        LogisticRegression(coarse, "y", Local(60.0, debias=d), rng=mu.Random.seeded(1)).fit(rows) for d in (True, False)
    )

    assert debiased.score(X, y) > 0.78 and plain.score(X, y) > 0.75
    assert debiased.guarantees_["reader"].epsilon <= 60
    with pytest.raises(InvalidParameter, match="two classes"):
        LogisticRegression(THREE, "y", Local(1.0)).fit({"a": [1], "b": [1], "y": [1]})


def test_parameters_that_do_not_fit_are_refused_before_any_row_is_read():
    for wrong, said in (
        ({"method": "magic"}, "method"),
        ({"steps": 0}, "steps"),
        ({"max_iter": 1.5}, "max_iter"),
        ({"ridge": "much"}, "ridge"),
        ({"schema": THREE, "method": "gradient"}, "two classes"),
        ({"target": "a"}, "classes"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            LogisticRegression(**{"schema": TWO, "target": "y", "privacy": Central(1.0), **wrong}).fit({})
