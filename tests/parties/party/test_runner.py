"""A party at work: exact sums over HTTP, kill -9 at every boundary, and every reason to say no.

All processes are forks of this one: the hub (a small coordinator over HTTP, whose log the tests read), the other
parties, and the one that is killed.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter, MurmureError, OutsideDomain
from murmure.parties.http.client import Address, Client
from murmure.parties.party.folder import PartyFolder
from murmure.parties.party.history import earlier_disclosures
from murmure.parties.party.invitation import Invitation, check_known, check_rules, decline, join_study
from murmure.parties.party.local_sums import LocalSums, compute_local_sums
from murmure.parties.party.policy import Policy
from murmure.parties.party.refusals import (
    AlreadyRunning,
    ForbiddenColumn,
    NoiseRequired,
    NotApproved,
    NotOnRoster,
    OtherCoordinator,
    OtherKey,
    OtherRows,
    OtherStudy,
    OverBudget,
    StoreFailed,
    StudyEnded,
    TooFewRows,
    Unreachable,
)
from murmure.parties.party.runner import RoundSums
from murmure.parties.party.spending import spending_by_column
from murmure.parties.party.sqlite_file import PartyFile
from murmure.parties.study.cohort_guard import sum_request
from murmure.parties.study.costs import StudyCharge, charges_of
from murmure.parties.study.document import Study
from murmure.parties.study.replay import Turn
from murmure.secure.coordinator import Coordinator
from murmure.secure.errors import CohortRefused, Declined, ForgedMessage, OutOfBound, OutOfOrder, TooFewParties
from murmure.secure.identity import Card, Identity
from murmure.secure.messages import FROM_COORDINATOR, Kind, parse_message, sign_message
from murmure.show.language import Language

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
SCHEMA = mu.Schema({"age": mu.Integers(0, 120)})
AGE, SQUARE = mu.Sums(SCHEMA, ("age",)), mu.Sums(SCHEMA, ("age ** 2",))
LAX = Policy(minimum_parties=3)
ROWS = [[20 + i + j for j in range(12)] for i in range(6)]  # of six parties
TOTAL = [sum(len(rows) for rows in ROWS[:3]), sum(sum(rows) for rows in ROWS[:3])]  # of the first three


# -- a coordinator over HTTP, in a process of its own ------------------------------------------------------------------


def check_invitation(terms: Invitation) -> None:
    """All that is refused before a person is asked."""
    check_known(terms)
    check_rules(terms)


class Hub:
    """Routes of the contract over the coordinator's machines; writes every message that comes to a file."""

    def __init__(self, study: Study, identity: Identity, log: Path, late: float = 5.0) -> None:
        self.study, self.identity, self.late = study, identity, late
        self.signed = study.signed(identity)
        self.rounds = [Coordinator(study.session(1, range(len(study.roster))), identity)]
        self.changed = threading.Condition()
        self.file = log.open("ab", buffering=0)
        self.began = time.monotonic()

    def receive(self, raw: bytes) -> None:
        with self.changed:
            session = parse_message(raw).session  # a child that is killed while it sends leaves half a message: refused
            self.file.write(len(raw).to_bytes(4, "little") + raw)
            now = self.rounds[-1]
            of = {one.session.digest: one for one in self.rounds}
            of.get(session, now).receive(raw)
            self.began = time.monotonic()  # late: since the last message, however slow the machine is
            if not now.waiting:
                self.close()

    @property
    def _may_close(self) -> bool:
        """Late, and with enough of them: who never came on a slow machine has not vanished."""
        now = self.rounds[-1]
        came = len(now.expected) - len(now.waiting)
        return now.can_close and (now.stage != "keys" or came >= now.session.sharing.minimum)

    def close(self) -> None:
        now = self.rounds[-1]
        with suppress(MurmureError):
            now.close()
        if now.stage == "done" and len(self.rounds) < len(self.study.plans):
            session = self.study.session(len(self.rounds) + 1, self.rounds[0].cohort)
            self.rounds.append(Coordinator(session, self.identity))
        self.began = time.monotonic()
        self.changed.notify_all()

    def inbox(self, ask: bytes, wait: float = 2.0) -> list[bytes]:
        message = parse_message(ask).check(self.study.digest, self.study.roster[parse_message(ask).sender])
        after, end = int.from_bytes(message.body[:4], "little"), time.monotonic() + wait
        with self.changed:
            while True:
                found = [raw for one in self.rounds for raw in self.of(one, message.sender)][after:]
                if found or time.monotonic() > end:
                    return found
                if time.monotonic() > self.began + self.late and self._may_close:
                    self.close()
                    continue
                self.changed.wait(0.02)

    def of(self, one: Coordinator, place: int) -> list[bytes]:
        return one.inbox(place) if place in one.session.members else []

    def serve(self, say: Callable[[str], None]) -> None:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # one packet for head and body: the second would wait for an acknowledgement

            def do_GET(self) -> None:
                self.answer(200, hub.signed)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path.startswith("/inbox"):
                    found = hub.inbox(body, 0.0 if self.path.endswith("wait=0") else 2.0)
                    parts = b"".join(len(one).to_bytes(4, "little") + one for one in found)
                    return self.answer(200, len(found).to_bytes(4, "little") + parts)
                try:
                    hub.receive(body)
                except MurmureError as error:
                    said = f'{{"error": "{type(error).__name__}", "message": "no"}}'
                    return self.answer(409, said.encode())
                self.answer(200, b"{}")

            def answer(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        ThreadingHTTPServer.daemon_threads = True
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        say(f"http://127.0.0.1:{server.server_port}")
        server.serve_forever()


class Lying(Hub):
    """Answers every inbox with what `lie` makes of it."""

    lie: Callable[[Hub, list[bytes]], list[bytes]]

    def of(self, one: Coordinator, place: int) -> list[bytes]:
        found = one.inbox(place)
        return self.lie(found) if place == 0 else found


# -- processes ---------------------------------------------------------------------------------------------------------


def forked(work: Callable[[Callable[[str], None]], None]) -> tuple[int, int]:
    """A child that works and writes lines to a pipe: its id and the pipe's end."""
    here, there = os.pipe()
    pid = os.fork()
    if pid:
        os.close(there)
        return pid, here
    try:
        os.close(here)
        work(lambda line: (os.write(there, f"{line}\n".encode()), None)[1])
    except BaseException as error:
        if not isinstance(error, MurmureError):
            traceback.print_exc(file=sys.__stderr__)
        os.write(there, f"{type(error).__name__}: {error}\n".encode())
        os._exit(1)
    os._exit(0)


def ended(pid: int, pipe: int) -> tuple[int, list[str]]:
    with os.fdopen(pipe, "rb") as file:
        said = file.read()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode().split("\n")[:-1]


class World:
    """A coordinator, parties with homes and rows, and one study between them."""

    def __init__(self, folder: Path, parties: int = 3, plans: Any = None, **sharing: Any) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.identity = Identity.fresh()
        self.homes = [
            PartyFolder(folder / f"p{i}")
            if (folder / f"p{i}").exists()
            else PartyFolder.create(folder / f"p{i}", f"Party {i}")
            for i in range(parties)
        ]
        self.masks = mu.PairwiseMasks(parties, **({"dropouts": 0, "rows": 1000} | sharing))
        self.study = self.asks(plans or [mu.Plan(AGE, parties=self.masks)])
        self.log = folder / "hub.log"

    def asks(self, plans: Any, name: str = "Ages") -> Study:
        roster = tuple(home.card for home in self.homes)
        return Study(name, "to know", self.identity.card("Office"), roster, tuple(plans), 10)

    def own(self, i: int, rows: Any = None) -> list[LocalSums]:
        return compute_local_sums(self.study, {"age": rows or ROWS[i]})

    @contextmanager
    def hub(self, kind: type[Hub] = Hub, **more: Any) -> Iterator[str]:
        hub = kind(self.study, self.identity, self.log, **more)
        pid, pipe = forked(hub.serve)
        hub.file.close()
        try:
            yield os.read(pipe, 100).decode().strip()
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(pipe)

    def join(
        self, i: int, url: str, policy: Policy = LAX, own: Any = None, study: Study | None = None
    ) -> list[RoundSums]:
        study = study or self.study
        with Client(Address.of(url), patience=10.0) as client:
            terms = Invitation(self.homes[i], study, study.signed(self.identity), client.address.url, policy)
            check_invitation(terms)
            return join_study(terms, client, own or self.own(i), "test")

    def child(self, i: int, url: str, **more: Any) -> tuple[int, int]:
        own = self.own(i)
        return forked(lambda say: say(str([one.sums for one in self.join(i, url, own=own, **more)])))

    def came(self) -> dict[tuple[str, int, bytes], set[bytes]]:
        """Every message that reached the hub: by kind, sender and session, the different bytes."""
        raw, out, at = self.log.read_bytes(), defaultdict(set), 0
        while at < len(raw):
            size = int.from_bytes(raw[at : at + 4], "little")
            one = parse_message(raw[at + 4 : at + 4 + size])
            out[one.kind.name, one.sender, one.session].add(one.raw)
            at += 4 + size
        return dict(out)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


# -- the sum -----------------------------------------------------------------------------------------------------------


def test_the_sum_is_exact_and_all_hear_it(world: World) -> None:
    with world.hub() as url:
        others = [world.child(i, url) for i in (1, 2)]
        (outcome,) = world.join(0, url)
        ends = [ended(*one) for one in others]

    assert outcome.sums == TOTAL and outcome.cohort == (0, 1, 2)
    assert ends == [(0, [str([TOTAL])])] * 2


def test_rounds_have_one_cohort_and_a_second_join_shows_the_same(tmp_path: Path) -> None:
    """Two questions, two rounds; joined again, nothing is sent, and the same sums are there."""
    masks = mu.PairwiseMasks(3, dropouts=0, rows=1000)
    plans = [mu.Plan(AGE, parties=masks), mu.Plan(SQUARE, parties=masks)]
    world = World(tmp_path, plans=plans)
    with world.hub() as url:
        others = [world.child(i, url) for i in (1, 2)]
        outcomes = world.join(0, url)
        assert all(ended(*one)[0] == 0 for one in others)
        before = world.log.read_bytes()
        again = world.join(0, url)

    assert [one.cohort for one in outcomes] == [(0, 1, 2)] * 2
    assert outcomes[0].sums == TOTAL
    assert outcomes[1].sums == [TOTAL[0], sum(age**2 for rows in ROWS[:3] for age in rows)]
    assert again == outcomes and world.log.read_bytes() == before
    assert len(world.homes[0].store.released()) == 2


def test_a_party_that_vanishes_is_left_out(tmp_path: Path) -> None:
    """One of four joins and is killed: the sum is that of the three others."""
    world = World(tmp_path, parties=4, dropouts=1)
    with world.hub(late=0.5) as url:
        pid, pipe = world.child(3, url)
        while not world.came():
            time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)
        assert ended(pid, pipe)[0] == -signal.SIGKILL
        others = [world.child(i, url) for i in (1, 2)]
        (outcome,) = world.join(0, url)
        assert all(ended(*one)[0] == 0 for one in others)
    assert outcome.sums == TOTAL and outcome.cohort == (0, 1, 2)


def test_noise_shares(tmp_path: Path) -> None:
    """With noise the vector holds no number of rows; all hear the same noisy sum, which is near the true one."""
    masks = mu.PairwiseMasks(3, dropouts=0, rows=1000)
    plan = mu.Plan(AGE, parties=masks, curator=mu.DiscreteLaplace(epsilon=2.0))
    world = World(tmp_path, plans=[plan])
    with world.hub() as url:
        others = [world.child(i, url) for i in (1, 2)]
        (outcome,) = world.join(0, url)
        ends = [ended(*one) for one in others]

    assert all(end == (0, [str([outcome.sums])]) for end in ends)
    assert len(outcome.sums) == plan.statistic.width
    assert abs(outcome.sums[0] - TOTAL[1]) < 120 * 40  # three shares of scale 60: beyond, once in 1e15
    assert world.own(0)[0].values == [sum(ROWS[0])]
    (let_go,) = world.homes[0].store.released()
    assert let_go["exact"] is False and let_go["columns"] == ["age"]  # no number of rows is told
    (paid,) = world.homes[0].store.charges()
    assert paid == charges_of(world.study)[0] and paid.cost == plan.bound.cost and paid.cost.epsilon == 2.0


# -- kill -9 -----------------------------------------------------------------------------------------------------------


class Killed:
    """Kills this process at the k-th boundary: before, inside and after every transaction, before and after sending."""

    def __init__(self, k: int | None) -> None:
        self.k, self.count = k, 0
        writing, wipe, send = PartyFile.writing, PartyFile.wipe, Client.send

        @contextmanager
        def watched(file: PartyFile) -> Iterator[Any]:
            self.tick()
            with writing(file) as run:
                yield run
                self.tick()
            self.tick()

        def wiped(file: PartyFile) -> None:
            self.tick()
            wipe(file)

        def sent(client: Client, message: bytes) -> None:
            self.tick()
            send(client, message)
            self.tick()

        PartyFile.writing, PartyFile.wipe, Client.send = watched, wiped, sent  # type: ignore[method-assign,assignment]

    def tick(self) -> None:
        if self.count == self.k:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1


def noisy(masks: Any) -> mu.Plan:
    return mu.Plan(SQUARE, parties=masks, curator=mu.DiscreteLaplace(epsilon=2.0))


def one_question(folder: Path) -> World:
    return World(folder)


def two_questions(folder: Path) -> World:
    masks = mu.PairwiseMasks(3, dropouts=0, rows=1000)
    return World(folder, plans=[mu.Plan(AGE, parties=masks), noisy(masks)])


def boundaries(world: World) -> int:
    with world.hub() as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(0)

        def work(say: Callable[[str], None]) -> None:
            killed = Killed(None)
            world.join(0, url, own=own)
            say(str(killed.count))

        (count,) = ended(*forked(work))[1]
        assert all(ended(*one)[0] == 0 for one in others)
    return int(count)


@pytest.mark.parametrize("made", [one_question, pytest.param(two_questions, marks=pytest.mark.slow)])
def test_killed_at_every_boundary(tmp_path: Path, made: Callable[[Path], World]) -> None:
    """The same bytes leave again, the sum is exact, nothing is sent twice under the same mask, and no seed is left."""
    count = boundaries(made(tmp_path / "count"))
    assert count > 20
    for first in range(0, count, 8):  # eight studies at a time: they mostly wait
        cases = [
            forked(lambda say, k=k: killed_once(made(tmp_path / str(k)), k))  # type: ignore[misc]
            for k in range(first, min(first + 8, count))
        ]
        assert [ended(*one) for one in cases] == [(0, [])] * len(cases), first


def killed_once(world: World, k: int) -> None:
    """Killed at boundary k, and started again."""
    with world.hub(late=30.0) as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(0)

        def work(say: Callable[[str], None]) -> None:
            Killed(k)
            world.join(0, url, own=own)

        code, said = ended(*forked(work))
        assert code == -signal.SIGKILL, said
        outcomes = world.join(0, url, own=own)
        ends = [ended(*one) for one in others]

    rounds = len(world.study.plans)
    assert outcomes[0].sums == TOTAL
    assert ends == [(0, [str([one.sums for one in outcomes])])] * 2
    came = world.came()
    said = {"KEYS", "SHARES", "OPENED", "MASKED", "AGREE", "REVEAL"}
    assert len(came) == rounds * 3 * 6 and {kind for kind, _, _ in came} == said
    assert all(len(different) == 1 for different in came.values())
    assert no_secrets(world.homes[0])
    assert len(world.homes[0].store.released()) == rounds
    assert world.homes[0].store.charges() == charges_of(world.study)  # a noisy round is paid once, and not twice


@pytest.mark.parametrize("arrives", [False, True])
def test_killed_around_a_noisy_vector(tmp_path: Path, arrives: bool) -> None:
    """The noise is drawn once: the vector that was written is the one that leaves, before and after a crash."""
    world = World(tmp_path, plans=[noisy(mu.PairwiseMasks(3, dropouts=0, rows=1000))])
    written: list[bytes] = []
    with world.hub(late=30.0) as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(0)

        def work(say: Callable[[str], None]) -> None:
            send = Client.send

            def sent(client: Client, message: bytes) -> None:
                if parse_message(message).kind is Kind.MASKED:
                    say(message.hex())
                    if arrives:
                        send(client, message)
                    os.kill(os.getpid(), signal.SIGKILL)
                send(client, message)

            Client.send = sent  # type: ignore[method-assign]
            world.join(0, url, own=own)

        code, lines = ended(*forked(work))
        assert code == -signal.SIGKILL
        written += map(bytes.fromhex, lines)
        assert len(written) == 1
        outcomes = world.join(0, url, own=own)
        assert [ended(*one) for one in others] == [(0, [str([one.sums for one in outcomes])])] * 2
    assert [raws for (kind, sender, _), raws in world.came().items() if (kind, sender) == ("MASKED", 0)] == [{*written}]


def no_secrets(home: PartyFolder) -> bool:
    """Every seed and message is gone from the tables, and the journal holds zeros."""
    with home.store.file.reading() as run:
        left = [
            run(f"SELECT count(*) FROM {table} WHERE {column} IS NOT NULL")[0][0]
            for table, column in (("rounds", "seed"), ("heard", "message"), ("sent", "message"))
        ]
    journal = home.store.file.journal
    return left == [0, 0, 0] and not (journal.exists() and any(journal.read_bytes()))


def test_the_seed_is_in_no_file_when_the_round_is_over(world: World) -> None:
    """Looked for byte by byte in all files of the party; before the end it is there."""
    home, seeds = world.homes[0], []
    begin = type(home.store).open_round

    def kept(store: Any, *args: Any) -> Any:
        found = begin(store, *args)
        seeds.append(found.seed)
        return found

    with world.hub() as url, pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(home.store), "open_round", kept)
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(0)
        world.join(0, url, own=own)
        assert all(ended(*one)[0] == 0 for one in others)

    files = [path for path in home.folder.iterdir() if path.is_file()]
    assert len(seeds) == 1 and not any(seeds[0] in path.read_bytes() for path in files)
    assert any(home.store.study(world.study.digest).digest in path.read_bytes() for path in files)  # type: ignore[union-attr]
    if os.name == "posix":
        assert {path.name: oct(path.stat().st_mode & 0o777) for path in files if path.suffix in (".key", ".db")} == {
            "identity.key": "0o600",
            "party.db": "0o600",
        }
        assert home.folder.stat().st_mode & 0o077 == 0


def test_what_leaves_is_written_before(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks into the file at the moment of sending, over a line of their own, finds the very message."""
    home, found, send = world.homes[0], [], Client.send

    def sent(client: Client, message: bytes) -> None:
        with home.store.file.reading() as run:
            found.append(
                (parse_message(message).kind.name, run("SELECT count(*) FROM sent WHERE message = ?", message)[0][0])
            )
        send(client, message)

    with world.hub() as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(0)
        monkeypatch.setattr(Client, "send", sent)
        world.join(0, url, own=own)
        assert all(ended(*one)[0] == 0 for one in others)
    assert found == [("KEYS", 1), ("SHARES", 1), ("OPENED", 1), ("MASKED", 1), ("AGREE", 1), ("REVEAL", 1)]


def test_each_question_is_derived_once_before_others_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a round asks for is found before its first message leaves, and not again for any list of parties."""
    masks = mu.PairwiseMasks(3, dropouts=0, rows=1000)
    world = World(tmp_path, plans=[mu.Plan(AGE, parties=masks), mu.Plan(SQUARE, parties=masks)])
    events, send = list[str](), Client.send

    def derived(study: Study, turn: Turn) -> Any:
        events.append(f"question {turn.round}")
        return sum_request(study, turn)

    def sent(client: Client, message: bytes) -> None:
        events.append(parse_message(message).kind.name)
        send(client, message)

    with world.hub() as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(0)
        monkeypatch.setattr("murmure.parties.party.runner.sum_request", derived)
        monkeypatch.setattr(Client, "send", sent)
        world.join(0, url, own=own)
        assert all(ended(*one)[0] == 0 for one in others)
    messages = ["KEYS", "SHARES", "OPENED", "MASKED", "AGREE", "REVEAL"]
    assert events == ["question 1", *messages, "question 2", *messages]


def test_two_processes_cannot_run_one_study(world: World) -> None:
    with world.hub() as url:
        pid, pipe = world.child(0, url)
        while not world.came():
            time.sleep(0.01)
        second = world.child(0, url)
        end = time.monotonic() + 20
        while os.waitid(os.P_PID, second[0], os.WEXITED | os.WNOWAIT | os.WNOHANG) is None and time.monotonic() < end:
            time.sleep(0.01)
        for one in (pid, second[0]):
            os.kill(one, signal.SIGKILL)
        code, (said, *_) = ended(*second)
        ended(pid, pipe)
    assert code == 1 and said.startswith(AlreadyRunning.__name__)


# -- no ----------------------------------------------------------------------------------------------------------------


def refused(world: World, error: type[Exception], policy: Policy = LAX, i: int = 0, **terms: Any) -> str:
    """Refused with this error, before a single message reached the hub."""
    study = terms.pop("study", world.study)
    identity = terms.pop("identity", world.identity)
    held = Invitation(
        world.homes[i], study, study.signed(identity), terms.pop("url", "http://127.0.0.1:1"), policy, **terms
    )
    with pytest.raises(error) as caught:
        check_invitation(held)
        held.approval(True)
    return str(caught.value)


def test_own_minimums(world: World) -> None:
    """What others agreed on does not bind this party."""
    said = refused(world, TooFewParties, Policy())
    assert "may be answered by 3 parties; this party requires at least 5" in said
    assert world.homes[0].store.decisions()[0]["decision"] == "refused"
    with pytest.raises(InvalidParameter, match="at least 3"):
        Policy(minimum_parties=2)
    with pytest.raises(TooFewRows, match="12 rows"):
        Policy(minimum_rows=13).check_rows(world.study, 12)
    with pytest.raises(TooFewRows, match="9 rows"):
        Policy().check_rows(world.study, 9)


def test_veto(world: World) -> None:
    """Columns by any spelling; exact sums altogether."""
    assert "'age'" in refused(world, ForbiddenColumn, Policy(3, forbidden=("AGE",)))
    refused(world, NoiseRequired, Policy(3, require_noise=True))
    for epsilon, hides in ((60.0, False), (1.0, True)):
        study = world.asks([mu.Plan(AGE, parties=world.masks, curator=mu.DiscreteLaplace(epsilon))], f"At {epsilon}")
        assert sum_request(study, Turn(1, study.plans[0], 1)).exact is not hides
        if hides:
            Policy(3, require_noise=True).check(study)
        else:
            with pytest.raises(NoiseRequired, match="noise too small to hide a row"):
                Policy(3, require_noise=True).check(study)


def test_who_signed_and_what(world: World) -> None:
    store = world.homes[0].store
    refused(world, NotApproved)  # --yes alone approves anything
    refused(world, OtherStudy, approve="00" * 32)
    refused(world, InvalidParameter, approve="0012")
    refused(world, OtherCoordinator, fingerprint="00" * 16)
    good = Invitation(world.homes[0], world.study, b"", "http://127.0.0.1:1", LAX, world.study.digest.hex().upper())
    check_invitation(good)
    assert good.approval(False) == "approved by its digest"
    store.join(world.study.digest, good.url, world.study.coordinator, "Ages", b"", bytes(32), "test")
    forger = Identity.fresh()
    roster = tuple(home.card for home in world.homes)
    forged = Study("Ages", "to know", forger.card("Office"), roster, world.study.plans, 10)
    assert "when this party first joined" in refused(world, OtherCoordinator, study=forged, identity=forger)
    refused(world, OtherCoordinator, study=forged, identity=forger, approve=forged.digest.hex())


def test_a_changed_study_is_forged(world: World) -> None:
    signed = world.study.signed(world.identity)
    with pytest.raises(ForgedMessage):
        Study.open(signed.replace(b"to know", b"to tell"))


def test_not_on_the_roster(world: World, tmp_path: Path) -> None:
    """Another key under this name, this key under another name, or neither."""
    stranger = PartyFolder.create(tmp_path / "stranger", "Party 0")
    with pytest.raises(NotOnRoster, match=rf"{stranger.card.fingerprint}.*, but Party 0"):
        check_invitation(Invitation(stranger, world.study, b"", "http://127.0.0.1:1", LAX))
    mine = world.homes[0].card
    renamed = (type(mine)("Party X", mine.key), *world.study.roster[1:])
    assert "but Party X" in refused(world, NotOnRoster, study=replace(world.study, roster=renamed))


def test_rows_are_checked_before_anything_is_sent(world: World) -> None:
    """A value outside its bound: its row is named to its holder, and the hub never hears of it."""
    with pytest.raises(OutsideDomain, match=r"row 3 \(the first is row 1\) holds 121") as caught:
        world.own(0, [50, 51, 121])
    assert caught.value.hint.endswith("wider bounds; nothing was sent")
    with pytest.raises(OutOfBound, match="at most 1_000"):
        world.own(0, [1] * 1001)
    assert not world.log.exists()


def test_other_rows_for_the_same_study(world: World) -> None:
    """Before the result and after it: the difference of two sums would be that of the rows."""
    with world.hub() as url:
        others = [world.child(i, url) for i in (1, 2)]
        world.join(0, url)
        assert all(ended(*one)[0] == 0 for one in others)
        with pytest.raises(OtherRows):
            world.join(0, url, own=world.own(0, [*ROWS[0][:-1], 99]))


def test_a_study_that_was_declined(world: World) -> None:
    with world.hub() as url, Client(Address.of(url)) as client:
        terms = Invitation(world.homes[0], world.study, b"", url, LAX)
        decline(terms, client, "test")
        assert [kind for kind, *_ in world.came()] == ["REFUSE"]
        with pytest.raises(Declined, match="this party declined"):
            check_invitation(terms)
    assert [one["decision"] for one in world.homes[0].store.decisions()] == ["declined", "refused"]


def test_a_no_that_did_not_arrive(world: World) -> None:
    """The coordinator was never told, so the party may still say yes."""
    client = Client(Address.of("http://127.0.0.1:9"), patience=0.0)
    terms = Invitation(world.homes[0], world.study, b"", client.address.url, LAX)
    with pytest.raises(Unreachable):
        decline(terms, client, "test")
    check_invitation(terms)
    assert [one["decision"] for one in world.homes[0].store.decisions()] == ["declined", "not told"]


def leaves_at(moment: Callable[[Any], bool]) -> None:
    """This process is gone instead of sending that message."""
    send = Client.send

    def sent(client: Client, raw: bytes) -> None:
        if moment(parse_message(raw)):
            os._exit(7)
        send(client, raw)

    Client.send = sent  # type: ignore[method-assign]


def release_first(world: World, study: Study, members: list[int]) -> None:
    """As if an earlier study had released the sum over these parties."""
    store = world.homes[0].store
    store.join(
        study.digest, "http://earlier", study.coordinator, study.name, study.signed(world.identity), bytes(32), "test"
    )
    with store.transaction(study.digest, 1) as step:
        keys = frozenset(world.homes[i].card.key.hex() for i in members)
        step.record_release(sum_request(study, Turn(1, study.plans[0], 1)), keys)


@pytest.mark.parametrize("guard", ["columns", "question"])
def test_the_difference_of_two_cohorts(tmp_path: Path, guard: Any) -> None:
    """Four parties answered earlier, three answer now: the fourth's sum would be known. Nothing is revealed."""
    world = World(tmp_path, parties=4, dropouts=1)
    asked = AGE if guard == "question" else SQUARE  # by columns, another question is enough
    earlier = world.asks([mu.Plan(asked, parties=mu.PairwiseMasks(4, dropouts=0, rows=999))], "Earlier")
    release_first(world, earlier, [0, 1, 2, 3])
    with world.hub(late=0.5) as url:
        others = [world.child(i, url) for i in (1, 2)]
        with pytest.raises(CohortRefused, match=r"reveal 1 alone \(Party 3\)"):  # by its name, and not its 64 digits
            world.join(0, url, Policy(3, guard=guard))
        assert {kind for kind, sender, _ in world.came() if sender == 0} == {"KEYS", "SHARES", "OPENED", "REFUSE"}
        with pytest.raises(StudyEnded, match="CohortRefused"):  # and it stays refused
            world.join(0, url, Policy(3, guard=guard))
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)
    assert len(world.homes[0].store.released()) == 1
    assert no_secrets(world.homes[0])


@pytest.mark.parametrize("colluders", [1, 2])
def test_the_difference_of_cohorts_where_two_may_collude(tmp_path: Path, colluders: int) -> None:
    """Nine answered earlier, six answer now: of the three others two may collude, and know the third's sum."""
    world = World(tmp_path, parties=9, dropouts=3, colluders=colluders)
    earlier = world.asks([mu.Plan(AGE, parties=mu.PairwiseMasks(9, dropouts=1, rows=999))], "Earlier")
    release_first(world, earlier, list(range(9)))
    with world.hub(late=0.5) as url:
        others = [world.child(i, url) for i in (1, 2, 3, 4, 5)]
        if colluders == 1:
            assert world.join(0, url)[0].cohort == (0, 1, 2, 3, 4, 5)
        else:
            with pytest.raises(CohortRefused, match="reveal 3 alone") as refusal:
                world.join(0, url)
            assert all(f"Party {n}" in str(refusal.value) for n in (6, 7, 8))
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)


def test_a_cohort_that_shrinks_after_the_vector(tmp_path: Path) -> None:
    """The four of the earlier release shared their secrets; one vanishes before its vector: no share is revealed."""
    world = World(tmp_path, parties=4, dropouts=1)
    earlier = world.asks([mu.Plan(AGE, parties=mu.PairwiseMasks(4, dropouts=0, rows=999))], "Earlier")
    release_first(world, earlier, [0, 1, 2, 3])
    with world.hub(late=2.0) as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(3)

        def vanishes(say: Callable[[str], None]) -> None:
            leaves_at(lambda message: message.kind is Kind.MASKED)
            world.join(3, url, own=own)

        fourth = forked(vanishes)
        with pytest.raises(CohortRefused):
            world.join(0, url)
        assert ended(*fourth)[0] == 7
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)
    assert {kind for kind, sender, _ in world.came() if sender == 0} == {"KEYS", "SHARES", "OPENED", "MASKED", "REFUSE"}
    # the vector has left, and the no may come too late: the sum over these is remembered as one that may be out
    assert [(one["name"], one["certain"]) for one in world.homes[0].store.released()] == [
        ("Earlier", True),
        ("Ages", False),
    ]


def test_the_cohort_of_the_first_round_is_that_of_all(tmp_path: Path) -> None:
    """One of four is gone in the second round: the three others, though enough for the masks, send no second sum."""
    masks = mu.PairwiseMasks(4, dropouts=1, rows=1000)
    world = World(tmp_path, parties=4, dropouts=1, plans=[mu.Plan(one, parties=masks) for one in (AGE, SQUARE)])
    with world.hub(late=2.0) as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(3)

        def vanishes(say: Callable[[str], None]) -> None:
            leaves_at(lambda message: message.kind is Kind.KEYS and message.session != first)
            world.join(3, url, own=own)

        first = world.study.session(1, range(4)).digest
        fourth = forked(vanishes)
        with pytest.raises(CohortRefused, match="has lost a party"):
            world.join(0, url)
        assert ended(*fourth)[0] == 7
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)
    said = [(kind, session == first) for kind, sender, session in world.came() if sender == 0]
    assert ("MASKED", True) in said and ("MASKED", False) not in said
    assert len(world.homes[0].store.results(world.study.digest)) == 1


@pytest.mark.parametrize("guard", ["columns", "question"])
def test_the_number_of_rows_is_a_sum_that_all_studies_have_in_common(tmp_path: Path, guard: Any) -> None:
    """Ages of four, then stays of three: no column in common, and yet the fourth's number of rows would be known."""
    world = World(tmp_path, parties=4, dropouts=1)
    stay = mu.Sums(mu.Schema({"stay": mu.Integers(0, 60)}), ("stay",))
    release_first(world, world.asks([mu.Plan(stay, parties=world.masks)], "Earlier"), [0, 1, 2, 3])
    with world.hub(late=0.5) as url:
        others = [world.child(i, url) for i in (1, 2)]
        if guard == "columns":
            with pytest.raises(CohortRefused, match=r"reveal 1 alone \(Party 3\)"):
                world.join(0, url)
            assert {kind for kind, sender, _ in world.came() if sender == 0} == {"KEYS", "SHARES", "OPENED", "REFUSE"}
        else:
            assert world.join(0, url, Policy(3, guard="question"))[0].cohort == (0, 1, 2)
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)


def test_by_question_another_question_is_no_difference(tmp_path: Path) -> None:
    world = World(tmp_path, parties=4, dropouts=1)
    earlier = world.asks([mu.Plan(SQUARE, parties=world.masks)], "Earlier")
    release_first(world, earlier, [0, 1, 2, 3])
    with world.hub(late=0.5) as url:
        others = [world.child(i, url) for i in (1, 2)]
        (outcome,) = world.join(0, url, Policy(3, guard="question"))
        assert all(ended(*one)[0] == 0 for one in others)
    assert outcome.sums == TOTAL


def test_a_cohort_below_the_own_minimum(tmp_path: Path) -> None:
    """The study promised four, three were left: a coordinator that goes on all the same gets nothing."""
    world = World(tmp_path, parties=4, dropouts=1)
    with world.hub(late=0.5) as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(0)
        policy = Policy(minimum_parties=4)
        with Client(Address.of(url), patience=10.0) as client:
            terms = Invitation(world.homes[0], world.study, world.study.signed(world.identity), url, policy)
            with pytest.raises(TooFewParties, match="over 3 parties"):
                join_study(terms, client, own, "test")
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)
    assert not any(kind == "REVEAL" and sender == 0 for kind, sender, _ in world.came())


# -- what noisy sums cost in all ---------------------------------------------------------------------------------------


def test_a_no_is_told_after_a_kill(tmp_path: Path) -> None:
    """Killed when it has given up and before the coordinator knows: the next start says no, and needs no rows."""
    world = World(tmp_path, parties=4, dropouts=1)
    with world.hub(late=0.5) as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(0)
        policy = Policy(minimum_parties=4)
        terms = Invitation(world.homes[0], world.study, world.study.signed(world.identity), url, policy)

        def vanishes(say: Callable[[str], None]) -> None:
            leaves_at(lambda message: message.kind is Kind.REFUSE)
            with Client(Address.of(url), patience=10.0) as client:
                join_study(terms, client, own, "test")

        assert ended(*forked(vanishes))[0] == 7
        assert "REFUSE" not in {kind for kind, *_ in world.came()}
        with Client(Address.of(url), patience=10.0) as client, pytest.raises(StudyEnded, match="TooFewParties"):
            join_study(terms, client, [], "test")
        assert "REFUSE" in {kind for kind, *_ in world.came()}
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)
    assert no_secrets(world.homes[0])


class Denies(Hub):
    """Takes every vector, and says that it does not."""

    def receive(self, raw: bytes) -> None:
        super().receive(raw)
        if parse_message(raw).kind is Kind.MASKED:
            raise OutOfOrder("no")


def test_a_vector_that_is_said_not_to_be_taken(world: World) -> None:
    """Without a signature that is nobody's word: the inbox tells what came of it, and the cohort is recorded."""
    with world.hub(Denies) as url:
        others = [world.child(i, url) for i in (1, 2)]
        (outcome,) = world.join(0, url)
        assert all(ended(*one)[0] == 0 for one in others)
    assert outcome.sums == TOTAL
    (one,) = world.homes[0].store.released()
    assert one["certain"] and len(one["members"]) == 3


def test_rows_that_changed_after_the_vector_left(world: World) -> None:
    """They are not read any more: the sum with the first rows is on its way, and is heard and recorded."""
    with world.hub(late=30.0) as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(0)

        def vanishes(say: Callable[[str], None]) -> None:
            leaves_at(lambda message: message.kind is Kind.MASKED)
            world.join(0, url, own=own)

        assert ended(*forked(vanishes))[0] == 7
        (outcome,) = world.join(0, url, own=world.own(0, [*ROWS[0][:-1], 99]))
        assert all(ended(*one)[0] == 0 for one in others)
    assert outcome.sums == TOTAL


def blurred(world: World, epsilon: float, name: str, statistic: Any = AGE, **more: Any) -> Study:
    return world.asks([mu.Plan(statistic, parties=world.masks, curator=mu.DiscreteLaplace(epsilon), **more)], name)


def pay(world: World, study: Study) -> None:
    """As if an earlier study had let its noisy sums go."""
    store = world.homes[0].store
    store.join(
        study.digest, "http://earlier", study.coordinator, study.name, study.signed(world.identity), bytes(32), "test"
    )
    for charge in charges_of(study):
        with store.transaction(study.digest, charge.round) as step:
            step.record_charge(charge)


def test_noisy_studies_add_up(world: World) -> None:
    """Within the budget to its last bit, and not beyond; the study's own charge is no obstacle to itself."""
    for number in range(3):
        assert world.homes[0].store.charges() == [] or number
        pay(world, blurred(world, 0.5, f"Earlier {number}"))
    new = blurred(world, 0.5, "New", SQUARE)  # another question of the same column
    before = world.homes[0].store.charges()

    Policy(3).check_budget(new, before)  # nobody set one
    Policy(3, budget=2.0).check_budget(new, before)
    with pytest.raises(
        OverBudget, match=r"'New' costs epsilon = 0.5; .* 1.5 before, together that is epsilon = 2, and"
    ):
        Policy(3, budget=1.999, delta=0.0).check_budget(new, before)
    pay(world, new)
    Policy(3, budget=2.0).check_budget(new, world.homes[0].store.charges())
    stay = mu.Sums(mu.Schema({"stay": mu.Integers(0, 60)}), ("stay",))
    with pytest.raises(OverBudget):  # no column in common, and the same rows
        Policy(3, budget=0.5).check_budget(blurred(world, 0.5, "Stays", stay), before)


def test_rhos_add_up_and_are_turned_into_epsilon_once(world: World) -> None:
    """Nine Gaussian studies cost about three times one at a delta, not nine times; with delta 0 they fit nowhere."""
    curator = mu.DiscreteGaussian(epsilon=1.0, delta=1e-6)

    def study(n: int) -> Study:
        return world.asks([mu.Plan(AGE, parties=world.masks, curator=curator)], f"Gauss {n}")

    for n in range(8):
        pay(world, study(n))
    before = world.homes[0].store.charges()
    Policy(3, budget=4.0, delta=1e-6).check_budget(study(8), before)
    with pytest.raises(OverBudget, match="at delta = 1e-06"):
        Policy(3, budget=2.5, delta=1e-6).check_budget(study(8), before)
    with pytest.raises(OverBudget, match="more than any epsilon"):
        Policy(3, budget=1e9, delta=0.0).check_budget(study(8), before)
    (said,) = [one.to_dict() for one in spending_by_column(before)]
    assert said["column"] == "age" and said["studies"] == 8 and said["delta"] == 1e-6 and said["pure_epsilon"] == "inf"
    assert 2.5 < said["epsilon"] < 4 and said["rho"] == pytest.approx(8 * before[0].cost.rho)


def test_what_no_budget_covers(world: World) -> None:
    """Exact sums; and costs that protect otherwise, which are no numbers of the same kind."""
    with pytest.raises(OverBudget, match="releases exact sums, which no budget covers"):
        Policy(3, budget=100.0).check_budget(world.study, [])
    pay(world, blurred(world, 0.1, "Replacing", relation="replace"))
    before, new = world.homes[0].store.charges(), blurred(world, 0.1, "New")
    with pytest.raises(
        OverBudget,
        match=r"'Replacing'.* one row, with any values, but 'New' protects one row, in the data or not.* not add",
    ):
        Policy(3, budget=100.0).check_budget(new, before)
    Policy(3).check_budget(new, before)
    disclosed = earlier_disclosures(world.homes[0].store, new)
    assert "do not add up" in " ".join(disclosed)
    assert "ne s’additionnent pas" in " ".join(map(Language("fr").say, disclosed))
    for wrong in ({"budget": 0.0}, {"budget": float("nan")}, {"budget": 1.0, "delta": 1.0}):
        with pytest.raises(InvalidParameter, match="Policy"):
            Policy(3, **wrong)


def test_over_budget_before_a_row_is_read(world: World) -> None:
    """With all else that can be refused before anybody is asked; and written down."""
    pay(world, blurred(world, 1.5, "Earlier"))
    new = blurred(world, 1.0, "New")
    assert "epsilon = 2.5" in refused(world, OverBudget, Policy(3, budget=2.0), study=new, approve=new.digest.hex())
    assert "OverBudget" in world.homes[0].store.decisions()[-1]["why"]


def test_two_studies_at_once_cannot_both_spend_what_is_left(tmp_path: Path) -> None:
    """Another study pays after this one was joined: its vector does not leave."""
    world = World(tmp_path)
    world.study = blurred(world, 1.0, "New")
    policy = Policy(3, budget=1.5)
    with world.hub(late=1.0) as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(0)
        with Client(Address.of(url), patience=10.0) as client:
            terms = Invitation(world.homes[0], world.study, world.study.signed(world.identity), url, policy)
            check_invitation(terms)
            pay(world, blurred(world, 1.0, "Meanwhile"))
            with pytest.raises(OverBudget):
                join_study(terms, client, own, "test")
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)
    assert {kind for kind, sender, _ in world.came() if sender == 0} == {"KEYS", "SHARES", "OPENED", "REFUSE"}
    assert [one.name for one in world.homes[0].store.charges()] == ["Meanwhile"] and no_secrets(world.homes[0])


def test_a_vector_that_left_is_paid_for(tmp_path: Path) -> None:
    """Killed before the list of survivors: the others can unmask the noisy sum, so it is in the sum of costs."""
    world = World(tmp_path)
    world.study = blurred(world, 1.0, "New")
    with world.hub(late=30.0) as url:
        others = [world.child(i, url) for i in (1, 2)]
        own = world.own(0)

        def vanishes(say: Callable[[str], None]) -> None:
            leaves_at(lambda message: message.kind is Kind.MASKED)
            world.join(0, url, own=own)

        assert ended(*forked(vanishes))[0] == 7
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)
    store = world.homes[0].store
    (one,) = store.released()
    assert not one["certain"] and store.charges() == charges_of(world.study)
    store.fail(world.study.digest, "New", "StudyEnded: the coordinator ended the study", 1)
    assert store.released() == [one] and store.charges() == charges_of(world.study)  # its word for it is not enough


def test_what_was_paid_before_is_said_before(world: World) -> None:
    """In both languages; nothing where nothing was paid."""
    store, new = world.homes[0].store, blurred(world, 0.25, "New")
    assert earlier_disclosures(store, new) == earlier_disclosures(store, world.study) == []
    for number in (1, 2):
        pay(world, blurred(world, 0.5, f"Earlier {number}"))

    assert earlier_disclosures(store, new) == [
        "Noisy totals of “age” have already cost your rows epsilon = 1, in “Earlier 1” and “Earlier 2”.",
        "With this study it will be epsilon = 1.25.",
    ]
    assert Language("fr").say(earlier_disclosures(store, new)[1]) == "Avec cette étude, ce sera epsilon = 1,25."
    assert (
        earlier_disclosures(store, world.study) == earlier_disclosures(store, new)[:1]
    )  # exact: there is nothing to add
    stay = mu.Sums(mu.Schema({"stay": mu.Integers(0, 60)}), ("stay",))
    other, together = earlier_disclosures(store, blurred(world, 0.25, "Stays", stay))
    assert together == "All noisy studies together, with this one: epsilon = 1.25."
    assert "their cost comes on top, and a budget counts it." in other
    said = earlier_disclosures(store, new)
    pay(world, new)
    assert earlier_disclosures(store, new) == said  # what it paid itself is not before it


def test_columns_and_their_sums(world: World) -> None:
    """Column by column, and over all, since the same people may be in all."""
    both = mu.Schema({"age": mu.Integers(0, 120), "stay": mu.Integers(0, 60)})
    for name, expression in (("A", "age"), ("B", "stay"), ("C", "age * stay")):
        pay(world, blurred(world, 1.0, name, mu.Sums(both, (expression,))))
    charges = world.homes[0].store.charges()
    assert [isinstance(one, StudyCharge) for one in charges] == [True] * 3
    assert {one.column: (len(one.charges), one.to_dict()["epsilon"]) for one in spending_by_column(charges)} == {
        "age": (2, 2.0),
        "stay": (2, 2.0),
        None: (3, 3.0),
    }


def test_the_same_exact_sum_again_is_said_before(world: World) -> None:
    """The guard lets it pass, over the same parties; rows that changed since would be its difference."""
    store, last = world.homes[0].store, world.asks([mu.Plan(AGE, parties=world.masks)], "Last year")
    release_first(world, last, [0, 1, 2])

    (said,) = earlier_disclosures(store, world.study)
    assert earlier_disclosures(store, last) == []
    assert "“Last year”" in said and "If your rows have changed since" in said
    assert earlier_disclosures(store, world.asks([mu.Plan(SQUARE, parties=world.masks)], "Squares")) == []


# -- keys of the others ------------------------------------------------------------------------------------------------


def test_a_known_name_with_another_key(world: World) -> None:
    """Refused in any later study, whoever asks and however the name is spelt; taken when somebody says so."""
    store, known = world.homes[0].store, world.study
    store.join(known.digest, "http://a", known.coordinator, "Ages", b"", bytes(32), "test", known.roster)
    old, forged = known.roster[1], Identity.fresh().card("PARTY 1")
    asker = Identity.fresh()
    roster = (known.roster[0], forged, known.roster[2])
    later = Study("Later", "to know", asker.card("Other office"), roster, known.plans, 10)
    said = refused(world, OtherKey, study=later, identity=asker, approve=later.digest.hex())

    assert old.fingerprint in said and forged.fingerprint in said and "--accept-new-key 'PARTY 1'" in said
    (told,) = [line for line in earlier_disclosures(store, later) if "another key" in line]
    assert old.fingerprint in told and "Call them before you approve" in told
    assert "OtherKey" in store.decisions()[-1]["why"]
    with pytest.raises(OtherKey):  # not by another name, and not in the transaction of joining either
        store.join(later.digest, "http://b", later.coordinator, "L", b"", bytes(32), "t", roster, ("Party 2",))
    assert store.study(later.digest) is None
    terms = Invitation(
        world.homes[0], later, b"", "http://b", LAX, later.digest.hex(), None, accept_new_keys=("Party 1",)
    )
    check_invitation(terms)
    store.join(later.digest, "http://b", later.coordinator, "L", b"", bytes(32), "t", roster, ("Party 1",))
    assert [one["decision"] for one in store.decisions()][-2:] == ["approved", "new key"]
    assert store.changed_keys(roster) == [] and store.changed_keys([old]) == [(old, forged.key)]
    check_invitation(
        Invitation(world.homes[0], known, b"", "http://a", LAX)
    )  # a study that was joined goes on with its keys
    assert store.changed_keys([Card("Party 9", old.key)]) == []


def test_joining_pins_the_roster(world: World) -> None:
    with world.hub() as url:
        others = [world.child(i, url) for i in (1, 2)]
        world.join(0, url)
        assert all(ended(*one)[0] == 0 for one in others)
    stranger = Identity.fresh().card("Party 2")
    assert world.homes[0].store.changed_keys([stranger]) == [(stranger, world.homes[2].card.key)]


# -- a coordinator that lies -------------------------------------------------------------------------------------------


class Forges(Lying):
    def lie(self, found: list[bytes]) -> list[bytes]:
        """The roster, signed by somebody else."""
        forger = Identity.fresh()
        return [
            sign_message(
                parse_message(raw).kind, parse_message(raw).session, FROM_COORDINATOR, parse_message(raw).body, forger
            )
            for raw in found
        ]


class Repeats(Lying):
    def lie(self, found: list[bytes]) -> list[bytes]:
        """A second list of survivors, in which the last party has vanished."""
        from murmure.secure.messages import AliveBody

        for raw in found:
            if parse_message(raw).kind is Kind.ALIVE:
                other = AliveBody((0, 1, 2), (3,), AliveBody.parse(parse_message(raw)).signatures[:3]).pack()
                again = sign_message(Kind.ALIVE, parse_message(raw).session, FROM_COORDINATOR, other, self.identity)
                return [*found[: found.index(raw) + 1], again]
        return found


def test_a_forged_message_is_not_heard(world: World) -> None:
    """Nothing but the keys has left; since it was not the coordinator who said it, the study can go on later."""
    with world.hub(Forges) as url:
        others = [world.child(i, url) for i in (1, 2)]
        with pytest.raises(ForgedMessage):
            world.join(0, url)
        assert {kind for kind, sender, _ in world.came() if sender == 0} == {"KEYS"}
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)
    assert world.homes[0].store.study(world.study.digest).state == "joined"  # type: ignore[union-attr]


def test_shares_leave_once(tmp_path: Path) -> None:
    """After its shares left, a second list of survivors gets no others; the study is over for this party."""
    world = World(tmp_path, parties=4, dropouts=1)
    with world.hub(Repeats) as url:
        others = [world.child(i, url) for i in (1, 2, 3)]
        with pytest.raises(MurmureError) as caught:
            world.join(0, url)
        assert type(caught.value).__name__ == "AskedTwice"
        for pid, pipe in others:
            os.kill(pid, signal.SIGKILL)
            ended(pid, pipe)
    came = world.came()
    assert all(len(raws) == 1 for (kind, sender, _), raws in came.items() if sender == 0)
    assert no_secrets(world.homes[0])


# -- its file ----------------------------------------------------------------------------------------------------------


def test_a_file_of_another_time_does_not_mask_again(world: World) -> None:
    """The store was put back to before the vector left: a second vector under the same masks is never made."""
    home = world.homes[0]
    store = home.store
    store.join(world.study.digest, "http://x", world.study.coordinator, "Ages", b"", bytes(32), "test")
    with store.transaction(world.study.digest, 1) as step:
        step.record_sent("masked", b"first")
    with pytest.raises(StoreFailed, match="would remove the masks"), store.transaction(world.study.digest, 1) as step:
        step.record_sent("masked", b"second")


def test_noise_follows_from_the_round(tmp_path: Path) -> None:
    """The same key, the same vector; another key, another; and no noise where none was asked for."""
    world = World(tmp_path, plans=[noisy(mu.PairwiseMasks(3, dropouts=0, rows=1000))])
    (own,) = world.own(0)

    assert own.with_noise(bytes(32)) == own.with_noise(bytes(32)) != own.values
    assert (
        len({tuple(own.with_noise(bytes([i]) * 32)) for i in range(20)}) > 10
    )  # a scale of thousands: equal, hardly ever
    assert one_question(tmp_path).own(0)[0].with_noise(bytes(32)) == [len(ROWS[0]), sum(ROWS[0])]


def test_damaged_or_open_files_are_refused(world: World) -> None:
    home = world.homes[0]
    path = home.folder / "party.db"
    path.chmod(0o644)
    with pytest.raises(StoreFailed, match="other users can read it"):
        home.store.file.check_intact()
    path.chmod(0o600)
    (home.folder / "identity.key").chmod(0o640)
    with pytest.raises(StoreFailed, match="other users can read"):
        _ = PartyFolder(home.folder).identity
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StoreFailed):
        home.store.file.check_intact()
    with pytest.raises(InvalidParameter, match="already holds a party"):
        PartyFolder.create(home.folder, "Other")


def test_columns_are_explained(world: World) -> None:
    """Whoever opens the file finds what every column is for."""
    connection = sqlite3.connect(world.homes[0].folder / "party.db")
    tables = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table'").fetchall()
    connection.close()
    for (sql,) in tables:
        assert all("  -- " in line for line in sql.split("\n")[1:-1])


def test_no_secret_is_printed(world: World) -> None:
    """Sums, seeds, keys and messages do not show in a repr."""
    own = world.own(0)
    home = world.homes[0]
    home.store.join(world.study.digest, "http://x", world.study.coordinator, "Ages", b"", bytes(32), "test")
    kept = home.store.open_round(world.study.digest, 1, lambda seed: b"keys" + seed)
    text = repr((own, home.identity, kept, home.store, home))
    assert str(sum(ROWS[0])) not in text
    assert home.identity.secret().hex() not in text and str(home.identity.secret()) not in text
    assert str(kept.seed)[2:-1] not in text
