"""Reads pages of reports: well-formed, no script, and their text by language."""

from __future__ import annotations

import html.parser
import re
from typing import Any

from murmure.run.report.report import report_document
from murmure.show.html import page
from murmure.show.language import catalogue
from murmure.show.phrase import Phrase, Several

EMPTY = frozenset({"meta", "input", "br", "circle", "rect", "line", "path"})


def report_html(*release: Any, **known: Any) -> str:
    return page(report_document(*release, **known))


class Reading(html.parser.HTMLParser):
    """Nesting is checked, text is kept by language, and every element is known."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, str | None]] = []
        self.text: dict[str, str] = {"en": "", "fr": ""}
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in EMPTY:
            self.open.append((tag, dict(attrs).get("lang")))

    def handle_endtag(self, tag: str) -> None:
        if tag not in EMPTY:
            assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        article = next((lang for tag, lang in self.open if tag == "article"), None)
        if article:
            self.text[article] += data + " "


def read(text: str) -> Reading:
    reading = Reading()
    reading.feed(text)
    reading.close()
    assert reading.open == []
    return reading


def untranslated(text: Any) -> list[str]:
    """The templates in a phrase that French lacks; a text that is no phrase stays English as a whole."""
    if isinstance(text, Several):
        return [template for item in text.items for template in untranslated(item)]
    if not isinstance(text, Phrase):
        return [text] if isinstance(text, str) else []
    words = re.search("[A-Za-z]{2}", re.sub(r"\{.*?\}", "", text.template))
    own = [text.template] if words and not catalogue("fr").has(text.template) else []
    inner = (value for value in text.fields.values() if isinstance(value, Phrase | Several))
    return own + [template for value in inner for template in untranslated(value)]


def flat(text: str) -> str:
    return " ".join(text.replace("\u202f", " ").replace("\u00a0", " ").split())
