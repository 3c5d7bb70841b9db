"""Murmure's learners on the folds: in the clear, and with noise at the curator under both relations.

    ours.py [RUNS]

Under noise the rows go in as they are: NaN stands for what was not measured, and the schema says what that counts as.
In the clear, where such values are an error, they are put inside first.
"""

import json
import sys

import numpy as np
from folds import EPSILONS, FEATURES, HIGH, LOW, RUNS, SCHEMA, TARGET, accuracies, filled, table

import murmure as mu
from murmure import learn

runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
x, y = table()
labelled = mu.Schema.load(SCHEMA)
numbered = mu.Schema({**labelled.column_specs, TARGET: mu.Integers(0, 1)})  # its outcome read as a number


def columns(x):
    return {name: x[:, j] for j, name in enumerate(FEATURES)}


def bayes(privacy):
    def fit(x, y, seed):
        model = learn.NaiveBayes(labelled, TARGET, privacy, rng=mu.Random.seeded(seed))
        model.fit({**columns(x), TARGET: y})
        return lambda x: model.predict(columns(x))

    return fit


def regression(privacy):
    def fit(x, y, seed):
        model = learn.LinearRegression(numbered, TARGET, privacy, rng=mu.Random.seeded(seed))
        model.fit({**columns(x), TARGET: y})
        return lambda x: (np.asarray(model.predict(columns(x))) >= 0.5).astype(int)

    return fit


def emit(model, lib, epsilon, fit, x=x):
    record = {"model": model, "lib": lib, "epsilon": epsilon, "runs": accuracies(fit, x, y, runs)}
    print(json.dumps(record), flush=True)


for model, build in (("bayes", bayes), ("regression", regression)):
    emit(model, "murmure, clear", None, build(mu.Clear()), np.clip(filled(x), LOW, HIGH))
    for relation in ("add/remove", "replace"):
        for epsilon in EPSILONS:
            emit(model, f"murmure, {relation}", epsilon, build(mu.Central(epsilon, relation=relation)))
