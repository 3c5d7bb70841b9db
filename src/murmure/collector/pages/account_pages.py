"""Signing in, and making the first account of a collector."""

from __future__ import annotations

from murmure.collector.pages.analyst_words import REQUESTS, words_in
from murmure.collector.pages.shell import collector_page
from murmure.collector.service.analysts import MIN_PASSWORD
from murmure.show.language import LanguageCode
from murmure.show.phrase import Code

SCRIPT = "account.js"
ADD_ANALYST = "murmure serve analyst add"


def sign_in_page(lang: LanguageCode, csrf: str | None = None, next: str = "/") -> str:
    """next: the page of this collector to which somebody who signed in goes on."""
    # An address that leads elsewhere (//host, https:...) would lend our name to another site.
    place = next if next.startswith("/") and not next.startswith(("//", "/\\")) else "/"
    data = {"csrf": csrf, "next": place, "send": "/api/session", "words": words_in(lang, REQUESTS)}
    return collector_page("sign_in.html", lang, script=SCRIPT, page_data=data, command=Code(ADD_ANALYST))


def first_account_page(lang: LanguageCode, setup: str) -> str:
    """setup: the token of the set-up link, which the command `murmure serve` prints."""
    data = {"setup": setup, "next": "/", "send": "/api/first-analyst", "words": words_in(lang, REQUESTS)}
    return collector_page("first_account.html", lang, script=SCRIPT, page_data=data, least=MIN_PASSWORD)
