"""Why a question is refused (minimum_cell.py), in plain words of two languages."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from murmure.core.errors import Phrase, RareCondition
from murmure.statistics.conditions.minimum_cell import MAX_WEIGHT, Problem

Say = Callable[[str, str], str]  # picks one of two languages
Quote = Callable[[str], str]


def english(one: str, other: str) -> str:
    return one


def describe_problem(problem: Problem, say: Say, quote: Quote = repr) -> Phrase:
    """The condition by name, and why it is refused; without a full stop."""
    text, other = quote(problem.text), quote(problem.other)
    rows, total, minimum = _rounded_rows(problem.rows, say), problem.of, problem.minimum
    if problem.kind == "few":
        return Phrase(
            say(
                "{text} picks out about {rows} of {total} rows, if values are spread evenly; the minimum is {minimum}",
                "{text} ne retient qu’environ {rows} lignes sur {total}, si les valeurs sont réparties également ; il "
                "en faut {minimum}",
            ),
            text=text,
            rows=rows,
            total=total,
            minimum=minimum,
        )
    if problem.kind == "rest":
        return Phrase(
            say(
                "{text} leaves out about {rows} of {total} rows, if values are spread evenly, which subtraction would "
                "reveal; the minimum is {minimum}",
                "{text} n’écarte qu’environ {rows} lignes sur {total}, si les valeurs sont réparties également, et une "
                "soustraction les révèle ; il en faut {minimum}",
            ),
            text=text,
            rows=rows,
            total=total,
            minimum=minimum,
        )
    if problem.kind == "difference":
        return Phrase(
            say(
                "{text} and {other}{earlier} differ in about {rows} of {total} rows, or leave out as few; the minimum "
                "is {minimum}",
                "{text} et {other}{earlier} ne diffèrent que d’environ {rows} lignes sur {total}, ou en écartent aussi "
                "peu ; il en faut {minimum}",
            ),
            text=text,
            other=other,
            earlier=Phrase(say(" of an earlier study", " d’une étude précédente")) if problem.earlier else "",
            rows=rows,
            total=total,
            minimum=minimum,
        )
    if problem.kind == "id":
        return Phrase(
            say(
                "{text} is a condition on {other}, which has {size} values where a party may have {total} rows: like "
                "an id, it can pick out a single row",
                "{text} est une condition sur {other}, qui a {size} valeurs là où un participant peut avoir {total} "
                "lignes : comme un identifiant, elle peut isoler une seule ligne",
            ),
            text=text,
            other=other,
            size=problem.size,
            total=total,
        )
    if problem.kind == "weight":
        return Phrase(
            say(
                "{text} weights the same columns, with a largest weight that is {ratio} times the smallest; the "
                "maximum is {limit}, or the rows of the larger weight could be read off the first digits",
                "{text} donne aux mêmes colonnes des poids dont le plus grand vaut {ratio} fois le plus petit ; "
                "{limit} au plus, sinon les lignes de plus grand poids se lisent dans les premiers chiffres",
            ),
            text=text,
            ratio=f"{problem.size:_}" if problem.size else Phrase(say("arbitrarily many", "un nombre illimité de")),
            limit=MAX_WEIGHT,
        )
    if problem.kind == "many":
        return Phrase(
            say(
                "{text} and others are {size} conditions, too many to compare with one another",
                "{text} et d’autres sont {size} conditions, trop nombreuses pour être comparées entre elles",
            ),
            text=text,
            size=problem.size,
        )
    return Phrase(
        say(
            "{text} reads columns with too many values to tell in advance how many rows it picks out",
            "{text} lit des colonnes de tant de valeurs qu’on ne peut dire d’avance combien de lignes elle retient",
        ),
        text=text,
    )


def _hint(problem: Problem, way_out: str, noise: bool = True) -> str:
    """noise: whether what asks can be asked with noise."""
    if problem.kind == "weight":
        return Phrase(
            "ask for two sums instead of one; {detail}{way_out}",
            detail=Phrase("or noise; ") if noise else "",
            way_out=way_out,
        )
    rows = Phrase("least_rows = {rows} (fewest rows of each party), ", rows=problem.enough) if problem.enough else ""
    by_value = problem.kind in ("id", "unknown")
    return Phrase(
        "{rows}{cut}{noise}{way_out}",
        rows=rows,
        cut=Phrase("an Interval with fewer cells, ") if by_value else Phrase("wider groups, "),
        noise=Phrase("or noise; ") if noise else "",
        way_out=way_out,
    )


def refusal(problem: Problem, where: str, way_out: str, noise: bool = True) -> RareCondition:
    """The error. where: what was asked, as a person names it; noise: whether it can be asked with noise."""
    return RareCondition(
        "{where}: {problem}.",
        hint=_hint(problem, way_out, noise),
        where=where,
        problem=describe_problem(problem, english),
    )


def _rounded_rows(rows: Fraction, say: Say) -> str:
    text = f"{float(rows):.2g}"
    return text if say("", "fr") == "" else text.replace(".", ",")
