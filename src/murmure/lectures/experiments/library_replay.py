"""What diffprivlib's models spend, at least: their own code, run on two tables that differ in one row.

Both runs of `fit` are given the same answers in the place of noisy ones. Each answer is chosen, among a few that the
mechanism can give, so that the first table explains it better than the second, by the law that the mechanism documents.
The sum of the log ratios is a lower bound of what these answers spend, whatever the model does with them afterwards.
bench/pima has the same with more pairs of tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from murmure.core.types import Array
from murmure.lectures.experiments.library_models import library_model, quiet, scaled
from murmure.lectures.experiments.pima_rows import PimaRows

CORNERS = ((1.0, 1.0), (0.0, 1.0), (1.0, 0.0))  # where the row is in the first table, and in the second
MIN_LOG = -100.0  # log of the least probability of class counts that are looked at: below, floats lose it


class MechanismCall(NamedTuple):
    """A mechanism that is asked: its kind, the true value, its scale and its bounds."""

    kind: str
    value: Any
    scale: float
    low: float
    high: float


class Unanswered(Exception):
    """A question for which nobody has chosen an answer yet."""

    def __init__(self, question: MechanismCall) -> None:
        super().__init__(question)
        self.question = question


@dataclass
class Replay:
    """Answers in the place of every mechanism, one after the other."""

    answers: list[float] = field(default_factory=list)
    position: int = 0

    def ask(self, question: MechanismCall) -> float:
        if self.position == len(self.answers):
            raise Unanswered(question)
        self.position += 1
        return self.answers[self.position - 1]

    def next_question(self, fit: Callable[[], Any]) -> MechanismCall | None:
        """The first question of a fit that has no answer yet; None: it has finished."""
        self.position = 0
        try:
            fit()
        except Unanswered as unanswered:
            return unanswered.question
        return None


def library_cost(model: str, epsilon: float, rows: PimaRows) -> float:
    """The largest bound over a few pairs of tables: one row is at a corner of the box, and its outcome changes too.

    Of the regression: of fits in which each noisy mean is the true one. Where one falls on its lower bound, a sum comes
    out without noise, and nothing is left to bound.
    """
    x, changed = scaled(rows.x), int(np.flatnonzero(rows.y == 0)[0])
    best = 0.0
    with _replayed() as replay, quiet():
        for corners in CORNERS:
            tables = []
            for corner, label in zip(corners, (0, 1), strict=True):
                xs, ys = x.copy(), rows.y.copy()
                xs[changed], ys[changed] = corner, label
                tables.append((xs, ys))
            for pair in (tables, tables[::-1]):
                best = max(best, _spent(replay, model, epsilon, pair))
    return best


def _spent(replay: Replay, model: str, epsilon: float, tables: Sequence[tuple[Array, Array]]) -> float:
    replay.answers, total = [], 0.0
    while True:
        fits = [lambda t=table: library_model(model, epsilon).fit(t[0].copy(), t[1]) for table in tables]
        first, second = (replay.next_question(fit) for fit in fits)
        if first is None or second is None:
            return total
        gains = {a: _log_law(first, a) - _log_law(second, a) for a in _candidates(first, second, model)}
        answer = max(gains, key=lambda a: gains[a])
        total += gains[answer]
        replay.answers.append(answer)


@contextmanager
def _replayed() -> Iterator[Replay]:
    """The library's mechanisms ask a replay instead of drawing; afterwards they draw again."""
    from diffprivlib import mechanisms
    from diffprivlib.models import GaussianNB

    replay = Replay()

    def asking(kind: str) -> Callable[[Any, float], float]:
        def randomise(self: Any, value: float) -> float:
            scale = self._find_scale() if kind == "bounded" else self.sensitivity / self.epsilon
            low, high = getattr(self, "lower", -math.inf), getattr(self, "upper", math.inf)
            return replay.ask(MechanismCall(kind, float(value), float(scale), float(low), float(high)))

        return randomise

    def class_counts(self: Any, y: Array, random_state: Any) -> Array:
        ones = tuple(int((y == label).sum()) for label in np.unique(y))
        first = replay.ask(MechanismCall("counts", ones, 3 / self.epsilon, 0, len(y)))
        return np.array([first, len(y) - first])

    kinds = {
        mechanisms.Laplace: "laplace",
        mechanisms.LaplaceTruncated: "truncated",
        mechanisms.LaplaceFolded: "folded",
        mechanisms.LaplaceBoundedDomain: "bounded",
    }
    changes: list[tuple[Any, str, Any]] = [(kind, "randomise", asking(name)) for kind, name in kinds.items()]
    changes.append((GaussianNB, "_noisy_class_counts", class_counts))
    originals = [(owner, name, vars(owner)[name]) for owner, name, _ in changes]
    try:
        for owner, name, new in changes:
            setattr(owner, name, new)
        yield replay
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)


# -- the laws that the mechanisms document


def _candidates(first: MechanismCall, second: MechanismCall, model: str) -> list[Any]:
    if first.kind == "counts":
        likely = np.minimum(_log_counts(*_counts_key(first)), _log_counts(*_counts_key(second))) > MIN_LOG
        return [int(count) for count in np.flatnonzero(likely)]
    if first.kind == "truncated":
        return [first.value] if model == "regression" else [first.low, first.high]
    if first.kind == "bounded":
        return [first.low, first.high]
    far = max(abs(first.value), abs(second.value)) + first.scale
    return [far] if first.kind == "folded" else [far, -far]


def _log_law(question: MechanismCall, answer: Any) -> float:
    """The log of a density, or of the mass at an end."""
    kind, value, scale, low, high = question
    if kind == "counts":
        return float(_log_counts(*_counts_key(question))[answer])
    if scale == 0:
        return 0.0 if answer == value else -math.inf
    if kind == "truncated" and answer in (low, high):
        return _log_tail(high - value if answer == high else value - low, scale)
    if kind == "bounded":
        value = min(max(value, low), high)
        inside = 1 - (math.exp((low - value) / scale) + math.exp((value - high) / scale)) / 2
        return _log_laplace(answer - value, scale) - math.log(inside)
    if kind == "folded":  # at zero
        return float(np.logaddexp(_log_laplace(answer - value, scale), _log_laplace(-answer - value, scale)))
    return _log_laplace(answer - value, scale)


def _log_laplace(z: float, scale: float) -> float:
    return -abs(z) / scale - math.log(2 * scale)


def _log_tail(z: float, scale: float) -> float:
    """log P[noise >= z]."""
    return -z / scale - math.log(2) if z >= 0 else math.log1p(-math.exp(z / scale) / 2)


def _counts_key(question: MechanismCall) -> tuple[int, int, float, int]:
    one, two = question.value
    return one, two, question.scale, int(question.high)


@lru_cache(maxsize=8)
def _log_counts(one: int, two: int, scale: float, n: int) -> Array:
    """Two noisy class counts are pushed until they sum to n: the exact law of the first one."""
    mass = np.multiply.outer(_geometric(one, scale, n), _geometric(two, scale, n))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.bincount(_pushed(n).ravel(), mass.ravel(), n + 1)))


def _geometric(value: int, scale: float, n: int) -> Array:
    """P[k] for k = 1..n: (1 - r) / (1 + r) r^|k - value| with r = e^(-1/scale), the rest in the ends."""
    r = math.exp(-1 / scale)
    p = (1 - r) / (1 + r) * r ** np.abs(np.arange(1, n + 1) - value)
    p[0], p[-1] = r ** (value - 1) / (1 + r), r ** (n - value) / (1 + r)
    return np.asarray(p)


@lru_cache(maxsize=2)
def _pushed(n: int) -> Array:
    """The library's loop for two classes, on all pairs of noisy counts at once: where the first count ends."""
    counts = np.stack(np.meshgrid(np.arange(1, n + 1), np.arange(1, n + 1), indexing="ij"))
    swapped = counts[0] > counts[1]
    i = np.where(counts.sum(0) > n, 0, 1)
    while (counts.sum(0) != n).any():
        sign = np.sign(n - counts.sum(0))
        which = np.where(swapped, 1 - i, i)
        for k in (0, 1):
            counts[k] = np.where(which == k, np.clip(counts[k] + sign, 1, n), counts[k])
        i = (i - sign) % 2
    return np.asarray(counts[0])
