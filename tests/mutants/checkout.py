"""A copy of the project in which a mutant may be tried: the working tree itself is never touched.

The copy has an environment of its own, with everything of the one that runs this and, before it, the copy's package:
tests that start `sys.executable` with an empty environment run the mutant too. Compiled kernels are cached in the
copy; for a mutant that kernels may depend on, in a folder that goes away with it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

from tests.mutants.mutants import Mutant, digest_of

IGNORED = {"__pycache__", ".git", ".cache", ".venv", ".hypothesis", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
BUILT = "*.mo"  # message catalogues: not in git, and the package asks for them
KERNELS = re.compile(r"\bnjit\b|\bcompile_kernel\b")  # a file that has compiled kernels

MAPPING = ".mapping"  # variables for every Python of the checkout, while the map is made
# Some tests start Python with an empty environment: coverage has to find its configuration all the same.
PASS_ON = (
    "import os; p = {0!r}; [os.environ.setdefault(*line.split('=', 1)) for line in open(p).read().splitlines()]"
    " if os.path.exists(p) else None"
)


def project_files(root: Path) -> list[Path]:
    """What git knows or would add, and what was built from it; without git, all but caches."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0 and listed.stdout:
        found = {Path(os.fsdecode(name)) for name in listed.stdout.split(b"\0") if name}
    else:
        found = {path.relative_to(root) for path in root.rglob("*") if path.is_file()}
    found |= {path.relative_to(root) for path in (root / "src").rglob(BUILT)}
    return sorted(path for path in found if not IGNORED & set(path.parts) and (root / path).is_file())


class Checkout:
    def __init__(self, root: Path, place: Path, kernel_cache: Path) -> None:
        """kernel_cache: kept from run to run; only kernels of unmutated files are ever written to it."""
        self.root, self.kernel_cache = place, kernel_cache
        shutil.rmtree(place, ignore_errors=True)
        for path in project_files(root):
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / path, place / path)
        self.python = self._environment(place / ".venv")

    def _environment(self, folder: Path) -> Path:
        venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
        python = folder / "bin" / "python"
        ours = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
        theirs = sysconfig.get_path("purelib")
        lines = [
            str(self.root / "src"),
            PASS_ON.format(str(self.root / MAPPING)),
            f"import site; site.addsitedir({theirs!r})",
        ]
        (ours / "checkout.pth").write_text("\n".join(lines) + "\n")
        for script in Path(sys.executable).parent.iterdir():
            target = folder / "bin" / script.name
            if target.exists() or not script.is_file():
                continue
            text = script.read_bytes()
            first, _, rest = text.partition(b"\n")
            if first.startswith(b"#!" + os.fsencode(Path(sys.executable).parent / "python")):
                target.write_bytes(b"#!" + os.fsencode(python) + b"\n" + rest)
                target.chmod(0o755)
            else:
                target.symlink_to(script)
        return python

    @contextlib.contextmanager
    def with_mutant(self, mutant: Mutant | None) -> Iterator[Path]:
        """The file mutated, and the folder for compiled kernels meanwhile."""
        if mutant is None:
            yield self.kernel_cache
            return
        path = self.root / mutant.path
        before, stat = path.read_bytes(), path.stat()
        cache = self.root / ".kernels-of-mutant" if mutant.path in self.kernel_files else self.kernel_cache
        try:
            path.write_text(mutant.text, encoding="utf-8")
            # Python and Numba know a file by its size and second: each mutant gets a second of its own.
            second = int(mutant.digest[:7], 16)
            os.utime(path, (second, second))
            forget_bytecode(path)
            yield cache
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            forget_bytecode(path)
            if cache != self.kernel_cache:
                shutil.rmtree(cache, ignore_errors=True)
            shutil.rmtree(
                self.root / ".hypothesis", ignore_errors=True
            )  # else one mutant's finds are tried on the next

    @property
    def kernel_files(self) -> set[str]:
        """Files with compiled kernels, and what they import: its constants are frozen into the kernels."""
        found = set()
        for path in (self.root / "src").rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if KERNELS.search(text):
                found.add(path)
                for name in re.findall(r"^from ([\w.]+) import|^import ([\w.]+)", text, re.MULTILINE):
                    imported = self.root / "src" / "/".join("".join(name).split("."))
                    found |= {p for p in (imported.with_suffix(".py"), imported / "__init__.py") if p.exists()}
        return {path.relative_to(self.root).as_posix() for path in found}

    def remove(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)


def forget_bytecode(path: Path) -> None:
    for level in ("", "1", "2"):
        Path(importlib.util.cache_from_source(str(path), optimization=level)).unlink(missing_ok=True)


def tree_digest(root: Path, *folders: str) -> str:
    """Of all Python files of these folders."""
    names = (path for folder in folders for path in sorted((root / folder).rglob("*.py")))
    return digest_of(*(f"{path.relative_to(root).as_posix()}\0{path.read_text(encoding='utf-8')}" for path in names))
