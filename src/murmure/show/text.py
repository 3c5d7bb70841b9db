"""Documents as text: a title over a rule, facts in two columns, tables with aligned numbers, wrapped notes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from typing import Any

from murmure.show import cells
from murmure.show.document import (
    Branch,
    Curves,
    Document,
    Facts,
    Flow,
    Fold,
    Hundred,
    Image,
    Intervals,
    Items,
    Links,
    Listing,
    Paragraph,
    Progress,
    Section,
    Table,
    TallySheet,
    Ticks,
    Tree,
)
from murmure.show.language import Language, LanguageCode, current_language
from murmure.show.phrase import Phrase, visible
from murmure.show.short_labels import cut, cut_labels

WIDTH = 78  # of tables and of what people read in lines
MAX_LINE = 100  # letters of a line of prose
MAX_NAME = 36  # letters of a name in a table
MAX_HEAD = 20  # letters of a line in the name of a column, where a table is wider than MAX_LINE
MAX_PHRASE = 72  # of a name that is ours and not somebody's label: it is written to be read


def text(document: Document, lang: LanguageCode | None = None) -> str:
    """The whole document; control characters that somebody put into a label are shown, and do nothing."""
    language = Language(lang or current_language(), visible)
    tables = [block for block in document.of(Table, Intervals) if isinstance(block, Intervals) or not block.words]
    wide = max([WIDTH, *(len(line) for table in tables for line in _table_lines(table, language))])
    title = language.say(document.title)
    lines = [*wrapped(title), "=" * wide] if title else []
    lines += blocks(document.blocks, language)
    return "\n".join(line.rstrip() for line in [*lines, *wrapped(language.say(document.footer))]).strip("\n")


def blocks(parts: Iterable[Any], language: Language) -> Iterator[str]:
    """The lines of all blocks, with a blank line around tables and before sections."""
    before: Any = None
    for block in parts:
        lines = list(block_lines(block, language))
        if not lines:
            continue
        if before is not None and is_separate(before, block):
            yield ""
        yield from lines
        before = block


def is_separate(before: Any, block: Any) -> bool:
    """Whether a blank line is between two blocks."""
    if isinstance(block, Table) and block.words and not block.title:
        return isinstance(before, Table | Section)  # it goes on below what is above it
    if isinstance(block, Table | Intervals | Section | Curves | Listing | Progress | Items | Tree | TallySheet):
        return True
    return isinstance(before, Table | Intervals | Facts | Items | Section | Curves | Listing)


@singledispatch
def block_lines(block: Any, language: Language) -> Iterable[str]:
    raise TypeError(f"no text for {type(block).__name__}")


def wrapped(text: str, indent: str = "  ", first: str = "", width: int = MAX_LINE) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


@block_lines.register
def _(block: Paragraph, language: Language) -> list[str]:
    return wrapped(language.say(block.text))


@block_lines.register
def _(block: Facts, language: Language) -> list[str]:
    """In two columns, as statisticians know them; long ones below one another."""
    pairs = [(language.say(name), cells.cell(value, language, name) if name else "") for name, value in block.items]
    half = (WIDTH - 4) // 2
    if any(len(name) + len(value) + 2 > half for name, value in pairs):
        wide = max(len(name) for name, _ in pairs)
        return [
            line
            for name, value in pairs
            if name
            for line in wrapped(value, " " * (wide + 2), f"{name:{wide}}  ") or [name]
        ]
    gap = next((i for i, (name, _) in enumerate(pairs) if not name), None)
    middle = -(-len(pairs) // 2)
    left, right = (pairs[:middle], pairs[middle:]) if gap is None else (pairs[:gap], pairs[gap + 1 :])
    rows = max(len(left), len(right))
    both = ([*side, *[("", "")] * (rows - len(side))] for side in (left, right))
    colon = language.catalogue(": ")
    return [f"{_fact(a, half, colon)}    {_fact(b, half, colon)}".rstrip() for a, b in zip(*both, strict=True)]


def _fact(fact: tuple[str, str], width: int, colon: str) -> str:
    name, value = fact
    return f"{name}{colon}{value:>{width - len(name) - len(colon)}}" if name else " " * width


@block_lines.register
def _(block: Items, language: Language) -> list[str]:
    lines = []
    for number, item in enumerate(block.items, 1):
        first, inner = (item, ()) if isinstance(item, str) else item
        mark = f"{number}. " if block.numbered else "- "
        indent = " " * len(mark)
        lines += wrapped(language.say(first), indent, mark)
        lines += [line for one in inner for line in wrapped(language.say(one), indent + "  ", indent + "- ")]
    return lines


@block_lines.register(Table)
@block_lines.register(Intervals)
def _table_lines(block: Any, language: Language) -> list[str]:
    table = cells.as_table(block) if isinstance(block, Intervals) else block
    if isinstance(block, Intervals) and block.picture:
        return []
    if table.words:
        return _word_lines(table, language)
    head = [language.say(name) for name in table.head]
    rows = cells.body(table, language)
    ours = bool(table.rows) and all(isinstance(row[0], Phrase) for row in table.rows)
    names = cut_labels([head[0], *(row[0] for row in rows)], MAX_PHRASE if ours else MAX_NAME)
    for row, name in zip([head, *rows], names, strict=True):
        row[0] = name
    wide = _widths([head, *rows])
    heads = [head]
    if table is block and sum(wide) + 2 * len(wide) > MAX_LINE:  # long names of columns break into lines
        heads = _broken(head, _widths([[""] * len(head), *rows]))
        wide = _widths([*heads, *rows])
    lines = [
        "  ".join([f"{row[0]:<{wide[0]}}", *map(str.rjust, row[1:], wide[1:])]).rstrip() for row in [*heads, *rows]
    ]
    if table.best is not None and table.best < len(rows):
        lines[len(heads) + table.best] += f"  <- {language.say(Phrase('best'))}"
    if table is block:  # figures with intervals are read line by line, and need no rule
        lines.insert(len(heads), "-" * max(map(len, lines)))
    title = cut(language.say(table.title), 100)
    return [title, *lines] if title else lines


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Of the columns; figures have room for eight letters."""
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    return [first, *(max(wide, 8) for wide in others)]


def _broken(head: Sequence[str], wide: Sequence[int]) -> list[list[str]]:
    """The names of columns in lines that are hardly wider than what stands below; the last line is full."""
    parts = [
        [head[0]],
        *(wrapped(name, "", width=max(w, MAX_HEAD)) or [""] for name, w in zip(head[1:], wide[1:], strict=True)),
    ]
    high = max(map(len, parts))
    return [list(line) for line in zip(*([""] * (high - len(part)) + part for part in parts), strict=True)]


def _word_lines(table: Table, language: Language) -> list[str]:
    """Sentences do not fit beside one another: each row is its name, and the others below it."""
    lines = [language.say(table.title)] if table.title else []
    for row in table.rows:
        name, *rest = (cells.cell(value, language, head) for value, head in zip(row, table.head, strict=True))
        shown = [part for part in rest if part and part != cells.UNKNOWN]
        lines += wrapped(name + language.catalogue(": ") + "; ".join(shown) if shown else name, "    ", "  ")
    return lines


@block_lines.register
def _(block: Curves, language: Language) -> list[str]:
    return [] if block.table is None else _table_lines(block.table, language)


@block_lines.register
def _(block: Flow, language: Language) -> list[str]:
    return wrapped(" -> ".join(language.say(part) for _, part, _ in block.steps if part))


@block_lines.register
def _(block: Hundred, language: Language) -> list[str]:
    return wrapped(language.say(block.text))


@block_lines.register
def _(block: Ticks, language: Language) -> list[str]:
    return ["  ".join(f"[{'x' if ticked else ' '}] {language.say(label)}" for label, ticked in block.boxes)]


@block_lines.register
def _(block: TallySheet, language: Language) -> list[str]:
    answers = [language.say(answer) for answer in block.answers]
    wide = max(map(len, answers))
    return [f"{answer:{wide}}  [ ] x {block.boxes}  = ____" for answer in answers]


@block_lines.register
def _(block: Tree, language: Language) -> list[str]:
    """A line for each branch, under the one that it grows from."""

    def lines(branch: Branch, indent: str) -> list[str]:
        leaf = f"  [{language.say(branch.leaf)}]" if branch.leaf else ""
        line = f"{indent}{language.say(branch.chance)}  {language.say(branch.event)}{leaf}"
        return [line, *(deeper for inner in branch.branches for deeper in lines(inner, indent + "    "))]

    title = [language.say(block.title)] if block.title else []
    return [*title, language.say(block.root), *(line for branch in block.branches for line in lines(branch, "    "))]


@block_lines.register
def _(block: Progress, language: Language) -> list[str]:
    wide = max((len(language.say(name)) for name, *_ in block.steps), default=0)
    return [
        f"{language.say(name):{wide}}  {f'{done}/{every}' if state != 'later' else ''}".rstrip()
        for name, done, every, state in block.steps
    ]


@block_lines.register
def _(block: Listing, language: Language) -> list[str]:
    return [f"    {visible(line)}" for line in block.text.rstrip("\n").split("\n")]


@block_lines.register
def _(block: Image, language: Language) -> list[str]:
    return wrapped(f"[{language.say(block.alt)}: {dict(block.files).get(language.code, block.files[0][1])}]")


@block_lines.register
def _(block: Links, language: Language) -> Sequence[str]:
    return []  # there is nothing to click on


@block_lines.register
def _(block: Fold, language: Language) -> Sequence[str]:
    return []  # what a page folds away, text leaves out


@block_lines.register
def _(block: Section, language: Language) -> list[str]:
    title = language.say(block.title)
    return [title, "-" * len(title), *blocks(block.blocks, language)]
