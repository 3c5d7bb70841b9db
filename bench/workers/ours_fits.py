"""Murmure's learners: a whole `fit` of arrays, under Central(1.0), with secure randomness."""

from clock import BOX, CLUSTERS, EPSILON, FITTED, WIDTH, blobs, measure, rows_and_answers
from ours import LIB, telling

import murmure as mu
from murmure import learn

features = {f"x{j}": mu.Interval(-BOX, BOX) for j in range(WIDTH)}
privacy = mu.Central(EPSILON)


def compare(task, learner, *data):
    n = len(data[0])
    task = f"{task}.{n}"
    with telling(task):
        measure(task, LIB, n, lambda: learner().fit(*data))


labelled = mu.Schema({**features, "y": mu.Categories(2)})
numbered = mu.Schema({**features, "y": mu.Interval(-BOX, BOX)})
boxed = mu.Schema(features)
for n in FITTED:
    rows, classes, answers = rows_and_answers(n)
    compare("fit.bayes", lambda: learn.NaiveBayes(labelled, "y", privacy), rows, classes)
    compare("fit.regression", lambda: learn.LinearRegression(numbered, "y", privacy), rows, answers)
    compare("fit.kmeans", lambda: learn.KMeans(CLUSTERS, boxed, privacy), blobs(n))
