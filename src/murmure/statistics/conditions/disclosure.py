"""How much a study releases without noise that hides a row: sums are counted by what they can carry.

A sum is one number, but a long one can hold many side by side: (age == 40) * pay + (age == 41) * pay * 1e5 + ...
has five digits for every age, and reveals as much as one sum for each. So a sum counts as often as its range over one
row needs the digits of the columns that it reads; a column or a product of columns counts once, a square twice. A real
function of a row, such as the score of a logit, is released to some 60 bits: over columns of 8 bits it counts as 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from murmure.core.domain import Categories
from murmure.core.fixed import sum_up
from murmure.statistics.base.exact_sums import ExactSums
from murmure.statistics.expressions.terms import Term, Terms

if TYPE_CHECKING:
    from murmure.core.schema import Schema
    from murmure.plan.plan import Plan

# Above this epsilon noise does not hide a row: a guess between two possibilities is right 399 times in 400.
MAX_HIDING_EPSILON = 6
WORD = 64  # the most bits that one count covers, however wide the schema says that the columns are


def disclosure_counts(statistic: Any) -> list[int]:
    """For every sum, how many sums it counts as."""
    if not isinstance(statistic, ExactSums):
        counts = statistic.trailing_counts
        return [real_sum(statistic.domain) if of_reals(statistic) else 1] * (statistic.width - counts) + [1] * counts
    read = {name for term in statistic.figures for name in term.columns}
    bits = {name: _bits(name, statistic.domain) for name in read}  # once: products read the same columns many times
    return [times_counted(term, bits) for term in statistic.figures]


def of_reals(statistic: Any) -> bool:
    """Whether it adds up long numbers that are not products of columns: real functions, or squares of parties' sums."""
    return statistic.wide and not isinstance(statistic, ExactSums)


def real_sum(schema: Schema) -> int:
    """As how many sums one of a real function of these columns counts."""
    return -(-WORD // min(WORD, sum(_bits(name, schema) for name in schema.private)))


def times_counted(term: Term, bits: Mapping[str, int]) -> int:
    """bits: of what a row holds, by column."""
    carries = (term.high - term.low).bit_length()
    explained = sum(bits[name] for name in term.columns)
    return max(1, -(-carries // min(WORD, explained))) if explained else 1


def _bits(name: str, schema: Schema) -> int:
    """Of what a row holds in a column; its offset counts too, since it multiplies the others in a product."""
    domain: Any = schema[name]
    if isinstance(domain, Categories):
        return max(1, (domain.size - 1).bit_length())
    terms = Terms(schema)
    column = terms[terms.column(name)]
    return max(1, column.max_abs.bit_length(), (column.high - column.low).bit_length())


def reader_epsilon(plan: Plan) -> float:
    """What a reader learns about one row, at most; infinite without noise."""
    return plan.guarantees()["reader"].epsilon


def hidden_by_noise(plans: Sequence[Plan]) -> tuple[bool, ...]:
    """Of every plan, whether its noise hides a row: alone, and together with the others that do."""
    alone = [plan.curator is not None and reader_epsilon(plan) <= MAX_HIDING_EPSILON for plan in plans]
    together = (
        sum_up(reader_epsilon(plan) for plan, hides in zip(plans, alone, strict=True) if hides) <= MAX_HIDING_EPSILON
    )
    return tuple(hides and together for hides in alone)
