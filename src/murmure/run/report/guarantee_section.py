"""The third section of a report: what is guaranteed, or what it cost and who sees what."""

from __future__ import annotations

import math
from typing import Any

from murmure.core.certificate_blocks import RELATIONS, method_explained
from murmure.core.types import Certificate
from murmure.local.base.record_mechanism import RecordMechanism
from murmure.run.report.certificate_words import promise, promise_of_data
from murmure.run.report.question_section import epsilon_number
from murmure.run.report.report_content import ReportContent
from murmure.show.document import Block, Fold, Items, Number, Paragraph, Section, Table, paragraphs, sentences
from murmure.show.language import significant
from murmure.show.phrase import Phrase, Quoted, Several, Small, Strong, commas

REPLACED_BUT_COUNTED = Phrase(
    "replace: what somebody holds is exchanged for anything else; how many rows there are is public"
)

MAX_NAMED = 5  # columns of a witness
FOLDED = 8  # more sums than these are folded
EACH_ROW_ADDS = Phrase("Each further row of a person adds as much again.")
BLOCK_NAMES = {  # the names of blocks
    "count": Phrase("how many"),
    "sum": Phrase("sum"),
    "square": Phrase("sum of squares"),
    "cells": Phrase("counts"),
    "level": Phrase("counts, level"),
}


def guarantee_section(content: ReportContent) -> Section:
    """Where people randomised their answers."""
    first = content.certificates[0]
    heads = (Phrase("what may differ"), "epsilon", Phrase("in plain words"))
    rows = tuple((_what(content, c), epsilon_number(c.epsilon), _in_words(content, c)) for c in content.certificates)
    unit = None
    if content.of_records and content.rows_per_person is None:
        unit = sentences(Phrase("The unit is one row."), EACH_ROW_ADDS)
    elif content.of_records:
        unit = Phrase("The unit is {unit}; the figures add up all those rows.", unit=content.protects)
    texts = [sentences(unit, _how_computed(content) if math.isfinite(first.epsilon) else None)]
    table = Table("", heads, rows, words=True)
    blocks: tuple[Block, ...] = (table, *paragraphs([*texts, _provided(first)]), _public(content, first))
    return Section(Phrase("3. What is guaranteed"), blocks)


def _provided(c: Certificate) -> Phrase | None:
    return Phrase("Provided {assumption}.", assumption=c.assumption) if c.assumption else None


def _how_computed(content: ReportContent) -> Phrase:
    if content.release.randomised_outside:  # no words were compared with anything
        return Phrase(
            "Epsilon is computed from the probabilities that the plan prescribes, and rounded up; delta is 0. It holds "
            "against the collector and every reader."
        )
    return Phrase(
        "Epsilon is computed from the integers that the random words are compared with, and rounded up; delta is 0. It "
        "holds against the collector and every reader."
    )


def _what(content: ReportContent, c: Certificate) -> Phrase:
    if not content.of_records:
        return Phrase("the answer")
    if (content.rows_per_person or 1) > 1:
        attribute = c.unit == "attribute"
        return Phrase("one attribute in each of them") if attribute else Phrase("all rows of one person")
    return Phrase("the whole record") if c.unit == "record" else Phrase("one attribute of it")


def _in_words(content: ReportContent, c: Certificate) -> Phrase:
    return sentences(promise(c, provided=False), _witness(content, c), _found_by(c))


def _found_by(c: Certificate) -> Phrase:
    return Phrase("How computed: {method}.", method=method_explained(c.method))


def _witness(content: ReportContent, c: Certificate) -> Phrase | None:
    """Which two people the most revealing report distinguishes, and how well."""
    if c.witness is None or not math.isfinite(c.epsilon):
        return None
    first, second = _two_people(content, c)
    if first is None:
        return None
    if "fresh reports" in c.method or c.epsilon > 50:
        return Phrase("The most telling report tells {first} from {second}.", first=first, second=second)
    fields = {"odds": math.exp(c.epsilon), "first": first, "second": second}
    if c.epsilon < 7:
        return Phrase(
            "The most telling report is {odds:,.2f} times likelier from {first} than from {second}.", **fields
        )
    return Phrase("The most telling report is {odds:,.0f} times likelier from {first} than from {second}.", **fields)


def _two_people(content: ReportContent, c: Certificate) -> tuple[Any, Any]:
    a, b, _ = c.witness or ("", "", "")
    if not content.of_records:
        return Quoted(a), Quoted(b)
    person = None if content.plan is None else content.plan.person
    shown = content.release.estimate if content.many_columns else ()
    names = list(person.columns if isinstance(person, RecordMechanism) else shown)
    if len(a) != len(names):  # figures of some columns, and no plan that names the others: the certificate does
        tells = c.witness_text[1] if c.witness_text else None
        return (tells.fields.get("a"), tells.fields.get("b")) if isinstance(tells, Phrase) else (None, None)
    differ = [
        (Phrase("{name} {answer}", name=n, answer=Quoted(x)), Quoted(y))
        for n, x, y in zip(names, a, b, strict=True)
        if x != y
    ]
    if not differ:
        return None, None
    more = len(differ) - MAX_NAMED
    sides = (commas(side[:MAX_NAMED]) for side in zip(*differ, strict=True))
    first, second = (Phrase("{some} and {more} more columns", some=s, more=more) if more > 0 else s for s in sides)
    return first, second


# -- noise at the curator ---------------------------------------------------------------------------------------------


def cost_section(content: ReportContent) -> Section:
    """Where a curator saw every row: what it cost, who sees what, what one person can change."""
    c = content.reader
    trusted = Phrase(
        "Sees every row as it is: people trust the curator with them, and nothing here protects them from it."
    )
    rows = (
        (
            Phrase("whoever reads this"),
            epsilon_number(c.epsilon),
            sentences(promise_of_data(c, content.one_of_them), _found_by(c)),
        ),
        (Phrase("the curator"), Phrase("no limit"), trusted),
    )
    table = Table("", (Phrase("who"), "epsilon", Phrase("in plain words")), rows, words=True)
    blocks = (*_sensitivity(content), _public(content, c))
    return Section(
        Phrase("3. What it cost, and who sees what"), (table, Paragraph(_cost(content)), _ledger(content), *blocks)
    )


def _cost(content: ReportContent) -> Phrase:
    c = content.reader
    paid = Phrase("epsilon = {epsilon:.6g}, delta = {delta}", epsilon=c.epsilon, delta=Small(c.delta))
    hidden = RELATIONS[c.relation] if c.relation != "replace" else REPLACED_BUT_COUNTED
    cost = Phrase("It cost {cost} ({hidden}), for {unit}.", cost=Strong(paid), hidden=hidden, unit=content.protects)
    return sentences(cost, EACH_ROW_ADDS if content.rows_per_person is None else None, _provided(c))


def _ledger(content: ReportContent) -> Paragraph:
    paid = content.paid
    if paid is None:
        unknown = Phrase(
            "Costs of all that is released about the same people add up. This page knows of no ledger, so it cannot "
            "say what else was released."
        )
        return Paragraph(unknown, "note")
    budget = Phrase("{epsilon:.6g}", epsilon=paid.budget)
    if paid.delta:
        budget = Phrase("{epsilon:.6g}, delta = {delta}", epsilon=paid.budget, delta=Small(paid.delta))
    fields = {"dataset": Strong(paid.dataset), "left": max(paid.left, 0.0), "budget": budget}
    if paid.charge is None:
        return Paragraph(
            Phrase(
                "Paid from the budget of {dataset} in the ledger: epsilon {left:.6g} of {budget} is left for all "
                "further releases about these people.",
                **fields,
            )
        )
    return Paragraph(
        Phrase(
            "Paid from the budget of {dataset} in the ledger, charge {charge}: epsilon {left:.6g} of {budget} is left "
            "for all further releases about these people.",
            charge=paid.charge,
            **fields,
        )
    )


def _sensitivity(content: ReportContent) -> tuple[Block, ...]:
    """What one person can change, at most."""
    bound = None if content.plan is None or content.plan.curator is None else content.plan.bound
    if bound is None:
        return ()
    title = Phrase("What {who} can change, at most", who=content.one_of_them)
    if content.chosen is not None:
        change = bound.sensitivity * bound.rows
        text = Phrase("The count of any of the {n:,} candidates, by {change:,}.", n=bound.candidates, change=change)
        return (Section(title, (Paragraph(text),)),)
    moves = Phrase("{who} moves it by", who=content.one_of_them)
    if bound.norm == "l2":
        moves = Phrase("{who} moves it by (Euclidean)", who=content.one_of_them)
    rows = tuple(
        (_block_title(block.name), Number(block.width), _moved(moved, bound.norm), _three_digits(law.variance))
        for block, moved, law in zip(bound.blocks, bound.sensitivities(), bound.laws, strict=True)
    )
    table: Block = Table("", (Phrase("sum"), Phrase("entries"), moves, Phrase("noise on each (sd)")), rows)
    if len(rows) > FOLDED:
        table = Fold(Phrase("Show all {n} sums", n=len(rows)), (table,))
    note = Phrase("Declared beforehand, in whole numbers on the grid of the schema; the noise is scaled to it.")
    return (Section(title, (table, Paragraph(note, "note"))),)


def _block_title(name: str) -> str:
    column, colon, last = name.rpartition(": ")
    word, _, number = last.partition(" ")
    title: str = BLOCK_NAMES.get(word, last)
    if number and word in BLOCK_NAMES:
        title = Phrase("{what} {number}", what=title, number=number)
    return Phrase("{column}: {what}", column=column, what=title) if colon else title


def _moved(sensitivity: int, norm: str) -> Number:
    """In L1 a whole number; in L2 the square root of one, rounded up."""
    root = math.isqrt(sensitivity)
    if norm == "l1" or root**2 == sensitivity:
        return Number(sensitivity if norm == "l1" else root)
    hundredths = math.isqrt(100**2 * sensitivity) + 1  # a float's root of a large number may be rounded down
    return Number(hundredths / 100, "fixed", 2) if hundredths < 10**15 else Number(root + 1)


def _three_digits(variance: float) -> Number:
    """Three digits, and no exponent where people can do without."""
    sd = math.sqrt(variance)
    return Number(sd, "plain") if not sd < 1e12 else Number(sd, "fixed", significant(sd, 3))


# -- what was taken for public ----------------------------------------------------------------------------------------


def _public(content: ReportContent, c: Certificate) -> Fold:
    """Column by column, then the question, then what else the certificate lists."""
    domain, *others = c.public
    columns = domain.fields.get("parts") if isinstance(domain, Phrase) else None
    asked = [Phrase("the question, and its plan")] if content.curated else []
    each: tuple[Any, ...] = columns.items if isinstance(columns, Several) else (domain,)
    facts = (*each, *asked, *others)
    return Fold(Phrase("What was taken for public"), (Items(facts),))
