"""Plans as JSON: of each part its class and its fields. A plan may name only what the catalogue knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from murmure.catalogue import MECHANISMS, NOISES, QUESTIONS, RECORDS, SHARINGS
from murmure.core.codec import OTHER_RELEASE, Codec
from murmure.core.domain import domain_from_dict
from murmure.core.errors import Phrase, PlanRefused, shorten
from murmure.core.schema import Schema

if TYPE_CHECKING:
    from murmure.plan.plan import Plan

VERSION = 1
# What becomes of missing numbers at a curator. Before 0.6 they counted as the middle of their range.
LEFT_OUT = "left out"
PROTECTS = ("unit", "rows_per_person", "relation")
SLOTS = {"murmure", "statistic", "person", "parties", "curator", "missing", "coins", *PROTECTS}
FRACTIONS = {"truth", "yes_coin", "innocuous"}  # fields that are written as exact fractions
DOMAINS = {"Categories", "Integers", "Interval", "Decimals", "Dates"}


READERS = {"Schema": Schema.from_dict, **dict.fromkeys(DOMAINS, domain_from_dict)}
PARTS = Codec(Phrase("part"), READERS, QUESTIONS, FRACTIONS, mappings=True, domain=domain_from_dict)
part_to_dict, part_from_dict = PARTS.to_dict, PARTS.from_dict


def plan_to_dict(plan: Plan) -> dict[str, Any]:
    """The plan as JSON values, with the integers of its laws."""
    out = {
        "murmure": VERSION,
        "statistic": part_to_dict(plan.statistic),
        "person": None,
        "parties": None,
        "curator": None,
    }
    if plan.person is not None:
        out["person"] = {**part_to_dict(plan.person), "law": plan.person.channel.integers()}
    if plan.curator is not None:
        out["curator"] = {**part_to_dict(plan.curator), "law": plan.bound.integers()}
        out["relation"] = plan.relation
    if plan.lenient:
        out["missing"] = LEFT_OUT
    if plan.parties is not None:
        out["parties"] = part_to_dict(plan.parties)
    if plan.unit != "row":  # a plan about rows is written as it always was
        out |= {"unit": plan.unit, "rows_per_person": int(plan.rows_per_person)}
    if plan.coins != "person":
        out["coins"] = plan.coins
    return out


def plan_from_dict(make: type[Plan], document: Any) -> Plan:
    """The plan that was written; refuses other versions, unknown parts, and integers that are not its own."""
    if not isinstance(document, dict) or type(document.get("murmure")) is not int or document["murmure"] != VERSION:
        if not isinstance(document, dict) or "murmure" not in document:
            raise PlanRefused("Plan refused: this JSON is not a plan.", hint="plans are written by Plan.to_json")
        got = document["murmure"]
        raise PlanRefused(
            "Plan refused: this is plan version {got}, this software reads version {version}.",
            hint="install the release of murmure that wrote it",
            got=shorten(got),
            version=VERSION,
        )
    unknown = set(document) - SLOTS
    if unknown:
        raise PlanRefused(
            "Plan refused: it has parts this version cannot read: {unknown}.",
            hint=OTHER_RELEASE,
            unknown=sorted(unknown),
        )
    sharing = document.get("parties")
    parties = None if sharing is None else part_from_dict(sharing, SHARINGS)
    written = document.get("person")
    person = None if written is None else part_from_dict(written, {**MECHANISMS, **RECORDS}, ignored=("law",))
    noise = document.get("curator")
    curator = None if noise is None else part_from_dict(noise, NOISES, ignored=("law",))
    protects = {name: document[name] for name in (*PROTECTS, "coins") if name in document}
    if document.get("coins", "collector") != "collector":  # a plan has one text: the default is not written
        raise PlanRefused(
            'Plan refused: its coins must be "collector", or left out, got {got}.',
            hint="it was written by another release, or tampered with",
            got=shorten(document["coins"]),
        )
    statistic = part_from_dict(document.get("statistic"), QUESTIONS)
    plan = make(statistic, person, parties, curator, **protects)
    if document.get("missing") != (LEFT_OUT if plan.lenient else None):
        raise PlanRefused(
            "Plan refused: it does not state that missing numbers are left out, which this version does.",
            hint="before 0.6 a missing number counted as the middle of its range: ask again, with a new plan",
        )
    laws = (written, plan.person and plan.person.channel), (noise, plan.curator and plan.bound)
    if any(part is not None and part["law"] != json.loads(json.dumps(law.integers())) for part, law in laws):
        raise PlanRefused(
            "Plan refused: its integers are not those of the mechanism it names.",
            hint="it was written by another release, or tampered with",
        )
    return plan
