"""A sum in which large numbers count as a public cap: a statistic that tests/test_plugins.py adds.

g(x) = (1, min(v, cap)).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import OptionForm, QueryForm, StatisticEntry
from murmure.core.domain import Integers
from murmure.core.types import Array, Ints
from murmure.statistics.sum import Sum


@dataclass(frozen=True)
class CappedSum(Sum):
    """The sum of whole numbers from 0 on, each at most `cap`.

    >>> import murmure as mu
    >>> print(mu.run(mu.Plan(mu.CappedSum(mu.Integers(0, 99), cap=10)), [3, 80]).estimate.mean[0])
    13.0
    """

    cap: int = field(kw_only=True)

    entry = StatisticEntry(
        query=QueryForm(
            "capped-sum",
            numbers=True,
            options=(
                OptionForm("cap", "capped-sum: what a number counts as at most.  [required]", "whole", metavar="N"),
            ),
        ),
        study="the sum of {columns}, each at most {cap}",
        title="Capped sum of {column}",
        sentence="The sum of {column}, capped",
    )

    @property
    def _ends(self) -> tuple[int, int]:
        low, high = super()._ends
        return low, min(high, self.cap)

    def lift(self, x: Array) -> Ints:
        out = super().lift(x)
        out[..., -1] = np.minimum(out[..., -1], self.cap)
        return out

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([np.minimum(self.domain.numbers()[x], self.cap).sum()])


EXAMPLES = (CappedSum(Integers(0, 20), cap=7),)
