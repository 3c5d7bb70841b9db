"""`murmure new poll`: a sensitive question, asked with two coins."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

from murmure.cli.starters.invented_people import coin_answers, csv_text
from murmure.cli.starters.starter import Starter, Step
from murmure.show.phrase import Code, Phrase

PEOPLE, WOULD_SAY_YES, SEED = 500, 100, 18
PLAN = "plan.json"


# The two commands of this folder: what the coins protect, and what the answers say.
def design_command(names: SimpleNamespace) -> str:
    return (
        f'murmure poll design --question "{names.question}" --answers {names.no},{names.yes} --people {PEOPLE} '
        f"--epsilon 1.1 --device two-coins --card {names.card_file} --plan {PLAN}"
    )


def tally_command(names: SimpleNamespace, counts: str) -> str:
    return f"murmure poll tally --plan {PLAN} --counts {counts} --html {names.report_file}"


def poll(names: SimpleNamespace) -> Starter:
    answers = coin_answers(names, PEOPLE, WOULD_SAY_YES, SEED)
    counted = Counter(answers)
    counts = ",".join(f"{label}={counted[label]}" for label in (names.no, names.yes))
    return Starter(
        title=Phrase("A poll with two coins"),
        about=Phrase(
            "You ask a question that people would rather not answer. Each of them tosses a coin where nobody sees it. "
            "Heads: they tell the truth. Tails: they toss again and say {yes} for heads, {no} for tails. A single "
            "answer proves nothing, and yet the share of {yes} can be worked out.",
            yes=Code(names.yes),
            no=Code(names.no),
        ),
        extras=(),
        files={names.answers_file: csv_text((names.answer,), [(answer,) for answer in answers])},
        contents={
            names.answers_file: Phrase(
                "what {people} invented people said after tossing their coins, of whom {yes} would truly say yes.",
                people=PEOPLE,
                yes=WOULD_SAY_YES,
            )
        },
        steps=(
            Step(
                Phrase("Design the poll"),
                Phrase(
                    "The command compares coins, dice, cards and slips of paper: what each protects, and how exact "
                    "the figures will be. It writes the plan, and {card}, a card to print with the rules and a tally "
                    "sheet.",
                    card=Code(names.card_file),
                ),
                design_command(names),
            ),
            Step(
                Phrase("What do the answers say?"),
                Phrase(
                    "The counts are those of {file}. The command gives the share with its interval, and writes the "
                    "page {report}, in English and French: open it in a browser. The true share was {share:.0f} %.",
                    file=Code(names.answers_file),
                    report=Code(names.report_file),
                    share=100 * WOULD_SAY_YES / PEOPLE,
                ),
                tally_command(names, counts),
            ),
            Step(
                Phrase("How many people do you need?"),
                Phrase(
                    "What 2,000 people would give, and which devices come within 5 percentage points. Try other "
                    "numbers before you ask: afterwards it is too late."
                ),
                f'murmure poll design --question "{names.question}" --answers {names.no},{names.yes} --people 2000 '
                f"--margin 5",
            ),
        ),
        next_steps=(
            Phrase("Write down the question and its two answers before anybody is asked: the plan is public."),
            Phrase("Count what people said, and put your counts in the place of those in step 2."),
            Phrase(
                "Answers in a file, one to a row: {option} in the place of {counts}; this needs the extra {extra}.",
                option=Code(f"--reports {names.answers_file}"),
                counts=Code("--counts"),
                extra=Code("tables"),
            ),
            Phrase(
                "Never randomise these answers again: the coins have done it. The page {page} of the documentation "
                "tells the rest.",
                page=Code("how-to-run-a-poll"),
            ),
        ),
    )
