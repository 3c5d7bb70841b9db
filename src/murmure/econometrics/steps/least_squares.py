"""Least squares from sums of products, for every model that ends in normal equations.

Columns without a unique solution are refused by name; from the rest come estimates, errors and fit, in fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction

from murmure.core.errors import Phrase, shorten
from murmure.econometrics.algebra.elimination import Rows
from murmure.econometrics.algebra.matrices import condition_number, dependencies, inverse, solve
from murmure.econometrics.algebra.rounding import log_float
from murmure.econometrics.design.design_matrix import Design
from murmure.econometrics.errors import Collinear, EmptyCategory, NoVariation, TooFewObservations
from murmure.econometrics.results.noise_aware_errors import noisy_regression
from murmure.econometrics.results.regression import Regression
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate
from murmure.statistics.expressions.parser import read_expression
from murmure.statistics.expressions.terms import Terms

MAX_CONDITION = 1e12


def check_columns(design: Design, A: Rows) -> None:
    """Refuse a design without a unique solution, and name the columns. A: the sums of products of its columns."""
    names, terms = design.names, Terms(design.domain)
    for j, name in enumerate(names):
        if A[j][j] == 0:
            label = terms[read_expression(design.terms[j], terms)].is_condition
            kind, what = (
                (EmptyCategory, Phrase("no party has a row with this label"))
                if label
                else (Collinear, Phrase("it is 0 in every row"))
            )
            raise kind(
                "column {name!r}: {what}.",
                hint="leave it out of the formula, or join labels",
                columns=[name],
                name=name,
                what=what,
            )
    combinations = dependencies(A)
    if not combinations:
        return
    j, combination = next(iter(combinations.items()))
    listed = " + ".join(f"{_factor_text(v)}{names[k]!r}" for k, v in combination.items() if v) or "0"
    others = [names[k] for k, v in combination.items() if v]
    raise Collinear(
        "column {name!r} is a combination of others: {listed}.",
        hint="leave one of them out of the formula",
        columns=[names[j], *others],
        name=names[j],
        listed=shorten(listed, 300),
    )


def _factor_text(v: Fraction) -> str:
    return "" if v == 1 else f"{v} * " if v.denominator < 1000 else f"{float(v):.6g} * "


def check_rows(n: int, p: int) -> None:
    if n <= p:
        raise TooFewObservations(
            "{n} row{plural} for {p} parameters leave no degree of freedom.",
            hint="fewer columns, or more rows",
            n=n,
            plural="s" * (n != 1),
            p=p,
        )


def regression_of(crossed: CrossProductsEstimate, design: Design, model: str) -> Regression:
    """Estimates, errors and fit from the sums of products of (Z, y)."""
    p = len(design.terms)
    A = [list(row[:p]) for row in crossed.matrix[:p]]
    c, yy = [row[p] for row in crossed.matrix[:p]], crossed.matrix[p][p]
    if crossed.noise is not None:
        return noisy_regression(crossed, design, model)
    assert crossed.n is not None
    n = crossed.n
    check_rows(n, p)
    check_columns(design, A)
    beta = tuple(row[0] for row in solve(A, [[v] for v in c]))
    rss = yy - sum((b * v for b, v in zip(beta, c, strict=True)), Fraction(0))
    one = design.intercept
    tss = yy if one is None else yy - c[one] ** 2 / A[one][one]
    if tss == 0:
        what = "0" if one is None else Phrase("the same")
        raise NoVariation(
            "outcome {outcome_name!r} is {what} for everybody.",
            hint="there is nothing to explain",
            columns=[design.outcome_name],
            outcome_name=design.outcome_name,
            what=what,
        )
    scale = rss / (n - p)
    inverted = inverse(A)
    ill_conditioned = condition_number(A, inverted, scaled=True)
    remarks = (_nearly_dependent(ill_conditioned),) if ill_conditioned > MAX_CONDITION else ()
    covariance = tuple(tuple(scale * v for v in row) for row in inverted)
    llf = None if rss == 0 else -n / 2 * (math.log(2 * math.pi) + log_float(rss / n) + 1)
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
        condition_number=condition_number(A, inverted),
        remarks=remarks,
        design=design,
    )


def _nearly_dependent(condition: float) -> str:
    return Phrase(
        "Columns nearly depend on one another (condition number {condition:.0e} in their own lengths). The figures "
        "are exact for these numbers; where a column is a rounded combination of others they tell about the rounding "
        "alone.",
        condition=condition,
    )
