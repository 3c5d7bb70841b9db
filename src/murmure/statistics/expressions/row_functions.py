"""Functions of a row beyond exact arithmetic: residuals, scores of likelihoods. function_sums.py adds them up.

FUNCTIONS says where each name is found, as "module:attribute": it is loaded when a question first names it, so that
econometrics can list its functions here without being imported by statistics.

A function is evaluated by the holder of the rows, in floats; its value is put on a public grid before it is added up.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, Phrase, shorten

Floats = NDArray[np.float64]

FUNCTIONS: dict[str, str] = {
    "residuals": "murmure.statistics.expressions.row_functions:RESIDUALS",
    "randomised": "murmure.econometrics.rows.randomised_rows:RANDOMISED",
    "whitened": "murmure.econometrics.rows.whitened_scores:WHITENED_SCORES",
    "logit": "murmure.econometrics.rows.glm_rows:LOGIT",
    "probit": "murmure.econometrics.rows.glm_rows:PROBIT",
    "poisson": "murmure.econometrics.rows.glm_rows:POISSON",
    "gamma": "murmure.econometrics.rows.glm_rows:GAMMA",
    "inverse": "murmure.econometrics.rows.glm_rows:INVERSE",
    "nb2": "murmure.econometrics.rows.glm_rows:NB2",
    "exponential": "murmure.econometrics.rows.family_rows:EXPONENTIAL",
    "weibull": "murmure.econometrics.rows.family_rows:WEIBULL",
    "beta": "murmure.econometrics.rows.family_rows:BETA",
    "multinomial": "murmure.econometrics.rows.multinomial_rows:MULTINOMIAL",
    "cox": "murmure.econometrics.rows.cox_rows:COX_ROWS",
    "nearest": "murmure.econometrics.rows.kmeans_rows:KMEANS_ROWS",
}


class RowFunction:
    """What is added up of every row, given some columns of numbers and public parameters."""

    pairs: ClassVar[bool] = False  # it gets (high, low) for every column: what the float rounds away too, or None

    def check(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> None:
        """Raises where they do not fit together."""

    def labels(self, inputs: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
        """Of every figure; they fix how many there are."""
        raise NotImplementedError

    def values(self, x: tuple[Floats, ...], at: tuple[float, ...], settings: tuple[str, ...]) -> Floats:
        """(rows, figures), finite."""
        raise NotImplementedError

    def sums(self, x: Floats, at: tuple[float, ...], settings: tuple[str, ...]) -> NDArray[Any] | None:
        """The sums of `values` in whole numbers of the grid, none of them beyond it, in a faster way if there is one.

        x: (inputs, rows). None: the values are added up.
        """
        return None

    def in_words(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> str:
        """What is added up, for those who approve a study."""
        raise NotImplementedError


@cache
def _load(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


def function_of(name: object) -> RowFunction:
    """The function of this name."""
    if not isinstance(name, str) or name not in FUNCTIONS:
        raise InvalidParameter(
            "Evaluated.function must be one of {functions}, got {got}.",
            hint="functions are listed in murmure.statistics.expressions.row_functions",
            functions=", ".join(sorted(FUNCTIONS)),
            got=shorten(name),
        )
    found: RowFunction = _load(FUNCTIONS[name])
    return found


def name_list(texts: Sequence[str], most: int = 6) -> str:
    """Some names, or how many there are."""
    if len(texts) <= most:
        return ", ".join(texts)
    return Phrase("{names} ... ({count} in all)", names=", ".join(texts[: most - 1]), count=len(texts))


class Residuals(RowFunction):
    """e = y - z b, with y the first input, z the others and b the public coefficients `at`.

    settings, one word:  meat     e^2 z_a z_b, a <= b      White, Econometrica 48(4), 1980, p. 820: sum e^2 z z'
                         scores   e z_a                    what one cluster adds up, before it is squared
                         squares  e z_a, then e^2          one step of refinement, and the sum of squares left
    """

    kinds = ("meat", "scores", "squares")

    def labels(self, inputs: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
        if len(inputs) < 2:
            raise InvalidParameter(
                "Evaluated.inputs of residuals must hold the outcome and at least one term, got {got}.",
                got=shorten(inputs),
            )
        if len(settings) != 1 or settings[0] not in self.kinds:
            raise InvalidParameter(
                "Evaluated.settings of residuals must be one of {kinds}, in a tuple, got {got}.",
                hint='settings=("meat",)',
                kinds=", ".join(self.kinds),
                got=shorten(settings),
            )
        z = inputs[1:]
        if settings[0] == "meat":
            a, b = np.triu_indices(len(z))
            return tuple(f"e ** 2 * ({z[i]}) * ({z[j]})" for i, j in zip(a, b, strict=True))
        scores = tuple(f"e * ({term})" for term in z)
        return scores if settings[0] == "scores" else (*scores, "e ** 2")

    def check(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> None:
        if len(at) != len(inputs) - 1:
            raise InvalidParameter(
                "Evaluated.at of residuals must hold a coefficient for each of {input_count} terms, got {got}.",
                input_count=len(inputs) - 1,
                got=len(at),
            )

    def values(self, x: tuple[Floats, ...], at: tuple[float, ...], settings: tuple[str, ...]) -> Floats:
        z = np.stack(x[1:])
        e = x[0].copy()
        for column, b in zip(z, at, strict=True):  # one after the other: a row's value is that of the row alone
            e -= b * column
        u = e * z
        if settings[0] == "meat":
            return np.concatenate([u[a] * u[a:] for a in range(len(u))]).T
        return u.T if settings[0] == "scores" else np.concatenate([u, (e * e)[None]]).T

    def in_words(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> str:
        y, z = inputs[0], name_list(inputs[1:])
        if settings[0] == "meat":
            return Phrase("squared residuals of {y} times products of two of {z}", y=y, z=z)
        if settings[0] == "scores":
            return Phrase("residuals of {y} times each of {z}", y=y, z=z)
        return Phrase("residuals of {y} times each of {z}, and squared residuals", y=y, z=z)


RESIDUALS = Residuals()
