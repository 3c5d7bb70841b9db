"""The exercise sheet: its two functions, the page to print, and the script that checks answers, in a real browser."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import re
import shutil
import subprocess
import textwrap
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.pages import languages
from tests.pages.browser import OpenPage
from tests.pages.conftest import browser, open_page  # noqa: F401

import murmure as mu
from murmure.cli import main
from murmure.core.errors import MissingExtra, MurmureError
from murmure.lectures.course import item_result
from murmure.lectures.exercise_sheet import estimation_nbre_oui_initiaux, reponse_randomisee, solutions
from murmure.lectures.exercise_sheet.coin_law import ANSWERS, enumerated_bias, probability
from murmure.lectures.exercise_sheet.page import FOLDER, sheet_page
from murmure.lectures.exercise_sheet.questions import exercises
from murmure.show.html import policy_of, style_sheet

Open = Callable[..., OpenPage]
FIELDS = {field.name: field for one in exercises() for question in one.questions for field in question.fields}
# What a good student types, in several spellings; the page compares with the law, not with these.
GOOD = {
    "tree-no": ["1/4", "0.25", "0,25", "1/2 * 1/2", "(1/2)^2"],
    "tree-yes": ["1/4"],
    "tree-truth": ["1/2", ".5", ",5"],
    "expected": [solutions.EXPECTED, "f*3/4 + (N-f)/4", "(n + 2f)/4", "0,25N+0,5f", "f/2 + N : 4"],
    "estimator": [solutions.ESTIMATOR, "2*o-N/2", "2(o - N/4)", "(4o-n)/2", "2 o \u2212 N ÷ 2"],
    "mean": ["f", "+f", "2(N/4+f/2)-N/2"],
    "eight": ["6", "2*5 - 8/2"],
    "law-true-true": ["3/4", "1/2 + 1/4"],
    "law-true-false": ["1/4"],
    "law-false-true": ["1/4"],
    "law-false-false": ["0,75"],
    "ratio": ["3", "(3/4)/(1/4)"],
    "epsilon": ["ln(3)", "ln 3", "1.1", "1,0986", "log(3)", "2 ln(sqrt(3))"],
    "variance": [solutions.VARIANCE, "0,75 N", "4*3/16*N", "3/4 N"],
    "sample": [solutions.SAMPLE, "3N/4 + Np(1-p)", "N*(3/4+p-p^2)", "4N(1/4+p/2)(3/4-p/2)", "N(3/4 + p \u2212 p**2)"],
    "deviation": ["sqrt(22,5)", "4.74", "racine(3*30/4)", "√(22.5)", "22.5^(1/2)"],
    "size": ["300", "3*10**2"],
}
WRONG = {
    "tree-no": ["1/2"],
    "expected": ["N/2 + f/4", "f", "N/4"],
    "estimator": ["2o - 1/2", "2o - N", "o"],
    "mean": ["N", "2f"],
    "ratio": ["1/3"],
    "epsilon": ["3", "1.11", "ln(4)"],
    "variance": ["N/4", "75", "3/(4N)", "sqrt(3N/4)", "3N/4 + f"],
    "sample": ["3N/4", "N p(1-p)"],
    "deviation": ["22.5", "4.7"],
    "size": ["299"],
}
UNREADABLE = [
    "2N -",
    "(N",
    "N)",
    "3//4",
    "alert(1)",
    "x",
    "1..2",
    "1 2",
    "N (",
    "constructor",
    "toString",
    "p.N",
    "`1`",
]
UNREADABLE += ["__proto__", "hasOwnProperty", "ln", "ln()", "()", "*", "N = 2", "N\u00b2"]


# -- the two functions


@pytest.mark.parametrize("function", [reponse_randomisee, estimation_nbre_oui_initiaux])
def test_three_lines_each(function: Callable[..., Any]) -> None:
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(tree, ast.FunctionDef)

    assert len(tree.body) - 1 == 3  # after the docstring


def test_booleans_in_booleans_out() -> None:
    rng = mu.Random.seeded(3)
    answers = [reponse_randomisee(True, rng) for _ in range(400)]

    assert set(map(type, answers)) == {bool} and set(answers) == {True, False}
    assert isinstance(reponse_randomisee(np.True_), bool)
    assert estimation_nbre_oui_initiaux([True] * 40 + [False] * 60) == 30.0
    assert estimation_nbre_oui_initiaux(np.array([True, False])) == 1.0


def test_a_series_of_answers_follows_the_law() -> None:
    """1,000 answers of each kind, seed 11: within five standard deviations of 3/4 and 1/4 (failure rate 1e-6)."""
    rng, n = mu.Random.seeded(11), 1_000
    for meant in ANSWERS:
        yes = sum(reponse_randomisee(meant, rng) for _ in range(n))

        assert abs(yes - n * float(probability(meant, True))) < 5 * (n * 3 / 16) ** 0.5


@pytest.mark.parametrize("wrong", ["oui", 2, None])
def test_what_is_not_a_boolean_is_refused(wrong: Any) -> None:
    with pytest.raises(MurmureError, match="False, True"):
        reponse_randomisee(wrong)
    with pytest.raises(MurmureError, match="False, True"):
        estimation_nbre_oui_initiaux([True, wrong])


def test_the_code_by_hand_has_the_same_law() -> None:
    """The listing of the solution, run for every toss of the two coins."""
    for meant in ANSWERS:
        found: Counter[bool] = Counter()
        for tosses in itertools.product("PF", repeat=2):
            left = list(tosses)
            names: dict[str, Any] = {"secrets": SimpleNamespace(choice=lambda faces, left=left: left.pop(0))}
            exec(solutions.BY_HAND, names)
            found[names["reponse_randomisee"](meant)] += 1

        assert {answer: Fraction(found[answer], 4) for answer in ANSWERS} == {
            answer: probability(meant, answer) for answer in ANSWERS
        }


def test_the_estimator_by_hand_is_the_same() -> None:
    names: dict[str, Any] = {}
    exec(solutions.ESTIMATOR_BY_HAND, names)
    for N in range(1, 8):
        for o in range(N + 1):
            answers = [True] * o + [False] * (N - o)

            assert names["estimation_nbre_oui_initiaux"](answers) == estimation_nbre_oui_initiaux(answers)


@pytest.mark.parametrize(("N", "f"), [(1, 0), (3, 2), (5, 5)])
def test_unbiased_by_enumeration(N: int, f: int) -> None:
    assert enumerated_bias(N, f) == 0


# -- the checker, without a browser


@pytest.fixture(scope="module")
def verdicts() -> Callable[[list[tuple[str, str]]], list[str]]:
    """verdict(text, key) of check.js for each (field, text), by Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node on this machine; the browser runs the same script")

    def ask(cases: list[tuple[str, str]]) -> list[str]:
        given = [[text, json.loads(FIELDS[name].to_json())] for name, text in cases]
        program = (
            f"const {{verdict}} = require({json.dumps(str(FOLDER / 'check.js'))});"
            f"console.log(JSON.stringify({json.dumps(given)}.map(([text, key]) => verdict(text, key))))"
        )
        ran = subprocess.run([node, "-e", program], capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)  # type: ignore[no-any-return]

    return ask


@pytest.mark.parametrize(
    ("table", "expected"),
    [(GOOD, "right"), (WRONG, "wrong"), ({"sample": UNREADABLE}, "unreadable"), ({"size": ["", "  "]}, "")],
    ids=["right", "wrong", "unreadable", "empty"],
)
def test_verdicts(verdicts: Callable[..., list[str]], table: dict[str, list[str]], expected: str) -> None:
    cases = [(name, text) for name, texts in table.items() for text in texts]

    assert {case: expected for case in cases} == dict(zip(cases, verdicts(cases), strict=True))


def test_every_field_is_tried() -> None:
    assert set(FIELDS) == set(GOOD)


def test_the_script_runs_nothing_as_code() -> None:
    script = (FOLDER / "check.js").read_text(encoding="utf-8")

    assert not re.search(r"\beval\b|Function\s*\(|innerHTML|setTimeout|import\s*\(|fetch|</script", script)


# -- the page


@pytest.fixture(scope="module")
def blank() -> str:
    return sheet_page(lang="fr")


@pytest.fixture(scope="module")
def solved() -> str:
    return sheet_page(solutions=True, lang="fr")


def test_the_policy_allows_this_script_alone(blank: str, solved: str) -> None:
    script, style = (FOLDER / "check.js").read_text("utf-8"), style_sheet() + (FOLDER / "sheet.css").read_text("utf-8")

    assert blank.count("<script") == 1 and f"<script>{script}</script>" in blank
    assert policy_of(style, script).replace("'", "&#39;") in blank and "unsafe" not in blank
    assert "<script" not in solved and "script-src" not in solved


def test_solutions_are_printed_only_when_asked(blank: str, solved: str) -> None:
    assert 'class="solution"' not in blank and "secrets.choice" not in blank and 'class="room"' in blank
    assert solved.count('class="solution"') == 2 * sum(len(one.questions) for one in exercises())  # both languages
    assert "secrets.choice" in solved and 'class="room"' not in solved and "<input type" not in solved
    assert "27 cases out of 27" in solved and "9 cases out of 9" in solved and "1.098612" in solved


def test_a_student_is_told_in_the_browser(open_page: Open, blank: str) -> None:  # noqa: F811
    """Every field, in French: the right answer, a wrong one, and what cannot be read; Enter and the button."""
    opened = open_page(blank)

    def told(name: str, text: str, enter: bool) -> str:
        def type_in(page: Any) -> str:
            field = page.locator(f"#fr-{name}")
            field.fill(text)
            if enter:
                field.press("Enter")
            else:
                page.locator(".check", has=field).get_by_role("button").click()
            return page.locator(f"output[for=fr-{name}]").inner_text()

        return opened.do(type_in)

    right = {name: told(name, texts[0], enter=True) for name, texts in GOOD.items()}
    wrong = {name: told(name, texts[0], enter=False) for name, texts in WRONG.items()}

    assert set(right.values()) == {told("size", "300", enter=False)} and right["size"].startswith("\u2713")
    assert all(text.startswith("\u2717") for text in wrong.values())
    assert told("size", "N", enter=True) != wrong["size"]
    assert told("size", "", enter=True) == ""
    assert opened.complaints() == []


def test_paper_has_lines_and_the_screen_has_fields(open_page: Open) -> None:  # noqa: F811
    opened = open_page(sheet_page(lang="en"))
    shown = "selector => [...document.querySelectorAll(selector)].filter(e => e.checkVisibility()).length"
    parts = ("article[lang=en] .check", "article[lang=en] .room", "nav", "footer", "article[lang=fr]")

    screen = [opened.evaluate(shown, part) for part in parts]
    opened.do(lambda page: page.emulate_media(media="print"))
    paper = [opened.evaluate(shown, part) for part in parts]
    opened.do(lambda page: page.emulate_media(media="screen"))

    asked = sum(len(one.questions) for one in exercises())
    assert screen == [sum(bool(q.fields) for one in exercises() for q in one.questions), 0, 1, 1, 0]
    assert paper == [0, asked, 0, 0, 0]


def test_a_policy_for_another_script_stops_the_checker(open_page: Open, blank: str) -> None:  # noqa: F811
    """A mutant: one letter of the script changed, and the browser does not run it; the fields stay hidden."""
    opened = open_page(blank.replace('"use strict";', '"use strict"; ', 1))

    assert not opened.evaluate("document.querySelector('.check').checkVisibility()")
    assert any("script-src" in text for text in opened.complaints())


# -- the command


def test_one_command_writes_the_sheet_in_french(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """French whatever the machine speaks; --lang anywhere in the command changes it."""
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.chdir(tmp_path)
    for words, name, lang in (
        (["lectures", "sheet"], "td-reponse-randomisee.html", "fr"),
        (["lectures", "sheet", "--solutions", "--lang", "en"], "td-reponse-randomisee-solutions.html", "en"),
        (["lectures", "sheet", "--out", "x.html", "--lang", "fr"], "x.html", "fr"),
    ):
        ran = CliRunner().invoke(main, words)
        page = (tmp_path / name).read_text("utf-8")

        assert ran.exit_code == 0 and name in ran.output, ran.output
        assert f'<html lang="{lang}">' in page and re.search(rf'id="{lang}" checked', page)
        assert ("secrets.choice" in page) == ("--solutions" in words)


def test_a_file_of_somebody_else_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.html"
    path.write_text("mine")
    ran = CliRunner().invoke(main, ["lectures", "sheet", "--out", str(path), "--lang", "en"])

    assert ran.exit_code == 2 and path.read_text() == "mine" and "Traceback" not in ran.output


def test_the_two_languages_switch(open_page: Open, blank: str) -> None:  # noqa: F811
    opened = open_page(blank)
    languages.choose(opened, "en")

    assert "Randomised response" in opened.text()


def test_without_a_plotting_library_the_sheet_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingExtra("plotting", "matplotlib", "plots")

    monkeypatch.setattr(item_result, "pyplot", missing)
    page = sheet_page(solutions=True, lang="en")

    assert page.count("The pictures are left out") == 2 and "<img" not in page
