"""How many rows fulfil each of some conditions: for the holder of the rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.statistics.base.statistic import CuratorStatistic
from murmure.statistics.conditions.conditions import Condition


@dataclass(frozen=True)
class ConditionCounts(CuratorStatistic):
    """Counts that no plan between parties may ask for: they are shown to the person who approves, and leave nothing."""

    domain: Schema
    conditions: tuple[Condition, ...] = field(repr=False)

    largest = 1

    @property
    def width(self) -> int:
        return len(self.conditions)

    def lift(self, x: Sequence[Array]) -> Ints:
        codes = dict(zip(self.domain.private, map(np.asarray, x), strict=True))
        masks = [np.broadcast_to(one.region.holds(codes), len(x[0])) for one in self.conditions]  # type: ignore[union-attr]
        return np.stack(masks, axis=1).astype(np.int64)

    def tally(self, x: Sequence[Array]) -> Ints:
        return np.asarray(self.lift(x).sum(axis=0), np.int64)

    def interpret_exact(self, total: Ints, n: int) -> Any:
        return [int(v) for v in total]

    def reference(self, x: Sequence[Array]) -> Any:
        return self.tally(x).astype(np.float64)
