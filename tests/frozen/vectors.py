"""Hashes of every entry of tests/vectors: later versions may add entries, and none is edited or taken away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.frozen.compare import sha256

FOLDER = Path(__file__).parent.parent / "vectors"


def entries(folder: Path = FOLDER) -> dict[str, Any]:
    """By file and hash: a word about the entry. A session of the secure protocol is kept whole and line by line."""
    out: dict[str, Any] = {}
    for path in sorted(folder.glob("*.json")):
        held = json.loads(path.read_text("utf-8"))
        for place, entry in _parts(held):
            name = entry.get("name", place) if isinstance(entry, dict) else place
            out[f"{path.name} {sha256(entry)}"] = str(name)[:60]
    return out


def _parts(held: Any, place: str = "") -> list[tuple[str, Any]]:
    if isinstance(held, list):
        return [(f"{place}[{i}]", entry) for i, entry in enumerate(held)]
    out = []
    for key, value in held.items():
        if not isinstance(value, list):
            out.append((key, {key: value}))
            continue
        for at, entry in _parts(value, key):
            out.append((at, entry))
            lines = entry.get("lines", ()) if isinstance(entry, dict) else ()
            out += [(f"{at}.lines[{i}]", {"place": f"{at}.lines[{i}]", "line": line}) for i, line in enumerate(lines)]
    return out
