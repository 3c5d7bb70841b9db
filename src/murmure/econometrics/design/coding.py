"""The columns that the terms of a formula become: an indicator for each label, and no column twice.

The indicators of all labels add up to the constant. So if the formula has the constant (or the rest of a product)
already, one label is left out, the base; otherwise all labels stay. R and patsy have this rule. The algorithm is
that of formulaic (formulaic.materializers.base), so names, order and columns agree:

    a  =  1 + a-                     a- is a without its base: "reduced"
    (anything):a- + (anything)  ->  (anything):a
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from murmure.core.errors import InvalidParameter, Phrase

MAX_COLUMNS = 200


@dataclass(frozen=True)
class Factor:
    """A factor of a product in a formula: a number, or a column of labels."""

    name: str  # as in the formula
    expression: str = ""  # of a number
    levels: tuple[tuple[str, str], ...] = ()  # of labels: the text of each, and its condition
    base: int = 0  # index of the label that is left out

    @property
    def is_labels(self) -> bool:
        return bool(self.levels)


@dataclass(frozen=True)
class CodedFactor:
    """A factor in a product. reduced: its base is left out."""

    factor: Factor
    reduced: bool

    def columns(self) -> list[tuple[str, str]]:
        """Names and expressions."""
        name = self.factor.name
        if not self.factor.is_labels:
            return [(name, self.factor.expression)]
        shown = f"{name}[T.{{}}]" if self.reduced else f"{name}[{{}}]"
        return [
            (shown.format(label), condition)
            for i, (label, condition) in enumerate(self.factor.levels)
            if not (self.reduced and i == self.factor.base)
        ]

    @property
    def width(self) -> int:
        return max(1, len(self.factor.levels) - self.reduced)


Product = tuple[CodedFactor, ...]


def _largest(product: Product) -> str:
    """The factor with the most columns, for a message."""
    widest = max(product, key=lambda part: part.width)
    return Phrase("{name} alone has {width}", name=widest.factor.name, width=widest.width)


def code_terms(terms: Iterable[Sequence[Factor]]) -> tuple[tuple[str, str], ...]:
    """Names and expressions of the columns, in order. A term without factors is the constant."""
    spanned: set[frozenset[CodedFactor]] = set()
    out: list[tuple[str, str]] = []
    for term in terms:
        products = [product for product in _spanned_by(term) if frozenset(product) not in spanned]
        spanned |= {frozenset(product) for product in products}
        for product in _simplified(products):
            added = 1
            for part in product:
                added *= part.width
            if len(out) + added > MAX_COLUMNS:
                raise InvalidParameter(
                    "its design has more than {max_columns} columns: {largest}.",
                    hint="merge labels, or leave out interactions; write dates as days since a date",
                    max_columns=MAX_COLUMNS,
                    largest=_largest(product),
                )
            out += _columns(product)
    return tuple(out)


def _spanned_by(term: Sequence[Factor]) -> list[Product]:
    choices: list[tuple[CodedFactor | None, ...]] = [
        (CodedFactor(factor, True), None) if factor.is_labels else (CodedFactor(factor, False),)
        for factor in dict.fromkeys(term)
    ]
    return [tuple(part for part in chosen if part is not None) for chosen in itertools.product(*choices)]


def _simplified(products: Iterable[Product]) -> list[Product]:
    """The fewest products that span the same columns."""
    out: list[Product] = []
    for product in sorted(products, key=len):
        for known in out:
            more = set(product) - set(known)
            if len(known) != len(product) - 1 or len(more) != 1:
                continue
            (part,) = more
            if part.reduced:
                full = tuple(CodedFactor(p.factor, False) if p == part else p for p in product)
                out = _simplified([*(p for p in out if p is not known), full])
                break
        else:
            out.append(product)
    return out


def _columns(product: Product) -> list[tuple[str, str]]:
    """Names and expressions of the columns of a product; the first factor varies fastest."""
    if not product:
        return [("Intercept", "1")]
    out = []
    for chosen in itertools.product(*(part.columns() for part in reversed(product))):
        names, expressions = zip(*reversed(chosen), strict=True)
        plain = len(expressions) == 1
        out.append((":".join(names), expressions[0] if plain else " * ".join(map(_bracketed, expressions))))
    return out


def _bracketed(expression: str) -> str:
    plain = expression.isidentifier() or (expression[0] == expression[-1] == "`" and expression.count("`") == 2)
    return expression if plain else f"({expression})"
