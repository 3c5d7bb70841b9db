"""Measure Murmure and its peers side by side, part by part: rounds of (peers, Murmure base, Murmure fast).

Within a part rounds are interleaved so that all meet the same noise of the machine, and what was measured is stored
after every part. This process stays small and imports no NumPy, since a child's peak memory is counted from what its
parent held.
"""

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import stored_parts
from conditions import modules, now
from environments import ROOT, python_of
from goals import STREAMED
from rounds import OURS
from table import failures, page

WORKERS = ROOT / "bench" / "workers"
STORED = ROOT / "bench" / "results.json"
STARTS = {
    "import": "import murmure",
    "reach": "import murmure as mu; mu.GRR, mu.Histogram, mu.Plan, mu.run, mu.certify",
    "help": "from murmure.cli import main; main()",  # what the installed command does
}
MODES = dict(zip(OURS, ("0", "1"), strict=True))  # MURMURE_FAST
PEER_WAYS = {
    "ols": ("pinv", "qr"),
    "logit": ("newton", "irls"),
    "probit": ("newton",),
    "poisson": ("newton", "irls"),
    "gamma": ("irls", "newton"),
    "nb2": ("newton",),
}
SIZES = (1_000_000, 10_000_000)  # rows of the large tables
FITTED = SIZES[0]  # rows of iterated regressions
LARGEST = 100_000_000  # with --large: a gigabyte to read, half as much to write, and minutes


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def work(python, script, lib, *arguments, **environment):
    """Run one worker; its JSON lines, and one more if it broke."""
    say(f"{lib}: {' '.join([script, *arguments])}")
    done = subprocess.run(
        [python, WORKERS / script, *arguments],
        # Threads that spin while they wait disturb their neighbours.
        env=os.environ | {"OMP_WAIT_POLICY": "PASSIVE"} | environment,
        capture_output=True,
        text=True,
    )
    records = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        records.append({"task": script, "lib": lib, "error": f"exit {done.returncode}: {last}"})
    return records


def wall(task, lib, command, **environment):
    """A whole process, started and ended."""
    start = time.perf_counter()
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        return {"task": task, "lib": lib, "error": f"exit {done.returncode}: {done.stderr.strip()[-200:]}"}
    return {"task": task, "lib": lib, "n": 1, "seconds": seconds, "per_item_ns": seconds * 1e9}


@dataclass(frozen=True)
class Round:
    """One round of a part: where it may write, which of the rounds it is, and whether the largest table is wanted."""

    folder: Path
    number: int = 0
    large: bool = False

    def peer(self, name, *arguments, script=None):
        return work(python_of(name), script or f"peer_{name.replace('-', '_')}.py", name, *arguments)

    def plain(self, script, lib, *arguments):
        return work(sys.executable, script, lib, *arguments)

    def both(self, script, *arguments):
        """Ours, base and then fast."""
        return [
            record
            for lib, fast in MODES.items()
            for record in work(sys.executable, script, lib, *arguments, MURMURE_FAST=fast)
        ]

    def fast(self, script, *arguments):
        return work(sys.executable, script, OURS[1], *arguments, MURMURE_FAST="1")


def columns(bench):
    records = bench.peer("pure-ldp") + bench.peer("multi-freq-ldpy", "columns") + bench.peer("diffprivlib", "columns")
    return records + bench.both("ours_tasks.py")


def records(bench):
    return bench.peer("multi-freq-ldpy", "records") + bench.both("ours_records.py")


def noise(bench):
    return bench.peer("opendp") + bench.both("ours_noise.py")


def fits(bench):
    return bench.peer("scikit-learn") + bench.peer("diffprivlib", "fits") + bench.both("ours_fits.py")


def costs(bench):
    found = compile_cold() if bench.number == 0 else []
    for script in ("ours_certify.py", "ours_memory.py"):
        found += bench.both(script)
    found += bench.both("ours_first.py", "warm")
    for lib, fast in MODES.items():
        for task, code in STARTS.items():
            command = [sys.executable, "-c", code, "--help"]
            found += [wall(task, lib, command, MURMURE_FAST=fast) for _ in range(3)]
    return found


def secure(bench):
    """Sums over parties in one process, beside Flower's."""
    return bench.peer("flower") + bench.plain("ours_secure.py", "murmure")


def wire(bench):
    return bench.plain("ours_network.py", "murmure")


def econometrics(bench):
    """statsmodels' in memory, ours from files, every act in a process of its own."""
    found = []
    for n in SIZES:
        file = str(bench.folder), str(n)
        if not (bench.folder / f"ols.{n}").exists():
            found += bench.plain("ours_econometrics.py", "murmure", *file, "make")
        for act in PEER_WAYS if n == FITTED else ("ols",):
            for way in PEER_WAYS[act]:
                found += bench.peer("statsmodels", str(n), act, way)
            for way in ("stated", "own") if act in ("ols", "logit") else ("stated",):
                found += bench.plain("ours_econometrics.py", "murmure", *file, act, way)
        found += bench.plain("ours_econometrics.py", "murmure", *file, "parties")
    return found


def cox(bench):
    """lifelines' worker leaves the rows in the folder for the others."""
    folder = str(bench.folder)
    found = bench.peer("lifelines", folder, "fit") + bench.peer("lifelines", folder, "first")
    found += bench.peer("statsmodels", folder, script="peer_phreg.py")
    return found + bench.both("ours_cox.py", folder, "fit") + bench.both("ours_cox.py", folder, "first")


def make_table(bench, n):
    if (bench.folder / f"{n}.parquet").exists():
        return []
    return bench.plain("ours_large.py", "arrow", str(bench.folder), str(n), "make")


def large(bench):
    """The same file copied by Arrow, and sanitised and estimated by Murmure; every act in a process of its own."""
    found = []
    for n in (*SIZES, *[LARGEST] * (bench.large and bench.number == 0)):
        file = str(bench.folder), str(n)
        found += make_table(bench, n) + bench.plain("ours_large.py", "arrow", *file, "copy")
        for row in STREAMED:
            for act in row.acts:
                found += bench.both("ours_large.py", *file, act, row.task)
    return found


def spark(bench):
    ways = "files", "scan", "filtered", *["jvm", "joined"] * bench.large
    return make_table(bench, SIZES[-1]) + bench.fast("ours_spark.py", str(bench.folder), str(SIZES[-1]), *ways)


def growth(bench):
    """Every size is the best of several calls, and the fit says how far it is off."""
    acts = "n", "k", "certificates", "d", "fits", "regressions", "m"
    return [record for act in acts for record in bench.fast("ours_growth.py", act)]


def floors(bench):
    """What the other rows are bounded by on this machine; BLAS keeps to one thread, and the worker starts two."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return work(sys.executable, "floors.py", "floor", MURMURE_FAST="1", **one)


def compile_cold():
    """The first use after an installation: numba finds an empty cache."""
    with tempfile.TemporaryDirectory() as empty:
        return work(sys.executable, "ours_first.py", OURS[1], "cold", MURMURE_FAST="1", NUMBA_CACHE_DIR=empty)


PARTS = {  # what one round of it measures, and its peers
    columns: ("pure-ldp", "multi-freq-ldpy", "diffprivlib"),
    records: ("multi-freq-ldpy",),
    noise: ("opendp",),
    fits: ("scikit-learn", "diffprivlib"),
    costs: (),
    growth: (),
    floors: (),
    secure: ("flower",),
    wire: (),
    econometrics: ("statsmodels",),
    cox: ("lifelines", "statsmodels"),
    large: (),
    spark: (),
}
ONCE = {growth}  # however many rounds
NAMES = {part.__name__: part for part in PARTS}


def measure(part, rounds, folder, with_largest):
    """All rounds of a part, and under which conditions they were measured."""
    rounds = 1 if part in ONCE else rounds
    about, found = now(rounds, {peer: python_of(peer) for peer in PARTS[part]}), []
    for i in range(rounds):
        say(f"{part.__name__}: round {i + 1} of {rounds}")
        about["loads"].append(round(os.getloadavg()[0], 1))
        found += [record | {"round": i} for record in part(Round(folder, i, with_largest))]
    return {"about": about, "records": found}


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one-core", action="store_true", help="keep every worker on one core")
    parser.add_argument(
        "--large", action="store_true", help=f"a table of {LARGEST:,} rows too, once, and rows out of Spark's JVM"
    )
    parser.add_argument(
        "--only", metavar="PART[,PART]", help=f"of {', '.join(NAMES)}; other parts stay as they were last measured"
    )
    options = parser.parse_args(arguments)
    options.rounds = 1 if options.quick else options.rounds
    options.parts = list(NAMES) if options.only is None else options.only.split(",")
    if unknown := [name for name in options.parts if name not in NAMES]:
        parser.error(f"no part {', '.join(map(repr, unknown))}: choose from {', '.join(NAMES)}")
    if options.rounds < 1:
        parser.error(f"--rounds must be at least 1, got {options.rounds}")
    return options


def main():
    options = options_of(sys.argv[1:])
    if options.one_core:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # workers inherit it
    if not sys.flags.dont_write_bytecode:
        compileall.compile_dir(modules()[0].parent, quiet=2)  # as pip does when it installs
    stored, failed = stored_parts.read(STORED), []
    with tempfile.TemporaryDirectory(prefix="murmure-bench-") as folder:
        for name in options.parts:
            part = measure(NAMES[name], options.rounds, Path(folder), options.large)
            stored = stored_parts.merge(stored, {name: part})
            stored_parts.write(STORED, stored)
            (ROOT / "bench" / "results.md").write_text(page(stored))
            failed += [r for r in part["records"] if "error" in r]
    print(page(stored))
    for record in failed:
        say(f"{record['lib']}: {record['task']}: {record['error']}")
    sys.exit(1 if failed or failures([r for part in stored.values() for r in part["records"]]) else 0)


if __name__ == "__main__":
    main()
