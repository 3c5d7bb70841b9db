"""What the first call costs in a fresh process: tables built, kernels compiled (cold) or loaded (warm)."""

import sys

from clock import K, categories, measure, once, table
from ours import BOUNDED, CATEGORICAL, LIB, bounded, categorical, sanitise, telling

import murmure as mu

state = sys.argv[1]
rng = mu.Random.secure()
people, numbers = categories(100_000), table()  # small batches would not load the kernels


def answer(task):
    m = categorical(task, K)
    m.tally(m.report(people, rng))


def answer_bounded(task):
    sanitise(bounded(task), numbers, rng)


def all_categorical():
    for task in CATEGORICAL:
        answer(task)


with telling(f"first.{state}"):
    measure(f"first.{state}", LIB, 1, all_categorical, clock=once)
for task in BOUNDED:
    with telling(f"first.{task}.{state}"):
        measure(f"first.{task}.{state}", LIB, 1, lambda task=task: answer_bounded(task), clock=once)
