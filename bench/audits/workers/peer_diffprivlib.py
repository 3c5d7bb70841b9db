"""diffprivlib's mechanisms and learners: a mechanism randomises one number, a learner a table of rows.

Learners get public bounds, as its documentation asks, and every fit is a new model with its own randomness. The report
is what a fitted model shows. No random_state is given, so the noise is the system's.
"""

import warnings

import numpy as np
from diffprivlib import mechanisms, tools
from diffprivlib.models import GaussianNB, KMeans, LinearRegression
from lines import serve

warnings.simplefilter("ignore")


def mechanism(name, **options):
    return lambda: getattr(mechanisms, name)(epsilon=1.0, sensitivity=1, **options).randomise


def bayes(table):
    """Rows (x, class); shown: the class counts, means and variances."""
    rows = np.asarray(table, float)
    model = GaussianNB(epsilon=1.0, bounds=(100.0, 101.0)).fit(rows[:, :1], rows[:, 1].astype(int))
    return [model.class_count_.tolist(), model.theta_.tolist(), model.var_.tolist()]


def clusters(table):
    """Rows of numbers in [0, 1]; shown: the centres."""
    return KMeans(2, epsilon=1.0, bounds=(0.0, 1.0)).fit(np.asarray(table, float)).cluster_centers_


def regression(table):
    """Rows (x, y) in [0, 1]; shown: the coefficients."""
    rows = np.asarray(table, float)
    model = LinearRegression(epsilon=1.0, bounds_X=(0.0, 1.0), bounds_y=(0.0, 1.0), fit_intercept=False)
    return model.fit(rows[:, :1], rows[:, 1]).coef_


def mean(values):
    """Numbers in [0, 1], some missing (null)."""
    return tools.nanmean(np.array(values, float), epsilon=1.0, bounds=(0.0, 1.0))


serve(
    {
        "Laplace": mechanism("Laplace"),
        "LaplaceTruncated": mechanism("LaplaceTruncated", lower=0.0, upper=1.0),
        "LaplaceFolded": mechanism("LaplaceFolded", lower=0.0, upper=1.0),
        "LaplaceBoundedDomain": mechanism("LaplaceBoundedDomain", lower=0.0, upper=1.0),
        "Staircase": mechanism("Staircase"),
        "Geometric": mechanism("Geometric"),
        "GeometricTruncated": mechanism("GeometricTruncated", lower=0, upper=3),
        "GeometricFolded": mechanism("GeometricFolded", lower=0, upper=3),
        "nanmean": lambda: mean,
        "GaussianNB": lambda: bayes,
        "KMeans": lambda: clusters,
        "LinearRegression": lambda: regression,
    }
)
