"""The JSON API but for reports: what respondents' pages ask, and what analysts do."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from murmure.collector.http.answers import as_refusal, error_fields
from murmure.collector.http.limits import RateLimit, SlowLane, client_of
from murmure.collector.http.requests import (
    Desk,
    answering,
    body_of,
    json_answer,
    language_of,
    only_fields,
    public_answer,
    text_field,
)
from murmure.collector.service.analysts import Analyst
from murmure.collector.service.builder_advice import builder_advice
from murmure.collector.service.errors import RequestRefused
from murmure.collector.service.forgeries import survey_forgeries
from murmure.collector.service.surveys import SurveyRecord
from murmure.core.errors import MurmureError
from murmure.plan.plan import Plan
from murmure.show.language import Language

TOKEN_BODY = 1 << 12
DIGEST_LETTERS = 16  # of a plan's digest in a link


class ApiRoutes:
    def __init__(self, desk: Desk) -> None:
        self._desk, self._collector = desk, desk.collector
        self._sign_ins = RateLimit(burst=10, per_minute=10)
        self._names = RateLimit(burst=10, per_minute=5)
        self._browsers = RateLimit(burst=10, per_minute=5)
        self._passwords = SlowLane(max_waiting=16)
        self._coins = RateLimit(burst=300, per_minute=600)  # a class behind one address needs some at once

    def routes(self) -> list[Route]:
        one = "/api/surveys/{id}"
        return [
            Route("/api/session", answering(self.sign_in), methods=["POST"]),
            Route("/api/session", answering(self.sign_out), methods=["DELETE"]),
            Route("/api/first-analyst", answering(self.first_analyst), methods=["POST"]),
            Route("/api/surveys", answering(self.list), methods=["GET"]),
            Route("/api/surveys", answering(self.create), methods=["POST"]),
            Route("/api/advice", answering(self.advice), methods=["POST"]),
            Route(one, answering(self.survey), methods=["GET"]),
            Route(one, answering(self.change), methods=["PUT"]),
            Route(one, answering(self.remove), methods=["DELETE"]),
            Route(f"{one}/plan", answering(self.plan), methods=["GET"]),
            Route(f"{one}/coins", answering(self.coins), methods=["POST"]),
            Route(f"{one}/link", answering(self.link), methods=["POST"]),
            Route(f"{one}/results", answering(self.results), methods=["GET"]),
            Route(f"{one}/forgeries", answering(self.forgeries), methods=["GET"]),
            Route(f"{one}/invitations", answering(self.invitations), methods=["POST"]),
            *(
                Route(f"{one}/{action}", answering(self.action), methods=["POST"], name=action)
                for action in ("open", "close", "publish", "next-wave")
            ),
        ]

    # -- respondents

    async def survey(self, request: Request) -> Response:
        record = await self._visible(request)
        return json_answer(await asyncio.to_thread(lambda: public_fields(record, self._collector.plan_of(record))))

    async def plan(self, request: Request) -> Response:
        """The text whose digest the client checks: unchanged."""
        record = await self._visible(request)
        text = await asyncio.to_thread(lambda: record.plan_text or record.plan.to_json())
        return public_answer(request, text, "application/json")

    async def link(self, request: Request) -> Response:
        body = await body_of(request, TOKEN_BODY)
        only_fields(body, "token")
        return json_answer({"used": self._collector.link_used(request.path_params["id"], body.get("token"))})

    async def coins(self, request: Request) -> Response:
        self._coins.take(self._client(request))
        body = await body_of(request, TOKEN_BODY)
        only_fields(body, "token")
        token, coins = self._collector.coins(request.path_params["id"], body.get("token"))
        return json_answer({"token": token, "coins": coins})

    async def results(self, request: Request) -> Response:
        record = await self._visible(request)
        analyst = await self._desk.analyst(request)
        if record.state != "published" and (analyst is None or analyst.number != record.owner):
            raise RequestRefused("forbidden", "the results of this survey are not published.")
        wave = wave_of(request, record)
        return json_answer(await asyncio.to_thread(lambda: self._collector.results(record, wave).to_json()))

    # -- sessions

    async def sign_in(self, request: Request) -> Response:
        """Tries are limited by address and by name; in a browser in which this analyst signed in before, by browser.
        So whoever tries passwords of a name does not lock its owner out."""
        body = await body_of(request, TOKEN_BODY)
        only_fields(body, "name", "password")
        name, password = text_field(body, "name").strip(), text_field(body, "password")
        browser = self._desk.browser(request)
        known = self._collector.analysts.knows_browser(name, browser)
        if known:
            limits = [(self._browsers, browser or "")]
        else:
            limits = [(self._sign_ins, self._client(request)), (self._names, name)]
        for limit, key in limits:
            limit.take(key)
        cookie = await self._passwords.run(self._collector.analysts.sign_in, name, password, first=known)
        for limit, key in limits:
            limit.give_back(key)
        return self._session(cookie, self._collector.analysts.browser_token(name))

    def _client(self, request: Request) -> str:
        return client_of(request.scope, self._desk.settings.trust_proxy)

    async def first_analyst(self, request: Request) -> Response:
        body = await body_of(request, TOKEN_BODY)
        only_fields(body, "setup", "name", "password")
        fields = [text_field(body, name) for name in ("setup", "name", "password")]
        self._sign_ins.take(self._client(request))
        analyst = await self._passwords.run(self._collector.analysts.add_first, *fields)
        cookie = await asyncio.to_thread(self._collector.analysts.open_session, analyst.number)
        return self._session(cookie, self._collector.analysts.browser_token(analyst.name))

    def _session(self, cookie: str, browser: str) -> Response:
        answer = json_answer({"csrf": self._collector.analysts.csrf_token(cookie)})
        return self._desk.with_browser(self._desk.with_session(answer, cookie), browser)

    async def sign_out(self, request: Request) -> Response:
        await self._desk.signed_in(request)
        await asyncio.to_thread(self._collector.analysts.close_session, self._desk.cookie(request) or "")
        return self._desk.with_session(json_answer({}), None)

    # -- surveys of an analyst

    async def list(self, request: Request) -> Response:
        analyst = await self._desk.signed_in(request)
        records = await asyncio.to_thread(self._collector.surveys.of_owner, analyst.number)
        return json_answer({"surveys": [summary_fields(record) for record in records]})

    async def create(self, request: Request) -> Response:
        analyst = await self._desk.signed_in(request)
        record = await asyncio.to_thread(self._collector.surveys.create, analyst.number, await body_of(request))
        return json_answer(summary_fields(record), 201)

    async def change(self, request: Request) -> Response:
        record = await self._owned(request)
        return json_answer(
            summary_fields(await asyncio.to_thread(self._collector.surveys.change, record, await body_of(request)))
        )

    async def remove(self, request: Request) -> Response:
        await asyncio.to_thread(self._collector.surveys.remove, await self._owned(request))
        return json_answer({})

    async def action(self, request: Request) -> Response:
        record = await self._owned(request)
        name = request.scope["path"].rpartition("/")[2]
        collector = self._collector
        act = {
            "open": collector.open,
            "close": collector.close_survey,
            "publish": collector.surveys.publish,
            "next-wave": collector.next_wave,
        }[name]
        return json_answer(summary_fields(await asyncio.to_thread(act, record)))

    async def invitations(self, request: Request) -> Response:
        record = await self._owned(request)
        body = await body_of(request, TOKEN_BODY)
        only_fields(body, "count")
        count = body.get("count")
        if isinstance(count, bool) or not isinstance(count, int):
            raise RequestRefused("bad-request", "count must be a whole number.")
        tokens = await asyncio.to_thread(self._collector.invitations, record, count)
        link = survey_link(self._desk.base(request), record)
        return json_answer({"links": [f"{link}&t={token}" for token in tokens]}, 201)

    async def forgeries(self, request: Request) -> Response:
        record = await self._owned(request)
        check = await asyncio.to_thread(survey_forgeries, self._collector, record, wave_of(request, record))
        return json_answer(check.to_dict() | check.in_words(Language(language_of(request)).say))

    async def advice(self, request: Request) -> Response:
        await self._desk.signed_in(request)
        body = await body_of(request)
        only_fields(body, "survey", "epsilon", "margin")
        lang = language_of(request)
        try:
            made = await asyncio.to_thread(
                builder_advice, body.get("survey"), body.get("epsilon"), body.get("margin"), lang
            )
        except MurmureError as error:  # a survey that is being written is seldom complete, and that is not a failure
            made = {"refused": error_fields(as_refusal(error), lang)}
        return json_answer(made)

    # -- who may see what

    async def _visible(self, request: Request) -> SurveyRecord:
        """A survey that respondents may see; a draft, for its author."""
        survey_id = request.path_params["id"]
        try:
            return await asyncio.to_thread(self._collector.public, survey_id)
        except RequestRefused:
            analyst = await self._desk.analyst(request)
            if analyst is None:
                raise
            return await asyncio.to_thread(self._collector.owned, analyst, survey_id)

    async def _owned(self, request: Request) -> SurveyRecord:
        analyst: Analyst = await self._desk.signed_in(request)
        return await asyncio.to_thread(self._collector.owned, analyst, request.path_params["id"])


def survey_link(base: str, record: SurveyRecord) -> str:
    """The link of a survey. The fragment stays in the browser, and says which plan was promised."""
    return f"{base}/s/{record.id}#p={record.plan.digest[:DIGEST_LETTERS]}"


def wave_of(request: Request, record: SurveyRecord) -> int:
    text = request.query_params.get("wave", str(record.wave))
    if not text.isascii() or not text.isdigit() or len(text) > 4 or not 1 <= int(text) <= record.survey.waves:
        raise RequestRefused("bad-request", "wave must be from 1 to {waves}.", waves=record.survey.waves)
    return int(text)


def summary_fields(record: SurveyRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "state": record.state,
        "wave": record.wave,
        "waves": record.survey.waves,
        "title": record.survey.title.to_dict(),
    }


def public_fields(record: SurveyRecord, plan: Plan) -> dict[str, Any]:
    return summary_fields(record) | {
        "link": record.survey.link,
        "plan": plan.digest,
        "coins": plan.coins == "collector",
        "survey": json.loads(record.document),
    }
