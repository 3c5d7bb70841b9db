"""Which label of which column is the event: `died` (the second of two labels) or `state == 'dead'` (one of several).

The second label in alphabetical order may be the wrong one ("died", "survived"). So results name the label that counts,
and a condition can choose another.
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
    """The column, the code of the label that counts, and both in words."""

    column: str
    code: int
    phrase: str


def event_column_name(text: Any) -> Any:
    """The column of a condition such as `state == 'dead'`; any other text is the name of a column."""
    sides = _sides_of_equality(text)
    return text if sides is None else sides[0]


def _sides_of_equality(text: Any) -> tuple[str, ast.expr] | None:
    """The column and the other side of an equality; None if the text is not one."""
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
    """The event that a column of two values, or a condition on a column of labels, describes; checked."""
    if text in schema:
        yes = no_and_yes(owner, schema, text, what)[1]
        return EventColumn(text, 1, _phrase(schema, text, 1) or f"{text} = {yes}")
    sides = _sides_of_equality(text)
    if sides is None:
        _ = schema[text]  # raises the error of the schema: there is no such column
    assert sides is not None
    name = sides[0]
    read_expression(text, Terms(schema))  # raises the error of expressions if there is no such label
    domain: Any = schema[name]
    if not (isinstance(domain, Categories) or (isinstance(domain, Integers) and domain.size <= MAX_GROUPS)):
        raise InvalidParameter(
            "{owner}.{what}: column {name!r} does not hold labels: {domain}.",
            hint="Categories, or Integers with at most {max_groups} values",
            owner=owner,
            what=what,
            name=name,
            domain=domain.describe(),
            max_groups=MAX_GROUPS,
        )
    value = ast.literal_eval(sides[1])
    for code, candidate in enumerate(_values(domain)):
        if candidate == value and isinstance(candidate, bool) == isinstance(value, bool):
            return EventColumn(name, code, _phrase(schema, name, code))
    raise InvalidParameter(
        "{owner}.{what}: column {name!r} has no value {value}; it is {domain}.",
        owner=owner,
        what=what,
        name=name,
        value=shorten(value),
        domain=domain.describe(),
    )


def _values(domain: Any) -> list[Any]:
    if isinstance(domain, Integers):
        return list(range(domain.low, domain.high + 1))
    if isinstance(domain, Categories):
        return list(range(domain.values)) if isinstance(domain.values, int) else list(domain.values)
    return []


def _phrase(schema: Schema, name: str, code: int) -> str:
    values = _values(schema[name])
    return f"{name} = {literal(values[code])}" if values else ""
