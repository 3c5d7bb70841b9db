"""Logistic regression:  P[class | x] = sigma(w.(1, x)).

    clear     Newton's method on the loss itself, a plan for each step (statistics/gradient.py); between parties too,
              where their sums are exact
    taylor    the functional mechanism: the loss is replaced by its parabola at 0, whose coefficients are noisy sums
              (statistics/taylor.py; Zhang et al., PVLDB 5(11), 2012, section 5.3). One plan; any number of classes.
    gradient  the parabola with half of the budget, then a public number of steps along noisy gradients of the loss
              itself, each as long as the noisy parabola's curvature says: sum v v' / 4 lies above that of the loss
              (Boehning and Lindsay, Ann. Inst. Stat. Math. 40, 1988). Costs add up: pure epsilon by sequential
              composition (Dwork, McSherry, Nissim, Smith, TCC 2006), rho for delta > 0 (Bun and Steinke, TCC 2016,
              lemma 1.7). Bassily, Smith, Thakurta, FOCS 2014, bound the error of noisy gradients.

    local     the parabola of unbiased sums of products, or the loss itself on the randomised rows as they are

With more than two classes each is learned against the rest: from one set of sums (taylor), one after the other (clear).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from murmure.central.gate import Gate
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, shorten
from murmure.core.schema import Schema
from murmure.learn.base import FromSums, Learner
from murmure.learn.least_squares import Floats, check_ridge, rows_to_predict, solve
from murmure.learn.rows import Rows
from murmure.plan import Plan
from murmure.privacy import Central, Clear, Local, noise_in
from murmure.statistics.gradient import FINE, MOST_WEIGHT, Gradient, Slope
from murmure.statistics.gram import Gram
from murmure.statistics.taylor import Parabola, Taylor

METHODS = ("taylor", "gradient")
CLEAR_BITS = 16
LONGEST = 4.0  # a step of Newton's method, in any weight: far from the solution its parabola says little
SETTLED = 2.0**-14
LEARNED = ("classes_", "coef_", "intercept_", "names_", "features_", "n_iter_")


class LogisticRegression(Learner):
    """Classes from a weighted sum of the columns.

    target: the column of classes, which are public (Categories). method: see the top of this file. shape, radius,
    ridge, trim: as in LinearRegression. steps: of the noisy gradient, public. max_iter: of Newton's, in the clear.

    coef_ has one row for two classes, as in scikit-learn, else one row for each class; of a category, coefficients are
    against its first label.
    """

    kind = "classifier"
    classes_: NDArray[Any]  # the labels of the target, from the schema
    coef_: Floats  # one row for two classes, else one for each
    intercept_: Floats  # one for each row of coef_
    post_: str  # what was done to the noisy sums, in words
    names_: tuple[str, ...]  # what intercept and coefficients stand for
    features_: tuple[str, ...]  # the columns, in order
    n_iter_: NDArray[np.int64]  # steps taken for each row of coef_

    def __init__(
        self,
        schema: Any = None,
        target: str | None = None,
        privacy: Any = None,
        method: Literal["taylor", "gradient"] = "taylor",
        shape: str | None = None,
        radius: float | None = None,
        ridge: float | Literal["auto"] = "auto",
        trim: bool = True,
        steps: int = 3,
        max_iter: int = 50,
        engine: Any = None,
        ledger: Any = None,
        rng: Any = None,
    ) -> None:
        self.schema = schema
        self.target = target
        self.privacy = privacy
        self.method = method
        self.shape = shape
        self.radius = radius
        self.ridge = ridge
        self.trim = trim
        self.steps = steps
        self.max_iter = max_iter
        self.engine = engine
        self.ledger = ledger
        self.rng = rng

    # -- learning -------------------------------------------------------------------------------------------------

    def _check(self, rows: Rows) -> None:
        if self.method not in METHODS:
            raise InvalidParameter(
                f"LogisticRegression.method must be one of {', '.join(METHODS)}, got {shorten(self.method)}."
            )
        check_ridge(self)
        for name in ("steps", "max_iter"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1000:
                raise InvalidParameter(
                    f"LogisticRegression.{name} must be a whole number from 1 to 1000, got {shorten(value)}."
                )
        ask = self._asked(rows.schema, self.privacy)
        if noise_in(self.privacy) is not None and self.method == "gradient" and ask.outcome.width > 1:
            raise InvalidParameter(
                f'LogisticRegression: method="gradient" takes two classes, {self._target!r} has {ask.outcome.width}.',
                hint='method="taylor" learns any number of them from one set of sums',
            )

    def _asked(self, schema: Schema, privacy: Any) -> Taylor:
        noise = noise_in(privacy)
        if noise is None:
            return Taylor(schema, self._target or "", shape=self.shape or "box", radius=self.radius, bits=CLEAR_BITS)
        shape = self.shape or ("diamond" if noise.pure else "ball")
        norm: Literal["l1", "l2"] = "l1" if noise.pure else "l2"
        return Taylor(schema, self._target or "", shape=shape, radius=self.radius, norm=norm)

    def _steps(self, schema: Schema, privacy: FromSums) -> Generator[Plan, Any, dict[str, Any]]:
        ask = self._asked(schema, privacy)
        if noise_in(privacy) is None:
            weights, taken = yield from self._newton(ask, privacy)
            return {**self._learned(ask, weights, "none: the sums are exact"), "n_iter_": np.array(taken)}
        if self.method == "taylor":
            released: Parabola = yield privacy.plan(ask)
            weights, said = self._least(released)
        else:
            weights, said = yield from self._descent(ask, privacy)
        return {**self._learned(ask, weights, said), "n_iter_": np.array([self.steps * (self.method == "gradient")])}

    def _learn_locally(self, rows: Rows, privacy: Local, gate: Gate) -> dict[str, Any]:
        """The parabola of unbiased sums; or the loss itself, on the randomised rows as they are."""
        ask = self._asked(rows.schema, privacy)
        if not privacy.debias:
            from murmure.learn.local_rows import sanitised

            table, guarantees = sanitised(rows.schema, rows.frame, privacy, gate.rng, self.engine)
            said = {**self.get_params(), "schema": rows.schema, "privacy": Clear(), "ledger": None, "rng": gate.rng}
            fitted = type(self)(**said).fit(table)
            learned = {name: getattr(fitted, name) for name in LEARNED}
            lean = "none: learned from randomised rows as they are, which leans to 0"
            return {"guarantees_": guarantees, **learned, "post_": lean}
        from murmure.learn.local_sums import unbiased_products

        if ask.outcome.width > 1:
            raise InvalidParameter(
                f"LogisticRegression: under Local, unbiased sums are for two classes; {self._target!r} has more.",
                hint="Local(epsilon, debias=False), or NaiveBayes",
            )
        products, guarantees = unbiased_products(
            Gram(ask.domain, ask.target, shape="box"), rows.frame, privacy, gate.rng
        )
        Z, noise = products.sums, products.noise
        parabola = Parabola(
            products.names[:-1], ("",), Z[:-1, :-1], Z[:-1, -1:], noise[:-1, :-1], float(noise[:-1, -1].max())
        )
        return {"guarantees_": guarantees, **self._learned(ask, *self._least(parabola))}

    def _newton(self, ask: Taylor, privacy: FromSums) -> Generator[Plan, Any, tuple[list[Floats], list[int]]]:
        """The weights of every class, and how many steps they took."""
        out, taken = [], []
        for positive in [1] if ask.outcome.width == 1 else range(ask.outcome.width):
            w, number, settled = np.zeros(ask.design.width), 0, False
            while number < self.max_iter and not settled:
                slope: Slope = yield privacy.plan(_gradient(ask, w, positive, curvature=True))
                assert slope.curvature is not None
                step = solve(slope.curvature, -slope.gradient, 0.0).weights
                step *= min(1.0, LONGEST / max(float(np.abs(step).max()), LONGEST))
                w, number, settled = _on_grid(w + step), number + 1, bool(np.abs(step).max() < SETTLED)
            out.append(w)
            taken.append(number)
        return out, taken

    def _least(self, released: Parabola) -> tuple[list[Floats], str]:
        """The minimum of the parabola: A w = 2 sum v y for y = -1 or 1, and 4 sum v (y - 1/2) for an indicator y."""
        A, said, out = released.design, "", []
        for c in range(released.cross.shape[1]):
            b = 2 * released.cross[:, c] if len(released.classes) == 1 else 4 * (released.cross[:, c] - A[0] / 2)
            solved = self._solve(released, b)
            out.append(solved.weights)
            said = solved.said
        return out, said

    def _solve(self, released: Parabola, b: Floats) -> Any:
        deviation = float(np.sqrt(released.design_noise.max()))
        return solve(released.design, b, deviation, self.ridge, self.trim)

    def _descent(self, ask: Taylor, privacy: FromSums) -> Generator[Plan, Any, tuple[list[Floats], str]]:
        first, *rest = privacy.noises([1.0] + [1.0 / self.steps] * self.steps)
        released: Parabola = yield privacy.plan(ask, first)
        [w], said = self._least(released)
        for noise in rest:
            w = _on_grid(w)
            slope: Slope = yield privacy.plan(_gradient(ask, w, 1), noise)
            # sigma' has mean about 1/4 / sqrt(1 + pi/8 E z^2) for normal z; below twice the cautious step all is safe
            z2 = float(w @ released.design @ w) / max(released.design[0, 0], 1.0)
            length = min(math.sqrt(1 + math.pi / 8 * max(z2, 0.0)), 1.9)
            # a gradient that is mostly noise is shrunk, by what noise alone would measure (James and Stein, 1961)
            size = float(slope.gradient @ slope.gradient)
            sure = max(0.0, 1 - len(w) * slope.noise / size) if size else 0.0
            w = w + sure * length * self._solve(released, -4 * slope.gradient).weights
        return [w], said

    def _learned(self, ask: Taylor, weights: list[Floats], said: str) -> dict[str, Any]:
        classes, design = ask.domain[ask.target], ask.design
        assert isinstance(classes, Categories)
        w = np.stack(weights)
        coef = w[:, 1:] / design.units
        return {
            "classes_": np.array(range(classes.size) if isinstance(classes.values, int) else classes.values),
            "coef_": coef,
            "intercept_": w[:, 0] - coef @ design.middles,
            "post_": said,
            "names_": tuple(design.names[1:]),
            "features_": design.features,
        }

    # -- predicting -----------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """w.(1, x): one number for two classes, else one for each class."""
        columns = self._columns(X)
        x = rows_to_predict(type(self).__name__, self.schema_, columns, self.features_)
        z = x @ self.coef_.T + self.intercept_
        return np.asarray(z[:, 0] if len(self.coef_) == 1 else z)

    def predict_proba(self, X: Any) -> Floats:
        """P[c | x], one column for each class; of more than two, each against the rest, brought to sum 1."""
        z = self.decision_function(X)
        p = 0.5 * (1 + np.tanh(z / 2))  # sigma, without overflow
        if p.ndim == 1:
            return np.stack([1 - p, p], axis=1)
        p = np.maximum(p, 1e-300)
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every row."""
        z = self.decision_function(X)
        return np.asarray(self.classes_[(z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)])

    def score(self, X: Any, y: Any = None) -> float:
        """The share of rows whose class is predicted; y may stand in the table."""
        self._require_fitted()
        truth = X[self._target] if y is None else y
        return float(np.mean(self.predict(X) == np.asarray(truth)))


def _on_grid(w: Floats) -> Floats:
    """Weights as the next question names them."""
    most = MOST_WEIGHT / (1 << FINE)
    return np.asarray(np.rint(np.clip(w, -most, most) * (1 << FINE)) / (1 << FINE))


def _gradient(ask: Taylor, w: Floats, positive: int, curvature: bool = False) -> Gradient:
    whole = tuple(int(v) for v in np.rint(w * (1 << FINE)))
    return Gradient(ask.domain, ask.target, whole, positive, ask.shape, ask.radius, ask.bits, curvature)


_PEOPLE = Schema(
    {
        "age": Integers(0, 9),
        "smoker": Categories(["never", "once", "daily"]),
        "bmi": Interval(15.0, 45.0, cells=30),
        "sick": Categories(["no", "yes"]),
    }
)

EXAMPLES = (
    LogisticRegression(_PEOPLE, "sick", Central(1.0)),
    LogisticRegression(_PEOPLE, "smoker", Central(2.0, relation="replace"), shape="box"),
    LogisticRegression(_PEOPLE, "sick", Central(1.0), method="gradient"),
    LogisticRegression(_PEOPLE, "sick", Central(1.0, delta=1e-6), method="gradient", steps=2, ridge=1.0),
)
