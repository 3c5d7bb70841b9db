"""What is remembered about a draft must never be said of the survey that it becomes, or of another one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.collector.documents import CHEATED, OFTEN, document, sent_report
from tests.collector.service.collectors import store

from murmure.collector.service.collector import Collector
from murmure.collector.service.errors import RequestRefused


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    with Collector(tmp_path / "surveys") as made:
        yield made


def test_the_plan_of_a_draft_is_not_kept(collector: Collector) -> None:
    """Of a draft that is looked at, exported and changed: reports are read by the plan of the opening."""
    marie = collector.analysts.create("marie", "a long password")
    draft = collector.surveys.create(marie.number, document(CHEATED, epsilon=4.0))
    assert list(collector.blocks(draft)) == [] and collector.results(draft).plan == draft.plan
    changed = collector.surveys.change(draft, document(OFTEN, epsilon=0.5))
    assert collector.results(changed).plan == changed.plan
    record = collector.open(changed)
    store(collector, record, sent_report(collector, record, "once"))
    collector.intake.flush()

    assert collector.results(record).plan.digest == record.plan.digest
    assert collector.results(record).n == 1 and collector.results(record).release is not None
    assert next(iter(collector.blocks(record))).plan == record.plan.digest


def test_a_number_is_never_given_twice(collector: Collector) -> None:
    """Neither that of a survey nor that of an analyst: what is known about the first would be said of the second."""
    marie, paul = (collector.analysts.create(name, "a long password") for name in ("marie", "paul"))
    draft = collector.surveys.create(marie.number, document(CHEATED))
    collector.results(draft)
    collector.surveys.remove(draft)
    collector.analysts.remove("paul")

    again = collector.surveys.create(marie.number, document(OFTEN))
    assert again.number > draft.number and collector.results(again).record.id == again.id
    assert collector.analysts.create("eve", "a long password").number > paul.number


def test_what_is_opened_is_what_was_looked_at(collector: Collector) -> None:
    """A draft that another window changed meanwhile is not opened: its plan would not be that of its questions."""
    marie = collector.analysts.create("marie", "a long password")
    draft = collector.surveys.create(marie.number, document(CHEATED, epsilon=1.0))
    changed = collector.surveys.change(draft, document(CHEATED, epsilon=4.0))

    for act in (collector.open, collector.surveys.remove):
        with pytest.raises(RequestRefused, match="changed in the meantime") as refused:
            act(draft)
        assert refused.value.code == "state"
    record = collector.open(changed)
    assert record.plan.digest == record.survey.plan.digest


def test_refusals_of_a_closed_survey_are_its_own(collector: Collector) -> None:
    """Its analyst sees that people still follow the link."""
    marie = collector.analysts.create("marie", "a long password")
    record = collector.open(collector.surveys.create(marie.number, document(CHEATED)))
    closed = collector.close_survey(record)
    for survey_id in (record.id, "abcdefghijkm"):
        with pytest.raises(RequestRefused) as refused:
            collector.reception(survey_id)
        collector.count_refusal(survey_id, refused.value.code)

    assert collector.refusals(closed) == {"not-open": 1}
    assert collector.refused_now()[0, "not-found"] == 1


def test_a_report_that_was_checked_before_the_next_wave_is_told_so(collector: Collector) -> None:
    """And not that the survey is closed: the client would give up for good."""
    marie = collector.analysts.create("marie", "a long password")
    draft = collector.surveys.create(marie.number, document(CHEATED, waves=2, epsilon_total=2.0))
    record = collector.open(draft)
    reception = collector.reception(record.id)
    sent = sent_report(collector, record, "yes")
    arrival = reception.arrival(sent["token"], sent["report"])
    later = collector.next_wave(record)

    with pytest.raises(RequestRefused) as refused:
        collector.store(reception, [arrival], lambda outcomes: None)
    assert refused.value.code == "other-wave"
    collector.close_survey(later)
    with pytest.raises(RequestRefused) as refused:
        collector.store(reception, [arrival], lambda outcomes: None)
    assert refused.value.code == "not-open"
