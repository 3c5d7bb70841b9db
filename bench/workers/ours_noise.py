"""Murmure's discrete Laplace noise added to a vector of whole numbers, with secure randomness."""

import numpy as np
from clock import SCALES, measure
from ours import LIB, telling

import murmure as mu
from murmure.core.blocks import Block

N = 1_000_000

vector, rng = np.zeros(N, np.int64), mu.Random.secure()
for sampler in ("exact", "table"):
    for scale in SCALES:
        task = f"noise.{sampler}.{scale}"
        with telling(task):
            (law,) = mu.DiscreteLaplace(1.0, sampler=sampler).bind([Block("sums", N, scale, scale**2)]).laws
            measure(task, LIB, N, lambda law=law: vector + law.draw_noise(N, rng))
