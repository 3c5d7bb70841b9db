"""What axes, ticks and cells look like: the geometry of pictures, and the digits of numbers."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import BoxStyle

import murmure as mu
from murmure import lectures
from murmure.core.errors import Phrase
from murmure.core.estimates.estimate_blocks import figures_of
from murmure.show.cells import as_precise, body, five_digits
from murmure.show.chart import Scale, nice_ticks, numbered, plane_of
from murmure.show.document import Branch, Curve, Curves, Document, IntervalRow, Intervals, Table, Tree
from murmure.show.drawing import POINT
from murmure.show.figures import Bars
from murmure.show.html import html_language, page
from murmure.show.language import NARROW, Language, significant
from murmure.show.plot import draw
from murmure.show.text import text


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


def test_lines_below_zero_stay_off_the_edge() -> None:
    y = plane_of(_curves((0.5, 2.5), (-0.013, 0.047))).y

    assert y.low < -0.013 and y.high > 0.047 and y.low == y.ticks[0] and y.high == y.ticks[-1]
    assert plane_of(_curves((0.5, 2.5), (0.3, 0.9))).y.low == 0


def _cells(*rows: float, head: str = "value") -> list[str]:
    table = Table("", ("", head), tuple(("row", value) for value in rows))
    return [row[1] for row in body(table, Language())]


@pytest.mark.parametrize("step", [False, True])
def test_a_band_is_the_area_between_its_two_lines(step: bool) -> None:
    """Along the upper line and back along the lower one; without one of them there is none."""
    low, high = (0.0, 0.2, 0.4), (0.5, 0.7, 1.0)
    curve = Curve("F", (0.0, 1.0, 2.0), (0.2, 0.4, 0.8), step, low, high)
    plane = plane_of(Curves("Distribution", (curve,), "x", "y"))
    there, back = list(zip(curve.x, high, strict=True)), list(zip(curve.x, low, strict=True))[::-1]
    if step:  # each value holds until the next place
        there = [(0, 0.5), (1, 0.5), (1, 0.7), (2, 0.7), (2, 1.0)]
        back = [(2, 0.4), (2, 0.2), (1, 0.2), (1, 0.0), (0, 0.0)]
    band = plane.band(curve)

    assert band[0] == "M" and band[-1] == "Z"
    assert [tuple(map(float, p.split(","))) for p in band[1:-1].split("L")] == [plane.point(*p) for p in there + back]
    assert plane.band(replace(curve, low=None)) == plane.band(replace(curve, high=None)) == ""


def test_a_band_is_drawn_to_files_too() -> None:
    """Its polygon lies between the lowest and the highest end; a line without a band has none."""
    curve = Curve("F", (0.0, 1.0, 2.0), (0.2, 0.4, 0.8), False, (0.1, 0.2, 0.4), (0.5, 0.7, 0.9))
    ax = draw(plt, Curves("Distribution", (curve, Curve("G", (0.0, 2.0), (0.3, 0.6))), "x", "y"))
    (band,) = ax.collections
    ends = {tuple(point) for point in band.get_paths()[0].vertices.tolist()}

    assert {(x, y) for side in (curve.low, curve.high) for x, y in zip(curve.x, side or (), strict=True)} == ends
    plt.close("all")


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (13.0, 61.0, [20, 30, 40, 50, 60]),
        (-0.31, 0.12, [-0.3, -0.2, -0.1, 0, 0.1]),
        (1000.0, 9000.0, [2000, 4000, 6000, 8000]),
    ],
)
def test_ticks_are_round_numbers_between_the_ends(low: float, high: float, ticks: list[float]) -> None:
    assert nice_ticks(low, high) == pytest.approx(ticks)


def test_the_chance_of_a_branch_stands_on_its_line() -> None:
    """A little past the middle of it: of three leaves at 0, 1 and 2 below the root's height of 1."""
    leaves = tuple(Branch(chance, event, leaf="1/8") for chance, event in (("1/2", "a"), ("1/3", "b"), ("1/6", "c")))
    ax = draw(plt, Tree("", "root", leaves))
    at = {text.get_text(): text.get_position() for text in ax.texts}

    assert at["root"] == (0, 1) and [at[event] for event in "abc"] == [(1, 0), (1, 1), (1, 2)]
    for chance, height in (("1/2", 0.45), ("1/3", 1.0), ("1/6", 1.55)):
        assert at[chance] == pytest.approx((0.55, height))
    plt.close("all")


@pytest.mark.parametrize(("letters", "columns"), [(4, 3), (12, 3), (25, 2), (60, 1)])
def test_a_legend_has_as_many_columns_as_its_names_leave_room_for(letters: int, columns: int) -> None:
    """Of the 6.4 inches of a figure, a line of a name takes 0.55, and each letter about 0.085."""
    names = ["x" * letters, "a", "b"]
    ax = draw(plt, Curves("", tuple(Curve(name, (0.1, 0.9), (0.2, 0.7)) for name in names), "x", "y"))
    (legend,) = ax.figure.legends

    assert legend._ncols == columns and columns * (0.55 + 0.085 * letters) <= 6.4
    plt.close("all")


def test_whole_columns_have_no_decimals() -> None:
    assert _cells(21.0, 15.0) == ["21", "15"]
    assert _cells(21.0, 15.5) == ["21.000", "15.500"]
    assert _cells(21.0) == ["21.000"]  # one number may be whole by chance
    assert _cells(0.0, 1.0) == ["0", "1.0000"]  # shares
    assert _cells(2.0, 3.0, head="t") == ["2.000", "3.000"]


def test_the_bar_that_is_marked_has_the_colour_of_points() -> None:
    bars = Bars("", ("a", "b", "c"), (("", (1.0, 3.0, 2.0)),), "x", "y", marked=1)
    colours = [bar.get_facecolor() for bar in draw(plt, bars).patches]

    assert colours[1] == to_rgba(POINT) and colours[0] == colours[2] != colours[1]
    plt.close("all")


def test_the_truth_is_drawn_where_it_is_known() -> None:
    """A ring in the row that has it, with a name of its own; estimates are strokes in every row."""
    rows = (IntervalRow("a", 0.55, 0.5, 0.6), IntervalRow("b", 0.3, 0.2, 0.4, truth=0.35))
    for shown, rings in ((rows, [[[0.35], [0]]]), (rows[:1], [])):
        ax = draw(plt, Intervals("", shown))
        lines = {
            line.get_label(): [line.get_xdata(), line.get_ydata()] for line in ax.lines if line.get_marker() == "o"
        }

        assert [[list(x), list(y)] for x, y in lines.values()] == rings and list(lines) == ["truth"] * len(rings)
        assert [list(line.get_xdata()) for line in ax.lines if line.get_marker() == "|"] == [
            [r.estimate for r in shown]
        ]
    plt.close("all")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"),
        (1e-4, "0.00010000"),
        (9.9999e-5, "9.9999e-05"),
        (999_999_999.0, "999,999,999"),
        (1e9, "1.0000e+09"),
        (-1234.5678, "-1,234.6"),
    ],
)
def test_numbers_have_five_digits_and_an_exponent_where_they_are_huge_or_tiny(value: float, written: str) -> None:
    """From 0.0001 to just below a billion they are written out."""
    assert five_digits(value) == written


def test_a_table_without_rows_has_a_head_alone() -> None:
    table = Table("", ("name", "value"), ())

    assert body(table, Language()) == []
    shown = Document("Nothing", (table,))
    assert "name" in text(shown) and "<th" in page(shown)


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
