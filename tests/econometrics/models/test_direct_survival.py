"""Survival at as many times as rows have, in the clear: no grid, and the figures of statsmodels and of lifelines.

GBSG2: the German Breast Cancer Study Group's trial (Schumacher et al., Journal of Clinical Oncology 12(10), 1994), 686
women, days until recurrence; the table that lifelines distributes.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from click.testing import CliRunner
from statsmodels.duration.survfunc import SurvfuncRight, survdiff

import murmure as mu
from murmure import econometrics as ec
from murmure.cli import main
from murmure.core.errors import InvalidParameter, OutsideDomain
from murmure.econometrics.errors import EmptyCategory, NotConverged, NoVariation, Separated, TooFewObservations

TIES = ("breslow", "efron")
FORMULA = "horTh + age + menostat + tsize + tgrade + pnodes + progrec + estrec"


@pytest.fixture(scope="module")
def trial() -> pd.DataFrame:
    from lifelines.datasets import load_gbsg2

    return load_gbsg2()


@pytest.fixture(scope="module")
def file(trial: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trial") / "gbsg2.csv"
    trial.to_csv(path, index=False)
    return path


def theirs(days: Any, status: Any, X: Any, ties: str) -> tuple[Any, Any]:
    """PHReg on columns of about one, so that its own steps end where they should; and what divides the columns."""
    X = np.asarray(X, float)
    size = X.std(axis=0)
    model = sm.PHReg(np.asarray(days, float), (X - X.mean(axis=0)) / size, status=np.asarray(status), ties=ties)
    return model.fit(tol=1e-15, disp=0), size


def agree(ours: Any, days: Any, status: Any, X: Any, ties: str) -> None:
    expected, size = theirs(days, status, X, ties)
    np.testing.assert_allclose(ours.params, expected.params / size, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.bse, expected.bse / size, rtol=1e-8)
    np.testing.assert_allclose(ours.tvalues, expected.tvalues, rtol=1e-8, atol=1e-8)
    assert ours.llf == pytest.approx(expected.llf, rel=1e-10)
    assert ours.llnull == pytest.approx(expected.model.loglike(np.zeros(len(size))), rel=1e-10)


@pytest.mark.parametrize("ties", TIES)
def test_gbsg2(ties: str, trial: pd.DataFrame, file: Path) -> None:
    X = np.column_stack(
        [
            trial["horTh"] == "yes",
            trial["age"],
            trial["menostat"] == "Pre",
            trial["tsize"],
            trial["tgrade"] == "II",
            trial["tgrade"] == "III",
            *(trial[name] for name in ("pnodes", "progrec", "estrec")),
        ]
    )
    began = time.perf_counter()
    ours = ec.cox(FORMULA, trial, time="time", event="cens", ties=ties)
    took = time.perf_counter() - began

    agree(ours, trial["time"], trial["cens"], X, ties)
    assert took < 5, took  # a quarter of a second on a quiet machine
    assert len(ours.times) == trial["time"].nunique() and sum(ours.events) == 299
    text = ours.summary()
    assert f"{ties.capitalize()}\n" in text and "574 different values of time in the rows, 8 to 2659" in text
    of_file = ec.cox(FORMULA, file, time="time", event="cens", ties=ties)
    np.testing.assert_array_equal(of_file.params, ours.params)
    tables = ec.cox(FORMULA, [trial[:200], trial[200:]], time="time", event="cens", ties=ties)
    np.testing.assert_allclose(tables.params, ours.params, rtol=1e-12)
    assert tables.how.parties == 2 and tables.how.rows == 686


@pytest.mark.filterwarnings("ignore:Starting with pandas")  # lifelines' own calls
def test_lifelines_says_the_same(trial: pd.DataFrame) -> None:
    """Ties by Efron, which is all that lifelines has; columns are scaled, so that its steps end where they should."""
    from lifelines import CoxPHFitter

    names = ["age", "tsize", "pnodes", "progrec", "estrec"]
    size = trial[names].std()
    rows = pd.concat([trial[["time", "cens"]], trial[names] / size], axis=1)
    theirs = CoxPHFitter().fit(rows, "time", "cens", fit_options={"precision": 1e-14})
    ours = ec.cox(" + ".join(names), trial, time="time", event="cens", ties="efron")

    np.testing.assert_allclose(ours.params, theirs.params_ / size, rtol=1e-8)
    np.testing.assert_allclose(ours.bse, theirs.standard_errors_ / size, rtol=1e-8)
    assert ours.llf == pytest.approx(theirs.log_likelihood_, rel=1e-10)


def test_on_the_command_line(trial: pd.DataFrame, file: Path) -> None:
    options = ["--time", "time", "--event", "cens", "--ties", "efron", "--json"]
    run = CliRunner().invoke(main, ["cox", "age + pnodes", str(file), *options])
    assert run.exit_code == 0, run.output
    held = json.loads(run.output)
    fit = ec.cox("age + pnodes", trial, time="time", event="cens", ties="efron")
    assert held["facts"]["Ties"] == "Efron" and held["facts"]["Times"] == 574
    assert [row["estimate"] for row in held["coefficients"]] == fit.params.tolist()
    curves = CliRunner().invoke(main, ["kaplan-meier", "time", str(file), "--event", "cens", "--by", "tgrade"])
    assert curves.exit_code == 0 and "counted at their own 574 times" in curves.output


@pytest.mark.parametrize("ties", TIES)
def test_the_baseline_is_breslows(ties: str, trial: pd.DataFrame) -> None:
    ours = ec.cox("age + pnodes", trial, time="time", event="cens", ties=ties)
    w = np.exp((trial[["age", "pnodes"]] - trial[["age", "pnodes"]].mean()).to_numpy() @ ours.params)
    for row in ours.baseline(at_means=True):
        at_risk = w[trial["time"] >= row["time"]].sum()
        assert row["hazard"] == pytest.approx(row["events"] / at_risk, rel=1e-8)
    some = ours.survival({"age": [40, 70], "pnodes": [1, 9]})
    assert some.shape == (2, len(ours.times)) and (np.diff(some, axis=1) <= 0).all()


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))])
@pytest.mark.parametrize("ties", TIES)
def test_clear_between_parties_and_statsmodels_agree(ties: str, seed: int) -> None:
    """Over sizes, numbers of times, shares of events and grids: from ties everywhere to hardly any."""
    rng = np.random.default_rng(seed)
    n, T = int(rng.integers(40, 160)), int(rng.choice([1, 2, 5, 20, 90]))
    rows = {
        "t": rng.integers(1, T + 1, n).tolist(),
        "e": (rng.random(n) < rng.choice([0.3, 0.7, 1.0])).astype(int).tolist(),
        "x": rng.integers(-20, 50, n).tolist(),
        "d": np.round(rng.normal(0, 2, n), 2).tolist(),
        "g": ["ABC"[k] for k in rng.permutation(np.arange(n) % 3)],
    }
    schema = mu.Schema(
        {
            "t": mu.Integers(1, T + 3),
            "e": mu.Integers(0, 1),
            "x": mu.Integers(-20, 50),
            "d": mu.Decimals(-10, 10, 2),
            "g": mu.Categories(["B", "A", "C"]),
        }
    )
    grid: Any = () if seed % 2 else sorted({*range(2, T + 3, 3), T + 3})
    asked: dict[str, Any] = {"time": "t", "event": "e", "grid": grid, "schema": schema, "ties": ties}
    clear = ec.cox("x + d + g", rows, **asked)
    parts = [{name: column[i::3] for name, column in rows.items()} for i in range(3)]
    secure = ec.cox("x + d + g", parts, **asked, privacy=mu.Secure(rows_are_public=True))
    days = rows["t"] if not grid else [min(t for t in grid if t >= v) for v in rows["t"]]
    X = np.column_stack([rows["x"], rows["d"], np.array(rows["g"]) == "A", np.array(rows["g"]) == "C"])

    for ours in (clear, secure):
        agree(ours, days, rows["e"], X, ties)
    assert clear.names == secure.names and clear.times == secure.times and clear.events == secure.events
    np.testing.assert_allclose(clear.params, secure.params, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(clear.bse, secure.bse, rtol=1e-10)
    np.testing.assert_allclose(clear.hazard, secure.hazard, rtol=1e-9)
    np.testing.assert_allclose(clear.survival(rows), secure.survival(rows), rtol=1e-9)
    assert [note for note in clear.notes if note.startswith("Times:")] == [
        note for note in secure.notes if note.startswith("Times:")
    ]
    assert clear.to_dict()["facts"]["Ties"] == secure.to_dict()["facts"]["Ties"] == ties.capitalize()


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ((), "all 20 values that t may have, 1 to 20"),
        ((5, 10, 20), "t on a grid of 3, each counted as the next of 5, 10, 20"),
        (range(1, 21), "a grid of 20, each counted as the next of 1, 2, 3, ..., 20"),
    ],
)
def test_the_result_names_its_times(grid: Any, said: str) -> None:
    rows = {
        "t": [1 + i * 7 % 20 for i in range(60)],
        "e": [i % 2 for i in range(60)],
        "x": [i * i % 23 for i in range(60)],
    }
    schema = mu.Schema({"t": mu.Integers(1, 20), "e": mu.Integers(0, 1), "x": mu.Integers(0, 30)})
    for data, privacy in ((rows, None), ([rows] * 3, mu.Secure(rows_are_public=True))):
        fit = ec.cox("x", data, time="t", event="e", grid=grid, schema=schema, privacy=privacy)
        for text in (fit.summary(), fit.to_html(), fit.to_latex(), fit.to_json()):
            assert said in " ".join(text.split()) and "Breslow" in text


def test_many_rows_with_times_of_their_own() -> None:
    """Five thousand different times, more than are ever counted without a grid between parties."""
    rng = np.random.default_rng(4)
    n = 5_000
    x, g = rng.normal(size=n).round(3), rng.integers(0, 2, n)
    days = rng.exponential(np.exp(-0.5 * x + 0.3 * g) * 100).round(6)
    rows = {"t": days, "e": (rng.random(n) < 0.8).astype(int), "x": x, "g": g}
    for ties in TIES:
        ours = ec.cox("x + g", rows, time="t", event="e", ties=ties)
        assert len(ours.times) > 4_900
        assert abs(ours["x"] - 0.5) < 0.1 and abs(ours["g"] + 0.3) < 0.15
    curve = ec.kaplan_meier("t", rows, event="e")["everybody"]
    expected = SurvfuncRight(rows["t"], rows["e"])
    np.testing.assert_allclose(curve.survival, expected.surv_prob, rtol=1e-10)
    assert curve.median == expected.quantile(0.5)


def test_an_engine_that_is_named_adds_up_batch_by_batch(trial: pd.DataFrame) -> None:
    """For what does not fit into memory: the same figures on the same grid, by sums, under their limits."""
    asked: dict[str, Any] = {"time": "time", "event": "cens", "grid": 40, "ties": "efron"}
    rows, sums = (ec.cox("age + pnodes", trial, **asked, engine=engine) for engine in (None, mu.Memory(threads=1)))
    np.testing.assert_allclose(rows.params, sums.params, rtol=1e-10)
    np.testing.assert_allclose(rows.bse, sums.bse, rtol=1e-10)
    assert rows.how.sums == 0 and sums.how.sums > 1000
    with pytest.raises(InvalidParameter, match="coarser public grid"):
        ec.cox(FORMULA, trial, time="time", event="cens", engine=mu.Memory())
    with pytest.raises(InvalidParameter, match="grid"):
        ec.kaplan_meier("time", trial, event="cens", by="tgrade", engine=mu.Memory())


# -- curves and tests -------------------------------------------------------------------------------------------------


def four_groups(T: int, n: int) -> pd.DataFrame:
    rng = np.random.default_rng(T)
    return pd.DataFrame(
        {
            "days": rng.permutation(np.arange(n) % T) + 1,
            "died": rng.integers(0, 2, n),
            "arm": [f"arm {k}" for k in rng.integers(0, 4, n)],
        }
    )


@pytest.mark.parametrize("T", [1018, *(pytest.param(T, marks=pytest.mark.slow) for T in (600, 5000))])
def test_curves_of_four_groups_over_many_days(T: int) -> None:
    rows = four_groups(T, 1500)
    ours = ec.kaplan_meier("days", rows, event="died", by="arm")
    for curve in ours.curves:
        part = rows[rows["arm"] == curve.label]
        expected = SurvfuncRight(part["days"], part["died"])
        np.testing.assert_allclose(curve.survival, expected.surv_prob, rtol=1e-10)
        np.testing.assert_allclose(curve.se, np.nan_to_num(expected.surv_prob_se), rtol=1e-8, atol=1e-15)
        np.testing.assert_array_equal(curve.t, expected.surv_times)
        np.testing.assert_array_equal([int(n) for n in curve.at_risk], expected.n_risk)
        assert curve.median == expected.quantile(0.5)
    for weights, name in (("logrank", None), ("gehan-breslow", "gb"), ("tarone-ware", "tw")):
        ranked = ec.logrank("days", rows, event="died", by="arm", weights=weights)
        chi2, p = survdiff(rows["days"], rows["died"], rows["arm"], weight_type=name)
        assert ranked.statistic == pytest.approx(chi2, rel=1e-8) and ranked.pvalue == pytest.approx(p, rel=1e-6)
    assert "sorted" not in ours.summary() and "counted at their own" in ours.summary()
    several = ec.kaplan_meier("days", [rows[:500], rows[500:]], event="died", by="arm")
    assert several.median == ours.median and several.how.parties == 2


def test_rows_and_sums_give_the_same_curve() -> None:
    """Just below the limit counts are asked for, just above rows are counted: nobody sees a difference."""
    rows = four_groups(500, 800)
    schema = [mu.Schema({"days": mu.Integers(0, top), "died": mu.Integers(0, 1), "arm": mu.Categories(
        [f"arm {k}" for k in range(4)])}) for top in (510, 520)]  # fmt: skip
    by_sums, by_rows = (ec.kaplan_meier("days", rows, event="died", by="arm", schema=one) for one in schema)
    assert by_sums.how.sums and by_sums.how.directly is None and by_rows.how.directly is not None
    for one, other in zip(by_sums.curves, by_rows.curves, strict=True):
        assert (one.times, one.at_risk, one.events, one.shares, one.until) == (
            other.times, other.at_risk, other.events, other.shares, other.until)  # fmt: skip
    tests = [ec.logrank("days", rows, event="died", by="arm", schema=one) for one in schema]
    assert tests[0].statistic == tests[1].statistic and tests[0].expected == tests[1].expected


# -- what has no result ------------------------------------------------------------------------------------------------

BASE: dict[str, list[Any]] = {
    "t": [1 + (i * i * 7 + i) % 29 for i in range(90)],
    "e": [(i * 3 + i // 7) % 4 // 2 for i in range(90)],
    "x": [(i * 29) % 50 for i in range(90)],
    "g": ["AB"[(i * i + i // 5) % 2] for i in range(90)],
}
SCHEMA = mu.Schema(
    {"t": mu.Integers(-30, 30), "e": mu.Integers(0, 1), "x": mu.Integers(0, 50), "g": mu.Categories(["A", "B", "C"])}
)
ONLY_A = [int(g == "A" and bool(e)) for g, e in zip(BASE["g"], BASE["e"], strict=True)]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(
    ("change", "formula", "kind"),
    [
        ({"e": [0] * 90}, "x", NoVariation),
        ({"x": [4] * 90}, "x", NoVariation),
        ({}, "x + g", EmptyCategory),
        ({"e": ONLY_A}, "x + I(g == 'B')", Separated),
        ({"x": [None, *BASE["x"][1:]]}, "x", OutsideDomain),
        ({"t": [31, *BASE["t"][1:]]}, "x", OutsideDomain),
        ({}, "x + I(x ** 2)", NotConverged),
    ],
)
def test_the_same_refusal_in_the_clear_and_between_parties(
    ties: str, change: dict[str, Any], formula: str, kind: type
) -> None:
    rows = BASE | change
    parts = [{name: column[i::3] for name, column in rows.items()} for i in range(3)]
    rounds = 2 if kind is NotConverged else 40
    for data, privacy in ((rows, None), (parts, mu.Secure(rows_are_public=True))):
        with pytest.raises(kind):
            ec.cox(formula, data, time="t", event="e", schema=SCHEMA, ties=ties, rounds=rounds, privacy=privacy)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(
    "change",
    [
        {"e": [1] * 90},
        {"t": [7] * 90},
        {"t": [7] * 90, "e": [1] * 89 + [0]},
        {"t": [v - 30 for v in BASE["t"]]},
        {"e": [int(i == 45) for i in range(90)], "t": [3 if i == 45 else 9 for i in range(90)]},
        {"t": [v / 7 for v in BASE["t"]]},
    ],
    ids=["all events", "one time", "one time, nearly all events", "negative times", "one event", "fractions"],
)
def test_odd_rows_that_have_a_result(ties: str, change: dict[str, Any]) -> None:
    """Only the order of times counts, so negative ones are as good as others."""
    rows = BASE | change
    one = sum(rows["e"]) == 1
    ours = ec.cox("x" if one else "x + g", rows, time="t", event="e", ties=ties)
    X = np.column_stack([rows["x"], np.array(rows["g"]) == "B"])
    agree(ours, np.array(rows["t"]) - min(rows["t"]), rows["e"], X[:, :1] if one else X, ties)


def test_curves_of_odd_rows() -> None:
    far = BASE | {"t": [1000 * v for v in BASE["t"]]}
    assert ec.kaplan_meier("t", far | {"e": [0] * 90}, event="e").median == {"everybody": None}
    by = ec.kaplan_meier("t", far | {"e": ONLY_A}, event="e", by="g")
    assert by["B"].times == () and by["B"].median is None and by["A"].median is not None
    with pytest.raises(NoVariation, match="nobody had"):
        ec.logrank("t", far | {"e": [0] * 90}, event="e", by="g")
    wide = mu.Schema({**SCHEMA.column_specs, "t": mu.Integers(0, 40_000)})
    with pytest.raises(EmptyCategory, match="'C'"):
        ec.kaplan_meier("t", far, event="e", by="g", schema=wide)
    assert ec.kaplan_meier("t", far, event="e", by="g", schema=wide, groups=["A", "B"]).n == 90
    with pytest.raises(InvalidParameter, match="can be negative"):
        ec.kaplan_meier("t", far | {"t": [-1, *far["t"][1:]]}, event="e", by="g")
    with pytest.raises(InvalidParameter, match="no label 'D'"):
        ec.kaplan_meier("t", far, event="e", by="g", schema=wide, groups=["A", "D"])
    with pytest.raises(TooFewObservations):
        ec.cox("x + g", {name: column[:2] for name, column in BASE.items()}, time="t", event="e")


@pytest.mark.parametrize("ties", ["Efron", "exact", None, 3])
def test_other_ties_are_refused(ties: Any) -> None:
    with pytest.raises(InvalidParameter, match='must be "breslow" or "efron"'):
        ec.cox("x", BASE, time="t", event="e", ties=ties)
