"""`run(plan, reports=...)`: answers that people randomised themselves, with coins, cards, a spinner or a program.

Nothing is drawn: the reports are read, checked against what the plan's mechanism can report (report_forms.py), added up
and estimated. The release says that the randomness came from outside the software, and its certificates that they hold
provided each person followed the plan. `Reports` differ: they record whether a seed made them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np

from murmure.core.domain import with_column
from murmure.core.errors import EmptySource, InvalidParameter, OutsideDomain, Phrase, PlanMismatch, PlanRefused, shorten
from murmure.core.notices import with_assumption
from murmure.core.schema import Schema
from murmure.core.types import Release, Total, room_for
from murmure.engines.base.progress import with_progress
from murmure.engines.base.task import BatchStep, Task, column_of_batch, unrandomised
from murmure.engines.sources.column_batches import batches, pick_column
from murmure.engines.sources.data_file import described
from murmure.engines.sources.tables import column_names, open_table
from murmure.plan.plan import Plan
from murmure.plan.reports import Reports
from murmure.run.engine_choice import engine_for, is_on
from murmure.run.report_forms import WAY_OUT, ReportForm, form_of
from murmure.run.tables.estimator import estimate as estimate_table
from murmure.run.tables.table_format import carries_plan
from murmure.show.phrase import Several

MAX_EXACT_FLOAT = 2**53  # floats beyond it do not hold every whole number


def release_reports(plan: Plan, reports: Any, engine: Any = None, column: str | None = None) -> Release:
    """The release of reports that exist already. column: where they are in a table, if the plan does not name it."""
    _check_plan(plan)
    if isinstance(reports, str | os.PathLike) and Path(reports).suffix.lower() == ".npz":
        reports = Reports.load(reports)
    if isinstance(reports, Reports):
        _refuse_engine(engine, Phrase("Reports are one array"))
        return plan.estimate(reports)
    if plan.unit != "row":
        raise PlanRefused(
            "Plan refused: its unit is column {unit!r}, but these reports do not say who sent them.",
            hint="leave out the unit if each person reported once; Plan.report counts the rows of a person",
            unit=plan.unit,
        )
    if plan.of_records:
        return _release_records(plan, reports, engine)
    if isinstance(reports, Mapping) and not any(_is_column(value) for value in reports.values()):
        _refuse_engine(engine, Phrase("counts are added up already"))
        total = count_reports(plan, reports)
    else:
        total = _add(plan, reports, engine, column)
    return mark_outside(plan.settle(total))


def mark_outside(release: Release) -> Release:
    """The same figures, with where their randomness came from."""
    return replace(release, guarantees=with_assumption(release.guarantees), randomised_outside=True)


def _check_plan(plan: Plan) -> None:
    if plan.person is None:
        does = Phrase("adds noise at the curator") if plan.curator is not None else Phrase("randomises nothing")
        raise PlanRefused(
            "Plan refused: reports are answers that were randomised at the person, but this plan {does}.",
            hint="run(plan, frame) takes true answers; for answers given by coin: Plan(Histogram(domain), "
            "person=Warner(domain))",
            does=does,
        )
    if plan.parties is not None:
        raise PlanRefused(
            "Plan refused: with parties, each party adds up and masks its own reports.",
            hint="leave out parties= if all reports are in one place",
        )


def _refuse_engine(engine: Any, why: str) -> None:
    if engine is not None:
        raise InvalidParameter("run takes no engine here: {why}.", hint="leave the engine out", why=why)


# -- counts ------------------------------------------------------------------------------------------------------------


def count_reports(plan: Plan, counts: Mapping[Any, Any]) -> Total:
    """How often each report came, from a mapping of labels to whole numbers. A label that is left out counts as 0."""
    form = form_of(plan.person)
    if not counts:
        raise EmptySource("there are no counts: nobody was added up.", hint='{{"no": 300, "yes": 200}}, for example')
    wholes = [_whole(label, count) for label, count in counts.items()]
    labels = list(counts)
    if not form.countable:
        form.count_codes(labels)
    codes: list[int] = []
    # One by one, so that the message can name the label, and no label's type is guessed from the others.
    for label in labels:
        try:
            codes.append(int(form.count_codes([label])[0]))
        except OutsideDomain:
            raise OutsideDomain(
                "counts: there is no answer {label} in this plan; wanted {wanted}.",
                hint="the answers of a plan are fixed before anybody is asked; write them as the plan does",
                label=shorten(label),
                wanted=form.wanted,
            ) from None
    if len(set(codes)) < len(codes):
        code = next(c for c in codes if codes.count(c) > 1)
        repeated = [label for label, c in zip(labels, codes, strict=True) if c == code]
        raise InvalidParameter(
            "counts: {repeated} are the same answer, counted twice.",
            hint="add them up",
            repeated=Several(map(shorten, repeated)),
        )
    n = sum(wholes)
    if n < 1:
        raise EmptySource("all counts are 0: nobody was added up.")
    room_for(n, 1, Phrase("the tally"))
    tally = np.zeros(form.outputs, np.int64)
    tally[codes] = wholes
    return Total(n, tally)


def _whole(label: Any, count: Any) -> int:
    whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if isinstance(count, float | np.floating):
        whole = float(count).is_integer() and abs(float(count)) <= MAX_EXACT_FLOAT
    if not whole or int(count) < 0:
        raise InvalidParameter(
            "the count of {label} must be a whole number, at least 0, got {got}.",
            hint="counts are numbers of people who gave each answer, not shares",
            label=shorten(label),
            got=shorten(count),
        )
    return int(count)


def _is_column(value: Any) -> bool:
    """Whether a mapping's value is a column of a table and not a count."""
    return not isinstance(value, str | bytes | Number) and value is not None and hasattr(value, "__len__")


# -- reports, one by one -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReportTallyStep(BatchStep):
    """One batch of reports, read and added up. It travels to threads and to Spark's workers."""

    plan: Plan
    column: str | None = None

    @cached_property
    def form(self) -> ReportForm:
        return form_of(self.plan.person)

    @property
    def columns(self) -> tuple[str, ...] | None:
        return None if self.column is None else (self.column,)

    def __call__(self, task: Task) -> Total:
        batch = task.batch
        if hasattr(batch, "num_columns") and batch.num_columns == 1:
            batch = column_of_batch(batch, None)
        try:
            return Total(len(task), self.plan.tallier.tally(self.form.parse(batch)))
        except OutsideDomain as error:
            raise self._about_reports(error, task.first or 0) from None

    def _about_reports(self, error: OutsideDomain, first: int) -> OutsideDomain:
        """Which row it is, since the collector has the reports; and a way out that fits reports, not true answers."""
        if error.row is None:
            return error
        _, row, rest = error.row
        where = "reports" if self.column is None else Phrase("reports in column {column!r}", column=self.column)
        return OutsideDomain.at(where, row + first, rest, WAY_OUT)


def _add(plan: Plan, reports: Any, engine: Any, column: str | None) -> Total:
    column = plan.statistic.domain.column if column is None else column  # type: ignore[union-attr]
    engine = engine_for(reports, engine)
    if is_on(engine, reports):
        names = list(engine.arrow_types(reports))
        step, tasks = ReportTallyStep(plan, pick_column(names, column, Phrase("the frame"))), reports
    else:
        _refuse_other_plans(reports, engine)
        step, source, rows = _source(plan, reports, column)
        tasks = unrandomised(with_progress(source, rows, "reading reports"))
    return engine.total(step, tasks)  # type: ignore[no-any-return]


def _refuse_other_plans(reports: Any, engine: Any) -> None:
    if carries_plan(reports, engine):
        raise PlanMismatch(
            "this table states which plan its reports answer, and it is another plan.",
            hint="estimate(table) reads it",
        )


def _source(plan: Plan, reports: Any, column: str | None) -> tuple[ReportTallyStep, Iterable[Any], Any]:
    """What reads a batch, the batches, and how many rows there are or what they are cut from."""
    form = form_of(plan.person)
    if isinstance(reports, np.ndarray) and reports.ndim == 0:
        raise InvalidParameter(
            "reports must be a sequence, a frame, a path or counts, got {got}.", got=shorten(reports)
        )
    on_disk = isinstance(reports, str | os.PathLike)
    if not on_disk and not isinstance(reports, Mapping) and not _is_table(reports):
        _refuse_tabulated(reports)
        return ReportTallyStep(plan), batches(reports, None), reports
    names = column_names(reports)
    if form.columns and set(form.columns) <= set(names) and column not in names:
        table = open_table(reports, form.columns, dict.fromkeys(form.columns, form.kind))
        return ReportTallyStep(plan), table.batches(), table.rows
    found = pick_column(names, column, str(reports) if on_disk else Phrase("the table"))
    _refuse_table_of_counts(names, found)
    if on_disk:
        _refuse_headless(plan, reports, names)
        domain: Any = plan.statistic.domain
        written = described(reports, Schema({found: with_column(domain, None)}))
        table = open_table(written, [found], {found: form.kind})
        return ReportTallyStep(plan, found), table.batches(), table.rows
    values = reports[found] if isinstance(reports, Mapping) else reports
    return ReportTallyStep(plan, found), batches(values, found), values


def _is_table(reports: Any) -> bool:
    """Whether it has columns with names; a list, an array or a series has not."""
    shape = getattr(reports, "shape", None)
    if isinstance(shape, tuple):
        return not isinstance(reports, np.ndarray) and len(shape) == 2
    return any(hasattr(reports, name) for name in ("collect_schema", "column_names", "schema"))


def _refuse_tabulated(reports: Any) -> None:
    """What `value_counts` of pandas makes: its values are counts, and its labels are in the index."""
    index = type(getattr(reports, "index", None)).__name__
    if getattr(reports, "name", None) == "count" and index.endswith("Index") and index != "RangeIndex":
        raise InvalidParameter(
            "reports must be the answers or a mapping of counts, got a series of counts.",
            hint="run(plan, reports=dict(counts))",
        )


def _refuse_table_of_counts(names: list[str], column: str) -> None:
    """Two columns, answers and counts: each answer would be taken for one person."""
    others = [name for name in names if name != column]
    if len(others) == 1 and others[0].strip().lower() in ("count", "counts"):
        raise InvalidParameter(
            "reports must have a row for each person, got a table of answers ({column!r}) and counts ({other!r}).",
            hint="pass the counts as a mapping: dict(zip(answers, counts))",
            column=column,
            other=others[0],
        )


def _refuse_headless(plan: Plan, path: Any, names: list[str]) -> None:
    """A CSV without a header would lose its first report, and nobody would notice."""
    if not str(path).lower().endswith((".csv", ".csv.gz")) or len(names) != 1:
        return
    try:
        form_of(plan.person).parse([names[0]])
    except (OutsideDomain, InvalidParameter):
        return
    raise InvalidParameter(
        "the first line of {name!r} is {names!r}, which is a report: the file has no header.",
        hint="write a name for the column in its first line",
        name=Path(path).name,
        names=names[0],
    )


def _release_records(plan: Plan, reports: Any, engine: Any) -> Release:
    """A table with a report in every cell, as `sanitise` writes it. A table that carries a plan says who drew it."""
    if isinstance(reports, Mapping) and not all(_is_column(value) for value in reports.values()):
        raise PlanRefused(
            "Plan refused: records cannot be given as counts; wanted a table with one row for each person.",
            hint='{{"smoker": ["no", "yes"], "age": [31, 40]}}, a frame or a path',
        )
    if isinstance(reports, list | tuple | np.ndarray):
        raise InvalidParameter(
            "reports of records are a table with the columns of the schema, got {got}.",
            hint='{{"smoker": ["no", "yes"], "age": [31, 40]}}, a frame or a path',
            got=shorten(type(reports).__name__),
        )
    known = carries_plan(reports, engine_for(reports, engine))
    release = estimate_table(reports, plan, engine=engine)
    return release if known else mark_outside(release)
