"""The text of an expression as a tree of Python's parser: short, in one line, and with quoted names taken out first."""

from __future__ import annotations

import ast
import re
import warnings

from murmure.core.errors import InvalidParameter, Phrase

MAX_LETTERS = 1000
GRAMMAR = Phrase("numbers, columns, + - * **, < <= > >= == !=, and or not, min, max, abs, log, exp, sqrt")
QUOTED = re.compile(r"(`[^`]*`|'[^'\\]*'|\"[^\"\\]*\")")


def parsed(text: object) -> tuple[ast.expr, str, dict[str, str]]:
    """The tree, the source that its positions refer to, and which words of it replace which quoted names."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidParameter("wanted text that says what to add up.", hint='"age", or "age * stay"')
    if len(text) > MAX_LETTERS:
        raise InvalidParameter(
            "it has {text_count} characters; at most {max_letters} are allowed.",
            hint="split it into several sums",
            text_count=len(text),
            max_letters=MAX_LETTERS,
        )
    if any(c in text for c in "\x00\n\r") or "#" in QUOTED.sub("", text):
        raise InvalidParameter(
            "it contains a line break or a comment, or no text at all.", hint="an expression is one line"
        )
    source, names = without_quotes(text.strip())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python warns about is refused
            return ast.parse(source, mode="eval").body, source, names
    except (SyntaxError, ValueError, MemoryError, RecursionError, Warning) as error:
        why = getattr(error, "msg", None) or Phrase("it is nested too deeply")
        raise InvalidParameter(
            "it cannot be read ({why}).", hint="it takes {grammar}", why=why, grammar=GRAMMAR
        ) from None


def without_quotes(text: str) -> tuple[str, dict[str, str]]:
    """The text with placeholders that occur nowhere else for quoted names, and the name of each placeholder."""
    # Python's parser knows no back quotes, so each quoted name becomes a word that the text does not contain.
    word = "quoted"
    while word in text:
        word += "_"
    out, names = [], dict[str, str]()
    for part in QUOTED.split(text):
        if len(part) > 1 and part[0] == part[-1] == "`":
            placeholder = next((known for known, name in names.items() if name == part[1:-1]), f"{word}{len(names)}")
            names[placeholder] = part[1:-1]
            out.append(f" {placeholder} ")
        elif "`" in part and part[0] not in "'\"":
            raise InvalidParameter("a backquote is not closed.", hint="`length of stay` has one on each side")
        else:
            out.append(part)
    return "".join(out).strip(), names
