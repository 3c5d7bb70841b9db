"""Compiled kernels and NumPy reference: from the same words the same reports and the same tallies, bit for bit."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from murmure.core.domain import Categories, Integers
from murmure.core.fixed import WORD
from murmure.core.random import GivenWords, Random
from murmure.laws import bits, hadamard, hashed, kernel_loader, subset, tallies, window
from murmure.laws import table as table_module
from murmure.laws.bits import DEEP_PLANES, PLANES, BitsChannel, ChainedBits, Coins
from murmure.laws.hadamard import Hadamard
from murmure.laws.hashed import Hashed
from murmure.laws.subset import Subset
from murmure.laws.table import alias_tables, ramp, shift_family
from murmure.laws.tagged import Tagged
from murmure.laws.window import WindowChannel
from murmure.local.grr import GRR
from murmure.local.hadamard import HadamardResponse
from murmure.local.hashing import BLH, OLH
from murmure.local.piecewise import Piecewise
from murmure.local.subset import SubsetSelection
from murmure.local.unary import OUE

kernels = pytest.importorskip("murmure.laws.kernels", reason="needs numba")

LAW_MODULES: list[ModuleType] = [bits, tallies, hadamard, hashed, subset, window]
SIZES = (2, 3, 63, 64, 65, 128, 1000)
DTYPES = ("int64", "uint8", "int32", "uint16")
Use = Callable[[str], None]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """use("reference"), use("compiled") (whatever the number of people) or use("as usual")."""
    usual = {module: module.kernels_for for module in LAW_MODULES}

    def switch(which: str) -> None:
        for module in LAW_MODULES:
            forced = {"reference": lambda *work: None, "compiled": lambda *work: kernels}
            monkeypatch.setattr(module, "kernels_for", forced.get(which, usual[module]))

    return switch


def shape(heights: Any) -> list[int]:
    """Heights as the integers that a shift family takes."""
    return [max(1, int(h / max(heights) * 2**63)) for h in np.asarray(heights, float)]


def channels(k: int) -> dict[str, Any]:
    """Every law with k inputs; several where its integers take different ways."""
    E = WORD // 3
    return {
        "GRR": WindowChannel.calibrated(1.0, k, k),
        "window, sliding": WindowChannel.calibrated(1.0, k, 3 * (k - 1) + 5, 5, 3),
        "window, sliding by one": WindowChannel.calibrated(1.0, k, (k - 1) + 4, 4, 1),
        "window, stopped": WindowChannel.calibrated(1.0, k, k, max(1, k // 3), 1, max(1, k // 3) // 2),
        "window, stopped at one end": WindowChannel.calibrated(1.0, k, k, max(1, k // 2), 1, 0),
        "window, barely likely": WindowChannel(k, k, 1, 1, 0, WORD // k),
        "window, saturated": WindowChannel.calibrated(700.0, k, k),
        "bits": BitsChannel(k, WORD // 2, E),
        "bits, saturated": BitsChannel(k, WORD - 1, 1),
        "chained bits": ChainedBits(BitsChannel(k, WORD - E, E), WORD - E // 2, E // 2),
        "subset of one": Subset(k, 1, WORD // 5 * 3),
        "subset": Subset(k, max(1, k // 3), WORD // 5 * 3),
        "subset but one": Subset(k, min(k - 1, 70), WORD // 5 * 3),
        "Hadamard": Hadamard(k, Hadamard(k, 1).over // 10 * 7),
        "hashed, 2 bins": Hashed(k, WindowChannel.calibrated(1.0, 2, 2)),
        "hashed, 3 bins": Hashed(k, WindowChannel.calibrated(1.0, 3, 3)),
        "hashed, 16 bins": Hashed(k, WindowChannel.calibrated(3.0, 16, 16)),
        "hashed, 1000 bins": Hashed(k, WindowChannel.calibrated(7.0, 1000, 1000)),
        "table": shift_family(shape(np.exp(-np.arange(k) / k))) if k <= 128 else ramp(k, E // 2, E // k),
        "tagged": Tagged(WindowChannel.calibrated(1.0, k, 2 * (k - 1) + 5, 5, 2), ramp(k, E, E // k), WORD // 3),
    }


CASES = [pytest.param(k, name, id=f"{name}-{k}") for k in SIZES for name in channels(k)]


def inputs(k: int, n: int, dtype: str = "int64") -> Any:
    """Codes that visit both ends and everything between."""
    spread = (Random.seeded(k).words(n) % np.uint64(k)).astype(np.int64)
    spread[0] = 0
    spread[-1] = k - 1
    return spread.astype(dtype)


def draw(channel: Any, x: Any, seed: int) -> Any:
    return channel.draw(x, Random.seeded(seed).reserve(len(x), channel.words, channel.deep))


# ---- reports


@pytest.mark.parametrize(("k", "name"), CASES)
def test_reports_are_the_same(use: Use, k: int, name: str) -> None:
    """Around the size where kernels take over, and beyond the one where two threads share the work."""
    channel = channels(k)[name]
    around = (kernel_loader.SMALL - 1, kernel_loader.SMALL, kernel_loader.SMALL + 1)
    for n in (1, *around, 70_001) if channel.words == 1 else (1, *around, 12_345) if channel.words < 200 else (1, 9001):
        x = inputs(k, n)
        use("reference")
        expected = draw(channel, x, n)
        for how in ("compiled", "as usual"):
            use(how)
            actual = draw(channel, x, n)

            assert expected.dtype == actual.dtype
            assert np.array_equal(expected, actual), f"{how}, n = {n}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("k", "name"), [c for c in CASES if c.values[0] in (2, 65, 1000)])
def test_the_type_of_the_codes_does_not_matter(use: Use, k: int, name: str, dtype: str) -> None:
    """int64, uint8, int32 and uint16 codes give the same reports, compiled or not."""
    channel, n = channels(k)[name], 2001
    x = inputs(min(k, 256) if dtype == "uint8" else k, n)
    use("reference")
    expected = draw(channel, x, 5)

    assert np.array_equal(expected, draw(channel, x.astype(dtype), 5))
    use("compiled")
    assert np.array_equal(expected, draw(channel, x.astype(dtype), 5))


@pytest.mark.parametrize("form", ["big-endian", "read-only", "strided", "reversed"])
def test_the_layout_of_the_codes_does_not_matter(form: str) -> None:
    """Columns come big-endian (FITS, HDF5), read-only (Arrow) or as every second element: same reports, same counts."""
    n = kernel_loader.SMALL + 1
    x = inputs(5, n)
    shaped = {
        "big-endian": x.astype(">i8"),
        "read-only": x.copy(),
        "strided": np.repeat(x, 2)[::2],
        "reversed": x[::-1].copy()[::-1],
    }[form]
    shaped.flags.writeable = form != "read-only"

    for kind in (GRR, OUE, SubsetSelection, HadamardResponse, OLH):
        mechanism = kind(Categories(5), 1.0)
        expected = mechanism.report(x, Random.seeded(2))
        assert np.array_equal(expected, mechanism.report(shaped, Random.seeded(2))), kind
    assert (tallies.histogram(x, 5) == tallies.histogram(Categories(5).encode(shaped), 5)).all()


def test_kernels_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """MURMURE_FAST=0 switches the kernels off; few people never load them."""
    monkeypatch.setenv("MURMURE_FAST", "0")
    kernel_loader.available.cache_clear()
    try:
        assert kernel_loader.kernels_for(10**6) is None
        monkeypatch.setenv("MURMURE_FAST", "1")
        kernel_loader.available.cache_clear()
        assert kernel_loader.kernels_for(kernel_loader.SMALL) is kernels
        assert kernel_loader.kernels_for(kernel_loader.SMALL - 1) is None
        assert kernel_loader.kernels_for(3, kernel_loader.MANY // 3 + 1) is kernels
        assert kernel_loader.kernels_for(3, kernel_loader.MANY // 3) is None
    finally:
        kernel_loader.available.cache_clear()


@pytest.mark.parametrize("kind", [OUE, SubsetSelection])
def test_few_long_reports_are_compiled(use: Use, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """What decides is the words that reports take: of 30,000 values, few people need as many as a crowd of two."""
    channel, n = kind(Categories(30_000), 1.0).channel, 150
    asked: list[Any] = []
    choose = kernel_loader.kernels_for
    for module in (bits, subset):
        monkeypatch.setattr(module, "kernels_for", lambda *work: (asked.append(choose(*work)), asked[-1])[1])
    actual = draw(channel, inputs(channel.inputs, n), 6)
    use("reference")

    assert n * channel.words >= kernel_loader.MANY and n < kernel_loader.SMALL
    assert asked[0] is kernels
    assert np.array_equal(draw(channel, inputs(channel.inputs, n), 6), actual)


@pytest.mark.parametrize(("k", "w"), [(2, 1), (3, 2), (65, 64), (128, 34), (300, 100)])
def test_subsets_report_by_report_are_the_same(use: Use, k: int, w: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference goes over reports or, where a block holds few of them, over the values of each."""
    channel, x = Subset(k, w, WORD // 5 * 3), inputs(k, 500)
    use("reference")
    monkeypatch.setattr(subset, "FEW", 0)
    expected = draw(channel, x, k)
    monkeypatch.setattr(subset, "FEW", len(x) + 1)

    assert np.array_equal(draw(channel, x, k), expected)


# ---- tallies


MECHANISMS = [
    GRR(Categories(2), 1.0),
    GRR(Categories(1000), 3.0),
    OUE(Categories(65), 1.0),
    SubsetSelection(Categories(128), 1.0),
    HadamardResponse(Categories(100), 1.0),
    BLH(Categories(100), 1.0),
    OLH(Categories(100), 0.5),  # 3 bins: decoded value by value
    OLH(Categories(1000), 1.0),  # 4 bins: decoded by a transform
    OLH(Categories(64), 5.0),  # 149 bins
    Piecewise(Integers(0, 40), 2.0),
]


def supports_by_definition(mechanism: Any, reports: Any) -> Any:
    """Which values does each report support? By membership, parity or hash, one value at a time."""
    k, c = mechanism.domain.size, mechanism.channel
    if isinstance(mechanism, OUE | SubsetSelection):
        return np.array([((reports[:, v // 64] >> np.uint64(v % 64)) & np.uint64(1)).sum() for v in range(k)])
    if isinstance(mechanism, HadamardResponse):
        return np.array([sum(1 - ((v + 1) & int(y)).bit_count() % 2 for y in reports) for v in range(k)])
    if isinstance(mechanism, BLH | OLH):
        seeds, y = reports[:, :-1].astype(np.int64), reports[:, -1]
        out = []
        for v in range(k):
            h = seeds[:, 0].copy()
            for i in range(seeds.shape[1] - 1):
                if v >> i & 1:
                    h ^= seeds[:, 1 + i]
            out.append(int((h * c.g // 2**c.seed_bits == y).sum()))
        return np.array(out)
    return np.array([(reports == v).sum() for v in range(getattr(mechanism, "outputs", k))])


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_tallies_are_the_same(use: Use, mechanism: Any) -> None:
    """Compiled, reference and definition count the same supports; parts add up to the whole."""
    reports = mechanism.law(inputs(mechanism.domain.size, kernel_loader.SMALL + 3)).sample(Random.seeded(4))
    few = reports[:300]
    use("reference")
    expected = mechanism.tally(reports)
    first = mechanism.tally(few)

    assert (first == supports_by_definition(mechanism, few)).all()
    assert (first + mechanism.tally(reports[300:]) == expected).all()
    use("compiled")
    assert (mechanism.tally(reports) == expected).all()
    assert (mechanism.tally(few) == first).all()


def test_a_support_counter_does_not_wrap() -> None:
    """70,000 reports that all support the same value are 70,000, though the kernel counts in 16 bits."""
    reports = np.zeros((70_000, 3), np.uint16)  # h = 0 for every value, bin 0
    out = np.zeros(2, np.int64)
    kernels.supports(reports, np.zeros(70_000, np.uint16), np.ones(70_000, np.uint16), out)

    assert out.tolist() == [70_000, 70_000]


@pytest.mark.parametrize("how", ["reference", "compiled"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 9, 100, 2048, 2049, 65_535, 65_536, 65_537, 200_000])
def test_column_sums_are_sums_of_columns(use: Use, n: int, how: str) -> None:
    """Full adders give what unpacking and adding gives, at every number of rows."""
    use(how)
    packed = Random.seeded(n).words(2 * n).reshape(n, 2) if n else np.zeros((0, 2), np.uint64)
    expected = [int(((packed[:, v // 64] >> np.uint64(v % 64)) & np.uint64(1)).sum()) for v in range(100)]

    assert tallies.column_sums(packed, 100).tolist() == expected
    assert tallies._carry_save(packed, 100).tolist() == expected  # also where so few rows are unpacked


@pytest.mark.parametrize("size", [3, 256, 257, 1000])
def test_bytes_are_counted_whatever_the_number_of_values(use: Use, size: int) -> None:
    """Reports on a thousand values, or on 256 and nobody, may all be small and come as bytes."""
    codes = (np.arange(tallies.BLOCK + 3) % min(size, 256)).astype(np.uint8)
    for how in ("reference", "compiled"):
        use(how)
        assert tallies.histogram(codes, size).tolist() == np.bincount(codes, minlength=size).tolist()


@pytest.mark.parametrize("n", [0, 1, 3, 5, 8192, 70_001])
def test_histograms_count(use: Use, n: int) -> None:
    """Every code is counted once, compiled or not, in one byte or in eight."""
    codes = (Random.seeded(n).words(max(n, 1))[:n] % np.uint64(200)).astype(np.uint8)
    expected = [int((codes == v).sum()) for v in range(256)]
    for how in ("reference", "compiled"):
        use(how)
        assert tallies.histogram(codes, 256).tolist() == expected
        assert tallies.histogram(codes.astype(np.int64), 256).tolist() == expected


@pytest.mark.parametrize("how", ["reference", "compiled"])
def test_the_transform_is_the_hadamard_matrix(use: Use, how: str) -> None:
    """walsh_hadamard(v) = sum_y (-1)^popcount(v & y) v[y], by the matrix; the vector itself is left alone."""
    use(how)
    vector = np.arange(64) ** 2 - 7
    matrix = np.array([[(-1) ** (v & y).bit_count() for y in range(64)] for v in range(64)])

    assert tallies.walsh_hadamard(vector).tolist() == (matrix @ vector).tolist()
    assert vector.tolist() == [y * y - 7 for y in range(64)]


# ---- words at the edges


def edge_words(law: WindowChannel) -> list[int]:
    """Words at which the report turns, and those beside them: every multiple of every divisor of the law."""
    turns = [0, law.body, law.cut]
    turns += [j * (law.inside + 1) for j in range(1, law.rest + 1)]
    turns += [law.cut + j * law.inside for j in range(1, law.length - law.rest + 1)]
    turns += [law.body + j * law.outside for j in range(1, law.outputs - law.length + 1)]
    return sorted({(turn + d) % WORD for turn in turns for d in (-2, -1, 0, 1, 2)})


def turning_windows() -> list[Any]:
    return [
        WindowChannel.calibrated(0.001, 2, 2),
        WindowChannel.calibrated(1.0, 2, 2),
        WindowChannel.calibrated(0.1, 3, 3),
        WindowChannel.calibrated(1.0, 1000, 1000),
        WindowChannel.calibrated(5.0, 300, 300),
        WindowChannel.calibrated(40.0, 7, 7),
        WindowChannel.calibrated(0.5, 10, 3 * 9 + 5, 5, 3),
        WindowChannel.calibrated(0.01, 50, 3 * 49 + 127, 127, 3),
        WindowChannel.calibrated(2.0, 64, 64, 17, 1, 8),
    ]


@pytest.mark.parametrize("law", turning_windows(), ids=lambda law: f"{law.inputs} to {law.outputs} by {law.length}")
def test_kernels_divide_exactly(use: Use, law: WindowChannel) -> None:
    """At every word where a report turns, and beside it: the kernels' float quotient is repaired to the exact one."""
    words = np.array(edge_words(law), np.uint64)
    for x in {0, law.inputs // 2, law.inputs - 1}:
        start = int(law.start(np.array([x]))[0])
        others = [y for y in range(law.outputs) if not start <= y < start + law.length]
        expected = []
        for u in words.tolist():
            if u >= law.body:
                expected.append(others[(u - law.body) // law.outside])
            elif u < law.cut:
                expected.append(start + u // (law.inside + 1))
            else:
                expected.append(start + law.rest + (u - law.cut) // law.inside)
        for how in ("reference", "compiled"):
            use(how)
            actual = law.draw(np.full(len(words), x), GivenWords(words[:, None]))
            assert actual.tolist() == expected, how


@pytest.mark.parametrize("g", [2, 3, 16, 149])
def test_hashed_kernels_divide_exactly(use: Use, g: int) -> None:
    """The same for the bins of a hash, whose kernel divides too."""
    law = Hashed(100, WindowChannel.calibrated(1.0, g, g))
    last = np.array(edge_words(law.bins), np.uint64)
    seeds = Random.seeded(g).words(len(last) * (law.words - 1)).reshape(len(last), -1)
    words, x = np.column_stack([seeds, last]), inputs(100, len(last))
    use("reference")
    expected = law.draw(x, GivenWords(words))
    use("compiled")

    assert np.array_equal(expected, law.draw(x, GivenWords(words)))


# ---- words that stay open


def planes(numbers: Any) -> Any:
    """(n, width, 64) numbers of 64 bits -> (n, 64 planes, width) words: plane j holds bit 63 - j of each number."""
    n, width, _ = numbers.shape
    out = np.zeros((n, 64, width), np.uint64)
    for j in range(64):
        for c in range(64):
            out[:, j] |= ((numbers[:, :, c] >> np.uint64(63 - j)) & np.uint64(1)) << np.uint64(c)
    return out


def close_numbers(threshold: int, n: int, width: int, equal: int, seed: int) -> Any:
    """Random numbers whose first `equal` bits are the threshold's: undecided for so many planes."""
    free = Random.seeded(seed).words(n * width * 64).reshape(n, width, 64)
    if equal == 64:
        return np.full((n, width, 64), threshold, np.uint64)
    mask = np.uint64((1 << (64 - equal)) - 1)
    return (np.uint64(threshold) & ~mask) | (free & mask)


def pack_truth(truth: Any) -> Any:
    """(n, width, 64) booleans -> (n, width) words."""
    return (truth.astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(axis=2, dtype=np.uint64)


THRESHOLDS = [1, 2**48, 2**48 - 1, WORD // 3, WORD // 2, 0x0123456789ABCDEF, WORD - 1]


@pytest.mark.parametrize("equal", [0, 15, 16, 17, 23, 24, 25, 40, 63, 64])
@pytest.mark.parametrize("threshold", THRESHOLDS, ids=hex)
def test_coins_compare_64_bits(threshold: int, equal: int) -> None:
    """A coin is the comparison of two 64-bit integers, however many leading bits they share; equal means no."""
    n, width = 5, 2
    numbers = close_numbers(threshold, n, width, equal, seed=equal)
    bits = planes(numbers)
    words = GivenWords(bits[:, :PLANES].reshape(n, -1), bits[:, PLANES:].reshape(n, -1))
    coins = Coins(threshold, width)
    out = coins.flip(0, words.main)
    coins.finish(out, words)

    assert (out == pack_truth(numbers < np.uint64(threshold))).all()
    if equal == 64:
        assert not out.any()


@pytest.mark.parametrize("how", ["reference", "compiled"])
@pytest.mark.parametrize("n", [40, 300])  # the kernel has room for 64 open words: one fits, the other starts over
@pytest.mark.parametrize("equal", [0, 16, 24, 64])
def test_bits_compare_64_bits(use: Use, how: str, n: int, equal: int) -> None:
    """Every bit of a unary report is such a comparison, the person's own with p, also where all words stay open."""
    use(how)
    k, q, p = 100, WORD // 5 + 12345, WORD // 3
    channel = BitsChannel(k, p, q)
    numbers = close_numbers(q, n, channel.width, equal, seed=equal)
    bits = planes(numbers)
    true_word = np.where(np.arange(n) % 3 == 0, np.uint64(p - 1), np.uint64(p))  # p - 1 is below p, p is not
    main = np.concatenate([bits[:, :PLANES].reshape(n, -1), true_word[:, None]], axis=1)
    x = inputs(k, n)
    truth = numbers.reshape(n, -1) < np.uint64(q)
    truth[np.arange(n), x] = true_word < p
    truth[:, k:] = False

    report = channel.draw(x, GivenWords(main, bits[:, PLANES:].reshape(n, -1)))

    assert (report == pack_truth(truth.reshape(n, channel.width, 64))).all()


@pytest.mark.parametrize("equal", [0, 16, 24, 64])
def test_chained_bits_compare_64_bits(equal: int) -> None:
    """A chained report takes three comparisons a bit: the kept one, then one for kept ones and one for kept zeros."""
    k, n = 70, 12
    first = BitsChannel(k, WORD // 4 * 3, WORD // 5)
    channel = ChainedBits(first, WORD // 7 * 6, WORD // 11 * 2)  # ones and zeros to the last bit of each
    drawn = [
        close_numbers(t, n, channel.width, equal, seed=i)
        for i, t in enumerate((first.yes_false, channel.yes_one, channel.yes_zero))
    ]
    true_word = np.where(np.arange(n) % 2 == 0, np.uint64(first.yes_true - 1), np.uint64(first.yes_true))
    bits = [planes(numbers) for numbers in drawn]
    main = np.concatenate(
        [
            bits[0][:, :PLANES].reshape(n, -1),
            true_word[:, None],
            *(h[:, :PLANES].reshape(n, -1) for h in bits[1:]),
        ],
        axis=1,
    )
    deep = np.concatenate([h[:, PLANES:].reshape(n, -1) for h in bits], axis=1)
    x = inputs(k, n)
    kept = drawn[0].reshape(n, -1) < np.uint64(first.yes_false)
    kept[np.arange(n), x] = true_word < first.yes_true
    ones = drawn[1].reshape(n, -1) < np.uint64(channel.yes_one)
    zeros = drawn[2].reshape(n, -1) < np.uint64(channel.yes_zero)
    truth = np.where(kept, ones, zeros)
    truth[:, k:] = False

    report = channel.draw(x, GivenWords(main, deep))

    assert (main.shape[1], deep.shape[1]) == (channel.words, channel.deep)
    assert deep.shape[1] == 3 * DEEP_PLANES * channel.width
    assert (report == pack_truth(truth.reshape(n, channel.width, 64))).all()


class Yielding(list):
    """A list that lets the other thread run after an append: a long turn for one thread, a short one for the other."""

    def append(self, item: Any) -> None:
        super().append(item)
        time.sleep(1e-3 if threading.current_thread().name == "slow" else 1e-5)


def test_two_threads_do_not_mix_up_open_words() -> None:
    """Two threads note open words at once: each keeps its own bits, so nobody's report takes another's."""
    n = 50
    lists = {f.name: Yielding() for f in dataclasses.fields(Coins) if f.default_factory is list}
    coins = Coins(1 << (63 - PLANES), 1, **lists)  # decided by the first deep plane: deep word 0 says yes to open bits

    def note(first: int) -> None:
        for row in range(first, first + n):
            coins.note(np.array([[row, 0]]), np.array([row], np.uint64))

    threads = [threading.Thread(target=note, args=(1,), name="slow"), threading.Thread(target=note, args=(n + 1,))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    out = np.zeros((2 * n + 1, 1), np.uint64)
    coins.finish(out, GivenWords(np.zeros((2 * n + 1, 1), np.uint64), np.zeros((2 * n + 1, DEEP_PLANES), np.uint64)))

    assert out[:, 0].tolist() == list(range(2 * n + 1))


# ---- the integers are the law


def alias_weights(table: Any) -> Any:
    """The law that the sampler's thresholds and aliases really have, in units of 2**-64."""
    threshold, alias, log_columns = table._alias
    share = 1 << (64 - log_columns)
    out = np.zeros(table.weights.shape, object)
    for x in range(table.inputs):
        for column in range(1 << log_columns):
            kept = int(threshold[x, column])
            assert kept <= share
            if kept:
                out[x, column] += kept
            if kept < share:
                out[x, int(alias[x, column])] += share - kept
    return out


@pytest.mark.parametrize(
    "table",
    [
        shift_family(shape(np.exp(-np.arange(7) / 2))),
        shift_family(shape(np.exp(-np.arange(64) / 3))),
        shift_family(shape(np.exp(-np.arange(33) * 10))),
        shift_family(shape(np.array([5.0, 5.0, 1.0]))),
        ramp(9, WORD // 5, WORD // 50),
        ramp(2, 1, WORD - 2),
    ],
    ids=lambda table: "x".join(map(str, table.weights.shape)),
)
def test_alias_tables_meet_the_weights_to_the_last_unit(table: Any) -> None:
    """Summed over columns, thresholds and aliases give back every weight of every row, in integers."""
    assert (alias_weights(table) == table.weights.astype(object)).all()
    assert (table.weights.astype(object).sum(axis=1) == WORD).all()


TABLES = {
    "three reports": shift_family(shape(np.array([5.0, 4.0, 1.0]))),
    "a power of two": shift_family(shape(np.exp(-np.arange(64) / 3))),
    "one more": shift_family(shape(np.exp(-np.arange(65) / 9))),
    "saturated": shift_family(shape(np.exp(-np.arange(33) * 10.0))),
    "two reports": ramp(9, WORD // 5, WORD // 50),
}


@pytest.mark.parametrize("law", TABLES.values(), ids=TABLES.keys())
def test_a_threshold_and_its_alias_share_a_word(law: Any) -> None:
    """Of every input and every column: words below the threshold give the column, from there on the alias."""
    threshold, alias, log = alias_tables(law.weights)
    entries, entry_log = law._entries
    table = entries.reshape(threshold.shape)
    low = np.uint64((1 << log) - 1)
    share = np.uint64(1 << (64 - log))

    assert entry_log == log
    # a whole share is written as none of the column, and all of the alias, which is the column itself
    whole = threshold == share
    assert (np.where(whole, np.uint64(0), threshold) == table >> np.uint64(log)).all()
    assert (np.where(whole, np.arange(1 << log, dtype=np.uint64), alias) == table & low).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("law", TABLES.values(), ids=TABLES.keys())
def test_compiled_table_draws_are_the_reference(law: Any, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From seeded words, and from words at both sides of every threshold, the same reports."""
    threshold, _, log = alias_tables(law.weights)
    edges = [
        [(column << (64 - log)) + min(max(0, int(threshold[x, column]) - below), (1 << (64 - log)) - 1)]
        for x in range(law.inputs)
        for column in range(1 << log)
        for below in (0, 1)
    ]
    codes = np.repeat(np.arange(law.inputs), 2 << log).astype(dtype)
    many = np.random.default_rng(4).integers(0, law.inputs, 3000).astype(dtype)
    drawn = {}
    for which, module in (("reference", None), ("compiled", kernels)):
        monkeypatch.setattr(table_module, "kernels_for_pieces", lambda n, module=module: module)
        drawn[which] = (
            law.draw(codes, GivenWords(np.array(edges, np.uint64))),
            law.draw(many, Random.seeded(5).reserve(len(many), 1)),
        )

    for reference, compiled in zip(drawn["reference"], drawn["compiled"], strict=True):
        assert np.array_equal(reference, compiled) and reference.dtype == compiled.dtype


def real_subset_law(channel: Subset, x: int) -> dict[frozenset[int], Any]:
    """The law of the sampler itself: every draw takes t with exactly as many words as multiply-and-shift gives it."""
    from fractions import Fraction

    k, w = channel.inputs, channel.size

    def words_for(t: int, m: int) -> int:
        return -(-(t + 1) * WORD // m) + (t * WORD // -m)  # ceil((t+1) 2**64 / m) - ceil(t 2**64 / m)

    def value(t: int) -> int:
        return t + (t >= x)

    law: dict[frozenset[int], Any] = {}
    for kept in (True, False):
        start = Fraction(channel.keep if kept else WORD - channel.keep, WORD)
        sets = {frozenset({x} if kept else ()): start}
        for draw_ in range(1 if kept else 0, w):
            j = k - 1 - w + draw_
            after: dict[frozenset[int], Any] = {}
            for members, chance in sets.items():
                for t in range(j + 1):
                    new = value(j) if value(t) in members else value(t)
                    grown = members | {new}
                    after[grown] = after.get(grown, 0) + chance * Fraction(words_for(t, j + 1), WORD)
            sets = after
        for members, chance in sets.items():
            law[members] = law.get(members, 0) + chance
    return law


@pytest.mark.parametrize(("k", "w"), [(2, 1), (4, 2), (5, 4), (7, 3), (9, 5)])
def test_the_slack_of_subsets_bounds_the_real_law(k: int, w: int) -> None:
    """Multiply-and-shift is uneven by units of 2**-64: counted exactly, it stays within the stated slack."""
    channel = Subset(k, w, WORD // 7 * 5)
    law = real_subset_law(channel, x=k // 2)
    worst = 0.0
    for members, chance in law.items():
        packed = np.array([sum(1 << v for v in members)], np.uint64)
        ratio = chance / channel.prob(k // 2, packed)
        worst = max(worst, abs(float(ratio - 1)))

    assert sum(law.values()) == 1
    assert len(law) == math.comb(k, w)
    assert worst <= channel.slack
