"""Laws that a study names: exponential, Weibull and beta.

Derivatives are written in family_points.py, so that a study runs no code of others; the sums are made in glm_rows.py.
Shapes and precisions are positive, so their logarithms theta are estimated: these have no bounds.
"""

from __future__ import annotations

import numpy as np

from murmure.econometrics.algebra.elementary import log, log1p
from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.rows import family_points
from murmure.econometrics.rows.family_points import Constants
from murmure.econometrics.rows.glm_rows import Family, FamilyRows, PointFunction

EULER = 0.5772156649015329  # -E[log y] of the exponential law of scale one


def _exponential(theta: float) -> tuple[PointFunction, Constants]:
    return family_points.exponential, (theta,)


def _weibull(theta: float) -> tuple[PointFunction, Constants]:
    return family_points.weibull, family_points.constants_of_weibull(theta)


def _beta(theta: float) -> tuple[PointFunction, Constants]:
    return family_points.beta, family_points.constants_of_beta(theta)


def _start_log(y: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Weights and response of a first guess: least squares of log y, shifted by its mean in the exponential law."""
    return np.ones_like(y), log(y) + EULER


def _start_logit(y: Floats, offset: Floats) -> tuple[Floats, Floats]:
    return np.ones_like(y), log(y) - log1p(-y)


def _null_log(y: Floats, offset: Floats) -> tuple[Floats, ...]:
    return (_start_log(y, offset)[1] ** 2,)


def _null_logit(y: Floats, offset: Floats) -> tuple[Floats, ...]:
    return (_start_logit(y, offset)[1] ** 2,)


LAWS = {
    law.name: law
    for law in (
        Family("exponential", 40.0, _exponential, _start_log, lambda y, o: (y,), ("y",), measures=False),
        Family("weibull", 40.0, _weibull, _start_log, _null_log, ("squares",), extra=1, measures=False),
        Family("beta", 700.0, _beta, _start_logit, _null_logit, ("squares",), extra=1, measures=False),
    )
}
EXPONENTIAL, WEIBULL, BETA = (FamilyRows(law) for law in LAWS.values())
