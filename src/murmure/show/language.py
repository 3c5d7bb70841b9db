"""The languages that people read: their sentences (message catalogues), numbers, quotation marks, lists and dates.

Sentences are found in `locale/LANG/LC_MESSAGES/murmure.mo`, which the build makes of the .po file beside it
(hatch_build.py, script/messages). English needs no catalogue: its sentences are the keys.
"""

from __future__ import annotations

import datetime
import gettext
import math
import os
import re
import string
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import cache
from numbers import Number
from pathlib import Path
from typing import Any, Literal

from murmure.show.phrase import Exact, Marked, Phrase, Quoted, Several, Small, exact_decimal, join, quotable

LanguageCode = Literal["en", "fr"]
NAMES: dict[LanguageCode, str] = {"en": "English", "fr": "Français"}
LOCALE = Path(__file__).parent / "locale"
NARROW, WIDE = "\u202f", "\u00a0"  # the two spaces at which no line breaks
WORDLESS = re.compile(r"(\{[^}]*\}|[^\W_]?(?:[^\w{]|_))*")  # no two letters in a row outside braces
MINUS = "\u2212"
SPACED_MARK = re.compile(" ([?!;»])")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MONTHS = (
    Phrase("January"),
    Phrase("February"),
    Phrase("March"),
    Phrase("April"),
    Phrase("May"),
    Phrase("June"),
    Phrase("July"),
    Phrase("August"),
    Phrase("September"),
    Phrase("October"),
    Phrase("November"),
    Phrase("December"),
)


def preferred_language(asked: str | None, accepted: str) -> LanguageCode:
    """Of a request: the language it asks for, otherwise the first of ours that the browser accepts (a header)."""
    named = [asked, *(part.split(";")[0].strip().lower()[:2] for part in accepted.split(","))]
    codes: dict[str | None, LanguageCode] = {code: code for code in NAMES}
    return next((codes[name] for name in named if name in codes), "en")


class Catalogue:
    """The sentences of one language: catalogue(template), and catalogue.plural(one, many, n)."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.sentences: gettext.NullTranslations = gettext.NullTranslations()
        if code != "en":
            path = LOCALE / code / "LC_MESSAGES" / "murmure.mo"
            try:
                with path.open("rb") as file:
                    self.sentences = gettext.GNUTranslations(file)
            except FileNotFoundError:
                raise RuntimeError(f"the catalogue {path.name} of {code!r} is not compiled: script/messages") from None

    def __call__(self, template: str) -> str:
        if WORDLESS.fullmatch(template):  # only values and marks, as in "{name}: {value}"
            return re.sub(r" ?([:;!?])(?= |$)", _french_mark, template) if self.code == "fr" else template
        return self.sentences.gettext(template)

    def plural(self, one: str, many: str, n: int) -> str:
        return self.sentences.ngettext(one, many, n)

    def has(self, template: str) -> bool:
        """Whether there is a translation; in English every sentence is its own."""
        missing = object()
        known = getattr(self.sentences, "_catalog", {})
        return self.code == "en" or known.get(template, known.get((template, 0), missing)) is not missing


def _french_mark(mark: re.Match[str]) -> str:
    return (WIDE if mark[1] == ":" else NARROW) + mark[1]


@cache
def catalogue(code: str) -> Catalogue:
    return Catalogue(code)


def french_spaces(text: str) -> str:
    """What somebody typed, as French is set: no line begins with the mark that a plain space was typed before."""
    return SPACED_MARK.sub("\u202f\\1", text).replace("« ", "«\u202f").replace(" :", "\u00a0:")


class Language:
    """One language: `say` is for sentences, the other methods write numbers and lists."""

    def __init__(self, code: LanguageCode = "en", escape: Callable[[str], str] = str, mark: Any = None) -> None:
        self.code: LanguageCode = code
        self.catalogue = catalogue(code)
        self.french = code == "fr"
        # A renderer may escape what is not its own markup, and mark values (`Strong`, `Code`) in its way.
        self.escape, self.mark = escape, mark
        self.minus, self.powers = "-", False  # powers: cells are written 7.3 · 10⁻⁵, not 7.3e-05

    # -- sentences

    def say(self, text: Any, /, **fields: Any) -> str:
        """A phrase in this language. Any other text stays as it is: people wrote it. With fields: that template."""
        return self._sentence(Phrase(text, **fields) if fields else text)

    def _sentence(self, phrase: Any) -> str:
        if not isinstance(phrase, Phrase):
            return self.escape(self.value(phrase))
        out = []
        for literal, name, spec, conversion in string.Formatter().parse(phrase.translated(self.catalogue)):
            out.append(self.escape(literal.replace(" %", f"{NARROW}%") if self.french else literal))
            if name is not None:
                out.append(self._field(phrase.fields[name], spec or "", conversion))
        return "".join(out)

    def _field(self, value: Any, spec: str, conversion: str | None = None) -> str:
        if conversion == "r":
            text = repr(str(value) if isinstance(value, str) else value)
            if isinstance(value, str) and self.french:
                text = self.quote(text[1:-1])
            return self.escape(text)
        if isinstance(value, Phrase):
            return self._sentence(value)
        if isinstance(value, Several):
            items = [str(self._field(item, spec)) for item in value.items]
            return join(items, str(self._sentence(value.last)), str(self._sentence(value.between)))
        if isinstance(value, Quoted):
            inner = Language(self.code).say(value.value) if isinstance(value.value, Phrase) else value.value
            return self.escape(self.quote(inner))
        if isinstance(value, Exact):
            return self.escape(self.exact(value.value))
        if isinstance(value, Small):
            return self.escape(self.small(value.value))
        if isinstance(value, Marked):
            inner = self._field(value.value, spec)
            return inner if self.mark is None else self.mark(value, inner)
        if spec and _is_number(value):
            return self.escape(self.marks(format(float(value) if isinstance(value, Fraction) else value, spec)))
        return self.escape(format(value, spec) if spec else self.value(value))

    def value(self, value: Any) -> str:
        """A value in a sentence, not escaped."""
        if isinstance(value, bool):
            return self.catalogue("yes" if value else "no")
        if isinstance(value, datetime.date):
            return self.date(value)
        if isinstance(value, Fraction):
            value = float(value)
        return self.marks(str(value)) if _is_number(value) else str(value)

    # -- numbers

    def marks(self, text: str) -> str:
        """The decimal mark, thousands and per cent of a number in Python's notation."""
        if text.startswith("-"):
            text = self.minus + text[1:]
        if not self.french:
            return text
        text = text.replace(",", NARROW).replace(".", ",").replace("%", f"{NARROW}%")
        return text.replace("inf", "∞").replace("nan", "-")

    def number(self, value: float | Fraction, digits: int = 0) -> str:
        """With so many decimals, thousands grouped; a whole number with all its digits."""
        if isinstance(value, int) and not digits:
            return self.marks(f"{value:,}")
        return self.marks(f"{float(value) if isinstance(value, Fraction) else value:,.{digits}f}")

    def percent(self, share: float, digits: int = 1) -> str:
        return self.marks(f"{100 * share:,.{digits}f}%")

    def plain(self, value: float) -> str:
        """Up to six significant digits: an epsilon."""
        return self.marks(f"{value:.6g}")

    def small(self, value: float, digits: int = 3) -> str:
        """A delta: 0, 0.01, 10⁻⁶, 2.5 · 10⁻⁷."""
        first, _, power = f"{value:.{digits}g}".partition("e")
        if not power:
            return self.plain(value)
        times = "" if first == "1" else f"{self.marks(first)}{NARROW}·{NARROW}"
        return f"{times}10{str(int(power)).translate(SUPERSCRIPTS)}"

    def exact(self, value: Fraction | float) -> str:
        """Exact where it is a decimal of up to 18 places; otherwise six digits."""
        return self.marks(exact_decimal(value))

    # -- words

    def quote(self, text: Any) -> str:
        """What others wrote, in quotation marks that the text cannot close."""
        inner = quotable(str(text))
        return f"«{NARROW}{inner}{NARROW}»" if self.french else f"\u201c{inner}\u201d"

    def date(self, day: datetime.date) -> str:
        month = self.catalogue(MONTHS[day.month - 1])
        first = "1er" if self.french and day.day == 1 else str(day.day)
        return f"{first} {month} {day.year}"


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)


# -- which language ---------------------------------------------------------------------------------------------------

_default: LanguageCode = "en"  # of the whole process: notebooks run their cells in contexts of their own
_spoken: ContextVar[LanguageCode | None] = ContextVar("language", default=None)


def set_language(code: LanguageCode | None) -> None:
    """The language of results from here on: "en" or "fr"; None: English.

    >>> import murmure as mu
    >>> question = mu.Categories(["no", "yes"])
    >>> certificate = mu.certify(mu.GRR(question, epsilon=1.0))
    >>> mu.set_language("fr")
    >>> print("qui participe" in str(certificate))
    True
    >>> mu.set_language(None)
    """
    global _default
    if code is not None and code not in NAMES:
        raise ValueError(f"language must be one of {', '.join(NAMES)}, got {code!r}")
    _default = code or "en"


@contextmanager
def speaking(code: LanguageCode) -> Iterator[None]:
    """The language of what is said inside, whatever was set."""
    token = _spoken.set(code)
    try:
        yield
    finally:
        _spoken.reset(token)


def current_language() -> LanguageCode:
    return _spoken.get() or _default


def language(code: LanguageCode | None = None) -> Language:
    """This one; None: the one that was set."""
    return Language(code or current_language())


def locale_language(environ: Any = os.environ) -> LanguageCode:
    """The language that the machine speaks to its user, as gettext looks for it."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        for wanted in filter(None, environ.get(name, "").split(":")):
            code = wanted.lower()[:2]
            if code in NAMES:
                return code  # type: ignore[return-value]
            if name != "LANGUAGE":
                return "en"  # another language, of which there is no catalogue
    return "en"


def significant(value: float, digits: int) -> int:
    """Decimals that show so many significant digits."""
    if not value or not math.isfinite(value):
        return 0
    power = int(f"{value:.{digits - 1}e}".partition("e")[2])  # of the rounded number: 9.999 has the digits of 10.00
    return max(0, digits - 1 - power)
