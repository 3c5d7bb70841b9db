"""What somebody can do with the very reports that a room has sent: guess, average, forge.

All of it is computed from the law of the plan and from the shares that the room has shown. Those shares are estimates,
and so are the guesses: they are those of a room whose shares are what was estimated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from murmure.attacks.person.averages import averaging
from murmure.attacks.person.bayes import bayes_guess
from murmure.certify.leverage import Leverage, leverages
from murmure.collector.service.answer_labels import labels_of
from murmure.collector.service.room import Room, figure_in
from murmure.core.random import Random
from murmure.core.types import Affine, Floats
from murmure.laws.hashed import Hashed
from murmure.local.base.hidden_attribute import HiddenOracle
from murmure.local.grr import GRR
from murmure.local.rappor import RAPPOR

FORGERS = 3  # in the room
TIMES = (1, 5, 20)  # reports about one answer
MAX_LISTED = 6  # different reports that are shown one by one
MAX_AVERAGED = 64  # answers: the law of many reports about one of them is a table that grows fast, with hashes too fast
SEED = 21  # where a success must be measured: the same figure at every look
NO_GAIN = 1e-9  # of a computed chance, which is a sum of floating-point numbers


@dataclass(frozen=True)
class ReportGuess:
    """One kind of report: how many sent it, whose answer it is taken for, and how often that is right, of 100."""

    report: str
    count: int
    guess: str
    right: float


@dataclass(frozen=True)
class RepeatedGuess:
    """Right guesses of 100 after so many reports: drawn anew each time, or from coins that are kept (else None)."""

    times: int
    fresh: float
    kept: float | None


class RoomAttack:
    """An attack on the first question of a room."""

    def __init__(self, room: Room) -> None:
        self.room, self.question, self.part = room, room.question, room.part

    @property
    def odds(self) -> float:
        """By how much all reports of a device change the odds of two answers, at most: three digits, rounded up."""
        odds = math.exp(self.room.results.epsilon_total)
        step = 10.0 ** (math.floor(math.log10(odds)) - 2)
        return math.ceil(odds / step - 1e-6) * step

    # -- one report

    @cached_property
    def prior(self) -> Floats:
        """The shares that the room has shown, each with one more person (Laplace's rule): none is ruled out."""
        return prior_from([figure.estimate for figure in self.room.figures], self.room.n)

    @cached_property
    def guess(self) -> tuple[float, float] | None:
        """Of 100 best guesses, how many are right with the report, and how many without it."""
        if self.question.by_mean:
            return None
        person, survey = self.room.results.plan.person, self.room.results.record.survey
        rng = Random.seeded(SEED)
        if survey.of_records:  # attributes are taken for independent
            result = bayes_guess(person, prior=self._priors(), attribute=self.question.name, rng=rng)
        else:
            result = bayes_guess(person, prior=list(self.prior), rng=rng)
        row = result.rows[0]
        return 100 * row.value, 100 * row.baseline

    def _priors(self) -> dict[str, list[float]]:
        """Of all questions that show shares; others are even. Fakes hide which one is real, so all of them matter."""
        results = self.room.results
        assert results.release is not None
        out = {}
        for question in results.record.survey.questions:
            figure = None if question.by_mean else figure_in(results.release.estimate, question)
            if figure is not None:
                out[question.name] = list(prior_from(figure.mean, self.room.n))
        return out

    @property
    def gains(self) -> bool:
        """Whether a report ever changes the best guess."""
        return self.guess is not None and self.guess[0] - self.guess[1] > 100 * NO_GAIN

    @property
    def likeliest(self) -> str:
        """The best guess of somebody who has no report."""
        return self.room.figures[int(self.prior.argmax())].label

    @cached_property
    def guesses(self) -> list[ReportGuess]:
        """For every report that can be sent, where it is an answer itself."""
        part, total = self.part, self.room.results.total
        if not isinstance(part, GRR) or part.domain.size > MAX_LISTED or self.room.results.record.survey.of_records:
            return []
        assert total is not None
        labels, k = labels_of(self.question), part.domain.size
        names = [labels.get(str(label), str(label)) for label in part.domain.labels()]
        law = np.array([[float(part.channel.prob(x, y)) for y in range(k)] for x in range(k)])
        joint = self.prior[:, None] * law
        after = joint / joint.sum(axis=0)
        return [
            ReportGuess(names[y], int(total.sum[y]), names[int(after[:, y].argmax())], 100 * float(after[:, y].max()))
            for y in range(k)
        ]

    # -- many reports

    @cached_property
    def repeated(self) -> list[RepeatedGuess]:
        """If everybody had sent so many reports about this question, all answers being equally likely."""
        if self.question.by_mean or isinstance(self.part, HiddenOracle) or self.part.domain.size > MAX_AVERAGED:
            return []
        if isinstance(self.part.channel, Hashed):
            return []
        rows = averaging(self.part, TIMES, rng=Random.seeded(SEED)).rows
        fresh, again = rows[: len(TIMES)], rows[len(TIMES) :]
        kept = [100 * row.value if isinstance(self.part, RAPPOR) else None for row in again]
        return [RepeatedGuess(times, 100 * row.value, one) for times, row, one in zip(TIMES, fresh, kept, strict=True)]

    @property
    def chance(self) -> float:
        """Right guesses of 100 without any report, all answers being equally likely."""
        return 100 / len(self.room.figures)

    # -- forged reports

    @property
    def forgers(self) -> int:
        return min(FORGERS, self.room.n)

    @cached_property
    def counts_for(self) -> float | None:
        """How many people who change their answers move a figure as far as one who forges the report, at most."""
        one = self._leverage
        if one is None:
            return None
        # What a report adds is counted from the lowest share, or from one end of the range; or from its middle.
        affine = self.part.affine()
        centred = self.question.by_mean and isinstance(affine, Affine) and affine.of != "code"
        low, high = (-0.5, 0.5) if centred else (0.0, 1.0)  # honest people, on average over their coins
        return float(max(one.up.max() - low, high - one.down.min()))

    @property
    def forged(self) -> float | None:
        """How far the forgers move the figure, compared with answering honestly, on average: a share, or the unit."""
        if self.counts_for is None:
            return None
        low, high = self.room.range
        return min(1.0, self.counts_for * self.forgers / self.room.n) * (high - low)

    def to_json(self) -> dict[str, Any]:
        """Shares, not hundreds; None where a question has no such figure."""
        guess = None if self.guess is None else [share / 100 for share in self.guess]
        return {
            "odds_at_most": self.odds,
            "right_with_report": None if guess is None else guess[0],
            "right_without_report": None if guess is None else guess[1],
            "repeated": [{"reports": one.times, "right": one.fresh / 100} for one in self.repeated],
            "forged_reports": self.forgers,
            "moved_at_most_on_average": self.forged,
        }

    @property
    def _leverage(self) -> Leverage | None:
        plan, survey = self.room.results.plan, self.room.results.record.survey
        numbers = [one.name for one in survey.questions if one.by_mean] if survey.of_records else []
        by_column = leverages(plan.person, plan.statistic, numbers)
        one = by_column.get(self.question.name, by_column.get(""))
        return None if one is None or one.reason is not None else one


def prior_from(shares: Any, people: int) -> Floats:
    shares = np.clip(np.asarray(shares, float), 0.0, 1.0)
    counts = people * shares / max(float(shares.sum()), 1e-9) + 1
    return np.asarray(counts / counts.sum())
