"""RS+FD with the published amplification: what is claimed, and what the certifier finds."""

from __future__ import annotations

import math

import numpy as np

import murmure as mu
from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.show.document import Curve, Curves, Number, Paragraph, Table
from murmure.show.figures import Panels

SIZES = {  # how many values the columns of the papers' tables have
    "Adult": (74, 7, 16, 7, 14, 6, 5, 2, 41, 2),
    "Nursery": (3, 5, 4, 4, 3, 2, 3, 3, 5),
}
ORACLES = ("GRR", "OUE-z", "OUE-r")
TABLE = {"ln 2": math.log(2), "1": 1.0, "ln 7": math.log(7), "5": 5.0}


def published(sizes: tuple[int, ...], epsilon: float, oracle: str) -> mu.RSFD:
    return mu.RSFD(
        mu.Schema({f"A{i + 1}": mu.Categories(k) for i, k in enumerate(sizes)}), epsilon, oracle, calibrate="paper"
    )


def measure(work: Work) -> Measured:
    points = np.linspace(0.2, 5, work.choose(2, 13, 25)).tolist()
    names = work.choose(["Nursery"], list(SIZES), list(SIZES))
    columns = ("claimed", "record", *ORACLES)
    panels, data = [], {"table": [], **{name: [] for name in columns}}  # type: ignore[var-annotated]
    for name in names:
        lines: dict[str, list[float]] = {column: [] for column in columns}
        for epsilon in points:
            ways = {oracle: published(SIZES[name], epsilon, oracle) for oracle in ORACLES}
            lines["claimed"].append(epsilon)
            lines["record"].append(max(mu.certify(way).epsilon for way in ways.values()))
            for oracle, way in ways.items():
                lines[oracle].append(mu.certify(way, "attribute").epsilon)
        data["table"] += [name] * len(points)
        for column in columns:
            data[column] += lines[column]
        labels = {
            "record": Phrase("whole record"),
            **{oracle: Phrase("one attribute, {oracle}", oracle=oracle) for oracle in ORACLES},
            "claimed": Phrase("claimed"),
        }
        panels.append(
            Curves(
                Phrase("{name}, {d} attributes", name=name, d=len(SIZES[name])),
                tuple(Curve(label, tuple(points), tuple(lines[key])) for key, label in labels.items()),
                Phrase("epsilon claimed"),
                Phrase("certified epsilon"),
            )
        )
    name = names[0]
    rows = []
    for text, epsilon in TABLE.items():
        ways = {oracle: published(SIZES[name], epsilon, oracle) for oracle in ORACLES}
        certified = [mu.certify(ways["GRR"]).epsilon, *(mu.certify(way, "attribute").epsilon for way in ways.values())]
        rows.append((text, *(Number(value, "fixed", 3) for value in certified)))
    one = published(SIZES[name], 1.0, "GRR")
    certificate = mu.certify(one)
    small = published((2, 2), 1.0, "GRR")
    law = small.channel
    ratio = law.prob((0, 0), (0, 0)) / law.prob((1, 1), (0, 0))
    return Measured(
        Phrase(
            "On {name} ({d} attributes) a claimed epsilon of 1 is {record:.3f} for the whole record, which is epsilon' "
            "= ln(d(e - 1) + 1) = {inner:.3f}. For one attribute it is {grr:.3f} with GRR, {z:.3f} with OUE-z and "
            "{r:.3f} with OUE-r.",
            name=name,
            d=len(SIZES[name]),
            record=certificate.epsilon,
            inner=math.log(len(SIZES[name]) * (math.e - 1) + 1),
            grr=mu.certify(one, "attribute").epsilon,
            z=mu.certify(published(SIZES[name], 1.0, "OUE-z"), "attribute").epsilon,
            r=mu.certify(published(SIZES[name], 1.0, "OUE-r"), "attribute").epsilon,
        ),
        data,
        (Panels(Phrase("What a claimed epsilon costs"), tuple(panels)),),
        Phrase(
            "The theorem on sampling is about people who differ in one unit that is left out most of the time. Two "
            "records that differ everywhere differ in whichever attribute is drawn. The definition of the lecture is "
            "about any two records. For records that differ in one attribute the claim holds with OUE-z, and with GRR "
            "where all attributes have equally many values."
        ),
        (
            Table(
                Phrase("{name}: certified", name=name),
                (
                    Phrase("claimed"),
                    Phrase("whole record"),
                    *(Phrase("one attribute, {oracle}", oracle=oracle) for oracle in ORACLES),
                ),
                tuple(rows),
            ),
        ),
        (
            Paragraph(
                Phrase(
                    "By hand, with two questions of two answers at a claimed epsilon of 1: the report that repeats a "
                    "record is {ratio:.4f} times likelier from that record than from its opposite, and ln {ratio:.4f} "
                    "= {log:.6f}.",
                    ratio=float(ratio),
                    log=math.log(ratio),
                )
            ),
            Paragraph(
                Phrase(
                    "mu.RSFD(schema, epsilon) asks for epsilon per record; calibrate='attribute' solves for the inner "
                    "epsilon at which the worst attribute costs epsilon; calibrate='paper' is the published setting, "
                    "and states no epsilon."
                )
            ),
        ),
    )


ITEM = Item(
    Phrase("RS+FD: the epsilon that is claimed"),
    Phrase("one attribute drawn at random, the others fake (CIKM 2021)"),
    measure,
    claimed=Phrase("with the inner budget epsilon' = ln(d(e^epsilon - 1) + 1), RS+FD is epsilon-private"),
    verdicts=(16,),
)
