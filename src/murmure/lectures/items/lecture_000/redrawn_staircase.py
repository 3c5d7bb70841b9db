"""The staircase that is drawn again until inside costs more than it says; three ways that do not."""

from __future__ import annotations

from typing import Any

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.mistakes import Lesson, clamped_staircase, redrawn_staircase
from murmure.show.document import Curve, Curves, Number, Paragraph, Table

EPSILON = 1.0
HONEST = {kind.__name__: kind for kind in (mu.BoundedStaircase, mu.Window, mu.BoundedLaplace)}


def row(lesson: Lesson, x: int) -> list[float]:
    """The law of the reports of a person at this point, inside the bounds."""
    return [float(lesson.channel.prob(x, y)) for y in lesson.channel.outcomes() or ()]


def density(chances: list[float]) -> tuple[float, ...]:
    """Of equal cells of [0, 1], to be drawn as steps: the last height once more, for the end of the last cell."""
    heights = [chance * len(chances) for chance in chances]
    return (*heights, heights[-1])


def certified(epsilon: float, cells: int) -> dict[str, float]:
    """What each way costs that was asked for this epsilon."""
    interval = mu.Interval(0.0, 1.0, cells=cells)
    lessons = {
        "redrawn": redrawn_staircase(epsilon, cells=cells),
        "redrawn_slide": redrawn_staircase(epsilon, "variance", cells=cells),
        "clamped": clamped_staircase(epsilon, cells=cells),
    }
    costs = {name: mu.certify(lesson).epsilon for name, lesson in lessons.items()}
    return costs | {name: mu.certify(kind(interval, epsilon)).epsilon for name, kind in HONEST.items()}


def cell(work: Work, rng: mu.Random, epsilon: float, cells: int) -> dict[str, float]:
    return certified(epsilon, cells)


def mean_error(name: str, epsilon: float, cells: int) -> tuple[float, float]:
    """E|report - value|: on average over values, and at worst."""
    interval = mu.Interval(0.0, 1.0, cells=cells)
    mechanism, at = HONEST[name](interval, epsilon), interval.numbers()
    codes = np.arange(cells)
    law = np.exp([mechanism.law(np.full(cells, x)).log_prob(codes) for x in codes])
    error = (law * np.abs(at[:, None] - at[None, :])).sum(axis=1)
    return float(error.mean()), float(error.max())


def measure(work: Work) -> Measured:
    cells = work.choose(16, 64, 64)
    epsilons = work.choose(
        [EPSILON], [0.25, 0.5, EPSILON, 2.0, 4.0], [0.1, 0.25, 0.5, EPSILON, 1.5, 2.0, 3.0, 4.0, 8.0]
    )
    costs = work.cells(cell, [{"epsilon": e, "cells": cells} for e in epsilons])
    one = costs[epsilons.index(EPSILON)]
    lesson = redrawn_staircase(EPSILON, cells=cells)
    edges = [y / cells for y in range(cells + 1)]
    laws = Curves(
        Phrase("Staircase drawn until inside: reports of three people"),
        tuple(
            Curve(Phrase("a person at {x:g}", x=x), tuple(edges), density(row(lesson, int(x * cells))), True)
            for x in (0.0, 0.25, 0.5)
        ),
        Phrase("report"),
        Phrase("density"),
    )
    names = {"redrawn": Phrase("drawn until inside"), "BoundedStaircase": "BoundedStaircase"}
    cost = Curves(
        Phrase("What the staircase costs beyond what was asked"),
        tuple(
            Curve(name, tuple(epsilons), tuple(c[key] - e for c, e in zip(costs, epsilons, strict=True)))
            for key, name in names.items()
        ),
        Phrase("epsilon asked"),
        Phrase("certified minus asked"),
    )
    over = one["redrawn"] > EPSILON * (1 + 1e-9)
    return Measured(
        Phrase(
            "Drawn until inside, the staircase that was asked for {epsilon:g} costs {library:.4f} with the library's "
            "gamma and {slide:.4f} with the slide's. Moved to the nearest bound instead it costs {clamped:.4f}.",
            epsilon=EPSILON,
            library=one["redrawn"],
            slide=one["redrawn_slide"],
            clamped=one["clamped"],
        ),
        {"asked": epsilons, **{name: [c[name] for c in costs] for name in one}},
        (laws, cost),
        why=Phrase(
            "The slide claims it for value + noise, and there it holds. The listing adds a loop: drawing again divides "
            "the density by the probability of landing inside. That probability is smallest at the bounds, where more "
            "than half of the draws are lost, and largest in the middle. It depends on the secret, so this is not "
            "post-processing."
        )
        if over
        else None,
        blocks=(comparison(one, cells),),
        broken=(Paragraph(witness(cells)),),
    )


def comparison(one: dict[str, float], cells: int) -> Table:
    """What was asked, what is certified, and how good it is, at epsilon 1."""
    lessons = {
        "redrawn": Phrase("drawn until inside, the library's gamma"),
        "redrawn_slide": Phrase("drawn until inside, the slide's gamma"),
        "clamped": Phrase("moved to the nearest bound"),
    }
    rows: list[tuple[Any, ...]] = [(name, Number(one[key], "fixed", 4), None, None) for key, name in lessons.items()]
    for key in HONEST:
        mean, worst = mean_error(key, EPSILON, cells)
        rows.append((key, Number(one[key], "fixed", 4), Number(mean, "fixed", 3), Number(worst, "fixed", 3)))
    head = (
        Phrase("mechanism"),
        Phrase("certified epsilon"),
        Phrase("mean E|report - value|"),
        Phrase("at worst"),
    )
    return Table(Phrase("Asked for epsilon {epsilon:g}, bounds 0 and 1", epsilon=EPSILON), head, tuple(rows))


def witness(cells: int) -> Phrase:
    certificate = mu.certify(redrawn_staircase(EPSILON, cells=cells))
    end, middle, _ = certificate.witness or (None, None, None)
    return Phrase(
        "The witness: a report near {end} is {odds:.2f} times likelier from a person at {end} than from one at "
        "{middle}. Epsilon {epsilon:g} would allow {allowed:.2f} times.",
        end=str(end),
        middle=str(middle),
        odds=float(np.exp(certificate.epsilon)),
        epsilon=EPSILON,
        allowed=float(np.exp(EPSILON)),
    )


ITEM = Item(
    Phrase("The staircase, drawn again until inside"),
    Phrase("Cleaning with staircase and GRR: the listing"),
    measure,
    claimed=Phrase("value + staircase noise is epsilon-LDP (admitted); the listing draws it again until inside"),
    lab="laws?law=staircase&epsilon=1&x=0&form=redrawn",
    verdicts=(6,),
)
