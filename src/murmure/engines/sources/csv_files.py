"""CSV files as Arrow batches, also gzipped, and nothing inferred: UTF-8 with a header and commas, or as [file] says.

A column is read as its kind, or as text. pyarrow parses numbers as long as all of them are plainly written; where one
is not ("1.0" for a whole number, "+1", "0x1"), the rest of the file is read as text, and its cells mean what they mean
everywhere (meaning.py). A file with a format of its own is read as text throughout, and its cells are rewritten one by
one (spelling.py). An empty field is missing, whatever its kind; a quoted "" is the empty text. What pyarrow would
ignore silently (a quote that is never closed, a file that grows) is refused.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.core.file_format import PLAIN_FILE, FileFormat
from murmure.engines.sources.arrow_cells import is_text
from murmure.engines.sources.arrow_threads import AheadReader
from murmure.engines.sources.file_header import header_names
from murmure.engines.sources.reading import Reading, rewrite_batch
from murmure.engines.sources.recoded_bytes import SUBSTITUTE, RecodedBytes
from murmure.engines.sources.table_reader import FileReader, choose_names
from murmure.engines.sources.table_writer import METADATA_MARK
from murmure.engines.sources.typed_text import arrow_schema, parse_lenient, parse_strict

BLOCK = 1 << 21  # bytes that are parsed at once
MAX_BLOCK_BYTES = 1 << 30
BEFORE_QUOTE = '\n\r"'  # what may come before a quote that opens a field, beside the separator
MAX_HEADER_BYTES = 1 << 20
SEPARATOR_NAMES = {
    ",": Phrase("commas"),
    ";": Phrase("semicolons"),
    "\t": Phrase("tabs"),
    "|": Phrase("bars"),
}
DETECT_HINT = Phrase(
    "murmure schema init finds out how a file is written, and says so in [file] of a schema; read the file with it: "
    "--schema or --file-format, in Python mu.DataFile(path, schema)"
)
MAGIC = {
    b"PAR1": Phrase("a Parquet file"),
    b"ARROW1": Phrase("an Arrow file"),
    b"PK\x03\x04": Phrase("a spreadsheet or a zip archive"),
    b"\x1f\x8b": Phrase("gzipped"),
}


def csv_file(path: Path, reading: Reading) -> FileReader:
    kinds, file = reading.kinds, reading.file
    import pyarrow as pa
    import pyarrow.csv as pc

    lenient = reading.lenient
    in_file = _read_header(path, lenient, file)
    header = header_names(in_file, file)
    names = choose_names(header, reading.wanted, path.name)
    as_written = not file.names and header == in_file  # otherwise pyarrow gets the names, and skips those of the file
    chosen = arrow_schema(names, kinds, lenient)
    as_text = pa.schema([(f.name, f.type if is_text(f.type) else pa.string()) for f in chosen])
    by_pyarrow = pa.schema([(f.name, pa.string() if kinds.get(f.name) == "decimal" else f.type) for f in chosen])

    def opened(threads: bool, types: Any, block: int = BLOCK) -> AheadReader:
        has_integers = any(f.type == pa.int64() for f in types)
        return AheadReader(
            LenientCsvBytes(path, file) if lenient else CsvBytes(path, file, has_integers),
            lambda lent: pc.open_csv(
                pa.PythonFile(lent, "r"),
                read_options=pc.ReadOptions(
                    block_size=block,
                    use_threads=threads,
                    column_names=None if as_written else header,
                    skip_rows_after_names=0 if as_written or file.names else 1,
                ),
                # In a file with one column an empty line is a row: a person who did not answer.
                parse_options=pc.ParseOptions(
                    delimiter=file.separator,
                    newlines_in_values=True,
                    ignore_empty_lines=len(header) > 1,
                    invalid_row_handler=lent.skip if lenient else None,
                ),
                convert_options=pc.ConvertOptions(
                    column_types=types,
                    include_columns=names,
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            ),
        )

    def read() -> Iterator[Any]:
        done = 0
        try:
            if lenient:
                for batch in _in_growing_blocks(lambda block: opened(True, as_text, block)):
                    yield parse_lenient(rewrite_batch(batch, reading), chosen)
                return
            if file.rewrites:
                with opened(True, as_text) as reader:
                    yield from parse_strict(
                        (rewrite_batch(batch, reading) for batch in reader), chosen, kinds, path.name, 0
                    )
                return
            try:
                with opened(True, by_pyarrow) as reader:
                    for batch in parse_strict(reader, chosen, kinds, path.name, 0):
                        yield batch
                        done += batch.num_rows
            except (pa.ArrowInvalid, _InHexadecimal) as error:
                if isinstance(error, pa.ArrowInvalid) and "conversion error to" not in str(error):
                    raise
                with opened(True, as_text) as reader:
                    yield from parse_strict(_skip_rows(reader, done), chosen, kinds, path.name, done)
        except pa.ArrowInvalid as error:
            raise _explain(path, header, error, lambda: opened(False, as_text), file) from error

    return FileReader(header, chosen, None, _metadata_beside(path), read)


def _skip_rows(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """All but the first rows."""
    for batch in batches:
        skipped = min(rows, batch.num_rows)
        rows -= skipped
        if batch.num_rows > skipped:
            yield batch.slice(skipped)


def _in_growing_blocks(opened: Callable[[int], Any]) -> Iterator[Any]:
    """All batches, with larger blocks from the first row that is longer than a block: a long row must not fail."""
    import pyarrow as pa

    done, block = 0, BLOCK
    while True:
        try:
            with opened(block) as reader:
                for batch in _skip_rows(reader, done):
                    done += batch.num_rows
                    yield batch
            return
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or block >= MAX_BLOCK_BYTES:
                raise
            block *= 8


class _InHexadecimal(Exception):
    """pyarrow takes 0x1f for a whole number; nobody else does."""


class CsvBytes(io.RawIOBase):
    """The bytes of a CSV, unpacked; an error where pyarrow would read on and lose rows.

    A NUL byte is not text; a file that is cut short while it is read still looks like a CSV; a quote that is never
    closed makes one value of all that follows.
    """

    file: Any = None  # until it is open: Python 3.13 also closes an object whose __init__ failed

    errors = "strict"  # what becomes of bytes that are not of the file's encoding

    def __init__(self, path: Path, file: FileFormat = PLAIN_FILE, has_integers: bool = False) -> None:
        """has_integers: pyarrow parses a column of whole numbers."""
        super().__init__()
        self.path, self.lines, self.bytes, self.quotes, self.has_integers = path, 1, 0, 0, has_integers
        self.before_quote = np.frombuffer(f"{file.separator}{BEFORE_QUOTE}".encode(), np.uint8)
        self.last = b"\n"  # the last byte of what was read so far
        self.file = open(path, "rb")  # noqa: SIM115
        self.size: int | None = os.fstat(self.file.fileno()).st_size
        if path.suffix.lower() == ".gz":
            self.file, self.size = gzip.GzipFile(fileobj=self.file), None  # gzip checks the length itself
        if file.encoding != "utf-8" or file.skip:
            self.file = RecodedBytes(self.file, path, file, self.errors)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self.file.read(size)
        if b"\0" in data:
            raise self.no_text(data)
        if self.has_integers and (b"x" in data or b"X" in data) and re.search(b"0[xX]", self.last + data):
            raise _InHexadecimal
        self.lines += data.count(b"\n")
        self.check_quotes(data)
        self.bytes += len(data)
        if size and not data:
            self.check_end()
        return data

    def check_quotes(self, data: bytes) -> None:
        """The first, third, ... quote of a CSV opens a field, or is the second of two that mean one.

        Anywhere else, as in 5"9, a later one may open a field by chance, and close it many rows further down.
        """
        if self.bytes == 0 and data.startswith(codecs.BOM_UTF8):
            data = data[len(codecs.BOM_UTF8) :]
        at = np.flatnonzero(np.frombuffer(data, np.uint8) == ord('"'))
        opening = at[self.quotes % 2 :: 2]
        preceding = np.frombuffer(self.last + data, np.uint8)[opening]
        self.quotes += len(at)
        self.last = data[-1:] or self.last
        if not np.isin(preceding, self.before_quote).all():
            raise InvalidParameter(
                "{name!r} has a quote inside an unquoted field, so it is unclear where fields end.",
                hint='put a field that contains quotes in quotes, and double those inside ("5\'9"" tall")',
                name=self.path.name,
            )

    def check_end(self) -> None:
        read = self.file.bytes_read if isinstance(self.file, RecodedBytes) else self.bytes
        if self.size not in (None, read):
            raise InvalidParameter(
                "{name!r} changed while it was being read: it had {size} bytes, {bytes} were read.",
                hint="read it again when nothing is writing to it",
                name=self.path.name,
                size=self.size,
                bytes=read,
            )
        if self.quotes % 2:
            raise InvalidParameter(
                "{name!r} has an opening quote that is never closed.",
                hint='a quote inside a quoted field is written twice ("say ""yes""")',
                name=self.path.name,
            )

    def no_text(self, data: bytes) -> InvalidParameter:
        line = self.lines + data[: data.index(b"\0")].count(b"\n")
        return InvalidParameter(
            "{name!r} is not text: line {line} holds a NUL byte.",
            hint='UTF-16 needs encoding = "utf-16" in [file] of the schema; otherwise it is damaged, or not a CSV',
            name=self.path.name,
            line=line,
        )

    def close(self) -> None:
        if self.file is not None:
            outer = self.file.raw if isinstance(self.file, RecodedBytes) else self.file
            inner = getattr(outer, "fileobj", None) or outer
            outer.close()
            inner.close()
        super().close()


class LenientCsvBytes(CsvBytes):
    """The same where no row may cause an error: it may hold NUL, and bytes that are not UTF-8 become SUBSTITUTE."""

    errors = SUBSTITUTE

    def __init__(self, path: Path, file: FileFormat = PLAIN_FILE) -> None:
        super().__init__(path, file)
        self.decoder = codecs.getincrementaldecoder("utf-8")(SUBSTITUTE)

    def read(self, size: int = -1) -> bytes:
        # The answer must fit in `size`: up to three bytes wait in the decoder, and a byte that is not UTF-8 becomes
        # three.
        data: bytes = self.file.read(max(1, (size - 4) // 3) if size > 0 else size)
        self.check_quotes(data)
        self.bytes += len(data)
        text = self.decoder.decode(data, final=not data)
        if data and not text:  # only the start of a letter came; an empty answer would mean the end of the file
            return self.read(size)
        if size and not data:
            self.check_end()
        return text.encode()


def _read_header(path: Path, lenient: bool, file: FileFormat) -> list[str]:
    """The names in the first line, checked before pyarrow reads: it accepts two columns of one name, and any bytes."""
    if file.names and lenient:  # the first line is a person's, and no row may cause an error
        return list(file.names)
    with (LenientCsvBytes if lenient else CsvBytes)(path, file) as raw:
        start = raw.file.read(MAX_HEADER_BYTES)
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InvalidParameter("{name!r} is UTF-16, wanted UTF-8.", hint=DETECT_HINT, name=path.name)
        for magic, what in MAGIC.items():
            if start.startswith(magic):
                raise InvalidParameter(
                    "{name!r} is {what}, not a CSV.",
                    hint="give it the file ending of its real format",
                    name=path.name,
                    what=what,
                )
        if b"\0" in re.split(b"[\r\n]", start, maxsplit=1)[0] if lenient else b"\0" in start:
            raise raw.no_text(start)
        text = start.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
        try:
            names = next(csv.reader(io.StringIO(text, newline=""), delimiter=file.separator), [])
        except csv.Error as error:
            raise InvalidParameter(
                "cannot read {name!r} as a CSV: {error}.",
                hint="the first line must name the columns",
                name=path.name,
                error=error,
            ) from None
    if any("\udc80" <= letter <= "\udcff" for name in names for letter in name):
        raise _not_utf8(path, Phrase("its header"))
    if file.names and len(names) != len(file.names):
        raise InvalidParameter(
            "[file] names {wanted} columns, the first line of {name!r} has {got}.",
            hint="names is for a file without a header, and lists all of its columns",
            wanted=len(file.names),
            name=path.name,
            got=len(names),
        )
    if not any(names):
        raise InvalidParameter(
            "{name!r} starts with an empty line.", hint="the first line must name the columns", name=path.name
        )
    for mark, what in SEPARATOR_NAMES.items():
        if len(names) == 1 and mark in names[0] and mark != file.separator:
            raise InvalidParameter(
                "the columns of {name!r} are separated by {what}, wanted {wanted}.",
                hint=DETECT_HINT,
                name=path.name,
                what=what,
                wanted=SEPARATOR_NAMES.get(file.separator, repr(file.separator)),
            )
    return names


def _not_utf8(path: Path, where: str) -> InvalidParameter:
    return InvalidParameter(
        "{name!r} is not UTF-8 text: {where} holds other bytes.",
        hint=DETECT_HINT,
        name=path.name,
        where=where,
    )


def _explain(
    path: Path, header: list[str], error: Exception, again: Callable[[], Any], file: FileFormat
) -> MurmureError:
    """Which row, which column. pyarrow counts rows only when it reads with one thread: so read once more."""
    import pyarrow as pa

    message = str(error)
    try:
        with again() as reader:
            for _ in reader:
                pass
    except pa.ArrowInvalid as second:
        message = str(second)
    except Exception:  # the file is changing: keep the first error
        pass
    row = re.search(r"Row #(\d+)", message)
    column = re.search(r"In CSV column #(\d+)", message)
    above = 1 if file.names else 2  # pyarrow counts from 1, and counts the header
    where = Phrase("row {row_of_file}", row_of_file=int(row[1]) - above) if row else Phrase("a row")
    if column:  # pyarrow counts the columns of the file
        where = Phrase("{row}, column {column!r}", row=where, column=header[int(column[1])])
    if "UTF8" in message:
        return _not_utf8(path, where)
    if "straddling" in message:
        return InvalidParameter(
            "{name!r}: a row is longer than {block} bytes.",
            hint="is there an opening quote that is never closed?",
            name=path.name,
            block=BLOCK,
        )
    if ragged := re.search(r"Expected (\d+) columns, got (\d+)", message):
        return InvalidParameter(
            "{name!r}: {where} has {ragged} fields, the header has {ragged_2}.",
            hint=Phrase(
                "{way_out}; rows count from 0, after the header",
                way_out=Phrase('put a field that contains a comma in quotes ("a, b")')
                if file.separator == ","
                else Phrase("put a field that contains the separator {mark!r} in quotes", mark=file.separator),
            ),
            name=path.name,
            where=where,
            ragged=ragged[2],
            ragged_2=ragged[1],
        )
    return InvalidParameter("cannot read {name!r} as a CSV: {message}", name=path.name, message=shorten(message, 160))


def _metadata_beside(path: Path) -> dict[str, str]:
    """The metadata file that write_table wrote for a CSV, if it describes this very file."""
    beside = path.with_name(path.name + "-metadata.json")
    if not beside.is_file():
        return {}
    try:
        notes = json.loads(beside.read_bytes()).get("notes", [])
        ours = next((note for note in notes if isinstance(note, dict) and METADATA_MARK in note), None)
    except (ValueError, AttributeError, TypeError, OSError):
        return {}
    if ours is None:
        return {}
    if ours.get("bytes") != path.stat().st_size:
        raise InvalidParameter(
            "{name!r} describes another {path_name!r}: one of {ours} bytes, not {st_size}.",
            hint="restore the table as it was written: the plan fits no other",
            name=beside.name,
            path_name=path.name,
            ours=ours.get("bytes"),
            st_size=path.stat().st_size,
        )
    return {str(key): str(value) for key, value in dict(ours.get("metadata", {})).items()}
