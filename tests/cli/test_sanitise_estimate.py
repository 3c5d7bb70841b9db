"""`murmure sanitise --estimate` shows, writes and prints what `murmure estimate` of the file does."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.cli.test_sanitise import answer, call, charges, folder  # noqa: F401

from murmure.cli import main
from murmure.ledger.ledger import DEFAULT_FILE, Ledger

pytestmark = pytest.mark.usefixtures("folder")

OPTIONS = {
    "plain": [],
    "level and target": ["--level", 0.9, "--target", "superpopulation"],
    "all at once": ["--simultaneous", "--consistent"],
    "some columns": ["--columns", "kids,smoker"],
    "a pair": ["--pair", "smoker,region"],
    "columns and pairs": ["--columns", "region", "--pair", "smoker,region", "--pair", "region,kids"],
    "forged": ["--forged", 5],
}


def estimate(*args: Any) -> Result:
    return CliRunner().invoke(main, ["estimate", *map(str, args)])


@pytest.mark.parametrize("out", ["out.parquet", "out.csv", "out.arrow"])
@pytest.mark.parametrize("name", OPTIONS)
def test_the_json_is_that_of_estimate(name: str, out: str) -> None:
    told = answer("people.parquet", "--solution", "spl", "--estimate", *OPTIONS[name], out=out)
    later = estimate(out, "--json", *OPTIONS[name])

    assert told["rows_out"] == 300
    assert told["estimate"] == json.loads(later.stdout)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_words_are_those_of_estimate_and_certificates_are_said_once(name: str) -> None:
    told = call("people.parquet", "--solution", "spl", "--seed", 3, "--estimate", *OPTIONS[name]).stdout
    later, _, learned = estimate("out.parquet", *OPTIONS[name]).stdout.partition("What someone who sees these rows")

    assert told.endswith("\n" + later.rstrip() + "\n")
    assert learned
    assert told.count("One attribute") == 1


def test_the_page_and_the_picture_are_those_of_estimate(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ["--title", "Smoking", "--question", "Who?", "--author", "Office"]
    told = call("people.parquet", "--estimate", "--html", "1.html", "--plot", "1.svg", *words)
    estimate("out.parquet", "--html", "2.html", "--plot", "2.svg", *words)

    assert Path("1.html").read_text() == Path("2.html").read_text()
    assert "<svg" in Path("1.svg").read_text()
    assert re.findall(r"Written: (.*)", told.stdout) == ["1.svg", "1.html"]


def test_it_is_charged_once(folder: Path) -> None:  # noqa: F811
    call("people.parquet", "--estimate", "--pair", "smoker,region", "--solution", "spl")

    assert len(charges(folder / DEFAULT_FILE)) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--html", "1.html"], "--html is for --estimate"),
        (["--level", "0.95"], "--level is for --estimate"),
        (["--pair", "smoker,region"], "--pair is for --estimate"),
        (["--estimate", "--level", "2"], "--level must lie"),
        (["--estimate", "--columns", "smokr"], "no estimate of 'smokr'"),
        (["--estimate", "--pair", "smoker"], "--pair takes two columns"),
        (["--estimate", "--pair", "smoker,region", "--solution", "smp"], "no information about pairs"),
        (["--estimate", "--pair", "smoker,region", "--forged", "3"], "--forged is for columns"),
        (["--estimate", "--pair", "smoker,region", "--columns", "kids", "--html", "1.html"], "one page for each"),
        (["--estimate", "--plot", "1.gif"], "--plot draws to"),
        (["--estimate", "--html", "schema.toml"], "html"),
    ],
)
def test_a_slip_costs_nothing(options: list[str], words: str, folder: Path) -> None:  # noqa: F811
    """Nothing is written and nothing is charged because of what figures were to be made."""
    before = sorted(folder.iterdir())
    result = call("people.parquet", *options)

    assert result.exit_code != 0
    assert words in result.output
    assert sorted(set(folder.iterdir()) - set(before)) in ([], [folder / DEFAULT_FILE])
    assert not (folder / DEFAULT_FILE).exists() or charges(folder / DEFAULT_FILE) == []


@pytest.mark.parametrize("how", [[], ["--json"]])
def test_figures_that_fail_say_that_the_table_is_there(
    how: list[str],
    folder: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A full disk under the page: the table is whole and charged, no page is left, and the words say so."""
    report = importlib.import_module("murmure.run.report.report")

    def full(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report, "page", full)
    result = call("people.parquet", "--estimate", "--html", "1.html", *how)

    assert result.exit_code != 0
    assert "'out.parquet' is written and charged" in result.stderr
    assert estimate("out.parquet").exit_code == 0
    assert len(Ledger(folder / DEFAULT_FILE).history()) >= 1
    assert not [path for path in folder.iterdir() if "html" in path.name]


def test_more_forged_reports_than_there_are(folder: Path) -> None:  # noqa: F811
    result = call("people.parquet", "--estimate", "--forged", 301)

    assert result.exit_code != 0
    assert "at most the number of reports, 300" in result.output
    assert "is written and charged" in result.stderr
