"""What a guarantee assumes to be public knowledge; column by column where the plan is known."""

from __future__ import annotations

import html
import re
from typing import Any

from murmure.core.domain import Decimals, Integers, Interval
from murmure.core.schema import Schema
from murmure.core.types import Certificate
from murmure.run.report.html_parts import NARROW, WIDE, Language
from murmure.run.report.report_content import ReportContent


def public_facts(content: ReportContent, c: Certificate, w: Language) -> str:
    # The first public fact of a certificate is the domain. Where the plan is known, its columns replace it.
    items = [_public_item(item, w) for item in c.public]
    domain = None if content.plan is None else content.plan.statistic.domain
    if isinstance(domain, Schema) and (content.of_records or content.curated):
        specs = domain.column_specs
        items = [_column_item(name, domain[name], specs[name].public, w) for name in domain.columns] + items[1:]
    elif domain is not None and content.curated:
        items[0] = _column_item(domain.column or w("the question", "la question"), domain, False, w)
    if content.curated:
        # After the columns, and before what the certificate lists besides its domain.
        items.insert(len(items) - len(c.public) + 1, w("the question, and its plan", "la question et son plan"))
    items_html = "".join(f"<li>{item}</li>" for item in items)
    title = w("What was taken for public", "Ce qui a été tenu pour public")
    return f"<details><summary>{title}</summary><ul>{items_html}</ul></details>"


FRENCH_DOMAINS = (  # the sentences of `public()` in core/domain.py, in French
    (r"the (\d+) answers (\d+) to (\d+)", "les {} réponses de {} à {}"),
    (r"the (\d+) answers (.*)", "les {} réponses {}"),
    (r"the whole numbers (-?\d+) to (-?\d+)", "les nombres entiers de {} à {}"),
    (r"the numbers (\S+) to (\S+) in (\d+) cells", "les nombres de {} à {} en {} cases"),
    (r"the numbers (\S+) to (\S+) with at most (\d+) decimals", "les nombres de {} à {} avec au plus {} décimales"),
    (
        r"the numbers (\S+) to (\S+) with at most (\d+) decimals, others rounded to the nearest",
        "les nombres de {} à {} avec au plus {} décimales, les autres arrondis au plus proche",
    ),
)
BETWEEN_DOMAINS = r"; (?=the \d+ answers |the whole numbers |the numbers )"
NUMBER = r"-?[\d.]+(e[+-]?\d+)?"
DOMAIN_TEXT = r"(.*?)(?: of column ['\"](.*)['\"])?(, public and not randomised)?"


def _public_item(item: str, w: Language) -> str:
    """One public fact as HTML. A fact without a French translation stays English, and is marked so."""
    if not w.french:
        return html.escape(item)
    parts = [_in_french(part) for part in re.split(BETWEEN_DOMAINS, item)]
    if not all(parts):
        return w.term(item)
    return f"{WIDE}; ".join(html.escape(part or "") for part in parts)


def _in_french(domain: str) -> str | None:
    match = re.fullmatch(DOMAIN_TEXT, domain, re.DOTALL)
    for english, french in FRENCH_DOMAINS:
        domain_match = match and re.fullmatch(english, match[1], re.DOTALL)
        if match and domain_match:
            parts = [p.replace(".", ",") if re.fullmatch(NUMBER, p) else p for p in domain_match.groups()]
            column = "" if match[2] is None else f" de la colonne «{NARROW}{match[2]}{NARROW}»"
            return french.format(*parts) + column + (", publique, telle quelle" if match[3] else "")
    return None


def _column_item(name: str, domain: Any, is_public: bool, w: Language) -> str:
    if isinstance(domain, Interval):
        low, high, cells = w.plain(domain.low), w.plain(domain.high), w.number(domain.cells, 0)
        text = w(f"numbers from {low} to {high} in {cells} cells", f"nombres de {low} à {high} en {cells} cases")
    elif isinstance(domain, Decimals):
        low, high, places = w.plain(domain.low), w.plain(domain.high), w.number(domain.places, 0)
        text = w(
            f"numbers from {low} to {high} to {places} decimals", f"nombres de {low} à {high} à {places} décimales"
        )
    elif isinstance(domain, Integers):
        low, high = w.number(domain.low, 0), w.number(domain.high, 0)
        text = w(f"whole numbers from {low} to {high}", f"nombres entiers de {low} à {high}")
    else:
        text = w(f"{w.number(domain.size, 0)} possible answers", f"{w.number(domain.size, 0)} réponses possibles")
    if is_public:
        text += w("; public, not randomised", f"{WIDE}; publique, telle quelle")
    return f"<b>{html.escape(name)}</b>{w('', WIDE)}: {text}"
