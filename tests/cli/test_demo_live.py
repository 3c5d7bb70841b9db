"""The survey that `murmure demo` runs: a real service, a simulated crowd, a person; and how it ends."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("httptools")
pytest.importorskip("msgspec")
pytest.importorskip("argon2")
pytest.importorskip("segno")
if sys.platform == "win32":
    pytest.skip("terminals and signals of Unix", allow_module_level=True)

from tests.cli.lesson_processes import CTRL_C, HEARD, LINK, SECONDS, Terminal, environment, running

from murmure.collector.client import SurveyClient
from murmure.collector.http.server import ServeSettings
from murmure.collector.http.survey_session import survey_session
from murmure.collector.service.room import Room
from murmure.lectures.demo.crowd import Crowd, crowd_answers, live_document

ARGS = ("demo", "--port", "0")


def test_without_a_terminal_it_ends_by_itself_with_the_report(tmp_path: Path) -> None:
    """In a pipe: the address, the crowd over HTTP, its figures, then the whole report; no file, no folder, code 0."""
    done = subprocess.run(
        [sys.executable, "-c", HEARD, *ARGS, "--crowd", "30", "--people", "50"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(tmp_path / "temporary"),
        timeout=SECONDS,
    )
    words = " ".join(done.stdout.split())

    assert (done.returncode, done.stderr) == (0, "")
    assert LINK.search(done.stdout) and "30 simulated people are answering it" in words
    assert "30 of these 30 people are simulated." in words
    assert words.index("What the room says") < words.index("What is guaranteed")
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"] and not list((tmp_path / "temporary").iterdir())


def test_a_file_is_left_only_where_it_was_asked_for(tmp_path: Path) -> None:
    with running(tmp_path, *ARGS, "--crowd", "3", "--people", "20", "--out", "here") as demo:
        out, err = demo.process.communicate(timeout=SECONDS)

    assert (demo.process.returncode, err) == (0, "") and "The same as a page" in out
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["murmure-demo.html"]


def test_in_a_terminal_somebody_answers_and_stops_it(tmp_path: Path) -> None:
    """It stays until Ctrl-C, counts the person beside the crowd, prints the figures and leaves nothing."""
    terminal = Terminal(tmp_path, *ARGS, "--serve", "--no-open", "--crowd", "50")
    terminal.wait_for("Ctrl-C ends it")
    link = LINK.search(terminal.shown)
    assert link is not None and link[0].startswith("http://127.0.0.1:")
    SurveyClient(link[0]).answer("yes")
    terminal.wait_for("3 of 51 have answered")
    terminal.type(CTRL_C)

    assert terminal.exit_code() == 0
    found = re.search(r"(\d+) of these (\d+) people are simulated", " ".join(terminal.shown.split()))
    assert found is not None and int(found[2]) == int(found[1]) + 1
    assert "What the room says" in terminal.shown and "Traceback" not in terminal.shown
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"] and not list(terminal.temporary.iterdir())


def test_ctrl_c_twice_at_any_moment(tmp_path: Path) -> None:
    """While the crowd answers: gone at once, with nothing left and no traceback."""
    terminal = Terminal(tmp_path, *ARGS, "--serve", "--no-open")
    terminal.wait_for("have answered")
    terminal.type(CTRL_C * 2)

    assert terminal.exit_code() in (0, 130) and "Traceback" not in terminal.shown
    assert not list(terminal.temporary.iterdir())


def test_the_crowd_is_real_but_for_its_answers(tmp_path: Path) -> None:
    """Forty people send one report each, through the log; the survey says that they are simulated."""
    with survey_session(tmp_path, live_document(40, 1.0), ServeSettings()) as session:
        crowd = Crowd(session.link, 40, 0.0, lambda: False)
        crowd.start()
        limit = time.monotonic() + SECONDS
        while not crowd.done and time.monotonic() < limit:
            time.sleep(0.05)
        results = session.end()

    assert crowd.failed is None and crowd.sent == results.n == 40
    assert results.record.survey.title.en.startswith("A demonstration: 40 simulated people")
    room = Room.of(results)
    assert room is not None and room.headline is not None and room.headline.high > room.headline.low
    assert crowd.answers == crowd_answers(40) and 0.2 < crowd.answers.count("yes") / 40 < 0.7


def test_a_crowd_leaves_when_it_is_told_to(tmp_path: Path) -> None:
    """It would take an hour; `leave` returns after at most one of them, and the rest never answers."""
    with survey_session(tmp_path, live_document(40, 1.0), ServeSettings()) as session:
        crowd = Crowd(session.link, 40, 3600.0, lambda: False)
        crowd.start()
        began = time.monotonic()
        crowd.leave()

        assert time.monotonic() - began < 10 and crowd.done and crowd.sent == 0


def test_a_survey_that_is_closed_on_its_page_stops_the_crowd(tmp_path: Path) -> None:
    """Said, and not raised: the figures so far are still shown."""
    with survey_session(tmp_path, live_document(40, 1.0), ServeSettings()) as session:
        session.end()
        crowd = Crowd(session.link, 40, 0.0, lambda: False)
        crowd.start()
        limit = time.monotonic() + SECONDS
        while not crowd.done and time.monotonic() < limit:
            time.sleep(0.05)

    assert crowd.failed is not None and "not-open" in str(crowd.failed) and crowd.sent == 0
