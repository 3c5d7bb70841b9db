"""Who is left out when a party says that it cannot open what another one sealed for it.

One of the two is wrong, and nobody can see which: the box is for its receiver alone. So from every such pair one party
goes, and as few go as a simple rule finds: first whoever is in most pairs. A party that sealed nonsense for several
others, or that accuses several others falsely, is the one that all its pairs have in common. Of a single pair the one
who sealed goes. One party that breaks the rules thus costs the sum one party, as if it had vanished.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping


def left_out(complaints: Mapping[int, Collection[int]], there: Collection[int]) -> dict[int, tuple[int, ...]]:
    """Who goes, each with the others of its pairs. complaints: by whom, and about whom; there: who has not gone yet."""
    here = set(there)
    pairs = {frozenset((by, of)) for by, whom in complaints.items() for of in whom if {by, of} <= here and by != of}
    accused = Counter(of for by, whom in complaints.items() for of in set(whom) if {by, of} <= here)
    out: dict[int, tuple[int, ...]] = {}
    while pairs:
        often = Counter(place for pair in pairs for place in pair)
        worst = max(often, key=lambda place: (often[place], accused[place], -place))
        gone = {pair for pair in pairs if worst in pair}
        out[worst] = tuple(sorted(place for pair in gone for place in pair if place != worst))
        pairs -= gone
    return out
