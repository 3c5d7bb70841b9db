"""Every mistake is one clear message and exit code 2, on stderr or, with --json, as JSON on stdout."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from murmure.cli import main
from murmure.cli.shared import ClearGroup

ADVISE = ["advise", "--epsilon", "1", "--people", "100"]
MISTAKES = {
    "unknown command": (["advice"], "there is no command 'advice'", "did you mean advise?"),
    "far-off command": (["zzz"], "there is no command 'zzz'", "the commands are advise, certify, completion"),
    "unknown option": ([*ADVISE, "--categories", "4", "--colour"], "No such option", "--help"),
    "missing option": (["advise", "--categories", "4", "--people", "9"], "Missing option '--epsilon'", "--help"),
    "epsilon 0": (["advise", "--categories", "4", "--people", "9", "--epsilon", "0"], "positive finite number", "1.0"),
    "epsilon -1": (["advise", "--categories", "4", "--people", "9", "--epsilon", "-1"], "got -1.0", "1.0"),
    "epsilon nan": (["advise", "--categories", "4", "--people", "9", "--epsilon", "nan"], "got nan", "1.0"),
    "epsilon inf": (["advise", "--categories", "4", "--people", "9", "--epsilon", "inf"], "got inf", "1.0"),
    "epsilon abc": (["advise", "--categories", "4", "--people", "9", "--epsilon", "abc"], "'abc' is neither", "--help"),
    "empty epsilon": (["advise", "--categories", "4", "--people", "9", "--epsilon", ""], "is neither", "--help"),
    "backward range": (
        ["advise", "--categories", "4", "--people", "9", "--epsilon", "5:1:1"],
        "FROM:TO:STEP",
        "--help",
    ),
    "range without end": (
        ["advise", "--categories", "4", "--people", "9", "--epsilon", "1:inf:1"],
        "FROM:TO",
        "--help",
    ),
    "too many steps": (
        ["advise", "--categories", "4", "--people", "9", "--epsilon", "1:5:1e-9"],
        "1000 steps",
        "--help",
    ),
    "zero step": (["advise", "--categories", "4", "--people", "9", "--epsilon", "1:5:0"], "FROM:TO:STEP", "--help"),
    "k = 1": ([*ADVISE, "--categories", "1"], "at least 2, got 1", "nothing to protect"),
    "k = x": ([*ADVISE, "--categories", "x"], "'x' is not a valid integer", "--help"),
    "two domains": (
        [*ADVISE, "--categories", "4", "--labels", "a,b"],
        "--categories and --labels exclude",
        "give one of",
    ),
    "no domain": (ADVISE, "nothing says what one person may answer", "--labels no,yes"),
    "cells without interval": ([*ADVISE, "--categories", "4", "--cells", "9"], "--cells is the grid", "--interval"),
    "empty label": ([*ADVISE, "--labels", "a,,b"], "empty answer", "no,yes"),
    "same label twice": ([*ADVISE, "--labels", "a,a"], "must differ", None),
    "half a range": ([*ADVISE, "--integers", "3"], "LOW:HIGH", "--help"),
    "range of words": ([*ADVISE, "--integers", "a:b"], "LOW:HIGH", "--help"),
    "range upside down": ([*ADVISE, "--integers", "3:1"], "low < high", None),
    "interval upside down": ([*ADVISE, "--interval", "1:0"], "low < high", None),
    "interval nan": ([*ADVISE, "--interval", "nan:1"], "finite", "public constants"),
    "nobody": (["advise", "--categories", "4", "--epsilon", "1", "--people", "0"], "whole number", "--help"),
    "half a person": (["advise", "--categories", "4", "--epsilon", "1", "--people", "1.5"], "whole number", "--help"),
    "people nan": (["advise", "--categories", "4", "--epsilon", "1", "--people", "nan"], "whole number", "--help"),
    "shares that do not sum": (
        [*ADVISE, "--categories", "3", "--shares", "0.5,0.2,0.2"],
        "sum to 0.9",
        "or one number",
    ),
    "too few shares": ([*ADVISE, "--categories", "3", "--shares", "0.5,0.5"], "must be 3 numbers", "or one number"),
    "share and shares": (
        [*ADVISE, "--categories", "2", "--share", "0.5", "--shares", "0.5,0.5"],
        "exclude",
        "all of them",
    ),
    "share above 1": ([*ADVISE, "--categories", "2", "--share", "2"], "between 0 and 1", None),
    "Var* of a mean": ([*ADVISE, "--interval", "0:1", "--rank-by", "var-star"], "no Var*", "worst"),
    "picture of another kind": ([*ADVISE, "--categories", "4", "--plot", "x.jpg"], "--plot draws to", "svg"),
    "no such folder": ([*ADVISE, "--categories", "4", "--plot", "/no/such/folder/x.svg"], "cannot write", "folder"),
    "unknown mechanism": (["certify", "GRRR", "--categories", "4", "--epsilon", "1"], "'GRRR'", "did you mean GRR?"),
    "part of a name": (["certify", "laplace"], "'laplace'", "did you mean BoundedLaplace?"),
    "nothing like it": (["certify", "xyzzy"], "'xyzzy'", "--list"),
    "nothing to certify": (["certify"], "nothing to certify", "--list"),
    "two things to certify": (["certify", "GRR", "--list"], "exclude one another", "--list"),
    "no epsilon": (["certify", "GRR", "--categories", "4"], "GRR needs --epsilon", "add --epsilon 1"),
    "no coin": (["certify", "UnrelatedQuestion", "--truth", "0.5"], "needs --innocuous", "--help"),
    "another's option": (
        ["certify", "GRR", "--categories", "4", "--epsilon", "1", "--truth", "0.5"],
        "takes no",
        "takes",
    ),
    "epsilon and coins": (["certify", "Warner", "--epsilon", "1", "--truth", "0.5"], "got both", None),
    "coin of 1": (["certify", "Warner", "--truth", "1"], "'1' is not a probability", "--help"),
    "coin over 0": (["certify", "Warner", "--truth", "1/0"], "not a probability", "--help"),
    "categories for numbers": (
        ["certify", "Duchi", "--categories", "4", "--epsilon", "1"],
        "Integers or Interval",
        "GRR",
    ),
    "no reports": (["certify", "GRR", "--categories", "4", "--epsilon", "1", "--reports", "0"], "at least 1", None),
    "once above all": (
        ["certify", "RAPPOR", "--categories", "4", "--epsilon", "1", "--epsilon-once", "2"],
        "below epsilon",
        "one report",
    ),
    "no plan": (["certify", "--plan", "/no/such/plan.json"], "cannot read", "to_json"),
    "plan and options": (["certify", "--plan", "x", "--epsilon", "1"], "no mechanism's options", "by itself"),
    "unknown shell": (["completion", "tcsh"], "'tcsh' is not one of", "--help"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    """Error and Hint on stderr, nothing on stdout; or one JSON object on stdout, nothing on stderr."""
    args, message, hint = MISTAKES[name]
    said = CliRunner().invoke(main, args, catch_exceptions=False)
    told = CliRunner().invoke(main, [*args, "--json"], catch_exceptions=False)

    assert (said.exit_code, said.stdout) == (2, "")
    assert said.stderr.startswith("Error: ")
    assert message in said.stderr
    assert "Traceback" not in said.stderr
    assert (hint is None) or f"\n  Hint: {hint}" in said.stderr or hint in said.stderr.split("Hint: ")[1]
    assert (told.exit_code, told.stderr) == (2, "")
    error = json.loads(told.stdout)["error"]
    assert set(error) == {"type", "message", "hint"}
    assert message in error["message"]
    assert "Hint" not in error["message"]
    assert (error["hint"] is None) == ("Hint: " not in said.stderr)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "3",
        "[" * 100_000,
        '{"murmure": 2}',
        '{"murmure": 1}',
        '{"murmure": 1, "statistic": {"type": ["x"]}}',
        '{"murmure": 1, "statistic": {"type": "Histogram", "domain": 3}}',
        '{"murmure": 1, "statistic": {"type": "Histogram", "domain": {"type": "Categories", "foo": 1}}}',
        '{"murmure": 1, "person": 3}',
        b"\xff\xfe\x00",
    ],
)
def test_a_file_that_is_no_plan(tmp_path: Path, text: str | bytes) -> None:
    """Whatever stands in the file, no traceback."""
    path = tmp_path / "plan.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = CliRunner().invoke(main, ["certify", "--plan", str(path)], catch_exceptions=False)

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")


def test_an_unwritable_picture_leaves_nothing(tmp_path: Path) -> None:
    """A plot onto a folder's name, and one that fails half-way, leave no part behind."""
    (tmp_path / "taken.svg").mkdir()
    result = CliRunner().invoke(main, [*ADVISE, "--categories", "4", "--plot", str(tmp_path / "taken.svg")])

    assert result.exit_code == 2
    assert "cannot write" in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["taken.svg"]


def test_a_picture_may_be_read_as_any_other_file(tmp_path: Path) -> None:
    """Written under a temporary name, but not with a temporary file's secrecy."""
    path = tmp_path / "x.svg"
    (tmp_path / "plain").touch()
    CliRunner().invoke(main, [*ADVISE, "--categories", "4", "--plot", str(path)])

    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_bug_keeps_its_traceback() -> None:
    """Only mistakes of the caller become messages."""

    @click.group(cls=ClearGroup)
    def group() -> None: ...

    @group.command()
    def broken() -> None:
        raise RuntimeError("a bug")

    result = CliRunner().invoke(group, ["broken"])

    assert isinstance(result.exception, RuntimeError)


def test_without_standalone_mode_errors_are_raised() -> None:
    """For programs that call the command line."""
    with pytest.raises(click.UsageError):
        main(["certify", "GRRR"], standalone_mode=False)


def test_an_interrupted_command_says_so() -> None:
    """Ctrl-C: one word, and the shell's own exit code."""

    @click.group(cls=ClearGroup)
    def group() -> None: ...

    @group.command()
    def slow() -> None:
        raise KeyboardInterrupt

    result = CliRunner().invoke(group, ["slow"])

    assert (result.exit_code, result.stderr.strip()) == (130, "Stopped.")
