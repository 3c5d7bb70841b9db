"""Fixed effects by party: each party has its own level, and only differences within parties are compared.

    beta = A^-1 c,  A = sum over parties of Z'Z - n zbar zbar',  RSS = y'y - c'beta,  S^2 = RSS / (n - p - G)

Each party subtracts its means before its sums are masked. Together with sums over all rows, which another question may
ask for, these products reveal something about the means of parties (party_products.py), so at least four honest parties
are needed. The coefficients are those of least squares with an indicator for each of the G parties (Frisch and Waugh,
Econometrica 1(4), 1933; Lovell, JASA 58(304), 1963).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction
from murmure.core.errors import InvalidParameter, Phrase
from murmure.econometrics.algebra.matrices import (
    Matrix,
    condition_number,
    dot,
    inverse,
    orthogonalise,
    scaled,
    submatrix,
    times,
    transpose,
)
from murmure.econometrics.algebra.rounding import log_float
from murmure.econometrics.design.design_matrix import Design, columns_in_words
from murmure.econometrics.design.from_formula import design_from_formula
from murmure.econometrics.design.reference_levels import base_notes
from murmure.econometrics.errors import Collinear, NoVariation, TooFewObservations
from murmure.econometrics.fit import ask
from murmure.econometrics.model import NO_ROWS, Example, OneQuestion
from murmure.econometrics.models.ols import _DESIGN, _ROWS
from murmure.econometrics.results.regression import Regression
from murmure.econometrics.steps.least_squares import check_columns
from murmure.statistics.exact.party_products import WithinPartyProducts

if TYPE_CHECKING:
    from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate

NOISE = Phrase("a party's own means are taken out of its sums, and one row moves them by what the other rows are")
SLIGHT = Fraction(1, 1 << 20)  # of the squares of a column: smaller parts of a combination are not named
WITHIN = Phrase("R-squared and F are within parties: their own levels are taken out first.")


@dataclass(frozen=True)
class FixedEffects(OneQuestion):
    """Least squares with a level for every party, which replaces the intercept of the formula."""

    noise_refusal: ClassVar[str | None] = NOISE
    party_statistic = WithinPartyProducts
    design: Design

    entry = ModelEntry(
        order=80,
        functions=(
            ModelFunction(
                "fixed_effects",
                CommandForm(
                    "A level for every table, slopes in common.", ("FORMULA",), (), '"stay ~ age" a.csv b.csv c.csv'
                ),
                study=('formula = "stay ~ age"',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        _ = self._asks  # refuses now a design without a slope

    @property
    def slopes(self) -> Design:
        """The design without the intercept, which the levels of parties contain."""
        kept = [j for j, term in enumerate(self.design.terms) if term != "1"]
        if not kept:
            raise InvalidParameter("FixedEffects needs a column besides the intercept.", hint="y ~ x")
        names = tuple(self.design.names[j] for j in kept)
        return replace(self.design, names=names, terms=tuple(self.design.terms[j] for j in kept))

    @property
    def _asks(self) -> WithinPartyProducts:
        return WithinPartyProducts(self.design.domain, (*self.slopes.terms, self.design.outcome))

    def in_words(self) -> str:
        return Phrase(
            "a least-squares regression of {outcome} on {columns} and a level for every party",
            outcome=self.design.outcome_name,
            columns=columns_in_words(self.slopes),
        )

    def steps(self) -> Generator[Any, Any, Regression]:
        crossed: CrossProductsEstimate = yield self._asks
        design = self.slopes
        p, n, parties = len(design.terms), crossed.n, int(crossed.parties or 0)
        assert n is not None
        if n <= p + parties:
            raise TooFewObservations(
                "{n} rows for {p} coefficients and {parties} levels leave no degree of freedom.",
                hint="fewer columns, or more rows",
                n=n,
                p=p,
                parties=parties,
            )
        A, c = submatrix(crossed.matrix, range(p)), [row[p] for row in crossed.matrix[:p]]
        yy = crossed.matrix[p][p]
        constant = [name for j, name in enumerate(design.names) if A[j][j] == 0]
        if constant:
            raise Collinear(
                "column {constant!r} is the same in all rows of each party, like the levels of the parties.",
                hint="leave it out of the formula",
                columns=constant,
                constant=constant[0],
            )
        check_columns(design, A)
        self._check_left(A, parties)
        if yy == 0:
            raise NoVariation(
                "outcome {outcome_name!r} is the same in all rows of each party.",
                columns=[design.outcome_name],
                outcome_name=design.outcome_name,
            )
        inverted = inverse(A)
        beta = times(inverted, c)
        rss = yy - dot(beta, c)
        # Parties round their means, so a perfect fit leaves a small sum of squares.
        if rss <= 2 * self._rounding((*(-b for b in beta), Fraction(1)), parties):
            rss = Fraction(0)
        freedom = n - p - parties
        return Regression(
            model=Phrase("Fixed effects by party"),
            formula=design.formula,
            outcome=design.outcome_name,
            names=design.names,
            coefficients=beta,
            covariance=scaled(inverted, rss / freedom),
            n=n,
            df_model=p,
            df_resid=freedom,
            scale=rss / freedom,
            rss=rss,
            tss=yy,
            llf=-n / 2 * (math.log(2 * math.pi) + log_float(rss / n) + 1) if rss else None,
            has_intercept=True,
            parameters=p + parties,
            condition_number=condition_number(A, inverted),
            extras={Phrase("Levels of parties"): parties},
            remarks=(WITHIN, *base_notes(design)),
        )

    def _rounding(self, combination: Sequence[Fraction], parties: int) -> Fraction:
        return self._asks.rounding(combination, parties)

    def _check_left(self, A: Matrix, parties: int) -> None:
        """Refuse a column of which the others leave no more than what parties rounded."""
        T, d = orthogonalise(A)
        for j, (left, combination) in enumerate(zip(d, transpose(T), strict=True)):
            if left <= 2 * self._rounding(combination, parties):
                parts = [combination[k] ** 2 * A[k][k] for k in range(j)]
                others = [self.slopes.names[k] for k in range(j) if parts[k] > SLIGHT * A[j][j]]
                raise Collinear(
                    "column {name!r} is a combination of others within every party: {others}.",
                    hint="leave one of them out of the formula",
                    columns=[self.slopes.names[j], *others],
                    name=self.slopes.names[j],
                    others=", ".join(map(repr, others)),
                )


def fixed_effects(
    formula: str,
    data: Any,
    *,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Least squares with a level for every party: `fixed_effects("invest ~ value", [firm_1, firm_2, firm_3])`."""
    several = isinstance(data, list | tuple)
    if data is not NO_ROWS and (not several or len(data) < 2):
        got = (
            Phrase("a list of one") if several and data else Phrase("an empty list") if several else Phrase("one table")
        )
        raise InvalidParameter(
            "fixed_effects takes a list of tables, one for each party, got {got}.",
            hint="each table has its own level; for levels by a column of one table use ols(...) with C(column)",
            got=got,
        )
    design = design_from_formula("fixed_effects", formula, data, schema, privacy)
    return ask(FixedEffects(design), data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


EXAMPLES = (Example(FixedEffects(_DESIGN), _ROWS),)
