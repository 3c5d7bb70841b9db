"""The bench of the collector starts, and says of each figure what was wanted of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parents[2] / "bench" / "collector" / "run.py"
RENDER = """
import sys
sys.path.insert(0, sys.argv[1])
sys.path.insert(0, sys.argv[2])
from rows import LOADS, render
measured = {"per_second": 2000.0, "p50": 1.5, "slowest": 50.0, "refused": 0}
measured |= {"cpu": 200.0, "lag": 0.1, "load": 1.0, "others": 0.0}
text, missed = render([{"task": LOADS[0].task, "p99": p99, **measured} for p99 in [float(sys.argv[3])]])
print(len(missed), text)
"""


def python(*arguments: object) -> str:
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_starts() -> None:
    """It takes names from the files of the other benches, which are moved about."""
    assert "--soak" in python(RUN, "--help")


def test_a_row_says_whether_it_was_met() -> None:
    folders = RUN.parent.parent, RUN.parent
    met, missed = (python("-c", RENDER, *folders, p99) for p99 in (5, 500))

    assert met.startswith("0 ## Reports") and "| yes / yes / yes / yes |" in met
    assert missed.startswith("1 ## Reports") and "| yes / **no** / yes / yes |" in missed
