"""Sentences that can be said in another language: English text that remembers its template and the values in it.

The English template is the key of the message catalogues (`locale/`): `Phrase("row {row} is missing", row=3)` is the
text "row 3 is missing", and `Language("fr").say(...)` puts the same 3 into the French template.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from pathlib import PurePath
from typing import Any, Self


class Phrase(str):
    """A sentence, or part of one. Every template is one of `str.format`: a literal brace is written twice.

    >>> problem = Phrase("row {row} is missing", row=3)
    >>> message = Phrase("column {column!r}: {problem}.", column="age", problem=problem)
    >>> print(message)
    column 'age': row 3 is missing.
    >>> french = {
    ...     "column {column!r}: {problem}.": "colonne {column!r} : {problem}.",
    ...     "row {row} is missing": "la ligne {row} est vide",
    ... }
    >>> print(message.render(french.__getitem__))
    colonne 'age' : la ligne 3 est vide.
    """

    template: str
    fields: dict[str, Any]

    def __new__(cls, template: str, /, **fields: Any) -> Self:
        if isinstance(template, cls):  # it has its values already
            return template
        fields = {name: _freeze(value) for name, value in fields.items()}
        message = super().__new__(cls, template.format_map(fields))
        message.template, message.fields = template, fields
        return message

    def with_fields(self, **fields: Any) -> Self:
        """The same sentence with other values in these places."""
        return type(self)(self.template, **self.fields | fields)

    def translated(self, translate: Callable[[str], str]) -> str:
        """The template in another language."""
        return translate(self.template)

    def render(self, translate: Callable[[str], str]) -> str:
        """The sentence with `translate` applied to its template, and to those of the phrases in it."""
        fields = {name: v.render(translate) if isinstance(v, Phrase) else v for name, v in self.fields.items()}
        return self.translated(translate).format_map(fields)

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_phrase, (type(self), self.template, self.fields, self.__dict__)


class Plural(Phrase):
    """A phrase with a number `n` on which its words depend: Plural("{n} row", "{n} rows", n=2)."""

    one: str
    many: str

    def __new__(cls, one: str, many: str, /, *, n: int, **fields: Any) -> Self:
        phrase = super().__new__(cls, one if n == 1 else many, n=n, **fields)
        phrase.one, phrase.many = one, many
        return phrase

    def with_fields(self, **fields: Any) -> Self:
        return type(self)(self.one, self.many, **self.fields | fields)

    def translated(self, translate: Callable[[str], str]) -> str:
        plural = getattr(translate, "plural", None)  # a catalogue knows the rule of its language
        return translate(self.template) if plural is None else plural(self.one, self.many, self.fields["n"])


class Marked:
    """A value in a phrase that pages show in a way of its own; as text it is the value alone."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


class Strong(Marked):
    """What a reader should see first."""


class Code(Marked):
    """A command, a digest, a name of the code."""


class Formula(Marked):
    """A formula in plain letters, "fhat = 2o - N/2", which pages typeset (formulas.py). display: on its own line."""

    def __init__(self, value: str, display: bool = False) -> None:
        super().__init__(value)
        self.display = display


class Small(Marked):
    """A delta: 10⁻⁶ for people, 1e-06 as text."""

    def __format__(self, spec: str) -> str:
        return f"{self.value:g}"

    def __str__(self) -> str:
        return format(self)


class Quoted(Marked):
    """Words that somebody else wrote, in the quotation marks of the language; of a phrase, all that it says."""

    def __format__(self, spec: str) -> str:
        return f"\u201c{quotable(str(self.value))}\u201d"

    def __str__(self) -> str:
        return format(self)


class Exact(Marked):
    """A number of which no digit may be lost: written as a decimal of up to 18 places where it is one."""

    def __format__(self, spec: str) -> str:
        return exact_decimal(self.value)

    def __str__(self) -> str:
        return format(self)


def exact_decimal(value: Fraction | float) -> str:
    """Exact where it is a decimal of up to 18 places and below 10**21; otherwise six digits."""
    exact = Fraction(value)
    places = next((k for k in range(19) if 10**k % exact.denominator == 0), None)
    if places is None or abs(exact) >= 10**21:
        return f"{Decimal(exact.numerator) / exact.denominator:.6g}"
    whole, rest = divmod(abs(exact.numerator) * 10**places // exact.denominator, 10**places)
    return f"{'-' * (exact < 0)}{whole:,}" + (f".{rest:0{places}}" if places else "")


class Written(float):
    """A number that is rounded already: shown by its digits, in the marks of the language."""

    text: str

    def __new__(cls, value: float, text: str) -> Self:
        number = super().__new__(cls, value)
        number.text = text
        return number

    def __str__(self) -> str:
        return self.text

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        return float(self), self.text


QUOTATION_MARKS = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u301d\u301e\u301f\uff02"  # and what looks like them


def quotable(text: str) -> str:
    """What others wrote stays on its line, shows every letter, and cannot close the quotation marks around it."""
    return "".join('"' if c in QUOTATION_MARKS else visible(c) for c in text).replace("\n", "\\u000a")


def visible(text: str) -> str:
    """Letters that would move the cursor, colour the screen or turn the reading direction, as their numbers."""
    return "".join(c if c.isprintable() or c == "\n" or c in " \u00a0\u202f" else f"\\u{ord(c):04x}" for c in str(text))


class Several:
    """A list in a phrase: "age, sex and ward", joined as the language joins. between: instead of commas."""

    def __init__(self, items: Any, last: Phrase | None = None, between: Phrase | None = None) -> None:
        self.items = tuple(_freeze(item) for item in items)
        self.between = between or Phrase(", ")
        self.last = last or between or Phrase(" and ")

    def __format__(self, spec: str) -> str:
        return join([format(item, spec) for item in self.items], self.last, self.between)

    def __str__(self) -> str:
        return format(self)


def join(texts: list[str], last: str, between: str = ", ") -> str:
    """Commas, and the word before the last one."""
    return last.join([between.join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def apart(items: Any) -> Phrase:
    """Parts of a sentence with semicolons between them."""
    parts, semicolon = tuple(items), Phrase("; ")
    one = parts[0] if len(parts) == 1 else None
    return one if isinstance(one, Phrase) else Phrase("{parts}", parts=Several(parts, semicolon, semicolon))


def commas(items: Any) -> Phrase:
    """A list without a word before its last item."""
    comma = Phrase(", ")
    return Phrase("{parts}", parts=Several(items, comma, comma))


def find_field(text: Any, name: str) -> Any:
    """The value of this name in a phrase, or in a phrase inside it; None: there is none."""
    if isinstance(text, Several):
        inner: Any = text.items
    elif isinstance(text, Phrase):
        if name in text.fields:
            return text.fields[name]
        inner = text.fields.values()
    else:
        return None
    found = (find_field(part, name) for part in inner)
    return next((value for value in found if value is not None), None)


def replaced(phrase: Phrase, **fields: Any) -> Phrase:
    """The same sentence with other values of these names, in it and in the phrases inside it."""
    frozen = {name: _freeze(value) for name, value in fields.items()}
    new = {
        name: frozen[name] if name in frozen else replaced(value, **fields) if isinstance(value, Phrase) else value
        for name, value in phrase.fields.items()
    }
    return _make_phrase(type(phrase), phrase.template, new, phrase.__dict__ | {"fields": new})


class Reworded(Phrase):
    """A sentence in which names of the code are replaced, whatever the language: a file has keys, and no classes."""

    phrase: Phrase
    changes: tuple[tuple[str, str], ...]

    def __new__(cls, phrase: Phrase, changes: tuple[tuple[str, str], ...]) -> Self:
        text = str.__new__(cls, _changed(phrase.template, changes).format_map(phrase.fields))
        text.template, text.fields, text.phrase, text.changes = phrase.template, phrase.fields, phrase, changes
        return text

    def translated(self, translate: Callable[[str], str]) -> str:
        return _changed(self.phrase.translated(translate), self.changes)

    def __reduce__(self) -> tuple[Any, ...]:
        return Reworded, (self.phrase, self.changes)


def _changed(template: str, changes: tuple[tuple[str, str], ...]) -> str:
    for pattern, new in changes:
        template = re.sub(pattern, new, template)
    return template


def _make_phrase(kind: type[Phrase], template: str, fields: dict[str, Any], state: dict[str, Any]) -> Phrase:
    phrase = str.__new__(kind, template.format_map(fields))
    phrase.__dict__.update(state)
    return phrase


class _Appearance:
    """How an object looked when the phrase was made: it may change, be large, or be impossible to pickle."""

    def __init__(self, value: object) -> None:
        self.text, self.repr = str(value), repr(value)

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    def __repr__(self) -> str:
        return self.repr


def _freeze(value: object) -> object:
    kept = str | Number | datetime.date | PurePath | Marked | Several | _Appearance
    if value is None or isinstance(value, kept):
        return value
    text = getattr(value, "text", None)  # an error says its own phrase
    return text if isinstance(value, Exception) and isinstance(text, Phrase) else _Appearance(value)
