"""A parsed formula: the expressions of the outcome and of each column of the design matrix. It is data, not code.

A design is sent as JSON with its model. Its expressions are in the grammar of statistics/expressions/parser.py: a party
that receives one can read what will be added up, and does not run any code of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from murmure.core.codec import Codec
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, Phrase, PlanRefused, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.design.coding import MAX_COLUMNS
from murmure.econometrics.design.factors import levels_of
from murmure.econometrics.design.float_columns import evaluate
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms

MAX_LETTERS = 1000


@dataclass(frozen=True)
class Design:
    """The outcome and the columns of a regression: `read_formula("stay ~ age + ward", schema)`."""

    domain: Schema  # only the columns that are read
    formula: str
    outcome: str  # "" if there is none
    outcome_name: str
    names: tuple[str, ...]
    terms: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("names", "terms"):
            texts = getattr(self, name)
            if not isinstance(texts, list | tuple) or not all(isinstance(word, str) and word for word in texts):
                raise InvalidParameter("Design.{name} must be texts, got {got}.", name=name, got=shorten(texts))
            object.__setattr__(self, name, tuple(texts))
        if not isinstance(self.domain, Schema):
            raise InvalidParameter("Design.domain must be a Schema, got {got}.", got=shorten(self.domain))
        for name in ("formula", "outcome", "outcome_name"):
            if not isinstance(getattr(self, name), str) or len(getattr(self, name)) > MAX_LETTERS:
                raise InvalidParameter(
                    "Design.{name} must be a text of at most {max_letters} letters.", name=name, max_letters=MAX_LETTERS
                )
        if len(self.names) != len(self.terms) or not 0 < len(self.terms) <= MAX_COLUMNS:
            raise InvalidParameter(
                "Design needs one name for each term, 1 to {max_columns} of them, got {name_count} names and "
                "{term_count} terms.",
                max_columns=MAX_COLUMNS,
                name_count=len(self.names),
                term_count=len(self.terms),
            )
        if len(set(self.names)) != len(self.names):
            duplicate = next(name for name in self.names if self.names.count(name) > 1)
            raise InvalidParameter("Design.names must differ, got {duplicate!r} twice.", duplicate=duplicate)
        if bool(self.outcome) != bool(self.outcome_name):
            raise InvalidParameter("Design.outcome and Design.outcome_name go together: both, or neither.")
        terms = Terms(self.domain)
        for expression in (*self.terms, *((self.outcome,) if self.outcome else ())):
            read_expression(expression, terms)

    @property
    def intercept(self) -> int | None:
        """The index of the constant among the columns; None without one."""
        return self.terms.index("1") if "1" in self.terms else None

    @property
    def has_intercept(self) -> bool:
        return self.intercept is not None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, in the order of the schema."""
        return self.domain.private

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks for the reader of a result: which label of the outcome counts as 1."""
        for name in self.columns:
            if isinstance(self.domain[name], Categories) and self.domain[name].size == 2:
                (zero, _), (one, condition) = levels_of(self.domain, name)
                if condition == self.outcome:
                    return (
                        Phrase(
                            "{name} counts as 1 where it is {one!r} and as 0 where it is {zero!r}",
                            name=name,
                            one=one,
                            zero=zero,
                        ),
                    )
        return ()

    def matrix(self, rows: Any) -> Floats:
        """The design matrix of some rows: a frame, a mapping of columns, or a list of rows that are mappings.

        In the units of the columns. Numbers may lie beyond the bounds of the schema, as in predictions.
        """
        return evaluate(self.terms, self.domain, rows)

    def outcomes(self, rows: Any) -> Floats:
        """The outcome of some rows."""
        if not self.outcome:
            raise InvalidParameter("formula {formula} has no outcome.", formula=shorten(self.formula, 100))
        return evaluate((self.outcome,), self.domain, rows)[:, 0]

    # -- JSON

    def to_dict(self) -> dict[str, Any]:
        return DESIGNS.to_dict(self)

    @classmethod
    def from_dict(cls, raw: Any) -> Design:
        if not isinstance(raw, Mapping) or raw.get("type") != "Design":
            raise InvalidParameter("this is not the JSON of a design: {raw}.", raw=shorten(raw, 120))
        try:
            return DESIGNS.from_fields(cls, {n: v for n, v in raw.items() if n != "type"}, "Design")  # type: ignore[no-any-return]
        except PlanRefused as error:
            raise InvalidParameter("{message}", hint=error.hint, message=error.message) from None


DESIGNS = Codec("design", {"Schema": Schema.from_dict})


def part_of(schema: Schema, names: Sequence[str]) -> Schema:
    """These columns of a schema, in the order of the schema."""
    return schema.with_columns({name: about for name, about in schema.column_specs.items() if name in names})


def columns_in_words(design: Design) -> str:
    """The columns of a design matrix, for those who approve a study."""
    named = [name for name, term in zip(design.names, design.terms, strict=True) if term != "1"]
    if not named:
        return Phrase("a constant alone")
    listed, has_constant = ", ".join(named), len(named) < len(design.names)
    return Phrase("a constant, {columns}", columns=listed) if has_constant else listed
