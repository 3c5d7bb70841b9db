"""Regressions with a link: a first guess, Newton's steps on sums, robust errors, and the result.

    start       Z'W z of a public first guess (glm_rows.py): shows the rank of the design before anything is fitted
    each round  score, information and log-likelihood at b, summed over all rows
    end         Cov = H^-1, H the observed information; Cov = H^-1 S[u u'] H^-1 (HC0, HC1, cluster: one more round)

If columns nearly depend on one another, the start is repeated in better coordinates (coordinates.py).

White, Econometrica 50(1), 1982, eq. (3.2). With clusters u is summed within a party before it is squared. For few rows
or parties: HC1 n / (n - k), as in least squares and Stata's robust; cluster G / (G - 1) (n - 1) / (n - k). statsmodels
leaves that factor out of the HC1 of its discrete models and of its GLM, where HC1 is HC0.
"""

from __future__ import annotations

from collections.abc import Generator
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.matrices import Matrix, Vector, inverse, matmul, scaled, solve, symmetric
from murmure.econometrics.design.constant_columns import constant_value
from murmure.econometrics.design.design_matrix import Design, columns_in_words
from murmure.econometrics.design.factors import quoted
from murmure.econometrics.design.scales import bounds_of
from murmure.econometrics.errors import FitFailed, NotConverged, NoVariation, TooFewObservations
from murmure.econometrics.model import ClusterErrors
from murmure.econometrics.results.regression import ENDS, INVERSE_LINKS, Regression
from murmure.econometrics.rows.glm_rows import FAMILIES, NAMES, SEPARATION, Family
from murmure.econometrics.steps.coordinates import Coordinates, lost_digits
from murmure.econometrics.steps.newton import Iterate, RoundLimit, check_rounds, climb, iterate_from_answer, newton_step
from murmure.econometrics.steps.robust_errors import party_outer_products, rounded_covariance
from murmure.show.document import Table
from murmure.show.phrase import Several
from murmure.statistics.exact.function_sums import FunctionSums

Errors = Literal["nonrobust", "HC0", "HC1", "cluster"]

NO_NOISE = Phrase("no bound on how far one row moves the sums of its steps is small enough to hide it")

CUT_ROWS = Phrase("how many rows were cut at the largest number that a sum takes")
FIGURES = {  # of a round
    "log-likelihood": Phrase("the log-likelihood"),
    "chi-squared": Phrase("Pearson's chi-squared"),
    "deviance": Phrase("the deviance"),
    "at the cap": Phrase("how many rows are beyond what floats hold"),
    "log(y / mu)": Phrase("log(y / mean)"),
    "y / mu": Phrase("y / mean"),
    "log(y)": "log(y)",
}


@dataclass(frozen=True, eq=False)
class LinkedRegression(Regression):
    """The result of a regression with a link. Predictions are means of the outcome, with the offset of the row."""

    offset: str | None = None

    @property
    def _ratios_of(self) -> str | None:
        """What exp(coefficient) is a ratio of, if anything."""
        if self.model == "Logit":
            return Phrase("Odds ratios")
        return Phrase("Rate ratios") if self.model in ("Poisson", "NegativeBinomial") else None

    @property
    def ratios(self) -> Any:
        """exp(coefficient) of each column: odds ratios of a logit, rate ratios of counts; None for other models."""
        if self._ratios_of is None or self.design is None:
            return None
        with np.errstate(over="ignore"):
            return np.exp(self.params[: len(self.design.terms)])

    def tables(self) -> list[Table]:
        ends, ratios, title = self.conf_int(), self.ratios, self._ratios_of
        if ends is None or ratios is None or title is None:
            return super().tables()
        names = self.names[: len(ratios)]  # alpha is not the coefficient of a column
        with np.errstate(over="ignore"):
            rows = zip(names, ratios.tolist(), *np.exp(ends[: len(names)]).T.tolist(), strict=True)
        return [*super().tables(), Table(title, ("", Phrase("exp(coef)"), *ENDS), tuple(rows))]

    def predict(self, rows: Any) -> Any:
        from murmure.econometrics.design.float_columns import evaluate

        assert self.design is not None
        eta = self.design.matrix(rows) @ self.params[: len(self.design.terms)]  # without alpha
        if self.offset is not None:
            eta = eta + evaluate((self.offset,), self.design.domain, rows)[:, 0]
        return INVERSE_LINKS[self.link](eta)


@dataclass(frozen=True)
class LinkedModel(ClusterErrors):
    """The base of these regressions. errors: "nonrobust", "HC0", "HC1", or "cluster" (rows of a party are a cluster).

    rounds: how many questions it asks at most.
    """

    noise_refusal: ClassVar[str | None] = NO_NOISE
    runs_away: ClassVar[bool] = False
    family: ClassVar[str]
    design: Design
    errors: str = "nonrobust"
    rounds: int = 25

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if not isinstance(self.design, Design) or not self.design.outcome:
            raise InvalidParameter(
                "{owner}.design must be a Design with an outcome, got {got}.", owner=owner, got=shorten(self.design)
            )
        self._check()

    def _check(self) -> None:
        owner = type(self).__name__
        if self.errors not in self._known_errors:
            raise InvalidParameter(
                "{owner}.errors must be one of {known_errors}, got {got}.",
                owner=owner,
                known_errors=", ".join(self._known_errors),
                got=shorten(self.errors),
            )
        check_rounds(owner, self.rounds)
        self._check_outcome()
        _ = self._asks("start", ())  # refuses now what cannot be added up

    # -- questions ---------------------------------------------------------------------------------------------------

    @property
    def _family(self) -> str:
        return self.family

    @property
    def _law(self) -> Family:
        return FAMILIES[self._family]

    @property
    def _extra(self) -> int:
        """The number of parameters besides those of the columns."""
        return self._law.extra

    @property
    def _null_names(self) -> tuple[str, ...]:
        """The names of the sums in the first answer besides scores and products."""
        return self._law.null_names

    @property
    def _robust(self) -> bool:
        """Whether errors take another round."""
        return self.errors != self._known_errors[0]

    @property
    def _link(self) -> str:
        return {"logit": "logit", "probit": "probit", "inverse": "inverse"}.get(self._family, "log")

    @property
    def _offset(self) -> str | None:
        return None

    def _check_outcome(self) -> None:
        raise NotImplementedError

    def _refuse_outcome(self, wanted: str, hint: str) -> InvalidParameter | NoVariation:
        for name in self.design.columns:
            value = constant_value(self.design.domain, name)
            if value is not None and quoted(name) == self.design.outcome:
                message = Phrase(
                    "{kind} takes {wanted}; {name!r} is {value} for everybody.",
                    kind=type(self).__name__,
                    wanted=wanted,
                    name=name,
                    value=value,
                )
                return NoVariation(message, hint="there is nothing to explain", columns=[name])
        low, high, step = bounds_of(self.design.domain, self.design.outcome)
        return InvalidParameter(
            "{kind} takes {wanted}; {outcome_name!r} lies between {low} and {high} in steps of {step}.",
            hint=hint,
            kind=type(self).__name__,
            wanted=wanted,
            outcome_name=self.design.outcome_name,
            low=short_number(low),
            high=short_number(high),
            step=short_number(step),
        )

    @cached_property
    def _coordinates(self) -> Coordinates:
        """The coordinates of questions: at first the columns, within -1 and 1 by the bounds of the schema."""
        return Coordinates.of(self.design.domain, self.design.names, self.design.terms)

    def _with_coordinates(self, coordinates: Coordinates) -> Any:
        """The same model in these coordinates."""
        model = copy(self)
        # The dataclass is frozen, and coordinates are not part of the model: they follow from its sums.
        vars(model)["_coordinates"] = coordinates
        vars(model).pop("_first_sums", None)
        return model

    @property
    def _scales(self) -> tuple[int, ...]:
        return self._coordinates.scales

    @property
    def _outcome_scale(self) -> int:
        return 0

    @cached_property
    def _first_sums(self) -> FunctionSums:
        """Later questions are about the same columns."""
        offset = () if self._offset is None else (self._offset,)
        inputs = (self.design.outcome, *offset, *self._coordinates.expressions)
        scales = (str(k) for k in (self._outcome_scale, *self._scales))
        return FunctionSums(self.design.domain, self._family, inputs, (), ("start", "offset" * bool(offset), *scales))

    def _asks(self, mode: str, at: Vector) -> FunctionSums:
        first = self._first_sums
        return first.with_parameters(tuple(f"{v.numerator}/{v.denominator}" for v in at), (mode, *first.settings[1:]))

    @property
    def domain(self) -> Schema:
        return self._asks("start", ()).domain

    @property
    def max_sums(self) -> int:
        """Sums of all rounds together, at most: no later question has more than a step."""
        k = len(self.design.terms) + self._extra
        step = self._asks("step", (Fraction(0),) * k).width
        return self._asks("start", ()).width + (self.rounds - 1) * step

    def in_words(self) -> str:
        name = NAMES[self._family]
        about = {
            "name": name,
            "outcome": self.design.outcome_name,
            "columns": columns_in_words(self.design),
            "rounds": self.rounds,
        }
        words = (
            Phrase("an {name} of {outcome} on {columns}, in at most {rounds} rounds of sums", **about)
            if name[0] in "aeiou"
            else Phrase("a {name} of {outcome} on {columns}, in at most {rounds} rounds of sums", **about)
        )
        if self._offset is not None:
            words = Phrase("{words}; offset: {offset}", words=words, offset=self._offset)
        return Phrase("{words}; errors: {errors}", words=words, errors=self.errors) if self._robust else words

    @property
    def _separates(self) -> bool:
        """Whether a round may ask how many rows a direction predicts without error."""
        return self._law.settles is not None

    def later_rounds(self) -> str:
        """What later rounds release, for those who approve a study."""
        k = len(self.design.terms) + self._extra
        square, step = k * (k + 1) // 2, self._asks("step", (Fraction(0),) * k)
        each = Phrase(
            "each later round releases {width} sums over all rows, at coefficients that follow from the rounds "
            "before: {k} of scores (how the log-likelihood changes with each coefficient), {square} of their slopes "
            "(the information), {figures}, and {cut}",
            width=step.width,
            k=k,
            square=square,
            figures=Several([FIGURES[name] for name in step.labels[k + square :]], Phrase(", ")),
            cut=CUT_ROWS,
        )
        words: str = Phrase(
            "{each}; in place of such a round, the first may be asked again for what some columns leave of others",
            each=each,
        )
        if self._separates:
            words = Phrase("{words}, or a round may ask {question}", words=words, question=SEPARATION)
        if self._robust and self.errors != "cluster":
            words = Phrase(
                "{words}; a last one, for the errors, releases {square} sums of products of two scores, and {cut}",
                words=words,
                square=square,
                cut=CUT_ROWS,
            )
        return words

    # -- the ascent ---------------------------------------------------------------------------------------------------

    def question(self, at: Vector) -> FunctionSums:
        return self._asks("step", at)

    def interpret(self, at: Vector, answer: Any) -> Iterate:
        return iterate_from_answer(at, answer, len(at))

    def step(self, iterate: Iterate) -> Vector:
        return newton_step(iterate)

    def separation(self, step: Vector) -> FunctionSums | None:
        if self._law.settles is None:
            return None
        return self._asks("separation", step[: len(self.design.terms)])

    def moving_columns(self, step: Vector) -> list[str]:
        return self._coordinates.largest_moves(step)

    def steps(self) -> Generator[Any, Any, Regression]:
        p, rounds = len(self.design.terms), RoundLimit(self.rounds, NAMES[self._family])
        if self._robust:
            rounds.left -= 1  # reserved for the errors
        candidate: LinkedModel | None = self
        while candidate is not None:
            rounds.take()
            model, answer = candidate, (yield candidate._asks("start", ()))
            first = self._scores(tuple(Fraction(v) for v in answer.sums))
            gram = symmetric(first[p:], p)
            null = dict(zip(self._null_names, first[p + p * (p + 1) // 2 :], strict=True))
            self._check_rows(answer.n, null)
            better = model._coordinates.improved(gram, answer.n)
            candidate = None if better is None else self._with_coordinates(better)
        # Weighted least squares of the first guess: one step of iteratively reweighted least squares from public
        # weights.
        start = tuple(row[0] for row in solve(gram, [[v] for v in first[:p]]))
        null = self._first_guess(start, tuple(first[:p]), null, answer.n)
        try:
            at, iterate = yield from climb(model, model._start(start, null, answer.n), rounds)
        except NotConverged:
            self._check_end(rounds.last)  # may raise a better reason
            raise
        self._check_end(iterate)
        meat = None
        if self._robust:
            meat = yield from model._meat(at)
        return model._result(at, iterate, gram, null, meat)

    def _check_rows(self, n: int, null: dict[str, Fraction]) -> None:
        k = len(self.design.terms) + self._extra
        if n <= k:
            raise TooFewObservations(
                "{n} row{plural} for {k} parameters leave no degree of freedom.",
                hint="fewer columns, or more rows",
                n=n,
                plural="s" * (n != 1),
                k=k,
            )
        self._check_varies(n, null)

    def _scores(self, sums: Vector) -> Vector:
        """The first answer as a score for each column, then their products, then the sums of the null model."""
        return sums

    def _first_guess(self, guess: Vector, score: Vector, null: dict[str, Fraction], n: int) -> dict[str, Fraction]:
        """`null`, with first guesses of further parameters added."""
        return null

    def _start(self, guess: Vector, null: dict[str, Fraction], n: int) -> Vector:
        return (*guess, *((Fraction(0),) * self._extra))

    def _check_varies(self, n: int, null: dict[str, Fraction]) -> None:
        if null["y"] in (0, n):
            raise NoVariation(
                "outcome {outcome_name!r} is {y} for everybody.",
                hint="there is nothing to explain",
                columns=[self.design.outcome_name],
                outcome_name=self.design.outcome_name,
                y=int(null["y"] == n),
            )

    def _check_end(self, iterate: Iterate | None) -> None:
        pass

    # -- the result ---------------------------------------------------------------------------------------------------

    def _meat(self, at: Vector) -> Generator[Any, Any, tuple[Matrix, Fraction]]:
        """S[u u'], and the correction for few rows or few parties."""
        k = len(at)
        if self.errors != "cluster":
            answer = yield self._asks("squares", at)
            factor = Fraction(answer.n, answer.n - k) if self.errors == "HC1" else Fraction(1)
            return symmetric([Fraction(v) for v in answer.sums], k), factor
        meat, parties, n = yield from party_outer_products(self._asks("score", at), k)
        return meat, Fraction(parties, parties - 1) * Fraction(n - 1, n - k)

    def _bread(self, iterate: Iterate, gram: Matrix) -> Matrix:
        return inverse(iterate.information)

    def _robust_covariance(self, iterate: Iterate, meat: Matrix, factor: Fraction) -> Matrix:
        bread = inverse(iterate.information)
        return tuple(tuple(factor * v for v in row) for row in matmul(matmul(bread, meat), bread))

    def _dispersion(self, iterate: Iterate) -> Fraction:
        return Fraction(1)

    def _result(
        self,
        at: Vector,
        iterate: Iterate,
        gram: Matrix,
        null: dict[str, Fraction],
        meat: tuple[Matrix, Fraction] | None,
    ) -> LinkedRegression:
        p, scale = len(self.design.terms), self._dispersion(iterate)
        if meat is None:
            covariance: Matrix = tuple(tuple(scale * v for v in row) for row in self._bread(iterate, gram))
        else:
            covariance = self._robust_covariance(iterate, *meat)
        coefficients, covariance = self._in_units(at, covariance)
        intercept = self.design.has_intercept
        llf = self._llf(iterate, scale)
        llnull = self._llnull(null, iterate.n) if intercept else None
        measures = {Phrase("deviance"): "deviance", Phrase("Pearson chi-squared"): "chi-squared"}
        extras: dict[str, Any] = {
            name: float(iterate.sums[label]) for name, label in measures.items() if label in iterate.sums
        }
        remarks = list(self.design.remarks)
        if not intercept:
            remarks.append(
                Phrase(
                    "there is no intercept: the model with a constant alone is no part of this one, and neither a "
                    "likelihood ratio nor a pseudo R-squared compares them"
                )
            )
        remarks += [text for text in (self._about_likelihood, lost_digits(iterate.information)) if text]
        return self._result_type(
            model=type(self).__name__,
            formula=self.design.formula,
            outcome=self.design.outcome_name,
            names=(*self.design.names, *self._more_names),
            coefficients=coefficients,
            covariance=covariance,
            n=iterate.n,
            df_model=p - intercept,
            df_resid=iterate.n - p,
            use_t=False,
            cov_type=self.errors,
            scale=scale,
            llf=llf,
            llnull=llnull,
            has_intercept=intercept,
            design=self.design,
            extras=extras,
            remarks=tuple(remarks),
            link=self._link,
            offset=self._offset,
        )

    _result_type: ClassVar[type[LinkedRegression]] = LinkedRegression
    _more_names: ClassVar[tuple[str, ...]] = ()
    _known_errors: ClassVar[tuple[str, ...]] = get_args(Errors)  # the first comes from the information alone

    @property
    def _about_likelihood(self) -> str | None:
        return None

    def _in_units(self, at: Vector, covariance: Matrix, *units: Fraction) -> tuple[Vector, Matrix]:
        """Coefficients and covariance in the units of the columns. units: factors of further parameters."""
        b, scaled_covariance = self._coordinates.to_units(at, covariance, units)
        by = Fraction(2) ** -self._outcome_scale  # if coefficients have the unit of the outcome
        return tuple(v * by for v in b), rounded_covariance(scaled(scaled_covariance, by * by))

    def _llf(self, iterate: Iterate, scale: Fraction) -> float | None:
        return None if iterate.llf is None else float(iterate.llf)

    def _llnull(self, null: dict[str, Fraction], n: int) -> float | None:
        return None


def check_cap(model: LinkedModel, iterate: Iterate | None) -> None:
    rows = 0 if iterate is None else int(iterate.sums["at the cap"])
    if rows:
        cap = model._law.cap
        raise FitFailed(
            "{names}: {rows} row{plural} would have a mean above exp({cap:g}) or below exp(-{cap:g}).",
            hint="leave out rows or columns with extreme numbers, or take logarithms: log(x)",
            names=NAMES[model._family],
            rows=rows,
            plural="s" * (rows != 1),
            cap=cap,
        )


def short_number(v: Fraction) -> str:
    return str(v) if v.denominator == 1 else f"{float(v):g}"
