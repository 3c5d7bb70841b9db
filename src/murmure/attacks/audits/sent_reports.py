"""Reports as they are sent: type, order and length are kept, and every number has its place.

A batch of reports becomes columns of numbers, under stable keys, so that two batches can be compared:

    ("position", i)      element i of an array, a list, bytes; a single number, or the digest of a text, is element 0
    ("part", name, i)    the same of an attribute, where a report has a part for each
    ("form",)            a digest of types, lengths and keys in order; of a report that did not come, of why
    ("length",)          how many elements there are
    ("whole",)           a digest of the whole report

What is not there (a shorter report, a hidden attribute) is ABSENT.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import Any

import numpy as np

from murmure.attacks.audits.released_values import attributes as _attributes
from murmure.core.types import Array, Ints

Key = tuple[Any, ...]
ABSENT = -(1 << 62)  # no code, word or length is this number
MAX_POSITIONS = 4_096  # elements of a report that are looked at one by one; all others count in the whole report
MANY = 256  # elements, from which small numbers are kept in two bytes
FORM, LENGTH, WHOLE, REST = ("form",), ("length",), ("whole",), ("rest",)
OPAQUE = "(cannot be looked into)"  # in the form of a report


@dataclass(frozen=True)
class NoReport:
    """What an observer gets instead of a report: an error, silence. It is an outcome like any other."""

    why: str  # a class of failures: "ValueError", "timed out"
    message: str = ""  # what else the observer gets: the text of the error, the exit status


@dataclass(frozen=True)
class HttpAnswer:
    """An answer as an observer of the network gets it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str


@dataclass(frozen=True, eq=False)
class SentReports:
    """n reports, column by column. A column depends on the report alone, never on the batch that it came in."""

    n: int
    columns: Mapping[Key, Array]
    constants: Mapping[Key, int] = field(default_factory=dict)  # columns that are the same all over
    texts: Mapping[int, str] = field(default_factory=dict)  # what a digest stands for, for people
    batch: int = 0  # reports that came from one call; 0: each from its own

    @cached_property
    def whole(self) -> Ints:
        """One number for each report: equal reports have equal numbers. What is absent adds nothing."""
        mixed = np.zeros(self.n, np.uint64)
        constants = {key: np.array([value]) for key, value in self.constants.items()}
        with np.errstate(over="ignore"):
            for key, column in {**self.columns, **constants}.items():
                words = _spread(_bits(column) + np.uint64(digest(repr(key))))
                mixed += np.where(column == ABSENT, np.uint64(0), words)
        return mixed.view(np.int64)

    def column(self, key: Key) -> Array:
        """A column; ABSENT all over where no report has it."""
        if key == WHOLE:
            return self.whole
        found = self.columns.get(key)
        return np.full(self.n, self.constants.get(key, ABSENT), np.int64) if found is None else found

    def part(self, start: int, stop: int) -> SentReports:
        columns = {key: column[start:stop] for key, column in self.columns.items()}
        n = max(0, min(stop, self.n) - start)
        return SentReports(n, columns, self.constants, self.texts, self.batch if start == 0 else 0)

    def take(self, rows: Array) -> SentReports:
        columns = {key: column[rows] for key, column in self.columns.items()}
        return SentReports(len(rows), columns, self.constants, self.texts)


def joined(batches: Sequence[SentReports]) -> SentReports:
    """Several batches one after the other."""
    if len(batches) == 1:
        return batches[0]
    constants = {
        key: value
        for key, value in batches[0].constants.items()
        if all(batch.constants.get(key) == value for batch in batches)
    }
    keys = {key: None for batch in batches for key in (*batch.columns, *batch.constants) if key not in constants}
    columns = {key: np.concatenate([batch.column(key) for batch in batches]) for key in keys}
    texts: dict[int, str] = {}
    for batch in batches:
        texts.update(batch.texts)
    return SentReports(sum(batch.n for batch in batches), columns, constants, texts)


def written_out(sent: SentReports, row: int) -> str:
    """One report for people: its elements in order."""
    elements = [column[row].item() for key, column in sent.columns.items() if key[0] in ("position", "part")]
    return str([sent.texts.get(element, element) for element in elements if element != ABSENT])


def sent_array(reports: Array) -> SentReports:
    """A batch in an array: the first axis counts reports."""
    if reports.dtype.kind not in "iubf":
        return sent_objects(list(reports))
    rows = reports.reshape(len(reports), -1)
    form = f"array {reports.dtype.str} {reports.shape[1:]}"
    columns: dict[Key, Array] = {("position", i): rows[:, i] for i in range(rows.shape[1])}
    return SentReports(len(rows), columns, {FORM: digest(form), LENGTH: rows.shape[1]}, {digest(form): form})


def sent_parts(parts: Mapping[str, Array], shown_by: Mapping[str, Ints] | None, n: int) -> SentReports:
    """Reports with a part for each attribute; shown_by: which people show it, where not all do."""
    out: dict[Key, Array] = {}
    for name, part in parts.items():
        rows = part.reshape(len(part), -1)
        for i in range(rows.shape[1]):
            column = rows[:, i]
            if shown_by is not None:
                column = np.full(n, ABSENT, np.int64)
                column[shown_by[name]] = rows[:, i].astype(np.int64)
            out["part", name, i] = column
    return SentReports(n, out)


def sent_objects(reports: Sequence[Any]) -> SentReports:
    """Reports of any type, as a callable returns them."""
    kinds = set(map(type, reports))
    if len(kinds) == 1:  # the common cases, without a look at each report
        kind = next(iter(kinds))
        if kind in (bool, float) or (kind is int and min(reports) > -(1 << 62) and max(reports) < 1 << 62):
            columns: dict[Key, Array] = {("position", 0): np.array(reports, np.float64 if kind is float else np.int64)}
            name = kind.__name__
            return SentReports(len(reports), columns, {FORM: digest(name), LENGTH: 1}, {digest(name): name})
    flat = [flatten(report) for report in reports]
    return _of_leaves([form for form, _ in flat], [leaves for _, leaves in flat])


def sent_lines(lines: Sequence[str | NoReport | HttpAnswer]) -> SentReports:
    """Lines or bodies as they came: the text itself, and the numbers in it where it is JSON."""
    forms, leaves, wholes = [], [], []
    texts: dict[int, str] = {}
    for line in lines:
        form, inside = flatten_line(line)
        forms.append(form)
        leaves.append(inside)
        text = line if isinstance(line, str) else line.body if isinstance(line, HttpAnswer) else form
        whole = digest(text)
        texts.setdefault(whole, text)
        wholes.append(whole)
    sent = _of_leaves(forms, leaves)
    columns = {**sent.columns, ("line",): np.array(wholes, np.int64)}
    return SentReports(sent.n, columns, sent.constants, {**texts, **sent.texts})


@lru_cache(maxsize=4096)
def flatten_line(line: str | NoReport | HttpAnswer) -> tuple[str, tuple[Any, ...]]:
    if isinstance(line, NoReport):
        return flatten(line)
    if isinstance(line, HttpAnswer):  # status and headers first: their places do not depend on the body's length
        form, leaves = flatten_line(line.body)
        about, before = flatten([line.status, *(value for _, value in line.headers)])
        return f"{form}, {about} {[name for name, _ in line.headers]}", (*before, *leaves)
    try:
        return flatten(json.loads(line))
    except (ValueError, RecursionError):
        return flatten(line)


def flatten(report: Any) -> tuple[str, tuple[Any, ...]]:
    """The form of a report (types, lengths, keys in order), and its numbers in order."""
    out: list[Any] = []
    try:
        return _form(report, out), tuple(out)
    except RecursionError:  # it contains itself
        return f"{type(report).__qualname__} {OPAQUE}", tuple(out[:MAX_POSITIONS])


def _form(value: Any, out: list[Any]) -> str:
    if isinstance(value, NoReport):
        if value.message:
            _form(value.message, out)
        return f"no report: {value.why}"
    if value is None:
        return "None"
    if isinstance(value, bool | np.bool_ | int | np.integer):
        out.append(int(value))
        return type(value).__name__
    if isinstance(value, float | np.floating):
        out.append(float(value))
        return type(value).__name__
    if isinstance(value, str):
        out.append(value)
        out.extend(value.encode("utf-8", "surrogatepass"))
        return f"str {len(value)}"
    if isinstance(value, bytes | bytearray | memoryview):
        out.extend(bytes(value))
        return f"{type(value).__name__} {len(value)}"
    if isinstance(value, np.ndarray):
        forms = [_form(item, out) for item in value.ravel().tolist()] if value.dtype.kind == "O" else []
        if value.dtype.kind != "O":
            out.extend(value.ravel().tolist())
        return f"array {value.dtype.str} {value.shape} {_runs(forms)}"
    if isinstance(value, Mapping):
        forms = []
        for key, item in value.items():  # in order: a dictionary is sent in the order that it has
            forms.append(f"{key!r}:{_form(item, out)}")
        return f"{type(value).__name__} {{{','.join(forms)}}}"
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__} {_runs([_form(item, out) for item in value])}"
    if is_dataclass(value) and not isinstance(value, type):
        return _form({f.name: getattr(value, f.name) for f in fields(value)}, out)
    if isinstance(value, Iterable):
        return f"{type(value).__name__} {_runs([_form(item, out) for item in value])}"
    name = type(value).__qualname__
    parts = [] if callable(value) else _attributes(value)
    if parts:
        return f"{name} {_form(dict(parts), out)}"
    if callable(value) or vars(object)["__repr__"] is type(value).__repr__:  # an address says nothing of what is in it
        return f"{name} {OPAQUE}"
    out.append(repr(value))
    return name


def _runs(forms: list[str]) -> str:
    """Types in order; equal neighbours are counted."""
    if len(set(forms)) <= 1:
        return f"{len(forms)} x {forms[0] if forms else ''}"
    return ",".join(forms)


@lru_cache(maxsize=65536)
def digest(text: str) -> int:
    """A number of 62 bits that stands for a text, the same in every run."""
    raw = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big") >> 2


def _of_leaves(forms: Sequence[str], leaves: Sequence[tuple[Any, ...]]) -> SentReports:
    n = len(forms)
    texts = {digest(form): form for form in set(forms)}
    columns: dict[Key, Array] = {
        FORM: np.array([digest(form) for form in forms], np.int64),
        LENGTH: np.array([len(inside) for inside in leaves], np.int64),
    }
    for i, column in enumerate(zip_longest(*leaves, fillvalue=None)):
        if i >= MAX_POSITIONS:
            rest = [digest(repr(inside[MAX_POSITIONS:])) for inside in leaves]
            columns[REST] = np.array(rest, np.int64)
            break
        numbers = _numbers(column, texts)
        if i >= MANY and numbers.dtype.kind == "i" and numbers.min() > -(1 << 15) and numbers.max() < 1 << 15:
            numbers = numbers.astype(np.int16)
        columns["position", i] = numbers
    return SentReports(n, columns, {}, texts)


def _numbers(values: Sequence[Any], texts: dict[int, str]) -> Array:
    """Numbers as they are; a text as its digest; ABSENT where there is none."""
    numbers: list[Any] = []
    fractional = False
    for value in values:
        if value is None:
            numbers.append(ABSENT)
        elif isinstance(value, str):
            numbers.append(digest(value))
            texts.setdefault(numbers[-1], value)
        elif isinstance(value, int) and not -(1 << 62) < value < 1 << 62:
            numbers.append(digest(str(value)))
        elif isinstance(value, float | int):
            fractional = fractional or isinstance(value, float)
            numbers.append(value)
        else:
            numbers.append(digest(repr(value)))
    return np.array(numbers, np.float64 if fractional else np.int64)


def _bits(column: Array) -> Any:
    """Words that are equal where numbers are: 3 and 3.0 differ in the form of their reports, not here."""
    as_float = column.astype(np.float64).view(np.uint64)
    if column.dtype.kind == "f":
        return as_float
    words = (
        column.astype(np.int64, copy=False).view(np.uint64) if column.dtype.kind == "i" else column.astype(np.uint64)
    )
    beyond = (words >> np.uint64(53)) != 0  # a float does not have all of these bits
    return np.where(beyond & (as_float >> np.uint64(63) == 0), as_float ^ _spread(words), as_float)


def _spread(words: Any) -> Any:
    """Each bit changes half of the bits (splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
