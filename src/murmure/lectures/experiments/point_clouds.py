"""Invented people in the plane: three round clouds in a public box."""

from __future__ import annotations

import numpy as np

from murmure.core.domain import Interval
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.core.types import Array

BOX = Schema({"x": Interval(0.0, 1.0, cells=1024), "y": Interval(0.0, 1.0, cells=1024)})
CLOUDS = ((0.24, 0.30, 0.08), (0.76, 0.34, 0.09), (0.50, 0.76, 0.09))  # where people are, and how far apart


def points(rng: Random, n: int) -> Array:
    """As many people in each cloud, within the box."""
    uniform = (rng.words(2 * n) / 2.0**64).reshape(2, n)
    radius, angle = (
        np.sqrt(-2 * np.log1p(-uniform[0])),
        2 * np.pi * uniform[1],
    )  # two normal numbers (Box and Muller)
    normal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    centre = np.array(CLOUDS)[np.arange(n) % len(CLOUDS)]
    return np.asarray(np.clip(centre[:, :2] + centre[:, 2:] * normal, 0.0, 1.0))
