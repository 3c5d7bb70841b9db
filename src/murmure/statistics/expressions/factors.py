"""Factors whose products are summed: how they are read, which products there are, and what each is called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from murmure.core.domain import Decimals, Domain, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms

MAX_FACTORS = 2048

Combination = Mapping[int, Fraction]  # a combination of sums: the coefficient of each


@dataclass(frozen=True)
class CentredFactor:
    """A factor less public multiples of others (centred_factors.py): its term, and the multiple of each other."""

    number: int
    less: Combination


@dataclass(frozen=True, eq=False)
class ProductLayout:
    """Which sums there are: the term of each, two terms whose product it is, and the first two factors that gave it.

    With middles (centred_factors.py) the sums are those of factors less their middles, and less the combination `less`:
    the raw sum of number k is that of parts[k]; and widths says how many share a block, one after the other.
    """

    terms: Terms
    numbers: tuple[int, ...]
    wanted: tuple[int, ...]
    pairs: tuple[tuple[int, int] | None, ...]  # None: the term itself is added up
    first: tuple[tuple[int, int], ...]
    figure: tuple[tuple[int, ...], ...]
    middles: tuple[CentredFactor, ...] | None = None
    less: tuple[Combination, ...] | None = None
    parts: tuple[Combination, ...] | None = None
    widths: tuple[int, ...] | None = None

    @classmethod
    def out(cls, terms: Terms, numbers: Sequence[int], weight: Sequence[int]) -> ProductLayout:
        number: dict[int, int] = {}
        pairs: list[tuple[int, int] | None] = []
        first: list[tuple[int, int]] = []
        side = len(numbers)
        figure = [[-1] * side for _ in range(side)]
        for a in range(side):
            left = terms.product([*weight, numbers[a]]) if weight else numbers[a]
            for b in range(a, side):
                whole = terms.product([*weight, numbers[a], numbers[b]])
                if terms[whole].max_abs == 0:
                    continue
                assert terms[whole].unit == terms[left].unit * terms[numbers[b]].unit  # v of the product is v_a v_b
                if whole not in number:
                    number[whole] = len(number)
                    pairs.append((left, numbers[b]))
                    first.append((a, b))
                figure[a][b] = figure[b][a] = number[whole]
        return cls(terms, tuple(numbers), tuple(number), tuple(pairs), tuple(first), tuple(map(tuple, figure)))


def check_factors(owner: str, domain: Any, factors: Any) -> tuple[str, ...]:
    """The expressions without spaces around them, each once."""
    if not isinstance(domain, Schema):
        raise InvalidParameter(
            "{owner}.domain must be a Schema, got {got}.",
            hint='{owner}(Schema({{"age": Integers(0, 120)}}), ("1", "age"))',
            owner=owner,
            got=shorten(domain),
        )
    if not isinstance(factors, tuple | list) or not factors:
        raise InvalidParameter(
            "{owner}.factors must be a tuple of expressions, got {got}.",
            hint='{owner}(schema, ("1", "age", "stay"))',
            owner=owner,
            got=shorten(factors),
        )
    if len(factors) > MAX_FACTORS:
        raise InvalidParameter(
            "{owner} takes at most {max_factors} factors, got {got}.",
            owner=owner,
            max_factors=MAX_FACTORS,
            got=len(factors),
        )
    texts = tuple(text.strip() if isinstance(text, str) else text for text in factors)
    for i, text in enumerate(texts):
        if text in texts[:i]:
            raise InvalidParameter(
                "{owner}.factors names {text} twice.", hint="name each factor once", owner=owner, text=shorten(text)
            )
    return texts


def read_factor(text: str, terms: Terms) -> int:
    """The term of an expression that is not always 0."""
    number = read_expression(text, terms)
    if terms[number].max_abs == 0:
        raise InvalidParameter("expression {text} is 0 in every row.", hint="leave it out", text=shorten(text, 100))
    return number


def rounded_columns(schema: Schema) -> tuple[str, ...]:
    """The columns whose numbers are rounded to a grid before they are added up."""
    return tuple(name for name in schema.private if _is_rounded(schema[name]))


def _is_rounded(domain: Domain) -> bool:
    return isinstance(domain, Interval) or (isinstance(domain, Decimals) and domain.rounding == "nearest")


def named_product(a: str, b: str) -> str:
    """The name of a product, that of no other two factors."""
    kept = [text for text in (a, b) if text != "1"] or ["1"]
    return " * ".join(text if re.fullmatch(r"\w+|`[^`]*`", text) else f"({text})" for text in kept)


def named_middle(factors: Sequence[str], a: int, middle: CentredFactor) -> str:
    """A factor less its middle, as an expression: "age - 95/2", "age ** 2 - 95 * age + 2000"."""
    out = factors[a]
    for k, c in middle.less.items():
        of = str(abs(c)) if factors[k] == "1" else factors[k] if abs(c) == 1 else f"{abs(c)} * ({factors[k]})"
        out += f" {'-' if c > 0 else '+'} {of}"
    return out
