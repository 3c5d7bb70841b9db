"""Robust errors, for variances that differ between rows (HC0 to HC3), or for rows of a party that are a cluster.

    Cov = A^-1 (sum of w e^2 z z') A^-1       w = 1 (HC0), n / (n - p) (HC1), 1 / (1 - h) (HC2), 1 / (1 - h)^2 (HC3)
    Cov = k A^-1 (sum over parties of u u') A^-1,    u = the party's sum of e z,   k = G / (G - 1) (n - 1) / (n - p)

They take a second round: once beta and A^-1 are public, e and h = z'A^-1 z are functions of a row. White 1980;
MacKinnon and White 1985; clusters: Liang and Zeger, Biometrika 73(1), 1986. Rows compute v = T'z (whitened_scores.py),
and z = T'^-1 v gives

    Cov = B (sum of w e^2 v v') B',    B = A^-1 T'^-1,  in fractions: exact for a rounded T too.

b and T are sent as pairs of floats, so that residuals, small differences of large numbers, keep their digits.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from murmure.core.errors import Plural
from murmure.econometrics.algebra.matrices import (
    Matrix,
    inverse,
    matmul,
    orthogonalise,
    scaled,
    submatrix,
    symmetric,
    transpose,
)
from murmure.econometrics.algebra.rounding import root, rounded
from murmure.econometrics.errors import TooFewObservations
from murmure.econometrics.results.regression import Regression
from murmure.statistics.exact.function_sums import FunctionSums
from murmure.statistics.exact.party_products import PartyOuterProducts
from murmure.statistics.expressions.double_double import pair_of

if TYPE_CHECKING:
    from murmure.econometrics.design.design_matrix import Design
    from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate

# The matrix of each party must fit into the words that are masked, so its number of rows needs a bound.
MAX_PARTY_ROWS = 1 << 32
# At most 60 bits of a covariance are right: longer fractions would only make later arithmetic slow.
COVARIANCE_BITS = 256


def robust_steps(
    design: Design, errors: str, crossed: CrossProductsEstimate, result: Regression
) -> Generator[Any, Any, Regression]:
    """Ask for sums of residuals, and return the result of least squares with errors of this kind."""
    p, n = len(design.terms), crossed.n
    assert n is not None
    A = submatrix(crossed.matrix, range(p))
    s, T = _residual_scale(result.rss, n), _whitening(A, n)
    pairs = [pair_of(v) for v in (*result.coefficients, *(T[i][j] for i in range(p) for j in range(i, p)))]
    high, low = zip(*pairs, strict=True)
    at = (*high[:p], s, float(n), *high[p:], *low)
    # HC1 is HC0 times a public factor, so it asks for the same sums.
    kind = {"HC1": "HC0", "cluster": "scores"}.get(errors, errors)
    asks = FunctionSums(design.domain, "whitened", (design.outcome, *design.terms), tuple(map(repr, at)), (kind,))
    B = _back_to_columns(A, T, n)  # B
    if errors == "cluster":
        meat, parties, _ = yield from party_outer_products(asks, p)
        factor = Fraction(parties * (n - 1), (parties - 1) * (n - p))
        freedom: float | None = parties - 1
    else:
        sums: Sequence[Fraction] = (yield asks).sums
        meat, freedom = symmetric(sums, p), None
        factor = Fraction(n, n - p) if errors == "HC1" else Fraction(1)
        if kind in ("HC2", "HC3") and sums[-1]:
            rows = int(sums[-1])
            return replace(
                result,
                covariance=None,
                cov_type=errors,
                use_t=False,
                reason=Plural(
                    "{errors} divides by 1 - leverage, and {n} row has a column that nobody else has; HC1 does not",
                    "{errors} divides by 1 - leverage, and {n} rows have a column that nobody else has; HC1 does not",
                    n=rows,
                    errors=errors,
                ),
            )
    if not result.rss:
        meat = ((Fraction(0),) * p,) * p  # all residuals are exactly 0
    covariance = scaled(matmul(matmul(B, meat), transpose(B)), factor * Fraction(s) ** 2)
    return replace(
        result,
        covariance=rounded_covariance(covariance),
        cov_type=errors,
        use_t=False,
        df_inference=freedom,
    )


def _residual_scale(rss: Fraction | None, n: int) -> float:
    """A power of two near the size of residuals. Sums have a fixed grid, so residuals are divided by it."""
    if not rss:
        return 1.0
    mean = rss / n
    return 2.0 ** ((mean.numerator.bit_length() - mean.denominator.bit_length()) // 2)


def _whitening(A: Matrix, n: int) -> Matrix:
    """T with sum v v' = n I, rounded to pairs of floats, which all parties parse alike."""
    T, d = orthogonalise(A)
    sizes = [_precise_root(n / v) for v in d]
    return tuple(
        tuple(sum(map(Fraction, pair_of(v * s)), Fraction(0)) for v, s in zip(row, sizes, strict=True)) for row in T
    )


def _back_to_columns(A: Matrix, T: Matrix, n: int) -> Matrix:
    """B = T (T'AT)^-1. With T'AT = n (I + D) it is T (I - D + D^2 - ...) / n, and D comes from rounding T.

    Two terms, which are short numbers, are enough if D^2 is below 2^-80. Else columns nearly depend on one another, and
    the inverse is computed.
    """
    p = len(A)
    G = scaled(matmul(matmul(transpose(T), A), T), Fraction(1, n))
    less = tuple(tuple((i == j) * 2 - G[i][j] for j in range(p)) for i in range(p))  # I - D
    if p * max(abs(less[i][j] - (i == j)) for i in range(p) for j in range(p)) < Fraction(1, 1 << 40):
        return scaled(matmul(T, less), Fraction(1, n))
    return inverse(matmul(transpose(T), A))


def _precise_root(v: Fraction) -> Fraction:
    """The square root with twice the digits of a float: one Newton step from the nearest float."""
    near = Fraction(root(v))
    return (near + v / near) / 2


def rounded_covariance(covariance: Matrix) -> Matrix:
    return tuple(tuple(rounded(v, COVARIANCE_BITS) for v in row) for row in covariance)


def party_outer_products(asks: FunctionSums, p: int) -> Generator[Any, Any, tuple[Matrix, int, int]]:
    """The sum of u u' over parties, how many parties have rows, and how many rows they have."""
    answer = yield PartyOuterProducts(asks, MAX_PARTY_ROWS)
    if answer.parties < 2:
        raise TooFewObservations(
            "errors by party need at least two parties, and there is one table.",
            hint='a list of tables, one for each party; errors="HC1" needs none',
        )
    return submatrix(answer.matrix, range(p)), int(answer.parties), answer.n
