"""A disk that is full, or does not confirm, over HTTP: 503 with a time to come back, and nothing counted twice."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from tests.collector.documents import CHEATED, document, opened, sent_report
from tests.collector.http.services import service

from murmure.collector.intake import report_log, writer


def _fails(number: int) -> Any:
    def fail(*arguments: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_full_disk_asks_respondents_to_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Single reports and batches; the same requests succeed once there is space, and each report counts once. Whoever
    watches /health is told: until a report is stored again or, where nobody comes back, for a minute."""
    with service(tmp_path) as running:
        record, anyone = opened(running.collector, document(CHEATED)), running.visitor()
        one = sent_report(running.collector, record, "yes")
        other = sent_report(running.collector, record, "no")
        batch = {"plan": one["plan"], "wave": 1, "reports": [{k: other[k] for k in ("token", "report")}]}
        asked = [(f"/api/surveys/{record.id}/reports", one), (f"/api/surveys/{record.id}/batches", batch)]
        assert anyone.ask("POST", asked[0][0], sent_report(running.collector, record, "no")).status == 201
        with monkeypatch.context() as patch:
            patch.setattr(report_log, "write_all", _fails(errno.ENOSPC))
            for path, body in asked * 2:
                refused = anyone.ask("POST", path, body)
                assert (refused.status, refused.json["error"]) == (503, "disk")
                assert int(refused.headers["retry-after"]) > 0
                assert str(tmp_path) not in refused.body.decode()
            assert anyone.ask("GET", "/health").status == 503
            patch.setattr(writer, "REFUSING_SECONDS", 0)
            assert anyone.ask("GET", "/health").status == 200

        assert anyone.ask("GET", "/health").status == 503
        for path, body in asked * 2:
            assert anyone.ask("POST", path, body).status in (200, 201)
        assert anyone.ask("GET", "/health").status == 200
        running.collector.intake.flush()
        assert running.collector.results(record).n == 3
        assert running.collector.refusals(record) == {"disk": 4}
        running.collector.intake.check()


def test_a_disk_that_does_not_confirm_stops_taking_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until a restart, and /health says so; results can be read meanwhile. The report that was sent counts once."""
    with service(tmp_path) as running:
        record, anyone = opened(running.collector, document(CHEATED)), running.visitor()
        path, sent = f"/api/surveys/{record.id}/reports", sent_report(running.collector, record, "yes")
        assert anyone.ask("POST", path, sent_report(running.collector, record, "no")).status == 201
        running.collector.intake.flush()
        assert anyone.ask("GET", "/health").status == 200
        with monkeypatch.context() as patch:
            patch.setattr(report_log, "_sync", _fails(errno.EIO))
            assert anyone.ask("POST", path, sent).status == 503
        assert anyone.ask("POST", path, sent).status == 503  # it works again, and is not believed
        assert anyone.ask("GET", "/health").status == 503
        assert running.analyst().ask("GET", f"/api/surveys/{record.id}/results").json["people"] == 1

    with service(tmp_path) as running:
        assert running.visitor().ask("POST", path, sent).status in (200, 201)
        assert running.visitor().ask("GET", "/health").status == 200
        running.collector.intake.flush()
        assert running.collector.results(record).n == 2
        running.collector.intake.check()
