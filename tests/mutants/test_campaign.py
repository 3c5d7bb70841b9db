"""Campaigns on a toy project: what is found, what is not, and that they go on where they stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.mutants import campaign as campaign_module
from tests.mutants.__main__ import main
from tests.mutants.processes import MARK
from tests.mutants.toy import SUMS, make_toy

ROOT = Path(__file__).resolve().parents[2]
SURVIVOR = "if a >= b:"  # equal numbers are the same number


@pytest.fixture(autouse=True, scope="module")
def quick() -> Any:
    """pytest's plug-ins take a second to load, and the toy needs none; nor does a test of it take half a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.setattr(campaign_module, "SLACK", 2.0)
        patch.setattr(campaign_module, "TIMES", 3.0)
        yield


def mutate(root: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the report of a campaign on everything."""
    out = root / "report.json"
    code = main([*words, "--root", str(root), "--json", str(out)])
    return code, json.loads(out.read_text()) if out.exists() else {}


def verdicts(report: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(mutant["scope"], mutant["becomes"]): mutant["verdict"] for mutant in report["mutants"]}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    root = make_toy(tmp_path_factory.mktemp("toy"))
    return root, mutate(root)[1]


@pytest.fixture
def toy(judged: tuple[Path, Any], tmp_path: Path) -> Path:
    """The project, and all that its first campaign knows."""
    return Path(shutil.copytree(judged[0], tmp_path / "toy"))


def judgements(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / ".cache/mutants/results.jsonl").read_text().splitlines()]


def test_what_tests_find_and_what_they_do_not(judged: tuple[Path, dict[str, Any]]) -> None:
    found = verdicts(judged[1])
    by_scope = {scope: {v for (s, _), v in found.items() if s == scope} for scope, _ in found}

    assert found["larger", SURVIVOR] == "survived"
    assert found["larger", "if a <= b:"] == "found"
    assert by_scope["total"] == {"found"}
    assert by_scope["never_called"] == {"uncovered"}
    assert by_scope["started"] == {"found"}  # by a process that a test starts with an empty environment
    assert found["count_down", "n += 1"] == "timeout"


def test_a_test_that_fails_anyway_finds_nothing(judged: tuple[Path, dict[str, Any]]) -> None:
    _, report = judged

    assert [test for test in report["suite"]["unfit"]] == ["tests/test_sums.py::test_that_fails_anyway"]
    assert all("anyway" not in mutant["test"] for mutant in report["mutants"])


def test_what_is_computed_once_is_tried_on_all_tests_of_the_file(judged: tuple[Path, dict[str, Any]]) -> None:
    """The line runs in one test, which does not look at the number; the other test reads the number."""
    (mutant,) = [mutant for mutant in judged[1]["mutants"] if mutant["becomes"] == "KEPT[a] = a * 2"]

    assert (mutant["verdict"], mutant["test"]) == ("found", "tests/test_sums.py::test_kept")
    assert mutant["tests"] > 1


def test_the_report_has_diffs_of_survivors_and_a_table(judged: tuple[Path, Any], capsys: pytest.CaptureFixture) -> None:
    code = main(["--root", str(judged[0]), "--least", "99"])
    shown = capsys.readouterr().out

    assert code == 1
    assert "survived: src/toy/sums.py:12 larger" in shown
    assert "-    if a > b:\n+    if a >= b:" in shown
    assert "run by 2 tests; tried on 7:" in shown
    assert main(["--root", str(judged[0]), "--least", "10"]) == 0


def test_a_second_run_judges_nothing(toy: Path, judged: tuple[Path, dict[str, Any]]) -> None:
    before = judgements(toy)
    _, report = mutate(toy)

    assert judgements(toy) == before
    assert verdicts(report) == verdicts(judged[1])


def test_a_new_test_is_tried_on_what_survived_and_on_nothing_else(toy: Path) -> None:
    before = judgements(toy)
    (toy / "tests/test_more.py").write_text(
        "from toy import sums\n\n\ndef test_double():\n    assert sums.never_called(3) == 6\n"
    )
    code, report = mutate(toy)
    again = judgements(toy)[len(before) :]

    assert code == 0
    assert {v for (scope, _), v in verdicts(report).items() if scope == "never_called"} == {"found"}
    assert {result["becomes"] for result in again} == {
        r["becomes"] for r in before if r["verdict"] in ("survived", "uncovered")
    }


def test_a_mutant_whose_file_changed_is_judged_anew(toy: Path) -> None:
    before = judgements(toy)
    (toy / "src/toy/sums.py").write_text(SUMS.replace("return a - 1", "return a - 2 + 1"))
    code, report = mutate(toy, "--old-map", "--kinds", "logic")

    assert code == 0 and {mutant["verdict"] for mutant in report["mutants"]} == {"found"}
    assert len(judgements(toy)) == len(before) + len(report["mutants"])


def test_equivalents_are_neither_run_nor_counted(tmp_path: Path) -> None:
    root = make_toy(tmp_path)
    (root / "tests/mutants").mkdir()
    (root / "tests/mutants/equivalents.toml").write_text(
        '[[equivalent]]\nfile = "src/toy/sums.py"\nfunction = "larger"\nline = "if a > b:"\nbecomes = "if a >= b:"\n'
        'reason = "equal numbers are the same number"\n'
    )
    code, report = mutate(root, "sums.py", "--kinds", "comparison", "--least", "100")

    assert verdicts(report)["larger", SURVIVOR] == "equivalent"
    assert [mutant["verdict"] for mutant in report["mutants"]].count("survived") == 0
    assert code == 0 and report["rate"] == 1

    (root / "src/toy/sums.py").write_text(SUMS.replace("if a > b:", "if b < a:"))
    assert main(["--root", str(root)]) == 2


def test_a_suite_that_fails_without_any_mutant_is_refused(toy: Path, capsys: pytest.CaptureFixture) -> None:
    """Else every mutant would seem to be found."""
    (toy / ".cache/mutants/results.jsonl").unlink()
    (toy / "tests/conftest.py").write_text("def pytest_runtest_setup(item):\n    assert 'larger' in item.name\n")

    assert main(["--root", str(toy)]) == 2
    assert "Without any mutant, tests/test_sums.py::test_" in capsys.readouterr().err
    assert judgements_or_none(toy) == []


WRONG = [
    (["--sample", "-5"], "'-5' is not a whole number, 1 or more"),
    (["--sample", "0"], "'0' is not a whole number, 1 or more"),
    (["--workers", "0"], "'0' is not a whole number, 1 or more"),
    (["--least", "200"], "'200' is not a number from 0 to 100"),
    (["--least", "nan"], "'nan' is not a number from 0 to 100"),
    (["--kinds", "any"], "'any' is none of arithmetic, comparison, logic, constant"),
    (["--json", "no/such/folder.json"], "there is no folder 'no/such'"),
    (["--tests", "tests/none"], "'tests/none' is neither a file of tests nor a folder with some"),
    (["no_such_package"], "'no_such_package' is neither a folder nor a file of src/toy"),
]


@pytest.mark.parametrize(("words", "sentence"), WRONG)
def test_wrong_words_are_refused_before_anything_runs(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    root = make_toy(tmp_path)
    try:
        code: Any = main([*words, "--root", str(root)])
    except SystemExit as stopped:
        code = stopped.code

    assert code == 2 and sentence in capsys.readouterr().err
    assert judgements_or_none(root) == []


UNSTEADY = """
import time
from pathlib import Path

from toy import sums

RUNS = Path({runs!r})


def test_total():
    sums.total(1, 1)
    with RUNS.open("a") as file:
        file.write("*")
    assert len(RUNS.read_text()) not in {fails}


def test_later():
    time.sleep(0.05)
    assert sums.total(2, 3) == 5
"""
TOTAL = ["--tests", "tests/test_sums.py", "--workers", "1", "--kinds", "arithmetic", "--sample", "1"]


def unsteady(root: Path, fails: str) -> Path:
    """Sums with one mutant, and a test that fails in its so-manieth run: first for the map, then for the control."""
    tests = UNSTEADY.format(runs=str(root / "runs"), fails=fails).replace(
        "    with", "    sums.total(1, 1)\n    with", 1
    )
    make_toy(root, tests)
    (root / "src/toy/sums.py").write_text(SUMS[: SUMS.index("def larger")])
    return root


def test_a_test_that_fails_now_and_then_finds_nothing(tmp_path: Path) -> None:
    """It fails while it is run with the mutant, and a moment later no more: the next test finds the mutant."""
    code, report = mutate(unsteady(tmp_path, "{3}"), *TOTAL)
    (mutant,) = report["mutants"]

    assert (code, mutant["verdict"], mutant["test"]) == (0, "found", "tests/test_sums.py::test_later")
    assert list(report["suite"]["unfit"]) == ["tests/test_sums.py::test_total"]


def test_what_breaks_on_the_way_finds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """From its third run on the test fails, with a mutant or without: a full disk would do that."""
    root = unsteady(tmp_path, "range(3, 99)")

    assert mutate(root, *TOTAL)[0] == 2
    assert "Without any mutant, tests/test_sums.py::test_total fails in the checkout" in capsys.readouterr().err
    assert judgements_or_none(root) == []


def judgements_or_none(root: Path) -> list[dict[str, Any]]:
    return judgements(root) if (root / ".cache/mutants/results.jsonl").exists() else []


HANGING = """
import time


def test_wait():
    from toy import waiting
    if waiting.now(1) != 0:
        time.sleep(600)
"""


def test_an_interrupt_leaves_nothing_behind_and_loses_nothing(tmp_path: Path) -> None:
    """Ctrl-C while a mutant hangs: no process, no checkout, the sources as they were; the next run goes on."""
    root = make_toy(tmp_path, waiting="def now(a):\n    return a - 1\n")
    (root / "tests/test_waiting.py").write_text(HANGING)
    sources = {path: path.read_bytes() for path in (root / "src").rglob("*.py")}
    words = [sys.executable, "-m", "tests.mutants", "--root", str(root), "--workers", "1", "--kinds", "arithmetic"]
    process = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    waiting = time.monotonic() + 120
    while not any("waiting" in command for command in children(root)) and time.monotonic() < waiting:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130 and "the same command goes on" in err
    assert children(root) == [] and list((root / ".cache/mutants").glob("worker-*")) == []
    assert {path: path.read_bytes() for path in (root / "src").rglob("*.py")} == sources
    known = judgements_or_none(root)
    (root / "tests/test_waiting.py").write_text(HANGING.replace("time.sleep(600)", "raise AssertionError"))
    _, report = mutate(root, "--kinds", "arithmetic")
    assert judgements(root)[: len(known)] == known
    assert len(judgements(root)) == len(report["mutants"])
    assert verdicts(report)["now", "return a + 1"] == "found"


def children(root: Path) -> list[str]:
    """What runs in a checkout of this project: the last test that each run of pytest has started."""
    found = []
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if os.readlink(cwd).startswith(str(root)) and (mark := mark_of(cwd.with_name("environ"))):
                status = Path(mark) / "status"
                found.append(status.read_text() if status.exists() else "")
        except OSError:
            pass
    return found


def mark_of(environ: Path) -> str:
    variables = dict(part.partition("=")[::2] for part in environ.read_text(errors="replace").split("\0"))
    return variables["TMPDIR"] if MARK in variables else ""


KERNELS = '''"""A kernel."""

from numba import njit


@njit(cache=True)
def twice(x):
    return x + x
'''
CALLER = "def quadruple(x):\n    from toy.kernels import twice\n\n    return twice(twice(x))\n"


@pytest.mark.slow  # numba compiles for some seconds
def test_compiled_kernels_are_those_of_the_mutant_and_then_those_of_the_file(tmp_path: Path) -> None:
    """Numba's cache on disk knows a file by its size and time, and a mutant has the same size."""
    pytest.importorskip("numba", reason="needs numba")
    tests = "from toy.callers import quadruple\n\n\ndef test_quadruple():\n    assert quadruple(3) == 12\n"
    root = make_toy(tmp_path, tests, kernels=KERNELS, callers=CALLER)
    for _ in range(2):  # with an empty cache, and with one of the unmutated kernel
        _, report = mutate(root, "kernels.py")
        (root / ".cache/mutants/results.jsonl").unlink()

        assert verdicts(report) == {("twice", "return x - x"): "found"}
        assert [mutant["test"] for mutant in report["mutants"]] == ["tests/test_sums.py::test_quadruple"]
