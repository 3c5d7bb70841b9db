"""Recovery without error, in O(m^2 L): the error in floats and the numbers that are sent, against m and L."""

from __future__ import annotations

import math

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures import lecture_004 as lecture
from murmure.lectures import lecture_004_sums as sums
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.secure.in_process import sum_in_process
from murmure.secure.ring import RingEncoder
from murmure.show.document import Curve, Curves, Number, Table

ORDERS: tuple[lecture.Order, ...] = ("pair by pair", "sent less received")
FINE = 2**40  # in the ring, g is a whole number of steps of 2**-40


def cell(work: Work, rng: Random, m: int, L: int, run: int) -> dict[str, float]:
    """The largest |Q - sum g| over L functions, by the order of the additions; and in the ring."""
    g, R = lecture.uniforms(rng, m * L).reshape(m, L), lecture.masks(rng, m, L)
    steps = np.rint(g * FINE).astype(np.int64)
    exact = [math.fsum(g[:, k]) for k in range(L)]
    out: dict[str, float] = {
        order: float(np.abs(lecture.recovered(lecture.shares(g, R, order)) - exact).max()) for order in ORDERS
    }
    total = lecture.in_the_ring(steps.tolist(), bound=FINE, rng=rng).total
    return {**out, "ring": float(max(abs(a - b) for a, b in zip(total, steps.sum(axis=0).tolist(), strict=True)))}


def bytes_sent(m: int, L: int) -> int:
    """By all parties together, in Murmure's protocol: real messages, counted."""
    encoder = RingEncoder(entries=L, bound=1, parties=m)
    return sum(sum_in_process(mu.PairwiseMasks(m), encoder, [[0] * L] * m).sent.values())


def measure(work: Work) -> Measured:
    parties = work.choose((3, 10), (3, 10, 30, 100, 300), (3, 10, 30, 100, 300, 1_000))
    functions = (1, 10)
    runs = work.choose(1, 5, 15)
    grid = [(m, L) for L in functions for m in parties]
    found = work.cells(cell, [{"m": m, "L": L, "run": run} for m, L in grid for run in range(runs)])
    medians = {
        pair: {name: float(np.median([one[name] for one in found[i * runs : (i + 1) * runs]])) for name in found[0]}
        for i, pair in enumerate(grid)
    }
    ring = max(one["ring"] for one in medians.values())
    x = tuple(map(float, parties))
    names = {"pair by pair": Phrase("pair by pair"), "sent less received": Phrase("sent less received")}
    error_picture = Curves(
        Phrase("Error of recovery in floats, the largest of L functions (median of {runs} runs)", runs=runs),
        tuple(
            Curve(Phrase("{order}, L = {L}", order=names[order], L=L), x, tuple(medians[m, L][order] for m in parties))
            for order in ORDERS
            for L in functions
        ),
        Phrase("parties m"),
        Phrase("|Q - sum|"),
        log=True,
        log_x=True,
    )
    counted = work.choose((3,), (3, 10, 20), (3, 10, 20, 30))
    cost_picture = Curves(
        Phrase("Bytes sent by all parties, L = 45 sums"),
        (
            Curve(
                Phrase("the lecture's masks, 8 m^2 L"),
                x,
                tuple(float(sums.bytes_of_the_lecture(m, 45)) for m in parties),
            ),
            Curve(Phrase("keys instead of masks"), x, tuple(float(sums.bytes_with_keys(m, 45)) for m in parties)),
            Curve(
                Phrase("Murmure, counted"),
                tuple(map(float, counted)),
                tuple(float(bytes_sent(m, 45)) for m in counted),
            ),
        ),
        Phrase("parties m"),
        Phrase("bytes"),
        log=True,
        log_x=True,
    )
    last = parties[-1]
    return Measured(
        Phrase(
            "In floats the error grows from {small:.0e} with {few} parties to {large:.0e} with {many} (L = 1, pair by "
            "pair), and {other:.0e} when the same terms are added in another order. In the ring it is {ring:g}. The "
            "masks are m (m - 1) L numbers: {numbers:,} for {many} parties and 45 sums.",
            small=medians[parties[0], 1]["pair by pair"],
            few=parties[0],
            large=medians[last, 1]["pair by pair"],
            many=last,
            other=medians[last, 1]["sent less received"],
            ring=ring,
            numbers=sums.mask_numbers(last, 45),
        ),
        {
            "m": [m for m, _ in grid],
            "L": [L for _, L in grid],
            "pair_by_pair": [medians[pair]["pair by pair"] for pair in grid],
            "sent_less_received": [medians[pair]["sent less received"] for pair in grid],
            "ring": [medians[pair]["ring"] for pair in grid],
            "mask_numbers": [sums.mask_numbers(m, L) for m, L in grid],
        },
        (error_picture, cost_picture),
        Phrase(
            "Real numbers have no error, floats round after every addition. Whole numbers modulo 2**64 are exact in "
            "any order. The cost is as the lecture says; two parties with a common key need not send masks at all."
        ),
        (
            Table(
                Phrase("Numbers that are sent"),
                (Phrase("parties m"), Phrase("sums L"), Phrase("masks, m (m - 1) L"), Phrase("m^2 L")),
                tuple(
                    (Number(m), Number(L), Number(sums.mask_numbers(m, L)), Number(m * m * L))
                    for m, L in ((3, 10), (10, 45), (100, 231), (1_000, 231))
                ),
            ),
        ),
    )


ITEM = Item(
    Phrase("Precision and cost"),
    Phrase("4.1 and 4.2, precision and efficiency"),
    measure,
    claimed=Phrase("recovery makes no error, and costs O(m^2 L)"),
    verdicts=(26,),
)
