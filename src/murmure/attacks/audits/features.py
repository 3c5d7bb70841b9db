"""What is looked at in a report: its elements, bits, order, length and form; and how a look is sorted into bins.

A feature is a number for each report. Bins are made from samples that only choose the event: the values that occur if
they are few, else ranges with equally many of them.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from murmure.attacks.audits.sent_reports import ABSENT, FORM, LENGTH, WHOLE, Key, SentReports
from murmure.core.errors import Phrase, Plural, shorten
from murmure.core.types import Array, Floats, Ints
from murmure.show.phrase import Several

MAX_VALUES = 512  # values that get a bin each
MAX_WHOLE = 1 << 15  # whole reports that get a bin each
RANGES = 64  # bins of numbers that are nearly all different
READ_LAST = {LENGTH: 1, FORM: 2, ("rest",): 3}  # where several features tell the same, people rather read of elements
SHOWN = 6  # values that are listed in words

# Forms of reports that are one text, or bytes: people read those as letters and not as elements.
TEXT_FORM, BYTES_FORM = re.compile(r"str \d+"), re.compile(r"(?:bytes|bytearray|memoryview) \d+")

Look = Literal["value", "bits", "bit", "low", "ones", "sorted", "highest", "first two", "sum"]


@dataclass(frozen=True)
class ReportFeature:
    """A number for each report: an element, a bit of it, or something about all elements."""

    look: Look
    key: Key = ()
    bit: int = 0
    alone: bool = False  # whether the element is the whole report, or the whole part
    letters: int | None = None  # of a text or of bytes: which byte the element is, from 1; 0: the text as a whole

    def of(self, sent: SentReports) -> Array:
        if self.look == "value":
            return sent.column(self.key)
        if self.look == "bits":
            return _words(sent.column(self.key)).view(np.int64)  # type: ignore[no-any-return]
        if self.look == "bit":
            return ((_words(sent.column(self.key)) >> np.uint64(self.bit)) & np.uint64(1)).astype(np.int8)
        if self.look == "low":
            return (_words(sent.column(self.key)) & np.uint64(255)).astype(np.int16)
        rows = _elements(sent)
        absent = rows == ABSENT
        if self.look == "ones":
            words = np.ascontiguousarray(np.where(absent, 0, rows).astype(np.int64)).view(np.uint64)
            return np.bitwise_count(words).sum(axis=1).astype(np.int64)
        if self.look == "sum":
            return np.where(absent, 0, rows).sum(axis=1)
        if self.look == "sorted":
            return ((rows[:, 1:] >= rows[:, :-1]) | absent[:, 1:]).all(axis=1).astype(np.int8)
        if self.look == "first two":
            return np.sign(rows[:, 0].astype(np.float64) - rows[:, 1].astype(np.float64)).astype(np.int8)
        return rows.argmax(axis=1)

    def words(self) -> str:
        name = self._element()
        if self.look == "value":
            return name
        if self.look == "bits":
            return Phrase("the 64 bits of {element}, as a number", element=name)
        if self.look == "bit":
            return Phrase("bit {bit} of {element}", bit=self.bit, element=name)
        if self.look == "low":
            return Phrase("the last byte of {element}", element=name)
        return {
            "ones": Phrase("the number of ones in the report"),
            "sum": Phrase("the sum of the report's elements"),
            "sorted": Phrase("whether the elements are in order"),
            "first two": Phrase("whether the first element is above the second"),
            "highest": Phrase("the place of the highest element"),
        }[self.look]

    def _element(self) -> str:
        if self.letters:
            return Phrase("byte {place} of the report", place=self.letters)
        if self.alone or self.letters == 0:
            return str(self.key[1]) if self.key[0] == "part" else Phrase("the report")
        return _named(self.key) if self.key else ""

    def holds(self, number: Any) -> str | None:
        """That the feature has this value, where a sentence says it better than "{feature} is {value}"."""
        if self.look == "sorted":
            return Phrase("the elements are in order") if number else Phrase("the elements are not in order")
        if self.look == "first two":
            return {
                -1: Phrase("the first element is below the second"),
                0: Phrase("the first two elements are equal"),
                1: Phrase("the first element is above the second"),
            }[int(number)]
        return None

    def shown(self, number: Any, texts: Any) -> Any:
        """A value of the feature: a byte as its letter, a digest as what it stands for."""
        plain = number.item()
        if plain == ABSENT:
            return Phrase("absent")
        if self.letters and self.look == "value":
            return repr(chr(plain)) if 32 <= plain < 127 else f"0x{plain:02x}"
        return shorten(texts[plain], 60) if plain in texts else plain


def features_of(sent: SentReports) -> list[ReportFeature]:
    """What can be looked at in these reports; what is the same in all of them is left out."""
    out = []
    elements = [key for key in sent.columns if key[0] in ("position", "part")]
    parts = Counter(key[:2] for key in elements if key[0] == "part")
    letters = _letters(sent)
    for key, column in sorted(sent.columns.items(), key=lambda item: READ_LAST.get(item[0], 0)):
        element = ReportFeature(
            "value",
            key,
            alone=elements == [("position", 0)] == [key] or parts[key[:2]] == 1,
            letters=None if letters is None or key not in elements else key[1] + letters,
        )
        if column.dtype.kind == "f" and key in elements and (_words(column) != _words(column[:1])).any():
            out.append(replace(element, look="bits"))  # 0.0 and -0.0 are equal, and every NaN is unlike itself
        if len(column) and (column != column[0]).any():
            out.append(element)
            if key in elements and not few_values(column, 64):
                integers = column.dtype.kind in "iu"
                out += [replace(element, look="bit", bit=bit) for bit in (range(64) if integers else range(4))]
                out += [] if integers else [replace(element, look="low")]
    numeric = [key for key in elements if sent.columns[key].dtype.kind in "iub"]
    if len(elements) > 1:
        out += [ReportFeature("sorted"), ReportFeature("highest"), ReportFeature("first two"), ReportFeature("sum")]
    if numeric and len(numeric) == len(elements) and (len(numeric) > 1 or len(out) > 1):
        out.append(ReportFeature("ones"))
    if len(out) > 1:
        out.append(ReportFeature("value", WHOLE))
    return out


def _letters(sent: SentReports) -> int | None:
    """Where all reports are texts or bytes: what to add to the place of an element to number bytes from 1."""
    known = [sent.constants[FORM]] if FORM in sent.constants else np.unique(sent.column(FORM)).tolist()
    forms = [sent.texts.get(int(form), "") for form in known]
    if all(TEXT_FORM.fullmatch(form) for form in forms):
        return 0  # the text itself is element 0
    return 1 if all(BYTES_FORM.fullmatch(form) for form in forms) else None


def screened(sent: SentReports, source: Array, most: int) -> SentReports:
    """Of many elements the `most` that differ most between x (source) and others: in a bit, or in a table of 64."""
    elements = [key for key in sent.columns if key[0] in ("position", "part")]
    if len(elements) <= most:
        return sent
    told = {}
    for key in elements:
        words = np.ascontiguousarray(_words(sent.columns[key]))
        if (words == words[0]).all():
            continue
        ones = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1)
        p, q, both = ones[source].mean(axis=0), ones[~source].mean(axis=0), ones.mean(axis=0)
        by_bit = float(((p - q) ** 2 / np.maximum(both * (1 - both), 1 / len(words))).max())
        table = ((words * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(58)).astype(np.int64)
        a, b = (np.bincount(table[rows], minlength=64) / max(1, rows.sum()) for rows in (source, ~source))
        told[key] = max(by_bit, float(((a - b) ** 2 / np.maximum(a + b, 1 / len(words))).sum()))
    dropped = set(elements) - set(sorted(told, key=lambda key: -told[key])[:most])
    columns = {key: column for key, column in sent.columns.items() if key not in dropped}
    return SentReports(sent.n, columns, sent.constants, sent.texts)


def few_values(column: Array, most: int) -> bool:
    part = column[:4096]
    return len(np.unique(part)) <= most


def _elements(sent: SentReports) -> Array:
    """The elements of each report in a row, two at least: more of them, ABSENT, change nothing that is looked at."""
    columns = [column for key, column in sent.columns.items() if key[0] in ("position", "part")]
    columns += [np.full(sent.n, ABSENT, np.int64)] * max(0, 2 - len(columns))
    return np.stack(columns, axis=1)


def _words(column: Array) -> Any:
    """The bits of a number as it is sent."""
    if column.dtype.kind == "f":
        return np.ascontiguousarray(column, np.float64).view(np.uint64)
    return column.astype(np.int64, copy=False).view(np.uint64) if column.dtype.kind != "u" else column.astype(np.uint64)


def _named(key: Key) -> str:
    if key[0] == "position":
        return Phrase("element {place} of the report", place=key[1])
    if key[0] == "part":
        return Phrase("element {place} of {column}", place=key[2], column=key[1])
    return {
        WHOLE: Phrase("the whole report"),
        FORM: Phrase("the form of the report (types, lengths, keys)"),
        LENGTH: Phrase("the length of the report"),
        ("line",): Phrase("the text of the report"),
    }.get(key, Phrase("the rest of the report"))


@dataclass(frozen=True, eq=False)
class FeatureBins:
    """A feature sorted into bins: of single values (the last bin is for all others), or between edges."""

    feature: ReportFeature
    values: Array | None
    edges: Floats | None

    @classmethod
    def of(cls, feature: ReportFeature, column: Array) -> FeatureBins:
        most = MAX_WHOLE if feature.key == WHOLE else MAX_VALUES
        values, counts = _value_counts(column)
        if len(values) <= most:
            return cls(feature, values, None)
        if feature.key in (WHOLE, FORM, ("line",), ("rest",)):  # digests: only those that come again can be recognised
            often = np.sort(np.argsort(-counts, kind="stable")[:most])
            return cls(feature, values[often[counts[often] > 1]], None)
        edges = np.unique(np.quantile(values.astype(np.float64), np.linspace(0, 1, RANGES + 1)[1:-1]))
        return cls(feature, None, edges)

    @property
    def count(self) -> int:
        return len(self.values) + 1 if self.values is not None else len(self.edges) + 1  # type: ignore[arg-type]

    def place(self, column: Array) -> Ints:
        """The bin of each number."""
        if self.edges is not None:
            return np.searchsorted(self.edges, column.astype(np.float64), side="right")
        if self._table is not None and _is_short(column):
            return self._table[:-1].take(column, mode="clip")
        if self._table is not None and column.dtype.kind in "iub":
            return self._table[np.clip(column.astype(np.int64, copy=False), -1, len(self._table) - 2)]
        assert self.values is not None
        if not len(self.values):
            return np.zeros(len(column), np.int64)
        at = np.minimum(np.searchsorted(self.values, column), len(self.values) - 1)
        return np.where(self.values[at] == column, at, len(self.values))

    def of_reports(self, sent: SentReports) -> Ints:
        return self.place(self.feature.of(sent))

    @cached_property
    def _table(self) -> Ints | None:
        """Small whole numbers are looked up: a million of them in milliseconds."""
        values = self.values
        if values is None or not len(values) or values.dtype.kind not in "iub":
            return None
        top = int(values.max())
        if int(values.min()) < 0 or top >= 1 << 16:
            return None
        table = np.full(top + 3, len(values), np.int64)  # one above, and one for -1 at the end
        table[values.astype(np.int64)] = np.arange(len(values))
        return table

    def describe(self, chosen: Ints, texts: Any) -> str:
        """Which reports these bins are, in words."""
        name = self.feature.words()
        if self.values is not None:
            known = [int(i) for i in chosen if i < len(self.values)]
            other = len(known) < len(chosen)
            if len(known) == 1 and not other and (words := self.feature.holds(self.values[known[0]])) is not None:
                return words
            shown = [self.feature.shown(self.values[i], texts) for i in known[:SHOWN]]
            fields = {"feature": name, "values": Several(shown, Phrase(", ")), "more": len(known) - len(shown)}
            if self.feature.key == WHOLE and known and any(int(self.values[i]) not in texts for i in known[:SHOWN]):
                return Plural("the whole report is a certain one", "the whole report is one of {n}", n=len(known))
            if not known:
                return Phrase("{feature} is a value that did not occur before", feature=name)
            if other:
                return Phrase("{feature} is {values} (and {more} more), or did not occur before", **fields)
            if fields["more"]:
                return Phrase("{feature} is {values} (and {more} more)", **fields)
            return Phrase("{feature} is {values}", **fields)
        assert self.edges is not None
        ranges = []
        for start, stop in _stretches(np.sort(chosen))[:SHOWN]:
            low = None if start == 0 else float(self.edges[start - 1])
            high = None if stop > len(self.edges) else float(self.edges[stop - 1])
            ranges.append(_range(low, high))
        return Phrase("{feature} is {ranges}", feature=name, ranges=Several(ranges, Phrase(" or ")))


def _is_short(column: Array) -> bool:
    return column.dtype.kind == "u" and column.dtype.itemsize <= 2


def _value_counts(column: Array) -> tuple[Array, Ints]:
    """The values that occur, in order, and how often; codes of one or two bytes are counted and not sorted."""
    if _is_short(column):
        counts = np.bincount(column)
        values = np.flatnonzero(counts)
        return values.astype(column.dtype), counts[values]
    values, counts = np.unique(column, return_counts=True)
    return values, counts


def _stretches(bins: Ints) -> list[tuple[int, int]]:
    """Neighbouring bins as (first, one after the last)."""
    cuts = np.flatnonzero(np.diff(bins) > 1)
    starts, stops = np.concatenate([[0], cuts + 1]), np.concatenate([cuts, [len(bins) - 1]])
    return [(int(bins[i]), int(bins[j]) + 1) for i, j in zip(starts, stops, strict=True)]


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return Phrase("any number")
    if low is None:
        return Phrase("below {high:.6g}", high=high)
    if high is None:
        return Phrase("at least {low:.6g}", low=low)
    return Phrase("from {low:.6g} to {high:.6g}", low=low, high=high)
