"""One candidate out of several, drawn by integer scores, with exact coins. Gaps g_i = max score - score_i, rate s/t.

Exponential: candidates are proposed uniformly and kept with probability e**(-rate g_i); the first that is kept is the
answer, so P[i] = e**(-rate g_i) / sum over j. Permute-and-flip: every candidate flips a coin of that probability, and
the answer is one of those that say yes, each equally likely: in a random order the first yes is a uniform one of all
(McKenna, Sheldon, "Permute-and-Flip: a new mechanism for differentially private selection", NeurIPS 2020, Algorithm
1). The best candidate always says yes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.random import Random
from murmure.core.types import Floats, Ints, Mask
from murmure.laws.noise.coins import MAX_DENOMINATOR, Stream, all_flips, flips, uniforms

NEVER = 1 << 20  # coins of probability 1/e; all of them say yes with probability e**-1048576, which is never


@dataclass(frozen=True)
class ChoiceByScores:
    """The part that both laws share: coins of probability e**(-rate gap)."""

    s: int
    t: int

    def __post_init__(self) -> None:
        if not (0 < self.t <= MAX_DENOMINATOR and 0 < self.s < 1 << 62):
            raise InvalidParameter(
                "a choice at rate {number:.3g} per unit of score cannot be drawn.",
                number=self.s / self.t if self.t else math.inf,
            )

    @property
    def rate(self) -> Fraction:
        return Fraction(self.s, self.t)

    def _gaps(self, scores: Ints) -> tuple[Ints, Ints]:
        """rate * gap as a whole part and t-ths; Python's integers, because scores fill 64 bits."""
        values = [int(v) for v in scores]
        best = max(values)
        parts = [min(divmod((best - v) * self.s, self.t), (NEVER, 0)) for v in values]
        return np.array([w for w, _ in parts], np.int64), np.array([r for _, r in parts], np.int64)

    def _coins(self, whole: Ints, part: Ints, stream: Stream) -> Mask:
        out = all_flips(whole, stream)
        live = np.flatnonzero(out & (part > 0))
        out[live] = flips(part[live].view(np.uint64), self.t, len(live), stream)
        return out

    def _exponents(self, scores: Ints) -> Floats:
        whole, part = self._gaps(scores)
        return -(whole + part / self.t)


@dataclass(frozen=True)
class ExponentialLaw(ChoiceByScores):
    def log_prob(self, scores: Ints) -> Floats:
        e = self._exponents(scores)
        return e - math.log(np.exp(e).sum())

    def integers(self) -> dict[str, Any]:
        return {"law": "exponential", "s": str(self.s), "t": str(self.t)}

    def draw_choice(self, scores: Ints, rng: Random) -> int:
        stream = Stream(rng)
        whole, part = self._gaps(scores)
        k = len(whole)
        while True:  # k proposals at a time: one of them is kept with probability 1 - 1/e or more
            proposed = uniforms(k, k, stream) >> 1
            kept = np.flatnonzero(self._coins(whole[proposed], part[proposed], stream))
            if len(kept):
                return int(proposed[kept[0]])


@dataclass(frozen=True)
class PermuteAndFlipLaw(ChoiceByScores):
    def log_prob(self, scores: Ints) -> Floats:
        """ln P[i], P[i] = p_i times the integral over x in 0..1 of the product over j != i of (1 - p_j + p_j x).

        1 / (1 + N) is the integral of x**N, and N, the number of others that say yes, is a sum of coins.
        """
        e = self._exponents(scores)
        p = np.exp(e)
        node, weight = np.polynomial.legendre.leggauss(min(len(p) // 2 + 1, 512))
        x, weight = (node + 1) / 2, weight / 2
        factors = np.log1p(p[None, :] * (x[:, None] - 1))  # (nodes, candidates)
        terms = factors.sum(axis=1, keepdims=True) - factors + np.log(weight)[:, None]
        top = terms.max(axis=0)
        return e + top + np.log(np.exp(terms - top).sum(axis=0))

    def integers(self) -> dict[str, Any]:
        return {"law": "permute and flip", "s": str(self.s), "t": str(self.t)}

    def draw_choice(self, scores: Ints, rng: Random) -> int:
        stream = Stream(rng)
        winners = np.flatnonzero(self._coins(*self._gaps(scores), stream))
        return int(winners[uniforms(len(winners), 1, stream)[0] >> 1])
