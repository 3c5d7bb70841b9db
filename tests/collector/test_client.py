"""The client in Python against a small stand-in: it sends one report until it is acknowledged, and never the answer."""

from __future__ import annotations

import doctest
import json
import logging
import pickle
import socket
import ssl
import sys
import threading
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.vectors.make_browser import stream

import murmure as mu
from murmure.collector import client as client_module
from murmure.collector.client import SurveyClient, SurveyReceipt
from murmure.collector.client_requests import WAITS, CollectorRefusal, NotAcknowledged, NotTrusted
from murmure.core.errors import CannotWrite, InvalidParameter, MurmureError, OutsideDomain, PlanMismatch, PlanRefused
from murmure.core.files import locked
from murmure.plan.public_coins import check_coins, coin_words, coins_from_hex, coins_in_hex
from murmure.plan.sent_reports import report_check

ID, TOKEN = "abc123def456", "0123456789abcdef" * 2
CHEATED = mu.Categories(["no", "yes"])
YES_NO = mu.Plan(mu.Histogram(CHEATED), person=mu.GRR(CHEATED, 1.0))
SCHEMA = mu.Schema({"cheated": CHEATED, "often": mu.Categories(["never", "once", "often"]), "town": mu.Categories(40)})
SEVERAL = mu.Plan(mu.Marginals(SCHEMA), person=mu.SMP(SCHEMA, 1.0, oracle=("GRR", "GRR", "OLH")), coins="collector")
WAVES = mu.Plan(mu.Histogram(CHEATED), person=mu.RAPPOR(CHEATED, 4.0, 1.0))
ANSWERS = {"cheated": "yes", "often": "never", "town": 7}


class StandIn:
    """A collector with one survey. `script`: what it does with the next requests, before it answers as it should."""

    def __init__(self, plan: mu.Plan[Any], names: tuple[str, ...] = ("cheated",), **fields: Any) -> None:
        self.plan, self.text = plan, plan.to_json()
        self.fields = {"ok": True, "id": ID, "state": "open", "wave": 1, "link": "open"} | fields
        self.fields["survey"] = {"questions": [{"name": name} for name in names]}
        self.bodies: list[bytes] = []
        self.stored: dict[tuple[str, int], Any] = {}
        self.script: list[Callable[[Any], None]] = []
        self.paths: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(handler) -> None:
                self.handle(handler)

            do_POST = do_GET

            def log_message(handler, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server.server_port}/prefix"

    def link(self, fragment: str | None = None) -> str:
        promised = f"p={self.plan.digest[:16]}&t={TOKEN}"
        return f"{self.base}/s/{ID}?lang=fr#{promised if fragment is None else fragment}"

    def handle(self, handler: Any) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        self.paths.append(handler.path)
        if body:
            self.bodies.append(body)
        if self.script and handler.path.endswith("/reports"):
            return self.script.pop(0)(handler)
        where = handler.path.removeprefix(f"/prefix/api/surveys/{ID}")
        if where == "":
            return reply(handler, 200, self.fields)
        if where == "/plan":
            return reply(handler, 200, self.text)
        document = json.loads(body)
        if where == "/coins":
            words = coin_words(self.plan, iter(stream(int(document["token"][:8], 16), 50)))
            return reply(
                handler, 200, {"ok": True, "coins": coins_in_hex(words), "token": registered(document["token"])}
            )
        assert where == "/reports" and document.keys() == {"token", "wave", "plan", "report"}
        place = document["token"], document["wave"]
        if self.stored.setdefault(place, document["report"]) != document["report"]:
            return reply(handler, 409, {"ok": False, "error": "spent", "message": "this link is spent", "status": 409})
        report_check(self.plan)(document["report"])
        return reply(handler, 201, {"ok": True, "stored": "now"})


def registered(token: str) -> str:
    """As the collector signs it, but for the key."""
    return token[:16] + "5" * 16


def reply(handler: Any, status: int, body: Any, **headers: str) -> None:
    raw = (body if isinstance(body, str) else json.dumps(body)).encode()
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(raw)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(raw)


def cut_off(handler: Any) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def half_an_answer(handler: Any) -> None:
    handler.send_response(201)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b'{"ok": true, "sto')
    handler.close_connection = True


def busy(handler: Any) -> None:
    reply(handler, 503, {"ok": False, "error": "busy", "message": "later", "status": 503}, Retry_After="7")


def portal(handler: Any) -> None:
    reply(handler, 200, "<html>pay for the wireless network</html>")


def proxy(handler: Any) -> None:
    reply(handler, 403, "<html>this site is blocked</html>")


def moved(handler: Any) -> None:
    reply(handler, 302, "", Location="http://127.0.0.1:9/elsewhere")


@pytest.fixture
def collector(request: pytest.FixtureRequest) -> Iterator[StandIn]:
    stand_in = StandIn(*getattr(request, "param", (YES_NO,)))
    yield stand_in
    stand_in.server.shutdown()
    stand_in.server.server_close()


several = pytest.mark.parametrize("collector", [(SEVERAL, SCHEMA.private)], indirect=True)
waves = pytest.mark.parametrize("collector", [(WAVES,)], indirect=True)


def client_of(collector: StandIn, fragment: str | None = None, **options: Any) -> tuple[SurveyClient, list[float]]:
    waits: list[float] = []
    return SurveyClient(collector.link(fragment), wait=waits.append, **options), waits


def test_one_answer(collector: StandIn) -> None:
    client, waits = client_of(collector)

    receipt = client.answer({"cheated": "yes"})

    (body,) = collector.bodies
    assert json.loads(body) == {"token": TOKEN, "wave": 1, "plan": YES_NO.digest, "report": receipt.report}
    assert receipt == SurveyReceipt(ID, 1, YES_NO.digest, receipt.report, "now")
    assert receipt.report in (0, 1) and waits == []


def test_reports_follow_the_law(collector: StandIn) -> None:
    """400 respondents say yes: six standard errors, which fails once in 5e8 runs. Open links: each makes its token."""
    fragment = f"p={YES_NO.digest}"
    reports = [client_of(collector, fragment)[0].answer("yes").report for _ in range(400)]

    assert abs(sum(reports) / 400 - 0.7311) < 6 * (0.7311 * 0.2689 / 400) ** 0.5
    assert len({json.loads(body)["token"] for body in collector.bodies}) == 400


@several
def test_several_answers_with_the_coins_of_the_collector(collector: StandIn) -> None:
    client, _ = client_of(collector)

    receipt = client.answer(ANSWERS)

    words = coin_words(SEVERAL, iter(stream(int(TOKEN[:8], 16), 50)))
    check_coins(SEVERAL, words, receipt.report)
    assert json.loads(collector.bodies[0]) == {"token": TOKEN}
    assert json.loads(collector.bodies[1])["token"] == client.token == registered(TOKEN)
    assert [path.rpartition("/")[2] for path in collector.paths] == [ID, "plan", "coins", "reports"]


@pytest.mark.parametrize("trouble", [cut_off, half_an_answer, busy, portal, proxy, moved], ids=lambda t: t.__name__)
def test_the_same_report_is_sent_until_it_is_acknowledged(collector: StandIn, trouble: Any) -> None:
    client, waits = client_of(collector)
    collector.script = [trouble, trouble]

    receipt = client.answer("yes")

    assert len(collector.bodies) == 3 and len(set(collector.bodies)) == 1
    assert json.loads(collector.bodies[0])["report"] == receipt.report
    assert waits == ([7.0, 7.0] if trouble is busy else [WAITS[0], WAITS[1]])


def test_tries_are_bounded_and_the_report_is_kept(collector: StandIn) -> None:
    client, waits = client_of(collector)
    collector.script = [cut_off] * (len(WAITS) + 1)

    with pytest.raises(NotAcknowledged, match=r"in 7 tries(.|\n)*client.send\(\) sends the same report again"):
        client.answer("yes")
    with pytest.raises(InvalidParameter, match="not been acknowledged yet"):
        client.answer("no")
    receipt = client.send()

    assert waits == list(WAITS)
    assert len(set(collector.bodies)) == 1 and collector.stored == {(TOKEN, 1): receipt.report}
    with pytest.raises(InvalidParameter, match="no report to send"):
        client.send()


def test_a_wave_is_answered_once(collector: StandIn) -> None:
    client, _ = client_of(collector)
    client.answer("yes")
    with pytest.raises(InvalidParameter, match="has already made its report for wave 1"):
        client.answer("yes")

    assert len(collector.bodies) == 1


def test_a_spent_link_is_an_error(collector: StandIn) -> None:
    """And no reason to draw again: the collector has seen the report."""
    collector.stored[TOKEN, 1] = "another"
    client, waits = client_of(collector)

    with pytest.raises(
        CollectorRefusal, match=r"refused this \(spent\): 'this link is spent' \(status 409\)"
    ) as refusal:
        client.answer("yes")
    with pytest.raises(InvalidParameter, match="has already made its report"):
        client.answer("yes")
    assert refusal.value.code == "spent" and waits == [] and len(collector.bodies) == 1


def test_another_plan_than_the_link_promises_is_refused(collector: StandIn) -> None:
    louder = mu.Plan(mu.Histogram(CHEATED), person=mu.GRR(CHEATED, 8.0))
    collector.text = louder.to_json()
    with pytest.raises(PlanMismatch, match="do not answer until it is explained"):
        client_of(collector)[0].answer("yes")
    with pytest.raises(PlanRefused, match="above the 2 that is allowed"):
        client_of(collector, f"p={louder.digest[:16]}", at_most=2.0)[0].answer("yes")
    clear = mu.Plan(mu.Histogram(CHEATED))
    collector.text = clear.to_json()
    with pytest.raises(PlanRefused, match="does not randomise answers where they are given"):
        client_of(collector, f"p={clear.digest[:16]}")[0].answer("yes")

    assert collector.bodies == []


def test_another_wave_of_a_plan_without_memory_is_refused(collector: StandIn) -> None:
    """Each would be a fresh draw: a collector that counts waves up would learn the answer."""
    collector.fields["wave"] = 2
    with pytest.raises(PlanRefused, match="wave 2 of a plan without memoised answers"):
        client_of(collector)[0].answer("yes")

    assert collector.bodies == []


@several
@pytest.mark.parametrize("wrong", ["f" * 32, TOKEN[:31], None, 5])
def test_a_collector_that_registers_another_token_gets_no_report(
    collector: StandIn, monkeypatch: pytest.MonkeyPatch, wrong: Any
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "registered", lambda token: wrong)
    client, _ = client_of(collector)

    with pytest.raises(InvalidParameter, match="did not register the token"):
        client.answer(ANSWERS)
    assert client.token == TOKEN and [path.rpartition("/")[2] for path in collector.paths] == [ID, "plan", "coins"]


def test_a_survey_that_takes_no_answers(collector: StandIn) -> None:
    collector.fields["state"] = "closed"
    with pytest.raises(CollectorRefusal, match="takes no answers now"):
        client_of(collector)[0].answer("yes")
    collector.fields |= {"state": "open", "link": "invitations"}
    with pytest.raises(InvalidParameter, match="this link has no token"):
        client_of(collector, f"p={YES_NO.digest[:16]}")[0].answer("yes")
    collector.fields["id"] = "other"
    with pytest.raises(InvalidParameter, match="does not describe a survey"):
        client_of(collector)[0].answer("yes")

    assert collector.bodies == []


@waves
def test_waves_are_answered_from_kept_bits(collector: StandIn) -> None:
    """The same key and question keep the same bits, over sessions; another answer is refused and nothing is sent."""
    key = bytes(range(32))
    with pytest.raises(InvalidParameter, match="the key of this device"):
        client_of(collector)[0].answer("yes")
    reports, codes = [], list[int]()
    for wave in range(1, 41):
        collector.fields["wave"] = wave
        client, _ = client_of(collector, key=key, seen=codes)
        reports.append(client.answer({"cheated": "yes"}).report)
        codes = client.seen
    kept = WAVES.person.client(key, f"{ID}:cheated").kept("yes")

    assert codes == [1] and [json.loads(body)["wave"] for body in collector.bodies] == list(range(1, 41))
    stay = WAVES.person.channel.yes_one / 2**64
    same = sum(int(report, 16) >> v & 1 == int(kept[0, 0]) >> v & 1 for report in reports for v in range(2))
    assert abs(same - 80 * stay) < 6 * (80 * stay * (1 - stay)) ** 0.5  # fails once in 5e8 runs
    collector.fields["wave"] = 41
    with pytest.raises(PlanRefused, match="one more would cost a further epsilon"):
        client_of(collector, key=key, seen=codes)[0].answer("no")
    assert len(collector.bodies) == 40


@waves
@pytest.mark.parametrize("fragment", ["", f"&t={TOKEN}"])
def test_waves_of_an_open_link_have_a_token_each(collector: StandIn, fragment: str) -> None:
    """So that nobody sees by the token that two reports come from one device; a one-time link carries its own."""
    client, _ = client_of(collector, f"p={WAVES.digest[:16]}{fragment}", key=bytes(32))
    for wave in (1, 2, 3):
        collector.fields["wave"] = wave
        client.answer("yes")
    tokens = {json.loads(body)["token"] for body in collector.bodies}

    assert len(tokens) == (1 if fragment else 3) and (tokens == {TOKEN}) == bool(fragment)


LINKS = (
    "",
    "https://host/s/abc#p=0123456789abcdef",
    f"ftp://host/s/{ID}#p=0123456789abcdef",
    f"https:///s/{ID}#p=0123456789abcdef",
    f"https://me:word@host/s/{ID}#p=0123456789abcdef",
    f"https://host/s/{ID}",
    f"https://host/s/{ID}#p=0123",
    f"https://host/s/{ID}#p=0123456789ABCDEF",
    f"https://host/s/{ID}#p=0123456789abcdef&t=short",
    f"https://[host/s/{ID}#p=0123456789abcdef",
    None,
)


@pytest.mark.parametrize("address", LINKS)
def test_links_that_are_refused(address: Any) -> None:
    with pytest.raises(InvalidParameter, match="SurveyClient"):
        SurveyClient(address)


@several
def test_no_secret_is_shown(collector: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the token nor the answer is in a repr, a message, a receipt or a log."""
    caplog.set_level(logging.DEBUG)
    client, _ = client_of(collector)
    texts = [repr(client), repr(client.answer(ANSWERS | {"often": "never"}))]
    collector.stored[registered(TOKEN), 1] = "another"
    for wrong in ({"cheated": "yes"}, "never", ANSWERS | {"often": "my never"}, ANSWERS):
        other, _ = client_of(collector)
        with pytest.raises(MurmureError) as refusal:
            other.answer(wrong)
        texts.append(str(refusal.value))
    other, _ = client_of(collector)
    with pytest.raises(OutsideDomain, match="not one that the survey allows") as refusal:
        other.answer(ANSWERS | {"often": "my never"})
    assert refusal.value.__suppress_context__
    with pytest.raises(InvalidParameter) as refused:
        SurveyClient(f"https://host/s/{ID}#t={TOKEN}")
    with pytest.raises(TypeError, match="does not travel"):
        pickle.dumps(client)
    texts += [str(refused.value), caplog.text]

    assert not any(secret in text for secret in (TOKEN, registered(TOKEN), "never") for text in texts)
    assert client.token == registered(TOKEN)
    assert not any(b"never" in body for body in collector.bodies)


def test_a_token_that_a_device_kept_is_used_again(collector: StandIn) -> None:
    fragment = f"p={YES_NO.digest[:16]}"
    first, _ = client_of(collector, fragment)
    first.answer("yes")
    again, _ = client_of(collector, fragment, token=first.token)

    assert (
        again.token == first.token != TOKEN and first.token is not None and len(coins_from_hex([first.token[:16]])) == 1
    )


# -- a file between runs ----------------------------------------------------------------------------------------------


def test_the_example_of_the_documentation_runs(collector: StandIn, tmp_path: Path) -> None:
    names = {"SurveyClient": SurveyClient, "link": collector.link(), "folder": tmp_path}
    (example,) = (one for one in doctest.DocTestFinder(recurse=False).find(client_module, globs=names) if one.examples)

    assert doctest.DocTestRunner().run(example) == (0, 4)


@several
def test_a_program_that_is_killed_goes_on_with_the_same_report(collector: StandIn, tmp_path: Path) -> None:
    """At each request in turn: nothing is drawn twice, coins are asked for one token alone, and it counts once."""
    fragment = f"p={SEVERAL.digest[:16]}"
    for place in range(5):
        collector.bodies.clear()
        collector.stored.clear()
        file = tmp_path / f"killed at {place}.json"

        class Killed(BaseException):
            pass

        def kill(path: str, requests: list[str], place: int = place) -> None:
            requests.append(path)
            if len(requests) == place + 1:
                raise Killed

        first = SurveyClient(collector.link(fragment), file=file)
        real, requests = first._requests._once, list[str]()

        def once(path: str, body: bytes | None, real: Any = real, requests: Any = requests, kill: Any = kill) -> Any:
            answered = real(path, body)  # it arrived, and its answer did not
            kill(path, requests)
            return answered

        first._requests._once = once  # type: ignore[method-assign]
        with suppress(Killed):
            first.answer(ANSWERS)
        second = SurveyClient(collector.link(fragment), file=file)
        if place < 3:  # no report was drawn
            second.answer(ANSWERS)
        elif place == 3:
            second.send()
        tokens = {json.loads(body)["token"][:16] for body in collector.bodies}  # the rest is the registration
        reports = {body for body in collector.bodies if b"report" in body}

        assert len(reports) == len(collector.stored) == 1 and len(tokens) == 1
        with pytest.raises(InvalidParameter, match="has already made its report for wave 1"):
            SurveyClient(collector.link(fragment), file=file).answer(ANSWERS)
        assert len(collector.stored) == 1


def test_the_file_holds_the_report_and_no_answer(collector: StandIn, tmp_path: Path) -> None:
    file, domain = tmp_path / "mine.json", mu.Categories(["my first", "my second"])
    collector.plan = mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, 1.0))
    collector.text = collector.plan.to_json()
    collector.script = [cut_off] * (len(WAITS) + 1)
    client, _ = client_of(collector, file=file)
    with pytest.raises(NotAcknowledged):
        client.answer("my second")
    kept = json.loads(file.read_text())

    assert kept.keys() == {"murmure_client", "survey", "token", "pending", "answered"}
    assert kept["pending"] == json.loads(collector.bodies[0]) and kept["answered"] == []
    assert "second" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.json", "mine.json.lock"]
    with pytest.raises(InvalidParameter, match="not been acknowledged yet"):
        client_of(collector, file=file)[0].answer("my first")
    assert client_of(collector, file=file)[0].send().report == kept["pending"]["report"]


def test_files_that_are_refused(collector: StandIn, tmp_path: Path) -> None:
    """Nothing is sent. Others may read it; it is a link, broken, of another survey or of another token; or in use."""
    file = tmp_path / "mine.json"
    state = {"murmure_client": 1, "survey": ID, "token": TOKEN, "pending": None, "answered": []}

    def refused(text: str, match: str, mode: int = 0o600) -> None:
        file.write_text(text)
        file.chmod(mode)
        with pytest.raises(InvalidParameter, match=match) as refusal:
            client_of(collector, file=file)[0].answer("yes")
        assert TOKEN not in str(refusal.value)

    refused(json.dumps(state), "others can read", 0o644)
    for text in ("", "[]", "{}", '{"murmure_client": 1}', json.dumps(state | {"murmure_client": 2}), "[" * 10**5):
        refused(text, "it is not such a file")
    refused(json.dumps(state | {"survey": "another00000"}), "belongs to another survey")
    refused(json.dumps(state | {"token": TOKEN[::-1]}), "belongs to another link")
    file.rename(tmp_path / "target.json")
    file.symlink_to(tmp_path / "target.json")
    with pytest.raises(InvalidParameter, match="cannot be used as the file of a respondent"):
        client_of(collector, file=file)[0].answer("yes")
    file.unlink()
    client, _ = client_of(collector, file=file)
    with locked(tmp_path / "mine.json.lock"), pytest.raises(InvalidParameter, match="another process is answering"):
        client.answer("yes")
    with pytest.raises(CannotWrite):
        client_of(collector, file=tmp_path / "nowhere" / "mine.json")[0].answer("yes")

    assert collector.paths == []


def test_a_certificate_that_is_not_trusted_loses_no_report(collector: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody was in between for a while: nothing was sent to them, and the same report goes out afterwards."""
    client, waits = client_of(collector)
    collector.script = [cut_off] * (len(WAITS) + 1)
    with pytest.raises(NotAcknowledged):
        client.answer("yes")

    def distrust(*_: Any, **__: Any) -> Any:
        raise urllib.error.URLError(ssl.SSLCertVerificationError("self-signed certificate"))

    with monkeypatch.context() as patch:
        patch.setattr(client._requests, "_open", distrust)
        with pytest.raises(NotTrusted, match="is not trusted, and nothing was sent"):
            client.send()
    assert len(waits) == len(WAITS), "it is not tried again"
    client.send()

    assert len(set(collector.bodies)) == 1
