"""Where marks are in a picture: what a reader reads off it by its ticks is what the document says."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from murmure.show.chart import Scale, marks_of, nice_ticks, numbered, plane_of, round_steps, scale_of
from murmure.show.document import Curve, Curves, Document, IntervalRow, Intervals
from murmure.show.figures import (
    Arrow,
    Bars,
    Branch,
    Diagram,
    HeatMap,
    LabelledBox,
    OneFigure,
    PointCloud,
    ScatterPlot,
    Tree,
)
from murmure.show.html import MINUS, snippet
from murmure.show.language import Language
from murmure.show.plot import draw


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.2, 0.9), (-3, 7), (12, 845), (-2.7e-5, 1e-6), (1e6, 1.07e6)])
def test_ticks_are_all_multiples_of_a_round_step(low: float, high: float) -> None:
    ticks = nice_ticks(low, high)
    step = (ticks[-1] - ticks[0]) / (len(ticks) - 1)
    digit = float(f"{step:.6e}".split("e")[0])

    assert digit in (1, 2, 5) and 2 <= len(ticks) <= 6
    assert ticks == pytest.approx([step * round(tick / step) for tick in ticks], abs=1e-9 * step)
    assert [b - a for a, b in pairwise(ticks)] == pytest.approx([step] * (len(ticks) - 1))
    assert low - 1e-6 * step <= ticks[0] < low + step and high - step < ticks[-1] <= high + 1e-6 * step


@pytest.mark.parametrize(
    ("high", "steps"),
    [
        (1.0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (1.01, [0, 0.5, 1, 1.5]),
        (0.5, [0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (7.0, [0, 2, 4, 6, 8]),
        (26.0, [0, 10, 20, 30]),
        (0.0004, [0, 0.0001, 0.0002, 0.0003, 0.0004]),
    ],
)
def test_steps_from_zero_reach_the_highest_figure(high: float, steps: list[float]) -> None:
    """At most five, of a round size, and the last one holds it."""
    assert round_steps(high) == pytest.approx(steps)


def _rows(*ends: tuple[float, ...]) -> tuple[IntervalRow, ...]:
    return tuple(IntervalRow(f"row {i}", *one) for i, one in enumerate(ends))


NAMES = tuple("abcdefghij")


@pytest.mark.parametrize(
    ("figures", "low", "high", "ticks"),
    [
        (Intervals("", _rows((0.3, 0.2, 0.8), (0.1, -0.1, 0.2))), -0.1, 0.8, (0, 0.2, 0.4, 0.6, 0.8)),
        (Intervals("", _rows((0.3, 0.2, 0.81))), 0, 1, (0, 0.25, 0.5, 0.75, 1)),  # "100 %" needs room
        (Intervals("", _rows((0.3, 0.2, 1.0))), 0, 1, (0, 0.25, 0.5, 0.75, 1)),
        (Intervals("", _rows((0.3, 0.2, 1.01))), 0, 1.5, (0, 0.5, 1, 1.5)),
        (Intervals("", _rows((3, 2, 7), (1, -1, 2)), "count"), -1, 8, (0, 2, 4, 6, 8)),
        (Intervals("", _rows((0.3, 0.2, 0.4), (0, 0, 0)), "count"), 0, 1, (0, 1)),  # whole people
        (Intervals("", _rows((30, 20, 40)), "count"), 10, 50, (10, 20, 30, 40, 50)),  # compared with nothing
        (Intervals("", _rows((50, 49, 51), (52, 50, 53)), "value"), 47, 55, (48, 50, 52, 54)),
        (Intervals("", _rows((50, 49, 51), (52, 50, 53), (60, 0, 100)), "value"), 47, 55, (48, 50, 52, 54)),
        (Intervals("", _rows((50, 49, 51), (48,)), "value"), 46.5, 52.5, (48, 50, 52)),  # no interval: the estimate
        (Intervals("", _rows((5,)), "value"), 0, 10, (0, 2, 4, 6, 8, 10)),
        (Intervals("", _rows((0,)), "value"), -1, 1, (-1, -0.5, 0, 0.5, 1)),
        (Intervals("", _rows((math.nan, None, None)), "value"), -1, 1, (-1, -0.5, 0, 0.5, 1)),  # lost in the noise
        (Intervals("", _rows((2, 1, 3)), "value", zero=True), -0.18, 3.18, (0, 1, 2, 3)),
        (Intervals("", _rows((-2, -3, -1)), "value", zero=True), -3.18, 0.18, (-3, -2, -1, 0)),
        (Intervals("", _rows((0.5, 0, 0.8)), "value", bounds=(-1, 1)), -1, 1, (-1, 1)),
        (Intervals("", _rows((0.5, 0, 1.2)), "value", bounds=(-1, 1), zero=True), -1, 1.2, (-1, 0, 1.2)),
        (Intervals("", _rows((8, 5, 9)), "value", names=NAMES), 3, 9, (4, 6, 8)),
        (Intervals("", _rows((1.5, 1.4, 1.6)), "value", names=NAMES), 1.3, 1.7, (1, 2)),
    ],
)
def test_what_an_axis_shows(figures: Intervals, low: float, high: float, ticks: tuple[float, ...]) -> None:
    """Shares and people from zero; values with half of their width on both sides; coefficients with the zero."""
    scale = scale_of(figures)

    assert (scale.low, scale.high) == pytest.approx((low, high)) and scale.ticks == pytest.approx(ticks)


def test_an_arrow_is_where_an_interval_goes_on_beyond_the_picture_and_nowhere_else() -> None:
    ends = (-1, 0.5), (-0.5, 1), (-1.5, 0), (0, 1.5), (-2, 2)
    figures = Intervals("", _rows(*((0, *one) for one in ends)), "value")
    marks = marks_of(figures, Scale(-1, 1, (-1.0, 1.0)))
    arrows = [(False, False), (False, False), (True, False), (False, True), (True, True)]

    assert [mark.beyond for mark in marks] == arrows
    assert [(mark.low, mark.high) for mark in marks] == [(0, 75), (25, 100), (0, 50), (50, 100), (0, 100)]


@pytest.mark.parametrize(
    ("scale", "labels"),
    [
        (Scale(0, 1, (0.0, 0.5, 1.0)), [("0.0", "start"), ("0.5", "middle"), ("1.0", "end")]),
        (Scale(0, 0.02, (0.0, 0.005, 0.01), percent=True), [("0.0", "middle"), ("0.5", "middle"), ("1.0%", "middle")]),
        (Scale(0, 1, (0.0, 0.5, 1.0), percent=True), [("0", "middle"), ("50", "middle"), ("100%", "end")]),
        (Scale(0, 2000, (1000.0, 1990.0)), [("1,000", "middle"), ("1,990", "end")]),
        (Scale(0, 3e6, (1e6, 2e6)), [("1e+06", "middle"), ("2e+06", "middle")]),
        (Scale(-4, 2, (-3.0, 0.0, 2.0), log=True), [("0.001", "middle"), ("1", "middle"), ("100", "end")]),
        (
            Scale(0, 2, (0.0, 1.0, 2.0), names=("May", "June", "July")),
            [("May", "start"), ("June", "middle"), ("July", "end")],
        ),
    ],
)
def test_what_ticks_are_called_and_on_which_side_of_their_place(scale: Scale, labels: list[tuple[str, str]]) -> None:
    """As many decimals as their steps need, the unit at the last one; those at an end stay inside the picture."""
    found = scale.labels(Language("en"), 2000)

    assert [(tick.text, tick.anchor) for tick in found] == labels
    assert [tick.at for tick in found] == [scale.at(tick) for tick in scale.ticks]


@pytest.mark.parametrize(
    ("x", "y", "across", "up"),
    [
        ((0.5, 2.5), (-30.0, 60.0), (0.5, 2.5), (-40, 60)),  # below zero: from a tick to a tick
        ((0.5, 2.5), (0.2, 0.9), (0.5, 2.5), (0, 0.9)),
        ((0.5, 2.5), (0.0, 0.0), (0.5, 2.5), (0, 1)),
        ((0.5,), (3.0,), (0.5, 1.5), (0, 3)),
        ((4.0,), (3.0,), (4, 5), (0, 3)),
    ],
)
def test_what_the_axes_of_curves_show(x: Any, y: Any, across: tuple[float, float], up: tuple[float, float]) -> None:
    plane = plane_of(Curves("", (Curve("", x, y),), "x", "y"))

    assert (plane.x.low, plane.x.high) == pytest.approx(across) and (plane.y.low, plane.y.high) == pytest.approx(up)


def test_an_axis_of_values_below_zero_has_its_ticks_at_both_ends() -> None:
    below = plane_of(Curves("", (Curve("", (0.5, 2.5), (-30.0, 60.0)),), "x", "y"))

    assert below.y.ticks == (-40, -20, 0, 20, 40, 60)


def test_an_axis_in_powers_of_ten_goes_by_the_smallest_value_above_zero() -> None:
    plane = plane_of(Curves("", (Curve("", (1.0, 2.0, 3.0), (0.0, 0.02, 0.5)),), "x", "y", log=True))

    assert (plane.y.low, plane.y.high, plane.y.ticks) == (-2, 0, (-2, -1, 0))
    assert plane.point(1.0, 0.0)[1] == plane.point(1.0, 0.01)[1]  # at the lower edge


@pytest.mark.parametrize("count", [6, 11])
def test_labels_above_one_another_need_room_for_a_line_and_not_for_letters(count: int) -> None:
    """A tenth of the height; the last one always stays."""
    scale = Scale(0.0, 10.0, tuple(10 * i / (count - 1) for i in range(count)), names=("a long name of a place",) * 11)
    found = scale.labels(Language("en"), 340, upright=True)

    assert [tick.at for tick in found] == [0, 20, 40, 60, 80, 100]


def test_twelve_places_have_their_own_ticks_and_thirteen_have_round_ones() -> None:
    months, more = (Curves("", (Curve("", tuple(range(n)), (0.5,) * n),), "x", "y") for n in (12, 13))

    assert numbered(months) == plane_of(months).x.ticks == tuple(range(12))
    assert numbered(more) == () and plane_of(more).x.ticks == pytest.approx((0, 5, 10))


def _corners(x: Any, y: Any, step: bool) -> list[tuple[float, float]]:
    """The points of a line; that of a step runs to the right first, and then up or down."""
    across, up = (np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]) if step else (x, y)
    return [(float(a), float(b)) for a, b in zip(across, up, strict=True)]


def _read_by(ticks: list[tuple[str, str]], log: bool = False) -> Callable[[str], float]:
    """What somebody reads at a place who goes by the ticks of a page: the first and the last, where others agree."""
    places = [float(place) for place, _ in ticks]
    values = [float(text.replace(MINUS, "-").removesuffix("%")) for _, text in ticks]
    values = [math.log10(value) for value in values] if log else values
    slope = (values[-1] - values[0]) / (places[-1] - places[0])

    assert len(ticks) > 1
    for place, value in zip(places, values, strict=True):
        assert value == pytest.approx(values[0] + slope * (place - places[0]), abs=1e-3 * abs(values[-1] - values[0]))
    return lambda place: (lambda value: 10**value if log else value)(values[0] + slope * (float(place) - places[0]))


@pytest.mark.parametrize("step", [False, True])
@pytest.mark.parametrize(("log_x", "log"), [(False, False), (False, True), (True, False), (True, True)])
def test_curves_of_a_page_are_where_their_ticks_say(step: bool, log_x: bool, log: bool) -> None:
    """The line, and the band along its upper line and back along the lower one."""
    curve = Curve("", (1.0, 8.0, 50.0, 100.0), (0.02, 0.2, 0.4, 0.8), step, (0.01, 0.1, 0.3, 0.5), (0.1, 0.5, 0.7, 1.0))
    made = snippet(Document("", (Curves("", (curve,), "x", "y", log_x=log_x, log=log),)), "en")
    across = re.findall(r'<text class="tick" x="([\d.]+)" y="294" text-anchor="middle">(.+?)<', made)
    up = re.findall(r'<line class="grid" .+? y2="([\d.]+)"/>\s*<text class="tick" .+?>(.+?)<', made)
    read_x, read_y = _read_by(across, log_x), _read_by(up, log)
    line, band = (
        re.search(rf'<path class="{kind} c0" d="M(.+?)Z?"/>', made)[1].split("L") for kind in ("line", "band")
    )  # type: ignore[index]
    there, back = (_corners(curve.x, side or (), step) for side in (curve.high, curve.low))

    for drawn, points in ((line, _corners(curve.x, curve.y, step)), (band, [*there, *back[::-1]])):
        read = [(read_x(x), read_y(y)) for x, y in (place.split(",") for place in drawn)]
        assert [x for x, _ in read] == pytest.approx([x for x, _ in points], rel=2e-3, abs=0 if log_x else 0.1)
        assert [y for _, y in read] == pytest.approx([y for _, y in points], rel=2e-3, abs=0 if log else 1e-3)


ROWS = (IntervalRow("a", 0.3, 0.25, 0.42, 0.4), IntervalRow("b", 0.5, 0.45, 0.8), IntervalRow("c", 0.1, -0.1, 0.2, 0.1))


@pytest.mark.parametrize(
    ("figures", "times"),
    [
        (Intervals("", ROWS, "share"), 100),
        (Intervals("", ROWS, "value"), 1),
        (Intervals("", ROWS, "value", zero=True), 1),
        (Intervals("", ROWS, "value", bounds=(-1.0, 1.0), zero=True), 1),
    ],
)
def test_intervals_of_a_page_are_where_their_ticks_say(figures: Intervals, times: int) -> None:
    """Bars, estimates and truths, row by row; and the line of zero."""
    head, *rows = snippet(Document("", (figures,)), "en").split("</tbody>")[0].split("<tr>")[1:]
    ticks = re.findall(r'<text class="tick" x="([\d.]+)%" .+?>(.+?)<', head)
    read = _read_by(ticks)

    for row, made in zip(figures.rows, rows, strict=True):
        (left, wide) = re.findall(r'<rect class="fill" x="([\d.]+)%" y="3" width="([\d.]+)%"', made)[0]
        (mean,) = re.findall(r'<line class="mean" x1="([\d.]+)%" x2="\1%"', made)
        truth = re.findall(r'<circle class="true" cx="([\d.]+)%"', made)
        zero = re.findall(r'<line class="zero" x1="([\d.]+)%"', made)
        places = [left, str(float(left) + float(wide)), mean, *truth, *zero]
        values = [row.low, row.high, row.estimate, *([] if row.truth is None else [row.truth]), *[0.0] * figures.zero]
        assert [read(place) / times for place in places] == pytest.approx(values, abs=1e-3)


@pytest.mark.parametrize("step", [False, True])
def test_curves_of_a_plot_are_those_of_the_document(step: bool) -> None:
    """Lines with their bands, and none for a curve without."""
    banded = Curve("with", (1.0, 2.0, 4.0), (0.2, 0.4, 0.8), step, (0.1, 0.3, 0.5), (0.5, 0.7, 1.0))
    bare = Curve("without", (1.0, 3.0), (0.9, 0.1), step)
    ax = draw(plt, Curves("", (banded, bare), "x", "y"))
    plt.close(ax.figure)
    lines = {line.get_label(): list(map(tuple, line.get_xydata().tolist())) for line in ax.get_lines()}
    (area,) = ax.collections
    sides = [_corners(banded.x, side or (), step) for side in (banded.low, banded.high)]

    assert lines == {curve.name: _corners(curve.x, curve.y, step) for curve in (banded, bare)}
    assert {tuple(point) for point in area.get_paths()[0].vertices.tolist()} == set(sides[0] + sides[1])


def test_a_plot_that_cuts_an_interval_leaves_half_of_the_width_on_both_sides() -> None:
    """Of what the narrow ones take; an arrow at each edge, in the row that goes on."""
    rows = (IntervalRow("a", 50, 49, 51), IntervalRow("b", 52, 50, 53), IntervalRow("c", 60, 0, 100))
    ax = draw(plt, Intervals("", rows, "value"))
    plt.close(ax.figure)
    arrows = {line.get_marker(): line.get_xydata().tolist() for line in ax.get_lines() if line.get_marker() in "<>"}

    assert ax.get_xlim() == (47, 55)
    assert arrows == {"<": [[47, 0]], ">": [[55, 0]]}


@contextmanager
def _drawn(panel: OneFigure) -> Iterator[Any]:
    ax = draw(plt, panel, lang="en")
    yield ax
    plt.close(ax.figure)


def test_bars_stand_beside_one_another_at_their_label() -> None:
    heights = {"before": (3.0, 1.0), "after": (2.0, 4.0), "later": (5.0, 6.0)}
    with _drawn(Bars("", ("a", "b"), tuple(heights.items()), "x", "y")) as ax:
        bars = [[(bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height()) for bar in s] for s in ax.containers]
        labels = [label.get_text() for label in ax.get_xticklabels()]
        assert labels == ["a", "b"] and ax.get_xticks().tolist() == [0, 1]

    assert [tuple(height for *_, height in series) for series in bars] == list(heights.values())
    for at, here in enumerate(zip(*bars, strict=True)):
        assert at - 0.4 <= here[0][0] and here[-1][1] <= at + 0.4  # none comes near those of another label
        assert here[0][0] + here[-1][1] == pytest.approx(2 * at)
        assert all(a[1] < b[0] for a, b in pairwise(here))


def test_only_the_marked_bar_has_another_colour() -> None:
    with _drawn(Bars("", ("a", "b", "c"), (("", (1.0, 2.0, 3.0)),), "x", "y", marked=1)) as ax:
        first, second, third = (bar.get_facecolor() for bar in ax.patches)

    assert first == third != second


def test_branches_of_a_tree_join_their_nodes_and_a_probability_is_on_its_branch() -> None:
    """From the left to the right, the first leaf on top; an event stands in the middle of its own branches."""
    lower = Branch("3/4", "lie", (Branch("1/3", "heads", leaf="1/4"), Branch("2/3", "tails", leaf="1/2")))
    with _drawn(Tree("", "start", (Branch("1/4", "truth", leaf="1/4 in all"), lower))) as ax:
        at = {text.get_text(): text.get_position() for text in ax.texts}
        lines = {tuple(map(tuple, line.get_xydata().tolist())) for line in ax.get_lines()}
        assert ax.get_ylim()[0] > ax.get_ylim()[1]

    edges = {("start", "truth"): "1/4", ("start", "lie"): "3/4", ("lie", "heads"): "1/3", ("lie", "tails"): "2/3"}
    assert lines == {(at[start], at[end]) for start, end in edges}
    assert [at[name] for name in ("truth", "heads", "tails")] == [(1, 0), (2, 1), (2, 2)]
    assert at["lie"] == (1, 1.5) and at["start"] == (0, 0.75)
    assert at["1/4 in all"][0] > 1 and at["1/4 in all"][1] == 0
    for (start, end), chance in edges.items():
        if chance != "1/4":  # there is a leaf of this name
            (x0, y0), (x1, y1), (x, y) = at[start], at[end], at[chance]
            assert x0 + 0.5 * (x1 - x0) <= x < x1 and (y - y0) * (x1 - x0) == pytest.approx((x - x0) * (y1 - y0))


@pytest.mark.parametrize(("centre", "crossed"), [(None, False), (3.0, True), (9.0, False)])
def test_colours_of_a_map_are_the_values_at_their_places(centre: float | None, crossed: bool) -> None:
    """The centre is white, as far from both ends of the colours; a line shows where it is crossed."""
    values = ((1.0, 2.0, 3.0), (4.0, 5.0, 8.0))
    with _drawn(HeatMap("", (10.0, 20.0, 40.0), (0.5, 1.5), values, "x", "y", "people", centre)) as ax:
        mesh, *lines = ax.collections
        ends = mesh.norm.vmin, mesh.norm.vmax
        x, y = np.moveaxis(np.asarray(mesh.get_coordinates()), -1, 0)
        assert {bar.get_ylabel() for bar in ax.figure.axes if bar is not ax} == {"people"}

    assert np.asarray(mesh.get_array()).reshape(2, 3).tolist() == [list(row) for row in values]
    assert x[0].tolist() == [5, 15, 30, 50] and y[:, 0].tolist() == [0, 1, 2]  # edges, halfway from place to place
    assert ends == ((1, 8) if centre is None else (-2, 8) if centre == 3 else (1, 17)) and bool(lines) == crossed
    if centre is not None:
        assert mesh.cmap(mesh.norm(centre))[:3] == pytest.approx((0.97, 0.97, 0.97), abs=0.01)


def test_points_of_a_cloud_and_their_centres_are_where_their_numbers_say() -> None:
    few, many = PointCloud("few", (1.0, 3.0), (2.0, 4.0)), PointCloud("", tuple(map(float, range(9))), (1.0,) * 9)
    limits = {"x_limits": (0.5, 20.0), "y_limits": (1.0, 5.0)}
    with _drawn(ScatterPlot("", (few, many), "x", "y", ((2.0, 3.0), (4.0, 5.0)), **limits, log_x=True)) as ax:
        points = [area.get_offsets().tolist() for area in ax.collections]
        small, large = (ax.collections[i].get_sizes()[0] for i in (1, 0))
        assert (ax.get_xlim(), ax.get_ylim()) == ((0.5, 20), (1, 5))
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")

    assert points == [[[1, 2], [3, 4]], [[i, 1] for i in range(9)], [[2, 3], [4, 5]]]
    assert small < large


def test_arrows_of_a_diagram_join_their_boxes_with_a_word_in_the_middle() -> None:
    boxes = (LabelledBox(0, 0, "a", "secret"), LabelledBox(1, 0.5, "b", "public"), LabelledBox(2, 3, "c"))
    with _drawn(Diagram("", boxes, (Arrow(0, 1, "sent"), Arrow(1, 2)))) as ax:
        at = {text.get_text(): text.get_position() for text in ax.texts if not hasattr(text, "arrow_patch")}
        arrows = [(text.xyann, text.xy) for text in ax.texts if hasattr(text, "arrow_patch")]
        edges = {text.get_text(): text.get_bbox_patch().get_edgecolor() for text in ax.texts if text.get_text()}
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()

    assert at == {"a": (0, 0), "b": (1, 0.5), "c": (2, 3), "sent": (0.5, 0.25)}
    assert arrows == [((0, 0), (1, 0.5)), ((1, 0.5), (2, 3))]
    assert left < 0 < 2 < right and top < 0 < 3 < bottom  # the first row is on top
    assert len({edges[name] for name in "abc"}) == 3
