"""Figures drawn by matplotlib, from the same documents as the pictures of pages. The caller brings `plt`.

core/plotting.py imports matplotlib, which is an extra, and says so where it is missing.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from murmure.show.cells import is_whole, level_percent
from murmure.show.chart import corners, numbered, padded, plane_of, window
from murmure.show.document import Curves, IntervalRow, Intervals, Paragraph
from murmure.show.drawing import COLOURS, POINT, QUIET, TRUTH, draw_figure, figure_size
from murmure.show.figures import Figure, OneFigure, Panels
from murmure.show.language import Language, LanguageCode, current_language
from murmure.show.phrase import Phrase, visible
from murmure.show.short_labels import cut_labels

BAR = "#9db9e0"
MAX_DRAWN = 30  # figures of a panel; of more, the largest are drawn
MAX_LETTERS = 28  # of a label beside a panel
LETTER_INCHES = 0.085  # of a legend, on average
Panel = OneFigure | Paragraph


def is_path(target: Any) -> bool:
    return isinstance(target, str) or hasattr(target, "__fspath__")


def draw(plt: Any, panel: Panel, target: Any = None, lang: LanguageCode | None = None, title: str = "") -> Any:
    """One panel on an axis, in a file, or in a new figure, which has the title; returns the axis."""
    if target is not None and not is_path(target):
        _draw(target, panel, Language(lang or current_language(), visible))
        return target
    figure, ax = plt.subplots(figsize=(6.4, _height(panel) + 0.45), layout="constrained")
    language = Language(lang or current_language(), visible)
    _draw(ax, panel, language)
    _headline(figure, title, language)
    _legend(figure, [ax])
    return _finish(plt, figure, target, ax)


def draw_all(
    plt: Any, panels: Sequence[Panel], target: Any = None, lang: LanguageCode | None = None, title: str = ""
) -> Any:
    """All panels in one figure, in two stacks; returns the figure."""
    language = Language(lang or current_language(), visible)
    stacks: list[list[Panel]] = [[], []] if len(panels) > 1 else [[]]
    heights = [0.0] * len(stacks)
    for panel in panels:  # in order, on the shorter stack
        shorter = heights.index(min(heights))
        stacks[shorter].append(panel)
        heights[shorter] += _height(panel)
    figure = plt.figure(figsize=(5.8 * len(stacks), max(heights) + 0.5), layout="constrained")
    drawn = []
    for part, stack, height in zip(np.ravel(figure.subfigures(1, len(stacks))), stacks, heights, strict=True):
        left = max(heights) - height
        ratios = [_height(panel) for panel in stack] + [left] * (left > 0)
        axes = part.subplots(len(ratios), 1, squeeze=False, height_ratios=ratios)[:, 0]
        for ax, panel in zip(axes, stack, strict=False):
            _draw(ax, panel, language)
        for ax in axes[len(stack) :]:
            ax.set_axis_off()
        drawn += list(axes[: len(stack)])
    _headline(figure, title, language)
    _legend(figure, drawn)
    return _finish(plt, figure, target, figure)


def picture(plt: Any, figure: Figure, lang: LanguageCode | None = None) -> Any:
    """A figure of its own, of any kind; returns matplotlib's."""
    language = Language(lang or current_language(), visible)
    parts = figure.figures if isinstance(figure, Panels) else (figure,)
    columns = min(figure.columns, len(parts)) if isinstance(figure, Panels) else 1
    rows = -(-len(parts) // columns)
    wide, high = (max(sizes) for sizes in zip(*map(_size, parts), strict=True))
    shrink = min(1.0, 11.5 / (wide * columns))  # a page is so wide
    canvas = plt.figure(figsize=(wide * columns * shrink, high * rows * max(shrink, 0.75)), layout="constrained")
    axes = np.ravel(canvas.subplots(rows, columns, squeeze=False))
    for ax, part in zip(axes, parts, strict=False):
        _draw(ax, part, language)
    for ax in axes[len(parts) :]:
        ax.set_axis_off()
    if isinstance(figure, Panels):
        _headline(canvas, figure.title, language)
    _legend(canvas, list(axes))
    return canvas


def _size(panel: OneFigure) -> tuple[float, float]:
    return (6.4, _height(panel) + 0.45) if isinstance(panel, Curves | Intervals) else figure_size(panel)


def _finish(plt: Any, figure: Any, target: Any, out: Any) -> Any:
    if target is not None:
        try:
            figure.savefig(target, dpi=150)
        finally:
            plt.close(figure)
    return out


def _headline(figure: Any, title: str, language: Language) -> None:
    if title:
        lines = textwrap.fill(cut_labels([language.say(title)], 180)[0], int(11 * figure.get_figwidth()))
        figure.suptitle(lines, x=0.01, ha="left", fontsize=11, fontweight="bold", parse_math=False)


def _legend(figure: Any, axes: Sequence[Any]) -> None:
    handles: dict[str, Any] = {}
    for ax in axes:
        handles |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    if handles:
        column = 0.55 + LETTER_INCHES * max(map(len, handles))  # the widest
        columns = max(1, min(3, int(figure.get_figwidth() / column)))
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", frameon=False, ncols=columns)


def _height(panel: Panel) -> float:
    if isinstance(panel, Curves):
        return 3.4
    if not isinstance(panel, Intervals | Paragraph):
        return figure_size(panel)[1]
    rows = 1 if isinstance(panel, Paragraph) else min(len(panel.rows), MAX_DRAWN)
    return 0.3 * rows + 0.95


def _draw(ax: Any, panel: Panel, language: Language) -> None:
    if isinstance(panel, Paragraph):
        ax.set_axis_off()
        text = textwrap.fill(language.say(panel.text), 64)
        ax.text(0, 1, text, va="top", transform=ax.transAxes, fontsize=9, color=QUIET, parse_math=False)
        return
    title = language.say(panel.title)
    if title:
        lines = textwrap.fill(cut_labels([title], 180)[0], 64)
        ax.set_title(lines, loc="left", fontsize=10, parse_math=False)
    draw_figure(panel, ax, language)
    for axes in {ax, *ax.figure.axes}:  # colour bars are axes of their own
        _language_marks(axes, language)
    ax.spines[["top", "right"]].set_visible(False)


@draw_figure.register
def _(panel: Curves, ax: Any, language: Language) -> None:
    ax.grid(axis="x", alpha=0.25)
    for i, curve in enumerate(panel.curves):
        colour = COLOURS[i % len(COLOURS)]
        x, y = np.array(corners(curve.x, curve.y, curve.step)).T
        dash = ("-", (0, (3, 3)))[(i + i // len(COLOURS)) % 2]  # where two lines coincide, both are seen
        mark = "o" if len(x) == 1 else ""  # a single point would draw no line
        ax.plot(x, y, color=colour, lw=2, ls=dash, marker=mark, ms=4, label=_no_math(language.say(curve.name)) or "_")
        if curve.low is not None and curve.high is not None:
            low, high = (np.array(corners(curve.x, side, curve.step)).T for side in (curve.low, curve.high))
            ax.fill_between(low[0], low[1], high[1], color=colour, alpha=0.15, lw=0)
    if panel.log_x:
        ax.set_xscale("log")
    if panel.log:
        ax.set_yscale("log")
    elif plane_of(panel).y.low == 0:  # as on a page
        on_axis = any(value == 0 for curve in panel.curves for value in curve.y)
        ax.set_ylim(bottom=-0.02 * ax.get_ylim()[1] if on_axis else 0)  # a line at 0 would lie under the axis
    if panel.diagonal:
        ax.plot([0, 1], [0, 1], color=QUIET, lw=0.8, ls="--")
        ax.set_aspect("equal", anchor="W")
    if numbered(panel) and not panel.log_x:
        ax.set_xticks(numbered(panel))
    ax.set_xlabel(language.say(panel.x_label), parse_math=False)
    ax.set_ylabel(textwrap.fill(language.say(panel.y_label), 30), parse_math=False)


def _no_math(text: str) -> str:
    """A label with two $ is not a formula; one that starts with _ would be left out of the legend."""
    return text.replace("$", r"\$").lstrip("_")


@draw_figure.register
def _(panel: Intervals, ax: Any, language: Language) -> None:
    ax.grid(axis="x", alpha=0.25)
    rows, of = _largest(panel), len(panel.rows)
    y = np.arange(len(rows))[::-1]
    barred = [(at, row) for at, row in zip(y, rows, strict=True) if row.low is not None and row.high is not None]
    if barred:
        low, high = (np.array([getattr(row, end) for _, row in barred], float) for end in ("low", "high"))
        level = language.marks(f"{level_percent(panel.level)}%")
        label = panel.words[0] if panel.words else Phrase("{level} interval", level=level)
        if panel.each:
            each = language.marks(f"{level_percent(panel.each)}%")
            label = Phrase("{level} interval, all at once (each at {each})", level=level, each=each)
        ax.hlines([at for at, _ in barred], low, high, color=BAR, lw=5, label=language.say(label), zorder=2)
    name = language.say(panel.words[1] if panel.words else Phrase("estimate"))
    ax.plot([r.estimate for r in rows], y, "|", ms=11, mew=2, color=POINT, label=name, zorder=3)
    known = [(row.truth, at) for at, row in zip(y, rows, strict=True) if row.truth is not None]
    if known:
        text = language.say(panel.truth or Phrase("truth"))
        ax.plot(*zip(*known, strict=True), "o", ms=5, mfc="none", color=TRUTH, label=text, zorder=4)
    ax.set_yticks(y, cut_labels([language.say(row.label) for row in rows], MAX_LETTERS), fontsize=9)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.set_xlabel(_axis_text(panel, len(rows), of, language), parse_math=False)
    if panel.bounds is not None and (panel.zero or panel.unit == "value"):
        ax.set_xlim(*panel.bounds)
    if panel.zero or panel.unit == "share" or (panel.unit == "count" and len(rows) > 1):
        left, right = ax.get_xlim()
        if not panel.zero:
            ax.set_xlim(min(left, -0.02 * right), right)  # shares start at zero; an unbiased estimate may fall below
        ax.axvline(0, color=QUIET, lw=0.8, zorder=1)
    elif panel.bounds is None and barred:
        _cut_axis(ax, np.array([at for at, _ in barred]), low, high)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if panel.unit == "count" or is_whole(panel):
        ax.xaxis.get_major_locator().set_params(integer=True)
    if panel.names is not None:
        names = panel.names
        ax.xaxis.get_major_locator().set_params(nbins=5)  # dates are long
        ax.xaxis.set_major_formatter(lambda x, _: names[round(x)] if 0 <= round(x) < len(names) else "")


def _largest(panel: Intervals) -> Sequence[IntervalRow]:
    if len(panel.rows) <= MAX_DRAWN or panel.zero:
        return panel.rows
    return sorted(panel.rows, key=lambda row: -row.estimate if math.isfinite(row.estimate) else math.inf)[:MAX_DRAWN]


def _axis_text(panel: Intervals, drawn: int, of: int, language: Language) -> str:
    names = {"share": Phrase("share of people"), "count": Phrase("people"), "value": Phrase("value")}
    what = panel.axis or (Phrase("coefficient") if panel.zero else names[panel.unit])
    if drawn < of:
        what = Phrase("{what}; the largest {drawn} of {of}", what=what, drawn=drawn, of=of)
    return language.say(what)


def _language_marks(ax: Any, language: Language) -> None:
    """Ticks with the decimal mark of the language; powers of ten and names have none."""
    from matplotlib.ticker import ScalarFormatter

    class Comma(ScalarFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return super().__call__(x, pos).replace(".", ",")

    for axis in (ax.xaxis, ax.yaxis) if language.french else ():
        if type(axis.get_major_formatter()) is ScalarFormatter:
            axis.set_major_formatter(Comma())


def _cut_axis(ax: Any, y: Any, low: Any, high: Any) -> None:
    """Intervals much wider than the others are cut where the axis ends, and an arrow says that they go on."""
    shown = padded(window(zip(low, high, strict=True)))
    if shown is None:
        return
    left, right = shown
    ax.set_xlim(left, right)
    ax.tick_params(axis="y", pad=10)  # room for the arrows
    style: dict[str, Any] = {"ls": "none", "color": BAR, "ms": 7, "zorder": 3, "clip_on": False}
    for at, cut, mark in ((left, low < left, "<"), (right, high > right, ">")):
        if cut.any():  # a line without points, unclipped, would take room in the corner of the figure
            ax.plot(np.full(int(cut.sum()), at), y[cut], marker=mark, label="_", **style)
