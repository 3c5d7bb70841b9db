"""Formulas in plain letters as MathML, which browsers typeset without help from outside.

"fhat = 2o - N/2" is read as people read it: what touches belongs together, so 3N/4 is the fraction of 3N and 4, and
2 / 3 with blanks is a division. ^ and _ take what follows them; brackets that only hold a part together vanish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

TOKEN = re.compile(r'\s+|\d+(?:\.\d+)?|[A-Za-z]+|"[^"]*"|<=|>=|!=|\S')
OPENING, CLOSING = "([{", ")]}"
GREEK = {"eps": "\u03b5", "pi": "\u03c0", "sum": "\u2211", "forall": "\u2200"}
SETS = {"M": "\u2133", "X": "\U0001d4b3"}  # the mechanism and its inputs, as lectures write them
UPRIGHT = {"ln", "exp", "Pr", "Var", "True", "False", "max", "min"}
OPERATORS = {"<=": "\u2264", ">=": "\u2265", "!=": "\u2260", "-": "\u2212", "*": "\u00d7", "in": "\u2208"}


def mathml(text: str, display: bool = False) -> str:
    """A formula; display: on a line of its own."""
    body = _FormulaReader(TOKEN.findall(text)).row()
    return f'<math display="block">{body}</math>' if display else f"<math>{body}</math>"


class _FormulaReader:
    """Reads tokens from left to right."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def row(self, closing: str = "") -> str:
        """Runs with operators between them, up to the closing bracket."""
        out = []
        while self._next() != closing and self._next():
            if self._next().isspace():
                self.at += 1
            elif self._next() in (*OPERATORS, "=", "+", "<", ">", "|", ",", ";", ":", "/"):
                out.append(_operator(self._take()))
            else:
                out.append(self.run())
        return _together(out)

    def run(self) -> str:
        """Parts that touch: a fraction where there is a / among them."""
        parts: list[tuple[str, str]] = []
        above = ""
        for part in self._parts():
            if isinstance(part, str):
                above, parts = _side(parts), []
            else:
                parts.append(part)
        return f"<mfrac>{above}{_side(parts)}</mfrac>" if above else _together([whole for whole, _ in parts])

    def _parts(self) -> Iterator[tuple[str, str] | str]:
        """(with its brackets, without them), or "/"."""
        while (token := self._next()) and not token.isspace() and token not in (*CLOSING, ",", ";", "|", "="):
            if token == "/":
                yield self._take()
            else:
                yield self._with_scripts(self._atom())

    def _with_scripts(self, part: tuple[str, str]) -> tuple[str, str]:
        while self._next() in ("^", "_"):
            tag = "msup" if self._take() == "^" else "msub"
            script = f"<{tag}>{part[0]}{self._atom()[1]}</{tag}>"
            part = (script, script)
        return part

    def _atom(self) -> tuple[str, str]:
        token = self._take()
        if token in OPENING:
            closing = CLOSING[OPENING.index(token)]
            inner = self.row(closing)
            self._take()
            return f"<mrow><mo>{token}</mo>{inner}<mo>{closing}</mo></mrow>", inner
        if token == "sqrt":
            root = f"<msqrt>{self._atom()[1]}</msqrt>"
            return root, root
        leaf = _leaf(token)
        return leaf, leaf

    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]


def _leaf(token: str) -> str:
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    if token.startswith('"'):
        return f"<mtext>{escape(token[1:-1])}</mtext>"
    if token.endswith("hat") and len(token) == 4:
        return f'<mover accent="true"><mi>{token[0]}</mi><mo>^</mo></mover>'
    if token in UPRIGHT:
        return f'<mi mathvariant="normal">{token}</mi>'
    if token in GREEK or token in SETS:
        return f"<mi>{ {**GREEK, **SETS}[token] }</mi>"
    if token.isalpha():
        return _together([f"<mi>{letter}</mi>" for letter in token])
    return _operator(token)


def _operator(token: str) -> str:
    return f"<mo>{escape(OPERATORS.get(token, token))}</mo>"


def _side(parts: list[tuple[str, str]]) -> str:
    """Above or below a fraction: brackets around all of it vanish."""
    return parts[0][1] if len(parts) == 1 else _together([whole for whole, _ in parts])


def _together(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"
