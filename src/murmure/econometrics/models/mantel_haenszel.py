"""Mantel and Haenszel: the common odds ratio of strata, and the test that it is 1.

    stratum k:  a_k b_k / c_k d_k, n_k in all.      OR = sum a d / n  over  sum b c / n = R / S

With P = (a + d)/n and Q = (b + c)/n of each stratum, Robins, Breslow and Greenland (Biometrics 42, 1986) give

    Var ln OR = sum P R_k / (2 R^2) + sum (P S_k + Q R_k) / (2 R S) + sum Q S_k / (2 S^2).

The test of Cochran, Mantel and Haenszel: max(|sum a - sum E a| - c, 0)^2 / sum Var a, with c = 1/2 for continuity or
0, and E a, Var a of the hypergeometric law. If sum a is within 1/2 of its expectation, the corrected statistic is 0, as
Yates's (contingency.py); there statsmodels squares the negative difference, and R makes no correction. Everything is
exact until the last rounding.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.errors import InvalidParameter, Phrase
from murmure.core.schema import Schema
from murmure.econometrics.algebra.rounding import log_float, root
from murmure.econometrics.algebra.tails import check_alpha, chi2_above, normal_point
from murmure.econometrics.design.columns import MAX_CELLS, group_labels, name_list, no_and_yes, select_columns
from murmure.econometrics.design.constant_columns import constant_value
from murmure.econometrics.design.event_column import event_of
from murmure.econometrics.design.from_formula import schema_for
from murmure.econometrics.errors import FitFailed, NoVariation
from murmure.econometrics.example_tables import STUDY, STUDY_ROWS
from murmure.econometrics.fit import ask
from murmure.econometrics.model import Example, OneRound
from murmure.econometrics.results.result import HIGH, LOW, ModelResult
from murmure.show.document import Table, sentences
from murmure.statistics.estimates.cell_counts import CellCounts
from murmure.statistics.exact.cells import Cells

if TYPE_CHECKING:
    from murmure.econometrics.results.provenance import How

NOISY = Phrase("the formulas for its error do not include the noise in the counts, which may be larger")
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class MantelHaenszel(OneRound):
    """Exposure and outcome are columns of no and yes; strata are the labels of a third column."""

    domain: Schema
    exposure: str
    outcome: str
    strata: str

    entry = ModelEntry(
        order=130,
        functions=(
            ModelFunction(
                "mantel_haenszel",
                CommandForm(
                    "The odds ratio over strata.",
                    ("EXPOSURE", "OUTCOME"),
                    (OptionForm("strata", "The column of strata.  [required]", metavar="S"),),
                    "smoker ill t.csv --strata age_group",
                ),
                study=('exposure = "smoker"\noutcome = "ill"\nstrata = "ward"',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        names = [self.strata, self.exposure, self.outcome]
        object.__setattr__(self, "domain", select_columns("MantelHaenszel", self.domain, names))
        no_and_yes("MantelHaenszel", self.domain, self.exposure, "exposure")
        no_and_yes("MantelHaenszel", self.domain, self.outcome, "outcome")
        labels = group_labels("MantelHaenszel", self.domain, self.strata, "strata")
        if 4 * len(labels) > MAX_CELLS:
            raise InvalidParameter(
                "MantelHaenszel takes at most {max_cells} strata, got {got}.", max_cells=MAX_CELLS // 4, got=len(labels)
            )

    def in_words(self) -> str:
        return Phrase(
            "the odds ratio of {outcome} by {exposure} within {strata} (Mantel-Haenszel)",
            outcome=self.outcome,
            exposure=self.exposure,
            strata=self.strata,
        )

    def steps(self) -> Generator[Any, Any, MantelHaenszelResult]:
        counted: CellCounts = yield Cells(self.domain, (None, None, None))
        counts = np.asarray(counted.counts).reshape(-1, 4).tolist()
        labels = self.domain[self.strata].labels()
        strata = [(name, tuple(map(Fraction, four))) for name, four in zip(labels, counts, strict=True)]
        filled = [(name, four) for name, four in strata if sum(four) > 0]
        noise = None if counted.noise is None else math.sqrt(counted.noise)
        # A column with one value has a made-up second label, which is not a stratum that was dropped.
        alone = constant_value(self.domain, self.strata) is not None
        exposed, had = (
            event_of("MantelHaenszel", self.domain, name, "").phrase for name in (self.exposure, self.outcome)
        )
        out = MantelHaenszelResult(
            exposure=self.exposure,
            outcome=self.outcome,
            by=self.strata,
            strata=tuple(name for name, _ in filled),
            counts=tuple(four for _, four in filled),  # type: ignore[misc]
            dropped=() if alone else tuple(name for name, four in strata if sum(four) <= 0),
            exposed=exposed,
            had=had,
            noise=noise,
        )
        up, down = out._sums
        if noise is None:
            for name, cells in ((self.exposure, (0, 1)), (self.outcome, (0, 2))):
                if all(sum(four[i] for i in cells) in (0, sum(four)) for _, four in filled):
                    raise NoVariation(
                        "column {name!r} is the same for everybody within each stratum.",
                        hint="there is nobody to compare with",
                        columns=[name],
                        name=name,
                    )
        if up <= 0 or down <= 0:
            raise FitFailed(
                "the common odds ratio is 0 or infinite: no stratum contributes to its numerator, or none to its "
                "denominator."
                if noise is None
                else "with the noise, the common odds ratio is not a positive number.",
                hint="join strata" if noise is None else "a larger epsilon, or fewer strata",
            )
        return out


@dataclass(frozen=True, eq=False, kw_only=True)
class MantelHaenszelResult(ModelResult):
    """`odds_ratio`, `log_odds_se`, `conf_int()`; `statistic` and `pvalue` of the test that it is 1, corrected for
    continuity; `uncorrected` and `uncorrected_pvalue` without.
    """

    exposure: str
    outcome: str
    by: str
    strata: tuple[str, ...]
    counts: tuple[tuple[Fraction, Fraction, Fraction, Fraction], ...]
    dropped: tuple[str, ...] = ()
    noise: float | None = None
    exposed: str = ""  # the label that counts as exposed
    had: str = ""  # the label that counts as the outcome
    how: How | None = None

    @property
    def n(self) -> int:
        return round(sum((sum(four, Fraction(0)) for four in self.counts), Fraction(0)))

    @property
    def _sums(self) -> tuple[Fraction, Fraction]:
        up = sum((a * d / (a + b + c + d) for a, b, c, d in self.counts), Fraction(0))
        return up, sum((b * c / (a + b + c + d) for a, b, c, d in self.counts), Fraction(0))

    @property
    def odds_ratio(self) -> float:
        up, down = self._sums
        return float(up / down)

    @property
    def log_odds(self) -> float:
        up, down = self._sums
        return log_float(up / down)

    @property
    def log_odds_se(self) -> float | None:
        """By Robins, Breslow and Greenland; None with noise."""
        if self.noise is not None:
            return None
        R, S = self._sums
        total = Fraction(0)
        for a, b, c, d in self.counts:
            n = a + b + c + d
            P, Q, r, s = (a + d) / n, (b + c) / n, a * d / n, b * c / n
            total += P * r / (2 * R**2) + (P * s + Q * r) / (2 * R * S) + Q * s / (2 * S**2)
        return root(total)

    def conf_int(self, alpha: float = 0.05) -> tuple[float, float] | None:
        """Of the common odds ratio."""
        alpha, se = check_alpha("conf_int", alpha), self.log_odds_se
        if se is None:
            return None
        reach = normal_point(1 - alpha) * se
        return math.exp(self.log_odds - reach), math.exp(self.log_odds + reach)

    def _test(self, less: Fraction) -> float | None:
        if self.noise is not None:
            return None
        away, spread = Fraction(0), Fraction(0)
        for a, b, c, d in self.counts:
            n = a + b + c + d
            if n > 1:
                away += a - (a + b) * (a + c) / n
                spread += (a + b) * (c + d) * (a + c) * (b + d) / (n**2 * (n - 1))
        return float(max(abs(away) - less, Fraction(0)) ** 2 / spread)

    @property
    def statistic(self) -> float | None:
        """Of the test that the common odds ratio is one, corrected for continuity: chi-squared with one degree.

        0 if the count is within a half of its expectation: the correction does not go below 0.
        """
        return self._test(HALF)

    @property
    def uncorrected(self) -> float | None:
        return self._test(Fraction(0))

    @property
    def df(self) -> int:
        return 1

    @property
    def pvalue(self) -> float | None:
        return None if self.statistic is None else chi2_above(self.statistic, 1)

    @property
    def uncorrected_pvalue(self) -> float | None:
        return None if self.uncorrected is None else chi2_above(self.uncorrected, 1)

    @property
    def reason(self) -> str | None:
        return None if self.noise is None else NOISY

    @property
    def title(self) -> str:
        return Phrase(
            "Odds ratio of {outcome} by {exposure}, common to {by} (Mantel-Haenszel)",
            outcome=self.outcome,
            exposure=self.exposure,
            by=self.by,
        )

    def facts(self) -> list[tuple[str, Any]]:
        low, high = self.conf_int() or (None, None)
        return [
            (Phrase("rows"), self.n),
            (Phrase("strata"), len(self.strata)),
            (Phrase("common odds ratio"), self.odds_ratio),
            (Phrase("std err of its logarithm"), self.log_odds_se),
            (LOW, low),
            (HIGH, high),
            (Phrase("CMH, continuity corrected"), self.statistic),
            (Phrase("Prob(>CMH), corrected"), self.pvalue),
            ("CMH", self.uncorrected),
            (Phrase("Prob(>CMH)"), self.uncorrected_pvalue),
        ]

    def tables(self) -> list[Table]:
        kind: Any = float if self.noise is not None else int
        rows = []
        for name, (a, b, c, d) in zip(self.strata, self.counts, strict=True):
            rows.append((name, *map(kind, (a, b, c, d)), float(a * d / (b * c)) if b * c > 0 else None))
        head = (
            self.by,
            Phrase("neither"),
            Phrase("outcome only"),
            Phrase("exposed only"),
            Phrase("both"),
            Phrase("odds ratio"),
        )
        return [Table(Phrase("Counts"), head, tuple(rows))]

    def explanations(self) -> list[str]:
        return [Phrase("CMH is the test of Cochran, Mantel and Haenszel that the common odds ratio is 1.")]

    @property
    def notes(self) -> list[str]:
        out: list[str] = [
            Phrase("Exposed: {exposed}; outcome: {outcome}.", exposed=self.exposed, outcome=self.had),
        ]
        if self.dropped:
            out.append(Phrase("Strata with nobody in them, left out: {labels}.", labels=name_list(self.dropped)))
        if self.noise is not None:
            noise = Phrase("Every count has noise with standard deviation {deviation:.4g}.", deviation=self.noise)
            out.append(sentences(Phrase("No error and no test: {reason}.", reason=NOISY), noise))
        return out


def mantel_haenszel(
    exposure: str,
    outcome: str,
    data: Any,
    *,
    strata: str,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> MantelHaenszelResult:
    """`mantel_haenszel("smoker", "ill", table, strata="ward")`; data and privacy as in `ask`."""
    columns: Sequence[str] = [strata, exposure, outcome]
    domain = schema_for("mantel_haenszel", data, schema, columns, privacy)
    model = MantelHaenszel(domain, exposure, outcome, strata)
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (Example(MantelHaenszel(STUDY, "smoker", "ill", "ward"), STUDY_ROWS),)
