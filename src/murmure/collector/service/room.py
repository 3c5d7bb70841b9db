"""A room that has answered: its figures, as a projector shows them. Everything follows from the tally.

What an attacker can do with these reports is in room_attack.py, and the sentences about both are in room_words.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from murmure.collector.service.answer_labels import labels_of
from murmure.collector.service.results import LEVEL, SurveyResults
from murmure.collector.survey.question import Question
from murmure.core.estimates.column_estimates import Estimates
from murmure.core.estimates.method_words import EXACT_INVERSION
from murmure.core.types import Affine

MAX_PICTURED = 8  # answers
MAX_LONG_PICTURED, LONG = 6, 24  # where one has more letters than this: each may need two lines


@dataclass(frozen=True)
class RoomFigure:
    """A share or a mean. estimate, low, high: cut to what is possible; raw: the estimate before."""

    label: str
    estimate: float
    low: float
    high: float
    raw: float

    @property
    def cut(self) -> bool:
        """Whether chance carried the estimate to where no share, or no mean, can be."""
        return self.raw != self.estimate

    @property
    def unlikely(self) -> bool:
        """Whether even the figure that fits best would rarely give such reports: the interval is that one point."""
        return self.low == self.high


class Room:
    """What a class sees of its first question. `Room.of` says whether there is anything to see."""

    @classmethod
    def of(cls, results: SurveyResults) -> Room | None:
        """None as long as nobody has answered, or no report was about this question."""
        room = None if results.total is None else cls(results)
        return room if room is not None and room.estimate is not None else None

    def __init__(self, results: SurveyResults) -> None:
        assert results.release is not None
        self.results = results
        self.question: Question = results.record.survey.questions[0]
        self.n = results.n

    @cached_property
    def estimate(self) -> Any:
        """Of this question alone; None where it has no figure yet."""
        assert self.results.release is not None
        estimate = self.results.release.estimate
        if not isinstance(estimate, Estimates):
            return estimate
        return figure_in(estimate, self.question)

    @cached_property
    def figures(self) -> list[RoomFigure]:
        """Of every answer, in the order of the question; of a number, the mean."""
        labels = labels_of(self.question)
        low, high = self.range
        ends = np.clip(np.asarray(self.estimate.interval(LEVEL), float).reshape(-1, 2), low, high)
        raw = np.asarray(self.estimate.mean, float).reshape(-1)
        names = [str(label) for label in self.estimate.labels]
        return [
            RoomFigure(labels.get(name, name), min(max(float(value), low), high), float(a), float(b), float(value))
            for name, value, (a, b) in zip(names, raw, ends, strict=True)
        ]

    @property
    def range(self) -> tuple[float, float]:
        return (self.question.low, self.question.high) if self.question.by_mean else (0.0, 1.0)

    @property
    def headline(self) -> RoomFigure | None:
        """Shown large: the mean of a number, and of yes and no the share of yes.

        Of several answers none: the one with the largest estimate is chosen after the fact, and its interval would hold
        less often than it says.
        """
        return self.figures[-1] if self.question.by_mean or self.question.kind == "yes-no" else None

    @property
    def pictured(self) -> list[RoomFigure]:
        """The first answers of the question, as many as a projector has room for."""
        if self.headline is not None:
            return [self.headline]
        long = any(len(str(figure.label)) > LONG for figure in self.figures)
        return self.figures[: MAX_LONG_PICTURED if long else MAX_PICTURED]

    @property
    def holds_exactly(self) -> bool:
        """Whether the intervals hold at least as often as they say, for any shares and any number of people."""
        return bool(self.estimate.interval_and_method(LEVEL)[1] == EXACT_INVERSION)

    def at(self, value: float) -> float:
        """Where a value lies in the picture, in per cent of its width."""
        low, high = self.range
        return round(100 * (value - low) / (high - low), 2)

    # -- the law

    @property
    def part(self) -> Any:
        """The mechanism of this question; of a record, that of its column."""
        person = self.results.plan.person
        if not self.results.record.survey.of_records:
            return person
        return dict(zip(person.columns, person.parts, strict=True))[self.question.name]

    @property
    def shown_by_some(self) -> bool:
        """Whether a report is about some of the questions only."""
        return self.results.record.survey.of_records and bool(self.results.plan.person.shows_some_columns)

    @cached_property
    def hundred(self) -> tuple[float, float] | None:
        """Of 100 people who hold an answer, how many send a report that fits it; and of 100 who do not."""
        affine = self.part.affine()
        if not isinstance(affine, Affine) or affine.of == "code":
            return None
        q, slope = float(affine.offset[0]), float(affine.slope[0])
        return 100 * (q + slope), 100 * q


def figure_in(estimates: Estimates, question: Question) -> Any:
    """Of one of several questions: its mean, or its shares. None where no report was about it."""
    if question.by_mean:
        return estimates.means.by_column.get(question.name)
    found = estimates[question.name]
    return None if found.estimator is None else found
