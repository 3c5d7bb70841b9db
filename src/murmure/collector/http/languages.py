"""Which of the two languages a request is answered in: by ?lang=, the last choice, or the browser."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from murmure.collector.http.bodies import Scope, header
from murmure.show.language import LanguageCode, preferred_language

LANGUAGE_COOKIE = "murmure_language"
CHOSEN = re.compile(rb"(?:^|; )murmure_language=([a-z]{2})(?:;|$)")


def language_of_scope(scope: Scope) -> LanguageCode:
    asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("lang", [None])[0]
    accepted = (header(scope, b"accept-language") or b"").decode("latin-1")
    if chosen := CHOSEN.search(header(scope, b"cookie") or b""):
        accepted = f"{chosen[1].decode()},{accepted}"
    return preferred_language(asked, accepted)
