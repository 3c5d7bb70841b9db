"""Linear regression from one vector of sums: all products of (1, x, y) (gram.py), with or without noise.

min_w sum (y - w.(1, x))^2   needs only   sum (1, x, y)(1, x, y)'.

functional  discrete Laplace on these sums, scaled to their exact sensitivity (Zhang et al., PVLDB 5(11), 2012)
gaussian    discrete Gaussian on the same matrix, for delta > 0 (with delta > 0 `functional` means this too)
adassp      the same, with the ridge of AdaSSP (Wang, UAI 2018)
lecture     as `functional`, on columns that are divided by sqrt(d), with the paper's ridge of four deviations. The
            lecture draws noise of scale 2 (1+d)^2 / epsilon and calls it epsilon; it costs (2 + sqrt d)^2 instead of
            2 (1+d)^2, which is more for d = 1 (11.25 for 10) and much less for large d. It also prints the constant
            sum y^2 without noise: that costs infinitely much, and is not reproduced. `privacy.epsilon` is what is
            paid, nominal_epsilon_ what the lecture would call it; lecture_cost turns one into the other.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from murmure.central.base.gate import Gate
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import float_up
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.learn.base import Learner, SumPrivacy
from murmure.learn.least_squares import AS_THEY_ARE, Floats, check_ridge, product_variance, solve, weight_covariance
from murmure.learn.prediction_columns import numbers_to_predict, rows_to_predict
from murmure.learn.training_table import TrainingTable
from murmure.plan.plan import Plan
from murmure.plan.privacy import Central, Local, Privacy, noise_in
from murmure.show.document import Table
from murmure.statistics.learning.gram import Gram, GramEstimate

METHODS = ("functional", "gaussian", "adassp", "lecture")
CLEAR_BITS = 16  # without noise there is no reason to be coarse


def lecture_cost(nominal: float, d: int) -> float:
    """What the lecture's noise, of scale 2 (1+d)^2 / nominal, really costs with an intercept, rounded up.

    (2 + sqrt d)^2 / (2 (1+d)^2) nominal, for the noised coefficients, under both relations; its exact constant costs
    infinitely much on top.
    """
    root = math.isqrt(d << 128) + (math.isqrt(d << 128) ** 2 != d << 128)  # sqrt(d) 2**64, rounded up
    exact = Fraction(nominal) * (2 + Fraction(root, 1 << 64)) ** 2 / (2 * (1 + d) ** 2)
    return float_up(exact)


class LinearRegression(Learner):
    """Least squares, in the clear, with noise, between parties, or from rows that were randomised at the person.

    target: the column to predict, a number with public bounds. shape, radius: which rows count in full, public (see
    grid_design.py); rows beyond are weighed down, which leaves a linear model as it is. None: the diamond for
    Laplace, the ball for Gaussian noise, the box without noise. ridge: "auto" (only where the noisy matrix does not
    rise above the noise), or a fixed number of standard deviations of the noise. trim: leave out directions in which
    the noisy matrix is not positive. `post_` says what was done.

    coef_, intercept_: in the units of the columns; of a category, against its first label. cov_, bse_: of intercept and
    coefficients, sampling and noise together, where the noisy matrix was taken as it is; otherwise None, since a ridge
    is a bias. None under Local, too: products of randomised columns vary together in ways that sums do not tell.

    >>> import murmure as mu
    >>> from murmure.learn import LinearRegression
    >>> schema = mu.Schema({"age": mu.Integers(18, 99), "pressure": mu.Integers(60, 220)})
    >>> rows = {"age": list(range(20, 90)) * 50, "pressure": [95 + age // 2 for age in range(20, 90)] * 50}
    >>> model = LinearRegression(schema, target="pressure", privacy=mu.Central(epsilon=1.0), rng=mu.Random.seeded(7))
    >>> _ = model.fit(rows)
    >>> for name, value, error in zip(model.names_, [model.intercept_, *model.coef_], model.bse_):
    ...     print(f"{name:10} {value:8.3f}  standard error {error:.3f}")
    intercept    95.009  standard error 0.860
    age           0.494  standard error 0.015
    >>> print(model.post_)
    none: the matrix stands clear of the noise
    """

    kind = "regressor"
    coef_: Floats  # in the units of the columns; of a category, against its first label
    intercept_: float  # in the units of the target
    bse_: Floats | None  # standard errors of intercept and coefficients, noise included; None after a ridge
    cov_: Floats | None  # their covariance, or None
    post_: str  # what was done to the noisy matrix, in words
    names_: tuple[str, ...]  # the names of intercept and coefficients

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | None = None,
        privacy: Privacy | None = None,
        method: Literal["functional", "gaussian", "adassp", "lecture"] = "functional",
        shape: str | None = None,
        radius: float | None = None,
        ridge: float | Literal["auto"] = "auto",
        trim: bool = True,
        fit_intercept: bool = True,
        engine: Any = None,
        ledger: Any = None,
        rng: Random | None = None,
    ) -> None:
        self.schema = schema
        self.target = target
        self.privacy = privacy
        self.method = method
        self.shape = shape
        self.radius = radius
        self.ridge = ridge
        self.trim = trim
        self.fit_intercept = fit_intercept
        self.engine = engine
        self.ledger = ledger
        self.rng = rng

    # -- learning -------------------------------------------------------------------------------------------------

    def _check(self, rows: TrainingTable) -> None:
        if self.method not in METHODS:
            raise InvalidParameter(
                "LinearRegression.method must be one of {methods}, got {got}.",
                methods=", ".join(METHODS),
                got=shorten(self.method),
            )
        check_ridge(self)
        noise = noise_in(self.privacy)
        if noise is not None and self.method != "functional":
            pure = noise.pure
            if pure != (self.method == "lecture"):
                raise InvalidParameter(
                    "LinearRegression: method={method!r} needs {detail}, got epsilon={epsilon:g}, delta={delta:g}.",
                    hint="epsilon=1.0, delta=1e-6" if pure else 'method="gaussian" or "adassp"',
                    method=self.method,
                    detail=Phrase("delta > 0") if pure else Phrase("delta = 0"),
                    epsilon=noise.epsilon,
                    delta=noise.delta,
                )
        self._asked(rows.schema, self.privacy)

    def _asked(self, schema: Schema, privacy: Any) -> Gram:
        target, noise = self._target or "", noise_in(privacy)
        if noise is None:
            if self.shape is None and self.radius is None:
                return Gram(schema, target, shape="box", bits=CLEAR_BITS)
            return Gram(schema, target, shape=self.shape or "diamond", radius=self.radius, bits=CLEAR_BITS)
        if self.method == "lecture":
            return Gram(schema, target, shape="unit")
        shape = self.shape or ("diamond" if noise.pure else "ball")
        return Gram(schema, target, shape=shape, radius=self.radius, norm="l1" if noise.pure else "l2")

    def _steps(self, schema: Schema, privacy: SumPrivacy) -> Generator[Plan, Any, dict[str, Any]]:
        ask = self._asked(schema, privacy)
        released: GramEstimate = yield privacy.plan(ask)
        learned = self._learned(released, ask)
        noise = noise_in(privacy)
        if self.method == "lecture" and noise is not None:
            learned["nominal_epsilon_"] = noise.epsilon / lecture_cost(1.0, len(ask.design.axes))
        return learned

    def _learn_locally(self, rows: TrainingTable, privacy: Local, gate: Gate) -> dict[str, Any]:
        from murmure.learn.local_rows import sanitised_rows
        from murmure.learn.local_sums import unbiased_products
        from murmure.run.run import run

        ask = self._asked(rows.schema, privacy)
        if privacy.debias:
            released, guarantees = unbiased_products(ask, rows.frame, privacy, gate.rng)
        else:
            table, guarantees = sanitised_rows(rows.schema, rows.frame, privacy, gate.rng)
            released = run(Plan(ask), table, self.engine).estimate
        learned = self._learned(released, ask)
        if not privacy.debias:
            learned["post_"] = AS_THEY_ARE
        return {"guarantees_": guarantees, **learned, "cov_": None, "bse_": None}

    def _learned(self, released: GramEstimate, ask: Gram) -> dict[str, Any]:
        """Solve in half ranges, then go back to the units of the columns."""
        Z, design = released.sums, ask.design
        d = design.width - 1
        unit, middle = ask.outcome.unit * design.g, ask.outcome.middle
        rows, outcome = np.eye(d + 1, d + 2), np.eye(d + 2)[-1]
        if (
            not self.fit_intercept
        ):  # x and y themselves, still measured in half ranges: through the origin of the columns
            rows = np.eye(d, d + 2, 1)
            rows[:, 0] = design.middles / design.units
            outcome[0] = middle / unit
        # Through the origin, rows combine several noisy sums; the noisiest of them decides about a ridge.
        deviation = math.sqrt(max(product_variance(row, released.noise) for row in rows))
        ridge: float | str = self.ridge
        if ridge == "auto":
            method_ridge: dict[str, float | str] = {"adassp": "adassp", "lecture": 4.0}
            ridge = method_ridge.get(self.method, "auto")
        solved = solve(rows @ Z @ rows.T, rows @ Z @ outcome, deviation, ridge, self.trim, self.fit_intercept)
        cov = weight_covariance(Z, released.noise, rows, outcome, solved.weights) if solved.plain else None
        # y = middle + unit (w0 + sum_j w_j (x_j - middle_j) / unit_j)
        back = np.zeros((d + 1, len(rows)))
        back[1:, -d:] = np.diag(unit / design.units)
        level = 0.0
        if self.fit_intercept:
            back[0, 0], back[0, 1:] = unit, -unit * design.middles / design.units
            level = middle
        params = back @ solved.weights
        cov = None if cov is None else back @ cov @ back.T
        return {
            "coef_": params[1:],
            "intercept_": float(params[0] + level),
            "cov_": cov,
            "bse_": None if cov is None else np.sqrt(np.diag(cov)),
            "post_": solved.post_processing,
            "names_": ("intercept", *design.names[1:]),
            "features_": design.features,
        }

    def _summary_tables(self) -> list[Table]:
        """intercept and coef, with standard errors and 95% intervals (normal) where there are any."""
        values, errors = np.append(self.intercept_, self.coef_), self.bse_
        kept = [i for i in range(len(self.names_)) if self.fit_intercept or i]
        if errors is None:
            return [Table("", ("", Phrase("coef")), tuple((self.names_[i], float(values[i])) for i in kept))]
        columns = np.stack([values, errors, values - 1.96 * errors, values + 1.96 * errors])
        rows = tuple((self.names_[i], *map(float, columns[:, i])) for i in kept)
        ends = (Phrase("[{end:g}", end=0.025), Phrase("{end:g}]", end=0.975))
        return [Table("", ("", Phrase("coef"), Phrase("std err"), *ends), rows)]

    def _why_no_errors(self) -> str | None:
        if self.bse_ is not None:
            return None
        if isinstance(self.privacy, Local):
            return Phrase("products of randomised columns vary together in ways that sums do not tell")
        if noise_in(self.privacy) is None:
            return Phrase("some columns do not vary, or repeat others: other coefficients would fit as well")
        biased = Phrase("the coefficients are biased towards zero, so no standard errors are given")
        if self.ridge != "auto":
            return Phrase(
                "ridge={ridge:g} was asked for, whatever the noise is: {biased}", ridge=self.ridge, biased=biased
            )
        if self.method in ("adassp", "lecture") and "ridge" in self.post_:
            return Phrase("method={method!r} adds a ridge: {biased}", method=self.method, biased=biased)
        if "ridge" in self.post_:
            return Phrase(
                "a ridge was added because the noise is large compared with the data: {biased}", biased=biased
            )
        return Phrase("the noise is large compared with the number of people, so no standard errors can be told")

    # -- predicting -----------------------------------------------------------------------------------------------

    features_: tuple[str, ...]  # the columns, in order

    def predict(self, X: Any) -> Floats:
        """intercept + coef . x"""
        columns = self._columns(X)
        x = rows_to_predict(type(self).__name__, self.schema_, columns, self.features_)
        return np.asarray(x @ self.coef_ + self.intercept_)

    def score(self, X: Any, y: Any = None) -> float:
        """R^2: the share of the variance of y that is predicted; y may be a column of the table."""
        self._require_fitted()
        target = self._target or ""
        truth = X[target] if y is None else y
        y_true = numbers_to_predict(type(self).__name__, self.schema_, {target: truth}, [target], False)[:, 0]
        rest, all_of_it = ((y_true - self.predict(X)) ** 2).sum(), ((y_true - y_true.mean()) ** 2).sum()
        return float(1 - rest / all_of_it) if all_of_it else float(rest == 0)


_PEOPLE = Schema(
    {
        "age": Integers(0, 9),
        "smoker": Categories(["never", "once", "daily"]),
        "bmi": Interval(15.0, 45.0, cells=30),
        "pressure": Integers(80, 180),
    }
)

EXAMPLES = (
    LinearRegression(_PEOPLE, "pressure", Central(1.0)),
    LinearRegression(_PEOPLE, "pressure", Central(2.0, relation="replace"), shape="box", ridge=4.0, trim=False),
    LinearRegression(_PEOPLE, "pressure", Central(1.0, delta=1e-6), method="gaussian"),
    LinearRegression(_PEOPLE, "pressure", Central(1.0, delta=1e-6), method="adassp", fit_intercept=False),
    LinearRegression(_PEOPLE, "pressure", Central(lecture_cost(1.0, 3)), method="lecture"),
)
