"""A page that says one thing: what was refused, and a way out."""

from __future__ import annotations

from murmure.collector.pages.shell import collector_page
from murmure.show.language import LanguageCode


def message_page(lang: LanguageCode, title: str, message: str, hint: str | None) -> str:
    return collector_page("message.html", lang, title=title, message=message, hint=hint)
