"""Cox's regression from sums at public times: the figures of statsmodels' PHReg, by one table or five parties."""

import numpy as np
import pytest
import statsmodels.api as sm

import murmure as mu
from murmure.core.errors import InvalidParameter, PlanRefused
from murmure.econometrics import cox
from murmure.econometrics.design.inferred_schema import infer_schema
from murmure.econometrics.errors import Collinear, FitFailed, NotConverged, NoVariation, Separated


@pytest.fixture(scope="module")
def followed():
    """Two hundred people with many ties, by a seeded law of survival."""
    rng = np.random.default_rng(6)
    n = 200
    age, dose = rng.integers(20, 90, n), np.round(rng.uniform(0, 3, n), 2)
    ward = rng.integers(0, 3, n)
    hazard = np.exp(0.03 * (age - 50) - 0.5 * dose + 0.4 * (ward == 2))
    days = np.minimum(np.ceil(rng.exponential(12 / hazard)), 40).astype(int)
    lost = rng.integers(1, 41, n)
    return {
        "days": np.minimum(days, lost).tolist(),
        "died": (days <= lost).astype(int).tolist(),
        "age": age.tolist(),
        "dose": dose.tolist(),
        "ward": np.array(list("ABC"))[ward].tolist(),
    }


SCHEMA = mu.Schema(
    {
        "days": mu.Integers(1, 40),
        "died": mu.Integers(0, 1),
        "age": mu.Integers(18, 99),
        "dose": mu.Decimals(0, 3, 2),
        "ward": mu.Categories(["A", "B", "C"]),
    }
)
FORMULA = "age + dose + ward"


def theirs(rows):
    ward = np.array(rows["ward"])
    X = np.column_stack([rows["age"], rows["dose"], ward == "B", ward == "C"]).astype(float)
    model = sm.PHReg(np.array(rows["days"], float), X, status=np.array(rows["died"]), ties="breslow")
    return model.fit(tol=1e-14, disp=0)


def split(rows, parties=5):
    return [{name: column[i::parties] for name, column in rows.items()} for i in range(parties)]


@pytest.mark.parametrize("between", [False, True])
def test_the_figures_are_those_of_phreg(between, followed):
    data, privacy = (split(followed), mu.Secure(rows_are_public=True)) if between else (followed, None)
    ours = cox(FORMULA, data, time="days", event="died", schema=SCHEMA, privacy=privacy)
    expected = theirs(followed)

    assert ours.names == ("age", "dose", "ward[T.B]", "ward[T.C]")
    for name in ("params", "bse", "tvalues", "pvalues"):
        np.testing.assert_allclose(getattr(ours, name), getattr(expected, name), rtol=1e-8, err_msg=name)
    assert ours.llf == pytest.approx(expected.llf, rel=1e-10)
    assert ours.llnull == pytest.approx(expected.model.loglike(np.zeros(4)), rel=1e-10)
    assert ours.how.rounds <= 8


def test_the_baseline_is_breslows(followed):
    ours = cox(FORMULA, followed, time="days", event="died", schema=SCHEMA)
    times, cumulative, survival = theirs(followed).baseline_cumulative_hazard[0]
    rows = ours.baseline()
    at = [np.nonzero(times == row["time"])[0][-1] for row in rows]

    # theirs is the sum before each time, ours after it
    before = np.array([row["cumulative"] - row["hazard"] for row in rows])
    np.testing.assert_allclose(before, cumulative[at], rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose([row["survival"] for row in rows][:-1], survival[at][1:], rtol=1e-8)
    some = {"age": [18, 60], "dose": [0, 1.5], "ward": ["A", "C"]}
    curve = ours.survival(some)
    assert curve.shape == (2, 40)
    assert (np.diff(curve, axis=1) <= 0).all()
    np.testing.assert_allclose(ours.predict(some)[1] / ours.predict(some)[0], np.exp(ours.params @ [42, 1.5, 0, 1]))


@pytest.mark.parametrize("unit", [1, 1000])
def test_seconds_since_1970_have_a_result(unit, followed):
    """Columns that are all 0 lie so far off that no float holds a hazard there; the rest of the fit is as good."""
    late = np.array([(i * i * 31 + 7 * i) % 3001 for i in range(200)])
    rows = followed | {"late": late.tolist(), "time": [(1_763_000_000 + int(v)) * unit for v in late]}
    ours = cox("time + dose", rows, time="days", event="died")
    near = cox("late + dose", rows, time="days", event="died")

    np.testing.assert_allclose(ours.params * [unit, 1], near.params, rtol=1e-9)
    np.testing.assert_allclose(ours.bse * [unit, 1], near.bse, rtol=1e-9)
    assert ours.llf == pytest.approx(near.llf, rel=1e-12)
    at_means, expected = ours.baseline(at_means=True), near.baseline(at_means=True)
    np.testing.assert_allclose([row["survival"] for row in at_means], [row["survival"] for row in expected], rtol=1e-9)
    assert ours.baseline()[0]["hazard"] in (0.0, np.inf)
    assert any("at_means" in note for note in ours.notes)
    some = {"late": [0, 1500], "dose": [1, 2], "time": [1_763_000_000 * unit, 1_763_001_500 * unit]}
    np.testing.assert_allclose(ours.survival(some), near.survival(some), rtol=1e-8)


def test_the_baseline_at_the_means_is_that_of_the_means(followed):
    ours = cox("age + dose", followed, time="days", event="died")
    means = {name: [float(m)] for name, m in zip(("age", "dose"), ours.means, strict=True)}

    np.testing.assert_allclose(means["age"], np.mean(followed["age"]), rtol=1e-12)
    # 1.4 and 31.2 are no numbers of these columns, and a prediction may be of any
    expected = np.array([row["hazard"] for row in ours.baseline()]) * ours.predict(means)
    np.testing.assert_allclose([row["hazard"] for row in ours.baseline(at_means=True)], expected, rtol=1e-10)


def test_a_coarse_grid_is_that_of_the_times_it_rounds_to(followed):
    """A time counts as the next of the grid."""
    grid = (5, 10, 20, 30, 40)
    rounded = followed | {"days": [min(g for g in grid if g >= t) for t in followed["days"]]}
    ours = cox(FORMULA, followed, time="days", event="died", schema=SCHEMA, grid=grid)

    np.testing.assert_allclose(ours.params, theirs(rounded).params, rtol=1e-8)
    np.testing.assert_allclose(ours.bse, theirs(rounded).bse, rtol=1e-8)


def test_one_party_sees_its_own_table(followed):
    """Without a schema bounds are read off the table, in the clear."""
    ours = cox("age + dose", followed, time="days", event="died")
    again = cox("age + dose", followed, time="days", event="died", schema=SCHEMA)

    np.testing.assert_allclose(ours.params, again.params, rtol=1e-12)
    assert infer_schema(followed, ["days"])["days"].low >= 1


def test_an_event_can_be_a_condition(followed):
    rows = followed | {"state": ["dead" if d else "lost" for d in followed["died"]]}
    ours = cox("age", rows, time="days", event="state == 'dead'")

    np.testing.assert_allclose(ours.params, cox("age", rows, time="days", event="died").params, rtol=1e-12)


def test_a_column_that_orders_all_events_has_no_coefficient():
    """Whoever dies has the largest x of those at risk: the likelihood rises for ever."""
    n = 60
    rows = {
        "days": [1 + i // 3 for i in range(n)],
        "died": [int(i % 3 == 0) for i in range(n)],
        "x": [100 - i // 3 if i % 3 == 0 else (i * 7) % 20 for i in range(n)],
        "e": [(i * i * 5) % 13 for i in range(n)],
    }
    with pytest.raises(Separated) as caught:
        cox("x + e", rows, time="days", event="died", rounds=60)
    assert "x" in caught.value.columns


def test_what_has_no_result_says_why(followed):
    with pytest.raises(NoVariation, match="nobody had the event"):
        cox("age", followed | {"died": [0] * 200}, time="days", event="died", schema=SCHEMA)
    with pytest.raises(NoVariation, match="same for everybody"):
        cox("age + dose", followed | {"dose": [1.5] * 200}, time="days", event="died", schema=SCHEMA)
    twice = followed | {"twice": [2 * a + 1 for a in followed["age"]]}
    with pytest.raises(Collinear) as caught:
        cox("age + twice", twice, time="days", event="died")
    assert caught.value.columns == ("twice", "age")
    with pytest.raises(NotConverged):
        cox("age + dose", followed, time="days", event="died", rounds=2)
    assert issubclass(NotConverged, FitFailed)


def test_wrong_questions(followed):
    def asked(formula="age", data=followed, schema=SCHEMA, **more):
        return cox(formula, data, **({"time": "days", "event": "died", "schema": schema} | more))

    for more, said in (
        ({"event": "age"}, "0 or 1"),
        ({"grid": (5, 10)}, "end at 40"),
        ({"grid": (10, 5, 40)}, "increase"),
        ({"formula": "1"}, "formula '1'"),
        ({"rounds": 0}, "rounds"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            asked(**more)
    with pytest.raises(PlanRefused, match="cannot be computed with noise"):
        asked(privacy=mu.Central(1.0))
    long = mu.Schema({"days": mu.Integers(1, 40_000), "died": mu.Integers(0, 1), "age": mu.Integers(18, 99)})
    with pytest.raises(InvalidParameter, match="coarser public grid"):
        asked(schema=long, data=split(followed), privacy=mu.Secure(rows_are_public=True))
