"""script/setup and script/test, with a false Python that is quick to fail: what they say when things go wrong."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "script/setup").exists(), reason="not in a checkout")

# answers what script/setup asks of an interpreter, and makes itself the Python of .venv
PYTHON = """#!/usr/bin/env bash
case "$*" in
    *_base_executable*) echo "$0" ;;
    *sys.version*) echo 3.11 ;;
    *"-m venv"*)
        if [[ -n ${SLOW:-} ]]; then
            trap 'echo "Traceback (most recent call last):" >&2; trap - INT; kill -INT $$' INT
            touch started
            for _ in {1..300}; do sleep 0.1; done
        fi
        mkdir -p .venv/bin
        cp "$0" .venv/bin/python
        ;;
    *"-m pytest"*)
        trap 'exit 2' INT  # as pytest does
        touch started
        for _ in {1..300}; do sleep 0.1; done
        ;;
    *"-m pip"*) echo "no index" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "script").mkdir()
    for name in ("script/setup", "script/test", "script/messages", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    python = tmp_path / "false-python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    return tmp_path


def start(checkout: Path, *command: str, **environment: str) -> subprocess.Popen[str]:
    """In a group of its own, where Ctrl-C is heard (a test runner may have it ignored)."""
    heard = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", heard, *command],
        cwd=checkout,
        env={**os.environ, "PYTHON": str(checkout / "false-python"), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def interrupt(checkout: Path, run: subprocess.Popen[str]) -> str:
    for _ in range(300):
        if (checkout / "started").exists():
            break
        time.sleep(0.1)
    os.killpg(run.pid, signal.SIGINT)
    return run.communicate(timeout=60)[1]


def test_without_a_package_index(checkout: Path) -> None:
    """The last line says what is wrong, and no stamp says that all is well."""
    run = start(checkout, "script/setup")
    said = run.communicate(timeout=60)[1]

    assert run.returncode == 1
    assert said.splitlines()[-1] == "setup: could not install; the first run needs a package index within reach"
    assert not (checkout / ".venv/murmure-setup").exists()


def test_setup_interrupted(checkout: Path) -> None:
    """Ctrl-C while the environment is being made: one line, no traceback."""
    run = start(checkout, "script/setup", SLOW="yes")
    said = interrupt(checkout, run)

    assert run.returncode == 130
    assert said.splitlines()[-1] == "setup: interrupted; the next run starts anew"
    assert "Traceback" not in said


def test_a_read_only_checkout(checkout: Path) -> None:
    """It is said before anything is tried."""
    checkout.chmod(0o555)
    try:
        if os.access(checkout, os.W_OK):
            pytest.skip("this user may write everywhere")
        run = start(checkout, "script/setup")
        said = run.communicate(timeout=60)[1]
    finally:
        checkout.chmod(0o755)

    assert run.returncode == 1
    assert said.startswith(f"setup: cannot write in {checkout}")
    assert len(said.splitlines()) == 1


def test_tests_interrupted_during_setup(checkout: Path) -> None:
    """script/test says so itself, and blames no stage."""
    run = start(checkout, "script/test", SLOW="yes")
    said = interrupt(checkout, run)

    assert run.returncode == 130
    assert "script/test: interrupted" in said
    assert "failed" not in said


def test_tests_interrupted_during_pytest(checkout: Path) -> None:
    """pytest's own exit code for Ctrl-C is 2; the script's is 130."""
    (checkout / "script/setup").write_text("#!/bin/sh\n")
    (checkout / ".venv/bin").mkdir(parents=True)
    shutil.copy(checkout / "false-python", checkout / ".venv/bin/python")
    run = start(checkout, "script/test", "--quick")
    said = interrupt(checkout, run)

    assert run.returncode == 130
    assert "script/test: interrupted" in said
    assert "failed" not in said


def test_a_stage_that_fails_is_named(checkout: Path) -> None:
    (checkout / "script/setup").write_text("#!/bin/sh\nexit 7\n")
    run = start(checkout, "script/test")
    said = run.communicate(timeout=60)[1]

    assert run.returncode == 7
    assert 'stage "setup" failed (exit 7)' in said


def test_every_extra_is_pinned() -> None:
    """script/setup installs what constraints.txt says: a requirement that is not there would be whatever is newest."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()}
    wanted = [line for extra in project["optional-dependencies"].values() for line in extra]
    names = {re.split(r"[<>=\[ ;]", line)[0].lower() for line in (*project["dependencies"], *wanted)}

    assert names - {"murmure"} <= pinned
