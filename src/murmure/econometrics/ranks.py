"""The log-rank test: do groups survive alike? At every time, events are shared out as if it did not matter to whom.

    E_g = sum_t d n_g / n,    V_gh = sum_t d (n - d) / (n - 1)  (n_g / n) (1{g = h} - n_h / n),
    chi-squared = (O - E)' V^-1 (O - E)   over all groups but one, with G - 1 degrees of freedom      (Mantel 1966)

weights: "logrank" counts all times alike, "gehan-breslow" by those at risk, "tarone-ware" by the root of these. Each
term is exact, and rounded once before they are added up.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from murmure.core.errors import InvalidParameter, shorten
from murmure.econometrics.asking import ask, schema_for
from murmure.econometrics.columns import covering, cuts_in, listed
from murmure.econometrics.errors import FitFailed, NoVariation
from murmure.econometrics.happened import column_of, happened_in
from murmure.econometrics.lifetimes import Followed, Lifetimes, Lives
from murmure.econometrics.lifetimes_of_rows import counts_rows, lives_of_rows
from murmure.econometrics.shown import Shown, Table
from murmure.econometrics.tails import chi2_above
from murmure.statistics.counted import Counted

if TYPE_CHECKING:
    from murmure.econometrics.how import How

Weights = Literal["logrank", "gehan-breslow", "tarone-ware"]
NOISY = "noise in the counts adds to it, and its law is not chi-squared any more"


@dataclass(frozen=True)
class LogRank(Lifetimes):
    """Compare the survival of groups."""

    weights: str = "logrank"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_compared(self, self.weights)

    def in_words(self) -> tuple[str, str]:
        return (
            f"a log-rank test of {self.time} until {self.event} between {listed(self.groups)} ({self.by}); the counts "
            "of all groups are told",
            f"un test du log-rank de {self.time} jusqu’à {self.event} entre {listed(self.groups)} ({self.by}) ; les "
            "effectifs de tous les groupes sont dits",
        )

    def steps(self) -> Generator[Any, Any, Ranked]:
        counted: Counted = yield self._question
        noise = None if counted.noise is None else math.sqrt(counted.noise)
        return Ranked.of(self, self.weights, self.lives(counted), noise)


def check_compared(followed: Followed, weights: Any) -> None:
    if followed.by is None or len(followed.groups) < 2:
        raise InvalidParameter("LogRank.by must be a column that names two groups or more.", hint='by="ward"')
    if weights not in get_args(Weights):
        known = ", ".join(map(repr, get_args(Weights)))
        raise InvalidParameter(f"LogRank.weights must be one of {known}, got {shorten(weights)}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranked(Shown):
    """`statistic`, `pvalue`, `df`; of every group `observed` events and those `expected` if all survived alike."""

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
    happened: str = ""  # which label of the event counts
    how: How | None = None

    @classmethod
    def of(cls, model: Followed, weights: str, lives: Sequence[Lives], noise: float | None) -> Ranked:
        if noise is None and not any(d for one in lives for d in one.events):
            raise NoVariation(
                f"nobody had {model.event}: there is nothing to compare.", hint="later times", columns=[model.event]
            )
        about: dict[str, Any] = {
            "time": model.time,
            "event": model.event,
            "happened": model.happened.said,
            "by": model.by,
            "groups": model.groups,
            "weights": weights,
            "sizes": tuple(one.n for one in lives),
            "observed": tuple(float(sum(one.events)) for one in lives),
            "noise": noise,
        }
        if noise is not None:
            return cls(expected=None, statistic=None, **about)
        expected, away, spread = _compared(lives, weights)
        try:
            chi2 = float(away[1:] @ np.linalg.solve(spread[1:, 1:], away[1:]))
        except np.linalg.LinAlgError:
            chi2 = math.nan
        if not chi2 >= 0:
            raise FitFailed(
                "no time at which somebody had the event found all groups at risk: they cannot be compared.",
                hint="leave out groups that are gone before the first event",
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
        return f"Log-rank test of {self.time} until {self.event} by {self.by}"

    def facts(self) -> list[tuple[str, Any]]:
        head: list[tuple[str, Any]] = [("event", self.happened), ("weights", self.weights), ("df", self.df)]
        return [*head, ("chi-squared", self.statistic), ("Prob(>chi-squared)", self.pvalue)]

    def tables(self) -> list[Table]:
        expected = self.expected or (None,) * len(self.groups)
        exact = self.noise is None
        rows = tuple(
            (name, round(n), int(o) if exact else o, e)
            for name, n, o, e in zip(self.groups, self.sizes, self.observed, expected, strict=True)
        )
        return [Table("", (self.by, "rows", "events", "expected"), rows)]

    @property
    def notes(self) -> list[str]:
        if self.noise is None:
            return []
        return [f"No test: {NOISY}. Every count has noise with standard deviation {self.noise:.4g}."]


def _compared(lives: Sequence[Lives], weights: str) -> tuple[list[float], Any, Any]:
    """Expected events of every group, and weighted: observed less expected, and their covariance."""
    G = len(lives)
    expected: list[list[float]] = [[] for _ in lives]
    away: list[list[float]] = [[] for _ in lives]
    spread: list[list[list[float]]] = [[[] for _ in lives] for _ in lives]
    for j in range(len(lives[0].times)):
        at, had = [one.at_risk[j] for one in lives], [one.events[j] for one in lives]
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


class _Followed(Followed):
    """On one's own rows."""

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
) -> Ranked:
    """`logrank("months", table, event="died", by="ward")`; event, grid as in `kaplan_meier`, the rest as in `ask`."""
    read = schema_for("logrank", data, schema, [by, column_of(event), time], privacy)
    read = covering(read, time, grid) if schema is None else read
    cells = read[happened_in("logrank", read, event, "event").column].size * read[by].size
    chosen = () if groups is None else tuple(map(str, groups))
    if counts_rows("logrank", read, time, cells, grid, data, privacy, engine, ledger):
        followed = _Followed(read, time, event, by, chosen)
        check_compared(followed, weights)
        lives, how = lives_of_rows(followed, data)
        return replace(Ranked.of(followed, weights, lives, None), how=how)
    cuts = cuts_in("logrank", read, time, grid, cells)
    model = LogRank(read, time, event, by, chosen, cuts, weights)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]
