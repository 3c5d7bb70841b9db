"""Ways to sanitise a record, by name; and which one is taken by default.

That choice depends on public facts only: the schema, epsilon, and how many people take part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from murmure.advise.record_advice import candidate_solutions, least_variance
from murmure.core.schema import Schema
from murmure.local.adp import ADP
from murmure.local.rsfd import RSFD, RSRFD
from murmure.local.smp import SMP
from murmure.local.spl import SPL, Plain


@dataclass(frozen=True)
class Solution:
    """A mechanism of records, the settings that its name fixes, and those that it takes."""

    make: Any
    fixed: Mapping[str, Any]
    takes: tuple[str, ...]

    def __call__(self, schema: Schema, epsilon: float, **settings: Any) -> Any:
        return self.make(schema, epsilon, **self.fixed, **settings)


def _fake_data_solution(make: Any, oracle: str, *more: str) -> Solution:
    return Solution(make, {"oracle": oracle}, ("weights", "calibrate", *more))


SPLITS = ("weights", "oracle", "numeric")
SOLUTIONS: dict[str, Solution] = {
    "smp": Solution(SMP, {}, (*SPLITS, "sample")),
    "smp-round-robin": Solution(SMP, {"draw": "round-robin"}, ("oracle", "numeric", "sample")),
    "spl": Solution(SPL, {}, SPLITS),
    "plain": Solution(Plain, {}, SPLITS),
    **{f"rsfd-{name.lower()}": _fake_data_solution(RSFD, name) for name in ("GRR", "SUE-z", "SUE-r", "OUE-z", "OUE-r")},
    **{f"rsrfd-{name.lower()}": _fake_data_solution(RSRFD, name, "priors") for name in ("GRR", "SUE-r", "OUE-r")},
    "adp": Solution(ADP, {"solution": "smp"}, ("by",)),
    "adp-spl": Solution(ADP, {"solution": "spl"}, ("by",)),
    "adp-rsfd": Solution(ADP, {"solution": "rsfd"}, ("by", "calibrate")),
}


def auto_solution(schema: Schema, epsilon: float, people: int) -> tuple[str, Any]:
    """The default solution, with its name: see `least_variance`."""
    chosen = least_variance(schema, epsilon, people)
    return next(name for name, candidate in candidate_solutions(schema, epsilon).items() if candidate == chosen), chosen
