"""What stands below the figures of a survey: how they will shrink, what forged reports could do, what is guaranteed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from murmure.collector.service.answer_labels import with_labels
from murmure.collector.service.short_numbers import bound, short
from murmure.collector.survey.question import Question
from murmure.core.errors import Phrase, Plural
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.estimates.margins import margin_of
from murmure.core.types import Release
from murmure.plan.plan import Plan
from murmure.run.report.guarantee_section import guarantee_section
from murmure.run.report.report_content import ReportContent
from murmure.show.document import Block, Fold, Paragraph, Section, Table

SHRINK_FACTORS = (2, 4, 10)  # times as many answers as now
FORGED_SHARES = (0.01, 0.05)  # of the reports
UNFOLDED = 10  # rows of a table; those beyond are folded
NO_MARGIN = 0.5  # of the whole: such an interval reaches from one end to the other


def shrinking_section(questions: Sequence[Question], release: Release) -> Section:
    """Intervals shrink with the square root of the number of answers. The present ones stand above, and may be wider:
    the exact ones of few answers are."""
    n = release.estimate.n
    heads = tuple(Plural("{n:,} answer", "{n:,} answers", n=n * factor) for factor in SHRINK_FACTORS)
    rows = tuple(
        (question.text.phrase, *(_margin(question, half / math.sqrt(factor)) for factor in SHRINK_FACTORS))
        for question, half in expected_margins(questions, release).items()
    )
    about = Phrase(
        "About half the width of the 95% interval of the worst figure of each question, with more answers like these. "
        "Four times as many answers make it half as wide."
    )
    return Section(
        Phrase("How the intervals will shrink"),
        (*_folded((Phrase("question"), *heads), rows), Paragraph(about, "note")),
    )


def expected_margins(questions: Sequence[Question], release: Release) -> dict[Question, float]:
    """By question: half the width of an interval with the estimated variance, which nothing clips at 0 and 100%."""
    shown = release.estimate
    if not isinstance(shown, Estimates):
        return {questions[0]: _half(shown)}
    means, out = shown.means.by_column, {}
    for question in questions:
        estimate = means.get(question.name) if question.by_mean else None
        estimate = shown[question.name] if estimate is None and question.name in shown else estimate
        if estimate is not None and estimate.estimator is not None:
            out[question] = _half(estimate)
    return out


def _half(estimate: Any) -> float:
    return margin_of(float(estimate.variance().max()))


def forged_section(questions: Sequence[Question], plan: Plan, n: int, registered: int | None) -> Section:
    """How far forged reports could have moved the figures: the largest bias, read off the law.

    registered: how many tokens got public coins; None where there are none.
    """
    leverage = plan.leverage()
    counts = sorted({1, *(max(1, math.ceil(share * n)) for share in FORGED_SHARES)})
    heads = tuple(Phrase("{n:,} forged", n=count) for count in counts)
    rows = []
    for question in questions:
        one = leverage.get(question.name, leverage.get(""))
        if one is None or one.reason is not None:
            continue
        width = question.high - question.low if question.by_mean else 1.0
        moved = (_margin(question, one.bias * width * count / n, width) for count in counts)
        rows.append((question.text.phrase, Phrase("{n} people", n=bound(one.largest, 3)), *moved))
    about = Phrase(
        "If this many reports are forged, a figure moves by at most this much. A careful forger cannot be told from "
        "an honest person; the tests for forgeries find only careless ones."
    )
    head = (Phrase("question"), Phrase("one report counts for up to"), *heads)
    notes = [Paragraph(about, "note")] + ([] if registered is None else [Paragraph(_coins_used(registered, n), "note")])
    return Section(Phrase("What forged answers could do"), (*_folded(head, tuple(rows)), *notes))


def _coins_used(registered: int, n: int) -> Phrase:
    """Somebody who asks for coins again and again, and keeps those that suit them, is seen here."""
    return Phrase(
        "Public coins were given out {registered:,} times, for {n:,} reports. A forger who asks for coins more often "
        "than they send reports can keep those that suit them. The bounds above hold whatever the coins are.",
        registered=max(registered, n),
        n=n,
    )


def _folded(head: tuple[str, ...], rows: tuple[tuple[Any, ...], ...]) -> tuple[Block, ...]:
    """A table whose cells may break; of many rows, the first are shown."""
    shown = Table("", head, rows[:UNFOLDED], words=True)
    if len(rows) <= UNFOLDED:
        return (shown,)
    rest = Table("", head, rows[UNFOLDED:], words=True)
    return shown, Fold(Phrase("{n:,} more questions", n=len(rows) - UNFOLDED), (rest,))


def _margin(question: Question, half: float, most: float | None = None) -> Phrase:
    """most: a figure cannot move further, and what is said is a bound."""
    rounded = short if most is None else bound
    half = half if most is None else min(half, most)
    width = question.high - question.low if question.by_mean else 1.0
    if most is None and half >= NO_MARGIN * width:
        return Phrase("says nothing yet")
    if question.by_mean and question.unit:
        return Phrase("± {half} {unit}", half=rounded(half), unit=question.unit.phrase)
    if question.by_mean:
        return Phrase("± {half}", half=rounded(half))
    return Phrase("± {points} points", points=rounded(100 * half))


# -- what is guaranteed


def guarantee_of_survey(
    content: ReportContent, questions: Sequence[Question], waves: int, epsilon_total: float
) -> Section:
    """The certificates of the ordinary report, and what they mean for somebody who answers a survey."""
    certificates, *_, public = guarantee_section(content).blocks
    assert isinstance(certificates, Table)
    rows = tuple(tuple(with_labels(cell, questions) for cell in row) for row in certificates.rows)
    certificates = replace(certificates, rows=rows)
    texts = [Phrase("Each epsilon is computed from the integers of the plan, and rounded up; delta is 0.")]
    if waves > 1:
        texts.append(
            Phrase(
                "That is one report. The reports of all {n} waves together: epsilon = {epsilon:.6g}, so the odds move "
                "by a factor of {odds} at most, as long as a person’s answer stays the same.",
                n=waves,
                epsilon=epsilon_total,
                odds=odds_text(epsilon_total),
            )
        )
    texts.append(
        Phrase(
            "It holds against everybody who sees a report, this collector included, if the device drew the report as "
            "the plan says."
        )
    )
    texts.append(
        Phrase(
            "A person who answers again, from another device, with another link or in another survey about the same "
            "thing, adds the epsilon of that report."
        )
    )
    return Section(Phrase("What is guaranteed"), (certificates, *map(Paragraph, texts), public))


def odds_text(epsilon: float) -> Phrase:
    """e^epsilon to three digits, rounded up: "at most" must be true."""
    odds = math.exp(epsilon)
    digits = max(0, 2 - math.floor(math.log10(odds)))
    up = math.ceil(odds * 10**digits - 1e-9) / 10**digits
    return Phrase("{odds:,.2f}" if digits >= 2 else "{odds:,.1f}" if digits == 1 else "{odds:,.0f}", odds=up)
