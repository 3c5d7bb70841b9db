"""The tables of script/accuracy: rows, classes and public bounds, the same for both sides; in the peer's environment.

    tables.py NAME FILE     writes rows on [-1, 1] (by the bounds), classes and the number of clusters to FILE (.npz)

None of these tables was looked at while defaults were chosen; those were tuned on Pima and on made-up tables of another
kind. Bounds: breast and wine, the ranges that their documentation prints; digits, how a pixel is written; Adult, those
of the census questions; made-up: eight on either side. Values beyond count as the nearest bound.
"""

import csv
import gzip
import sys
from pathlib import Path

import numpy as np

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
NAMES = ("breast", "wine", "digits", "adult", "made-up")
WINE = "11 14.8;.74 5.8;1.36 3.23;10.6 30;70 162;.98 3.88;.34 5.08;.13 .66;.41 3.58;1.3 13;.48 1.71;1.27 4;278 1680"
BREAST = (
    "6.981 28.11;9.71 39.28;43.79 188.5;143.5 2501;.053 .163;.019 .345;0 .427;0 .201;.106 .304;.05 .097;"
    ".112 2.873;.36 4.885;.757 21.98;6.802 542.2;.002 .031;.002 .135;0 .396;0 .053;.008 .079;.001 .03;"
    "7.93 36.04;12.02 49.54;50.41 251.2;185.2 4254;.071 .223;.027 1.058;0 1.252;0 .291;.156 .664;.055 .208"
)
ADULT = {0: (17, 90), 4: (1, 16), 10: (0, 100_000), 11: (0, 5000), 12: (1, 99)}  # age, education, gain, loss, hours
CLUSTERS = {"breast": 2, "wine": 3, "digits": 10, "adult": 5, "made-up": 3}


def ranges(text):
    return np.array([[float(v) for v in pair.split()] for pair in text.split(";")]).T


def breast():
    from sklearn.datasets import load_breast_cancer

    return *load_breast_cancer(return_X_y=True), ranges(BREAST)


def wine():
    from sklearn.datasets import load_wine

    return *load_wine(return_X_y=True), ranges(WINE)


def digits():
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    return x, y, np.array([np.zeros(x.shape[1]), np.full(x.shape[1], 16.0)])


def adult():
    rows = []
    for name in ("adult.data.gz", "adult.test.gz"):
        with gzip.open(SHARED / name, "rt") as file:
            rows += [row for row in csv.reader(file, skipinitialspace=True) if len(row) == 15]
    x = np.array([[float(row[j]) for j in ADULT] for row in rows])
    y = np.array([row[14].startswith(">50K") for row in rows]).astype(int)
    return x, y, np.array(list(ADULT.values()), float).T


def made_up():
    from sklearn.datasets import make_classification

    x, y = make_classification(
        4000, 12, n_informative=6, n_redundant=2, n_classes=3, weights=[0.5, 0.3, 0.2], random_state=14
    )
    return x, y, np.array([np.full(12, -8.0), np.full(12, 8.0)])


def available(name):
    return name != "adult" or (SHARED / "adult.data.gz").exists()


def split(n, seed):
    """Rows to learn from and rows to test on: four fifths and one, in another order for every seed."""
    order = np.random.default_rng(seed).permutation(n)
    return order[n // 5 :], order[: n // 5]


def explained(x, centres):
    """The share of the rows' squared distances from their mean that centres save; below 0: worse than the mean."""
    far = np.stack([((x - c) ** 2).sum(axis=1) for c in centres]).min(axis=0)
    return float(1 - far.sum() / ((x - x.mean(axis=0)) ** 2).sum())


if __name__ == "__main__":
    x, y, (low, high) = globals()[sys.argv[1].replace("-", "_")]()
    x = 2 * (np.clip(x, low, high) - low) / (high - low) - 1
    np.savez_compressed(sys.argv[2], x=x, y=y, clusters=CLUSTERS[sys.argv[1]])
