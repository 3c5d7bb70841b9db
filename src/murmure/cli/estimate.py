"""`murmure estimate`: figures with error bars, of a sanitised table or of answers that people randomised themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.language import echo
from murmure.cli.options import (
    check_level,
    domain_options,
    figure_options,
    file_format_option,
    json_option,
    load_file_format,
    page_heading,
    require_options,
    split_columns,
    written,
)
from murmure.cli.outputs import check_outputs, check_picture_format, draw_off_screen, keep_file_names
from murmure.cli.plug_in_options import mechanism_options
from murmure.cli.record_certificates import both_certificates
from murmure.cli.terminal import print_document, print_json, print_written
from murmure.core.errors import InvalidParameter, Phrase, Plural, shorten
from murmure.core.files import all_or_nothing
from murmure.show.document import Block, Document, IntervalRow, Intervals, Paragraph, Section, paragraphs
from murmure.show.language import current_language
from murmure.show.phrase import Several

if TYPE_CHECKING:
    from murmure.core.estimates.estimate import Estimate
    from murmure.core.file_format import FileFormat
    from murmure.core.schema import Schema
    from murmure.core.types import Release
    from murmure.plan.plan import Plan

DOMAIN_PARAMETERS = ("categories", "labels", "integers", "interval", "cells")
REPORTS_EXAMPLE = Phrase("murmure estimate --mechanism two-coins --counts no=300,yes=200")


@click.command(cls=MurmureCommand, short_help="Estimate figures with error bars from randomised answers.")
@click.argument("sources", metavar="OUT...", nargs=-1)
@click.option("--columns", metavar="A,B,...", help="The columns to estimate.  [default: all, or none with --pair]")
@click.option("--pair", "pairs", multiple=True, metavar="A,B", help="How often values of two columns occur together.")
@click.option("--weights", metavar="COLUMN", help="A public column of OUT: how much each person counts.")
@figure_options
@click.option(
    "--truth",
    metavar="ORIGINAL",
    help="When simulating: the table before it was sanitised. With --mechanism: its probability of the truth.",
)
@file_format_option
@click.option(
    "--mechanism", metavar="NAME", help="How people randomised: two-coins, or a name of murmure certify --list."
)
@click.option("--plan", type=click.Path(path_type=Path), metavar="FILE", help="Or the plan (JSON) that they followed.")
@click.option("--counts", metavar="A=N,B=N,...", help="How many people reported each answer, such as no=300,yes=200.")
@click.option("--reports", metavar="FILE", help="Or the reports, a row each: CSV, Parquet, or what Reports.save wrote.")
@click.option("--column", metavar="NAME", help="The column of --reports.  [default: the only one]")
@domain_options
@click.option("--epsilon", type=float, metavar="E", help="The budget of the mechanism, as in murmure certify.")
@mechanism_options(without=("truth",), estimating=True)  # --truth is above
@json_option
def estimate(
    sources: tuple[str, ...],
    columns: str | None,
    pairs: tuple[str, ...],
    weights: str | None,
    level: float,
    target: Any,
    simultaneous: bool,
    forged: int,
    consistent: bool,
    plot: Path | None,
    html: Path | None,
    title: str | None,
    question: str | None,
    author: str | None,
    truth: str | None,
    file_format: Path | None,
    mechanism: str | None,
    plan: Path | None,
    counts: str | None,
    reports: str | None,
    column: str | None,
    categories: int | None,
    labels: str | None,
    integers: tuple[int, int] | None,
    interval: tuple[float, float] | None,
    cells: int | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Estimate from OUT, which `murmure sanitise` wrote: it holds all that is needed. Or from answers that people
    randomised themselves, with coins, cards or a program: they are not randomised again.

    \b
    murmure estimate sanitised.parquet
    murmure estimate sanitised.parquet --pair smoker,region --plot pairs.svg
    murmure estimate --mechanism two-coins --counts no=300,yes=200
    murmure estimate --mechanism GRR --labels never,once,often --epsilon 1 --reports answers.csv
    """
    domain = (categories, labels, integers, interval, cells)
    given = {name: value for name, value in settings.items() if value is not None}
    randomised = any(value is not None for value in (mechanism, plan, counts, reports))
    if not randomised:
        for name, value in (given | dict(zip(DOMAIN_PARAMETERS, domain, strict=True)) | {"column": column}).items():
            if value is not None:
                raise UsageError(
                    "--{name} is for --mechanism, which is not given.", REPORTS_EXAMPLE, name=name.replace("_", "-")
                )
    elif sources:
        raise UsageError("a sanitised table OUT and --mechanism or --reports exclude one another.", REPORTS_EXAMPLE)
    elif columns is not None or pairs or weights is not None:
        raise UsageError("--columns, --pair and --weights are for sanitised tables.", REPORTS_EXAMPLE)
    elif truth is not None:  # with --mechanism it is a probability, not a table
        given, truth = given | {"truth": truth}, None
    needed: dict[str, Any] = {Phrase("a sanitised table OUT"): sources or randomised or None}
    require_options(
        Phrase("murmure estimate"),
        needed,
        Phrase("murmure estimate sanitised.parquet, or {reports_example}", reports_example=REPORTS_EXAMPLE),
    )
    check_picture_format(plot, "estimates.svg")
    check_level(level)
    check_forged(forged)
    check_forged_figures(forged, weights, pairs)
    if weights is not None and pairs:
        raise UsageError("--weights are for columns; --pair takes none.", "estimate the pair without them")
    check_page_figures(html, columns, pairs)
    source: Any = reports if randomised else sources[0] if len(sources) == 1 else list(sources)
    with keep_file_names():
        check_outputs(plot, html, source, truth)
    if randomised:
        from murmure.cli.estimate_reports import answer_reports

        answers = None if reports is None else written(reports, file_format)
        answer = answer_reports(mechanism, plan, counts, answers, column, domain, given, target)
    else:
        answer = answer_table(source, columns, parse_pairs(pairs), weights, target)
    allow_forged(answer, forged)
    if truth is not None:
        answer.compare(truth, load_file_format(file_format))
        if not answer.release.seeded:
            echo(
                Phrase(
                    "WARNING: --truth shows what the original table says, and these rows are not a simulation (no "
                    "--seed): with the truth nobody needs an estimate. Keep it to yourself."
                )
            )
    present(answer, level, target, simultaneous, consistent, plot, html, page_heading(title, question, author), as_json)


def check_forged(forged: int) -> None:
    """Before anything is read."""
    if forged < 0:
        raise UsageError(
            "--forged must be a whole number, at least 0, got {got}.",
            "--forged 25: up to 25 forged reports",
            got=forged,
        )


def check_forged_figures(forged: int, weights: str | None, pairs: Sequence[str]) -> None:
    if forged and (weights is not None or pairs):
        raise UsageError("--forged is for columns without weights.", "leave out --weights and --pair")


def check_page_figures(html: Path | None, columns: str | None, pairs: Sequence[str]) -> None:
    if html is not None and (len(pairs) > 1 or (pairs and columns is not None)):
        raise UsageError("--html writes a page of columns, or of one pair.", "write one page for each")


def allow_forged(answer: Answer, forged: int) -> None:
    """Intervals that hold although up to this many reports are forged."""
    if forged > answer.release.estimate.n:
        raise InvalidParameter(
            "--forged must be at most the number of reports, {reports:,}, got {got:,}.",
            hint="--forged 25: up to 25 forged reports",
            reports=answer.release.estimate.n,
            got=forged,
        )
    answer.allow_forged(forged)


def present(
    answer: Answer,
    level: float,
    target: Any,
    simultaneous: bool,
    consistent: bool,
    plot: Path | None,
    html: Path | None,
    heading: Mapping[str, str | None],
    as_json: bool,
) -> None:
    """What was asked for: a picture, a page, and text or JSON."""
    write_figures(answer, level, target, simultaneous, plot, html, heading)
    if as_json:
        print_json(answer_json(answer, level, target, simultaneous, consistent, plot, html))
    else:
        print_document(answer_document(answer, interval_choice(answer, level, target, simultaneous, consistent)))
        print_written(plot, html)


def write_figures(
    answer: Answer,
    level: float,
    target: Any,
    simultaneous: bool,
    plot: Path | None,
    html: Path | None,
    heading: Mapping[str, str | None],
) -> None:
    """The picture and the page that were asked for."""
    with keep_file_names():
        if plot is not None:
            draw(answer, plot, level, simultaneous)
        if html is not None:
            write_page(answer, html, level, target, simultaneous, heading)


def answer_json(
    answer: Answer,
    level: float,
    target: Any,
    simultaneous: bool,
    consistent: bool,
    plot: Path | None,
    html: Path | None,
) -> dict[str, Any]:
    out = _as_json(answer, interval_choice(answer, level, target, simultaneous, consistent))
    return out | {"plot": plot and str(plot), "html": html and str(html)}


def interval_choice(answer: Answer, level: float, target: Any, simultaneous: bool, consistent: bool) -> IntervalOptions:
    """Bonferroni is over all figures that are shown, not over all that the table could give."""
    each = answer.each_level(level) if simultaneous else level
    return IntervalOptions(level, each, target, simultaneous, consistent, answer.weights)


def parse_pairs(pairs: Sequence[str]) -> list[tuple[str, str]]:
    return [_parse_pair(text) for text in pairs]


def _parse_pair(text: str) -> tuple[str, str]:
    names = split_columns(text)
    if len(names) != 2:
        raise UsageError("--pair takes two columns, got {got}.", "--pair smoker,region", got=shorten(text))
    return names[0], names[1]


# -- figures -----------------------------------------------------------------------------------------------------------


@dataclass
class ColumnFigures:
    """The figures of one column or pair, and the true ones where they are known."""

    kind: str  # "shares", "mean", "pair"
    columns: tuple[str, ...]
    estimate: Estimate
    truth: Any = None

    @property
    def title(self) -> Phrase:
        if not self.columns:  # a question without a name
            return {"shares": Phrase("shares"), "mean": Phrase("mean"), "pair": Phrase("pair")}[self.kind]
        names = Several(self.columns)
        return Phrase("mean of {names}", names=names) if self.kind == "mean" else Phrase("{names}", names=names)

    @property
    def bars(self) -> bool:
        return self.estimate.estimator is not None

    def rows(self, level: float) -> tuple[list[dict[str, Any]], str]:
        """The rows of the estimate, with the truth where it is known; values that JSON does not know are None."""
        rows, method = self.estimate.rows_and_method(level)
        for i, row in enumerate(rows):
            if self.truth is not None:
                row["truth"] = float(self.truth[i])
            for name, value in row.items():
                if isinstance(value, float) and not math.isfinite(value):
                    row[name] = None
        return rows, method


@dataclass
class Answer:
    """The figures of a sanitised table, or of reports that people randomised themselves."""

    release: Release
    plan: Plan
    schema: Schema | None  # of a table
    figures: list[ColumnFigures]
    weights: str | None = None
    true_rows: int | None = None
    true_left_out: int = 0
    from_counts: bool = False  # --counts alone named the answers
    forged: int = 0  # so many reports may be forged, and the intervals hold

    def each_level(self, level: float) -> float:
        """The level of one interval, when all that are shown are to cover together."""
        from murmure.core.estimates.estimate_blocks import simultaneous_level

        return simultaneous_level(level, (f.estimate for f in self.figures))

    @property
    def protects(self) -> str:
        """What the guarantee is about: a row of a table, or a report to one question."""
        from murmure.run.report.certificate_words import protects

        if self.plan.of_records or self.plan.unit != "row":
            return protects(self.plan)
        epsilon = self.release.guarantees["reader"].epsilon
        return Phrase(
            "one report: each further report of the same person adds epsilon = {epsilon:.6g}", epsilon=epsilon
        )

    def allow_forged(self, forged: int) -> None:
        """Widen all intervals for up to this many forged reports."""
        if not forged:
            return
        self.forged = forged
        self.release = replace(self.release, estimate=self.release.estimate.with_forged(forged))
        for figure in self.figures:
            if figure.bars:
                figure.estimate = figure.estimate.with_forged(forged)

    def compare(self, original: str, file: FileFormat) -> None:
        """Put the figures of the original table beside the estimated ones."""
        assert self.schema is not None
        wanted = [f.columns for f in self.figures]
        counts, self.true_rows, self.true_left_out = count_original(original, self.schema, wanted, self.weights, file)
        for figure in self.figures:
            shares = counts[figure.columns] / counts[figure.columns].sum()
            if figure.kind == "mean":
                domain: Any = self.schema[figure.columns[0]]
                shares = [float(shares @ domain.numbers())]
            figure.truth = shares


def answer_table(
    source: Any, columns: str | None, pairs: Sequence[tuple[str, str]], weights: str | None, target: Any
) -> Answer:
    """Estimate what was asked for: every column unless some, or pairs, are named."""
    from murmure.engines.sources.tables import open_table
    from murmure.run.tables.estimator import estimate as estimated
    from murmure.run.tables.sent_file import SentFile, is_sent_file
    from murmure.run.tables.table_format import plan_in_table

    plan = SentFile(source).plan if is_sent_file(source) else plan_in_table(open_table(source))[0]
    if not plan.of_records:
        return _answer_question(source, plan, columns, pairs, weights, target)
    return answer_records(
        plan, columns, pairs, weights, target, lambda statistic: estimated(source, statistic=statistic)
    )


def wanted_columns(schema: Schema, columns: str | None) -> list[str]:
    """--columns, or all that are randomised."""
    from murmure.core.errors import MissingColumn

    wanted = list(schema.private) if columns is None else split_columns(columns)
    for name in wanted:
        if name not in schema.private:
            raise MissingColumn(
                "there is no estimate of {name!r}; there are estimates of {private}.",
                name=name,
                private=shorten(list(schema.private), 120),
            )
    return wanted


def asked_statistics(
    schema: Schema, columns: str | None, pairs: Sequence[tuple[str, str]], weights: str | None
) -> list[Any]:
    """What is asked of records: all columns at once unless only pairs are named, then the pairs."""
    from murmure.statistics.marginals import Marginals
    from murmure.statistics.pair import Pair

    every = [Marginals(schema, weights)] if columns is not None or not pairs else []
    return [*every, *(Pair(schema, a, b) for a, b in pairs)]


def answer_records(
    plan: Plan,
    columns: str | None,
    pairs: Sequence[tuple[str, str]],
    weights: str | None,
    target: Any,
    estimated: Callable[[Any], Release],
) -> Answer:
    """The figures of records. estimated: the release of a statistic."""
    from murmure.statistics.pair import Pair

    schema: Any = plan.statistic.domain
    wanted, figures = wanted_columns(schema, columns), list[ColumnFigures]()
    release: Release | None = None
    for statistic in asked_statistics(schema, columns, pairs, weights):
        found = estimated(statistic)
        release = release or found
        if isinstance(statistic, Pair):
            pair = statistic.first, statistic.second
            figures.append(ColumnFigures("pair", pair, replace(found.estimate, target=target)))
            continue
        means = found.estimate.means
        for name in wanted:
            column = replace(found.estimate[name], target=target)
            figures.append(ColumnFigures("mean" if column.unit == "value" else "shares", (name,), column))
            if column.unit == "share" and name in means:
                figures.append(ColumnFigures("mean", (name,), replace(means[name], target=target)))
    assert release is not None
    return Answer(release, plan, schema, figures, weights)


def _answer_question(
    source: Any, plan: Plan, columns: str | None, pairs: Sequence[tuple[str, str]], weights: str | None, target: Any
) -> Answer:
    """Of the reports to one question, all that there is."""
    from murmure.cli.estimate_reports import question_figures
    from murmure.core.errors import MissingColumn
    from murmure.core.schema import Schema
    from murmure.run.tables.estimator import estimate as estimated
    from murmure.run.tables.table_format import question_column

    question: Any = plan.statistic.domain
    name = question_column(plan)
    if pairs or weights is not None:
        raise UsageError(
            "--pair and --weights are for records, and these are reports to one question, {name!r}.",
            "leave them out",
            name=name,
        )
    for column in [] if columns is None else split_columns(columns):
        if column != name:
            raise MissingColumn(
                "there is no estimate of {name!r}; there are estimates of {private}.",
                name=column,
                private=shorten([name], 120),
            )
    release = estimated(source)
    figures = question_figures(plan, release, name, target)
    return Answer(release, plan, Schema({name: question}), figures)


def count_original(
    original: str, schema: Any, wanted: Sequence[tuple[str, ...]], weights: str | None, file: FileFormat
) -> tuple[dict[tuple[str, ...], Any], int, int]:
    """How often each value, or pair of values, occurs in the original; rows outside the schema are left out."""
    import numpy as np

    from murmure.core.errors import EmptySource
    from murmure.engines.base.progress import with_progress
    from murmure.engines.sources.data_file import described
    from murmure.engines.sources.tables import open_table

    wanted_columns = [*schema.private, *([] if weights is None else [weights])]
    table = open_table(described(original, schema.with_file(file)), wanted_columns, schema.kinds)
    sizes = {columns: math.prod(schema[name].size for name in columns) for columns in wanted}
    counts = {columns: np.zeros(size) for columns, size in sizes.items()}
    rows = left_out = 0
    for batch in with_progress(table.batches(), table.rows, Phrase("reading {table}", table=table.source_name)):
        codes, kept = schema.encode_valid(batch)
        by_name = dict(zip(schema.private, codes, strict=True))
        rows += int(kept.sum())
        left_out += int((~kept).sum())
        row_weights = None if weights is None else batch.column(weights).to_numpy(zero_copy_only=False)[kept]
        for columns in counts:
            cell = by_name[columns[0]].astype(np.int64)
            if len(columns) == 2:
                cell = cell * schema[columns[1]].size + by_name[columns[1]]
            counts[columns] += np.bincount(cell, row_weights, sizes[columns])
    if rows == 0:
        raise EmptySource(
            "no row of {source_name} fits the schema: there is nothing to compare with.", source_name=table.source_name
        )
    return counts, rows, left_out


def draw(answer: Answer, path: Path, level: float, simultaneous: bool) -> None:
    """A panel for each."""
    from murmure.core.estimates.column_estimates import Estimates
    from murmure.core.estimates.estimate_blocks import plot_estimates

    draw_off_screen()
    panels: dict[str, Any] = {f.title: f.estimate for f in answer.figures}
    true = {f.title: f.truth for f in answer.figures if f.truth is not None}
    with all_or_nothing(path) as part:
        plot_estimates(Estimates(panels, answer.release.estimate.n), part, level, true, simultaneous, _title(answer))


def write_page(
    answer: Answer, path: Path, level: float, target: Any, simultaneous: bool, heading: Mapping[str, str | None]
) -> None:
    """Columns with their means, or one pair."""
    from murmure.run.report.report import write_report

    release, truth = answer.release, None
    # A column may have shares and a mean. Reversed, the shares come last and stay: the page computes the mean itself.
    main = {f.columns: f for f in reversed(answer.figures)}
    if isinstance(release.estimate, Mapping):
        wanted = [columns[0] for columns in reversed(main)]
        by_column = {name: release.estimate[name] for name in wanted}
        release = replace(release, estimate=replace(release.estimate, by_column=by_column))  # type: ignore[type-var]
    if answer.true_rows is not None:
        known = {columns[0]: f.truth for columns, f in main.items()}
        truth = known if isinstance(release.estimate, Mapping) else answer.figures[0].truth
    write_report(
        release,
        path,
        truth,
        level,
        target,
        plan=answer.plan,
        simultaneous=simultaneous,
        weights=answer.weights,
        lang=current_language(),
        **heading,
    )


# -- the answer --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class IntervalOptions:
    """Which intervals the figures get."""

    level: float
    each: float  # the level of one interval: higher when all are to cover together (Bonferroni)
    target: str
    simultaneous: bool
    consistent: bool
    weights: str | None = None

    def note(self, method: str, figures: ColumnFigures) -> Phrase:
        from murmure.core.estimates.estimate_blocks import population
        from murmure.core.estimates.method_words import KNOWN_EXACTLY, explained

        if not method:
            return Phrase("no error bar: {reason}", reason=figures.estimate.reason)
        whom = population(self.target)
        if method == KNOWN_EXACTLY:
            return Phrase("known exactly, {population}", population=whom)
        together = Phrase("; all that are shown hold at once (each at {each:.6g}%)", each=100 * self.each)
        return Phrase(
            "{level:.6g}% intervals by {method}{weighted}, {population}{together}",
            level=100 * self.level,
            method=explained(method),
            weighted=Phrase(", weighted by column {column!r}", column=self.weights) if self.weights else "",
            population=whom,
            together=together if self.simultaneous else "",
        )


def consistent_shares(answer: Answer) -> Iterator[tuple[ColumnFigures, Estimate]]:
    from murmure.run.postprocessing import project_simplex

    for figure in answer.figures:
        if figure.estimate.unit == "share" and figure.bars:
            yield figure, project_simplex(figure.estimate)


def _as_json(answer: Answer, options: IntervalOptions) -> dict[str, Any]:
    from murmure.run.report.certificate_words import certificate_json, mechanism_json

    release = answer.release
    parts: dict[str, list[dict[str, Any]]] = {"shares": [], "mean": [], "pair": []}
    for figure in answer.figures:
        rows, method = figure.rows(options.each)
        where: dict[str, Any] = {"columns": list(figure.columns)}
        if figure.kind != "pair":
            where = {"column": figure.columns[0] if figure.columns else None}
        why = {"method": method} if method else {"reason": figure.estimate.reason}
        parts[figure.kind] += [{**where, **row, **why} for row in rows]
    out = {
        "about": release.about,
        "plan": answer.plan.digest,
        "seeded": release.seeded,
        "people": release.estimate.n,
        "level": options.level,
        "level_each": options.each,
        "simultaneous": options.simultaneous,
        "target": options.target,
        "weights": options.weights,
        "forged": answer.forged,
        "figures": parts["shares"] + parts["mean"],
        "pairs": parts["pair"],
        "unit": answer.plan.unit,
        "rows_per_person": int(answer.plan.rows_per_person),
        "protects": answer.protects,
        "guarantees": {who: certificate_json(c) for who, c in release.guarantees.items()},
    }
    if not answer.plan.of_records:
        out["mechanism"] = mechanism_json(answer.plan.person)
        out["answers_named_by"] = "--counts" if answer.from_counts else "the domain"
        out["randomised_outside"] = release.randomised_outside
    if options.consistent:
        out["consistent"] = [
            {"columns": list(figure.columns), "label": label, "share": float(share)}
            for figure, shares in consistent_shares(answer)
            for label, share in zip(shares.labels, shares.mean, strict=True)
        ]
    if answer.true_rows is not None:
        out["truth"] = {"rows": answer.true_rows, "left_out": answer.true_left_out}
    return out


def answer_document(answer: Answer, options: IntervalOptions) -> Document:
    """The figures, how to read them, and what whoever sees the reports can learn."""
    figures = figures_document(answer, options)
    return Document(figures.title, (*figures.blocks, _learned_section(answer)))


def figures_document(answer: Answer, options: IntervalOptions) -> Document:
    """The figures, and how to read them."""
    from murmure.core.certificate_blocks import notices
    from murmure.run.report.certificate_words import mechanism_title

    release, plan = answer.release, answer.plan
    blocks: list[Block] = [Paragraph(mechanism_title(plan.person))]
    if answer.from_counts:
        from murmure.cli.estimate_reports import answers_line

        blocks.append(Paragraph(answers_line(list(release.estimate.labels))))
    blocks += notices(release)
    for figure in answer.figures:
        blocks += _figure_blocks(figure, options)
    if options.consistent:
        blocks.append(_consistent_section(answer))
    if answer.true_rows is not None:
        blocks.append(Paragraph(_truth_note(answer), "note"))
    if release.estimate.remark:
        blocks.append(Paragraph(Phrase("Provided {remark}.", remark=release.estimate.remark)))
    return Document(_title(answer), tuple(blocks))


def _learned_section(answer: Answer) -> Section:
    from murmure.core.certificate_blocks import certificate_blocks
    from murmure.run.report.certificate_words import promise

    release, plan = answer.release, answer.plan
    reader = release.guarantees["reader"]
    learned = certificate_blocks(reader, asked=True)
    title = Phrase("What someone who sees these reports can learn")
    if plan.of_records:
        learned, title = (
            both_certificates(plan, release.guarantees),
            Phrase("What someone who sees these rows can learn"),
        )
    protects = Phrase("It protects {protects}.", protects=answer.protects)
    return Section(title, (*learned, Paragraph(promise(reader)), Paragraph(protects)))


def _title(answer: Answer) -> Phrase:
    n, plan = answer.release.estimate.n, answer.plan
    many = Plural("{n:,} row", "{n:,} rows", n=n) if plan.of_records else Plural("{n:,} report", "{n:,} reports", n=n)
    return Phrase("{many}, plan {plan}", many=many, plan=plan.digest[:12])


def _figure_blocks(figure: ColumnFigures, options: IntervalOptions) -> list[Block]:
    from murmure.core.estimates.estimate_blocks import figures_of, no_figure, outside_note

    if no_figure(figure.estimate):
        why = Phrase("{title}: no figure: {reason}", title=figure.title, reason=figure.estimate.reason)
        return [Paragraph(why, "note")]
    each = options.each if options.simultaneous else None
    shown = figures_of(figure.estimate, figure.title, options.level, truth=figure.truth, each=each)
    method = figure.estimate.rows_and_method(options.each)[1]
    return [shown, *paragraphs([options.note(method, figure), *outside_note([shown])], "note")]


def _consistent_section(answer: Answer) -> Section:
    title = Phrase("The nearest shares that are not negative and sum to one. They are biased, and have no error bars.")
    figures = []
    for figure, shares in consistent_shares(answer):
        rows = tuple(
            IntervalRow(str(label), float(share)) for label, share in zip(shares.labels, shares.mean, strict=True)
        )
        figures.append(Intervals(figure.title, rows))
    return Section(title, tuple(figures))


def _truth_note(answer: Answer) -> Phrase:
    left_out, kept = answer.true_left_out, answer.release.estimate.n
    without = Phrase(", without {rows:,} that the schema does not allow", rows=left_out)
    other = Phrase("; the sanitised table holds {rows:,}", rows=kept)
    return Phrase(
        "truth (simulation): {rows:,} rows of the original{without}{other}",
        rows=answer.true_rows or 0,
        without=without if left_out else "",
        other=other if answer.true_rows != kept else "",
    )
