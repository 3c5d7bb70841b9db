"""The pages, their files, and exports."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from murmure.collector.http.answers import NO_STORE, SAFE_HEADERS, as_refusal, internal_error, retry_headers
from murmure.collector.http.api_routes import survey_link, wave_of
from murmure.collector.http.requests import (
    HTML,
    Desk,
    Handler,
    answering,
    language_of,
    page_answer,
    public_answer,
    remember_language,
)
from murmure.collector.pages.account_pages import first_account_page, sign_in_page
from murmure.collector.pages.answer_page import answer_page
from murmure.collector.pages.builder_page import builder_page
from murmure.collector.pages.class_page import class_page, class_part
from murmure.collector.pages.list_page import list_page
from murmure.collector.pages.message_page import message_page
from murmure.collector.pages.static_files import FOREVER, release, static_files
from murmure.collector.pages.survey_page import live_part, public_results_page, survey_page
from murmure.collector.service.collector import EXPORT_PREFIX
from murmure.collector.service.errors import RequestRefused
from murmure.collector.service.exports import ExportFormat, export
from murmure.collector.service.surveys import SurveyRecord
from murmure.core.errors import MurmureError, Phrase
from murmure.core.files import cannot_write
from murmure.plan.reports import Reports
from murmure.show.language import LanguageCode

CSV_METADATA = "csv-metadata.json"  # of a CSV file, which has no place for its plan
PIECE_BYTES = 1 << 16  # of a file on its way to a client
EXPORTS: dict[str, ExportFormat] = {"parquet": "parquet", "csv": "csv", CSV_METADATA: "csv", "json": "json"}


class PageRoutes:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._collector = desk, desk.collector

    def routes(self) -> list[Route]:
        return [
            Route("/", self._page(self.home)),
            Route("/first", self._page(self.first)),
            Route("/s/{id}", self._page(self.answer)),
            Route("/s/{id}/results", self._page(self.public_results)),
            Route("/surveys/new", self._page(self.new)),
            Route("/surveys/{id}", self._page(self.survey)),
            Route("/surveys/{id}/edit", self._page(self.edit)),
            Route("/surveys/{id}/live", answering(self.live)),
            Route("/surveys/{id}/class", self._page(self.class_room)),
            Route("/surveys/{id}/class/live", answering(self.class_live)),
            Route("/api/surveys/{id}/export.{ending}", answering(self.export)),
            Route("/sign-in/{ticket}", self._page(self.ticket)),
            Route("/v/{release}/{path:path}", answering(self.released_file)),
            Route("/static/{name}", answering(self.file)),
            Route("/client/{name}", answering(self.file)),
            Route("/favicon.ico", answering(self.icon)),
        ]

    # -- respondents

    async def answer(self, request: Request) -> Response:
        record = await asyncio.to_thread(self._collector.public, request.path_params["id"])
        lang = language_of(request)

        def made() -> Response:
            plan = self._collector.plan_of(record)
            page = answer_page(
                record.survey.to_dict(),
                record.id,
                state=record.state,
                wave=record.wave,
                digest=plan.digest,
                coins=plan.coins == "collector",
                lang=lang,
            )
            return public_answer(request, page, HTML)

        return await asyncio.to_thread(made)

    async def public_results(self, request: Request) -> Response:
        record = await asyncio.to_thread(self._collector.public, request.path_params["id"])
        if record.state != "published":
            raise RequestRefused("forbidden", "the results of this survey are not published.")
        lang, wave = language_of(request), wave_of(request, record)
        return page_answer(
            await asyncio.to_thread(
                lambda: public_results_page(lang, record, self._collector.results(record, wave)),
            )
        )

    # -- analysts

    async def home(self, request: Request) -> Response:
        analyst, lang = await self._desk.analyst(request), language_of(request)
        if analyst is None:
            return page_answer(sign_in_page(lang, next=_inside(request.query_params.get("next"))))

        def made() -> str:
            records = self._collector.surveys.of_owner(analyst.number)
            counts = {
                record.number: self._collector.intake.tally_of(record.number, record.wave)[0] for record in records
            }
            return list_page(lang, analyst.name, records, counts, self._desk.csrf(request))

        return page_answer(await asyncio.to_thread(made))

    async def first(self, request: Request) -> Response:
        setup = request.query_params.get("setup", "")
        await asyncio.to_thread(self._collector.analysts.check_setup, setup)
        return page_answer(first_account_page(language_of(request), setup))

    async def ticket(self, request: Request) -> Response:
        """A link that signs in once: the terminal of a teacher prints it. Programs that only look do not use it up."""
        if request.method == "HEAD":
            raise RequestRefused("method", "this address does not accept {method}.", method=request.method)
        cookie = await asyncio.to_thread(self._collector.analysts.redeem, request.path_params["ticket"])
        target = _inside(request.query_params.get("next"))
        return self._desk.with_session(RedirectResponse(target, 303, SAFE_HEADERS | NO_STORE), cookie)

    async def new(self, request: Request) -> Response:
        analyst = await self._desk.signed_in(request)
        return page_answer(builder_page(language_of(request), analyst.name, None, None, self._desk.csrf(request)))

    async def edit(self, request: Request) -> Response:
        record = await self._owned(request)
        analyst = await self._desk.signed_in(request)
        if record.state != "draft":
            return RedirectResponse(f"/surveys/{record.id}", 303, SAFE_HEADERS | NO_STORE)
        page = builder_page(
            language_of(request), analyst.name, record.survey.to_dict(), record.id, self._desk.csrf(request)
        )
        return page_answer(page)

    async def survey(self, request: Request) -> Response:
        record = await self._owned(request)
        analyst = await self._desk.signed_in(request)
        if record.state == "draft":
            return RedirectResponse(f"/surveys/{record.id}/edit", 303, SAFE_HEADERS | NO_STORE)
        lang, wave, csrf = language_of(request), wave_of(request, record), self._desk.csrf(request)
        base = self._desk.base(request)
        links = {"answer": survey_link(base, record), "results": f"{base}/s/{record.id}/results"}

        def made() -> str:
            results = self._collector.results(record, wave)
            return survey_page(lang, analyst.name, record, results, self._collector.refusals(record), links, csrf)

        return page_answer(await asyncio.to_thread(made))

    async def live(self, request: Request) -> Response:
        """The part of the page that changes; 304 while it has not."""
        record = await self._owned(request)
        lang, wave = language_of(request), wave_of(request, record)
        return await self._part(
            request, record, wave, lang, lambda: live_part(lang, self._collector.results(record, wave))
        )

    async def class_room(self, request: Request) -> Response:
        record = await self._owned(request)
        lang, csrf, link = language_of(request), self._desk.csrf(request), survey_link(self._desk.base(request), record)
        results = await asyncio.to_thread(self._collector.results, record)
        return page_answer(await asyncio.to_thread(class_page, lang, record, results, link, csrf))

    async def class_live(self, request: Request) -> Response:
        record, lang = await self._owned(request), language_of(request)
        attack = request.query_params.get("attack") == "1"
        return await self._part(
            request,
            record,
            record.wave,
            lang,
            lambda: class_part(lang, record, self._collector.results(record), attack),
        )

    async def _part(self, request: Request, record: SurveyRecord, wave: int, lang: LanguageCode, make: Any) -> Response:
        attack = request.query_params.get("attack", "")
        version = (
            f'"{release()}-{record.state}-{record.wave}-{wave}-{lang}-{attack}-{self._collector.version(record, wave)}"'
        )
        headers = SAFE_HEADERS | {"Cache-Control": "private, no-cache", "ETag": version}
        if request.headers.get("if-none-match") == version:
            return Response(status_code=304, headers=headers)
        return Response(await asyncio.to_thread(make), 200, headers, HTML)

    async def export(self, request: Request) -> Response:
        record = await self._owned(request)
        ending = request.path_params["ending"]
        if ending not in EXPORTS:
            known = ", ".join(EXPORTS)
            raise RequestRefused("not-found", "exports end in {known}.", known=known)
        wave = wave_of(request, record)
        name = f"{record.id}-{wave}" if record.survey.waves > 1 else record.id
        kind = EXPORTS[ending]
        blocks: Iterable[Reports] = self._collector.blocks(record, wave)
        if ending == CSV_METADATA:  # it says nothing about single reports: a few are enough to write it
            blocks = islice(blocks, 1)
        try:
            folder = Path(tempfile.mkdtemp(prefix=EXPORT_PREFIX, dir=self._collector.folder))
            try:
                await asyncio.to_thread(export, blocks, record.plan, kind, folder / f"{name}.{kind}")
                file = (folder / f"{name}.{ending}").open("rb")
            finally:  # the open file is all that is needed: whatever becomes of the client, nothing is left
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        except OSError as error:
            raise cannot_write(self._collector.folder, error) from None
        size = os.fstat(file.fileno()).st_size
        attachment = {"Content-Disposition": f'attachment; filename="{name}.{ending}"', "Content-Length": str(size)}
        return StreamingResponse(
            _pieces(file), headers=SAFE_HEADERS | NO_STORE | attachment, media_type="application/octet-stream"
        )

    # -- files

    async def released_file(self, request: Request) -> Response:
        if request.path_params["release"] != release():
            raise _no_file()
        return _file(request, request.path_params["path"], FOREVER)

    async def file(self, request: Request) -> Response:
        return _file(request, request.scope["path"].lstrip("/"), "no-cache")

    async def icon(self, request: Request) -> Response:
        return Response(status_code=204, headers=SAFE_HEADERS)

    # -- helpers

    async def _owned(self, request: Request) -> SurveyRecord:
        analyst = await self._desk.signed_in(request)
        return await asyncio.to_thread(self._collector.owned, analyst, request.path_params["id"])

    def _page(self, handler: Handler) -> Handler:
        """The handler, whose errors become pages; without a session, the page to sign in."""

        async def answered(request: Request) -> Response:
            try:
                return remember_language(request, await handler(request))
            except ClientDisconnect:
                return Response(status_code=400)
            except MurmureError as error:
                refused = as_refusal(error)
            except Exception:
                self._collector.failures += 1
                refused = internal_error()
            if refused.code == "sign-in":
                return RedirectResponse(f"/?next={quote(request.url.path)}", 303, SAFE_HEADERS | NO_STORE)
            return error_page(refused, language_of(request))

        return answered


def error_page(error: RequestRefused, lang: LanguageCode) -> Response:
    """A refusal for people."""
    titles = {404: Phrase("There is nothing here"), 403: Phrase("This page is not for you")}
    title = titles.get(error.status, Phrase("This does not work"))
    page = message_page(lang, title, error.message, error.hint)
    return Response(page, error.status, SAFE_HEADERS | NO_STORE | retry_headers(error), HTML)


def _file(request: Request, path: str, caching: str) -> Response:
    file = static_files().get(path)
    if file is None:
        raise _no_file()
    headers = SAFE_HEADERS | {"Cache-Control": caching, "Vary": "Accept-Encoding", "ETag": f'"{file.digest[:32]}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.gzipped, 200, headers | {"Content-Encoding": "gzip"}, file.kind)
    return Response(file.content, 200, headers, file.kind)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE_BYTES):
            yield piece


def _no_file() -> RequestRefused:
    return RequestRefused("not-found", "there is no such file.")


def _inside(target: str | None) -> str:
    """A path of this service, and no other site: "//elsewhere" would leave it."""
    safe = target is not None and target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if safe and target is not None and target.isprintable() else "/"
