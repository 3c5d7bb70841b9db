"""The mean of a column in groups, and its error, from three sums for each group: n, S[y - c], S[(y - c)^2]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from murmure.core.errors import Phrase
from murmure.core.schema import Schema
from murmure.econometrics.algebra.delta_method import Traced
from murmure.econometrics.algebra.moments import cross
from murmure.econometrics.algebra.rounding import root
from murmure.econometrics.algebra.tails import normal_point, t_point
from murmure.econometrics.design.columns import centred, label_condition
from murmure.econometrics.errors import EmptyCategory, TooFewObservations
from murmure.econometrics.results.canvas import canvas
from murmure.econometrics.results.result import ResultTable
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


def group_table(title: str, groups: Sequence[GroupMean], alpha: float, noisy: bool) -> ResultTable:
    rows = []
    for g in groups:
        se, sd = g.se, None if g.variance is None else root(g.variance)
        reach = None if se is None else se * (normal_point(1 - alpha) if noisy else t_point(1 - alpha, float(g.n) - 1))
        mean = float(g.mean)
        ends = (None, None) if reach is None else (mean - reach, mean + reach)
        rows.append((g.label, round(g.n), mean, sd, se, *ends))
    head = ("", "n", "mean", "sd", "std err", f"[{alpha / 2:g}", f"{1 - alpha / 2:g}]")
    return ResultTable(title, head, tuple(rows))


def plot_means(groups: Sequence[GroupMean], column: str, noisy: bool, target: Any) -> Any:
    """The mean of every group with its 95 % interval; to an axis or a file."""
    with canvas(target, (6.4, 1.2 + 0.36 * len(groups))) as ax:
        rows = group_table("", groups, 0.05, noisy).rows
        for at, (_, _, mean, _, _, low, high) in enumerate(rows):
            if low is not None:
                ax.plot([low, high], [at, at], color="#2a78d6", lw=2, alpha=0.55, solid_capstyle="butt")
            ax.plot(mean, at, "o", color="#2a78d6", ms=6)
        ax.set_yticks(range(len(groups)), [g.label for g in groups], parse_math=False)
        ax.set_ylim(len(groups) - 0.5, -0.5)
        ax.set_xlabel(f"mean of {column}, with 95 % interval", parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)
    return ax
