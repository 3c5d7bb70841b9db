"""`murmure demo`: a first look at Murmure. It prints a simulated survey and writes it as a page in two languages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, error_fields
from murmure.cli.options import json_option
from murmure.cli.terminal import console, print_json
from murmure.core.errors import MurmureError
from murmure.core.files import all_or_nothing, cannot_write
from murmure.lectures.demo.survey import HOW_OFTEN, TWO_COINS, YES_NO, run_survey
from murmure.run.report.number_format import NO_BREAK_SPACE, format_number, group_digits
from murmure.run.report.terminal_tables import name_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from murmure.lectures.demo.survey import DemoQuestion, DemoSurvey

FILE = "murmure-demo.html"


@click.command(cls=MurmureCommand, short_help="A first look: a simulated survey, from the coins to the report.")
@click.option(
    "--people", type=click.IntRange(2, 1_000_000), default=2000, show_default=True, help="Simulated students."
)
@click.option(
    "--epsilon", type=float, default=TWO_COINS, show_default="ln 3, two fair coins", help="A question's budget."
)
@click.option("--seed", type=int, help="Make an experiment that can be repeated; it is marked as such.")
@click.option("--open/--no-open", "show_page", default=None, help="Open the page.  [default: in a terminal, if it can]")
@click.option(
    "--out", type=click.Path(path_type=Path), default=".", metavar="DIR", help=f"Where to leave {FILE}.  [default: .]"
)
@json_option
@click.pass_context
def demo(
    ctx: click.Context,
    people: int,
    epsilon: float,
    seed: int | None,
    show_page: bool | None,
    out: Path,
    as_json: bool,
) -> None:
    """A first look at Murmure: a simulated class, asked about cheating at exams."""
    terminal = console()
    survey = run_survey(people, epsilon, seed)
    if not as_json:
        _show(survey, terminal)
    try:
        path = write_page(survey, out)
    except MurmureError as error:
        if as_json:
            raise
        # The survey has been shown: a page that cannot be written is only a warning.
        why = error_fields(error)["message"]
        click.echo(f"Warning: there is no page: {why}\n  Hint: {ctx.command_path} --out DIR leaves it in DIR", err=True)
        ctx.exit(1)
    if as_json:
        print_json(_as_json(survey, path))
    else:
        terminal.print("The same as a page:", style="dim", end=" ")
        terminal.print(str(path), soft_wrap=True)
    if show_page or (show_page is None and not as_json and terminal.is_terminal and has_window_browser()):
        open_page(path)


# -- the page ----------------------------------------------------------------------------------------------------------


def write_page(survey: DemoSurvey, folder: Path) -> Path:
    """The whole page, or nothing."""
    from murmure.lectures.demo.page import page

    text = page(survey)
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from None
    with all_or_nothing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path.resolve()


def has_window_browser() -> bool:
    """A browser that opens its own window; one that runs in the terminal would take the terminal over."""
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return type(browser) is not webbrowser.GenericBrowser


def open_page(path: Path) -> None:
    """In a separate process: the command does not wait for the browser."""
    subprocess.Popen(
        [sys.executable, "-m", "webbrowser", path.as_uri()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


# -- the answer --------------------------------------------------------------------------------------------------------


def _as_json(survey: DemoSurvey, path: Path) -> dict[str, Any]:
    from murmure.run.report.certificate_words import certificate_json

    return {
        "people": survey.people,
        "epsilon": survey.epsilon,
        "seed": survey.seed,
        "questions": [
            {
                "mechanism": question.name,
                "plan": question.plan.digest,
                "figures": question.rows(),
                "guarantee": certificate_json(question.certificate),
            }
            for question in survey.questions
        ],
        "ranking": survey.advice.rows,
        "html": str(path),
    }


def _show(survey: DemoSurvey, out: Console) -> None:
    from rich.padding import Padding

    from murmure.cli.advise import ranking, sentence

    def say(text: str, style: str = "") -> None:
        out.print(Padding(text, (0, 0, 0, 2)), style=style)

    def part(title: str) -> None:
        out.print()
        out.rule(title, style="dim", align="left")
        out.print()

    out.print(bold("Murmure").append(": each person whispers; the crowd speaks.", style="not bold"))
    out.print(
        f"A simulated class of {group_digits(survey.people)} students is asked about cheating at exams, "
        f"at epsilon {survey.epsilon_in_words} a question."
    )
    if survey.seed is None:
        out.print("Every report uses secure randomness of the operating system.", style="dim")
    else:
        out.print(
            f"SEEDED EXPERIMENT (seed {survey.seed}): the same reports every time; never for real people.",
            style="bold yellow",
        )

    part("1  What one student sends")
    out.print(student_table(survey))

    part("2  What the crowd says")
    end = survey.axis_end()
    for title, question in (
        ("Have you ever cheated at an exam?", survey.coins),
        ("How often?", survey.grr),
        ("", survey.oue),
    ):
        if title:
            say(title, "bold")
        out.print(Padding(crowd_table(question, end, out), (0, 0, 1, 2)))
    if strip_width(out):
        say(legend(out), "dim")
    say(coverage_sentence(survey))

    part("3  What is guaranteed")
    out.print(guarantee_table(survey))
    out.print()
    say(cost_sentence(survey))

    part("4  Which mechanism for the five answers?")
    out.print(Padding(ranking(survey.advice, out, out.width - 2)[0], (0, 0, 1, 2)))
    say(sentence(survey.advice))
    out.print()


def student_table(survey: DemoSurvey) -> Table:
    yes, yes_too = survey.yes_of_100()
    true, other = survey.support_of_100(survey.grr)
    tick, stray = survey.support_of_100(survey.oue)
    boxes = "  ".join(
        f"[{'x' if ticked else ' '}] {label}".replace(" ", NO_BREAK_SPACE)
        for ticked, label in zip(survey.ticked_boxes(), HOW_OFTEN, strict=True)
    )
    rule = (
        "a coin: heads, the truth; tails, toss again: heads yes, tails no"
        if survey.fair_coins
        else f"{survey.truth_of_100()} times out of 100 the truth, otherwise a fair coin answers"
    )
    table = name_table()
    rows: list[tuple[str, Any]] = [
        ("  asked", bold("Have you ever cheated at an exam?")),
        ("  rule", rule),
        ("  true answer", "***  (stays with the student)"),
        ("  sent", bold(YES_NO[int(survey.coins.sent)], "bold green")),
        ("  odds", f"out of 100 people like you who have cheated, {yes} send yes;"),
        ("", f"out of 100 people like you who have not, {yes_too} send yes too"),
        ("", ""),
        ("  asked", bold("How often have you cheated?")),
        ("  true answer", "***"),
        ("  sent by GRR", bold(HOW_OFTEN[int(survey.grr.sent)], "bold green")),
        ("  odds", f"out of 100 people like you, {true} send the truth"),
        ("", f"and {other} each of the four others"),
        ("  or by OUE", bold(boxes, "bold green")),
        ("  odds", f"out of 100 people like you, {tick} tick their own box"),
        ("", f"and {stray} any given other one"),
    ]
    for name, text in rows:
        table.add_row(name, text)
    return table


def bold(text: str, style: str = "bold") -> Text:
    from rich.text import Text

    return Text(text, style=style)


def symbols(out: Console) -> tuple[str, str, str, str]:
    """The marks of an interval, an estimate, a truth, and both at one place."""
    return ("\u2500", "\u25cf", "\u25cb", "\u25c9") if out.encoding.lower().startswith("utf") else ("-", "x", "o", "8")


def legend(out: Console) -> str:
    line, mean, truth, both = symbols(out)
    return (
        f"{mean}~estimate   {line * 3}~95~%~interval   {truth}~truth   {both}~both\n".replace("~", NO_BREAK_SPACE)
        + "(the truth is known only because the class is simulated)"
    )


def interval_strip(row: dict[str, Any], end: float, width: int, marks: tuple[str, str, str, str]) -> str:
    def at(share: float) -> int:
        return round(min(max(share / end, 0.0), 1.0) * (width - 1))

    line, mean, truth, both = marks
    cells = [" "] * width
    for i in range(at(row["low"]), at(row["high"]) + 1):
        cells[i] = line
    cells[at(row["truth"])] = truth
    cells[at(row["share"])] = both if at(row["share"]) == at(row["truth"]) else mean
    return "".join(cells)


def strip_width(out: Console) -> int:
    """The room for a picture beside the figures, which take 50 columns; none in a narrow terminal."""
    return min(out.width - 50, 40) if out.width >= 62 else 0


def crowd_table(question: DemoQuestion, end: float, out: Console) -> Table:
    from rich.table import Table

    width, truth = strip_width(out), out.width >= 50
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column(f"{question.name}", no_wrap=True, min_width=11)
    for name in (*(["truth"] if truth else []), "estimate", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True, overflow="fold")
    if width:
        table.add_column(f"0{f'{100 * end:.0f} %':>{width - 1}}", no_wrap=True, style="cyan")
    for row in question.rows():
        table.add_row(
            row["label"],
            *([f"{100 * row['truth']:.1f} %"] if truth else []),
            bold(f"{100 * row['share']:.1f} %"),
            f"{100 * row['low']:.1f} to {100 * row['high']:.1f} %",
            *([interval_strip(row, end, width, symbols(out))] if width else []),
        )
    return table


def coverage_sentence(survey: DemoSurvey) -> str:
    covered, total = survey.coverage()
    return (
        f"The truth lies inside {covered} of {total} intervals; each may miss one time in twenty. "
        "They speak of the students who answered."
    )


def guarantee_table(survey: DemoSurvey) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for i, question in enumerate(survey.questions):
        c = question.certificate
        if i:
            table.add_row("", "", "")
        table.add_row(f"  {question.name}", "epsilon", bold(f"{c.epsilon:.10g}"))
        table.add_row("", "protects", f"the {c.unit} of one person ({c.relation}); delta = {c.delta:g}")
        table.add_row("", "method", c.method)
        table.add_row("", "witness", " ".join(c.witness_text or ()))
    return table


def cost_sentence(survey: DemoSurvey) -> str:
    from murmure.run.report.certificate_words import promise

    both = survey.coins.certificate.epsilon + survey.grr.certificate.epsilon
    return (
        f"{promise(survey.coins.certificate)} Whoever answers both questions spends the sum, epsilon = "
        f"{format_number(both, 4)}. "
        "(GRR and OUE are two ways to ask the second one: a real study chooses.)"
    )
