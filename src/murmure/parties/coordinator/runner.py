"""A study at its coordinator: the machine of each round, the log on the disk, the clock, and when a stage is closed.

    a message comes -> the machine checks it -> the log has it on the disk -> it is acknowledged
    a stage is over -> guards -> the machine closes it -> the log has that on the disk -> new messages are served

So everything that was acknowledged or served is in the log, and a coordinator that was killed starts again from there
with the same bytes for everybody. What others read (`inbox`, `progress`) is replaced as a whole once it is on the disk:
readers take no lock, and see nothing that a crash could undo.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from murmure.core.errors import MurmureError
from murmure.parties.coordinator.errors import LogFailed, StudyOver, error_location
from murmure.parties.coordinator.progress import Departure, Ending, StudyProgress, absent_in_words, count_absent
from murmure.parties.coordinator.store import CoordinatorStore, Event, RoundResult
from murmure.secure.coordinator import Coordinator, Examined
from murmure.secure.errors import BadMessage, OutOfOrder, ProtocolRefused, TooFewParties, WrongSession
from murmure.secure.messages import Kind, parse_message

if TYPE_CHECKING:
    from murmure.parties.coordinator.release_log import ReleaseLog
    from murmure.parties.study.document import Study
    from murmure.secure.identity import Identity

SLOWER = 10  # times: a party's machine may be so much slower than the coordinator's
DEFAULT_WAIT_TO_JOIN, DEFAULT_PATIENCE = 600.0, 30.0  # seconds: to join, and for any later answer
COHORT_STAGES = ("keys", "shares", "opened", "vectors")  # a party that misses one of these is not in the sum


class CoordinatorRunner:
    """One study, its rounds one after the other. Everything that changes it is done under one lock."""

    def __init__(
        self,
        study: Study,
        identity: Identity,
        store: CoordinatorStore,
        released: ReleaseLog,
        wait: float = DEFAULT_WAIT_TO_JOIN,
        patience: float = DEFAULT_PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.study, self._identity, self._store, self._release_log = study, identity, store, released
        self._wait, self._patience, self._clock, self.say = wait, patience, clock, say
        self._lock = threading.Lock()
        self._failed: LogFailed | None = None
        self._closes_at, self._overdue = 0.0, False
        self._read_log()
        self._publish()

    def _read_log(self) -> None:
        """Make everything in memory from the log, and from nothing else."""
        self._rounds: list[Coordinator] = []
        self._by_session: dict[bytes, Coordinator] = {}
        self._accepted: set[bytes] = set()  # hashes of what was accepted
        self._departures: dict[int, Departure] = {}
        self._closed: list[tuple[int, str, int, int]] = []  # round, stage, how many answered, of how many
        self._results: list[RoundResult] = []
        self._ended: Ending | None = None
        self._begin_round()
        for event in self._store.events():
            self._replay(event)

    # -- what others read ---------------------------------------------------------------------------------------------

    def inbox(self, place: int) -> tuple[bytes, ...]:
        """All messages to this party, in all rounds."""
        return self._inboxes[place]

    @property
    def over(self) -> bool:
        return self.progress.state in ("done", "failed")

    @property
    def seconds_left(self) -> float | None:
        """Seconds until a stage may be closed although somebody has not answered; None: time alone changes nothing."""
        if self.over or self._overdue:
            return None
        return max(0.0, self._closes_at - self._clock())

    # -- messages -----------------------------------------------------------------------------------------------------

    def receive(self, raws: Sequence[bytes]) -> list[Exception | None]:
        """Messages that came together, written to the disk in one go: for each, None or why it was refused."""
        with self._lock:
            self._check_log()
            events, outcomes = list[Event](), list[Exception | None]()
            examined = self._examine(raws)
            for raw in raws:
                try:
                    event, unusable = self._accept(raw, examined)
                except (ProtocolRefused, StudyOver) as error:
                    outcomes.append(error)
                except Exception as error:  # an error of this software: no message may end the study for everybody
                    outcomes.append(BadMessage("this message cannot be accepted."))
                    self.say(f"failed: {error_location(error)} while a message was heard; read the log again")
                    self._restore(events)
                    events = []
                else:
                    outcomes.append(unusable)
                    events += [event] if event else []
            if events:
                self._write(events)
                self._publish(inboxes=False)
            return outcomes

    def _restore(self, events: list[Event]) -> None:
        """A message may have been half processed: write the others, and make memory again from the log."""
        if events:
            self._write(events)
        deadline = self._closes_at, self._overdue
        self._read_log()
        self._closes_at, self._overdue = deadline

    def _examine(self, raws: Sequence[bytes]) -> dict[bytes, Examined]:
        """What the machine of this round finds about the messages that are new, by their hashes."""
        fresh = {hashlib.sha256(raw).digest(): raw for raw in raws}
        fresh = {digest: raw for digest, raw in fresh.items() if digest not in self._accepted}
        with suppress(Exception):  # an error of this software: each is then looked at alone, and may stop only itself
            return dict(zip(fresh, self._machine.examine(list(fresh.values())), strict=True))
        return {}

    def _accept(self, raw: bytes, examined: Mapping[bytes, Examined]) -> tuple[Event | None, ProtocolRefused | None]:
        """The event to store; and, for a message that cannot be used, why: that its sender sent it is stored too."""
        digest = hashlib.sha256(raw).digest()
        if digest in self._accepted:  # sent again, since our answer was lost
            return None, None
        message = parse_message(raw)
        if message.kind is Kind.ASK:
            raise BadMessage("an ASK message belongs to /inbox.")
        machine = self._by_session.get(message.session)
        if machine is None:
            raise WrongSession(
                "a {name} message is bound to another study, round, question or roster.",
                hint="it is a replay, or the two sides hold different studies: compare their digests",
                name=message.kind.name,
            )
        # A message that cannot be used, but is signed, marks its sender: that must survive a restart.
        known = set(machine.unusable)
        try:
            together = machine is self._machine and digest in examined
            sender = machine.take(examined[digest]) if together else machine.receive(raw)
        except OutOfOrder:
            if self._ended is None:
                raise
            raise StudyOver("the study is over.", hint="the inbox tells how it ended") from None
        except ProtocolRefused as error:
            if message.sender in known or message.sender not in machine.unusable:
                raise
            self.say(f"round {machine.session.round}, {machine.stage}: {_first_line(error)}")
            return Event(machine.session.round, "message", raw), error
        self._accepted.add(digest)
        self._update_departures(machine, sender, message.kind)
        name, did = self.study.roster[sender].name, "declined" if message.kind is Kind.REFUSE else "answered"
        self.say(f"round {machine.session.round}, {machine.stage}: {name} {did}")
        return Event(machine.session.round, "message", raw), None

    def _update_departures(self, machine: Coordinator, sender: int, kind: Kind) -> None:
        """A party that declines has left; one that answers after a stage was closed without it is back."""
        self._departures.pop(sender, None)
        if kind is Kind.REFUSE:
            self._departures[sender] = Departure("declined", machine.session.round, machine.stage)

    # -- stages -------------------------------------------------------------------------------------------------------

    def advance(self) -> bool:
        """Close every stage that can be closed; whether any was."""
        with self._lock:
            self._check_log()
            moved = False
            while self._ended is None and self._can_close():
                self._close_or_end()
                moved = True
            return moved

    def end(self, reason: MurmureError) -> None:
        """End the study: every party is told that nothing more comes."""
        with self._lock:
            self._check_log()
            if self._ended is None:
                self._end(reason)

    def _can_close(self) -> bool:
        machine = self._machine
        late = self._overdue = self._clock() >= self._closes_at
        if not machine.waiting or self._broken_cohort() or _hopeless(machine):
            return True
        return late  # closing with too few parties ends the study: nobody waits for ever

    def _broken_cohort(self) -> bool:
        """In later rounds nobody may be missing: sums over different parties could be subtracted."""
        machine = self._machine
        return machine.session.round > 1 and machine.stage in COHORT_STAGES and bool(machine.absent)

    def _close_or_end(self) -> None:
        machine = self._machine
        try:
            self._guard(machine)
        except ProtocolRefused as error:
            self._end(error)
            return
        round, stage = machine.session.round, machine.stage
        refusal = self._close(machine)
        result = self._results[-1] if machine.stage == "done" else None
        # On the disk first: after a crash, parties must get the messages of this stage, and never others.
        self._write([Event(round, "close")], result)
        self._publish()
        for place, departure in sorted(self._departures.items()):
            if departure == Departure("vanished", round, stage):
                self.say(f"round {round}, {stage}: {self.study.roster[place].name} vanished")
            elif departure == Departure("unusable", round, stage):
                consequence = "is left out" if stage in COHORT_STAGES else "sent what cannot be used"
                why = machine.unusable[place]
                self.say(f"round {round}, {stage}: {self.study.roster[place].name} {consequence}: {why}")
        self.say(
            f"round {round}, {stage}: closed, {'refused: ' + type(refusal).__name__ if refusal else machine.stage}"
        )

    def _guard(self, machine: Coordinator) -> None:
        """Check the cohort before anything leaves that could unmask a sum, and once more before it is unmasked."""
        round, stage = machine.session.round, machine.stage
        if round > 1 and stage in COHORT_STAGES and (machine.waiting or machine.absent):
            away = ", ".join(self.study.roster[place].name for place in sorted(machine.waiting | machine.absent))
            raise TooFewParties(
                "{away} took part in the first round but not in round {round}: the cohort is frozen.",
                away=away,
                round=round,
            )
        if stage == "vectors" and machine.can_close:
            self._check_cohort(machine, machine.received)
        if stage == "reveal" and machine.can_close:
            self._check_cohort(machine, frozenset(machine.cohort), record=True)

    def _check_cohort(self, machine: Coordinator, cohort: frozenset[int], record: bool = False) -> None:
        self._release_log.check(self.study, machine.session.round, cohort, record, self._sums)

    # -- what is also done when the log is read again -----------------------------------------------------------------

    def _replay(self, event: Event) -> None:
        if event.round != self._machine.session.round:
            raise LogFailed("the log records round {round} in the place of another round.", round=event.round)
        if event.kind == "message":
            message = parse_message(event.message)
            try:
                self._machine.receive(event.message)
            except ProtocolRefused:  # it was unusable then, and still is
                if message.sender not in self._machine.unusable:
                    raise
                return
            self._accepted.add(hashlib.sha256(event.message).digest())
            self._update_departures(self._machine, message.sender, message.kind)
        elif event.kind == "close":
            self._close(self._machine)
        else:
            self._stop(*event.message.decode().split("\n", 1))

    def _close(self, machine: Coordinator) -> ProtocolRefused | None:
        round, stage = machine.session.round, machine.stage
        self._closed.append((round, stage, len(machine.received), len(machine.expected)))
        if not _hopeless(machine):  # if hopeless, nobody was given the time to answer
            for place in machine.waiting:
                self._departures[place] = Departure("vanished", round, stage)
        known, refused = set(machine.unusable) & set(self._departures), None
        try:
            machine.close()
        except ProtocolRefused as error:
            refused = error
        for place in set(machine.unusable) - known - machine.refused:
            self._departures[place] = Departure("unusable", round, stage)
        if refused is not None:
            self._ended = Ending(type(refused).__name__, self._with_counts(refused))
            return refused
        self._allow(self._patience)
        if machine.stage == "done":
            self._results.append(RoundResult(round, machine.cohort, tuple(machine.result)))
            # How long the next question took here tells how long slower machines of parties may need.
            began = self._clock()
            if self.study.turn(round + 1, self._sums) is not None:
                self._begin_round(SLOWER * (self._clock() - began))
            else:  # also where models have no result for their sums: everybody sees why
                self._ended = Ending("", "")
        return None

    def _with_counts(self, error: ProtocolRefused) -> str:
        """The reason of the end; where parties are missing, also how many declined, vanished or were left out."""
        words, gone = _first_line(error), absent_in_words(count_absent(self._departures, ()))
        return f"{words} Of the others, {gone}." if isinstance(error, TooFewParties) and gone else words

    @property
    def _sums(self) -> list[tuple[int, ...]]:
        """The sums of all rounds that are over: the next question follows from them."""
        return [result.sums for result in self._results]

    def _begin_round(self, extra: float = 0.0) -> None:
        """extra: seconds in which parties compute the same question."""
        members = self._results[0].cohort if self._results else tuple(range(len(self.study.roster)))
        session = self.study.session(len(self._rounds) + 1, members, self._sums)
        self._machine = Coordinator(session, self._identity)
        self._rounds.append(self._machine)
        self._by_session[self._machine.session.digest] = self._machine
        self._allow((self._patience if self._results else self._wait) + extra)

    def _allow(self, seconds: float) -> None:
        self._closes_at, self._overdue = self._clock() + seconds, False

    def _end(self, error: MurmureError) -> None:
        kind, words = type(error).__name__, _first_line(error)
        round = self._machine.session.round
        self._stop(kind, words)
        self._write([Event(round, "end", f"{kind}\n{words}".encode())])
        self._publish()
        self.say(f"round {round}: ended, {kind}")

    def _stop(self, kind: str, words: str) -> None:
        for place in set(self._machine.unusable) - set(self._departures):
            self._departures[place] = Departure("unusable", self._machine.session.round, self._machine.stage)
        self._machine.end(kind)
        self._ended = Ending(kind, words)

    # -- on the disk, then for others ---------------------------------------------------------------------------------

    def _write(self, events: list[Event], result: RoundResult | None = None) -> None:
        try:
            self._store.append(events, self._current_progress().to_dict(), result)
        except LogFailed as error:
            self._failed = error  # memory is ahead of the disk: nothing of it may be served
            raise

    def _check_log(self) -> None:
        if self._failed is not None:
            raise self._failed

    def _publish(self, inboxes: bool = True) -> None:
        if inboxes:
            places = range(len(self.study.roster))
            self._inboxes = [
                tuple(m for machine in self._rounds if place in machine.session.members for m in machine.inbox(place))
                for place in places
            ]
        self.progress = self._current_progress()

    def _current_progress(self) -> StudyProgress:
        machine = self._machine
        return StudyProgress(
            round=machine.session.round,
            stage=machine.stage,
            answered=tuple(sorted(machine.received - machine.refused)),
            awaited=tuple(sorted(machine.waiting)),
            departures=dict(self._departures),
            ended=self._ended,
            cohort=self._results[0].cohort if self._results else None,
            results=len(self._results),
            closed=tuple(self._closed),
        )

    @property
    def results(self) -> tuple[RoundResult, ...]:
        return tuple(self._results[: self.progress.results])  # only those that are on the disk

    @cached_property
    def _max_known_bytes(self) -> int:
        """The length of the longest message in the rounds that are known in advance."""
        encoders = [question.plan.encoder for question in self.study.questions]
        return max(replace(self._rounds[0].session, encoder=encoder).max_message_bytes for encoder in encoders)

    @property
    def max_message_bytes(self) -> int:
        """The length of the longest message that a party can have reason to send, in this round or another."""
        return max(self._max_known_bytes, *(machine.session.max_message_bytes for machine in self._rounds))


def _hopeless(machine: Coordinator) -> bool:
    """Whether so many have declined, or sent unusable messages, that those who are awaited cannot save the sum: then
    nobody is kept waiting.

    Only while parties join, which may take very long. Later all are there, and each answers in time or is left out.
    """
    here = machine.expected - machine.refused - set(machine.unusable)
    return machine.stage == "keys" and len(here) < machine.session.sharing.minimum


def _first_line(error: Exception) -> str:
    return " ".join(str(error).splitlines()[0].split())
