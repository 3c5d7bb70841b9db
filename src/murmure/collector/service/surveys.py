"""Surveys as they are stored: draft, open, closed, published. An open survey never changes; only its wave goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from murmure.collector.service.analysts import hour_of
from murmure.collector.service.database import CollectorFile
from murmure.collector.service.errors import RequestRefused
from murmure.collector.survey.survey import Survey, read_survey
from murmure.core.errors import Phrase
from murmure.core.random import fresh_key
from murmure.plan.plan import Plan

State = Literal["draft", "open", "closed", "published"]
ID_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"  # 32, none of which is taken for another
ID_LENGTH = 12
SURVEY_COLUMNS = (
    '"number", "id", "owner", "state", "wave", "document", "plan", "invitations", "coins", "opened", "closed"'
)
MAX_SURVEYS = 10_000  # of one analyst
STATE_NAMES = {
    "draft": Phrase("draft"),
    "open": Phrase("open"),
    "closed": Phrase("closed"),
    "published": Phrase("published"),
}


@dataclass(frozen=True)
class SurveyRecord:
    number: int
    id: str
    owner: int
    state: State
    wave: int
    document: str
    plan_text: str | None
    invitations: int
    coins: int
    opened: int | None
    closed: int | None

    @cached_property
    def survey(self) -> Survey:
        return read_survey(json.loads(self.document))

    @cached_property
    def plan(self) -> Plan:
        """That of the moment at which it was opened; of a draft, the one that it would have now."""
        return self.survey.plan if self.plan_text is None else Plan.from_json(self.plan_text)


class StoredSurveys:
    """All surveys of one folder. Each method is one transaction, and durable when it returns."""

    def __init__(self, database: CollectorFile, clock: Callable[[], float]) -> None:
        self._database, self._clock = database, clock

    def find(self, survey_id: str) -> SurveyRecord | None:
        with self._database.reading() as run:
            rows = run(f'SELECT {SURVEY_COLUMNS} FROM "surveys" WHERE "id" = ?', survey_id)
        return SurveyRecord(*rows[0]) if rows else None

    def numbered(self, number: int) -> SurveyRecord | None:
        with self._database.reading() as run:
            rows = run(f'SELECT {SURVEY_COLUMNS} FROM "surveys" WHERE "number" = ?', number)
        return SurveyRecord(*rows[0]) if rows else None

    def of_owner(self, owner: int) -> list[SurveyRecord]:
        with self._database.reading() as run:
            rows = run(f'SELECT {SURVEY_COLUMNS} FROM "surveys" WHERE "owner" = ? ORDER BY "number" DESC', owner)
        return [SurveyRecord(*row) for row in rows]

    def create(self, owner: int, document: Any) -> SurveyRecord:
        text = _text(Survey.from_dict(document))
        with self._database.writing() as run:
            ((count,),) = run('SELECT count(*) FROM "surveys" WHERE "owner" = ?', owner)
            if count >= MAX_SURVEYS:
                raise RequestRefused("state", "an account can have at most {n:,} surveys.", n=MAX_SURVEYS)
            survey_id = new_id()
            run(
                'INSERT INTO "surveys" ("id", "owner", "state", "wave", "document", "invitations", "coins") '
                "VALUES (?, ?, 'draft', 1, ?, 0, 0)",
                survey_id,
                owner,
                text,
            )
            rows = run(f'SELECT {SURVEY_COLUMNS} FROM "surveys" WHERE "id" = ?', survey_id)
        return SurveyRecord(*rows[0])

    def change(self, record: SurveyRecord, document: Any) -> SurveyRecord:
        text = _text(Survey.from_dict(document))
        return self._update(record, ("draft",), '"document" = ?', text)

    def remove(self, record: SurveyRecord) -> None:
        with self._database.writing() as run:
            self._check_state(run, record, ("draft",))
            run('DELETE FROM "surveys" WHERE "number" = ?', record.number)

    def open(self, record: SurveyRecord) -> SurveyRecord:
        """From now on texts, questions and plan are fixed: those of this record, if the draft is still the same."""
        plan = record.survey.plan.to_json()
        change = '"state" = \'open\', "plan" = ?, "opened" = ?'
        return self._update(record, ("draft",), change, plan, hour_of(self._clock()))

    def close(self, record: SurveyRecord) -> SurveyRecord:
        return self._update(record, ("open",), '"state" = \'closed\', "closed" = ?', hour_of(self._clock()))

    def publish(self, record: SurveyRecord) -> SurveyRecord:
        return self._update(record, ("closed",), "\"state\" = 'published'")

    def next_wave(self, record: SurveyRecord) -> SurveyRecord:
        if record.wave >= record.survey.waves:
            raise RequestRefused("state", "this survey has {waves} waves, and this is the last.", waves=record.wave)
        return self._update(record, ("open",), '"wave" = ?', record.wave + 1)

    def count_invitations(self, record: SurveyRecord, count: int) -> SurveyRecord:
        return self._update(record, ("open",), '"invitations" = "invitations" + ?', count)

    def _update(self, record: SurveyRecord, states: tuple[str, ...], change: str, *values: Any) -> SurveyRecord:
        with self._database.writing() as run:
            self._check_state(run, record, states)
            run(f'UPDATE "surveys" SET {change} WHERE "number" = ?', *values, record.number)
            rows = run(f'SELECT {SURVEY_COLUMNS} FROM "surveys" WHERE "number" = ?', record.number)
        return SurveyRecord(*rows[0])

    def _check_state(self, run: Any, record: SurveyRecord, states: tuple[str, ...]) -> None:
        rows = run('SELECT "state", "wave", "document" FROM "surveys" WHERE "number" = ?', record.number)
        if rows and rows[0][:2] == (record.state, record.wave) and rows[0][2] != record.document:
            raise RequestRefused(
                "state", "this draft was changed in the meantime, and nothing was done.", hint="look at it again"
            )
        if not rows or rows[0][:2] != (record.state, record.wave) or record.state not in states:
            state = STATE_NAMES[rows[0][0] if rows else record.state]
            raise RequestRefused("state", "this is not possible while the survey is {state}.", state=state)

    # -- counters

    def add_counts(self, refusals: dict[tuple[int, str], int], coins: dict[int, int]) -> None:
        with self._database.writing() as run:
            for (survey, reason), count in refusals.items():
                run(
                    'INSERT INTO "refusals" VALUES (?, ?, ?) ON CONFLICT ("survey", "reason") '
                    'DO UPDATE SET "count" = "count" + excluded."count"',
                    survey,
                    reason,
                    count,
                )
            for survey, count in coins.items():
                run('UPDATE "surveys" SET "coins" = "coins" + ? WHERE "number" = ?', count, survey)

    def refusals(self, number: int) -> dict[str, int]:
        with self._database.reading() as run:
            return dict(run('SELECT "reason", "count" FROM "refusals" WHERE "survey" = ?', number))


def new_id() -> str:
    return "".join(ID_LETTERS[byte & 31] for byte in fresh_key()[:ID_LENGTH])


def _text(survey: Survey) -> str:
    return json.dumps(survey.to_dict(), ensure_ascii=False, sort_keys=True)
