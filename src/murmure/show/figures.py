"""Pictures of the kinds that only a plot draws: bars, maps, clouds of points, diagrams, and grids.

Their texts are `Phrase`s and their numbers are numbers, as in document.py; `drawing` draws them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from murmure.show.document import Branch as Branch
from murmure.show.document import Curves, Intervals
from murmure.show.document import Tree as Tree

Role = Literal["secret", "sent", "public", "plain"]  # who may see it decides its colour


@dataclass(frozen=True)
class Bars:
    """Numbers by name, side by side where there are several series. marked: the bar that is seen first."""

    title: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[float, ...]], ...]
    x_label: str
    y_label: str
    marked: int | None = None


@dataclass(frozen=True)
class HeatMap:
    """A number for each x and y, as a colour. values: a row for each y. centre: white, a line where it is crossed."""

    title: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    x_label: str
    y_label: str
    scale: str  # what a colour stands for
    centre: float | None = None


@dataclass(frozen=True)
class PointCloud:
    """Points of one colour."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class ScatterPlot:
    """Clouds of points, and crosses at their centres."""

    title: str
    clouds: tuple[PointCloud, ...]
    x_label: str
    y_label: str
    centres: tuple[tuple[float, float], ...] = ()
    x_limits: tuple[float, float] | None = None
    y_limits: tuple[float, float] | None = None
    log: bool = False  # y in powers of ten
    log_x: bool = False  # x in powers of ten


@dataclass(frozen=True)
class LabelledBox:
    """A text in a frame. across, down: its place in a grid; fractions are allowed."""

    across: float
    down: float
    text: str
    role: Role = "plain"


@dataclass(frozen=True)
class Arrow:
    """From a box to another, by their numbers, with a word beside it."""

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True)
class Diagram:
    """Boxes and arrows. Colours: what is secret, what is sent, what is public."""

    title: str
    boxes: tuple[LabelledBox, ...]
    arrows: tuple[Arrow, ...] = ()


@dataclass(frozen=True)
class Panels:
    """Several pictures in a grid."""

    title: str
    figures: tuple[OneFigure, ...]
    columns: int = 2


OneFigure = Curves | Intervals | Bars | Tree | HeatMap | ScatterPlot | Diagram
Figure = OneFigure | Panels
