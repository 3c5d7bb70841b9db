"""Cells of an experiment: kept when finished, the same again, whatever the number of processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from murmure.core.random import Random
from murmure.lectures.course.work import Work
from murmure.lectures.course.writing import processes

KEYS = [{"epsilon": epsilon, "repetition": i} for epsilon in (0.5, 1.0) for i in range(3)]
ran: list[dict[str, Any]] = []


def draw(work: Work, rng: Random, **key: Any) -> list[int]:
    """A cell that depends on everything that it is given."""
    ran.append(key)
    return [round(1000 * key["epsilon"]), int(rng.words(1)[0] % 1000)]


def test_a_finished_cell_is_not_computed_again(tmp_path: Path) -> None:
    work = Work("000/x", keep=tmp_path, code="a")
    ran.clear()
    first = work.cells(draw, KEYS[:4])

    assert len(ran) == 4
    assert work.cells(draw, KEYS)[:4] == first
    assert ran[4:] == KEYS[4:]


def test_a_line_that_a_killed_run_left_half_written_does_not_count(tmp_path: Path) -> None:
    work = Work("000/x", keep=tmp_path, code="a")
    whole = work.cells(draw, KEYS)
    file = tmp_path / "000-x.jsonl"
    file.write_text(file.read_text()[:-20])
    ran.clear()

    assert work.cells(draw, KEYS) == whole
    assert ran == KEYS[-1:]


@pytest.mark.parametrize("other", [{"seed": 1}, {"code": "b"}, {"invented": ("pima",)}])
def test_cells_of_another_seed_code_or_data_are_not_used(tmp_path: Path, other: dict[str, Any]) -> None:
    Work("000/x", keep=tmp_path, code="a").cells(draw, KEYS)
    ran.clear()
    Work("000/x", keep=tmp_path, **{"code": "a", **other}).cells(draw, KEYS)

    assert len(ran) == len(KEYS)


def test_the_seed_and_the_item_decide_and_nothing_else(tmp_path: Path) -> None:
    figures = Work("000/x").cells(draw, KEYS)

    assert Work("000/x").cells(draw, KEYS[::-1])[::-1] == figures
    assert Work("000/x", size="full", keep=tmp_path).cells(draw, KEYS) == figures
    assert Work("000/x", seed=1).cells(draw, KEYS) != figures
    assert Work("000/y").cells(draw, KEYS) != figures
    with processes(2) as pool:
        assert Work("000/x", pool=pool).cells(draw, KEYS) == figures


def test_kept_figures_are_what_json_holds(tmp_path: Path) -> None:
    Work("000/x", keep=tmp_path).cells(draw, KEYS)

    for line in (tmp_path / "000-x.jsonl").read_text().splitlines():
        assert json.loads(line)["seed"] == 0
