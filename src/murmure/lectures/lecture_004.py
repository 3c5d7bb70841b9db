"""Lecture 004, sums between parties: its protocol as printed, in floats, and beside it the one that runs.

Cai and Kou, "Econometrics with privacy preservation" (2017), after Abbe, Khandani and Lo (2012). m parties hold
g_k(x_i) in [0, 1], k = 1..L. Party i sends j L numbers R_ij(k), uniform on [0, m), and sends the centre

    S_i(k) = {g_k(x_i) + sum over j != i of (R_ij(k) - R_ji(k))} mod m,    Q(k) = {sum over i of S_i(k)} mod m.

Over a finite ring the masks cancel and hide; over floats they do neither. Not for real data.

>>> everyone = np.ones((5, 1))
>>> sent = shares(everyone, masks(Random.seeded(1), 5, 1))
>>> float(recovered(sent)[0]), in_the_ring([[1]] * 5, bound=1, rng=Random.seeded(1)).total
(0.0, [5])
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from murmure.core.fixed import Words64
from murmure.core.random import Random
from murmure.secure.masks import masked
from murmure.secure.ring import Ring, RingEncoder

Floats = NDArray[np.float64]
Order = Literal["pair by pair", "sent less received"]

# -- The lecture's protocol --------------------------------------------------------------------------------------------


def uniforms(rng: Random, n: int) -> Floats:
    """n floats on [0, 1), as every library makes them: 53 bits, so all of them are multiples of 2**-53."""
    return (rng.words(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def masks(rng: Random, m: int, L: int) -> Floats:
    """R[i, j, k], uniform on [0, m). The diagonal is drawn too; it is subtracted from itself."""
    return m * uniforms(rng, m * m * L).reshape(m, m, L)


def mask_sums(R: Floats, order: Order = "pair by pair") -> Floats:
    """sum over j of (R_ij - R_ji), from left to right: of differences, or as two sums and one difference.

    One number on paper. In floats two.
    """
    sent, received, paired = np.zeros((3, len(R), R.shape[2]))
    for j in range(len(R)):
        sent += R[:, j]
        received += R[j]
        paired += R[:, j] - R[j]
    return paired if order == "pair by pair" else sent - received


def shares(g: Floats, R: Floats, order: Order = "pair by pair") -> Floats:
    """S[i, k], what party i sends the centre."""
    return np.mod(g + mask_sums(R, order), len(g))


def recovered(S: Floats, m: int | None = None) -> Floats:
    """Q[k], what the centre makes of it; m is the modulus, which stays what it was when a party does not answer."""
    total = np.zeros(S.shape[1])
    for one in S:
        total += one
    return np.mod(total, len(S) if m is None else m)


# -- What goes wrong with floats ---------------------------------------------------------------------------------------


def float_error(m: int, runs: int, order: Order = "pair by pair") -> float:
    """The median over seeded runs of |Q - sum g|, for g uniform on [0, 1)."""
    errors = []
    for run in range(runs):
        rng = Random.seeded(run)
        g = uniforms(rng, m).reshape(m, 1)
        total = recovered(shares(g, masks(rng, m, 1), order))[0]
        errors.append(abs(float(total) - math.fsum(g[:, 0])))
    return statistics.median(errors)


def returns_about_m(g: float, m: int, runs: int) -> float:
    """The share of seeded runs in which every party holds g, 0 or 1, and the centre recovers more than m / 2.

    0 and m are one point of the circle, and the masks leave an error of either sign: below zero, "mod m" is just below
    m. So nobody (g = 0) may look like everybody, and everybody (g = 1) like nobody.
    """
    values = np.full((m, 1), g)
    totals = [recovered(shares(values, masks(Random.seeded(run), m, 1)))[0] for run in range(runs)]
    return float(np.mean(np.array(totals) > m / 2))


# -- What leaks through floats -----------------------------------------------------------------------------------------


def first_share(g: float, m: int, draws: int, rng: Random) -> Floats:
    """S_1 of a party that holds g, in independent runs, the formula evaluated as printed: g + (sum)."""
    total = np.zeros(draws)
    for _ in range(m - 1):
        total += m * uniforms(rng, draws) - m * uniforms(rng, draws)
    return np.mod(g + total, m)


def off_grid(values: Floats, step: float) -> float:
    """The share of values that are not multiples of step (a power of two, so the division is exact)."""
    steps = values / step
    return float(np.mean(steps != np.floor(steps)))


def last_bit(values: Floats) -> float:
    """How often the last bit of the 53 is set."""
    return float(np.mean(values.view(np.uint64) & np.uint64(1)))


def below_the_grid(x: float, step: float) -> Fraction:
    """Which part of a step x lies above its grid. Added exactly, masks on the grid do not change it."""
    return Fraction(x) / Fraction(step) % 1


def chance_to_land(g: float, m: int, below: float) -> float:
    """P[0 <= g + D < below], D the sum of the m - 1 differences of two uniforms on [0, m). In fractions.

    D = m (IH - (m - 1)), where IH is a sum of 2 (m - 1) uniforms on [0, 1), of the law of Irwin and Hall.
    """
    n = 2 * (m - 1)

    def mass_below(x: Fraction) -> Fraction:
        parts = ((-1) ** k * math.comb(n, k) * (x - k) ** n for k in range(math.floor(x) + 1))
        return sum(parts, Fraction(0)) / math.factorial(n)

    low, high = (m - 1 + (Fraction(edge) - Fraction(g)) / m for edge in (0, below))
    return float(mass_below(high) - mass_below(low))


# -- The protocol that runs, in small ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class MaskedVectors:
    """What the centre sees of a sum in the ring, and the total that it decodes."""

    vectors: tuple[Words64, ...]
    total: list[int]


def in_the_ring(values: Sequence[Sequence[int]], bound: int, rng: Random) -> MaskedVectors:
    """Integers modulo 2**64, one mask for every pair and one more for every party: `secure.masks.masked`.

    Here the masks are words of a seeded stream. In the real protocol each pair expands one from a common key, and the
    parties that stay recover the self-masks from shares: docs/explanation-secure-sums.md.
    """
    m, ring = len(values), Ring()
    encoder = RingEncoder(entries=len(values[0]), bound=bound, parties=m)
    number = np.zeros((m, m), np.int64)
    number[np.triu_indices(m, k=1)] = np.arange(m * (m - 1) // 2)  # every pair has one mask
    pairs = rng.words(m * (m - 1) // 2 * encoder.words).reshape(-1, encoder.words)
    self_masks = rng.words(m * encoder.words).reshape(m, -1)
    vectors, total = [], np.zeros(encoder.words, np.uint64)
    for i in range(m):
        plus, minus = pairs[number[i, i + 1 :]], pairs[number[:i, i]]
        vectors.append(masked(encoder.encode(values[i]), plus, minus, self_masks[i], ring))
        ring.add(total, vectors[-1])
        ring.subtract(total, self_masks[i])
    return MaskedVectors(tuple(vectors), encoder.decode(total, m))
