"""Survival with censoring: the curve of Kaplan and Meier, from one round of counts.

At every time t there are d events and c censored rows. At risk are the n rows with a time of t or later: sums from the
last time backwards. Then (Kaplan and Meier 1958, Greenwood 1926)

    S(t) = prod_{s <= t} (1 - d_s / n_s),        Var S(t) = S(t)^2 sum_{s <= t} d_s / (n_s (n_s - d_s)).

On a public grid of times, events within a cell count at its upper end. The median is the first time at which S falls
below a half, as in statsmodels.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.algebra.rounding import Floats, rounded
from murmure.econometrics.algebra.tails import check_alpha, normal_point
from murmure.econometrics.design.columns import grid_cuts, name_list, widen_to_grid
from murmure.econometrics.design.event_column import event_column_name, event_of
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.errors import FitFailed
from murmure.econometrics.example_tables import TRIAL, TRIAL_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example
from murmure.econometrics.results.regression import ENDS
from murmure.econometrics.results.result import Drawable, ModelResult, draw_picture, number_name
from murmure.econometrics.rows.direct_lifetimes import count_lifetimes, needs_direct_rows
from murmure.econometrics.rows.lifetimes import EVERYBODY, FollowUp, GroupLifetimes, Lifetimes
from murmure.show.cells import level_percent
from murmure.show.document import Curve, Curves, Intervals, Table, sentences
from murmure.statistics.estimates.cell_counts import CellCounts

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How


NOISY = Phrase("Greenwood's formula does not include the noise in the counts")
# The fractions of exact shares grow with every time, so curves with more times are rounded to SHARE_BITS.
MAX_EXACT_TIMES = 4096
SHARE_BITS = 320
EQUAL_WITHIN = Fraction(1, 1 << 200)  # shares that differ by less count as equal


@dataclass(frozen=True)
class KaplanMeier(Lifetimes):
    """The survival of everybody, or of each group."""

    entry = ModelEntry(
        order=170,
        functions=(
            ModelFunction(
                "kaplan_meier",
                CommandForm(
                    "Survival curves.",
                    ("TIME",),
                    ("event", OptionForm("by", "A curve for each label of this column.", metavar="G"), "grid"),
                    "days t.csv --event died --by arm",
                ),
                study=('time = "days"\nevent = "died"\nby = "ward"\ngroups = ["A", "B"]\ngrid = [10, 20, 30, 40]',),
            ),
        ),
    )

    def in_words(self) -> str:
        n = self._question.shape[-1]
        if self.by is None:
            return Phrase(
                "the Kaplan-Meier curve of {time} until {event} (counts at {n} times)",
                time=self.time,
                event=self.event,
                n=n,
            )
        return Phrase(
            "the Kaplan-Meier curve of {time} until {event}, by {by} (counts at {n} times)",
            time=self.time,
            event=self.event,
            by=self.by,
            n=n,
        )

    def steps(self) -> Generator[Any, Any, Survival]:
        counted: CellCounts = yield self._question
        noise = None if counted.noise is None else math.sqrt(counted.noise)
        return survival_curves(self, self.group_lifetimes(counted), noise)


def survival_curves(follow_up: FollowUp, lives: Sequence[GroupLifetimes], noise: float | None) -> Survival:
    """The curve of each group."""
    if any(group.n <= 0 for group in lives):
        raise FitFailed("with the noise, nobody is left in a group.", hint="a larger epsilon, or fewer times")
    return Survival(
        time=follow_up.time,
        event=follow_up.event,
        by=follow_up.by,
        curves=tuple(SurvivalCurve.of(group, noise) for group in lives),
        noise=noise,
        event_label=follow_up.event_column.phrase,
    )


@dataclass(frozen=True)
class SurvivalCurve:
    """One group: the rows at risk, the events, S and Greenwood's sum at each time with events."""

    label: str
    n: Fraction
    until: Fraction  # the last time with rows at risk
    times: tuple[Fraction, ...]
    at_risk: tuple[Fraction, ...]
    events: tuple[Fraction, ...]
    shares: tuple[Fraction, ...]
    greenwood: tuple[float, ...] | None  # None with noise

    @classmethod
    def of(cls, lives: GroupLifetimes, noise: float | None) -> SurvivalCurve:
        steps, S, total, until = [], Fraction(1), [], lives.times[0]
        long = len(lives.times) > MAX_EXACT_TIMES
        for t, n, d in zip(lives.times, lives.at_risk, lives.events, strict=True):
            if n <= 0:
                break  # no row is left at risk; with noise, as the noisy counts have it
            until = t
            if d:
                S *= min(max((n - d) / n, Fraction(0)), Fraction(1))
                S = rounded(S, SHARE_BITS) if long else S
                total.append(float(d / (n * (n - d))) if n > d else math.inf)
                steps.append((t, n, d, S))
        times, at_risk, events, shares = zip(*steps, strict=True) if steps else ((), (), (), ())
        sums = None if noise is not None else tuple(np.cumsum(total).tolist())
        return cls(lives.label, lives.n, until, times, at_risk, events, shares, sums)

    @property
    def survival(self) -> Floats:
        return np.array([float(v) for v in self.shares])

    @property
    def t(self) -> Floats:
        return np.array([float(v) for v in self.times])

    @property
    def se(self) -> Floats | None:
        """Greenwood's standard errors; 0 where S is 0."""
        if self.greenwood is None:
            return None
        return np.array(
            [float(S) * math.sqrt(g) if S else 0.0 for S, g in zip(self.shares, self.greenwood, strict=True)]
        )

    def conf_int(self, alpha: float = 0.05, method: str = "log-log") -> Floats | None:
        """Intervals of S at every time: "log-log" stays between 0 and 1, "plain" is S +- z se, cut at 0 and 1."""
        alpha = check_alpha("conf_int", alpha)
        if method not in ("log-log", "plain"):
            raise InvalidParameter('conf_int.method must be "log-log" or "plain", got {got}.', got=shorten(method))
        if self.greenwood is None or self.se is None:
            return None
        z, out = normal_point(1 - alpha), []
        for S, se, g in zip(self.survival, self.se, self.greenwood, strict=True):
            if method == "plain" or S in (0.0, 1.0):
                out.append((max(0.0, S - z * se), min(1.0, S + z * se)))
            else:  # ln(-ln S) +- z sqrt(g) / |ln S|
                far = math.exp(z * math.sqrt(g) / abs(math.log(S)))
                out.append((S**far, S ** (1 / far)))
        return np.array(out).reshape(-1, 2)

    def quantile(self, share: float = 0.5) -> float | None:
        """The first time at which S is below 1 - share; None if it never is."""
        left = 1 - Fraction(repr(float(share)))
        return next((float(t) for t, S in zip(self.times, self.shares, strict=True) if left - S > EQUAL_WITHIN), None)

    @property
    def median(self) -> float | None:
        return self.quantile(0.5)

    def quantile_ci(self, share: float = 0.5, alpha: float = 0.05) -> tuple[float | None, float | None]:
        """The times at which a test of S = 1 - share does not reject, on the log-log scale; None: no such end."""
        alpha = check_alpha("quantile_ci", alpha)
        if self.greenwood is None:
            return None, None
        z, goal = normal_point(1 - alpha), math.log(-math.log(1 - share))
        kept = [
            j
            for j, (S, g) in enumerate(zip(self.survival, self.greenwood, strict=True))
            if 0 < S < 1 and abs(math.log(-math.log(S)) - goal) * abs(math.log(S)) <= z * math.sqrt(g)
        ]
        if not kept:
            return None, None
        return float(self.times[kept[0]]), float(self.times[kept[-1] + 1]) if kept[-1] + 1 < len(self.times) else None


@dataclass(frozen=True, eq=False, kw_only=True)
class Survival(ModelResult, Drawable):
    """`curves`, one for each group: `.times`, `.survival`, `.se`, `.conf_int()`, `.median`; also by `[label]`."""

    time: str
    event: str
    by: str | None
    curves: tuple[SurvivalCurve, ...]
    noise: float | None = None
    event_label: str = ""  # the label that counts as the event
    how: How | None = None

    def __getitem__(self, label: str) -> SurvivalCurve:
        for curve in self.curves:
            if curve.label == label:
                return curve
        raise InvalidParameter(
            "there is no group {label}; there are {curves}.",
            label=shorten(label),
            curves=name_list([c.label for c in self.curves]),
        )

    @property
    def n(self) -> int:
        return round(sum((curve.n for curve in self.curves), Fraction(0)))

    @property
    def median(self) -> dict[str, float | None]:
        return {curve.label: curve.median for curve in self.curves}

    @property
    def reason(self) -> str | None:
        return None if self.noise is None else NOISY

    @property
    def title(self) -> str:
        if self.by is None:
            return Phrase("Survival: {time} until {event}", time=self.time, event=self.event)
        return Phrase("Survival: {time} until {event}, by {by}", time=self.time, event=self.event, by=self.by)

    def facts(self) -> list[tuple[str, Any]]:
        head: list[tuple[str, Any]] = [(Phrase("event"), self.event_label), (Phrase("rows"), self.n)]
        return [*head, (Phrase("groups"), len(self.curves))] if self.by else head

    def tables(self) -> list[Table]:
        medians = []
        for c in self.curves:
            low, high = c.quantile_ci()
            medians.append((c.label, round(c.n), self._count(sum(c.events, Fraction(0))), c.median, low, high))
        head: tuple[str, ...] = (self.by or "", Phrase("rows"), Phrase("events"), Phrase("median"), *ENDS)
        out = [Table(Phrase("Medians"), head, tuple(medians))]
        head = (self.time, Phrase("at risk"), Phrase("events"), Phrase("survival"), Phrase("std err"), *ENDS)
        for c in self.curves:
            se, ends = c.se, c.conf_int()
            rows = []
            for j, (t, n, d) in enumerate(zip(c.times, c.at_risk, c.events, strict=True)):
                bars = (None, None, None) if se is None or ends is None else (float(se[j]), *map(float, ends[j]))
                rows.append((number_name(t), self._count(n), self._count(d), float(c.shares[j]), *bars))
            title = "" if c.label == EVERYBODY else f"{self.by} = {c.label}"
            out.append(Table(title, head, tuple(rows), folded=True))
        return out

    def pictures(self) -> list[Intervals | Curves]:
        return [self._steps(0.05)]

    def _steps(self, alpha: float) -> Curves:
        """Steps with their bands, a line for each group."""
        lines = []
        for c in self.curves:
            x = (0.0, *map(float, c.t), 1.02 * float(c.until))  # makes the last step visible
            S = [1.0, *map(float, c.survival)]
            band: list[tuple[float, ...]] = []
            ends = c.conf_int(alpha)
            if ends is not None and len(ends):
                band = [(1.0, *map(float, ends[:, i]), float(ends[-1, i])) for i in (0, 1)]
            name = Phrase("{label} (n = {n:,})", label=c.label, n=round(c.n))
            lines.append(Curve(name, x, (*S, S[-1]), True, *band))
        title = (
            Phrase("Share without {event}", event=self.event)
            if self.noise is not None
            else Phrase(
                "Share without {event}, with {level}% intervals", event=self.event, level=level_percent(1 - alpha)
            )
        )
        return Curves(title, tuple(lines), self.time, Phrase("share without {event}", event=self.event))

    def _count(self, v: Fraction) -> Any:
        return int(v) if self.noise is None else float(v)

    @property
    def notes(self) -> list[str]:
        if self.noise is None:
            return [Phrase("Standard errors by Greenwood; intervals on the log-log scale.")]
        noise = Phrase("Every count has noise with standard deviation {deviation:.4g}.", deviation=self.noise)
        return [sentences(Phrase("No errors: {reason}.", reason=NOISY), noise)]

    def plot(self, ax: Any = None, alpha: float = 0.05) -> Any:
        """Steps with their bands, a colour for each group; to an axis or a file."""
        return draw_picture(self._steps(alpha), ax, self.title)


class _KaplanMeierFollowUp(FollowUp):
    """Read off rows directly; errors name the public function."""

    called = "kaplan_meier"


def kaplan_meier(
    time: str,
    data: Any,
    *,
    event: str,
    by: str | None = None,
    groups: Sequence[Any] | None = None,
    grid: Any = None,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Survival:
    """`kaplan_meier("months", table, event="died", by="ward")`; data and privacy as in `ask`.

    event: a column of two values, the second of which is the event; or a condition, event="state == 'dead'". grid:
    public times, or grid=100 for a hundred even ones; None takes the values of the column, any number of them in the
    clear.
    """
    domain = schema_for("kaplan_meier", data, schema, [*([by] if by else []), event_column_name(event), time], privacy)
    domain = widen_to_grid(domain, time, grid) if schema is None else domain
    cells = domain[event_of("kaplan_meier", domain, event, "event").column].size * (domain[by].size if by else 1)
    chosen = () if groups is None else tuple(map(str, groups))
    if needs_direct_rows("kaplan_meier", domain, time, cells, grid, data, privacy, engine, ledger):
        follow_up = _KaplanMeierFollowUp(domain, time, event, by, chosen)
        lives, how = count_lifetimes(follow_up, data)
        return replace(survival_curves(follow_up, lives, None), how=how)
    cuts = grid_cuts("kaplan_meier", domain, time, grid, cells)
    model = KaplanMeier(domain, time, event, by, chosen, cuts)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (
    Example(KaplanMeier(TRIAL, "months", "died"), TRIAL_ROWS),
    Example(KaplanMeier(TRIAL, "months", "event", "arm"), TRIAL_ROWS),
    Example(KaplanMeier(TRIAL, "months", "died", cuts=("6", "12", "18", "24")), TRIAL_ROWS),
)
