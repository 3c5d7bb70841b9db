"""NIST's reference sets (tests/vectors/nist.json): `schema_of` bounds them, `parts_of` deals rows out to parties."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from murmure.core.domain import Decimals, Integers
from murmure.core.schema import Schema


@dataclass(frozen=True)
class ReferenceSet:
    """One reference set: columns as decimal text, the model, and what NIST certifies."""

    name: str
    formula: str
    columns: dict[str, list[str]] = field(repr=False)
    params: list[str]
    errors: list[str]  # standard deviations of the estimates
    residual: str  # residual standard deviation
    rsquared: str


FILE = Path(__file__).parents[1] / "vectors" / "nist.json"
SETS = tuple(ReferenceSet(**entry) for entry in json.loads(FILE.read_text(encoding="utf-8"))["sets"])
BY_NAME = {reference.name: reference for reference in SETS}


def digits(got: float, certified: str) -> float:
    """How many digits agree (the log relative error); 15 where all do, since so many are certified."""
    wanted = float(certified)
    error = abs(got - wanted) if wanted == 0 else abs(got - wanted) / abs(wanted)
    return 15.0 if error == 0 else min(15.0, -math.log10(error))


def schema_of(reference: ReferenceSet) -> Schema:
    """Bounds and decimals of the published numbers: the data are public, so these are too."""
    domains: dict[str, Decimals | Integers] = {}
    for name, column in reference.columns.items():
        places = max(len(text.partition(".")[2]) for text in column)
        low, high = min(column, key=Fraction), max(column, key=Fraction)
        domains[name] = Decimals(Decimal(low), Decimal(high), places) if places else Integers(int(low), int(high))
    return Schema(domains)


def parts_of(reference: ReferenceSet, parties: int) -> list[dict[str, list[float]]]:
    """The rows, dealt out to so many parties."""
    return [
        {name: [float(text) for text in column[k::parties]] for name, column in reference.columns.items()}
        for k in range(parties)
    ]
