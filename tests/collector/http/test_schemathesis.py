"""Schemathesis attacks the service by its own OpenAPI document: nothing that it invents may end in a 5xx.

A body that is invented as a whole is nearly always refused at its first field. So parts of good bodies are replaced by
parts of the invented ones too: these reach the checks of plans, texts and reports.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.collector.documents import CHEATED, HOURS, OFTEN, SURVEYS, document, opened, sent_report
from tests.collector.http.services import service

schemathesis = pytest.importorskip("schemathesis")
EXAMPLES = int(os.environ.get("MURMURE_FUZZ_EXAMPLES", "8"))  # of each operation; the slow test takes more


MIXED = 6  # good bodies with an invented part, for each invented body
Place = tuple[str | int, ...]


def places(value: Any, here: Place = ()) -> Iterator[Place]:
    """All parts of a JSON value: itself, and the parts of its parts."""
    yield here
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in pairs:
        yield from places(part, (*here, key))


def part_at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def with_part(value: Any, place: Place, part: Any) -> Any:
    """The same value with another part at this place."""
    if not place:
        return part
    copy = value.copy()
    copy[place[0]] = with_part(value[place[0]], place[1:], part)
    return copy


def mixtures(good: Any, invented: Any, number: int) -> Iterator[Any]:
    """Some good bodies with a part of the invented one; other places and parts for each number."""
    into, of = list(places(good))[1:], list(places(invented))
    for i in range(number * MIXED, (number + 1) * MIXED):
        yield with_part(good, into[i * 7 % len(into)], part_at(invented, of[i * 3 % len(of)]))


def attack(folder: Path, examples: int) -> tuple[Counter[int], list[str]]:
    """How many requests were answered with each class of status, and those that ended in an error of ours."""

    with service(folder) as running:
        analyst = running.analyst()
        survey = opened(running.collector, SURVEYS["several"][0])
        draft = running.collector.surveys.create(survey.owner, document(CHEATED))
        sent = sent_report(running.collector, survey, SURVEYS["several"][1])
        item = {key: sent[key] for key in ("token", "report")}
        long = document(CHEATED, OFTEN, HOURS, epsilon=2.0)
        good: dict[str, Any] = {
            "/api/surveys": long,
            "/api/surveys/{id}": long,
            "/api/advice": {"survey": long, "epsilon": 1.0, "margin": None},
            "/api/surveys/{id}/reports": sent,
            "/api/surveys/{id}/batches": {"plan": sent["plan"], "wave": 1, "reports": [item, item]},
        }
        api = schemathesis.openapi.from_dict(running.visitor().ask("GET", "/openapi.json").json)
        api.config.update(base_url=running.address)
        asked: Counter[int] = Counter()
        failed: list[str] = []
        for found in api.get_all_operations():
            operation = found.ok()
            if operation.path == "/api/session" and operation.method == "delete":
                continue  # it would end the session that the others need

            @settings(
                max_examples=examples,
                deadline=None,
                derandomize=True,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            def one(case: Any) -> None:
                number = asked.total()
                if "id" in (case.path_parameters or {}) and number % 3:
                    case.path_parameters["id"] = (survey.id, draft.id)[number % 2]
                headers = {"X-CSRF-Token": analyst.csrf or ""}
                answer = case.call(headers=headers, cookies=analyst.cookies)
                asked[answer.status_code // 100] += 1
                if answer.status_code >= 500:
                    failed.append(f"{case.method} {case.path} {answer.status_code} {case.body!r}")
                if case.path not in good or case.method.lower() not in ("post", "put"):
                    return
                path = case.path.format(id=draft.id if case.method.lower() == "put" else survey.id)
                invented = case.body if isinstance(case.body, dict | list) else {"": None}
                for body in mixtures(good[case.path], invented, number):
                    status = analyst.ask(case.method, path, body).status
                    asked[status // 100] += 1
                    if status >= 500:
                        failed.append(f"{case.method} {case.path} {status} {body!r}")

            given(case=operation.as_strategy())(one)()
        assert running.visitor().ask("GET", "/health").status == 200
    return asked, failed


def test_no_request_ends_in_an_error_of_ours(tmp_path: Path) -> None:
    asked, failed = attack(tmp_path, EXAMPLES)

    assert failed == [] and asked[2] > 20 and asked[4] > 200


@pytest.mark.slow
def test_no_request_of_many_ends_in_an_error_of_ours(tmp_path: Path) -> None:
    asked, failed = attack(tmp_path, 200)

    assert failed == [] and asked[2] > 100 and asked[4] > 2000
