"""What each observer of a plan can learn about one person, at most: a certificate for each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from murmure.certify.certificate import certify
from murmure.core.errors import Phrase, Plural
from murmure.core.types import Certificate, Observer, Unit
from murmure.core.zcdp import epsilon_from_rho
from murmure.show.phrase import apart

if TYPE_CHECKING:
    from murmure.plan.plan import Plan

# Where nobody named a delta, a certificate reports the epsilon that rho amounts to at this one.
REPORTED_DELTA = 1e-6
CURATOR, COLLECTOR, READER = Phrase("curator"), Phrase("collector"), Phrase("reader")
LEFT_OUT_SHOWS = Phrase("a row that is left out shows that it held a value outside the public domain")


def guarantees(plan: Plan) -> Mapping[Observer, Certificate]:
    """What each observer can learn about one person, at most."""
    if plan.parties is not None:
        return _between_parties(plan)
    if plan.curator is not None:
        return {CURATOR: _unprotected(plan, Phrase("the curator sees every row")), READER: _at_curator(plan)}
    if plan.person is None:
        nothing = _unprotected(plan, Phrase("nothing is randomised"))
        return {COLLECTOR: nothing, READER: nothing}
    certificate = _at_person(plan, "record")
    out: dict[str, Certificate] = {COLLECTOR: certificate, READER: certificate}
    if plan.of_records:
        out[Phrase("either, about one attribute")] = _at_person(plan, "attribute")
    return out


def _between_parties(plan: Plan) -> Mapping[Observer, Certificate]:
    """The coordinator sees masks. Those who read the sum, and those who collude, see what the sum tells."""
    if plan.curator is not None:
        released = _at_curator(plan)
        honest = Phrase(
            "at least {honest} parties are honest, stay, and add their share of the noise", honest=plan.parties.honest
        )
        released = replace(released, assumption=_together(released.assumption, honest))
    elif plan.person is not None:
        released = _at_person(plan, "record")
    else:
        released = _unprotected(plan, Phrase("the sum is exact"))
    masked = certify(plan.parties)
    provided = _together(released.assumption, masked.assumption)
    masked_view = replace(released, hides=masked.hides, assumption=provided)
    out: dict[str, Certificate] = {
        Phrase("coordinator"): masked_view,
        Plural("{n} colluding party", "{n} colluding parties", n=plan.parties.colluders): masked_view,
        READER: released,
    }
    if plan.person is not None and plan.of_records:
        out[Phrase("each, about one attribute")] = _at_person(plan, "attribute")
    return out


def _unprotected(plan: Plan, method: str) -> Certificate:
    return Certificate(math.inf, 0.0, "replace", "record", (plan.statistic.domain.public(),), method)


def _at_curator(plan: Plan) -> Certificate:
    bound, epsilon, delta, method = plan.bound, plan.bound.epsilon, plan.bound.delta, plan.bound.method
    if math.isinf(epsilon) and math.isfinite(bound.cost.rho):
        delta = REPORTED_DELTA
        epsilon = epsilon_from_rho(bound.cost.rho, delta)
        method = Phrase(
            "{method}; rho = {rho:.6g} (zero-concentrated), said at delta = {delta:g}",
            method=method,
            rho=bound.cost.rho,
            delta=delta,
        )
    public = [plan.statistic.domain.public(), Phrase("the noise and its integers")]
    if bound.relation == "replace":
        public.append(Phrase("how many rows there are"))
    return Certificate(
        epsilon=epsilon,
        delta=delta,
        relation=bound.relation,
        unit="record",
        public=tuple(public),
        method=method,
        assumption=_people_of_rows(plan),
        asked=plan.curator.epsilon,
    )


def _people_of_rows(plan: Plan) -> str | None:
    """What a guarantee about people, and not rows, rests on."""
    if plan.unit == "row":
        return None
    return Phrase(
        "column {unit} tells people apart; of one person {rows} rows are read, and others are left out"
        if plan.parties is None
        else "column {unit} tells people apart, nobody has more than {rows} rows, and all rows of one person lie at "
        "one party",
        unit=plan.unit,
        rows=int(plan.rows_per_person),
    )


def _together(*texts: str | None) -> str | None:
    given = [text for text in texts if text]
    return apart(given) if given else None


def _at_person(plan: Plan, unit: Unit) -> Certificate:
    """For one person: of one row, or of as many as were declared."""
    rows = 1 if plan.unit == "row" else int(plan.rows_per_person)
    certificate, provided = certify(plan.person, unit, rows), []
    if plan.unit != "row":
        provided.append(
            Phrase("column {unit} tells people apart, and nobody has more than {rows} rows", unit=plan.unit, rows=rows)
        )
    if plan.drops:
        provided.append(LEFT_OUT_SHOWS)
    return replace(certificate, assumption=_together(certificate.assumption, *provided))
