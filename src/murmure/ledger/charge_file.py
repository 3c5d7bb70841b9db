"""The small ledger beside sanitised tables: what was paid, about which people, for which output.

    murmure-ledger.jsonl          one line of JSON a charge, never changed afterwards
    .murmure-ledger.jsonl.key     what its fingerprints are keyed with

A charge is on the disk before the output takes its name: a crash in between leaves a charge without a release, never a
release without a charge. Every line holds the hash of all lines before it, so damage shows; a last line that a crash
cut short paid for nothing that was released, and is removed by the next charge.

People are recognised by the file they came from: by its path, or by a fingerprint of its size, first, middle and last
blocks and Parquet footer, which costs the same for a hundred rows and a hundred million. Whoever knows all rows but one
could try a bare hash for the last one, so fingerprints are keyed, and the key never stands in the ledger. No value of
anybody does. The same people exported into another file are not recognised: this is the holder's own memory, no proof.
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

from murmure.core.errors import CannotWrite, InvalidParameter, MurmureError, shorten
from murmure.core.files import locked
from murmure.core.fixed import sum_up
from murmure.core.random import Random

NAME = "murmure-ledger.jsonl"
VERSION = 1
BLOCK = 1 << 20  # bytes of each of the places that are hashed; a file of at most four is hashed whole
MOST_FOOTER = 1 << 26
KEY = 32  # bytes
PARQUET = b"PAR1"
DAMAGED = "restore it from a copy; putting it aside forgets what these people have paid"


# -- people -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChargedFile:
    """The people of one file."""

    name: str
    path: str
    fingerprint: str

    def same(self, held: Mapping[str, Any]) -> bool:
        return held.get("path") == self.path or held.get("fingerprint") == self.fingerprint


def fingerprint(path: Path, key: bytes) -> str:
    """Equal for copies of a file, whatever their names."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        out = hmac.new(key, f"murmure people 1\0{size}\0".encode(), hashlib.sha256)
        for start, stop in _places(file, size):
            file.seek(start)
            while start < stop:
                block = file.read(min(BLOCK, stop - start))
                if not block:
                    break
                out.update(block)
                start += len(block)
    return out.hexdigest()[:32]


def _places(file: Any, size: int) -> list[tuple[int, int]]:
    """What of a file is hashed: all of it, or its first, middle and last blocks and the footer of a Parquet file."""
    if size <= 4 * BLOCK:
        return [(0, size)]
    middle = (size - BLOCK) // 2
    last = size - BLOCK
    file.seek(size - 8)
    tail = file.read(8)
    if tail[4:] == PARQUET:
        footer = int.from_bytes(tail[:4], "little") + 8
        if footer <= min(MOST_FOOTER, size):
            last = min(last, size - footer)
    return [(0, BLOCK), (middle, middle + BLOCK), (last, size)]


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
        """Refuses a ledger that could not be charged later: damaged, not ours, not to be written."""
        with self._said():
            if self.path.exists():
                with self._opened() as handle:
                    self._read(handle)
            elif not self.path.parent.is_dir():
                raise CannotWrite(
                    f"cannot write the ledger {str(self.path)!r}: there is no folder {str(self.path.parent)!r}.",
                    hint="make the folder first, or name another ledger",
                )
            elif not os.access(self.path.parent, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, "permission denied")
            if self.key_path.exists():
                self._key()

    def entries(self) -> list[dict[str, Any]]:
        """Every charge so far."""
        with self._said():
            if not self.path.exists():
                return []
            with self._opened(write=False) as handle:
                return self._read(handle)[0]

    def charge(self, sources: Iterable[Path], epsilon: Mapping[str, float], **about: Any) -> ChargeTotals:
        """Write a charge down, to the disk, and say what the people of these files have paid by now.

        epsilon: what it costs a "record", an "attribute" and a "person". about: anything else that JSON holds.
        """
        with self._said(), self._opened() as handle:
            held, end, last = self._read(handle)
            people = self._people(sources)
            entry: dict[str, Any] = {
                "murmure-ledger": VERSION,
                "number": len(held) + 1,
                "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "people": [vars(one) for one in people],
                "epsilon": {what: _plain(value) for what, value in epsilon.items()},
                **about,
            }
            entry["check"] = _check(last, entry)
            self._append(handle, end, json.dumps(entry, allow_nan=False).encode("ascii") + b"\n")
            return _paid([*held, entry], people)

    def _people(self, sources: Iterable[Path]) -> tuple[ChargedFile, ...]:
        key, out = self._key(), []
        for path in sources:
            try:
                out.append(ChargedFile(path.name, str(path.resolve()), fingerprint(path, key)))
            except OSError as error:
                raise InvalidParameter(f"cannot read {str(path)!r}: {_why(error)}.") from None
        return tuple(out)

    # -- bytes

    @contextmanager
    def _opened(self, write: bool = True) -> Iterator[int]:
        """The file, locked against other processes: for this one alone if it is to be written."""
        existed = self.path.exists()
        with locked(self.path, alone=write) as handle:
            if write and not existed:
                _sync_folder(self.path.parent)
            yield handle

    def _read(self, handle: int) -> tuple[list[dict[str, Any]], int, str]:
        """The charges, where the last whole line ends, and its check."""
        with open(handle, "rb", closefd=False) as file:
            file.seek(0)
            data = file.read()
        if not data:
            return [], 0, ""
        whole, _, torn = data.rpartition(b"\n")
        lines = whole.split(b"\n") if whole else []
        end = len(data) - len(torn)
        if torn and _charge(torn) is not None:  # an editor took the last newline
            lines.append(torn)
            end = len(data)
        elif torn and not lines and not b'{"murmure-ledger": '.startswith(torn[:19]):
            raise self._damaged(1, "is no charge")
        held: list[dict[str, Any]] = []
        last = ""
        for i, line in enumerate(lines, 1):
            entry = _charge(line)
            if entry is None:
                raise self._damaged(i, "is no charge")
            if entry["murmure-ledger"] != VERSION:
                raise InvalidParameter(
                    f"the ledger {str(self.path)!r} is of version {shorten(entry['murmure-ledger'])}; this software "
                    f"reads version {VERSION}.",
                    hint="install the release of murmure that wrote it, or name another ledger",
                )
            if entry.get("check") != _check(last, entry) or entry.get("number") != i:
                raise self._damaged(i, "was changed, or lines before it were")
            last = entry["check"]
            held.append(entry)
        return held, end, last

    def _damaged(self, line: int, what: str) -> InvalidParameter:
        return InvalidParameter(f"the ledger {str(self.path)!r} is damaged: line {line} {what}.", hint=DAMAGED)

    def _append(self, handle: int, end: int, line: bytes) -> None:
        """All of the line, or none; on the disk when this returns."""
        os.lseek(handle, max(0, end - 1), os.SEEK_SET)
        if end and os.read(handle, 1) != b"\n":
            line = b"\n" + line
        try:
            os.ftruncate(handle, end)  # what a crash cut short
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
        """The key of the fingerprints: made once, by whoever holds the lock, and readable by its owner alone."""
        with suppress(FileNotFoundError):
            key = self.key_path.read_bytes()
            if len(key) != KEY:
                raise InvalidParameter(
                    f"{str(self.key_path)!r} is not the key of a ledger.",
                    hint="remove it: files are then recognised by their paths alone",
                )
            return key
        part = self.key_path.with_name(f"{self.key_path.name}.part")
        part.unlink(missing_ok=True)  # of a crash
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            key = Random.secure().words(KEY // 8).tobytes()
            os.write(handle, key)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(part, self.key_path)
        _sync_folder(self.path.parent)
        return key

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except MurmureError:
            raise
        except OSError as error:
            raise CannotWrite(
                f"cannot keep the ledger {str(self.path)!r}: {_why(error)}.",
                hint="nothing is released without a charge; name another with --ledger",
            ) from None


def _paid(entries: Sequence[Mapping[str, Any]], people: Sequence[ChargedFile]) -> ChargeTotals:
    """Of the file whose people paid most, every charge."""
    best = None
    for one in people:
        mine = [e for e in entries if any(one.same(held) for held in e["people"])]
        paid = ChargeTotals(len(entries), one.name, tuple(float(e["epsilon"]["person"]) for e in mine))
        if best is None or paid.total > best.total:
            best = paid
    return best or ChargeTotals(len(entries), "", (float(entries[-1]["epsilon"]["person"]),))


def _charge(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
        if not isinstance(entry, dict) or "murmure-ledger" not in entry:
            return None
        if entry["murmure-ledger"] == VERSION:
            if not all(isinstance(one, dict) for one in entry["people"]):
                return None
            float(entry["epsilon"]["person"])
        return entry
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _check(last: str, entry: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in entry.items() if name != "check"}
    return hashlib.sha256(f"{last}\n{json.dumps(rest, sort_keys=True)}".encode()).hexdigest()[:32]


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"


def _why(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno else str(error)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems know no such thing
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
