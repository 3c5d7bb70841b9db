"""Sums of expressions of the columns: exact, and bounded by what the schema says.

g(row) = (v_1, ..., v_L),   value of expression k = unit_k v_k   with unit_k public and v_k whole   (terms.py)

One row adds to figure k at most B_k = max(|low_k|, |high_k|), from interval arithmetic on public bounds; a row with a
label that is not listed adds nothing to what reads that column. A number in cells counts as the middle of its cell, as
everywhere: sums are exact for the numbers on the grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from murmure.core.blocks import Block
from murmure.core.catalogue_entries import StatisticEntry
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.statistics.base.exact_sums import ExactSums
from murmure.statistics.estimates.sums_estimate import SumsEstimate
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms

MAX_EXPRESSIONS = 1 << 16


@dataclass(frozen=True)
class Sums(ExactSums[SumsEstimate]):
    """Exact sums: `Sums(schema, ("age", "age * stay", "(smoker == 'yes') * stay"))`.

    Expressions: numbers, columns, + - * **, comparisons, and or not, min, max, abs. Columns that none of them reads are
    dropped from the domain.

    >>> import murmure as mu
    >>> schema = mu.Schema({"age": mu.Integers(0, 120), "smoker": mu.Categories(["no", "yes"])})
    >>> people = {"age": [30, 40, 56] * 300, "smoker": ["no", "yes", "no"] * 300}
    >>> question = mu.Sums(schema, ("age", "age ** 2", 'age * (smoker == "yes")'))
    >>> print(mu.run(mu.Plan(question), people).estimate)
                                   sum
    ----------------------------------
    age                         37,800
    age ** 2                 1,690,800
    age * (smoker == "yes")     12,000
    <BLANKLINE>
    900 rows; known exactly
    """

    domain: Schema
    expressions: tuple[str, ...] | list[str]

    entry = StatisticEntry(order=110)

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Schema):
            raise InvalidParameter(
                "Sums.domain must be a Schema, got {got}.",
                hint='Sums(Schema({{"age": Integers(0, 120)}}), ("age", "age ** 2"))',
                got=shorten(self.domain),
            )
        if not isinstance(self.expressions, tuple | list) or not self.expressions:
            raise InvalidParameter(
                "Sums.expressions must be a tuple of expressions, got {got}.",
                hint='Sums(schema, ("age", "age * stay")); one alone is ("age",)',
                got=shorten(self.expressions),
            )
        if len(self.expressions) > MAX_EXPRESSIONS:
            raise InvalidParameter(
                "Sums takes at most {max_expressions} expressions, got {got}.",
                max_expressions=MAX_EXPRESSIONS,
                got=len(self.expressions),
            )
        texts = tuple(e.strip() if isinstance(e, str) else e for e in self.expressions)
        object.__setattr__(self, "expressions", texts)
        terms = Terms(self.domain)
        numbers = tuple(read_expression(text, terms) for text in texts)
        known: set[str] = set()
        for text, number in zip(texts, numbers, strict=True):
            if text in known:
                raise InvalidParameter(
                    "Sums.expressions names {text} twice.", hint="each sum is asked once", text=shorten(text)
                )
            if terms[number].max_abs == 0:
                raise InvalidParameter(
                    "expression {text} is 0 in every row.", hint="leave it out", text=shorten(text, 100)
                )
            known.add(text)
        self._keep_columns_read(terms, numbers)
        self._set_terms(terms, numbers)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        out = []
        for text, term in zip(self.expressions, self.figures, strict=True):
            # an exchanged row may be one that adds nothing, so a whole row at least
            apart = max(term.max_abs, term.high - term.low)
            out.append(Block(text, 1, term.max_abs, term.max_abs**2, 1.0, apart, apart**2))
        return tuple(out)

    @property
    def formulas(self) -> tuple[str, ...]:
        return tuple(self.expressions)

    def in_words(self) -> str:
        """The question in the words of a ledger and a release."""
        if self.width < 4:
            return f"Sum{'s' * (self.width > 1)} of {', '.join(self.expressions)}"
        names = self.domain.private
        return f"{self.width} sums of {', '.join(names) if len(names) < 4 else f'{len(names)} columns'}"

    def _estimate(self, integers: list[int], laws: tuple[Any, ...], n: int | None) -> SumsEstimate:
        grid = tuple(name for name in self.domain.private if isinstance(self.domain[name], Interval))
        return SumsEstimate.of(self.formulas, tuple(integers), self.units, laws, n, grid)


_HOSPITAL = Schema({"age": Integers(0, 99), "stay": Integers(-2, 30), "smoker": Categories(["no", "yes"])})
_DOSES = Schema({"dose": Interval(0.5, 2.5, cells=8), "change": Interval(-0.3, 0.1, cells=5), "ward": Categories(3)})

EXAMPLES = (
    Sums(_HOSPITAL, ("1", "age", "stay", "age * stay", "stay ** 2", "stay * stay * stay", "(smoker == 'yes') * age")),
    Sums(_HOSPITAL, ("age", "age * age", "stay", "stay * age", "stay * stay", "max(age, 50) - 0.5", "18 <= age < 65")),
    Sums(_DOSES, ("dose", "dose * change", "change / 3", "ward != 1", "abs(change)", "not (ward == 2 and dose > 1)")),
)
