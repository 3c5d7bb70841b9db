"""Exports give the figures of the stored reports, in an order that says nothing about when they came."""

from __future__ import annotations

import io
import itertools
import json
import sys
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from tests.collector.documents import SURVEYS, opened, sent_report
from tests.collector.service.test_collector import store
from tests.run.tables.question_plans import PLANS, reports
from tests.run.tables.test_question_tables import figures

import murmure as mu
from murmure.collector.service.collector import Collector
from murmure.collector.service.errors import RequestRefused
from murmure.collector.service.exports import export
from murmure.collector.service.report_rows import ReportRows
from murmure.collector.service.shuffled_reports import shuffled
from murmure.core.errors import CannotWrite, InvalidParameter, MissingExtra, PlanMismatch
from murmure.laws.records import Records
from murmure.plan.reports import Reports
from murmure.plan.sent_reports import sent

pytest.importorskip("pyarrow")

KINDS: Any = ("parquet", "csv", "json")
MANY = mu.Categories(1000)
NUMBERED = mu.Plan(mu.Histogram(MANY), person=mu.GRR(MANY, epsilon=1.0))


def numbered(n: int, first: int = 0) -> Reports:
    """Reports that say in which place they came."""
    return Reports(np.arange(first, first + n, dtype=np.uint16), NUMBERED.digest, seeded=False)


def cut(made: Reports, *ends: int) -> Iterator[Reports]:
    """The same reports in several blocks."""
    layout = ReportRows(made)
    rows = layout.pack(made)
    for a, b in itertools.pairwise((0, *ends, len(rows))):
        yield layout.unpack(rows[a:b])


def contents(plan: Any, blocks: Any) -> Counter[str]:
    return Counter(json.dumps(one["report"]) for block in blocks for one in sent(plan, block))


# -- what is in a file -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PLANS)
def test_an_export_has_the_figures_of_the_reports(name: str, kind: Any, tmp_path: Path) -> None:
    plan = PLANS[name]
    made = reports(plan, 200)
    path = tmp_path / f"reports.{kind}"

    assert export(cut(made, 0, 1, 120), plan, kind, path) == 200
    assert figures(mu.estimate(path)) == figures(plan.estimate(made))


@pytest.mark.parametrize("name", SURVEYS)
def test_an_export_of_a_survey_has_its_results(name: str, tmp_path: Path) -> None:
    survey, answer = SURVEYS[name]
    with Collector(tmp_path / "surveys") as collector:
        record = opened(collector, survey)
        store(collector, record, *(sent_report(collector, record, answer) for _ in range(20)))
        collector.intake.flush()
        results = collector.results(record).release
        assert results is not None
        for kind in KINDS:
            path = tmp_path / f"reports.{kind}"
            assert export(collector.blocks(record, record.wave), record.plan, kind, path) == 20
            release = mu.estimate(path)
            assert figures(release) == figures(results)
            assert release.to_json() == results.to_json()


def test_columns_are_those_of_the_plan_and_nothing_else(tmp_path: Path) -> None:
    """No token, no hour, no number of a person."""
    import pyarrow.parquet as pq

    plan = PLANS["local.smp[0] Marginals"]
    export([reports(plan)], plan, "parquet", tmp_path / "r.parquet")
    export([reports(plan)], plan, "csv", tmp_path / "r.csv")
    table = pq.read_table(tmp_path / "r.parquet")

    assert table.column_names == list(plan.person.columns)
    assert (tmp_path / "r.csv").read_text().splitlines()[0].replace('"', "") == ",".join(plan.person.columns)
    known = {"table", "plan", "seeded", "randomised_outside"}
    assert {key.decode() for key in table.schema.metadata} == {f"murmure:{name}" for name in known}


# -- their order -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bytes", [0, 1 << 20], ids=["in heaps on the disk", "in memory"])
@pytest.mark.parametrize("name", PLANS)
def test_shuffled_reports_are_the_same_reports(name: str, max_bytes: int) -> None:
    plan = PLANS[name]
    made = reports(plan, 150)

    blocks = list(shuffled(cut(made, 1, 90), mu.Random.seeded(1), max_bytes))

    assert contents(plan, blocks) == contents(plan, [made])
    assert all(block.plan == plan.digest for block in blocks)
    assert sum(plan.tally(block).sum for block in blocks).tolist() == plan.tally(made).sum.tolist()


@pytest.mark.parametrize("max_bytes", [0, 1 << 20], ids=["in heaps on the disk", "in memory"])
def test_every_order_is_as_likely_as_any_other(max_bytes: int) -> None:
    """Of three reports in two blocks, all 6 orders: chi-square at 1e-6, over fewer seeded runs where files are slow."""
    runs, rng = 3000 if max_bytes else 300, mu.Random.seeded(11)
    orders: Counter[tuple[int, ...]] = Counter()
    for _ in range(runs):
        blocks = shuffled([numbered(1), numbered(2, first=1)], rng, max_bytes)
        orders[tuple(int(y) for block in blocks for y in block.data)] += 1

    distance = sum((count - runs / 6) ** 2 / (runs / 6) for count in orders.values())
    assert len(orders) == 6 and distance < chi2.isf(1e-6, 5)


def test_the_order_of_arrival_is_lost_in_every_file(tmp_path: Path) -> None:
    """Neighbours stay neighbours once in 1000 / 2 times: 30 of 999 pairs would be seen with probability below 1e-20."""
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    for kind in KINDS:
        export(cut(numbered(1000), 300), NUMBERED, kind, tmp_path / f"r.{kind}")
    orders = [
        pq.read_table(tmp_path / "r.parquet")["report"].to_pylist(),
        pc.read_csv(tmp_path / "r.csv")["report"].to_pylist(),
        json.loads((tmp_path / "r.json").read_text())["reports"],
    ]

    for order in orders:
        assert sorted(order) == list(range(1000))
        assert sum(abs(a - b) == 1 for a, b in itertools.pairwise(order)) < 30
    assert orders[0] != orders[1] != orders[2]


def test_nothing_is_shuffled_where_there_is_nothing() -> None:
    assert list(shuffled([], mu.Random.seeded(1))) == []
    assert list(shuffled([numbered(0)], mu.Random.seeded(1))) == []


def test_records_that_show_some_columns_keep_who_shows_which() -> None:
    plan = PLANS["local.smp[0] Marginals"]
    made = reports(plan, 50)
    layout = ReportRows(made)

    back = layout.unpack(layout.pack(made)).data

    assert isinstance(back, Records) and isinstance(made.data, Records)
    assert all(back.row(i) == made.data.row(i) for i in range(50)) and back.fit()


# -- where it is written -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_gets_one_file(kind: Any, tmp_path: Path) -> None:
    plan = PLANS["local.unary[1] Histogram"]
    made, stream = reports(plan), io.BytesIO()

    export([made], plan, kind, stream)

    path = tmp_path / f"reports.{kind}"
    if kind == "csv":
        zipfile.ZipFile(stream).extractall(tmp_path)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["reports.csv", "reports.csv-metadata.json"]
    else:
        path.write_bytes(stream.getvalue())
    assert figures(mu.estimate(path)) == figures(plan.estimate(made))


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_exist_are_kept(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / f"r.{kind}"
    path.write_text("something dear")
    with pytest.raises(CannotWrite, match="already exists"):
        export([numbered(10)], NUMBERED, kind, path)
    assert path.read_text() == "something dear"

    assert export([numbered(10)], NUMBERED, kind, str(path), overwrite=True) == 10
    with pytest.raises(CannotWrite, match="no folder"):
        export([numbered(10)], NUMBERED, kind, tmp_path / "none" / f"r.{kind}")


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_exported_leaves_no_file(kind: Any, tmp_path: Path) -> None:
    other = mu.Plan(mu.Histogram(MANY), person=mu.GRR(MANY, epsilon=2.0))

    def broken() -> Iterator[Reports]:
        yield numbered(10)
        raise OSError("the disk")

    with pytest.raises(RequestRefused, match="no reports to export"):
        export([], NUMBERED, kind, tmp_path / f"r.{kind}")
    with pytest.raises(PlanMismatch):
        export([numbered(10)], other, kind, tmp_path / f"r.{kind}")
    with pytest.raises(OSError, match="the disk"):
        export(broken(), NUMBERED, kind, tmp_path / f"r.{kind}")
    assert list(tmp_path.iterdir()) == []


def test_names_and_formats_that_do_not_fit(tmp_path: Path) -> None:
    for kind in ("xlsx", "PARQUET", None):
        with pytest.raises(InvalidParameter, match="one of parquet, csv, json"):
            export([numbered(10)], NUMBERED, kind, tmp_path / "r.xlsx")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"ending in \.parquet"):
        export([numbered(10)], NUMBERED, "parquet", tmp_path / "r.csv")


def test_json_needs_no_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "r.json"

    for kind in ("parquet", "csv"):
        with pytest.raises(MissingExtra, match="Parquet or CSV needs pyarrow"):
            export([numbered(10)], NUMBERED, kind, tmp_path / f"r.{kind}")  # type: ignore[arg-type]
    assert export([numbered(10)], NUMBERED, "json", path) == 10
    assert mu.estimate(path).estimate.n == 10


def test_one_seeded_block_makes_a_seeded_file(tmp_path: Path) -> None:
    blocks = [numbered(10), Reports(numbered(10).data, NUMBERED.digest, seeded=True)]
    for kind in KINDS:
        export(blocks, NUMBERED, kind, tmp_path / f"mixed.{kind}")
        export(blocks[:1], NUMBERED, kind, tmp_path / f"clean.{kind}")

        assert mu.estimate(tmp_path / f"mixed.{kind}").seeded
        assert not mu.estimate(tmp_path / f"clean.{kind}").seeded


def test_heaps_bound_the_memory() -> None:
    """20 MB of reports through heaps of 0.3 MB; in memory they would be there at least once."""
    domain = mu.Categories(2000)
    plan = mu.Plan(mu.Histogram(domain), person=mu.OUE(domain, epsilon=1.0))
    block = Reports(np.zeros((400, 32), np.uint64), plan.digest, seeded=True)
    tracemalloc.start()
    count = sum(len(one) for one in shuffled((block for _ in range(200)), mu.Random.seeded(2), 1 << 20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert count == 80_000
    assert peak < 6 << 20
