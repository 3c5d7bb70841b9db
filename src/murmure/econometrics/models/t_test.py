"""Compare means of one or two groups, from n, S[y], S[y^2] of each: Student's and Welch's tests.

    Welch    t = (m_1 - m_2) / sqrt(s_1^2/n_1 + s_2^2/n_2)      df by Welch (1947) and Satterthwaite (1946)
    pooled   t = (m_1 - m_2) / sqrt(s^2 (1/n_1 + 1/n_2))        df = n_1 + n_2 - 2

Exact until the last rounding. With noise, the error of a difference of means includes it (delta method, normal law).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.moments import signed_root
from murmure.econometrics.algebra.rounding import root
from murmure.econometrics.algebra.tails import (
    check_alpha,
    normal_point,
    normal_two_sided,
    t_below,
    t_point,
    t_two_sided,
)
from murmure.econometrics.design.columns import (
    chosen_labels,
    decimal_text,
    exact_number,
    require_number,
    select_columns,
)
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.errors import NoVariation
from murmure.econometrics.example_tables import FIRM, FIRM_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneRound
from murmure.econometrics.results.group_means import GroupMean, group_picture, group_sums, group_table, means_by_group
from murmure.econometrics.results.regression import ENDS
from murmure.econometrics.results.result import Drawable, ModelResult
from murmure.show.document import Curves, Intervals, Table
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How

Alternative = Literal["two-sided", "less", "greater"]
EVERYBODY = Phrase("everybody")


@dataclass(frozen=True)
class TTest(OneRound):
    """The mean of a column against `mu`, or the difference of its means in two groups (pooled: one variance)."""

    domain: Schema
    column: str
    by: str | None = None
    groups: tuple[str, ...] = ()
    mu: str = "0"
    pooled: bool = False
    alternative: str = "two-sided"

    entry = ModelEntry(
        order=100,
        functions=(
            ModelFunction(
                "ttest",
                CommandForm(
                    "Compare two means (Welch), or one with a number.",
                    ("COLUMN",),
                    (
                        OptionForm(
                            "by", "The column of groups; without it one sample is compared with --mu.", metavar="G"
                        ),
                        "groups",
                        OptionForm("mu", "What the mean is compared with.  [default: 0]", metavar="M"),
                        OptionForm("pooled", "One variance for both groups.", kind="flag"),
                    ),
                    "stay visits.csv --by sex",
                ),
                study=(
                    'column = "stay"\nby = "ward"\ngroups = ["A", "C"]\nalternative = "less"\npooled = true',
                    'column = "stay"\nmu = 20.5',
                ),
            ),
        ),
    )

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "domain", select_columns("TTest", self.domain, [self.column, *([self.by] if self.by else [])])
        )
        require_number("TTest", self.domain, self.column)
        exact_number("TTest", "mu", self.mu)
        if self.alternative not in get_args(Alternative):
            raise InvalidParameter(
                "TTest.alternative must be one of {alternative}, got {got}.",
                alternative=", ".join(map(repr, get_args(Alternative))),
                got=shorten(self.alternative),
            )
        if not isinstance(self.pooled, bool):
            raise InvalidParameter("TTest.pooled must be True or False, got {got}.", got=shorten(self.pooled))
        if self.by is None:
            if self.groups:
                raise InvalidParameter("TTest.groups names groups, but there is no column `by`.", hint='by="sex"')
            return
        groups = chosen_labels("TTest", self.domain, self.by, self.groups or None)
        if len(groups) != 2:
            raise InvalidParameter(
                "TTest compares two groups; column {by!r} has {group_count}: {groups}.",
                hint="groups=(...) names two of them; anova(...) compares all",
                by=self.by,
                group_count=len(groups),
                groups=shorten(list(groups), 80),
            )
        object.__setattr__(self, "groups", groups)

    def in_words(self) -> str:
        if self.by is None:
            return Phrase("a t-test of the mean of {column} against {mu}", column=self.column, mu=self.mu)
        first, second = self.groups
        return Phrase(
            "a t-test of {column} between {first} and {second} ({by})",
            column=self.column,
            first=first,
            second=second,
            by=self.by,
        )

    def steps(self) -> Generator[Any, Any, TTestResult]:
        crossed: CrossProductsEstimate = yield group_sums(self.domain, self.column, self.by, self.groups)
        labels = self.groups or (EVERYBODY,)
        groups = means_by_group(self.domain, self.column, self.by, labels, crossed)
        noisy = crossed.noise is not None
        if not noisy and all(g.scatter == 0 for g in groups):
            raise NoVariation(
                "column {column!r} is the same for everybody in {detail}.",
                hint="there is no spread to compare a difference with",
                columns=[self.column],
                column=self.column,
                detail=Phrase("each group") if self.by else Phrase("the table"),
            )
        return TTestResult(
            column=self.column,
            by=self.by,
            groups=tuple(groups),
            mu=exact_number("TTest", "mu", self.mu),
            pooled=self.pooled,
            alternative=self.alternative,
            noisy=noisy,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class TTestResult(ModelResult, Drawable):
    """`statistic`, `pvalue`, `df`, `difference` of the means (for one group: its mean), `se`, `conf_int()`."""

    column: str
    by: str | None
    groups: tuple[GroupMean, ...]
    mu: Fraction
    pooled: bool
    alternative: str
    noisy: bool = False
    how: How | None = None

    @property
    def difference(self) -> float:
        """The mean of the first group minus that of the second; for one group, its mean."""
        return float(self._difference)

    @property
    def _difference(self) -> Fraction:
        first, *other = self.groups
        return first.mean - other[0].mean if other else first.mean

    @property
    def _square(self) -> Fraction | None:
        """The squared error of the difference; None if noise made a variance negative."""
        parts = [g.variance for g in self.groups]
        if any(v is None for v in parts):
            return None
        noise = sum((Fraction(g.noise) for g in self.groups), Fraction(0))
        if self.pooled and len(self.groups) == 2:
            a, b = self.groups
            pooled = (a.scatter + b.scatter) / (a.n + b.n - 2)
            return pooled * (1 / a.n + 1 / b.n) + noise
        return sum((v / g.n for v, g in zip(parts, self.groups, strict=True)), noise)  # type: ignore[operator]

    @property
    def se(self) -> float | None:
        return None if self._square is None else root(self._square)

    @property
    def df(self) -> float | None:
        """Degrees of freedom; None with noise, where the law is normal."""
        if self.noisy:
            return None
        if len(self.groups) == 1:
            return float(self.groups[0].n - 1)
        a, b = self.groups
        if self.pooled:
            return float(a.n + b.n - 2)
        assert a.variance is not None and b.variance is not None
        u, v = a.variance / a.n, b.variance / b.n
        return float((u + v) ** 2 / (u**2 / (a.n - 1) + v**2 / (b.n - 1)))

    @property
    def statistic(self) -> float | None:
        square, away = self._square, self._difference - self.mu
        return None if not square else signed_root(away**2 / square, away)

    @property
    def pvalue(self) -> float | None:
        t = self.statistic
        if t is None:
            return None
        df = self.df
        if self.alternative == "two-sided":
            return normal_two_sided(t) if df is None else t_two_sided(t, df)
        t = t if self.alternative == "less" else -t
        return math.erfc(-t / math.sqrt(2)) / 2 if df is None else t_below(t, df)

    def conf_int(self, alpha: float = 0.05) -> tuple[float, float] | None:
        """The two-sided interval of the difference, for any alternative."""
        alpha = check_alpha("conf_int", alpha)
        if self.se is None:
            return None
        reach = self.se * (normal_point(1 - alpha) if self.df is None else t_point(1 - alpha, self.df))
        return self.difference - reach, self.difference + reach

    @property
    def title(self) -> str:
        if len(self.groups) == 1:
            return Phrase("t-test of {column}", column=self.column)
        if self.pooled:
            return Phrase("t-test of {column} by {by}, pooled variance", column=self.column, by=self.by)
        return Phrase("t-test of {column} by {by}, Welch", column=self.column, by=self.by)

    def tables(self) -> list[Table]:
        what = Phrase("mean") if len(self.groups) == 1 else " - ".join(g.label for g in self.groups)
        low, high = self.conf_int() or (None, None)
        name, tail = ("t", Phrase("P>|t|")) if self.df is not None else ("z", Phrase("P>|z|"))
        if self.alternative == "less":
            tail = Phrase("Prob(<{name})", name=name)
        elif self.alternative == "greater":
            tail = Phrase("Prob(>{name})", name=name)
        row = (what, self.difference, self.se, self.statistic, self.df, self.pvalue, low, high)
        head = ("", Phrase("estimate"), Phrase("std err"), name, Phrase("df"), tail, *ENDS)
        return [Table("", head, (row,)), group_table(Phrase("Groups"), self.groups, self.noisy)]

    def pictures(self) -> list[Intervals | Curves]:
        return [group_picture(self.groups, self.column, self.noisy)]

    @property
    def notes(self) -> list[str]:
        out: list[str] = []
        if self.mu != 0:
            out.append(Phrase("Tested against {mu}.", mu=decimal_text(self.mu) or self.mu))
        if self.noisy:
            out.append(Phrase("Errors count the noise (delta method, normal law); numbers of rows are noisy."))
            if self._square is None:
                out.append(Phrase("No error and no p-value: with the noise, a sum of squares is too small."))
        return out


def ttest(
    column: str,
    data: Any,
    *,
    by: str | None = None,
    groups: Sequence[Any] | None = None,
    mu: Any = 0,
    pooled: bool = False,
    alternative: Alternative = "two-sided",
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> TTestResult:
    """`ttest("pay", table, by="sex")`: Welch's test, or with one variance (pooled=True); without `by`, against mu."""
    domain = schema_for("ttest", data, schema, [column, *([by] if by else [])], privacy)
    tested = exact_number("ttest", "mu", mu)
    labels = () if groups is None else tuple(map(str, groups))
    model = TTest(domain, column, by, labels, decimal_text(tested) or str(tested), pooled, alternative)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (
    Example(TTest(FIRM, "pay", "sex"), FIRM_ROWS),
    Example(TTest(FIRM, "pay", "sex", pooled=True, alternative="greater"), FIRM_ROWS),
    Example(TTest(FIRM, "pay", "site", ("west", "north")), FIRM_ROWS),
    Example(TTest(FIRM, "pay", mu="3200.5"), FIRM_ROWS),
)
