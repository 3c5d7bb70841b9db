"""The coordinator's page: who takes part, how far it is, what is asked, what came out, and who learns what.

Made on the server, without script; while the study runs, the browser asks again every few seconds. The same sections
stand alone as a file (`murmure study result --html`). Looks like the other pages (show/html_parts.py).
"""

from __future__ import annotations

import base64
import hashlib
import html

from murmure.parties.coordinator.page_sections import section
from murmure.parties.coordinator.page_words import MORE_STYLE
from murmure.parties.coordinator.status_view import StatusView
from murmure.show.html_parts import GENERATOR, STYLE, Language, document

REFRESH = 3  # seconds
SHEET = STYLE + MORE_STYLE
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(SHEET.encode()).digest()).decode()
    + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def live_page(seen: StatusView, language: str) -> str:
    """In one language, with links to the other; asks again by itself while the study runs."""
    w = Language(language)
    links = "".join(
        f'<a href="?lang={lang}" lang="{lang}"{" aria-current=page" if lang == language else ""}>{name}</a>'
        for lang, name in (("en", "English"), ("fr", "Français"))
    )
    again = f'<meta http-equiv="refresh" content="{REFRESH}">\n' if seen.running else ""
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n{GENERATOR}\n{again}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(seen.study.name)}: Murmure</title>\n<style>{SHEET}</style>\n</head>\n<body>\n"
        f"<nav>{links}</nav>\n<main>{section(seen, w)}</main>\n</body>\n</html>\n"
    )


def page_file(seen: StatusView) -> str:
    """One file with both languages."""
    text = document(f"Murmure: {seen.study.name}", {lang: section(seen, Language(lang)) for lang in ("en", "fr")})
    return text.replace("</style>", f"{MORE_STYLE}</style>", 1)
