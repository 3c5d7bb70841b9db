"""Sums of functions of rows are those of the rows' values on the grid, to the last bit, whatever the order."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import murmure as mu
from murmure.core.errors import InvalidParameter, OutsideDomain, PlanRefused
from murmure.core.random import Random
from murmure.plan.codec import part_from_dict, part_to_dict
from murmure.plan.plan import Plan
from murmure.show.language import Language
from murmure.statistics.exact.function_sums import FunctionSums
from murmure.statistics.exact.function_sums_by_place import FunctionSumsByPlace
from murmure.statistics.expressions import row_functions
from murmure.statistics.expressions.row_functions import RowFunction

SCHEMA = mu.Schema({"y": mu.Integers(-50, 50), "x": mu.Integers(0, 1000), "ward": mu.Categories(["A", "B"])})


class Given(RowFunction):
    """A function that gives back what it was told: what is tested is the adding up."""

    found: Any = None

    def labels(self, inputs: Any, settings: Any) -> tuple[str, ...]:
        return tuple(settings)

    def values(self, x: Any, at: Any, settings: Any) -> Any:
        return np.array([self.found[int(v)] for v in x[0]]).reshape(len(x[0]), len(settings))

    def in_words(self, inputs: Any, at: Any, settings: Any) -> tuple[str, str]:
        return "what was given", "ce qui a été donné"


GIVEN = Given()


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Given:
    monkeypatch.setitem(row_functions.FUNCTIONS, "given", f"{__name__}:GIVEN")
    monkeypatch.setattr(row_functions, "_load", lambda place: GIVEN)
    return GIVEN


def on_grid(v: float) -> int:
    """v 2**62, to the nearest whole number, halves to even."""
    return round(Fraction(v) * 2**62)


def test_every_float_is_added_as_its_nearest_multiple(given: Given) -> None:
    """From the smallest floats to nearly 2**62, of both signs, and around halves of the grid."""
    words = Random.seeded(3).words(1000)
    sizes = [(int(w) % 2**53) * 2.0 ** (int(w >> np.uint64(53)) % 170 - 161) for w in words[:990]]
    hard = [
        5e-324,
        2.0**-63,
        3 * 2.0**-63,
        2.0**-62,
        -(2.0**-60),
        2.0**62 * (1 - 2.0**-53),
        2.0**40,
        2.0**40 - 2.0**-13,
    ]
    values = [v if int(w) & 1 else -v for v, w in zip([*sizes, *hard, 0.1, -1 / 3], words, strict=True)]
    values = [v if abs(v) < 2.0**62 else v / 2**30 for v in values] + [0.5]
    given.found = values
    asked = FunctionSums(SCHEMA, "given", ("x",), settings=("value",))
    x = (np.arange(1001),)

    assert asked.lift(x)[:, 0].tolist() == [on_grid(v) for v in values]
    assert asked.tally(x).tolist() == [sum(on_grid(v) for v in values), 0]
    assert asked.tally((np.arange(1001)[::-1],)).tolist() == asked.tally(x).tolist()
    found = asked.interpret_exact(asked.tally(x), 1001)
    assert found.sums == (Fraction(sum(on_grid(v) for v in values), 2**62),)
    assert found.bits == abs(sum(on_grid(v) for v in values)).bit_length() and found.n == 1001


def test_many_rows_of_the_largest_numbers_add_up(given: Given) -> None:
    """More rows than are added at a time, each at the largest value that there is: nothing is lost."""
    given.found = [2.0**62 * (1 - 2.0**-53), 2.0**40 - 2.0**-12]
    asked = FunctionSums(SCHEMA, "given", ("x",), settings=("value",))
    for code in (0, 1):
        assert asked.tally((np.full(20_000, code),)).tolist() == [20_000 * on_grid(given.found[code]), 0]


@pytest.mark.parametrize(
    ("bad", "adds"), [(2.0**62, 2.0**62), (-(2.0**63), -(2.0**62)), (float("nan"), 0.0), (float("inf"), 2.0**62)]
)
def test_a_row_that_does_not_fit_stops_nobody(given: Given, bad: float, adds: float) -> None:
    """It is cut and counted, by whoever holds it; the sum over all says how many, to everybody, and not whose."""
    given.found = [0.0, 1.0, bad]
    asked = FunctionSums(SCHEMA, "given", ("x",), settings=("value",))
    x = (np.array([0, 1, 2, 0, 2]),)
    own, other = asked.tally(x), asked.tally((np.array([1, 1]),))

    assert own.tolist() == asked.lift(x).sum(axis=0).tolist() == [on_grid(1.0) + 2 * on_grid(adds), 2]
    assert len(own) == len(other) == asked.width == 2 and max(map(abs, own)) <= 5 * asked.largest
    assert asked.interpret_exact(other, 2).sums == (2,) and asked.interpret_exact(other, 2).labels == asked.labels == (
        "value",
    )
    with pytest.raises(OutsideDomain, match=r"^given: 2 rows add more than 2\*\*62") as told:
        asked.interpret_exact(own + other, 7)
    assert told.value.row is None


def test_rows_at_no_place_stop_nobody(given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first figure is a place: what lies beyond, or is none, adds nothing anywhere, and is counted."""
    monkeypatch.setattr(Given, "values", lambda self, x, at, settings: np.array([self.found[int(v)] for v in x[0]]))
    nan = float("nan")
    given.found = [(0, 1.5, 1), (1, 2.5, 1), (2, 9, 9), (-1, 9, 9), (nan, 9, 9), (1, nan, 1)]
    asked = FunctionSumsByPlace(FunctionSums(SCHEMA, "given", ("x",), settings=("place", "value", "all")), 2, 1)
    fine, x = (np.array([0, 1, 1]),), (np.arange(6),)

    assert asked.interpret_exact(asked.tally(fine), 3).sums == (1.5, 5, 3)
    assert asked.tally(x).tolist() == asked.lift(x).sum(axis=0).tolist()
    assert asked.tally(x)[-1] == 4
    with pytest.raises(OutsideDomain, match="4 rows add"):
        asked.interpret_exact(asked.tally(x), 6)


def test_residuals_are_those_of_fractions() -> None:
    """All three kinds, against exact arithmetic on every row (floats of a row are good to 1e-12 here)."""
    words = Random.seeded(4).words(600).reshape(3, 200)
    y, x = (words[0] % np.uint64(101)).astype(np.int64), (words[1] % np.uint64(1001)).astype(np.int64)
    ward = (words[2] % np.uint64(2)).astype(np.int64)
    at = (Fraction(5, 2), Fraction(1, 30), Fraction(-7, 3))
    z = [(Fraction(1), Fraction(int(a)), Fraction(int(b == 1))) for a, b in zip(x, ward, strict=True)]
    e = [int(v) - 50 - sum(a * b for a, b in zip(at, row, strict=True)) for v, row in zip(y, z, strict=True)]
    sums = [sum(r * row[j] for r, row in zip(e, z, strict=True)) for j in range(3)]
    meat = [sum(r * r * row[i] * row[j] for r, row in zip(e, z, strict=True)) for i in range(3) for j in range(i, 3)]
    wanted = {"scores": sums, "squares": [*sums, sum(r * r for r in e)], "meat": meat}

    for kind, exact in wanted.items():
        asked = FunctionSums(SCHEMA, "residuals", ("y", "1", "x", "ward == 'B'"), tuple(map(str, at)), (kind,))
        found = asked.interpret_exact(asked.tally((y, x, ward)), 200).sums
        assert [float(v) for v in found] == pytest.approx([float(v) for v in exact], rel=1e-12)
        assert len(asked.labels) == asked.width - 1 == len(exact)


def test_a_row_with_an_unknown_label_is_left_out() -> None:
    asked = FunctionSums(SCHEMA, "residuals", ("y", "1", "ward == 'B'"), ("0", "0"), ("scores",))
    x = asked.encode_lenient({"y": [5, 7], "ward": ["B", "Z"]})

    assert asked.interpret_exact(asked.tally(x), 2).sums == (5, 5)
    assert asked.lift(x)[1].tolist() == [0, 0, 0]


def test_it_is_a_plan_in_the_clear_and_none_under_a_curator() -> None:
    """It states no bounds of one row, so noise is refused; JSON gives the same question back."""
    asked = FunctionSums(SCHEMA, "residuals", ("y", "1", "x"), ("1/2", "0.25"), ("scores",))
    found: Any = mu.run(Plan(asked), {"y": [1, 2], "x": [3, 4]}).estimate

    assert found.sums == (Fraction(1, 4), Fraction(1, 4) * -3 + Fraction(1, 2) * 4)
    assert part_from_dict(part_to_dict(asked), {"Evaluated": ""}) == asked
    assert "residuals of y" in asked.in_words() and "résidus" in Language("fr").say(asked.words())
    with pytest.raises(PlanRefused, match="cannot protect"):
        Plan(asked, curator=mu.DiscreteLaplace(1.0))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("unknown", ("y",)), "must be one of .*residuals"),
        (("residuals", ("y",), (), ("scores",)), "the outcome and at least one term"),
        (("residuals", ("y", "1"), ("1",), ("steak",)), "must be one of meat"),
        (("residuals", ("y", "1"), ("1", "2"), ("meat",)), "a coefficient for each"),
        (("residuals", ("y", "1"), ("one",), ("meat",)), "must hold numbers"),
        (("residuals", ("y", "1"), ("1/0",), ("meat",)), "must hold numbers"),
        (("residuals", ("y", "z"), ("1",), ("meat",)), "'z'"),
        (("residuals", "y", ("1",), ("meat",)), "tuple of texts"),
        (("residuals", ("y", "1"), ("1" + 400 * "0",), ("meat",)), "too large for a float"),
        (
            ("residuals", ("y", "x ** 16" + 6 * " * x ** 16"), ("1",), ("meat",)),
            "by the bounds of its columns, .* can be too large for a float",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: Any, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        FunctionSums(SCHEMA, *arguments)


@pytest.mark.parametrize("name", sorted(row_functions.FUNCTIONS))
def test_every_listed_function_is_there(name: str) -> None:
    """The list holds texts only: each names a module that exists, and in it something that keeps the protocol."""
    found = row_functions.function_of(name)

    assert all(callable(getattr(found, part)) for part in ("labels", "values", "in_words"))
