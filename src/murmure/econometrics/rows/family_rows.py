"""Laws that a study names: what one row adds to the score, the information and the log-likelihood.

    exponential   log f = -eta - y e^-eta                            mean e^eta
    weibull       log f = theta + t - log y - e^t                    t = k (log y - eta), k = e^theta: the shape
    beta          log f = ln G(phi) - ln G(a) - ln G(b) + (a - 1) log y + (b - 1) log(1 - y)
                  a = mu phi, b = (1 - mu) phi, mu = 1 / (1 + e^-eta), phi = e^theta: the precision

eta = z'b. Shapes and precisions are positive, so their logarithms theta are estimated: these have no bounds. Weibull:
Kalbfleisch and Prentice, The Statistical Analysis of Failure Time Data, 2nd ed. 2002, section 2.2.2 (scale e^eta);
beta: Ferrari and Cribari-Neto, J. Appl. Statist. 31(7), 2004, eqs. (3) to (8).

Derivatives are written here, so that a study runs no code of others: u = dl/d eta, w = -d^2 l/d eta^2 and those in
theta as in glm_rows.py, where the sums are made.
"""

from __future__ import annotations

import math

import numpy as np

from murmure.econometrics.algebra.rounding import Floats
from murmure.econometrics.rows.glm_rows import Family, FamilyRows, Point

EULER = 0.5772156649015329  # -E[log y] of the exponential law of scale one
MAX_THETA_FLOAT = 60.0  # rows cannot determine a shape near e^60, and e^theta does not overflow


def _exponential(y: Floats, eta: Floats, theta: float) -> Point:
    ratio = y * np.exp(-eta)
    llf = -(ratio + eta)
    return Point(ratio - 1, ratio, llf, llf, llf)


def _weibull(y: Floats, eta: Floats, theta: float) -> Point:
    k = math.exp(max(min(theta, MAX_THETA_FLOAT), -MAX_THETA_FLOAT))
    log = np.log(y)
    t = k * (log - eta)
    e = np.exp(t)
    llf = theta + t - log - e
    # dl/d eta = -k dl/dt,  dl/dt = 1 - e^t,  dt/d theta = t
    u, w = k * (e - 1), k * k * e
    first = 1 + t - t * e
    further = (first, -(u + k * t * e), t * e + t * t * e - t)
    return Point(u, w, llf, llf, llf, (), further)


def _beta(y: Floats, eta: Floats, theta: float) -> Point:
    from scipy.special import expit, gammaln, polygamma, psi

    phi = math.exp(max(min(theta, MAX_THETA_FLOAT), -MAX_THETA_FLOAT))
    mu, nu = expit(eta), expit(-eta)
    m = mu * nu  # d mu / d eta
    a, b = mu * phi, nu * phi
    log, rest = np.log(y), np.log1p(-y)
    apart = (log - rest) - (psi(a) - psi(b))  # dl/d mu = phi apart
    a1, b1 = polygamma(1, a), polygamma(1, b)
    u = phi * m * apart
    w = phi * phi * m * m * (a1 + b1) - u * (nu - mu)
    first = phi * (psi(phi) - mu * (psi(a) - log) - nu * (psi(b) - rest))
    cross = u - phi * phi * m * (mu * a1 - nu * b1)
    second = first + phi * phi * (polygamma(1, phi) - mu * mu * a1 - nu * nu * b1)
    llf = gammaln(phi) - gammaln(a) - gammaln(b) + (a - 1) * log + (b - 1) * rest
    return Point(u, w, llf, llf, llf, (), (first, -cross, -second))


def _start_log(y: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Weights and response of a first guess: least squares of log y, shifted by its mean in the exponential law."""
    return np.ones_like(y), np.log(y) + EULER


def _start_logit(y: Floats, offset: Floats) -> tuple[Floats, Floats]:
    return np.ones_like(y), np.log(y) - np.log1p(-y)


LAWS = {
    law.name: law
    for law in (
        Family("exponential", 40.0, _exponential, _start_log, lambda y, o: (y,), ("y",), measures=False),
        Family(
            "weibull",
            40.0,
            _weibull,
            _start_log,
            lambda y, o: (_start_log(y, o)[1] ** 2,),
            ("squares",),
            extra=1,
            measures=False,
        ),
        Family(
            "beta",
            700.0,
            _beta,
            _start_logit,
            lambda y, o: (_start_logit(y, o)[1] ** 2,),
            ("squares",),
            extra=1,
            measures=False,
        ),
    )
}
EXPONENTIAL, WEIBULL, BETA = (FamilyRows(law) for law in LAWS.values())
