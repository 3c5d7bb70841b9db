"""The question at the end of the listing: what is the global epsilon? And what the bounds from the data reveal."""

from __future__ import annotations

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.listings_000 import NUMBERS, OUTCOME, ZERO_IS_MISSING
from murmure.lectures.lecture_000 import sanitised_as_in_the_lecture
from murmure.show.document import Items, Number, Paragraph, Table
from murmure.show.figures import Bars

EPSILON = 1.0


def measure(work: Work) -> Measured:
    table = work.table("pima")
    numbers = work.choose(NUMBERS[:2], NUMBERS, NUMBERS)
    frame = {name: np.asarray(table.columns[name]) for name in (*numbers, OUTCOME)}
    frame[OUTCOME] = np.where(frame[OUTCOME] == np.max(frame[OUTCOME]), "yes", "no")
    missing = [name for name in ZERO_IS_MISSING if name in numbers]
    lesson = sanitised_as_in_the_lecture(frame, EPSILON, missing, rng=work.rng("table"))
    names = list(lesson.table)
    spent = [lesson.per_column * (i + 1) for i in range(len(names))]
    bars = Bars(
        Phrase("What a record costs, column after column"),
        tuple(str(i + 1) for i in range(len(names))),
        (("", tuple(spent)),),
        Phrase("columns sanitised so far"),
        Phrase("epsilon of the record"),
        marked=len(names) - 1,
    )
    return Measured(
        Phrase(
            "{n} columns at {each:g} each: epsilon {total:g} for a record, if bounds and labels were public. They were "
            "read off the data ({faults} times), so no epsilon holds for this table.",
            n=len(names),
            each=lesson.per_column,
            total=lesson.total,
            faults=len(lesson.faults),
        ),
        {"column": names, "epsilon_of_the_record": spent},
        (bars,),
        why=Phrase(
            "The comment of the listing asks for the global value, and the slides do not answer. Budgets add up over "
            "the columns of a record, because two people may differ in all of them. And a smallest value, a largest "
            "value, a median or a list of labels of the data is something that people's answers decide."
        ),
        blocks=(shares(len(names)),),
        broken=(
            Paragraph(Phrase("What was read off the data before any noise was drawn:")),
            Items(tuple(lesson.faults)),
        ),
    )


def shares(columns: int) -> Table:
    """The label of a person at a given epsilon for the whole record: kept with this probability."""
    rows = []
    for total in (1.0, float(columns)):
        each = total / columns
        keep = float(mu.GRR(mu.Categories(2), each).channel.prob(0, 0))
        rows.append((Number(total, "plain"), Number(each, "fixed", 3), Number(keep, "share", 1)))
    head = (Phrase("epsilon of the record"), Phrase("of each column"), Phrase("the outcome is kept with probability"))
    return Table(Phrase("The same table at two budgets"), head, tuple(rows))


ITEM = Item(
    Phrase("The global epsilon"),
    Phrase("Naive cleaning, part 3: the comment of line 2"),
    measure,
    printed=Phrase("a question: value of the global epsilon?"),
    needs=("pima",),
    verdicts=(8,),
)
