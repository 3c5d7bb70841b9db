"""scikit-learn's models, without any privacy, on the same arrays."""

from clock import CLUSTERS, FITTED, blobs, measure_threaded_peer, rows_and_answers
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

rows, classes, answers = rows_and_answers()
points = blobs()


def compare(task, call, how):
    measure_threaded_peer(task, "scikit-learn", FITTED, call, how)


compare("fit.bayes", lambda: GaussianNB().fit(rows, classes), "GaussianNB")
compare("fit.regression", lambda: LinearRegression().fit(rows, answers), "LinearRegression")
compare("fit.kmeans", lambda: KMeans(CLUSTERS, random_state=7).fit(points), "KMeans")
