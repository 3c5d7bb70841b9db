"""Surveys of the bench, and honest requests to them, made beforehand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from load import Pool, request

import murmure as mu
from murmure.collector.service.collector import Collector
from murmure.collector.service.keys import read_key
from murmure.collector.service.links import SurveyTokens
from murmure.collector.service.surveys import SurveyRecord
from murmure.plan.sent_reports import sent

ANALYST, PASSWORD = "bench", "a long password"
BATCH = 1000
AT_ONCE = 50_000  # reports made by one call
YES_NO = {
    "name": "cheated",
    "kind": "yes-no",
    "text": {"en": "Have you ever cheated?", "fr": "Avez-vous déjà triché ?"},
}
FIVE = [{"value": value, "label": {"en": f"Option {value}"}} for value in "abcde"]
# Five questions of yes or no, five with five options.
TEN = [{**YES_NO, "name": f"yes{i}"} for i in range(5)] + [
    {**YES_NO, "name": f"of{i}", "kind": "choice", "options": FIVE} for i in range(5)
]
TOWNS = {
    **YES_NO,
    "name": "town",
    "kind": "choice",
    "options": [{"value": f"t{i}", "label": {"en": f"Town {i}", "fr": f"Commune {i}"}} for i in range(1000)],
}


def document(*questions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    title = {"en": "A survey of the bench", "fr": "Une enquête du banc d’essai"}
    return {
        "murmure_survey": 1,
        "title": title,
        "questions": list(questions),
        "people": 100_000,
        "epsilon": 1.0,
        **fields,
    }


SURVEYS = {
    "one-time links": document(YES_NO, link="invitations"),
    "open link": document(YES_NO),
    "ten questions": document(*TEN, mechanism="spl", epsilon=4.0),
    "1,000 options": document(TOWNS),
}


def open_surveys(folder: Path) -> dict[str, SurveyRecord]:
    with Collector(folder) as collector:
        analyst = collector.analysts.create(ANALYST, PASSWORD)
        return {name: collector.open(collector.surveys.create(analyst.number, d)) for name, d in SURVEYS.items()}


def _answers(domain: Any, count: int) -> list[Any]:
    labels = [domain.label(i) for i in range(domain.size)]
    return [labels[i % len(labels)] for i in range(count)]


def reports_of(record: SurveyRecord, count: int) -> list[Any]:
    """Honest reports of many people at once; their answers are even."""
    plan, survey = record.plan, record.survey
    columns = {question.name: _answers(question.domain, count) for question in survey.questions}
    answers: Any = columns if survey.of_records else next(iter(columns.values()))
    return [one["report"] for one in sent(plan, plan.report(answers, mu.Random.secure()))]


def tokens_of(folder: Path, record: SurveyRecord, count: int) -> list[str]:
    if record.survey.link == "open":
        return [os.urandom(16).hex() for _ in range(count)]
    tokens = SurveyTokens(read_key(folder), record.id)
    return [tokens.new() for _ in range(count)]


def _sent(folder: Path, record: SurveyRecord, count: int) -> Iterator[dict[str, Any]]:
    for start in range(0, count, AT_ONCE):
        size = min(AT_ONCE, count - start)
        for token, report in zip(tokens_of(folder, record, size), reports_of(record, size), strict=True):
            yield {"token": token, "report": report}


def singles(folder: Path, record: SurveyRecord, count: int) -> Pool:
    path, common = f"/api/surveys/{record.id}/reports", {"wave": 1, "plan": record.plan.digest}
    return [(request(path, {**item, **common}), 1) for item in _sent(folder, record, count)]


def batches(folder: Path, record: SurveyRecord, reports: int) -> Pool:
    path, common = f"/api/surveys/{record.id}/batches", {"wave": 1, "plan": record.plan.digest}
    items, pool = _sent(folder, record, reports), []
    while batch := list(islice(items, BATCH)):
        pool.append((request(path, {**common, "reports": batch}), len(batch)))
    return pool
