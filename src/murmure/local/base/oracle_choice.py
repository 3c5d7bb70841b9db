"""Which mechanism each attribute of a record gets: named, one for all or one each, or chosen by exact variance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from murmure.catalogue import entries, load
from murmure.core.catalogue_entries import MechanismEntry
from murmure.core.domain import Domain
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates.column_estimates import by_mean
from murmure.core.fixed import MIN_EPSILON
from murmure.core.schema import Schema
from murmure.core.types import NumberDomain
from murmure.local.base.record_mechanism import check_weights

Criterion = Literal["variance", "varstar"]
Oracle = str | tuple[str, ...]

# The mechanisms that a column of a record can have, by what their reports estimate.
ENTRIES = entries(MechanismEntry)
SHARE_ORACLES = tuple(name for name, entry in ENTRIES.items() if entry.oracle == "shares")
MEAN_ORACLES = tuple(name for name, entry in ENTRIES.items() if entry.oracle == "mean")
NUMERIC = (*MEAN_ORACLES, *(name for name, entry in ENTRIES.items() if entry.oracle == "column"))
ADAPTIVE = tuple(name for name, entry in ENTRIES.items() if entry.adaptive)
SQUARE_ORACLES = tuple(name for name, entry in ENTRIES.items() if entry.tells_squares)
LISTING = tuple(name for name, entry in ENTRIES.items() if entry.lists_values)  # reports list what they support


def least_variance(candidates: Sequence[Any], by: Criterion) -> Any:
    """The candidate with the least exact variance, averaged over values.

    The variance is a straight line in the shares, so its mean over k values is its value at 1/k. The papers choose by
    Var*, the variance at share 0.
    """
    if by not in ("variance", "varstar"):
        raise InvalidParameter('the oracle is chosen by "variance" or by "varstar", got {got}.', got=shorten(by))
    return min(candidates, key=lambda m: float(m.variance(0.0 if by == "varstar" else 1 / m.domain.size, 1)))


def check_oracle(owner: object, oracle: Any, schema: Schema, allowed: Sequence[str]) -> Oracle:
    """One name for all columns, or a tuple with one each (also from a list, or a mapping of some columns)."""
    name = type(owner).__name__
    if isinstance(oracle, Mapping):
        oracle = [oracle.get(column, "adaptive") for column in schema.private]
    if isinstance(oracle, list | tuple):
        oracle = tuple(oracle)
        if len(oracle) != len(schema.private):
            raise InvalidParameter(
                "{name}.oracle must be one name, or one for each of {private_count} columns, got {got}.",
                hint="columns in order: {private}",
                name=name,
                private_count=len(schema.private),
                got=len(oracle),
                private=", ".join(schema.private),
            )
    for choice in oracle if isinstance(oracle, tuple) else (oracle,):
        if choice not in allowed:
            raise InvalidParameter(
                "{name}.oracle must be one of {allowed}, got {got}.",
                hint='"adaptive" takes the one with the least exact variance for each column',
                name=name,
                allowed=", ".join(allowed),
                got=shorten(choice),
            )
    return oracle  # type: ignore[no-any-return]


def check_smallest_share(owner: object, epsilons: Sequence[float]) -> None:
    """Refuse a budget whose shares are too small for any mechanism, with an error that names the owner's epsilon."""
    if min(epsilons) < MIN_EPSILON:
        raise InvalidParameter(
            "{kind}.epsilon leaves {epsilons:.3g} for a column, below {min_epsilon:g}.",
            hint="a larger epsilon, fewer columns, or more even weights",
            kind=type(owner).__name__,
            epsilons=min(epsilons),
            min_epsilon=MIN_EPSILON,
        )


def build_parts(
    schema: Schema,
    epsilons: Sequence[float],
    oracle: Oracle,
    numeric: str,
    by: Criterion = "variance",
    numbers: bool = False,
) -> tuple[Any, ...]:
    """The mechanism of every private column. numbers: every number gets `numeric`, even one with few values."""
    out = []
    for i, (column, epsilon) in enumerate(zip(schema.private, epsilons, strict=True)):
        domain = schema[column]
        if isinstance(oracle, tuple):
            name = oracle[i]
        else:
            # A number with few values is estimated by its shares, which also give the mean.
            number = by_mean(domain) or (numbers and isinstance(domain, NumberDomain))
            name = numeric if number else oracle
        out.append(_build_part(domain, epsilon, name, numeric, by))
    return tuple(out)


def _build_part(domain: Domain, epsilon: float, name: str, numeric: str, by: Criterion) -> Any:
    if name != "adaptive":
        return load(name)(domain, epsilon)
    if by_mean(domain):
        return load(numeric)(domain, epsilon)
    return least_variance([load(candidate)(domain, epsilon) for candidate in ADAPTIVE], by)


def check_choices(owner: Any) -> None:
    """The fields that say which mechanism each column gets, and with what weight."""
    allowed = ("adaptive", *SHARE_ORACLES, *NUMERIC)
    object.__setattr__(owner, "oracle", check_oracle(owner, owner.oracle, owner.domain, allowed))
    object.__setattr__(owner, "weights", check_weights(owner, "weights", owner.weights, owner.domain))
    if owner.numeric not in NUMERIC:
        raise InvalidParameter(
            "{kind}.numeric must be one of {numeric}, got {got}.",
            kind=type(owner).__name__,
            numeric=", ".join(NUMERIC),
            got=shorten(owner.numeric),
        )
