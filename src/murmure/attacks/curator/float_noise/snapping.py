"""The snapping mechanism: Laplace noise from all floats, and the sum rounded to a public grid.

    y = the multiple of L that is nearest to  x + s b ln(u),   L = the least power of two from b

u is uniform on (0, 1) with every float as likely as its spacing is wide (an exponent by coin tosses, then 52 bits), so
there are no holes below; and the grid is as coarse as the noise, so what the logarithm rounds is lost. (Mironov, CCS
2012, section 5.2; without the bounds that it cuts to, which are beyond all answers here.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from murmure.core.random import Random
from murmure.core.types import Floats, Mask

MAX_EXPONENT = 54  # 53 coins: u is at least 2**-54


@dataclass(frozen=True)
class Snapping:
    """The sampler, and which true answers can have given what it returns."""

    def draw(self, x: Floats, scale: float, rng: Random) -> Floats:
        coins, mantissa, signs = (rng.words(len(x)) for _ in range(3))
        # Of 53 coins, how many fell before the first head: a number below 2**k has 53 - k leading zeros, k from frexp.
        _, bits = np.frexp((coins >> np.uint64(11)).astype(np.float64))
        exponent = MAX_EXPONENT - bits  # frexp says 0 of no head at all
        u = (1 + (mantissa >> np.uint64(12)).astype(np.float64) * 2.0**-52) * 2.0**-exponent
        sign = np.where(signs & np.uint64(1) == 0, 1.0, -1.0)
        grid = _grid(scale)
        return np.asarray(np.rint((x + sign * scale * np.log(u)) / grid) * grid)

    def is_possible(self, y: Floats, x: float, scale: float) -> Mask:
        """The noise that rounds to y fills an interval as long as b: some u gives it, up to the smallest u."""
        grid = _grid(scale)
        nearest = np.maximum(np.abs(y - x) - grid / 2, 0.0)
        return np.asarray((np.rint(y / grid) * grid == y) & (nearest <= (MAX_EXPONENT - 1) * math.log(2) * scale))


def _grid(scale: float) -> float:
    return 2.0 ** math.ceil(math.log2(scale))
