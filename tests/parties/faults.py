"""Studies under faults: real runners and real files of SQLite, and a network that does what networks do.

Requests and answers are delayed, lost, repeated, swapped and cut; the coordinator and the parties are killed at any
request, before a transaction is on the disk and right after, and come back from their files, or, of the parties, never.
A run is made from its seed. It ends in the exact sum over the survivors or in a refusal that has a name; never in a
wrong number, and it ends. `script/faults` makes many, some of them with processes and kill -9; a test makes a few.
"""

from __future__ import annotations

import json
import random
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

from murmure.core.domain import Integers
from murmure.core.errors import MurmureError
from murmure.core.schema import Schema
from murmure.parties.coordinator import folders
from murmure.parties.coordinator.broker import MessageBroker
from murmure.parties.coordinator.errors import StudyOver
from murmure.parties.coordinator.release_log import ReleaseLog
from murmure.parties.coordinator.runner import CoordinatorRunner as Coordinator
from murmure.parties.coordinator.store import CoordinatorStore
from murmure.parties.http import routes
from murmure.parties.http.client import Address, Client
from murmure.parties.party.folder import PartyFolder
from murmure.parties.party.invitation import Invitation, join_study
from murmure.parties.party.local_sums import LocalSums, compute_local_sums
from murmure.parties.party.policy import Policy
from murmure.parties.party.runner import RoundSums
from murmure.parties.study.document import Study
from murmure.plan.plan import Plan
from murmure.secure.errors import BadMessage, ForgedMessage, OutOfOrder, ProtocolRefused, WrongSession
from murmure.secure.messages import Kind, RevealBody, parse_message
from murmure.secure.sharing import PairwiseMasks
from murmure.statistics.sums import Sums

SCHEMA = Schema({"age": Integers(0, 120), "stay": Integers(0, 60)})
ASKED = (("age", "stay"), ("age * stay",), ("stay ** 2", "age ** 2"))
URL = "http://127.0.0.1:8460"
PATIENCE, WAIT = 30.0, 60.0  # seconds, by the clock of the run
MOST_STEPS = 5_000  # of one run; they take some hundreds
OWN_REFUSALS = {"TooFewParties", "CohortRefused"}  # of a party whose own rules are not met
ENDS = {"", "TooFewParties", "CohortRefused", "Declined"}  # that honest parties can come to


class Killed(BaseException):
    """kill -9, as far as one process can play it: nothing but what is in the file stays."""


@dataclass
class Seat:
    """A party: its thread waits here for an answer of the network."""

    place: int
    policy: Policy
    own: list[LocalSums]
    requests_left: int | None  # so many it makes, and vanishes for good
    go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    asked: tuple[str, bytes] | None = None  # what it waits for
    not_before: float = 0.0
    polls: tuple[int, int] | None = None  # held open: whose inbox, and after how many
    answer: Any = None
    outcomes: list[RoundSums] | None = None
    ended: str | None = None  # done, gone, or the name of a refusal
    broken: BaseException | None = None


class Line:
    """In the place of a Client: every call is a request that the run answers when and how it likes."""

    def __init__(self, run: Run, seat: Seat) -> None:
        self.run, self.seat, self.patience = run, seat, 600.0

    def send(self, message: bytes) -> None:
        self._ask("send", message)

    def inbox(self, ask: Callable[[], bytes], wait: int, largest: int) -> list[bytes]:
        messages = self._ask("inbox", ask)
        assert sum(map(len, messages)) <= largest, "more than a party takes of a coordinator"
        return messages

    def _ask(self, kind: str, body: bytes | Callable[[], bytes]) -> Any:
        while True:
            try:
                return self.run.wait(self.seat, kind, body() if callable(body) else body)
            except HTTPException:  # lost, or an error of the server: asked again, as the client does
                continue


class Run:
    """One study, from its seed to its end."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = rng = random.Random(seed)
        self.folder, self.now = folder, 0.0
        parties = rng.randint(4, 7)
        sharing = PairwiseMasks(parties, coordinator=rng.choice(["curious", "curious", "lying"]))  # type: ignore[arg-type]
        weather = rng.choice([0.0, 0.1, 0.25])
        self.fault, self.kill, vanish = weather, weather / 8, rng.choice([0.0, 0.1, 0.3])
        home = folders.CoordinatorFolder.create(folder / "office", "Office")
        homes = [PartyFolder.create(folder / f"party {i}", f"Party {i}") for i in range(parties)]
        plans = tuple(Plan(Sums(SCHEMA, e), parties=sharing) for e in ASKED[: rng.randint(1, 3)])
        self.study = Study("Stay", "To be disturbed.", home.card, tuple(one.card for one in homes), plans)
        self.place = folders.StudyFolder.create(home, self.study)
        self.seats = [self._seat(i, vanish) for i in range(parties)]
        self.idle = threading.Semaphore(0)
        self.ghosts: list[bytes] = []  # copies that arrive again, later
        self.said: dict[tuple[bytes, int, Kind], set[bytes]] = defaultdict(set)
        self.kills = self.faults = 0
        self.store: CoordinatorStore | None = None

    def _seat(self, place: int, vanish: float) -> Seat:
        rng = self.rng
        rows = {"age": [rng.randint(0, 120) for _ in range(10)], "stay": [rng.randint(0, 60) for _ in range(10)]}
        own = compute_local_sums(self.study, rows)
        least = rng.choice([3, 3, 3, self.study.sharing.minimum])
        return Seat(place, Policy(minimum_parties=least), own, rng.randrange(12) if rng.random() < vanish else None)

    # -- parties, each a thread of which one runs at a time -----------------------------------------------------------

    def wait(self, seat: Seat, kind: str, body: bytes) -> Any:
        seat.polls = None
        seat.asked, seat.not_before = (kind, body), self.now + self._delay()
        self.idle.release()
        seat.go.acquire()
        seat.asked = None
        if isinstance(seat.answer, BaseException):
            raise seat.answer
        return seat.answer

    def _delay(self) -> float:
        """Mostly short; under faults sometimes longer than anybody waits."""
        return self.rng.expovariate(1.0) * (40.0 if self.rng.random() < self.fault / 5 else 0.5)

    def _live(self, seat: Seat) -> None:
        try:
            while seat.ended is None:
                home = PartyFolder(self.folder / f"party {seat.place}")
                self._may_die(home.store.file)
                terms = Invitation(home, self.study, self.place.signed, URL, seat.policy)
                try:
                    seat.outcomes = join_study(terms, Line(self, seat), seat.own, "a test")  # type: ignore[arg-type]
                    seat.ended = "done"
                except Killed:
                    self.kills += 1
                    if seat.requests_left == 0:
                        seat.ended = "gone"
                except MurmureError as error:
                    seat.ended = type(error).__name__
        except BaseException as error:
            seat.broken, seat.ended = error, "broken"
        finally:
            self.idle.release()

    def _may_die(self, file: Any) -> None:
        """Killed before the transaction is on the disk, or right after."""
        writing: Callable[[], Any] = file.writing

        @contextmanager
        def deadly() -> Iterator[Any]:
            with writing() as run:
                yield run
                if self.rng.random() < self.kill:
                    raise Killed
            if self.rng.random() < self.kill:
                raise Killed

        file.writing = deadly

    def _wake(self, seat: Seat, answer: Any) -> None:
        seat.answer = answer
        seat.go.release()
        self.idle.acquire()  # until it asks again, or is over

    # -- the coordinator ----------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        """From its files, as after a start."""
        if self.store is not None:
            self.store.close()
        self.store = CoordinatorStore(self.place.log, self.study.digest)
        append = self.store.append

        def deadly(*event: Any) -> None:
            if self.rng.random() < self.kill:
                raise Killed
            append(*event)
            if self.rng.random() < self.kill:
                raise Killed

        self.store.append = deadly  # type: ignore[method-assign]
        before = getattr(self, "coordinator", None)
        self.coordinator = Coordinator(
            self.study,
            self.place.home.identity,
            self.store,
            ReleaseLog(self.place.home.release_log),
            WAIT,
            PATIENCE,
            lambda: self.now,
        )
        self.desk = MessageBroker(self.coordinator)
        if before is not None:  # what was served stands; what was written and not served yet may be there too
            for place in range(len(self.seats)):
                held = before.inbox(place)
                assert self.coordinator.inbox(place)[: len(held)] == held, "another inbox after a restart"

    def _with_coordinator(self, work: Callable[[], Any]) -> Any:
        """What it gives, or an HTTPException: it was killed over it, and started again."""
        try:
            return work()
        except Killed:
            self.kills += 1
            self._serve()
            return HTTPException("killed")

    def _receive(self, raw: bytes) -> Exception | None:
        return self._with_coordinator(lambda: self.coordinator.receive([raw])[0])

    def _poll(self, seat: Seat, raw: bytes) -> Any:
        try:
            place, after = seat.polls = seat.polls or self.desk.parse_ask(raw)
        except WrongSession as error:
            return error
        messages = self.coordinator.inbox(place)[after:]
        if not messages and self.coordinator.over:
            return StudyOver("the study is over, and there are no more messages for this party.")
        return list(messages)

    @staticmethod
    def _as_heard(error: Exception) -> Exception:
        """The error as the client raises it, once the web has turned it into a status."""
        if isinstance(error, HTTPException):
            return error
        status = next((number for kind, number in routes.STATUS if isinstance(error, kind)), 400)
        said = json.dumps({"error": type(error).__name__, "message": str(error).splitlines()[0]}).encode()
        try:
            Client(Address.of(URL))._raise_refusal(status, said)
        except (MurmureError, HTTPException) as heard:
            return heard
        raise AssertionError("a refusal that is none")

    # -- one request --------------------------------------------------------------------------------------------------

    def _answer(self, seat: Seat) -> None:
        assert seat.asked is not None
        kind, body = seat.asked
        if seat.requests_left is not None:
            seat.requests_left -= 1
        if seat.requests_left == 0 or self.rng.random() < self.kill:
            if kind == "send" and self.rng.random() < 0.5:
                self.ghosts.append(body)  # it was on its way
                self._spoken(body)
            self._wake(seat, Killed())
            return
        if self.rng.random() < self.fault:
            self.faults += 1
            self._disturb(kind, body)
            self._wake(seat, HTTPException("lost"))
            return
        if kind == "inbox":
            found = self._poll(seat, body)
            if found == [] and self.rng.random() < 0.9:  # a poll is held open
                seat.not_before = self.now + 1.0
                return
            if isinstance(found, list) and len(found) > 1 and self.rng.random() < self.fault:
                found = found[:1]
        else:
            self._spoken(body)
            found = self._receive(body)
        self._wake(seat, self._as_heard(found) if isinstance(found, Exception) else found)

    def _disturb(self, kind: str, body: bytes) -> None:
        """The party hears nothing; the request is lost, or arrives cut, changed, late, or twice."""
        if kind == "inbox":
            return
        self._spoken(body)
        how = self.rng.randrange(5)
        if how == 0:
            self._refused(body[: self.rng.randrange(len(body))])
        elif how == 1:
            place = self.rng.randrange(len(body))
            self._refused(body[:place] + bytes([body[place] ^ 1 << self.rng.randrange(8)]) + body[place + 1 :])
        elif how == 2:
            self.ghosts += [body] * self.rng.randint(1, 2)
        elif how == 3:
            self._late(body)

    def _refused(self, damaged: bytes) -> None:
        outcome = self._receive(damaged)
        assert isinstance(outcome, (BadMessage, ForgedMessage, ProtocolRefused)), f"a damaged message: {outcome!r}"

    def _late(self, body: bytes) -> None:
        """An honest message, whenever it comes, is taken or is too late."""
        outcome = self._receive(body)
        ok = outcome is None or isinstance(outcome, (OutOfOrder, StudyOver, HTTPException, WrongSession))
        assert ok, f"an honest message: {outcome!r}"
        assert not isinstance(outcome, WrongSession), "a message of this study is taken for another's"

    def _spoken(self, body: bytes) -> None:
        message = parse_message(body)
        self.said[message.session, message.sender, message.kind].add(body)

    # -- a whole run --------------------------------------------------------------------------------------------------

    def go(self) -> str:
        self._serve()
        for seat in self.seats:
            threading.Thread(target=self._live, args=(seat,), daemon=True).start()
            self.idle.acquire()
        for _ in range(MOST_STEPS):
            if self._over():
                return self._verdict()
            self.now += self.rng.expovariate(4.0)
            if self.rng.random() < self.kill / 4:
                self.kills += 1
                self._serve()
            if self.ghosts and self.rng.random() < 0.2:
                self._late(self.ghosts.pop(self.rng.randrange(len(self.ghosts))))
            self._with_coordinator(self.coordinator.advance)
            ready = [s for s in self.seats if s.asked and s.not_before <= self.now]
            if ready:
                self._answer(self.rng.choice(ready))
        standing = [(s.place, s.ended, s.asked and s.asked[0]) for s in self.seats]
        raise AssertionError(f"no end: {self.coordinator.progress}, {standing}")

    def _over(self) -> bool:
        if not all(seat.ended for seat in self.seats):
            return False
        if not self.coordinator.over:
            self.now += 10.0
        return self.coordinator.over and not self.ghosts

    def _verdict(self) -> str:
        for seat in self.seats:
            if seat.broken is not None:
                raise seat.broken
        for (_, place, kind), bodies in self.said.items():
            assert len(bodies) == 1, f"party {place} said two different things as {kind.name}"
        self._never_both()
        results = self.coordinator.results
        for one in results:
            assert len(one.cohort) >= self.study.sharing.minimum
            assert one.cohort == results[0].cohort, "another cohort in a later round"
            columns = zip(*(self.seats[i].own[one.round - 1].values for i in one.cohort), strict=True)
            assert list(one.sums) == [sum(column) for column in columns], f"round {one.round}: a wrong sum"
        ended = self.coordinator.progress.ended
        assert ended is not None and ended.kind in ENDS, f"{ended} among honest parties"
        for seat in self.seats:
            self._check_party(seat, bool(ended.kind))
        return ended.kind or "sum"

    def _check_party(self, seat: Seat, failed: bool) -> None:
        held = PartyFolder(self.folder / f"party {seat.place}").store.results(self.study.digest)
        results = self.coordinator.results
        for one, (sums, cohort) in zip(results, held, strict=False):
            assert (tuple(sums), tuple(cohort)) == (one.sums, one.cohort), f"party {seat.place} holds another sum"
        assert len(held) <= len(results), f"party {seat.place} holds a sum that the coordinator has not"
        if seat.ended == "done":
            assert not failed and len(held) == len(self.study.plans)
        elif not failed and seat.place in results[0].cohort and self._why(seat) not in {"gone", *OWN_REFUSALS}:
            raise AssertionError(f"party {seat.place} is in the sum, is there, and has no result: {seat.ended}")

    def _why(self, seat: Seat) -> str | None:
        """Killed after it gave up, a party finds in its file why."""
        joined = PartyFolder(self.folder / f"party {seat.place}").store.study(self.study.digest)
        given_up = seat.ended == "StudyEnded" and joined is not None and joined.reason
        return str(given_up).split(":")[0] if given_up else seat.ended

    def _never_both(self) -> None:
        """Of nobody were shares of both secrets let go in one round."""
        what = defaultdict(set)
        for (session, _, kind), bodies in self.said.items():
            for body in bodies if kind is Kind.REVEAL else ():
                reveal = RevealBody.parse(parse_message(body))
                for place, (which, _) in zip(reveal.places, reveal.shares, strict=True):
                    what[session, place].add(which)
        assert all(len(kinds) == 1 for kinds in what.values())


def disturbed(seed: int, folder: Path) -> tuple[str, Run]:
    """How the run of this seed ended."""
    run = Run(seed, folder)
    try:
        return run.go(), run
    finally:
        for seat in run.seats:  # whoever still waits is let go
            while seat.ended is None and seat.asked is not None:
                seat.requests_left = 0
                run._wake(seat, Killed())
        if run.store is not None:
            run.store.close()
