"""Attacks on the service over its socket: other analysts, other sites, clients that break the rules of HTTP."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from starlette.routing import Route
from tests.collector.documents import CHEATED, document, opened, sent_report
from tests.collector.http.services import Answer, Service, service

from murmure.collector.http import bodies
from murmure.collector.http.app import make_app
from murmure.collector.http.bodies import PARTIAL

NOBODYS = "abcdefghijkm"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("collector")) as running:
        running.analyst()
        yield running


# -- other analysts ----------------------------------------------------------------------------------------------------


def as_seen(answer: Answer, survey: str) -> tuple[Any, ...]:
    """Everything but the id that was asked for, and the length that follows from it."""
    headers = {name: value.replace(survey, "ID") for name, value in answer.headers.items() if name != "date"}
    return answer.status, headers, answer.body.decode().replace(survey, "ID")


def test_nobody_learns_whether_somebody_elses_draft_exists(served: Service) -> None:
    """By any route, any method, signed in or not: pages and API answer as for a survey that never was."""
    marie, paul = served.analyst(), served.analyst("paul")
    draft = marie.ask("POST", "/api/surveys", document(CHEATED)).json["id"]
    routes = [route.path for route in make_app(served.collector)._rest.routes if isinstance(route, Route)]
    paths = [path.replace("{ending}", "csv") for path in routes if "{id}" in path]
    paths += ["/api/surveys/{id}/reports", "/api/surveys/{id}/batches"]
    assert len(paths) > 20
    good = {"token": "0" * 32, "wave": 1, "plan": "0" * 64, "report": 1}
    for who in (paul, served.visitor()):
        for path in paths:
            for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
                body: Any = None
                if method in ("POST", "PUT"):
                    body = good if path.endswith("reports") else {"token": "0" * 32} if path.endswith("coins") else {}
                seen = [
                    as_seen(who.ask(method, path.replace("{id}", survey), body), survey) for survey in (draft, NOBODYS)
                ]
                assert seen[0] == seen[1], (method, path)
                assert seen[0][0] in (303, 400, 401, 403, 404, 405), (method, path, seen[0])


def test_drafts_are_refused_as_quickly_as_what_does_not_exist(served: Service) -> None:
    """The survey is not read before it is clear whose it is: the difference of medians is below a millisecond or a
    quarter of the time of one request, whichever is more."""
    marie, paul = served.analyst(), served.analyst("paul")
    long = document(*({**CHEATED, "name": f"q{i}"} for i in range(50)))
    draft = marie.ask("POST", "/api/surveys", long).json["id"]
    times: dict[str, list[float]] = {draft: [], NOBODYS: []}
    for _ in range(60):
        for survey, taken in times.items():
            begun = time.perf_counter()
            assert paul.ask("GET", f"/api/surveys/{survey}/results").status == 403
            taken.append(time.perf_counter() - begun)
    real, unreal = (sorted(taken)[len(taken) // 2] for taken in times.values())

    assert abs(real - unreal) < max(0.001, 0.25 * unreal)


# -- other sites -------------------------------------------------------------------------------------------------------

FORMS = (
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "text/plain; application/json",
)


@pytest.mark.parametrize("kind", FORMS)
def test_a_form_of_another_site_does_nothing(served: Service, kind: str) -> None:
    """With the cookie, which a browser may send along, and without the token of the session. Nor can it sign somebody
    in to an account of the attacker."""
    marie = served.analyst()
    record = opened(served.collector, document(CHEATED))
    marie.csrf = None
    sign_in = json.dumps({"name": "marie", "password": "a long password"}).encode()

    assert served.visitor().ask("POST", "/api/session", sign_in, Content_Type=kind).json["error"] == "type"
    sent = json.dumps(sent_report(served.collector, record, "yes")).encode()
    assert served.visitor().ask("POST", f"/api/surveys/{record.id}/reports", sent, Content_Type=kind).status == 415
    for path in ("/api/surveys", f"/api/surveys/{record.id}/close", "/api/advice"):
        assert marie.ask("POST", path, b"{}", Content_Type=kind).status == 403
    assert served.collector.public(record.id).state == "open"


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "/\\evil.example", "https://evil.example", "/\t/evil.example", "evil", "/a\r\nX: y", ""],
)
def test_a_link_that_signs_in_leads_to_this_service_alone(served: Service, target: str) -> None:
    ticket = served.collector.analysts.ticket(1)
    assert served.visitor().ask("HEAD", f"/sign-in/{ticket}").status == 405  # a preview does not use it up
    answer = served.visitor().ask("GET", f"/sign-in/{ticket}?next={quote(target)}")

    assert (answer.status, answer.headers["location"]) == (303, "/") and "x" not in answer.headers


def test_no_page_can_be_framed_or_kept(served: Service) -> None:
    """Nothing that an analyst saw is shown to the next person at the same browser after the session."""
    marie = served.analyst()
    record = opened(served.collector, document(CHEATED))
    for path in (
        "/",
        "/surveys/new",
        f"/surveys/{record.id}",
        f"/surveys/{record.id}/class",
        f"/s/{record.id}",
        "/first",
    ):
        headers = marie.ask("GET", path).headers
        assert headers["cache-control"] == "no-store", path
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"  # links with tokens stay here
    live = f"/surveys/{record.id}/live"
    assert marie.ask("GET", live).headers["cache-control"] == "private, no-cache"
    assert marie.ask("DELETE", "/api/session").status == 200
    marie.cookies.clear()
    assert marie.ask("GET", live).status == 401


def test_with_tls_cookies_belong_to_this_very_host(tmp_path: Path) -> None:
    """No neighbour under the same domain can set them, and browsers come back by TLS only."""
    with service(tmp_path, public_url="https://survey.example.org") as running:
        running.collector.analysts.create("marie", "a long password")
        visitor = running.visitor()
        answer = visitor.ask("POST", "/api/session", {"name": "marie", "password": "a long password"})
        for cookie in answer.set_cookies:
            attributes = cookie.lower().split("; ")
            assert cookie.startswith("__Host-murmure_") and {"secure", "path=/", "httponly"} <= set(attributes)
            assert not any(one.startswith("domain") for one in attributes)
        assert visitor.ask("GET", "/api/surveys").status == 200
        thrown = running.visitor()
        thrown.cookies["murmure_session"] = visitor.cookies["__Host-murmure_session"]
        assert thrown.ask("GET", "/api/surveys").status == 401
        document_ = visitor.ask("GET", "/openapi.json").json
        assert document_["components"]["securitySchemes"]["session"]["name"] == "__Host-murmure_session"
        for path in ("/", "/health", "/api/surveys/none/reports", "/static/collector.css", "/nothing"):
            assert visitor.ask("GET", path).headers["strict-transport-security"] == "max-age=31536000"
        visitor.csrf = answer.json["csrf"]
        gone = visitor.ask("DELETE", "/api/session").set_cookies[0].lower()
        assert gone.startswith("__host-murmure_session=") and "secure" in gone and "max-age=0" in gone


def test_this_machine_is_not_bound_to_tls(served: Service) -> None:
    headers = served.visitor().ask("GET", "/").headers

    assert "strict-transport-security" not in headers and headers["cross-origin-opener-policy"] == "same-origin"


def test_without_tls_no_header_is_sent_that_browsers_complain_of(tmp_path: Path) -> None:
    with service(tmp_path, public_url="http://192.168.7.7:8480") as running:
        headers = running.visitor().ask("GET", "/").headers

    assert not {"cross-origin-opener-policy", "strict-transport-security"} & headers.keys()


# -- clients that break rules ------------------------------------------------------------------------------------------


def talk(served: Service, *parts: bytes, wait: float = 0.05) -> bytes:
    """What comes back until the connection is closed, or nothing comes for a while."""
    where = urlsplit(served.address)
    with socket.create_connection((where.hostname, where.port), timeout=10) as line:
        for part in parts:
            line.sendall(part)
            time.sleep(wait)
        line.settimeout(1.0)
        told = b""
        try:
            while piece := line.recv(65536):
                told += piece
        except TimeoutError:
            pass
        except ConnectionResetError:
            pass
    return told


POST = b"POST /api/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
INNER = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
SMUGGLED = {
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}" + INNER,
    "a length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + INNER,
    "chunks and a length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + INNER,
    "chunks that are none": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + INNER,
    "a coding after chunks": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + INNER,
    "a space before the colon": POST + b"Content-Length : 2\r\n\r\n{}" + INNER,
    "a length with a sign": POST + b"Content-Length: +2\r\n\r\n{}" + INNER,
    "a negative length": POST + b"Content-Length: -2\r\n\r\n{}" + INNER,
    "a folded header": POST + b"X: y\r\n Content-Length: 2\r\n\r\n" + INNER,
    "a chunk beyond 64 bits": POST + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n" + INNER,
    "a NUL in a header": POST + b"X: a\x00b\r\nContent-Length: 2\r\n\r\n{}" + INNER,
    "a bare line feed in a chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n" + INNER,
}


@pytest.mark.parametrize("name", SMUGGLED)
def test_no_request_is_hidden_in_another(served: Service, name: str) -> None:
    """What a proxy and this service could read differently is refused by name, and the connection ends: the second
    request is not answered."""
    told = talk(served, SMUGGLED[name])

    assert told.count(b"HTTP/1.1 ") == 1 and b'"version"' not in told
    assert told.startswith(b"HTTP/1.1 4") and b'"error"' in told


def test_a_broken_request_behind_others_is_no_answer_to_them(served: Service) -> None:
    """Requests that are under way when it comes: the answers that are sent are theirs."""
    told = talk(served, INNER * 2 + POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n")

    assert not told or re.findall(rb"HTTP/1.1 (\d+)", told)[0] == b"200"


def test_requests_that_are_sent_at_once_are_answered_in_turn(served: Service) -> None:
    record = opened(served.collector, document(CHEATED))
    requests = b""
    for _ in range(3):
        body = json.dumps(sent_report(served.collector, record, "yes")).encode()
        head = f"POST /api/surveys/{record.id}/reports HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        requests += head.encode() + b"Content-Type: application/json\r\n\r\n" + body
    told = talk(served, requests + INNER)

    assert re.findall(rb"HTTP/1.1 (\d+)", told) == [b"201"] * 3 + [b"200"]


@pytest.mark.parametrize("path", ["/api/session", "/api/surveys/{id}/reports", "/api/surveys/{id}/batches"])
@pytest.mark.parametrize("begun", [b"", b"{"])
@pytest.mark.parametrize("framing", [b"Content-Length: 100", b"Transfer-Encoding: chunked"])
def test_a_body_that_does_not_come(
    served: Service, monkeypatch: pytest.MonkeyPatch, path: str, begun: bytes, framing: bytes
) -> None:
    """Not even its first byte: 408, whatever comes before."""
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.2)
    record = opened(served.collector, document(CHEATED))
    head = f"POST {path.format(id=record.id)} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode()
    begun = b"1\r\n{\r\n" if begun and b"chunked" in framing else begun
    told = talk(served, head + framing + b"\r\n\r\n" + begun)

    assert told.startswith(b"HTTP/1.1 408 ") and b'"too-slow"' in told


def test_long_bodies_share_a_limit_of_memory(served: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many clients that each begin a long batch: some are asked to come back, and single reports go on."""
    monkeypatch.setattr(bodies, "MAX_PARTIAL_BYTES", 10_000)
    record = opened(served.collector, document(CHEATED))
    where = urlsplit(served.address)
    head = f"POST /api/surveys/{record.id}/batches HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n".encode()
    head += b"Content-Type: application/json\r\n\r\n"
    with socket.create_connection((where.hostname, where.port), timeout=10) as first:
        first.sendall(head + b" " * 8000)
        deadline = time.monotonic() + 5
        while PARTIAL.size < 8000 and time.monotonic() < deadline:
            time.sleep(0.01)
        told = talk(served, head + b" " * 8000)
        assert told.startswith(b"HTTP/1.1 503 ") and b'"busy"' in told and b"retry-after" in told.lower()
        sent = sent_report(served.collector, record, "yes")
        assert served.visitor().ask("POST", f"/api/surveys/{record.id}/reports", sent).status == 201
    while PARTIAL.size and time.monotonic() < deadline:
        time.sleep(0.01)
    assert PARTIAL.size == 0


def test_a_body_that_is_announced_too_long_is_not_waited_for(served: Service) -> None:
    record = opened(served.collector, document(CHEATED))
    for length in ("99999999", "9" * 30):
        head = f"POST /api/surveys/{record.id}/reports HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n".encode()
        told = talk(served, head + b"Content-Type: application/json\r\n\r\n{")
        assert told.startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 400 ")) and told.count(b"HTTP/1.1") == 1


# by name: the text of a report in the body, and what becomes of it
TEXTS: dict[str, tuple[bytes, set[int]]] = {
    "not a number": (b"NaN", {400}),
    "infinity": (b"Infinity", {400}),
    "a half": (b"1.5", {400}),
    "beyond 64 bits": (b"99999999999999999999999", {400}),
    "a million digits": (b"1" * 200_000, {400}),
    "minus nothing": (b"-0", {201, 400}),
    "a number in text": (b'"1"', {400}),
    "half a pair": (b'"\\ud800"', {400}),
    "a NUL": (b'"\\u0000"', {400}),
    "digits of another script": (b'"\\u0661"', {400}),
    "a list in a list": (b"[[1]]", {400}),
    "an object": (b'{"a": 1}', {400}),
    "a leading nought": (b"01", {400}),
    "a comma too many": (b"[1,]", {400}),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_a_report(served: Service, name: str) -> None:
    """Whatever is accepted is stored as the one text that a report has."""
    text, statuses = TEXTS[name]
    record = opened(served.collector, document(CHEATED))
    body = b'{"token":"%s","wave":1,"plan":"%s","report":%s}' % (
        os.urandom(16).hex().encode(),
        record.plan.digest.encode(),
        text,
    )
    answer = served.visitor().ask("POST", f"/api/surveys/{record.id}/reports", body)
    served.collector.intake.flush()
    stored = [one for block in served.collector.intake.reports(record.number) for one in block]

    assert answer.status in statuses and len(stored) == (answer.status == 201)
    assert set(stored) <= {b"0", b"1"}


@pytest.mark.parametrize("coding", ["utf-16", "utf-8-sig", "latin-1"])
def test_other_encodings_are_not_json(served: Service, coding: str) -> None:
    record = opened(served.collector, document(CHEATED))
    body = json.dumps({**sent_report(served.collector, record, "yes"), "é": 1}, ensure_ascii=False).encode(coding)
    answer = served.visitor().ask("POST", f"/api/surveys/{record.id}/reports", body)

    assert answer.status == 400 and answer.json["error"] == "bad-json"


@pytest.mark.parametrize(
    "path", ["/s/%ED%A0%80", "/s/%00", "/api/surveys/%ff", "/v/x/..%2f..%2fetc/passwd", "/static/..%2fx"]
)
@pytest.mark.parametrize("host", ["x", "[", "a b", "", "x:99999", "é"])
def test_strange_addresses_and_hosts(served: Service, path: str, host: str) -> None:
    told = talk(served, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode("latin-1"), wait=0)

    assert told.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 400 "))


ODD_LINES = {
    "a proxy's form": b"GET http://elsewhere.example/health HTTP/1.1\r\nHost: x\r\n",
    "all addresses": b"OPTIONS * HTTP/1.1\r\nHost: x\r\n",
    "a tunnel": b"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n",
    "another protocol": b"GET /health HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n",
    "HTTP/0.9": b"GET /health\r\n",
    "no host": b"GET /health HTTP/1.1\r\n",
    "a part of a file": b"GET /static/collector.css HTTP/1.1\r\nHost: x\r\nRange: bytes=0-1,0-1,0-1\r\n",
    "a method of nobody": b"BREW /health HTTP/1.1\r\nHost: x\r\n",
    "what is expected": b"GET /health HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n",
    "a very long address": b"GET /" + b"a" * 60_000 + b" HTTP/1.1\r\nHost: x\r\n",
    "very many parameters": b"GET /?" + b"lang=fr&" * 7_000 + b" HTTP/1.1\r\nHost: x\r\n",
    "strange languages": b"GET /health HTTP/1.1\r\nHost: x\r\nAccept-Language: fr;q=nan, en;q=1e999, ;;,\xff\r\n",
    "strange cookies": b"GET / HTTP/1.1\r\nHost: x\r\nCookie: murmure_session=\xff\x01; =; ;;murmure_language=zz\r\n",
}


@pytest.mark.parametrize("name", ODD_LINES)
def test_odd_requests_end_in_no_error_of_ours(served: Service, name: str) -> None:
    line = ODD_LINES[name]
    told = talk(served, line + b"Connection: close\r\n\r\n" if b"Connection" not in line else line + b"\r\n", wait=0)

    assert re.findall(rb"HTTP/1.1 (\d)", told) in ([b"2"], [b"4"]), told[:300]


def test_an_error_of_ours_says_nothing(
    served: Service,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """In the shape of every error; a page for pages. What went wrong may quote what somebody sent."""
    marie = served.analyst()

    def broken(*_: Any) -> Any:
        raise RuntimeError("the answer of somebody")

    monkeypatch.setattr(served.collector, "reception", broken)
    monkeypatch.setattr(served.collector.surveys, "of_owner", broken)
    body = {"token": "0" * 32, "wave": 1, "plan": "", "report": 1}
    hot = served.visitor().ask("POST", "/api/surveys/nosuchsurvey/reports", body)
    for answer in (marie.ask("GET", "/api/surveys"), hot):
        assert answer.status == 500 and answer.json.keys() == {"ok", "error", "message", "hint", "status"}
        assert answer.json["error"] == "internal" and b"somebody" not in answer.body
    page = marie.ask("GET", "/")
    assert page.status == 500 and page.headers["content-type"].startswith("text/html") and b"somebody" not in page.body
    assert served.collector.failures == 3  # what /metrics tells
    printed = capfd.readouterr()
    assert "somebody" not in caplog.text + printed.out + printed.err


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_an_export_on_a_full_disk(served: Service, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    """503 with the seconds to wait, without the paths of the server, and nothing is left behind."""
    record, marie = opened(served.collector, document(CHEATED)), served.analyst()
    sent = sent_report(served.collector, record, "yes")
    assert served.visitor().ask("POST", f"/api/surveys/{record.id}/reports", sent).status == 201
    served.collector.intake.flush()

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(served.collector.folder))

    for place in ("murmure.collector.http.page_routes.tempfile.mkdtemp", "murmure.collector.http.page_routes.export"):
        with monkeypatch.context() as patched:
            patched.setattr(place, full)
            answer = marie.ask("GET", f"/api/surveys/{record.id}/export.{ending}")
        assert (answer.status, answer.json["error"]) == (503, "disk") and int(answer.headers["retry-after"]) > 0
        assert str(served.collector.folder) not in answer.body.decode()
    assert not list(served.collector.folder.glob(".export-*"))
    assert marie.ask("GET", f"/api/surveys/{record.id}/export.{ending}").status == 200
