"""From noisy sums of products to coefficients: what is done to a noisy matrix, and how far the result can be off.

    A = sum v v',  b = sum v y,  both with noise of known variance;   w = A^-1 b.

A noisy A need not be positive definite. Everything below looks at noisy sums only, so it costs nothing; what was
done is reported. Where the smallest eigenvalue is well above the noise nothing is done. Otherwise directions whose
eigenvalue is not positive are left out (spectral trimming) and a ridge of sqrt(d) standard deviations of the noise is
added, which is about what noise does to the eigenvalues of a matrix of side d. (Zhang et al., PVLDB 5(11), 2012,
section 6, propose both, the ridge with four deviations whatever d is.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, Phrase, shorten

Floats = NDArray[np.float64]

AS_THEY_ARE = Phrase("none: learned from randomised rows as they are, which leans to 0")
FLAT = 1e-10  # of the largest eigenvalue: below, an exact matrix does not vary in this direction


@dataclass(frozen=True)
class LeastSquaresSolution:
    """Weights, and what was done to the matrix; `plain`: nothing was, so error bars are meant as they are."""

    weights: Floats
    post_processing: str
    plain: bool


def check_ridge(owner: Any) -> None:
    """The parameter that both regressions have: how many deviations of the noise are added to the diagonal."""
    number = isinstance(owner.ridge, int | float) and not isinstance(owner.ridge, bool)
    if owner.ridge != "auto" and not (number and 0 <= owner.ridge < math.inf):
        raise InvalidParameter(
            '{kind}.ridge must be "auto" or a number of deviations, got {got}.',
            kind=type(owner).__name__,
            got=shorten(owner.ridge),
        )


def clear_of_noise(columns: int, deviation: float) -> float:
    """What the smallest eigenvalue must reach: twice what noise of this deviation can do to a matrix of this size."""
    return 2 * (1 + math.sqrt(columns)) * deviation


def solve(
    A: Floats, b: Floats, deviation: float, ridge: float | str = "auto", trim: bool = True, constant: bool = True
) -> LeastSquaresSolution:
    """min_w w'Aw - 2 b.w; `deviation` is that of the noise in a square.

    ridge: "auto" as above, "adassp", or a fixed number of deviations. constant: the first column is the constant, which
    no ridge pulls to 0; it is taken out first, with a number of people of at least 1 and at least the noise.
    """
    if not constant:
        return _regularised(A, b, deviation, ridge, trim)
    n = max(A[0, 0], 1.0, deviation)
    s = A[0, 1:]
    inner = _regularised(A[1:, 1:] - np.outer(s, s) / n, b[1:] - s * b[0] / n, deviation, ridge, trim)
    level = (b[0] - s @ inner.weights) / n
    few = bool(A[0, 0] < clear_of_noise(0, deviation))
    done = inner.post_processing
    post_processing = Phrase("fewer people than the noise can count; {done}", done=done) if few else done
    return LeastSquaresSolution(np.append(level, inner.weights), post_processing, inner.plain and not few)


def _regularised(A: Floats, b: Floats, deviation: float, ridge: float | str, trim: bool) -> LeastSquaresSolution:
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    d, lowest = len(values), float(values[0]) if len(values) else 0.0
    if deviation == 0:
        kept = values > FLAT * max(float(values[-1]), FLAT)
        return _solution(values, vectors, b, kept, 0.0, Phrase("none: the sums are exact"), plain=bool(kept.all()))
    if ridge == "auto" and lowest >= clear_of_noise(d, deviation):
        return _solution(
            values,
            vectors,
            b,
            values > 0,
            0.0,
            Phrase(
                "none: the matrix stands clear of the noise",
            ),
            plain=True,
        )
    if ridge == "adassp":
        # Wang, UAI 2018, algorithm 2, but for lambda_min: it is read off the noisy matrix, less what noise can do to it
        # (Weyl), instead of being bought with a third of the budget.
        reach = deviation * math.sqrt(d * math.log(2 * d * d / 0.05))
        added = max(0.0, reach - max(0.0, lowest - reach))
        done: str = Phrase("AdaSSP ridge of {count:.3g} deviations of the noise", count=added / deviation)
        plain = added == 0
    else:
        count = math.sqrt(d) if ridge == "auto" else float(ridge)
        added, plain = count * deviation, False
        done = (
            Phrase("ridge of 1 deviation of the noise")
            if count == 1
            else Phrase("ridge of {count:.3g} deviations of the noise", count=count)
        )
    kept = (values > 0) if trim else np.ones(d, bool)
    if not trim and lowest + added <= 0:  # a saddle has no minimum: the least ridge that makes one
        added = deviation - lowest
        done = Phrase("{done}, raised until there is a minimum", done=done)
    dropped = int(d - kept.sum())
    if dropped:
        done = Phrase("{done}; {dropped} of {all} directions trimmed", done=done, dropped=dropped, all=d)
    return _solution(values, vectors, b, kept, added, done, plain and not dropped)


def _solution(
    values: Floats, vectors: Floats, b: Floats, kept: Any, added: float, post_processing: str, plain: bool
) -> LeastSquaresSolution:
    if added == 0 and not kept.all() and post_processing.startswith("none"):
        post_processing = Phrase("{n} directions without variation left out", n=int((~kept).sum()))
    Q = vectors[:, kept]
    return LeastSquaresSolution(Q @ ((Q.T @ b) / (values[kept] + added)), post_processing, plain)


def product_variance(t: Floats, noise: Floats) -> float:
    """Of t'Nt, for a symmetric N with independent entries of these variances."""
    squares = t * t
    return float(2 * squares @ noise @ squares - squares**2 @ np.diag(noise))


def weight_covariance(sums: Floats, noise: Floats, rows: Floats, outcome: Floats, weights: Floats) -> Floats | None:
    """The covariance of plain weights: sampling and noise together, None where the noise leaves no residual.

    rows, outcome: the columns and the target as combinations of z = (1, x, y). With c the residual's combination of z,
    noise N moves the weights by A^-1 rows N c, and
        Cov(N c)_jl = Var(N_jl) c_j c_l  off the diagonal,   sum_k Var(N_jk) c_k^2  on it.
    Sampling: s^2 A^-1, s^2 = (RSS + tr(A^-1 C)) / (n - p): the minimum of a noisy parabola lies tr(A^-1 C) too low.
    Rows that are weighed down count less in A than in the exact formula: the bar errs on the wide side.
    """
    p = len(weights)
    c = outcome - rows.T @ weights
    moved = noise * np.outer(c, c)
    moved[np.diag_indices(len(c))] = noise @ (c * c)
    inverse = np.linalg.inv(rows @ sums @ rows.T)
    C = rows @ moved @ rows.T
    left = float(c @ sums @ c) + float(np.trace(inverse @ C))
    left = max(left, math.sqrt(product_variance(c, noise)))  # noise may leave less than nothing
    freedom = sums[0, 0] - p
    if freedom <= 0:
        return None
    return np.asarray(left / freedom * inverse + inverse @ C @ inverse)
