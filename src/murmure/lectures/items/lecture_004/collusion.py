"""Those who collude: all but one know the last, and all but two or three know these from a regression."""

from __future__ import annotations

import numpy as np

import murmure as mu
from murmure import attacks
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures import lecture_004 as lecture
from murmure.lectures import lecture_004_sums as sums
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Paragraph, Table

SCHEMA = mu.Schema({"age": mu.Integers(18, 97), "stay": mu.Integers(0, 60)})
FORMULA, ROWS, EPSILON = "stay ~ age", 80, 1.0
RECORDS = [(31, 4, 120), (58, 9, 145), (44, 2, 133), (67, 7, 151), (25, 1, 118)]  # age, stay, pressure; made up


def people(rng: Random) -> dict[str, list[int]]:
    words = rng.words(2 * ROWS).reshape(2, ROWS)
    age, stay = (words[0] % np.uint64(80)).astype(int) + 18, (words[1] % np.uint64(61)).astype(int)
    return {"age": age.tolist(), "stay": stay.tolist()}


def cell(work: Work, rng: Random, honest: int, runs: int) -> dict[str, float]:
    """The share of the honest rows that colluders recover from the exact sums, from noisy ones, and by a guess."""
    found = attacks.reconstruction(
        people(work.rng("people")), SCHEMA, FORMULA, (honest,), epsilon=EPSILON, repetitions=runs, rng=rng
    )
    exact, *_, noisy = found.rows
    return {"exact": exact.value, "noisy": noisy.value, "guess": exact.baseline}


def last_of_all(rng: Random) -> tuple[int, int]:
    """Four of five subtract what they hold from the total in the ring: the fifth's number, and what they find."""
    values = [int(w % np.uint64(100)) for w in rng.words(5)]
    total = lecture.in_the_ring([[v] for v in values], bound=100, rng=rng).total[0]
    return values[0], total - sum(values[1:])


def two_of_five(rng: Random) -> list[sums.Record]:
    """Three of five subtract their records from the sums of a regression."""
    pairs = [(j, k) for j in range(4) for k in range(j, 4)]
    vectors = [[(1, *record)[j] * (1, *record)[k] for j, k in pairs] for record in RECORDS]
    total = dict(zip(pairs, lecture.in_the_ring(vectors, bound=2**20, rng=rng).total, strict=True))
    released = [[total[min(j, k), max(j, k)] for k in range(4)] for j in range(4)]
    return sums.two_records(sums.without(released, RECORDS[2:]))


def lying(rng: Random) -> tuple[int, int]:
    """A party that adds 1,000 to its masked number: the true total, and what everyone believes."""
    values = [int(w % np.uint64(100)) for w in rng.words(5)]
    believed = lecture.in_the_ring([[values[0] + 1_000], *([v] for v in values[1:])], bound=2_000, rng=rng).total[0]
    return sum(values), believed


def measure(work: Work) -> Measured:
    honest = work.choose((1, 2), (1, 2, 3, 4, 5), (1, 2, 3, 4, 5, 6))
    runs = work.choose(2, 20, 60)
    found = work.cells(cell, [{"honest": m, "runs": runs} for m in honest])
    last, subtracted = last_of_all(work.rng("last"))
    two = two_of_five(work.rng("two"))
    truth, believed = lying(work.rng("lying"))
    x = tuple(map(float, honest))
    columns = {name: [one[name] for one in found] for name in ("exact", "noisy", "guess")}
    return Measured(
        Phrase(
            "Four of five who collude subtract, and have the last one's {number} (true: {true}). From the sums of a "
            "regression, {recovered:.0%} of {two} honest rows are recovered, and {more:.0%} of {many}. With noise of "
            "epsilon 1, {noisy:.0%} of {two} are, where a guess has {guess:.0%} ({runs} runs).",
            number=subtracted,
            true=last,
            recovered=columns["exact"][1],
            two=honest[1],
            more=columns["exact"][-1],
            many=honest[-1],
            noisy=columns["noisy"][1],
            guess=columns["guess"][1],
            runs=runs,
        ),
        {"honest_rows": honest, **columns},
        (
            Curves(
                Phrase("Honest rows that colluders recover from the regression {formula}", formula=FORMULA),
                (
                    Curve(Phrase("exact sums"), x, tuple(columns["exact"])),
                    Curve(Phrase("noise, epsilon 1"), x, tuple(columns["noisy"])),
                    Curve(Phrase("a guess without sums"), x, tuple(columns["guess"])),
                ),
                Phrase("honest rows"),
                Phrase("share recovered"),
            ),
        ),
        Phrase(
            "A majority may collude only in this sense: they learn the sums over all others and nothing more. Over one "
            "other that is its record; over two, mean and products give both records. So a study says how many may "
            "collude, asks for at most one exact sum per three rows, or adds noise."
        ),
        (
            Table(
                Phrase("Five one-row parties, of which three collude: the two others, from ten sums"),
                (Phrase("record"), Phrase("age"), Phrase("stay"), Phrase("pressure")),
                tuple((Number(i + 1), *map(Number, record)) for i, record in enumerate(two)),
            ),
        ),
        (
            Paragraph(
                Phrase(
                    "Against malicious parties the protocol does not help: a mask hides a lie as well as the truth. "
                    "One of five adds 1,000 to its number, and the total is {believed:,} instead of {truth:,}.",
                    believed=believed,
                    truth=truth,
                )
            ),
        ),
    )


ITEM = Item(
    Phrase("Those who collude, and those who lie"),
    Phrase("2.1 and 4.4, adversaries and privacy"),
    measure,
    claimed=Phrase(
        "data stay private among semi-honest parties, even if a majority colludes and the outputs are stolen from the "
        "central body"
    ),
)
