"""Laws that are declared by name: agreement with scipy and statsmodels to 1e-8, in the clear and between parties."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats as st
from scipy.optimize import brentq

import murmure as mu
from murmure import econometrics
from murmure.core.errors import InvalidParameter, MurmureError
from murmure.econometrics.errors import FitFailed
from murmure.econometrics.fit import ask
from murmure.econometrics.model import model_from_dict, model_to_dict
from murmure.econometrics.models.mle import FamilyMLE
from murmure.econometrics.models.multinomial import Multinomial
from murmure.econometrics.rows.family_rows import LAWS
from murmure.econometrics.rows.multinomial_rows import MULTINOMIAL

SCHEMA = mu.Schema(
    {
        "t": mu.Decimals(1e-4, 1e3, 4),
        "b": mu.Decimals(1e-4, 0.9999, 4),
        "x": mu.Decimals(-5, 5, 3),
        "g": mu.Categories(["a", "b", "c"]),
        "y": mu.Categories(["u", "v", "w"]),
    }
)


def rows(n: int, seed: int, shape: float = 1.7, precision: float = 8.0) -> dict[str, Any]:
    """Columns of n people, by a seeded generator; every law is true of its column."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=n).clip(-4, 4), 3)
    mean = 1 / (1 + np.exp(-(0.3 + 0.7 * x)))
    utility = np.stack([np.zeros(n), 0.2 + 0.8 * x, -0.5 - 0.4 * x], 1) + rng.gumbel(size=(n, 3))
    return {
        "t": np.round((np.exp(1 + 0.5 * x) * rng.weibull(shape, n)).clip(1e-4, 1e3), 4),
        "b": np.round(rng.beta(mean * precision, (1 - mean) * precision).clip(1e-4, 0.9999), 4),
        "x": x,
        "g": np.array(list("abc"))[rng.integers(0, 3, n)],
        "y": np.array(list("uvw"))[utility.argmax(1)],
    }


def fit(family: Any, formula: str, data: Any, **more: Any) -> Any:
    return econometrics.mle(family=family, formula=formula, data=data, schema=SCHEMA, **more)


def weibull_shape(t: Any) -> float:
    """The root of the profile equation: scipy's own search stops at four digits."""
    log = np.log(t)
    return float(brentq(lambda k: (t**k * log).sum() / (t**k).sum() - 1 / k - log.mean(), 0.05, 50, xtol=1e-15))


CASES = [(n, seed, shape, precision) for n, seed in ((40, 1), (300, 2)) for shape, precision in ((0.6, 1.5), (3.0, 60))]


@pytest.mark.parametrize(("n", "seed", "shape", "precision"), CASES)
def test_laws_of_one_column_are_those_of_scipy(n: int, seed: int, shape: float, precision: float) -> None:
    """loc = 0 (and scale = 1 for beta); the log-likelihood is scipy's at these parameters."""
    data = rows(n, seed, shape, precision)
    found = {family: fit(family, f"{column} ~ 1", data) for family, column in FAMILIES}
    k = weibull_shape(data["t"])
    scale = float((data["t"] ** k).mean() ** (1 / k))
    a, b, _, _ = st.beta.fit(data["b"], floc=0, fscale=1)

    assert found["exponential"].law == pytest.approx({"scale": st.expon.fit(data["t"], floc=0)[1]}, rel=1e-12)
    assert found["weibull"].law == pytest.approx({"shape": k, "scale": scale}, rel=1e-8)
    assert found["beta"].law == pytest.approx({"precision": a + b, "a": a, "b": b}, rel=1e-8)
    law = {
        "exponential": st.expon.logpdf(data["t"], 0, data["t"].mean()),
        "weibull": st.weibull_min.logpdf(data["t"], k, 0, scale),
        "beta": st.beta.logpdf(data["b"], a, b),
    }
    for family, density in law.items():
        assert found[family].llf == pytest.approx(density.sum(), rel=1e-10)
    near = st.weibull_min.fit(data["t"], floc=0)
    assert found["weibull"].law == pytest.approx({"shape": near[0], "scale": near[2]}, rel=1e-3)


FAMILIES = (("exponential", "t"), ("weibull", "t"), ("beta", "b"))


def test_beta_and_multinomial_regressions_are_those_of_statsmodels() -> None:
    import statsmodels.api as sm
    from statsmodels.othermod.betareg import BetaModel

    data = rows(400, 5)
    X = np.column_stack([np.ones(400), data["x"], data["g"] == "b", data["g"] == "c"]).astype(float)
    near = BetaModel(data["b"], X).fit(disp=0)
    peer = BetaModel(data["b"], X).fit(near.params, method="newton", disp=0, tol=1e-13)
    found = fit("beta", "b ~ x + g", data)
    assert found.params == pytest.approx(np.asarray(peer.params), rel=1e-8)
    assert found.bse == pytest.approx(np.asarray(peer.bse), rel=1e-7)  # its Hessian is of finite differences
    assert found.llf == pytest.approx(peer.llf, rel=1e-10)
    assert found.predict(data) == pytest.approx(peer.predict(X), rel=1e-8)

    codes = np.searchsorted(["u", "v", "w"], data["y"])
    many = sm.MNLogit(codes, X).fit(disp=0, tol=1e-14, maxiter=100)
    found = fit("multinomial", "y ~ x + g", data)
    assert found.params == pytest.approx(many.params.T.ravel(), rel=1e-8)
    assert found.bse == pytest.approx(many.bse.T.ravel(), rel=1e-8)
    assert (found.llf, found.aic) == pytest.approx((many.llf, many.aic), rel=1e-12)
    counts = np.bincount(codes)
    assert found.llnull == pytest.approx((counts * np.log(counts / 400)).sum(), rel=1e-12)
    assert (found.df_model, found.df_resid) == (many.df_model, many.df_resid)
    assert found.predict(data) == pytest.approx(many.predict(X), rel=1e-8)
    assert found.names[:2] == ("y[v]: Intercept", "y[v]: x") and "with 'u'" in found.summary()


def test_exponential_regression_is_the_gamma_regression_of_dispersion_one() -> None:
    import statsmodels.api as sm

    data = rows(200, 6)
    X = np.column_stack([np.ones(200), data["x"]])
    peer = sm.GLM(data["t"], X, family=sm.families.Gamma(sm.families.links.Log())).fit(scale=1.0, tol=1e-14)
    found = fit("exponential", "t ~ x", data)

    assert found.params == pytest.approx(peer.params, rel=1e-8)
    assert found.predict(data) == pytest.approx(peer.predict(X), rel=1e-8)


@pytest.mark.parametrize("family", ["exponential", "weibull", "beta"])
def test_derivatives_are_those_of_the_log_likelihood(family: str) -> None:
    """By central differences, at points near and far from any estimate."""
    law = LAWS[family]
    y = np.array([0.003, 0.2, 0.61, 0.97]) * (1 if family == "beta" else 40)
    h = 1e-5
    for eta0, theta in ((0.1, 0.2), (-2.0, 1.5), (3.0, -1.0)):
        eta = np.full_like(y, eta0)
        at = law.at(y, eta, theta)

        def u(e: Any, t: float) -> Any:
            return law.at(y, e, t).u

        def llf(e: Any, t: float) -> Any:
            return law.at(y, e, t).llf

        assert at.u == pytest.approx((llf(eta + h, theta) - llf(eta - h, theta)) / (2 * h), rel=1e-5, abs=1e-6)
        assert -at.w == pytest.approx((u(eta + h, theta) - u(eta - h, theta)) / (2 * h), rel=1e-5, abs=1e-6)
        if at.further is None:
            continue
        first, cross, second = at.further
        assert first == pytest.approx((llf(eta, theta + h) - llf(eta, theta - h)) / (2 * h), rel=1e-5, abs=1e-6)
        assert -cross == pytest.approx((u(eta, theta + h) - u(eta, theta - h)) / (2 * h), rel=1e-5, abs=1e-6)
        firsts = [law.at(y, eta, theta + d).further for d in (h, -h)]
        assert firsts[0] is not None and firsts[1] is not None
        assert -second == pytest.approx((firsts[0][0] - firsts[1][0]) / (2 * h), rel=1e-5, abs=1e-6)


def test_information_of_labels_is_the_derivative_of_their_score() -> None:
    rng = np.random.default_rng(3)
    z = [np.ones(7), rng.normal(size=7)]
    y = np.eye(3)[rng.integers(0, 3, 7)].T
    settings = ("step", "3", "0", "0")
    at, h = (0.3, -0.2, 0.1, 0.7), 1e-6
    k = len(at)

    def values(point: Any) -> Any:
        return MULTINOMIAL.values((*y, *z), tuple(point), settings)

    here = values(at)
    upper = iter(here[:, k : k + k * (k + 1) // 2].T)
    for i in range(k):
        for j in range(i, k):
            up, down = (np.array(at) + sign * h * np.eye(k)[j] for sign in (1, -1))
            assert next(upper) == pytest.approx(-(values(up)[:, i] - values(down)[:, i]) / (2 * h), rel=1e-6, abs=1e-8)


FITS = (("exponential", "t ~ x"), ("weibull", "t ~ x + g"), ("beta", "b ~ x"), ("multinomial", "y ~ x"))


@pytest.mark.parametrize(("family", "formula"), FITS)
@pytest.mark.parametrize("errors", ["hessian", "sandwich", "opg"])
def test_between_parties_the_result_is_that_of_the_pooled_rows(family: str, formula: str, errors: str) -> None:
    """To the last bit: sums are exact, so who holds a row does not matter; and a score of one's own agrees."""
    data = rows(90, 7)
    parts = [{name: column[i::3] for name, column in data.items()} for i in range(3)]
    clear = fit(family, formula, data, errors=errors)
    secure = fit(family, formula, parts, errors=errors, privacy=mu.Secure(rows_are_public=True))

    assert clear.coefficients == secure.coefficients and clear.covariance == secure.covariance
    assert clear.llf == secure.llf and secure.how.parties == 3 and clear.cov_type == errors


def test_errors_are_those_of_the_same_score_as_a_function() -> None:
    data = rows(150, 8)

    def weibull(theta: Any, held: Any) -> Any:
        k = np.exp(theta[2])
        t = k * (np.log(held["t"]) - theta[0] - theta[1] * held["x"])
        u = k * (np.exp(t) - 1)
        return np.stack([u, u * held["x"], 1 + t - t * np.exp(t)], axis=1)

    for errors in ("hessian", "sandwich", "opg"):
        own = econometrics.mle(weibull, [1, 0.5, 0.5], data, ["t", "x"], errors=errors, schema=SCHEMA)
        named = fit("weibull", "t ~ x", data, errors=errors)
        assert named.params == pytest.approx(own.params, rel=1e-8)
        assert named.bse == pytest.approx(own.bse, rel=1e-6)


def test_a_start_of_ones_own_leads_to_the_same_place() -> None:
    data = rows(120, 9)
    plain = fit("weibull", "t ~ x", data)
    by_name = fit("weibull", "t ~ x", data, start={"log(shape)": 0, "x": 1, "Intercept": 0})
    many = fit("multinomial", "y ~ x", data)
    listed = fit("multinomial", "y ~ x", data, start=[0.1, 0.5, 0, -0.5])

    assert by_name.params == pytest.approx(plain.params, rel=1e-9)
    assert listed.params == pytest.approx(many.params, rel=1e-9)
    for start in ([0, 1], {"Intercept": 0}, "0", {"a": 1, "b": 2, "c": 3}):
        with pytest.raises(InvalidParameter, match=r"start must give each of 3 parameters a value \(Intercept, x, log"):
            fit("weibull", "t ~ x", data, start=start)


@pytest.mark.parametrize(("family", "formula"), FITS)
def test_a_model_travels_as_data(family: str, formula: str) -> None:
    """A name and no function: what is read back asks the same questions."""
    from murmure.econometrics.model import NO_ROWS

    model: Any = econometrics.mle(family=family, formula=formula, data=NO_ROWS, schema=SCHEMA)  # type: ignore[arg-type]
    again = model_from_dict(json.loads(json.dumps(model_to_dict(model))))

    assert again == model and isinstance(model, FamilyMLE | Multinomial)
    data = rows(60, 10)
    assert ask(again, data).coefficients == ask(model, data).coefficients


@pytest.mark.parametrize(("family", "formula"), FITS)
def test_what_every_round_releases_is_told_before(family: str, formula: str) -> None:
    """The numbers in the words are those of the questions, in both languages."""
    from murmure.econometrics.model import NO_ROWS
    from murmure.show.language import Language

    model: Any = econometrics.mle(family=family, formula=formula, data=NO_ROWS, schema=SCHEMA)  # type: ignore[arg-type]
    k = len(model.parameters)
    step = (Fraction(0),) * k
    later = model.question(step)
    words = model.later_rounds()
    en, fr = words, Language("fr").say(words)

    assert f"each later round releases {later.width} sums over all rows" in en and f": {k} of scores" in en
    assert f"chaque tour suivant publie {later.width} sommes sur toutes les lignes" in fr
    assert later.width == k + k * (k + 1) // 2 + 3
    first = next(model.steps())
    assert en.startswith(f"the first round releases {first.width} sums over all rows")
    assert fr.startswith(f"le premier tour publie {first.width} sommes sur toutes les lignes")
    assert ("predicts without error" in en) == (family == "multinomial") == (model.separation(step) is not None)
    assert model.max_sums >= next(model.steps()).width + (model.rounds - 1) * later.width


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(family="wiebull", formula="t ~ x"), "family must be one of exponential, weibull, beta, multinomial"),
        (dict(formula="t ~ x"), "family must be one of .*it is left out"),
        (dict(family="weibull"), "formula must be text; it is left out"),
        (dict(family="weibull", formula="x ~ t"), "mle of family 'weibull' takes an outcome above 0"),
        (dict(family="exponential", formula="x ~ 1"), "mle of family 'exponential' takes an outcome above 0"),
        (dict(family="beta", formula="t ~ 1"), "mle of family 'beta' takes an outcome between 0 and 1"),
        (dict(family="multinomial", formula="x ~ t"), "does not hold categories"),
        (dict(family="multinomial", formula="x + t"), "must name an outcome"),
        (dict(family="multinomial", formula="log(t) ~ x"), "log"),
        (dict(family="weibull", formula="t ~ x", errors="HC1"), "errors must be one of hessian, sandwich, opg"),
        (dict(family="weibull", formula="t ~ x", rounds=0), "rounds must be a whole number"),
        (dict(family="weibull", formula="t ~ x", columns=["t"]), "got parts of both"),
        (dict(family="weibull", formula="t ~ x", score=lambda theta, rows: rows["t"]), "got parts of both"),
        (dict(score=lambda theta, rows: rows["t"], columns=["t"]), "it must give every parameter a value"),
        (dict(family="weibull", formula="t ~ x", privacy=mu.Central(1.0)), "cannot be computed with noise"),
    ],
)
def test_what_cannot_be_asked_says_so(given: dict[str, Any], message: str) -> None:
    with pytest.raises(MurmureError, match=message):
        econometrics.mle(data=rows(30, 11), schema=SCHEMA, **given)


def test_outcomes_that_have_no_estimate() -> None:
    """Judged from released sums: the same words for everybody."""
    data = rows(60, 12)
    with pytest.raises(FitFailed, match="predicted without error"):
        fit("weibull", "t ~ 1", data | {"t": np.full(60, 2.0)})
    with pytest.raises(FitFailed, match="no party has a row with label 'w'"):
        fit("multinomial", "y ~ x", data | {"y": np.array(["u", "v"] * 30)})
    apart = np.where(data["x"] < -0.5, "u", np.where(data["x"] < 0.5, "v", "w"))
    with pytest.raises(FitFailed, match="without error"):
        fit("multinomial", "y ~ x", data | {"y": apart})
    with pytest.raises(FitFailed, match="rows for"):
        fit("beta", "b ~ x + g", {name: column[:4] for name, column in data.items()})


def test_rare_labels_of_an_outcome_are_judged_like_other_conditions() -> None:
    """An outcome of many labels picks out few rows of a party, by public facts, and is refused between parties."""
    schema = mu.Schema({"x": mu.Integers(0, 9), "y": mu.Categories([f"l{i}" for i in range(12)])})
    table = {"x": [i % 10 for i in range(48)], "y": [f"l{i % 12}" for i in range(48)]}

    with pytest.raises(MurmureError, match="picks out about 4 of 48 rows"):
        econometrics.mle(
            family="multinomial", formula="y ~ x", data=[table] * 10, schema=schema, rounds=1, privacy=mu.Secure()
        )
