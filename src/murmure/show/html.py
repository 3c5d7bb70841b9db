"""Documents as HTML: whole pages (both languages in one file, no script, nothing from outside) and parts of notebooks.

Templates escape everything that is not theirs. A page allows only its own style sheet, by its digest.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache, partial
from pathlib import Path
from typing import Any

from murmure.show import cells, chart
from murmure.show.document import Document, Heading, Image, Intervals, Table
from murmure.show.formulas import mathml
from murmure.show.language import MINUS, NAMES, Language, LanguageCode, current_language
from murmure.show.phrase import Code, Formula, Marked, Phrase, visible

FOLDER = Path(__file__).parent / "templates"
GENERATOR = '<meta name="generator" content="Murmure">'  # marks a page as written by Murmure
LANGUAGES: tuple[LanguageCode, ...] = ("en", "fr")

SENTENCE = 40  # letters; a longer fact is one


@cache
def style_sheet() -> str:
    return (FOLDER / "style.css").read_text(encoding="utf-8")


@cache
def content_security_policy(framed: bool = False, images: bool = False) -> str:
    """No script, no request to anywhere, and only this style sheet: names of strangers are on the page.

    framed: also no frame around it, which a browser takes from a header alone. images: those inside the page itself.
    """
    policy = policy_of(style_sheet(), images=images)
    return f"{policy}; frame-ancestors 'none'" if framed else policy


def policy_of(style: str, script: str = "", images: bool = False) -> str:
    """A policy that allows this style sheet, and this script where there is one, by their digests."""
    policy = f"default-src 'none'; style-src {_digest(style)}; base-uri 'none'; form-action 'none'"
    policy += f"; script-src {_digest(script)}" if script else ""
    return policy + ("; img-src data:" if images else "")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _environment(*folders: Path) -> Any:
    """folders: templates of others, which may use ours."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, FOLDER]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.lstrip_blocks = True
    return environment


def html_language(code: LanguageCode) -> Language:
    """A language whose sentences are safe HTML: everything in them is escaped, and values may be marked."""
    from markupsafe import Markup, escape

    def safe(text: str) -> str:
        return escape(visible(text))

    def mark(value: Marked, inner: str) -> str:
        if isinstance(value, Formula):
            return mathml(str(value), value.display)
        tag = "code" if isinstance(value, Code) else "b"
        return f"<{tag}>{inner}</{tag}>"

    language = Language(code, safe, mark)
    language.minus, language.powers = MINUS, True
    say = language.say
    language.say = lambda text, /, **fields: Markup(say(text, **fields))  # type: ignore[method-assign]
    return language


def _context(code: LanguageCode) -> dict[str, Any]:
    language = html_language(code)
    return {
        "lang": code,
        "language": language,
        "say": language.say,
        "phrase": Phrase,
        "cell": partial(_cell, language),
        "body": lambda table: [[_markup(text) for text in row] for row in cells.body(table, language)],
        "figures": lambda block: figures(block, language),
        "plane": chart.plane_of,
        "chart": chart,
        "kind": lambda block: type(block).__name__.lower(),
        "nested": lambda item: (item, ()) if isinstance(item, str) else item,
        # whole sentences do not fit the narrow columns of figures
        "sentences": lambda facts: any(isinstance(value, str) and len(value) > SENTENCE for _, value in facts.items),
        "share_of_largest": share_of_largest,
        "embedded": lambda image: _data_address(dict(image.drawn)[code]),
    }


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # a cell was escaped by its language


def _data_address(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _cell(language: Language, value: Any, head: str = "") -> Any:
    return _markup(cells.cell(value, language, head))


def share_of_largest(table: Table, column: int) -> list[float]:
    """The bars of a column of numbers, in per cent of the largest."""
    values = [float(getattr(row[column], "value", row[column]) or 0.0) for row in table.rows]
    return [round(100 * value / max([*values, 1e-300]), 2) for value in values]


def figures(block: Intervals, language: Language) -> dict[str, Any]:
    """What a template needs to draw figures and to write their table."""
    scale, digits, percent = chart.scale_of(block), cells.interval_digits(block), block.unit == "share"
    has_truth = any(row.truth is not None for row in block.rows)
    long = any(len(row.label) > 14 for row in block.rows)
    taken = 0.11 * long + 0.1 * has_truth + 0.14 * (block.names is not None)
    room = min(chart.TABLE_WIDTH * (0.49 - taken), chart.PHONE_WIDTH)

    def written(value: float, unit: bool = True) -> str:
        if block.names is not None:
            return str(block.named(value))
        text = language.number(100 * value if percent else value, digits)
        return text + (language.marks("%") if unit and percent else "")

    rows, marks = [], chart.marks_of(block, scale)
    for row, mark in zip(block.rows, marks, strict=True):
        known = row.estimate == row.estimate
        span = None
        if row.low is not None and row.high is not None:
            span = language.say(Phrase("{low} to {high}", low=written(row.low, False), high=written(row.high)))
        rows.append(
            {
                "label": language.say(row.label),
                "estimate": written(row.estimate) if known else language.say(cells.TOO_NOISY),
                "span": span,
                "truth": None if row.truth is None else written(row.truth),
                "count": None if row.count is None else language.number(row.count),
                "mark": mark,
            }
        )
    percent_text = language.marks(f"{cells.level_percent(block.level)}%")
    return {
        "rows": rows,
        "long": long,
        "truth": has_truth,
        "bars": any(row.low is not None for row in block.rows),
        "labels": scale.labels(language, room),
        "grid": [scale.at(tick) for tick in scale.ticks],
        "zero": scale.at(0.0) if block.zero else None,
        "level": percent_text,
        "each": block.each and language.marks(f"{cells.level_percent(block.each)}%"),
        "cut": any(any(mark.beyond) for mark in marks),
    }


def page(document: Document, heading: Heading | None = None, lang: LanguageCode | None = None) -> str:
    """A page in one file, with both languages; `lang` is the one that is shown first."""
    first = lang or current_language()
    parts = {code: _part("document.html", document, code, heading) for code in LANGUAGES}
    return _shell("file.html", document, first, heading, parts=parts)


def live_page(document: Document, lang: LanguageCode, running: bool = False, refresh: int | None = None) -> str:
    """A page in one language from a server, with a link to the other.

    running: it will change, so it offers to reload itself. It does so only for readers who ask (refresh: seconds),
    since a page that reloads takes people who read with a screen reader back to its start.
    """
    part = _part("document.html", document, lang, None, live=True)
    return _shell("live.html", document, lang, None, part=part, running=running, refresh=refresh)


def snippet(document: Document, lang: LanguageCode | None = None) -> str:
    """For notebooks: the same tables and pictures, with a style sheet of their own that touches nothing else."""
    return "".join(_part("snippet.html", document, lang or current_language(), None))


def _shell(template: str, document: Document, lang: LanguageCode, heading: Heading | None, **more: Any) -> str:
    title = Language(lang, visible).say((heading and heading.title) or document.title)
    return str(
        _environment()
        .get_template(template)
        .render(
            **_context(lang),
            title=title,
            style=_markup(style_sheet()),
            policy=content_security_policy(images=bool(document.of(Image))),
            names=NAMES,
            generator=_markup(GENERATOR),
            **more,
        )
    )


def _part(template: str, document: Document, code: LanguageCode, heading: Heading | None, live: bool = False) -> Any:
    context = {**_context(code), "document": document, "heading": heading, "live": live}
    return _markup(_environment().get_template(template).render(**context))


def from_template(folder: Path, template: str, code: LanguageCode, **more: Any) -> Any:
    """HTML from a template in another folder, which is given what ours are given: `say`, `names`, blocks.html, ..."""
    context = {**_context(code), "names": NAMES, "generator": _markup(GENERATOR), **more}
    return _markup(_environment(folder).get_template(template).render(**context))


def is_murmure_page(start: bytes) -> bool:
    """Whether a file that starts so was written by Murmure, and may be replaced."""
    return start.lower().startswith(b"<!doctype html>") and b'name="generator" content="murmure"' in start.lower()
