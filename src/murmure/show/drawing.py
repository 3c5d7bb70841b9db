"""How each kind of figures.py is drawn on an axis of matplotlib."""

from __future__ import annotations

import textwrap
from functools import singledispatch
from typing import Any

import numpy as np

from murmure.show.figures import Bars, Branch, Diagram, HeatMap, ScatterPlot, Tree
from murmure.show.language import Language
from murmure.show.phrase import Phrase

POINT, QUIET, TRUTH = "#1f4e96", "#59616c", "#b3261e"
COLOURS = (POINT, TRUTH, "#2f7d4f", "#7a4fa3", "#8a6d00", "#0f7c86")
FEW_POINTS = 5  # of a cloud, which are drawn larger
PALE = {"secret": "#f9dedc", "sent": "#dbe6f6", "public": "#def0e3", "plain": "#f4f5f7"}
EDGE = {"secret": TRUTH, "sent": POINT, "public": "#2f7d4f", "plain": QUIET}
LETTERS = 26  # of a line in a box
NODE_LETTERS = 16  # of a line in a node of a tree
MANY_LABELS = 12  # beyond this, labels of bars are slanted
MANY_CELLS = 2000


@singledispatch
def draw_figure(figure: Any, ax: Any, language: Language) -> None:
    """Everything but the title."""
    raise TypeError(f"no drawing for {type(figure).__name__}")


@singledispatch
def figure_size(figure: Any) -> tuple[float, float]:
    """Inches that a figure of its own takes: width and height."""
    return 6.4, 3.9


@draw_figure.register
def _(figure: Bars, ax: Any, language: Language) -> None:
    at, many = np.arange(len(figure.labels)), len(figure.series)
    width = 0.8 / many
    for i, (name, heights) in enumerate(figure.series):
        colours = [COLOURS[i % len(COLOURS)]] * len(heights)
        if figure.marked is not None and many == 1:
            colours = ["#9db9e0" if j != figure.marked else POINT for j in range(len(heights))]
        label = language.say(name) if name else "_"
        ax.bar(at + (i - (many - 1) / 2) * width, heights, width * 0.95, color=colours, label=label)
    slanted = {"rotation": 35, "ha": "right"} if len(figure.labels) > MANY_LABELS else {}
    ax.set_xticks(at, [language.say(label) for label in figure.labels], **slanted)
    for label in ax.get_xticklabels():
        label.set_parse_math(False)
    _axis_names(ax, figure.x_label, figure.y_label, language)
    ax.grid(axis="y", alpha=0.25)
    ax.set_axisbelow(True)


@figure_size.register
def _(figure: Tree) -> tuple[float, float]:
    return 7.2, 0.62 * sum(map(_leaves, figure.branches)) + 0.7


def _leaves(branch: Branch) -> int:
    return sum(map(_leaves, branch.branches)) or 1


def _depth(branch: Branch) -> int:
    return 1 + max(map(_depth, branch.branches), default=0)


@draw_figure.register
def _(figure: Tree, ax: Any, language: Language) -> None:
    """Leaves are one below the other; a branch stands in the middle of its own."""
    ax.set_axis_off()
    deepest = max(map(_depth, figure.branches))
    next_leaf = 0

    def place(branch: Branch, depth: int) -> float:
        nonlocal next_leaf
        if branch.branches:
            heights = [place(inner, depth + 1) for inner in branch.branches]
            y = (heights[0] + heights[-1]) / 2
            for inner, height in zip(branch.branches, heights, strict=True):
                edge(depth, y, depth + 1, height, inner)
        else:
            y = float(next_leaf)
            next_leaf += 1
            if branch.leaf:
                ax.text(depth + 0.34, y, language.say(branch.leaf), va="center", color=POINT, fontsize=10)
        node(depth, y, branch.event)
        return y

    def node(depth: float, y: float, text: str) -> None:
        frame = {"boxstyle": "round,pad=0.3", "fc": "white", "ec": QUIET, "lw": 0.8}
        lines = textwrap.fill(language.say(text), NODE_LETTERS)  # a longer line would cover the leaf's probability
        ax.text(depth, y, lines, ha="center", va="center", fontsize=9, bbox=frame, zorder=3)

    def edge(x0: float, y0: float, x1: float, y1: float, branch: Branch) -> None:
        ax.plot([x0, x1], [y0, y1], color=QUIET, lw=1, zorder=1)
        chance = {"fc": "white", "ec": "none", "pad": 1}
        middle = (x0 + 0.55 * (x1 - x0), y0 + 0.55 * (y1 - y0))
        ax.text(*middle, language.say(branch.chance), ha="center", va="center", fontsize=9, color=TRUTH, bbox=chance)

    heights = [place(branch, 1) for branch in figure.branches]
    root = (heights[0] + heights[-1]) / 2
    for branch, height in zip(figure.branches, heights, strict=True):
        edge(0, root, 1, height, branch)
    node(0, root, figure.root)
    ax.set_xlim(-0.35, deepest + 0.95)
    ax.set_ylim(max(next_leaf, 1) - 0.5, -0.5)  # the first leaf is on top


@draw_figure.register
def _(figure: HeatMap, ax: Any, language: Language) -> None:
    from matplotlib.colors import TwoSlopeNorm

    values = np.array(figure.values, float)
    norm = None
    if figure.centre is not None:
        reach = max(abs(values - figure.centre).max(), 1e-300)
        norm = TwoSlopeNorm(figure.centre, figure.centre - reach, figure.centre + reach)
    x, y = np.array(figure.x), np.array(figure.y)
    colours = "RdBu_r" if figure.centre is not None else "Blues"
    many = values.size > MANY_CELLS  # as an image: each cell of a drawing takes a line of the file
    mesh = ax.pcolormesh(x, y, values, cmap=colours, norm=norm, shading="nearest", rasterized=many)
    if figure.centre is not None and values.min() < figure.centre < values.max():
        ax.contour(x, y, values, levels=[figure.centre], colors="black", linewidths=1)
    bar = ax.figure.colorbar(mesh, ax=ax)
    bar.set_label(language.say(figure.scale), parse_math=False)
    for axis, at in ((ax.xaxis, x), (ax.yaxis, y)):
        axis.get_major_locator().set_params(integer=bool((at == np.round(at)).all()))  # half an attribute is no tick
    _axis_names(ax, figure.x_label, figure.y_label, language)


@draw_figure.register
def _(figure: ScatterPlot, ax: Any, language: Language) -> None:
    for i, cloud in enumerate(figure.clouds):
        name = language.say(cloud.name) if cloud.name else "_"
        size = 14 if len(cloud.x) > FEW_POINTS else 60
        ax.scatter(cloud.x, cloud.y, s=size, color=COLOURS[i % len(COLOURS)], alpha=0.7, lw=0, label=name)
    if figure.centres:
        mark = {"marker": "X", "s": 90, "color": "black", "edgecolors": "white", "zorder": 4}
        ax.scatter(*zip(*figure.centres, strict=True), label=language.say(Phrase("centre")), **mark)
    if figure.log:
        ax.set_yscale("log")
    if figure.log_x:
        ax.set_xscale("log")
    if figure.x_limits:
        ax.set_xlim(*figure.x_limits)
    if figure.y_limits:
        ax.set_ylim(*figure.y_limits)
    _axis_names(ax, figure.x_label, figure.y_label, language)


@figure_size.register
def _(figure: Diagram) -> tuple[float, float]:
    across = max(box.across for box in figure.boxes) + 1
    down = max(box.down for box in figure.boxes) + 1
    return min(2.3 * across, 9.6), 0.95 * down + 0.6


@draw_figure.register
def _(figure: Diagram, ax: Any, language: Language) -> None:
    ax.set_axis_off()
    frames = []
    for box in figure.boxes:
        text = "\n".join(textwrap.fill(line, LETTERS) for line in language.say(box.text).split("\n"))
        frame = {"boxstyle": "round,pad=0.5", "fc": PALE[box.role], "ec": EDGE[box.role], "lw": 1}
        frames.append(ax.text(box.across, box.down, text, ha="center", va="center", fontsize=9, bbox=frame, zorder=3))
    for arrow in figure.arrows:
        start, end = figure.boxes[arrow.start], figure.boxes[arrow.end]
        ends = {"patchA": frames[arrow.start].get_bbox_patch(), "patchB": frames[arrow.end].get_bbox_patch()}
        style = {"arrowstyle": "-|>", "color": QUIET, "lw": 1.2, "shrinkA": 2, "shrinkB": 2, **ends}
        ax.annotate("", (end.across, end.down), (start.across, start.down), arrowprops=style, zorder=2)
        if arrow.text:
            middle = ((start.across + end.across) / 2, (start.down + end.down) / 2)
            white = {"fc": "white", "ec": "none", "pad": 1.5}
            ax.text(*middle, language.say(arrow.text), ha="center", va="center", fontsize=8, color=QUIET, bbox=white)
    ax.set_xlim(min(box.across for box in figure.boxes) - 0.6, max(box.across for box in figure.boxes) + 0.6)
    ax.set_ylim(max(box.down for box in figure.boxes) + 0.6, min(box.down for box in figure.boxes) - 0.6)


def _axis_names(ax: Any, x: str, y: str, language: Language) -> None:
    ax.set_xlabel(language.say(x), parse_math=False)
    ax.set_ylabel(textwrap.fill(language.say(y), 34), parse_math=False)
