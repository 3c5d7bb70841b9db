"""What Murmure 0.6.0 computed, wrote and printed, it still does: tests/frozen/data, which nobody edits.

Examples are found by their persisted JSON and run from it, so classes, files and functions may get other names. Where
one of those is in the way, tests/frozen/reach.py is the file to edit.
"""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.frozen import commands, figures, vectors
from tests.frozen.compare import differences, plain, unexpected
from tests.frozen.listed import key_of, listed
from tests.frozen.make import DATA, WouldChange, add, load
from tests.frozen.processor import wide_features

import murmure as mu

FROZEN = {kind: load(kind) for kind in figures.KINDS}
ENTRIES = [pytest.param(kind, key, id=f"{kind}-{key}") for kind, entries in FROZEN.items() for key in entries]
SCENES: dict[str, Any] = load("commands")
VECTORS: dict[str, Any] = load("vectors")


def wrong_in(kind: str, entry: dict[str, Any]) -> list[str]:
    """Which figures of an entry are not those that were frozen."""
    return differences(entry["figures"], figures.KINDS[kind](entry["kept"]))


# -- examples ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(
    bool(wide_features()), reason="NumPy's AVX-512 functions have other last bits; script/test switches them off"
)
@pytest.mark.parametrize(("kind", "key"), ENTRIES)
def test_an_example_gives_the_frozen_figures(kind: str, key: str) -> None:
    """Loaded from its JSON, listed or not: digests, integers, and floats to 1e-9."""
    wrong = wrong_in(kind, FROZEN[kind][key])

    assert not wrong, f"{kind}, {key}:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("kind", figures.KINDS)
def test_every_example_is_frozen(kind: str) -> None:
    """A new example, or one that is written in other words than before. Of a new one `make.py` adds the figures."""
    unknown = [key for key in listed()[kind] if key not in FROZEN[kind]]

    assert not unknown, f"listed and not frozen: {unknown}. If they are new: python -m tests.frozen.make --spark"


@pytest.mark.parametrize("kind", figures.KINDS)
def test_keys_name_what_is_kept(kind: str) -> None:
    """The key of an entry is a hash of its JSON: an input that somebody edits is found."""
    assert all(key_of(entry["kept"]) == key for key, entry in FROZEN[kind].items())


def test_there_is_enough_of_everything() -> None:
    """No data file was emptied: these were the counts when the set was made."""
    least = {"plans": 37, "sharings": 6, "mechanisms": 80, "noises": 25, "statistics": 98, "models": 67}
    least |= {"studies": 93, "learners": 44}

    assert {kind: len(FROZEN[kind]) >= count for kind, count in least.items()} == dict.fromkeys(least, True)
    assert len(VECTORS) >= LEAST_VECTORS and len(SCENES) >= LEAST_SCENES


LEAST_VECTORS, LEAST_SCENES = 326, 70


# -- vectors and commands ----------------------------------------------------------------------------------------------


def test_no_vector_was_edited() -> None:
    """Every entry of tests/vectors that was frozen is there, to the last character; others may have been added."""
    here = vectors.entries()

    assert not {key: about for key, about in VECTORS.items() if key not in here}


def test_every_vector_is_frozen() -> None:
    assert not [key for key in vectors.entries() if key not in VECTORS], "run python -m tests.frozen.make"


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.split("; ")[0][:70])
def test_a_command_prints_the_frozen_keys_and_figures(scene: str, tmp_path: Path) -> None:
    """With --json: every key, and all that does not change from run to run but sentences."""
    if scene == commands.BETWEEN and not hasattr(os, "fork"):
        pytest.skip("needs fork")
    frozen, found = SCENES[scene], commands.told(commands.played(scene, tmp_path))
    wrong = unexpected(differences(frozen, commands.only_frozen(frozen, found)), scene.split()[0])

    assert not wrong, f"murmure {scene}:\n" + "\n".join(wrong[:20])


def test_every_scene_is_frozen() -> None:
    assert not [scene for scene in commands.SCENES if scene not in SCENES], "run python -m tests.frozen.make"


# -- what the tests above must catch -----------------------------------------------------------------------------------


def an_entry(kind: str, name: str) -> dict[str, Any]:
    return copy.deepcopy(next(entry for key, entry in FROZEN[kind].items() if key.startswith(f"{name} ")))


def test_a_changed_figure_is_caught_and_named() -> None:
    """By one, in one integer of a sum; and by a part in a hundred million, in one float."""
    entry = an_entry("statistics", "Mean")
    entry["figures"]["clear"]["total"]["sum"][0] += 1
    entry["figures"]["clear"]["run"]["estimate"]["mean"][0] *= 1 + 1e-8
    wrong = wrong_in("statistics", entry)

    assert sorted(line.split(":")[0] for line in wrong) == ["/clear/run/estimate/mean[0]", "/clear/total/sum[0]"]


def test_a_missing_and_a_new_key_are_caught_and_named() -> None:
    """Of a figure that vanished, and of one that nobody froze."""
    entry = an_entry("mechanisms", "GRR")
    entry["figures"]["certificates"]["record"]["rho"] = 0.5
    del entry["figures"]["questions"]
    wrong = wrong_in("mechanisms", entry)

    assert wrong == ["/questions: is new, and was not frozen", "/certificates/record/rho: was frozen, and is gone"]


def test_a_renamed_persisted_name_is_caught() -> None:
    """The old JSON no longer loads; and the new JSON is an example that nobody froze."""
    entry = an_entry("statistics", "Mean")
    entry["kept"]["part"]["type"] = "Average"

    with pytest.raises(mu.MurmureError, match="Average"):
        wrong_in("statistics", entry)
    assert key_of(entry["kept"]) not in FROZEN["statistics"]


def test_a_changed_command_is_caught() -> None:
    """A key that is gone, a figure that moved; but not a figure that changes in every run."""
    frozen = [{"a": 1, "b": dict(commands.CHANGES), "c": "word"}]

    def wrong(found: Any) -> list[str]:
        return differences(frozen, commands.only_frozen(frozen, found))

    assert wrong([{"a": 1, "b": 0.7, "c": "word"}]) == []
    assert wrong([{"a": 2, "b": 0.7, "c": "word"}]) == ["[0]/a: 1 was frozen, found 2"]
    assert wrong([{"a": 1, "c": "word"}]) == ["[0]/b: was frozen, and is gone"]
    assert wrong([{"a": True, "b": 0.7, "c": "word"}]) == ["[0]/a: 1 was frozen, found True"]


@pytest.mark.parametrize(
    ("frozen", "found"),
    [(1, 1.0), (1, True), (0.5, 0.5 * (1 + 2e-9)), ("float nan", 0.0), ("float inf", "float -inf"), ([1], [1, 2])],
    ids=str,
)
def test_what_is_not_equal(frozen: Any, found: Any) -> None:
    assert differences(frozen, found)


def test_what_is_equal() -> None:
    """Another order of keys, a rounding of another machine, infinities and NaN."""
    one = {"a": 0.1, "b": plain([float("nan"), float("-inf")])}

    assert differences(one, {"b": ["float nan", "float -inf"], "a": 0.1 * (1 + 1e-12)}) == []


def test_a_long_list_is_a_hash_that_tells_places(tmp_path: Path) -> None:
    """One integer that changed, or two that changed places, and floats likewise."""
    whole, real = list(range(100)), [0.5 + i for i in range(100)]

    assert differences(plain(whole), plain([1, 0, *whole[2:]]))
    assert differences(plain(real), plain([*real[:50], real[51], real[50], *real[52:]]))
    assert not differences(plain(real), plain([v * (1 + 1e-13) for v in real]))


def test_make_only_adds(tmp_path: Path) -> None:
    """A changed entry is refused and nothing is written; a new one leaves the others as they were, byte for byte."""
    add("x", {"b": {"n": 1}}, tmp_path)
    before = (tmp_path / "x.json").read_text()
    with pytest.raises(WouldChange, match="b/n: 1 was frozen, found 2"):
        add("x", {"a": {"n": 1}, "b": {"n": 2}}, tmp_path)

    assert (tmp_path / "x.json").read_text() == before
    assert add("x", {"a": {"n": 3}, "b": {"n": 1}}, tmp_path) == ["a"]
    assert set(before.splitlines()) < set((tmp_path / "x.json").read_text().replace("},\n", "}\n").splitlines())


def test_data_files_are_small() -> None:
    assert sum(path.stat().st_size for path in DATA.glob("*.json")) < 1_600_000
    assert all(isinstance(json.loads(path.read_text("utf-8")), dict) for path in DATA.glob("*.json"))
