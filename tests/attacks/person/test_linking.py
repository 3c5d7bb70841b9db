"""Linkage: the posterior person by person against likelihoods written out, ties, public columns, files, bad input."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import murmure as mu
from murmure.attacks import linkage
from murmure.attacks.person.links import link_scores
from murmure.attacks.person.links.link_scores import KnownRecords, _bundles
from murmure.cli import main
from murmure.core.errors import InvalidParameter, MurmureError, PlanMismatch
from murmure.core.random import Random
from murmure.run.tables.table_format import TableFormat

SCHEMA = mu.Schema({"a": mu.Categories(3), "b": mu.Categories(4), "c": mu.Categories(["no", "yes"])})
EVEN = {"a": [0.2, 0.3, 0.5], "b": [0.4, 0.3, 0.2, 0.1], "c": [0.6, 0.4]}
MECHANISMS = {
    "SPL": mu.SPL(SCHEMA, 5.0),
    "SPL-OUE": mu.SPL(SCHEMA, 5.0, "OUE"),
    "SPL-OLH": mu.SPL(SCHEMA, 6.0, "OLH"),
    "SPL-SS": mu.SPL(SCHEMA, 6.0, "SubsetSelection"),
    "SMP": mu.SMP(SCHEMA, 2.0),
    "SMP-2": mu.SMP(SCHEMA, 3.0, sample=2),
    "RSFD": mu.RSFD(SCHEMA, 3.0),
    "RSFD-OUE-z": mu.RSFD(SCHEMA, 3.0, "OUE-z"),
    "RSFD-SUE-r": mu.RSFD(SCHEMA, 3.0, "SUE-r"),
    "RSRFD": mu.RSRFD(SCHEMA, 3.0, EVEN),
    "ADP": mu.ADP(SCHEMA, 3.0),
    "ADP-rsfd": mu.ADP(SCHEMA, 3.0, "rsfd"),
}
SLIGHT = Fraction(1, 10**12)


def people(n: int, seed: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"a": rng.integers(0, 3, n), "b": rng.integers(0, 4, n), "c": np.array(["no", "yes"])[rng.integers(0, 2, n)]}


def by_hand(table: Any, plan: mu.Plan, rows: dict[str, Any], tops: list[int]) -> tuple[list[float], list[float]]:
    """Exact fractions of every report and person, sorted; ties in all orders on average. Slow."""
    records = TableFormat(plan).records(table.to_batches()[0])
    codes = [tuple(map(int, row)) for row in zip(*plan.statistic.domain.encode(rows), strict=True)]  # type: ignore[union-attr]
    counted, promised = np.zeros(len(tops)), np.zeros(len(tops))
    for i in range(len(records)):
        likely = [plan.person.channel.prob(x, records.row(i)) for x in codes]
        # odds of two columns at one epsilon differ by the rounding of their laws to 2**-64: that is a tie
        above = sum(p > likely[i] * (1 + SLIGHT) for p in likely)
        same = sum(p >= likely[i] * (1 - SLIGHT) for p in likely) - above
        ordered = sorted(likely, reverse=True)
        for t, k in enumerate(tops):
            counted[t] += min(1.0, max(0.0, (k - above) / same))
            promised[t] += float(sum(ordered[:k]) / sum(ordered))
    return list(counted / len(records)), list(promised / len(records))


@pytest.mark.parametrize("sizes", [(10, 10, 3, 50, 7), (2, 2, 2, 2, 2, 2, 2, 2), (300, 2, 2), (1, 1)])
def test_attributes_are_looked_up_together_while_their_table_is_small(sizes: tuple[int, ...]) -> None:
    """A bundle has at most one value for every eight people, or one attribute; and no two neighbours would fit in one.

    Its codes are those of NumPy for several places.
    """
    rng = np.random.default_rng(4)
    codes = tuple(rng.integers(0, k, 800) for k in sizes)
    people = KnownRecords(codes, np.arange(800), np.ones(800, np.int64))
    found = list(_bundles(range(len(sizes)), sizes, people))
    tables = [math.prod(sizes[i] for i in bundle) for bundle, _ in found]

    assert [i for bundle, _ in found for i in bundle] == list(range(len(sizes)))
    assert all(table <= 100 or len(bundle) == 1 for table, (bundle, _) in zip(tables, found, strict=True))
    assert all(table * sizes[after[0]] > 100 for table, (after, _) in zip(tables, found[1:], strict=False))
    for bundle, together in found:
        wanted = np.ravel_multi_index([codes[i] for i in bundle], [sizes[i] for i in bundle])
        assert together.tolist() == wanted.tolist()


@pytest.mark.parametrize("name", MECHANISMS)
def test_exact_posterior(name: str) -> None:
    mechanism, rows, tops = MECHANISMS[name], people(24), [1, 3, 10]
    table = mu.sanitise(rows, mechanism, rng=Random.seeded(2))
    plan = mu.Plan(mu.Marginals(SCHEMA), person=mechanism)
    counted, promised = by_hand(table, plan, rows, tops)

    assert [row.value for row in linkage(table, rows, top=tops, same_order=True).rows] == pytest.approx(counted)
    assert [row.value for row in linkage(table, rows, top=tops).rows] == pytest.approx(promised)
    assert [row.baseline for row in linkage(table, rows, top=tops).rows] == pytest.approx([k / 24 for k in tops])


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = people(50)
    for name in ("SPL", "SMP-2", "RSFD-OUE-z"):
        table = mu.sanitise(rows, MECHANISMS[name], rng=Random.seeded(2))
        whole = [row.value for row in linkage(table, rows, same_order=True).rows]
        with monkeypatch.context() as patch:
            patch.setattr(link_scores, "BLOCK", 100)
            assert [row.value for row in linkage(table, rows, same_order=True).rows] == pytest.approx(whole)


@pytest.mark.parametrize("name", ["SPL", "SMP", "RSFD", "RSRFD", "ADP"])
def test_the_posterior_promises_what_is_counted(name: str) -> None:
    """Rows of 300 people again and again: mean hits and mean promise agree (5 tables, 6 standard errors of a hit)."""
    rows = people(300)
    tables = [mu.sanitise(rows, MECHANISMS[name], rng=Random.seeded(i)) for i in range(5)]
    hits = np.mean([linkage(t, rows, top=10, same_order=True).rows[0].value for t in tables])
    promise = np.mean([linkage(t, rows, top=10).rows[0].value for t in tables])
    assert abs(hits - promise) < 6 * math.sqrt(promise * (1 - promise) / 1500)
    drawn = linkage(MECHANISMS[name], rows, top=10, repetitions=5, rng=Random.seeded(5)).rows[0]
    assert drawn.repetitions == 5 and abs(drawn.value - promise) < 6 * math.sqrt(promise * (1 - promise) / 1500)


def test_a_guess_that_ignores_the_report_is_found() -> None:
    """A mutant: rows in another order are nobody's hits; what is counted falls to the base rate."""
    rows, n = people(200), 200
    table = mu.sanitise(rows, mu.SPL(SCHEMA, 12.0), rng=Random.seeded(1))
    turned = {name: np.roll(column, 7) for name, column in rows.items()}
    right, wrong = (linkage(table, people_, top=10, same_order=True).rows[0].value for people_ in (rows, turned))
    assert right > 0.6 and abs(wrong - 10 / n) < 0.1


def test_public_columns_must_agree() -> None:
    """What is not randomised links by itself: a public column with a value of each person names everybody."""
    schema = mu.Schema({"a": mu.Categories(3), "town": mu.Column(mu.Categories(5), public=True)})
    rows = {"a": [0, 1, 2, 0, 1, 2], "town": [0, 0, 1, 2, 3, 4]}
    table = mu.sanitise(rows, mu.SMP(schema, 1.0), rng=Random.seeded(1))
    row = linkage(table, rows, top=1, same_order=True).rows[0]
    assert row.baseline == pytest.approx((4 + 2 * 0.5) / 6) and row.value >= row.baseline - 1 / 6
    hidden = {"a": rows["a"]}  # the attacker does not know the towns
    assert linkage(table, hidden, top=1, same_order=True).rows[0].baseline == pytest.approx(1 / 6)
    elsewhere = rows | {"town": [4, 4, 4, 4, 4, 4]}
    assert linkage(table, elsewhere, top=1).rows[0].baseline == pytest.approx(1 / 6)


def test_samples_and_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    from murmure.attacks.person import linking

    rows = people(100)
    table = mu.sanitise(rows, MECHANISMS["SPL"], rng=Random.seeded(1))
    result = linkage(table, rows, same_order=True, targets=30, rng=Random.seeded(1))
    assert result.details["targets"] == 30 and result.rows[0].low is not None
    assert any("sample of 30 rows" in note for note in result.notes)
    drawn = linkage(MECHANISMS["SPL"], rows, targets=30, repetitions=2, rng=Random.seeded(1))
    assert drawn.details["targets"] == 30 and drawn.rows[0].repetitions == 2
    monkeypatch.setattr(linking, "MAX_PAIRS", 500)
    with pytest.raises(InvalidParameter, match=r"(?s)at most 500 are.*targets=\d+"):
        linkage(table, rows)
    assert linkage(table, rows, targets=5).rows


def test_different_people_in_both_tables() -> None:
    """The identified table may hold fewer or more people; then nothing can be counted, only promised."""
    table = mu.sanitise(people(50), MECHANISMS["SPL"], rng=Random.seeded(1))
    row = linkage(table, people(20, 2), top=1).rows[0]
    assert row.baseline == pytest.approx(1 / 20) and row.value > row.baseline
    with pytest.raises(InvalidParameter, match="50 rows and the identified one 20"):
        linkage(table, people(20), same_order=True)


def test_nobody_is_named() -> None:
    """No row number, no value of a person: only shares."""
    rows = {"a": [0, 1, 2] * 10, "b": [3, 2, 1] * 10, "c": ["no", "yes", "no"] * 10}
    table = mu.sanitise(rows, MECHANISMS["SPL"], rng=Random.seeded(1))
    fields = json.loads(linkage(table, rows).to_json())
    assert set(fields) - {"type", "attack", "title", "threat", "measure", "axis", "level", "notes"} == {
        "rows", "reports", "targets", "people", "truth_known",
    }  # fmt: skip


def test_tables_in_files_and_frames(tmp_path: Path) -> None:
    rows = people(30)
    source = tmp_path / "people.csv"
    source.write_text("a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(*rows.values(), strict=True)))
    found = []
    for name in ("t.parquet", "t.csv", "t.arrow"):
        mu.sanitise(rows, MECHANISMS["SMP"], tmp_path / name, rng=Random.seeded(3))
        found.append(linkage(tmp_path / name, source, same_order=True).rows[0].value)
    assert len(set(found)) == 1
    table = mu.sanitise(rows, MECHANISMS["SMP"], rng=Random.seeded(3))
    bare = table.replace_schema_metadata(None)
    plan = mu.Plan(mu.Marginals(SCHEMA), person=MECHANISMS["SMP"])
    assert linkage(bare, rows, plan=plan, same_order=True).rows[0].value == found[0]
    with pytest.raises(InvalidParameter, match="carries no plan"):
        linkage(bare, rows)
    with pytest.raises(PlanMismatch, match="answers plan"):
        linkage(table, rows, plan=mu.Plan(mu.Marginals(SCHEMA), person=MECHANISMS["SPL"]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"top": 0}, "top must be a whole number"),
        ({"top": []}, "top must hold at least one"),
        ({"targets": 0}, "targets must be a whole number"),
        ({"identified": {"a": [0], "b": [1]}}, "c"),
        ({"identified": {"a": [9], "b": [1], "c": ["no"]}}, "a"),
        ({"identified": {"a": [], "b": [], "c": []}}, "no rows"),
        ({"rng": 1}, "rng must be a murmure.Random"),
    ],
)
def test_bad_input(settings: dict[str, Any], message: str) -> None:
    rows = people(10)
    given = {"sanitised": mu.sanitise(rows, MECHANISMS["SPL"], rng=Random.seeded(1)), "identified": rows} | settings
    with pytest.raises(MurmureError, match=message):
        linkage(**given)


@pytest.mark.parametrize(
    "plan",
    [
        mu.Plan(mu.Histogram(mu.Categories(3)), person=mu.GRR(mu.Categories(3), 1.0)),
        mu.Plan(mu.Marginals(SCHEMA), curator=mu.DiscreteLaplace(epsilon=1.0)),
    ],
)
def test_only_plans_in_which_people_randomise_records_are_linked(plan: mu.Plan) -> None:
    """Not the reports to one question, nor the exact rows of a curator: each is refused by what its plan is about."""
    with pytest.raises(InvalidParameter, match="a sanitised table answers a plan about records, got"):
        linkage(pa.table(people(10)), people(10), plan=plan)


def test_a_changed_table_is_refused() -> None:
    table = mu.sanitise(people(10), MECHANISMS["SMP"], rng=Random.seeded(1))
    empty = table.set_column(0, "a", pa.nulls(10, table.schema.field("a").type))
    with pytest.raises(MurmureError, match="changed after it was sanitised"):
        linkage(empty, people(10))


def murmure(*words: Any) -> Any:
    return CliRunner().invoke(main, ["attack", "link", *map(str, words)])


def test_command(tmp_path: Path) -> None:
    rows = people(60)
    source, out, page, picture = (tmp_path / name for name in ("p.csv", "s.parquet", "a.html", "a.png"))
    source.write_text("a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(*rows.values(), strict=True)))
    mu.sanitise(source, MECHANISMS["SPL"], out, rng=Random.seeded(3))

    known = json.loads(murmure(out, source, "--same-order", "--top", "1,5", "--json").output)
    assert [row["attacker"] for row in known["rows"]] == ["the likeliest alone", "among the first 5"]
    assert known["truth_known"] is True
    ran = murmure(out, source, "--targets", 20, "--seed", 1, "--html", page, "--plot", picture)
    assert ran.exit_code == 0 and "Nobody said which row is whose" in ran.output and page.exists() and picture.exists()
    assert "whole numbers" in murmure(out, source, "--top", "1.5").stderr
    assert "carries no plan" in murmure(source, source).stderr
    assert murmure(out).exit_code == 2


@pytest.mark.slow
def test_ten_thousand_people_in_seconds() -> None:
    """10,000 x 10,000 with ten columns: measured at 2.5 s of one core; 20 s leaves room for a busy machine."""
    import time

    sizes = [74, 7, 16, 7, 14, 6, 5, 2, 41, 2]
    schema = mu.Schema({f"c{i}": mu.Categories(k) for i, k in enumerate(sizes)})
    rng = np.random.default_rng(1)
    rows = {f"c{i}": np.minimum((rng.random(10_000) ** 2 * k).astype(int), k - 1) for i, k in enumerate(sizes)}
    table = mu.sanitise(rows, mu.SPL(schema, 10.0), rng=Random.seeded(1))
    began = time.process_time()
    linkage(table, rows, same_order=True)
    assert time.process_time() - began < 20
