"""The probability tree of the sheet (exercise 2.2.1), with its paths found again by tossing."""

from __future__ import annotations

from fractions import Fraction

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.exercise_sheet.coin_law import probability
from murmure.lectures.exercise_sheet.drawings import coin_tree


def toss(work: Work, rng: mu.Random, people: int) -> dict[str, int]:
    """How many of so many people say YES, of those who mean it and of those who do not."""
    coins = mu.Warner(mu.Categories([False, True]))
    return {str(meant): int(coins.report([meant] * people, rng).sum()) for meant in (True, False)}


def measure(work: Work) -> Measured:
    people = work.choose(1_000, 100_000, 1_000_000)
    [yes] = work.cells(toss, [{"people": people}])
    no, coin_yes = probability(True, False), probability(False, True)
    paths = {
        "heads, heads: NO": no,
        "heads, tails: YES": coin_yes,
        "tails, means yes: YES": "f/(2N)",
        "tails, means no: NO": "(N - f)/(2N)",
    }
    return Measured(
        Phrase(
            "The coins say NO with probability {no} and YES with probability {coin_yes}; otherwise the truth is told. "
            "Of {people:,} people who mean yes {yes:.1%} say YES, of as many who do not {other:.1%}.",
            no=str(no),
            coin_yes=str(coin_yes),
            people=people,
            yes=yes["True"] / people,
            other=yes["False"] / people,
        ),
        {"path": list(paths), "probability": [str(value) for value in paths.values()]},
        (coin_tree(),),
        why=None if no == coin_yes == Fraction(1, 4) else Phrase("The leaves are not those of two fair coins."),
    )


ITEM = Item(
    Phrase("The tree of the two coins"),
    Phrase("exercise 2.2, question 1"),
    measure,
    claimed=Phrase("heads first: the second coin answers; tails first: the truth is told"),
    lab="tree?truth=0.5&yes=0.5",
)
