"""The bytes of a file in another encoding as UTF-8, without the lines above the header."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

from murmure.core.errors import InvalidParameter
from murmure.core.file_format import FileFormat

SUBSTITUTE = "murmure.substitute"
# A byte that is not text becomes its number: if all became one mark, different people would have one name.
codecs.register_error(
    SUBSTITUTE,
    lambda error: ("".join(f"\x1a{byte:02x}" for byte in error.object[error.start : error.end]), error.end),  # type: ignore[attr-defined]
)


class RecodedBytes:
    """Reads a file of any encoding as UTF-8, block by block; no answer is longer than what was asked for."""

    def __init__(self, raw: Any, path: Path, file: FileFormat, errors: str = "strict") -> None:
        self.raw, self.path, self.file = raw, path, file
        self.decoder = codecs.getincrementaldecoder(file.encoding)(errors)
        self.bytes_read, self.lines, self.to_skip, self.started = 0, 1, file.skip, False

    def read(self, size: int = -1) -> bytes:
        # One byte of a single-byte encoding becomes at most three of UTF-8, or three of a substitute.
        while True:
            data: bytes = self.raw.read(max(1, (size - 8) // 3) if size > 0 else size)
            self.bytes_read += len(data)
            try:
                text = self.decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                line = self.lines + data[: error.start].count(b"\n")
                raise InvalidParameter(
                    "{name!r} is not {encoding}: line {line} holds other bytes.",
                    hint="correct encoding in the schema's [file]; murmure schema check looks what the file is",
                    name=self.path.name,
                    encoding=self.file.encoding,
                    line=line,
                ) from None
            if not self.started and text:
                text, self.started = text.removeprefix("\ufeff"), True
            self.lines += text.count("\n")
            if self.to_skip and text:
                text = self._skip(text)
            if text or not data:
                return text.encode("utf-8", "replace")

    def _skip(self, text: str) -> str:
        while self.to_skip and "\n" in text:
            text = text.partition("\n")[2]
            self.to_skip -= 1
        return "" if self.to_skip else text

    def close(self) -> None:
        self.raw.close()
