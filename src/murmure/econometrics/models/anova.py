"""One-way analysis of variance, from n, S[y], S[y^2] of every group.

    F = (SSB / (G - 1)) / (SSW / (N - G)),    eta^2 = SSB / (SSB + SSW)

Exact until the last rounding. With noise there is no F: it would be too large, by an amount that depends on the noise.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.schema import Schema
from murmure.econometrics.algebra.tails import f_above
from murmure.econometrics.design.columns import chosen_labels, name_list, require_number, select_columns
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.errors import NoVariation, TooFewObservations
from murmure.econometrics.example_tables import FIRM, FIRM_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneRound
from murmure.econometrics.results.group_means import GroupMean, group_picture, group_sums, group_table, means_by_group
from murmure.econometrics.results.result import Drawable, ModelResult
from murmure.show.document import Curves, Intervals, Table
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How

NOISY_F = Phrase("no F and no p-value: noise in the sums of squares makes F too large by an unknown amount")


@dataclass(frozen=True)
class Anova(OneRound):
    """One-way analysis of variance: are the means of a column the same in all groups?"""

    domain: Schema
    column: str
    by: str
    groups: tuple[str, ...] = ()

    entry = ModelEntry(
        order=110,
        functions=(
            ModelFunction(
                "anova",
                CommandForm("Compare the means of groups.", ("COLUMN",), ("by", "groups"), "stay visits.csv --by ward"),
                study=('column = "stay"\nby = "ward"\ngroups = ["A", "C"]',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "domain", select_columns("Anova", self.domain, [self.column, self.by]))
        require_number("Anova", self.domain, self.column)
        object.__setattr__(self, "groups", chosen_labels("Anova", self.domain, self.by, self.groups or None))
        if len(self.groups) < 2:
            raise InvalidParameter("Anova.groups must name two groups or more, got {got}.", got=list(self.groups))

    def in_words(self) -> str:
        return Phrase(
            "an analysis of variance of {column} by {by} ({groups})",
            column=self.column,
            by=self.by,
            groups=name_list(self.groups),
        )

    def steps(self) -> Generator[Any, Any, AnovaResult]:
        crossed: CrossProductsEstimate = yield group_sums(self.domain, self.column, self.by, self.groups)
        groups = means_by_group(self.domain, self.column, self.by, self.groups, crossed, min_rows=1)
        noisy = crossed.noise is not None
        out = AnovaResult(column=self.column, by=self.by, groups=tuple(groups), noisy=noisy)
        if not noisy:
            if out.within == 0 and out.between == 0:
                raise NoVariation(
                    "column {column!r} is the same for everybody.",
                    hint="there is nothing to explain",
                    columns=[self.column],
                    column=self.column,
                )
            if out.df[1] < 1:
                raise TooFewObservations(
                    "every group has one row: the spread within groups is unknown.", hint="join groups"
                )
        return out


@dataclass(frozen=True, eq=False, kw_only=True)
class AnovaResult(ModelResult, Drawable):
    """`statistic` (F), `pvalue`, `df` (between, within), `eta_squared`, `omega_squared`; None with noise."""

    column: str
    by: str
    groups: tuple[GroupMean, ...]
    noisy: bool = False
    how: How | None = None

    @property
    def reason(self) -> str | None:
        return NOISY_F if self.noisy else None

    @property
    def n(self) -> int:
        return round(self._n)

    @property
    def _n(self) -> Fraction:
        return sum((g.n for g in self.groups), Fraction(0))

    @property
    def between(self) -> Fraction:
        """SSB, the sum of squares between groups, exactly."""
        total = sum((g.n * g.mean for g in self.groups), Fraction(0))
        return sum((g.n * g.mean**2 for g in self.groups), Fraction(0)) - total**2 / self._n

    @property
    def within(self) -> Fraction:
        """SSW, the sum of squares within groups, exactly."""
        return sum((g.scatter for g in self.groups), Fraction(0))

    @property
    def df(self) -> tuple[int, int]:
        return len(self.groups) - 1, self.n - len(self.groups)

    @property
    def statistic(self) -> float | None:
        """F; infinite if nothing varies within groups."""
        if self.noisy:
            return None
        if self.within == 0:
            return math.inf
        return float((self.between / self.df[0]) / (self.within / self.df[1]))

    @property
    def pvalue(self) -> float | None:
        return None if self.statistic is None else f_above(self.statistic, *self.df)

    @property
    def eta_squared(self) -> float | None:
        return None if self.noisy else float(self.between / (self.between + self.within))

    @property
    def omega_squared(self) -> float | None:
        """Less biased than eta squared; negative if F is below one."""
        if self.noisy:
            return None
        mean = self.within / self.df[1]
        return float((self.between - self.df[0] * mean) / (self.between + self.within + mean))

    @property
    def title(self) -> str:
        return Phrase("Analysis of variance of {column} by {by}", column=self.column, by=self.by)

    def facts(self) -> list[tuple[str, Any]]:
        shares = [(Phrase("eta squared"), self.eta_squared), (Phrase("omega squared"), self.omega_squared)]
        return [(Phrase("rows"), self.n), (Phrase("groups"), len(self.groups)), *([] if self.noisy else shares)]

    def tables(self) -> list[Table]:
        out = []
        if not self.noisy:
            b, w, (df_between, df_within) = self.between, self.within, self.df
            rows = (
                (self.by, float(b), df_between, float(b / df_between), self.statistic, self.pvalue),
                (Phrase("within"), float(w), df_within, float(w / df_within), None, None),
                (Phrase("total"), float(b + w), df_between + df_within, None, None, None),
            )
            head = ("", Phrase("sum of squares"), Phrase("df"), Phrase("mean square"), "F", Phrase("Prob(>F)"))
            out.append(Table("", head, rows))
        return [*out, group_table(Phrase("Groups"), self.groups, self.noisy)]

    @property
    def notes(self) -> list[str]:
        if not self.noisy:
            return []
        return [
            Phrase("No F and no p-value: noise in the sums of squares makes F too large by an unknown amount."),
            Phrase("Errors of means count the noise (delta method, normal law)."),
        ]

    def pictures(self) -> list[Intervals | Curves]:
        return [group_picture(self.groups, self.column, self.noisy)]


def anova(
    column: str,
    data: Any,
    *,
    by: str,
    groups: Sequence[Any] | None = None,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> AnovaResult:
    """`anova("pay", table, by="region")`: one-way analysis of variance; data and privacy as in `ask`."""
    domain = schema_for("anova", data, schema, [column, by], privacy)
    model = Anova(domain, column, by, () if groups is None else tuple(map(str, groups)))
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (Example(Anova(FIRM, "pay", "site"), FIRM_ROWS),)
