"""Surveys that tests ask, one of each kind, and an honest answer to each."""

from __future__ import annotations

import os
from typing import Any

from murmure.collector.service.collector import Collector
from murmure.collector.service.surveys import SurveyRecord
from murmure.core.random import Random
from murmure.plan.sent_reports import report_from

CHEATED = {"name": "cheated", "kind": "yes-no", "text": {"en": "Have you ever cheated?", "fr": "Avez-vous triché ?"}}
OFTEN = {
    "name": "often",
    "kind": "scale",
    "text": {"en": "How often?", "fr": "Combien de fois ?"},
    "options": [
        {"value": "never", "label": {"en": "Never", "fr": "Jamais"}},
        {"value": "once", "label": {"en": "Once", "fr": "Une fois"}},
        {"value": "often", "label": {"en": "Often", "fr": "Souvent"}},
    ],
}
REGION = {
    "name": "region",
    "kind": "choice",
    "text": {"en": "Where do you live?"},
    "options": [f"region {i}" for i in range(100)],
}
HOURS = {"name": "hours", "kind": "number", "text": {"en": "Hours a week?"}, "low": 0, "high": 40, "step": 1}


def document(*questions: Any, **fields: Any) -> dict[str, Any]:
    return {
        "murmure_survey": 1,
        "title": {"en": "A survey", "fr": "Une enquête"},
        "questions": list(questions),
        "people": 500,
        "epsilon": 1.0,
        **fields,
    }


# by name: the survey, and an answer
SURVEYS: dict[str, tuple[dict[str, Any], Any]] = {
    "yes-no": (document(CHEATED), "yes"),
    "scale": (document(OFTEN), "once"),
    "choice by OLH": (document(REGION, mechanism="OLH"), "region 7"),
    "number": (document(HOURS), 12),
    "several": (document(CHEATED, OFTEN, HOURS, epsilon=2.0), {"cheated": "no", "often": "often", "hours": 3}),
    "several by SPL": (document(CHEATED, OFTEN, mechanism="spl"), {"cheated": "no", "often": "often"}),
    "several by RS+FD": (document(CHEATED, OFTEN, mechanism="rsfd-grr"), {"cheated": "no", "often": "often"}),
    "waves": (document(CHEATED, waves=3, epsilon_total=2.0), "yes"),
    "invitations": (document(CHEATED, link="invitations"), "yes"),
}


def opened(collector: Collector, survey: dict[str, Any]) -> SurveyRecord:
    """A survey of the first analyst, open."""
    analysts = collector.analysts.list()
    owner = analysts[0] if analysts else collector.analysts.create("marie", "a long password")
    return collector.open(collector.surveys.create(owner.number, survey))


def token_for(collector: Collector, record: SurveyRecord) -> str:
    if record.survey.link == "invitations":
        return collector.invitations(record, 1)[0]
    token = os.urandom(16).hex()
    return collector.coins(record.id, token)[0] if record.plan.coins == "collector" else token


def sent_report(collector: Collector, record: SurveyRecord, answer: Any, rng: Random | None = None) -> dict[str, Any]:
    """The body of a request, as an honest client sends it."""
    token, plan = token_for(collector, record), record.plan
    coins = collector.coins(record.id, token)[1] if plan.coins == "collector" else None
    report = report_from(plan, answer, rng or Random.secure(), coins=coins)
    return {"token": token, "wave": record.wave, **report}
