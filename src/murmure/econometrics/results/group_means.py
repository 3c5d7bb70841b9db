"""The mean of a column in groups, and its error, from three sums for each group: n, S[y - c], S[(y - c)^2]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from murmure.core.errors import Phrase
from murmure.core.schema import Schema
from murmure.econometrics.algebra.delta_method import Traced
from murmure.econometrics.algebra.moments import cross
from murmure.econometrics.algebra.rounding import root
from murmure.econometrics.algebra.tails import normal_point, t_point
from murmure.econometrics.design.columns import centred, label_condition
from murmure.econometrics.errors import EmptyCategory, TooFewObservations
from murmure.econometrics.results.regression import ENDS
from murmure.show.document import IntervalRow, Intervals, Table
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate
from murmure.statistics.exact.cross_products import CrossProducts


@dataclass(frozen=True)
class GroupMean:
    """One group: number of rows, mean, variance (divisor n - 1), and the variance of the noise in the mean."""

    label: str
    n: Fraction
    mean: Fraction
    scatter: Fraction  # sum of (y - mean)^2
    noise: float = 0.0

    @property
    def variance(self) -> Fraction | None:
        return self.scatter / (self.n - 1) if self.n > 1 and self.scatter >= 0 else None

    @property
    def se(self) -> float | None:
        """The standard error of the mean, including noise."""
        return None if self.variance is None else root(self.variance / self.n + Fraction(self.noise))


def group_sums(domain: Schema, column: str, by: str | None, groups: Sequence[str]) -> CrossProducts:
    """The question for n, S[u] and S[u^2] of every group, u = y minus a public middle."""
    u = centred(domain, column)[0]
    if by is None:
        return CrossProducts(domain, ("1", u))
    members = [label_condition(domain, by, label) for label in groups]
    return CrossProducts(domain, (*members, *(f"{member} * {u}" for member in members)))


def means_by_group(
    domain: Schema,
    column: str,
    by: str | None,
    labels: Sequence[str],
    crossed: CrossProductsEstimate,
    min_rows: int = 2,
) -> list[GroupMean]:
    """The mean of every group. A group that is empty or has too few rows is refused by name."""
    c, out = centred(domain, column)[1], []
    k, S = len(labels), crossed.matrix
    spread = None if crossed.noise is None else [float(v) for v in crossed.variance()]
    for g, label in enumerate(labels):
        n, s, ss = S[g][g], S[g][k + g], S[k + g][k + g]
        who = Phrase("the table") if by is None else Phrase("group {label!r} of column {by!r}", label=label, by=by)
        if n <= 0 and spread is None:
            raise EmptyCategory(
                "{who} is empty: no party has a row in it.",
                hint="groups=(...) names those to compare",
                columns=[label],
                who=who,
            )
        if n < min_rows or (spread is not None and n <= 1):
            count = (
                Phrase("has only one row")
                if spread is None
                else Phrase("has, with the noise, {n:.4g} rows", n=float(n))
            )
            raise TooFewObservations(
                "{who} {count}: its spread is unknown.",
                hint="join groups, or leave it out",
                columns=[label],
                who=who,
                count=count,
            )
        noise = 0.0
        if spread is not None:
            moved = Traced(float(s), crossed.slopes(g, k + g)) / Traced(float(n), crossed.slopes(g, g))
            noise = moved.variance(spread)
        out.append(GroupMean(label, n, c + s / n, cross(n, s, s, ss), noise))
    return out


def group_table(title: str, groups: Sequence[GroupMean], noisy: bool) -> Table:
    rows = []
    for g in groups:
        sd = None if g.variance is None else root(g.variance)
        rows.append((g.label, round(g.n), float(g.mean), sd, g.se, *_ends(g, noisy)))
    head = ("", "n", Phrase("mean"), Phrase("sd"), Phrase("std err"), *ENDS)
    return Table(title, head, tuple(rows))


def group_picture(groups: Sequence[GroupMean], column: str, noisy: bool) -> Intervals:
    """The mean of every group with its 95% interval."""
    rows = tuple(IntervalRow(g.label, float(g.mean), *_ends(g, noisy)) for g in groups)
    title = Phrase("Means of {column}, with 95% intervals", column=column)
    return Intervals(title, rows, "value", picture=True, axis=Phrase("mean of {column}", column=column))


def _ends(g: GroupMean, noisy: bool) -> tuple[float | None, float | None]:
    """The 95% interval of a mean."""
    if g.se is None:
        return None, None
    reach = g.se * (normal_point(0.95) if noisy else t_point(0.95, float(g.n) - 1))
    return float(g.mean) - reach, float(g.mean) + reach
