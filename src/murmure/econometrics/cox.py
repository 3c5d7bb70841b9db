"""Proportional hazards (Cox) from sums at the times of a public grid: Breslow's ties, Newton's steps, one round each.

    w = e^(x'b);   S0, S1, S2 (t) = sums of w, w x, w xx' over rows that leave at t or later      (at risk)
    U = S[x of events] - sum_t d_t S1/S0,    I = sum_t d_t (S2/S0 - S1 S1'/S0^2)
    l = S[x'b of events] - sum_t d_t ln S0

What is added up over rows is what leaves AT each time; the sums at risk are made of these from the last time
backwards. So a round releases T (1 + p + p (p + 1) / 2) sums for T times: a coarse public grid of times costs little
precision, and takes much fewer sums. Breslow, Biometrics 30(1), 1974; Lu et al. (WebDISCO), JAMIA 22(6), 2015. b enters
by x less its mean, which is public after the first round, so that w stays near one.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.econometrics.asking import ask, designed, expression_of
from murmure.econometrics.columns import cuts_in, decimal_text, exactly, holds, two_sided
from murmure.econometrics.coordinates import Coordinates, lost_digits
from murmure.econometrics.design import Design
from murmure.econometrics.errors import Collinear, FitFailed, NoVariation, TooFewRows
from murmure.econometrics.exact import Matrix, Vector, dot, inverse, rounded, solve, to_float, to_floats
from murmure.econometrics.leaving import CAP
from murmure.econometrics.linked import BITS
from murmure.econometrics.model import Example
from murmure.econometrics.newton import Place, Rounds, check_rounds, climb, newton_step, symmetric
from murmure.econometrics.results import Regression
from murmure.econometrics.same import constant_in
from murmure.econometrics.scales import bounds_of
from murmure.econometrics.shown import Table
from murmure.econometrics.words import listed_columns
from murmure.statistics.evaluated import Evaluated
from murmure.statistics.placed import Placed

Floats = NDArray[np.float64]

MOST_SUMS = 1 << 16
FINE = 160  # bits of the ratios S1/S0
FARTHEST = 700.0  # floats hold e to this power
DIGITS = Context(prec=50, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999, traps=[])


@dataclass(frozen=True)
class Cox:
    """Proportional hazards of the columns of a design without outcome and intercept.

    time: an expression, when a row leaves. event: an expression, 1 where it leaves by the event and 0 where it is lost
    from view. grid: public times that increase, as decimals; a time counts as the next of them. (): the values of time.
    """

    protects: ClassVar[str | None] = (
        "one row is in the sums at risk of every earlier time, and moves the steps by more than noise could hide"
    )
    design: Design
    time: str
    event: str
    grid: tuple[str, ...] = ()
    rounds: int = 25

    def __post_init__(self) -> None:
        check_rounds("Cox", self.rounds)
        if not isinstance(self.design, Design):
            raise InvalidParameter(f"Cox.design must be a Design, got {shorten(self.design)}.")
        if "1" in self.design.terms:
            raise InvalidParameter(
                "Cox.design has an intercept, and hazards have their own.", hint="cox(...) leaves it out"
            )
        low, high, step = bounds_of(self.design.domain, self.event)
        if low < 0 or high > 1 or step.denominator != 1:
            raise InvalidParameter(
                f"Cox.event must be 0 or 1; {shorten(self.event)} lies between {float(low):g} and {float(high):g}.",
                hint="Integers(0, 1), or a condition: (state == 'dead')",
            )
        low, high, step = bounds_of(self.design.domain, self.time)
        if isinstance(self.grid, str) or not isinstance(self.grid, tuple | list):
            raise InvalidParameter(f"Cox.grid must be times, got {shorten(self.grid)}.", hint="grid=(30, 60, 90)")
        times = [exactly("Cox", "grid", v) for v in self.grid]
        if times and (any(a >= b for a, b in pairwise(times)) or times[-1] < high):
            raise InvalidParameter(
                f"Cox.grid must increase, and end at {float(high):g} or later as {shorten(self.time)} may.",
                hint="a time counts as the next time of the grid",
            )
        texts = [decimal_text(v) for v in times]
        if any(text is None for text in texts):
            raise InvalidParameter(f"Cox.grid must hold decimals, got {shorten(self.grid)}.")
        object.__setattr__(self, "grid", tuple(str(text) for text in texts))
        p = len(self.design.terms)
        count = len(times) or (high - low) / step + 1
        each = 1 + p + p * (p + 1) // 2
        if count * each + 1 > MOST_SUMS:
            raise InvalidParameter(
                f"Cox: {shorten(self.time)} may be one of {float(count):.3g} times, and with {p} columns that is "
                f"{float(count * each):.3g} sums a round; at most {MOST_SUMS}.",
                hint=f"a coarser public grid: grid=100 takes a hundred even times, grid=[..., {_end(high)}] names them "
                f"(at most {(MOST_SUMS - 1) // each}); a time counts as the next of the grid",
            )
        _ = self._asks("start", ())

    @cached_property
    def times(self) -> tuple[Fraction, ...]:
        if self.grid:
            return tuple(Fraction(t) for t in self.grid)
        low, high, step = bounds_of(self.design.domain, self.time)
        return tuple(low + step * i for i in range(int((high - low) / step) + 1))

    @cached_property
    def _coordinates(self) -> Coordinates:
        """How columns are asked for. The constant is one of them: hazards do not change when x is taken less it."""
        return Coordinates.of(self.design.domain, ("", *self.design.names), ("1", *self.design.terms))

    def _asks(self, mode: str, at: Vector, coordinates: Coordinates | None = None) -> Placed:
        held = coordinates or self._coordinates
        p, scales = len(self.design.terms), held.scales[1:]
        besides = 2 * p + p * (p + 1) // 2 if mode == "start" else 1
        rows = Evaluated(
            self.design.domain,
            "cox",
            (self.time, self.event, *held.expressions[1:]),
            tuple(f"{v.numerator}/{v.denominator}" for v in at),
            (mode, str(p), *map(str, scales), *map(str, self.times)),
        )
        return Placed(rows, len(self.times), besides)

    @property
    def domain(self) -> Schema:
        return self._asks("start", ()).domain

    @property
    def most_sums(self) -> int:
        """Of all rounds together, at most."""
        start, step = self._asks("start", ()), self._asks("step", (Fraction(0),) * (len(self.design.terms) + 1))
        return start.width + (self.rounds - 1) * max(start.width, step.width)

    def in_words(self) -> tuple[str, str]:
        (en, fr), times = listed_columns(self.design), len(self.times)
        return (
            f"a proportional hazards regression (Cox) of {self.time} and {self.event} on {en}, at {times} times, "
            f"in at most {self.rounds} rounds of sums",
            f"une régression à risques proportionnels (Cox) de {self.time} et {self.event} sur {fr}, à {times} dates, "
            f"en {self.rounds} tours de sommes au plus",
        )

    def steps(self) -> Generator[Any, Any, Hazards]:
        T, p, rounds = len(self.times), len(self.design.terms), Rounds(self.rounds, "Cox's regression")
        better: Coordinates | None = self._coordinates
        while better is not None:
            held = better
            rounds.take()
            answer = yield self._asks("start", (), held)
            sums = [Fraction(v) for v in answer.sums]
            events, total, of_events = sums[:T], sums[T : T + p], sums[T + p : T + 2 * p]
            n = answer.n
            if not sum(events):
                raise NoVariation("Cox's regression: nobody has the event.", hint="more rows", columns=[self.event])
            if n <= p:
                raise TooFewRows(f"{n} rows for {p} parameters are too few.", hint="fewer columns, or more rows")
            S = symmetric(sums[T + 2 * p :], p)
            gram = ((Fraction(n), *total), *((total[j], *S[j]) for j in range(p)))
            better = _improved(held, gram, n)
        mean = tuple(rounded(v / n) for v in total)
        ascent = _Risk(self, held, tuple(int(d) for d in events), tuple(of_events), mean)
        null: list[Fraction] = []
        at, place = yield from climb(replace(ascent, seen=null), (Fraction(0),) * p, rounds)
        if place.sums["at the cap"]:
            raise FitFailed(
                f"Cox's regression: {int(place.sums['at the cap'])} rows would have a hazard beyond exp({CAP:g}).",
                hint="leave out rows or columns with extreme numbers, or take logarithms: log(x)",
            )
        return self._result(ascent, at, place, null[0])

    def _result(self, ascent: _Risk, at: Vector, place: Place, null: Fraction) -> Hazards:
        p, held = len(at), ascent.coordinates
        none = (Fraction(0),) * (p + 1)  # of the constant, which hazards do not have
        covariance = (none, *((Fraction(0), *row) for row in inverse(place.information)))
        b, covariance = held.back((Fraction(0), *at), covariance)
        mean = ascent.means
        # sums at risk were taken of e^(x'b - centre), and centre is mean'b
        risk = [float(v) for v in accumulate(reversed(ascent.leaving(place.sums, 0)))][::-1]
        at_means = [d / s if d else 0.0 for d, s in zip(ascent.events, risk, strict=True)]
        remarks = list(getattr(self.design, "remarks", ()))
        lost = lost_digits(place.information)
        if lost is not None:
            remarks.append(lost)
        level = to_float(-dot(mean, held.back((Fraction(0), *place.at), covariance)[0][1:]))
        if abs(level) > FARTHEST:
            remarks.append(
                "columns that are all 0 are so far from the rows that floats do not hold a hazard there: "
                "baseline(at_means=True) is that of the means"
            )
        return Hazards(
            model="Cox",
            formula=self.design.formula,
            outcome=f"{self.time}, {self.event}",
            names=self.design.names,
            coefficients=b[1:],
            covariance=tuple(tuple(rounded(v, BITS) for v in row[1:]) for row in covariance[1:]),
            n=place.n,
            df_model=p,
            df_resid=place.n - p,
            use_t=False,
            llf=float(place.llf or 0),
            llnull=float(null),
            has_intercept=False,
            design=self.design,
            link="log",
            extras={"Events": sum(ascent.events)},
            remarks=tuple(remarks),
            times=tuple(float(t) for t in self.times),
            events=ascent.events,
            hazard=tuple(h * _exp(level) if h else 0.0 for h in at_means),
            at_means=tuple(at_means),
            means=tuple(mean),
        )


def _improved(held: Coordinates, gram: Matrix, n: int) -> Coordinates | None:
    try:
        return held.improved(gram, n)
    except Collinear as error:
        name, *others = error.columns
        if others:
            raise
        said = f"column {name!r} is the same for everybody."
        raise NoVariation(said, hint="leave it out", columns=[name]) from None


def _end(v: Fraction) -> str:
    """A short number that is not below this one."""
    return f"{math.ceil(v)}"


def _exp(v: float) -> float:
    try:
        return math.exp(v)
    except OverflowError:
        return math.inf


@dataclass(frozen=True)
class _Risk:
    """The partial likelihood, as sums of those who leave at each time give it."""

    model: Cox
    coordinates: Coordinates
    events: tuple[int, ...]  # d_t
    of_events: Vector  # S[z of events]
    mean: Vector
    seen: list[Fraction] = field(default_factory=list)  # log-likelihoods, of b = 0 first
    runs_away: ClassVar[bool] = True

    def question(self, at: Vector) -> Placed:
        return self.model._asks("step", (*at, rounded(dot(self.mean, at))), self.coordinates)

    @property
    def means(self) -> Vector:
        """Of the columns themselves: T z = v."""
        v = (Fraction(1), *(m * Fraction(2) ** k for m, k in zip(self.mean, self.coordinates.scales[1:], strict=True)))
        return tuple(row[0] for row in solve(self.coordinates.T, [[x] for x in v]))[1:]

    def leaving(self, sums: Mapping[str, Fraction], k: int) -> list[Fraction]:
        """The k-th of the sums of those who leave at each time."""
        p = len(self.mean)
        each = 1 + p + p * (p + 1) // 2
        return list(sums.values())[k : each * len(self.events) : each]

    def read(self, at: Vector, answer: Any) -> Place:
        p, T = len(at), len(self.events)
        each = 1 + p + p * (p + 1) // 2
        sums = [Fraction(v) for v in answer.sums]
        # whole numbers of one unit, from the last time backwards
        unit = math.lcm(*(v.denominator for v in sums[:-1]))
        whole = [int(v * unit) for v in sums[:-1]]
        risk = [0] * each
        score = [0] * p
        bend = [0] * (p * (p + 1) // 2)
        logs = Decimal(0)
        for t in range(T - 1, -1, -1):
            risk = [a + b for a, b in zip(risk, whole[t * each : (t + 1) * each], strict=True)]
            d = self.events[t]
            if not d:
                continue
            s0 = risk[0]
            ratios = [(v << FINE) // s0 for v in risk[1:]]
            mean = ratios[:p]
            score = [a + d * b for a, b in zip(score, mean, strict=True)]
            products = [(mean[i] * mean[j]) >> FINE for i in range(p) for j in range(i, p)]
            bend = [a + d * (v - m) for a, v, m in zip(bend, ratios[p:], products, strict=True)]
            log = DIGITS.ln(DIGITS.divide(Decimal(s0), Decimal(unit)))
            logs = DIGITS.add(logs, DIGITS.multiply(Decimal(d), log))
        one = Fraction(1, 1 << FINE)
        U = tuple(a - one * b for a, b in zip(self.of_events, score, strict=True))
        centre = rounded(dot(self.mean, at))
        llf = dot(self.of_events, at) - sum(self.events) * centre - Fraction(logs)
        self.seen.append(llf)
        held = {label: v for label, v in zip(answer.labels, sums, strict=True)}
        return Place(at, answer.n, U, symmetric([one * v for v in bend], p), llf, held)

    def step(self, place: Place) -> Vector:
        return newton_step(place)

    def separation(self, step: Vector) -> None:
        return None

    def along(self, step: Vector) -> list[str]:
        return self.coordinates.largest_moves((Fraction(0), *step))


@dataclass(frozen=True, eq=False)
class Hazards(Regression):
    """Coefficients are logarithms of hazard ratios. hazard: the baseline's (Breslow's), at columns that are all 0.

    at_means: the same at the means of the columns. Zero may be far from all rows: hazard is infinite or 0 there where
    floats hold it no more, and at_means is always a number.
    """

    times: tuple[float, ...] = ()
    events: tuple[int, ...] = ()
    hazard: tuple[float, ...] = ()
    at_means: tuple[float, ...] = ()
    means: tuple[Fraction, ...] = ()

    @property
    def hazard_ratios(self) -> Floats:
        """exp(coefficient): how many times the hazard of somebody who has one unit more."""
        with np.errstate(over="ignore"):
            return np.exp(self.params)

    def tables(self) -> list[Table]:
        ends = self.conf_int()
        if ends is None:
            return super().tables()
        with np.errstate(over="ignore"):
            rows = zip(self.names, self.hazard_ratios.tolist(), *np.exp(ends).T.tolist(), strict=True)
        return [*super().tables(), Table("Hazard ratios", ("", "exp(coef)", "[0.025", "0.975]"), tuple(rows))]

    def baseline(self, *, at_means: bool = False) -> list[dict[str, float]]:
        """At every time with an event: the baseline's hazard, its sum so far, and survival."""
        rows, total = [], 0.0
        for t, d, h in zip(self.times, self.events, self.at_means if at_means else self.hazard, strict=True):
            if d:
                total += h
                rows.append({"time": t, "events": d, "hazard": h, "cumulative": total, "survival": math.exp(-total)})
        return rows

    def predict(self, rows: Any) -> Floats:
        """Hazards relative to the baseline, of columns that are all 0."""
        assert self.design is not None
        with np.errstate(over="ignore"):
            return np.exp(self.design.matrix(rows) @ self.params)

    def survival(self, rows: Any) -> Floats:
        """The chance to stay beyond each time of the grid, one row for each row."""
        assert self.design is not None
        with np.errstate(over="ignore"):
            relative = np.exp((self.design.matrix(rows) - to_floats(self.means)) @ self.params)
            return np.asarray(np.exp(-relative[:, None] * np.cumsum(self.at_means)[None, :]))


def cox(
    formula: str,
    data: Any,
    *,
    time: str,
    event: str,
    grid: Sequence[Any] | int = (),
    rounds: int = 25,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Hazards:
    """Cox's regression: `cox("age + ward", table, time="days", event="died")`; data and privacy as in `ask`.

    event: a column of two values, the second of which says that it happened; or event="state == 'dead'". grid: public
    times, which a time counts as the next of; grid=100 takes so many even ones. (): the values of the column.
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
    model = Cox(without_intercept(design), when, what, tuple(grid), rounds)
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
)
