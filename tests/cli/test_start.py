"""The command line starts quickly, says its version, and completes words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

import murmure
from murmure.catalogue import MECHANISMS
from murmure.cli import main

HEAVY = ("numpy", "scipy", "numba", "cryptography", "narwhals", "pyarrow", "matplotlib", "rich")


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )


@pytest.mark.parametrize("args", [["--help"], ["advise", "--help"], ["certify", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(args: list[str]) -> None:
    """Neither numpy nor scipy nor numba; under half a second of processor time, interpreter included."""
    code = (
        "import sys, time, json\n"
        "from murmure.cli import main\n"
        f"main({args!r}, standalone_mode=False)\n"
        f"json.dump([time.process_time(), [m for m in {HEAVY!r} if m in sys.modules]], sys.stderr)\n"
    )
    done = python(code)
    seconds, loaded = json.loads(done.stderr)

    assert loaded == []
    assert seconds < 0.5


def test_version() -> None:
    result = CliRunner().invoke(main, ["--version"])

    assert (result.exit_code, result.stdout) == (0, f"murmure {murmure.__version__}\n")


def test_nothing_is_collected_when_a_command_ends() -> None:
    """Python's last search for cycles would take longer than all that a party does after it has joined a study."""
    code = (
        "import atexit, gc\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 10_000 > len(gc.get_objects())))\n"  # the last to run
        "from murmure.cli import main\n"
        "main(['certify', 'GRR', '--categories', '4', '--epsilon', '1', '--json'])\n"
    )

    assert python(code).stdout.splitlines()[-1] == "True"


def test_alone_it_shows_its_help() -> None:
    result = CliRunner().invoke(main, [])

    assert result.exit_code == 0
    assert result.stdout == CliRunner().invoke(main, ["-h"]).stdout


def test_sanitise_has_two_spellings() -> None:
    """The second is accepted everywhere and listed nowhere."""
    first, second = (CliRunner().invoke(main, [name, "--help"]) for name in ("sanitise", "sanitize"))

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert second.stdout.replace("sanitize [OPTIONS]", "sanitise [OPTIONS]") == first.stdout
    assert "sanitize" not in main.list_commands(None)  # type: ignore[arg-type]


def test_every_command_has_help_and_json() -> None:
    """And is named in the first help, with its line whole."""
    first = CliRunner().invoke(main, ["--help"]).stdout
    for name in main.list_commands(None):  # type: ignore[arg-type]
        result = CliRunner().invoke(main, [name, "--help"])

        assert result.exit_code == 0
        assert "--json" in result.stdout or name in ("attack", "lectures")  # their own commands have it
        assert f"\n  {name} " in first
    assert "..." not in first.split("Commands:")[1]


@pytest.mark.parametrize(
    ("shell", "word"), [("bash", "complete -o"), ("zsh", "#compdef murmure"), ("fish", "complete")]
)
def test_completion_scripts(shell: str, word: str) -> None:
    """Click's own script, and how to install it, as a comment that every shell skips."""
    result = CliRunner().invoke(main, ["completion", shell])
    held = json.loads(CliRunner().invoke(main, ["completion", shell, "--json"]).stdout)

    assert result.exit_code == 0
    assert word in result.stdout
    assert f"# To install: murmure completion {shell} > " in result.stdout
    assert set(held) == {"shell", "script", "install"}
    assert held["script"] in result.stdout
    if shell == "zsh":
        assert result.stdout.startswith("#compdef murmure")
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=result.stdout, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("murmure ad", {"advise"}),
        ("murmure certify Bounded", {name for name in MECHANISMS if name.startswith("Bounded")}),
        ("murmure certify oU", {"OUE"}),
        ("murmure advise --rank-by ", {"mean", "worst", "var-star"}),
    ],
)
def test_completion_completes(words: str, expected: set[str]) -> None:
    """Commands, mechanisms in any case, and choices."""
    done = python(
        "from murmure.cli import main; main(prog_name='murmure')",
        _MURMURE_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split(" ")) - 1),
    )

    assert {line.split(",", 1)[1] for line in done.stdout.split()} == expected


def test_colours_follow_the_terminal() -> None:
    """None in a pipe; forced, they come; NO_COLOR takes them away."""
    code = "from murmure.cli import main; main(['advise', '--categories', '4', '--epsilon', '1', '--people', '9'])"
    plain = {name: "" for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM")}

    assert "\x1b[" not in python(code, **plain).stdout
    assert "\x1b[1;32m" in python(code, **{**plain, "FORCE_COLOR": "1", "TERM": "xterm-256color"}).stdout
    assert "32m" not in python(code, **{**plain, "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm-256color"}).stdout


def test_a_terminal_without_unicode_is_no_error() -> None:
    done = python(
        "from murmure.cli import main\nmain(['advise', '--labels', 'né,mort', '--epsilon', '1', '--people', '9'])",
        PYTHONIOENCODING="ascii",
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


@pytest.mark.parametrize("group", ["poll", "schema", "study", "party", "attack", "ledger", "lectures"])
def test_a_group_without_a_command_shows_its_help(group: str) -> None:
    """As help, line by line, and not as the text of an error; the status says that nothing was done."""
    result = CliRunner().invoke(main, [group])

    assert result.exit_code == 2 and result.stderr == CliRunner().invoke(main, [group, "--help"]).stdout
