"""Sampling: a person reports some of the attributes with the whole budget, and says which.

    P[D, y | x] = P[D] prod_{i in D} P_i[y_i | x_i],     epsilon_i = epsilon / m for the m attributes of the draw D.

(SMP in Arcolezi et al., CIKM 2021, for m = 1; m of d as in Nguyen et al. 2016 and Wang et al., ICDE 2019.) The draw is
public: it does not depend on anybody's values. `draw="round-robin"` takes attributes in turn by row number, so that
each gets exactly n / d people. The order of rows then decides who reports what: errors average out over random orders,
not over runs on one order, and privacy is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from murmure.core.catalogue_entries import RecordEntry, SolutionForm
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import share_of
from murmure.core.schema import Schema
from murmure.laws.cut import Cut
from murmure.laws.records import Draw, Sampled
from murmure.local.base.oracle_choice import Oracle, build_parts, check_choices, check_smallest_share
from murmure.local.base.randomisers import NumericOracle
from murmure.local.base.record_mechanism import RecordMechanism


@dataclass(frozen=True)
class SMP(RecordMechanism):
    """`sample` of the attributes, at epsilon / sample each. weights: unequal chances of being drawn."""

    domain: Schema
    epsilon: float
    oracle: Oracle = "adaptive"
    numeric: str = "Hybrid"
    weights: tuple[float, ...] | None = None
    sample: int = 1
    draw: Literal["random", "round-robin"] = "random"

    entry = RecordEntry(
        order=10,
        color="#2a78d6",
        sentence=(
            "some columns of a person are drawn by lot, randomised and reported; the others stay with the person."
        ),
        solutions=(
            SolutionForm("smp", ("weights", "oracle", "numeric", "sample")),
            SolutionForm("smp-round-robin", ("oracle", "numeric", "sample"), {"draw": "round-robin"}),
        ),
    )

    def __post_init__(self) -> None:
        self._check()
        check_choices(self)
        d = len(self.columns)
        if isinstance(self.sample, bool) or not isinstance(self.sample, int) or not 1 <= self.sample <= d:
            raise InvalidParameter(
                "SMP.sample must be a whole number from 1 to {d}, got {got}.", d=d, got=shorten(self.sample)
            )
        if self.draw not in ("random", "round-robin"):
            raise InvalidParameter('SMP.draw must be "random" or "round-robin", got {got}.', got=shorten(self.draw))
        if self.weights is not None and (self.sample > 1 or self.draw == "round-robin"):
            raise InvalidParameter(
                'SMP.weights need sample=1 and draw="random": they are the chances of drawing each attribute.'
            )

    @property
    def remark(self) -> str | None:
        if self.draw == "random":
            return None
        return "rows stand in random order: intervals hold over such orders, not over runs on one order of rows"

    @property
    def shows_some_columns(self) -> bool:
        return True

    @property
    def columns_shown(self) -> int:
        return self.sample

    def why_no_pair(self, i: int, j: int) -> str | None:
        if self.sample == 1:
            return Phrase("a person reports one attribute, so reports carry no information about pairs")
        return super().why_no_pair(i, j)

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        each = share_of(self.epsilon, 1, self.sample)
        check_smallest_share(self, [each])
        return build_parts(self.domain, [each] * len(self.columns), self.oracle, self.numeric)

    @cached_property
    def channel(self) -> Sampled:
        cut = None if self.weights is None else Cut.of(self.weights)
        return Sampled(
            tuple(part.channel for part in self.parts),
            Draw(len(self.parts), self.sample, cut, self.draw == "round-robin"),
        )

    @cached_property
    def chances(self) -> tuple[float, ...]:
        """How likely each attribute is to be shown."""
        cut = self.channel.draw.cut
        d = len(self.parts)
        return (self.sample / d,) * d if cut is None else tuple(float(s) for s in cut.shares())

    def variance(self, shares: Sequence[Any], n: int) -> list[Any]:
        """Noise of the n_j people expected to show column j, and the error of having drawn them."""
        out = []
        for part, f, chance in zip(self.parts, shares, self.chances, strict=True):
            f, shown = np.asarray(f, float), n * chance
            # Drawing people without replacement adds the variance of the values / shown, times (n - shown) / (n - 1).
            spread = f * (1 - f)
            if isinstance(part, NumericOracle):  # a mean
                values = part.domain.numbers()
                spread = np.array([f @ values**2 - (f @ values) ** 2])
            out.append(part.variance(f, shown) + spread * (n - shown) / (shown * max(1, n - 1)))
        return out


_SMALL = Schema({"smoker": Categories(["no", "yes"]), "region": Categories(3)})
_THREE = Schema({"a": Categories(2), "b": Categories(3), "c": Categories(2)})

EXAMPLES = (
    SMP(_SMALL, 1.0),
    SMP(_THREE, 2.0, oracle="OUE", weights=(3.0, 2.0, 1.0)),
    SMP(_THREE, 2.0, oracle="GRR", sample=2),
    SMP(_THREE, 1.0, oracle="GRR", draw="round-robin"),
    SMP(_THREE, 1.0, oracle="GRR", sample=2, draw="round-robin"),
    SMP(Schema({"age": Integers(0, 3), "income": Interval(0.0, 9.0, cells=5)}), 1.5),
)
