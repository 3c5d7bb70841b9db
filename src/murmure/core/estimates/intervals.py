"""Intervals for shares and means: invert the law of the count, never centre a bar on the estimate.

N people, o of them support a cell; one whose true value is the cell supports it with probability p,
any other with probability q < p.

    fixed population   o ~ Bin(f, p) + Bin(N - f, q),   f of these N people hold the value; target f / N
    superpopulation    o ~ Bin(N, q + (p - q) pi),      the N people are a sample; target pi

An interval is the set of targets that a test does not reject at o (Neyman 1937). The tests: both exact
tails (Clopper and Pearson, Biometrika 26, 1934), or the score, whose variance is taken at the target and
not at the estimate (Wilson, JASA 22, 1927). All intervals are clipped to the range of the target; when
the set misses the range the nearest end is returned twice.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from murmure.core.errors import InvalidParameter
from murmure.core.estimates.method_words import EXACT_INVERSION, KNOWN_EXACTLY, MAPPED, MIXED, SCORE
from murmure.core.types import Floats, Ints, Mask, Target

EXACT_UP_TO = 2000  # people; up to this number all cells are inverted exactly


def normal_quantile(level: float) -> float:
    """z with P[|Z| <= z] = level."""
    return -NormalDist().inv_cdf((1.0 - level) / 2.0)


def level_of_each(level: float, figures: int, simultaneous: bool = True) -> float:
    """The level of one interval; simultaneous: so that all of them hold together (Bonferroni)."""
    return 1.0 - (1.0 - level) / max(1, figures) if simultaneous else level


def share_intervals(
    o: ArrayLike, N: int, p: ArrayLike, q: ArrayLike, level: float, target: Target, simultaneous: bool = False
) -> tuple[Floats, str]:
    """Intervals for the share of every cell, (w, 2), and the name of the method that the rule chose.

    p and q are numbers, or one for each cell. Fixed population: exact inversion up to 2000 people and, of more, for
    cells whose count varies little (`looks_normal`); score for the others. Superpopulation: Clopper-Pearson, mapped.
    `simultaneous` divides 1 - level by the number w of cells (Bonferroni), so that all hold together.

    >>> bounds, method = share_intervals([9], 20, 0.75, 0.25, 0.95, "fixed")
    >>> bounds.tolist(), method
    ([[0.0, 0.8]], 'exact inversion')
    """
    cells, p, q = _cells(o, N, p, q, level)
    if target not in ("fixed", "superpopulation"):
        raise InvalidParameter(
            "target of an interval must be 'fixed' or 'superpopulation', got {got!r}.",
            hint="'fixed' is the share among the people who answered, "
            "'superpopulation' the share in the population they were drawn from.",
            got=target,
        )
    level = level_of_each(level, cells.size, simultaneous)
    if target == "superpopulation":
        return clopper_pearson_mapped(cells, N, p, q, level), MAPPED
    if p.size and (p == 1.0).all() and (q == 0.0).all():  # clear data: o is f
        return np.column_stack([cells, cells]) / N, KNOWN_EXACTLY
    if N <= EXACT_UP_TO:
        return exact_fixed(cells, N, p, q, level), EXACT_INVERSION
    out = score_fixed(cells, N, p, q, level)
    if (few := ~looks_normal(out, N, p, q, level)).any():
        out[few] = exact_fixed(cells[few], N, p[few], q[few], level)
    return out, SCORE if not few.any() else EXACT_INVERSION if few.all() else MIXED


def looks_normal(ends: Floats, N: int, p: Floats, q: Floats, level: float) -> Mask:
    """Whether the score interval `ends` of a cell may replace the exact one: the count varies enough all along it.

    The count X has variance V(f) = N [q(1-q) + f (p-q)(1-p-q)], a straight line in the share f, and a skewness of at
    most 1 / sqrt V. Beyond z standard deviations a normal tail is off by two factors (Feller II, XVI.7, and XVI.4 for
    the whole numbers):

        exp(+- z^3 / (6 sqrt V))    by the skewness,
        1 +- z / (2 sqrt V)         by the width of a whole number.

    sqrt V >= 10 z keeps the second within 5 % of the tail, and sqrt V >= z^3 / 2.4 the first within a factor 1.5, of
    which one tail gains what the other loses (it matters above z = 4.9, with thousands of simultaneous cells).
    Enumerated coverage at 95 % is then at least .947. A cell that nobody holds, with few reports to be expected, does
    not look normal for any N.
    """
    z = normal_quantile(level)
    variance = N * (q * (1 - q) + ends.T * (p - q) * (1 - p - q)).min(axis=0)
    return np.asarray(variance >= max(10 * z, z**3 / 2.4) ** 2)


def exact_fixed(o: ArrayLike, N: int, p: ArrayLike, q: ArrayLike, level: float) -> Floats:
    """Shares f / N whose tails P[X <= o | f] and P[X >= o | f] both exceed alpha / 2: guaranteed coverage.

    p > q makes X grow with f in stochastic order: each tail is monotone in f, each end one search. p and q are numbers,
    or one for each cell.
    """
    from murmure.core.estimates.exact_inversion import accepted_counts

    cells, p, q = _cells(o, N, p, q, level)
    rows, where = np.unique(np.stack([cells, p, q], axis=1), axis=0, return_inverse=True)
    o, p, q = rows[:, 0].astype(np.int64), rows[:, 1], rows[:, 2]
    found = accepted_counts(o, N, p, q, (1.0 - level) / 2.0, score_fixed(o, N, p, q, level))
    return found[where.reshape(-1)] / N


def score_fixed(o: ArrayLike, N: int, p: ArrayLike, q: ArrayLike, level: float) -> Floats:
    """{ f : (r - q - (p-q) f)^2 <= z^2 [q(1-q) + f (p-q)(1-p-q)] / N }, r = o / N, cut to [0, 1].

    For a fixed population only: it undercovers a superpopulation by design.
    """
    cells, p, q = _cells(o, N, p, q, level)
    r = cells / N
    c = normal_quantile(level) ** 2 / N
    d = p - q
    # With e = (r-q)/d, v = (1-p-q)/d:  (f - e)^2 <= c [q(1-q)/d^2 + v f],  so centre = e + c v/2 and
    # half^2 = c [q(1-q)/d^2 + v e] + (c v/2)^2, where
    # q(1-q) + (r-q)(1-p-q) = (1-r) p q + r (1-p)(1-q)   is a sum without cancellation.
    v = (1.0 - p - q) / d
    centre = (r - q) / d + c * v / 2.0
    half = np.sqrt(c * ((1.0 - r) * p * q + r * (1.0 - p) * (1.0 - q)) / d**2 + (c * v / 2.0) ** 2)
    return np.clip(np.column_stack([centre - half, centre + half]), 0.0, 1.0)


def clopper_pearson_mapped(o: ArrayLike, N: int, p: ArrayLike, q: ArrayLike, level: float) -> Floats:
    """Clopper-Pearson for lambda = q + (p - q) pi, then pi = (lambda - q)/(p - q), cut to [0, 1].

    Coverage is guaranteed for a superpopulation; conservative for a fixed population wherever enumerated.
    """
    cells, p, q = _cells(o, N, p, q, level)
    return np.clip((clopper_pearson(cells, N, level) - q[:, None]) / (p - q)[:, None], 0.0, 1.0)


def clopper_pearson(o: ArrayLike, N: float, level: float) -> Floats:
    """The interval of a binomial chance; of people with weights, o and N need not be whole."""
    from scipy import special  # type: ignore[import-untyped, unused-ignore]

    o, tail, tiny = np.asarray(o, float), (1.0 - level) / 2.0, 1e-9
    if N > 1e12:
        # Here the inverses lose their digits. No real count is so large, but sums of nonsense need an interval too.
        r = (o / N)[:, None]
        half = normal_quantile(level) * np.sqrt(r * (1 - r) / N + (normal_quantile(level) / N) ** 2)
        return np.clip(r + half * np.array([-1.0, 1.0]), 0.0, 1.0)
    # P[Bin(N, l) >= o] = I_l(o, N-o+1), P[Bin(N, l) <= o] = 1 - I_l(o+1, N-o): each end has tail alpha/2
    lower = np.where(o <= tiny, 0.0, special.betaincinv(np.maximum(o, tiny), N - o + 1.0, tail))
    upper = np.where(N - o <= tiny, 1.0, special.betainccinv(o + 1.0, np.maximum(N - o, tiny), tail))
    return np.column_stack([lower, upper])


def score_variance(
    mean: float, N: int, variance: Callable[[Any], Any], low: float, high: float, level: float
) -> tuple[float, float]:
    """Ends of the part around the estimate of { m in [low, high] : (mean - m)^2 <= z^2 variance(m) / N }.

    `variance(m)`, vectorised, is the variance of one report when the true mean is m. When the estimate lies
    outside [low, high] the set is looked for from the nearest end inwards; if it misses the range, that end
    is returned twice.
    """
    _check_level(level)
    _check_people(N)
    if not (np.isfinite([mean, low, high]).all() and low <= high):
        raise InvalidParameter(
            "a mean's interval needs finite numbers with low <= high, got mean={mean!r}, low={low!r}, high={high!r}.",
            hint="low and high are the public bounds of the mean.",
            mean=mean,
            low=low,
            high=high,
        )
    c = normal_quantile(level) ** 2 / N
    start = min(max(mean, low), high)

    def accepted(m: Any) -> Any:
        return np.square(mean - m) <= c * np.maximum(variance(m), 0.0)

    def edge(inside: float, outside: float) -> float:
        """The last accepted float between an accepted point and a rejected one."""
        while (middle := inside + (outside - inside) / 2.0) not in (inside, outside):
            inside, outside = (middle, outside) if accepted(middle) else (inside, middle)
        return inside

    def reach(end: float) -> tuple[float, float]:
        """First and last accepted point of the first accepted stretch from start towards end."""
        # steps growing by 2^(1/4) from 2^-60 of the way: a narrow set in a wide range is still found
        path = np.append(start, start + (end - start) * np.exp2(np.arange(-240, 1) / 4.0))
        path[-1] = end
        yes = np.broadcast_to(accepted(path), path.shape)
        if not yes.any():
            return start, start
        first = int(np.argmax(yes))
        last = first + int(np.argmin(np.append(yes[first:], False))) - 1
        near, far = float(path[first]), float(path[last])
        return (
            edge(near, float(path[first - 1])) if first > 0 else near,
            edge(far, float(path[last + 1])) if last + 1 < path.size else far,
        )

    if mean < low:
        return reach(high)
    if mean > high:
        near, far = reach(low)
        return far, near
    return reach(low)[1], reach(high)[1]


def score_line(mean: Floats, n: float, line: tuple[Floats, Floats, Floats], level: float) -> Floats:
    """{ f in [0, 1] : (mean - f)^2 <= z^2 (alpha + beta f + gamma f^2) / n } for every cell, in closed form."""
    alpha, beta, gamma = line
    c = normal_quantile(level) ** 2 / n
    square, half = 1 - c * gamma, mean + c * beta / 2
    root = np.sqrt(np.maximum(half * half - square * (mean**2 - c * alpha), 0.0))
    return np.clip(np.stack([(half - root) / square, (half + root) / square], axis=1), 0.0, 1.0)


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise InvalidParameter(
            "level of an interval must lie strictly between 0 and 1, got {got!r}.", hint="0.95 means 95%.", got=level
        )


def _check_people(N: int) -> None:
    if not N >= 1:
        raise InvalidParameter(
            "N, the number of people, must be at least 1, got {got!r}.",
            hint="with no report there is no interval.",
            got=N,
        )


def _cells(o: ArrayLike, N: int, p: ArrayLike, q: ArrayLike, level: float) -> tuple[Ints, Floats, Floats]:
    """The support counts as an integer vector, p and q of every cell, once checked."""
    _check_level(level)
    _check_people(N)
    high, low = np.asarray(p, float), np.asarray(q, float)
    if not ((low >= 0.0) & (low < high) & (high <= 1.0)).all():
        raise InvalidParameter(
            "support probabilities must satisfy 0 <= q < p <= 1, got p={p!r}, q={q!r}.",
            hint="p is for people whose true value is in the cell, q for the others; if p = q the counts carry "
            "no information.",
            p=p,
            q=q,
        )
    cells = np.atleast_1d(np.asarray(o))
    if cells.ndim != 1 or (cells.size and not np.issubdtype(cells.dtype, np.integer)):
        raise InvalidParameter(
            "o, the counts, must be a vector of integers, got shape {shape} of {dtype}.",
            hint="pass the tally, one count per cell, not shares or estimates.",
            shape=cells.shape,
            dtype=cells.dtype,
        )
    if cells.size and not (cells.min() >= 0 and cells.max() <= N):
        raise InvalidParameter(
            "o, the support counts, must lie in 0..N = 0..{n}, got {got}..{cells_max}.",
            hint="a tally with noise added afterwards is not a support count; use score_variance.",
            n=N,
            got=cells.min(),
            cells_max=cells.max(),
        )
    return cells.astype(np.int64), np.broadcast_to(high, cells.shape), np.broadcast_to(low, cells.shape)
