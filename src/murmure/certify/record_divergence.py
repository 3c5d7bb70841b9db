"""The loss of records: when the whole record may differ, and when one attribute of it may.

Joint     record: the ratios of all attributes multiply;            attribute: the largest of them
Sampled   record: those of the `take` largest that a draw can show; attribute: the largest (the draw is public)
Hidden    P[y|x] / P[y|x'] = sum_j s_j l_j(y_j, x_j) / sum_j s_j l_j(y_j, x'_j),   l = real / fake likelihood
(laws/likelihoods.py finds the largest ratio exactly)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import singledispatch

from murmure.certify.divergence import Loss, max_loss
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.types import Unit
from murmure.laws.hidden_draw import Hidden
from murmure.laws.likelihoods import attribute_ratio, record_ratio
from murmure.laws.records import Joint, RecordChannel, Sampled


@singledispatch
def record_loss(channel: RecordChannel, unit: Unit) -> Loss:
    """The largest loss between two records (that differ anywhere, or in one attribute)."""
    return enumerate_record_loss(channel, unit)


def enumerate_record_loss(channel: RecordChannel, unit: Unit) -> Loss:
    """Every report and every pair of neighbouring records: slow. The rules below are tested against it."""
    outcomes = channel.outcomes()
    if outcomes is None:
        raise InvalidParameter("{kind} has too many reports to enumerate.", kind=type(channel).__name__)
    records = list(itertools.product(*map(range, channel.inputs)))
    best = Loss(Fraction(1), (records[0], records[0], None), Phrase("enumerated"), channel.slack)
    for y in outcomes:
        probs = {x: channel.prob(x, y) for x in records}
        groups: list[list[tuple[int, ...]]] = [records]
        if unit == "attribute":
            groups = []
            for j, size in enumerate(channel.inputs):
                groups += [[(*x[:j], v, *x[j + 1 :]) for v in range(size)] for x in records if x[j] == 0]
        for group in groups:
            x, other = max(group, key=probs.__getitem__), min(group, key=probs.__getitem__)
            if probs[x] == 0:
                continue
            if probs[other] == 0:
                return Loss(None, (x, other, y), Phrase("enumerated"))
            if probs[x] / probs[other] > best.ratio:  # type: ignore[operator]
                best = Loss(probs[x] / probs[other], (x, other, y), Phrase("enumerated"), channel.slack)
    return best


def _together(losses: Sequence[Loss], shown: Sequence[int], changed: Sequence[int], method: str) -> Loss:
    """The loss of reports that show the attributes `shown`, between records that differ in `changed`."""
    x, other, y = [], [], []
    for i, loss in enumerate(losses):
        a, b, report = loss.witness
        x.append(a)
        other.append(b if i in changed else a)
        y.append(report if i in shown else None)
    ratio: Fraction | None = Fraction(1)
    for i in changed:
        part = losses[i].ratio
        ratio = None if ratio is None or part is None else ratio * part
    slack = sum(losses[i].slack for i in changed)
    return Loss(ratio, (tuple(x), tuple(other), tuple(y)), method, slack)


def _by_loss(losses: Sequence[Loss]) -> list[int]:
    """Attributes, the costliest first; exact ratios decide where logarithms round to the same float."""
    return sorted(range(len(losses)), key=lambda i: _cost(losses, [i]), reverse=True)


def _cost(losses: Sequence[Loss], changed: Sequence[int]) -> tuple[float, Fraction]:
    ratios = [losses[i].ratio for i in changed]
    finite = [ratio for ratio in ratios if ratio is not None]
    return math.fsum(losses[i].epsilon for i in changed), math.prod(finite, start=Fraction(1))


@record_loss.register
def _(channel: Joint, unit: Unit) -> Loss:
    losses = [max_loss(part) for part in channel.parts]
    everything = range(len(losses))
    if unit == "attribute":
        return _together(losses, everything, _by_loss(losses)[:1], Phrase("largest over attributes"))
    return _together(losses, everything, everything, Phrase("sum over attributes"))


@record_loss.register
def _(channel: Sampled, unit: Unit) -> Loss:
    losses = [max_loss(part) for part in channel.parts]
    worst = _by_loss(losses)[0]
    # Round-robin draws only some of the sets, and the costliest attributes may never be shown together.
    if channel.draw.in_turn:
        turns = channel.draw.turns()
        costliest = max(turns, key=lambda s: _cost(losses, s))
        with_worst = next(turn for turn in turns if worst in turn)
    else:
        costliest = with_worst = tuple(sorted(_by_loss(losses)[: channel.draw.take]))
    if unit == "attribute":
        return _together(losses, with_worst, [worst], Phrase("largest over attributes; the draw is public"))
    return _together(
        losses, costliest, costliest, Phrase("largest over public draws of {columns}", columns=channel.draw.take)
    )


@record_loss.register
def _(channel: Hidden, unit: Unit) -> Loss:
    ratio, witness = record_ratio(channel) if unit == "record" else attribute_ratio(channel)
    return Loss(ratio, witness, Phrase("hidden draw, classes of reports"))
