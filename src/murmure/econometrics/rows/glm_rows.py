"""What one row adds to the score, the information and the log-likelihood of a generalised linear model.

    score z u,  information w z z'      u = dl/d eta,  w = - d^2 l / d eta^2: family_points.py

w is the observed information: all but "inverse" and "nb2" are concave in eta everywhere, and Newton's steps are those
of the exact likelihood.

Floats are allowed here: a party evaluates only its own rows, and its sums are whole numbers (FunctionSums). Rows are
computed column by column and never by a matrix product, whose last bits depend on how rows are cut into blocks, from
functions that have the same bits on every processor (algebra/elementary.py). z are the columns divided by public powers
of two, so that |z| <= 1 and sums of any unit fit.

`values` is the definition. `sums` gives the sums of the same whole numbers, from compiled kernels (glm_kernels.py)
where they are installed and there are enough rows; rows whose values they do not take go through `values`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from murmure.core.errors import InvalidParameter, Phrase, shorten
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.rows import family_points
from murmure.econometrics.rows.family_points import STIRLING_FROM, Constants
from murmure.econometrics.rows.glm_sums import GlmSums, kernels_of_rows
from murmure.statistics.expressions.row_functions import RowFunction

MAX_SUMMAND = 2.0**61  # what one row adds is cut here; cut rows are counted
# A step moves separated rows by one or more; rows that it moves by less than this have settled.
MIN_MOVE = 2.0**-10
MODES = ("start", "step", "squares", "score", "separation")
PointFunction = Callable[[Any, Any, Constants], Any]


@dataclass(frozen=True)
class Point:
    """The derivatives of l and the measures of fit, for each row."""

    u: Floats
    w: Floats
    llf: Floats
    chi2: Floats  # (y - mu)^2 / V(mu)
    deviance: Floats
    other: tuple[Floats, ...] = ()  # further figures of the family
    further: tuple[Floats, Floats, Floats] | None = None  # dl/d theta, - d^2 l/d eta d theta, - d^2 l/d theta^2
    outside: Any = False  # rows at which l is not defined


@dataclass(frozen=True)
class Family:
    """A family and its link."""

    name: str
    cap: float  # |eta| is cut at it
    points: Callable[[float], tuple[PointFunction, Constants]]  # theta: the function of y and eta, and its constants
    first: PointFunction  # y, offset: weighted response and weight of a first guess, then what the null model needs
    null_names: tuple[str, ...]
    other: tuple[str, ...] = ()
    extra: int = 0  # further parameters, besides those of eta
    measures: bool = True  # whether to add up chi-squared and deviance
    # y: the rows whose likelihood grows for ever as eta falls, and as it rises; None: such rows cannot exist
    settles: Callable[[Floats], tuple[Any, Any]] | None = None
    counts_outside: bool = False  # whether the last figure of its function says where l is not defined

    def at(self, y: Floats, eta: Floats, theta: float) -> Point:
        point, constants = self.points(theta)
        found = list(point(y, eta, constants))
        outside = found.pop() > 0 if self.counts_outside else False
        u, w, *found = found
        further = None
        if self.extra:
            first, cross, second, *found = found
            further = first, cross, second
        llf = found.pop(0)
        chi2, deviance, *found = found if self.measures else [llf, llf]
        return Point(u, w, llf, chi2, deviance, tuple(found), further, outside)


# -- families ---------------------------------------------------------------------------------------------------------


def _nb2_at(theta: float) -> tuple[PointFunction, Constants]:
    constants = family_points.constants_of_nb2(theta)
    return family_points.nb2_near if constants[2] < STIRLING_FROM else family_points.nb2_far, constants


_NULL_COUNTS = ("y", "y offset", "exp(offset)", "log(y!)")
_GAMMA = ("log(y / mu)", "y / mu", "log(y)")


def _without_theta(point: PointFunction) -> Callable[[float], tuple[PointFunction, Constants]]:
    return lambda theta: (point, (theta,))


_LOGIT, _PROBIT, _POISSON, _GAMMA_POINT, _INVERSE = (
    _without_theta(point)
    for point in (
        family_points.logit,
        family_points.probit,
        family_points.poisson,
        family_points.gamma,
        family_points.inverse,
    )
)


def _binary_settles(y: Floats) -> tuple[Any, Any]:
    return y == 0, y == 1


def _counts_settle(y: Floats) -> tuple[Any, Any]:
    return y == 0, y < 0


FAMILIES = {
    family.name: family
    for family in (
        Family("logit", 700.0, _LOGIT, family_points.first_of_binary, ("y",), settles=_binary_settles),
        Family("probit", 1000.0, _PROBIT, family_points.first_of_binary, ("y",), settles=_binary_settles),
        Family("poisson", 40.0, _POISSON, family_points.first_of_counts, _NULL_COUNTS, settles=_counts_settle),
        Family("gamma", 40.0, _GAMMA_POINT, family_points.first_of_gamma, ("y",), _GAMMA),
        Family("inverse", math.inf, _INVERSE, family_points.first_of_inverse, ("y",), _GAMMA, counts_outside=True),
        Family("nb2", 40.0, _nb2_at, family_points.first_of_counts, _NULL_COUNTS, (), 1, settles=_counts_settle),
    )
}


# -- sums of rows -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FamilyRows(RowFunction):
    """The row function of one family, for FunctionSums.

    inputs: the outcome, the offset if there is one, then the columns. settings: what is added up (MODES), "offset" or
    "", the exponent of two that divides the outcome, and those that divide the columns.
    """

    family: Family

    def _settings(self, inputs: Sequence[str], settings: Sequence[str]) -> tuple[str, bool, list[int]]:
        try:
            mode, offset, *exponents = settings
            scales = [int(k) for k in exponents]
        except ValueError:
            mode, offset, scales = "", "?", []
        wanted = 1 + (offset == "offset") + len(scales) - 1
        if mode not in MODES or offset not in ("", "offset") or len(scales) < 2 or wanted != len(inputs):
            raise InvalidParameter(
                "{name}: inputs and settings must match, got {input_count} and {settings}.",
                name=self.family.name,
                input_count=len(inputs),
                settings=shorten(settings),
            )
        if any(abs(k) > 1000 for k in scales):
            raise InvalidParameter(
                "the sums of {name}: columns must be scaled by 2**-1000 to 2**1000.", name=self.family.name
            )
        return mode, offset == "offset", scales

    def check(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> None:
        mode, _, scales = self._settings(inputs, settings)
        p = len(scales) - 1
        wanted = {"start": 0, "separation": p}.get(mode, p + self.family.extra)
        if len(at) != wanted or (mode == "separation" and self.family.settles is None):
            raise InvalidParameter(
                "the sums of {name} are taken at {wanted} parameters, got {got}.",
                name=self.family.name,
                wanted=wanted,
                got=len(at),
            )

    def labels(self, inputs: tuple[str, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
        mode, _, scales = self._settings(inputs, settings)
        p = len(scales) - 1 + (0 if mode in ("start", "separation") else self.family.extra)
        score = tuple(f"score {j + 1}" for j in range(p))
        square = tuple(f"{i + 1}, {j + 1}" for i in range(p) for j in range(i, p))
        return {
            "start": (*score, *square, *self.family.null_names),
            "step": (*score, *square, *self._figures, *self.family.other),
            "squares": square,
            "score": score,
            "separation": ("against", "along"),
        }[mode]

    @property
    def _figures(self) -> tuple[str, ...]:
        measures = ("chi-squared", "deviance") if self.family.measures else ()
        return ("log-likelihood", *measures, "at the cap")

    def values(self, x: tuple[Floats, ...], at: tuple[float, ...], settings: tuple[str, ...]) -> Floats:
        mode, has_offset, scales = self._settings(x, settings)  # type: ignore[arg-type]
        y = x[0] * 2.0 ** -scales[0]
        offset = x[1] if has_offset else np.zeros_like(y)
        z = [column * 2.0**-k for column, k in zip(x[1 + has_offset :], scales[1:], strict=True)]
        p, family = len(z), self.family
        if mode == "start":
            weighted, w, *null = family.first(y, offset, ())
            return stack_sums([*times_columns(z, weighted), *weighted_products(z, w), *null])
        eta = linear_predictor(z, at)
        if mode == "separation":
            return stack_sums(self._separated(y, eta))
        eta = eta + offset
        capped = np.where(eta > family.cap, family.cap, np.where(eta < -family.cap, -family.cap, eta))
        theta = at[p] if family.extra else 0.0
        point = family.at(y, capped, theta)
        u, further = point.u, point.further
        score = times_columns(z, u) + ([] if further is None else [further[0]])
        if mode == "score":
            return stack_sums(score)
        if mode == "squares":
            return stack_sums(weighted_products(score, 1.0))
        information = weighted_products(z, point.w)
        if further is not None:  # theta is the last column of each line of the matrix
            cross = [*times_columns(z, further[1]), further[2]]
            information = [
                np.concatenate([a, b[None]]) for a, b in zip([*information, np.empty((0, len(y)))], cross, strict=True)
            ]
        outside = np.asarray(point.outside) | (capped != eta)
        measures = [point.chi2, point.deviance] if family.measures else []
        figures = [point.llf, *measures, outside.astype(float), *point.other]
        k = len(score)
        return stack_sums([*score, *information, *figures], counted=k + k * (k + 1) // 2 + 1 + len(measures))

    def sums(self, x: Floats, at: tuple[float, ...], settings: tuple[str, ...]) -> NDArray[Any] | None:
        if settings[0] == "separation":
            return None
        kernels = kernels_of_rows(x.shape[1], len(self.labels(("",) * len(x), settings)))
        if kernels is None:
            return None
        return GlmSums(self, kernels, at, settings).of(x)

    def _separated(self, y: Floats, moved: Floats) -> list[Floats]:
        """Indicators of rows whose likelihood falls without bound in this direction, and of rows for which it rises."""
        assert self.family.settles is not None
        down, up = self.family.settles(y)
        along = (down & (moved < -MIN_MOVE)) | (up & (moved > MIN_MOVE))
        return [((np.abs(moved) > MIN_MOVE) & ~along).astype(float), along.astype(float)]

    def in_words(self, inputs: tuple[str, ...], at: tuple[str, ...], settings: tuple[str, ...]) -> str:
        mode, offset, _ = self._settings(inputs, settings)
        return round_in_words(mode, self.family.name, inputs[0], ", ".join(inputs[1 + offset :]))


NAMES = {
    "logit": Phrase("logistic regression"),
    "probit": Phrase("probit regression"),
    "poisson": Phrase("Poisson regression"),
    "gamma": Phrase("gamma regression"),
    "inverse": Phrase("gamma regression"),
    "nb2": Phrase("negative binomial regression"),
    "exponential": Phrase("exponential regression"),
    "weibull": Phrase("Weibull regression"),
    "beta": Phrase("beta regression"),
    "multinomial": Phrase("multinomial regression"),
}
SEPARATION = Phrase("how many rows a direction predicts without error, and how many not")
MODE_WORDS = {
    "start": Phrase("sums for a first guess"),
    "step": Phrase("score, information and log-likelihood at given coefficients"),
    "squares": Phrase("products of scores at given coefficients"),
    "score": Phrase("score at given coefficients"),
    "separation": SEPARATION,
}


def round_in_words(mode: str, family: str, outcome: str, columns: str) -> str:
    """What a round of a regression adds up."""
    return Phrase(
        "{what}, {name} of {outcome} on {columns}",
        what=MODE_WORDS[mode],
        name=NAMES[family],
        outcome=outcome,
        columns=columns,
    )


def linear_predictor(z: Sequence[Floats], b: Sequence[float]) -> Floats:
    """z'b, column by column: a row has the same value in every block."""
    eta = z[0] * b[0]
    for column, factor in zip(z[1:], b[1:], strict=False):
        eta = eta + column * factor
    return eta


def times_columns(z: Sequence[Floats], u: Floats) -> list[Floats]:
    return [column * u for column in z]


def weighted_products(z: Sequence[Floats], w: Floats | float) -> list[Floats]:
    """w z z': the upper half of the matrix, an array for each of its rows."""
    lines = np.stack(z)
    return [column * w * lines[i:] for i, column in enumerate(z)]


def stack_sums(parts: Sequence[Floats], counted: int | None = None) -> Floats:
    """One column for each part. Values beyond MAX_SUMMAND are cut, and their rows counted in column `counted`."""
    out = np.concatenate([part if part.ndim == 2 else part[None] for part in parts]).T
    if out.size and out.min() >= -MAX_SUMMAND and out.max() <= MAX_SUMMAND:
        return out
    wild = ~(np.abs(out) <= MAX_SUMMAND)  # also if it is NaN
    out = np.clip(np.nan_to_num(out, nan=0.0, posinf=MAX_SUMMAND, neginf=-MAX_SUMMAND), -MAX_SUMMAND, MAX_SUMMAND)
    if counted is not None:
        out[wild.any(axis=1), counted] = 1.0
    return out


LOGIT, PROBIT, POISSON, GAMMA, INVERSE, NB2 = (FamilyRows(family) for family in FAMILIES.values())
