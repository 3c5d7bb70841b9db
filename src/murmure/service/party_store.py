"""What a party remembers: whom it pinned, what it joined, heard, said and let go.

Written before it is said: after kill -9 at any point the same bytes leave again, under the same masks. Seeds and
messages are erased when their round is over; digests of them stay.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from murmure.core.random import fresh_key
from murmure.secure.identity import Card
from murmure.service.party_file import PartyFile
from murmure.service.party_step import Step, decide, erase, now
from murmure.service.refusals import OtherCoordinator, OtherRows, StudyEnded


@dataclass(frozen=True)
class Joined:
    """A study that this party takes, or took, part in."""

    digest: bytes
    url: str
    name: str
    signed: bytes = field(repr=False)
    state: str
    reason: str | None
    at: str


@dataclass(frozen=True)
class Kept:
    """What is there of a round that is not over."""

    seed: bytes = field(repr=False)
    heard: tuple[bytes, ...] = field(repr=False)
    sent: dict[str, bytes] = field(repr=False)
    unacknowledged: tuple[str, ...]


class PartyStore:
    """The memory of one party, over all its studies."""

    def __init__(self, path: Path) -> None:
        self.file = PartyFile(path)

    # -- coordinators and studies ----------------------------------------------------------------

    def pinned(self, url: str) -> bytes | None:
        with self.file.reading() as run:
            found = run("SELECT key FROM coordinators WHERE url = ?", url)
        return found[0][0] if found else None

    def check_pin(self, url: str, card: Card) -> None:
        key = self.pinned(url)
        if key is not None and not hmac.compare_digest(key, card.key):
            raise _other_coordinator(url, key, card)

    def join(self, digest: bytes, url: str, card: Card, name: str, signed: bytes, rows: bytes, why: str) -> Joined:
        """Pins the coordinator and remembers the study; a second time, the rows must be the same."""
        with self.file.writing() as run:
            held = run("SELECT key FROM coordinators WHERE url = ?", url)
            if held and not hmac.compare_digest(held[0][0], card.key):
                raise _other_coordinator(url, held[0][0], card)
            if not held:
                run("INSERT INTO coordinators VALUES (?, ?, ?, ?)", url, card.name, card.key, now())
            known = run("SELECT rows FROM studies WHERE digest = ?", digest)
            if not known:
                values = (digest, url, name, signed, rows, "joined", None, now())
                run(f"INSERT INTO studies VALUES ({', '.join('?' * len(values))})", *values)
                decide(run, digest, name, "approved", why)
            elif not hmac.compare_digest(known[0][0], rows):
                raise OtherRows(
                    f"the study {name!r} was joined with other rows: the difference of two answers tells about those "
                    "that changed.",
                    hint="give the rows of the first time; with new rows, a new study is needed",
                )
        joined = self.study(digest)
        assert joined is not None
        return joined

    def study(self, digest: bytes) -> Joined | None:
        with self.file.reading() as run:
            found = run("SELECT digest, url, name, signed, state, reason, at FROM studies WHERE digest = ?", digest)
        return Joined(*found[0]) if found else None

    def studies(self) -> list[Joined]:
        with self.file.reading() as run:
            return [
                Joined(*row)
                for row in run("SELECT digest, url, name, signed, state, reason, at FROM studies ORDER BY rowid")
            ]

    def decide(self, digest: bytes, name: str, decision: str, why: str) -> None:
        with self.file.writing() as run:
            decide(run, digest, name, decision, why)

    def decisions(self) -> list[dict[str, str]]:
        with self.file.reading() as run:
            rows = run("SELECT hex(study), name, decision, why, at FROM decisions ORDER BY number")
        return [
            {"study": study.lower(), "name": name, "decision": decision, "why": why, "at": at}
            for study, name, decision, why, at in rows
        ]

    def fail(self, digest: bytes, name: str, reason: str) -> None:
        """No way on: the secrets of all its rounds are erased."""
        with self.file.writing() as run:
            run("UPDATE studies SET state = 'failed', reason = ? WHERE digest = ?", reason, digest)
            for (number,) in run("SELECT round FROM rounds WHERE study = ?", digest):
                erase(run, digest, number)
            decide(run, digest, name, "ended", reason)
        self.file.wipe()

    # -- one round -------------------------------------------------------------------------------

    def begin(self, study: bytes, number: int, first: Callable[[bytes], bytes]) -> Kept:
        """The round as far as it went; where it had not begun, with a fresh seed and what is said first."""
        with self.file.writing() as run:
            found = run("SELECT seed FROM rounds WHERE study = ? AND round = ?", study, number)
            if not found:
                seed = fresh_key()
                run("INSERT INTO rounds VALUES (?, ?, ?, NULL, NULL)", study, number, seed)
                Step(run, study, number).sent("keys", first(seed))
            elif found[0][0] is None:
                raise StudyEnded("this round is over, and its secrets are erased.", hint="there is nothing to go on")
            else:
                seed = found[0][0]
            heard = run("SELECT message FROM heard WHERE study = ? AND round = ? ORDER BY number", study, number)
            sent = run(
                "SELECT kind, message, acknowledged FROM sent WHERE study = ? AND round = ? ORDER BY rowid",
                study,
                number,
            )
        unacknowledged = tuple(kind for kind, _, arrived in sent if not arrived)
        return Kept(seed, tuple(m for (m,) in heard), {kind: m for kind, m, _ in sent}, unacknowledged)

    def heard(self, study: bytes) -> int:
        """How many messages of the coordinator were heard, over all rounds."""
        with self.file.reading() as run:
            return int(run("SELECT coalesce(max(number), 0) FROM heard WHERE study = ?", study)[0][0])

    @contextmanager
    def step(self, study: bytes, number: int) -> Iterator[Step]:
        """One message heard and all that follows from it, in one transaction: all of it, or nothing."""
        with self.file.writing() as run:
            yield Step(run, study, number)

    def results(self, study: bytes) -> list[tuple[list[int], tuple[int, ...]]]:
        """Of every round that is over: the sums, and whose they are."""
        with self.file.reading() as run:
            rows = run("SELECT result, cohort FROM rounds WHERE study = ? AND result IS NOT NULL ORDER BY round", study)
        return [(json.loads(result), tuple(json.loads(cohort))) for result, cohort in rows]

    def released(self) -> list[dict[str, object]]:
        """Every cohort that this party let a sum go for."""
        with self.file.reading() as run:
            rows = run(
                "SELECT hex(c.study), s.name, c.round, c.columns, c.exact, c.members, c.at FROM cohorts c "
                "JOIN studies s ON s.digest = c.study ORDER BY c.rowid"
            )
        names = ("study", "name", "round", "columns", "exact", "members", "at")
        out = [dict(zip(names, row, strict=True)) for row in rows]
        for one in out:
            one |= {"study": str(one["study"]).lower(), "exact": bool(one["exact"])}
            one |= {"columns": json.loads(str(one["columns"])), "members": json.loads(str(one["members"]))}
        return out


def _other_coordinator(url: str, pinned: bytes, card: Card) -> OtherCoordinator:
    return OtherCoordinator(
        f"the study at {url} is signed by {card.fingerprint}; under this address "
        f"{Card('x', pinned).fingerprint} was pinned at the first join.",
        hint="ask the coordinator by another way (a telephone): somebody else may answer at this address",
    )
