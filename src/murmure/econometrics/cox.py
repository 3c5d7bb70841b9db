"""Proportional hazards (Cox) from sums at the times of a public grid, one round for each of Newton's steps.

What is added up over rows is what leaves AT each time; the sums at risk are made of these from the last time backwards
(partial_likelihood.py). So a round releases T (1 + p + p (p + 1) / 2) sums for T times, and with Efron's ties as many
again: a coarse public grid of times costs little precision, and takes much fewer sums. Lu et al. (WebDISCO), JAMIA
22(6), 2015.

On one's own table nothing need be added up by time: `cox` sorts the rows instead (sorted_rows.py), and any number of
times will do.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.econometrics.asking import ask, designed, expression_of
from murmure.econometrics.columns import cuts_in, holds, two_sided
from murmure.econometrics.coordinates import Coordinates
from murmure.econometrics.design import Design
from murmure.econometrics.exact import Vector, dot, rounded
from murmure.econometrics.hazards import Hazards
from murmure.econometrics.model import UNSAID, Example
from murmure.econometrics.partial_likelihood import AtRisk, Regressed, Start, Ties, from_sums
from murmure.econometrics.rows import rows_are_at_hand
from murmure.econometrics.same import constant_in
from murmure.econometrics.scales import bounds_of
from murmure.econometrics.sorted_rows import fit_sorted_rows
from murmure.econometrics.time_grids import (
    MOST_SUMS,
    check_regressed,
    grid_in_words,
    grid_texts,
    most_times,
    own_times,
    shown_time,
    sums_each,
)
from murmure.econometrics.words import listed_columns
from murmure.statistics.evaluated import Evaluated
from murmure.statistics.placed import Placed

__all__ = ["EXAMPLES", "MOST_SUMS", "Cox", "Hazards", "cox", "without_intercept"]


@dataclass(frozen=True)
class Cox:
    """Proportional hazards of the columns of a design without outcome and intercept.

    time: an expression, when a row leaves. event: an expression, 1 where it leaves by the event and 0 where it is lost
    from view. grid: public times that increase, as decimals; a time counts as the next of them. (): the values of time.
    ties: how events at one time are counted, "breslow" or "efron".
    """

    protects: ClassVar[str | None] = (
        "one row is in the sums at risk of every earlier time, and moves the steps by more than noise could hide"
    )
    design: Design
    time: str
    event: str
    grid: tuple[str, ...] = ()
    rounds: int = 25
    ties: str = field(default="breslow", metadata=UNSAID)

    def __post_init__(self) -> None:
        check_regressed("Cox", self.design, self.time, self.event, self.rounds, self.ties)
        object.__setattr__(self, "grid", grid_texts("Cox", self.design, self.time, self.grid))
        most = self.most_times
        count = len(self.grid) or own_times(self.design, self.time)
        if count > most:
            p, each = len(self.design.terms), self._each
            raise InvalidParameter(
                f"Cox: {shorten(self.time)} may be one of {float(count):.3g} times, and with {p} columns that is "
                f"{float(count * each):.3g} sums a round; at most {MOST_SUMS}.",
                hint=f"a coarser public grid: grid=100 takes a hundred even times, grid=[..., {self._end}] names them "
                f"(at most {most}); a time counts as the next of the grid",
            )
        _ = self.ask_start(self._regressed.coordinates)

    @property
    def _each(self) -> int:
        """Sums of one round at one time."""
        return sums_each(len(self.design.terms), self.ties)

    @property
    def most_times(self) -> int:
        """So many times can be asked about between parties."""
        return most_times(len(self.design.terms), self.ties)

    @property
    def _end(self) -> str:
        """A short number that no time is above."""
        return f"{math.ceil(bounds_of(self.design.domain, self.time)[1])}"

    @cached_property
    def times(self) -> tuple[Fraction, ...]:
        if self.grid:
            return tuple(Fraction(t) for t in self.grid)
        low, high, step = bounds_of(self.design.domain, self.time)
        return tuple(low + step * i for i in range(int((high - low) / step) + 1))

    @property
    def _regressed(self) -> Regressed:
        words = grid_in_words(self.time, self.times, given=bool(self.grid))
        return Regressed(self.design, self.time, self.event, self.ties, self.rounds, words)

    # -- questions, and what their answers say

    def _asks(self, mode: str, at: Vector, held: Coordinates, tied: Sequence[int] = ()) -> Placed:
        p, scales = len(self.design.terms), held.scales[1:]
        besides = 2 * p + p * (p + 1) // 2 if mode.endswith("start") else 1
        shared = (" ".join(map(str, tied)),) if tied else ()
        rows = Evaluated(
            self.design.domain,
            "cox",
            (self.time, self.event, *held.expressions[1:]),
            tuple(f"{v.numerator}/{v.denominator}" for v in at),
            (mode, str(p), *shared, *map(str, scales), *map(str, self.times)),
        )
        return Placed(rows, len(self.times), besides)

    def ask_start(self, held: Coordinates) -> Placed:
        return self._asks("efron start" if self.ties == "efron" else "start", (), held)

    def read_start(self, answer: Any) -> Start:
        T, p = len(self.times), len(self.design.terms)
        sums = [Fraction(v) for v in answer.sums]
        events = tuple(int(d) for d in sums[:T])
        return Start(answer.n, events, tuple(sums[T : T + p]), tuple(sums[T + p : T + 2 * p]), sums[T + 2 * p :])

    def _tied(self, start: Start) -> tuple[int, ...]:
        return start.tied if self.ties == "efron" else ()

    def ask_step(self, held: Coordinates, at: Vector, start: Start) -> Placed:
        tied = self._tied(start)
        return self._asks("efron step" if tied else "step", (*at, rounded(dot(start.mean, at))), held, tied)

    def read_step(self, answer: Any, at: Vector, start: Start) -> AtRisk:
        return from_sums([Fraction(v) for v in answer.sums], answer.n, at, start, self._tied(start))

    def steps(self) -> Generator[Any, Any, Hazards]:
        return self._regressed.steps(self)

    # -- what is told about them

    @property
    def domain(self) -> Schema:
        return self.ask_start(self._regressed.coordinates).domain

    @property
    def most_sums(self) -> int:
        """Of all rounds together, at most."""
        start = self.ask_start(self._regressed.coordinates).width
        return start + (self.rounds - 1) * max(start, len(self.times) * self._each + 2)

    def in_words(self) -> tuple[str, str]:
        (en, fr), times, ties = listed_columns(self.design), len(self.times), self.ties.capitalize()
        return (
            f"a proportional hazards regression (Cox, ties by {ties}) of {self.time} and {self.event} on {en}, at "
            f"{times} times, in at most {self.rounds} rounds of sums",
            f"une régression à risques proportionnels (Cox, ex æquo selon {ties}) de {self.time} et {self.event} sur "
            f"{fr}, à {times} dates, en {self.rounds} tours de sommes au plus",
        )

    def limit_in_words(self) -> tuple[str, str]:
        """What between parties cannot be exceeded, for those who have not joined yet."""
        times, each, p = len(self.times), self._each, len(self.design.terms)
        low, high = shown_time(self.times[0]), shown_time(self.times[-1])
        tied = (
            (
                "; at each time that two events or more share, half of these sums are over such events alone",
                " ; à chaque date que deux événements ou plus partagent, la moitié de ces sommes porte sur ces seuls "
                "événements",
            )
            if self.ties == "efron"
            else ("", "")
        )
        return (
            f"a time counts as the next of {times} public times, from {low} to {high}; with {p} columns each takes "
            f"{each} sums, and a round at most {MOST_SUMS}, so that there may be {self.most_times} times at most"
            f"{tied[0]}",
            f"une durée compte pour la suivante de {times} dates publiques, de {low} à {high} ; avec {p} colonnes "
            f"chaque date prend {each} sommes, et un tour {MOST_SUMS} au plus : il peut donc y avoir "
            f"{self.most_times} dates au plus{tied[1]}",
        )


def cox(
    formula: str,
    data: Any,
    *,
    time: str,
    event: str,
    grid: Sequence[Any] | int = (),
    ties: Ties = "breslow",
    rounds: int = 25,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Hazards:
    """Cox's regression: `cox("age + ward", table, time="days", event="died")`; data and privacy as in `ask`.

    event: a column of two values, the second of which says that it happened; or event="state == 'dead'". grid: public
    times, which a time counts as the next of; grid=100 takes so many even ones. (): the values of the column. ties:
    "breslow", or "efron" as in lifelines and R. In the clear rows are sorted, and there may be any number of times.
    """
    when, what = (expression_of("cox", *part, data, schema) for part in (("time", time), ("event", event)))
    design = designed("cox", formula, data, schema, privacy, when, what, outcome=False)
    held = design.domain
    if event in held and (isinstance(held[event], Categories) or constant_in(held, event) is not None):
        yes = two_sided("cox", held, event, "event")[1]
        what = holds(held, event, yes) if isinstance(held[event], Categories) else what
    if isinstance(grid, int | np.integer):
        if time not in held:
            raise InvalidParameter(
                f"cox.grid = {grid} makes even times of a column, and {shorten(time)} is none.",
                hint="grid=[30, 60, 90]",
            )
        grid = cuts_in("cox", held, time, grid)
    elif isinstance(grid, str) or not isinstance(grid, Iterable):
        raise InvalidParameter(f"cox.grid must be times, got {shorten(grid)}.", hint="grid=[30, 60, 90], or grid=100")
    design, grid = without_intercept(design), tuple(grid)
    if ledger is None and rows_are_at_hand(data, privacy, engine):
        return fit_sorted_rows(design, when, what, grid, rounds, ties, data, bounded=schema is not None)
    model = Cox(design, when, what, grid, rounds, ties)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


def without_intercept(design: Design) -> Design:
    """The same columns; labels stay coded as they are beside an intercept."""
    kept = [(name, term) for name, term in zip(design.names, design.terms, strict=True) if term != "1"]
    if not kept:
        raise InvalidParameter("cox: the formula names no column.", hint='cox("age + ward", ...)')
    return replace(design, names=tuple(name for name, _ in kept), terms=tuple(term for _, term in kept))


_FOLLOWED = Schema(
    {"days": Integers(1, 30), "died": Integers(0, 1), "age": Integers(18, 99), "ward": Categories(["A", "B"])}
)
_ROWS: dict[str, list[Any]] = {
    "days": [1 + (i * i * 7 + i) % 29 for i in range(50)],
    "died": [(i * 3 + i // 7) % 4 // 2 for i in range(50)],
    "age": [18 + (i * 29) % 80 for i in range(50)],
    "ward": ["AB"[(i * i + i // 5) % 2] for i in range(50)],
}
_DESIGN = Design(_FOLLOWED, "age + ward", "", "", ("age", "ward[T.B]"), ("age", "ward == 'B'"))

EXAMPLES = (
    Example(Cox(_DESIGN, "days", "died"), _ROWS),
    Example(Cox(_DESIGN, "days", "died", ("5", "10", "20", "30")), _ROWS),
    Example(Cox(_DESIGN, "days", "died", ("5", "10", "20", "30"), ties="efron"), _ROWS),
)
