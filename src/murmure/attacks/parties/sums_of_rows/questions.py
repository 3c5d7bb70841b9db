"""Questions about one person: figures of the columns that an attacker wants, and the condition that only they meet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from murmure.attacks.base.table_rows import TableRows
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, MissingColumn, shorten
from murmure.core.types import Ints
from murmure.econometrics.design.factors import literal, quoted
from murmure.statistics.sums import Sums


@dataclass(frozen=True)
class PersonalQuestions:
    """Sums over everybody, over everybody but one person, and over that person alone."""

    rows: TableRows
    knows: tuple[str, ...]  # columns by which the attacker recognises a person
    wants: tuple[str, ...]  # columns that the attacker would like to know

    def __post_init__(self) -> None:
        schema = self.rows.schema
        for name in (*self.knows, *self.wants):
            if name not in schema.private:
                raise MissingColumn(
                    "the schema has no column {name!r}; it has {column_names}.",
                    name=name,
                    column_names=shorten(list(schema.private), 120),
                )
        for name in self.knows:
            if not isinstance(schema[name], Categories | Integers):
                raise InvalidParameter(
                    "differencing: the attacker can recognise people by labels and whole numbers; column {name!r} "
                    "holds {domain}.",
                    hint="leave it out of knows, or make it Integers in the schema",
                    name=name,
                    domain=schema[name].describe(),
                )
        if not self.knows or not self.wants or set(self.knows) & set(self.wants):
            raise InvalidParameter(
                "differencing needs columns that the attacker knows, and others to recover, got {knows} and {wants}.",
                hint='knows=["age", "region"], wants=["income"]',
                knows=shorten(list(self.knows)),
                wants=shorten(list(self.wants)),
            )

    @cached_property
    def expressions(self) -> dict[str, list[str]]:
        """Of every wanted column its figures: the number itself, or whether it is this label."""
        return {name: self._expressions(name) for name in self.wants}

    def _expressions(self, name: str) -> list[str]:
        domain = self.rows.schema[name]
        if not isinstance(domain, Categories):
            return [quoted(name)]
        return [f"({quoted(name)} == {literal(value)})" for value in _values(domain)]

    def condition(self, row: int) -> str:
        """Which only this row meets, the attacker hopes: 1 or 0."""
        parts = []
        for name in self.knows:
            domain, code = self.rows.schema[name], int(self._codes(name)[row])
            value = domain.low + code if isinstance(domain, Integers) else _values(domain)[code]
            parts.append(f"({quoted(name)} == {literal(value)})")
        return " * ".join(parts)

    def _codes(self, name: str) -> Ints:
        return self.rows.codes[self.rows.schema.private.index(name)]

    def about_all(self) -> Sums:
        return self._sums("{figure}", ())

    def about_one(self, row: int) -> Sums:
        """Over the rows that meet the condition; the last figure counts them."""
        c = self.condition(row)
        return self._sums(f"{{figure}} * {c}", (c,))

    def about_others(self, row: int, count: bool = True) -> Sums:
        """Over the rows that do not; the last figure counts them."""
        c = self.condition(row)
        return self._sums(f"{{figure}} * (1 - {c})", (f"1 - {c}",) if count else ())

    def _sums(self, template: str, more: tuple[str, ...]) -> Sums:
        figures = [figure for name in self.wants for figure in self.expressions[name]]
        return Sums(self.rows.schema, (*(template.replace("{figure}", figure) for figure in figures), *more))

    @cached_property
    def values(self) -> Ints:
        """g(row) of every row: what the person adds to each figure, in whole units."""
        question = self.about_all()
        return np.asarray(question.lift(self._codes_for(question)), np.int64)

    def _codes_for(self, question: Any) -> tuple[Ints, ...]:
        return tuple(self._codes(name) for name in question.domain)

    @cached_property
    def parts(self) -> list[slice]:
        """Of every wanted column, where its figures are."""
        ends = np.cumsum([0, *(len(self.expressions[name]) for name in self.wants)]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]


def _values(domain: Categories) -> list[Any]:
    return list(range(domain.values)) if isinstance(domain.values, int) else list(domain.values)
