"""What a lecture says, and what comes out when it is done again: the types that every item fills in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from murmure.show.document import Block
from murmure.show.figures import Figure

if TYPE_CHECKING:
    from murmure.lectures.course.work import Work


@dataclass(frozen=True)
class Measured:
    """What came out. All texts are phrases; the numbers of every figure are in `data`."""

    found: str  # what was measured, in a sentence or two
    data: Mapping[str, Sequence[Any]]  # columns of equal length: the CSV file
    figures: tuple[Figure, ...] = ()
    why: str | None = None  # why it differs from what the lecture claims or prints; None: it does not
    blocks: tuple[Block, ...] = ()  # tables and remarks below the figures
    broken: tuple[Block, ...] = ()  # "break it": the mistake at work


@dataclass(frozen=True)
class Item:
    """One figure, table, experiment or claim of a lecture."""

    title: str
    where: str  # in the lecture: a section or a slide
    measure: Callable[[Work], Measured]
    claimed: str | None = None  # what the lecture claims in words
    printed: str | None = None  # the figures that the lecture prints
    needs: tuple[str, ...] = ()  # data sets, by name
    lab: str | None = None  # what the lab shows of it: "tree?truth=1/2", after lab/index.html#
    verdicts: tuple[int, ...] = ()  # numbers of the lectures' mistakes that it shows


@dataclass(frozen=True)
class Exercise:
    """A question for the reader, a hint, and the answer."""

    question: str
    hint: str
    answer: str


@dataclass(frozen=True)
class Lecture:
    """A lecture as a whole; LECTURE in the __init__.py of its folder."""

    title: str
    about: str  # what it is about, in a paragraph
    order: tuple[str, ...]  # its items in the order of the lecture, by the names of their files
    exercises: tuple[Exercise, ...] = ()
