"""Every mistake is one clear message and exit code 2, on stderr or, with --json, as JSON on stdout."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from murmure.cli import main
from murmure.cli.commands import MurmureGroup
from murmure.cli.option_words import in_options
from murmure.core.errors import InvalidParameter

ADVISE = ["advise", "--epsilon", "1", "--people", "100"]
MISTAKES = {
    "unknown command": (["advice"], "there is no command 'advice'", "did you mean advise?"),
    "far-off command": (["zzz"], "there is no command 'zzz'", "the commands are advise, anova, attack"),
    "unknown option": ([*ADVISE, "--categories", "4", "--colour"], "there is no option --colour", "--help"),
    "missing option": (
        ["advise", "--categories", "4", "--people", "9"],
        "murmure advise needs --epsilon.",
        "--labels no,yes",
    ),
    "epsilon 0": (
        ["advise", "--categories", "4", "--people", "9", "--epsilon", "0"],
        "--epsilon must be a positive finite number, got 0.0.",
        "--epsilon 1 is a usual start",
    ),
    "epsilon -1": (
        ["advise", "--categories", "4", "--people", "9", "--epsilon", "-1"],
        "--epsilon must be",
        "--epsilon 1",
    ),
    "epsilon nan": (["advise", "--categories", "4", "--people", "9", "--epsilon", "nan"], "got nan", "--epsilon 1"),
    "epsilon inf": (["advise", "--categories", "4", "--people", "9", "--epsilon", "inf"], "got inf", "--epsilon 1"),
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
    "k = 1": (
        [*ADVISE, "--categories", "1"],
        "--categories must be a whole number, at least 2, got 1",
        "nothing to protect",
    ),
    "k = x": ([*ADVISE, "--categories", "x"], "'x' is not a valid integer", "--help"),
    "two domains": (
        [*ADVISE, "--categories", "4", "--labels", "a,b"],
        "--categories and --labels exclude",
        "give one of",
    ),
    "no domain": (ADVISE, "nothing says what one person may answer", "--labels no,yes"),
    "cells without interval": ([*ADVISE, "--categories", "4", "--cells", "9"], "--cells is the grid", "--interval"),
    "empty label": ([*ADVISE, "--labels", "a,,b"], "empty answer", "no,yes"),
    "same label twice": ([*ADVISE, "--labels", "a,a"], "--labels must differ, got a,a.", None),
    "half a range": ([*ADVISE, "--integers", "3"], "LOW:HIGH", "--help"),
    "range of words": ([*ADVISE, "--integers", "a:b"], "LOW:HIGH", "--help"),
    "range upside down": ([*ADVISE, "--integers", "3:1"], "--integers LOW:HIGH needs LOW < HIGH, got 3 and 1.", None),
    "interval upside down": ([*ADVISE, "--interval", "1:0"], "--interval LOW:HIGH needs LOW < HIGH", None),
    "interval nan": ([*ADVISE, "--interval", "nan:1"], "--interval LOW must be a finite number", "public constants"),
    "nobody": (["advise", "--categories", "4", "--epsilon", "1", "--people", "0"], "whole number", "--help"),
    "half a person": (["advise", "--categories", "4", "--epsilon", "1", "--people", "1.5"], "whole number", "--help"),
    "people nan": (["advise", "--categories", "4", "--epsilon", "1", "--people", "nan"], "whole number", "--help"),
    "shares that do not sum": (
        [*ADVISE, "--categories", "3", "--shares", "0.5,0.2,0.2"],
        "--shares must be 3 numbers that sum to 1, got 3 that sum to 0.9.",
        "or --share alone",
    ),
    "too few shares": (
        [*ADVISE, "--categories", "3", "--shares", "0.5,0.5"],
        "--shares must be 3 numbers",
        "or --share alone",
    ),
    "share and shares": (
        [*ADVISE, "--categories", "2", "--share", "0.5", "--shares", "0.5,0.5"],
        "exclude",
        "all of them",
    ),
    "share above 1": ([*ADVISE, "--categories", "2", "--share", "2"], "--share must lie between 0 and 1", None),
    "Var* of a mean": (
        [*ADVISE, "--interval", "0:1", "--rank-by", "var-star"],
        "--rank-by var-star: a mean has no Var*.",
        "--rank-by mean or worst",
    ),
    "picture of another kind": ([*ADVISE, "--categories", "4", "--plot", "x.jpg"], "--plot draws to", "svg"),
    "no such folder": ([*ADVISE, "--categories", "4", "--plot", "/no/such/folder/x.svg"], "cannot write", "folder"),
    "unknown mechanism": (["certify", "GRRR", "--categories", "4", "--epsilon", "1"], "'GRRR'", "did you mean GRR?"),
    "part of a name": (["certify", "laplace"], "'laplace'", "did you mean BoundedLaplace?"),
    "nothing like it": (["certify", "xyzzy"], "'xyzzy'", "--list"),
    "nothing to certify": (["certify"], "nothing to certify", "--list"),
    "two things to certify": (["certify", "GRR", "--list"], "exclude one another", "--list"),
    "no epsilon": (["certify", "GRR", "--categories", "4"], "GRR needs --epsilon.", "--epsilon 1"),
    "no coin": (
        ["certify", "UnrelatedQuestion", "--truth", "0.5"],
        "UnrelatedQuestion needs --innocuous.",
        "--innocuous 0.5",
    ),
    "another's option": (
        ["certify", "OUE", "--categories", "4", "--epsilon", "1", "--truth", "0.5"],
        "takes no",
        "takes",
    ),
    "epsilon and coins": (["certify", "Warner", "--epsilon", "1", "--truth", "0.5"], "got both", None),
    "coin of 1": (["certify", "Warner", "--truth", "1"], "'1' is not a probability", "--help"),
    "coin over 0": (["certify", "Warner", "--truth", "1/0"], "not a probability", "--help"),
    "categories for numbers": (
        ["certify", "Duchi", "--categories", "4", "--epsilon", "1"],
        "Duchi is for numbers: give --integers or --interval.",
        "GRR",
    ),
    "no reports": (
        ["certify", "GRR", "--categories", "4", "--epsilon", "1", "--reports", "0"],
        "--reports must be a whole number, at least 1",
        None,
    ),
    "once above all": (
        ["certify", "RAPPOR", "--categories", "4", "--epsilon", "1", "--epsilon-once", "2"],
        "--epsilon-once must be below --epsilon 1, got 2.0.",
        "one report",
    ),
    "no plan": (["certify", "--plan", "/no/such/plan.json"], "cannot read", "to_json"),
    "plan and options": (
        ["certify", "--plan", "x", "--epsilon", "1"],
        "no mechanism's options",
        "already says everything",
    ),
    "a slip of the pen": (
        [*ADVISE, "--catgories", "4"],
        "there is no option --catgories.",
        "did you mean --categories?",
    ),
    "nothing at all": (
        ["advise"],
        "murmure advise needs --epsilon, --people and one of --categories, --labels, --integers, --interval.",
        "murmure advise --labels no,yes --epsilon 1 --people 1000",
    ),
    "a mechanism alone": (
        ["certify", "RAPPOR"],
        "RAPPOR needs --epsilon, --epsilon-once and one of --categories",
        "murmure certify RAPPOR --categories 4 --epsilon 1 --epsilon-once 0.5",
    ),
    "a numeric mechanism alone": (["certify", "Duchi"], "--epsilon and one of --integers, --interval.", "Duchi"),
    "one label": ([*ADVISE, "--labels", "a"], "--labels needs at least two answers, got 1.", "at least two"),
    "one cell": ([*ADVISE, "--interval", "0:1", "--cells", "1"], "--cells must be a whole number", None),
    "share of a mean": ([*ADVISE, "--interval", "0:1", "--share", "0.5"], "--share 0.5: a mean needs", None),
    "mean of labels": ([*ADVISE, "--labels", "a,b", "--statistic", "mean"], "--statistic must be", None),
    "three answers": (["certify", "Warner", "--categories", "3"], "Warner takes two answers, got 3.", "GRR"),
    "too many cells": (
        ["certify", "BoundedLaplace", "--integers", "0:100000", "--epsilon", "1"],
        "BoundedLaplace takes at most",
        "(--cells 1024)",
    ),
    "set too large": (
        ["certify", "SubsetSelection", "--categories", "4", "--epsilon", "1", "--w", "7"],
        "--w must be a whole number from 1 to 3, got 7.",
        "leave it out",
    ),
    "no shell": (
        ["completion"],
        "Missing argument 'SHELL'. Choose from: bash, zsh, fish.",
        "completion --help",
    ),
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
    assert not re.search(r"[?.!]\)?\.|\t|\b[A-Za-z]\w*\.[a-z_]+\b (must|needs)|\w=\S", said.stderr), (
        "Python in a message"
    )
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

    @click.group(cls=MurmureGroup)
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

    @click.group(cls=MurmureGroup)
    def group() -> None: ...

    @group.command()
    def slow() -> None:
        raise KeyboardInterrupt

    result = CliRunner().invoke(group, ["slow"])

    assert (result.exit_code, result.stderr.strip()) == (130, "Stopped.")


def murmure(*args: str, **how: Any) -> subprocess.Popen[bytes]:
    code = "from murmure.cli import main; main(prog_name='murmure')"
    return subprocess.Popen([sys.executable, "-c", code, *args], stderr=subprocess.PIPE, **how)


OUTPUTS = [
    [*ADVISE, "--categories", "4", "--json"],
    [*ADVISE, "--categories", "4"],
    ["advise", "--categories", "4", "--epsilon", "0.1:5:0.01", "--people", "9", "--json"],
    ["certify", "--list"],
    ["certify", "nobody", "--json"],
    ["attack", "average", "GRR", "--categories", "4", "--epsilon", "1"],
    ["audit", "GRR", "--categories", "3", "--epsilon", "1", "--samples", "300", "--seed", "1"],
    ["--help"],
]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("args", OUTPUTS, ids=" ".join)
def test_a_full_disk(args: list[str]) -> None:
    """One message, exit code 2, nothing from the interpreter's own last flush."""
    with open("/dev/full", "wb") as full:
        done = murmure(*args, stdout=full)
        said = done.communicate()[1]

    assert (done.returncode, said) == (2, b"Error: cannot write the output: No space left on device.\n")


@pytest.mark.parametrize("args", OUTPUTS, ids=" ".join)
def test_a_closed_pipe_is_silent(args: list[str]) -> None:
    """`murmure ... | head -1` says nothing on stderr, and its exit code is not one of an audit."""
    read, write = os.pipe()
    os.close(read)
    done = murmure(*args, stdout=write)
    os.close(write)
    said = done.communicate()[1]

    assert (done.returncode, said) == (141, b"")


def test_other_errors_of_the_system_keep_their_traceback() -> None:
    """A file that cannot be opened where none was asked for is a bug, not a full disk."""

    @click.group(cls=MurmureGroup)
    def group() -> None: ...

    @group.command()
    def broken() -> None:
        Path("/no/such/file").read_text()

    assert isinstance(CliRunner().invoke(group, ["broken"]).exception, FileNotFoundError)


def test_a_plans_parameters_are_no_options(tmp_path: Path) -> None:
    """What stands in a plan's file keeps its own name."""
    error = InvalidParameter("GRR.epsilon must be a positive finite number, got 0.0.", hint="epsilon=1.0")

    assert in_options(str(error), {"plan": tmp_path, "epsilon": None, "reports": 3}) == str(error)
    assert in_options(str(error), {"plan": None, "epsilon": 0.0}).startswith("--epsilon must be")
