"""An item that was measured, as people look at it: claimed, printed, measured, why they differ."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from murmure.core.errors import MissingExtra, Phrase
from murmure.core.plotting import pyplot
from murmure.lectures.course.found import code_of, item_of
from murmure.lectures.course.item import Item, Measured
from murmure.show.document import Block, Document, Facts, Fold, Image, Links, Listing, Paragraph, Shown
from murmure.show.figures import Figure
from murmure.show.language import LanguageCode

LANGUAGES: tuple[LanguageCode, ...] = ("fr", "en")
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "murmure"}  # small files, the same again from the same figures


@dataclass(frozen=True)
class ItemResult(Shown):
    """One item of a lecture, measured."""

    name: str
    measured: Measured
    invented: tuple[str, ...] = ()  # data sets that were missing: made-up rows stand in for them

    @property
    def item(self) -> Item:
        return item_of(self.name)

    def document(self) -> Document:
        return Document(self.item.title, (*self.words(), *self.measured.blocks), kind="LectureItem")

    def _repr_html_(self) -> str:
        """In a notebook, with its pictures."""
        from murmure.show.html import snippet

        return snippet(Document(self.item.title, self.shown()))

    def words(self) -> tuple[Block, ...]:
        """Where it stands, what is claimed, printed and measured, and why they differ."""
        facts: list[tuple[str, Any]] = [(Phrase("in the lecture"), self.item.where)]
        facts += [(Phrase("claimed"), self.item.claimed)] if self.item.claimed else []
        facts += [(Phrase("printed"), self.item.printed)] if self.item.printed else []
        facts += [(Phrase("measured"), self.measured.found)]
        facts += [(Phrase("why they differ"), self.measured.why)] if self.measured.why else []
        return (*self.warnings(), Facts(tuple(facts)))

    def warnings(self) -> tuple[Block, ...]:
        """That the figures are about nobody, where data were missing."""
        if not self.invented:
            return ()
        names = ", ".join(self.invented)
        text = Phrase(
            "Invented rows stand in for {names}: the figures show that the item runs, and no more.", names=names
        )
        return (Paragraph(text, "warning"),)

    def blocks(self, lab: str | None, folder: str = "") -> tuple[Block, ...]:
        """Everything, for a page of the lecture. lab: the lab's address, if there is one; folder: of the files."""
        code = Fold(Phrase("The code of this item"), (Listing(code_of(self.name)),))
        return (*self.shown(folder), code, self.links(("csv", "json"), lab, folder))

    def shown(self, folder: str = "") -> tuple[Block, ...]:
        """Words, pictures and tables."""
        broken = (Fold(Phrase("Break it"), self.measured.broken),) if self.measured.broken else ()
        return (*self.words(), *self.images(folder), *self.measured.blocks, *broken)

    def links(self, kinds: tuple[str, ...], lab: str | None, folder: str = "") -> Links:
        """The numbers as files, and the lab."""
        links: list[tuple[str, str]] = [
            (Phrase("numbers ({kind})", kind=kind.upper()), f"{folder}{self.file_stem}.{kind}") for kind in kinds
        ]
        links += [(Phrase("move it in the lab"), f"{lab}#{self.item.lab}")] if lab and self.item.lab else []
        return Links(tuple(links))

    def images(self, folder: str = "") -> tuple[Block, ...]:
        """The figures, drawn in both languages; a sentence where nothing can draw them."""
        try:
            pyplot()
        except MissingExtra as error:
            # Without the hint, which names a place on this machine: pages are handed on.
            left_out = Phrase("The pictures are left out: {why}", why=error.message)
            return (Paragraph(left_out, "note"),) if self.measured.figures else ()
        out = []
        for number, figure in enumerate(self.measured.figures):
            files = tuple((lang, folder + self.picture_file(number, lang, "svg")) for lang in LANGUAGES)
            drawn = tuple((lang, self.pictures[number, lang]["svg"].decode()) for lang in LANGUAGES)
            out.append(Image(figure.title or self.item.title, files, drawn))
        return tuple(out)

    @cached_property
    def pictures(self) -> dict[tuple[int, LanguageCode], dict[str, bytes]]:
        """Every figure in every language, as files; drawn once, since drawing takes longer than measuring."""
        numbered = enumerate(self.measured.figures)
        return {(number, lang): picture_files(figure, lang) for number, figure in numbered for lang in LANGUAGES}

    @property
    def file_stem(self) -> str:
        return self.name.partition("/")[2]

    def picture_file(self, number: int, lang: LanguageCode, kind: str) -> str:
        return f"{self.file_stem}{f'-{number + 1}' if number else ''}.{lang}.{kind}"

    def plot(self, number: int = 0, lang: LanguageCode | None = None) -> Any:
        """Draw a figure of the item with matplotlib; returns matplotlib's figure."""
        from murmure.show.plot import picture

        return picture(pyplot(), self.measured.figures[number], lang)


def without_pictures(error: MissingExtra) -> Phrase:
    return Phrase("The pictures are left out: {why} To draw them, {hint}.", why=error.message, hint=error.hint)


def picture_files(figure: Figure, lang: LanguageCode, kinds: tuple[str, ...] = ("svg", "png")) -> dict[str, bytes]:
    """A figure as files, by their kind: the same bytes from the same figure."""
    from murmure.show.plot import picture

    plt, files = pyplot(), {kind: io.BytesIO() for kind in kinds}
    with plt.rc_context(STYLE):
        drawn = picture(plt, figure, lang)
        try:
            for kind, file in files.items():
                metadata = {"Date": None} if kind == "svg" else {"Software": None}
                drawn.savefig(file, format=kind, dpi=150, metadata=metadata)
        finally:
            plt.close(drawn)
    return {kind: file.getvalue() for kind, file in files.items()}
