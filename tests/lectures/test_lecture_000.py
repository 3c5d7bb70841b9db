"""Lecture 000's table: what it costs, and that nothing but the lesson may read bounds and medians off the data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter
from murmure.lectures.lecture_000 import sanitised_as_in_the_lecture

PIMA = Path(__file__).parents[2].parent / "shared" / "data" / "diabetes.csv"
FRAME = {
    "glucose": [148, 85, 0, 89, 137, 0],
    "bmi": [33.6, 26.6, 23.3, 28.1, 43.1, 25.6],
    "outcome": ["sick", "well", "sick", "well", "sick", "well"],
}


def test_the_total_is_epsilon_times_the_number_of_columns() -> None:
    """The lecture asks "valeur du eps global?": the sum over columns, when records may differ in all of them."""
    lesson = sanitised_as_in_the_lecture(FRAME, 1.0, ["glucose"], rng=mu.Random.seeded(1))

    assert lesson.total == 3.0 and lesson.per_column == 1.0


def test_the_lesson_says_what_was_read_off_the_data() -> None:
    lesson = sanitised_as_in_the_lecture(FRAME, 1.0, ["glucose"], rng=mu.Random.seeded(1))

    assert lesson.faults[0].startswith("glucose: 2 missing values replaced by 113")
    assert any("bounds 23.3 and 43.1" in fault for fault in lesson.faults)
    assert any("labels ['sick', 'well']" in fault for fault in lesson.faults)
    assert "no epsilon holds" in lesson.warning


def test_its_schema_is_a_draft_that_nothing_else_takes() -> None:
    """Marked as read off the data: a mechanism that would run on people refuses it."""
    draft = sanitised_as_in_the_lecture(FRAME, 1.0, rng=mu.Random.seeded(1)).draft

    assert draft.drafted == ("glucose", "bmi", "outcome")
    with pytest.raises(InvalidParameter, match="data"):
        mu.SMP(draft, 1.0).report(FRAME, mu.Random.seeded(1))
    with pytest.raises(InvalidParameter, match="data"):
        mu.sanitise(FRAME, mu.SPL(draft, 1.0))


def test_the_table_stays_within_the_bounds_that_were_read() -> None:
    lesson = sanitised_as_in_the_lecture(FRAME, 1.0, ["glucose"], rng=mu.Random.seeded(1))

    assert set(lesson.table) == set(FRAME)
    assert 85 <= min(lesson.table["glucose"]) <= max(lesson.table["glucose"]) <= 148
    assert 23.3 <= min(lesson.table["bmi"]) <= max(lesson.table["bmi"]) <= 43.1
    assert set(lesson.table["outcome"]) <= {"sick", "well"}


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidParameter, match="insulin"):
        sanitised_as_in_the_lecture(FRAME, 1.0, ["insulin"])


@pytest.mark.skipif(not PIMA.exists(), reason="the Pima table is not beside this clone")
def test_nine_columns_of_the_diabetes_table_cost_nine() -> None:
    rows = np.genfromtxt(PIMA, delimiter=",", names=True)
    frame = {name: rows[name] for name in rows.dtype.names}
    zeros = ["Glucose", "BloodPressure", "SkinThickness", "BMI", "Insulin"]
    lesson = sanitised_as_in_the_lecture(frame, 1.0, zeros, rng=mu.Random.seeded(1))

    assert lesson.total == 9.0 and len(lesson.table["Age"]) == 768
