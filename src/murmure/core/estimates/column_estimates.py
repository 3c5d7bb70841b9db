"""Figures about several columns at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from murmure.core.domain import Decimals, Domain, Integers, Interval
from murmure.core.errors import MissingColumn, shorten
from murmure.core.estimates.estimate import Estimate
from murmure.core.estimates.intervals import level_of_each
from murmure.core.estimates.share_means import mean_of
from murmure.core.types import Floats, Releasable, Target
from murmure.show.document import Document, Shown


@dataclass(frozen=True, eq=False)
class Estimates(Mapping[str, Estimate], Releasable, Shown):
    """One estimate per column; `estimates["age"]` is an `Estimate`, `estimates.means` the means of numeric columns.

    >>> import murmure as mu
    >>> schema = mu.Schema({"smoker": mu.Categories(["no", "yes"]), "age": mu.Integers(18, 99)})
    >>> plan = mu.Plan(mu.Marginals(schema), person=mu.SPL(schema, epsilon=2.0))
    >>> people = {"smoker": ["no", "no", "yes"] * 1000, "age": [25, 40, 55] * 1000}
    >>> estimates = mu.run(plan, people, rng=mu.Random.seeded(7)).estimate
    >>> print(estimates)
    smoker
            share       low      high
    no     0.6695    0.6352    0.7038
    yes    0.3305    0.2962    0.3648
    <BLANKLINE>
    mean
            value       low      high
    age   42.4395   39.4377   45.4411
    <BLANKLINE>
    3,000 people; 95% intervals by score (every value under which such reports are not rare, by a normal
      curve), for these people (fixed population)
    >>> print({name: ends.round(3).tolist() for name, ends in estimates.interval(simultaneous=True).items()})
    {'smoker': [[0.628, 0.711], [0.289, 0.372]], 'age': [[38.773, 46.106]]}
    """

    by_column: Mapping[str, Estimate]
    n: int
    numbers: Mapping[str, tuple[Floats, float]] = field(default_factory=dict, repr=False)  # values, grid rounding
    target: Target = "fixed"
    remark: str = ""
    noisy: bool = False  # n itself was read off a protected sum

    def __getitem__(self, column: str) -> Estimate:
        if column not in self.by_column:
            raise MissingColumn(
                "there is no estimate of {column!r}; there are estimates of {by_column}.",
                column=column,
                by_column=shorten(list(self.by_column), 120),
            )
        return self.by_column[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_column)

    def __len__(self) -> int:
        return len(self.by_column)

    @property
    def estimator(self) -> Any:
        """Not None where some column has an error bar."""
        return next((e.estimator for e in self.by_column.values() if e.estimator is not None), None)

    @property
    def means(self) -> Estimates:
        """The mean of every numeric column: estimated directly, or computed from the shares of its values."""
        out = {}
        for name, estimate in self.by_column.items():
            if estimate.unit == "value":
                out[name] = estimate
            elif name in self.numbers and estimate.estimator is not None:
                out[name] = mean_of(estimate, *self.numbers[name])
        return Estimates(out, self.n, target=self.target, remark=self.remark, noisy=self.noisy)

    def interval(
        self, level: float = 0.95, target: Target = "fixed", simultaneous: bool = False, forged: int = 0
    ) -> dict[str, Floats]:
        """Rows (low, high) for every column that has error bars; simultaneous: over all figures of all columns.

        forged: up to this many of the people's reports may be forged, and the intervals hold whatever they say.
        """
        with_bars = {name: e for name, e in self.by_column.items() if e.estimator is not None}
        each = level_of_each(level, sum(len(e.mean) for e in with_bars.values()), simultaneous)
        return {name: e.interval(each, target, forged=forged) for name, e in with_bars.items()}

    def with_forged(self, forged: int) -> Estimates:
        """The same figures, with intervals that hold although up to `forged` people forged their reports."""
        columns = {name: e if e.estimator is None else e.with_forged(forged) for name, e in self.by_column.items()}
        return replace(self, by_column=columns)

    def to_rows(self, level: float = 0.95, target: Target | None = None) -> list[dict[str, Any]]:
        """One dictionary per figure, with its column."""
        out: list[dict[str, Any]] = []
        for name, e in self.by_column.items():
            if np.isnan(e.mean).all():
                out.append({"column": name, "no_figure": e.reason})
            else:
                out += [{"column": name, **row} for row in e.to_rows(level, target)]
        return out

    def plot(self, target: Any = None, level: float = 0.95, truth: Mapping[str, Any] | None = None) -> Any:
        """One panel per column, to a figure or to an .svg or .png file; true values as circles when simulating."""
        from murmure.core.estimates.estimate_blocks import plot_estimates

        return plot_estimates(self, target, level, truth)

    def bounds(self, column: str) -> tuple[float, float] | None:
        """The public bounds of a column of numbers."""
        grid = self.numbers.get(column)
        return None if grid is None else (float(grid[0][0] - grid[1]), float(grid[0][-1] + grid[1]))

    def document(self) -> Document:
        """What it shows, which text, pages and LaTeX are rendered from."""
        from murmure.core.estimates.estimate_blocks import estimates_blocks

        return Document("", estimates_blocks(self), "Estimates")

    def __repr__(self) -> str:
        return str(self)


MAX_VALUES_SHOWN = 64  # a whole number or decimal with more values is estimated by its mean, not value by value


def by_mean(domain: Domain) -> bool:
    """Whether a column is estimated by its mean, by default."""
    return isinstance(domain, Interval) or (isinstance(domain, Integers | Decimals) and domain.size > MAX_VALUES_SHOWN)


def numeric_values(schema: Any) -> dict[str, tuple[Any, float]]:
    """The values of numeric columns, and how far a value may have moved to reach its grid."""
    out: dict[str, tuple[Any, float]] = {}
    for name in schema.private:
        domain = schema[name]
        if isinstance(domain, Integers | Interval | Decimals):
            out[name] = (domain.numbers(), domain.scale()[2])
    return out


def no_estimate(labels: Any, reason: str) -> Estimate:
    """No figure at all, and why."""
    return Estimate(list(labels), np.full(len(labels), np.nan), 0, "share", None, reason)


def without_bars(estimate: Any, reason: str) -> Any:
    """The same figures without error bars, and the reason."""
    if isinstance(estimate, Estimates):
        return replace(estimate, by_column={name: without_bars(e, reason) for name, e in estimate.items()})
    return replace(estimate, estimator=None, reason=reason)
