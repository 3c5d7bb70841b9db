"""Documents as LaTeX for papers: plain tabulars, and notes below them. No package is needed; everything is escaped."""

from __future__ import annotations

import re

from murmure.show import cells
from murmure.show.document import Curves, Document, Facts, Intervals, Items, Paragraph, Section, Table, walk
from murmure.show.language import Language, LanguageCode, current_language
from murmure.show.phrase import visible

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after \\ a bracket would be an optional length
    "]": "{]}",
    "\u00a0": "~",
    "\u202f": r"\,",
    "\n": " ",
}


def escape(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in visible(str(text)))


def latex(document: Document, lang: LanguageCode | None = None) -> str:
    language = Language(lang or current_language(), escape)
    parts = [f"% {' '.join(language.say(document.title).split())}"]
    for block in walk(document.blocks):
        parts += _block(block, language)
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: object, language: Language) -> list[str]:
    if isinstance(block, Paragraph):
        return [language.say(block.text)]
    if isinstance(block, Items):
        flat = [text for item in block.items for text in ((item,) if isinstance(item, str) else (item[0], *item[1]))]
        kind = "enumerate" if block.numbered else "itemize"
        lines = [rf"\item {language.say(text)}" for text in flat]
        return ["\n".join([rf"\begin{{{kind}}}", *lines, rf"\end{{{kind}}}"])]
    if isinstance(block, Facts):
        facts = [(name, value) for name, value in block.items if name]
        lines = [rf"{language.say(name)} & {_number(cells.cell(value, language, name))} \\" for name, value in facts]
        return [_tabular("lr", lines)] if lines else []
    if isinstance(block, Intervals):
        block = None if block.picture else cells.as_table(block)
    if isinstance(block, Curves):
        block = block.table
    if isinstance(block, Table):
        return [_table(block, language)]
    return [language.say(block.title)] if isinstance(block, Section) else []


def _table(table: Table, language: Language) -> str:
    head = " & ".join(language.say(name) for name in table.head) + r" \\"
    body = [" & ".join([row[0], *map(_number, row[1:])]) + r" \\" for row in cells.body(table, language)]
    columns = "l" + ("l" if table.words else "r") * (len(table.head) - 1)
    title = [language.say(table.title) + "\n"] if table.title else []
    return "\n".join([*title, _tabular(columns, [head, r"\hline", *body])])


def _tabular(columns: str, lines: list[str]) -> str:
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\hline", *lines, r"\hline", r"\end{tabular}"])


def _number(text: str) -> str:
    """A minus needs mathematics: text shows a dash."""
    return f"$-${text[1:]}" if re.match(r"-[\d.]", text) else text
