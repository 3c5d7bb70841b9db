"""What is asked of the reports in a table: the plan that drew them, with another statistic."""

from __future__ import annotations

from typing import Any

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.types import Statistic
from murmure.plan.plan import Plan


def asked_plan(plan: Plan, statistic: Any) -> Plan:
    """The same reports, asked for another statistic; None: for that of the plan."""
    if statistic is None:
        return plan
    unit, rows = plan.unit, plan.rows_per_person
    return Plan(statistic, person=plan.person, unit=unit, rows_per_person=rows, coins=plan.coins)


def asked_plans(plan: Plan, asked: Any) -> tuple[Plan, ...]:
    """One for each statistic: True is that of the plan, False none. What cannot be estimated is refused here."""
    if asked is True or asked is False:
        statistics: list[Any] = [None] * asked
    else:
        statistics = list(asked) if isinstance(asked, list | tuple) else [asked]
        for statistic in statistics:
            if not isinstance(statistic, Statistic):
                raise InvalidParameter(
                    "sanitise.estimate must be True, a statistic or several, got {got}.",
                    hint="estimate=True for every column; estimate=[Marginals(schema), Pair(schema, a, b)]",
                    got=shorten(statistic),
                )
    plans = tuple(asked_plan(plan, statistic) for statistic in statistics)
    for one in plans:
        _ = one.tallier  # refused before a row is read
    return plans
