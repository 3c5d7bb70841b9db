"""What tests of the collector without HTTP share."""

from __future__ import annotations

import threading
from typing import Any

from murmure.collector.intake.arrival import Outcome
from murmure.collector.service import analysts
from murmure.collector.service.collector import Collector
from murmure.collector.service.surveys import SurveyRecord

HASHER = analysts._hasher  # a collector's own; tests/collector/conftest.py puts a quick one in its place


def store(collector: Collector, record: SurveyRecord, *sent: dict[str, Any]) -> list[Outcome]:
    """As the routes do it, without HTTP."""
    reception = collector.reception(record.id)
    outcomes: list[Any] = []
    done = threading.Event()
    arrivals = []
    for one in sent:
        reception.check_plan(one["plan"], one["wave"])
        arrivals.append(reception.arrival(one["token"], one["report"]))
    collector.store(reception, arrivals, lambda told: (outcomes.append(told), done.set()))
    assert done.wait(10)
    return outcomes[0]
