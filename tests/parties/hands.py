"""Parties for the tests of the coordinator: the real machines over http.client, without a disk. (No test in here.)"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from murmure.core.domain import Categories, Integers
from murmure.core.schema import Schema
from murmure.parties.coordinator.folders import CoordinatorFolder, StudyFolder
from murmure.parties.coordinator.status_view import StatusView
from murmure.parties.http.server import ServerSettings, ServerUrls, serve
from murmure.parties.study.document import Study
from murmure.parties.study.freshness import AskCounter
from murmure.plan.plan import Plan
from murmure.secure.identity import Identity
from murmure.secure.messages import Kind, sign_message
from murmure.secure.party import Party
from murmure.secure.sharing import PairwiseMasks
from murmure.statistics.sums import Sums

SCHEMA = Schema({"age": Integers(0, 120), "stay": Integers(0, 60), "smoker": Categories(["no", "yes"])})
NAMES = ("Hôpital Nord", "Hôpital Sud", "Clinique du Parc", "Hôpital de l'Est", "Clinique des Lilas")


class Hands:
    """A study between n parties, its folder, and everybody's identity."""

    def __init__(self, folder: Path, n: int = 5, rounds: int = 1, name: str = "Stay 2026", **sharing: Any) -> None:
        home = folder / "office"
        self.home = CoordinatorFolder(home) if home.exists() else CoordinatorFolder.create(home, "Statistics office")
        self.identities = [Identity.from_bytes(bytes([i + 1]) * 32) for i in range(n)]
        names = NAMES if n <= len(NAMES) else [f"Party {i + 1}" for i in range(n)]
        roster = tuple(one.card(names[i]) for i, one in enumerate(self.identities))
        asked = [("age", "stay", "age * stay"), ("stay ** 2", "(smoker == 'yes') * age"), ("age ** 2",)][:rounds]
        masks = PairwiseMasks(n, rows=10_000, **sharing)
        plans = tuple(Plan(Sums(SCHEMA, expressions), parties=masks) for expressions in asked)
        self.study = Study(name, "How long people stay, by age.", self.home.card, roster, plans)
        self.folder = StudyFolder.create(self.home, self.study)

    def vector(self, place: int, round: int = 1) -> list[int]:
        """What this party adds: 10 rows and some numbers that tell parties apart."""
        return [10, *(1000 * (place + 1) + k for k in range(self.study.plans[round - 1].statistic.width))]

    def total(self, cohort: Any, round: int = 1) -> list[int]:
        return [int(v) for v in np.sum([self.vector(place, round) for place in cohort], axis=0)]

    def hand(self, place: int) -> Hand:
        return Hand(self, place)


class Hand:
    """One party. What it heard is counted over all rounds, as the inbox is."""

    def __init__(self, hands: Hands, place: int) -> None:
        self.hands, self.place, self.identity = hands, place, hands.identities[place]
        self.after, self.numbers = 0, AskCounter()
        self.heard: list[bytes] = []
        self.results: list[list[int]] = []
        self.begin(1, tuple(range(len(hands.study.roster))))

    def begin(self, round: int, members: tuple[int, ...]) -> bytes:
        session = self.hands.study.session(round, members)
        self.party = Party(session, self.identity, self.place, bytes([40 + self.place, round] * 16))
        return self.party.keys()

    def ask(self, after: int | None = None) -> bytes:
        body = self.numbers.next_body(self.after if after is None else after)
        return sign_message(Kind.ASK, self.hands.study.digest, self.place, body, self.identity)

    def answer(self, message: bytes) -> list[bytes]:
        """What is said to one message of the coordinator."""
        self.heard.append(message)
        self.after += 1
        out = self.party.receive(message)
        round = self.party.session.round
        if self.party.stage == "vector":
            return [self.party.mask(self.hands.vector(self.place, round))]
        if self.party.stage == "reveal":
            return [self.party.reveal()]
        if self.party.stage == "done":
            assert self.party.result is not None
            self.results.append(self.party.result)
            if round < len(self.hands.study.plans):
                return [self.begin(round + 1, self.party.cohort if round == 1 else self.party.session.members)]
        return [] if out is None else [out]

    @property
    def over(self) -> bool:
        return self.party.stage == "failed" or len(self.results) == len(self.hands.study.plans)


class Line:
    """To the coordinator: one request after the other."""

    def __init__(self, url: str) -> None:
        self.host, port = url.split("/")[2].split(":")
        self.port = int(port)

    def request(
        self, method: str, path: str, body: bytes = b"", headers: Any = None, timeout: float = 40.0
    ) -> tuple[int, bytes, dict[str, str]]:
        line = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            line.request(method, path, body, headers or {})
            answer = line.getresponse()
            return answer.status, answer.read(), {k.lower(): v for k, v in answer.getheaders()}
        finally:
            line.close()

    def send(self, message: bytes) -> tuple[int, str]:
        status, body, _ = self.request("POST", "/messages", message)
        return status, "" if status == 200 else json.loads(body)["error"]

    def inbox(self, ask: bytes, wait: float = 0.0) -> list[bytes]:
        status, body, _ = self.request("POST", f"/inbox?wait={wait:g}", ask)
        if status == 410:
            return []
        assert status == 200, (status, body[:200])
        count, at, out = int.from_bytes(body[:4], "little"), 4, []
        for _ in range(count):
            length = int.from_bytes(body[at : at + 4], "little")
            out.append(body[at + 4 : at + 4 + length])
            at += 4 + length
        assert at == len(body)
        return out


def take_part(hand: Hand, line: Line, until: Callable[[Hand], bool] = lambda hand: False) -> None:
    """From the first message to the result, or until this party vanishes."""
    waiting = [hand.party.keys()]
    while True:
        for message in waiting:
            if until(hand):
                return
            status, error = line.send(message)
            assert status == 200, (hand.place, error)
        if hand.over:
            return
        waiting = []
        for message in line.inbox(hand.ask(), 20):
            waiting += hand.answer(message)
        if hand.over:
            line.inbox(hand.ask())  # which says that all of it was heard
            return


def together(works: list[Callable[[], None]]) -> list[BaseException]:
    """Each in a thread of its own; what they raised."""
    raised: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return raised


class Served:
    """A coordinator in a thread of this process."""

    def __init__(self, folder: StudyFolder, **how: Any) -> None:
        self.where: ServerUrls | None = None
        self.seen: StatusView | None = None
        self.raised: BaseException | None = None
        self._up = threading.Event()
        self._folder, self._how = folder, ServerSettings(**{"patience": 5.0, "wait": 30.0, **how})
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self.seen = serve(self._folder, self._how, self._started)
        except BaseException as error:
            self.raised = error
        self._up.set()

    def _started(self, where: ServerUrls) -> None:
        self.where = where
        self._up.set()

    def start(self) -> Line:
        self._thread.start()
        assert self._up.wait(20) and self.where is not None, self.raised
        return Line(self.where.parties)

    def stop(self) -> None:
        assert self.where is not None
        self.where.stop()
        self._thread.join(20)

    def ended(self) -> StatusView:
        self._thread.join(40)
        assert not self._thread.is_alive(), "the coordinator did not stop"
        if self.raised is not None:
            raise self.raised
        assert self.seen is not None
        return self.seen


@contextmanager
def serving(folder: StudyFolder, **how: Any) -> Iterator[tuple[Line, Served]]:
    served = Served(folder, **how)
    line = served.start()
    try:
        yield line, served
    finally:
        served.stop()
