"""`murmure-ledger.jsonl`: what murmure 0.5 wrote beside sanitised tables. It is read here, once, and never written.

    murmure-ledger.jsonl          one line of JSON a charge, each with the hash of all lines before it
    .murmure-ledger.jsonl.key     the key of its fingerprints

Until its charges are in the ledger, nothing beside it is released: what these people have paid would be forgotten.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from murmure.core.blocks import pure_cost
from murmure.core.errors import InvalidParameter, LedgerFailed, Phrase, shorten
from murmure.ledger.account import Charge
from murmure.ledger.store import OLD_CHARGES
from murmure.ledger.words import plain_text, system_reason

if TYPE_CHECKING:
    from murmure.ledger.ledger import Ledger

OLD_NAME = "murmure-ledger.jsonl"
VERSION = 1
MAX_LINE_BYTES = 1 << 16
DAMAGED = Phrase("restore it from a backup; without it, what these people have paid is forgotten")


@dataclass(frozen=True)
class OldCharges:
    """The lines of one file, checked."""

    path: Path
    lines: tuple[Mapping[str, Any], ...]

    @classmethod
    def read(cls, path: Path) -> OldCharges:
        """A last line that a crash cut short paid for nothing that was released, and is left out."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InvalidParameter(
                "cannot read {path!r}: {error}.", path=str(path), error=system_reason(error)
            ) from None
        *whole, rest = data.split(b"\n")
        if rest and _parsed(rest) is not None:  # an editor removed the last newline
            whole.append(rest)
        elif rest and not whole and not OLD_CHARGES.startswith(rest[: len(OLD_CHARGES)]):
            raise _damaged(path, 1, Phrase("is not a charge"))
        lines: list[Mapping[str, Any]] = []
        last_check = ""
        for number, text in enumerate(whole, 1):
            line = _parsed(text)
            if line is None:
                raise _damaged(path, number, Phrase("is not a charge"))
            if line["murmure-ledger"] != VERSION:
                raise InvalidParameter(
                    "{path!r} is of version {line}; this software reads {version}.",
                    hint="install the release of murmure that wrote it",
                    path=str(path),
                    line=shorten(line["murmure-ledger"]),
                    version=VERSION,
                )
            if line.get("check") != _checksum(last_check, line) or line.get("number") != number:
                raise _damaged(path, number, Phrase("was changed, or lines before it were"))
            last_check = line["check"]
            lines.append(line)
        return cls(path, tuple(lines))

    def names(self) -> list[list[str]]:
        """For every line, the names of the data that paid; a file that came back under another name has its first.

        Files were recognised by their path or by their bytes: those that share one are the same people.
        """
        name_of: dict[tuple[str, str], str] = {}
        out = []
        for line in self.lines:
            names = []
            for file in line["people"]:
                marks = [(kind, str(file[kind])) for kind in ("path", "fingerprint") if file.get(kind)]
                name = next((name_of[mark] for mark in marks if mark in name_of), str(file.get("name") or "data"))
                name_of |= {mark: name_of.get(mark, name) for mark in marks}
                names.append(name)
            out.append(list(dict.fromkeys(names)))
        return out


def import_old_charges(ledger: Ledger, path: Path, dataset: str | None = None) -> list[Charge]:
    """Take every charge of the file over, once: lines that the ledger has already are passed over."""
    old = OldCharges.read(path)
    if not old.lines:
        return []
    if not ledger.exists():
        ledger._store.create()
    out: list[Charge] = []
    with ledger._journal.writing() as journal:
        for line, names in zip(old.lines, old.names(), strict=True):
            if journal.note(_note(line)) is not None:
                continue
            for name in dict.fromkeys([dataset] * len(names) if dataset else names):
                charge = _charge_of(line, path)
                counted = journal.state(name).currency
                # Rows and people do not add up: charges in another unit have an account of their own.
                if counted is not None and counted.unit != charge["unit"]:
                    name = " by ".join((name, charge["unit"]))
                out.append(ledger.account(name).record_past(journal, **charge))
            journal.set_note(_note(line), path.name)
    return out


def _note(line: Mapping[str, Any]) -> str:
    """What a ledger remembers of a line that it took over. Its check covers all lines before it, so two copies of a
    file that went on differently share what they have in common, and nothing else.
    """
    return f"imported {line['check']}"


def _charge_of(line: Mapping[str, Any], path: Path) -> dict[str, Any]:
    about = f"sanitised table {line.get('output', '')}, from line {line['number']} of {path.name}"
    return {
        "at": str(line.get("when", "")),
        "plan": str(line.get("plan", "")),
        "about": plain_text(about),
        "cost": pure_cost(float(line["epsilon"]["person"])),
        "relation": "replace",
        "unit": str(line.get("unit", "row")),
        "seeded": bool(line.get("seeded")),
    }


def refuse_unimported(ledger: Ledger, folders: Iterable[Path]) -> None:
    """Refuse to release anything beside charges that this ledger does not know."""
    for path in dict.fromkeys(Path(folder).resolve() / OLD_NAME for folder in folders):
        if not path.exists():
            continue
        with ledger._journal.reading() as journal:
            last = _parsed(_last_line(path))
            if journal is not None and last is not None and journal.note(f"imported {last.get('check')}") is not None:
                continue  # with the last line all are known
            unknown = [
                line for line in OldCharges.read(path).lines if journal is None or journal.note(_note(line)) is None
            ]
        if unknown:
            raise LedgerFailed(
                "{path!r} holds {number} charges of murmure 0.5 that the ledger {name!r} "
                "does not know: what these people have paid would be forgotten. Nothing is released.",
                hint="take them over once: murmure ledger import {quoted} --ledger {place}",
                path=str(path),
                number=len(unknown),
                name=ledger.name,
                quoted=shlex.quote(str(path)),
                place=shlex.quote(ledger.name),
            )


def _last_line(path: Path) -> bytes:
    """The last whole line, from the last bytes of the file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MAX_LINE_BYTES))
            return file.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return b""


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
        if not isinstance(entry, dict) or "murmure-ledger" not in entry:
            return None
        if entry["murmure-ledger"] == VERSION:
            if not entry["people"] or not all(isinstance(file, dict) for file in entry["people"]):
                return None
            if not float(entry["epsilon"]["person"]) >= 0:
                return None
        return entry
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _checksum(last: str, entry: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in entry.items() if name != "check"}
    return hashlib.sha256(f"{last}\n{json.dumps(rest, sort_keys=True)}".encode()).hexdigest()[:32]


def _damaged(path: Path, line: int, what: str) -> InvalidParameter:
    return InvalidParameter(
        "{path!r} is damaged: line {line} {what}.", hint=DAMAGED, path=str(path), line=line, what=what
    )
