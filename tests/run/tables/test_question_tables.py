"""A table of reports with its plan gives the figures of the reports, to one question as for records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.run.tables.question_plans import PLANS, QUESTIONS, reports

import murmure as mu
from murmure.core.errors import InvalidParameter, MissingColumn, MurmureError, OutsideDomain, PlanMismatch
from murmure.engines.sources.table_writer import METADATA_MARK, write_table
from murmure.run.tables.table_format import OUTSIDE_KEY, PLAN_KEY, SEEDED_KEY, TableFormat

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")

WAYS = ("parquet", "csv", "arrow")


def metadata(plan: Any, seeded: bool = True) -> dict[str, str]:
    return {PLAN_KEY: plan.to_json(), SEEDED_KEY: "yes" if seeded else "no"}


def table_of(plan: Any, made: Any) -> Any:
    form = TableFormat(plan)
    schema = form.schema({})
    table = pa.Table.from_batches([form.table(made.data, {}, schema)])
    return table.replace_schema_metadata({METADATA_MARK: "1", **metadata(plan)})


def written(plan: Any, made: Any, path: Path) -> Path:
    form = TableFormat(plan)
    with write_table(path, form.schema({}), metadata(plan)) as out:
        out.write(form.table(made.data, {}, out.schema))
    return path


def figures(release: Any) -> Any:
    """The figures of a release and what they are about, so that two can be compared with ==."""
    estimate = release.estimate
    each = estimate.items() if isinstance(estimate, mu.Estimates) else [("", estimate)]
    numbers = {name: (one.labels, one.unit, one.n, repr(one.mean.tolist()), str(one)) for name, one in each}
    return release.plan, release.seeded, release.about, numbers


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PLANS)
def test_a_table_gives_the_figures_of_its_reports(name: str, way: str, tmp_path: Path) -> None:
    plan = PLANS[name]
    made = reports(plan)

    released = mu.estimate(written(plan, made, tmp_path / f"reports.{way}"))

    assert figures(released) == figures(plan.estimate(made))


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_reports_themselves_come_back(name: str) -> None:
    """Equal figures could hide reports that were exchanged for others with the same tally."""
    plan = QUESTIONS[name]
    made = reports(plan)

    back = TableFormat(plan).reports(table_of(plan, made).to_batches()[0])

    assert np.array_equal(back, made.data)


def question(**settings: Any) -> Any:
    domain = mu.Categories(["never", "once", "often"], **settings)
    return mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0))


def test_the_column_is_named_after_the_question() -> None:
    named, unnamed = question(column="cheated"), question()

    assert table_of(named, reports(named)).column_names == ["cheated"]
    assert table_of(unnamed, reports(unnamed)).column_names == ["report"]
    assert set(table_of(named, reports(named))["cheated"].to_pylist()) == {"never", "once", "often"}


@pytest.mark.parametrize("way", WAYS)
def test_labels_of_any_spelling_come_back(way: str, tmp_path: Path) -> None:
    """In a file of one column too, where a reader could take a strange line for the end or for nothing."""
    domain = mu.Categories(["a,b", 'say "no"', "two\nlines", "null", "0x1", "1", "é"])
    plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0))
    made = reports(plan)

    assert figures(mu.estimate(written(plan, made, tmp_path / f"r.{way}"))) == figures(plan.estimate(made))


def test_a_frame_without_metadata_takes_the_plan_as_an_argument() -> None:
    plan = question(column="cheated")
    made = reports(plan)
    frame = {"cheated": table_of(plan, made)["cheated"].to_pylist()}

    assert mu.estimate(frame, plan).estimate.mean.tolist() == plan.estimate(made).estimate.mean.tolist()


def test_another_statistic_of_the_same_reports() -> None:
    domain = mu.Integers(0, 4)
    plan = mu.Plan(mu.Histogram(domain), person=mu.OLH(domain, epsilon=1.0), coins="collector")
    made = reports(plan)

    mean = mu.estimate(table_of(plan, made), statistic=mu.Mean(domain)).estimate

    wanted = mu.Plan(mu.Mean(domain), person=plan.person, coins="collector")
    assert mean.mean.tolist() == wanted.settle(mu.Plan.tally(plan, made)).estimate.mean.tolist()


# -- what was changed is refused ---------------------------------------------------------------------------------------


def test_another_plan_is_refused() -> None:
    plan, other = question(), question(column="cheated")

    with pytest.raises(PlanMismatch, match="answers plan"):
        mu.estimate(table_of(plan, reports(plan)), other)


def test_a_plan_that_was_changed_is_refused(tmp_path: Path) -> None:
    """Its integers are no longer those of its epsilon."""
    plan = question()
    made = table_of(plan, reports(plan))
    for old, new in (('"epsilon": 1.0', '"epsilon": 2.0'), ('"murmure": 1', '"murmure": 99')):
        text = plan.to_json()
        assert text.count(old) == 1
        changed = made.replace_schema_metadata({METADATA_MARK: "1", PLAN_KEY: text.replace(old, new)})
        with pytest.raises(MurmureError, match="refused"):
            mu.estimate(changed)


def test_a_plan_without_a_mechanism_at_the_person_has_no_table() -> None:
    domain = mu.Categories(2)

    with pytest.raises(InvalidParameter, match="mechanism at the person"):
        mu.estimate({"report": [0, 1]}, mu.Plan(mu.Histogram(domain)))


def test_cells_that_are_no_reports_are_refused_with_their_row() -> None:
    plan = question()
    good = ["never", "once"]

    with pytest.raises(OutsideDomain, match="row 2 holds 'daily'"):
        mu.estimate({"report": [*good, "daily"]}, plan)
    with pytest.raises(OutsideDomain, match="row 1 is missing"):
        mu.estimate({"report": ["never", None, "once"]}, plan)
    with pytest.raises(MissingColumn):
        mu.estimate({"other": good}, plan)
    assert mu.estimate({"report": good}, plan).estimate.n == 2


def binary(plan: Any, *cells: bytes) -> Any:
    kind = TableFormat(plan).cells[0].type
    return pa.table({"report": pa.array(cells, kind)})


def test_bytes_that_no_law_draws_are_refused() -> None:
    """More ones than values, a set of another size, a bin that there is not: each would count for several people."""
    domain = mu.Categories(5)
    oue = mu.Plan(mu.Histogram(domain), person=mu.OUE(domain, epsilon=1.0))
    sets = mu.Plan(mu.Histogram(domain), person=mu.SubsetSelection(domain, epsilon=1.0))
    hashes = mu.Plan(mu.Histogram(domain), person=mu.OLH(domain, epsilon=1.0))
    size = sets.person.size
    width = TableFormat(hashes).cells[0].width
    assert width is not None

    for plan, fine, wrong in (
        (oue, b"\x1f", b"\x3f"),
        (sets, bytes([2**size - 1]), b"\x1f"),
        (hashes, bytes(width), bytes(width - 2) + b"\xff\x00"),
    ):
        assert mu.estimate(binary(plan, fine), plan).estimate.n == 1
        with pytest.raises(MurmureError):
            mu.estimate(binary(plan, fine, wrong), plan)


def test_who_drew_the_reports_is_in_the_metadata() -> None:
    """Of a table that this software randomised, and of one that devices of other people filled."""
    plan = question()
    here = table_of(plan, reports(plan))
    there = here.replace_schema_metadata({**here.schema.metadata, OUTSIDE_KEY: "yes"})

    assert not mu.estimate(here).randomised_outside and mu.estimate(there).randomised_outside
    assert "provided" in str(mu.estimate(there)) and "provided" not in str(mu.estimate(here))


def test_sanitised_records_are_still_records() -> None:
    """A plan about records of one column stays one."""
    schema = mu.Schema({"smoker": mu.Categories(["no", "yes"])})
    table = mu.sanitise({"smoker": ["no", "yes"] * 50}, mu.SPL(schema, epsilon=1.0), rng=mu.Random.seeded(1))

    assert list(mu.estimate(table).estimate) == ["smoker"]
