"""Every item of the lectures runs, in a tiny size and on invented data, and says and draws what it found."""

from __future__ import annotations

import json
from functools import cache

import pytest

from murmure.lectures.course import item_result
from murmure.lectures.course.found import all_names, item_of, lectures, named
from murmure.lectures.course.item_result import LANGUAGES, ItemResult, picture_files
from murmure.lectures.course.writing import LecturePage, Settings, as_json, csv_text, measure
from murmure.lectures.verdicts import VERDICTS
from murmure.show.language import Language

TINY = Settings("tiny", seed=3, invent=True)


@cache
def result(name: str) -> ItemResult:
    return measure(name, TINY)


@pytest.mark.parametrize("name", all_names())
def test_an_item_says_what_it_found_and_draws_it(name: str) -> None:
    measured = result(name).measured
    lengths = {len(column) for column in measured.data.values()}

    assert len(lengths) == 1 and lengths != {0}, name
    assert csv_text(result(name)).count("\n") == 1 + lengths.pop()
    json.dumps(as_json(result(name), TINY), allow_nan=False)
    for number, figure in enumerate(measured.figures):
        lang = LANGUAGES[number % 2]  # the words of both are found by the tests of catalogues
        assert b"<svg" in picture_files(figure, lang, ("svg",))["svg"]


@pytest.mark.parametrize("name", all_names())
def test_the_same_seed_gives_the_same_figures(name: str) -> None:
    assert csv_text(measure(name, TINY)) == csv_text(result(name))


@pytest.mark.parametrize("lecture", lectures())
def test_a_lecture_has_a_page_and_exercises(lecture: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_result, "picture_files", lambda *_: {"svg": b"<svg/>"})  # they were drawn above
    page = LecturePage(lecture, tuple(result(name) for name in named(lecture)))
    html = page.to_page(lang="fr")

    assert html.count("<h2>") >= 2 * len(named(lecture))  # in both languages
    assert lectures()[lecture].exercises
    for exercise in lectures()[lecture].exercises:
        assert Language("fr").say(exercise.hint) != Language("fr").say(exercise.answer)


def test_every_mistake_is_shown_by_an_item() -> None:
    shown = {number for name in all_names() for number in item_of(name).verdicts}

    assert shown == set(VERDICTS)
