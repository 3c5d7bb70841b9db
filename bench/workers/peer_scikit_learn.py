"""scikit-learn's models, without any privacy, on the same arrays."""

from clock import CLUSTERS, FITTED, blobs, measure_threaded_peer, rows_and_answers
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB


def compare(task, learner, *data):
    n = len(data[0])
    how = type(learner).__name__
    measure_threaded_peer(f"{task}.{n}", "scikit-learn", n, lambda: learner.fit(*data), how)


for n in FITTED:
    rows, classes, answers = rows_and_answers(n)
    compare("fit.bayes", GaussianNB(), rows, classes)
    compare("fit.regression", LinearRegression(), rows, answers)
    compare("fit.kmeans", KMeans(CLUSTERS, random_state=7), blobs(n))
