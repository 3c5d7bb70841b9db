"""`murmure advise`: which mechanism, before anybody is asked anything."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.shared import (
    Clear,
    Misuse,
    Numbers,
    Whole,
    all_or_nothing,
    bits,
    console,
    described,
    domain_of,
    domain_options,
    figure,
    grouped,
    json_option,
    print_json,
)

if TYPE_CHECKING:
    from rich.table import Table

    from murmure.advise import Advice

PICTURES = (".svg", ".png", ".pdf")
NEARLY = 1.05  # a standard error this close to the best is as good in practice


@click.command(cls=Clear, short_help="Rank mechanisms, before anybody is asked anything.")
@domain_options
@click.option("--epsilon", type=Numbers(), required=True, metavar="E", help="1, or a list 0.5,1,2, or FROM:TO:STEP.")
@click.option("--people", type=Whole(), required=True, metavar="N", help="How many will answer: 100000 or 1e5.")
@click.option("--share", type=float, metavar="F", help="Expected share of the one answer that matters.")
@click.option("--shares", type=Numbers(), metavar="F1,F2,...", help="Expected shares of all answers; they sum to 1.")
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
    epsilon: list[float],
    people: int,
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
    """
    domain = domain_of(categories, labels, integers, interval, cells)
    if share is not None and shares is not None:
        raise Misuse("--share and --shares exclude one another.", "--share is one answer's, --shares are all of them")
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise Misuse(f"--plot draws to {', '.join(PICTURES)}, got {plot.name!r}.", "name the file var-star.svg")
    from murmure.advise import advise as rank

    advice = rank(
        domain,
        epsilon,
        people,
        shares=share if shares is None else shares,
        rank_by=rank_by,  # type: ignore[arg-type]
        statistic=statistic,  # type: ignore[arg-type]
    )
    if plot is not None:
        with suppress(ImportError):
            import matplotlib

            matplotlib.use("Agg")
        with all_or_nothing(plot) as part:
            advice.plot(part)
    if as_json:
        rows = [{**row, "standard_error": math.sqrt(row["mean_variance"])} for row in advice.rows]
        print_json(
            {
                "domain": domain.to_dict(),
                "people": people,
                "statistic": advice.statistic,
                "rank_by": rank_by,
                "rows": rows,
                "sentence": sentence(advice),
                "plot": None if plot is None else str(plot),
            }
        )
        return
    out = console()
    out.print(heading(advice), style="bold", end="\n\n")
    out.print(ranking(advice))
    out.print()
    out.print(legend(advice), style="dim")
    out.print()
    out.print(sentence(advice))
    if plot is not None:
        out.print(f"Drawn in {plot}")


def heading(advice: Advice) -> str:
    asked = "shares" if advice.statistic == "histogram" else "mean"
    return f"The {asked} of {described(advice.domain)}, from {counted(advice.people)}"


def counted(people: int) -> str:
    return f"{grouped(people)} {'person' if people == 1 else 'people'}"


def error_of(advice: Advice, variance: float | None) -> str:
    """A standard error: percentage points for shares, the domain's own unit for a mean."""
    if variance is None:
        return ""
    return figure((100 if advice.statistic == "histogram" else 1) * math.sqrt(variance), 3)


def ranking(advice: Advice) -> Table:
    """One block of rows per epsilon, the best first and marked."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    shares = advice.statistic == "histogram"
    several = len({row["epsilon"] for row in advice.rows}) > 1
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    if several:
        table.add_column("epsilon", justify="right")
    table.add_column("mechanism", no_wrap=True)
    for name in ("error", "worst", *(["Var*"] if shares else []), "bits"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    last = None
    for row in advice.rows:
        if several and last is not None and row["epsilon"] != last:
            table.add_section()
        best = bool(row["best"])
        cells: list[Any] = [f"{row['epsilon']:.6g}" if row["epsilon"] != last else ""] if several else []
        cells += [row["mechanism"], error_of(advice, row["mean_variance"]), error_of(advice, row["worst_variance"])]
        cells += [f"{row['var_star']:.3e}"] if shares else []
        cells += [f"{row['report_bits']:.3g}", Text(row["detail"], style="dim" if not best else "")]
        if best:
            cells[-1] = Text(row["detail"] + ("  " if row["detail"] else "")).append("<- best")
        table.add_row(*cells, style="bold green" if best else None)
        last = row["epsilon"]
    return table


def legend(advice: Advice) -> str:
    if advice.statistic == "mean":
        return (
            "error  standard error of the mean, averaged over values\n"
            "worst  the same if all held the worst value\n"
            "bits   the size of one report"
        )
    return (
        "error  standard error of a share in percentage points, averaged over answers\n"
        "worst  the same at the worst share\n"
        "Var*   variance at share 0: right for choosing, wrong as an error bar\n"
        "bits   the size of one report"
    )


def sentence(advice: Advice) -> str:
    """What the ranking means, in one sentence of plain words."""
    best = [row for row in advice.rows if row["best"]]
    key = {"mean": "mean_variance", "worst": "worst_variance", "var-star": "var_star"}[advice.rank_by]
    what = "the mean"
    if advice.statistic == "histogram":
        what = "the share of a rare answer" if advice.rank_by == "var-star" else "every share"
    unit = " percentage points" if advice.statistic == "histogram" else ""
    how = "at most" if advice.rank_by == "worst" else "about"
    first, last = best[0], best[-1]
    people = counted(advice.people)
    if len(best) > 1:
        return (
            f"With {people}, the best standard error of {what} goes from {how} {error_of(advice, first[key])}{unit} at "
            f"epsilon {first['epsilon']:.6g} ({first['mechanism']}, {bits(first['report_bits'])} a report) to "
            f"{error_of(advice, last[key])} at epsilon {last['epsilon']:.6g} ({last['mechanism']}, "
            f"{bits(last['report_bits'])})."
        )
    return (
        f"With {people} at epsilon {first['epsilon']:.6g}, {first['mechanism']} gives {what} a standard error of {how} "
        f"{error_of(advice, first[key])}{unit}, and one report costs {bits(first['report_bits'])}"
        f"{_cheaper(advice, first, key)}."
    )


def _cheaper(advice: Advice, best: dict[str, Any], key: str) -> str:
    """A much shorter report that is nearly as good, where there is one."""
    near = [
        row
        for row in advice.rows
        if row[key] <= best[key] * NEARLY**2 and row["report_bits"] <= best["report_bits"] / 2
    ]
    if not near:
        return ""
    row = min(near, key=lambda r: (r["report_bits"], r[key]))
    return f" ({row['mechanism']}: {error_of(advice, row[key])} for {bits(row['report_bits'])})"
