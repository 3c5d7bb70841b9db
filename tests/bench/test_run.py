"""`script/bench --only PART[,PART]` measures those parts; every part has a section, and every section a part."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import table

BENCH = Path(__file__).parents[2] / "bench"


def load() -> ModuleType:
    """Under a name of its own: other benches have a run.py too."""
    spec = importlib.util.spec_from_file_location("script_bench", BENCH / "run.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["script_bench"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


run = load()


def test_every_part_has_a_section_and_every_section_a_part() -> None:
    assert {part for part, *_ in table.SECTIONS} == set(run.NAMES)


def test_all_parts_unless_told_otherwise() -> None:
    assert run.options_of([]).parts == list(run.NAMES)
    assert run.options_of([]).rounds == 3
    assert run.options_of(["--quick", "--rounds", "5"]).rounds == 1
    assert run.options_of(["--rounds", "5", "--only", "records,columns"]).parts == ["records", "columns"]
    assert run.options_of(["--rounds", "5"]).rounds == 5


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--only", "colums"], "no part 'colums'"),
        (["--only", ""], "no part ''"),
        (["--rounds", "0"], "at least 1, got 0"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run.options_of(arguments)

    assert sentence in capsys.readouterr().err


def test_a_part_keeps_its_rounds_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every record says which round it is of, and the load is taken at the start of each."""
    loads = iter([0.5, 1.5])
    monkeypatch.setattr(run.os, "getloadavg", lambda: (next(loads), 0.0, 0.0))
    monkeypatch.setattr(run, "now", lambda rounds, peers: {"rounds": rounds, "loads": []})
    seen: list[Any] = []

    def part(bench: Any) -> list[dict[str, Any]]:
        seen.append((bench.folder, bench.number, bench.large))
        return [{"task": "t", "lib": "murmure", "seconds": float(bench.number)}]

    monkeypatch.setitem(run.PARTS, part, ())
    found = run.measure(part, 2, tmp_path, True)

    assert found["about"] == {"rounds": 2, "loads": [0.5, 1.5]}
    assert [(r["round"], r["seconds"]) for r in found["records"]] == [(0, 0.0), (1, 1.0)]
    assert seen == [(tmp_path, 0, True), (tmp_path, 1, True)]


def test_growth_is_measured_once_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "now", lambda rounds, peers: {"rounds": rounds, "loads": []})
    monkeypatch.setattr(run, "work", lambda *arguments, **_: [{"task": arguments[3], "lib": "murmure", "seconds": 1.0}])
    found = run.measure(run.growth, 5, tmp_path, False)

    assert found["about"]["rounds"] == 1
    assert [r["task"] for r in found["records"]] == ["n", "k", "certificates", "d", "fits", "regressions", "m"]
