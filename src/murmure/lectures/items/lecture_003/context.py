"""Why the lecture is about privacy at all: who counts people, what forbids to do it carelessly, and two numbers."""

from __future__ import annotations

import math

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Paragraph
from murmure.show.figures import Arrow, Diagram, LabelledBox

PEOPLE = 10_000
EPSILONS = tuple(np.arange(0.5, 4.01, 0.25).tolist())
TRIPS = mu.Schema({"origin": mu.Categories(8), "destination": mu.Categories(8), "hour": mu.Categories(6)})


def measure(work: Work) -> Measured:
    certified, errors = [], []
    for epsilon in EPSILONS:
        way = mu.SMP(TRIPS, epsilon)
        certified.append(mu.certify(way).epsilon)
        even = [np.full(domain.size, 1 / domain.size) for domain in way.domains]
        errors.append(math.sqrt(np.mean(np.concatenate(way.variance(even, PEOPLE)))))
    context = Diagram(
        Phrase("Statistics about people, and what they owe to these people"),
        (
            LabelledBox(0, 1, Phrase("people, with several attributes each"), "secret"),
            LabelledBox(1.3, 0.5, Phrase("Orange, Flux Vision: how people move"), "plain"),
            LabelledBox(1.3, 1.5, "GAFAM", "plain"),
            LabelledBox(2.7, 1, Phrase("histograms of several attributes"), "public"),
            LabelledBox(1.3, 2.6, Phrase("Universal Declaration of Human Rights\nGDPR (RGPD)"), "plain"),
            LabelledBox(2.7, 2.6, Phrase("a leak that can be measured\nthe best use for this leak"), "plain"),
        ),
        (Arrow(0, 1), Arrow(0, 2), Arrow(1, 3), Arrow(2, 3), Arrow(4, 5), Arrow(5, 3)),
    )
    curve = Curves(
        Phrase("A leak and a use, as two numbers"),
        (Curve(Phrase("one of three attributes sampled"), tuple(certified), tuple(errors)),),
        Phrase("certified epsilon of a record"),
        Phrase("standard error of a share"),
    )
    return Measured(
        Phrase(
            "Both can be computed before anybody answers. For {people:,} people with three attributes, a certified "
            "epsilon of {low:g} gives shares with a standard error of {large:.1%}, and {high:g} gives {small:.1%}.",
            people=PEOPLE,
            low=certified[0],
            high=certified[-1],
            large=errors[0],
            small=errors[-1],
        ),
        {"certified epsilon": certified, "standard error": errors},
        (context, curve),
        blocks=(
            Paragraph(
                Phrase(
                    "The lecture names two that count people in several attributes at once: Flux Vision, by which "
                    "Orange describes how people move, and the GAFAM. It gives two reasons to respect privacy: it is "
                    "in the Universal Declaration of Human Rights, and the GDPR says how personal data may be used. "
                    "And it asks for methods whose leak can be measured, then for the best use at a given leak."
                )
            ),
        ),
    )


ITEM = Item(
    Phrase("The context"),
    Phrase("the examples (Flux Vision, GAFAM) and 'Respect privacy: why and how'"),
    measure,
    claimed=Phrase("what is needed are methods whose leak is measurable, and the best use for this leak"),
)
