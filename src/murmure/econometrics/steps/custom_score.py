"""Maximum likelihood, or any estimating equation, by a custom score: a Python function of parameters and rows.

    score(theta, rows) -> (n, p)      psi_i = dl_i / d theta, one row each; rows: a dictionary of columns of floats
    A = -S[d psi / d theta'],   B = S[psi psi']
    b <- b + A^-1 S[psi]        Newton
    Cov = A^-1 B A^-T           Huber 1967; Stefanski and Boos, Amer. Statist. 56(1), 2002, eq. (9)

Without a Hessian, A comes from central differences of the score of each row. For a likelihood A is symmetric (and is
made so if a log-likelihood is given). A maximum has a positive definite A; where A is not positive definite

    b <- b + B^-1 S[psi]        Berndt, Hall, Hall and Hausman 1974

goes uphill. For other equations (a ratio of means, instruments) A need not be symmetric, B^-1 S[psi] leads nowhere, and
Newton's step is always taken. So a score without log-likelihood counts as that of a likelihood if its A is symmetric.

The function runs where the rows are: on this machine, on its engine, or for all parties in one process. A study over a
network does not take it, since no party should run the code of others on its rows: the statistic is not in any
catalogue, and plans contain a digest of the code and never the code itself. Families by name (models/mle.py) run in
studies, since every party has their formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.core.schema import Schema
from murmure.econometrics.algebra.matrices import Matrix, Singular, Vector, inverse, matmul, symmetric, transpose
from murmure.econometrics.algebra.positive_definite import is_positive_definite
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.errors import FitFailed, NotConverged, TooFewObservations
from murmure.econometrics.model import ClusterErrors
from murmure.econometrics.results.regression import Regression
from murmure.econometrics.rows.glm_rows import MAX_SUMMAND
from murmure.econometrics.steps.digest_of_code import digest_of_code
from murmure.econometrics.steps.newton import Iterate, RoundLimit, check_rounds, climb, newton_step
from murmure.statistics.conditions.conditions import conditions_in
from murmure.statistics.exact.function_sums import FunctionSums
from murmure.statistics.expressions.row_functions import RowFunction

Score = Callable[[Floats, dict[str, Floats]], Any]
Errors = Literal["sandwich", "hessian", "opg"]

MAX_MOVE = 2  # of a parameter in one step, relative to its size
SYMMETRIC_WITHIN = Fraction(1, 1 << 24)  # of squares: the accuracy of central differences
# Of central differences, relative to a parameter: the cube root of the rounding of floats minimises their error.
DIFFERENCE_STEP = 2.0**-17


@dataclass(frozen=True, eq=False)
class CustomRows(RowFunction):
    """The row function of a custom score."""

    columns: tuple[str, ...]
    p: int
    score: Score
    hessian: Score | None = None
    loglik: Score | None = None

    def labels(self, inputs: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
        score = tuple(f"score {j + 1}" for j in range(self.p))
        square = tuple(f"{i + 1}, {j + 1}" for i in range(self.p) for j in range(self.p))
        products = tuple(f"products {i + 1}, {j + 1}" for i in range(self.p) for j in range(i, self.p))
        return (*score, *square, *products, *(("log-likelihood",) if self.loglik else ()), "no numbers")

    def values(self, x: tuple[Floats, ...], at: tuple[float, ...], settings: tuple[str, ...]) -> Floats:
        theta, rows = np.array(at), dict(zip(self.columns, x, strict=True))
        psi, h = self._call("score", self.score, theta, rows, (self.p,)), self._derivative(theta, rows)
        information = [-h[:, i, j] for i in range(self.p) for j in range(self.p)]
        products = [psi[:, i] * psi[:, j] for i in range(self.p) for j in range(i, self.p)]
        more = [] if self.loglik is None else [self._call("loglik", self.loglik, theta, rows, ())]
        out = np.stack([*psi.T, *information, *products, *more], axis=1)
        # A row with one value that cannot be added up is left out as a whole, and counted.
        good = (np.abs(out) <= MAX_SUMMAND).all(axis=1)  # NaN is not
        return np.concatenate([np.where(good[:, None], out, 0.0), ~good[:, None]], axis=1)

    def _derivative(self, theta: Floats, rows: dict[str, Floats]) -> Floats:
        """The derivative of the score of every row in every parameter: (n, p, p)."""
        if self.hessian is not None:
            return self._call("hessian", self.hessian, theta, rows, (self.p, self.p))
        out = []
        for j in range(self.p):
            step = DIFFERENCE_STEP * max(1.0, abs(theta[j]))
            up, down = theta.copy(), theta.copy()
            up[j], down[j] = theta[j] + step, theta[j] - step
            scores = [self._call("score", self.score, point, rows, (self.p,)) for point in (up, down)]
            out.append((scores[0] - scores[1]) / (up[j] - down[j]))
        return np.stack(out, axis=2)

    def _call(
        self, name: str, function: Score, theta: Floats, rows: dict[str, Floats], shape: tuple[int, ...]
    ) -> Floats:
        n = len(next(iter(rows.values())))
        # Copies: a score that changes its arguments must not change later calls.
        values = np.asarray(function(theta.copy(), {key: column.copy() for key, column in rows.items()}), np.float64)
        if values.shape != (n, *shape):
            raise InvalidParameter(
                "mle.{name} must give an array of shape {n} for {n_2} rows, got {got}.",
                hint="one row of the array for each row of data; np.stack([...], axis=1)",
                name=name,
                n=(n, *shape),
                n_2=n,
                got=values.shape,
            )
        return values

    def in_words(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> str:
        return Phrase("a score of one's own, of {columns}", columns=", ".join(inputs))


@dataclass(frozen=True)
class CustomSums(FunctionSums):
    """Sums of a custom function. `function` is the digest of its code; plans are JSON, so the code is not a field."""

    @classmethod
    def of(cls, rows: CustomRows, domain: Schema, digest: str, at: Vector) -> CustomSums:
        # The function must be there before __init__ checks the fields, and is not a field itself.
        out: CustomSums = object.__new__(cls)
        vars(out)["_function"] = rows
        texts = tuple(f"{v.numerator}/{v.denominator}" for v in at)
        out.__init__(domain, digest, rows.columns, texts)  # type: ignore[misc]
        return out


# Nobody can see the conditions in a function of one's own: it is judged by its columns, as what learners ask is.
conditions_in.register(CustomSums, conditions_in.dispatch(object))


@dataclass(frozen=True)
class MLE(ClusterErrors):
    """An estimate by a custom score. Made by `MLE.of(...)`, since the function itself is not a field."""

    noise_refusal: ClassVar[str | None] = Phrase(
        "there is no known bound on how far one row moves the sums of your own function"
    )
    runs_away: ClassVar[bool] = False
    domain: Schema
    columns: tuple[str, ...]
    names: tuple[str, ...]
    start: tuple[str, ...]
    digest: str
    errors: str = "sandwich"
    rounds: int = 100

    def __post_init__(self) -> None:
        if self.errors not in get_args(Errors):
            known = ", ".join(get_args(Errors))
            raise InvalidParameter(
                "mle.errors must be one of {known}, got {got}.", known=known, got=shorten(self.errors)
            )
        check_rounds("mle", self.rounds)
        if not self.columns or isinstance(self.columns, str):
            raise InvalidParameter(
                "mle.columns must name columns or expressions, got {got}.", got=shorten(self.columns)
            )
        if not self.names or len(self.names) != len(self.start) or len(set(self.names)) != len(self.names):
            raise InvalidParameter(
                "mle.start must give every parameter a value, got {got}.",
                hint='{{"mean": 0, "log sd": 0}}, or a list of numbers',
                got=shorten(self.start),
            )

    @classmethod
    def of(cls, rows: CustomRows, domain: Schema, names: Sequence[str], start: Sequence[Fraction], *more: Any) -> MLE:
        digest = digest_of_code(rows.score, rows.hessian, rows.loglik)
        out = cls(domain, rows.columns, tuple(names), tuple(str(v) for v in start), digest, *more)
        vars(out)["_rows"] = rows
        _ = out.question(tuple(start))  # refuses now what cannot be added up
        return out

    @property
    def _custom_rows(self) -> CustomRows:
        if "_rows" not in vars(self):
            raise InvalidParameter("this MLE has no function.", hint="mle(score, start, data, columns)")
        rows: CustomRows = vars(self)["_rows"]
        return rows

    def in_words(self) -> str:
        return Phrase("maximum likelihood by one's own function of {columns}", columns=", ".join(self.columns))

    # -- the ascent

    def question(self, at: Vector) -> CustomSums:
        return CustomSums.of(self._custom_rows, self.domain, self.digest, at)

    def interpret(self, at: Vector, answer: Any) -> Iterate:
        """A point at which some row has no score counts as outside, so that the step is halved."""
        p, sums = len(at), [Fraction(v) for v in answer.sums]
        named = dict(zip(answer.labels, sums, strict=True))
        A: Matrix = tuple(tuple(sums[p + p * i : 2 * p + p * i]) for i in range(p))
        llf, outside = named.get("log-likelihood"), named["no numbers"] > 0
        if llf is not None:
            A = _symmetric_part(A)
        iterate = Iterate(at, answer.n, tuple(sums[:p]), A, llf, named, outside)
        B = self._products(iterate)
        return iterate if _is_symmetric(A, B) else replace(iterate, spread=B)

    def step(self, iterate: Iterate) -> Vector:
        """Newton's step, or that of Berndt and others, no parameter moves by more than MAX_MOVE times its size."""
        newton = iterate.spread is not None or is_positive_definite(iterate.information)
        step = newton_step(iterate if newton else replace(iterate, information=self._products(iterate)))
        times_too_far = max(
            abs(d) / (MAX_MOVE * max(Fraction(1), abs(b))) for d, b in zip(step, iterate.at, strict=True)
        )
        return tuple(d / max(times_too_far, Fraction(1)) for d in step)

    def _products(self, iterate: Iterate) -> Matrix:
        return symmetric([v for name, v in iterate.sums.items() if name.startswith("products ")], len(self.names))

    def separation(self, step: Vector) -> None:
        return None

    def moving_columns(self, step: Vector) -> list[str]:
        return list(self.names)

    def steps(self) -> Generator[Any, Any, Regression]:
        p, rounds = len(self.names), RoundLimit(self.rounds, "maximum likelihood")
        try:
            at, iterate = yield from climb(self, tuple(Fraction(v) for v in self.start), rounds)
        except NotConverged as error:
            raise NotConverged(error.message, hint=WAYS_OUT) from None
        if iterate.n <= p:
            raise TooFewObservations(
                "{n} rows for {p} parameters.", hint="fewer parameters, or more rows", n=iterate.n, p=p
            )
        try:
            covariance = self._covariance(iterate)
        except Singular:
            raise FitFailed(
                "maximum likelihood: the matrix of second derivatives is singular at the estimate.",
                hint="some parameters cannot be told apart: leave one out",
            ) from None
        return Regression(
            model="MLE",
            formula=Phrase("score {digest} of {columns}", digest=self.digest[4:16], columns=", ".join(self.columns)),
            outcome=", ".join(self.columns),
            names=self.names,
            coefficients=at,
            covariance=covariance,
            n=iterate.n,
            df_model=p,
            df_resid=iterate.n - p,
            use_t=False,
            cov_type=self.errors,
            llf=None if iterate.llf is None else float(iterate.llf),
            has_intercept=False,
        )

    def _covariance(self, iterate: Iterate) -> Matrix:
        A, B = iterate.information, self._products(iterate)
        if self.errors != "sandwich" and iterate.spread is not None:
            raise FitFailed(
                "mle: the derivative of this score is not symmetric, so it is not the score of a likelihood, which "
                "errors of kind {errors!r} need.",
                hint='errors="sandwich" is valid for any equation',
                errors=self.errors,
            )
        if self.errors == "opg":
            return inverse(B)
        if self.errors == "hessian":
            return inverse(_symmetric_part(A))
        bread = inverse(A)
        return _symmetric_part(matmul(matmul(bread, B), transpose(bread)))


def _symmetric_part(A: Matrix) -> Matrix:
    """The symmetric part of A."""
    return tuple(tuple((v + A[j][i]) / 2 for j, v in enumerate(row)) for i, row in enumerate(A))


def _is_symmetric(A: Matrix, B: Matrix) -> bool:
    """Whether A is symmetric within the accuracy of central differences. B has the units of A."""

    def size(i: int, j: int) -> Fraction:
        return max(abs(A[i][i] * A[j][j]), B[i][i] * B[j][j])

    return all((A[i][j] - A[j][i]) ** 2 <= SYMMETRIC_WITHIN * size(i, j) for i in range(len(A)) for j in range(i))


WAYS_OUT = Phrase(
    "choose another start, allow more rounds (rounds=...), or give the log-likelihood (loglik=...); a score falls as "
    "its parameter rises: x - theta, not theta - x"
)
