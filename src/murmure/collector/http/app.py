"""The whole service as one ASGI app: two hot routes by hand, everything else through Starlette.

report_routes   reports and batches, acknowledged when they are on the disk
api_routes      the JSON API of respondents' pages and of analysts
page_routes     pages, their files, exports
status_routes   health, metrics, the OpenAPI document
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from murmure.collector.http.answers import encode, error_fields, send_json
from murmure.collector.http.api_routes import ApiRoutes
from murmure.collector.http.bodies import Message, Receive, Scope, Send
from murmure.collector.http.languages import language_of_scope
from murmure.collector.http.page_routes import PageRoutes, error_page
from murmure.collector.http.report_routes import ReportRoutes
from murmure.collector.http.requests import Desk, language_of, refusal_answer
from murmure.collector.http.settings import WebSettings as WebSettings
from murmure.collector.http.status_routes import StatusRoutes
from murmure.collector.service.collector import Collector
from murmure.collector.service.errors import RequestRefused
from murmure.core.serving.listening import LOOPBACK

TLS_ONLY = (b"strict-transport-security", b"max-age=31536000")
ISOLATED_WINDOW = (b"cross-origin-opener-policy", b"same-origin")
HOT = re.compile(r"/api/surveys/([a-z0-9]{1,32})/(reports|batches)")


class CollectorApp:
    """What a server calls for each request."""

    def __init__(self, collector: Collector, settings: WebSettings) -> None:
        desk = Desk(collector, settings)
        self._reports = ReportRoutes(collector)
        pages, api, status = PageRoutes(desk), ApiRoutes(desk), StatusRoutes(desk)
        self._rest = Starlette(
            routes=[*api.routes(), *pages.routes(), *status.routes()],
            exception_handlers={HTTPException: _no_route},
        )
        self._rest.router.redirect_slashes = False
        self._more_headers = _headers_of_place(settings)
        self._rest.state.collector = collector

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._more_headers:
            send = _with_headers(send, self._more_headers)
        hot = HOT.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if hot is not None and scope["method"] == "POST":
            await self._reports(hot[1], hot[2], scope, receive, send)
        elif hot is not None:
            error = method_refused(scope["method"])
            body = encode(error_fields(error, language_of_scope(scope)))
            await send_json(send, error.status, body, {"Allow": "POST"})
        else:
            await self._rest(scope, receive, send)


def make_app(collector: Collector, settings: WebSettings | None = None) -> CollectorApp:
    return CollectorApp(collector, settings or WebSettings())


def method_refused(method: str) -> RequestRefused:
    return RequestRefused("method", "this address does not accept {method}.", method=method)


def _headers_of_place(settings: WebSettings) -> list[tuple[bytes, bytes]]:
    """Browsers heed these by TLS or on this machine only, and complain elsewhere; and on this machine other services
    have the same name, so that TLS cannot be asked for on behalf of all of them."""
    here = urlsplit(settings.public_url or "").hostname in LOOPBACK
    headers = [ISOLATED_WINDOW] if settings.secure or here else []
    return [*headers, TLS_ONLY] if settings.secure and not here else headers


def _with_headers(send: Send, headers: list[tuple[bytes, bytes]]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *headers]
        await send(message)

    return sending


async def _no_route(request: Request, error: Any) -> Response:
    if error.status_code == 405:
        answer = refusal_answer(method_refused(request.method), request)
        answer.headers["Allow"] = ", ".join(sorted(_methods(request)))
        return answer
    missing = RequestRefused("not-found", "there is no such address.", hint="is the address complete?")
    if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/"):
        return error_page(missing, language_of(request))  # somebody typed it
    return refusal_answer(missing, request)


def _methods(request: Request) -> set[str]:
    """All that this address takes, in whichever route."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    found = [route.methods or set() for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return set().union(*found)
