"""Elementary functions from IEEE operations: how far they are from the truth, and their ends.

The truth is computed to 40 digits by mpmath. Errors are in units of the last place of the true value, or, where it
passes through zero, relative to the larger of 1 and its size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from murmure.econometrics.algebra import elementary

mpmath: Any = pytest.importorskip("mpmath", reason="it computes the truth")


@pytest.fixture(autouse=True)
def forty_digits() -> Any:
    with mpmath.workdps(40):
        yield


def between(low: float, high: float, n: int = 1500) -> Any:
    return np.random.default_rng(3).uniform(low, high, n)


def spread(low: float, high: float, n: int = 1500) -> Any:
    """Of every size between e^low and e^high."""
    return np.exp(between(low, high, n))


def errors(found: Any, function: Callable[[Any], Any], x: Any) -> tuple[float, float]:
    """The largest error in units of the last place, and the largest relative to max(1, |truth|)."""
    units, sizes = [], []
    for v, at in zip(found.tolist(), x.tolist(), strict=True):
        true = function(mpmath.mpf(at))
        away = abs(mpmath.mpf(v) - true)
        units.append(float(away / mpmath.mpf(math.ulp(float(true)))))
        sizes.append(float(away / max(1, abs(true))))
    return max(units), max(sizes)


def mills(a: Any) -> Any:
    return mpmath.sqrt(mpmath.pi / 2) * mpmath.exp(a * a / 2) * mpmath.erfc(a / mpmath.sqrt(2))


IN_UNITS = [
    ("exp", mpmath.exp, (between(-745, 709), between(-1, 1)), 0.9),
    ("log", mpmath.log, (spread(-744, 709), between(0.5, 2)), 0.8),
    ("log1p", mpmath.log1p, (spread(-50, 50), between(-0.999, 2)), 1.2),
    ("log1p_of_share", mpmath.log1p, (spread(-50, 0), between(0, 1)), 1.5),
    ("normal_density", mpmath.npdf, (between(0, 37), spread(-20, 3)), 3.0),
    ("mills_ratio", mills, (between(0, 37), spread(-20, 6.9)), 3.0),
]
IN_SIZE = [
    ("x_log_x", lambda v: v * mpmath.log(v), (spread(-50, 50),), 3e-16),
    ("log_gamma", mpmath.loggamma, (spread(-50, 50), between(0.1, 20)), 1e-14),
    ("log_factorial", lambda v: mpmath.loggamma(v + 1), (np.arange(1500.0),), 3e-15),
    ("psi", lambda v: mpmath.psi(0, v), (spread(-30, 50, 500), between(0.1, 20, 500)), 2e-15),
    ("psi'", lambda v: mpmath.psi(1, v), (spread(-30, 50, 500), between(0.1, 20, 500)), 6e-15),
]


def function(name: str) -> Callable[[Any], Any]:
    if name.startswith("psi"):
        return lambda x: elementary.polygammas(x)[name == "psi'"]
    found: Callable[[Any], Any] = getattr(elementary, name)
    return found


@pytest.mark.parametrize(("name", "true", "ranges", "most"), IN_UNITS, ids=[case[0] for case in IN_UNITS])
@pytest.mark.filterwarnings("ignore:overflow")
def test_errors_in_units_of_the_last_place(name: str, true: Any, ranges: Any, most: float) -> None:
    x = np.concatenate(ranges)

    assert errors(function(name)(x), true, x)[0] <= most


@pytest.mark.parametrize(("name", "true", "ranges", "most"), IN_SIZE, ids=[case[0] for case in IN_SIZE])
def test_errors_relative_to_the_larger_of_one_and_the_value(name: str, true: Any, ranges: Any, most: float) -> None:
    x = np.concatenate(ranges)

    assert errors(function(name)(x), true, x)[1] <= most


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ends() -> None:
    """Infinities, zeros, subnormal numbers, and what is not a number."""
    inf, nan = math.inf, math.nan
    ends = {
        "exp": ([-inf, -746.0, -745.0, 0.0, -0.0, 710.0, inf, nan], [0.0, 0.0, 5e-324, 1.0, 1.0, inf, inf, nan]),
        "log": ([0.0, -1.0, 5e-324, 1.0, inf, nan], [-inf, nan, math.log(5e-324), 0.0, inf, nan]),
        "log1p": ([-1.0, -2.0, 0.0, 1e-300, inf, nan], [-inf, nan, 0.0, 1e-300, inf, nan]),
        "log1p_of_share": ([0.0, 1e-300, 1.0], [0.0, 1e-300, math.log(2)]),
        "x_log_x": ([0.0, 1.0], [0.0, 0.0]),
        "log_factorial": ([0.0, 1.0], [0.0, 0.0]),
        "normal_density": ([0.0, 40.0, 1000.0], [1 / math.sqrt(2 * math.pi), 0.0, 0.0]),
    }
    for name, (x, wanted) in ends.items():
        np.testing.assert_array_equal(function(name)(np.array(x)), wanted, err_msg=name)


def test_exp_and_mills_ratio_are_monotone() -> None:
    """Over steps of 2**-45: at the seams of the reduction, and at random."""
    seams = (np.arange(-40, 40) + 0.5) * math.log(2)
    for name, sign, x in (("exp", 1, np.concatenate([seams, between(-30, 30)])), ("mills_ratio", -1, between(0, 30))):
        value = function(name)
        assert (sign * (value(x + (1 + np.abs(x)) * 2.0**-45) - value(x)) > 0).all(), name


def test_one_number_and_an_array_have_the_same_bits() -> None:
    x = spread(-3, 3, 50)
    for name in ("exp", "log", "log1p", "log_gamma", "mills_ratio", "normal_density", "psi", "psi'"):
        alone = [float(function(name)(float(v))) for v in x]
        np.testing.assert_array_equal(function(name)(x), alone, err_msg=name)
