"""Regressions with a link give statsmodels' figures, on one table and between five parties that see only sums."""

import re
from fractions import Fraction

import numpy as np
import pytest
import statsmodels.api as sm

import murmure as mu
from murmure.core.errors import InvalidParameter, PlanRefused
from murmure.econometrics import gamma, logit, negative_binomial, poisson, probit
from murmure.econometrics.design.inferred_schema import infer_schema
from murmure.econometrics.errors import (
    Collinear,
    EmptyCategory,
    FitFailed,
    NotConverged,
    NoVariation,
    Separated,
    TooFewObservations,
)
from murmure.econometrics.rows.glm_rows import FAMILIES

SPECTOR = "GRADE ~ GPA + TUCE + PSI"
VISITS = "mdvis ~ lncoins + idp + lpi + physlm + disea"


@pytest.fixture(scope="module")
def spector():
    return sm.datasets.spector.load_pandas().data


@pytest.fixture(scope="module")
def visits():
    return sm.datasets.randhie.load_pandas().data.iloc[:2000].reset_index(drop=True)


@pytest.fixture(scope="module")
def costs(visits):
    """Positive numbers with two decimals that follow the columns, by integer formulas."""
    i = np.arange(len(visits))
    mean = np.exp(0.4 + 0.2 * visits["idp"] + 0.02 * visits["disea"])
    return visits.assign(cost=np.round(mean * (0.2 + (i * 37 % 101) / 50) * 40, 2))


def split(table, parties=5):
    return [table.iloc[i::parties] for i in range(parties)]


def regressors(table, formula):
    names = formula.split("~")[1].replace(" ", "").split("+")
    return sm.add_constant(table[names].astype(float))


def agree(ours, theirs, tolerance=1e-8):
    """The same coefficients, errors, tests and measures of fit, to eight digits."""
    for name in ("params", "bse", "tvalues", "pvalues"):
        np.testing.assert_allclose(getattr(ours, name), np.asarray(getattr(theirs, name)), rtol=tolerance, err_msg=name)
    np.testing.assert_allclose(ours.conf_int(), np.asarray(theirs.conf_int()), rtol=tolerance)
    np.testing.assert_allclose(ours.cov_params(), np.asarray(theirs.cov_params()), rtol=tolerance, atol=1e-14)
    assert ours.llf == pytest.approx(theirs.llf, rel=tolerance)
    assert ours.nobs == theirs.nobs


def both(ask, table, *args, **more):
    """In the clear, and between five parties: the very same figures."""
    clear = ask(*args, table, **more)
    schema = infer_schema(table, None)
    secure = ask(*args, split(table), schema=schema, privacy=mu.Secure(rows_are_public=True), **more)
    assert clear.coefficients == secure.coefficients
    assert clear.covariance == secure.covariance
    return clear, secure


# -- equality with statsmodels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ask", "model"), [(logit, sm.Logit), (probit, sm.Probit)])
@pytest.mark.parametrize("errors", ["nonrobust", "HC0"])
def test_yes_or_no(ask, model, errors, spector):
    theirs = model(spector["GRADE"], regressors(spector, SPECTOR)).fit(disp=0, tol=1e-14, cov_type=errors)
    for ours in both(ask, spector, SPECTOR, errors=errors):
        agree(ours, theirs)
        assert ours.llnull == pytest.approx(theirs.llnull, rel=1e-8)
        assert ours.prsquared == pytest.approx(theirs.prsquared, rel=1e-8)
        assert ours.llr == pytest.approx(theirs.llr, rel=1e-8)
        assert ours.llr_pvalue == pytest.approx(theirs.llr_pvalue, rel=1e-7)
        assert ours.aic == pytest.approx(theirs.aic, rel=1e-8)
        assert ours.bic == pytest.approx(theirs.bic, rel=1e-8)
        np.testing.assert_allclose(ours.predict(spector), theirs.predict(), rtol=1e-8)


def test_five_parties_take_few_rounds_and_see_sums_only(spector):
    ours = logit(SPECTOR, split(spector), schema=infer_schema(spector, None), privacy=mu.Secure(rows_are_public=True))

    assert ours.how.parties == 5
    assert ours.how.rounds <= 8
    # 4 + 10 + 4 sums, n, and rows that were cut; the first round has one figure of fit
    assert ours.how.sums == ours.how.rounds * 20 - 3


@pytest.mark.parametrize("errors", ["nonrobust", "HC0"])
def test_poisson(errors, visits):
    theirs = sm.Poisson(visits["mdvis"], regressors(visits, VISITS)).fit(
        disp=0, method="newton", tol=1e-14, cov_type=errors
    )
    for ours in both(poisson, visits, VISITS, errors=errors):
        agree(ours, theirs)
        assert ours.llnull == pytest.approx(theirs.llnull, rel=1e-8)
        assert ours.aic == pytest.approx(theirs.aic, rel=1e-8)
        assert ours.bic == pytest.approx(theirs.bic, rel=1e-8)
        np.testing.assert_allclose(ours.predict(visits.iloc[:20]), theirs.predict()[:20], rtol=1e-8)


def test_poisson_with_an_offset_and_with_dispersion(visits):
    visits = visits.assign(days=1 + np.arange(2000) * 13 % 37)
    offset = np.log(visits["days"])
    X = regressors(visits, "mdvis ~ lncoins + idp")
    theirs = sm.Poisson(visits["mdvis"], X, offset=offset).fit(disp=0, method="newton", tol=1e-14)
    for ours in both(poisson, visits, "mdvis ~ lncoins + idp", offset="log(days)"):
        agree(ours, theirs)
        assert ours.llnull == pytest.approx(theirs.llnull, rel=1e-8)
        np.testing.assert_allclose(ours.predict(visits.iloc[:20]), theirs.predict()[:20], rtol=1e-8)

    family = sm.families.Poisson()
    theirs = sm.GLM(visits["mdvis"], X, family=family).fit(scale="X2", tol=1e-14)
    ours = poisson("mdvis ~ lncoins + idp", visits, dispersion="pearson")

    np.testing.assert_allclose(ours.bse, theirs.bse, rtol=1e-8)
    assert float(ours.scale) == pytest.approx(theirs.scale, rel=1e-8)
    assert ours.extras["deviance"] == pytest.approx(theirs.deviance, rel=1e-8)
    assert ours.extras["Pearson chi-squared"] == pytest.approx(theirs.pearson_chi2, rel=1e-8)


def test_negative_binomial(visits):
    X = regressors(visits, VISITS)
    model = sm.NegativeBinomial(visits["mdvis"], X)
    near = model.fit(disp=0, maxiter=1000)
    theirs = model.fit(start_params=near.params, method="newton", disp=0, tol=1e-14)
    for ours in both(negative_binomial, visits, VISITS):
        assert ours.names[-1] == "alpha"
        agree(ours, theirs)
        assert ours.aic == pytest.approx(theirs.aic, rel=1e-8)
        np.testing.assert_allclose(ours.predict(visits.iloc[:20]), theirs.predict()[:20], rtol=1e-8)


@pytest.mark.parametrize("errors", ["nonrobust", "HC0"])
@pytest.mark.parametrize(("link", "of"), [("log", "Log"), ("inverse", "InversePower")])
@pytest.mark.filterwarnings("ignore:The InversePower link")
def test_gamma(link, of, errors, costs):
    family = sm.families.Gamma(getattr(sm.families.links, of)())
    X = regressors(costs, "cost ~ idp + disea")
    theirs = sm.GLM(costs["cost"], X, family=family).fit(tol=1e-15, maxiter=200, cov_type=errors)
    for ours in both(gamma, costs, "cost ~ idp + disea", link=link, errors=errors):
        agree(ours, theirs)
        assert float(ours.scale) == pytest.approx(theirs.scale, rel=1e-8)
        assert ours.extras["deviance"] == pytest.approx(theirs.deviance, rel=1e-8)
        assert ours.aic == pytest.approx(theirs.aic, rel=1e-8)


def test_hc1_counts_few_rows(spector):
    plain, counted = (logit(SPECTOR, spector, errors=errors) for errors in ("HC0", "HC1"))

    np.testing.assert_allclose(counted.bse, plain.bse * np.sqrt(32 / 28), rtol=1e-12)


@pytest.mark.parametrize(("ask", "model"), [(logit, sm.Logit), (poisson, sm.Poisson)])
def test_parties_are_clusters(ask, model, visits):
    """Rows of one party belong together: u is summed within each before it is squared."""
    table = visits.assign(seen=(visits["mdvis"] > 2).astype(int))
    outcome = "seen" if ask is logit else "mdvis"
    parts = split(table, 7)
    groups = np.arange(2000) % 7
    X = regressors(table, "y ~ idp + physlm")
    theirs = model(table[outcome], X).fit(
        disp=0, method="newton", tol=1e-14, cov_type="cluster", cov_kwds={"groups": groups}
    )
    for privacy in (None, mu.Secure(dropouts=0, rows_are_public=True)):
        ours = ask(
            f"{outcome} ~ idp + physlm", parts, schema=infer_schema(table, None), errors="cluster", privacy=privacy
        )
        agree(ours, theirs)
    with pytest.raises(TooFewObservations, match="two parties"):
        ask(f"{outcome} ~ idp + physlm", table, errors="cluster")


def test_large_counts_do_not_stall_the_search():
    """The log-likelihood of counts near a million is rounded to 1e-9, and the last steps gain less."""
    i = np.arange(233)
    rows = {"x": (i * 37 % 101).tolist(), "z": (i * i % 7).tolist()}
    rows["y"] = (np.exp(0.09 * np.array(rows["x"]) + 4) * (0.05 + (i * 53 % 97) / 40)).astype(int).tolist()
    ours = negative_binomial("y ~ x + z", rows)
    X = sm.add_constant(np.column_stack([rows["x"], rows["z"]]).astype(float))
    model = sm.NegativeBinomial(np.array(rows["y"]), X)
    theirs = model.fit(start_params=ours.params, method="newton", disp=0, tol=1e-14)

    assert max(rows["y"]) > 500_000
    np.testing.assert_allclose(ours.params, theirs.params, rtol=1e-8)
    np.testing.assert_allclose(ours.bse, theirs.bse, rtol=1e-7)


def test_units_of_columns_do_not_matter(visits):
    """A column in billionths, and one in billions: the sums fit, and every digit stays."""
    far = visits.assign(idp=visits["idp"] * 10**9, disea=visits["disea"] / 2**20)
    ours, theirs = poisson("mdvis ~ idp + disea", far), poisson("mdvis ~ idp + disea", visits)

    np.testing.assert_allclose(ours.params * [1, 1e9, 2**-20], theirs.params, rtol=1e-10)
    np.testing.assert_allclose(ours.tvalues, theirs.tvalues, rtol=1e-10)


def test_derivatives_are_those_of_the_likelihood():
    """Central differences of each family's l, and of its u, give its u and w."""
    y = {"logit": [0.0, 1], "probit": [0.0, 1], "gamma": [0.3, 5], "inverse": [0.3, 2]}
    far = 2.0**-12
    for name, family in FAMILIES.items():
        for at in (0.3, 0.9, 2.1):
            outcome = np.array(y.get(name, [0.0, 7.0]))
            for theta in (-9.0, -3.0, 0.4):
                eta = np.full(2, at)
                here = family.at(outcome, eta, theta)
                up, down = (family.at(outcome, eta + k, theta) for k in (far, -far))
                np.testing.assert_allclose((up.llf - down.llf) / 2 / far, here.u, rtol=1e-5, atol=1e-6, err_msg=name)
                np.testing.assert_allclose((down.u - up.u) / 2 / far, here.w, rtol=1e-5, atol=1e-6, err_msg=name)
                if here.further is not None:
                    first, cross, second = here.further
                    up, down = (family.at(outcome, eta, theta + k) for k in (far, -far))
                    np.testing.assert_allclose((up.llf - down.llf) / 2 / far, first, rtol=1e-4, atol=1e-6)
                    np.testing.assert_allclose((down.u - up.u) / 2 / far, cross, rtol=1e-5, atol=1e-6)
                    apart = (down.further[0] - up.further[0]) / 2 / far
                    np.testing.assert_allclose(apart, second, rtol=1e-4, atol=1e-6)


def test_a_constant_alone_and_no_constant(spector):
    alone = logit("GRADE ~ 1", spector)
    share = spector["GRADE"].mean()
    assert alone.params[0] == pytest.approx(np.log(share / (1 - share)), rel=1e-12)
    assert alone.llf == pytest.approx(alone.llnull, rel=1e-12)
    theirs = sm.Logit(spector["GRADE"], spector[["GPA", "PSI"]]).fit(disp=0, tol=1e-14)
    agree(logit("GRADE ~ 0 + GPA + PSI", spector), theirs)


def test_twenty_columns(visits):
    terms = ["lncoins", "lpi", "fmde", "disea", "idp", "physlm", "hlthg", "hlthf", "hlthp"]
    some = ["lncoins", "lpi", "disea", "physlm", "hlthg"]
    pairs = [(a, b) for i, a in enumerate(some) for b in some[i + 1 :]]
    X = np.column_stack([np.ones(2000), *(visits[t] for t in terms), *(visits[a] * visits[b] for a, b in pairs)])
    theirs = sm.GLM(visits["mdvis"], X, family=sm.families.Poisson()).fit(tol=1e-14, maxiter=100)
    ours = poisson("mdvis ~ " + " + ".join([*terms, *(f"{a}:{b}" for a, b in pairs)]), visits)

    agree(ours, theirs)


# -- columns that floats hardly tell apart ----------------------------------------------------------------------------


def stamped(n=120):
    """Seconds since 1970, all within an hour; and an outcome of each kind."""
    i = np.arange(n)
    table = {"late": (i * i * 31 + 7 * i) % 3001, "b": (i * 13 + i * i // 7) % 5 // 3, "c": (i * i * 3 + i) % 7}
    return table | {"g": np.round(0.5 + (i * 37 % 101) / 50, 2), "time": 1_763_000_000 + table["late"]}


# nobody knows beforehand which hour it will be
WIDE = mu.Schema(
    {
        "time": mu.Decimals(0, 4 * 10**9, 0),
        "b": mu.Integers(0, 1),
        "c": mu.Integers(0, 50),
        "g": mu.Decimals("0.01", 1000, 2),
    }
)


@pytest.mark.parametrize("errors", ["nonrobust", "HC0"])
@pytest.mark.parametrize("schema", [None, WIDE])
@pytest.mark.parametrize(
    ("ask", "outcome", "model"),
    [
        (logit, "b", lambda y, X: sm.Logit(y, X)),
        (probit, "b", lambda y, X: sm.Probit(y, X)),
        (poisson, "c", lambda y, X: sm.Poisson(y, X)),
        (gamma, "g", lambda y, X: sm.GLM(y, X, family=sm.families.Gamma(sm.families.links.Log()))),
    ],
)
def test_seconds_within_an_hour_are_no_constant(ask, outcome, model, schema, errors):
    """The same figures as of seconds since the hour began, in the coordinates of the column itself."""
    rows = stamped()
    X = sm.add_constant(rows["late"].astype(float))
    theirs = model(rows[outcome], X)
    theirs = theirs.fit(cov_type=errors, **({"tol": 1e-15} if ask is gamma else {"tol": 1e-14, "disp": 0}))
    ours = ask(f"{outcome} ~ time", rows, schema=schema, errors=errors)

    assert ours.names == ("Intercept", "time")
    assert ours.params[1] == pytest.approx(theirs.params[1], rel=1e-8)
    assert ours.bse[1] == pytest.approx(theirs.bse[1], rel=1e-8)
    assert ours.llf == pytest.approx(theirs.llf, rel=1e-10)
    began = ours.coefficients[0] + 1_763_000_000 * ours.coefficients[1]
    assert float(began) == pytest.approx(theirs.params[0], rel=1e-8)
    shift = Fraction(1_763_000_000)
    (a, b), (_, c) = ours.covariance
    assert float(a + 2 * shift * b + shift**2 * c) == pytest.approx(theirs.bse[0] ** 2, rel=1e-7)
    assert not any("digits" in note for note in ours.notes)


def test_milliseconds_within_a_second_between_parties():
    """What decides how columns are asked for is released, and exact: all parties ask alike."""
    rows = stamped()
    rows["time"] = 1_763_000_000_000 + rows["late"] % 997
    schema = mu.Schema({"time": mu.Decimals(0, 4 * 10**12, 0), "b": mu.Integers(0, 1)})
    parts = [{name: rows[name][i::5] for name in ("time", "b")} for i in range(5)]
    secure = logit("b ~ time", parts, schema=schema, privacy=mu.Secure(rows_are_public=True))
    clear = logit("b ~ time", rows, schema=schema)
    near = logit("b ~ late", rows | {"late": rows["late"] % 997})

    assert secure.coefficients == clear.coefficients
    assert secure.covariance == clear.covariance
    np.testing.assert_allclose(clear.params[1:], near.params[1:], rtol=1e-10)
    np.testing.assert_allclose(clear.bse[1:], near.bse[1:], rtol=1e-10)


def test_small_numbers_within_wide_bounds_keep_their_digits():
    """Bounds of a trillion for numbers below fifty: their squares, over those of the bounds, are below 2^-62."""
    i = np.arange(90)
    rows = {"x": (i * 37 % 47).tolist(), "y": ((i * 13 + i * i // 7) % 5 // 3).tolist()}
    schema = mu.Schema({"x": mu.Decimals(0, 10**12, 2), "y": mu.Integers(0, 1)})
    ours, near = logit("y ~ x", rows, schema=schema), logit("y ~ x", rows)

    np.testing.assert_allclose(ours.params, near.params, rtol=1e-12)
    np.testing.assert_allclose(ours.bse, near.bse, rtol=1e-12)
    with pytest.raises(Collinear, match="0 everywhere"):
        logit("y ~ x", rows | {"x": [0] * 90}, schema=schema)


@pytest.mark.parametrize("errors", ["nonrobust", "HC0"])
@pytest.mark.parametrize("power", [4, 6, 8])
def test_powers_of_a_column_keep_their_digits(power, errors):
    """x to x^8 of ages: the same as of powers of (x - 55) / 40, made orthogonal."""
    i = np.arange(150)
    age, y = 18 + i * i * 7 % 82, (i * 13 + i * i // 7) % 5 // 3
    formula = "y ~ age" + "".join(f" + I(age ** {k})" for k in range(2, power + 1))
    Q, R = np.linalg.qr(np.column_stack([((age - 55) / 40) ** k for k in range(power + 1)]))
    theirs = sm.Logit(y, Q).fit(disp=0, tol=1e-10, cov_type=errors, maxiter=200)
    ours = logit(formula, {"age": age, "y": y}, errors=errors)

    assert ours.llf == pytest.approx(theirs.llf, rel=1e-9)
    # the highest power is the same column but for its unit, once lower ones are taken out
    unit = R[-1, -1] * 40**power
    assert ours.bse[-1] * abs(unit) == pytest.approx(theirs.bse[-1], rel=1e-9)
    assert ours.params[-1] * unit == pytest.approx(theirs.params[-1], rel=1e-9)
    assert not any("digits" in note for note in ours.notes)


def test_a_remark_says_when_few_digits_hold(monkeypatch):
    """Where columns stay as they are, since what is left of them is too long to be said."""
    from murmure.econometrics.steps.coordinates import Coordinates

    i = np.arange(150)
    rows = {"age": 18 + i * i * 7 % 82, "y": (i * 13 + i * i // 7) % 5 // 3}
    formula = "y ~ age + I(age ** 2) + I(age ** 3) + I(age ** 4) + I(age ** 5)"
    good = logit(formula, rows)
    monkeypatch.setattr(Coordinates, "_readable", lambda *_: False)
    ours = logit(formula, rows)
    (said,) = [note for note in ours.notes if "digits" in note]
    held = int(re.search(r"about (\d+) digits", said).group(1))

    assert held < 9
    np.testing.assert_allclose(ours.bse, good.bse, rtol=10.0**-held)


def test_a_column_that_hardly_differs_from_a_logarithm():
    """What is asked for is never a multiple of a logarithm, and the result is that of the columns themselves."""
    i = np.arange(150)
    rows = {"x": 1 + i * i * 7 % 82, "y": (i * 13 + i * i // 7) % 5 // 3}
    rows["z"] = np.round(np.log(rows["x"]) * 1000) + i % 2 / 8
    ours = logit("y ~ log(x) + z", rows | {"z": rows["z"] + 10**6})
    X = np.column_stack([np.ones(150), np.log(rows["x"]), rows["z"] - 1000 * np.log(rows["x"])])
    theirs = sm.Logit(rows["y"], X).fit(disp=0, tol=1e-12)

    assert ours.params[2] == pytest.approx(theirs.params[2], rel=1e-6)
    assert ours.bse[2] == pytest.approx(theirs.bse[2], rel=1e-6)


def test_thrice_a_column_is_no_other_column_though_floats_round():
    x = np.array([0.1, 0.2, 0.3, 0.4, 0.55] * 8)
    with pytest.raises(Collinear) as caught:
        logit("y ~ x + x3", {"x": x, "x3": 3 * x, "y": [0, 1, 1, 0, 1, 1, 0, 1] * 5})
    assert caught.value.columns == ("x3", "x")


# -- what there is no figure for --------------------------------------------------------------------------------------


def test_without_an_intercept_nothing_is_compared_with_a_constant(spector):
    for ours in (logit("GRADE ~ 0 + GPA + PSI", spector), poisson("GRADE ~ 0 + GPA", spector)):
        assert ours.llf is not None
        assert ours.aic is not None
        assert ours.llnull is ours.llr is ours.llr_pvalue is ours.prsquared is None
        assert any("no intercept" in note for note in ours.notes)
        assert "Prob(LR)" not in ours.summary()


def test_a_quasi_likelihood_has_no_likelihood(visits):
    ours = poisson("mdvis ~ idp", visits, dispersion="pearson")

    assert ours.llf is ours.aic is ours.bic is ours.llnull is ours.llr is None
    assert any("quasi-likelihood" in note for note in ours.notes)


# -- no result, and why -----------------------------------------------------------------------------------------------


def people(n=120):
    i = np.arange(n)
    return {
        "x": ((i * 37) % n).tolist(),
        "noise": ((i * i * 7 + i // 3) % 11).tolist(),
        "ward": np.array(list("ABC"))[(i * 5 + i // 7) % 3].tolist(),
    }


LABELS = mu.Schema(
    {
        "y": mu.Integers(0, 1),
        "x": mu.Integers(0, 200),
        "noise": mu.Integers(0, 20),
        "ward": mu.Categories(["A", "B", "C", "D"]),
    }
)


@pytest.mark.parametrize("ask", [logit, probit])
def test_complete_separation_names_the_column(ask):
    rows = people()
    rows["y"] = [int(x > 61) for x in rows["x"]]
    with pytest.raises(Separated, match="'x'") as caught:
        ask("y ~ x + noise", rows)
    assert caught.value.columns == ("x",)


@pytest.mark.parametrize("ask", [logit, probit])
@pytest.mark.parametrize("outcome", [0, 1])
def test_a_label_that_decides_the_outcome_is_named(ask, outcome):
    """Quasi-separation: within ward B everybody has the same outcome, elsewhere not."""
    rows = people()
    rows["y"] = [outcome if w == "B" else int(e > 5) for w, e in zip(rows["ward"], rows["noise"], strict=True)]
    with pytest.raises(Separated) as caught:
        ask("y ~ x + ward", rows)
    assert caught.value.columns == ("ward[T.B]",)


@pytest.mark.parametrize("ask", [poisson, negative_binomial])
def test_counts_that_are_all_zero_in_one_label(ask):
    rows = people()
    rows["y"] = [0 if w == "C" else e for w, e in zip(rows["ward"], rows["noise"], strict=True)]
    with pytest.raises(Separated) as caught:
        ask("y ~ x + ward", rows)
    assert caught.value.columns == ("ward[T.C]",)


def test_nearly_separated_rows_have_a_result():
    rows = people()
    rows["y"] = [int(x > 61) for x in rows["x"]]
    at = rows["x"].index(40)
    rows["y"][at] = 1
    ours = logit("y ~ x", rows)
    theirs = sm.Logit(rows["y"], sm.add_constant(np.array(rows["x"], float))).fit(disp=0, tol=1e-14, maxiter=200)

    np.testing.assert_allclose(ours.params, theirs.params, rtol=1e-8)


def test_separation_is_found_between_parties_too():
    rows = people()
    rows["y"] = [int(x > 61) for x in rows["x"]]
    parts = [{name: column[i::4] for name, column in rows.items()} for i in range(4)]
    with pytest.raises(Separated):
        logit("y ~ x", parts, schema=LABELS, privacy=mu.Secure(rows_are_public=True))


def test_columns_that_depend_on_one_another_are_named():
    rows = people()
    rows["y"] = [int(e > 5) for e in rows["noise"]]
    rows["twice"] = [2 * x + 3 * e for x, e in zip(rows["x"], rows["noise"], strict=True)]
    with pytest.raises(Collinear) as caught:
        poisson("y ~ x + noise + twice", rows)
    assert caught.value.columns == ("twice", "x", "noise")


def test_decimals_that_depend_on_one_another_are_found_though_floats_round():
    rows = people()
    rows["y"] = [int(e > 5) for e in rows["noise"]]
    rows["a"] = [x / 1000 + 0.1 for x in rows["x"]]
    rows["b"] = [e / 7000 for e in rows["noise"]]
    rows["c"] = [round(a * 1000) / 1000 / 3 + b / 7 for a, b in zip(rows["a"], rows["b"], strict=True)]
    with pytest.raises(Collinear):
        logit("y ~ a + b + c", rows)


def test_a_label_that_nobody_has_is_named():
    rows = people()
    rows["y"] = [int(e > 5) for e in rows["noise"]]
    with pytest.raises(EmptyCategory) as caught:
        logit("y ~ ward", rows, schema=LABELS)
    assert caught.value.columns == ("ward[T.D]",)


def test_an_outcome_that_does_not_vary():
    rows = people()
    for ask, value in ((logit, 1), (probit, 0), (poisson, 0)):
        rows["y"] = [value] * 120
        with pytest.raises(NoVariation, match="for everybody"):
            ask("y ~ x", rows, schema=LABELS)


def test_a_gamma_outcome_that_does_not_vary_has_no_dispersion():
    rows = people()
    rows["y"] = [3] * 120
    with pytest.raises(NoVariation, match="no dispersion"):
        gamma("y ~ x", rows, schema=mu.Schema({"x": mu.Integers(0, 200), "y": mu.Integers(1, 9)}))


def test_too_few_rows():
    rows = {"y": [0, 1, 1], "x": [1, 2, 4], "noise": [3, 5, 2]}
    with pytest.raises(TooFewObservations):
        logit("y ~ x + noise", rows)


def test_outcomes_are_refused_by_their_bounds_before_rows_are_read():
    schema = mu.Schema({"y": mu.Integers(-1, 5), "x": mu.Integers(0, 9)})
    for ask, said in ((logit, "0 or 1"), (probit, "0 or 1"), (poisson, "counts"), (gamma, "above 0")):
        with pytest.raises(InvalidParameter, match=said):
            ask("y ~ x", "there is no such file.csv", schema=schema)


def test_rounds_that_run_out_say_so(spector):
    with pytest.raises(NotConverged, match="within 3 rounds"):
        logit(SPECTOR, spector, rounds=3)


def test_counts_that_vary_less_than_poissons_have_no_alpha():
    rows = people()
    rows["y"] = [4 + int(e > 5) for e in rows["noise"]]
    with pytest.raises(FitFailed, match="no more than a Poisson law"):
        negative_binomial("y ~ x", rows)


def test_a_mean_beyond_all_bounds_fails_with_a_way_out():
    """An offset from 0 to 100: the means of rows would lie further apart than e^80."""
    rows = people()
    rows["y"] = rows["noise"]
    with pytest.raises(FitFailed, match=r"exp\(40\)") as caught:
        poisson("y ~ 1", rows, offset="x")
    assert "log(x)" in caught.value.hint


def test_noise_is_refused_with_the_reason(spector):
    with pytest.raises(PlanRefused, match="cannot be computed with noise"):
        logit(SPECTOR, spector, schema=infer_schema(spector, None), privacy=mu.Central(1.0))


def test_wrong_options():
    rows = {"y": [0, 1] * 5, "x": list(range(10))}
    for wrong in ({"errors": "HC9"}, {"rounds": 0}, {"rounds": True}):
        with pytest.raises(InvalidParameter):
            logit("y ~ x", rows, **wrong)
    with pytest.raises(InvalidParameter, match="dispersion"):
        poisson("y ~ x", rows, dispersion="deviance")
    with pytest.raises(InvalidParameter, match="link"):
        gamma("y ~ x", {"y": [1, 2] * 5, "x": list(range(10))}, link="square")


@pytest.mark.parametrize("square", [0, -1, Fraction(-3, 7)])
def test_totals_that_no_rows_have_end_the_fit(square):
    """A coordinator may tell anything: a search for the power of ten below a negative square would never end."""
    from murmure.econometrics.steps.coordinates import _half_log, _to_decimal

    for search in (lambda: _to_decimal(Fraction(1, 3), Fraction(square)), lambda: _half_log(Fraction(square))):
        with pytest.raises(FitFailed, match="no rows can have these totals"):
            search()
