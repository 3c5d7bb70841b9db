"""`murmure query`: one question to a table, answered with noise, and charged in a ledger."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.catalogue import entries
from murmure.cli.commands import MurmureCommand, UsageError, did_you_mean, either
from murmure.cli.language import PhraseOption
from murmure.cli.ledger_session import (
    LedgerSession,
    check_columns,
    check_delta,
    ledger_options,
    single_source,
)
from murmure.cli.option_words import option
from murmure.cli.options import (
    NumberList,
    OneOf,
    check_level,
    interval_options,
    json_option,
    option_group,
    page_heading,
    page_options,
    relation_option,
    require_options,
    rows_of_one_person,
    split_columns,
    unit_options,
)
from murmure.cli.outputs import check_outputs, check_picture_format, draw_off_screen, keep_file_names
from murmure.cli.plug_in_options import option_of
from murmure.cli.terminal import print_document, print_json, print_written
from murmure.core.catalogue_entries import NoiseEntry, QueryForm, StatisticEntry
from murmure.core.errors import CannotWrite, MurmureError, Phrase, shorten
from murmure.core.files import all_or_nothing
from murmure.show.document import Block, Document, Paragraph, paragraphs
from murmure.show.language import current_language
from murmure.show.phrase import Several

if TYPE_CHECKING:
    from murmure.core.schema import Schema
    from murmure.core.types import Release
    from murmure.plan.plan import Plan

# What statistics and noises say about themselves (core/catalogue_entries.py). Two statistics may share a question: rows
# are counted without a column, and values with one.
FORMS = {name: entry.query for name, entry in entries(StatisticEntry).items() if entry.query is not None}
QUESTIONS = tuple(dict.fromkeys(form.word for form in FORMS.values()))
SETTINGS = {setting.name: setting for form in FORMS.values() for setting in form.options}
NOISES = {entry.word: name for name, entry in entries(NoiseEntry).items() if entry.word is not None}
NOISES_WITH_DELTA = tuple(entry.word for entry in entries(NoiseEntry).values() if entry.word and entry.needs_delta)
EXAMPLE = Phrase("murmure query mean people.csv --column age --schema schema.toml --epsilon 1")
ROW_RULES = Phrase(  # printed with every answer, so that it reveals nothing about the rows
    "Whatever the rows hold: a row whose number is missing or unreadable is left out, unless the schema names a value "
    "for it; a number out of range counts as the nearest bound, unless the schema drops it; an unknown label counts "
    "nowhere. How many rows that concerns, exactly, is for the holder of the data: murmure schema check."
)
DATE_RULES = Phrase(
    "Dates are treated as numbers are: one before the first or after the last counts as the nearest of them, unless "
    "the schema drops it."
)
CUT_NOTE = Phrase("Intervals are cut to what is possible, figures are not: a figure may lie outside its interval.")


@click.command(cls=MurmureCommand, short_help="Ask a table one question: a noisy answer, charged in a ledger.")
@click.argument(
    "asked",
    metavar="QUESTION",
    type=OneOf(Phrase("there is no question"), Phrase("the questions are"), QUESTIONS),
    required=False,
)
@click.argument("sources", metavar="DATA", nargs=-1)
@click.option("--schema", "schema_file", type=click.Path(path_type=Path), metavar="FILE", help="TOML.  [required]")
@click.option("--column", "columns", metavar="C", help="What it is about; table takes two, A,B. A count takes none.")
@click.option("--by", "keys", multiple=True, metavar="KEY", help="One answer for every value of KEY, empty ones too.")
@click.option("--where", multiple=True, metavar="C=V", help="Only rows whose C is V; of a number, LOW:HIGH.")
@click.option("--at", default="0.5", show_default=True, metavar="P,...", help="quantile: which ones.")
@option_group(*map(option_of, SETTINGS.values()))
@click.option("--epsilon", type=float, metavar="E", help="What the answer may cost.  [required]")
@click.option(
    "--delta",
    cls=PhraseOption,
    type=float,
    metavar="D",
    help=Phrase("With --noise {noises}.", noises=either(NOISES_WITH_DELTA)),
)
@click.option(
    "--noise", type=click.Choice(list(NOISES)), help="[default: laplace; a mode is drawn, by permute-and-flip]"
)
@relation_option
@unit_options
@interval_options
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the figures to .svg, .png or .pdf.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a page, in one file.")
@page_options
@ledger_options
@json_option
def query(
    asked: str | None,
    sources: tuple[str, ...],
    schema_file: Path | None,
    columns: str | None,
    keys: tuple[str, ...],
    where: tuple[str, ...],
    at: str,
    epsilon: float | None,
    delta: float | None,
    noise: str | None,
    relation: Any,
    unit: str,
    rows_per_person: int | None,
    level: float,
    target: Any,
    plot: Path | None,
    html: Path | None,
    title: str | None,
    question: str | None,
    author: str | None,
    as_json: bool,
    **ledger_settings: Any,
) -> None:
    """Ask DATA (a CSV, Parquet or Arrow file, a folder, or a pattern in quotes) for one figure or table: QUESTION. The
    answer carries noise, and is charged in a ledger before it is shown. `murmure query` alone lists the questions.

    Bounds and labels come from the schema. Cells that it does not allow are not errors: a number is moved to the
    nearest bound (or its row left out: outside = "drop" in the schema), a row whose number is missing or unreadable is
    left out and counted (or counts as the schema says), an unknown label counts nowhere.
    The same question to the same file is answered from the ledger, at no cost; --fresh draws and pays again. Budgets
    belong to --dataset: the same people in another file need the same name.

    \b
    murmure query count people.csv --where smoker=yes --schema schema.toml --epsilon 0.5 --budget 3
    murmure query mean people.csv --column age --by region --schema schema.toml --epsilon 1
    """
    needed = {
        Phrase("a question ({questions})", questions=", ".join(QUESTIONS)): asked,
        Phrase("a table DATA"): sources,
        "--schema": schema_file,
        "--epsilon": epsilon,
    }
    require_options(Phrase("murmure query"), needed, EXAMPLE)
    assert asked is not None and schema_file is not None and epsilon is not None
    check_level(level)
    name, names = _parse_question(asked, columns)
    if FORMS[name].chosen and plot is not None:
        raise UsageError(
            "the answer to a {question} is one label: there is nothing to draw.",
            "leave --plot out; --html writes a page",
            question=asked,
        )
    settings = _parse_settings(FORMS[name], {name: ledger_settings.pop(name) for name in SETTINGS})
    options = QueryOptions(name, names, _parse_keys(keys), where, at, level, target, settings)
    rows = rows_of_one_person(unit, rows_per_person, Phrase("the noise grows"))
    from murmure.core.schema import Schema
    from murmure.engines.sources.data_file import described
    from murmure.plan.plan import Plan
    from murmure.run.run import run

    schema = Schema.load(schema_file)
    schema.refuse_drafted()
    statistic, curator = options.statistic(schema), build_noise(options.form, epsilon, delta, noise)
    source = single_source(sources)
    table = described(source, schema)
    session = LedgerSession.open(source, **ledger_settings)
    relation = session.relation(relation)
    plan = Plan(
        statistic,
        curator=curator,
        unit=unit,
        rows_per_person=rows,
        relation=relation,
    )
    # Everything that can fail is checked before the ledger is charged.
    check_columns(table, [*(plan.step.columns or ()), *([] if unit == "row" else [unit])], schema.kinds)
    with keep_file_names():
        check_plot(plot)
        check_outputs(plot, html, source, None)
    session.ensure_budget(delta, relation, unit)
    release = run(plan, table, ledger=session.account, rng=session.rng)
    session.charge = release.charge
    failed = None
    # The answer is paid for: it is shown even if a file cannot be written.
    try:
        with keep_file_names():
            heading = page_heading(title, question, author)
            write_files(release, plan, session, options, plot, html, heading)
    except CannotWrite as error:
        failed, plot, html = error, None, None
    if as_json:
        written = {"plot": plot and str(plot), "html": html and str(html)}
        print_json(_as_json(release, plan, session, options) | written)
    else:
        print_document(answer_document(release, plan, session, options))
        print_written(plot, html)
    if failed is not None:
        raise failed


# -- pictures and pages ------------------------------------------------------------------------------------------------


def check_plot(plot: Path | None) -> None:
    """Refuse a picture that could not be drawn."""
    if plot is None:
        return
    check_picture_format(plot, "answer.svg")
    from murmure.core.plotting import pyplot

    draw_off_screen()
    pyplot()


def write_files(
    release: Release,
    plan: Plan,
    session: LedgerSession,
    options: QueryOptions,
    plot: Path | None,
    html: Path | None,
    heading: Mapping[str, str | None],
) -> None:
    if plot is not None:
        from murmure.core.estimates.column_estimates import Estimates
        from murmure.core.estimates.estimate_blocks import plot_estimates

        parts = {name: replace(part, target=options.target) for name, part in _named_estimates(release)}
        estimate = release.estimate
        known = estimate if isinstance(estimate, Estimates) else Estimates({}, estimate.n)
        columns = replace(known, by_column=parts)
        with all_or_nothing(plot) as part:
            plot_estimates(columns, part, options.level, title=options.title)
    if html is not None:
        from murmure.run.report.report import write_report

        write_report(
            release,
            html,
            level=options.level,
            target=options.target,
            plan=plan,
            ledger=session.account,
            lang=current_language(),
            title=heading["title"],
            question=heading["question"],
            author=heading["author"],
        )


# -- the question ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class QueryOptions:
    """A question as typed."""

    statistic_name: str
    columns: tuple[str, ...]
    by: tuple[str, ...]
    where: tuple[str, ...]
    at: str
    level: float
    target: Any
    settings: Mapping[str, Any]

    @property
    def form(self) -> QueryForm:
        return FORMS[self.statistic_name]

    @property
    def question(self) -> str:
        return self.form.word

    def statistic(self, schema: Schema) -> Any:
        """The statistic that the options ask for; refuses what the schema cannot answer."""
        from murmure.catalogue import load
        from murmure.core.schema import Schema

        for name in (*self.columns, *self.by):
            check_column(schema, name)
        self._refuse_words(schema)
        make: Any = load(self.statistic_name)
        if len(self.columns) > 1:
            about = Schema({name: schema.column_specs[name] for name in self.columns})
            statistic: Any = make(about, *self.columns, **self.settings)
        else:  # a count of rows depends on no value, so any column will do
            column = self.columns[0] if self.columns else schema.private[0]
            levels = {} if self.form.levels is None else {self.form.levels: _parse_levels(self.at)}
            statistic = make(schema[column], **levels, **self.settings)
        for condition in self.where:
            statistic = load("Where")(statistic, **_parse_condition(condition, schema))
        if self.by:
            statistic = load("GroupBy")(statistic, by=Schema({name: schema.column_specs[name] for name in self.by}))
        return statistic

    def _refuse_words(self, schema: Schema) -> None:
        from murmure.core.domain import Dates

        if self.form.numbers and isinstance(schema[self.columns[0]], Dates) and not self.form.dates:
            raise UsageError(
                "a {question} needs numbers, and column {column!r} holds dates.",
                "murmure query quantile --column {column} gives their median, murmure query histogram counts them",
                question=self.question,
                column=self.columns[0],
            )
        if self.form.numbers and not schema[self.columns[0]].ordered:
            raise UsageError(
                "a {question} needs numbers, and column {column!r} holds labels.",
                "murmure query histogram --column {column} counts them",
                question=self.question,
                column=self.columns[0],
            )
        if self.form.chosen and (self.by or self.where):
            raise UsageError(
                "a {question} is one choice among all rows: it takes no --by and no --where.",
                "leave them out",
                question=self.question,
            )

    def notes(self, plan: Plan) -> list[str]:
        """Notes that hold for every answer to this question. They do not depend on the data, so they reveal nothing."""
        from murmure.core.domain import Dates
        from murmure.run.report.question_section import domains_of

        dated = any(isinstance(domain, Dates) for _, domain in domains_of(plan.statistic.domain))
        return [ROW_RULES, *([DATE_RULES] if dated else []), *([CUT_NOTE] if self.form.counts else [])]

    @property
    def title(self) -> Phrase:
        from murmure.core.estimates.estimate_blocks import figure_name

        return Phrase(
            "{question}{of}{by}{where}",
            question=figure_name(self.question),
            of=Phrase(" of {columns}", columns=Several(self.columns)) if self.columns else "",
            by=Phrase(" by {keys}", keys=Several(self.by)) if self.by else "",
            where=Phrase(" where {conditions}", conditions=Several(self.where)) if self.where else "",
        )


def _parse_question(question: str, columns: str | None) -> tuple[str, tuple[str, ...]]:
    """The statistic that answers a question about this number of columns, and their names."""
    names = tuple(split_columns(columns)) if columns is not None else ()
    wanted = {form.columns: name for name, form in FORMS.items() if form.word == question}
    if len(names) in wanted:
        return wanted[len(names)], names
    if 0 in wanted:
        raise UsageError(
            "a {question} counts rows, and takes at most one --column, got {got}.",
            "--where C=V counts some",
            question=question,
            got=len(names),
        )
    several = min(wanted) > 1
    example = Phrase("--column smoker,region") if several else Phrase("--column age")
    what = Phrase("two columns, --column A,B") if several else Phrase("one --column")
    raise UsageError(
        "a {question} takes {what}, got {got}.", example, question=question, what=what, got=len(names) or Phrase("none")
    )


def _parse_settings(form: QueryForm, given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given of the options that statistics bring along; refuses those of other questions."""
    taken = {setting.name: setting for setting in form.options}
    for name, value in given.items():
        if value is not None and name not in taken:
            raise UsageError("a {word} takes no {name}.", "leave it out", word=form.word, name=option(name))
        if value is None and name in taken and "[required]" in taken[name].help:
            raise UsageError(
                "a {word} needs {name}.", "murmure query --help lists the options", word=form.word, name=option(name)
            )
    return {name: value for name, value in given.items() if value is not None}


def _parse_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    """--by region --by smoker, or --by region,smoker."""
    names = tuple(name for text in keys for name in split_columns(text))
    if len(set(names)) < len(names):
        raise UsageError(
            "--by names {names!r} twice.", "once is enough", names=next(n for n in names if names.count(n) > 1)
        )
    return names


def build_noise(form: QueryForm, epsilon: float, delta: float | None, noise: str | None) -> Any:
    """The noise that the options ask for."""
    from murmure.catalogue import load

    check_delta(delta)
    if noise in NOISES_WITH_DELTA and delta is None:
        raise UsageError(
            "--noise {noise} needs --delta.",
            "--delta 1e-6, for example: well below 1 / (number of people)",
            noise=noise,
        )
    if noise not in NOISES_WITH_DELTA and delta is not None:
        raise UsageError(
            "--delta is for --noise {noises_with_delta}; others have none.",
            "--noise gaussian, or leave it out",
            noises_with_delta=either(NOISES_WITH_DELTA),
        )
    if form.chosen is not None:
        if noise is not None:
            raise UsageError(
                "the answer to a {word} is drawn by permute-and-flip: it takes no --noise.",
                "leave it out",
                word=form.word,
            )
        return load(form.chosen)(epsilon=epsilon)
    noise_class = load(NOISES[noise or "laplace"])
    return noise_class(epsilon=epsilon) if delta is None else noise_class(epsilon=epsilon, delta=delta)


def check_column(schema: Schema, name: str) -> None:
    from murmure.core.errors import MissingColumn

    if name not in schema.private:
        raise MissingColumn(
            "the schema has no column {name!r}; it has {private}.",
            hint=did_you_mean(name, schema.private),
            name=name,
            private=shorten(list(schema.private), 120),
        )


def _parse_levels(text: str) -> Any:
    try:
        levels = NumberList().convert(text, None, None)
    except click.UsageError:
        levels = []
    if not levels or not all(0 < q < 1 for q in levels):
        raise UsageError(
            "--at must be numbers strictly between 0 and 1, got {got}.",
            "--at 0.25,0.5,0.75; the minimum and the maximum cannot be protected",
            got=shorten(text),
        )
    return levels[0] if len(levels) == 1 else tuple(levels)


def _parse_condition(text: str, schema: Schema) -> dict[str, Any]:
    """smoker=yes, or age=18:65: the column and the condition, in the words of its domain."""
    from murmure.core.domain import Categories, Dates, Decimals, Interval

    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name or not value:
        raise UsageError(
            "--where {text} is not COLUMN=VALUE.", "--where smoker=yes, or --where age=18:65", text=shorten(text)
        )
    check_column(schema, name)
    domain = schema[name]
    if isinstance(domain, Dates):
        first, colon, last = (part.strip() for part in value.partition(":"))
        try:
            ends = tuple(domain.any_date("--where", end) for end in ((first, last) if colon else (value,)))
        except MurmureError:
            raise UsageError(
                "--where {text} is not COLUMN=DATE or COLUMN=FIRST:LAST.",
                "--where {name}={first}, or --where {name}={first}:{last}",
                text=shorten(text),
                name=name,
                first=domain.first,
                last=domain.last,
            ) from None
        return {"column": domain, "between" if colon else "is_in": ends}
    if not isinstance(domain, Categories) and (":" in value or isinstance(domain, Interval)):
        try:
            low, high = (float(part) for part in value.split(":"))
        except ValueError:
            raise UsageError(
                "--where {text} is not COLUMN=LOW:HIGH.", "--where {name}=18:65", text=shorten(text), name=name
            ) from None
        return {"column": domain, "between": (low, high)}
    if isinstance(domain, Decimals):
        try:
            return {"column": domain, "is_in": (float(value),)}
        except ValueError:
            raise UsageError(
                "--where {text} is not COLUMN=NUMBER.", "--where {name}=36.6", text=shorten(text), name=name
            ) from None
    labels = {str(label): entry for label, entry in zip(domain.labels(), _domain_values(domain), strict=True)}
    if value not in labels:
        words = isinstance(domain, Categories)
        raise UsageError(
            "--where: column {name!r} has no value {value}; it is {domain}.",
            (did_you_mean(value, labels) if words else None) or "values come from the schema",
            name=name,
            value=shorten(value),
            domain=domain.describe(),
        )
    return {"column": domain, "is_in": (labels[value],)}


def _domain_values(domain: Any) -> list[Any]:
    """The values of the domain, as rows contain them."""
    from murmure.core.domain import Categories

    if isinstance(domain, Categories):
        return list(range(domain.size)) if isinstance(domain.values, int) else list(domain.values)
    return [int(v) for v in domain.numbers()]


# -- the answer --------------------------------------------------------------------------------------------------------


def answer_parts(release: Release, options: QueryOptions) -> list[tuple[str, list[dict[str, Any]], str]]:
    """Of every part of the answer: its name, its rows with intervals, and how the intervals were made."""
    out = []
    for name, part in _named_estimates(release):
        if part.estimator is None:
            rows, method = part.to_rows(), ""
        else:
            rows, method = part.rows_and_method(options.level, options.target)
        out.append((str(name), [_finite_row(row) for row in rows], method or f"no error bar: {part.reason}"))
    return out


def _named_estimates(release: Release) -> list[tuple[str, Any]]:
    estimate = release.estimate
    return [(str(name), part) for name, part in estimate.items()] if isinstance(estimate, Mapping) else [("", estimate)]


def _left_out(release: Release, options: QueryOptions) -> list[dict[str, Any]]:
    """The noisy numbers of rows that have no part in the figures."""
    out = []
    for name, part in _named_estimates(release):
        left_out = part.left_out
        if left_out is not None:
            rows = left_out.to_rows(options.level, options.target)
            out += [{**({"group": name} if name else {}), **row} for row in rows]
    return out


def _finite_row(row: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}


def _as_json(release: Release, plan: Plan, session: LedgerSession, options: QueryOptions) -> dict[str, Any]:
    from murmure.run.report.certificate_words import certificate_json, protects

    return {
        "question": options.title,
        "about": release.about,
        "plan": release.plan,
        "seeded": release.seeded,
        "level": options.level,
        "target": options.target,
        "people": release.estimate.n,
        "figures": [
            {**({"group": name} if name else {}), **row, "method": method}
            for name, rows, method in answer_parts(release, options)
            for row in rows
        ],
        "left_out": _left_out(release, options),
        "too_noisy": [
            name or options.title
            for name, part in _named_estimates(release)
            if part.estimator is not None and part.reason
        ],
        "notes": options.notes(plan),
        "unit": plan.unit,
        "rows_per_person": int(plan.rows_per_person),
        "relation": plan.relation,
        "protects": protects(plan),
        "guarantees": {who: certificate_json(c) for who, c in release.guarantees.items()},
        "ledger": session.to_dict(),
        "warnings": session.warnings,
    }


def answer_document(release: Release, plan: Plan, session: LedgerSession, options: QueryOptions) -> Document:
    """The answer, how to read it, what it costs, and what is left."""
    from murmure.core.certificate_blocks import RELATION_NAMES, notices
    from murmure.ledger.figures import rounded_up
    from murmure.run.report.certificate_words import protects

    reader = release.guarantees["reader"]
    cost = Phrase("epsilon {epsilon}", epsilon=rounded_up(reader.epsilon))
    if reader.delta:
        cost = Phrase("epsilon {epsilon}, delta {delta:g}", epsilon=rounded_up(reader.epsilon), delta=reader.delta)
    costs = Phrase(
        "It costs {cost} ({relation}), and protects {protects}.",
        cost=cost,
        relation=RELATION_NAMES[reader.relation],
        protects=protects(plan),
    )
    blocks = (
        *notices(release),
        *(_chosen_value(release) if options.form.chosen else _figures(release, options)),
        *paragraphs(options.notes(plan), "note"),
        Paragraph(costs),
        Paragraph(session.summary(), "text" if session.charge else "warning"),
    )
    return Document(options.title, blocks)


def _chosen_value(release: Release) -> tuple[Block, ...]:
    """Of a mode: a label alone."""
    value = Phrase("the commonest value: {value}", value=release.estimate.labels[0])
    why = Phrase("there is no interval: one value is chosen, likelier the farther it is ahead")
    return Paragraph(value), Paragraph(why, "note")


def _figures(release: Release, options: QueryOptions) -> list[Block]:
    from murmure.core.estimates.estimate_blocks import figures_of, left_out_notes, no_figure, no_figure_note, population
    from murmure.core.estimates.method_words import explained

    blocks: list[Block] = []
    notes: dict[str, None] = {}  # each once, in order
    later: list[Block] = []
    for name, part in _named_estimates(release):
        of = (lambda text: Phrase("{name}: {text}", name=name, text=text)) if name else (lambda text: text)  # noqa: B023
        if no_figure(part):
            blocks.append(Paragraph(of(no_figure_note(part))))
            continue
        blocks.append(figures_of(part, name, options.level, options.target))
        method = part.rows_and_method(options.level, options.target)[1] if part.estimator is not None else ""
        note = Phrase("no error bar: {reason}", reason=part.reason)
        if method:
            note = Phrase(
                "{level:.6g}% intervals by {method}, {population}",
                level=100 * options.level,
                method=explained(method),
                population=population(options.target),
            )
        notes[note] = None
        later += paragraphs([of(text) for text in left_out_notes(part, options.level, options.target)])
        if part.reason and part.estimator is not None:
            later.append(Paragraph(of(Phrase("too noisy: {reason}", reason=part.reason)), "warning"))
    if options.question != "count" and release.estimate.n is not None:
        notes[Phrase("of about {n:,} rows, a noisy number too", n=release.estimate.n)] = None
    return [*blocks, *paragraphs(list(notes), "note"), *later]
