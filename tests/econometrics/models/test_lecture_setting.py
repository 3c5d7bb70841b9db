"""The lecture's own setting: m parties with one row each, L = (n+1)(n+2)/2 sums of products of (z_1, ..., z_n, y)."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

import murmure as mu
from murmure import econometrics
from murmure.econometrics.algebra.matrices import solve
from murmure.econometrics.models.ols import OLS

M, N = 200, 4


def rows() -> dict[str, list[float]]:
    """m rows of n columns and y, in hundredths; z_ij and y_i lie in [0, 1[, as the lecture has them."""
    words = (mu.Random.seeded(41).words(M * (N + 1)) % 100).reshape(N + 1, M).tolist()
    names = [*(f"z{j}" for j in range(1, N + 1)), "y"]
    return {name: [int(w) / 100 for w in column] for name, column in zip(names, words, strict=True)}


SCHEMA = mu.Schema({name: mu.Decimals(0, "0.99", 2) for name in (*(f"z{j}" for j in range(1, N + 1)), "y")})


@pytest.mark.slow
def test_one_row_each() -> None:
    """beta = (Z'Z)^-1 Z'y and S^2 of the pooled rows, from 200 parties of one row: no digit differs."""
    table = rows()
    parties = [{name: [column[i]] for name, column in table.items()} for i in range(M)]
    formula = "y ~ 0 + " + " + ".join(f"z{j}" for j in range(1, N + 1))

    began = time.perf_counter()
    fit = econometrics.ols(formula, parties, schema=SCHEMA, privacy=mu.Secure(rows_are_public=True))
    seconds = time.perf_counter() - began

    Z = [[Fraction(str(table[f"z{j}"][i])) for j in range(1, N + 1)] for i in range(M)]
    y = [Fraction(str(v)) for v in table["y"]]
    A = [[sum(z[a] * z[b] for z in Z) for b in range(N)] for a in range(N)]
    beta = [row[0] for row in solve(A, [[sum(z[a] * v for z, v in zip(Z, y, strict=True))] for a in range(N)])]
    residuals = [v - sum(b * w for b, w in zip(beta, z, strict=True)) for z, v in zip(Z, y, strict=True)]
    assert list(fit.coefficients) == beta
    assert fit.scale == sum(e * e for e in residuals) / (M - N)
    assert fit.how.parties == M and fit.how.rows == M
    assert seconds < 60


def test_so_many_sums() -> None:
    """With a constant among the n columns L is the lecture's count, with the number of rows as one of them."""
    design = econometrics.read_formula("y ~ z1 + z2 + z3", SCHEMA)  # a constant and three columns: n = 4
    (question,) = [next(OLS(design).steps())]

    assert question.width == (N + 1) * (N + 2) // 2
