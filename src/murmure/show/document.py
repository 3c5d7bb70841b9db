"""What a result says, once: a title, facts, tables, figures and notes. Renderers turn it into whatever people look at.

Texts are `Phrase`s, which a renderer says in its language; any other text is somebody's own (a label, a title) and
stays as it is. Numbers stay numbers until they are rendered.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from murmure.show.phrase import Phrase

if TYPE_CHECKING:
    from murmure.show.language import LanguageCode

Kind = Literal["text", "note", "warning", "motto"]
Unit = Literal["share", "count", "value"]


@dataclass(frozen=True)
class Number:
    """A number with a way of being written, where that of its table does not do.

    style: "count" (whole), "fixed" (with `digits` decimals), "share" (per cent, with `digits` decimals, or with more
    where it would look like 0 or 100 and is neither), "plain" (six significant digits, as an epsilon), "small" (a
    delta: 10⁻⁶), "exact" (all digits of a short decimal).
    """

    value: Any
    style: Literal["count", "fixed", "share", "plain", "small", "exact"] = "count"
    digits: int = 1


@dataclass(frozen=True)
class Paragraph:
    text: str
    kind: Kind = "text"


@dataclass(frozen=True)
class Facts:
    """Single figures about the whole: (name, value). ("", None) is a gap, after which a second column begins."""

    items: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Items:
    """A list; an item may have items of its own."""

    items: tuple[str | tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Table:
    """The first cell of a row is its name. Cells are texts, numbers, `Number`s, or None for unknown.

    words: the cells are sentences, and lines may break in them; else they are figures, aligned to the right.
    bars: the column whose numbers are also drawn as bars. best: the row to be seen first. folded: pages fold it away,
    since a picture shows its numbers.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    words: bool = False
    bars: int | None = None
    best: int | None = None
    folded: bool = False


@dataclass(frozen=True)
class IntervalRow:
    """A figure with its interval, where it has one. estimate NaN: it is lost in the noise."""

    label: str
    estimate: float
    low: float | None = None
    high: float | None = None
    truth: float | None = None
    count: float | None = None


@dataclass(frozen=True)
class Intervals:
    """Figures with intervals: a picture, and its table.

    bounds: public ones, between which all values lie. zero: coefficients, whose distance from 0 is what matters.
    picture: the picture alone, since another table has the numbers; text, LaTeX and data leave it out.
    """

    title: str
    rows: tuple[IntervalRow, ...]
    unit: Unit = "share"
    level: float = 0.95
    each: float | None = None  # the level of one interval, where all are to cover together
    label: str = ""  # of the column of names
    bounds: tuple[float, float] | None = None
    zero: bool = False
    truth: str | None = None  # why the truth is known
    mark: str | None = None  # what `truth` is called, where it is something else: a baseline
    picture: bool = False
    axis: str = ""  # what a drawn axis shows, where `unit` and `zero` do not say it
    key: bool = True  # whether its marks are explained; once is enough for several pictures in a row
    words: tuple[str, str] | None = None  # what a plot calls the bar and the mark, if they are no interval and estimate
    names: tuple[str, ...] | None = None  # what the figures 0, 1, ... stand for, if they are no numbers: dates

    def named(self, value: float | None) -> str | float | None:
        """What a figure stands for."""
        if self.names is None or value is None or not math.isfinite(value):
            return value
        return self.names[min(max(round(value), 0), len(self.names) - 1)]


@dataclass(frozen=True)
class Curve:
    """A line through points; step: constant until the next point. low, high: its band."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    step: bool = False
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Curves:
    """Lines in one picture. Their numbers are in `table`, which follows it."""

    title: str
    curves: tuple[Curve, ...]
    x_label: str
    y_label: str
    table: Table | None = None
    diagonal: bool = False  # the line of pure chance
    log: bool = False  # y in powers of ten
    log_x: bool = False  # x in powers of ten
    from_zero: bool = True  # whether y starts at 0 if nothing lies below


@dataclass(frozen=True)
class Flow:
    """Steps from left to right: a caption, what is there, and a remark; `sent` is the step that leaves the person."""

    steps: tuple[tuple[str, str, str], ...]
    sent: int = -1


@dataclass(frozen=True)
class Hundred:
    """How many of a hundred people, drawn as dots."""

    count: int
    text: str


@dataclass(frozen=True)
class Ticks:
    """Boxes, ticked or not: (label, ticked)."""

    boxes: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Progress:
    """Steps, each with how many of how many have done it: (text, done, all, state)."""

    steps: tuple[tuple[str, int, int, Literal["over", "now", "later"]], ...]


@dataclass(frozen=True)
class Listing:
    """Code to type."""

    text: str


@dataclass(frozen=True)
class Image:
    """A picture that was drawn before, one for each language; alt: what it shows, for those who hear it."""

    alt: str
    files: tuple[tuple[str, str], ...]  # (language, its file beside the page)
    drawn: tuple[tuple[str, str], ...]  # (language, SVG), for a page in one file


@dataclass(frozen=True)
class Links:
    """Where to go on: (text, address beside the page)."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Fold:
    """Blocks that a page folds away; text shows the title alone."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Section:
    title: str
    blocks: tuple[Block, ...]


Block = (
    Paragraph
    | Facts
    | Items
    | Table
    | Intervals
    | Curves
    | Flow
    | Hundred
    | Ticks
    | Progress
    | Listing
    | Image
    | Links
    | Fold
    | Section
)


@dataclass(frozen=True)
class Heading:
    """What people say about a page of their own: --title, --question, --author; and its date."""

    title: str | None = None
    question: str | None = None
    author: str | None = None
    date: datetime.date | None = field(default_factory=datetime.date.today)


@dataclass(frozen=True)
class Document:
    """A title, then blocks in order. `kind` is the "type" of a result in JSON; `footer` is small print."""

    title: str
    blocks: tuple[Block, ...]
    kind: str = "Document"
    footer: str = ""

    def walk(self) -> Iterator[Block]:
        """All blocks, those inside sections and folds too."""
        return walk(self.blocks)

    def of(self, *kinds: type) -> list[Any]:
        return [block for block in self.walk() if isinstance(block, kinds)]


def walk(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Section | Fold):
            yield from walk(block.blocks)


def paragraphs(texts: Sequence[str | None], kind: Kind = "text") -> tuple[Paragraph, ...]:
    """A paragraph for each text that there is."""
    return tuple(Paragraph(text, kind) for text in texts if text)


def sentences(*texts: str | None) -> Phrase:
    """Sentences in one paragraph."""
    given = [text for text in texts if text]
    names = [f"s{i}" for i in range(len(given))]
    return Phrase(" ".join(f"{{{name}}}" for name in names), **dict(zip(names, given, strict=True)))


class Shown:
    """Everything that people look at. A class says what it holds in `document`; the rest is rendered from it."""

    def document(self) -> Document:
        raise NotImplementedError(f"{type(self).__name__} must say what it shows")

    def summary(self, lang: LanguageCode | None = None) -> str:
        """As text; in a notebook, as a table."""
        from murmure.show.summary import Summary

        return Summary(self.document(), lang)

    def to_html(self, lang: LanguageCode | None = None) -> str:
        """A part of a page, for notebooks; `to_page` is a whole one."""
        from murmure.show.html import snippet

        return snippet(self.document(), lang)

    def to_page(self, heading: Heading | None = None, lang: LanguageCode | None = None) -> str:
        """A page in one file: both languages, no script, nothing from outside. lang: the one that is shown first."""
        from murmure.show.html import page

        return page(self.document(), heading, lang)

    def to_latex(self, lang: LanguageCode | None = None) -> str:
        """Plain tabulars: no package is needed."""
        from murmure.show.latex import latex

        return latex(self.document(), lang)

    def to_frame(self, backend: str | None = None) -> Any:
        """The rows of all tables and figures, as a frame of pandas, polars or pyarrow, whichever is installed."""
        from murmure.show.data import to_frame

        return to_frame(self.document(), backend)

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.to_html()


Say = Callable[[Any], str]
