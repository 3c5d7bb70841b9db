"""What the results of a survey say about themselves: bounds that hold, and names that are the right ones."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.collector.documents import CHEATED, HOURS, OFTEN, document, opened
from tests.collector.pages.analyst_surveys import honest_reports

import murmure as mu
from murmure.certify.leverage import leverage
from murmure.collector.service.builder_advice import builder_advice
from murmure.collector.service.collector import Collector
from murmure.collector.service.results import SurveyResults
from murmure.collector.service.results_sections import expected_margins, forged_section, odds_text
from murmure.collector.service.short_numbers import bound
from murmure.collector.survey.survey import Survey
from murmure.show.document import Facts, Intervals, Section, Table
from murmure.show.language import Language

K5 = mu.Categories(5)


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    with Collector(tmp_path / "collector") as made:
        yield made


def section_of(results: SurveyResults, title: str) -> Section:
    (found,) = [b for b in results.document().blocks if isinstance(b, Section) and str(b.title) == title]
    return found


def table_of(results: SurveyResults, title: str) -> Table:
    (table,) = [block for block in section_of(results, title).blocks if isinstance(block, Table)]
    return table


def texts_of(section: Section) -> str:
    return " ".join(str(getattr(block, "text", "")) for block in section.blocks)


@pytest.mark.parametrize("mechanism", [mu.GRR(K5, 1.0), mu.OUE(K5, 1.0), mu.HadamardResponse(K5, 1.0), mu.OLH(K5, 1.0)])
def test_no_forged_report_moves_a_share_further_than_its_bias(mechanism: Any) -> None:
    """Whatever honest people hold: one forged report in place of an honest one, from 0 up and from 1 down."""
    one = leverage(mechanism)
    shares = np.linspace(0, 1, 11)
    moved = [abs(end - share) for end in (one.up.max(), one.down.min()) for share in shares]

    assert max(moved) == pytest.approx(one.bias)
    assert one.bias >= one.largest


def test_where_silence_says_more_than_support_the_bias_exceeds_the_leverage() -> None:
    """Hadamard response: half of all reports support any value, and one that does not moves it further down."""
    one = leverage(mu.HadamardResponse(K5, 1.0))

    assert one.bias == pytest.approx(one.largest + 1)


def test_the_builder_and_the_results_tell_the_same_bias(collector: Collector) -> None:
    asked = document(OFTEN, mechanism="HadamardResponse")
    record = opened(collector, asked)
    honest_reports(collector, record, ["never", "once"], 100)
    table = table_of(collector.results(record), "What forged answers could do")
    told = builder_advice(asked, epsilon=1.0)["questions"]["often"]["forged_1_percent"]

    assert str(table.rows[0][2]) == f"± {bound(told)} points"
    assert told == pytest.approx(leverage(record.plan.person).bias)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("n", [200, 500, 700])
def test_what_forged_reports_could_do_is_never_rounded_down(epsilon: float, n: int) -> None:
    """1.58198 people are not "up to 1.58", nor are 7.91 points "at most 7.9"."""
    asked = Survey.from_dict(document(CHEATED, epsilon=epsilon))
    one = asked.plan.leverage()[""]
    section = forged_section(asked.questions, asked.plan, n, None)
    (table,) = [block for block in section.blocks if isinstance(block, Table)]
    _, people, *moved = [str(cell) for cell in table.rows[0]]

    assert one.largest <= float(people.split()[0]) < 1.01 * one.largest
    for cell, head in zip(moved, table.head[2:], strict=True):
        forged, said = int(str(head).split()[0]), float(cell.split()[1])
        assert 100 * one.bias * forged / n - 1e-9 <= said < 110 * one.bias * forged / n


def test_numbers_of_a_large_range_are_said_in_full(collector: Collector) -> None:
    """Pay of 0 to 5,000 euros: not ± 9.3e+02."""
    euros = {"en": "euros", "fr": "euros"}
    pay = {"name": "pay", "kind": "number", "text": {"en": "Pay?"}, "low": 0, "high": 5000, "step": 1, "unit": euros}
    record = opened(collector, document(pay))
    honest_reports(collector, record, [1000, 2500], 60)
    results = collector.results(record)
    tables = [table_of(results, title) for title in ("How the intervals will shrink", "What forged answers could do")]
    cells = [str(cell) for table in tables for row in table.rows for cell in row]

    assert sum("euros" in cell for cell in cells) > 3 and not any("e+" in cell for cell in cells)


def test_intervals_are_expected_to_shrink_from_the_estimated_variance(collector: Collector) -> None:
    """1.96 standard errors of the widest figure, not half of an interval that was cut at 0 and 100%."""
    record = opened(collector, document(CHEATED))
    honest_reports(collector, record, ["yes", "no"], 400)
    results = collector.results(record)
    assert results.release is not None
    (half,) = expected_margins(record.survey.questions, results.release).values()
    table = table_of(results, "How the intervals will shrink")
    expected = [f"± {100 * half / math.sqrt(factor):.2g} points" for factor in (2, 4, 10)]

    assert half == pytest.approx(1.959964 * math.sqrt(results.release.estimate.variance().max()), rel=1e-5)
    assert [str(head) for head in table.head[1:]] == ["800 answers", "1,600 answers", "4,000 answers"]
    assert [str(cell) for cell in table.rows[0][1:]] == expected


def test_one_report_says_nothing_yet(collector: Collector) -> None:
    record = opened(collector, document(CHEATED, epsilon=0.5))
    honest_reports(collector, record, ["yes"], 1)
    table = table_of(collector.results(record), "How the intervals will shrink")

    assert str(table.rows[0][1]) == "says nothing yet"


@pytest.mark.parametrize("questions", [[CHEATED], [OFTEN], [OFTEN, CHEATED]])
def test_the_guarantee_names_answers_as_people_read_them(collector: Collector, questions: list[Any]) -> None:
    """Not by the values that are counted, which are English, or numbers."""
    answers = {"often": "once", "cheated": "yes"}
    answer = answers if len(questions) > 1 else answers[questions[0]["name"]]
    record = opened(collector, document(*questions, mechanism="smp" if len(questions) > 1 else None))
    honest_reports(collector, record, [answer], 5)
    blocks = section_of(collector.results(record), "What is guaranteed").blocks
    cells = [Language("fr").say(row[2]) for block in blocks if isinstance(block, Table) for row in block.rows]
    quoted = {answer for cell in cells for answer in re.findall("«\u202f(.*?)\u202f»", cell)}
    asked = {question["text"]["fr"].replace(" ?", "\u202f?") for question in questions if len(questions) > 1}

    assert quoted and quoted <= {"Oui", "Non", "Jamais", "Une fois", "Souvent", *asked}
    assert not any(question["name"] in cell for question in questions for cell in cells)


def test_the_guarantee_names_numbers_that_can_be_typed(collector: Collector) -> None:
    """And not the middle of a cell of the grid, with an English decimal point: « 0.00146484 »."""
    slept = {**HOURS, "high": 12, "step": 0.1, "unit": {"en": "hours", "fr": "heures"}}
    record = opened(collector, document(slept))
    honest_reports(collector, record, [7.5], 5)
    (cell,) = [str(row[2]) for row in table_of(collector.results(record), "What is guaranteed").rows]
    numbers = {float(number) for number in re.findall(r"([0-9.]+) hours", cell)}

    assert numbers == {0.0, 12.0} and "“" not in cell


def test_a_question_without_a_figure_is_named_as_it_was_asked(collector: Collector) -> None:
    record = opened(collector, document(CHEATED, OFTEN, HOURS, epsilon=1.0, mechanism="smp"))
    honest_reports(collector, record, [{"cheated": "yes", "often": "once", "hours": 3}], 1)
    told = texts_of(section_of(collector.results(record), "What the crowd says"))
    asked = ("Have you ever cheated?", "How often?", "Hours a week?")

    assert sum(f"“{text}”: no figure" in told for text in asked) == 2
    assert not re.search("(cheated|often|hours): no figure", told)


def test_the_guarantee_of_waves_is_that_of_all_of_them(collector: Collector) -> None:
    """A reader of the page must not take the epsilon of one wave for what all reports of a device tell."""
    record = opened(collector, document(OFTEN, waves=3, epsilon_total=2.0))
    honest_reports(collector, record, ["never"], 20)
    results = collector.results(record)
    (facts,) = [block for block in results.document().blocks if isinstance(block, Facts)]
    told = {str(name): getattr(value, "value", value) for name, value in facts.items}
    guaranteed = texts_of(section_of(results, "What is guaranteed"))

    assert told["epsilon of all waves"] == pytest.approx(2.0, rel=1e-6)
    assert str(told["odds move by at most"]) == "a factor of 7.39"
    assert "all 3 waves together: epsilon = 2, so the odds move by a factor of 7.39 at most" in guaranteed


def test_pictures_carry_the_question_that_they_are_about(collector: Collector) -> None:
    """Also where a question has no figure, and so no picture: after one report that shows one column, only it has."""
    record = opened(collector, document(CHEATED, OFTEN, HOURS, mechanism="smp"))
    answer, seen = {"cheated": "yes", "often": "once", "hours": 5}, set()
    for seed in range(12):
        honest_reports(collector, record, [answer], 1, seed=seed)
        results = collector.results(record)
        assert results.release is not None
        blocks = section_of(results, "What the crowd says").blocks
        shown = [str(block.title) for block in blocks if isinstance(block, Intervals)]
        with_figures = [
            str(question.text.phrase)
            for question in record.survey.questions
            if results.release.estimate[question.name].estimator is not None
        ]
        seen.add(len(with_figures))

        assert [title for title in shown if title] == with_figures
    assert seen >= {1, 3}


@pytest.mark.parametrize(("epsilon", "told"), [(1.0, "2.72"), (3.0, "20.1"), (8.0, "2,981"), (math.log(3), "3.00")])
def test_odds_are_rounded_up(epsilon: float, told: str) -> None:
    assert str(odds_text(epsilon)) == told
