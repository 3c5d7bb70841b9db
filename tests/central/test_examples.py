"""Every example of central/ keeps its promises; nothing here names a noise."""

from __future__ import annotations

from typing import Any

import pytest
from tests.listing import listed

from murmure.certify.checks.noise import check_noise


def examples() -> list[Any]:
    return [pytest.param(example, id=name) for name, example in listed("murmure.central")]


@pytest.mark.parametrize("example", examples())
def test_noise(example: Any) -> None:
    """Law, samples, variance, kernels and certificate (fails by chance at 1e-6 for each test of fit)."""
    check_noise(example)
