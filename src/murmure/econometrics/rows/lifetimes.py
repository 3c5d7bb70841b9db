"""Counts of events and of censored rows by group and time, for models of survival."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.schema import Schema
from murmure.econometrics.design.columns import (
    MAX_CELLS,
    MAX_COUNTS,
    bounds_of_domain,
    chosen_labels,
    grid_cuts,
    require_number,
    select_columns,
)
from murmure.econometrics.design.event_column import EventColumn, event_column_name, event_of
from murmure.econometrics.errors import EmptyCategory
from murmure.econometrics.model import OneRound
from murmure.econometrics.results.cumulative_counts import cells_between, count_cells
from murmure.statistics.estimates.cell_counts import CellCounts
from murmure.statistics.exact.cells import Cells

EVERYBODY = Phrase("everybody")


@dataclass(frozen=True)
class GroupLifetimes:
    """One group. at_risk[j]: rows with a time of times[j] or later; events[j]: rows with the event at times[j]."""

    label: str
    times: tuple[Fraction, ...]
    events: tuple[Fraction, ...]
    at_risk: tuple[Fraction, ...]

    @property
    def n(self) -> Fraction:
        return self.at_risk[0]


@dataclass(frozen=True)
class FollowUp:
    """The columns of a survival analysis.

    event: a column of two values, of which the second is the event; or a condition, state == 'dead'.
    """

    domain: Schema
    time: str
    event: str
    by: str | None = None
    groups: tuple[str, ...] = ()

    called: ClassVar[str] = ""  # its name in messages; "": the name of the class

    @property
    def owner(self) -> str:
        return self.called or type(self).__name__

    def __post_init__(self) -> None:
        owner = self.owner
        names = [*([self.by] if self.by else []), self._event_column_name, self.time]
        object.__setattr__(self, "domain", select_columns(owner, self.domain, names))
        time = require_number(owner, self.domain, self.time)
        _ = self.event_column
        if bounds_of_domain(time)[0] < 0:
            raise InvalidParameter(
                "{owner}.time: column {time!r} can be negative: {time_2}.",
                hint="time starts at 0; give the column a lower bound of 0",
                owner=owner,
                time=self.time,
                time_2=time.describe(),
            )
        if self.by is not None:
            object.__setattr__(self, "groups", chosen_labels(owner, self.domain, self.by, self.groups or None))
        elif self.groups:
            raise InvalidParameter(
                "{owner}.groups names groups, but there is no column `by`.", hint='by="ward"', owner=owner
            )

    @property
    def cells(self) -> int:
        """How many counts there are at one time: one for each label of the event in each group."""
        return self.domain[self._event_column_name].size * (1 if self.by is None else self.domain[self.by].size)

    @property
    def _event_column_name(self) -> str:
        return self.event if self.event in self.domain else str(event_column_name(self.event))

    @property
    def event_column(self) -> EventColumn:
        return event_of(self.owner, self.domain, self.event, "event")

    def refuse_empty(self, label: str) -> None:
        raise EmptyCategory(
            "group {label!r} of column {by!r} is empty: no party has a row in it.",
            hint="groups=(...) names those to compare",
            columns=[label],
            label=label,
            by=self.by,
        )


@dataclass(frozen=True)
class Lifetimes(FollowUp, OneRound):
    """The counts of a survival model. cuts: a public grid of times; () for the values of the column."""

    cuts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        cuts = grid_cuts(self.owner, self.domain, self.time, self.cuts or None, self.cells, what="cuts")
        object.__setattr__(self, "cuts", cuts)
        _ = self._question

    @property
    def _question(self) -> Cells:
        return count_cells(self.domain, self.time, self.cuts)

    def limit_in_words(self) -> str:
        """The limits between parties, for those who consider joining a study."""
        n, cells = self._question.shape[-1], self.cells
        limits = {"n": n, "cells": cells, "without": MAX_CELLS // cells, "with_grid": MAX_COUNTS // cells}
        if self.cuts:
            return Phrase(
                "rows are counted at {n} times of a public grid, in {cells} counts each; there may be {without} times "
                "at most without a public grid, and {with_grid} with one",
                **limits,
            )
        return Phrase(
            "rows are counted at {n} times, in {cells} counts each; there may be {without} times at most without a "
            "public grid, and {with_grid} with one",
            **limits,
        )

    def group_lifetimes(self, counted: CellCounts) -> list[GroupLifetimes]:
        """The lifetimes of every group. An empty group is refused by name."""
        counts = np.asarray(counted.counts)
        counts = counts.reshape(1, *counts.shape) if self.by is None else counts
        labels = [EVERYBODY] if self.by is None else list(self.domain[self.by].labels())
        times = [cell.high for cell in cells_between(self.domain[self.time], self.cuts)]
        beyond = bool(self.cuts) and times[-1] > Fraction(self.cuts[-1])  # then the last cell lies beyond the grid
        out, code = [], self.event_column.code
        for label in self.groups or (EVERYBODY,):
            lines = [list(map(Fraction, line)) for line in counts[labels.index(label)].tolist()]
            had, leavers = lines[code], [sum(line, Fraction(0)) for line in zip(*lines, strict=True)]
            at_risk = _from_the_end(leavers)
            if at_risk[0] <= 0 and counted.noise is None:
                self.refuse_empty(label)
            last = len(times) - beyond
            out.append(GroupLifetimes(label, tuple(times[:last]), tuple(had[:last]), tuple(at_risk[:last])))
        return out


def _from_the_end(counts: Sequence[Fraction]) -> list[Any]:
    out, total = [], Fraction(0)
    for v in reversed(counts):
        total += v
        out.append(total)
    return out[::-1]
