"""The log-rank test: do groups survive alike? Compares the events of each group with those expected if they do.

    E_g = sum_t d n_g / n,    V_gh = sum_t d (n - d) / (n - 1)  (n_g / n) (1{g = h} - n_h / n),
    chi-squared = (O - E)' V^-1 (O - E)   over all groups but one, with G - 1 degrees of freedom      (Mantel 1966)

weights: "logrank" weighs all times alike, "gehan-breslow" by the rows at risk, "tarone-ware" by their root. Each term
is exact, and rounded once before the terms are added up.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.algebra.tails import chi2_above
from murmure.econometrics.design.columns import grid_cuts, name_list, widen_to_grid
from murmure.econometrics.design.event_column import event_column_name, event_of
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.errors import FitFailed, NoVariation
from murmure.econometrics.example_tables import TRIAL, TRIAL_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example
from murmure.econometrics.results.result import ModelResult
from murmure.econometrics.rows.direct_lifetimes import count_lifetimes, needs_direct_rows
from murmure.econometrics.rows.lifetimes import FollowUp, GroupLifetimes, Lifetimes
from murmure.show.document import Table, sentences
from murmure.statistics.estimates.cell_counts import CellCounts

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How

Weights = Literal["logrank", "gehan-breslow", "tarone-ware"]
NOISY = Phrase("noise in the counts adds to it, so its distribution is no longer chi-squared")


@dataclass(frozen=True)
class LogRank(Lifetimes):
    """Compare the survival of groups."""

    weights: str = "logrank"

    entry = ModelEntry(
        order=180,
        functions=(
            ModelFunction(
                "logrank",
                CommandForm(
                    "Compare survival curves.", ("TIME",), ("event", "by", "grid"), "days t.csv --event died --by arm"
                ),
                study=(
                    'time = "days"\nevent = "died"\nby = "ward"\ngroups = ["A", "B"]\nweights = "tarone-ware"\ngrid '
                    "= 4",
                ),
            ),
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_compared(self, self.weights)

    def in_words(self) -> str:
        return Phrase(
            "a log-rank test of {time} until {event} between {groups} ({by}); the counts of all groups are told",
            time=self.time,
            event=self.event,
            groups=name_list(self.groups),
            by=self.by,
        )

    def steps(self) -> Generator[Any, Any, LogRankResult]:
        counted: CellCounts = yield self._question
        noise = None if counted.noise is None else math.sqrt(counted.noise)
        return LogRankResult.of(self, self.weights, self.group_lifetimes(counted), noise)


def check_compared(follow_up: FollowUp, weights: Any) -> None:
    if follow_up.by is None or len(follow_up.groups) < 2:
        raise InvalidParameter("LogRank.by must be a column that names two groups or more.", hint='by="ward"')
    if weights not in get_args(Weights):
        known = ", ".join(map(repr, get_args(Weights)))
        raise InvalidParameter("LogRank.weights must be one of {known}, got {got}.", known=known, got=shorten(weights))


@dataclass(frozen=True, eq=False, kw_only=True)
class LogRankResult(ModelResult):
    """`statistic`, `pvalue`, `df`; for every group the `observed` events, and those `expected` if all survive alike."""

    time: str
    event: str
    by: str
    groups: tuple[str, ...]
    weights: str
    sizes: tuple[Fraction, ...]
    observed: tuple[float, ...]
    expected: tuple[float, ...] | None
    statistic: float | None
    noise: float | None = None  # standard deviation of the noise in every count
    event_label: str = ""  # the label that counts as the event
    how: How | None = None

    @classmethod
    def of(cls, model: FollowUp, weights: str, lives: Sequence[GroupLifetimes], noise: float | None) -> LogRankResult:
        if noise is None and not any(d for group in lives for d in group.events):
            raise NoVariation(
                "nobody had {event}: there is nothing to compare.",
                hint="later times",
                columns=[model.event],
                event=model.event,
            )
        about: dict[str, Any] = {
            "time": model.time,
            "event": model.event,
            "event_label": model.event_column.phrase,
            "by": model.by,
            "groups": model.groups,
            "weights": weights,
            "sizes": tuple(group.n for group in lives),
            "observed": tuple(float(sum(group.events)) for group in lives),
            "noise": noise,
        }
        if noise is not None:
            return cls(expected=None, statistic=None, **about)
        expected, away, spread = _compare(lives, weights)
        try:
            chi2 = float(away[1:] @ np.linalg.solve(spread[1:, 1:], away[1:]))
        except np.linalg.LinAlgError:
            chi2 = math.nan
        if not chi2 >= 0:
            raise FitFailed(
                "at no time of an event were all groups at risk: they cannot be compared.",
                hint="leave out groups that end before the first event",
                columns=[str(model.by)],
            )
        return cls(expected=tuple(expected), statistic=chi2, **about)

    @property
    def df(self) -> int:
        return len(self.groups) - 1

    @property
    def pvalue(self) -> float | None:
        return None if self.statistic is None else chi2_above(self.statistic, self.df)

    @property
    def reason(self) -> str | None:
        return None if self.noise is None else NOISY

    @property
    def title(self) -> str:
        return Phrase("Log-rank test of {time} until {event} by {by}", time=self.time, event=self.event, by=self.by)

    def facts(self) -> list[tuple[str, Any]]:
        return [
            (Phrase("event"), self.event_label),
            (Phrase("weights"), self.weights),
            (Phrase("df"), self.df),
            (Phrase("chi-squared"), self.statistic),
            (Phrase("Prob(>chi-squared)"), self.pvalue),
        ]

    def tables(self) -> list[Table]:
        expected = self.expected or (None,) * len(self.groups)
        exact = self.noise is None
        rows = tuple(
            (name, round(n), int(o) if exact else o, e)
            for name, n, o, e in zip(self.groups, self.sizes, self.observed, expected, strict=True)
        )
        return [Table("", (self.by, Phrase("rows"), Phrase("events"), Phrase("expected")), rows)]

    def explanations(self) -> list[str]:
        return [Phrase("Expected: how many events a group would have if all groups had the same risk at every time.")]

    @property
    def notes(self) -> list[str]:
        if self.noise is None:
            return []
        noise = Phrase("Every count has noise with standard deviation {deviation:.4g}.", deviation=self.noise)
        return [sentences(Phrase("No test: {reason}.", reason=NOISY), noise)]


def _compare(lives: Sequence[GroupLifetimes], weights: str) -> tuple[list[float], Any, Any]:
    """Expected events of every group; and, weighted, observed minus expected events and their covariance."""
    G = len(lives)
    expected: list[list[float]] = [[] for _ in lives]
    away: list[list[float]] = [[] for _ in lives]
    spread: list[list[list[float]]] = [[[] for _ in lives] for _ in lives]
    for j in range(len(lives[0].times)):
        at, had = [group.at_risk[j] for group in lives], [group.events[j] for group in lives]
        n, d = sum(at, Fraction(0)), sum(had, Fraction(0))
        if not d:
            continue
        w = {"logrank": 1.0, "gehan-breslow": float(n), "tarone-ware": math.sqrt(n)}[weights]
        share = d * (n - d) / (n - 1) if n > 1 else Fraction(0)
        for g in range(G):
            e = d * at[g] / n
            expected[g].append(float(e))
            away[g].append(w * float(had[g] - e))
            for h in range(G):
                spread[g][h].append(w * w * float(share * at[g] / n * ((g == h) - at[h] / n)))
    return (
        [math.fsum(v) for v in expected],
        np.array([math.fsum(v) for v in away]),
        np.array([[math.fsum(v) for v in line] for line in spread]),
    )


class _LogRankFollowUp(FollowUp):
    """Read off rows directly; errors name the public function."""

    called = "logrank"


def logrank(
    time: str,
    data: Any,
    *,
    event: str,
    by: str,
    groups: Sequence[Any] | None = None,
    weights: Weights = "logrank",
    grid: Any = None,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> LogRankResult:
    """`logrank("months", table, event="died", by="ward")`; event, grid as in `kaplan_meier`, the rest as in `ask`."""
    domain = schema_for("logrank", data, schema, [by, event_column_name(event), time], privacy)
    domain = widen_to_grid(domain, time, grid) if schema is None else domain
    cells = domain[event_of("logrank", domain, event, "event").column].size * domain[by].size
    chosen = () if groups is None else tuple(map(str, groups))
    if needs_direct_rows("logrank", domain, time, cells, grid, data, privacy, engine, ledger):
        follow_up = _LogRankFollowUp(domain, time, event, by, chosen)
        check_compared(follow_up, weights)
        lives, how = count_lifetimes(follow_up, data)
        return replace(LogRankResult.of(follow_up, weights, lives, None), how=how)
    cuts = grid_cuts("logrank", domain, time, grid, cells)
    model = LogRank(domain, time, event, by, chosen, cuts, weights)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (
    Example(LogRank(TRIAL, "months", "died", "arm"), TRIAL_ROWS),
    Example(LogRank(TRIAL, "months", "died", "arm", weights="gehan-breslow"), TRIAL_ROWS),
)
