"""What each observer of a plan can learn about one person, at most: a certificate for each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from murmure.certify.certificate import certify
from murmure.core.errors import Plural
from murmure.core.types import Certificate, Observer, Unit
from murmure.core.zcdp import epsilon_from_rho

if TYPE_CHECKING:
    from murmure.plan.plan import Plan

# Where nobody named a delta, a certificate reports the epsilon that rho amounts to at this one.
REPORTED_DELTA = 1e-6


def guarantees(plan: Plan) -> Mapping[Observer, Certificate]:
    """What each observer can learn about one person, at most."""
    if plan.parties is not None:
        return _between_parties(plan)
    if plan.curator is not None:
        return {"curator": _unprotected(plan, "the curator sees every row"), "reader": _at_curator(plan)}
    if plan.person is None:
        nothing = _unprotected(plan, "nothing is randomised")
        return {"collector": nothing, "reader": nothing}
    certificate = _at_person(plan, "record")
    out = {"collector": certificate, "reader": certificate}
    if plan.of_records:
        out["either, about one attribute"] = _at_person(plan, "attribute")
    return out


def _between_parties(plan: Plan) -> Mapping[Observer, Certificate]:
    """The coordinator sees masks. Those who read the sum, and those who collude, see what the sum tells."""
    if plan.curator is not None:
        released = _at_curator(plan)
        honest = f"at least {plan.parties.honest} parties are honest, stay, and add their share of the noise"
        released = replace(
            released, assumption=honest if released.assumption is None else f"{released.assumption}; {honest}"
        )
    elif plan.person is not None:
        released = _at_person(plan, "record")
    else:
        released = _unprotected(plan, "the sum is exact")
    masked = certify(plan.parties)
    provided = "; ".join(text for text in (released.assumption, masked.assumption) if text)
    masked_view = replace(released, hides=masked.hides, assumption=provided)
    out = {
        "coordinator": masked_view,
        Plural("{n} colluding party", "{n} colluding parties", n=plan.parties.colluders): masked_view,
        "reader": released,
    }
    if plan.person is not None and plan.of_records:
        out["each, about one attribute"] = _at_person(plan, "attribute")
    return out


def _unprotected(plan: Plan, method: str) -> Certificate:
    return Certificate(math.inf, 0.0, "replace", "record", (plan.statistic.domain.public(),), method)


def _at_curator(plan: Plan) -> Certificate:
    bound, epsilon, delta, method = plan.bound, plan.bound.epsilon, plan.bound.delta, plan.bound.method
    if math.isinf(epsilon) and math.isfinite(bound.cost.rho):
        delta = REPORTED_DELTA
        epsilon = epsilon_from_rho(bound.cost.rho, delta)
        method = f"{method}; rho = {bound.cost.rho:.6g} (zero-concentrated), said at delta = {delta:g}"
    public = [plan.statistic.domain.public(), "the noise and its integers"]
    if bound.relation == "replace":
        public.append("how many rows there are")
    return Certificate(
        epsilon=epsilon,
        delta=delta,
        relation=bound.relation,
        unit="record",
        public=tuple(public),
        method=method,
        assumption=None
        if plan.unit == "row"
        else f"column {plan.unit} tells people apart; of one person "
        f"{plan.rows_per_person} rows are read, and others are left out"
        if plan.parties is None
        else f"column {plan.unit} tells people apart, nobody has more than {plan.rows_per_person} rows, and all "
        "rows of one person lie at one party",
        asked=plan.curator.epsilon,
    )


def _at_person(plan: Plan, unit: Unit) -> Certificate:
    """For one person: of one row, or of as many as were declared."""
    rows = 1 if plan.unit == "row" else int(plan.rows_per_person)
    certificate, provided = certify(plan.person, unit, rows), []
    if plan.unit != "row":
        provided.append(f"column {plan.unit} tells people apart, and nobody has more than {rows} rows")
    if plan.drops:
        provided.append("a row that is left out shows that it held a value outside the public domain")
    assumptions = [text for text in (certificate.assumption, *provided) if text]
    return replace(certificate, assumption="; ".join(assumptions) or None)
