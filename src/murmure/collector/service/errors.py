"""Why the collector refuses a request: a code for programs, a sentence for people, and the status of the answer."""

from __future__ import annotations

from typing import Any

from murmure.core.errors import MurmureError

STATUS = {
    "bad-json": 400,
    "bad-request": 400,
    "bad-report": 400,
    "sign-in": 401,
    "forbidden": 403,
    "unknown-link": 403,
    "no-coins": 403,
    "not-found": 404,
    "method": 405,
    "too-slow": 408,
    "not-open": 409,
    "other-plan": 409,
    "other-wave": 409,
    "spent": 409,
    "state": 409,
    "too-large": 413,
    "type": 415,
    "too-many": 429,
    "internal": 500,
    "busy": 503,
    "disk": 503,
}
RETRY_SECONDS = {"too-many": 30, "busy": 2, "disk": 30}


class RequestRefused(MurmureError):
    """A request that is not carried out: nothing was stored, and nothing was counted.

    where, wanted: of a survey that was refused, the field, and what it may hold.
    """

    where: str | None = None
    wanted: str | None = None

    def __init__(self, code: str, template: str, /, *, hint: str | None = None, **fields: Any) -> None:
        super().__init__(template, hint=hint, **fields)
        self.code = code

    @property
    def status(self) -> int:
        return STATUS[self.code]

    @property
    def retry_after(self) -> int | None:
        """Seconds after which the same request may succeed."""
        return RETRY_SECONDS.get(self.code)


class CollectorFailed(MurmureError):
    """A folder that cannot be served: what is wrong, and a way out."""
