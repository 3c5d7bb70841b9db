"""The lectures' mistakes, kept as lessons. Nothing here is a mechanism for real people.

Each lesson is given to the same certifier and the same checks as the real mechanisms, and fails them:

>>> from murmure.certify.certificate import certify
>>> certificate = certify(redrawn_staircase(1.0))
>>> print(f"asked {certificate.asked}, costs {certificate.epsilon:.4f}")
asked 1.0, costs 1.3318
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.domain import Categories
from murmure.core.errors import Phrase
from murmure.core.fixed import WORD, exactly, exp
from murmure.core.random import RandomWords
from murmure.core.types import Array, Certifiable
from murmure.laws.law import Channel
from murmure.laws.mapped import Mapped
from murmure.laws.table import TableChannel
from murmure.local.staircase import Gamma, gamma_of


@dataclass(frozen=True)
class Lesson(Certifiable):
    """A law that a lecture proposes, with the epsilon it claims. It has no tally and no estimate: it cannot be run."""

    title: str
    domain: Categories
    channel: Channel
    epsilon: float

    @property
    def asked(self) -> float:
        return self.epsilon


# -- Lecture 000: the staircase, redrawn until inside -------------------------------------------------


def _staircase_cdf(z: Decimal, b: Decimal, gamma: Decimal) -> Decimal:
    """The unbounded staircase with steps of length 1: the mass below z."""
    top = (1 - b) / (2 * (gamma + b * (1 - gamma)))
    size = abs(z)
    if size < gamma:
        mass = top * size
    else:
        j = math.floor(size - gamma)
        mass = top * (gamma + b * (1 - b**j) / (1 - b) + b ** (j + 1) * (size - gamma - j))
    return Decimal("0.5") + mass.copy_sign(z)


@exactly
def unbounded_staircase(epsilon: float, gamma: Gamma = "absolute", cells: int = 64) -> Lesson:
    """The right density around x in {0, 1/cells, ..., 1}, its reports cut into cells of [-1, 2] and two tails.

    This one is not a mistake: it costs epsilon. What is done with its reports afterwards decides.
    """
    b = exp(-epsilon)
    g = Decimal(gamma_of(float(b), gamma))
    rows = []
    for x in range(cells + 1):
        edges = [_staircase_cdf(Decimal(e - x) / cells, b, g) for e in range(-cells, 2 * cells + 1)]
        row = [max(1, int((high - low) * WORD)) for low, high in itertools.pairwise([Decimal(0), *edges, Decimal(1)])]
        row[row.index(max(row))] += WORD - sum(row)
        rows.append(row)
    points = Categories([f"{x / cells:.6g}" for x in range(cells + 1)])
    return Lesson(Phrase("the unbounded staircase"), points, TableChannel(np.array(rows, np.uint64), {}), epsilon)


def inside(report: int, cells: int) -> bool:
    """Reports are numbered: the lower tail, cells of [-1, 0], of [0, 1], of [1, 2], the upper tail."""
    return cells < report <= 2 * cells


@dataclass(frozen=True)
class Redrawn:
    """Draw again until the report is acceptable: P[y | x] / C(x). C depends on the secret: not post-processing."""

    channel: Channel
    accepted: tuple[int, ...]

    words, deep, slack, report_ndim = 0, 0, 0.0, 0  # no fixed number of words: another reason not to

    @property
    def inputs(self) -> int:
        return self.channel.inputs

    @cached_property
    def _norms(self) -> list[Fraction]:
        return [sum((self.channel.prob(x, y) for y in self.accepted), Fraction(0)) for x in range(self.inputs)]

    def prob(self, x: int, y: Any) -> Fraction:
        return self.channel.prob(x, y) / self._norms[x] if y in self.accepted else Fraction(0)

    def log_prob(self, x: Array, y: Array) -> NDArray[np.float64]:
        return np.array([math.log(self.prob(int(a), int(b))) for a, b in zip(x, y, strict=True)])

    def outcomes(self) -> tuple[int, ...]:
        return self.accepted

    def draw(self, x: Array, words: RandomWords) -> Array:
        raise TypeError("a lesson is not sampled: redrawing needs an unknown number of words")

    def report_bits(self) -> float:
        return math.log2(len(self.accepted))

    def integers(self) -> dict[str, Any]:
        return {"law": "redrawn"}


def redrawn_staircase(epsilon: float, gamma: Gamma = "absolute", cells: int = 64) -> Lesson:
    """Lecture 000's listing: diffprivlib's staircase, redrawn until inside the bounds. 1.3318 at epsilon 1.

    eps + ln[(2g + b(1-2g)) / (g + b(1-g))], at x = 0 against x = 1/2. The lecture's own gamma ("variance"): 1.3487.
    """
    wide = unbounded_staircase(epsilon, gamma, cells)
    accepted = tuple(y for y in range(3 * cells + 2) if inside(y, cells))
    return Lesson(Phrase("the staircase, redrawn until inside"), wide.domain, Redrawn(wide.channel, accepted), epsilon)


def clamped_staircase(epsilon: float, gamma: Gamma = "absolute", cells: int = 64) -> Lesson:
    """The same reports, moved to the nearest bound instead: one draw and a function. Costs epsilon at most."""
    wide = unbounded_staircase(epsilon, gamma, cells)
    clamp = Mapped(wide.channel, lambda y: min(max(int(y), cells + 1), 2 * cells))
    return Lesson(Phrase("the staircase, clamped"), wide.domain, clamp, epsilon)


# -- Lecture 000: the staircase density as printed ----------------------------------------------------


@dataclass(frozen=True)
class StaircaseSteps:
    """Which step the noise falls on: report 0 is the flat top, report j+1 the j-th step on both sides, then the rest.

    The lecture prints height b^j for step j = 0, 1, ...; the right one is b^(j+1) (`printed=False`). As printed the
    steps alone weigh more than everything.
    """

    epsilon: float
    printed: bool = True
    steps: int = 80

    inputs, words, deep, slack = 2, 1, 0, 0.0

    @cached_property
    @exactly
    def weights(self) -> list[int]:
        b = exp(-self.epsilon)
        g = Decimal(gamma_of(float(b), "variance"))
        top = (1 - b) / (2 * (g + b * (1 - g)))
        heights = [b ** (j if self.printed else j + 1) for j in range(self.steps)]
        listed = [math.floor(2 * g * top * WORD), *(math.floor(2 * top * h * WORD) for h in heights)]
        return [*listed, max(0, WORD - sum(listed))]  # the rest lies beyond the last step

    def prob(self, x: int, y: int) -> Fraction:
        return Fraction(self.weights[y], WORD)

    def log_prob(self, x: Array, y: Array) -> NDArray[np.float64]:
        return np.array([math.log(p) if p else -math.inf for p in (self.prob(0, int(one)) for one in y)])

    def outcomes(self) -> range:
        return range(len(self.weights))


@dataclass(frozen=True)
class StepsLesson:
    """What `check_law` is given: the printed density, or the right one."""

    channel: StaircaseSteps


# -- Lecture 000: bounds that are not kept, lecture 003: Var* as an error bar -------------------------


def share_outside_listing(epsilon: float) -> float:
    """The listing returns inside its loop, so it never redraws: this share of the end values' reports is outside."""
    return 0.5 + 0.5 * math.exp(-epsilon)


def var_star_bar(o: Any, N: int, p: float, q: float, level: float) -> NDArray[np.float64]:
    """fhat +- z sqrt(Var*): the variance at share 0, wherever the share is. Covers 33 % at eps 4, k 128, f = 1/2."""
    from scipy.special import ndtri

    fhat = (np.asarray(o) / N - q) / (p - q)
    half = float(ndtri(0.5 + level / 2)) * math.sqrt(q * (1 - q) / N) / (p - q)
    return np.stack([fhat - half, fhat + half], axis=1)
