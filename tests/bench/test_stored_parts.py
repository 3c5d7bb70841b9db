"""A part that is measured again replaces the stored one whole; the others stay, with their own day and machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import stored_parts


def part(name: str, *tasks: str) -> dict[str, Any]:
    return {"about": {"date": name}, "records": [{"task": task, "lib": "murmure", "seconds": 1.5} for task in tasks]}


def test_only_the_measured_part_changes() -> None:
    stored = {"columns": part("old", "grr", "oue"), "secure": part("old", "sum")}
    merged = stored_parts.merge(stored, {"columns": part("new", "grr")})

    assert merged == {"columns": part("new", "grr"), "secure": part("old", "sum")}
    assert stored["columns"] == part("old", "grr", "oue"), "the argument is not changed"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    parts = {"secure": part("today", "sum"), "columns": part("yesterday", "grr", "oue"), "wire": part("today")}
    stored_parts.write(file, parts)

    assert stored_parts.read(file) == parts
    assert list(stored_parts.read(file)) == ["columns", "secure", "wire"], "in order of names, whoever came first"
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"], "no draft is left"
    assert sum('"task"' in line for line in file.read_text().splitlines()) == 3, "one record a line"


def test_nothing_stored_is_no_part(tmp_path: Path) -> None:
    assert stored_parts.read(tmp_path / "results.json") == {}


def test_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps({"format": 0, "parts": {}}))

    with pytest.raises(SystemExit, match="has format 0, not 1"):
        stored_parts.read(tmp_path / "results.json")


def test_messages_of_errors_stay_here(tmp_path: Path) -> None:
    """They may hold paths of this machine; that something failed is kept."""
    broken = {"task": "wire", "lib": "murmure", "error": "exit 1: no such file /home/somebody"}
    stored_parts.write(tmp_path / "r.json", {"wire": {"about": {}, "records": [broken]}})

    assert "somebody" not in (tmp_path / "r.json").read_text()
    assert stored_parts.read(tmp_path / "r.json")["wire"]["records"] == [broken | {"error": "failed"}]
    assert broken["error"].startswith("exit 1"), "the record in hand keeps its message"
