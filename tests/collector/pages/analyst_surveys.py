"""Surveys of one analyst, of every kind and in every state, with honest reports: what the analysts' pages show."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

from tests.collector.documents import sent_report
from tests.collector.pages.small_collector import AGREE, CHEATED, HOURS, OFTEN, TOWNS, document

from murmure.collector.service.collector import Collector
from murmure.collector.service.surveys import SurveyRecord
from murmure.core.random import Random
from murmure.plan.sent_reports import sent

LONG = (
    "A title that goes on and on, so that it is broken into several lines even on a desktop, "
    "with Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft in it"
)
EVIL = """</script><script>document.title = "taken"</script><img src=x onerror="document.title = 'taken'">"""
MANY = [{**CHEATED, "name": f"q{i}", "text": {"en": f"Question number {i} of many?"}} for i in range(50)]


def evil(text: str = EVIL) -> dict[str, str]:
    return {"en": text, "fr": text}


EVIL_QUESTION = {
    "name": "evil",
    "kind": "choice",
    "text": evil(),
    "options": [{"value": f"{place}<b>&amp;", "label": evil(f"{place} {EVIL}")} for place in "ab"],
}
DOCUMENTS = {
    "yesno": document(CHEATED),
    "invited": document(CHEATED, link="invitations"),
    "scale": document(AGREE, title={"en": "Safety at work", "fr": "La sécurité au travail"}),
    "number": document(HOURS, title={"en": "Sleep", "fr": "Le sommeil"}),
    "several": document(CHEATED, OFTEN, HOURS, mechanism="spl", epsilon=4.0),
    "waves": document(OFTEN, waves=4, epsilon_total=2.0),
    "towns": document(TOWNS, mechanism="OUE"),
    "long": document({**AGREE, "text": {"en": LONG}}, title={"en": LONG}, intro={"en": " ".join([LONG] * 3)}),
    "many": document(*MANY, epsilon=4.0, people=100_000, title={"en": "Fifty questions", "fr": "Cinquante questions"}),
    "evil": document(EVIL_QUESTION, title=evil(), intro=evil()),
}
ANSWERS: dict[str, Sequence[Any]] = {
    "yesno": ["yes", "no", "no"],
    "invited": ["yes", "no", "no"],
    "scale": ["0", "1", "1", "2", "3"],
    "number": [6.5, 8, 7],
    "several": [{"cheated": "no", "often": "bus", "hours": 7}, {"cheated": "yes", "often": "bike", "hours": 8.5}],
    "waves": ["walk", "bus", "bus"],
    "towns": ["t1", "t7", "t500"],
    "long": ["0", "1"],
    "many": [{question["name"]: "yes" for question in MANY}, {question["name"]: "no" for question in MANY}],
    "evil": ["a<b>&amp;", "b<b>&amp;"],
}


def honest_reports(collector: Collector, record: SurveyRecord, answers: Sequence[Any], n: int, seed: int = 1) -> None:
    """n reports, stored and counted: the answers in turn, randomised with a seed."""
    if n == 0:
        return
    rng, plan = Random.seeded(seed), record.plan
    given = [answers[i % len(answers)] for i in range(n)]
    if plan.coins == "collector" or record.survey.of_records or record.survey.link == "invitations":
        bodies = [sent_report(collector, record, answer, rng) for answer in given]
    else:  # all at once
        made = sent(plan, plan.report(given, rng))
        bodies = [{"token": os.urandom(16).hex(), "report": one["report"]} for one in made]
    reception, done = collector.reception(record.id), threading.Event()
    arrivals = [reception.arrival(body["token"], body["report"]) for body in bodies]
    for start in range(0, n, 5000):
        done.clear()
        collector.store(reception, arrivals[start : start + 5000], lambda _: done.set())
        assert done.wait(20)
    collector.intake.flush()


def survey_of(
    collector: Collector, owner: int, name: str, n: int = 0, state: str = "open", wave: int = 1
) -> SurveyRecord:
    """One of DOCUMENTS, brought into this state, with n honest reports in each wave."""
    record = collector.surveys.create(owner, DOCUMENTS[name])
    if state == "draft":
        return record
    record = collector.open(record)
    for _ in range(wave - 1):
        honest_reports(collector, record, ANSWERS[name], n)
        record = collector.next_wave(record)
    honest_reports(collector, record, ANSWERS[name], n)
    if state != "open":
        record = collector.close_survey(record)
    return collector.surveys.publish(record) if state == "published" else record
