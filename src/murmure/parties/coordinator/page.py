"""The coordinator's page: who takes part, how far it is, what is asked, what came out, and who learns what.

It is made on the server, without script; while the study runs, the browser reloads it every few seconds. The same
sections are written to a file by `murmure study result --html`. The style is that of the other pages
(show/html_parts.py).
"""

from __future__ import annotations

import base64
import hashlib
import html

from murmure.parties.coordinator.page_sections import section
from murmure.parties.coordinator.page_words import MORE_STYLE
from murmure.parties.coordinator.status_view import StatusView
from murmure.run.report.html_parts import GENERATOR, STYLE, Language, document

REFRESH_SECONDS = 3
STYLE_SHEET = STYLE + MORE_STYLE
# No script, no request to anywhere, and only this style sheet: names of strangers are on the page.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(STYLE_SHEET.encode()).digest()).decode()
    + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def live_page(view: StatusView, language: str) -> str:
    """The page in one language, with links to the other; it reloads itself while the study runs."""
    w = Language(language)
    links = "".join(
        f'<a href="?lang={lang}" lang="{lang}"{" aria-current=page" if lang == language else ""}>{name}</a>'
        for lang, name in (("en", "English"), ("fr", "Français"))
    )
    refresh = f'<meta http-equiv="refresh" content="{REFRESH_SECONDS}">\n' if view.running else ""
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n{GENERATOR}\n{refresh}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(view.study.name)}: Murmure</title>\n<style>{STYLE_SHEET}</style>\n</head>\n<body>\n"
        f"<nav>{links}</nav>\n<main>{section(view, w)}</main>\n</body>\n</html>\n"
    )


def page_file(view: StatusView) -> str:
    """The page as one file with both languages."""
    text = document(f"Murmure: {view.study.name}", {lang: section(view, Language(lang)) for lang in ("en", "fr")})
    return text.replace("</style>", f"{MORE_STYLE}</style>", 1)
