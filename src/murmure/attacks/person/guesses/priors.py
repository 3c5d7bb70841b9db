"""What an attacker expects beforehand: a share for every value, or for every value of every column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from murmure.core.domain import Domain
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.types import Floats


def shares_of(domain: Domain, given: Any, whose: str) -> Floats:
    """Shares of the values of a domain, which sum to 1: given in order, by label, or even."""
    if given is None:
        return np.full(domain.size, 1 / domain.size)
    labels = list(map(str, domain.labels())) if isinstance(given, Mapping) else []
    if isinstance(given, Mapping):
        by_label = {str(label): share for label, share in given.items()}
        if set(by_label) != set(labels):
            raise InvalidParameter(
                "the prior of {whose} must have a share for each of its {size:,} values, got {got}.",
                hint='prior={{"no": 0.7, "yes": 0.3}}, or shares in order: prior=[0.7, 0.3]',
                whose=whose,
                size=domain.size,
                got=shorten(list(given)),
            )
        given = [by_label[label] for label in labels]
    try:
        shares = np.asarray(given, float)
    except (TypeError, ValueError):
        shares = np.empty(0)
    good = shares.shape == (domain.size,) and bool(np.isfinite(shares).all()) and bool((shares >= 0).all())
    if not good or not math.isclose(float(shares.sum()), 1, abs_tol=1e-6):
        raise InvalidParameter(
            "the prior of {whose} must be {size:,} shares that sum to 1, got {got}.",
            hint="prior=[0.7, 0.3], in the order of the values; without a prior all values are equally likely",
            whose=whose,
            size=domain.size,
            got=shorten(given),
        )
    return shares / shares.sum()


def shares_of_columns(names: Sequence[str], domains: Sequence[Domain], given: Any) -> list[Floats]:
    """The same for every column: by name (columns that are left out are even), or one entry for each."""
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != len(names):
            raise InvalidParameter(
                "the prior of a record must have shares for its {column_names} columns, got {got}.",
                hint='prior={{"smoker": [0.8, 0.2]}}; columns that are left out are even',
                column_names=len(names),
                got=shorten(given),
            )
        given = dict(zip(names, given, strict=True))
    for name in given:
        if name not in names:
            raise InvalidParameter(
                "the prior names a column {name} that is not randomised.",
                hint="columns: {column_names}",
                name=shorten(name),
                column_names=", ".join(names),
            )
    return [shares_of(domain, given.get(name), repr(name)) for name, domain in zip(names, domains, strict=True)]
