"""Whether exact sums could be about too few rows: judged from public facts, before any row is read.

Of every condition that a question adds up over (conditions.py), of its complement, and of its difference from every
other condition of the study and of earlier ones,

    share of the public domain  x  the fewest rows of a party  >=  minimum_cell

A column of whole numbers or labels with as many values as rows is like an id, and is not a condition at all. The ratio
of weights that conditions give to the same columns is at most MAX_WEIGHT.

Shares suppose values that are spread evenly. So this stops accidents, and not somebody who looks for a way around it:
only noise does. What rows are there decides nothing here, since a refusal that depends on rows is an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, Literal

import numpy as np

from murmure.core.domain import Categories, Decimals, Domain, Integers
from murmure.statistics.conditions.conditions import Condition, Conditions
from murmure.statistics.conditions.regions import Box, intersection_share, translate_region

MINIMUM_CELL = 5
MIN_JUDGED_CELL = 2  # the least minimum_cell: at 1, a sum over one row is allowed, and nothing is judged
# Weights that people choose (prices, points, shares) span three powers of ten. To lift some rows above the digits of
# the others takes a weight larger than what all the others add, which is beyond that for any sum over many rows.
MAX_WEIGHT = 1000
MAX_PAIRS = 1 << 23  # of conditions that are compared with one another
BLOCK = 512  # conditions at a time
MAX_LISTED = 60  # of those that are no boxes

Kind = Literal["few", "rest", "difference", "id", "weight", "unknown", "many"]


@dataclass(frozen=True)
class Problem:
    """Why a question is refused. rows: so many rows are expected where `minimum` are wanted, of `of` rows."""

    kind: Kind
    question: int
    text: str
    other: str = ""  # what it was compared with
    rows: Fraction = Fraction(0)
    of: int = 0
    minimum: int = MINIMUM_CELL
    size: int = 0  # values of a column; the ratio of weights
    enough: int = 0  # rows of each party with which it would pass; 0: none would

    earlier: bool = False  # `other` was asked in an earlier study


def first_problem(
    questions: Sequence[tuple[int, Conditions]],
    rows: int,
    minimum: int = MINIMUM_CELL,
    earlier: Sequence[Conditions] = (),
) -> Problem | None:
    """What is wrong with these questions, each with its number; None: nothing.

    rows: the fewest of a party. before: what earlier studies asked for, which is compared and not judged again.
    """
    if minimum < MIN_JUDGED_CELL:
        return None
    for number, conditions in questions:
        for text, ratio in conditions.weights:
            if ratio is None or ratio > MAX_WEIGHT:
                return Problem("weight", number, text, size=0 if ratio is None else int(ratio))
    distinct: dict[Any, Condition] = {}
    domains: dict[str, Domain] = {}
    for number, conditions in questions:
        domains |= conditions.domains
        for condition in conditions.conditions:
            numbered = replace(condition, question=number)
            problem = _check_alone(numbered, conditions.domains, rows, minimum)
            if problem is not None:
                return problem
            if numbered.region is not None and numbered.share not in (0, 1):
                distinct.setdefault(numbered.region.key, numbered)
    new = list(distinct.values())
    old = _earlier_conditions(earlier, domains, distinct)
    return _check_differences(new, old, rows, minimum)


def rarest_condition(questions: Sequence[tuple[int, Conditions]]) -> Condition | None:
    """The condition of the smallest share, or with the smallest rest."""
    numbered = [
        replace(c, question=number)
        for number, conditions in questions
        for c in conditions.conditions
        if c.share not in (None, 0)
    ]
    return min(numbered, key=lambda c: _smaller_side(c.share or Fraction(1)), default=None)


def _smaller_side(share: Fraction) -> Fraction:
    """Of a part and the rest, where there is one."""
    return min(share, 1 - share) or share


def _earlier_conditions(
    earlier: Sequence[Conditions], domains: Mapping[str, Domain], known: Mapping[Any, Condition]
) -> list[Condition]:
    """Conditions of earlier studies that share a column with this one, in its public values; each once."""
    out: dict[Any, Condition] = {}
    for number, conditions in enumerate(earlier, 1):
        for condition in conditions.conditions:
            if condition.region is None or not condition.columns & domains.keys():
                continue
            region = translate_region(condition.region, conditions.domains, domains)
            if region.share not in (0, 1) and region.key not in known:
                out.setdefault(region.key, replace(condition, region=region, question=-number))
    return list(out.values())


def _check_alone(condition: Condition, domains: Mapping[str, Domain], rows: int, minimum: int) -> Problem | None:
    for name in sorted(condition.columns - condition.cut):
        size = domains[name].size if name in domains else 0
        if size >= rows and _like_id(domains[name], name in condition.loose):
            part = min(condition.share, 1 - condition.share) if condition.share is not None else Fraction(0)
            enough = max(size + 1, -(-minimum // part)) if part else size + 1
            return Problem(
                "id", condition.question, condition.text, name, of=rows, minimum=minimum, size=size, enough=enough
            )
    share = condition.share
    if share is None:
        return Problem("unknown", condition.question, condition.text, minimum=minimum)
    kinds: tuple[tuple[Kind, Fraction], ...] = (("few", share), ("rest", 1 - share))
    for kind, part in kinds:
        if part > 0 and part * rows < minimum and (kind == "few" or share):
            enough = -(-minimum // part)
            return Problem(kind, condition.question, condition.text, "", part * rows, rows, minimum, enough=enough)
    return None


def _like_id(domain: Any, loose: bool) -> bool:
    """Whole numbers and labels; what is measured may be compared with a threshold."""
    whole = isinstance(domain, Integers | Categories) or (isinstance(domain, Decimals) and domain.places == 0)
    return whole or loose


def _check_differences(new: Sequence[Condition], old: Sequence[Condition], rows: int, minimum: int) -> Problem | None:
    """Two conditions that differ in few values, or that leave few values between them."""
    boxes = [one for one in (*new, *old) if isinstance(one.region, Box)]
    clouds = [one for one in (*new, *old) if not isinstance(one.region, Box)]
    if len(clouds) > MAX_LISTED:
        return Problem("many", clouds[0].question, clouds[0].text, size=len(clouds))
    fresh = set(map(id, new))
    near = _near_pairs(boxes, Fraction(minimum, rows))
    if near is None:
        return Problem("many", new[0].question, new[0].text, size=len(boxes))
    listed = [(a, b) for i, a in enumerate(clouds) for b in (*clouds[:i], *boxes)]
    for a, b in (*near, *listed):
        if id(a) not in fresh and id(b) not in fresh:
            continue
        problem = _check_pair(a, b, rows, minimum)
        if problem is not None:
            first, second = (a, b) if id(a) in fresh else (b, a)
            return replace(
                problem,
                question=first.question,
                text=first.text,
                other=second.text,
                earlier=id(second) not in fresh,
            )
    return None


def _check_pair(a: Condition, b: Condition, rows: int, minimum: int) -> Problem | None:
    assert a.region is not None and b.region is not None
    shared = intersection_share(a.region, b.region)
    if shared is None:  # at least so much apart, whatever they share
        apart = abs(a.region.share - b.region.share)
        apart = min(apart, abs(1 - a.region.share - b.region.share))
        if apart * rows >= minimum:
            return None
        return Problem("unknown", 0, a.text, minimum=minimum)
    apart = a.region.share + b.region.share - 2 * shared
    apart = min(apart, 1 - apart)
    if apart == 0 or apart * rows >= minimum:
        return None
    return Problem("difference", 0, "", "", apart * rows, rows, minimum, enough=-(-minimum // apart))


def _near_pairs(boxes: Sequence[Condition], least: Fraction) -> list[tuple[Condition, Condition]] | None:
    """Pairs that may differ in less than `least`: by floats, to be looked at again. None: too many to compare.

    Only pairs that share a column: independent parts p, q <= 1/2 differ in p (1 - q) + q (1 - p) >= max(p, q), which
    was judged already. Cells of one table are disjoint, and are not compared with one another.
    """
    out: dict[tuple[int, int], tuple[Condition, Condition]] = {}
    for name in sorted({name for one in boxes for name in _masks(one)}):
        tables: dict[Any, list[Condition]] = {}
        for one in boxes:
            if name in _masks(one):
                tables.setdefault((one.question, one.columns) if one.cut == one.columns else None, []).append(one)
        for (k, some), (j, others) in combinations_with_replacement(tables.items(), 2):
            if k is not None and k == j:
                continue
            if len(some) * len(others) > MAX_PAIRS:
                return None
            for at in range(0, len(some), BLOCK):
                for a, b in _close_pairs(some[at : at + BLOCK], others, float(least)):
                    out.setdefault((min(id(a), id(b)), max(id(a), id(b))), (a, b))
    return list(out.values())


def _masks(condition: Condition) -> Mapping[str, Any]:
    assert isinstance(condition.region, Box)
    return condition.region.masks


def _close_pairs(
    some: Sequence[Condition], others: Sequence[Condition], least: float
) -> list[tuple[Condition, Condition]]:
    shared = np.ones((len(some), len(others)))
    for name in sorted({name for one in (*some, *others) for name in _masks(one)}):
        left, right = ([_masks(one).get(name) for one in side] for side in (some, others))
        size = max(len(mask) for mask in (*left, *right) if mask is not None)
        a, b = (np.array([np.ones(size) if m is None else m for m in side], np.float64) for side in (left, right))
        shared *= a @ b.T / size
    p, q = (np.array([float(one.share or 0) for one in side]) for side in (some, others))
    apart = p[:, None] + q[None, :] - 2 * shared
    near = np.minimum(apart, 1 - apart) < least + 1e-9
    return [(some[i], others[j]) for i, j in zip(*map(np.ndarray.tolist, np.nonzero(near)), strict=True)
            if some[i] is not others[j]]  # fmt: skip
