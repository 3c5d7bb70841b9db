"""Each promise about records, and a mutant that breaks it: check_mechanism must reject it and say which promise.

Samples are seeded, so a rejection here is not a matter of chance.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.certify.checks.assertions import CheckFailed
from murmure.certify.checks.mechanisms import check_mechanism
from murmure.certify.checks.records import check_record_tallies
from murmure.certify.divergence import Loss
from murmure.certify.record_divergence import record_loss
from murmure.core.estimates.estimate import share_variance
from murmure.laws.bits import BitsChannel, set_bit
from murmure.laws.cut import Cut
from murmure.laws.hidden_draw import FakeCode, FakeValue, FakeZeros, Hidden
from murmure.laws.records import Joint, Records, Sampled
from murmure.local.base.hidden_attribute import HiddenOracle

TWO = mu.Schema({"a": mu.Categories(2), "b": mu.Categories(3)})
WIDE = mu.Schema({"a": mu.Categories(40), "b": mu.Categories(3)})


def put(mechanism: Any, **places: Any) -> Any:
    """The mechanism with something else in the place of its channel, its parts or its epsilon."""
    for name, value in places.items():
        mechanism.__dict__[name] = value
    return mechanism


def remade(kind: type[Any], thing: Any, **changed: Any) -> Any:
    """The same fields in a mutant class."""
    return kind(**{f.name: getattr(thing, f.name) for f in dataclasses.fields(thing)} | changed)


def rsfd(oracle: Any = "GRR", schema: mu.Schema = TWO, **said: Any) -> Any:
    return mu.RSFD(schema, 1.0, oracle=oracle, **said)


def hidden(kind: type[Hidden], oracle: Any = "GRR", **changed: Any) -> Any:
    """RSFD whose channel is a mutant; parts are built first, from the true one."""
    mechanism = rsfd(oracle)
    _ = mechanism.parts
    return put(mechanism, channel=remade(kind, mechanism.channel, **changed))


# ---- the law of samples is not the law that is stated


class TagLeaks(Hidden):
    """The real attribute is always the first, whatever the chances say."""

    def _tag(self, n: int, words: Any) -> Any:
        return np.zeros_like(super()._tag(n, words))


class LateTag(Hidden):
    """A tag that leans to the last attribute."""

    def _tag(self, n: int, words: Any) -> Any:
        tag = super()._tag(n, words)
        tag[::5] = len(self.parts) - 1
        return tag


class OthersFake(FakeCode):
    """Fakes that are never the person's own value: a missing value shows which attribute is real."""

    def draw(self, x: Any, tag: Any, i: int, words: Any) -> Any:
        out = super().draw(x, tag, i, words)
        clash = (tag != i) & (out == x)
        out[clash] = (out[clash] + 1) % self.fake.size
        return out


class AllZeros(FakeZeros):
    """A fake whose own bit is never set."""

    def set_true_bits(self, bits: Any, x: Any, tag: Any, i: int, own: Any) -> None:
        super().set_true_bits(bits, x, tag, i, own)
        fakes = bits[tag != i]
        set_bit(fakes, x[tag != i], np.zeros(len(fakes), bool))
        bits[tag != i] = fakes


class RealBit(FakeZeros):
    """A fake whose own bit is that of the real value: every attribute is real."""

    def set_true_bits(self, bits: Any, x: Any, tag: Any, i: int, own: Any) -> None:
        super().set_true_bits(bits, x, np.full_like(tag, i), i, own)


class TrueValue(FakeValue):
    """The fake value is the person's own."""

    def set_value_bits(self, bits: Any, x: Any, tag: Any, i: int, words: Any) -> None:
        super().set_value_bits(bits, x, np.full_like(tag, i), i, words)


def with_part(kind: type[Any], oracle: Any) -> Any:
    mechanism = rsfd(oracle)
    _ = mechanism.parts
    law = mechanism.channel
    return put(mechanism, channel=Hidden((remade(kind, law.parts[0]), *law.parts[1:]), law.chances))


class Neighbours(Hidden):
    """A record's fate hangs on its neighbour's words."""

    def draw(self, x: Any, words: Any) -> Any:
        out = super().draw(x, words)
        return tuple(np.where(np.arange(len(part)) % 2 == 1, np.roll(part, 1, axis=0), part) for part in out)


class Copies(Joint):
    """The second column reports what the first one says: columns are not independent."""

    def sample(self, x: Any, rng: Any, first: int = 0) -> Records:
        right = super().sample(x, rng, first)
        return Records(right.n, (right.parts[0], np.where(np.arange(right.n) % 2, right.parts[0], right.parts[1])))


class ShowsWhoSmokes(Sampled):
    """Which attribute is shown depends on the answer."""

    def sample(self, x: Any, rng: Any, first: int = 0) -> Records:
        right = super().sample(x, rng, first)
        assert right.rows is not None
        moved = right.rows[1][np.asarray(x[0])[right.rows[1]] == 1][::3]
        rows = (np.sort(np.concatenate([right.rows[0], moved])), np.setdiff1d(right.rows[1], moved))
        parts = tuple(part.draw(xi[r], rng.reserve(len(r), part.words, part.deep))
                      for part, xi, r in zip(self.parts, x, rows, strict=True))  # fmt: skip
        return Records(right.n, parts, rows)


class ShowsNothing(Sampled):
    """Now and then nothing is shown."""

    def sample(self, x: Any, rng: Any, first: int = 0) -> Records:
        right = super().sample(x, rng, first)
        assert right.rows is not None
        return Records(right.n, (right.parts[0][:-5], *right.parts[1:]), (right.rows[0][:-5], *right.rows[1:]))


# ---- a law that is none


class TooMuch(Hidden):
    """Forgets that only one attribute is real."""

    def prob(self, x: Any, y: Any) -> Fraction:
        return super().prob(x, y) * len(self.parts)


class OtherLog(Hidden):
    def log_prob(self, x: Any, y: Any) -> Any:
        return super().log_prob(x, y) + 1e-3


# ---- estimators


class WrongChance(HiddenOracle):
    """Divides by the wrong chance of being real."""

    def affine(self) -> Any:
        right = super().affine()
        return dataclasses.replace(right, slope=(right.slope[0] * 2,))


class LectureVariance(HiddenOracle):
    """The slide's variance: the chance is divided by once too few."""

    def variance(self, f: Any, n: int) -> Any:
        return super().variance(f, n) * float(self.chance)


class NoShareTerm(HiddenOracle):
    """Var*, the variance at share 0, as the papers print it."""

    def variance(self, f: Any, n: int) -> Any:
        high, low = self._cells
        return share_variance(np.zeros_like(np.asarray(f, float)), high, low) / n


class NoCross(HiddenOracle):
    def cross(self, f: Any) -> Any:
        return np.zeros_like(super().cross(f))


class IndependentFakes(HiddenOracle):
    """Takes the bits of a fake value for independent coins."""

    def cross(self, f: Any) -> Any:
        high, low = self._cells
        s, p, q = float(self.chance), float(self.real.supports.p), float(self.real.supports.q)
        fake = np.array([float(v) for v in self.fake_chances]) * np.ones(len(f))
        slope = high[0] - low[0]
        product = np.outer(low, low) + slope * (np.outer(f, low) + np.outer(low, f))
        both = s * (q * q + np.add.outer(f, f) * q * (p - q)) + (1 - s) * np.outer(fake, fake)
        return both - product


class CountsOne(HiddenOracle):
    """Counts everybody's first column once more."""

    def tally(self, reports: Any) -> Any:
        out = super().tally(reports)
        out[0] += len(reports)
        return out


def read_by(kind: type[HiddenOracle], oracle: Any = "GRR", schema: mu.Schema = TWO) -> Any:
    mechanism = rsfd(oracle, schema)
    held = mechanism.parts
    return put(mechanism, parts=(remade(kind, held[0]), *(remade(kind, part) for part in held[1:])))


class ForgetsWhoShowed(mu.SMP):  # type: ignore[misc]
    """Says that everybody showed every column."""

    def tally(self, records: Any) -> Any:
        out = super().tally(records)
        out[0] = records.n
        return out


# ---- certificates


class Understated(Hidden):
    """Certified by a rule of its own."""


@record_loss.register
def _(channel: Understated, unit: Any) -> Loss:
    right = record_loss.dispatch(Hidden)(channel, unit)
    return dataclasses.replace(right, ratio=right.ratio if unit == "record" else right.ratio - Fraction(1, 100))


class OtherWitness(Hidden):
    """The witness of one attribute differs in both."""


@record_loss.register
def _(channel: OtherWitness, unit: Any) -> Loss:
    return record_loss.dispatch(Hidden)(channel, "record")


class LowerWitness(Hidden):
    """A pair that is attained, and not the worst one."""


@record_loss.register
def _(channel: LowerWitness, unit: Any) -> Loss:
    x, y = (0,) * len(channel.parts), tuple(0 for _ in channel.parts)
    other = (1, *x[1:])
    return Loss(channel.prob(x, y) / channel.prob(other, y), (x, other, y), "looked at one pair")


def unsplit() -> Any:
    """Every column at the whole budget."""
    mechanism = mu.SPL(TWO, 1.0, oracle="GRR")
    twice = mu.SPL(TWO, 2.0, oracle="GRR")
    return put(mechanism, parts=twice.parts, channel=twice.channel)


def sampled_unsplit() -> Any:
    """Two columns of three at the whole budget each."""
    three = mu.Schema({"a": mu.Categories(2), "b": mu.Categories(3), "c": mu.Categories(2)})
    mechanism, twice = (mu.SMP(three, e, oracle="GRR", sample=2) for e in (1.0, 2.0))
    return put(mechanism, parts=twice.parts, channel=twice.channel)


def amplified() -> Any:
    """The papers' claim: amplified inside, and sold as epsilon per record."""
    mechanism, paper = mu.RSFD(TWO, 1.0), mu.RSFD(TWO, 1.0, calibrate="paper")
    return put(mechanism, parts=paper.parts, channel=paper.channel)


def amplified_per_attribute() -> Any:
    """The weaker claim, epsilon per attribute: wrong for unequal domains."""
    mechanism, paper = mu.RSFD(TWO, 1.0, calibrate="attribute"), mu.RSFD(TWO, 1.0, calibrate="paper")
    return put(mechanism, parts=paper.parts, channel=paper.channel)


def wasteful() -> Any:
    mechanism, half = (mu.RSFD(TWO, e) for e in (1.0, 0.5))
    return put(mechanism, parts=half.parts, channel=half.channel)


def joint(kind: type[Joint]) -> Any:
    mechanism = mu.SPL(mu.Schema({"a": mu.Categories(2), "b": mu.Categories(2)}), 1.0, oracle="GRR")
    return put(mechanism, channel=kind(mechanism.channel.parts))


def sampled(kind: type[Sampled]) -> Any:
    mechanism = mu.SMP(TWO, 1.0, oracle="GRR")
    return put(mechanism, channel=remade(kind, mechanism.channel))


FOLLOW = "do not follow the law"
MUTANTS: list[tuple[str, Callable[[], Any], str]] = [
    ("sample: the first attribute is always real", lambda: hidden(TagLeaks), FOLLOW),
    ("sample: a tag that leans", lambda: hidden(LateTag), FOLLOW),
    ("sample: fakes avoid the true value", lambda: with_part(OthersFake, "GRR"), FOLLOW),
    ("sample: no bit in a fake", lambda: with_part(AllZeros, "OUE-z"), FOLLOW),
    ("sample: a true bit in a fake", lambda: with_part(RealBit, "OUE-z"), FOLLOW),
    ("sample: the true value as a fake", lambda: with_part(TrueValue, "OUE-r"), FOLLOW),
    ("sample: columns copied", lambda: joint(Copies), FOLLOW),
    ("sample: the answer decides what is shown", lambda: sampled(ShowsWhoSmokes), FOLLOW),
    ("sample: nothing shown", lambda: sampled(ShowsNothing), "does not list"),
    ("words: a neighbour's", lambda: hidden(Neighbours), "depends on more than its own random words|" + FOLLOW),
    ("law: sums to two", lambda: hidden(TooMuch), "sums to 2.0"),
    ("law: another logarithm", lambda: hidden(OtherLog), "log_prob differs"),
    ("law: chances of another draw", lambda: hidden(Hidden, chances=Cut.of([3, 1])), "the map says|covariance"),
    ("map: wrong chance", lambda: read_by(WrongChance), "the map says"),
    ("map: a tally too high", lambda: read_by(CountsOne), "the map says"),
    ("variance: the lecture's", lambda: read_by(LectureVariance), "covariance of cells"),
    ("variance: without the share", lambda: read_by(NoShareTerm, "OUE-z"), "covariance of cells"),
    ("cross: none", lambda: read_by(NoCross), "covariance of cells"),
    ("cross: fakes taken for independent", lambda: read_by(IndependentFakes, "OUE-r"), "covariance of cells"),
    ("tally: who showed is forgotten", lambda: ForgetsWhoShowed(TWO, 1.0, oracle="GRR"), "the map says|expectation"),
    ("budget: not split", unsplit, "record: the certified epsilon"),
    ("budget: not split between two of three", sampled_unsplit, "record: the certified epsilon"),
    ("budget: the papers' claim about records", amplified, "record: the certified epsilon"),
    ("budget: the papers' claim about attributes", amplified_per_attribute, "attribute: the certified epsilon"),
    ("budget: half wasted", wasteful, r"record: the certified epsilon is 0\.5"),
    (
        "certificate: one attribute understated",
        lambda: hidden(Understated),
        "attribute: the witness .* does not attain",
    ),
    ("certificate: a witness beyond the unit", lambda: hidden(OtherWitness), "differ in more than one unit"),
    (
        "certificate: not the worst pair",
        lambda: hidden(LowerWitness),
        "record: the certified epsilon|differs from full enumeration",
    ),
]


@pytest.mark.parametrize(
    ("mutant", "promise"), [pytest.param(mutant, promise, id=name) for name, mutant, promise in MUTANTS]
)
def test_a_mutant_of_records_is_rejected(mutant: Callable[[], Any], promise: str) -> None:
    """check_mechanism names the promise that the mutant breaks."""
    mechanism = mutant()

    with pytest.raises(CheckFailed, match=promise):
        check_mechanism(mechanism)


@pytest.mark.parametrize(
    "control",
    [
        lambda: hidden(Hidden),
        lambda: with_part(FakeCode, "GRR"),
        lambda: with_part(FakeZeros, "OUE-z"),
        lambda: with_part(FakeValue, "OUE-r"),
        lambda: joint(Joint),
        lambda: sampled(Sampled),
        lambda: read_by(HiddenOracle),
        lambda: read_by(HiddenOracle, "OUE-r"),
    ],
)
def test_what_was_mutated_is_accepted(control: Callable[[], Any]) -> None:
    """Without its mutation each of the above passes: it is the mutation that is rejected."""
    check_mechanism(control())


def test_mutants_too_large_to_list_are_rejected() -> None:
    """40 values as bits cannot be enumerated: every cell is held against its expectation."""
    mechanism = rsfd("OUE-z", WIDE)
    _ = mechanism.parts
    check_mechanism(mechanism)
    law = mechanism.channel

    with pytest.raises(CheckFailed, match=FOLLOW):
        check_mechanism(put(mechanism, channel=Hidden((remade(RealBit, law.parts[0]), law.parts[1]), law.chances)))

    with pytest.raises(CheckFailed, match=FOLLOW):
        check_mechanism(read_by(CountsOne, "OUE-z", WIDE))


@pytest.mark.parametrize(("errors", "outcome"), [(4, nullcontext()), (7, pytest.raises(CheckFailed, match=FOLLOW))])
def test_a_tally_may_lie_four_standard_errors_from_its_expectation_and_not_seven(errors: int, outcome: Any) -> None:
    """A cell of probability p has the standard error sqrt(n p (1 - p)); 43 cells lie within 5.9 but for 2e-7."""

    class CountsMore(HiddenOracle):
        """So many standard errors too many of the second of 40 values, which none of the three records has."""

        def tally(self, reports: Any) -> Any:
            out, n, p = super().tally(reports), len(reports), float(self.affine().offset[0])
            out[1] = n * p + errors * math.sqrt(n * p * (1 - p))
            return out

    mechanism = rsfd("OUE-z", WIDE)
    first, second = mechanism.parts
    with outcome:
        check_record_tallies(put(mechanism, parts=(remade(CountsMore, first), second)), 1)


def test_a_fake_that_is_never_said_is_refused() -> None:
    """Seeing it would be knowing it: a cut gives every code a word at least."""
    with pytest.raises(mu.MurmureError, match="positive"):
        Cut(3, (1 << 63, 1 << 63, 0))
    assert Cut.of([1.0, 1.0, 0.0]).count(2) == 1


def test_different_coins_among_fakes_are_refused() -> None:
    """The bits of all unary attributes come from one string: one coin for all."""
    with pytest.raises(mu.MurmureError, match="same probabilities"):
        Hidden((FakeZeros(BitsChannel(2, 3 << 62, 1 << 62)), FakeZeros(BitsChannel(2, 1 << 63, 1 << 62))), Cut(2))
