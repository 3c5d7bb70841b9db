"""The package offers functions; modules of the same names stay out of their way."""

from __future__ import annotations

import importlib
import subprocess
import sys
import types

import pytest

from murmure import econometrics


@pytest.mark.parametrize("name", econometrics.FUNCTIONS)
def test_a_function_stays_a_function(name: str) -> None:
    """Importing the module `ols` must not put a module where the function `ols` stands."""
    importlib.import_module(f"murmure.econometrics.{econometrics.FUNCTIONS[name]}")

    held = getattr(econometrics, name)

    assert callable(held) and not isinstance(held, types.ModuleType)


def test_nothing_heavy_is_imported() -> None:
    """Neither pandas nor formulaic nor scipy.stats before they are needed."""
    heavy = ("pandas", "formulaic", "scipy.stats")
    code = f"import sys, murmure.econometrics; print([m for m in {heavy} if m in sys.modules])"

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'olz'"):
        _ = econometrics.olz  # type: ignore[attr-defined]
