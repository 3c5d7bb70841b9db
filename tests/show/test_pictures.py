"""What axes, ticks and cells look like: the geometry of pictures, and the digits of numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import BoxStyle

import murmure as mu
from murmure import lectures
from murmure.core.errors import Phrase
from murmure.core.estimates.estimate_blocks import figures_of
from murmure.show.cells import as_precise, body
from murmure.show.chart import Scale, corners, nice_ticks, numbered, plane_of
from murmure.show.document import Curve, Curves, Document, IntervalRow, Intervals, Table
from murmure.show.html import MINUS, html_language, snippet
from murmure.show.language import NARROW, Language, significant
from murmure.show.plot import draw


def _curves(x: tuple[float, ...], y: tuple[float, ...]) -> Curves:
    return Curves("", (Curve("", x, y),), "x", "y")


@pytest.mark.parametrize("panel", [Intervals("", (IntervalRow("a", 0.55, 0.5, 0.6),)), _curves((0.1, 0.9), (0.2, 0.7))])
def test_ticks_have_the_decimal_mark_of_the_language(panel: Intervals | Curves) -> None:
    for lang, mark, other in (("fr", ",", "."), ("en", ".", ",")):
        ax = draw(plt, panel, lang=lang)  # type: ignore[arg-type]
        ax.figure.canvas.draw()
        ticks = [label.get_text() for label in ax.get_xticklabels()]
        ticks += [label.get_text() for label in ax.get_yticklabels()] if isinstance(panel, Curves) else []
        plt.close(ax.figure)

        assert any(mark in tick for tick in ticks) and not any(other in tick for tick in ticks)


def test_a_new_figure_has_the_title_and_an_axis_of_somebody_has_none() -> None:
    ax = draw(plt, _curves((0, 1), (0, 1)), title="mean of age")
    assert ax.figure.get_suptitle() == "mean of age"
    figure, mine = plt.subplots()
    draw(plt, _curves((0, 1), (0, 1)), mine, title="mean of age")
    assert figure.get_suptitle() == ""
    plt.close("all")


def test_figures_of_the_software_are_named_in_the_language_and_labels_of_people_are_not() -> None:
    domain = mu.Integers(0, 9)
    column = [i % 10 for i in range(4000)]
    asked = mu.Quantile(domain, (0.25, 0.5))
    estimate = mu.run(mu.Plan(asked, curator=mu.DiscreteLaplace(5.0)), column, rng=mu.Random.seeded(1)).estimate
    assert [Language("fr").say(row.label) for row in figures_of(estimate).rows] == ["quantile 0,25", "médiane"]
    assert list(estimate.labels) == ["quantile 0.25", "median"]  # stored

    words = mu.Categories(["mean", "count"])
    shares = mu.run(
        mu.Plan(mu.Histogram(words), person=mu.GRR(words, 3.0)), ["mean", "count"] * 50, rng=mu.Random.seeded(1)
    )
    assert [Language("fr").say(row.label) for row in figures_of(shares.estimate).rows] == ["mean", "count"]


def test_labels_that_do_not_fit_leave_an_even_row() -> None:
    scale = Scale(0.0, 10.0, tuple(map(float, range(11))))
    every = [label.text for label in scale.labels(Language(), 2000)]
    some = [label.text for label in scale.labels(Language(), 200)]

    assert every == [str(i) for i in range(11)]
    assert some == ["0", "2", "4", "6", "8", "10"]


def test_numbered_things_have_their_own_ticks() -> None:
    components, times = _curves((1, 2, 3), (0.5, 0.3, 0.2)), _curves((0.0, 1.5), (1, 0))

    assert numbered(components) == plane_of(components).x.ticks == (1, 2, 3)
    assert numbered(times) == ()


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.2, 0.9), (-3, 7), (12, 845), (-2.7e-5, 1e-6), (1e6, 1.07e6)])
def test_ticks_are_all_multiples_of_a_round_step(low: float, high: float) -> None:
    ticks = nice_ticks(low, high)
    step = (ticks[-1] - ticks[0]) / (len(ticks) - 1)
    digit = float(f"{step:.6e}".split("e")[0])

    assert digit in (1, 2, 5) and 2 <= len(ticks) <= 6
    assert ticks == pytest.approx([step * round(tick / step) for tick in ticks], abs=1e-9 * step)
    assert [b - a for a, b in pairwise(ticks)] == pytest.approx([step] * (len(ticks) - 1))
    assert low - 1e-6 * step <= ticks[0] < low + step and high - step < ticks[-1] <= high + 1e-6 * step


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
    there, back = (corners(curve.x, side or (), step) for side in (curve.high, curve.low))

    for drawn, points in ((line, corners(curve.x, curve.y, step)), (band, [*there, *back[::-1]])):
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
    sides = [corners(banded.x, side or (), step) for side in (banded.low, banded.high)]

    assert lines == {curve.name: corners(curve.x, curve.y, step) for curve in (banded, bare)}
    assert {tuple(point) for point in area.get_paths()[0].vertices.tolist()} == set(sides[0] + sides[1])


def test_a_plot_that_cuts_an_interval_leaves_half_of_the_width_on_both_sides() -> None:
    """Of what the narrow ones take; an arrow at each edge, in the row that goes on."""
    rows = (IntervalRow("a", 50, 49, 51), IntervalRow("b", 52, 50, 53), IntervalRow("c", 60, 0, 100))
    ax = draw(plt, Intervals("", rows, "value"))
    plt.close(ax.figure)
    arrows = {line.get_marker(): line.get_xydata().tolist() for line in ax.get_lines() if line.get_marker() in "<>"}

    assert ax.get_xlim() == (47, 55)
    assert arrows == {"<": [[47, 0]], ">": [[55, 0]]}


def test_lines_below_zero_stay_off_the_edge() -> None:
    y = plane_of(_curves((0.5, 2.5), (-0.013, 0.047))).y

    assert y.low < -0.013 and y.high > 0.047 and y.low == y.ticks[0] and y.high == y.ticks[-1]
    assert plane_of(_curves((0.5, 2.5), (0.3, 0.9))).y.low == 0


def _cells(*rows: float, head: str = "value") -> list[str]:
    table = Table("", ("", head), tuple(("row", value) for value in rows))
    return [row[1] for row in body(table, Language())]


def test_whole_columns_have_no_decimals() -> None:
    assert _cells(21.0, 15.0) == ["21", "15"]
    assert _cells(21.0, 15.5) == ["21.000", "15.500"]
    assert _cells(21.0) == ["21.000"]  # one number may be whole by chance
    assert _cells(0.0, 1.0) == ["0", "1.0000"]  # shares
    assert _cells(2.0, 3.0, head="t") == ["2.000", "3.000"]


def test_pages_write_powers_and_text_writes_exponents() -> None:
    table = Table("", ("", "R-squared"), (("a", 7.2958e-05),))

    assert body(table, html_language("fr"))[0][1] == f"7,2958{NARROW}·{NARROW}10⁻⁵"
    assert body(table, Language())[0][1] == "7.2958e-05"


def test_significant_digits_are_those_of_the_rounded_number() -> None:
    for value in (9.999, 9.99, 0.09996, 123.4, 0.5, -9.996):
        written = f"{value:.{significant(value, 3)}f}".lstrip("-0.").replace(".", "")
        assert len(written) == 3, value
    assert significant(0.0, 3) == significant(np.inf, 3) == 0


def test_ends_of_an_interval_have_the_same_decimals() -> None:
    low, high, mean = as_precise(1.4321, 2.2, 1.83)

    assert [Language("fr").say(end) for end in (low, high, mean)] == ["1,43", "2,20", "1,83"]


def test_french_percentages_do_not_break() -> None:
    assert Language("fr").say(Phrase("95% interval")) == f"intervalle à 95{NARROW}%"


def test_facts_that_are_unknown_are_left_out_and_limits_are_one() -> None:
    from murmure.econometrics.results.result import HIGH, LOW, ModelResult

    class Made(ModelResult):
        how = None

        def facts(self) -> list[tuple[str, float | None]]:
            return [("AUC", 0.7), (LOW, 0.6), (HIGH, 0.8), ("n", None)]

        def tables(self) -> list[Table]:
            return []

    shown: Document = Made().document()
    said = str(Made().summary())
    assert "0.60 to 0.80" in said and "n:" not in said and shown.title == "Made"
    assert {"95 % from", "95 % to", "n"} <= set(Made().to_dict()["facts"])


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_the_nodes_of_a_tree_do_not_cover_the_probabilities_of_its_leaves(lang: str) -> None:
    """The trees of the lectures: no node reaches into the figure at a leaf, and nothing beyond the picture."""
    for name in ("000/warner-tree", "001/coin-tree", "003/fake-data-tree", "003/warner-ratio"):
        [tree, *_] = lectures.run(name, size="tiny").measured.figures
        ax = draw(plt, tree, lang=lang)  # type: ignore[arg-type]
        ax.figure.canvas.draw()
        boxes = [text.get_bbox_patch() for text in ax.texts]
        nodes = [box.get_window_extent() for box in boxes if box and isinstance(box.get_boxstyle(), BoxStyle.Round)]
        leaves = [text.get_window_extent() for text, box in zip(ax.texts, boxes, strict=True) if box is None]
        width = ax.figure.bbox.width
        plt.close(ax.figure)

        assert len(nodes) == 7 and len(leaves) == 4
        assert not any(node.overlaps(leaf) for node in nodes for leaf in leaves), name
        assert all(box.x0 >= 0 and box.x1 <= width for box in (*nodes, *leaves)), name
