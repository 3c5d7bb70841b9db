"""Standard errors that include the noise in the sums: sampling and noise together, by the delta method.

    beta = A^-1 c,   observed are A + E_A and c + e_c,
    Var(beta) = s^2 A^-1 + A^-1 C A^-1,     C = Var(e_c - E_A beta)

Entries share noise: a figure f with noise of variance v_f occurs in entry (a, b) of the matrix P_ab,f times (once, or
by the middles of its columns: centred_factors.py), and C = J diag(v) J' with J_jf = sum_ab T_j,ab P_ab,f. The minimum
of a noisy parabola is too low by tr(A^-1 C), which is added to s^2. Only noisy sums are used, so this costs no privacy.
The formula is of first order: if noise moves A by more than a fraction of itself the formula fails, and no error is
given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import Phrase
from murmure.econometrics.algebra.matrices import Matrix, Singular, dot, solve, submatrix
from murmure.econometrics.algebra.rounding import Floats, to_floats
from murmure.econometrics.errors import FitFailed
from murmure.econometrics.results.regression import Regression

if TYPE_CHECKING:
    from murmure.econometrics.design.design_matrix import Design
    from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate


NOISE_AWARE = "noise-aware"
MAX_NOISE_SHARE = 0.25  # of A: larger noise is not small, and the first order not enough
DIGITS = 1e-13  # smaller eigenvalues of a matrix with diagonal 1 are 0 within the rounding of floats
DROWNED = Phrase("the noise is large compared with what the rows add up to, so no error of the first order holds")
UNCOUNTED = Phrase("without intercept, and with weights, no sum says how many rows there are")
FLAT = Phrase("noise has left no sum of squared residuals above 0")
NOISE_COUNTED = Phrase(
    "Standard errors count sampling and the noise in the sums (delta method); p-values are normal, and other figures "
    "are read off noisy sums."
)


def noise_in_equations(crossed: CrossProductsEstimate, moves: Floats) -> Floats:
    """C. moves: (p, m, m), T_j: the derivative of the j-th equation in every entry of the matrix of sums."""
    sums, P, v = _noise_of_entries(crossed)
    J = np.zeros((len(moves), len(P)))
    for j, T in enumerate(moves):
        np.add.at(J[j], sums.ravel(), T.ravel())
    J = J @ P
    return np.asarray((J * v) @ J.T)


def _noise_of_entries(crossed: CrossProductsEstimate) -> tuple[NDArray[np.int64], Floats, Floats]:
    """The index of the sum of every entry; how often each figure occurs in each sum; the noise of every figure.

    The last sum belongs to entries that are always 0.
    """
    assert crossed.noise is not None
    sums = np.array(crossed.figure, np.int64)
    last = int(sums.max()) + 1
    sums = np.where(sums < 0, last, sums)
    if crossed.parts is None:
        v = np.zeros(last + 1)
        v[sums.ravel()] = np.array(crossed.noise, float).ravel()
        v[last] = 0.0
        return sums, np.eye(last + 1), v
    v = np.asarray(crossed.variance(), float)
    P = np.zeros((last + 1, len(v)))
    for row, figures in zip(P, crossed.parts, strict=False):
        for k, c in figures.items():
            row[k] = float(c)
    return sums, P, v


def noise_dominates(crossed: CrossProductsEstimate, A: Floats, at: list[int]) -> bool:
    """Whether noise makes the inverse of A = M[at, at] useless: |A^-1/2 N A^-1/2| is expected beyond MAX_NOISE_SHARE.

    A symmetric p x p matrix of equal noise has a 2-norm of about 2 |N|_F / sqrt(p).
    """
    if not np.isfinite(A).all() or np.diag(A).min() <= 0:
        return True
    size = np.sqrt(np.outer(np.diag(A), np.diag(A)))
    values, vectors = np.linalg.eigh(A / size)
    if not np.isfinite(values).all() or values[0] <= DIGITS:
        return True
    W = vectors / np.sqrt(values) @ vectors.T
    sums, P, v = _noise_of_entries(crossed)
    inner = sums[np.ix_(at, at)]
    total = 0.0
    for f in np.flatnonzero(v):
        total += v[f] * float(np.sum((W @ (P[inner, f] / size) @ W) ** 2))
    return 2 * math.sqrt(total / len(at)) > MAX_NOISE_SHARE


@dataclass(frozen=True)
class NoisyCovariance:
    """The covariance of sampling and noise, and s^2; or the reason why there are none."""

    covariance: Matrix | None
    scale: float | None
    reason: str | None = None


def noisy_covariance(
    crossed: CrossProductsEstimate, at: list[int], A: Matrix, moves: Floats, rss: Fraction, n: Fraction | None
) -> NoisyCovariance:
    """The covariance of coefficients that solve equations with the matrix A of the factors at these indices."""
    p, floats = len(A), to_floats(A)
    if n is None:
        return NoisyCovariance(None, None, UNCOUNTED)
    if noise_dominates(crossed, floats, at):
        return NoisyCovariance(None, None, DROWNED)
    if n <= p:
        return NoisyCovariance(None, None, Phrase("the noisy number of rows is not larger than that of the parameters"))
    size = np.sqrt(np.outer(np.diag(floats), np.diag(floats)))
    inverted = np.linalg.inv(floats / size) / size
    C = noise_in_equations(crossed, moves)
    scale = (float(rss) + float(np.trace(inverted @ C))) / float(n - p)
    if not scale > 0:
        return NoisyCovariance(None, None, FLAT)
    covariance = scale * inverted + inverted @ C @ inverted
    fractions = tuple(tuple(Fraction(float(v)) for v in row) for row in (covariance + covariance.T) / 2)
    return NoisyCovariance(fractions, scale)


def noisy_row_count(crossed: CrossProductsEstimate) -> Fraction | None:
    """The number of rows; if it is not public, the noisy sum of the intercept; None without one."""
    if crossed.n is not None:
        return Fraction(crossed.n)
    return crossed.at("1", "1") if "1" in crossed.factors else None


def noisy_regression(crossed: CrossProductsEstimate, design: Design, model: str) -> Regression:
    """Least squares from noisy sums of products of (Z, y)."""
    p = len(design.terms)
    at = list(range(p))
    M = crossed.matrix
    A, c = submatrix(M, at), [M[j][p] for j in at]
    try:
        beta = tuple(row[0] for row in solve(A, [[v] for v in c]))
    except Singular as no:
        named = [design.names[k] for k in no.columns]
        raise FitFailed(
            "the noisy sums have no solution: {named}.",
            hint="a larger epsilon, or more rows",
            columns=named,
            named=", ".join(named),
        ) from None
    n = noisy_row_count(crossed) if model != "WLS" else None  # with weights, the sum of "1" is that of the weights
    rss = M[p][p] - dot(beta, c)
    tss = M[p][p] - (M[0][p] ** 2 / M[0][0] if design.has_intercept and design.terms[0] == "1" and M[0][0] else 0)
    r = np.append(-to_floats(beta), 1.0)
    moves = np.zeros((p, p + 1, p + 1))
    for j in at:
        moves[j, j] = r
    noisy = noisy_covariance(crossed, at, A, moves, rss, n)
    plausible = noisy.covariance is not None and 0 < rss < tss
    return Regression(
        model=model,
        formula=design.formula,
        outcome=design.outcome_name,
        names=design.names,
        coefficients=beta,
        covariance=noisy.covariance,
        n=crossed.n,
        df_model=p - design.has_intercept,
        df_resid=float(n - p) if n is not None and n > p else None,
        use_t=False,
        cov_type=NOISE_AWARE,
        scale=noisy.scale,
        rss=rss if plausible else None,
        tss=tss if plausible else None,
        has_intercept=design.has_intercept,
        design=design,
        remarks=(
            NOISE_COUNTED if noisy.covariance is not None else Phrase("The coefficients are read off noisy sums."),
        ),
        reason=noisy.reason,
    )
