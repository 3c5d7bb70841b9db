"""What the workers share: the data, the clock, and one JSON line per measurement.

The same rule times peers and Murmure: the least of three calls, and of more for 0.3 s.
"""

import gc
import json
import resource
import sys
import time

import numpy as np

K, EPSILON = 128, 1.0
ROWS, COLUMNS = 768, 8  # the size of the lectures' diabetes table
SIZES = (7, 16, 7, 14, 6, 5, 2, 41, 2)  # categories of the nine columns of Adult that the RS+FD paper uses
PEOPLE = 45_222  # and its rows


def categories(n):
    return np.random.default_rng(7).integers(0, K, n)


def table():
    return np.random.default_rng(7).random((ROWS, COLUMNS))


def records(n):
    """A code for every column of every person: made up, only the sizes are Adult's."""
    rng = np.random.default_rng(7)
    return np.stack([rng.integers(0, k, n) for k in SIZES], axis=1)


def once(call, timer=time.perf_counter):
    start = timer()
    call()
    return timer() - start


def best(call, timer=time.perf_counter, seconds=0.3, least=3):
    gc.collect()
    gc.disable()  # as timeit does: collecting many kept reports would count against the peers
    call()  # warms caches, and compiles where there is something to compile
    times = [once(call, timer) for _ in range(least)]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
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
