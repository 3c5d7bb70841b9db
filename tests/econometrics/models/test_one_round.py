"""Figures of one round against scipy and statsmodels: the same rows, in the clear, to 1e-10."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats as st
from statsmodels.duration.survfunc import SurvfuncRight, survdiff
from statsmodels.stats.contingency_tables import StratifiedTable

import murmure as mu
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, MissingColumn
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.econometrics.fit import ask
from murmure.econometrics.models.anova import anova
from murmure.econometrics.models.contingency import ContingencyResult, contingency
from murmure.econometrics.models.covariance import CorrelationResult, correlation, covariance
from murmure.econometrics.models.describe import Describe, describe
from murmure.econometrics.models.ecdf import ecdf
from murmure.econometrics.models.histogram import histogram
from murmure.econometrics.models.kaplan_meier import SurvivalCurve, kaplan_meier
from murmure.econometrics.models.log_rank import logrank
from murmure.econometrics.models.mantel_haenszel import mantel_haenszel
from murmure.econometrics.models.pca import pca
from murmure.econometrics.models.quantiles import quantiles
from murmure.econometrics.models.roc import roc
from murmure.econometrics.models.t_test import ttest
from murmure.econometrics.rows.lifetimes import GroupLifetimes

N = 211
CLOSE = {"rel": 1e-10, "abs": 1e-12}

SCHEMA = Schema(
    {
        "pay": Integers(-5000, 90000),
        "age": Integers(18, 99),
        "stay": Integers(0, 60),
        "sex": Categories(["F", "M"]),
        "site": Categories(["north", "south", "west", "east"]),
        "smoker": Categories(["no", "yes"]),
        "ill": Integers(0, 1),
        "score": Integers(0, 200),
    }
)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    i = np.arange(N)
    return pd.DataFrame(
        {
            "pay": 20000 + (i * i * 377 + 911 * i) % 43211 - 3000 * (i % 5 == 0),
            "age": 18 + (i * i * 7 + 3 * i) % 80,
            "stay": (5 * i + i * i // 3) % 47 + (i % 3) * 4,
            "sex": np.where(i % 3 == 0, "F", "M"),
            "site": np.array(["north", "south", "west", "east"])[(i * i + i // 7) % 4 - (i % 11 == 3)],
            "smoker": np.where((i * i + i // 4) % 3 == 1, "yes", "no"),
            "ill": ((i * 5 + i * i) % 7 < 3).astype(int),
            "score": (i * i * 5 + i) % 101 + 60 * ((i * 5 + i * i) % 7 < 3) - (i % 13),
        }
    ).assign(score=lambda f: f["score"].clip(0, 200))


# -- describe, covariance, correlation --------------------------------------------------------------------------------


def test_description_is_that_of_scipy(rows: pd.DataFrame) -> None:
    out = describe(rows, ["pay", "age"], schema=SCHEMA)
    for name in ("pay", "age"):
        x = rows[name].to_numpy(float)
        assert out.n == N
        assert out.mean[name] == pytest.approx(x.mean(), **CLOSE)
        assert out.variance[name] == pytest.approx(x.var(ddof=1), **CLOSE)
        assert out.sd[name] == pytest.approx(x.std(ddof=1), **CLOSE)
        assert out.skewness[name] == pytest.approx(st.skew(x), **CLOSE)
        assert out.kurtosis[name] == pytest.approx(st.kurtosis(x), **CLOSE)
        assert out.se[name] == pytest.approx(st.sem(x), **CLOSE)
        low, high = st.t.interval(0.95, N - 1, loc=x.mean(), scale=st.sem(x))
        assert out.conf_int()[name] == pytest.approx((low, high), **CLOSE)


def test_variance_far_from_zero_is_exact() -> None:
    """Floats would lose all digits of this variance in S[x^2] - S[x]^2 / N; fractions lose none."""
    schema = Schema({"x": Integers(2 * 10**9, 2 * 10**9 + 10)})
    out = describe({"x": [2 * 10**9, 2 * 10**9 + 1, 2 * 10**9 + 2]}, schema=schema)
    assert out["x"].variance == 1
    assert out["x"].mean == 2 * 10**9 + 1
    assert out["x"].kurtosis == pytest.approx(-1.5)


def test_a_column_that_does_not_vary_has_no_shape() -> None:
    out = describe({"x": [3, 3, 3]}, schema=Schema({"x": Integers(0, 9)}))
    assert out.variance["x"] == 0
    assert out.skewness["x"] is None
    assert any("The same for everybody" in note for note in out.notes)


def test_one_row_has_a_mean_and_no_variance() -> None:
    out = describe({"x": [3]}, schema=Schema({"x": Integers(0, 9)}))
    assert (out.mean["x"], out.variance["x"], out.se["x"]) == (3, None, None)
    assert "x" in out.summary()


def test_covariance_and_correlation_are_those_of_scipy(rows: pd.DataFrame) -> None:
    names = ["pay", "age", "stay"]
    cov, cor = covariance(rows, names, schema=SCHEMA), correlation(rows, names, schema=SCHEMA)
    assert cov.covariance == pytest.approx(rows[names].cov().to_numpy(), **CLOSE)
    assert cov.mean == pytest.approx(rows[names].mean().to_numpy(), **CLOSE)
    for a, first in enumerate(names):
        for b, second in enumerate(names):
            if a != b:
                r, p = st.pearsonr(rows[first], rows[second])
                assert cor.correlation[a, b] == pytest.approx(r, **CLOSE)
                assert cor.pvalue[a, b] == pytest.approx(p, **CLOSE)
    assert cor.df == N - 2


@pytest.mark.parametrize("variance", [0, -2])
def test_a_column_whose_variance_noise_made_zero_or_less_correlates_with_none(variance: int) -> None:
    """r, z and p of its pairs are not numbers, whichever of the two it is; those of the others are."""
    covariances = [[1, 0, 1], [0, variance, 0], [1, 0, 4]]
    scatter: Any = SimpleNamespace(
        columns=("x", "c", "y"),
        n=100,
        covariance=[[Fraction(v) for v in row] for row in covariances],
        correlation_noise=np.full((3, 3), 0.1),
    )
    out = CorrelationResult(scatter=scatter)

    for square in (out.correlation, out.statistic, out.pvalue):
        assert np.isnan(square[1, [0, 2]]).all() and np.isnan(square[[0, 2], 1]).all() and np.isfinite(square[0, 2])
    assert out.statistic[0, 2] == pytest.approx(0.5 / np.sqrt(0.75 / 98 + 0.01), **CLOSE)


def test_multiples_of_one_another_correlate_exactly() -> None:
    x = [1, 2, 4, 9]
    schema = Schema({"x": Integers(0, 9), "y": Integers(-30, 30)})
    out = correlation({"x": x, "y": [-3 * v for v in x]}, schema=schema)
    assert out.correlation[0, 1] == -1
    assert out.statistic[0, 1] == -np.inf
    assert out.pvalue[0, 1] == 0


# -- groups -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_ttest_of_two_groups_is_that_of_scipy(rows: pd.DataFrame, pooled: bool, alternative: Any) -> None:
    out = ttest("pay", rows, by="sex", pooled=pooled, alternative=alternative, schema=SCHEMA)
    F, M = (rows.pay[rows.sex == s] for s in "FM")
    wanted = st.ttest_ind(F, M, equal_var=pooled, alternative=alternative)
    assert out.statistic == pytest.approx(wanted.statistic, **CLOSE)
    assert out.pvalue == pytest.approx(wanted.pvalue, **CLOSE)
    assert out.df == pytest.approx(wanted.df, **CLOSE)
    if alternative == "two-sided":
        assert out.conf_int(0.1) == pytest.approx(tuple(wanted.confidence_interval(0.9)), **CLOSE)


def test_ttest_of_two_labels_of_several(rows: pd.DataFrame) -> None:
    out = ttest("age", rows, by="site", groups=("west", "north"), schema=SCHEMA)
    wanted = st.ttest_ind(rows.age[rows.site == "west"], rows.age[rows.site == "north"], equal_var=False)
    assert (out.statistic, out.pvalue) == pytest.approx((wanted.statistic, wanted.pvalue), **CLOSE)


def test_ttest_of_one_group_is_that_of_scipy(rows: pd.DataFrame) -> None:
    out, wanted = ttest("age", rows, mu=55.5, schema=SCHEMA), st.ttest_1samp(rows.age, 55.5)
    assert (out.statistic, out.pvalue, out.df) == pytest.approx((wanted.statistic, wanted.pvalue, N - 1), **CLOSE)


def test_ttest_by_a_number_of_two_values(rows: pd.DataFrame) -> None:
    out = ttest("age", rows, by="ill", schema=SCHEMA)
    wanted = st.ttest_ind(rows.age[rows.ill == 0], rows.age[rows.ill == 1], equal_var=False)
    assert (out.statistic, out.pvalue) == pytest.approx((wanted.statistic, wanted.pvalue), **CLOSE)


def test_anova_is_that_of_scipy(rows: pd.DataFrame) -> None:
    out = anova("pay", rows, by="site", schema=SCHEMA)
    parts = [rows.pay[rows.site == s] for s in ("north", "south", "west", "east")]
    wanted = st.f_oneway(*parts)
    assert (out.statistic, out.pvalue) == pytest.approx((wanted.statistic, wanted.pvalue), **CLOSE)
    between = sum(len(p) * (p.mean() - rows.pay.mean()) ** 2 for p in parts)
    assert out.eta_squared == pytest.approx(between / ((rows.pay - rows.pay.mean()) ** 2).sum(), **CLOSE)
    assert out.df == (3, N - 4)


def test_anova_of_groups_that_do_not_vary_within() -> None:
    schema = Schema({"y": Integers(0, 9), "g": Categories(["a", "b"])})
    out = anova("y", {"y": [1, 1, 2, 2], "g": ["a", "a", "b", "b"]}, by="g", schema=schema)
    assert out.statistic == np.inf
    assert (out.pvalue, out.eta_squared) == (0, 1)
    assert out.summary()


# -- tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), [("smoker", "ill"), ("site", "sex"), ("site", "smoker")])
def test_contingency_is_that_of_scipy(rows: pd.DataFrame, a: str, b: str) -> None:
    out = contingency(a, b, rows, schema=SCHEMA)
    table = np.array([[((rows[a] == x) & (rows[b].astype(str) == y)).sum() for y in out.columns] for x in out.rows])
    assert (out.table == table).all() and out.table.dtype.kind == "i"
    for corrected, got in ((True, (out.statistic, out.pvalue)), (False, (out.uncorrected, out.uncorrected_pvalue))):
        wanted = st.chi2_contingency(table, correction=corrected)
        assert got == pytest.approx((wanted.statistic, wanted.pvalue), **CLOSE)
        assert out.df == wanted.dof
        assert out.expected == pytest.approx(wanted.expected_freq, **CLOSE)
    g = st.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert (out.g, out.g_pvalue) == pytest.approx((g.statistic, g.pvalue), **CLOSE)
    assert out.cramers_v == pytest.approx(st.contingency.association(table, "cramer"), **CLOSE)


def test_labels_that_nobody_holds_are_left_out_of_a_table() -> None:
    schema = Schema({"a": Categories(["x", "y", "z"]), "b": Integers(0, 9)})
    out = contingency("a", "b", {"a": list("xxyyxy"), "b": [1, 2, 2, 1, 1, 2]}, schema=schema)
    assert (out.rows, out.columns, out.df) == (("x", "y"), ("1", "2"), 1)
    assert "a = z" in out.notes[0]
    assert any("expect fewer than 5" in note for note in out.notes)


def test_mantel_haenszel_is_that_of_statsmodels(rows: pd.DataFrame) -> None:
    out = mantel_haenszel("smoker", "ill", rows, strata="site", schema=SCHEMA)
    tables = [
        np.array([[((one.smoker == x) & (one.ill == y)).sum() for y in (0, 1)] for x in ("no", "yes")], float)
        for one in (rows[rows.site == s] for s in out.strata)
    ]
    wanted = StratifiedTable(tables)
    assert out.odds_ratio == pytest.approx(wanted.oddsratio_pooled, **CLOSE)
    assert out.log_odds_se == pytest.approx(wanted.logodds_pooled_se, **CLOSE)
    assert out.conf_int() == pytest.approx(tuple(wanted.oddsratio_pooled_confint()), **CLOSE)
    for correction, got in ((True, (out.statistic, out.pvalue)), (False, (out.uncorrected, out.uncorrected_pvalue))):
        test = wanted.test_null_odds(correction=correction)
        assert got == pytest.approx((test.statistic, test.pvalue), **CLOSE)


# -- distributions ----------------------------------------------------------------------------------------------------


def test_ecdf_is_that_of_scipy(rows: pd.DataFrame) -> None:
    out, wanted = ecdf("age", rows, schema=SCHEMA), st.ecdf(rows.age).cdf
    assert out.shares == pytest.approx(wanted.evaluate(out.points), **CLOSE)
    low, high = out.band(0.05)
    far = np.sqrt(np.log(2 / 0.05) / (2 * N))
    assert low[:-1] == pytest.approx(np.clip(out.shares - far, 0, 1)[:-1], **CLOSE)
    assert high == pytest.approx(np.clip(out.shares + far, 0, 1), **CLOSE)


def test_ecdf_on_a_grid_counts_up_to_and_with_its_points(rows: pd.DataFrame) -> None:
    out = ecdf("pay", rows, grid=[0, "20000.5", 30000, 90000], schema=SCHEMA)
    assert out.shares == pytest.approx([(rows.pay <= c).mean() for c in (0, 20000.5, 30000, 90000)], **CLOSE)
    assert out(30000) == (rows.pay <= 30000).mean()
    with pytest.raises(InvalidParameter, match="is not one of them"):
        out(30001)


def test_quantiles_of_own_values_are_exact_and_intervals_are_those_of_scipy(rows: pd.DataFrame) -> None:
    shares = (0.1, 0.25, 0.5, 0.9)
    out = quantiles("age", rows, shares, schema=SCHEMA)
    assert out.values.tolist() == np.quantile(rows.age, shares, method="inverted_cdf").tolist()
    assert out.error.tolist() == [0, 0, 0, 0]
    for q, (low, high) in zip(shares, out.conf_int(), strict=True):
        wanted = st.quantile_test(rows.age, p=q).confidence_interval(0.95)
        assert (low, high) == (wanted.low, wanted.high)


def test_quantiles_on_a_grid_lie_within_their_bounds(rows: pd.DataFrame) -> None:
    out = quantiles("pay", rows, (0.05, 0.5, 0.99), grid=25, schema=SCHEMA)
    exact = np.quantile(rows.pay, (0.05, 0.5, 0.99), method="inverted_cdf")
    assert (out.bounds[:, 0] <= exact).all()
    assert (exact <= out.bounds[:, 1]).all()
    assert (np.abs(out.values - exact) <= out.error).all()
    assert (out.conf_int()[:, 0] <= out.bounds[:, 0]).all()


@pytest.mark.parametrize("n", [4096, 4097, 5000])
def test_quantiles_of_many_rows_have_the_intervals_that_a_search_of_all_ranks_finds(n: int) -> None:
    """The l-th and u-th smallest: P[Bin(n, q) < l] <= 2.5 % and P[Bin(n, q) < u] >= 97.5 %; or a public bound."""
    x, shares = 100 + np.arange(n) // 10, (0.0002, 0.0008, 0.001, 0.3, 0.999, 0.9992, 0.9998)
    out = quantiles("x", {"x": x}, shares, schema=Schema({"x": Integers(0, 999)}))

    wanted = []
    for q in shares:
        below = st.binom.cdf(np.arange(-1, n), n, q)  # P[Bin < rank] of the ranks 0 to n
        lower, upper = np.flatnonzero(below[1:] <= 0.025), np.flatnonzero(below[1:] >= 0.975)
        wanted.append([x[lower[-1]] if len(lower) else 0, x[upper[0]] if len(upper) else 999])
    assert out.conf_int().tolist() == wanted
    assert x[-1] in (high for _, high in wanted) and wanted[-1][1] == 999 and wanted[0][0] == 0


def test_few_rows_have_no_upper_end_but_the_public_bound() -> None:
    out = quantiles("x", {"x": [2, 3, 4]}, (0.5,), schema=Schema({"x": Integers(0, 9)}))
    assert out.conf_int().tolist() == [[0.0, 9.0]]


def test_histogram_is_that_of_numpy(rows: pd.DataFrame) -> None:
    edges = [18, 30, 45, 65, 99]
    out = histogram("age", rows, edges=edges, schema=SCHEMA)
    # numpy's bins hold their lower end: on -x, in reverse, they hold the upper one
    wanted = np.histogram(-rows.age[rows.age > 18], bins=[-e for e in reversed(edges)])[0][::-1].copy()
    wanted[0] += (rows.age == 18).sum()  # the first one holds the public bound too
    assert out.counts.tolist() == wanted.tolist()
    assert out.n == N
    assert float((out.density * np.diff(out.edges)).sum()) == pytest.approx(1)


def test_a_histogram_says_what_lies_outside(rows: pd.DataFrame) -> None:
    out = histogram("age", rows, edges=[30, 40, 50], schema=SCHEMA)
    assert out.counts.tolist() == [((rows.age > a) & (rows.age <= b)).sum() for a, b in ((30, 40), (40, 50))]
    assert (out.below, out.above) == ((rows.age <= 30).sum(), (rows.age > 50).sum())
    assert out.n == N


# -- survival ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [None, "site"])
def test_kaplan_meier_is_that_of_statsmodels(rows: pd.DataFrame, by: str | None) -> None:
    out = kaplan_meier("stay", rows, event="ill", by=by, schema=SCHEMA)
    for curve in out.curves:
        some = rows if by is None else rows[rows[by] == curve.label]
        wanted = SurvfuncRight(some.stay, some.ill)
        assert curve.t.tolist() == wanted.surv_times.tolist()
        assert curve.survival == pytest.approx(wanted.surv_prob, **CLOSE)
        assert curve.se == pytest.approx(np.where(wanted.surv_prob > 0, wanted.surv_prob_se, 0), **CLOSE)
        assert [int(v) for v in curve.at_risk] == wanted.n_risk.tolist()
        assert [int(v) for v in curve.events] == wanted.n_events.tolist()
        assert curve.median == wanted.quantile(0.5)
        with np.errstate(all="ignore"):
            low, high = wanted.quantile_ci(0.5)
        assert curve.quantile_ci() == (low, None if high == np.inf else high)
        z = st.norm.ppf(0.975)
        plain = np.clip(np.stack([curve.survival - z * curve.se, curve.survival + z * curve.se], 1), 0, 1)
        assert curve.conf_int(method="plain") == pytest.approx(plain, **CLOSE)
        S, se = curve.survival[curve.survival > 0], curve.se[curve.survival > 0]
        theta = np.exp(z * se / (S * np.log(S)))
        assert curve.conf_int()[: len(S)] == pytest.approx(np.stack([S ** (1 / theta), S**theta], 1), **CLOSE)


@pytest.mark.parametrize("event", [3, None, ["died"], b"ill", "nothing", "a = b", "3 == 4"])
def test_an_event_that_is_no_column_is_refused(rows: pd.DataFrame, event: Any) -> None:
    with pytest.raises(MissingColumn, match="no column"):
        kaplan_meier("stay", rows, event=event, schema=SCHEMA)


@pytest.mark.parametrize("left", [0, -3])
def test_a_noisy_curve_ends_where_nobody_is_left_at_risk(left: int) -> None:
    """10 rows, then 5, then none or fewer: later counts above zero are noise, and no event after it counts."""
    counts = [tuple(map(Fraction, row)) for row in ((1, 2, 3, 4), (2, 1, 1, 2), (10, 5, left, 7))]
    curve = SurvivalCurve.of(GroupLifetimes("everybody", *counts), noise=3.0)

    assert (curve.until, curve.times) == (2, (1, 2))
    assert curve.shares == (Fraction(8, 10), Fraction(8, 10) * Fraction(4, 5))


def test_on_a_grid_times_count_at_the_upper_end(rows: pd.DataFrame) -> None:
    out = kaplan_meier("stay", rows, event="ill", grid=[10, 20, 30, 60], schema=SCHEMA)
    moved = np.select([rows.stay <= c for c in (10, 20, 30)], [10, 20, 30], 60)
    assert out.curves[0].survival == pytest.approx(SurvfuncRight(moved, rows.ill).surv_prob, **CLOSE)


@pytest.mark.parametrize(("weights", "kind"), [("logrank", None), ("gehan-breslow", "gb"), ("tarone-ware", "tw")])
@pytest.mark.parametrize("by", ["sex", "site"])
def test_log_rank_is_that_of_statsmodels(rows: pd.DataFrame, weights: Any, kind: str | None, by: str) -> None:
    out = logrank("stay", rows, event="ill", by=by, weights=weights, schema=SCHEMA)
    wanted = survdiff(rows.stay, rows.ill, rows[by], weight_type=kind)
    assert (out.statistic, out.pvalue) == pytest.approx(wanted, **CLOSE)
    assert sum(out.expected) == pytest.approx(sum(out.observed))


# -- components, ROC --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaled", [False, True])
def test_components_are_those_of_the_covariance(rows: pd.DataFrame, scaled: bool) -> None:
    names = ["pay", "age", "stay"]
    out = pca(rows, names, scaled=scaled, schema=SCHEMA)
    matrix = (rows[names].corr() if scaled else rows[names].cov()).to_numpy()
    values, vectors = np.linalg.eigh(matrix)
    assert out.eigenvalues == pytest.approx(values[::-1], rel=1e-8)
    assert np.abs(out.loadings) == pytest.approx(np.abs(vectors[:, ::-1]), rel=1e-7, abs=1e-9)
    assert (out.loadings[np.abs(out.loadings).argmax(axis=0), range(3)] > 0).all()
    assert out.explained.sum() == pytest.approx(1)
    scores = out.project(rows)
    assert np.cov(scores.T) == pytest.approx(np.diag(out.eigenvalues), rel=1e-8, abs=1e-6 * out.eigenvalues[0])


def test_roc_of_own_values_is_the_statistic_of_mann_and_whitney(rows: pd.DataFrame) -> None:
    out = roc("score", rows, outcome="ill", schema=SCHEMA)
    yes, no = rows.score[rows.ill == 1], rows.score[rows.ill == 0]
    assert out.auc == pytest.approx(st.mannwhitneyu(yes, no).statistic / (len(yes) * len(no)), **CLOSE)
    assert out.auc == pytest.approx(np.trapezoid(out.tpr, out.fpr), **CLOSE)
    assert out.error == 0
    A, P, M = out.auc, len(yes), len(no)
    q1, q2 = A / (2 - A), 2 * A * A / (1 + A)  # Hanley and McNeil 1982
    se = np.sqrt((A * (1 - A) + (P - 1) * (q1 - A * A) + (M - 1) * (q2 - A * A)) / (P * M))
    assert out.se == pytest.approx(se, **CLOSE)
    for c, fpr, tpr in zip(out.thresholds, out.fpr, out.tpr, strict=True):
        assert (fpr, tpr) == pytest.approx(((no > c).mean(), (yes > c).mean()), **CLOSE)


@pytest.mark.parametrize("grid", [[50], [20, 60, 100, 140], 12])
def test_a_grid_moves_the_area_by_no_more_than_it_says(rows: pd.DataFrame, grid: Any) -> None:
    exact = roc("score", rows, outcome="ill", schema=SCHEMA).auc
    out = roc("score", rows, outcome="ill", grid=grid, schema=SCHEMA)
    assert 0 < abs(out.auc - exact) <= out.error


# -- noise ------------------------------------------------------------------------------------------------------------


def test_errors_count_the_noise() -> None:
    """Over 60 seeded runs, the difference misses the exact one by its stated deviation: no more, and no less."""
    n = 400
    i = np.arange(n)
    data = {"y": (i * i * 7) % 97, "g": np.where(i % 2, "b", "a")}
    schema = Schema({"y": Integers(0, 99), "g": Categories(["a", "b"])})
    exact = ttest("y", data, by="g", schema=schema)
    far = []
    for seed in range(60):
        noisy = ttest("y", data, by="g", schema=schema, privacy=mu.Central(epsilon=1.0), rng=Random.seeded(seed))
        spread = np.sqrt(sum(g.noise for g in noisy.groups))
        far.append((noisy.difference - exact.difference) / spread)
        assert noisy.df is None
        assert noisy.se is None or noisy.se > spread
    assert np.abs(far).max() < 4.5
    assert 0.6 < np.std(far) < 1.5


def test_noise_takes_tests_away_and_says_why(rows: pd.DataFrame) -> None:
    noise: dict[str, Any] = {"schema": SCHEMA, "privacy": mu.Central(epsilon=3.0), "rng": Random.seeded(5)}
    for out in (
        anova("age", rows, by="site", **noise),
        contingency("smoker", "ill", rows, **noise),
        mantel_haenszel("smoker", "sex", rows, strata="ill", **noise),
        logrank("stay", rows, event="ill", by="sex", **noise),
    ):
        assert out.pvalue is None
        assert out.reason
        assert any(out.reason[:20].lower() in note.lower() for note in out.notes)


def test_noisy_counts_are_floats_and_those_that_were_released(rows: pd.DataFrame) -> None:
    noisy = contingency("smoker", "ill", rows, schema=SCHEMA, privacy=mu.Central(epsilon=3.0), rng=Random.seeded(5))

    assert noisy.table.dtype.kind == "f"
    assert noisy.table.tolist() == [[float(v) for v in line] for line in noisy.counts]


def test_the_band_of_a_noisy_distribution_is_wider(rows: pd.DataFrame) -> None:
    exact = ecdf("stay", rows, schema=SCHEMA)
    noisy = ecdf("stay", rows, schema=SCHEMA, privacy=mu.Central(epsilon=1.0), rng=Random.seeded(2))
    assert (noisy.distribution.reach(0.05) > exact.distribution.reach(0.05)).all()
    low, high = noisy.band()
    assert ((low <= exact.shares + 1e-12) & (exact.shares <= high + 1e-12)).all()


def test_long_numbers_can_be_described_with_noise(rows: pd.DataFrame) -> None:
    """Fourth powers of such numbers fit into no word: columns are asked one by one, on a grid of 14 bits."""
    exact = describe(rows, ["pay", "age"], schema=SCHEMA)
    noisy = describe(rows, ["pay", "age"], schema=SCHEMA, privacy=mu.Central(epsilon=1e6), rng=Random.seeded(1))
    assert noisy.how.rounds == 2
    for name in ("pay", "age"):
        assert noisy.mean[name] == pytest.approx(exact.mean[name], rel=1e-4)
        assert noisy.variance[name] == pytest.approx(exact.variance[name], rel=1e-3)
        assert noisy.skewness[name] == pytest.approx(exact.skewness[name], abs=1e-3)
        assert noisy.kurtosis[name] == pytest.approx(exact.kurtosis[name], abs=1e-3)


def test_columns_one_by_one_give_the_same_figures(rows: pd.DataFrame) -> None:
    model = Describe(SCHEMA, ("pay", "age"))
    assert ask(model, rows).figures == ask(replace(model, apart=True), rows).figures


@pytest.mark.parametrize(
    "draw",
    [
        lambda rows: correlation(rows, ["pay", "age"], schema=SCHEMA),
        lambda rows: anova("pay", rows, by="site", schema=SCHEMA),
        lambda rows: contingency("smoker", "site", rows, schema=SCHEMA),
        lambda rows: ecdf("age", rows, schema=SCHEMA),
        lambda rows: ecdf("age", rows, grid=10, schema=SCHEMA),
        lambda rows: histogram("age", rows, edges=[18, 40, 50, 99], schema=SCHEMA),
        lambda rows: kaplan_meier("stay", rows, event="ill", by="sex", schema=SCHEMA),
        lambda rows: pca(rows, ["pay", "age", "stay"], scaled=True, schema=SCHEMA),
        lambda rows: roc("score", rows, outcome="ill", schema=SCHEMA),
    ],
)
def test_pictures_are_drawn_to_files(rows: pd.DataFrame, draw: Any, tmp_path: Path) -> None:
    draw(rows).plot(tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size > 5000


def test_noise_in_moments_is_as_large_as_it_says() -> None:
    """60 seeded runs: what a figure misses the exact one by, over its stated deviation, has a deviation near one."""
    i = np.arange(2000)
    data = {"x": (i * i * 7 + i) % 101, "y": ((i * i * 7 + i) % 101 + (i * 13) % 50) % 120}
    schema = Schema({"x": Integers(0, 100), "y": Integers(0, 150)})
    exact, straight = describe(data, schema=schema), correlation(data, schema=schema).correlation[0, 1]
    far = []
    for seed in range(60):
        noise: dict[str, Any] = {"schema": schema, "privacy": mu.Central(epsilon=2.0), "rng": Random.seeded(seed)}
        some, cor = describe(data, **noise)["x"], correlation(data, **noise)
        far.append(
            [
                float(some.mean - exact["x"].mean) / some.mean_noise,
                float(some.variance - exact["x"].variance) / some.variance_noise,
                (cor.correlation[0, 1] - straight) / cor.scatter.correlation_noise[0, 1],
            ]
        )
    spread = np.std(far, axis=0)
    assert ((spread > 0.65) & (spread < 1.45)).all()


def test_even_cells_lie_on_short_decimals() -> None:
    schema = Schema({"age": Integers(18, 99), "x": Interval(0.0, 1e-9, cells=64)})
    assert histogram("age", {"age": [18, 50]}, edges=4, schema=schema).edges.tolist() == [18, 38, 58, 78, 99]
    assert histogram("age", {"age": [18, 50]}, edges=500, schema=schema).by_value
    assert len(histogram("x", {"x": [0, 5e-10]}, edges=3, schema=schema).counts) == 3


@pytest.mark.parametrize(
    "counts",
    [
        [[100001, 99999], [100000, 100000]],
        [[10**9 + 1, 10**9], [10**9, 10**9]],
        [[3, 0], [1, 5]],
        [[700, 4, 90], [650, 5, 100]],
    ],
)
def test_g_keeps_its_digits_where_columns_are_nearly_independent(counts: list[list[int]]) -> None:
    """sum O ln(O / E) is a small difference of large numbers there; in decimals of 60 digits it is not rounded."""
    table = ContingencyResult(
        first="a",
        second="b",
        rows=("x", "y"),
        columns=tuple("uvw"[: len(counts[0])]),
        counts=tuple(tuple(map(Fraction, line)) for line in counts),
        yates=False,
    )
    with localcontext(prec=60):
        n, across = Decimal(sum(map(sum, counts))), [sum(line) for line in zip(*counts, strict=True)]
        cells = [(Decimal(o), sum(line) * c / n) for line in counts for o, c in zip(line, across, strict=True)]
        wanted = float(2 * sum(o * (o / e).ln() for o, e in cells if o))

    assert table.g == pytest.approx(wanted, rel=1e-14, abs=0)


def test_the_corrected_test_of_cochran_does_not_fall_below_zero() -> None:
    """Within a half of what is expected nothing is left: 0, where statsmodels squares what lies below it."""
    rows = {"e": list("nnnnnyyyy"), "o": list("nnnyynnyy"), "s": ["k"] * 9}
    schema = Schema({"e": Categories(["n", "y"]), "o": Categories(["n", "y"]), "s": Categories(["k", "l"])})
    out = mantel_haenszel("e", "o", rows, strata="s", schema=schema)

    assert out.statistic == 0 and out.pvalue == 1
    assert out.uncorrected == pytest.approx(0.08, rel=1e-12)
