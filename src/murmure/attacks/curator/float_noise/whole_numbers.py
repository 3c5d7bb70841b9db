"""Noise of this package, which is drawn on the whole numbers: one release with as many noisy counts as are wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from murmure.central.base.bound_noise import BoundNoise
from murmure.central.base.gate import Gate
from murmure.core.blocks import NoiseLaw
from murmure.core.domain import Categories
from murmure.core.random import Random
from murmure.core.types import Floats, Ints, Mask, Noise
from murmure.plan.plan import Plan
from murmure.run.run import run
from murmure.statistics.histogram import Histogram


@dataclass(frozen=True)
class WholeNumbers:
    """A histogram with this noise: each cell is a count, with a draw of its own at the whole epsilon."""

    noise: Noise

    def counts(self, people: Ints, rng: Random) -> tuple[Floats, NoiseLaw]:
        """Noisy counts of cells with so many people, and the law of what was added."""
        plan = Plan(Histogram(Categories(len(people))), curator=self.noise)
        gate = Gate(rng)
        run(plan, np.repeat(np.arange(len(people)), people), rng=rng, gate=gate)
        bound = gate.answers[-1].bound
        assert isinstance(bound, BoundNoise) and len(bound.laws) == 1
        return np.array(gate.answers[-1].answer, np.float64), bound.laws[0]

    @staticmethod
    def is_possible(y: Floats, x: float, law: NoiseLaw) -> Mask:
        """Whether the law's integers leave y a chance when the true count is x. (What is cut to a range keeps it.)"""
        away, where = np.unique((y - x).astype(np.int64), return_inverse=True)
        return np.array([law.prob(int(z)) > 0 for z in away])[where]  # type: ignore[attr-defined]
