"""Expressions of columns, as people write them: "age * stay", "18 <= age < 65 and smoker == 'yes'".

    numbers      12  0.5  1e-3           decimals are exact fractions
    columns      age  `length of stay`   in back quotes where a name is not a single word
    arithmetic   + - *  ** 2             a power is a whole number up to 16; / divides by a number, never by a column
    conditions   < <= > >= == !=         1 or 0; a column of labels is compared with a label, smoker == "yes"
                 and or not              of conditions
    functions    min(a, b)  max(a, b)  abs(a)
                 log(a)  exp(a)  sqrt(a)  of what public bounds allow, to about 15 digits (real_functions.py)

Python's parser reads them, and each of its nodes is looked up in the lists below: nothing is ever evaluated as Python.
Bounds follow from the public bounds of columns (terms.py), never from data.
"""

from __future__ import annotations

import ast
import difflib
import keyword
import math
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, MurmureError, Phrase, shorten
from murmure.core.schema import Schema
from murmure.statistics.expressions.real_functions import FUNCTIONS
from murmure.statistics.expressions.terms import ORDERS, Terms, is_number
from murmure.statistics.expressions.text import GRAMMAR, parsed

MAX_DEPTH = 40
MAX_POWER = 16
NUMBER = re.compile(r"(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,2})?")
SIGNS: dict[type, str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def read_expression(text: str, terms: Terms) -> int:
    """The number of the term that the expression is; its parts are added to `terms`."""
    return _Reader(text, terms).result()


class _Reader:
    def __init__(self, text: str, terms: Terms) -> None:
        self.text, self.terms, self.schema = text, terms, terms.schema

    def refuse(self, what: str, hint: str | None = None) -> InvalidParameter:
        return InvalidParameter("expression {text}: {what}", hint=hint, text=shorten(self.text, 100), what=what)

    def result(self) -> int:
        try:
            tree, self.source, self.quoted = parsed(self.text)
            return self.number(tree, 0)
        except MurmureError as error:
            # Errors of terms do not know the expression: its text is put before their message, once.
            if str(error).startswith("expression "):
                raise
            raise self.refuse(error.message, error.hint) from None

    # -- nodes to terms -----------------------------------------------------------------------------------------------

    def number(self, node: ast.expr, depth: int) -> int:
        """A term that can be added up; a condition is 1 or 0."""
        if depth > MAX_DEPTH:
            raise self.refuse(
                Phrase("it is nested more than {max_depth} deep.", max_depth=MAX_DEPTH),
                Phrase("split it into several sums"),
            )
        parse: Callable[[Any, int], int] | None = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.BinOp: self._binary,
            ast.UnaryOp: self._unary,
            ast.BoolOp: self._boolean,
            ast.Compare: self._compare,
            ast.Call: self._call,
        }.get(type(node))  # type: ignore[assignment]
        if parse is None:
            raise self.refuse(
                Phrase("{source_of} is not allowed in it.", source_of=self._source_of(node)),
                Phrase("it takes {grammar}", grammar=GRAMMAR),
            )
        return parse(node, depth + 1)

    def condition(self, node: ast.expr, depth: int) -> int:
        out = self.number(node, depth)
        if not self.terms[out].is_condition:
            raise self.refuse(
                Phrase(
                    "{source_of} is neither true nor false; and, or and not need a condition.",
                    source_of=self._source_of(node),
                ),
                Phrase("compare it with something: {source_of} > 0", source_of=self._source_of(node)),
            )
        return out

    def _source_of(self, node: ast.AST) -> str:
        text = ast.get_source_segment(self.source, node) or type(node).__name__
        for word, name in self.quoted.items():
            text = text.replace(word, f"`{name}`")
        return shorten(text, 60)

    def _constant(self, node: ast.Constant, depth: int) -> int:
        value = self._literal(node)
        if not isinstance(value, Fraction):
            raise self.refuse(
                Phrase("{source_of} is a label, not a number.", source_of=self._source_of(node)),
                Phrase('compare a column of labels: smoker == "yes"'),
            )
        return self.terms.constant(value)

    def _literal(self, node: ast.expr) -> Fraction | str | bool | None:
        """A number, a label, or None where it is neither."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._literal(node.operand)
            return -value if isinstance(value, Fraction) else None
        if not isinstance(node, ast.Constant):
            return None
        if isinstance(node.value, str | bool):
            return node.value
        text = ast.get_source_segment(self.source, node) or ""
        if not isinstance(node.value, int | float) or NUMBER.fullmatch(text) is None:
            raise self.refuse(
                Phrase("{source_of} is not a number that can be read exactly.", source_of=self._source_of(node)),
                Phrase("write a decimal of at most 40 digits, such as 0.5"),
            )
        return Fraction(text)

    def _column(self, node: ast.expr) -> str | None:
        """The name of the column, where the node is one."""
        if not isinstance(node, ast.Name):
            return None
        name = self.quoted.get(node.id, node.id)
        if name not in self.schema:
            near = difflib.get_close_matches(name.lower(), [known.lower() for known in self.schema], 1)
            known = [column for column in self.schema if near and column.lower() == near[0]]
            raise self.refuse(
                Phrase(
                    "there is no column {name!r}; the schema has {schema}.",
                    name=name,
                    schema=shorten(list(self.schema), 120),
                ),
                Phrase("did you mean {quote_name}?", quote_name=quote_name(known[0]))
                if known
                else Phrase('write a label in quotes: smoker == "yes"'),
            )
        if name not in self.schema.private:
            raise self.refuse(
                Phrase("column {name!r} is public; public columns are passed through, not added up.", name=name),
                Phrase("remove public = true from the schema"),
            )
        return name

    def _name(self, node: ast.Name, depth: int) -> int:
        name = self._column(node)
        assert name is not None
        if not is_number(self.schema, name):
            raise self.refuse(
                Phrase(
                    "column {name!r} holds labels, not numbers: {schema}.",
                    name=name,
                    schema=self.schema[name].describe(),
                ),
                Phrase(
                    "compare it with one of them: {quote_name} == {first_label}",
                    quote_name=quote_name(name),
                    first_label=_first_label(self.schema[name]),
                ),
            )
        return self.terms.column(name)

    def _binary(self, node: ast.BinOp, depth: int) -> int:
        if isinstance(node.op, ast.Pow):
            return self.terms.power(self.number(node.left, depth), self._exponent(node.right))
        if not isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            raise self.refuse(
                Phrase("{source_of} is not an operation that it takes.", source_of=self._source_of(node)),
                Phrase("it takes {grammar}", grammar=GRAMMAR),
            )
        a, b = self.number(node.left, depth), self.number(node.right, depth)
        if isinstance(node.op, ast.Mult):
            return self.terms.multiply(a, b)
        if isinstance(node.op, ast.Div):
            divisor = self.terms[b]
            if not divisor.is_constant or divisor.low == 0:
                raise self.refuse(
                    Phrase(
                        "it divides by {source_of}; it can only divide by a number other than 0.",
                        source_of=self._source_of(node.right),
                    ),
                    Phrase("ask for both sums, and divide one by the other"),
                )
            return self.terms.multiply(a, self.terms.constant(1 / (divisor.unit * divisor.low)))
        return self.terms.plus(a, b, 1 if isinstance(node.op, ast.Add) else -1)

    def _exponent(self, node: ast.expr) -> int:
        value = self._literal(node)
        if not isinstance(value, Fraction) or value.denominator != 1 or not 1 <= value <= MAX_POWER:
            raise self.refuse(
                Phrase(
                    "a power must be a whole number from 1 to {max_power}, got {got}.",
                    max_power=MAX_POWER,
                    got=self._source_of(node),
                )
            )
        return int(value)

    def _unary(self, node: ast.UnaryOp, depth: int) -> int:
        if isinstance(node.op, ast.Not):
            one = self.terms.constant(Fraction(1))
            return self.terms.plus(one, self.condition(node.operand, depth), -1)
        if not isinstance(node.op, ast.USub | ast.UAdd):
            raise self.refuse(
                Phrase("{source_of} is not an operation that it takes.", source_of=self._source_of(node)),
                Phrase("it takes {grammar}", grammar=GRAMMAR),
            )
        operand = self.number(node.operand, depth)
        return self.terms.minus(operand) if isinstance(node.op, ast.USub) else operand

    def _boolean(self, node: ast.BoolOp, depth: int) -> int:
        parts = [self.condition(part, depth) for part in node.values]
        if isinstance(node.op, ast.Or):
            return self.terms.extreme("max", parts)
        return self._all(parts)

    def _all(self, parts: list[int]) -> int:
        """1 where all of these conditions are."""
        out = parts[0]
        for part in parts[1:]:
            out = out if part == out else self.terms.multiply(out, part)
        return out

    def _compare(self, node: ast.Compare, depth: int) -> int:
        sides = [node.left, *node.comparators]
        pairs = zip(sides, sides[1:], node.ops, strict=False)
        return self._all([self._one_comparison(a, b, op, depth) for a, b, op in pairs])

    def _one_comparison(self, a: ast.expr, b: ast.expr, op: ast.cmpop, depth: int) -> int:
        sign = SIGNS.get(type(op))
        if sign is None:
            raise self.refuse(
                Phrase("is, is not, in and not in are not comparisons that it takes."),
                Phrase('region == "north" or region == "west"'),
            )
        for side, other in ((a, b), (b, a)):
            name = self._column(side)
            if name is not None and not is_number(self.schema, name):
                return self._labelled(name, other, sign)
        return self.terms.compare(sign, self.number(a, depth), self.number(b, depth))

    def _labelled(self, name: str, other: ast.expr, sign: str) -> int:
        domain: Any = self.schema[name]
        if sign in ORDERS and domain.ordered:
            raise self.refuse(
                Phrase("the dates of column {name!r} are compared by == or != only.", name=name),
                Phrase("a span of dates is a condition: Where(..., between=(first, last))"),
            )
        if sign in ORDERS:
            raise self.refuse(
                Phrase("the labels of column {name!r} have no order.", name=name), Phrase("compare by == or !=")
            )
        label = self._literal(other)
        labels = range(domain.values) if isinstance(domain.values, int) else domain.values
        codes = [code for code, known in enumerate(labels) if label is not None and _is_label(known, label)]
        if not codes:
            raise self.refuse(
                Phrase(
                    "column {name!r} has no label {source_of}; it is {domain}.",
                    name=name,
                    source_of=self._source_of(other),
                    domain=domain.describe(),
                ),
                Phrase(
                    "such as {quote_name} == {first_label}",
                    quote_name=quote_name(name),
                    first_label=_first_label(domain),
                ),
            )
        indicator = self.terms.label(name, codes[0])
        return indicator if sign == "==" else self.terms.plus(self.terms.constant(Fraction(1)), indicator, -1)

    def _call(self, node: ast.Call, depth: int) -> int:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        single = name == "abs" or name in FUNCTIONS
        known = single or name in ("min", "max")
        if not known or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise self.refuse(
                Phrase("{source_of} is not a function that it knows.", source_of=self._source_of(node)),
                Phrase("it knows min, max, abs, log, exp and sqrt"),
            )
        if single != (len(node.args) == 1) or not node.args:
            wanted = Phrase("one number") if single else Phrase("two numbers or more")
            raise self.refuse(Phrase("{name} takes {wanted}, got {got}.", name=name, wanted=wanted, got=len(node.args)))
        parts = [self.number(part, depth) for part in node.args]
        if name in FUNCTIONS:
            return self.terms.function(name, parts[0])
        return self.terms.absolute(parts[0]) if name == "abs" else self.terms.extreme(name, parts)


def _is_label(known: Any, label: Fraction | str | bool) -> bool:
    """Whether a label of a domain is the one that was written: True is not 1, and 0.1 is a tenth."""
    if isinstance(known, bool) or isinstance(label, bool):
        return isinstance(known, bool) and known is label
    if isinstance(known, str) or isinstance(label, str):
        return bool(known == label)
    return math.isfinite(known) and Fraction(repr(known)) == label


def _first_label(domain: Any) -> str:
    """The first label, as it is written in an expression."""
    first = 0 if isinstance(domain.values, int) else domain.values[0]
    return f'"{first}"' if isinstance(first, str) else repr(first)


def quote_name(name: str) -> str:
    word = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and not keyword.iskeyword(name)
    return name if word else f"`{name}`"


def columns_in(terms: Terms, numbers: Iterable[int]) -> tuple[str, ...]:
    """The columns that these terms read, in the order of the schema."""
    read = frozenset[str]().union(*(terms[number].columns for number in numbers))
    return tuple(name for name in terms.schema if name in read)


def labelled(schema: Schema, names: Iterable[str]) -> list[str]:
    """Those of these columns that hold labels: a row may hold one that is not listed, and is then nobody."""
    return [name for name in names if isinstance(schema[name], Categories)]
