"""Bodies that come slowly, in parts, too long, or too many at once; over a real socket."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.collector.documents import CHEATED, document, opened, sent_report
from tests.collector.http.services import Service, service

pytest.importorskip("httptools")

from murmure.collector.http import bodies
from murmure.collector.http.report_routes import MAX_BATCH_BYTES


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path) as running:
        yield running
        assert bodies.PARTIAL.size == 0


def begin(running: Service, survey: str, announced: int, kind: str = "reports") -> socket.socket:
    """A connection with the header of a request."""
    line = socket.create_connection(("127.0.0.1", int(running.address.rpartition(":")[2])), timeout=20)
    head = f"POST /api/surveys/{survey}/{kind} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    line.sendall(f"{head}Content-Length: {announced}\r\n\r\n".encode())
    return line


def answer(line: socket.socket) -> dict[str, Any]:
    data = b""
    while b"\r\n\r\n" not in data or not data.endswith(b"}"):
        part = line.recv(65536)
        assert part, data
        data += part
    return dict(json.loads(data.partition(b"\r\n\r\n")[2]))


@pytest.mark.parametrize("sent", [b"", b'{"token": '])
def test_a_body_that_does_not_come_is_refused_after_a_while(
    served: Service, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it, or a part: its connection is not held for ever."""
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.3)
    record = opened(served.collector, document(CHEATED))
    with closing(begin(served, record.id, 100)) as line:
        line.sendall(sent)
        begun = time.monotonic()
        told = answer(line)

    assert (told["error"], told["status"]) == ("too-slow", 408)
    assert 0.2 < time.monotonic() - begun < 5


def test_a_body_in_many_parts_is_read(served: Service) -> None:
    record = opened(served.collector, document(CHEATED))
    raw = json.dumps(sent_report(served.collector, record, "yes")).encode()
    with closing(begin(served, record.id, len(raw))) as line:
        for place in range(len(raw)):
            line.sendall(raw[place : place + 1])
            time.sleep(0.001)

        assert answer(line) == {"ok": True, "stored": "now"}


def test_too_many_bodies_at_once(served: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long ones that do not end share a limit; a report in one piece is taken all the same, and room comes back."""
    monkeypatch.setattr(bodies, "MAX_PARTIAL_BYTES", 3_000_000)
    record = opened(served.collector, document(CHEATED))
    held = [begin(served, record.id, MAX_BATCH_BYTES, "batches") for _ in range(2)]
    for line in held:
        line.sendall(b" " * 1_000_000)
    deadline = time.monotonic() + 10
    while bodies.PARTIAL.size < 2_000_000 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert bodies.PARTIAL.size == 2_000_000
    with closing(begin(served, record.id, MAX_BATCH_BYTES, "batches")) as late:
        late.sendall(b" " * 1_100_000)
        told = answer(late)
    anyone, path = served.visitor(), f"/api/surveys/{record.id}/reports"

    assert (told["error"], told["status"]) == ("busy", 503)
    assert anyone.ask("POST", path, sent_report(served.collector, record, "yes")).status == 201
    for line in held:
        line.close()
    while bodies.PARTIAL.size and time.monotonic() < deadline:
        time.sleep(0.01)
    assert bodies.PARTIAL.size == 0
