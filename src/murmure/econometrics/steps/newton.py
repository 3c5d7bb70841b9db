"""Newton's method on released sums. Every decision is made in fractions, so that all parties decide alike.

    b <- b + t H^-1 s,     t = 1, 1/2, 1/4, ... until the log-likelihood does not fall
    end when s' H^-1 s <= 2^-60: the last step moves b by less than 1e-9 standard errors, and is taken

s' H^-1 s is twice the gain of a whole step in log-likelihood (Boyd and Vandenberghe, Convex Optimization, 2004, section
9.5.1: the Newton decrement squared). It does not depend on the units of columns. b is rounded to 64 significant bits,
since every question contains it.

Equations without a likelihood (custom_score.py) have no such gain. Instead s' B^-1 s, B = S[psi psi'], must fall: with
the step d = A^-1 s and Cov = A^-1 B A^-T it is d' Cov^-1 d, the step in standard errors.

If a combination of columns predicts the outcome without error, b is infinite: gains then fall by a factor that does not
shrink, and a question counts the rows that contradict the direction (`Ascent.separation`). Albert and Anderson,
Biometrika 71(1), 1984.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

from murmure.core.errors import InvalidParameter, Phrase, Plural, shorten
from murmure.econometrics.algebra.matrices import Matrix, Singular, Vector, dot, solve, symmetric
from murmure.econometrics.algebra.positive_definite import is_positive_definite
from murmure.econometrics.algebra.rounding import rounded
from murmure.econometrics.errors import FitFailed, NotConverged, Separated
from murmure.show.phrase import Several

CONVERGED = Fraction(1, 1 << 60)
STALLED = Fraction(1, 1 << 40)  # a smaller gain that does not shrink any more is the rounding of rows
LITTLE_GAIN = Fraction(1, 1 << 16)  # of log-likelihood: rounding may hide smaller gains
SLACK = Fraction(1, 1 << 40)  # the relative rounding of a log-likelihood
MIN_STEP = Fraction(1, 1 << 20)
MAX_ROUNDS = 1000
FAMILY_ROUNDS = 25  # the default for laws by their name


class RoundLimit:
    """Counts the questions that may still be asked."""

    def __init__(self, limit: int, what: str) -> None:
        self.limit, self.left, self.what = limit, limit, what
        self.last: Iterate | None = None  # the last point that was asked about

    def take(self) -> None:
        if self.left < 1:
            raise NotConverged(
                "{what} did not converge within {limit} rounds.",
                hint="allow more, rounds=...; or leave out columns that hardly vary or nearly predict the outcome",
                what=self.what,
                limit=self.limit,
            )
        self.left -= 1


def check_rounds(owner: str, rounds: Any) -> None:
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= MAX_ROUNDS:
        raise InvalidParameter(
            "{owner}.rounds must be a whole number from 1 to {max_rounds}, got {got}.",
            owner=owner,
            max_rounds=MAX_ROUNDS,
            got=shorten(rounds),
        )


@dataclass(frozen=True, eq=False)
class Iterate:
    """The sums that were released at one point."""

    at: Vector
    n: int
    score: Vector
    information: Matrix
    llf: Fraction | None  # None: steps are judged by the score only
    sums: Mapping[str, Fraction] = field(repr=False)
    outside: bool = False  # the likelihood is not defined here
    spread: Matrix | None = None  # B, for equations without a likelihood


class Ascent(Protocol):
    """A function to maximise: the questions of a model, and how their answers are interpreted."""

    @property
    def runs_away(self) -> bool: ...  # whether steps that gain less and less may have no maximum to reach
    def question(self, at: Vector) -> Any: ...
    def interpret(self, at: Vector, answer: Any) -> Iterate: ...
    def step(self, iterate: Iterate) -> Vector: ...
    def separation(self, step: Vector) -> Any | None: ...  # a question about separation, or None
    def moving_columns(self, step: Vector) -> list[str]: ...  # the columns that a step moves most


def iterate_from_answer(at: Vector, answer: Any, p: int) -> Iterate:
    """From an answer with p scores, the upper half of the information, and named figures."""
    sums = [Fraction(v) for v in answer.sums]
    named = dict(zip(answer.labels, sums, strict=True))
    return Iterate(at, answer.n, tuple(sums[:p]), symmetric(sums[p:], p), named.get("log-likelihood"), named)


def newton_step(iterate: Iterate) -> Vector:
    try:
        return tuple(row[0] for row in solve(iterate.information, [[v] for v in iterate.score]))
    except Singular:
        raise FitFailed(
            "the information matrix became singular on the way: the likelihood is flat in some direction.",
            hint="leave out columns that hardly vary, or join labels",
        ) from None


def bent_step(iterate: Iterate) -> Vector:
    """Newton's step, if the last parameter is the logarithm of a positive one. Where the information is not positive
    definite, that parameter and the others move separately. The last one moves by at most 2, a factor of e^2.
    """
    p = len(iterate.at) - 1
    if is_positive_definite(iterate.information):
        d = newton_step(iterate)
    else:
        block = tuple(row[:p] for row in iterate.information[:p])
        first = tuple(row[0] for row in solve(block, [[v] for v in iterate.score[:p]]))
        d = (*first, iterate.score[p] / (abs(iterate.information[p][p]) or Fraction(1)))
    shrink = max(abs(d[p]) / 2, Fraction(1))
    return tuple(v / shrink for v in d)


def climb(ascent: Ascent, start: Vector, rounds: RoundLimit) -> Generator[Any, Any, tuple[Vector, Iterate]]:
    """The maximum, and the sums at the last point that was asked about."""
    iterate = yield from _evaluate(ascent, tuple(rounded(v) for v in start), rounds)
    if iterate.outside:
        raise FitFailed("the likelihood is not defined at the start.", hint="choose another start, or another link")
    gains: list[Fraction] = []
    checked = 0
    while True:
        step = ascent.step(iterate)
        gain = _gain(iterate, step)
        if gain <= CONVERGED:
            return _move(iterate.at, step, Fraction(1)), iterate
        gains.append(gain)
        # Gains that fall slowly mean separation, or the limit of rounding; separation is asked about at most every
        # third time, since the question takes a round.
        slow = len(gains) > 4 and _is_slow(gains[-4:])
        if slow and len(gains) >= checked + 3:
            checked = len(gains)
            yield from _refuse_separated(ascent, step, rounds)
            if ascent.runs_away and len(gains) > 8 and _is_slow(gains[-8:]):
                refuse_separated(rounds.what, ascent.moving_columns(step))
        if slow and gain <= STALLED:
            return _move(iterate.at, step, Fraction(1)), iterate
        iterate = yield from _uphill(ascent, iterate, step, rounds)


def _gain(iterate: Iterate, step: Vector) -> Fraction:
    return dot(step, iterate.score) if iterate.spread is None else _squared_length(iterate.score, iterate.spread)


def _squared_length(s: Vector, B: Matrix) -> Fraction:
    """s' B^-1 s; if equations depend on one another, the sum over single equations."""
    try:
        return dot(s, [row[0] for row in solve(B, [[v] for v in s])])
    except Singular:
        return sum((v * v / B[j][j] for j, v in enumerate(s) if B[j][j]), Fraction(0))


def _is_slow(gains: Sequence[Fraction]) -> bool:
    """Whether each gain is more than an eighth of the one before. Near a maximum gains shrink much faster."""
    return all(8 * b > a for a, b in pairwise(gains))


def _evaluate(ascent: Ascent, at: Vector, rounds: RoundLimit) -> Generator[Any, Any, Iterate]:
    rounds.take()
    answer = yield ascent.question(at)
    rounds.last = ascent.interpret(at, answer)
    return rounds.last


def _move(at: Vector, step: Vector, t: Fraction) -> Vector:
    return tuple(rounded(a + t * d) for a, d in zip(at, step, strict=True))


def _uphill(ascent: Ascent, iterate: Iterate, step: Vector, rounds: RoundLimit) -> Generator[Any, Any, Iterate]:
    t = Fraction(1)
    while t >= MIN_STEP:
        after = yield from _evaluate(ascent, _move(iterate.at, step, t), rounds)
        if not after.outside and _no_worse(iterate, after, step):
            return after
        t /= 2
    raise NotConverged(
        "{what}: no step improves the log-likelihood, although it is not at its maximum.",
        hint="scale columns to similar sizes: numbers of very different size lose digits",
        what=rounds.what,
    )


def _no_worse(previous: Iterate, after: Iterate, step: Vector) -> bool:
    """Whether the log-likelihood did not fall. If only scores are known, or rounding would hide the gain: whether the
    step did not go far beyond the maximum on its line.
    """
    if previous.spread is not None:
        here = _squared_length(previous.score, previous.spread)
        return here <= STALLED or _squared_length(after.score, previous.spread) < here
    gain = dot(previous.score, step)
    if previous.llf is None or after.llf is None or gain <= LITTLE_GAIN:
        return 2 * dot(after.score, step) >= -gain
    return after.llf >= previous.llf - SLACK * (1 + abs(previous.llf))


def _refuse_separated(ascent: Ascent, step: Vector, rounds: RoundLimit) -> Generator[Any, Any, None]:
    question = ascent.separation(step)
    if question is None or rounds.left < 1:
        return
    rounds.take()
    answer = yield question
    against, along = answer.sums
    if against or not along:
        return
    refuse_separated(rounds.what, ascent.moving_columns(step), int(along))


def refuse_separated(what: str, columns: list[str], rows: int | None = None) -> None:
    listed: Any = Several([repr(name) for name in columns]) if columns else Phrase("the constant")
    where = "" if rows is None else Plural(" in {n} row", " in {n} rows", n=rows)
    raise Separated(
        "{what}: {listed} predict{plural} the outcome without error{where}, and no coefficient is "
        "large enough for that.",
        hint="leave the column out, join its labels with others, or gather more rows",
        columns=columns,
        what=what,
        listed=listed,
        plural="s" * (len(columns) < 2),
        where=where,
    )
