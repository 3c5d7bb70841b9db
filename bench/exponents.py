"""How cost grows: the slope of the logarithm of time over that of size, on the largest sizes, and how sure it is."""

import math
from dataclasses import dataclass

DECADES = 2  # the largest sizes, over which the slope is fitted: below them fixed costs are part of the time


@dataclass(frozen=True)
class Exponent:
    """time ~ size ** value; `error` is the standard error of the slope (None with two sizes: nothing is left over)."""

    value: float
    error: float | None
    low: float
    high: float
    points: int


def fitted(times, decades=DECADES):
    """`times` as {size: seconds}; least squares on the sizes within so many decades of the largest."""
    if not times:
        return None
    high = max(times)
    points = [(math.log(size), math.log(t)) for size, t in sorted(times.items()) if size * 10**decades >= high]
    if len(points) < 2:
        return None
    mean_x, mean_y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    left = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points)
    error = math.sqrt(left / (len(points) - 2) / spread) if len(points) > 2 else None
    return Exponent(slope, error, min(s for s in times if s * 10**decades >= high), high, len(points))
