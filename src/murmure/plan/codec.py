"""Plans as JSON: of each part its class and its fields. A plan may name only what the catalogue knows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.catalogue import MECHANISMS, NOISES, QUESTIONS, RECORDS, SHARINGS, load, persisted_name
from murmure.core.domain import Domain, domain_from_dict
from murmure.core.errors import PlanRefused, shorten
from murmure.core.schema import Schema

if TYPE_CHECKING:
    from murmure.plan.plan import Plan

VERSION = 1
# What becomes of missing numbers at a curator. Before 0.6 they counted as the middle of their range.
LEFT_OUT = "left out"
SLOTS = {"murmure", "statistic", "person", "parties", "curator", "unit", "rows_per_person", "relation", "missing"}
COINS = {"truth", "yes_coin", "innocuous"}  # fields that are written as exact fractions
DOMAINS = {"Categories", "Integers", "Interval", "Decimals"}


def part_to_dict(thing: Any) -> dict[str, Any]:
    """The type's name and every field: JSON values, domains, schemas, fractions, other statistics.

    A field that was added later is left out where it has its default, so that older plans keep their digest.
    """
    written = [f for f in fields(thing) if not (_added_later(f) and getattr(thing, f.name) == f.default)]
    return {"type": persisted_name(thing)} | {f.name: _to_json(getattr(thing, f.name)) for f in written}


def _added_later(f: Any) -> bool:
    return bool(f.metadata.get("unsaid"))


def _to_json(value: Any) -> Any:
    if isinstance(value, Domain | Schema):
        return value.to_dict()  # type: ignore[union-attr]
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if persisted_name(value) in QUESTIONS:
        return part_to_dict(value)
    return value


def part_from_dict(part: Any, known: Mapping[str, str], ignored: tuple[str, ...] = ()) -> Any:
    """The part that was written; refuses names that are not known, and fields that are missing or too many."""
    kind = part.get("type") if isinstance(part, dict) else part
    if not isinstance(kind, str) or kind not in known or not isinstance(part, dict):
        raise PlanRefused(
            "Plan refused: unknown part {kind}; this version knows {known}.",
            kind=shorten(kind),
            known=", ".join(sorted(known)),
        )
    make = load(kind)
    arguments = {name: value for name, value in part.items() if name not in ("type", *ignored)}
    wanted = {f.name for f in fields(make) if not _added_later(f) or f.name in arguments}
    if set(arguments) != wanted:
        raise PlanRefused(
            "Plan refused: {kind} is written with {wanted}, got {got}.",
            kind=kind,
            wanted=sorted(wanted),
            got=sorted(arguments),
        )
    if "domain" in wanted and not isinstance(arguments["domain"], dict):
        raise PlanRefused(
            "Plan refused: the domain of {kind} is not a domain: {domain}.",
            kind=kind,
            domain=shorten(arguments["domain"]),
        )
    return make(**{name: _from_json(name, value) for name, value in arguments.items()})


def _from_json(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        kind = value.get("type")
        if kind == "Schema":
            return Schema.from_dict(value)
        if kind in QUESTIONS:
            return part_from_dict(value, QUESTIONS)
        if name == "domain" or kind in DOMAINS:
            return domain_from_dict(value)
    if isinstance(value, list):
        return _tuples(value)
    if name in COINS and isinstance(value, str):
        return Fraction(value)
    return value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


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
        raise PlanRefused("Plan refused: it has parts this version cannot read: {unknown}.", unknown=sorted(unknown))
    sharing = document.get("parties")
    parties = None if sharing is None else part_from_dict(sharing, SHARINGS)
    written = document.get("person")
    person = None if written is None else part_from_dict(written, {**MECHANISMS, **RECORDS}, ignored=("law",))
    noise = document.get("curator")
    curator = None if noise is None else part_from_dict(noise, NOISES, ignored=("law",))
    protects = {name: document[name] for name in ("unit", "rows_per_person", "relation") if name in document}
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
