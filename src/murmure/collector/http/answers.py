"""Answers of the service: JSON in one shape, with the headers that every answer has."""

from __future__ import annotations

from typing import Any

import msgspec

from murmure.collector.http.bodies import Send
from murmure.collector.intake.errors import IntakeBusy, IntakeClosed, IntakeFailed
from murmure.collector.pages.shell import POLICY
from murmure.collector.service.errors import CollectorFailed, RequestRefused
from murmure.collector.survey.errors import SurveyRefused
from murmure.core.errors import CannotWrite, MurmureError, Phrase
from murmure.show.language import Language, LanguageCode

SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
}
NO_STORE = {"Cache-Control": "no-store"}
encode = msgspec.json.Encoder().encode
_RAW = [(name.lower().encode(), value.encode()) for name, value in (SAFE_HEADERS | NO_STORE).items()]
_RAW.append((b"content-type", b"application/json"))


def error_fields(error: RequestRefused, lang: LanguageCode = "en") -> dict[str, Any]:
    """The one shape of errors, in the language of the request."""
    say = Language(lang).say
    out = {
        "ok": False,
        "error": error.code,
        "message": say(error.message),
        "hint": None if error.hint is None else say(error.hint),
        "status": error.status,
    }
    if error.where is None or error.wanted is None:
        return out
    return out | {"where": error.where, "wanted": say(error.wanted)}


def as_refusal(error: MurmureError) -> RequestRefused:
    """Any other error of ours about what was sent: a bad request, with its own sentences."""
    if isinstance(error, RequestRefused):
        return error
    # Paths and reasons are for those who run it.
    if isinstance(error, CannotWrite):
        return RequestRefused("disk", "the file cannot be written at the moment.", hint="try again later")
    if isinstance(error, IntakeFailed | CollectorFailed):
        code = "busy" if isinstance(error, IntakeBusy | IntakeClosed) else "disk"
        return RequestRefused(
            code, "nothing can be stored at the moment.", hint="send it again: it was not acknowledged"
        )
    refused = RequestRefused("bad-request", "{why}", why=error.message)
    refused.hint = error.hint
    if isinstance(error, SurveyRefused):
        refused.where, refused.wanted = error.where, error.wanted
    return refused


def internal_error() -> RequestRefused:
    """What a bug looks like from outside: nothing about it leaves the server."""
    return RequestRefused("internal", "something went wrong here.", hint=Phrase("try again: a report counts once"))


def retry_headers(error: RequestRefused) -> dict[str, str]:
    return {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}


async def send_json(send: Send, status: int, body: bytes, more: dict[str, str] | None = None) -> None:
    """For the two routes that do without Starlette."""
    headers = [*_RAW, (b"content-length", str(len(body)).encode())]
    headers += [(name.lower().encode(), value.encode()) for name, value in (more or {}).items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
