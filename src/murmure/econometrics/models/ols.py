"""Ordinary and weighted least squares from one round of sums: all products of the columns of (Z, y).

    beta = (Z'WZ)^-1 Z'Wy,    RSS = y'Wy - beta'Z'Wy,    S^2 = RSS / (n - p),    Cov = S^2 (Z'WZ)^-1

with L = (p+1)(p+2)/2 sums for p columns and the outcome. The sums are whole numbers and the equations are solved in
fractions, so that beta and S^2 are those of the pooled rows, rounded once at the end, however ill-conditioned Z is; and
S^2 = RSS / (n - p) is never negative. Nothing is shifted or scaled, so a model without intercept stays what it is.
Robust errors ask a second question (robust.py).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, get_args

from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.matrices import condition, dependent, inverse, solve
from murmure.econometrics.algebra.rounding import log_of
from murmure.econometrics.design.design_matrix import Design, columns_in_words
from murmure.econometrics.errors import Collinear, EmptyCategory, NoVariation, TooFewObservations
from murmure.econometrics.fit import ask, design_from_formula, expression_of
from murmure.econometrics.model import Example
from murmure.econometrics.results.regression import Regression
from murmure.plan.privacy import noise_in
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate
from murmure.statistics.exact.cross_products import CrossProducts
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms
from murmure.statistics.sums import Sums

Errors = Literal["nonrobust", "HC0", "HC1", "HC2", "HC3", "cluster"]
Matrix = Sequence[Sequence[Fraction]]
MAX_CONDITION = 1e12
NEARLY = (
    "Columns nearly depend on one another (condition number {:.0e} in their own lengths). The figures are exact for "
    "these numbers; where a column is a rounded combination of others they tell about the rounding alone."
)


@dataclass(frozen=True)
class OLS:
    """Least squares of an outcome on the columns of a design.

    errors: "nonrobust", "HC0" to "HC3" (heteroscedasticity), or "cluster" (rows of one party depend on one another).
    weights: an expression that is never negative; rows count by it (weighted least squares). likelihood: with weights,
    ask a second question, the sum of their logarithms, which the likelihood needs.
    """

    design: Design
    errors: str = "nonrobust"
    weights: str | None = None
    likelihood: bool = False

    def __post_init__(self) -> None:
        if self.errors not in get_args(Errors):
            raise InvalidParameter(
                f"OLS.errors must be one of {', '.join(get_args(Errors))}, got {shorten(self.errors)}."
            )
        if self.weights is not None and self.errors != "nonrobust":
            raise InvalidParameter(
                f"OLS: errors = {self.errors!r} are for least squares without weights.",
                hint="multiply outcome and columns by the roots of the weights, or leave the weights out",
            )
        _ = self._asks  # what cannot be added up is refused now
        if self.likelihood:
            if self.weights is None:
                raise InvalidParameter("OLS.likelihood is a question about weights, and there are none.")
            _ = self._logarithms

    @cached_property
    def _asks(self) -> CrossProducts:
        return CrossProducts(self.design.domain, (*self.design.terms, self.design.outcome), self.weights)

    @property
    def _logarithms(self) -> Sums:
        return Sums(self.design.domain, (f"log({self.weights})",))

    @property
    def protects(self) -> str | None:
        if self.likelihood:
            return "the logarithms of weights are exact sums"
        return None if self.errors == "nonrobust" else "one row moves sums of squared residuals by an unbounded amount"

    @property
    def domain(self) -> Schema:
        return self._asks.domain

    @property
    def rounds(self) -> int:
        return 1 + (self.errors != "nonrobust" or self.likelihood)

    def in_words(self) -> tuple[str, str]:
        en, fr = columns_in_words(self.design)
        weighed = (
            ("", "") if self.weights is None else (f", weighted by {self.weights}", f", pondérée par {self.weights}")
        )
        robust = ("", "")
        if self.errors != "nonrobust":
            robust = (f"; errors: {self.errors}, from a second round", f" ; erreurs : {self.errors}, d’un second tour")
        return (
            f"a least-squares regression of {self.design.outcome_name} on {en}{weighed[0]}{robust[0]}",
            f"une régression par moindres carrés de {self.design.outcome_name} sur {fr}{weighed[1]}{robust[1]}",
        )

    def steps(self) -> Generator[Any, Any, Regression]:
        crossed: CrossProductsEstimate = yield self._asks
        if self.weights is not None:
            result = regression_of(crossed, self.design, "WLS")
            logarithms = (yield self._logarithms) if self.likelihood else None
            return _weighed(result, logarithms)
        result = regression_of(crossed, self.design, "OLS")
        if self.errors == "nonrobust":
            return result
        from murmure.econometrics.steps.robust_errors import robust_steps

        return (yield from robust_steps(self.design, self.errors, crossed, result))


def check_columns(design: Design, A: Matrix) -> None:
    """Refuse a design that has no unique solution, and name the columns. A: sums of products of its columns."""
    names, terms = design.names, Terms(design.domain)
    for j, name in enumerate(names):
        if A[j][j] == 0:
            label = terms[read_expression(design.terms[j], terms)].is_condition
            kind, what = (
                (EmptyCategory, "nobody has it, at any party") if label else (Collinear, "it is 0 in every row")
            )
            raise kind(f"column {name!r}: {what}.", hint="leave it out of the formula, or join labels", columns=[name])
    found = dependent(A)
    if not found:
        return
    j, combination = next(iter(found.items()))
    said = " + ".join(f"{_factor(v)}{names[k]!r}" for k, v in combination.items() if v) or "0"
    others = [names[k] for k, v in combination.items() if v]
    raise Collinear(
        f"column {names[j]!r} is a combination of others: {shorten(said, 300)}.",
        hint="leave one of them out of the formula",
        columns=[names[j], *others],
    )


def _factor(v: Fraction) -> str:
    return "" if v == 1 else f"{v} * " if v.denominator < 1000 else f"{float(v):.6g} * "


def check_rows(n: int, p: int) -> None:
    if n <= p:
        raise TooFewObservations(
            f"{n} row{'s' * (n != 1)} for {p} parameters leave no degree of freedom.",
            hint="fewer columns, or more rows",
        )


def regression_of(crossed: CrossProductsEstimate, design: Design, model: str) -> Regression:
    """From the sums of products of (Z, y) to estimates, errors and fit."""
    p = len(design.terms)
    A = [list(row[:p]) for row in crossed.matrix[:p]]
    c, yy = [row[p] for row in crossed.matrix[:p]], crossed.matrix[p][p]
    if crossed.noise is not None:
        from murmure.econometrics.results.noise_aware_errors import noisy_regression

        return noisy_regression(crossed, design, model)
    assert crossed.n is not None
    n = crossed.n
    check_rows(n, p)
    check_columns(design, A)
    beta = tuple(row[0] for row in solve(A, [[v] for v in c]))
    rss = yy - sum((b * v for b, v in zip(beta, c, strict=True)), Fraction(0))
    one = design.terms.index("1") if "1" in design.terms else None
    tss = yy if one is None else yy - c[one] ** 2 / A[one][one]
    if tss == 0:
        what = "0" if one is None else "the same"
        raise NoVariation(
            f"outcome {design.outcome_name!r} is {what} for everybody.",
            hint="there is nothing to explain",
            columns=[design.outcome_name],
        )
    scale = rss / (n - p)
    inverted = inverse(A)
    nearly = condition(A, inverted, scaled=True)
    remarks = (NEARLY.format(nearly),) if nearly > MAX_CONDITION else ()
    covariance = tuple(tuple(scale * v for v in row) for row in inverted)
    llf = None if rss == 0 else -n / 2 * (math.log(2 * math.pi) + log_of(rss / n) + 1)
    return Regression(
        model=model,
        formula=design.formula,
        outcome=design.outcome_name,
        names=design.names,
        coefficients=beta,
        covariance=covariance,
        n=n,
        df_model=p - (one is not None),
        df_resid=n - p,
        use_t=True,
        cov_type="nonrobust",
        scale=scale,
        rss=rss,
        tss=tss,
        llf=llf,
        has_intercept=one is not None,
        condition_number=condition(A, inverted),
        remarks=remarks,
        design=design,
    )


def _weighed(result: Regression, logarithms: Any) -> Regression:
    """The likelihood of weighted rows has half the sum of the logarithms of their weights too."""
    if logarithms is not None and result.llf is not None:
        return replace(result, llf=result.llf + float(logarithms.sums[0]) / 2)
    remark = "The weighted likelihood needs the sum of log weights, which was not asked for: no AIC, no BIC."
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
