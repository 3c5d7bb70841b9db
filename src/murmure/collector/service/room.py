"""A room that has answered: its figure as one picture, and what an attacker can do with these very reports.

Everything follows from the tally and from the law of the plan; nothing is simulated where the law can be added up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from murmure.attacks.person.averages import averaging
from murmure.attacks.person.bayes import bayes_guess
from murmure.certify.leverage import Leverage, leverages
from murmure.collector.service.results import LEVEL, SurveyResults, labels_of
from murmure.collector.survey.question import Question
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.random import Random
from murmure.core.types import Affine, Floats
from murmure.laws.hashed import Hashed
from murmure.local.grr import GRR

FORGERS = 3  # in the room
TIMES = (1, 5, 20)  # reports about one answer
MAX_LISTED = 12  # different reports that are shown one by one
MAX_AVERAGED = 64  # answers: the law of many reports about one of them is a table that grows fast, with hashes too fast
SEED = 21  # where a success must be measured: the same figure at every look


@dataclass(frozen=True)
class RoomFigure:
    """A share or a mean. low, high: its interval, cut to what is possible."""

    label: str
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class ReportGuess:
    """One kind of report: how many sent it, whose answer it is taken for, and how often that is right, of 100."""

    report: str
    count: int
    guess: str
    right: float


class Room:
    """What a class sees of its first question. Needs at least one report."""

    def __init__(self, results: SurveyResults) -> None:
        assert results.release is not None
        self.results = results
        self.question: Question = results.record.survey.questions[0]
        self.n = results.n

    @cached_property
    def _estimate(self) -> Any:
        assert self.results.release is not None
        estimate = self.results.release.estimate
        if not isinstance(estimate, Estimates):
            return estimate
        means = estimate.means.by_column
        return means[self.question.name] if self.question.by_mean else estimate[self.question.name]

    @cached_property
    def figures(self) -> list[RoomFigure]:
        labels = labels_of(self.question)
        low, high = self.range
        ends = np.clip(np.asarray(self._estimate.interval(LEVEL), float).reshape(-1, 2), low, high)
        values = np.clip(np.asarray(self._estimate.mean, float).reshape(-1), low, high)
        names = [str(label) for label in self._estimate.labels]
        return [
            RoomFigure(labels.get(name, name), float(value), float(a), float(b))
            for name, value, (a, b) in zip(names, values, ends, strict=True)
        ]

    @property
    def range(self) -> tuple[float, float]:
        return (self.question.low, self.question.high) if self.question.by_mean else (0.0, 1.0)

    @property
    def figure(self) -> RoomFigure:
        """Shown large: yes; of several answers, the one with the largest share; of a number, the mean."""
        if self.question.kind == "yes-no":
            return self.figures[-1]
        return max(self.figures, key=lambda one: one.estimate)

    @property
    def half_width(self) -> float:
        return (self.figure.high - self.figure.low) / 2

    def at(self, value: float) -> float:
        """Where a value lies in the picture, in per cent of its width."""
        low, high = self.range
        return round(100 * (value - low) / (high - low), 2)

    # -- the law

    @property
    def _part(self) -> Any:
        """The mechanism of this question; of a record, that of its column."""
        person = self.results.plan.person
        if not self.results.record.survey.of_records:
            return person
        return dict(zip(person.columns, person.parts, strict=True))[self.question.name]

    @cached_property
    def hundred(self) -> tuple[float, float] | None:
        """Of 100 people who hold an answer, how many send a report that fits it; and of 100 who do not."""
        affine = self._part.affine()
        if not isinstance(affine, Affine) or affine.of == "code":
            return None
        q, slope = float(affine.offset[0]), float(affine.slope[0])
        return 100 * (q + slope), 100 * q

    # -- the attack

    @cached_property
    def prior(self) -> Floats:
        """The shares that the room has shown, each with one more person (Laplace's rule): none is ruled out."""
        shares = np.clip(np.asarray(self._estimate.mean, float), 0.0, 1.0)
        counts = self.n * shares / max(float(shares.sum()), 1e-9) + 1
        return np.asarray(counts / counts.sum())

    @cached_property
    def guess(self) -> tuple[float, float] | None:
        """Of 100 best guesses, how many are right with the report, and how many without it."""
        if self.question.by_mean:
            return None
        row = bayes_guess(self._part, prior=list(self.prior), rng=Random.seeded(SEED)).rows[0]
        return 100 * row.value, 100 * row.baseline

    @cached_property
    def guesses(self) -> list[ReportGuess]:
        """For every report that can be sent, where it is an answer itself."""
        part, total = self._part, self.results.total
        if not isinstance(part, GRR) or part.domain.size > MAX_LISTED or self.results.record.survey.of_records:
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

    @cached_property
    def repeated(self) -> list[tuple[int, float]]:
        """If everybody had answered so many times, each time with a new draw: right guesses of 100, at even odds."""
        if self.question.by_mean or isinstance(self._part.channel, Hashed) or self._part.domain.size > MAX_AVERAGED:
            return []
        rows = averaging(self._part, TIMES, rng=Random.seeded(SEED)).rows
        first = rows[0].attacker
        return [(int(row.at or 0), 100 * row.value) for row in rows if row.attacker == first]

    @property
    def chance(self) -> float:
        """Right guesses of 100 without any report, at even odds."""
        return 100 / len(self.figures)

    @property
    def forgers(self) -> int:
        return FORGERS

    @cached_property
    def forged(self) -> float | None:
        """How far so many forged reports among these can have moved the figure, at most: a share, or the unit."""
        one = self._leverage()
        if one is None:
            return None
        low, high = self.range
        return one.largest * min(FORGERS, self.n) / self.n * (high - low)

    @property
    def counts_for(self) -> float | None:
        one = self._leverage()
        return None if one is None else one.largest

    def _leverage(self) -> Leverage | None:
        plan, survey = self.results.plan, self.results.record.survey
        numbers = [one.name for one in survey.questions if one.by_mean] if survey.of_records else []
        by_column = leverages(plan.person, plan.statistic, numbers)
        one = by_column.get(self.question.name, by_column.get(""))
        return None if one is None or one.reason is not None else one
