"""Everything that a survey service does, in one object: HTTP routes, commands and tests call it.

A folder holds all of it: `collector.db` (surveys, analysts), `service.key`, and the intake's log and reports. One
process serves a folder at a time; the intake holds the lock.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from murmure.collector.intake.arrival import Arrival
from murmure.collector.intake.errors import IntakeFailed
from murmure.collector.intake.intake import Intake
from murmure.collector.intake.report_file import ReportFile
from murmure.collector.intake.writer import Done
from murmure.collector.service.analysts import Analyst, Analysts
from murmure.collector.service.database import DATABASE_FILE, CollectorFile
from murmure.collector.service.errors import CollectorFailed, RequestRefused
from murmure.collector.service.keys import ServiceKey, make_key, read_key
from murmure.collector.service.links import SurveyTokens
from murmure.collector.service.reception import Reception
from murmure.collector.service.results import SurveyResults
from murmure.collector.service.surveys import StoredSurveys, SurveyRecord
from murmure.core.errors import MurmureError
from murmure.core.files import cannot_write
from murmure.core.types import Ints, Total
from murmure.plan.plan import Plan
from murmure.plan.reports import Reports
from murmure.plan.sent_reports import parse_reports

MAX_INVITATIONS = 100_000  # at a time
EXPORT_PREFIX = ".export-"  # of folders in which exports are made
COUNTERS_SECONDS = 5.0  # how often counters are written; a kill loses at most these
_decode = msgspec.json.Decoder().decode


class Collector:
    """The service of one folder. `with Collector(folder) as collector: ...`"""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.folder = Path(folder)
        database, self._key = open_database(self.folder, make=True)
        self.analysts = Analysts(database, self._key, clock)
        self.surveys = StoredSurveys(database, clock)
        self._lock = threading.Lock()
        self._receptions: dict[str, Reception] = {}
        self._plans: dict[int, Plan] = {}
        self._refused: Counter[tuple[int, str]] = Counter()
        self._refused_in_all: Counter[tuple[int, str]] = Counter()
        self._coins: Counter[int] = Counter()
        self._counts_lock = threading.Lock()
        self._numbers: dict[str, int] = {}  # of surveys that are or were open, by id
        self.stored = self.failures = 0  # reports, and errors of ours, since the start
        self._results: dict[tuple[int, int], tuple[int, str, SurveyResults]] = {}
        self.intake = Intake(self.folder, self._tally, clock)  # from here on the folder is ours alone
        try:
            self._check_surveys()
        except BaseException:
            self.intake.close()
            raise
        for unfinished in self.folder.glob(f"{EXPORT_PREFIX}*"):  # of a process that was killed
            shutil.rmtree(unfinished, ignore_errors=True)
        self._stop = threading.Event()
        self._counting = threading.Thread(target=self._write_counters, name="counters", daemon=True)
        self._counting.start()

    def close(self) -> None:
        """Everything acknowledged is on the disk already; this folds it and writes the counters."""
        self._stop.set()
        self._counting.join()
        self.intake.close()
        self._flush_counters()

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- respondents

    def public(self, survey_id: str) -> SurveyRecord:
        """A survey that respondents may see: a draft is nobody's but its author's."""
        record = self.surveys.find(survey_id)
        if record is None or record.state == "draft":
            raise RequestRefused("not-found", "there is no such survey.", hint="is the address complete?")
        return record

    def reception(self, survey_id: str) -> Reception:
        """The checks of an open survey."""
        found = self._receptions.get(survey_id)
        if found is not None:
            return found
        with self._lock:  # against a survey that is closed between the look and the entry
            record = self.public(survey_id)
            self._numbers[survey_id] = record.number
            if record.state != "open":
                raise _closed()
            return self._receptions.setdefault(survey_id, Reception(record, self._key))

    def store(self, reception: Reception, arrivals: Sequence[Arrival], done: Done) -> None:
        """Hand checked reports to the intake, unless the survey or its wave was closed since they were checked."""
        with reception.lock:
            if not reception.closed:
                self.intake.submit(arrivals, done)
                return
        self.reception(reception.record.id).check_plan(reception.digest, reception.wave)
        raise _closed()

    def coins(self, survey_id: str, token: Any) -> tuple[str, list[str]]:
        """Register a token: what may send the report, and its public coins."""
        reception = self.reception(survey_id)
        signed, words, is_new = reception.register(token)
        if is_new:
            with self._counts_lock:
                self._coins[reception.number] += 1
        return signed, words

    def coins_given(self, record: SurveyRecord) -> int:
        """How many tokens were registered for coins; a record of the database lags behind by some seconds."""
        return record.coins + self._coins[record.number]

    def link_used(self, survey_id: str, token: Any) -> bool:
        """Whether a one-time link has sent its report: then nobody should be asked, or draw, once more."""
        return self.intake.knows(self.reception(survey_id).link_digest(token))

    def count_refusal(self, survey_id: str, code: str, count: int = 1) -> None:
        """Count a refusal; one about a survey that does not exist is counted too, under number 0."""
        with self._counts_lock:
            self._refused[self._numbers.get(survey_id, 0), code] += count

    # -- analysts

    def owned(self, analyst: Analyst | None, survey_id: str) -> SurveyRecord:
        """A survey of this analyst. Those of others and those that do not exist are refused in the same words."""
        if analyst is None:
            raise RequestRefused("sign-in", "sign in first.")
        record = self.surveys.find(survey_id)
        if record is None or record.owner != analyst.number:
            raise RequestRefused("forbidden", "there is no survey of yours at this address.")
        return record

    def open(self, record: SurveyRecord) -> SurveyRecord:
        return self.surveys.open(record)

    def close_survey(self, record: SurveyRecord) -> SurveyRecord:
        """No report is accepted from now on, and all that were acknowledged are counted."""
        with self._lock:
            closed = self.surveys.close(record)
            self._forget(record.id)
        self._wait_for_writer()
        self.intake.flush()
        return closed

    def next_wave(self, record: SurveyRecord) -> SurveyRecord:
        with self._lock:
            moved = self.surveys.next_wave(record)
            self._forget(record.id)
        return moved

    def _forget(self, survey_id: str) -> None:
        reception = self._receptions.pop(survey_id, None)
        if reception is not None:
            with reception.lock:
                reception.closed = True

    def _wait_for_writer(self) -> None:
        """Until everything that was submitted has its outcome."""
        written = threading.Event()
        with suppress(IntakeFailed):
            self.intake.submit([], lambda outcomes: written.set())
            written.wait()

    def invitations(self, record: SurveyRecord, count: int) -> list[str]:
        """Tokens of new one-time links. They are not stored, and so are shown once."""
        if record.survey.link != "invitations":
            raise RequestRefused("state", "this survey has an open link, and no invitations.")
        if not 1 <= count <= MAX_INVITATIONS:
            raise RequestRefused("bad-request", "ask for 1 to {n:,} invitations at a time.", n=MAX_INVITATIONS)
        self.surveys.count_invitations(record, count)
        tokens = SurveyTokens(self._key, record.id)
        return [tokens.new() for _ in range(count)]

    # -- results

    def results(self, record: SurveyRecord, wave: int | None = None) -> SurveyResults:
        """What the reports so far say; computed anew only when there are more."""
        wave = wave or record.wave
        n, total, version = self.intake.tally_of(record.number, wave)
        if record.state == "draft":  # it may change, and has no reports
            return SurveyResults(record, record.plan, wave, None)
        cached = self._results.get((record.number, wave))
        plan = self.plan_of(record)
        gives_coins = plan.coins == "collector" and record.survey.link == "open"
        registered = self.coins_given(record) if gives_coins else None
        if cached is not None:
            known = cached[2]
            if (*cached[:2], known.record.wave, known.registered) == (version, record.state, record.wave, registered):
                return known
        made = SurveyResults(record, plan, wave, Total(n, total) if total is not None and n else None, registered)
        self._results[record.number, wave] = (version, record.state, made)
        return made

    def version(self, record: SurveyRecord, wave: int | None = None) -> int:
        """Changes when there are more reports."""
        return self.intake.tally_of(record.number, wave or record.wave)[2]

    def refusals(self, record: SurveyRecord) -> dict[str, int]:
        """How many reports were refused, by reason."""
        stored = Counter(self.surveys.refusals(record.number))
        with self._counts_lock:
            waiting = Counter(self._refused)
        for (number, reason), count in waiting.items():
            if number == record.number:
                stored[reason] += count
        return dict(stored)

    def blocks(self, record: SurveyRecord, wave: int | None = None) -> Iterator[Reports]:
        """The stored reports, some thousands at a time."""
        if record.state == "draft":
            return
        plan = self._plan(record.number)
        for block in self.intake.reports(record.number, wave):
            yield parse_reports(plan, decode_reports(block))

    # -- tallies

    def plan_of(self, record: SurveyRecord) -> Plan:
        """Of a survey that was opened it is kept: reading it anew takes long, and anybody may ask for the page."""
        return record.plan if record.state == "draft" else self._plan(record.number)

    def _plan(self, number: int) -> Plan:
        """Of a survey that was opened, so it never changes."""
        if number not in self._plans:
            record = self.surveys.numbered(number)
            if record is None or record.state == "draft":
                raise _other_surveys(number)
            self._plans[number] = record.plan
        return self._plans[number]

    def _check_surveys(self) -> None:
        """Refuse reports of surveys that the database does not have, or has not opened: the number of a survey would
        be given again, and its reports counted for another one. So it is when an older copy of one file is put back."""
        with ReportFile(self.folder).reading() as run:
            places = run('SELECT "survey", max("wave") FROM "tallies" GROUP BY "survey"')
        for number, wave in places:
            record = self.surveys.numbered(number)
            if record is None or record.state == "draft" or wave > record.wave:
                raise _other_surveys(number)

    def _tally(self, number: int, reports: list[bytes]) -> tuple[int, Ints]:
        plan = self._plan(number)
        total = plan.tally(parse_reports(plan, decode_reports(reports)))
        return total.n, np.asarray(total.sum, np.int64)

    # -- counters

    def _write_counters(self) -> None:
        while not self._stop.wait(COUNTERS_SECONDS):
            with suppress(MurmureError):  # a full disk: they are written the next time
                self._flush_counters()

    def refused_now(self) -> Counter[tuple[int, str]]:
        """Refusals by survey and reason since the start of the process."""
        with self._counts_lock:
            return self._refused_in_all + self._refused

    def _flush_counters(self) -> None:
        with self._counts_lock:
            refused, coins = Counter(self._refused), Counter(self._coins)
        if not refused and not coins:
            return
        self.surveys.add_counts(refused, coins)
        with self._counts_lock:  # requests go on counting meanwhile
            self._refused_in_all += refused
            self._refused -= refused
            self._coins -= coins


def _closed() -> RequestRefused:
    return RequestRefused("not-open", "this survey is closed: no more reports are taken.")


def decode_reports(block: list[bytes]) -> list[Any]:
    """Many reports by one call."""
    values: list[Any] = _decode(b"[" + b",".join(block) + b"]")
    return values


def _other_surveys(number: int) -> CollectorFailed:
    return CollectorFailed(
        "there are reports of survey {number}, which is not open in the database.",
        hint="the files of this folder do not match: restore all of them from the same backup",
        number=number,
    )


def open_database(folder: Path, make: bool = False) -> tuple[CollectorFile, ServiceKey]:
    """The file of surveys and analysts with its key; in a new folder both are made, if wanted."""
    if make and not (folder / DATABASE_FILE).exists():
        _make_folder(folder)
    key, database = read_key(folder), CollectorFile(folder)
    database.check(key)
    return database, key


def _make_folder(folder: Path) -> None:
    """A new folder gets its key and its tables; the key first, since a database without it is refused. A folder that
    exists keeps its permissions: each file of ours is for its owner alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):  # another process makes it at the same time
            make_key(folder)
    except OSError as error:
        raise cannot_write(folder, error) from None
    CollectorFile(folder).make(read_key(folder))
