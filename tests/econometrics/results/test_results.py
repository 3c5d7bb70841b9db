"""Results look and mean what statisticians expect, and say what is unknown."""

from __future__ import annotations

import html.parser
import json
from dataclasses import dataclass, replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from murmure.core.errors import InvalidParameter
from murmure.econometrics.algebra.matrices import inverse, matmul, scaled, transpose
from murmure.econometrics.results.provenance import How
from murmure.econometrics.results.regression import Regression
from murmure.econometrics.results.result import ModelResult
from murmure.econometrics.results.ridge_path import penalty
from murmure.show.document import Curves, Heading, Intervals, Section, Table

X = [[1, i, (7 * i * i) % 11] for i in range(24)]
Y = [3 * i + (5 * i * i) % 13 for i in range(24)]
HOW = How(privacy="by masked sums between 5 parties", rounds=1, sums=10, parties=5, present=5, rows=24, bits=17)


def fitted(intercept: bool = True, **more: Any) -> Regression:
    """Least squares written out here, from what Regression is told."""
    Z = [[F(v) for v in (row if intercept else row[1:])] for row in X]
    y = [F(v) for v in Y]
    A = matmul(transpose(Z), Z)
    beta = tuple(row[0] for row in matmul(inverse(A), matmul(transpose(Z), [[v] for v in y])))
    fit = [sum(a * b for a, b in zip(row, beta, strict=True)) for row in Z]
    rss = sum(((a - b) ** 2 for a, b in zip(y, fit, strict=True)), F(0))
    mean = sum(y) / len(y) if intercept else F(0)
    p = len(beta)
    n = len(y)
    names = ("Intercept", "x1", "a&b_<i>%")[-p:]
    llf = float(-n / 2 * (np.log(2 * np.pi * float(rss) / n) + 1))
    return Regression(
        model="OLS",
        formula="y ~ x1 + x2",
        outcome="y",
        names=names,
        coefficients=beta,
        covariance=scaled(inverse(A), rss / (n - p)),
        n=n,
        df_model=p - intercept,
        df_resid=n - p,
        rss=rss,
        tss=sum(((v - mean) ** 2 for v in y), F(0)),
        scale=rss / (n - p),
        llf=llf,
        has_intercept=intercept,
        how=HOW,
        **more,
    )


@pytest.mark.parametrize("intercept", [True, False])
def test_every_figure_means_what_it_means_in_statsmodels(intercept: bool) -> None:
    ours = fitted(intercept)
    theirs = sm.OLS(np.array(Y, float), np.array(X, float)[:, 1 - intercept :]).fit()
    names = "params bse tvalues pvalues rsquared rsquared_adj fvalue f_pvalue llf aic bic df_model df_resid nobs scale"

    for name in (*names.split(), "mse_resid", "mse_model", "ssr", "ess"):
        np.testing.assert_allclose(
            np.asarray(getattr(ours, name), float), getattr(theirs, name), rtol=1e-10, err_msg=name
        )
    np.testing.assert_allclose(ours.conf_int(0.1), theirs.conf_int(0.1), rtol=1e-10)
    np.testing.assert_allclose(ours.cov_params(), theirs.cov_params(), rtol=1e-10)
    tss = ours.centered_tss if intercept else ours.uncentered_tss
    np.testing.assert_allclose(tss, theirs.centered_tss if intercept else theirs.uncentered_tss, rtol=1e-12)


def test_wald_of_robust_errors_is_that_of_statsmodels() -> None:
    theirs = sm.OLS(np.array(Y, float), np.array(X, float)).fit(cov_type="HC1")
    covariance = tuple(tuple(F(v) for v in row) for row in theirs.cov_params().tolist())
    ours = replace(fitted(), covariance=covariance, cov_type="HC1", use_t=False)

    np.testing.assert_allclose([ours.fvalue, ours.f_pvalue], [theirs.fvalue, theirs.f_pvalue], rtol=1e-9)
    np.testing.assert_allclose(ours.pvalues, theirs.pvalues, rtol=1e-9)
    np.testing.assert_allclose(ours.conf_int(), theirs.conf_int(), rtol=1e-9)


def test_a_likelihood_ratio_is_that_of_statsmodels() -> None:
    y = np.array([(i * i + i // 3) % 2 for i in range(24)], float)
    theirs = sm.Logit(y, np.array(X, float)).fit(disp=0)
    ours = replace(fitted(), llf=theirs.llf, llnull=theirs.llnull, use_t=False, rss=None, tss=None, df_model=2)

    expected = [theirs.prsquared, theirs.llr, theirs.llr_pvalue, theirs.aic, theirs.bic]
    np.testing.assert_allclose([ours.prsquared, ours.llr, ours.llr_pvalue, ours.aic, ours.bic], expected, rtol=1e-10)
    assert (ours.rsquared, ours.fvalue, ours.f_pvalue) == (None, None, None)


def test_what_is_unknown_is_none_and_the_reason_is_told() -> None:
    bare = replace(fitted(), covariance=None, rss=None, tss=None, llf=None, scale=None, reason="the noise is large")

    for name in (
        "bse",
        "tvalues",
        "pvalues",
        "rsquared",
        "rsquared_adj",
        "fvalue",
        "f_pvalue",
        "aic",
        "bic",
        "ssr",
        "llr",
    ):
        assert getattr(bare, name) is None, name
    assert bare.conf_int() is None and bare.cov_params() is None
    assert "No standard errors: the noise is large." in bare.summary()
    assert bare.tidy()[0]["std_error"] is None
    assert json.loads(bare.to_json())["coefficients"][0]["p_value"] is None


@pytest.mark.parametrize(
    "change", [{"rss": None}, {"tss": None}, {"tss": F(0)}, {"df_resid": 0}, {"n": None, "df_resid": 3}], ids=str
)
def test_an_adjusted_share_that_cannot_be_computed_is_none(change: dict[str, Any]) -> None:
    """1 - (n - 1) rss / (df tss): without one of the four, or where nothing varies or is left, there is none."""
    whole = fitted()
    assert whole.rss and whole.tss and whole.n
    assert whole.rsquared_adj == pytest.approx(float(1 - (whole.n - 1) * whole.rss / (whole.n - 3) / whole.tss))

    assert replace(whole, **change).rsquared_adj is None


@pytest.mark.parametrize("wrong", ["much", "", "1/0", None, float("nan"), float("inf"), True, -1, "-0.1", [1]])
def test_a_penalty_that_is_no_number_is_refused_and_never_replaced(wrong: Any) -> None:
    with pytest.raises(InvalidParameter, match="a penalty of ridge must be a number that is not negative, got"):
        penalty(wrong)

    assert [penalty(good) for good in ("0.1", 0.1, "1/3", 10, F(2, 7), 0)] == [
        F(1, 10),
        F(1, 10),
        F(1, 3),
        10,
        F(2, 7),
        0,
    ]


def test_a_summary_is_aligned_and_says_how_it_was_obtained() -> None:
    text = fitted().summary()
    lines = text.splitlines()

    assert all(len(line) <= 78 for line in lines[: lines.index("How it was computed")])
    assert lines[0] == "OLS: y ~ x1 + x2"
    for said in ("R-squared:", "Rows:", "Parties:", "Rounds:", "P>|t|", "AIC:", "masked sums between 5 parties"):
        assert said in text
    table = [line for line in lines if line.startswith(("Intercept", "x1", "a&b"))]
    assert len({len(line) for line in table}) == 1
    assert repr(fitted()) == text


def test_markup_escapes_what_a_name_holds() -> None:
    page, paper = fitted().to_html(), fitted().to_latex()

    html.parser.HTMLParser().feed(page)
    assert "a&amp;b_&lt;i&gt;%" in page and "a&b_<i>" not in page
    assert r"a\&b\_\textless{}i\textgreater{}\%" in paper
    assert paper.count(r"\begin{tabular}") == paper.count(r"\end{tabular}") == 2
    assert fitted()._repr_html_() == page


def test_a_frame_has_the_names_of_broom() -> None:
    frame = fitted().to_frame()

    assert isinstance(frame, pd.DataFrame)
    assert list(frame) == ["term", "estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]
    assert fitted().to_frame(backend="polars").shape == (3, 7)
    np.testing.assert_array_equal(frame["estimate"], fitted().params)


def test_json_holds_the_exact_coefficients() -> None:
    held = json.loads(fitted().to_json())

    assert [F(v) for v in held["exact"].values()] == list(fitted().coefficients)
    assert held["how"]["parties"] == 5
    assert held["facts"]["Rows"] == 24


def test_coefficients_are_found_by_name() -> None:
    assert fitted()["x1"] == fitted().params[1]
    with pytest.raises(InvalidParameter, match="no coefficient 'x9'"):
        fitted()["x9"]
    with pytest.raises(InvalidParameter, match="alpha"):
        fitted().conf_int(1.5)


@pytest.mark.parametrize("change", [{}, {"covariance": None}, {"names": ("Intercept", "a$b$", "c")}])
def test_coefficients_are_drawn(change: dict[str, Any], tmp_path: Any) -> None:
    import matplotlib

    matplotlib.use("Agg")
    target = tmp_path / "p.png"
    ax = replace(fitted(), **change).plot(target)

    assert target.stat().st_size > 5000
    assert len(ax.get_yticklabels()) == 3


@pytest.mark.parametrize(
    ("parties", "present", "absent", "told"),
    [
        (8, 6, "2 have declined", ["Of 8 parties 6 are in the sums: 2 have declined."]),
        (8, 6, None, ["Of 8 parties 6 are in the sums."]),
        (8, 8, None, []),
        (8, None, None, []),
        (None, None, None, []),
        (None, 1, None, []),
    ],
)
def test_parties_that_are_absent_are_told_and_why(parties: Any, present: Any, absent: Any, told: list[str]) -> None:
    how = replace(HOW, parties=parties, present=present, absent=absent)

    assert [str(line) for line in how.computed() if " are in the sums" in line] == told


@pytest.mark.parametrize(("middles", "variances", "own"), [((1, 1000), (1, 1), False), ((0, 0), (1, 10**4), True)])
def test_coefficients_share_an_axis_where_their_intervals_are_about_as_wide(
    middles: Any, variances: Any, own: bool
) -> None:
    """Whatever their sizes are: it is wide intervals that hide narrow ones."""
    two = replace(
        fitted(),
        names=("a", "b"),
        coefficients=tuple(map(F, middles)),
        covariance=((F(variances[0]), F(0)), (F(0), F(variances[1]))),
    )
    (picture,) = two.pictures()

    assert isinstance(picture, Intervals) and ("own standard errors" in picture.title) == own


def test_one_axis_does_not_hide_small_coefficients() -> None:
    import matplotlib.pyplot as plt

    small = replace(
        fitted(),
        coefficients=(F(10**6), F(1), F(1)),
        covariance=tuple(tuple(F(10**8 if i == j == 0 else i == j) for j in range(3)) for i in range(3)),
    )
    ax = small.plot()

    assert "own standard errors" in ax.get_xlabel()
    plt.close("all")


@dataclass(frozen=True, eq=False)
class Two(ModelResult):
    how: How | None = None

    def tables(self) -> list[Table]:
        return [
            Table("one", ("", "n"), (("a", 3), ("b", None))),
            Table("two", ("x", "share"), ((1, 0.25),)),
        ]


def test_any_result_says_tables_only() -> None:
    two = Two(HOW)

    assert repr(two) == two.summary()
    assert two.tidy()[1] == {"table": "one", "term": "b", "n": None}
    assert list(two.to_frame()) == ["table", "term", "n", "x", "share"]
    assert json.loads(two.to_json())["tables"][1]["rows"] == [[1, 0.25]]
    assert "0.25" in two.to_latex() and "0.25" in two.to_html()


def test_a_document_has_the_picture_the_table_and_where_it_came_from() -> None:
    document = fitted().document()

    [picture] = document.of(Intervals)
    assert picture.zero and picture.picture and [row.label for row in picture.rows] == list(fitted().names)
    low, high = np.asarray(fitted().conf_int())[1]
    assert (picture.rows[1].low, picture.rows[1].high) == (low, high)
    assert [str(block.title) for block in document.of(Section)] == ["How it was computed", "What was revealed to whom"]
    assert not document.of(Curves) and len(document.of(Table)) == 1


def test_a_page_says_title_question_author_and_both_languages() -> None:
    heading = Heading("Who stays <longer>?", "By age & ward?", "A. Statistician")
    page = fitted().to_page(heading, "fr")

    assert page.startswith("<!doctype html>") and 'name="generator" content="Murmure"' in page
    assert "Who stays &lt;longer&gt;?" in page and "By age &amp; ward?" in page and "A. Statistician" in page
    assert '<article lang="en">' in page and '<article lang="fr">' in page and "<script" not in page
    assert "How it was computed" in page and "What was revealed to whom" in page
    assert 'class="crowd drawn"' in page  # coefficients with their intervals, and 0
