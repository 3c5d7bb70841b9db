"""The OpenAPI document of the service, written by hand from the same limits that the routes use."""

from __future__ import annotations

import json
from typing import Any

from murmure import __version__
from murmure.collector.http.report_routes import MAX_BATCH
from murmure.collector.service.collector import MAX_INVITATIONS
from murmure.collector.service.errors import STATUS
from murmure.collector.survey.question import KINDS, MAX_OPTIONS, STEPS
from murmure.collector.survey.survey import MAX_EPSILON, MAX_PEOPLE, MAX_QUESTIONS, MAX_WAVES, MIN_EPSILON, VERSION

TOKEN = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
SESSION: list[dict[str, list[str]]] = [{"session": [], "csrf": []}]
TEXTS = {
    "type": "object",
    "properties": {"en": {"type": "string"}, "fr": {"type": "string"}},
    "additionalProperties": False,
}
REPORT = {
    "description": "As the client draws it: a whole number, hexadecimal text, or one of these (or null) per question.",
    "oneOf": [
        {"type": "integer"},
        {"type": "string"},
        {"type": "array", "items": {"oneOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}},
    ],
}
Fields = dict[str, Any]


def _object(required: list[str], **properties: Any) -> Fields:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


SCHEMAS: Fields = {
    "Error": {
        "type": "object",
        "required": ["ok", "error", "message", "hint", "status"],
        "properties": {
            "ok": {"const": False},
            "error": {"enum": sorted(STATUS)},
            "message": {"type": "string"},
            "hint": {"type": ["string", "null"]},
            "status": {"type": "integer"},
            "where": {"type": "string", "description": "the field of a survey that is refused"},
            "wanted": {"type": "string", "description": "what that field may hold"},
        },
    },
    "Ok": {"type": "object", "required": ["ok"], "properties": {"ok": {"const": True}}},
    "Texts": TEXTS,
    "Question": {
        "type": "object",
        "required": ["name", "kind", "text"],
        "properties": {
            "name": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,31}$"},
            "kind": {"enum": list(KINDS)},
            "text": {"$ref": "#/components/schemas/Texts"},
            "options": {
                "type": "array",
                "minItems": 2,
                "maxItems": MAX_OPTIONS,
                "items": _object(["value"], value={"type": "string"}, label={"$ref": "#/components/schemas/Texts"}),
            },
            "low": {"type": "number"},
            "high": {"type": "number"},
            "step": {"enum": list(STEPS)},
            "unit": {"$ref": "#/components/schemas/Texts"},
        },
        "additionalProperties": False,
    },
    "Survey": _object(
        ["murmure_survey", "title", "questions", "people", "epsilon"],
        murmure_survey={"const": VERSION},
        title={"$ref": "#/components/schemas/Texts"},
        intro={"$ref": "#/components/schemas/Texts"},
        questions={
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_QUESTIONS,
            "items": {"$ref": "#/components/schemas/Question"},
        },
        people={"type": "integer", "minimum": 1, "maximum": MAX_PEOPLE},
        epsilon={"type": "number", "minimum": MIN_EPSILON, "maximum": MAX_EPSILON},
        waves={"type": "integer", "minimum": 1, "maximum": MAX_WAVES},
        epsilon_total={"type": ["number", "null"]},
        mechanism={"type": ["string", "null"]},
        link={"enum": ["open", "invitations"]},
    ),
    "SentReport": _object(
        ["token", "wave", "plan", "report"], token=TOKEN, wave={"type": "integer"}, plan=DIGEST, report=REPORT
    ),
    "SentBatch": _object(
        ["plan", "wave", "reports"],
        plan=DIGEST,
        wave={"type": "integer"},
        reports={
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_BATCH,
            "items": _object(["token", "report"], token=TOKEN, report=REPORT),
        },
    ),
    "Token": _object(["token"], token=TOKEN),
    "SignIn": _object(["name", "password"], name={"type": "string"}, password={"type": "string"}),
    "FirstAnalyst": _object(
        ["setup", "name", "password"],
        setup={"type": "string"},
        name={"type": "string"},
        password={"type": "string"},
    ),
    "InvitationCount": _object(["count"], count={"type": "integer", "minimum": 1, "maximum": MAX_INVITATIONS}),
    "AdviceRequest": _object(
        ["survey"],
        survey={"type": "object"},
        epsilon={"type": ["number", "null"]},
        margin={"type": ["number", "null"]},
    ),
}


def _route(
    about: str,
    *statuses: int,
    body: str | None = None,
    session: bool = False,
    wave: bool = False,
    survey: bool = True,
    media: str = "application/json",
) -> Fields:
    """One operation: what it answers when all is well, and the refusals that any of them may answer."""
    good: Fields = {"schema": {"$ref": "#/components/schemas/Ok"}} if media == "application/json" else {"schema": {}}
    answers: Fields = {str(status): {"description": "done", "content": {media: good}} for status in statuses}
    answers["default"] = {
        "description": "refused",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    out: Fields = {"summary": about, "responses": answers}
    if survey:
        out["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    if wave:
        parameter = {"name": "wave", "in": "query", "schema": {"type": "integer", "minimum": 1}}
        out["parameters"] = [*out.get("parameters", []), parameter]
    if body is not None:
        schema = {"$ref": f"#/components/schemas/{body}"}
        out["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    if session:
        out["security"] = SESSION
    return out


ONE = "/api/surveys/{id}"
PATHS: Fields = {
    ONE: {
        "get": _route("A survey that is open, closed or published: texts, questions, the digest of its plan.", 200),
        "put": _route("Change a draft.", 200, body="Survey", session=True),
        "delete": _route("Remove a draft.", 200, session=True),
    },
    f"{ONE}/plan": {"get": _route("The plan, exactly the text whose digest links carry.", 200, media="text/plain")},
    f"{ONE}/link": {"post": _route("Whether a one-time link has sent its report.", 200, body="Token")},
    f"{ONE}/coins": {
        "post": _route("Register a token: its public coins, and the token to send the report with.", 200, body="Token")
    },
    f"{ONE}/reports": {
        "post": _route("Send one report; answered when it is on the disk.", 201, 200, body="SentReport")
    },
    f"{ONE}/batches": {"post": _route("Send many reports; only refusals are listed.", 200, body="SentBatch")},
    f"{ONE}/results": {"get": _route("Estimates with intervals, once published.", 200, wave=True)},
    f"{ONE}/open": {"post": _route("Open a draft: from then on it never changes.", 200, session=True)},
    f"{ONE}/close": {"post": _route("Take no more reports.", 200, session=True)},
    f"{ONE}/publish": {"post": _route("Show the results of a closed survey to everybody.", 200, session=True)},
    f"{ONE}/next-wave": {"post": _route("Ask the next wave.", 200, session=True)},
    f"{ONE}/invitations": {"post": _route("One-time links, shown once.", 201, body="InvitationCount", session=True)},
    f"{ONE}/forgeries": {"get": _route("Tests for forged reports.", 200, session=True, wave=True)},
    "/api/surveys": {
        "get": _route("The surveys of the analyst.", 200, session=True, survey=False),
        "post": _route("A new draft.", 201, body="Survey", session=True, survey=False),
    },
    "/api/advice": {
        "post": _route(
            "What an epsilon or a margin costs; or `refused`, while it cannot be said.",
            200,
            body="AdviceRequest",
            session=True,
            survey=False,
        )
    },
    "/api/session": {
        "post": _route("Sign in: sets the cookie of a session.", 200, body="SignIn", survey=False),
        "delete": _route("Sign out.", 200, session=True, survey=False),
    },
    "/api/first-analyst": {"post": _route("The first account.", 200, body="FirstAnalyst", survey=False)},
    "/health": {"get": _route("Whether reports can be stored.", 200, survey=False)},
    "/metrics": {"get": _route("Counters, for those who run the service.", 200, survey=False, media="text/plain")},
    "/openapi.json": {"get": _route("This document.", 200, survey=False, media="application/json")},
}
PATHS[f"{ONE}/plan"]["get"]["responses"]["200"] = {
    "description": "the plan",
    "content": {"application/json": {"schema": {"type": "object"}}},
}
PATHS["/openapi.json"]["get"]["responses"]["200"] = {
    "description": "this document",
    "content": {"application/json": {"schema": {"type": "object"}}},
}
for _ending in ("parquet", "csv", "csv-metadata.json", "json"):
    PATHS[f"{ONE}/export.{_ending}"] = {
        "get": _route("The reports, in no order.", 200, session=True, wave=True, media="application/octet-stream")
    }


def openapi_document(base: str, session_cookie: str = "murmure_session") -> str:
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Murmure collector",
            "version": __version__,
            "description": "Answers are randomised in the respondent's browser; only reports arrive here.",
        },
        "servers": [{"url": base}],
        "paths": PATHS,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": session_cookie},
                "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token"},
            },
        },
    }
    return json.dumps(document, ensure_ascii=False)
