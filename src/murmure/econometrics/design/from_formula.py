"""From a formula to a design, by the schema that was given or is read off the table; and expressions of columns."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from dataclasses import replace
from keyword import iskeyword
from typing import Any

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.econometrics.design.constant_columns import above_zero
from murmure.econometrics.design.design_matrix import Design
from murmure.econometrics.design.factors import quoted
from murmure.econometrics.design.formula import columns_named, read_formula
from murmure.econometrics.design.inferred_schema import infer_schema
from murmure.engines.sources.tables import open_table
from murmure.plan.privacy import Clear
from murmure.run.engine_choice import is_elsewhere
from murmure.statistics.expressions.parser import columns_in, read_expression
from murmure.statistics.expressions.terms import Terms
from murmure.statistics.expressions.text import parsed

EXPRESSION_FUNCTIONS = ("min", "max", "abs", "log", "exp", "sqrt")  # names in expressions that are not columns


def schema_for(
    owner: str,
    data: Any,
    schema: Any,
    columns: Iterable[str] | None,
    privacy: Any,
    labels: Iterable[str] = (),
    numbers: bool = False,
) -> Schema:
    """The schema that was given; without one, in the clear, the schema that is inferred from the data.

    columns: the columns to infer; None: all, or with numbers=True all that hold numbers. labels: those whose numbers
    are labels. With privacy a schema must be given, since bounds that are read off the data would reveal rows.
    """
    if isinstance(schema, str | os.PathLike):
        schema = Schema.load(schema)
    clear = privacy is None or isinstance(privacy, Clear)
    if schema is None and clear:
        return infer_schema(data, columns, labels=tuple(labels), numbers=numbers)
    if schema is None:
        raise InvalidParameter(
            "{owner}.schema is missing: under {kind} bounds and labels are public constants, never read off the data.",
            hint="schema=mu.Schema({{...}}), or the path of a schema.toml",
            owner=owner,
            kind=type(privacy).__name__,
        )
    if not isinstance(schema, Schema):
        raise InvalidParameter(
            "{owner}.schema must be a Schema or the path of one, got {got}.", owner=owner, got=shorten(schema)
        )
    if not clear:
        schema.refuse_drafted()
    return schema


def design_from_formula(
    owner: str,
    formula: Any,
    data: Any,
    schema: Any,
    privacy: Any,
    *more: str | None,
    outcome: bool = True,
    positive: bool = False,
) -> Design:
    """The design of a formula. more: further expressions (weights, an offset), whose columns the design reads too.

    positive: these expressions are above 0, so a column of ones among them holds numbers, and not no and yes.
    """
    if not isinstance(formula, str):
        raise InvalidParameter(
            '{owner}.formula must be text such as "y ~ x1 + x2", got {got}.', owner=owner, got=shorten(formula)
        )
    if schema is None:
        named = columns_named(formula, outcome, _known_names(data, None))
        others = [name for text in more if text for name in columns_in_text(text)]
        wanted = list(dict.fromkeys([*named.columns, *others]))
        domain = schema_for(owner, data, None, wanted, privacy, named.labels)
        domain = above_zero(domain, others) if positive else domain
    else:
        domain = schema_for(owner, data, schema, None, privacy)
    return with_columns(read_formula(formula, domain, outcome=outcome), domain, *more)


def expression_of(owner: str, what: str, text: Any, data: Any, schema: Any) -> str:
    """The expression, or the name of a column in quotes if expressions need them."""
    if not isinstance(text, str):
        raise InvalidParameter(
            "{owner}.{what} must be the name of a column, or an expression of columns, got {got}.",
            hint='{what}="age"; put the numbers into a column of the table',
            owner=owner,
            what=what,
            got=type(text).__name__,
        )
    word = text.isascii() and text.isidentifier() and not iskeyword(text)
    return text if word or "`" in text or text not in _known_names(data, schema) else quoted(text)


def _known_names(data: Any, schema: Any) -> tuple[str, ...]:
    """The columns of the schema; without one, of the table, or of the first of several."""
    if schema is not None:
        return tuple(Schema.load(schema) if isinstance(schema, str | os.PathLike) else schema)
    tables = [table for table in data if table is not None] if isinstance(data, list | tuple) else [data]
    if not tables or is_elsewhere(tables[0]):
        return ()
    return tuple(open_table(tables[0]).names)


def columns_in_text(text: str) -> list[str]:
    """The names of columns in an expression, without a schema."""
    tree, _, quoted = parsed(text)
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return list(dict.fromkeys(quoted.get(name, name) for name in names if name not in EXPRESSION_FUNCTIONS))


def with_columns(design: Design, schema: Schema, *more: str | None) -> Design:
    """The design, with the columns of these expressions in its domain."""
    terms = Terms(schema)
    numbers = [read_expression(text, terms) for text in more if text and text not in schema]
    names = {*design.domain, *columns_in(terms, numbers), *(text for text in more if text in schema)}
    kept = {name: about for name, about in schema.column_specs.items() if name in names}
    return replace(design, domain=schema.with_columns(kept))
