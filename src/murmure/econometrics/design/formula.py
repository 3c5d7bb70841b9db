"""Formulas in the notation of R, parsed with a schema: "stay ~ age + C(ward) + age:ward".

    y ~ a + b        two terms, and a constant          - 1, + 0      no constant
    a:b              their product                      a * b         a + b + a:b
    (a + b) ** 2     products of up to two              a / b         a + a:b
    I(x ** 2), {x > 40}, log(x), np.log(x), C(ward, Treatment("B"))
    `length of stay`, `1`, Q("1")      columns, whatever their names look like (formula_names.py)

Only the parser of formulaic is used (the extra "formulas"), and a sum of names needs none. The factors that it finds
become our expressions (factors.py), and nothing is evaluated as Python. Labels come from the schema and not from data,
so all parties have the same columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, MissingExtra, MurmureError, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.design.coding import Factor, code_terms
from murmure.econometrics.design.design_matrix import MAX_LETTERS, Design, part_of
from murmure.econometrics.design.factors import (
    FactorReader,
    called,
    column_named,
    columns_in,
    formula_error,
    literal,
    quoted,
)
from murmure.econometrics.design.formula_names import NAME, hide_names, refuse_ambiguous, require_formulaic, show_names
from murmure.econometrics.errors import FitFailed
from murmure.statistics.expressions.text import parsed

# Bounds the work of the parser: (a + b + c) ** 12 has half a million terms.
MAX_TERMS = 20_000
GRAMMAR = Phrase("y ~ x1 + x2 + C(ward) + x1:x2 + I(x1 ** 2) + log(x2)")
INTERCEPT = "Intercept"  # the name of the constant (coding.py)
OUTCOME_HINT = Phrase("put the outcome first: y ~ x1 + x2")
# A sum of names needs no parser. formulaic would import pandas and SciPy first, which takes longer than most fits.
PLAIN = re.compile(rf"\s*(?:({NAME})\s*~)?\s*({NAME}(?:\s*\+\s*{NAME})*)\s*")
WORD = re.compile(NAME)


@dataclass(frozen=True)
class WrittenFactor:
    """The text of a factor in a formula."""

    text: str
    is_name: bool  # whether it is just the name of a column


Sides = tuple[list[list[WrittenFactor]] | None, list[list[WrittenFactor]]]  # the terms on the left and on the right


@dataclass(frozen=True)
class NamedColumns:
    """The columns that a formula names, in order; and those of them that occur in C() only."""

    columns: tuple[str, ...]
    labels: tuple[str, ...]


def read_formula(text: str, schema: Schema, *, outcome: bool = True) -> Design:
    """The design of a formula, with columns of this schema. outcome=False: the formula has no left side."""
    try:
        left, right = _sides(text, outcome, schema)
        reader = FactorReader(schema)
        terms = [[_factor(reader, factor) for factor in term] for term in right]
        name, expression = _outcome(reader, left) if left is not None else ("", "")
        columns = code_terms(terms)
        if not columns:
            raise InvalidParameter("its right side is empty.", hint="y ~ 1 has a constant and nothing else")
        if [column for column, _ in columns].count(INTERCEPT) > 1:
            raise InvalidParameter(
                "a column has the name {intercept!r}, which results use for the constant.",
                hint="0 + {intercept} leaves the constant out; or rename the column",
                intercept=INTERCEPT,
            )
        named = _names([*right, *([[left]] if left is not None else [])])
        return Design(
            part_of(schema, [*named.columns]), text, expression, name, *map(tuple, zip(*columns, strict=True))
        )
    except MurmureError as error:
        if isinstance(error, MissingExtra | FitFailed) or str(error).startswith("formula "):
            raise
        raise formula_error(text, error) from None
    except RecursionError:
        raise InvalidParameter("formula {text}: it is nested too deeply.", text=shorten(text, 100)) from None


def columns_named(text: str, outcome: bool | None = None, known: Iterable[str] = ()) -> NamedColumns:
    """The columns that a formula names, which a table must have. outcome=None: with or without a left side.

    known: the columns of the table, if there is one. A formula that is ambiguous with these columns is refused.
    """
    try:
        left, right = _sides(text, outcome, known)
        return _names([*([[left]] if left is not None else []), *right])
    except MurmureError as error:
        if isinstance(error, MissingExtra):
            raise
        raise formula_error(text, error) from None


# -- the two sides ------------------------------------------------------------------------------------------------


def _sides(
    text: Any, outcome: bool | None, known: Iterable[str] = ()
) -> tuple[WrittenFactor | None, list[list[WrittenFactor]]]:
    """The outcome, and the terms sorted by their number of factors. known: all columns of the table."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidParameter("expected a formula as text, got {got}.", hint=GRAMMAR, got=shorten(text))
    if len(text) > MAX_LETTERS:
        raise InvalidParameter(
            "it has {text_count} characters; at most {max_letters} are allowed.",
            hint="leave out some terms",
            text_count=len(text),
            max_letters=MAX_LETTERS,
        )
    if any(c in text for c in "\x00\n\r"):
        raise InvalidParameter("it contains a line break.", hint="a formula is one line")
    refuse_ambiguous(text, known)
    plain = PLAIN.fullmatch(text)
    left, terms = _plain_sides(plain[1], plain[2]) if plain else _parsed_sides(text)
    if outcome is not None and (left is not None) != outcome:
        raise InvalidParameter(
            "it has no outcome." if outcome else "it has an outcome, but must not have one here.",
            hint=OUTCOME_HINT if outcome else "write the right side only: x1 + x2",
        )
    return (None if left is None else _only_factor(left)), sorted(terms, key=len)


def _plain_sides(outcome: str | None, names: str) -> Sides:
    terms: list[list[WrittenFactor]] = [
        [],
        *([WrittenFactor(name, True)] for name in dict.fromkeys(WORD.findall(names))),
    ]
    return None if outcome is None else [[WrittenFactor(outcome, True)]], terms


def _parsed_sides(text: str) -> Sides:
    require_formulaic()
    from formulaic.errors import FormulaicError
    from formulaic.parser import DefaultFormulaParser

    source, names = hide_names(text)
    try:
        parser = DefaultFormulaParser()
        tree = parser.get_ast(source)
        # The number of terms is bounded before they are expanded, which could take for ever.
        if tree is None or _max_terms(tree) > MAX_TERMS:
            raise InvalidParameter(
                "it expands to more than {max_terms} terms.",
                hint="use lower powers, or fewer columns in a product",
                max_terms=MAX_TERMS,
            )
        parsed_terms = parser.get_terms(source)
    except (FormulaicError, SyntaxError, ValueError) as error:
        if isinstance(error, MurmureError):
            raise
        why = re.sub(r"\x1b\[[0-9;]*m|[\u29da\u29db]", "", str(getattr(error, "msg", error)))
        lines = show_names(why, names).splitlines()
        raise InvalidParameter(
            "it cannot be read ({detail}).",
            hint="such as {grammar}",
            detail=shorten(lines[0] if lines else "", 120)[1:-1].rstrip("."),
            grammar=GRAMMAR,
        ) from None
    left: Any = getattr(parsed_terms, "lhs", None)
    right: Any = getattr(parsed_terms, "rhs", None) if left is not None else parsed_terms
    return None if left is None else [_factors(term, names) for term in left], [_factors(term, names) for term in right]


def _max_terms(node: Any) -> int:
    """An upper bound of the number of terms in this part of a formula, before they are expanded."""
    if not hasattr(node, "args"):
        return 1
    sign, parts = node.operator.symbol, [_max_terms(part) for part in node.args]
    if sign == "|":
        raise InvalidParameter("| is not supported.", hint="give instruments separately: iv(..., instruments=...)")
    if sign == ".":
        raise InvalidParameter("the dot, for all other columns, is not supported.", hint="name the columns")
    if sign in ("**", "^"):
        power = str(getattr(node.args[1], "token", ""))
        if not power.isdecimal() or not 1 <= int(power[:4]) <= 20:
            raise InvalidParameter(
                "a sum of terms can only be raised to a whole number from 1 to 20.",
                hint="for a column, write I(x ** 2)",
            )
        out = parts[0] ** int(power)
    elif sign in ("+", "-", "~"):
        out = sum(parts)
    else:  # : * / in
        out = parts[0] * parts[-1] + sum(parts)
    if out > MAX_TERMS:
        raise InvalidParameter(
            "it expands to more than {max_terms} terms.",
            hint="use lower powers, or fewer columns in a product",
            max_terms=MAX_TERMS,
        )
    return out


def _factors(term: Any, names: Mapping[str, str]) -> list[WrittenFactor]:
    """The factors of a term; the constant has none. names: placeholders and the quoted names that they replace."""
    out = []
    for factor in term.factors:
        if factor.eval_method.value == "literal":
            if factor.expr != "1":
                raise InvalidParameter(
                    "the number {expr} is used as a factor, which would scale a column under its old name.",
                    hint="I({expr} * x)",
                    expr=factor.expr,
                )
            continue
        if factor.eval_method.value == "lookup":
            out.append(WrittenFactor(names.get(factor.expr, factor.expr), True))
        else:
            out.append(WrittenFactor(show_names(factor.expr, names), False))
    return out


def _only_factor(factors: list[list[WrittenFactor]]) -> WrittenFactor:
    if len(factors) != 1 or len(factors[0]) != 1:
        raise InvalidParameter(
            Phrase("it has {factor_count} outcomes; exactly one is needed.", factor_count=len(factors))
            if len(factors) != 1
            else "its outcome is a product.",
            hint="write one formula for each, or the sum as I(y1 + y2)",
        )
    return factors[0][0]


# -- factors -----------------------------------------------------------------------------------------------------------


def _factor(reader: FactorReader, factor: WrittenFactor) -> Factor:
    return reader.column(factor.text) if factor.is_name else reader.parse_call(factor.text)


def _outcome(reader: FactorReader, left: WrittenFactor) -> tuple[str, str]:
    """The name and the expression of the outcome. Of two labels the last counts as 1."""
    factor = _factor(reader, left)
    if not factor.is_labels:
        return factor.name, factor.expression
    if len(factor.levels) != 2:
        name = _names([[left]]).columns[0]
        domain: Any = reader.schema[name]
        first = domain.values[0] if isinstance(domain, Categories) and not isinstance(domain.values, int) else 0
        raise InvalidParameter(
            "its outcome {name!r} has {level_count} labels; it must be a number or have two labels.",
            hint="choose one of them: {{{name_2} == {first}}} ~ ...",
            name=name,
            level_count=len(factor.levels),
            name_2=quoted(name),
            first=literal(first),
        )
    label, condition = factor.levels[1 - factor.base if factor.base else 1]
    return f"{factor.name}[{label}]", condition


def _names(terms: Iterable[Iterable[WrittenFactor]]) -> NamedColumns:
    """The columns that these terms name, and which of them in C() only."""
    numbers: dict[str, None] = {}
    labels: dict[str, None] = {}
    every: dict[str, None] = {}
    for factor in (factor for term in terms for factor in term):
        tree, _, names = parsed(quoted(factor.text) if factor.is_name else factor.text)
        named = dict.fromkeys(columns_in(tree, names))
        every |= named
        in_labels = called(tree) == "C" and tree.args and column_named(tree.args[0], names) is not None  # type: ignore[attr-defined]
        (labels if in_labels else numbers).update(named)
    return NamedColumns(tuple(every), tuple(name for name in labels if name not in numbers))
