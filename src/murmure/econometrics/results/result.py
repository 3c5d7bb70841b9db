"""The base of all results: text, HTML, LaTeX, JSON and frames, and how the result was obtained.

A result decides *what* it shows (a title, facts, tables, notes); text.py and markup.py decide how.
"""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from murmure.catalogue import persisted_name
from murmure.econometrics.algebra.rounding import to_float

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How

FRAMES = ("pandas", "polars", "pyarrow")  # the first that is installed is used


@dataclass(frozen=True)
class ResultTable:
    """A table. The first cell of a row is its name. Cells are texts, numbers, or None for unknown."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


class Drawable:
    """A result with a picture."""

    if TYPE_CHECKING:

        def plot(self, ax: Any = None) -> Any: ...


class ModelResult:
    """The base of every result. A result is a frozen dataclass with a field `how`, which `ask` fills in."""

    how: How | None

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        # @dataclass would otherwise write a __repr__ that lists every field.
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = ModelResult.__repr__  # type: ignore[method-assign]

    # -- what is shown

    @property
    def title(self) -> str:
        return type(self).__name__

    @property
    def heading(self) -> str:
        """Of a page: what was asked."""
        return self.title

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know about the figures."""
        return ()

    @property
    def reason(self) -> str | None:
        """Why there are no standard errors, where there should be some."""
        return None

    def facts(self) -> list[tuple[str, Any]]:
        """Single figures about the whole, in two columns above the tables: ("Rows", 16), ("R-squared", 0.995).

        ("", None) is a gap: facts after it are in the second column.
        """
        return []

    def tables(self) -> list[ResultTable]:
        raise NotImplementedError(f"{type(self).__name__} must say what it shows")

    @property
    def notes(self) -> list[str]:
        """What a reader must know, such as why a figure is missing."""
        remarks = [str(remark) for remark in self.remarks]
        return [*remarks, f"No standard errors: {self.reason}."] if self.reason else remarks

    @property
    def origin(self) -> list[str]:
        """How the result was obtained."""
        return [] if self.how is None else self.how.lines()

    def tidy(self) -> list[dict[str, Any]]:
        """One dictionary for each row of every table."""
        tables = self.tables()
        out: list[dict[str, Any]] = []
        for table in tables:
            which = {"table": table.title} if len(tables) > 1 else {}
            names = [name or ("term" if i == 0 else f"column {i + 1}") for i, name in enumerate(table.head)]
            out += [which | dict(zip(names, map(plain, row), strict=True)) for row in table.rows]
        return out

    # -- how it is shown

    def summary(self) -> str:
        """As text, about 78 letters wide."""
        from murmure.econometrics.results.text import summary_text

        return summary_text(self)

    def to_html(self, language: Literal["en", "fr"] = "en") -> str:
        from murmure.econometrics.results.markup import summary_html

        return summary_html(self, language)

    def to_latex(self) -> str:
        """Plain tabulars: no package is needed."""
        from murmure.econometrics.results.markup import summary_latex

        return summary_latex(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything that is shown, as plain lists and dictionaries."""
        return {
            "type": persisted_name(self),
            "title": self.title,
            "facts": {name: plain(value) for name, value in self.facts() if name},
            "tables": [
                {"title": t.title, "head": list(t.head), "rows": [[plain(cell) for cell in row] for row in t.rows]}
                for t in self.tables()
            ],
            "notes": self.notes,
            "how": None if self.how is None else plain(self.how.to_dict()),
        }

    def to_json(self, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_frame(self, backend: str | None = None) -> Any:
        """`tidy()` as a frame of pandas, polars or pyarrow, whichever is installed; else a dictionary of columns."""
        rows = self.tidy()
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
        backend = backend or next((name for name in FRAMES if importlib.util.find_spec(name)), None)
        if backend is None:
            return columns
        import narwhals as nw

        typed = {name: _of_one_type(column) for name, column in columns.items()}
        return nw.from_dict(typed, backend=backend).to_native()  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.to_html()


def _of_one_type(column: list[Any]) -> list[Any]:
    """The column with one type, as frames need it: all texts if there are texts, all floats if there are floats."""
    if any(isinstance(v, str) for v in column):
        return [v if v is None else str(v) for v in column]
    return [v if v is None else float(v) for v in column] if any(isinstance(v, float) for v in column) else column


def plain(value: Any) -> Any:
    """For JSON and frames: fractions and numpy's numbers as Python's; infinity and NaN as None."""
    if isinstance(value, Fraction):
        value = to_float(value)
    elif isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | bool) else str(value)
