"""Logistic regression:  P[class | x] = sigma(w.(1, x)).

    auto      noisy class counts, then what the noise leaves room for, judged by public numbers (affordable_sums.py):
              the shares of the classes; their means (class_sums.py, discriminant.py); the columns'
              covariances about the mean (scatter.py); and for two classes noisy gradients of the loss itself
              at the point that was reached, also about the mean, or steps of Newton's method with its noisy curvature.
              Any number of classes. The default.
    clear     Newton's method on the loss itself, a plan for each step (gradient.py); between parties too,
              where their sums are exact
    taylor    the functional mechanism: the loss is replaced by its parabola at 0, whose coefficients are noisy sums
              (taylor.py; Zhang et al., PVLDB 5(11), 2012, section 5.3). One plan; any number of classes.
    gradient  the parabola with half of the budget, then a public number of steps along noisy gradients of the loss
              itself, each as long as the noisy parabola's curvature says: sum v v' / 4 lies above that of the loss
              (Boehning and Lindsay, Ann. Inst. Stat. Math. 40, 1988). Costs add up: pure epsilon by sequential
              composition (Dwork, McSherry, Nissim, Smith, TCC 2006), rho for delta > 0 (Bun and Steinke, TCC 2016,
              lemma 1.7). Bassily, Smith, Thakurta, FOCS 2014, bound the error of noisy gradients.

    local     the parabola of unbiased sums of products, or the loss itself on the randomised rows as they are

With more than two classes each is learned against the rest: from one set of sums (taylor), one after the other (clear).
Under auto they are learned together, and probabilities are those of softmax.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from murmure.central.base.gate import Gate
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, Plural, shorten
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.learn.affordable_sums import AffordableSums, affordable_sums, ask_class_counts, deviation, try_bind
from murmure.learn.base import Classifier, SumPrivacy, labels_of
from murmure.learn.discriminant import NO_DIFFERENCE, TOO_FEW, combined_counts, covariance, means_of, scores, shares_of
from murmure.learn.least_squares import AS_THEY_ARE, Floats, check_ridge, solve
from murmure.learn.prediction_columns import rows_to_predict
from murmure.learn.training_table import TrainingTable
from murmure.plan.plan import Plan
from murmure.plan.privacy import Central, Local, Privacy, noise_in
from murmure.show.document import Table
from murmure.statistics.learning.class_sums import ClassCountsEstimate, ClassSums, ClassSumsEstimate
from murmure.statistics.learning.gradient import FINE, MAX_GRID_WEIGHT, Gradient, GradientEstimate
from murmure.statistics.learning.gram import Gram, GramEstimate
from murmure.statistics.learning.scatter import Scatter
from murmure.statistics.learning.taylor import Taylor, TaylorEstimate

METHODS = ("auto", "taylor", "gradient")
SQUARES_SHARE = 0.75  # of what the class sums get
CLEAR_BITS = 16
MAX_NEWTON_STEP = 4.0  # a step of Newton's method, in any weight: far from the solution its parabola says little
MIN_NEWTON_STEP = 2.0**-14
LEARNED_ATTRIBUTES = ("classes_", "coef_", "intercept_", "names_", "features_", "n_iter_", "softmax_")


class LogisticRegression(Classifier):
    """Classes from a weighted sum of the columns.

    target: the column of classes, which are public (Categories). method: see the top of this file. shape, radius: as in
    LinearRegression. ridge, trim, steps: of "taylor" and "gradient"; as in LinearRegression, and how many noisy
    gradients there are. max_iter: of Newton's method, in the clear.

    coef_ has one row for two classes, as in scikit-learn, else one row for each class; of a category, coefficients are
    against its first label.

    >>> import murmure as mu
    >>> from murmure.learn import LogisticRegression
    >>> schema = mu.Schema({"age": mu.Integers(18, 99), "sick": mu.Categories(["no", "yes"])})
    >>> rows = {"age": list(range(20, 90)) * 50, "sick": ["no" if age < 55 else "yes" for age in range(20, 90)] * 50}
    >>> model = LogisticRegression(schema, target="sick", privacy=mu.Central(epsilon=1.0), rng=mu.Random.seeded(7))
    >>> _ = model.fit(rows)
    >>> print(model.predict({"age": [25, 85]}).tolist(), model.predict_proba({"age": [25, 85]}).round(3).tolist())
    ['no', 'yes'] [[1.0, 0.0], [0.0, 1.0]]
    >>> print(model.post_)
    class means and covariances, shrunk by the noise; 1 noisy gradient
    """

    classes_: NDArray[Any]  # the labels of the target, from the schema
    coef_: Floats  # one row for two classes, else one for each
    intercept_: Floats  # one for each row of coef_
    post_: str  # what was done to the noisy sums, in words
    names_: tuple[str, ...]  # the names of the coefficients
    features_: tuple[str, ...]  # the columns, in order
    n_iter_: NDArray[np.int64]  # steps taken for each row of coef_
    softmax_: bool  # of more than two classes: whether they were learned together, or each against the rest

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | None = None,
        privacy: Privacy | None = None,
        method: Literal["auto", "taylor", "gradient"] = "auto",
        shape: str | None = None,
        radius: float | None = None,
        ridge: float | Literal["auto"] = "auto",
        trim: bool = True,
        steps: int = 3,
        max_iter: int = 50,
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
        self.steps = steps
        self.max_iter = max_iter
        self.engine = engine
        self.ledger = ledger
        self.rng = rng

    # -- learning -------------------------------------------------------------------------------------------------

    def _check(self, rows: TrainingTable) -> None:
        if self.method not in METHODS:
            raise InvalidParameter(
                "LogisticRegression.method must be one of {methods}, got {got}.",
                methods=", ".join(METHODS),
                got=shorten(self.method),
            )
        check_ridge(self)
        for name in ("steps", "max_iter"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1000:
                raise InvalidParameter(
                    "LogisticRegression.{name} must be a whole number from 1 to 1000, got {got}.",
                    name=name,
                    got=shorten(value),
                )
        ask = self._asked(rows.schema, self.privacy)
        if noise_in(self.privacy) is not None and self.method == "gradient" and ask.outcome.width > 1:
            raise InvalidParameter(
                'LogisticRegression: method="gradient" takes two classes, {target!r} has {width}.',
                hint='method="auto" and method="taylor" learn any number of them',
                target=self._target,
                width=ask.outcome.width,
            )

    def _asked(self, schema: Schema, privacy: Any) -> Taylor:
        noise = noise_in(privacy)
        if noise is None:
            return Taylor(schema, self._target or "", shape=self.shape or "box", radius=self.radius, bits=CLEAR_BITS)
        shape = self.shape or ("diamond" if noise.pure else "ball")
        norm: Literal["l1", "l2"] = "l1" if noise.pure else "l2"
        return Taylor(schema, self._target or "", shape=shape, radius=self.radius, norm=norm)

    def _steps(self, schema: Schema, privacy: SumPrivacy) -> Generator[Plan, Any, dict[str, Any]]:
        ask = self._asked(schema, privacy)
        if noise_in(privacy) is None:
            weights, taken = yield from self._newton(ask, privacy)
            return {**self._learned(ask, weights, "none: the sums are exact"), "n_iter_": np.array(taken)}
        if self.method == "auto":
            return (yield from self._by_room(ask, privacy))
        if self.method == "taylor":
            released: TaylorEstimate = yield privacy.plan(ask)
            weights, done = self._least(released)
        else:
            weights, done = yield from self._descent(ask, privacy)
        return {
            **self._learned(ask, weights, done),
            "n_iter_": np.array([self.steps * (self.method == "gradient")]),
        }

    def _learn_locally(self, rows: TrainingTable, privacy: Local, gate: Gate) -> dict[str, Any]:
        """The parabola of unbiased sums; or the loss itself, on the randomised rows as they are."""
        ask = self._asked(rows.schema, privacy)
        if not privacy.debias:
            fitted, guarantees = self._fit_randomised(rows, privacy, gate)
            learned = {name: getattr(fitted, name) for name in LEARNED_ATTRIBUTES}
            return {"guarantees_": guarantees, **learned, "post_": AS_THEY_ARE}
        from murmure.learn.local_sums import unbiased_products

        if ask.outcome.width > 1:
            raise InvalidParameter(
                "LogisticRegression: under Local, unbiased sums are for two classes; {target!r} has more.",
                hint="Local(epsilon, debias=False), or NaiveBayes",
                target=self._target,
            )
        products, guarantees = unbiased_products(
            Gram(ask.domain, ask.target, shape="box"), rows.frame, privacy, gate.rng
        )
        Z, noise = products.sums, products.noise
        parabola = TaylorEstimate(
            products.names[:-1], ("",), Z[:-1, :-1], Z[:-1, -1:], noise[:-1, :-1], float(noise[:-1, -1].max())
        )
        return {"guarantees_": guarantees, **self._learned(ask, *self._least(parabola))}

    def _newton(self, ask: Taylor, privacy: SumPrivacy) -> Generator[Plan, Any, tuple[list[Floats], list[int]]]:
        """The weights of every class, and how many steps they took."""
        out, taken = [], []
        for positive in [1] if ask.outcome.width == 1 else range(ask.outcome.width):
            w, number, settled = np.zeros(ask.design.width), 0, False
            while number < self.max_iter and not settled:
                slope: GradientEstimate = yield privacy.plan(_gradient(ask, w, positive, curvature=True))
                assert slope.curvature is not None
                step = _limited(solve(slope.curvature, -slope.gradient, 0.0).weights)
                w, number, settled = _on_grid(w + step), number + 1, bool(np.abs(step).max() < MIN_NEWTON_STEP)
            out.append(w)
            taken.append(number)
        return out, taken

    def _least(self, released: TaylorEstimate) -> tuple[list[Floats], str]:
        """The minimum of the parabola: A w = 2 sum v y for y = -1 or 1, and 4 sum v (y - 1/2) for an indicator y."""
        A, done, out = released.design, "", []
        for c in range(released.cross.shape[1]):
            b = 2 * released.cross[:, c] if len(released.classes) == 1 else 4 * (released.cross[:, c] - A[0] / 2)
            solved = self._solve(released, b)
            out.append(solved.weights)
            done = solved.post_processing
        return out, done

    def _solve(self, released: TaylorEstimate, b: Floats) -> Any:
        deviation = float(np.sqrt(released.design_noise.max()))
        return solve(released.design, b, deviation, self.ridge, self.trim)

    def _descent(self, ask: Taylor, privacy: SumPrivacy) -> Generator[Plan, Any, tuple[list[Floats], str]]:
        # Half of the budget for the parabola, the other half for all gradients together.
        first, *rest = privacy.noises([1.0] + [1.0 / self.steps] * self.steps)
        released: TaylorEstimate = yield privacy.plan(ask, first)
        [w], done = self._least(released)
        for noise in rest:
            w = _on_grid(w)
            slope: GradientEstimate = yield privacy.plan(_gradient(ask, w), noise)
            z2 = float(w @ released.design @ w) / max(released.design[0, 0], 1.0)
            w = w + _step(slope, z2, lambda g: self._solve(released, -4 * g).weights)
        return [w], done

    # -- auto -----------------------------------------------------------------------------------------------------

    def _by_room(self, ask: Taylor, privacy: SumPrivacy) -> Generator[Plan, Any, dict[str, Any]]:
        """Counts; then, by what they and the noise say, means, covariances and gradients."""
        design, classes = ask.design, ask.domain[ask.target].size
        sums = ClassSums(ask.domain, ask.target, ask.shape, ask.radius, ask.bits)
        about = Scatter(ask.domain, ask.target, (), ask.shape, ask.radius, ask.bits - 1, ask.norm)
        first = yield from ask_class_counts(sums, privacy)
        alone = [deviation(privacy, question, first.remaining_noise) for question in (sums, about)]
        room = affordable_sums(first.people, alone[0], alone[1], classes)
        if not room.means:
            again: ClassCountsEstimate = yield privacy.plan(first.question, first.remaining_noise)
            weights = np.zeros((classes, design.width))
            weights[:, 0] = np.log(shares_of(combined_counts(first.counted, again))[0])
            return self._answer(ask, weights, np.zeros(design.width - 1), TOO_FEW, 0)
        noises = privacy.noises([1.0] + [SQUARES_SHARE] * room.squares + [1.0] * room.steps, first.remaining_noise)
        asked = [sums, *([about] * room.squares), *([_gradient(ask, np.zeros(design.width))] * room.steps)]
        if any(try_bind(privacy, question, noise) is None for question, noise in zip(asked, noises, strict=True)):
            room, noises = AffordableSums(True), [first.remaining_noise]  # so much noise cannot be drawn: less is asked
        summed: ClassSumsEstimate = yield privacy.plan(sums, noises[0])
        means = means_of(first.counted, summed)
        done: str = Phrase("class means, shrunk by the noise, and a public guess of how columns vary")
        if not room.squares:
            weights, centre = scores(means, None), means.centre
        else:
            # on the coarsest grid that is asked about, so that it is the same point everywhere
            whole = _near(ask, means.centre, ask.bits - 2 if room.curvature else ask.bits - 1)
            whole = tuple((1 + room.curvature) * c for c in whole)
            about = replace(about, centre=whole)
            spread: GramEstimate = yield privacy.plan(about, noises[1])
            centre = np.array(whole) / about.design.g
            off = means.centre - centre
            total, _ = covariance(spread, means.people, off)
            weights = scores(means, total)
            done = Phrase("class means and covariances, shrunk by the noise")
            if room.steps:
                w, weights = weights[1] - weights[0], np.zeros_like(weights)
                w[0] -= w[1:] @ off  # from here on about the centre that is on the grid
                bend = _curvature(means.people, off, total)
                if room.curvature:
                    weights[1] = yield from self._noisy_newton(ask, privacy, noises[2:], w, whole)
                    done = Phrase("{done}; {n} noisy steps of Newton's method", done=done, n=room.steps)
                else:
                    weights[1] = yield from self._along(ask, privacy, noises[2:], w, whole, bend)
                    done = Plural("{done}; {n} noisy gradient", "{done}; {n} noisy gradients", n=room.steps, done=done)
            else:
                centre = means.centre
        if means.signal_share == 0 and not room.steps:
            done = NO_DIFFERENCE
        return self._answer(ask, weights, centre, done, room.steps)

    def _along(
        self, ask: Taylor, privacy: SumPrivacy, noises: list[Any], w: Floats, centre: tuple[int, ...], bend: Floats
    ) -> Generator[Plan, Any, Floats]:
        """Steps along noisy gradients about a centre, each as long as the curvature at 0 says, or a little longer."""
        for noise in noises:
            w = _on_grid(w)
            finer = tuple(2 * c for c in centre)
            slope: GradientEstimate = yield privacy.plan(_gradient(ask, w, centre=finer), noise)
            w = w + _step(slope, float(w @ bend @ w) / bend[0, 0], lambda g: np.linalg.solve(bend, -g))
        return w

    def _noisy_newton(
        self, ask: Taylor, privacy: SumPrivacy, noises: list[Any], w: Floats, centre: tuple[int, ...]
    ) -> Generator[Plan, Any, Floats]:
        """Steps with the noisy curvature of the loss where they begin, on a grid whose products stay below 2**31."""
        coarser = tuple(c // 2 for c in centre)
        for noise in noises:
            w = _on_grid(w)
            question = replace(_gradient(ask, w, curvature=True), bits=ask.bits - 2, centre=coarser)
            slope: GradientEstimate = yield privacy.plan(question, noise)
            assert slope.curvature is not None
            # Noise may make the curvature negative in some direction: there the step is kept short.
            values, vectors = np.linalg.eigh(slope.curvature)
            least = max(math.sqrt(len(w) * slope.curvature_noise), 1e-9)
            step = -vectors @ ((vectors.T @ slope.gradient) / np.maximum(values, least))
            w = w + _limited(step)
        return w

    def _answer(self, ask: Taylor, weights: Floats, centre: Floats, done: str, steps: int) -> dict[str, Any]:
        """Weights of (1, x - centre), one row for each class, as coefficients of x."""
        weights = weights.copy()
        weights[:, 0] -= weights[:, 1:] @ centre
        rows = [weights[1] - weights[0]] if len(weights) == 2 else list(weights)
        return {**self._learned(ask, rows, done, softmax=True), "n_iter_": np.array([steps] * len(rows))}

    def _learned(self, ask: Taylor, weights: list[Floats], done: str, softmax: bool = False) -> dict[str, Any]:
        design, w = ask.design, np.stack(weights)
        coef = w[:, 1:] / design.units
        return {
            "classes_": labels_of(ask.domain[ask.target]),
            "coef_": coef,
            "intercept_": w[:, 0] - coef @ design.middles,
            "post_": done,
            "names_": tuple(design.names[1:]),
            "features_": design.features,
            "softmax_": softmax,
        }

    def _summary_tables(self) -> list[Table]:
        """Log-odds: of the second class against the first, or of each against the rest."""
        classes = [str(c) for c in self.classes_]
        head: tuple[str, ...] = tuple(classes)
        if len(self.coef_) == 1:
            head = (Phrase("{one} against {other}", one=classes[1], other=classes[0]),)
        columns = np.column_stack([self.intercept_, self.coef_])
        names = ("intercept", *self.names_)
        rows = tuple((name, *map(float, columns[:, i])) for i, name in enumerate(names))
        return [Table("", (Phrase("log-odds"), *head), rows)]

    # -- predicting -----------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """w.(1, x): one number for two classes, else one for each class."""
        columns = self._columns(X)
        x = rows_to_predict(type(self).__name__, self.schema_, columns, self.features_)
        z = x @ self.coef_.T + self.intercept_
        return np.asarray(z[:, 0] if len(self.coef_) == 1 else z)

    def predict_proba(self, X: Any) -> Floats:
        """P[c | x], one column for each class; of more than two that were learned apart, brought to sum 1."""
        z = self.decision_function(X)
        if z.ndim > 1 and getattr(self, "softmax_", False):
            odds = np.exp(z - z.max(axis=1, keepdims=True))
            return np.asarray(odds / odds.sum(axis=1, keepdims=True))
        p = 0.5 * (1 + np.tanh(z / 2))  # sigma, without overflow
        if p.ndim == 1:
            return np.stack([1 - p, p], axis=1)
        p = np.maximum(p, 1e-300)
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every row."""
        z = self.decision_function(X)
        return np.asarray(self.classes_[(z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)])


def _step(slope: GradientEstimate, z2: float, solve_for: Any) -> Floats:
    """A step of Newton's with the curvature at 0; z2: the mean square of w.v."""
    # sigma' has mean about 1/4 / sqrt(1 + pi/8 E z^2) for normal z; below twice the cautious step all is safe
    length = min(math.sqrt(1 + math.pi / 8 * max(z2, 0.0)), 1.9)
    # a gradient that is mostly noise is shrunk, by what noise alone would measure (James and Stein, 1961)
    size = float(slope.gradient @ slope.gradient)
    sure = max(0.0, 1 - len(slope.gradient) * slope.noise / size) if size else 0.0
    return np.asarray(sure * length * solve_for(slope.gradient))


def _near(ask: Taylor, centre: Floats, bits: int) -> tuple[int, ...]:
    """The centre on a grid of `bits` bits, within the columns' reach there and on all finer ones; 0 for indicators."""
    most = []
    for finer in range(bits, ask.bits + 1):
        axes = replace(ask.design, bits=finer).axes
        ends = [0 if axis.indicators else axis.largest >> finer - bits for axis in axes for _ in range(axis.width)]
        most.append(ends)
    limit = np.min(most, axis=0)
    return tuple(int(c) for c in np.clip(np.rint(centre * (1 << bits)), -limit, limit))


def _curvature(people: float, off: Floats, total: Floats) -> Floats:
    """Of the loss at 0, for (1, x - centre): people / 4 times the mean of its products."""
    v = np.append(1.0, off)
    out = np.outer(v, v)
    out[1:, 1:] += total
    return np.asarray(people / 4 * out)


def _on_grid(w: Floats) -> Floats:
    """Weights as the next question names them."""
    most = MAX_GRID_WEIGHT / (1 << FINE)
    return np.asarray(np.rint(np.clip(w, -most, most) * (1 << FINE)) / (1 << FINE))


def _gradient(
    ask: Taylor, w: Floats, positive: int = 1, curvature: bool = False, centre: tuple[int, ...] = ()
) -> Gradient:
    """The question about the slope at w, which is on the grid."""
    whole = tuple(int(v) for v in np.rint(w * (1 << FINE)))
    return Gradient(ask.domain, ask.target, whole, positive, ask.shape, ask.radius, ask.bits, curvature, centre)


def _limited(step: Floats) -> Floats:
    return step * min(1.0, MAX_NEWTON_STEP / max(float(np.abs(step).max()), MAX_NEWTON_STEP))


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
    LogisticRegression(_PEOPLE, "smoker", Central(60.0, relation="replace")),
    LogisticRegression(_PEOPLE, "sick", Central(300.0)),  # room for gradients, for few people too
    LogisticRegression(_PEOPLE, "sick", Central(300.0, delta=1e-6), shape="box"),
    LogisticRegression(_PEOPLE, "sick", Central(20_000.0)),  # and for steps of Newton's method
    LogisticRegression(_PEOPLE, "sick", Central(1.0), method="taylor"),
    LogisticRegression(_PEOPLE, "smoker", Central(2.0, relation="replace"), method="taylor", shape="box"),
    LogisticRegression(_PEOPLE, "sick", Central(1.0), method="gradient"),
    LogisticRegression(_PEOPLE, "sick", Central(1.0, delta=1e-6), method="gradient", steps=2, ridge=1.0),
)
