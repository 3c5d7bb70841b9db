"""J blocks of m / J parties: what they save, and what they tell."""

from __future__ import annotations

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures import lecture_004 as lecture
from murmure.lectures import lecture_004_sums as sums
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Table

M, L = 120, 10
BLOCKS = (1, 2, 4, 5, 8, 10, 20, 40)
COLLUDERS = DROPOUTS = 2
TOP = 100  # parties hold whole numbers from 0 to TOP


def told(work: Work, rng: Random, J: int, runs: int) -> float:
    """How much of the variance of a party's number the sum of its block explains: squared correlation."""
    numbers, guesses = [], []
    for _ in range(runs):
        values = (rng.words(M) % np.uint64(TOP + 1)).astype(np.int64).reshape(J, M // J)
        for block in values:
            total = lecture.in_the_ring([[int(v)] for v in block], bound=TOP, rng=rng).total[0]
            numbers += block.tolist()
            guesses += [total] * len(block)
    if len(set(guesses)) == 1:
        return 0.0
    return float(np.corrcoef(numbers, guesses)[0, 1] ** 2)


def measure(work: Work) -> Measured:
    counts = BLOCKS[:: work.choose(4, 1, 1)]
    runs = work.choose(2, 30, 300)
    explained = work.cells(told, [{"J": J, "runs": runs} for J in counts])
    each, total = zip(*(sums.block_numbers(M, L, J) for J in counts), strict=True)
    formula = [M * M * L / J for J in counts]
    sparse = mu.PairwiseMasks(M, dropouts=DROPOUTS, colluders=COLLUDERS)
    ring = M * sparse.degree * L
    near = [abs(t - f) < abs(e - f) for e, t, f in zip(each[1:], total[1:], formula[1:], strict=True)]
    x = tuple(map(float, counts))
    cost = Curves(
        Phrase("Mask numbers against the number of blocks (m = {m}, L = {L})", m=M, L=L),
        (
            Curve(Phrase("m^2 L / J, the lecture: per block"), x, tuple(formula)),
            Curve(Phrase("counted, all blocks"), x, tuple(map(float, total))),
            Curve(Phrase("counted, one block"), x, tuple(map(float, each))),
            Curve(Phrase("sparse graph, one total"), (x[0], x[-1]), (float(ring), float(ring))),
        ),
        Phrase("blocks J"),
        Phrase("numbers"),
        log=True,
        log_x=True,
    )
    leak = Curves(
        Phrase("What the sum of its block tells about one party ({runs} runs)", runs=runs),
        (
            Curve(Phrase("measured"), x, tuple(explained)),
            Curve(Phrase("J / m"), x, tuple(J / M for J in counts)),
        ),
        Phrase("blocks J"),
        Phrase("share of variance explained"),
        log_x=True,
    )
    last = counts[-1]
    reading = (
        Phrase("that is the cost of all blocks together")
        if all(near)
        else Phrase("counted, it is nearer to the cost of one block for some J")
    )
    return Measured(
        Phrase(
            "With J = {J} blocks, one block sends {each:,} numbers and all of them {total:,}; m^2 L / J is "
            "{formula:,.0f}: {reading}. The centre learns {J} sums instead of one; the sum of its block explains "
            "{told:.0%} of the variance of one party's number, and {colluders} others in the block who collude know it "
            "exactly.",
            J=last,
            each=each[-1],
            total=total[-1],
            formula=formula[-1],
            reading=reading,
            told=explained[-1],
            colluders=M // last - 1,
        ),
        {
            "J": counts,
            "one_block": each,
            "all_blocks": total,
            "formula": formula,
            "variance_explained": explained,
            "sums_revealed": counts,
            "colluders_needed": [M // J - 1 for J in counts],
        },
        (cost, leak),
        Phrase(
            "m^2 L / J is J blocks of (m / J)^2 L. A sparse graph saves as well and tells one total: with {degree} "
            "neighbours each, {ring:,} numbers, if at most {colluders} collude and {dropouts} drop out.",
            degree=sparse.degree,
            ring=ring,
            colluders=COLLUDERS,
            dropouts=DROPOUTS,
        ),
        (
            Table(
                Phrase("Blocks: cost and leakage"),
                (
                    Phrase("blocks J"),
                    Phrase("one block"),
                    Phrase("all blocks"),
                    Phrase("sums revealed"),
                    Phrase("colluders who lay bare a member"),
                ),
                tuple(
                    (Number(J), Number(e), Number(t), Number(J), Number(M // J - 1))
                    for J, e, t in zip(counts, each, total, strict=True)
                ),
            ),
        ),
    )


ITEM = Item(
    Phrase("Blocks: cost and leakage"),
    Phrase("4.2, efficiency"),
    measure,
    claimed=Phrase("in J blocks the complexity per block is O(m^2 L / J)"),
    verdicts=(27,),
)
