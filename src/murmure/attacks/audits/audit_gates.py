"""The two gates of the replay audit: one records questions and answers, the other replays the answers and checks."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from murmure.central.base.bound_choice import BoundChoice
from murmure.central.base.bound_noise import BoundNoise
from murmure.central.base.gate import Gate, GateAnswer
from murmure.core.blocks import NoisySum
from murmure.core.errors import MurmureError, Phrase, shorten
from murmure.core.random import Random
from murmure.core.types import Ints, Relation

Bound = BoundNoise | BoundChoice
SEED = 2602_17454  # the paper's number on arXiv
SLACK = 1e-6  # log-probabilities are floats


class AuditFailed(MurmureError, AssertionError):
    """A run depends on one person more than it declares."""


@dataclass(frozen=True)
class Passage:
    """One passage through the gate, with the true answer: for the holder of the data only."""

    question: str
    bound: Bound
    truth: tuple[int, ...] = field(repr=False)
    answer: tuple[int, ...] = field(repr=False)


MASKED = Phrase(
    "an answer comes from a masked sum that already contains the parties' noise, so the audit cannot inspect it."
)
MASKED_HINT = Phrase(
    "audit the same plan without parties=, on the pooled rows: one person changes the sum by the same amount"
)


class RecordingGate(Gate):
    """A gate that keeps the true answers. Its noise has a separate stream, so that a replay can do without it."""

    def __init__(self, rng: Random | None = None, noise: Random | None = None) -> None:
        super().__init__(rng or Random.seeded(SEED))
        self._noise = noise or Random.seeded(SEED + 1)
        self.passages: list[Passage] = []

    def add(self, question: str, total: Ints, bound: BoundNoise) -> NoisySum:
        with self._drawing_noise():
            noisy = super().add(question, total, bound)
        self.passages.append(Passage(question, bound, tuple(np.asarray(total).tolist()), self.answers[-1].answer))
        return noisy

    @contextmanager
    def _drawing_noise(self) -> Iterator[None]:
        kept, self.rng = self.rng, self._noise
        try:
            yield
        finally:
            self.rng = kept

    def choose(self, question: str, scores: Ints, bound: BoundChoice) -> int:
        with self._drawing_noise():
            chosen = super().choose(question, scores, bound)
        self.passages.append(Passage(question, bound, tuple(np.asarray(scores).tolist()), (chosen,)))
        return chosen

    def note_answer(self, question: str, bound: Any, answer: Any) -> None:
        """Between parties nobody holds the true sum, so there is nothing to compare."""
        raise AuditFailed(MASKED, hint=MASKED_HINT)


class ReplayGate(Gate):
    """A gate that gives the answers of an earlier run, and checks that the questions deserve them."""

    def __init__(self, passages: Sequence[Passage], relation: Relation, rng: Random | None = None) -> None:
        super().__init__(rng or Random.seeded(SEED))
        self.passages, self.relation = passages, relation
        self.failed: AuditFailed | None = None
        self.closest, self.loss = 0.0, 0.0

    def add(self, question: str, total: Ints, bound: BoundNoise) -> NoisySum:
        frozen = self._next(question, bound)
        if np.shape(total) != (bound.width,) or np.asarray(total).dtype != np.int64:
            raise TypeError(f"the gate takes {bound.width} whole numbers (int64), got shape {np.shape(total)}")
        truth, at = np.asarray(total).tolist(), 0
        for block, declared in zip(bound.blocks, bound.sensitivities(), strict=True):
            part = slice(at, at + block.width)
            at += block.width
            steps = [abs(new - old) for new, old in zip(truth[part], frozen.truth[part], strict=True)]
            moved = sum(steps) if bound.norm == "l1" else sum(step * step for step in steps)
            squared = Phrase(" squared") if bound.norm == "l2" else ""
            what = Phrase("block {block!r} in {norm}{squared}", block=block.name, norm=bound.norm, squared=squared)
            self._check(what, moved, declared)
        # With delta > 0 a single answer may be more telling than e**epsilon: only pure epsilon is checked per answer.
        if bound.delta == 0 and math.isfinite(bound.cost.epsilon):
            self._check_ratio(self._ratio_of_sums(frozen, truth, bound), bound)
        self.answers.append(GateAnswer(question, bound, frozen.answer))
        return NoisySum(bound.blocks, np.array(frozen.answer, np.int64), bound.laws)

    def choose(self, question: str, scores: Ints, bound: BoundChoice) -> int:
        frozen = self._next(question, bound)
        steps = [abs(new - old) for new, old in zip(np.asarray(scores).tolist(), frozen.truth, strict=True)]
        self._check(Phrase("a score"), max(steps), bound.sensitivity)
        if bound.delta == 0 and math.isfinite(bound.cost.epsilon):
            first, second = (
                bound.law.log_prob(np.asarray(s, np.int64))[frozen.answer[0]] for s in (frozen.truth, scores)
            )
            self._check_ratio(float(first) - float(second), bound)
        self.answers.append(GateAnswer(question, bound, frozen.answer))
        return frozen.answer[0]

    def note_answer(self, question: str, bound: Any, answer: Any) -> None:
        self._fail(MASKED, MASKED_HINT)

    def check_all_asked(self) -> None:
        """After the second run: no question was left out, and none was added."""
        if self.failed is not None:
            raise self.failed
        if len(self.answers) != len(self.passages):
            raise AuditFailed(
                "the second run asked {answer_count} questions and the first {passage_count}: the number of "
                "questions depends on one person.",
                hint="fix the number of questions in advance, from public constants",
                answer_count=len(self.answers),
                passage_count=len(self.passages),
            )

    # -- the checks

    @property
    def _here(self) -> str:
        return Phrase("question {number} of {count}", number=len(self.answers) + 1, count=len(self.passages))

    def _fail(self, message: str, hint: str) -> None:
        """Stored as well as raised: the audited code may catch it, but cannot hide it."""
        self.failed = self.failed or AuditFailed(message, hint=hint)
        raise self.failed

    def _next(self, question: str, bound: Bound) -> Passage:
        if len(self.answers) == len(self.passages):
            self._fail(
                Phrase(
                    "the second run asks more questions than the {passage_count} of the first: the number of "
                    "questions depends on one person.",
                    passage_count=len(self.passages),
                ),
                Phrase("fix the number of questions in advance, from public constants"),
            )
        frozen = self.passages[len(self.answers)]
        if question != frozen.question:
            self._fail(
                Phrase(
                    "{here} differs in the second run ({question}, not {frozen_question}): what is asked depends on "
                    "one person.",
                    here=self._here,
                    question=shorten(question, 20),
                    frozen_question=shorten(frozen.question, 20),
                ),
                Phrase("a question may depend only on public constants and on earlier noisy answers"),
            )
        for name, (first, second) in _differences(_public_facts(frozen.bound), _public_facts(bound)).items():
            self._fail(
                Phrase(
                    "{here} has a different {name} in the second run ({second}, not {first}): the noise depends "
                    "on one person.",
                    here=self._here,
                    name=name,
                    second=shorten(second),
                    first=shorten(first),
                ),
                Phrase("scale noise by public bounds and by noisy answers, never by the data"),
            )
        if bound.relation != self.relation:
            self._fail(
                Phrase(
                    "{here} is protected under the relation {relation!r}, but the audit is for {this_relation!r}.",
                    here=self._here,
                    relation=bound.relation,
                    this_relation=self.relation,
                ),
                Phrase("state one neighbouring relation, and audit that one"),
            )
        return frozen

    def _check(self, what: str, moved: int, declared: int) -> None:
        self.closest = max(self.closest, moved / declared)
        if moved > declared:
            self._fail(
                Phrase(
                    "{here}: one person changes {what} by {moved}, more than the declared {declared}.",
                    here=self._here,
                    what=what,
                    moved=moved,
                    declared=declared,
                ),
                Phrase("the declared sensitivity is too small, or the contribution of a row is not bounded"),
            )

    @staticmethod
    def _ratio_of_sums(frozen: Passage, truth: list[int], bound: BoundNoise) -> float:
        ratio, at = 0.0, 0
        for block, law in zip(bound.blocks, bound.laws, strict=True):
            part = slice(at, at + block.width)
            at += block.width
            answer = np.array(frozen.answer[part], np.int64)
            first, second = (answer - np.array(t[part], np.int64) for t in (frozen.truth, truth))
            ratio += float(np.sum(law.log_prob(first) - law.log_prob(second)))
        return ratio

    def _check_ratio(self, ratio: float, bound: Bound) -> None:
        """The released answer is at most e**epsilon times likelier on one table than on the other."""
        self.loss += ratio
        if not abs(ratio) <= bound.cost.epsilon + SLACK:
            self._fail(
                Phrase(
                    "{here}: its answer reveals {ratio:.6g} about one person, but costs {epsilon:.6g}.",
                    here=self._here,
                    ratio=abs(ratio),
                    epsilon=bound.cost.epsilon,
                ),
                Phrase("the noise is too small for its stated cost"),
            )


def _public_facts(bound: Bound) -> dict[str, Any]:
    """All that is public about an answer."""
    out = {
        "kind": type(bound).__name__,
        "relation": bound.relation,
        "number of rows of a person": bound.rows,
        "cost": (bound.cost, bound.epsilon, bound.delta),
        "law": json.dumps(bound.integers(), sort_keys=True, default=str),
    }
    if isinstance(bound, BoundNoise):
        return {**out, "norm": bound.norm, "sensitivity": bound.sensitivities(), "blocks": bound.blocks}
    return {**out, "sensitivity": bound.sensitivity, "candidates": bound.candidates}


def _differences(one: dict[str, Any], other: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What differs, the sensitivity before what follows from it."""
    names = sorted(one.keys() | other.keys(), key=lambda name: (name != "sensitivity", name))
    pairs = {name: (one.get(name), other.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
