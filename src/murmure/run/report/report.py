"""A release as one self-contained HTML page: figures with their intervals, and what they cost the people in them.

No script, nothing from outside, French and English, light or dark, on paper too (see show/html_parts.py).
"""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

from murmure import __version__
from murmure.core.errors import CannotWrite, InvalidParameter, Phrase, shorten
from murmure.core.estimates.estimate import check_level, check_target
from murmure.core.files import all_or_nothing, refuse_to_replace
from murmure.core.types import Release, Target
from murmure.run.report.consistent_section import consistent_section
from murmure.run.report.cost_section import cost_section
from murmure.run.report.curator_sections import curated_head, curated_question
from murmure.run.report.figures_section import figures_section
from murmure.run.report.guarantee_section import guarantee_section
from murmure.run.report.html_parts import WIDE, Language, document, is_murmure_page
from murmure.run.report.question_section import question_section, report_head
from murmure.run.report.report_content import ReportContent

PAGE_SUFFIXES = (".html", ".htm")


def write_report(
    release: Release,
    path: str | os.PathLike[str],
    truth: Any = None,
    level: float = 0.95,
    target: Target = "fixed",
    receipt: Any = None,
    plan: Any = None,
    simultaneous: bool = False,
    weights: str | None = None,
    ledger: Any = None,
) -> Path:
    """The finished page at `path`, or nothing. See `report_html`.

    The name ends in .html or .htm. An earlier page that Murmure wrote is replaced; any other file is refused.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import murmure as mu
    >>> domain = mu.Categories(["no", "yes"])
    >>> plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon=1.0))
    >>> release = mu.run(plan, ["no"] * 1500 + ["yes"] * 500, rng=mu.Random.seeded(7))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = mu.write_report(release, Path(folder) / "report.html", plan=plan)
    ...     print(page.name, "<script" in page.read_text())
    report.html False
    """
    path = Path(path)
    check_page_path(path)
    text = report_html(release, truth, level, target, receipt, plan, simultaneous, weights, ledger)
    with all_or_nothing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def check_page_path(path: Path) -> None:
    """Refuse a name that no page has, and a file that is something else."""
    if path.suffix.lower() not in PAGE_SUFFIXES:
        raise CannotWrite(
            "the name of a page must end in {page_suffixes}, got {got!r}.",
            hint="name the file report.html",
            page_suffixes=" or ".join(PAGE_SUFFIXES),
            got=path.name,
        )
    refuse_to_replace(path, is_murmure_page, Phrase("a page that Murmure wrote"))


def report_html(
    release: Release,
    truth: Any = None,
    level: float = 0.95,
    target: Target = "fixed",
    receipt: Any = None,
    plan: Any = None,
    simultaneous: bool = False,
    weights: str | None = None,
    ledger: Any = None,
) -> str:
    """The page of a release of one question, or of many columns.

    truth: the true shares or means (by column, where there are several), when people are simulated; the page says so.
    target: whom the intervals speak of. receipt: what `sanitise` returned: rows dropped, and the plan; plan: the plan
    alone, where there is no receipt. With either, the page names each column's protocol and what one person is.
    simultaneous: all intervals of the page hold at once, with the probability `level`. weights: the column that says
    how much each person counts, where the plan does not name it.

    Of noise at the curator: with `plan` the page says what one person can change at most; with `ledger`, the account
    that paid, which charge it was and what is left.
    """
    if not isinstance(release, Release):
        raise InvalidParameter(
            "a report needs a Release, got {got}.",
            hint="run(plan, frame) and estimate(table) return one",
            got=shorten(type(release).__name__),
        )
    check_level(level)
    check_target(target)
    content = ReportContent(release, truth, float(level), target, receipt, plan, simultaneous, weights, ledger)
    title = f"Murmure: {content.title(Language('en'))}"
    return document(title, {lang: report_sections(content, Language(lang)) for lang in ("en", "fr")})


# The sections of a report, in order: of noise at the curator, and of answers that people randomised.
CURATED = (curated_head, curated_question, figures_section, cost_section)
RANDOMISED = (report_head, question_section, figures_section, guarantee_section)


def report_sections(content: ReportContent, w: Language) -> str:
    sections = (*(CURATED if content.curated else RANDOMISED), consistent_section, report_footer)
    return "\n".join(section(content, w) for section in sections)


def report_footer(content: ReportContent, w: Language) -> str:
    plan = f"<code>{html.escape(content.digest)}</code>"
    alone = w(
        "This page is one file, without script, and asks nothing of the network.",
        "Cette page est un seul fichier, sans script, et ne demande rien au réseau.",
    )
    return f"<footer>Murmure {__version__}. Plan{w('', WIDE)}: {plan}. {alone}</footer>"
