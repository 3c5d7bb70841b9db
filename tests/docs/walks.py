"""Four walks through the package, traced: which functions one answer, one row, one query and one regression cross.

`python -m tests.docs.walks` writes them into docs/how-it-works.md; a test compares. Each walk runs in a process of its
own, because what an earlier walk computed and cached would be missing from the next one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-it-works.md"
START, END = "<!-- walks: written by `python -m tests.docs.walks` -->\n", "<!-- end of walks -->\n"
WIDTH = 92  # what a page shows without wrapping

TITLES = {
    "answer": "One answer: `mu.run(plan, answers)`, then an interval",
    "row": "One sanitised row: `mu.sanitise(table, mechanism)`",
    "query": "One query with a ledger: `murmure query count`",
    "regression": "One regression between parties: `econometrics.ols(..., privacy=mu.Secure())`",
}


def answer() -> Callable[[], Any]:
    import murmure as mu

    question = mu.Categories(["no", "yes"])

    def walk() -> None:
        plan = mu.Plan(mu.Histogram(question), person=mu.GRR(question, epsilon=1.0))
        mu.run(plan, ["no", "yes", "no"], engine=mu.Memory(threads=1)).estimate.interval(0.95)

    return walk


def row() -> Callable[[], Any]:
    import murmure as mu

    schema = mu.Schema({"age": mu.Integers(18, 99), "smoker": mu.Categories(["no", "yes"])})

    def walk() -> None:
        mu.sanitise({"age": [30], "smoker": ["no"]}, mu.SMP(schema, epsilon=1.0), rng=mu.Random.seeded(7))

    return walk


def query() -> Callable[[], Any]:
    from murmure.cli import main

    folder = Path(tempfile.mkdtemp())
    (folder / "people.csv").write_text("age\n30\n41\n")
    (folder / "schema.toml").write_text('[columns.age]\ntype = "integers"\nlow = 18\nhigh = 99\n')
    given = f"query count {folder}/people.csv --column age --schema {folder}/schema.toml --epsilon 0.5 --json"

    def walk() -> None:
        main([*given.split(), "--ledger", f"{folder}/ledger.db", "--budget", "1"], standalone_mode=False)

    return walk


def regression() -> Callable[[], Any]:
    import murmure as mu
    from murmure import econometrics

    schema = mu.Schema({"age": mu.Integers(18, 99), "stay": mu.Integers(0, 30)})
    tables = [{"age": [20 + i, 45 + 2 * i, 60], "stay": [1, 4, 2 + i]} for i in range(3)]

    def walk() -> None:
        econometrics.ols("stay ~ age", tables, schema=schema, privacy=mu.Secure(rows_are_public=True))

    return walk


class Trace:
    """The functions of the package in the order of first entry; what imports run is left out."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str], None] = {}
        self._imports = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event not in ("call", "return"):
            return
        name = frame.f_globals.get("__name__", "")
        if not name.startswith("murmure"):
            return
        code = frame.f_code
        # The catalogue reads which module to import off the files: that is a part of importing it.
        if code.co_name == "<module>" or (name, code.co_name) == ("murmure.catalogue", "_table"):
            self._imports += 1 if event == "call" else -1
        elif event == "call" and not self._imports and "<lambda>" not in code.co_qualname:
            function = code.co_qualname.replace("<locals>.", "")
            if not re.search(
                r"<|^_$|__(getattr|setattr|init|eq|hash|repr|len|getitem|iter|contains|enter|exit)__", function
            ):
                self.functions.setdefault((name.removeprefix("murmure."), function))


def traced(walk: Callable[[], Any]) -> list[tuple[str, str]]:
    trace = Trace()
    sys.setprofile(trace)
    try:
        walk()
    finally:
        sys.setprofile(None)
    return list(trace.functions)


def folded(functions: list[tuple[str, str]]) -> str:
    """A line for each stay in a package, and a count."""
    lines: list[tuple[str, list[str]]] = []
    for module, function in functions:
        package = module.rpartition(".")[0].replace(".", "/") or module
        if not lines or lines[-1][0] != package:
            lines.append((package, []))
        lines[-1][1].append(function)
    wide = max(len(package) for package, _ in lines) + 2
    out = []
    for package, names in lines:
        first, *rest = textwrap.wrap(", ".join(names), WIDTH - wide, break_long_words=False, break_on_hyphens=False)
        out += [package.ljust(wide) + first, *(" " * wide + line for line in rest)]
    files = len({module for module, _ in functions})
    count = f"{len(functions)} functions in {files} files of {len({p for p, _ in lines})} folders"
    return "\n".join([*out, "", f"{count}; the folder changes {len(lines) - 1} times."])


def written(name: str) -> str:
    """The folded walk, by a fresh process."""
    code = f"from tests.docs import walks\nw = walks.{name}()\nprint('\\x00' + walks.folded(walks.traced(w)))"
    # isinstance() looks for the members of a protocol in the order of a set, which depends on the seed of hashes
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.rpartition("\x00")[2].rstrip("\n")


def section() -> str:
    blocks = []
    for name, title in TITLES.items():
        blocks.append(f"{title}.\n\n```text\n{written(name)}\n```\n")
    return START + "\n" + "\n".join(blocks) + "\n" + END


def page_with(new: str) -> str:
    text = PAGE.read_text(encoding="utf-8")
    return text[: text.index(START)] + new + text[text.index(END) + len(END) :]


if __name__ == "__main__":
    PAGE.write_text(page_with(section()), encoding="utf-8")
