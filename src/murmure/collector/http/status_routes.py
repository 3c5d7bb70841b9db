"""For those who run the service: is it well, what has it counted, and what does its API look like."""

from __future__ import annotations

import hmac
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from murmure import __version__
from murmure.collector.http.answers import NO_STORE, SAFE_HEADERS
from murmure.collector.http.openapi import openapi_document
from murmure.collector.http.requests import SESSION_COOKIE, Desk, answering, json_answer
from murmure.collector.service.errors import RequestRefused


class StatusRoutes:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._collector = desk, desk.collector

    def routes(self) -> list[Route]:
        return [
            Route("/health", answering(self.health)),
            Route("/metrics", answering(self.metrics)),
            Route("/openapi.json", answering(self.openapi)),
        ]

    async def health(self, request: Request) -> Response:
        """503 where reports cannot be stored or counted."""
        intake = self._collector.intake
        if intake.failure is not None or intake.refusing or intake.folding_error is not None:
            raise RequestRefused("disk", "reports cannot be stored or counted at the moment.")
        return json_answer({"version": __version__})

    async def metrics(self, request: Request) -> Response:
        """In the text format of Prometheus. Who reads it must know the token; without one nobody may."""
        wanted = self._desk.settings.metrics_token
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not wanted or not hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode()):
            raise RequestRefused("forbidden", "metrics need the token that the service was started with.")
        return Response(self._metrics(), 200, SAFE_HEADERS | NO_STORE, "text/plain")

    def _metrics(self) -> str:
        lines = []
        for name, kind, about, values in self._figures():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
            lines += [f"{name}{labels} {value}" for labels, value in values]
        return "\n".join(lines) + "\n"

    def _figures(self) -> list[tuple[str, str, str, list[tuple[str, Any]]]]:
        intake = self._collector.intake
        refused: dict[str, int] = {}
        for (_, reason), count in self._collector.refused_now().items():
            refused[reason] = refused.get(reason, 0) + count
        return [
            (
                "murmure_reports_stored_total",
                "counter",
                "Reports stored since the start.",
                [("", self._collector.stored)],
            ),
            ("murmure_reports_waiting", "gauge", "Reports that wait for the log.", [("", intake.waiting)]),
            (
                "murmure_failures_total",
                "counter",
                "Requests that ended in an error of ours.",
                [("", self._collector.failures)],
            ),
            (
                "murmure_reports_refused_total",
                "counter",
                "Reports refused since the start, by reason.",
                [(f'{{reason="{reason}"}}', count) for reason, count in sorted(refused.items())] or [("", 0)],
            ),
        ]

    async def openapi(self, request: Request) -> Response:
        document = openapi_document(self._desk.base(request), self._desk.cookie_name(SESSION_COOKIE))
        return Response(document, 200, SAFE_HEADERS | NO_STORE, "application/json")
