"""The parts of a plan as data: which class, and its fields. What a plan may name is what the catalogue knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from murmure.catalogue import QUESTIONS, load, persisted_name
from murmure.core.domain import Domain, domain_from_dict
from murmure.core.errors import PlanRefused, shorten
from murmure.core.schema import Schema

COINS = {"truth", "yes_coin", "innocuous"}  # fields that are written as exact fractions
DOMAINS = {"Categories", "Integers", "Interval", "Decimals"}


def part_to_dict(thing: Any) -> dict[str, Any]:
    """The type's name and every field: JSON values, domains, schemas, fractions, other statistics.

    A field that goes without saying is written only where it is not at its default.
    """
    told = [f for f in fields(thing) if not (_unsaid(f) and getattr(thing, f.name) == f.default)]
    return {"type": persisted_name(thing)} | {f.name: _written(getattr(thing, f.name)) for f in told}


def _unsaid(f: Any) -> bool:
    return bool(f.metadata.get("unsaid"))


def _written(value: Any) -> Any:
    if isinstance(value, Domain | Schema):
        return value.to_dict()  # type: ignore[union-attr]
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if persisted_name(value) in QUESTIONS:
        return part_to_dict(value)
    return value


def part_from_dict(held: Any, known: Mapping[str, str], besides: tuple[str, ...] = ()) -> Any:
    """The part that was written; refuses names that are not known, and fields that are missing or too many."""
    kind = held.get("type") if isinstance(held, dict) else held
    if not isinstance(kind, str) or kind not in known or not isinstance(held, dict):
        raise PlanRefused(f"Plan refused: unknown part {shorten(kind)}; this version knows {', '.join(sorted(known))}.")
    maker = load(kind)
    arguments = {name: value for name, value in held.items() if name not in ("type", *besides)}
    wanted = {f.name for f in fields(maker) if not _unsaid(f) or f.name in arguments}
    if set(arguments) != wanted:
        raise PlanRefused(f"Plan refused: {kind} is written with {sorted(wanted)}, got {sorted(arguments)}.")
    if "domain" in wanted and not isinstance(arguments["domain"], dict):
        raise PlanRefused(f"Plan refused: the domain of {kind} is no domain: {shorten(arguments['domain'])}.")
    return maker(**{name: _read(name, value) for name, value in arguments.items()})


def _read(name: str, value: Any) -> Any:
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
