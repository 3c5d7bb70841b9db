"""Differential privacy against local differential privacy: who sees what, and how large the error is."""

from __future__ import annotations

from typing import Any

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Table
from murmure.show.figures import Arrow, Diagram, LabelledBox

EPSILON, PEOPLE, SHARE = 1.0, 1000, 0.3
ANSWERS = mu.Categories(2)


def plans() -> dict[str, mu.Plan]:
    """The same question and the same promise: hide what somebody answers, the number of people being public."""
    question = mu.Histogram(ANSWERS)
    return {
        "local": mu.Plan(question, person=mu.GRR(ANSWERS, EPSILON)),
        "central": mu.Plan(question, curator=mu.DiscreteLaplace(EPSILON), relation="replace"),
    }


def cell(work: Work, rng: mu.Random, where: str, people: int, runs: int) -> list[float]:
    """The error of the share of yes, run by run."""
    yes = round(SHARE * people)
    answers = np.repeat([0, 1], [people - yes, yes])
    plan = plans()[where]
    return [float(mu.run(plan, answers, rng=rng.branch()).estimate.mean[1]) - yes / people for _ in range(runs)]


def measure(work: Work) -> Measured:
    crowds = work.choose([100, PEOPLE], [100, 300, PEOPLE, 3000, 10000], [100, 300, PEOPLE, 3000, 10000, 30000])
    runs = work.choose(5, 100, 400)
    keys = [{"where": where, "people": people, "runs": runs} for where in plans() for people in crowds]
    errors = [float(np.sqrt(np.mean(np.square(cell)))) for cell in work.cells(cell, keys)]
    local, central = errors[: len(crowds)], errors[len(crowds) :]
    at = crowds.index(PEOPLE)
    exact = float(mu.GRR(ANSWERS, EPSILON).variance(np.array([1 - SHARE, SHARE]), PEOPLE)[1]) ** 0.5
    curves = Curves(
        Phrase("Error of a share at epsilon {epsilon:g}, by the number of people", epsilon=EPSILON),
        tuple(
            Curve(name, tuple(map(float, crowds)), tuple(ys))
            for name, ys in ((Phrase("LDP: noise at the person"), local), (Phrase("DP: noise at the curator"), central))
        ),
        Phrase("people"),
        Phrase("root of the mean squared error"),
        log=True,
        log_x=True,
    )
    return Measured(
        Phrase(
            "With {people:,} people, epsilon {epsilon:g} and {runs} runs, the error of a share is {local:.4f} with "
            "noise at the person and {central:.4f} with noise at the curator: {ratio:.0f} times less. (In theory the "
            "local one is {exact:.4f}.)",
            people=PEOPLE,
            epsilon=EPSILON,
            runs=runs,
            local=local[at],
            central=central[at],
            ratio=local[at] / central[at],
            exact=exact,
        ),
        {"people": crowds, "error_local": local, "error_central": central},
        (diagram(), curves),
        blocks=(observers(),),
    )


def diagram() -> Diagram:
    """DP on top, LDP below. Red is seen as it is, blue is randomised, green is for everybody."""
    boxes = (
        LabelledBox(0, 0, Phrase("DP\nthe answer of a person"), "secret"),
        LabelledBox(1, 0, Phrase("curator\nsees every answer"), "secret"),
        LabelledBox(2, 0, Phrase("one draw of noise\non the sum"), "plain"),
        LabelledBox(3, 0, Phrase("published figure"), "public"),
        LabelledBox(0, 1, Phrase("LDP\nthe answer of a person"), "secret"),
        LabelledBox(1, 1, Phrase("one draw of noise\nfor each person"), "plain"),
        LabelledBox(2, 1, Phrase("collector\nsees noisy reports"), "sent"),
        LabelledBox(3, 1, Phrase("published figure"), "public"),
    )
    arrows = tuple(Arrow(row + i, row + i + 1) for row in (0, 4) for i in range(3))
    return Diagram(Phrase("Who sees what: a trusted curator (DP), or nobody (LDP)"), boxes, arrows)


def observers() -> Table:
    """What each observer can learn about one person, as the plans say it."""
    rows: list[tuple[Any, ...]] = []
    names = {"collector": Phrase("collector"), "curator": Phrase("curator"), "reader": Phrase("reader")}
    ways = {"local": Phrase("LDP"), "central": Phrase("DP")}
    for where, plan in plans().items():
        for who, certificate in plan.guarantees().items():
            epsilon = certificate.epsilon
            learned = Number(epsilon, "plain") if np.isfinite(epsilon) else Phrase("everything")
            rows.append((ways[where], names[who], learned))
    head = (Phrase("setting"), Phrase("who looks"), Phrase("epsilon about one person"))
    return Table(Phrase("What each of them can learn"), head, tuple(rows))


ITEM = Item(
    Phrase("DP against LDP"),
    Phrase("Motivations, in pictures; DP vs LDP"),
    measure,
    claimed=Phrase(
        "DP needs trust in the database and has optimal noise for each query; LDP needs no trust, and its noise on "
        "each person serves all later uses."
    ),
)
