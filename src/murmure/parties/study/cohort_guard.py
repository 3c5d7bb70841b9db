"""Which cohort may be released after which: one rule, for a party and for a coordinator (secure/cohorts.py).

Colluders know their own sums, so a difference of few parties is that of fewer: what may be told apart grows with the
colluders that the studies guard against, at least two parties more than these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from murmure.secure.cohorts import Cohorts
from murmure.secure.errors import CohortRefused
from murmure.secure.identity import Card

if TYPE_CHECKING:
    from murmure.parties.study.document import Study

MIN_PARTIES = 3  # with two, each knows the other's sum


def check_cohort(
    study: Study,
    new: frozenset[str],
    before: Iterable[tuple[frozenset[str], int]],
    known: Callable[[], Mapping[str, str]] = dict,
) -> None:
    """Refuses a cohort of this study; before: cohorts of earlier exact sums, and how many colluders each study feared.

    Parties are named by the digits of their keys, and in the error by their names; known: those of other rosters.
    """
    held = list(before)
    own, *others = (max(MIN_PARTIES, colluders + 2) for colluders in (study.sharing.colluders, *(c for _, c in held)))
    for least in sorted({MIN_PARTIES, own, *others}):
        if least <= max(own, len(new)):
            # a cohort of fewer was released under its own terms: it tells of them with or without this one
            cohorts = dict.fromkeys(cohort for cohort, _ in held if len(cohort) >= least)
            try:
                Cohorts(tuple(cohorts), least).check(new)
            except CohortRefused as error:
                raise _named(error, study, known()) from None


def _named(error: CohortRefused, study: Study, known: Mapping[str, str]) -> CohortRefused:
    names = {**known, **{card.key.hex(): card.name for card in study.roster}}

    def name(key: re.Match[str]) -> str:
        return names.get(key[0]) or f"the party {Card('x', bytes.fromhex(key[0])).fingerprint}"

    said = str(error).removesuffix(f"\n  Hint: {error.hint}")
    hint = error.hint if study.exact_may_be_noisy else str(error.hint).removesuffix(", or for a sum with noise")
    return CohortRefused(re.sub(r"\b[0-9a-f]{64}\b", name, said), hint=hint)
