"""diffprivlib's models, which the lecture's listings call: their accuracy, and how often a figure has no noise.

They are given public bounds, and rows that these bounds scale to [0, 1], which they like better than rows as they are.
The library is optional: without it the experiments run, and say so.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.core.types import Array
from murmure.lectures.experiments.pima_rows import HIGH, LOW, PimaRows


@dataclass(frozen=True)
class LibraryCost:
    """at_least: a lower bound of the epsilon that is spent, where rows are exchanged. exact: of how many fits a figure
    comes out without noise."""

    at_least: float | None
    exact: float


def library_version() -> str | None:
    """None: not installed, or not with a scikit-learn that it can work with."""
    try:
        with quiet():
            import diffprivlib.models
    except Exception:  # whatever an import can raise: the library is not part of this package
        return None
    return str(diffprivlib.__version__)


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def scaled(x: Array) -> Array:
    return np.asarray((x - LOW) / (HIGH - LOW))


def library_model(model: str, epsilon: float, seed: int | None = None) -> Any:
    from diffprivlib.models import GaussianNB, LinearRegression

    if model == "bayes":
        return GaussianNB(epsilon=epsilon, bounds=(0.0, 1.0), random_state=seed)
    return LinearRegression(epsilon=epsilon, bounds_X=(0.0, 1.0), bounds_y=(0.0, 1.0), random_state=seed)


def library_accuracy(model: str, epsilon: float, seed: int, learn: PimaRows, test: PimaRows) -> tuple[float, bool]:
    """Its accuracy; and whether its class counts sum to the number of rows, or a sum of squares is the true one."""
    x = scaled(learn.x)
    with quiet():
        fitted = library_model(model, epsilon, seed).fit(x, learn.y)
        answers = fitted.predict(scaled(test.x))
    if model == "bayes":
        return float((answers == test.y).mean()), bool(fitted.class_count_.sum() == len(learn.y))
    offset = np.diag(fitted._obj_coefs[2])  # of columns less their noisy means; where these are 0, of the columns
    noiseless = bool(np.isclose(offset, (x**2).sum(axis=0), rtol=1e-12, atol=0).any())
    return float(((answers >= 0.5) == test.y).mean()), noiseless
