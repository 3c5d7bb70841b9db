"""Every notebook runs from top to bottom, in a tiny size and on invented data, and is kept without results."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
LECTURES = {f"lecture-{number}" for number in ("000", "001", "002", "003", "004")}
USERS = {"survey-researcher", "data-steward", "data-scientist", "consortium", "auditor", "teacher-and-student"}
LESS = (('size="quick"', 'size="tiny", invent=True'), ("samples=40_000", "samples=4_000"))


def cells_of(path: Path) -> list[dict[str, Any]]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["metadata"]["kernelspec"]["name"]) == (4, "python3")
    return list(notebook["cells"])


def test_there_is_one_for_each_lecture_and_each_kind_of_user() -> None:
    assert {path.stem for path in NOTEBOOKS} == LECTURES | USERS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MURMURE_LEDGER", str(tmp_path / "ledger.db"))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells_of(path):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None  # results are of those who run it
        code = "".join(cell["source"])
        for much, less in LESS:
            code = code.replace(much, less)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, f"{path.name}: {cell['id']}", "exec"), namespace)
    plt.close("all")
