"""The mean of shares over repetitions: Student's interval, cut at 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from murmure.attacks.base.success import Success, repeated


def repeated_share(
    attacker: str, values: Sequence[float], baseline: float, at: float | None = None, **setting: Any
) -> Success:
    """`repeated`, of figures between 0 and 1: with few repetitions Student's interval reaches beyond them."""
    row = repeated(attacker, values, baseline, at, **setting)
    if row.low is None or row.high is None:
        return row
    return replace(row, low=max(row.low, 0.0), high=min(row.high, 1.0))
