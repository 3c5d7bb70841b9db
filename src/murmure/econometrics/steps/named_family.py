"""Regressions by the name of a family (FamilyMLE, Multinomial): their errors, and the start of the search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

from murmure.core.errors import InvalidParameter, shorten
from murmure.econometrics.algebra.matrices import Matrix, inverse
from murmure.econometrics.steps.irls import LinkedModel
from murmure.econometrics.steps.newton import FAMILY_ROUNDS, Iterate

Errors = Literal["hessian", "sandwich", "opg"]


@dataclass(frozen=True)
class NamedFamily(LinkedModel):
    """The base of regressions by the name of a family. errors: "hessian", "sandwich" or "opg"."""

    errors: str = "hessian"
    rounds: int = FAMILY_ROUNDS

    _known_errors: ClassVar[tuple[str, ...]] = get_args(Errors)

    def _robust_covariance(self, iterate: Iterate, meat: Matrix, factor: Fraction) -> Matrix:
        return inverse(meat) if self.errors == "opg" else super()._robust_covariance(iterate, meat, factor)


def start_refusal(given: Any, names: Sequence[str]) -> InvalidParameter:
    wanted = ", ".join(names[:6]) + ", ..." * (len(names) > 6)
    return InvalidParameter(
        "mle.start must give each of {name_count} parameters a value ({wanted}), got {got}.",
        hint="leave it out: a first guess is computed from sums",
        name_count=len(names),
        wanted=wanted,
        got=shorten(given),
    )


def start_values(given: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """Values in the order of the parameters, from a mapping by name or a list."""
    if given is None:
        return ()
    if isinstance(given, Mapping):
        if set(given) != set(names):
            raise start_refusal(list(given), names)
        return tuple(given[name] for name in names)
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise start_refusal(given, names)
    return tuple(given)
