"""Workbooks (.xlsx and its kin) as tables: one sheet, its first line naming the columns.

python-calamine reads them. It gives the result that a workbook stores for a formula, the first cell of merged ones, and
nothing for an error such as #N/A: each is a matter of that cell alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from murmure.core.errors import EmptySource, InvalidParameter, MissingExtra, Phrase, shorten, suggestion
from murmure.core.file_format import FileFormat
from murmure.engines.sources.file_header import header_names
from murmure.engines.sources.object_rows import object_batches, text_of_cell
from murmure.engines.sources.reading import Reading
from murmure.engines.sources.table_reader import FileReader, choose_names
from murmure.engines.sources.typed_text import arrow_schema


def workbook_file(path: Path, reading: Reading) -> FileReader:
    kinds, file = reading.kinds, reading.file
    sheet = open_sheet(path, file.sheet)
    in_file = list(file.names) if file.names and reading.lenient else _header(sheet, file, path)
    header = header_names(in_file, file)
    names = choose_names(header, reading.wanted, path.name)
    places = [header.index(name) for name in names]
    first = file.skip + (0 if file.names else 1)

    def read() -> Iterator[Any]:
        # How wide a sheet is depends on its rows: one that is narrower than the header has empty cells there.
        cells = (
            row + [""] * (len(header) - len(row)) for number, row in enumerate(sheet_rows(sheet)) if number >= first
        )
        yield from object_batches(cells, places, names, reading, f"{path.name}, {sheet.name}")

    return FileReader(header, arrow_schema(names, kinds, reading.lenient), None, {}, read)


def _header(sheet: Any, file: FileFormat, path: Path) -> list[str]:
    start = [row for _, row in zip(range(file.skip + 1), sheet_rows(sheet), strict=False)]
    if len(start) <= file.skip or not any(start[file.skip]):
        raise EmptySource(
            "sheet {sheet!r} of {name!r} has no header: its line {line} is empty.",
            hint="its first line must name the columns; skip in [file] of the schema counts the lines above",
            sheet=sheet.name,
            name=path.name,
            line=file.skip + 1,
        )
    names = [text_of_cell(cell) or "" for cell in start[file.skip]]
    while names and not names[-1] and not file.numbered:  # somebody wrote a note beside a row further down
        names.pop()
    return names


def sheet_rows(sheet: Any) -> Iterator[list[Any]]:
    """The rows from the first line of the sheet on, all of one width; calamine leaves out the empty ones above."""
    width = sheet.total_width
    before = sheet.start[0] if sheet.start is not None else 0
    left = [""] * (sheet.start[1] if sheet.start is not None else 0)
    for _ in range(before):
        yield [""] * width
    rows = sheet.iter_rows()
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except OverflowError:  # a duration of more days than Python knows: that row is left out, no other
            row = [""] * width
        yield left + row if len(row) < width else row


def open_sheet(path: Path, name: str | None) -> Any:
    """The sheet of this name, or the only one."""
    status = path.stat()
    return _loaded_sheet(path, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns), name)


@lru_cache(maxsize=1)  # a command opens its table more than once, and a sheet can only be read whole
def _loaded_sheet(path: Path, stamp: tuple[int, ...], name: str | None) -> Any:
    names = sheet_names(path)
    if name is None:
        if len(names) > 1:
            raise InvalidParameter(
                "{file!r} has {n} sheets: {names}.",
                hint='say which one in the schema: [file], sheet = "{first}"; murmure schema init does so',
                file=path.name,
                n=len(names),
                names=shorten(names, 120),
                first=names[0],
            )
        name = names[0]
    if name not in names:
        raise InvalidParameter(
            "{file!r} has no sheet {name!r}; it has {names}.",
            hint=suggestion(name, names) or "correct sheet in [file] of the schema",
            file=path.name,
            name=name,
            names=shorten(names, 120),
        )
    with _calamine_errors(path):
        sheet = _workbook(path).get_sheet_by_name(name)
    now = path.stat()
    if (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns) != stamp:
        raise InvalidParameter(
            "{name!r} changed while it was being read.",
            hint="read it again when nothing is writing to it",
            name=path.name,
        )
    return sheet


def sheet_names(path: Path) -> list[str]:
    """The sheets that hold cells, and not only a chart."""
    import python_calamine

    sheets = [
        sheet.name for sheet in _workbook(path).sheets_metadata if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet
    ]
    if not sheets:
        raise EmptySource("{name!r} has no sheet.", name=path.name)
    return sheets


def _workbook(path: Path) -> Any:
    try:
        import python_calamine
    except ImportError:
        raise MissingExtra(Phrase("reading a workbook"), "python-calamine", "tables") from None
    with _calamine_errors(path):
        return python_calamine.CalamineWorkbook.from_path(path)


@contextmanager
def _calamine_errors(path: Path) -> Iterator[None]:
    import python_calamine

    try:
        yield
    except python_calamine.PasswordError:
        raise InvalidParameter(
            "{name!r} is protected by a password.",
            hint="open it, remove the password (File, Info, Protect), and save it under another name",
            name=path.name,
        ) from None
    except python_calamine.CalamineError as error:
        raise InvalidParameter(
            "cannot read {name!r} as a workbook: {error}",
            hint="it is truncated, damaged, or not in the format that its name says",
            name=path.name,
            error=shorten(str(error), 160),
        ) from None
