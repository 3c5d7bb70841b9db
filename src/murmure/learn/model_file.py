"""A learner that has learned, as data: JSON in, JSON out. No pickle: reading a model runs nothing that is in it.

What is written is what was released: parameters, schema, learned attributes, guarantees. Not written: what only exists
in the clear and names every row (labels), noisy answers (the ledger keeps them), generators and engines.

A file may come from anybody. It is read within bounds, and tried on one row of its own schema; whatever does not fit is
an InvalidParameter. Guarantees are what the file says: its author vouches for them, and nothing here can check.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from murmure import learn
from murmure.core.blocks import Cost
from murmure.core.domain import Categories, Domain
from murmure.core.errors import CannotWrite, InvalidParameter, Phrase, shorten
from murmure.core.files import all_or_nothing, refuse_to_replace
from murmure.core.schema import Schema
from murmure.core.types import Certificate, NumberDomain
from murmure.learn.base import EXECUTION_PARAMETERS, Learner
from murmure.plan.codec import PARTS
from murmure.statistics.conditions.minimum_cell import MINIMUM_CELL

VERSION = 1
PRIVACY = ("Clear", "Central", "Secure", "Local")
LATER_RULES = {"rows_are_public": False, "minimum_cell": MINIMUM_CELL}  # of Secure, which models of 0.5 do not name
MAX_MODEL_BYTES = 1 << 26  # of a file
MAX_ARRAY_CELLS = 1 << 22  # of an array, of its text, and of the labels of a schema
MODEL_MARK = b'"murmure-model"'
ARRAY_TYPES: dict[str, Any] = {
    "f": np.float64,
    "i": np.int64,
    "u": np.uint64,
    "b": np.bool_,
    "U": np.str_,
    "O": np.object_,
}
NOT_SAVED = {"labels_", "answers_", "guarantees_", "spent_", "plans_", "schema_", "seeded_", "charge_"}


def save_model(learner: Learner, path: str | os.PathLike[str]) -> Path:
    """A fitted learner as a JSON file, all of it or nothing. It holds what was released, and so costs nothing.

    Of a learner in the clear these are exact figures of real people, which nothing protects.
    The name ends in .json. An earlier model is replaced; any other file is refused.
    """
    path = Path(path)
    if not isinstance(learner, Learner):
        raise InvalidParameter("save_model takes a learner, got {got}.", got=shorten(type(learner).__name__))
    if path.suffix.lower() != ".json":
        raise CannotWrite("the name of a model file must end in .json, got {got!r}.", hint="model.json", got=path.name)
    text = json.dumps(learner_to_dict(learner), indent=1, allow_nan=False) + "\n"
    refuse_to_replace(path, lambda start: MODEL_MARK in start, Phrase("a model"))
    with all_or_nothing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def load_model(path: str | os.PathLike[str]) -> Learner:
    """The learner of a file that `save_model` or `murmure train` wrote: it predicts as it did, and shows its summary.

    Whatever else the file may be is an InvalidParameter. Nothing that it holds is run.
    """
    what = repr(str(path))
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MAX_MODEL_BYTES + 1)  # one byte more shows that a file is too long
        text = raw.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror or str(error)).lower() if isinstance(error, OSError) else Phrase("it is not text")
        raise InvalidParameter(
            "cannot read the model {what}: {why}.", hint="save_model writes one", what=what, why=why
        ) from None
    if len(raw) > MAX_MODEL_BYTES:
        raise InvalidParameter(
            "{what} is not a model: it has more than {max_model_bytes:_} bytes.",
            what=what,
            max_model_bytes=MAX_MODEL_BYTES,
        )
    return learner_from_json(text, what)


def learner_to_dict(learner: Learner) -> dict[str, Any]:
    """All of a fitted learner that predictions need, and what it cost."""
    learner._require_fitted()
    parameters = {
        n: v for n, v in learner.get_params(deep=False).items() if n not in (*EXECUTION_PARAMETERS, "schema", "privacy")
    }
    learned = {n: v for n, v in vars(learner).items() if n.endswith("_") and n not in NOT_SAVED}
    guarantees: Mapping[str, Certificate] = getattr(learner, "guarantees_", {})
    spent = getattr(learner, "spent_", None)
    return {
        "murmure-model": VERSION,
        "learner": type(learner).__name__,
        "parameters": {name: _to_json(value) for name, value in parameters.items()},
        "privacy": PARTS.to_dict(learner.privacy),
        "schema": learner.schema_.to_dict(),
        "learned": {name: _to_json(value) for name, value in learned.items()},
        "guarantees": {observer: c.to_dict() for observer, c in guarantees.items()},
        "spent": None
        if spent is None
        else {"epsilon": _number_to_json(spent.epsilon), "rho": _number_to_json(spent.rho)},
        "plans": list(getattr(learner, "plans_", ())),
        "seeded": bool(getattr(learner, "seeded_", False)),
    }


def learner_from_dict(document: Any, what: str = "this") -> Learner:
    """The learner again: it predicts as it did."""
    version = document.get("murmure-model") if isinstance(document, dict) else None
    if version != VERSION or isinstance(version, bool):
        raise InvalidParameter(
            "{what} is not a model that this version can read (murmure-model = {version}).",
            hint="save_model and murmure train write models",
            what=what,
            version=shorten(version),
        )
    try:
        name = document["learner"]
        if not isinstance(name, str) or name not in learn.LEARNERS:
            raise InvalidParameter("{what} holds an unknown learner {name}.", what=what, name=shorten(name))
        if {*EXECUTION_PARAMETERS, "schema", "privacy"} & document["parameters"].keys():
            raise KeyError("parameters")
        learner: Learner = getattr(learn, name)(**{n: _from_json(v) for n, v in document["parameters"].items()})
        later = LATER_RULES if document["privacy"]["type"] == "Secure" else {}
        learner.privacy = PARTS.from_dict({**later, **document["privacy"]}, PRIVACY)
        learner.schema = learner.schema_ = _parse_schema(document["schema"])
        for attribute, value in document["learned"].items():
            if not attribute.endswith("_") or attribute.startswith("_") or attribute in NOT_SAVED:
                raise KeyError(attribute)
            setattr(learner, attribute, _from_json(value))
        _set_costs(learner, document)
        _try_out(learner)
    except (Exception, MemoryError) as error:  # whatever a hostile file makes of our own code, it is the file's fault
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(
            "{what} is a damaged model ({kind}).", hint="train it again", what=what, kind=type(error).__name__
        ) from None
    return learner


def _parse_schema(document: Any) -> Schema:
    schema = Schema.from_dict(document)
    if sum(schema[name].size for name in schema if isinstance(schema[name], Categories)) > MAX_ARRAY_CELLS:
        raise ValueError("labels")
    return schema


def _set_costs(learner: Any, document: dict[str, Any]) -> None:
    """What it cost, according to the file; observers that share a certificate share it again."""
    known: dict[str, Certificate] = {}
    learner.guarantees_ = {
        observer: known.setdefault(json.dumps(c, sort_keys=True), _parse_certificate(c))
        for observer, c in document["guarantees"].items()
    }
    spent = document["spent"]
    learner.spent_ = None if spent is None else Cost(_from_json(spent["epsilon"]), _from_json(spent["rho"]))
    learner.plans_ = tuple(map(_check_text, document["plans"]))
    if not isinstance(document["seeded"], bool):
        raise TypeError("seeded")
    learner.seeded_ = document["seeded"]


def _parse_certificate(fields: dict[str, Any]) -> Certificate:
    if fields["relation"] not in ("add/remove", "replace") or fields["unit"] not in ("record", "attribute"):
        raise ValueError("certificate")
    return Certificate(
        epsilon=math.inf if fields["epsilon"] == "inf" else float(fields["epsilon"]),
        delta=float(fields["delta"]),
        relation=fields["relation"],
        unit=fields["unit"],
        public=tuple(map(_check_text, fields["public"])),
        method=_check_text(fields["method"]),
        assumption=None if fields["assumption"] is None else _check_text(fields["assumption"]),
        hides=None if fields.get("hides") is None else _check_text(fields["hides"]),
    )


def _check_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _try_out(learner: Any) -> None:
    """One row of its schema is predicted, and the summary made: shapes and types that do not fit show here."""
    with np.errstate(all="ignore"):
        learner.predict(
            {name: [_first_value(learner.schema_[name])] for name in learner.schema_.private if name != learner._target}
        )
        learner.summary()


def _first_value(domain: Domain) -> Any:
    if isinstance(domain, Categories):
        return 0 if isinstance(domain.values, int) else domain.values[0]
    assert isinstance(domain, NumberDomain)
    return float(domain.low)


def learner_from_json(text: str, what: str = "this") -> Learner:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidParameter(
            "{what} is not JSON.", hint="save_model and murmure train write models", what=what
        ) from None
    return learner_from_dict(document, what)


def _number_to_json(value: float) -> Any:
    return value if math.isfinite(value) else {"float": str(value)}


def _to_json(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"array": [_to_json(v) for v in value.tolist()], "type": value.dtype.kind}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _number_to_json(value)
    if isinstance(value, tuple | list):
        return {"tuple" if isinstance(value, tuple) else "list": [_to_json(v) for v in value]}
    if isinstance(value, Mapping):
        return {"map": {str(k): _to_json(v) for k, v in value.items()}}
    if is_dataclass(value) or not (value is None or isinstance(value, bool | int | str)):
        return None  # an estimate, a law: read again from the ledger
    return value


def _from_json(value: Any) -> Any:
    if isinstance(value, list):  # within an array
        return [_from_json(v) for v in value]
    if not isinstance(value, dict):
        return value
    ((kind, content), *rest) = value.items()
    if kind == "float":
        return float(content)
    if kind == "array":
        return _make_array(_from_json(content), ARRAY_TYPES[rest[0][1]])
    if kind == "map":
        return {k: _from_json(v) for k, v in content.items()}
    parts = [_from_json(v) for v in content]
    return tuple(parts) if kind == "tuple" else parts


def _make_array(cells: Any, kind: Any) -> Any:
    """Within bounds before it is made: one long text would make every cell of an array as long."""
    # As objects first: NumPy would allocate the widest text for every cell before the size could be checked.
    flat = np.array(cells, object)
    if any(isinstance(cell, list | tuple | dict) for cell in flat.flat):
        raise ValueError("ragged")
    longest = max((len(str(cell)) for cell in flat.flat), default=1) if kind is np.str_ else 1
    if flat.size * max(1, longest) > MAX_ARRAY_CELLS:
        raise ValueError("array")
    if kind in (np.float64, np.int64, np.uint64, np.bool_) and any(isinstance(cell, str) for cell in flat.flat):
        raise TypeError("a text is no number")
    return flat.astype(kind)
