"""Multinomial regression of labels: `mle(family="multinomial", formula="ward ~ age")`, as statsmodels' MNLogit.

Every label but the first of the schema, the base, has a set of coefficients (multinomial_rows.py). Sums, steps and
errors are those of the other regressions (irls.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from murmure.core.catalogue_entries import ModelEntry
from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.matrices import Matrix, Vector, matmul, times, transpose
from murmure.econometrics.algebra.rounding import Floats, log_float
from murmure.econometrics.design.columns import exact_number, group_labels, label_condition
from murmure.econometrics.design.design_matrix import Design, columns_in_words
from murmure.econometrics.design.factors import quoted
from murmure.econometrics.design.from_formula import design_from_formula
from murmure.econometrics.errors import EmptyCategory
from murmure.econometrics.model import Example
from murmure.econometrics.rows.glm_rows import NAMES
from murmure.econometrics.steps.irls import CUT_ROWS, LinkedRegression
from murmure.econometrics.steps.named_family import NamedFamily, start_values
from murmure.econometrics.steps.robust_errors import rounded_covariance
from murmure.statistics.exact.function_sums import FunctionSums

MAX_OUTCOME_LABELS = 64


@dataclass(frozen=True, eq=False)
class MultinomialFit(LinkedRegression):
    """A multinomial regression; `predict` has a column for each of `labels`."""

    labels: tuple[str, ...] = ()

    def predict(self, rows: Any) -> Floats:
        """The chance of every label for new rows, (rows, labels)."""
        assert self.design is not None
        z = self.design.matrix(rows)
        b = self.params.reshape(len(self.labels) - 1, -1)
        eta = np.concatenate([np.zeros((len(z), 1)), z @ b.T], axis=1)
        odds = np.exp(eta - eta.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Multinomial(NamedFamily):
    """design: the columns, without an outcome; outcome: the column of labels. errors and start as in FamilyMLE."""

    family: ClassVar[str] = "multinomial"
    outcome: str = ""
    start: tuple[str, ...] = ()

    _result_type: ClassVar[type[LinkedRegression]] = MultinomialFit

    entry = ModelEntry(order=300)

    def __post_init__(self) -> None:
        if not isinstance(self.design, Design) or self.outcome not in self.design.domain.private:
            raise InvalidParameter(
                "mle: the design of a multinomial regression must include its outcome, got {got}.",
                got=shorten(self.outcome),
            )
        if len(self.labels) < 2 or len(self.labels) > MAX_OUTCOME_LABELS:
            raise InvalidParameter(
                "mle: outcome {outcome!r} has {label_count} labels; it must have 2 to {max_outcome_labels}.",
                outcome=self.outcome,
                label_count=len(self.labels),
                max_outcome_labels=MAX_OUTCOME_LABELS,
            )
        object.__setattr__(self, "start", tuple(str(exact_number("mle", "start", v)) for v in self.start))
        self._check()  # not super().__post_init__(), since this design has no outcome
        if self.start:
            start_values(dict(zip(self.parameters, self.start, strict=False)), self.parameters)
            if len(self.start) != len(self.parameters):
                start_values({}, self.parameters)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the outcome; the others are compared with the first."""
        return group_labels("mle", self.design.domain, self.outcome, "formula")

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters, label by label."""
        return tuple(f"{self.outcome}[{label}]: {name}" for label in self.labels[1:] for name in self.design.names)

    @property
    def _extra(self) -> int:
        return (len(self.labels) - 2) * len(self.design.terms)

    @property
    def _null_names(self) -> tuple[str, ...]:
        return self.labels

    def _asks(self, mode: str, at: Vector) -> FunctionSums:
        return FunctionSums(
            self.design.domain,
            "multinomial",
            (
                *(label_condition(self.design.domain, self.outcome, label) for label in self.labels),
                *self._coordinates.expressions,
            ),
            tuple(f"{v.numerator}/{v.denominator}" for v in at),
            (mode, str(len(self.labels)), *map(str, self._scales)),
        )

    def _check_outcome(self) -> None:
        pass  # its labels have been checked

    def in_words(self) -> str:
        words = Phrase(
            "a {name} of the labels of {outcome} on {columns}, in at most {rounds} rounds of sums",
            name=NAMES["multinomial"],
            outcome=self.outcome,
            columns=columns_in_words(self.design),
            rounds=self.rounds,
        )
        return Phrase("{words}; errors: {errors}", words=words, errors=self.errors) if self._robust else words

    def later_rounds(self) -> str:
        """What every round releases, including the first."""
        p = len(self.design.terms)
        return Phrase(
            "the first round releases {width} sums over all rows: {square} of products of two columns, how many rows "
            "have each of the {labels} labels, and {cut}; {later}",
            width=self._asks("start", ()).width,
            square=p * (p + 1) // 2,
            labels=len(self.labels),
            cut=CUT_ROWS,
            later=super().later_rounds(),
        )

    @property
    def _separates(self) -> bool:
        return True

    # -- the ascent

    def _scores(self, sums: Vector) -> Vector:
        return (*(Fraction(0),) * len(self.design.terms), *sums)  # the search starts at 0, and needs no scores

    def _check_varies(self, n: int, null: dict[str, Fraction]) -> None:
        empty = next((label for label, rows in null.items() if not rows), None)
        if empty is not None:
            raise EmptyCategory(
                "outcome {outcome!r}: no party has a row with label {empty!r}.",
                hint="leave it out of the schema, or join labels",
                columns=[self.outcome],
                outcome=self.outcome,
                empty=empty,
            )

    def _start(self, guess: Vector, null: dict[str, Fraction], n: int) -> Vector:
        p = len(guess)
        if not self.start:
            return (Fraction(0),) * (p * (len(self.labels) - 1))
        of_labels = _cut([Fraction(v) for v in self.start], p)
        return tuple(c for b in of_labels for c in self._coordinates.from_units(b))

    def separation(self, step: Vector) -> FunctionSums:
        return self._asks("separation", step)

    def moving_columns(self, step: Vector) -> list[str]:
        names = (name for part in _cut(step, len(self.design.terms)) for name in self._coordinates.largest_moves(part))
        return list(dict.fromkeys(names))

    # -- the result

    def _in_units(self, at: Vector, covariance: Matrix, *units: Fraction) -> tuple[Vector, Matrix]:
        """b = T' D c for every label."""
        coordinates, p, k = self._coordinates, len(self.design.terms), len(at)
        D = [Fraction(2) ** -e for e in coordinates.scales]
        M: Matrix = tuple(
            tuple(coordinates.T[j % p][i % p] * D[j % p] if i // p == j // p else Fraction(0) for j in range(k))
            for i in range(k)
        )
        spread = matmul(matmul(M, covariance), transpose(M))
        return times(M, at), rounded_covariance(spread)

    def _llnull(self, null: dict[str, Fraction], n: int) -> float | None:
        return sum(float(rows) * log_float(rows / n) for rows in null.values())

    def _result(self, *arguments: Any) -> LinkedRegression:
        regression = super()._result(*arguments)
        p, k = len(self.design.terms), len(self.parameters)
        base = Phrase(
            "coefficients compare each label of {outcome} with {label!r}", outcome=self.outcome, label=self.labels[0]
        )
        return replace(
            regression,
            model="MLE (multinomial)",
            formula=f"{quoted(self.outcome)} {self.design.formula}",
            outcome=self.outcome,
            names=self.parameters,
            df_model=(p - self.design.has_intercept) * (len(self.labels) - 1),
            df_resid=(regression.n or 0) - k,
            remarks=(base, *regression.remarks),
            labels=self.labels,  # type: ignore[call-arg]
        )


def _cut(values: Any, p: int) -> list[Any]:
    return [values[i : i + p] for i in range(0, len(values), p)]


def multinomial_model(
    formula: str, data: Any, schema: Any, privacy: Any, errors: Any, rounds: Any, start: Any
) -> Multinomial:
    """The model of a formula whose outcome is the name of a column of labels."""
    left, tilde, right = formula.partition("~")
    name = left.strip().removeprefix("`").removesuffix("`")
    if not tilde or not name:
        raise InvalidParameter(
            "mle: formula {formula} must name an outcome, a column of labels.",
            hint='"ward ~ age"',
            formula=shorten(formula, 100),
        )
    design = design_from_formula("mle", f"~ {right.strip()}", data, schema, privacy, quoted(name), outcome=False)
    if name not in design.domain.private:
        raise InvalidParameter(
            "mle: the outcome of a multinomial regression must be a column of labels, got {got}.",
            hint="the first label of the schema is the base for the others",
            got=shorten(left.strip()),
        )
    plain = Multinomial(design, errors, rounds, name)
    return plain if start is None else replace(plain, start=start_values(start, plain.parameters))


_CLINIC = Schema({"ward": Categories(["A", "B", "C"]), "age": Integers(18, 99), "stay": Integers(0, 60)})
_ROWS: dict[str, list[Any]] = {
    "ward": ["ABC"[(i * i + i // 5) % 3] for i in range(60)],
    "age": [18 + (i * 29) % 80 for i in range(60)],
    "stay": [(7 * i * i + 3 * i) % 41 for i in range(60)],
}
_DESIGN = Design(_CLINIC, "~ age + stay", "", "", ("Intercept", "age", "stay"), ("1", "age", "stay"))

EXAMPLES = (
    Example(Multinomial(_DESIGN, outcome="ward"), _ROWS),
    Example(Multinomial(_DESIGN, "sandwich", 12, "ward"), _ROWS),
)
