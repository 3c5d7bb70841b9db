"""An attacker who knows the population fits shadow models, with and without the row, and compares.

Every released number is taken as normal, with its mean among shadow models that saw the row, its mean among those that
did not, and one variance; the score is the log-likelihood ratio, added up. (Carlini and others, "Membership inference
attacks from first principles", S&P 2022, section V, with released numbers in place of losses.)
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from murmure.central.base.gate import Gate
from murmure.core.random import Random
from murmure.core.types import Floats

LEARNED = "_"  # scikit-learn's mark: the names of what was learned end in it


def released_numbers(model: Any) -> dict[str, Floats]:
    """All floats that a fitted learner shows, by name. What it shows of each row is not among them."""
    fields = {n: v for n, v in vars(model).items() if n.endswith(LEARNED) and not n.startswith(LEARNED)}
    numbers = {name: np.array(_numbers(value), np.float64) for name, value in fields.items()}
    return {name: array for name, array in numbers.items() if len(array)}


def _numbers(value: Any) -> list[float]:
    if isinstance(value, Mapping):
        return [x for key in value for x in _numbers(value[key])]
    array = value if isinstance(value, np.ndarray) else np.asarray(value if isinstance(value, float) else ())
    return array.ravel().tolist() if array.dtype.kind == "f" else []


def are_equal(one: Mapping[str, Floats], other: Mapping[str, Floats]) -> bool:
    """To the last bit."""
    return one.keys() == other.keys() and all(np.array_equal(one[n], other[n], equal_nan=True) for n in one)


def fitted_numbers(learner: Any, table: Any, rng: Random) -> dict[str, Floats]:
    return released_numbers(copy.copy(learner).fit(table, gate=Gate(rng)))


@dataclass(frozen=True)
class NormalRatio:
    """The score: how much likelier these numbers are if the row was there."""

    sizes: Mapping[str, int]  # of what every shadow model shows: with noise some of it may be missing
    inside: Floats  # means
    outside: Floats
    variance: Floats

    @classmethod
    def of(cls, inside: Sequence[Mapping[str, Floats]], outside: Sequence[Mapping[str, Floats]]) -> NormalRatio:
        shown = [{(name, len(array)) for name, array in model.items()} for model in (*inside, *outside)]
        sizes = dict(sorted(set.intersection(*shown)))
        a, b = (np.array([_flat(model, sizes) for model in side]) for side in (inside, outside))
        variance = (a.var(axis=0) + b.var(axis=0)) / 2
        largest = np.maximum(np.abs(a).max(axis=0), np.abs(b).max(axis=0))
        return cls(sizes, a.mean(axis=0), b.mean(axis=0), variance + (1e-9 * largest) ** 2 + 1e-300)

    def score(self, model: Mapping[str, Floats]) -> float:
        x = _flat(model, self.sizes)
        each = ((x - self.outside) ** 2 - (x - self.inside) ** 2) / (2 * self.variance)
        return float(np.nan_to_num(each, posinf=0.0, neginf=0.0).sum())  # a number that is missing says nothing


def _flat(model: Mapping[str, Floats], sizes: Mapping[str, int]) -> Floats:
    parts = [model[name] if len(model.get(name, ())) == size else np.full(size, np.nan) for name, size in sizes.items()]
    return np.concatenate([np.zeros(0), *parts])


def area_under_curve(inside: Sequence[float], outside: Sequence[float]) -> float:
    """How often a score with the row is above one without; ties count half."""
    a, b = np.array(inside)[:, None], np.array(outside)[None, :]
    return float(np.mean((a > b) + (a == b) / 2))
