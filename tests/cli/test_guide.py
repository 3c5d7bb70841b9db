"""`schema init --guide`: answers become public bounds; Enter never makes the data's own bounds public."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.written_ways import FRENCH

from murmure.cli import main
from murmure.core.column import Column
from murmure.core.dates import Dates
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.schema import Schema

# The questions for the table of written_ways.py, in order.
ANSWERS = (
    "",  # missing words: as found
    *("0 120", "40", "c"),  # age: bounds, missing, outside
    *("Bretagne; Île-de-France; Réunion; Côte d'Azur; Corse", "d"),  # region
    *("0 à 100000,5", "0", ""),  # income
    *("ok", ""),  # smoker
    *("1930-01-01 .. 2029-12-31 day", ""),  # born
    "-",  # remark
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    FRENCH.write(tmp_path / "people.csv")
    return tmp_path


def call(answers: Any, *more: str) -> Any:
    text = "".join(f"{answer}\n" for answer in answers)
    return CliRunner().invoke(main, ["schema", "init", "people.csv", "--guide", *more], input=text)


def test_answers_make_a_schema(folder: Path) -> None:
    """Which every command takes at once, and to which every row belongs."""
    result = call(ANSWERS)
    assert result.exit_code == 0, result.output
    schema = Schema.load("schema.toml")

    assert schema.drafted == () and schema.file.missing == ("N/A",)
    assert schema.column_specs == {
        "âge": Column(Integers(0, 120), missing="constant", missing_value=40, outside="clamp"),
        "région": Column(Categories(["Bretagne", "Île-de-France", "Réunion", "Côte d'Azur", "Corse"]), outside="drop"),
        "revenu": Column(Interval(0.0, 100000.5), missing="constant", missing_value=0.0),
        "fumeur": Column(Categories(["non", "oui"])),
        "né le": Column(Dates("1930-01-01", "2029-12-31")),
    }
    assert "Left out: column 'remarque': by your answer." in result.stderr
    checked = CliRunner().invoke(main, ["schema", "check", "schema.toml", "people.csv"])
    assert checked.exit_code == 0, checked.output


def test_the_question_about_dates_names_the_units(folder: Path) -> None:
    """Its example is an answer: months, although the draft has another unit."""
    answers = list(ANSWERS)
    answers[answers.index("1930-01-01 .. 2029-12-31 day")] = "2000-01-01 2029-12-31 month"
    asked = call(answers).stderr
    born = Schema.load("schema.toml").column_specs["né le"].domain

    assert "by day, week, month or year? As in 2000-01-01 2029-12-31 month." in asked
    assert born == Dates("2000-01-01", "2029-12-31", "month")


def test_enter_accepts_nothing_from_the_data(folder: Path) -> None:
    """All columns stay marked; and the questions do not even show the bounds of the data."""
    result = call([""] * 40)
    schema = Schema.load("schema.toml")

    assert set(schema.drafted) == set(schema) and len(schema) == 6
    asked = result.stderr.partition("READ OFF THE DATA")[0]
    assert str(schema.column_specs["revenu"].domain.high) not in asked
    with pytest.raises(ValueError, match="read off the data"):
        schema.refuse_drafted()


def test_the_end_of_the_input_is_said(folder: Path) -> None:
    """What was answered counts, the rest stays marked."""
    result = call(ANSWERS[:4])
    schema = Schema.load("schema.toml")

    assert result.exit_code == 0 and result.stderr.count("The input ended") == 1
    assert schema.drafted == tuple(name for name in schema if name != "âge")


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("12", "That cannot be read: '12'"),
        ("a b", "That cannot be read: 'a b'"),
        ("1 2 3", "That cannot be read"),
        ("9 5", "low"),
    ],
)
def test_a_bad_answer_is_asked_again(bad: str, words: str, folder: Path) -> None:
    result = call(("", bad, *ANSWERS[1:]))

    assert words in result.stderr and Schema.load("schema.toml").column_specs["âge"].domain == Integers(
        0, 120, outside="clamp"
    )


def test_missing_words_by_hand(folder: Path) -> None:
    """Words that no detection would take; they count for the draft too."""
    text = Path("people.csv").read_text("cp1252").replace("N/A", "weiss nicht")
    Path("people.csv").write_text(text, "cp1252")
    call(("weiss nicht; verweigert", *ANSWERS[1:]))
    schema = Schema.load("schema.toml")

    assert schema.file.missing == ("weiss nicht", "verweigert")
    assert schema.column_specs["âge"].missing_value == 40


@pytest.mark.parametrize(
    ("answer", "domain"),
    [("1;2;3;4;5;9", Categories([1, 2, 3, 4, 5, 9])), ("0 10", Integers(0, 10)), ("ok", Categories([1, 2, 3]))],
)
def test_few_whole_numbers_are_labels_or_have_bounds(answer: str, domain: Any, folder: Path) -> None:
    Path("people.csv").write_text("x,y\n" + "1,a\n2,b\n3,a\n" * 30)
    call(("", answer, "", "ok", ""))

    assert Schema.load("schema.toml").column_specs["x"] == Column(domain)


def test_all_left_out_is_no_schema(folder: Path) -> None:
    result = call(("", *["-"] * 6))

    assert "A schema needs a column: 'remarque' stays in." in result.stderr
    assert list(Schema.load("schema.toml")) == ["remarque"]


def test_json_goes_to_standard_output_alone(folder: Path) -> None:
    import json

    result = call(ANSWERS, "--json")

    assert json.loads(result.stdout)["must_replace"] == []


# ---- on a terminal


def terminal(*args: str) -> tuple[subprocess.Popen[bytes], int]:
    leader, follower = pty.openpty()
    env = {**os.environ, "LANG": "C.UTF-8", "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "murmure", "schema", "init", "people.csv", "--guide", *args]
    process = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, env=env, start_new_session=True
    )
    os.close(follower)
    return process, leader


def read_until(leader: int, words: str, text: str = "") -> str:
    end = time.monotonic() + 60
    while words not in text:
        assert time.monotonic() < end, text
        if select.select([leader], [], [], 1)[0]:
            text += os.read(leader, 65536).decode("utf-8", "replace")
    return text


def test_on_a_terminal_in_french(folder: Path) -> None:
    """A question at a time; the last answer ends it."""
    process, leader = terminal("--lang", "fr")
    text = read_until(leader, "> ")
    assert "Comment people.csv est écrit" in text
    for answer in ANSWERS:
        os.write(leader, f"{answer}\n".encode())
        time.sleep(0.05)
    text = read_until(leader, "schema.toml", text)
    assert process.wait(60) == 0 and Schema.load("schema.toml").drafted == ()


def test_control_c_leaves_nothing(folder: Path) -> None:
    process, leader = terminal()
    read_until(leader, "> ")
    os.write(leader, b"\n0 120\n")
    read_until(leader, "missing.")
    os.killpg(process.pid, signal.SIGINT)

    assert process.wait(60) == 130
    assert os.listdir() == ["people.csv"]
