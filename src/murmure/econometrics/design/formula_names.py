"""Columns whose names mean something else in a formula: `1`, `-1`, `a + b`, `C(x)`, `(Intercept)`.

In back quotes any name is a column. Quoted names are replaced by placeholders before formulaic parses the text:
formulaic identifies a term by its text, so the column `1` would become the constant. Without quotes the text has its
meaning in formulas. If the table has a column of that name too, the formula is ambiguous, and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from murmure.core.errors import InvalidParameter, MissingExtra, Phrase, shorten
from murmure.statistics.expressions.text import QUOTED, without_quotes

NAME = r"[^\W\d]\w*"


def require_formulaic() -> None:
    try:
        import formulaic.errors  # noqa: F401
    except ImportError:
        raise MissingExtra(Phrase("reading formulas"), "formulaic", "formulas") from None


def hide_names(text: str) -> tuple[str, dict[str, str]]:
    """The formula with placeholders for quoted names, and the name for each placeholder."""
    source, names = without_quotes(text)
    for word, name in list(names.items()):
        if _is_read_as_itself(name):  # x and `x` are one term
            source = re.sub(rf"\b{word}\b", names.pop(word), source)
    return source, names


def _is_read_as_itself(name: str) -> bool:
    """Whether a formula takes this name for a column even without quotes."""
    return re.fullmatch(NAME, name) is not None or _tokens(name) == [("name", _without_spaces(name))]


def show_names(text: str, names: Mapping[str, str]) -> str:
    """The text with the quoted names put back."""
    for word, name in names.items():
        text = re.sub(rf"\b{word}\b", lambda _, name=name: f"`{name}`", text)  # type: ignore[misc]
    return text


def refuse_ambiguous(text: str, columns: Iterable[str]) -> None:
    """Refuse a formula that contains, outside quotes, the name of one of these columns with another meaning."""
    odd = [name for name in columns if not _is_read_as_itself(name)]
    if not odd:
        return
    source, _ = without_quotes(text)  # C(`x`) is not the column C(x)
    formula_tokens = _tokens(source)
    for name in odd:
        name_tokens = _tokens(name)
        if formula_tokens is None or name_tokens is None:
            is_used = _without_spaces(name) in _without_spaces(QUOTED.sub("", source))
        elif all(kind == "operator" for kind, _ in name_tokens) or ("operator", "~") in name_tokens:
            continue  # an operator alone is never a term, and no term spans both sides
        else:
            is_used = any(
                formula_tokens[i : i + len(name_tokens)] == name_tokens
                for i in range(len(formula_tokens) - len(name_tokens) + 1)
            )
        if is_used:
            raise InvalidParameter(
                "{name} is a column of the table, but without quotes a formula reads it as something else.",
                hint=_way_out(name),
                name=shorten(name),
            )


def _way_out(name: str) -> str:
    if "`" in name:
        return Phrase("a name with a backquote cannot be used in a formula: rename the column")
    column = Phrase(
        "write `{name}` for the column (or Q({name!r}), where a shell would run what is in backquotes)", name=name
    )
    if name == "1":
        return Phrase(
            "{column}; the constant is in every formula, 0 + x leaves it out; or rename the column", column=column
        )
    return Phrase("{column}; to mean anything else, rename the column or leave it out of the schema", column=column)


def _tokens(text: str) -> list[tuple[str, str]] | None:
    """Kind and text of every token of formulaic, operators sign by sign; None if it cannot tokenise the text."""
    require_formulaic()
    from formulaic.errors import FormulaicError
    from formulaic.parser.algos.tokenize import tokenize

    out: list[tuple[str, str]] = []
    try:
        for token in tokenize(text):
            kind: Any = getattr(token.kind, "value", None)
            parts = list(token.token) if kind == "operator" and token.token != "**" else [token.token]
            out += [(str(kind), _without_spaces(part)) for part in parts]
    except (FormulaicError, SyntaxError, ValueError):
        return None
    return out


def _without_spaces(text: str) -> str:
    return re.sub(r"\s+", "", text).replace('"', "'")
