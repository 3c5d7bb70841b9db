"""The whole way on a simulated class: what one student sends, what the crowd says, what is guaranteed.

`murmure demo` (or script/demo) prints it and leaves the same in one HTML file, in English and in French.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.shared import (
    NO_BREAK_SPACE,
    MurmureCommand,
    all_or_nothing,
    cannot_write,
    console,
    explain,
    format_number,
    group_digits,
)
from murmure.core.errors import MurmureError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from murmure.advise.advice import Advice
    from murmure.core.random import Random
    from murmure.core.types import Certificate, Release
    from murmure.plan.plan import Plan
    from murmure.plan.reports import Reports

FILE = "murmure-demo.html"
TWO_COINS = math.log(3)  # what two fair coins cost
YES_NO = ("no", "yes")
OFTEN = ("never", "once", "a few times", "often", "every time")
SHARES = (0.55, 0.20, 0.15, 0.07, 0.03)  # of the simulated class; whoever has not answered "never" has cheated
CLASS_OF = 1965  # the seed of the simulated class: the year of Warner's paper


@dataclass(frozen=True)
class DemoQuestion:
    """One question put to everybody through one mechanism."""

    name: str
    mechanism: Any
    plan: Plan
    reports: Reports
    release: Release
    truth: NDArray[np.float64]  # known only because the class is simulated

    @property
    def certificate(self) -> Certificate:
        return self.release.guarantees["collector"]

    @property
    def sent(self) -> Any:
        """What the first student sent."""
        return self.reports.data[0]  # type: ignore[index]

    def rows(self) -> list[dict[str, Any]]:
        """label, share, low, high, truth."""
        return [{**row, "truth": float(t)} for row, t in zip(self.release.estimate.to_rows(), self.truth, strict=True)]

    def inside(self) -> int:
        return sum(row["low"] <= row["truth"] <= row["high"] for row in self.rows())


@dataclass(frozen=True)
class DemoSurvey:
    """Everything that is shown, in the terminal and on the page."""

    people: int
    epsilon: float
    seed: int | None
    coins: DemoQuestion
    grr: DemoQuestion
    oue: DemoQuestion
    advice: Advice

    @property
    def asked(self) -> tuple[DemoQuestion, DemoQuestion, DemoQuestion]:
        return self.coins, self.grr, self.oue

    @property
    def fair_coins(self) -> bool:
        return self.epsilon == TWO_COINS

    @property
    def epsilon_in_words(self) -> str:
        return "ln 3 = 1.0986" if self.fair_coins else f"{self.epsilon:.6g}"

    def yes_of_100(self) -> tuple[int, int]:
        """Who sends yes, out of 100 who have cheated and out of 100 who have not."""
        a, c = self.coins.mechanism.yes
        return round(100 * a), round(100 * c)

    def truth_of_100(self) -> int:
        a, c = self.coins.mechanism.yes
        return round(100 * (a - c))

    def same_and_other_of_100(self, one: DemoQuestion) -> tuple[int, int]:
        """How often a report supports the own answer, and each other answer, out of 100."""
        return round(100 * one.mechanism.supports.p), round(100 * one.mechanism.supports.q)

    def ticked(self) -> list[bool]:
        from murmure.certify.witness_words import set_bits

        held = set_bits(self.oue.sent, len(OFTEN))
        return [v in held for v in range(len(OFTEN))]


def simulate(people: int, rng: Random) -> NDArray[np.int64]:
    """How often each student cheats: one random word a student, compared with the shares."""
    import numpy as np

    ends, edges = 0.0, []
    for share in SHARES[:-1]:
        ends += share
        edges.append(round(ends * 2**64))
    return np.searchsorted(np.array(edges, np.uint64), rng.words(people), side="right").astype(np.int64)


def tell(people: int, epsilon: float, seed: int | None) -> DemoSurvey:
    """The class is simulated, the reports are real: secure randomness, unless a seed makes it an experiment."""
    import numpy as np

    from murmure.advise.advice import advise
    from murmure.core.domain import Categories
    from murmure.core.random import Random
    from murmure.local.grr import GRR
    from murmure.local.unary import OUE
    from murmure.local.warner import Warner
    from murmure.plan.plan import Plan
    from murmure.statistics.histogram import Histogram

    crowd = Random.seeded(CLASS_OF if seed is None else seed)
    often = simulate(people, crowd)
    rng = Random.secure() if seed is None else crowd

    def ask(mechanism: Any, codes: NDArray[np.int64]) -> DemoQuestion:
        domain = mechanism.domain
        plan = Plan(Histogram(domain), person=mechanism)
        reports = plan.report([domain.values[c] for c in codes.tolist()], rng)
        truth = np.bincount(codes, minlength=domain.size) / people
        return DemoQuestion(type(mechanism).__name__, mechanism, plan, reports, plan.estimate(reports), truth)

    whether, how_often = Categories(YES_NO), Categories(OFTEN)
    two_coins = Warner(whether) if epsilon == TWO_COINS else Warner(whether, epsilon=epsilon)
    return DemoSurvey(
        people,
        epsilon,
        seed,
        ask(two_coins, (often > 0).astype(np.int64)),
        ask(GRR(how_often, epsilon), often),
        ask(OUE(how_often, epsilon), often),
        advise(how_often, epsilon, people),
    )


# -- in the terminal --------------------------------------------------------------------------------------------------


def show(story: DemoSurvey, out: Console) -> None:
    from rich.padding import Padding

    from murmure.cli.advise import ranking
    from murmure.cli.advise import sentence as ranked
    from murmure.lectures.demo.page import scale_of

    def say(text: str, style: str = "") -> None:
        out.print(Padding(text, (0, 0, 0, 2)), style=style)

    def part(title: str) -> None:
        out.print()
        out.rule(title, style="dim", align="left")
        out.print()

    out.print(bold("Murmure").append(": each person whispers; the crowd speaks.", style="not bold"))
    out.print(
        f"A simulated class of {group_digits(story.people)} students is asked about cheating at exams, "
        f"at epsilon {story.epsilon_in_words} a question."
    )
    if story.seed is None:
        out.print("Every report uses secure randomness of the operating system.", style="dim")
    else:
        out.print(
            f"SEEDED EXPERIMENT (seed {story.seed}): the same reports every time; never for real people.",
            style="bold yellow",
        )

    part("1  What one student sends")
    out.print(one_student(story))

    part("2  What the crowd says")
    top = scale_of([row for one in story.asked for row in one.rows()])
    for title, one in (("Have you ever cheated at an exam?", story.coins), ("How often?", story.grr), ("", story.oue)):
        if title:
            say(title, "bold")
        out.print(Padding(crowd_table(one, top, out), (0, 0, 1, 2)))
    if strip_width(out):
        say(legend(out), "dim")
    say(covered(story))

    part("3  What is guaranteed")
    out.print(guaranteed(story))
    out.print()
    say(spent(story))

    part("4  Which mechanism for the five answers?")
    out.print(Padding(ranking(story.advice, out, out.width - 2)[0], (0, 0, 1, 2)))
    say(ranked(story.advice))
    out.print()


def one_student(story: DemoSurvey) -> Table:
    from rich.table import Table

    yes, yes_too = story.yes_of_100()
    own, other = story.same_and_other_of_100(story.grr)
    tick, stray = story.same_and_other_of_100(story.oue)
    boxes = "  ".join(
        f"[{'x' if t else ' '}] {label}".replace(" ", NO_BREAK_SPACE)
        for t, label in zip(story.ticked(), OFTEN, strict=True)
    )
    rule = (
        "a coin: heads, the truth; tails, toss again: heads yes, tails no"
        if story.fair_coins
        else f"{story.truth_of_100()} times out of 100 the truth, otherwise a fair coin answers"
    )
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    rows: list[tuple[str, Any]] = [
        ("  asked", bold("Have you ever cheated at an exam?")),
        ("  rule", rule),
        ("  true answer", "***  (stays with the student)"),
        ("  sent", bold(YES_NO[int(story.coins.sent)], "bold green")),
        ("  odds", f"out of 100 people like you who have cheated, {yes} send yes;"),
        ("", f"out of 100 people like you who have not, {yes_too} send yes too"),
        ("", ""),
        ("  asked", bold("How often have you cheated?")),
        ("  true answer", "***"),
        ("  sent by GRR", bold(OFTEN[int(story.grr.sent)], "bold green")),
        ("  odds", f"out of 100 people like you, {own} send the truth"),
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
    """interval, estimate, truth, both"""
    return ("\u2500", "\u25cf", "\u25cb", "\u25c9") if out.encoding.lower().startswith("utf") else ("-", "x", "o", "8")


def legend(out: Console) -> str:
    line, mean, truth, both = symbols(out)
    return (
        f"{mean}~estimate   {line * 3}~95~%~interval   {truth}~truth   {both}~both\n".replace("~", NO_BREAK_SPACE)
        + "(the truth is known only because the class is simulated)"
    )


def strip(row: dict[str, Any], top: float, width: int, marks: tuple[str, str, str, str]) -> str:
    def at(share: float) -> int:
        return round(min(max(share / top, 0.0), 1.0) * (width - 1))

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


def crowd_table(one: DemoQuestion, top: float, out: Console) -> Table:
    from rich.table import Table

    width, truth = strip_width(out), out.width >= 50
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column(f"{one.name}", no_wrap=True, min_width=11)
    for name in (*(["truth"] if truth else []), "estimate", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True, overflow="fold")
    if width:
        table.add_column(f"0{f'{100 * top:.0f} %':>{width - 1}}", no_wrap=True, style="cyan")
    for row in one.rows():
        table.add_row(
            row["label"],
            *([f"{100 * row['truth']:.1f} %"] if truth else []),
            bold(f"{100 * row['share']:.1f} %"),
            f"{100 * row['low']:.1f} to {100 * row['high']:.1f} %",
            *([strip(row, top, width, symbols(out))] if width else []),
        )
    return table


def covered(story: DemoSurvey) -> str:
    inside, asked = sum(one.inside() for one in story.asked), sum(len(one.truth) for one in story.asked)
    return (
        f"The truth lies inside {inside} of {asked} intervals; each may miss one time in twenty. "
        "They speak of the students who answered."
    )


def guaranteed(story: DemoSurvey) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for i, one in enumerate(story.asked):
        c = one.certificate
        if i:
            table.add_row("", "", "")
        table.add_row(f"  {one.name}", "epsilon", bold(f"{c.epsilon:.10g}"))
        table.add_row("", "protects", f"the {c.unit} of one person ({c.relation}); delta = {c.delta:g}")
        table.add_row("", "method", c.method)
        table.add_row("", "witness", " ".join(c.witness_text or ()))
    return table


def spent(story: DemoSurvey) -> str:
    from murmure.show.certificate_words import promise

    both = story.coins.certificate.epsilon + story.grr.certificate.epsilon
    return (
        f"{promise(story.coins.certificate)} Whoever answers both questions spends the sum, epsilon = "
        f"{format_number(both, 4)}. "
        "(GRR and OUE are two ways to ask the second one: a real study chooses.)"
    )


# -- as a page --------------------------------------------------------------------------------------------------------


def write(story: DemoSurvey, folder: Path) -> Path:
    """The finished page, or nothing."""
    from murmure.lectures.demo.page import page

    text = page(story)
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from None
    with all_or_nothing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path.resolve()


def browser_known() -> bool:
    """A browser with a window of its own; those that live in the terminal would take it over."""
    import webbrowser

    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return False
    return type(found) is not webbrowser.GenericBrowser


def open_page(path: Path) -> None:
    """In a process of its own: nobody waits for a browser."""
    subprocess.Popen(
        [sys.executable, "-m", "webbrowser", path.as_uri()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@click.command(cls=MurmureCommand, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--people", type=click.IntRange(2, 1_000_000), default=2000, show_default=True, help="Simulated students."
)
@click.option(
    "--epsilon", type=float, default=TWO_COINS, show_default="ln 3, two fair coins", help="A question's budget."
)
@click.option("--seed", type=int, help="Make an experiment that can be repeated; it is marked as one.")
@click.option("--open/--no-open", "show_page", default=None, help="Open the page.  [default: in a terminal, if it can]")
@click.option(
    "--out", type=click.Path(path_type=Path), default=".", metavar="DIR", help=f"Where to leave {FILE}.  [default: .]"
)
@click.pass_context
def main(ctx: click.Context, people: int, epsilon: float, seed: int | None, show_page: bool | None, out: Path) -> None:
    """A first look at Murmure: a simulated class, asked about cheating at exams."""
    terminal = console()
    story = tell(people, epsilon, seed)
    show(story, terminal)
    try:
        path = write(story, out)
    except MurmureError as error:
        why = explain(error)["message"]
        click.echo(f"Warning: there is no page: {why}\n  Hint: {ctx.command_path} --out DIR leaves it in DIR", err=True)
        ctx.exit(1)
    terminal.print("The same as a page:", style="dim", end=" ")
    terminal.print(str(path), soft_wrap=True)
    if show_page or (show_page is None and terminal.is_terminal and browser_known()):
        open_page(path)


if __name__ == "__main__":
    main(prog_name=os.environ.get("MURMURE_DEMO", "python -m murmure.lectures.demo.survey"))
