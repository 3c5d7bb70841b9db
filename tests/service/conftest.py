"""The tests are no package: what several of them share (hands.py) is found by its folder."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
