"""What the commands say about a file and about a draft; on standard error, also when JSON goes to standard output."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from murmure.cli.language import echo
from murmure.core.errors import Phrase, Plural

if TYPE_CHECKING:
    from murmure.cli.schema.detection.detected import Detected
    from murmure.cli.schema.drafts import Draft
    from murmure.core.column import Column
    from murmure.core.schema import Schema


def print_detected(data: str, detected: Detected) -> None:
    """How the file is written, as far as it was looked at."""
    if detected.taken:
        echo(Phrase("How {data} is written:", data=Path(data).name))
        for words in detected.taken:
            echo(Phrase("  {words}", words=words))
    print_doubts(detected.doubts)


def print_doubts(doubts: Iterable[Phrase]) -> None:
    for words in doubts:
        echo(Phrase("LOOK: {words}.", words=words))


def print_warnings(drafted: Schema, left_out: dict[str, str], missing: dict[str, int], output: Path) -> None:
    for name in drafted.drafted:
        what = _drafted_text(drafted.column_specs[name])
        echo(Phrase("READ OFF THE DATA: column {name!r}: {what}", name=name, what=what))
    for name in missing:
        if name in drafted.column_specs and drafted.column_specs[name].missing == "refuse":
            echo(
                Phrase(
                    'Missing values: column {name!r} refuses them as it stands; say missing = "constant" and a public '
                    "missing_value, or drop those rows.",
                    name=name,
                )
            )
    if drafted.drafted:
        echo(
            Phrase(
                "WARNING: {output} says something about the people in the data. Before anything is released, replace "
                "what is listed above by public bounds and labels, and remove the lines from_data = true.",
                output=str(output),
            )
        )
    for name, why in left_out.items():
        echo(Phrase("Left out: column {name!r}: {why}.", name=name, why=why))


def print_notes(drafts: dict[str, Draft], blanks: dict[str, list[str]]) -> None:
    """What a draft may have misunderstood."""
    for name, texts in blanks.items():
        echo(_missing_note(name, texts))
    for name, draft in drafts.items():
        if draft.unreadable:
            what = Phrase("dates") if draft.kind == "date" else Phrase("numbers")
            note: Phrase = Plural(
                "Note: column {name!r} holds {what}, and {n:,} text that is not ({examples}): murmure schema check "
                "shows the line.",
                "Note: column {name!r} holds {what}, and {n:,} texts that are not ({examples}): murmure schema check "
                "shows the lines.",
                n=draft.unreadable,
                name=name,
                what=what,
                examples=", ".join(map(repr, draft.examples)),
            )
            echo(note)
        if draft.looks_numbered:
            note = Phrase(
                "Note: the numbers of column {name!r} all differ. If they are the numbers of people, and not a "
                "measure, remove the column from the schema.",
                name=name,
            )
            echo(note)


def _missing_note(name: str, texts: list[str]) -> Phrase:
    empty = Phrase("empty fields (without quotation marks)") if "" in texts else Phrase("empty fields")
    return Plural(
        "Note: column {name!r}: {texts} looks like a missing value; {empty} are read as missing.",
        "Note: column {name!r}: {texts} look like missing values; {empty} are read as missing.",
        n=len(texts),
        name=name,
        texts=", ".join(map(repr, texts)),
        empty=empty,
    )


def _drafted_text(column: Column) -> str:
    from murmure.core.domain import Categories

    domain = column.domain
    if isinstance(domain, Categories) and not domain.ordered and not isinstance(domain.values, int):
        first, last = str(domain.label(0)), str(domain.label(domain.size - 1))
        return Phrase("{n:,} labels, from {first!r} to {last!r}", n=domain.size, first=first, last=last)
    return domain.public()


def draft_heading(data: str, drafted: Schema, left_out: dict[str, str], detected: Detected) -> str:
    """The comments at the top of a draft."""
    lines = [f"Drafted by murmure schema init from {Path(data).name}."]
    if drafted.drafted:
        lines += [
            "The columns marked from_data = true were READ OFF THE DATA: they say something about the people in them.",
            "Replace their bounds and labels by public ones and remove the marks: until then nothing can be released.",
        ]
    lines += [f"Left out: {name!r}: {why}" for name, why in left_out.items()]
    lines += [f"In doubt: {words}" for words in detected.doubts]
    return "".join(f"# {_one_line(line)}\n" for line in lines) + "\n"


def _one_line(text: str) -> str:
    """A comment ends with its line, and TOML takes no control character in it."""
    return "".join(c if c.isprintable() else " " for c in text)
