"""The second section of a report: every figure with its interval and a picture of both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from murmure.core.domain import Decimals, Interval
from murmure.core.estimates.estimate_blocks import (
    figures_of,
    left_out_notes,
    no_figure,
    no_figure_note,
    noisy_counts,
    outside_note,
)
from murmure.core.estimates.method_words import KNOWN_EXACTLY, SCORE, SCORE_WEIGHTED, explained
from murmure.run.report.question_section import domains_of, figure_kind
from murmure.run.report.report_content import ReportColumn, ReportContent
from murmure.show.cells import as_precise
from murmure.show.document import Block, Facts, Fold, Intervals, Paragraph, Section, paragraphs, sentences
from murmure.show.phrase import Phrase, commas

MAX_UNFOLDED = 20  # a column with more figures shows the largest, and folds the rest
DATED = re.compile(r"[0-9]{4}-(?:W?[0-9]{2}|[0-9]{2}-[0-9]{2})")  # labels of dates, in order as texts
SHOWN_WHEN_FOLDED = 12
MAX_ORDERED = 128  # figures of one column of numbers keep their order, and up to this many are unfolded


def figures_section(content: ReportContent) -> Section:
    title = Phrase("2. What the crowd says")
    if content.chosen is not None:
        choice = content.chosen
        among = Phrase("chosen among {n:,} public candidates", n=choice.candidates)
        why = Phrase("No error bar: {reason}.", reason=choice.reason)
        return Section(title, (Facts(((among, choice.label),)), Paragraph(why, "note")))
    blocks = [block for column in content.columns for block in _column(content, column)]
    explained_once = False
    for i, block in enumerate(blocks):  # one explanation of bars and marks is enough
        if isinstance(block, Intervals):
            blocks[i] = replace(block, key=not explained_once)
            explained_once = True
    notes = _notes(content, [block for block in blocks if isinstance(block, Intervals)])
    return Section(title, (*blocks, *paragraphs([sentences(*notes) if notes else None], "note")))


def _column(content: ReportContent, column: ReportColumn) -> list[Block]:
    estimate, name = column.estimate, column.name or figure_kind(column.estimate)
    left_out = [_sentence(note) for note in left_out_notes(estimate, content.each_level, content.target_of(estimate))]
    if no_figure(estimate):
        why = Phrase("{name}: {why}.", name=name, why=no_figure_note(estimate))
        return [*paragraphs([why, *map(_sentence, noisy_counts(estimate)), *left_out], "note")]
    unit, grouped = estimate.unit, content.curated and not content.many_columns and not content.question.ungrouped
    label = Phrase("answer") if unit == "share" else Phrase("group") if grouped else ""
    figures = figures_of(
        estimate,
        name,
        content.level,
        content.target_of(estimate),
        column.truth,
        content.each_level if content.simultaneous else None,
        column.bounds,
        label,
        counts=True,
        named=unit != "share" and not grouped,
    )
    # Numbers keep their order, which shows the shape; other labels are sorted when they are many.
    ordered = _ascending(estimate.labels)
    after = paragraphs([_mean_note(content, column), *left_out], "note")
    if len(figures.rows) <= (MAX_ORDERED if ordered and not content.many_columns else MAX_UNFOLDED):
        return [figures, *after]
    rows = figures.rows if ordered else tuple(sorted(figures.rows, key=lambda row: -row.estimate))
    top = replace(figures, rows=rows[:SHOWN_WHEN_FOLDED], label=label if ordered else Phrase("largest first"))
    rest = replace(figures, title="", rows=rows[SHOWN_WHEN_FOLDED:], key=False)
    return [top, Fold(_folded(len(rest.rows), ordered, unit), (rest,)), *after]


def _folded(rest: int, ordered: bool, unit: str) -> Phrase:
    if ordered:
        return Phrase("{rest:,} more, in order", rest=rest)
    return (
        Phrase("{rest:,} smaller shares", rest=rest)
        if unit == "share"
        else Phrase("{rest:,} smaller figures", rest=rest)
    )


def _sentence(note: Phrase) -> Phrase:
    return Phrase("{note}.", note=note)


def _ascending(labels: Sequence[Any]) -> bool:
    """Whether labels are ascending numbers or dates, such as ages: sorted by share they would hide the shape."""
    values: Sequence[Any] = [str(label) for label in labels]
    if not all(map(DATED.fullmatch, values)):
        try:
            values = [float(label) for label in labels]
        except ValueError:
            return False
    return all(one < two for one, two in pairwise(values))


def _mean_note(content: ReportContent, column: ReportColumn) -> Phrase | None:
    """The mean of a numeric column, computed from its shares."""
    if column.mean is None or no_figure(column.mean) or column.mean.estimator is None:
        return None
    rows, method = column.mean.rows_and_method(content.each_level, content.target_of(column.mean))
    if method == KNOWN_EXACTLY:
        return Phrase("Mean {mean:,.5g}, known exactly.", mean=rows[0]["value"])
    low, high, mean = as_precise(rows[0]["low"], rows[0]["high"], rows[0]["value"])
    how = explained(method)
    return Phrase("Mean {mean}, {low} to {high} (interval by {method}).", mean=mean, low=low, high=high, method=how)


def _notes(content: ReportContent, figures: list[Intervals]) -> list[Phrase]:
    """Which population the intervals are about, how they were computed, and how often they cover the truth."""
    methods: dict[str, None] = {}
    reasons: dict[Phrase, None] = {}
    inside = intervals = 0
    for column in content.columns:
        estimate = column.estimate
        if no_figure(estimate):
            continue
        if estimate.reason and content.curated:
            without = estimate.estimator is None
            why = Phrase("No error bar: {reason}." if without else "Too noisy: {reason}.", reason=estimate.reason)
            reasons[why] = None
        if estimate.estimator is None:
            continue
        ends, method = estimate.interval_and_method(content.each_level, content.target_of(estimate))
        methods[explained(SCORE if method == SCORE_WEIGHTED and content.weights else method)] = None
        if column.truth is not None:
            inside += int(((ends[:, 0] <= column.truth) & (column.truth <= ends[:, 1])).sum())
            intervals += len(ends)
    notes = [_population(content, commas(methods)), *reasons] if methods else list(reasons)
    if intervals:
        notes.append(_coverage(content, inside, intervals))
    return notes + outside_note(figures)


def _population(content: ReportContent, how: Phrase) -> Phrase:
    fixed = all(content.target_of(column.estimate) == "fixed" for column in content.columns)
    if content.weights is not None:
        how = Phrase("{how}; weighted by {column}", how=how, column=content.weights)
    if not content.curated and fixed:
        return Phrase(
            "Intervals speak of these people, a fixed population: only the mechanism is random. Computed by {how}.",
            how=how,
        )
    if not content.curated:
        return Phrase(
            "Intervals speak of the larger population that these people stand for, a superpopulation: sampling adds "
            "its own error. Computed by {how}.",
            how=how,
        )
    errors = _errors(content)
    if fixed:
        return Phrase(
            "Intervals count {errors}. They speak of these people, a fixed population: no error of sampling is in "
            "them. Computed by {how}.",
            errors=errors,
            how=how,
        )
    return Phrase(
        "Intervals count {errors} and the error of sampling: they speak of the larger population that these people "
        "stand for, a superpopulation. Computed by {how}.",
        errors=errors,
        how=how,
    )


def _errors(content: ReportContent) -> Phrase:
    """Noise; and how far numbers are moved to their grid, at most, where some are."""
    form = content.question.entry.query
    if form is not None and (form.counts or form.chosen):
        return Phrase("the noise")
    if content.plan is None:
        return Phrase("the noise and, of numbers on a grid, the rounding to it")
    roundings: dict[float, None] = {}
    for name, domain in domains_of(content.plan.statistic.domain):
        is_rounded = isinstance(domain, Interval) or (isinstance(domain, Decimals) and domain.rounding == "nearest")
        if is_rounded and (not name or name in content.question.columns):
            roundings[float(domain.scale()[2])] = None
    if not roundings:
        return Phrase("the noise")
    most = commas(Phrase("{distance:.6g}", distance=distance) for distance in roundings)
    return Phrase("the noise and the rounding to the grid (at most {distances})", distances=most)


def _coverage(content: ReportContent, inside: int, intervals: int) -> Phrase:
    fields = {"inside": inside, "intervals": intervals, "level": 100 * content.level}
    if content.simultaneous:
        return Phrase(
            "The truth lies inside {inside:,} of {intervals:,} intervals; {level:.6g}% of the time all should hold it.",
            **fields,
        )
    return Phrase(
        "The truth lies inside {inside:,} of {intervals:,} intervals; {level:.6g}% of them should hold it.", **fields
    )
