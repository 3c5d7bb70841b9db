"""Iris, which comes with scikit-learn."""

from __future__ import annotations

from murmure.core.types import Array

IRIS = "iris"
MEASURES = ("sepal_length", "sepal_width", "petal_length", "petal_width")  # in centimetres
SPECIES = "species"


def iris_columns() -> dict[str, Array] | None:
    """Four measures and the species; None without scikit-learn."""
    try:
        from sklearn.datasets import load_iris
    except ImportError:
        return None
    iris = load_iris()
    return dict(zip(MEASURES, iris.data.T, strict=True)) | {SPECIES: iris.target_names[iris.target]}
