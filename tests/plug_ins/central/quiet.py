"""Discrete Laplace noise under another name: a noise that tests/test_plugins.py adds.

P[z] as in central/discrete_laplace.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from murmure.central.discrete_laplace import DiscreteLaplace
from murmure.core.blocks import Block
from murmure.core.catalogue_entries import NoiseEntry


@dataclass(frozen=True)
class Quiet(DiscreteLaplace):
    """Noise on integer sums with a pure epsilon.

    >>> import murmure as mu
    >>> mu.Quiet(epsilon=1.0)
    Quiet(epsilon=1.0, sampler='table')
    """

    entry = NoiseEntry(word="quiet")


EXAMPLES = ((Quiet(1.0), (Block("count", 1, 1, 1),)),)
