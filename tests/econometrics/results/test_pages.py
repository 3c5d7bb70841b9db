"""Every result is a document: pictures whose numbers are in tables, folded tables, and names escaped once."""

from __future__ import annotations

import json
from typing import Any

import pytest

import murmure as mu
from murmure import econometrics as ec
from murmure.show.document import Curves, Intervals, Table

N = 60
ROWS: dict[str, list[Any]] = {
    "y": [(7 * i * i + 3 * i) % 41 for i in range(N)],
    "x": [(i * 29) % 80 for i in range(N)],
    "days": [1 + (i * i * 7 + i) % 29 for i in range(N)],
    "died": [(i * 3 + i // 7) % 4 // 2 for i in range(N)],
    "g": ["<b>&" if i % 3 else "it's" for i in range(N)],
}
RESULTS = {
    "ols": lambda: ec.ols("y ~ x + g", ROWS),
    "cox": lambda: ec.cox("x", ROWS, time="days", event="died"),
    "kaplan-meier": lambda: ec.kaplan_meier("days", ROWS, event="died", by="g"),
    "roc": lambda: ec.roc("x", ROWS, outcome="died"),
    "ridge": lambda: ec.ridge("y ~ x + g", ROWS),
    "pca": lambda: ec.pca(ROWS, columns=["x", "y", "days"]),
    "histogram": lambda: ec.histogram("x", ROWS, edges=(0, 20, 40, 80)),
    "values": lambda: ec.histogram("died", ROWS),
    "ecdf": lambda: ec.ecdf("y", ROWS),
    "quantiles": lambda: ec.quantiles("y", ROWS),
    "anova": lambda: ec.anova("y", ROWS, by="g"),
    "correlation": lambda: ec.correlation(ROWS, columns=["x", "y", "days"]),
    "contingency": lambda: ec.contingency("g", "died", ROWS),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_picture_adds_no_number_to_tables(name: str) -> None:
    result = RESULTS[name]()
    document = result.document()
    pictures = document.of(Intervals, Curves)

    assert pictures
    assert all(p.picture if isinstance(p, Intervals) else p.table is None for p in pictures)
    assert len(json.loads(result.to_json())["tables"]) == len(result.tables()) == len(document.of(Table))
    page = result.to_page()
    assert page.count('class="crowd') + page.count('class="curves"') == 2 * len(pictures)  # once in each language


@pytest.mark.parametrize("name", RESULTS)
def test_what_people_wrote_is_escaped_once(name: str) -> None:
    page = RESULTS[name]().to_page() + RESULTS[name]().to_html()

    assert "<b>&" not in page and "&amp;lt;" not in page and "&amp;#39;" not in page


def test_long_tables_behind_a_picture_are_folded_on_pages_and_whole_elsewhere() -> None:
    curves = RESULTS["kaplan-meier"]()
    medians, *groups = curves.tables()

    assert not medians.folded and groups and all(table.folded for table in groups)
    assert curves.to_page().count("<details>") == 2 * (len(groups) + 1)  # and the fingerprints
    assert all(str(table.title) in curves.summary() for table in groups)


def test_a_histogram_is_as_high_as_its_counts() -> None:
    [picture] = RESULTS["values"]().pictures()
    [curve] = picture.curves

    assert sorted({y for y in curve.y if y}) == sorted({float(ROWS["died"].count(v)) for v in (0, 1)})
    assert curve.x == tuple(sorted(curve.x)) and curve.y[0] == curve.y[-1] == 0.0


def test_a_survival_curve_starts_at_one_and_ends_with_the_baseline() -> None:
    fit = RESULTS["cox"]()
    _, picture = fit.pictures()
    [curve] = picture.curves

    assert curve.y[0] == 1.0 and curve.y[-1] == fit.baseline(at_means=True)[-1]["survival"]
    assert list(curve.y) == sorted(curve.y, reverse=True)


def test_warnings_come_first_and_an_epsilon_is_explained() -> None:
    schema = mu.Schema({"y": mu.Integers(0, 60), "x": mu.Integers(0, 99)})
    rows = {"y": ROWS["y"], "x": ROWS["x"]}
    noisy = ec.describe(rows, ["y"], schema=schema, privacy=mu.Central(epsilon=1.0), rng=mu.Random.seeded(1))
    lines = noisy.summary().splitlines()

    assert lines[2].startswith("SEEDED RANDOMNESS")
    assert "changes the odds by a factor of at most 2.72" in " ".join(noisy.summary().split())
    huge = ec.describe(rows, ["y"], schema=schema, privacy=mu.Central(epsilon=1e6), rng=mu.Random.seeded(1))
    assert "keeps almost nothing hidden" in huge.summary()


def test_with_delta_only_a_guess_is_bounded() -> None:
    """No factor bounds the odds when delta > 0. The sentence names what is protected, and what it rests on."""
    schema = mu.Schema({"y": mu.Integers(0, 60), "x": mu.Integers(0, 99)})
    rows = {"y": ROWS["y"], "x": ROWS["x"]}
    loose = mu.Central(epsilon=1.0, delta=0.01)
    told = " ".join(ec.describe(rows, ["y"], schema=schema, privacy=loose, rng=mu.Random.seeded(1)).summary().split())
    assert "by a factor of" not in told
    assert "guesses whether one row is in the table, from even odds, is right at most 73.4 times in 100" in told

    parts = [{name: column[k::5] for name, column in rows.items()} for k in range(5)]
    between = mu.Secure(epsilon=1.0, rows=1000, rows_are_public=True)
    shared = ec.describe(parts, ["y"], schema=schema, privacy=between, rng=mu.Random.seeded(1))
    assert "This holds provided" in " ".join(shared.summary().split())
