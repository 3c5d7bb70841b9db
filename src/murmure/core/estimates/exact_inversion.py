"""Both exact tails of Bin(f, p) + Bin(N - f, q), and the f that neither of them rejects, for many counts at once.

The mass of a binomial is built from ratios of neighbours,

    P[j + 1] / P[j] = (f - j) / (j + 1) * p / (1 - p),

over a window around its mean, and divided by its sum: no factorial of N, so the digits do not depend on N. The window
reaches t = 9 sd + 30 to either side. What it leaves out is at most 2 exp(-t^2 / (2 (V + t/3))) (Bernstein 1924), V the
variance: 2e-18 or less, far below any tail in use.

The tails are monotone in f (p > q), and their normal quantiles nearly a straight line in f. So a search that draws the
line through the two nearest values needs six to ten evaluations, where halving the range needs twenty for N = 10^6.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from murmure.core.types import Floats, Ints

MAX_TABLE = 1 << 20  # floats of one table of masses


def accepted_counts(o: Ints, N: int, p: Floats, q: Floats, tail: float, guess: Floats) -> Ints:
    """First and last f in 0..N with P[X >= o | f] > tail and P[X <= o | f] > tail, in rows; one end twice if none is.

    `guess` (rows of two shares) is where the search starts; the result does not depend on it.
    """
    # If f is rejected as too small then P[X <= o | f + 1] >= 1 - tail > tail: f + 1 is not too large. So nothing is
    # accepted only when N is still too small or 0 already too large; both searches then stop at that end.
    sd = np.sqrt(N * np.maximum(q * (1 - q), np.minimum(p * (1 - p), 1.0 / N)))
    step = np.maximum(1, np.ceil(sd / (p - q) / 4)).astype(np.int64)
    first = _first(N, np.rint(guess[:, 0] * N), step, lambda at, f: _at_least(o[at], f, N, p[at], q[at]), tail)
    # P[X <= o | f] = P[N - X >= N - o], and N - X is of the same kind: N - f people support with 1 - q, f with 1 - p
    rest = _first(
        N, np.rint(N - guess[:, 1] * N), step, lambda at, g: _at_least(N - o[at], g, N, 1 - q[at], 1 - p[at]), tail
    )
    return np.stack([first, N - rest], axis=1)


def _first(N: int, guess: Floats, step: Ints, chance: Callable[[Ints, Ints], Floats], tail: float) -> Ints:
    """The first of 0..N where chance(f), which grows with f, exceeds tail; N if it does nowhere."""
    from scipy.special import ndtri

    size = len(guess)
    low, high = np.full(size, -1, np.int64), np.full(size, N, np.int64)  # too small; large enough, or the last
    at_low, at_high = np.full(size, -np.inf), np.full(size, np.inf)  # normal quantiles of chances, less that of tail
    next_f, step = np.clip(guess, 0, N).astype(np.int64), step.copy()
    aim = float(ndtri(tail))
    while (open_ := np.flatnonzero(high - low > 1)).size:
        f = np.clip(next_f[open_], low[open_] + 1, high[open_] - 1)
        found = chance(open_, f)
        with np.errstate(divide="ignore"):
            value = ndtri(np.clip(found, 0.0, 1.0)) - aim
        yes = found > tail
        high[open_[yes]], at_high[open_[yes]] = f[yes], value[yes]
        low[open_[~yes]], at_low[open_[~yes]] = f[~yes], value[~yes]
        a, b, va, vb = low[open_], high[open_], at_low[open_], at_high[open_]
        both = np.isfinite(va) & np.isfinite(vb) & (vb > va)
        with np.errstate(invalid="ignore", divide="ignore"):
            line = a + (b - a) * (-va / (vb - va))
        # a fiftieth of the range towards its middle: the next value then often closes the range from the other side
        line = line + np.where(line < (a + b) / 2, 1, -1) * (b - a) / 50
        # with a value on one side only, double steps away from it; halve where they would pass what is known
        alone = np.where(yes, f - step[open_], f + step[open_])
        alone = np.where((a >= 0) & (b < N) & ((alone <= a) | (alone >= b)), (a + b) // 2, alone)
        next_f[open_] = np.where(both, np.rint(np.where(both, line, 0.0)), alone).astype(np.int64)
        step[open_] *= 2
    return high


def _at_least(o: Ints, f: Ints, N: int, p: Floats, q: Floats) -> Floats:
    """P[X >= o | f] = sum over j of P[Bin(f, p) = j] P[Bin(N - f, q) >= o - j]."""
    out = np.empty(len(o))
    width = _reach(f, p) + _reach(N - f, q)
    order = np.argsort(width, kind="stable")
    start = 0
    while start < len(o):
        rows = order[start : start + max(1, MAX_TABLE // int(4 * width[order[-1]] + 1))]
        first, mass = _masses(f[rows], p[rows])
        other, beyond = _masses(N - f[rows], q[rows])
        # P[Bin(N - f, q) >= other, other + 1, ...], and 0 beyond the window; added from the small end
        beyond = np.cumsum(beyond[:, ::-1], axis=1)[:, ::-1]
        beyond = np.concatenate([beyond, np.zeros((len(rows), 1))], axis=1)
        at = (o[rows] - first - other)[:, None] - np.arange(mass.shape[1])
        np.clip(at, 0, beyond.shape[1] - 1, out=at)
        out[rows] = (mass * np.take_along_axis(beyond, at, axis=1)).sum(axis=1)
        start += len(rows)
    return out


def _reach(n: Ints, chance: Floats) -> Ints:
    return np.ceil(9 * np.sqrt(n * chance * (1 - chance)) + 30).astype(np.int64)


def _masses(n: Ints, chance: Floats) -> tuple[Ints, Floats]:
    """Where the window of Bin(n, chance) begins, and its masses, in rows."""
    reach, middle = _reach(n, chance), np.floor(n * chance).astype(np.int64)
    begin = np.maximum(0, middle - reach)
    end = np.minimum(n, middle + 1 + reach)
    j = begin[:, None] + np.arange(int((end - begin).max()) + 1)
    with np.errstate(divide="ignore"):
        odds = np.clip(np.log(chance) - np.log1p(-chance), -700.0, 700.0)[:, None]
        ratios = np.log(np.maximum(n[:, None] - j[:, :-1], 0) / (j[:, 1:])) + odds
    logs = np.concatenate([np.zeros((len(n), 1)), np.cumsum(ratios, axis=1)], axis=1)
    mass = np.exp(logs - logs.max(axis=1, keepdims=True))
    return begin, mass / mass.sum(axis=1, keepdims=True)
