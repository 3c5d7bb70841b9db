"""A party's line to its coordinator: kept, made again when lost, and believing nothing that it should not."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from murmure.core.errors import InvalidParameter
from murmure.parties.http import client as module
from murmure.parties.http.client import Address, Client
from murmure.parties.party.refusals import StudyEnded, Unreachable, Untrusted
from murmure.secure.errors import BadMessage, Equivocation, ForgedMessage

Answer = Callable[[Any], None]


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Lines are broken here on purpose."""


@contextmanager
def serving(answer: Answer, context: ssl.SSLContext | None = None) -> Iterator[tuple[str, list[Any]]]:
    """A server that answers every request by `answer(handler)`; its address, and what was asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.append((self.command, self.path, self.body, self.client_address[1]))
            answer(self)

        do_GET = do_POST = _any

        def log_message(self, *args: Any) -> None:
            pass

    server = Quiet(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    scheme = "http" if context is None else "https"
    try:
        yield f"{scheme}://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def say(handler: Any, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


OPEN: list[Client] = []


def client_of(url: str, patience: float = 3.0, **more: Any) -> Client:
    OPEN.append(Client(Address.of(url), patience=patience, **more))
    return OPEN[-1]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def test_one_line_is_kept() -> None:
    """Many questions, one connection."""
    with serving(lambda h: say(h, 200, b"{}")) as (url, asked):
        client = client_of(url)
        for _ in range(5):
            client.send(b"message")

    assert [one[:3] for one in asked] == [("POST", "/messages", b"message")] * 5
    assert len({port for *_, port in asked}) == 1


@pytest.mark.parametrize("after", [False, True])
def test_a_lost_line_is_made_again_and_the_same_bytes_are_sent(after: bool) -> None:
    """Cut before the answer three times, or in the middle of it: the fourth time it arrives, and nothing differs."""

    def answer(handler: Any) -> None:
        if len(asked) < 4:
            if after:
                handler.send_response(200)
                handler.send_header("Content-Length", "100")
                handler.end_headers()
                handler.wfile.write(b"half")
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        say(handler, 200, b"{}")

    with serving(answer) as (url, asked):
        client = client_of(url)
        client.send(b"the same bytes")

    assert [body for _, _, body, _ in asked] == [b"the same bytes"] * 4


def test_pauses_grow_and_it_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.1, 0.2, 0.4 ... at most 5 s apart; after `patience` it says so, and what to do."""
    now, pauses = [0.0], []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(module.time, "sleep", sleep)
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(Unreachable, match="resumes where it stopped"):
        client_of(f"http://127.0.0.1:{port}", patience=60.0).study()

    assert pauses[:4] == pytest.approx([0.1, 0.2, 0.4, 0.8])
    assert max(pauses) == 5.0 and sum(pauses) <= 60.0


def test_redirects_are_not_followed() -> None:
    moved = {"Location": "http://127.0.0.1:1/messages"}
    with serving(lambda h: say(h, 307, b"", **moved)) as (url, asked), pytest.raises(Untrusted, match="elsewhere"):
        client_of(url).send(b"message")
    assert len(asked) == 1


@pytest.mark.parametrize("announced", [False, True])
def test_an_answer_that_is_too_large_is_not_read(announced: bool) -> None:
    """One that does not say how long it is has lost its header, and is asked for again until patience ends."""
    sent = []

    def answer(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header(*(("Content-Length", str(10**12)) if announced else ("Connection", "close")))
        handler.end_headers()
        try:
            for _ in range(10_000):
                handler.wfile.write(bytes(1 << 16))
                sent.append(1)
        finally:
            handler.close_connection = True

    error, said = (Untrusted, "larger than 65536 bytes") if announced else (Unreachable, "Hint")
    with serving(answer) as (url, _), pytest.raises(error, match=said):
        client_of(url).send(b"message")
    assert len(sent) < 1000


def test_an_answer_that_drips_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then keeps a socket alive; the whole answer has a time."""
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.2)

    def answer(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _ in range(1000):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.02)

    began = time.monotonic()
    with serving(answer) as (url, _), pytest.raises(Unreachable):
        client_of(url, patience=0.5).study()
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("status", "name", "error"),
    [
        (403, "ForgedMessage", ForgedMessage),
        (409, "Equivocation", Equivocation),
        (400, "BadMessage", BadMessage),
        (410, "StudyOver", StudyEnded),
        (409, "SystemExit", Untrusted),
        (404, "", Untrusted),
    ],
)
def test_refusals_have_names(status: int, name: str, error: type[Exception]) -> None:
    """A refusal is not asked again; only names of the protocol become its errors, and text is cleaned."""
    said = json.dumps({"error": name, "message": "no\x1b[31m way.\nsecond line"}).encode()
    with serving(lambda h: say(h, status, said)) as (url, asked), pytest.raises(error) as caught:
        client_of(url).send(b"message")

    assert len(asked) == 1
    assert "no [31m way." in str(caught.value) and "second line" not in str(caught.value)


def test_a_coordinator_that_starts_again_is_waited_for() -> None:
    """503 of a proxy, 500 of a crash: not an answer."""
    with serving(lambda h: say(h, (503, 500, 200)[min(len(asked), 3) - 1], b"{}")) as (url, asked):
        client_of(url).send(b"message")
    assert len(asked) == 3


@pytest.mark.parametrize(
    "raw", [b"", b"\1\0\0\0", b"\1\0\0\0\5\0\0\0abc", b"\0\0\0\0x", b"\xff\xff\xff\xff", b"\1\0\0\0\xff\xff\xff\xffabc"]
)
def test_an_inbox_that_is_cut_is_refused(raw: bytes) -> None:
    with serving(lambda h: say(h, 200, raw)) as (url, _), pytest.raises(Untrusted, match=r"truncated|longer"):
        client_of(url).inbox(lambda: b"ask", 0, 1000)


def test_an_inbox() -> None:
    raw = b"\2\0\0\0" + b"\3\0\0\0abc" + b"\0\0\0\0"
    with serving(lambda h: say(h, 200, raw)) as (url, asked):
        assert client_of(url).inbox(lambda: b"ask", 7, 1000) == [b"abc", b""]
    assert asked[0][:3] == ("POST", "/inbox?wait=7", b"ask")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host",
        "https://",
        "host:80",
        "https://user:hidden@host",
        "https://h/?a=1",
        "http://[x",
        "https://a b",
        "https://h/\x01",
        "https://" + "a" * 64,
        "https://h\u00e9",
    ],
)
def test_an_address_that_cannot_be_read_is_not_repeated(url: str) -> None:
    """There may be a password in it."""
    with pytest.raises(InvalidParameter) as caught:
        Address.of(url)
    assert "hidden" not in str(caught.value)


def test_plain_http_is_for_this_machine() -> None:
    with pytest.raises(Untrusted, match="not encrypted"):
        Address.of("http://coordinator.example")
    assert Address.of("http://coordinator.example", plain=True).url == "http://coordinator.example:80"
    assert Address.of("https://coordinator.example/study/").url == "https://coordinator.example:443/study"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_certificates(tmp_path: Path) -> None:
    """Our own authority by --ca; unknown ones, and other names, are refused at once."""
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    made = ["openssl", "req", "-x509", *curve, "-nodes", "-days", "2", "-keyout", "key.pem", "-out"]
    subprocess.run(
        [*made, "cert.pem", "-subj", "/CN=x", "-addext", "subjectAltName=IP:127.0.0.1"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")

    with serving(lambda h: say(h, 200, b"study"), context) as (url, asked):
        client = client_of(url, ca=tmp_path / "cert.pem")
        assert client.study() == b"study"
        with pytest.raises(Untrusted, match="--ca"):
            client_of(url).study()
        with pytest.raises(Untrusted):
            client_of(url.replace("127.0.0.1", "localhost"), ca=tmp_path / "cert.pem").study()
        with pytest.raises(InvalidParameter, match="PEM"):
            client_of(url, ca=tmp_path / "missing.pem").study()
    assert len(asked) == 1
