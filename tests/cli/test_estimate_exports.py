"""`murmure estimate` on what a collector exports: reports to one question, in tables and in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import murmure as mu
from murmure.cli import main
from murmure.collector.service.exports import export
from murmure.plan.reports import Reports

ENDINGS = ("parquet", "csv", "json")
OFTEN = mu.Categories(["never", "once", "often"], column="cheated")
HOURS = mu.Integers(0, 8, column="hours")
RECORDS = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "kids": mu.Integers(0, 3)})
PLANS: dict[str, Any] = {
    "shares": mu.Plan(mu.Histogram(OFTEN), person=mu.GRR(OFTEN, epsilon=1.0)),
    "hashes": mu.Plan(mu.Histogram(OFTEN), person=mu.OLH(OFTEN, epsilon=1.0), coins="collector"),
    "memoised": mu.Plan(mu.Histogram(OFTEN), person=mu.RAPPOR(OFTEN, 2.0, 1.0)),
    "numbers": mu.Plan(mu.Histogram(HOURS), person=mu.GRR(HOURS, epsilon=2.0)),
    "mean": mu.Plan(mu.Mean(HOURS), person=mu.Piecewise(HOURS, epsilon=2.0)),
    "records": mu.Plan(mu.Marginals(RECORDS), person=mu.SMP(RECORDS, epsilon=2.0), coins="collector"),
}
N = 500


def reports(name: str, seeded: bool = False) -> Reports:
    plan = PLANS[name]
    people: Any = [["never", "once", "never", "often"][i % 4] for i in range(N)]
    if plan.statistic.domain is HOURS:
        people = [i % 9 for i in range(N)]
    elif plan.of_records:
        people = {"smoker": ["no", "yes"] * (N // 2), "kids": [i % 4 for i in range(N)]}
    return Reports(plan.report(people, mu.Random.seeded(3)).data, plan.digest, seeded)


@pytest.fixture
def exported(tmp_path: Path) -> Any:
    def make(name: str, ending: str, seeded: bool = False) -> Path:
        path = tmp_path / f"{name}.{ending}"
        export([reports(name, seeded)], PLANS[name], ending, path)  # type: ignore[arg-type]
        return path

    return make


def call(*args: Any) -> Result:
    return CliRunner().invoke(main, ["estimate", *map(str, args)])


def answer(*args: Any) -> dict[str, Any]:
    result = call(*args, "--json")
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", PLANS)
def test_the_figures_are_those_of_the_reports(exported: Any, name: str, ending: str) -> None:
    plan = PLANS[name]
    shown = answer(exported(name, ending))
    release = plan.estimate(reports(name))

    each = release.estimate.values() if plan.of_records else [release.estimate]
    key = "value" if name == "mean" else "share"
    assert [f[key] for f in shown["figures"] if key in f] == [float(v) for one in each for v in one.mean]
    assert (shown["people"], shown["plan"], shown["seeded"]) == (N, plan.digest, False)
    assert plan.of_records or shown["randomised_outside"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_words_page_and_picture(exported: Any, ending: str, tmp_path: Path) -> None:
    path = exported("numbers", ending, seeded=True)
    page, picture = tmp_path / "page.html", tmp_path / "picture.svg"
    result = call(path, "--html", page, "--plot", picture)

    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert f"{N} reports, plan {PLANS['numbers'].digest[:12]}" in text
    assert "hours share low high" in text and "mean of hours" in text
    assert "SEEDED RANDOMNESS" in text and "It protects one report" in text
    assert "hours" in page.read_text(encoding="utf-8") and picture.read_bytes().startswith(b"<?xml")


def test_the_three_endings_print_the_same(exported: Any) -> None:
    printed = {call(exported("shares", ending)).stdout for ending in ENDINGS}

    assert len(printed) == 1 and "never" in printed.pop()


def test_an_output_does_not_replace_the_reports(exported: Any) -> None:
    path = exported("shares", "json")
    before = path.read_bytes()
    result = call(path, "--html", path)

    assert result.exit_code == 2 and path.read_bytes() == before


@pytest.mark.parametrize("ending", ["parquet", "json"])
def test_columns_pairs_and_weights(exported: Any, ending: str) -> None:
    path = exported("shares", ending)

    assert answer(path, "--columns", "cheated") == answer(path)
    for options, words in (
        (["--columns", "age"], "there is no estimate of 'age'; there are estimates of ['cheated']"),
        (["--pair", "cheated,age"], "reports to one question, 'cheated'"),
        (["--weights", "w"], "reports to one question, 'cheated'"),
    ):
        result = call(path, *options)
        assert result.exit_code == 2 and words in " ".join(result.output.split()), result.output


def test_pairs_of_records_in_json(exported: Any) -> None:
    schema = mu.Schema({"a": mu.Categories(["x", "y"]), "b": mu.Categories(2)})
    plan = mu.Plan(mu.Marginals(schema), person=mu.SPL(schema, epsilon=2.0))
    made = plan.report({"a": ["x", "y"] * 200, "b": [0, 0, 1, 1] * 100}, mu.Random.seeded(4))
    path = exported("shares", "json").with_name("records.json")
    export([made], plan, "json", path)

    shown = answer(path, "--pair", "a,b")["pairs"]

    wanted = mu.Plan(mu.Pair(schema, "a", "b"), person=plan.person)
    total = mu.Plan(mu.Pair(schema, "a", "b"), person=plan.person).tallier.tally(made.data)
    assert [f["share"] for f in shown] == wanted.tallier.estimate(total, 400).mean.tolist()


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_truth_of_a_simulation(exported: Any, ending: str, tmp_path: Path) -> None:
    original = tmp_path / "original.csv"
    original.write_text("cheated\n" + "never\nonce\n" * 10)

    shown = answer(exported("shares", ending, seeded=True), "--truth", original)

    assert [f["truth"] for f in shown["figures"]] == [0.5, 0.5, 0.0]


def test_forged_reports_widen_the_intervals(exported: Any) -> None:
    path = exported("shares", "json")
    honest, forged = answer(path)["figures"][0], answer(path, "--forged", "25")["figures"][0]

    assert forged["low"] < honest["low"] and forged["high"] > honest["high"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"murmure": 1}', "wanted the key 'murmure_reports', got 'murmure'"),
        ('{"murmure_reports": 2}', "version 2 of this format; wanted 1"),
        ("", "got the end of the file"),
    ],
)
def test_files_that_are_no_reports(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    result = call(path)

    assert result.exit_code == 2 and words in " ".join(result.output.split()), result.output
    assert "Hint" in result.output or "hint" in result.output.lower()


def test_several_files_of_json(exported: Any) -> None:
    path = exported("shares", "json")
    result = call(path, path)

    assert result.exit_code == 2 and "one file, got 2 paths" in result.output
