"""Sentences that the scripts of the analysts' pages fill in, as templates in the reader's language.

A field such as {n} is left in place, and the script puts the number there, written as the language writes numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from murmure.show.language import Language, LanguageCode
from murmure.show.phrase import Phrase


def slots(*names: str) -> dict[str, Any]:
    """Fields that say their own names: the sentence is a template again."""
    return {name: f"{{{name}}}" for name in names}


N = slots("n")

REQUESTS = {
    "unreachable": Phrase("The collector cannot be reached. Check the connection and try again."),
    "unexpected": Phrase("The collector answered in an unexpected way ({status}).", **slots("status")),
    "wanted": Phrase("Wanted: {wanted}", **slots("wanted")),
    "signed.out": Phrase("Your session has ended. Sign in again in another tab, then come back here."),
}

LIVE = {
    "answers": Phrase("Answers so far: {n}", **N),
    "live": Phrase("Live"),
    "paused": Phrase("Paused"),
    "lost": Phrase("No connection. The figures below may be old."),
    "pause": Phrase("Pause"),
    "resume": Phrase("Resume"),
}

ADMINISTRATION = {
    "made": Phrase("New links: {n}", **N),
    "invited": Phrase("One-time links made so far: {n}", **N),
    "file": Phrase("invitations"),
    "copied": Phrase("Copied"),
    "selected": Phrase("This browser does not let the page copy. The link is selected: copy it by hand."),
    "not.copied": Phrase("This browser does not let the page copy. Download the links instead."),
    "testing": Phrase("Looking through the reports …"),
    "and.more": Phrase("and {n} more, in the file", **N),
    "test": Phrase("test"),
    "question": Phrase("question"),
    "p.value": Phrase("p-value at most"),
    "alarm": Phrase("alarm"),
    "yes": Phrase("yes"),
    "no": Phrase("no"),
}

BUILDER = {
    "question": Phrase("Question {n}", **N),
    "question.up": Phrase("Move question {n} up", **N),
    "question.down": Phrase("Move question {n} down", **N),
    "question.remove": Phrase("Remove question {n}", **N),
    "option": Phrase("Answer {n}", **N),
    "option.up": Phrase("Move answer {n} up", **N),
    "option.down": Phrase("Move answer {n} down", **N),
    "option.remove": Phrase("Remove answer {n}", **N),
    "option.empty": Phrase("Write this answer, or remove it."),
    "option.twice": Phrase("This answer is there already."),
    "moved": Phrase("Moved to place {n}", **N),
    "removed": Phrase("Removed"),
    "saved": Phrase("Draft saved"),
    "saving": Phrase("Saving …"),
    "unsaved": Phrase("Changes not saved yet"),
    "untitled": Phrase("Untitled survey"),
    "yes": Phrase("Yes"),
    "no": Phrase("No"),
    "range": Phrase("From {low} to {high}", **slots("low", "high")),
    "steps": Phrase("in steps of {step}", **slots("step")),
    "choose": Phrase("Choose …"),
    "preview.untexted": Phrase("(not written yet)"),
    "copy.links": Phrase("by invitation"),
    "open.link": Phrase("open link"),
    "last.questions": Phrase("{n} questions", **N),
    "last.question": Phrase("1 question"),
    "last.people": Phrase("{n} answers expected", **N),
}

ADVICE = {
    "advised": Phrase("Epsilon {epsilon}, margin ± {margin} {unit}", **slots("epsilon", "margin", "unit")),
    "mechanism": Phrase("Mechanism: {name}.", **slots("name")),
    "points": Phrase("points"),
    "percent": Phrase("% of the whole"),
    "value": Phrase("in the unit of the question"),
    "driver": Phrase("you chose this"),
    "follows": Phrase("follows from the other"),
    "odds": Phrase(
        "Reading a report can change the odds between two answers by a factor of at most {odds}.",
        **slots("odds"),
    ),
    "belief": Phrase(
        "Someone who thought two answers equally likely can be at most {percent} sure of one of them afterwards.",
        **slots("percent"),
    ),
    "hundred": Phrase(
        "Of 100 people who hold an answer, about {p} send a report that fits it. Of 100 who do not hold it, about {q} "
        "do so too.",
        **slots("p", "q"),
    ),
    "hundred.first": Phrase("These numbers are for question 1, in reports that cover it; other questions can differ."),
    "precise.points": Phrase(
        "With {people} answers every share is known to ± {margin} points, 95 times in 100.", **slots("people", "margin")
    ),
    "precise.value": Phrase(
        "With {people} answers the mean is known to ± {margin}, 95 times in 100.", **slots("people", "margin")
    ),
    "precise.percent": Phrase(
        "With {people} answers the figures of the worst question are known to ± {margin}% of the whole on average, 95 "
        "times in 100.",
        **slots("people", "margin"),
    ),
    "useless": Phrase(
        "That is too wide to say anything. Ask more people, ask fewer questions, or allow a larger epsilon."
    ),
    "forged": Phrase("One forged report counts for up to {n} people.", **N),
    "forged.points": Phrase(
        "If 1% of the reports are forged, a share can move by up to {moved} points.", **slots("moved")
    ),
    "forged.value": Phrase("If 1% of the reports are forged, the mean can move by up to {moved}.", **slots("moved")),
    "certificate": Phrase(
        "Certified: epsilon = {epsilon} for one report, computed from the integers that decide the draw, and rounded "
        "up. {method}",
        **slots("epsilon", "method"),
    ),
    "waves": Phrase(
        "All {n} waves together: at most a factor of {odds} (epsilon = {epsilon}), as long as a person’s answer stays "
        "the same.",
        **slots("n", "odds", "epsilon"),
    ),
    "margin.points": Phrase("± {margin} points", **slots("margin")),
    "margin.value": Phrase("± {margin}", **slots("margin")),
    "people": Phrase("{n} people", **N),
    "table.question": Phrase("question"),
    "table.margin": Phrase("margin"),
    "table.forged": Phrase("one forged report counts for"),
}


def words_in(lang: LanguageCode, *groups: Mapping[str, Phrase]) -> dict[str, str]:
    """Every sentence by its key."""
    say = Language(lang).say
    return {key: say(phrase) for group in groups for key, phrase in group.items()} | {"language": lang}
