"""diffprivlib, value by value: its bounded Laplace, and redraw-until-inside as in the lecture; and its learners.

Argument: columns, or fits.
"""

import sys
import warnings
from functools import partial

from clock import (
    BOX,
    CLUSTERS,
    COLUMNS,
    EPSILON,
    FITTED,
    ROWS,
    blobs,
    measure_peer,
    measure_threaded_peer,
    rows_and_answers,
    table,
)
from diffprivlib.mechanisms import Laplace, LaplaceBoundedDomain, Staircase
from diffprivlib.models import GaussianNB, KMeans, LinearRegression

values = table().ravel().tolist()


def redraw(mechanism):
    def randomise(value):
        while True:
            noisy = mechanism.randomise(value)
            if 0.0 <= noisy <= 1.0:
                return noisy

    return randomise


def compare(task, how, randomise):
    measure_peer(task, "diffprivlib", ROWS * COLUMNS, lambda: [randomise(x) for x in values], how=how)


def compare_columns():
    for epsilon in (1.0, 0.1):
        bounded = LaplaceBoundedDomain(epsilon=epsilon, sensitivity=1.0, lower=0.0, upper=1.0)
        compare(f"laplace.{epsilon}", "LaplaceBoundedDomain", bounded.randomise)
        # The same law as the line above when the sensitivity is the whole range, and faster.
        compare(f"laplace.{epsilon}", "Laplace, redrawn", redraw(Laplace(epsilon=epsilon, sensitivity=1.0)))
        compare(f"staircase.{epsilon}", "Staircase, redrawn", redraw(Staircase(epsilon=epsilon, sensitivity=1.0)))


def compare_fits():
    warnings.simplefilter("ignore")  # of scikit-learn about diffprivlib
    n = FITTED[0]  # its k-means takes seconds for more
    rows, classes, answers = rows_and_answers(n)
    points, box = blobs(n), (-BOX, BOX)
    for task, how, learner, *data in (
        ("bayes", "GaussianNB", lambda: GaussianNB(epsilon=EPSILON, bounds=box), rows, classes),
        (
            "regression",
            "LinearRegression",
            lambda: LinearRegression(epsilon=EPSILON, bounds_X=box, bounds_y=box),
            rows,
            answers,
        ),
        ("kmeans", "KMeans", lambda: KMeans(CLUSTERS, epsilon=EPSILON, bounds=box), points),
    ):
        fit = partial(lambda learner, *data: learner().fit(*data), learner, *data)
        measure_threaded_peer(f"fit.{task}.{n}", "diffprivlib", n, fit, how)


{"columns": compare_columns, "fits": compare_fits}[sys.argv[1]]()
