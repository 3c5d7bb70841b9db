"""How many of this party's rows fulfil the conditions of a study: a warning for the person who approves.

It is shown before the first round, and decides nothing. If software refused because of it, the refusal would be an
answer: a refusal of `id == 5` would reveal who has patient 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from murmure.core.errors import MurmureError
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.show.phrase import Phrase, Plural, Quoted
from murmure.statistics.conditions.counts import ConditionCounts
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.statistics.conditions.conditions import Condition

MAX_WARNINGS = 12


def local_condition_counts(study: Study, rows: Any) -> list[tuple[int, Condition, int, int]]:
    """For every condition in exact sums: its question, itself, how many rows here fulfil it, and how many there are."""
    from murmure.plan.plan import Plan
    from murmure.run.totals import total

    out = []
    for number, conditions in study.conditions:
        distinct: dict[Any, Condition] = {}
        for condition in conditions.conditions:
            if condition.region is not None and condition.share not in (0, 1):
                distinct.setdefault(condition.region.key, condition)
        if not distinct:
            continue
        domain: Any = study.questions[number - 1].plan.statistic.domain
        schema = domain if isinstance(domain, Schema) else Schema({domain.column: domain})
        countable = [condition for condition in distinct.values() if condition.columns <= set(schema.private)]
        counts = total(Plan(ConditionCounts(schema, tuple(countable))), rows, None, Random.seeded(0))
        out += [
            (number, condition, int(k), counts.n) for condition, k in zip(countable, counts.sum.tolist(), strict=True)
        ]
    return out


def local_warnings(study: Study, rows: Any, minimum_cell: int = MINIMUM_CELL) -> list[Phrase]:
    """In plain sentences, the rarest first. Rows that cannot be read are reported later, when they are checked."""
    try:
        counted = local_condition_counts(study, rows)
    except MurmureError:
        return []
    few = [
        (min(k, n - k), number, condition, k, n) for number, condition, k, n in counted if min(k, n - k) < minimum_cell
    ]
    few.sort(key=lambda entry: entry[:2])
    out = [
        Phrase(
            "WARNING, seen by you alone: of your {n:,} rows, those that fulfil {condition} are {k:,} (question {number}).",
            k=k,
            n=n,
            condition=Quoted(condition.text),
            number=number,
        )
        for _, number, condition, k, n in few[:MAX_WARNINGS]
    ]
    if len(few) > MAX_WARNINGS:
        more = len(few) - MAX_WARNINGS
        out.append(Plural("There is {n:,} more such condition.", "There are {n:,} more such conditions.", n=more))
    if few:
        out.append(
            Phrase(
                "Totals over so few rows tell about these few, unless others have rows there too. Nobody else sees "
                "these counts, and your software does not act on them: whether to take part is for you to decide."
            )
        )
    return out
