"""Why a question is refused (minimum_cell.py), in plain words."""

from __future__ import annotations

from murmure.core.errors import Phrase, RareCondition
from murmure.statistics.conditions.minimum_cell import MAX_WEIGHT, Problem


def describe_problem(problem: Problem) -> Phrase:
    """The condition by name, and why it is refused; without a full stop."""
    about = {"text": problem.text, "rows": float(problem.rows), "total": problem.of, "minimum": problem.minimum}
    if problem.kind == "few":
        return Phrase(
            "{text!r} picks out about {rows:.2g} of {total} rows, if values are spread evenly; the minimum is "
            "{minimum}",
            **about,
        )
    if problem.kind == "rest":
        return Phrase(
            "{text!r} leaves out about {rows:.2g} of {total} rows, if values are spread evenly, which subtraction "
            "would reveal; the minimum is {minimum}",
            **about,
        )
    if problem.kind == "difference":
        other: str = Phrase("{other!r}", other=problem.other)
        if problem.earlier:
            other = Phrase("{other!r} of an earlier study", other=problem.other)
        return Phrase(
            "{text!r} and {other} differ in about {rows:.2g} of {total} rows, or leave out as few; the minimum is "
            "{minimum}",
            other=other,
            **about,
        )
    if problem.kind == "id":
        return Phrase(
            "{text!r} is a condition on {other!r}, which has {size} values where a party may have {total} rows: like "
            "an id, it can pick out a single row",
            text=problem.text,
            other=problem.other,
            size=problem.size,
            total=problem.of,
        )
    if problem.kind == "weight":
        return _heavy(problem)
    if problem.kind == "many":
        return Phrase(
            "{text!r} and others are {size} conditions, too many to compare with one another",
            text=problem.text,
            size=problem.size,
        )
    return Phrase(
        "{text!r} reads columns with too many values to tell in advance how many rows it picks out", text=problem.text
    )


def _heavy(problem: Problem) -> Phrase:
    if not problem.size:
        return Phrase(
            "{text!r} weights the same columns, with a largest weight that may be any number of times the smallest; "
            "the maximum is {limit}, or the rows of the larger weight could be read off the first digits",
            text=problem.text,
            limit=MAX_WEIGHT,
        )
    return Phrase(
        "{text!r} weights the same columns, with a largest weight that is {ratio:,} times the smallest; the maximum is "
        "{limit}, or the rows of the larger weight could be read off the first digits",
        text=problem.text,
        ratio=problem.size,
        limit=MAX_WEIGHT,
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
        problem=describe_problem(problem),
    )
