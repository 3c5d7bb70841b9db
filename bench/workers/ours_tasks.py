"""Murmure's whole public calls, secure randomness and validation included."""

from clock import COLUMNS, EPSILON, MANY, ROWS, K, categories, measure, table
from ours import BOUNDED, CATEGORICAL, LIB, bounded, categorical, sanitise, telling

import murmure as mu

N = 100_000

rng = mu.Random.secure()
numbers = table()


def compare(name, task, k=K):
    m, people = categorical(name, k, EPSILON), categories(N, k)
    measure(f"{task}.client", LIB, N, lambda: m.report(people, rng))
    reports = m.report(people, rng)
    measure(f"{task}.server", LIB, N, lambda: m.estimate(m.tally(reports), N).mean)


def compare_bounded(task, epsilon):
    m = bounded(task, epsilon)
    measure(f"{task}.{epsilon}", LIB, ROWS * COLUMNS, lambda: sanitise(m, numbers, rng))


for task in CATEGORICAL:
    with telling(task):
        compare(task, task)
with telling("olh.1024"):
    compare("olh", f"olh.{MANY}", MANY)
for task in BOUNDED:
    for epsilon in (1.0, 0.1):
        with telling(f"{task}.{epsilon}"):
            compare_bounded(task, epsilon)
