"""Linear regression: exact sensitivities, the clear as lstsq has it, noise as stated, and what is said about it.

Nothing here is left to chance: seeds are fixed, and no check has a failure rate, unless its docstring says so.
"""

from __future__ import annotations

import itertools
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import murmure as mu
from murmure.certify.checks.sensitivity import check_protected
from murmure.certify.checks.statistics import check_statistic
from murmure.core.errors import InvalidParameter
from murmure.learn.least_squares import clear_of_noise, solve, weight_covariance
from murmure.learn.linear import EXAMPLES, LinearRegression, lecture_cost
from murmure.learn.local_sums import _Readings, unbiased_products
from murmure.local.spl import SPL
from murmure.plan.privacy import Central, Clear, Local
from murmure.statistics.base.grid_design import Axis, max_sum_of
from murmure.statistics.learning import gram
from murmure.statistics.learning.gram import Gram

ONE = mu.Schema({"x": mu.Integers(0, 8), "y": mu.Integers(0, 2)})
TWO = mu.Schema({"x": mu.Integers(0, 4), "z": mu.Integers(0, 4), "y": mu.Integers(0, 4)})
LABELS = mu.Schema({"x": mu.Integers(0, 4), "z": mu.Categories(4), "y": mu.Integers(0, 4)})
SHAPES = [("box", None), ("unit", None), ("ball", 0.7), ("ball", 1.2), ("diamond", None), ("diamond", 0.5)]


def every_row(domain):
    sizes = [domain[name].size + isinstance(domain[name], mu.Categories) for name in domain.private]
    return tuple(np.array(list(itertools.product(*map(range, sizes)))).T)


# -- the sums --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", gram.EXAMPLES, ids=repr)
def test_examples_are_statistics_that_a_curator_can_protect(example):
    check_statistic(example)
    check_protected(example, tight=example.bounds_attained)


@pytest.mark.parametrize("schema", [ONE, TWO, LABELS], ids=["one", "two", "labels"])
@pytest.mark.parametrize("shape, radius", SHAPES)
@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("intercept", [True, False])
def test_no_row_of_a_small_grid_moves_the_sums_farther_than_stated(schema, shape, radius, norm, intercept):
    ask = Gram(schema, "y", intercept, shape, radius, bits=4, norm=norm)
    lifted, (block,) = ask.lift(every_row(schema)), ask.blocks
    assert (ask.tally(every_row(schema)) == lifted.sum(axis=0)).all()
    moved = lifted[:, None] - lifted[None]

    assert np.abs(lifted).sum(axis=1).max() <= block.l1
    assert (lifted**2).sum(axis=1).max() <= block.l2
    assert np.abs(moved).sum(axis=2).max() <= block.sensitivity("l1", "replace")
    assert (moved**2).sum(axis=2).max() <= block.sensitivity("l2", "replace")
    if shape in ("box", "unit"):
        assert np.abs(lifted).sum(axis=1).max() == block.l1
        assert (lifted**2).sum(axis=1).max() == block.l2


def test_exchanging_rows_of_the_box_moves_the_sums_no_farther_than_adding_one():
    """|zz' - ww'| <= (2 + d)^2, and the grid attains it; twice as much would be waste."""
    for schema in (ONE, TWO):
        ask = Gram(schema, "y", shape="box", bits=4)
        lifted = ask.lift(every_row(schema))
        worst = max(int(np.abs(lifted - row).sum(axis=1).max()) for row in lifted)

        assert worst == ask.blocks[0].sensitivity("l1", "replace") == ask.blocks[0].l1


@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_delta_is_that_of_the_papers(d):
    columns = {f"x{j}": mu.Interval(-1, 1, cells=1024) for j in range(d)}
    schema = mu.Schema({**columns, "y": mu.Integers(0, 1)})

    assert Gram(schema, "y", shape="box").sensitivity() == pytest.approx((2 + d) ** 2, rel=2e-3)
    assert Gram(schema, "y", shape="unit").sensitivity() == pytest.approx((2 + math.sqrt(d)) ** 2, rel=2e-2)
    assert Gram(schema, "y", shape="ball", radius=1.0).sensitivity() <= (1 + math.sqrt(2 * (1 + d))) ** 2
    assert Gram(schema, "y", shape="diamond", radius=0.5).sensitivity() == pytest.approx(2.5**2, rel=1e-6)
    two = Gram(schema, "y", shape="ball", radius=1.0, norm="l2").blocks[0]
    assert two.l2 <= 25 * (3 * 2**28) ** 2
    assert two.sensitivity("l2", "replace") == 2 * two.l2


def test_rows_end_up_inside_their_shape_to_the_last_unit():
    """The factor is a float; the norms after cutting are whole numbers, and never pass the stated ones."""
    g = np.random.default_rng(3)
    for d, bits in ((1, 3), (3, 14), (9, 16), (30, 16)):
        schema = mu.Schema({**{f"x{j}": mu.Interval(0, 1, cells=60_000) for j in range(d)}, "y": mu.Integers(0, 1)})
        x = (*(g.integers(0, 60_000, 20_000) for _ in range(d)), g.integers(0, 2, 20_000))
        for shape, radius in (("ball", None), ("ball", 0.31), ("diamond", None), ("diamond", 0.77)):
            ask = Gram(schema, "y", shape=shape, radius=radius, bits=bits)
            for z in ask.design.blocks(x, ask.outcome):
                v = z[:-1].astype(np.int64)
                assert np.abs(v).sum(axis=0).max() <= ask.design.max_l1
                assert (v * v).sum(axis=0).max() <= ask.design.max_squares
                assert (v**4 // 2**20).sum(axis=0).max() <= ask.design.max_fourths // 2**20 + d


def test_the_largest_sum_with_bounded_squares_is_exact():
    for squares in range(1, 60):
        for count in (1, 2, 3):
            found = max(sum(v) for v in itertools.product(range(8), repeat=count) if sum(q * q for q in v) <= squares)
            assert max_sum_of(squares, count) == found


def test_a_row_counts_the_same_whatever_stands_beside_it():
    """Weighing is done row by row: sums of pieces are the sum, bit for bit."""
    g = np.random.default_rng(0)
    schema = mu.Schema({**{f"x{j}": mu.Interval(0, 1, cells=777) for j in range(7)}, "y": mu.Integers(0, 1)})
    x = (*(g.integers(0, 777, 999) for _ in range(7)), g.integers(0, 2, 999))
    for shape in ("ball", "diamond"):
        ask = Gram(schema, "y", shape=shape)
        lifted = ask.lift(x)
        for row in (0, 7, 500, 998):
            assert (ask.lift(tuple(column[row : row + 1] for column in x))[0] == lifted[row]).all()


def test_a_label_that_nobody_holds_takes_its_whole_row_out():
    rows = {"x": [1, 2, 3], "z": [0, "?", 3], "y": [0, 4, 2]}
    ask = Gram(LABELS, "y")
    kept = {name: [values[0], values[2]] for name, values in rows.items()}

    assert (ask.tally(ask.encode_lenient(rows)) == ask.tally(ask.encode(kept))).all()


def test_values_go_to_the_grid_and_back_exactly():
    """Columns with far fewer values than the grid are exact: value = middle + unit * u."""
    for domain in (mu.Integers(-3, 40), mu.Interval(2.0, 7.0, cells=100), mu.Integers(0, 1)):
        axis, codes = Axis(domain, 1 << 14), np.arange(domain.size)
        u = np.empty((1, domain.size))
        axis.fill(codes, u)
        assert np.allclose(axis.middle + axis.unit * u[0], domain.numbers(), rtol=1e-14)
        assert np.abs(u).max() == axis.largest <= 1 << 14
    fine, u = Axis(mu.Integers(0, 10**6), 1 << 10), np.empty((1, 3))
    fine.fill(np.array([0, 10**6, 300_000]), u)
    assert u[0].tolist() == [-1024, 1024, -410]
    assert round(Fraction((2 * 300_000 - 10**6) * 1024, 10**6)) == -410


# -- in the clear -----------------------------------------------------------------------------------------------------


def some_people(n=2000, seed=0):
    g = np.random.default_rng(seed)
    age, place = g.integers(18, 90, n), g.integers(0, 3, n)
    income = np.floor(g.uniform(0, 10, n) / 10 * 512) / 512 * 10 + 10 / 1024  # cell midpoints
    y = np.clip(np.rint(40 + 0.5 * age - 3 * income + np.array([0, 5, -7])[place] + g.normal(0, 4, n)), 0, 120)
    return {"age": age, "income": income, "place": np.array(["a", "b", "c"])[place], "y": y.astype(int)}


PEOPLE = mu.Schema(
    {
        "age": mu.Integers(18, 90),
        "income": mu.Interval(0.0, 10.0, cells=512),
        "place": mu.Categories(["a", "b", "c"]),
        "y": mu.Integers(0, 120),
    }
)


def dummies(rows):
    b, c = (np.asarray(rows["place"]) == label for label in "bc")
    return np.stack([np.ones(len(b)), rows["age"], rows["income"], b, c], axis=1)


@pytest.mark.parametrize("intercept", [True, False])
def test_in_the_clear_it_is_least_squares(intercept):
    rows = some_people()
    m = LinearRegression(PEOPLE, "y", Clear(), fit_intercept=intercept).fit(rows)
    V = dummies(rows)[:, 0 if intercept else 1 :]
    wanted, left, _, _ = np.linalg.lstsq(V, rows["y"].astype(float), rcond=None)
    params = np.append(m.intercept_, m.coef_)[0 if intercept else 1 :]

    assert np.allclose(params, wanted, rtol=1e-9)
    bars = np.sqrt(left[0] / (len(V) - V.shape[1]) * np.diag(np.linalg.inv(V.T @ V)))
    assert np.allclose(m.bse_[0 if intercept else 1 :], bars, rtol=1e-9)
    assert intercept or m.intercept_ == 0
    assert np.allclose(m.predict(rows), V @ wanted)
    assert m.score(rows) == pytest.approx(1 - left[0] / ((rows["y"] - rows["y"].mean()) ** 2).sum())
    assert m.names_ == ("intercept", "age", "income", "place=b", "place=c")


def test_in_the_clear_arrays_need_no_schema():
    g = np.random.default_rng(1)
    X = g.normal(size=(500, 3))
    y = X @ [1.0, -2.0, 0.5] + 3 + 0.1 * g.normal(size=500)
    m = LinearRegression(privacy=Clear()).fit(X, y)
    wanted = np.linalg.lstsq(np.c_[np.ones(500), X], y, rcond=None)[0]

    assert np.allclose(np.append(m.intercept_, m.coef_), wanted, atol=1e-4)  # 2**-17 of the range of y
    assert m.post_.startswith("none")


def test_rows_that_are_weighed_down_leave_a_linear_model_as_it_is():
    """y is a straight line without error: any weights give it back. Moving x alone, as clipping does, would not."""
    g = np.random.default_rng(2)
    x = {f"x{j}": g.integers(0, 1025, 3000) for j in range(3)}
    y = 2 * x["x0"] - x["x1"] + 4 * x["x2"]
    schema = mu.Schema({**{name: mu.Integers(0, 1024) for name in x}, "y": mu.Integers(-1024, 6 * 1024)})
    for shape, radius in (("diamond", 0.5), ("ball", 0.4)):
        m = LinearRegression(schema, "y", Clear(), shape=shape, radius=radius).fit({**x, "y": y})
        assert np.allclose(m.coef_, [2, -1, 4], atol=2e-3)
        assert m.intercept_ == pytest.approx(0, abs=1)


def test_a_column_that_does_not_vary_gets_no_coefficient_and_no_bars():
    rows = {"x": [3] * 6, "z": [0, 1, 2, 3, 4, 4], "y": [0, 1, 2, 3, 4, 4]}
    m = LinearRegression(TWO, "y", Clear()).fit(rows)

    assert np.allclose(m.coef_, [0, 1])
    assert m.bse_ is None
    assert "without variation" in m.post_


# -- under a curator --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method, delta", [("functional", 0.0), ("gaussian", 1e-6), ("adassp", 1e-6)])
def test_with_much_data_the_coefficients_come_back_with_bars(method, delta):
    """z-scores of five coefficients below 5: fails for a wrong law or a wrong bar; the seed is fixed."""
    rows, truth = some_people(50_000), [40, 0.5, -3, 5, -7]
    m = LinearRegression(PEOPLE, "y", Central(2.0, delta), method=method, rng=mu.Random.seeded(5)).fit(rows)

    assert m.bse_ is not None
    assert (np.abs(np.append(m.intercept_, m.coef_) - truth) < 5 * m.bse_).all()
    clear = LinearRegression(PEOPLE, "y", Clear()).fit(rows)
    assert (m.bse_ > clear.bse_).all()
    assert m.guarantees_["reader"].delta == delta
    assert m.spent_.epsilon <= 2.0 or delta


def test_the_noise_has_the_stated_scale():
    m = LinearRegression(PEOPLE, "y", Central(0.5))
    ask = m._asked(PEOPLE, m.privacy)
    law = m.privacy.plan(ask).bound.laws[0]

    assert law.variance == pytest.approx(2 * (ask.blocks[0].l1 / 0.5) ** 2, rel=1e-6)
    # diamond: |x|_1 <= 3/8 of three columns, so Delta = (2 + 9/8)^2, but for columns that do not fill the grid
    assert ask.sensitivity() == pytest.approx((2 + 9 / 8) ** 2, rel=1e-2)


@pytest.mark.parametrize("rows", [0, 3, 40])
def test_whatever_the_rows_hold_the_fit_succeeds_and_says_what_was_done(rows):
    """No rows, few rows, cells of any kind: judged on noisy sums, never refused."""
    cells = {"age": [None, "x", 1e300], "income": [math.inf, "7", None], "place": ["?", None, 3], "y": [None, -5, "a"]}
    frame = {name: (values * rows)[:rows] for name, values in cells.items()}
    for privacy, method in ((Central(1.0), "functional"), (Central(1.0, 1e-6), "adassp"), (Central(1.0), "lecture")):
        m = LinearRegression(PEOPLE, "y", privacy, method=method, rng=mu.Random.seeded(rows)).fit(frame)
        assert np.isfinite(m.coef_).all()
        assert math.isfinite(m.intercept_)
        assert m.bse_ is None
        said = {"functional": "ridge of 2 dev", "adassp": "AdaSSP ridge", "lecture": "ridge of 4 dev"}
        assert said[method] in m.post_


def test_no_bars_where_a_ridge_or_trimming_bites():
    rows = some_people(60)
    m = LinearRegression(PEOPLE, "y", Central(0.1), rng=mu.Random.seeded(1)).fit(rows)

    assert m.bse_ is None and m.cov_ is None
    assert m.post_.startswith("fewer people") or "ridge of 2 deviations" in m.post_
    forced = LinearRegression(PEOPLE, "y", Central(50.0), ridge=4.0, rng=mu.Random.seeded(1)).fit(some_people(5000))
    assert forced.post_ == "ridge of 4 deviations of the noise"
    assert forced.bse_ is None


def test_the_summary_says_why_there_are_no_standard_errors():
    """In words that somebody who fits a line understands: a ridge, whose it was, and what it does."""
    biased = "the coefficients are biased towards zero, so no standard errors are given"
    rows, seed = some_people(300), mu.Random.seeded(1)
    flat = {**rows, "age": np.full(300, 40)}
    for m, data, why in (
        (
            LinearRegression(PEOPLE, "y", Central(0.1), rng=seed),
            rows,
            f"a ridge was added because the noise is large compared with the data: {biased}",
        ),
        (
            LinearRegression(PEOPLE, "y", Central(50.0), ridge=4.0, rng=seed),
            rows,
            f"ridge=4 was asked for, whatever the noise is: {biased}",
        ),
        (
            LinearRegression(PEOPLE, "y", Central(9.0), method="lecture", rng=seed),
            rows,
            f"method='lecture' adds a ridge: {biased}",
        ),
        (LinearRegression(PEOPLE, "y", Clear()), flat, "some columns do not vary, or repeat others"),
    ):
        assert m.fit(data).bse_ is None
        assert f"std err: none: {why}" in " ".join(m.summary().split())


def test_the_lectures_noise_costs_more_at_one_column_and_less_at_many():
    assert lecture_cost(10.0, 1) == 11.25
    assert lecture_cost(1.0, 1) == 1.125
    assert lecture_cost(1.0, 8) == pytest.approx((2 + math.sqrt(8)) ** 2 / 162)
    assert Fraction(lecture_cost(0.1, 2)) >= Fraction(0.1) * Fraction(11656, 1000) / 18
    m = LinearRegression(ONE, "y", Central(11.25), method="lecture", rng=mu.Random.seeded(1))
    m.fit({"x": [0, 4, 8], "y": [0, 1, 2]})
    assert m.nominal_epsilon_ == pytest.approx(10.0)
    assert m.spent_.epsilon <= 11.25
    law = m.privacy.plan(m._asked(ONE, m.privacy)).bound.laws[0]
    assert math.sqrt(law.variance / 2) / 2**28 == pytest.approx(2 * (1 + 1) ** 2 / 10, rel=1e-6)  # 2 (1+d)^2 / epsilon


def test_parameters_that_do_not_fit_are_refused_before_any_row_is_read():
    rows = {"x": [1], "z": [1], "y": [1]}
    for wrong, said in (
        ({"method": "magic"}, "method"),
        ({"method": "adassp"}, "delta > 0"),
        ({"ridge": -1.0}, "ridge"),
        ({"shape": "cube"}, "shape"),
        ({"radius": 0.0}, "radius"),
        ({"privacy": Central(1.0, 1e-6), "method": "lecture"}, "delta = 0"),
        ({"target": "w"}, "target"),
        ({"schema": None}, "schema"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            LinearRegression(**{"schema": TWO, "target": "y", "privacy": Central(1.0), **wrong}).fit(rows)
    with pytest.raises(InvalidParameter, match="number"):
        LinearRegression(LABELS, "z", Central(1.0)).fit({"x": [1], "z": [1], "y": [1]})
    with pytest.raises(InvalidParameter, match="NaN"):
        LinearRegression(TWO, "y", Clear()).fit({"x": [1, 2], "z": [1, 0], "y": [1, 2]}).predict([[math.nan, 1.0]])


def test_a_fitted_model_travels_and_repeats():
    rows = some_people(500)
    one, two = (LinearRegression(PEOPLE, "y", Central(1.0), rng=mu.Random.seeded(9)).fit(rows) for _ in range(2))

    assert (one.coef_ == two.coef_).all()
    assert (pickle.loads(pickle.dumps(one)).predict(rows) == one.predict(rows)).all()
    again = LinearRegression(**one.get_params(deep=False)).fit(rows)
    assert (again.coef_ != one.coef_).any()  # the generator has moved on


@pytest.mark.parametrize("example", EXAMPLES, ids=repr)
def test_examples_spend_what_they_were_given_and_no_more(example):
    rows = {name: [0] * 30 for name in example.schema}
    fitted = LinearRegression(**{**example.get_params(deep=False), "rng": mu.Random.seeded(1)}).fit(rows)

    assert fitted.spent_.rho <= example.privacy.cost.rho
    assert fitted.spent_.epsilon <= example.privacy.cost.epsilon


# -- solving ----------------------------------------------------------------------------------------------------------


def test_what_is_done_to_a_matrix_depends_on_the_noise():
    A, b = np.diag([100.0, 50.0]), np.array([100.0, 50.0])

    assert clear_of_noise(2, 1.0) == pytest.approx(2 + 2 * math.sqrt(2))
    assert solve(A, b, 1.0, constant=False).plain
    assert np.allclose(solve(A, b, 1.0, constant=False).weights, 1)
    assert np.allclose(solve(A, b, 10.0, ridge=5.0, constant=False).weights, [100 / 150, 50 / 100])
    bent = np.diag([100.0, -3.0])
    trimmed = solve(bent, b, 10.0, constant=False)
    assert np.allclose(trimmed.weights, [100 / (100 + 10 * math.sqrt(2)), 0])
    assert trimmed.post_processing == "ridge of 1.41 deviations of the noise; 1 of 2 directions trimmed"
    raised = solve(bent, b, 2.0, ridge=1.0, trim=False, constant=False)  # a ridge of 2 would leave -1
    assert np.allclose(raised.weights, [100 / 105, 50 / 2])
    ada = solve(np.diag([1000.0, 900.0]), b, 1.0, "adassp", constant=False)
    assert ada.plain


def test_the_constant_is_not_pulled_to_zero():
    """Mean 3 and no slope: however strong the ridge, the level stays."""
    A, b = np.array([[100.0, 0.0], [0.0, 1.0]]), np.array([300.0, 0.0])
    assert np.allclose(solve(A, b, 10.0, ridge=1000.0).weights, [3, 0])


def test_the_covariance_of_the_noise_is_the_exact_one_to_first_order():
    """Small noise, added many times: the spread of the solutions is what the formula says (4000 draws, within 8%)."""
    g = np.random.default_rng(0)
    V = np.c_[np.ones(400), g.uniform(-1, 1, (400, 2))]
    z = np.c_[V, V @ [0.2, 0.5, -0.4]]  # no residual: no sampling error
    Z, noise = z.T @ z, np.full((4, 4), 1e-4)
    noise[np.diag_indices(4)] = 4e-4
    rows, outcome = np.eye(3, 4), np.eye(4)[-1]
    w = np.linalg.solve(Z[:3, :3], Z[:3, 3])
    c = np.append(-w, 1)
    found = []
    for _ in range(4000):
        N = np.triu(g.normal(size=(4, 4)) * np.sqrt(noise))
        N = N + np.triu(N, 1).T
        found.append(np.linalg.solve((Z + N)[:3, :3], (Z + N)[:3, 3]))
    cov = weight_covariance(Z, noise, rows, outcome, w)
    floor = math.sqrt(2 * (c**2 @ noise @ c**2) - c**4 @ np.diag(noise)) / (Z[0, 0] - 3)
    cov = cov - floor * np.linalg.inv(Z[:3, :3])  # the cautious floor of a residual that noise has hidden
    assert np.allclose(np.sqrt(np.diag(cov)), np.std(found, axis=0), rtol=0.08)
    assert np.allclose(cov, np.cov(np.array(found).T), atol=0.08 * np.diag(cov).max())


# -- at the person ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("numeric", ["Piecewise", "Hybrid"])
def test_readings_of_reports_are_unbiased_for_the_column_and_for_its_square(numeric):
    """By the law's own integers: sum_y P[y | c] r(y) = z and sum_y P[y | c] r2(y) = z^2, for every code."""
    schema = mu.Schema(
        {"x": mu.Integers(0, 6), "w": mu.Interval(0.0, 2.0, cells=5), "z": mu.Categories(4), "y": mu.Categories([0, 1])}
    )
    mechanism = SPL(schema, 8.0, oracle=(numeric, numeric, "GRR", "GRR"))
    ask = Gram(schema, "y", shape="box")
    for name, part in zip(schema.private, mechanism.parts, strict=True):
        reading = _Readings.of(schema, name, part, ask)
        size = schema[name].size
        z = np.empty((reading.width, size))
        reading.axis.fill(np.arange(size), z)
        law = np.array([[float(part.channel.prob(c, y)) for y in range(len(reading.value))] for c in range(size)])
        assert np.allclose(law @ reading.value, z.T / ask.design.g, atol=1e-6)
        if reading.square is not None:
            assert np.allclose(law @ reading.square, (z.T / ask.design.g) ** 2, atol=1e-6)


def test_sums_from_reports_lie_around_the_true_sums():
    """Within 5 of their standard errors, squares too, which products of reports would miss by hundreds. One seed."""
    rows = some_people(4000)
    ask = Gram(PEOPLE, "y", shape="box")
    truth = ask.interpret_exact(ask.tally(ask.encode(rows)), 4000).sums
    got, _ = unbiased_products(ask, rows, Local(12.0), mu.Random.seeded(4))

    assert (np.abs(got.sums - truth) <= 5 * np.sqrt(got.noise) + 1e-9).all()
    assert (got.sums[[3, 4], [4, 3]] == 0).all()  # nobody has two labels


def test_at_the_person_it_learns_both_ways():
    """At a large budget unbiased sums come near the truth; rows as they are lean to 0."""
    rows = some_people(60_000)
    debiased = LinearRegression(PEOPLE, "y", Local(60.0), rng=mu.Random.seeded(2)).fit(rows)
    plain = LinearRegression(PEOPLE, "y", Local(8.0, debias=False), rng=mu.Random.seeded(2)).fit(rows)

    assert np.allclose(debiased.coef_, [0.5, -3, 5, -7], rtol=0.15)
    assert (np.abs(plain.coef_) < np.abs([0.5, -3, 5, -7])).all()
    assert debiased.guarantees_["reader"].epsilon <= 60
    assert plain.bse_ is None and debiased.bse_ is None
    with pytest.raises(InvalidParameter, match="Duchi"):
        LinearRegression(PEOPLE, "y", Local(8.0, mechanism="Duchi")).fit(rows)


def test_a_bound_that_is_too_small_is_found():
    """The mutant of the sums: one unit less than a corner of the box adds."""
    ask = Gram(TWO, "y", shape="box", bits=4)

    class Small(Gram):
        @property
        def blocks(self):
            return tuple(replace(b, l1=b.l1 - 1, replace_l1=None) for b in super().blocks)

    check_protected(ask)
    with pytest.raises(AssertionError):
        check_protected(Small(TWO, "y", shape="box", bits=4))
