"""The detection tests on stored reports: those of `detect_forgeries`, on a bounded number of reports of one wave."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.collector.documents import CHEATED, SURVEYS, document, opened, sent_report
from tests.collector.service.test_collector import store
from tests.run.tables.question_plans import PLANS, reports

import murmure as mu
from murmure.attacks import detect_forgeries
from murmure.attacks.person.forgery import detection
from murmure.collector.service import forgeries
from murmure.collector.service.collector import Collector
from murmure.collector.service.errors import RequestRefused
from murmure.collector.service.forgeries import survey_forgeries
from murmure.collector.service.report_rows import ReportRows
from murmure.plan.reports import Reports
from murmure.show.language import Language

MANY = mu.Categories(64)
OUE = mu.Plan(mu.Histogram(MANY), person=mu.OUE(MANY, epsilon=1.0))
BLOCK = 70


def stored(plan: Any, made: Reports) -> tuple[Any, Any]:
    """A collector that has these reports of wave 2, and none of other waves; and the record of its survey."""

    def blocks(record: Any, wave: int) -> Iterator[Reports]:
        layout = ReportRows(made)
        rows = layout.pack(made) if wave == 2 else layout.pack(made)[:0]
        for start in range(0, len(rows), BLOCK):
            yield layout.unpack(rows[start : start + BLOCK])

    def tally_of(number: int, wave: int) -> tuple[int, Any, int]:
        return (len(made) if wave == 2 else 0), None, 1

    collector = SimpleNamespace(blocks=blocks, intake=SimpleNamespace(tally_of=tally_of))
    return collector, SimpleNamespace(plan=plan, number=1, wave=2, survey=SimpleNamespace(questions=()))


def shown(check: Any) -> list[tuple[str, str, str, float]]:
    return [(str(t.name), str(t.saw), t.column, t.p_value) for t in check.tests]


def test_one_report_and_one_test_are_spoken_of_as_one() -> None:
    question = mu.Categories(["no", "yes"])
    plan = mu.Plan(mu.Histogram(question), person=mu.GRR(question, epsilon=1.0))
    one, many = (detect_forgeries(plan, reports(plan, n)).sentence() for n in (1, 30))

    assert "in this report " in one and "(1 test, at level 0.01)" in one
    assert "in these 30 reports " in many and "(1 test, at level 0.01)" in many


@pytest.mark.parametrize("name", PLANS)
def test_they_are_the_tests_of_the_attacks(name: str) -> None:
    plan = PLANS[name]
    made = reports(plan, 300)

    check, wanted = survey_forgeries(*stored(plan, made)), detect_forgeries(plan, made)

    assert shown(check) == shown(wanted)
    assert (check.reports, check.stored, check.level) == (300, 300, 0.01)
    assert np.array_equal(check.refused, wanted.refused) and check.sentence() == wanted.sentence()


def with_forged(n: int, places: slice) -> Reports:
    made = reports(OUE, n)
    made.data[places] = 2**64 - 1  # supports every value
    return made


def test_forged_reports_are_noticed_and_honest_ones_are_not() -> None:
    assert not survey_forgeries(*stored(OUE, reports(OUE, 2000))).noticed

    check = survey_forgeries(*stored(OUE, with_forged(2000, slice(100, 120))))

    assert check.noticed and check.refused.sum() == 20


def test_of_many_reports_evenly_spread_ones_are_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgeries, "MAX_TESTED", 100)
    tested: list[Any] = []

    def kept(plan: Any, made: Any, level: float) -> Any:
        tested.append(made.data)
        return detect_forgeries(plan, made, level)

    monkeypatch.setattr(forgeries, "detect_forgeries", kept)
    for n, step in ((100, 1), (101, 2), (1000, 10), (1050, 11)):
        made = reports(OUE, n)
        check = survey_forgeries(*stored(OUE, made))

        assert np.array_equal(tested[-1], made.data[::step]) and len(tested[-1]) <= 100
        assert (check.reports, check.stored) == (len(tested[-1]), n)
        assert check.to_dict()["stored"] == n
        words = f"{check.reports} of the {n:,} reports were tested"
        assert (words in str(check.sentence())) == (words in str(check.document())) == (step > 1)


def test_forgeries_at_the_end_of_a_survey_are_noticed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first reports alone would not show them."""
    monkeypatch.setattr(forgeries, "MAX_TESTED", 500)
    made = with_forged(5000, slice(4500, 5000))

    assert survey_forgeries(*stored(OUE, made)).noticed
    assert not detect_forgeries(OUE, made.data[:500]).noticed


def test_long_reports_are_bounded_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgeries, "MAX_BYTES", 800)  # 100 reports of 8 bytes

    assert survey_forgeries(*stored(OUE, reports(OUE, 1000))).reports == 100


def test_more_reports_than_were_counted_stay_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some may be folded between the count and the reading."""
    monkeypatch.setattr(forgeries, "MAX_TESTED", 100)
    collector, record = stored(OUE, reports(OUE, 1000))
    collector.intake.tally_of = lambda number, wave: (150, None, 1)

    check = survey_forgeries(collector, record)

    assert (check.reports, check.stored) == (100, 1000)


def test_one_wave_at_a_time() -> None:
    collector, record = stored(OUE, reports(OUE, 100))

    assert survey_forgeries(collector, record, 2).reports == survey_forgeries(collector, record).reports == 100
    with pytest.raises(RequestRefused, match="no reports to test yet"):
        survey_forgeries(collector, record, 1)


@pytest.mark.parametrize("name", SURVEYS)
def test_stored_reports_of_a_survey(name: str, tmp_path: Path) -> None:
    """Twenty honest reports of each kind raise no alarm; tokens are random, so this fails once in 1e6 times at most."""
    survey, answer = SURVEYS[name]
    with Collector(tmp_path) as collector:
        record = opened(collector, survey)
        with pytest.raises(RequestRefused):
            survey_forgeries(collector, record)
        rng = mu.Random.seeded(1)
        store(collector, record, *(sent_report(collector, record, answer, rng) for _ in range(20)))
        collector.intake.flush()

        check = survey_forgeries(collector, record, level=1e-6)

    assert check.reports == check.stored == 20 and not check.noticed
    assert bool(check.tests) == (name != "number")
    assert ("There is no test" in str(check.sentence())) == (name == "number")


def test_forged_reports_that_pass_the_door_are_noticed(tmp_path: Path) -> None:
    """Each is a report of the law, so it was stored: all ones, from many tokens."""
    options = [f"v{i}" for i in range(30)]
    question = {"name": "which", "kind": "choice", "text": {"en": "Which?"}, "options": options}
    with Collector(tmp_path) as collector:
        record = opened(collector, document(question, mechanism="OUE"))
        honest = [sent_report(collector, record, "v3") for _ in range(100)]
        forged = [sent_report(collector, record, "v3") | {"report": "ffffff3f"} for _ in range(10)]
        store(collector, record, *honest, *forged)
        collector.intake.flush()

        check = survey_forgeries(collector, record)

    assert check.noticed and check.refused.sum() == 10 and check.reports == 110


def test_what_a_test_saw_names_the_answer_as_people_read_it(tmp_path: Path) -> None:
    with Collector(tmp_path) as collector:
        record = opened(collector, document(CHEATED))
        for _ in range(20):
            store(collector, record, sent_report(collector, record, "yes"))
        collector.intake.flush()  # tests read what is folded
        check = survey_forgeries(collector, record)
    (word,), (test,) = check.in_words(Language("fr").say)["words"], check.to_dict()["tests"]

    assert re.search("«\u202f(Oui|Non)\u202f»", word["saw"])
    assert re.search("'(yes|no)'", test["saw"])  # for machines, as it is counted


def test_one_report_supports_and_several_support() -> None:
    """A sentence about how many reports support an answer keeps its number when the answer's label is put in."""
    randomiser, saw = mu.GRR(mu.Categories(["no", "yes", "both"]), 1.0), {}
    for count in (1, 2):
        tally = np.array([count, 20, 20 - count])
        reports = np.repeat([0, 1, 2], tally)
        (test,) = (t for t in detection.tests_of(randomiser, reports, tally) if "no answers explain" in t.name)
        saw[count] = Language("fr").say(test.saw.with_fields(value="Oui"))

    assert saw[1].startswith("1 réponse soutient «\u202fOui\u202f»")
    assert saw[2].startswith("2 réponses soutiennent «\u202fOui\u202f»")
