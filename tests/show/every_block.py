"""One document with every kind of block, around texts that somebody may have chosen to do harm."""

from __future__ import annotations

from typing import get_args

from murmure.show.document import (
    Block,
    Branch,
    Curve,
    Curves,
    Document,
    Facts,
    Flow,
    Fold,
    Hundred,
    Image,
    IntervalRow,
    Intervals,
    Items,
    Links,
    Listing,
    Number,
    Paragraph,
    Progress,
    Section,
    Table,
    TallySheet,
    Ticks,
    Tree,
)
from murmure.show.phrase import Code, Phrase, Quoted, Strong

HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</style></title><b>",
    "\u202egnorw\u202c\u2066",
    "\\input{/etc/passwd} $x$ %& #_^~",
    "\x1b[31mred\x1b[0m\x07",
    "{name} {0} %s {{",
    "a\nb\tc",
)


SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'


def document(text: str = "label") -> Document:
    rows = (IntervalRow(text, 0.25, 0.2, 0.3, truth=0.24, count=250), IntervalRow(f"{text} 2", float("nan"), 0.1, 0.4))
    table = Table(text, (text, Phrase("count")), ((text, 3), (Phrase("no"), Number(0.5, "share"))), bars=1, best=0)
    curve = Curve(text, (0.0, 1.0, 2.0), (1.0, 0.6, 0.2), True, (0.9, 0.5, 0.1), (1.0, 0.7, 0.3))
    blocks: tuple[Block, ...] = (
        Paragraph(Phrase("{a}, {b} and {c}", a=Strong(text), b=Code(text), c=Quoted(text)), "warning"),
        Facts(((Phrase("rows"), 1600), (text, text), ("", None), (Phrase("delta"), Number(1e-6, "small")))),
        Items((text, (Phrase("no"), (text,)))),
        table,
        Table(text, (text, text), ((text, text),), words=True),
        Intervals(text, rows, label=text, truth=text),
        Intervals("", (IntervalRow(text, -1.5, -2.0, -1.0),), "value", zero=True),
        Intervals("", (IntervalRow(text, 30.0, 20.0, 40.0), IntervalRow("b", 70.0, 60.0, 80.0)), "count"),
        Curves(text, (curve, curve), text, text, table, diagonal=True),
        Flow(((text, text, text), (text, text, text))),
        Hundred(75, text),
        Ticks(((text, True), ("b", False))),
        Items((text, (Phrase("no"), (text,))), numbered=True),
        TallySheet((text, "b"), 7),
        Tree(text, text, (Branch("1/2", text, leaf="1/2"), Branch("1/2", text, (Branch("1", text, leaf=text),)))),
        Progress(((text, 1, 2, "now"), (text, 0, 0, "later"))),
        Listing(text),
        Image(text, (("en", "law.en.svg"), ("fr", "law.fr.svg")), (("en", SVG), ("fr", SVG))),
        Links(((text, "numbers.csv"),)),
        Fold(text, (Paragraph(text),)),
    )
    return Document(text, (*blocks, Section(text, blocks)), footer=text)


def test_every_kind_is_in_it() -> None:
    assert {type(block) for block in document().walk()} == set(get_args(Block))
