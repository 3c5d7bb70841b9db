"""What one person can do to a sum, and what a release of it costs: the data that statistics, noise and ledger share.

A summed vector is cut into blocks. The entries of a block share one noise scale, and its bounds say how far one row
moves the block's sum: exact integers, on the grid, after rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import float_up
from murmure.core.random import Random
from murmure.core.types import Floats, Ints, Relation

Norm = Literal["l1", "l2"]


@dataclass(frozen=True)
class Block:
    """Consecutive entries of a summed vector that share one noise scale.

    l1: the largest sum of absolute values that one row adds to the block. l2: the largest sum of squares.
    weight: its share of the budget, relative to the other blocks; public. replace_l1, replace_l2: how far exchanging
    one row for another moves the sum, where that is known to be less than twice as far (squared: four times).
    """

    name: str
    width: int
    l1: int
    l2: int
    weight: float = 1.0
    replace_l1: int | None = None
    replace_l2: int | None = None

    def __post_init__(self) -> None:
        whole = (self.width, self.l1, self.l2, self.replace_l1 or 1, self.replace_l2 or 1)
        if not all(isinstance(v, int) and not isinstance(v, bool) and v > 0 for v in whole):
            raise InvalidParameter(
                "Block {name!r}: width and bounds must be positive whole numbers, got {got}.", name=self.name, got=whole
            )
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise InvalidParameter(
                "Block {name!r}: weight must be positive, got {got}.", name=self.name, got=shorten(self.weight)
            )
        if (self.replace_l1 or self.l1) < self.l1 or (self.replace_l2 or self.l2) < self.l2:
            raise InvalidParameter(
                "Block {name!r}: replace_l1 and replace_l2 must be at least l1 and l2: a new row that cannot be read "
                "is left out, so replacing a row can remove a whole row.",
                name=self.name,
            )
        if not self.l2 <= self.l1**2 <= self.width * self.l2:
            least = -(-(self.l1**2) // self.width)
            fit = (
                f"{self.l1**2}"
                if self.width == 1
                else Phrase("from {least} (spread evenly) to {l1} (in one entry)", least=least, l1=self.l1**2)
            )
            raise InvalidParameter(
                "Block {name!r}: l1 = {l1} and l2 = {l2} cannot both be true of a block of "
                "width {width}: l1 is the largest sum of absolute values that one row adds, "
                "l2 the largest sum of SQUARES.",
                hint="with l1 = {l1} the squares add up to {fit}",
                name=self.name,
                l1=self.l1,
                l2=self.l2,
                width=self.width,
                fit=fit,
            )

    def sensitivity(self, norm: Norm, relation: Relation, rows: int = 1) -> int:
        """How far one person with at most `rows` rows moves the sum: in L1, or squared in L2."""
        if norm == "l1":
            once = self.l1 if relation == "add/remove" else self.replace_l1 or 2 * self.l1
            return rows * once
        squared = self.l2 if relation == "add/remove" else self.replace_l2 or 4 * self.l2
        return rows**2 * squared


@dataclass(frozen=True)
class Cost:
    """What a release spends, in both currencies that add up: pure epsilon, and rho of zero-concentrated privacy.

    epsilon is inf where no pure epsilon holds. Both are rounded up.
    """

    epsilon: float
    rho: float

    def __post_init__(self) -> None:
        if not (self.epsilon >= 0 and self.rho >= 0):
            raise InvalidParameter("a cost is not negative, got {got!r}.", got=self)


def pure_cost(epsilon: float) -> Cost:
    """Pure epsilon is epsilon**2 / 2 of rho (Bun, Steinke, TCC 2016, Proposition 1.4)."""
    if epsilon == math.inf:
        return Cost(epsilon, epsilon)
    return Cost(epsilon, float_up(Fraction(epsilon) ** 2 / 2))


class NoiseLaw(Protocol):
    """Noise on the integers: a law that is symmetric about 0, and shifted by the true sum."""

    @property
    def variance(self) -> float: ...
    def log_prob(self, z: Any) -> Floats: ...
    def quantile(self, tail: float) -> int: ...  # the least t with P[|Z| > t] <= tail
    def integers(self) -> dict[str, Any]: ...  # for the JSON of a plan
    def draw_noise(self, n: int, rng: Random) -> Ints: ...  # called by the gate, and by nobody else


@dataclass(frozen=True)
class NoisySum:
    """A protected sum: integers, and the law of what was added to each block (None: nothing was)."""

    blocks: tuple[Block, ...]
    sum: Ints
    laws: tuple[NoiseLaw | None, ...]

    @classmethod
    def exact(cls, blocks: Sequence[Block], total: Ints) -> NoisySum:
        return cls(tuple(blocks), np.asarray(total, np.int64), (None,) * len(blocks))

    def __post_init__(self) -> None:
        assert len(self.sum) == sum(block.width for block in self.blocks)
        assert len(self.laws) == len(self.blocks)

    def __iter__(self) -> Iterator[tuple[Block, Ints, NoiseLaw | None]]:
        start = 0
        for block, law in zip(self.blocks, self.laws, strict=True):
            yield block, self.sum[start : start + block.width], law
            start += block.width

    def __getitem__(self, name: str) -> Ints:
        """The sum of the block of this name."""
        return next(part for block, part, _ in self if block.name == name)

    def law(self, name: str) -> NoiseLaw | None:
        return next(law for block, _, law in self if block.name == name)

    def variance(self, name: str) -> float:
        """Of the noise on each entry of the block."""
        law = self.law(name)
        return 0.0 if law is None else law.variance

    @property
    def variances(self) -> Floats:
        """Of the noise on every entry, one after the other."""
        return np.concatenate([np.full(b.width, 0.0 if law is None else law.variance) for b, _, law in self])
