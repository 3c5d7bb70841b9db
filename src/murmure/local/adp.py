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

from murmure.core.catalogue_entries import RecordEntry, SolutionForm
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Unit
from murmure.laws.records import RecordChannel
from murmure.local.base.oracle_choice import Criterion, build_parts
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
    by: Criterion = "variance"
    calibrate: Calibrate = "record"

    entry = RecordEntry(
        order=60,
        sentence="for each column the protocol with the smaller exact variance.",
        solutions=(
            SolutionForm("adp", ("by",), {"solution": "smp"}),
            SolutionForm("adp-spl", ("by",), {"solution": "spl"}),
            SolutionForm("adp-rsfd", ("by", "calibrate"), {"solution": "rsfd"}),
        ),
    )

    def __post_init__(self) -> None:
        self._check()
        if self.solution not in ("smp", "spl", "rsfd"):
            raise InvalidParameter(
                'ADP.solution must be "smp", "spl" or "rsfd", got {got}.', got=shorten(self.solution)
            )
        if self.by not in ("variance", "varstar"):
            raise InvalidParameter('ADP.by must be "variance" or "varstar", got {got}.', got=shorten(self.by))
        if self.calibrate != "record" and self.solution != "rsfd":
            raise InvalidParameter(
                "ADP.calibrate is for fake data; {solution} is always calibrated per record.", solution=self.solution
            )
        _ = self.resolved  # raises now if it cannot be built

    @cached_property
    def resolved(self) -> Any:
        """The solution with the chosen protocols written out."""
        if self.solution == "rsfd":
            adaptive = RSFD(self.domain, self.epsilon, "adaptive", self.calibrate)
            # `by` is not a field of RSFD: its JSON names the oracles that were chosen.
            object.__setattr__(adaptive, "by", self.by)
            return RSFD(self.domain, self.epsilon, adaptive.names, self.calibrate)
        each = self.epsilon if self.solution == "smp" else SPL(self.domain, self.epsilon).epsilons[0]
        parts = build_parts(self.domain, [each] * len(self.columns), "adaptive", "Hybrid", self.by)
        names = tuple(type(part).__name__ for part in parts)
        return (SMP if self.solution == "smp" else SPL)(self.domain, self.epsilon, names)

    @property
    def names(self) -> tuple[str, ...]:
        """The protocol that was chosen for every column."""
        return tuple(self.resolved.names if self.solution == "rsfd" else self.resolved.oracle)

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.resolved.parts  # type: ignore[no-any-return]

    @property
    def channel(self) -> RecordChannel:
        return self.resolved.channel  # type: ignore[no-any-return]

    @property
    def shows_some_columns(self) -> bool:
        return self.solution == "smp"

    def requested_epsilon(self, unit: Unit) -> float | None:
        return self.resolved.requested_epsilon(unit)  # type: ignore[no-any-return]

    def why_no_pair(self, i: int, j: int) -> str | None:
        return self.resolved.why_no_pair(i, j)  # type: ignore[no-any-return]

    @property
    def remark(self) -> str | None:
        return self.resolved.remark  # type: ignore[no-any-return]

    def variance(self, shares: Sequence[Any], n: int) -> list[Any]:
        return self.resolved.variance(shares, n)  # type: ignore[no-any-return]


_MIXED = Schema({"smoker": Categories(["no", "yes"]), "region": Categories(4)})
_WIDE = Schema({"sick": Categories(2), "job": Categories(30)})

EXAMPLES = (
    ADP(_MIXED, 1.0),
    ADP(_MIXED, 2.0, "spl"),
    ADP(Schema({"a": Categories(2), "b": Categories(3)}), 1.0, "rsfd", calibrate="attribute"),
    ADP(_WIDE, 1.0, "rsfd"),
    ADP(_WIDE, 0.5, by="varstar"),
)
