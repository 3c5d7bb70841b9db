"""How many of the own rows fulfil the conditions of a study: a warning for the person who approves.

It is shown before the first round, and decides nothing. If software refused by it, the refusal would be an answer: a no
to `id == 5` would say who holds patient 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from murmure.core.errors import MurmureError
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.parties.study.question_words import LanguageCode, StudyLanguage
from murmure.statistics.conditions.counts import ConditionCounts
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL

if TYPE_CHECKING:
    from murmure.parties.study.document import Study
    from murmure.statistics.conditions.conditions import Condition

MAX_TOLD = 12


def local_condition_counts(study: Study, rows: Any) -> list[tuple[int, Condition, int, int]]:
    """Of every condition in exact sums: its question, itself, how many own rows fulfil it, and how many there are."""
    from murmure.plan.plan import Plan
    from murmure.run.totals import total

    out = []
    for number, asked in study.conditions:
        distinct: dict[Any, Condition] = {}
        for one in asked.conditions:
            if one.region is not None and one.share not in (0, 1):
                distinct.setdefault(one.region.key, one)
        if not distinct:
            continue
        domain: Any = study.questions[number - 1].plan.statistic.domain
        schema = domain if isinstance(domain, Schema) else Schema({domain.column: domain})
        known = [one for one in distinct.values() if one.columns <= set(schema.private)]
        found = total(Plan(ConditionCounts(schema, tuple(known))), rows, None, Random.seeded(0))
        out += [(number, one, int(k), found.n) for one, k in zip(known, found.sum.tolist(), strict=True)]
    return out


def local_warnings(
    study: Study, rows: Any, minimum_cell: int = MINIMUM_CELL, language: LanguageCode = "en"
) -> list[str]:
    """In plain sentences, the rarest first. Rows that cannot be read are told of when they are checked."""
    say = StudyLanguage(language)
    try:
        counted = local_condition_counts(study, rows)
    except MurmureError:
        return []
    few = [(min(k, n - k), number, one, k, n) for number, one, k, n in counted if min(k, n - k) < minimum_cell]
    few.sort(key=lambda held: held[:2])
    fulfil = say(
        "WARNING, seen by you alone: of your {} rows, {} fulfil {} (question {}).",
        "ATTENTION, visible de vous seul : de vos {} lignes, {} remplissent {} (question {}).",
    )
    out = [
        fulfil.format(say.number(n), say.number(k), say.quote(one.text), number)
        for _, number, one, k, n in few[:MAX_TOLD]
    ]
    if len(few) > MAX_TOLD:
        more = say("There are {} more such conditions.", "Il y a {} autres conditions de ce genre.")
        out.append(more.format(say.number(len(few) - MAX_TOLD)))
    if few:
        out.append(
            say(
                "Totals over so few rows tell about these few, unless others have rows there too. Nobody else sees "
                "these counts, and your software does not act on them: whether to take part is for you to decide.",
                "Des totaux sur si peu de lignes renseignent sur elles, à moins que d’autres n’en aient aussi. "
                "Personne d’autre ne voit ces comptages, et votre logiciel ne décide rien d’après eux : c’est à vous "
                "de décider si vous participez.",
            )
        )
    return out
