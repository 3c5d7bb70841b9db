"""Proportional hazards (Cox) from sums at the times of a public grid: each Newton step is one round.

Sums are taken over the rows that leave AT each time. Adding them up from the last time backwards gives the sums at risk
(partial_likelihood.py). A round releases T (1 + p + p (p + 1) / 2) sums for T times, and twice as many with Efron's
ties. A coarse public grid of times costs little precision and needs far fewer sums. Lu et al. (WebDISCO), JAMIA 22(6),
2015.

In the clear `cox` sorts the rows instead (direct_cox.py), and there may be any number of times.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.codec import OMIT_IF_DEFAULT
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.core.types import Model
from murmure.econometrics.algebra.matrices import Vector, dot
from murmure.econometrics.algebra.rounding import rounded
from murmure.econometrics.design.columns import grid_cuts, label_condition, no_and_yes
from murmure.econometrics.design.constant_columns import constant_value
from murmure.econometrics.design.design_matrix import Design, columns_in_words
from murmure.econometrics.design.from_formula import design_from_formula, expression_of
from murmure.econometrics.design.scales import bounds_of
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example
from murmure.econometrics.results.hazards import Hazards
from murmure.econometrics.rows.direct_rows import can_read_directly
from murmure.econometrics.steps.coordinates import Coordinates
from murmure.econometrics.steps.direct_cox import fit_cox_directly
from murmure.econometrics.steps.partial_likelihood import AtRisk, CoxRegression, CoxStart, Ties, from_sums
from murmure.econometrics.steps.time_grids import (
    MAX_SUMS,
    check_cox,
    grid_in_words,
    grid_texts,
    max_times,
    possible_times,
    sums_per_time,
    time_text,
)
from murmure.statistics.exact.function_sums import FunctionSums
from murmure.statistics.exact.function_sums_by_place import FunctionSumsByPlace


@dataclass(frozen=True)
class Cox(Model):
    """Proportional hazards of the columns of a design without outcome and intercept.

    time: an expression, the time at which a row leaves. event: an expression, 1 if it leaves by the event and 0 if it
    is censored. grid: increasing public times, as decimals; a time counts as the next one of the grid. (): the values
    of time. ties: how events at one time are counted, "breslow" or "efron".
    """

    noise_refusal: ClassVar[str | None] = Phrase(
        "one row enters the at-risk sums of every earlier time, and changes the steps by more than noise could hide"
    )
    design: Design
    time: str
    event: str
    grid: tuple[str, ...] = ()
    rounds: int = 25
    ties: str = field(default="breslow", metadata=OMIT_IF_DEFAULT)

    entry = ModelEntry(
        order=260,
        functions=(
            ModelFunction(
                "cox",
                CommandForm(
                    "Proportional hazards (Cox).",
                    ("FORMULA",),
                    (
                        OptionForm("time", "The column of times.  [required]", metavar="T"),
                        "event",
                        "grid",
                        OptionForm(
                            "ties",
                            "How events at one time are counted.  [default: breslow]",
                            choices=("breslow", "efron"),
                        ),
                        "rounds",
                    ),
                    '"age + ward" t.csv --time days --event died',
                ),
                study=(
                    'formula = "age"\ntime = "days"\nevent = "died"\ngrid = [10, 20, 30, 40]\nties = "efron"\nrounds '
                    "= 12",
                ),
            ),
        ),
    )

    def __post_init__(self) -> None:
        check_cox("Cox", self.design, self.time, self.event, self.rounds, self.ties)
        object.__setattr__(self, "grid", grid_texts("Cox", self.design, self.time, self.grid))
        limit = self.max_times
        count = len(self.grid) or possible_times(self.design, self.time)
        if count > limit:
            p, each = len(self.design.terms), self._each
            raise InvalidParameter(
                "Cox: {time} can be one of {count:.3g} times; with {p} columns that is {number:.3g} sums per round, "
                "more than the maximum of {max_sums}.",
                hint="a coarser public grid: grid=100 takes a hundred even times, grid=[..., {end}] names them "
                "(at most {limit}); a time counts as the next of the grid",
                time=shorten(self.time),
                count=float(count),
                p=p,
                number=float(count * each),
                max_sums=MAX_SUMS,
                end=self._end,
                limit=limit,
            )
        _ = self.ask_start(self._regression.coordinates)

    @property
    def _each(self) -> int:
        """How many sums one round takes at one time."""
        return sums_per_time(len(self.design.terms), self.ties)

    @property
    def max_times(self) -> int:
        """The largest number of times between parties."""
        return max_times(len(self.design.terms), self.ties)

    @property
    def _end(self) -> str:
        """A whole number at or above every time, for a message."""
        return f"{math.ceil(bounds_of(self.design.domain, self.time)[1])}"

    @cached_property
    def times(self) -> tuple[Fraction, ...]:
        if self.grid:
            return tuple(Fraction(t) for t in self.grid)
        low, high, step = bounds_of(self.design.domain, self.time)
        return tuple(low + step * i for i in range(int((high - low) / step) + 1))

    @property
    def _regression(self) -> CoxRegression:
        words = grid_in_words(self.time, self.times, given=bool(self.grid))
        return CoxRegression(self.design, self.time, self.event, self.ties, self.rounds, words)

    # -- questions, and how their answers are interpreted

    def _asks(self, mode: str, at: Vector, coordinates: Coordinates, tied: Sequence[int] = ()) -> FunctionSumsByPlace:
        p, scales = len(self.design.terms), coordinates.scales[1:]
        besides = 2 * p + p * (p + 1) // 2 if mode.endswith("start") else 1
        shared = (" ".join(map(str, tied)),) if tied else ()
        rows = FunctionSums(
            self.design.domain,
            "cox",
            (self.time, self.event, *coordinates.expressions[1:]),
            tuple(f"{v.numerator}/{v.denominator}" for v in at),
            (mode, str(p), *shared, *map(str, scales), *map(str, self.times)),
        )
        return FunctionSumsByPlace(rows, len(self.times), besides)

    def ask_start(self, coordinates: Coordinates) -> FunctionSumsByPlace:
        return self._asks("efron start" if self.ties == "efron" else "start", (), coordinates)

    def interpret_start(self, answer: Any) -> CoxStart:
        T, p = len(self.times), len(self.design.terms)
        sums = [Fraction(v) for v in answer.sums]
        events = tuple(int(d) for d in sums[:T])
        return CoxStart(answer.n, events, tuple(sums[T : T + p]), tuple(sums[T + p : T + 2 * p]), sums[T + 2 * p :])

    def _tied(self, start: CoxStart) -> tuple[int, ...]:
        return start.tied if self.ties == "efron" else ()

    def ask_step(self, coordinates: Coordinates, at: Vector, start: CoxStart) -> FunctionSumsByPlace:
        tied = self._tied(start)
        return self._asks("efron step" if tied else "step", (*at, rounded(dot(start.mean, at))), coordinates, tied)

    def interpret_step(self, answer: Any, at: Vector, start: CoxStart) -> AtRisk:
        return from_sums([Fraction(v) for v in answer.sums], answer.n, at, start, self._tied(start))

    def steps(self) -> Generator[Any, Any, Hazards]:
        return self._regression.steps(self)

    # -- descriptions

    @property
    def domain(self) -> Schema:
        return self.ask_start(self._regression.coordinates).domain

    @property
    def max_sums(self) -> int:
        """Sums of all rounds together, at most."""
        start = self.ask_start(self._regression.coordinates).width
        return start + (self.rounds - 1) * max(start, len(self.times) * self._each + 2)

    def in_words(self) -> str:
        return Phrase(
            "a proportional hazards regression (Cox, ties by {ties}) of {time} and {event} on {columns}, at {times} "
            "times, in at most {rounds} rounds of sums",
            ties=self.ties.capitalize(),
            time=self.time,
            event=self.event,
            columns=columns_in_words(self.design),
            times=len(self.times),
            rounds=self.rounds,
        )

    def limit_in_words(self) -> str:
        """The limits between parties, for those who consider joining a study."""
        limit = Phrase(
            "a time counts as the next of {times} public times, from {low} to {high}; with {p} columns each takes "
            "{each} sums, and a round at most {sums}, so that there may be {most} times at most",
            times=len(self.times),
            low=time_text(self.times[0]),
            high=time_text(self.times[-1]),
            p=len(self.design.terms),
            each=self._each,
            sums=MAX_SUMS,
            most=self.max_times,
        )
        if self.ties != "efron":
            return limit
        return Phrase(
            "{limit}; at each time that two events or more share, half of these sums are over such events alone",
            limit=limit,
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

    event: a column of two values, the second of which is the event; or a condition, event="state == 'dead'". grid:
    public times, a time counts as the next one of them; grid=100 takes a hundred even times; (): the values of the
    column. ties: "breslow", or "efron" as in lifelines and R. In the clear rows are sorted, and there may be any number
    of times.
    """
    when, what = (expression_of("cox", *part, data, schema) for part in (("time", time), ("event", event)))
    design = design_from_formula("cox", formula, data, schema, privacy, when, what, outcome=False)
    domain = design.domain
    if event in domain and (isinstance(domain[event], Categories) or constant_value(domain, event) is not None):
        yes = no_and_yes("cox", domain, event, "event")[1]
        what = label_condition(domain, event, yes) if isinstance(domain[event], Categories) else what
    if isinstance(grid, int | np.integer):
        if time not in domain:
            raise InvalidParameter(
                "cox.grid = {grid} divides a column into even times, but {time} is not a column.",
                hint="grid=[30, 60, 90]",
                grid=grid,
                time=shorten(time),
            )
        grid = grid_cuts("cox", domain, time, grid)
    elif isinstance(grid, str) or not isinstance(grid, Iterable):
        raise InvalidParameter(
            "cox.grid must be times, got {got}.", hint="grid=[30, 60, 90], or grid=100", got=shorten(grid)
        )
    design, grid = without_intercept(design), tuple(grid)
    if ledger is None and can_read_directly(data, privacy, engine):
        return fit_cox_directly(design, when, what, grid, rounds, ties, data, bounded=schema is not None)
    model = Cox(design, when, what, grid, rounds, ties)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


def without_intercept(design: Design) -> Design:
    """The design without its intercept; labels stay coded as with one, since hazards have a baseline."""
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
