"""How a sheet of a workbook is written: which sheet, where its header is, and how text was typed into its cells."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from murmure.cli.schema.detection.detected import Detected
from murmure.cli.schema.detection.dialects import MAX_ABOVE, fills_header
from murmure.cli.schema.detection.object_detection import detect_objects
from murmure.core.errors import EmptySource, Phrase, Plural, shorten
from murmure.engines.sources.object_rows import text_of_cell
from murmure.engines.sources.workbooks import open_sheet, sheet_names, sheet_rows

BLOCK = 1 << 20
FORMULA = re.compile(rb"<f[ >/]")


def detect_workbook(path: Path, sheet: str | None, header: bool | None) -> Detected:
    found = Detected()
    names = sheet_names(path)
    # The only sheet is opened without its name, as the readers will: it is then loaded once.
    only = len(names) == 1 and sheet is None
    chosen = sheet or next((name for name in names if _has_cells(open_sheet(path, None if only else name))), None)
    if chosen is None:
        raise EmptySource("{name!r} has no sheet with anything in it.", name=path.name)
    opened = open_sheet(path, None if only else chosen)
    if len(names) > 1:
        others = [name for name in names if name != chosen]
        how = Phrase("asked for") if sheet else Phrase("the first that is not empty")
        found = found.setting(
            Phrase(
                "sheet: {sheet!r}, {how}; the others are {others}",
                sheet=chosen,
                how=how,
                others=shorten(others, 120),
            ),
            sheet=chosen,
        )
    found = _say_merged(found, opened)
    found = _say_formulas(found, path, chosen)
    rows = sheet_rows(opened)
    skip, first = 0, next(rows, None)
    while first is not None and not fills_header([text_of_cell(cell) or "" for cell in first]) and skip < MAX_ABOVE:
        skip, first = skip + 1, next(rows, None)
    if first is None or skip == MAX_ABOVE:
        raise EmptySource(
            "sheet {sheet!r} of {name!r} has no line that could name its columns.",
            hint="its first line must name the columns",
            sheet=chosen,
            name=path.name,
        )
    return detect_objects(found, path, first, rows, skip, header)


def _has_cells(sheet: Any) -> bool:
    return sheet.start is not None and sheet.height > 0


def _say_merged(found: Detected, sheet: Any) -> Detected:
    ranges = sheet.merged_cell_ranges or []
    if not ranges:
        return found
    line = ranges[0][0][0] + 1
    return found.doubting(
        Plural(
            "{n} range of merged cells (line {line}): its first cell holds the value, the others are empty",
            "{n} ranges of merged cells (the first in line {line}): the first cell of each holds the value, the others "
            "are empty",
            n=len(ranges),
            line=line,
        )
    )


def _say_formulas(found: Detected, path: Path, sheet: str) -> Detected:
    formulas, without = count_formulas(path, sheet)
    if formulas:
        found = found.setting(
            Plural(
                "{n:,} cell is a formula: the result that the workbook stores is read",
                "{n:,} cells are formulas: the results that the workbook stores are read",
                n=formulas,
            )
        )
    if without:
        found = found.doubting(
            Plural(
                "{n:,} formula has no stored result, and counts as missing: open the workbook in a spreadsheet and "
                "save it once",
                "{n:,} formulas have no stored result, and count as missing: open the workbook in a spreadsheet "
                "and save it once",
                n=without,
            )
        )
    return found


# -- formulas, which python-calamine does not show: read from the XML, a block at a time


def count_formulas(path: Path, sheet: str) -> tuple[int, int]:
    """How many cells of the sheet are formulas, and how many of these have no stored result; of .xlsx only."""
    try:
        with zipfile.ZipFile(path) as archive:
            part = _part_of(archive, sheet)
            if part is None or not _has_formulas(archive, part):
                return 0, 0
            return _count_cells(archive, part)
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, OSError):  # .xls, .xlsb, .ods
        return 0, 0


def _part_of(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The file of the sheet inside the archive."""
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    identifiers = {
        entry.get("name"): value
        for entry in book.iter()
        if entry.tag.endswith("}sheet")
        for key, value in entry.items()
        if key.endswith("}id")
    }
    links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    target = targets.get(identifiers.get(sheet))
    return None if target is None else target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _has_formulas(archive: zipfile.ZipFile, part: str) -> bool:
    last = b""
    with archive.open(part) as file:
        while block := file.read(BLOCK):
            if FORMULA.search(last + block):
                return True
            last = block[-4:]
    return False


def _count_cells(archive: zipfile.ZipFile, part: str) -> tuple[int, int]:
    formulas = without = 0
    with archive.open(part) as file:
        for cell in _cells(file):
            children = {child.tag.rpartition("}")[2]: child for child in cell}
            if "f" in children:
                formulas += 1
                without += not (children["v"].text if "v" in children else None)
    return formulas, without


def _cells(file: Any) -> Iterator[ElementTree.Element]:
    for _, element in ElementTree.iterparse(file):
        name = element.tag.rpartition("}")[2]
        if name == "c":
            yield element
        elif name == "row":
            element.clear()
