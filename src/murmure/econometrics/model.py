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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from murmure.catalogue import MODELS
from murmure.core.codec import Codec
from murmure.core.schema import Schema
from murmure.core.types import Model, Statistic
from murmure.econometrics.design.design_matrix import Design
from murmure.statistics.exact.party_products import PartyOuterProducts


class OneRound(Model):
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


class ClusterErrors(Model):
    """Shared by models with a field `errors`: with "cluster", the rows of a party are one."""

    errors: str

    @property
    def party_statistic(self) -> type[Statistic] | None:
        return PartyOuterProducts if self.errors == "cluster" else None


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


CODEC = Codec("model", {"Schema": Schema.from_dict, "Design": Design.from_dict})
model_to_dict = CODEC.to_dict


def model_from_dict(raw: Any) -> Any:
    """The model of this JSON. Refuses unknown types, and missing or unknown fields."""
    return CODEC.from_dict(raw, MODELS)


def digest_of(model: Any) -> str:
    """A digest of everything that decides which questions the model asks."""
    compact = json.dumps(model_to_dict(model), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(b"murmure model\n" + compact.encode()).hexdigest()
