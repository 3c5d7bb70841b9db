"""Who is left out when two parties contradict each other, and nobody can see which of them is right.

A party says that it cannot open what another one sealed for it; or a share that one dealt out and another revealed fits
no secret. Of every such pair one party is left out, and as few as possible: a minimum cover of the pairs. The liars are
a cover, since there is one in every pair. So k liars exclude at most k parties here, themselves or others; a liar that
stays may still vanish later, and costs one more. Of a single pair the one who sealed is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

Pair = frozenset[int]
MAX_WORK = 50_000  # sets of parties that are tried; beyond, the greedy cover is taken


def excluded_parties(complaints: Mapping[int, Collection[int]], present: Collection[int]) -> dict[int, tuple[int, ...]]:
    """Who is left out, each with the parties it contradicts. complaints: by accuser, the accused."""
    here = set(present)
    made = [(by, of) for by, accused in complaints.items() for of in set(accused) if {by, of} <= here]
    pairs = {frozenset(pair) for pair in made if len(set(pair)) == 2}
    cover = _CoverSearch(Counter(of for _, of in made)).minimum(pairs)
    return {
        place: tuple(sorted(other for pair in pairs if place in pair for other in pair if other != place))
        for place in sorted(cover)
    }


class _CoverSearch:
    """A smallest set with one party of every pair, by branching: the worst party, or else all whom it contradicts."""

    def __init__(self, accusations: Counter[int]) -> None:
        self.accusations, self.work = accusations, 0

    def minimum(self, pairs: set[Pair]) -> frozenset[int]:
        greedy = self._greedy(pairs)
        for size in range(len(greedy)):
            cover = self._at_most(pairs, size)
            if cover is not None:
                return cover
            if self.work > MAX_WORK:
                break
        return greedy

    def _worst(self, pairs: set[Pair]) -> tuple[int, int]:
        """The party in most pairs, and in how many; among equals the one accused more often."""
        counts = Counter(place for pair in pairs for place in pair)
        worst = max(counts, key=lambda place: (counts[place], self.accusations[place], -place))
        return worst, counts[worst]

    def _greedy(self, pairs: set[Pair]) -> frozenset[int]:
        out: set[int] = set()
        while pairs:
            worst, _ = self._worst(pairs)
            out.add(worst)
            pairs = {pair for pair in pairs if worst not in pair}
        return frozenset(out)

    def _at_most(self, pairs: set[Pair], size: int) -> frozenset[int] | None:
        """A cover of at most `size` parties, if there is one."""
        if not pairs:
            return frozenset()
        self.work += 1
        worst, count = self._worst(pairs)
        if count * size < len(pairs) or self.work > MAX_WORK:
            return None
        others = frozenset(place for pair in pairs if worst in pair for place in pair) - {worst}
        for take in (frozenset({worst}), others):
            if len(take) <= size:
                rest = self._at_most({pair for pair in pairs if not pair & take}, size - len(take))
                if rest is not None:
                    return rest | take
        return None
