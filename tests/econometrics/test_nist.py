"""NIST's reference sets for linear regression: at least 14 of the 15 certified digits, between three parties."""

from __future__ import annotations

import math

import pytest
from tests.econometrics import nist

import murmure as mu
from murmure import econometrics


@pytest.mark.parametrize("one", nist.SETS, ids=lambda one: one.name)
def test_between_three_parties(one: nist.ReferenceSet) -> None:
    """Coefficients, standard errors, residual deviation and R squared, however ill-conditioned the columns are."""
    fit = econometrics.ols(
        one.formula, nist.parts_of(one, 3), schema=nist.schema_of(one), privacy=mu.Secure(rows_are_public=True)
    )

    worst = {
        "params": min(nist.digits(got, said) for got, said in zip(fit.params, one.params, strict=True)),
        "errors": min(nist.digits(got, said) for got, said in zip(fit.bse, one.errors, strict=True)),
        "residual": nist.digits(math.sqrt(fit.scale), one.residual),
        "rsquared": nist.digits(fit.rsquared, one.rsquared),
    }
    assert min(worst.values()) >= 14, worst


@pytest.mark.parametrize("one", nist.SETS, ids=lambda one: one.name)
def test_from_one_file_in_the_clear(one: nist.ReferenceSet, tmp_path) -> None:
    """From a CSV file without a schema: decimals are read as they are written, and the figures are the same."""
    path = tmp_path / "data.csv"
    lines = [",".join(one.columns), *(",".join(row) for row in zip(*one.columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")

    fit = econometrics.ols(one.formula, str(path))
    again = econometrics.ols(
        one.formula, nist.parts_of(one, 3), schema=nist.schema_of(one), privacy=mu.Secure(rows_are_public=True)
    )

    assert fit.coefficients == again.coefficients and fit.covariance == again.covariance


def test_univariate_sets() -> None:
    """NumAcc1 to NumAcc4: large levels and small deviations, where the textbook formula fails."""
    sets = {
        "NumAcc1": (["10000001", "10000003", "10000002"], "10000002", "1"),
        "NumAcc2": (["1.2", *(["1.1", "1.3"] * 500)], "1.2", "0.1"),
        "NumAcc3": (["1000000.2", *(["1000000.1", "1000000.3"] * 500)], "1000000.2", "0.1"),
        "NumAcc4": (["10000000.2", *(["10000000.1", "10000000.3"] * 500)], "10000000.2", "0.1"),
    }
    for name, (column, mean, deviation) in sets.items():
        said = econometrics.describe({"x": [float(text) for text in column]}).tidy()[0]

        assert said["mean"] == float(mean) and nist.digits(said["sd"], deviation) >= 15, name


@pytest.mark.parametrize("level", ["1", "1000000", "1000000000000"], ids=["SmLs01", "SmLs04", "SmLs07"])
def test_analysis_of_variance(level: str) -> None:
    """Simon and Lesage's sets: nine groups of 21, F = 21 exactly, on a level of up to 1e12."""
    middles = [4, *([3, 5] * 4)]  # tenths above the level
    tenths = [(g, m + d) for g, m in enumerate(middles) for d in (0, *([-1, 1] * 10))]
    table = {"y": [float(f"{level}.{t}") for _, t in tenths], "g": [str(g) for g, _ in tenths]}

    found = econometrics.anova("y", table, by="g")

    assert found.statistic == 21.0
