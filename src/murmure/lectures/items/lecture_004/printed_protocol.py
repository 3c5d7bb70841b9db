"""The protocol as printed, in floats modulo m: what is sent, what is recovered, what is lost and what leaks."""

from __future__ import annotations

import numpy as np

from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures import lecture_004 as lecture
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Paragraph, Table
from murmure.show.figures import Bars

G = (0.2, 0.9, 0.4, 0.7)  # what four parties hold
HIDDEN = (0.5, 0.7, 0.3, 0.1)
IN_RING = 5  # runs: there the masks cancel whatever they are
GRID = 2.0**-51  # of masks for four parties: 4 k / 2**53


def wraps(work: Work, rng: Random, m: int, runs: int) -> dict[str, float]:
    """How often nobody looks like everybody, and everybody like nobody: printed, and in the ring."""
    out = {}
    for name, g in (("zeros", 0.0), ("ones", 1.0)):
        totals = [
            lecture.recovered(lecture.shares(np.full((m, 1), g), lecture.masks(rng, m, 1)))[0] for _ in range(runs)
        ]
        out[name] = float(np.mean((np.array(totals) > m / 2) != bool(g)))
        ring = [lecture.in_the_ring([[int(g)]] * m, bound=1, rng=rng).total[0] for _ in range(min(runs, IN_RING))]
        out[f"ring_{name}"] = float(np.mean([total != m * g for total in ring]))
    return out


def leaks(work: Work, rng: Random, g: float, draws: int) -> float:
    """The share of S_1 that are not on the grid of the masks, for a party that holds g among four."""
    return lecture.off_grid(lecture.first_share(g, 4, draws, rng), GRID)


def measure(work: Work) -> Measured:
    rng = work.rng("the four numbers")
    sent = lecture.shares(np.array(G)[:, None], lecture.masks(rng, 4, 1))
    ring = lecture.in_the_ring([[round(10 * g)] for g in G], bound=10, rng=rng)
    sizes = work.choose((3, 5), (3, 4, 5, 10, 20, 50, 100), (3, 4, 5, 10, 20, 50, 100, 200))
    runs, draws = work.choose(5, 200, 2_000), work.choose(500, 50_000, 500_000)
    found = work.cells(wraps, [{"m": m, "runs": runs} for m in sizes])
    off = work.cells(leaks, [{"g": g, "draws": draws} for g in HIDDEN])
    chance = lecture.chance_to_land(0.3, 4, below=2)
    wrong = {name: [one[name] for one in found] for name in found[0]}
    return Measured(
        Phrase(
            "All parties hold 1, and the sum m comes back as 0 or thereabouts: in {ones:.0%} of {runs} runs with {m} "
            "parties. All hold 0, and about m comes back in {zeros:.0%}. In the ring either happens in {ring:.0%}. "
            "A party's S_1 is off the grid of the masks in {third:.1%} of draws if it holds 0.3 (its law: "
            "{chance:.1%}), in {half:.1%} if it holds 0.5.",
            ones=wrong["ones"][-1],
            zeros=wrong["zeros"][-1],
            ring=max(wrong["ring_ones"] + wrong["ring_zeros"]),
            runs=runs,
            m=sizes[-1],
            third=off[HIDDEN.index(0.3)],
            half=off[HIDDEN.index(0.5)],
            chance=chance,
        ),
        {"m": sizes, **wrong},
        (
            Curves(
                Phrase("How often everyone and no one are confused ({runs} runs)", runs=runs),
                (
                    Curve(Phrase("all hold 1, printed"), tuple(map(float, sizes)), tuple(wrong["ones"])),
                    Curve(Phrase("all hold 0, printed"), tuple(map(float, sizes)), tuple(wrong["zeros"])),
                    Curve(
                        Phrase("either, in the ring ({few} runs)", few=min(runs, IN_RING)),
                        tuple(map(float, sizes)),
                        tuple(map(max, wrong["ring_ones"], wrong["ring_zeros"])),
                    ),
                ),
                Phrase("parties m"),
                Phrase("share of runs"),
                log_x=True,
            ),
            Bars(
                Phrase("What passes below the masks, four parties"),
                tuple(Phrase("{g:g}", g=g) for g in HIDDEN),
                ((Phrase("share of S_1 off the grid of the masks"), tuple(off)),),
                Phrase("what the party holds"),
                Phrase("share of draws"),
            ),
        ),
        Phrase(
            "0 and m are one number modulo m, and the masks leave a rounding error of either sign. Floats are "
            "multiples of a small power of two: a mask hides what lies on its grid and nothing below. A ring of "
            "whole numbers with a modulus above every possible sum has neither fault."
        ),
        (
            Table(
                Phrase("What the centre sees of 0.2, 0.9, 0.4, 0.7, and what it recovers"),
                (Phrase("protocol"), "S_1", "S_2", "S_3", "S_4", "Q"),
                (
                    (
                        Phrase("as printed, modulo 4"),
                        *(Number(float(s), "fixed", 4) for s in sent[:, 0]),
                        Number(float(lecture.recovered(sent)[0]), "fixed", 4),
                    ),
                    (
                        Phrase("in the ring, tenths"),
                        *(f"{int(vector[0]):x}" for vector in ring.vectors),
                        Number(ring.total[0]),
                    ),
                ),
            ),
        ),
        broken=(
            Paragraph(
                Phrase(
                    "A constant column of a regression is 1 for everyone: its square sums to m, and m is what the "
                    "printed protocol cannot return. One share of S_1 that is not a multiple of 2**-51 proves that a "
                    "party among four does not hold 0.5."
                )
            ),
        ),
    )


ITEM = Item(
    Phrase("The protocol as printed, and in a ring"),
    Phrase("3.1 and 3.2, encryption and recovery"),
    measure,
    claimed=Phrase("the central body recovers every sum, and S_i is all that it can obtain"),
    verdicts=(26,),
)
