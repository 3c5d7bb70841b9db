"""`murmure advise`: which mechanism to use, decided before any data is collected."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.options import (
    DOMAIN_OPTIONS,
    NumberList,
    WholeNumber,
    build_domain,
    domain_options,
    json_option,
    require_options,
)
from murmure.cli.outputs import check_picture_format, draw_off_screen
from murmure.cli.terminal import console, print_json
from murmure.core.errors import Phrase
from murmure.core.files import all_or_nothing
from murmure.run.report.number_format import bits_text, describe_domain, format_number, group_digits
from murmure.run.report.terminal_tables import headed_table

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from murmure.advise.advice import Advice
    from murmure.advise.record_advice import RecordAdvice

NEAR_BEST = 1.05  # a standard error within 5 % of the best is as good in practice
OPTIONAL_COLUMNS = ("Var*", "bits", "detail", "worst")  # the columns that a narrow terminal does without, in this order


@click.command(cls=MurmureCommand, short_help="Rank mechanisms, before anybody is asked anything.")
@domain_options
@click.option(
    "--schema", "schema_file", type=click.Path(path_type=Path), metavar="FILE", help="Or whole records: a TOML schema."
)
@click.option("--epsilon", type=NumberList(), metavar="E", help="1, or a list 0.5,1,2, or FROM:TO:STEP.  [required]")
@click.option("--people", type=WholeNumber(), metavar="N", help="How many will answer: 100000 or 1e5.  [required]")
@click.option("--share", type=float, metavar="F", help="Expected share of the one answer that matters.")
@click.option("--shares", type=NumberList(), metavar="F1,F2,...", help="Expected shares of all answers; they sum to 1.")
@click.option(
    "--statistic",
    type=click.Choice(["histogram", "mean"]),
    help="What is asked of numbers.  [default: mean of an interval, else histogram]",
)
@click.option(
    "--rank-by",
    type=click.Choice(["mean", "worst", "var-star"]),
    default="mean",
    show_default=True,
    help="Variance averaged over answers, at the worst share, or at share 0.",
)
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the variances to .svg, .png, .pdf.")
@json_option
def advise(
    categories: int | None,
    labels: str | None,
    integers: tuple[int, int] | None,
    interval: tuple[float, float] | None,
    cells: int | None,
    schema_file: Path | None,
    epsilon: list[float] | None,
    people: int | None,
    share: float | None,
    shares: list[float] | None,
    statistic: str | None,
    rank_by: str,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Rank mechanisms by exact variance, before anybody is asked anything.

    \b
    A yes/no question to a class:
      murmure advise --labels no,yes --epsilon 1 --people 200
    The lecture's Var* figure (N = 1e5, k = 128):
      murmure advise --categories 128 --epsilon 0.5:5:0.5 --people 1e5 --rank-by var-star --plot var-star.svg
    A table of many columns (splitting, sampling, fake data):
      murmure advise --schema schema.toml --epsilon 1 --people 50000
    """
    example = Phrase("murmure advise --labels no,yes --epsilon 1 --people 1000")
    has_domain = any(value is not None for value in (categories, labels, integers, interval, schema_file))
    needed = {"--epsilon": epsilon, "--people": people}
    require_options(Phrase("murmure advise"), needed, example, () if has_domain else DOMAIN_OPTIONS)
    assert epsilon is not None and people is not None
    check_picture_format(plot, "var-star.svg")
    if schema_file is not None:
        single_question = ("categories", "labels", "integers", "interval", "cells", "share", "shares", "statistic")
        options = click.get_current_context().params
        for name in single_question:
            if options[name] is not None:
                raise UsageError(
                    "--{name} is for one question, --schema for whole records.", "give one of them", name=name
                )
        advise_schema(schema_file, epsilon, people, rank_by, plot, as_json)
        return
    domain = build_domain(categories, labels, integers, interval, cells)
    if share is not None and shares is not None:
        raise UsageError(
            "--share and --shares exclude one another.", "--share is for one answer, --shares for all of them"
        )
    from murmure.advise.advice import advise as rank

    advice = rank(  # type: ignore[call-overload]
        domain,
        epsilon,
        people,
        shares=share if shares is None else shares,
        rank_by=rank_by,
        statistic=statistic,
    )
    draw(advice, plot)
    if as_json:
        rows = [{**row, "standard_error": math.sqrt(row["mean_variance"])} for row in advice.rows]
        print_json(
            {
                "domain": domain.to_dict(),
                "people": people,
                "statistic": advice.statistic,
                "rank_by": rank_by,
                "rows": rows,
                "sentence": sentence(advice, share),
                "plot": None if plot is None else str(plot),
            }
        )
        return
    out = console()
    out.print(heading(advice), style="bold", end="\n\n")
    table, omitted = ranking(advice, out, out.width)
    out.print(table)
    out.print()
    out.print(legend(advice, omitted), style="dim")
    out.print()
    out.print(sentence(advice, share))
    if plot is not None:
        out.print(f"Drawn in {plot}", soft_wrap=True)


def draw(advice: Any, plot: Path | None) -> None:
    if plot is not None:
        draw_off_screen()
        with all_or_nothing(plot) as part:
            advice.plot(part)


def heading(advice: Advice) -> str:
    figure = "shares" if advice.statistic == "histogram" else "mean"
    return f"The {figure} of {describe_domain(advice.domain)}, from {people_text(advice.people)}"


def people_text(people: int) -> str:
    return f"{group_digits(people)} {'person' if people == 1 else 'people'}"


def error_text(advice: Advice, variance: float | None) -> str:
    """A standard error: percentage points for shares, the domain's own unit for a mean."""
    if variance is None:
        return ""
    return format_number((100 if advice.statistic == "histogram" else 1) * math.sqrt(variance), 3)


def ranking(advice: Advice, out: Console, room: int) -> tuple[RenderableType, tuple[str, ...]]:
    """One block of rows per epsilon, the best first and marked; and the columns for which there was no room."""
    from rich.text import Text

    omitted: tuple[str, ...] = () if advice.statistic == "histogram" else ("Var*",)
    table, omitted = fit_table(lambda omitted: _table(advice, omitted), OPTIONAL_COLUMNS, out, room, omitted)
    if table is not None:
        return table, omitted
    lines = [  # too narrow for any table
        f"{row['mechanism']} at epsilon {row['epsilon']:.6g}{' <- best' if row['best'] else ''}\n"
        f"  error {error_text(advice, row['mean_variance'])}, worst {error_text(advice, row['worst_variance'])}"
        for row in advice.rows
    ]
    return Text("\n".join(lines), overflow="fold"), tuple(name for name in omitted if name != "worst")


def fit_table(
    make_table: Callable[[tuple[str, ...]], Table],
    optional_columns: Sequence[str],
    out: Console,
    room: int,
    omitted: tuple[str, ...] = (),
) -> tuple[Table | None, tuple[str, ...]]:
    """The widest table that fits (None: none does), and the columns that it does without."""
    optional = [name for name in optional_columns if name not in omitted]
    while True:
        table = make_table(omitted)
        if out.measure(table, options=out.options.update(width=10_000)).maximum <= room:
            return table, omitted
        if not optional:
            return None, omitted
        omitted = (*omitted, optional.pop(0))


def _table(advice: Advice, omitted: tuple[str, ...]) -> Table:
    columns = {
        "error": lambda row: error_text(advice, row["mean_variance"]),
        "worst": lambda row: error_text(advice, row["worst_variance"]),
        "Var*": lambda row: f"{row['var_star']:.3e}",
        "bits": lambda row: f"{row['report_bits']:.3g}",
    }
    return ranking_table(advice.rows, "mechanism", columns, "detail", omitted)


def ranking_table(
    rows: Sequence[Mapping[str, Any]],
    first_column: str,
    columns: Mapping[str, Callable[[Any], str]],
    detail: str | None,
    omitted: tuple[str, ...],
) -> Table:
    """One block of rows per epsilon, without the omitted columns."""
    many_epsilons = len({row["epsilon"] for row in rows}) > 1
    shown = [name for name in columns if name not in omitted]
    table = headed_table()
    if many_epsilons:
        table.add_column("epsilon", justify="right", no_wrap=True)
    table.add_column(first_column, no_wrap=True)
    for name in shown:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    last = None
    for row in rows:
        if many_epsilons and last is not None and row["epsilon"] != last:
            table.add_section()
        cells = [f"{row['epsilon']:.6g}" if row["epsilon"] != last else ""] if many_epsilons else []
        cells += [row[first_column], *(columns[name](row) for name in shown)]
        notes = [row[detail]] if detail is not None and row[detail] and detail not in omitted else []
        cells.append("  ".join([*notes, *(["<- best"] if row["best"] else [])]))
        table.add_row(*cells, style="bold green" if row["best"] else None)
        last = row["epsilon"]
    return table


def legend(advice: Advice, omitted: tuple[str, ...] = ()) -> Table:
    """What the columns mean, and which of them did not fit."""
    if advice.statistic == "mean":
        meanings = {
            "error": "standard error of the mean, averaged over values",
            "worst": "the same if all held the worst value",
        }
    else:
        meanings = {
            "error": "standard error of a share in percentage points, averaged over answers",
            "worst": "the same at the worst share",
            "Var*": "variance at share 0: right for choosing, wrong as an error bar",
        }
    meanings["bits"] = "the size of one report"
    return legend_table(meanings, omitted)


def legend_table(meanings: Mapping[str, str], omitted: tuple[str, ...]) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for name, meaning in meanings.items():
        if name not in omitted:
            table.add_row(name, meaning)
    left_out = [name for name in meanings if name in omitted]
    if left_out:
        table.add_row("", f"(No room for {', '.join(left_out)}: see a wider terminal, or --json.)")
    return table


def sentence(advice: Advice, share: float | None = None) -> str:
    """What the ranking means, in one sentence of plain words; `share`: the only one that was asked about."""
    from murmure.advise.advice import RANK_KEYS

    best = [row for row in advice.rows if row["best"]]
    key = RANK_KEYS[advice.rank_by]
    histogram = advice.statistic == "histogram"
    what = "the mean"
    if histogram:
        what = "every share" if share is None else f"a share of {share:g}"
        what = "the share of a rare answer" if advice.rank_by == "var-star" else what
    unit = " percentage points" if histogram else ""
    over = " on average over the answers" if histogram else " on average over the values"
    how = "at most" if advice.rank_by == "worst" else "about"
    first, last = best[0], best[-1]
    if advice.rank_by != "mean" or all(row["mean_variance"] == row["worst_variance"] for row in best):
        over = ""

    def worst(row: dict[str, Any]) -> str:
        return f" (at worst {error_text(advice, row['worst_variance'])})" if over else ""

    people = people_text(advice.people)
    if len(best) > 1:
        return (
            f"With {people}, the best standard error of {what} goes from {how} {error_text(advice, first[key])}{unit}"
            f"{over}{worst(first)} at epsilon {first['epsilon']:.6g} ({first['mechanism']}, "
            f"{bits_text(first['report_bits'])} a report) to {error_text(advice, last[key])}{worst(last)} at epsilon "
            f"{last['epsilon']:.6g} ({last['mechanism']}, {bits_text(last['report_bits'])})."
        )
    return (
        f"With {people} at epsilon {first['epsilon']:.6g}, {first['mechanism']} gives {what} a standard error of {how} "
        f"{error_text(advice, first[key])}{unit}{over}{worst(first)}, and one report costs "
        f"{bits_text(first['report_bits'])}{_shorter_report(advice, first, key)}."
    )


def _shorter_report(advice: Advice, best: dict[str, Any], key: str) -> str:
    """A much shorter report that is nearly as good, where there is one."""
    nearly_best = [
        row
        for row in advice.rows
        if row[key] <= best[key] * NEAR_BEST**2 and row["report_bits"] <= best["report_bits"] / 2
    ]
    if not nearly_best:
        return ""
    row = min(nearly_best, key=lambda r: (r["report_bits"], r[key]))
    return f" ({row['mechanism']}: {error_text(advice, row[key])} for {bits_text(row['report_bits'])})"


# -- whole records ----------------------------------------------------------------------------------------------------

OPTIONAL_RECORD_COLUMNS = ("bits", "pairs", "worst", "record", "attribute")


def advise_schema(
    path: Path, epsilon: list[float], people: int, rank_by: str, plot: Path | None, as_json: bool
) -> None:
    """Splitting, sampling and fake data for the columns of a schema."""
    from murmure.advise.record_advice import advise_records
    from murmure.core.schema import Schema

    schema = Schema.load(path)
    advice = advise_records(schema, epsilon, people, rank_by=rank_by)  # type: ignore[arg-type]
    draw(advice, plot)
    if as_json:
        print_json(
            {
                "schema": schema.to_dict(),
                "people": people,
                "rank_by": rank_by,
                "rows": advice.rows,
                "sentence": records_sentence(advice),
                "plot": None if plot is None else str(plot),
            }
        )
        return
    out = console()
    title = f"The figures of {columns_text(schema)}, from {people_text(people)}"
    out.print(title, style="bold", end="\n\n")
    table, omitted = fit_table(lambda omitted: _record_table(advice, omitted), OPTIONAL_RECORD_COLUMNS, out, out.width)
    if table is None:  # too narrow for any
        omitted = ()
        for row in advice.rows:
            mark = " <- best" if row["best"] else ""
            out.print(f"{row['solution']} at epsilon {row['epsilon']:.6g}{mark}")
            out.print("  " + ", ".join(f"{name} {cell}" for name, cell in advice.cells(row).items()))
    else:
        out.print(table)
    out.print()
    notes = {row["solution"]: row["note"] for row in advice.rows if row["note"]}
    out.print(legend_table(RECORD_MEANINGS | notes, omitted), style="dim")
    out.print()
    if len(epsilon) == 1:
        out.print(_protocol_table(advice))
        out.print()
    out.print(records_sentence(advice))
    if plot is not None:
        out.print(f"Drawn in {plot}", soft_wrap=True)


RECORD_MEANINGS = {
    "error": "standard error over all figures, in per cent of the whole: of all people, or of a number's width",
    "worst": "the same for the column that comes out worst",
    "record": "epsilon when the whole record may differ",
    "attribute": "epsilon when one attribute of it may",
    "pairs": "of how many pairs of columns the joint shares can be estimated",
    "bits": "the size of one report",
}


def columns_text(schema: Any) -> str:
    d = len(schema.private)
    return f"{d} column{'s' * (d != 1)}"


def _record_table(advice: RecordAdvice, omitted: tuple[str, ...]) -> Table:
    columns = {name: lambda row, name=name: advice.cells(row)[name] for name in RECORD_MEANINGS}
    return ranking_table(advice.rows, "solution", columns, None, omitted)


def _protocol_table(advice: RecordAdvice) -> Table:
    """What the best solution does to every column."""
    from rich.table import Table
    from rich.text import Text

    from murmure.advise.record_advice import error_text as share_error

    table = Table.grid(padding=(0, 2))
    for _ in range(3):
        table.add_column(overflow="fold")
    best = advice.best
    table.add_row(Text(best["solution"], style="bold"), Text("protocol", style="dim"), Text("error", style="dim"))
    for name, column in best["columns"].items():
        table.add_row(name, column["protocol"], share_error(column["variance"]))
    return table


def records_sentence(advice: RecordAdvice) -> str:
    """What the ranking means, in plain words."""
    from murmure.advise.advice import RANK_KEYS
    from murmure.advise.record_advice import error_text as share_error

    best = [row for row in advice.rows if row["best"]]
    key = RANK_KEYS[advice.rank_by]
    over = "over all figures" if advice.rank_by == "mean" else "in its worst column"
    people = people_text(advice.people)
    first, last = best[0], best[-1]
    if len(best) > 1:
        return (
            f"With {people}, the best standard error {over} goes from about {share_error(first[key])} % of the whole "
            f"at epsilon {first['epsilon']:.6g} ({first['solution']}) to {share_error(last[key])} % at epsilon "
            f"{last['epsilon']:.6g} ({last['solution']})."
        )
    pairs = "" if first["pairs"] or not first["pairs_in_all"] else "; it knows nothing of pairs of columns"
    return (
        f"With {people} at epsilon {first['epsilon']:.6g} for a whole record, {first['solution']} gives a standard "
        f"error of about {share_error(first[key])} % of the whole {over}, and one report costs "
        f"{bits_text(first['report_bits'])}{pairs}."
    )
