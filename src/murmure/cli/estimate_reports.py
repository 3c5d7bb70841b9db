"""`murmure estimate --mechanism ... --counts / --reports`: answers that people randomised themselves."""

from __future__ import annotations

import csv
import os
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import UsageError
from murmure.cli.options import Probability
from murmure.core.errors import MissingColumn, OutsideDomain, Phrase, shorten

if TYPE_CHECKING:
    from murmure.cli.estimate import Answer, ColumnFigures
    from murmure.core.types import Release
    from murmure.plan.plan import Plan

BY_COUNTS = Phrase("murmure estimate --mechanism two-coins --counts no=300,yes=200")
BY_REPORTS = Phrase("murmure estimate --mechanism GRR --labels never,once,often --epsilon 1 --reports answers.csv")
MAX_DIGITS = 40  # of a count: far more people than there are


def answer_reports(
    mechanism: str | None,
    plan_file: Path | None,
    counts: str | None,
    reports: str | os.PathLike[str] | None,
    column: str | None,
    domain: tuple[Any, Any, Any, Any, Any],
    settings: dict[str, Any],
    target: Any,
) -> Answer:
    """The figures of reports that exist already; nothing is drawn."""
    check_options(mechanism, plan_file, counts, reports, column, domain, settings)
    counted = None if counts is None else split_counts(counts)
    domain_given = counted is None or any(value is not None for value in domain[:4])
    if plan_file is not None:
        plan = read_question_plan(plan_file)
    else:
        assert mechanism is not None
        plan = build_plan(mechanism, domain, settings, None if domain_given or counted is None else list(counted))
    try:
        return answer_plan(
            plan, counted if reports is None else reports, column, target, not (plan_file or domain_given)
        )
    except OutsideDomain as error:
        unnamed = plan_file is None and all(value is None for value in domain[:4])
        if unnamed and reports is not None:  # no and yes were our assumption, not the user's
            raise UsageError(error.message, "--labels NO,YES says which two answers there are") from None
        raise


def answer_plan(plan: Plan, reports: Any, column: str | None, target: Any, from_counts: bool = False) -> Answer:
    """The figures of reports, or of their counts, to the one question of a plan."""
    from murmure.cli.estimate import Answer
    from murmure.run.outside_reports import release_reports

    try:
        release = release_reports(plan, reports, column=column)
    except MissingColumn as error:
        raise UsageError(error.message, "--column NAME says which column holds the reports") from None
    question: Any = plan.statistic.domain
    figures = question_figures(plan, release, column or question.column, target)
    return Answer(release, plan, None, figures, from_counts=from_counts)


def question_figures(plan: Plan, release: Release, name: str | None, target: Any) -> list[ColumnFigures]:
    """The figures of one question: shares, a mean, or both. name: of its column."""
    from murmure.cli.estimate import ColumnFigures
    from murmure.core.domain import Categories

    question: Any = plan.statistic.domain
    estimate = replace(release.estimate, target=target)
    columns = () if name is None else (name,)
    figures = [ColumnFigures("mean" if estimate.unit == "value" else "shares", columns, estimate)]
    if estimate.unit == "share" and not isinstance(question, Categories):  # of numbers the mean too, as of a table
        from murmure.statistics.mean import Mean

        mean = replace(Mean(question).finish(release.estimate), target=target)
        figures.append(ColumnFigures("mean", columns, mean))
    return figures


def check_options(
    mechanism: str | None,
    plan: Path | None,
    counts: str | None,
    reports: str | os.PathLike[str] | None,
    column: str | None,
    domain: tuple[Any, ...],
    settings: dict[str, Any],
) -> None:
    if counts is not None and reports is not None:
        raise UsageError("--counts and --reports exclude one another.", "counts are the same reports, added up")
    if counts is None and reports is None:
        raise UsageError("nothing says what people reported: give --counts or --reports.", BY_COUNTS)
    if mechanism is not None and plan is not None:
        raise UsageError("--mechanism and --plan exclude one another.", "a plan already says everything")
    if mechanism is None and plan is None:
        raise UsageError("nothing says how people randomised their answers: give --mechanism or --plan.", BY_COUNTS)
    if plan is not None and (settings or any(value is not None for value in domain)):
        raise UsageError("--plan takes no mechanism's options.", "a plan already says everything")
    if column is not None and reports is None:
        raise UsageError("--column is a column of --reports, which is not given.", BY_REPORTS)


# -- the plan ----------------------------------------------------------------------------------------------------------


def build_plan(name: str, domain: tuple[Any, ...], settings: dict[str, Any], labels: list[str] | None) -> Plan:
    """The plan of one question. labels: the answers, where --counts alone names them."""
    from murmure.cli.certify import build_mechanism, exact_name
    from murmure.core.domain import Categories
    from murmure.core.types import Affine
    from murmure.local.warner import YesNo
    from murmure.plan.plan import Plan
    from murmure.statistics.histogram import Histogram
    from murmure.statistics.mean import Mean

    if "truth" in settings:
        settings = settings | {"truth": Probability().convert(settings["truth"], None, click.get_current_context())}
    mechanism_name = exact_name(name, settings)
    is_no_yes = labels is not None and [label.lower() for label in sorted(labels, key=str.lower)] == ["no", "yes"]
    if labels is not None and is_no_yes:
        labels = sorted(labels, key=str.lower)  # in whichever order they were counted
    answers = None if labels is None else Categories(labels)
    person = build_mechanism(mechanism_name, domain, settings, "murmure estimate --counts ... --mechanism ", answers)  # type: ignore[arg-type]
    # If the two answers are symmetric (P[yes | yes] + P[yes | no] = 1), it does not matter which one is the yes.
    if labels is not None and not is_no_yes and isinstance(person, YesNo) and sum(person.yes) != 1:
        raise UsageError(
            "with these coins the two answers are not symmetric, and --counts does not say which of {label!r} "
            "and {labels!r} is the yes.",
            "name both, the yes last: --labels {labels_2}",
            label=labels[0],
            labels=labels[1],
            labels_2=",".join(labels),
        )
    affine = person.affine()
    mean = isinstance(affine, Affine) and affine.of == "code"
    return Plan(Mean(person.domain) if mean else Histogram(person.domain), person=person)


def read_question_plan(path: Path) -> Plan:
    from murmure.cli.certify import read_plan

    plan = read_plan(path)
    if plan.of_records:
        raise UsageError(
            "{path!r} is a plan about whole rows, but this command is about one question.",
            "murmure estimate OUT reads a sanitised table with its plan",
            path=str(path),
        )
    return plan


# -- counts ------------------------------------------------------------------------------------------------------------


def split_counts(text: str) -> dict[str, int]:
    """no=300,yes=200. A label with a comma is in quotes, as in a CSV file; the last = separates label and count."""
    counts: dict[str, int] = {}
    try:
        items = [item.strip() for item in next(csv.reader([text], skipinitialspace=True, strict=False), [])]
    except csv.Error:
        items = []
    for item in items:
        label, parts, count = item.rpartition("=")
        label = label.strip()
        if not parts or not label:
            raise UsageError(
                "--counts takes ANSWER=COUNT, got {got}.",
                "--counts no=300,yes=200; an answer with a comma in quotes: --counts '\"a, b\"=3,c=4'",
                got=shorten(item),
            )
        if label in counts:
            raise UsageError("--counts names {label} twice.", "add up the two counts", label=shorten(label))
        counts[label] = _parse_count(label, count)
    if not counts:
        raise UsageError("--counts holds no count, got {got}.", "--counts no=300,yes=200", got=shorten(text))
    return counts


def _parse_count(label: str, text: str) -> int:
    """As people write it: 300, 1_000 or 1e5."""
    try:
        value = Decimal(text.strip().replace("_", ""))
        if value.is_finite() and 0 <= value < Decimal(10) ** MAX_DIGITS and value == value.to_integral_value():
            return int(value)
    except InvalidOperation:
        pass
    raise UsageError(
        "the count of {label} in --counts must be a whole number, at least 0, got {got}.",
        "--counts no=300,yes=200",
        label=shorten(label),
        got=shorten(text),
    )


# -- in words ----------------------------------------------------------------------------------------------------------


def answers_line(labels: list[str]) -> Phrase:
    """The answers that --counts names. Estimates depend on how many there are, so answers with count 0 matter too."""
    return Phrase(
        "Answers, as --counts names them: {labels}. An answer that nobody gave is named too, with 0.",
        labels=", ".join(map(repr, labels)),
    )
