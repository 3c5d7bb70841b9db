"""Learners in scikit-learn's style: naive Bayes, linear and logistic regression, k-means.

save_model(learner, "model.json")       what was released, as JSON, whole or not at all
learner = load_model("model.json")      it predicts as it did; reading runs nothing that the file holds
SchemaWarning                           the schema may describe another table than the one that came
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from murmure.core.errors import SchemaWarning as SchemaWarning
    from murmure.learn.kmeans import KMeans as KMeans
    from murmure.learn.linear import LinearRegression as LinearRegression
    from murmure.learn.logistic import LogisticRegression as LogisticRegression
    from murmure.learn.model_file import load_model as load_model
    from murmure.learn.model_file import save_model as save_model
    from murmure.learn.naive_bayes import NaiveBayes as NaiveBayes
    from murmure.plan.privacy import Central as Central
    from murmure.plan.privacy import Clear as Clear
    from murmure.plan.privacy import Local as Local
    from murmure.plan.privacy import Secure as Secure

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
    "SchemaWarning": "murmure.core.errors",
}
__all__ = [
    "Central",
    "Clear",
    "KMeans",
    "LinearRegression",
    "Local",
    "LogisticRegression",
    "NaiveBayes",
    "SchemaWarning",
    "Secure",
    "load_model",
    "save_model",
]


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'murmure.learn' has no attribute {name!r}")
    return getattr(importlib.import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return __all__
