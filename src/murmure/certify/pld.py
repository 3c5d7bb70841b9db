"""Privacy-loss distributions: what a schedule of releases that is fixed beforehand costs, almost exactly.

The loss of an outcome y is L(y) = ln P(y) - ln Q(y); its distribution under P holds all that composition needs:

    delta(epsilon) = P[L = inf] + E[ (1 - e**(epsilon - L))+ ],      losses of independent releases add up.

(Sommer, Meiser, Mohammadi, PoPETs 2019; Koskela, Jaelkoe, Honkela, AISTATS 2020.) Every step errs to one side: losses
are rounded up to a grid, tails that are cut off are moved up (to infinity at the upper end), and the rounding errors of
floats and of the fast Fourier transform are bounded and moved to infinity too. So delta and epsilon are never below the
truth. P is the larger side for the laws made here, which are symmetric: the other order is its mirror image.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.blocks import NoiseLaw
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.fixed import positive_epsilon

GRID = 1e-4  # of losses
UNIT = 2.0**-53
TAIL = 2.0**-64  # mass that is cut off at an end, each time
MOST = 1 << 22  # entries
FAIR = 1e-9  # of a grid step: a loss this little above a grid point counts as on it; `slack` makes up for it
FLOATS = 64 * UNIT  # what the masses of a law can lack by their own rounding, in all

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PLD:
    """mass[i] of loss (low + i) * grid, and `infinity` at inf; up to `slack` may be missing from every loss."""

    grid: float
    low: int
    mass: Floats = field(repr=False)
    infinity: float = 0.0
    slack: float = 0.0

    def delta_at(self, epsilon: float) -> float:
        """The least delta for this epsilon, rounded up."""
        # above the floats' errors of each loss, which are at most 4 units of the largest number here
        loss = self._losses() - (epsilon - self.slack) + FLOATS * (1 + abs(epsilon) + self.grid * len(self.mass))
        above = loss > 0
        spread = float(np.sum(self.mass[above] * -np.expm1(-loss[above])))
        return min(1.0, self.infinity + spread * (1 + len(self.mass) * UNIT + 1e-12))

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon for this delta, rounded up; inf where there is none."""
        if self.delta_at(0.0) <= delta:
            return 0.0
        low, high = 0.0, (self.low + len(self.mass)) * self.grid + self.slack
        if self.delta_at(high) > delta:
            return math.inf
        while high - low > 1e-12 * max(1.0, high):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta_at(middle) <= delta else (middle, high)
        return high

    def __add__(self, other: PLD) -> PLD:
        """Both releases, whatever the first answered."""
        if self.grid != other.grid:
            raise InvalidParameter(f"losses on grids of {self.grid!r} and {other.grid!r} do not add up.")
        a, b = self.mass, other.mass
        size = len(a) + len(b) - 1
        n = 1 << (size - 1).bit_length()
        if n > 2 * MOST:
            raise InvalidParameter(
                f"the losses need {n:_} grid points, and {2 * MOST:_} is the most.",
                hint=f"use a coarser grid than {self.grid:g}",
            )
        from scipy.fft import irfft, rfft

        mass = np.maximum(irfft(rfft(a, n) * rfft(b, n), n)[:size], 0.0)
        # Higham, Accuracy and Stability, 2nd ed., th. 24.2: a transform of 2**k has a relative error of at most
        # about 7 k units in the 2-norm; here 16 k. Transforms of masses are at most 1 in absolute value, so the
        # product errs by eta (|a| + |b|) in the 2-norm, and going back by eta |c| more, with |c| <= min(|a|, |b|).
        eta = 16 * UNIT * max(1, n.bit_length())
        norm = float(np.linalg.norm(a) + np.linalg.norm(b))
        error = 1.5 * eta * norm * math.sqrt(n)  # the 1-norm is at most sqrt(n) times the 2-norm
        infinity = self.infinity + other.infinity + error
        return _trimmed(self.grid, self.low + other.low, mass, infinity, self.slack + other.slack, max(TAIL, error))

    def times(self, count: int) -> PLD:
        """The same release `count` times, by doubling."""
        if count < 1:
            raise InvalidParameter(f"a release happens at least once, got {count}.")
        out, square = None, self
        while True:
            if count & 1:
                out = square if out is None else out + square
            count >>= 1
            if not count:
                assert out is not None
                return out
            square = square + square

    def _losses(self) -> Floats:
        return np.asarray((self.low + np.arange(len(self.mass))) * self.grid, dtype=np.float64)


def compose(distributions: Iterable[PLD]) -> PLD:
    """All of these releases, one after the other."""
    first, *rest = distributions
    for one in rest:
        first = first + one
    return first


# -- the distribution of a release ------------------------------------------------------------------------------------


def of_epsilon(epsilon: float, grid: float = GRID) -> PLD:
    """Any release of pure epsilon: randomised response dominates it (Kairouz, Oh, Viswanath, ICML 2015, th. 3.3)."""
    epsilon = positive_epsilon("PLD", epsilon)
    lie = 1 / (1 + math.exp(epsilon))
    return _rounded(np.array([-epsilon, epsilon]), np.array([lie, 1 - lie]), 0.0, grid)


def of_discrete_laplace(scale: float, shift: int = 1, grid: float = GRID) -> PLD:
    """One entry that moves by `shift`, with noise P[z] = (1 - a) / (1 + a) a**|z|, a = e**(-1/scale)."""
    scale, shift = _positive("scale", scale), _shift(shift)
    a = math.exp(-1 / scale)
    z = np.arange(shift + 1)  # at or below 0 the loss is shift / scale, at or above shift its negative
    mass = -math.expm1(-1 / scale) / (1 + a) * np.exp(-z / scale)
    mass[0] = 1 / (1 + a)
    mass[-1] = math.exp(-shift / scale) / (1 + a)
    return _rounded(np.asarray((shift - 2 * z) / scale, dtype=np.float64), mass, 0.0, grid)


def of_discrete_gaussian(sigma: float, shift: int = 1, grid: float = GRID) -> PLD:
    """One entry that moves by `shift`, with noise P[z] proportional to e**(-z**2 / (2 sigma**2)).

    Outside 10 sigma + 1 lies less than the normal law has outside 10 sigma (Canonne, Kamath, Steinke, NeurIPS 2020,
    prop. 25): 2**-75.
    """
    sigma, shift = _positive("sigma", sigma), _shift(shift)
    reach = math.ceil(10 * sigma) + 1
    z = np.arange(-reach, reach + 1)
    weight = np.exp(-((z / sigma) ** 2) / 2)
    loss = np.asarray((shift**2 - 2.0 * z * shift) / (2 * sigma**2), dtype=np.float64)
    return _rounded(loss, weight / weight.sum(), 2.0**-75, grid)


def of_law(law: NoiseLaw, shift: int = 1, grid: float = GRID) -> PLD:
    """One entry that moves by `shift`, with this symmetric noise, by its own probabilities."""
    reach = int(law.quantile(TAIL)) + _shift(shift)
    z = np.arange(-reach, reach + 1)
    here, there = (np.asarray(law.log_prob(at), dtype=np.float64) for at in (z, z - shift))
    seen = np.isfinite(here)
    finite = seen & np.isfinite(there)
    alone = float(np.exp(here[seen & ~finite]).sum())  # what only one of the two can answer
    return _rounded(here[finite] - there[finite], np.exp(here[finite]), alone + TAIL, grid)


def _rounded(loss: Floats, mass: Floats, infinity: float, grid: float) -> PLD:
    """Losses up to the grid."""
    grid = _positive("grid", grid)
    if len(loss) and float(np.abs(loss).max()) / grid > MOST:
        raise InvalidParameter(
            f"a loss of {float(np.abs(loss).max()):g} is more than {MOST:_} steps of {grid:g}.",
            hint="use a coarser grid, or cut the budget in smaller charges",
        )
    at = np.ceil(loss / grid - FAIR).astype(np.int64)
    low = int(at.min())
    out = np.zeros(int(at.max()) - low + 1)
    np.add.at(out, at - low, mass)
    # loss / grid is off by 3 units of 2**22 at most, below FAIR; a loss itself by some units of its terms, below 1e-13.
    return _trimmed(grid, low, out, infinity + FLOATS, 2 * FAIR * grid + 1e-13)


def _trimmed(grid: float, low: int, mass: Floats, infinity: float, slack: float, tail: float = TAIL) -> PLD:
    """Without tails of this mass: the lower one moved up to where the rest begins, the upper one to infinity."""
    below, above = np.cumsum(mass), np.cumsum(mass[::-1])
    first = int(np.searchsorted(below, tail, side="right"))
    cut = int(np.searchsorted(above, tail, side="right"))
    first, last = min(first, len(mass) - 1), max(len(mass) - cut, min(first, len(mass) - 1) + 1)
    kept = mass[first:last].copy()
    kept[0] += below[first - 1] if first else 0.0
    infinity += float(above[cut - 1]) if cut and last == len(mass) - cut else 0.0
    return PLD(grid, low + first, kept, min(1.0, infinity + FLOATS), slack)


def _positive(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InvalidParameter(f"PLD.{what} must be a positive finite number, got {shorten(value)}.")
    return float(value)


def _shift(shift: Any) -> int:
    if isinstance(shift, bool) or not isinstance(shift, int | np.integer) or not 1 <= shift <= MOST:
        raise InvalidParameter(f"PLD.shift must be a whole number from 1 to {MOST:_}, got {shorten(shift)}.")
    return int(shift)
