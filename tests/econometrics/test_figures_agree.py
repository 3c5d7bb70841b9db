"""The figures of every regression agree with one another, and with how many rows and parameters there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped, unused-ignore]
from tests.econometrics.test_examples import cut, parties_of
from tests.listing import listed

from murmure.econometrics.fit import ask
from murmure.econometrics.results.regression import Regression

# Parameters that have no row of their own, or a row that is not of the mean: a level of each firm but one and an
# intercept among them; a dispersion, which is not counted as used up (as statsmodels does it).
BESIDES = {"FixedEffects": 5, "NegativeBinomial": -1}


def regressions() -> list[Any]:
    found = []
    for name, example in listed("murmure.econometrics.models"):
        result = ask(example.model, cut(example.rows, parties_of(example.model)))
        if isinstance(result, Regression):
            rows = len(next(iter(example.rows.values())))
            found.append(pytest.param(type(example.model).__name__, rows, result, id=name.rpartition(".")[2]))
    return found


REGRESSIONS = regressions()


def test_many_regressions_are_here() -> None:
    assert len(REGRESSIONS) > 30


@pytest.mark.parametrize(("kind", "rows", "result"), REGRESSIONS)
def test_degrees_of_freedom_are_rows_without_parameters(kind: str, rows: int, result: Regression) -> None:
    coefficients = len(result.params) + BESIDES.get(kind, 0)

    assert result.nobs == rows
    assert result.df_resid == rows - coefficients
    assert 0 < result.df_model <= len(result.params)


@pytest.mark.parametrize(("kind", "rows", "result"), REGRESSIONS)
def test_errors_tests_and_limits_follow_from_the_covariance(kind: str, rows: int, result: Regression) -> None:
    """z or t, two-sided; the covariance is symmetric, and no sum of coefficients has a negative variance."""
    cov = result.cov_params()
    if cov is None:
        return
    bse, df = np.sqrt(np.diag(cov)), result.df_resid if result.df_inference is None else result.df_inference
    law = stats.t(df) if result.use_t else stats.norm()
    low, high = np.asarray(result.conf_int(0.1)).T

    assert np.allclose(cov, cov.T, rtol=1e-9) and np.linalg.eigvalsh(cov).min() > -1e-9 * np.abs(cov).max()
    assert result.bse == pytest.approx(bse, rel=1e-9)
    assert result.tvalues == pytest.approx(result.params / bse, rel=1e-9)
    assert result.pvalues == pytest.approx(2 * law.sf(np.abs(result.params / bse)), rel=1e-6, abs=1e-300)
    assert law.cdf((result.params - low) / bse) == pytest.approx(0.95) and high + low == pytest.approx(
        2 * result.params
    )


@pytest.mark.parametrize(("kind", "rows", "result"), REGRESSIONS)
def test_measures_of_fit_follow_from_sums_and_likelihoods(kind: str, rows: int, result: Regression) -> None:
    if result.llf is not None:
        assert result.aic == pytest.approx(2 * result.k - 2 * result.llf)
        assert result.bic == pytest.approx(result.k * np.log(rows) - 2 * result.llf)
        if result.llnull is not None:
            assert result.llnull <= result.llf and result.prsquared == pytest.approx(1 - result.llf / result.llnull)
            gained = 2 * (result.llf - result.llnull)
            assert result.llr_pvalue == pytest.approx(stats.chi2(result.df_model).sf(gained), rel=1e-6)
    if result.ssr is not None and result.tss is not None:
        total = float(result.tss)
        assert result.rsquared == pytest.approx(1 - result.ssr / total)
        assert result.ess == pytest.approx(total - result.ssr)
        assert result.mse_resid == pytest.approx(result.ssr / result.df_resid)
