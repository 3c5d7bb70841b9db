"""One party stays away: the printed sum is lost, and shares of keys save it."""

from __future__ import annotations

from typing import get_args

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.lectures import lecture_004 as lecture
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.secure.in_process import Stage, sum_in_process
from murmure.secure.ring import RingEncoder
from murmure.show.document import Curve, Curves, Number, Table

NUMBERS = (1, 20, 300, 4, 50)
MISSING = 2  # the third


def printed(work: Work, rng: Random, m: int, runs: int) -> list[float]:
    """|what the centre recovers - the sum of those who answered|, when the last party does not."""
    out = []
    for _ in range(runs):
        g = lecture.uniforms(rng, m).reshape(m, 1)
        total = lecture.recovered(lecture.shares(g, lecture.masks(rng, m, 1))[:-1], m=m)[0]
        out.append(abs(float(total) - float(g[:-1].sum())))
    return out


def with_keys(work: Work, rng: Random, m: int) -> int:
    """The same in Murmure's protocol: the last party's vector does not come."""
    values = [int(word % np.uint64(1_000)) for word in rng.words(m)]
    encoder = RingEncoder(entries=1, bound=1_000, parties=m)
    done = sum_in_process(mu.PairwiseMasks(m, dropouts=1), encoder, [[v] for v in values], vanish={m - 1: "vectors"})
    return abs(done.result[0] - sum(values[:-1]))


def measure(work: Work) -> Measured:
    parties, runs = work.choose((3, 5), (3, 5, 10, 20, 50, 100), (3, 5, 10, 20, 50, 100)), work.choose(5, 200, 2_000)
    found = work.cells(printed, [{"m": m, "runs": runs} for m in parties])
    errors = [float(np.mean(one)) for one in found]
    small = [m for m in parties if 4 <= m <= work.choose(5, 20, 50)]
    exact = work.cells(with_keys, [{"m": m} for m in small])
    sharing = mu.PairwiseMasks(5, dropouts=1)
    encoder = RingEncoder(entries=1, bound=1_000, parties=5)
    stages = get_args(Stage)[:: work.choose(5, 1, 1)]
    results = {
        stage: sum_in_process(sharing, encoder, [[v] for v in NUMBERS], vanish={MISSING: stage}) for stage in stages
    }
    sums_agree = [done.result[0] == sum(NUMBERS[i] for i in done.cohort) for done in results.values()]
    right = all(sums_agree) and not any(exact)
    x = tuple(map(float, parties))
    return Measured(
        Phrase(
            "As printed, one missing party of {m} leaves an error of {error:.2f} on average ({runs} runs), where the "
            "sum is about {size:.1f}. With shares of the keys, whenever the party leaves, the sum "
            "over those whose numbers arrived comes out: {right}.",
            m=parties[-1],
            error=errors[-1],
            runs=runs,
            size=(parties[-1] - 1) / 2,
            right=Phrase("it is exact") if right else Phrase("it is not exact"),
        ),
        {"m": parties, "mean_error": errors},
        (
            Curves(
                Phrase("Error of the sum when one party stays away ({runs} runs)", runs=runs),
                (
                    Curve(Phrase("as printed"), x, tuple(errors)),
                    Curve(Phrase("m / 4: a number drawn anew"), x, tuple(m / 4 for m in parties)),
                    Curve(Phrase("with shares of the keys"), tuple(map(float, small)), tuple(map(float, exact))),
                ),
                Phrase("parties m"),
                Phrase("mean error"),
                log_x=True,
            ),
        ),
        Phrase(
            "The lecture does not speak of parties that stay away. Each mask is known to two: without one of them it "
            "stays in the sum. Parties that deal out shares of their keys beforehand let enough survivors remove it."
        ),
        (
            Table(
                Phrase("Five parties hold 1, 20, 300, 4, 50; the third vanishes"),
                (Phrase("before its message"), Phrase("sum"), Phrase("parties in it")),
                tuple((stage, Number(done.result[0]), Number(len(done.cohort))) for stage, done in results.items()),
            ),
        ),
    )


ITEM = Item(
    Phrase("One party stays away"),
    Phrase("3.2, recovery"),
    measure,
    claimed=Phrase("Q(k) is the sum over all parties"),
)
