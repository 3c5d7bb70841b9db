"""The two functions that the exercise sheet asks for, in three lines each, from the public functions of Murmure."""

from __future__ import annotations

from collections.abc import Sequence

import murmure as mu

COINS = mu.Warner(mu.Categories([False, True]))  # two fair coins, as on the sheet


def reponse_randomisee(rep_o: bool, rng: mu.Random | None = None) -> bool:
    """The answer that a person gives after two coins, of the one that they meant. rng: for simulations with a seed.

    >>> from murmure.lectures.exercise_sheet import reponse_randomisee
    >>> reponse_randomisee(True) in (True, False)
    True
    """
    source = rng or mu.Random.secure()
    [reponse] = COINS.report([rep_o], source)
    return bool(reponse)


def estimation_nbre_oui_initiaux(reps: Sequence[bool]) -> float:
    """How many people meant yes, estimated from the answers that they gave.

    >>> from murmure.lectures.exercise_sheet import estimation_nbre_oui_initiaux
    >>> estimation_nbre_oui_initiaux([True] * 40 + [False] * 60)
    30.0
    """
    o, N = int(COINS.tally(COINS.domain.encode(reps))[1]), len(reps)
    a, c = COINS.yes  # Pr[M(True) = True], Pr[M(False) = True]
    return float((o - c * N) / (a - c))
