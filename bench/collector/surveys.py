"""Surveys of the bench, and honest requests to them, made beforehand."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from load import request

import murmure as mu
from murmure.collector.service.collector import Collector
from murmure.collector.service.links import SurveyTokens
from murmure.collector.service.surveys import SurveyRecord
from murmure.plan.sent_reports import sent

YES_NO = {
    "name": "cheated",
    "kind": "yes-no",
    "text": {"en": "Have you ever cheated?", "fr": "Avez-vous déjà triché ?"},
}


def document(questions: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    title = {"en": "A survey of the bench"}
    return {"murmure_survey": 1, "title": title, "questions": questions, "people": 100_000, "epsilon": 1.0, **fields}


def ten_questions() -> list[dict[str, Any]]:
    """Five of yes or no, five with five options."""
    options = [{"value": value} for value in "abcde"]
    yes_no = [{**YES_NO, "name": f"yes{i}"} for i in range(5)]
    return [*yes_no, *({**YES_NO, "name": f"of{i}", "kind": "choice", "options": options} for i in range(5))]


def open_surveys(folder: Path) -> dict[str, SurveyRecord]:
    documents = {
        "one-time links": document([YES_NO], link="invitations"),
        "open link": document([YES_NO]),
        "ten questions": document(ten_questions(), mechanism="spl", epsilon=4.0),
        "ten questions, public coins": document(ten_questions(), mechanism="smp", epsilon=4.0),
    }
    with Collector(folder) as collector:
        analyst = collector.analysts.add("bench", "a long password")
        return {name: collector.open(collector.surveys.create(analyst.number, d)) for name, d in documents.items()}


def reports_of(record: SurveyRecord, count: int) -> list[Any]:
    """Honest reports of many people at once; their answers are even."""
    plan, survey = record.plan, record.survey
    if survey.of_records:
        answers: Any = {
            question.name: [question.domain.label(i % question.domain.size) for i in range(count)]
            for question in survey.questions
        }
    else:
        domain: Any = survey.domain
        answers = [domain.label(i % domain.size) for i in range(count)]
    return [one["report"] for one in sent(plan, plan.report(answers, mu.Random.secure()))]


def tokens_of(folder: Path, record: SurveyRecord, count: int) -> list[str]:
    if record.survey.link == "open":
        return [os.urandom(16).hex() for _ in range(count)]
    from murmure.collector.service.keys import read_key

    tokens = SurveyTokens(read_key(folder), record.id)
    return [tokens.new() for _ in range(count)]


def singles(folder: Path, record: SurveyRecord, count: int) -> list[tuple[bytes, int]]:
    path, digest = f"/api/surveys/{record.id}/reports", record.plan.digest
    pairs = zip(tokens_of(folder, record, count), reports_of(record, count), strict=True)
    return [(request(path, {"token": t, "wave": 1, "plan": digest, "report": r}), 1) for t, r in pairs]


def batches(folder: Path, record: SurveyRecord, count: int, size: int = 1000) -> list[tuple[bytes, int]]:
    path, digest = f"/api/surveys/{record.id}/batches", record.plan.digest
    out = []
    for _ in range(count):
        pairs = zip(tokens_of(folder, record, size), reports_of(record, size), strict=True)
        items = [{"token": token, "report": report} for token, report in pairs]
        out.append((request(path, {"plan": digest, "wave": 1, "reports": items}), size))
    return out
