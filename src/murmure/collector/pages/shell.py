"""The frame of every page of the collector: head, language switch, main part and footer (templates/shell.html)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from murmure.collector.pages.static_files import address, imported_modules
from murmure.show.html import from_template
from murmure.show.language import LanguageCode, french_spaces

FOLDER = Path(__file__).parent / "templates"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def collector_page(
    template: str, lang: LanguageCode, *, script: str | None = None, more_modules: Sequence[str] = (), **context: Any
) -> str:
    """A page from a template that extends shell.html.

    script: the module that runs the page ("answer.js"). more_modules: those that it imports only on some pages.
    """
    roots = [f"static/{script}"] if script else []
    modules = [address(path) for path in imported_modules(*roots, *more_modules)]
    return str(
        from_template(
            FOLDER,
            template,
            lang,
            address=address,
            script=address(roots[0]) if roots else None,
            modules=modules,
            data_block=data_block,
            **context,
        )
    )


def data_block(value: object) -> Any:
    """JSON for a <script type="application/json">: nothing in it can end the element."""
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def text_in(texts: Mapping[str, str] | None, lang: LanguageCode) -> tuple[str, str]:
    """A text of a survey in this language or, where it has none, in another, and which one that is."""
    texts = {code: text for code, text in (texts or {}).items() if text}
    code = lang if lang in texts else next(iter(texts), lang)
    text = texts.get(code, "")
    return french_spaces(text) if code == "fr" else text, code
