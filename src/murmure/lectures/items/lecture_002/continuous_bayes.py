"""Height, weight, foot: naive Bayes on eight people with three numbers each."""

from __future__ import annotations

import math

import numpy as np

from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import Phrase
from murmure.core.schema import Schema
from murmure.learn.naive_bayes import NaiveBayes
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.lecture_002 import PRINTED, QUESTION, SIZES, density, height_weight_foot, normals
from murmure.plan.privacy import Clear
from murmure.show.document import Curve, Curves, Number, Paragraph, Table
from murmure.show.figures import Panels

SCHEMA = Schema(
    {
        "height": Integers(100, 220),
        "weight": Interval(19.95, 200.05, cells=1801),  # the middles of its cells are 20.0, 20.1, ...
        "foot": Integers(10, 40),
        "sex": Categories(["male", "female"]),
    }
)
PRINTED_DENSITY = {
    "male": {"height": 0.0481, "weight": 0.0000146, "foot": 0.000381},
    "female": {"height": 0.00721, "weight": 0.0372, "foot": 0.114},
}
PRINTED_PRODUCT = {"male": 1.3404e-10, "female": 1.52e-5}
LABELS = {"male": Phrase("male"), "female": Phrase("female")}
COLUMNS = {"height": Phrase("height (cm)"), "weight": Phrase("weight (kg)"), "foot": Phrase("foot (cm)")}


def measure(work: Work) -> Measured:
    exact = normals()
    ways = {
        Phrase("n - 1, unrounded"): height_weight_foot(exact),
        Phrase("n - 1, the printed, rounded table"): height_weight_foot(PRINTED),
        Phrase("n, as scikit-learn and Murmure do"): height_weight_foot(normals(ddof=0)),
    }
    model = NaiveBayes(SCHEMA, target="sex", privacy=Clear()).fit(SIZES)
    person = {name: [value] for name, value in QUESTION.items()}
    learner = dict(zip(model.classes_, np.exp(model.predict_joint_log_proba(person))[0], strict=True))
    products = height_weight_foot(exact)
    told = Phrase(
        "{male:.4e} and {female:.4e} from unrounded means and variances (dividing by n - 1); Murmure's naive Bayes, "
        "which divides by n: {clear_male:.4e} and {clear_female:.4e}. All say: {answer}",
        **products,
        clear_male=float(learner["male"]),
        clear_female=float(learner["female"]),
        answer=LABELS[max(products, key=lambda label: products[label])],
    )
    reason = Phrase(
        "the printed table of means and variances is rounded, and gives {male:.4e} and {female:.4e}: the slide's "
        "products come from unrounded ones. These are densities, not probabilities: in inches they would differ, and "
        "only their ratio means something",
        **height_weight_foot(PRINTED),
    )
    data = [
        (label, column, *exact[label][column], density(QUESTION[column], *exact[label][column]))
        for label in exact
        for column in QUESTION
    ]
    return Measured(
        told,
        {name: [row[i] for row in data] for i, name in enumerate(("sex", "column", "mean", "variance", "density"))},
        (Panels(Phrase("The densities that are multiplied"), tuple(map(curves, QUESTION)), 3),),
        why=reason,
        blocks=(
            parameters_table(),
            Table(
                Phrase("The products, in three ways"),
                ("", Phrase("male"), Phrase("female")),
                tuple((way, *(_scientific(scores[label]) for label in LABELS)) for way, scores in ways.items()),
            ),
            Paragraph(
                Phrase(
                    "Dividing by n instead of n - 1 changes one of them {times:.0f}-fold: four people are few.",
                    times=products["male"] / height_weight_foot(normals(ddof=0))["male"],
                )
            ),
        ),
    )


def parameters_table() -> Table:
    rows = []
    for label, word in LABELS.items():
        for column, name in COLUMNS.items():
            mean, variance = normals()[label][column]
            printed_mean, printed_variance = PRINTED[label][column]
            rows.append(
                (
                    Phrase("{name}, {label}", name=name, label=word),
                    Phrase("{value:g}", value=printed_mean),
                    Number(mean, "fixed", 3),
                    Phrase("{value:g}", value=printed_variance),
                    Number(variance, "fixed", 3),
                    _scientific(PRINTED_DENSITY[label][column], 3),
                    _scientific(density(QUESTION[column], mean, variance), 3),
                )
            )
    head = (
        "",
        Phrase("mean, printed"),
        Phrase("mean"),
        Phrase("variance, printed"),
        Phrase("variance"),
        Phrase("density, printed"),
        Phrase("density"),
    )
    return Table(Phrase("Means, variances and densities"), head, tuple(rows))


def curves(column: str) -> Curves:
    """The two normal densities of a column; where the person stands is in both."""
    asked, parameters = QUESTION[column], normals()
    spread = [(mean, math.sqrt(variance)) for mean, variance in (parameters[label][column] for label in LABELS)]
    x = np.linspace(min(m - 3 * s for m, s in spread), max(m + 3 * s for m, s in spread), 120)
    lines = [
        Curve(word, tuple(map(float, x)), tuple(density(float(v), *parameters[label][column]) for v in x))
        for label, word in LABELS.items()
    ]
    top = max(max(line.y) for line in lines)
    lines.append(Curve(Phrase("the person"), (asked, asked), (0.0, top)))
    return Curves("", tuple(lines), COLUMNS[column], Phrase("density"))


def _scientific(value: float, digits: int = 4) -> Phrase:
    return Phrase("{value:.3e}", value=value) if digits == 3 else Phrase("{value:.4e}", value=value)


ITEM = Item(
    Phrase("Naive Bayes by hand: height, weight, foot"),
    Phrase("the example with continuous data"),
    measure,
    claimed=Phrase("the person is probably a woman"),
    printed=Phrase("1.3404 x 10^-10 for a man, 1.52 x 10^-5 for a woman"),
    verdicts=(30,),
)
