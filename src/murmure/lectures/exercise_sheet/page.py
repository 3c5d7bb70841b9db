"""The exercise sheet as a page in one file: both languages, on paper and on screen, with or without solutions.

Without solutions the page checks answers by a script of ours (templates/check.js), which its policy allows by digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from murmure.lectures.course.item_result import LANGUAGES
from murmure.lectures.exercise_sheet.questions import SheetExercise, exercises
from murmure.show.html import from_template, policy_of, style_sheet
from murmure.show.language import Language, LanguageCode
from murmure.show.phrase import Formula, Phrase

FOLDER = Path(__file__).parent / "templates"
TOSSES = {"t1": Formula("t_1"), "t2": Formula("t_2")}
TITLE = Phrase("Randomised response")


@cache
def _file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def sheet_page(solutions: bool = False, lang: LanguageCode = "fr") -> str:
    """lang: the language that is shown first, and printed."""
    asked = exercises()
    answered = {id(question): question.solution() for one in asked for question in one.questions} if solutions else {}
    style, script = style_sheet() + _file("sheet.css"), "" if solutions else _file("check.js")
    parts = {code: _part(asked, answered, code) for code in LANGUAGES}
    return str(
        from_template(
            FOLDER,
            "sheet.html",
            lang,
            title=Language(lang).say(TITLE),
            policy=policy_of(style, script, images=solutions),
            style=_verbatim(style),
            script=_verbatim(script),
            parts=parts,
        )
    )


def _part(asked: tuple[SheetExercise, ...], answered: Mapping[int, object], code: LanguageCode) -> object:
    return from_template(
        FOLDER,
        "sheet_part.html",
        code,
        exercises=asked,
        solution=lambda question: answered.get(id(question)),
        solutions=bool(answered),
        words=WORDS,
        title=TITLE,
        heading=lambda number: Phrase("Exercise {number}", number=number),
    )


def _verbatim(text: str) -> object:
    from markupsafe import Markup

    return Markup(text)  # our own file, whose digest is in the policy


WORDS = {
    "course": Phrase("Applied security, protection of privacy. Exercise sheet 4"),
    "source": Phrase(
        "After the sheet of J.-F. Couchot of 12 December 2021. Questions marked with {mark} were added.", mark="+"
    ),
    "solutions": Phrase("With solutions"),
    "name": Phrase("Name:"),
    "group": Phrase("Group:"),
    "how": Phrase(
        "Type an answer and press Enter: the page checks it. Fractions and formulas are understood, such as 3/4, "
        "ln(2), 2f + N or sqrt(N). On paper there is room to write instead."
    ),
    "first": Phrase("1 Local differential privacy"),
    "definition": Phrase(
        "Definition 1.1 (local differential privacy). Let {inputs} be the set of possible inputs and {eps} a budget of "
        "leakage. A randomised algorithm {mechanism} is {eps}-locally differentially private if, for any two inputs "
        "{x} and any of its outputs {r},",
        inputs=Formula("X"),
        eps=Formula("eps"),
        mechanism=Formula("M"),
        x=Formula("x_1, x_2 in X"),
        r=Formula("r in M(X)"),
    ),
    "inequality": Phrase("{formula}", formula=Formula("Pr[M(x_1) = r] <= e^eps Pr[M(x_2) = r]", display=True)),
    "second": Phrase("2 Application: randomised response"),
    "survey": Phrase(
        "This way of asking (Warner 1965) lets people answer a question about sensitive data. Here the question is: "
        "who finds this course boring? Few would dare to say YES, even if it is true. So you toss a coin twice, and "
        "show nobody the results {t1} and {t2}:",
        **TOSSES,
    ),
    "heads": Phrase("if {t1} is heads (P): you say NO if {t2} is heads, and YES otherwise;", **TOSSES),
    "tails": Phrase(
        "if {t1} is tails (F): you toss the coin again and tell the truth, whatever {t2} is.",
        **TOSSES,
    ),
    "added": Phrase("added to the sheet"),
    "solution": Phrase("Solution"),
    "check": Phrase("Check"),
    "right": Phrase("that is right"),
    "wrong": Phrase("not yet right"),
    "unreadable": Phrase("this cannot be read as a formula in these letters"),
    "footer": Phrase("This page is one file and asks nothing of the network."),
    "script": Phrase("Its only script checks your answers, on this machine. The right ones are in its source."),
    "printing": Phrase("Print it from the browser: the fields vanish, and lines to write on appear."),
}
