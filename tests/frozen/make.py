"""Adds what is listed and not frozen yet to tests/frozen/data: `python -m tests.frozen.make`, from the top folder.

With --spark also figures on Spark, with --studies also the studies that tests make (tests/frozen/record.py).
It never changes an entry: what a data file holds, it keeps, word for word. A figure that differs from a frozen one is
for whoever changed it to explain; there is no option here that accepts it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.frozen import commands, vectors
from tests.frozen.compare import differences
from tests.frozen.figures import KINDS
from tests.frozen.listed import key_of, listed

DATA = Path(__file__).parent / "data"


class WouldChange(Exception):
    """An entry that is frozen already would be written with something else in it."""


def load(kind: str, folder: Path = DATA) -> dict[str, Any]:
    path = folder / f"{kind}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def add(kind: str, entries: Mapping[str, Any], folder: Path = DATA) -> list[str]:
    """Write entries that are new; those that are there must be as they are, or nothing is written at all."""
    frozen = load(kind, folder)
    wrong = [text for key in entries if key in frozen for text in differences(frozen[key], entries[key], key)]
    if wrong:
        raise WouldChange(f"{kind}.json keeps what it has, and these differ: " + "; ".join(wrong[:5]))
    new = [key for key in entries if key not in frozen]
    if new:
        lines = [
            f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False, sort_keys=True)}"
            for key, value in sorted({**entries, **frozen}.items())
        ]
        path = folder / f"{kind}.json"
        part = path.with_suffix(".part")
        part.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
        os.replace(part, path)
    return new


def missing(kind: str, wanted: Mapping[str, Any], make: Callable[[Any], Any]) -> dict[str, Any]:
    """Figures of what is listed and not frozen."""
    frozen = load(kind)
    return {key: make(kept) for key, kept in wanted.items() if key not in frozen}


RUNS = 24  # of a scene that is not the same twice: whole numbers with noise agree by chance every other time


def scene_often(scene: str) -> list[Any]:
    """What a scene tells in each of two runs, or of many where they differ; and its keys."""

    def run() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            return commands.told(commands.played(scene, Path(folder)))

    first = run()
    out = commands.repeating(first, run())
    if out != first:
        for _ in range(RUNS):
            out = commands.repeating(out, run())
    return out  # type: ignore[no-any-return]


def main() -> None:
    for kind, make in KINDS.items():
        new = missing(kind, listed()[kind], lambda kept, make=make: {"kept": kept, "figures": make(kept)})
        print(f"{kind}: {len(add(kind, new))} added")
    print(f"commands: {len(add('commands', missing('commands', {s: s for s in commands.SCENES}, scene_often)))} added")
    print(f"vectors: {len(add('vectors', missing('vectors', vectors.entries(), lambda value: value)))} added")
    if "--studies" in sys.argv:
        from tests.frozen import record

        found = {key_of(one): one for one in record.studies_of_tests()}
        new = missing("studies", found, lambda kept: {"kept": kept, "figures": KINDS["studies"](kept)})
        print(f"studies of tests: {len(add('studies', new))} added")
    if "--spark" in sys.argv:
        from tests.frozen import on_spark

        print(f"spark: {len(add('spark', on_spark.missing(load('spark'))))} added")


if __name__ == "__main__":
    main()
