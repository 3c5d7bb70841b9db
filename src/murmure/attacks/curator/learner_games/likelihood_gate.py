"""How likely the noisy answers of a fit are on another table: the law of the noise is public, so this is exact."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from murmure.attacks.audits.audit_gates import Bound, Passage, RecordingGate
from murmure.central.base.bound_choice import BoundChoice
from murmure.central.base.bound_noise import BoundNoise
from murmure.central.base.gate import Gate, GateAnswer
from murmure.core.blocks import NoisySum
from murmure.core.random import Random
from murmure.core.types import Ints


class OtherQuestion(Exception):
    """On this table the learner asks something else than was answered: the answers cannot come from it."""


def log_likelihood(bound: Bound, truth: Any, answer: Any) -> float:
    """log P[answer], where the true sums (or scores) are these."""
    if isinstance(bound, BoundChoice):
        return float(bound.law.log_prob(np.asarray(truth, np.int64))[answer[0]])
    noise, total, at = np.asarray(answer, np.int64) - np.asarray(truth, np.int64), 0.0, 0
    for block, law in zip(bound.blocks, bound.laws, strict=True):
        total += float(np.sum(law.log_prob(noise[at : at + block.width])))
        at += block.width
    return total


class LikelihoodGate(Gate):
    """Gives the answers of an earlier fit, and adds up how likely they are on the rows that are fitted now."""

    def __init__(self, passages: Sequence[Passage], rng: Random) -> None:
        super().__init__(rng)
        self.passages, self.log_likelihood = passages, 0.0

    def add(self, question: str, total: Ints, bound: BoundNoise) -> NoisySum:
        answer = self._answer(question, total, bound)
        return NoisySum(bound.blocks, np.array(answer, np.int64), bound.laws)

    def choose(self, question: str, scores: Ints, bound: BoundChoice) -> int:
        return self._answer(question, scores, bound)[0]

    def _answer(self, question: str, truth: Ints, bound: Bound) -> tuple[int, ...]:
        if len(self.answers) == len(self.passages) or self.passages[len(self.answers)].question != question:
            raise OtherQuestion
        answer = self.passages[len(self.answers)].answer
        self.log_likelihood += log_likelihood(bound, truth, answer)
        self.answers.append(GateAnswer(question, bound, answer))
        return answer


def log_ratio(learner: Any, table: Any, other: Any, rng: Random) -> float:
    """Fit the learner to one table: log P[its answers | this table] - log P[the same | the other one]."""
    public = rng.child(0)  # what is drawn in public, such as first centres, is the same for both
    recorder = RecordingGate(public.child(0), rng.child(1))
    copy.copy(learner).fit(table, gate=recorder)
    replay = LikelihoodGate(recorder.passages, public.child(0))
    try:
        copy.copy(learner).fit(other, gate=replay)
    except OtherQuestion:
        return float("inf")
    mine = sum(log_likelihood(p.bound, p.truth, p.answer) for p in recorder.passages)
    return mine - replay.log_likelihood
