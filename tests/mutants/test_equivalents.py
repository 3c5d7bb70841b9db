"""The list of equivalents survives edits, and refuses to be out of date."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mutants.equivalents import Equivalents, StaleEntry
from tests.mutants.mutants import SourceFile, places
from tests.mutants.toy import SUMS, make_toy

ROOT = Path(__file__).resolve().parents[2]
ENTRY = """[[equivalent]]
file = "src/toy/sums.py"
function = "larger"
line = "if a > b:"
becomes = "if a >= b:"
reason = "equal numbers are the same number"
"""


def listed(root: Path, text: str = ENTRY) -> Equivalents:
    (root / "equivalents.toml").write_text(text)
    return Equivalents.of_file(root / "equivalents.toml")


def entries_used(equivalents: Equivalents, text: str) -> list[str]:
    mutants = [mutant for place in places(SourceFile("src/toy/sums.py", text)) for mutant in place.mutants]
    return [mutant.becomes for mutant in mutants if equivalents.entry(mutant)]


def test_an_entry_holds_wherever_its_line_has_moved_to(tmp_path: Path) -> None:
    root = make_toy(tmp_path)
    moved = "x = 1\n" * 20 + SUMS
    (root / "src/toy/sums.py").write_text(moved)
    equivalents = listed(root)

    equivalents.check(root)
    assert entries_used(equivalents, SUMS) == entries_used(equivalents, moved) == ["if a >= b:"]


@pytest.mark.parametrize("change", [("if a > b:", "if b < a:"), ("def larger", "def largest")])
def test_an_entry_of_another_text_is_an_error(tmp_path: Path, change: tuple[str, str]) -> None:
    root = make_toy(tmp_path)
    (root / "src/toy/sums.py").write_text(SUMS.replace(*change))

    with pytest.raises(StaleEntry, match=r"src/toy/sums.py, larger: 'if a > b:' -> 'if a >= b:'"):
        listed(root).check(root)


def test_an_entry_of_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StaleEntry, match="fit no mutant"):
        listed(tmp_path).check(tmp_path)


def test_an_entry_needs_a_reason(tmp_path: Path) -> None:
    with pytest.raises(StaleEntry, match="entry 1 needs texts for file, function, line, becomes, reason"):
        listed(tmp_path, ENTRY.replace("equal numbers are the same number", " "))


def test_no_entry_of_this_project_is_out_of_date() -> None:
    Equivalents.of_file(ROOT / "tests" / "mutants" / "equivalents.toml").check(ROOT)
