"""`run(plan, data)`: the whole way from rows to a release."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from murmure.core.errors import InvalidParameter, OutsideDomain, PlanRefused, shorten
from murmure.core.random import Random, random_or_secure
from murmure.core.types import Release, Total
from murmure.engines.frames import batches
from murmure.engines.memory import Memory
from murmure.engines.progress import rows_of, watched
from murmure.plan import Plan


def run(plan: Plan, frame: Any, engine: Any = None, ledger: Any = None, rng: Random | None = None) -> Release:
    """Randomise, add up and estimate. Secure randomness unless a seeded generator is passed; then the release says so.

    frame: a list, an array, a pandas, Polars or Arrow table, a DuckDB relation, or the path of a CSV or Parquet file.
    """
    if not isinstance(plan, Plan):
        raise InvalidParameter(
            f"run takes a Plan, got {shorten(type(plan).__name__)}.",
            hint="run(plan, frame), with plan = Plan(Histogram(domain), person=GRR(...))",
        )
    if ledger is not None:
        raise PlanRefused("Plan refused: this version keeps no ledger; at the person each report pays for itself.")
    rng = random_or_secure(rng, "run")
    began = time.perf_counter()
    column = plan.statistic.domain.column
    source = watched(batches(frame, column), rows_of(frame), plan.describe())
    total = (engine or Memory()).total(_numbered(plan.step(rng)), source)
    release = plan.settle(total, seeded=rng.is_seeded and plan.person is not None)
    object.__setattr__(release, "seconds", time.perf_counter() - began)
    return release


def _numbered(step: Callable[[Any], Total]) -> Callable[[Any], Total]:
    """The same step; an error names the row of the whole source, not of its batch."""
    before = 0

    def one(batch: Any) -> Total:
        nonlocal before
        try:
            total = step(batch)
        except OutsideDomain as error:
            raise error.later(before) from None
        before += len(batch)
        return total

    return one
