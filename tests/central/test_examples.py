"""Every module of central/ lists EXAMPLES, and every example keeps its promises; nothing here names a noise."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest

import murmure.central
from murmure.certify.noise_checks import check_noise

HELPERS = {"bound", "choice", "gate", "rho_budget", "shares", "split"}  # what the others share: no noise of their own
MODULES = [info.name for info in pkgutil.iter_modules(murmure.central.__path__) if info.name not in HELPERS]


def examples() -> list[Any]:
    return [
        pytest.param(example, id=f"{name}[{i}]")
        for name in MODULES
        for i, example in enumerate(getattr(importlib.import_module(f"murmure.central.{name}"), "EXAMPLES", ()))
    ]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_lists_examples(name: str) -> None:
    """A file of central/ ends with a tuple EXAMPLES that is not empty."""
    listed = getattr(importlib.import_module(f"murmure.central.{name}"), "EXAMPLES", None)

    assert isinstance(listed, tuple) and listed, f"{name} has no EXAMPLES: nothing would test it"


@pytest.mark.parametrize("example", examples())
def test_noise(example: Any) -> None:
    """Law, samples, variance, kernels and certificate (fails by chance at 1e-6 for each test of fit)."""
    check_noise(example)
