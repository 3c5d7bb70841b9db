"""diffprivlib, value by value: its bounded Laplace, and redraw-until-inside as in the lecture; and its learners."""

import warnings

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


for epsilon in (1.0, 0.1):
    bounded = LaplaceBoundedDomain(epsilon=epsilon, sensitivity=1.0, lower=0.0, upper=1.0)
    compare(f"laplace.{epsilon}", "LaplaceBoundedDomain", bounded.randomise)
    # The same law as the line above when the sensitivity is the whole range, and faster.
    compare(f"laplace.{epsilon}", "Laplace, redrawn", redraw(Laplace(epsilon=epsilon, sensitivity=1.0)))
    compare(f"staircase.{epsilon}", "Staircase, redrawn", redraw(Staircase(epsilon=epsilon, sensitivity=1.0)))

warnings.simplefilter("ignore")  # of scikit-learn about diffprivlib
FEW = FITTED[0]  # its k-means takes seconds for more
rows, classes, answers = rows_and_answers(FEW)
points, box = blobs(FEW), (-BOX, BOX)


def compare_fits(task, how, learner, *data):
    measure_threaded_peer(f"{task}.{FEW}", "diffprivlib", FEW, lambda: learner().fit(*data), how)


compare_fits("fit.bayes", "GaussianNB", lambda: GaussianNB(epsilon=EPSILON, bounds=box), rows, classes)
compare_fits(
    "fit.regression",
    "LinearRegression",
    lambda: LinearRegression(epsilon=EPSILON, bounds_X=box, bounds_y=box),
    rows,
    answers,
)
compare_fits("fit.kmeans", "KMeans", lambda: KMeans(CLUSTERS, epsilon=EPSILON, bounds=box), points)
