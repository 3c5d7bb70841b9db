"""A floor is the dearer of what a core must do and what memory must bring, at the rates of the same machine."""

from __future__ import annotations

from typing import Any

import floors
import goals
import pytest
import sections
import table
from rounds import OURS

FAST = OURS[1]


def rate(name: str, ns: float, i: int = 0) -> dict[str, Any]:
    return {"task": f"rate.{name}", "lib": "floor", "n": 1, "round": i, "seconds": ns * 1e-9, "per_item_ns": ns}


def need(task: str, **amounts: float) -> dict[str, Any]:
    return {"task": f"need.{task}", "lib": "floor", "needs": amounts}


def ours(task: str, seconds: float, n: int, lib: str = FAST) -> dict[str, Any]:
    return {"task": task, "lib": lib, "n": n, "round": 0, "seconds": seconds, "per_item_ns": seconds / n * 1e9}


def test_what_a_core_does_adds_up_and_memory_is_busy_meanwhile() -> None:
    cost = {"keystream": 0.1, "product": 0.5, "cache": 0.01, "memory": 1.0}
    core = floors.floor_of({"keystream": 10, "product": 4, "cache": 5}, cost)
    memory = floors.floor_of({"keystream": 10, "cache": 50, "memory": 2}, cost)

    assert core == (pytest.approx(3.0), {"keystream": 10, "product": 4})
    assert memory == (pytest.approx(2.5), {"cache": 50, "memory": 2})
    assert floors.floor_of({"cache": 100}, cost) == (pytest.approx(1.0), {"cache": 100})


def test_the_fastest_round_of_a_rate_counts() -> None:
    assert floors.rates([rate("keystream", 3), rate("keystream", 2, 1), ours("grr.client", 1, 1)]) == {"keystream": 2}


def test_a_line_has_floor_time_and_distance() -> None:
    label = next(row.label for row in goals.COLUMN if row.task == "grr.client")
    records = [rate("keystream", 0.5), rate("cache", 0.01), need("grr.client", keystream=8, cache=9)]
    (empty,) = sections.floor_section(records).lines
    (line,) = sections.floor_section(
        [*records, ours("grr.client", 10e-6, 1000), ours("grr.client", 1, 1, OURS[0])]
    ).lines

    assert empty == [label, "8 B of keystream", "4", "?", "?"]
    assert line == [label, "8 B of keystream", "4", "10", "2.5"]


def test_of_a_regression_the_largest_table_counts_row_by_row() -> None:
    records = [rate("double", 2.0), need("ols.stated", double=21)]
    records += [ours("ols.stated.10", 1.0, 10, "murmure"), ours("ols.stated.1000", 84e-6, 1000, "murmure")]
    (line,) = sections.floor_section(records).lines

    assert line[0].endswith(", 1,000 rows") and line[1:] == ["21 doubles decoded", "42", "84", "2"]


def test_a_need_without_a_rate_has_no_floor() -> None:
    assert sections.floor_section([rate("cache", 1), need("grr.client", keystream=8, cache=9)]).lines == []


def test_floors_are_not_held_against_another_machine() -> None:
    about = {"processor": "EPYC", "cores": 2, "python": "3", "ours": [], "peers": [], "byte code": "written"}
    about |= {"date": "1 May", "rounds": 1, "loads": [0.0]}
    measured = [ours("grr.client", 10e-6, 1000)]
    parts = {
        "floors": {"about": about, "records": [rate("keystream", 0.5), need("grr.client", keystream=8)]},
        "columns": {"about": about, "records": measured},
    }
    line = "| 8 B of keystream | 4 | {} |"

    assert line.format("10 | 2.5") in table.page(parts)
    for other in ({"processor": "Xeon"}, {"cores": 1}):
        elsewhere = parts | {"columns": {"about": about | other, "records": measured}}
        assert line.format("? | ?") in table.page(elsewhere)
