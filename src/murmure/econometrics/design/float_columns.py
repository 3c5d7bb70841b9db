"""The values of expressions at given rows, as floats, for predictions.

Sums are exact, on the grid of the schema (statistics/expressions/terms.py). Predictions may be wanted beyond the bounds
of the schema, so numbers are taken as they are; labels must be labels of the schema.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from murmure.core.batches import check_equal_lengths, encode_column, select_columns
from murmure.core.cells.parsed_columns import one_column, parse_numbers
from murmure.core.domain import Categories, with_outside
from murmure.core.errors import InvalidParameter
from murmure.core.schema import Schema
from murmure.econometrics.algebra.rounding import Floats
from murmure.statistics.expressions.parser import columns_in, read_expression
from murmure.statistics.expressions.terms import Terms, is_number
from murmure.statistics.expressions.text import parsed

OPERATORS: dict[type, Any] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
NUMPY_FUNCTIONS: dict[str, Any] = {"abs": np.abs, "log": np.log, "exp": np.exp, "sqrt": np.sqrt}
EXTREMES: dict[str, Any] = {"min": np.minimum, "max": np.maximum}


def evaluate(expressions: Sequence[str], schema: Schema, rows: Any) -> Floats:
    """One column for each expression. Each is parsed first, so that only expressions of our grammar are evaluated."""
    terms = Terms(schema)
    numbers = [read_expression(expression, terms) for expression in expressions]
    cells, n = parse_columns(schema, columns_in(terms, numbers), rows)
    out = np.empty((n, len(expressions)))
    for j, expression in enumerate(expressions):
        out[:, j] = _ExpressionValues(schema, cells).value(expression)
    return out


def parse_columns(schema: Schema, wanted: tuple[str, ...], rows: Any) -> tuple[dict[str, Any], int]:
    """The wanted columns, numbers as floats and labels as codes; and the number of rows."""
    row_count = len(rows)
    if isinstance(rows, list | tuple):
        if not all(isinstance(row, Mapping) for row in rows):
            raise InvalidParameter("a list of rows must hold mappings.", hint='[{{"age": 30, "ward": "B"}}]')
        rows = {name: [row.get(name) for row in rows] for name in wanted if all(name in row for row in rows)}
    elif isinstance(rows, Mapping):
        rows = {name: [cell] if np.isscalar(cell) else cell for name, cell in rows.items()}
        row_count = len(next(iter(rows.values()), ()))
    taken = select_columns(rows, wanted)
    out = {name: _column(schema, name, taken[name]) for name in wanted}
    return out, check_equal_lengths({name: len(column) for name, column in out.items()}) if out else row_count


def _column(schema: Schema, name: str, values: Any) -> Any:
    if not is_number(schema, name):
        codes, outside = encode_column(schema.column_specs[name], schema.columns[name], values, strict=True)
        if outside is not None:
            with_outside(schema[name], "refuse").encode(values)
        return codes
    about, domain = schema.column_specs[name], schema[name]
    values = one_column(values)
    parsed_column = parse_numbers(domain, values).parse(values)
    parsed_column.refuse_outside(domain)  # a prediction is wanted for every row, so none is left out
    numbers = parsed_column.codes.astype(np.float64)
    if parsed_column.missing is not None:
        if about.missing != "constant":
            parsed_column.refuse_missing(domain)
        numbers[parsed_column.missing] = float(about.missing_value)
    return numbers


class _ExpressionValues:
    """Evaluates expressions at some rows."""

    def __init__(self, schema: Schema, cells: Mapping[str, Any]) -> None:
        self.schema, self.cells = schema, cells

    def value(self, expression: str) -> Any:
        tree, _, self.quoted = parsed(expression)
        with np.errstate(all="ignore"):
            return self._evaluate(tree)

    def _evaluate(self, node: Any) -> Any:
        if isinstance(node, ast.Constant):
            return float(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            return self.cells[self.quoted.get(node.id, node.id)]
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](self._evaluate(node.left), self._evaluate(node.right))
        if isinstance(node, ast.UnaryOp):
            value = self._evaluate(node.operand)
            return 1.0 - value if isinstance(node.op, ast.Not) else -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BoolOp):
            pick = np.minimum if isinstance(node.op, ast.And) else np.maximum
            return _fold(pick, [self._evaluate(part) for part in node.values])
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            pairs = zip(sides, sides[1:], node.ops, strict=False)
            return _fold(np.multiply, [self._compare(a, b, op) for a, b, op in pairs])
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        parts = [self._evaluate(part) for part in node.args]
        name = node.func.id
        return _fold(EXTREMES[name], parts) if name in EXTREMES else NUMPY_FUNCTIONS[name](*parts)

    def _compare(self, a: Any, b: Any, op: Any) -> Any:
        for side, other in ((a, b), (b, a)):
            name = self.quoted.get(side.id, side.id) if isinstance(side, ast.Name) else None
            if name is not None and not is_number(self.schema, name):
                domain = self.schema[name]
                assert isinstance(domain, Categories)
                code = int(domain.encode([ast.literal_eval(other)])[0])
                return OPERATORS[type(op)](self.cells[name], code).astype(np.float64)
        return np.asarray(OPERATORS[type(op)](self._evaluate(a), self._evaluate(b)), np.float64)


def _fold(pick: Any, parts: list[Any]) -> Any:
    out = parts[0]
    for part in parts[1:]:
        out = pick(out, part)
    return out
