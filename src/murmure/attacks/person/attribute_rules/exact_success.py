"""The expected success of the exact rule, computed: nothing is drawn.

Attribute j, if real, wins where its score is the largest. Scores of different attributes are independent, since each is
a function of its own report, so

    success = sum_j s_j sum_t P[score_j = t | real] E[1 / (1 + number of i != j with score_i = t), no score_i > t]
            = sum_j s_j sum_t P[score_j = t | real] integral_0^1 prod_{i != j} (P[score_i < t] + u P[score_i = t]) du,

scores of i != j being those of fakes. The integrand is a polynomial of degree d - 1 in u, and Gauss-Legendre nodes
integrate it exactly. An attribute whose reports cannot be listed (more than 16 bits) has no such sum.
"""

from __future__ import annotations

import numpy as np

from murmure.attacks.person.attribute_rules.estimated_shares import Shares
from murmure.attacks.person.attribute_rules.guesses import SAME
from murmure.core.types import Array, Floats
from murmure.laws.hidden_draw import FakeCode, Hidden, HiddenPart

MAX_BITS = 16


def exact_success(
    law: Hidden, shares: Shares, believed: Shares | None = None, rule: Hidden | None = None
) -> float | None:
    """Of the rule with the believed shares (and the law that it takes for true), among people with these shares.

    None: some attribute has too many reports to list.
    """
    listed = [_reports(part) for part in law.parts]
    if any(reports is None for reports in listed):
        return None
    chances, rule = law.chances.shares(), rule or law
    scores, real, fake = [], [], []
    for j, (part, reports) in enumerate(zip(law.parts, listed, strict=True)):
        assert reports is not None
        log_fake = part.fake_log_prob(reports)
        fake.append(np.exp(log_fake))
        real.append(np.exp(log_fake + part.real_log_ratio(reports, shares[j])))
        guess = rule.parts[j].real_log_ratio(reports, (believed or shares)[j])
        scores.append(guess + np.log(rule.chances.shares()[j]))
    levels = _levels(np.concatenate(scores))
    ranks = [np.searchsorted(levels, s - SAME, side="left") for s in scores]
    equal = np.stack([np.bincount(r, f, len(levels)) for r, f in zip(ranks, fake, strict=True)])
    below = np.cumsum(equal, axis=1) - equal
    nodes, weights = np.polynomial.legendre.leggauss(len(law.parts) // 2 + 1)
    total = 0.0
    for j, (rank, chance) in enumerate(zip(ranks, chances, strict=True)):
        at, others = np.unique(rank), np.arange(len(ranks)) != j
        mass = np.bincount(rank, real[j], len(levels))[at]
        for u, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
            wins = (below[np.ix_(others, at)] + u * equal[np.ix_(others, at)]).prod(axis=0)
            total += float(chance * weight * (mass @ wins))
    return total


def _levels(scores: Floats) -> Floats:
    """Distinct scores, those that differ by rounding only taken for one."""
    ordered = np.unique(scores)
    return ordered[np.concatenate([[True], np.diff(ordered) > SAME])]


def _reports(part: HiddenPart) -> Array | None:
    """Every report of an attribute: its codes, or its bits as one word each."""
    if isinstance(part, FakeCode):
        return np.arange(part.real.outputs)
    return np.arange(1 << part.real.inputs, dtype=np.uint64)[:, None] if part.real.inputs <= MAX_BITS else None
