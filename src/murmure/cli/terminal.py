"""What a command prints: JSON, or text on a terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.show.language import MINUS, NARROW, WIDE, LanguageCode, language
from murmure.show.phrase import Phrase

if TYPE_CHECKING:
    from rich.console import Console

    from murmure.show.document import Document

PLAIN_SPACES = {ord(NARROW): " ", ord(WIDE): " ", ord(MINUS): "-"}


def print_json(value: Any) -> None:
    """JSON and nothing else; plain ASCII, no NaN."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def console() -> Console:
    """Colours only on a terminal, NO_COLOR respected (by rich); what people typed is never parsed as markup."""
    from rich.console import Console
    from rich.text import Text

    class PlainSpaces(Console):
        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(text.translate(PLAIN_SPACES), **how)

    out = Console(markup=False, emoji=False, highlight=False)
    if out.encoding.lower().startswith("utf"):
        return out
    # Other encodings may lack no-break spaces and letters of labels: replace them rather than fail.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return PlainSpaces(markup=False, emoji=False, highlight=False)


def print_document(document: Document, lang: LanguageCode | None = None) -> None:
    """A document on standard output, in the language."""
    from murmure.show.terminal import print_document

    print_document(document, console(), lang)


def print_written(*paths: Path | None) -> None:
    """The files that a command wrote beside what it printed."""
    for path in filter(None, paths):
        print_line(Phrase("Written: {path}", path=str(path)))


def print_activation() -> None:
    """Before commands to type: how to have `murmure` in this terminal, where it was started by its path."""
    from murmure.core.installation import activation_command

    command = activation_command()
    if command is not None:
        print_line(Phrase("The command murmure is not on your PATH yet. Type once: {command}", command=command))


def print_line(text: str, style: str | None = None) -> None:
    """A sentence on standard output, in the language; a narrow terminal wraps it."""
    console().print(language().say(text), style=style, soft_wrap=True)
