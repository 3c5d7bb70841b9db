"""The layout of a CSV: what separates its fields, how many lines are above its header, whether it has one.

The first lines suggest it, and all lines are held against it: a row with another number of fields is counted, and a
file whose separator changes half-way is refused, with the line from which it does.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from murmure.cli.schema.detection.encodings import MAX_LINE_BYTES, open_whole
from murmure.core.errors import InvalidParameter
from murmure.engines.sources.csv_files import SEPARATOR_NAMES
from murmure.show.phrase import Several

SEPARATORS = ("\t", ";", "|", ",")  # of two that fit equally well, the first: a comma may be a decimal mark
SAMPLE = 500  # records by which the separator is chosen
MAX_ABOVE = 50  # lines above a header
FITS = 0.8  # share of records that have the same number of fields
CHUNK = 20_000  # records that are looked at together
SHOWN = 3  # rows that are named
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")

Record = tuple[int, list[str]]  # the line where it starts, and its fields


@dataclass
class Layout:
    """How the lines of a CSV become rows, and which rows do not fit."""

    separator: str
    skip: int  # lines above the header
    header: list[str]
    width: int
    rows: int = 0
    ragged: int = 0  # rows with another number of fields
    ragged_fields: list[Record] = field(default_factory=list)  # the first of them

    def count_ragged(self, line: int, fields: list[str]) -> None:
        self.ragged += 1
        if len(self.ragged_fields) < SHOWN:
            self.ragged_fields.append((line, fields))


def text_lines(path: Path, encoding: str) -> Iterator[str]:
    """The lines of a file; what cannot be decoded becomes a mark. encodings.py has looked how long they are."""
    codec = "utf-8-sig" if encoding == "utf-8" else encoding
    with io.TextIOWrapper(open_whole(path), encoding=codec, errors="replace", newline="") as lines:
        yield from lines


@contextmanager
def long_fields() -> Iterator[None]:
    """csv refuses fields beyond 128 KB, which a remark may have; and an open quote must not fill the memory."""
    before = csv.field_size_limit(MAX_LINE_BYTES)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def records(path: Path, encoding: str, separator: str, skip: int = 0, blanks: bool = False) -> Iterator[Record]:
    """The records of a CSV, each with the line where it starts, as an editor counts lines.

    An empty line is none, but in a file with one column: there it is a person who did not answer. blanks: a quote after
    a separator and blanks opens a field too.
    """
    reader = csv.reader(
        itertools.islice(text_lines(path, encoding), skip, None), delimiter=separator, skipinitialspace=blanks
    )
    with long_fields():
        start, width = skip + 1, 0
        try:
            for fields in reader:
                width = width or len(fields)
                if fields or width == 1:
                    yield start, fields or [""]
                start = skip + reader.line_num + 1
        except csv.Error:
            raise InvalidParameter(
                "{name!r}: a field that starts in line {line} does not end within {most:,} characters.",
                hint="is there an opening quote that is never closed?",
                name=path.name,
                line=start,
                most=MAX_LINE_BYTES,
            ) from None


def find_layout(path: Path, encoding: str) -> Layout:
    """The separator that cuts the first records into the same number of fields."""
    declared = re.fullmatch(r"sep=(.)[\r\n]*", next(text_lines(path, encoding), ""))  # a first line that Excel knows
    if declared and declared[1] in SEPARATOR_NAMES:
        first = next(records(path, encoding, declared[1], 1), None)
        if first is not None:
            return Layout(declared[1], first[0] - 1, first[1], len(first[1]))
    best, found = 0.0, None
    for separator in SEPARATORS:
        sample = list(itertools.islice(records(path, encoding, separator), SAMPLE + MAX_ABOVE))
        layout, fit = _fitting(separator, sample)
        if layout is not None and round(fit, 1) > best:
            best, found = round(fit, 1), layout
    if found is None:
        _refuse_blanks(path, encoding)
    return found or _one_column(path, encoding)


def _refuse_blanks(path: Path, encoding: str) -> None:
    """Refuse a file that would have columns if a quote after blanks opened a field."""
    for separator in SEPARATORS:
        sample = list(itertools.islice(records(path, encoding, separator, blanks=True), SAMPLE + MAX_ABOVE))
        if _fitting(separator, sample)[0] is not None:
            raise InvalidParameter(
                "{name!r} has blanks between a separator and a quote, so that the quotes open no field.",
                hint='write a,"b, c" and not a, "b, c"',
                name=path.name,
            )


def _fitting(separator: str, sample: Sequence[Record]) -> tuple[Layout | None, float]:
    """The layout of the records with this separator, and the share of records that fit it."""
    # Half of them is enough to tell, and lines above the header are at the top.
    widths = Counter(len(fields) for _, fields in sample[min(MAX_ABOVE, len(sample) // 2) :])
    width, _ = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
    if width < 2:
        return None, 0.0
    start = next((i for i, (_, fields) in enumerate(sample) if len(fields) == width and fills_header(fields)), None)
    if start is None or start > MAX_ABOVE:
        return None, 0.0
    body = sample[start:]
    # A file may change half-way, or start with strange rows: the first records or all of them must fit.
    fit = max(
        sum(len(fields) == width for _, fields in part) / len(part) for part in (body, body[: max(2, len(body) // 4)])
    )
    numbers = all(DECIMAL_COMMA.fullmatch(",".join(fields)) for _, fields in body[1:]) and separator == ","
    if fit < FITS or (numbers and width == 2 and start == 1 and len(body) > 1):  # one column with decimal commas
        return None, 0.0
    line, header = sample[start]
    return Layout(separator, line - 1, header, width), fit


def fills_header(fields: Sequence[str]) -> bool:
    """Whether most fields are filled: a title in the first cell of a sheet is not a header."""
    return 2 * sum(not field.strip() for field in fields) < len(fields)


def _one_column(path: Path, encoding: str) -> Layout:
    """The layout of a file in which nothing separates fields; a comma in it is a decimal mark, or part of a text."""
    for separator in (",", ";"):
        sample = list(itertools.islice(records(path, encoding, separator), SAMPLE))
        if not any(field.strip() for _, fields in sample for field in fields):
            raise InvalidParameter(
                "{name!r} holds no line of text.", hint="the first line must name the columns", name=path.name
            )
        if all(len(fields) == 1 for _, fields in sample):
            line, header = next((line, fields) for line, fields in sample if fields[0].strip())
            return Layout(separator, line - 1, header, 1)
    raise InvalidParameter(
        "the lines of {name!r} do not have the same number of fields, whatever separates them ({separators}).",
        hint="is it a table? Its first line names the columns, and each line after it is a person",
        name=path.name,
        separators=Several([SEPARATOR_NAMES[separator] for separator in SEPARATORS]),
    )


def columns_of(path: Path, encoding: str, layout: Layout) -> Iterator[list[tuple[str, ...]]]:
    """The columns of all rows after the first record, some rows at a time; rows that do not fit are counted."""
    rows: list[list[str]] = []
    for line, fields in itertools.islice(records(path, encoding, layout.separator, layout.skip), 1, None):
        if len(fields) != layout.width:
            layout.count_ragged(line, fields)
            continue
        layout.rows += 1
        rows.append(fields)
        if len(rows) == CHUNK:
            yield list(zip(*rows, strict=True))
            rows = []
    if rows:
        yield list(zip(*rows, strict=True))


def refuse_change(path: Path, layout: Layout) -> None:
    """Refuse a file whose fields are separated otherwise from some line on."""
    for line, fields in layout.ragged_fields:
        text = layout.separator.join(fields)
        for other in SEPARATORS:
            if other != layout.separator and layout.width > 1:
                with long_fields():
                    cut = next(csv.reader([text], delimiter=other), [])
                if len(cut) == layout.width:
                    raise InvalidParameter(
                        "{name!r} changes half-way: fields are separated by {first} at its start and by {then} in line "
                        "{line}.",
                        hint="were two files put together? Save them as one, with one separator",
                        name=path.name,
                        first=SEPARATOR_NAMES[layout.separator],
                        then=SEPARATOR_NAMES[other],
                        line=line,
                    )
