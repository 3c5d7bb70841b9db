"""Which mechanism each attribute of a record gets: named, one for all or one each, or chosen by exact variance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from murmure.catalogue import load
from murmure.core.domain import Domain
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates.column_estimates import by_mean
from murmure.core.fixed import MIN_EPSILON
from murmure.core.fixed import share_of as share_of
from murmure.core.fixed import split_budget as split_budget
from murmure.core.schema import Schema
from murmure.local.base.record_mechanism import per_column

By = Literal["variance", "varstar"]
CATEGORICAL = ("GRR", "SUE", "OUE", "BLH", "OLH", "SubsetSelection", "HadamardResponse")
NUMERIC = ("Duchi", "Piecewise", "Hybrid", "SquareWave", "BoundedLaplace", "BoundedStaircase", "Window")
ADAPTIVE = ("GRR", "OUE")
Oracle = str | tuple[str, ...]


def better(candidates: Sequence[Any], by: By, variance: Callable[[Any, float], float] | None = None) -> Any:
    """The candidate with the least exact variance, averaged over values: a straight line in the shares, whose mean over
    k values is its value at 1/k. Var*, at share 0, is how the papers choose.
    """
    if by not in ("variance", "varstar"):
        raise InvalidParameter(f'the choice is by "variance" or by "varstar", got {shorten(by)}.')
    at = variance or (lambda m, f: float(m.variance(f, 1)))
    return min(candidates, key=lambda m: at(m, 0.0 if by == "varstar" else 1 / m.domain.size))


def oracle_names(owner: object, oracle: Any, schema: Schema, allowed: Sequence[str]) -> Oracle:
    """One name for all columns, or a tuple with one each (also from a list, or a mapping of some columns)."""
    name = type(owner).__name__
    if isinstance(oracle, Mapping):
        oracle = [oracle.get(column, "adaptive") for column in schema.private]
    if isinstance(oracle, list | tuple):
        oracle = tuple(oracle)
        if len(oracle) != len(schema.private):
            raise InvalidParameter(
                f"{name}.oracle must be one name, or one for each of {len(schema.private)} columns, got {len(oracle)}.",
                hint=f"columns in order: {', '.join(schema.private)}",
            )
    for one in (oracle,) if isinstance(oracle, str) else oracle if isinstance(oracle, tuple) else (oracle,):
        if one not in allowed:
            raise InvalidParameter(
                f"{name}.oracle must be one of {', '.join(allowed)}, got {shorten(one)}.",
                hint='"adaptive" takes the one with the least exact variance for each column',
            )
    return oracle  # type: ignore[no-any-return]


def smallest_share(owner: object, epsilons: Sequence[float]) -> None:
    """Refuse a budget whose parts nothing can be built with, in the words of whoever splits it."""
    if min(epsilons) < MIN_EPSILON:
        raise InvalidParameter(
            f"{type(owner).__name__}.epsilon leaves {min(epsilons):.3g} for a column, below {MIN_EPSILON:g}.",
            hint="a larger epsilon, fewer columns, or more even weights",
        )


def build(
    schema: Schema, epsilons: Sequence[float], oracle: Oracle, numeric: str, by: By = "variance", numbers: bool = False
) -> tuple[Any, ...]:
    """The mechanism of every private column. numbers: every number goes through `numeric`, however few its values."""
    out = []
    for i, (column, epsilon) in enumerate(zip(schema.private, epsilons, strict=True)):
        domain = schema[column]
        if isinstance(oracle, tuple):
            name = oracle[i]
        else:
            number = by_mean(domain) or (numbers and hasattr(domain, "scale"))
            name = numeric if number else oracle
        out.append(_one(domain, epsilon, name, numeric, by))
    return tuple(out)


def _one(domain: Domain, epsilon: float, name: str, numeric: str, by: By) -> Any:
    if name != "adaptive":
        return load(name)(domain, epsilon)
    if by_mean(domain):
        return load(numeric)(domain, epsilon)
    return better([load(candidate)(domain, epsilon) for candidate in ADAPTIVE], by)


def check_choices(owner: Any) -> None:
    """The fields that say which mechanism each column gets, and with what weight."""
    allowed = ("adaptive", *CATEGORICAL, *NUMERIC)
    object.__setattr__(owner, "oracle", oracle_names(owner, owner.oracle, owner.domain, allowed))
    object.__setattr__(owner, "weights", per_column(owner, "weights", owner.weights, owner.domain))
    if owner.numeric not in NUMERIC:
        raise InvalidParameter(
            f"{type(owner).__name__}.numeric must be one of {', '.join(NUMERIC)}, got {shorten(owner.numeric)}."
        )
