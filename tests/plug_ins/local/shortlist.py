"""Subset selection whose sets are not long: a mechanism that tests/test_plugins.py adds.

P[Y | x] as in local/subset.py, with w = min(the best size, longest).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from murmure.core.catalogue_entries import MechanismEntry, OptionForm
from murmure.core.domain import Categories
from murmure.local.subset import SubsetSelection, best_size


@dataclass(frozen=True)
class Shortlist(SubsetSelection):
    """A set of values, at most `longest` of them."""

    longest: int = 1000  # the most values of a set

    entry = MechanismEntry(
        oracle="shares",
        adaptive=True,
        lists_values=True,
        options=(OptionForm("longest", "Shortlist: the most values of a set.", kind="whole", metavar="N"),),
    )

    @cached_property
    def size(self) -> int:
        return min(self.longest, best_size(self.domain.size, self.epsilon))


EXAMPLES = (Shortlist(Categories(4), 1.0), Shortlist(Categories(9), 0.5, longest=2))
