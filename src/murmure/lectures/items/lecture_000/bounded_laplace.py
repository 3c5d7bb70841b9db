"""The bounded Laplace law on an interval: drawn until inside, as the slide says, and as the listing prints it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.listings_000 import laplace_once, uniforms
from murmure.lectures.mistakes import share_outside_listing
from murmure.show.document import Curve, Curves, Number, Paragraph, Table
from murmure.show.figures import Panels

EPSILON = 1.0
VALUES = (0.0, 0.3)  # of two people; the bounds are 0 and 1
REACH = np.linspace(-2.0, 3.0, 251)


def table(mechanism: mu.BoundedLaplace) -> NDArray[np.float64]:
    """P[y | x], a row for each value."""
    cells = np.arange(mechanism.domain.size)
    return np.exp([mechanism.law(np.full(len(cells), x)).log_prob(cells) for x in cells])


def loss_within(law: NDArray[np.float64], distance: int) -> float:
    """The largest log-ratio between people whose values are at most so many cells apart."""
    logs = np.log(law)
    shifts = range(1, distance + 1)
    return max(float(np.abs(logs[shift:] - logs[:-shift]).max()) for shift in shifts)


def measure(work: Work) -> Measured:
    cells = work.choose(20, 100, 200)
    interval = mu.Interval(0.0, 1.0, cells=cells)
    mechanism = mu.BoundedLaplace(interval, EPSILON)
    law, midpoints = table(mechanism), interval.numbers()
    rows = {x: law[int(interval.encode([x])[0])] * cells for x in VALUES}
    right = Curves(
        Phrase("Drawn until inside"),
        tuple(Curve(person(x), tuple(midpoints), tuple(map(float, rows[x]))) for x in VALUES),
        Phrase("report"),
        Phrase("density"),
    )
    printed = Curves(
        Phrase("As the listing prints it"),
        (
            *(Curve(person(x), tuple(REACH), plain_laplace(x)) for x in VALUES),
            Curve(Phrase("the interval"), (0.0, 0.0, 1.0, 1.0), (0.04, 0.0, 0.0, 0.04)),
        ),
        Phrase("report"),
        Phrase("density"),
    )
    n = work.choose(1000, 100_000, 1_000_000)
    draws = laplace_once(np.zeros(n), 0.0, 1.0, EPSILON, uniforms(work.rng("draws"), n))
    outside = float(np.mean((draws < 0) | (draws > 1)))
    certified = mu.certify(mechanism).epsilon
    return Measured(
        Phrase(
            "Drawn until inside, every report is inside, and the certified epsilon is {certified:.6f}. As printed, "
            "{outside:.1%} of {n:,} reports of a person at a bound are outside (in theory {theory:.1%}).",
            certified=certified,
            outside=outside,
            n=n,
            theory=share_outside_listing(EPSILON),
        ),
        {
            "report": [*midpoints.tolist(), *REACH.tolist()],
            "law": ["drawn until inside"] * cells + ["as printed"] * len(REACH),
            **{f"density_at_{x:g}": [*rows[x].tolist(), *plain_laplace(x)] for x in VALUES},
        },
        (Panels(Phrase("Laplace noise at epsilon {epsilon:g}, bounds 0 and 1", epsilon=EPSILON), (right, printed)),),
        why=Phrase(
            "In the listing, return is indented into the loop. So the first draw is reported, inside or not. With "
            "public bounds that is a plain Laplace mechanism, which is private; but it is not the one of the slide. "
            "One level of indentation less repairs it."
        ),
        blocks=(Paragraph(proof(certified)),),
        broken=(narrow(cells),),
    )


def plain_laplace(x: float) -> tuple[float, ...]:
    """The density of the first draw."""
    return tuple((EPSILON / 2 * np.exp(-EPSILON * np.abs(REACH - x))).tolist())


def person(x: float) -> Phrase:
    return Phrase("a person at {x:g}", x=x)


def proof(certified: float) -> Phrase:
    """Verdict 3: similar to DP, with one more step."""
    return Phrase(
        "The proof needs one more step than for DP. Drawing again divides the density by the probability of landing "
        "inside, which depends on the secret. Here it costs nothing ({certified:.6f}), because the worst two people "
        "are at the two bounds, where these probabilities are equal. That is so when the noise has the scale of the "
        "whole width.",
        certified=certified,
    )


def narrow(cells: int) -> Table:
    """The same loop where people differ by less than the width, and the noise is scaled to that."""
    cells += -cells % 4 + 1  # a half and a quarter of the width are then whole numbers of cells
    rows = []
    for part in (1, 2, 4):
        law = table(mu.BoundedLaplace(mu.Interval(0.0, 1.0, cells=cells), EPSILON * part))
        rows.append((f"1/{part}" if part > 1 else "1", Number(loss_within(law, (cells - 1) // part), "fixed", 4)))
    return Table(
        Phrase("Drawn until inside, with noise for people who differ by a part of the width; asked {e:g}", e=EPSILON),
        (Phrase("they differ by at most (of the width)"), Phrase("epsilon spent")),
        tuple(rows),
    )


ITEM = Item(
    Phrase("Bounded Laplace"),
    Phrase("Continuous data, Laplace again; listing, part 2"),
    measure,
    claimed=Phrase(
        "x + v with v from Lap(width/epsilon), applied again if it is outside the interval; epsilon-LDP, with a proof "
        "similar to that of DP."
    ),
    lab="laws?law=laplace&epsilon=1&x=0.3",
    verdicts=(3, 4),
)
