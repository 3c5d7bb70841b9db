"""A sample is seeded and uniform, and edits hardly move it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.mutants.mutants import Place, SourceFile, places, sample, source_files
from tests.mutants.toy import SUMS, make_toy

PATH = "src/toy/sums.py"


def toy_places(text: str = SUMS) -> list[Place]:
    return places(SourceFile(PATH, text))


def test_a_seed_gives_the_same_sample_whatever_the_order() -> None:
    found = toy_places()

    assert sample(found, 5, 1) == sample(found[::-1], 5, 1)
    assert sample(found, 5, 1) != sample(found, 5, 2)
    assert sample(found, 3, 1) == sample(found, 5, 1)[:3]
    assert set(sample(found, 5, 1)) < set(sample(found, None, 1)) == {m for place in found for m in place.mutants}


def test_every_place_and_every_replacement_is_equally_likely() -> None:
    """4000 seeds: each place is drawn first in a share of 1 / places, and each replacement in half of them.

    Six standard deviations; the seeds are fixed, so it passes always or never.
    """
    found, seeds = toy_places(), 4000
    drawn = [sample(found, 1, seed)[0] for seed in range(seeds)]
    by_place = Counter(mutant.replacement.start for mutant in drawn)
    share = 1 / len(found)

    assert len({place.key for place in found}) == len(by_place) == len(found)
    assert all(abs(n - seeds * share) < 6 * (seeds * share * (1 - share)) ** 0.5 for n in by_place.values())
    for place in found:
        n = by_place[place.mutants[0].replacement.start]
        by_operator = Counter(
            m.replacement.operator for m in drawn if m.replacement.start == place.mutants[0].replacement.start
        )
        expected = n / len(place.mutants)
        assert all(abs(by_operator[m.replacement.operator] - expected) <= 6 * expected**0.5 for m in place.mutants)


def test_an_edit_elsewhere_leaves_the_sample_as_it_is() -> None:
    edited = SUMS.replace("def larger", "def more(x):\n    return x + 1\n\n\ndef larger")
    was, now = ([(m.scope, m.becomes) for m in sample(toy_places(text), 99, 1)] for text in (SUMS, edited))

    assert [mutant for mutant in now if mutant[0] != "more"] == was
    assert len(now) == len(was) + 1


def test_a_mutant_knows_its_function_and_its_line() -> None:
    by_line = {mutant.becomes: mutant for place in toy_places() for mutant in place.mutants}
    mutant = by_line["if a >= b:"]

    assert (mutant.path, mutant.scope, mutant.was) == (PATH, "larger", "if a > b:")
    assert "-    if a > b:\n+    if a >= b:" in mutant.diff


def test_the_same_mutant_of_another_text_is_another() -> None:
    was, now = (toy_places(text)[0].mutants[0] for text in (SUMS, SUMS + "\n"))

    assert was.becomes == now.becomes and was.digest != now.digest


def test_files_are_found_by_folder_and_by_name(tmp_path: Path) -> None:
    root = make_toy(tmp_path, more="x = 1\n")

    def paths(*names: str) -> list[str]:
        return [file.path for file in source_files(root, root / "src" / "toy", names)]

    assert paths() == ["src/toy/__init__.py", "src/toy/more.py", PATH]
    assert paths("sums.py", "sums.py") == [PATH]
    with pytest.raises(FileNotFoundError, match="'less' is neither a folder nor a file of src/toy"):
        paths("less")
