"""Schemathesis attacks the service by its own OpenAPI document: nothing that it invents may end in a 5xx."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.collector.documents import CHEATED, SURVEYS, document, opened
from tests.collector.http.services import service

schemathesis = pytest.importorskip("schemathesis")
EXAMPLES = int(os.environ.get("MURMURE_FUZZ_EXAMPLES", "8"))  # of each operation; the slow test takes more


def attack(folder: Path, examples: int) -> tuple[Counter[int], list[str]]:
    """How many requests were answered with each class of status, and those that ended in an error of ours."""

    with service(folder) as running:
        analyst = running.analyst()
        survey = opened(running.collector, SURVEYS["several"][0])
        draft = running.collector.surveys.create(survey.owner, document(CHEATED))
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

            given(case=operation.as_strategy())(one)()
        assert running.visitor().ask("GET", "/health").status == 200
    return asked, failed


def test_no_request_ends_in_an_error_of_ours(tmp_path: Path) -> None:
    asked, failed = attack(tmp_path, EXAMPLES)

    assert failed == [] and asked[2] > 10 and asked[4] > 100


@pytest.mark.slow
def test_no_request_of_many_ends_in_an_error_of_ours(tmp_path: Path) -> None:
    asked, failed = attack(tmp_path, 200)

    assert failed == [] and asked[2] > 100 and asked[4] > 2000
