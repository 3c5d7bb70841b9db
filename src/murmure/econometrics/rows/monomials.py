"""Expressions of true and randomised columns as sums of monomials, whose factors can be estimated separately.

    (smoker == 'yes') * (age - income)   =   [smoker: f] age  -  [smoker: f] [income: x]

A part without randomised columns stays as it is. A function of a randomised column of labels is one factor, given by
its value at each label. Of a randomised number only powers are allowed.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from murmure.core.domain import Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.rows.reported_columns import Function, ReportedColumn
from murmure.statistics.expressions.parser import MAX_POWER, read_expression
from murmure.statistics.expressions.terms import Terms
from murmure.statistics.expressions.text import parsed

# Parties expand the questions that others send, so the work must be bounded.
MAX_MONOMIALS = 4096
NOTHING = Schema({"nothing": Integers(0, 1)})  # for constants, which need no column
WAY_OUT = Phrase("with GRR on a domain of few values, any function of the column can be estimated")


@dataclass(frozen=True)
class Monomial:
    """A product of expressions of true columns, and of one function of each of some randomised columns."""

    true: tuple[str, ...] = ()
    reported: tuple[tuple[int, Function], ...] = ()  # index of the column, and the function

    def times(self, other: Monomial) -> Monomial:
        functions = dict(self.reported)
        for column, function in other.reported:
            functions[column] = _product(functions[column], function) if column in functions else function
        return Monomial(tuple(sorted((*self.true, *other.true))), tuple(sorted(functions.items())))


def _product(f: Function, g: Function) -> Function:
    if isinstance(f, int):
        assert isinstance(g, int)
        return f + g
    assert not isinstance(g, int)
    return tuple(a * b for a, b in zip(f, g, strict=True))


Polynomial = dict[Monomial, Fraction]


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    out: Counter[Monomial] = Counter()
    for left, x in a.items():
        for right, y in b.items():
            out[left.times(right)] += x * y  # type: ignore[assignment]
            if len(out) > MAX_MONOMIALS:
                raise InvalidParameter(
                    "a product of two terms has more than {max_monomials} parts once it is multiplied out.",
                    hint="simpler terms",
                    max_monomials=MAX_MONOMIALS,
                )
    never = [m for m in out if any(isinstance(f, tuple) and not any(f) for _, f in m.reported)]
    return {m: Fraction(v) for m, v in out.items() if v and m not in never}


def _add(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    out = dict(a)
    for m, v in b.items():
        out[m] = out.get(m, Fraction(0)) + sign * v
    return {m: v for m, v in out.items() if v}


class Splitter:
    """Splits one expression into a sum of monomials."""

    def __init__(self, text: str, columns: tuple[ReportedColumn, ...]) -> None:
        self.text, self.columns = text, columns
        self.tree, self.source, self.quoted = parsed(text)
        self.at = {column.name: i for i, column in enumerate(columns)}

    def refuse(self, node: ast.AST, name: str, why: str) -> InvalidParameter:
        what = (
            Phrase("{node} of {text}", node=self.source_text(node), text=shorten(self.text, 80))
            if node is not self.tree
            else shorten(self.text, 80)
        )
        return InvalidParameter(
            "{what} reads the randomised column {name!r}: {why}.", hint=WAY_OUT, what=what, name=name, why=why
        )

    def source_text(self, node: ast.AST) -> str:
        text = ast.get_source_segment(self.source, node) or ""
        for word, name in self.quoted.items():
            text = text.replace(word, f"`{name}`")
        return text

    def names(self, node: ast.AST) -> set[str]:
        called = {id(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
        words = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in called]
        return {self.quoted.get(name, name) for name in words}

    def split(self, node: ast.expr) -> Polynomial:
        names = self.names(node)
        reported = sorted(names & self.at.keys())
        if not reported:
            return self._true(node)
        column = self.columns[self.at[reported[0]]]
        if len(names) == 1 and not column.is_number:
            return {Monomial((), ((self.at[column.name], self._table(node, column)),)): Fraction(1)}
        if isinstance(node, ast.Name):
            return {Monomial((), ((self.at[column.name], 1),)): Fraction(1)}
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            sign = -1 if isinstance(node.op, ast.USub) else 1
            return {m: sign * v for m, v in self.split(node.operand).items()}
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return _add({Monomial(): Fraction(1)}, self.split(node.operand), -1)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            out: Polynomial = {Monomial(): Fraction(1)}
            for part in node.values:
                out = multiply(out, self.split(part))
            return out
        why = Phrase("columns inside the same function or comparison cannot be separated")
        if len(names) == 1:
            kind = type(column.mechanism).__name__
            why = Phrase(
                "reports of {kind} give the number itself and at most its square, and no other function of it",
                kind=kind,
            )
        raise self.refuse(node, column.name, why)

    def _true(self, node: ast.expr) -> Polynomial:
        if self.names(node):
            return {Monomial((self.source_text(node),)): Fraction(1)}
        terms = Terms(NOTHING)
        term = terms[read_expression(self.source_text(node), terms)]  # a number
        return {Monomial(): term.unit * term.low} if term.low else {}

    def _binary(self, node: ast.BinOp) -> Polynomial:
        left = self.split(node.left)
        if isinstance(node.op, ast.Pow):
            power = node.right.value if isinstance(node.right, ast.Constant) else None
            if not isinstance(power, int) or not 1 <= power <= MAX_POWER:
                raise InvalidParameter(
                    "a power must be a whole number from 1 to {max_power}, got {got}.",
                    max_power=MAX_POWER,
                    got=self.source_text(node),
                )
            out = left
            for _ in range(power - 1):
                out = multiply(out, left)
            return out
        right = self.split(node.right)
        if isinstance(node.op, ast.Add | ast.Sub):
            return _add(left, right, 1 if isinstance(node.op, ast.Add) else -1)
        if isinstance(node.op, ast.Div):
            if right.keys() != {Monomial()}:
                raise InvalidParameter(
                    "it can only divide by a number other than 0, got {got}.", got=self.source_text(node)
                )
            return {m: v / right[Monomial()] for m, v in left.items()}
        return multiply(left, right)

    def _table(self, node: ast.expr, column: ReportedColumn) -> tuple[Fraction, ...]:
        """The value of a function of labels at each label."""
        terms = Terms(Schema({column.name: column.domain}))
        number = read_expression(self.source_text(node), terms)
        k = column.domain.size
        values = terms.values(terms.dependencies([number]), {column.name: np.arange(k)})[number]
        whole = [values] * k if isinstance(values, int) else [int(v) for v in values]
        return tuple(terms[number].unit * v for v in whole)


def split(text: str, columns: tuple[ReportedColumn, ...]) -> Polynomial:
    """An expression as a sum of monomials. Refuses functions that reports of these columns cannot estimate."""
    splitter = Splitter(text, columns)
    return splitter.split(splitter.tree)
