"""Adaptive: for each attribute the better of GRR and OUE, inside splitting, sampling or fake data.

Exact variances are straight lines in the shares, which sum to one, so their mean over the values of an attribute does
not depend on the shares: the choice by exact variance is right whatever people hold. `by="varstar"` chooses as the
papers do, at share 0 (ADP in Arcolezi et al., CIKM 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Unit
from murmure.laws.records import RecordChannel
from murmure.local.base.oracles import By, build
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.local.rsfd import RSFD, Calibrate
from murmure.local.smp import SMP
from murmure.local.spl import SPL


@dataclass(frozen=True)
class ADP(RecordMechanism):
    """solution: "smp" (default), "spl" or "rsfd"; calibrate is for the last."""

    domain: Schema
    epsilon: float
    solution: Literal["smp", "spl", "rsfd"] = "smp"
    by: By = "variance"
    calibrate: Calibrate = "record"

    def __post_init__(self) -> None:
        self._check()
        if self.solution not in ("smp", "spl", "rsfd"):
            raise InvalidParameter(f'ADP.solution must be "smp", "spl" or "rsfd", got {shorten(self.solution)}.')
        if self.by not in ("variance", "varstar"):
            raise InvalidParameter(f'ADP.by must be "variance" or "varstar", got {shorten(self.by)}.')
        if self.calibrate != "record" and self.solution != "rsfd":
            raise InvalidParameter(f"ADP.calibrate is for fake data; {self.solution} is always calibrated per record.")
        _ = self.within  # what is wrong shows now

    @cached_property
    def within(self) -> Any:
        """The solution with the chosen protocols written out."""
        if self.solution == "rsfd":
            free = RSFD(self.domain, self.epsilon, "adaptive", self.calibrate)
            object.__setattr__(free, "by", self.by)
            return RSFD(self.domain, self.epsilon, free.names, self.calibrate)
        d = len(self.columns)
        make = SMP if self.solution == "smp" else SPL
        each = self.epsilon if self.solution == "smp" else SPL(self.domain, self.epsilon).epsilons[0]
        chosen = build(self.domain, [each] * d, "adaptive", "Hybrid", self.by)
        return make(self.domain, self.epsilon, tuple(type(part).__name__ for part in chosen))

    @property
    def names(self) -> tuple[str, ...]:
        """The protocol that was chosen for every column."""
        return tuple(self.within.names if self.solution == "rsfd" else self.within.oracle)

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.within.parts  # type: ignore[no-any-return]

    @property
    def channel(self) -> RecordChannel:
        return self.within.channel  # type: ignore[no-any-return]

    @property
    def _counts_shown(self) -> bool:
        return self.solution == "smp"

    def asked_for(self, unit: Unit) -> float | None:
        return self.within.asked_for(unit)  # type: ignore[no-any-return]

    def no_pairs(self, i: int, j: int) -> str | None:
        return self.within.no_pairs(i, j)  # type: ignore[no-any-return]

    @property
    def remark(self) -> str | None:
        return self.within.remark  # type: ignore[no-any-return]

    def variance(self, shares: Sequence[Any], n: int) -> list[Any]:
        return self.within.variance(shares, n)  # type: ignore[no-any-return]


_MIXED = Schema({"smoker": Categories(["no", "yes"]), "region": Categories(4)})
_WIDE = Schema({"sick": Categories(2), "job": Categories(30)})

EXAMPLES = (
    ADP(_MIXED, 1.0),
    ADP(_MIXED, 2.0, "spl"),
    ADP(Schema({"a": Categories(2), "b": Categories(3)}), 1.0, "rsfd", calibrate="attribute"),
    ADP(_WIDE, 1.0, "rsfd"),
    ADP(_WIDE, 0.5, by="varstar"),
)
