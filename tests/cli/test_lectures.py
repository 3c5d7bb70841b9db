"""`murmure lectures`: list and run, with missing data, without a plotting library, and interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from murmure.cli import main
from murmure.lectures.course import writing

ITEM = "000/grr-law"


def run(*words: str) -> tuple[int, str, str]:
    ran = CliRunner().invoke(main, ["lectures", *words])
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.stdout, ran.stderr


def test_the_list_names_every_item() -> None:
    code, shown, _ = run("list")
    _, listed, _ = run("list", "--json")

    assert code == 0 and ITEM in shown
    assert {one["item"] for one in json.loads(listed)} >= {ITEM, "000/warner-tree"}


def test_an_item_leaves_pictures_numbers_and_a_page(tmp_path: Path) -> None:
    code, shown, _ = run("run", ITEM, "--quick", "--out", str(tmp_path), "--jobs", "1")

    assert code == 0 and "0.2536" in shown
    names = {path.name for path in (tmp_path / "000").iterdir()}
    ends = ("csv", "json", "en.svg", "fr.svg", "en.png", "fr.png")
    assert names == {"index.html", *(f"grr-law.{end}" for end in ends)}
    assert json.loads((tmp_path / "000" / "grr-law.json").read_text())["run"]["size"] == "quick"


def test_pictures_are_the_same_again_to_the_byte(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        run("run", ITEM, "--quick", "--out", str(tmp_path / folder), "--jobs", "1")
    first, second = (sorted(tmp_path.glob(f"{folder}/000/*.*")) for folder in ("a", "b"))

    assert len(first) == 7 and [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


def test_a_name_that_does_not_exist_is_an_error_with_a_hint() -> None:
    code, _, told = run("run", "grr-lawn")

    assert code == 2 and "grr-lawn" in told and "murmure lectures list" in told


def test_without_its_data_an_item_is_left_out_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MURMURE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, _, told = run("run", "003/reidentification", ITEM, "--quick", "--out", str(tmp_path / "out"), "--jobs", "1")

    assert code == 1 and "003/reidentification is left out" in told
    assert (tmp_path / "out" / "000" / "grr-law.csv").exists()
    assert "left out" in (tmp_path / "out" / "003" / "index.html").read_text(encoding="utf-8").lower()


def test_without_a_plotting_library_numbers_and_the_page_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    code, _, told = run("run", ITEM, "--quick", "--out", str(tmp_path), "--jobs", "1")

    assert code == 0 and "pictures" in told and "(the extra plots)" in told
    assert {path.name for path in (tmp_path / "000").iterdir()} == {"index.html", "grr-law.csv", "grr-law.json"}
    page = (tmp_path / "000" / "index.html").read_text(encoding="utf-8")
    assert "The pictures are left out" in page and "script/setup" not in page and "pip install" not in page


def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "write_files", interrupted)
    code, _, told = run("run", ITEM, "--quick", "--out", str(tmp_path), "--jobs", "1")

    assert code == 130 and "goes on" in told


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in Linux's /proc")
@pytest.mark.parametrize("working", [False, True], ids=["while workers import", "while they work"])
def test_an_interrupt_from_the_keyboard_is_a_sentence_and_no_worker_prints_a_traceback(
    tmp_path: Path, working: bool
) -> None:
    """Ctrl-C goes to all processes of the terminal."""
    command = [sys.executable, "-m", "murmure", "--lang", "en", "lectures", "run", "000/trust", "--out", str(tmp_path)]
    ran = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    kept = tmp_path / ".cells" / "000-trust.jsonl"
    while ran.poll() is None and (not kept.exists() if working else len(_workers(ran.pid)) < 2):
        time.sleep(0.01)
    time.sleep(0.3)  # Python's handler of interrupts is now in place
    os.killpg(ran.pid, signal.SIGINT)
    _, told = ran.communicate(timeout=60)

    assert ran.returncode == 130 and "goes on" in told
    assert "Traceback" not in told


def _workers(pid: int) -> list[str]:
    """The processes of its pool, by what they were started with."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [child for task in tasks for child in task.read_text().split()]
    lines = [Path(f"/proc/{child}/cmdline").read_text() for child in children]
    return [line for line in lines if "spawn_main" in line]
