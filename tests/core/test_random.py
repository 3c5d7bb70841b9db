"""One seekable stream: the same words in bulk or one by one, never twice, never shown, never in two processes."""

from __future__ import annotations

import ast
import copy
import hashlib
import itertools
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import murmure
from murmure.core import random as module
from murmure.core.domain import Categories
from murmure.core.errors import InvalidParameter, UnsafeRandomness
from murmure.core.random import AHEAD, BUFFER_BYTES, GivenWords, Random
from murmure.local.rappor import RAPPOR

SOURCE = Path(murmure.__file__).parent


def main_words(reserved: Any, threads: int = 1) -> Any:
    out = np.zeros((reserved.n, reserved.width), np.uint64)

    def fill(a: int, b: int, block: Any) -> None:
        assert not out[a:b].any()  # nobody is filled twice
        out[a:b] = block

    reserved.each(fill, threads)
    return out


def deep_words(reserved: Any) -> Any:
    report, index = np.divmod(np.arange(reserved.n * reserved.depth), reserved.depth)
    return reserved.deep(report, index).reshape(reserved.n, reserved.depth)


def counter_mode(key: bytes, lane: int, first: int, count: int) -> Any:
    """Words `first`, `first` + 1, ... of a lane, by AES-256 in counter mode as the library gives it."""
    start = lane.to_bytes(4, "big") + (first // 2).to_bytes(12, "big")
    stream = Cipher(algorithms.AES(key), modes.CTR(start)).encryptor().update(bytes(8 * (count + first % 2)))
    return np.frombuffer(stream, "<u8")[first % 2 :]


def key_of(seed: int) -> bytes:
    return hashlib.sha256(b"murmure seeded stream 1\0" + str(seed).encode()).digest()


# ---- known answers


@pytest.mark.parametrize("width", [1, 2, 3, 17, 257])
@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_words_are_aes_256_in_counter_mode(n: int, width: int) -> None:
    """Main words are lane 0, deep words lane 1, of AES-256-CTR under SHA-256 of the seed; ranges follow one another."""
    rng, main, deep = Random.seeded(12), 0, 0
    for depth in (0, 48, 5):
        reserved = rng.reserve(n, width, depth)
        assert np.array_equal(main_words(reserved).ravel(), counter_mode(key_of(12), 0, main, n * width))
        if depth:
            assert np.array_equal(deep_words(reserved).ravel(), counter_mode(key_of(12), 1, deep, n * depth))
        main += n * width + n * width % 2  # every range starts on a block
        deep += n * depth


def test_a_known_answer() -> None:
    """The first words of seed 7, written down: a seed means the same in every release and on every machine."""
    reserved = Random.seeded(7).reserve(2, 2, 3)

    assert [f"{w:016x}" for w in main_words(reserved).ravel()] == [
        *("e17a3a022159c9d5", "88a477061f14a410", "4c83f8267413854d", "b551e486295f5a4f")
    ]
    assert [f"{w:016x}" for w in reserved.deep(np.array([0, 0, 1]), np.array([0, 1, 2]))] == [
        *("cc5756dc1f482d11", "42f02fc1edf398c1", "4d8cb68a3526c505")
    ]


@pytest.mark.parametrize("width", [1, 3, 64, 1001])
def test_two_threads_make_the_words_of_one(width: int) -> None:
    """Halves made beside one another are the whole made alone, also where a buffer ends in the middle."""
    n = 2 * (BUFFER_BYTES // (8 * width)) + 7
    alone = main_words(Random.seeded(3).reserve(n, width), 1)
    together = main_words(Random.seeded(3).reserve(n, width), 2)

    assert np.array_equal(alone, together)


def test_words_made_ahead_are_those_of_the_stream() -> None:
    """Small ranges in a row, large ones between them, and earlier ones again, in any order: every word keeps its place.

    Several hundred small ranges pass the end of what is made ahead many times.
    """
    rng, draw, ranges = Random.seeded(13), np.random.default_rng(1), []
    at = 0
    for i in range(600):
        n, width = int(draw.integers(0, 900)), int(draw.integers(1, 4))
        n = 2 * AHEAD if i % 200 == 77 else n  # made without the stretch
        ranges.append((at, rng.reserve(n, width)))
        at += n * width + n * width % 2
    whole = counter_mode(key_of(13), 0, 0, at)
    order = [*range(600), *draw.permutation(600).tolist()]

    for first, reserved in (ranges[i] for i in order):
        count = reserved.n * reserved.width
        assert np.array_equal(main_words(reserved).ravel(), whole[first : first + count])


def test_a_block_of_words_is_its_readers() -> None:
    """Whoever writes into a block changes neither what another reader gets nor the words themselves."""
    rng = Random.seeded(14)
    rng.words(100)  # words are made ahead from here on
    reserved = rng.reserve(10, 1)
    first = main_words(reserved)

    def spoil(a: int, b: int, block: Any) -> None:
        block[:] = 0

    reserved.each(spoil)

    assert np.array_equal(main_words(reserved), first)


def test_threads_share_what_is_made_ahead() -> None:
    """Four threads draw small ranges of one generator: together they have drawn every word of the stream once."""
    rng, drawn = Random.seeded(15), []

    def take() -> None:
        for _ in range(200):
            drawn.append(rng.words(64))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    whole = counter_mode(key_of(15), 0, 0, 4 * 200 * 64)
    assert np.array_equal(np.sort(np.concatenate(drawn)), np.sort(whole))


def test_deep_words_can_be_picked_in_any_order() -> None:
    """A gather of single words, repeated and shuffled, gives what the lane in order gives."""
    reserved = Random.seeded(5).reserve(100, 1, 48)
    lane = deep_words(reserved)
    report, index = np.array([99, 0, 50, 50, 0]), np.array([47, 0, 13, 13, 1])

    assert reserved.deep(report, index).tolist() == lane[report, index].tolist()
    assert reserved.deep(report[:0], index[:0]).tolist() == []


def test_given_words_come_from_a_table() -> None:
    """GivenWords returns its rows, in bulk and one by one: what vectors and recomputed reports need."""
    main, deep = np.arange(6, dtype=np.uint64).reshape(2, 3), np.arange(8, dtype=np.uint64).reshape(2, 4)
    given = GivenWords(main, deep)
    calls = []
    given.each(lambda a, b, block: calls.append((a, b, block.tolist())))

    assert calls == [(0, 2, main.tolist())]
    assert given.deep(np.array([1, 0]), np.array([3, 2])).tolist() == [7, 2]
    assert GivenWords(main[0]).n == 1


# ---- nobody gets a word twice


def test_ranges_never_overlap() -> None:
    """Reserved one after the other, odd and even, all words differ (chance of a false alarm: 2**-38)."""
    rng = Random.seeded(1)
    words = np.concatenate([main_words(rng.reserve(n, w)).ravel() for n in (1, 2, 5, 100) for w in (1, 2, 3)])

    assert len(np.unique(words)) == len(words)


def test_threads_reserve_different_ranges() -> None:
    """Eight threads, 50 reservations each: every range is disjoint from every other, in both lanes."""
    rng = Random.seeded(2)
    taken: list[tuple[int, int, int, int]] = []

    def take() -> None:
        for i in range(50):
            r = rng.reserve(1 + i % 7, 3, 5)
            taken.append((r._main, r._main + r.n * 3, r._deep, r._deep + r.n * 5))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(taken) == 400
    for first, last in ((0, 1), (2, 3)):
        ranges = sorted((t[first], t[last]) for t in taken)
        assert all(a_end <= b for (_, a_end), (b, _) in itertools.pairwise(ranges))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_gets_other_words() -> None:
    """Parent, first child and second child of a secure generator draw three different streams; so do their copies."""
    rng = Random.secure()
    for _ in range(3):
        rng.words(100)  # some are made ahead
    drawn = []
    for _ in range(2):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:  # nothing but the draw: no test machinery runs in the child
            os.write(write, rng.words(4).tobytes())
            os._exit(0)
        os.close(write)
        drawn.append(os.read(read, 32))
        os.close(read)
        assert os.waitpid(child, 0)[1] == 0
    drawn.append(rng.words(4).tobytes())

    assert [len(words) for words in drawn] == [32, 32, 32]
    assert len(set(drawn)) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_can_draw_with_two_threads() -> None:
    """The helper thread does not survive a fork; the child makes itself another instead of waiting for ever."""
    n = 2 * BUFFER_BYTES // 8 + 3
    main_words(Random.seeded(1).reserve(n, 1), 2)  # the helper lives in the parent
    child = os.fork()
    if child == 0:
        import signal

        signal.alarm(20)  # a child that waits for ever is killed, and the test fails
        equal = np.array_equal(
            main_words(Random.seeded(1).reserve(n, 1), 2), main_words(Random.seeded(1).reserve(n, 1), 1)
        )
        os._exit(0 if equal else 1)

    assert os.waitpid(child, 0)[1] == 0


def test_secure_generators_differ() -> None:
    """Two secure generators share no word of their first hundred."""
    assert not set(Random.secure().words(100)) & set(Random.secure().words(100))


# ---- seeds


def test_a_seed_repeats() -> None:
    """The same seed gives the same stream, another seed another one; a large integer and NumPy's are seeds too."""
    assert Random.seeded(7).words(50).tolist() == Random.seeded(7).words(50).tolist()
    assert Random.seeded(np.int64(7)).words(5).tolist() == Random.seeded(7).words(5).tolist()
    assert not set(Random.seeded(7).words(50)) & set(Random.seeded(8).words(50))
    assert Random.seeded(2**200).is_seeded and not Random.secure().is_seeded


@pytest.mark.parametrize("wrong", [True, 1.0, "7", None, [7]])
def test_a_seed_is_an_integer(wrong: Any) -> None:
    """Anything else is refused; nothing is hashed into a seed in silence."""
    with pytest.raises(InvalidParameter, match=r"Random\.seeded takes an integer, got"):
        Random.seeded(wrong)


def test_seeded_randomness_is_refused_where_people_are_at_stake() -> None:
    """require_secure returns a secure generator, and refuses a seeded one by name, with a way out."""
    rng = Random.secure()

    assert rng.require_secure("The survey") is rng
    with pytest.raises(UnsafeRandomness, match=r"The survey .* got Random.seeded\(7\).*\n  Hint: pass murmure.Random"):
        Random.seeded(7).require_secure("The survey")
    with pytest.raises(UnsafeRandomness, match="MemoisedClient"):
        RAPPOR(Categories(3), 4.0, 1.0).client(bytes(32), "question", Random.seeded(7))


# ---- the key


@pytest.mark.parametrize("make", [Random.secure, lambda: Random.seeded(7)])
def test_the_key_is_never_shown(make: Any) -> None:
    """repr, str and pickle of a generator do not hold its key; nor does the repr of a reserved range."""
    rng = make()
    key = rng._key
    reserved = rng.reserve(3, 2, 1)

    for shown in (repr(rng), str(rng), f"{rng}", repr(reserved), str(reserved)):
        assert key.hex() not in shown and repr(key)[2:-1] not in shown
    assert key not in pickle.dumps(rng)


def test_a_pickled_secure_generator_is_another_stream() -> None:
    """A copy that replayed the words would give two people the same noise: pickles and copies are keyed anew."""
    rng = Random.secure()
    copies = [pickle.loads(pickle.dumps(rng)), copy.copy(rng)]
    streams = [r.words(8).tolist() for r in (rng, *copies)]

    assert len({word for stream in streams for word in stream}) == 24
    assert not any(r.is_seeded for r in copies)


def test_a_pickled_seeded_generator_starts_again() -> None:
    """An experiment sent to another process repeats from the beginning."""
    rng = Random.seeded(7)
    first = rng.words(8).tolist()

    assert pickle.loads(pickle.dumps(rng)).words(8).tolist() == first


def test_a_deep_copy_is_the_generator_itself() -> None:
    """deepcopy of something that holds a generator shares it, so no word is drawn twice."""
    rng = Random.secure()

    assert copy.deepcopy(rng) is rng


# ---- the only source


def imports_and_names(path: Path) -> set[str]:
    """Every dotted name that a file imports or reads."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute):
            found.add(ast.unparse(node))
    return found


def uses_other_randomness(names: set[str]) -> set[str]:
    roots = ("random", "secrets", "numpy.random", "np.random", "uuid", "scipy.stats")
    return {n for n in names if any(n == root or n.startswith(root + ".") for root in roots)}


def test_the_scan_sees_what_it_looks_for(tmp_path: Path) -> None:
    """The scan of the next test finds random, secrets and numpy.random however they are imported."""
    bad = {
        "import random": {"random"},
        "from random import choice": {"random", "random.choice"},
        "import numpy as np\nnp.random.default_rng()": {"np.random", "np.random.default_rng"},
        "from numpy import random": {"numpy.random"},
        "import secrets": {"secrets"},
        "from murmure.core.random import Random": set(),
    }
    for code, expected in bad.items():
        path = tmp_path / "bad.py"
        path.write_text(code)
        assert uses_other_randomness(imports_and_names(path)) == expected


ATTACKERS = {  # what attackers and victims, or people who do not exist, draw protects nobody
    "attacks/curator/float_noise/inverse_cdf.py": "NumPy's own Laplace noise is the one under attack",
    "attacks/person/forgery/forged_reports.py": "forgers need no secret; their generator is keyed by ours",
    "cli/starters/invented_people.py": "people who do not exist have nothing to protect",
    "cli/starters/people_table.py": "people who do not exist have nothing to protect",
    "cli/starters/study.py": "people who do not exist have nothing to protect",
    "lectures/experiments/listings_000.py": "the split of the lecture's listing, by its seed",
    "lectures/record_attacks/survey_runs.py": "the surveys of the published code, by its seeds",
}


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(SOURCE.rglob("*.py")) if path.relative_to(SOURCE).as_posix() not in ATTACKERS],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_no_file_uses_other_randomness(path: Path) -> None:
    """No `random`, `secrets` or `numpy.random` anywhere; os.urandom only where generators are keyed."""
    names = imports_and_names(path)

    assert not uses_other_randomness(names)
    assert "os.urandom" not in names or path == Path(module.__file__)
