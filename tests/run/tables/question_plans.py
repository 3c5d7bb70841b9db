"""Every example of a mechanism at the person with a plan that it answers, and people who answer it."""

from __future__ import annotations

from typing import Any

from tests.listing import listed

import murmure as mu
from murmure.core.errors import MurmureError
from murmure.core.schema import Schema
from murmure.plan.public_coins import has_public_coins


def plans() -> dict[str, Any]:
    """Of one question and of records; a second time where the collector gives out their public coins."""
    out: dict[str, Any] = {}
    for name, person in listed("murmure.local"):
        statistics = (mu.Marginals,) if isinstance(person.domain, Schema) else (mu.Histogram, mu.Mean)
        for statistic in statistics:
            try:
                plan = mu.Plan(statistic(person.domain), person=person)
            except MurmureError:
                continue  # bounded numbers answer no statistic, and reports about shares no mean
            out[f"{name} {statistic.__name__}"] = plan
            if has_public_coins(plan):
                given = mu.Plan(plan.statistic, person=person, coins="collector")
                out[f"{name} {statistic.__name__}, coins of the collector"] = given
    return out


PLANS = plans()
QUESTIONS = {name: plan for name, plan in PLANS.items() if not plan.of_records}


def answers(plan: Any, n: int) -> Any:
    """Answers of n people; everything that the domain allows occurs."""
    domain = plan.person.domain
    if not isinstance(domain, Schema):
        return _answers(domain, n, 1)
    return {name: _answers(domain[name], n, 3 + i) for i, name in enumerate((*domain.private, *domain.open))}


def _answers(domain: Any, n: int, step: int) -> list[Any]:
    values = list(domain.numbers()) if isinstance(domain, mu.Integers | mu.Interval) else domain.labels()
    return [values[int(word % domain.size)] for word in mu.Random.seeded(step).words(n)]


def reports(plan: Any, n: int = 300, seed: int = 5) -> Any:
    return plan.report(answers(plan, n), mu.Random.seeded(seed))
