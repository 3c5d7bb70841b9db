"""Regressions from sums give the figures of statsmodels on the pooled rows, in the clear and between five parties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction as F
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.sandbox.regression.gmm import IV2SLS
from tests.econometrics import nist

import murmure as mu
from murmure.core.errors import InvalidParameter
from murmure.econometrics.algebra.matrices import inverse, matmul, transpose
from murmure.econometrics.design.inferred_schema import infer_schema
from murmure.econometrics.errors import Collinear, FitFailed, TooFewObservations
from murmure.econometrics.fit import ask
from murmure.econometrics.models.did import EXAMPLES as DID_EXAMPLES
from murmure.econometrics.models.did import did
from murmure.econometrics.models.fixed_effects import fixed_effects
from murmure.econometrics.models.iv import EXAMPLES as IV_EXAMPLES
from murmure.econometrics.models.iv import IV, iv
from murmure.econometrics.models.ols import EXAMPLES as OLS_EXAMPLES
from murmure.econometrics.models.ols import ols, wls
from murmure.econometrics.models.ridge import EXAMPLES as RIDGE_EXAMPLES
from murmure.econometrics.models.ridge import ridge
from murmure.econometrics.results.noise_aware_errors import noise_in_equations, noisy_regression
from murmure.econometrics.steps.robust_errors import _back_to_columns, _whitening
from murmure.statistics.estimates.cross_products_estimate import CrossProductsEstimate

LONGLEY = sm.datasets.longley.load_pandas().data
FORMULA = "TOTEMP ~ GNPDEFL + GNP + UNEMP + ARMED + POP + YEAR"
GRUNFELD = sm.datasets.grunfeld.load_pandas().data
FIGURES = (
    "params",
    "bse",
    "tvalues",
    "pvalues",
    "rsquared",
    "rsquared_adj",
    "fvalue",
    "f_pvalue",
    "df_resid",
    "df_model",
)


def parties(frame: pd.DataFrame, number: int = 5) -> list[pd.DataFrame]:
    return [frame.iloc[k::number].reset_index(drop=True) for k in range(number)]


def both(call: Any, frame: pd.DataFrame, *args: Any, **how: Any) -> list[Any]:
    """In the clear, and by masked sums between five parties."""
    schema = infer_schema(frame, list(frame.columns))
    return [
        call(*args, frame, **how),
        call(*args, parties(frame), schema=schema, privacy=mu.Secure(rows_are_public=True), **how),
    ]


def equal(ours: Any, theirs: Any, names: Sequence[str] = FIGURES, rtol: float = 1e-8) -> None:
    for name in names:
        expected = getattr(theirs, name)
        if isinstance(expected, pd.Series):  # patsy puts labels before numbers
            expected = expected.rename({"const": "Intercept"})[list(ours.names)]
        found = np.asarray(getattr(ours, name), float)
        np.testing.assert_allclose(found, np.asarray(expected, float), rtol=rtol, err_msg=name)


def test_longley_is_that_of_statsmodels_and_of_nist() -> None:
    """NIST certifies 15 digits; QR in floats has about 10 of them, so that statsmodels agrees to 1e-8."""
    theirs = sm.OLS.from_formula(FORMULA, LONGLEY).fit()
    for ours in both(ols, LONGLEY, FORMULA):
        equal(ours, theirs, (*FIGURES, "llf", "aic", "bic", "ssr", "centered_tss"))
        equal(ours, theirs, ("condition_number",), rtol=1e-6)
        np.testing.assert_allclose(ours.conf_int(), theirs.conf_int(), rtol=1e-8)
        assert ours.params[0] == pytest.approx(-3482258.63459582, rel=1e-14)
        assert ours.bse[0] == pytest.approx(890420.383607373, rel=1e-14)


def exact_errors(kind: str) -> list[float]:
    """HC0 to HC3 of Longley, in fractions throughout."""
    columns = ["GNPDEFL", "GNP", "UNEMP", "ARMED", "POP", "YEAR"]
    Z = [[F(1), *(F(str(row[c])) for c in columns)] for row in LONGLEY.to_dict("records")]
    return robust_in_fractions(Z, [F(str(v)) for v in LONGLEY["TOTEMP"]], kind)


def robust_in_fractions(Z: list[list[F]], y: list[F], kind: str) -> list[float]:
    """The equations are solved in fractions, and rows are added up in decimals of 150 digits."""
    n, p = len(Z), len(Z[0])
    back = inverse(matmul(transpose(Z), Z))
    beta = matmul(back, matmul(transpose(Z), [[v] for v in y]))
    with localcontext(prec=150):
        A, b, X, Y = (
            np.array([[Decimal(v.numerator) / v.denominator for v in row] for row in held], object)
            for held in (back, beta, Z, [[v] for v in y])
        )
        e, left = (Y - X @ b)[:, 0], 1 - ((X @ A) * X).sum(axis=1)
        weight = e * e * {"HC0": 1, "HC1": Decimal(n) / (n - p), "HC2": 1 / left, "HC3": 1 / left**2}[kind]
        covariance = A @ (X.T @ (weight[:, None] * X)) @ A
        return [float(covariance[j, j].sqrt()) for j in range(p)]


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3"])
def test_robust_errors_of_longley_are_those_of_statsmodels(kind: str) -> None:
    theirs = sm.OLS.from_formula(FORMULA, LONGLEY).fit(cov_type=kind)
    for ours in both(ols, LONGLEY, FORMULA, errors=kind):
        equal(ours, theirs, ("params", "bse", "tvalues", "rsquared"), rtol=1e-8)
        # their t is off by 1e-9, its tail by as much times t^2; their F inverts this covariance in floats, and is
        # 1.1e-8 off with the NumPy of Python 3.13 (our errors are compared with fractions below)
        equal(ours, theirs, ("pvalues", "fvalue"), rtol=1e-7)
        np.testing.assert_allclose(ours.bse, exact_errors(kind), rtol=2e-11)
        assert ours.cov_type == kind and not ours.use_t


def test_robust_errors_do_not_depend_on_the_unit_of_the_outcome() -> None:
    """Sums are added up on a fixed grid; residuals of 1e-6 must keep their digits on it."""
    frame = pd.DataFrame({"x": [float(i) for i in range(40)], "y": [((7 * i * i) % 19) * 1e-9 for i in range(40)]})
    theirs = sm.OLS(frame["y"] * 1e9, sm.add_constant(frame["x"])).fit(cov_type="HC3")

    np.testing.assert_allclose(ols("y ~ x", frame, errors="HC3").bse, theirs.bse * 1e-9, rtol=1e-9)


def test_a_row_with_a_column_of_its_own_has_no_hc3() -> None:
    frame = pd.DataFrame({"x": list(range(12)), "d": [0] * 11 + [1], "y": [(5 * i * i) % 7 for i in range(12)]})
    ours = ols("y ~ x + d", frame, errors="HC3")

    assert ours.bse is None and "1 row has a column that nobody else has" in str(ours.reason)
    assert ols("y ~ x + d", frame, errors="HC1").bse is not None


def test_errors_by_party_are_clusters_of_statsmodels() -> None:
    theirs = sm.OLS.from_formula("invest ~ value + capital", GRUNFELD).fit(
        cov_type="cluster", cov_kwds={"groups": GRUNFELD["firm"].astype("category").cat.codes}
    )
    frame = GRUNFELD[["invest", "value", "capital"]]
    firms = [frame[GRUNFELD["firm"] == name].reset_index(drop=True) for name in GRUNFELD["firm"].unique()]
    schema = infer_schema(frame, list(frame.columns))
    for how in ({}, {"schema": schema, "privacy": mu.Secure(rows_are_public=True)}):
        ours = ols("invest ~ value + capital", firms, errors="cluster", **how)
        equal(ours, theirs, ("params", "bse", "tvalues", "pvalues", "fvalue", "f_pvalue"))
    few = ols("invest ~ value + capital", [frame.iloc[:100], frame.iloc[100:]], errors="cluster")
    assert few.bse is not None and few.fvalue is None  # two parties say one thing, not two
    with pytest.raises(TooFewObservations, match="two parties"):
        ols("invest ~ value + capital", frame, errors="cluster")


def test_fixed_effects_by_party_are_indicators_of_firms() -> None:
    theirs = sm.OLS.from_formula("invest ~ value + capital + C(firm)", GRUNFELD).fit()
    frame = GRUNFELD[["invest", "value", "capital"]]
    firms = [frame[GRUNFELD["firm"] == name].reset_index(drop=True) for name in GRUNFELD["firm"].unique()]
    schema = infer_schema(frame, list(frame.columns))
    for how in ({}, {"schema": schema, "privacy": mu.Secure(rows_are_public=True)}):
        ours = fixed_effects("invest ~ value + capital", firms, **how)
        for name in ("params", "bse", "tvalues", "pvalues"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name)[["value", "capital"]], rtol=1e-8)
        equal(ours, theirs, ("df_resid", "ssr", "scale", "llf", "aic", "bic"))
        within = theirs.compare_f_test(sm.OLS.from_formula("invest ~ C(firm)", GRUNFELD).fit())
        np.testing.assert_allclose([ours.fvalue, ours.f_pvalue], within[:2], rtol=1e-8)
        level = GRUNFELD.groupby("firm")["invest"].transform("mean")
        tss, free = ((GRUNFELD["invest"] - level) ** 2).sum(), theirs.df_resid + 2
        expected = 1 - theirs.mse_resid / (tss / free)
        np.testing.assert_allclose([ours.rsquared, ours.rsquared_adj], [1 - theirs.ssr / tss, expected], rtol=1e-8)


def test_a_column_that_does_not_vary_within_parties_is_named() -> None:
    frames = [pd.DataFrame({"x": [k] * 6, "z": list(range(6)), "y": [k + i * i for i in range(6)]}) for k in range(4)]

    with pytest.raises(Collinear, match="'x' is the same in all rows of each party"):
        fixed_effects("y ~ x + z", frames)
    with pytest.raises(TooFewObservations, match="no degree of freedom"):
        fixed_effects("y ~ z", [frame.iloc[:1] for frame in frames])


def weighted() -> pd.DataFrame:
    rows = range(60)
    return pd.DataFrame(
        {
            "x": [(i * 17) % 23 / 4 for i in rows],
            "g": ["abc"[i % 3] for i in rows],
            "w": [1 + (i * i) % 5 for i in rows],
            "y": [(i * i * 7) % 31 - i / 2 for i in rows],
        }
    )


def test_weighted_least_squares_are_those_of_statsmodels() -> None:
    frame = weighted()
    theirs = sm.WLS.from_formula("y ~ x + g", frame, weights=frame["w"]).fit()
    schema = infer_schema(frame, list(frame.columns))
    for ours in (
        wls("y ~ x + g", frame, weights="w"),
        wls("y ~ x + g", parties(frame), weights="w", schema=schema, privacy=mu.Secure(rows_are_public=True)),
    ):
        equal(ours, theirs, (*FIGURES, "ssr", "centered_tss", "scale", "llf", "aic", "bic"))


def instrumented() -> pd.DataFrame:
    """By integer formulas: d is moved by z1, z2 and by the same u that moves y."""
    n = range(80)
    u = [(i * i * 13) % 17 - 8 for i in n]
    z1, z2 = [(i * 29) % 31 for i in n], [(i * i + 3 * i) % 19 for i in n]
    x = [(i * 11) % 13 / 2 for i in n]
    d = [2 * a + b + 3 * c for a, b, c in zip(z1, z2, u, strict=True)]
    d2 = [a - 2 * b + 2 * c + (i * 7) % 5 for i, (a, b, c) in enumerate(zip(z1, z2, u, strict=True))]
    y = [1.5 * a + 0.25 * b + 4 * c + (i * 5) % 7 for i, (a, b, c) in enumerate(zip(d, x, u, strict=True))]
    z3 = [(i * i * 5 + i) % 23 for i in n]
    return pd.DataFrame({"y": y, "x": x, "d": d, "d2": d2, "z1": z1, "z2": z2, "z3": z3})


@pytest.mark.parametrize(
    ("right", "by"),
    [(["x", "d"], ["x", "z1", "z2"]), (["x", "d"], ["x", "z1"]), (["x", "d", "d2"], ["x", "z1", "z2", "z3"])],
)
def test_instrumental_variables_are_those_of_statsmodels(right: list[str], by: list[str]) -> None:
    frame = instrumented()
    exog, instruments = sm.add_constant(frame[right]), sm.add_constant(frame[by])
    theirs = IV2SLS(frame["y"], exog, instruments).fit()
    schema = infer_schema(frame, list(frame.columns))
    formula, z = f"y ~ {' + '.join(right)}", " + ".join(by)
    for ours in (
        iv(formula, frame, z),
        iv(formula, parties(frame), z, schema=schema, privacy=mu.Secure(rows_are_public=True)),
    ):
        equal(ours, theirs, ("params", "bse", "tvalues", "pvalues", "rsquared", "rsquared_adj", "fvalue", "f_pvalue"))
        excluded = [name for name in by if name not in right]
        table = next(value for name, value in ours.extras.items() if name.startswith("First stage"))
        for name in right:
            if name in by:
                continue
            full = sm.OLS(frame[name], instruments).fit()
            short = sm.OLS(frame[name], sm.add_constant(frame[[c for c in by if c not in excluded]])).fit()
            F_, p, _ = full.compare_f_test(short)
            np.testing.assert_allclose([table[name]["F"], table[name]["p-value"]], [F_, p], rtol=1e-8)
        over = len(by) - len(right)
        if over:
            e = frame["y"] - exog @ theirs.params.to_numpy()
            sargan = len(frame) * sm.OLS(e, instruments).fit().rsquared
            np.testing.assert_allclose(ours.extras[f"Sargan chi2({over})"], sargan, rtol=1e-7)
        else:
            assert not any("Sargan" in name for name in ours.extras)


def test_too_few_or_useless_instruments_are_named() -> None:
    frame = instrumented()

    with pytest.raises(InvalidParameter, match=r"2 endogenous columns \(d, d2\) and 1 instruments"):
        iv("y ~ x + d + d2", frame, "x + z1")
    with pytest.raises(InvalidParameter, match="ordinary least squares"):
        iv("y ~ x", frame, "x + z1")
    frame["same"] = frame["d"] * 2 + 1
    with pytest.raises(Collinear, match="'same' is a combination of others"):
        iv("y ~ d + same", frame, "z1 + z2")
    still = pd.DataFrame({"y": [1, 2, 4, 5] * 5, "d": [0, 0, 1, 1] * 5, "z": [0, 1, 0, 1] * 5})
    with pytest.raises(Collinear, match="IV is not identified: the instruments do not separate 'd' from the others"):
        iv("y ~ d", still, "z")


def treated() -> pd.DataFrame:
    n = range(90)
    t, p = [int(i % 5 < 2) for i in n], [i // 3 % 2 for i in n]
    y = [10 + 4 * a + 3 * b + 2.5 * a * b + (i * i * 7) % 11 / 4 for i, (a, b) in enumerate(zip(t, p, strict=True))]
    return pd.DataFrame({"y": y, "t": t, "p": p, "age": [20 + (i * 13) % 40 for i in n]})


def test_difference_in_differences_is_a_difference_of_differences() -> None:
    frame = treated()
    means = frame.groupby(["t", "p"])["y"].mean()
    for ours in both(did_of, frame):
        assert ours.effect == "t:p"
        expected = (means[1, 1] - means[1, 0]) - (means[0, 1] - means[0, 0])
        np.testing.assert_allclose(ours[ours.effect], expected, rtol=1e-12)
        assert "parallel trends" in ours.summary()
    theirs = sm.OLS.from_formula("y ~ t * p + age", frame).fit(cov_type="HC1")
    equal(did("y", frame, treated="t", post="p", covariates="age", errors="HC1"), theirs, ("params", "bse"))
    with pytest.raises(InvalidParameter, match="'age' must be 0 or 1"):
        did("y", frame, treated="age", post="p")


def did_of(frame: Any, **how: Any) -> Any:
    return did("y", frame, treated="t", post="p", **how)


def test_labels_say_who_is_treated() -> None:
    frame = treated()
    frame["t"] = frame["t"].map({0: "no", 1: "yes"})
    ours = did("y", frame, treated="t", post="p")

    assert ours.effect == "t[T.yes]:p"
    np.testing.assert_allclose(ours[ours.effect], did("y", treated(), treated="t", post="p")["t:p"], rtol=1e-12)


def test_every_ridge_comes_from_one_round() -> None:
    from sklearn.linear_model import Ridge

    frame = weighted()
    schema = infer_schema(frame, list(frame.columns))
    Z = np.column_stack([frame["x"], frame["w"]])
    for path in (
        ridge("y ~ x + w", frame, lambdas=("0", 0.5, 20)),
        ridge(
            "y ~ x + w", parties(frame), lambdas=("0", 0.5, 20), schema=schema, privacy=mu.Secure(rows_are_public=True)
        ),
    ):
        assert path.how.rounds == 1
        for held in ("0", "1/2", 20, "12.75"):  # the last was not asked for
            theirs = Ridge(alpha=float(F(str(held)))).fit(Z, frame["y"])
            fit = path.at(held)
            np.testing.assert_allclose(fit.params, [theirs.intercept_, *theirs.coef_], rtol=1e-10)
            left = frame["y"] - theirs.predict(Z)
            np.testing.assert_allclose(float(fit.rss), left @ left, rtol=1e-10)
            centred = Z - Z.mean(axis=0)
            hat = centred @ np.linalg.inv(centred.T @ centred + float(F(str(held))) * np.eye(2)) @ centred.T
            df = 1 + np.trace(hat)
            np.testing.assert_allclose(float(fit.df), df, rtol=1e-10)
            gcv = (left @ left / 60) / (1 - df / 60) ** 2
            np.testing.assert_allclose(float(fit.gcv), gcv, rtol=1e-10)
        assert path.best.gcv == min(fit.gcv for fit in path.fits)
        np.testing.assert_allclose(path.at(0).params, ols("y ~ x + w", frame).params, rtol=1e-12)
        assert path.bse is None and "ridge is biased" in path.summary()
    both_held = ridge("y ~ x", frame, lambdas=[3], penalise_intercept=True).at(3)
    Z = np.column_stack([np.ones(60), frame["x"]])
    np.testing.assert_allclose(both_held.params, np.linalg.solve(Z.T @ Z + 3 * np.eye(2), Z.T @ frame["y"]), rtol=1e-10)


def test_a_ridge_solves_what_least_squares_cannot() -> None:
    frame = pd.DataFrame({"x": list(range(9)), "z": [2 * i for i in range(9)], "y": [i * i for i in range(9)]})

    with pytest.raises(Collinear, match="'z' is a combination of others"):
        ridge("y ~ x + z", frame, lambdas=[0, 1])
    assert np.isfinite(ridge("y ~ x + z", frame, lambdas=[1]).params).all()
    with pytest.raises(InvalidParameter, match="not negative"):
        ridge("y ~ x", frame, lambdas=[-1])


def test_predictions_are_those_of_statsmodels(tmp_path: Any) -> None:
    frame = weighted()
    theirs = sm.OLS.from_formula("y ~ x * g + I(x ** 2)", frame).fit()
    new = frame[["x", "g"]].iloc[::7]

    np.testing.assert_allclose(ols("y ~ x * g + I(x ** 2)", frame).predict(new), theirs.predict(new), rtol=1e-8)
    path = ridge("y ~ x * g + I(x ** 2)", frame, lambdas=[0, 1])
    np.testing.assert_allclose(path.predict(new, 0), theirs.predict(new), rtol=1e-8)
    path.plot(tmp_path / "p.png")
    assert (tmp_path / "p.png").stat().st_size > 5000


@pytest.mark.parametrize("kind", ["HC0", "HC3", "cluster"])
def test_robust_errors_do_not_depend_on_how_rows_are_cut(kind: str) -> None:
    """To the last bit: what a row adds is a function of that row and of public numbers."""
    frame = weighted()
    halves = [frame.iloc[:31], frame.iloc[31:]]
    mixed = [half.sample(frac=1, random_state=3) for half in halves]
    schema = infer_schema(frame, list(frame.columns))
    first, second = (ols("y ~ x + g", held, errors=kind, schema=schema) for held in (halves, mixed))

    assert first.covariance == second.covariance
    if kind != "cluster":
        assert ols("y ~ x + g", frame, errors=kind, schema=schema).covariance == first.covariance


# -- noise ------------------------------------------------------------------------------------------------------------


def sums_of(columns: list[Any], factors: tuple[str, ...], variance: float, draw: Any) -> CrossProductsEstimate:
    """All products of these columns, each distinct sum with normal noise of this variance."""
    Z = np.column_stack(columns)
    side = len(factors)
    figure = [[0] * side for _ in range(side)]
    for k, (i, j) in enumerate(zip(*np.triu_indices(side), strict=True)):
        figure[i][j] = figure[j][i] = k
    noise = draw.normal(size=side * (side + 1) // 2) * np.sqrt(variance)
    M = Z.T @ Z
    matrix = tuple(tuple(F(float(M[i, j] + noise[figure[i][j]])) for j in range(side)) for i in range(side))
    return CrossProductsEstimate(
        factors=factors,
        n=None,
        matrix=matrix,
        noise=tuple((variance,) * side for _ in range(side)),
        figure=tuple(map(tuple, figure)),
        bits=53,
        grid=(),
        summed=None,  # type: ignore[arg-type]
    )


def test_intervals_cover_under_sampling_and_noise_together() -> None:
    """400 draws of rows and noise: the share of 95 % intervals that cover lies in [0.92, 0.975], but for 1 in 1000.

    The noise is what makes the errors here: without it they would be a third as wide, and cover half of the time.
    """
    draw = np.random.default_rng(7)
    model = IV_EXAMPLES[0].model
    design = replace(model.design, names=("Intercept", "x"), terms=("1", "x"))
    n, hits, wide = 400, [], []
    for _ in range(400):
        x, e = draw.normal(size=n), draw.normal(size=n)
        crossed = sums_of([np.ones(n), x, 2 + 0.5 * x + e], ("1", "x", "y"), 400.0, draw)
        found = noisy_regression(crossed, design, "OLS")
        low, high = found.conf_int().T
        hits.append((low < (2, 0.5)) & (high > (2, 0.5)))
        wide.append(found.bse * np.sqrt(n))
    share = np.mean(hits, axis=0)

    assert ((share > 0.92) & (share < 0.975)).all(), share
    assert np.median(wide) > 1.5
    assert not found.use_t and found.n is None and found.cov_type == "noise-aware"


def test_intervals_of_instrumental_variables_cover_under_noise() -> None:
    """400 draws, two instruments for one endogenous column; as above."""
    draw = np.random.default_rng(8)
    model = IV_EXAMPLES[0].model
    only = replace(model.design, names=("Intercept", "d"), terms=("1", "d"))
    by = replace(model.instruments, names=("Intercept", "z", "v"), terms=("1", "z", "v"))
    asked = IV(only, by)
    n, hits = 600, []
    for _ in range(400):
        z, v, u = draw.normal(size=(3, n))
        d = z + v + u
        y = 1 + 0.5 * d + u + draw.normal(size=n)
        factors = ("1", "d", "z", "v", "y")
        found = asked._result(sums_of([np.ones(n), d, z, v, y], factors, 400.0, draw))
        low, high = found.conf_int().T
        hits.append((low < (1, 0.5)) & (high > (1, 0.5)))
    share = np.mean(hits, axis=0)

    assert ((share > 0.92) & (share < 0.975)).all(), share


def test_entries_that_are_one_sum_share_one_noise() -> None:
    """x is 0 or 1, so that x * x = 1 * x: by hand, with r = (-a, -b, 1), J_x has -(a + b) on that one sum."""
    rows = np.array([0, 1] * 50, float)
    crossed = sums_of([np.ones(100), rows, 3 + 2 * rows], ("1", "x", "y"), 0.0, np.random.default_rng(1))
    figure = ((0, 1, 2), (1, 1, 3), (2, 3, 4))
    crossed = replace(crossed, figure=figure, noise=((4.0,) * 3,) * 3)
    moves = np.zeros((2, 3, 3))
    moves[0, 0] = moves[1, 1] = (-3, -2, 1)

    expected = 4.0 * np.array([[9 + 4 + 1, 10], [10, 25 + 1]])
    np.testing.assert_allclose(noise_in_equations(crossed, moves), expected)


def test_noise_that_drowns_the_sums_gives_no_errors_and_says_so() -> None:
    draw = np.random.default_rng(2)
    design = replace(IV_EXAMPLES[0].model.design, names=("Intercept", "x"), terms=("1", "x"))
    x = draw.normal(size=50)
    for _ in range(30):
        crossed = sums_of([np.ones(50), x, x + draw.normal(size=50)], ("1", "x", "y"), 1e4, draw)
        found = noisy_regression(crossed, design, "OLS")

        assert found.bse is None and found.pvalues is None and found.reason
        assert found.reason in " ".join(found.summary().split())


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("number", range(4))
def test_a_curator_can_ask_with_any_epsilon(number: int, epsilon: float) -> None:
    """Nonsense totals end in FitFailed or in a reason; with next to no noise the figures are those of exact sums."""
    example = (*OLS_EXAMPLES[:1], *IV_EXAMPLES[:1], *DID_EXAMPLES[:1], *RIDGE_EXAMPLES[:1])[number]
    frame, exact = pd.DataFrame(example.rows), ask(example.model, pd.DataFrame(example.rows))
    for seed in range(4):
        try:
            found = ask(
                example.model, frame, privacy=mu.Central(epsilon=epsilon, delta=1e-6), rng=mu.Random.seeded(seed)
            )
        except FitFailed:
            assert epsilon < 1e6
            continue
        assert found.summary() and found.to_json()
        assert found.bse is not None or "No standard errors" in found.summary()
        if epsilon == 1e6:
            ours, theirs = (held.at(1) if number == 3 else held for held in (found, exact))
            np.testing.assert_allclose(ours.params, theirs.params, rtol=0.05, atol=0.05)
            if number != 3:
                np.testing.assert_allclose(found.bse, exact.bse, rtol=0.3)


def test_squares_of_parties_are_asked_of_enough_of_them() -> None:
    """Of two honest parties u_1 + u_2 and u_1 u_1' + u_2 u_2' tell both: a review read them off a covariance."""
    schema = mu.Schema({"y": mu.Integers(0, 99), "x": mu.Integers(0, 9)})
    parts = [
        {"y": [(7 * i * i + 11 * k) % 90 for i in range(12)], "x": [(i * k + i) % 10 for i in range(12)]}
        for k in range(1, 6)
    ]

    for parties, privacy in (
        (3, mu.Secure(rows_are_public=True)),
        (4, mu.Secure(dropouts=0, rows_are_public=True)),
        (5, mu.Secure(rows_are_public=True)),
    ):
        with pytest.raises(mu.MurmureError, match="at least 4 honest parties"):
            ols("y ~ x", parts[:parties], schema=schema, errors="cluster", privacy=privacy)
    fit = ols("y ~ x", parts, schema=schema, errors="cluster", privacy=mu.Secure(dropouts=0, rows_are_public=True))

    assert any("up to a rotation" in line for line in fit.how.lines())


def test_columns_that_depend_but_for_rounding_are_remarked() -> None:
    """x and 3 x in floats: no exact dependence, and coefficients of 1e16 that tell about the last bit alone."""
    x = [((i * 37) % 101) / 7 for i in range(60)]
    table = {"y": [(i * i * 5) % 23 for i in range(60)], "x": x, "z": [3 * v for v in x]}

    found = ols("y ~ x + z", table)

    assert any("nearly depend" in note for note in found.notes)
    assert not any("nearly depend" in note for note in ols("y ~ x", table).notes)


# -- robust errors of numbers that nearly cancel out ------------------------------------------------------------------


def _offsets(case: str) -> tuple[mu.Schema, list[Decimal], list[Decimal]]:
    n = range(30)
    if case == "both":
        x = [Decimal("1000000000000.4") + Decimal((i * i * 7) % 50) / 10 for i in n]
        y = [3 * v + Decimal((i * 11 + i * i) % 40 - 20) / 10 for i, v in enumerate(x)]
        bounds = {"x": mu.Decimals(10**12, 10**12 + 100, 1), "y": mu.Decimals(3 * 10**12 - 10, 3 * 10**12 + 300, 1)}
    elif case == "outcome":
        x = [Decimal((i * 37) % 100) for i in n]
        y = [Decimal(10**12) + v + Decimal((i * i) % 5 - 2) / 10 for i, v in enumerate(x)]
        bounds = {"x": mu.Decimals(0, 100, 0), "y": mu.Decimals(9 * 10**11, 11 * 10**11, 1)}
    elif case == "milliseconds":
        x = [Decimal(1763000000000 + (i * i * 163) % 5000) for i in n]
        y = [(v - x[0]) / 1000 + Decimal((i * 77) % 400 - 200) / 1000 for i, v in enumerate(x)]
        bounds = {"x": mu.Decimals(0, 2 * 10**12, 0), "y": mu.Decimals(-10, 10, 3)}
    else:  # one row far from all others: 1 - h = 3e-10
        x = [*(Decimal((i * i) % 7) for i in n[1:]), Decimal(10**6)]
        y = [v + Decimal((i * 77) % 40) / 10 for i, v in enumerate(x)]
        bounds = {"x": mu.Decimals(0, 10**6, 0), "y": mu.Decimals(-10, 2 * 10**6, 1)}
    return mu.Schema(bounds), x, y


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3"])
@pytest.mark.parametrize("case", ["both", "outcome", "milliseconds", "far"])
def test_robust_errors_keep_their_digits_far_from_zero(case: str, kind: str) -> None:
    """A review found them off by 3e-4 with an offset of 1e12: residuals were rounded to the digits of the outcome."""
    schema, x, y = _offsets(case)
    wanted = robust_in_fractions([[F(1), F(v)] for v in x], [F(v) for v in y], kind)

    found = ols("y ~ x", {"x": x, "y": y}, schema=schema, errors=kind)
    far = 1e-8 if case == "far" else 1e-14  # the far row's products are 1e6 times as large as what they leave
    np.testing.assert_allclose(found.bse, wanted, rtol=far)


@pytest.mark.parametrize("kind", ["HC0", "HC3"])
def test_robust_errors_of_filip_are_those_of_fractions(kind: str) -> None:
    filip = next(one for one in nist.SETS if one.name == "Filip")
    found = ols(filip.formula, nist.parts_of(filip, 1)[0], schema=nist.schema_of(filip), errors=kind)
    x, y = ([F(str(v)) for v in filip.columns[name]] for name in ("x", "y"))

    np.testing.assert_allclose(found.bse, robust_in_fractions([[v**k for k in range(11)] for v in x], y, kind), 1e-13)


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3"])
def test_a_perfect_fit_has_no_error(kind: str) -> None:
    thirds = {"x": [3 * i + 1 for i in range(20)], "y": [10**12 + i for i in range(20)]}
    wampler = next(one for one in nist.SETS if one.name == "Wampler2")
    found = ols(wampler.formula, nist.parts_of(wampler, 1)[0], schema=nist.schema_of(wampler), errors=kind)

    assert found.ssr == 0 and found.bse.tolist() == [0] * 6
    assert ols("y ~ x", thirds, errors=kind).bse.tolist() == [0, 0]


def test_columns_that_nearly_depend_are_solved_exactly() -> None:
    """Where pairs of floats leave T'AT far from n I, the way back is the exact inverse."""
    Z = [[F(1), F(10**12 + i), F((10**12 + i) ** 2 + i % 3)] for i in range(10)]
    A = matmul(transpose(Z), Z)
    T = _whitening(A, 10)
    rough = tuple(tuple(F(float(v)) for v in row) for row in T)

    assert _back_to_columns(A, rough, 10) == inverse(matmul(transpose(rough), A))
    Z = [row[:2] for row in Z]
    A = matmul(transpose(Z), Z)
    T = _whitening(A, 10)
    near, exact = _back_to_columns(A, T, 10), inverse(matmul(transpose(T), A))
    assert near != exact
    for i in range(2):
        for j in range(2):
            assert abs(near[i][j] - exact[i][j]) <= abs(exact[i][j]) * F(1, 1 << 75)


def test_an_exogenous_interaction_is_itself_however_it_is_written() -> None:
    frame = instrumented()
    same, turned = iv("y ~ x + x:z3 + d", frame, "x + x:z3 + z1"), iv("y ~ x + z3:x + d", frame, "x + x:z3 + z1")
    squared = iv("y ~ x + I(x * x) + d", frame, "x + I(x ** 2) + z1")

    assert turned.extras == same.extras and turned.coefficients == same.coefficients
    (title, table), *_ = squared.extras.items()
    assert list(table) == ["d"] and title.startswith(f"First stage: F(1, {len(frame) - 4})")
    with pytest.raises(InvalidParameter, match="ordinary least squares"):
        iv("y ~ x + z3:x", frame, "x + x:z3 + z1")


def test_without_intercept_notes_say_what_r_squared_is_about() -> None:
    """As in R: all labels of a column hide a constant, and statsmodels takes R-squared about the mean there."""
    table = {"g": list("abc") * 8, "y": [(i * i * 5) % 11 + 3 for i in range(24)]}
    bare, usual = ols("y ~ 0 + C(g)", table), ols("y ~ C(g)", table)
    total = sum(v * v for v in table["y"])

    assert bare.rsquared == pytest.approx(1 - bare.ssr / total, rel=1e-14) and bare.df_model == 3
    assert bare.ssr == usual.ssr and bare.rsquared > usual.rsquared
    assert any("not about the mean" in note for note in bare.notes)
    assert not any("not about the mean" in note for note in usual.notes)
