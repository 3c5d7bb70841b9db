"""What a client asks a collector over HTTP: bounded tries of the same text, no redirects, and one shape of refusals.

A report is sent again, byte for byte, after a lost connection and where the collector asks for patience (Retry-After).
The collector stores it once, and says "stored" in every answer to it. Anything else is not an acknowledgement, and no
refusal either: the gate of a wireless network answers 200, and a proxy 403. Redirects are not followed, since they
would carry the token elsewhere.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from murmure.core.errors import MurmureError, shorten

WAITS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # seconds between tries
MAX_WAIT = 120.0
TIME_LIMIT = 20.0  # of one try
LATER = frozenset({408, 425, 429, 500, 502, 503, 504})  # statuses after which the same text may be sent again
MAX_BYTES = 32 << 20  # of an answer: the plan of a hundred thousand labels has a few


class CollectorRefusal(MurmureError):
    """The collector refused a request. `code` is for programs: not-open, other-wave, spent ..."""

    @property
    def code(self) -> str:
        return str(self.fields["code"])


class NotAcknowledged(MurmureError):
    """No collector answered in time. What was to be sent is kept, and can be sent again."""


class NotTrusted(NotAcknowledged):
    """The certificate is not that of the collector: nothing was sent."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class CollectorRequests:
    """One collector: `base` is the address before /api. wait: what sleeps between tries."""

    def __init__(self, base: str, wait: Callable[[float], object] = time.sleep) -> None:
        self.base, self._wait = base, wait
        self._open = urllib.request.build_opener(_NoRedirects).open

    def get(self, path: str) -> str:
        """The text of a JSON object, as it was written."""
        return self._tried(path, None, lambda text: text if _fields(text) else None)

    def get_json(self, path: str) -> dict[str, Any]:
        return self._tried(path, None, _acknowledged)

    def post(self, path: str, body: bytes, confirms: str) -> dict[str, Any]:
        """What the collector answers; an answer without `confirms` is not the collector's."""

        def read(text: str) -> dict[str, Any] | None:
            answer = _acknowledged(text)
            return answer if answer is not None and confirms in answer else None

        return self._tried(path, body, read)

    def _tried(self, path: str, body: bytes | None, read: Callable[[str], Any]) -> Any:
        for wait in (*WAITS, None):
            status, text, patience = self._once(path, body)
            if status is not None and status < 300:
                answer = read(text)
                if answer is not None:
                    return answer
            elif status is not None and status >= 400 and status not in LATER and (body is None or _refused(text)):
                raise _refusal(status, text)
            if wait is not None:
                self._wait(min(MAX_WAIT, max(wait, patience)))
        raise NotAcknowledged(
            "the collector at {base} did not acknowledge in {tries} tries.",
            hint="client.send() sends the same report again; answering again would draw again",
            base=self.base,
            tries=len(WAITS) + 1,
        )

    def _once(self, path: str, body: bytes | None) -> tuple[int | None, str, float]:
        """Status (None: no answer), text, and the seconds that the collector asks to wait."""
        headers = {"Accept": "application/json", "User-Agent": "murmure"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self.base + path, body, headers)
        try:
            with self._open(request, timeout=TIME_LIMIT) as response:
                return response.status, _text(response), 0.0
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _text(error), _seconds(error.headers.get("Retry-After"))
        except (OSError, http.client.HTTPException) as error:
            if isinstance(getattr(error, "reason", error), ssl.SSLCertVerificationError):
                raise NotTrusted(
                    "the certificate of {base} is not trusted, and nothing was sent.",
                    hint="somebody may be between you and the collector: send nothing until it is explained",
                    base=self.base,
                ) from None
            return None, "", 0.0


def _text(response: Any) -> str:
    try:
        return str(response.read(MAX_BYTES).decode("utf-8", "replace"))
    except (OSError, http.client.HTTPException):  # cut off on the way
        return ""


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isdecimal() and len(text) < 9 else 0.0


def _fields(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _acknowledged(text: str) -> dict[str, Any] | None:
    fields = _fields(text)
    return fields if fields.get("ok") is True else None


def _refused(text: str) -> bool:
    """Whether these are the collector's words."""
    fields = _fields(text)
    return fields.get("ok") is False and isinstance(fields.get("error"), str)


def _refusal(status: int, text: str) -> CollectorRefusal:
    fields = _fields(text)
    code, message = fields.get("error"), fields.get("message")
    return CollectorRefusal(
        "the collector refused this ({code}): {message} (status {status}).",
        code=code if isinstance(code, str) else "unknown",
        message=shorten(message, 300),
        status=status,
    )
