"""A plot of coefficients: a point and an interval for each, and a line at zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.show import drawing, save_figure
from murmure.econometrics.results.text import number
from murmure.show.short_labels import cut, cut_labels

if TYPE_CHECKING:
    from murmure.econometrics.results.regression import Regression

BAR, POINT, QUIET = "#9db9e0", "#1f4e96", "#59616c"
LETTERS = 30  # of a name beside the plot
WIDE = 30.0  # widths of intervals that differ by a larger factor cannot share an axis


def plot_coefficients(result: Regression, target: Any = None, alpha: float = 0.05) -> Any:
    """To an axis, to a file, or to a new figure; returns the axis.

    Coefficients have the units of their columns. If one axis would hide some of them, each is drawn in units of its
    standard error, with its value beside it.
    """
    ends, values = result.conf_int(alpha), result.params
    y = np.arange(len(values))[::-1]
    ax, figure = drawing(target, (6.4, 0.34 * len(values) + 1.5))
    what = "coefficient"
    if ends is not None:
        wide = ends[:, 1] - ends[:, 0]
        if result.bse is not None and wide.min() > 0 and wide.max() > WIDE * wide.min():
            what = "coefficient, in its own standard errors"
            for row, value in zip(y, values, strict=True):
                beside = ax.get_yaxis_transform()
                ax.text(1.02, row, number(float(value)), transform=beside, va="center", fontsize=9, color=QUIET)
            values, ends = values / result.bse, ends / result.bse[:, None]
        ax.hlines(y, ends[:, 0], ends[:, 1], color=BAR, lw=5, zorder=2, label=f"{100 * (1 - alpha):g} % interval")
    ax.plot(values, y, "|", ms=11, mew=2, color=POINT, zorder=3, label="estimate")
    ax.axvline(0, color=QUIET, lw=0.8, zorder=1)
    ax.set_yticks(y, cut_labels(result.names, LETTERS), fontsize=9)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)  # a name with two $ is not a formula
    ax.set_ylim(-0.7, len(values) - 0.3)
    ax.set_xlabel(what if ends is not None else f"{what}; no intervals", parse_math=False)
    ax.set_title(cut(result.title, 66), loc="left", fontsize=10, fontweight="bold", parse_math=False)
    ax.grid(axis="x", alpha=0.25)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if figure is not None or target is None:
        ax.figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", frameon=False, ncols=2)
    if figure is not None:
        save_figure(figure, target)
    return ax
