"""The gap between a sum of Gaussian shares and a Gaussian: all its terms, added up one by one."""

from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction

import pytest

from murmure.laws.noise.shares import TERMS, gap

PI = Decimal("3.14159265358979323846264338327950288419716939937510")


@pytest.mark.parametrize("sigma2", [Fraction(1, 4), Fraction(2, 3), Fraction(3)])
@pytest.mark.parametrize("count", [1, 2, 3, TERMS, TERMS + 1, TERMS + 2, TERMS + 3, 100, 1000])
def test_the_gap_is_its_whole_sum_and_hardly_more(sigma2: Fraction, count: int) -> None:
    """5 sum over k < count of e^(-2 pi^2 sigma^2 k / (k + 1)), of which the code adds up only the first terms."""
    with decimal.localcontext(decimal.Context(prec=50)):
        s2 = Decimal(sigma2.numerator) / sigma2.denominator
        whole = 5 * sum(((-2 * PI**2 * s2 * k / (k + 1)).exp() for k in range(1, count)), Decimal(0))
        stated = gap(sigma2, count)

        assert whole <= stated
        assert stated <= whole * (Decimal("1.0001") if count <= TERMS + 2 else Decimal("1.8"))
