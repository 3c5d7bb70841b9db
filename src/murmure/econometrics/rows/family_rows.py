"""Laws that a study names: exponential, Weibull and beta.

Derivatives are written in family_points.py, so that a study runs no code of others; the sums are made in glm_rows.py.
Shapes and precisions are positive, so their logarithms theta are estimated: these have no bounds.
"""

from __future__ import annotations

from murmure.econometrics.rows import family_points
from murmure.econometrics.rows.family_points import Constants
from murmure.econometrics.rows.glm_rows import Family, FamilyRows, PointFunction


def _exponential(theta: float) -> tuple[PointFunction, Constants]:
    return family_points.exponential, (theta,)


def _weibull(theta: float) -> tuple[PointFunction, Constants]:
    return family_points.weibull, family_points.constants_of_weibull(theta)


def _beta(theta: float) -> tuple[PointFunction, Constants]:
    return family_points.beta, family_points.constants_of_beta(theta)


LAWS = {
    law.name: law
    for law in (
        Family("exponential", 40.0, _exponential, family_points.first_of_exponential, ("y",), measures=False),
        Family("weibull", 40.0, _weibull, family_points.first_of_weibull, ("squares",), extra=1, measures=False),
        Family("beta", 700.0, _beta, family_points.first_of_beta, ("squares",), extra=1, measures=False),
    )
}
EXPONENTIAL, WEIBULL, BETA = (FamilyRows(law) for law in LAWS.values())
