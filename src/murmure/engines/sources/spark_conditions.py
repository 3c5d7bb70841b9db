"""Conditions of Spark's optimised plans as terms that Arrow answers, only where the two agree on every row.

Both answer true, false or unknown, compare text byte by byte and find 0.0 equal to -0.0. To Spark NaN is larger than
any number and equal to itself, so a comparison of reals is of a column and a constant, which is not NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import reduce
from typing import Any

from murmure.engines.sources.row_conditions import Call, ColumnCells, Constant, Matches, Membership, RowTerm, Widened

WHOLE = ("tinyint", "smallint", "int", "bigint")
REAL = ("float", "double")
OTHERS = ("boolean", "string", "date")  # and decimal(p,s)
EXACT_CASTS = {(kind, wider) for i, kind in enumerate(WHOLE) for wider in WHOLE[i + 1 :]} | {
    *((kind, "double") for kind in ("tinyint", "smallint", "int", "float")),
    *((kind, "float") for kind in ("tinyint", "smallint")),
}
COMPARISONS = {
    "EqualTo": "equal",
    "LessThan": "less",
    "LessThanOrEqual": "less_equal",
    "GreaterThan": "greater",
    "GreaterThanOrEqual": "greater_equal",
}
MIRRORED = {"less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal"}
MATCHES = {"StartsWith": "starts_with", "EndsWith": "ends_with", "Contains": "match_substring"}
JOINED = {"And": "and_kleene", "Or": "or_kleene"}
MAX_VALUES = 1000  # of a list: the JVM is asked for one after the other


class LeftToSpark(Exception):
    """Part of a plan that workers may not do in the same way."""


class SparkConditions:
    """Reads conditions about the columns of one scan, whose attributes have these numbers; notes what they test."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = names
        self.tested: dict[str, str] = {}  # columns, and their types as Spark writes them
        self.largest: dict[str, float] = {}  # columns of reals, and the largest constant that they are compared with

    def column(self, node: Any) -> str:
        """The name in the file of a column of the scan."""
        if class_of(node) != "AttributeReference":
            raise LeftToSpark
        return self._names[node.exprId().id()]

    def term(self, node: Any) -> RowTerm:
        kind, parts = class_of(node), elements(node.children())
        if kind == "AttributeReference":
            name = self.column(node)
            self.tested[name] = type_of(node)
            return ColumnCells(name)
        if kind == "Literal":
            return _constant(node)
        if kind in JOINED:
            return Call(JOINED[kind], (self.term(parts[0]), self.term(parts[1])))
        if kind == "Not":
            return Call("invert", (self.term(parts[0]),))
        if kind in ("IsNull", "IsNotNull"):
            return Call("is_null" if kind == "IsNull" else "is_valid", (self.term(parts[0]),))
        if kind == "IsNaN":  # of a null: false
            about = self.term(parts[0])
            return Call("and_kleene", (Call("is_valid", (about,)), Call("is_nan", (about,))))
        if kind in COMPARISONS:
            return self._compared(COMPARISONS[kind], parts[0], parts[1])
        if kind == "EqualNullSafe":
            return self._same(parts[0], parts[1])
        if kind in MATCHES and class_of(parts[1]) == "Literal" and type_of(parts[0]) == type_of(parts[1]) == "string":
            return Matches(MATCHES[kind], self.term(parts[0]), _value(parts[1]))
        if kind == "In":
            return self._one_of(parts[0], [_value(part) for part in _literals(parts[1:], type_of(parts[0]))])
        if kind == "InSet":
            return self._one_of(parts[0], [_plain(value, type_of(parts[0])) for value in _set(node.hset())])
        if kind == "Cast" and (type_of(parts[0]), type_of(node)) in EXACT_CASTS:
            return Widened(self.term(parts[0]), arrow_type(type_of(node)))
        raise LeftToSpark

    def _compared(self, function: str, left: Any, right: Any) -> RowTerm:
        if type_of(left) != type_of(right):
            raise LeftToSpark
        if class_of(left) == "Literal":
            left, right, function = right, left, MIRRORED.get(function, function)
        about, other = self.term(left), self.term(right)
        out = Call(function, (about, other))
        if type_of(left) not in REAL:
            return out
        if not isinstance(other, Constant):
            raise LeftToSpark
        name = self.column(left.child() if class_of(left) == "Cast" else left)
        self.largest[name] = max(self.largest.get(name, -math.inf), -math.inf if other.value is None else other.value)
        # NaN is greater than any number; what is unknown stays unknown.
        return Call("or_kleene", (out, Call("is_nan", (about,)))) if function.startswith("greater") else out

    def _same(self, left: Any, right: Any) -> RowTerm:
        """<=>, where null is equal to null and to nothing else: never unknown."""
        equal, about, other = self._compared("equal", left, right), self.term(left), self.term(right)
        valid = all_of([Call("is_valid", (about,)), Call("is_valid", (other,)), equal])
        missing = all_of([Call("is_null", (about,)), Call("is_null", (other,))])
        assert valid is not None and missing is not None
        return Call("or_kleene", (valid, missing))

    def _one_of(self, node: Any, values: list[Any]) -> RowTerm:
        kind = type_of(node)
        # Among reals, Spark's hashed sets tell 0.0 from -0.0. A null in a list makes every "no" unknown.
        if kind in REAL or not 1 <= len(values) <= MAX_VALUES or None in values:
            raise LeftToSpark
        return Membership(self.term(node), tuple(values), arrow_type(kind))


def all_of(terms: Iterable[RowTerm]) -> RowTerm | None:
    """All of them are true."""
    listed = list(terms)
    return reduce(lambda one, other: Call("and_kleene", (one, other)), listed) if listed else None


def class_of(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def elements(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.size())]


def type_of(node: Any) -> str:
    """As Spark writes it, with the collation of a text: one that is left out compares bytes."""
    kind = str(node.dataType().simpleString())
    if kind not in (*WHOLE, *REAL, *OTHERS) and not kind.startswith("decimal("):
        raise LeftToSpark
    return kind


def name_of_type(kind: Any) -> str:
    """An Arrow type as Spark writes it."""
    from pyspark.sql.pandas.types import from_arrow_type

    return str(from_arrow_type(kind).simpleString())


def arrow_type(kind: str) -> Any:
    from pyspark.sql.pandas.types import to_arrow_type
    from pyspark.sql.types import DataType

    return to_arrow_type(DataType.fromDDL(kind))


def _constant(node: Any) -> Constant:
    kind, value = type_of(node), _value(node)
    if isinstance(value, float) and math.isnan(value):
        raise LeftToSpark
    return Constant(value, arrow_type(kind))


def _literals(nodes: list[Any], kind: str) -> list[Any]:
    if any(class_of(node) != "Literal" or type_of(node) != kind for node in nodes):
        raise LeftToSpark
    return nodes


def _value(node: Any) -> Any:
    return _plain(node.value(), type_of(node))


def _plain(value: Any, kind: str) -> Any:
    """A value of the JVM in Python's types; days since 1970 are whole numbers to Arrow too."""
    if value is None or kind in (*WHOLE, *REAL, "boolean", "date"):
        return value
    return Decimal(str(value.toString())) if kind.startswith("decimal(") else str(value.toString())


def _set(values: Any) -> Iterable[Any]:
    """The elements of a Scala set."""
    if values.size() > MAX_VALUES:
        raise LeftToSpark
    listed = values.toSeq()
    return [listed.apply(i) for i in range(listed.size())]
