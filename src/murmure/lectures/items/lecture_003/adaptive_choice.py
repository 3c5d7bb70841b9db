"""ADP: for each attribute the protocol with the least variance, chosen before anybody answers."""

from __future__ import annotations

import json
import math

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Table
from murmure.show.figures import Panels

SIZES = (7, 16, 7, 14, 6, 5, 2, 41, 2)  # Adult without age
PEOPLE = 45_222
LOGARITHMS = tuple(range(2, 8))


def schema_of(sizes: tuple[int, ...]) -> mu.Schema:
    return mu.Schema({f"A{i + 1}": mu.Categories(k) for i, k in enumerate(sizes)})


def measure(work: Work) -> Measured:
    schema, d = schema_of(SIZES), len(SIZES)
    star, exact = (
        {m: mu.ADP(schema, math.log(m), "rsfd", by=by, calibrate="paper").names for m in LOGARITHMS}
        for by in ("varstar", "variance")
    )
    differ = sum(a != b for m in LOGARITHMS for a, b in zip(star[m], exact[m], strict=True))
    panels = []
    for m in work.choose((3,), (2, 7), (2, 7)):
        sizes = list(range(2, 42))
        lines = {
            oracle: [
                float(mu.RSFD(schema_of((k,) * d), math.log(m), oracle, "paper").parts[0].variance(0.0, PEOPLE))
                for k in sizes
            ]
            for oracle in ("GRR", "OUE-z")
        }
        panels.append(
            Curves(
                Phrase("epsilon ln {m}", m=m),
                tuple(Curve(f"RS+FD[{oracle}]", tuple(sizes), tuple(line)) for oracle, line in lines.items()),
                Phrase("values of the attribute"),
                Phrase("Var*"),
            )
        )
    sent = json.loads(mu.Plan(mu.Marginals(schema), person=mu.ADP(schema, 1.0, "rsfd", by="varstar")).to_json())
    laws = len(sent["person"]["law"]["parts"])
    chosen = {oracle: sum(name == oracle for m in LOGARITHMS for name in star[m]) for oracle in ("GRR", "OUE-z")}
    return Measured(
        Phrase(
            "On {d} attributes at ln 2 to ln 7, Var* chooses GRR {grr} times and OUE-z {oue} times. The exact variance "
            "makes another choice in {differ} of {all} cases. The plan that the collector reads holds the law of each "
            "of the {laws} attributes.",
            d=d,
            grr=chosen["GRR"],
            oue=chosen["OUE-z"],
            differ=differ,
            all=d * len(LOGARITHMS),
            laws=laws,
        ),
        {
            "values": [k for _ in LOGARITHMS for k in SIZES],
            "epsilon": [f"ln {m}" for m in LOGARITHMS for _ in SIZES],
            "by Var*": [name for m in LOGARITHMS for name in star[m]],
            "by exact variance": [name for m in LOGARITHMS for name in exact[m]],
        },
        (Panels(Phrase("RS+FD with {d} attributes, amplified: GRR or OUE-z", d=d), tuple(panels)),),
        blocks=(
            Table(
                Phrase("Chosen by Var*, for the attributes of Adult (the number of their values)"),
                (Phrase("number of values"), *(f"ln {m}" for m in LOGARITHMS)),
                tuple((str(k), *(star[m][i] for m in LOGARITHMS)) for i, k in enumerate(SIZES)),
            ),
        ),
    )


ITEM = Item(
    Phrase("ADP, the adaptive mechanism"),
    Phrase("an adaptive mechanism: what is known, and the choice for each attribute"),
    measure,
    claimed=Phrase("for each attribute choose the mechanism with the least Var*, and tell the collector"),
)
