"""Which tests a mutant is tried on: the fastest first, and where there is a limit only those that fit into it."""

from __future__ import annotations

from typing import Any, cast

from tests.mutants.mutants import Mutant
from tests.mutants.selection import FIRST, PER_FILE, Selection, fastest

SECONDS = {"a.py::quick": 1.0, "a.py::slower": 10.0, "b.py::long": 20.0, "b.py::slow": 300.0}


class Known(Selection):
    def __init__(self) -> None:
        """Without a map: `covering` has the answer."""

    def covering(self, mutant: Mutant, slow: bool | None = None) -> dict[str, float]:
        return {test: s for test, s in SECONDS.items() if slow is None or (s > 100) == slow}


def stages(**limits: Any) -> list[list[str]]:
    return list(Known().stages(cast(Mutant, None), covering_only=True, **limits))


def test_the_fastest_tests_come_first_and_then_all_others() -> None:
    assert stages() == [["a.py::quick", "a.py::slower"], ["b.py::long", "b.py::slow"]]
    assert 11.0 + PER_FILE <= FIRST < 31.0 + 2 * PER_FILE


def test_with_a_limit_no_more_tests_are_asked_than_fit_into_it() -> None:
    assert stages(most=40.0) == [["a.py::quick", "a.py::slower"], ["b.py::long"]]
    assert stages(most=30.0) == [["a.py::quick", "a.py::slower"], []]
    assert stages(most=5.0) == [["a.py::quick"], []]


def test_one_test_is_asked_however_long_it_takes() -> None:
    assert fastest({"b.py::slow": 300.0}, 5.0) == {"b.py::slow": 300.0}
