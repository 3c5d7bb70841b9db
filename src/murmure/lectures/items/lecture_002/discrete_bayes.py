"""Who misses a payment? Naive Bayes on ten people with three categories each."""

from __future__ import annotations

from fractions import Fraction

from murmure.core.domain import Categories
from murmure.core.errors import Phrase
from murmure.core.schema import Schema
from murmure.learn.naive_bayes import NaiveBayes
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.lecture_002 import MISSED_PAYMENT, missed_payment
from murmure.plan.privacy import Clear
from murmure.show.document import Paragraph, Table

PERSON = {"age": "young", "income": "medium", "gender": "female"}
SCHEMA = Schema(
    {
        "age": Categories(["young", "medium", "old"]),
        "income": Categories(["low", "medium", "high"]),
        "gender": Categories(["male", "female"]),
        "missed": Categories(["yes", "no"]),
    }
)
PRINTED = {  # of yes and of no
    "prior": ("4/10", "6/10"),
    "age": ("2/4", "1/6"),
    "income": ("1/4", "1/6"),
    "gender": ("2/4", "2/6"),
    "product": ("1/40", "1/180"),
}


def conditionals(label: str) -> dict[str, Fraction]:
    """The share of the class, the share of each answer within it, and their product."""
    rows = [i for i, missed in enumerate(MISSED_PAYMENT["missed"]) if missed == label]
    out = {"prior": Fraction(len(rows), len(MISSED_PAYMENT["missed"]))}
    for column, value in PERSON.items():
        out[column] = Fraction(sum(MISSED_PAYMENT[column][i] == value for i in rows), len(rows))
    return {**out, "product": missed_payment(PERSON)[label]}


def measure(work: Work) -> Measured:
    yes, no = conditionals("yes"), conditionals("no")
    model = NaiveBayes(SCHEMA, target="missed", privacy=Clear(), alpha=1e-9).fit(MISSED_PAYMENT)
    asked = {name: [value] for name, value in PERSON.items()}
    posterior = float(model.predict_proba(asked)[0, 0])
    names = {
        "prior": Phrase("share of the class"),
        "age": Phrase("young, in the class"),
        "income": Phrase("medium income, in the class"),
        "gender": Phrase("female, in the class"),
        "product": Phrase("product"),
    }
    rows = tuple((names[key], PRINTED[key][0], str(yes[key]), PRINTED[key][1], str(no[key])) for key in names)
    head = (
        "",
        Phrase("missed, printed"),
        Phrase("missed, computed"),
        Phrase("not missed, printed"),
        Phrase("not missed, computed"),
    )
    same = all(
        Fraction(printed) == value
        for key in names
        for printed, value in zip(PRINTED[key], (yes[key], no[key]), strict=True)
    )
    total = yes["product"] + no["product"]
    told = Phrase(
        "{yes} and {no}, so she misses her payment with probability {exact} = {share:.4f}; Murmure's naive Bayes, in "
        "the clear: {learned:.4f}",
        yes=str(yes["product"]),
        no=str(no["product"]),
        exact=str(yes["product"] / total),
        share=float(yes["product"] / total),
        learned=posterior,
    )
    typo = Phrase(
        "Every printed figure is right. One letter is not: the slide compares Pr[Y1 | ...] with Pr[Y1 | ...], and the "
        "second one should be Y2."
    )
    return Measured(
        told,
        {
            "factor": list(names),
            "missed": [str(yes[key]) for key in names],
            "not missed": [str(no[key]) for key in names],
        },
        why=None if same else Phrase("some printed figures differ: see the table"),
        blocks=(Table(Phrase("Factor by factor"), head, rows), Paragraph(typo))
        if same
        else (Table(Phrase("Factor by factor"), head, rows),),
    )


ITEM = Item(
    Phrase("Naive Bayes by hand: who misses a payment?"),
    Phrase("the example with discrete data"),
    measure,
    claimed=Phrase("a young woman with a medium income misses her payment"),
    printed=Phrase("1/40 (about 0.025) for yes, 1/180 (about 0.0056) for no"),
    verdicts=(30,),
)
