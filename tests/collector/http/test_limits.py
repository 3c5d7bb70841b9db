"""Who is taken for one client, and what those who try passwords can do to others."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.collector.http.services import PASSWORD, hash_quickly, service

from murmure.collector.http.limits import SlowLane, client_of
from murmure.collector.service.errors import RequestRefused


def scope(*forwarded: str, client: str = "192.0.2.1") -> dict[str, Any]:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    return {"headers": [(b"host", b"x"), *headers], "client": (client, 1)}


def test_behind_a_proxy_the_last_hop_of_the_last_header_counts() -> None:
    """Some proxies add a header of their own behind the one that the client sent."""
    for forwarded in (("203.0.113.7",), ("1.1.1.1, 203.0.113.7",), ("1.1.1.1", "203.0.113.7"), ("203.0.113.7:4711",)):
        assert client_of(scope(*forwarded), trust_proxy=True) == "203.0.113.7"
    assert client_of(scope("203.0.113.7"), trust_proxy=False) == "192.0.2.1"
    assert client_of(scope(), trust_proxy=True) == "192.0.2.1"


def test_one_customer_of_a_provider_is_one_client() -> None:
    """Who has 2^64 addresses has one limit."""
    one, same, other = "2001:db8:1:2::1", "[2001:db8:1:2:ffff:ffff:ffff:ffff]:443", "2001:db8:1:3::1"

    assert client_of(scope(client=one), False) == client_of(scope(same), True) != client_of(scope(other), True)
    assert client_of(scope(client="::ffff:192.0.2.1"), False) == "192.0.2.1"
    assert client_of(scope("unknown"), True) == "unknown" and client_of(scope(""), True) == ""


def test_trying_passwords_does_not_lock_an_analyst_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a browser in which she signed in before; a cookie that was made up, or is that of another name, is no such."""
    hash_quickly(monkeypatch)
    with service(tmp_path, trust_proxy=True) as running:
        marie, paul = running.analyst(), running.analyst("paul")
        wrong = {"name": "marie", "password": "x" * 12}
        codes = [
            running.visitor().ask("POST", "/api/session", wrong, X_Forwarded_For=f"192.0.2.{i}").json["error"]
            for i in range(12)
        ]
        assert codes[0] == "sign-in" and codes[-1] == "too-many"
        right = {"name": "marie", "password": PASSWORD}
        new = running.visitor().ask("POST", "/api/session", right, X_Forwarded_For="198.51.100.1")
        assert new.status == 429 and int(new.headers["retry-after"]) > 0

        for cookie in (paul.cookies["murmure_browser"], "0" * 64, ""):
            stranger = running.visitor()
            stranger.cookies["murmure_browser"] = cookie
            assert stranger.ask("POST", "/api/session", right, X_Forwarded_For="198.51.100.2").status == 429
        known = running.visitor()
        known.cookies["murmure_browser"] = marie.cookies["murmure_browser"]
        assert known.ask("GET", "/api/surveys").status == 401  # the cookie gives no access
        assert known.ask("POST", "/api/session", right, X_Forwarded_For="192.0.2.1").status == 200
        codes = [known.ask("POST", "/api/session", wrong).json["error"] for _ in range(12)]
        assert codes[0] == "sign-in" and codes[-1] == "too-many"  # and is limited itself


def test_passwords_are_hashed_one_at_a_time_and_few_wait() -> None:
    """Those who are known have more room; nobody who waits keeps a thread that others need."""

    async def main() -> None:
        lane, go = SlowLane(max_waiting=3), threading.Event()
        running = [asyncio.ensure_future(lane.run(go.wait, 10)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(RequestRefused) as refused:
            await lane.run(go.wait, 10)
        assert refused.value.code == "busy" and refused.value.retry_after
        running.append(asyncio.ensure_future(lane.run(go.wait, 10, first=True)))
        await asyncio.sleep(0)
        assert await asyncio.wait_for(asyncio.to_thread(lambda: True), 10)
        go.set()
        assert await asyncio.gather(*running) == [True] * 4
        assert await lane.run(lambda: 1) == 1

    asyncio.run(main())
