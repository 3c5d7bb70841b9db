"""The small ledger beside sanitised tables: what was paid, about which people, for which output.

    murmure-ledger.jsonl          one line of JSON a charge, never changed afterwards
    .murmure-ledger.jsonl.key     the key of its fingerprints

A charge is on the disk before the output takes its name: a crash in between leaves a charge without a release, never a
release without a charge. Every line holds the hash of all lines before it, so damage shows; a last line that a crash
cut short paid for nothing that was released, and is removed by the next charge.

People are recognised by the file they came from: by its path, or by a fingerprint of its size, first, middle and last
blocks and Parquet footer, which costs the same for a hundred rows and a hundred million. Somebody who knows all rows
but one could guess the last one by a bare hash, so fingerprints are keyed, and the key is never in the ledger. No value
of anybody is. The same people exported into another file are not recognised: the ledger helps its holder to remember,
and is not a proof.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from murmure.core.errors import CannotWrite, InvalidParameter, MurmureError, Phrase, shorten
from murmure.core.files import locked
from murmure.core.fixed import sum_up
from murmure.core.random import Random
from murmure.core.sqlite_files import sync_folder
from murmure.ledger.words import system_reason

NAME = "murmure-ledger.jsonl"
VERSION = 1
BLOCK_BYTES = 1 << 20  # of each range that is hashed; a file of at most four blocks is hashed whole
MAX_FOOTER_BYTES = 1 << 26
KEY_BYTES = 32
PARQUET = b"PAR1"
DAMAGED = Phrase("restore it from a copy; putting it aside forgets what these people have paid")


# -- people -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChargedFile:
    """The people of one file."""

    name: str
    path: str
    fingerprint: str

    def matches(self, entry: Mapping[str, Any]) -> bool:
        return entry.get("path") == self.path or entry.get("fingerprint") == self.fingerprint


def fingerprint(path: Path, key: bytes) -> str:
    """Equal for copies of a file, whatever their names."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        out = hmac.new(key, f"murmure people 1\0{size}\0".encode(), hashlib.sha256)
        for start, stop in _hashed_ranges(file, size):
            file.seek(start)
            while start < stop:
                block = file.read(min(BLOCK_BYTES, stop - start))
                if not block:
                    break
                out.update(block)
                start += len(block)
    return out.hexdigest()[:32]


def _hashed_ranges(file: Any, size: int) -> list[tuple[int, int]]:
    """What of a file is hashed: all of it, or its first, middle and last blocks and the footer of a Parquet file."""
    if size <= 4 * BLOCK_BYTES:
        return [(0, size)]
    middle = (size - BLOCK_BYTES) // 2
    last = size - BLOCK_BYTES
    file.seek(size - 8)
    tail = file.read(8)
    if tail[4:] == PARQUET:
        footer = int.from_bytes(tail[:4], "little") + 8
        if footer <= min(MAX_FOOTER_BYTES, size):
            last = min(last, size - footer)
    return [(0, BLOCK_BYTES), (middle, middle + BLOCK_BYTES), (last, size)]


# -- the ledger -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChargeTotals:
    """What some people have paid so far, the last charge included."""

    number: int  # of the charge
    name: str  # of the file whose people paid most
    charges: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum_up(self.charges)


@dataclass(frozen=True)
class ChargeFile:
    """One file of charges. `check` before anything is randomised, `charge` before anything is released."""

    path: Path

    @classmethod
    def beside(cls, output: str | os.PathLike[str]) -> ChargeFile:
        return cls(Path(os.path.realpath(output)).parent / NAME)

    @property
    def key_path(self) -> Path:
        return self.path.with_name(f".{self.path.name}.key")

    def check(self) -> None:
        """Refuse a ledger that could not be charged later: damaged, another program's, or not writable."""
        with self._system_errors():
            if self.path.exists():
                with self._opened() as handle:
                    self._read(handle)
            elif not self.path.parent.is_dir():
                raise CannotWrite(
                    "cannot write the ledger {path!r}: there is no folder {parent!r}.",
                    hint="make the folder first, or name another ledger",
                    path=str(self.path),
                    parent=str(self.path.parent),
                )
            elif not os.access(self.path.parent, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, "permission denied")
            if self.key_path.exists():
                self._key()

    def entries(self) -> list[dict[str, Any]]:
        """Every charge so far."""
        with self._system_errors():
            if not self.path.exists():
                return []
            with self._opened(write=False) as handle:
                return self._read(handle)[0]

    def charge(self, sources: Iterable[Path], epsilon: Mapping[str, float], **about: Any) -> ChargeTotals:
        """Write a charge to the disk, and return what the people of these files have paid by now.

        epsilon: what it costs a "record", an "attribute" and a "person". about: anything else that JSON holds.
        """
        with self._system_errors(), self._opened() as handle:
            entries, end, last_check = self._read(handle)
            people = self._people(sources)
            entry: dict[str, Any] = {
                "murmure-ledger": VERSION,
                "number": len(entries) + 1,
                "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "people": [vars(file) for file in people],
                "epsilon": {what: _plain(value) for what, value in epsilon.items()},
                **about,
            }
            entry["check"] = _checksum(last_check, entry)
            self._append(handle, end, json.dumps(entry, allow_nan=False).encode("ascii") + b"\n")
            return _totals([*entries, entry], people)

    def _people(self, sources: Iterable[Path]) -> tuple[ChargedFile, ...]:
        key, out = self._key(), []
        for path in sources:
            try:
                out.append(ChargedFile(path.name, str(path.resolve()), fingerprint(path, key)))
            except OSError as error:
                raise InvalidParameter(
                    "cannot read {path!r}: {error}.", path=str(path), error=system_reason(error)
                ) from None
        return tuple(out)

    # -- bytes

    @contextmanager
    def _opened(self, write: bool = True) -> Iterator[int]:
        """The file, locked against other processes: exclusively if it is to be written."""
        existed = self.path.exists()
        with locked(self.path, alone=write) as handle:
            if write and not existed:
                sync_folder(self.path.parent)
            yield handle

    def _read(self, handle: int) -> tuple[list[dict[str, Any]], int, str]:
        """The charges, where the last whole line ends, and its checksum."""
        with open(handle, "rb", closefd=False) as file:
            file.seek(0)
            data = file.read()
        if not data:
            return [], 0, ""
        whole, _, rest = data.rpartition(b"\n")
        lines = whole.split(b"\n") if whole else []
        end = len(data) - len(rest)
        if rest and _parse_charge(rest) is not None:  # an editor removed the last newline
            lines.append(rest)
            end = len(data)
        elif rest and not lines and not b'{"murmure-ledger": '.startswith(rest[:19]):
            raise self._damaged(1, Phrase("is no charge"))
        entries: list[dict[str, Any]] = []
        last_check = ""
        for i, text in enumerate(lines, 1):
            entry = _parse_charge(text)
            if entry is None:
                raise self._damaged(i, Phrase("is no charge"))
            if entry["murmure-ledger"] != VERSION:
                raise InvalidParameter(
                    "the ledger {path!r} is of version {entry}; this software reads version {version}.",
                    hint="install the release of murmure that wrote it, or name another ledger",
                    path=str(self.path),
                    entry=shorten(entry["murmure-ledger"]),
                    version=VERSION,
                )
            if entry.get("check") != _checksum(last_check, entry) or entry.get("number") != i:
                raise self._damaged(i, Phrase("was changed, or lines before it were"))
            last_check = entry["check"]
            entries.append(entry)
        return entries, end, last_check

    def _damaged(self, line: int, what: str) -> InvalidParameter:
        return InvalidParameter(
            "the ledger {path!r} is damaged: line {line} {what}.",
            hint=DAMAGED,
            path=str(self.path),
            line=line,
            what=what,
        )

    def _append(self, handle: int, end: int, line: bytes) -> None:
        """Append all of the line, or nothing; it is on the disk when this returns."""
        os.lseek(handle, max(0, end - 1), os.SEEK_SET)
        if end and os.read(handle, 1) != b"\n":
            line = b"\n" + line
        try:
            os.ftruncate(handle, end)  # remove what a crash cut short
            os.lseek(handle, end, os.SEEK_SET)
            done = 0
            while done < len(line):
                done += os.write(handle, line[done:])
            os.fsync(handle)
        except OSError:
            with suppress(OSError):
                os.ftruncate(handle, end)
            raise

    def _key(self) -> bytes:
        """The key of the fingerprints: made once, under the lock, and readable by its owner only."""
        with suppress(FileNotFoundError):
            key = self.key_path.read_bytes()
            if len(key) != KEY_BYTES:
                raise InvalidParameter(
                    "{key_path!r} is not the key of a ledger.",
                    hint="remove it: files are then recognised by their paths alone",
                    key_path=str(self.key_path),
                )
            return key
        # Written whole under another name: a key that a crash cut short would recognise nothing.
        part = self.key_path.with_name(f"{self.key_path.name}.part")
        part.unlink(missing_ok=True)  # left by a crash
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            key = Random.secure().words(KEY_BYTES // 8).tobytes()
            os.write(handle, key)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(part, self.key_path)
        sync_folder(self.path.parent)
        return key

    @contextmanager
    def _system_errors(self) -> Iterator[None]:
        try:
            yield
        except MurmureError:
            raise
        except OSError as error:
            raise CannotWrite(
                "cannot keep the ledger {path!r}: {error}.",
                hint="nothing is released without a charge; name another with --ledger",
                path=str(self.path),
                error=system_reason(error),
            ) from None


def _totals(entries: Sequence[Mapping[str, Any]], people: Sequence[ChargedFile]) -> ChargeTotals:
    """Every charge to the people of one file: the file whose people paid most."""
    worst = None
    for file in people:
        charges = [entry for entry in entries if any(file.matches(known) for known in entry["people"])]
        paid = ChargeTotals(len(entries), file.name, tuple(float(entry["epsilon"]["person"]) for entry in charges))
        if worst is None or paid.total > worst.total:
            worst = paid
    return worst or ChargeTotals(len(entries), "", (float(entries[-1]["epsilon"]["person"]),))


def _parse_charge(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
        if not isinstance(entry, dict) or "murmure-ledger" not in entry:
            return None
        if entry["murmure-ledger"] == VERSION:
            if not all(isinstance(file, dict) for file in entry["people"]):
                return None
            float(entry["epsilon"]["person"])
        return entry
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _checksum(last: str, entry: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in entry.items() if name != "check"}
    return hashlib.sha256(f"{last}\n{json.dumps(rest, sort_keys=True)}".encode()).hexdigest()[:32]


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"
