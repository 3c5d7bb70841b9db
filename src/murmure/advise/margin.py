"""How small may epsilon be for a wanted margin? Solved on the exact variance, mechanism by mechanism.

For fixed settings (the size w of a subset, the number g of bins, the protocol of each column) the variance falls as
epsilon grows, so the smallest epsilon is where it crosses the limit. Settings are whole numbers that a mechanism
chooses anew at every epsilon, for a rare answer: where they change, the variance of another figure may jump up. So the
range of epsilon is cut where settings change, and each piece is searched from its own end, the smallest first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from murmure.core.errors import InvalidParameter
from murmure.core.estimates.margins import margin_of
from murmure.core.types import Mechanism
from murmure.local.base.record_mechanism import RecordMechanism

MIN_EPSILON, MAX_EPSILON = 0.001, 8.0  # beyond, a report tells nothing, or gives its answer away
STEP = 1.1  # from one epsilon of the first search to the next
DIGITS = 4  # significant ones of an epsilon that people type; rounded up
PARTS = 4  # of a step, in which changes of settings are looked for
CLOSE = 1e-5  # how near two epsilons are that count as one, in parts of them
JUMP = 2.0  # no change of settings raises a variance by more than this factor; checked in the tests


def smallest_epsilon(
    variance: Callable[[Any], float | None], make: Callable[[float], Any], limit: float
) -> float | None:
    """The smallest epsilon, to DIGITS digits, at which make(epsilon) has at most this variance; None if there is none.

    variance is None where a mechanism has no figure.
    """

    @cache
    def at(epsilon: float) -> tuple[float, Any]:
        try:
            mechanism = make(epsilon)
        except InvalidParameter:  # too small for so many values: nothing could be estimated
            return math.inf, None
        found = variance(mechanism)
        return (math.inf if found is None else found), settings_of(mechanism)

    low = high = 1.0
    while at(high)[0] > limit:
        if high >= MAX_EPSILON:
            return None
        high = min(2 * high, MAX_EPSILON)
    while at(low)[0] <= JUMP * limit:  # below it none meets the limit
        if low <= MIN_EPSILON:
            break
        low = max(low / 2, MIN_EPSILON)
    if at(low)[0] <= limit:
        return low
    if at(low)[1] == at(high)[1]:
        return _rounded_up(_crossing(at, low, high, limit), at, limit)
    while True:
        start, step = low, min(low * STEP, high)
        for end in (*_breaks(at, low, step), step):
            if at(end)[0] <= limit:
                return _rounded_up(_crossing(at, start, end, limit), at, limit)
            start = end
        low = step


def settings_of(mechanism: Any) -> Any:
    """The whole numbers and protocols that it chose for itself at this epsilon."""
    if isinstance(mechanism, RecordMechanism):
        parts: tuple[Any, ...] = mechanism.parts
        return tuple((type(p).__name__, p.detail if isinstance(p, Mechanism) else "") for p in parts)
    return type(mechanism).__name__, mechanism.detail


def _breaks(at: Any, low: float, high: float) -> Iterator[float]:
    """The last epsilon before each change of settings between low and high, in order.

    Where settings change in all of a few parts they change all the time (OLH has e^epsilon bins), by ever less.
    """
    points = [low + (high - low) * i / PARTS for i in range(PARTS + 1)]
    settings = [at(point)[1] for point in points]
    parts = list(itertools.pairwise(zip(points, settings, strict=True)))
    if all(a[1] != b[1] for a, b in parts):
        return
    for (below, first), (above, last) in parts:
        yield from _changes(at, below, first, above, last)


def _changes(at: Any, low: float, first: Any, high: float, last: Any) -> Iterator[float]:
    if first == last:
        return
    if high - low <= CLOSE * high:
        yield low
        return
    middle = (low + high) / 2
    between = at(middle)[1]
    yield from _changes(at, low, first, middle, between)
    yield from _changes(at, middle, between, high, last)


def _crossing(at: Any, low: float, high: float, limit: float) -> float:
    """Where the variance of one piece crosses the limit: high meets it, low does not.

    By the line through both ends, in logarithms, in which a variance is nearly straight; every second time by halves.
    """
    halve = False
    while high - low > CLOSE * high:
        middle, (below, above) = math.sqrt(low * high), (at(low)[0], at(high)[0])
        if not halve and math.isfinite(below) and 0 < above < below:
            part = math.log(below / limit) / math.log(below / above)
            part = min(max(part, 0.01), 0.99)
            middle = low * (high / low) ** part
        halve = not halve
        if at(middle)[0] <= limit:
            high = middle
        else:
            low = middle
    return high


def _rounded_up(epsilon: float, at: Any, limit: float) -> float:
    """To a few digits if that meets the limit too; just before a jump it may not."""
    for digits in (DIGITS, DIGITS + 3):
        unit = 10.0 ** (math.floor(math.log10(epsilon)) + 1 - digits)
        rounded = float(f"{math.ceil(epsilon / unit - 1e-9) * unit:.{digits}g}")
        if at(rounded)[0] <= limit:
            return rounded
    return epsilon


def limit_of(margin: float) -> float:
    """The variance that gives this margin."""
    return (margin / margin_of(1.0)) ** 2
