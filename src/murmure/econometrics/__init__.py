"""Exact econometrics from sums: the results of the pooled rows, in the clear, between parties, or with noise.

from murmure import econometrics
econometrics.ols("stay ~ age + ward", table).summary()
econometrics.logit("died ~ age", [hospital_1, hospital_2, hospital_3], schema=schema, privacy=mu.Secure())
"""

from __future__ import annotations

import importlib
from typing import Any

FUNCTIONS = {
    "describe": "models.describe",
    **dict.fromkeys(("covariance", "correlation"), "models.covariance"),
    **dict.fromkeys(("ols", "wls"), "models.ols"),
    "ridge": "models.ridge",
    "iv": "models.iv",
    "did": "models.did",
    "fixed_effects": "models.fixed_effects",
    "randomised_ols": "models.randomised_ols",
    "ttest": "models.t_test",
    "anova": "models.anova",
    "contingency": "models.contingency",
    "mantel_haenszel": "models.mantel_haenszel",
    "ecdf": "models.ecdf",
    "quantiles": "models.quantiles",
    "histogram": "models.histogram",
    "kaplan_meier": "models.kaplan_meier",
    "logrank": "models.log_rank",
    "pca": "models.pca",
    "roc": "models.roc",
    **dict.fromkeys(("logit", "probit", "poisson", "gamma", "negative_binomial"), "models.glm"),
    "cox": "models.cox",
    "quantile": "models.bisection",
    "kmeans": "models.kmeans",
    "mle": "models.mle",
}
OTHERS = {
    "ask": "fit",
    "read_formula": "design.formula",
    "FitFailed": "errors",
    "How": "results.provenance",
    "Regression": "results.regression",
}

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
