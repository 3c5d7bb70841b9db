"""A study at its coordinator: stages close when they should, guards stop what must not be unmasked, and kill -9 loses
nothing."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import stat
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.parties import hands as hands_of

from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.parties.coordinator.errors import AlreadyServed, LogFailed, StudyOver
from murmure.parties.coordinator.progress import StudyProgress
from murmure.parties.coordinator.release_log import ReleaseLog
from murmure.parties.coordinator.runner import CoordinatorRunner
from murmure.parties.coordinator.store import CoordinatorStore, read_progress
from murmure.parties.study.cohort_guard import plan_sum_names
from murmure.parties.study.document import Study
from murmure.secure.errors import BadMessage, CohortRefused, OutOfOrder, WrongSession
from murmure.secure.messages import Kind, parse_message


class Desk:
    """A runner with a clock that the test moves, and parties whose messages are carried by hand."""

    def __init__(self, hands: Any, wait: float = 100.0, patience: float = 10.0) -> None:
        self.hands, self.now, self.said = hands, 0.0, list[str]()
        self.wait, self.patience = wait, patience
        self.parties = [hands.hand(place) for place in range(len(hands.study.roster))]
        self.open()

    def open(self) -> None:
        """As a process does that starts, or starts again."""
        folder = self.hands.folder
        self.store = CoordinatorStore(folder.log, self.hands.study.digest)
        self.runner = CoordinatorRunner(
            self.hands.study,
            self.hands.home.identity,
            self.store,
            ReleaseLog(self.hands.home.release_log),
            self.wait,
            self.patience,
            lambda: self.now,
            self.said.append,
        )

    def again(self) -> None:
        self.store.close()
        self.open()

    def say(self, *messages: bytes) -> list[Any]:
        outcomes = self.runner.receive(messages)
        self.runner.advance()
        return outcomes

    def later(self, seconds: float) -> None:
        self.now += seconds
        self.runner.advance()

    def join(self, *places: int) -> None:
        assert self.say(*(self.parties[place].party.keys() for place in places)) == [None] * len(places)

    def step(self, *silent: int) -> None:
        """Everybody hears what is there and answers, except who is silent."""
        answers = []
        for party in self.parties:
            for message in self.runner.inbox(party.place)[party.after :]:
                said = party.answer(message)
                answers += [] if party.place in silent else said
        assert self.say(*answers) == [None] * len(answers)

    def finish(self) -> None:
        for _ in range(6 * len(self.hands.study.plans)):
            self.step()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


def test_everybody_answers(place: Path) -> None:
    """Three rounds over one cohort: exact sums at the coordinator and at every party; nobody waits for the clock."""
    desk = Desk(hands_of.Hands(place, rounds=3))
    desk.join(0, 1, 2, 3, 4)
    desk.finish()

    assert desk.runner.progress.state == "done" and desk.now == 0.0
    wanted = [desk.hands.total(range(5), r) for r in (1, 2, 3)]
    assert [list(one.sums) for one in desk.runner.results] == wanted
    assert all(party.results == wanted for party in desk.parties)


@pytest.mark.parametrize(
    ("stage", "silent_steps", "cohort"),
    [
        ("shares", 0, (0, 1, 2, 3)),
        ("opened", 1, (0, 1, 2, 3)),
        ("vectors", 2, (0, 1, 2, 3)),
        ("agree", 3, (0, 1, 2, 3, 4)),
        ("reveal", 4, (0, 1, 2, 3, 4)),
    ],
)
def test_somebody_vanishes(place: Path, stage: str, silent_steps: int, cohort: tuple[int, ...]) -> None:
    """The stage waits for its patience, not a moment longer; the sum is over those whose vectors came."""
    desk = Desk(hands_of.Hands(place))
    desk.join(0, 1, 2, 3, 4)
    for _ in range(silent_steps):
        desk.step()
    desk.step(4)
    assert desk.runner.progress.stage == stage and desk.runner.progress.awaited == (4,)
    desk.later(9.9)
    assert desk.runner.progress.stage == stage
    desk.later(0.1)
    assert desk.runner.progress.departures[4].how == "vanished" and desk.runner.progress.departures[4].stage == stage
    for _ in range(5):
        desk.step(4)
    if stage == "agree":  # it may still come back and reveal
        desk.later(10)

    assert [list(one.sums) for one in desk.runner.results] == [desk.hands.total(cohort)]
    assert desk.runner.results[0].cohort == cohort


def test_parties_have_the_time_that_the_next_question_takes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What took the coordinator 7 seconds may take a slower machine 70: they are added to its patience."""
    desk = Desk(hands_of.Hands(place, rounds=2))
    turn = Study.turn

    def slow(study: Study, round: int, released: Any = ()) -> Any:
        desk.now = max(desk.now, 7.0 * (round == 2))
        return turn(study, round, released)

    monkeypatch.setattr(Study, "turn", slow)
    desk.join(0, 1, 2, 3, 4)
    while not desk.runner.results:
        desk.step()

    assert desk.now == 7.0 and desk.runner.seconds_left == 80.0
    desk.later(79.0)
    desk.finish()
    assert desk.runner.progress.state == "done"


@pytest.mark.parametrize(("joined", "declined"), [(j, d) for j in range(6) for d in range(3) if j + d <= 5])
def test_the_first_stage_ends_when_the_wait_is_over(place: Path, joined: int, declined: int) -> None:
    """With the minimum it goes on; with fewer the study ends, and says how many declined and how many never came."""
    desk = Desk(hands_of.Hands(place, dropouts=2, colluders=0))
    desk.join(*range(joined))
    desk.say(*(desk.parties[4 - i].party.refuse() for i in range(declined)))
    if desk.runner.progress.stage == "keys":
        desk.later(100)
    standing, silent = desk.runner.progress, 5 - joined - declined

    assert standing.absent == {k: v for k, v in (("declined", declined), ("vanished", silent)) if v}
    if joined >= 3:
        assert standing.stage == "shares"
        return
    assert standing.ended.kind == "TooFewParties" and desk.runner.seconds_left is None
    said = {0: "", 1: "1 has declined", 2: "2 have declined"}[declined]
    assert f"{silent} {'has' if silent == 1 else 'have'} stopped answering" in standing.ended.words
    assert said in standing.ended.words
    assert all(parse_message(desk.runner.inbox(p)[-1]).kind is Kind.END for p in range(5))
    desk.again()
    assert desk.runner.progress == standing


def test_before_the_wait_is_over_others_may_join(place: Path) -> None:
    desk = Desk(hands_of.Hands(place, dropouts=2, colluders=0))
    desk.join(0, 1, 2)
    desk.later(99)
    assert desk.runner.progress.stage == "keys" and desk.runner.seconds_left == 1.0
    desk.join(3, 4)

    assert desk.runner.progress.stage == "shares"


def test_those_who_decline_are_not_waited_for(place: Path) -> None:
    desk = Desk(hands_of.Hands(place, dropouts=2, colluders=0))
    desk.join(0, 1, 2)
    desk.say(desk.parties[3].party.refuse(), desk.parties[4].party.refuse())
    assert desk.runner.progress.stage == "shares"
    assert [desk.runner.progress.party_state(p) for p in (0, 3, 4)] == ["awaited", "declined", "declined"]
    desk.finish()

    assert list(desk.runner.results[0].sums) == desk.hands.total((0, 1, 2))


def test_too_many_decline(place: Path) -> None:
    """Nothing is summed, and everybody is told."""
    desk = Desk(hands_of.Hands(place, dropouts=1))
    desk.join(0, 1, 2)
    desk.say(desk.parties[3].party.refuse(), desk.parties[4].party.refuse())

    assert desk.runner.progress.state == "failed" and desk.runner.progress.ended.kind == "TooFewParties"
    assert not desk.runner.results
    assert all(parse_message(desk.runner.inbox(p)[-1]).kind is Kind.END for p in range(5))


def test_nobody_waits_once_the_minimum_is_out_of_reach(place: Path) -> None:
    """Two of five declined and four are the least: whoever joined hears it at once, whoever did not is not blamed."""
    desk = Desk(hands_of.Hands(place, dropouts=1))
    desk.join(0)
    desk.say(desk.parties[3].party.refuse())
    assert desk.runner.progress.state == "gathering"
    desk.say(desk.parties[4].party.refuse())

    assert desk.runner.progress.ended.kind == "TooFewParties"
    assert (
        parse_message(desk.runner.inbox(0)[-1]).kind is Kind.END
        and parse_message(desk.runner.inbox(1)[-1]).kind is Kind.END
    )
    assert [desk.runner.progress.party_state(p) for p in (1, 2, 3, 4)] == [
        "left out",
        "left out",
        "declined",
        "declined",
    ]


@pytest.mark.parametrize("refuses", [True, False])
def test_the_cohort_is_frozen(place: Path, refuses: bool) -> None:
    """Whoever was in the first sum is in the second, or there is no second: their difference would be one's own sum."""
    desk = Desk(hands_of.Hands(place, rounds=2))
    desk.join(0, 1, 2, 3, 4)
    for _ in range(5):
        desk.step()
    assert len(desk.runner.results) == 1
    if refuses:
        desk.step(4)
        desk.say(desk.parties[4].party.refuse())
    else:
        desk.step(4)
        desk.later(11)

    assert desk.runner.progress.ended.kind == "TooFewParties"
    assert "Clinique des Lilas took part in the first round" in desk.runner.progress.ended.words
    assert len(desk.runner.results) == 1
    assert all(parse_message(desk.runner.inbox(p)[-1]).kind is Kind.END for p in range(4))
    desk.again()
    assert desk.runner.progress.ended.kind == "TooFewParties"


def test_the_same_sum_over_one_fewer_is_not_unmasked(place: Path) -> None:
    """A party is away and the study is asked again: the difference of the two sums would be that party's own."""
    first = Desk(hands_of.Hands(place))
    first.join(0, 1, 2, 3, 4)
    first.finish()
    assert first.runner.progress.state == "done"
    second = Desk(hands_of.Hands(place, name="Again"))
    second.join(0, 1, 2, 3)
    second.later(1000)
    for _ in range(5):
        second.step()

    assert second.runner.progress.ended.kind == "CohortRefused" and not second.runner.results
    assert "(Clinique des Lilas)" in second.runner.progress.ended.words
    # the parties were never told whose vectors came, so no share left any of them
    assert all(Kind.ALIVE not in {parse_message(m).kind for m in second.runner.inbox(p)} for p in range(4))
    third = Desk(hands_of.Hands(place, name="Third"))
    third.join(0, 1, 2, 3, 4)
    third.finish()
    assert third.runner.progress.state == "done"


def test_a_sum_is_known_beside_others_and_under_other_terms(place: Path) -> None:
    """Asked among more expressions, or with other dropouts allowed, it is the same sum; another one is another.

    But the number of rows comes with each: over one party less, no other exact sum is unmasked either.
    """
    from murmure.plan.plan import Plan
    from murmure.secure.sharing import PairwiseMasks
    from murmure.statistics.sums import Sums

    def plan(*expressions: str, dropouts: int = 1) -> Plan:
        return Plan(Sums(hands_of.SCHEMA, expressions), parties=PairwiseMasks(5, dropouts=dropouts))

    def study(*expressions: str) -> Study:
        return replace(hands_of.Hands(place, name=str(expressions)).study, plans=(plan(*expressions),))

    (age,) = plan_sum_names(plan("age"))
    assert age in plan_sum_names(plan("age", "2 * age", dropouts=0))
    assert age not in plan_sum_names(plan("age ** 2"))
    released = ReleaseLog(place / "released.db")
    first = study("age")
    released.check(first, 1, range(5), record=True)
    with pytest.raises(CohortRefused, match="the sum of round 1 stays masked") as refusal:
        released.check(study("age", "2 * age"), 1, range(4))
    assert "reveal 1 alone (Clinique des Lilas)" in str(refusal.value)  # and no 64 digits
    for other in map(study, ("age ** 2", "1 + age", "stay")):  # other questions; their numbers of rows are the same
        with pytest.raises(CohortRefused, match="reveal 1 alone"):
            released.check(other, 1, range(4))
        released.check(other, 1, range(5))
    released.check(first, 1, range(5), record=True)  # after a crash: its own line is no obstacle


def test_a_difference_hides_more_than_the_colluders(place: Path) -> None:
    """With two who may collude, three parties more or less are one party's own sum, and four are two."""
    office = ReleaseLog(place / "released.db")

    def study(name: str, colluders: int) -> Study:
        return hands_of.Hands(place, 12, name=name, dropouts=4, colluders=colluders).study

    office.check(study("First", 1), 1, range(12), record=True)
    office.check(study("Second", 1), 1, range(9))
    with pytest.raises(CohortRefused, match="reveal 3 alone") as refusal:
        office.check(study("Third", 2), 1, range(9))
    assert all(f"Party {n}" in str(refusal.value) for n in (10, 11, 12)) and "the minimum is 4" in str(refusal.value)
    office.check(study("Third again", 2), 1, range(8), record=True)
    with pytest.raises(CohortRefused):  # what the earlier study guards against holds on
        office.check(study("Fourth", 1), 1, range(11))
    with pytest.raises(CohortRefused, match="reveal 3 alone"):
        office.check(study("Fifth", 1), 1, [*range(5), 8, 9, 10, 11])


def test_a_small_study_is_no_obstacle_to_a_large_one(place: Path) -> None:
    """Over few parties, under its own terms; nor is a large one, where many may collude, to a small one."""
    office = ReleaseLog(place / "released.db")
    small = hands_of.Hands(place, 4, name="Small", dropouts=0, colluders=1).study
    large = hands_of.Hands(place, 12, name="Large", dropouts=1, colluders=6).study
    office.check(small, 1, range(4), record=True)
    office.check(large, 1, range(12), record=True)
    office.check(replace(small, name="Once more"), 1, range(4))


@pytest.mark.parametrize("epsilon", [1.0, 60.0])
def test_noise_that_hides_no_row_is_held_like_none(place: Path, epsilon: float) -> None:
    """A sum with almost no noise can be subtracted like an exact one."""
    office, study = ReleaseLog(place / "released.db"), hands_of.Hands(place).study
    plans = tuple(replace(plan, curator=DiscreteLaplace(epsilon)) for plan in study.plans)
    office.check(replace(study, plans=plans), 1, range(5), record=True)
    if epsilon > 6:
        with pytest.raises(CohortRefused):
            office.check(study, 1, range(4))
    else:
        office.check(study, 1, range(4))


def test_what_is_refused_changes_nothing(place: Path) -> None:
    """A replay from another study, an ASK, rubbish, a message too early: named, and not in the log."""
    desk = Desk(hands_of.Hands(place))
    other = hands_of.Hands(place, name="Other")
    desk.join(0, 1, 2)
    before = desk.runner.progress
    raws = [other.hand(3).party.keys(), desk.parties[3].ask(), b"", b"MU" + bytes(200)]
    raws.append(desk.parties[0].party._sign(Kind.MASKED, bytes(8)))
    outcomes = desk.say(*raws)

    assert [type(o) for o in outcomes] == [WrongSession, BadMessage, BadMessage, BadMessage, OutOfOrder]
    assert desk.runner.progress == before
    assert len(list(desk.store.events())) == 3


def test_a_mistake_of_ours_stops_nobody(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message that breaks the machine halfway is refused, and leaves no trace in it."""
    from murmure.secure.coordinator import Coordinator

    desk = Desk(hands_of.Hands(place))
    desk.join(0)
    listen = Coordinator._handle

    def breaks(self: Any, message: Any, masked_for: bool | None) -> None:
        listen(self, message, masked_for)
        if message.sender == 2:
            raise ZeroDivisionError

    monkeypatch.setattr(Coordinator, "_handle", breaks)
    outcomes = desk.say(*(desk.parties[p].party.keys() for p in (1, 2, 3)))
    assert [type(one) for one in outcomes] == [type(None), BadMessage, type(None)]
    assert desk.runner.progress.answered == (0, 1, 3) and any("ZeroDivisionError" in line for line in desk.said)
    monkeypatch.setattr(Coordinator, "_handle", listen)
    desk.join(2, 4)
    desk.finish()
    assert list(desk.runner.results[0].sums) == desk.hands.total(range(5))


def test_a_message_twice_is_written_once(place: Path) -> None:
    desk = Desk(hands_of.Hands(place))
    keys = desk.parties[0].party.keys()

    assert desk.say(keys, keys) == [None, None] and desk.say(keys) == [None]
    desk.again()
    assert desk.say(keys) == [None]
    assert len(list(desk.store.events())) == 1


def test_after_the_end(place: Path) -> None:
    """What was said before is acknowledged again; anything new is told that the study is over."""
    desk = Desk(hands_of.Hands(place))
    keys = desk.parties[0].party.keys()
    desk.join(0, 1, 2, 3, 4)
    desk.finish()

    (outcome,) = desk.say(desk.parties[0].party._sign(Kind.REFUSE, b""))
    assert isinstance(outcome, StudyOver)
    assert desk.say(keys) == [None]


def test_started_again_after_every_event(place: Path) -> None:
    """Two rounds with somebody who vanishes: a new process finds the same inboxes, standing and results, always."""
    desk = Desk(hands_of.Hands(place, rounds=2))
    turns = 0

    def look() -> None:
        nonlocal turns
        turns += 1
        held = [desk.runner.inbox(p) for p in range(5)], desk.runner.progress, desk.runner.results
        desk.again()
        assert ([desk.runner.inbox(p) for p in range(5)], desk.runner.progress, desk.runner.results) == held
        standing, results = read_progress(desk.hands.folder.log, desk.hands.study.digest)
        assert standing is not None and StudyProgress.from_dict(standing) == desk.runner.progress
        assert tuple(results) == desk.runner.results

    for party in desk.parties[:4]:
        assert desk.runner.receive([party.party.keys()]) == [None]
        look()
    desk.later(200)
    look()
    while desk.runner.progress.state != "done":
        for party in desk.parties[:4]:
            for message in desk.runner.inbox(party.place)[party.after :]:
                for answer in party.answer(message):
                    assert desk.runner.receive([answer]) == [None]
                    look()
        assert desk.runner.advance()
        look()
    desk.step()
    assert turns > 30
    assert [party.results for party in desk.parties[:4]] == [[desk.hands.total(range(4), r) for r in (1, 2)]] * 4


def test_when_the_disk_fails_nothing_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither acknowledged nor served, now or later; a new process stands where the disk does."""
    desk = Desk(hands_of.Hands(place))
    desk.join(0, 1, 2, 3)
    inboxes = [desk.runner.inbox(p) for p in range(5)]
    monkeypatch.setattr(desk.store, "append", _full)
    for _ in range(2):
        with pytest.raises(LogFailed, match="full"):
            desk.runner.receive([desk.parties[4].party.keys()])
    with pytest.raises(LogFailed):
        desk.later(1000)

    assert [desk.runner.inbox(p) for p in range(5)] == inboxes
    assert desk.runner.progress.answered == (0, 1, 2, 3)
    desk.again()
    assert desk.runner.progress.answered == (0, 1, 2, 3)


def _full(*args: Any) -> None:
    raise LogFailed("the disk is full.")


def test_the_log_is_for_its_owner_and_explains_itself(place: Path) -> None:
    desk = Desk(hands_of.Hands(place))
    desk.join(0)
    folder = desk.hands.folder
    for file in (
        folder.log,
        folder.path / "page.token",
        desk.hands.home.release_log,
        desk.hands.home.path / "identity.key",
    ):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    held = sqlite3.connect(folder.log)
    tables = [text for (text,) in held.execute("SELECT sql FROM sqlite_master WHERE type = 'table'")]
    held.close()
    assert all(line.count("--") == 1 for text in tables for line in text.splitlines()[1:-1])


def test_a_log_that_cannot_be_trusted(place: Path) -> None:
    """Of another study, with a hole, or of something else: said, and not served."""
    hands = hands_of.Hands(place)
    desk = Desk(hands)
    desk.join(0, 1, 2)
    desk.store.close()
    with pytest.raises(LogFailed, match="another study"):
        CoordinatorStore(hands.folder.log, bytes(32))
    held = sqlite3.connect(hands.folder.log)
    held.execute("DELETE FROM murmure_events WHERE number = 2")
    held.commit()
    held.close()
    with pytest.raises(LogFailed, match="missing"):
        CoordinatorStore(hands.folder.log, hands.study.digest)
    hands.folder.log.write_bytes(b"not a database, but long enough for one" * 100)
    with pytest.raises(LogFailed):
        CoordinatorStore(hands.folder.log, hands.study.digest)


def test_one_process_serves_a_study(place: Path) -> None:
    hands = hands_of.Hands(place)
    with hands.folder.locked(), pytest.raises(AlreadyServed, match="another process"), hands.folder.locked():
        pass
    with hands.folder.locked():
        pass


# -- kill -9 -----------------------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


class Killed:
    """A coordinator in a process of its own, that dies at its k-th writing, before or after it is on the disk."""

    def __init__(self, hands: Any, port: int, k: int, before: bool) -> None:
        self.pid = os.fork()
        if self.pid:
            return
        try:
            _die_at(k, before)
            hands_of.serve(hands.folder, hands_of.ServerSettings(port=port, wait=60, patience=60))
        except BaseException as error:
            os.write(2, f"the coordinator failed: {error!r}\n".encode())
            os._exit(1)
        os._exit(0)

    def ended(self) -> int | None:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def _die_at(k: int, before: bool) -> None:
    append, left = CoordinatorStore.append, [k]

    def dying(self: CoordinatorStore, *args: Any) -> None:
        left[0] -= 1
        if left[0] == 0 and before:
            os.kill(os.getpid(), signal.SIGKILL)
        append(self, *args)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    CoordinatorStore.append = dying  # type: ignore[method-assign]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_again_and_again(place: Path, seed: int) -> None:
    """Two rounds at a coordinator that is killed before and after its writings, and at random moments besides.

    Nothing acknowledged is lost, nothing served changes, and the sums are exact. (Parties are carried by one thread, so
    that the process can be forked.)
    """
    rng = np.random.default_rng(seed)
    hands = hands_of.Hands(place, rounds=2)
    parties = [hands.hand(p) for p in range(5)]
    unsent = {p: [parties[p].party.keys()] for p in range(5)}
    acknowledged: list[bytes] = []
    port = free_port()
    line = hands_of.Line(f"http://127.0.0.1:{port}")
    kills = 0

    def start() -> Killed:
        return Killed(hands, port, int(rng.integers(1, 7)) if kills < 25 else -1, bool(rng.integers(2)))

    process, end = start(), time.monotonic() + 60
    while not all(party.over for party in parties):
        assert time.monotonic() < end, "it never ended"
        party = parties[int(rng.integers(5))]
        try:
            if unsent[party.place]:
                message = unsent[party.place][0]
                status, error = line.send(message)
                assert status == 200, error
                acknowledged.append(message)
                unsent[party.place].pop(0)
            elif not party.over:
                everything = line.inbox(party.ask(0))
                assert everything[: len(party.heard)] == party.heard, "what was served has changed"
                for message in everything[len(party.heard) :]:
                    unsent[party.place] += party.answer(message)
            if kills < 25 and rng.random() < 0.05:
                process.kill()
                kills += 1
                process = start()
        except (OSError, hands_of.http.client.HTTPException):
            code = process.ended()
            if code is not None:
                assert code == -signal.SIGKILL
                kills += 1
                process = start()
            else:
                time.sleep(0.005)  # it is starting
    process.kill()  # it would give those who fetched their result from its predecessor some time to come again

    assert kills > 8, "it was hardly killed"
    wanted = [hands.total(range(5), r) for r in (1, 2)]
    assert all(party.results == wanted for party in parties)
    store = CoordinatorStore(hands.folder.log, hands.study.digest)
    logged = [event.message for event in store.events() if event.kind == "message"]
    store.close()
    assert len(set(logged)) == len(logged) and set(acknowledged) == set(logged)


def test_a_mistake_while_messages_are_examined_stops_none_of_them(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is then looked at alone, so that one which breaks the machine is refused and the others are taken."""
    from murmure.secure.coordinator import Coordinator

    desk = Desk(hands_of.Hands(place))
    examine = Coordinator.examine

    def breaks(self: Any, raws: Any) -> Any:
        if any(parse_message(raw).sender == 2 for raw in raws):
            raise ZeroDivisionError
        return examine(self, raws)

    monkeypatch.setattr(Coordinator, "examine", breaks)
    outcomes = desk.say(*(desk.parties[p].party.keys() for p in (1, 2, 3)))
    assert [type(one) for one in outcomes] == [type(None), BadMessage, type(None)]
    assert desk.runner.progress.answered == (1, 3)
