"""One attribute is real and the others are fakes, and the report does not say which: a hidden draw.

    P[y | x] = sum_j s_j P_j[y_j | x_j] prod_{i != j} F_i[y_i]          s_j: the chance that attribute j is the real one

Fakes F_i of three kinds:
    FakeCode    real: a code through a window of length 1 (GRR);   fake: a code from a cut (even, or a public prior)
    FakeZeros   real: unary bits;   fake: the bits of nobody, all of them set with probability q
    FakeValue   real: unary bits;   fake: the bits of a value from a cut (even, or a public prior)

A record uses a word for the draw; one for each code; two for each FakeValue (the bit of the value, the fake value); the
planes of all unary bits, which form one string so that short attributes share words; and one for the bit of the true
value where the real attribute is a FakeZeros. Each of these ranges is reserved for the whole batch, so that kernels
read words one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter
from murmure.core.fixed import Words64
from murmure.core.helper_thread import with_helper
from murmure.core.random import Random, RandomWords
from murmure.core.types import Array, Floats, Mask
from murmure.laws.bits import BitsChannel, bits_log_prob, bits_prob, mass_of_set_bits, set_bit
from murmure.laws.cut import Cut
from murmure.laws.kernel_loader import as_one_of_several, kernels_for, native, threads
from murmure.laws.records import Columns, Records, Row, every_outcome
from murmure.laws.strings import Strings, coins
from murmure.laws.window import WindowChannel


@dataclass(frozen=True)
class FakeCode:
    """A code, or a fake one."""

    real: WindowChannel
    fake: Cut

    words = 1

    def draw(self, x: Array, tag: Array, i: int, words: RandomWords) -> Array:
        """Real where tag == i."""
        out = np.empty(len(x), self.fake.dtype)
        kernels, real, cut = kernels_for(len(x)), self.real, self.fake

        def fill(a: int, b: int, block: Words64) -> None:
            u = block[:, 0]
            real._fill(x[a:b], u, out[a:b])
            # The same word makes the real code and the fake one: only one of them is reported.
            fake = cut.pick(u)
            fake ^= out[a:b]
            fake &= np.negative((tag[a:b] != i).astype(out.dtype))
            out[a:b] ^= fake

        def fast(a: int, b: int, block: Words64) -> None:
            body, outside, step = map(np.uint64, (real.body, real.outside, cut.step))
            kernels.hidden_code(x[a:b], block, tag[a:b], i, step, cut.ends, body, outside, out[a:b])  # type: ignore[union-attr]

        words.each(*((fill, 1) if kernels is None else (fast, threads())))
        return out

    def __post_init__(self) -> None:
        if (self.real.length, self.real.step, self.real.shift) != (1, 1, 0) or self.real.outputs != self.fake.size:
            raise InvalidParameter("a fake code must be drawn from the same codes as generalised randomised response.")

    def fake_prob(self, y: int) -> Fraction:
        return self.fake.prob(int(y))

    def fake_log_prob(self, y: Array) -> Floats:
        return np.log(self.fake.shares())[np.asarray(y).astype(np.int64)]

    def real_log_ratio(self, y: Array, shares: Floats) -> Floats:
        """ln(real / fake): how much likelier this code is where the person's value, drawn from shares, was reported."""
        p, q = float(self.real.prob(0, 0)), float(self.real.prob(0, 1))
        ratios = np.log((q + (p - q) * shares) / self.fake.shares())
        return np.asarray(ratios[np.asarray(y).astype(np.int64)])

    def integers(self) -> dict[str, Any]:
        return {"kind": "fake code", "real": self.real.integers(), "fake": self.fake.integers()}

    def outcomes(self) -> range:
        return self.real.outcomes()


class UnaryFake:
    """What both kinds of fake bits share."""

    real: BitsChannel

    def outcomes(self) -> Iterator[Words64] | None:
        return self.real.outcomes()

    def value_log_ratio(self, y: Array, shares: Floats) -> Floats:
        """ln(P[y | a value from shares] / P[y | nobody]): only the bit of the value differs, so their mass decides."""
        p, q = self.real.p, self.real.q
        off, on = float((1 - p) / (1 - q)), float(p / q)
        return np.log(off + (on - off) * mass_of_set_bits(y, shares))


@dataclass(frozen=True)
class FakeZeros(UnaryFake):
    """Unary bits, or the bits of nobody."""

    real: BitsChannel

    words = 0  # the bit of a true value is the one coin p of the record; a fake leaves all bits unchanged

    def set_true_bits(self, bits: Words64, x: Array, tag: Array, i: int, coin: Mask) -> None:
        """Where the attribute is real (tag == i), the bit of the true value is the coin."""
        kernels = kernels_for(len(x))
        if kernels is not None:
            kernels.set_bit_where(tag, i, x, coin, bits)
            return
        real = np.flatnonzero(tag == i)
        changed = bits[real]
        set_bit(changed, x[real], coin[real])
        bits[real] = changed

    def fake_prob(self, y: Any) -> Fraction:
        return bits_prob(self.real, -1, y)  # no bit is that of a true value

    def fake_log_prob(self, y: Array) -> Floats:
        ones = np.bitwise_count(y).sum(axis=1).astype(np.int64)
        return np.asarray(ones * math.log(self.real.q) + (self.real.inputs - ones) * math.log(1 - self.real.q))

    def real_log_ratio(self, y: Array, shares: Floats) -> Floats:
        return self.value_log_ratio(y, shares)

    def integers(self) -> dict[str, Any]:
        return {"kind": "fake zeros", "real": self.real.integers()}


@dataclass(frozen=True)
class FakeValue(UnaryFake):
    """Unary bits of the person's value, or of a value from the cut."""

    real: BitsChannel
    fake: Cut

    words = 2

    def __post_init__(self) -> None:
        if self.real.inputs != self.fake.size:
            raise InvalidParameter("a fake value must be one of the values that the bits represent.")

    def set_value_bits(self, bits: Words64, x: Array, tag: Array, i: int, words: RandomWords) -> None:
        """Set the bit of the value, the true one (tag == i) or a fake one."""
        value, out = np.empty(len(x), self.fake.dtype), np.empty(len(x), bool)
        p, kernels, cut = np.uint64(self.real.yes_true), kernels_for(len(x)), self.fake

        def fill(a: int, b: int, block: Words64) -> None:
            np.less(block[:, 0], p, out=out[a:b])
            value[a:b] = cut.pick(block[:, 1])
            np.copyto(value[a:b], x[a:b].astype(value.dtype, copy=False), where=tag[a:b] == i)

        def fast(a: int, b: int, block: Words64) -> None:
            step = np.uint64(cut.step)
            kernels.hidden_value(x[a:b], block, tag[a:b], i, step, cut.ends, p, value[a:b], out[a:b])  # type: ignore[union-attr]

        words.each(*((fill, 1) if kernels is None else (fast, threads())))
        set_bit(bits, value, out)

    def fake_prob(self, y: Any) -> Fraction:
        return sum((self.fake.prob(v) * self.real.prob(v, y) for v in range(self.fake.size)), Fraction(0))

    def fake_log_prob(self, y: Array) -> Floats:
        return FakeZeros(self.real).fake_log_prob(y) + self.value_log_ratio(y, self.fake.shares())

    def real_log_ratio(self, y: Array, shares: Floats) -> Floats:
        return self.value_log_ratio(y, shares) - self.value_log_ratio(y, self.fake.shares())

    def integers(self) -> dict[str, Any]:
        return {"kind": "fake value", "real": self.real.integers(), "fake": self.fake.integers()}


HiddenPart = FakeCode | FakeZeros | FakeValue


@dataclass(frozen=True)
class Hidden:
    """Attribute j is real with probability chances.prob(j); the report does not say which."""

    parts: tuple[HiddenPart, ...]
    chances: Cut

    def __post_init__(self) -> None:
        if len(self.parts) != self.chances.size:
            raise InvalidParameter(
                "{part_count} attributes need {part_count} probabilities, got {got}.",
                part_count=len(self.parts),
                got=self.chances.size,
            )
        if len({(part.real.yes_true, part.real.yes_false) for _, part in self.unary}) > 1:
            raise InvalidParameter("all unary attributes of a hidden draw must have the same probabilities.")

    slack = 0.0

    @property
    def inputs(self) -> tuple[int, ...]:
        return tuple(part.real.inputs for part in self.parts)

    @cached_property
    def unary(self) -> list[tuple[int, FakeZeros | FakeValue]]:
        return [(i, part) for i, part in enumerate(self.parts) if not isinstance(part, FakeCode)]

    @cached_property
    def string(self) -> Strings:
        """The bits of all unary attributes."""
        return Strings(tuple(part.real.inputs for _, part in self.unary), self.thresholds[1])

    @property
    def thresholds(self) -> tuple[int, int]:
        """The coins of all unary attributes: of the bit of the true value, and of any other."""
        real = self.unary[0][1].real
        return real.yes_true, real.yes_false

    @cached_property
    def place(self) -> dict[int, int]:
        """The place of each unary attribute in the string."""
        return {i: place for place, (i, _) in enumerate(self.unary)}

    @property
    def zeros(self) -> bool:
        """Whether the record has a coin p for the attribute that is real."""
        return any(isinstance(part, FakeZeros) for part in self.parts)

    @cached_property
    def ranges(self) -> list[tuple[int, int]]:
        """Main and deep words of a record: of the draw, of each attribute, of the string, of the coin p."""
        string = [(self.string.words, self.string.deep)] if self.unary else []
        return [(1, 0), *((part.words, 0) for part in self.parts if part.words), *string, *[(1, 0)] * self.zeros]

    def sample(self, x: Columns, rng: Random, first: int = 0) -> Records:
        return self.sample_with_tag(x, rng)[1]

    def sample_with_tag(self, x: Columns, rng: Random) -> tuple[Array, Records]:
        """The same records from the same words, and which attribute of each is real: for whoever replays the law."""
        n = len(x[0])
        tag, parts = self.draw_with_tag(x, [rng.reserve(n, *width) for width in self.ranges])
        return tag, Records(n, parts)

    def draw(self, x: Columns, words: Sequence[RandomWords]) -> tuple[Array, ...]:
        """One record per person; these ranges of words are its only randomness."""
        return self.draw_with_tag(x, words)[1]

    def draw_with_tag(self, x: Columns, words: Sequence[RandomWords]) -> tuple[Array, tuple[Array, ...]]:
        """Which attribute is real, and the record."""
        n, x = len(x[0]), [native(np.asarray(column)) for column in x]
        ranges = iter(words)
        tag = self._tag(n, next(ranges))
        part_words = {i: next(ranges) for i, part in enumerate(self.parts) if part.words}
        string = self.string.flip(next(ranges)) if self.unary else np.empty((n, 0), np.uint64)
        true_bit = coins(self.thresholds[0], next(ranges)) if self.zeros else np.empty(0, bool)

        def draw(i: int) -> Array:
            part = self.parts[i]
            if isinstance(part, FakeCode):
                return part.draw(x[i], tag, i, part_words[i])
            bits = self.string.cut(string, self.place[i])
            if isinstance(part, FakeZeros):
                part.set_true_bits(bits, x[i], tag, i, true_bit)
            else:
                part.set_value_bits(bits, x[i], tag, i, part_words[i])
            return bits

        each = range(len(self.parts))
        if kernels_for(n) is None or threads() == 1:
            return tag, tuple(map(draw, each))
        return tag, tuple(with_helper(as_one_of_several(draw), each))  # every part has words of its own

    def _tag(self, n: int, words: RandomWords) -> Array:
        """Which attribute is real."""
        out, kernels, cut = np.zeros(n, self.chances.dtype), kernels_for(n), self.chances
        if cut.size == 1:
            return out

        def fill(a: int, b: int, block: Words64) -> None:
            out[a:b] = cut.pick(block[:, 0])

        def fast(a: int, b: int, block: Words64) -> None:
            kernels.pick(block, np.uint64(cut.step), cut.ends, out[a:b])  # type: ignore[union-attr]

        words.each(*((fill, 1) if kernels is None else (fast, threads())))
        return out

    def prob(self, x: Sequence[int], y: Row) -> Fraction:
        fakes = [part.fake_prob(yi) for part, yi in zip(self.parts, y, strict=True)]
        likelihoods = (
            self.chances.prob(j) * part.real.prob(x[j], y[j]) / fakes[j] for j, part in enumerate(self.parts)
        )
        return math.prod(fakes, start=Fraction(1)) * sum(likelihoods, Fraction(0))

    def log_prob(self, x: Columns, y: Records) -> Floats:
        fakes = [part.fake_log_prob(yi) for part, yi in zip(self.parts, y.parts, strict=True)]
        ratios = [
            math.log(self.chances.prob(j)) + _real_log_prob(part, np.asarray(x[j]), y.parts[j]) - fakes[j]
            for j, part in enumerate(self.parts)
        ]
        return np.asarray(np.sum(fakes, axis=0) + np.logaddexp.reduce(ratios, axis=0))

    def real_log_odds(self, y: Records, shares: Sequence[Floats]) -> Floats:
        """ln(s_j real_j(y_j) / fake_j(y_j)), person by attribute: the posterior of "j is real", up to a person's sum.

        shares: of the values of each attribute. All other factors of P[y, j is real] are the same for every j.
        """
        ratios = [part.real_log_ratio(yi, f) for part, yi, f in zip(self.parts, y.parts, shares, strict=True)]
        return np.column_stack(ratios) + np.log(self.chances.shares())

    def outcomes(self) -> Iterator[Row] | None:
        return every_outcome(self.parts)

    def report_bits(self) -> float:
        return sum(part.real.report_bits() for part in self.parts)

    def integers(self) -> dict[str, Any]:
        return {
            "law": "hidden",
            "chances": self.chances.integers(),
            "parts": [part.integers() for part in self.parts],
        }


def _real_log_prob(part: HiddenPart, x: Array, y: Array) -> Floats:
    return part.real.log_prob(x, y) if isinstance(part, FakeCode) else bits_log_prob(part.real, x, y)
