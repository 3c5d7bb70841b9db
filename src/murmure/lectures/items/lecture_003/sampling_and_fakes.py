"""What a person sends: one attribute and its name (SMP), or all attributes of which one is real (RS+FD)."""

from __future__ import annotations

from collections.abc import Sequence

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Table
from murmure.show.figures import Arrow, Diagram, LabelledBox

EPSILON = 2.0
SCHEMA = mu.Schema(
    {
        "smoker": mu.Categories(["no", "yes"]),
        "region": mu.Categories(["north", "south", "east", "west"]),
        "children": mu.Categories(["0", "1", "2", "3+"]),
    }
)
PERSON = ("yes", "south", "2")
PEOPLE = 4
WORDS = {  # as a reader is shown them
    "smoker": Phrase("smoker"),
    "region": Phrase("region"),
    "children": Phrase("children"),
    "no": Phrase("no"),
    "yes": Phrase("yes"),
    "north": Phrase("north"),
    "south": Phrase("south"),
    "east": Phrase("east"),
    "west": Phrase("west"),
}


def line(column: str, label: str) -> str:
    return Phrase("{column}: {label}", column=WORDS[column], label=WORDS.get(label, label))


def lines(labels: Sequence[str]) -> str:
    first, second, third = (line(*pair) for pair in zip(SCHEMA.private, labels, strict=True))
    return Phrase("{first}\n{second}\n{third}", first=first, second=second, third=third)


def measure(work: Work) -> Measured:
    rows = {name: [value] * PEOPLE for name, value in zip(SCHEMA.private, PERSON, strict=True)}
    sampling, fakes = mu.SMP(SCHEMA, EPSILON, oracle="GRR"), mu.RSFD(SCHEMA, EPSILON)
    sent = {}
    for name, way in (("SMP", sampling), ("RS+FD", fakes)):
        records = way.report(rows, work.rng(name))
        sent[name] = [
            [
                "" if code is None else SCHEMA[column].label(int(code))
                for column, code in zip(SCHEMA.private, records.row(i), strict=True)
            ]
            for i in range(PEOPLE)
        ]
    attribute = {name: mu.certify(way, "attribute").epsilon for name, way in (("SMP", sampling), ("RS+FD", fakes))}
    record = max(mu.certify(way).epsilon for way in (sampling, fakes))
    drawn = next(j for j, label in enumerate(sent["SMP"][0]) if label)
    alone = line(SCHEMA.private[drawn], sent["SMP"][0][drawn])
    mixed = lines(sent["RS+FD"][0])
    picture = Diagram(
        Phrase("One person, two ways to answer"),
        (
            LabelledBox(0, 1.1, lines(PERSON), "secret"),
            LabelledBox(1.4, 0.3, Phrase("draw one attribute, randomise it"), "plain"),
            LabelledBox(1.4, 1.9, Phrase("draw one attribute, randomise it, invent the others"), "plain"),
            LabelledBox(2.8, 0.3, alone, "sent"),
            LabelledBox(2.8, 1.9, mixed, "sent"),
            LabelledBox(4.2, 0.3, Phrase("SMP: everybody sees which one"), "public"),
            LabelledBox(4.2, 1.9, Phrase("RS+FD: which one is real?"), "public"),
        ),
        (Arrow(0, 1), Arrow(0, 2), Arrow(1, 3), Arrow(2, 4), Arrow(3, 5), Arrow(4, 6)),
    )
    head = (Phrase("person"), *(WORDS[name] for name in SCHEMA.private))
    tables = tuple(
        Table(
            title,
            head,
            tuple(
                (Phrase("person {number}", number=i + 1), *(WORDS.get(value, value) for value in sent[name][i]))
                for i in range(PEOPLE)
            ),
        )
        for name, title in (
            ("SMP", Phrase("Sent with SMP by four people who hold the same record")),
            ("RS+FD", Phrase("Sent with RS+FD by the same four people")),
        )
    )
    return Measured(
        Phrase(
            "Both cost at most {record:.4f} for the whole record. For one attribute SMP costs {shown:.4f}, since it "
            "shows which attribute is real; RS+FD costs {hidden:.4f}.",
            record=record,
            shown=attribute["SMP"],
            hidden=attribute["RS+FD"],
        ),
        {
            "solution": [name for name in sent for _ in range(PEOPLE)],
            "person": [i + 1 for _ in sent for i in range(PEOPLE)],
            **{column: [row[j] for name in sent for row in sent[name]] for j, column in enumerate(SCHEMA.private)},
        },
        (picture,),
        blocks=tables,
    )


ITEM = Item(
    Phrase("Sampling against fake data, in a picture"),
    Phrase("unfair choice of the shared attribute: a solution"),
    measure,
    claimed=Phrase("with fake data everybody sends all attributes, so nobody sees which one was chosen"),
)
