"""Warner's randomised response with two coins, as a probability tree."""

from __future__ import annotations

from fractions import Fraction

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Number, Table
from murmure.show.figures import Branch, Tree

F = Fraction(3, 10)  # a share, for the numbers beside the letters


def leaves(warner: mu.Warner, f: Fraction) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """(truth, yes), (truth, no), (coin, yes), (coin, no), from the law alone.

    A person says the truth with probability a - c, which is what P[yes] differs by, and the coin answers otherwise.
    """
    a, c = warner.yes
    truth = a - c
    return truth * f, truth * (1 - f), c, 1 - truth - c


def measure(work: Work) -> Measured:
    warner = mu.Warner(mu.Categories(["no", "yes"]))
    yes, no = warner.yes
    truth = yes - no
    coin = no / (1 - truth)
    everybody, nobody = leaves(warner, Fraction(1)), leaves(warner, Fraction(0))
    letters = (f"f/{1 / everybody[0]}", f"(1 - f)/{1 / nobody[1]}", str(everybody[2]), str(everybody[3]))
    answered = (
        Branch("f", Phrase("yes"), leaf=letters[0]),
        Branch("1 - f", Phrase("no"), leaf=letters[1]),
    )
    forced = (
        Branch(str(coin), Phrase("yes"), leaf=letters[2]),
        Branch(str(1 - coin), Phrase("no"), leaf=letters[3]),
    )
    tree = Tree(
        Phrase("Two coins: the probability of each path"),
        Phrase("first coin"),
        (Branch(str(truth), Phrase("truth"), answered), Branch(str(1 - truth), Phrase("second coin"), forced)),
    )
    numbers = [float(leaf) for leaf in leaves(warner, F)]
    law = Table(
        Phrase("Pr[y | x]"),
        (Phrase("true answer x"), Phrase("reported: yes"), Phrase("reported: no")),
        ((Phrase("yes"), str(yes), str(1 - yes)), (Phrase("no"), str(no), str(1 - no))),
    )
    paths = (Phrase("truth, yes"), Phrase("truth, no"), Phrase("coin, yes"), Phrase("coin, no"))
    example = Table(
        Phrase("The leaves if {f:.0%} of the people mean yes", f=float(F)),
        (Phrase("path"), Phrase("probability")),
        tuple((path, Number(value, "fixed", 3)) for path, value in zip(paths, numbers, strict=True)),
    )
    return Measured(
        Phrase(
            "leaves {leaves}, which sum to {total}; yes is reported by {yes} of those who mean it and by {no} of the "
            "others",
            leaves=", ".join(letters),
            total=str(sum(leaves(warner, F))),
            yes=str(yes),
            no=str(no),
        ),
        {"path": [str(path) for path in paths], "leaf": list(letters), "probability_at_f_0.3": numbers},
        (tree,),
        blocks=(law, example),
    )


ITEM = Item(
    Phrase("Warner's tree"),
    Phrase("Warner, the protocol and its table"),
    measure,
    printed=Phrase("Pr[y | x]: 3/4 for the true answer, 1/4 for the other one"),
    lab="tree?truth=0.5&yes=0.5",
)
