"""Which label of which column says that it happened: `died`, the second of two, or `state == 'dead'`, one of several.

Two labels in the order of the alphabet may be the wrong way round ("died", "survived"), so results say which of them
counts, and a condition chooses another.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, MurmureError, shorten
from murmure.core.schema import Schema
from murmure.econometrics.design.columns import MAX_GROUPS, no_and_yes
from murmure.econometrics.design.factors import literal
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms
from murmure.statistics.expressions.text import parsed


@dataclass(frozen=True)
class EventColumn:
    """The column, which of its labels is yes, and how people say it."""

    column: str
    code: int
    phrase: str


def event_column_name(text: Any) -> Any:
    """The column that `state == 'dead'` is about; any other text is a column itself."""
    sides = _sides_of_equality(text)
    return text if sides is None else sides[0]


def _sides_of_equality(text: Any) -> tuple[str, ast.expr] | None:
    """Of a column that equals something: both sides."""
    if not isinstance(text, str) or "==" not in text:
        return None
    try:
        tree, _, names = parsed(text)
    except MurmureError:
        return None
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or not isinstance(tree.ops[0], ast.Eq):
        return None
    for side, other in ((tree.left, tree.comparators[0]), (tree.comparators[0], tree.left)):
        if isinstance(side, ast.Name) and not isinstance(other, ast.Name):
            return names.get(side.id, side.id), other
    return None


def event_of(owner: str, schema: Schema, text: str, what: str) -> EventColumn:
    """What counts as yes, checked: a column of two values, or a condition on one of labels."""
    if text in schema:
        yes = no_and_yes(owner, schema, text, what)[1]
        return EventColumn(text, 1, _phrase(schema, text, 1) or f"{text} = {yes}")
    sides = _sides_of_equality(text)
    if sides is None:
        _ = schema[text]  # with the schema's own words where there is no such column
    assert sides is not None
    name = sides[0]
    read_expression(text, Terms(schema))  # with the words of expressions where there is no such label
    domain: Any = schema[name]
    if not (isinstance(domain, Categories) or (isinstance(domain, Integers) and domain.size <= MAX_GROUPS)):
        raise InvalidParameter(
            f"{owner}.{what}: column {name!r} holds no labels: {domain.describe()}.",
            hint=f"Categories, or Integers with at most {MAX_GROUPS} values",
        )
    value = ast.literal_eval(sides[1])
    for code, candidate in enumerate(_values(domain)):
        if candidate == value and isinstance(candidate, bool) == isinstance(value, bool):
            return EventColumn(name, code, _phrase(schema, name, code))
    raise InvalidParameter(f"{owner}.{what}: column {name!r} has no value {shorten(value)}; it is {domain.describe()}.")


def _values(domain: Any) -> list[Any]:
    if isinstance(domain, Integers):
        return list(range(domain.low, domain.high + 1))
    if isinstance(domain, Categories):
        return list(range(domain.values)) if isinstance(domain.values, int) else list(domain.values)
    return []


def _phrase(schema: Schema, name: str, code: int) -> str:
    values = _values(schema[name])
    return f"{name} = {literal(values[code])}" if values else ""
