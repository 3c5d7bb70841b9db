"""Does somebody earn more than 50,000 dollars? Naive Bayes on Adult, in the clear and with noise."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from murmure.core.domain import Categories, Integers
from murmure.core.errors import Phrase
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Array
from murmure.learn.naive_bayes import NaiveBayes
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.pima_rows import shuffled
from murmure.plan.privacy import Central, Clear, Privacy
from murmure.show.document import Curve, Curves, Number, Paragraph, Table

TARGET = "salary"
LABELS = ("<=50K", ">50K")
NUMBERS = {  # public bounds: the questionnaire's codes, and a working week
    "age": (17, 90),
    "education-num": (1, 16),
    "hours-per-week": (1, 99),
    "capital-gain": (0, 20_000),
    "capital-loss": (0, 4_000),
}
CATEGORIES = {  # what the questionnaire offers, whether or not a row of the table has it
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
    "marital-status": "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
    "Married-AF-spouse",
    "occupation": "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
    "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
}
EPSILONS = (0.1, 1.0, 10.0)


def rows_and_schema(work: Work) -> tuple[dict[str, Array], Schema]:
    """Labels of the census for categories, whose lists are public; numbers within their bounds."""
    data = work.table("adult")
    numbers = {
        name: np.clip(np.asarray(data.columns[name]), *bounds).astype(np.int64) for name, bounds in NUMBERS.items()
    }
    domains: dict[str, Any] = {name: Integers(*bounds) for name, bounds in NUMBERS.items()}
    domains |= {name: Categories(labels.split()) for name, labels in CATEGORIES.items()}
    rows = {**numbers, **{name: np.asarray(data.columns[name]) for name in (*CATEGORIES, TARGET)}}
    return rows, Schema({**domains, TARGET: Categories(list(LABELS))})


def learn(work: Work, rng: Random, run: int) -> dict[str, float]:
    """One split with test_size 0.2: the accuracy in the clear and at each epsilon."""
    rows, schema = rows_and_schema(work)
    learned, tested = shuffled(len(rows[TARGET]), work.rng("split", run))
    train, test = ({name: column[at] for name, column in rows.items()} for at in (learned, tested))
    ways: dict[str, Privacy] = {"clear": Clear(), **{str(epsilon): Central(epsilon) for epsilon in EPSILONS}}
    out = {}
    for name, privacy in ways.items():
        model = NaiveBayes(schema, TARGET, privacy, rng=rng).fit(train)
        out[name] = float((model.predict(test) == test[TARGET]).mean())
    return {**out, "larger class": float((test[TARGET] == LABELS[0]).mean())}


def measure(work: Work) -> Measured:
    runs = work.choose(2, 8, 20)
    found = work.cells(learn, [{"run": run} for run in range(runs)])
    ways = ("clear", *map(str, EPSILONS))
    mean = {way: statistics.fmean(f[way] for f in found) for way in (*ways, "larger class")}
    deviation = {way: statistics.stdev(f[way] for f in found) for way in ways}
    names = {"clear": Phrase("in the clear")} | {str(e): Phrase("epsilon {epsilon:g}", epsilon=e) for e in EPSILONS}
    figure = Curves(
        Phrase("Naive Bayes on Adult: mean and one standard deviation"),
        (
            Curve(names["clear"], EPSILONS, (mean["clear"],) * len(EPSILONS)),
            Curve(
                Phrase("DP naive Bayes"),
                EPSILONS,
                tuple(mean[str(e)] for e in EPSILONS),
                low=tuple(mean[str(e)] - deviation[str(e)] for e in EPSILONS),
                high=tuple(mean[str(e)] + deviation[str(e)] for e in EPSILONS),
            ),
            Curve(Phrase("always the larger class"), EPSILONS, (mean["larger class"],) * len(EPSILONS)),
        ),
        Phrase("epsilon"),
        Phrase("accuracy"),
        log_x=True,
        from_zero=False,
    )
    lost = max(mean["clear"] - mean[str(e)] for e in EPSILONS)
    people = len(work.table("adult"))
    return Measured(
        Phrase(
            "over {runs} splits of {people:,} people the accuracy is {clear:.3f} in the clear, and {a:.3f}, {b:.3f} "
            "and {c:.3f} at epsilon 0.1, 1 and 10; always the larger class has {base:.3f}",
            runs=runs,
            people=people,
            clear=mean["clear"],
            a=mean["0.1"],
            b=mean["1.0"],
            c=mean["10.0"],
            base=mean["larger class"],
        ),
        {"way": list(ways), "mean": [mean[w] for w in ways], "deviation": [deviation[w] for w in ways]},
        (figure,),
        blocks=(
            Table(
                Phrase("Accuracy over {runs} splits", runs=runs),
                ("", Phrase("mean"), Phrase("standard deviation")),
                tuple((names[way], Number(mean[way], "fixed", 4), Number(deviation[way], "fixed", 4)) for way in ways),
            ),
            Paragraph(
                Phrase("The private models lose at most {lost:.4f} of accuracy to the clear one.", lost=lost)
                if lost > 0
                else Phrase("No private model is less accurate here than the clear one.")
            ),
            Paragraph(
                Phrase(
                    "Eleven columns: five numbers within public bounds, six categories whose lists are those of the "
                    "census. Where there is noise, Murmure pulls means, variances and shares towards those of all "
                    "classes. That can help: naive Bayes counts twice what two similar columns say."
                ),
                "note",
            ),
        ),
    )


ITEM = Item(
    Phrase("Who earns more than 50,000 dollars? Naive Bayes on Adult"),
    Phrase("with the library DiffprivLib"),
    measure,
    claimed=Phrase("a private naive Bayes of income, learned from four fifths of the rows and tested on the others"),
    needs=("adult",),
)
