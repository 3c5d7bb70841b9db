"""Integers over 2**64: exponentials taken to 80 digits, logarithms rounded outward, products of words."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from murmure.core.domain import Categories, Integers
from murmure.core.errors import InvalidParameter
from murmure.core.fixed import (
    WORD,
    at_most,
    ceil_share,
    exp,
    is_finite_number,
    log_up,
    mulhi,
    mulhi_small,
    positive_epsilon,
)
from murmure.local.bounded_laplace import BoundedLaplace
from murmure.local.duchi import Duchi
from murmure.local.grr import GRR
from murmure.local.hadamard import HadamardResponse
from murmure.local.hashing import OLH
from murmure.local.piecewise import Piecewise
from murmure.local.rappor import RAPPOR
from murmure.local.subset import SubsetSelection
from murmure.local.unary import OUE, SUE

words = st.integers(0, WORD - 1)


@given(num=st.integers(1, 2**130), den=st.integers(1, 2**130))
@settings(max_examples=300, deadline=None)
def test_log_up_is_the_least_float_above(num: int, den: int) -> None:
    """log_up(r) >= ln r > the float before it, in 120 digits."""
    with decimal.localcontext(decimal.Context(prec=120)):
        exact = (Decimal(num) / Decimal(den)).ln()
        up = log_up(Fraction(num, den))

        assert Decimal(math.nextafter(up, -math.inf)) < exact <= Decimal(up)


@pytest.mark.parametrize("x", [0.5, 40.0, 700.0, 5000.0])
def test_exponentials_keep_their_digits_however_small(x: float) -> None:
    """e^-x e^x = 1 and e^x = (e^(x/4))^4 to 75 digits, far beyond what a float holds."""
    with decimal.localcontext(decimal.Context(prec=90)):
        assert abs(exp(-x) * exp(x) - 1) < Decimal("1e-75")
        assert abs(exp(-x / 4) ** 4 * exp(x) - 1) < Decimal("1e-75")


def test_no_loss_is_zero() -> None:
    """ln 1 = 0, not the next float."""
    assert log_up(Fraction(1)) == 0.0


@given(part=st.integers(1, 10**30), whole=st.integers(1, 10**30))
@settings(max_examples=300, deadline=None)
def test_ceil_share_is_the_ceiling(part: int, whole: int) -> None:
    """The least c with c / 2**64 >= part / whole, and never below 1."""
    assert ceil_share(part, whole) == max(1, -(-part * WORD // whole))


@given(a=words, b=words, small=st.integers(1, 2**32 - 1))
@settings(max_examples=300, deadline=None)
def test_high_words_of_products(a: int, b: int, small: int) -> None:
    """mulhi and mulhi_small are floor(a b / 2**64)."""
    words = np.array([a], np.uint64)

    assert mulhi(words, np.uint64(b)).tolist() == [a * b >> 64]
    assert mulhi_small(words, small).tolist() == [a * small >> 64]


@given(epsilon=st.floats(1e-9, 50.0))
@settings(max_examples=100, deadline=None)
def test_exp_is_exact_at_the_value_of_the_float(epsilon: float) -> None:
    """e**x to 79 digits for the binary value of x; at_most compares with it exactly."""
    with decimal.localcontext(decimal.Context(prec=120)):
        E = Decimal(epsilon).exp()

        assert abs(exp(epsilon) / E - 1) < Decimal("1e-78")
    den = 10**18
    num = math.floor(Fraction(exp(epsilon)) * den)
    assert at_most(num, den, exp(epsilon)) and not at_most(num + 1, den, exp(epsilon))


def integers_of(make: Callable[[], Any]) -> Any:
    return make().channel.integers()


@pytest.mark.parametrize(
    "make",
    [
        lambda: GRR(Categories(7), 1.3),
        lambda: SUE(Categories(7), 1.3),
        lambda: OUE(Categories(7), 1.3),
        lambda: OLH(Categories(7), 1.3),
        lambda: SubsetSelection(Categories(7), 1.3),
        lambda: HadamardResponse(Categories(7), 1.3),
        lambda: RAPPOR(Categories(7), 1.3, 0.4),
        lambda: Duchi(Integers(0, 9), 1.3),
        lambda: Piecewise(Integers(0, 9), 1.3),
        lambda: BoundedLaplace(Integers(0, 9), 1.3),
    ],
    ids=["GRR", "SUE", "OUE", "OLH", "SubsetSelection", "HadamardResponse", "RAPPOR", "Duchi", "Piecewise", "Laplace"],
)
def test_the_callers_decimal_context_changes_no_integer(make: Callable[[], Any]) -> None:
    """A program that computes with 17 digits, or with 60, gets the integers of everybody else."""
    expected = integers_of(make)
    for precision in (17, 60):
        with decimal.localcontext(decimal.Context(prec=precision)):
            assert integers_of(make) == expected, precision


@pytest.mark.parametrize(
    "wrong", [0, -1, -0.0, math.inf, -math.inf, math.nan, "1", b"1", None, True, [1.0], 1e-10, 1e7]
)
def test_a_budget_is_a_positive_finite_number(wrong: Any) -> None:
    """Anything else is refused with the owner's name, what was wanted and what was got."""
    with pytest.raises(InvalidParameter, match=r"Thing.epsilon must be a positive finite number.*, got .*\n  Hint: "):
        positive_epsilon("Thing", wrong)


def test_a_finite_number_is_one_that_a_float_can_hold() -> None:
    """The largest float is; a whole number that rounds to the next power of two is not, nor are true and false."""
    largest = 2**1024 - 2**970  # half a unit above the largest float: it would round to 2**1024

    assert all(map(is_finite_number, (0, -1, 0.5, largest - 1, 1 - largest, np.float64(2), 5e-324)))
    wrong = (largest, -largest, 10**400, math.inf, math.nan, np.float64("nan"), True, False, "1", None, Fraction(1, 3))
    assert not any(map(is_finite_number, wrong))


@pytest.mark.parametrize("right", [1, 0.5, np.float32(0.5), np.int64(2), Fraction(1, 3), Decimal("0.25")])
def test_a_budget_may_be_any_real_number(right: Any) -> None:
    """Integers, NumPy scalars, fractions and decimals are numbers too."""
    assert positive_epsilon("Thing", right) == float(right)
