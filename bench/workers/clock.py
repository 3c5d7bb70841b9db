"""What the workers share: the data, the clock, and one JSON line per measurement.

The same rule times peers and Murmure: the least of three calls, and of more until they have had 0.3 s of the processor,
which beside other work takes longer than 0.3 s: at most ten times as long.
"""

import gc
import json
import resource
import sys
import time

import numpy as np

K, EPSILON = 128, 1.0
MANY = 1024  # categories, where local hashing is compared a second time
ROWS, COLUMNS = 768, 8  # the size of the lectures' diabetes table
SIZES = (7, 16, 7, 14, 6, 5, 2, 41, 2)  # categories of the nine columns of Adult that the RS+FD paper uses
PEOPLE = 45_222  # and its rows
SCALES = (1, 100)  # of discrete Laplace noise
FITTED = (100_000, 1_000_000)  # rows that learners learn from
WIDTH, CLUSTERS = 8, 8  # their columns, and the clusters to find
BOX = 5.0  # public: every number of theirs lies between -5 and 5
SUMMED = (30, 1_000, 9)  # parties, entries, and parties that vanish once their keys are shared
THRESHOLD = 16  # shares that rebuild a secret, for either side


def categories(n, k=K):
    return np.random.default_rng(7).integers(0, k, n)


def table():
    return np.random.default_rng(7).random((ROWS, COLUMNS))


def records(n):
    """A code for every column of every person: made up, only the sizes are Adult's."""
    rng = np.random.default_rng(7)
    return np.stack([rng.integers(0, k, n) for k in SIZES], axis=1)


def rows_and_answers(n):
    """Normal rows, a class and a number for each."""
    rng = np.random.default_rng(7)
    rows = np.clip(rng.normal(size=(n, WIDTH)), -BOX, BOX)
    score = rows @ np.linspace(-1, 1, WIDTH) / 2
    answers = np.clip(score + rng.normal(size=n) / 2, -BOX, BOX)
    return rows, (score + rng.normal(size=n) > 0).astype(np.int64), answers


def blobs(n):
    """Eight round clusters, near enough to touch."""
    rng = np.random.default_rng(7)
    centres = rng.uniform(-0.7 * BOX, 0.7 * BOX, (CLUSTERS, WIDTH))
    return np.clip(centres[rng.integers(0, CLUSTERS, n)] + rng.normal(size=(n, WIDTH)), -BOX, BOX)


def once(call, timer=time.perf_counter):
    start = timer()
    call()
    return timer() - start


def best(call, timer=time.perf_counter, seconds=0.3, least=3):
    gc.collect()
    gc.disable()  # as timeit does: collecting many kept reports would count against the peers
    call()  # warms caches, and compiles where there is something to compile
    times = [once(call, timer) for _ in range(least)]
    wall, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < (10 if time.process_time() - cpu < seconds else 1) * seconds:
        times.append(once(call, timer))
    return min(times)


def peak_megabytes():
    """The most memory that this process ever held."""
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def emit(task, lib, **fields):
    print(json.dumps({"task": task, "lib": lib} | fields), flush=True)


def measure(task, lib, n, call, how="", clock=best):
    """Time `call`, which handles `n` items."""
    seconds = clock(call)
    emit(task, lib, how=how, n=n, seconds=seconds, per_item_ns=seconds / n * 1e9)


def measure_peer(task, lib, n, call, how):
    """In CPU time: peers have one thread and long calls, which other work on the machine would interrupt."""
    measure(task, lib, n, call, how, clock=lambda call: best(call, time.process_time))


def measure_threaded_peer(task, lib, n, call, how):
    """In wall time as Murmure, or in CPU time where that is less: threads count twice there, other work not at all."""
    measure(task, lib, n, call, how, clock=lambda call: min(best(call), best(call, time.process_time)))
