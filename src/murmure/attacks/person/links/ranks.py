"""Where the right person stands among all, with ties exactly: equal scores are broken at random, on average.

If a people have a larger score and t have the same one, the right person among them, then the chance to be among the
first k is min(1, max(0, (k - a) / t)).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from murmure.attacks.person.links.link_scores import LinkBlock
from murmure.core.types import Floats

TIE = 1e-10  # relative difference of scores that counts as none: far above rounding


def top_chances(block: LinkBlock, tops: Sequence[int]) -> Floats:
    """The chance that the person of each report is among the first k, for every k (rows). Person i sent report i."""
    scores, people = block.scores, block.candidates.people.astype(np.float32)  # exact up to 2**24 people
    true = scores[block.candidates.place[block.rows], np.arange(len(block.rows))]
    margin = TIE * np.maximum(1.0, np.abs(true)) if block.logarithms else TIE * np.abs(true)
    above, reached = (
        (people @ fits.astype(np.float32)).astype(np.float64)
        for fits in (scores > true + margin, scores >= true - margin)
    )
    same = reached - above
    return np.array([np.clip((k - above) / same, 0.0, 1.0) for k in tops])


def posterior_chances(block: LinkBlock, tops: Sequence[int]) -> Floats:
    """The posterior chance of the k likeliest people of each report, for every k (rows), each person as likely before.

    A report that fits nobody (its public columns agree with nobody's) is a guess among all.
    """
    scores, people = block.scores, block.candidates.people.astype(np.float64)
    best = scores.max(axis=0)
    fits = np.isfinite(best)
    with np.errstate(invalid="ignore", over="ignore"):
        weights = np.exp(scores - best) if block.logarithms else np.maximum(scores, 0.0)
    weights[:, ~fits] = 1.0
    whole = people @ weights
    largest = min(max(tops), len(people))
    order = np.argpartition(-weights, largest - 1, axis=0)[:largest] if largest > 1 else weights.argmax(axis=0)[None]
    inner = np.argsort(-np.take_along_axis(weights, order, 0), axis=0, kind="stable")
    order = np.take_along_axis(order, inner, 0)
    chances = np.take_along_axis(weights, order, 0) / whole
    counts = people[order]
    before = np.cumsum(counts, axis=0) - counts
    return np.array([(np.clip(k - before, 0.0, counts) * chances).sum(axis=0) for k in tops])
