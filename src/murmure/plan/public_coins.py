"""Public coins: words that decide which hash or which columns a report is about, and that the report shows anyway.

    Hashed    the seeds of the hash (OLH, BLH): four 16-bit seeds to a word
    Sampled   which columns are shown (SMP, ADP), one word, unless they are taken in turn by a person's number;
              then the seeds of the hashed columns among these, in the order of the schema
    Joint     the seeds of every hashed column (SPL)

A forger who draws these words draws until they suit. With `Plan(coins="collector")` the collector gives them out and
refuses reports that show others. Certificates hold for each fixed public coin, so the guarantee does not depend on who
draws it. Estimates are unbiased over uniform coins. So they assume that the collector derives its coins by a keyed hash
of something that it cannot choose for each answer (a token), and does not draw again to get others.

The hidden draw of RS+FD and RS+RFD, and the words that randomise an answer, are never public: with such a word a report
gives the answer away.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, Plural, shorten
from murmure.core.fixed import Words64
from murmure.core.random import Fill, Random
from murmure.core.types import Ints
from murmure.laws.hashed import Hashed
from murmure.laws.records import Draw, Joint, Sampled

if TYPE_CHECKING:
    from murmure.plan.plan import Plan

HEX = re.compile("[0-9a-f]{16}")
GIVEN_OUT = Phrase("pass those that the collector gave out, all of them and in order")


def has_public_coins(plan: Plan[Any]) -> bool:
    """Whether a report of this plan shows a coin that the collector could give out."""
    if plan.person is None:
        return False
    channel = plan.person.channel
    if isinstance(channel, Sampled) and not channel.draw.in_turn:
        return True
    return any(isinstance(part, Hashed) for part in _parts(channel))


def coin_words(plan: Plan[Any], stream: Iterator[int], number: int = 0) -> list[int]:
    """The words that one report uses, off a stream of 64-bit words: how many can depend on the first one.

    number: the public number of the person, for plans that take columns in turn.
    """
    channel, words = plan.person.channel, list[int]()

    def take(count: int) -> list[int]:
        taken = [next(stream) for _ in range(count)]
        words.extend(taken)
        return taken

    shown = _shown(channel, take, number)
    for part in _parts(channel):
        if shown is None or next(shown):
            take(seed_words(part))
    return words


def coins_in_hex(words: Iterable[int]) -> list[str]:
    """As they travel: 16 hexadecimal digits each."""
    return [f"{word:016x}" for word in words]


def coins_from_hex(texts: Any) -> list[int]:
    """Words from what travelled."""
    if not isinstance(texts, list | tuple) or not all(isinstance(t, str) and HEX.fullmatch(t) for t in texts):
        raise InvalidParameter(
            "the public coins must be a list of texts of 16 hexadecimal digits, got {got}.",
            hint=GIVEN_OUT,
            got=shorten(texts),
        )
    return [int(text, 16) for text in texts]


def check_coins(plan: Plan[Any], words: Sequence[int], report: Any, number: int = 0) -> None:
    """Raises where a report (the JSON value, checked by `report_check`) shows other coins than these words."""
    channel, left = plan.person.channel, iter(words)

    def take(count: int) -> list[int]:
        taken = [word for _, word in zip(range(count), left, strict=False)]
        if len(taken) < count:
            raise _miscounted(len(words))
        return taken

    shown = _shown(channel, take, number)
    cells = report if isinstance(channel, Joint | Sampled) else [report]
    for place, (part, cell) in enumerate(zip(_parts(channel), cells, strict=True)):
        shows = shown is None or next(shown)
        if shows != (cell is not None):
            raise InvalidParameter(
                "this report shows other columns than its public coins say: column {place} must be {wanted}.",
                hint=GIVEN_OUT,
                place=place,
                wanted=Phrase("a report") if shows else Phrase("null"),
            )
        if shows and isinstance(part, Hashed):
            seeds = seeds_in_hex(part, take(seed_words(part)))
            if not cell.startswith(seeds):
                raise InvalidParameter(
                    "this report shows another hash than its public coins say: wanted seeds {wanted}, got {got}.",
                    hint=GIVEN_OUT,
                    wanted=shorten(seeds),
                    got=shorten(cell[: len(seeds)]),
                )
    if next(left, None) is not None:
        raise _miscounted(len(words))


def _miscounted(count: int) -> InvalidParameter:
    return InvalidParameter(
        "these are not the public coins of one report: got {got}.",
        hint=GIVEN_OUT,
        got=Plural("{n} word", "{n} words", n=count),
    )


# -- what each law shows -----------------------------------------------------------------------------------------------


def _parts(channel: Any) -> Sequence[Any]:
    return channel.parts if isinstance(channel, Joint | Sampled) else (channel,)


def seed_words(part: Any) -> int:
    """Public words that a column uses where it is shown."""
    return part.words - 1 if isinstance(part, Hashed) else 0  # the last word randomises the bin


def seeds_in_hex(part: Hashed, words: Sequence[int]) -> str:
    """The seeds as a report shows them."""
    count, mask = part.value_bits + 1, (1 << part.seed_bits) - 1
    whole = sum(word << 64 * i for i, word in enumerate(words))
    every = sum(mask << 16 * i for i in range(count))
    return (whole & every).to_bytes(2 * count, "little").hex()


def _shown(channel: Any, take: Any, number: int) -> Iterator[bool] | None:
    """Which columns a person shows; None: all of them."""
    if not isinstance(channel, Sampled):
        return None
    if channel.draw.in_turn:
        return iter(_turn(channel.draw, number))
    return iter(drawn_columns(channel.draw, take(1)[0]))


def _turn(draw: Draw, number: int) -> list[bool]:
    first = number * draw.take % draw.columns
    return [(c - first) % draw.columns < draw.take for c in range(draw.columns)]


def drawn_columns(draw: Draw, word: int) -> list[bool]:
    """Which columns this word draws: what `Draw.rows` gives for one person, without arrays."""
    left, d, rank = draw.take, draw.columns, _code(draw, word)
    shown = []
    for c in range(d):
        with_c = math.comb(d - c - 1, left - 1) if left else 0
        shown.append(rank < with_c)
        rank, left = (rank, left - 1) if rank < with_c else (rank - with_c, left)
    return shown


def _code(draw: Draw, word: int) -> int:
    sets = draw.sets
    if sets.counts is None:
        return word // sets.step if sets.size > 1 else 0
    for code, count in enumerate(sets.counts):
        if word < count:
            return code
        word -= count
    raise AssertionError("runs sum to 2**64")


# -- a generator whose public words were given -------------------------------------------------------------------------


class CoinedRandom(Random):
    """The words of one report: public ones from the collector, all others from a generator.

    Laws reserve ranges in a fixed order, and how many words at the front of each range are public is known beforehand.
    """

    def __init__(self, plan: Plan[Any], coins: Sequence[int], secret: Random) -> None:
        super().__init__(b"", seed=0)  # never read: every range comes from `secret`
        self._secret, self._coins = secret, list(coins)
        self._public = iter(_public_words(plan.person.channel))
        self._given = len(coins)

    def reserve(self, n: int, width: int, depth: int = 0) -> Any:
        public = next(self._public) * n
        if not public:
            return self._secret.reserve(n, width, depth)
        taken, self._coins = self._coins[:public], self._coins[public:]
        if len(taken) < public:
            raise _miscounted(self._given)
        return CoinedWords(taken, self._secret.reserve(n, width - public) if width > public else None)

    def finish(self) -> None:
        """Called when the report is made: what was given must be used up."""
        if self._coins:
            raise _miscounted(self._given)

    def __repr__(self) -> str:
        return f"{self._secret!r} with public coins"

    def __reduce__(self) -> Any:
        raise TypeError("the words of one report do not travel")


class CoinedWords:
    """The words of one range of one report: public ones, then secret ones."""

    n = 1

    def __init__(self, public: Sequence[int], secret: Any) -> None:
        self._public, self._secret = public, secret

    def each(self, fill: Fill, threads: int = 1) -> None:
        public = np.array([self._public], np.uint64)

        def joined(start: int, stop: int, block: Words64) -> None:
            fill(start, stop, np.concatenate([public, block], axis=1))

        if self._secret is None:
            fill(0, 1, public)
        else:
            self._secret.each(joined)

    def deep(self, report: Ints, index: Ints) -> Words64:
        raise AssertionError("no law with public words has deep ones")


def _public_words(channel: Any) -> list[int]:
    """Of each range that a law reserves for one person, in order."""
    if isinstance(channel, Sampled):
        draw = [] if channel.draw.in_turn else [1]
        return [*draw, *(seed_words(part) for part in channel.parts)]
    if not isinstance(channel, Joint):
        return [seed_words(channel)]
    strings = [0 for members, _ in channel.strings for _ in range(1 + len(members))]
    in_strings = {i for members, _ in channel.strings for i in members}
    return [*strings, *(seed_words(part) for i, part in enumerate(channel.parts) if i not in in_strings)]
