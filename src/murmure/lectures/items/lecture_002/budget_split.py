"""epsilon / (d + 1) for each attribute: what Vaidya's algorithm really spends."""

from __future__ import annotations

from fractions import Fraction

from murmure.core.domain import Categories, Integers
from murmure.core.errors import Phrase
from murmure.core.schema import Schema
from murmure.learn.naive_bayes import NaiveBayes, vaidya_cost
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.plan.privacy import Central
from murmure.show.document import Curve, Curves, Number, Paragraph, Table

D = 8
KINDS = ((8, 0), (4, 4), (0, 8))  # categorical and numeric attributes
ASKED = (0.1, 1.0, 10.0)


def measure(work: Work) -> Measured:
    epsilons = work.choose((0.1, 10.0), (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0), (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0))
    lines = tuple(
        Curve(
            Phrase("{categories} cat. + {numbers} num.", categories=categories, numbers=numbers),
            epsilons,
            tuple(vaidya_cost(epsilon, categories, numbers) for epsilon in epsilons),
        )
        for categories, numbers in KINDS
    )
    figure = Curves(
        Phrase("What is spent, with epsilon / (d + 1) for each of 8 attributes"),
        (*lines, Curve(Phrase("announced"), epsilons, epsilons)),
        Phrase("epsilon that is announced"),
        Phrase("epsilon that is spent"),
        log=True,
        log_x=True,
    )
    head = (Phrase("announced"), *(line.name for line in lines))
    rows = tuple(
        (Number(epsilon, "plain"), *(Number(vaidya_cost(epsilon, *kind), "fixed", 3) for kind in KINDS))
        for epsilon in ASKED
    )
    spent = checked_spending(work)
    return Measured(
        Phrase(
            "with eight numeric attributes an announced epsilon of 1 spends {numeric:.3f}, with eight categorical ones "
            "{categorical:.3f}. A split that adds up: epsilon / (1 + categorical + 2 numeric), {share} of epsilon for "
            "eight numbers; Murmure's naive Bayes with that split at epsilon 1 spends {spent:.6f}",
            numeric=vaidya_cost(1.0, 0, D),
            categorical=vaidya_cost(1.0, D, 0),
            share=str(Fraction(1, 1 + 2 * D)),
            spent=spent,
        ),
        {
            "announced": [epsilon for _ in KINDS for epsilon in epsilons],
            "categorical": [categories for categories, _ in KINDS for _ in epsilons],
            "numeric": [numbers for _, numbers in KINDS for _ in epsilons],
            "spent": [vaidya_cost(epsilon, *kind) for kind in KINDS for epsilon in epsilons],
        },
        (figure,),
        why=Phrase(
            "a numeric attribute spends its share twice, once for the mean and once for the deviation; and the "
            "algorithm adds Laplace(0, 1) to the class counts, which spends 1 whatever epsilon is. For categorical "
            "attributes the split itself is right"
        ),
        blocks=(
            Table(Phrase("Epsilon that is spent (add/remove)"), head, rows),
            Paragraph(
                Phrase(
                    "This is what it would spend if the noise on means and deviations were private at all, which it is "
                    "not: its scale holds the size of the class. Where a row is exchanged for another, it is twice as "
                    "much."
                ),
                "note",
            ),
        ),
    )


def checked_spending(work: Work) -> float:
    """What the learner says that it spent, with a split that adds up."""
    schema = Schema({**{f"x{j}": Integers(0, 10) for j in range(D)}, "y": Categories(["no", "yes"])})
    n = 40
    rows = {f"x{j}": [(i * (j + 1)) % 11 for i in range(n)] for j in range(D)}
    model = NaiveBayes(schema, "y", Central(1.0), split="equal", rng=work.rng("fit"))
    return float(model.fit({**rows, "y": ["no", "yes"] * (n // 2)}).spent_.epsilon)


ITEM = Item(
    Phrase("The budget of private naive Bayes"),
    Phrase("remarks: computing the global budget; Vaidya's algorithm"),
    measure,
    claimed=Phrase("the global epsilon is shared by the d attributes and the class"),
    printed=Phrase("epsilon_i = epsilon / (d + 1)"),
    verdicts=(20,),
)
