"""A JSON document read piece by piece, so that a list of a million entries is never in memory at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

from murmure.core.errors import Phrase, shorten

CHUNK = 1 << 16  # letters that are read at a time
MARGIN = 4  # letters by which a number can go on: 1 is also the beginning of 1e+2
MAX_LETTERS = 1 << 24  # of one value
_decode = json.JSONDecoder().raw_decode
_skip = re.compile(r"[ \t\r\n]*").match


class BrokenJson(ValueError):
    """What was wanted, and what is there."""

    def __init__(self, wanted: str, got: str) -> None:
        super().__init__(f"wanted {wanted}, got {got}")
        self.wanted, self.got = wanted, got


class JsonScanner:
    """Reads marks and values off a text, from its start to its end."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._text, self._at = file, "", 0

    def take(self, mark: str) -> None:
        """Go past this mark; anything else is refused."""
        if self._next() != mark:
            raise self._broken(Phrase("{mark}", mark=mark))
        self._at += len(mark)

    def key(self) -> Any:
        """The name of the next entry of an object."""
        name = self.value()
        self.take(":")
        return name

    def value(self) -> Any:
        """The next value, whatever it is."""
        self._next()
        while True:
            try:
                value, end = _decode(self._text, self._at)
            except (ValueError, RecursionError):  # it may go on where the text that was read ends
                if len(self._text) - self._at > MAX_LETTERS or not self._read():
                    raise self._broken(Phrase("a value")) from None
                continue
            if len(self._text) - end < MARGIN and self._read():
                continue
            self._at = end
            return value

    def items(self) -> Iterator[Any]:
        """The entries of a list, one by one."""
        self.take("[")
        if self.follows("]"):
            return
        while True:
            yield self.value()
            if self.follows("]"):
                return
            self.take(",")

    def follows(self, mark: str) -> bool:
        """Whether this mark comes next; if so it is passed."""
        if self._next() != mark:
            return False
        self._at += 1
        return True

    def finish(self) -> None:
        """Nothing but space may be left."""
        if self._next():
            raise self._broken(Phrase("the end"))

    def _next(self) -> str:
        """The next letter that is not space; nothing at the end."""
        while True:
            found = _skip(self._text, self._at)
            assert found is not None
            self._at = found.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read():
                return ""

    def _read(self) -> bool:
        """More of the file; at least as much as was not enough, so that a long value is not read again and again."""
        rest = self._text[self._at :]
        more = self._file.read(max(CHUNK, len(rest)))
        if more:  # at the end, places in the text stay as they are
            self._text, self._at = rest + more, 0
        return bool(more)

    def _broken(self, wanted: str) -> BrokenJson:
        rest = self._text[self._at : self._at + 40]
        return BrokenJson(wanted, shorten(rest, 30) if rest else Phrase("the end of the file"))
