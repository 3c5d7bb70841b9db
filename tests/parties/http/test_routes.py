"""The coordinator over HTTP: whatever comes is taken once or refused by its name, and nobody can stop the others."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.parties import hands as hands_of

from murmure.core.errors import InvalidParameter
from murmure.parties.coordinator.errors import LogFailed
from murmure.parties.http import connections, request_bodies
from murmure.parties.http.address import Address
from murmure.parties.http.client import Client
from murmure.parties.party.refusals import Unreachable, Untrusted
from murmure.secure import coordinator as machine
from murmure.secure.identity import Identity
from murmure.secure.messages import Kind, sign_message


@pytest.fixture
def hands(tmp_path: Path) -> Any:
    return hands_of.Hands(tmp_path)


def test_a_whole_study(tmp_path: Path) -> None:
    """Two rounds, five parties at once: the sum is exact, at the coordinator and at every party; then it stops."""
    hands = hands_of.Hands(tmp_path, rounds=2)
    with hands_of.serving(hands.folder) as (line, served):
        parties = [hands.hand(p) for p in range(5)]
        raised = hands_of.together([lambda one=one: hands_of.take_part(one, line) for one in parties])
        seen = served.ended()

    assert raised == []
    wanted = [hands.total(range(5), r) for r in (1, 2)]
    assert all(party.results == wanted for party in parties)
    assert [list(one.sums) for one in seen.results] == wanted


def test_two_vanish_over_http(tmp_path: Path) -> None:
    """Of six one never comes, and one goes before its vector: the sum is over the other four."""
    hands = hands_of.Hands(tmp_path, n=6, dropouts=2)
    with hands_of.serving(hands.folder, wait=0.5, patience=0.5) as (line, served):
        parties = [hands.hand(p) for p in range(5)]

        def gone(party: Any) -> bool:
            return bool(party.place == 4 and party.party.stage == "alive")  # masked, and not sent

        raised = hands_of.together([lambda one=one: hands_of.take_part(one, line, gone) for one in parties])
        seen = served.ended()

    assert raised == []
    assert list(seen.results[0].sums) == hands.total((0, 1, 2, 3))
    assert [seen.progress.party_state(p) for p in range(6)] == ["done", "done", "done", "done", "vanished", "vanished"]


def test_the_study_is_handed_out(hands: Any) -> None:
    with hands_of.serving(hands.folder) as (line, _):
        status, body, headers = line.request("GET", "/study")

    assert status == 200 and body == hands.folder.signed
    assert headers["content-type"] == "application/json"


def test_refused_by_name(hands: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Cut, glued, forged, of another study, too early, twice and different: a name, a 4xx, a line without payload."""
    caplog.set_level(logging.INFO, "murmure.coordinator")
    stranger = Identity.fresh()
    one, two = hands.hand(0), hands.hand(1)
    keys = one.party.keys()
    session = one.party.session.digest
    changed = bytearray(keys)
    changed[60] ^= 1
    other = sign_message(Kind.KEYS, session, 0, bytes(range(96)), one.identity)
    with hands_of.serving(hands.folder) as (line, _):
        assert line.send(keys) == (200, "") and line.send(keys) == (200, "")
        cases = {
            keys[:-1]: (400, "BadMessage"),
            keys + b"\0": (400, "BadMessage"),
            b"": (400, "BadMessage"),
            b"\0" * 200: (400, "BadMessage"),
            bytes(changed): (403, "ForgedMessage"),
            sign_message(Kind.KEYS, session, 1, keys[44:140], stranger): (403, "ForgedMessage"),
            sign_message(Kind.KEYS, bytes(32), 1, bytes(96), two.identity): (409, "WrongSession"),
            sign_message(Kind.KEYS, session, 77, bytes(96), stranger): (409, "RosterDiffers"),
            other: (409, "Equivocation"),
            sign_message(Kind.MASKED, session, 1, bytes(32), two.identity): (409, "OutOfOrder"),
            sign_message(Kind.REVEAL, session, 0, bytes(12), one.identity): (409, "OutOfOrder"),
            sign_message(Kind.ROSTER, session, 0xFFFFFFFF, b"", stranger): (409, "RosterDiffers"),
            one.ask(): (400, "BadMessage"),
        }
        got = {raw: line.send(raw) for raw in cases}
        status, body, _ = line.request(
            "POST", "/inbox", sign_message(Kind.ASK, hands.study.digest, 0, bytes(12), two.identity)
        )
        assert (status, json.loads(body)["error"]) == (403, "ForgedMessage")
        status, body, _ = line.request("POST", "/inbox", keys)
        assert status == 413  # longer than any question for an inbox
        status, body, _ = line.request("POST", "/inbox", sign_message(Kind.ASK, bytes(32), 0, bytes(12), one.identity))
        assert (status, json.loads(body)["error"]) == (409, "WrongSession")

    assert got == cases
    said = caplog.text
    for name in ("BadMessage", "ForgedMessage", "WrongSession", "Equivocation", "OutOfOrder"):
        assert name in said
    assert "somebody as Hôpital Nord" in said
    for secret in (keys, bytes(changed), hands.folder.token.encode()):
        assert secret.hex() not in said and str(secret) not in said and secret[40:60].hex() not in said
    assert hands.folder.token not in said


def test_a_body_too_long_is_refused_before_it_is_read(hands: Any) -> None:
    """By the length that it announces; one without a length is cut off where it passes what a study can need."""
    with hands_of.serving(hands.folder) as (line, _):
        for head in (b"Content-Length: 999999999999999999", b"Content-Length: 5000000"):
            with socket.create_connection((line.host, line.port), timeout=5) as raw:
                raw.sendall(b"POST /messages HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n")
                answer = raw.recv(4096)
                assert answer.startswith(b"HTTP/1.1 413") and b"TooLarge" in answer + raw.recv(4096)
                assert raw.recv(4096) == b""  # and closed
        with socket.create_connection((line.host, line.port), timeout=5) as raw:
            raw.sendall(b"POST /messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            answer = b""
            try:
                for _ in range(1000):
                    raw.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
            except OSError:
                pass  # it does not listen any more
            try:
                answer = raw.recv(4096)
            except OSError:
                answer = b"HTTP/1.1 413"  # it was reset before its answer could be read
            assert answer.startswith(b"HTTP/1.1 413")
        assert line.send(hands.hand(0).party.keys()) == (200, "")


def test_the_longest_message_fits(hands: Any) -> None:
    """What is refused for its length is longer than any message of the protocol."""
    longest = max(hands.study.session(1, range(5)).max_message_bytes, 0)
    party = hands.hand(0)
    with hands_of.serving(hands.folder) as (line, _):
        raw = sign_message(Kind.KEYS, party.party.session.digest, 0, bytes(longest - 108), party.identity)
        assert len(raw) == longest
        assert line.send(raw) == (400, "BadMessage")
        assert line.send(raw + b"\0") == (413, "TooLarge")


def test_a_poll_waits_and_wakes_at_once(hands: Any) -> None:
    """Nothing comes before the stage is closed, and then it comes at once to all who wait."""
    with hands_of.serving(hands.folder) as (line, _):
        parties = [hands.hand(p) for p in range(5)]
        for party in parties[:4]:
            assert line.send(party.party.keys()) == (200, "")
        begun = time.monotonic()
        assert line.inbox(parties[0].ask(), 0.3) == []
        assert 0.3 <= time.monotonic() - begun < 2
        got: dict[int, float] = {}

        def poll(party: Any) -> None:
            assert len(line.inbox(party.ask(), 20)) == 1
            got[party.place] = time.monotonic()

        threads = [threading.Thread(target=poll, args=(party,)) for party in parties[:4]]
        for thread in threads:
            thread.start()
        time.sleep(0.4)
        assert not got
        assert line.send(parties[4].party.keys()) == (200, "")
        closed = time.monotonic()
        for thread in threads:
            thread.join(10)

    assert sorted(got) == [0, 1, 2, 3]
    assert max(got.values()) - closed < 1.0


def test_small_answers_are_sent_at_once(hands: Any) -> None:
    """On a kept connection fifty polls take much less than fifty times the 40 ms that TCP holds small packets back."""
    hand = hands.hand(0)
    with hands_of.serving(hands.folder) as (line, _):
        kept = http.client.HTTPConnection(line.host, line.port, timeout=10)
        begun = time.monotonic()
        for _ in range(50):
            kept.request("POST", "/inbox?wait=0", hand.ask())
            assert kept.getresponse().read() == bytes(4)
        took = time.monotonic() - begun
        kept.close()

    assert took < 1.0


def test_a_second_poll_takes_the_place_of_the_first(hands: Any) -> None:
    """A party that was cut off does not fill the coordinator with polls."""
    with hands_of.serving(hands.folder) as (line, _):
        party = hands.hand(0)
        ended: list[float] = []

        def poll() -> None:
            assert line.inbox(party.ask(), 20) == []
            ended.append(time.monotonic())

        begun = time.monotonic()
        first = threading.Thread(target=poll)
        first.start()
        time.sleep(0.3)
        assert line.inbox(party.ask(), 0.3) == []
        first.join(5)

    assert ended and ended[0] - begun < 2


@pytest.mark.parametrize("wait", ["-1", "x", "nan", "inf", "1e999", ""])
def test_nonsense_as_a_wait(hands: Any, wait: str) -> None:
    """No wait, or the longest; never an error of ours."""
    party = hands.hand(0)
    with hands_of.serving(hands.folder) as (line, _):
        if wait in ("inf", "1e999"):
            with pytest.raises(TimeoutError):
                line.request("POST", f"/inbox?wait={wait}", party.ask(), timeout=0.5)
        else:
            assert line.request("POST", f"/inbox?wait={wait}", party.ask())[0] == 200


def test_strangers_cannot_stop_the_others(hands: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """500 connections that say nothing, half a header or half a body, while the study runs to its end."""
    monkeypatch.setattr(connections.TimedProtocol, "max_silent", 60)
    starts = (
        b"",
        b"POST /messages HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: 300\r\n\r\nMU",
    )
    held: list[socket.socket] = []
    with hands_of.serving(hands.folder) as (line, served):
        for i in range(500):
            one = socket.create_connection((line.host, line.port), timeout=5)
            one.sendall(starts[i % 3])
            held.append(one)
        parties = [hands.hand(p) for p in range(5)]
        begun = time.monotonic()
        raised = hands_of.together([lambda one=one: hands_of.take_part(one, line) for one in parties])
        took = time.monotonic() - begun
        for one in held:
            one.close()
        served.ended()

    assert raised == [] and took < 10
    assert all(party.results == [hands.total(range(5))] for party in parties)


def test_who_says_nothing_is_hung_up_on(hands: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection without a request, or whose header or body comes a letter at a time, is closed after a while."""
    monkeypatch.setattr(connections.TimedProtocol, "silent_seconds", 0.4)
    monkeypatch.setattr(request_bodies, "BODY_SECONDS", 0.4)
    with hands_of.serving(hands.folder) as (line, _):
        silent = socket.create_connection((line.host, line.port), timeout=5)
        slow = socket.create_connection((line.host, line.port), timeout=5)
        body = socket.create_connection((line.host, line.port), timeout=5)
        body.sendall(b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: 300\r\n\r\n")
        begun = time.monotonic()
        closed = False
        for letter in b"GET /study HTTP/1.1\r\nX-Slow: " + b"x" * 100:
            try:
                slow.sendall(bytes([letter]))
                body.sendall(b"x")
            except OSError:
                closed = True
                break
            time.sleep(0.02)
        assert closed and time.monotonic() - begun < 3
        assert silent.recv(10) == b""
        for one in (silent, slow, body):
            one.close()
        party = hands.hand(0)
        begun = time.monotonic()
        assert line.inbox(party.ask(), 1.2) == []  # whoever waits for an answer is not hung up on
        assert time.monotonic() - begun >= 1.2


def test_the_room_for_bodies_is_bounded(hands: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """When strangers fill it with bodies that never end, those go, and a party's message comes through."""
    monkeypatch.setattr(request_bodies, "ROOM_BYTES", 2000)
    with hands_of.serving(hands.folder) as (line, _):
        longest = hands.study.session(1, range(5)).max_message_bytes
        held = []
        for _ in range(30):
            one = socket.create_connection((line.host, line.port), timeout=5)
            one.sendall(
                f"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: {longest}\r\n\r\n".encode() + b"x" * 300
            )
            held.append(one)
        assert line.send(hands.hand(0).party.keys()) == (200, "")
        answer = held[0].recv(4096)
        for one in held:
            one.close()

    assert answer.startswith(b"HTTP/1.1 503")


def test_unmasking_does_not_stop_the_others(hands: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the sum is unmasked (here: for a second and a half), the page and polls are answered."""
    close, begun = machine.Coordinator._close_reveal, threading.Event()

    def slow(self: Any) -> None:
        begun.set()
        time.sleep(1.5)
        close(self)

    monkeypatch.setattr(machine.Coordinator, "_close_reveal", slow)
    with hands_of.serving(hands.folder) as (line, served):
        parties = [hands.hand(p) for p in range(5)]
        works = [lambda one=one: hands_of.take_part(one, line) for one in parties]
        thread = threading.Thread(target=lambda: hands_of.together(works))
        thread.start()
        assert begun.wait(20)
        longest = 0.0
        for _ in range(10):
            at = time.monotonic()
            assert line.request("GET", f"/status.json?token={hands.folder.token}")[0] == 200
            assert line.request("GET", "/study")[0] == 200
            longest = max(longest, time.monotonic() - at)
        thread.join(20)
        served.ended()

    assert longest < 0.7
    assert parties[0].results == [hands.total(range(5))]


def test_a_disk_that_fails_stops_the_coordinator(hands: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is not acknowledged (503: say it again later), and the process ends with the reason."""
    from murmure.parties.coordinator.store import CoordinatorStore

    def full(*args: Any) -> None:
        raise LogFailed("the disk is full.")

    with hands_of.serving(hands.folder) as (line, served):
        assert line.send(hands.hand(0).party.keys()) == (200, "")
        monkeypatch.setattr(CoordinatorStore, "append", full)
        assert line.send(hands.hand(1).party.keys()) == (503, "LogFailed")
        with pytest.raises(LogFailed, match="full"):
            served.ended()


def test_whoever_comes_after_the_end_is_told(hands: Any) -> None:
    """Served again, a finished study hands out its result; anything new gets 410."""
    with hands_of.serving(hands.folder) as (line, served):
        parties = [hands.hand(p) for p in range(5)]
        hands_of.together([lambda one=one: hands_of.take_part(one, line) for one in parties])
        served.ended()
    with hands_of.serving(hands.folder, once=False) as (line, _):
        assert line.inbox(parties[0].ask(0)) == parties[0].heard
        assert line.request("POST", "/inbox?wait=20", parties[0].ask())[0] == 410
        late = parties[0].party._sign(Kind.REFUSE, b"")  # the party itself knows that it is too late
        assert line.send(late) == (410, "StudyOver")


def test_other_paths_and_methods(hands: Any) -> None:
    with hands_of.serving(hands.folder) as (line, _):
        assert line.request("GET", "/messages")[0] == 405
        assert line.request("GET", "/../office/identity.key")[0] == 404
        assert line.request("PUT", "/study", b"x")[0] == 405


def test_over_tls(hands: Any, tmp_path: Path) -> None:
    """With a certificate it speaks TLS and nothing else; the cookie of its page never travels without."""
    certificate, key = self_signed(tmp_path)
    with hands_of.serving(hands.folder, certificate=certificate, key=key) as (_, served):
        assert served.where.parties.startswith("https://127.0.0.1:")
        port = int(served.where.parties.rsplit(":", 1)[1])
        trusting = ssl.create_default_context(cafile=str(certificate))
        line = http.client.HTTPSConnection("127.0.0.1", port, context=trusting, timeout=10)
        line.request("GET", f"/?token={hands.folder.token}")
        answer = line.getresponse()
        answer.read()
        assert answer.status == 200 and "Secure" in (answer.getheader("set-cookie") or "")
        line.request("POST", "/messages", hands.hand(0).party.keys())
        assert line.getresponse().status == 200
        line.close()
        with pytest.raises((http.client.HTTPException, OSError)):
            hands_of.Line(f"http://127.0.0.1:{port}").request("GET", "/study")


def test_http_at_a_port_of_tls_and_https_at_a_plain_one(hands: Any, tmp_path: Path) -> None:
    """Said at once, with the address that is right; a port where nobody is, is something else."""
    certificate, key = self_signed(tmp_path)
    for secure, pair in (("https", {"certificate": certificate, "key": key}), ("http", {})):
        with hands_of.serving(hands.folder, **pair) as (_, served):
            right = served.where.parties
            wrong = right.replace(secure, "http" if secure == "https" else "https", 1)
            began = time.monotonic()
            with Client(Address.of(wrong), patience=60.0) as client, pytest.raises(Untrusted) as caught:
                client.study()
            assert right in caught.value.hint and time.monotonic() - began < 20
            with Client(Address.of(right), certificate, patience=10.0) as client:
                assert client.study() == hands.folder.signed
    with Client(Address.of(right), patience=0.5) as client, pytest.raises(Unreachable) as gone:
        client.study()
    assert "https" not in str(gone.value)


def test_a_certificate_that_is_none(hands: Any, tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    for pair in ((key, certificate), (hands.folder.log.with_name("study.json"), key)):
        with pytest.raises(InvalidParameter, match="with its key cannot be used"):
            hands_of.serve(hands.folder, hands_of.ServerSettings(certificate=pair[0], key=pair[1]))


def self_signed(folder: Path) -> tuple[Path, Path]:
    import datetime
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256())
    )
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "c.pem").write_bytes(made.public_bytes(encoding))
    (folder / "k.pem").write_bytes(key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain))
    return folder / "c.pem", folder / "k.pem"
