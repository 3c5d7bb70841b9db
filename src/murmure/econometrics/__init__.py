"""Exact econometrics from sums: the results of the pooled rows, in the clear, between parties, or with noise.

from murmure import econometrics
econometrics.ols("stay ~ age + ward", table).summary()
econometrics.logit("died ~ age", [hospital_1, hospital_2, hospital_3], schema=schema, privacy=mu.Secure())
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

FUNCTIONS = {
    **dict.fromkeys(("describe", "covariance", "correlation"), "describe"),
    **dict.fromkeys(("ols", "wls"), "ols"),
    "ridge": "ridge",
    "iv": "iv",
    "did": "did",
    "fixed_effects": "fixed_effects",
    "randomised_ols": "randomised",
    **dict.fromkeys(("ttest", "anova"), "groups"),
    **dict.fromkeys(("contingency", "mantel_haenszel"), "tables"),
    **dict.fromkeys(("ecdf", "quantiles", "histogram"), "distribution"),
    **dict.fromkeys(("kaplan_meier", "logrank"), "survival"),
    "pca": "components",
    "roc": "roc",
    **dict.fromkeys(("logit", "probit", "poisson", "gamma", "negative_binomial"), "glm"),
    "cox": "cox",
    "quantile": "bisection",
    "kmeans": "kmeans",
    "mle": "mle",
}
OTHERS = {"ask": "asking", "read_formula": "formula", "FitFailed": "errors", "How": "how", "Regression": "results"}

__all__ = [*FUNCTIONS, *OTHERS]


def __getattr__(name: str) -> Any:
    module = {**FUNCTIONS, **OTHERS}.get(name)
    if module is None:
        raise AttributeError(f"module 'murmure.econometrics' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"murmure.econometrics.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(types.ModuleType):
    """Importing a module of the package sets its name here, where a function of the same name may stand."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in FUNCTIONS and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
