"""Were stored reports forged? The tests of `murmure.attacks` on the reports of one wave.

Reports of one wave are independent, so honest ones raise a false alarm with the stated probability at most; over
several waves a person's reports share a memoised answer, and are not tested together. Where the collector gives out
public coins, a report with another hash or other columns was refused at the door. Its hashes are still uniform, and
their tests still hold, but say little. Of many reports, evenly spread ones are tested: which ones does not depend on
what they hold, so the bound on false alarms stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.attacks.person.forgery.detection import ForgeryCheck, ForgeryTest, detect_forgeries
from murmure.collector.service.answer_labels import labels_of
from murmure.collector.service.errors import RequestRefused
from murmure.collector.service.report_rows import ReportRows
from murmure.collector.survey.question import Question
from murmure.core.errors import Phrase
from murmure.core.types import Array

if TYPE_CHECKING:
    from murmure.collector.service.collector import Collector
    from murmure.collector.service.surveys import SurveyRecord

MAX_TESTED = 200_000  # reports
MAX_BYTES = 64 << 20  # of reports in memory
LEVEL = 0.01


@dataclass(frozen=True)
class SurveyForgeryCheck(ForgeryCheck):
    """What the tests found in the reports of a survey. stored: how many there are; `reports` of them were tested."""

    stored: int
    questions: tuple[Question, ...] = field(default=(), repr=False)

    def sentence(self) -> Phrase:
        if not self.tests:
            return Phrase(
                "There is no test for reports of this mechanism: an honest person could have sent any of them."
            )
        found = super().sentence()
        if self.reports >= self.stored:
            return found
        return Phrase(
            "{found} {reports:,} of the {stored:,} reports were tested, evenly spaced.",
            found=found,
            reports=self.reports,
            stored=self.stored,
        )

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"stored": self.stored}

    def in_words(self, say: Callable[[str], str]) -> dict[str, Any]:
        """The same for people, in their language: the finding, and what each test compared and saw."""
        asked = {question.name: say(question.text.phrase) for question in self.questions}
        tests = [
            {"column": asked.get(t.column, t.column), "test": say(t.name), "saw": say(self._saw(t, say))}
            for t in self.tests
        ]
        return {"sentence": say(self.sentence()), "words": tests}

    def _saw(self, test: ForgeryTest, say: Callable[[str], str]) -> str:
        """With the answer as people read it, where the test is about one."""
        value = test.saw.fields.get("value") if isinstance(test.saw, Phrase) else None
        labels = next((labels_of(question) for question in self.questions if test.column in ("", question.name)), {})
        if not isinstance(test.saw, Phrase) or str(value) not in labels:
            return test.saw
        return test.saw.with_fields(value=say(labels[str(value)]))


def survey_forgeries(
    collector: Collector, record: SurveyRecord, wave: int | None = None, level: float = LEVEL
) -> SurveyForgeryCheck:
    """The detection tests on the reports of a wave; by default of the present one."""
    wave = wave or record.wave
    stored = int(collector.intake.tally_of(record.number, wave)[0])
    blocks = (block for block in collector.blocks(record, wave) if len(block))
    first = next(blocks, None)
    if first is None:
        raise RequestRefused("state", "there are no reports to test yet.", hint="wait for the first ones")
    layout = ReportRows(first)
    limit = min(MAX_TESTED, MAX_BYTES // layout.dtype.itemsize)
    step = max(1, -(-stored // limit))
    picked: list[Array] = []
    place = count = 0
    for block in chain([first], blocks):
        rows = layout.pack(block)[-place % step :: step][: limit - count]
        picked.append(rows)
        place, count = place + len(block), count + len(rows)
    check = detect_forgeries(record.plan, layout.unpack(np.concatenate(picked)), level)
    stored = max(stored, place)
    questions = record.survey.questions
    return SurveyForgeryCheck(check.reports, check.level, check.tests, check.refused, stored, questions)
