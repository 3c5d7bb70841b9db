"""Measure Murmure and its peers side by side: rounds of (peers, Murmure base, Murmure fast), best of each.

Rounds are interleaved so that all meet the same noise of the machine. This process stays small and imports no
NumPy, since a child's peak memory is counted from what its parent held.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from environments import PACKAGES, PEERS, PLACE, ROOT, python_of, versions
from goals import STREAMED
from table import OURS, render

WORKERS = ROOT / "bench" / "workers"
STARTS = {
    "import": "import murmure",
    "reach": "import murmure as mu; mu.GRR, mu.Histogram, mu.Plan, mu.run, mu.certify",
    "help": "from murmure.cli import main; main()",  # what the installed command does
}
MODES = dict(zip(OURS, ("0", "1"), strict=True))  # MURMURE_FAST
OUR_WORKERS = (
    "ours_tasks.py",
    "ours_records.py",
    "ours_noise.py",
    "ours_fits.py",
    "ours_certify.py",
    "ours_memory.py",
)
CURATOR = ("noise.", "fit.")  # how their tasks begin
SECURE = ("secure.", "wire.", "peer_flower", "ours_secure", "ours_network")
PEER_WAYS = {
    "ols": ("pinv", "qr"),
    "logit": ("newton", "irls"),
    "probit": ("newton",),
    "poisson": ("newton", "irls"),
    "gamma": ("irls", "newton"),
    "nb2": ("newton",),
}
ECONOMETRICS = (
    *(f"{act}." for act in PEER_WAYS),
    "cox.",
    "peer_statsmodels",
    "ours_econometrics",
    "peer_lifelines",
    "peer_phreg",
    "ours_cox",
)
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


def large_tables(folder, n):
    """The same file copied by Arrow, and sanitised and estimated by Murmure; every act in a process of its own."""
    file, records = (str(folder), str(n)), []
    for act in ("copy",) if (folder / f"{n}.parquet").exists() else ("make", "copy"):
        records += work(sys.executable, "ours_large.py", "arrow", *file, act)
    for lib, fast in MODES.items():
        for row in STREAMED:
            for act in ("sanitise", "estimate"):
                records += work(sys.executable, "ours_large.py", lib, *file, act, row.task, MURMURE_FAST=fast)
    return records


def on_spark(folder, n, *ways):
    return work(sys.executable, "ours_spark.py", OURS[1], str(folder), str(n), *ways, MURMURE_FAST="1")


def one_round(pythons, folder):
    records = []
    for peer, python in pythons.items():
        if peer in ("flower", "statsmodels", "lifelines"):
            continue  # take their turns beside our own sums
        records += work(python, f"peer_{peer.replace('-', '_')}.py", peer)
    for lib, fast in MODES.items():
        mode = {"MURMURE_FAST": fast}
        for script in OUR_WORKERS:
            records += work(sys.executable, script, lib, **mode)
        records += work(sys.executable, "ours_first.py", lib, "warm", **mode)
        for task, code in STARTS.items():
            records += [wall(task, lib, [sys.executable, "-c", code, "--help"], **mode) for _ in range(3)]
    for n in SIZES:
        records += large_tables(folder, n)
    return records + secure_round(pythons) + econometrics_round(pythons, folder)


def curator_round(pythons):
    """Noise and learners alone."""
    records = []
    for peer in ("opendp", "scikit-learn", "diffprivlib"):
        records += work(pythons[peer], f"peer_{peer.replace('-', '_')}.py", peer)
    for lib, fast in MODES.items():
        for script in ("ours_noise.py", "ours_fits.py"):
            records += work(sys.executable, script, lib, MURMURE_FAST=fast)
    return [r for r in records if r["task"].startswith(CURATOR) or "error" in r]


def secure_round(pythons):
    """Sums over parties alone: in one process beside Flower's, and over HTTP."""
    records = work(pythons["flower"], "peer_flower.py", "flower")
    for script in ("ours_secure.py", "ours_network.py"):
        records += work(sys.executable, script, "murmure")
    return records


def econometrics_round(pythons, folder):
    """Regressions alone: statsmodels' in memory, ours from files, every act in a process of its own."""
    records = []
    for n in SIZES:
        file = str(folder), str(n)
        if not (folder / f"ols.{n}").exists():
            records += work(sys.executable, "ours_econometrics.py", "murmure", *file, "make")
        for act in PEER_WAYS if n == FITTED else ("ols",):
            for way in PEER_WAYS[act]:
                records += work(pythons["statsmodels"], "peer_statsmodels.py", "statsmodels", str(n), act, way)
            for way in ("stated", "own") if act in ("ols", "logit") else ("stated",):
                records += work(sys.executable, "ours_econometrics.py", "murmure", *file, act, way)
        records += work(sys.executable, "ours_econometrics.py", "murmure", *file, "parties")
    return records + cox_round(pythons, str(folder))


def cox_round(pythons, folder):
    """Cox's regression: lifelines' worker leaves the rows in the folder for the others."""
    records = work(pythons["lifelines"], "peer_lifelines.py", "lifelines", folder, "fit")
    records += work(pythons["lifelines"], "peer_lifelines.py", "lifelines", folder, "first")
    records += work(pythons["statsmodels"], "peer_phreg.py", "statsmodels", folder)
    for lib, fast in MODES.items():
        for act in ("fit", "first"):
            records += work(sys.executable, "ours_cox.py", lib, folder, act, MURMURE_FAST=fast)
    return records


def compile_cold():
    """The first use after an installation: numba finds an empty cache."""
    with tempfile.TemporaryDirectory() as empty:
        return work(sys.executable, "ours_first.py", OURS[1], "cold", MURMURE_FAST="1", NUMBA_CACHE_DIR=empty)


def cpu():
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.processor() or platform.machine()


def head(pythons, rounds, load, command):
    ours = versions(sys.executable, ["murmure", "numpy", "numba", "cryptography", "pyarrow"])
    peers = [line for peer, python in pythons.items() for line in versions(python, [PACKAGES.get(peer, peer)])]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    machine = f"{cpu()}, {cores} cores used, load {load:.1f} at the start"
    return f"""\
# Murmure and its peers, measured side by side

Written by `{command}`; do not edit.

- {datetime.now(UTC):%d %B %Y}
- {machine}
- Python {platform.python_version()}, {", ".join(ours)}
- peers: {", ".join(peers)}

Times are ns per person (or per number of the table), the best of {rounds} interleaved round(s): wall time for
Murmure, CPU time for the peers, so that other work on the machine cannot count against them.
A ratio is the peer's time over Murmure's.
Client: every person's value is randomised. Server: every report is aggregated and the shares are estimated.
Murmure's figures are whole public calls, secure randomness and validation included; base is NumPy alone, fast
adds Numba, whose compile time has rows of its own, and up to two threads (`--one-core` keeps to one core).
No peer has secure randomness for categories, and none uses threads but scikit-learn, Flower, statsmodels and lifelines.
Where two peers, or two ways of one peer, do a task, the faster one stands here.

"""


def main():
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one-core", action="store_true", help="keep every worker on one core")
    parser.add_argument("--large", action="store_true", help=f"a table of {LARGEST:,} rows too, once")
    parser.add_argument(
        "--only-large", action="store_true", help="add the largest table and Spark to what the last run measured"
    )
    parser.add_argument(
        "--only-curator", action="store_true", help="measure noise and learners again; keep the rest of the last run"
    )
    parser.add_argument(
        "--only-secure", action="store_true", help="measure sums over parties again; keep the rest of the last run"
    )
    parser.add_argument(
        "--only-econometrics", action="store_true", help="measure regressions again; keep the rest of the last run"
    )
    options = parser.parse_args()
    parts = options.only_curator + options.only_secure + options.only_econometrics
    if options.only_large + parts > 1:
        parser.error("one --only at a time")
    options.large |= options.only_large
    only = options.only_large or parts
    rounds = 1 if options.quick else options.rounds

    if options.one_core:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # workers inherit it
    load = os.getloadavg()[0]
    pythons = {peer: python_of(peer) for peer in PEERS}
    top = head(pythons, rounds, load, " ".join(["script/bench", *sys.argv[1:]]))
    if only:
        top = top.replace("`script/bench ", "`script/bench` and `script/bench ", 1)
        last = PLACE / "results.json"
        if not last.is_file():
            parser.error("--only needs the results of an earlier full run; run script/bench first")
        held = json.loads(last.read_text())
        again = CURATOR if options.only_curator else SECURE if options.only_secure else ("spark.",)
        again = ECONOMETRICS if options.only_econometrics else again
        records = [r for r in held if not r["task"].startswith(again)]
        if options.only_large:
            records = [r for r in records if r.get("n") != LARGEST]
    else:
        records = compile_cold()
    with tempfile.TemporaryDirectory(prefix="murmure-bench-") as folder:
        for i in range(0 if options.only_large else rounds):
            say(f"round {i + 1} of {rounds}")
            if options.only_curator:
                records += curator_round(pythons)
            elif options.only_secure:
                records += secure_round(pythons)
            elif options.only_econometrics:
                records += econometrics_round(pythons, Path(folder))
            else:
                records += one_round(pythons, Path(folder))
        if options.only_large:
            records += work(sys.executable, "ours_large.py", "arrow", folder, str(SIZES[-1]), "make")
        if not parts:
            records += on_spark(folder, SIZES[-1], "files", "scan", *["jvm"] * options.large)
        if options.large:
            records += large_tables(Path(folder), LARGEST)

    (PLACE / "results.json").write_text(json.dumps(records, indent=1))
    text = render(records)
    errors = {(r["lib"], r["task"]): r["error"] for r in records if "error" in r}
    if errors:  # names only: messages may hold paths of this machine
        text += "\nFailed: " + ", ".join(f"{lib} {task}" for lib, task in sorted(errors)) + ".\n"
    (ROOT / "bench" / "results.md").write_text(top + text)
    print(text)
    for (lib, task), error in sorted(errors.items()):
        say(f"{lib}: {task}: {error}")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
