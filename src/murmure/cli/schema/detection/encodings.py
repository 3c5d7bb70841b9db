"""The encoding of a file, from all of its bytes, in blocks: no line and no file is too long for the memory.

UTF-8 is certain: text in another encoding is hardly ever valid UTF-8 by chance. Among the encodings with one byte for a
letter the likelier is taken, by how many of its letters are those of European languages; that is a guess, and is said.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from murmure.cli.schema.detection.detected import Detected
from murmure.core.errors import InvalidParameter, Phrase
from murmure.engines.sources.csv_files import MAGIC

BLOCK = 1 << 20  # bytes that are looked at together
MAX_LINE_BYTES = 1 << 24
MARKS = (  # longest first: the mark of UTF-32 starts with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
OF_ONE_BYTE = ("windows-1252", "mac-roman", "cp850")  # of Western Windows, of old Macintosh computers, of DOS
UNDEFINED = (0x81, 0x8D, 0x8F, 0x90, 0x9D)  # bytes that windows-1252 has no letter for
# How usual letters beyond ASCII are in European text: capitals are rarer, and other signs speak against an encoding.
SMALL = frozenset(map(chr, (*range(0xE0, 0xF7), *range(0xF8, 0x100), 0x153)))
SIGNS = (0xA0, 0xA3, 0xAB, 0xB0, 0xB2, 0xB3, 0xBB, 0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x2026, 0x20AC)
CAPITAL = frozenset(map(chr, (*range(0xC0, 0xD7), *range(0xD8, 0xDF), 0x152, *SIGNS)))
WEIGHTS = dict.fromkeys(SMALL, 3) | dict.fromkeys(CAPITAL, 1)
IN_TEXT = frozenset(b"\t\n\r\f\v\x1a\x1b")  # control characters that occur in text
MAX_CONTROLS = 0.01  # share of control characters; beyond it a file is not text
SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
MOSTLY = 0.9


class WholeFile(io.RawIOBase):
    """The bytes that a file has when it is opened, and an error if it has others at the end: somebody still writes it.

    Whoever reads on would never come to the end of a file that grows faster than it is read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.file = path, open(path, "rb")  # noqa: SIM115
        self.size = self.left = os.fstat(self.file.fileno()).st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.file.read(min(len(buffer), self.left))
        self.left -= len(data)
        size = os.fstat(self.file.fileno()).st_size
        if size != self.size:
            raise InvalidParameter(
                "{name!r} changed while it was being read: it had {before} bytes, and has {after} now.",
                hint="read it again when nothing is writing to it",
                name=self.path.name,
                before=self.size,
                after=size,
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.file.close()
        super().close()


def open_whole(path: Path) -> Any:
    """The bytes of a file, unpacked."""
    raw: Any = io.BufferedReader(WholeFile(path), BLOCK)
    return gzip.GzipFile(fileobj=raw) if path.name.lower().endswith(".gz") else raw


def blocks(path: Path) -> Iterator[bytes]:
    with open_whole(path) as source:
        try:
            while block := source.read(BLOCK):
                yield block
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InvalidParameter("{name!r} is not a whole gzip file.", name=path.name) from None


class ByteCounts:
    """What the bytes of a file are, added up block by block."""

    def __init__(self, path: Path) -> None:
        self.path, self.start = path, b""
        self.histogram = np.zeros(256, np.int64)
        self.zeros = np.zeros(2, np.int64)  # at even and at odd places
        self.first_zero_line: int | None = None
        self.broken_line: int | None = None  # the first with bytes that are not UTF-8
        self.sequences = 0  # bytes of sequences that are UTF-8
        self.line, self.open_line, self.bytes = 1, 0, 0
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        for block in blocks(path):
            self._add(block)
        if self.broken_line is None:
            self._decode(b"", final=True)

    def _add(self, block: bytes) -> None:
        if not self.bytes:
            self.start = block[:64]
            _refuse_other_formats(self.path, self.start)
        values = np.frombuffer(block, np.uint8)
        self.histogram += np.bincount(values, minlength=256)
        if self.histogram[0]:
            at = np.flatnonzero(values == 0)
            self.zeros += np.bincount((at + self.bytes) % 2, minlength=2)
            if self.first_zero_line is None and len(at):
                self.first_zero_line = self.line + block[: int(at[0])].count(b"\n")
        if self.broken_line is None:
            self._decode(block)
        if self.histogram[128:].any():
            self.sequences += sum(map(len, SEQUENCE.findall(block)))
        self._measure_lines(values)
        self.line += block.count(b"\n")
        self.bytes += len(block)

    def _decode(self, block: bytes, final: bool = False) -> None:
        try:
            self.decoder.decode(block, final)
        except UnicodeDecodeError as error:
            self.broken_line = self.line + block[: error.start].count(b"\n")

    def _measure_lines(self, values: Any) -> None:
        ends = np.flatnonzero((values == 10) | (values == 13))
        longest = self.open_line + (int(ends[0]) if len(ends) else len(values))
        if max(longest, int(np.diff(ends).max(initial=0))) > MAX_LINE_BYTES:
            raise InvalidParameter(
                "{name!r}: line {line} is longer than {most:,} bytes.",
                hint="is it a CSV? A line of a table is a person",
                name=self.path.name,
                line=self.line,
                most=MAX_LINE_BYTES,
            )
        self.open_line = len(values) - 1 - int(ends[-1]) if len(ends) else longest


def _refuse_other_formats(path: Path, start: bytes) -> None:
    for magic, what in MAGIC.items():
        if start.startswith(magic):
            raise InvalidParameter(
                "{name!r} is {what}, not a CSV.",
                hint="give it the file ending of its real format",
                name=path.name,
                what=what,
            )


def detect_encoding(path: Path) -> Detected:
    counts = ByteCounts(path)
    found = Detected()
    for mark, encoding in MARKS:
        if counts.start.startswith(mark):
            words = Phrase("encoding: {encoding}, which its first bytes (a byte order mark) say", encoding=encoding)
            return found.setting(words, encoding=encoding)
    if counts.histogram[0]:
        return _with_zeros(counts)
    controls = sum(int(counts.histogram[b]) for b in range(32) if b not in IN_TEXT)
    if controls > MAX_CONTROLS * counts.bytes:
        raise InvalidParameter(
            "{name!r} is not text: {n:,} of its {bytes:,} bytes are control characters.",
            hint="it is damaged, or not a CSV",
            name=path.name,
            n=controls,
            bytes=counts.bytes,
        )
    if counts.broken_line is None:
        if not counts.histogram[128:].any():  # ASCII alone speaks for no encoding
            return found.setting(Phrase("encoding: UTF-8, as there are only plain letters"))
        return found.setting(Phrase("encoding: UTF-8"), encoding="utf-8")
    return _of_one_byte(counts)


def _with_zeros(counts: ByteCounts) -> Detected:
    """NUL bytes are every second byte of UTF-16, or none of a text."""
    half = counts.bytes / 2
    for place, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if counts.zeros[place] > 0.5 * half and counts.zeros[1 - place] < 0.05 * half:
            words = Phrase(
                "encoding: {encoding}, since {share:.0%} of every second byte is NUL (there is no byte order mark)",
                encoding=encoding,
                share=float(counts.zeros[place] / half),
            )
            return Detected().setting(words, encoding=encoding)
    raise InvalidParameter(
        "{name!r} is not text: line {line} holds a NUL byte.",
        hint="it is damaged, or not a CSV; save it again where it comes from",
        name=counts.path.name,
        line=counts.first_zero_line,
    )


def _of_one_byte(counts: ByteCounts) -> Detected:
    line, high = counts.broken_line, int(counts.histogram[128:].sum())
    if counts.sequences >= MOSTLY * high:
        return Detected().doubting(
            Phrase(
                "the file is UTF-8, but for some bytes, from line {line} on: were two files in different encodings put "
                "together? It cannot be read until those are corrected",
                line=line,
            )
        )
    scores = {encoding: _usual_letters(counts, encoding) for encoding in OF_ONE_BYTE}
    best = max(scores, key=lambda encoding: scores[encoding])  # the first of equals: windows-1252
    encoding = best
    if best == "windows-1252" and any(counts.histogram[byte] for byte in UNDEFINED):
        encoding = "latin-1"
    found = Detected().setting(
        Phrase("encoding: {encoding}, since line {line} is not UTF-8", encoding=encoding, line=line), encoding=encoding
    )
    if encoding != "windows-1252" or scores[best] < 0:
        found = found.doubting(
            Phrase(
                "the encoding is a guess, by which letters are usual: look at the accents in names and labels. If they "
                "are wrong, write {others} as encoding",
                others=" / ".join(f'"{name}"' for name in (*OF_ONE_BYTE, "latin-1") if name != encoding),
            )
        )
    return found


def _usual_letters(counts: ByteCounts, encoding: str) -> int:
    """How usual the letters of the file would be, weighed by how often they occur."""
    letters = bytes(range(128, 256)).decode(encoding, "replace")
    return sum(int(n) * WEIGHTS.get(c, -1) for c, n in zip(letters, counts.histogram[128:], strict=True))
