"""What a party remembers: the keys it pinned, the studies it joined, what it received, sent and released.

Everything is written before it is sent: after kill -9 at any point the same bytes leave again, under the same masks.
Seeds and messages are erased when their round is over; digests of them stay.
"""

from __future__ import annotations

import hmac
import json
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from murmure.core.random import fresh_key
from murmure.core.sqlite_files import Run
from murmure.parties.party.refusals import OtherCoordinator, OtherKey, OtherRows, StudyEnded
from murmure.parties.party.sqlite_file import PartyFile
from murmure.parties.party.transaction import PartyTransaction, erase, now, read_charges, record_decision
from murmure.parties.study.costs import StudyCharge
from murmure.secure.identity import Card, lookalike_key

JOINED_COLUMNS = "digest, url, name, signed, state, reason, at"  # the fields of JoinedStudy


@dataclass(frozen=True)
class JoinedStudy:
    """A study that this party takes, or took, part in."""

    digest: bytes
    url: str
    name: str
    signed: bytes = field(repr=False)
    state: str
    reason: str | None
    at: str


@dataclass(frozen=True)
class RoundState:
    """What is stored about a round that is not over."""

    seed: bytes = field(repr=False)
    received: tuple[bytes, ...] = field(repr=False)
    sent: dict[str, bytes] = field(repr=False)
    unacknowledged: tuple[str, ...]


class PartyStore:
    """The memory of one party, over all its studies."""

    def __init__(self, path: Path) -> None:
        self.file = PartyFile(path)

    # -- coordinators and studies ----------------------------------------------------------------

    def pinned(self, url: str) -> bytes | None:
        with self.file.reading() as run:
            return _pinned(run, url)

    def check_pin(self, url: str, card: Card) -> None:
        with self.file.reading() as run:
            _check_pin(run, url, card)

    def changed_keys(self, roster: Iterable[Card]) -> list[tuple[Card, bytes]]:
        """Parties that had another key in a study that was joined, each with that key."""
        with self.file.reading() as run:
            return _changed_keys(run, roster)

    def check_roster(self, roster: Iterable[Card], accepted: Collection[str] = ()) -> None:
        """Refuse a name that has another key than before, unless somebody asked its owner and accepts the new one."""
        for card, key in self.changed_keys(roster):
            if lookalike_key(card.name) not in map(lookalike_key, accepted):
                raise _other_key(card, key)

    def join(
        self,
        digest: bytes,
        url: str,
        card: Card,
        name: str,
        signed: bytes,
        rows: bytes,
        why: str,
        roster: Collection[Card] = (),
        accepted: Collection[str] = (),
    ) -> JoinedStudy:
        """Pin the coordinator and the roster, and record the study; a second time, the rows must be the same."""
        with self.file.writing() as run:
            _check_pin(run, url, card)
            if _pinned(run, url) is None:
                run("INSERT INTO coordinators VALUES (?, ?, ?, ?)", url, card.name, card.key, now())
            known = run("SELECT rows FROM studies WHERE digest = ?", digest)
            if not known:
                values = (digest, url, name, signed, rows, "joined", None, now())
                run(f"INSERT INTO studies VALUES ({', '.join('?' * len(values))})", *values)
                record_decision(run, digest, name, "approved", why)
                _pin(run, digest, name, roster, accepted)
            elif not hmac.compare_digest(known[0][0], rows):
                raise OtherRows(
                    "the study {name!r} was joined with other rows: the difference between two answers would "
                    "reveal the rows that changed.",
                    hint="give the rows of the first time; with new rows, a new study is needed",
                    name=name,
                )
        joined = self.study(digest)
        assert joined is not None
        return joined

    def study(self, digest: bytes) -> JoinedStudy | None:
        with self.file.reading() as run:
            rows = run(f"SELECT {JOINED_COLUMNS} FROM studies WHERE digest = ?", digest)
        return JoinedStudy(*rows[0]) if rows else None

    def studies(self) -> list[JoinedStudy]:
        with self.file.reading() as run:
            return [JoinedStudy(*row) for row in run(f"SELECT {JOINED_COLUMNS} FROM studies ORDER BY rowid")]

    def decide(self, digest: bytes, name: str, decision: str, why: str) -> None:
        with self.file.writing() as run:
            record_decision(run, digest, name, decision, why)

    def decisions(self) -> list[dict[str, str]]:
        with self.file.reading() as run:
            rows = run("SELECT hex(study), name, decision, why, at FROM decisions ORDER BY number")
        return [
            {"study": study.lower(), "name": name, "decision": decision, "why": why, "at": at}
            for study, name, decision, why, at in rows
        ]

    def fail(self, digest: bytes, name: str, reason: str, number: int = 0, refusal: bytes | None = None) -> None:
        """The study cannot go on: the secrets of all its rounds are erased. refusal: the message to send in round
        `number`.

        Sums whose vector left stay recorded: they may be out, even if the coordinator says that there are none.
        """
        with self.file.writing() as run:
            run("UPDATE studies SET state = 'failed', reason = ? WHERE digest = ?", reason, digest)
            for (round,) in run("SELECT round FROM rounds WHERE study = ?", digest):
                erase(run, digest, round)
            if refusal is not None:
                PartyTransaction(run, digest, number).record_sent("refuse", refusal)
            record_decision(run, digest, name, "ended", reason)
        # Erasing copied the pages with the secrets to the journal.
        self.file.wipe()

    def finish_study(self, digest: bytes, number: int) -> None:
        """Everything was received, and round `number` was the last; recorded once."""
        joined = self.study(digest)
        if joined is not None and joined.state == "joined":
            with self.file.writing() as run:
                PartyTransaction(run, digest, number).finish_study()

    def unsent_refusals(self, digest: bytes) -> list[tuple[int, bytes]]:
        """Refusals that the coordinator may not have received, with their rounds."""
        with self.file.reading() as run:
            sql = "SELECT round, message FROM sent WHERE study = ? AND kind = 'refuse' AND acknowledged = 0"
            return [(number, message) for number, message in run(sql, digest)]

    def record_refusal_sent(self, digest: bytes, number: int) -> None:
        with self.file.writing() as run:
            PartyTransaction(run, digest, number).record_acknowledged("refuse")
            erase(run, digest, number)
        self.file.wipe()

    def needs_rows(self, digest: bytes, rounds: int) -> bool:
        """Whether a vector is still to be made: a masked one is only sent again. (Once done, rows are compared.)"""
        joined = self.study(digest)
        with self.file.reading() as run:
            vectors = run("SELECT count(*) FROM sent WHERE study = ? AND kind = 'masked'", digest)[0][0]
        return joined is None or joined.state == "done" or (joined.state == "joined" and vectors < rounds)

    # -- one round -------------------------------------------------------------------------------

    def open_round(self, study: bytes, number: int, first: Callable[[bytes], bytes]) -> RoundState:
        """The round as far as it went; a new round gets a fresh seed and its first message."""
        with self.file.writing() as run:
            seeds = run("SELECT seed FROM rounds WHERE study = ? AND round = ?", study, number)
            if not seeds:
                seed = fresh_key()
                run("INSERT INTO rounds VALUES (?, ?, ?, NULL, NULL)", study, number, seed)
                PartyTransaction(run, study, number).record_sent("keys", first(seed))
            elif seeds[0][0] is None:
                raise StudyEnded(
                    "this round is over, and its secrets are erased.", hint="there is nothing left to resume"
                )
            else:
                seed = seeds[0][0]
            received = run("SELECT message FROM heard WHERE study = ? AND round = ? ORDER BY number", study, number)
            sent = run(
                "SELECT kind, message, acknowledged FROM sent WHERE study = ? AND round = ? ORDER BY rowid",
                study,
                number,
            )
        unacknowledged = tuple(kind for kind, _, arrived in sent if not arrived)
        return RoundState(seed, tuple(m for (m,) in received), {kind: m for kind, m, _ in sent}, unacknowledged)

    def received_count(self, study: bytes) -> int:
        """How many messages of the coordinator were received, over all rounds."""
        with self.file.reading() as run:
            return int(run("SELECT coalesce(max(number), 0) FROM heard WHERE study = ?", study)[0][0])

    @contextmanager
    def transaction(self, study: bytes, number: int) -> Iterator[PartyTransaction]:
        """One received message and all that follows from it: all of it is stored, or nothing."""
        with self.file.writing() as run:
            yield PartyTransaction(run, study, number)

    def results(self, study: bytes) -> list[tuple[list[int], tuple[int, ...]]]:
        """For every round that is over: the sums, and the parties in them."""
        with self.file.reading() as run:
            rows = run("SELECT result, cohort FROM rounds WHERE study = ? AND result IS NOT NULL ORDER BY round", study)
        return [(json.loads(result), tuple(json.loads(cohort))) for result, cohort in rows]

    def ran_earlier(self, study: bytes) -> bool:
        """Whether it ran before 0.6: since then a party opens the shares of the others before it masks."""
        with self.file.reading() as run:
            kinds = {kind for (kind,) in run("SELECT DISTINCT kind FROM sent WHERE study = ?", study)}
        return "masked" in kinds and "opened" not in kinds

    def charges(self) -> list[StudyCharge]:
        """What noisy sums have cost, over all studies."""
        with self.file.reading() as run:
            return read_charges(run)

    def exact_sums(self, study: bytes, columns: Collection[str]) -> tuple[int, list[str]]:
        """How many exact sums of these columns other studies have had, and their names."""
        with self.file.reading() as run:
            return PartyTransaction(run, study, 0).exact_sums(columns)

    def studies_with_sums(self, questions: Collection[str], except_study: bytes) -> list[str]:
        """The names of other studies in which one of these exact sums was released."""
        with self.file.reading() as run:
            rows = run(
                "SELECT s.name, c.questions FROM cohorts c JOIN studies s ON s.digest = c.study "
                "WHERE c.exact = 1 AND c.study <> ? ORDER BY c.rowid",
                except_study,
            )
        return list(dict.fromkeys(name for name, stored in rows if {*questions} & {*json.loads(stored)}))

    def released(self) -> list[dict[str, Any]]:
        """Every cohort for which this party released a sum."""
        with self.file.reading() as run:
            rows = run(
                "SELECT hex(c.study), s.name, c.round, c.columns, c.exact, c.members, c.certain, c.sums, c.at "
                "FROM cohorts c JOIN studies s ON s.digest = c.study ORDER BY c.rowid"
            )
        names = ("study", "name", "round", "columns", "exact", "members", "certain", "sums", "at")
        out = [dict(zip(names, row, strict=True)) for row in rows]
        for record in out:
            record |= {
                "study": str(record["study"]).lower(),
                "exact": bool(record["exact"]),
                "certain": bool(record["certain"]),
            }
            record |= {"columns": json.loads(str(record["columns"])), "members": json.loads(str(record["members"]))}
        return out


def _pinned(run: Run, url: str) -> bytes | None:
    keys = run("SELECT key FROM coordinators WHERE url = ?", url)
    return keys[0][0] if keys else None


def _check_pin(run: Run, url: str, card: Card) -> None:
    pinned = _pinned(run, url)
    if pinned is not None and not hmac.compare_digest(pinned, card.key):
        raise OtherCoordinator(
            "the study at {url} is signed by {fingerprint}; when this party first joined, {card_fingerprint} was "
            "recorded for this address.",
            hint="ask the coordinator in another way, for example by telephone: someone else may be answering at "
            "this address",
            url=url,
            fingerprint=card.fingerprint,
            card_fingerprint=Card("x", pinned).fingerprint,
        )


def _changed_keys(run: Run, roster: Iterable[Card]) -> list[tuple[Card, bytes]]:
    pinned: dict[str, bytes] = {name: key for name, key in run("SELECT name, key FROM parties")}
    keys = [(card, pinned.get(lookalike_key(card.name), card.key)) for card in roster]
    return [(card, key) for card, key in keys if not hmac.compare_digest(key, card.key)]


def _pin(run: Run, digest: bytes, study: str, roster: Collection[Card], accepted: Collection[str]) -> None:
    """Pin the keys of a roster, in the transaction of joining: two studies at once cannot bring two keys for a name."""
    for card, key in _changed_keys(run, roster):
        if lookalike_key(card.name) not in map(lookalike_key, accepted):
            raise _other_key(card, key)
        was = Card(card.name, key).fingerprint
        record_decision(run, digest, study, "new key", f"of {card.name}: {card.fingerprint}; it was {was}")
        run("DELETE FROM parties WHERE name = ?", lookalike_key(card.name))
    for card in roster:
        run("INSERT OR IGNORE INTO parties VALUES (?, ?, ?, ?)", lookalike_key(card.name), card.key, digest, now())


def _other_key(card: Card, pinned: bytes) -> OtherKey:
    return OtherKey(
        "{name!r} has the key {fingerprint} in this study; in an earlier study of this party it had "
        "{card_fingerprint}. Someone may be impersonating it.",
        hint="call {name}; if the key is theirs: --accept-new-key {card_name}",
        name=card.name,
        fingerprint=card.fingerprint,
        card_fingerprint=Card("x", pinned).fingerprint,
        card_name=shlex.quote(card.name),
    )
