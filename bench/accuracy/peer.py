"""diffprivlib's side of script/accuracy: one JSON line for every cell and seed. Runs in the peer's environment.

    peer.py TABLE.npz MODEL EPSILONS SEEDS      two comma-separated lists; MODEL: logistic, bayes, kmeans

Defaults, with bounds or norm passed as its documentation asks. Rows come both on [-1, 1] and on [0, 1], by public
constants; whichever does better on average stands in the table. data_norm is the largest norm that rows within the
bounds can have.
"""

import json
import sys

import numpy as np
from diffprivlib.models import GaussianNB, KMeans, LogisticRegression
from tables import explained, split

file, model, epsilons, seeds = sys.argv[1:]
held = np.load(file)
x, y, clusters = held["x"], held["y"], int(held["clusters"])
d = x.shape[1]

for epsilon in map(float, epsilons.split(",")):
    for seed in map(int, seeds.split(",")):
        learn, test = split(len(y), seed)
        for way, low in (("-1 to 1", -1.0), ("0 to 1", 0.0)):
            rows = x if low else (x + 1) / 2
            if model == "kmeans":
                fitted = KMeans(clusters, epsilon=epsilon, bounds=(low, 1.0), random_state=seed).fit(rows[learn])
                score = explained(rows[test], fitted.cluster_centers_)
            else:
                if model == "logistic":
                    made = LogisticRegression(epsilon=epsilon, data_norm=np.sqrt(d), random_state=seed)
                else:
                    made = GaussianNB(epsilon=epsilon, bounds=(low, 1.0), random_state=seed)
                score = float((made.fit(rows[learn], y[learn]).predict(rows[test]) == y[test]).mean())
            print(json.dumps({"epsilon": epsilon, "seed": seed, "side": way, "score": score}), flush=True)
