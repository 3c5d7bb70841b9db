"""`script/faults`: many studies under faults, and how they ended.

Most are played in one process (faults.py); one in twenty is made of real processes and kill -9 (fault_processes.py).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.parties.fault_processes import killed
from tests.parties.faults import disturbed

PROCESSES = 20  # of so many runs one
MEMORY = Path("/dev/shm")  # a played run loses no power: its files need no disk


@dataclass
class Report:
    """ends: how many runs ended how; wrong: seeds of runs that ended as none may, and why."""

    ends: Counter[str] = field(default_factory=Counter)
    wrong: dict[str, str] = field(default_factory=dict)
    kills: int = 0
    faults: int = 0

    def played(self, seed: int) -> None:
        with_memory = str(MEMORY) if MEMORY.is_dir() else None
        place = Path(tempfile.mkdtemp(prefix="murmure-faults-", dir=with_memory))
        try:
            end, run = disturbed(seed, place)
        except Exception as error:
            self.wrong[f"played {seed}"] = f"{type(error).__name__}: {error}"
        else:
            self.ends[end] += 1
            self.kills, self.faults = self.kills + run.kills, self.faults + run.faults
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def real(self, seed: int) -> None:
        place = Path(tempfile.mkdtemp(prefix="murmure-faults-"))
        try:
            end, run = killed(seed, place)
        except Exception as error:
            self.wrong[f"real {seed}"] = f"{type(error).__name__}: {error}; left in {place}"
        else:
            self.ends[f"{end}, with processes"] += 1
            self.kills, self.faults = self.kills + run.kills, self.faults + run.cuts
            shutil.rmtree(place, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="script/faults", description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first run; the next has the next")
    parser.add_argument("--no-processes", action="store_true", help="play all of them")
    parser.add_argument("--only-processes", action="store_true", help="play none of them")
    options = parser.parse_args()
    report, begun = Report(), time.monotonic()
    for seed in range(options.seed, options.seed + options.runs):
        if options.only_processes or (seed % PROCESSES == PROCESSES - 1 and not options.no_processes):
            report.real(seed)
        else:
            report.played(seed)
        if sys.stderr.isatty():
            print(f"\rfaults: {seed - options.seed + 1} of {options.runs}", end="", file=sys.stderr, flush=True)
    print(f"{options.runs} runs from seed {options.seed} in {time.monotonic() - begun:.0f} s:")
    for end, count in sorted(report.ends.items()):
        print(f"{count:6}  {'the exact sum' + end[3:] if end.startswith('sum') else 'refused: ' + end}")
    print(f"{report.kills} kills; {report.faults} requests or lines lost, cut, changed or repeated")
    print(f"{len(report.wrong)} runs ended as none may")
    for seed, why in report.wrong.items():
        print(f"  {seed}: {why}")
    sys.exit(1 if report.wrong else 0)


if __name__ == "__main__":
    main()
