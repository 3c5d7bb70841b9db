"""What the reports of a survey say: figures with intervals, how they will shrink, what forged answers could do.

Everything is computed from the tally alone, so it takes as long for a million reports as for ten.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from murmure import __version__
from murmure.certify.certificate import certify
from murmure.collector.service.surveys import STATE_NAMES, SurveyRecord
from murmure.collector.survey.question import NO_YES_LABELS, Question
from murmure.core.errors import Phrase
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.types import Release, Total
from murmure.local.rappor import RAPPOR
from murmure.plan.plan import Plan
from murmure.run.outside_reports import mark_outside
from murmure.run.report.figures_section import figures_section
from murmure.run.report.guarantee_section import guarantee_section
from murmure.run.report.report_content import ReportContent
from murmure.show.document import (
    Block,
    Document,
    Facts,
    Fold,
    Intervals,
    Number,
    Paragraph,
    Section,
    Shown,
    Table,
)
from murmure.show.phrase import Code

LEVEL = 0.95
SHRINK_FACTORS = (1, 2, 4, 10)  # times as many answers as now
FORGED = (0.01, 0.05)  # of the reports


@dataclass(frozen=True)
class SurveyResults(Shown):
    """The results of one wave. total: None while nobody has answered. registered: how many tokens an open link gave
    public coins to; None where it gives none."""

    record: SurveyRecord
    plan: Plan
    wave: int
    total: Total | None
    registered: int | None = None

    @property
    def n(self) -> int:
        return 0 if self.total is None else self.total.n

    @cached_property
    def release(self) -> Release | None:
        """As `murmure estimate` gives it for the export of the same reports."""
        return None if self.total is None else mark_outside(self.plan.settle(self.total))

    def to_json(self, level: float = LEVEL) -> dict[str, Any]:
        release = self.release
        return {
            "id": self.record.id,
            "state": self.record.state,
            "wave": self.wave,
            "waves": self.record.survey.waves,
            "people": self.n,
            "registered": self.registered,
            "plan": self.plan.digest,
            "release": None if release is None else json.loads(release.to_json(level)),
        }

    @cached_property
    def epsilon_total(self) -> float:
        """What all reports of one device tell, at most: of the integers, rounded up."""
        person = self.plan.person
        return certify(person.for_ever if isinstance(person, RAPPOR) else person).epsilon

    # -- what people look at

    def document(self) -> Document:
        survey = self.record.survey
        head: list[Block] = [Facts(tuple(self._facts()))]
        footer = Phrase("Murmure {version}. Plan: {plan}.", version=__version__, plan=Code(self.plan.digest))
        if self.release is None:
            head.append(Paragraph(Phrase("Nobody has answered yet. The first figures appear with the first report.")))
            return Document(survey.title.phrase, tuple(head), "SurveyResults", footer)
        sections = (self._figures(), self._shrinking(), self._forged(), guarantee_section(self._content))
        return Document(survey.title.phrase, (*head, *sections), "SurveyResults", footer)

    def _facts(self) -> Iterator[tuple[str, Any]]:
        survey = self.record.survey
        yield Phrase("answers"), Number(self.n)
        yield Phrase("expected"), Number(survey.people)
        yield Phrase("state"), STATE_NAMES[self.record.state]
        if survey.memoised:
            yield Phrase("wave"), Phrase("{wave} of {waves}", wave=self.wave, waves=survey.waves)
        odds = math.exp(self.epsilon_total)
        yield Phrase("odds move by at most"), Phrase("a factor of {odds:.3g}", odds=odds)

    @cached_property
    def _content(self) -> ReportContent:
        assert self.release is not None
        return ReportContent(self.release, None, LEVEL, "fixed", None, self.plan, False, None)

    def _figures(self) -> Section:
        """The figures of the ordinary report, under the questions as they were asked."""
        section = figures_section(self._content)
        blocks, questions = [], iter(self.record.survey.questions)
        current = self.record.survey.questions[0]
        for block in section.blocks:
            if isinstance(block, Intervals):
                current = next(questions, current)
            blocks.append(_named(block, current))
        return Section(Phrase("What the crowd says"), tuple(blocks))

    def _shrinking(self) -> Section:
        """Intervals shrink with the square root of the number of answers, at these shares."""
        head = (Phrase("answers"), *(Phrase("times {n}", n=factor) for factor in SHRINK_FACTORS[1:]))
        rows = []
        for question, half in self._half_widths().items():
            cells = [_margin(question, half / math.sqrt(factor)) for factor in SHRINK_FACTORS]
            rows.append((question.text.phrase, *cells))
        table = Table("", (Phrase("question"), Phrase("now, {n:,} answers", n=self.n), *head[1:]), tuple(rows))
        about = Phrase(
            "Half the width of the widest interval of each question, now and with more answers of the same kind: four "
            "times as many answers make it half as wide."
        )
        return Section(Phrase("How the intervals will shrink"), (table, Paragraph(about, "note")))

    def _half_widths(self) -> dict[Question, float]:
        assert self.release is not None
        questions = self.record.survey.questions
        ends = self.release.estimate.interval(LEVEL)
        if isinstance(self.release.estimate, Estimates):
            means = self.release.estimate.means.by_column
            out = {}
            for question in questions:
                if question.by_mean and question.name in means:
                    span: Any = means[question.name].interval(LEVEL)
                elif question.name in ends:
                    span = ends[question.name]
                else:
                    continue
                out[question] = _half(span)
            return out
        return {questions[0]: _half(ends)}

    def _forged(self) -> Section:
        """How far forged reports could have moved the figures: the largest bias, read off the law."""
        leverage = self._leverage()
        counts = sorted({1, *(max(1, math.ceil(share * self.n)) for share in FORGED)})
        head = (Phrase("question"), Phrase("one report counts for"), *(Phrase("{n:,} forged", n=n) for n in counts))
        rows = []
        for question in self.record.survey.questions:
            largest = leverage.get(question.name)
            if largest is None:
                continue
            width = question.high - question.low if question.by_mean else 1.0
            moved = [_margin(question, largest * width * n / self.n) for n in counts]
            rows.append((question.text.phrase, Phrase("{n:.3g} people", n=largest), *moved))
        about = Phrase(
            "If somebody sends forged reports, each figure moves by this much at most. A careful forger cannot be told "
            "from an honest person; the tests for forgeries find only careless ones."
        )
        notes = [Paragraph(about, "note")]
        if self.registered is not None:
            notes.append(Paragraph(self._coins_used(self.registered), "note"))
        return Section(Phrase("What forged answers could do"), (Table("", head, tuple(rows)), *notes))

    def _coins_used(self, registered: int) -> Phrase:
        """Who asks for coins again and again, and keeps those that suit them, is seen here."""
        return Phrase(
            "Public coins were given out {registered:,} times, for {n:,} reports. A forger who asks for coins more "
            "often than they send reports can keep those that suit them. The bounds above hold whatever the coins are.",
            registered=max(registered, self.n),
            n=self.n,
        )

    def _leverage(self) -> dict[str, float]:
        """By question: how many people one forged report counts for; of a mean, people at an end of the range."""
        by_column = self.plan.leverage()
        out = {}
        for question in self.record.survey.questions:
            one = by_column.get(question.name, by_column.get(""))
            if one is None or one.reason is not None:
                continue
            out[question.name] = one.largest
        return out


def _named(block: Block, question: Question) -> Block:
    """A picture of the ordinary report with the question as its title, and the labels that people read."""
    if isinstance(block, Fold):
        return Fold(block.title, tuple(_named(one, question) for one in block.blocks))
    if not isinstance(block, Intervals):
        return block
    labels = labels_of(question)
    rows = tuple(replace(row, label=labels.get(str(row.label), row.label)) for row in block.rows)
    return replace(block, title=question.text.phrase if block.title else "", rows=rows)


def labels_of(question: Question) -> Mapping[str, str]:
    """From the values that are counted to what people read."""
    if question.kind == "yes-no":
        return NO_YES_LABELS
    return {option.value: option.label.phrase for option in question.options}


def _half(ends: Any) -> float:
    ends = np.asarray(ends, float).reshape(-1, 2)
    return float((ends[:, 1] - ends[:, 0]).max()) / 2


def _margin(question: Question, half: float) -> Phrase:
    if not question.by_mean:
        return Phrase("± {points:.2g} points", points=100 * half)
    return Phrase("± {half:.2g}", half=half)
