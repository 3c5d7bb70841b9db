"""Why a question is refused (minimum_cell.py), in plain words."""

from __future__ import annotations

from murmure.core.errors import RareCondition
from murmure.show.phrase import Exact, Phrase, Quoted
from murmure.statistics.conditions.minimum_cell import MAX_WEIGHT, Problem


def describe_problem(problem: Problem) -> Phrase:
    """The condition by name, and why it is refused; without a full stop."""
    text, few = Quoted(problem.text), {"rows": float(problem.rows), "total": problem.of, "minimum": problem.minimum}
    if problem.kind == "few":
        return Phrase(
            "{text} picks out about {rows:.2g} of {total:,} rows, if values are spread evenly; the minimum is "
            "{minimum}",
            text=text,
            **few,
        )
    if problem.kind == "rest":
        return Phrase(
            "{text} leaves out about {rows:.2g} of {total:,} rows, if values are spread evenly, which subtraction "
            "would reveal; the minimum is {minimum}",
            text=text,
            **few,
        )
    if problem.kind == "difference":
        return Phrase(
            "{text} and {other}{earlier} differ in about {rows:.2g} of {total:,} rows, or leave out as few; the "
            "minimum is {minimum}",
            text=text,
            other=Quoted(problem.other),
            earlier=Phrase(" of an earlier study") if problem.earlier else "",
            **few,
        )
    if problem.kind == "id":
        return Phrase(
            "{text} is a condition on {other}, which has {size:,} values where a party may have {total:,} rows: like "
            "an id, it can pick out a single row",
            text=text,
            other=Quoted(problem.other),
            size=problem.size,
            total=problem.of,
        )
    if problem.kind == "weight":
        return Phrase(
            "{text} weights the same columns, with a largest weight that is {ratio} times the smallest; the maximum "
            "is {limit}, or the rows of the larger weight could be read off the first digits",
            text=text,
            ratio=Exact(problem.size) if problem.size else Phrase("arbitrarily many"),
            limit=MAX_WEIGHT,
        )
    if problem.kind == "many":
        return Phrase(
            "{text} and others are {size:,} conditions, too many to compare with one another",
            text=text,
            size=problem.size,
        )
    return Phrase("{text} reads columns with too many values to tell in advance how many rows it picks out", text=text)


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
