"""Ten million people through GRR in one `mu.run`: its time, and the most memory this process ever held."""

import resource
import sys

from clock import K, categories, emit, once
from ours import LIB, categorical, telling

import murmure as mu

N = 10_000_000

with telling("memory"):
    plan = mu.Plan(mu.Histogram(mu.Categories(K)), person=categorical("grr", K))
    people = categories(N)
    seconds = once(lambda: mu.run(plan, people))
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux KiB
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    emit("memory", LIB, n=N, seconds=seconds, per_item_ns=seconds / N * 1e9, megabytes=peak / 1e6)
