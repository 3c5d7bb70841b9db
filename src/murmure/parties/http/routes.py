"""The coordinator over HTTP: one study, five routes. What they do is in broker.py; what they show is in page.py.

    GET  /study         the signed study
    POST /messages      an envelope of a party
    POST /inbox?wait=20 a signed ASK; answered with the messages that came since: u32 count, then u32 length | bytes
    GET  /              the page, and GET /status.json the same for machines: both need the token

A body is refused by its announced length before it is read, and by its real one while it is read
(request_bodies.py). The log names parties, stages and errors, and holds no payload and no token.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from murmure.core.errors import MurmureError
from murmure.parties.coordinator.broker import MAX_POLL_SECONDS, MessageBroker
from murmure.parties.coordinator.errors import LogFailed, StudyOver, error_location
from murmure.parties.coordinator.page import CONTENT_SECURITY_POLICY, live_page
from murmure.parties.coordinator.status_view import StatusView
from murmure.parties.http.request_bodies import BodyReader, TooLarge, TooSlow
from murmure.parties.study.freshness import ASK_BODY
from murmure.secure.errors import BadMessage, ForgedMessage, ProtocolRefused
from murmure.secure.messages import ENVELOPE_BYTES, HEADER
from murmure.show.language import preferred_language

COOKIE = "murmure_page"
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
}
CLOSE = {"Connection": "close"}  # the rest of the body is not waited for
log = logging.getLogger("murmure.coordinator")


STATUS: tuple[tuple[type[Exception], int], ...] = (  # the first that fits
    (BadMessage, 400),
    (ForgedMessage, 403),
    (TooLarge, 413),
    (TooSlow, 503),
    (StudyOver, 410),
    (ProtocolRefused, 409),
    (LogFailed, 503),
)
Handler = Callable[[Request], Awaitable[Response]]


def make_app(broker: MessageBroker, signed: bytes, token: str, secure: bool = False) -> Starlette:
    """secure: served over TLS, so that the cookie never travels unencrypted."""
    routes = Routes(broker, signed, token, secure)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(broker.run())
        yield
        task.cancel()

    app = Starlette(
        routes=[
            Route("/study", _answer_errors(routes.study)),
            Route("/messages", _answer_errors(routes.messages), methods=["POST"]),
            Route("/inbox", _answer_errors(routes.inbox), methods=["POST"]),
            Route("/", _answer_errors(routes.page)),
            Route("/status.json", _answer_errors(routes.status)),
        ],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # a redirect would send the token to any host that the request names
    return app


class Routes:
    def __init__(self, broker: MessageBroker, signed: bytes, token: str, secure: bool) -> None:
        self.broker, self._signed, self._token, self._secure = broker, signed, token, secure
        self._bodies = BodyReader(lambda: broker.runner.max_message_bytes)

    async def study(self, request: Request) -> Response:
        return Response(self._signed, media_type="application/json", headers=HEADERS)

    async def messages(self, request: Request) -> Response:
        raw = await self._bodies.read(request, self.broker.runner.max_message_bytes)
        request.state.sender = self._claimed_sender(raw)
        await self.broker.deliver(raw)
        return JSONResponse({"ok": True}, headers=HEADERS)

    async def inbox(self, request: Request) -> Response:
        raw = await self._bodies.read(request, ENVELOPE_BYTES + ASK_BODY.size)
        request.state.sender = self._claimed_sender(raw)
        place, after = self.broker.parse_ask(raw)
        messages = await self.broker.poll(place, after, _seconds(request.query_params.get("wait", "0")))
        parts = [len(messages).to_bytes(4, "little")]
        for message in messages:
            parts += [len(message).to_bytes(4, "little"), message]
        return Response(b"".join(parts), media_type="application/octet-stream", headers=HEADERS)

    async def page(self, request: Request) -> Response:
        if not self._has_token(request):
            return self._refuse_page()
        language = preferred_language(request.query_params.get("lang"), request.headers.get("accept-language", ""))
        follow = request.query_params.get("follow") == "1"
        text = await asyncio.to_thread(live_page, StatusView.of(self.broker.runner), language, follow)
        return self._with_cookie(Response(text, media_type="text/html; charset=utf-8", headers=HEADERS), request)

    async def status(self, request: Request) -> Response:
        if not self._has_token(request):
            return self._refuse_page()
        return JSONResponse(await asyncio.to_thread(StatusView.of(self.broker.runner).to_dict), headers=HEADERS)

    def _has_token(self, request: Request) -> bool:
        token = request.query_params.get("token") or request.cookies.get(COOKIE) or ""
        # In constant time: a guess must not show how many letters are right.
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())

    def _refuse_page(self) -> Response:
        error = {"error": "Forbidden", "message": "this page needs its token: murmure study run prints the address."}
        return JSONResponse(error, 403, headers=HEADERS)

    def _with_cookie(self, response: Response, request: Request) -> Response:
        if "token" in request.query_params:
            response.set_cookie(COOKIE, self._token, httponly=True, samesite="strict", secure=self._secure)
        return response

    def _claimed_sender(self, raw: bytes) -> str:
        """The sender that a message claims, for the log: it is not verified yet."""
        if len(raw) < HEADER.size:
            return "somebody"
        place = HEADER.unpack_from(raw)[4]
        roster = self.broker.runner.study.roster
        return f"somebody as {roster[place].name}" if place < len(roster) else "a stranger"


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return min(max(seconds, 0.0), MAX_POLL_SECONDS) if seconds == seconds else 0.0


def _answer_errors(handler: Handler) -> Handler:
    """Turn refusals into their name, a sentence and a 4xx, and anything else into a 500 without details."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except ClientDisconnect:
            return Response(status_code=400)
        except MurmureError as error:
            status = next((number for kind, number in STATUS if isinstance(error, kind)), 400)
            sender = getattr(request.state, "sender", "somebody")
            if not isinstance(error, StudyOver):
                _warn(f"refused: {type(error).__name__} from {sender}")
            elif request.url.path != "/inbox":
                # (A party that has everything asks once more to confirm it: that is not worth a line.)
                _warn(f"too late: a message from {sender}, after the end")
            words = "the coordinator cannot write its log." if isinstance(error, LogFailed) else str(error)
            content: dict[str, Any] = {"error": type(error).__name__, "message": words.splitlines()[0]}
            unread = CLOSE if isinstance(error, TooLarge | TooSlow) else {}
            return JSONResponse(content, status, headers=HEADERS | unread)
        except Exception as error:
            _warn(f"failed: {error_location(error)} in {request.url.path}")
            content = {"error": "Failed", "message": "the coordinator could not answer; its log says where."}
            return JSONResponse(content, 500, headers=HEADERS | CLOSE)

    return handle


class _RateLimitedLog:
    """Logs the same line at most once a second: a stranger cannot fill the disk with it."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._left_out = 0

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if now - self._last.get(line, -1.0) < 1.0:
            self._left_out += 1
            return
        if len(self._last) > 1000:
            self._last.clear()
        self._last[line] = now
        more = f" ({self._left_out} lines left out)" if self._left_out else ""
        self._left_out = 0
        log.warning(line + more)


_warn = _RateLimitedLog()
