"""Murmure's side of script/accuracy: one JSON line for every cell and seed.

    ours.py TABLE.npz MODEL EPSILONS SEEDS

Defaults under add/remove; the number of rows is private, and paid for. At epsilon 0: without noise, and for classes the
share of the largest one among the rows that are learned from.
"""

import json
import sys

import numpy as np
from tables import explained, split

import murmure as mu
from murmure import learn

file, model, epsilons, seeds = sys.argv[1:]
held = np.load(file)
x, y, clusters = held["x"], held["y"], int(held["clusters"])
names = [f"x{j}" for j in range(x.shape[1])]
numbers = {name: mu.Interval(-1.0, 1.0, cells=1024) for name in names}
labelled = mu.Schema({**numbers, "y": mu.Categories(list(range(int(y.max()) + 1)))})


def columns(rows):
    return {name: x[rows, j] for j, name in enumerate(names)}


def score(privacy, seed):
    learned_from, test = split(len(y), seed)
    rng = mu.Random.seeded(seed)
    if model == "kmeans":
        made = learn.KMeans(clusters, mu.Schema(numbers), privacy, rng=rng).fit(columns(learned_from))
        return explained(x[test], made.cluster_centers_)
    kind = {"logistic": learn.LogisticRegression, "bayes": learn.NaiveBayes}[model]
    made = kind(labelled, "y", privacy, rng=rng).fit({**columns(learned_from), "y": y[learned_from]})
    return float((made.predict(columns(test)) == y[test]).mean())


def emit(epsilon, seed, side, value):
    print(json.dumps({"epsilon": epsilon, "seed": seed, "side": side, "score": value}), flush=True)


for epsilon in map(float, epsilons.split(",")):
    for seed in map(int, seeds.split(",")):
        if epsilon:
            emit(epsilon, seed, "murmure", score(mu.Central(epsilon), seed))
            continue
        emit(0.0, seed, "clear", score(mu.Clear(), seed))
        learned_from, test = split(len(y), seed)
        largest = np.bincount(y[learned_from]).argmax()
        emit(0.0, seed, "largest class", 0.0 if model == "kmeans" else float((y[test] == largest).mean()))
