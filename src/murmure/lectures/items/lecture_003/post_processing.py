"""Whatever is done with a report costs nothing more; drawing it again does."""

from __future__ import annotations

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.mistakes import Lesson, clamped_staircase, redrawn_staircase
from murmure.show.document import Paragraph
from murmure.show.figures import Arrow, Bars, Diagram, LabelledBox

EPSILON, K = 1.0, 8
DOMAIN = mu.Categories(K)


def cost_after(images: list[int]) -> float:
    """The certificate of generalised randomised response whose reports are replaced by these images."""
    mapped = mu.Mapped(mu.GRR(DOMAIN, EPSILON).channel, lambda report: images[report])
    return mu.certify(Lesson(Phrase("a report, mapped"), DOMAIN, mapped, EPSILON)).epsilon


def measure(work: Work) -> Measured:
    named = [
        (Phrase("unchanged"), list(range(K))),
        (Phrase("two halves"), [y // (K // 2) for y in range(K)]),
        (Phrase("parity"), [y % 2 for y in range(K)]),
        (Phrase("lowest raised"), [max(y, 2) for y in range(K)]),
        (Phrase("constant"), [0] * K),
    ]
    costs = [cost_after(images) for _, images in named]
    many = work.choose(5, 200, 2000)
    drawn = (work.rng("functions").words(many * K) % np.uint64(K)).astype(int).reshape(many, K)
    worst = max(cost_after(images) for images in drawn.tolist())
    picture = Diagram(
        Phrase("One careful step, then anything"),
        (
            LabelledBox(0, 0.5, Phrase("the data"), "secret"),
            LabelledBox(1.25, 0.5, Phrase("the mechanism, epsilon-private"), "plain"),
            LabelledBox(2.5, 0.5, Phrase("its answer"), "sent"),
            LabelledBox(3.9, 0, Phrase("a later algorithm: clean, round, learn"), "public"),
            LabelledBox(3.9, 1, Phrase("an adversary who knows other things"), "public"),
        ),
        (Arrow(0, 1), Arrow(1, 2), Arrow(2, 3), Arrow(2, 4)),
    )
    bars = Bars(
        Phrase("Certified epsilon of a report after a function"),
        tuple(name for name, _ in named),
        (("", tuple(costs)),),
        Phrase("what is done with the report"),
        Phrase("certified epsilon"),
        marked=0,
    )
    clamped, redrawn = (mu.certify(lesson(EPSILON)).epsilon for lesson in (clamped_staircase, redrawn_staircase))
    worst_named = max([*costs, worst])
    agrees = worst_named <= costs[0]
    return Measured(
        Phrase(
            "The certificate of the report itself is {itself:.4f}. Of {many} functions drawn at random the costliest "
            "has {worst:.4f}; the parity alone has {parity:.4f}, and a constant {constant:.4f}.",
            itself=costs[0],
            many=many,
            worst=worst,
            parity=costs[2],
            constant=costs[4],
        ),
        {"function": [str(name) for name, _ in named], "certified epsilon": costs},
        (picture, bars),
        None if agrees else Phrase("one of the functions costs more than the report: this must not happen"),
        broken=(
            Paragraph(
                Phrase(
                    "Drawing again until the answer looks sensible is not a function of one answer. Staircase noise "
                    "moved to the nearest bound costs {clamped:.4f} at epsilon {epsilon:g}; drawn again until it is "
                    "inside, it costs {redrawn:.4f}.",
                    clamped=clamped,
                    redrawn=redrawn,
                    epsilon=EPSILON,
                )
            ),
        ),
    )


ITEM = Item(
    Phrase("Post-processing"),
    Phrase("robustness to post-processing, picture and theorem"),
    measure,
    claimed=Phrase("f(M) is epsilon-private for every function f, whatever an adversary knows besides"),
)
