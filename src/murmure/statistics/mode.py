"""The value that most people hold.

g(x) = the indicator of x;  a choice: the candidates are the values, their scores the counts. One person moves a score
by at most 1, added, removed or exchanged. What is released is one label, and no count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.catalogue_entries import QueryForm, StatisticEntry
from murmure.core.domain import Categories, Domain, Integers
from murmure.core.errors import InvalidParameter, NoUnbiasedEstimate, Phrase, shorten
from murmure.core.types import Array, Choosable, Ints, Releasable
from murmure.show.document import Document, Paragraph, Shown
from murmure.show.phrase import Strong
from murmure.statistics.base.statistic import MAX_JOINT_CELLS, CuratorStatistic, counts_of, one_hot

FIGURES_HINT = Phrase("Histogram(domain) with DiscreteLaplace gives each value a figure and an interval")


@dataclass(frozen=True)
class Chosen(Releasable, Shown):
    """One of several public candidates. There is no error bar: the law of the choice says how sure it is."""

    label: str
    index: int
    candidates: int

    # What releases ask of any estimate. The number of people is not released with a choice.
    n = None
    estimator = None
    target = "fixed"
    unit = "index"
    noisy = True
    reason = Phrase("a choice has none; it is the likelier the farther ahead the chosen one is")

    @property
    def labels(self) -> Sequence[str]:
        return [self.label]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The number of the candidate."""
        return np.array([float(self.index)])

    def variance(self, target: str = "fixed") -> NDArray[np.float64]:
        return np.zeros(1)

    def to_rows(self, level: float = 0.95, target: Any = None) -> list[dict[str, Any]]:
        return [{"label": self.label, "index": self.index}]

    def interval(self, *asked: Any, **how: Any) -> Any:
        """A choice has none: this raises."""
        raise NoUnbiasedEstimate(
            "a choice has no error bar: {label!r} is a label, not a figure.", hint=FIGURES_HINT, label=self.label
        )

    def plot(self, *asked: Any, **how: Any) -> Any:
        """A choice has nothing to draw: this raises."""
        raise NoUnbiasedEstimate(
            "a choice has no figure to plot: {label!r} is a label.", hint=FIGURES_HINT, label=self.label
        )

    def __repr__(self) -> str:
        return str(self)

    def document(self) -> Document:
        among = Phrase("chosen among {candidates} public candidates", candidates=self.candidates)
        return Document(
            "", (Paragraph(Phrase("{label}", label=Strong(self.label))), Paragraph(among, "note")), "Chosen"
        )


@dataclass(frozen=True)
class Mode(CuratorStatistic[Chosen], Choosable):
    """The commonest value of a domain, as a choice: `Plan(Mode(domain), curator=PermuteAndFlip(epsilon=1.0))`.

    >>> import murmure as mu
    >>> plan = mu.Plan(mu.Mode(mu.Categories(["red", "green", "blue"])), curator=mu.PermuteAndFlip(epsilon=1.0))
    >>> print(mu.run(plan, ["red", "blue", "blue"] * 20, rng=mu.Random.seeded(7)).estimate)
    blue
    chosen among 3 public candidates
    """

    domain: Domain

    entry = StatisticEntry(
        order=90,
        query=QueryForm("mode", chosen="PermuteAndFlip"),
        study="the commonest value of {columns}, from how many rows hold each of its {width} values",
        title="Commonest value of {column}",
        sentence="The commonest value of {column}",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise InvalidParameter(
                "Mode.domain must be Categories, Integers, Interval, Decimals or Dates, got {got}.",
                got=shorten(self.domain),
            )
        if self.domain.size > MAX_JOINT_CELLS:
            raise InvalidParameter(
                "Mode.domain has {size} values, more than {max_joint_cells}.",
                hint="give it fewer cells",
                size=self.domain.size,
                max_joint_cells=MAX_JOINT_CELLS,
            )

    largest = 1
    handles_nobody = True
    score_sensitivity = 1
    choose_with = "PermuteAndFlip"

    @property
    def width(self) -> int:
        return self.domain.size

    @property
    def candidates(self) -> int:
        return self.domain.size

    def lift(self, x: Array) -> Ints:
        return one_hot(x, self.width)

    def tally(self, x: Array) -> Ints:
        return counts_of(x, self.width)

    def scores(self, total: Ints) -> Ints:
        return total

    def chosen(self, index: int) -> Chosen:
        return Chosen(self.domain.label(index), int(index), self.candidates)

    def interpret_exact(self, total: Ints, n: int) -> Chosen:
        return self.chosen(int(np.argmax(self.scores(total))))

    def reference(self, x: Array) -> NDArray[np.float64]:
        return np.array([float(np.argmax(np.bincount(x, minlength=self.width)))])


EXAMPLES = (Mode(Categories(["no", "yes"])), Mode(Integers(3, 9)))
