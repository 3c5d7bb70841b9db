"""Bad input to the real process: each is a 4xx or 503 with a name, nothing is lost, and nothing is counted twice."""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.collector.documents import CHEATED, OFTEN, document, opened
from tests.collector.http.services import PASSWORD, Answer, Visitor, service

from murmure.collector.service.collector import Collector
from murmure.core.random import Random
from murmure.plan.plan import Plan
from murmure.plan.sent_reports import report_from

resource: Any = pytest.importorskip("resource")

# A disk that is full is a limit on the length of files here; slow clients have less time than others.
PROCESS = """
import signal, sys
from murmure.collector.http import bodies
bodies.BODY_SECONDS = 0.5
from murmure.cli import main
sys.argv = ["murmure", "serve", "--folder", sys.argv[1], "--port", "0", "--json"]
main()
"""


@contextmanager
def process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], Visitor]]:
    serving = subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert serving.stdout is not None
        line = serving.stdout.readline()
        assert line, serving.communicate()
        yield serving, Visitor(json.loads(line)["url"])
    finally:
        serving.kill()
        serving.communicate()


def made(folder: Path, **fields: Any) -> tuple[str, Plan, list[str]]:
    """A folder with an open survey: its id, its plan, and some links if it takes invitations."""
    with Collector(folder) as collector:
        record = opened(collector, document(CHEATED, **fields))
        links = collector.invitations(record, 3) if record.survey.link == "invitations" else []
        return record.id, record.plan, links


def report(plan: Plan, **fields: Any) -> dict[str, Any]:
    sent = report_from(plan, "yes", Random.secure())
    return {"token": os.urandom(16).hex(), "wave": 1, **sent, **fields}


def send(who: Visitor, survey: str, body: Any) -> Answer:
    return who.ask("POST", f"/api/surveys/{survey}/reports", body)


def counted(folder: Path, survey: str) -> int:
    """In the folder of a process that has ended; the tallies are those of the stored reports."""
    with Collector(folder) as collector:
        collector.intake.flush()
        collector.intake.check()
        return collector.results(collector.public(survey)).n


def ended(serving: subprocess.Popen[str]) -> None:
    serving.terminate()
    assert serving.communicate(timeout=30) == ("", "") and serving.returncode == 0


def test_every_bad_report_has_a_name(tmp_path: Path) -> None:
    survey, plan, (link, other_link, _) = made(tmp_path, link="invitations")
    with process(tmp_path) as (serving, anyone):
        good = report(plan, token=link)
        forged = f"{int(other_link, 16) ^ 1:032x}"
        other_survey = made_elsewhere(tmp_path.parent / "elsewhere")
        bad: dict[str, tuple[Any, int, str]] = {
            "another plan": ({**good, "plan": "0" * 64}, 409, "other-plan"),
            "another wave": ({**good, "wave": 2}, 409, "other-wave"),
            "oversize": ({**good, "report": "0" * (1 << 18)}, 413, "too-large"),
            "a wrong type": ({**good, "report": {"yes": 1}}, 400, "bad-request"),
            "outside the domain": ({**good, "report": 2}, 400, "bad-report"),
            "a forged link": ({**good, "token": forged}, 403, "unknown-link"),
            "a link of another survey": ({**good, "token": other_survey}, 403, "unknown-link"),
            "broken JSON": (b'{"token"', 400, "bad-json"),
        }
        for name, (body, status, code) in bad.items():
            answer = send(anyone, survey, body)
            assert (answer.status, answer.json["error"]) == (status, code), name
            assert answer.json.keys() == {"ok", "error", "message", "hint", "status"}, name
        assert send(anyone, "nosuchsurvey", good).status == 404
        assert send(anyone, survey, good).status == 201  # none of these has spent the link
        assert send(anyone, survey, good).json == {"ok": True, "stored": "before"}
        spent = send(anyone, survey, {**good, "report": 1 - good["report"]})
        assert (spent.status, spent.json["error"]) == (409, "spent")
        assert [report_status(anyone, survey, good) for _ in range(3)] == [200] * 3

        anna = Visitor(anyone.address).sign_in("marie")
        assert anna.ask("POST", f"/api/surveys/{survey}/close").status == 200
        late = send(anyone, survey, report(plan, token=other_link))
        assert (late.status, late.json["error"]) == (409, "not-open")
        ended(serving)
    assert counted(tmp_path, survey) == 1


def report_status(who: Visitor, survey: str, body: Any) -> int:
    return send(who, survey, body).status


def made_elsewhere(folder: Path) -> str:
    return made(folder, link="invitations")[2][0]


def test_slow_clients_are_told(tmp_path: Path) -> None:
    """Without a byte of the body, or with half of it; others are served meanwhile."""
    survey, plan, _ = made(tmp_path)
    with process(tmp_path) as (serving, anyone):
        port = int(anyone.address.rpartition(":")[2])
        head = f"POST /api/surveys/{survey}/reports HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n".encode()
        head += b"Content-Type: application/json\r\n\r\n"
        slow = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(20)]
        for i, line in enumerate(slow):
            line.sendall(head + b'{"token' * (i % 2))
        assert send(anyone, survey, report(plan)).status == 201
        for line in slow:
            with closing(line):
                told = b""
                while piece := line.recv(65536):
                    told += piece
            assert told.startswith(b"HTTP/1.1 408 ") and b'"error":"too-slow"' in told
        ended(serving)
    assert counted(tmp_path, survey) == 1


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits the files of another process")
def test_a_full_disk_asks_clients_to_come_back(tmp_path: Path) -> None:
    """503 with the seconds to wait; when there is space again the same report is stored, once, without a restart."""
    survey, plan, _ = made(tmp_path)
    with process(tmp_path) as (serving, anyone):
        first, second = report(plan), report(plan)
        assert send(anyone, survey, first).status == 201
        deadline = time.monotonic() + 20
        soft, hard = resource.prlimit(serving.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (10, hard))
        full = send(anyone, survey, second)
        assert (full.status, full.json["error"]) == (503, "disk") and int(full.headers["retry-after"]) > 0
        assert send(anyone, survey, first).json["stored"] == "before"  # what is there is there
        resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (soft, hard))
        while (answer := send(anyone, survey, second)).status == 503 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert (answer.status, answer.json["stored"]) == (201, "now")
        ended(serving)
    assert counted(tmp_path, survey) == 2


def test_a_torn_log_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """kill -9, and half a commit at the end of the log: the next process cuts it off, and knows every token."""
    survey, plan, _ = made(tmp_path)
    sent = [report(plan) for _ in range(20)]
    with process(tmp_path) as (serving, anyone):
        assert [send(anyone, survey, one).status for one in sent] == [201] * 20
        serving.kill()
        serving.communicate()
    logs = sorted(tmp_path.glob("reports-*.log"))
    with logs[-1].open("ab") as log:
        log.write(b"\x45\x00\x00\x80" + os.urandom(30))
    with process(tmp_path) as (serving, anyone):
        assert [send(anyone, survey, one).json["stored"] for one in sent] == ["before"] * 20
        assert send(anyone, survey, report(plan)).status == 201
        ended(serving)
    assert counted(tmp_path, survey) == 21


def test_a_clock_that_is_set_back(tmp_path: Path) -> None:
    """By a year, between two reports: both count once, and hours never go back."""
    now = [1.8e9]
    with Collector(tmp_path, lambda: now[0]) as collector:
        record = opened(collector, document(CHEATED))
        first, second = report(record.plan), report(record.plan)
        with serving_it(collector) as anyone:
            assert send(anyone, record.id, first).status == 201
            now[0] -= 365 * 24 * 3600
            assert send(anyone, record.id, first).json["stored"] == "before"
            assert send(anyone, record.id, second).status == 201
            marie = Visitor(anyone.address).sign_in("marie")
            assert marie.ask("POST", f"/api/surveys/{record.id}/close").status == 200
    with closing(sqlite3.connect(tmp_path / "reports.db")) as database:
        hours = [hour for (hour,) in database.execute("SELECT hour FROM reports ORDER BY number")]

    assert hours == [int(1.8e9 // 3600)] * 2
    assert counted(tmp_path, record.id) == 2


@contextmanager
def serving_it(collector: Collector) -> Iterator[Visitor]:
    from murmure.collector.http.server import ServeSettings, serving

    with serving(collector, ServeSettings()) as urls:
        yield Visitor(f"http://127.0.0.1:{urls.port}")


def test_two_processes_on_one_folder(tmp_path: Path) -> None:
    survey, plan, _ = made(tmp_path)
    with process(tmp_path) as (serving, anyone):
        second = subprocess.run(
            [sys.executable, "-c", PROCESS, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
        )
        assert second.returncode != 0 and "another process" in second.stdout + second.stderr
        assert "Traceback" not in second.stderr
        assert send(anyone, survey, report(plan)).status == 201
        ended(serving)
    assert counted(tmp_path, survey) == 1


def test_nothing_about_a_person_is_kept_or_printed(tmp_path: Path) -> None:
    """After a session of an analyst, reports and refusals: no address, token, cookie, password, browser or language is
    in the folder or in what the process printed, and no time finer than the hour."""
    survey, plan, links = made(tmp_path, link="invitations")
    secrets: list[str] = [PASSWORD, *links]
    with process(tmp_path) as (serving, anyone):
        personal = {"User-Agent": "a-browser-of-somebody/1.0", "Accept-Language": "fr-CH, tlh;q=0.9"}
        personal |= {"X-Forwarded-For": "203.0.113.77", "Referer": "https://intranet.example.org/a-page"}
        for link in links:
            assert (
                anyone.ask("POST", f"/api/surveys/{survey}/reports", report(plan, token=link), **personal).status == 201
            )
        for body in (report(plan), b"not json: my answer is yes", report(plan, token=links[0], report="yes, I did")):
            assert anyone.ask("POST", f"/api/surveys/{survey}/reports", body, **personal).status >= 400
        for path in (f"/s/{survey}", f"/api/surveys/{survey}", f"/nothing/{links[0]}", f"/sign-in/{links[0]}"):
            anyone.ask("GET", path, **personal)
        marie = Visitor(anyone.address).sign_in("marie")
        secrets += [*marie.cookies.values(), marie.csrf or ""]
        begun = time.time()
        assert marie.ask("GET", f"/surveys/{survey}", **personal).status == 200
        assert marie.ask("GET", f"/api/surveys/{survey}/export.json", **personal).status in (200, 409)
        serving.kill()  # nothing is tidied up
        printed = "".join(serving.communicate())
    written = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    everything = b"\n".join([*written.values(), printed.encode()])
    for secret in [*secrets, *personal.values(), "203.0.113", "yes, I did", "my answer"]:
        assert secret.encode() not in everything, secret
        if re.fullmatch("([0-9a-f]{2}){16,}", secret):
            assert bytes.fromhex(secret) not in everything, secret
    assert b"127.0.0.1" not in everything and survey.encode() in everything
    assert printed == ""
    for name in ("collector.db", "reports.db"):
        assert not list(times_in(tmp_path / name, begun)), name


def times_in(path: Path, now: float) -> Iterator[tuple[str, Any]]:
    """Numbers that are a time within a day of now, in seconds or finer units."""
    with closing(sqlite3.connect(path)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in database.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    if isinstance(value, int | float) and any(
                        abs(value / unit - now) < 86400 for unit in (1, 10, 1e3, 1e6, 1e9)
                    ):
                        yield table, value


def test_times_that_are_finer_than_an_hour_would_be_found(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "some.db")) as database:
        database.execute("CREATE TABLE t (a)")
        database.execute("INSERT INTO t VALUES (?)", (int(time.time() * 1000),))
        database.commit()

    assert len(list(times_in(tmp_path / "some.db", time.time()))) == 1


def test_a_wave_that_is_over_while_reports_are_on_their_way(tmp_path: Path) -> None:
    """A report for the wave before is told so; the token of a link works in the next one."""
    with service(tmp_path) as running:
        record = opened(running.collector, document(OFTEN, waves=3, epsilon_total=2.0))
        sent = {**report_of(record.plan, "once"), "token": "1" * 32, "wave": 1}
        anyone = running.visitor()
        assert send(anyone, record.id, sent).status == 201
        assert running.analyst().ask("POST", f"/api/surveys/{record.id}/next-wave").status == 200
        late = send(anyone, record.id, {**sent, "token": "2" * 32})
        assert (late.status, late.json["error"]) == (409, "other-wave")
        assert send(anyone, record.id, {**sent, "wave": 2}).status == 201


def report_of(plan: Plan, answer: str) -> dict[str, Any]:
    return report_from(plan, answer, Random.secure())
