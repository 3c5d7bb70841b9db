"""A study in plain sentences: somebody at each party reads these, and says yes or no.

They use no word that only specialists know; whatever a document can hold, what is shown has one meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.parties.study.model_words import describe_model
from murmure.parties.study.protection import describe_masking, describe_noise, warn_public_rows, warn_rare_conditions
from murmure.parties.study.question_words import describe_domain, describe_statistic, quoted
from murmure.show.language import NAMES, Language, LanguageCode
from murmure.show.phrase import Phrase, Quoted, Several, visible

if TYPE_CHECKING:
    from murmure.parties.study.document import Study

Sentence = Phrase | tuple[Phrase, tuple[Phrase, ...]]  # with details, where it has some

SIGNS = {
    "**": Phrase("** raises to a power"),
    "*": Phrase("* multiplies"),
    "==": Phrase("== means “is equal to”"),
    "!=": Phrase("!= means “is not equal to”"),
    "<=": Phrase("<= means “at most”"),
    ">=": Phrase(">= means “at least”"),
    " and ": Phrase("“and”: both conditions hold"),
    " or ": Phrase("“or”: one of the conditions holds"),
    "not ": Phrase("“not”: the condition does not hold"),
    "min(": Phrase("min( ) takes the smallest"),
    "max(": Phrase("max( ) takes the largest"),
    "abs(": Phrase("abs( ) drops the minus sign"),
}


def describe_study(study: Study) -> list[Sentence]:
    return [
        *warn_public_rows(study),
        *warn_rare_conditions(study),
        *_who(study),
        *_what(study),
        *describe_masking(study),
        *describe_noise(study),
        *_terms(study),
    ]


def study_lines(study: Study, code: LanguageCode = "en") -> list[str]:
    """The same as text in one language; details begin with "  - "."""
    if code not in NAMES:
        raise InvalidParameter('Study.in_words speaks "en" and "fr", got {got}.', got=shorten(code))
    # No sentence has a line break of its own: one that a stranger wrote would begin a line that looks like ours.
    say = Language(code, lambda text: visible(text).replace("\n", "\\u000a")).say
    out: list[str] = []
    for sentence in describe_study(study):
        first, details = (sentence, ()) if isinstance(sentence, Phrase) else sentence
        out += [say(first), *(f"  - {say(detail)}" for detail in details)]
    return out


def _who(study: Study) -> list[Sentence]:
    return [
        Phrase(
            "{asker} (here: the asker) asks {count:,} organisations for totals over their rows: {names}.",
            asker=Quoted(study.coordinator.name),
            count=len(study.roster),
            names=quoted(card.name for card in study.roster),
        ),
        Phrase(
            "The asker’s key is {key}. Compare it with them by telephone before you trust it.",
            key=study.coordinator.fingerprint,
        ),
        Phrase("The study is called {name}.", name=Quoted(study.name)),
        Phrase("Its purpose, in the asker’s words: {purpose}", purpose=Quoted(study.purpose)),
    ]


def columns_read(study: Study) -> dict[tuple[str, Any], None]:
    """Every column that a question reads, with what it may hold (None: it only tells people apart)."""
    out: dict[tuple[str, Any], None] = {}
    for question in study.questions:
        domain = question.domain
        if isinstance(domain, Schema):
            out |= {(name, domain[name]): None for name in domain.private}
        else:
            out[domain.column or "", domain] = None
        if question.plan.unit != "row":
            out[question.plan.unit, None] = None
    return out


def _what(study: Study) -> list[Sentence]:
    columns = [
        Phrase(
            "{column} ({values})",
            column=Quoted(name),
            values=Phrase("only to tell people apart") if domain is None else describe_domain(domain),
        )
        for name, domain in columns_read(study)
    ]
    out: list[Sentence] = [
        Phrase(
            "These columns of your table are read, on your own machine, and no others: {names}.",
            names=Several(columns, between=Phrase("; ")),
        ),
        Phrase("If a row holds anything else in one of them, nothing is sent, and you are told which row it is."),
    ]
    for question in study.questions:
        described = describe_statistic(question.plan.statistic) if question.model is None else describe_model(question)
        sentence = Phrase(
            "Question {number} of {count}: {what}",
            number=question.number,
            count=len(study.questions),
            what=described[0],
        )
        out.append((sentence, described[1]))
    formulas = " ".join(["", *(text for question in study.questions for text in question.plan.statistic.formulas)])
    signs = [
        meaning for sign, meaning in SIGNS.items() if sign in (formulas if sign != "*" else formulas.replace("**", ""))
    ]
    if signs:
        out.append(Phrase("In these formulas {signs}.", signs=Several(signs, between=Phrase("; "))))
    return out


def _terms(study: Study) -> list[Sentence]:
    sharing = study.sharing
    out: list[Sentence] = [
        Phrase(
            "Nothing is released unless at least {minimum:,} of the {parties:,} organisations answer to the end. Your "
            "own software makes sure of it.",
            minimum=sharing.minimum,
            parties=sharing.parties,
        ),
        Phrase(
            "Each organisation brings at least {least:,} rows, and at most {most:,}.",
            least=study.least_rows,
            most=sharing.rows,
        ),
    ]
    if study.rounds > 1:
        out.append(
            Phrase(
                "The organisations that answer the first question answer all of them. If one is missing later, the "
                "study ends."
            )
        )
    return [
        *out,
        Phrase(
            "You may refuse: then nothing of your table leaves, and the others learn only that you do not take part."
        ),
        Phrase("Once your totals have been added to those of the others, they cannot be taken out again."),
    ]
