"""A room of people who answered, without a server: results from reports, or from a tally."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from murmure.collector.service.results import SurveyResults
from murmure.collector.service.room import Room
from murmure.collector.service.surveys import SurveyRecord
from murmure.collector.survey.survey import Survey
from murmure.core.random import Random
from murmure.core.types import Total
from murmure.plan.public_coins import coin_words, coins_in_hex
from murmure.plan.sent_reports import parse_reports, report_from


def record_of(document: dict[str, Any]) -> SurveyRecord:
    plan = Survey.from_dict(document).plan
    return SurveyRecord(1, "abcdefghijkm", 1, "open", 1, json.dumps(document), plan.to_json(), 0, 0, 1, None)


def room_from_tally(document: dict[str, Any], n: int, tally: Sequence[int]) -> Room:
    record = record_of(document)
    return Room(SurveyResults(record, record.plan, 1, Total(n, np.array(tally))))


def room_of(document: dict[str, Any], answers: Sequence[Any], seed: int = 7) -> Room:
    """Everybody answers honestly, through seeded coins."""
    record, rng = record_of(document), Random.seeded(seed)
    plan, public = record.plan, np.random.default_rng(seed)
    reports = []
    for answer in answers:
        coins = None
        if plan.coins == "collector":
            words = (int(word) for word in public.integers(0, 2**64, 4096, dtype=np.uint64))
            coins = coins_in_hex(coin_words(plan, words))
        reports.append(report_from(plan, answer, rng, coins=coins)["report"])
    return Room(SurveyResults(record, plan, 1, plan.tally(parse_reports(plan, reports))))
