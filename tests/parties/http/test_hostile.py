"""What strangers, a dead line or a kill at the wrong moment cannot do to a study: each found by somebody who tried."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.parties import hands as hands_of

import murmure as mu
from murmure.core.errors import InvalidParameter
from murmure.parties.coordinator.errors import LogFailed
from murmure.parties.coordinator.folders import StudyFolder
from murmure.parties.coordinator.store import read_progress
from murmure.parties.http import connections
from murmure.parties.http.address import Address
from murmure.parties.http.client import Client, Deadline
from murmure.parties.party.folder import PartyFolder
from murmure.parties.party.policy import Policy
from murmure.parties.party.refusals import TooManySums, Unreachable
from murmure.parties.study.cohort_guard import exact_columns, sum_request
from murmure.parties.study.document import Study
from murmure.parties.study.freshness import AskCounter, ReplayFilter
from murmure.parties.study.replay import Turn
from murmure.secure.errors import WrongSession
from murmure.secure.identity import Identity
from murmure.show.phrase import visible

pytest.importorskip("starlette")


@pytest.fixture
def hands(tmp_path: Path) -> Any:
    return hands_of.Hands(tmp_path)


def take_part_silently(hand: Any, line: Any) -> None:
    """As take_part, but the last ASK that says that all was heard never comes."""
    waiting = [hand.party.keys()]
    while not hand.over:
        for message in waiting:
            assert line.send(message)[0] == 200
        waiting = []
        for message in line.inbox(hand.ask(), 20):
            waiting += hand.answer(message)


# -- the end -----------------------------------------------------------------------------------------------------------


def test_the_coordinator_stays_until_all_have_said_that_they_know(hands: Any) -> None:
    """The answer with the result left, and may not have arrived: only a later ASK says so, or patience ends."""
    parties = [hands.hand(place) for place in range(5)]
    with hands_of.serving(hands.folder, patience=30.0) as (line, served):
        works: list[Callable[[], None]] = [lambda one=one: hands_of.take_part(one, line) for one in parties[1:]]
        assert hands_of.together([*works, lambda: take_part_silently(parties[0], line)]) == []
        time.sleep(0.5)
        assert served.seen is None  # still there
        again = line.inbox(parties[0].ask(0))  # the party was killed before it wrote the result down, and comes back
        assert again == parties[0].heard
        assert line.inbox(parties[0].ask()) == []
        assert served.ended().progress.state == "done"


def test_patience_ends_the_wait(hands: Any) -> None:
    parties = [hands.hand(place) for place in range(5)]
    with hands_of.serving(hands.folder, patience=1.0) as (line, served):
        begun = time.monotonic()
        assert hands_of.together([lambda one=one: take_part_silently(one, line) for one in parties]) == []
        assert served.ended().progress.state == "done"
    assert time.monotonic() - begun < 20


# -- an ASK that somebody saw ------------------------------------------------------------------------------------------


def test_an_ask_is_heard_once(hands: Any) -> None:
    """Whoever saw an ASK cannot read that inbox with it, nor throw the party's own poll out."""
    hand = hands.hand(0)
    with hands_of.serving(hands.folder) as (line, _):
        seen = hand.ask()
        assert line.inbox(seen) == []
        status, body, _ = line.request("POST", "/inbox", seen)
        assert (status, json.loads(body)["error"]) == (409, "WrongSession")
        assert line.inbox(hand.ask()) == []


def test_numbers_grow_and_a_clock_that_was_put_back_is_caught_up() -> None:
    before, now = AskCounter(lambda: 2000.0), AskCounter(lambda: 1000.0)
    fresh = ReplayFilter()
    assert [fresh.check(0, before.next_body(k)) for k in (3, 4)] == [3, 4]
    tries = 0
    while True:
        try:
            assert fresh.check(0, now.next_body(5)) == 5
            break
        except WrongSession:
            now.jump_ahead()
            tries += 1
    assert 0 < tries < 20 and not now.exhausted
    assert fresh.check(1, now.next_body(0)) == 0  # of another party it is no concern


# -- a no that was not told --------------------------------------------------------------------------------------------


def test_a_no_is_kept_until_it_is_told(tmp_path: Path) -> None:
    """It is in the file with the end of the study, and gone when the coordinator has it; no secret stays beside it."""
    home = PartyFolder.create(tmp_path / "p", "P")
    store, card = home.store, Identity.fresh().card("Office")
    store.join(bytes(32), "http://x", card, "S", b"", bytes(32), "test")
    store.open_round(bytes(32), 1, lambda seed: b"keys")
    store.fail(bytes(32), "S", "CohortRefused: no", 1, b"no")
    again = PartyFolder(tmp_path / "p").store
    assert again.unsent_refusals(bytes(32)) == [(1, b"no")]
    assert not again.needs_rows(bytes(32), 1)  # what is left to say needs none
    again.record_refusal_sent(bytes(32), 1)
    assert again.unsent_refusals(bytes(32)) == []
    with again.file.reading() as run:
        assert run("SELECT count(*) FROM sent WHERE message IS NOT NULL") == [(0,)]


def test_opening_a_home_wipes_what_a_killed_process_left(tmp_path: Path) -> None:
    home = PartyFolder.create(tmp_path / "p", "P")
    home.store.join(bytes(32), "http://x", Identity.fresh().card("Office"), "S", b"", bytes(32), "test")
    assert any(home.store.file.journal.read_bytes())
    home.store.file.check_intact()
    assert not any(home.store.file.journal.read_bytes())


# -- many studies ------------------------------------------------------------------------------------------------------


def test_many_studies_together_ask_no_more_than_one_may(tmp_path: Path) -> None:
    """Ten rows of three parties allow ten exact sums: six, and four more; the eleventh is refused, unless allowed."""
    home = PartyFolder.create(tmp_path / "p", "P")
    office, others = Identity.fresh().card("Office"), [Identity.fresh().card(f"Q{i}") for i in range(2)]
    schema = mu.Schema({"age": mu.Integers(0, 120), "stay": mu.Integers(0, 60)})

    def study(name: str, *sums: str, **more: Any) -> Study:
        plan = mu.Plan(mu.Sums(schema, sums), parties=mu.PairwiseMasks(3, dropouts=0, rows=1000), **more)
        return Study(name, "to know", office, (home.card, *others), (plan,), 10)

    def ask(one: Study, **policy: Any) -> None:
        columns = exact_columns(one)
        Policy(3, **policy).check_sums(one, *home.store.exact_sums(one.digest, columns))

    def let_go(one: Study) -> None:
        ask(one)
        home.store.join(one.digest, "http://x", office, one.name, b"", bytes(32), "test")
        with home.store.transaction(one.digest, 1) as step:
            step.record_release(sum_request(one, Turn(1, one.plans[0], 1)), frozenset({"a"}))

    let_go(study("First", *(f"(age == {k}) * 1" for k in range(6))))
    let_go(study("Second", *(f"(age == {k}) * 1" for k in range(6, 10))))
    eleventh = study("Third", "(age == 10) * 1")
    with pytest.raises(TooManySums, match="'First', 'Second'") as refused:
        ask(eleventh)
    assert "--allow-more-sums" in str(refused.value)
    ask(eleventh, allow_more_sums=True)
    ask(study("Stay", "stay"))  # another column
    ask(study("Noisy", "age", curator=mu.DiscreteLaplace(1.0)))


# -- what is shown -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["a\x1b[2J", "a\x9b2J", "a\u202eb", "a\u200bb", "a\u2028b"])
def test_labels_that_write_to_a_terminal(label: str) -> None:
    shown = visible(label)
    assert shown.isprintable() and shown != label and "\\" in shown
    assert visible("12\u202f000 séjours") == "12\u202f000 séjours"
    schema = mu.Schema({"age": mu.Integers(0, 120), "kind": mu.Categories(["x", label])})
    plan = mu.Plan(mu.Sums(schema, ("(kind == 'x') * age",)), parties=mu.PairwiseMasks(3, dropouts=0))
    cards = [Identity.fresh().card(name) for name in "ABCD"]
    with pytest.raises(InvalidParameter, match="label with invisible characters"):
        Study("S", "to know", cards[0], tuple(cards[1:]), (plan,), 10)


# -- connections -------------------------------------------------------------------------------------------------------


def test_bodies_that_never_come_leave_room_for_parties(hands: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """More connections than there is room for, each with half a request: the oldest go, and parties are heard."""
    monkeypatch.setattr(connections.TimedProtocol, "share_files", lambda: None)
    monkeypatch.setattr(connections.TimedProtocol, "max_connections", 20)
    with hands_of.serving(hands.folder) as (line, _):
        held = []
        for _ in range(60):
            held.append(socket.create_connection((line.host, line.port)))
            held[-1].sendall(b"POST /messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
        time.sleep(0.3)
        assert len(connections.TimedProtocol.opened) <= 20
        assert line.send(hands.hand(0).party.keys())[0] == 200
        for one in held:
            one.close()


def test_half_of_the_files_are_for_connections() -> None:
    resource = pytest.importorskip("resource")
    most = connections.TimedProtocol.max_connections
    try:
        connections.TimedProtocol.share_files()
        assert connections.TimedProtocol.max_connections <= resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2 + 16
    finally:
        connections.TimedProtocol.max_connections = most


def test_an_answer_that_flows_is_not_cut() -> None:
    """Slow but steady is waited for; still, or slower than anything that works, is not."""
    waits: list[Any] = []
    line: Any = SimpleNamespace(
        loop=SimpleNamespace(call_later=lambda *what: waits.append(what)),
        transport=SimpleNamespace(abort=lambda: waits.append("cut")),
    )
    for before, now, ends in ((10**6, 10**6 - 20_000, False), (10**6, 0, False), (10**6, 10**6, True), (0, 0, True)):
        waits.clear()
        line._unsent, line._late = now, None
        connections.TimedProtocol._late(line, before)
        assert (waits == ["cut"]) == ends


@pytest.mark.parametrize("drip", [b"HTTP/1.1 100 Continue\r\n\r\n", b"x"])
def test_whoever_answers_without_end_is_left(drip: bytes) -> None:
    """Patience is for the whole exchange, and not for every byte of it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        stop = threading.Event()

        def serve() -> None:
            while not stop.is_set():
                try:
                    line, _ = server.accept()
                    with line:
                        while not stop.is_set():
                            line.sendall(drip)
                            time.sleep(0.05)
                except OSError:
                    continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        begun = time.monotonic()
        try:
            where = Address.of(f"http://127.0.0.1:{server.getsockname()[1]}")
            with Client(where, patience=1.0) as client, pytest.raises(Unreachable):
                client.study()
        finally:
            stop.set()
        assert time.monotonic() - begun < 10
    thread.join(5)


def test_a_deadline_moves_with_what_comes() -> None:
    one, other = socket.socketpair()
    with one, other, Deadline(one, 0.2) as deadline:
        deadline.received(10**7)
        time.sleep(0.4)
        other.sendall(b"x")
        assert one.recv(1) == b"x"


# -- small things ------------------------------------------------------------------------------------------------------


def test_a_short_token_opens_nothing(hands: Any) -> None:
    (hands.folder.path / "page.token").write_text(" \n")
    with pytest.raises(InvalidParameter, match="needs at least 32"):
        _ = StudyFolder(hands.folder.path).token


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_a_key_that_others_may_read(hands: Any) -> None:
    (hands.home.path / "identity.key").chmod(0o644)
    with pytest.raises(InvalidParameter, match="other users can read"):
        _ = type(hands.home)(hands.home.path).identity


def test_no_redirect_to_another_host(hands: Any) -> None:
    with hands_of.serving(hands.folder) as (line, _):
        kept = http.client.HTTPConnection(line.host, line.port, timeout=10)
        kept.request("GET", "/status.json/?token=x", headers={"Host": "evil.example"})
        answer = kept.getresponse()
        assert answer.status == 404 and answer.getheader("location") is None
        kept.close()


def test_a_damaged_standing_has_a_name(hands: Any) -> None:
    import sqlite3

    with hands_of.serving(hands.folder) as (line, _):
        assert line.send(hands.hand(0).party.keys())[0] == 200
    for damaged in ("{", "{}", "[]"):
        with sqlite3.connect(hands.folder.log) as connection:
            connection.execute("UPDATE murmure_meta SET value = ? WHERE key = 'standing'", (damaged,))
        connection.close()
        with pytest.raises(LogFailed, match="cannot be read from it"):
            read_progress(hands.folder.log, hands.study.digest)
