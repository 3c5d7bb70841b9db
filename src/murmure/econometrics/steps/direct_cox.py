"""Cox's regression in the clear, on rows sorted by time: any number of times, and no grid.

In the order of time, the rows at risk are those from some row to the last, and their sums are cumulative sums from the
end. With A(t) = sum_{s <= t} sum_{k < d_s} 1 / (S0 - k/d D0) and, for a row with the event at t,
B(t) = sum_{k < d_t} (k/d) / (S0 - k/d D0)      (partial_likelihood.py; Breslow's ties have B = 0 and no D)

    sum_t sum_k (S1 - k/d D1) / (S0 - k/d D0) = sum_i v_i x_i,      v_i = w_i (A(t_i) - event_i B(t_i))
    sum_t sum_k (S2 - k/d D2) / (S0 - k/d D0) = sum_i v_i x_i x_i'

so a step takes one matrix product, n p^2 operations, and no sum for each time. Steps are decided as between parties, in
the same coordinates (coordinates.py), so both give the same figures up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import Phrase
from murmure.econometrics.algebra.matrices import Vector, symmetric
from murmure.econometrics.algebra.rounding import Floats, to_floats
from murmure.econometrics.design.design_matrix import Design
from murmure.econometrics.design.scales import bounds_of
from murmure.econometrics.results.hazards import Hazards
from murmure.econometrics.results.provenance import how_read_directly
from murmure.econometrics.rows.cox_rows import CAP
from murmure.econometrics.rows.direct_rows import DirectRows
from murmure.econometrics.steps.coordinates import Coordinates
from murmure.econometrics.steps.partial_likelihood import AtRisk, CoxRegression, CoxStart
from murmure.econometrics.steps.time_grids import (
    check_cox,
    grid_in_words,
    grid_texts,
    max_times,
    possible_times,
    time_text,
)
from murmure.run.dialogue import Dialogue
from murmure.statistics.exact.function_sums import FunctionSums
from murmure.statistics.exact.function_sums_by_place import FunctionSumsByPlace
from murmure.statistics.expressions.factors import rounded_columns

Ints = NDArray[np.intp]


def fit_cox_directly(
    design: Design, time: str, event: str, grid: Sequence[Any], rounds: int, ties: str, data: Any, bounded: bool
) -> Hazards:
    """The regression on these tables in the clear. grid: public times, or () for the times themselves.

    bounded: a schema gives the possible times. If there are few enough of them for sums between parties, they are the
    times of the result, as there; else the times of the rows are.
    """
    check_cox("cox", design, time, event, rounds, ties)
    texts = grid_texts("cox", design, time, grid)
    rows = DirectRows.load("cox", design.domain, data)
    sorted_rows = _SortedRows.of(rows, time, event, design, [Fraction(text) for text in texts], ties, bounded)
    words = sorted_rows.words or grid_in_words(time, sorted_rows.times, given=bool(texts))
    regression = CoxRegression(design, time, event, ties, rounds, words)
    dialogue: Dialogue[Callable[[], Any], Hazards] = Dialogue(regression.steps(sorted_rows))
    while dialogue.question is not None:
        dialogue.reply(dialogue.question())
    taken = len(dialogue.answers)
    way = Phrase("sorted by time, in {n} steps", n=taken)
    whole = sorted_rows.start_of(regression.coordinates)
    how = how_read_directly(whole, rows.n, rows.tables, taken, rounded_columns(rows.domain), way)
    return replace(dialogue.result, how=how)


@dataclass(frozen=True, eq=False)
class _SortedRows:
    """Rows sorted by time. A question is a function without arguments, which is called at once."""

    rows: DirectRows
    time: str
    event: str
    ties: str
    times: Sequence[Fraction]
    words: str  # describes the times, if there is no grid
    order: Ints
    place: Ints  # index of the time of each row, in this order
    had_event: Floats

    @classmethod
    def of(
        cls, rows: DirectRows, time: str, event: str, design: Design, grid: Sequence[Fraction], ties: str, bounded: bool
    ) -> _SortedRows:
        when, had_event = rows.floats([time, event])
        times, words = list(grid), ""
        low, high, step = bounds_of(design.domain, time)
        if not times and bounded and possible_times(design, time) <= max_times(len(design.terms), ties):
            times = [low + step * i for i in range(int((high - low) / step) + 1)]
        if not times:
            times = [Fraction(v) for v in np.unique(when).tolist()]
            words = Phrase(
                "Times: the {n:,} different values of {time} in the rows, {low} to {high}.",
                n=len(times),
                time=time,
                low=time_text(times[0]),
                high=time_text(times[-1]),
            )
        at = np.array([float(t) for t in times])
        place = np.minimum(np.searchsorted(at, when, side="left"), len(times) - 1)
        order = np.argsort(place, kind="stable")
        return cls(rows, time, event, ties, times, words, order, place[order], had_event[order])

    # -- computed once

    @cached_property
    def _events(self) -> Ints:
        """d_t, the number of events at every time."""
        return np.bincount(self.place, self.had_event, len(self.times)).astype(np.intp)

    @cached_property
    def _with_events(self) -> Ints:
        return np.nonzero(self._events)[0]

    @cached_property
    def _first(self) -> Ints:
        """The first row at risk at every time with events; so are all rows after it."""
        return np.searchsorted(self.place, self._with_events, side="left")

    @cached_property
    def _until(self) -> Ints:
        """How many times with events there are up to the time of every row."""
        return np.searchsorted(self._with_events, self.place, side="right")

    @cached_property
    def _deaths(self) -> tuple[Ints, Floats]:
        """The time of every event, by its index, and k/d; 0 with Breslow's ties."""
        d = self._events[self._with_events]
        which = np.repeat(np.arange(len(d)), d)
        if self.ties != "efron":
            return which, np.zeros(len(which))
        k = np.arange(len(which)) - np.repeat(np.cumsum(d) - d, d)
        return which, k / d[which]

    # -- questions

    def start_of(self, coordinates: Coordinates) -> FunctionSumsByPlace:
        """The statistic of the first round; its sums are exact, as between parties, since they decide coordinates."""
        p, scales = len(coordinates.terms) - 1, coordinates.scales[1:]
        inputs = (self.time, self.event, *coordinates.expressions[1:])
        settings = ("start", str(p), *map(str, scales), str(self.times[-1]))
        return FunctionSumsByPlace(
            FunctionSums(self.rows.domain, "cox", inputs, (), settings), 1, 2 * p + p * (p + 1) // 2
        )

    def ask_start(self, coordinates: Coordinates) -> Callable[[], Any]:
        return lambda: self.rows.sums(self.start_of(coordinates))

    def interpret_start(self, answer: Any) -> CoxStart:
        sums = [Fraction(v) for v in answer.sums[1:]]
        p = next(p for p in range(1, len(sums) + 1) if 2 * p + p * (p + 1) // 2 == len(sums))
        return CoxStart(
            self.rows.n, tuple(self._events.tolist()), tuple(sums[:p]), tuple(sums[p : 2 * p]), sums[2 * p :]
        )

    def ask_step(self, coordinates: Coordinates, at: Vector, start: CoxStart) -> Callable[[], AtRisk]:
        return lambda: self._at_risk(self._columns(coordinates, start), to_floats(at))

    def interpret_step(self, answer: Any, at: Vector, start: CoxStart) -> AtRisk:
        assert isinstance(answer, AtRisk)
        return answer

    def _columns(self, coordinates: Coordinates, start: CoxStart) -> Floats:
        """Columns in the order of time, minus their means: hazards stay the same, and sums keep their digits."""
        # Kept between steps, since most steps use the coordinates of the step before.
        known: tuple[Coordinates, Floats] | None = vars(self).get("_known")
        if known is None or known[0] is not coordinates:
            columns = self.rows.floats(coordinates.expressions[1:])
            means = to_floats(start.mean)
            scaled = [c * 2.0**-k - m for c, k, m in zip(columns, coordinates.scales[1:], means, strict=True)]
            known = coordinates, np.stack([column[self.order] for column in scaled], axis=1)
            vars(self)["_known"] = known
        return known[1]

    def _at_risk(self, Z: Floats, b: Floats) -> AtRisk:
        eta = Z @ b
        cut = np.clip(eta, -CAP, CAP)
        w, had = np.exp(cut), self.had_event
        first, (which, share) = self._first, self._deaths
        R0, R1 = _from_the_end(w), _from_the_end(w[:, None] * Z)
        S0, S1 = R0[first][which], R1[first][which]
        event_times = len(self._with_events)
        if share.any():
            there = self._until - 1  # of a row with the event: its own time
            tied = had > 0
            D0 = np.bincount(there[tied], w[tied], event_times)
            D1 = np.stack([np.bincount(there[tied], w[tied] * z[tied], event_times) for z in Z.T], axis=1)
            S0, S1 = S0 - share * D0[which], S1 - share[:, None] * D1[which]
        A = np.concatenate([[0.0], np.cumsum(np.bincount(which, 1 / S0, event_times))])[self._until]
        v = w * A
        if share.any():
            v -= w * had * np.concatenate([[0.0], np.bincount(which, share / S0, event_times)])[self._until]
        M = S1 / S0[:, None]
        score = had @ Z - v @ Z
        information = (Z * v[:, None]).T @ Z - M.T @ M
        llf = float(had @ eta) - float(np.log(S0).sum())
        p = Z.shape[1]
        half = [Fraction(float(information[i, j])) for i in range(p) for j in range(i, p)]
        risk = R0[np.minimum(np.searchsorted(self.place, np.arange(len(self.times)), side="left"), len(w) - 1)]
        U = tuple(Fraction(float(u)) for u in score)
        capped = int(np.count_nonzero(cut != eta))
        return AtRisk(self.rows.n, U, symmetric(half, p), Fraction(llf), capped, risk.tolist())


def _from_the_end(v: Floats) -> Floats:
    """Cumulative sums from the last row backwards."""
    return np.cumsum(v[::-1], axis=0)[::-1]
