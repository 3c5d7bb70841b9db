"""Ten million people through GRR in one `mu.run`: its time, and the most memory this process ever held."""

from clock import K, categories, emit, once, peak_megabytes
from ours import LIB, categorical, telling

import murmure as mu

N = 10_000_000

with telling("memory"):
    plan = mu.Plan(mu.Histogram(mu.Categories(K)), person=categorical("grr", K))
    people = categories(N)
    seconds = once(lambda: mu.run(plan, people))
    emit("memory", LIB, n=N, seconds=seconds, per_item_ns=seconds / N * 1e9, megabytes=peak_megabytes())
