"""A large file through Murmure or through Arrow: one act in a fresh process, its time and the most memory it held.

Arguments: FOLDER ROWS, and one of: make; copy; once MECHANISM; sanitise MECHANISM; estimate MECHANISM. `once` writes
the table and has its figures from the same run, `estimate` reads what `sanitise` wrote.
"""

import sys
from pathlib import Path

import people
from clock import emit, once, peak_megabytes

WARM = 200_000  # rows: enough to load libraries and kernels, whose cost has rows of its own in the table


def timed(task, lib, n, call):
    seconds = once(call)
    emit(task, lib, n=n, seconds=seconds, per_item_ns=seconds / n * 1e9, megabytes=peak_megabytes())


def make(folder, n):
    for rows in (WARM, n):
        people.make(folder / f"{rows}.parquet", rows)


def copy(folder, n):
    def through(rows):
        people.duplicate(folder / f"{rows}.parquet", folder / "copy.parquet")

    through(WARM)
    timed(f"copy.{n}", "arrow", n, lambda: through(n))


def mechanism(name):
    import murmure as mu

    columns = {column: mu.Categories(people.labels(column)) for column in people.TEXT}
    columns |= {column: mu.Integers(low, high) for column, (low, high) in people.WHOLE.items()}
    schema = mu.Schema(columns | {"income": mu.Interval(0.0, people.INCOME, cells=people.CELLS)})
    return {"smp": mu.SMP, "rsfd": mu.RSFD}[name](schema, epsilon=1.0)


def ours(folder, n, act, name):
    from ours import LIB, telling

    import murmure as mu

    m = mechanism(name)

    def sanitise(rows, **how):
        out = folder / f"{name}.{rows}.parquet"
        return mu.sanitise(folder / f"{rows}.parquet", m, out, overwrite=True, **how)

    def at_once(rows):
        sanitise(rows, estimate=True).estimate().to_json()

    def estimate(rows):
        mu.estimate(folder / f"{name}.{rows}.parquet").to_json()

    through = {"once": at_once, "sanitise": sanitise, "estimate": estimate}[act]
    task = f"{act}.{name}.{n}"
    with telling(task):
        through(WARM)
        timed(task, LIB, n, lambda: through(n))


folder, n, act, rest = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
{"make": make, "copy": copy}[act](folder, n) if not rest else ours(folder, n, act, *rest)
