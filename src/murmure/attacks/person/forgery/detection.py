"""Were reports forged? Tests whose false alarms are bounded, whatever honest people hold.

Every test compares reports with what the law allows for any answers, so its p-value is exact or too large, never too
small: at a level alpha, honest reports raise an alarm with probability at most alpha, all tests together (Bonferroni).
A forger who sends what an honest person could have sent is not noticed by anybody: see `stealthy` in forged_reports.

    ones of a report       Bernoulli(p) + Bin(k-1, q) whatever the person holds: exact, times the number of reports
    histogram of ones      Dvoretzky, Kiefer, Wolfowitz with Massart's constant: P[sup |F_n - F| > d] <= 2 exp(-2 n d^2)
    supports in all        mean and variance do not depend on the answers: Bernstein
    impossible counts      a count lies between Bin(n, least chance) and Bin(n, largest chance): exact tails
    pairs of values        E[(S_u - q)(S_v - q)] is 0 for bits, and known for sets: Bernstein, over all pairs u != v
    hashes                 seeds are uniform, and so is the hash of every difference of two values: exact tails
    repeated reports       P[some report occurs c times] <= C(n, c) (largest chance)^(c-1)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np

from murmure.attacks.base.counts_law import binomial_at_least, binomial_at_most
from murmure.attacks.person.forgery.forged_reports import ones_law
from murmure.core.errors import InvalidParameter, Phrase, Plural, shorten
from murmure.core.types import Array, Floats, Ints, Mask, Mechanism, NoAffine
from murmure.laws.bits import first_bits, unpack
from murmure.laws.records import Records
from murmure.local.base.randomisers import FrequencyOracle, NumericRandomiser
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.local.hadamard import HadamardResponse
from murmure.local.hashing import LocalHashing
from murmure.local.subset import SubsetSelection
from murmure.local.unary import PackedOracle
from murmure.plan.plan import Plan
from murmure.plan.reports import Reports
from murmure.show.document import Document, Number, Shown, Table, paragraphs

FALSE_REFUSAL = 1e-9  # of an honest report, for having too many ones; and as much for too few
MAX_TABLE = 1 << 22  # chances of every report given every value
MAX_PAIRED = 512  # values whose pairs are counted
MAX_HASHED = 1 << 26  # hashes of differences
BLOCK = 1 << 12


@dataclass(frozen=True)
class ForgeryTest:
    name: str  # what was compared
    saw: str  # the most striking thing, in words
    p_value: float  # honest reports look at least as striking with this probability, at most
    column: str = ""  # of a record


@dataclass(frozen=True)
class ForgeryCheck(Shown):
    """What the tests saw, at a level that they share."""

    reports: int
    level: float  # honest reports raise an alarm with this probability, at most
    tests: tuple[ForgeryTest, ...]
    refused: Mask = field(repr=False)  # reports that an honest person sends less than once in 1e9

    @property
    def each(self) -> float:
        """The level of one test."""
        return self.level / max(1, len(self.tests))

    @property
    def noticed(self) -> bool:
        """Whether some test raises the alarm."""
        return any(test.p_value <= self.each for test in self.tests)

    def sentence(self) -> Phrase:
        refused = int(self.refused.sum())
        if self.noticed:
            return Phrase(
                "Some of these {reports:,} reports are forged, or were not drawn by this law: honest ones raise such "
                "an alarm with probability {level:g} at most. {refused}",
                refused=Plural(
                    "{n:,} report is one that honest people do not send.",
                    "{n:,} reports are such that honest people do not send them.",
                    n=refused,
                ),
                reports=self.reports,
                level=self.level,
            )
        tests = len(self.tests)
        return Plural(
            "Nothing in this report is rarer than an honest one may be ({tests}). That does not prove it honest: a "
            "careful forger looks like an honest person.",
            "Nothing in these {n:,} reports is rarer than honest ones may be ({tests}). That does not prove them "
            "honest: a careful forger looks like an honest person.",
            n=self.reports,
            tests=Plural(
                "{n} test, at level {level:g}", "{n} tests, together at level {level:g}", n=tests, level=self.level
            ),
        )

    def document(self) -> Document:
        many = any(test.column for test in self.tests)
        head = [*([Phrase("column")] if many else []), Phrase("test"), Phrase("p-value at most"), Phrase("alarm")]
        head += [Phrase("what it saw")]
        rows = tuple(
            (
                *([test.column] if many else []),
                test.name,
                Number(float(f"{test.p_value:.2g}"), "plain"),
                Phrase("yes") if test.p_value <= self.each else Phrase("no"),
                test.saw,
            )
            for test in self.tests
        )
        title = Phrase("Are some reports forged?")
        return Document(title, (Table("", tuple(head), rows), *paragraphs([self.sentence()])), "ForgeryCheck")

    def to_dict(self) -> dict[str, Any]:
        """For machines, in English."""
        return {
            "type": "ForgeryCheck",
            "reports": self.reports,
            "level": self.level,
            "level_each": self.each,
            "noticed": self.noticed,
            "refused": int(self.refused.sum()),
            "tests": [
                {"column": t.column, "test": str(t.name), "saw": str(t.saw), "p_value": t.p_value} for t in self.tests
            ],
        }


def detect_forgeries(mechanism: Any, reports: Any, level: float = 0.01) -> ForgeryCheck:
    """Test whether reports can have come from honest people; mechanism: of the reports, or the plan they answer.

    >>> import murmure as mu
    >>> from murmure.attacks import detect_forgeries
    >>> oue = mu.OUE(mu.Categories(64), epsilon=1.0)
    >>> reports = oue.report([5] * 2000, mu.Random.seeded(7))
    >>> print(detect_forgeries(oue, reports).noticed)
    False
    >>> reports[:20] = 2**64 - 1  # twenty people support every value
    >>> check = detect_forgeries(oue, reports)
    >>> print(check.noticed, check.refused.sum())
    True 20
    """
    if isinstance(mechanism, Plan):
        mechanism = mechanism.person
    if isinstance(reports, Reports):
        reports = reports.data
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise InvalidParameter(
            "the level must lie strictly between 0 and 1, got {got}.",
            hint="0.01: honest reports raise an alarm once in a hundred times at most",
            got=shorten(level),
        )
    if isinstance(mechanism, RecordMechanism):
        return _detect_in_records(mechanism, reports, float(level))
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(
            "detect_forgeries takes a mechanism at the person or a plan that has one, got {got}.",
            got=shorten(type(mechanism).__name__),
        )
    tally = mechanism.tally(reports)  # raises if one is not a report of this mechanism
    n = len(reports)
    if n < 1:
        raise InvalidParameter("there are no reports to test.")
    found = [*tests_of(mechanism, np.asarray(reports), tally)]
    return ForgeryCheck(n, float(level), tuple(found), refused_reports(mechanism, np.asarray(reports)))


def _detect_in_records(mechanism: Any, records: Any, level: float) -> ForgeryCheck:
    if not isinstance(records, Records):
        raise InvalidParameter(
            "{kind} reports are Records, got {got}.",
            hint="mechanism.report(table, rng) returns them",
            kind=type(mechanism).__name__,
            got=shorten(type(records).__name__),
        )
    mechanism.tally(records)
    found: list[ForgeryTest] = []
    refused = np.zeros(records.n, bool)
    for i, (name, part) in enumerate(zip(mechanism.columns, mechanism.parts, strict=True)):
        reports = np.asarray(records.parts[i])
        if len(reports) < 1:
            continue
        tests = tests_of(part, reports, part.tally(reports))
        found += [ForgeryTest(t.name, t.saw, t.p_value, name) for t in tests]
        rows = np.arange(records.n) if records.rows is None else np.asarray(records.rows[i])
        refused[rows[refused_reports(part, reports)]] = True
    return ForgeryCheck(records.n, level, tuple(found), refused)


# -- one report --------------------------------------------------------------------------------------------------------


def usual_ones(mechanism: Any) -> tuple[int, int]:
    """The fewest and the most ones that an honest report has, but for one report in 1e9 on either side."""
    law = ones_law(mechanism)
    below, above = np.cumsum(law), np.cumsum(law[::-1])[::-1]  # P[ones <= c], P[ones >= c]
    few, many = np.flatnonzero(below <= FALSE_REFUSAL), np.flatnonzero(above <= FALSE_REFUSAL)
    return int(few[-1]) + 1 if len(few) else 0, int(many[0]) - 1 if len(many) else mechanism.domain.size


def refused_reports(mechanism: Any, reports: Array) -> Mask:
    """Reports with fewer or more ones than honest people send."""
    if not _independent_bits(mechanism):
        return np.zeros(len(reports), bool)
    least, most = usual_ones(mechanism)
    ones = _ones(reports)
    return (ones < least) | (ones > most)


def _independent_bits(mechanism: Any) -> bool:
    return isinstance(mechanism, PackedOracle) and not isinstance(mechanism, SubsetSelection)


def _ones(reports: Array) -> Ints:
    return np.bitwise_count(reports).sum(axis=1, dtype=np.int64)


# -- all tests of a mechanism ------------------------------------------------------------------------------------------


@singledispatch
def tests_of(mechanism: Any, reports: Array, tally: Ints) -> Iterator[ForgeryTest]:
    """Every test that this mechanism has."""
    yield from _impossible_counts(mechanism, len(reports), tally)


@tests_of.register
def _frequencies(mechanism: FrequencyOracle, reports: Array, tally: Ints) -> Iterator[ForgeryTest]:
    yield from _impossible_counts(mechanism, len(reports), tally)
    if mechanism.supported is None:
        yield _supports_in_all(mechanism, len(reports), tally)
    likeliest = _largest_chance(mechanism)
    if likeliest is not None:
        yield _repeated(reports, likeliest)
    if _independent_bits(mechanism):
        yield from _bits(mechanism, reports)
    if isinstance(mechanism, PackedOracle) and mechanism.domain.size <= MAX_PAIRED:
        yield _pairs(mechanism, reports, tally)
    if isinstance(mechanism, LocalHashing):
        yield from _hashes(mechanism, reports)
    if isinstance(mechanism, HadamardResponse):  # every index lies in the likely half of some value, not of another
        c = mechanism.channel
        ends = (np.full(c.order, float(c.prob(0, y))) for y in (1, 0))
        yield _outside(np.bincount(reports, minlength=c.order), len(reports), *ends)


def _impossible_counts(mechanism: Any, n: int, tally: Ints) -> Iterator[ForgeryTest]:
    chances = _chances(mechanism)
    if chances is not None:
        value = None if isinstance(mechanism, NumericRandomiser) else mechanism.domain.label
        yield _outside(tally, n, *chances, value)


def _outside(tally: Ints, n: int, least: Floats, most: Floats, label: Any = None) -> ForgeryTest:
    """The count that lies farthest outside what any answers give; label: of a value, else the count is of a report."""
    low, high = binomial_at_most(tally, n, least), binomial_at_least(tally, n, most)
    tail = np.minimum(low, high)
    at = int(np.argmin(tail))
    count, expected = int(tally[at]), {"least": n * float(least[at]), "most": n * float(most[at])}
    if label is None:
        name = Phrase("reports that are too many or too few")
        saw = Phrase(
            "report {y} in {count:,} reports; {least:,.0f} to {most:,.0f} are expected", y=at, count=count, **expected
        )
    else:
        name = Phrase("counts that no answers explain")
        value = label(at)
        saw = Plural(
            "{n:,} report supports {value!r}; {least:,.0f} to {most:,.0f} are expected",
            "{n:,} reports support {value!r}; {least:,.0f} to {most:,.0f} are expected",
            n=count,
            value=value,
            **expected,
        )
    return ForgeryTest(name, saw, float(min(1.0, 2 * len(tally) * tail[at])))


def _chances(mechanism: Any) -> tuple[Floats, Floats] | None:
    """The least and the largest chance that a report adds to each entry of the tally, over all values."""
    if isinstance(mechanism, NumericRandomiser):
        inputs, outputs = mechanism.domain.size, mechanism.outputs
        if inputs * outputs > MAX_TABLE:
            return None
        x, y = np.repeat(np.arange(inputs), outputs), np.tile(np.arange(outputs), inputs)
        table = np.exp(mechanism.channel.log_prob(x, y)).reshape(inputs, outputs)
        return table.min(axis=0), table.max(axis=0)
    affine = mechanism.affine()
    if isinstance(affine, NoAffine) or affine.of != "cells":
        return None
    k = mechanism.domain.size
    q = np.array([float(o) for o in affine.offset]) * np.ones(k)
    p = q + np.array([float(s) for s in affine.slope]) * np.ones(k)
    return np.minimum(p, q), np.maximum(p, q)


def bernstein(excess: Any, variance: float, largest: float) -> Any:
    """P[a sum of independent centred numbers, at most `largest` each, exceeds `excess`], at most."""
    t = np.maximum(np.asarray(excess, float), 0.0)
    return np.exp(-t * t / (2 * (variance + largest * t / 3) + 1e-300))


def _supports_in_all(mechanism: FrequencyOracle, n: int, tally: Ints) -> ForgeryTest:
    s, k = mechanism.supports, mechanism.domain.size
    mean = float(s.p + (k - 1) * s.q)
    variance = float(np.max(mechanism.spread(np.ones(k))))  # whatever people hold
    # Independent bits are n k numbers of at most 1 each; otherwise a report is one number of at most k.
    largest = 1.0 if _independent_bits(mechanism) else max(k - mean, mean)
    found = float(tally.sum())
    chance = 2 * float(bernstein(abs(found - n * mean), n * variance, largest))
    saw = Phrase("{mean:.4g} values a report; {expected:.4g} are expected", mean=found / n, expected=mean)
    return ForgeryTest(Phrase("values that reports support"), saw, min(1.0, chance))


def _repeated(reports: Array, likeliest: float) -> ForgeryTest:
    from scipy.special import gammaln

    rows = np.ascontiguousarray(reports)
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    n, most = len(rows), int(np.unique(keys, return_counts=True)[1].max())
    ways = gammaln(n + 1) - gammaln(most + 1) - gammaln(n - most + 1)
    chance = float(np.exp(min(0.0, ways + (most - 1) * likeliest)))
    saw = Plural("no report occurs more than {n} time", "one report occurs {n} times", n=most)
    return ForgeryTest(Phrase("repeated reports"), saw, chance)


def _largest_chance(mechanism: Any) -> float | None:
    """The logarithm of the chance of the likeliest report, for reports of many bits."""
    c, k = mechanism.channel, mechanism.domain.size
    if isinstance(mechanism, LocalHashing):
        seeds = np.zeros((1, c.value_bits + 2), np.uint16)
        return float(c.log_prob(np.array([0]), seeds)[0])
    if isinstance(mechanism, SubsetSelection):
        return float(c.log_prob(np.array([0]), first_bits(mechanism.size, k)[None])[0])
    if _independent_bits(mechanism) and mechanism.supports.q <= 0.5:
        both = np.stack([first_bits(0, k), first_bits(1, k)])  # no one at all, or the true one alone
        return float(np.max(c.log_prob(np.zeros(2, np.int64), both)))
    return None


def _bits(mechanism: Any, reports: Array) -> Iterator[ForgeryTest]:
    n, k = len(reports), mechanism.domain.size
    law, ones = ones_law(mechanism), _ones(reports)
    below, above = np.cumsum(law), np.cumsum(law[::-1])[::-1]
    tail = 2 * np.minimum(below, above)[ones]
    at = int(np.argmin(tail))
    usual = float(law @ np.arange(k + 1))
    saw = Phrase("a report with {ones:,} ones; {usual:.3g} are usual", ones=int(ones[at]), usual=usual)
    yield ForgeryTest(Phrase("ones of a report"), saw, float(min(1.0, n * tail[at])))
    distance = float(np.max(np.abs(np.cumsum(np.bincount(ones, minlength=k + 1)) / n - below)))
    chance = min(1.0, 2 * float(np.exp(-2 * n * distance**2)))
    saw = Phrase("distribution functions {distance:.3g} apart", distance=distance)
    yield ForgeryTest(Phrase("histogram of ones"), saw, chance)


def _pairs(mechanism: Any, reports: Array, tally: Ints) -> ForgeryTest:
    """E[(S_u - q)(S_v - q)] is cov_true for a person who holds u or v, and cov_false for any other; 0 for bits."""
    n, k, s = len(reports), mechanism.domain.size, mechanism.supports
    p, q = float(s.p), float(s.q)
    both = np.zeros((k, k))
    for a in range(0, n, BLOCK):  # counts of a block stay below 2**24, where float32 is exact
        bits = unpack(reports[a : a + BLOCK], k).astype(np.float32)
        both += bits.T @ bits
    means = [float(s.cov_true), float(s.cov_false)]
    # E[(S_u - q)^2 (S_v - q)^2] from how often both, one or none of the values is in a report
    together = [(p + q, means[0] + p * q), (2 * q, means[1] + q * q)]
    second = [
        t * (1 - q) ** 4 + (single - 2 * t) * (1 - q) ** 2 * q * q + (1 - single + t) * q**4 for single, t in together
    ]
    sums = both - q * tally[:, None] - q * tally[None, :] + n * q * q
    excess = np.maximum(sums - n * max(means), n * min(means) - sums)
    largest = max((1 - q) ** 2, q * q, q * (1 - q)) + max(map(abs, means))
    rare = bernstein(excess, n * max(second), largest)
    np.fill_diagonal(rare, 1.0)
    u, v = np.unravel_index(int(np.argmin(rare)), rare.shape)
    expected = both[u, v] - sums[u, v] + n * max(means)
    saw = Phrase(
        "{u!r} and {v!r} together in {count:,.0f} reports; {expected:,.0f} are expected",
        u=mechanism.domain.label(int(u)),
        v=mechanism.domain.label(int(v)),
        count=float(both[u, v]),
        expected=float(expected),
    )
    return ForgeryTest(Phrase("pairs of values"), saw, float(min(1.0, k * (k - 1) * rare[u, v])))


def _hashes(mechanism: LocalHashing, reports: Array) -> Iterator[ForgeryTest]:
    c, n = mechanism.channel, len(reports)
    chance = 2.0**-c.seed_bits
    most = max(int(np.unique(reports[:, i], return_counts=True)[1].max()) for i in range(c.value_bits + 1))
    tests = (c.value_bits + 1) << c.seed_bits
    saw = Phrase("one seed in {count:,} reports; {expected:,.4g} are expected", count=most, expected=n * chance)
    yield ForgeryTest(Phrase("seeds of hashes"), saw, min(1.0, tests * float(binomial_at_least(most, n, chance))))
    size = 1 << c.value_bits
    if n * size > MAX_HASHED:
        return
    together = np.zeros(size, np.int64)  # h(u) = h(v) depends on the difference u ^ v alone
    for a in range(0, n, BLOCK):
        block = reports[a : a + BLOCK]
        h = np.zeros((size, len(block)), np.uint16)
        for i in range(c.value_bits):
            np.bitwise_xor(h[: 1 << i], block[:, 1 + i], out=h[1 << i : 2 << i])
        together += (h == 0).sum(axis=1)
    tail = np.minimum(binomial_at_least(together[1:], n, chance), binomial_at_most(together[1:], n, chance))
    at = int(np.argmin(tail)) + 1
    saw = Phrase(
        "values whose codes differ by {value} have one hash in {count:,} reports; {expected:,.4g} are expected",
        value=at,
        count=int(together[at]),
        expected=n * chance,
    )
    yield ForgeryTest(Phrase("values that hashes join"), saw, float(min(1.0, 2 * (size - 1) * tail[at - 1])))
