"""The distribution of a number on a public grid: cumulated shares, quantiles, a histogram; one round of counts each."""

from __future__ import annotations

from typing import Any

from murmure.core.domain import Integers, Interval
from murmure.core.schema import Schema
from murmure.econometrics.bins import Binned, Bins, histogram
from murmure.econometrics.empirical import ECDF, Distributed, ecdf
from murmure.econometrics.grid_quantiles import Quantiled, Quantiles, quantiles
from murmure.econometrics.model import Example

__all__ = [
    "ECDF",
    "EXAMPLES",
    "Binned",
    "Bins",
    "Distributed",
    "Quantiled",
    "Quantiles",
    "ecdf",
    "histogram",
    "quantiles",
]

_PEOPLE = Schema({"age": Integers(18, 77), "dose": Interval(0.5, 2.5, cells=10)})
_ROWS: dict[str, list[Any]] = {
    "age": [18 + (i * i * 7 + 3 * i) % 60 for i in range(50)],
    "dose": [0.5 + (i * 3) % 17 / 8 for i in range(50)],
}
EXAMPLES = (
    Example(ECDF(_PEOPLE, "age", ("18", "30", "45.5", "77")), _ROWS),
    Example(ECDF(_PEOPLE, "dose"), _ROWS),
    Example(Quantiles(_PEOPLE, "age"), _ROWS),
    Example(Quantiles(_PEOPLE, "age", ("30", "40", "50", "60"), ("0.1", "0.5")), _ROWS),
    Example(Bins(_PEOPLE, "age", ("18", "30", "50", "70")), _ROWS),
    Example(Bins(_PEOPLE, "age"), _ROWS),
)
