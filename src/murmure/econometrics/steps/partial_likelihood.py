"""Cox's partial likelihood, maximised by Newton's steps; the sums at risk come from elsewhere.

    w = e^(x'b);   S0, S1, S2 (t) = sums of w, w x, w xx' over rows that leave at t or later            (at risk)
                   D0, D1, D2 (t) = the same over rows with the event at t, d of them                   (tied)

    Breslow    l = S[x'b of events] - sum_t d ln S0,                        each event meets all rows at risk
    Efron      l = S[x'b of events] - sum_t sum_{k<d} ln (S0 - k/d D0),     the k-th those whom k left, on average

Score and information follow with S1 - k/d D1 and S2 - k/d D2 instead of S1 and S2. Without tied events both are the
same. Breslow, Biometrics 30(1), 1974; Efron, JASA 72(359), 1977, section 5.

Sums come from questions between parties (models/cox.py) or directly from sorted rows (direct_cox.py). All decisions are
made here, in fractions. x is taken minus its mean, which is public after the first round, so that w stays near one.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol, get_args

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.algebra.matrices import Matrix, Vector, dot, inverse, solve, symmetric
from murmure.econometrics.algebra.rounding import rounded, to_float
from murmure.econometrics.design.design_matrix import Design
from murmure.econometrics.errors import Collinear, FitFailed, NoVariation, TooFewObservations
from murmure.econometrics.results.hazards import Hazards
from murmure.econometrics.rows.cox_rows import CAP
from murmure.econometrics.steps.coordinates import Coordinates, lost_digits
from murmure.econometrics.steps.newton import Iterate, RoundLimit, climb, newton_step
from murmure.econometrics.steps.robust_errors import rounded_covariance

Ties = Literal["breslow", "efron"]
RATIO_BITS = 160  # of the ratios S1/S0
MAX_EXPONENT = 700.0  # e^700 is near the largest float
DIGITS = Context(prec=50, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999, traps=[])


def check_ties(owner: str, ties: Any) -> None:
    if ties not in get_args(Ties):
        known = " or ".join(f'"{name}"' for name in get_args(Ties))
        raise InvalidParameter(
            "{owner}.ties must be {known}, got {got}.",
            hint='ties="efron" is the default of lifelines and R',
            owner=owner,
            known=known,
            got=shorten(ties),
        )


@dataclass(frozen=True)
class CoxStart:
    """The first answer: rows, events at each time, and sums of the columns."""

    n: int
    events: tuple[int, ...]  # d_t
    total: Vector  # S[z]
    of_events: Vector  # S[z of events]
    products: Sequence[Fraction]  # S[z z'], the upper half

    @property
    def mean(self) -> Vector:
        return tuple(rounded(v / self.n) for v in self.total)

    @property
    def tied(self) -> tuple[int, ...]:
        """The indices of times with two events or more. At others Efron and Breslow are the same."""
        return tuple(t for t, d in enumerate(self.events) if d > 1)


@dataclass(frozen=True)
class AtRisk:
    """The likelihood and its derivatives at some coefficients."""

    n: int
    score: Vector
    information: Matrix
    llf: Fraction
    capped: int  # rows whose hazard was cut at the cap
    risk: Sequence[Any] = field(repr=False)  # S0 at each time, of e^(x'b - mean'b)


class RiskSums(Protocol):
    """Adds up rows: asks each question, and interprets its answer."""

    @property
    def times(self) -> Sequence[Fraction]: ...
    def ask_start(self, coordinates: Coordinates) -> Any: ...
    def interpret_start(self, answer: Any) -> CoxStart: ...
    def ask_step(self, coordinates: Coordinates, at: Vector, start: CoxStart) -> Any: ...
    def interpret_step(self, answer: Any, at: Vector, start: CoxStart) -> AtRisk: ...


@dataclass(frozen=True)
class CoxRegression:
    """The columns and options of the regression, and its steps."""

    design: Design
    time: str
    event: str
    ties: str
    rounds: int
    times_in_words: str

    @property
    def coordinates(self) -> Coordinates:
        """The first coordinates. They include a constant, which may be subtracted from x without changing hazards."""
        return Coordinates.of(self.design.domain, ("", *self.design.names), ("1", *self.design.terms))

    def steps(self, risk_sums: RiskSums) -> Generator[Any, Any, Hazards]:
        p, rounds = len(self.design.terms), RoundLimit(self.rounds, "Cox's regression")
        better: Coordinates | None = self.coordinates
        while better is not None:
            coordinates = better
            rounds.take()
            start = risk_sums.interpret_start((yield risk_sums.ask_start(coordinates)))
            n = start.n
            if not sum(start.events):
                raise NoVariation("Cox's regression: nobody had the event.", hint="more rows", columns=[self.event])
            if n <= p:
                raise TooFewObservations(
                    "{n} rows for {p} parameters are too few.", hint="fewer columns, or more rows", n=n, p=p
                )
            S = symmetric(start.products, p)
            gram = ((Fraction(n), *start.total), *((start.total[j], *S[j]) for j in range(p)))
            better = _improved(coordinates, gram, n)
        ascent = _CoxAscent(risk_sums, coordinates, start)
        null: list[Fraction] = []
        at, iterate = yield from climb(replace(ascent, log_likelihoods=null), (Fraction(0),) * p, rounds)
        assert isinstance(iterate, _CoxIterate)
        if iterate.risk.capped:
            raise FitFailed(
                "Cox's regression: {capped} rows would have a hazard beyond exp({cap:g}).",
                hint="leave out rows or columns with extreme numbers, or take logarithms: log(x)",
                capped=iterate.risk.capped,
                cap=CAP,
            )
        return self._result(ascent, risk_sums.times, at, iterate, null[0])

    def _result(
        self, ascent: _CoxAscent, times: Sequence[Fraction], at: Vector, iterate: _CoxIterate, null: Fraction
    ) -> Hazards:
        p, coordinates, events = len(at), ascent.coordinates, ascent.start.events
        none = (Fraction(0),) * (p + 1)  # for the constant, which has no coefficient
        covariance = (none, *((Fraction(0), *row) for row in inverse(iterate.information)))
        b, covariance = coordinates.to_units((Fraction(0), *at), covariance)
        mean = ascent.means
        # Sums at risk are those of e^(x'b - mean'b), so these are hazards at the means.
        at_means = [d / float(s) if d else 0.0 for d, s in zip(events, iterate.risk.risk, strict=True)]
        remarks = [*self.design.remarks, self.times_in_words]
        lost = lost_digits(iterate.information)
        if lost is not None:
            remarks.append(lost)
        level = to_float(-dot(mean, coordinates.to_units((Fraction(0), *iterate.at), covariance)[0][1:]))
        if abs(level) > MAX_EXPONENT:
            remarks.append(
                Phrase(
                    "columns that are all 0 are so far from the rows that floats do not hold a hazard there: "
                    "baseline(at_means=True) is that of the means"
                )
            )
        return Hazards(
            model="Cox",
            formula=self.design.formula,
            outcome=f"{self.time}, {self.event}",
            names=self.design.names,
            coefficients=b[1:],
            covariance=rounded_covariance(tuple(row[1:] for row in covariance[1:])),
            n=iterate.n,
            df_model=p,
            df_resid=iterate.n - p,
            use_t=False,
            llf=float(iterate.llf or 0),
            llnull=float(null),
            has_intercept=False,
            design=self.design,
            link="log",
            extras={
                Phrase("Events"): sum(events),
                Phrase("Ties"): self.ties.capitalize(),
                Phrase("Times"): len(times),
            },
            remarks=tuple(remarks),
            times=tuple(float(t) for t in times),
            events=events,
            hazard=tuple(h * _exp(level) if h else 0.0 for h in at_means),
            at_means=tuple(at_means),
            means=tuple(mean),
            ties=self.ties,
        )


def _improved(coordinates: Coordinates, gram: Matrix, n: int) -> Coordinates | None:
    try:
        return coordinates.improved(gram, n)
    except Collinear as error:
        name, *others = error.columns
        if others:
            raise
        message = Phrase("column {name!r} is the same for everybody.", name=name)
        raise NoVariation(message, hint="leave it out", columns=[name]) from None


def _exp(v: float) -> float:
    try:
        return math.exp(v)
    except OverflowError:
        return math.inf


@dataclass(frozen=True, eq=False, kw_only=True)
class _CoxIterate(Iterate):
    risk: AtRisk


@dataclass(frozen=True)
class _CoxAscent:
    """The partial likelihood, for `climb`."""

    risk_sums: RiskSums
    coordinates: Coordinates
    start: CoxStart
    log_likelihoods: list[Fraction] = field(default_factory=list)  # of all points; the first is b = 0
    runs_away: ClassVar[bool] = True

    def question(self, at: Vector) -> Any:
        return self.risk_sums.ask_step(self.coordinates, at, self.start)

    @property
    def means(self) -> Vector:
        """The means of the columns themselves: T z = v."""
        scales = self.coordinates.scales[1:]
        v = (Fraction(1), *(m * Fraction(2) ** k for m, k in zip(self.start.mean, scales, strict=True)))
        return tuple(row[0] for row in solve(self.coordinates.T, [[x] for x in v]))[1:]

    def interpret(self, at: Vector, answer: Any) -> Iterate:
        here = self.risk_sums.interpret_step(answer, at, self.start)
        self.log_likelihoods.append(here.llf)
        return _CoxIterate(at, here.n, here.score, here.information, here.llf, {}, risk=here)

    def step(self, iterate: Iterate) -> Vector:
        return newton_step(iterate)

    def separation(self, step: Vector) -> None:
        return None

    def moving_columns(self, step: Vector) -> list[str]:
        return self.coordinates.largest_moves((Fraction(0), *step))


# -- from released sums, exactly ---------------------------------------------------------------------------------------


def from_sums(sums: Sequence[Fraction], n: int, at: Vector, start: CoxStart, tied: Sequence[int]) -> AtRisk:
    """The likelihood from the sums of the rows that leave at each time, and last the number of rows at the cap.

    tied: the times with tied events, if their sums were asked for; these follow the other sums at every time.
    """
    p, T = len(at), len(start.events)
    each = 1 + p + p * (p + 1) // 2
    wide = 2 * each if tied else each
    # Whole multiples of one unit, added up from the last time backwards: faster than fractions.
    unit = math.lcm(*(v.denominator for v in sums[:-1]))
    whole = [int(v * unit) for v in sums[:-1]]
    here = set(tied)
    risk, risks = [0] * each, [Fraction(0)] * T
    score, bend, logs = [0] * p, [0] * (p * (p + 1) // 2), Decimal(0)
    for t in range(T - 1, -1, -1):
        risk = [a + b for a, b in zip(risk, whole[t * wide : t * wide + each], strict=True)]
        risks[t] = Fraction(risk[0], unit)
        d = start.events[t]
        if not d:
            continue
        parts, times = [(risk, unit)], d
        if t in here:  # d (S - k/d D) = d S - k D
            D = whole[t * wide + each : (t + 1) * wide]
            parts = [([d * a - k * b for a, b in zip(risk, D, strict=True)], d * unit) for k in range(d)]
            times = 1
        for (s0, *more), of in parts:
            # Totals come from a coordinator, which may lie: without this check the division would fail unexplained.
            if s0 <= 0:
                raise FitFailed(
                    "no rows can have these totals: nobody is at risk at a time with events.",
                    hint="someone reported false numbers: run the study again with parties that you trust",
                )
            ratios = [(v << RATIO_BITS) // s0 for v in more]
            mean = ratios[:p]
            score = [a + times * b for a, b in zip(score, mean, strict=True)]
            products = [(mean[i] * mean[j]) >> RATIO_BITS for i in range(p) for j in range(i, p)]
            bend = [a + times * (v - m) for a, v, m in zip(bend, ratios[p:], products, strict=True)]
            log = DIGITS.ln(DIGITS.divide(Decimal(s0), Decimal(of)))
            logs = DIGITS.add(logs, DIGITS.multiply(Decimal(times), log))
    ratio_unit = Fraction(1, 1 << RATIO_BITS)
    U = tuple(a - ratio_unit * b for a, b in zip(start.of_events, score, strict=True))
    llf = dot(start.of_events, at) - sum(start.events) * rounded(dot(start.mean, at)) - Fraction(logs)
    return AtRisk(n, U, symmetric([ratio_unit * v for v in bend], p), llf, int(sums[-1]), risks)
