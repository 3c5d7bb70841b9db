"""OpenDP's discrete Laplace noise on a vector of whole numbers."""

import time
from functools import partial

import numpy as np
import opendp.prelude as dp
from clock import SCALES, best, emit

N = 100_000  # of 1,000,000: its cost is linear

dp.enable_features("contrib")

for scale in SCALES:
    laplace = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=float(scale))
    for how, vector in (("a list", [0] * N), ("an array", np.zeros(N, np.int64))):
        seconds = best(partial(laplace, vector), time.process_time)
        for sampler in ("exact", "table"):  # it has one sampler, which is exact, and stands beside both of ours
            task = f"noise.{sampler}.{scale}"
            emit(task, "opendp", how=f"make_laplace, {how}", n=N, seconds=seconds, per_item_ns=seconds / N * 1e9)
