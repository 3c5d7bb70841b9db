"""A real collector behind a real socket, for tests, and a small client of it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import argon2
import pytest

from murmure.collector.http.server import ServeSettings, serving
from murmure.collector.service import analysts
from murmure.collector.service.collector import Collector

PASSWORD = "a long password"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    set_cookies: list[str] = field(default_factory=list)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Visitor:
    """Somebody with a browser: keeps cookies and the CSRF token of the session."""

    address: str
    cookies: dict[str, str] = field(default_factory=dict)
    csrf: str | None = None

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        parts = urlsplit(self.address)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if self.csrf is not None:
            sent.setdefault("X-CSRF-Token", self.csrf)
        raw = body
        if body is not None and not isinstance(body, bytes):
            raw = json.dumps(body).encode()
        if raw is not None:
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, raw, sent)
            answer = connection.getresponse()
            set_cookies = answer.headers.get_all("set-cookie") or []
            for value in set_cookies:
                name, _, rest = value.partition("=")
                self.cookies[name] = rest.partition(";")[0]
            return Answer(answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read(), set_cookies)
        finally:
            connection.close()

    def sign_in(self, name: str = "marie") -> Visitor:
        answer = self.ask("POST", "/api/session", {"name": name, "password": PASSWORD})
        assert answer.status == 200, answer.body
        self.csrf = answer.json["csrf"]
        return self


@dataclass
class Service:
    collector: Collector
    address: str

    def visitor(self) -> Visitor:
        return Visitor(self.address)

    def analyst(self, name: str = "marie") -> Visitor:
        if name not in [analyst.name for analyst in self.collector.analysts.list()]:
            self.collector.analysts.create(name, PASSWORD)
        return self.visitor().sign_in(name)


def hash_quickly(patch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed with the least settings of argon2, where no test is about the time that it takes."""
    patch.setattr(analysts, "_hasher", lambda: argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@contextmanager
def service(folder: Path, **settings: Any) -> Iterator[Service]:
    with Collector(folder) as collector, serving(collector, ServeSettings(**settings)) as urls:
        yield Service(collector, f"http://127.0.0.1:{urls.port}")
