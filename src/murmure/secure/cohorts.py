"""The differencing guard: what was released over several cohorts must not be combined into the sum of a few parties.

Q(everybody) - Q(everybody but one) is one party's sum, and a dropout followed by a retry asks for exactly that. In
general any combination  sum_c a_c Q(c)  of released sums is a weighted sum over the parties where  sum_c a_c 1_c  is
not zero; a release is refused if, together with earlier ones, some combination weighs fewer than `minimum` parties.

Parties that were in the same cohorts always have the same weight, so they form one class, and a combination weighs all
of a class or none. In the language of matroids: which few columns meet every basis? Some combination lives on the
classes T alone exactly when the columns outside T have a lower rank than all columns together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from murmure.core.errors import InvalidParameter
from murmure.secure.errors import CohortRefused

Column = tuple[int, ...]


@dataclass(frozen=True)
class Cohorts:
    """The cohorts over which the same question was answered, as sets of parties' names."""

    released: tuple[frozenset[str], ...] = ()
    minimum: int = 3

    def __post_init__(self) -> None:
        if self.minimum < 1:
            raise InvalidParameter("Cohorts.minimum must be at least 1, got {got}.", got=self.minimum)

    def check(self, new: frozenset[str]) -> None:
        """Refuse a cohort whose release would tell about fewer than `minimum` parties."""
        if len(new) < self.minimum:
            raise CohortRefused(
                "a sum over {new_count} parties was requested; the minimum is {minimum}.",
                hint="more parties must take part",
                new_count=len(new),
                minimum=self.minimum,
            )
        few = isolated_parties((*self.released, new), self.minimum)
        if few is not None:
            raise CohortRefused(
                "a sum over these {new_count} parties, combined with the {released_count} released before, would "
                "reveal {few_count} alone ({few}); the minimum is {minimum}.",
                hint="ask the same parties as before, or for a sum with noise",
                new_count=len(new),
                released_count=len(self.released),
                few_count=len(few),
                few=", ".join(sorted(few)),
                minimum=self.minimum,
            )

    def including(self, new: frozenset[str]) -> Cohorts:
        """These and one more; a cohort that is listed already says nothing new."""
        return self if new in self.released else Cohorts((*self.released, new), self.minimum)


def check_ratio(sums: int, records: int, ratio: Fraction = Fraction(1, 3)) -> None:
    """Nearly as many exact sums as rows are equations that can be solved for the rows."""
    if sums < 0 or records < 0 or ratio <= 0:
        raise InvalidParameter("check_ratio: sums and records must be counts, and ratio must be positive.")
    if sums > ratio * records:
        raise CohortRefused(
            "{sums:_} exact sums over at least {records:_} rows: more than {ratio} for each row, from which single "
            "rows could be worked out.",
            hint="at most {floor:_} sums, more rows, or noise",
            sums=sums,
            records=records,
            ratio=ratio,
            floor=math.floor(ratio * records),
        )


def isolated_parties(cohorts: Sequence[frozenset[str]], minimum: int) -> frozenset[str] | None:
    """The fewest parties, below `minimum`, to which some combination of the cohorts' sums is confined, or None."""
    classes: dict[Column, set[str]] = {}
    for party in sorted(frozenset().union(*cohorts)):
        classes.setdefault(tuple(int(party in cohort) for cohort in cohorts), set()).add(party)
    # Large classes first: the basis then has as few small ones as possible, and only small ones can be isolated.
    columns = sorted(classes, key=lambda column: -len(classes[column]))
    sizes = [len(classes[column]) for column in columns]
    rank = len(_basis(columns, frozenset(), len(cohorts)))
    for room in range(1, minimum):
        for chosen in _choices(columns, sizes, rank, frozenset(), room):
            return frozenset().union(*(classes[columns[i]] for i in chosen))
    return None


def _choices(
    columns: Sequence[Column], sizes: Sequence[int], rank: int, without: frozenset[int], room: int
) -> Iterator[frozenset[int]]:
    """Sets of columns of at most `room` parties beyond `without`, outside which the rank is lower.

    Such a set meets every basis. So take one basis outside `without`; the set contains one of its columns, try each.
    That is at most rank**room cases, whatever the number of parties.
    """
    basis = _basis(columns, without, rank)
    if len(basis) < rank:
        yield without
        return
    for i in basis:
        if sizes[i] <= room:
            yield from _choices(columns, sizes, rank, without | {i}, room - sizes[i])


def _basis(columns: Sequence[Column], without: frozenset[int], max_rank: int) -> list[int]:
    """Indexes of the first independent columns, `without` left out; exact elimination in integers."""
    chosen: list[int] = []
    reduced: list[tuple[int, list[int]]] = []  # (place of the first entry that is not zero, column)
    for i, column in enumerate(columns):
        if len(chosen) == max_rank:
            break
        if i in without:
            continue
        rest = list(column)
        for place, pivot in reduced:
            if rest[place]:
                a, b = pivot[place], rest[place]
                rest = [a * x - b * y for x, y in zip(rest, pivot, strict=True)]
        common = math.gcd(*rest)
        if common:
            rest = [x // common for x in rest]
            reduced.append((next(k for k, x in enumerate(rest) if x), rest))
            chosen.append(i)
    return chosen
