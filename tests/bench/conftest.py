"""The files of bench/ import one another by their bare names, as script/bench runs them."""

import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench"
if str(BENCH) not in sys.path:
    sys.path.append(str(BENCH))
