"""How a file writes its cells: a public fact about the whole file, declared in the schema, never taken from its rows.

    [file]                          # schema.toml
    separator = ";"
    encoding = "windows-1252"
    decimal = ","
    thousands = " "
    dates = "day/month/year"
    missing = ["N/A", "NR"]
    yes = ["oui", "o"]
    no = ["non", "n"]

What a cell of such a file means depends on its text, on these settings and on the domain of its column, and on nothing
else (engines/sources/spelling.py). Without [file] a CSV is UTF-8, with commas, decimal points and ISO dates.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from murmure.core.cells.meaning import meaning_of_text
from murmure.core.errors import InvalidParameter, Phrase, shorten, suggestion

DateOrder = Literal["year-month-day", "day/month/year", "month/day/year"]
DECIMALS = (".", ",")
# A space as mark of thousands is any space of fixed width too, and an apostrophe any apostrophe.
THOUSANDS = ("", " ", ".", ",", "'", "_")
SEPARATORS = (",", ";", "\t", "|", ":", "^", "~", " ")
# With these encodings one row can change how all that follow are read, or hide where it ends.
STATEFUL = ("iso2022", "hz", "utf_7", "idna", "punycode", "unicode_escape", "raw_unicode_escape")
MAX_SKIPPED = 10_000  # lines before the header


@dataclass(frozen=True)
class FileFormat:
    """How a file writes its cells, for CSV files, workbooks and databases.

    separator, encoding, skip (lines above the header) and names (of the columns of a file without a header) concern CSV
    files; sheet is the sheet of a workbook or the table of a database. decimal, thousands and units (`"€"`, `"%"`) say
    how numbers are written, dates in which order a date is, missing which words mean that there is no value, yes and no
    which words mean true and false. trim removes blanks around values; numbered gives repeated names of columns a
    number ("age", "age_2").

    >>> import murmure as mu
    >>> file = mu.FileFormat(separator=";", encoding="cp1252", decimal=",")
    >>> print(mu.Schema({"income": mu.Interval(0, 5000)}, file=file).to_toml().strip())
    [file]
    separator = ";"
    encoding = "windows-1252"
    decimal = ","
    <BLANKLINE>
    [columns.income]
    type = "real"
    low = 0.0
    high = 5000.0
    cells = 1024
    """

    separator: str = ","  # between two columns of a CSV
    encoding: str = "utf-8"  # of the text of a CSV
    decimal: str = "."  # before the decimals of a number
    thousands: str = ""  # between its thousands
    units: tuple[str, ...] = ()  # marks behind a number, which are left out
    dates: DateOrder = "year-month-day"  # the order of a date's parts
    missing: tuple[str, ...] = ()  # words that mean that there is no value
    yes: tuple[str, ...] = ()  # words for true, or for the label that is one of them
    no: tuple[str, ...] = ()  # words for false, likewise
    trim: bool = False  # whether blanks around a value are left out
    numbered: bool = False  # whether repeated names of columns get a number, and empty ones their place
    skip: int = 0  # lines above the header
    names: tuple[str, ...] = ()  # the columns of a file without a header
    sheet: str | None = None  # the sheet of a workbook, or the table of a database; None: the only one

    def __post_init__(self) -> None:
        self._check_one_of("separator", SEPARATORS)
        self._check_one_of("decimal", DECIMALS)
        self._check_one_of("thousands", THOUSANDS)
        self._check_one_of("dates", get_args(DateOrder))
        if self.decimal == self.thousands:
            raise InvalidParameter(
                "FileFormat.thousands and FileFormat.decimal are both {mark!r}: 1{mark}234 could mean two numbers.",
                hint="name one of them, or leave thousands out",
                mark=self.decimal,
            )
        for name in ("units", "missing", "yes", "no", "names"):
            object.__setattr__(self, name, self._checked_words(name))
        both = sorted({word.lower() for word in self.yes} & {word.lower() for word in self.no})
        if both:
            raise InvalidParameter("FileFormat.yes and FileFormat.no both hold {word!r}.", word=both[0])
        for name in ("trim", "numbered"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidParameter(
                    "FileFormat.{name} must be true or false, got {got}.", name=name, got=shorten(getattr(self, name))
                )
        if isinstance(self.skip, bool) or not isinstance(self.skip, int) or not 0 <= self.skip <= MAX_SKIPPED:
            raise InvalidParameter(
                "FileFormat.skip must be a whole number of lines, from 0 to {most:,}, got {got}.",
                most=MAX_SKIPPED,
                got=shorten(self.skip),
            )
        if self.sheet is not None and (not isinstance(self.sheet, str) or not self.sheet):
            raise InvalidParameter("FileFormat.sheet must be a name, got {got}.", got=shorten(self.sheet))
        object.__setattr__(self, "encoding", _checked_encoding(self.encoding))

    def _check_one_of(self, name: str, allowed: tuple[str, ...]) -> None:
        value = getattr(self, name)
        if value not in allowed:
            raise InvalidParameter(
                "FileFormat.{name} must be one of {allowed}, got {got}.",
                name=name,
                allowed=", ".join(map(repr, allowed)),
                got=shorten(value),
            )

    def _checked_words(self, name: str) -> tuple[str, ...]:
        words = getattr(self, name)
        if isinstance(words, str) or not isinstance(words, list | tuple) or not all(isinstance(w, str) for w in words):
            raise InvalidParameter(
                "FileFormat.{name} must be a list of words, got {got}.", hint='["N/A"]', name=name, got=shorten(words)
            )
        if len(set(words)) < len(words):
            raise InvalidParameter(
                "FileFormat.{name} holds a word twice: {got}.", name=name, got=shorten(list(words), 120)
            )
        if name == "units" and any(not w.strip() or any(c.isdigit() or c in "+-.," for c in w) for w in words):
            raise InvalidParameter(
                "FileFormat.units must be marks behind a number, without digits or signs, got {got}.",
                hint='["€", "%"]',
                got=shorten(list(words), 120),
            )
        if name in ("yes", "no") and any(isinstance(meaning_of_text(w), float) or not w.strip() for w in words):
            raise InvalidParameter(
                "FileFormat.{name} must hold words, got {got}.",
                hint="true, false and numbers need no translation: true is 1 in every file",
                name=name,
                got=shorten(list(words), 120),
            )
        return tuple(w.strip() for w in words) if name != "names" else tuple(words)

    @classmethod
    def from_dict(cls, settings: Any) -> FileFormat:
        """From the table [file] of schema.toml."""
        known = [field.name for field in fields(cls)]
        if not isinstance(settings, Mapping):
            raise InvalidParameter(
                "[file] must be a table, got {got}.", hint='[file], then separator = ";"', got=shorten(settings)
            )
        for key in settings.keys() - set(known):
            raise InvalidParameter(
                "[file] has no key {key!r}.",
                hint=suggestion(key, known) or Phrase("it takes {known}", known=", ".join(known)),
                key=key,
            )
        return cls(**settings)

    def to_dict(self) -> dict[str, Any]:
        """The settings that are not left at their defaults."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}

    @property
    def digest(self) -> str:
        """Of all settings."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    @property
    def rewrites(self) -> bool:
        """Whether the text of a cell can mean something else than in a file without [file]."""
        plain = FileFormat()
        written = ("decimal", "thousands", "units", "dates", "missing", "yes", "no", "trim")
        return any(getattr(self, name) != getattr(plain, name) for name in written)


def _checked_encoding(name: Any) -> str:
    """The codec's own name, of an encoding of text that Python has."""
    try:
        "".encode(name)  # a LookupError for what is no encoding of text, such as "rot13" or "zip"
        found = codecs.lookup(name).name
    except (LookupError, ValueError, TypeError):
        raise InvalidParameter(
            "FileFormat.encoding must be an encoding of text, got {got}.",
            hint='"utf-8", "windows-1252" (Western Windows), "utf-16", "mac-roman"',
            got=shorten(name),
        ) from None
    if found.replace("-", "_").startswith(STATEFUL):
        raise InvalidParameter(
            "FileFormat.encoding {got} is not read: what a byte means in it depends on the rows before.",
            hint="save the file as UTF-8",
            got=shorten(name),
        )
    return {"utf-8-sig": "utf-8", "cp1252": "windows-1252", "iso8859-1": "latin-1"}.get(found, found)


PLAIN_FILE = FileFormat()
