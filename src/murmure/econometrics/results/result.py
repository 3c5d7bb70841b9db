"""The base of all results: what a result shows, and how it was obtained.

A result says a title, facts, tables, pictures and notes; `show` makes text, pages, LaTeX, JSON, frames and plots of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from murmure.catalogue import persisted_name
from murmure.core.errors import Phrase
from murmure.show import data
from murmure.show.cells import as_precise
from murmure.show.document import Block, Curves, Document, Facts, Intervals, Shown, Table, paragraphs

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How


LOW, HIGH = Phrase("95 % from"), Phrase("95 % to")  # facts


class ModelResult(Shown):
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

    def pictures(self) -> list[Intervals | Curves]:
        """What is drawn; its numbers are in the tables."""
        return []

    def tables(self) -> list[Table]:
        raise NotImplementedError(f"{type(self).__name__} must say what it shows")

    @property
    def notes(self) -> list[str]:
        """What a reader must know, such as why a figure is missing."""
        return (
            [*self.remarks, Phrase("No standard errors: {reason}.", reason=self.reason)]
            if self.reason
            else [*self.remarks]
        )

    def further_facts(self) -> list[tuple[str, Any]]:
        """Facts that people see, and that JSON leaves out, since its keys are frozen."""
        return []

    def explanations(self) -> list[str]:
        """What words and figures mean: for people, and not in JSON."""
        return []

    def document(self) -> Document:
        facts, pictures = _for_people([*self.facts(), *self.further_facts()]), self.pictures()
        blocks: tuple[Block, ...] = (
            *([Facts(tuple(facts))] if facts else []),
            *pictures[:1],
            *self.tables(),
            *pictures[1:],
            *paragraphs([*self.notes, *self.explanations()], "note"),
        )
        if self.how is not None:
            blocks = (*paragraphs(self.how.warnings(), "warning"), *blocks, *self.how.sections())
        return Document(self.title, blocks, persisted_name(self))

    # -- for machines

    def tidy(self) -> list[dict[str, Any]]:
        """One dictionary for each row of every table."""
        return data.tidy(Document(self.title, tuple(self.tables())))

    def to_dict(self) -> dict[str, Any]:
        """Everything that is shown, as plain lists and dictionaries."""
        how = None if self.how is None else data.plain(self.how.to_dict())
        blocks: tuple[Block, ...] = (Facts(tuple(self.facts())), *self.tables(), *paragraphs(self.notes))
        return data.to_dict(Document(self.title, blocks, persisted_name(self))) | {"how": how}

    def to_json(self, indent: int | None = None) -> str:
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_frame(self, backend: str | None = None) -> Any:
        """`tidy()` as a frame of pandas, polars or pyarrow, whichever is installed; else a dictionary of columns."""
        return data.frame_of(self.tidy(), backend)

    def __repr__(self) -> str:
        return str(self.summary())


def _for_people(facts: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Without those that are unknown; the two limits of an interval, which JSON has apart, are one fact."""
    facts = [(name, value) for name, value in facts if value is not None or not name]
    ends = dict(facts)
    low, high = ends.get(LOW), ends.get(HIGH)
    if low is None or high is None:
        return facts
    low, high = as_precise(low, high)
    both = (Phrase("95% interval"), Phrase("{low} to {high}", low=low, high=high))
    return [both if name == LOW else (name, value) for name, value in facts if name != HIGH]


class Drawable:
    """A result with a picture."""

    if TYPE_CHECKING:

        @property
        def title(self) -> str: ...

        def pictures(self) -> list[Intervals | Curves]: ...

    def plot(self, ax: Any = None) -> Any:
        """To an axis, to a file, or to a new figure; returns the axis (needs the `plots` extra)."""
        return draw_picture(self.pictures()[0], ax, self.title)


def draw_picture(picture: Intervals | Curves, target: Any, title: str) -> Any:
    from murmure.core.plotting import pyplot
    from murmure.show.plot import draw

    return draw(pyplot(), picture, target, title=title)


def number_name(value: Any, short: bool = False) -> str:
    """A number that names a row, in the marks of the language; short: with six digits."""
    return Phrase("{value:g}", value=float(value)) if short else Phrase("{value:.10g}", value=float(value))
