"""Analysts sign in with a name and a password; respondents need no account.

Passwords are kept as argon2id. A session is a random cookie, kept as a keyed digest, that ends after twelve hours. A
wrong name costs as much time as a wrong password, so that nobody learns who has an account.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from murmure.collector.service.database import CollectorFile
from murmure.collector.service.errors import RequestRefused
from murmure.collector.service.keys import ServiceKey
from murmure.core.errors import MissingExtra, Phrase
from murmure.core.random import fresh_key

NAME = re.compile(r"[\w][\w .@-]{0,63}")
MIN_PASSWORD, MAX_PASSWORD = 10, 200
SESSION_HOURS = 12
COOKIE_BYTES = 32
BROWSER_BYTES = 16
BROWSER = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Analyst:
    number: int
    name: str


def hour_of(seconds: float) -> int:
    return int(seconds // 3600)


class Analysts:
    """Who may administer surveys."""

    def __init__(self, database: CollectorFile, key: ServiceKey, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = database, clock
        self._cookies, self._csrf = key.derive("sessions"), key.derive("csrf")
        self._browsers = key.derive("browsers")
        self._setup: str | None = None
        self._tickets: dict[str, int] = {}
        self._hashing = threading.Semaphore(1)  # one at a time: each takes 64 MiB
        self._hasher = _hasher()

    @cached_property
    def _nobody(self) -> str:
        """What the password of a name that does not exist is compared with: it must take as long."""
        return str(self._hasher.hash(fresh_key()[:16].hex()))

    # -- accounts

    def list(self) -> list[Analyst]:
        with self._database.reading() as run:
            return [Analyst(*row) for row in run('SELECT "number", "name" FROM "analysts" ORDER BY "number"')]

    def create(self, name: str, password: str) -> Analyst:
        name = name.strip()
        if not NAME.fullmatch(name):
            raise RequestRefused("bad-request", "a name must have 1 to 64 letters, digits, spaces or . @ - _.")
        hashed = self._hash(password)
        with self._database.writing() as run:
            if run('SELECT 1 FROM "analysts" WHERE "name" = ?', name):
                raise RequestRefused("state", "there is already an analyst {name!r}.", hint="choose another", name=name)
            run('INSERT INTO "analysts" ("name", "password") VALUES (?, ?)', name, hashed)
            ((number,),) = run("SELECT last_insert_rowid()")
        return Analyst(number, name)

    def change_password(self, name: str, password: str) -> None:
        """Also ends the sessions of that analyst."""
        hashed = self._hash(password)
        with self._database.writing() as run:
            run('UPDATE "analysts" SET "password" = ? WHERE "number" = ?', hashed, self._number(run, name))
            run('DELETE FROM "sessions" WHERE "analyst" = ?', self._number(run, name))

    def remove(self, name: str) -> None:
        with self._database.writing() as run:
            number = self._number(run, name)
            if run('SELECT 1 FROM "surveys" WHERE "owner" = ?', number):
                raise RequestRefused(
                    "state",
                    "{name!r} has surveys, and an account with surveys cannot be removed.",
                    hint="change the password instead: murmure serve analyst password {name}",
                    name=name,
                )
            run('DELETE FROM "analysts" WHERE "number" = ?', number)
            run('DELETE FROM "sessions" WHERE "analyst" = ?', number)

    def _number(self, run: Any, name: str) -> int:
        rows = run('SELECT "number" FROM "analysts" WHERE "name" = ?', name)
        if not rows:
            raise RequestRefused("not-found", "there is no analyst {name!r}.", name=name)
        return int(rows[0][0])

    def _hash(self, password: str) -> str:
        if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
            raise RequestRefused(
                "bad-request", "a password must have {low} to {high} characters.", low=MIN_PASSWORD, high=MAX_PASSWORD
            )
        with self._hashing:
            return str(self._hasher.hash(password))

    # -- the first account

    def setup_token(self) -> str | None:
        """While there is no analyst: what the first account is made with, once. It is never stored."""
        if self.list():
            return None
        if self._setup is None:
            self._setup = fresh_key()[:16].hex()
        return self._setup

    def add_first(self, token: str, name: str, password: str) -> Analyst:
        self.check_setup(token)
        analyst = self.create(name, password)
        self._setup = None
        return analyst

    def check_setup(self, token: str) -> None:
        """Refuse what is not the token of the first account."""
        wanted = self.setup_token()
        if wanted is None or not hmac.compare_digest(token.encode("utf-8", "replace"), wanted.encode()):
            raise RequestRefused(
                "forbidden",
                "this set-up link is no longer valid.",
                hint="the command murmure serve prints one when it starts, as long as there is no analyst",
            )

    # -- sessions

    def sign_in(self, name: str, password: str) -> str:
        """The cookie of a new session."""
        with self._database.reading() as run:
            rows = run('SELECT "number", "password" FROM "analysts" WHERE "name" = ?', name.strip())
        with self._hashing:
            nobody = self._nobody  # made on the first call, whoever signs in
            number, hashed = rows[0] if rows else (None, nobody)
            fits = _fits(self._hasher, hashed, password[: MAX_PASSWORD + 1])
        if not fits or number is None:
            raise RequestRefused("sign-in", "wrong name or password.")
        return self.open_session(number)

    def open_session(self, analyst: int) -> str:
        cookie = fresh_key()[:COOKIE_BYTES].hex()
        now = hour_of(self._clock())
        with self._database.writing() as run:
            run('DELETE FROM "sessions" WHERE "expires" < ?', now)
            run('INSERT INTO "sessions" VALUES (?, ?, ?)', self._digest(cookie), analyst, now + SESSION_HOURS)
        return cookie

    def browser_token(self, name: str) -> str:
        """What a browser keeps after somebody signed in: it gives no access, only tries of its own to sign in again."""
        nonce = fresh_key()[:BROWSER_BYTES].hex()
        return nonce + self._browser_code(nonce, name)

    def knows_browser(self, name: str, token: str | None) -> bool:
        """Whether this analyst signed in there before."""
        if token is None or not BROWSER.fullmatch(token):
            return False
        nonce, code = token[: 2 * BROWSER_BYTES], token[2 * BROWSER_BYTES :]
        return hmac.compare_digest(code, self._browser_code(nonce, name))

    def _browser_code(self, nonce: str, name: str) -> str:
        text = f"{nonce} {name}".encode("utf-8", "replace")
        return hashlib.blake2b(text, key=self._browsers, digest_size=BROWSER_BYTES).hexdigest()

    def ticket(self, analyst: int) -> str:
        """For the terminal that serves: a link with it signs in, once. It is never stored."""
        ticket = fresh_key()[:16].hex()
        self._tickets[ticket] = analyst
        return ticket

    def redeem(self, ticket: str) -> str:
        analyst = self._tickets.pop(ticket, None)
        if analyst is None:
            raise RequestRefused("forbidden", "this sign-in link has already been used, or was never given out.")
        return self.open_session(analyst)

    def of_session(self, cookie: str | None) -> Analyst | None:
        if not cookie or len(cookie) != 2 * COOKIE_BYTES:
            return None
        with self._database.reading() as run:
            rows = run(
                'SELECT a."number", a."name" FROM "sessions" s JOIN "analysts" a ON a."number" = s."analyst" '
                'WHERE s."digest" = ? AND s."expires" >= ?',
                self._digest(cookie),
                hour_of(self._clock()),
            )
        return Analyst(*rows[0]) if rows else None

    def close_session(self, cookie: str) -> None:
        with self._database.writing() as run:
            run('DELETE FROM "sessions" WHERE "digest" = ?', self._digest(cookie))

    def csrf_token(self, cookie: str) -> str:
        """What pages of this session send back, and other sites cannot know."""
        return hashlib.blake2b(cookie.encode(), key=self._csrf, digest_size=16).hexdigest()

    def check_csrf(self, cookie: str, token: str | None) -> None:
        if not token or not hmac.compare_digest(token.encode("utf-8", "replace"), self.csrf_token(cookie).encode()):
            raise RequestRefused(
                "forbidden", "this request did not come from a page of this session.", hint="reload the page"
            )

    def _digest(self, cookie: str) -> bytes:
        return hashlib.blake2b(cookie.encode("utf-8", "replace"), key=self._cookies, digest_size=16).digest()


def _hasher() -> Any:
    try:
        import argon2
    except ImportError:
        raise MissingExtra(Phrase("a collector"), Phrase("argon2"), "collector") from None
    return argon2.PasswordHasher()  # argon2id with the settings of RFC 9106 for little memory


def _fits(hasher: Any, hashed: str, password: str) -> bool:
    from argon2.exceptions import VerifyMismatchError

    try:
        return bool(hasher.verify(hashed, password))
    except VerifyMismatchError:
        return False
