"""A model is data, and a generator of questions: the next question follows from the sums that were released.

    crossed = yield CrossProducts(...)      one round: a statistic goes out, its estimate comes back
    return Regression(...)                  the end

The coordinator and each party run the same generator on the same sums, and must arrive at the same next question. So it
is decided by exact numbers: integers, fractions, decimals of a stated length. The last bits of floats differ from
machine to machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping
from dataclasses import Field, dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from murmure.catalogue import MODELS, load, persisted_name
from murmure.core.errors import PlanRefused, shorten
from murmure.core.schema import Schema
from murmure.core.types import Statistic
from murmure.econometrics.design.design_matrix import Design

if TYPE_CHECKING:
    from murmure.econometrics.results.result import ModelResult

# Metadata of a field that was added later. Its default is left out of the JSON, so that older models keep their
# digests.
OMIT_IF_DEFAULT = {"unsaid": True}


class Model(Protocol):
    """What every model has."""

    @property
    def noise_refusal(self) -> str | None: ...  # why noise cannot protect it; None if it can
    @property
    def domain(self) -> Schema: ...  # the columns that it reads
    @property
    def rounds(self) -> int: ...  # how many questions it asks at most
    def steps(self) -> Generator[Statistic, Any, ModelResult]: ...
    def in_words(self) -> tuple[str, str]: ...  # English and French, for those who approve a study


class OneRound:
    """Shared by models that ask one question, which noise may protect."""

    noise_refusal: ClassVar[str | None] = None
    rounds: ClassVar[int] = 1


class OneQuestion(OneRound):
    """Shared by models whose question `_asks` says which columns are read.

    Apart from OneRound, since a dataclass would take this property for the default of a field `domain`.
    """

    _asks: Any

    @property
    def domain(self) -> Schema:
        return self._asks.domain  # type: ignore[no-any-return]


class NoRows:
    """In place of a table, for `ask` to return the model itself: `ols("y ~ x", NO_ROWS, schema=schema)` is an OLS.

    A study holds models and no rows. Its file is read by the public functions, so it takes their keywords with their
    defaults and checks, and no second list of them can differ. A schema must be given, since there is no table to read.
    """

    def __repr__(self) -> str:
        return "NO_ROWS"


NO_ROWS = NoRows()


@dataclass(frozen=True)
class Example:
    """A model and some rows, for the tests of all models."""

    model: Any
    rows: Mapping[str, list[Any]]


def model_to_dict(model: Any) -> dict[str, Any]:
    """The persisted name of the type, and every field, for JSON."""
    values = {f.name: getattr(model, f.name) for f in fields(model) if not _is_omitted(f, getattr(model, f.name))}
    return {"type": persisted_name(model)} | {name: _encode(value) for name, value in values.items()}


def _is_omitted(f: Field[Any], value: Any) -> bool:
    return "unsaid" in f.metadata and value == f.default


def _encode(value: Any) -> Any:
    if isinstance(value, Design | Schema):
        return value.to_dict()
    if isinstance(value, Fraction):
        return {"type": "Fraction", "value": f"{value.numerator}/{value.denominator}"}
    if isinstance(value, tuple | list):
        return [_encode(part) for part in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise PlanRefused(
        "this model cannot be saved: it holds {kind}.",
        hint="your own functions run only locally; studies take models by name",
        kind=type(value).__name__,
    )


def model_from_dict(raw: Any) -> Any:
    """The model of this JSON. Refuses unknown types, and missing or unknown fields."""
    kind = raw.get("type") if isinstance(raw, Mapping) else raw
    if not isinstance(kind, str) or kind not in MODELS:
        raise PlanRefused(
            "Plan refused: unknown model {kind}; this version knows {models}.",
            kind=shorten(kind),
            models=", ".join(MODELS),
        )
    maker = load(kind)
    wanted = {f.name for f in fields(maker) if "unsaid" not in f.metadata or f.name in raw}
    defaulted = [f.name for f in fields(maker) if f.name in raw and _is_omitted(f, raw[f.name])]
    if defaulted:  # a model has only one JSON, and so only one digest
        raise PlanRefused(
            "Plan refused: {kind}.{defaulted} has its default value: leave it out.",
            kind=kind,
            defaulted=defaulted[0],
        )
    if set(raw) - {"type"} != wanted:
        raise PlanRefused(
            "Plan refused: {kind} is written with {wanted}, got {got}.",
            kind=kind,
            wanted=sorted(wanted),
            got=sorted(set(raw) - {"type"}),
        )
    return maker(**{name: _decode(value) for name, value in raw.items() if name != "type"})


def _decode(value: Any) -> Any:
    if isinstance(value, Mapping):
        kind = value.get("type")
        if kind == "Schema":
            return Schema.from_dict(value)
        if kind == "Design":
            return Design.from_dict(value)
        if kind == "Fraction":
            return Fraction(value["value"])
        raise PlanRefused("Plan refused: a model holds {kind}, which this version does not know.", kind=shorten(kind))
    return tuple(map(_decode, value)) if isinstance(value, list) else value


def digest_of(model: Any) -> str:
    """A digest of everything that decides which questions the model asks."""
    compact = json.dumps(model_to_dict(model), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(b"murmure model\n" + compact.encode()).hexdigest()
