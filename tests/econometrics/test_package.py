"""The package offers functions; modules of the same names stay out of their way."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import types

import pytest

from murmure import econometrics


def test_no_module_is_named_as_a_function() -> None:
    """A module `econometrics.ols`, once imported, would hide the function `econometrics.ols`."""
    modules = {module.name for module in pkgutil.iter_modules(econometrics.__path__)}

    assert not modules & set(econometrics.FUNCTIONS)


@pytest.mark.parametrize("name", econometrics.FUNCTIONS)
def test_a_function_stays_a_function(name: str) -> None:
    """Importing the module `ols` must not put a module where the function `ols` stands."""
    importlib.import_module(f"murmure.econometrics.{econometrics.FUNCTIONS[name]}")

    function = getattr(econometrics, name)

    assert callable(function) and not isinstance(function, types.ModuleType)


def test_nothing_heavy_is_imported() -> None:
    """Neither pandas nor formulaic nor scipy.stats before they are needed."""
    heavy = ("pandas", "formulaic", "scipy.stats")
    code = f"import sys, murmure.econometrics; print([m for m in {heavy} if m in sys.modules])"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "[]"


def test_a_fit_of_plain_columns_imports_nothing_heavy() -> None:
    """pandas, SciPy and formulaic would take longer to import than the fit takes."""
    heavy = ("pandas", "formulaic", "scipy", "narwhals")
    code = f"""
import io, sys
from murmure import econometrics
from pyarrow.csv import read_csv
rows = read_csv(io.BytesIO(b"age,days,died\\n30,4,1\\n40,1,1\\n50,3,0\\n60,2,1\\n"))
econometrics.cox("age", rows, time="days", event="died")
print([m for m in {heavy} if m in sys.modules])"""

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "[]"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'olz'"):
        _ = econometrics.olz  # type: ignore[attr-defined]
