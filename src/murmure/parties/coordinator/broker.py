"""Between many connections and one study: messages wait in line and go to the disk together; polls wait for news.

The event loop only waits and answers. Whatever may take long (signatures of many messages, the disk, unmasking) is done
by one thread, one batch after the other; while it writes one batch, the next gathers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from murmure.parties.coordinator.errors import LogFailed, StudyOver
from murmure.parties.coordinator.runner import CoordinatorRunner
from murmure.parties.study.freshness import ReplayFilter
from murmure.secure.errors import BadMessage, RosterDiffers
from murmure.secure.messages import Kind, parse_message

MAX_POLL_SECONDS = 30.0  # seconds
BATCH = 256  # messages that are written to the disk together


class MessageBroker:
    """What the routes of web.py call."""

    def __init__(
        self,
        runner: CoordinatorRunner,
        on_over: Callable[[MessageBroker], None] = lambda desk: None,
        linger: float = 30.0,
    ) -> None:
        self.runner, self._on_over, self._linger = runner, on_over, linger
        self._line: list[tuple[bytes, asyncio.Future[None]]] = []
        self._polls: dict[int, asyncio.Future[None]] = {}
        self._fetched: dict[int, int] = {}  # so many messages each party says that it has heard
        self._fresh = ReplayFilter()
        self._news, self._fetching = asyncio.Event(), asyncio.Event()
        self._closed = False
        self._ending: asyncio.Task[None] | None = None
        self.failed: Exception | None = None

    async def deliver(self, raw: bytes) -> None:
        """A party's message; when this returns, it is on the disk. Raises why it was refused."""
        if self.failed is not None:
            raise self.failed
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append((raw, done))
        self._news.set()
        await done

    def asks(self, raw: bytes) -> tuple[int, int]:
        """Who asks for the inbox, and after how many messages."""
        message = parse_message(raw)
        if message.kind is not Kind.ASK:
            raise BadMessage("an inbox is asked for with an ASK message.")
        roster = self.runner.study.roster
        if message.sender >= len(roster):
            raise RosterDiffers("the sender is not in the roster.")
        message.check(self.runner.study.digest, roster[message.sender])
        return message.sender, self._fresh.check(message.sender, message.body)

    async def poll(self, place: int, after: int, wait: float) -> tuple[bytes, ...]:
        """What was said to this party after its first `after` messages; waits until there is something."""
        self._fetched[place] = max(after, self._fetched.get(place, 0))
        self._let_go(place)  # of one party one poll waits; a second one takes its place
        if len(self.runner.inbox(place)) <= after and not self.runner.over and not self._closed and wait > 0:
            news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._polls[place] = news
            await asyncio.wait({news}, timeout=min(wait, MAX_POLL_SECONDS))
            if self._polls.get(place) is news:
                del self._polls[place]
        messages = self.runner.inbox(place)
        if self.runner.over:
            self._fetching.set()
            if len(messages) <= after:
                raise StudyOver("the study is over, and there is nothing more for this party.")
        return messages[after:]

    def _let_go(self, place: int) -> None:
        news = self._polls.pop(place, None)
        if news is not None and not news.done():
            news.set_result(None)

    def close(self) -> None:
        """The server stops: nobody is kept waiting."""
        self._closed = True
        for place in list(self._polls):
            self._let_go(place)

    async def run(self) -> None:
        """Until the study is over and its end was fetched; or until the disk fails."""
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "murmure-study") as worker:
            while True:
                batch, self._line = self._line[:BATCH], self._line[BATCH:]
                try:
                    if batch:
                        raws = [raw for raw, _ in batch]
                        outcomes = await loop.run_in_executor(worker, self.runner.receive, raws)
                        for (_, done), outcome in zip(batch, outcomes, strict=True):
                            _settle(done, outcome)
                        batch = []
                    if not self.runner.over and await loop.run_in_executor(worker, self.runner.advance):
                        for place in list(self._polls):
                            self._let_go(place)
                except Exception as error:  # the disk, or a mistake of ours: nothing more is acknowledged
                    self.failed = error
                    for _, done in [*batch, *self._line]:
                        _settle(done, error if isinstance(error, LogFailed) else LogFailed("the coordinator stopped."))
                    self.close()
                    self._on_over(self)
                    return
                if self.runner.over and self._ending is None:
                    self._ending = asyncio.create_task(self._wait_for_all())
                if not self._line:
                    await self._sleep()

    async def _sleep(self) -> None:
        """Until something comes, or a stage may be closed without those who are late."""
        self._news.clear()
        if not self._line:
            seconds = self.runner.seconds_left
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), None if seconds is None else seconds + 0.001)

    async def _wait_for_all(self) -> None:
        """Once the study is over: time for everybody who took part to say that they know how it ended."""
        end = time.monotonic() + self._linger
        while self._unaware():
            left = end - time.monotonic()
            if left <= 0:
                break
            self._fetching.clear()
            try:
                await asyncio.wait_for(self._fetching.wait(), left)
            except TimeoutError:
                break
        for name in self._unaware():
            self.runner.say(f"{name} has not said that it knows how the study ended")
        self._on_over(self)

    def _unaware(self) -> list[str]:
        """An answer that left is no answer that arrived: only a later ASK says so."""
        runner = self.runner
        return [
            card.name
            for place, card in enumerate(runner.study.roster)
            if place not in runner.standing.left and self._fetched.get(place, 0) < len(runner.inbox(place))
        ]


def _settle(done: asyncio.Future[None], outcome: Exception | None) -> None:
    if done.done():  # whoever sent it has gone
        return
    if outcome is None:
        done.set_result(None)
    else:
        done.set_exception(outcome)
