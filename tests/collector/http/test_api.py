"""The API over a real socket: a survey from draft to published results, who may do what, and bad input by name."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.collector.documents import CHEATED, OFTEN, SURVEYS, document, opened, sent_report
from tests.collector.http.services import PASSWORD, Service, hash_quickly, service

import murmure as mu
from murmure.collector.http.openapi import PATHS
from murmure.collector.http.report_routes import MAX_BATCH, MAX_REPORT_BYTES
from murmure.collector.service.errors import STATUS


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with pytest.MonkeyPatch.context() as patch:
        hash_quickly(patch)
        with service(tmp_path_factory.mktemp("collector"), metrics_token="let me see") as running:
            running.analyst()
            yield running


def test_a_survey_from_draft_to_published_results(served: Service) -> None:
    analyst, anyone = served.analyst(), served.visitor()
    made = analyst.ask("POST", "/api/surveys", document(OFTEN))
    assert made.status == 201
    one = f"/api/surveys/{made.json['id']}"
    assert anyone.ask("GET", one).status == 404

    changed = analyst.ask("PUT", one, document(CHEATED))
    assert changed.status == 200 and analyst.ask("POST", f"{one}/open").json["state"] == "open"
    shown = anyone.ask("GET", one).json
    text = anyone.ask("GET", f"{one}/plan").body.decode()
    plan = mu.Plan.from_json(text)
    assert shown["plan"] == plan.digest and shown["survey"]["questions"][0]["name"] == "cheated"

    for i in range(40):
        report = plan.report(["yes" if i % 4 == 0 else "no"])
        sent = {"token": os.urandom(16).hex(), "wave": 1, "plan": plan.digest, "report": int(report.data[0])}
        assert anyone.ask("POST", f"{one}/reports", sent).status == 201
    assert anyone.ask("GET", f"{one}/results").status == 403
    assert analyst.ask("POST", f"{one}/publish").json["error"] == "state"

    assert analyst.ask("POST", f"{one}/close").json["state"] == "closed"
    assert anyone.ask("POST", f"{one}/reports", sent).json["error"] == "not-open"
    assert analyst.ask("POST", f"{one}/publish").json["state"] == "published"
    results = anyone.ask("GET", f"{one}/results").json
    assert results["people"] == 40 and len(results["release"]["figures"]) == 2


def test_the_plan_of_an_open_survey_is_the_text_of_its_opening(
    served: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients check its digest: a release that writes plans in another way still serves what was opened."""
    analyst, anyone = served.analyst(), served.visitor()
    record = opened(served.collector, document(OFTEN))
    draft = analyst.ask("POST", "/api/surveys", document(OFTEN)).json["id"]
    monkeypatch.setattr(mu.Plan, "to_json", lambda plan: '{"written": "in another way"}')

    text = anyone.ask("GET", f"/api/surveys/{record.id}/plan").body.decode()
    assert text == record.plan_text and mu.Plan.from_json(text).digest == record.plan.digest
    assert analyst.ask("GET", f"/api/surveys/{draft}/plan").json == {"written": "in another way"}


def test_an_acknowledgement_is_repeated_and_another_report_is_refused(served: Service) -> None:
    record = opened(served.collector, document(CHEATED))
    sent = sent_report(served.collector, record, "yes")
    path, anyone = f"/api/surveys/{record.id}/reports", served.visitor()

    first, again = (anyone.ask("POST", path, sent) for _ in range(2))
    other = anyone.ask("POST", path, {**sent, "report": 1 - sent["report"]})

    assert (first.status, first.json["stored"]) == (201, "now")
    assert (again.status, again.json["stored"]) == (200, "before")
    assert (other.status, other.json["error"]) == (409, "spent")
    served.collector.intake.flush()
    assert served.collector.results(record).n == 1


def test_a_batch_lists_only_what_was_refused(served: Service) -> None:
    record = opened(served.collector, SURVEYS["scale"][0])
    items = [{key: sent_report(served.collector, record, "once")[key] for key in ("token", "report")} for _ in range(5)]
    twice = items[0]
    forged = {**items[1], "token": os.urandom(16).hex(), "report": -1}
    spent = {**items[2], "report": "00" if items[2]["report"] != "00" else "01"}
    body = {"plan": record.plan.digest, "wave": 1, "reports": [*items, twice, forged, spent]}

    answer = served.visitor().ask("POST", f"/api/surveys/{record.id}/batches", body).json

    assert (answer["stored"], answer["before"]) == (5, 1)
    assert [one["place"] for one in answer["refused"]] == [6, 7]
    assert answer["refused"][0]["error"] == "bad-report"


def test_a_batch_of_bad_reports_is_refused_as_a_whole(served: Service) -> None:
    """Before much time is spent on it: each refusal takes as long as forty good reports, while everybody waits."""
    record = opened(served.collector, document(CHEATED))
    good = [{"token": os.urandom(16).hex(), "report": 1} for _ in range(10)]
    bad = [{"token": os.urandom(16).hex(), "report": 7} for _ in range(MAX_BATCH - 10)]
    body = {"plan": record.plan.digest, "wave": 1, "reports": [*good, *bad]}

    answer = served.visitor().ask("POST", f"/api/surveys/{record.id}/batches", body)
    fewer = {**body, "reports": [*good, *bad[:100]]}
    told = served.visitor().ask("POST", f"/api/surveys/{record.id}/batches", fewer).json

    assert (answer.status, answer.json["error"]) == (400, "bad-report") and len(answer.body) < 1000
    assert told["stored"] == 10 and len(told["refused"]) == 100  # none of the first batch was stored


EVERY_ACTION = [
    ("GET", "/api/surveys"),
    ("POST", "/api/surveys"),
    ("POST", "/api/advice"),
    ("DELETE", "/api/session"),
    *((method, "/api/surveys/{id}") for method in ("PUT", "DELETE")),
    *(("POST", f"/api/surveys/{{id}}/{action}") for action in ("open", "close", "publish", "next-wave", "invitations")),
    ("GET", "/api/surveys/{id}/forgeries"),
    *(("GET", f"/api/surveys/{{id}}/export.{ending}") for ending in ("parquet", "csv", "csv-metadata.json", "json")),
    ("GET", "/surveys/{id}/live"),
]


@pytest.mark.parametrize(("method", "path"), EVERY_ACTION)
def test_only_its_analyst_administers_a_survey(served: Service, method: str, path: str) -> None:
    """Without a session: 401. Of another analyst: 403, in the same words whether the survey exists or not."""
    record = opened(served.collector, document(CHEATED))
    body = document(CHEATED) if method in ("POST", "PUT") else None

    assert served.visitor().ask(method, path.format(id=record.id), body).status == 401
    if "{id}" in path:
        paul = served.analyst("paul")
        real, unreal = (paul.ask(method, path.format(id=survey), body) for survey in (record.id, "abcdefghijkm"))
        assert real.status == unreal.status == 403 and real.body == unreal.body


@pytest.mark.parametrize(("method", "path"), [action for action in EVERY_ACTION if action[0] != "GET"])
def test_what_changes_something_needs_the_token_of_the_session(served: Service, method: str, path: str) -> None:
    analyst = served.analyst()
    record = opened(served.collector, document(CHEATED))
    analyst.csrf = "0" * 32

    answer = analyst.ask(method, path.format(id=record.id), document(CHEATED))

    assert (answer.status, answer.json["error"]) == (403, "forbidden")
    assert served.collector.public(record.id).state == "open"


def test_cookies_are_for_the_server_alone(served: Service) -> None:
    answer = served.visitor().ask("POST", "/api/session", {"name": "marie", "password": PASSWORD})

    session, browser = (cookie.lower() for cookie in answer.set_cookies)
    assert "httponly" in session and "samesite=lax" in session
    assert "httponly" in browser and "samesite=strict" in browser


def test_guesses_of_a_password_are_limited(tmp_path: Path) -> None:
    with service(tmp_path) as running:
        running.analyst()
        codes = [
            running.visitor().ask("POST", "/api/session", {"name": "marie", "password": "x" * 12}).json["error"]
            for _ in range(14)
        ]

    assert codes[0] == "sign-in" and codes[-1] == "too-many"


GOOD: dict[str, Any] = {"token": "0" * 31 + "1", "wave": 1, "plan": None, "report": 1}
# by name: what is changed in a good request (a function of it), and the error
BAD_REPORTS: dict[str, tuple[Any, str]] = {
    "broken JSON": (lambda good: b'{"token": ', "bad-json"),
    "not UTF-8": (lambda good: b'{"token": "\xff\xfe"}', "bad-json"),
    "nothing": (lambda good: b"", "bad-json"),
    "a list": (lambda good: [good], "bad-request"),
    "a field too many": (lambda good: {**good, "answer": "yes"}, "bad-request"),
    "a field too few": (lambda good: {k: v for k, v in good.items() if k != "wave"}, "bad-request"),
    "a report of text": (lambda good: {**good, "report": "yes"}, "bad-report"),
    "a report of half": (lambda good: {**good, "report": 0.5}, "bad-request"),
    "a report of true": (lambda good: {**good, "report": True}, "bad-request"),
    "no report": (lambda good: {**good, "report": None}, "bad-request"),
    "a report outside": (lambda good: {**good, "report": 2}, "bad-report"),
    "a report below": (lambda good: {**good, "report": -1}, "bad-report"),
    "a very large report": (lambda good: {**good, "report": 10**30}, "bad-report"),
    "a report of records": (lambda good: {**good, "report": [1]}, "bad-report"),
    "another plan": (lambda good: {**good, "plan": "0" * 64}, "other-plan"),
    "another wave": (lambda good: {**good, "wave": 2}, "other-wave"),
    "a short token": (lambda good: {**good, "token": "1"}, "unknown-link"),
    "a token in capitals": (lambda good: {**good, "token": "A" * 32}, "unknown-link"),
    "nested lists": (lambda good: b"[" * 100_000, "bad-request"),
    "too long": (lambda good: {**good, "report": "0" * MAX_REPORT_BYTES}, "too-large"),
}


@pytest.mark.parametrize("name", BAD_REPORTS)
def test_a_bad_report_is_refused_by_name_and_not_stored(served: Service, name: str) -> None:
    record = opened(served.collector, document(CHEATED))
    change, code = BAD_REPORTS[name]
    good = {**GOOD, "plan": record.plan.digest}

    answer = served.visitor().ask("POST", f"/api/surveys/{record.id}/reports", change(good))

    assert (answer.status, answer.json["error"]) == (STATUS[code], code)
    assert answer.json["status"] == answer.status and not answer.json["ok"] and answer.json["message"]
    served.collector.intake.flush()
    assert served.collector.results(record).n == 0
    assert served.visitor().ask("POST", f"/api/surveys/{record.id}/reports", good).status == 201  # the good one is


def test_other_bad_requests(served: Service) -> None:
    record = opened(served.collector, document(CHEATED))
    anyone, path = served.visitor(), f"/api/surveys/{record.id}/reports"

    assert anyone.ask("POST", path, b"{}", Content_Type="text/plain").json["error"] == "type"
    assert anyone.ask("GET", path).json["error"] == "method"
    assert anyone.ask("POST", "/api/surveys/nosuchsurvey/reports", {}).json["error"] == "bad-request"
    assert anyone.ask("POST", "/api/surveys/nosuchsurvey/reports", {**GOOD, "plan": ""}).json["error"] == "not-found"
    assert anyone.ask("GET", "/nothing/here").json["error"] == "not-found"
    batch = {"plan": record.plan.digest, "wave": 1, "reports": []}
    assert anyone.ask("POST", f"/api/surveys/{record.id}/batches", batch).json["error"] == "bad-request"
    batch["reports"] = [{"token": "0" * 32, "report": 1}] * (MAX_BATCH + 1)
    assert anyone.ask("POST", f"/api/surveys/{record.id}/batches", batch).json["error"] == "bad-request"


def test_a_mistyped_address_is_a_page_for_browsers(served: Service) -> None:
    """Somebody who copied a link badly reads a sentence; programs, and whatever is below /api/, get JSON."""
    anyone = served.visitor()
    asked = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Accept-Language": "fr"}
    page = anyone.ask("GET", "/s/abcdefghijkl/", **asked)
    api = anyone.ask("GET", "/api/nothing", **asked)

    assert page.status == 404 and page.headers["content-type"].startswith("text/html")
    assert "ette adresse n’existe pas" in page.body.decode() and "default-src 'none'" in str(page.headers)
    assert api.json["error"] == anyone.ask("GET", "/nothing/here", Accept="*/*").json["error"] == "not-found"


def test_errors_are_in_the_language_of_the_request(served: Service) -> None:
    english = served.visitor().ask("GET", "/api/surveys/none").json
    french = served.visitor().ask("GET", "/api/surveys/none", Accept_Language="fr-FR,fr;q=0.9").json

    assert english["error"] == french["error"] == "not-found" and english["message"] != french["message"]


def fuzzed(rng: random.Random, good: dict[str, Any]) -> Any:
    """A good request with something wrong in it."""
    junk: list[Any] = [None, "", "x", -1, 2, 3.5, 1e400, True, [], [[]], {}, "0" * 32, "é\u0000", 2**70, ["0", None]]
    wrong = dict(good)
    for _ in range(rng.randint(1, 3)):
        field = rng.choice([*good, "extra"])
        value = rng.choice(junk)
        if value == good.get(field) and type(value) is type(good.get(field)):
            continue
        wrong[field] = value
    if wrong == good:
        wrong["report"] = 7
    text = json.dumps(wrong).encode()
    kind = rng.random()
    if kind < 0.1:
        return text[: rng.randrange(len(text))]
    if kind < 0.2:
        at = rng.randrange(len(text))
        broken = text[:at] + b"\x00" + text[at + 1 :]  # no JSON text has it anywhere
        return broken
    return text


def test_a_one_time_link_says_whether_it_was_used(served: Service) -> None:
    record = opened(served.collector, document(CHEATED, link="invitations"))
    sent, visitor = sent_report(served.collector, record, "yes"), served.visitor()
    ask = {"token": sent["token"]}
    before = visitor.ask("POST", f"/api/surveys/{record.id}/link", ask).json
    visitor.ask("POST", f"/api/surveys/{record.id}/reports", sent)
    after = visitor.ask("POST", f"/api/surveys/{record.id}/link", ask).json
    made_up = visitor.ask("POST", f"/api/surveys/{record.id}/link", {"token": "0" * 32})
    open_link = opened(served.collector, document(CHEATED))

    assert (before["used"], after["used"]) == (False, True)
    assert (made_up.status, made_up.json["error"]) == (403, "unknown-link")
    assert visitor.ask("POST", f"/api/surveys/{open_link.id}/link", ask).status == 409


def test_ten_thousand_fuzzed_reports_are_refused(tmp_path: Path) -> None:
    """Seeded; each has a field that is wrong, so each must be refused with a 4xx, and none stored."""
    import asyncio

    from murmure.collector.http.report_routes import ReportRoutes
    from murmure.collector.service.collector import Collector

    with Collector(tmp_path) as collector:
        record = opened(collector, document(CHEATED, link="invitations"))
        good = sent_report(collector, record, "yes")
        rng = random.Random(21)

        async def post(body: bytes) -> int:
            told: list[Any] = []

            async def receive() -> Any:
                return {"type": "http.request", "body": body}

            async def send(message: Any) -> None:
                told.append(message)

            scope = {"headers": [(b"content-type", b"application/json")], "query_string": b""}
            await ReportRoutes(collector)(record.id, "reports", scope, receive, send)
            return told[0]["status"]

        async def all_of_them() -> list[int]:
            return [await post(fuzzed(rng, good)) for _ in range(10_000)]

        statuses = asyncio.run(all_of_them())
        assert set(statuses) <= {400, 403, 409, 413} and len(statuses) == 10_000
        assert asyncio.run(post(json.dumps(good).encode())) == 201
        collector.intake.flush()
        assert collector.results(record).n == 1
        assert sum(collector.refusals(record).values()) + collector.refused_now()[0, "bad-json"] >= 9_000


def test_every_route_is_in_the_document(served: Service) -> None:
    """And nothing in the document is not served."""
    shown = served.visitor().ask("GET", "/openapi.json").json

    assert set(shown["paths"]) == set(PATHS)
    for path, operations in PATHS.items():
        for method in operations:
            answer = served.visitor().ask(
                method.upper(), path.format(id="nosuchsurvey"), {} if method != "get" else None
            )
            assert answer.status != 405 and not (answer.status == 404 and "no such address" in answer.body.decode()), (
                path
            )


def test_metrics_need_their_token(served: Service) -> None:
    assert served.visitor().ask("GET", "/metrics").status == 403
    told = served.visitor().ask("GET", "/metrics", Authorization="Bearer let me see").body.decode()

    assert "murmure_reports_stored_total" in told and "murmure_failures_total 0" in told


@pytest.mark.parametrize("ending", ["parquet", "csv", "json"])
@pytest.mark.parametrize("name", ["yes-no", "choice by OLH", "number", "several", "waves"])
def test_exports_say_what_the_results_say(served: Service, tmp_path: Path, name: str, ending: str) -> None:
    survey, answer = SURVEYS[name]
    record = opened(served.collector, survey)
    anyone, analyst = served.visitor(), served.analyst()
    for _ in range(25):
        sent = sent_report(served.collector, record, answer)
        assert anyone.ask("POST", f"/api/surveys/{record.id}/reports", sent).status == 201
    served.collector.intake.flush()
    for one in (ending, "csv-metadata.json") if ending == "csv" else (ending,):
        file = analyst.ask("GET", f"/api/surveys/{record.id}/export.{one}")
        assert file.status == 200
        (tmp_path / f"reports.{one}").write_bytes(file.body)

    release = mu.estimate(tmp_path / f"reports.{ending}")

    wanted = served.collector.results(record).release
    assert wanted is not None
    assert json.loads(release.to_json())["figures"] == json.loads(wanted.to_json())["figures"]
    assert not list(served.collector.folder.glob(".export-*"))  # nothing is left behind
