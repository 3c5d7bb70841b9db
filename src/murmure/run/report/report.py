"""A release as one self-contained page: figures with their intervals, and what they cost the people in them.

No script, nothing from outside, French and English, light or dark, on paper too (show/html.py).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from murmure import __version__
from murmure.core.errors import CannotWrite, InvalidParameter, Phrase, shorten
from murmure.core.estimates.estimate import check_level, check_target
from murmure.core.files import all_or_nothing, refuse_to_replace
from murmure.core.types import Release, Target
from murmure.run.report.consistent_section import consistent_section
from murmure.run.report.figures_section import figures_section
from murmure.run.report.guarantee_section import cost_section, guarantee_section
from murmure.run.report.question_section import head, question_section
from murmure.run.report.report_content import ReportContent
from murmure.show.document import Document, Heading
from murmure.show.html import is_murmure_page, page
from murmure.show.language import LanguageCode
from murmure.show.phrase import Code, Several

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
    *,
    title: str | None = None,
    question: str | None = None,
    author: str | None = None,
    lang: LanguageCode | None = None,
) -> Path:
    """The finished page at `path`, or nothing.

    The name ends in .html or .htm. An earlier page that Murmure wrote is replaced; any other file is refused.
    title, question, author: your own words at its head. lang: the language that is shown first; the page has both.
    The other parameters are those of `report_document`.

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
    document = report_document(release, truth, level, target, receipt, plan, simultaneous, weights, ledger)
    text = page(document, Heading(title, question, author), lang)
    with all_or_nothing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def check_page_path(path: Path) -> None:
    """Refuse a name that no page has, and a file that is something else."""
    if path.suffix.lower() not in PAGE_SUFFIXES:
        raise CannotWrite(
            "the name of a page must end in {page_suffixes}, got {got!r}.",
            hint="name the file report.html",
            page_suffixes=Several(PAGE_SUFFIXES, Phrase(" or ")),
            got=path.name,
        )
    refuse_to_replace(path, is_murmure_page, Phrase("a page that Murmure wrote"))


def report_document(
    release: Release,
    truth: Any = None,
    level: float = 0.95,
    target: Target = "fixed",
    receipt: Any = None,
    plan: Any = None,
    simultaneous: bool = False,
    weights: str | None = None,
    ledger: Any = None,
) -> Document:
    """What the page of a release of one question, or of many columns, says.

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
    protected = cost_section if content.curated else guarantee_section
    sections = [question_section(content), figures_section(content), protected(content), *consistent_section(content)]
    footer = Phrase("Murmure {version}. Plan: {plan}.", version=__version__, plan=Code(content.digest))
    return Document(content.title, (*head(content), *sections), "Report", footer)
