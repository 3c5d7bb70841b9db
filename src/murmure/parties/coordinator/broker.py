"""Between many connections and one study: messages are queued and written to the disk together; polls wait for news.

The event loop only waits and answers. Everything that may take long (signatures of many messages, the disk, unmasking)
is done by one thread, one batch after the other; while it writes one batch, the next one gathers.
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

MAX_POLL_SECONDS = 30.0
BATCH_SIZE = 256  # messages that are written to the disk together


class MessageBroker:
    """What the routes of http/routes.py call."""

    def __init__(
        self,
        runner: CoordinatorRunner,
        on_over: Callable[[MessageBroker], None] = lambda broker: None,
        linger: float = 30.0,
    ) -> None:
        self.runner, self._on_over, self._linger = runner, on_over, linger
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._polls: dict[int, asyncio.Future[None]] = {}
        self._received_counts: dict[int, int] = {}  # by party: how many messages it says that it has
        self._replay_filter = ReplayFilter()
        self._message_came, self._poll_ended = asyncio.Event(), asyncio.Event()
        self._closed = False
        self._ending: asyncio.Task[None] | None = None
        self.failed: Exception | None = None

    async def deliver(self, raw: bytes) -> None:
        """Take a party's message; when this returns, it is on the disk. A refusal is raised."""
        if self.failed is not None:
            raise self.failed
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((raw, done))
        self._message_came.set()
        await done

    def parse_ask(self, raw: bytes) -> tuple[int, int]:
        """Who asks for the inbox, and after how many messages."""
        message = parse_message(raw)
        if message.kind is not Kind.ASK:
            raise BadMessage("an inbox must be requested with an ASK message.")
        roster = self.runner.study.roster
        if message.sender >= len(roster):
            raise RosterDiffers("the sender is not in the roster.")
        message.check(self.runner.study.digest, roster[message.sender])
        return message.sender, self._replay_filter.check(message.sender, message.body)

    async def poll(self, place: int, after: int, wait: float) -> tuple[bytes, ...]:
        """What was sent to this party after its first `after` messages; waits until there is something."""
        self._received_counts[place] = max(after, self._received_counts.get(place, 0))
        self._wake(place)  # one poll of each party waits: a second one ends the first
        # A poll that finds something, or that nobody could answer any more, must not wait.
        if len(self.runner.inbox(place)) <= after and not self.runner.over and not self._closed and wait > 0:
            news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._polls[place] = news
            await asyncio.wait({news}, timeout=min(wait, MAX_POLL_SECONDS))
            if self._polls.get(place) is news:
                del self._polls[place]
        messages = self.runner.inbox(place)
        if self.runner.over:
            self._poll_ended.set()
            if len(messages) <= after:
                raise StudyOver("the study is over, and there are no more messages for this party.")
        return messages[after:]

    def _wake(self, place: int) -> None:
        news = self._polls.pop(place, None)
        if news is not None and not news.done():
            news.set_result(None)

    def close(self) -> None:
        """The server stops: all polls end."""
        self._closed = True
        for place in list(self._polls):
            self._wake(place)

    async def run(self) -> None:
        """Run until the study is over and all parties have fetched how it ended; or until the disk fails."""
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "murmure-study") as worker:
            while True:
                batch, self._waiting = self._waiting[:BATCH_SIZE], self._waiting[BATCH_SIZE:]
                try:
                    if batch:
                        raws = [raw for raw, _ in batch]
                        outcomes = await loop.run_in_executor(worker, self.runner.receive, raws)
                        for (_, done), outcome in zip(batch, outcomes, strict=True):
                            _settle(done, outcome)
                        batch = []
                    if not self.runner.over and await loop.run_in_executor(worker, self.runner.advance):
                        for place in list(self._polls):
                            self._wake(place)
                except Exception as error:  # the disk, or an error of this software: nothing more is acknowledged
                    self.failed = error
                    for _, done in [*batch, *self._waiting]:
                        _settle(done, error if isinstance(error, LogFailed) else LogFailed("the coordinator stopped."))
                    self.close()
                    self._on_over(self)
                    return
                # Messages are still taken while parties fetch the result, so this waits in a task of its own.
                if self.runner.over and self._ending is None:
                    self._ending = asyncio.create_task(self._wait_for_all())
                if not self._waiting:
                    await self._sleep()

    async def _sleep(self) -> None:
        """Sleep until a message comes, or a stage may be closed without those who are late."""
        self._message_came.clear()
        if not self._waiting:
            seconds = self.runner.seconds_left
            with suppress(TimeoutError):
                await asyncio.wait_for(self._message_came.wait(), None if seconds is None else seconds + 0.001)

    async def _wait_for_all(self) -> None:
        """After the study: give everybody who took part time to confirm that they know how it ended."""
        end = time.monotonic() + self._linger
        while self._unaware():
            left = end - time.monotonic()
            if left <= 0:
                break
            self._poll_ended.clear()
            try:
                await asyncio.wait_for(self._poll_ended.wait(), left)
            except TimeoutError:
                break
        for name in self._unaware():
            self.runner.say(f"{name} has not said that it knows how the study ended")
        self._on_over(self)

    def _unaware(self) -> list[str]:
        """Parties that may not know how the study ended: only a later ASK confirms that an answer arrived."""
        runner = self.runner
        return [
            card.name
            for place, card in enumerate(runner.study.roster)
            if place not in runner.progress.departures
            and self._received_counts.get(place, 0) < len(runner.inbox(place))
        ]


def _settle(done: asyncio.Future[None], outcome: Exception | None) -> None:
    if done.done():  # its sender has disconnected
        return
    if outcome is None:
        done.set_result(None)
    else:
        done.set_exception(outcome)
