"""The report of the simulated class, from the coins to the page. The survey that runs is in test_demo_live.py."""

from __future__ import annotations

import html
import html.parser
import json
import math
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from murmure.cli import main
from murmure.cli.browser import has_window_browser
from murmure.cli.demo import FILE
from murmure.core.random import Random
from murmure.lectures.demo import survey
from murmure.lectures.demo.document import demo_document
from murmure.lectures.demo.survey import DemoSurvey
from murmure.show.html import page as page_of
from murmure.show.text import text as text_of


def page(story: DemoSurvey) -> str:
    return page_of(demo_document(story))


def run(folder: Path, *args: str) -> Result:
    return CliRunner().invoke(
        main, ["demo", "--no-serve", "--no-open", "--out", str(folder), *args], catch_exceptions=False
    )


class Nesting(html.parser.HTMLParser):
    """Every element is closed, in order."""

    EMPTY = frozenset({"meta", "input", "br", "circle", "rect", "line", "path"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sections: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "article":
            self.sections.append(dict(attrs).get("lang"))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


def test_end_to_end(tmp_path: Path) -> None:
    """Everything is told, the page is whole and stands alone, and it takes under ten seconds."""
    began = time.process_time()
    result = run(tmp_path)
    seconds = time.process_time() - began

    assert result.exit_code == 0
    assert seconds < 10
    words = " ".join(result.stdout.split())
    for part in (
        "Have you ever cheated at an exam?",
        "\u2022\u2022\u2022 -> A coin: heads, the truth; tails, toss again",
        "Out of 100 people like you who have cheated, 75 send \u201cyes\u201d.",
        "Out of 100 people like you who have not cheated, 25 send \u201cyes\u201d too.",
        "answer share low high truth",
        "1.09862",
        "3.00 times likelier from",
        "surer than 75 in 100",
        "spends the sum, epsilon = 2.197",
        "<- best",
    ):
        assert part in words, part
    assert "SEEDED" not in result.stdout
    path = tmp_path / "murmure-demo.html"
    assert str(path) in result.stdout.replace("\n", "")
    assert [p.name for p in tmp_path.iterdir()] == ["murmure-demo.html"]
    text = path.read_text(encoding="utf-8")
    assert text.endswith("</html>\n")
    assert "SEEDED" not in text
    nesting = Nesting()
    nesting.feed(text)
    assert nesting.open == []
    assert nesting.sections == ["en", "fr"]
    assert len(text) < 100_000


def test_the_page_asks_nothing_of_the_network() -> None:
    """No address, no script, no outside picture or font, and a policy that would forbid them."""
    text = page(survey.run_survey(200, 1.0, 3))

    assert not re.search(r"https?:|//\w|<script|<link|<img|<iframe|src=|url\(|@import", text)
    assert "default-src 'none'" in html.unescape(text)
    assert "prefers-color-scheme:dark" in text


def test_both_languages_hold_the_same_figures() -> None:
    """The French section is the English one with commas."""
    story = demo_document(survey.run_survey(500, survey.TWO_COINS, 3))
    english, french = (text_of(story, lang).split("import murmure")[0] for lang in ("en", "fr"))
    figures = re.compile(r"-?\d+[.,]\d{4}")

    assert [f.replace(".", ",") for f in figures.findall(english)] == figures.findall(french)
    assert "whispers" in english and "whispers" not in french
    assert "trich\u00e9" in french and "cheated" not in french
    for answer, said in (("never", "jamais"), ("every time", "chaque fois"), ("yes", "oui")):
        assert answer in english and said in french and not re.search(rf"\b{answer}\b", french)


def test_seeded_runs_are_marked_and_repeat(tmp_path: Path) -> None:
    """In the terminal and on the page, in both languages."""
    first, second = run(tmp_path / "a", "--seed", "7"), run(tmp_path / "b", "--seed", "7")
    one, other = ((tmp_path / name / FILE).read_text(encoding="utf-8") for name in "ab")

    assert "SEEDED EXPERIMENT (seed 7)" in first.stdout
    assert "never for real people" in " ".join(first.stdout.split())
    assert first.stdout.split("The same as")[0] == second.stdout.split("The same as")[0]
    assert one == other
    assert "SEEDED EXPERIMENT (seed 7)" in one
    assert "EXPÉRIENCE À GRAINE (graine 7)" in one


def test_unseeded_reports_are_secure() -> None:
    """The class is the same each time, the reports are not: two runs agree with probability below 2**-1000."""
    one, other = survey.run_survey(2000, survey.TWO_COINS, None), survey.run_survey(2000, survey.TWO_COINS, None)

    assert (one.grr.truth == other.grr.truth).all()
    assert not (one.grr.reports.data == other.grr.reports.data).all()
    assert not any(asked.release.seeded for asked in one.questions)
    assert all(asked.release.seeded for asked in survey.run_survey(100, 1.0, 1).questions)


def test_the_simulated_class_follows_its_shares() -> None:
    """Seed 1; each share within 5 standard deviations of 100 000 draws (failure below 1e-5 for another seed)."""
    codes = survey.simulate_class(100_000, Random.seeded(1))
    for code, share in enumerate(survey.SHARES):
        assert abs((codes == code).mean() - share) < 5 * math.sqrt(share * (1 - share) / 100_000)


def test_the_two_questions_agree() -> None:
    """Whoever has not answered never has cheated."""
    story = survey.run_survey(300, 1.0, 5)

    assert story.coins.truth[0] == story.grr.truth[0] == story.oue.truth[0]


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "8", "40"])
@pytest.mark.parametrize("people", ["2", "300"])
def test_other_budgets(tmp_path: Path, epsilon: str, people: str) -> None:
    """Whatever the budget and the class, the story can be told."""
    result = run(tmp_path, "--epsilon", epsilon, "--people", people)

    assert result.exit_code == 0
    assert "times out of 100 the truth" in result.stdout
    assert (tmp_path / FILE).is_file()


@pytest.mark.parametrize("args", [["--epsilon", "0"], ["--epsilon", "nan"], ["--people", "1"], ["--seed", "x"]])
def test_mistakes_leave_nothing_behind(tmp_path: Path, args: list[str]) -> None:
    result = run(tmp_path / "new", *args)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_folder(tmp_path: Path) -> None:
    """A file where a folder should be: everything is shown, then one warning; the file is left alone."""
    taken = tmp_path / "taken"
    taken.write_text("mine")
    result = run(taken)

    assert result.exit_code == 1
    assert "What is guaranteed" in result.stdout and "<- best" in result.stdout
    assert "The same as a page" not in result.stdout
    assert result.stderr.startswith("Warning: there is no page: cannot write ")
    assert "--out DIR" in result.stderr
    assert taken.read_text() == "mine"


def test_json_holds_the_figures_and_nothing_else(tmp_path: Path) -> None:
    """What the terminal tabulates, and where the page is."""
    result = run(tmp_path, "--seed", "7", "--json")
    answer = json.loads(result.stdout)

    assert result.exit_code == 0
    assert [question["mechanism"] for question in answer["questions"]] == ["Warner", "GRR", "OUE"]
    assert [len(question["figures"]) for question in answer["questions"]] == [2, 5, 5]
    assert answer["seed"] == 7
    assert Path(answer["html"]) == (tmp_path / FILE).resolve()


def test_json_of_an_unwritable_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    result = run(tmp_path / "taken", "--json")

    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["type"] == "CannotWrite"


def test_the_script_runs_the_command() -> None:
    """script/demo hands its arguments to `murmure demo`, and installs what the running survey needs."""
    script = Path(__file__).parents[2] / "script/demo"
    if not script.exists():
        pytest.skip("not in a checkout")

    assert script.read_text().endswith('exec .venv/bin/murmure demo "$@"\n')
    assert "\nscript/setup plots collector\n" in script.read_text()


def test_without_the_service_the_report_is_told_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip install murmure` alone: today's report and page, and what to install to see a survey run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["murmure.cli.demo"], "SERVICE_PACKAGES", ("a_package_that_is_not_there",))
    result = CliRunner().invoke(main, ["demo", "--no-open", "--people", "10"], catch_exceptions=False)

    assert result.exit_code == 0 and "What is guaranteed" in result.stdout
    assert "There is also a running survey" in result.stdout and "collector" in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("other", [["--json"], ["--seed", "3"]])
def test_a_running_survey_is_neither_json_nor_repeatable(other: list[str]) -> None:
    result = CliRunner().invoke(main, ["demo", "--serve", *other])

    assert result.exit_code == 2 and "exclude one another" in result.output


def test_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When writing fails half-way, an older page stays as it was and no part of the new one is left."""
    (tmp_path / FILE).write_text("older")

    def full(self: Path, text: str, **_: object) -> None:
        with open(self, "w") as out:
            out.write(text[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    result = run(tmp_path)

    assert result.exit_code == 1
    assert "no space left on device" in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == [FILE]
    assert (tmp_path / FILE).read_text() == "older"


def test_the_browser_is_opened_on_request_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--open opens; in a pipe nothing is opened by itself; nobody waits for it."""
    opened: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda args, **_: opened.append(args))
    CliRunner().invoke(main, ["demo", "--no-serve", "--out", str(tmp_path), "--people", "10"], catch_exceptions=False)

    assert opened == []
    CliRunner().invoke(
        main, ["demo", "--no-serve", "--out", str(tmp_path), "--people", "10", "--open"], catch_exceptions=False
    )
    assert opened == [[sys.executable, "-m", "webbrowser", (tmp_path / FILE).resolve().as_uri()]]


def test_browsers_of_the_terminal_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text browser would take over the terminal, so it does not count as one."""
    import webbrowser

    def none() -> None:
        raise webbrowser.Error

    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("w3m"))
    assert not has_window_browser()
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.BackgroundBrowser("xdg-open"))
    assert has_window_browser()
    monkeypatch.setattr(webbrowser, "get", none)
    assert not has_window_browser()
