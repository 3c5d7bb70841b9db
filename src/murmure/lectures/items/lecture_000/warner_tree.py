"""Warner's randomised response with two coins, as a probability tree."""

from __future__ import annotations

from fractions import Fraction

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.figures import Branch, Tree


def measure(work: Work) -> Measured:
    warner = mu.Warner(mu.Categories(["no", "yes"]))
    yes, no = (warner.channel.prob(x, 1) for x in (1, 0))
    forced = (
        Branch("1/2", Phrase("yes"), leaf=str(Fraction(no))),
        Branch("1/2", Phrase("no"), leaf=str(Fraction(1, 2) - Fraction(no))),
    )
    truth = (Branch("f", Phrase("yes"), leaf="f/2"), Branch("1 - f", Phrase("no"), leaf="(1 - f)/2"))
    tree = Tree(
        Phrase("Two coins: the probability of each path"),
        Phrase("first coin"),
        (Branch("1/2", Phrase("truth"), truth), Branch("1/2", Phrase("second coin"), forced)),
    )
    return Measured(
        Phrase("yes is reported by {yes} of those who mean it and by {no} of the others", yes=str(yes), no=str(no)),
        {"path": ["truth, yes", "truth, no", "coin, yes", "coin, no"], "chance": ["f/2", "(1 - f)/2", "1/4", "1/4"]},
        (tree,),
    )


ITEM = Item(
    Phrase("Warner's tree"),
    Phrase("Warner, the protocol"),
    measure,
    printed=Phrase("leaves f/2, (1 - f)/2, 1/4, 1/4"),
    lab="tree?truth=0.5&yes=0.5",
)
