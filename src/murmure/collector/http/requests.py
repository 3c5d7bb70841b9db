"""What routes share: who asks, in which language, with which body, and how errors are answered."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from murmure.collector.http.answers import (
    NO_STORE,
    SAFE_HEADERS,
    as_refusal,
    encode,
    error_fields,
    internal_error,
    retry_headers,
)
from murmure.collector.http.bodies import ClientGone, check_json, read_body
from murmure.collector.http.languages import LANGUAGE_COOKIE, language_of_scope
from murmure.collector.http.report_routes import decoded
from murmure.collector.http.settings import WebSettings
from murmure.collector.service.analysts import Analyst
from murmure.collector.service.collector import Collector
from murmure.collector.service.errors import RequestRefused
from murmure.core.errors import MurmureError
from murmure.show.language import NAMES, LanguageCode

SESSION_COOKIE, BROWSER_COOKIE = "murmure_session", "murmure_browser"
CSRF_HEADER = "x-csrf-token"
LANGUAGE_SECONDS = BROWSER_SECONDS = 365 * 24 * 3600
MAX_BODY = 1 << 20  # of administration: a survey with a thousand options in two languages has 100 kB
HTML = "text/html; charset=utf-8"
_any = msgspec.json.Decoder().decode
Handler = Callable[[Request], Awaitable[Response]]


class Desk:
    """The collector as routes see it."""

    def __init__(self, collector: Collector, settings: WebSettings) -> None:
        self.collector, self.settings = collector, settings

    def cookie_name(self, name: str) -> str:
        """With TLS, of a kind that only this very host can set: no neighbour below the same domain."""
        return f"__Host-{name}" if self.settings.secure else name

    def cookie(self, request: Request) -> str | None:
        return request.cookies.get(self.cookie_name(SESSION_COOKIE))

    def browser(self, request: Request) -> str | None:
        """What tells a browser in which somebody signed in before."""
        return request.cookies.get(self.cookie_name(BROWSER_COOKIE))

    async def analyst(self, request: Request) -> Analyst | None:
        return await asyncio.to_thread(self.collector.analysts.of_session, self.cookie(request))

    async def signed_in(self, request: Request) -> Analyst:
        """The analyst of the session. What changes something must come from a page of that session."""
        analyst = await self.analyst(request)
        if analyst is None:
            raise RequestRefused("sign-in", "sign in first.")
        if request.method not in ("GET", "HEAD"):
            self.collector.analysts.check_csrf(self.cookie(request) or "", request.headers.get(CSRF_HEADER))
        return analyst

    def csrf(self, request: Request) -> str:
        return self.collector.analysts.csrf_token(self.cookie(request) or "")

    def base(self, request: Request) -> str:
        """What links begin with."""
        return self.settings.public_url or f"{request.url.scheme}://{request.url.netloc}"

    def with_session(self, response: Response, cookie: str | None) -> Response:
        name, secure = self.cookie_name(SESSION_COOKIE), self.settings.secure
        if cookie is None:
            response.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=secure)
        else:
            response.set_cookie(name, cookie, httponly=True, samesite="lax", secure=secure, path="/")
        return response

    def with_browser(self, response: Response, token: str) -> Response:
        name, secure = self.cookie_name(BROWSER_COOKIE), self.settings.secure
        response.set_cookie(
            name, token, max_age=BROWSER_SECONDS, httponly=True, samesite="strict", secure=secure, path="/"
        )
        return response


def language_of(request: Request) -> LanguageCode:
    return language_of_scope(request.scope)


def remember_language(request: Request, response: Response) -> Response:
    """Who chose a language keeps it on the next page."""
    if request.query_params.get("lang") in NAMES:
        lang = request.query_params["lang"]
        response.set_cookie(LANGUAGE_COOKIE, lang, max_age=LANGUAGE_SECONDS, httponly=True, samesite="lax", path="/")
    return response


async def body_of(request: Request, max_bytes: int = MAX_BODY) -> dict[str, Any]:
    check_json(request.scope)
    value = decoded(_any, await read_body(request.scope, request.receive, max_bytes))
    if not isinstance(value, dict):
        raise RequestRefused("bad-request", "the body must be a JSON object.")
    return value


def text_field(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise RequestRefused("bad-request", "{name} must be text.", name=name)
    return value


def only_fields(body: dict[str, Any], *names: str) -> None:
    if unknown := set(body) - set(names):
        raise RequestRefused("bad-request", "unknown fields: {names}.", names=", ".join(sorted(unknown)))


def json_answer(value: dict[str, Any], status: int = 200, **headers: str) -> Response:
    return Response(encode({"ok": True, **value}), status, SAFE_HEADERS | NO_STORE | headers, "application/json")


def page_answer(text: str, status: int = 200) -> Response:
    return Response(text, status, SAFE_HEADERS | NO_STORE, HTML)


def public_answer(request: Request, text: str, kind: str) -> Response:
    """A text that everybody may read, compressed for those who take it so: a slow telephone waits for every byte.

    What is for analysts is never compressed: beside a secret, the length of a compressed text tells about the secret.
    """
    headers, content = SAFE_HEADERS | NO_STORE | {"Vary": "Accept-Encoding"}, text.encode()
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        content = gzip.compress(content, mtime=0)
    return Response(content, 200, headers, kind)


def refusal_answer(error: RequestRefused, request: Request) -> Response:
    fields = error_fields(error, language_of(request))
    headers = SAFE_HEADERS | NO_STORE | retry_headers(error)
    return Response(encode(fields), error.status, headers, "application/json")


def answering(handler: Handler) -> Handler:
    """The handler, whose errors become answers in the one shape."""

    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except (ClientGone, ClientDisconnect):
            return Response(status_code=400)  # nobody reads it
        except MurmureError as error:
            return refusal_answer(as_refusal(error), request)
        except Exception:
            # Not raised again: the server would log it with the address of the client.
            request.app.state.collector.failures += 1
            return refusal_answer(internal_error(), request)

    return answered
