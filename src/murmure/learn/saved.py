"""A learner that has learned, as data: JSON in, JSON out. No pickle: reading a model runs nothing.

What is written is what was released: parameters, schema, learned attributes, guarantees. Not written: what only exists
in the clear and names every row (labels), noisy answers (the ledger keeps them), generators and engines.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.core.types import Certificate
from murmure.learn import LEARNERS
from murmure.learn import __getattr__ as learner_named
from murmure.learn.base import HOW, Learner
from murmure.learn.privacy import Central, Clear, Local

VERSION = 1
PRIVACY = {"Clear": Clear, "Central": Central, "Local": Local}
LEFT_OUT = {"labels_", "answers_", "guarantees_", "spent_", "plans_", "schema_", "seeded_"}


def model_to_dict(learner: Learner) -> dict[str, Any]:
    """All of a fitted learner that predictions need, and what it cost."""
    learner._require_fitted()
    parameters = {n: v for n, v in learner.get_params(deep=False).items() if n not in (*HOW, "schema", "privacy")}
    learned = {n: v for n, v in vars(learner).items() if n.endswith("_") and n not in LEFT_OUT}
    guarantees: Mapping[str, Certificate] = getattr(learner, "guarantees_", {})
    spent = getattr(learner, "spent_", None)
    return {
        "murmure-model": VERSION,
        "learner": type(learner).__name__,
        "parameters": {name: _written(value) for name, value in parameters.items()},
        "privacy": {"type": type(learner.privacy).__name__, **asdict(learner.privacy)},
        "schema": learner.schema_.to_dict(),
        "learned": {name: _written(value) for name, value in learned.items()},
        "guarantees": {observer: c.to_dict() for observer, c in guarantees.items()},
        "spent": None if spent is None else {"epsilon": _number(spent.epsilon), "rho": _number(spent.rho)},
        "plans": list(getattr(learner, "plans_", ())),
        "seeded": bool(getattr(learner, "seeded_", False)),
    }


def model_from_dict(held: Any, what: str = "this") -> Learner:
    """The learner again: it predicts as it did. Its guarantees stay in the file, as text."""
    version = held.get("murmure-model") if isinstance(held, dict) else None
    if version != VERSION:
        raise InvalidParameter(
            f"{what} is no model that this version can read (murmure-model = {shorten(version)}).",
            hint="murmure train writes models",
        )
    try:
        name, privacy = held["learner"], dict(held["privacy"])
        if name not in LEARNERS:
            raise InvalidParameter(f"{what} holds an unknown learner {shorten(name)}.")
        made = learner_named(name)(**{n: _read(v) for n, v in held["parameters"].items()})
        made.privacy = PRIVACY[privacy.pop("type")](**privacy)
        made.schema = made.schema_ = Schema.from_dict(held["schema"])
        for attribute, value in held["learned"].items():
            if not attribute.endswith("_") or attribute.startswith("_"):
                raise KeyError(attribute)
            setattr(made, attribute, _read(value))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(f"{what} is a damaged model ({type(error).__name__}).", hint="train it again") from None
    return made  # type: ignore[no-any-return]


def model_from_json(text: str, what: str = "this") -> Learner:
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidParameter(f"{what} is not JSON.", hint="murmure train writes models") from None
    return model_from_dict(held, what)


def _number(value: float) -> Any:
    return value if math.isfinite(value) else {"float": str(value)}


def _written(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"array": [_written(v) for v in value.tolist()], "type": value.dtype.kind}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, tuple | list):
        return {"tuple" if isinstance(value, tuple) else "list": [_written(v) for v in value]}
    if isinstance(value, Mapping):
        return {"map": {str(k): _written(v) for k, v in value.items()}}
    if is_dataclass(value) or not (value is None or isinstance(value, bool | int | str)):
        return None  # an estimate, a law: read again from the ledger
    return value


def _read(value: Any) -> Any:
    if isinstance(value, list):  # within an array
        return [_read(v) for v in value]
    if not isinstance(value, dict):
        return value
    ((kind, held), *rest) = value.items()
    if kind == "float":
        return float(held)
    if kind == "array":
        kinds = {"f": np.float64, "i": np.int64, "u": np.uint64, "b": np.bool_, "U": np.str_}
        return np.array(_read_nested(held), kinds.get(rest[0][1], object))
    if kind == "map":
        return {k: _read(v) for k, v in held.items()}
    parts = [_read(v) for v in held]
    return tuple(parts) if kind == "tuple" else parts


def _read_nested(value: Any) -> Any:
    """tolist() nests lists, which are written as lists of lists."""
    if isinstance(value, dict) and "list" in value:
        return [_read_nested(v) for v in value["list"]]
    if isinstance(value, list):
        return [_read_nested(v) for v in value]
    return _read(value)
