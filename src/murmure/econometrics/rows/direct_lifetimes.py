"""Events and rows at risk, counted directly on rows in the clear, at every time of a row."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from murmure.core.domain import Interval
from murmure.core.errors import Phrase
from murmure.core.schema import Schema
from murmure.econometrics.design.columns import MAX_CELLS, require_number
from murmure.econometrics.results.provenance import How, how_read_directly
from murmure.econometrics.rows.direct_rows import DirectRows, can_read_directly
from murmure.econometrics.rows.lifetimes import EVERYBODY, FollowUp, GroupLifetimes
from murmure.statistics.count import Count
from murmure.statistics.expressions.factors import rounded_columns
from murmure.statistics.expressions.terms import grid_of


def needs_direct_rows(
    owner: str, domain: Schema, time: str, cells: int, grid: Any, data: Any, privacy: Any, engine: Any, ledger: Any
) -> bool:
    """Whether there are too many possible times to count without a grid, and rows can be read directly.

    cells: how many counts there are at one time.
    """
    too_many = require_number(owner, domain, time).size * cells > MAX_CELLS
    return too_many and grid is None and ledger is None and can_read_directly(data, privacy, engine)


def count_lifetimes(follow_up: FollowUp, data: Any) -> tuple[list[GroupLifetimes], How]:
    """The lifetimes of every group, all at the same times. An empty group is refused by name."""
    rows = DirectRows.load(follow_up.owner, follow_up.domain, data)
    domain: Any = follow_up.domain[follow_up.time]
    codes, place = np.unique(rows.codes[follow_up.time], return_inverse=True)
    first, step = grid_of(domain)
    last = step / 2 if isinstance(domain, Interval) else Fraction(0)  # rows of a cell count at its upper end
    times = tuple(first + step * code + last for code in codes.tolist())
    event = follow_up.event_column
    had = rows.codes[event.column] == event.code
    labels = [] if follow_up.by is None else list(follow_up.domain[follow_up.by].labels())
    out = []
    for label in follow_up.groups or (EVERYBODY,):
        here = np.ones(rows.n, bool) if follow_up.by is None else rows.codes[follow_up.by] == labels.index(label)
        if not here.any():
            follow_up.refuse_empty(label)
        events = np.bincount(place[here & had], minlength=len(codes))
        at_risk = np.bincount(place[here], minlength=len(codes))[::-1].cumsum()[::-1]
        out.append(GroupLifetimes(label, times, *(tuple(map(Fraction, line.tolist())) for line in (events, at_risk))))
    time_count = len(codes)
    way = Phrase("counted at their own {n:,} times", n=time_count)
    how = how_read_directly(Count(domain), rows.n, rows.tables, 1, rounded_columns(rows.domain), way)
    return out, how
