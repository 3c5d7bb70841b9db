"""Naive Bayes: attributes are independent within a class; numbers are Gaussian, categories have their shares.

    log P[c | x] = log n_c + sum_numbers log N(x_j; theta_cj, var_cj) + sum_categories log p_c[x_j] + constant.

Everything is learned from one vector of sums (class_moments.py), so one plan does it. Vaidya, Shafiq, Basu,
Hong, WI-IAT 2013, first made it differentially private. Splits of the budget over d_cat categories and d_num numbers:

    best    both moments of a number in one block, shares by the error of the log-odds: the default. Where all
            attributes are numbers and the noise leaves no room for that many figures (affordable_sums.py), the means of
            classes alone, from sums of rows in a public diamond (class_sums.py) and with a public guess of
            the variances; or, where not even those can be told from noise, the shares of the classes
    equal   epsilon / (1 + d_cat + 2 d_num) for the counts and for each table, sum and sum of squares
    vaidya  nominal / (d_cat + d_num + 1) for each of them, and 1 for the counts, as the paper has it. It calls this
            `nominal`; it costs 1 + (d_cat + 2 d_num) / (d_cat + d_num + 1) nominal. Here `privacy.epsilon` is always
            what it costs, and nominal_epsilon_ what the paper would call it; vaidya_cost turns one into the other.

The paper draws noise for means and deviations, of a scale that holds the true size of the class. Such noise has no
finite epsilon under add/remove (the scale itself tells the size), so it is not reproduced: the split is, on sums.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from murmure.central.base.gate import Gate
from murmure.core.domain import Categories, Integers, Interval
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.fixed import float_up
from murmure.core.random import Random
from murmure.core.schema import Schema
from murmure.learn.affordable_sums import FOR_MEANS, FOR_MOMENTS, ask_class_counts, deviation
from murmure.learn.base import Classifier, SumPrivacy, labels_of
from murmure.learn.discriminant import NO_DIFFERENCE, TOO_FEW, TYPICAL, combined_counts, means_of, shares_of
from murmure.learn.prediction_columns import categories_to_predict, numbers_to_predict
from murmure.learn.training_table import TrainingTable
from murmure.plan.plan import Plan
from murmure.plan.privacy import Central, Local, Privacy, noise_in
from murmure.show.document import Number, Table
from murmure.statistics.base.grid_design import MAX_DESIGN_COLUMNS
from murmure.statistics.learning.class_moments import ClassMoments, ClassSummary
from murmure.statistics.learning.class_sums import ClassCountsEstimate, ClassSums, ClassSumsEstimate

Floats = NDArray[np.float64]


def vaidya_cost(nominal: float, categories: int, numbers: int) -> float:
    """What Vaidya's split really costs, rounded up: 1 + (d_cat + 2 d_num) / (d_cat + d_num + 1) nominal."""
    exact = 1 + Fraction(nominal) * (categories + 2 * numbers) / (categories + numbers + 1)
    return float_up(exact)


def _can_ask_class_sums(ask: ClassMoments) -> bool:
    """Whether class sums can be asked first: of numbers, and of as many as a design takes."""
    return not ask.categories and len(ask.numbers) < MAX_DESIGN_COLUMNS


class NaiveBayes(Classifier):
    """Gaussian, categorical and mixed naive Bayes.

    target: the column of classes, which are public (Categories). split: see the top of this file. alpha: people who are
    added to every category of every class, in public (Laplace smoothing). shrink: noise pulls means, variances and
    shares towards those of all classes, as far as its known variance says; without noise nothing moves.

    >>> import murmure as mu
    >>> from murmure.learn import NaiveBayes
    >>> schema = mu.Schema(
    ...     {
    ...         "age": mu.Integers(0, 100),
    ...         "region": mu.Categories(["north", "south"]),
    ...         "sick": mu.Categories(["no", "yes"]),
    ...     }
    ... )
    >>> rows = {
    ...     "age": [20, 25, 30, 70, 75, 80] * 300,
    ...     "region": ["north", "north", "south", "south", "south", "north"] * 300,
    ...     "sick": ["no", "no", "no", "yes", "yes", "yes"] * 300,
    ... }
    >>> model = NaiveBayes(schema, target="sick", privacy=mu.Central(epsilon=1.0), rng=mu.Random.seeded(7)).fit(rows)
    >>> print(model.predict({"age": [22, 78], "region": ["north", "south"]}).tolist())
    ['no', 'yes']
    >>> print(model.class_count_.round(1).tolist(), model.theta_.round(1).tolist())
    [896.1, 901.4] [[24.8], [74.9]]
    >>> print(f"spent {model.spent_.epsilon:.6f}")
    spent 1.000000
    """

    _counts_people = True
    classes_: NDArray[Any]  # the labels of the target, from the schema
    class_count_: Floats  # how many people each class has: a noisy number, which may lie below 0
    class_prior_: Floats  # their shares, made positive
    theta_: Floats  # the mean of every number in every class
    var_: Floats  # and its variance
    category_prob_: dict[str, Floats]  # of every categorical column: the shares of its labels in every class
    numbers_: tuple[str, ...]  # the numeric columns, in the order of theta_
    categories_: tuple[str, ...]  # the categorical columns
    post_: str  # where less was asked than all moments: what, in words

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | None = None,
        privacy: Privacy | None = None,
        split: Literal["best", "equal", "vaidya"] = "best",
        alpha: float = 1.0,
        shrink: bool = True,
        engine: Any = None,
        ledger: Any = None,
        rng: Random | None = None,
    ) -> None:
        self.schema = schema
        self.target = target
        self.privacy = privacy
        self.split = split
        self.alpha = alpha
        self.shrink = shrink
        self.engine = engine
        self.ledger = ledger
        self.rng = rng

    # -- learning

    def _check(self, rows: TrainingTable) -> None:
        if self.split not in ("best", "equal", "vaidya"):
            raise InvalidParameter(
                'NaiveBayes.split must be "best", "equal" or "vaidya", got {got}.', got=shorten(self.split)
            )
        number = isinstance(self.alpha, int | float) and not isinstance(self.alpha, bool)
        if not number or not 0 < self.alpha < math.inf:
            raise InvalidParameter(
                "NaiveBayes.alpha must be a positive number, got {got}.",
                hint="alpha=1.0 adds one person to every category",
                got=shorten(self.alpha),
            )
        self._asked(rows.schema, self.privacy)  # refuses what does not fit together

    def _asked(self, schema: Schema, privacy: Any) -> tuple[ClassMoments, float | None]:
        """The question, and for Vaidya's split what the paper would call its epsilon."""
        target = self._target
        assert target is not None
        if self.split != "vaidya":
            return ClassMoments(schema, target, self.split), None
        ask, noise = ClassMoments(schema, target, "equal"), noise_in(privacy)
        if noise is None:
            return ask, None
        d, shares = len(ask.attributes), len(ask.categories) + 2 * len(ask.numbers)
        nominal = (noise.epsilon - 1) * (d + 1) / shares
        if not noise.pure or nominal <= 0:
            raise InvalidParameter(
                'NaiveBayes: split="vaidya" always spends a pure epsilon of 1 on the class counts; '
                "epsilon={epsilon:g}, delta={delta:g} does not cover it.",
                hint="epsilon=vaidya_cost(1.0, {category_count}, {number_count}) is what the paper calls epsilon = 1",
                epsilon=noise.epsilon,
                delta=noise.delta,
                category_count=len(ask.categories),
                number_count=len(ask.numbers),
            )
        weights = (1.0, *(nominal / (d + 1) for _ in range(shares)))
        return ClassMoments(schema, target, "equal", weights), nominal

    def _steps(self, schema: Schema, privacy: SumPrivacy) -> Generator[Plan, Any, dict[str, Any]]:
        ask, nominal = self._asked(schema, privacy)
        if noise_in(privacy) is not None and self.split == "best" and self.shrink and _can_ask_class_sums(ask):
            return (yield from self._by_room(ask, privacy))
        summary: ClassSummary = yield privacy.plan(ask)
        learned = self._learned(summary, ask)
        return learned if nominal is None else {**learned, "nominal_epsilon_": nominal}

    def _by_room(self, ask: ClassMoments, privacy: SumPrivacy) -> Generator[Plan, Any, dict[str, Any]]:
        """Counts; then, by what they and the noise say, nothing more, means, or all moments."""
        noise = noise_in(privacy)
        assert noise is not None
        sums = ClassSums(ask.domain, ask.target, "diamond" if noise.pure else "ball")
        first = yield from ask_class_counts(sums, privacy)
        alone = deviation(privacy, sums, first.remaining_noise)
        if first.people >= FOR_MOMENTS * ask.classes * alone:
            summary: ClassSummary = yield privacy.plan(ask, first.remaining_noise)
            return self._learned(summary, ask)
        # Not even the means can be told from noise: the rest of the budget counts the classes again.
        if first.people < FOR_MEANS * alone:
            again: ClassCountsEstimate = yield privacy.plan(first.question, first.remaining_noise)
            shares, people = shares_of(combined_counts(first.counted, again))
            centre = np.zeros((1, len(ask.numbers)))
            return self._alike(sums, people * shares, centre, np.full_like(centre, TYPICAL), TOO_FEW)
        summed: ClassSumsEstimate = yield privacy.plan(sums, first.remaining_noise)
        found = means_of(first.counted, summed)
        means = found.centre + found.signal_share * (found.means - found.centre)
        spread = TYPICAL + found.signal_share * np.repeat(found.noise[:, None], means.shape[1], axis=1)
        done = Phrase("class means, shrunk by the noise, and a public guess of the variances")
        return self._alike(
            sums, found.people * found.shares, means, spread, done if found.signal_share else NO_DIFFERENCE
        )

    def _alike(self, sums: ClassSums, counts: Floats, means: Floats, spread: Floats, done: str) -> dict[str, Any]:
        """Means and variances in half ranges, in the units of the columns; a single row is that of every class."""
        design, shape = sums.design, (sums.classes, sums.design.width - 1)
        return {
            "classes_": labels_of(sums.domain[sums.target]),
            "class_count_": counts,
            "class_prior_": counts / counts.sum(),
            "theta_": design.middles + design.units * np.broadcast_to(means, shape),
            "var_": design.units**2 * np.broadcast_to(spread, shape),
            "category_prob_": {},
            "numbers_": design.features,
            "categories_": (),
            "post_": done,
        }

    def _learned(self, summary: ClassSummary, ask: ClassMoments) -> dict[str, Any]:
        if self.shrink:
            summary = summary.shrunk()
        return {
            "classes_": labels_of(ask.domain[ask.target]),
            "class_count_": summary.counts,
            "class_prior_": summary.counts / summary.counts.sum(),
            "theta_": summary.theta,
            "var_": summary.var,
            "category_prob_": dict(zip(ask.categories, summary.probabilities(self.alpha), strict=True)),
            "numbers_": ask.numbers,
            "categories_": ask.categories,
        }

    def _learn_locally(self, rows: TrainingTable, privacy: Local, gate: Gate) -> dict[str, Any]:
        from murmure.learn.local_rows import class_tables, sanitised_rows
        from murmure.run.run import run

        ask = ClassMoments(rows.schema, self._target or "", "best")
        if privacy.debias:
            summary, guarantees = class_tables(ask, rows.frame, privacy, gate.rng, self.engine)
        else:
            table, guarantees = sanitised_rows(rows.schema, rows.frame, privacy, gate.rng)
            summary = run(Plan(ask), table, self.engine).estimate
        return {"guarantees_": guarantees, **self._learned(summary, ask)}

    def _summary_tables(self) -> list[Table]:
        """A column for every class: people, share, the mean and deviation of numbers, the shares of labels."""
        rows: list[tuple[Any, ...]] = [
            (Phrase("people"), *(Number(float(v)) for v in self.class_count_)),
            (Phrase("share"), *(_share(v) for v in self.class_prior_)),
        ]
        for j, name in enumerate(self.numbers_):
            rows.append((Phrase("{name}: mean", name=name), *map(float, self.theta_[:, j])))
            rows.append((Phrase("{name}: sd", name=name), *(math.sqrt(v) for v in self.var_[:, j])))
        for name in self.categories_:
            for i, label in enumerate(self.schema_[name].labels()):
                rows.append((f"{name} = {label}", *(_share(p) for p in self.category_prob_[name][:, i])))
        return [Table("", ("", *(str(c) for c in self.classes_)), tuple(rows))]

    def _post_processing(self) -> str:
        # exact sums, and randomised rows that are taken as they are, have no known noise to shrink by
        noise_known = self.privacy.debias if isinstance(self.privacy, Local) else noise_in(self.privacy) is not None
        if hasattr(self, "post_") or not (noise_known and self.shrink):
            return super()._post_processing()
        return Phrase("means, variances and shares are pulled towards those of all classes, as far as the noise says")

    # -- predicting

    def _joint(self, X: Any) -> Floats:
        columns = self._columns(X)
        x = numbers_to_predict(type(self).__name__, self.schema_, columns, self.numbers_, self.schema is not None)
        out = np.log(self.class_prior_) - 0.5 * np.log(2 * np.pi * self.var_).sum(axis=1)
        # Rows of one class at a time: (n, numbers) instead of (n, classes, numbers).
        spread = [((x - m) ** 2 / v).sum(axis=1) for m, v in zip(self.theta_, self.var_, strict=True)]
        joint = out - 0.5 * np.stack(spread, axis=1)
        for name in self.categories_:
            prob = self.category_prob_[name]
            logs = np.append(np.log(prob), np.zeros((len(prob), 1)), axis=1)  # an unknown label says nothing
            joint += logs[:, categories_to_predict(self.schema_, columns, name)].T
        return joint

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """log P[c, x], one column for each class."""
        return self._joint(X)

    def predict_log_proba(self, X: Any) -> Floats:
        """log P[c | x], one column for each class."""
        joint = self._joint(X)
        top = joint.max(axis=1, keepdims=True)
        return np.asarray(joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: Any) -> Floats:
        """P[c | x], one column for each class."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every row."""
        likeliest = self._joint(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])


_PEOPLE = Schema(
    {
        "sick": Categories(["no", "yes"]),
        "age": Integers(0, 9),
        "smoker": Categories(["never", "once", "daily"]),
        "bmi": Interval(15.0, 45.0, cells=30),
    }
)

_NUMBERS = Schema({name: _PEOPLE[name] for name in ("sick", "age", "bmi")})

EXAMPLES = (
    NaiveBayes(_PEOPLE, "sick", Central(1.0)),
    NaiveBayes(_PEOPLE, "smoker", Central(2.0, relation="replace"), split="equal"),
    NaiveBayes(_PEOPLE, "sick", Central(vaidya_cost(1.0, 1, 2)), split="vaidya", shrink=False),
    NaiveBayes(_PEOPLE, "sick", Central(1.0, delta=1e-6)),
    NaiveBayes(_NUMBERS, "sick", Central(0.5)),  # counts
    NaiveBayes(_NUMBERS, "sick", Central(20.0, relation="replace")),  # means
    NaiveBayes(_NUMBERS, "sick", Central(400.0, delta=1e-6)),  # all moments
    NaiveBayes(Schema({"y": Categories(3), "a": Categories(2), "b": Categories(2)}), "y", Central(0.5)),
)


def _share(value: Any) -> Number:
    return Number(float(value), "fixed", 4)
