"""Each family's log-likelihood and its derivatives at one row, written once: for arrays in NumPy, for numbers in Numba.

    eta = z'b (+ offset),   l(y; eta),   u = dl/d eta,   w = - d^2 l / d eta^2

    logit        mu = 1 / (1 + e^-eta)      u = y - mu                  w = mu (1 - mu)
    probit       q = 2 y - 1                u = q phi(q eta)/Phi(q eta) w = u (u + eta)
    poisson      mu = e^eta                 u = y - mu                  w = mu
    gamma        mu = e^eta                 u = y / mu - 1              w = y / mu
    inverse      mu = 1 / eta               u = mu - y                  w = mu^2             (gamma, canonical link)
    nb2          mu = e^eta, a = e^theta    u = (y - mu)/(1 + a mu)     w = mu (1 + a y)/(1 + a mu)^2
    exponential  log f = -eta - y e^-eta                            mean e^eta
    weibull      log f = theta + t - log y - e^t                    t = k (log y - eta), k = e^theta: the shape
    beta         log f = ln G(phi) - ln G(a) - ln G(b) + (a - 1) log y + (b - 1) log(1 - y)
                 a = mu phi, b = (1 - mu) phi, mu = 1 / (1 + e^-eta), phi = e^theta: the precision

McCullagh and Nelder, Generalized Linear Models, 2nd ed. 1989, sections 4.4, 6.2, 8.3; NB2: Cameron and Trivedi,
Regression Analysis of Count Data, 2013, section 3.3.1; Weibull: Kalbfleisch and Prentice, The Statistical Analysis of
Failure Time Data, 2nd ed. 2002, section 2.2.2 (scale e^eta); beta: Ferrari and Cribari-Neto, J. Appl. Statist. 31(7),
2004, eqs. (3) to (8).

A function takes y, eta and public constants, which follow from theta. It returns u and w; then, where theta is
estimated, dl/d theta, - d^2 l/d eta d theta and - d^2 l/d theta^2; then the figures of the row in the order of its
Family: the log-likelihood, (y - mu)^2 / V(mu) and the deviance where they are added up, and what else the family has.
The functions of first guesses come last.
There are no branches: `choose` takes one of two values, so that Numba can compute several rows at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from murmure.econometrics.algebra.elementary import (
    HALF_LOG_2PI,
    choose,
    exp,
    log,
    log1p,
    log1p_of_share,
    log_factorial,
    log_gamma,
    mills_ratio,
    normal_density,
    polygammas,
    x_log_x,
)

MAX_ODDS = 5.54062238439351e34  # e^80: (y - mu)^2 / V(mu) is cut here, so that it can be added up
STIRLING_FROM = 24.0  # from here on Stirling's series is as accurate as floats
EULER = 0.5772156649015329  # -E[log y] of the exponential law of scale one
MAX_THETA = 60.0  # rows cannot determine a shape near e^60, and e^theta does not overflow

Constants = tuple[float, ...]


def logit(y: Any, eta: Any, constants: Any) -> Any:
    q = 2.0 * y - 1.0
    with_y = q * eta
    e = exp(-abs(eta))
    large = 1.0 / (1.0 + e)
    small = e * large  # of mu and 1 - mu
    llf = -(choose(with_y < 0.0, -with_y, 0.0) + log1p_of_share(e))
    u = q * choose(with_y > 0.0, small, large)
    odds = choose(with_y > 0.0, e, choose(e * MAX_ODDS > 1.0, 1.0 / e, MAX_ODDS))
    return u, large * small, llf, odds, -2.0 * llf


def probit(y: Any, eta: Any, constants: Any) -> Any:
    q = 2.0 * y - 1.0
    below = q * eta < 0.0
    a = abs(eta)
    ratio, density = mills_ratio(a), normal_density(a)
    tail = ratio * density  # P[Z > |eta|]
    rest = 1.0 - tail
    # log of P[Z <= q eta]: of the tail as log R + log phi, and of the rest with what 1 - tail rounded away
    u = choose(below, 1.0 / ratio, density / rest)
    llf = log(choose(below, ratio, rest))
    llf = choose(below, llf - (0.5 * a * a + HALF_LOG_2PI), llf - (tail - (1.0 - rest)) / rest)
    odds = choose(below, choose(tail * MAX_ODDS > 1.0, rest / tail, MAX_ODDS), tail / rest)
    u = q * u
    return u, u * (u + eta), llf, odds, -2.0 * llf


def poisson(y: Any, eta: Any, constants: Any) -> Any:
    mu = exp(eta)
    u = y - mu
    deviance = 2.0 * (x_log_x(y) - y * eta - u)
    return u, mu, y * eta - mu - log_factorial(y), u * u / mu, deviance


def gamma(y: Any, eta: Any, constants: Any) -> Any:
    ratio, log_y = y * exp(-eta), log(y)
    lost = log_y - eta
    u = ratio - 1.0
    return u, ratio, -(ratio + eta), u * u, 2.0 * (u - lost), lost, ratio, log_y


def inverse(y: Any, eta: Any, constants: Any) -> Any:
    """Rows with eta <= 0, at which l is not defined, are counted; they count as eta = 1."""
    outside = choose(eta <= 0.0, 1.0, 0.0)
    eta = choose(eta <= 0.0, 1.0, eta)
    mu, ratio = 1.0 / eta, y * eta
    lost = log(ratio)
    u = ratio - 1.0
    return mu - y, mu * mu, log(eta) - ratio, u * u, 2.0 * (u - lost), lost, ratio, log(y), outside


# -- with a parameter theta of the whole law ---------------------------------------------------------------------------


def constants_of_nb2(theta: float) -> Constants:
    """theta, a, s = 1/a; then of s what the differences in s + y and s need."""
    a, s = float(exp(theta)), float(exp(-theta))
    with np.errstate(all="ignore"):
        if s < STIRLING_FROM:
            return (theta, a, s, float(log_gamma(s)), *map(float, polygammas(s)))
        return (theta, a, s, float(log(s)), _r(s), _dr(s), _ddr(s))


def _nb2(y: Any, eta: Any, constants: Any, rising: Any, psi: Any, psi1: Any) -> Any:
    """rising: log G(s + y) - log G(s), and its first two derivatives in s."""
    theta, a, s = constants[0], constants[1], constants[2]
    mu = exp(eta)
    am = a * mu
    am1, ay1 = 1.0 + am, 1.0 + a * y
    lost = log1p(am)
    llf = rising - log_factorial(y) - s * lost + y * (theta + eta - lost)
    v = y - mu
    u = v / am1
    first = s * (lost - psi) + u
    second = s * (lost - psi) - mu / am1 - s * s * psi1 + u * am / am1
    deviance = 2.0 * (x_log_x(y) - y * eta - (y + s) * (log1p(a * y) - lost))
    return u, mu * ay1 / (am1 * am1), first, am * u / am1, second, llf, v * v / (mu * am1), deviance


def nb2_near(y: Any, eta: Any, constants: Any) -> Any:
    """s < STIRLING_FROM."""
    s = constants[2]
    psi, psi1 = polygammas(s + y)
    return _nb2(y, eta, constants, log_gamma(s + y) - constants[3], psi - constants[4], psi1 - constants[5])


def nb2_far(y: Any, eta: Any, constants: Any) -> Any:
    """Without the difference of two large numbers: Stirling's series of log G(x), x = s + y and x = s."""
    s = constants[2]
    x, lost = s + y, log1p(y / s)
    rising = (x - 0.5) * lost + y * constants[3] - y + (_r(x) - constants[4])
    psi = lost + y / (2.0 * s * x) + (_dr(x) - constants[5])
    psi1 = -y / (s * x) - y * (s + x) / (2.0 * s * s * x * x) + (_ddr(x) - constants[6])
    return _nb2(y, eta, constants, rising, psi, psi1)


def _r(x: Any) -> Any:
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * x * x)) / (x * x)) / (x * x)) / x


def _dr(x: Any) -> Any:
    return -(1 / 12 - (1 / 120 - (1 / 252 - 1 / (240 * x * x)) / (x * x)) / (x * x)) / (x * x)


def _ddr(x: Any) -> Any:
    return (1 / 6 - (1 / 30 - (1 / 42 - 1 / (30 * x * x)) / (x * x)) / (x * x)) / (x * x * x)


def exponential(y: Any, eta: Any, constants: Any) -> Any:
    ratio = y * exp(-eta)
    return ratio - 1.0, ratio, -(ratio + eta)


def constants_of_weibull(theta: float) -> Constants:
    return theta, float(exp(_bounded(theta)))


def weibull(y: Any, eta: Any, constants: Any) -> Any:
    theta, k = constants[0], constants[1]
    log_y = log(y)
    t = k * (log_y - eta)
    e = exp(t)
    # dl/d eta = -k dl/dt,  dl/dt = 1 - e^t,  dt/d theta = t
    u, te = k * (e - 1.0), t * e
    return u, k * k * e, 1.0 + t - te, -(u + k * te), te + t * te - t, theta + t - log_y - e


def constants_of_beta(theta: float) -> Constants:
    phi = float(exp(_bounded(theta)))
    return phi, float(log_gamma(phi)), *map(float, polygammas(phi))


def beta(y: Any, eta: Any, constants: Any) -> Any:
    phi, gamma_phi, psi, psi1 = constants[0], constants[1], constants[2], constants[3]
    e = exp(-abs(eta))
    large = 1.0 / (1.0 + e)
    mu, nu = choose(eta < 0.0, e * large, large), choose(eta < 0.0, large, e * large)
    m = mu * nu  # d mu / d eta
    a, b = mu * phi, nu * phi
    log_y, log_rest = log(y), log1p(-y)
    (psi_a, a1), (psi_b, b1) = polygammas(a), polygammas(b)
    apart = (log_y - log_rest) - (psi_a - psi_b)  # dl/d mu = phi apart
    u = phi * m * apart
    w = phi * phi * m * m * (a1 + b1) - u * (nu - mu)
    first = phi * (psi - mu * (psi_a - log_y) - nu * (psi_b - log_rest))
    cross = u - phi * phi * m * (mu * a1 - nu * b1)
    second = first + phi * phi * (psi1 - mu * mu * a1 - nu * nu * b1)
    llf = gamma_phi - log_gamma(a) - log_gamma(b) + (a - 1.0) * log_y + (b - 1.0) * log_rest
    return u, w, first, -cross, -second, llf


# -- where steps begin: y, the offset; w times the response, the weight w, and what the null model needs ---------------


def first_of_binary(y: Any, offset: Any, constants: Any) -> Any:
    """A step from b = 0, which regresses 4 (y - 1/2) on z for the logit; for the probit up to a factor."""
    return 0.25 * (4.0 * (y - 0.5)), 0.25, y


def first_of_counts(y: Any, offset: Any, constants: Any) -> Any:
    mu = y + 0.1
    response = log(mu) + (y - mu) / mu - offset
    capped = choose(offset > 40.0, 40.0, choose(offset < -40.0, -40.0, offset))
    return mu * response, mu, y, y * offset, exp(capped), log_factorial(y)


def first_of_gamma(y: Any, offset: Any, constants: Any) -> Any:
    return log(y) - offset, 1.0, y


def first_of_inverse(y: Any, offset: Any, constants: Any) -> Any:
    w = y * y
    return w * (1.0 / y), w, y


def first_of_exponential(y: Any, offset: Any, constants: Any) -> Any:
    """Least squares of log y, shifted by its mean in the exponential law."""
    return log(y) + EULER, 1.0, y


def first_of_weibull(y: Any, offset: Any, constants: Any) -> Any:
    response = log(y) + EULER
    return response, 1.0, response * response


def first_of_beta(y: Any, offset: Any, constants: Any) -> Any:
    response = log(y) - log1p(-y)
    return response, 1.0, response * response


def _bounded(theta: float) -> float:
    return max(min(theta, MAX_THETA), -MAX_THETA)
