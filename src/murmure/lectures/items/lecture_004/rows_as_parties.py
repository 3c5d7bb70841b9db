"""Section 6: one company, each of its rows a party. What it costs, and what it would leak."""

from __future__ import annotations

from typing import Any

import numpy as np

import murmure as mu
from murmure import attacks
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures import lecture_004 as lecture
from murmure.lectures import lecture_004_sums as sums
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, IntervalRow, Intervals, Table

SCHEMA = mu.Schema({"age": mu.Integers(18, 97), "bonus": mu.Integers(0, 9), "claims": mu.Integers(0, 60)})
FACTORS = 4  # products of (1, age, bonus, claims)
L, EPSILON = 10, 1.0


def clients(rng: Random, n: int) -> dict[str, list[int]]:
    words = rng.words(3 * n).reshape(3, n)
    sizes = {"age": (18, 80), "bonus": (0, 10), "claims": (0, 61)}
    columns = zip(sizes.items(), words, strict=True)
    return {name: (low + (w % np.uint64(size)).astype(int)).tolist() for (name, (low, size)), w in columns}


def released(rows: list[tuple[int, ...]], rng: Random) -> list[int]:
    """What the provider recovers: the ten sums over these rows, each row a party."""
    vectors = [[(1, *row)[j] * (1, *row)[k] for j in range(FACTORS) for k in range(j, FACTORS)] for row in rows]
    return lecture.in_the_ring(vectors, bound=2**14, rng=rng).total


def departure(work: Work, rng: Random, n: int, runs: int) -> float:
    """One client leaves, and the sums are computed again: how often the difference of the two is the client's row."""
    found = 0
    for run in range(runs):
        rows = list(zip(*clients(rng, n).values(), strict=True))
        leaver = rows[run % n]
        before, after = released(rows, rng), released([*rows[: run % n], *rows[run % n + 1 :]], rng)
        difference = [a - b for a, b in zip(before, after, strict=True)]
        found += tuple(difference[1:FACTORS]) == leaver and difference[0] == 1
    return found / runs


def differences(work: Work, rng: Random, n: int, targets: int) -> list[list[Any]]:
    """The attack of murmure.attacks on the same rows: which way, behind which rule, how often."""
    people = clients(work.rng("clients"), n)
    found = attacks.differencing(
        people, SCHEMA, ["age", "bonus"], ["claims"], epsilon=EPSILON, targets=targets, rng=rng
    )
    return [[str(row.attacker), str(row.setting["guard"]), row.value] for row in found.rows]


WAYS = {
    ("alone", "no guard"): Phrase("a sum over one row"),
    ("difference", "5 rows or more"): Phrase("two large sums"),
    ("departure", "no guard"): Phrase("before and after it leaves"),
    ("departure", "one cohort"): Phrase("... one cohort per study"),
    ("difference", "epsilon = 1"): Phrase("two large sums, epsilon 1"),
}


def measure(work: Work) -> Measured:
    n = work.choose(12, 40, 100)
    leaves = work.cells(departure, [{"n": n, "runs": work.choose(2, 20, 50)}])[0]
    found = work.cells(differences, [{"n": work.choose(60, 300, 1_000), "targets": work.choose(10, 100, 300)}])[0]
    shares = {(way, guard): value for way, guard, value in found}
    sizes = tuple(float(10**k) for k in range(1, 7))
    masks, additions = zip(*(sums.outsourced(int(m), L) for m in sizes), strict=True)
    return Measured(
        Phrase(
            "{masks:,} masks for a million rows and ten sums, or {additions:,} additions: the provider sees the same "
            "ten sums. And when one client leaves and the sums are computed again, their difference is that client's "
            "row: in {leaves:.0%} of the runs. Two sums over sets that differ in one person give {difference:.0%} of "
            "the people, with noise of epsilon 1 {noisy:.0%}.",
            masks=masks[-1],
            additions=additions[-1],
            leaves=leaves,
            difference=shares["difference", "5 rows or more"],
            noisy=shares["difference", "epsilon = 1"],
        ),
        {"way": [a for a, _, _ in found], "guard": [b for _, b, _ in found], "recovered": [c for _, _, c in found]},
        (
            Curves(
                Phrase("A row as a party: masks, against plain additions (ten sums)"),
                (
                    Curve(Phrase("masks between rows"), sizes, tuple(map(float, masks))),
                    Curve(Phrase("additions by the owner"), sizes, tuple(map(float, additions))),
                ),
                Phrase("rows m"),
                Phrase("numbers"),
                log=True,
                log_x=True,
            ),
            Intervals(
                Phrase("Clients whose claims are recovered"),
                tuple(IntervalRow(name, shares[way]) for way, name in WAYS.items()),
                bounds=(0.0, 1.0),
                picture=True,
                axis=Phrase("share of clients"),
                words=("", Phrase("share recovered")),
            ),
        ),
        Phrase(
            "Masks hide parties from one another, and here there is one party, which knows every row. What comes out "
            "is exact, and exact sums of one-row parties are rows as soon as two of them differ in one. Rows as "
            "parties also means that every absent row is a party that dropped out."
        ),
        (
            Table(
                Phrase("Instead"),
                (Phrase("the provider is to have"), Phrase("what to use")),
                (
                    (Phrase("the sums of one owner's rows"), Phrase("the owner adds up and sends the sums")),
                    (
                        Phrase("the same, and epsilon about a client"),
                        Phrase("noise at the owner: privacy=mu.Central(epsilon)"),
                    ),
                    (Phrase("the sums of several owners' rows"), Phrase("masks between owners: privacy=mu.Secure()")),
                    (Phrase("rows, for later questions"), Phrase("randomised rows: mu.sanitise")),
                ),
                words=True,
            ),
        ),
    )


ITEM = Item(
    Phrase("Insurer and provider: each row a party"),
    Phrase("6, transposition to an insurer and a provider"),
    measure,
    claimed=Phrase(
        "an insurer could outsource a calculation by treating each row as the datum of one of the m parties, m being "
        "the number of rows"
    ),
)
