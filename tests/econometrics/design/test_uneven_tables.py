"""What a statistician meets on a table of one's own: columns of one value, NA among numbers, odd names, which label."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import murmure as mu
import murmure.econometrics as ec
from murmure.core.decimals import Decimals
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, OutsideDomain
from murmure.core.schema import Schema
from murmure.econometrics.design.inferred_schema import infer_schema
from murmure.econometrics.design.number_texts import strange_among_numbers
from murmure.econometrics.errors import Collinear, FitFailed, NoVariation

N = 120
AT = np.arange(N)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(8)
    return pd.DataFrame(
        {
            "time": rng.integers(1, 40, N),
            "years": rng.exponential(3, N),
            "x": rng.integers(0, 20, N),
            "y": rng.integers(0, 9, N),
            "arm": np.array(["old", "new"])[rng.integers(0, 2, N)],
            "state": np.array(["survived", "died", "moved"])[rng.integers(0, 3, N)],
            "died": np.array(["survived", "died"])[rng.integers(0, 2, N)],
            "z": rng.integers(0, 2, N),
            "body mass": rng.integers(1, 9, N),
            "class": rng.integers(0, 2, N),
            "one": 1,
            "one point": 1.0,
            "zero": 0,
            "five": 5,
            "dead": "dead",
        }
    )


# -- one value for everybody ------------------------------------------------------------------------------------------


def test_a_column_of_ones_is_one_of_no_and_yes(tmp_path: Path) -> None:
    table = {"one": [1, 1], "zero": [0, 0], "float": [1.0, 1.0], "five": [5, 5], "tenth": [0.1, 0.1]}
    wanted = [Integers(0, 1)] * 3 + [Integers(5, 6), Decimals("0.1", "1.1", 1)]
    schema = infer_schema(table)
    assert [schema.column_specs[name].domain for name in table] == wanted
    assert schema.column_specs["tenth"].note.endswith("every row holds 0.1")
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    assert infer_schema(tmp_path / "t.csv").column_specs["float"].domain == Decimals(0, 1, 0)  # written 1.0
    assert infer_schema({"x": [1, 1]}, labels=["x"]).column_specs["x"].domain == Categories([0, 1])
    assert infer_schema([{"x": [1, 1]}, {"x": [1, 2]}]).column_specs["x"].note == ""


@pytest.mark.parametrize("event", ["one", "one point", "dead == 'dead'", "five == 5"])
def test_survival_without_anybody_who_leaves_before(rows: pd.DataFrame, event: str) -> None:
    ours = ec.kaplan_meier("time", rows, event=event)
    theirs = sm.SurvfuncRight(rows["time"], rows["one"])
    np.testing.assert_allclose(ours.curves[0].survival, theirs.surv_prob, rtol=1e-12, atol=1e-12)
    assert ours.median["everybody"] == theirs.quantile(0.5)
    assert sum(ours.curves[0].events) == N


def test_cox_without_anybody_who_leaves_before(rows: pd.DataFrame) -> None:
    theirs = sm.PHReg(rows["time"].astype(float), rows[["x"]].astype(float), status=rows["one"], ties="breslow").fit()
    for event in ("one", "dead == 'dead'"):
        np.testing.assert_allclose(ec.cox("x", rows, time="time", event=event).params, theirs.params, rtol=1e-6)


@pytest.mark.parametrize("name", ["one", "five", "dead"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda rows, name: ec.roc("x", rows, outcome=name),
        lambda rows, name: ec.logit(f"{name} ~ x", rows),
        lambda rows, name: ec.ttest("y", rows, by=name),
        lambda rows, name: ec.anova("y", rows, by=name),
        lambda rows, name: ec.ols(f"y ~ {name}", rows),
        lambda rows, name: ec.ols(f"y ~ C({name})", rows),
        lambda rows, name: ec.did("y", rows, treated=name, post="z"),
        lambda rows, name: ec.logrank("time", rows, event="z", by=name),
        lambda rows, name: ec.contingency(name, "z", rows),
    ],
)
def test_a_constant_is_named_and_no_value_is_made_up(rows: pd.DataFrame, ask: Callable[..., Any], name: str) -> None:
    with pytest.raises((NoVariation, Collinear)) as caught:
        ask(rows, name)
    said = str(caught.value)
    assert name in said and "other than" not in said and "6" not in said and "2" not in said
    assert caught.value.hint


@pytest.mark.parametrize("name", ["five", "dead"])
def test_nobody_guesses_which_value_is_the_event(rows: pd.DataFrame, name: str) -> None:
    held = {"five": "5", "dead": "'dead'"}[name]
    for ask in (
        lambda: ec.kaplan_meier("time", rows, event=name),
        lambda: ec.logrank("time", rows, event=name, by="arm"),
        lambda: ec.cox("x", rows, time="time", event=name),
        lambda: ec.roc("x", rows, outcome=name),
        lambda: ec.mantel_haenszel("z", name, rows, strata="arm"),
    ):
        with pytest.raises(NoVariation, match=f"every row of column '{name}' holds {held}") as caught:
            ask()
        assert "schema" in str(caught.value.hint)
    with pytest.raises(NoVariation, match=f"holds {held}"):  # also where the condition says which it is
        ec.roc("x", rows, outcome=f"{name} == {held}")


def test_weights_and_exposures_of_one_are_above_zero(rows: pd.DataFrame) -> None:
    weighed, plain = ec.wls("y ~ x", rows, "one"), ec.ols("y ~ x", rows)
    assert weighed.llf == pytest.approx(plain.llf) and weighed.coefficients == plain.coefficients
    for name in ("one", "one point"):
        exposed = ec.poisson("y ~ x", rows, offset=f"log(`{name}`)")
        np.testing.assert_allclose(exposed.params, ec.poisson("y ~ x", rows).params, rtol=1e-10)


def test_one_stratum_is_one(rows: pd.DataFrame) -> None:
    out = ec.mantel_haenszel("z", "died", rows, strata="dead")
    assert out.strata == ("dead",) and out.dropped == ()
    assert out.notes[0] == "Exposed: z = 1; outcome: died = 'survived'."


# -- NA among numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["NA", "N/A", "null", ".", "unknown", "3,5"])
def test_numbers_with_something_else_are_no_labels(tmp_path: Path, word: str) -> None:
    table = pd.DataFrame({"y": AT % 7, "x": (AT % 10).astype(str)})
    table.loc[[4, 9], "x"] = word
    table.to_csv(tmp_path / "t.csv", index=False)
    for held in (tmp_path / "t.csv", table):
        with pytest.raises(OutsideDomain) as caught:
            ec.ols("y ~ x", held)
        said = str(caught.value)
        assert (
            f"column 'x': row 4 is not a number, although most of the column is (2 of {N} rows hold '{word}')" in said
        )
        assert ("decimal points" if "," in word else "leave those rows out") in said and "C(x)" in said
        assert len(ec.ols("y ~ C(x)", held).names) == 1 + 10  # ten digits and the word, less the base
    with pytest.raises(OutsideDomain, match="party 2: column 'x': row 4"):
        infer_schema([{"y": [1], "x": ["1"]}, table])
    schema = Schema({"y": Integers(0, 6), "x": Categories(sorted(set(table["x"])))})
    assert len(ec.ols("y ~ x", tmp_path / "t.csv", schema=schema).names) == 1 + 10


def test_a_later_batch_or_too_many_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from murmure.econometrics.design import column_profile

    many = pd.DataFrame({"x": [*(f"{i}.5" for i in range(70_000)), "NA"]})
    many.to_csv(tmp_path / "t.csv", index=False)
    for most in (column_profile.MAX_INFERRED_LABELS, 1000):
        monkeypatch.setattr(column_profile, "MAX_INFERRED_LABELS", most)
        with pytest.raises(OutsideDomain, match=r"row 70000 is not a number.*\(1 of 70001 rows hold 'NA'\)"):
            infer_schema(tmp_path / "t.csv")


@pytest.mark.parametrize(
    "labels",
    [
        ["01", "02", "3", "NA"],
        ["A1", "A2", "10"],
        ["1", "b"],
        ["2024-01-01", "2024-02-01", "3"],
        ["1.2.2024", "2.2.2024"],
        ["a", "b", "NA"],
        ["0x1f", "10", "11", "12", "."],
        ["0-9", "10-19", "80+"],
    ],
)
def test_codes_stay_labels(tmp_path: Path, labels: list[str]) -> None:
    assert strange_among_numbers(labels) == []
    pd.DataFrame({"x": labels}).to_csv(tmp_path / "t.csv", index=False)
    wanted = [label for label in labels if label != ""]
    assert infer_schema({"x": labels}).column_specs["x"].domain == Categories(sorted(wanted))
    assert infer_schema(tmp_path / "t.csv").column_specs["x"].domain == Categories(sorted(wanted))


def test_what_is_declared_as_labels_is_taken_as_such() -> None:
    held = pd.DataFrame({"x": pd.Categorical(["1", "2", "3", "NA"])})
    assert infer_schema(held).column_specs["x"].domain == Categories(["1", "2", "3", "NA"])
    assert strange_among_numbers(["1 234", "12%", "5"]) == ["1 234", "12%"]


# -- which label is the event -----------------------------------------------------------------------------------------


def test_a_condition_says_which_label_counts(rows: pd.DataFrame) -> None:
    table = rows.assign(ended=(rows["state"] == "died").astype(int))
    for by in (None, "arm"):
        one = ec.kaplan_meier("time", table, event="state == 'died'", by=by)
        other = ec.kaplan_meier("time", table, event="ended", by=by)
        assert [c.shares for c in one.curves] == [c.shares for c in other.curves]
        assert ("event", "state = 'died'") in one.facts() and ("event", "ended = 1") in other.facts()
        assert "state = 'died'" in one.summary() and one.to_html()
    one, other = (ec.logrank("time", table, event=e, by="arm") for e in ("state == 'died'", "ended"))
    assert one.statistic == other.statistic and ("event", "state = 'died'") in one.facts()
    one, other = (ec.roc("x", table, outcome=e) for e in ("state == 'died'", "ended"))
    assert one.auc == other.auc and ("outcome", "state = 'died'") in one.facts()
    one, other = (ec.cox("x", table, time="time", event=e) for e in ("state == 'died'", "ended"))
    np.testing.assert_array_equal(one.params, other.params)


def test_two_labels_are_the_wrong_way_round_and_say_so(rows: pd.DataFrame) -> None:
    assert ("event", "died = 'survived'") in ec.kaplan_meier("time", rows, event="died").facts()
    assert "died == 'survived'" in ec.cox("x", rows, time="time", event="died").outcome
    right = ec.kaplan_meier("time", rows, event="died == 'died'")
    assert sum(right.curves[0].events) == (rows["died"] == "died").sum()
    assert ec.kaplan_meier("time", rows, event="'died' == died").curves[0].shares == right.curves[0].shares


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("state == 'gone'", "has no label"),
        ("state", "must hold two values"),
        ("state != 'died'", "no column"),
        ("years == 3", "does not hold labels"),
        ("stat == 'died'", "no column 'stat'"),
    ],
)
def test_conditions_that_name_no_label(rows: pd.DataFrame, event: str, words: str) -> None:
    with pytest.raises((InvalidParameter, LookupError), match=words):
        ec.kaplan_meier("time", rows, event=event)


# -- times that are no whole numbers ----------------------------------------------------------------------------------


def test_times_in_years_take_no_grid_in_the_clear(rows: pd.DataFrame) -> None:
    """Between parties each time is a sum, and a grid is asked for before any row is read."""
    times = np.asarray(rows["years"])
    schema = mu.Schema(
        {"years": mu.Decimals(0, float(np.ceil(times.max())), 12), "z": mu.Integers(0, 1), "x": mu.Integers(-999, 999)}
    )
    parts = [rows[i::3] for i in range(3)]
    for ask in (
        lambda data, **more: ec.kaplan_meier("years", data, event="z", **more),
        lambda data, **more: ec.cox("x", data, time="years", event="z", **more),
    ):
        assert ask(rows).n == ask(rows, grid=100).n == N
        with pytest.raises(InvalidParameter) as caught:
            ask(parts, schema=schema, privacy=mu.Secure(rows_are_public=True))
        assert "years" in str(caught.value) and "grid=100" in str(caught.value) and "grid=[" in str(caught.value)
    theirs = sm.PHReg(rows["years"], rows[["x"]].astype(float), status=rows["z"], ties="breslow").fit(tol=1e-14)
    np.testing.assert_allclose(ec.cox("x", rows, time="years", event="z").params, theirs.params, rtol=1e-8)
    fine = ec.cox("x", rows, time="years", event="z", grid=20_000)
    np.testing.assert_allclose(fine.params, theirs.params, rtol=1e-2)
    np.testing.assert_array_equal(
        ec.cox("x", rows, time="time", event="z", grid=100).params, ec.cox("x", rows, time="time", event="z").params
    )
    with pytest.raises(InvalidParameter, match="is not a column"):
        ec.cox("x", rows, time="years + 1", event="z", grid=10)
    with pytest.raises(InvalidParameter, match="must be times"):
        ec.cox("x", rows, time="years", event="z", grid="10")


# -- names ------------------------------------------------------------------------------------------------------------


def test_names_that_are_no_single_word(rows: pd.DataFrame) -> None:
    plain = rows.rename(columns={"body mass": "mass", "class": "kind"})
    held = infer_schema(rows)
    for schema in (None, held):
        a = ec.cox("x", rows, time="body mass", event="class", schema=schema)
        b = ec.cox("x", plain, time="mass", event="kind")
        np.testing.assert_array_equal(a.params, b.params)
        a, b = ec.wls("y ~ x", rows, "body mass", schema=schema), ec.wls("y ~ x", plain, "mass")
        np.testing.assert_array_equal(a.params, b.params)
        a = ec.did("body mass", rows, treated="class", post="z", schema=schema)
        b = ec.did("mass", plain, treated="kind", post="z")
        np.testing.assert_array_equal(a.params, b.params)
        a, b = (ec.poisson("y ~ x", t, offset=o) for t, o in ((rows, "body mass"), (plain, "mass")))
        np.testing.assert_array_equal(a.params, b.params)
    assert ec.wls("y ~ x", rows, "`body mass` + 1").n == N  # an expression stays one
    assert ec.kaplan_meier("body mass", rows, event="`class` == 1").n == N


def test_numbers_are_no_name(rows: pd.DataFrame) -> None:
    with pytest.raises(InvalidParameter, match=r"wls.weights must be the name of a column.*got Series"):
        ec.wls("y ~ x", rows, rows["x"])
    with pytest.raises(InvalidParameter, match=r"poisson.offset must be the name of a column.*got ndarray"):
        ec.poisson("y ~ x", rows, offset=np.log(rows["x"].to_numpy() + 1))


# -- the rest ---------------------------------------------------------------------------------------------------------


def test_levels_of_parties_take_parties(rows: pd.DataFrame) -> None:
    for data in (rows, [rows], []):
        with pytest.raises(InvalidParameter, match="a list of tables, one for each party"):
            ec.fixed_effects("y ~ x", data)
    assert ec.fixed_effects("y ~ x", [rows[:60], rows[60:]]).extras["Levels of parties"] == 2


def test_a_whole_table_is_described_without_its_dates(rows: pd.DataFrame) -> None:
    out = ec.describe(rows.assign(day=pd.Timestamp("2024-04-16")))
    assert "x" in out.mean and "day" not in out.mean


def test_ratios_stand_beside_coefficients(rows: pd.DataFrame) -> None:
    for fit, title, columns in (
        (ec.logit("z ~ x", rows), "Odds ratios", 2),
        (ec.poisson("y ~ x", rows), "Rate ratios", 2),
        (ec.negative_binomial("x ~ y", rows), "Rate ratios", 2),
    ):
        table = next(t for t in fit.tables() if t.title == title)
        low, high = np.exp(fit.conf_int()[1])
        assert len(table.rows) == columns and table.rows[1][1:] == (np.exp(fit.params[1]), low, high)
        np.testing.assert_array_equal(fit.ratios, np.exp(fit.params[:columns]))
        assert title in fit.summary()
    assert ec.probit("z ~ x", rows).ratios is None
    assert issubclass(NoVariation, FitFailed)
