"""`murmure poll`: a poll without a computer. Design it, print its card, count the answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, MurmureGroup, UsageError, either
from murmure.cli.options import (
    WholeNumber,
    check_level,
    figure_options,
    file_format_option,
    interval_options,
    json_option,
    page_heading,
    require_options,
    split_labels,
    written,
)
from murmure.cli.outputs import check_outputs, check_picture_format, keep_file_names
from murmure.cli.terminal import print_document, print_json, print_line, print_written
from murmure.core.errors import CannotWrite, Phrase
from murmure.core.files import all_or_nothing, refuse_to_replace
from murmure.show.language import language

if TYPE_CHECKING:
    from murmure.advise.poll.design import DeviceChoice, PollDesign
    from murmure.plan.plan import Plan

DESIGN_EXAMPLE = Phrase('murmure poll design --question "Have you ever cheated?" --people 500 --margin 5')
TALLY_EXAMPLE = Phrase("murmure poll tally --plan plan.json --counts no=300,yes=200")
NO_YES = (Phrase("no"), Phrase("yes"))  # the usual answers, in the language

answers_option = click.option(
    "--answers",
    metavar="A,B,...",
    help="The answers, the yes last.  [default: no,yes in the language]",
)


@click.group(cls=MurmureGroup, short_help="A poll by coins, dice or cards: design it, print it, count it.")
def poll() -> None:
    """A poll without a computer: people randomise their own answers with a coin, a die, cards or slips of paper.

    \b
    murmure poll design --question "Have you ever cheated?" --people 500 --margin 8 --card card.html --plan plan.json
    murmure poll tally --plan plan.json --counts no=300,yes=200 --html report.html

    Each of them takes --json.
    """


# -- design ------------------------------------------------------------------------------------------------------------


@poll.command(cls=MurmureCommand, short_help="Which device to use, and a card to print.")
@click.option("--question", metavar="TEXT", help="What people are asked.  [required]")
@answers_option
@click.option("--people", type=WholeNumber(), metavar="N", help="How many will answer.  [required]")
@click.option("--margin", type=float, metavar="M", help="Wanted: half the width of the interval, percentage points.")
@click.option("--epsilon", type=float, metavar="E", help="Wanted: at most this certified epsilon.")
@interval_options
@click.option("--device", metavar="NAME", help="This device.  [default: the best that meets what is wanted]")
@click.option("--card", type=click.Path(path_type=Path), metavar="FILE", help="Write the card to print, a page.")
@click.option("--plan", type=click.Path(path_type=Path), metavar="FILE", help="Write the plan (JSON), for the tally.")
@json_option
def design(
    question: str | None,
    answers: str | None,
    people: int | None,
    margin: float | None,
    epsilon: float | None,
    level: float,
    target: Any,
    device: str | None,
    card: Path | None,
    plan: Path | None,
    as_json: bool,
) -> None:
    """Propose real devices for a question, each with its certified epsilon and its margin, and write the card of one.

    \b
    murmure poll design --question "Have you ever cheated?" --people 500 --margin 8 --card card.html --plan plan.json
    murmure poll design --question "How often?" --answers never,once,often --people 2000 --epsilon 1.1
    """
    require_options(Phrase("murmure poll design"), {"--question": question, "--people": people}, DESIGN_EXAMPLE)
    assert question is not None and people is not None
    check_level(level)
    if margin is None and epsilon is None:
        raise UsageError(
            "nothing says what the poll should reach: give --margin, --epsilon, or both.",
            "--margin 5: 5 percentage points to either side; --epsilon 1.1: two coins have it",
        )
    from murmure.advise.poll.design import choice_json, design_poll

    designed = design_poll(question, _labels(answers), people, margin, epsilon, level, target)
    chosen = designed.best if device is None else designed.choice(device)
    if chosen is None and (card is not None or plan is not None):
        raise UsageError(
            "no card is written: {why}",
            "--device {nearest} writes the card of that device all the same",
            why=designed.sentence(),
            nearest=min(designed.choices, key=lambda choice: choice.margin).device.name,
        )
    if chosen is not None:
        _write(designed, chosen, card, plan)
    if as_json:
        print_json(
            {
                "question": designed.question,
                "answers": designed.domain.labels(),
                "people": designed.people,
                "margin": designed.margin,
                "epsilon": designed.epsilon,
                "level": level,
                "target": target,
                "devices": [choice_json(choice) for choice in designed.choices],
                "chosen": None if chosen is None else chosen.device.name,
                "sentence": designed.sentence(),
                "card": card and str(card),
                "plan": plan and str(plan),
            }
        )
        return
    print_document(designed.document())
    if device is not None and chosen is not None:
        print_line(designed.chosen(chosen))
    print_written(card, plan)


def _labels(answers: str | None) -> list[str]:
    if answers is None:
        return [language().say(answer) for answer in NO_YES]
    try:
        return split_labels(answers)
    except UsageError as error:
        got = error.message.fields["got"]  # type: ignore[attr-defined]
        raise UsageError("--answers holds an empty answer, got {got}.", "write --answers no,yes", got=got) from None


def _write(designed: PollDesign, chosen: DeviceChoice, card: Path | None, plan: Path | None) -> None:
    """Both files, or neither: a card without its plan could not be counted."""
    from murmure.run.report.report import check_page_path
    from murmure.show.document import Heading
    from murmure.show.language import current_language

    with keep_file_names():
        if card is not None:
            if plan is not None and card.resolve() == plan.resolve():
                raise CannotWrite(
                    "--card and --plan name the same file, {path!r}.", hint="choose two names", path=str(card)
                )
            check_page_path(card)
        if plan is not None:
            refuse_to_replace(plan, lambda start: b'"murmure"' in start or not start.strip(), Phrase("a plan"))
            with all_or_nothing(plan) as part:
                part.write_text(chosen.plan.to_json() + "\n", encoding="utf-8")
        if card is not None:
            page = designed.card(chosen, plan).to_page(Heading(), current_language())
            with all_or_nothing(card) as part:
                part.write_text(page, encoding="utf-8")


# -- tally -------------------------------------------------------------------------------------------------------------


@poll.command(cls=MurmureCommand, short_help="Shares with intervals, from counts or a table of answers.")
@click.option("--plan", type=click.Path(path_type=Path), metavar="FILE", help="The plan that design wrote.")
@click.option("--device", metavar="NAME", help="Or the device that people used.")
@answers_option
@click.option("--counts", metavar="A=N,B=N,...", help="How many people said each answer, such as no=300,yes=200.")
@click.option("--reports", metavar="FILE", help="Or the answers, a row each: CSV, workbook or Parquet.")
@click.option("--column", metavar="NAME", help="The column of --reports.  [default: the only one]")
@file_format_option
@figure_options
@json_option
def tally(
    plan: Path | None,
    device: str | None,
    answers: str | None,
    counts: str | None,
    reports: str | None,
    column: str | None,
    file_format: Path | None,
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
    as_json: bool,
) -> None:
    """Estimate shares from what people said, chance taken out. Nothing is randomised again.

    \b
    murmure poll tally --plan plan.json --counts no=300,yes=200
    murmure poll tally --plan plan.json --reports answers.csv --html report.html --plot report.svg
    murmure poll tally --device two-coins --counts no=300,yes=200
    """
    from murmure.cli.estimate import allow_forged, check_forged, present
    from murmure.cli.estimate_reports import answer_plan, split_counts

    if counts is not None and reports is not None:
        raise UsageError("--counts and --reports exclude one another.", "counts are the same reports, added up")
    if counts is None and reports is None:
        raise UsageError("nothing says what people reported: give --counts or --reports.", TALLY_EXAMPLE)
    if column is not None and reports is None:
        raise UsageError("--column is a column of --reports, which is not given.", TALLY_EXAMPLE)
    check_picture_format(plot, "shares.svg")
    check_level(level)
    check_forged(forged)
    with keep_file_names():
        check_outputs(plot, html, reports, None)
    counted = None if counts is None else split_counts(counts)
    followed = _plan_of(plan, device, answers, counted)
    answer = answer_plan(followed, counted if reports is None else written(reports, file_format), column, target)
    allow_forged(answer, forged)
    heading = page_heading(title, question, author)
    present(answer, level, target, simultaneous, consistent, plot, html, heading, as_json)


def _plan_of(plan: Path | None, device: str | None, answers: str | None, counted: dict[str, int] | None) -> Plan:
    """The plan that people followed: that of a file, or of a device."""
    from murmure.advise.poll.design import device_plan, poll_answers
    from murmure.advise.poll.devices import device_named
    from murmure.cli.estimate_reports import read_question_plan
    from murmure.local.warner import YesNo

    if (plan is None) == (device is None):
        what = Phrase("nothing says how people randomised their answers: give --plan or --device.")
        raise UsageError(
            "{what}",
            TALLY_EXAMPLE,
            what=what if plan is None else Phrase("--plan and --device exclude one another."),
        )
    if plan is not None:
        if answers is not None:
            raise UsageError("--plan takes no --answers.", "a plan already says everything")
        return read_question_plan(plan)
    assert device is not None
    usual = [language().say(answer) for answer in NO_YES]
    labels = usual if answers is None else _labels(answers)
    if answers is None and counted is not None and set(counted) != set(usual):
        labels = list(counted)
    domain = poll_answers(labels)
    followed = device_plan(device_named(device, domain.size), domain)
    person = followed.person
    if answers is None and labels is not usual and isinstance(person, YesNo) and sum(person.yes) != 1:
        raise UsageError(
            "with {device} the two answers are not symmetric, and --counts does not say which of {labels} is the yes.",
            "name both, the yes last: --answers {typed}",
            device=device,
            labels=either(map(repr, labels)),
            typed=",".join(labels),
        )
    return followed
