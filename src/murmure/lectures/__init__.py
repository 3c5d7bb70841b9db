"""The lectures redrawn: every figure, table, exercise and claim has a living counterpart.

>>> from murmure import lectures
>>> grr = lectures.run("000/grr-law", size="tiny")
>>> print(grr.measured.found)
0.2536 for the true value, 0.0933 for each other one

`grr.plot()` draws it, and `murmure lectures run` writes all of them. See `course` for how, and `items` for what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from murmure.lectures.course.item_result import ItemResult
    from murmure.lectures.course.work import Size


def run(name: str, size: Size = "quick", seed: int = 0, invent: bool = False) -> ItemResult:
    """One item of a lecture, measured: `summary()`, `plot()`, and its numbers in `measured.data`.

    size: "full" takes as long as the lecture asks for. invent: invented data where a data set is missing.
    """
    from murmure.core.errors import InvalidParameter
    from murmure.lectures.course.found import named
    from murmure.lectures.course.writing import Settings, measure

    names = named(name)
    if len(names) > 1:
        raise InvalidParameter(
            "run takes one item, and {name!r} means {n:,} of them.",
            hint="take one of them, such as {first!r}",
            name=name,
            n=len(names),
            first=names[0],
        )
    return measure(names[0], Settings(size, seed=seed, invent=invent))


def names(lecture: str = "all") -> tuple[str, ...]:
    """The items of a lecture, such as "000/grr-law", or of all of them.

    >>> from murmure import lectures
    >>> print(lectures.names("000")[0])
    000/warner-tree
    """
    from murmure.lectures.course.found import named

    return named(lecture)
