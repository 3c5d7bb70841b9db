"""Ordinary and weighted least squares from one round of sums: all products of the columns of (Z, y).

    beta = (Z'WZ)^-1 Z'Wy,    RSS = y'Wy - beta'Z'Wy,    S^2 = RSS / (n - p),    Cov = S^2 (Z'WZ)^-1

with L = (p+1)(p+2)/2 sums for p columns and the outcome. The sums are whole numbers and the equations are solved in
fractions. So beta and S^2 are those of the pooled rows, rounded once at the end, however ill-conditioned Z is, and S^2
= RSS / (n - p) is never negative. Nothing is shifted or scaled, which would change a model without intercept. Robust
errors ask a second question (robust_errors.py).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

from murmure.core.catalogue_entries import CommandForm, ModelEntry, ModelFunction, OptionForm
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.design.design_matrix import Design, columns_in_words
from murmure.econometrics.design.from_formula import design_from_formula, expression_of
from murmure.econometrics.fit import ask
from murmure.econometrics.model import ClusterErrors, Example
from murmure.econometrics.results.regression import Regression
from murmure.econometrics.steps.least_squares import regression_of
from murmure.econometrics.steps.robust_errors import robust_steps
from murmure.plan.privacy import noise_in
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms
from murmure.statistics.sums import Sums

Errors = Literal["nonrobust", "HC0", "HC1", "HC2", "HC3", "cluster"]


@dataclass(frozen=True)
class OLS(ClusterErrors):
    """Least squares of an outcome on the columns of a design.

    errors: "nonrobust", "HC0" to "HC3" (heteroscedasticity), or "cluster" (rows of one party depend on one another).
    weights: a non-negative expression for weighted least squares. likelihood: with weights, ask a second question for
    the sum of their logarithms, which the likelihood needs.
    """

    design: Design
    errors: str = "nonrobust"
    weights: str | None = None
    likelihood: bool = False

    entry = ModelEntry(
        order=40,
        functions=(
            ModelFunction(
                "ols",
                CommandForm("Least squares.", ("FORMULA",), ("errors",), '"stay ~ age + ward" visits.parquet'),
                study=('formula = "stay ~ age + ward"\nerrors = "HC1"',),
            ),
            ModelFunction(
                "wls",
                CommandForm(
                    "Weighted least squares.",
                    ("FORMULA",),
                    (
                        OptionForm(
                            "weights",
                            "A column, or an expression of columns: rows count by it.  [required]",
                            metavar="W",
                        ),
                    ),
                    '"stay ~ age" visits.csv --weights n',
                ),
                study=('formula = "stay ~ age"\nweights = "size"',),
            ),
        ),
    )

    def __post_init__(self) -> None:
        if self.errors not in get_args(Errors):
            raise InvalidParameter(
                "OLS.errors must be one of {errors}, got {got}.",
                errors=", ".join(get_args(Errors)),
                got=shorten(self.errors),
            )
        if self.weights is not None and self.errors != "nonrobust":
            raise InvalidParameter(
                "OLS: errors = {errors!r} are for least squares without weights.",
                hint="multiply the outcome and the columns by the square roots of the weights, or leave out the "
                "weights",
                errors=self.errors,
            )
        _ = self._asks  # refuses now what cannot be added up
        if self.likelihood:
            if self.weights is None:
                raise InvalidParameter("OLS.likelihood needs weights, and there are none.")
            _ = self._logarithms

    @cached_property
    def _asks(self) -> CrossProducts:
        return CrossProducts(self.design.domain, (*self.design.terms, self.design.outcome), self.weights)

    @property
    def _logarithms(self) -> Sums:
        return Sums(self.design.domain, (f"log({self.weights})",))

    @property
    def noise_refusal(self) -> str | None:
        if self.likelihood:
            return Phrase("the logarithms of weights are exact sums")
        return (
            None
            if self.errors == "nonrobust"
            else Phrase("one row moves sums of squared residuals by an unbounded amount")
        )

    @property
    def domain(self) -> Schema:
        return self._asks.domain

    @property
    def rounds(self) -> int:
        return 1 + (self.errors != "nonrobust" or self.likelihood)

    def in_words(self) -> str:
        words: str = Phrase(
            "a least-squares regression of {outcome} on {columns}",
            outcome=self.design.outcome_name,
            columns=columns_in_words(self.design),
        )
        if self.weights is not None:
            words = Phrase("{words}, weighted by {weights}", words=words, weights=self.weights)
        if self.errors != "nonrobust":
            words = Phrase("{words}; errors: {errors}, from a second round", words=words, errors=self.errors)
        return words

    def steps(self) -> Generator[Any, Any, Regression]:
        crossed: CrossProductsEstimate = yield self._asks
        if self.weights is not None:
            result = regression_of(crossed, self.design, "WLS")
            logarithms = (yield self._logarithms) if self.likelihood else None
            return _weighed(result, logarithms)
        result = regression_of(crossed, self.design, "OLS")
        if self.errors == "nonrobust":
            return result
        return (yield from robust_steps(self.design, self.errors, crossed, result))


def _weighed(result: Regression, logarithms: Any) -> Regression:
    """The likelihood of weighted rows includes half the sum of the logarithms of the weights."""
    if logarithms is not None and result.llf is not None:
        return replace(result, llf=result.llf + float(logarithms.sums[0]) / 2)
    remark = Phrase("The weighted likelihood needs the sum of log weights, which was not asked for: no AIC, no BIC.")
    return replace(result, llf=None, remarks=(*result.remarks, remark))


def ols(
    formula: str,
    data: Any,
    *,
    schema: Any = None,
    errors: Errors = "nonrobust",
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Ordinary least squares: `ols("stay ~ age + ward", table)`; data and privacy as in `ask`."""
    design = design_from_formula("ols", formula, data, schema, privacy)
    return ask(OLS(design, errors), data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


def wls(
    formula: str,
    data: Any,
    weights: str,
    *,
    schema: Any = None,
    privacy: Any = None,
    engine: Any = None,
    ledger: Any = None,
    rng: Any = None,
) -> Regression:
    """Weighted least squares. weights: a column, or an expression of columns, that is never negative."""
    weights = expression_of("wls", "weights", weights, data, schema)
    design = design_from_formula("wls", formula, data, schema, privacy, weights, positive=True)
    terms = Terms(design.domain)
    # The logarithm of a weight of 0 does not exist, and its sum is exact: with noise there is no likelihood either.
    positive = terms[read_expression(weights, terms)].low > 0
    model = OLS(design, weights=weights, likelihood=positive and (privacy is None or noise_in(privacy) is None))
    return ask(model, data, privacy=privacy, engine=engine, ledger=ledger, rng=rng)  # type: ignore[no-any-return]


_HOSPITAL = Schema(
    {"stay": Integers(0, 60), "age": Integers(18, 99), "ward": Categories(["A", "B", "C"]), "w": Integers(1, 4)}
)
_ROWS: dict[str, list[Any]] = {
    "stay": [(7 * i * i + 3 * i) % 41 for i in range(48)],
    "age": [18 + (i * 29) % 80 for i in range(48)],
    "ward": ["ABC"[(i * i + i // 5) % 3] for i in range(48)],
    "w": [1 + i % 4 for i in range(48)],
}
_DESIGN = Design(
    domain=_HOSPITAL,
    formula="stay ~ age + ward",
    outcome="stay",
    outcome_name="stay",
    names=("Intercept", "age", "ward[T.B]", "ward[T.C]"),
    terms=("1", "age", "(ward == 'B')", "(ward == 'C')"),
)

EXAMPLES = (
    Example(OLS(_DESIGN), _ROWS),
    Example(OLS(_DESIGN, errors="HC1"), _ROWS),
    Example(OLS(_DESIGN, errors="HC3"), _ROWS),
    Example(OLS(_DESIGN, errors="cluster"), _ROWS),
    Example(OLS(_DESIGN, weights="w"), _ROWS),
    Example(OLS(_DESIGN, weights="w", likelihood=True), _ROWS),
    Example(OLS(replace(_DESIGN, names=("age",), terms=("age",), formula="stay ~ 0 + age")), _ROWS),
)
