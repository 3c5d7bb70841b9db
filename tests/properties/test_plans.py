"""A plan is its JSON: whatever its labels, its bounds and its epsilon, it comes back with the same integers."""

from __future__ import annotations

import json
import pickle
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.frozen.figures import REFUSED, plans_of, tried
from tests.listing import STATISTICS, listed
from tests.properties.drawn_rows import few

import murmure as mu

epsilons = st.floats(0.01, 10.0)
labels = st.one_of(
    st.lists(st.text(max_size=20), min_size=2, max_size=12, unique=True),
    st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=12, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=12, unique=True),
    st.lists(st.booleans(), min_size=2, max_size=2, unique=True),
)
days = st.dates(date(1900, 1, 1), date(2100, 1, 1))


@st.composite
def numbers(draw: Any) -> Any:
    """A domain of numbers or days, with bounds that nobody chose."""
    low, count = draw(st.integers(-(10**6), 10**6)), draw(st.integers(1, 1000))
    first = draw(days)
    places = draw(st.integers(1, 6))
    kinds = [
        lambda: mu.Integers(low, low + count),
        lambda: mu.Interval(low / 7, low / 7 + draw(st.floats(1e-3, 1e6)), cells=count + 1),
        lambda: mu.Decimals(*(str(Decimal(end).scaleb(-places)) for end in (low, low + count)), places=places),
        lambda: mu.Dates(first.isoformat(), date.fromordinal(first.toordinal() + count).isoformat()),
    ]
    return draw(st.sampled_from(kinds))()


def comes_back(plan: mu.Plan) -> None:
    """From its text, from a text with other spaces, from a pickle: equal, of one digest, with the same law."""
    text = plan.to_json()
    spaced = json.dumps(json.loads(text), indent=3)
    for again in (mu.Plan.from_json(text), mu.Plan.from_json(spaced), pickle.loads(pickle.dumps(plan))):
        assert (again, again.digest, again.to_json()) == (plan, plan.digest, text)
        if plan.person is not None:
            assert again.person.channel.integers() == plan.person.channel.integers()


@few(60)
@given(values=labels, epsilon=epsilons)
def test_plans_with_any_labels(values: list[Any], epsilon: float) -> None:
    domain = tried(lambda: mu.Categories(values))
    assume(domain is not REFUSED)  # two texts that are read as one answer, for example

    comes_back(mu.Plan(mu.Histogram(domain), person=mu.GRR(domain, epsilon)))
    again = mu.Plan.from_json(mu.Plan(mu.Histogram(domain)).to_json()).statistic.domain
    assert again.encode(values).tolist() == list(range(len(values)))


@few(60)
@given(domain=numbers(), epsilon=epsilons)
def test_plans_with_any_bounds(domain: Any, epsilon: float) -> None:
    ask = mu.Histogram if isinstance(domain, mu.Dates) else mu.Mean  # dates have no mean
    person = (mu.GRR if isinstance(domain, mu.Dates) else mu.Duchi)(domain, epsilon)
    for parts in ({}, {"person": person}, {"curator": mu.DiscreteLaplace(epsilon)}):
        comes_back(mu.Plan(ask(domain), **parts))


@pytest.mark.parametrize("question", [pytest.param(q, id=name) for name, q in listed(*STATISTICS)])
def test_plans_of_every_question(question: Any) -> None:
    """In the clear, with noise at the curator under both relations, and between parties, as far as it can be asked."""
    plans = [plan for plan in plans_of(question).values() if plan is not REFUSED]

    assert plans
    for plan in plans:
        comes_back(plan)
