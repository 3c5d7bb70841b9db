"""What an item is given to measure with: how much to do, randomness that is the same again, data, and kept cells.

An experiment is cut into cells (one epsilon, one repetition, ...). A finished cell is kept in a file, so a run that was
interrupted goes on where it stopped, and a longer run uses what a shorter one has done.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.engines.base.progress import with_progress
from murmure.lectures.course.interrupts import interrupts_blocked
from murmure.lectures.data_sets.tables import DataTable, find_table
from murmure.show.data import plain

T = TypeVar("T")
Cell = Callable[..., Any]  # (work, rng, **key) -> what JSON can hold; a function of a module, so that processes find it
Size = Literal["tiny", "quick", "full"]
WORD = 2**63


@dataclass(frozen=True)
class Work:
    """size: how much is done; "quick" is less of the same, "tiny" shows that it runs. seed: the same figures again."""

    item: str
    size: Size = "quick"
    seed: int = 0
    keep: Path | None = None  # the folder of finished cells
    code: str = ""  # a digest of the item's file: cells of other code are not used
    invent: bool = False  # invented data may stand in for missing ones
    invented: tuple[str, ...] = ()  # the data sets that are invented
    needs: tuple[str, ...] | None = None  # the data sets that the item names; None: any
    pool: Executor | None = field(default=None, repr=False, compare=False)

    def choose(self, tiny: T, quick: T, full: T) -> T:
        """By size: how many people, repetitions, points of a curve, ..."""
        return {"tiny": tiny, "quick": quick, "full": full}[self.size]

    def rng(self, *names: Any) -> Random:
        """Randomness that depends on the seed, the item and the names, and on nothing else."""
        digest = hashlib.sha256(json.dumps([self.item, *names], sort_keys=True).encode()).digest()
        return Random.seeded(self.seed).child(int.from_bytes(digest[:8], "little") % WORD)

    def table(self, name: str) -> DataTable:
        if self.needs is not None and name not in self.needs:  # or a page would not say that its rows are invented
            raise RuntimeError(f"{self.item} reads {name!r}, which is not in its needs")
        return find_table(name, self.invent)

    def cells(self, cell: Cell, keys: Sequence[Mapping[str, Any]], what: str | None = None) -> list[Any]:
        """cell(work, rng, **key) for every key, in order; what was done before is not done again."""
        names = [json.dumps(dict(key), sort_keys=True) for key in keys]
        done = self._kept()
        missing = [(name, key) for name, key in zip(names, keys, strict=True) if name not in done]
        bare = replace(self, pool=None, keep=None)
        jobs = ((name, bare, cell, dict(key)) for name, key in missing)
        results = self._in_pool(jobs) if self.pool is not None else (_run(*job) for job in jobs)
        bar_text = what or Phrase("computing {item}", item=self.item)
        for batch in with_progress(([result] for result in results), len(missing), bar_text):
            name, value = batch[0]
            done[name] = value
            self._keep(name, value)
        return [done[name] for name in names]

    def _in_pool(self, jobs: Iterator[tuple[str, Work, Cell, dict[str, Any]]]) -> Iterator[tuple[str, Any]]:
        assert self.pool is not None
        with interrupts_blocked():
            futures = [self.pool.submit(_run, *job) for job in jobs]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()

    # -- kept cells

    @property
    def _file(self) -> Path | None:
        return None if self.keep is None else self.keep / f"{self.item.replace('/', '-')}.jsonl"

    def _mark(self) -> dict[str, Any]:
        return {"seed": self.seed, "code": self.code, "invented": list(self.invented)}

    def _kept(self) -> dict[str, Any]:
        if self._file is None or not self._file.exists():
            return {}
        out = {}
        for line in self._file.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:  # the last line of a run that was killed
                continue
            if all(record.get(name) == value for name, value in self._mark().items()):
                out[record["key"]] = record["value"]
        return out

    def _keep(self, name: str, value: Any) -> None:
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": name, **self._mark(), "value": value}) + "\n")


def _run(name: str, work: Work, cell: Cell, key: dict[str, Any]) -> tuple[str, Any]:
    """One cell; its value as JSON gives it back, so that a kept one is the same."""
    value = cell(work, work.rng(name), **key)
    return name, json.loads(json.dumps(plain(value)))
