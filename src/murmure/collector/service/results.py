"""What the reports of a survey say: figures with intervals, how they will shrink, what forged answers could do.

Everything is computed from the tally alone, so it takes as long for a million reports as for ten.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from murmure import __version__
from murmure.certify.certificate import certify
from murmure.collector.service.answer_labels import labels_of, with_questions
from murmure.collector.service.results_sections import (
    forged_section,
    guarantee_of_survey,
    odds_text,
    shrinking_section,
)
from murmure.collector.service.surveys import SurveyRecord
from murmure.collector.survey.question import Question
from murmure.core.errors import Phrase
from murmure.core.types import Release, Total
from murmure.local.rappor import RAPPOR
from murmure.plan.plan import Plan
from murmure.run.outside_reports import mark_outside
from murmure.run.report.figures_section import figures_section
from murmure.run.report.question_section import epsilon_number
from murmure.run.report.report_content import ReportContent
from murmure.show.document import Block, Document, Facts, Fold, Intervals, Number, Paragraph, Section, Shown
from murmure.show.phrase import Code

LEVEL = 0.95


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
        more = [shrinking_section(survey.questions, self.release)] if self.record.state == "open" else []
        sections = (
            self._figures(),
            *more,
            forged_section(survey.questions, self.plan, self.n, self.registered),
            guarantee_of_survey(self._content, survey.questions, survey.waves, self.epsilon_total),
        )
        return Document(survey.title.phrase, (*head, *sections), "SurveyResults", footer)

    def _facts(self) -> Iterator[tuple[str, Any]]:
        survey = self.record.survey
        yield Phrase("answer") if self.n == 1 else Phrase("answers"), Number(self.n)
        yield Phrase("answers expected"), Number(survey.people)
        if survey.memoised:
            yield Phrase("wave"), Phrase("{wave} of {waves}", wave=self.wave, waves=survey.waves)
            yield Phrase("epsilon of all waves"), epsilon_number(self.epsilon_total)
        else:
            yield Phrase("epsilon of one report"), epsilon_number(self.epsilon_total)
        yield Phrase("odds move by at most"), Phrase("a factor of {odds}", odds=odds_text(self.epsilon_total))

    @cached_property
    def _content(self) -> ReportContent:
        assert self.release is not None
        return ReportContent(self.release, None, LEVEL, "fixed", None, self.plan, False, None)

    def _figures(self) -> Section:
        """The figures of the ordinary report, under the questions as they were asked."""
        section = figures_section(self._content)
        questions = {question.name: question for question in self.record.survey.questions}
        current, blocks = self.record.survey.questions[0], []
        for block in section.blocks:
            if isinstance(block, Intervals):  # a question without figures has no picture, so places say nothing
                current = questions.get(str(block.title), current)
            blocks.append(_named(block, current, questions.values()))
        return Section(Phrase("What the crowd says"), tuple(blocks))


def _named(block: Block, question: Question, questions: Collection[Question]) -> Block:
    """A picture of the ordinary report with the question as its title, and the labels that people read; a note with the
    questions that it names."""
    if isinstance(block, Fold):
        return Fold(block.title, tuple(_named(one, question, questions) for one in block.blocks))
    if isinstance(block, Paragraph):
        return replace(block, text=with_questions(block.text, questions))
    if not isinstance(block, Intervals):
        return block
    labels = labels_of(question)
    if question.by_mean and question.unit:
        labels = {"mean": Phrase("mean, {unit}", unit=question.unit.phrase)}
    rows = tuple(replace(row, label=labels.get(str(row.label), row.label)) for row in block.rows)
    return replace(block, title=question.text.phrase if block.title else "", rows=rows)
