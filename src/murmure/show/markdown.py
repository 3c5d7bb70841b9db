"""Documents as Markdown, for the documentation: the same texts, tables and pictures, and folds as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import singledispatch
from html import escape
from typing import Any

from murmure.show import cells
from murmure.show.document import (
    Curves,
    Document,
    Facts,
    Fold,
    Image,
    Intervals,
    Items,
    Links,
    Listing,
    Paragraph,
    Section,
    Table,
)
from murmure.show.language import Language, LanguageCode
from murmure.show.phrase import Code, Marked, visible
from murmure.show.text import block_lines

SPECIAL = re.compile(r"([\\`*_\[\]|$])")


def markdown(document: Document, lang: LanguageCode, level: int = 2) -> str:
    """The blocks, without the title; `level` is that of the first headings."""
    language = Language(lang, _safe, _mark)
    return "\n\n".join(_blocks(document.blocks, language, level)) + "\n"


def _safe(text: str) -> str:
    return SPECIAL.sub(r"\\\1", _in_html(text))


def _in_html(text: str) -> str:
    return escape(" ".join(visible(str(text)).split("\n")), quote=False)


def _mark(value: Marked, inner: str) -> str:
    return f"<code>{inner}</code>" if isinstance(value, Code) else f"**{inner}**"


def _blocks(blocks: Iterable[Any], language: Language, level: int) -> Iterator[str]:
    for block in blocks:
        text = block_text(block, language, level)
        if text:
            yield text


@singledispatch
def block_text(block: Any, language: Language, level: int) -> str:
    """What has no form of its own in Markdown is written as text."""
    return "\n".join(_safe(line) for line in block_lines(block, Language(language.code)))


@block_text.register
def _(block: Paragraph, language: Language, level: int) -> str:
    return language.say(block.text)


@block_text.register
def _(block: Facts, language: Language, level: int) -> str:
    colon = language.catalogue(": ")
    return "\n".join(
        f"- **{language.say(name)}**{colon}{cells.cell(value, language, name)}" for name, value in block.items if name
    )


@block_text.register
def _(block: Items, language: Language, level: int) -> str:
    lines = []
    for number, item in enumerate(block.items, 1):
        first, inner = (item, ()) if isinstance(item, str) else item
        lines += [
            f"{f'{number}.' if block.numbered else '-'} {language.say(first)}",
            *(f"    - {language.say(text)}" for text in inner),
        ]
    return "\n".join(lines)


@block_text.register
def _(block: Table, language: Language, level: int) -> str:
    head = [language.say(name) for name in block.head]
    side = "---" if block.words else "---:"
    rows = [head, ["---", *[side] * (len(head) - 1)], *cells.body(block, language)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    title = language.say(block.title)
    return "\n".join([*([f"*{title}*", ""] if title else []), *lines])


@block_text.register
def _(block: Intervals, language: Language, level: int) -> str:
    return "" if block.picture else block_text(cells.as_table(block), language, level)


@block_text.register
def _(block: Curves, language: Language, level: int) -> str:
    return "" if block.table is None else block_text(block.table, language, level)


@block_text.register
def _(block: Image, language: Language, level: int) -> str:
    return f"![{language.say(block.alt)}]({dict(block.files)[language.code]})"


@block_text.register
def _(block: Links, language: Language, level: int) -> str:
    return " · ".join(f"[{language.say(text)}]({address})" for text, address in block.items)


@block_text.register
def _(block: Listing, language: Language, level: int) -> str:
    lines = "\n".join(visible(line) for line in block.text.rstrip().split("\n"))
    return f"<pre><code>{escape(lines, quote=False)}</code></pre>"  # a fence would be run by the tests of pages


@block_text.register
def _(block: Fold, language: Language, level: int) -> str:
    inner = "\n\n".join(_blocks(block.blocks, language, level))
    title = Language(language.code, _in_html).say(block.title)  # Markdown's own marks mean nothing there
    return f'<details markdown="1"><summary>{title}</summary>\n\n{inner}\n\n</details>'


@block_text.register
def _(block: Section, language: Language, level: int) -> str:
    return "\n\n".join([f"{'#' * level} {language.say(block.title)}", *_blocks(block.blocks, language, level + 1)])
