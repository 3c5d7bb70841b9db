"""Exponents are slopes of logarithms over the last two decades, with the standard error of the slope."""

from __future__ import annotations

import math

import exponents
import numpy as np
import sections


def test_a_power_law_gives_its_power_back() -> None:
    for power in (0.0, 0.5, 1.0, 2.0):
        fit = exponents.fitted({size: 3e-6 * size**power for size in (100, 300, 1_000, 3_000, 10_000)})
        assert fit is not None and fit.error is not None

        assert abs(fit.value - power) < 1e-12 and fit.error < 1e-7
        assert (fit.low, fit.high, fit.points) == (100, 10_000, 5)


def test_sizes_before_the_last_two_decades_do_not_count() -> None:
    """There a fixed cost is part of the time: with it the slope would be 0.7."""
    times = {size: 1e-8 * size for size in (10_000, 30_000, 100_000, 1_000_000)}
    fit = exponents.fitted({10: 1e-4, 100: 1e-4, 1_000: 1e-4, 9_999: 1e-4} | times)

    assert fit is not None
    assert abs(fit.value - 1) < 1e-12 and (fit.low, fit.points) == (10_000, 4)


def test_slope_and_error_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(7)
    sizes = [1_000, 3_000, 10_000, 30_000, 100_000]
    times = {size: 1e-9 * size**1.3 * math.exp(noise) for size, noise in zip(sizes, rng.normal(size=5), strict=True)}
    fit = exponents.fitted(times)
    line, covariance = np.polyfit(np.log(sizes), np.log(list(times.values())), 1, cov=True)

    assert fit is not None and fit.error is not None
    assert abs(fit.value - line[0]) < 1e-9 and abs(fit.error - math.sqrt(covariance[0, 0])) < 1e-9


def test_two_sizes_have_a_slope_and_no_error_and_one_has_neither() -> None:
    fit = exponents.fitted({10: 1.0, 100: 10.0})

    assert fit is not None and abs(fit.value - 1) < 1e-12 and fit.error is None
    assert exponents.fitted({10: 1.0}) is None and exponents.fitted({}) is None
    assert exponents.fitted({10: 1.0, 100_000: 2.0}) is None, "one size in the last two decades"


def test_a_line_of_growth_shows_both_ends_and_the_fit() -> None:
    """The fastest of two measurements of a size counts."""
    records = [
        {"task": "growth.n.grr.client", "lib": "murmure fast", "size": size, "seconds": seconds}
        for size, seconds in ((100, 1e-3), (1_000, 1e-2), (1_000, 5.0), (10_000, 1e-1), (10, 0.9e-3))
    ]
    section = sections.growth_section([*records, {"task": "growth.n.oue", "lib": "murmure fast", "error": "failed"}])
    grr = next(line for line in section.lines if line[:2] == ["GRR client", "n"])
    missing = next(line for line in section.lines if line[:2] == ["OUE client", "n"])

    assert grr == ["GRR client", "n", "10: 0.9 ms", "10,000: 100 ms", "1.00 ± 0.00", "100 (3 sizes)", "1"]
    assert missing[2:6] == ["?"] * 4
    assert section.goals == []
