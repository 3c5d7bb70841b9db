"""Documents on a terminal: as the text of text.py, with titles in bold, names dimmed and warnings in colour.

Colours only on a terminal, NO_COLOR respected (by rich); what people typed is never parsed as markup.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from murmure.show.document import Block, Document, Intervals, Paragraph, Section, Table
from murmure.show.language import Language, LanguageCode, current_language
from murmure.show.phrase import visible
from murmure.show.text import MAX_LINE, block_lines, is_separate, wrapped

STYLES = {"warning": "bold red", "note": "dim", "motto": "italic"}


def print_document(document: Document, console: Any, lang: LanguageCode | None = None) -> None:
    """Prose is as wide as the terminal; tables are as wide as they are, and a terminal that is narrower wraps them."""
    language = Language(lang or current_language(), visible)
    title = language.say(document.title)
    if title:
        _print(console, title, "bold")
    _blocks(document.blocks, console, language)
    if document.footer:
        _print(console, language.say(document.footer), "dim")


def _print(console: Any, text: str, style: str | None = None) -> None:
    console.print(text.rstrip(), style=style, soft_wrap=True, markup=False, highlight=False)


def _blocks(blocks: Iterable[Block], console: Any, language: Language) -> None:
    before = None
    for block in blocks:
        if isinstance(block, Section):
            lines = [language.say(block.title)]
        elif isinstance(block, Paragraph):  # prose is as wide as the terminal
            lines = wrapped(language.say(block.text), "", width=min(max(console.width, 40), MAX_LINE))
        else:
            lines = list(block_lines(block, language))
        if not lines:
            continue
        if before is not None and is_separate(before, block):
            _print(console, "")
        before = block
        if isinstance(block, Section):
            _print(console, lines[0], "bold")
            _blocks(block.blocks, console, language)
            continue
        style = STYLES.get(block.kind) if isinstance(block, Paragraph) else None
        title = isinstance(block, Table | Intervals) and bool(block.title)
        heading = isinstance(block, Table | Intervals) and not (isinstance(block, Table) and block.words)
        # The names of columns may take several lines, down to the rule; figures with intervals have one line, no rule.
        rule = next((j for j, line in enumerate(lines) if line and not line.strip("-")), title + 1)
        best = rule + 1 + block.best if isinstance(block, Table) and block.best is not None else None
        for j, line in enumerate(lines):
            head = heading and title <= j < rule
            _print(console, line, "dim" if head else "bold green" if j == best else style)
