"""The one gate: the only place in the package where noise is drawn or added, or a choice is drawn, for a release.

A test walks the source and refuses any other. An audit passes another gate (attacks/audits/replay_audit.py), which
sees every question, the true answer, and how far one person can move it according to the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from murmure.central.base.bound_choice import BoundChoice
from murmure.central.base.bound_noise import BoundNoise
from murmure.central.base.noise_shares import BoundShares
from murmure.core.blocks import NoisySum
from murmure.core.random import Random, random_or_secure
from murmure.core.types import Ints, PostProcessed


@dataclass(frozen=True)
class GateAnswer:
    """One answer of the gate: the question's digest, the noise or choice bound to it, and what was answered."""

    question: str
    bound: BoundNoise | BoundChoice
    answer: tuple[int, ...] = field(repr=False)


class Gate:
    """Adds noise, and records the answers. It does not keep the true sum."""

    def __init__(self, rng: Random | None = None) -> None:
        self.rng = random_or_secure(rng, "Gate")
        self.answers: list[GateAnswer] = []

    def add(self, question: str, total: Ints, bound: BoundNoise) -> NoisySum:
        """The sum with the noise of each block: a fresh draw for every entry, also where nobody was counted."""
        total = _check_vector(total, bound.width)
        noise = [law.draw_noise(block.width, self.rng) for block, law in zip(bound.blocks, bound.laws, strict=True)]
        # Modulo 2**64: a wrapped sum is a function of the noisy one, so it costs nothing; plans keep sums far below.
        noisy = total + np.concatenate(noise)
        # A function of the noisy sum costs nothing.
        noisy = bound.noise.post_process(noisy) if isinstance(bound.noise, PostProcessed) else noisy
        self.answers.append(GateAnswer(question, bound, tuple(noisy.tolist())))
        return NoisySum(bound.blocks, noisy, bound.laws)

    def share(self, bound: BoundShares, rng: Random | None = None) -> Ints:
        """One party's share of the noise, to be added before masking; a fresh draw for every entry.

        Not recorded as an answer: the share only ever goes into a masked sum. `rng`: the party's, if it has another one
        than the gate.
        """
        rng = self.rng if rng is None else random_or_secure(rng, "Gate.share")
        return np.concatenate(
            [law.draw_noise(block.width, rng) for block, law in zip(bound.blocks, bound.shares, strict=True)]
        )

    def note_answer(self, question: str, bound: BoundShares, answer: Sequence[int]) -> None:
        """Record an answer that came out of a masked sum with its noise in it."""
        if len(answer) != bound.width:
            raise TypeError(f"the gate takes {bound.width} whole numbers, got {len(answer)}")
        self.answers.append(GateAnswer(question, bound, tuple(int(value) for value in answer)))

    def choose(self, question: str, scores: Ints, bound: BoundChoice) -> int:
        """One of the candidates, the better ones more often."""
        chosen = int(bound.law.draw_choice(_check_vector(scores, bound.candidates), self.rng))
        self.answers.append(GateAnswer(question, bound, (chosen,)))
        return chosen


def _check_vector(vector: Ints, width: int) -> Ints:
    vector = np.asarray(vector)
    if vector.shape != (width,) or vector.dtype != np.int64:
        raise TypeError(f"the gate takes {width} whole numbers (int64), got {vector.dtype} of shape {vector.shape}")
    return vector
