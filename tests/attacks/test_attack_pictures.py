"""Pictures of attacks: few lines each, an axis that shows what is small, and no empty axes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from murmure.attacks.audits.audit import audit
from murmure.attacks.base.attack_result import AttackResult
from murmure.attacks.base.pictures import MAX_CURVES, in_pictures
from murmure.attacks.base.success import Success, exact
from murmure.attacks.base.threat_model import ThreatModel
from murmure.core.random import Random
from murmure.show.document import Curves, Intervals, Table
from murmure.show.text import text


def result(*rows: Success, axis: str | None = "epsilon", unit: Any = "share") -> AttackResult:
    return AttackResult("made-up", "Made up", ThreatModel("a", "b", "c"), "share of hits", rows, axis, unit)


def lines(attackers: int, epsilons: int, tops: int) -> list[Success]:
    return [
        exact(f"attacker {a}", 0.1 * (a + 1) / (e + 1), 0.01 * t, at, epsilon=float(e), top=t)
        for a in range(attackers)
        for e in range(epsilons)
        for t in range(1, tops + 1)
        for at in (1.0, 2.0)
    ]


def pictures(shown: AttackResult) -> list[Curves]:
    return shown.document().of(Curves)


def test_a_few_lines_are_in_one_picture() -> None:
    (only,) = pictures(result(*lines(2, 2, 1)))

    assert len(only.curves) == 5 and only.table is not None
    assert str(only.curves[0].name) == "attacker 0 (epsilon 0, top 1)"


def test_many_lines_are_split_by_what_needs_the_fewest_pictures() -> None:
    """Two attackers, two epsilons, three k: by k, since each k has a baseline."""
    drawn = pictures(result(*lines(2, 2, 3)))

    assert [str(one.title) for one in drawn] == [f"share of hits (top {t})" for t in (1, 2, 3)]
    assert [[str(curve.name) for curve in one.curves] for one in drawn] == 3 * [
        [
            *("attacker 0 (epsilon 0)", "attacker 0 (epsilon 1)", "attacker 1 (epsilon 0)", "attacker 1 (epsilon 1)"),
            "without the reports",
        ]
    ]
    assert [one.table is None for one in drawn] == [True, True, False]  # the numbers once


def test_of_very_many_lines_the_highest_are_drawn() -> None:
    (only,) = pictures(result(*lines(9, 9, 1)))

    assert str(only.title) == "share of hits; the 5 highest of 81 lines" and len(only.curves) == MAX_CURVES
    assert str(only.curves[4].name) == "attacker 8 (epsilon 0, top 1)"  # the highest of all
    assert only.table is not None and len(only.table.rows) == 162


def test_every_line_is_in_a_picture_once() -> None:
    every = list({(r.attacker, *r.setting.values()): [r] for r in lines(3, 2, 2)}.values())
    split = in_pictures(every, "t", lambda some: len(some))

    assert sorted(id(line) for one in split for line in one.lines) == sorted(map(id, every))


@pytest.mark.parametrize(
    ("values", "places", "log", "log_x"),
    [
        ((0.2, 0.4, 0.9), (1.0, 2.0, 3.0), False, False),
        ((0.0005, 0.01, 0.9), (1.0, 2.0, 3.0), True, False),
        ((0.2, 0.4, 0.9), (1.0, 10.0, 100.0), False, True),
        ((0.0, 0.01, 0.9), (0.0, 10.0, 100.0), False, False),  # 0 has no place on such an axis
    ],
)
def test_axes_in_powers_of_ten(values: Any, places: Any, log: bool, log_x: bool, tmp_path: Any) -> None:
    shown = result(*(exact("a", v, 0.0, at) for v, at in zip(values, places, strict=True)))
    (only,) = pictures(shown)

    assert (only.log, only.log_x) == (log, log_x)
    shown.plot(tmp_path / "curves.svg")
    path = re.search(r'class="line c0" d="M([^"]+)"', shown.to_page())
    assert path is not None
    across = [float(point.split(",")[0]) for point in path[1].split("L")]
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], rel=0.01) or places[0] == 0.0


def test_a_single_point_is_seen() -> None:
    page = result(exact("a", 0.5, 0.1, 1.0), exact("a", 0.6, 0.1, 2.0), exact("b", 0.7, 0.1, 2.0)).to_page()

    assert re.search(r'<circle class="line c1" cx="[\d.]+" cy="[\d.]+"', page)


def test_figures_without_an_order_have_no_curves() -> None:
    document = result(exact("a", 0.5, 0.1), axis=None).document()

    assert not document.of(Curves) and document.of(Intervals)


def test_percentage_points() -> None:
    """A gain of 0.0806 in a share is 8.06 points, and not 8.06 per cent of anything; JSON keeps the number."""
    shown = result(exact("a", 0.0806, 0.0374), axis=None, unit="points")

    (table,) = shown.document().of(Table)
    assert [cell.value for cell in table.rows[0] if hasattr(cell, "value")] == pytest.approx([8.06, 3.74])
    assert "8.06" in text(shown.document()) and "%" not in text(shown.document())
    assert shown.to_dict()["rows"][0]["value"] == 0.0806
    assert pictures(replace(shown, axis="x", rows=(exact("a", 0.08, 0.0, 1.0), exact("a", 0.09, 0.0, 2.0))))[0].curves[
        0
    ].y == pytest.approx((8.0, 9.0))


def test_names_of_attackers_are_not_cut() -> None:
    long = "the attacker who knows all columns but one"
    shown = result(exact("a", 0.5, 0.1, 1.0, setting=long), exact("b", 0.5, 0.1, 1.0, setting=long))

    assert f"a ({long})" in text(shown.document())


def test_an_audit_with_one_look_draws_no_empty_axes(tmp_path: Any) -> None:
    dice = Random.seeded(5)

    def coin(yes: bool) -> int:
        return int(dice.words(1)[0]) & 1 if int(dice.words(1)[0]) & 1 else int(yes)

    once = audit(coin, 2.0, [(False, True)], samples=400, rng=Random.seeded(1))
    often = audit(coin, 2.0, [(False, True)], samples=8_000, rng=Random.seeded(1))

    assert len(once.looks) == 1 and [str(one.title) for one in once.document().of(Curves)] == [
        "How well the reports tell the two values apart"
    ]
    assert "held-out reports of each value" in str(once)  # its figures are in a table
    assert len(often.looks) > 1 and often.document().of(Curves)[0].log_x


def test_an_audit_without_a_statement_says_so_instead_of_drawing(tmp_path: Any) -> None:
    nothing = audit(lambda value: value, 1.0, [(0, 1)], samples=10, rng=Random.seeded(1))
    axis = nothing.plot()

    assert axis.texts[0].get_text().startswith("no statement: there is nothing to draw.") and not axis.lines
