"""The process that serves surveys: its socket, its certificate, slow clients, and how it stops. The app is a stub."""

from __future__ import annotations

import asyncio
import datetime
import http.client
import ipaddress
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httptools")
pytest.importorskip("uvloop")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from murmure.collector.http import server
from murmure.collector.http.connections import RespondentConnection
from murmure.collector.http.server import ServeSettings, run_to_end, serve_app
from murmure.core.errors import InvalidParameter
from murmure.core.serving.listening import listening_socket

PLAIN = ServeSettings()
LINES: list[Any] = []  # connections to close after a test


@pytest.fixture(autouse=True)
def closed_lines() -> Iterator[None]:
    yield
    while LINES:
        LINES.pop().close()


async def stub(scope: Any, receive: Any, send: Any) -> None:
    """/slow waits half a second; /long sends 128 MB; anything else answers with the length of the body."""
    if scope["type"] != "http":
        raise NotImplementedError  # no lifespan
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if scope["path"] == "/slow":
        await asyncio.sleep(0.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    for _ in range(2000 if scope["path"] == "/long" else 0):
        await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
    await send({"type": "http.response.body", "body": str(len(body)).encode()})


@contextmanager
def served(settings: ServeSettings = PLAIN) -> Iterator[int]:
    stopping, started = threading.Event(), threading.Event()
    with listening_socket(settings.host, settings.port) as listening:
        port = listening.getsockname()[1]
        main = serve_app(stub, settings, listening, stopping, started.set)
        thread = threading.Thread(target=run_to_end, args=(main,))
        thread.start()
        assert started.wait(20)
        try:
            yield port
        finally:
            stopping.set()
            thread.join()


def get(port: int, path: str = "/", body: bytes = b"") -> tuple[int, bytes]:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    LINES.append(line)
    line.request("POST", path, body)
    answer = line.getresponse()
    return answer.status, answer.read()


def connect(port: int, text: bytes = b"") -> socket.socket:
    line = socket.create_connection(("127.0.0.1", port), timeout=10)
    LINES.append(line)
    line.sendall(text)
    return line


def read_all(line: socket.socket) -> bytes:
    parts = []
    while part := line.recv(65536):
        parts.append(part)
    return b"".join(parts)


# -- clients that take their time --------------------------------------------------------------------------------------


def test_a_header_that_comes_a_letter_at_a_time_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so is a connection that says nothing; a request that is being answered is not."""
    monkeypatch.setattr(RespondentConnection, "configure", lambda behind_proxy: None)
    monkeypatch.setattr(RespondentConnection, "silent_seconds", 0.3)
    with served() as port:
        silent, slow = connect(port), connect(port)
        begun = time.monotonic()
        with pytest.raises(OSError):
            for letter in b"POST / HTTP/1.1\r\nX-Slow: " + b"x" * 200:
                slow.sendall(bytes([letter]))
                time.sleep(0.02)
        assert 0.2 < time.monotonic() - begun < 3
        assert silent.recv(10) == b""
        assert get(port, "/slow") == (200, b"0")  # half a second, though only 0.3 may be silent


def test_half_a_header_is_told_that_it_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same name as half a body; a connection that says nothing has asked nothing."""
    monkeypatch.setattr(RespondentConnection, "configure", lambda behind_proxy: None)
    monkeypatch.setattr(RespondentConnection, "silent_seconds", 0.3)
    with served() as port:
        told = read_all(connect(port, b"POST / HTT"))
        assert told.startswith(b"HTTP/1.1 408 ") and b'"error": "too-slow"' in told
        assert read_all(connect(port)) == b""


def test_a_second_request_may_not_come_slowly_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RespondentConnection, "configure", lambda behind_proxy: None)
    monkeypatch.setattr(RespondentConnection, "silent_seconds", 1.0)  # below, nobody is waited for at all
    with served() as port:
        for _ in range(5):  # on a busy machine the connection may be idle for too long before its second request
            line = connect(port, b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab")
            assert line.recv(1000).startswith(b"HTTP/1.1 200 OK")
            begun = time.monotonic()
            line.sendall(b"POST / HTT")
            told, took = read_all(line), time.monotonic() - begun
            if told and took > 0.7:
                break
        assert told.startswith(b"HTTP/1.1 408 ")
        assert 0.7 < took < 10


def test_a_reader_that_stops_reading_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that is sent in parts does not wait for ever."""
    monkeypatch.setattr(RespondentConnection, "configure", lambda behind_proxy: None)
    monkeypatch.setattr(RespondentConnection, "silent_seconds", 0.3)
    with served() as port:
        connect(port, b"POST /long HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
        deadline = time.monotonic() + 5
        while not RespondentConnection.opened and time.monotonic() < deadline:
            time.sleep(0.01)
        while RespondentConnection.opened and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not RespondentConnection.opened


def test_headers_without_end() -> None:
    """A header longer than any browser's is refused in the shape of every other error; a long body is not a header."""
    with served() as port:
        line = connect(port, b"POST / HTTP/1.1\r\nX: ")
        with pytest.raises(OSError):
            for _ in range(1000):
                line.sendall(b"x" * 4096)
                time.sleep(0.001)
        assert get(port, "/", b"x" * 300_000) == (200, b"300000")
        assert get(port) == (200, b"0")


def test_long_headers_are_refused_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RespondentConnection, "max_header_bytes", 100)
    with served() as port:
        line = connect(port, b"POST / HTTP/1.1\r\n")
        for _ in range(2):
            time.sleep(0.05)
            line.sendall(b"X: " + b"x" * 80 + b"\r\n")
        head, _, body = read_all(line).partition(b"\r\n\r\n")

        assert head.startswith(b"HTTP/1.1 431 ")
        assert json.loads(body)["error"] == "too-large" and json.loads(body)["status"] == 431


TRAILERS = {"many": b"a: " + b"b" * 61 + b"\r\n", "one": b"b" * 4096, "extension": b"c" * 4096}


@pytest.mark.parametrize("kind", TRAILERS)
def test_headers_without_end_behind_a_body(kind: str) -> None:
    """They would fill the memory, and one that is never complete would be copied again and again."""
    with served() as port:
        line = connect(port, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        line.sendall({"many": b"1\r\nx\r\n0\r\n", "one": b"1\r\nx\r\n0\r\na: ", "extension": b"1;x="}[kind])
        with pytest.raises(OSError):
            for _ in range(1000):
                line.sendall(TRAILERS[kind] * (4096 // len(TRAILERS[kind])))
                time.sleep(0.001)
        assert get(port) == (200, b"0")


def test_chunks_of_one_byte_with_trailers_are_read() -> None:
    """Slow programs send them; their framing is five times as long as the body, and a short trailer is allowed."""
    with served() as port:
        line = connect(port, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        for _ in range(10):
            line.sendall(b"1\r\nx\r\n" * 100)
        line.sendall(b"0\r\nDigest: none\r\n\r\n")

        assert read_all(line).endswith(b"\r\n\r\n4\r\n1000\r\n0\r\n\r\n")


@pytest.mark.parametrize("text", [b"\x16\x03\x01\x02\x00\x01", b"GARBAGE\r\n\r\n", b"GET \xff HTTP/1.1\r\n\r\n"])
def test_what_is_not_http(text: bytes) -> None:
    """TLS to a port without TLS, for example: one JSON error, and the connection ends."""
    with served() as port:
        head, _, body = read_all(connect(port, text)).partition(b"\r\n\r\n")

        assert head.startswith(b"HTTP/1.1 400 ")
        assert json.loads(body) == {
            "ok": False,
            "error": "bad-request",
            "message": "this is not a request that can be read.",
            "hint": None,
            "status": 400,
        }


def test_more_connections_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest that wait for nothing make room, and respondents are answered."""
    monkeypatch.setattr(RespondentConnection, "configure", lambda behind_proxy: None)
    monkeypatch.setattr(RespondentConnection, "max_connections", 20)
    with served() as port:
        for _ in range(60):
            connect(port, b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nx")
        time.sleep(0.2)
        assert len(RespondentConnection.opened) <= 20
        assert get(port) == (200, b"0")


def test_behind_a_proxy_idle_connections_are_kept_longer_than_the_proxy_keeps_them() -> None:
    try:
        RespondentConnection.configure(behind_proxy=True)
        assert RespondentConnection.silent_seconds > 60
    finally:
        RespondentConnection.configure(behind_proxy=False)
    assert RespondentConnection.silent_seconds == 10


# -- addresses and certificates ----------------------------------------------------------------------------------------


def test_a_port_in_use() -> None:
    with served() as port, pytest.raises(InvalidParameter, match=f"cannot listen at '127.0.0.1' port {port}: "):
        listening_socket("127.0.0.1", port)


def write_certificate(folder: Path) -> tuple[Path, Path]:
    """Self-signed, for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir(exist_ok=True)
    certificate, private = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, private


def test_tls_with_a_certificate_of_its_own(tmp_path: Path) -> None:
    """Clients that trust it are served; one that never shakes hands does not stop them."""
    certificate, key = write_certificate(tmp_path)
    with served(ServeSettings(certificate=certificate, key=key)) as port:
        silent = connect(port)
        trusting = ssl.create_default_context(cafile=str(certificate))
        line = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=trusting)
        stranger = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=ssl.create_default_context())
        LINES.extend([line, stranger])
        line.request("POST", "/", b"abc")

        assert line.getresponse().read() == b"3"
        with pytest.raises(ssl.SSLCertVerificationError):
            stranger.request("GET", "/")
        silent.close()  # uvloop never closes a loop with half a handshake where warnings are errors, as in tests
        time.sleep(0.1)


def test_a_bad_certificate_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    """Not PEM, missing, or a key that belongs to another one; the folder of the surveys is not touched."""
    certificate, _ = write_certificate(tmp_path / "one")
    _, key = write_certificate(tmp_path / "other")
    for bad in ((certificate, key), (key, key), (tmp_path / "none.pem", key)):
        with pytest.raises(InvalidParameter, match=r"certificate .* cannot be used"):
            server.serve(tmp_path / "surveys", ServeSettings(certificate=bad[0], key=bad[1]))
    assert not (tmp_path / "surveys").exists()


# -- how it stops ------------------------------------------------------------------------------------------------------

PROCESS = """
import sys, threading
sys.path[:0] = sys.argv[1].split("|")
from murmure.collector.http.server import ServeSettings, run_to_end, serve_app, stopping_on_signals
from murmure.core.serving.listening import listening_socket
from tests.collector.http.test_server import stub
stopping = threading.Event()
with listening_socket("127.0.0.1", 0) as listening, stopping_on_signals(stopping):
    port = listening.getsockname()[1]
    run_to_end(serve_app(stub, ServeSettings(), listening, stopping, lambda: print(port, flush=True)))
print("closed", flush=True)
"""


@contextmanager
def process() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A real one, where Ctrl-C is heard (a test runner may have it ignored)."""
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    run = subprocess.Popen(
        [sys.executable, "-c", heard + PROCESS, str(Path(__file__).parents[3])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert run.stdout is not None
        yield run, int(run.stdout.readline())
    finally:
        run.kill()
        run.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_lets_requests_end(number: signal.Signals) -> None:
    """The one under way is answered, nobody new is let in, the exit code is 0, and nothing was logged."""
    with process() as (run, port):
        answers: list[Any] = []
        client = threading.Thread(target=lambda: answers.append(get(port, "/slow", b"abc")))
        client.start()
        time.sleep(0.2)
        run.send_signal(number)
        time.sleep(0.2)
        with pytest.raises(OSError):
            connect(port)
        client.join()
        printed, errors = run.communicate(timeout=10)

        assert answers == [(200, b"3")]
        assert (run.returncode, printed, errors) == (0, "closed\n", "")


def test_requests_that_never_end_are_waited_for_five_seconds() -> None:
    with process() as (run, port):
        connect(port, b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n")
        time.sleep(0.2)
        begun = time.monotonic()
        run.send_signal(signal.SIGTERM)

        assert run.wait(10) == 0
        assert 4 < time.monotonic() - begun < 8


def test_a_second_ctrl_c_leaves_at_once() -> None:
    with process() as (run, port):
        connect(port, b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n")
        time.sleep(0.2)
        begun = time.monotonic()
        run.send_signal(signal.SIGINT)
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)

        assert run.wait(10) == 130
        assert time.monotonic() - begun < 2


def test_an_ignored_signal_stays_ignored() -> None:
    """nohup, and jobs in the background."""
    earlier = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with server.stopping_on_signals(stopping := threading.Event()):
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.05)
            assert not stopping.is_set()
    finally:
        signal.signal(signal.SIGHUP, earlier)
