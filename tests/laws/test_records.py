"""Laws of records: compiled kernels, NumPy reference and plain integers make the same reports of the same words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.fixed import WORD
from murmure.core.random import GivenWords, Random
from murmure.laws import bits, hidden_draw, kernel_loader, records, tallies, window
from murmure.laws.bits import DEEP_PLANES, PLANES
from murmure.laws.cut import Cut
from murmure.laws.hidden_draw import FakeCode, FakeValue, FakeZeros, Hidden

kernels = pytest.importorskip("murmure.laws.kernels", reason="needs numba")

LAW_MODULES: list[ModuleType] = [bits, tallies, hidden_draw, records, window]
Use = Callable[[str], None]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """use("reference"), use("compiled") or use("as usual"), whatever the number of people."""
    usual = {module: module.kernels_for for module in LAW_MODULES if hasattr(module, "kernels_for")}

    def switch(which: str) -> None:
        for module, rule in usual.items():
            forced = {"reference": lambda *work: None, "compiled": lambda *work: kernels}
            monkeypatch.setattr(module, "kernels_for", forced.get(which, rule))

    return switch


def schema(sizes: Sequence[int]) -> mu.Schema:
    return mu.Schema({f"c{i}": mu.Categories(k) for i, k in enumerate(sizes)})


def prior(k: int) -> list[float]:
    """Shares from common to rare: the last one owns few words."""
    heights = [math.exp(-40 * v / k) for v in range(k)]
    return [h / sum(heights) for h in heights]


SIZES = [(2,), (2, 2), (2, 63, 3), (64, 65), (3, 300, 2, 5), (61, 62, 63, 64, 65, 66), (2,) * 70]


def channels() -> dict[str, Hidden]:
    out: dict[str, Hidden] = {}
    for sizes in SIZES:
        d, name = len(sizes), f"{sizes[:6]}x{len(sizes)}"
        for protocol in ("GRR", "SUE-z", "SUE-r", "OUE-z", "OUE-r"):
            out[f"{protocol} {name}"] = mu.RSFD(schema(sizes), 2.0, oracle=protocol).channel
        mixed = tuple(itertools.islice(itertools.cycle(["GRR", "OUE-z", "OUE-r"]), d))
        out[f"mixed {name}"] = mu.RSFD(schema(sizes), 2.0, oracle=mixed, weights=[1 + i % 3 for i in range(d)]).channel
        priors = [prior(k) for k in sizes]
        out[f"priors, codes {name}"] = mu.RSRFD(schema(sizes), 1.0, priors, weights="balanced").channel
        out[f"priors, bits {name}"] = mu.RSRFD(schema(sizes), 1.0, priors, oracle="SUE-r").channel
    out["saturated"] = mu.RSFD(schema((2, 3)), 700.0).channel
    out["rare chance"] = mu.RSFD(schema((2, 3)), 1.0, weights=(1e-12, 1e12)).channel
    return out


CHANNELS = channels()


def people(sizes: Sequence[int], n: int) -> list[Any]:
    """Codes that visit both ends of every column and everything between."""
    out = []
    for i, k in enumerate(sizes):
        column = (Random.seeded(k + i).words(n) % np.uint64(k)).astype(np.int64)
        column[0], column[-1] = 0, k - 1
        out.append(column)
    return out


def equal(one: Any, two: Any) -> bool:
    parts = zip(one.parts, two.parts, strict=True)
    if not all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in parts):
        return False
    if (one.rows is None) != (two.rows is None):
        return False
    return one.rows is None or all(np.array_equal(a, b) for a, b in zip(one.rows, two.rows, strict=True))


@pytest.mark.parametrize("name", CHANNELS)
def test_records_are_the_same(use: Use, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Compiled on one thread or two, and as usual: what the reference gives, below and above where kernels start."""
    channel = CHANNELS[name]
    small = sum(width for width, _ in channel.ranges) < 40
    for n in (1, 37, kernel_loader.SMALL - 1, 2 * kernel_loader.SMALL + 1) if small else (1, 37, 2001):
        x = people(channel.inputs, n)
        use("reference")
        expected = channel.sample(x, Random.seeded(n))
        for how in ("compiled", "as usual"):
            for count in (1, 2):
                use(how)
                monkeypatch.setattr(kernel_loader, "cores", lambda count=count: count)
                assert equal(expected, channel.sample(x, Random.seeded(n))), (how, count, n)


def test_two_threads_share_many_people(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough people that both threads have several blocks, an odd number of them."""
    channel = mu.RSFD(schema((2, 40, 7)), 1.0, oracle=("GRR", "OUE-z", "OUE-r")).channel
    x = people(channel.inputs, 150_001)
    use("reference")
    expected = channel.sample(x, Random.seeded(5))
    use("compiled")
    for count in (1, 2):
        monkeypatch.setattr(kernel_loader, "cores", lambda count=count: count)
        assert equal(expected, channel.sample(x, Random.seeded(5)))


@pytest.mark.parametrize("form", ["uint8", "int8", "int16", "uint64", ">i4", "read-only", "strided", "reversed"])
def test_the_form_of_the_codes_does_not_matter(use: Use, form: str) -> None:
    """Narrow, signed, big-endian, read-only (Arrow) or strided codes give the same records and the same tallies."""
    mechanism = mu.RSFD(schema((2, 100, 5)), 1.0, oracle=("GRR", "OUE-z", "OUE-r"))
    x = people(mechanism.channel.inputs, 3001)
    use("reference")
    expected = mechanism.channel.sample(x, Random.seeded(9))
    shaped = []
    for column in x:
        if form == "read-only":
            shape = column.astype(np.uint8)
            shape.flags.writeable = False
        elif form == "strided":
            shape = np.repeat(column, 2)[::2]
        elif form == "reversed":
            shape = column[::-1].copy()[::-1]
        else:
            shape = column.astype(form)
        shaped.append(shape)
    original = [column.copy() for column in shaped]
    for how in ("reference", "compiled"):
        use(how)
        actual = mechanism.channel.sample(shaped, Random.seeded(9))
        assert equal(expected, actual), how
        assert (mechanism.tally(actual) == mechanism.tally(expected)).all()
    assert all(np.array_equal(a, b) for a, b in zip(original, shaped, strict=True))


@pytest.mark.parametrize("d", [1, 2, 5, 70, 300])
@pytest.mark.parametrize("m", [1, 2])
def test_draws_are_the_same(use: Use, d: int, m: int) -> None:
    """Who shows what: counted and placed by a kernel, looked up or sorted by NumPy."""
    if m > d:
        return
    for weights in (None, tuple(1.0 + i % 4 for i in range(d))) if m == 1 else (None,):
        channel = mu.SMP(schema([2] * d), 1.0, oracle="GRR", sample=m, weights=weights).channel
        x = people(channel.inputs, 2003)
        use("reference")
        expected = channel.sample(x, Random.seeded(d))
        assert sum(map(len, expected.rows or ())) == 2003 * m
        use("compiled")
        assert equal(expected, channel.sample(x, Random.seeded(d)))


# ---- plain integers


def run_of(cut: Cut, word: int) -> int:
    """The first code whose words end above it."""
    total = 0
    for v in range(cut.size):
        total += cut.count(v)
        if word < total:
            return v
    raise AssertionError


def by_hand(channel: Hidden, x: Sequence[int], words: Sequence[Sequence[int]], coins: Sequence[bool]) -> list[Any]:
    """One record from its words, as the module describes it. coins: the string of unary bits, already compared."""
    real, out, at = run_of(channel.chances, words[0][0]), [], 0
    ranges = iter(words[1:])
    part_words = [next(ranges) if part.words else [] for part in channel.parts]
    coin = next(ranges, [0])  # of whichever zeros are real
    for i, part in enumerate(channel.parts):
        numbers = part_words[i]
        if isinstance(part, FakeCode):
            law = part.real
            if i != real:
                out.append(run_of(part.fake, numbers[0]))
            elif numbers[0] < law.body:
                out.append(x[i])
            else:
                others = [v for v in range(law.outputs) if v != x[i]]
                out.append(others[(numbers[0] - law.body) // law.outside])
            continue
        k = part.real.inputs
        bits = list(coins[at : at + k])
        at += k
        if isinstance(part, FakeZeros):
            if i == real:
                bits[x[i]] = coin[0] < part.real.yes_true
        else:
            assert isinstance(part, FakeValue)
            bits[x[i] if i == real else run_of(part.fake, numbers[1])] = numbers[0] < part.real.yes_true
        out.append(bits)
    return out


def unpacked(report: Any, k: int) -> list[bool]:
    return [bool(int(report[v // 64]) >> (v % 64) & 1) for v in range(k)]


def turning_words(channel: Hidden, n: int) -> list[Any]:
    """Main words of every range but the string: random, with the words where something turns mixed in."""
    turns = [0, WORD - 1]
    for cut in (channel.chances, *(p.fake for p in channel.parts if not isinstance(p, FakeZeros))):
        turns += list(itertools.accumulate(cut.count(v) for v in range(cut.size)))
    for part in channel.parts:
        if isinstance(part, FakeCode):
            turns += [part.real.body + j * part.real.outside for j in range(part.real.outputs)]
        else:
            turns += [part.real.yes_true, part.real.yes_false]
    edges = [(turn + step) % WORD for turn in turns for step in (-1, 0, 1)]
    out = []
    for number, (width, deep) in enumerate(channel.ranges):
        if deep:  # the string
            continue
        drawn = Random.seeded(number).words(n * width).reshape(n, width)
        which = (Random.seeded(100 + number).words(n * width) % np.uint64(len(edges))).reshape(n, width)
        put = (Random.seeded(200 + number).words(n * width) & np.uint64(1)).reshape(n, width) == 1
        out.append(np.where(put, np.array(edges, np.uint64)[which.astype(np.int64)], drawn))
    return out


@pytest.mark.parametrize("equal", [0, 16, 24, 40, 64])
@pytest.mark.parametrize("how", ["reference", "compiled"])
@pytest.mark.parametrize(
    "name", ["mixed (2, 63, 3)x3", "priors, bits (64, 65)x2", "OUE-z (3, 300, 2, 5)x4", "priors, codes (2, 63, 3)x3"]
)
def test_records_by_hand(use: Use, name: str, how: str, equal: int) -> None:
    """Words at every edge, and coins whose first `equal` bits are the threshold's, so that deep words decide them."""
    use(how)
    channel, n = CHANNELS[name], 60
    x = people(channel.inputs, n)
    words: list[Any] = [GivenWords(block) for block in turning_words(channel, n)]
    main = [given.main for given in words]
    truth = np.zeros((n, 0), bool)
    if channel.unary:
        q, width = channel.thresholds[1], channel.string.width
        drawn = Random.seeded(equal).words(n * width * 64).reshape(n, width, 64)
        if equal == 64:
            drawn = np.full_like(drawn, q)
        elif equal:
            mask = np.uint64((1 << (64 - equal)) - 1)
            drawn = (np.uint64(q) & ~mask) | (drawn & mask)
        planes = np.zeros((n, 64, width), np.uint64)
        for j in range(64):
            for c in range(64):
                planes[:, j] |= ((drawn[:, :, c] >> np.uint64(63 - j)) & np.uint64(1)) << np.uint64(c)
        string = GivenWords(planes[:, :PLANES].reshape(n, -1), planes[:, PLANES:].reshape(n, -1))
        assert string._deep.shape[1] == DEEP_PLANES * width
        words.insert(len(words) - channel.zeros, string)  # the coin of the zeros comes last
        truth = (drawn < np.uint64(q)).reshape(n, -1)
    reports = channel.draw(x, words)
    for person in range(n):
        words = [[int(w) for w in block[person]] for block in main]
        wanted = by_hand(channel, [int(column[person]) for column in x], words, truth[person].tolist())
        for i, part in enumerate(channel.parts):
            got = reports[i][person]
            if not isinstance(part, FakeCode):
                k = part.real.inputs
                assert not int(got[-1]) >> ((k - 1) % 64 + 1), "a bit beyond the last value"
                assert unpacked(got, k) == wanted[i]
            else:
                assert int(got) == wanted[i]


def test_deep_words_are_needed_and_right(use: Use) -> None:
    """One coin in 65,536 is open after the main planes; both ways ask for the same deep words, and some are asked."""
    channel = mu.RSFD(schema((64,) * 3), 1.0, oracle="OUE-z").channel
    x = people(channel.inputs, 20_001)
    asked = 0

    class Watched:
        def __init__(self, words: Any) -> None:
            self.words, self.n = words, words.n

        def each(self, fill: Any, threads: int = 1) -> None:
            self.words.each(fill, threads)

        def deep(self, report: Any, index: Any) -> Any:
            nonlocal asked
            asked += len(report)
            return self.words.deep(report, index)

    def reports() -> Any:
        rng = Random.seeded(3)
        return channel.draw(x, [Watched(rng.reserve(len(x[0]), *width)) for width in channel.ranges])

    use("reference")
    expected = reports()
    first, asked = asked, 0
    use("compiled")
    actual = reports()

    assert first == asked > 0
    assert all(np.array_equal(a, b) for a, b in zip(expected, actual, strict=True))


# ---- words


@pytest.mark.parametrize("name", ["mixed (2, 63, 3)x3", "GRR (2, 2)x2", "priors, bits (64, 65)x2", "rare chance"])
def test_a_record_takes_as_many_words_whatever_it_holds(name: str) -> None:
    """The generator moves on by the same amount for any codes: what comes after tells nothing about them."""
    channel, after = CHANNELS[name], []
    for code in (0, -1):
        rng = Random.seeded(1)
        channel.sample([np.full(1001, 0 if code == 0 else k - 1) for k in channel.inputs], rng)
        after.append((list(rng._next), rng.words(4).tolist()))
    assert after[0] == after[1]
    assert after[0][0][0] == sum(1001 * width + 1001 * width % 2 for width, _ in channel.ranges)


@pytest.mark.parametrize("make", [mu.SPL, mu.SMP])
def test_the_words_of_columns_do_not_depend_on_codes(make: Any) -> None:
    after = []
    for code in (0, 1):
        rng = Random.seeded(1)
        make(schema((2, 2, 2)), 1.0).channel.sample([np.full(1001, code)] * 3, rng)
        after.append(list(rng._next))
    assert after[0] == after[1]


def test_a_persons_record_does_not_depend_on_the_others() -> None:
    """Others change what they hold: this person's report, with the same words, stays."""
    for mechanism in (
        mu.RSFD(schema((2, 63, 3)), 1.0, oracle=("GRR", "OUE-z", "OUE-r")),
        mu.SPL(schema((2, 63, 3)), 1.0),
        mu.SMP(schema((2, 63, 3)), 1.0),
        mu.SMP(schema((2, 63, 3)), 1.0, sample=2),
    ):
        one = [np.full(500, k - 1) for k in (2, 63, 3)]
        two = [column.copy() for column in one]
        for column in two:
            column[:250] = 0
            column[251:] = 0
        a, b = (mechanism.randomise(x, Random.seeded(4)) for x in (one, two))
        rows = [tuple(None if v is None else np.asarray(v).tolist() for v in drawn.row(250)) for drawn in (a, b)]
        assert rows[0] == rows[1]


def test_columns_never_share_words() -> None:
    """Ranges that are reserved for draw, columns and string lie apart in the stream."""
    taken: list[tuple[int, int]] = []

    class Spy(Random):
        def reserve(self, n: int, width: int, depth: int = 0) -> Any:
            range_ = super().reserve(n, width, depth)
            taken.append((range_._main, range_._main + n * width))
            return range_

    for mechanism in (
        mu.SPL(schema((2, 63, 3)), 1.0),
        mu.SMP(schema((2, 63, 3)), 1.0, sample=2),
        mu.RSFD(schema((2, 63, 3)), 1.0, oracle=("GRR", "OUE-z", "OUE-r")),
    ):
        rng = Spy(bytes(32), 1)
        taken.clear()
        for _ in range(2):  # two batches of one generator
            mechanism.randomise([np.zeros(101, np.int64)] * 3, rng)
        ranges = sorted(taken)
        assert len(ranges) >= 6
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(ranges))
