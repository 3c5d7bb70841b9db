"""What the centre sees is equidistributed: the lecture's definition, checked in small rings by every case."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.secure.masks import masked
from murmure.secure.ring import Ring
from murmure.show.document import Number, Paragraph, Table
from murmure.show.figures import HeatMap, Panels

BITS, HOLDERS = 2, 3
SIZE = 1 << BITS  # elements of the ring
Inputs = tuple[int, ...]
Law = Counter[tuple[int, ...]]
Draws = NDArray[np.uint64]  # a column for every draw of all masks
OBSERVERS = {  # which parties tell the centre what they know
    "centre": (),
    "centre and party 1": (0,),
    "centre and parties 1, 2": (0, 1),
}
NAMES = {
    "centre": Phrase("the centre"),
    "centre and party 1": Phrase("the centre and party 1"),
    "centre and parties 1, 2": Phrase("the centre and parties 1, 2"),
}


def masked_words(values: Inputs) -> tuple[Draws, Draws, Draws]:
    """(words sent, pair masks, self-masks) for every value of every mask, by the function that the parties use."""
    ring = Ring(bits=BITS)
    draws = np.array(list(itertools.product(range(SIZE), repeat=6)), np.uint64).T.copy()
    (a, b, c), self_masks = draws[:3], draws[3:]
    x, y, z = (np.full(draws.shape[1], value, np.uint64) for value in values)
    sent = (
        masked(x, [a, b], [], self_masks[0], ring),
        masked(y, [c], [a], self_masks[1], ring),
        masked(z, [], [b, c], self_masks[2], ring),
    )
    return np.stack(sent), draws[:3], self_masks


PAIRS = {0: (0, 1), 1: (0, 2), 2: (1, 2)}  # which pair masks a party knows


def view(values: Inputs, runs: tuple[Draws, Draws, Draws], friends: Inputs) -> Draws:
    """All that an observer has in hand: the words, the self-masks that are opened, what its friends know.

    Every draw of the masks is as likely as any other, so the sorted list, each view as one number, is the law.
    """
    sent, pairs, self_masks = runs
    known = sorted({pair for friend in friends for pair in PAIRS[friend]})
    friends_values = [np.full(sent.shape[1], values[friend], np.uint64) for friend in friends]
    digits = [*sent, *self_masks, *pairs[known], *friends_values]
    return np.sort(sum(digit << np.uint64(BITS * place) for place, digit in enumerate(digits)))


def laws(work: Work, rng: Random, first: int) -> dict[str, Any]:
    """For all inputs that begin with this: a digest of each observer's law, and the words less the self-masks."""
    out: dict[str, Any] = {}
    for values in itertools.product((first,), range(SIZE), range(SIZE)):
        runs = masked_words(values)
        opened = Counter(map(tuple, ((runs[0] - runs[2]) % np.uint64(SIZE)).T.tolist()))
        out["".join(map(str, values))] = {
            "laws": {name: digest(view(values, runs, friends)) for name, friends in OBSERVERS.items()},
            "opened": [len(opened), len(set(opened.values()))],
        }
    return out


def digest(law: Draws) -> str:
    """Equal where the laws are."""
    return hashlib.sha256(law.tobytes()).hexdigest()[:16]


def printed_law(values: Inputs, modulus: int) -> Law:
    """The lecture's formula on whole numbers: six masks R_ij, one for each ordered pair."""
    masks = np.array(list(itertools.product(range(modulus), repeat=6)))
    r01, r10, r02, r20, r12, r21 = masks.T
    sent = np.stack(
        [values[0] + r01 - r10 + r02 - r20, values[1] + r10 - r01 + r12 - r21, values[2] + r20 - r02 + r21 - r12]
    )
    return Counter(map(tuple, (sent % modulus).T.tolist()))


def classes(keys: list[str]) -> int:
    return len(set(keys))


def measure(work: Work) -> Measured:
    firsts = range(work.choose(1, SIZE, SIZE))
    found: dict[str, Any] = {}
    for part in work.cells(laws, [{"first": first} for first in firsts]):
        found |= part
    inputs = sorted(found, key=lambda x: (sum(map(int, x)) % SIZE, x))
    by_observer = {name: [found[x]["laws"][name] for x in inputs] for name in OBSERVERS}
    sums = [sum(map(int, x)) % SIZE for x in inputs]
    pairs = list(itertools.combinations(zip(by_observer["centre"], sums, strict=True), 2))
    invariant = all((a == b) == (s == t) for (a, s), (b, t) in pairs)
    uniform = all(found[x]["opened"] == [SIZE**2, 1] for x in inputs)
    printed = {m: {x: printed_law(x, m) for x in itertools.product((0, 1), repeat=HOLDERS)} for m in (3, 4)}
    same = {m: printed[m][0, 0, 0] == printed[m][1, 1, 1] for m in (3, 4)}
    panels = tuple(picture(NAMES[name], keys) for name, keys in by_observer.items())
    verdict = (
        Phrase(
            "In a ring of {size}, with {parties} parties and all {inputs} inputs: what the centre sees has the same "
            "law for two inputs exactly when they have the same sum, and once the self-masks are opened it is uniform "
            "on the {support} triples with that sum.",
            size=SIZE,
            parties=HOLDERS,
            inputs=len(inputs),
            support=SIZE**2,
        )
        if invariant and uniform
        else Phrase("The laws of what the centre sees differ between inputs with the same sum.")
    )
    return Measured(
        verdict,
        {"input": inputs, "sum": sums, **{name: keys for name, keys in by_observer.items()}},
        (Panels(Phrase("Dark: two inputs that the observer cannot tell apart"), panels, columns=3),),
        Phrase(
            "The definition holds in a finite ring, where masks are uniform on all of it. The lecture prints real "
            "numbers modulo m, on which no computer draws uniformly. And does the centre see the same law whether all "
            "of three parties hold 1 or all hold 0? Modulo 3: {same}. Modulo 4: {other}.",
            same=yes_no(same[3]),
            other=yes_no(same[4]),
        ),
        (
            Paragraph(
                Phrase(
                    "The lecture's definition: a protocol is private in the presence of a central body if what that "
                    "body obtains has an invariant equidistribution on a set that depends on the output alone, and the "
                    "set is symmetric in the parties. In a ring: for all inputs with the sum q, the words sent are "
                    "uniform on the set of all words with the sum q. Exchanging two parties does not change that set."
                )
            ),
            Table(
                Phrase("How many kinds of inputs an observer can tell apart, of {n}", n=len(inputs)),
                (Phrase("observer"), Phrase("kinds"), Phrase("inputs of one kind")),
                tuple(
                    (NAMES[name], Number(classes(keys)), Number(len(inputs) / classes(keys), "plain"))
                    for name, keys in by_observer.items()
                ),
            ),
        ),
    )


def yes_no(value: bool) -> Phrase:
    return Phrase("yes") if value else Phrase("no")


def picture(name: str, keys: list[str]) -> HeatMap:
    places = tuple(float(i) for i in range(len(keys)))
    values = tuple(tuple(float(a == b) for b in keys) for a in keys)
    return HeatMap(name, places, places, values, Phrase("input, by sum"), Phrase("input, by sum"), Phrase("same law"))


ITEM = Item(
    Phrase("Equidistribution, enumerated"),
    Phrase("2.2 and 2.3, equidistribution and privacy"),
    measure,
    claimed=Phrase(
        "what the central body obtains is equidistributed on a set that depends on the output alone and is symmetric "
        "in the parties: it learns no more than the output"
    ),
    verdicts=(26,),
)
