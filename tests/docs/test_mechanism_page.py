"""The mechanism of docs/how-to-add-a-mechanism.md, saved as a file, satisfies what script/test asks of every file."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to-add-a-mechanism.md"
SETTINGS = ROOT / "pyproject.toml"


def main_block() -> str:
    """The one python block that is a whole file: it ends in EXAMPLES."""
    held = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (block,) = (b for b in held if re.search(r"^EXAMPLES = ", b, re.M))
    return block


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "--no-cache", f"--config={SETTINGS}"),
        ("ruff", "format", "--check", "--diff", "--no-cache", f"--config={SETTINGS}"),
        ("mypy", f"--config-file={SETTINGS}"),
    ],
    ids=["ruff check", "ruff format", "mypy"],
)
def test_the_block_is_a_clean_file(command, tmp_path):
    """ruff and mypy, with the settings of this project, find nothing to say."""
    file = tmp_path / "projective.py"
    file.write_text(main_block(), encoding="utf-8")
    cache = [f"--cache-dir={SETTINGS.parent / '.mypy_cache'}"] if command[0] == "mypy" else []  # script/test fills it
    ran = subprocess.run(
        [sys.executable, "-m", *command, *cache, file], cwd=ROOT, capture_output=True, text=True, timeout=120
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
