"""Estimates are those of the people, not of the order in which they came, nor of the batches they came in."""

from __future__ import annotations

import operator
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.frozen.figures import REFUSED, estimate_figures, plans_of, questions_of
from tests.listing import STATISTICS, listed
from tests.properties.drawn_rows import cut_at, few, rows_for, seeds, shuffled, sizes

import murmure as mu
from murmure.core.types import Statistic, Total
from murmure.laws.records import Records
from murmure.run.totals import total

MECHANISMS = [pytest.param(example, id=name) for name, example in listed("murmure.local")]
QUESTIONS = [pytest.param(example, id=name) for name, example in listed(*STATISTICS)]


def permuted(data: Any, order: Any) -> Any:
    """The same reports; the person who was at order[i] is now at i."""
    if not isinstance(data, Records):
        return data[order]
    if data.rows is None:
        return replace(data, parts=tuple(part[order] for part in data.parts))
    place = np.argsort(order)
    moved = [np.argsort(place[rows]) for rows in data.rows]
    rows = tuple(np.sort(place[rows]) for rows in data.rows)
    return replace(data, parts=tuple(part[m] for part, m in zip(data.parts, moved, strict=True)), rows=rows)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@few(2)
@given(n=sizes, seed=seeds)
def test_reports_in_another_order_give_the_same_figures(mechanism: Any, n: int, seed: int) -> None:
    """Estimates, variances and intervals, to the last bit."""
    for plan in questions_of(mechanism).values():
        if getattr(plan.statistic, "weights", None) is not None:
            continue
        frame = rows_for(mechanism, n, seed)
        column = next(iter(frame.values())) if isinstance(frame, dict) and not plan.of_records else frame
        reports = plan.report(column, mu.Random.seeded(seed))
        order = np.random.default_rng(seed + 1).permutation(n)
        again = replace(reports, data=permuted(reports.data, order))

        assert estimate_figures(plan.estimate(again).estimate) == estimate_figures(plan.estimate(reports).estimate)


@pytest.mark.parametrize("question", QUESTIONS)
@few(3)
@given(n=sizes, seed=seeds, at=st.integers(0, 1000))
def test_rows_in_another_order_and_in_parts_are_the_same_sum(question: Any, n: int, seed: int, at: int) -> None:
    """In the clear, and as a curator reads them: the integers of two parts add up to those of the whole."""
    frame = rows_for(question, n, seed)
    plans = [plan for name, plan in plans_of(question).items() if name in ("clear", "curator") and plan is not REFUSED]
    for plan in plans:
        whole = sum_of(plan, frame)
        apart = cut_at(frame, n, at) if adds_up(question) else [frame]

        assert same(sum_of(plan, shuffled(frame, n, seed)), whole)
        assert same(reduce(operator.add, [sum_of(plan, part) for part in apart]), whole)


def adds_up(question: Any) -> bool:
    """Whether the sum of a party is the sum over its rows; products of rows at different parties are not."""
    return type(question).party_contribution is Statistic.party_contribution


def sum_of(plan: Any, frame: Any) -> Total:
    return total(plan, frame, mu.Memory(threads=1), mu.Random.seeded(1))


def same(one: Total, other: Total) -> bool:
    return (one.n, list(one.sum)) == (other.n, list(other.sum))


def test_all_but_products_between_parties_add_up() -> None:
    """What the test above leaves out is nothing else."""
    left_out = {type(param.values[0]).__name__ for param in QUESTIONS if not adds_up(param.values[0])}

    assert left_out == {"WithinPartyProducts", "PartyOuterProducts"}
