"""The coordinator over HTTP: one study, five routes. What they do is in desk.py; what they show is in page.py.

    GET  /study         the signed study
    POST /messages      an envelope of a party
    POST /inbox?wait=20 a signed ASK; answered with the messages that came since: u32 count, then u32 length | bytes
    GET  /              the page, and GET /status.json the same for machines: for whoever has the token

A body is refused by its announced length before it is read, and by its real one while it is read (bodies.py). The log
names parties, stages and errors, and holds no payload and no token.
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

COOKIE = "murmure_page"
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
}
CLOSE = {"Connection": "close"}  # what was not read is not waited for
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


def make_app(desk: MessageBroker, signed: bytes, token: str, secure: bool = False) -> Starlette:
    """secure: served over TLS, so that the cookie never travels without."""
    routes = Routes(desk, signed, token, secure)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(desk.run())
        yield
        task.cancel()

    app = Starlette(
        routes=[
            Route("/study", _clear(routes.study)),
            Route("/messages", _clear(routes.messages), methods=["POST"]),
            Route("/inbox", _clear(routes.inbox), methods=["POST"]),
            Route("/", _clear(routes.page)),
            Route("/status.json", _clear(routes.status)),
        ],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # to whatever host the request names, with the token
    return app


class Routes:
    """The routes."""

    def __init__(self, desk: MessageBroker, signed: bytes, token: str, secure: bool) -> None:
        self.desk, self._signed, self._token, self._secure = desk, signed, token, secure
        self._bodies = BodyReader(lambda: desk.runner.max_message_bytes)

    async def study(self, request: Request) -> Response:
        return Response(self._signed, media_type="application/json", headers=HEADERS)

    async def messages(self, request: Request) -> Response:
        raw = await self._bodies.read(request, self._bodies.longest)
        request.state.sender = self._named(raw)
        await self.desk.deliver(raw)
        return JSONResponse({"ok": True}, headers=HEADERS)

    async def inbox(self, request: Request) -> Response:
        raw = await self._bodies.read(request, ENVELOPE_BYTES + ASK_BODY.size)
        request.state.sender = self._named(raw)
        place, after = self.desk.parse_ask(raw)
        messages = await self.desk.poll(place, after, _seconds(request.query_params.get("wait", "0")))
        parts = [len(messages).to_bytes(4, "little")]
        for message in messages:
            parts += [len(message).to_bytes(4, "little"), message]
        return Response(b"".join(parts), media_type="application/octet-stream", headers=HEADERS)

    async def page(self, request: Request) -> Response:
        if not self._may_look(request):
            return self._refuse_page()
        language = language_of(request.query_params.get("lang"), request.headers.get("accept-language", ""))
        text = await asyncio.to_thread(live_page, StatusView.of(self.desk.runner), language)
        return self._with_cookie(Response(text, media_type="text/html; charset=utf-8", headers=HEADERS), request)

    async def status(self, request: Request) -> Response:
        if not self._may_look(request):
            return self._refuse_page()
        return JSONResponse(await asyncio.to_thread(StatusView.of(self.desk.runner).to_dict), headers=HEADERS)

    def _may_look(self, request: Request) -> bool:
        said = request.query_params.get("token") or request.cookies.get(COOKIE) or ""
        return hmac.compare_digest(said.encode("utf-8", "replace"), self._token.encode())

    def _refuse_page(self) -> Response:
        said = {"error": "Forbidden", "message": "this page needs its token: murmure study run prints the address."}
        return JSONResponse(said, 403, headers=HEADERS)

    def _with_cookie(self, response: Response, request: Request) -> Response:
        if "token" in request.query_params:
            response.set_cookie(COOKIE, self._token, httponly=True, samesite="strict", secure=self._secure)
        return response

    def _named(self, raw: bytes) -> str:
        """Whom a message names as its sender: for the log, and before it is known whether it is true."""
        if len(raw) < HEADER.size:
            return "somebody"
        place = HEADER.unpack_from(raw)[4]
        roster = self.desk.runner.study.roster
        return f"somebody as {roster[place].name}" if place < len(roster) else "a stranger"


def language_of(asked: str | None, accepted: str) -> str:
    """fr or en: by ?lang=, else by the first of the two that the browser names."""
    if asked in ("fr", "en"):
        return asked
    named = [part.split(";")[0].strip().lower()[:2] for part in accepted.split(",")]
    return next((one for one in named if one in ("fr", "en")), "en")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return min(max(seconds, 0.0), MAX_POLL_SECONDS) if seconds == seconds else 0.0


def _clear(handler: Handler) -> Handler:
    """Refusals become their name, a sentence and a 4xx; anything else a 500 without a word of what it was about."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except ClientDisconnect:
            return Response(status_code=400)
        except MurmureError as error:
            status = next((number for kind, number in STATUS if isinstance(error, kind)), 400)
            sender = getattr(request.state, "sender", "somebody")
            if not isinstance(error, StudyOver):
                _say(f"refused: {type(error).__name__} from {sender}")
            elif request.url.path != "/inbox":  # a party that has all asks once more, to say so: that is no refusal
                _say(f"too late: a message from {sender}, after the end")
            words = "the coordinator cannot write its log." if isinstance(error, LogFailed) else str(error)
            said: dict[str, Any] = {"error": type(error).__name__, "message": words.splitlines()[0]}
            unread = CLOSE if isinstance(error, TooLarge | TooSlow) else {}
            return JSONResponse(said, status, headers=HEADERS | unread)
        except Exception as error:
            _say(f"failed: {error_location(error)} in {request.url.path}")
            said = {"error": "Failed", "message": "the coordinator could not answer; its log says where."}
            return JSONResponse(said, 500, headers=HEADERS | CLOSE)

    return handle


class _Sparing:
    """The same line at most once in a second: a stranger cannot fill the disk with it."""

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


_say = _Sparing()
