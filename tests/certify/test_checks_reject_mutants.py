"""Each promise of the generic checks, and a mutant that breaks it: the check must reject it and say which promise.

The bugs marked with a library's name were found in that library; the others are what a tired author would write.
Samples are seeded, so a rejection here is not a matter of chance.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from murmure.certify.certificate import certify
from murmure.certify.checks.assertions import CheckFailed
from murmure.certify.checks.engines import check_engine
from murmure.certify.checks.mechanisms import check_mechanism, check_samples
from murmure.certify.checks.statistics import check_statistic
from murmure.certify.divergence import Loss, max_loss
from murmure.core.domain import Categories, Integers
from murmure.core.errors import EmptySource
from murmure.core.fixed import WORD
from murmure.core.random import GivenWords
from murmure.core.types import NoAffine, Total
from murmure.engines.memory import Memory
from murmure.laws.bits import BitsChannel, ChainedBits, pack, set_bit
from murmure.laws.law import Channel
from murmure.laws.subset import Subset
from murmure.laws.window import WindowChannel
from murmure.local.base.randomisers import Supports
from murmure.local.bounded_laplace import BoundedLaplace
from murmure.local.duchi import Duchi
from murmure.local.grr import GRR
from murmure.local.hashing import OLH
from murmure.local.rappor import RAPPOR
from murmure.local.subset import SubsetSelection
from murmure.local.unary import SUE
from murmure.local.warner import Warner
from murmure.statistics.histogram import Histogram
from murmure.statistics.mean import Mean


def through(mechanism: Any, channel: Channel) -> Any:
    """The mechanism, but with this channel in the place of its own."""
    mechanism.__dict__["channel"] = channel
    return mechanism


def remade(kind: type[Any], law: Any, **changed: Any) -> Any:
    """The same integers in a mutant class."""
    return kind(**{f: getattr(law, f) for f in law.__dataclass_fields__} | changed)


def all_words(words: Any, width: int) -> np.ndarray:
    main = np.empty((words.n, width), np.uint64)

    def fill(a: int, b: int, block: np.ndarray) -> None:
        main[a:b] = block

    words.each(fill)
    return main


# ---- the law


class OneUnitTooMuch(WindowChannel):
    def prob(self, x: int, y: int) -> Fraction:
        return super().prob(x, y) + (Fraction(1, WORD) if y == 0 else 0)


class Negative(WindowChannel):
    """The last report owes what the first has too much."""

    def prob(self, x: int, y: int) -> Fraction:
        return super().prob(x, y) + {0: 1, self.outputs - 1: -1}.get(int(y), 0)


class OtherLogarithm(WindowChannel):
    def log_prob(self, x: Any, y: Any) -> Any:
        return super().log_prob(x, y) + 1e-9


# ---- the sampler


class OtherThreshold(WindowChannel):
    """Draws with a threshold of its own: a few percent more truth than the law says."""

    def draw(self, x: Any, words: Any) -> Any:
        return WindowChannel(self.inputs, self.outputs, 1, 1, 0, self.outside * 9 // 10).draw(x, words)


class Truth(WindowChannel):
    """Draws nothing: the value itself."""

    def draw(self, x: Any, words: Any) -> Any:
        return np.asarray(x).astype(np.uint8)


class Stray(WindowChannel):
    """Numbers its reports from one."""

    def draw(self, x: Any, words: Any) -> Any:
        return super().draw(x, words) + np.uint8(1)


class NeighboursWords(WindowChannel):
    """Reads the words of the next report: the same law, person by person, but not one's own words."""

    def draw(self, x: Any, words: Any) -> Any:
        return super().draw(x, GivenWords(np.roll(all_words(words, self.words), 1, axis=0)))


class NeighboursValue(WindowChannel):
    """Randomises the value of the person before: invisible when all hold the same value."""

    def draw(self, x: Any, words: Any) -> Any:
        return super().draw(np.roll(x, 1), words)


class NeverOff(ChainedBits):
    """pure-LDP's RAPPOR: a true bit, once set, is never turned off, while the law says that it is."""

    def draw(self, x: Any, words: Any) -> Any:
        report = super().draw(x, words)
        set_bit(report, x, np.ones(len(x), bool))
        return report


# ---- the affine map


class LectureOLH(OLH):
    """Lecture 003 takes q = 1/(E+g-1), the lie, where the collision probability 1/g belongs."""

    @cached_property
    def supports(self) -> Supports:
        return replace(super().supports, q=self.channel.bins.prob(0, 1))


class RoundedReadout(Duchi):
    """The readout of the paper's reals, not of the integers that run."""

    @property
    def readout(self) -> tuple[Fraction, ...]:
        E, top = math.exp(self.epsilon), self.domain.size - 1
        B = (E + 1) / (E - 1)
        return tuple(Fraction(top * (1 + sign * B) / 2) for sign in (-1, 1))


class Silent(BoundedLaplace):
    def affine(self) -> NoAffine:
        return NoAffine("")


# ---- the certificate


class Understated(WindowChannel):
    """A law whose rule of certification forgets the largest ratio."""


class FalseWitness(WindowChannel):
    """A law whose rule of certification names a report that does not attain the ratio."""


@max_loss.register
def _(channel: Understated) -> Loss:
    return Loss(Fraction(1), (0, 0, 0), "a rule that looks at one input")


@max_loss.register
def _(channel: FalseWitness) -> Loss:
    return Loss(Fraction(channel.inside, channel.outside), (0, 1, 1), "a rule that points elsewhere")


@dataclass(frozen=True)
class TrueValueFirst:
    """multi-freq-ldpy's subset selection: when the true value is kept it stands first in the report.

    Reports are ordered pairs. With `says_so`, P[(a, b) | x] is the law that really runs; without, the law
    of a shuffled pair.
    """

    subset: Subset
    says_so: bool

    deep, slack = 0, 0.0

    @property
    def inputs(self) -> int:
        return self.subset.inputs

    @property
    def words(self) -> int:
        return self.subset.words

    @property
    def p(self) -> Fraction:
        return self.subset.p

    def draw(self, x: Any, words: Any) -> Any:
        sets = self.subset.draw(x, words)
        pairs = [[v for v in range(self.inputs) if int(s[0]) >> v & 1] for s in sets]
        return np.array([sorted(pair, key=lambda v, own=own: v != own) for pair, own in zip(pairs, x, strict=True)])

    def prob(self, x: int, y: Any) -> Fraction:
        k, p, pair = self.inputs, self.p, [int(v) for v in y]
        if not self.says_so:
            return p / (k - 1) / 2 if x in pair else (1 - p) / math.comb(k - 1, 2) / 2
        if x in pair:
            return p / (k - 1) if pair[0] == x else Fraction(0)
        return (1 - p) / math.comb(k - 1, 2) if pair[0] < pair[1] else Fraction(0)  # others stay sorted

    def log_prob(self, x: Any, y: Any) -> Any:
        probs = [self.prob(int(a), b) for a, b in zip(x, y, strict=True)]
        return np.array([math.log(p) if p else -math.inf for p in probs])

    def outcomes(self) -> Iterable[Any]:
        return [np.array(pair) for pair in itertools.permutations(range(self.inputs), 2)]


class PairSelection(SubsetSelection):
    def tally(self, reports: Any) -> Any:
        return np.bincount(np.asarray(reports).ravel(), minlength=self.domain.size)


def true_value_first(says_so: bool) -> Any:
    return through(PairSelection(Categories(4), 1.0, w=2), TrueValueFirst(Subset(4, 2, WORD // 4 * 3), says_so))


@dataclass(frozen=True)
class OwnBitAlwaysOn:
    """The law that pure-LDP's RAPPOR really has: P[own bit = 1] = 1, other bits 1 with probability q."""

    like: ChainedBits

    deep, slack, words = 0, 0.0, 1

    @property
    def inputs(self) -> int:
        return self.like.inputs

    p = Fraction(1)

    @property
    def q(self) -> Fraction:
        return self.like.q

    def draw(self, x: Any, words: Any) -> Any:
        u = all_words(words, 1)[:, 0]
        out = np.zeros((len(x), 1), np.uint64)
        for v in range(self.inputs):  # a word holds enough bits for three coarse coins
            coin = (u >> np.uint64(20 * v)) & np.uint64((1 << 20) - 1)
            out[:, 0] |= (coin < round(self.q * (1 << 20))).astype(np.uint64) << np.uint64(v)
        set_bit(out, x, np.ones(len(x), bool))
        return out

    def prob(self, x: int, y: Any) -> Fraction:
        chances = [self.p if v == x else self.q for v in range(self.inputs)]
        return math.prod(
            (c if int(y[0]) >> v & 1 else 1 - c for v, c in enumerate(chances)),
            start=Fraction(1),
        )

    def log_prob(self, x: Any, y: Any) -> Any:
        probs = [self.prob(int(a), b) for a, b in zip(x, y, strict=True)]
        return np.array([math.log(p) if p else -math.inf for p in probs])

    def outcomes(self) -> Iterable[Any]:
        return [pack(np.array([bits]))[0] for bits in itertools.product((0, 1), repeat=self.inputs)]


def always_on() -> Any:
    rappor = RAPPOR(Categories(3), 4.0, 1.0)
    channel = OwnBitAlwaysOn(rappor.channel)
    rappor.__dict__["supports"] = Supports(channel.p, channel.q)
    return through(rappor, channel)


class Calibrated(GRR):
    """Asked for epsilon, built for `factor` times as much."""

    factor = 1.0

    @cached_property
    def channel(self) -> WindowChannel:
        return WindowChannel.calibrated(self.epsilon * self.factor, self.domain.size, self.domain.size)


class Above(Calibrated):
    factor = 1.1


class AboveByOneUnit(GRR):
    """One unit of 2**-64 less than the least `outside` that keeps e**epsilon."""

    @cached_property
    def channel(self) -> WindowChannel:
        right = super().channel
        return remade(WindowChannel, right, outside=right.outside - 1)


class Wasteful(Calibrated):
    factor = 1 - 2e-6


def grr() -> GRR:
    return GRR(Categories(4), 0.5)


def window(kind: type[WindowChannel]) -> Any:
    return through(grr(), remade(kind, grr().channel))


def rappor_never_off() -> Any:
    right = RAPPOR(Categories(3), 4.0, 1.0)
    return through(right, remade(NeverOff, right.channel))


def coins(kind: type[WindowChannel]) -> Any:
    return through(Warner(Categories(2)), remade(kind, WindowChannel.calibrated(1.0, 2, 2)))


MECHANISM_MUTANTS: list[tuple[str, Callable[[], Any], str]] = [
    ("law: one unit too much", lambda: window(OneUnitTooMuch), r"law of input 0 sums to"),
    ("law: negative", lambda: window(Negative), r"law of input 0 has a negative probability"),
    ("law: log_prob", lambda: window(OtherLogarithm), r"log_prob differs from prob at 0"),
    ("samples: threshold", lambda: window(OtherThreshold), r"samples of input 0 do not follow the law"),
    ("samples: the truth", lambda: window(Truth), r"samples of input 0 do not follow the law"),
    ("samples: stray report", lambda: window(Stray), r"sampled a report that the law does not list"),
    ("samples: RAPPOR never turns a true bit off", rappor_never_off, r"samples of input 0 do not follow the law"),
    ("samples: true value first, unsaid", lambda: true_value_first(False), r"samples of input 0 do not follow the law"),
    ("affine: lecture's q", lambda: LectureOLH(Categories(5), 1.0), r"E\[tally of 1 \| 0\] is .*, the affine map says"),
    (
        "affine: lecture's q where reports cannot be listed",
        lambda: LectureOLH(Categories(500), 1.0),
        r"samples of input 0 do not follow the law",
    ),
    ("affine: readout", lambda: RoundedReadout(Integers(0, 10), 1.0), r"the readout of code 0 has expectation"),
    ("affine: no reason", lambda: Silent(Integers(0, 10), 1.0), r"no affine map, and no reason given"),
    ("words: a neighbour's", lambda: window(NeighboursWords), r"report 0 depends on more than its own random words"),
    (
        "words: a neighbour's value",
        lambda: window(NeighboursValue),
        r"report 0 depends on more than its own random words",
    ),
    ("certificate: 1.1 epsilon", lambda: Above(Categories(4), 1.0), r"certified epsilon, 1\.1.*, is above the 1\.0"),
    (
        "certificate: one unit",
        lambda: AboveByOneUnit(Categories(4), 1.0),
        r"certified epsilon, 1\.0.*, is above the 1\.0",
    ),
    ("certificate: wasteful", lambda: Wasteful(Categories(4), 1.0), r"wastes more than 1e-6 of the 1\.0"),
    ("certificate: true value first", lambda: true_value_first(True), r"certified epsilon, inf, is above the 1\.0"),
    ("certificate: own bit always on", always_on, r"certified epsilon, inf, is above the 1\.0"),
    ("certificate: understated rule", lambda: coins(Understated), r"loss by classes differs from full enumeration"),
    ("certificate: false witness", lambda: coins(FalseWitness), r"the witness \(0, 1, 1\) does not attain the loss"),
]


@pytest.mark.parametrize(
    ("mutant", "promise"),
    [pytest.param(mutant, promise, id=name) for name, mutant, promise in MECHANISM_MUTANTS],
)
def test_a_mutant_mechanism_is_rejected(mutant: Callable[[], Any], promise: str) -> None:
    """check_mechanism names the promise that the mutant breaks."""
    mechanism = mutant()

    with pytest.raises(CheckFailed, match=promise):
        check_mechanism(mechanism)


@pytest.mark.parametrize(
    "control",
    [
        grr,
        lambda: through(grr(), remade(WindowChannel, grr().channel)),
        lambda: OLH(Categories(5), 1.0),
        lambda: OLH(Categories(500), 1.0),
        lambda: Duchi(Integers(0, 10), 1.0),
        lambda: RAPPOR(Categories(3), 4.0, 1.0),
        lambda: SubsetSelection(Categories(4), 1.0, w=2),
        lambda: Calibrated(Categories(4), 1.0),
        lambda: coins(WindowChannel),
    ],
    ids=["GRR", "GRR remade", "OLH", "OLH 500", "Duchi", "RAPPOR", "SubsetSelection", "factor 1", "coins"],
)
def test_what_was_mutated_is_accepted(control: Callable[[], Any]) -> None:
    """Without its mutation each of the above passes: it is the mutation that is rejected."""
    check_mechanism(control())


def test_right_samples_of_a_rare_report_are_accepted() -> None:
    """Reports expected once in a hundred checks: 30 seeds, each promised to fail by chance once in a million."""
    mechanism = GRR(Categories(2), 14.5)  # 20,000 people, 0.01 lies expected

    for seed in range(1, 31):
        check_samples(mechanism, [0, 1], seed)


def test_an_infinite_loss_names_the_leak() -> None:
    """A true value that stands first is told apart for certain: epsilon is infinite, and the witness shows the pair."""
    x, other, pair = certify(true_value_first(True)).witness

    assert certify(true_value_first(True)).epsilon == math.inf
    assert int(pair[0]) == int(x) or int(pair[0]) == int(other)


def test_a_mechanism_with_too_many_reports_to_list_is_still_checked() -> None:
    """More than 5,000 reports, biased (Window) or read as a mean: checked by what can be checked, not crashed on."""
    from murmure.core.domain import Interval
    from murmure.local.square_wave import SquareWave
    from murmure.local.window import Window as WindowMechanism

    check_mechanism(WindowMechanism(Interval(0.0, 1.0, cells=8192), 1.0))
    check_mechanism(SquareWave(Interval(0.0, 1.0, cells=8192), 1.0))


def test_bits_that_are_always_set_are_an_infinite_loss_or_refused() -> None:
    """p = 1 leaves a report that one input cannot give: never a finite epsilon, and no arithmetic accident."""
    sue = SUE(Categories(3), 1.0)
    try:
        broken = through(sue, BitsChannel(3, WORD, WORD // 4))
        epsilon = certify(broken).epsilon
    except ValueError as refused:
        assert "bits must" in str(refused)
    else:
        assert epsilon == math.inf


# ---- statistics


class OrderMatters(Histogram):
    """Every second person counts twice."""

    def lift(self, x: Any) -> Any:
        return super().lift(x) * (1 + np.arange(len(x))[:, None] % 2)

    def tally(self, x: Any) -> Any:
        return self.lift(x).sum(axis=0)


class ForgetsTheLast(Histogram):
    def tally(self, x: Any) -> Any:
        return super().tally(x[:-1])


class DoesNotMerge(Histogram):
    """Caps a cell at 200: right for few, wrong when parts are added."""

    def lift(self, x: Any) -> Any:
        lifted = super().lift(x)
        return lifted * (np.cumsum(lifted, axis=0) <= 200)

    def tally(self, x: Any) -> Any:
        return self.lift(x).sum(axis=0)


class FloatLift(Histogram):
    def lift(self, x: Any) -> Any:
        return super().lift(x).astype(float)


class WrongClear(Mean):
    """Means of codes, not of values."""

    def interpret_exact(self, total: Any, n: int) -> Any:
        return replace(super().interpret_exact(total, n), mean=np.array([total[0] / n]))


class MissingLabel(Histogram):
    def interpret_exact(self, total: Any, n: int) -> Any:
        return replace(super().interpret_exact(total, n), labels=["one"])


class NoisyClear(Histogram):
    """An exact sum that pretends to be randomised."""

    def interpret_exact(self, total: Any, n: int) -> Any:
        right = super().interpret_exact(total, n)
        return replace(right, estimator=replace(right.estimator, p=np.full(self.width, 0.9)))


@pytest.mark.parametrize(
    ("mutant", "promise"),
    [
        (OrderMatters(Integers(0, 2)), "depends on the order of people"),
        (ForgetsTheLast(Integers(0, 2)), "tally is not the sum of lift"),
        (DoesNotMerge(Integers(0, 2)), "do not add up to the tally of both"),
        (FloatLift(Integers(0, 2)), r"lift is not \(n, width\) int64"),
        (WrongClear(Integers(5, 9)), r"without noise it gives .*, not "),
        (MissingLabel(Integers(0, 2)), "labels and figures differ in number"),
        (NoisyClear(Integers(0, 2)), "an exact sum has a variance"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_mutant_statistic_is_rejected(mutant: Any, promise: str) -> None:
    """check_statistic names the promise that the mutant breaks."""
    with pytest.raises(CheckFailed, match=promise):
        check_statistic(mutant)


# ---- engines


class DropsTheLast(Memory):
    def total(self, step: Any, source: Any) -> Total:
        batches = list(source)
        return super().total(step, batches[:-1] if len(batches) > 1 else batches)


class FirstTwice(Memory):
    def total(self, step: Any, source: Any) -> Total:
        batches = list(source)
        return super().total(step, batches[:1] + batches)


class OnlyTheCount(Memory):
    """Right sums, wrong number of people."""

    def total(self, step: Any, source: Any) -> Total:
        right = super().total(step, source)
        return Total(right.n - 1, right.sum)


class AddsNobody(Memory):
    def total(self, step: Any, source: Any) -> Total:
        try:
            return super().total(step, source)
        except EmptySource:
            return Total(0, np.zeros(2, np.int64))


class Shuffles(Memory):
    def each(self, work: Any, source: Any) -> Any:
        return reversed(list(super().each(work, source)))


class OnlyTotal:
    """Adds up, and cannot sanitise."""

    def total(self, step: Any, source: Any) -> Total:
        return Memory().total(step, source)


@pytest.mark.parametrize(
    ("mutant", "promise"),
    [
        (Shuffles(), "come back once, in order"),
        (OnlyTotal(), "lacks total, each or accepts"),
        (DropsTheLast(), "the total depends on the batches"),
        (FirstTwice(), "the total depends on the batches"),
        (OnlyTheCount(), "the total depends on the batches"),
        (AddsNobody(), "added up no rows and raised no error"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_mutant_engine_is_rejected(mutant: Any, promise: str) -> None:
    """check_engine names the promise that the mutant breaks."""
    rows = np.arange(1, 101)

    with pytest.raises(CheckFailed, match=promise):
        check_engine(mutant, lambda: [rows[:10], rows[10:60], rows[60:]])
