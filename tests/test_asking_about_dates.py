"""What can be asked about dates: answers are dates, and what needs numbers refuses with a way out."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.cli import main
from murmure.learn import KMeans, LinearRegression, NaiveBayes

SCHEMA = mu.Schema(
    {
        "admitted": mu.Dates("2024-01-01", "2024-12-31"),
        "month": mu.Dates("2024-01", "2024-12", unit="month"),
        "sick": mu.Categories(["no", "yes"]),
        "age": mu.Integers(0, 99),
    }
)
DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=7 * i % 366) for i in range(3660)]
ROWS = {
    "admitted": DAYS,
    "month": [day.isoformat()[:7] for day in DAYS],
    "sick": ["yes" if day.month < 4 else "no" for day in DAYS],
    "age": [day.day for day in DAYS],
}
EXACT = mu.DiscreteLaplace(epsilon=60.0)  # with this epsilon, noise is 0 but for a chance below 1e-20 a figure


def asked(statistic: Any) -> Any:
    return mu.run(mu.Plan(statistic, curator=EXACT), ROWS, rng=mu.Random.seeded(1))


def test_quantiles_of_dates_are_dates() -> None:
    release = asked(mu.Quantile(SCHEMA["admitted"], (0.25, 0.5, 0.75)))
    truth = [str(np.sort(DAYS)[int(np.ceil(q * len(DAYS))) - 1]) for q in (0.25, 0.5, 0.75)]

    rows = release.estimate.to_rows()
    assert [row["value"] for row in rows] == truth
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows)  # ISO dates are in order as texts
    assert [row["value"] for row in json.loads(release.to_json())["figures"]] == truth
    assert [SCHEMA["admitted"].label(int(code)) for code in release.estimate.mean] == truth
    for shown in (str(release.estimate), release.estimate.to_html(), release.estimate.to_latex()):
        assert all(date in shown for date in truth)
    assert release.estimate.to_frame()["value"].tolist() == truth


def test_quantiles_by_group_are_dates() -> None:
    rows = asked(mu.GroupBy(mu.Quantile(SCHEMA["month"]), SCHEMA["sick"])).estimate.to_rows()

    assert [(row["label"], row["value"]) for row in rows] == [("no", "2024-08"), ("yes", "2024-02")]


def test_where_takes_dates_however_they_are_given() -> None:
    truth = sum(dt.date(2024, 3, 5) <= day <= dt.date(2024, 5, 31) for day in DAYS)
    for ends in (("2024-03-05", "2024-05-31"), (dt.date(2024, 3, 5), np.datetime64("2024-05-31"))):
        question = mu.Where(mu.Count(SCHEMA["age"]), SCHEMA["admitted"], between=ends)
        assert question.between == ("2024-03-05", "2024-05-31")
        assert asked(question).estimate.counts[0] == truth
    one = mu.Where(mu.Count(SCHEMA["age"]), SCHEMA["month"], is_in=("2024-02-11", "2024-03"))
    assert one.is_in == ("2024-02", "2024-03")
    assert asked(one).estimate.counts[0] == sum(day.month in (2, 3) for day in DAYS)
    open_end = mu.Where(mu.Count(SCHEMA["age"]), SCHEMA["month"], between=("1990-01", "2024-02"))
    assert asked(open_end).estimate.counts[0] == sum(day.month < 3 for day in DAYS)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"between": ("2024-05", "2024-03")}, "holds no value"),
        ({"between": ("2025-01", "2025-03")}, "holds no value"),
        ({"between": ("1990-01", "1990-03")}, "holds no value"),
        ({"between": ("2024-01", "spring")}, "must be a month from 2024-01 to 2024-12, got 'spring'"),
        ({"between": (1, 12)}, "must be a month from"),
        ({"between": ("2024-01",)}, "must be two numbers or dates"),
        ({"is_in": ("2025-01",)}, "wanted a month from"),
        ({"is_in": ("spring",)}, "must be a month from"),
    ],
)
def test_bad_conditions_are_refused(condition: dict[str, Any], message: str) -> None:
    with pytest.raises(mu.MurmureError, match=message):
        mu.Where(mu.Count(SCHEMA["age"]), SCHEMA["month"], **condition)


def test_counts_of_dates() -> None:
    months = np.bincount([day.month - 1 for day in DAYS]).tolist()

    assert asked(mu.Histogram(SCHEMA["month"])).estimate.counts.tolist() == months
    assert asked(mu.Marginals(SCHEMA)).estimate["month"].counts.tolist() == months
    pair = asked(mu.Pair(SCHEMA, "month", "sick")).estimate
    assert int(np.asarray(pair.counts).sum()) == len(DAYS)
    mode = mu.run(mu.Plan(mu.Mode(SCHEMA["sick"]), curator=mu.Exponential(epsilon=5.0)), ROWS, rng=mu.Random.seeded(1))
    assert list(mode.estimate.labels) == ["no"]
    by_month = asked(mu.GroupBy(mu.Count(SCHEMA["age"]), SCHEMA["month"])).estimate
    assert [row["label"] for row in by_month.to_rows()] == list(SCHEMA["month"].labels())


@pytest.mark.parametrize("mechanism", [mu.GRR, mu.OUE, mu.SUE, mu.OLH, mu.BLH, mu.SubsetSelection, mu.HadamardResponse])
def test_every_mechanism_of_labels_takes_dates(mechanism: Any) -> None:
    """At a large epsilon reports say the truth, or nearly: shares are within five standard errors (chance 1e-5)."""
    domain = SCHEMA["month"]
    plan = mu.Plan(mu.Histogram(domain), person=mechanism(domain, epsilon=4.0))
    release = mu.run(plan, ROWS, rng=mu.Random.seeded(3))
    truth = np.bincount([day.month - 1 for day in DAYS]) / len(DAYS)

    assert list(release.estimate.labels) == domain.labels()
    assert (np.abs(release.estimate.mean - truth) < 5 * np.sqrt(release.estimate.variance())).all()
    assert mu.certify(plan.person).epsilon <= 4.0


@pytest.mark.parametrize("make", [mu.Mean, mu.Sum, mu.Variance])
def test_moments_of_dates_are_refused_with_a_way_out(make: Any) -> None:
    with pytest.raises(mu.MurmureError, match=r"Quantile\(domain\).*Integers\(0, 365\)"):
        make(SCHEMA["admitted"])


@pytest.mark.parametrize("make", [mu.Duchi, mu.Piecewise, mu.SquareWave, mu.BoundedLaplace, mu.Hybrid, mu.Window])
def test_mechanisms_of_numbers_refuse_dates(make: Any) -> None:
    with pytest.raises(mu.MurmureError, match=r"Histogram\(domain\)"):
        make(SCHEMA["admitted"], 1.0)


@pytest.mark.parametrize("solution", [mu.SPL, mu.SMP, mu.RSFD, mu.ADP])
def test_sanitised_tables_show_dates(solution: Any, tmp_path: Path) -> None:
    """Rows of a table of dates, reported as dates where a report is a value; estimated from the file again."""
    schema = mu.Schema({"month": SCHEMA["month"], "sick": SCHEMA["sick"]})
    settings = {"oracle": "GRR"} if solution in (mu.SPL, mu.SMP) else {}
    table = mu.sanitise(ROWS, solution(schema, epsilon=8.0, **settings), rng=mu.Random.seeded(2))
    shown = set(table["month"].to_pylist()) if pa.types.is_dictionary(table["month"].type) else set()
    pyarrow.parquet.write_table(table, tmp_path / "table.parquet")

    assert shown - {None} <= set(SCHEMA["month"].labels())
    assert shown or not settings
    estimate = mu.estimate(tmp_path / "table.parquet").estimate
    truth = np.bincount([day.month - 1 for day in DAYS]) / len(DAYS)
    assert np.abs(estimate["month"].mean - truth).max() < 0.06


def test_sums_compare_dates_by_equality() -> None:
    sums = asked_exactly('age * (month == "2024-02")')

    assert sums == sum(day.day for day in DAYS if day.month == 2)
    with pytest.raises(mu.MurmureError, match=r"compared by == or != only.*\n.*between=\(first, last\)"):
        mu.Sums(SCHEMA, ('(month > "2024-02")',))
    with pytest.raises(mu.MurmureError, match="holds labels, not numbers"):
        mu.Sums(SCHEMA, ("month",))


def asked_exactly(expression: str) -> float:
    plan = mu.Plan(mu.Sums(SCHEMA, (expression,)), parties=mu.PairwiseMasks(3))
    third = len(DAYS) // 3
    parts = [{name: values[i * third : (i + 1) * third] for name, values in ROWS.items()} for i in range(3)]
    return float(mu.run(plan, parts).estimate.to_rows()[0]["value"])


def test_naive_bayes_takes_dates_as_labels() -> None:
    schema = mu.Schema({"month": SCHEMA["month"], "sick": SCHEMA["sick"]})
    model = NaiveBayes(schema, "sick", mu.Central(epsilon=20.0), rng=mu.Random.seeded(4)).fit(ROWS)

    assert list(model.predict({"month": ["2024-02-11", "2024-09"]})) == ["yes", "no"]


def test_learners_of_numbers_say_what_they_do_with_dates() -> None:
    numbers = mu.Schema({"month": SCHEMA["month"], "age": SCHEMA["age"]})
    with pytest.raises(mu.MurmureError, match="month"):
        KMeans(2, numbers, mu.Central(epsilon=1.0)).fit(ROWS)
    # One column of 0 and 1 for each month but the first, as for any label.
    model = LinearRegression(numbers, "age", mu.Central(epsilon=50.0), rng=mu.Random.seeded(5)).fit(ROWS)
    assert len(model.predict({"month": ["2024-02", "2024-03"]})) == 2


def test_the_command_line_asks_about_dates(tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(SCHEMA.to_toml())
    lines = [",".join(map(str, row)) for row in zip(*ROWS.values(), strict=True)]
    (tmp_path / "people.csv").write_text("\n".join([",".join(ROWS), *lines]) + "\n")
    data = [str(tmp_path / "people.csv"), "--schema", str(tmp_path / "schema.toml"), "--epsilon", "60", "--no-ledger"]

    def figures(*arguments: str) -> Any:
        result = CliRunner().invoke(main, ["query", *arguments, *data, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    median = figures("quantile", "--column", "admitted")
    assert median["figures"][0]["value"] == str(np.sort(DAYS)[len(DAYS) // 2 - 1])
    assert any("Dates are treated as numbers are" in note for note in median["notes"])
    spring = figures("count", "--where", "admitted=2024-03-01:2024-05-31")["figures"][0]["count"]
    assert spring == sum(day.month in (3, 4, 5) for day in DAYS)
    march = figures("count", "--where", "month=2024-03-20")["figures"][0]["count"]
    assert march == sum(day.month == 3 for day in DAYS)
    for arguments, message in {
        ("mean", "--column", "admitted"): "holds dates",
        ("count", "--where", "admitted=spring"): "COLUMN=DATE or COLUMN=FIRST:LAST",
        ("count", "--where", "admitted=2024-05-01:"): "COLUMN=DATE or COLUMN=FIRST:LAST",
    }.items():
        result = CliRunner().invoke(main, ["query", *arguments, *data])
        assert result.exit_code == 2 and message in result.output
