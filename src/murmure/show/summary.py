"""A document as text that is also a table in a notebook: what `summary()` returns."""

from __future__ import annotations

from typing import Any

from murmure.show.document import Document
from murmure.show.text import text


class Summary(str):
    """A text. At the end of a notebook's cell it shows as tables, and not as one line with \\n in it."""

    document: Document
    lang: Any

    def __new__(cls, document: Document, lang: Any = None) -> Summary:
        summary = super().__new__(cls, text(document, lang))
        summary.document, summary.lang = document, lang
        return summary

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from murmure.show.html import snippet

        return snippet(self.document, self.lang)

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)
