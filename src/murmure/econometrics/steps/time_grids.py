"""Public times at which events are counted: checks of a grid, the number of times, and their description."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.design.columns import decimal_text, exact_number
from murmure.econometrics.design.design_matrix import Design
from murmure.econometrics.design.scales import bounds_of
from murmure.econometrics.results.result import number_name
from murmure.econometrics.steps.newton import check_rounds
from murmure.econometrics.steps.partial_likelihood import check_ties

MAX_SUMS = 1 << 16  # in one round between parties


def sums_per_time(columns: int, ties: str) -> int:
    """Sums of one round at one time: of w, w x and w xx', with Efron's ties also over rows with the event."""
    return (1 + columns + columns * (columns + 1) // 2) * (1 + (ties == "efron"))


def max_times(columns: int, ties: str) -> int:
    """The largest number of times between parties."""
    return (MAX_SUMS - 1) // sums_per_time(columns, ties)


def check_cox(owner: str, design: Any, time: str, event: str, rounds: Any, ties: Any) -> None:
    """Check the parameters of a Cox regression, between parties or in the clear."""
    check_rounds(owner, rounds)
    check_ties(owner, ties)
    if not isinstance(design, Design):
        raise InvalidParameter("{owner}.design must be a Design, got {got}.", owner=owner, got=shorten(design))
    if "1" in design.terms:
        raise InvalidParameter(
            "{owner}.design has an intercept, but hazards have their own.", hint="cox(...) leaves it out", owner=owner
        )
    low, high, step = bounds_of(design.domain, event)
    if low < 0 or high > 1 or step.denominator != 1:
        raise InvalidParameter(
            "{owner}.event must be 0 or 1; {event} lies between {low:g} and {high:g}.",
            hint="Integers(0, 1), or a condition: (state == 'dead')",
            owner=owner,
            event=shorten(event),
            low=float(low),
            high=float(high),
        )
    bounds_of(design.domain, time)


def grid_texts(owner: str, design: Design, time: str, grid: Any) -> tuple[str, ...]:
    """The times of a grid as decimals, checked."""
    if isinstance(grid, str) or not isinstance(grid, tuple | list):
        raise InvalidParameter(
            "{owner}.grid must be times, got {got}.", hint="grid=(30, 60, 90)", owner=owner, got=shorten(grid)
        )
    times, high = [exact_number(owner, "grid", v) for v in grid], bounds_of(design.domain, time)[1]
    if times and (any(a >= b for a, b in pairwise(times)) or times[-1] < high):
        raise InvalidParameter(
            "{owner}.grid must increase, and end at {high:g} or later, the largest {time}.",
            hint="a time counts as the next time of the grid",
            owner=owner,
            high=float(high),
            time=shorten(time),
        )
    texts = [decimal_text(v) for v in times]
    if any(text is None for text in texts):
        raise InvalidParameter("{owner}.grid must hold decimals, got {got}.", owner=owner, got=shorten(grid))
    return tuple(str(text) for text in texts)


def possible_times(design: Design, time: str) -> Fraction:
    """The number of possible times, by the public bounds."""
    low, high, step = bounds_of(design.domain, time)
    return (high - low) / step + 1


def time_text(t: Fraction) -> str:
    return number_name(t)


def grid_in_words(time: str, times: Sequence[Fraction], given: bool) -> str:
    """The times at which events are counted, in words, for the notes of a result."""
    if not given:
        return Phrase(
            "Times: all {n:,} values that {time} may have, {low} to {high}.",
            n=len(times),
            time=time,
            low=time_text(times[0]),
            high=time_text(times[-1]),
        )
    few = times if len(times) <= 8 else (*times[:3], None, times[-1])
    listed = ", ".join("..." if t is None else time_text(t) for t in few)
    return Phrase(
        "Times: {time} on a grid of {n:,}, each counted as the next of {listed}.",
        time=time,
        n=len(times),
        listed=listed,
    )
