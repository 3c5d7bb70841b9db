"""Any function applied to a report: post-processing, which can only lose information.

    P[z | x] = sum of P[y | x] over the reports y with function(y) = z.

One draw, then the function. Drawing again until a condition holds is *not* of this form: see
`murmure.lectures.mistakes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.random import RandomWords
from murmure.core.types import Array, Floats
from murmure.laws.law import Channel


@dataclass(frozen=True)
class Mapped:
    """Any function applied to a report: post-processing, which can only lose information.

    >>> import murmure as mu
    >>> from murmure.certify.divergence import max_loss
    >>> channel = mu.GRR(mu.Categories(4), epsilon=1.0).channel
    >>> parity = mu.Mapped(channel, lambda report: report % 2)
    >>> print(f"{max_loss(channel).epsilon:.4f} {max_loss(parity).epsilon:.4f}")
    1.0000 0.6201
    """

    channel: Channel
    function: Callable[[Any], Hashable]

    @property
    def inputs(self) -> int:
        return self.channel.inputs

    @property
    def words(self) -> int:
        return self.channel.words

    @property
    def deep(self) -> int:
        return self.channel.deep

    @property
    def slack(self) -> float:
        return self.channel.slack

    @cached_property
    def _fibres(self) -> dict[Hashable, list[Any]]:
        outcomes = self.channel.outcomes()
        if outcomes is None:
            raise InvalidParameter(
                "{kind} has too many reports to list: map fewer values.", kind=type(self.channel).__name__
            )
        fibres: dict[Hashable, list[Any]] = {}
        for y in outcomes:
            fibres.setdefault(self.function(y), []).append(y)
        return fibres

    def draw(self, x: Array, words: RandomWords) -> Array:
        reports = self.channel.draw(x, words)
        out = np.empty(len(reports), object)
        listed = reports.tolist() if reports.ndim == 1 else list(reports)  # numbers as the outcomes list them
        out[:] = [self.function(y) for y in listed]
        return out

    def prob(self, x: int, y: Any) -> Fraction:
        return sum((self.channel.prob(x, report) for report in self._fibres.get(y, [])), Fraction(0))

    def log_prob(self, x: Array, y: Array) -> Floats:
        probs = [self.prob(int(a), b) for a, b in zip(x, y, strict=True)]
        return np.array([math.log(p) if p else -math.inf for p in probs])

    def outcomes(self) -> list[Hashable]:
        return list(self._fibres)

    def report_bits(self) -> float:
        return math.log2(max(2, len(self._fibres)))

    def integers(self) -> dict[str, Any]:
        return {"law": "mapped", "of": self.channel.integers()}
