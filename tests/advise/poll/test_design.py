"""Designs: margins from the exact variance, the device that meets what was wanted, and cards that promise no more."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.advise.poll.card import PRIORS, PollCard
from murmure.advise.poll.design import EXAMPLES, PollDesign, design_poll
from murmure.core.errors import MurmureError
from murmure.show.document import Items, TallySheet, Tree

QUESTION = "Have you ever cheated in an exam?"


def yes_no(people: int = 500, **wanted: Any) -> PollDesign:
    return design_poll(QUESTION, ("no", "yes"), people, **wanted)


def test_two_coins_by_hand() -> None:
    """sd = sqrt(3/16) / (1/2) / sqrt(n): the textbook's figure for two coins."""
    choice = yes_no(500, margin=8).choice("two-coins")

    assert choice.certificate.epsilon == pytest.approx(math.log(3))
    assert choice.margin == pytest.approx(100 * 1.959964 * math.sqrt(3 / 16) / 0.5 / math.sqrt(500), rel=1e-6)
    assert choice.people_needed == math.ceil((1.959964 / 0.08) ** 2 * 0.75)


@pytest.mark.parametrize("target", ["fixed", "superpopulation"])
@pytest.mark.parametrize("answers", [("no", "yes"), ("never", "once", "often", "daily"), tuple("abcdefgh")])
def test_the_margin_is_the_worst_over_shares(answers: tuple[str, ...], target: Any) -> None:
    """No share on a fine grid has a larger variance, and one comes as near as the grid allows."""
    for choice in design_poll("Q", answers, 400, epsilon=3, target=target).choices:
        worst = 0.0
        for f in np.linspace(0, 1, 201):
            shares = np.full(len(answers), (1 - f) / (len(answers) - 1))
            shares[0] = f
            sampling = shares * (1 - shares) / 400 if target == "superpopulation" else 0.0
            worst = max(worst, float((choice.mechanism.variance(shares, 400) + sampling).max()))

        assert choice.margin >= 100 * 1.959963 * math.sqrt(worst)
        assert choice.margin == pytest.approx(100 * 1.959964 * math.sqrt(worst), rel=1e-4)


def test_people_needed_is_the_least_number() -> None:
    for choice in yes_no(100, margin=4).choices:
        n = choice.people_needed
        assert n is not None
        enough, short = (yes_no(people, margin=4).choice(choice.device.name).meets for people in (n, n - 1))

        assert (enough, short) == (True, False)


def test_the_best_is_the_most_private_that_is_precise_enough() -> None:
    design = yes_no(500, margin=8)
    fitting = [c for c in design.choices if c.margin <= 8]

    assert design.best in fitting
    assert design.best is not None
    assert design.best.certificate.epsilon == min(c.certificate.epsilon for c in fitting)


def test_the_best_for_an_epsilon_is_the_most_precise() -> None:
    design = yes_no(500, epsilon=1.65)
    fitting = [c for c in design.choices if c.certificate.epsilon <= 1.65]

    assert design.best is not None
    assert design.best.margin == min(c.margin for c in fitting)


def test_none_meets_and_says_what_would_help() -> None:
    margin, epsilon = yes_no(50, margin=2), yes_no(500, epsilon=0.1)

    assert margin.best is epsilon.best is None
    assert "No device gives a margin of 2 percentage points with 50 people. slips-9 comes nearest" in str(margin)
    assert "the most cautious one, die-cautious, has epsilon 0.6931" in str(epsilon)


def test_the_expected_interval_is_that_of_the_tally() -> None:
    """25 people in a class: the estimator's own interval, not the margin."""
    design = yes_no(24, epsilon=1.1)
    assert design.best is not None
    release = mu.run(design.best.plan, reports={"no": 12, "yes": 12})
    low, high = release.estimate.interval(0.95)[1]

    assert f"from {100 * low:.1f}% to {100 * high:.1f}%" in design.expected(design.best)


@pytest.mark.parametrize("make", EXAMPLES)
def test_every_card_is_complete(make: Any) -> None:
    """For every device: its steps, a tree whose leaves sum to one, odds of the law, a tally sheet, and the digest."""
    design = make()
    for choice in design.choices:
        card = design.card(choice)
        document = card.document()
        tree, sheet = document.of(Tree)[0], document.of(TallySheet)[0]
        steps = next(block for block in document.of(Items) if block.numbered)

        assert document.title == design.question
        assert len(steps.items) >= len(card.draws)
        assert sum(map(_leaf, _leaves(tree.branches))) == pytest.approx(1, abs=0.002)
        assert list(sheet.answers) == design.domain.labels()
        assert sheet.boxes <= design.people
        assert choice.plan.digest in str(card)
        for lang in ("en", "fr"):
            assert "<script" not in card.to_page(lang=lang)


def _leaves(branches: Any) -> list[str]:
    return [leaf for b in branches for leaf in (_leaves(b.branches) if b.branches else [str(b.leaf)])]


def _leaf(text: str) -> float:
    if text.endswith("%"):
        return float(text[:-1]) / 100
    whole, _, part = text.partition("/")
    return float(whole) / float(part or 1)


def test_beliefs_on_a_card_are_not_understated() -> None:
    """Bayes' rule from the certified law, rounded up; from even odds no more than the certificate allows."""
    design = yes_no(500, epsilon=3)
    for choice in design.choices:
        card = PollCard(design, choice)
        bound = math.exp(choice.certificate.epsilon)
        for report in (0, 1):
            p, q = map(float, card.odds(report))
            assert p / q <= bound * (1 + 1e-12)
            for prior in map(float, PRIORS):
                belief = prior * p / (prior * p + (1 - prior) * q)
                shown = math.ceil(1000 * belief - 1e-6) / 10

                assert f"{shown:.1f}%" in str(card)


def test_a_long_list_of_answers_is_one_branch() -> None:
    design = design_poll("Q", [f"a{i}" for i in range(20)], 1000, epsilon=2)
    assert design.best is not None
    tree = design.card(design.best).document().of(Tree)[0]

    assert len(tree.branches) == 2
    assert "One of the 20 answers" in tree.branches[1].event


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "nobody": ({"people": 0}, "poll.people must be a whole number, at least 1, got 0"),
    "half a person": ({"people": 2.5}, "at least 1, got 2.5"),
    "not a number of people": ({"people": float("nan")}, "whole number"),
    "no margin": ({"margin": 0}, "between 0 and 50 percentage points, got 0"),
    "a margin of everything": ({"margin": 200}, "got 200"),
    "a margin below zero": ({"margin": -3}, "got -3"),
    "a margin that is none": ({"margin": float("nan")}, "got nan"),
    "epsilon of zero": ({"margin": None, "epsilon": 0}, "epsilon"),
    "nothing wanted": ({"margin": None}, "nothing says what the poll should reach"),
    "no question": ({"question": "  "}, "no question"),
    "one answer": ({"answers": ["yes"]}, "at least two different ones"),
    "the same answer twice": ({"answers": ["yes", "no", "yes"]}, "at least two different ones"),
    "300 answers": ({"answers": [f"a{i}" for i in range(300)]}, "at most 20 answers, got 300"),
    "a level": ({"level": 1.5}, "level"),
    "a target": ({"target": "mars"}, "target"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    changed, message = BAD[name]
    fine: dict[str, Any] = {"question": QUESTION, "answers": ["no", "yes"], "people": 100, "margin": 10}
    with pytest.raises(MurmureError, match=message):
        design_poll(**{**fine, **changed})
