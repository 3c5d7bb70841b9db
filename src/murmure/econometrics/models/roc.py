"""How well a score separates yes from no: counts of both by cells of the score, in one round.

    at threshold c:   TPR = share of yes with score > c,   FPR = share of no with score > c
    AUC = P[score of yes > score of no] + P[equal] / 2 = area under the points joined by lines

Two rows in one cell count as equal, so the error of AUC is at most half the chance that a yes and a no share a cell:
sum_j yes_j no_j / (2 P N). Without a grid AUC is exact. The standard error is that of Hanley and McNeil (Radiology 143,
1982), with Q1 = A / (2 - A) and Q2 = 2 A^2 / (1 + A).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import Phrase
from murmure.core.schema import Schema
from murmure.econometrics.algebra.rounding import Floats, root
from murmure.econometrics.algebra.tails import check_alpha, normal_point
from murmure.econometrics.design.columns import grid_cuts, require_number, select_columns, widen_to_grid
from murmure.econometrics.design.constant_columns import refuse_constant
from murmure.econometrics.design.event_column import EventColumn, event_column_name, event_of
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.errors import FitFailed, NoVariation
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneRound
from murmure.econometrics.results.cumulative_counts import Cell, cells_between, count_cells
from murmure.econometrics.results.result import HIGH, LOW, Drawable, ModelResult, number_name
from murmure.show.document import Curve, Curves, Intervals, Table
from murmure.statistics.estimates.cell_counts import CellCounts
from murmure.statistics.exact.cells import Cells

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How

NOISY = Phrase("Hanley and McNeil's formula does not include the noise in the counts")


@dataclass(frozen=True)
class ROC(OneRound):
    """The receiver operating characteristic of a score. cuts: a public grid of the score; () for its values.

    outcome: a column of two values, of which the second is yes; or a condition, state == 'ill'.
    """

    domain: Schema
    score: str
    outcome: str
    cuts: tuple[str, ...] = ()

    entry = ModelEntry(
        order=200,
        functions=(
            ModelFunction(
                "roc",
                CommandForm(
                    "How well a score tells an outcome.",
                    ("SCORE",),
                    (OptionForm("outcome", "The column that the score is to tell.  [required]", metavar="Y"), "grid"),
                    "score t.csv --outcome ill",
                ),
                study=('score = "age"\noutcome = "ill"\ngrid = [30, 50, 70, 99]',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        column = self.outcome if self.outcome in self.domain else event_column_name(self.outcome)
        object.__setattr__(self, "domain", select_columns("ROC", self.domain, [column, self.score]))
        require_number("ROC", self.domain, self.score)
        cells = self.domain[self.event_column.column].size
        object.__setattr__(
            self, "cuts", grid_cuts("ROC", self.domain, self.score, self.cuts or None, cells, what="cuts")
        )
        _ = self._question

    @property
    def event_column(self) -> EventColumn:
        return event_of("ROC", self.domain, self.outcome, "outcome")

    @property
    def _question(self) -> Cells:
        return count_cells(self.domain, self.score, self.cuts)

    def in_words(self) -> str:
        return Phrase(
            "how well {score} tells {outcome} (ROC curve and area, from counts in {n} cells)",
            score=self.score,
            outcome=self.outcome,
            n=self._question.shape[1],
        )

    def steps(self) -> Generator[Any, Any, ROCResult]:
        counted: CellCounts = yield self._question
        event = self.event_column
        lines = [tuple(map(Fraction, line)) for line in np.asarray(counted.counts).tolist()]
        labels = self.domain[event.column].labels()
        yes = lines.pop(event.code)
        no = tuple(sum(line, Fraction(0)) for line in zip(*lines, strict=True))
        other = labels[1 - event.code]
        if len(labels) > 2:
            other = Phrase("anything but {label}", label=labels[event.code])
        for label, counts in ((other, no), (labels[event.code], yes)):
            if sum(counts) <= 0 and counted.noise is None:
                refuse_constant(self.domain, event.column, "ROC.outcome", Phrase("there is nothing to tell apart"))
                raise NoVariation(
                    "nobody has {column} = {label}: there is nothing to tell apart.",
                    hint="look at the labels of the outcome",
                    columns=[event.column],
                    column=event.column,
                    label=label,
                )
            if sum(counts) <= 0:
                raise FitFailed(
                    "with the noise, nobody is left with {column} = {label}.",
                    hint="a larger epsilon",
                    column=event.column,
                    label=label,
                )
        cells = tuple(cells_between(self.domain[self.score], self.cuts))
        about: dict[str, Any] = {"score": self.score, "outcome": self.outcome, "event_label": event.phrase}
        return ROCResult(cells=cells, no=no, yes=yes, noise=counted.noise, **about)


@dataclass(frozen=True, eq=False, kw_only=True)
class ROCResult(ModelResult, Drawable):
    """`auc`, `se`, `conf_int()`, `error` (of the grid, at most); `thresholds`, `fpr`, `tpr` from the strictest on."""

    score: str
    outcome: str
    cells: tuple[Cell, ...]
    no: tuple[Fraction, ...]
    yes: tuple[Fraction, ...]
    noise: float | None = None
    event_label: str = ""  # the label that counts as yes
    how: How | None = None

    @property
    def positives(self) -> int:
        return round(sum(self.yes))

    @property
    def negatives(self) -> int:
        return round(sum(self.no))

    @property
    def thresholds(self) -> Floats:
        """A score above the threshold is called yes. The last threshold is below all scores."""
        ends = [float(cell.high) for cell in reversed(self.cells)]
        return np.array([*ends, -np.inf])

    def _above(self, counts: Sequence[Fraction]) -> Floats:
        total, everybody, out = Fraction(0), sum(counts, Fraction(0)), [0.0]
        for v in reversed(counts):
            total += v
            out.append(float(total / everybody))
        return np.array(out)

    @property
    def tpr(self) -> Floats:
        return self._above(self.yes)

    @property
    def fpr(self) -> Floats:
        return self._above(self.no)

    @property
    def _area(self) -> Fraction:
        above, area = sum(self.yes, Fraction(0)), Fraction(0)
        for no, yes in zip(self.no, self.yes, strict=True):
            above -= yes
            area += no * (above + yes / 2)
        return area / (sum(self.yes) * sum(self.no))

    @property
    def auc(self) -> float:
        """The area under the points joined by lines."""
        return float(self._area)

    @property
    def error(self) -> float:
        """The largest distance of the area from that of the scores themselves."""
        shared = [no * yes for no, yes, c in zip(self.no, self.yes, self.cells, strict=True) if c.low < c.high]
        return float(abs(sum(shared, Fraction(0))) / (2 * sum(self.yes) * sum(self.no)))

    @property
    def se(self) -> float | None:
        """By Hanley and McNeil; None with noise."""
        A, P, N = self._area, sum(self.yes), sum(self.no)
        if self.noise is not None:
            return None
        Q1, Q2 = A / (2 - A), 2 * A**2 / (1 + A)
        return root((A * (1 - A) + (P - 1) * (Q1 - A**2) + (N - 1) * (Q2 - A**2)) / (P * N))

    def conf_int(self, alpha: float = 0.05) -> tuple[float, float] | None:
        """The interval of the area, for the population; cut at 0 and 1."""
        alpha = check_alpha("conf_int", alpha)
        if self.se is None:
            return None
        reach = normal_point(1 - alpha) * self.se
        return max(0.0, self.auc - reach), min(1.0, self.auc + reach)

    @property
    def reason(self) -> str | None:
        return None if self.noise is None else NOISY

    @property
    def title(self) -> str:
        return Phrase("ROC of {score} for {outcome}", score=self.score, outcome=self.outcome)

    def facts(self) -> list[tuple[str, Any]]:
        low, high = self.conf_int() or (None, None)
        return [
            (Phrase("outcome"), self.event_label),
            (Phrase("yes"), self.positives),
            (Phrase("no"), self.negatives),
            ("AUC", self.auc),
            (Phrase("std err (Hanley-McNeil)"), self.se),
            (LOW, low),
            (HIGH, high),
            (Phrase("error of the grid, at most"), self.error),
        ]

    def tables(self) -> list[Table]:
        names = [*map(number_name, self.thresholds[:-1]), Phrase("all")]
        rows = zip(names, map(float, self.fpr), map(float, self.tpr), strict=True)
        head = (Phrase("{score} above", score=self.score), Phrase("false positives"), Phrase("true positives"))
        return [Table("", head, tuple(rows), folded=True)]

    def pictures(self) -> list[Intervals | Curves]:
        curve = Curve(Phrase("AUC {auc:.3f}", auc=self.auc), tuple(map(float, self.fpr)), tuple(map(float, self.tpr)))
        title = Phrase("ROC curve; dashed: pure chance")
        return [Curves(title, (curve,), Phrase("false positives"), Phrase("true positives"), diagonal=True)]

    def explanations(self) -> list[str]:
        return [
            Phrase(
                "AUC, the area below the curve, is the chance that a random yes has a higher score than a random no.",
            )
        ]

    @property
    def notes(self) -> list[str]:
        out: list[str] = [
            Phrase("Shares of no and of yes that are called yes, where the score is above the threshold.")
        ]
        if self.error:
            out.append(Phrase("Rows in one cell of the grid count as equal; a finer grid makes the error smaller."))
        return out if self.noise is None else [*out, Phrase("No standard error: {reason}.", reason=NOISY)]


def roc(
    score: str,
    data: Any,
    *,
    outcome: str,
    grid: Any = None,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> ROCResult:
    """`roc("risk", table, outcome="ill", grid=100)`: points, area and its error; data and privacy as in `ask`."""
    domain = schema_for("roc", data, schema, [score, event_column_name(outcome)], privacy)
    domain = widen_to_grid(domain, score, grid) if schema is None else domain
    cells = domain[event_of("roc", domain, outcome, "outcome").column].size
    model = ROC(domain, score, outcome, grid_cuts("roc", domain, score, grid, cells))
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


_RISK = Schema({"risk": Integers(0, 40), "index": Interval(0.0, 1.0, cells=64), "ill": Categories(["no", "yes"])})
_ROWS: dict[str, list[Any]] = {
    "risk": [(i * i * 5 + i) % 29 + 9 * (i % 3 == 0) for i in range(54)],
    "index": [((i * 7) % 53) / 53 for i in range(54)],
    "ill": [("no", "yes")[i % 3 == 0 or i % 7 == 2] for i in range(54)],
}
EXAMPLES = (
    Example(ROC(_RISK, "risk", "ill"), _ROWS),
    Example(ROC(_RISK, "index", "ill", ("0", "0.25", "0.5", "0.75")), _ROWS),
)
