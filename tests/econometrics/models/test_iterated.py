"""What takes rounds: quantiles by bisection, k-means, scores of one's own; and what decides the next step."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import statsmodels.api as sm

import murmure as mu
from murmure.core.errors import InvalidParameter, MurmureError, PlanRefused
from murmure.econometrics import ask, kmeans, logit, mle, quantile
from murmure.econometrics.errors import FitFailed, NotConverged, Separated
from murmure.econometrics.model import digest_of, model_from_dict, model_to_dict
from murmure.econometrics.models.bisection import Bisection
from murmure.econometrics.models.glm import Logit
from murmure.econometrics.steps.custom_score import MLE
from murmure.econometrics.steps.newton import RoundLimit, _no_worse, _refuse_separated
from murmure.plan.plan import Plan


def split(rows, parties=5):
    return [{name: column[i::parties] for name, column in rows.items()} for i in range(parties)]


ROWS = {
    "age": [(i * i * 7 + 3 * i) % 83 for i in range(97)],
    "dose": [((i * 13) % 40) / 20 for i in range(97)],
    "stay": [(i * 29 + i // 7) % 31 for i in range(97)],
}
SCHEMA = mu.Schema({"age": mu.Integers(0, 120), "dose": mu.Decimals(0, 3, 2), "stay": mu.Integers(0, 60)})


# -- quantiles --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("column", ["age", "dose"])
def test_quantiles_are_exact(between, column):
    probabilities = [0, 0.1, 0.25, 0.5, 0.75, 0.99, 1]
    data, privacy = (split(ROWS), mu.Secure(rows_are_public=True)) if between else (ROWS, None)
    found = quantile(column, data, probabilities, schema=SCHEMA, privacy=privacy)
    expected = np.quantile(ROWS[column], probabilities, method="inverted_cdf")

    assert [float(v) for v in found.values] == expected.tolist()
    assert found.low == found.high
    assert found.how.rounds <= (7 if column == "age" else 9)  # ceil(log2(values))


def test_every_count_that_was_released_is_listed_and_true():
    found = quantile("age", ROWS, 0.5, schema=SCHEMA)

    assert len(found.counts) == found.how.rounds
    for point, count in found.counts:
        assert count == sum(v <= point for v in ROWS["age"])


def test_a_tolerance_saves_rounds():
    found = quantile("dose", ROWS, 0.5, tolerance=0.25, schema=SCHEMA)

    assert found.how.rounds == 4  # 300 steps halved until 25 are left
    assert found.low[0] <= Fraction(str(np.quantile(ROWS["dose"], 0.5, method="inverted_cdf"))) <= found.high[0]
    assert found.high[0] - found.low[0] <= Fraction(1, 4)


def test_a_column_in_cells_is_found_by_its_cells():
    schema = mu.Schema({"dose": mu.Interval(0.0, 3.0, cells=7)})
    found = quantile("dose", ROWS, 0.5, schema=schema)
    middles = np.array([(2 * k + 1) * 3 / 14 for k in range(7)])
    cells = middles[np.minimum((np.array(ROWS["dose"]) / 3 * 7).astype(int), 6)]

    assert float(found.values[0]) == pytest.approx(np.quantile(cells, 0.5, method="inverted_cdf"))


@pytest.mark.parametrize(("low", "high", "cells"), [(0.0, 1.0, 3), (-2.0, 5.0, 9), (0.0, 1.0, 7000), (3.0, 3.001, 11)])
def test_cells_that_no_decimal_ends_are_divided_between_their_ends(low, high, cells):
    """The number of the condition x <= t lies at the value of its code or above, and below the next one."""
    domain = mu.Schema({"x": mu.Interval(low, high, cells=cells)})
    model = Bisection(domain, "x", ("0.5",))
    for code in (0, 1, cells // 2, cells - 2):
        column, _, number = model._below(code).partition(" <= ")

        assert column == "x" and model._value(code) <= Fraction(number) < model._value(code + 1)


def test_one_value_and_one_row():
    assert quantile("x", {"x": [7]}, [0, 0.5, 1], schema=mu.Schema({"x": mu.Integers(0, 9)})).values == (7, 7, 7)


def test_wrong_quantiles():
    for wrong in ([], [1.5], [-0.1], ["half"], [0.5, 0.5]):
        with pytest.raises(InvalidParameter):
            quantile("age", ROWS, wrong, schema=SCHEMA)
    with pytest.raises(InvalidParameter, match="tolerance"):
        quantile("age", ROWS, 0.5, tolerance=-1, schema=SCHEMA)
    with pytest.raises(PlanRefused, match="Quantile"):
        quantile("age", ROWS, 0.5, schema=SCHEMA, privacy=mu.Central(1.0))


# -- k-means ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("between", [False, True])
def test_lloyd_goes_where_scikit_learn_goes(between):
    from sklearn.cluster import KMeans

    X = np.column_stack([ROWS["age"], ROWS["stay"]]).astype(float)
    start = [[10, 5], [40, 20], [70, 10]]
    expected = KMeans(3, init=np.array(start, float), n_init=1, tol=0, algorithm="lloyd").fit(X)
    data, privacy = (split(ROWS), mu.Secure(rows_are_public=True)) if between else (ROWS, None)
    found = kmeans(data, ["age", "stay"], 3, centres=start, schema=SCHEMA, privacy=privacy)

    assert found.settled
    np.testing.assert_allclose(found.cluster_centers, expected.cluster_centers_, rtol=1e-12)
    assert found.inertia == pytest.approx(expected.inertia_, rel=1e-12)
    assert list(found.counts) == np.bincount(expected.labels_).tolist()


def test_centres_start_from_public_bounds_and_an_empty_one_stays():
    rows = {"x": [1, 2, 3, 4] * 5}
    found = kmeans(rows, ["x"], 2, schema=mu.Schema({"x": mu.Integers(0, 1000)}))

    assert found.counts == (20, 0)
    assert found.centres == ((Fraction(5, 2),), (Fraction(750),))
    assert "nobody is near" in found.summary()


def test_rounds_that_run_out_are_said():
    found = kmeans(ROWS, ["age", "stay"], 4, schema=SCHEMA, rounds=1)

    assert not found.settled
    assert "not settled" in found.summary()


def test_scaled_distances_know_no_units():
    far = ROWS | {"age": [v * 1000 for v in ROWS["age"]]}
    wide = mu.Schema({"age": mu.Integers(0, 120_000), "stay": SCHEMA["stay"]})
    ours = kmeans(ROWS, ["age", "stay"], 3, schema=SCHEMA, scaled=True)
    theirs = kmeans(far, ["age", "stay"], 3, schema=wide, scaled=True)

    assert ours.counts == theirs.counts


def test_wrong_clusters():
    for wrong in ({"clusters": 0}, {"clusters": 2, "centres": [[1]]}, {"clusters": 1, "centres": [["a", "b"]]}):
        with pytest.raises(InvalidParameter):
            kmeans(ROWS, ["age", "stay"], schema=SCHEMA, **wrong)


# -- a score of one's own ---------------------------------------------------------------------------------------------

SPECTOR = ["GRADE", "GPA", "TUCE", "PSI"]


def design(rows):
    return np.stack([np.ones_like(rows["GPA"]), rows["GPA"], rows["TUCE"], rows["PSI"]], axis=1)


def score(theta, rows):
    X = design(rows)
    return X * (rows["GRADE"] - 1 / (1 + np.exp(-X @ theta)))[:, None]


def hessian(theta, rows):
    X = design(rows)
    mu_ = 1 / (1 + np.exp(-X @ theta))
    return -(mu_ * (1 - mu_))[:, None, None] * X[:, :, None] * X[:, None, :]


def loglik(theta, rows):
    return -np.log1p(np.exp(-(2 * rows["GRADE"] - 1) * (design(rows) @ theta)))


@pytest.fixture(scope="module")
def spector():
    return sm.datasets.spector.load_pandas().data


@pytest.mark.parametrize(
    "given", [{}, {"hessian": hessian}, {"loglik": loglik}, {"hessian": hessian, "loglik": loglik}]
)
@pytest.mark.parametrize("between", [False, True])
def test_a_logit_of_ones_own_is_the_logit(given, between, spector):
    from murmure.econometrics.design.inferred_schema import infer_schema

    data, privacy, schema = spector, None, None
    if between:
        data, privacy, schema = (
            [spector.iloc[i::5] for i in range(5)],
            mu.Secure(rows_are_public=True),
            infer_schema(spector, None),
        )
    X = sm.add_constant(spector[SPECTOR[1:]])
    for errors, cov in (("hessian", "nonrobust"), ("sandwich", "HC0")):
        expected = sm.Logit(spector["GRADE"], X).fit(disp=0, tol=1e-14, cov_type=cov)
        names = {"a": 0, "b": 0, "c": 0, "d": 0}
        found = mle(score, names, data, SPECTOR, errors=errors, privacy=privacy, schema=schema, **given)
        np.testing.assert_allclose(found.params, expected.params, rtol=1e-8)
        np.testing.assert_allclose(found.bse, expected.bse, rtol=1e-8)
        assert (found.nobs, found.df_resid) == (expected.nobs, expected.df_resid)
        if "loglik" in given:
            assert found.llf == pytest.approx(expected.llf, rel=1e-10)
    assert found.names == ("a", "b", "c", "d")


def test_an_estimator_that_has_no_name_here():
    """Student's t with 5 degrees of freedom, by its score alone: Newton's steps where the curve bends downwards."""

    def t_score(theta, rows):
        r = (rows["x"] - theta[0]) / np.exp(theta[1])
        w = 6 / (5 + r * r)
        return np.stack([w * r / np.exp(theta[1]), w * r * r - 1], axis=1)

    rows = {"x": [((i * 37) % 101 - 50) ** 3 // 500 for i in range(101)]}
    found = mle(t_score, {"middle": 10, "log scale": 1}, rows, ["x"])
    from scipy.optimize import minimize
    from scipy.stats import t

    x = np.array(rows["x"], float)
    top = minimize(lambda b: -t.logpdf(x, 5, b[0], np.exp(b[1])).sum(), [10, 1], method="BFGS", options={"gtol": 1e-10})
    np.testing.assert_allclose(found.params, top.x, atol=1e-4)  # scipy's differences; the score itself is below
    psi = t_score(found.params, {"x": x})
    np.testing.assert_allclose(psi.sum(axis=0), 0, atol=1e-9)


def ratio(theta, rows):
    return np.stack([rows["x"] - theta[0], rows["y"] - theta[1] * theta[0]], axis=1)


def of_ratio(theta, rows):
    one, none = np.ones_like(rows["x"]), np.zeros_like(rows["x"])
    return np.stack([np.stack([-one, none], 1), np.stack([-theta[1] * one, -theta[0] * one], 1)], 1)


@pytest.mark.parametrize("given", [{}, {"hessian": of_ratio}])
@pytest.mark.parametrize(("mean", "start"), [(2, (4, 0.3)), (20, (4, 3)), (-5, (1, 100))])
def test_an_equation_of_no_likelihood(mean, start, given):
    """A ratio of means: its derivative is not symmetric, and errors are A^-1 B A^-T (Stefanski and Boos 2002)."""
    rng = np.random.default_rng(3)
    rows = {"x": (5 + rng.normal(size=400)).round(3), "y": (mean + rng.normal(size=400) * mean / 10).round(3)}
    found = mle(ratio, dict(zip("mr", start, strict=True)), rows, ["x", "y"], **given)
    m, r = rows["x"].mean(), rows["y"].mean() / rows["x"].mean()
    A, psi = 400 * np.array([[1, 0], [r, m]]), ratio((m, r), rows)
    expected = np.linalg.inv(A) @ (psi.T @ psi) @ np.linalg.inv(A).T

    np.testing.assert_allclose(found.params, [m, r], rtol=1e-9)
    np.testing.assert_allclose(found.cov_params(), expected, rtol=1e-7)
    assert found.how.rounds <= (25 if start == (1, 100) else 6)
    for errors in ("hessian", "opg"):
        with pytest.raises(FitFailed, match="not symmetric"):
            mle(ratio, dict(zip("mr", start, strict=True)), rows, ["x", "y"], errors=errors)


def test_instruments_are_an_equation_too():
    """z (y - a - b x): A = Z'X, and errors are those that White gave for two stages (Econometrica 50(2), 1982)."""
    rng = np.random.default_rng(8)
    z, u = rng.normal(size=300).round(2), rng.normal(size=300)
    x = (z + u + rng.normal(size=300)).round(2)
    rows = {"z": z, "x": x, "y": (1 + 0.5 * x + u).round(2)}

    def score(theta, rows):
        e = rows["y"] - theta[0] - theta[1] * rows["x"]
        return np.stack([e, e * rows["z"]], axis=1)

    found = mle(score, [0, 0], rows, ["x", "y", "z"])
    Z, X = (np.column_stack([np.ones(300), column]) for column in (z, x))
    b, back, psi = np.linalg.solve(Z.T @ X, Z.T @ rows["y"]), np.linalg.inv(Z.T @ X), score(found.params, rows)
    np.testing.assert_allclose(found.params, b, rtol=1e-9)
    np.testing.assert_allclose(found.cov_params(), back @ (psi.T @ psi) @ back.T, rtol=1e-7)
    assert found.how.rounds <= 3


def test_a_score_that_rises_says_how_it_is_written():
    with pytest.raises(FitFailed) as caught:
        mle(lambda theta, rows: (theta[0] - rows["age"])[:, None], [0], ROWS, ["age"], rounds=40)
    assert "x - theta" in caught.value.hint


def test_expressions_are_columns_too():
    def mean(theta, rows):
        return (rows["age * 2"] - theta[0])[:, None]

    found = mle(mean, [0], ROWS, ["age * 2"])
    assert found.params[0] == pytest.approx(2 * np.mean(ROWS["age"]), rel=1e-12)
    assert found.bse[0] == pytest.approx(2 * np.std(ROWS["age"]) / np.sqrt(97), rel=1e-9)


def test_a_function_never_travels():
    """Its plan holds a digest and no code, and no other machine can make the question from it."""
    from murmure.econometrics.steps.custom_score import MLE, CustomRows

    rows = CustomRows(("age",), 1, lambda theta, rows: (rows["age"] - theta[0])[:, None])
    model = MLE.of(rows, SCHEMA, ("m",), (Fraction(0),))
    plan = Plan(next(model.steps()))

    assert plan.digest == Plan(next(model.steps())).digest
    with pytest.raises(MurmureError, match="unknown part"):
        Plan.from_json(plan.to_json())
    with pytest.raises(MurmureError, match="unknown model"):
        model_from_dict(model_to_dict(model))
    other = CustomRows(("age",), 1, lambda theta, rows: (rows["age"] * 2 - theta[0])[:, None])
    assert MLE.of(other, SCHEMA, ("m",), (Fraction(0),)).digest != model.digest


SHIFT = 1.0


def test_a_digest_knows_what_a_function_holds(monkeypatch):
    """Two functions of one factory, with other defaults, or beside another global, are not the same."""
    from murmure.econometrics.steps.digest_of_code import digest_of_code

    def made(k, table=(1, 2)):
        inner = np.array(table)

        def function(theta, rows, *, by=2.0):
            return (rows["age"] * k + inner.sum() * by - SHIFT - theta[0])[:, None]

        return function

    assert digest_of_code(made(1)) == digest_of_code(made(1))
    assert len({digest_of_code(made(1)), digest_of_code(made(2)), digest_of_code(made(1, (1, 3)))}) == 3
    other = made(1)
    other.__kwdefaults__ = {"by": 3.0}
    assert digest_of_code(other) != digest_of_code(made(1))
    before = digest_of_code(made(1))
    monkeypatch.setitem(globals(), "SHIFT", 2.0)
    assert digest_of_code(made(1)) != before


def test_functions_that_give_the_wrong_shape_or_no_numbers():
    with pytest.raises(InvalidParameter, match="shape"):
        mle(lambda theta, rows: rows["age"], [0], ROWS, ["age"])
    with pytest.raises(FitFailed, match="not defined at the start"):
        mle(lambda theta, rows: np.full((len(rows["age"]), 1), np.nan), [0], ROWS, ["age"])
    with pytest.raises(InvalidParameter, match="function"):
        mle("score", [0], ROWS, ["age"])
    with pytest.raises(FitFailed):  # two parameters that are one
        mle(lambda theta, rows: np.stack([rows["age"] - theta[0] - theta[1]] * 2, 1), [0, 0], ROWS, ["age"])
    with pytest.raises(PlanRefused, match="noise"):
        mle(score, [0], ROWS, ["age"], schema=SCHEMA, privacy=mu.Central(1.0))


# -- decisions --------------------------------------------------------------------------------------------------------


def test_a_model_hears_the_same_sums_and_asks_the_same_questions(spector):
    """Whoever follows a fit from its released sums alone comes to the same plans and the same result, bit by bit."""
    first = logit("GRADE ~ GPA + TUCE + PSI", spector)
    model = Logit(first.design)
    assert model_from_dict(model_to_dict(model)) == model
    assert digest_of(model_from_dict(model_to_dict(model))) == digest_of(model)
    steps, heard = model.steps(), []
    question = next(steps)
    try:
        while True:
            heard.append(Plan(question).digest)
            total = question.tally(question.encode({name: spector[name] for name in question.domain.private}))
            question = steps.send(question.interpret_exact([int(v) for v in total], len(spector)))
    except StopIteration as end:
        again = end.value

    assert tuple(heard) == first.how.plans
    assert again.coefficients == first.coefficients
    assert again.covariance == first.covariance


def test_public_parameters_are_short(spector):
    """Coefficients in questions have 64 significant bits, whatever fractions led to them."""
    model = Logit(logit("GRADE ~ GPA + TUCE + PSI", spector).design)
    steps = model.steps()
    question = next(steps)
    for _ in range(3):
        total = question.tally(question.encode({name: spector[name] for name in question.domain.private}))
        question = steps.send(question.interpret_exact([int(v) for v in total], len(spector)))
        assert all(abs(Fraction(v).numerator).bit_length() <= 65 for v in question.at)


def test_steps_are_halved_where_the_likelihood_falls():
    """From 0 the whole first step of this Cauchy likelihood overshoots; halved steps still climb to the top."""

    def cauchy(theta, rows):
        r = rows["x"] - theta[0]
        return (2 * r / (1 + r * r))[:, None]

    def likelihood(theta, rows):
        return -np.log1p((rows["x"] - theta[0]) ** 2)

    rows = {"x": [-40, 1, 2, 2, 3, 3, 3, 4, 5, 60]}
    found = mle(cauchy, [0], rows, ["x"], loglik=likelihood)
    x = np.array(rows["x"])
    grid = np.linspace(0, 6, 60001)
    best = grid[np.argmax([likelihood([m], {"x": x}).sum() for m in grid])]

    assert found.params[0] == pytest.approx(best, abs=2e-4)


@pytest.mark.parametrize(
    ("score", "any_step"), [(Fraction(1, 2**21), True), (Fraction(1, 2**20), True), (Fraction(1, 2**19), False)]
)
def test_scores_that_are_the_rounding_of_rows_are_no_worse_whatever_follows(score, any_step):
    """A squared length of 2**-40 and below; above it, the next one must be shorter."""
    at = {"at": (Fraction(0),), "n": 9, "information": ((Fraction(1),),), "llf": None, "figures": {}}
    before, longer, shorter = (
        SimpleNamespace(**at, score=(v,), spread=((Fraction(1),),)) for v in (score, 2 * score, score / 2)
    )

    assert _no_worse(before, longer, (Fraction(1),)) == any_step
    assert _no_worse(before, shorter, (Fraction(1),))


@pytest.mark.parametrize("left", [0, 1, 2])
def test_the_last_round_may_ask_whether_rows_are_separated(left):
    """With none left nothing is asked; an answer that no row speaks against, and 12 for, is a refusal."""
    rounds = RoundLimit(5, "logit")
    rounds.left = left
    ascent = SimpleNamespace(separation=lambda step: "is any row against it?", moving_columns=lambda step: ["x"])
    asking = _refuse_separated(ascent, (Fraction(1),), rounds)

    assert next(asking, None) == ("is any row against it?" if left else None)
    if left:
        assert rounds.left == left - 1
        with pytest.raises(Separated, match="in 12 rows"):
            asking.send(SimpleNamespace(sums=(0, 12)))


@pytest.mark.parametrize(
    ("names", "start"),
    [((), ()), ((), ("0",)), (("a",), ()), (("a",), ("0", "1")), (("a", "b"), ("0",)), (("a", "a"), ("0", "1"))],
)
def test_every_parameter_has_one_name_and_one_value(names, start):
    with pytest.raises(InvalidParameter, match=r"mle\.start must give every parameter a value, got"):
        MLE(SCHEMA, ("age",), names, start, "digest")


def test_rounds_end_for_certain():
    """A score that no parameter brings to zero: the search stops, and says so."""
    with pytest.raises((NotConverged, FitFailed)):
        mle(lambda theta, rows: np.exp(-theta[0] / 10 - 0 * rows["age"])[:, None], [0], ROWS, ["age"], rounds=30)


def test_ask_takes_the_model_itself():
    from murmure.econometrics.models.bisection import Bisection

    assert ask(Bisection(SCHEMA, "age"), ROWS).values == quantile("age", ROWS, schema=SCHEMA).values


# -- sums at places ---------------------------------------------------------------------------------------------------


def test_sums_at_places_are_those_of_rows_one_by_one():
    """Every example: the tally is the sum of what rows add, and the values of the function at their places."""
    from murmure.statistics.exact.function_sums_by_place import EXAMPLES

    rows = {
        "days": [1 + i % 4 for i in range(50)],
        "died": [i % 3 // 2 for i in range(50)],
        "age": [(i * 29) % 100 for i in range(50)],
    }
    for statistic in EXAMPLES:
        codes = statistic.encode(rows)
        tally = statistic.tally(codes)
        assert tally.tolist() == statistic.lift(codes).sum(axis=0).tolist()
        np.testing.assert_allclose(tally[:-1].astype(float) / 2**62, statistic.reference(codes), rtol=1e-12)
        assert len(statistic.labels) == len(set(statistic.labels)) == statistic.width - 1 == len(tally) - 1
    events = [sum(d for t, d in zip(rows["days"], rows["died"], strict=True) if t in pair) for pair in ((1, 2), (3, 4))]
    assert [v / 2**62 for v in tally[:2]] == events


def test_wrong_places():
    from murmure.statistics.exact.function_sums_by_place import EXAMPLES, FunctionSumsByPlace

    of = EXAMPLES[0].of
    for wrong in ((of, 0, 1), (of, True, 1), (of, 4, -1), (of, 4, 9), (of, 1 << 16, 1), ("of", 4, 1)):
        with pytest.raises(InvalidParameter):
            FunctionSumsByPlace(*wrong)
    few = FunctionSumsByPlace(of, 2, 1)  # its function knows four times
    assert few.tally(few.encode({"days": [4], "died": [1], "age": [30]}))[-1] == 1  # counted, and stops nobody


def test_settings_that_do_not_fit_are_refused():
    """A question that came from elsewhere: what its function cannot work with is refused before rows are read."""
    from murmure.statistics.exact.function_sums import FunctionSums

    for function, inputs, at, settings in (
        ("logit", ("stay <= 5", "age"), ("1",), ("step", "", "0")),
        ("logit", ("stay <= 5", "age"), (), ("step", "", "0", "7")),
        ("logit", ("stay <= 5", "age"), ("1",), ("leap", "", "0", "7")),
        ("logit", ("stay <= 5", "age"), ("1",), ("step", "", "0", "9999")),
        ("logit", ("stay <= 5", "age"), ("1",), ("step", "offset", "0", "7")),
        ("gamma", ("stay + 1", "age"), ("1",), ("separation", "", "0", "7")),
        ("nearest", ("age",), ("1", "1"), ("0", "7")),
        ("nearest", ("age",), ("1",), ("1", "7")),
        ("cox", ("stay", "dose <= 1", "age"), ("1",), ("step", "1", "7", "5", "60")),
        ("cox", ("stay", "dose <= 1", "age"), ("1", "0"), ("step", "1", "7", "60", "5")),
        ("cox", ("stay", "dose <= 1", "age"), ("1", "0"), ("step", "one")),
    ):
        with pytest.raises(InvalidParameter):
            FunctionSums(SCHEMA, function, inputs, at, settings)


def test_ones_own_sums_can_be_sent_to_workers():
    """Spark pickles what its workers do; the function goes along, and their sums are the same."""
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    from murmure.econometrics.steps.custom_score import CustomRows, CustomSums

    rows = CustomRows(("age",), 1, lambda theta, rows: (rows["age"] - theta[0])[:, None])
    sums = CustomSums.of(rows, SCHEMA, "own 1", (Fraction(3),))
    again = cloudpickle.loads(cloudpickle.dumps(sums))
    codes = sums.encode({"age": ROWS["age"]})
    assert again.tally(codes).tolist() == sums.tally(codes).tolist()


def test_no_model_asks_for_more_than_it_says():
    """Rounds and sums are agreed upon before the first question; every example stays within them."""
    import importlib

    for name in ("glm", "cox", "kmeans", "bisection"):
        for example in importlib.import_module(f"murmure.econometrics.models.{name}").EXAMPLES:
            how = ask(example.model, example.rows).how
            assert how.rounds <= example.model.rounds
            assert how.sums <= example.model.max_sums
