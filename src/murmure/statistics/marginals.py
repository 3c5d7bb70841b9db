"""Every column of a record: the shares of its values, or its mean.

g(x) = the indicators (or code and squared code) of every column, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.estimates import Estimates, by_mean, numbers_of
from murmure.core.schema import Schema
from murmure.core.types import Array, Ints
from murmure.statistics.histogram import Histogram
from murmure.statistics.mean import Mean

GRID = 1000  # weights are whole numbers of thousandths: sums stay integers


@dataclass(frozen=True)
class Marginals:
    """Shares of every category and of whole numbers with few values; the mean of every other number."""

    domain: Schema
    weights: str | None = None  # a public column: how much each person counts

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Schema):
            raise InvalidParameter(
                f"Marginals.domain must be a Schema, got {shorten(self.domain)}.",
                hint='Marginals(Schema({"smoker": Categories(["no", "yes"])})); one column is a Histogram or a Mean',
            )
        if not self.domain.private:
            raise InvalidParameter("Marginals.domain has public columns only: there is nothing to estimate.")
        if self.weights is not None:
            domain = self.domain[self.weights] if self.weights in self.domain.open else None
            if not isinstance(domain, Integers | Interval) or domain.low < 0:
                raise InvalidParameter(
                    f"Marginals.weights must be a public column of numbers that are not negative, got "
                    f"{shorten(self.weights)}; public here: {list(self.domain.open)}.",
                    hint="declare it in the schema: Column(Interval(0, 10), public=True)",
                )

    @cached_property
    def parts(self) -> tuple[Histogram | Mean, ...]:
        """The question about every private column."""
        domains = [self.domain[name] for name in self.domain.private]
        return tuple(Mean(d) if by_mean(d) else Histogram(d) for d in domains)  # type: ignore[arg-type]

    @property
    def width(self) -> int:
        return sum(part.width for part in self.parts)

    @property
    def largest(self) -> int:
        return max(part.largest for part in self.parts)

    @property
    def heaviest(self) -> int:
        """What one person adds to a weighted sum, at most: the square of the largest weight."""
        return 1 if self.weights is None else int(np.ceil(self.domain[self.weights].high * GRID)) ** 2  # type: ignore[attr-defined]

    def weigh(self, batch: Any) -> Ints | None:
        """Public weights in thousandths, one per person."""
        if self.weights is None:
            return None
        held = self.domain.carry({name: batch[name] for name in self.domain.open})[self.weights]
        return np.rint(np.asarray(held, float) * GRID).astype(np.int64)

    def reader(self, person: Any) -> Any:
        """What adds up and reads reports: the mechanism itself, or its weighted view."""
        return person if self.weights is None else person.weighted()

    def encode(self, batch: Any) -> tuple[Array, ...]:
        return self.domain.encode(batch)

    def lift(self, x: tuple[Array, ...]) -> Ints:
        return np.concatenate([part.lift(xi) for part, xi in zip(self.parts, x, strict=True)], axis=1)

    def tally(self, x: tuple[Array, ...]) -> Ints:
        return np.concatenate([part.tally(xi) for part, xi in zip(self.parts, x, strict=True)])

    def _pieces(self, total: Ints) -> Iterator[Ints]:
        at = 0
        for part in self.parts:
            yield total[at : at + part.width]
            at += part.width

    def clear(self, total: Ints, n: int) -> Estimates:
        columns = zip(self.domain.private, self.parts, self._pieces(total), strict=True)
        return Estimates({name: part.clear(piece, n) for name, part, piece in columns}, n, numbers_of(self.domain))

    def reads(self, affine: Any) -> str | None:
        """Any map of a record can be read: columns without an unbiased figure say so themselves."""
        return None if isinstance(affine, dict) else "it randomises one attribute, not a record"

    def finish(self, estimates: Estimates) -> Estimates:
        return estimates

    def reference(self, x: tuple[Array, ...]) -> NDArray[np.float64]:
        return np.concatenate([part.reference(xi) for part, xi in zip(self.parts, x, strict=True)])


EXAMPLES = (
    Marginals(Schema({"smoker": Categories(["no", "yes"]), "age": Integers(0, 99), "income": Interval(0.0, 1.0)})),
    Marginals(Schema({"region": Categories(7), "children": Integers(0, 9)})),
)
