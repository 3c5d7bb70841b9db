"""One seekable stream of random words; each report uses a fixed range of it.

Word i of a lane is half of block i // 2 of AES-256 in counter mode (NIST SP 800-38A, 6.5), where the top 32 bits of the
counter are the lane. So words can be generated in bulk, or picked one by one anywhere, and both ways give the same
words. The *main* lane is generated in bulk; the *deep* lane holds words that are needed once in a thousand, and are
generated only there.
"""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from murmure.core.errors import InvalidParameter, UnsafeRandomness, shorten
from murmure.core.fixed import Words64
from murmure.core.helper_thread import helper
from murmure.core.types import Ints

MAIN, DEEP = 0, 1
SECRET_FROM = 1 << 64  # a seed of this length is a key, which is never printed
BUFFER_BYTES = 1 << 18  # fits the second-level cache, where AES writes 1.5 times faster
AHEAD = 1 << 14  # words that are made ahead of small ranges, at most
_ZEROS = bytes(BUFFER_BYTES)

Fill = Callable[[int, int, Words64], None]


class RandomWords(Protocol):
    """The words of a batch of reports: `width` main words and `depth` deep words each."""

    n: int

    def each(self, fill: Fill, threads: int = 1) -> None:
        """Call fill(start, stop, block) until every report has had its (width,) row of words."""
        ...

    def deep(self, report: Ints, index: Ints) -> Words64:
        """Deep word number index[i] of report[i]."""
        ...


def fresh_key() -> bytes:
    """32 bytes from the operating system: the seed of a session, the secret of an identity."""
    return os.urandom(32)


class Random:
    """The only source of randomness in the package. Build it with `secure()` or `seeded(n)`.

    >>> import murmure as mu
    >>> rng = mu.Random.seeded(7)
    >>> print(rng.words(2).tolist())
    [16247362386516363733, 9846125553513702416]
    >>> print(mu.Random.seeded(7).words(2).tolist())  # the same stream from the same seed
    [16247362386516363733, 9846125553513702416]
    >>> try:
    ...     rng.require_secure("a collector")
    ... except mu.MurmureError as error:
    ...     print(error)
    a collector serves real people and needs secure randomness, got Random.seeded(7).
      Hint: pass murmure.Random.secure(), or nothing
    """

    def __init__(self, key: bytes, seed: int | None, path: tuple[int, ...] = ()) -> None:
        self._key = key
        self._seed = seed
        self._path = path
        self._branches = 0
        self._next = [0, 0]  # next free word of each lane
        self._ahead = Stretch(key, 0, np.empty(0, np.uint64))
        self._lock = threading.Lock()
        if seed is None:
            _SECURE.add(self)

    @classmethod
    def secure(cls) -> Random:
        """Keyed by the operating system; a forked child gets a new key."""
        return cls(fresh_key(), None)

    @classmethod
    def seeded(cls, seed: int) -> Random:
        """The same stream from the same seed: for experiments; every release made with it is marked."""
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise InvalidParameter("Random.seeded takes an integer, got {got}.", got=shorten(seed))
        return _seeded(int(seed), ())

    def child(self, *path: int) -> Random:
        """The generator of one batch: a new key if this one is secure, derived from seed and path if it is seeded.

        So batches can be randomised in any order, by any thread or machine, and a seeded run stays the same.
        """
        return Random.secure() if self._seed is None else _seeded(self._seed, (*self._path, *path))

    def branch(self) -> Random:
        """A generator for one run of many batches; two branches of one seeded generator are two experiments."""
        with self._lock:
            self._branches += 1
            number = self._branches
        return self.child(-number)  # batches count upwards

    @property
    def is_seeded(self) -> bool:
        return self._seed is not None

    def require_secure(self, who: str) -> Random:
        """Return self, or refuse a seeded generator: for code that serves real people."""
        if self.is_seeded:
            raise UnsafeRandomness(
                "{who} serves real people and needs secure randomness, got {got!r}.",
                hint="pass murmure.Random.secure(), or nothing",
                who=who,
                got=self,
            )
        return self

    def reserve(self, n: int, width: int, depth: int = 0) -> KeystreamWords:
        """Take the next range of the stream for n reports; ranges never overlap, even between threads."""
        with self._lock:
            key, main, deep = self._key, self._next[MAIN], self._next[DEEP]
            # an even length keeps every range on a block boundary
            self._next[MAIN] += n * width + (n * width) % 2
            self._next[DEEP] += n * depth
        return KeystreamWords(key, main, deep, n, width, depth, self._main_words if n * width <= AHEAD else None)

    def _main_words(self, key: bytes, first: int, count: int) -> Words64:
        """Main words of a small range. Where such ranges follow one another, more are made than are asked for.

        Setting up a cipher takes as long as the words of a column of a thousand rows.
        """
        ahead = self._ahead
        at = first - ahead.first
        if ahead.key != key or not 0 <= at <= len(ahead.words):
            ahead, at = Stretch.make(key, first, count), 0
        elif at + count > len(ahead.words):
            ahead, at = Stretch.make(key, first, max(count, min(AHEAD, 2 * len(ahead.words)))), 0
        self._ahead = ahead
        return ahead.words[at : at + count].copy()

    def words(self, n: int) -> Words64:
        """n words in one array, for callers that need few."""
        out = np.empty(n, np.uint64)

        def fill(start: int, stop: int, block: Words64) -> None:
            out[start:stop] = block[:, 0]

        self.reserve(n, 1).each(fill)
        return out

    def _rekey(self) -> None:
        self._key, self._next, self._lock = fresh_key(), [0, 0], threading.Lock()
        self._ahead = Stretch(self._key, 0, np.empty(0, np.uint64))

    def __repr__(self) -> str:
        if self._seed is None:
            return "Random.secure()"
        seed = self._seed if abs(self._seed) < SECRET_FROM else "..."
        return f"Random.seeded({seed})" + (f".child{self._path}" if self._path else "")

    def __reduce__(self) -> tuple[object, ...]:
        # A copy would repeat the same words. A secure generator gets a new key; a seeded one starts again.
        return (Random.secure, ()) if self._seed is None else (_seeded, (self._seed, self._path))

    def __deepcopy__(self, memo: object) -> Random:
        return self


def _seeded(seed: int, path: tuple[int, ...]) -> Random:
    name = "/".join(map(str, (seed, *path))).encode()
    return Random(hashlib.sha256(b"murmure seeded stream 1\0" + name).digest(), seed, path)


def random_or_secure(rng: Random | None, owner: str) -> Random:
    """A secure generator if none is given; anything that is not a Random is refused."""
    if rng is None:
        return Random.secure()
    if not isinstance(rng, Random):
        raise InvalidParameter(
            "{owner}: rng must be a murmure.Random, got {got}.",
            hint="Random.secure(), Random.seeded(7), or nothing",
            owner=owner,
            got=shorten(type(rng).__name__),
        )
    return rng


_SECURE: weakref.WeakSet[Random] = weakref.WeakSet()


def _after_fork() -> None:
    # Parent and child would draw the same words, and one could compute the noise of the other.
    for rng in list(_SECURE):
        rng._rekey()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _counter(lane: int, block: int) -> bytes:
    return lane.to_bytes(4, "big") + block.to_bytes(12, "big")


@dataclass(frozen=True)
class Stretch:
    """Consecutive main words under a key."""

    key: bytes = field(repr=False)
    first: int
    words: Words64 = field(repr=False)

    @classmethod
    def make(cls, key: bytes, first: int, count: int) -> Stretch:
        """`first` is even: it lies on a cipher block."""
        cipher = Cipher(algorithms.AES(key), modes.CTR(_counter(MAIN, first // 2))).encryptor()
        stream = cipher.update(bytes((count + count % 2) * 8))
        return cls(key, first, np.frombuffer(stream, "<u8").astype(np.uint64, copy=False))


class KeystreamWords:
    """A reserved range of the keystream. The key is never part of its repr.

    small: how the main words of a small range are made, by key, first word and number.
    """

    def __init__(
        self,
        key: bytes,
        main: int,
        deep: int,
        n: int,
        width: int,
        depth: int,
        small: Callable[[bytes, int, int], Words64] | None = None,
    ) -> None:
        self.n, self.width, self.depth = n, width, depth
        self._key, self._main, self._deep, self._small = key, main, deep, small
        self._process = os.getpid()

    def __reduce__(self) -> Any:
        raise TypeError("reserved words do not travel: they hold the key")

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise UnsafeRandomness("random words that were reserved before a fork must not be used after it.")

    def each(self, fill: Fill, threads: int = 1) -> None:
        self._check_process()
        if self._small is not None:
            if self.n:
                fill(0, self.n, self._small(self._key, self._main, self.n * self.width).reshape(self.n, self.width))
            return
        rows = max(2, BUFFER_BYTES // (8 * self.width) // 2 * 2)  # even: each range starts on a cipher block
        half = self.n // 4 * 2  # even too
        if threads > 1 and self.n > 2 * rows:
            other = helper().submit(self._sweep, fill, half, self.n, rows)
            self._sweep(fill, 0, half, rows)
            other.result()
        else:
            self._sweep(fill, 0, self.n, rows)

    def _sweep(self, fill: Fill, first: int, last: int, rows: int) -> None:
        for start, block in self._blocks(first, last, rows):
            fill(start, start + len(block), block)

    def _blocks(self, first: int, last: int, rows: int) -> Iterator[tuple[int, Words64]]:
        at = self._main + first * self.width
        cipher = Cipher(algorithms.AES(self._key), modes.CTR(_counter(MAIN, at // 2))).encryptor()
        size = min(rows, last - first) * self.width * 8
        # + 16 twice: a range of odd length ends inside a block; update_into may need a spare block
        buffer = np.empty((size + 15) // 16 * 16 + 16, np.uint8)
        zeros = _ZEROS if size + 16 <= BUFFER_BYTES else bytes(size + 16)
        view = memoryview(zeros)
        for start in range(first, last, rows):
            count = min(rows, last - start)
            need = count * self.width * 8
            cipher.update_into(view[: (need + 15) // 16 * 16], buffer.data)
            yield start, buffer[:need].view("<u8").reshape(count, self.width)

    def deep(self, report: Ints, index: Ints) -> Words64:
        self._check_process()
        at = self._deep + report * self.depth + index
        counters = np.zeros((len(at), 2), ">u8")
        counters[:, 0] = DEEP << 32
        counters[:, 1] = at // 2
        # Block c of counter mode is the encryption of the counter c: any word can be computed without the earlier ones.
        cipher = Cipher(algorithms.AES(self._key), modes.ECB()).encryptor()
        stream = np.frombuffer(cipher.update(counters.tobytes()), "<u8").reshape(-1, 2)
        return stream[np.arange(len(at)), at % 2].astype(np.uint64)


class GivenWords:
    """Words from a table: for test vectors, and to recompute one person's report."""

    def __init__(self, main: Words64, deep: Words64 | None = None) -> None:
        self.main = np.atleast_2d(np.asarray(main, np.uint64))
        self.n = len(self.main)
        self._deep = np.zeros((self.n, 0), np.uint64) if deep is None else np.atleast_2d(deep)

    def each(self, fill: Fill, threads: int = 1) -> None:
        fill(0, self.n, self.main)

    def deep(self, report: Ints, index: Ints) -> Words64:
        return np.asarray(self._deep[report, index], np.uint64)
