"""Learners in scikit-learn's style: naive Bayes, linear and logistic regression, k-means.

save_model(learner, "model.json")       what was released, as JSON, whole or not at all
learner = load_model("model.json")      it predicts as it did; reading runs nothing that the file holds
search_cost(search, X, y)               what a search or a cross-validation of scikit-learn costs one row
SchemaWarning                           the schema may describe another table than the one that came
FoldsWarning                            a learner is fitted in folds, and every fit spends its own epsilon
"""

from __future__ import annotations

import importlib
from typing import Any

LEARNERS = {
    "NaiveBayes": "murmure.learn.naive_bayes",
    "LinearRegression": "murmure.learn.linear",
    "LogisticRegression": "murmure.learn.logistic",
    "KMeans": "murmure.learn.kmeans",
}
PUBLIC = {
    **LEARNERS,
    **dict.fromkeys(("Clear", "Central", "Secure", "Local"), "murmure.plan.privacy"),
    **dict.fromkeys(("save_model", "load_model"), "murmure.learn.model_file"),
    **dict.fromkeys(("search_cost", "SearchCost", "FoldsWarning"), "murmure.learn.folds"),
    "SchemaWarning": "murmure.core.errors",
}
__all__ = sorted(PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'murmure.learn' has no attribute {name!r}")
    return getattr(importlib.import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return __all__
