"""Who is left out when two parties contradict each other, and nobody can see which of them is right.

A party says that it cannot open what another one sealed for it; or a share that one dealt out and another revealed fits
no secret. From every such pair one party goes, and as few go as possible: a least cover of the pairs. Those who lie are
such a cover, since there is one in every pair. So k liars put out at most k parties here, themselves or others; a liar
that stays may still vanish later, and costs one more. Of a single pair the one who sealed goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

Pair = frozenset[int]
MAX_WORK = 50_000  # sets of parties that are looked at; beyond, whoever is in most pairs goes first


def excluded_parties(complaints: Mapping[int, Collection[int]], there: Collection[int]) -> dict[int, tuple[int, ...]]:
    """Who goes, each with the others of its pairs. complaints: by whom, and about whom; there: who has not gone yet."""
    here = set(there)
    pairs = {frozenset((by, of)) for by, whom in complaints.items() for of in whom if {by, of} <= here and by != of}
    accused = Counter(of for by, whom in complaints.items() for of in set(whom) if {by, of} <= here)
    goes = _Cover(accused).least(pairs)
    return {
        place: tuple(sorted(other for pair in pairs if place in pair for other in pair if other != place))
        for place in sorted(goes)
    }


class _Cover:
    """A least set of parties with one of every pair: whoever is in most pairs, or else all whom it contradicts."""

    def __init__(self, accused: Counter[int]) -> None:
        self.accused, self.work = accused, 0

    def least(self, pairs: set[Pair]) -> frozenset[int]:
        rough = self._rough(pairs)
        for size in range(len(rough)):
            found = self._of(pairs, size)
            if found is not None:
                return found
            if self.work > MAX_WORK:
                break
        return rough

    def _worst(self, pairs: set[Pair]) -> tuple[int, int]:
        often = Counter(place for pair in pairs for place in pair)
        worst = max(often, key=lambda place: (often[place], self.accused[place], -place))
        return worst, often[worst]

    def _rough(self, pairs: set[Pair]) -> frozenset[int]:
        out: set[int] = set()
        while pairs:
            worst, _ = self._worst(pairs)
            out.add(worst)
            pairs = {pair for pair in pairs if worst not in pair}
        return frozenset(out)

    def _of(self, pairs: set[Pair], size: int) -> frozenset[int] | None:
        """A cover of at most so many, if there is one."""
        if not pairs:
            return frozenset()
        self.work += 1
        worst, often = self._worst(pairs)
        if often * size < len(pairs) or self.work > MAX_WORK:
            return None
        others = frozenset(place for pair in pairs if worst in pair for place in pair) - {worst}
        for take in (frozenset({worst}), others):
            if len(take) <= size:
                rest = self._of({pair for pair in pairs if not pair & take}, size - len(take))
                if rest is not None:
                    return rest | take
        return None
