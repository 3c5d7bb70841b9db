"""The two hot routes, as raw ASGI: one report, and a batch of them. An answer is sent when the reports are on the disk.

POST /api/surveys/{id}/reports    {"token", "wave", "plan", "report"}
POST /api/surveys/{id}/batches    {"plan", "wave", "reports": [{"token", "report"}, ...]}
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import Any

import msgspec

from murmure.collector.http.answers import as_refusal, encode, error_fields, internal_error, retry_headers, send_json
from murmure.collector.http.bodies import ClientGone, Receive, Scope, Send, check_json, read_body
from murmure.collector.http.languages import language_of_scope
from murmure.collector.intake.arrival import Arrival, Outcome
from murmure.collector.service.collector import Collector
from murmure.collector.service.errors import RequestRefused
from murmure.collector.service.reception import Reception
from murmure.core.errors import MurmureError

MAX_REPORT_BYTES = 1 << 18  # one report: the longest, of 100,000 bits, has 25 kB
MAX_BATCH_BYTES = 8 << 20
MAX_BATCH = 5000
MAX_REFUSED = 100  # of a batch; beyond, all of it is
Cell = int | str | None

NOW, BEFORE = encode({"ok": True, "stored": "now"}), encode({"ok": True, "stored": "before"})


class SentReport(msgspec.Struct, forbid_unknown_fields=True):
    token: str
    wave: int
    plan: str
    report: int | str | list[Cell]


class SentItem(msgspec.Struct, forbid_unknown_fields=True):
    token: str
    report: int | str | list[Cell]


class SentBatch(msgspec.Struct, forbid_unknown_fields=True):
    plan: str
    wave: int
    reports: list[SentItem]


_one, _many = msgspec.json.Decoder(SentReport).decode, msgspec.json.Decoder(SentBatch).decode


def decoded(decode: Any, body: bytes) -> Any:
    """JSON of the wanted shape. A sentence of msgspec names the place and the types, and no value."""
    try:
        return decode(body)
    except msgspec.ValidationError as error:
        raise RequestRefused(
            "bad-request", "the body does not have the expected shape: {why}.", why=str(error)
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestRefused("bad-json", "the body is not JSON.") from None


class Acknowledgements:
    """Outcomes on their way from the writer's thread to the event loop: one wake-up for many of them."""

    def __init__(self) -> None:
        self._done: deque[tuple[asyncio.Future[Any], Any]] = deque()
        self._lock = threading.Lock()
        self._scheduled = False

    def waiting(self) -> tuple[asyncio.Future[Any], Any]:
        """A future for the event loop, and what the writer calls."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def done(outcomes: list[Outcome] | Exception) -> None:
            with self._lock:
                self._done.append((future, outcomes))
                wake, self._scheduled = not self._scheduled, True
            if wake:
                loop.call_soon_threadsafe(self._deliver)

        return future, done

    def _deliver(self) -> None:
        with self._lock:
            ready, self._done, self._scheduled = self._done, deque(), False
        for future, outcomes in ready:
            if future.done():  # its client is gone
                continue
            if isinstance(outcomes, Exception):
                future.set_exception(outcomes)
            else:
                future.set_result(outcomes)


class ReportRoutes:
    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._acknowledgements = Acknowledgements()

    async def __call__(self, survey_id: str, kind: str, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            check_json(scope)
            if kind == "reports":
                status, body = await self._report(survey_id, await read_body(scope, receive, MAX_REPORT_BYTES))
            else:
                status, body = await self._batch(survey_id, await read_body(scope, receive, MAX_BATCH_BYTES), scope)
        except ClientGone:
            return
        except MurmureError as error:
            await self._refuse(survey_id, as_refusal(error), scope, send)
        except Exception:
            self._collector.failures += 1
            await self._refuse(survey_id, internal_error(), scope, send)
        else:
            await send_json(send, status, body)

    async def _report(self, survey_id: str, body: bytes) -> tuple[int, bytes]:
        sent: SentReport = decoded(_one, body)
        reception = self._collector.reception(survey_id)
        reception.check_plan(sent.plan, sent.wave)
        (outcome,) = await self._store(reception, [reception.arrival(sent.token, sent.report)])
        if outcome is Outcome.SPENT:
            raise _spent()
        return (201, NOW) if outcome is Outcome.STORED else (200, BEFORE)

    async def _batch(self, survey_id: str, body: bytes, scope: Scope) -> tuple[int, bytes]:
        sent: SentBatch = decoded(_many, body)
        if not 1 <= len(sent.reports) <= MAX_BATCH:
            raise RequestRefused("bad-request", "a batch must have 1 to {n:,} reports.", n=MAX_BATCH)
        reception = self._collector.reception(survey_id)
        reception.check_plan(sent.plan, sent.wave)
        arrivals: list[Arrival] = []
        places: list[int] = []
        refused: list[tuple[int, RequestRefused]] = []
        for place, item in enumerate(sent.reports):
            try:
                arrivals.append(reception.arrival(item.token, item.report))
                places.append(place)
            except RequestRefused as error:
                refused.append((place, error))
                if len(refused) > MAX_REFUSED:  # each takes as long as forty good ones, while everybody waits
                    raise RequestRefused(
                        "bad-report",
                        "more than {n} reports of this batch are refused, so none was stored. The last refusal: {why}",
                        n=MAX_REFUSED,
                        why=error.message,
                    ) from None
        outcomes = await self._store(reception, arrivals) if arrivals else []
        lang = language_of_scope(scope)
        told = [{"place": place, **error_fields(why, lang)} for place, why in refused]
        for _, why in refused:
            self._collector.count_refusal(survey_id, why.code)
        spent = [place for place, outcome in zip(places, outcomes, strict=True) if outcome is Outcome.SPENT]
        if spent:  # their sentence is made once
            fields = error_fields(_spent(), lang)
            told = sorted([*told, *({"place": place, **fields} for place in spent)], key=lambda one: one["place"])
            self._collector.count_refusal(survey_id, "spent", len(spent))
        stored, before = outcomes.count(Outcome.STORED), outcomes.count(Outcome.BEFORE)
        return 200, encode({"ok": True, "stored": stored, "before": before, "refused": told})

    async def _store(self, reception: Reception, arrivals: list[Arrival]) -> list[Outcome]:
        future, done = self._acknowledgements.waiting()
        self._collector.store(reception, arrivals, done)
        outcomes: list[Outcome] = await future
        self._collector.stored += outcomes.count(Outcome.STORED)
        return outcomes

    async def _refuse(self, survey_id: str, error: RequestRefused, scope: Scope, send: Send) -> None:
        self._collector.count_refusal(survey_id, error.code)
        more = retry_headers(error)
        if error.code in ("too-large", "too-slow", "type"):  # the rest of the body is not waited for
            more |= {"Connection": "close"}
        await send_json(send, error.status, encode(error_fields(error, language_of_scope(scope))), more)


def _spent() -> RequestRefused:
    return RequestRefused(
        "spent",
        "another report was already sent with this link, and only one is counted.",
        hint="the report that came first is kept",
    )
