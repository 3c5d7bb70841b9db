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


def describe_problem(problem: Problem, say: Say, quote: Quote = repr) -> str:
    """The condition by name, and why it is one too many; without a full stop."""
    text, other = quote(problem.text), quote(problem.other)
    about, of, minimum = _rounded_rows(problem.rows, say), problem.of, problem.minimum
    if problem.kind == "few":
        return say(
            "{} picks out about {} of {} rows, if values are spread evenly; {} are the fewest",
            "{} ne retient qu’environ {} lignes sur {}, si les valeurs sont réparties également ; il en faut {}",
        ).format(text, about, of, minimum)
    if problem.kind == "rest":
        return say(
            "{} leaves out about {} of {} rows, if values are spread evenly, which subtraction then tells; {} are the "
            "fewest",
            "{} n’écarte qu’environ {} lignes sur {}, si les valeurs sont réparties également, et une soustraction les "
            "révèle ; il en faut {}",
        ).format(text, about, of, minimum)
    if problem.kind == "difference":
        earlier = say(" of an earlier study", " d’une étude précédente") if problem.earlier else ""
        return say(
            "{} and {}{} differ in about {} of {} rows, or leave out as few; {} are the fewest",
            "{} et {}{} ne diffèrent que d’environ {} lignes sur {}, ou en écartent aussi peu ; il en faut {}",
        ).format(text, other, earlier, about, of, minimum)
    if problem.kind == "id":
        return say(
            "{} is a condition on {}, which has {} values where a party may have {} rows: like an id, it can pick out "
            "a single row",
            "{} est une condition sur {}, qui a {} valeurs là où un participant peut avoir {} lignes : comme un "
            "identifiant, elle peut isoler une seule ligne",
        ).format(text, other, problem.size, of)
    if problem.kind == "weight":
        size = f"{problem.size:_}" if problem.size else say("no bound", "aucune borne")
        return say(
            "{} gives weights to the same columns of which the largest is {} times the smallest; {} is the most, or "
            "the rows of the larger weight are read off the first digits",
            "{} donne aux mêmes colonnes des poids dont le plus grand vaut {} fois le plus petit ; {} au plus, sinon "
            "les lignes de plus grand poids se lisent dans les premiers chiffres",
        ).format(text, size, MAX_WEIGHT)
    if problem.kind == "many":
        return say(
            "{} and others are {} conditions, too many to be compared with one another",
            "{} et d’autres sont {} conditions, trop nombreuses pour être comparées entre elles",
        ).format(text, problem.size)
    return say(
        "{} reads columns of so many values that nobody can tell beforehand how many rows it picks out",
        "{} lit des colonnes de tant de valeurs qu’on ne peut dire d’avance combien de lignes elle retient",
    ).format(text)


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
        "{where}: {describe_problem}.",
        hint=_hint(problem, way_out, noise),
        where=where,
        describe_problem=describe_problem(problem, english),
    )


def _rounded_rows(rows: Fraction, say: Say) -> str:
    text = f"{float(rows):.2g}"
    return text if say("", "fr") == "" else text.replace(".", ",")
