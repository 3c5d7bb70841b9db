"""The delta method by forward differentiation: every figure carries its derivative in each noisy sum.

    Var f(S + Z) ~ sum_k (df/dS_k)^2 Var Z_k        for independent noises Z_k

Formulas are written once, with + - * / and `sqrt`. They are exact for fractions; for `Traced` numbers they also compute
the derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from murmure.econometrics.algebra import rounding


@dataclass(frozen=True, eq=False)
class Traced:
    """A number, and its derivative in each sum, by the index of the sum."""

    value: float
    slope: Mapping[int, float] = field(default_factory=dict)

    def _combine(self, other: Any, value: float, mine: float, theirs: float) -> Traced:
        slope = {k: mine * v for k, v in self.slope.items()}
        for k, v in other.slope.items() if isinstance(other, Traced) else ():
            slope[k] = slope.get(k, 0.0) + theirs * v
        return Traced(value, slope)

    def __add__(self, other: Any) -> Traced:
        return self._combine(other, self.value + value_of(other), 1.0, 1.0)

    def __sub__(self, other: Any) -> Traced:
        return self._combine(other, self.value - value_of(other), 1.0, -1.0)

    def __mul__(self, other: Any) -> Traced:
        return self._combine(other, self.value * value_of(other), value_of(other), self.value)

    def __truediv__(self, other: Any) -> Traced:
        b = value_of(other)
        return self._combine(other, self.value / b, 1 / b, -self.value / b / b)

    def __neg__(self) -> Traced:
        return self * -1

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Traced:
        return -self + other

    def variance(self, of_noise: Sequence[float]) -> float:
        """The variance of the noise in this number. of_noise: the variance of the noise in each sum."""
        return math.fsum(v * v * of_noise[k] for k, v in self.slope.items())


def value_of(value: Any) -> float:
    return value.value if isinstance(value, Traced) else float(value)


def sqrt(value: Any) -> Any:
    """The square root: of a traced number with its derivative, of a fraction correctly rounded."""
    if isinstance(value, Traced):
        root = math.sqrt(value.value)
        return Traced(root, {k: v / (2 * root) for k, v in value.slope.items()})
    return rounding.root(value)


def traced(values: Sequence[Fraction]) -> list[Traced]:
    """Sums that each have independent noise."""
    return [Traced(float(v), {k: 1.0}) for k, v in enumerate(values)]
