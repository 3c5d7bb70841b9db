"""What the attacker believes about the shares of every attribute: estimated from what this attacker sees.

    from reports   every report, most of them fake: the collector's estimate
    from known     the reports of people whose real attribute is known, each to the attribute that it is about
    from both      the two, weighted by their variances

Estimates are cut at 0 and scaled to sum to 1, as in the released code of Arcolezi et al. (PVLDB 2023).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.attacks.person.attribute_rules.collection import Collection
from murmure.core.types import Array, Floats
from murmure.laws.records import Records

Shares = list[Floats]


def cut_at_zero(shares: Floats) -> Floats:
    """No negative share, and all of them sum to 1; even where nothing is left."""
    f = np.maximum(np.asarray(shares, float), 0.0)
    total = f.sum()
    return f / total if total > 0 else np.full(len(f), 1 / len(f))


def shares_from_reports(collection: Collection) -> Shares:
    return [cut_at_zero(f) for f in _from_reports(collection.mechanism, collection.records)]


def shares_from_known(collection: Collection) -> Shares:
    return [cut_at_zero(f) for f, _ in _from_known(collection)]


def shares_from_both(collection: Collection) -> Shares:
    # Reports of the known are left out of the first estimate, so that the two are independent.
    records, _ = collection.of(collection.guessed)
    out = []
    for part, a, (b, people) in zip(
        collection.mechanism.parts,
        _from_reports(collection.mechanism, records),
        _from_known(collection),
        strict=True,
    ):
        even = 1 / part.domain.size
        precise = 1 / float(np.mean(part.variance(even, records.n)))
        if people:
            also = 1 / float(np.mean(part.real.variance(even, people)))
            a = (precise * a + also * b) / (precise + also)
        out.append(cut_at_zero(a))
    return out


def _from_reports(mechanism: Any, records: Records) -> Shares:
    pairs = zip(mechanism.parts, records.parts, strict=True)
    return [part.estimate(part.tally(reports), records.n).mean for part, reports in pairs]


def _from_known(collection: Collection) -> list[tuple[Floats, int]]:
    records, tag = collection.of(collection.known)
    return [
        _of_real(part, reports[tag == j])
        for j, (part, reports) in enumerate(zip(collection.mechanism.parts, records.parts, strict=True))
    ]


def _of_real(part: Any, reports: Array) -> tuple[Floats, int]:
    """Reports that are known to be real: the estimate of the randomiser alone, and how many there are."""
    if not len(reports):
        return np.full(part.domain.size, 1 / part.domain.size), 0
    return part.real.estimate(part.real.tally(reports), len(reports)).mean, len(reports)
