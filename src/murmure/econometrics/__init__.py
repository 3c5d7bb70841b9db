"""Exact econometrics from sums: the results of the pooled rows, in the clear, between parties, or with noise.

from murmure import econometrics
econometrics.ols("stay ~ age + ward", table).summary()
econometrics.logit("died ~ age", [hospital_1, hospital_2, hospital_3], schema=schema, privacy=mu.Secure())
"""

from __future__ import annotations

import importlib
from typing import Any

from murmure.catalogue import function_modules

OTHERS = {
    "ask": "fit",
    "read_formula": "design.formula",
    "FitFailed": "errors",
    "How": "results.provenance",
    "Regression": "results.regression",
}

FUNCTIONS: dict[str, str]  # every public function of a model, and the module that it is in


# Loaded on first use: importing the package stays fast, and needs none of the extras.
def __getattr__(name: str) -> Any:
    if name == "FUNCTIONS":
        value: Any = {function: module.removeprefix(f"{__name__}.") for function, module in function_modules().items()}
    elif name == "__all__":
        value = [*_functions(), *OTHERS]
    elif name in OTHERS or (not name.startswith("__") and name in _functions()):
        module = OTHERS.get(name) or _functions()[name]
        value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _functions() -> dict[str, str]:
    return globals().get("FUNCTIONS") or __getattr__("FUNCTIONS")  # type: ignore[no-any-return]


def __dir__() -> list[str]:
    return sorted([*_functions(), *OTHERS])
