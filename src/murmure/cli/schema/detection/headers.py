"""Whether the first record of a table names its columns, or is a person already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from murmure.cli.schema.detection.cell_evidence import ColumnEvidence
from murmure.cli.schema.detection.detected import Detected
from murmure.cli.schema.detection.dialects import Layout
from murmure.core.errors import InvalidParameter, Phrase, Plural, shorten
from murmure.engines.sources.file_header import header_names

YEARS = range(1900, 2101)
IDENTIFIERS = 0.9  # share of different values beyond which no word of a column need occur again


def looks_like_a_row(header: Sequence[str], columns: Sequence[ColumnEvidence], below: Sequence[Sequence[str]]) -> bool:
    """Whether every field of the first record could be one of a row: `below` are the first rows, column by column.

    That is a number above numbers, a date above dates, and a word that occurs again below it, or is above words that
    all differ. Years in order above numbers ("region;2019;2020") are names.
    """
    typed: list[str] = []
    for cell, column, rows in zip(header, columns, below, strict=True):
        cell, alone = cell.strip(), ColumnEvidence()
        alone.add([cell])
        if column.is_number or column.is_date:
            if alone.cells and not (alone.is_number if column.is_number else alone.is_date):
                return False
            typed += [cell] if alone.cells else []
        elif cell and not alone.missing:
            words = {word.strip() for word in rows}
            if cell not in words and len(words) < IDENTIFIERS * len(rows):
                return False
    if not typed:  # words above words: each of them occurs again, and no header says "no" above yes and no
        return all(cell.strip() in {word.strip() for word in rows} for cell, rows in zip(header, below, strict=True))
    return not (len(typed) > 1 and _are_years(typed))


def _are_years(cells: Sequence[str]) -> bool:
    years = [int(cell) for cell in cells if cell.isdecimal()]
    return len(years) == len(cells) and all(year in YEARS for year in years) and years == sorted(set(years))


def with_header(
    found: Detected,
    path: Path,
    layout: Layout,
    header: bool | None,
    evidence: list[ColumnEvidence],
    first_rows: Sequence[tuple[str, ...]],
) -> Detected:
    """The settings that say where the names of the columns are; layout.header becomes these names."""
    if layout.skip:
        skipped = Plural(
            "{n} line above the header is skipped", "{n} lines above the header are skipped", n=layout.skip
        )
        found = found.setting(skipped, skip=layout.skip)
    if header is None and first_rows and looks_like_a_row(layout.header, evidence, first_rows):
        raise InvalidParameter(
            "the first line of {name!r} looks like a row, and not like the names of its columns: {cells}.",
            hint="--no-header reads it as a row and numbers the columns; --header takes it for the names",
            name=path.name,
            cells=shorten(layout.header, 80),
        )
    if header is False:
        for column, cell in zip(evidence, layout.header, strict=True):
            column.add([cell])
        names = tuple(f"column_{place}" for place in range(1, layout.width + 1))
        layout.header = list(names)
        words = Phrase("there is no header: the columns are called column_1 to column_{width}", width=layout.width)
        return found.setting(words, names=names)
    names = tuple(name.strip() for name in layout.header)
    if not all(names) or len(set(names)) < len(names):
        found = found.setting(numbered=True)
        renamed = [new for old, new in zip(names, header_names(names, found.format), strict=True) if old != new]
        found = found.setting(
            Phrase("names that are empty or repeated get a number: {names}", names=", ".join(map(repr, renamed)))
        )
    return found
