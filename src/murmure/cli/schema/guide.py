"""`murmure schema init --guide`: a few questions that turn a draft into a schema with public bounds and labels.

Enter never accepts what was read off the data: it leaves the column marked. Bounds are typed, or they are not public.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.language import echo
from murmure.cli.schema.detection.detected import Detected
from murmure.core.errors import MurmureError, Phrase, Plural
from murmure.show.phrase import Several

if TYPE_CHECKING:
    from murmure.cli.schema.drafts import Draft
    from murmure.core.column import Column
    from murmure.core.domain import Categories, Domain

MAX_SHOWN = 20  # labels of a column that are repeated in a question
LEAVE_OUT = "-"
PUBLIC = "ok"  # the drafted labels are public, and all that there are
BETWEEN = re.compile(r"\s*(?:;|\.\.\.?|\s(?:to|and|\u00e0|et|bis)\s|\s)\s*")
OUTSIDE = {
    "refuse": "refuse",
    "r": "refuse",
    "clamp": "clamp",
    "c": "clamp",
    "drop": "drop",
    "d": "drop",
}


class Guide:
    """Asks on standard error and reads answers from standard input, a line each; so a file of answers works too."""

    def __init__(self) -> None:
        self.ended = sys.stdin is None  # the input is over: whatever is left stays as it was drafted

    def ask(self, question: Phrase) -> str:
        """The answer; empty for Enter, and for all questions after the end of the input."""
        if self.ended:
            return ""
        echo(question)
        click.echo("> ", nl=False, err=True)
        line = sys.stdin.readline()
        if line and not sys.stdin.isatty():  # answers from a file are shown as if they had been typed
            click.echo(line.rstrip(), err=True)
        if not line:
            self.ended = True
            click.echo("", err=True)
            echo(Phrase("The input ended: what was not answered stays as it was drafted."))
        return line.strip()

    def until_valid(self, question: Phrase, parse: Callable[[str], Any]) -> Any:
        """What `parse` makes of an answer; after an error the question comes again. None for Enter."""
        while answer := self.ask(question):
            try:
                return parse(answer)
            except MurmureError as error:
                echo(Phrase("  {message}", message=error.message))
            except ValueError:
                echo(Phrase("  That cannot be read: {answer!r}.", answer=answer))
        return None

    # -- the file

    def missing_words(self, detected: Detected) -> Detected:
        words = detected.format.missing
        if words:
            question = Phrase(
                "These words mean that there is no value: {words}. Enter keeps the list; type another, separated by "
                "semicolons, or {none} for none.",
                words=", ".join(map(repr, words)),
                none=LEAVE_OUT,
            )
        else:
            question = Phrase(
                "No word for missing values was found (an empty cell always is one). Enter: there is none; or type the "
                "words, separated by semicolons."
            )

        def parse(answer: str) -> Detected:
            given = () if answer == LEAVE_OUT else tuple(dict.fromkeys(split_list(answer)))
            return replace(detected, format=replace(detected.format, missing=given))

        return self.until_valid(question, parse) or detected

    # -- the columns

    def columns(
        self, kept: Mapping[str, Column], left_out: Mapping[str, str], drafts: Mapping[str, Draft]
    ) -> tuple[dict[str, Column], dict[str, str]]:
        """The columns as the answers have them, and those that are left out."""
        out: dict[str, Column] = {}
        without = dict(left_out)
        if not self.ended:
            echo(
                Phrase(
                    "For each column: Enter leaves it as it was drafted, and marked, so that nothing can be released; "
                    "{out} leaves it out.",
                    out=LEAVE_OUT,
                )
            )
        for place, (name, column) in enumerate(kept.items(), 1):
            answered = self._column(f"[{place}/{len(kept)}]", name, column, drafts[name])
            if answered is None and len(out) + len(kept) - place == 0:
                echo(Phrase("  A schema needs a column: {name!r} stays in.", name=name))
                answered = column
            if answered is None:
                without[name] = Phrase("by your answer")
            else:
                out[name] = answered
        return out, without

    def _column(self, where: str, name: str, column: Column, draft: Draft) -> Column | None:
        """The column as the answers have it; None: leave it out."""
        kind = kind_words(column.domain)
        if not self.ended:
            echo(Phrase("{where} {name}: {kind}", where=where, name=name, kind=kind))
        if not column.from_data:
            return column
        domain = self.until_valid(_question(column.domain), lambda answer: parse_domain(answer, column.domain))
        if domain is None:
            return column
        if domain == LEAVE_OUT:
            return None
        column = replace(column, domain=domain, from_data=False, missing="refuse", missing_value=None)
        column = self._missing(column, draft)
        return self._outside(column)

    def _missing(self, column: Column, draft: Draft) -> Column:
        from murmure.core.column import MISSING_LABEL
        from murmure.core.domain import Categories

        if not draft.missing:
            return column
        empty = Plural("{n:,} value is missing.", "{n:,} values are missing.", n=draft.missing)
        if isinstance(column.domain, Categories) and not column.domain.ordered:
            question = Phrase(
                "  {empty} They count as a label of their own: type its name (Enter: {label!r}).",
                empty=empty,
                label=MISSING_LABEL,
            )
            labelled = self.until_valid(question, lambda a: replace(column, missing="value", missing_value=a))
            return labelled or replace(column, missing="value", missing_value=_free_label(column.domain))
        question = Phrase(
            "  {empty} Type a public value that counts for them (Enter: their rows are refused).", empty=empty
        )
        return (
            self.until_valid(
                question,
                lambda a: replace(column, missing="constant", missing_value=_constant(a, column.domain)),
            )
            or column
        )

    def _outside(self, column: Column) -> Column:
        from murmure.core.domain import Categories

        if isinstance(column.domain, Categories) and not column.domain.ordered:
            question = Phrase("  A row with another answer: r refuses it (Enter), d drops it.")
        else:
            question = Phrase("  A value beyond: r refuses the row (Enter), c moves it to the bound, d drops the row.")

        def parse(answer: str) -> Column:
            return replace(column, outside=OUTSIDE.get(answer.lower(), answer))  # type: ignore[arg-type]

        return self.until_valid(question, parse) or column


def _question(domain: Domain) -> Phrase:
    from murmure.core.domain import Categories

    if not isinstance(domain, Categories):
        return Phrase("  Which lowest and highest value are public? As in {example}.", example="0 120")
    if domain.ordered:
        return Phrase(
            "  Which first and last date are public, and by day, week, month or year? As in {example}.",
            example=" ".join(("2000-01-01", "2029-12-31", "month")),
        )
    labels = [str(label) for label in domain.labels()]
    shown: list[Any] = [repr(label) for label in labels[:MAX_SHOWN]]
    if len(labels) > MAX_SHOWN:
        shown.append(Phrase("{more:,} more", more=len(labels) - MAX_SHOWN))
    if _of_numbers(domain):
        return Phrase(
            "  In the data: {labels}.\n  Which whole numbers are possible, by public knowledge? All of them, separated "
            "by semicolons; or the lowest and the highest, as in 0 120; or {public}, if these are all of them.",
            labels=Several(shown, Phrase(", ")),
            public=PUBLIC,
        )
    return Phrase(
        "  In the data: {labels}.\n  Which answers are possible, by public knowledge? Separated by semicolons; or "
        "{public}, if these are all of them.",
        labels=Several(shown, Phrase(", ")),
        public=PUBLIC,
    )


def kind_words(domain: Domain) -> Phrase:
    from murmure.core.domain import Categories, Integers

    if isinstance(domain, Categories):
        if domain.ordered:
            return Phrase("dates")
        return Phrase("true or false") if domain.labels() == ["False", "True"] else Phrase("labels")
    return Phrase("whole numbers") if isinstance(domain, Integers) else Phrase("numbers")


def parse_domain(answer: str, drafted: Domain) -> Any:
    """The domain of an answer; "-" stays as it is."""
    from murmure.core.domain import Categories, Dates, Integers, Interval

    if answer == LEAVE_OUT:
        return answer
    if isinstance(drafted, Dates):
        ends = BETWEEN.split(answer.strip())
        if len(ends) not in (2, 3):
            raise ValueError
        return Dates(ends[0], ends[1], ends[2] if len(ends) == 3 else drafted.unit)  # type: ignore[arg-type]
    if isinstance(drafted, Categories):
        if answer.lower() == PUBLIC:
            return drafted
        if not _of_numbers(drafted):
            return Categories(split_list(answer))
        if ";" in answer:
            return Categories([int(label) for label in split_list(answer)])
        low, high = BETWEEN.split(answer)
        return Integers(int(low), int(high))
    ends = BETWEEN.split(answer.strip())
    if len(ends) != 2:
        raise ValueError
    if isinstance(drafted, Integers):
        return Integers(int(ends[0]), int(ends[1]))
    return Interval(_number(ends[0]), _number(ends[1]))


def _of_numbers(domain: Categories) -> bool:
    """Whether the labels are whole numbers, and not truth values."""
    return isinstance(domain.values, int) or all(type(value) is int for value in domain.values)


def split_list(answer: str) -> list[str]:
    return [word for part in answer.split(";") if (word := part.strip())]


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _constant(answer: str, domain: Domain) -> Any:
    from murmure.core.domain import Categories, Integers

    if isinstance(domain, Categories):
        return answer
    return int(answer) if isinstance(domain, Integers) else _number(answer)


def _free_label(domain: Any) -> str:
    from murmure.core.column import MISSING_LABEL

    label = MISSING_LABEL
    while label in domain.labels():
        label = f"no {label}"
    return label
