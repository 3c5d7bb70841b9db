"""Invented rows with the columns of a data set: they show that an experiment runs, and nothing about people.

One hidden score for each row makes its columns depend on one another, so that a learner finds something.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from murmure.core.random import Random
from murmure.core.types import Array, Floats
from murmure.lectures.data_sets.stand_in_columns import COLUMNS, LabelLaw, NumberLaw

ROWS = {"iris": 150, "pima": 768}  # as many as there really are
OTHERWISE = 2000
TIE = 0.6  # correlation of the hidden score with what decides a column
SEED = 1789


def invented_columns(name: str) -> dict[str, Array]:
    """The same rows each time."""
    n = ROWS.get(name, OTHERWISE)
    rng = Random.seeded(SEED).child(list(COLUMNS).index(name))
    score = ndtri(_uniform(rng, n))
    out: dict[str, Array] = {}
    for column, law in COLUMNS[name].items():
        level = ndtr(TIE * score + (1 - TIE**2) ** 0.5 * ndtri(_uniform(rng, n)))
        values = _numbers(law, level, _uniform(rng, n)) if isinstance(law, NumberLaw) else _labels(law, level)
        values.flags.writeable = False
        out[column] = values
    return out


def _uniform(rng: Random, n: int) -> Floats:
    """Between 0 and 1, and neither."""
    return np.asarray(((rng.words(n) >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53)


def _numbers(law: NumberLaw, level: Floats, chance: Floats) -> Array:
    values = (law.mean + law.deviation * ndtri(level)).clip(law.low, law.high).round(law.decimals)
    values[chance < law.zeros] = 0
    return np.asarray(values if law.decimals else values.astype(np.int64))


def _labels(law: LabelLaw, level: Floats) -> Array:
    k = len(law.values)
    codes = np.searchsorted(law.shares.cumsum()[:-1], level, side="right")
    codes[(np.arange(k) * 7) % len(codes)] = range(k)  # none is missing
    return np.array(law.values)[codes]
